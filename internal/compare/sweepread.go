package compare

import (
	"context"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// SweepQuery is what a page or an API call asks for of a sweep. Empty fields
// leave the choice: the first sweep of [FindSweeps] that fits.
type SweepQuery struct {
	System, Suite, Server, Workload string
	Option                          string
	Configs                         []string // only a sweep over exactly these, or more, of them
	Versions                        []string // rows of these only
	Steps                           []string
	Metric                          string // "" compares each step by the one that decides it
	Base                            string // name of an arm, "" the best of each row
}

// Fits reports whether a sweep is one that the query asks for.
func (q SweepQuery) Fits(s *Sweep) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	if !is(q.System, s.System) || !is(q.Suite, s.Suite) || !is(q.Server, s.Server) || !is(q.Workload, s.Workload) || !is(q.Option, s.Option.String()) {
		return false
	}
	have := s.Configs()
	for _, c := range q.Configs {
		if !slices.Contains(have, c) {
			return false
		}
	}
	return true
}

// Filters gives the series that a sweep needs, one filter a metric.
func (q SweepQuery) Filters(s *Sweep) []bench.SeriesFilter {
	f := bench.SeriesFilter{System: s.System, Suite: s.Suite, Workloads: []string{s.Workload}, Steps: q.Steps, Configs: s.Configs()}
	if s.Server != "" {
		f.Servers = []string{s.Server}
	}
	metrics := []string{q.Metric}
	if q.Metric == "" {
		metrics = primaryMetricsOf(s.Suite)
	}
	var out []bench.SeriesFilter
	for _, m := range metrics {
		f.Metric = m
		out = append(out, f)
	}
	return out
}

// Keep leaves of fetched series those that were asked for.
func (q SweepQuery) Keep(series []bench.Series) []bench.Series {
	if q.Metric == "" {
		series = PrimaryOnly(series)
	}
	return slices.DeleteFunc(slices.Clone(series), func(s bench.Series) bool {
		return bench.StepRole(s.Suite, s.Step) == bench.RolePrepare && !slices.Contains(q.Steps, s.Step)
	})
}

// Wanted leaves of a comparison's rows those of the versions that were asked for.
func (q SweepQuery) Wanted(rows []SweepRow) []SweepRow {
	if len(q.Versions) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r SweepRow) bool {
		return !slices.ContainsFunc(q.Versions, func(v string) bool { return bench.CompareVersions(v, r.Version) == 0 })
	})
}

// DiskMetrics are the metrics of fio that say what a disk is like.
func DiskMetrics() []string {
	return []string{"iops", "mb_per_s", "average", "stdev_us", "p50", "p99", "max"}
}

// DiskFilters gives the series of fio that may be about a sweep's disks. fio is of
// no system of its own: it may be stored under any.
func DiskFilters(s *Sweep) []bench.SeriesFilter {
	var out []bench.SeriesFilter
	for _, m := range DiskMetrics() {
		f := bench.SeriesFilter{Suite: bench.SuiteFIO, Metric: m}
		if s.Server != "" {
			f.Servers = []string{s.Server}
		}
		out = append(out, f)
	}
	return out
}

// SweepSource is what [ReadSweep] reads from. A store satisfies it.
type SweepSource interface {
	Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error)
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error)
	RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error)
}

// ReadSweep finds the sweeps that a store holds and compares the values of the one
// that a query asks for. all are those of every system, so that a page can offer
// them; ok is false where none fits.
func ReadSweep(ctx context.Context, from SweepSource, q SweepQuery, cache *Cache) (c SweepComparison, all []Sweep, ok bool, err error) {
	runs, err := from.Varied(ctx, bench.VariedFilter{})
	if err != nil {
		return c, nil, false, err
	}
	configs, err := from.Configs(ctx, bench.ConfigFilter{Layer: bench.LayerParsed, Options: true})
	if err != nil {
		return c, nil, false, err
	}
	all = FindSweeps(runs, configs)
	at := slices.IndexFunc(all, func(s Sweep) bool { return q.Fits(&s) })
	if at < 0 {
		return c, all, false, nil
	}
	in := SweepInput{Sweep: all[at], Configs: configs, Base: q.Base, Cache: cache}
	if q.Base != "" && in.Sweep.Arm(q.Base) == nil {
		var names []string
		for i := range in.Sweep.Arms {
			names = append(names, in.Sweep.Arms[i].Name())
		}
		return c, all, false, bench.Errorf(bench.KindInvalid, "base is one of %s, not %q", strings.Join(names, ", "), q.Base)
	}
	swept := in.Sweep.Runs()
	for i := range runs {
		if slices.Contains(swept, runs[i].ID) {
			in.Facts = append(in.Facts, runs[i])
		}
	}
	for _, f := range q.Filters(&in.Sweep) {
		series, err := from.Series(ctx, f)
		if err != nil {
			return c, all, false, err
		}
		in.Series = append(in.Series, series...)
	}
	in.Series = q.Keep(in.Series)
	if in.Breakdowns, err = from.Breakdowns(ctx, swept); err != nil {
		return c, all, false, err
	}
	for _, f := range DiskFilters(&in.Sweep) {
		series, err := from.Series(ctx, f)
		if err != nil {
			return c, all, false, err
		}
		in.Disks = append(in.Disks, series...)
	}
	if runs := RunsOf(in.Disks); len(runs) > 0 {
		if in.DiskFacts, err = from.RunFacts(ctx, runs); err != nil {
			return c, all, false, err
		}
	}
	c = CompareSweep(in)
	c.Rows = q.Wanted(c.Rows)
	return c, all, true, nil
}
