package picture

import (
	"fmt"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// page is a picture with everything decided but its colours on a canvas.
type page struct {
	o      Options
	t      theme
	r      *ruler
	c      compare.Comparison
	charts []chart
	all    int // charts of the comparison, those left out included
	looks  []named
	majors []major
	// compact pictures are shown small: they do without what explains itself.
	compact bool

	title         string
	lead          []run // the sentence above small charts
	width, height float64
	texts         []placedText
	legend        []placedItem
	ruleY         float64 // above the footer
	plots         []drawing
}

type placedText struct {
	at     point
	anchor anchor
	size   float64
	runs   []run
}

// item is an entry of the legend: a sample and its words.
type item struct {
	sample func(cv canvas, at point) // at the middle of its left edge
	width  float64                   // of the sample
	label  string
	colour colour
}

type placedItem struct {
	item
	at point
}

const (
	pad       = 24.0
	padNarrow = 16.0
	narrow    = 560.0 // pictures below this width do with less air
	largeBody = 380.0 // height of one large chart, where there is a choice
	plotMin   = 80.0
)

func newPage(c compare.Comparison, o Options, chartsMax int, s slack, compact bool) (*page, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r, err := newRuler(s)
	if err != nil {
		return nil, err
	}
	p := &page{o: o, t: light, r: r, c: c, compact: compact, width: float64(o.Width), height: float64(o.Height), majors: majorsOf(c.Versions)}
	if o.Dark {
		p.t = dark
	}
	if o.Width == 0 {
		p.width = 1200
	}
	index := make(map[string]int, len(c.Versions))
	for i, v := range c.Versions {
		index[v] = i
	}
	p.looks = names(c.Lines)
	p.charts, err = charts(c, p.looks, index)
	if err != nil {
		return nil, err
	}
	for i := range p.charts {
		p.charts[i].marks = placeMarks(o.Marks, p.charts[i].step, c.Versions)
	}
	p.all = len(p.charts)
	if p.all > 1 && len(c.Versions) > 0 {
		p.lead = lead(p.charts, c.Base, c.Versions[len(c.Versions)-1], p.t)
	}
	p.charts = p.charts[:min(p.all, chartsMax)]
	if err := p.layout(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *page) large() bool { return len(p.charts) == 1 }

func (p *page) pad() float64 {
	if p.compact || p.width < narrow {
		return padNarrow
	}
	return pad
}

// layout places everything from top to bottom.
func (p *page) layout() error {
	left, right := p.pad(), p.width-p.pad()
	room := right - left
	y := p.pad()
	write := func(size, line float64, runs []run) {
		y += line
		p.texts = append(p.texts, placedText{point{left, y - (line-size)/2 - size*0.15}, start, size, runs})
	}
	subtitle := clean(p.o.Subtitle)
	if subtitle == "" {
		subtitle = context(p.c.Lines)
	}
	if subtitle != "" {
		write(12, 16, []run{{text: p.r.fit(subtitle, 12, false, room), colour: p.t.ink3}})
	}
	if p.title = clean(p.o.Title); p.title == "" {
		p.title = p.ownTitle()
	}
	write(22, 28, []run{{text: p.r.fit(p.title, 22, true, room), colour: p.t.ink, bold: true}})
	lines := 3
	if p.compact {
		lines = 1
	}
	if p.lead != nil {
		for _, runs := range p.r.wrap(p.lead, 14, room, lines) {
			write(14, 22, runs)
		}
	}
	for _, runs := range p.r.flow(p.facts(), 13, room, lines, p.t) {
		write(13, 18, runs)
	}

	if len(p.charts) == 0 {
		bottom := p.footer(left, right, &y, 200)
		p.texts = append(p.texts, placedText{point{p.width / 2, (y + bottom) / 2}, middle, 14, []run{say("Nothing measured", p.t.ink2)}})
		return nil
	}
	// The legend depends on what the charts show, which their width alone decides,
	// and the charts begin where it ends: they are placed twice.
	y += 12
	body := y
	p.place(left, right, body, max(p.height-2*p.pad(), body+plotMin))
	legendEnd := p.placeLegend(left, right, body)
	if legendEnd > body {
		body = legendEnd + 10
	}
	if p.large() {
		bottom := p.footer(left, right, &body, largeBody)
		p.place(left, right, body, bottom)
		if d := p.plots[0]; d.bottom-d.top < plotMin {
			return bench.Errorf(bench.KindInvalid, "A height of %d leaves no room for the chart.", p.o.Height)
		}
		return nil
	}
	g, _ := arrange(len(p.charts), room, 0)
	bottom := p.footer(left, right, &body, float64(g.rows)*(g.height+gapY)-gapY)
	if p.height > heightMax {
		return bench.Errorf(bench.KindInvalid, "%d charts do not fit into this width.", len(p.charts))
	}
	if !p.place(left, right, body, bottom) {
		return bench.Errorf(bench.KindInvalid, "%d charts do not fit into %d × %d.", len(p.charts), p.o.Width, p.o.Height)
	}
	return nil
}

// footer places address and credit, decides the height of the picture where it is
// free, and gives where the charts end.
func (p *page) footer(left, right float64, body *float64, natural float64) (bottom float64) {
	address, credit := clean(p.o.Address), clean(p.o.Credit)
	more := ""
	if len(p.charts) < p.all {
		more = fmt.Sprintf("the first %d of %d steps", len(p.charts), p.all)
	}
	foot := p.pad() - 8
	if address != "" || credit != "" || more != "" {
		foot += 24
	}
	if p.height == 0 {
		p.height = *body + natural + foot
		p.height = max(heightMin, float64(int(p.height+0.999)))
	}
	bottom = p.height - foot
	if foot > p.pad() {
		p.ruleY = bottom + 8
		y := p.ruleY + 17
		rest := right - left
		put := func(a anchor, text string, room float64) {
			if text = p.r.fit(text, labelSize, false, room); text == "" {
				return
			}
			at := point{left, y}
			if a == end {
				at.x = right
			}
			p.texts = append(p.texts, placedText{at, a, labelSize, []run{{text: text, colour: p.t.ink3}}})
			rest -= p.r.wide(text, labelSize, false) + 24
		}
		if more != "" {
			if credit != "" {
				more += " · "
			}
			credit = more + credit
		}
		put(end, credit, rest/2)
		put(start, address, rest)
	}
	return bottom
}

// ownTitle names a picture after what it shows.
func (p *page) ownTitle() string {
	if p.large() {
		return p.charts[0].title
	}
	if len(p.c.Lines) == 0 || len(p.c.Versions) == 0 {
		return "No figures"
	}
	first, last := versionName(p.c.Versions[0]), versionName(p.c.Versions[len(p.c.Versions)-1])
	if first != last {
		first += " to " + last
	}
	return clean(p.c.Lines[0].System) + " " + first
}

// facts are the pieces of the line under the title: how the newest version
// stands, what 1.00 is, which way is better, how often it was measured.
func (p *page) facts() [][]run {
	var out [][]run
	add := func(s string) {
		if s != "" {
			out = append(out, []run{{text: s, colour: p.t.ink2}})
		}
	}
	if p.large() {
		if c := p.charts[0]; len(c.lines) == 1 && len(c.lines[0].data) > 0 {
			out = append(out, standing(c.lines[0], p.c.Base, p.t))
		}
		add(oneText(p.charts[0].lines, p.c.Base, p.c.Metric))
	} else if len(p.charts) > 0 && p.c.Base != (compare.Base{}) {
		words := "relative to "
		if slices.ContainsFunc(p.charts, func(c chart) bool { _, same := baseValue(c.lines); return !same }) {
			words = "each line relative to its own "
		}
		add(words + baseText(p.c.Base))
	}
	if len(p.charts) > 0 {
		add(directionText(p.c.Metric))
	}
	if n := len(p.c.Versions); n > 1 && !p.large() {
		add(fmt.Sprintf("%d versions", n))
	}
	if n := countText(p.charts); n != "" {
		if n == "n = 1" {
			n = "n = 1: noise from each series"
		}
		add(n)
	}
	return out
}

// flow sets pieces side by side, in as many lines as it takes.
func (r *ruler) flow(pieces [][]run, size, room float64, linesMax int, t theme) [][]run {
	sep := run{text: "\u00a0 · \u00a0", colour: t.line3}
	var lines [][]run
	width := 0.0
	for _, piece := range pieces {
		w := r.runsWide(piece, size)
		gap := r.wide(sep.text, size, false)
		if n := len(lines); n > 0 && width+gap+w <= room {
			lines[n-1] = append(append(lines[n-1], sep), piece...)
			width += gap + w
			continue
		}
		if len(lines) == linesMax {
			break
		}
		lines = append(lines, r.fitRuns(piece, size, room))
		width = w
	}
	return lines
}

// place gives every chart its plot in a region; false where there is no room.
func (p *page) place(left, right, top, bottom float64) bool {
	p.plots = p.plots[:0]
	plot := func(c chart, left, top, right, bottom float64) drawing {
		d := drawing{
			chart: c, r: p.r, t: p.t, metric: p.c.Metric, base: p.c.Base, versions: p.c.Versions, majors: p.majors,
			large: p.large(), view: fixedWindow(p.large()),
			left: left + plotLeft, top: top, right: right, bottom: bottom,
		}
		if p.o.Fit {
			d.view = fitWindow(positions(c), p.large())
		}
		// Whole places, an odd number apart: 1.00 lies in the middle of a pixel.
		d.top = math.Round(top)
		d.bottom = d.top + 2*math.Round((bottom-top-1)/2) + 1
		d.room, d.named = d.rightRoom(0.3 * (right - left))
		d.right -= d.room
		return d
	}
	if p.large() {
		d := plot(p.charts[0], left, top+largeTop, right, bottom-largeBottom)
		if slices.ContainsFunc(d.marks, func(m mark) bool { return m.kind == MarkNote }) {
			d.top += noteTop
		}
		p.plots = append(p.plots, d)
		return true
	}
	height := bottom - top
	g, ok := arrange(len(p.charts), right-left, height)
	if p.o.Height == 0 {
		g, ok = arrange(len(p.charts), right-left, 0)
	}
	if !ok {
		return false
	}
	for i, c := range p.charts {
		x := left + float64(i%g.columns)*(g.width+gapX)
		y := top + float64(i/g.columns)*(g.height+gapY)
		p.plots = append(p.plots, plot(c, x, y+18+smallTop, x+g.width, y+g.height-smallBottom))
	}
	// Small charts are compared: their plots have the same width.
	narrowest := p.plots[0].right - p.plots[0].left
	for _, d := range p.plots {
		narrowest = min(narrowest, d.right-d.left)
	}
	for i := range p.plots {
		d := &p.plots[i]
		d.room += d.right - d.left - narrowest
		d.right = d.left + narrowest
	}
	return true
}

// positions are those of all lines of a chart.
func positions(c chart) []float64 {
	var out []float64
	for _, l := range c.lines {
		for _, d := range l.data {
			if !d.zero {
				out = append(out, d.position)
			}
		}
	}
	return out
}

// placeLegend sets the legend in rows below y and gives where it ends.
func (p *page) placeLegend(left, right, y float64) float64 {
	p.legend = nil
	x, row := left, 0
	for _, it := range p.items() {
		it.label = p.r.fit(it.label, 12, false, min(400, right-left-it.width-6))
		w := it.width + 6 + p.r.wide(it.label, 12, false)
		if x > left && x+w > right {
			if row == 2 {
				break
			}
			x, row = left, row+1
		}
		p.legend = append(p.legend, placedItem{it, point{x, y + float64(row)*18 + 8}})
		x += w + 18
	}
	if len(p.legend) == 0 {
		return y
	}
	return y + float64(row)*18 + 16
}

// items are what the legend explains: only what is drawn.
func (p *page) items() []item {
	seen := looks{verdicts: map[compare.Verdict]bool{}}
	single := true
	for i := range p.plots {
		p.plots[i].looks(&seen)
		single = single && p.plots[i].single()
	}
	t := p.t
	var out []item
	add := func(width float64, label string, sample func(cv canvas, at point)) {
		out = append(out, item{sample, width, label, t.ink2})
	}
	if single {
		var colours []colour
		words := ""
		for _, v := range []struct {
			verdict compare.Verdict
			word    string
		}{{compare.Better, "better"}, {compare.Moved, "differs"}, {compare.Undecided, "undecided"}, {compare.Worse, "worse"}, {compare.NoVerdict, "noise unknown"}} {
			if !seen.verdicts[v.verdict] || v.verdict == compare.NoVerdict && len(colours) > 0 {
				continue
			}
			if words != "" {
				words += ", "
			}
			colours, words = append(colours, t.verdictMark(v.verdict)), words+v.word
		}
		add(9*float64(len(colours)), words, func(cv canvas, at point) {
			for i, c := range colours {
				cv.polyline([]point{{at.x + 9*float64(i), at.y}, {at.x + 9*float64(i+1), at.y}}, stroke{c, 2, nil})
			}
		})
	} else {
		for _, n := range p.looks {
			out = append(out, p.lineItem(n))
		}
	}
	if p.compact {
		if single {
			return nil
		}
		return out
	}
	if seen.hollow {
		add(10, "hollow: one run", func(cv canvas, at point) {
			cv.circle(point{at.x + 5, at.y}, 3, t.bg, stroke{t.ink2, 1.5, nil})
		})
	}
	if seen.hollow && seen.several {
		add(10, "filled: several runs", func(cv canvas, at point) {
			cv.circle(point{at.x + 5, at.y}, 3, t.ink2, stroke{t.ink2, 1.5, nil})
		})
	}
	if seen.band {
		add(22, "cannot be told from 1.00", func(cv canvas, at point) {
			cv.rect(at.x, at.y-5, 22, 10, t.band)
			hairline(cv, at.x, at.y, at.x+22, at.y, t.ink2)
		})
	}
	if seen.up || seen.down {
		d := drawing{metric: p.c.Metric, t: t}
		add(20, "change, down or up", func(cv canvas, at point) {
			arrow(cv, point{at.x + 5, at.y}, false, 8, 7, d.markColour(MarkDown))
			arrow(cv, point{at.x + 15, at.y}, true, 8, 7, d.markColour(MarkUp))
		})
	}
	if seen.note {
		add(12, "note", func(cv canvas, at point) {
			if p.large() {
				cv.circle(point{at.x + 6, at.y}, 5.5, t.bg, stroke{t.ink, 1, nil})
			} else {
				cv.circle(point{at.x + 6, at.y}, 3.5, t.ink, stroke{})
			}
		})
	}
	if seen.outside {
		add(10, "outside the scale, with its value", func(cv canvas, at point) {
			arrow(cv, point{at.x + 5, at.y}, false, 9, 8, t.ink2)
		})
	}
	if seen.joint {
		add(4, "the step changes here", func(cv canvas, at point) {
			hairline(cv, at.x+2, at.y-6, at.x+2, at.y+6, t.ink2, 1, 3)
		})
	}
	if seen.flagged {
		add(10, "must not be compared", func(cv canvas, at point) {
			marker(cv, "cross", point{at.x + 5, at.y}, 4, t.ink, t.ink)
		})
	}
	return out
}

// lineItem explains the look of a line; one that no chart shows says why.
func (p *page) lineItem(n named) item {
	label, colour := n.name, p.t.builds[n.style.hue]
	why, shown := "", false
	for _, c := range p.charts {
		for _, l := range c.lines {
			if keyOf(l.Coordinate) == n.key {
				shown = shown || len(l.data) > 0
				why = l.WhyNoBase
			}
		}
	}
	ink := p.t.ink2
	if !shown {
		ink = p.t.ink3
		if why = clean(why); why != "" {
			label += " (" + why + ")"
		}
	}
	return item{func(cv canvas, at point) {
		cv.polyline([]point{{at.x, at.y}, {at.x + 28, at.y}}, stroke{colour, 1.5, n.style.dash})
		marker(cv, n.style.marker, point{at.x + 14, at.y}, 3, colour, colour)
	}, 28, label, ink}
}

// draw puts the page onto a canvas.
func (p *page) draw(cv canvas) {
	cv.open("head", "")
	for _, x := range p.texts {
		cv.text(x.at, x.anchor, x.size, x.runs...)
	}
	cv.close()
	if len(p.legend) > 0 {
		cv.open("legend", "")
		for _, it := range p.legend {
			it.sample(cv, it.at)
			cv.text(point{it.at.x + it.width + 6, it.at.y + 4}, start, 12, run{text: it.label, colour: it.colour})
		}
		cv.close()
	}
	if p.ruleY > 0 {
		hairline(cv, p.pad(), p.ruleY, p.width-p.pad(), p.ruleY, p.t.line)
	}
	for i := range p.plots {
		d := p.plots[i]
		d.cv = cv
		cv.open("chart", d.title)
		if !d.large {
			p.heading(cv, d)
		}
		d.draw()
		cv.close()
	}
}

// heading writes the step of a small chart, and what 1.00 is. Where both do not fit
// the step is shortened, set smaller, stands alone, is cut: in this order.
func (p *page) heading(cv canvas, d drawing) {
	left, right := d.left-plotLeft, d.right+d.room
	y := d.top - smallTop - 5
	short := d.title
	if len(d.lines[0].Members) < 2 {
		short = clean(bench.ShortStep(d.step))
	}
	one := ""
	if value, same := baseValue(d.lines); value != nil && same {
		one = "1.00 = " + compare.FormatShort(*value) + unitSuffix(p.c.Metric.Unit)
	}
	title, size := d.title, 13.0
	fits := false
	for _, try := range []struct {
		title string
		size  float64
		one   string
	}{{d.title, 13, one}, {short, 13, one}, {short, 12, one}, {d.title, 13, ""}, {d.title, 12, ""}, {short, 12, ""}} {
		need := p.r.wide(try.title, try.size, true)
		if try.one != "" {
			need += 8 + p.r.wide(try.one, labelSize, false)
		}
		if fits = need <= right-left; fits {
			title, size, one = try.title, try.size, try.one
			break
		}
	}
	if !fits {
		title, size, one = p.r.fit(short, 12, true, right-left), 12, ""
	}
	cv.text(point{left, y}, start, size, strong(title, p.t.ink))
	if one != "" {
		cv.text(point{right, y}, end, labelSize, say(one, p.t.ink3))
	}
}
