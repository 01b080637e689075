//go:build unix

package web_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/browser"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/testdata"
	"github.com/relqps/relqps/web"
	"github.com/relqps/relqps/web/static"
)

// desk is a server whose pages can be written to, with what it stores in.
type desk struct {
	stage
	store *postgres.Store
	taker ingest.Ingester
}

// spikeVersions are those of [spiking].
var spikeVersions = []string{"7.9.3", "7.10.2", "8.0.0", "8.1.1", "8.2.1", "8.3.3", "8.4.4", "8.5.4", "8.6.7", "8.7.3", "8.8.0", "8.9.1", "8.10.0"}

// spiking makes a table as benchmark.sh prints it: three steps, three runs each;
// overwriteandwait falls to a quarter at 8.6.7 and is back at 8.7.3. Figures are
// made up.
func spiking(month int, factor float64) string {
	const header = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash"
	var b strings.Builder
	b.WriteString(header + "\n")
	hour := 0
	for i, version := range spikeVersions {
		for k, step := range []string{"fillseq.wal_disabled.v400", "readrandom.t8", "overwriteandwait.t8.s0"} {
			for repeat := range 3 {
				qps := factor * float64(1_000_000/(k+1)) * (1 + 0.004*float64((hour*7+repeat)%5-2))
				if k == 2 && version == "8.6.7" {
					qps /= 4
				}
				hour++
				fmt.Fprintf(&b, "%.0f\t400.0\t16GB\t0GB\t15.9\t2.0\t559.5\t29\t22\t0\t0\t0.7\t0.5\t%d\t4\t1135\t9372\t29\t37.8\t296\t0.0\t0.0\tNA\t%s\t2025-%02d-%02dT%02d:00:00\t%s\t\tabc%d\n",
					qps, 10+i, step, month, 1+hour/24, hour%24, version, i)
			}
		}
	}
	return b.String()
}

func (d *desk) send(t *testing.T, name, text string) {
	t.Helper()
	_, err := d.taker.Submit(t.Context(), bench.Upload{
		Filename: name, Bytes: []byte(text), Actor: "test",
		Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "s1", Workload: "iodir", Compiler: "gcc", Clients: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	if _, err := browser.Find(); err != nil {
		testdata.Missing(t, "%v", err)
	}
	if bundled, err := static.New(static.Embedded(), "/static/"); err != nil {
		t.Fatal(err)
	} else if bundled.Address("page.js") == "" {
		testdata.Missing(t, "the page script is not bundled: run scripts/bundle.sh")
	}
	store, err := postgres.New(pgtest.New(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{store: store, taker: ingest.Ingester{Store: store, Detect: compare.Detect}}
	d.send(t, "sum.txt", spiking(1, 1))
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	site := web.Config{Source: store, Store: store, Logger: log, Version: "test"}
	pages, err := web.New(site)
	if err != nil {
		t.Fatal(err)
	}
	calls := chi.NewRouter()
	api.Register(calls, api.Config{Store: store, Ingester: d.taker, Detect: compare.Detect, Logger: log, Metrics: http.NotFoundHandler(), Version: "test"})
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.Handle("/api/", calls)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b, err := browser.Start(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	d.stage = stage{url: server.URL, browser: b}
	return d
}

// tabTo presses Tab until an element that a selector finds has the focus.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	for range 200 {
		if eval[bool](p, `document.activeElement !== null && document.activeElement.matches(`+quote(selector)+`)`) {
			return
		}
		p.press(kb.Tab)
	}
	p.t.Fatalf("Tab does not reach %s", selector)
}

// moveTo moves the cross-hair of the focused chart to a version, step by step as a
// person would: the next key follows what the last one showed.
func (p *tab) moveTo(version string) {
	p.t.Helper()
	at := `[...document.querySelectorAll(".tip:not(.lock) h4, .r.on span:first-child")].map(e => e.firstChild.textContent)[0] ?? ""`
	p.press(kb.Home)
	p.wait("(" + at + ") === " + quote(spikeVersions[0]))
	for _, v := range spikeVersions[1:] {
		p.press(kb.ArrowRight)
		p.wait("(" + at + ") === " + quote(v))
		if v == version {
			return
		}
	}
}

func (p *tab) path() string {
	p.t.Helper()
	return eval[string](p, "location.pathname + location.search")
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return strings.Join(strings.Fields(eval[string](p, `document.querySelector(`+quote(selector)+`)?.innerText ?? ""`)), " ")
}

// heat reads the table of steps by version.
const heat = `[...document.querySelectorAll(".ver tbody td")].map(c => c.className + " " + c.textContent.trim()).join("|")`

// The whole path by keyboard alone: nothing here presses the mouse.
func TestWritingInABrowser(t *testing.T) {
	t.Parallel()
	s := newDesk(t)
	wide := browser.View{Width: 1440, Height: 1000}
	code, err := s.store.CreateSignIn(t.Context(), "ann", bench.TokenAnnotator)
	if err != nil {
		t.Fatal(err)
	}

	p := s.open(t, "/sign-in?once="+code, wide)
	p.press(kb.Enter) // the button has the focus
	p.wait(`location.pathname === "/" && document.querySelector(".who")?.textContent === "ann"`)

	t.Run("a note on a version stands on all charts in its scope", func(t *testing.T) {
		p := s.open(t, "/charts?step=overwriteandwait", wide)
		p.wait(drawn)
		p.tabTo("[data-chart]")
		p.moveTo("8.6.7")
		p.press(kb.Enter)
		p.wait(`document.querySelector(".lock:not([hidden]) h4")?.textContent.startsWith("8.6.7")`)
		p.press("n")
		p.wait(`location.pathname === "/notes/new" && document.activeElement?.id === "body"`)
		if got := eval[string](p, `[...document.querySelectorAll("#note-form input:not([type=hidden])")].map(e => e.value).join("|")`); got != "rocksdb|8.6.7||overwriteandwait|s1|iodir||" {
			t.Errorf("the form is filled with %q", got)
		}
		p.do(chromedp.KeyEvent("Compaction reads without readahead, see issue 12038."))
		p.tabTo("#note-form button[value=save]")
		p.press(kb.Enter)
		p.wait(`location.pathname === "/charts"`)
		p.wait(drawn)
		if got := p.text("#notes li.note"); !strings.Contains(got, "8.6.7") || !strings.Contains(got, "without readahead") || !strings.Contains(got, "ann, ") {
			t.Errorf("%q", got)
		}
		// Under the cross-hair of the keyboard the note is read.
		p.tabTo("[data-chart]")
		p.moveTo("8.6.7")
		p.wait(`[...document.querySelectorAll(".tip")].some(e => e.textContent.includes("note 1: Compaction reads without readahead"))`)

		for path, want := range map[string]string{
			"/charts": "overwriteandwait", "/report/rocksdb": "overwriteandwait", "/charts?step=overwriteandwait&from=8.6.7": "overwriteandwait", "/charts?step=fillseq": "", "/charts?from=8.7.3": "",
		} {
			p := s.open(t, path, wide)
			p.wait(`document.querySelector("#view") !== null`)
			got := eval[string](p, `[...document.querySelectorAll("[data-chart]")].map(e => JSON.parse(document.getElementById(e.dataset.chart).textContent)).filter(f => f.notes?.length === 1).map(f => f.step).join(" ")`)
			if got != want {
				t.Errorf("%s has the note on %q, want %q", path, got, want)
			}
		}
		// A small chart says in its heading that there is one.
		small := s.open(t, "/charts", wide)
		small.wait(drawn)
		small.tabTo(`[data-chart="c2"]`)
		small.moveTo("8.6.7")
		small.wait(`[...document.querySelectorAll("[data-read-out]")].some(e => e.textContent.includes("8.6.7") && e.textContent.includes("note 1: Compaction"))`)
	})

	t.Run("a frozen link keeps its figures while live ones move", func(t *testing.T) {
		p := s.open(t, "/report/rocksdb", wide)
		p.wait(drawn)
		p.tabTo("details[data-links] > summary")
		p.press(kb.Enter)
		p.tabTo("form[data-link] button[value='1']")
		// A headless browser may have no clipboard: the address is then shown to be copied by hand.
		eval[bool](p, `(window.prompt = (_, text) => { window.shown = text; return null }, true)`)
		p.press(kb.Enter)
		p.wait(`window.shown !== undefined || document.querySelector(".said")?.textContent.includes("/s/")`)
		said := eval[string](p, `window.shown ?? document.querySelector(".said").textContent`)
		path := regexp.MustCompile(`/s/[0-9A-Za-z]+`).FindString(said)
		if path == "" || len(s.url+path) > 60 {
			t.Fatalf("%q", said)
		}
		before, lead := eval[string](p, heat), p.text("#lead")

		s.send(t, "later.txt", spiking(3, 1.2))
		if err := s.store.Rename(t.Context(), bench.NameServer, "s1", "beelink", "test"); err != nil {
			t.Fatal(err)
		}
		frozen := s.open(t, path, wide)
		frozen.wait(drawn)
		if diff := cmp.Diff(before, eval[string](frozen, heat)); diff != "" {
			t.Errorf("figures of the frozen page moved: %s", diff)
		}
		if got := frozen.text("#lead"); got != lead || !strings.HasPrefix(frozen.text(".frozen"), "frozen on ") || !strings.Contains(frozen.text("h1"), "s1") {
			t.Errorf("%q, %q, %q", got, frozen.text(".frozen"), frozen.text("h1"))
		}
		frozen.tabTo(".frozen a")
		frozen.press(kb.Enter)
		frozen.wait(`location.pathname === "/report/rocksdb" && document.querySelector(".ver") !== null`)
		if eval[string](frozen, heat) == before || !strings.Contains(frozen.text("h1"), "beelink") {
			t.Error("the live page shows the figures of the frozen one")
		}
	})

	t.Run("a change is opened, its state set, and found in the list", func(t *testing.T) {
		p := s.open(t, "/changes?step=overwriteandwait&kind=regression", wide)
		p.wait(`document.querySelector(".ct") !== null`)
		p.tabTo(`.ct tbody a[href^="/changes/"]`)
		p.press(kb.Enter)
		p.wait(`/^\/changes\/\d+$/.test(location.pathname)`)
		p.wait(drawn)
		change := p.path()
		if got := p.text("h1"); !strings.HasPrefix(got, "overwriteandwait fell to 0.25 at 8.6 on beelink, iodir") {
			t.Errorf("%q", got)
		}
		p.tabTo("#triage-form button[value=confirmed]")
		p.press(kb.Enter)
		p.wait(`document.querySelector("#state")?.textContent === "confirmed"`)
		p.tabTo("#comment")
		p.do(chromedp.KeyEvent("Seen on **every** run."))
		p.tabTo("#thread button[type=submit]")
		p.press(kb.Enter)
		p.wait(`document.querySelector("#thread .md strong")?.textContent === "every"`)
		if got := p.text("#thread"); !strings.Contains(got, "set the state to confirmed, it was new") {
			t.Errorf("%q", got)
		}
		// Found by its state, through the menu of the list.
		if err := p.Go(s.url + "/changes"); err != nil {
			t.Fatal(err)
		}
		for !strings.HasPrefix(eval[string](p, `document.activeElement.innerText ?? ""`), "State") {
			p.press(kb.Tab)
		}
		p.press(kb.Enter)
		p.tabTo(`.pop a[href="/changes?status=confirmed"]`)
		p.press(kb.Enter)
		p.wait(`location.search === "?status=confirmed"`)
		if got := eval[string](p, `[...document.querySelectorAll(".ct tbody a[href^='/changes/']")].map(a => a.getAttribute("href")).join(" ")`); got != change {
			t.Errorf("confirmed are %q, want %s", got, change)
		}
	})

	t.Run("the sensitivity moves the marks at once", func(t *testing.T) {
		p := s.open(t, "/charts?step=overwriteandwait", wide)
		p.wait(drawn)
		eval[bool](p, "window.stays = true")
		rows := `document.querySelectorAll("tr[data-change]:not([hidden])").length`
		pixels := `document.querySelector("canvas").toDataURL()`
		usual, picture := eval[int](p, rows), eval[string](p, pixels)
		p.tabTo("a[data-sensitivity=sensitive]")
		p.press(kb.Enter)
		p.wait(`document.querySelector("a[data-sensitivity=sensitive]").getAttribute("aria-current") === "true"`)
		if p.path() != "/charts?step=overwriteandwait&sensitivity=sensitive" || !eval[bool](p, "window.stays === true") {
			t.Errorf("at %s, or the page was loaded anew", p.path())
		}
		sensitive := eval[int](p, rows)
		if sensitive < usual {
			t.Errorf("%d marks, %d at the usual setting", sensitive, usual)
		}
		if (eval[string](p, pixels) == picture) != (sensitive == usual) {
			t.Errorf("%d marks, %d at the usual setting, but the chart says otherwise", sensitive, usual)
		}
		// The very page that the server makes for the address, and Back.
		served := s.open(t, p.path(), wide)
		served.wait(drawn)
		if a, b := p.text("[data-marked]"), served.text("[data-marked]"); a != b {
			t.Errorf("%q, the server says %q", a, b)
		}
		eval[bool](p, "(history.back(), true)")
		p.wait(rows + fmt.Sprintf(" === %d", usual))
	})

	t.Run("shift and click on a version of the table makes it the base", func(t *testing.T) {
		p := s.open(t, "/report/rocksdb", wide)
		at := eval[struct{ X, Y float64 }](p, `(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })(document.querySelectorAll("[data-shift-base]")[4])`)
		p.do(chromedp.MouseClickXY(at.X, at.Y, chromedp.ButtonModifiers(chromedp.ModifierShift)))
		p.wait(`location.search === "?base=8.2.1" && document.querySelectorAll(".ver td.isb").length === 3`)
	})

	t.Run("pages are no wider than the window", func(t *testing.T) {
		for _, width := range []int64{1440, 390} {
			for _, path := range []string{"/report/rocksdb", "/report/rocksdb?all=1", "/changes", "/changes/1", "/versions/rocksdb/8.6.7", "/notes", "/notes/new", "/sign-in", "/", "/charts?step=overwriteandwait"} {
				p := s.open(t, path, browser.View{Width: int(width), Height: 1000})
				if w := eval[int64](p, "document.documentElement.scrollWidth"); w > width {
					t.Errorf("%s is %d px wide in a window of %d", path, w, width)
				}
				// A table that does not fit scrolls, its figures stay on one line.
				if n := eval[int](p, `[...document.querySelectorAll(".heat td a")].filter(a => a.offsetWidth < 30 || a.offsetHeight > 30).length`); n > 0 {
					t.Errorf("%s, %d px: %d figures of a heat table are squeezed", path, width, n)
				}
			}
		}
	})
}
