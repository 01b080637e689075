package compare

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/stats"
)

// samplesOf makes a series of so many versions with one to three samples each,
// which falls by a tenth in the middle.
func samplesOf(seed uint64, versions int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	logs := make([][]float64, versions)
	for i := range logs {
		level := 12.0
		if i >= versions/2 {
			level -= 0.1
		}
		for range 1 + r.IntN(3) {
			logs[i] = append(logs[i], level+0.01*r.NormFloat64())
		}
	}
	return logs
}

func TestCacheSaysWhatStatisticsSay(t *testing.T) {
	t.Parallel()
	var c Cache
	found := 0
	for range 3 {
		for seed := range uint64(50) {
			logs := samplesOf(seed, 5+int(seed))
			if got, want := c.estimate(logs), stats.EstimateNoise(logs); got != want {
				t.Fatalf("noise of series %d: %+v, want %+v", seed, got, want)
			}
			for _, opt := range []stats.Options{{Level: 0.05}, {Level: 0.001}, {Level: 0.05, Resolution: 0.2}} {
				got, want := c.detect(logs, opt), stats.Detect(logs, opt)
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("changes of series %d at %+v (-want +got):\n%s", seed, opt, d)
				}
				found += len(got)
			}
		}
	}
	if len(c.noise.young) != 50 || len(c.changes.young) != 150 || found == 0 {
		t.Errorf("%d and %d entries for 50 series and 3 settings, %d changes", len(c.noise.young), len(c.changes.young), found)
	}
	var none *Cache
	if got, want := none.estimate(samplesOf(1, 9)), stats.EstimateNoise(samplesOf(1, 9)); got != want {
		t.Errorf("without a cache %+v, want %+v", got, want)
	}
}

func TestCacheTellsSeriesApart(t *testing.T) {
	t.Parallel()
	// The same numbers, grouped or ordered differently, or differing in the last bit.
	for _, pair := range [][2][][]float64{
		{{{1, 2}, {3}}, {{1}, {2, 3}}}, {{{1}, {2}}, {{2}, {1}}}, {{{1}, {}}, {{}, {1}}}, {{{1}}, {{1}, {}}}, {{{1}}, {{math.Nextafter(1, 2)}}}, {nil, {{}}},
	} {
		if keyOf(pair[0], 0.05, 0) == keyOf(pair[1], 0.05, 0) {
			t.Errorf("%v and %v have one key", pair[0], pair[1])
		}
	}
	same := [][]float64{{1, 2}, {3}}
	if keyOf(same, 0.05, 0) != keyOf([][]float64{{1, 2}, {3}}, 0.05, 0) {
		t.Error("equal samples have two keys")
	}
	if keyOf(same, 0.05, 0) == keyOf(same, 0.01, 0) || keyOf(same, 0.05, 0) == keyOf(same, 0.05, 0.1) {
		t.Error("settings make no difference")
	}
}

func TestCacheIsBoundedAndKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	var m memory[int]
	asked := keyOf([][]float64{{-1}})
	made := 0
	get := func() int {
		return m.get(asked, func() int { made++; return 7 })
	}
	for i := range 3 * generation {
		m.get(keyOf([][]float64{{float64(i)}}), func() int { return i })
		if i%(generation/2) == 0 && get() != 7 {
			t.Fatal("another value")
		}
	}
	if n := len(m.young) + len(m.old); n > 2*generation {
		t.Errorf("%d entries", n)
	}
	if made != 1 {
		t.Errorf("what was asked for again and again was made %d times", made)
	}
	// What nobody asked for is forgotten.
	m.get(keyOf([][]float64{{0}}), func() int { made++; return 0 })
	if made != 2 {
		t.Error("the first entry is still there")
	}
}

func TestCacheAtOnce(t *testing.T) {
	t.Parallel()
	var c Cache
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for seed := range uint64(20) {
				logs := samplesOf(seed, 8)
				if got, want := c.estimate(logs), stats.EstimateNoise(logs); got != want {
					t.Errorf("series %d: %+v, want %+v", seed, got, want)
				}
			}
		})
	}
	wg.Wait()
}
