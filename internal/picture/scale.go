package picture

import (
	"math"
	"slices"
	"strconv"
)

// window is the part of the scale of relative values that a chart shows.
// Positions are natural logarithms of ratios, so that 1.25 and 0.80 lie equally
// far from 1.00.
type window struct {
	low, high float64
	ticks     []float64
}

// fixedWindow is the window of charts that are to be compared: 0.70 to 1.42.
func fixedWindow(large bool) window {
	half := math.Log(1.42)
	ratios := []float64{0.71, 0.84, 1, 1.19, 1.41}
	if large {
		ratios = []float64{0.71, 0.8, 0.9, 1, 1.11, 1.25, 1.41}
	}
	w := window{low: -half, high: half}
	for _, r := range ratios {
		w.ticks = append(w.ticks, math.Log(r))
	}
	return w
}

// tickSteps are distances between ticks that look round as ratios.
var tickSteps = []float64{1.01, 1.02, 1.05, 1.1, math.Pow(2, 0.25), math.Sqrt2, 2, 4, 10, 100, 1000}

// fitWindow is the smallest window that holds all positions and 1.00.
func fitWindow(positions []float64, large bool) window {
	low, high := 0.0, 0.0
	for _, p := range positions {
		low, high = min(low, p), max(high, p)
	}
	most := 5
	if large {
		most = 8
	}
	for _, ratio := range tickSteps {
		step := math.Log(ratio)
		// A tenth of a step on both sides keeps lines off the edges.
		first, last := int(math.Floor(low/step-0.1)), int(math.Ceil(high/step+0.1))
		if last-first+1 > most {
			continue
		}
		w := window{low: float64(first) * step, high: float64(last) * step}
		for i := first; i <= last; i++ {
			w.ticks = append(w.ticks, float64(i)*step)
		}
		return w
	}
	return window{low, high, []float64{low, 0, high}}
}

// tickText shows a position as a ratio: two decimals, fewer for large ones.
func tickText(position float64) string {
	r := math.Exp(position)
	switch {
	case r >= 1e5 || r < 1e-4:
		return strconv.FormatFloat(r, 'g', 1, 64)
	case r >= 99.5:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case r >= 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case r < 0.0995:
		return strconv.FormatFloat(r, 'f', -int(math.Floor(math.Log10(r))), 64)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// pushApart moves labels that stand side by side as little as it can so that they
// are at least gap apart, and then, where they fit, into the range from low to
// high. Their order stays.
func pushApart(places []float64, gap, low, high float64) []float64 {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case places[a] < places[b]:
			return -1
		case places[a] > places[b]:
			return 1
		}
		return 0
	})
	// Labels that touch form a block around the mean of their places; blocks that
	// touch become one.
	type block struct {
		sum   float64 // of the places that each member asks the block's first to have
		n     int
		first float64
	}
	bound := func(b *block) {
		b.first = b.sum / float64(b.n)
		b.first = max(low, min(b.first, high-gap*float64(b.n-1)))
	}
	var blocks []block
	for _, i := range order {
		b := block{sum: places[i], n: 1}
		bound(&b)
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.first+gap*float64(last.n) <= b.first {
				break
			}
			b.sum = last.sum + b.sum - gap*float64(last.n)*float64(b.n)
			b.n += last.n
			bound(&b)
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	out := make([]float64, len(places))
	at := 0
	for _, b := range blocks {
		for k := range b.n {
			out[order[at]] = b.first + gap*float64(k)
			at++
		}
	}
	return out
}

// labelled chooses the places of an axis that get a label: the first of each
// group, then every one that is at least need places from the last label and from
// the next first.
func labelled(count int, firsts []int, need float64) []int {
	var out []int
	last, next := math.Inf(-1), 0
	for i := range count {
		for next < len(firsts) && firsts[next] <= i {
			next++
		}
		isFirst := next > 0 && firsts[next-1] == i
		room := next == len(firsts) || float64(firsts[next]-i) >= need
		if float64(i)-last >= need && (isFirst || room) {
			out = append(out, i)
			last = float64(i)
		}
	}
	return out
}

// side says on which side of the band of what cannot be told from 1.00 a place
// lies: 0 inside it, or unknown.
type side int

// stretch is a piece of a line of one colour: from and to are shares of the way
// between two points.
type stretch struct {
	from, to float64
	side     side
}

// sideOf gives the side of a position whose interval has a half width, 0 without
// one.
func sideOf(position, half float64, known bool) side {
	switch {
	case !known || math.Abs(position) <= half:
		return 0
	case position > 0:
		return 1
	}
	return -1
}

// stretches cuts the line between two points where it enters or leaves the band,
// whose width may differ at both.
func stretches(a, b datum) []stretch {
	if !a.hasHalf || !b.hasHalf {
		return merged([]stretch{{0, 0.5, a.side()}, {0.5, 1, b.side()}})
	}
	var cuts []float64
	for _, sign := range []float64{1, -1} {
		f, g := a.position-sign*a.half, b.position-sign*b.half
		if f*g < 0 {
			cuts = append(cuts, f/(f-g))
		}
	}
	slices.Sort(cuts)
	var out []stretch
	from := 0.0
	for _, to := range append(cuts, 1) {
		t := (from + to) / 2
		out = append(out, stretch{from, to, sideOf(a.position+t*(b.position-a.position), a.half+t*(b.half-a.half), true)})
		from = to
	}
	return merged(out)
}

func merged(s []stretch) []stretch {
	out := s[:1]
	for _, x := range s[1:] {
		if last := &out[len(out)-1]; last.side == x.side {
			last.to = x.to
		} else {
			out = append(out, x)
		}
	}
	return out
}

// clip cuts the line between two points to a range of positions; ok is false
// where nothing is left.
func clip(x1, p1, x2, p2, low, high float64) (a, b point, ok bool) {
	from, to := 0.0, 1.0
	for _, edge := range [][2]float64{{p1 - low, p2 - low}, {high - p1, high - p2}} {
		switch f, g := edge[0], edge[1]; {
		case f < 0 && g < 0:
			return a, b, false
		case f < 0:
			from = max(from, f/(f-g))
		case g < 0:
			to = min(to, f/(f-g))
		}
	}
	if from > to {
		return a, b, false
	}
	at := func(t float64) point {
		return point{x1 + t*(x2-x1), max(low, min(high, p1+t*(p2-p1)))}
	}
	return at(from), at(to), true
}
