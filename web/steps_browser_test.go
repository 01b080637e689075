//go:build unix

package web_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/relqps/relqps/internal/browser"
)

// clientOutput is what a client of the Insert Benchmark prints of so many seconds:
// inserts and deletes at a level with noise, and a stall of ten seconds.
func clientOutput(seed uint64, seconds, stall int) string {
	r := rand.New(rand.NewPCG(seed, seed))
	var b strings.Builder
	b.WriteString("python3 iibench.py --dbms=mysql --db_name=ib --secs_per_report=1 --db_host=127.0.0.1 --db_user=root --db_password= --engine=rocksdb --unique_checks=1 --bulk_load=0 " +
		"--max_rows=1000000 --table_name=pi1 --setup --num_secondary_indexes=3 --data_length_min=10 --data_length_max=10 --rows_per_commit=50 --inserts_per_second=0 --query_threads=0 --seed=1 --dbopt=none --my_id=1 --num_tables=1\n")
	b.WriteString("i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\tretry_i\tretry_d\tretry_q\n")
	total := 0
	for s := 1; s <= seconds; s++ {
		n := 20_000 + r.IntN(2000)
		if s >= stall && s < stall+10 {
			n = 100
		}
		total += n
		fmt.Fprintf(&b, "1.0\t%d.0\t%d\t%d\t%d\t%d\t0\t0\t%d\t%d\t0\t%d\t%d\t0\t0\t0\t0\n", s, n, total/s, n, total/s, 5000+r.IntN(4000), 4000+r.IntN(3000), total, total)
	}
	statements := total / 50
	for _, op := range []string{"Insert", "Delete"} {
		fmt.Fprintf(&b, "%s rt:\t256us\t1ms\t4ms\t16ms\t64ms\t256ms\t1s\t4s\t16s\tgt\tmax\n%s rt:\t0\t0\t%d\t%d\t3\t1\t0\t0\t0\t0\t0.107000\n", op, op, statements-100-int(seed), 96+seed)
	}
	fmt.Fprintf(&b, "Totals: %d.0 secs, %.1f rows/sec, %d rows, 0 0 0 insert-delete-query retry\nDone\n", seconds, float64(total)/float64(seconds), total)
	return strings.ReplaceAll(b.String(), " rt:\t", " rt: ")
}

// send uploads a file.
func (s *stage) send(t *testing.T, query url.Values, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/uploads?"+query.Encode(), bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answer, _ := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusCreated {
		t.Fatalf("status %d: %s", r.StatusCode, answer)
	}
}

const secondsDrawn = `[...document.querySelectorAll("[data-seconds]")].length > 0 && [...document.querySelectorAll("[data-seconds]")].slice(0, 1).every(e => { const c = e.querySelector("canvas"); return c && c.width > 0 &&
	c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v !== 0) }) && performance.getEntriesByName("seconds-drawn").length > 0`

func TestSecondsInABrowser(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for i := range 8 {
		s.send(t, url.Values{
			"filename": {fmt.Sprintf("a%d/l.i1/o.ib.dop1.1", i)}, "system": {"myrocks"}, "server": {"bee"}, "workload": {"io"}, "version": {"8.0.28"}, "config": {fmt.Sprintf("a%d", i)},
		}, clientOutput(uint64(i+1), 3600, 1000+100*i))
	}
	const path = "/steps?server=bee&step=l.i1"
	wide := browser.View{Width: 1440, Height: 1000}

	t.Run("an hour of eight lines is drawn", func(t *testing.T) {
		for _, view := range []browser.View{wide, {Width: 1440, Height: 1000, Dark: true}, {Width: 390, Height: 1200}} {
			p := s.open(t, path, view)
			p.wait(secondsDrawn)
			// A figure to look at, not one to fail on: it depends on the machine.
			t.Logf("%d px wide: drawn in %.0f ms", view.Width, eval[float64](p, `performance.getEntriesByName("seconds-drawn")[0].duration`))
			if w := eval[int](p, "document.documentElement.scrollWidth"); w > view.Width {
				t.Errorf("%d px wide in a window of %d", w, view.Width)
			}
			if n := eval[int](p, `JSON.parse(document.getElementById("s0").textContent).lines.length`); n != 8 {
				t.Errorf("%d lines", n)
			}
		}
	})

	t.Run("a part is loaded closely, by button, key and drag, and is an address", func(t *testing.T) {
		p := s.open(t, path, wide)
		p.wait(secondsDrawn)
		words := `document.querySelector("[data-window]").textContent.trim()`
		for range 3 {
			p.click(`[data-zoom-by="in"]`)
		}
		p.wait(`document.documentElement.dataset.secondsShown === "1575-2025"`)
		if got := eval[string](p, words); got != "seconds 1575 to 2025 of 3600" {
			t.Errorf("%q", got)
		}
		if got := eval[string](p, "location.search"); got != "?server=bee&step=l.i1&from=1575&to=2025" {
			t.Errorf("%q", got)
		}
		if got := eval[string](p, `new URL(document.querySelector("[data-copy]").href).search`); got != "?server=bee&step=l.i1&from=1575&to=2025" {
			t.Errorf("%q", got)
		}
		p.click(`[data-zoom-by="later"]`)
		p.wait(`document.documentElement.dataset.secondsShown === "1800-2250"`)
		p.wait(`(document.querySelector("[data-seconds]").focus(), document.activeElement.dataset.seconds === "s0")`)
		p.press("0")
		p.wait(`location.search === "?server=bee&step=l.i1"`)
		if got := eval[string](p, words); got != "3,600 seconds" {
			t.Errorf("%q", got)
		}
		p.press("+")
		p.wait(`document.documentElement.dataset.secondsShown === "900-2700"`)
		p.press("0")
		p.wait(`location.search === "?server=bee&step=l.i1"`)
		// From a quarter to the half of the plot.
		at := eval[struct{ X, Y, W float64 }](p, `(() => { const e = document.querySelector("[data-seconds]"); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.x + 52, Y: r.y + 100, W: r.width - 68} })()`)
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at.X+at.W/4, at.Y, chromedp.ButtonLeft))
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X+at.W/3, at.Y, chromedp.ButtonLeft))
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X+at.W/2, at.Y, chromedp.ButtonLeft))
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at.X+at.W/2, at.Y, chromedp.ButtonLeft))
		p.wait(`location.search.includes("from=")`)
		from, to := eval[int](p, `Number(new URLSearchParams(location.search).get("from"))`), eval[int](p, `Number(new URLSearchParams(location.search).get("to"))`)
		if from < 890 || from > 900 || to < 1800 || to > 1810 {
			t.Errorf("dragged to %d to %d", from, to)
		}
	})

	t.Run("the server shows the same part for its address", func(t *testing.T) {
		p := s.open(t, path+"&from=1800&to=2250", wide)
		p.wait(secondsDrawn)
		if got := eval[string](p, `document.querySelector("[data-window]").innerText.trim()`); got != "seconds 1800 to 2250 of 3600" {
			t.Errorf("%q", got)
		}
		if n := eval[int](p, `JSON.parse(document.getElementById("s0").textContent).lines[0].bucket`); n != 2 {
			t.Errorf("buckets of %d s, want 450 seconds in at most 300", n)
		}
	})

	t.Run("the cross-hair moves by key and says the second; lines can be hidden", func(t *testing.T) {
		p := s.open(t, path+"&from=1000&to=1100", wide)
		p.wait(secondsDrawn)
		p.wait(`(document.querySelector("[data-seconds]").focus(), document.activeElement.dataset.seconds === "s0")`)
		p.press(kb.ArrowRight)
		p.press(kb.ArrowRight)
		tip := `document.querySelector("[data-seconds] .tip")`
		p.wait(tip + `?.querySelector("h4")?.textContent.startsWith("1,001 s")`)
		if got := eval[string](p, tip+`.querySelector("dd").textContent`); got != "100/s" {
			t.Errorf("the stall of a0 is told as %q", got)
		}
		if n := eval[int](p, tip+`.querySelectorAll("dt").length`); n != 8 {
			t.Errorf("%d lines in the tip", n)
		}
		pixels := `document.querySelector("[data-seconds] canvas").toDataURL()`
		before := eval[string](p, pixels)
		p.click(`[data-arm="3"]`)
		p.wait(`document.querySelector('[data-arm="3"]').getAttribute("aria-pressed") === "false"`)
		if eval[string](p, pixels) == before {
			t.Error("a hidden line is still drawn")
		}
	})
}
