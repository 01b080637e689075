package picture

import (
	"math"
	"slices"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// Sizes of the parts of charts, in units.
const (
	labelSize   = 11.0
	smallRight  = 38.0 // beside a small plot, for the value at a line's end
	largeRight  = 52.0
	plotLeft    = 38.0 // for the labels of ratios
	smallTop    = 12.0
	smallBottom = 25.0
	largeTop    = 24.0 // for the names of majors
	noteTop     = 22.0 // more, for ringed numbers
	largeBottom = 32.0
	symbolRoom  = 9.0 // per version, from which small charts have symbols
	keyRoom     = 9.0 // of a marker before a value that stands for a name
)

// mark is a [Mark] with its place.
type mark struct {
	kind  MarkKind
	at    float64 // index of a version, or half way between two
	label string
}

// drawing is a chart on its way to a canvas.
type drawing struct {
	chart
	cv       canvas
	r        *ruler
	t        theme
	metric   bench.Metric
	base     compare.Base
	versions []string
	majors   []major
	large    bool
	view     window

	left, top, right, bottom float64 // of the plot
	room                     float64 // to the right of it
	named                    bool    // there is room for names at the lines' ends
}

// looks says what a chart shows, for the legend.
type looks struct {
	band, hollow, several, outside, flagged, joint bool
	up, down, note                                 bool
	verdicts                                       map[compare.Verdict]bool
}

func (d *drawing) perVersion() float64 {
	return (d.right - d.left) / float64(max(1, len(d.versions)))
}

// x gives the place of an index of a version.
func (d *drawing) x(at float64) float64 { return d.left + (at+0.5)*d.perVersion() }

// y gives the place of a position, at the edge of the plot for those outside.
func (d *drawing) y(position float64) float64 {
	position = max(d.view.low, min(d.view.high, position))
	return d.top + (d.view.high-position)/(d.view.high-d.view.low)*(d.bottom-d.top)
}

// inside reports whether a datum lies in the window.
func (d *drawing) inside(p datum) bool {
	return !p.zero && p.position >= d.view.low && p.position <= d.view.high
}

func (d *drawing) single() bool { return len(d.lines) == 1 }

// colourOf gives the colour of a line's mark at a datum.
func (d *drawing) colourOf(l line, v compare.Verdict) colour {
	if d.single() {
		return d.t.verdictMark(v)
	}
	return d.t.builds[l.style.hue]
}

func (d *drawing) inkOf(l line, v compare.Verdict) colour {
	if d.single() {
		return d.t.verdictInk(v)
	}
	return d.t.builds[l.style.hue]
}

// draw draws the chart into its plot: what lies behind first.
func (d *drawing) draw() {
	if !slices.ContainsFunc(d.lines, func(l line) bool { return len(l.data) > 0 }) {
		d.nothing()
		return
	}
	d.cv.open("axes", "")
	d.band()
	d.axes()
	d.cv.close()
	d.marksBehind()
	ends := make([]endLabel, 0, len(d.lines))
	for _, l := range d.lines {
		d.cv.open("line", l.name)
		d.intervals(l)
		d.strokes(l)
		d.points(l)
		d.cv.close()
		if e, ok := d.endOf(l); ok {
			ends = append(ends, e)
		}
	}
	d.marksAbove()
	d.outside()
	d.ends(ends)
}

// nothing says in words why there is no chart.
func (d *drawing) nothing() {
	d.cv.open("empty", "")
	hairline(d.cv, d.left, d.bottom, d.right, d.bottom, d.t.line2)
	words := standing(d.lines[0], d.base, d.t)
	size := labelSize
	if d.large {
		size = 13
	}
	d.cv.text(point{(d.left + d.right) / 2, (d.top + d.bottom) / 2}, middle, size, d.r.fitRuns(words, size, d.right-d.left)...)
	d.cv.close()
}

// band fills what cannot be told from 1.00: of the only line as wide as each
// point's interval, of several the widest.
func (d *drawing) band() {
	type area struct{ from, to, half float64 }
	var areas []area
	last := float64(len(d.versions)) - 0.5
	if d.single() {
		for _, p := range d.lines[0].data {
			// Versions that were not measured, and the base itself, continue what is
			// around them.
			if p.half <= 0 {
				continue
			}
			to := float64(p.at) + 0.5
			if n := len(areas); n > 0 && math.Abs(areas[n-1].half-p.half) < 1e-9 {
				areas[n-1].to = to
			} else if n > 0 {
				areas = append(areas, area{areas[n-1].to, to, p.half})
			} else {
				areas = append(areas, area{-0.5, to, p.half})
			}
		}
		if n := len(areas); n > 0 {
			areas[n-1].to = last
		}
	} else {
		half := 0.0
		for _, l := range d.lines {
			for _, p := range l.data {
				half = max(half, p.half)
			}
		}
		if half > 0 {
			areas = append(areas, area{-0.5, last, half})
		}
	}
	for _, a := range areas {
		top, bottom := d.y(a.half), d.y(-a.half)
		d.cv.rect(d.x(a.from), top, d.x(a.to)-d.x(a.from), bottom-top, d.t.band)
	}
}

// axes draws the rules of ratios, versions and majors with their labels.
func (d *drawing) axes() {
	gap := 8.0
	for _, tick := range d.view.ticks {
		y := d.y(tick)
		hairline(d.cv, d.left, y, d.right, y, d.t.line)
		d.cv.text(point{d.left - gap, y + 4}, end, labelSize, say(tickText(tick), d.t.ink3))
	}
	for i, m := range d.majors {
		if i > 0 {
			x := d.x(float64(m.from) - 0.5)
			hairline(d.cv, x, d.top, x, d.bottom, d.t.line2)
		}
		if room := d.perVersion() * float64(m.to-m.from); d.large && room > 26 {
			name := d.r.fit(m.name, 12, true, room-8)
			d.cv.text(point{d.x(float64(m.from)-0.5) + 4, d.top - 7}, start, 12, strong(name, d.t.ink2))
		}
	}
	for _, at := range d.joints() {
		x := d.x(at)
		hairline(d.cv, x, d.top, x, d.bottom, d.t.ink2, 1, 3)
	}
	hairline(d.cv, d.left, d.y(0), d.right, d.y(0), d.t.ink2)
	hairline(d.cv, d.left, d.bottom, d.right, d.bottom, d.t.line2)

	if !d.large && len(d.majors) > 1 {
		d.majorNames()
		return
	}
	const widestMax = 96.0
	widest := 24.0
	labels := make([]string, len(d.versions))
	for i, v := range d.versions {
		labels[i] = versionName(v)
		widest = max(widest, d.r.wide(labels[i], labelSize, false))
	}
	widest = min(widest, widestMax)
	var firsts []int
	for _, m := range d.majors {
		firsts = append(firsts, m.from)
	}
	below := 10.0
	if d.large {
		below = 13
	}
	for _, i := range labelled(len(labels), firsts, (widest+10)/d.perVersion()) {
		x := d.x(float64(i))
		if d.large {
			hairline(d.cv, x, d.bottom, x, d.bottom+4, d.t.line2)
		}
		d.cv.text(point{x, d.bottom + below + 10}, middle, labelSize, say(d.r.fit(labels[i], labelSize, false, widestMax), d.t.ink3))
	}
}

// majorNames names majors below a small chart, each in the middle of its range:
// the newest, the oldest, then the wider ones, as far as they do not touch.
func (d *drawing) majorNames() {
	order := make([]int, len(d.majors))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch i {
		case len(d.majors) - 1:
			return -len(d.versions) - 2
		case 0:
			return -len(d.versions) - 1
		}
		return d.majors[i].from - d.majors[i].to
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	type span struct{ from, to float64 }
	var taken []span
	for _, i := range order {
		m := d.majors[i]
		name := d.r.fit(m.name, labelSize, false, 60)
		x, half := d.x(float64(m.from+m.to-1)/2), d.r.wide(name, labelSize, false)/2
		s := span{x - half - 2, x + half + 2}
		if slices.ContainsFunc(taken, func(o span) bool { return s.from < o.to && o.from < s.to }) {
			continue
		}
		taken = append(taken, s)
		d.cv.text(point{x, d.bottom + 20}, middle, labelSize, say(name, d.t.ink3))
	}
}

// joints gives where another step of a family begins.
func (d *drawing) joints() []float64 {
	var out []float64
	for _, l := range d.lines {
		for i := 1; i < len(l.data); i++ {
			if at := float64(l.data[i].at) - 0.5; l.data[i].Step != l.data[i-1].Step && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// intervals draws the interval of every point, in large charts of few lines.
func (d *drawing) intervals(l line) {
	if !d.large || len(d.lines) > 2 || d.perVersion() < 3 {
		return
	}
	c := d.t.line3.faint(0x73)
	for _, p := range l.data {
		if d.inside(p) && p.half > 0 {
			x := d.x(float64(p.at))
			hairline(d.cv, x, d.y(p.position+p.half), x, d.y(p.position-p.half), c)
		}
	}
}

// strokes draws the line from point to point. Where nothing was measured it is
// interrupted.
func (d *drawing) strokes(l line) {
	var path []point
	var colour colour
	flush := func() {
		if len(path) > 1 {
			d.cv.polyline(path, stroke{colour, 1.5, l.style.dash})
		}
		path = nil
	}
	for i := 1; i < len(l.data); i++ {
		a, b := l.data[i-1], l.data[i]
		if b.at != a.at+1 || a.zero || b.zero {
			flush()
			continue
		}
		pieces := []stretch{{0, 1, 0}}
		if d.single() {
			pieces = stretches(a, b)
		}
		for _, s := range pieces {
			c := d.colourOf(l, d.verdictOf(l, s.side))
			at := func(share float64) (x, position float64) {
				return d.x(float64(a.at) + share), a.position + share*(b.position-a.position)
			}
			x1, p1 := at(s.from)
			x2, p2 := at(s.to)
			from, to, ok := clip(x1, p1, x2, p2, d.view.low, d.view.high)
			if !ok {
				flush()
				continue
			}
			from.y, to.y = d.y(from.y), d.y(to.y)
			if len(path) == 0 || c != colour || math.Abs(path[len(path)-1].x-from.x) > 1e-6 || math.Abs(path[len(path)-1].y-from.y) > 1e-6 {
				flush()
				path, colour = []point{from}, c
			}
			path = append(path, to)
		}
	}
	flush()
}

// verdictOf gives what a side of the band means for a line.
func (d *drawing) verdictOf(l line, s side) compare.Verdict {
	switch {
	case !slices.ContainsFunc(l.data, func(p datum) bool { return p.hasHalf }):
		return compare.NoVerdict
	case s == 0:
		return compare.Undecided
	case d.metric.Direction == bench.Neutral:
		return compare.Moved
	case s > 0 == (d.metric.Direction == bench.HigherBetter):
		return compare.Better
	}
	return compare.Worse
}

// symbols reports whether every point gets a symbol; a point without neighbours
// has no line and always gets one.
func (d *drawing) symbols() bool {
	if d.large {
		return d.perVersion() >= 4
	}
	return d.perVersion() >= symbolRoom
}

func (d *drawing) points(l line) {
	r := 2.0
	if d.large {
		r = max(1.5, min(3, d.perVersion()*0.3))
	}
	all := d.symbols()
	for i, p := range l.data {
		alone := (i == 0 || l.data[i-1].at != p.at-1 || l.data[i-1].zero) && (i == len(l.data)-1 || l.data[i+1].at != p.at+1 || l.data[i+1].zero)
		if !d.inside(p) || !all && !alone && !p.Flagged {
			continue
		}
		at := point{d.x(float64(p.at)), d.y(p.position)}
		c := d.colourOf(l, p.verdict)
		title := ""
		if d.large {
			title = d.pointText(l, p)
			d.cv.open("point", title)
		}
		fill := c
		if p.N == 1 {
			fill = d.t.bg // one run
		}
		switch {
		case p.Flagged:
			marker(d.cv, "cross", at, r+1, d.t.ink, d.t.ink)
		case d.single():
			marker(d.cv, "circle", at, r, c, fill)
		default:
			marker(d.cv, l.style.marker, at, r, c, fill)
		}
		if title != "" {
			d.cv.close()
		}
	}
}

// pointText is what a point says of itself where somebody points at it.
func (d *drawing) pointText(l line, p datum) string {
	text := versionName(p.Version) + ": "
	if l.name != "" {
		text = l.name + " " + text
	}
	text += glyph(p.verdict) + ratioText(p)
	switch {
	case p.isBase():
		text += " (base)"
	case p.Low != nil && p.High != nil:
		text += " (" + compare.FormatInterval(p.Low, p.High) + ")"
	}
	text += ", " + compare.FormatFull(p.Value) + unitSuffix(d.metric.Unit) + ", n = " + strconv.Itoa(p.N)
	if p.Mixed {
		text += ", different builds"
	}
	if p.Bimodal {
		text += ", samples in two groups"
	}
	if p.Flagged {
		text += ", must not be compared"
	}
	return text
}

// ratioText shows a relative value: two or three decimals as everywhere, other
// forms only where those would say nothing.
func ratioText(p datum) string {
	r := *p.Relative
	if r != 0 && (r >= 1e5 || r < 0.005) {
		return strconv.FormatFloat(r, 'g', 2, 64)
	}
	return compare.FormatRatio(r, p.Low, p.High)
}

// outside draws a triangle at the edge for every run of points beyond it, at the
// farthest, with its value where there is room for it.
func (d *drawing) outside() {
	size, w, h := 10.0, 8.0, 7.0
	if d.large {
		size, w, h = 12, 11, 10
	}
	type place struct {
		line line
		datum
		x   float64
		top bool
	}
	var places []place
	for _, l := range d.lines {
		for _, p := range farthest(l.data, d.view) {
			places = append(places, place{l, p, d.x(float64(p.at)), !p.zero && p.position > d.view.high})
		}
	}
	type span struct {
		from, to float64
		top      bool
	}
	var taken []span
	for _, p := range places {
		taken = append(taken, span{p.x - w/2, p.x + w/2, p.top})
	}
	free := func(s span) bool {
		return s.from >= d.left && s.to <= d.right && !slices.ContainsFunc(taken, func(o span) bool {
			return o.top == s.top && o.from < s.to && s.from < o.to
		})
	}
	d.cv.open("outside", "")
	for _, p := range places {
		y := d.bottom - 7
		if p.top {
			y = d.top + 7
		}
		text := ratioText(p.datum)
		if d.large {
			text += " at " + d.r.fit(versionName(p.Version), size, true, 60)
		}
		gap, width := w/2+4, d.r.wide(text, size, true)
		for _, a := range []anchor{start, end} {
			at := p.x + gap
			s := span{at - 2, at + width + 2, p.top}
			if a == end {
				at = p.x - gap
				s = span{at - width - 2, at + 2, p.top}
			}
			if !free(s) {
				continue
			}
			taken = append(taken, s)
			d.cv.rect(s.from, y-size*0.55, s.to-s.from, size*1.1, d.t.bg)
			d.cv.text(point{at, y + size*0.36}, a, size, strong(text, d.inkOf(p.line, p.verdict)))
			break
		}
		arrow(d.cv, point{p.x, y}, p.top, w, h, d.colourOf(p.line, p.verdict))
	}
	d.cv.close()
}

// farthest gives the farthest datum of every run of neighbouring data beyond one
// edge of a window.
func farthest(data []datum, w window) []datum {
	var out []datum
	run := 0 // 1 above, -1 below, 0 inside
	last := -2
	for _, p := range data {
		side := 0
		switch {
		case p.zero || p.position < w.low:
			side = -1
		case p.position > w.high:
			side = 1
		}
		if side != 0 && side == run && p.at == last+1 {
			if far := &out[len(out)-1]; !far.zero && (p.zero || math.Abs(p.position) > math.Abs(far.position)) {
				*far = p
			}
		} else if side != 0 {
			out = append(out, p)
		}
		run, last = side, p.at
	}
	return out
}

// endLabel is the value, and among several lines the name, at a line's end.
type endLabel struct {
	line line
	last datum
	y    float64
}

func (d *drawing) endOf(l line) (endLabel, bool) {
	if len(l.data) == 0 {
		return endLabel{}, false
	}
	p := l.data[len(l.data)-1]
	y := d.bottom
	if !p.zero {
		y = d.y(p.position)
	}
	return endLabel{l, p, y}, true
}

func (d *drawing) endSize() float64 {
	switch {
	case d.single() && d.large:
		return 14
	case d.single() || d.large:
		return 12
	}
	return 11
}

// endGap is the distance of labels from the plot.
func (d *drawing) endGap() float64 {
	if d.large {
		return 8
	}
	return 5
}

// endText gives the label of a line's end in a width: its value, and what tells it
// from others.
func (d *drawing) endText(l line, room float64) string {
	p := l.data[len(l.data)-1]
	text, size := ratioText(p), d.endSize()
	if d.single() || !d.named {
		return text
	}
	if d.large && p.at < len(d.versions)-1 {
		text += " at " + versionName(p.Version)
	}
	if name := d.r.fit(l.name, size, true, room-d.r.wide(text+" ", size, true)); name != "" {
		return text + " " + name
	}
	return d.r.fit(text, size, true, room)
}

func (d *drawing) ends(ends []endLabel) {
	size := d.endSize()
	height := size + 3
	if float64(len(ends))*height > d.bottom-d.top+20 {
		return // no room: the legend names the lines
	}
	places := make([]float64, len(ends))
	for i, e := range ends {
		places[i] = e.y
	}
	places = pushApart(places, height, d.top-4, d.bottom+4)
	d.cv.open("ends", "")
	for i, e := range ends {
		text := d.endText(e.line, d.room-d.endGap())
		at := point{d.right + d.endGap(), places[i] + size*0.36}
		if d.single() && e.last.at < len(d.versions)-1 {
			// A line that ends earlier has its label where it ends.
			at.x = min(at.x, d.x(float64(e.last.at))+d.endGap()+2)
			d.cv.rect(at.x-2, places[i]-size*0.55, d.r.wide(text, size, true)+4, size*1.1, d.t.bg)
		}
		if !d.single() && !d.named {
			c := d.colourOf(e.line, e.last.verdict)
			marker(d.cv, e.line.style.marker, point{at.x + 3, places[i]}, 2.5, c, c)
			at.x += keyRoom
		}
		d.cv.text(at, start, size, strong(text, d.inkOf(e.line, e.last.verdict)))
	}
	d.cv.close()
}

// rightRoom is how much room beside the plot the labels of lines' ends need, and
// whether names are among them. Small charts leave names out where one of them
// would have to be cut: the legend has them.
func (d *drawing) rightRoom(most float64) (room float64, named bool) {
	d.named = !d.single()
	room = smallRight
	if d.large {
		room, most = largeRight, max(largeRight, min(most, 260))
	}
	for _, l := range d.lines {
		if len(l.data) > 0 && d.named {
			room = max(room, d.endGap()+d.r.wide(d.endText(l, math.Inf(1)), d.endSize(), true))
		}
	}
	switch {
	case room <= most:
		return room, d.named
	case d.large:
		return most, d.named
	}
	return smallRight + keyRoom, false
}

// marksBehind draws the rules of changes and notes, behind the lines of large
// charts.
func (d *drawing) marksBehind() {
	if !d.large {
		return
	}
	d.cv.open("rules", "")
	for _, m := range d.marks {
		x := d.x(m.at)
		if m.kind == MarkNote {
			hairline(d.cv, x, d.top, x, d.bottom, d.t.line3, 1, 3)
		} else {
			hairline(d.cv, x, d.top, x, d.bottom, d.markColour(m.kind), 3, 3)
		}
	}
	d.cv.close()
}

// markColour gives the colour of a change: of the better way, or the worse.
func (d *drawing) markColour(k MarkKind) colour {
	if d.metric.Direction == bench.Neutral {
		return d.t.ink
	}
	if (k == MarkUp) == (d.metric.Direction == bench.HigherBetter) {
		return d.t.better
	}
	return d.t.worse
}

// marksAbove draws changes as notches on the axis, notes above the plot.
func (d *drawing) marksAbove() {
	w, h := 7.0, 6.0
	if d.large {
		w, h = 10, 8
	}
	var notes []mark
	d.cv.open("marks", "")
	for _, m := range d.marks {
		if m.kind == MarkNote {
			notes = append(notes, m)
			continue
		}
		d.cv.open("change", m.label)
		arrow(d.cv, point{d.x(m.at), d.bottom + h/2 + 1}, m.kind == MarkUp, w, h, d.markColour(m.kind))
		d.cv.close()
	}
	places := make([]float64, len(notes))
	for i, m := range notes {
		places[i] = d.x(m.at)
	}
	apart := 8.0
	if d.large {
		apart = 20
	}
	places = pushApart(places, apart, d.left, d.right)
	for i, m := range notes {
		if !d.large {
			d.cv.circle(point{places[i], d.top - 5}, 3.5, d.t.ink, stroke{})
			continue
		}
		at := point{places[i], d.top - 32}
		d.cv.open("note", m.label)
		d.cv.circle(at, 8.5, d.t.bg, stroke{d.t.ink, 1, nil})
		if label := d.r.fit(m.label, labelSize, true, 20); label != "" {
			d.cv.text(point{at.x, at.y + 4}, middle, labelSize, strong(label, d.t.ink))
		}
		d.cv.close()
	}
	d.cv.close()
}

// looks collects what the chart shows.
func (d *drawing) looks(into *looks) {
	symbols := d.symbols()
	for _, l := range d.lines {
		for i, p := range l.data {
			into.band = into.band || p.half > 0
			into.verdicts[p.verdict] = true
			into.flagged = into.flagged || p.Flagged
			if symbols && !p.Flagged {
				into.hollow = into.hollow || p.N == 1
				into.several = into.several || p.N > 1
			}
			into.outside = into.outside || !d.inside(p)
			into.joint = into.joint || i > 0 && p.Step != l.data[i-1].Step
		}
	}
	for _, m := range d.marks {
		switch m.kind {
		case MarkUp:
			into.up = true
		case MarkDown:
			into.down = true
		case MarkNote:
			into.note = true
		}
	}
}
