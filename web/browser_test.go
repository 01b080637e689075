//go:build unix

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/browser"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/testdata"
	"github.com/relqps/relqps/web"
	"github.com/relqps/relqps/web/static"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// report makes a table as benchmark.sh prints it: three steps at eight versions,
// some of them measured several times. Figures are made up.
func report(factor float64) string {
	const header = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash"
	var b strings.Builder
	b.WriteString(header + "\n")
	day := 0
	for i, version := range []string{"7.0.4", "7.10.2", "8.0.0", "8.1.1", "8.4.4", "9.0.1", "9.1.2", "10.0.1"} {
		for k, step := range []string{"fillseq.wal_disabled.v400", "readrandom.t8", "overwriteandwait.t8.s0"} {
			for repeat := range 1 + i%3 {
				day++
				qps := factor * float64(1_000_000/(k+1)) * []float64{1, 0.99, 0.93, 0.94, 0.6, 0.95, 1.2, 1.21}[i] * (1 + 0.004*float64(repeat) - 0.002*float64(day%3))
				fmt.Fprintf(&b, "%.0f\t400.0\t16GB\t0GB\t15.9\t2.0\t559.5\t29\t22\t0\t0\t0.7\t0.5\t%d\t4\t1135\t9372\t29\t37.8\t296\t0.0\t0.0\tNA\t%s\t2025-01-%02dT%02d:00:00\t%s\t\tabc%d\n",
					qps, 10+i, step, 1+day/24, day%24, version, i)
			}
		}
	}
	return b.String()
}

// stage is a real server over a real database, with a browser to look at it.
type stage struct {
	url     string
	token   string
	browser *browser.Browser
}

func newStage(t *testing.T) *stage {
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
	taker := ingest.Ingester{Store: store}
	for _, c := range []struct {
		compiler string
		factor   float64
	}{{"gcc", 1}, {"clang", 1.05}} {
		_, err := taker.Submit(t.Context(), bench.Upload{
			Filename: c.compiler + "/sum.txt", Bytes: []byte(report(c.factor)), Actor: "test",
			Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "s1", Workload: "cached", Compiler: c.compiler, Clients: 8},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = taker.Submit(t.Context(), bench.Upload{
		Filename: "sum.txt", Bytes: []byte(strings.ReplaceAll(report(2), "2025-01", "2025-02")), Actor: "test",
		Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: hostileName, Workload: "cached", Compiler: "gcc", Clients: 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := store.CreateToken(t.Context(), "browser test", bench.TokenRunner)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	pages, err := web.New(web.Config{Source: store, Logger: log, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	calls := chi.NewRouter()
	api.Register(calls, api.Config{Store: store, Ingester: taker, Logger: log, Metrics: http.NotFoundHandler(), Version: "test"})
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
	return &stage{url: server.URL, token: token, browser: b}
}

// hostileName is the name of a server.
const hostileName = `<img src=x onerror=alert(1)>{a|b}__f__alert(1)__f__`

// limit is how long a page may take for what it does; it only ends a hanging test.
const limit = 20 * time.Second

// tab is a page with what tests do with it.
type tab struct {
	*browser.Tab
	t *testing.T
	s *stage
}

const drawn = `[...document.querySelectorAll("[data-chart]")].every(e => { const c = e.querySelector("canvas"); return c && c.width > 0 &&
	c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v !== 0) })`

func (s *stage) open(t *testing.T, path string, view browser.View) *tab {
	t.Helper()
	b, err := s.browser.Open(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	p := &tab{b, t, s}
	t.Cleanup(func() {
		for _, e := range b.ConsoleErrors() {
			t.Errorf("console of %s: %s", path, e)
		}
		b.Close()
	})
	if err := b.Go(s.url + path); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait waits for a condition on a whole page: before that, what is read after it
// may still be missing.
func (p *tab) wait(condition string) {
	p.t.Helper()
	if err := p.Wait(`document.readyState === "complete" && (`+condition+`)`, limit); err != nil {
		var where string
		_ = p.Eval("location.href", &where)
		p.t.Fatalf("%v\nat %s", err, where)
	}
}

func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	var v T
	if err := p.Eval(expression, &v); err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *tab) do(a chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.Context(), a); err != nil {
		p.t.Fatal(err)
	}
}

// click presses the mouse on an element that a selector finds.
func (p *tab) click(selector string) {
	p.t.Helper()
	at := eval[struct{ X, Y float64 }](p, `(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })(document.querySelector(`+quote(selector)+`))`)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
}

// clickVersion presses the mouse in the first chart over a version.
func (p *tab) clickVersion(index int, options ...chromedp.MouseOption) {
	p.t.Helper()
	at := eval[struct{ X, Y float64 }](p, fmt.Sprintf(`(() => { const e = document.querySelector("[data-chart]"); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect();
		const v = JSON.parse(document.getElementById("view").textContent), g = {...v.option, ...JSON.parse(document.getElementById(e.dataset.chart).textContent).option}.grid;
		return {X: r.x + g.left + (%d + .5) * (r.width - g.left - g.right) / v.versions.length, Y: r.y + g.top + 10} })()`, index))
	p.do(chromedp.MouseClickXY(at.X, at.Y, options...))
}

func (p *tab) press(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key))
}

func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(raw)
}

// figures reads every table of a page: version, then the cells, a line a row.
const figures = `[...document.querySelectorAll("table[data-figures] tbody tr")].map(r => [...r.cells].map(c => c.className + ":" + c.textContent.trim()).join(" | "))`

// served reads the same from the server's own page, without a browser.
func (s *stage) served(t *testing.T, path string) (*goquery.Document, []string) {
	t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	d, err := goquery.NewDocumentFromReader(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	d.Find("table[data-figures] tbody tr").Each(func(_ int, tr *goquery.Selection) {
		var cells []string
		tr.Children().Each(func(_ int, c *goquery.Selection) {
			cells = append(cells, c.AttrOr("class", "")+":"+strings.TrimSpace(c.Text()))
		})
		rows = append(rows, strings.Join(cells, " | "))
	})
	if len(rows) == 0 {
		t.Fatalf("%s has no figures", path)
	}
	return d, rows
}

// words are all texts that depend on the base, by what they are.
const words = `({lead: document.querySelector("[data-lead]")?.textContent ?? "", base: document.querySelector("[data-base-name]").textContent,
	outs: [...document.querySelectorAll("[data-read-out]")].map(e => e.textContent), roles: [...document.querySelectorAll("[data-role]")].map(e => e.textContent),
	labels: [...document.querySelectorAll("[data-chart]")].map(e => e.getAttribute("aria-label")), copy: new URL(document.querySelector("[data-copy]").href).search,
	links: [...document.querySelectorAll("a[data-view]")].map(e => e.getAttribute("href").replace(/^.*\?/, "?"))})`

type pageWords struct {
	Lead, Base, Copy           string
	Outs, Roles, Labels, Links []string
}

func normal(w pageWords) pageWords {
	for _, list := range [][]string{w.Outs, w.Roles, w.Labels} {
		for i := range list {
			list[i] = strings.Join(strings.Fields(list[i]), " ")
		}
	}
	w.Lead = strings.Join(strings.Fields(w.Lead), " ")
	return w
}

func TestInABrowser(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	wide := browser.View{Width: 1440, Height: 1000}

	t.Run("charts are drawn, light and dark, wide and narrow", func(t *testing.T) {
		for _, view := range []browser.View{wide, {Width: 1440, Height: 1000, Dark: true}, {Width: 390, Height: 3000}} {
			for _, path := range []string{"/charts", "/charts?step=readrandom", "/charts?compiler=gcc&compiler=clang&scale=fit", "/compilers", "/compilers?base_compiler=gcc"} {
				p := s.open(t, path, view)
				p.wait(drawn)
				if w := eval[int](p, "document.documentElement.scrollWidth"); w > view.Width {
					t.Errorf("%s is %d px wide in a window of %d", path, w, view.Width)
				}
			}
		}
	})

	t.Run("the theme can be switched and is remembered", func(t *testing.T) {
		p := s.open(t, "/charts", wide)
		p.wait(drawn)
		pixels := `document.querySelector("canvas").toDataURL()`
		before := eval[string](p, pixels)
		p.click("[data-theme-switch]")
		p.wait(`document.documentElement.dataset.theme === "dark"`)
		if eval[string](p, pixels) == before {
			t.Error("charts keep their colours")
		}
		if err := p.Go(s.url + "/runs"); err != nil {
			t.Fatal(err)
		}
		p.wait(`document.documentElement.dataset.theme === "dark"`)
		p.click("[data-theme-switch]") // the next test begins in the light
	})

	// Every way to another base must lead to the very page that the server would
	// have made for its address, without asking the server.
	for _, test := range []struct {
		behaviour, path string
		act             func(*tab)
		want            string
	}{
		{"shift-click in a small chart", "/charts", func(p *tab) {
			p.clickVersion(4, chromedp.ButtonModifiers(chromedp.ModifierShift))
		}, "/charts?base=8.4.4"},
		{"choice of the menu", "/charts", func(p *tab) {
			p.click(".f.base > summary")
			p.click(`.f.base a[href="/charts?base=9.1.2"]`)
		}, "/charts?base=9.1.2"},
		{"link in the table", "/charts?step=readrandom", func(p *tab) {
			p.click(`table[data-figures] a[href="/charts?step=readrandom&base=8.0.0"]`)
		}, "/charts?step=readrandom&base=8.0.0"},
		{"key on the cross-hair", "/charts?step=fillseq", func(p *tab) {
			p.do(chromedp.KeyEvent("\t")) // something has focus
			p.wait(`(document.querySelector("[data-chart]").focus(), document.activeElement.dataset.chart === "c0")`)
			for range 3 {
				p.press(kb.ArrowLeft)
			}
			p.press("b")
		}, "/charts?step=fillseq&base=9.0.1"},
		{"another compiler's point", "/charts?step=fillseq&compiler=gcc&compiler=clang&base=8.0.0&base_compiler=gcc", func(p *tab) {
			p.click(".f.base > summary")
			p.click(`.f.base a[href="/charts?step=fillseq&compiler=gcc&compiler=clang&base=8.0.0&base_compiler=clang"]`)
		}, "/charts?step=fillseq&compiler=gcc&compiler=clang&base=8.0.0&base_compiler=clang"},
		{"another compiler's point at each version", "/charts?compiler=gcc&compiler=clang&base=8.0.0&base_compiler=gcc", func(p *tab) {
			p.click(".f.base > summary")
			p.click(`.f.base a[href="/charts?compiler=gcc&compiler=clang&base_compiler=gcc"]`)
		}, "/charts?compiler=gcc&compiler=clang&base_compiler=gcc"},
		{"back into a range from a base outside of it", "/charts?base=7.0.4&from=8.0.0&metric=p99", func(p *tab) {
			p.clickVersion(1, chromedp.ButtonModifiers(chromedp.ModifierShift))
		}, "/charts?metric=p99&base=8.1.1&from=8.0.0"},
	} {
		t.Run("base by "+test.behaviour, func(t *testing.T) {
			p := s.open(t, test.path, wide)
			p.wait(drawn)
			old := eval[[]string](p, figures)
			pixels := eval[string](p, `document.querySelector("canvas").toDataURL()`)
			eval[bool](p, `window.same = true`)
			test.act(p)
			p.wait(`location.pathname + location.search === ` + quote(test.want))
			if !eval[bool](p, `window.same === true`) {
				t.Fatal("the page was loaded again")
			}
			_, want := s.served(t, test.want)
			got := eval[[]string](p, figures)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("figures differ from the server's (-server +script):\n%s", diff)
			}
			if cmp.Diff(old, got) == "" {
				t.Error("no figure changed")
			}
			if eval[string](p, `document.querySelector("canvas").toDataURL()`) == pixels {
				t.Error("the chart was not drawn again")
			}
			p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2)) // off the chart: its heading rests
			fresh := s.open(t, test.want, wide)
			fresh.wait(drawn)
			if diff := cmp.Diff(normal(eval[pageWords](fresh, words)), normal(eval[pageWords](p, words))); diff != "" {
				t.Errorf("words and links differ from the server's (-server +script):\n%s", diff)
			}
			eval[bool](p, `(history.back(), true)`)
			p.wait(`location.pathname + location.search === ` + quote(test.path))
			p.wait(`JSON.stringify(` + figures + `) === ` + quote(mustJSON(old)))
			if !eval[bool](p, `window.same === true`) {
				t.Error("Back loaded the page again")
			}
		})
	}

	t.Run("builds are read out together, share a scale, and take another base", func(t *testing.T) {
		p := s.open(t, "/compilers", wide)
		p.wait(drawn)
		p.wait(`(document.querySelector("[data-chart]").focus(), document.activeElement.dataset.chart === "c0")`)
		p.press(kb.End)
		p.wait(`[...document.querySelectorAll("[data-read-out]")].every(e => /^10\.0\.1gcc .*clang /.test(e.textContent))`)
		_, rows := s.served(t, "/compilers")
		cells := strings.Split(rows[len(rows)-1], " | ") // of the last chart: version, then figure and ratio of gcc and of clang
		out := eval[string](p, `[...document.querySelectorAll("[data-read-out]")].at(-1).textContent`)
		for _, i := range []int{2, 5} {
			if ratio := cells[i][strings.Index(cells[i], ":")+1:]; !strings.Contains(out, ratio) {
				t.Errorf("the read-out %q lacks the table's %q of %q", out, ratio, cells)
			}
		}
		p.press(kb.Escape)
		eval[bool](p, `window.same = true`)
		p.clickVersion(2, chromedp.ButtonModifiers(chromedp.ModifierShift))
		p.wait(`location.pathname + location.search === "/compilers?base=8.0.0&base_compiler=gcc" && window.same === undefined && document.querySelector("[data-base-name]")?.textContent === "gcc 8.0.0"`)
		p.wait(drawn)
		p.click(`#lines .seg a:not([aria-current])`)
		p.wait(`location.search === "?base_compiler=gcc" && document.querySelector("[data-base-name]")?.textContent === "gcc at each version"`)
	})

	t.Run("a base that only the server knows is a plain link", func(t *testing.T) {
		p := s.open(t, "/charts?from=9.0.0", wide)
		p.wait(drawn)
		eval[bool](p, `window.same = true`)
		p.click(".f.base > summary")
		p.click(`.f.base a[href="/charts?base=7.0.4&from=9.0.0"]`)
		p.wait(`location.search === "?base=7.0.4&from=9.0.0" && window.same === undefined && document.readyState === "complete"`)
	})

	t.Run("keys move the cross-hair over all charts", func(t *testing.T) {
		p := s.open(t, "/charts", wide)
		p.wait(drawn)
		p.wait(`(document.querySelector("[data-chart]").focus(), document.activeElement.dataset.chart === "c0")`)
		rest := eval[[]string](p, `[...document.querySelectorAll("[data-read-out]")].map(e => e.textContent)`)
		p.press(kb.End)
		p.wait(`[...document.querySelectorAll("[data-read-out]")].every(e => e.textContent.startsWith("10.0.1"))`)
		p.press(kb.ArrowLeft)
		p.wait(`[...document.querySelectorAll("[data-read-out]")].every(e => e.textContent.startsWith("9.1.2"))`)
		_, rows := s.served(t, "/charts")
		ratio := strings.Split(rows[6], " | ")[2]
		if out := eval[string](p, `document.querySelector("[data-read-out]").textContent`); !strings.Contains(out, ratio[strings.Index(ratio, ":")+1:]) {
			t.Errorf("the read-out %q is not the table's %q", out, ratio)
		}
		p.press(kb.Home)
		p.wait(`document.querySelector("[data-read-out]").textContent.startsWith("7.0.4")`)
		p.press(kb.Escape)
		p.wait(`JSON.stringify([...document.querySelectorAll("[data-read-out]")].map(e => e.textContent)) === ` + quote(mustJSON(rest)))
	})

	t.Run("a click locks a version, with its run and a link", func(t *testing.T) {
		p := s.open(t, "/charts?step=readrandom", wide)
		p.wait(drawn)
		p.clickVersion(4)
		p.wait(`location.search === "?step=readrandom&at=8.4.4"`)
		p.wait(`document.querySelector(".lock h4")?.textContent.startsWith("8.4.4")`)
		_, rows := s.served(t, "/charts?step=readrandom")
		cell := strings.Split(rows[4], " | ")
		value := cell[1][strings.Index(cell[1], ":")+1:]
		if box := eval[string](p, `document.querySelector(".lock").innerText`); !strings.Contains(box, value+"/s") || !strings.Contains(box, "against 8.1.1") {
			t.Errorf("%q does not hold %q", box, value)
		}
		run := eval[string](p, `document.querySelector('.lock .act a[href^="/runs/"]').getAttribute("href")`)
		p.press(kb.Escape)
		p.wait(`document.querySelector(".lock").hidden && location.search === "?step=readrandom"`)
		again := s.open(t, "/charts?step=readrandom&at=8.4.4", wide)
		again.wait(`document.querySelector(".lock h4")?.textContent.startsWith("8.4.4")`)
		again.press("r")
		again.wait(`location.pathname === ` + quote(run) + ` && document.querySelector("table.met") !== null`)
	})

	t.Run("a locked version is compared with the base, with all its steps", func(t *testing.T) {
		p := s.open(t, "/charts?step=readrandom&at=8.4.4", wide)
		p.wait(`document.querySelector(".lock h4")?.textContent.startsWith("8.4.4")`)
		href := eval[string](p, `[...document.querySelectorAll(".lock .act a")].find(a => a.textContent.startsWith("Compare")).getAttribute("href")`)
		if !strings.Contains(href, "a.version=7.0.4") || !strings.Contains(href, "b.version=8.4.4") || strings.Contains(href, "step=") {
			t.Errorf("%s", href)
		}
		p.press("c")
		p.wait(`location.pathname === "/compare" && document.querySelector("h1")?.textContent === "8.4.4 against 7.0.4" && document.querySelectorAll("table.cmp tbody tr").length > 1`)
	})

	t.Run("the search field is a key away", func(t *testing.T) {
		p := s.open(t, "/charts", wide)
		p.press("/")
		p.wait(`document.activeElement.name === "q"`)
		eval[string](p, `document.activeElement.value = ""`) // a pressed key also types here, unlike at a keyboard
		for _, c := range "readrandom" {
			p.press(string(c))
		}
		p.press("\r")
		p.wait(`location.pathname + location.search === "/charts?step=readrandom" && document.querySelector("h1")?.textContent === "readrandom"`)
	})

	t.Run("names are text in charts and tooltips too", func(t *testing.T) {
		p := s.open(t, "/charts?step=readrandom&server=s1&compiler=gcc&server="+url.QueryEscape(hostileName), wide)
		p.wait(drawn)
		p.wait(`(document.querySelector("[data-chart]").focus(), document.activeElement.dataset.chart === "c0")`)
		p.press(kb.End)
		name := quote(hostileName)
		p.wait(`[...document.querySelectorAll(".tip dt")].some(e => e.textContent === ` + name + `)`)
		p.press("\r")
		p.wait(`[...document.querySelectorAll(".lock dt")].some(e => e.textContent === ` + name + `)`)
		p.press("b")
		p.wait(`location.search.includes("base=10.0.1")`)
		if n := eval[int](p, `document.querySelectorAll("img").length`); n > 0 {
			t.Errorf("%d images", n)
		}
		small := s.open(t, "/charts?server=s1&compiler=gcc&server="+url.QueryEscape(hostileName), wide)
		small.wait(drawn)
		small.wait(`(document.querySelector("[data-chart]").focus(), document.activeElement.dataset.chart === "c0")`)
		small.press(kb.End)
		small.wait(`document.querySelector("[data-read-out]").textContent.includes(` + name + `)`)
		if n := eval[int](small, `document.querySelectorAll("img").length`); n > 0 {
			t.Errorf("%d images", n)
		}
	})

	t.Run("a file is checked, then stored", func(t *testing.T) {
		p := s.open(t, "/upload", wide)
		fill := `(() => { const f = document.forms[1] ?? document.querySelector("[data-upload]"), d = new DataTransfer();
			d.items.add(new File([` + quote(strings.ReplaceAll(report(0.5), "2025-01", "2025-03")) + `], "sum.txt")); f.file.files = d.files; f.file.dispatchEvent(new Event("change", {bubbles: true}));
			f.token.value = ` + quote(s.token) + `; f.server.value = "uploaded"; f.workload.value = "cached"; f.compiler.value = "gcc"; return true })()`
		eval[bool](p, fill)
		p.click("[data-check]")
		p.wait(`document.querySelector("[data-answer]").textContent.includes("would store 45 results")`)
		if d, _ := http.Get(s.url + "/charts?server=uploaded"); d != nil {
			body, _ := io.ReadAll(d.Body)
			d.Body.Close()
			if !strings.Contains(string(body), "Nothing was measured") {
				t.Error("a check stored something")
			}
		}
		p.click("[data-store]")
		p.wait(`document.querySelector('[data-answer] a[href^="/runs/"]') !== null`)
		s.served(t, "/charts?server=uploaded")
	})

	t.Run("a file of options is sent for a config that the address names", func(t *testing.T) {
		p := s.open(t, "/upload?system=myrocks&config=a1", wide)
		eval[bool](p, `(() => { const f = document.querySelector("[data-upload]"), d = new DataTransfer();
			d.items.add(new File(["[mysqld]\nrocksdb_block_cache_size=6G\n"], "my.cnf")); f.file.files = d.files; f.file.dispatchEvent(new Event("change", {bubbles: true}));
			f.token.value = `+quote(s.token)+`; return f.config.value === "a1" })()`)
		p.click("[data-check]")
		p.wait(`document.querySelector("[data-answer]").textContent.includes("would store the options of a config.what a file asks for: myrocks a1")`)
		p.click("[data-store]")
		p.wait(`document.querySelector('[data-answer] a[href="/configs/myrocks/a1"]') !== null`)
		r, err := http.Get(s.url + "/configs?system=myrocks")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		d, err := goquery.NewDocumentFromReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(d.Find("#matrix tbody th b").Text()); got != "a1" {
			t.Errorf("%q", got)
		}
	})

	t.Run("without script the figures stand in tables and menus open", func(t *testing.T) {
		p := s.open(t, "/charts?step=readrandom", browser.View{Width: 1440, Height: 1000, NoScript: true})
		png, err := p.PNG()
		if err != nil || len(png) == 0 {
			t.Fatal(err)
		}
		d, rows := s.served(t, "/charts?step=readrandom")
		if len(rows) != 8 || d.Find("details.menu.base a[href='/charts?step=readrandom&base=8.0.0']").Length() != 1 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // lists of strings always have a JSON form
	}
	return string(raw)
}
