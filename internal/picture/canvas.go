package picture

import "math"

// point is a place on a picture in its units; y grows downwards.
type point struct{ x, y float64 }

// stroke is how a line is drawn; the zero value draws none.
type stroke struct {
	colour colour
	width  float64
	dash   []float64 // lengths of strokes and gaps; nil: solid
}

// run is a piece of a line of text. Its text must be clean.
type run struct {
	text   string
	colour colour
	bold   bool
}

// say makes a run of any text.
func say(text string, c colour) run { return run{text: clean(text), colour: c} }

// strong makes a bold run of any text.
func strong(text string, c colour) run { return run{text: clean(text), colour: c, bold: true} }

// anchor says which end of a text stands at its place.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// canvas is what pictures are drawn on: an SVG document or an image. Places that
// are not finite are refused by [SVG] and [PNG] as a whole, never drawn.
type canvas interface {
	// open begins a group of shapes; class says what they are, title is shown by
	// those who point at one ("" for none). An image knows no groups.
	open(class, title string)
	close()
	polyline(p []point, s stroke)
	polygon(p []point, fill colour)
	rect(x, y, w, h float64, fill colour)
	// circle draws a disc with an outline.
	circle(c point, r float64, fill colour, s stroke)
	// text draws runs one after the other on a base line.
	text(at point, a anchor, size float64, runs ...run)
}

// hairline draws a straight line of one unit. Level and upright ones lie in the
// middle of a pixel of the usual screen, where they are sharp.
func hairline(cv canvas, x1, y1, x2, y2 float64, c colour, dash ...float64) {
	if x1 == x2 {
		x1 = math.Floor(x1) + 0.5
		x2 = x1
	}
	if y1 == y2 {
		y1 = math.Floor(y1) + 0.5
		y2 = y1
	}
	cv.polyline([]point{{x1, y1}, {x2, y2}}, stroke{c, 1, dash})
}

// marker draws the symbol of a point: circle, rect, triangle, diamond or cross.
// A hollow one is filled with the background.
func marker(cv canvas, name string, at point, r float64, c, fill colour) {
	switch name {
	case "rect":
		r *= 0.9
		shape(cv, []point{{at.x - r, at.y - r}, {at.x + r, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}}, c, fill)
	case "triangle":
		r *= 1.15
		shape(cv, []point{{at.x, at.y - r}, {at.x + r, at.y + 0.8*r}, {at.x - r, at.y + 0.8*r}}, c, fill)
	case "diamond":
		r *= 1.25
		shape(cv, []point{{at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}}, c, fill)
	case "cross":
		cv.polyline([]point{{at.x - r, at.y - r}, {at.x + r, at.y + r}}, stroke{c, 1.75, nil})
		cv.polyline([]point{{at.x - r, at.y + r}, {at.x + r, at.y - r}}, stroke{c, 1.75, nil})
	default:
		cv.circle(at, r, fill, stroke{c, 1.5, nil})
	}
}

func shape(cv canvas, p []point, c, fill colour) {
	cv.polygon(p, fill)
	cv.polyline(append(p, p[0], p[1]), stroke{c, 1.5, nil})
}

// arrow draws a triangle that points up or down, its middle at a place.
func arrow(cv canvas, at point, up bool, w, h float64, c colour) {
	d := h / 2
	if up {
		d = -d
	}
	cv.polygon([]point{{at.x - w/2, at.y - d}, {at.x + w/2, at.y - d}, {at.x, at.y + d}}, c)
}
