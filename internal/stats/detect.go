package stats

import "math"

// The shapes of a change.
const (
	Step   = "step"   // lasting
	Spike  = "spike"  // one or two versions out and back
	Newest = "newest" // the last version only, nothing after it yet
)

// Options of [Detect]. The zero value is ready to use.
type Options struct {
	// Level is the largest P of a change that is returned; 0 means 0.05. Changes are
	// found once with a generous level and stored; readers then filter by P.
	Level float64
	// MinEffect is the least |Effect|, in ln units, of a change that is returned.
	MinEffect float64
	// Resolution of the values in ln units (unit of the last digit divided by the
	// value). Noise is never taken below Resolution/√12.
	Resolution float64
	// Noise, where it is known from elsewhere (runs of one build against itself), is
	// used instead of what the series shows of it. Noise that is not OK is ignored;
	// DF may be +Inf.
	Noise Noise
}

// Segment is a range of versions without a change, spikes left out.
type Segment struct {
	First, Last int     // versions, both inside
	Level       float64 // mean of all samples, ln
	N           int     // samples
}

// Change is a place where a series moves. Versions are counted among those that have
// samples: 0 is the first measured one.
type Change struct {
	Shape string // Step, Spike or Newest
	// From is the last version before the change, To the first of it; Back is the
	// first version after a spike, −1 for the other shapes. They are neighbours but
	// where a spike lies between (a step from 8.5 to 8.7 across the spike of 8.6).
	From, To, Back int
	// Effect is the logarithm of the ratio of the levels after and before; for a spike
	// of the spike to what was before. Low and High bound it: a 95 % interval that
	// carries the noise of both levels.
	Effect, Low, High float64
	// Neighbours is the logarithm of the ratio of To to From, those two versions alone.
	Neighbours float64
	// P is the probability that an unchanged series of this length and these samples
	// shows any change as clear as this one. It is calibrated for Gaussian noise and
	// for t with ten degrees of freedom.
	P float64
	// PHere is the probability that an unchanged series shows such a change at this very
	// version: what belongs into the table of one version, where P belongs into a list
	// over all versions.
	PHere float64
	// Before and After are the levels that Effect compares; After is the spike itself
	// where Shape is Spike.
	Before, After Segment
	// OneRun says that the change rests on a single sample: one bad run would look the
	// same. Repeats, other workloads and other servers tell.
	OneRun bool
}

// Analysis is what [Analyse] finds in a series.
type Analysis struct {
	Noise   Noise
	Changes []Change  // in version order
	Levels  []float64 // per measured version: the level of its segment, ln
}

// Detect returns the changes of a series in version order: see [Analyse].
func Detect(points [][]float64, opt Options) []Change {
	_, _, changes := analyse(points, &opt)
	return changes
}

// Analyse finds the changes of a series and its noise.
//
// A series is described by blocks of versions that share a level. Starting with one
// block, the element that explains most is added: a step that splits a block, or a
// window that leaves it (one or two versions: a spike, more: out and back). Noise is
// what the description leaves unexplained, so that the test of a single change is the
// generalised likelihood ratio test with unknown noise (Worsley, JASA 74, 1979; James,
// James & Siegmund, Biometrika 74, 1987); extra scatter between versions beyond that
// of repeats is noticed and then counts as noise. Elements are added while one, or
// the next few together (one change can hide another), are significant among all that
// could have been found; then positions are improved, each change is tested again
// with the others in place, and those that fail are merged. The probability of an
// alarm is shared among the kinds of elements by the weights below.
func Analyse(points [][]float64, opt Options) Analysis {
	s, m, changes := analyse(points, &opt)
	a := Analysis{Noise: s.noise(m.label), Changes: changes, Levels: make([]float64, s.n)}
	for i, l := range m.label {
		a.Levels[i] = s.centre + m.level(l)
	}
	return a
}

func analyse(points [][]float64, opt *Options) (*series, *model, []Change) {
	if opt.Level <= 0 || opt.Level > 1 {
		opt.Level = 0.05
	}
	logLevel := math.Log(opt.Level)
	s := newSeries(points, opt)
	m, global, alone := s.grow(logLevel)
	if global > logLevel {
		return s, m, nil
	}
	if alone {
		m = m.separate()
	} else {
		m = m.partition()
	}
	m.refine()
	m.v, m.nu = s.variance(m.between, m.blocks())
	var changes []Change
	for _, c := range m.prune(logLevel, global) {
		if math.Abs(c.Effect) >= opt.MinEffect {
			changes = append(changes, c)
		}
	}
	return s, m, changes
}
