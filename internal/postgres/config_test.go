package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

// cnf is a config of MyRocks read from a file, of key=value words; one that begins
// with ! is of the environment.
func cnf(file, name, source string, words ...string) bench.Config {
	c := bench.Config{System: bench.SystemMyRocks, Name: name, SourceName: source, Kind: bench.ConfigMyCnf, File: file, Layer: bench.LayerParsed}
	for i, w := range words {
		w, environment := strings.CutPrefix(w, "!")
		key, value, _ := strings.Cut(w, "=")
		c.Options = append(c.Options, bench.Option{Section: "mysqld", Key: key, Written: value, Value: value, Line: i + 1, Environment: environment})
	}
	return c
}

// configs is a batch of files with a config each.
func configs(list ...bench.Config) *bench.Batch {
	b := &bench.Batch{Format: "archive", Configs: list}
	for _, c := range list {
		b.Files = append(b.Files, taken(c.File))
	}
	return b
}

func namesOf(list []bench.StoredConfig) string {
	var names []string
	for _, c := range list {
		names = append(names, c.Name+":"+c.SourceName)
	}
	return strings.Join(names, " ")
}

func mustConfigs(t *testing.T, s interface {
	Configs(context.Context, bench.ConfigFilter) ([]bench.StoredConfig, error)
}, f bench.ConfigFilter) []bench.StoredConfig {
	t.Helper()
	list, err := s.Configs(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestConfigsAreStoredWithTheirUpload(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	a1 := cnf("x/a1", "a1", "cy10a1_bee", "cache=6G", "!datadir=/d", "hyper=ON")
	a1.Options[2].Loose = true
	a1.Warnings = []bench.Message{{File: "x/a1", Line: 2, Text: "twice"}}
	r := mustWrite(t, s, upload("all", "all"), configs(cnf("x/a0", "a0", "cy10a_bee", "cache=8G", "!datadir=/d"), a1))
	if len(r.Configs) != 2 || r.Configs[0].Name != "a0" || r.Configs[1].URL == "" || len(r.Runs) != 0 || r.Results != 0 {
		t.Fatalf("%+v", r)
	}
	got, err := s.Config(t.Context(), r.Configs[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	want := bench.StoredConfig{ID: r.Configs[1].ID, Config: a1, Settings: 2, Aside: 1, From: []bench.ConfigSource{{UploadID: r.UploadID, File: "x/a1", SourceName: "cy10a1_bee"}}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(bench.StoredConfig{}, "Created")); diff != "" || got.Created.IsZero() {
		t.Error(diff)
	}
	// Without options the list says how many there are.
	list := mustConfigs(t, s, bench.ConfigFilter{System: "myrocks"})
	if namesOf(list) != "a0:cy10a_bee a1:cy10a1_bee" || list[1].Options != nil || list[1].Settings != 2 {
		t.Errorf("%+v", list)
	}
	if list = mustConfigs(t, s, bench.ConfigFilter{Names: []string{"a1", "a7"}, Layer: bench.LayerParsed, Options: true}); len(list) != 1 || len(list[0].Options) != 3 {
		t.Errorf("%+v", list)
	}
	for _, f := range []bench.ConfigFilter{{System: "rocksdb"}, {Layer: bench.LayerEffective}, {Names: []string{"a2"}}} {
		if list := mustConfigs(t, s, f); len(list) != 0 {
			t.Errorf("%+v selects %v", f, namesOf(list))
		}
	}
	if _, err := s.Config(t.Context(), 0); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("%v", err)
	}
	// The same bytes again: nothing new, and the receipt says the same.
	before := counts(t, pool)
	again := mustWrite(t, s, upload("all", "all"), configs(cnf("x/a0", "a0", "cy10a_bee", "cache=8G"), a1))
	if diff := cmp.Diff(r.Configs, again.Configs); diff != "" || !again.Duplicate {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error(diff)
	}
}

func TestOneSetOfOptionsIsOneConfig(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	first := mustWrite(t, s, upload("a", "a"), configs(cnf("f", "a0", "cy10a_bee", "cache=8G", "x=1", "!datadir=/one")))
	// Another order and another machine; the file calls it otherwise.
	same := mustWrite(t, s, upload("b", "b"), configs(cnf("g", "a0", "cy10a0_bee", "x=1", "cache=8G", "!datadir=/two")))
	if same.Configs[0].ID != first.Configs[0].ID || counts(t, pool)["config"] != 1 || counts(t, pool)["config_option"] != 3 {
		t.Fatalf("%+v %+v", first.Configs, same.Configs)
	}
	got, err := s.Config(t.Context(), first.Configs[0].ID)
	if err != nil || len(got.From) != 2 || got.From[1].SourceName != "cy10a0_bee" {
		t.Errorf("%+v %v", got, err)
	}
	// Another value, another layer, another name: other configs.
	effective := cnf("k", "a0", "gv", "cache=8G", "x=1")
	effective.Layer, effective.Kind = bench.LayerEffective, bench.ConfigVariables
	other := mustWrite(t, s, upload("c", "c"), configs(cnf("h", "a0", "cy10a_1g_bee", "cache=1G", "x=1"), cnf("i", "b", "b", "cache=8G", "x=1"), effective))
	if counts(t, pool)["config"] != 4 || len(other.Configs) != 3 {
		t.Errorf("%+v", other.Configs)
	}
	if list := mustConfigs(t, s, bench.ConfigFilter{}); namesOf(list) != "a0:cy10a_bee a0:cy10a_1g_bee a0:gv b:b" {
		t.Errorf("%s: parsed ones first", namesOf(list))
	}
}

func TestConfigsGoWithTheirUpload(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	a := mustWrite(t, s, upload("a", "a"), configs(cnf("f", "a0", "one", "cache=8G")))
	b := mustWrite(t, s, upload("b", "b"), configs(cnf("f", "a0", "two", "cache=8G")))
	if err := s.WithdrawUpload(t.Context(), a.UploadID, "wrong", "me", nil); err != nil {
		t.Fatal(err)
	}
	if list := mustConfigs(t, s, bench.ConfigFilter{}); namesOf(list) != "a0:two" {
		t.Errorf("%s", namesOf(list))
	}
	if err := s.WithdrawUpload(t.Context(), b.UploadID, "wrong", "me", nil); err != nil {
		t.Fatal(err)
	}
	if list := mustConfigs(t, s, bench.ConfigFilter{}); len(list) != 0 {
		t.Errorf("%s", namesOf(list))
	}
	if got, err := s.Config(t.Context(), a.Configs[0].ID); err != nil || got.Name != "a0" {
		t.Errorf("nothing is deleted: %+v %v", got, err)
	}
	// A refused file leaves no config, nor does a write that fails.
	refused := configs(cnf("f", "x", "x", "cache=1"), cnf("g", "y", "y", "cache=2"))
	refused.Files[0].State = bench.FileRefused
	if r := mustWrite(t, s, upload("c", "c"), refused); len(r.Configs) != 1 || r.Configs[0].Name != "y" {
		t.Errorf("%+v", r.Configs)
	}
	before := counts(t, pool)
	dry := upload("d", "d")
	dry.DryRun = true
	if r := mustWrite(t, s, dry, configs(cnf("f", "z", "z", "cache=1"), cnf("g", "y", "y", "cache=2"))); len(r.Configs) != 2 || r.Configs[0].ID == 0 || r.Configs[1].ID != 0 {
		t.Errorf("%+v", r.Configs)
	}
	broken := errors.New("broken")
	withRun := configs(cnf("f", "z", "z", "cache=1"))
	withRun.Runs = []bench.Run{c2("8.8.0", row("f", 1, "fillseq", day1, "100"))}
	if _, err := s.Write(t.Context(), upload("e", "e"), withRun, func(context.Context, bench.Touched) ([]bench.Detection, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error(diff)
	}
}

func TestConfigsKnowTheRunsThatMayBeMadeWithThem(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	run := func(file, server, workload, source, date string) bench.Run {
		r := bench.Run{System: "myrocks", Suite: "ibench", Server: server, Workload: workload, Config: "a0", Build: bench.Build{Version: "8.0.28"},
			Results: []bench.Result{row(file, 1, "l.i0", date, "5")}}
		if source != "" {
			r.Environment = map[string]string{"config_source": source}
		}
		return r
	}
	mustWrite(t, s, upload("c", "c"), configs(cnf("f", "a0", "cy10a_bee", "cache=8G"), cnf("g", "a0", "cy10a_1g_bee", "cache=1G")))
	mustWrite(t, s, upload("r", "r"), batch("r", run("r", "bee", "io", "cy10a0_bee", day1), run("r", "bee", "cached-by-os", "cy10a_1g_bee", day2), run("r", "elk", "io", "", day1)))
	runs := func(f bench.ConfigFilter) map[string]int {
		m := map[string]int{}
		for _, c := range mustConfigs(t, s, f) {
			m[c.SourceName] = c.Runs
		}
		return m
	}
	for _, tt := range []struct {
		f         bench.ConfigFilter
		big, tiny int
	}{
		{bench.ConfigFilter{}, 2, 2},
		{bench.ConfigFilter{Servers: []string{"bee"}}, 1, 1},
		{bench.ConfigFilter{Servers: []string{"bee"}, Workloads: []string{"io"}}, 1, 0},
		{bench.ConfigFilter{Workloads: []string{"cached-by-os"}}, 0, 1},
		{bench.ConfigFilter{Servers: []string{"elk"}}, 1, 1},
	} {
		if diff := cmp.Diff(map[string]int{"cy10a_bee": tt.big, "cy10a_1g_bee": tt.tiny}, runs(tt.f)); diff != "" {
			t.Errorf("%+v: %s", tt.f, diff)
		}
	}
}

func TestARenamedConfigIsRenamedWithItsRuns(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("a", "a"), configs(cnf("f", "a0", "cy10a_bee", "cache=8G"), cnf("g", "a1", "a1", "cache=6G")))
	if err := s.Rename(t.Context(), bench.NameConfig, "a0", "a1", "me"); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("%v", err)
	}
	if err := s.Rename(t.Context(), bench.NameConfig, "a0", "base", "me"); err != nil {
		t.Fatal(err)
	}
	if list := mustConfigs(t, s, bench.ConfigFilter{}); namesOf(list) != "a1:a1 base:cy10a_bee" {
		t.Errorf("%s", namesOf(list))
	}
	// The former name goes on to mean it.
	r := mustWrite(t, s, upload("b", "b"), configs(cnf("f", "a0", "again", "cache=8G")))
	if r.Configs[0].Name != "base" || len(mustConfigs(t, s, bench.ConfigFilter{})) != 2 {
		t.Errorf("%+v", r.Configs)
	}
}

func TestDistributionsOfRuns(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	one, two := row("a", 1, "l.i1", day1, "5"), row("a", 2, "l.i0", day1, "6")
	one.Histograms = []bench.Histogram{{Operation: "insert", Unit: "µs", Bounds: []float64{4000, 16000}, Percents: []float64{99.5, 0.5}}}
	two.Histograms = []bench.Histogram{{Operation: "insert", Unit: "µs", Bounds: []float64{4000}, Counts: []float64{7}}}
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", one, two)))
	id := r.Runs[0].ID
	got, err := s.Distributions(t.Context(), []int64{id, id + 1000})
	if err != nil {
		t.Fatal(err)
	}
	want := []bench.Distribution{{RunID: id, Step: "l.i0", Histogram: two.Histograms[0]}, {RunID: id, Step: "l.i1", Histogram: one.Histograms[0]}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if err := s.WithdrawRun(t.Context(), id, "wrong", "me", nil); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Distributions(t.Context(), []int64{id}); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
}
