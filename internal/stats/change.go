package stats

import "math"

// place is a change as the runs it separates.
type place struct {
	shape          string
	before, middle run // middle is the spike, or what follows a step
	back           int
	beforeBlock    int
	afterBlock     int // of what follows a spike
}

// places reads steps and spikes off the runs.
func (m *model) places() []place {
	rs := m.runs()
	var ps []place
	if len(rs) < 2 {
		return nil
	}
	prev := rs[0] // the last run that is no spike
	for i := 1; i < len(rs); i++ {
		r := rs[i]
		if next, ok := m.spike(prev, rs[i:]); ok {
			ps = append(ps, place{shape: Spike, before: prev, middle: r, back: r.last + 1, beforeBlock: prev.block, afterBlock: next.block})
			continue
		}
		if r.block != prev.block {
			shape := Step
			if r.first == m.s.n-1 {
				shape = Newest
			}
			ps = append(ps, place{shape: shape, before: prev, middle: r, back: -1, beforeBlock: prev.block, afterBlock: r.block})
		}
		prev = r
	}
	return ps
}

// spike says whether the first of the runs rs, which follow prev, is one or two
// versions out and back, and to which run. It is back where the level after it is
// nearer to the one before than half way; a second spike may lie between.
func (m *model) spike(prev run, rs []run) (run, bool) {
	r := rs[0]
	if r.length() > 2 || r.block == prev.block {
		return run{}, false
	}
	for _, next := range rs[1:min(len(rs), 3)] {
		if next.first-r.last > 3 {
			break
		}
		if next.block == prev.block {
			return next, true
		}
		w, p, q := m.level(r.block), m.level(prev.block), m.level(next.block)
		if (w-p)*(w-q) > 0 && math.Abs(q-p) < math.Min(math.Abs(w-p), math.Abs(w-q))/2 {
			return next, true
		}
		if next.length() > 2 {
			break
		}
	}
	return run{}, false
}

// prune tests each change with the others in place, merges the blocks of the least
// significant one while it fails, and returns those that hold. The noise stays that of
// the full description: small changes that are real but cannot be shown would
// otherwise, merged one after the other, hide larger ones.
func (m *model) prune(logLevel, global float64) []Change {
	if global > logLevel {
		return nil
	}
	for {
		ps := m.places()
		worst, worstP := -1, logLevel
		logPs, here := make([]float64, len(ps)), make([]float64, len(ps))
		for i, p := range ps {
			var partial float64
			partial, here[i] = m.logPartial(p)
			logPs[i] = math.Max(partial, global)
			if logPs[i] > worstP {
				worst, worstP = i, logPs[i]
			}
		}
		if worst < 0 {
			changes := make([]Change, len(ps))
			for i, p := range ps {
				changes[i] = m.change(p, logPs[i], here[i])
			}
			return changes
		}
		m.merge(ps[worst])
		m.refine()
	}
}

func (m *model) merge(p place) {
	if p.shape == Spike {
		to := p.beforeBlock
		if w := m.level(p.middle.block); math.Abs(m.level(p.afterBlock)-w) < math.Abs(m.level(to)-w) {
			to = p.afterBlock
		}
		for i := p.middle.first; i <= p.middle.last; i++ {
			m.label[i] = to
		}
	} else {
		for i, l := range m.label {
			if l == p.afterBlock {
				m.label[i] = p.beforeBlock
			}
		}
	}
	m.recompute()
}

// noiseOf returns the variance of a sample of a block and its degrees of freedom: that
// of the whole series, or its own where the block scatters significantly more than the
// rest (F test at 1 %); own says which.
func (m *model) noiseOf(block int) (v, nu float64, own bool) {
	s := m.s
	if s.known.OK || m.blocks() < 2 {
		return m.v, m.nu, false
	}
	var inside, members float64
	for i, l := range m.label {
		if l == block {
			d := s.mean[i] - m.level(l)
			inside += s.count[i] * d * d
			members++
		}
	}
	free, rest := members-1, float64(s.n)-members-float64(m.blocks()-1)
	if free < 5 || rest < 2 || inside/free <= m.v { // fewer say too little of their noise
		return m.v, m.nu, false
	}
	f := (inside / free) / math.Max(math.Max(m.between-inside, 0)/rest, s.floor)
	if logBetaTail(rest/(rest+free*f), rest/2, free/2) < math.Log(0.01) {
		return inside / free, free, true
	}
	return m.v, m.nu, false
}

// standardError returns that of the difference of the levels of two blocks and its
// degrees of freedom, by Welch and Satterthwaite where the noise of the two differs
// (Welch, Biometrika 34, 1947). A spike y has the noise of the block x that it leaves.
func (m *model) standardError(x, y int, spike bool) (se, nu float64) {
	vx, nx, ownX := m.noiseOf(x)
	vy, ny, ownY := m.noiseOf(y)
	if spike {
		vy, ny, ownY = vx, nx, ownX
	}
	vx, vy = vx/m.count[x], vy/m.count[y]
	nu = m.nu
	if ownX || ownY {
		nu = (vx + vy) * (vx + vy) / (vx*vx/nx + vy*vy/ny)
	}
	return math.Sqrt(vx + vy), nu
}

// statistic returns t of the contrast of two blocks and its degrees of freedom.
func (m *model) statistic(x, y int, spike bool) (t, nu float64) {
	se, nu := m.standardError(x, y, spike)
	return math.Abs(m.level(x)-m.level(y)) / se, nu
}

func (m *model) versions(block int) int {
	n := 0
	for _, l := range m.label {
		if l == block {
			n++
		}
	}
	return n
}

// logPartial returns the logarithm of the probability of a change given the others, and
// of the share of it that falls on this very version.
func (m *model) logPartial(p place) (logP, here float64) {
	s := m.s
	x, y := p.beforeBlock, p.afterBlock
	if p.shape == Spike {
		w := p.middle.block
		t, nu := m.statistic(x, w, true)
		if y != x {
			if t2, nu2 := m.statistic(y, w, true); t2 < t {
				t, nu = t2, nu2
			}
		}
		return s.logOfKind(fewVersions, t, nu, m.count[w])
	}
	t, nu := m.statistic(x, y, false)
	vx, vy := m.versions(x), m.versions(y)
	cx, cy := m.count[x], m.count[y]
	samples := cx
	if vy < vx {
		samples = cy
	}
	switch {
	case p.shape == Newest:
		return s.logOfKind(lastVersion, t, nu, cy)
	case min(vx, vy) < 3:
		return s.logOfKind(fewVersions, t, nu, samples)
	case !s.long(vx, vy, cx, cy):
		return s.logOfKind(nearStep, t, nu, samples)
	case m.encloses(x, y) || m.encloses(y, x):
		return s.logOfKind(window, t, nu, samples)
	default:
		logP = math.Min(logScan(t, nu, s.wholeAngles())-math.Log(s.share.step), 0)
		return logP, math.Min(logStudentTail(t, nu)-math.Log(s.share.step)-logP, 0)
	}
}

// logOfKind is logKind with the share that falls on one version: three contrasts of one
// or two versions touch it, one step, two borders of windows among n.
func (s *series) logOfKind(k kind, t, nu, samples float64) (logP, here float64) {
	logP = math.Min(s.logKind(k, t, nu, samples), 0)
	switch k {
	case fewVersions, oneVersion:
		here = math.Log(3 / math.Max(s.short, 3))
	case nearStep:
		here = -math.Log(math.Max(s.near, 1))
	case window:
		here = math.Log(2 / math.Max(float64(s.n), 2))
	}
	return logP, here
}

// encloses says whether block x continues on both sides of block y.
func (m *model) encloses(x, y int) bool {
	before, inside := false, false
	for _, l := range m.label {
		switch {
		case l == x && inside:
			return true
		case l == x:
			before = true
		case l == y && before:
			inside = true
		}
	}
	return false
}

func (m *model) change(p place, logP, here float64) Change {
	s := m.s
	x, y := p.beforeBlock, p.middle.block
	se, nu := m.standardError(x, y, p.shape == Spike)
	effect := m.level(y) - m.level(x)
	if nu != m.quantileNu {
		m.quantile, m.quantileNu = studentQuantile(0.95, nu), nu
	}
	half := m.quantile * se
	c := Change{
		Shape: p.shape, From: p.before.last, To: p.middle.first, Back: p.back,
		Effect: effect, Low: effect - half, High: effect + half,
		Neighbours: s.mean[p.middle.first] - s.mean[p.before.last],
		P:          math.Exp(logP),
		PHere:      math.Exp(logP + here),
		Before:     m.segment(p.before, p.before.last),
		After:      m.segment(p.middle, m.s.n-1),
	}
	if p.shape == Spike {
		c.After = m.segment(p.middle, p.middle.last)
	}
	c.OneRun = math.Min(m.count[x], m.count[y]) == 1
	return c
}

// segment returns the stretch of the block of a run up to the version last, spikes of
// up to two versions inside it left out.
func (m *model) segment(r run, last int) Segment {
	first, end := r.first, r.last
	for i := first - 1; i >= 0 && first-i <= 3; i-- {
		if m.label[i] == r.block {
			first = i
		}
	}
	for i := end + 1; i <= last && i-end <= 3; i++ {
		if m.label[i] == r.block {
			end = i
		}
	}
	var n float64
	for i := first; i <= end; i++ {
		if m.label[i] == r.block {
			n += m.s.count[i]
		}
	}
	return Segment{First: first, Last: end, Level: m.s.centre + m.level(r.block), N: int(n)}
}
