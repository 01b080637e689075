package chart

import (
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/relqps/relqps/internal/bench"
)

// SecondsFigure is a chart of one figure over the seconds of a step, a line per
// result. Its option has two series a line, the range of every bucket and the mean,
// whose data the page script makes of Lines.
type SecondsFigure struct {
	Name   string         `json:"name"`
	Unit   string         `json:"unit"`
	Title  string         `json:"title"`
	Log    bool           `json:"log,omitempty"` // the scale of values is logarithmic
	Option map[string]any `json:"option"`
	Lines  []SecondsLine  `json:"lines"`
}

// SecondsLine is a line of a [SecondsFigure].
type SecondsLine struct {
	Label string `json:"label"`
	Arm   int    `json:"arm"` // index among the arms of the page
	bench.SecondsLine
}

// SecondsView is what the page script needs once to load other parts of the
// figures: a step, its runs, the seconds that there are and those shown.
type SecondsView struct {
	Step   string  `json:"step"`
	Runs   []int64 `json:"runs"`
	Points int     `json:"points"`
	End    int64   `json:"end"`
	From   int64   `json:"from"`
	To     int64   `json:"to"` // 0: the end
	// Frozen: nothing else can be loaded, the live figures may be others.
	Frozen bool `json:"frozen,omitempty"`
}

// LineStyle gives the look of the line with an index.
func LineStyle(i int) Style { return styleAt(i) }

// NewSecondsFigure makes a chart of lines of the same name.
func NewSecondsFigure(title string, list []bench.Seconds, labels []string, arms []int, from, to int64) (SecondsFigure, error) {
	if len(list) == 0 || len(labels) != len(list) || len(arms) != len(list) {
		return SecondsFigure{}, fmt.Errorf("chart of seconds: %d lines, %d labels, %d arms", len(list), len(labels), len(arms))
	}
	f := SecondsFigure{Name: list[0].Name, Unit: list[0].Unit, Title: title}
	// Times span decades; what is not above 0 has no place on such a scale.
	f.Log = bench.SecondsDirection(f.Name, f.Unit) == bench.LowerBetter
	for i, s := range list {
		f.Lines = append(f.Lines, SecondsLine{labels[i], arms[i], s.Line()})
		for _, v := range s.Min {
			f.Log = f.Log && !(v <= 0)
		}
	}
	y := opts.YAxis{
		Type: "value", Min: 0, SplitNumber: 4,
		SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: "--line", Width: 1}},
		AxisLine:  &opts.AxisLine{Show: opts.Bool(false)},
	}
	if f.Log {
		y.Type, y.Min = "log", nil
	}
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Min: from, Max: to, MinInterval: 1,
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
			AxisLine:  &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false), LineStyle: &opts.LineStyle{Color: "--line-2", Width: 1}},
		}),
		charts.WithYAxisOpts(y),
	)
	empty := charts.WithSeriesOpts(func(s *charts.SingleSeries) { s.Data = []any{} })
	for _, l := range f.Lines {
		for range 2 {
			line.AddSeries(l.Label, nil, charts.WithLineChartOpts(opts.LineChart{
				Symbol: styleAt(l.Arm).Marker, ShowSymbol: opts.Bool(false), ConnectNulls: opts.Bool(false),
			}), empty)
		}
	}
	line.Validate()
	option := line.JSON()
	for _, key := range []string{"title", "legend", "toolbox", "color"} {
		delete(option, key)
	}
	xs, okX := option["xAxis"].([]opts.XAxis)
	ys, okY := option["yAxis"].([]opts.YAxis)
	all, okS := option["series"].(charts.MultiSeries)
	if !okX || !okY || !okS || len(xs) != 1 || len(ys) != 1 || len(all) != 2*len(f.Lines) {
		return f, fmt.Errorf("chart of %s over the seconds: go-echarts made %T, %T and %T", f.Name, option["xAxis"], option["yAxis"], option["series"])
	}
	option["grid"] = grid{Left: 52, Right: 16, Top: 12, Bottom: 25, OuterBoundsMode: "none"}
	option["xAxis"] = xAxis{xs[0], axisTick{Show: true, Length: 4, LineStyle: &lineStyle{Colour: "--line-2"}},
		axisLabel{Colour: "--ink-3", FontSize: 11, Margin: 8, HideOverlap: true}}
	option["yAxis"] = yAxis{ys[0], axisTick{}, axisLabel{Colour: "--ink-3", FontSize: 11, Margin: 8, ShowMinLabel: true, ShowMaxLabel: true}}
	option["tooltip"] = tooltip{Trigger: "axis", ShowContent: true, Confine: true, AxisPointer: axisPointer{
		Type: "line", Snap: true, LineStyle: lineStyle{Colour: "--line-3", Width: 1, Type: "solid"},
	}}
	out := make([]series, len(all))
	for i, s := range all {
		style := styleAt(f.Lines[i/2].Arm)
		out[i] = series{SingleSeries: s, LineStyle: lineStyle{Colour: style.Colour, Width: 1, Type: "solid", Opacity: rangeOpacity(len(f.Lines))}, Z: 3, Emphasis: disabled{true}}
		if i%2 == 1 {
			out[i].LineStyle = lineStyle{Colour: style.Colour, Width: 1.5, Type: "solid"}
			if len(style.Dash) > 0 {
				out[i].LineStyle.Type = style.Dash
			}
			out[i].Z = 4 + i
		}
	}
	option["series"] = out
	f.Option = option
	return f, nil
}

// rangeOpacity lets many ranges above each other stay lighter than their means.
func rangeOpacity(lines int) float32 {
	if lines > 4 {
		return 0.12
	}
	return 0.3
}
