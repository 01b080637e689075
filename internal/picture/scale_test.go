package picture

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ behaviour, in, want string }{
		{"plain text stays", "a <b> & c", "a <b> & c"},
		{"letters of all scripts stay", "Größe 数据 שלום 2.07\u2009M", "Größe 数据 שלום 2.07\u2009M"},
		{"control characters go", "a\x00b\x1b[31mc\u0085d", "ab[31mc d"},
		{"white space is one space", "  a\t\n b\u00a0\u3000c  ", "a b c"},
		{"marks of direction go", "\u202eabc\u202c\u200f\u2066x\u2069", "abcx"},
		{"invisible letters go", "a\u200b\u200d\ufeff\u00adb", "ab"},
		{"what XML does not know goes", "a\ufffe\uffff\xffb", "ab"},
		{"private letters go", "a\ue000b", "ab"},
		{"a letter carries few marks", "a" + strings.Repeat("\u0301", 9) + "b", "a\u0301\u0301\u0301b"},
		{"nothing but white space is nothing", " \n\t ", ""},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.behaviour, got, c.want)
		}
	}
	if n := len([]rune(clean(strings.Repeat("é", 100_000)))); n != runesMax {
		t.Errorf("a text of 100,000 letters keeps %d", n)
	}
}

func TestFitCutsToTheRoom(t *testing.T) {
	t.Parallel()
	r, err := newRuler(imageSlack)
	if err != nil {
		t.Fatal(err)
	}
	// Digits and M of Liberation Sans are 1139 and 1706 of 2048 units wide, as
	// Arial's.
	if got, want := r.width("0123456789M", 2048, false), 10*1139+1706.0; math.Abs(got-want) > 1e-6 {
		t.Errorf("width %g, want %g", got, want)
	}
	text := "revrangewhilewriting"
	for room := 0.0; room < 200; room++ {
		got := r.fit(text, 13, true, room)
		switch {
		case got == text:
			if r.width(text, 13, true) > room {
				t.Errorf("%q does not fit into %g", got, room)
			}
		case got != "":
			if r.width(got, 13, true) > room || !strings.HasSuffix(got, "…") || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
				t.Errorf("%q for a room of %g", got, room)
			}
		}
	}
	if got := r.fit(text, 13, true, 200); got != text {
		t.Errorf("%q is cut although there is room", got)
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	t.Parallel()
	r, err := newRuler(svgSlack)
	if err != nil {
		t.Fatal(err)
	}
	runs := []run{{text: "Against 4.4.1, "}, {text: "8.8.0 is worse in 6 of 8 steps", bold: true}, {text: ", better in 1."}}
	var words []string
	lines := r.wrap(runs, 14, 160, 9)
	for _, line := range lines {
		text := ""
		for _, x := range line {
			text += x.text
		}
		if r.runsWide(line, 14) > 160 {
			t.Errorf("%q is wider than 160", text)
		}
		words = append(words, strings.Fields(text)...)
	}
	if got, want := strings.Join(words, " "), "Against 4.4.1, 8.8.0 is worse in 6 of 8 steps, better in 1."; got != want || len(lines) < 2 {
		t.Errorf("%d lines: %q, want %q", len(lines), got, want)
	}
}

func TestFitWindowHoldsAllAndOne(t *testing.T) {
	t.Parallel()
	for _, positions := range [][]float64{nil, {0}, {0.001}, {-0.02, 0.03}, {0.5, 0.6}, {-1.3, 0.2}, {-700, 700}, {5}} {
		for _, large := range []bool{false, true} {
			w := fitWindow(positions, large)
			if !(w.low <= 0 && w.high >= 0 && w.low < w.high) {
				t.Errorf("%v: window %g to %g", positions, w.low, w.high)
			}
			for _, p := range positions {
				if p < w.low || p > w.high {
					t.Errorf("%v: %g is outside of %g to %g", positions, p, w.low, w.high)
				}
			}
			if n := len(w.ticks); n < 2 || n > 8 || !slices.IsSorted(w.ticks) || !slices.Contains(w.ticks, 0) {
				t.Errorf("%v: ticks %v", positions, w.ticks)
			}
		}
	}
}

func TestTickText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ratio float64
		want  string
	}{{1, "1.00"}, {0.8, "0.80"}, {math.Sqrt2, "1.41"}, {9.9, "9.90"}, {16, "16.0"}, {100, "100"}, {0.05, "0.05"}, {0.004, "0.004"}, {1e6, "1e+06"}, {1e-6, "1e-06"}} {
		if got := tickText(math.Log(c.ratio)); got != c.want {
			t.Errorf("%g is shown as %q, want %q", c.ratio, got, c.want)
		}
	}
}

func TestPushApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behaviour string
		in, want  []float64
	}{
		{"far ones stay", []float64{10, 50, 90}, []float64{10, 50, 90}},
		{"two share the move", []float64{50, 54}, []float64{47, 57}},
		{"order is kept", []float64{54, 50}, []float64{57, 47}},
		{"equal ones keep the order given", []float64{50, 50, 50}, []float64{40, 50, 60}},
		{"edges hold", []float64{0, 1, 99, 100}, []float64{0, 10, 90, 100}},
	} {
		got := pushApart(c.in, 10, 0, 100)
		for i := range c.want {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.behaviour, got, c.want)
				break
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		in := make([]float64, random.IntN(10))
		for i := range in {
			in[i] = random.Float64() * 100
		}
		got := pushApart(in, 10, 0, 100)
		slices.Sort(got)
		for i := range got {
			if got[i] < -1e-9 || got[i] > 100+1e-9 || i > 0 && got[i]-got[i-1] < 10-1e-9 {
				t.Fatalf("%v becomes %v", in, got)
			}
		}
	}
}

func TestLabelledKeepsGroupsAndDistance(t *testing.T) {
	t.Parallel()
	if got, want := labelled(20, []int{0, 7, 15}, 4), []int{0, 7, 11, 15, 19}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := labelled(3, []int{0}, 0.5), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := labelled(0, nil, 1); len(got) != 0 {
		t.Errorf("labels %v of nothing", got)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behaviour string
		p1, p2    float64
		want      []point // from and to; nil: nothing is left
	}{
		{"inside", 0.2, -0.2, []point{{0, 0.2}, {10, -0.2}}},
		{"leaves below", 0, -2, []point{{0, 0}, {5, -1}}},
		{"enters from above", 3, 0, []point{{20. / 3, 1}, {10, 0}}},
		{"crosses", 2, -2, []point{{2.5, 1}, {7.5, -1}}},
		{"above", 2, 3, nil},
		{"below", -2, -3, nil},
	} {
		a, b, ok := clip(0, c.p1, 10, c.p2, -1, 1)
		if ok != (c.want != nil) {
			t.Errorf("%s: %v", c.behaviour, ok)
			continue
		}
		if ok && (math.Hypot(a.x-c.want[0].x, a.y-c.want[0].y) > 1e-9 || math.Hypot(b.x-c.want[1].x, b.y-c.want[1].y) > 1e-9) {
			t.Errorf("%s: %v to %v, want %v", c.behaviour, a, b, c.want)
		}
	}
}
