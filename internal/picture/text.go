package picture

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Bounds of a text from outside: nobody reads more, and measuring costs time.
const (
	runesMax     = 800
	combiningMax = 3 // marks on one letter
)

// clean makes a text from outside fit for one line: control characters, marks
// that change the direction of text, everything invisible and everything that
// XML does not know are gone, white space is a single space. Longer texts than
// any picture can show are cut.
func clean(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	count, marks := 0, 0
	space := true // none at the beginning
	for _, r := range s {
		if count == runesMax {
			break
		}
		switch {
		case r == utf8.RuneError, r == 0xFFFE, r == 0xFFFF:
			continue
		case unicode.IsSpace(r) && r != thinSpace:
			if space {
				continue
			}
			r, space = ' ', true
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp):
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > combiningMax {
				continue
			}
			space = false
		default:
			marks, space = 0, false
		}
		b.WriteRune(r)
		count++
	}
	return strings.TrimRight(b.String(), " ")
}

const thinSpace = '\u2009'

// plainASCII reports whether a text is as [clean] would leave it.
func plainASCII(s string) bool {
	if len(s) > runesMax {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// fonts are the embedded faces: Liberation Sans, whose widths are those of Arial
// and Helvetica, so that what was measured here fits where an SVG is shown.
// Parsed fonts are read-only and shared.
var fonts = sync.OnceValues(func() ([2]*opentype.Font, error) {
	var out [2]*opentype.Font
	for i, ttf := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		f, err := opentype.Parse(ttf)
		if err != nil {
			return out, fmt.Errorf("embedded font %d: %w", i, err)
		}
		out[i] = f
	}
	return out, nil
})

// slack is by how much wider than measured a text may come out, ordinary and bold.
type slack [2]float64

var (
	imageSlack = slack{1, 1}
	// svgSlack is for an SVG where its fonts are missing; DejaVu Sans is the widest
	// usual substitute.
	svgSlack = slack{1.14, 1.2}
)

// ruler measures text. It is for one goroutine.
type ruler struct {
	slack slack
	fonts [2]*opentype.Font
	buf   sfnt.Buffer
	ascii [2][128]float64 // advances of the common letters in ems, 0: not yet known
}

func newRuler(s slack) (*ruler, error) {
	f, err := fonts()
	if err != nil {
		return nil, err
	}
	return &ruler{slack: s, fonts: f}, nil
}

func face(bold bool) int {
	if bold {
		return 1
	}
	return 0
}

// advance gives the width of a letter in ems; one that the fonts do not have is
// drawn as their box.
func (r *ruler) advance(c rune, bold bool) float64 {
	i := face(bold)
	if c < 128 && r.ascii[i][c] > 0 {
		return r.ascii[i][c]
	}
	f := r.fonts[i]
	units := fixed.Int26_6(f.UnitsPerEm())
	glyph, err := f.GlyphIndex(&r.buf, c)
	if err != nil {
		return 1
	}
	adv, err := f.GlyphAdvance(&r.buf, glyph, units, 0)
	if err != nil {
		return 1
	}
	w := float64(adv) / float64(units)
	if c < 128 {
		r.ascii[i][c] = w
	}
	return w
}

// width measures a text in the embedded font.
func (r *ruler) width(s string, size float64, bold bool) float64 {
	w := 0.0
	for _, c := range s {
		w += r.advance(c, bold)
	}
	return w * size
}

// wide is the room that a text needs wherever it is shown.
func (r *ruler) wide(s string, size float64, bold bool) float64 {
	return r.width(s, size, bold) * r.slack[face(bold)]
}

// runsWide is the room that a line of runs needs.
func (r *ruler) runsWide(runs []run, size float64) float64 {
	w := 0.0
	for _, x := range runs {
		w += r.wide(x.text, size, x.bold)
	}
	return w
}

// fit cuts a text to a width, with an ellipsis where something is missing. Where
// there is no room for a single letter it gives "".
func (r *ruler) fit(s string, size float64, bold bool, room float64) string {
	room /= size * r.slack[face(bold)]
	dots := r.advance('…', bold)
	w, keep := 0.0, 0 // keep: how many bytes leave room for the ellipsis
	for i, c := range s {
		if w+dots <= room {
			keep = i
		}
		if w += r.advance(c, bold); w > room {
			head := strings.TrimRightFunc(s[:keep], func(c rune) bool { return c == ' ' || c == ',' })
			if head == "" {
				return ""
			}
			return head + "…"
		}
	}
	return s
}

// fitRuns cuts a line of runs to a width.
func (r *ruler) fitRuns(runs []run, size, room float64) []run {
	var out []run
	for _, x := range runs {
		text := r.fit(x.text, size, x.bold, room)
		if text == "" && x.text != "" {
			break
		}
		cut := text != x.text
		room -= r.wide(text, size, x.bold)
		x.text = text
		out = append(out, x)
		if cut {
			break
		}
	}
	return out
}

// wrap sets a sentence in lines of a width, broken between words; what does not
// fit into the last line is cut.
func (r *ruler) wrap(runs []run, size, room float64, linesMax int) [][]run {
	var lines [][]run
	var line []run
	width := 0.0
	for _, x := range runs {
		for _, word := range strings.SplitAfter(x.text, " ") {
			w := r.wide(strings.TrimSuffix(word, " "), size, x.bold)
			if width > 0 && width+w > room && len(lines) < linesMax-1 {
				lines, line, width = append(lines, line), nil, 0
			}
			width += r.wide(word, size, x.bold)
			if n := len(line); n > 0 && line[n-1].bold == x.bold && line[n-1].colour == x.colour {
				line[n-1].text += word
			} else {
				line = append(line, run{word, x.colour, x.bold})
			}
		}
	}
	lines = append(lines, line)
	for i := range lines {
		last := &lines[i][len(lines[i])-1]
		last.text = strings.TrimSuffix(last.text, " ")
		lines[i] = r.fitRuns(lines[i], size, room)
	}
	return lines
}
