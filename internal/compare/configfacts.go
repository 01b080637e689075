package compare

import (
	"context"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// ConfigFacts is where a comparison of configs reads what it compares. It is
// declared here so that the order of reading stands once for pages and API; a
// store satisfies it.
type ConfigFacts interface {
	Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error)
	Distributions(ctx context.Context, runs []int64) ([]bench.Distribution, error)
	Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error)
}

// FetchConfigs reads what a comparison of configs is made of; its Cache is left to
// the caller. Configs of several systems are an error of kind invalid. Where
// nothing was measured, the stored configs that the query names are compared by
// their options alone: all of the system where it names none.
func FetchConfigs(ctx context.Context, from ConfigFacts, q ArmsQuery) (ConfigsInput, error) {
	in := ConfigsInput{Base: q.Base, Names: slices.Clone(q.Filter.Configs)}
	for _, f := range q.Fetch() {
		series, err := from.Series(ctx, f)
		if err != nil {
			return in, err
		}
		in.Series = append(in.Series, series...)
	}
	in.Series = q.Keep(in.Series)
	system := q.Filter.System
	if systems := SystemsOf(in.Series); len(systems) > 1 {
		return in, bench.Errorf(bench.KindInvalid, "configs of several systems (%s): name one of them", strings.Join(systems, ", "))
	} else if len(systems) == 1 {
		system = systems[0]
	}
	if system == "" {
		return in, nil
	}
	var err error
	if len(in.Series) > 0 {
		seconds := q.Filter
		seconds.System, seconds.Metric, seconds.Configs = system, "p99_second_rate", with(seconds.Configs, q.Base)
		if in.Seconds, err = from.Series(ctx, seconds); err != nil {
			return in, err
		}
		if len(in.Seconds) > 0 { // suites without it have no distributions in these buckets either
			if in.Distributions, err = from.Distributions(ctx, RunsOf(in.Series)); err != nil {
				return in, err
			}
		}
	}
	names := with(slices.Clone(in.Names), q.Base)
	for _, x := range in.Series {
		if !slices.Contains(names, x.Config) {
			names = append(names, x.Config)
		}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	if len(names) == 0 && len(in.Series) > 0 {
		return in, nil
	}
	in.Configs, err = from.Configs(ctx, bench.ConfigFilter{
		System: system, Names: names, Servers: q.Filter.Servers, Workloads: q.Filter.Workloads, Options: true,
	})
	if len(names) == 0 {
		for _, c := range in.Configs {
			if !slices.Contains(in.Names, c.Name) {
				in.Names = append(in.Names, c.Name)
			}
		}
	}
	return in, err
}
