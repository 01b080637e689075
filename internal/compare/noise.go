package compare

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"github.com/relqps/relqps/internal/stats"
)

// NoiseCache remembers the noise of series by their samples: estimating it looks
// for changes first, which takes longer than all else that a comparison does, and
// pages compare the same series again and again. The zero value is ready for use,
// by several goroutines at once. A nil cache remembers nothing.
type NoiseCache struct {
	mu sync.Mutex
	// Entries are added to the young ones; when those are many they become the old
	// ones and the old ones are forgotten. What is asked for stays.
	young, old map[[sha256.Size]byte]stats.Noise
}

// noiseEntries is the size of a generation; an entry takes about a hundred bytes.
const noiseEntries = 20_000

// estimate gives [stats.EstimateNoise] of the samples (ln, by version).
func (c *NoiseCache) estimate(logs [][]float64) stats.Noise {
	if c == nil {
		return stats.EstimateNoise(logs)
	}
	key := sampleKey(logs)
	c.mu.Lock()
	noise, known := c.young[key]
	if !known {
		if noise, known = c.old[key]; known {
			c.keep(key, noise)
		}
	}
	c.mu.Unlock()
	if known {
		return noise
	}
	noise = stats.EstimateNoise(logs)
	c.mu.Lock()
	c.keep(key, noise)
	c.mu.Unlock()
	return noise
}

// keep adds an entry. The lock is held.
func (c *NoiseCache) keep(key [sha256.Size]byte, noise stats.Noise) {
	if c.young == nil || len(c.young) >= noiseEntries {
		c.young, c.old = map[[sha256.Size]byte]stats.Noise{}, c.young
	}
	c.young[key] = noise
}

// sampleKey tells samples apart: their numbers and how many each version has.
func sampleKey(logs [][]float64) [sha256.Size]byte {
	n := 0
	for _, l := range logs {
		n += len(l)
	}
	text := make([]byte, 0, 8*(len(logs)+n))
	for _, l := range logs {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(l)))
		for _, v := range l {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
	}
	return sha256.Sum256(text)
}
