package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// node is an element of a parsed SVG.
type node struct {
	name     string
	attrs    map[string]string
	text     string // of itself and what it holds
	parents  []*node
	children []*node
}

func (n *node) class() string { return n.attrs["class"] }

// in reports whether an element lies in a group of a class.
func (n *node) in(class string) bool {
	return slices.ContainsFunc(n.parents, func(p *node) bool { return p.class() == class })
}

func (n *node) number(t testing.TB, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(n.attrs[name], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.Fatalf("%s of <%s> is %q", name, n.name, n.attrs[name])
	}
	return v
}

// title is what an element says where somebody points at it.
func (n *node) title() string {
	for _, c := range n.children {
		if c.name == "title" {
			return c.text
		}
	}
	return ""
}

// points reads the places of a line, polyline or polygon.
func (n *node) points(t testing.TB) []point {
	t.Helper()
	if n.name == "line" {
		return []point{{n.number(t, "x1"), n.number(t, "y1")}, {n.number(t, "x2"), n.number(t, "y2")}}
	}
	var out []point
	for _, pair := range strings.Fields(n.attrs["points"]) {
		x, y, ok := strings.Cut(pair, ",")
		px, err1 := strconv.ParseFloat(x, 64)
		py, err2 := strconv.ParseFloat(y, 64)
		if !ok || err1 != nil || err2 != nil || !finite(px) || !finite(py) {
			t.Fatalf("<%s> has the place %q", n.name, pair)
		}
		out = append(out, point{px, py})
	}
	return out
}

// parse reads an SVG as strict XML and gives its elements in the order of the
// document.
func parse(t testing.TB, svg []byte) []*node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var all, stack []*node
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			n := &node{name: x.Name.Local, attrs: map[string]string{}, parents: slices.Clone(stack)}
			for _, a := range x.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			if len(stack) > 0 {
				stack[len(stack)-1].children = append(stack[len(stack)-1].children, n)
			}
			all, stack = append(all, n), append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, n := range stack {
				n.text += string(x)
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Errorf("unexpected %T", x)
		}
	}
	if len(stack) > 0 || len(all) == 0 || all[0].name != "svg" {
		t.Fatalf("no svg document:\n%s", svg)
	}
	return all
}

func find(all []*node, is func(*node) bool) []*node {
	var out []*node
	for _, n := range all {
		if is(n) {
			out = append(out, n)
		}
	}
	return out
}

// the gives the only element that is as wanted.
func the(t testing.TB, all []*node, what string, is func(*node) bool) *node {
	t.Helper()
	found := find(all, is)
	if len(found) != 1 {
		t.Fatalf("%d × %s", len(found), what)
	}
	return found[0]
}

func texts(all []*node) []string {
	var out []string
	for _, n := range all {
		if n.name == "text" {
			out = append(out, n.text)
		}
	}
	return out
}

func hasText(all []*node, text string) bool {
	return slices.ContainsFunc(texts(all), func(s string) bool { return strings.Contains(s, text) })
}

// svgOf draws and parses a comparison.
func svgOf(t testing.TB, c compare.Comparison, o Options) []*node {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// at is a coordinate of RocksDB on c2, built by gcc.
func at(step string, change ...func(*bench.Coordinate)) bench.Coordinate {
	c := bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Step: step, Compiler: "gcc", Clients: 8}
	for _, f := range change {
		f(&c)
	}
	return c
}

func by(compiler string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Compiler = compiler }
}

func on(server string) func(*bench.Coordinate) {
	return func(c *bench.Coordinate) { c.Server = server }
}

// series makes a series of "version value value …" points; a value with an x in
// front must not be compared.
func series(t testing.TB, metric string, c bench.Coordinate, points ...string) bench.Series {
	t.Helper()
	m, ok := bench.LookupMetric(metric)
	if !ok {
		t.Fatalf("no metric %s", metric)
	}
	s := bench.Series{Coordinate: c, Metric: m}
	for _, text := range points {
		f := strings.Fields(text)
		p := bench.Point{Version: f[0]}
		for i, v := range f[1:] {
			value, err := strconv.ParseFloat(strings.TrimPrefix(v, "x"), 64)
			if err != nil {
				t.Fatal(err)
			}
			p.Samples = append(p.Samples, bench.Sample{Value: value, RunID: int64(i + 1), Excluded: strings.HasPrefix(v, "x")})
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// against divides series by a version.
func against(base string, s ...bench.Series) compare.Comparison {
	return compare.Compare(s, compare.Options{Base: compare.Base{Version: base}})
}

// steady are versions of a line that hardly moves, so that its noise is small.
var steady = []string{"7.0.0 1000 1001", "7.1.0 1002 1001", "7.2.0 1000 999", "7.3.0 1001 1000", "7.4.0 999 1000", "7.5.0 1001 1002"}
