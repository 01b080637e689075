package stats

import "math"

// shares of the alarm rate by what raises the alarm. Steps with enough versions on both
// sides get most: they are what one looks for, and power there is what the rate buys. The
// bounds of the other kinds hold with room to spare, so that the sum may exceed one;
// docs/statistics.md has the rates that result.
type shares struct {
	step   float64 // at least three to twelve samples on both sides, see newSeries
	near   float64 // three or more versions, but fewer samples than that
	short  float64 // one or two versions, inside or at an end
	newest float64 // the last version alone, in addition to its part of the above
	window float64 // three or more versions out and back
	hidden float64 // any of these among others that hide it, for each number of those
	robust float64 // any of these, against the scatter of neighbours
}

var (
	singleShares = shares{step: 0.86, near: 0.03, short: 0.10, newest: 0.035, window: 0.03, hidden: 0.30, robust: 0.02}
	// With repeats a version stands out by itself, and steps may have more.
	repeatedShares = shares{step: 0.97, near: 0.03, short: 0.07, newest: 0.03, window: 0.03, hidden: 0.30, robust: 0.02}
)

const (
	maxElements = 60 // of one series
	lookAhead   = 6  // elements added before the first of them is judged
)

// kind of an element: which contrasts share a bound.
type kind int

const (
	longStep kind = iota
	nearStep
	fewVersions
	oneVersion
	lastVersion
	window
	kinds
)

// element is a candidate: the versions at positions a to b−1 of a block leave it.
type element struct {
	block, a, b int
	gain        float64 // sum of squares it explains
	samples     float64 // of the smaller side
}

// contrasts returns the logarithm of the number of independent contrasts that a kind
// counts for, divided by its share. That of long steps is an estimate that serves to
// compare candidates, that of windows holds near four standard deviations.
func (s *series) contrasts(k kind) float64 {
	switch k {
	case longStep:
		return s.logSteps
	case nearStep:
		return s.logNear
	case window:
		return s.logWindows
	case lastVersion:
		return s.logLast
	default:
		return s.logShort
	}
}

// df returns the degrees of freedom of the tail of a kind.
func (k kind) df(nu, samples float64) float64 {
	if k == longStep {
		return nu
	}
	return safeDF(nu, samples)
}

// logBound returns the logarithm of a bound on the probability of a square t2 of a
// statistic among all of its kind, divided by the share of that kind: exp(−b²/2) for
// the tail of a Gaussian. It is fast and orders candidates.
func (s *series) logBound(k kind, t2, nu, samples float64) float64 {
	return -gaussianSquare(t2, k.df(nu, samples))/2 + s.contrasts(k)
}

// looseness is how far logBound may exceed logKind: the logarithm of the ratio of
// exp(−b²/2) to the two-sided Gaussian tail at six standard deviations.
const looseness = 2.1

// logKind returns what logBound bounds, exactly, but for long steps, where logScan is the
// exact one.
func (s *series) logKind(k kind, t, nu, samples float64) float64 {
	p := logStudentTail(t, k.df(nu, samples))
	if k == window {
		return p + math.Log(math.Max(windows(gaussianQuantile(p), s.n), 1)/s.share.window)
	}
	return p + s.contrasts(k)
}

// stage is an element of the description as it grows.
type stage struct {
	kind    kind
	logP    float64 // of the element alone, given those before
	gain    float64 // sum of squares it explains
	samples float64 // of its smaller side
	between float64 // sum of squares that is left
	// id is the number of the block that it made of a part of block.
	block, id int
}

// grow adds elements while they are significant and returns the description with the
// logarithm of the probability of the first decision, that an unchanged series shows
// anything like it, and whether one element that is significant alone explains all.
func (s *series) grow(logLevel float64) (m *model, logP float64, alone bool) {
	m = &model{s: s, label: make([]int, s.n)}
	if s.n == 0 {
		return m, 0, false
	}
	sums := make([]float64, 2*(lookAhead+2))
	m.count, m.sum = append(sums[:0:lookAhead+2], s.all), append(sums[lookAhead+2:lookAhead+2], 0)
	for i := range s.mean {
		m.between += s.count[i] * s.mean[i] * s.mean[i]
	}
	sc := newScanner(m)
	path := make([]stage, 0, lookAhead+1)
	limit := min(maxElements, s.n-1)
	extend := func() bool {
		if len(path) >= limit {
			return false
		}
		e, st, ok := sc.choose(logLevel)
		if !ok {
			return false
		}
		sc.apply(e)
		st.between, st.block, st.id = m.between, e.block, len(m.count)-1
		path = append(path, st)
		return true
	}
	global, accepted := 0.0, 0
	for {
		logP := 0.0
		for j := 1; j <= lookAhead; j++ {
			if len(path) < accepted+j && !extend() {
				break
			}
			if j > 1 {
				logP = math.Min(logP, s.logHidden(path[accepted:accepted+j], accepted+1, math.Min(logP, logLevel)))
				continue
			}
			logP = math.Min(logP, path[accepted].logP)
			if logP < logLevel-20 {
				break // nothing to gain from looking further
			}
			if sc.robustOK && path[accepted].gain < notable*sc.robust && logP > logLevel {
				break // what explains most is small even against the scatter of neighbours
			}
		}
		if accepted == 0 {
			global = logP
		}
		if logP > logLevel || accepted >= len(path) {
			break
		}
		accepted++
	}
	if accepted < len(path) {
		// Take back what was added to look ahead, the last first.
		for k := len(path) - 1; k >= accepted; k-- {
			for i, l := range m.label {
				if l == path[k].id {
					m.label[i] = path[k].block
				}
			}
		}
		m.recompute()
	}
	return m, global, accepted == 1 && path[0].logP <= logLevel
}

// logHidden returns the logarithm of the probability that in an unchanged series, when
// these elements are added one by one, one of them becomes as clear as the clearest of
// them here, with all of them in place: one change can hide another, and the search has
// to go past the first that is not significant (compare Rosner, Technometrics 25, 1983,
// for outliers). Adding what fits best makes any statistic larger than its single bound
// allows; by simulation the logarithm l of that bound relates to the logarithm −L of
// the true rate as −l = L + u + w·(L−3), with u and w as below (for Gaussian and t₁₀
// noise, 2 to 6 elements, 9 to 80 versions, rates from 0.05 to 0.0003). Results that
// would not be below enough are not computed: 0.
func (s *series) logHidden(set []stage, blocks int, enough float64) float64 {
	v, nu := s.variance(set[len(set)-1].between, blocks+len(set))
	if nu < 2 {
		return 0
	}
	n := float64(s.n)
	u := hidden[len(set)].offset * math.Min(1, math.Max(0.45, 26/n))
	w := math.Min(hidden[len(set)].slope, 0.033*n)
	rate := func(l float64) float64 { return (l+u-3*w)/(1+w) - math.Log(s.share.hidden) }
	least := 0.0
	for _, st := range set {
		if bound := s.logBound(st.kind, st.gain/v, nu, st.samples) - looseness; bound < least && rate(bound) < enough {
			least = math.Min(least, s.logKind(st.kind, math.Sqrt(st.gain/v), nu, st.samples))
		}
	}
	return math.Min(rate(least), 0)
}

// hidden holds u and w of logHidden by the number of elements j, before they depend on
// the number of versions: (j−1)^1.2 and 0.25·(j−1)^0.8.
var hidden = [lookAhead + 1]struct{ offset, slope float64 }{
	2: {1, 0.25}, 3: {2.30, 0.435}, 4: {3.74, 0.602}, 5: {5.28, 0.758}, 6: {6.90, 0.906},
}

// scanner keeps the best candidate of each kind per block, so that adding an element
// only rescans the blocks it touches.
type scanner struct {
	m      *model
	best   [][kinds]element
	pos    []int
	counts []float64
	sums   []float64
	angles []float64

	robust, robustNu float64 // see robustVariance
	robustOK         bool
}

func newScanner(m *model) *scanner {
	n := m.s.n + 1
	sc := &scanner{m: m, best: make([][kinds]element, 1, 3), pos: make([]int, 0, n), counts: m.s.take(n), sums: m.s.take(n)}
	sc.scan(0)
	sc.robust, sc.robustNu, sc.robustOK = m.s.robustVariance()
	return sc
}

// scan finds the best candidates of a block.
func (sc *scanner) scan(block int) {
	m, s := sc.m, sc.m.s
	sc.pos = sc.pos[:0]
	sc.counts = append(sc.counts[:0], 0)
	sc.sums = append(sc.sums[:0], 0)
	var c, t float64
	for i, l := range m.label {
		if l == block {
			sc.pos = append(sc.pos, i)
			c += s.count[i]
			t += s.count[i] * s.mean[i]
			sc.counts = append(sc.counts, c)
			sc.sums = append(sc.sums, t)
		}
	}
	n := len(sc.pos)
	best := &sc.best[block]
	for k := range best {
		best[k] = element{gain: -1}
	}
	if n < 2 {
		return
	}
	level := t / c
	counts, sums := sc.counts[:n+1], sc.sums[:n+1]
	// A set with sum u and count v explains (u − v·level)²·c/(v·(c − v)).
	for k := 1; k < n; k++ {
		v := counts[k]
		d := sums[k] - v*level
		gain := d * d * c / (v * (c - v))
		kd, samples := longStep, math.Min(v, c-v)
		if !s.long(k, n-k, v, c-v) {
			switch {
			case k == n-1 && sc.pos[k] == s.n-1:
				kd, samples = lastVersion, c-v
			case k == 1:
				kd, samples = oneVersion, v
			case k == n-1:
				kd, samples = oneVersion, c-v
			case k == 2:
				kd, samples = fewVersions, v
			case k == n-2:
				kd, samples = fewVersions, c-v
			default:
				kd = nearStep
			}
		}
		if gain > best[kd].gain {
			best[kd] = element{block: block, a: k, b: n, gain: gain, samples: samples}
		}
	}
	for length := 1; length <= 2; length++ {
		e := &best[oneVersion]
		if length == 2 {
			e = &best[fewVersions]
		}
		for a := 1; a+length < n; a++ {
			v := counts[a+length] - counts[a]
			d := sums[a+length] - sums[a] - v*level
			if gain := d * d * c / (v * (c - v)); gain > e.gain {
				*e = element{block: block, a: a, b: a + length, gain: gain, samples: v}
			}
		}
	}
	// Long windows in a long block need not start at every version: a sixteenth of
	// their length is near enough, and positions are improved later.
	gain, at, end := -1.0, 0, 0
	for length := 3; length <= n-2; {
		stride := 1
		if n > exhaustive {
			stride += length / 16
		}
		for a := 1; a+length < n; a += stride {
			v := counts[a+length] - counts[a]
			d := sums[a+length] - sums[a] - v*level
			// Without a division: d²·c/(v·(c − v)) > gain.
			if d*d*c > gain*(v*(c-v)) {
				gain, at, end = d*d*c/(v*(c-v)), a, a+length
			}
		}
		if length++; n > exhaustive && length > 24 {
			length += length / 12
		}
	}
	if gain > 0 {
		v := counts[end] - counts[at]
		best[window] = element{block: block, a: at, b: end, gain: gain, samples: math.Min(v, c-v)}
	}
}

// choose returns the candidate that chance explains least, with the logarithm of its
// probability: exact where that is below the level. Where it is not, the candidate that
// explains most is returned instead, to see what it hides.
func (sc *scanner) choose(logLevel float64) (element, stage, bool) {
	m, s := sc.m, sc.m.s
	var chosen, most element
	var mostKind kind
	st := stage{logP: math.Inf(1)}
	var t2, nu float64
	for k := range kinds {
		e := sc.best[0][k]
		for b := 1; b < len(sc.best); b++ {
			if sc.best[b][k].gain > e.gain {
				e = sc.best[b][k]
			}
		}
		if e.gain <= 0 {
			continue
		}
		v, df := s.variance(math.Max(m.between-e.gain, 0), len(m.count)+1)
		if df < 1 {
			continue
		}
		if e.gain > most.gain {
			most, mostKind = e, k
		}
		if p := s.logBound(k, e.gain/v, df, e.samples); p < st.logP {
			chosen, t2, nu = e, e.gain/v, df
			st = stage{kind: k, logP: p, gain: e.gain, samples: e.samples}
		}
	}
	if math.IsInf(st.logP, 1) {
		return element{}, stage{}, false
	}
	// The exact value counts for the first element, and near the level.
	if st.logP < logLevel+looseness && (len(m.count) == 1 || st.logP > logLevel-1) {
		if st.kind == longStep {
			st.logP = logScan(math.Sqrt(t2), nu, sc.allAngles()) - math.Log(s.share.step)
		} else {
			st.logP = s.logKind(st.kind, math.Sqrt(t2), nu, st.samples)
		}
	}
	if sc.robustOK && chosen.gain > notable*sc.robust {
		t := math.Sqrt(chosen.gain / sc.robust)
		st.logP = math.Min(st.logP, s.logKind(st.kind, t, safeDF(sc.robustNu, chosen.samples), chosen.samples)-math.Log(s.share.robust))
	}
	if st.logP > logLevel {
		chosen = most
		st.kind, st.gain, st.samples = mostKind, most.gain, most.samples
	}
	return chosen, st, true
}

// notable is the square of a statistic against the scatter of neighbours that is worth a
// second look: three standard deviations.
const notable = 9

// allAngles returns the angles of the long steps of all blocks.
func (sc *scanner) allAngles() []float64 {
	m, s := sc.m, sc.m.s
	if len(m.count) == 1 {
		return s.wholeAngles()
	}
	sc.angles = sc.angles[:0]
	for b := range m.count {
		sc.counts = sc.counts[:0]
		var c float64
		for i, l := range m.label {
			if l == b {
				c += s.count[i]
				sc.counts = append(sc.counts, c)
			}
		}
		sc.angles = s.longAngles(sc.angles, sc.counts)
	}
	return sc.angles
}

// apply moves the versions of an element into a new block.
func (sc *scanner) apply(e element) {
	m, s := sc.m, sc.m.s
	id := len(m.count)
	m.count, m.sum = append(m.count, 0), append(m.sum, 0)
	at := 0
	for i, l := range m.label {
		if l != e.block {
			continue
		}
		if at >= e.a && at < e.b {
			m.label[i] = id
			m.count[id] += s.count[i]
			m.sum[id] += s.count[i] * s.mean[i]
		}
		at++
	}
	m.count[e.block] -= m.count[id]
	m.sum[e.block] -= m.sum[id]
	m.between = math.Max(m.between-e.gain, 0)
	sc.best = append(sc.best, [kinds]element{})
	sc.scan(e.block)
	sc.scan(id)
}
