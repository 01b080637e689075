package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// What is published must cover, not only the formula that it is made with: of a
// series that never changed the interval of a ratio holds 1.00 in 95 % of all
// cases, with one run a version as with many.
func TestPublishedIntervalsCover(t *testing.T) {
	t.Parallel()
	for _, repeats := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprintf("%d runs", repeats), func(t *testing.T) {
			t.Parallel()
			const trials, versions = 4000, 20
			r := rand.New(rand.NewPCG(7, uint64(repeats)))
			metric, _ := bench.LookupMetric("qps")
			held := 0
			for range trials {
				s := bench.Series{Coordinate: coordinate("fillseq", "gcc"), Metric: metric}
				for v := range versions {
					p := bench.Point{Version: fmt.Sprintf("8.%d.0", v)}
					for range repeats {
						p.Samples = append(p.Samples, bench.Sample{Value: 1e5 * math.Exp(0.02*r.NormFloat64())})
					}
					s.Points = append(s.Points, p)
				}
				l := Compare([]bench.Series{s}, Options{Base: Base{Version: "8.0.0"}}).Lines[0]
				p := l.Points[1+r.IntN(versions-1)]
				if *p.Low <= 1 && 1 <= *p.High {
					held++
				}
			}
			share := float64(held) / trials
			// Three standard errors of the trial about 94 to 96 %.
			if err := 3 * math.Sqrt(0.95*0.05/trials); share < 0.94-err || share > 0.96+err {
				t.Errorf("%.1f %% of the intervals hold the true ratio", 100*share)
			}
			t.Logf("%.1f %%", 100*share)
		})
	}
}
