package compare

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"github.com/relqps/relqps/internal/stats"
)

// Cache remembers what statistics say of series, by their samples: noise and
// changes. Finding them takes longer than all else that a comparison does, and
// pages compare the same series again and again. What comes out is the same with
// and without it. The zero value is ready for use, by several goroutines at once;
// a nil cache remembers nothing.
type Cache struct {
	noise   memory[stats.Noise]
	changes memory[[]stats.Change]
}

// estimate gives [stats.EstimateNoise] of samples (ln, by version).
func (c *Cache) estimate(logs [][]float64) stats.Noise {
	if c == nil {
		return stats.EstimateNoise(logs)
	}
	return c.noise.get(keyOf(logs), func() stats.Noise { return stats.EstimateNoise(logs) })
}

// detect gives [stats.Detect] of samples. The caller must not change the result.
func (c *Cache) detect(logs [][]float64, opt stats.Options) []stats.Change {
	if c == nil {
		return stats.Detect(logs, opt)
	}
	return c.changes.get(keyOf(logs, opt.Level, opt.Resolution), func() []stats.Change { return stats.Detect(logs, opt) })
}

// key is the SHA-256 of samples and settings.
type key = [sha256.Size]byte

// keyOf tells samples apart, their numbers and how many each version has, with the
// settings that they are looked at with.
func keyOf(logs [][]float64, settings ...float64) key {
	n := 0
	for _, l := range logs {
		n += len(l)
	}
	text := make([]byte, 0, 8*(len(logs)+n+len(settings)))
	for _, l := range logs {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(l)))
		for _, v := range l {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
	}
	for _, v := range settings {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
	}
	return sha256.Sum256(text)
}

// memory keeps values for a while. They are added to the young ones; when those are
// many they become the old ones, and the old ones are forgotten. What is asked for
// stays.
type memory[V any] struct {
	mu         sync.Mutex
	young, old map[key]V
}

// generation is how many values are young; one takes some hundred bytes.
const generation = 20_000

// get gives the value of a key, found when it is not known.
func (m *memory[V]) get(k key, find func() V) V {
	m.mu.Lock()
	v, known := m.young[k]
	if !known {
		if v, known = m.old[k]; known {
			m.keep(k, v)
		}
	}
	m.mu.Unlock()
	if known {
		return v
	}
	v = find() // without the lock: it takes long, and twice is no harm
	m.mu.Lock()
	m.keep(k, v)
	m.mu.Unlock()
	return v
}

// keep adds a value. The lock is held.
func (m *memory[V]) keep(k key, v V) {
	if m.young == nil || len(m.young) >= generation {
		m.young, m.old = map[key]V{}, m.young
	}
	m.young[k] = v
}
