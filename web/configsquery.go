package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// configsQuery is the query of /configs. Empty lists and names were not given: the
// page then chooses, see [configsQuery.resolve].
type configsQuery struct {
	System, Suite string
	Servers       []string
	Workloads     []string
	Steps         []string
	Version       string
	Compilers     []string
	Clients       []int
	Configs       []string
	Base          string // config
	Metric        string // "" is the one that decides each step
	Absolute      bool
	// The place of which times, worst seconds and costs are shown.
	Detail, DetailServer, DetailWorkload string
	Unknown                              url.Values
}

func parseConfigs(raw string) (configsQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return configsQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := configsQuery{
		System: p.one("system"), Suite: p.one("suite"), Servers: p.many("server"), Steps: p.many("step"), Version: p.one("version"),
		Configs: p.many("config"), Base: p.one("base"), Metric: p.one("metric"), Absolute: p.choice("show", "relative", "absolute") == "absolute",
		Detail: p.one("detail"), DetailServer: p.one("detail_server"), DetailWorkload: bench.WorkloadName(p.one("detail_workload")),
	}
	for _, w := range p.many("workload") {
		q.Workloads = appendNew(q.Workloads, bench.WorkloadName(w))
	}
	for _, c := range p.many("compiler") {
		q.Compilers = appendNew(q.Compilers, bench.CompilerName(c))
	}
	for _, c := range p.many("clients") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 0 {
			p.fail("clients is a whole number, not %q", c)
		} else if !slices.Contains(q.Clients, n) {
			q.Clients = append(q.Clients, n)
		}
	}
	if _, ok := bench.LookupMetric(q.Metric); !ok && q.Metric != "" {
		p.fail("no such metric: %q; known are %s, and counters as ticker_NAME and perf_NAME", q.Metric, metricNames())
	}
	q.Unknown = p.rest()
	return q, p.err
}

// String gives the address of the view, keys in a fixed order, defaults left out.
func (q configsQuery) String() string { return q.at("/configs") }

func (q configsQuery) at(path string) string {
	a := address{path: path}
	q.coordinates(&a)
	if q.Absolute {
		a.add("show", "absolute")
	}
	a.set("detail", q.Detail)
	a.set("detail_server", q.DetailServer)
	a.set("detail_workload", q.DetailWorkload)
	a.keep(q.Unknown)
	return a.String()
}

// coordinates adds the keys that the comparison's own address and the API share.
func (q configsQuery) coordinates(a *address) {
	a.set("system", q.System)
	a.set("suite", q.Suite)
	a.all("server", q.Servers)
	a.all("workload", q.Workloads)
	a.all("step", q.Steps)
	a.set("version", q.Version)
	a.all("compiler", q.Compilers)
	for _, c := range q.Clients {
		a.add("clients", strconv.Itoa(c))
	}
	a.all("config", q.Configs)
	a.set("base", q.Base)
	a.set("metric", q.Metric)
}

// apiQuery gives the address of the same comparison in the API.
func (q configsQuery) apiQuery() string {
	a := address{path: "/api/v1/compare/configs"}
	q.coordinates(&a)
	return a.String()
}

// with gives a changed copy; the lists of the original stay as they are.
func (q configsQuery) with(change func(*configsQuery)) configsQuery {
	q.Servers, q.Workloads, q.Steps = slices.Clone(q.Servers), slices.Clone(q.Workloads), slices.Clone(q.Steps)
	q.Compilers, q.Clients, q.Configs = slices.Clone(q.Compilers), slices.Clone(q.Clients), slices.Clone(q.Configs)
	change(&q)
	return q
}

// configDimension is a part of a coordinate that the page of configs selects.
type configDimension struct {
	name, label string
	several     bool // more than one value can be shown
	of          func(bench.Coordinate) string
	get         func(configsQuery) []string
	set         func(*configsQuery, []string)
	text        func(string) string
}

// configDimensions lists the fields in the order in which a missing one is chosen.
var configDimensions = []configDimension{
	{"system", "System", false, func(c bench.Coordinate) string { return c.System },
		func(q configsQuery) []string { return orNone(q.System) },
		func(q *configsQuery, v []string) { q.System = first(v) }, systemName},
	{"suite", "Suite", false, func(c bench.Coordinate) string { return c.Suite },
		func(q configsQuery) []string { return orNone(q.Suite) },
		func(q *configsQuery, v []string) { q.Suite = first(v) }, suiteName},
	{"server", "Server", true, func(c bench.Coordinate) string { return c.Server },
		func(q configsQuery) []string { return q.Servers },
		func(q *configsQuery, v []string) { q.Servers = v }, asIs},
	{"compiler", "Build", true, func(c bench.Coordinate) string { return c.Compiler },
		func(q configsQuery) []string { return q.Compilers },
		func(q *configsQuery, v []string) { q.Compilers = v }, compilerName},
	{"clients", "Clients", true, func(c bench.Coordinate) string { return strconv.Itoa(c.Clients) },
		func(q configsQuery) []string { return clientTexts(q.Clients) },
		func(q *configsQuery, v []string) { q.Clients = clientNumbers(v) }, asIs},
	{"workload", "Workload", true, func(c bench.Coordinate) string { return c.Workload },
		func(q configsQuery) []string { return q.Workloads },
		func(q *configsQuery, v []string) { q.Workloads = v }, workloadTitle},
	{"config", "Configs", true, func(c bench.Coordinate) string { return c.Config },
		func(q configsQuery) []string { return q.Configs },
		func(q *configsQuery, v []string) { q.Configs = v }, asIs},
}

// resolve gives the query with every dimension chosen but for workloads and
// configs, of which all are shown. What was given stays as given; else it is the
// value that the most configs were measured with, of several the one of the most
// samples. left are the coordinates shown; none where nothing was measured under
// what was given.
func (q configsQuery) resolve(coordinates []bench.CoordinateInfo) (resolved configsQuery, left []bench.CoordinateInfo) {
	left = slices.DeleteFunc(slices.Clone(coordinates), func(c bench.CoordinateInfo) bool { return c.Config == "" })
	narrow := func(d configDimension, want []string) {
		left = slices.DeleteFunc(left, func(c bench.CoordinateInfo) bool { return !slices.Contains(want, d.of(c.Coordinate)) })
	}
	resolved = q.with(func(*configsQuery) {})
	for _, d := range configDimensions {
		given := d.get(q)
		if d.name == "config" && len(given) > 0 && q.Base != "" {
			given = appendNew(slices.Clone(given), q.Base)
		}
		if len(given) > 0 {
			narrow(d, given)
		}
	}
	if len(q.Steps) > 0 {
		left = slices.DeleteFunc(left, func(c bench.CoordinateInfo) bool { return !slices.Contains(q.Steps, c.Step) })
	}
	if len(left) == 0 {
		return resolved, nil
	}
	for _, d := range configDimensions {
		if len(d.get(q)) > 0 || d.name == "workload" || d.name == "config" {
			continue
		}
		v := mostConfigs(left, d)
		d.set(&resolved, []string{v})
		narrow(d, []string{v})
	}
	return resolved, left
}

// mostConfigs gives the value of a dimension that the most configs were measured
// with; of several that of the most samples, then the first by name. What fio
// says of the disks beside a benchmark is not taken for the benchmark.
func mostConfigs(left []bench.CoordinateInfo, d configDimension) string {
	configs := map[string]map[string]bool{}
	samples := map[string]int{}
	for _, c := range left {
		v := d.of(c.Coordinate)
		if configs[v] == nil {
			configs[v] = map[string]bool{}
		}
		configs[v][c.Config] = true
		samples[v] += c.Samples
	}
	return slices.MinFunc(sortedKeys(samples), func(a, b string) int {
		beside := func(v string) int {
			if d.name == "suite" && v == bench.SuiteFIO {
				return 1
			}
			return 0
		}
		return cmp.Or(len(configs[b])-len(configs[a]), beside(a)-beside(b), samples[b]-samples[a], cmp.Compare(a, b))
	})
}

// arms gives what a resolved query asks of the one computation.
func (q configsQuery) arms(left []bench.CoordinateInfo) compare.ArmsQuery {
	configs := slices.Clone(q.Configs)
	if len(configs) == 0 {
		for _, c := range left {
			configs = appendNew(configs, c.Config)
		}
	}
	return compare.ArmsQuery{Axis: compare.AxisConfig, Base: q.Base, Filter: bench.SeriesFilter{
		System: q.System, Suite: q.Suite, Servers: q.Servers, Workloads: q.Workloads, Steps: q.Steps,
		Compilers: q.Compilers, Configs: configs, Clients: q.Clients, Metric: q.Metric,
	}}
}

// suiteName gives a suite's own spelling.
func suiteName(s string) string {
	switch s {
	case bench.SuiteIBench:
		return "Insert Benchmark"
	case "":
		return compare.Missing
	}
	return s
}

// workloadTitle words a workload for a heading.
func workloadTitle(s string) string {
	switch s {
	case "io":
		return "IO-bound"
	case "cached-by-os":
		return "cached by OS"
	}
	return orDash(s)
}
