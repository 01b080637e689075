package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"math"
	"strconv"
)

// errPlace says that a shape has no place on a picture: a bug in here, which must
// not become a document that nobody can read.
var errPlace = errors.New("a shape of the picture has no finite place")

// svgCanvas writes an SVG document. Looks are attributes, never styles, so that
// a Content-Security-Policy without inline styles shows them.
type svgCanvas struct {
	b   bytes.Buffer
	err error
}

// fontFamily lists fonts with the widths of the embedded one first.
const fontFamily = "'Liberation Sans', Arimo, 'Helvetica Neue', Helvetica, Arial, sans-serif"

func newSVG(width, height float64, title, about string, bg colour) *svgCanvas {
	c := &svgCanvas{}
	c.b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg"`)
	c.number("width", width)
	c.number("height", height)
	c.b.WriteString(` viewBox="0 0`)
	c.value(' ', width)
	c.value(' ', height)
	c.b.WriteString(`" role="img" font-family="` + fontFamily + "\">\n<title>")
	c.escape(title)
	c.b.WriteString("</title>\n<desc>")
	c.escape(about)
	c.b.WriteString("</desc>\n")
	c.rect(0, 0, width, height, bg)
	return c
}

// bytes ends the document.
func (c *svgCanvas) bytes() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	c.b.WriteString("</svg>\n")
	return c.b.Bytes(), nil
}

// value writes a number with at most two decimals behind a separator.
func (c *svgCanvas) value(before byte, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		c.err = errPlace
		return
	}
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // not −0
	}
	c.b.WriteByte(before)
	c.b.Write(strconv.AppendFloat(c.b.AvailableBuffer(), v, 'f', -1, 64))
}

func (c *svgCanvas) number(name string, v float64) {
	c.b.WriteString(" " + name + "=")
	c.value('"', v)
	c.b.WriteByte('"')
}

func (c *svgCanvas) escape(s string) {
	// A buffer takes everything: there is no error.
	_ = xml.EscapeText(&c.b, []byte(s))
}

func (c *svgCanvas) paint(name string, k colour) {
	c.b.WriteString(" " + name + `="` + k.String() + `"`)
	if k.a < 255 {
		c.number(name+"-opacity", float64(k.a)/255)
	}
}

func (c *svgCanvas) stroke(s stroke) {
	c.paint("stroke", s.colour)
	if s.width != 1 {
		c.number("stroke-width", s.width)
	}
	if len(s.dash) > 0 {
		c.b.WriteString(` stroke-dasharray="`)
		for i, d := range s.dash {
			if i > 0 {
				c.b.WriteByte(' ')
			}
			c.b.Write(strconv.AppendFloat(c.b.AvailableBuffer(), d, 'f', -1, 64))
		}
		c.b.WriteByte('"')
	}
}

func (c *svgCanvas) open(class, title string) {
	c.b.WriteString(`<g class="` + class + `">`)
	if title != "" {
		c.b.WriteString("<title>")
		c.escape(title)
		c.b.WriteString("</title>")
	}
	c.b.WriteByte('\n')
}

func (c *svgCanvas) close() { c.b.WriteString("</g>\n") }

func (c *svgCanvas) polyline(p []point, s stroke) {
	if len(p) == 2 {
		c.b.WriteString("<line")
		c.number("x1", p[0].x)
		c.number("y1", p[0].y)
		c.number("x2", p[1].x)
		c.number("y2", p[1].y)
	} else {
		c.b.WriteString(`<polyline fill="none" stroke-linejoin="round"`)
		c.points(p)
	}
	c.stroke(s)
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) points(p []point) {
	c.b.WriteString(` points=`)
	before := byte('"')
	for _, q := range p {
		c.value(before, q.x)
		c.value(',', q.y)
		before = ' '
	}
	c.b.WriteByte('"')
}

func (c *svgCanvas) polygon(p []point, fill colour) {
	c.b.WriteString("<polygon")
	c.points(p)
	c.paint("fill", fill)
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) rect(x, y, w, h float64, fill colour) {
	c.b.WriteString("<rect")
	c.number("x", x)
	c.number("y", y)
	c.number("width", w)
	c.number("height", h)
	c.paint("fill", fill)
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) circle(at point, r float64, fill colour, s stroke) {
	c.b.WriteString("<circle")
	c.number("cx", at.x)
	c.number("cy", at.y)
	c.number("r", r)
	c.paint("fill", fill)
	if s.width > 0 {
		c.stroke(s)
	}
	c.b.WriteString("/>\n")
}

func (c *svgCanvas) text(at point, a anchor, size float64, runs ...run) {
	if len(runs) == 0 {
		return
	}
	c.b.WriteString("<text")
	c.number("x", at.x)
	c.number("y", at.y)
	c.number("font-size", size)
	switch a {
	case middle:
		c.b.WriteString(` text-anchor="middle"`)
	case end:
		c.b.WriteString(` text-anchor="end"`)
	}
	if len(runs) == 1 {
		c.look(runs[0])
		c.b.WriteByte('>')
		c.escape(runs[0].text)
	} else {
		c.b.WriteByte('>')
		for _, r := range runs {
			c.b.WriteString("<tspan")
			c.look(r)
			c.b.WriteByte('>')
			c.escape(r.text)
			c.b.WriteString("</tspan>")
		}
	}
	c.b.WriteString("</text>\n")
}

func (c *svgCanvas) look(r run) {
	c.paint("fill", r.colour)
	if r.bold {
		c.b.WriteString(` font-weight="600"`)
	}
}
