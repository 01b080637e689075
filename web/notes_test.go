package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/chart"
)

func noteOn(id int64, version, body string, scope bench.NoteScope) bench.Note {
	return bench.Note{ID: id, System: "rocksdb", Version: version, Body: body, Author: "ann", Scope: scope, Revision: 1, Created: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
}

func TestNotesStandOnEveryChartInTheirScope(t *testing.T) {
	t.Parallel()
	source := reportSource(t)
	ranged := noteOn(3, "8.1.1", "Measured with another kernel.", bench.NoteScope{Server: "c2"})
	ranged.ToVersion = "8.3.3"
	source.notes = []bench.Note{
		noteOn(1, "8.0.0", "On all **steps**.", bench.NoteScope{}),
		ranged,
		noteOn(2, "8.6.7", "Readahead is off.", bench.NoteScope{Step: "overwrite"}), // the family's elder name
		noteOn(4, "8.6.7", "Another server's.", bench.NoteScope{Server: "u5"}),
		noteOn(5, "9.9.9", "Beyond the axis.", bench.NoteScope{}),
	}
	in := chartsInput{}
	s := &server{Config: Config{Source: source}}
	in, err := s.readReport(t.Context(), "rocksdb", "", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := answer(in)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]chart.NoteMark{}
	for _, f := range a.figures {
		got[f.Step] = f.Notes
	}
	all := chart.NoteMark{At: 2, To: 2, N: 1, Text: "On all steps.", Href: "#n1"}
	kernel := chart.NoteMark{At: 3, To: 5, N: 2, Text: "Measured with another kernel.", Href: "#n2"}
	readahead := chart.NoteMark{At: 8, To: 8, N: 3, Text: "Readahead is off.", Href: "#n3"}
	want := map[string][]chart.NoteMark{
		"fillseq": {all, kernel}, "readrandom": {all, kernel}, "fwdrange": {all, kernel}, "overwriteandwait": {all, kernel, readahead},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// They are listed under the charts, with the numbers of their marks.
	h := newHandler(t, source)
	for target, want := range map[string][]string{
		"/report/rocksdb":                 {"1 8.0.0", "2 8.1.1 to 8.3.3", "3 8.6.7"},
		"/charts":                         {"1 8.0.0", "2 8.1.1 to 8.3.3", "3 8.6.7"},
		"/charts?step=fillseq":            {"1 8.0.0", "2 8.1.1 to 8.3.3"},
		"/charts?step=fillseq&from=8.6.7": nil,
	} {
		var list []string
		page(t, h, target).Find("li.note").Each(func(_ int, s *goquery.Selection) {
			list = append(list, s.Find(".notemark").Text()+" "+s.Find(".nv").Text())
		})
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
	d := page(t, h, "/report/rocksdb")
	if ring := d.Find(".ver .rings a").First(); ring.Text() != "1" || ring.AttrOr("href", "") != "#n1" || ring.AttrOr("title", "") != "On all steps." {
		t.Errorf("%q", ring.Text())
	}
	if d.Find("#n1 .md strong").Text() != "steps" {
		t.Error("the note's Markdown is not shown")
	}
}

func TestNotesAreWrittenByAForm(t *testing.T) {
	t.Parallel()
	store := newFakeStore(reportSource(t))
	h := newHandler(t, store.source, withStore(store))
	add := page(t, h, "/charts?step=overwriteandwait").Find("a[data-key=n]").AttrOr("href", "")
	d := parse(t, as(t, h, "ann", http.MethodGet, add, nil).Body.String())
	form := url.Values{}
	d.Find("#note-form input, #note-form textarea").Each(func(_ int, s *goquery.Selection) { form.Set(s.AttrOr("name", ""), s.AttrOr("value", s.Text())) })
	want := url.Values{"back": {"/charts?step=overwriteandwait"}, "system": {"rocksdb"}, "version": {""}, "to_version": {""}, "body": {""},
		"step": {"overwriteandwait"}, "server": {"c2"}, "workload": {"cached"}, "compiler": {""}, "config": {""}}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Fatalf("the form is filled with the view's scope: %s", diff)
	}
	form.Set("body", "Readahead is *off*.")

	// What is wrong is said beside what was typed, and nothing is lost.
	w := as(t, h, "ann", http.MethodPost, "/notes", form)
	d = parse(t, w.Body.String())
	if w.Code != http.StatusBadRequest || !strings.Contains(text(d, "[role=alert]"), "name both") || text(d, "textarea") != "Readahead is *off*." {
		t.Errorf("status %d: %q", w.Code, text(d, "[role=alert]"))
	}
	form.Set("version", "8.6.7")
	form.Set("do", "preview")
	w = as(t, h, "ann", http.MethodPost, "/notes", form)
	if d = parse(t, w.Body.String()); w.Code != http.StatusOK || d.Find(".preview em").Text() != "off" || len(store.source.notes) != 0 {
		t.Errorf("status %d, %d notes", w.Code, len(store.source.notes))
	}
	form.Set("do", "save")
	w = as(t, h, "ann", http.MethodPost, "/notes", form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/charts?step=overwriteandwait" {
		t.Fatalf("status %d to %q", w.Code, w.Header().Get("Location"))
	}
	n := store.source.notes[0]
	if n.Author != "ann" || n.Version != "8.6.7" || n.Scope != (bench.NoteScope{Step: "overwriteandwait", Server: "c2", Workload: "cached"}) {
		t.Errorf("%+v", n)
	}

	// Edited by somebody who saw the text that stands, not by one who saw an older.
	edit := parse(t, as(t, h, "ann", http.MethodGet, "/notes/1/edit", nil).Body.String())
	if edit.Find("input[name=version]").Length() != 0 || edit.Find("input[name=revision]").AttrOr("value", "") != "1" {
		t.Error("the form does not say which text it edits, or lets the version change")
	}
	change := url.Values{"body": {"Readahead is off."}, "step": {"overwriteandwait"}, "revision": {"1"}}
	if w := as(t, h, "ann", http.MethodPost, "/notes/1", change); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/notes/1" {
		t.Errorf("status %d", w.Code)
	}
	if w := as(t, h, "ann", http.MethodPost, "/notes/1", change); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "edited in between") {
		t.Errorf("status %d", w.Code)
	}
	if w := as(t, h, "ann", http.MethodPost, "/notes/1/delete", nil); w.Code != http.StatusSeeOther || store.source.notes[0].Deleted == nil {
		t.Errorf("status %d", w.Code)
	}
	if page(t, h, "/charts?step=overwriteandwait").Find("li.note").Length() != 0 {
		t.Error("a deleted note is still on the chart")
	}
	// Its trace is left, and it cannot be edited any more.
	if got := text(page(t, h, "/notes/1"), "li.note"); !strings.Contains(got, "deleted 2026-11-30") {
		t.Errorf("%q", got)
	}
	if w := as(t, h, "ann", http.MethodGet, "/notes/1/edit", nil); w.Code != http.StatusConflict {
		t.Errorf("status %d", w.Code)
	}
}

func TestNotesAreListedWithFilters(t *testing.T) {
	t.Parallel()
	now := time.Now()
	gone := noteOn(3, "8.7.3", "Gone.", bench.NoteScope{})
	gone.Deleted = &now
	other := noteOn(4, "1.0", "Of another system.", bench.NoteScope{})
	other.System = "neard"
	source := &fakeSource{notes: []bench.Note{noteOn(1, "8.0.0", "One.", bench.NoteScope{Step: "fillseq", Compiler: "clang+lto"}), noteOn(2, "8.6.7", "Two.", bench.NoteScope{}), gone, other}}
	source.history = map[int64][]bench.NoteRevision{1: {{Revision: 1, Actor: "ann", Action: "written", Body: "Een."}, {Revision: 2, Actor: "bob", Action: "edited", Body: "One."}}}
	h := newHandler(t, source)
	for query, want := range map[string]string{
		"": "One. Two. Of another system.", "?system=neard": "Of another system.", "?version=8.6.7": "Two.", "?deleted=1&system=rocksdb": "One. Two.", "?version=7.0.0": "",
	} {
		var got []string
		d := page(t, h, "/notes"+query)
		d.Find("li.note .md p").Each(func(_ int, s *goquery.Selection) { got = append(got, s.Text()) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", query, got)
		}
		if strings.Contains(query, "deleted=1") != (d.Find("#note-3").Length() == 1) {
			t.Errorf("%q: the deleted one", query)
		}
	}
	if got := text(page(t, h, "/notes"), "#note-1 .nh"); got != "8.0.0 fillseq, clang+LTO" {
		t.Errorf("%q", got)
	}
	if got := text(page(t, h, "/notes/1"), ".thread"); got != "bob edited —One.ann written —Een." {
		t.Errorf("%q", got)
	}
	for _, target := range []string{"/notes/9", "/notes/x", "/notes?change=x", "/notes/0"} {
		if w := get(t, h, target); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

// What people write is Markdown, and harmless whatever it holds.
func TestMarkdownIsHarmless(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"a **b** `c`":                       "<p>a <strong>b</strong> <code>c</code></p>",
		"<img src=x onerror=alert(1)>":      "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
		"a <b onclick=x>b</b>":              "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>",
		"</script><script>alert(1)":         "<p>&lt;/script&gt;&lt;script&gt;alert(1)</p>",
		"<!-- x -->":                        "<p>&lt;!-- x --&gt;</p>",
		"<style>\n*{}\n</style>\n":          "<p>&lt;style&gt;\n*{}\n&lt;/style&gt;\n</p>",
		"[x](javascript:alert(1))":          "<p>x</p>",
		"[x](data:text/html,y)":             "<p>x</p>",
		"![x](https://evil.example/y.png)":  "<p></p>",
		"[x](https://a.example/ \"title\")": `<p><a href="https://a.example/" rel="nofollow noreferrer">x</a></p>`,
		"[x](/changes/1)":                   `<p><a href="/changes/1" rel="nofollow">x</a></p>`,
		"https://a.example/b":               `<p><a href="https://a.example/b" rel="nofollow noreferrer">https://a.example/b</a></p>`,
		"# Large":                           "<h4>Large</h4>",
		"=1+1":                              "<p>=1+1</p>",
		"__f__alert(1)__f__":                "<p>__f__alert(1)<strong>f</strong></p>",
	} {
		if got := strings.TrimSpace(renderMarkdown(source)); got != strings.TrimSpace(want) {
			t.Errorf("%q gives %q, want %q", source, got, want)
		}
	}
	if got := excerpt("# A **b**\n\n<i>c</i> [d](javascript:x) " + strings.Repeat("e", 400)); !strings.HasPrefix(got, "A b <i>c</i> d eee") || len([]rune(got)) != excerptMax || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
}

// A text that takes long to read is read once, whoever looks how often.
func TestMarkdownIsReadOnce(t *testing.T) {
	t.Parallel()
	reads := 0
	m := memo{make: func(s string) string { reads++; return s + "!" }}
	for range 3 {
		if got := m.of("a"); got != "a!" {
			t.Errorf("%q", got)
		}
	}
	if reads != 1 {
		t.Errorf("read %d times", reads)
	}
	for i := range 2 * memoMax {
		m.of(strconv.Itoa(i))
	}
	if len(m.made) > memoMax {
		t.Errorf("%d texts are kept", len(m.made))
	}
}
