package stats

import "math"

// model is a series with a block number for each version.
type model struct {
	s       *series
	label   []int
	count   []float64 // samples per block
	sum     []float64 // sum of samples per block
	between float64   // sum of squares of version means around block levels
	v, nu   float64   // variance of a sample that tests use, and its degrees of freedom

	quantile, quantileNu float64 // of 95 %, the last one computed
}

func (m *model) level(block int) float64 { return m.sum[block] / m.count[block] }

// blocks counts the blocks in use; merging leaves empty ones.
func (m *model) blocks() int {
	n := 0
	for _, c := range m.count {
		if c > 0 {
			n++
		}
	}
	return n
}

func (m *model) recompute() {
	for i := range m.count {
		m.count[i], m.sum[i] = 0, 0
	}
	s := m.s
	for i, l := range m.label {
		m.count[l] += s.count[i]
		m.sum[l] += s.count[i] * s.mean[i]
	}
	m.between = 0
	for i, l := range m.label {
		d := s.mean[i] - m.sum[l]/m.count[l]
		m.between += s.count[i] * d * d
	}
}

// refine moves the borders between neighbouring versions of different blocks while
// that explains more: each element was placed before the later ones were known.
func (m *model) refine() {
	s := m.s
	try := func(i, to int) bool {
		from := m.label[i]
		c := s.count[i]
		if m.count[from]-c < 0.5 {
			return false
		}
		df, dt := s.mean[i]-m.level(from), s.mean[i]-m.level(to)
		change := c*dt*dt*m.count[to]/(m.count[to]+c) - c*df*df*m.count[from]/(m.count[from]-c)
		if change > -1e-12*(m.between+s.within+s.floor) {
			return false
		}
		m.label[i] = to
		m.count[from] -= c
		m.sum[from] -= c * s.mean[i]
		m.count[to] += c
		m.sum[to] += c * s.mean[i]
		return true
	}
	for range 100 {
		moved := false
		for i := 0; i+1 < s.n; i++ {
			if x, y := m.label[i], m.label[i+1]; x != y {
				moved = try(i, y) || try(i+1, x) || moved
			}
		}
		if !moved {
			break
		}
	}
	m.recompute()
}

// run is a range of neighbouring versions of one block.
type run struct{ first, last, block int }

func (r run) length() int { return r.last - r.first + 1 }

func (m *model) runs() []run {
	var rs []run
	for i, l := range m.label {
		if len(rs) > 0 && rs[len(rs)-1].block == l {
			rs[len(rs)-1].last = i
		} else {
			rs = append(rs, run{i, i, l})
		}
	}
	return rs
}

// partition returns the best description by contiguous segments, each with its own
// level, where it is better than m: elements added one by one can hide later ones when
// a series has many changes. All segmentations are searched (dynamic programming:
// Bellman, Commun. ACM 4, 1961; Auger & Lawrence, Bull. Math. Biol. 51, 1989); their
// number is the one with the least N·ln(RSS/N) plus a penalty: each further border has to
// explain what the best of all borders explains by chance once in twenty unchanged
// series. Each change has to pass its own test afterwards.
func (m *model) partition() *model {
	s := m.s
	samples, within := s.all, s.within
	if v, nu := s.variance(m.between, m.blocks()); nu == float64(s.n-m.blocks()) && v > 0 {
		samples, within = float64(s.n), 0
	}
	cost := func(between float64) float64 {
		return samples * math.Log(math.Max((between+within)/samples, s.floor))
	}
	// 5 % among the positions of a step, as a Gaussian quantile.
	b := gaussianQuantile(math.Log(0.05) - s.logSteps)
	penalty := make([]float64, 1, 16) // of 0, 1 … further borders
	price := func(borders int) float64 {
		for k := len(penalty); k <= borders; k++ {
			nu := math.Max(samples-float64(k)-1, 1)
			penalty = append(penalty, penalty[k-1]+samples*math.Log1p(studentSquare(b, nu)/nu))
		}
		return penalty[borders]
	}
	ends := m.candidates()
	n := len(ends)
	count, sum := make([]float64, n+1), make([]float64, n+1)
	square := make([]float64, n+1)
	at := 0
	for j, end := range ends {
		count[j+1], sum[j+1], square[j+1] = count[j], sum[j], square[j]
		for ; at <= end; at++ {
			c, y := s.count[at], s.mean[at]
			count[j+1] += c
			sum[j+1] += c * y
			square[j+1] += c * y * y
		}
	}
	rss := func(i, j int) float64 {
		u := sum[j] - sum[i]
		return square[j] - square[i] - u*u/(count[j]-count[i])
	}
	most := min(maxElements, n, s.n-2)
	last := make([]float64, n+1) // least sum of squares of the first j in the current number of segments
	next := make([]float64, n+1)
	from := make([][]int32, 2, 8) // per number of segments: where the last one starts
	for j := 1; j <= n; j++ {
		last[j] = rss(0, j)
	}
	best, bestCost := 1, cost(math.Max(last[n], 0))
	for k := 2; k <= most && k <= best+5; k++ {
		from = append(from, make([]int32, n+1))
		for j := k; j <= n; j++ {
			least, where := math.Inf(1), 0
			for i := k - 1; i < j; i++ {
				if v := last[i] + rss(i, j); v < least {
					least, where = v, i
				}
			}
			next[j] = least
			from[k][j] = int32(where)
		}
		last, next = next, last
		if c := cost(math.Max(last[n], 0)) + price(k-1); c < bestCost {
			best, bestCost = k, c
		}
	}
	if best == 1 || cost(m.between)+price(m.breaks()) <= bestCost {
		return m.separate()
	}
	d := &model{s: s, label: make([]int, s.n), count: make([]float64, best), sum: make([]float64, best)}
	j := n
	for k := best; k >= 1; k-- {
		i := 0
		if k > 1 {
			i = int(from[k][j])
		}
		first := 0
		if i > 0 {
			first = ends[i-1] + 1
		}
		for v := first; v <= ends[j-1]; v++ {
			d.label[v] = k - 1
		}
		j = i
	}
	d.recompute()
	return d
}

// exhaustive is the number of versions up to which every border is a candidate.
const exhaustive = 100

// candidates returns the versions that may end a segment: all of them, but in a long
// series those where the description changes and their neighbours, and a grid.
func (m *model) candidates() []int {
	n := m.s.n
	var ends []int
	if n <= exhaustive {
		ends = make([]int, n)
		for i := range ends {
			ends[i] = i
		}
		return ends
	}
	keep := make([]bool, n)
	for i := 0; i+1 < n; i++ {
		if m.label[i] != m.label[i+1] {
			keep[max(i-1, 0)], keep[i], keep[i+1] = true, true, true
		}
	}
	for i := n / 50; i < n; i += n / 50 {
		keep[i] = true
	}
	keep[n-1] = true
	for i, k := range keep {
		if k {
			ends = append(ends, i)
		}
	}
	return ends
}

// breaks counts the borders of a description, those of a spike once.
func (m *model) breaks() int {
	n := 0
	rs := m.runs()
	for i := 1; i < len(rs); i++ {
		n++
		if rs[i].length() <= 2 && i+1 < len(rs) && rs[i+1].block == rs[i-1].block {
			i++
		}
	}
	return n
}

// separate gives the parts of a block on the two sides of a gap of three or more
// versions blocks of their own where their levels disagree (t test at 5 %).
func (m *model) separate() *model {
	rs := m.runs()
	for i := range rs {
		for j := i + 1; j < len(rs); j++ {
			a, b := rs[i], rs[j]
			if a.block != b.block {
				continue
			}
			if b.first-a.last <= 3 {
				break
			}
			// Everything of the block from b on against what is before.
			var ca, sa, cb, sb float64
			for v, l := range m.label {
				if l != a.block {
					continue
				}
				if v < b.first {
					ca += m.s.count[v]
					sa += m.s.count[v] * m.s.mean[v]
				} else {
					cb += m.s.count[v]
					sb += m.s.count[v] * m.s.mean[v]
				}
			}
			v, nu := m.s.variance(m.between, m.blocks())
			if t := math.Abs(sa/ca-sb/cb) / math.Sqrt(v*(1/ca+1/cb)); nu >= 1 && logStudentTail(t, nu) < math.Log(0.05) {
				id := len(m.count)
				m.count, m.sum = append(m.count, 0), append(m.sum, 0)
				for v := b.first; v < m.s.n; v++ {
					if m.label[v] == a.block {
						m.label[v] = id
					}
				}
				m.recompute()
				return m.separate()
			}
			break
		}
	}
	return m
}
