package web

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// ReportMarkdown gives the version report that /report/{system} shows for a query
// as Markdown. origin is the address of a server that has the pages it links to,
// "" for addresses without host.
func ReportMarkdown(ctx context.Context, source Source, system string, query url.Values, origin string) ([]byte, error) {
	s := &server{Config: Config{Source: source}}
	in, err := s.readReport(ctx, system, query.Encode(), origin)
	if err != nil {
		return nil, err
	}
	r, err := newReport(in)
	if err != nil {
		return nil, err
	}
	return r.markdown(origin), nil
}

// markdown writes the report as text.
func (r report) markdown(origin string) []byte {
	var b bytes.Buffer
	r.inWords = true
	q := r.in.Resolved
	link := func(text, href string) string {
		if href == "" {
			return markdown(text)
		}
		return "[" + markdown(text) + "](" + origin + strings.NewReplacer("(", "%28", ")", "%29").Replace(href) + ")"
	}
	fmt.Fprintf(&b, "# %s\n\n", markdown(fmt.Sprintf("%s %s, %s", systemName(q.System), span(r.Versions), strings.Join(q.context(), ", "))))
	var facts []string
	for _, f := range smallMeta(r.in, r.answer) {
		facts = append(facts, plain(f.Parts))
	}
	fmt.Fprintf(&b, "%s\n\n", markdown(strings.Join(facts, " · ")))
	given := r.in.Given.with(func(q *chartsQuery) { q.Unknown = nil })
	fmt.Fprintf(&b, "%s\n\n", origin+given.String())

	for _, p := range r.lead() {
		text := markdown(p.Text)
		if p.Href != "" {
			text = link(p.Text, p.Href)
		}
		if p.Strong {
			text = "**" + text + "**"
		}
		b.WriteString(text)
	}
	b.WriteString("\n")
	if parts := r.togetherParts(); len(parts) > 0 {
		b.WriteString("\n")
		for _, p := range parts {
			switch {
			case p.Href != "":
				b.WriteString(link(p.Text, p.Href))
			case p.Strong:
				b.WriteString("**" + markdown(strings.TrimSpace(p.Text)) + "** ")
			default:
				b.WriteString(markdown(p.Text))
			}
		}
		b.WriteString("\n")
	}

	title := valueHead(r.Metric)
	fmt.Fprintf(&b, "\n| step | %s | %s | ratio | 95 %% | largest changes on the way |\n|:--|--:|--:|--:|--:|:--|\n",
		markdown(baseText(r.Base)+", "+title), markdown(r.Newest+", "+title))
	for i := range r.Rows {
		row := r.stepRow(&r.Rows[i])
		var changes []string
		for _, c := range row.Changes {
			text := link(c.Amount+" at "+c.At, c.Href)
			if c.Doubt != "" {
				text += " \\[" + markdown(c.Doubt) + "\\]"
			}
			changes = append(changes, text)
		}
		if row.All.Text != "" {
			changes = append(changes, link(row.All.Text, row.All.Href))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", link(row.Name, row.Href), markdown(row.Base), markdown(row.Newest), markdown(row.Ratio),
			markdown(row.Interval), strings.Join(changes, ", "))
	}

	h := r.heat()
	fmt.Fprintf(&b, "\n## Steps by version\n\n%s\n\n| step |", markdown(h.What))
	for _, c := range h.Columns {
		fmt.Fprintf(&b, " %s |", markdown(c.Version))
	}
	b.WriteString("\n|:--|" + strings.Repeat("--:|", len(h.Columns)) + "\n")
	for _, g := range h.Groups {
		for _, line := range g.Rows {
			fmt.Fprintf(&b, "| %s |", markdown(line.Name))
			for _, c := range line.Cells {
				fmt.Fprintf(&b, " %s |", heatText(c))
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n▲ better, ▼ worse, ≈ cannot be told from 1.00; bold: by half or more; ↑ ↓ a lasting change lies between this column and the one before, of versions that are left out perhaps.\n")

	fmt.Fprintf(&b, "\n## How sure\n")
	for _, s := range r.sure().Sentences {
		fmt.Fprintf(&b, "\n%s\n", markdown(s))
	}
	if len(r.marks.notes) > 0 {
		fmt.Fprintf(&b, "\n## Notes\n")
		for _, n := range r.marks.notes {
			where := noteVersions(n.Note)
			if s := scopeText(n.Scope); s != "" {
				where += " (" + s + ")"
			}
			// A note is Markdown of its own: quoted, so that it cannot pass for the report.
			fmt.Fprintf(&b, "\n%d. **%s** %s:\n\n   > %s\n", n.n, markdown(where), markdown(n.Author), strings.ReplaceAll(htmlOut.Replace(strings.TrimSpace(n.Body)), "\n", "\n   > "))
		}
	}
	return b.Bytes()
}

// heatText writes a cell of the heat table: its arrow for a lasting change, its
// verdict, its ratio.
func heatText(c view.HeatCell) string {
	classes := strings.Fields(c.Class)
	text := markdown(c.Text)
	if slices.Contains(classes, "far") {
		text = "**" + text + "**"
	}
	if c.Text != "" {
		switch classes[0][0] {
		case 'w':
			text = glyphWorse + " " + text
		case 'b':
			text = glyphBetter + " " + text
		case 'u':
			text = "≈ " + text
		}
	}
	switch {
	case slices.Contains(classes, "upw"):
		text = "↑ " + text
	case slices.Contains(classes, "chg"):
		text = "↓ " + text
	}
	return strings.TrimSpace(text)
}

// htmlOut makes HTML in a note mean its own letters, as on pages.
var htmlOut = strings.NewReplacer("<", "&lt;")

// csv writes every figure of the report, a row a version and step.
func (r report) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	write := func(cells ...string) { _ = w.Write(cells) } // a buffer takes everything
	q := r.in.Resolved
	write("system", "suite", "server", "workload", "compiler", "config", "clients", "step", "version", "n", r.Metric.Name, "relative", "relative_low", "relative_high", "base")
	for i := range r.Rows {
		l := r.Rows[i].Line
		for _, p := range l.Points {
			relative := csvNumber(p.Relative)
			if l.WhyNoBase == compare.BaseIsZero {
				relative = compare.BaseIsZero
			}
			write(compare.CSVText(q.System), compare.CSVText(l.Suite), compare.CSVText(l.Server), compare.CSVText(l.Workload), compare.CSVText(l.Compiler), compare.CSVText(l.Config), strconv.Itoa(l.Clients),
				compare.CSVText(p.Step), compare.CSVText(p.Version), strconv.Itoa(p.N), strconv.FormatFloat(p.Value, 'f', -1, 64), relative, csvNumber(p.Low), csvNumber(p.High), compare.CSVText(baseText(r.Base)))
		}
	}
	w.Flush()
	return b.Bytes()
}

// csvNumber writes a ratio for a CSV cell; a missing one is an empty cell.
func csvNumber(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 9, 64)
}
