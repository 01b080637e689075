package web

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/picture"
	"github.com/relqps/relqps/web/view"
)

// descriptionMax bounds what other programs show of a page, in letters.
const descriptionMax = 280

// preview says of a page what other programs show beside a link to it: its title,
// its first sentence, and a picture of the charts of a query.
func (s *server) preview(r *http.Request, p *view.Page, q chartsQuery, lead string) {
	s.describe(r, p, lead)
	q = q.with(func(q *chartsQuery) { q.Report, q.All, q.At, q.Unknown = false, false, "", nil })
	image := q.at("/charts.png")
	if strings.Contains(image, "?") {
		image += "&preview=1"
	} else {
		image += "?preview=1"
	}
	p.Preview.Image = s.origin(r) + image
	p.Preview.Width, p.Preview.Height = strconv.Itoa(picture.PreviewWidth), strconv.Itoa(picture.PreviewHeight)
	if f := frozenOf(r.Context()); f != nil {
		p.Preview.Image = ""
		if hasPicture(r.URL.Path) {
			p.Preview.Image = s.origin(r) + f.path + "?picture=preview"
		}
	}
}

// hasPicture reports whether a frozen view has a picture of its own figures.
func hasPicture(path string) bool {
	return path == "/charts" || path == "/compilers" || strings.HasPrefix(path, "/report/") || strings.HasPrefix(path, "/changes/")
}

// describe is preview for a page without charts.
func (s *server) describe(r *http.Request, p *view.Page, lead string) {
	runes := []rune(strings.TrimSpace(strings.ReplaceAll(lead, " [?]", "")))
	if len(runes) > descriptionMax {
		runes = append(runes[:descriptionMax-1], '…')
	}
	description := string(runes)
	if description == "" {
		description = "Benchmark results relative to a base version."
	}
	title := p.Title
	if title == "" {
		title = "relqps"
	}
	p.Preview = &view.Preview{Title: title, Description: description, Address: s.origin(r) + p.Address}
}

// pictureOptions reads how a picture is asked for.
func pictureOptions(p *params) (o picture.Options, preview bool) {
	number := func(key string) int { return int(min(p.number(key, 0), 1<<20)) }
	o.Width, o.Height = number("width"), number("height")
	o.Density = float64(number("density"))
	o.Dark = p.choice("theme", "light", "dark") == "dark"
	return o, p.choice("preview", "0", "1") == "1"
}

// pictureKeys are those of a picture's query that say how it is drawn.
var pictureKeys = []string{"width", "height", "density", "theme", "preview"}

func (s *server) chartsSVG(w http.ResponseWriter, r *http.Request) { s.picture(w, r, "svg") }
func (s *server) chartsPNG(w http.ResponseWriter, r *http.Request) { s.picture(w, r, "png") }

// picture draws what /charts shows for the same query.
func (s *server) picture(w http.ResponseWriter, r *http.Request, format string) {
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	p := params{v, map[string]bool{}, nil}
	o, preview := pictureOptions(&p)
	if p.err != nil {
		s.problem(w, r, p.err)
		return
	}
	in, err := s.readCharts(r.Context(), r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	for _, k := range pictureKeys {
		in.Given.Unknown.Del(k)
	}
	if !in.Found {
		s.problem(w, r, bench.Errorf(bench.KindNotFound, "%s", nothingMeasured(in).Sentence))
		return
	}
	body, err := s.draw(r, in, o, format, preview)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	kind := "image/png"
	if format == "svg" {
		kind = "image/svg+xml"
		// A picture that is opened by itself needs no more than itself.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors *")
	}
	// Embedded in posts and issues: others may show it.
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	write(w, http.StatusOK, kind, body)
}

// draw makes a picture of a query's answer with its marks.
func (s *server) draw(r *http.Request, in chartsInput, o picture.Options, format string, preview bool) ([]byte, error) {
	a, err := answer(in)
	if err != nil {
		return nil, err
	}
	if len(a.comparison.Lines) == 0 {
		return nil, bench.Errorf(bench.KindNotFound, "%s", nothingOfMetric(in, a.comparison.Metric).Sentence)
	}
	o.Fit = in.Resolved.Fit
	o.Address = strings.TrimPrefix(strings.TrimPrefix(s.origin(r), "https://"), "http://") + in.Given.String()
	o.Marks = a.marks.pictureMarks(a.comparison)
	if s.Credits != nil {
		if of, links := creditLinks(s.Credits(r.Context())); len(links) > 0 {
			var names []string
			for _, l := range links {
				names = append(names, l.Text)
			}
			o.Credit = strings.TrimSpace(of + " " + strings.Join(names, ", "))
		}
	}
	var b bytes.Buffer
	switch {
	case preview && format == "png":
		err = picture.Preview(&b, a.comparison, o)
	case format == "svg":
		err = picture.SVG(&b, a.comparison, o)
	default:
		err = picture.PNG(&b, a.comparison, o)
	}
	return b.Bytes(), err
}

// pictureMarks are the lasting changes and notes of a picture.
func (m marks) pictureMarks(c compare.Comparison) []picture.Mark {
	var out []picture.Mark
	for _, x := range m.marked {
		if x.Shape == bench.ShapeSpike {
			continue // the line shows it
		}
		kind := picture.MarkUp
		if x.Effect < 0 {
			kind = picture.MarkDown
		}
		out = append(out, picture.Mark{Version: x.To, Kind: kind, Step: bench.StepFamily(x.Step)})
	}
	for _, n := range m.notes {
		for _, l := range c.Lines {
			if covers(n.Note, l) {
				out = append(out, picture.Mark{Version: n.Version, Kind: picture.MarkNote, Label: strconv.Itoa(n.n), Step: n.Scope.Step})
				break
			}
		}
	}
	return out
}
