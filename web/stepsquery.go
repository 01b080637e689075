package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// stepsQuery is the query of /steps: one step of several runs. Empty fields were
// not given, see [stepsQuery.resolve].
type stepsQuery struct {
	System, Suite, Step string
	Servers             []string
	Workloads           []string
	Clients             []int
	Versions            []string
	Compilers           []string
	Configs             []string
	Runs                []int64 // these alone; the others then only narrow
	// Base names the arm that is 1.00: its name, or the version, compiler, config or
	// run that only it has.
	Base     string
	From, To int64 // the seconds shown; To 0 is the end
	Unknown  url.Values
}

// stepArmsMax bounds the arms of the page: more lines cannot be told apart.
const stepArmsMax = 12

// secondMax bounds a second of the address: a year of them.
const secondMax = 366 * 24 * 3600

// parseSteps reads the query of /steps.
func parseSteps(raw string) (stepsQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return stepsQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := stepsQuery{
		System: p.one("system"), Suite: p.one("suite"), Step: p.one("step"), Servers: p.many("server"),
		Configs: p.list("config"), Base: p.one("base"),
	}
	for _, w := range p.many("workload") {
		q.Workloads = appendNew(q.Workloads, bench.WorkloadName(w))
	}
	for _, c := range p.many("compiler") {
		q.Compilers = appendNew(q.Compilers, bench.CompilerName(c))
	}
	for _, v := range p.many("version") {
		if !slices.ContainsFunc(q.Versions, func(x string) bool { return bench.CompareVersions(x, v) == 0 }) {
			q.Versions = append(q.Versions, v)
		}
	}
	for _, c := range p.many("clients") {
		n, err := strconv.Atoi(c)
		if err != nil || n < 0 {
			p.fail("clients is a whole number, not %q", c)
		} else if !slices.Contains(q.Clients, n) {
			q.Clients = append(q.Clients, n)
		}
	}
	for _, r := range p.many("run") {
		n, err := strconv.ParseInt(r, 10, 64)
		if err != nil || n < 1 {
			p.fail("run is the number of a run, not %q", r)
		} else if !slices.Contains(q.Runs, n) {
			q.Runs = append(q.Runs, n)
		}
	}
	second := func(key string) int64 {
		text := p.one(key)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > secondMax {
			p.fail("%s is a second of the step, a whole number from 0, not %q", key, text)
			return 0
		}
		return n
	}
	q.From, q.To = second("from"), second("to")
	if q.To > 0 && q.To < q.From {
		p.fail("to=%d is before from=%d", q.To, q.From)
	}
	q.Unknown = p.rest()
	return q, p.err
}

// String gives the address of the view, keys in a fixed order, defaults left out.
func (q stepsQuery) String() string {
	a := address{path: "/steps"}
	a.set("system", q.System)
	a.set("suite", q.Suite)
	a.all("server", q.Servers)
	a.all("workload", q.Workloads)
	for _, c := range q.Clients {
		a.add("clients", strconv.Itoa(c))
	}
	a.set("step", q.Step)
	a.all("version", q.Versions)
	a.all("compiler", q.Compilers)
	a.all("config", q.Configs)
	for _, r := range q.Runs {
		a.add("run", strconv.FormatInt(r, 10))
	}
	a.set("base", q.Base)
	for _, x := range []struct {
		key string
		at  int64
	}{{"from", q.From}, {"to", q.To}} {
		if x.at > 0 {
			a.add(x.key, strconv.FormatInt(x.at, 10))
		}
	}
	a.keep(q.Unknown)
	return a.String()
}

// with gives the address of a changed copy; the lists of the original stay as they
// are.
func (q stepsQuery) with(change func(*stepsQuery)) stepsQuery {
	q.Servers, q.Workloads, q.Clients = slices.Clone(q.Servers), slices.Clone(q.Workloads), slices.Clone(q.Clients)
	q.Versions, q.Compilers, q.Configs, q.Runs = slices.Clone(q.Versions), slices.Clone(q.Compilers), slices.Clone(q.Configs), slices.Clone(q.Runs)
	change(&q)
	return q
}

// stepDimension is a part of a coordinate that /steps chooses. Where several is
// set, all values are shown unless some are asked for; else the one with the most
// samples.
type stepDimension struct {
	key, field string
	of         func(bench.Coordinate) string
	get        func(stepsQuery) []string
	set        func(*stepsQuery, []string)
	label      func(string) string
	several    bool
}

// stepDimensions lists the dimensions in the order in which a missing one is
// chosen. Those of one value come before those of several.
var stepDimensions = []stepDimension{
	{"system", "System", func(c bench.Coordinate) string { return c.System },
		func(q stepsQuery) []string { return orNone(q.System) }, func(q *stepsQuery, v []string) { q.System = first(v) }, systemName, false},
	{"suite", "Suite", func(c bench.Coordinate) string { return c.Suite },
		func(q stepsQuery) []string { return orNone(q.Suite) }, func(q *stepsQuery, v []string) { q.Suite = first(v) }, asIs, false},
	{"server", "Server", func(c bench.Coordinate) string { return c.Server },
		func(q stepsQuery) []string { return q.Servers }, func(q *stepsQuery, v []string) { q.Servers = v }, asIs, false},
	{"workload", "Workload", func(c bench.Coordinate) string { return c.Workload },
		func(q stepsQuery) []string { return q.Workloads }, func(q *stepsQuery, v []string) { q.Workloads = v }, orDash, false},
	{"step", "Step", func(c bench.Coordinate) string { return c.Step },
		func(q stepsQuery) []string { return orNone(q.Step) }, func(q *stepsQuery, v []string) { q.Step = first(v) }, asIs, false},
	{"clients", "Clients", func(c bench.Coordinate) string { return strconv.Itoa(c.Clients) },
		func(q stepsQuery) []string { return clientTexts(q.Clients) },
		func(q *stepsQuery, v []string) { q.Clients = clientNumbers(v) }, asIs, false},
	{"compiler", "Build", func(c bench.Coordinate) string { return c.Compiler },
		func(q stepsQuery) []string { return q.Compilers }, func(q *stepsQuery, v []string) { q.Compilers = v }, compilerName, true},
	{"config", "Config", func(c bench.Coordinate) string { return c.Config },
		func(q stepsQuery) []string { return q.Configs }, func(q *stepsQuery, v []string) { q.Configs = v }, configName, true},
}

// resolve gives the query with every dimension chosen, and the coordinates that it
// then selects. ok is false when nothing was measured under what was given.
func (q stepsQuery) resolve(coordinates []bench.CoordinateInfo) (resolved stepsQuery, left []bench.CoordinateInfo, ok bool) {
	left = slices.Clone(coordinates)
	narrow := func(d stepDimension, want []string) {
		left = slices.DeleteFunc(left, func(c bench.CoordinateInfo) bool { return !slices.Contains(want, d.of(c.Coordinate)) })
	}
	for _, d := range stepDimensions {
		if given := d.get(q); len(given) > 0 {
			narrow(d, given)
		}
	}
	if len(left) == 0 {
		return q, nil, false
	}
	resolved = q.with(func(*stepsQuery) {})
	for _, d := range stepDimensions {
		if len(d.get(q)) > 0 {
			continue
		}
		var chosen []string
		switch {
		case d.several || len(q.Runs) > 0:
			for _, c := range left {
				chosen = appendNew(chosen, d.of(c.Coordinate))
			}
			if !d.several && d.key != "server" && d.key != "workload" && d.key != "clients" {
				chosen = bestStep(left, d)
			}
		default:
			chosen = bestStep(left, d)
		}
		d.set(&resolved, chosen)
		narrow(d, chosen)
	}
	return resolved, left, true
}

// bestStep chooses the value with the most samples. Of steps those that measure
// come before those that only prepare, then the order of pages decides.
func bestStep(left []bench.CoordinateInfo, d stepDimension) []string {
	if d.key != "step" {
		return best(left, dimension{of: d.of}, nil)
	}
	var measuring []bench.CoordinateInfo
	for _, c := range left {
		if bench.StepRole(c.Suite, c.Step) == bench.RoleMeasure {
			measuring = append(measuring, c)
		}
	}
	if len(measuring) == 0 {
		measuring = left
	}
	samples := map[string]int{}
	for _, c := range measuring {
		samples[c.Step] += c.Samples
	}
	return []string{slices.MinFunc(sortedKeys(samples), func(a, b string) int {
		if samples[a] != samples[b] {
			return samples[b] - samples[a]
		}
		return bench.CompareSteps(a, b)
	})}
}

// baseOf finds the arm that the address names as base, the first without a name;
// ok is false when no arm is called so.
func baseOf(name string, arms []compare.StepArm) (index int, ok bool) {
	if name == "" {
		return 0, true
	}
	by := func(is func(compare.StepArm) bool) int {
		at := slices.IndexFunc(arms, is)
		if at >= 0 && slices.IndexFunc(arms[at+1:], is) >= 0 && !slices.ContainsFunc(arms, func(a compare.StepArm) bool { return !is(a) }) {
			return -1 // all are: says nothing
		}
		return at
	}
	for _, is := range []func(compare.StepArm) bool{
		func(a compare.StepArm) bool { return a.Name(arms) == name },
		func(a compare.StepArm) bool { return a.Config == name },
		func(a compare.StepArm) bool { return a.Version == name || bench.CompareVersions(a.Version, name) == 0 },
		func(a compare.StepArm) bool { return a.Compiler == bench.CompilerName(name) },
		func(a compare.StepArm) bool {
			return a.Run > 0 && strconv.FormatInt(a.Run, 10) == strings.TrimPrefix(name, "run ")
		},
		func(a compare.StepArm) bool { return a.Server == name || a.Workload == name },
	} {
		if at := by(is); at >= 0 {
			return at, true
		}
	}
	return 0, false
}

// stepsBar is the toolbar of /steps.
func stepsBar(in stepsInput) view.Bar {
	q := in.Resolved
	b := view.Bar{Copy: in.Given.String()}
	for _, d := range stepDimensions {
		values := in.values(d)
		chosen := d.get(q)
		alone := len(values) < 2 && (len(chosen) == 0 || slices.Equal(chosen, values))
		if alone && (d.key == "suite" || d.key == "clients" || (d.key == "config" || d.key == "compiler") && (len(values) == 0 || values[0] == "")) {
			continue
		}
		f := view.Field{Label: d.field, Value: shown(dimension{label: d.label}, chosen)}
		if !alone && len(in.Given.Runs) == 0 {
			f.Menu = []view.ChoiceGroup{{Words: d.key == "step", Choices: in.choices(d, values, chosen)}}
		}
		b.Fields = append(b.Fields, f)
		if d.key == "step" {
			b.Fields = append(b.Fields, in.versionField())
		}
	}
	if len(in.Given.Runs) > 0 {
		b.Fields = append(b.Fields, view.Field{Label: "Runs", Value: shown(dimension{label: asIs}, runTexts(in.Given.Runs)), Menu: []view.ChoiceGroup{{Words: true, Choices: []view.Choice{{
			Name: "all of the same kind", Href: q.with(func(q *stepsQuery) { q.Runs, q.Base = nil, "" }).String(),
		}}}}})
	}
	if len(in.Arms) > 1 {
		base := view.Field{Label: "Base", Value: in.Names[in.Base], Base: true}
		g := view.ChoiceGroup{Words: true}
		for i, name := range in.Names {
			g.Choices = append(g.Choices, view.Choice{Name: name, Current: i == in.Base, Href: in.Given.with(func(q *stepsQuery) {
				if q.Base = name; i == 0 {
					q.Base = ""
				}
			}).String()})
		}
		base.Menu = []view.ChoiceGroup{g}
		b.Fields = append(b.Fields, base)
	}
	return b
}

func runTexts(runs []int64) []string {
	var out []string
	for _, r := range runs {
		out = append(out, strconv.FormatInt(r, 10))
	}
	return out
}

// values gives the values of a dimension that were measured with what is chosen
// of the dimensions before it.
func (in stepsInput) values(d stepDimension) []string {
	seen := map[string]bool{}
	for _, c := range in.Coordinates {
		fits := true
		for _, before := range stepDimensions {
			if before.key == d.key {
				break
			}
			if chosen := before.get(in.Resolved); len(chosen) > 0 && !slices.Contains(chosen, before.of(c.Coordinate)) {
				fits = false
			}
		}
		if fits {
			seen[d.of(c.Coordinate)] = true
		}
	}
	values := sortedKeys(seen)
	switch d.key {
	case "step":
		slices.SortFunc(values, bench.CompareSteps)
	case "clients":
		slices.SortFunc(values, func(a, b string) int {
			x, _ := strconv.Atoi(a) // made of numbers
			y, _ := strconv.Atoi(b)
			return x - y
		})
	}
	return values
}

func (in stepsInput) choices(d stepDimension, values, chosen []string) []view.Choice {
	several := d.key != "system" && d.key != "suite" && d.key != "step"
	var out []view.Choice
	for _, v := range values {
		c := view.Choice{Name: d.label(v), Current: slices.Contains(chosen, v), Href: in.choose(d, []string{v}), Leaves: true}
		if several {
			next := slices.DeleteFunc(slices.Clone(chosen), func(x string) bool { return x == v })
			if !c.Current {
				next = slices.DeleteFunc(slices.Clone(values), func(x string) bool { return x != v && !slices.Contains(chosen, x) })
			}
			if c.Held = len(next) == 0; !c.Held {
				c.Toggle = in.choose(d, next)
			}
		}
		out = append(out, c)
	}
	return out
}

// choose gives the address with other values of a dimension; what was given of
// the others and was not measured with them is dropped.
func (in stepsInput) choose(d stepDimension, values []string) string {
	return in.Given.with(func(q *stepsQuery) {
		d.set(q, values)
		q.From, q.To = 0, 0
		if !d.several {
			q.Base = ""
		}
		left := slices.Clone(in.Coordinates)
		narrow := func(d stepDimension) {
			want := d.get(*q)
			if len(want) == 0 {
				return
			}
			next := slices.DeleteFunc(slices.Clone(left), func(c bench.CoordinateInfo) bool { return !slices.Contains(want, d.of(c.Coordinate)) })
			if len(next) == 0 {
				d.set(q, nil)
				return
			}
			left = next
		}
		narrow(d)
		for _, other := range stepDimensions {
			if other.key != d.key {
				narrow(other)
			}
		}
		if d.key == "system" || d.key == "server" || d.key == "suite" {
			q.Versions = nil
		}
	}).String()
}

// versionField is the menu of versions, the newest first.
func (in stepsInput) versionField() view.Field {
	f := view.Field{Label: "Versions", Value: shown(dimension{label: orDash}, in.Resolved.Versions), Versions: true}
	if len(in.Versions) < 2 || len(in.Given.Runs) > 0 {
		return f
	}
	var g view.ChoiceGroup
	for _, v := range slices.Backward(in.Versions) {
		is := func(x string) bool { return bench.CompareVersions(x, v) == 0 }
		c := view.Choice{Name: v, Current: slices.ContainsFunc(in.Resolved.Versions, is), Leaves: true}
		c.Href = in.Given.with(func(q *stepsQuery) { q.Versions, q.Base, q.From, q.To = []string{v}, "", 0, 0 }).String()
		next := slices.DeleteFunc(slices.Clone(in.Resolved.Versions), is)
		if !c.Current {
			next = append(next, v)
			slices.SortFunc(next, bench.CompareVersions)
		}
		if c.Held = len(next) == 0; !c.Held {
			c.Toggle = in.Given.with(func(q *stepsQuery) { q.Versions = next }).String()
		}
		g.Choices = append(g.Choices, c)
	}
	f.Menu = []view.ChoiceGroup{g}
	return f
}
