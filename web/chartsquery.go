package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// Limits of a query.
const (
	queryBytesMax  = 64 << 10
	queryValuesMax = 400
)

// chartsQuery is the query of /charts. Empty lists and names were not given: the
// page then chooses, see [chartsQuery.resolve].
type chartsQuery struct {
	System, Suite string
	Servers       []string
	Workloads     []string
	Clients       []int
	Steps         []string
	Metric        string
	Compilers     []string
	Configs       []string
	Base          compare.Base
	From, To      string
	Across        bool // a few versions of every major only
	Apart         bool // step families are not joined
	Fit           bool // the scale follows the data
	Worst         bool // worst chart first
	Sensitivity   compare.Sensitivity
	At            string
	Unknown       url.Values
	// Report makes it the query of /report/{system}: of each dimension one value, and
	// the system is part of the path. All shows every version in its heat table.
	Report, All bool
	// Builds makes it the query of /compilers: one place, builds by several compilers,
	// and a base that is one compiler's.
	Builds bool
}

// metricDefault is the metric of an address that names none.
const metricDefault = "qps"

// parseQuery reads a raw query with the limits that all pages have.
func parseQuery(raw string) (url.Values, error) {
	if len(raw) > queryBytesMax {
		return nil, bench.Errorf(bench.KindTooLarge, "the query is %d bytes long; at most %d are read", len(raw), queryBytesMax)
	}
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bench.Errorf(bench.KindInvalid, "the query is not well formed: %w", err)
	}
	n := 0
	for k, values := range q {
		n += len(values)
		for _, v := range values {
			if !utf8.ValidString(k) || !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, bench.Errorf(bench.KindInvalid, "%q is not UTF-8 text", k)
			}
		}
	}
	if n > queryValuesMax {
		return nil, bench.Errorf(bench.KindInvalid, "%d values in the query; at most %d are read", n, queryValuesMax)
	}
	return q, nil
}

// parseCharts reads the query of /charts. Names are not checked against what is
// stored: a name that nothing was measured under gives an empty view, not an error.
func parseCharts(raw string) (chartsQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return chartsQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := chartsQuery{
		System: p.one("system"), Suite: p.one("suite"), Servers: p.many("server"),
		Steps: p.many("step"), Configs: p.list("config"),
		Base: compare.Base{Version: p.one("base"), Compiler: bench.CompilerName(p.one("base_compiler")), Config: p.one("base_config")},
		From: p.one("from"), To: p.one("to"), At: p.one("at"),
		Across: p.choice("across", "0", "1") == "1",
		Apart:  p.choice("family", "1", "0") == "0",
		Fit:    p.choice("scale", "same", "fit") == "fit",
		Worst:  p.choice("order", "group", "worst") == "worst",
		All:    p.choice("all", "0", "1") == "1",

		Sensitivity: compare.Sensitivity(p.choice("sensitivity", string(compare.Usual), string(compare.Strict), string(compare.Sensitive))),
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
	q.Metric = p.one("metric")
	if q.Metric == "" {
		q.Metric = metricDefault
	}
	if _, ok := bench.LookupMetric(q.Metric); !ok {
		p.fail("no such metric: %q; known are %s, and counters as ticker_NAME and perf_NAME", q.Metric, metricNames())
	}
	if q.From != "" && q.To != "" && bench.CompareVersions(q.From, q.To) > 0 {
		p.fail("from=%s is newer than to=%s", q.From, q.To)
	}
	q.Unknown = p.rest()
	return q, p.err
}

func metricNames() string {
	var names []string
	for _, m := range bench.Metrics() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// params reads the keys of a query, remembers which it was asked for and the
// first thing that is wrong.
type params struct {
	values url.Values
	known  map[string]bool
	err    error
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = bench.Errorf(bench.KindInvalid, format, args...)
	}
}

// one gives the value of a key that may stand once.
func (p *params) one(key string) string {
	p.known[key] = true
	if n := len(p.values[key]); n > 1 {
		p.fail("%s is given %d times, at most one is expected", key, n)
	}
	return strings.TrimSpace(p.values.Get(key))
}

// list gives the values of a key that may repeat, each once; an empty value is one.
func (p *params) list(key string) []string {
	p.known[key] = true
	var out []string
	for _, v := range p.values[key] {
		out = appendNew(out, strings.TrimSpace(v))
	}
	return out
}

// many is list without empty values.
func (p *params) many(key string) []string {
	return slices.DeleteFunc(p.list(key), func(v string) bool { return v == "" })
}

// choice gives the value of a key that has few; the first is the default.
func (p *params) choice(key string, allowed ...string) string {
	v := p.one(key)
	if v == "" {
		return allowed[0]
	}
	if !slices.Contains(allowed, v) {
		p.fail("%s is %s, not %q", key, strings.Join(allowed, " or "), v)
	}
	return v
}

// number gives a whole number above 0, fallback where the key is absent.
func (p *params) number(key string, fallback int64) int64 {
	v := p.one(key)
	if v == "" {
		return fallback
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 1 {
		p.fail("%s is a whole number above 0, not %q", key, v)
		return fallback
	}
	return n
}

// rest gives the keys that nobody asked for.
func (p *params) rest() url.Values {
	out := url.Values{}
	for k, v := range p.values {
		if !p.known[k] {
			out[k] = v
		}
	}
	return out
}

// String gives the address of the view, keys in a fixed order, defaults left out.
func (q chartsQuery) String() string {
	if q.Report {
		return q.at(reportPath(q.System))
	}
	if q.Builds {
		return q.at("/compilers")
	}
	return q.at("/charts")
}

// reportPath is the path of a system's version report.
func reportPath(system string) string { return "/report/" + url.PathEscape(system) }

func (q chartsQuery) at(path string) string {
	a := address{path: path}
	if !q.Report {
		a.set("system", q.System)
	}
	a.set("suite", q.Suite)
	a.all("server", q.Servers)
	a.all("workload", q.Workloads)
	for _, c := range q.Clients {
		a.add("clients", strconv.Itoa(c))
	}
	a.all("step", q.Steps)
	if q.Metric != metricDefault {
		a.set("metric", q.Metric)
	}
	a.all("compiler", q.Compilers)
	a.all("config", q.Configs)
	a.set("base", q.Base.Version)
	a.set("base_compiler", q.Base.Compiler)
	a.set("base_config", q.Base.Config)
	a.set("from", q.From)
	a.set("to", q.To)
	if q.Across {
		a.add("across", "1")
	}
	if q.Apart {
		a.add("family", "0")
	}
	if q.Fit {
		a.add("scale", "fit")
	}
	if q.Worst {
		a.add("order", "worst")
	}
	if q.Sensitivity != compare.Usual {
		a.set("sensitivity", string(q.Sensitivity))
	}
	if q.All {
		a.add("all", "1")
	}
	a.set("at", q.At)
	a.keep(q.Unknown)
	return a.String()
}

// apiQuery gives the address of the same figures in the API, which knows no
// defaults: everything is spelled out, format "" leaves the API's own.
func (q chartsQuery) apiQuery(format string) string {
	a := address{path: "/api/v1/series"}
	a.set("system", q.System)
	a.set("suite", q.Suite)
	a.all("server", q.Servers)
	a.all("workload", q.Workloads)
	for _, c := range q.Clients {
		a.add("clients", strconv.Itoa(c))
	}
	a.all("step", q.Steps)
	a.set("metric", q.Metric)
	a.all("compiler", q.Compilers)
	a.all("config", q.Configs)
	a.set("base", q.Base.Version)
	a.set("base_compiler", q.Base.Compiler)
	a.set("base_config", q.Base.Config)
	a.set("from", q.From)
	a.set("to", q.To)
	if !q.Apart {
		a.add("family", "1")
	}
	a.set("format", format)
	return a.String()
}

// with gives a changed copy; the lists of the original stay as they are.
func (q chartsQuery) with(change func(*chartsQuery)) chartsQuery {
	q.Servers, q.Workloads, q.Clients = slices.Clone(q.Servers), slices.Clone(q.Workloads), slices.Clone(q.Clients)
	q.Steps, q.Compilers, q.Configs = slices.Clone(q.Steps), slices.Clone(q.Compilers), slices.Clone(q.Configs)
	change(&q)
	return q
}

// dimension is a part of a coordinate that a toolbar field selects.
type dimension struct {
	name  string // for people
	of    func(bench.Coordinate) string
	get   func(chartsQuery) []string
	set   func(*chartsQuery, []string)
	label func(string) string
}

// dimensions lists the fields in the order in which a missing one is chosen:
// each by the most samples among what the earlier ones leave.
var dimensions = []dimension{
	{"system", func(c bench.Coordinate) string { return c.System },
		func(q chartsQuery) []string { return orNone(q.System) },
		func(q *chartsQuery, v []string) { q.System = first(v) }, systemName},
	{"server", func(c bench.Coordinate) string { return c.Server },
		func(q chartsQuery) []string { return q.Servers },
		func(q *chartsQuery, v []string) { q.Servers = v }, asIs},
	{"workload", func(c bench.Coordinate) string { return c.Workload },
		func(q chartsQuery) []string { return q.Workloads },
		func(q *chartsQuery, v []string) { q.Workloads = v }, orDash},
	{"suite", func(c bench.Coordinate) string { return c.Suite },
		func(q chartsQuery) []string { return orNone(q.Suite) },
		func(q *chartsQuery, v []string) { q.Suite = first(v) }, asIs},
	{"compiler", func(c bench.Coordinate) string { return c.Compiler },
		func(q chartsQuery) []string { return q.Compilers },
		func(q *chartsQuery, v []string) { q.Compilers = v }, compilerName},
	{"config", func(c bench.Coordinate) string { return c.Config },
		func(q chartsQuery) []string { return q.Configs },
		func(q *chartsQuery, v []string) { q.Configs = v }, configName},
	{"clients", func(c bench.Coordinate) string { return strconv.Itoa(c.Clients) },
		func(q chartsQuery) []string { return clientTexts(q.Clients) },
		func(q *chartsQuery, v []string) { q.Clients = clientNumbers(v) }, asIs},
}

func orNone(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func first(v []string) string {
	if len(v) == 0 {
		return ""
	}
	return v[0]
}

func asIs(s string) string { return s }

func orDash(s string) string {
	if s == "" {
		return compare.Missing
	}
	return s
}

func configName(s string) string {
	if s == "" {
		return "no config"
	}
	return s
}

func compilerName(s string) string {
	if s == "clang+lto" {
		return "clang+LTO"
	}
	return orDash(s)
}

// systemName gives a system's own spelling.
func systemName(s string) string {
	switch s {
	case bench.SystemRocksDB:
		return "RocksDB"
	case bench.SystemMyRocks:
		return "MyRocks"
	}
	return s
}

// resolve gives the query with every dimension chosen: what was given as given,
// each other one as [best] says. ok is false when nothing was measured under what
// was given.
func (q chartsQuery) resolve(coordinates []bench.CoordinateInfo) (resolved chartsQuery, ok bool) {
	left := coordinates
	narrow := func(d dimension, want []string) {
		left = slices.DeleteFunc(slices.Clone(left), func(c bench.CoordinateInfo) bool { return !slices.Contains(want, d.of(c.Coordinate)) })
	}
	var several []dimension // given with more than one value
	for _, d := range dimensions {
		if given := d.get(q); len(given) > 0 {
			narrow(d, given)
			if len(given) > 1 {
				several = append(several, d)
			}
		}
	}
	if len(q.Steps) > 0 {
		left = slices.DeleteFunc(slices.Clone(left), func(c bench.CoordinateInfo) bool { return !q.wants(c.Step) })
	}
	if len(left) == 0 {
		return q, false
	}
	resolved = q.with(func(*chartsQuery) {})
	for _, d := range dimensions {
		if len(d.get(q)) == 0 {
			chosen := best(left, d, several)
			d.set(&resolved, chosen)
			narrow(d, chosen)
		}
	}
	return resolved, true
}

// best chooses values of a dimension that was not given: the one with the most
// samples (gcc, else the first in alphabetical order, where several have as many).
// Where several servers or the like were given and that value is not measured for
// each of them, every one gets its own: two servers whose builds are by different
// compilers can thereby be compared without naming these.
func best(left []bench.CoordinateInfo, d dimension, several []dimension) []string {
	group := func(c bench.CoordinateInfo) string {
		var parts []string
		for _, s := range several {
			parts = append(parts, s.of(c.Coordinate))
		}
		return strings.Join(parts, "\x1f")
	}
	most := func(count map[string]int) string {
		return slices.MaxFunc(sortedKeys(count), func(a, b string) int {
			switch {
			case count[a] != count[b]:
				return count[a] - count[b]
			case a == "gcc":
				return 1
			case b == "gcc":
				return -1
			}
			return strings.Compare(b, a)
		})
	}
	total := map[string]int{}
	groups := map[string]map[string]int{}
	for _, c := range left {
		v := d.of(c.Coordinate)
		total[v] += c.Samples
		g := group(c)
		if groups[g] == nil {
			groups[g] = map[string]int{}
		}
		groups[g][v] += c.Samples
	}
	overall := most(total)
	chosen := []string{overall}
	for _, g := range sortedKeys(groups) {
		if _, measured := groups[g][overall]; !measured {
			chosen = appendNew(chosen, most(groups[g]))
		}
	}
	return chosen
}

// wants reports whether a step was asked for, by its own name or as a member of
// a family.
func (q chartsQuery) wants(step string) bool {
	if slices.Contains(q.Steps, step) {
		return true
	}
	return !q.Apart && slices.ContainsFunc(q.Steps, func(s string) bool { return bench.StepFamily(s) == bench.StepFamily(step) })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// comparison gives what a resolved query asks of the one computation. Without
// steps all measuring ones are meant; those that only prepare are shown when asked
// for by name.
func (q chartsQuery) comparison() compare.Query {
	return compare.Query{
		Filter: bench.SeriesFilter{
			System: q.System, Suite: q.Suite, Servers: q.Servers, Workloads: q.Workloads, Steps: q.Steps,
			Compilers: q.Compilers, Configs: q.Configs, Clients: q.Clients, Metric: q.Metric,
		},
		Options: compare.Options{
			Base: q.Base, AutoBase: q.Base == (compare.Base{}),
			From: q.From, To: q.To, JoinFamilies: !q.Apart,
		},
	}
}

// context names a view in words: c2, cached, gcc.
func (q chartsQuery) context() []string {
	parts := []string{strings.Join(q.Servers, " and "), strings.Join(q.Workloads, " and ")}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

// plural gives a count with its word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", compare.FormatFull(float64(n)), many)
}

// clientTexts writes numbers of clients as the values of a dimension.
func clientTexts(clients []int) []string {
	var out []string
	for _, n := range clients {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// clientNumbers reads them back; what is no number is left out.
func clientNumbers(texts []string) []int {
	var out []int
	for _, s := range texts {
		if n, err := strconv.Atoi(s); err == nil {
			out = append(out, n)
		}
	}
	return out
}
