package ingest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/relqps/relqps/internal/bench"
)

// all.html is the page of a report. Its markup is not well-formed: rows lack
// their end, ids repeat, entities lack their semicolon. Sections begin with
//
//	<h1 id="summary">            tables of throughput by run and step
//	<h1 id="<step>.graph">       tables of response times, zeros left empty
//	<h1 id="<step>.metrics">     <pre> with the metrics table
//	<h1 id="<step>.rt">          <pre> with response times, their operation in
//	                             the words before
//
// and the introduction describes each run in words of its own, which may be
// wrong. Figures come from <pre>; the tables repeat them.

var (
	ibenchTitleRe   = regexp.MustCompile(`\b\d+[KMB]? docs and (\d{1,5}) client`)
	ibenchSectionRe = regexp.MustCompile(`^(.+)\.(graph|metrics|rt)$`)
	ibenchPageRe    = regexp.MustCompile(`(?i)insert benchmark`)
)

// isIBenchPage detects the page by its introduction.
func isIBenchPage(in *input) bool {
	head := in.text[:min(len(in.text), 8192)]
	return bytes.Contains(bytes.ToLower(head[:min(len(head), 512)]), []byte("<html")) && ibenchPageRe.Match(head) &&
		bytes.Contains(in.text, []byte("<pre>"))
}

// pageReader collects the parts of a page.
type pageReader struct {
	parts   ibenchParts
	section string // id of the last heading: l.i1.rt
	words   string // the last paragraph
	line    int    // of the token being read

	text    *strings.Builder // being collected: of a paragraph, an entry or a cell
	inside  string           // the element that text is of
	started int              // its line
	table   [][]string
	tableAt []int // lines of the table's rows
}

// maxPageText bounds the text kept of one paragraph, entry or cell.
const maxPageText = 4 << 10

// cutIBenchPage takes a page apart.
func cutIBenchPage(in *input, problems *problemList) ibenchParts {
	p := pageReader{line: 1}
	z := html.NewTokenizer(bytes.NewReader(in.text))
	z.SetMaxBuf(0) // the text is in memory already
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			p.endTable()
			// What the tables repeat comes after what it repeats.
			slices.SortStableFunc(p.parts.times, func(a, b ibenchTable) int { return number(a.repeats) - number(b.repeats) })
			return p.parts
		}
		lines := bytes.Count(z.Raw(), []byte("\n"))
		switch kind {
		case html.TextToken:
			if p.inside == "pre" {
				p.pre(z.Text(), problems)
			} else if p.text != nil && p.text.Len() < maxPageText {
				p.text.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			id := ""
			for {
				key, value, more := z.TagAttr()
				if string(key) == "id" {
					id = string(value)
				}
				if !more {
					break
				}
			}
			p.open(string(name), id)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.close(string(name))
		}
		p.line += lines
	}
}

// open begins an element. Those that hold text end where the next one begins,
// as their ends are often missing.
func (p *pageReader) open(name, id string) {
	switch name {
	case "h1", "title", "p", "li", "td", "th", "pre", "tr", "table":
		p.endText()
	default:
		return
	}
	switch name {
	case "table":
		p.endTable()
		p.table = [][]string{}
	case "tr":
		if p.table != nil {
			p.table, p.tableAt = append(p.table, nil), append(p.tableAt, p.line)
		}
	case "h1":
		p.section = id
		fallthrough
	default:
		p.inside, p.text, p.started = name, &strings.Builder{}, p.line
	}
}

func (p *pageReader) close(name string) {
	if name == p.inside {
		p.endText()
	}
	if name == "table" {
		p.endText()
		p.endTable()
	}
}

// endText ends the element whose text was collected.
func (p *pageReader) endText() {
	if p.text == nil {
		return
	}
	text := strings.Join(strings.Fields(p.text.String()), " ")
	inside := p.inside
	p.text, p.inside = nil, ""
	switch inside {
	case "title":
		if m := ibenchTitleRe.FindStringSubmatch(text); m != nil {
			p.parts.clients = atoi(m[1])
		}
	case "p":
		if text != "" {
			p.words = text
		}
	case "li":
		name, description, found := strings.Cut(text, " - ")
		if tag, ok := parseIBenchTag(name); found && ok {
			if p.parts.descriptions == nil {
				p.parts.descriptions = map[string]string{}
			}
			p.parts.descriptions[tag.name()] = description
		}
	case "td", "th":
		if n := len(p.table); n > 0 && len(p.table[n-1]) < maxColumns {
			p.table[n-1] = append(p.table[n-1], text)
		}
	}
}

// step gives the step of the current section.
func (p *pageReader) step() string {
	if m := ibenchSectionRe.FindStringSubmatch(p.section); m != nil {
		return m[1]
	}
	return ""
}

// operation gives the operation that the words before a table of response times
// name.
func (p *pageReader) operation() string {
	first, _, _ := strings.Cut(p.words, " ")
	if first = strings.ToLower(first); slices.Contains([]string{"insert", "delete", "query"}, first) {
		return first
	}
	return ""
}

// pre reads preformatted text.
func (p *pageReader) pre(text []byte, problems *problemList) {
	header := firstIBenchLine(text)
	offset := p.line - 1
	switch {
	case isIBenchHeader(header):
		p.parts.metrics = append(p.parts.metrics, cutIBenchTables(text, p.step(), offset, isIBenchHeader, problems)...)
	case isTimesHeader(header):
		for _, t := range cutIBenchTables(text, p.step(), offset, isTimesHeader, problems) {
			t.op = p.operation()
			p.parts.times = append(p.parts.times, t)
		}
	case len(header) > 0:
		p.parts.messages = appendBounded(p.parts.messages, bench.Message{File: problems.file, Line: p.line,
			Text: "preformatted text that is neither metrics nor response times: not read"})
	}
}

// endTable takes a table of the page: throughput by step, or response times.
func (p *pageReader) endTable() {
	rows, lines := p.table, p.tableAt
	p.table, p.tableAt = nil, nil
	if len(rows) < 2 {
		return
	}
	header := rows[0]
	t := ibenchTable{columns: header, line: lines[0], repeats: true}
	times := len(header) == len(rtColumns)+1 && header[0] == "dbms" && isTimesHeader(append(slices.Clone(header[1:]), "tag"))
	if !times && !isSummaryHeader(header) {
		return
	}
	for i, cells := range rows[1:] {
		if len(cells) != len(header) {
			continue // a copy that is not whole is not worth refusing the page
		}
		if times {
			// The tag stands first here.
			cells = append(slices.Clone(cells[1:]), cells[0])
		}
		t.rows = append(t.rows, ibenchRow{line: lines[i+1], cells: cells})
	}
	if !times {
		p.parts.summaries = append(p.parts.summaries, t)
		return
	}
	t.step, t.op = p.step(), p.operation()
	if t.columns = append(slices.Clone(header[1:]), "tag"); t.op != "" && t.step != "" {
		p.parts.times = append(p.parts.times, t)
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
