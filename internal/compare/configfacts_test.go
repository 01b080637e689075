package compare

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// configShelf answers from memory, and remembers what it was asked.
type configShelf struct {
	series  []bench.Series
	spreads []bench.Distribution
	configs []bench.StoredConfig
	filters []bench.SeriesFilter
	wanted  []bench.ConfigFilter
	err     error
}

func (s *configShelf) Series(_ context.Context, f bench.SeriesFilter) (out []bench.Series, err error) {
	s.filters = append(s.filters, f)
	for _, x := range s.series {
		if x.Metric.Name == f.Metric && (len(f.Configs) == 0 || slices.Contains(f.Configs, x.Config)) {
			out = append(out, x)
		}
	}
	return out, s.err
}

func (s *configShelf) Distributions(_ context.Context, runs []int64) (out []bench.Distribution, err error) {
	for _, d := range s.spreads {
		if slices.Contains(runs, d.RunID) {
			out = append(out, d)
		}
	}
	return out, nil
}

func (s *configShelf) Configs(_ context.Context, f bench.ConfigFilter) (out []bench.StoredConfig, err error) {
	s.wanted = append(s.wanted, f)
	for _, c := range s.configs {
		if len(f.Names) == 0 || slices.Contains(f.Names, c.Name) {
			out = append(out, c)
		}
	}
	return out, nil
}

func shelfOf(in ConfigsInput) *configShelf {
	return &configShelf{series: append(slices.Clone(in.Series), in.Seconds...), spreads: in.Distributions, configs: in.Configs}
}

func TestFactsOfConfigsAreFetchedInOneOrder(t *testing.T) {
	t.Parallel()
	want := family(t)
	shelf := shelfOf(want)
	in, err := FetchConfigs(t.Context(), shelf, ArmsQuery{Axis: AxisConfig, Base: "a0", Filter: bench.SeriesFilter{System: "myrocks", Suite: bench.SuiteIBench}})
	if err != nil {
		t.Fatal(err)
	}
	// ips in insert steps, no qps series here; then the seconds, the distributions and the options of what was measured.
	if len(in.Series) != len(want.Series) || len(in.Seconds) != len(want.Seconds) || len(in.Distributions) != len(want.Distributions) || len(in.Configs) != len(want.Configs) {
		t.Errorf("%d series, %d seconds, %d distributions, %d configs", len(in.Series), len(in.Seconds), len(in.Distributions), len(in.Configs))
	}
	if f := shelf.wanted[0]; f.System != "myrocks" || !f.Options || f.Layer != "" || len(f.Names) != 5 {
		t.Errorf("%+v", f)
	}
	c := CompareConfigs(in)
	if len(c.Unmeasured) != 0 || len(c.Places) != 1 || c.Places[0].Workload != "io" || len(c.Places[0].Better) != 0 {
		t.Errorf("%v %+v", c.Unmeasured, c.Places)
	}
	shelf.err = errors.New("away")
	if _, err := FetchConfigs(t.Context(), shelf, ArmsQuery{Axis: AxisConfig}); !errors.Is(err, shelf.err) {
		t.Errorf("%v", err)
	}
}

func TestConfigsOfSeveralSystemsAreNotCompared(t *testing.T) {
	t.Parallel()
	in := family(t)
	other := in.Series[0]
	other.System = "mysql"
	shelf := shelfOf(in)
	shelf.series = append(shelf.series, other)
	if _, err := FetchConfigs(t.Context(), shelf, ArmsQuery{Axis: AxisConfig}); bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "myrocks, mysql") {
		t.Errorf("%v", err)
	}
}

func TestConfigsThatMeasuredNothingAreComparedByTheirOptions(t *testing.T) {
	t.Parallel()
	shelf := shelfOf(family(t))
	// One that is named beside measured ones.
	shelf.configs = append(shelf.configs, bench.StoredConfig{ID: 90, Config: bench.Config{System: "myrocks", Name: "a9", Layer: bench.LayerParsed, Options: []bench.Option{{Key: "cache", Written: "9G", Value: "9663676416"}}}})
	in, err := FetchConfigs(t.Context(), shelf, ArmsQuery{Axis: AxisConfig, Base: "a0", Filter: bench.SeriesFilter{System: "myrocks", Suite: bench.SuiteIBench, Configs: []string{"a0", "a9", "a10"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := CompareConfigs(in)
	if got := strings.Join(c.Unmeasured, " "); got != "a9 a10" || strings.Join(c.NoConfig, " ") != "a10" || c.Sets[1].Name != "a9" {
		t.Errorf("%s, without options %v", got, c.NoConfig)
	}
	if len(c.Family.Rows) == 0 || c.Family.Configs[0] != "a9" {
		t.Errorf("%+v", c.Family)
	}
	// Nothing was measured at all: every config that is stored.
	shelf.series = nil
	if in, err = FetchConfigs(t.Context(), shelf, ArmsQuery{Axis: AxisConfig, Filter: bench.SeriesFilter{System: "myrocks"}}); err != nil {
		t.Fatal(err)
	}
	c = CompareConfigs(in)
	if got := strings.Join(c.Unmeasured, " "); got != "a0 a1 a3 a5 a7 a9" || c.Base.Config != "a0" || len(c.Rows) != 0 {
		t.Errorf("%s against %s", got, c.Base.Config)
	}
	if got := strings.Join(c.Summary, "\n"); !strings.Contains(got, "a7 = a1 + a5") {
		t.Errorf("%s", got)
	}
	if in, err = FetchConfigs(t.Context(), &configShelf{}, ArmsQuery{Axis: AxisConfig}); err != nil || len(in.Names) != 0 {
		t.Errorf("%+v %v", in, err)
	}
}

func TestWhatAServerSaysOfItselfIsKeptApart(t *testing.T) {
	t.Parallel()
	in := family(t)
	for id := range int64(2) {
		in.Configs = append(in.Configs, bench.StoredConfig{ID: 200 + id, Runs: 1, Config: bench.Config{System: "myrocks", Name: "a1", Layer: bench.LayerEffective, Kind: bench.ConfigVariables, Options: []bench.Option{{Key: "cache", Value: "1"}}}})
	}
	c := CompareConfigs(in)
	for _, s := range c.Sets {
		if (s.Effective != nil) != (s.Name == "a1") || s.Layer != bench.LayerParsed {
			t.Errorf("%s: %+v", s.Name, s.Effective)
		}
		if s.Effective != nil && s.Effective.ID != 201 {
			t.Errorf("not the newest: %d", s.Effective.ID)
		}
	}
	if n := len(c.Family.Rows); n != 4 {
		t.Errorf("%d options differ: what was read back counts among what files ask for", n)
	}
}

func TestWorstSecondsSayNothingOfAnotherMetric(t *testing.T) {
	t.Parallel()
	in := family(t)
	rss, _ := bench.LookupMetric("rss_gb")
	for i := range in.Series {
		in.Series[i].Metric = rss
		for j := range in.Series[i].Points {
			in.Series[i].Points[j].Samples[0].Value = 8
		}
	}
	for _, r := range CompareConfigs(in).Rows {
		for _, c := range r.Cells {
			if p := c.Practical; p != nil && (p.Worse || p.Seconds != nil || p.Slow != nil) {
				t.Errorf("%s %s: %+v", r.Step, c.Arm, p)
			}
		}
	}
}

// RocksDB writes the options it runs with into a file of its own.
func TestConfigsOfWhichOnlyTheServersWordIsStoredAreComparedByThat(t *testing.T) {
	t.Parallel()
	in := family(t)
	for i := range in.Configs {
		if in.Configs[i].Name != "a7" {
			in.Configs[i].Layer = bench.LayerEffective
		}
	}
	c := CompareConfigs(in)
	if c.Layer != bench.LayerEffective || len(c.Sets) != 4 || len(c.Family.Rows) == 0 || strings.Join(c.OtherLayer, " ") != "a7" || len(c.NoConfig) != 0 {
		t.Errorf("%s, %d sets, other layer %v, none %v", c.Layer, len(c.Sets), c.OtherLayer, c.NoConfig)
	}
	if got := strings.Join(c.Summary, "\n"); !strings.Contains(got, "of a7 only what a file asks for is stored: that is not compared") {
		t.Errorf("%s", got)
	}
	in = family(t)
	for i := range in.Configs {
		if in.Configs[i].Name == "a1" {
			in.Configs[i].Layer = bench.LayerEffective
		}
	}
	if c = CompareConfigs(in); c.Layer != bench.LayerParsed || strings.Join(c.OtherLayer, " ") != "a1" {
		t.Errorf("%s %v", c.Layer, c.OtherLayer)
	}
}

func TestAnArmStandsByItsNoiseAndWithoutByTheRule(t *testing.T) {
	t.Parallel()
	ratio := func(r float64) ArmCell { return ArmCell{Point: &Point{Relative: &r}} }
	worse := &Practical{Worse: true}
	for name, x := range map[string]struct {
		cell ArmCell
		d    bench.Direction
		want Verdict
	}{
		"nothing measured":                {ArmCell{}, bench.HigherBetter, NoVerdict},
		"a little more, noise unknown":    {ratio(1.05), bench.HigherBetter, NoVerdict},
		"more, noise unknown":             {ratio(1.06), bench.HigherBetter, Better},
		"less time, noise unknown":        {ratio(0.94), bench.LowerBetter, Better},
		"neither way is better":           {ratio(2), bench.Neutral, NoVerdict},
		"worse by the rule":               {ArmCell{Point: ratio(1.2).Point, Practical: worse}, bench.HigherBetter, Worse},
		"noise is known: the rule is not": {ArmCell{Point: ratio(0.9).Point, Verdict: Undecided, Practical: worse}, bench.HigherBetter, Undecided},
	} {
		if got := x.cell.Stand(x.d); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
	flagged := ratio(2)
	flagged.Flagged = true
	if got := flagged.Stand(bench.HigherBetter); got != NoVerdict {
		t.Errorf("flagged: %q", got)
	}
}
