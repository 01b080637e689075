package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relqps/relqps/api/client"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/sample"
	"github.com/relqps/relqps/internal/testdata"
	"github.com/relqps/relqps/web/static"
)

// The benchmarks of this file measure what docs/performance.md promises, on the
// program as it is wired: real handlers over a real Postgres. They report in the
// units of the budgets; parsing alone is measured in package ingest.

// inProcess is the whole program's handler over a database of its own.
func inProcess(b testing.TB) (http.Handler, *database) {
	b.Helper()
	store, err := postgres.Open(b.Context(), pgtest.NewURL(b), postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	d := &database{store: store}
	h, err := newHandler(d, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	return h, d
}

// nightly is a file of the size of a summary of years: so many versions, each
// measured repeats times, a row per step. Two calls with other numbers share no row.
func nightly(number, versions, repeats int) (text []byte, rows int) {
	var out bytes.Buffer
	out.WriteString(reportHeader)
	at := time.Date(2000+number%200, 1, 1, 0, 0, number%60, 0, time.UTC)
	row := 0
	for v := range versions {
		for range repeats {
			for i, test := range tests {
				at = at.Add(13 * time.Minute)
				row++
				qps := 500_000/(i+1) + (number*7919+row*104729)%9_000/(i+1)
				fmt.Fprintf(&out, "%d\t%.1f\t16GB\t0GB\t15.9\t2.0\t%d.0\t40\t38\t0\t0\t%.1f\t0.5\t%d\t4\t24\t%d\t1800\t0.%d\t3\t0.%d\t0.0\t16.9\t%s\t%s\t%d.%d.%d\t\t%010x\n",
					qps, float64(qps)/2500, 700+row%90, 1e6/float64(qps), 1+row%9, 60000+row%9000, row%10, row%10, test, at.Format("2006-01-02T15:04:05"),
					4+v/20, v%20, v%3, v+1)
			}
		}
	}
	return out.Bytes(), row
}

// benchmarkUpload uploads through the API, as the runner and ingest --url do.
func benchmarkUpload(b *testing.B, files, versions, repeats int) {
	h, d := inProcess(b)
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	token, _, err := d.store.CreateToken(b.Context(), "bench", bench.TokenRunner)
	if err != nil {
		b.Fatal(err)
	}
	to, err := client.New(server.URL, token)
	if err != nil {
		b.Fatal(err)
	}
	stored, sent, number := 0, 0, 0
	for b.Loop() {
		b.StopTimer()
		var uploads []bench.Upload
		want := 0
		for range files {
			text, rows := nightly(number, versions, repeats)
			uploads = append(uploads, bench.Upload{Filename: "report.tsv", Bytes: text, Context: bench.Context{
				Server: fmt.Sprintf("s%d", number/files), Workload: "cached", Compiler: "gcc", Clients: 8}})
			want += rows
			sent += len(text)
			number++
		}
		b.StartTimer()
		for _, u := range uploads {
			r, err := to.Submit(b.Context(), u)
			if err != nil {
				b.Fatal(err)
			}
			stored += r.Values
			want -= r.Results
		}
		if want != 0 {
			b.Fatalf("%d rows fewer were stored than sent", want)
		}
	}
	b.ReportMetric(float64(stored)/b.Elapsed().Seconds(), "values/s")
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds()/1e6, "MB/s")
}

// BenchmarkIngestOneFile uploads files of 19,840 rows: 80 versions, each measured 31 times.
func BenchmarkIngestOneFile(b *testing.B) { benchmarkUpload(b, 1, 80, 31) }

// BenchmarkIngestNightlyFile uploads files of 20,000 rows of 2,500 versions.
func BenchmarkIngestNightlyFile(b *testing.B) { benchmarkUpload(b, 1, 2500, 1) }

// BenchmarkIngestRepeats uploads files of 80,000 rows of one version, each of which was run
// 10,000 times: as many runs, all in one point a step.
func BenchmarkIngestRepeats(b *testing.B) { benchmarkUpload(b, 1, 1, 10_000) }

// BenchmarkIngestFiles uploads 8 files of 80 versions one after another, each of
// which adds a sample to every point.
func BenchmarkIngestFiles(b *testing.B) { benchmarkUpload(b, 8, 80, 1) }

// withSample is the handler over the sample data.
func withSample(b testing.TB) http.Handler {
	b.Helper()
	h, d := inProcess(b)
	if err := sample.Load(b.Context(), ingest.Ingester{Store: d.store, Detect: compare.Detect}); err != nil {
		b.Fatal(err)
	}
	return h
}

// benchmarkGet asks for an address as a browser does and reports the
// percentiles of the time until the answer is complete.
func benchmarkGet(b *testing.B, h http.Handler, address string) {
	b.Helper()
	var took []time.Duration
	size, packed := 0, 0
	var body bytes.Buffer // a connection has its buffer too
	before := processorTime(b)
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		body.Reset()
		w.Body = &body
		began := time.Now()
		h.ServeHTTP(w, r)
		took = append(took, time.Since(began))
		if w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
		packed = w.Body.Len()
		if size == 0 {
			size = unpacked(b, w)
		}
	}
	// Without Postgres, and whatever else the machine does meanwhile.
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(len(took)), "cpu-ms")
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[min(len(took)-1, int(share*float64(len(took))))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
	b.ReportMetric(float64(size)/1000, "KB")
	b.ReportMetric(float64(packed)/1000, "gzip-KB")
}

// processorTime gives the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func unpacked(b *testing.B, w *httptest.ResponseRecorder) int {
	b.Helper()
	if w.Header().Get("Content-Encoding") != "gzip" {
		return w.Body.Len()
	}
	z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err != nil {
		b.Fatal(err)
	}
	return int(n)
}

// BenchmarkCharts renders /charts of the sample data: as it opens, all versions
// of a server, and three compilers.
func BenchmarkCharts(b *testing.B) {
	h := withSample(b)
	for name, address := range map[string]string{
		"default": "/charts", "c2": "/charts?server=c2&workload=cached", "arm": "/charts?server=arm&workload=cached",
	} {
		b.Run(name, func(b *testing.B) { benchmarkGet(b, h, address) })
	}
}

// BenchmarkSeriesAPI asks for 3 series of 80 versions.
func BenchmarkSeriesAPI(b *testing.B) {
	h, d := inProcess(b)
	text, _ := nightly(1, 80, 1)
	_, err := ingest.Ingester{Store: d.store, Detect: compare.Detect}.Submit(b.Context(), bench.Upload{Filename: "report.tsv", Bytes: text,
		Context: bench.Context{Server: "c2", Workload: "cached", Compiler: "gcc", Clients: 8}})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkGet(b, h, "/api/v1/series?server=c2&step=fillseq&step=readrandom&step=readwhilewriting&base=4.0.0")
}

// BenchmarkBundle measures the script and the style sheet as they travel.
func BenchmarkBundle(b *testing.B) {
	files := static.Embedded()
	manifest, err := fs.ReadFile(files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		testdata.Missing(b, "no bundle: make bundle")
	}
	if err != nil {
		b.Fatal(err)
	}
	var names map[string]string // files of earlier bundles may lie beside those that are used
	if err := json.Unmarshal(manifest, &names); err != nil {
		b.Fatal(err)
	}
	sizes := map[string]float64{}
	for b.Loop() {
		for name, target := range names {
			data, err := fs.ReadFile(files, target)
			if err != nil {
				b.Fatal(err)
			}
			var z bytes.Buffer
			w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := w.Write(data); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			sizes[name] = float64(z.Len()) / 1000
		}
	}
	b.ReportMetric(sizes["page.js"], "script-gzip-KB")
	b.ReportMetric(sizes["style.css"], "style-gzip-KB")
}

// BenchmarkBinary builds the program as `make build` does, reports its size, and
// how long it takes on an existing database from its start to the ready line
// and to the first answer.
func BenchmarkBinary(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "relqps")
	build := exec.CommandContext(b.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	url := pgtest.NewURL(b)
	b.Run("start/database", func(b *testing.B) {
		benchmarkStart(b, binary, "--database-url", url)
		b.ReportMetric(float64(info.Size())/1e6, "MB")
	})
	dir := pgtest.DataDir(b)
	b.Run("start/private", func(b *testing.B) {
		// The first start makes the cluster; the others find it, stopped in order.
		startOnce(b, binary, "--data-dir", dir)
		benchmarkStart(b, binary, "--data-dir", dir)
	})
}

func benchmarkStart(b *testing.B, binary string, flags ...string) {
	b.Helper()
	var ready, answer time.Duration
	n := 0
	for b.Loop() {
		r, a := startOnce(b, binary, flags...)
		ready, answer = ready+r, answer+a
		n++
	}
	b.ReportMetric(float64(ready.Microseconds())/1000/float64(n), "ready-ms")
	b.ReportMetric(float64(answer.Microseconds())/1000/float64(n), "answer-ms")
}

// startOnce starts a server, waits for its ready line and an answer, and stops it.
func startOnce(b *testing.B, binary string, flags ...string) (ready, answer time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		b.Fatal(err)
	}
	ready = time.Since(began)
	address, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), readyPrefix)
	if !ok {
		b.Fatalf("first line %q", line[:n])
	}
	resp, err := http.Get(address + "/readyz")
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	answer = time.Since(began)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return ready, answer
}

// BenchmarkReport renders the version report of the sample data, of the server with most
// versions and of a newer one.
func BenchmarkReport(b *testing.B) {
	h := withSample(b)
	for name, address := range map[string]string{
		"default": "/report/rocksdb", "c2": "/report/rocksdb?server=c2&workload=cached", "8core": "/report/rocksdb?server=8core&workload=iobuf",
	} {
		b.Run(name, func(b *testing.B) { benchmarkGet(b, h, address) })
	}
}
