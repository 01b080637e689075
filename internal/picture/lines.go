package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// datum is a point of a line with its place on a chart.
type datum struct {
	*compare.Point
	at       int     // index of its version
	position float64 // ln of the relative value; always finite
	// zero: the value is 0, which no logarithmic scale has a place for. It lies
	// below every window.
	zero    bool
	half    float64 // half width of its interval in ln
	hasHalf bool
	verdict compare.Verdict
}

func (d datum) side() side { return sideOf(d.position, d.half, d.hasHalf && !d.Flagged) }

// isBase reports whether the point was divided by itself.
func (d datum) isBase() bool { return d.Low != nil && d.High != nil && *d.Low == *d.High }

// line is a line of a chart.
type line struct {
	compare.Line
	name  string // what tells it from the others; "" for the only one
	style style
	data  []datum // those that can be drawn, in the order of versions
}

// newLine places a line's points; index gives the places of versions. Points
// without a relative value are gaps.
func newLine(l compare.Line, index map[string]int) line {
	out := line{Line: l}
	for i := range l.Points {
		p := &l.Points[i]
		at, ok := index[p.Version]
		if !ok || p.Relative == nil || *p.Relative < 0 {
			continue
		}
		d := datum{Point: p, at: at, zero: *p.Relative == 0, verdict: compare.Judge(*p, l.Metric.Direction)}
		if !d.zero {
			d.position = math.Log(*p.Relative)
		}
		if !finite(d.position) {
			continue
		}
		if p.Low != nil && p.High != nil && *p.Low > 0 && !d.zero {
			d.half = (math.Log(*p.High) - math.Log(*p.Low)) / 2
			d.hasHalf = finite(d.half) && d.half >= 0
			if !d.hasHalf {
				d.half = 0
			}
		}
		out.data = append(out.data, d)
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// style is the look of a line among others: a hue of the theme's builds, a dash
// and a marker, so that none of them has to tell lines apart alone.
type style struct {
	hue    int
	dash   []float64
	marker string
}

// styles are the looks in the order they are given out, the same as on pages:
// six hues with a dash and a marker each, then the same hues with others.
var styles = [LinesMax]style{
	{0, nil, "circle"},
	{1, []float64{6, 3}, "rect"},
	{2, []float64{2, 2}, "triangle"},
	{3, []float64{10, 3}, "diamond"},
	{4, nil, "rect"},
	{5, []float64{6, 3}, "circle"},
	{0, []float64{2, 2}, "diamond"},
	{1, nil, "triangle"},
	{2, []float64{10, 3}, "circle"},
	{3, nil, "rect"},
	{4, []float64{2, 2}, "triangle"},
	{5, []float64{10, 3}, "diamond"},
}

// styleOf keeps the looks of the common compilers the same in all pictures.
func styleOf(compiler string, i int) style {
	switch compiler {
	case "gcc":
		return styles[0]
	case "clang":
		return styles[1]
	case compilerLTO:
		return styles[2]
	}
	return styles[3+i%(len(styles)-3)]
}

const compilerLTO = "clang+lto"

// compilerName writes a compiler as its makers do.
func compilerName(c string) string {
	if c == compilerLTO {
		return "clang+LTO"
	}
	return c
}

// key tells the lines of a chart apart. Lines of different steps that share all
// of it have one look.
type key struct {
	server, workload, config, compiler string
	clients                            int
}

func keyOf(c bench.Coordinate) key {
	return key{c.Server, c.Workload, c.Config, c.Compiler, c.Clients}
}

func (k key) coordinate() bench.Coordinate {
	return bench.Coordinate{Server: k.server, Workload: k.workload, Config: k.config, Compiler: k.compiler, Clients: k.clients}
}

// named is a look with its name.
type named struct {
	key   key
	name  string
	style style
}

// names gives all lines of a comparison their names and looks, in the order of
// [compare.Order] without steps: the fields in which they differ. The only line
// has no name.
func names(lines []compare.Line) []named {
	var keys []key
	for _, l := range lines {
		if k := keyOf(l.Coordinate); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return compare.Order(a.coordinate(), b.coordinate()) })
	if len(keys) < 2 {
		var out []named
		for _, k := range keys {
			out = append(out, named{key: k})
		}
		return out
	}
	fields := []func(key) string{
		func(k key) string { return k.server },
		func(k key) string { return k.workload },
		func(k key) string { return k.config },
		func(k key) string { return compilerName(k.compiler) },
	}
	compilers := differ(keys, fields[3])
	fields = slices.DeleteFunc(fields, func(f func(key) string) bool { return !differ(keys, f) })
	onlyCompiler := compilers && len(fields) == 1
	nameOf := func(k key) string {
		var parts []string
		for _, f := range fields {
			if s := clean(f(k)); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, " ")
	}
	// Clients differ between servers as a matter of course: they are named only
	// where nothing else tells lines apart.
	unique := map[string]bool{}
	for _, k := range keys {
		unique[nameOf(k)] = true
	}
	if len(unique) < len(keys) {
		fields = append(fields, func(k key) string { return clientsText(k.clients) })
	}
	out := make([]named, 0, len(keys))
	for i, k := range keys {
		n := named{k, nameOf(k), styles[i%len(styles)]}
		if n.name == "" {
			n.name = "no config" // a config is the only name that may be empty
		}
		if onlyCompiler {
			n.style = styleOf(k.compiler, i)
		}
		out = append(out, n)
	}
	return out
}

func differ(keys []key, field func(key) string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return field(k) != field(keys[0]) })
}

// clientsText counts clients, "" where their number is not known.
func clientsText(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "1 client"
	}
	return fmt.Sprintf("%d clients", n)
}

// chart is the lines of one step.
type chart struct {
	step  string
	title string // the step, or the members of its family
	lines []line
	marks []mark
}

// charts groups the lines of a comparison by suite and step, in their order.
func charts(c compare.Comparison, looks []named, index map[string]int) ([]chart, error) {
	type place struct{ suite, step string }
	at := map[place]int{}
	var out []chart
	for _, l := range c.Lines {
		k := place{l.Suite, l.Step}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, chart{step: l.Step})
		}
		if len(out[i].lines) == LinesMax {
			return nil, bench.Errorf(bench.KindInvalid, "more than %d lines in the chart of %s cannot be told apart: choose fewer servers, workloads, compilers or configs", LinesMax, clean(l.Step))
		}
		n := newLine(l, index)
		look := looks[slices.IndexFunc(looks, func(n named) bool { return n.key == keyOf(l.Coordinate) })]
		n.name, n.style = look.name, look.style
		out[i].lines = append(out[i].lines, n)
	}
	for i := range out {
		out[i].title = stepTitle(out[i].lines)
	}
	return out, nil
}

// stepTitle names a chart: its step, or the members of the family it joins
// (overwrite → overwriteandwait).
func stepTitle(lines []line) string {
	var members []string
	for _, l := range lines {
		for _, m := range l.Members {
			if !slices.Contains(members, m) {
				members = append(members, m)
			}
		}
	}
	if len(members) < 2 {
		return clean(lines[0].Step)
	}
	order := bench.FamilyMembers(lines[0].Step)
	slices.SortStableFunc(members, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return clean(strings.Join(members, " → "))
}

// major is a group of neighbouring versions with the same major number.
type major struct {
	name     string
	from, to int // indexes of its first version and of the one after its last
}

// majorsOf groups versions; those without a number are groups of their own.
func majorsOf(versions []string) []major {
	var out []major
	for i, v := range versions {
		name := versionName(v)
		if n, ok := bench.Major(v); ok {
			name = fmt.Sprintf("%d.x", n)
		}
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, major{name: name, from: i})
		}
		out[len(out)-1].to = i + 1
	}
	return out
}

// versionName writes a version; nobody has stated the one without a name.
func versionName(v string) string {
	if v = clean(v); v == "" {
		return "unknown"
	}
	return v
}
