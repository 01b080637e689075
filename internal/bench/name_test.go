package bench

import (
	"strings"
	"testing"
)

func TestNamesThatNobodyCanTellApartAreRefused(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                  "",
		"c2":                                "",
		"clang+lto":                         "",
		"Überserver №1, 中文 💥":               "",
		"e\u0301":                           "",
		`<img src=x onerror=alert(1)>`:      "",
		"=1+1":                              "",
		strings.Repeat("s", NameMax):        "",
		strings.Repeat("ä", NameMax):        "",
		strings.Repeat("ä", NameMax+1):      "has 201 characters, more than 200",
		strings.Repeat("s", 10_000):         "has 10000 characters, more than 200",
		"a\u202eb":                          "holds a character that nobody sees (U+202E)",
		"8.6.7\u200b":                       "holds a character that nobody sees (U+200B)",
		"\ufeffc2":                          "holds a character that nobody sees (U+FEFF)",
		"a\u2066b\u2069":                    "holds a character that nobody sees (U+2066)",
		"a\u200fb":                          "holds a character that nobody sees (U+200F)",
		"a\u00adb":                          "holds a character that nobody sees (U+00AD)",
		"a\u2028b":                          "holds a character that nobody sees (U+2028)",
		"\u3164":                            "holds a character that nobody sees (U+3164)",
		"a\tb":                              "holds a control character (U+0009)",
		"a\x00b":                            "holds a control character (U+0000)",
		"a\u0085b":                          "holds a control character (U+0085)",
		"a\xffb":                            "is not UTF-8",
		"\u202e" + strings.Repeat("s", 300): "holds a character that nobody sees (U+202E)",
	} {
		if got := NameProblem(name); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
	if got := (Context{Server: "c2", Workload: "a\u202eb"}).NameProblem(); got != `the workload "a\u202eb" holds a character that nobody sees (U+202E)` {
		t.Errorf("%q", got)
	}
	if got := (Context{Versions: []string{"8.0", "8\u200b.1"}}).NameProblem(); !strings.HasPrefix(got, "the version ") {
		t.Errorf("%q", got)
	}
	if got := Excerpt(strings.Repeat("s", 300)); len(got) > 50 || !strings.HasSuffix(got, `…"`) {
		t.Errorf("%q", got)
	}
}
