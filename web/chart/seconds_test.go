package chart

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestChartsOfSecondsHaveARangeAndAMeanPerLine(t *testing.T) {
	t.Parallel()
	list := func(name, unit string, values ...float64) []bench.Seconds {
		t := bench.RunSeries{RunID: 1, TimeSeries: bench.TimeSeries{Name: name, Unit: unit, StartS: 1, StepS: 1, Values: values}}
		return bench.NewSeconds([]bench.RunSeries{t, t}, bench.SecondsQuery{Points: 2})
	}
	for what, c := range map[string]struct {
		list []bench.Seconds
		log  bool
	}{
		"rates":            {list("ips", "1/s", 5, 6, 7, 8), false},
		"times":            {list("max_query_us", "µs", 5, 600, math.NaN(), 8000), true},
		"times with a 0":   {list("max_query_us", "µs", 5, 0, 7, 8), false},
		"sizes":            {list("total_size_gb", "GB", 5, 6, 7, 8), false},
		"nothing measured": {list("ips", "1/s", math.NaN(), math.NaN()), false},
	} {
		f, err := NewSecondsFigure("Title", c.list, []string{"a0", "--ink"}, []int{0, 3}, 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		if f.Log != c.log {
			t.Errorf("%s: logarithmic %t", what, f.Log)
		}
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Option struct {
				XAxis  struct{ Min, Max float64 }
				YAxis  struct{ Type string }
				Series []struct {
					Name      string
					Data      []any
					LineStyle struct {
						Color   string
						Type    any
						Opacity float64
					}
				}
			}
			Lines []struct {
				Label string
				Arm   int
				bench.SecondsLine
			}
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		o := got.Option
		if len(o.Series) != 4 || o.XAxis.Max != 4 || o.YAxis.Type != map[bool]string{true: "log", false: "value"}[c.log] {
			t.Errorf("%s: %+v", what, o)
		}
		// A line may be named like a colour: its look is that of its arm.
		if s := o.Series[3]; s.Name != "--ink" || s.LineStyle.Color != styles[3].Colour || s.LineStyle.Opacity != 0 || o.Series[2].LineStyle.Opacity == 0 || s.Data == nil {
			t.Errorf("%s: %+v", what, s)
		}
		if len(got.Lines) != 2 || got.Lines[1].Arm != 3 || got.Lines[1].Bucket != c.list[0].Size {
			t.Errorf("%s: %+v", what, got.Lines)
		}
		if strings.Contains(string(raw), "NaN") {
			t.Errorf("%s: NaN travels", what)
		}
	}
	if _, err := NewSecondsFigure("x", nil, nil, nil, 0, 1); err == nil {
		t.Error("no lines are no chart")
	}
}
