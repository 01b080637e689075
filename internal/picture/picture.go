// Package picture draws comparisons without a browser: SVG and PNG files of a
// view, and the picture that other programs show beside a link to it. They look
// like the charts of pages: relative values on a scale that is symmetric around
// 1.00, versions at even steps, doubt drawn, gaps where nothing was measured.
//
// Equal input gives equal bytes. Text from outside is cleaned of everything
// invisible, escaped, and cut to its place. Images know no writing from right to
// left and no letters beyond Latin, Greek, Cyrillic and Hebrew (a box stands for
// those they lack); SVG leaves letters to whoever shows it.
package picture

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// Bounds of pictures.
const (
	// LinesMax is how many lines of one chart can be told apart.
	LinesMax = 12
	// ChartsMax is how many charts a picture holds; it says so when there are more.
	ChartsMax = 60
	// PreviewWidth and PreviewHeight are the size of a preview in pixels, the one
	// that the Open Graph protocol's readers ask for.
	PreviewWidth, PreviewHeight = 1200, 630

	widthMin, widthMax   = 320, 4000
	heightMin, heightMax = 240, 16000
	densityMax           = 4
	pixelsMax            = 40_000_000
	previewCharts        = 8
	previewDensity       = 1.5 // larger letters: previews are shown small
)

// MarkKind says what a [Mark] points at.
type MarkKind string

// The kinds of marks.
const (
	MarkUp   MarkKind = "up"   // a change to larger values
	MarkDown MarkKind = "down" // a change to smaller ones
	MarkNote MarkKind = "note"
)

// Mark is a change or a note at a version. A change is drawn as a notch between
// its version, the first one after it, and the one before, coloured by the
// metric's direction; a note as a ringed label above its version. Marks of
// versions beyond the axis are left out, of versions between two of it stand
// between them.
type Mark struct {
	Version string
	Kind    MarkKind
	Label   string // of a note its number
	Step    string // the step or family whose chart it belongs to; "" for all
}

// Options says how a comparison is drawn.
type Options struct {
	// Width and Height are in pixels of a screen at its usual size. 0 for Width is
	// 1200, for Height as much as the charts need. Charts share a given height.
	Width, Height int
	// Density is how many pixels of an image stand for one of them, 0 for 1. An SVG
	// has no pixels.
	Density float64
	Dark    bool
	// Fit makes the scale follow the data; else all pictures have the same one,
	// 0.71 to 1.41, and points outside of it are drawn at its edge.
	Fit bool
	// Title and Subtitle are made from the comparison where they are "".
	Title, Subtitle string
	// Address of the view, and Credit of its figures, stand at the bottom.
	Address, Credit string
	Marks           []Mark
}

// SVG writes a comparison as an SVG document: one large chart of one step, small
// ones of several. The error is of [bench.KindInvalid] where the comparison does
// not fit into a picture of this size; nothing is written then.
func SVG(w io.Writer, c compare.Comparison, o Options) error {
	p, err := newPage(c, o, ChartsMax, svgSlack, false)
	if err != nil {
		return err
	}
	cv := newSVG(p.width, p.height, p.title, about(p.charts, c), p.t.bg)
	p.draw(cv)
	return write(w, cv)
}

// PNG writes a comparison as an image; see [SVG].
func PNG(w io.Writer, c compare.Comparison, o Options) error {
	if o.Density == 0 {
		o.Density = 1
	}
	if !(o.Density >= 1 && o.Density <= densityMax) {
		return bench.Errorf(bench.KindInvalid, "The density of an image is from 1 to %d.", densityMax)
	}
	p, err := newPage(c, o, ChartsMax, imageSlack, false)
	if err != nil {
		return err
	}
	if p.width*p.height*o.Density*o.Density > pixelsMax {
		return bench.Errorf(bench.KindInvalid, "An image of %.0f × %.0f pixels is too large.", p.width*o.Density, p.height*o.Density)
	}
	return p.image(w, o.Density)
}

// Preview writes the image that stands for a link to a view: one large chart, or
// the first eight small ones. Size and density of the options are not used.
func Preview(w io.Writer, c compare.Comparison, o Options) error {
	o.Width, o.Height = PreviewWidth/previewDensity, PreviewHeight/previewDensity
	p, err := newPage(c, o, previewCharts, imageSlack, true)
	if err != nil {
		return err
	}
	return p.image(w, previewDensity)
}

func (p *page) image(w io.Writer, density float64) error {
	cv := newRaster(p.width, p.height, density, p.r.fonts, p.t.bg)
	p.draw(cv)
	return write(w, cv)
}

func write(w io.Writer, cv interface{ bytes() ([]byte, error) }) error {
	b, err := cv.bytes()
	if err != nil {
		return fmt.Errorf("draw a picture: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write a picture: %w", err)
	}
	return nil
}

// placeMarks gives the marks of a step their places on the axis.
func placeMarks(marks []Mark, step string, versions []string) []mark {
	var out []mark
	for _, m := range marks {
		if m.Step != "" && bench.StepFamily(m.Step) != bench.StepFamily(step) {
			continue
		}
		at := slices.IndexFunc(versions, func(v string) bool { return bench.CompareVersions(v, m.Version) >= 0 })
		if at < 0 {
			continue
		}
		place := float64(at)
		if m.Kind != MarkNote || bench.CompareVersions(versions[at], m.Version) != 0 {
			if at == 0 {
				continue // before the first version there is nothing to change from
			}
			place -= 0.5
		}
		out = append(out, mark{m.Kind, place, clean(m.Label)})
	}
	slices.SortStableFunc(out, func(a, b mark) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return out
}

// check judges the size asked for.
func (o Options) check() error {
	if o.Width != 0 && (o.Width < widthMin || o.Width > widthMax) {
		return bench.Errorf(bench.KindInvalid, "The width of a picture is from %d to %d.", widthMin, widthMax)
	}
	if o.Height != 0 && (o.Height < heightMin || o.Height > heightMax) {
		return bench.Errorf(bench.KindInvalid, "The height of a picture is from %d to %d.", heightMin, heightMax)
	}
	for _, m := range o.Marks {
		switch m.Kind {
		case MarkUp, MarkDown, MarkNote:
		default:
			return bench.Errorf(bench.KindInvalid, "A mark is up, down or note, not %q.", string(m.Kind))
		}
	}
	return nil
}

// grid arranges n small charts.
type grid struct {
	columns, rows int
	width, height float64 // of a chart with its heading
}

const (
	gapX, gapY               = 28.0, 18.0
	smallWidth, smallHeight  = 250.0, 164.0 // of a chart, where there is a choice
	smallWidthMin, cellShape = 150.0, 1.7
	smallHeightMin           = 104.0
)

// arrange chooses columns and rows: for a free height (0) charts of the usual
// size, else those whose shape is the most pleasing. ok is false where charts
// would be too small to read.
func arrange(n int, width, height float64) (g grid, ok bool) {
	columns := func(least float64) int { return max(1, min(n, int((width+gapX)/(least+gapX)))) }
	cell := func(c int) grid {
		rows := (n + c - 1) / c
		return grid{c, rows, (width - gapX*float64(c-1)) / float64(c), (height - gapY*float64(rows-1)) / float64(rows)}
	}
	if height == 0 {
		c := columns(smallWidth)
		rows := (n + c - 1) / c
		g = cell((n + rows - 1) / rows)
		g.height = smallHeight
		return g, true
	}
	best := math.Inf(1)
	for c := 1; c <= columns(smallWidthMin); c++ {
		x := cell(c)
		if x.height < smallHeightMin {
			continue
		}
		if worse := math.Abs(math.Log(x.width / x.height / cellShape)); worse < best {
			g, best, ok = x, worse, true
		}
	}
	return g, ok
}
