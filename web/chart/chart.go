// Package chart turns a comparison into what the page script draws: an ECharts
// option per chart, made by go-echarts, and beside it what the script needs to
// divide by another base. It is the only importer of go-echarts.
//
// The option travels as JSON (templ.JSONScript), never as code. Its series hold
// the raw medians, one per version; the script divides them, takes logarithms and
// adds what depends on base, width and theme. Colours are names of CSS custom
// properties ("--line"), which the script resolves, so that one option serves
// both themes.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// LinesMax bounds the lines of one chart: beyond it neither colours nor dashes
// tell lines apart.
const LinesMax = 12

// View is what all charts of a page share. Its JSON form is read by the page
// script (web/assets/src/spec.ts).
type View struct {
	Versions []string `json:"versions"`
	Majors   []Major  `json:"majors"`
	Metric   Metric   `json:"metric"`
	Base     Base     `json:"base"`
	// AutoBase is the base of an address that names none.
	AutoBase string `json:"autoBase"`
	Fit      bool   `json:"fit"`   // the scale follows the data; else the fixed window
	Large    bool   `json:"large"` // one large chart with intervals, else small multiples
	// Sensitivity names the one of Settings whose changes are marked. There are none
	// where nothing can be marked.
	Sensitivity string    `json:"sensitivity,omitempty"`
	Settings    []Setting `json:"settings,omitempty"`
	// Served: the page holds more than charts and their tables, so that another base
	// is the server's to divide by.
	Served bool `json:"served,omitempty"`
	// Frozen: the page is a snapshot; its address says nothing about what it shows.
	Frozen bool `json:"frozen,omitempty"`
	// Levels: the chart is about the levels between changes; the band of what cannot
	// be told from 1.00 is left out.
	Levels bool `json:"levels,omitempty"`
	// Common: all charts of the page have one scale that follows the data.
	Common bool `json:"common,omitempty"`
	// Option and Rules are what the options of all figures have alike, see [Share].
	Option map[string]any `json:"option,omitempty"`
	Rules  any            `json:"rules,omitempty"` // the markLine of the first series
}

// Major is where a major version begins on the version axis.
type Major struct {
	At   int    `json:"at"` // index of its first version
	Name string `json:"name"`
}

// Metric is a metric as the script needs it.
type Metric struct {
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Unit      string          `json:"unit"`
	Direction bench.Direction `json:"direction"`
}

// Base is a [compare.Base] with all its fields spelled out.
type Base struct {
	Version  string `json:"version"`
	Compiler string `json:"compiler"`
	Config   string `json:"config"`
}

// Figure is one chart: the lines of one step.
type Figure struct {
	Step   string         `json:"step"`
	Title  string         `json:"title"` // the step, or the members of its family
	Option map[string]any `json:"option"`
	Lines  []Line         `json:"lines"`
	// Changes are those that one of the settings marks, Notes those in scope.
	Changes []ChangeMark `json:"changes,omitempty"`
	Notes   []NoteMark   `json:"notes,omitempty"`
	// Source are the lines as compared, in the order of Lines, for tables and words.
	Source []compare.Line `json:"-"`
}

// Line is what the script knows of one line besides the medians, which are the
// data of the option's series with the same index. Fields that hold one entry per
// version hold a single number where that serves all versions.
type Line struct {
	Name       string  `json:"name"` // what tells it from the others; "" for a single line
	Style      Style   `json:"style"`
	Server     string  `json:"server"`
	Workload   string  `json:"workload"`
	Compiler   string  `json:"compiler"`
	Config     string  `json:"config"`
	Clients    int     `json:"clients"`
	N          any     `json:"n"`   // int or []int
	SE2        any     `json:"se2"` // squared standard error of ln(value): float64, []*float64 or nil
	Multiplier float64 `json:"multiplier"`
	// Shift is, by version, by how much the mean of ln of several samples lies above
	// ln of their median: intervals are those of means.
	Shift   map[string]float64 `json:"shift,omitempty"`
	Flagged []int              `json:"flagged,omitempty"`
	Mixed   []int              `json:"mixed,omitempty"`
	Bimodal []int              `json:"bimodal,omitempty"` // samples in two groups
	Joins   [][2]any           `json:"joins,omitempty"`   // [index, step]: where the next step of the family begins
	Without string             `json:"without,omitempty"`
	// For the large chart only, by version: the runs (a number, a list or null),
	// the first start, and least and greatest sample where there are several.
	Runs    []any                 `json:"runs,omitempty"`
	Started []*string             `json:"started,omitempty"`
	Spread  map[string][2]float64 `json:"spread,omitempty"`
	// Given holds the ratios to the base of the view where the script cannot
	// compute them: the base's figure is not among those sent.
	Given *Given `json:"given,omitempty"`
}

// Given are ratios with their intervals, by version.
type Given struct {
	Base     Base       `json:"base"`
	Relative []*float64 `json:"relative"`
	Low      []*float64 `json:"low"`
	High     []*float64 `json:"high"`
}

// Options says how a comparison is drawn.
type Options struct {
	Large bool
	Fit   bool
	// AutoBase is the base of an address that names none.
	AutoBase string
}

// Key identifies a line across the charts of a page.
type Key struct {
	Server, Workload, Config, Compiler string
	Clients                            int
}

// KeyOf gives the key of a coordinate.
func KeyOf(c bench.Coordinate) Key {
	return Key{c.Server, c.Workload, c.Config, c.Compiler, c.Clients}
}

// Named is a line of a page with its name and look.
type Named struct {
	Key   Key
	Name  string // the fields in which the page's lines differ; "" for a single line
	Style Style
}

// Names gives every line of a comparison its name and look, in the order of
// [compare.Order] without steps. Lines of different steps that share all else are
// one and the same. A single line has no name and the look of its verdicts.
func Names(lines []compare.Line) []Named {
	var keys []Key
	for _, l := range lines {
		if k := KeyOf(l.Coordinate); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b Key) int {
		return compare.Order(a.coordinate(), b.coordinate())
	})
	named := make([]Named, 0, len(keys))
	if len(keys) == 1 {
		return append(named, Named{Key: keys[0]})
	}
	differ := func(field func(Key) string) bool {
		return slices.ContainsFunc(keys, func(k Key) bool { return field(k) != field(keys[0]) })
	}
	byCompiler := differ(func(k Key) string { return k.Compiler })
	clients := func(k Key) string {
		if k.Clients == 1 {
			return "1 client"
		}
		return fmt.Sprintf("%d clients", k.Clients)
	}
	var fields []func(Key) string
	for _, f := range []func(Key) string{
		func(k Key) string { return k.Server },
		func(k Key) string { return k.Workload },
		func(k Key) string { return k.Config },
		func(k Key) string {
			if k.Compiler == "clang+lto" {
				return "clang+LTO" // as its makers write it
			}
			return k.Compiler
		},
	} {
		if differ(f) {
			fields = append(fields, f)
		}
	}
	nameOf := func(k Key) string {
		var parts []string
		for _, f := range fields {
			if s := f(k); s != "" {
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
		fields = append(fields, clients)
	}
	onlyCompiler := byCompiler && len(fields) == 1
	for i, k := range keys {
		name := nameOf(k)
		if name == "" {
			name = "no config" // a config is the only name that may be empty
		}
		style := styleAt(i)
		if onlyCompiler {
			style = compilerStyle(k.Compiler, i)
		}
		named = append(named, Named{k, name, style})
	}
	return named
}

func (k Key) coordinate() bench.Coordinate {
	return bench.Coordinate{Server: k.Server, Workload: k.Workload, Config: k.Config, Compiler: k.Compiler, Clients: k.Clients}
}

// NewView gives what the charts of a comparison share.
func NewView(c compare.Comparison, o Options) View {
	return View{
		Versions: orEmpty(c.Versions), Majors: Majors(c.Versions),
		Metric: Metric{c.Metric.Name, c.Metric.Title, c.Metric.Unit, c.Metric.Direction},
		Base:   Base{canonical(c.Base.Version, c.Versions), c.Base.Compiler, c.Base.Config}, AutoBase: o.AutoBase,
		Fit: o.Fit, Large: o.Large,
	}
}

// canonical gives the spelling that the axis uses for a version (8.1.0 for
// v8.1.0), the version itself where the axis does not have it.
func canonical(version string, versions []string) string {
	for _, v := range versions {
		if version != "" && bench.CompareVersions(v, version) == 0 {
			return v
		}
	}
	return version
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Majors gives the groups of neighbouring versions with the same major number.
// Versions without a number are groups of their own.
func Majors(versions []string) []Major {
	majors := []Major{}
	for i, v := range versions {
		name := v
		if n, ok := bench.Major(v); ok {
			name = fmt.Sprintf("%d.x", n)
		}
		if len(majors) == 0 || majors[len(majors)-1].Name != name {
			majors = append(majors, Major{i, name})
		}
	}
	return majors
}

// Figures gives a chart per suite and step, in the order of the comparison's
// lines. It fails where go-echarts cannot make an option or a chart would have
// more than [LinesMax] lines.
func Figures(c compare.Comparison, o Options) ([]Figure, error) {
	view := NewView(c, o)
	index := make(map[string]int, len(view.Versions))
	for i, v := range view.Versions {
		index[v] = i
	}
	named := Names(c.Lines)
	type at struct{ suite, step string }
	var order []at
	lines := map[at][]compare.Line{}
	for _, l := range c.Lines {
		k := at{l.Suite, l.Step}
		if _, ok := lines[k]; !ok {
			order = append(order, k)
		}
		lines[k] = append(lines[k], l)
	}
	figures := make([]Figure, 0, len(order))
	for _, k := range order {
		if n := len(lines[k]); n > LinesMax {
			return nil, bench.Errorf(bench.KindInvalid, "%d lines in the chart of %s; at most %d can be told apart: choose fewer servers, workloads, compilers or configs", n, k.step, LinesMax)
		}
		f := Figure{Step: k.step, Title: Title(lines[k]), Source: lines[k]}
		for _, l := range lines[k] {
			f.Lines = append(f.Lines, newLine(l, lookOf(named, l.Coordinate), view, index, o.Large))
		}
		for i := range f.Lines {
			f.Lines[i].Given = given(f, i, view)
		}
		option, err := newOption(f, view)
		if err != nil {
			return nil, err
		}
		f.Option = option
		figures = append(figures, f)
	}
	return figures, nil
}

func lookOf(named []Named, c bench.Coordinate) Named {
	i := slices.IndexFunc(named, func(n Named) bool { return n.Key == KeyOf(c) })
	return named[i]
}

// Title names a chart: its step, or the members of the family it joins
// (overwrite → overwriteandwait).
func Title(lines []compare.Line) string {
	var members []string
	for _, l := range lines {
		for _, m := range l.Members {
			if !slices.Contains(members, m) {
				members = append(members, m)
			}
		}
	}
	if len(members) < 2 {
		return lines[0].Step
	}
	order := bench.FamilyMembers(lines[0].Step)
	slices.SortStableFunc(members, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return strings.Join(members, " → ")
}

func newLine(l compare.Line, look Named, view View, index map[string]int, large bool) Line {
	out := Line{
		Name: look.Name, Style: look.Style,
		Server: l.Server, Workload: l.Workload, Compiler: l.Compiler, Config: l.Config, Clients: l.Clients,
		Multiplier: l.Multiplier, Without: l.WhyNoBase,
	}
	n := make([]int, len(view.Versions))
	se2 := make([]*float64, len(view.Versions))
	if large {
		out.Runs = make([]any, len(view.Versions))
		out.Started = make([]*string, len(view.Versions))
	}
	step := ""
	for i := range l.Points {
		p := &l.Points[i]
		at := index[p.Version]
		n[at] = p.N
		if p.HasSE {
			se2[at] = &p.SE2
			if shift := p.Log - math.Log(p.Value); p.N > 1 && shift != 0 {
				if out.Shift == nil {
					out.Shift = map[string]float64{}
				}
				out.Shift[fmt.Sprint(at)] = shift
			}
		}
		if p.Flagged {
			out.Flagged = append(out.Flagged, at)
		}
		if p.Mixed {
			out.Mixed = append(out.Mixed, at)
		}
		if p.Bimodal {
			out.Bimodal = append(out.Bimodal, at)
		}
		if step != "" && p.Step != step {
			out.Joins = append(out.Joins, [2]any{at, p.Step})
		}
		step = p.Step
		if !large {
			continue
		}
		switch len(p.Runs) {
		case 0:
		case 1:
			out.Runs[at] = p.Runs[0]
		default:
			out.Runs[at] = p.Runs
		}
		if !p.Started.IsZero() {
			day := p.Started.Wall().Format("2006-01-02")
			out.Started[at] = &day
		}
		if p.N > 1 {
			if out.Spread == nil {
				out.Spread = map[string][2]float64{}
			}
			out.Spread[fmt.Sprint(at)] = [2]float64{p.Min, p.Max}
		}
	}
	out.N, out.SE2 = compactCounts(n, l.Points), compactErrors(se2, l.Points)
	return out
}

// compactCounts gives one number where all points have the same count.
func compactCounts(n []int, points []compare.Point) any {
	for _, p := range points {
		if p.N != points[0].N {
			return n
		}
	}
	if len(points) == 0 {
		return 0
	}
	return points[0].N
}

// compactErrors gives one number where all positive values have the same error
// (the script asks for no other), nil where none is known.
func compactErrors(se2 []*float64, points []compare.Point) any {
	var first *float64
	for i := range points {
		p := &points[i]
		switch {
		case !p.HasLog:
		case !p.HasSE:
			if first != nil {
				return se2
			}
		case first == nil:
			if slices.ContainsFunc(points[:i], func(q compare.Point) bool { return q.HasLog }) {
				return se2
			}
			first = &p.SE2
		case *first != p.SE2:
			return se2
		}
	}
	if first == nil {
		return nil
	}
	return *first
}

// given gives the ratios of a line whose base is not among the figures sent: it
// lies outside of the range, or belongs to a compiler or config that is not shown.
func given(f Figure, i int, view View) *Given {
	l, source := f.Source[i], &f.Source[i]
	if view.Base.Compiler != "" || view.Base.Config != "" {
		want := l.Coordinate
		if view.Base.Compiler != "" {
			want.Compiler = view.Base.Compiler
		}
		if view.Base.Config != "" {
			want.Config = view.Base.Config
		}
		source = nil
		for j := range f.Source {
			if f.Source[j].Coordinate == want {
				source = &f.Source[j]
			}
		}
	}
	sent := source != nil && (view.Base.Version == "" || slices.Contains(view.Versions, view.Base.Version))
	if sent || (view.Base == Base{}) {
		return nil
	}
	g := &Given{Base: view.Base, Relative: make([]*float64, len(view.Versions)), Low: make([]*float64, len(view.Versions)), High: make([]*float64, len(view.Versions))}
	for j := range l.Points {
		p := &l.Points[j]
		at := slices.Index(view.Versions, p.Version)
		g.Relative[at], g.Low[at], g.High[at] = p.Relative, p.Low, p.High
	}
	return g
}
