package bench

import (
	"strings"
	"testing"
)

func TestNamesAreTextOfSomeLength(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                             "",
		"c2":                           "",
		"clang+lto":                    "",
		"Überserver №1, 中文 💥":          "",
		"e\u0301":                      "",
		`<img src=x onerror=alert(1)>`: "",
		"=1+1":                         "",
		strings.Repeat("s", NameMax):   "",
		strings.Repeat("ä", NameMax):   "",
		strings.Repeat("ä", NameMax+1): "has 20001 characters, more than 20000",
		strings.Repeat("s", 10_000):    "",
		"a\u202eb":                     "",
		"8.6.7\u200b":                  "",
		"a\tb":                         "holds a control character (U+0009)",
		"a\x00b":                       "holds a control character (U+0000)",
		"a\u0085b":                     "holds a control character (U+0085)",
		"a\xffb":                       "is not UTF-8",
	} {
		if got := NameProblem(name); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
	if got := (Context{Server: "c2", Workload: "a\tb"}).NameProblem(); got != `the workload "a\tb" holds a control character (U+0009)` {
		t.Errorf("%q", got)
	}
	if got := (Context{Versions: []string{"8.0", "8\x01.1"}}).NameProblem(); !strings.HasPrefix(got, "the version ") {
		t.Errorf("%q", got)
	}
	if got := Excerpt(strings.Repeat("s", 300)); len(got) > 50 || !strings.HasSuffix(got, `…"`) {
		t.Errorf("%q", got)
	}
}
