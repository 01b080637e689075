package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// The fixed window of relative values, symmetric in ln around 1.00, and the
// values that are labelled on it. A fixed window lets charts be compared.
var (
	windowHalf = math.Log(1.42)
	ticksSmall = []float64{0.71, 0.84, 1, 1.19, 1.41}
	ticksLarge = []float64{0.71, 0.8, 0.9, 1, 1.11, 1.25, 1.41}
)

// What go-echarts has no field for is added by wrapping its structs: a field here
// shadows the embedded one of the same name.
type (
	axisTick struct {
		Show         bool       `json:"show"`
		CustomValues []float64  `json:"customValues,omitempty"`
		Length       int        `json:"length,omitempty"`
		LineStyle    *lineStyle `json:"lineStyle,omitempty"`
	}
	axisLabel struct {
		CustomValues []float64 `json:"customValues,omitempty"`
		Colour       string    `json:"color"`
		FontSize     int       `json:"fontSize"`
		Margin       int       `json:"margin"`
		HideOverlap  bool      `json:"hideOverlap,omitempty"`
		ShowMinLabel bool      `json:"showMinLabel"`
		ShowMaxLabel bool      `json:"showMaxLabel"`
	}
	xAxis struct {
		opts.XAxis
		AxisTick  axisTick  `json:"axisTick"`
		AxisLabel axisLabel `json:"axisLabel"`
	}
	yAxis struct {
		opts.YAxis
		AxisTick  axisTick  `json:"axisTick"`
		AxisLabel axisLabel `json:"axisLabel"`
	}
	grid struct {
		Left   int `json:"left"`
		Right  int `json:"right"`
		Top    int `json:"top"`
		Bottom int `json:"bottom"`
		// Version 6 of ECharts moves the plot to make room for labels unless told
		// not to; small multiples would no longer be aligned.
		OuterBoundsMode string `json:"outerBoundsMode"`
	}
	lineStyle struct {
		Colour  string  `json:"color,omitempty"`
		Width   float32 `json:"width,omitempty"`
		Type    any     `json:"type,omitempty"`    // "solid" or lengths
		Opacity float32 `json:"opacity,omitempty"` // 0: opaque
	}
	series struct {
		charts.SingleSeries
		LineStyle lineStyle `json:"lineStyle"`
		MarkLine  *markLine `json:"markLine,omitempty"`
		Z         int       `json:"z"`
		Emphasis  disabled  `json:"emphasis"`
	}
	disabled struct {
		Disabled bool `json:"disabled"`
	}
	markLine struct {
		Silent bool       `json:"silent"`
		Symbol string     `json:"symbol"`
		Data   []markItem `json:"data"`
		Z      int        `json:"z"`
	}
	markItem struct {
		X         *float64  `json:"xAxis,omitempty"`
		Y         *float64  `json:"yAxis,omitempty"`
		LineStyle lineStyle `json:"lineStyle"`
		Label     shown     `json:"label"`
	}
	shown struct {
		Show bool `json:"show"`
	}
	tooltip struct {
		Trigger            string      `json:"trigger"`
		ShowContent        bool        `json:"showContent"`
		Confine            bool        `json:"confine"`
		TransitionDuration float64     `json:"transitionDuration"`
		AxisPointer        axisPointer `json:"axisPointer"`
	}
	axisPointer struct {
		Type      string    `json:"type"`
		Snap      bool      `json:"snap"`
		Label     shown     `json:"label"`
		LineStyle lineStyle `json:"lineStyle"`
	}
)

// newOption makes the option of a chart of relative values over versions. The
// version axis is a value axis over the index, so that a rule can stand between
// two versions.
func newOption(f Figure, view View) (map[string]any, error) {
	ticks, half, last := ticksSmall, windowHalf, float64(len(view.Versions))-0.5
	g := grid{Left: 38, Right: 38, Top: 12, Bottom: 25, OuterBoundsMode: "none"}
	if len(f.Lines) > 1 {
		g.Right = 76 // room for names
	}
	if view.Large {
		ticks = ticksLarge
		g.Top, g.Bottom, g.Right = 28, 32, 52
		if len(f.Lines) > 1 {
			g.Right = 112
		}
	}
	logs := make([]float64, len(ticks))
	for i, t := range ticks {
		logs[i] = round(math.Log(t))
	}

	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Min: -0.5, Max: last,
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)},
			AxisLine:  &opts.AxisLine{Show: opts.Bool(true), OnZero: opts.Bool(false), LineStyle: &opts.LineStyle{Color: "--line-2", Width: 1}},
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: "value", Min: round(-half), Max: round(half),
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: "--line", Width: 1}},
			AxisLine:  &opts.AxisLine{Show: opts.Bool(false)},
		}),
	)
	for i, l := range f.Lines {
		values := make([]*float64, len(view.Versions))
		at := 0
		for j := range f.Source[i].Points {
			p := &f.Source[i].Points[j]
			for view.Versions[at] != p.Version {
				at++
			}
			values[at] = &p.Value
		}
		marker := l.Style.Marker
		if marker == "" {
			marker = "circle"
		}
		line.AddSeries(l.Name, nil, charts.WithLineChartOpts(opts.LineChart{
			Symbol: marker, SymbolSize: 5, ShowSymbol: opts.Bool(false), ConnectNulls: opts.Bool(false),
		}), charts.WithSeriesOpts(func(s *charts.SingleSeries) { s.Data = values }))
	}
	line.Validate()
	option := line.JSON()
	if err := complete(option, g, view, logs, f.Lines); err != nil {
		return nil, fmt.Errorf("chart of %s: %w", f.Step, err)
	}
	return option, nil
}

// complete takes out what go-echarts adds unasked (title, legend, toolbox, its
// palette) and adds what it has no fields for.
func complete(option map[string]any, g grid, view View, ticks []float64, lines []Line) error {
	for _, key := range []string{"title", "legend", "toolbox", "color"} {
		delete(option, key)
	}
	x, okX := option["xAxis"].([]opts.XAxis)
	y, okY := option["yAxis"].([]opts.YAxis)
	all, okS := option["series"].(charts.MultiSeries)
	if !okX || !okY || !okS || len(x) != 1 || len(y) != 1 || len(all) != len(lines) {
		return fmt.Errorf("go-echarts made %T, %T and %T, not one axis each and %d series", option["xAxis"], option["yAxis"], option["series"], len(lines))
	}
	margin := 10
	if view.Large {
		margin = 13
	}
	option["grid"] = g
	option["xAxis"] = xAxis{x[0],
		axisTick{Show: view.Large, Length: 4, LineStyle: &lineStyle{Colour: "--line-2"}},
		axisLabel{Colour: "--ink-3", FontSize: 11, Margin: margin, HideOverlap: true, ShowMinLabel: true, ShowMaxLabel: true}}
	option["yAxis"] = yAxis{y[0],
		axisTick{CustomValues: ticks}, // split lines follow the ticks
		axisLabel{CustomValues: ticks, Colour: "--ink-3", FontSize: 11, Margin: 8, ShowMinLabel: true, ShowMaxLabel: true}}
	option["tooltip"] = tooltip{Trigger: "axis", ShowContent: view.Large, Confine: true, AxisPointer: axisPointer{
		Type: "line", Snap: true, LineStyle: lineStyle{Colour: "--line-3", Width: 1, Type: "solid"},
	}}
	out := make([]series, len(all))
	for i, s := range all {
		style := lineStyle{Colour: lines[i].Style.Colour, Width: 1.5, Type: "solid"}
		if len(lines[i].Style.Dash) > 0 {
			style.Type = lines[i].Style.Dash
		}
		out[i] = series{SingleSeries: s, LineStyle: style, Z: 4 + i, Emphasis: disabled{true}}
	}
	out[0].MarkLine = rules(view)
	option["series"] = out
	return nil
}

// rules are the lines that all charts have: 1.00 and the majors' boundaries.
func rules(view View) *markLine {
	m := &markLine{Silent: true, Symbol: "none", Z: 1}
	for i, major := range view.Majors {
		if i > 0 {
			at := float64(major.At) - 0.5
			m.Data = append(m.Data, markItem{X: &at, LineStyle: lineStyle{Colour: "--line-2", Width: 1, Type: "solid"}})
		}
	}
	one := 0.0 // ln 1
	m.Data = append(m.Data, markItem{Y: &one, LineStyle: lineStyle{Colour: "--ink-2", Width: 1, Type: "solid"}})
	return m
}

// round keeps six decimals: positions, not figures.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// Share moves what the options of all figures have alike (axes, grid, tooltip, the lines of
// the majors) into the view, where it travels once for the page instead of once a chart. A
// single figure stays as it is.
func Share(view *View, figures []Figure) error {
	if len(figures) < 2 {
		return nil
	}
	first := figures[0].Option
	for _, key := range slices.Sorted(maps.Keys(first)) {
		if key == "series" {
			continue
		}
		alike, err := sameInAll(figures, func(f Figure) any { return f.Option[key] })
		if err != nil {
			return err
		}
		if !alike {
			continue
		}
		if view.Option == nil {
			view.Option = map[string]any{}
		}
		view.Option[key] = first[key]
		for i := range figures {
			delete(figures[i].Option, key)
		}
	}
	rules := func(f Figure) any { return f.Option["series"].([]series)[0].MarkLine }
	alike, err := sameInAll(figures, rules)
	if err != nil || !alike {
		return err
	}
	view.Rules = rules(figures[0])
	for i := range figures {
		figures[i].Option["series"].([]series)[0].MarkLine = nil
	}
	return nil
}

func sameInAll(figures []Figure, part func(Figure) any) (bool, error) {
	var want []byte
	for i, f := range figures {
		got, err := json.Marshal(part(f))
		if err != nil {
			return false, err
		}
		if i == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			return false, nil
		}
	}
	return true, nil
}
