package web

import (
	"math"

	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// plotScale places ratios on the scale of interval plots, log-symmetric around
// 1.00.
type plotScale struct {
	width, one, perLog float64
	rules              []float64 // ratios with a rule
	labels             []float64 // ratios with a label
}

// The scales of interval plots: wide for tables of one plot a row, narrow beside
// other columns.
var (
	wideScale   = plotScale{width: 248, one: 125.5, perLog: 302, rules: []float64{0.8, 0.9, 1 / 0.9, 1.25}, labels: []float64{0.8, 1, 1.25}}
	narrowScale = plotScale{width: 112, one: 56, perLog: 128, rules: []float64{0.8, 1.25}, labels: []float64{0.8, 1, 1.25}}
)

func (s plotScale) at(ratio float64) float64 { return s.one + s.perLog*math.Log(ratio) }

// axis gives the labelled scale.
func (s plotScale) axis() view.Axis {
	a := view.Axis{Width: pixels(s.width)}
	for _, r := range s.labels {
		a.Ticks = append(a.Ticks, view.AxisTick{X: pixels(s.at(r)), Label: compare.FormatRatio(r, nil, nil), One: r == 1})
	}
	return a
}

// plot draws a ratio with its interval; low and high may be nil.
func (s plotScale) plot(ratio float64, low, high *float64, v compare.Verdict) view.Plot {
	p := view.Plot{Width: pixels(s.width), One: pixels(s.one), Colour: verdictToken(v), Hollow: v != compare.Better && v != compare.Worse && v != compare.Moved}
	for _, r := range s.rules {
		p.Lines = append(p.Lines, pixels(s.at(r)))
	}
	if ratio <= 0 {
		return p
	}
	edge := func(x float64) float64 { return math.Max(0, math.Min(s.width, x)) }
	x := s.at(ratio)
	switch {
	case x < 4:
		p.Beyond, p.At = "left", pixels(0)
	case x > s.width-4:
		p.Beyond, p.At = "right", pixels(s.width-8)
	default:
		p.At = pixels(x)
	}
	if low != nil && high != nil && *low > 0 && *low < *high && p.Beyond == "" {
		p.From, p.To = pixels(edge(s.at(*low))), pixels(edge(s.at(*high)))
	}
	return p
}

// verdictToken names the colour of a verdict's marks.
func verdictToken(v compare.Verdict) string {
	switch v {
	case compare.Better:
		return "--better"
	case compare.Worse:
		return "--worse"
	case compare.Moved:
		return "--ink"
	}
	return "--undecided"
}
