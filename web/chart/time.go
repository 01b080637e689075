package chart

import (
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/relqps/relqps/internal/bench"
)

// TimePointsMax bounds the points of a figure over time that a large chart gets;
// more cannot be told apart on a screen. TimePointsSmall is the same for small
// charts.
const (
	TimePointsMax   = 2000
	TimePointsSmall = 400
)

// TimeFigure is a chart of a figure over the seconds of a step.
type TimeFigure struct {
	Name   string         `json:"name"`
	Unit   string         `json:"unit"`
	Option map[string]any `json:"option"`
	// Thinned says of how many points those drawn were chosen, 0 where all are.
	Thinned int `json:"-"`
}

// NewTimeFigure makes the chart of a series over time with at most limit points.
func NewTimeFigure(t bench.TimeSeries, limit int) (TimeFigure, error) {
	f := TimeFigure{Name: t.Name, Unit: t.Unit}
	data := Thin(t, limit)
	if len(data) < len(t.Values) {
		f.Thinned = len(t.Values)
	}
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Min: "dataMin", Max: "dataMax", MinInterval: 1,
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
			AxisLine:  &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false), LineStyle: &opts.LineStyle{Color: "--line-2", Width: 1}},
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: "value", Min: 0, SplitNumber: 4,
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: "--line", Width: 1}},
			AxisLine:  &opts.AxisLine{Show: opts.Bool(false)},
		}),
	)
	line.AddSeries(t.Name, nil, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), ConnectNulls: opts.Bool(false)}),
		charts.WithSeriesOpts(func(s *charts.SingleSeries) { s.Data = data }))
	line.Validate()
	option := line.JSON()
	for _, key := range []string{"title", "legend", "toolbox", "color"} {
		delete(option, key)
	}
	x, okX := option["xAxis"].([]opts.XAxis)
	y, okY := option["yAxis"].([]opts.YAxis)
	all, okS := option["series"].(charts.MultiSeries)
	if !okX || !okY || !okS || len(x) != 1 || len(y) != 1 || len(all) != 1 {
		return f, fmt.Errorf("chart of %s over time: go-echarts made %T, %T and %T", t.Name, option["xAxis"], option["yAxis"], option["series"])
	}
	option["grid"] = grid{Left: 52, Right: 16, Top: 12, Bottom: 25, OuterBoundsMode: "none"}
	option["xAxis"] = xAxis{x[0], axisTick{Show: true, Length: 4, LineStyle: &lineStyle{Colour: "--line-2"}},
		axisLabel{Colour: "--ink-3", FontSize: 11, Margin: 8, HideOverlap: true}}
	option["yAxis"] = yAxis{y[0], axisTick{}, axisLabel{Colour: "--ink-3", FontSize: 11, Margin: 8, ShowMinLabel: true, ShowMaxLabel: true}}
	option["tooltip"] = tooltip{Trigger: "axis", ShowContent: true, Confine: true, AxisPointer: axisPointer{
		Type: "line", Snap: true, LineStyle: lineStyle{Colour: "--line-3", Width: 1, Type: "solid"},
	}}
	option["series"] = []series{{SingleSeries: all[0], LineStyle: lineStyle{Colour: "--ink", Width: 1, Type: "solid"}, Z: 4, Emphasis: disabled{true}}}
	f.Option = option
	return f, nil
}

// Thin gives the points of a series as pairs of second and value, nil for a
// missing one, at most limit of them. Of longer series it keeps the least and the
// greatest of every stretch, so that stalls and peaks stay; a stretch without a
// value gives one missing point.
func Thin(t bench.TimeSeries, limit int) [][2]*float64 {
	at := func(i int) *float64 {
		x := t.StartS + float64(i)*t.StepS
		return &x
	}
	value := func(i int) *float64 {
		if math.IsNaN(t.Values[i]) || math.IsInf(t.Values[i], 0) {
			return nil
		}
		return &t.Values[i]
	}
	n := len(t.Values)
	out := make([][2]*float64, 0, min(n, limit))
	if n <= limit || limit < 2 {
		for i := range n {
			out = append(out, [2]*float64{at(i), value(i)})
		}
		return out
	}
	stretches := limit / 2
	for k := range stretches {
		from, to := k*n/stretches, (k+1)*n/stretches
		least, most := -1, -1
		for i := from; i < to; i++ {
			if value(i) == nil {
				continue
			}
			if least < 0 || t.Values[i] < t.Values[least] {
				least = i
			}
			if most < 0 || t.Values[i] > t.Values[most] {
				most = i
			}
		}
		switch {
		case least < 0:
			out = append(out, [2]*float64{at(from), nil})
		case least == most:
			out = append(out, [2]*float64{at(least), value(least)})
		default:
			a, b := min(least, most), max(least, most)
			out = append(out, [2]*float64{at(a), value(a)}, [2]*float64{at(b), value(b)})
		}
	}
	return out
}
