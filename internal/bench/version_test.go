package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// ordered lists versions from the oldest to the newest.
var ordered = []string{
	"3.9", "4.4.1", "4.5", "4.10.2", "5.4.12", "5.18.4", "6.0", "6.0.2", "6.18", "6.29.4", "6.29.5", "6.29.fb", "7.0.2", "7.0.2-2", "7.0.4", "7.0.10-1", "7.10.2",
	"8.2", "8.9", "8.9.1", "8.10-alpha", "8.10-beta2", "8.10-rc1", "8.10-rc2", "8.10-rc10", "8.10", "8.10.0", "8.10.1", "8.10.fb", "8.11", "9.0",
	"10.0.1", "10.10.0", "123456789012345678901234567890.1", "someone's branch", "main", "",
}

func TestVersionOrder(t *testing.T) {
	t.Parallel()
	for i, a := range ordered {
		for j, b := range ordered {
			got, want := CompareVersions(a, b), 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
				t.Errorf("CompareVersions(%q, %q) = %d, want the sign of %d", a, b, got, want)
			}
		}
	}
	shuffled := slices.Clone(ordered)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, CompareVersions)
	if !slices.Equal(shuffled, ordered) {
		t.Errorf("sorted %q, want %q", shuffled, ordered)
	}
}

func TestSpellingsOfOneRelease(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"8.1.0", "v8.1.0", "V8.1.0", " 8.1.0 ", "8.01.0"},
		{"main", "master", "HEAD", "dev", "trunk"},
		{"", "unknown", " "},
		{"8.10-rc1", "8.10rc1", "8.10.rc1", "8.10_RC1", "8.10-rc.1", "8.10-rc01"},
		{"8.0.fb", "v8.0.fb"},
	} {
		for _, s := range same {
			if VersionKey(s) != VersionKey(same[0]) {
				t.Errorf("%q has key %q, %q has %q: want the same", s, VersionKey(s), same[0], VersionKey(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"8.10", "8.1"}, {"8.1", "8.1.0"}, {"7.0.2", "7.0.2-2"}, {"8.0", "8.0.fb"}} {
		if VersionKey(pair[0]) == VersionKey(pair[1]) {
			t.Errorf("%q and %q have one key", pair[0], pair[1])
		}
	}
}

func TestPartsOfAVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version string
		major   int
		minor   string
	}{
		{"6.29.5", 6, "6.29"}, {"v10.8.3", 10, "10.8"}, {"6.29.fb", 6, "6.29"}, {"8", 8, ""}, {"main", -1, ""}, {"", -1, ""},
		{"99999999999999999999.1", -1, "99999999999999999999.1"},
	} {
		major, ok := Major(test.version)
		if ok != (test.major >= 0) || ok && major != test.major {
			t.Errorf("Major(%q) = %d, %v; want %d", test.version, major, ok, test.major)
		}
		minor, ok := Minor(test.version)
		if ok != (test.minor != "") || ok && minor != test.minor {
			t.Errorf("Minor(%q) = %q, %v; want %q", test.version, minor, ok, test.minor)
		}
	}
}

func TestVersionWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		exact, name string
		want        bool
	}{
		{"6.29.5", "6.29", true}, {"6.29.5", "6.29.fb", true}, {"6.29.5", "v6.29", true}, {"6.29.5", "6.29.5", true},
		{"8.10-rc1", "8.10", true}, {"6.29.5", "6.2", false}, {"6.2", "6.29", false}, {"6.29.5", "6.28", false}, {"main", "main", true},
	} {
		if got := VersionWithin(test.exact, test.name); got != test.want {
			t.Errorf("VersionWithin(%q, %q) = %v, want %v", test.exact, test.name, got, test.want)
		}
	}
}

func FuzzVersionKey(f *testing.F) {
	for _, v := range ordered {
		f.Add(v, "8.10")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if CompareVersions(a, b) != -CompareVersions(b, a) {
			t.Errorf("the order of %q and %q depends on which is asked first", a, b)
		}
		if CompareVersions(a, a) != 0 || VersionKey(a) == "" {
			t.Errorf("%q has key %q", a, VersionKey(a))
		}
	})
}

// Versions of numbers alone take a short way; its keys are those of the long one,
// which spaces around a version lead to.
func TestKeyOfPlainVersions(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"0", "00", "8", "8.6.7", "08.06", "10.10.0", "8.0.0", "1.2.3.4.5", "123456789012345678901234567890.1", "8.100.0007"} {
		if plain, long := VersionKey(v), VersionKey(" "+v); plain != long {
			t.Errorf("%s: %q, the long way %q", v, plain, long)
		}
	}
	for _, v := range []string{"8.", ".8", "8..1", "", "8.6-rc1", "v8"} {
		if key, ok := plainKey(v); ok {
			t.Errorf("%q is taken for numbers alone: %q", v, key)
		}
	}
}
