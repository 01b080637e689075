package web

import (
	"bytes"
	"context"
	"html"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// markdownWriter turns Markdown into HTML, tables and bare addresses included. HTML
// inside of it means its own letters.
var markdownWriter = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(literalHTML{}, 1))),
)

// literalHTML shows HTML in Markdown as it was written.
type literalHTML struct{}

// RegisterFuncs names the nodes it renders.
func (literalHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			segments := n.(*ast.RawHTML).Segments
			for i := range segments.Len() {
				at := segments.At(i)
				_, _ = w.WriteString(html.EscapeString(string(at.Value(source))))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		block := n.(*ast.HTMLBlock)
		if entering {
			_, _ = w.WriteString("<p>")
			for i := range block.Lines().Len() {
				at := block.Lines().At(i)
				_, _ = w.WriteString(html.EscapeString(string(at.Value(source))))
			}
			if block.HasClosure() {
				closure := block.ClosureLine
				_, _ = w.WriteString(html.EscapeString(string(closure.Value(source))))
			}
			_, _ = w.WriteString("</p>\n")
		}
		return ast.WalkContinue, nil
	})
}

// markdownPolicy is what of the HTML stays: text, lists, tables, code and links.
// Pictures do not: they would be fetched from elsewhere.
var markdownPolicy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h4", "h5", "h6",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	return p
}()

// headings moves headings of a note below those of the page.
var headings = regexp.MustCompile(`<(/?)h[1-3]\b`)

// memo remembers what a function made of texts. Markdown can be written so that
// reading it takes seconds, and a note stands on every chart of every reader: each
// text is read once.
type memo struct {
	mu   sync.Mutex
	make func(string) string
	made map[string]string
}

// memoMax bounds the texts that are remembered; then all are forgotten.
const memoMax = 1000

func (m *memo) of(text string) string {
	m.mu.Lock()
	made, ok := m.made[text]
	m.mu.Unlock()
	if ok {
		return made
	}
	made = m.make(text) // twice at worst, rather than others wait
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil || len(m.made) >= memoMax {
		m.made = map[string]string{}
	}
	m.made[text] = made
	return made
}

var rendered, excerpts = memo{make: toHTML}, memo{make: toExcerpt}

// renderMarkdown gives what a person wrote as harmless HTML.
func renderMarkdown(text string) string { return rendered.of(text) }

func toHTML(text string) string {
	var b bytes.Buffer
	if err := markdownWriter.Convert([]byte(text), &b); err != nil {
		// goldmark fails only where writing does, and a buffer does not.
		return "<p>" + html.EscapeString(text) + "</p>"
	}
	return string(markdownPolicy.SanitizeBytes(headings.ReplaceAll(b.Bytes(), []byte("<${1}h4"))))
}

// markdownBody is [renderMarkdown] as a part of a page: the one place where HTML
// is not made by a template, which is why it is sanitised.
func markdownBody(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, renderMarkdown(text))
		return err
	})
}

// excerptMax is how many letters of a note a tooltip shows.
const excerptMax = 280

var textPolicy = bluemonday.StrictPolicy()

// excerpt gives the beginning of what a person wrote as plain text.
func excerpt(text string) string { return excerpts.of(text) }

func toExcerpt(text string) string {
	// Far more than is shown, and little enough to be read quickly.
	if most := 16 * excerptMax; len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	var b bytes.Buffer
	if err := markdownWriter.Convert([]byte(text), &b); err == nil {
		text = html.UnescapeString(textPolicy.Sanitize(b.String()))
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > excerptMax {
		runes := []rune(text)
		text = strings.TrimSpace(string(runes[:excerptMax-1])) + "…"
	}
	return text
}
