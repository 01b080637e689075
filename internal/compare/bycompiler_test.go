package compare

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// movedWords makes a series of twelve versions that moves by a ratio at 8.6.0, with
// runs so many thousandths around every version.
func movedWords(ratio float64, noise int) []string {
	var out []string
	for i := range 12 {
		n := 100_000.0
		if i >= 6 {
			n *= ratio
		}
		d := n * float64(noise) / 1000
		out = append(out, fmt.Sprintf("8.%d.0 %.0f,%.0f,%.0f", i, n-d, n, n+d))
	}
	return out
}

func TestAChangeSaysWhichBuildsShareIt(t *testing.T) {
	t.Parallel()
	type build struct {
		compiler string
		ratio    float64
		noise    int
	}
	for _, x := range []struct {
		name    string
		own     string
		others  []build
		verdict CompilerVerdict
		text    string
	}{
		{"all builds moved", "gcc", []build{{"clang", 0.91, 5}, {"clang+lto", 0.89, 5}}, CompilersAlike, "the same with gcc, clang and clang+LTO: the code"},
		{"one other build moved", "clang", []build{{"gcc", 0.9, 5}}, CompilersAlike, "the same with gcc and clang: the code"},
		{"no other build moved", "gcc", []build{{"clang", 1, 5}, {"clang+lto", 1, 5}}, CompilersOne, "seen with gcc only"},
		{"others moved the other way", "gcc", []build{{"clang", 1.1, 5}}, CompilersOne, "seen with gcc only"},
		{"some builds moved", "clang+lto", []build{{"clang", 0.9, 5}, {"gcc", 1, 5}}, CompilersSome, "seen with clang and clang+LTO, not with gcc"},
		{"others are too noisy", "gcc", []build{{"clang", 1, 150}, {"clang+lto", 0.96, 60}}, CompilersUnclear, "cannot tell with clang and clang+LTO"},
		// clang and clang+LTO share a compiler: without gcc they prove nothing about the code.
		{"moved, and one too noisy", "clang", []build{{"clang+lto", 0.9, 5}, {"gcc", 1, 150}}, CompilersSome, "seen with clang and clang+LTO; cannot tell with gcc"},
		{"steady, and one too noisy", "gcc", []build{{"clang", 1, 5}, {"clang+lto", 1, 150}}, CompilersSome, "seen with gcc, not with clang; cannot tell with clang+LTO"},
		{"one compiler in two modes", "clang", []build{{"clang+lto", 0.9, 5}}, CompilersSome, "seen with clang and clang+LTO"},
		{"one compiler, one mode of it", "clang", []build{{"clang+lto", 1, 5}}, CompilersOne, "seen with clang only"},
		{"no other build", "gcc", nil, CompilersNone, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			lines := []Line{lineOf(t, series(t, coordinate("fillseq", x.own), movedWords(0.9, 5)...))}
			for _, o := range x.others {
				lines = append(lines, lineOf(t, series(t, coordinate("fillseq", o.compiler), movedWords(o.ratio, o.noise)...)))
			}
			// Elsewhere, and other steps, say nothing about the compiler.
			far := coordinate("fillseq", "clang")
			far.Server = "u5"
			lines = append(lines, lineOf(t, series(t, far, movedWords(1, 5)...)), lineOf(t, series(t, coordinate("readrandom", "clang"), movedWords(1, 5)...)))
			c := change(t, 1, coordinate("fillseq", x.own), "8.5.0", "8.6.0", 0.9)
			by := SeenBy(c, Gather(c, lines))
			if by.Verdict != x.verdict || by.Text() != x.text {
				t.Errorf("%q %q, want %q %q", by.Verdict, by.Text(), x.verdict, x.text)
			}
			if (by.Evidence() == "") != (x.verdict == CompilersNone) {
				t.Errorf("evidence %q", by.Evidence())
			}
			for _, o := range x.others {
				if want := fmt.Sprintf("%s %.2f", compilerText(o.compiler), o.ratio); !strings.Contains(by.Evidence(), want) {
					t.Errorf("%q does not say %q", by.Evidence(), want)
				}
			}
		})
	}
}

// A compiler that was not measured on both sides of a change says nothing about it.
func TestABuildThatBeginsAfterAChangeSaysNothing(t *testing.T) {
	t.Parallel()
	c := change(t, 1, coordinate("fillseq", "gcc"), "8.5.0", "8.6.0", 0.9)
	late := lineOf(t, series(t, coordinate("fillseq", "clang"), movedWords(0.9, 5)[6:]...))
	if by := SeenBy(c, Gather(c, []Line{late})); by.Verdict != CompilersNone || by.Text() != "" {
		t.Errorf("%+v", by)
	}
}

func TestChangesAreSortedByWhoSharesThem(t *testing.T) {
	t.Parallel()
	var lines []Line
	for _, x := range []struct {
		step, compiler string
		ratio          float64
	}{
		{"fillseq", "gcc", 0.9}, {"fillseq", "clang", 0.9}, {"fillseq", "clang+lto", 0.9},
		{"readrandom", "gcc", 0.8}, {"readrandom", "clang", 1}, {"readrandom", "clang+lto", 1},
		{"overwriteandwait", "gcc", 1.1}, {"overwriteandwait", "clang", 1.1}, {"overwriteandwait", "clang+lto", 1},
	} {
		lines = append(lines, lineOf(t, series(t, coordinate(x.step, x.compiler), movedWords(x.ratio, 5)...)))
	}
	judged := func(step, compiler string, ratio float64, shape bench.Shape) Judged {
		c := change(t, 1, coordinate(step, compiler), "8.5.0", "8.6.0", ratio)
		c.Shape = shape
		return Judged{Change: c, Evidence: Gather(c, lines)}
	}
	alike, one := ByBuilds([]Judged{
		judged("readrandom", "gcc", 0.8, bench.ShapeStep), judged("fillseq", "clang", 0.9, bench.ShapeStep), judged("fillseq", "gcc", 0.9, bench.ShapeStep),
		judged("overwriteandwait", "gcc", 1.1, bench.ShapeStep), judged("fillseq", "clang+lto", 0.9, bench.ShapeStep), judged("readrandom", "gcc", 0.8, bench.ShapeSpike),
	})
	name := func(list []BuildChange) (out []string) {
		for _, b := range list {
			out = append(out, fmt.Sprintf("%s %s %d", b.Version, b.Step, len(b.Changes)))
		}
		return out
	}
	if d := cmp.Diff([]string{"8.6.0 fillseq 3"}, name(alike)); d != "" {
		t.Errorf("alike: %s", d)
	}
	if d := cmp.Diff([]string{"8.6.0 readrandom 1"}, name(one)); d != "" {
		t.Errorf("one: %s", d)
	}
}

func TestTheClearestMoveOfAGapIsNamed(t *testing.T) {
	t.Parallel()
	runs := func(version string, v float64) string {
		d := v / 1000
		return fmt.Sprintf("%s %.0f,%.0f,%.0f,%.0f", version, v-d, v, v+d, v)
	}
	versions := []string{"8.0.0", "8.4.4", "9.0.1", "9.8.4", "10.0.1", "10.4.2", "10.8.3"}
	built := func(compiler string, values ...float64) bench.Series {
		var words []string
		for i, v := range values {
			if v > 0 {
				words = append(words, runs(versions[i], v))
			}
		}
		return series(t, coordinate("fillseq", compiler), words...)
	}
	even := []float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}
	for _, x := range []struct {
		name  string
		clang []float64
		want  string
	}{
		{"grew at the newest version", []float64{0.98e6, 0.98e6, 0.98e6, 0.98e6, 0.98e6, 0.98e6, 0.8e6}, "the gap between clang and gcc in fillseq grew from 2.0\u2009% in 8.x to 20\u2009% at 10.8.3"},
		{"grew between majors", []float64{1.04e6, 1.04e6, 1.04e6, 1.04e6, 1.13e6, 1.13e6, 1.13e6}, "the gap between clang and gcc in fillseq grew from 4.0\u2009% in 8.x to 13\u2009% in 10.x"},
		{"shrank", []float64{1.2e6, 1.2e6, 1.1e6, 1.1e6, 1.05e6, 1.05e6, 1.05e6}, "the gap between clang and gcc in fillseq shrank from 20\u2009% in 8.x to 5.0\u2009% in 10.x"},
		{"turned", []float64{0.9e6, 0.9e6, 0.9e6, 0.9e6, 1.1e6, 1.1e6, 1.1e6}, "clang went in fillseq from 10\u2009% behind gcc in 8.x to 10\u2009% ahead in 10.x"},
		{"stayed", []float64{1.04e6, 1.041e6, 1.039e6, 1.04e6, 1.04e6, 1.041e6, 1.04e6}, ""},
		{"one major in common", []float64{0, 0, 0, 0, 1.04e6, 1.3e6, 1.3e6}, ""},
		{"a major of one version", []float64{0, 1.04e6, 1.04e6, 1.04e6, 1.3e6, 1.3e6, 1.3e6}, "the gap between clang and gcc in fillseq grew from 4.0\u2009% in 9.x to 30\u2009% in 10.x"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := CompareCompilers([]bench.Series{built("gcc", even...), built("clang", x.clang...)}, Options{Base: Base{Compiler: "gcc"}})
			got := ""
			if len(c.Moves) > 0 {
				got = c.Moves[0].Text()
			}
			if got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
			for _, m := range c.Moves {
				if m.Low <= 1 && m.High >= 1 || math.Abs(m.ToRatio/m.FromRatio-m.Change) > 1e-9 {
					t.Errorf("%+v", m)
				}
			}
		})
	}
	// One run of each, with noise as large as the move: nothing is said.
	noisy := func(compiler string, values ...string) bench.Series {
		return series(t, coordinate("fillseq", compiler), values...)
	}
	c := CompareCompilers([]bench.Series{
		noisy("gcc", "8.0.0 100", "8.4.4 109", "9.0.1 98", "9.8.4 107", "10.0.1 95", "10.8.3 104"),
		noisy("clang", "8.0.0 104", "8.4.4 96", "9.0.1 107", "9.8.4 99", "10.0.1 108", "10.8.3 112"),
	}, Options{Base: Base{Compiler: "gcc"}})
	if len(c.Moves) != 0 {
		t.Errorf("%+v", c.Moves)
	}
}

func TestBuildsAreDescribedByWhatDiffers(t *testing.T) {
	t.Parallel()
	const tools = "AR=llvm-ar-18 CC=clang CXX=clang++"
	builds := []bench.Build{
		{Version: "9.0.1", Compiler: "gcc", CompilerVersion: "13.3.0", Command: "make DEBUG_LEVEL=0 static_lib"},
		{Version: "9.0.1", Compiler: "clang", CompilerVersion: "18.3.1", Command: tools + " make DEBUG_LEVEL=0 static_lib"},
		{Version: "10.0.1", Compiler: "gcc", CompilerVersion: "13.3.0", Command: "make DEBUG_LEVEL=0 static_lib"},
		{Version: "10.0.1", Compiler: "clang", CompilerVersion: "19.1.0", Command: tools + " make DEBUG_LEVEL=0 static_lib", Flags: "EXTRA='-O3 -march=native'"},
		{Version: "10.0.1", Compiler: "icx", Command: "other"},
		{Version: "10.0.1", Compiler: "clang+lto"},
	}
	got := BuildSets(builds, []string{"gcc", "clang", "clang+lto"})
	want := []BuildSet{
		{Compiler: "gcc", Builds: 2, CompilerVersions: []string{"13.3.0"}, Commands: []string{"make DEBUG_LEVEL=0 static_lib"}},
		{Compiler: "clang", Builds: 2, CompilerVersions: []string{"18.3.1", "19.1.0"}, Commands: []string{tools + " make DEBUG_LEVEL=0 static_lib"}, Flags: []string{"EXTRA='-O3 -march=native'"},
			Differ: []string{"AR=llvm-ar-18", "CC=clang", "CXX=clang++", "EXTRA='-O3 -march=native'"}},
		// What was not stored differs in nothing that is known.
		{Compiler: "clang+lto", Builds: 1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got[2].Stored() || !got[0].Stored() {
		t.Error("stored")
	}
	// Alone, a build differs from nothing.
	if got := BuildSets(builds, []string{"clang"}); len(got[0].Differ) != 0 {
		t.Errorf("%q", got[0].Differ)
	}
}
