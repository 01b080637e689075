package compare

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/relqps/relqps/internal/stats"
)

// samplesOf makes a series of so many versions with one to three samples each.
func samplesOf(seed uint64, versions int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	logs := make([][]float64, versions)
	for i := range logs {
		for range 1 + r.IntN(3) {
			logs[i] = append(logs[i], 12+0.01*r.NormFloat64())
		}
	}
	return logs
}

func TestNoiseFromTheCacheIsTheNoise(t *testing.T) {
	t.Parallel()
	var c NoiseCache
	for range 3 {
		for seed := range uint64(50) {
			logs := samplesOf(seed, 5+int(seed))
			if got, want := c.estimate(logs), stats.EstimateNoise(logs); got != want {
				t.Fatalf("series %d: %+v, want %+v", seed, got, want)
			}
		}
	}
	if len(c.young) != 50 {
		t.Errorf("%d entries for 50 series", len(c.young))
	}
	var none *NoiseCache
	if got, want := none.estimate(samplesOf(1, 9)), stats.EstimateNoise(samplesOf(1, 9)); got != want {
		t.Errorf("without a cache %+v, want %+v", got, want)
	}
}

func TestNoiseCacheTellsSeriesApart(t *testing.T) {
	t.Parallel()
	// The same numbers, grouped or ordered differently, or differing in the last bit.
	for _, pair := range [][2][][]float64{
		{{{1, 2}, {3}}, {{1}, {2, 3}}}, {{{1}, {2}}, {{2}, {1}}}, {{{1}, {}}, {{}, {1}}}, {{{1}}, {{1}, {}}}, {{{1}}, {{math.Nextafter(1, 2)}}}, {nil, {{}}},
	} {
		if sampleKey(pair[0]) == sampleKey(pair[1]) {
			t.Errorf("%v and %v have one key", pair[0], pair[1])
		}
	}
	if sampleKey([][]float64{{1, 2}, {3}}) != sampleKey([][]float64{{1, 2}, {3}}) {
		t.Error("equal samples have two keys")
	}
}

func TestNoiseCacheIsBoundedAndKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	var c NoiseCache
	asked := samplesOf(1, 3)
	c.estimate(asked)
	for i := range 3 * noiseEntries {
		c.mu.Lock()
		c.keep(sampleKey([][]float64{{float64(i)}}), stats.Noise{})
		c.mu.Unlock()
		if i%(noiseEntries/2) == 0 {
			c.estimate(asked)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*noiseEntries {
		t.Errorf("%d entries", n)
	}
	_, young := c.young[sampleKey(asked)]
	_, old := c.old[sampleKey(asked)]
	if !young && !old {
		t.Error("what was asked for again and again is forgotten")
	}
}

func TestNoiseCacheAtOnce(t *testing.T) {
	t.Parallel()
	var c NoiseCache
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for seed := range uint64(20) {
				if got, want := c.estimate(samplesOf(seed, 8)), stats.EstimateNoise(samplesOf(seed, 8)); got != want {
					t.Errorf("series %d: %+v, want %+v", seed, got, want)
				}
			}
		})
	}
	wg.Wait()
}
