package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

func (s *server) charts(r *http.Request) (templ.Component, error) {
	in, err := s.readCharts(r.Context(), r)
	if err != nil {
		return nil, err
	}
	p, err := newChartsPage(in)
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "/charts")
	s.bar(r, &p.Bar)
	p.View = freezeView(r, p.View)
	if in.Found {
		lead := plain(p.Lead)
		if lead == "" && len(p.Charts) > 0 {
			lead = strings.TrimSuffix(p.Charts[0].Label, " Arrow keys move along the versions.")
		}
		s.preview(r, &p.Page, in.Given, lead)
	}
	return view.Charts(p), nil
}

// chartsMarkdown gives the tables of a view as text for an issue or a post.
func (s *server) chartsMarkdown(w http.ResponseWriter, r *http.Request) {
	in, err := s.readCharts(r.Context(), r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	if !in.Found {
		s.problem(w, r, bench.Errorf(bench.KindNotFound, "%s", nothingMeasured(in).Sentence))
		return
	}
	p, err := newChartsPage(in)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	write(w, http.StatusOK, "text/plain; charset=utf-8", chartsText(p, s.origin(r)+in.Given.String()))
}

// chartsText writes the tables of a page of charts as Markdown, with the address
// of the view.
func chartsText(p view.ChartsPage, address string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", markdown(p.Heading))
	var facts []string
	for _, f := range p.Meta {
		facts = append(facts, plain(f.Parts))
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", markdown(strings.Join(facts, " · ")), address)
	if len(p.Lead) > 0 {
		fmt.Fprintf(&b, "\n%s\n", markdown(plain(p.Lead)))
	}
	for _, c := range p.Charts {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", markdown(c.Title), markdown(c.ReadOut))
		for _, r := range c.Remarks {
			fmt.Fprintf(&b, "\n%s\n", markdown(plain(r.Parts)))
		}
		for i, t := range c.Tables {
			if i == 0 {
				head, rule := "| version |", "|:--|"
				for _, name := range t.Lines {
					prefix := ""
					if name != "" {
						prefix = name + " "
					}
					head += fmt.Sprintf(" %s | %s | %s |", markdown(prefix+t.Unit), markdown(prefix+"relative"), markdown(prefix+"95 %"))
					rule += "--:|--:|--:|"
				}
				fmt.Fprintf(&b, "\n%s\n%s\n", head, rule)
			}
			for _, row := range t.Rows {
				fmt.Fprintf(&b, "| %s |", markdown(row.Version))
				for _, cell := range row.Cells {
					fmt.Fprintf(&b, " %s | %s | %s |", cell.Value, cell.Relative, cell.Interval)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.Bytes()
}

func plain(parts []view.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// markdown makes text mean itself in Markdown: no markup, no cell borders, one line.
func markdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "\n", " ", "\r", " ").Replace(s)
}
