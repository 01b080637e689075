package bench

import (
	"fmt"
	"strings"
	"testing"
)

// config makes a config of key=value words; a word without = is a bare flag, one
// that begins with ! an environment key.
func config(name string, words ...string) Config {
	c := Config{Name: name, Layer: LayerParsed}
	for _, w := range words {
		w, environment := strings.CutPrefix(w, "!")
		key, value, found := strings.Cut(w, "=")
		if !found {
			value = "ON"
		}
		c.Options = append(c.Options, Option{Section: "mysqld", Key: key, Written: value, Value: value, Environment: environment})
	}
	return c
}

// The option facts of the published configs, as far as they differ.
var (
	family0 = config("a0", "cache=8G", "flush=2", "!datadir=/a")
	family  = []Config{
		config("a1", "cache=6G", "flush=2", "hyper", "!datadir=/b"),
		config("a2", "cache=8G", "flush=2", "shards=3"),
		config("a3", "cache=8G", "flush=2", "cf.default.min_blob_size=1024"),
		config("a4", "cache=8G", "flush=2", "cf.default.slowdown=8", "cf.default.stop=12"),
		config("a5", "cache=8G", "flush=2", "subcompactions=2"),
		config("a6", "cache=6G", "flush=2", "hyper", "shards=3", "subcompactions=2"),
		config("a7", "cache=6G", "flush=2", "hyper", "subcompactions=2"),
	}
)

func words[T fmt.Stringer](list []T) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, x.String())
	}
	return strings.Join(parts, ", ")
}

func TestDiffListsWhatDiffersAndNothingElse(t *testing.T) {
	t.Parallel()
	rows := Diff(family0, family)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Key, r.Kinds))
	}
	want := []string{
		"cache[changed     changed changed]",
		"cf.default.min_blob_size[  added    ]",
		"cf.default.slowdown[   added   ]",
		"cf.default.stop[   added   ]",
		"hyper[added     added added]",
		"shards[ added    added ]",
		"subcompactions[    added added added]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := rows[0]; r.Base.Written != "8G" || r.Other[0].Written != "6G" || r.Other[1].Written != "8G" || rows[4].Base.Set {
		t.Errorf("%+v", r)
	}
	if rows := Diff(family0, nil); len(rows) != 0 {
		t.Errorf("nothing to differ from, but %v", rows)
	}
}

func TestSettingsOfOneMeaningAreTheSame(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b Setting
		same bool
	}{
		{Setting{}, Setting{}, true},
		{Setting{true, "8G", "8589934592"}, Setting{true, "8192M", "8589934592"}, true},
		{Setting{true, "1", "1"}, Setting{true, "true", "ON"}, true},
		{Setting{true, "OFF", "OFF"}, Setting{true, "0", "0"}, true},
		{Setting{true, "ON", "ON"}, Setting{true, "0", "0"}, false},
		{Setting{true, "1", "1"}, Setting{true, "2", "2"}, false},
		{Setting{true, "", ""}, Setting{}, false}, // set to nothing is not unset
	} {
		if got := tt.a.Same(tt.b); got != tt.same || tt.b.Same(tt.a) != tt.same {
			t.Errorf("%+v and %+v: %t, want %t", tt.a, tt.b, got, tt.same)
		}
	}
}

func TestScopesOfOneServerAreOne(t *testing.T) {
	t.Parallel()
	for section, want := range map[string]string{
		"": "", "mysqld": "", "mysqld-8.0": "", "server": "", "mariadb-10.11": "", "DBOptions": "", `CFOptions "default"`: "",
		`TableOptions/BlockBasedTable "default"`: "", "mysqld_safe": "mysqld_safe", "Client": "client", "Version": "version",
	} {
		if got := (&Option{Section: section}).Scope(); got != want {
			t.Errorf("[%s] is of scope %q, want %q", section, got, want)
		}
	}
}

func TestTheLastOfTwoSettingsCounts(t *testing.T) {
	t.Parallel()
	c := config("x", "a=1", "a=2")
	c.Options[1].Section = "mysqld-8.0"
	changes := Changes(config("base", "a=1", "gone=5"), c)
	if got := words(changes); got != "a 1 → 2, gone not set (5)" {
		t.Errorf("%s", got)
	}
	if changes[1].Kind != OptionRemoved || c.Settings() != 1 {
		t.Errorf("%+v", changes)
	}
}

func TestACombinationIsVerifiedByArithmetic(t *testing.T) {
	t.Parallel()
	a1, a2, a5, a6, a7 := family[0], family[1], family[4], family[5], family[6]
	if c := Combines(a6, family0, a1, a2, a5); !c.Holds || strings.Join(c.Parts, "+") != "a1+a2+a5" || len(c.Missing)+len(c.Extra)+len(c.Conflicts) != 0 {
		t.Errorf("a6 = a1+a2+a5: %+v", c)
	}
	if c := Combines(a7, family0, a1, a5); !c.Holds {
		t.Errorf("a7 = a1+a5: %+v", c)
	}
	// One part too few leaves something over, one too many misses something.
	if c := Combines(a6, family0, a1, a2); c.Holds || words(c.Extra) != "subcompactions=2" || len(c.Missing) != 0 {
		t.Errorf("%+v", c)
	}
	c := Combines(a7, family0, a1, a2, a5)
	if c.Holds || len(c.Missing) != 1 || c.Missing[0].Part != "a2" || c.Missing[0].Key != "shards" || len(c.Extra) != 0 {
		t.Errorf("%+v", c)
	}
	// The variants with a small cache: a2 sets two shard bits, a6 three.
	c = Combines(a6, family0, a1, config("a2", "cache=8G", "flush=2", "shards=2"), a5)
	if c.Holds || len(c.Missing) != 1 || c.Missing[0].To.Written != "2" || words(c.Extra) != "shards=3" {
		t.Errorf("%+v", c)
	}
	c = Combines(a6, family0, a1, a2, a5, config("b", "cache=4G", "flush=2"))
	if c.Holds || len(c.Conflicts) != 1 || c.Conflicts[0].Key != "cache" {
		t.Errorf("%+v", c)
	}
}

func TestAFamilyTellsItsSumsAndSurprises(t *testing.T) {
	t.Parallel()
	f := NewFamily(family0, append([]Config{family0}, family...))
	if len(f.Configs) != 7 {
		t.Errorf("%v: the base is none of the others", f.Configs)
	}
	var sums []string
	for _, c := range f.Combinations {
		sums = append(sums, c.Config+" = "+strings.Join(c.Parts, " + "))
	}
	if got := strings.Join(sums, "; "); got != "a6 = a1 + a2 + a5; a7 = a1 + a5" {
		t.Errorf("%s", got)
	}
	if len(f.Together) != 2 {
		t.Fatalf("%+v", f.Together)
	}
	g := f.Together[0]
	if strings.Join(g.Configs, " ") != "a1 a6 a7" || words(g.Surprises) != "cache 8G → 6G" || words(g.Changes) != "cache 8G → 6G, hyper=ON" {
		t.Errorf("%+v", g)
	}
	if g = f.Together[1]; strings.Join(g.Configs, " ") != "a4" || len(g.Surprises) != 0 {
		t.Errorf("%+v", g)
	}
	var contrasts []string
	for _, c := range f.Contrasts {
		contrasts = append(contrasts, c.With+"/"+c.Without+": "+words(c.Changes))
	}
	want := `a1/a0: cache 8G → 6G, hyper=ON
a2/a0: shards=3
a3/a0: cf.default.min_blob_size=1024
a4/a0: cf.default.slowdown=8, cf.default.stop=12
a5/a0: subcompactions=2
a7/a1: subcompactions=2
a7/a5: cache 8G → 6G, hyper=ON
a6/a7: shards=3`
	if got := strings.Join(contrasts, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEqualConfigsAreNoFamily(t *testing.T) {
	t.Parallel()
	f := NewFamily(family0, []Config{config("b", "cache=8G", "flush=2", "!datadir=/elsewhere")})
	if len(f.Rows)+len(f.Combinations)+len(f.Together)+len(f.Contrasts) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestOptionsOfDifferentValuesAreNoGroup(t *testing.T) {
	t.Parallel()
	base := config("b", "x=1", "y=1")
	f := NewFamily(base, []Config{config("p", "x=2", "y=2"), config("q", "x=3", "y=2")})
	if len(f.Together) != 0 {
		t.Errorf("%+v", f.Together)
	}
	// p and q differ in x alone; the one with the smaller step from the base is no concern.
	if len(f.Contrasts) != 1 || f.Contrasts[0].With != "q" || words(f.Contrasts[0].Changes) != "x 2 → 3" {
		t.Errorf("%+v", f.Contrasts)
	}
}
