package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// hostile are names that somebody might give to a server or step.
var hostile = []string{
	`<img src=x onerror=alert(1)>`,
	`</script><script>alert(1)</script>`,
	"\u202egnp.exe\u202c \u2066\u200bhidden\u2069",
	"null\x00bell\x07escape\x1b[31m",
	`"quotes" & 'apostrophes' ]]> --> &amp;`,
	"not\xffUTF-8\xc3",
	"\ufffe\uffff\U0010ffff\ue000",
	"z" + strings.Repeat("\u0301", 5000),
	strings.Repeat("long name ", 1000),
	"  \t\r\n  ",
	"שלום עולם",
	"数据库 🚀",
}

func TestHostileNamesAreText(t *testing.T) {
	t.Parallel()
	allowed := []string{"svg", "title", "desc", "rect", "g", "line", "polyline", "polygon", "circle", "text", "tspan"}
	for _, name := range hostile {
		points := []string{"7.0.0 100", "7.1.0 40", "7.2.0 x100"}
		s := []bench.Series{
			series(t, "qps", at(name, on(name), by("gcc"), func(c *bench.Coordinate) { c.Workload, c.Config, c.System, c.Suite = name, name, name, name }), points...),
			series(t, "qps", at("b", on(name)), points...), series(t, "qps", at("b"), points...),
		}
		for i := range s {
			s[i].Metric.Title, s[i].Metric.Unit = name, name
			s[i].Points[2].Version = name
		}
		o := Options{Title: name, Subtitle: name, Address: name, Credit: name, Marks: []Mark{{name, MarkNote, name, ""}, {"7.1.0", MarkDown, name, name}, {"7.1.0", MarkNote, name, ""}}}
		for _, lines := range [][]bench.Series{s, s[:1], s[1:]} {
			c := against("7.0.0", lines...)
			all := svgOf(t, c, o)
			for _, n := range all {
				if !slices.Contains(allowed, n.name) {
					t.Fatalf("%.40q makes an element <%s>", name, n.name)
				}
				for a, v := range n.attrs {
					if strings.HasPrefix(a, "on") || a == "href" || a == "style" || strings.Contains(v, "url(") || strings.Contains(v, "alert") {
						t.Errorf("%.40q makes an attribute %s=%q", name, a, v)
					}
				}
			}
			for _, r := range all[0].text {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar) {
					t.Errorf("%.40q leaves %U in the picture", name, r)
					break
				}
			}
		}
		if err := Preview(io.Discard, against("7.0.0", s...), o); err != nil {
			t.Errorf("%.40q: %v", name, err)
		}
	}
	all := svgOf(t, against("7.0.0", series(t, "qps", at(hostile[0]), "7.0.0 100", "7.1.0 100")), Options{})
	if !slices.Contains(texts(all), hostile[0]) {
		t.Errorf("%q is not shown as it is: %q", hostile[0], texts(all))
	}
}

func FuzzNames(f *testing.F) {
	for _, h := range hostile {
		f.Add(h, h)
	}
	f.Fuzz(func(t *testing.T, name, version string) {
		s := series(t, "qps", at(name), "7.0.0 100", "7.1.0 130")
		s.Points = append(s.Points, bench.Point{Version: version, Samples: []bench.Sample{{Value: 90}}})
		parse(t, mustSVG(t, against("7.0.0", s, series(t, "qps", at(name, on(version)), "7.0.0 100")), Options{Title: version, Address: name}))
	})
}

func mustSVG(t testing.TB, c compare.Comparison, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, c, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pointAt gives the place of a version's symbol in a large chart.
func pointAt(t *testing.T, all []*node, version string) point {
	t.Helper()
	group := the(t, all, "point of "+version, func(n *node) bool {
		return n.class() == "point" && strings.HasPrefix(n.title(), version+":")
	})
	circle := the(t, group.children, "circle of "+version, func(n *node) bool { return n.name == "circle" })
	return point{circle.number(t, "cx"), circle.number(t, "cy")}
}

func TestRatiosAreLogSymmetricAndVersionsEven(t *testing.T) {
	t.Parallel()
	c := against("7.0.0", series(t, "qps", at("fillseq"), "7.0.0 100", "7.1.0 80", "7.2.0 125", "7.3.0 90", "8.0.0 140"))
	all := svgOf(t, c, Options{Width: 900, Height: 600})
	one, low, high := pointAt(t, all, "7.0.0"), pointAt(t, all, "7.1.0"), pointAt(t, all, "7.2.0")
	if below, above := low.y-one.y, one.y-high.y; below < 30 || math.Abs(below-above) > 0.02 {
		t.Errorf("0.80 lies %g below 1.00, 1.25 %g above", below, above)
	}
	scale := (one.y - high.y) / math.Log(1.25)
	for version, ratio := range map[string]float64{"7.3.0": 0.9, "8.0.0": 1.4} {
		if got, want := one.y-pointAt(t, all, version).y, scale*math.Log(ratio); math.Abs(got-want) > 0.02 {
			t.Errorf("%s (%g) lies %g above 1.00, want %g", version, ratio, got, want)
		}
	}
	step := low.x - one.x
	for i, v := range []string{"7.0.0", "7.1.0", "7.2.0", "7.3.0", "8.0.0"} {
		if got, want := pointAt(t, all, v).x, one.x+float64(i)*step; math.Abs(got-want) > 0.02 {
			t.Errorf("%s stands at %g, want %g", v, got, want)
		}
	}
	// The rule of the major lies half way between 7.3.0 and 8.0.0, that of 1.00
	// where the base is.
	rule := func(what string, is func(a, b point) bool) {
		t.Helper()
		if len(find(all, func(n *node) bool {
			if n.name != "line" || !n.in("axes") {
				return false
			}
			p := n.points(t)
			return is(p[0], p[1])
		})) == 0 {
			t.Error("no rule of ", what)
		}
	}
	rule("8.x", func(a, b point) bool { return a.x == b.x && math.Abs(a.x-(one.x+3.5*step)) <= 0.5 && a.y != b.y })
	rule("1.00", func(a, b point) bool { return a.y == b.y && a.y == one.y })
	for _, label := range []string{"0.71", "0.80", "0.90", "1.00", "1.11", "1.25", "1.41", "7.x", "8.x"} {
		if !slices.Contains(texts(all), label) {
			t.Errorf("no label %s", label)
		}
	}
}

func TestMissingVersionsAreGaps(t *testing.T) {
	t.Parallel()
	// 7.2.0 was measured on the other server only; 7.4.0 has no neighbours.
	c := against("7.0.0",
		series(t, "qps", at("fillseq"), "7.0.0 100", "7.1.0 110", "7.4.0 90", "7.6.0 95", "7.7.0 96"),
		series(t, "qps", at("fillseq", on("u5")), "7.0.0 100", "7.1.0 100", "7.2.0 100", "7.3.0 100", "7.4.0 100", "7.5.0 100", "7.6.0 100", "7.7.0 100"))
	all := svgOf(t, c, Options{})
	x := map[string]float64{}
	for _, v := range c.Versions {
		group := the(t, all, "point of u5 at "+v, func(n *node) bool {
			return n.class() == "point" && strings.HasPrefix(n.title(), "u5 "+v+":")
		})
		p := the(t, group.children, "square", func(n *node) bool { return n.name == "polygon" }).points(t)
		x[v] = (p[0].x + p[1].x) / 2
	}
	var spans [][2]string
	name := func(at float64) string {
		for v, place := range x {
			if math.Abs(place-at) < 0.02 {
				return v
			}
		}
		return fmt.Sprint(at)
	}
	line := the(t, all, "line of c2", func(n *node) bool { return n.class() == "line" && n.title() == "c2" })
	for _, n := range line.children {
		if (n.name == "polyline" || n.name == "line") && n.attrs["stroke-width"] == "1.5" {
			p := n.points(t)
			spans = append(spans, [2]string{name(p[0].x), name(p[len(p)-1].x)})
		}
	}
	if want := [][2]string{{"7.0.0", "7.1.0"}, {"7.6.0", "7.7.0"}}; !slices.Equal(spans, want) {
		t.Errorf("the line of c2 goes %v, want %v", spans, want)
	}
	var points []string
	for _, n := range find(all, func(n *node) bool { return n.class() == "point" && strings.HasPrefix(n.title(), "c2 ") }) {
		points = append(points, strings.TrimSuffix(strings.Fields(n.title())[1], ":"))
	}
	if want := []string{"7.0.0", "7.1.0", "7.4.0", "7.6.0", "7.7.0"}; !slices.Equal(points, want) {
		t.Errorf("points of c2 at %v, want %v", points, want)
	}
}

func TestALoneVersionHasASymbolInSmallCharts(t *testing.T) {
	t.Parallel()
	// 200 versions leave no room for symbols.
	var points, most []string
	for i := range 200 {
		points = append(points, fmt.Sprintf("7.%d 100", i))
		if i != 99 && i != 101 {
			most = append(most, points[i])
		}
	}
	c := against("7.0", series(t, "qps", at("a"), points...), series(t, "qps", at("b"), most...))
	if got := len(find(svgOf(t, c, Options{}), func(n *node) bool { return n.name == "circle" && n.in("line") })); got != 1 {
		t.Errorf("%d symbols, want that of 7.100 alone", got)
	}
}

func TestAMeasuredZeroIsShownAndIsNoGapInWords(t *testing.T) {
	t.Parallel()
	all := svgOf(t, against("7.0.0", series(t, "qps", at("fillseq"), "7.0.0 100", "7.1.0 0", "7.2.0 100")), Options{})
	if !hasText(all, "0.00 at 7.1.0") {
		t.Errorf("the zero is not shown: %q", texts(all))
	}
}

func TestPublishedFigures(t *testing.T) {
	t.Parallel()
	var one []bench.Series
	all8 := published(t, "c2-cached")
	for _, s := range all8 {
		if s.Step == "revrangewhilewriting" {
			one = append(one, s)
		}
	}
	opt := compare.Options{AutoBase: true, JoinFamilies: true}
	// 4.4.1 did 233,175/s, 5.3.7 60,028/s, 8.8.0 191,476/s.
	all := svgOf(t, compare.Compare(one, opt), Options{Address: "https://relqps.example/charts?step=revrangewhilewriting"})
	for _, want := range []string{"revrangewhilewriting", "8.8.0 is ▼ 0.82 of 4.4.1", "1.00 = 233\u2009K/s at 4.4.1", "QPS, higher is better ↑", "n = 1", "0.26 at 5.3.7", "https://relqps.example/charts?step=revrangewhilewriting", "4.x", "8.x", "rocksdb, c2, cached, db_bench, 8 clients, gcc"} {
		if !hasText(all, want) {
			t.Errorf("no %q among %q", want, texts(all))
		}
	}
	if got := len(find(all, func(n *node) bool { return n.class() == "point" })); got != 78 {
		t.Errorf("%d symbols, want 78: 79 versions, one outside the scale", got)
	}

	all = svgOf(t, compare.Compare(all8, opt), Options{})
	if got := len(find(all, func(n *node) bool { return n.class() == "chart" })); got != 8 {
		t.Errorf("%d charts, want 8", got)
	}
	var ends []string
	for _, n := range find(all, func(n *node) bool { return n.name == "text" && n.in("ends") }) {
		ends = append(ends, n.text)
	}
	if want := []string{"0.81", "0.88", "0.84", "0.92", "0.82", "0.82", "0.97", "1.18"}; !slices.Equal(ends, want) {
		t.Errorf("the lines end at %v, want %v", ends, want)
	}
	for _, want := range []string{"1.00 = 2.07\u2009M/s", "overwrite → overwriteandwait", "79 versions"} {
		if !hasText(all, want) {
			t.Errorf("no %q among %q", want, texts(all))
		}
	}
}

// strokesOf gives the colours of a line's strokes.
func strokesOf(all []*node) []string {
	var out []string
	for _, n := range find(all, func(n *node) bool {
		return (n.name == "polyline" || n.name == "line") && n.in("line") && !n.in("point") && n.attrs["stroke-width"] == "1.5"
	}) {
		if c := n.attrs["stroke"]; !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out
}

func TestALineHasTheColourOfItsDecision(t *testing.T) {
	t.Parallel()
	grey, blue, vermilion := "#868d95", "#0072b2", "#d55e00"
	for _, test := range []struct {
		behaviour, metric string
		last              []string
		want              []string
	}{
		{"undecided is grey", "qps", []string{"7.6.0 1001 1000"}, []string{grey}},
		{"more of what should be high is blue", "qps", []string{"7.6.0 1200 1201", "7.7.0 1200 1199"}, []string{blue, grey}},
		{"less of it is vermilion", "qps", []string{"7.6.0 800 801", "7.7.0 800 799"}, []string{grey, vermilion}},
		{"more of what should be low is vermilion", "p99", []string{"7.6.0 1200 1201", "7.7.0 1200 1199"}, []string{grey, vermilion}},
		{"neither way is better", "elapsed_s", []string{"7.6.0 1200 1201", "7.7.0 800 801"}, []string{"#16191d", grey}},
	} {
		all := svgOf(t, against("7.0.0", series(t, test.metric, at("fillseq"), append(slices.Clone(steady), test.last...)...)), Options{})
		slices.Sort(test.want)
		if got := strokesOf(all); !slices.Equal(got, test.want) {
			t.Errorf("%s: strokes %v, want %v", test.behaviour, got, test.want)
		}
	}
	// Without any noise nothing is said.
	all := svgOf(t, against("7.0.0", series(t, "qps", at("fillseq"), "7.0.0 100", "7.1.0 50")), Options{})
	for _, n := range all {
		for _, a := range []string{"fill", "stroke"} {
			if v := n.attrs[a]; v == blue || v == vermilion {
				t.Errorf("<%s> is coloured %s although the noise is unknown", n.name, v)
			}
		}
	}
	if !hasText(all, "noise unknown") {
		t.Errorf("nothing says that the noise is unknown: %q", texts(all))
	}
}

func TestTheColourChangesAtTheEdgeOfTheBand(t *testing.T) {
	t.Parallel()
	c := against("7.0.0", series(t, "qps", at("fillseq"), append(slices.Clone(steady), "7.6.0 1300 1301")...))
	all := svgOf(t, c, Options{})
	band := the(t, all, "band", func(n *node) bool { return n.name == "rect" && n.in("axes") })
	top := band.number(t, "y")
	blue := the(t, all, "blue stroke", func(n *node) bool {
		return (n.name == "polyline" || n.name == "line") && n.in("line") && n.attrs["stroke"] == "#0072b2" && n.attrs["stroke-width"] == "1.5"
	})
	if p := blue.points(t); math.Abs(p[0].y-top) > 0.02 {
		t.Errorf("blue from %g on, the band ends at %g", p[0].y, top)
	}
}

func TestBuildsDifferByHueDashAndMarker(t *testing.T) {
	t.Parallel()
	var s []bench.Series
	for i, b := range []string{"gcc", "clang", "clang+lto"} {
		points := slices.Clone(steady)
		points = append(points, fmt.Sprintf("7.6.0 %d %d", 900+100*i, 901+100*i))
		s = append(s, series(t, "qps", at("fillseq", by(b)), points...))
	}
	for _, test := range []struct {
		dark bool
		want map[string][3]string // colour, dash, elements of a marker
	}{
		{false, map[string][3]string{"gcc": {"#16191d", "", "circle"}, "clang": {"#00805d", "6 3", "polygon"}, "clang+LTO": {"#a8518f", "2 2", "polygon"}}},
		{true, map[string][3]string{"gcc": {"#e8eaec", "", "circle"}, "clang": {"#2fbf95", "6 3", "polygon"}, "clang+LTO": {"#e08cc6", "2 2", "polygon"}}},
	} {
		all := svgOf(t, against("7.0.0", s...), Options{Dark: test.dark})
		for name, want := range test.want {
			line := the(t, all, "line "+name, func(n *node) bool { return n.class() == "line" && n.title() == name })
			stroke := find(line.children, func(n *node) bool { return n.name == "polyline" })
			if len(stroke) != 1 || stroke[0].attrs["stroke"] != want[0] || stroke[0].attrs["stroke-dasharray"] != want[1] {
				t.Errorf("%s: drawn as %+v, want %v", name, stroke[0].attrs, want)
			}
			points := find(line.children, func(n *node) bool { return n.class() == "point" })
			if len(points) != 7 || len(find(points[0].children, func(n *node) bool { return n.name == want[2] })) != 1 {
				t.Errorf("%s: %d symbols, want 7 of <%s>", name, len(points), want[2])
			}
			if !slices.ContainsFunc(texts(all), func(s string) bool { return strings.HasSuffix(s, " "+name) }) {
				t.Errorf("%s: no name at its end: %q", name, texts(all))
			}
		}
		// Blue and vermilion mean better and worse: no build has them.
		for _, n := range all {
			for _, a := range []string{"fill", "stroke"} {
				if slices.Contains([]string{"#0072b2", "#d55e00", "#56b4e9", "#f08043"}, n.attrs[a]) {
					t.Errorf("<%s> of a picture of builds is %s", n.name, n.attrs[a])
				}
			}
		}
	}
}

func TestLooksOfLinesAreAllDifferent(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, s := range styles {
		k := fmt.Sprint(s)
		if j, ok := seen[k]; ok {
			t.Errorf("styles %d and %d are alike: %s", j, i, k)
		}
		seen[k] = i
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	s := series(t, "qps", at("fillseq"), append(slices.Clone(steady), "8.0.0 1000 1001")...)
	marks := []Mark{
		{"7.3.0", MarkDown, "31", ""}, {"7.4.0", MarkUp, "32", "fillseq"}, {"7.2.0", MarkNote, "1", ""},
		{"7.9.9", MarkDown, "between", ""}, // stands before 8.0.0
		{"9.0.0", MarkUp, "after all", ""}, {"7.0.0", MarkDown, "at the first", ""}, {"6.0.0", MarkNote, "before all", ""},
		{"7.3.0", MarkUp, "of another step", "readrandom"},
	}
	all := svgOf(t, against("7.0.0", s), Options{Marks: marks})
	x := func(v string) float64 { return pointAt(t, all, v).x }
	type notch struct {
		x      float64
		colour string
		up     bool
	}
	notches := map[string]notch{}
	for _, g := range find(all, func(n *node) bool { return n.class() == "change" }) {
		p := the(t, g.children, "notch", func(n *node) bool { return n.name == "polygon" })
		q := p.points(t)
		notches[g.title()] = notch{q[2].x, p.attrs["fill"], q[2].y < q[0].y}
	}
	want := map[string]notch{
		"31":      {(x("7.2.0") + x("7.3.0")) / 2, "#d55e00", false},
		"32":      {(x("7.3.0") + x("7.4.0")) / 2, "#0072b2", true},
		"between": {(x("7.5.0") + x("8.0.0")) / 2, "#d55e00", false},
	}
	for name, w := range want {
		if got, ok := notches[name]; !ok || math.Abs(got.x-w.x) > 0.02 || got.colour != w.colour || got.up != w.up {
			t.Errorf("change %s: %+v, want %+v", name, got, w)
		}
	}
	if len(notches) != len(want) {
		t.Errorf("changes %v, want those of %v", notches, want)
	}
	note := the(t, all, "note", func(n *node) bool { return n.class() == "note" })
	ring := the(t, note.children, "ring", func(n *node) bool { return n.name == "circle" })
	if got := ring.number(t, "cx"); math.Abs(got-x("7.2.0")) > 0.02 || !slices.Contains(texts(note.children), "1") {
		t.Errorf("the note stands at %g with %q, want 1 at 7.2.0 (%g)", got, texts(note.children), x("7.2.0"))
	}

	// Of a metric that should be low, a change to larger values is the worse.
	lower := series(t, "p99", at("fillseq"), steady...)
	all = svgOf(t, against("7.0.0", lower), Options{Marks: []Mark{{"7.3.0", MarkUp, "33", ""}}})
	g := the(t, all, "change", func(n *node) bool { return n.class() == "change" })
	if got := the(t, g.children, "notch", func(n *node) bool { return n.name == "polygon" }).attrs["fill"]; got != "#d55e00" {
		t.Errorf("a rise of p99 is %s", got)
	}
}

func TestRingedNumbersDoNotOverlap(t *testing.T) {
	t.Parallel()
	c := compare.Compare(published(t, "c2-cached")[:1], compare.Options{AutoBase: true})
	var marks []Mark
	for i, v := range c.Versions[len(c.Versions)-6:] {
		marks = append(marks, Mark{v, MarkNote, fmt.Sprint(i + 1), ""})
	}
	var rings []point
	for _, n := range find(svgOf(t, c, Options{Width: 500, Marks: marks}), func(n *node) bool { return n.name == "circle" && n.in("note") }) {
		rings = append(rings, point{n.number(t, "cx"), n.number(t, "r")})
	}
	if len(rings) != 6 {
		t.Fatalf("%d rings, want 6", len(rings))
	}
	for i := 1; i < len(rings); i++ {
		if gap := rings[i].x - rings[i-1].x; gap < 2*rings[i].y {
			t.Errorf("rings %d and %d are %g apart", i, i+1, gap)
		}
	}
}

func TestEqualInputGivesEqualBytes(t *testing.T) {
	t.Parallel()
	o := Options{Address: "/charts", Marks: []Mark{{"6.3.6", MarkDown, "1", ""}, {"5.3.7", MarkNote, "1", ""}}}
	for name, draw := range map[string]func(io.Writer, compare.Comparison, Options) error{"SVG": SVG, "PNG": PNG, "Preview": Preview} {
		var out [4][]byte
		var wait sync.WaitGroup
		for i := range out {
			wait.Go(func() {
				var b bytes.Buffer
				if err := draw(&b, compare.Compare(published(t, "arm-cached-gcc", "arm-cached-clang"), compare.Options{AutoBase: true}), o); err != nil {
					t.Error(err)
				}
				out[i] = b.Bytes()
			})
		}
		wait.Wait()
		for i := range out {
			if len(out[i]) == 0 || !bytes.Equal(out[i], out[0]) {
				t.Errorf("%s: picture %d of %d bytes differs from the first of %d", name, i, len(out[i]), len(out[0]))
			}
		}
	}
}

func decode(t *testing.T, draw func(io.Writer, compare.Comparison, Options) error, c compare.Comparison, o Options) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b, c, o); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestImagesHaveTheSizeAndThemeAskedFor(t *testing.T) {
	t.Parallel()
	one := against("7.0.0", series(t, "qps", at("fillseq"), steady...))
	many := compare.Compare(published(t, "c2-cached"), compare.Options{AutoBase: true})
	for _, test := range []struct {
		name          string
		draw          func(io.Writer, compare.Comparison, Options) error
		c             compare.Comparison
		o             Options
		width, height int
		background    color.NRGBA
	}{
		{"large", PNG, one, Options{Width: 800, Height: 400}, 800, 400, color.NRGBA{255, 255, 255, 255}},
		{"dense", PNG, one, Options{Width: 640, Height: 480, Density: 2, Dark: true}, 1280, 960, color.NRGBA{0x12, 0x14, 0x17, 255}},
		{"density between whole numbers", PNG, many, Options{Width: 800, Height: 600, Density: 1.5}, 1200, 900, color.NRGBA{255, 255, 255, 255}},
		{"preview of one", Preview, one, Options{Width: 17, Height: 99999, Dark: true}, 1200, 630, color.NRGBA{0x12, 0x14, 0x17, 255}},
		{"preview of many", Preview, many, Options{}, 1200, 630, color.NRGBA{255, 255, 255, 255}},
		{"preview of nothing", Preview, compare.Comparison{}, Options{}, 1200, 630, color.NRGBA{255, 255, 255, 255}},
	} {
		img := decode(t, test.draw, test.c, test.o)
		if s := img.Bounds().Size(); s.X != test.width || s.Y != test.height {
			t.Errorf("%s: %v, want %d × %d", test.name, s, test.width, test.height)
		}
		for _, p := range []image.Point{{2, 2}, {test.width - 3, test.height - 3}} {
			if got := color.NRGBAModel.Convert(img.At(p.X, p.Y)); got != test.background {
				t.Errorf("%s: %v at %v, want %v", test.name, got, p, test.background)
			}
		}
	}
}

func TestImagesShowWhatTheSVGSays(t *testing.T) {
	t.Parallel()
	// Where the SVG has a symbol, the image has its colour.
	c := against("7.0.0", series(t, "qps", at("fillseq"), append(slices.Clone(steady), "7.6.0 800 801", "7.7.0 1250 1251")...))
	all := svgOf(t, c, Options{Width: 900, Height: 500})
	img := decode(t, PNG, c, Options{Width: 900, Height: 500})
	for version, want := range map[string]color.NRGBA{"7.6.0": {0xd5, 0x5e, 0, 255}, "7.7.0": {0, 0x72, 0xb2, 255}, "7.2.0": {0x86, 0x8d, 0x95, 255}} {
		p := pointAt(t, all, version)
		if got := color.NRGBAModel.Convert(img.At(int(p.x), int(p.y))); got != want {
			t.Errorf("%s: %v at %v, want %v", version, got, p, want)
		}
	}
}

func TestImagesHaveTextWhereTheSVGHasIt(t *testing.T) {
	t.Parallel()
	c := against("7.0.0", series(t, "qps", at("fillseq"), steady...))
	o := Options{Width: 900, Height: 500}
	var title box
	for _, b := range boxes(t, svgOf(t, c, o)) {
		if b.text == "fillseq" {
			title = b
		}
	}
	for _, density := range []float64{1, 1.5, 3} {
		o.Density = density
		img := decode(t, PNG, c, o)
		ink := func(left, right float64) int {
			n := 0
			for y := int(title.top * density); y < int(title.bottom*density); y++ {
				for x := int(left * density); x < int(right*density); x++ {
					if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
						n++
					}
				}
			}
			return n
		}
		area := (title.right - title.left) * (title.bottom - title.top) * density * density
		// Bold letters cover a quarter to a half of the box around them.
		if share := float64(ink(title.left, title.right)) / area; share < 0.2 || share > 0.6 {
			t.Errorf("density %g: %.0f %% of the title's box are ink", density, share*100)
		}
		if n := ink(title.right+2, 890); n > 0 {
			t.Errorf("density %g: %d pixels of ink right of the title", density, n)
		}
	}
}

// box is where a text stands.
type box struct {
	left, right, top, bottom float64
	text                     string
}

// boxes measures the texts of an SVG in the embedded fonts.
func boxes(t *testing.T, all []*node) []box {
	t.Helper()
	r, err := newRuler(imageSlack)
	if err != nil {
		t.Fatal(err)
	}
	var out []box
	for _, n := range find(all, func(n *node) bool { return n.name == "text" }) {
		size := n.number(t, "font-size")
		width := r.width(n.text, size, n.attrs["font-weight"] == "600")
		for _, span := range n.children {
			if span.attrs["font-weight"] == "600" {
				width += r.width(span.text, size, true) - r.width(span.text, size, false)
			}
		}
		x, y := n.number(t, "x"), n.number(t, "y")
		switch n.attrs["text-anchor"] {
		case "middle":
			x -= width / 2
		case "end":
			x -= width
		}
		out = append(out, box{x, x + width, y - 0.72*size, y, n.text})
	}
	return out
}

func TestTextsStandInsideAndDoNotOverlap(t *testing.T) {
	t.Parallel()
	auto := compare.Options{AutoBase: true, JoinFamilies: true}
	all := compare.Compare(published(t, "c2-cached"), auto)
	builds := compare.Compare(published(t, "arm-cached-gcc", "arm-cached-clang", "arm-cached-clang-lto"), auto)
	servers := compare.Compare(published(t, "c2-cached", "u5-cached", "8core-cached", "c2-iodir", "u5-iobuf"), auto)
	marks := []Mark{{"6.3.6", MarkDown, "", ""}, {"5.3.7", MarkNote, "1", ""}, {"8.6.7", MarkNote, "2", ""}, {"8.7.3", MarkNote, "3", ""}, {"8.8.0", MarkNote, "4", ""}}
	step := func(c compare.Comparison, name string) compare.Comparison {
		c.Lines = slices.DeleteFunc(slices.Clone(c.Lines), func(l compare.Line) bool { return l.Step != name })
		return c
	}
	long := strings.Repeat("a very long title ", 30)
	for name, c := range map[string]compare.Comparison{
		"all": all, "one": step(all, "revrangewhilewriting"), "joined": step(all, "overwriteandwait"),
		"builds": builds, "builds of one": step(builds, "readwhilewriting"), "servers": servers, "servers of one": step(servers, "overwriteandwait"),
	} {
		for _, o := range []Options{
			{}, {Width: 1600, Fit: true}, {Width: 390}, {Width: 700, Title: long, Subtitle: long, Address: long, Credit: long}, {Width: 1000, Height: 900},
		} {
			o.Marks = marks
			nodes := svgOf(t, c, o)
			width, height := nodes[0].number(t, "width"), nodes[0].number(t, "height")
			b := boxes(t, nodes)
			for i, x := range b {
				if x.left < 0 || x.right > width || x.top < 0 || x.bottom > height {
					t.Errorf("%s, %d wide: %q stands outside of the picture: %+v", name, o.Width, x.text, x)
				}
				for _, y := range b[:i] {
					if x.left < y.right && y.left < x.right && x.top < y.bottom && y.top < x.bottom {
						t.Errorf("%s, %d wide: %q and %q overlap: %+v %+v", name, o.Width, y.text, x.text, y, x)
					}
				}
			}
		}
	}
}

func TestNothingToDrawIsSaidInWords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c    compare.Comparison
		want string
	}{
		"no series":        {compare.Comparison{}, "Nothing measured"},
		"base not there":   {against("3.0", series(t, "qps", at("fillseq"), steady...)), "not measured at 3.0"},
		"baseline 0":       {against("7.0", series(t, "qps", at("fillseq"), "7.0 0", "7.1 5")), "n/a (baseline 0)"},
		"no base asked":    {compare.Compare([]bench.Series{series(t, "qps", at("fillseq"), steady...)}, compare.Options{}), "no base"},
		"one of two lines": {against("7.0", series(t, "qps", at("fillseq"), "7.0 5"), series(t, "qps", at("fillseq", on("u5")), "7.1 5")), "u5 (not measured at 7.0)"},
	} {
		all := svgOf(t, test.c, Options{})
		if !hasText(all, test.want) {
			t.Errorf("%s: no %q among %q", name, test.want, texts(all))
		}
	}
}

func TestMoreChartsThanFitAreCounted(t *testing.T) {
	t.Parallel()
	var s []bench.Series
	for i := range 70 {
		s = append(s, series(t, "qps", at(fmt.Sprintf("step%02d", i)), steady...))
	}
	c := against("7.0.0", s...)
	all := svgOf(t, c, Options{})
	if got := len(find(all, func(n *node) bool { return n.class() == "chart" })); got != 60 || !hasText(all, "the first 60 of 70 steps") {
		t.Errorf("%d charts, texts %q", got, texts(all))
	}
	if !hasText(all, "7.5.0 is undecided in 70 of 70 steps") {
		t.Errorf("the sentence does not count all steps: %q", texts(all))
	}
	if err := SVG(io.Discard, c, Options{Width: 1200, Height: 700}); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("60 charts in 700 pixels: %v", err)
	}
	if err := Preview(io.Discard, c, Options{}); err != nil {
		t.Error(err)
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	one := against("7.0.0", series(t, "qps", at("fillseq"), steady...))
	var lines []bench.Series
	for i := range LinesMax + 1 {
		lines = append(lines, series(t, "qps", at("fillseq", on(fmt.Sprintf("s%d", i))), steady...))
	}
	for name, test := range map[string]struct {
		draw func(io.Writer, compare.Comparison, Options) error
		c    compare.Comparison
		o    Options
	}{
		"too narrow":             {SVG, one, Options{Width: 100}},
		"too wide":               {SVG, one, Options{Width: 100000}},
		"too high":               {SVG, one, Options{Height: 100000}},
		"negative":               {SVG, one, Options{Width: -5}},
		"density below one":      {PNG, one, Options{Density: 0.5}},
		"density above all":      {PNG, one, Options{Density: 99}},
		"density that is none":   {PNG, one, Options{Density: math.NaN()}},
		"too many pixels":        {PNG, one, Options{Width: 4000, Height: 4000, Density: 4}},
		"a mark of another kind": {SVG, one, Options{Marks: []Mark{{"7.1.0", "sideways", "", ""}}}},
		"too many lines":         {SVG, against("7.0.0", lines...), Options{}},
		"too many lines to see":  {Preview, against("7.0.0", lines...), Options{}},
		"header fills it":        {SVG, against("7.0.0", lines[:LinesMax]...), Options{Width: 320, Height: 240}},
	} {
		var b bytes.Buffer
		err := test.draw(&b, test.c, test.o)
		if bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%s: error %v", name, err)
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %d bytes", name, b.Len())
		}
	}
	if err := SVG(io.Discard, against("7.0.0", lines[:LinesMax]...), Options{}); err != nil {
		t.Errorf("%d lines: %v", LinesMax, err)
	}
}

var errDisk = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errDisk }

func TestErrorsOfWritingArePassedOn(t *testing.T) {
	t.Parallel()
	one := against("7.0.0", series(t, "qps", at("fillseq"), steady...))
	for _, draw := range []func(io.Writer, compare.Comparison, Options) error{SVG, PNG, Preview} {
		if err := draw(fullDisk{}, one, Options{}); !errors.Is(err, errDisk) {
			t.Errorf("error %v", err)
		}
	}
}

func TestEveryPlaceIsFiniteAndNearThePicture(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	values := []float64{0, 5e-324, 1e-300, 1e-9, 1, 1.0000001, 3, 1e9, 1e300, math.MaxFloat64}
	for round := range 150 {
		var s []bench.Series
		for i := range 1 + random.IntN(4) {
			x := series(t, []string{"qps", "p99", "elapsed_s"}[random.IntN(3)], at(fmt.Sprintf("s%d", i/(1+random.IntN(2))), on(fmt.Sprint(i))))
			for v := range 1 + random.IntN(12) {
				p := bench.Point{Version: fmt.Sprintf("%d.%d", 1+v/4, v)}
				for range random.IntN(4) {
					value := values[random.IntN(len(values))]
					if random.IntN(2) == 0 {
						value = math.Exp(random.NormFloat64() * math.Pow(10, float64(random.IntN(4)-2)))
					}
					p.Samples = append(p.Samples, bench.Sample{Value: value, Excluded: random.IntN(9) == 0})
				}
				x.Points = append(x.Points, p)
			}
			x.Metric = sameMetric(s, x.Metric)
			s = append(s, x)
		}
		c := compare.Compare(s, compare.Options{AutoBase: true})
		o := Options{Fit: random.IntN(2) == 0, Marks: []Mark{{"1.1", MarkNote, "1", ""}, {"2.5", MarkUp, "", ""}}}
		all := svgOf(t, c, o)
		width, height := all[0].number(t, "width"), all[0].number(t, "height")
		for _, n := range all {
			var places []point
			switch n.name {
			case "line", "polyline", "polygon":
				places = n.points(t)
			case "circle":
				places = []point{{n.number(t, "cx"), n.number(t, "cy")}}
			case "rect":
				places = []point{{n.number(t, "x"), n.number(t, "y")}, {n.number(t, "x") + n.number(t, "width"), n.number(t, "y") + n.number(t, "height")}}
				if n.number(t, "width") < 0 || n.number(t, "height") < 0 {
					t.Fatalf("a rectangle of %v", n.attrs)
				}
			case "text":
				places = []point{{n.number(t, "x"), n.number(t, "y")}}
			}
			for _, p := range places {
				if p.x < -1 || p.y < -1 || p.x > width+1 || p.y > height+1 {
					t.Fatalf("<%s> at %v of a picture of %g × %g", n.name, p, width, height)
				}
			}
		}
		if round%10 > 0 {
			continue
		}
		if err := PNG(io.Discard, c, o); err != nil {
			t.Fatal(err)
		}
	}
}

// sameMetric keeps one metric for all series of a comparison.
func sameMetric(s []bench.Series, m bench.Metric) bench.Metric {
	if len(s) > 0 {
		return s[0].Metric
	}
	return m
}

func TestColoursAreThoseOfThePages(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../../web/assets/src/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(css), `:root[data-theme="dark"]`, 2)
	if len(parts) != 2 {
		t.Fatal("tokens.css has no dark theme")
	}
	for i, th := range []theme{light, dark} {
		tokens := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+);`).FindAllStringSubmatch(parts[i], -1) {
			if _, ok := tokens[m[1]]; !ok {
				tokens[m[1]] = m[2]
			}
		}
		for name, c := range map[string]colour{
			"bg": th.bg, "ink": th.ink, "ink-2": th.ink2, "ink-3": th.ink3, "line": th.line, "line-2": th.line2, "line-3": th.line3,
			"better": th.better, "worse": th.worse, "undecided": th.undecided, "better-ink": th.betterInk, "worse-ink": th.worseInk, "band": th.band,
			"gcc": th.builds[0], "clang": th.builds[1], "lto": th.builds[2], "s4": th.builds[3], "s5": th.builds[4], "s6": th.builds[5],
		} {
			got := c.String()
			if c.a < 255 {
				got += fmt.Sprintf("%02x", c.a)
			}
			if got != tokens[name] {
				t.Errorf("theme %d: %s is %s, the pages have %q", i, name, got, tokens[name])
			}
		}
	}
}

func BenchmarkSVG(b *testing.B) { benchmark(b, SVG, 1) }

func BenchmarkPNG(b *testing.B) { benchmark(b, PNG, 1) }

func BenchmarkSVGOfAllSteps(b *testing.B) { benchmark(b, SVG, 8) }

func BenchmarkPNGOfAllSteps(b *testing.B) { benchmark(b, PNG, 8) }

func BenchmarkPreview(b *testing.B) { benchmark(b, Preview, 8) }

func BenchmarkPreviewOfOne(b *testing.B) { benchmark(b, Preview, 1) }

func benchmark(b *testing.B, draw func(io.Writer, compare.Comparison, Options) error, steps int) {
	s := published(b, "c2-cached")
	if steps == 1 {
		s = s[:1]
	}
	c := compare.Compare(s, compare.Options{AutoBase: true, JoinFamilies: true})
	for b.Loop() {
		if err := draw(io.Discard, c, Options{Address: "/charts"}); err != nil {
			b.Fatal(err)
		}
	}
}
