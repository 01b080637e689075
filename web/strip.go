package web

import (
	"math"

	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// stripDots is how many samples of one set a strip shows at most, evenly chosen.
const stripDots = 40

// stripPlot draws the samples of a row's sets over the median of A, those of A above
// those of B with the interval of B's ratio: on one scale for all rows, so that they
// can be compared. It is drawn here so that it needs no script. A sample outside of
// the scale stands at its edge, and a ratio outside of it is an arrow.
func stripPlot(r *compare.SetRow) view.Strip {
	scale := wideScale
	s := view.Strip{Plot: scale.plot(0, nil, nil, r.Verdict)}
	if r.A.Value <= 0 {
		return s
	}
	at := func(x float64) string {
		return pixels(math.Max(4, math.Min(scale.width-4, scale.at(x/r.A.Value))))
	}
	dots := func(list []float64) (out []string) {
		step := max(1, (len(list)+stripDots-1)/stripDots)
		for i := 0; i < len(list); i += step {
			if list[i] > 0 {
				out = append(out, at(list[i]))
			}
		}
		return out
	}
	s.A, s.B = dots(r.SamplesA), dots(r.SamplesB)
	if r.B.Value > 0 {
		if p := scale.plot(r.B.Value/r.A.Value, nil, nil, r.Verdict); p.Beyond != "" {
			s.B, s.Plot.Beyond, s.Plot.At = nil, p.Beyond, p.At
			return s
		}
	}
	if r.B.Low != nil && r.B.High != nil && *r.B.Low > 0 && *r.B.Low < *r.B.High {
		s.Plot.From, s.Plot.To = at(*r.B.Low*r.A.Value), at(*r.B.High*r.A.Value)
	}
	return s
}
