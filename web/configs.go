package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// configsInput is what the page of configs is built from.
type configsInput struct {
	Given, Resolved configsQuery
	Coordinates     []bench.CoordinateInfo // of everything that has a config
	Left            []bench.CoordinateInfo // what is compared; nil where nothing was measured
	Metrics         []bench.MetricFacet    // measured in what is compared
	Facts           compare.ConfigsInput
	Costs           []bench.Series       // of the metrics of [costMetrics]
	Stored          []bench.StoredConfig // of the system, without options
	// Own are the option sets of a place where they may be others than elsewhere.
	Own    map[configPlace][]bench.StoredConfig
	Loaded map[configPlace]string // how much was loaded: 800m
	Origin string
	cache  *compare.Cache
}

// configPlace is where configs are compared: all that is fixed but the step.
type configPlace struct {
	Server, Workload, Compiler string
	Clients                    int
}

func configPlaceOf(c bench.Coordinate) configPlace {
	return configPlace{c.Server, c.Workload, c.Compiler, c.Clients}
}

// costMetrics are the metrics that are shown beside the one that decides a step,
// where they were measured.
var costMetrics = []string{"max_op_s", "p99", "cpu_us_per_op", "user_cpu_s", "read_kb_per_op", "write_kb_per_op", "write_amp", "context_switches_per_op", "stall_percent", "rss_gb"}

// Bounds of what the page reads and shows.
const (
	configPlacesMax = 8   // places of which runs and options are looked at one by one
	storedMax       = 200 // stored configs that are listed
)

func (s *server) configs(r *http.Request) (templ.Component, error) {
	in, err := s.readConfigs(r.Context(), r.URL.RawQuery, s.origin(r))
	if err != nil {
		return nil, err
	}
	a := answerConfigs(in)
	if err := s.readPlaces(r.Context(), &in, a); err != nil {
		return nil, err
	}
	p := newConfigsPage(in, a)
	p.Page = s.frame(r, p.Heading, "/configs")
	s.bar(r, &p.Bar)
	s.describe(r, &p.Page, plain(p.Lead))
	return view.Configs(p), nil
}

func (s *server) readConfigs(ctx context.Context, raw, origin string) (configsInput, error) {
	q, err := parseConfigs(raw)
	if err != nil {
		return configsInput{}, err
	}
	in := configsInput{Given: q, Origin: origin, cache: s.cache, Own: map[configPlace][]bench.StoredConfig{}, Loaded: map[configPlace]string{}}
	if in.Coordinates, err = s.Source.Coordinates(ctx, bench.SeriesFilter{}); err != nil {
		return in, err
	}
	in.Coordinates = slices.DeleteFunc(in.Coordinates, func(c bench.CoordinateInfo) bool { return c.Config == "" })
	in.Resolved, in.Left = q.resolve(in.Coordinates)
	if in.Stored, err = s.Source.Configs(ctx, bench.ConfigFilter{System: in.Resolved.System}); err != nil {
		return in, err
	}
	if in.Resolved.System == "" {
		in.Resolved.System = mostStored(in.Stored)
		in.Stored = slices.DeleteFunc(in.Stored, func(c bench.StoredConfig) bool { return c.System != in.Resolved.System })
	}
	arms := in.Resolved.arms(in.Left)
	if len(in.Left) == 0 {
		// Options alone can be compared as well: those of configs that measured nothing.
		names := in.Given.Configs
		for _, c := range in.Stored {
			if len(in.Given.Configs) == 0 {
				names = appendNew(names, c.Name)
			}
		}
		if len(names) == 0 || in.Resolved.System == "" {
			return in, nil
		}
		in.Facts = compare.ConfigsInput{Names: names, Base: q.Base}
		in.Facts.Configs, err = s.Source.Configs(ctx, bench.ConfigFilter{System: in.Resolved.System, Names: names, Options: true})
		return in, err
	}
	if in.Facts, err = compare.FetchConfigs(ctx, s.Source, arms); err != nil {
		return in, err
	}
	if len(in.Given.Configs) == 0 {
		in.Facts.Names = nil // all that is compared was measured
	}
	in.Facts.Cache = s.cache
	facets, err := s.Source.Facets(ctx, arms.Filter)
	if err != nil {
		return in, err
	}
	in.Metrics = facets.Metrics
	for _, m := range costMetrics {
		if !slices.ContainsFunc(facets.Metrics, func(f bench.MetricFacet) bool { return f.Name == m }) {
			continue
		}
		f := arms.Filter
		f.Metric = m
		if q.Base != "" && !slices.Contains(f.Configs, q.Base) {
			f.Configs = append(slices.Clone(f.Configs), q.Base)
		}
		series, err := s.Source.Series(ctx, f)
		if err != nil {
			return in, err
		}
		in.Costs = append(in.Costs, series...)
	}
	return in, nil
}

// mostStored names the system of the most stored configs, the first of several.
func mostStored(configs []bench.StoredConfig) string {
	count := map[string]int{}
	for _, c := range configs {
		count[c.System]++
	}
	return slices.MinFunc(append(sortedKeys(count), ""), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(b, a))
	})
}

// readPlaces reads what differs from place to place: how much was loaded, and the
// option sets where one name stands for several.
func (s *server) readPlaces(ctx context.Context, in *configsInput, a configsAnswer) error {
	several := slices.ContainsFunc(a.c.Sets, func(x compare.ConfigSet) bool { return x.Variants > 0 })
	for i, g := range a.groups {
		if i >= configPlacesMax {
			return nil
		}
		if several {
			own, err := s.Source.Configs(ctx, bench.ConfigFilter{System: in.Resolved.System, Names: setNames(a.c.Sets), Servers: []string{g.Server}, Workloads: []string{g.Workload}, Options: true})
			if err != nil {
				return err
			}
			in.Own[g.configPlace] = own
		}
		if in.Resolved.Suite != bench.SuiteIBench {
			continue
		}
		cell := g.rows[0].Cell(a.base)
		if cell == nil || len(cell.Runs) == 0 {
			continue
		}
		run, err := s.Source.Run(ctx, cell.Runs[0])
		switch {
		case bench.KindOf(err) == bench.KindNotFound:
		case err != nil:
			return err
		default:
			in.Loaded[g.configPlace] = run.Options["rows_loaded"]
		}
	}
	return nil
}

func setNames(sets []compare.ConfigSet) []string {
	var names []string
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return names
}

// configsAnswer is the comparison of a page of configs, at one version.
type configsAnswer struct {
	c        compare.ConfigComparison
	base     string
	versions []string // that were measured, in order
	version  string   // the one that is shown
	groups   []configGroup
	arms     []string // measured at it, the base first
}

// configGroup is a place with its rows, one a step.
type configGroup struct {
	configPlace
	rows   []*compare.ArmRow
	marked int // cells that stand worse than the base
}

// answerConfigs compares, and chooses the version: the newest at which the most
// configs were measured.
func answerConfigs(in configsInput) configsAnswer {
	a := configsAnswer{c: compare.CompareConfigs(in.Facts)}
	a.base, a.versions = a.c.Base.Config, a.c.Versions
	if a.version = in.Resolved.Version; a.version == "" {
		most := 0
		for _, v := range a.versions {
			if n := len(a.armsAt(v)); n >= most {
				a.version, most = v, n
			}
		}
	}
	a.arms = a.armsAt(a.version)
	for i := range a.c.Rows {
		r := &a.c.Rows[i]
		if bench.CompareVersions(r.Version, a.version) != 0 {
			continue
		}
		at := slices.IndexFunc(a.groups, func(g configGroup) bool { return g.configPlace == configPlaceOf(r.Coordinate) })
		if at < 0 {
			at = len(a.groups)
			a.groups = append(a.groups, configGroup{configPlace: configPlaceOf(r.Coordinate)})
		}
		g := &a.groups[at]
		g.rows = append(g.rows, r)
		for j := range r.Cells {
			if c := &r.Cells[j]; c.Arm != a.base && marked(c, r.Metric.Direction) {
				g.marked++
			}
		}
	}
	// Where something is to be looked at stands first.
	slices.SortStableFunc(a.groups, func(x, y configGroup) int {
		return cmp.Or(y.marked-x.marked, strings.Compare(x.Server, y.Server), strings.Compare(x.Workload, y.Workload), strings.Compare(x.Compiler, y.Compiler), x.Clients-y.Clients)
	})
	return a
}

// marked reports whether a cell is worse than the base: beyond noise, or by the
// practical rule.
func marked(c *compare.ArmCell, d bench.Direction) bool {
	return c.Stand(d) == compare.Worse || c.Point != nil && c.Practical != nil && c.Practical.Worse
}

func (a configsAnswer) armsAt(version string) []string {
	var arms []string
	for _, arm := range a.c.Arms.Arms {
		for i := range a.c.Rows {
			if r := &a.c.Rows[i]; bench.CompareVersions(r.Version, version) == 0 && r.Cell(arm) != nil {
				arms = append(arms, arm)
				break
			}
		}
	}
	return arms
}

// set gives the option set of a config, nil without one.
func (a configsAnswer) set(name string) *compare.ConfigSet {
	for i := range a.c.Sets {
		if a.c.Sets[i].Name == name {
			return &a.c.Sets[i]
		}
	}
	return nil
}

// layersOf gives what is stored of a config of each layer; StoredConfig and
// Effective are nil where there is nothing.
func (a configsAnswer) layersOf(name string, configs []bench.StoredConfig) compare.ConfigSet {
	var out compare.ConfigSet
	if out.StoredConfig, out.Variants = compare.PickConfig(configs, name); out.StoredConfig != nil {
		if set := a.set(name); set != nil && set.Layer == bench.LayerParsed {
			out = *set
		}
	}
	for i := range configs {
		if c := &configs[i]; c.Name == name && c.Layer == bench.LayerEffective && (out.Effective == nil || c.ID > out.Effective.ID) {
			out.Effective = c
		}
	}
	return out
}

// setAt is set at a place where the name may stand for other options.
func (a configsAnswer) setAt(in configsInput, at configPlace, name string) *compare.ConfigSet {
	set := a.set(name)
	if own, ok := in.Own[at]; ok && set != nil {
		if x, variants := compare.PickConfig(own, name); x != nil {
			return &compare.ConfigSet{StoredConfig: x, Variants: variants, Effective: set.Effective}
		}
	}
	return set
}
