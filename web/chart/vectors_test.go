package chart_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
)

// vectors are the cases of testdata/ratios.json: made by a program that shares no
// code with ours, and read by the tests of the page script too.
type vectors struct {
	Cases []struct {
		Name  string
		Lines []struct {
			Compiler   string
			Multiplier float64
			Points     []struct {
				Version string
				Samples []float64
				Flagged bool
				Value   float64
				N       int
				M       *float64 // mean of ln of the samples
				SE2     *float64
			}
		}
		Bases []struct {
			Version  string
			Compiler string
			Lines    [][]*struct {
				Relative, Low, High     *float64
				Text, Interval, Percent string
				Verdicts                []compare.Verdict
			}
		}
	}
	Ratio []struct {
		R              float64
		Low, High      *float64
		Text, Interval string
	}
	Percent []struct {
		R    float64
		Text string
	}
	Short, Full []struct {
		V    float64
		Text string
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/ratios.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) < 8 || len(v.Ratio) == 0 || len(v.Short) == 0 {
		t.Fatal("the vectors are incomplete")
	}
	return v
}

func near(t *testing.T, what string, got, want *float64) {
	t.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil:
		t.Errorf("%s: %v, want %v", what, show(got), show(want))
	case math.Abs(*got-*want) > 1e-9*math.Abs(*want):
		t.Errorf("%s: %v, want %v", what, *got, *want)
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// The script divides with what a figure carries; here it is what the vectors say,
// and so are the server's own ratios.
func TestFiguresAndRatiosAgreeWithIndependentVectors(t *testing.T) {
	t.Parallel()
	for _, c := range readVectors(t).Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var series []bench.Series
			for _, l := range c.Lines {
				s := bench.Series{Coordinate: coordinate("fillseq", l.Compiler), Metric: metric(t, "qps")}
				for _, p := range l.Points {
					q := bench.Point{Version: p.Version}
					for i, v := range p.Samples {
						q.Samples = append(q.Samples, bench.Sample{Value: v, RunID: int64(i + 1), Excluded: p.Flagged})
					}
					s.Points = append(s.Points, q)
				}
				series = append(series, s)
			}
			for _, b := range c.Bases {
				q := compare.Query{Options: compare.Options{Base: compare.Base{Version: b.Version, Compiler: b.Compiler}}}
				answer := q.Answer(series)
				figures, err := chart.Figures(answer, chart.Options{})
				if err != nil {
					t.Fatal(err)
				}
				sent := decode(t, figures[0])
				for i, want := range c.Lines {
					at := lineOf(t, answer, want.Compiler)
					line, data := sent.Lines[at], sent.Option.Series[at].Data
					if math.Abs(line.Multiplier-want.Multiplier) > 1e-6*want.Multiplier {
						t.Errorf("multiplier %v, want %v", line.Multiplier, want.Multiplier)
					}
					for j, p := range want.Points {
						what := want.Compiler + " " + p.Version + " over " + b.Version + b.Compiler
						k := indexOf(answer.Versions, p.Version)
						near(t, what+": value", data[k], &p.Value)
						near(t, what+": squared error", line.se2(k, p.Value), p.SE2)
						if p.M != nil && p.SE2 != nil {
							log := math.Log(*data[k]) + line.Shift[strconv.Itoa(k)]
							near(t, what+": mean of ln", &log, p.M)
						}
						if line.n(k) != p.N {
							t.Errorf("%s: n = %d, want %d", what, line.n(k), p.N)
						}
						got := answer.Lines[at].At(p.Version)
						w := b.Lines[i][j]
						if w == nil {
							if got.Relative != nil {
								t.Errorf("%s: relative %v, want none", what, *got.Relative)
							}
							continue
						}
						near(t, what+": relative", got.Relative, w.Relative)
						near(t, what+": low", got.Low, w.Low)
						near(t, what+": high", got.High, w.High)
						if s := compare.FormatRatio(*got.Relative, got.Low, got.High); s != w.Text {
							t.Errorf("%s: prints %q, want %q", what, s, w.Text)
						}
						if s := compare.FormatInterval(got.Low, got.High); s != w.Interval {
							t.Errorf("%s: interval %q, want %q", what, s, w.Interval)
						}
						if s := compare.FormatPercent(*got.Relative); s != w.Percent {
							t.Errorf("%s: %q, want %q", what, s, w.Percent)
						}
						for d, direction := range []bench.Direction{bench.HigherBetter, bench.LowerBetter, bench.Neutral} {
							if v := compare.Judge(*got, direction); v != w.Verdicts[d] {
								t.Errorf("%s: %s metric judged %q, want %q", what, direction, v, w.Verdicts[d])
							}
						}
					}
				}
			}
		})
	}
}

func TestFormatsAgreeWithIndependentVectors(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	for _, x := range v.Ratio {
		if got := compare.FormatRatio(x.R, x.Low, x.High); got != x.Text {
			t.Errorf("ratio %v: %q, want %q", x.R, got, x.Text)
		}
		if got := compare.FormatInterval(x.Low, x.High); got != x.Interval {
			t.Errorf("interval %v: %q, want %q", x.R, got, x.Interval)
		}
	}
	for _, x := range v.Percent {
		if got := compare.FormatPercent(x.R); got != x.Text {
			t.Errorf("percent %v: %q, want %q", x.R, got, x.Text)
		}
	}
	for _, x := range v.Short {
		if got := compare.FormatShort(x.V); got != x.Text {
			t.Errorf("short %v: %q, want %q", x.V, got, x.Text)
		}
	}
	for _, x := range v.Full {
		if got := compare.FormatFull(x.V); got != x.Text {
			t.Errorf("full %v: %q, want %q", x.V, got, x.Text)
		}
	}
}

// sentFigure is a figure as the script reads it.
type sentFigure struct {
	Lines  []sentLine
	Option struct {
		Series []struct{ Data []*float64 }
	}
}

type sentLine struct {
	Name       string
	N, SE2     json.RawMessage
	Multiplier float64
	Shift      map[string]float64
	Given      *struct {
		Base                chart.Base
		Relative, Low, High []*float64
	}
	Flagged, Mixed []int
	Joins          [][]any
	Runs           []any
	Started        []*string
	Spread         map[string][2]float64
}

func (l sentLine) n(k int) int {
	var one int
	if json.Unmarshal(l.N, &one) == nil {
		return one
	}
	var all []int
	if json.Unmarshal(l.N, &all) != nil {
		return -1
	}
	return all[k]
}

// se2 reads as the script does: one number stands for every positive value.
func (l sentLine) se2(k int, value float64) *float64 {
	if value <= 0 || string(l.SE2) == "null" {
		return nil
	}
	var one float64
	if json.Unmarshal(l.SE2, &one) == nil {
		return &one
	}
	var all []*float64
	if json.Unmarshal(l.SE2, &all) != nil {
		return nil
	}
	return all[k]
}

func decode(t *testing.T, f chart.Figure) sentFigure {
	t.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var s sentFigure
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func lineOf(t *testing.T, c compare.Comparison, compiler string) int {
	t.Helper()
	for i, l := range c.Lines {
		if l.Compiler == compiler {
			return i
		}
	}
	t.Fatalf("no line of %s", compiler)
	return -1
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}
