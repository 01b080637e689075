package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/testdata"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// program is a server started by the program's own entry point.
type program struct {
	t        *testing.T
	database string // its URL
	address  string
}

// start serves a fresh database on a free port until the test ends.
func start(t *testing.T) *program {
	t.Helper()
	p := &program{t: t, database: pgtest.NewURL(t)}
	ctx, stop := context.WithCancel(context.Background())
	ready := newLineWatch("relqps: listening on ")
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--database-url", p.database}, streams{strings.NewReader(""), ready, &stderr})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("serve ended with %d: %s", code, stderr.String())
		}
	})
	select {
	case p.address = <-ready.found:
	case code := <-done:
		done <- code
		t.Fatalf("serve ended with %d: %s", code, stderr.String())
	case <-time.After(time.Minute):
		t.Fatal("no ready line within a minute")
	}
	return p
}

// lineWatch is a writer that reports what follows a prefix on a line of its own.
type lineWatch struct {
	prefix string
	text   []byte
	found  chan string
}

func newLineWatch(prefix string) *lineWatch {
	return &lineWatch{prefix: prefix, found: make(chan string, 1)}
}

func (w *lineWatch) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	for {
		line, rest, ok := bytes.Cut(w.text, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.text = rest
		if after, ok := strings.CutPrefix(string(line), w.prefix); ok {
			w.found <- after
		}
	}
}

// command runs a command of the program and gives its status and what it printed.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(""), &out, &err})
	return code, out.String(), err.String()
}

// ingest stores files into the program's database, failing the test unless all
// were taken, and gives the receipts.
func (p *program) ingest(args ...string) []receiptLine {
	p.t.Helper()
	code, out, stderr := command(p.t, append([]string{"ingest", "--json", "--database-url", p.database}, args...)...)
	if code != exitOK && code != exitRefused {
		p.t.Fatalf("ingest %v: %d\n%s", args, code, stderr)
	}
	var receipts []receiptLine
	d := json.NewDecoder(strings.NewReader(out))
	for d.More() {
		var r receiptLine
		if err := d.Decode(&r); err != nil {
			p.t.Fatalf("%v in %s", err, out)
		}
		receipts = append(receipts, r)
	}
	return receipts
}

// receiptLine is what ingest --json prints of an upload.
type receiptLine struct {
	Results      int `json:"results"`
	AlreadyThere int `json:"already_there"`
	Merged       int `json:"merged"`
	Checks       []struct {
		File                           string
		Cells, Agree, Unknown, Shifted int
	} `json:"checks"`
	Refused []struct{ File, Message string } `json:"refused"`
	Files   []struct{ Path, State, Format string }
}

func (p *program) get(path string, query url.Values, into any) {
	p.t.Helper()
	address := p.address + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	resp, err := http.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var body bytes.Buffer
		body.ReadFrom(resp.Body)
		p.t.Fatalf("%s: %s %s", address, resp.Status, body.String())
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		p.t.Fatalf("%s: %v", address, err)
	}
}

type seriesAnswer struct {
	Series []struct {
		Server, Workload, Step, Compiler string
		Points                           []struct {
			Version  string
			N        int
			Value    float64
			Relative *float64
		}
	}
}

// at finds the point of the only series of a step and compiler.
func (a seriesAnswer) at(t *testing.T, step, compiler, version string) (value float64, relative *float64) {
	t.Helper()
	for _, s := range a.Series {
		if s.Step != step || s.Compiler != compiler {
			continue
		}
		for _, p := range s.Points {
			if p.Version == version {
				return p.Value, p.Relative
			}
		}
	}
	t.Fatalf("no point %s %s %s", step, compiler, version)
	return 0, nil
}

// The figures of published archives, read off their files, arrive unchanged
// through ingest and API; and the files that repeat each other's rows add nothing.
func TestPublishedFiguresThroughIngestAndAPI(t *testing.T) {
	t.Parallel()
	archives := filepath.Join(testdata.Shared(t), "data", "dbbench")
	p := start(t)
	arm := filepath.Join(archives, "dec25.dbb.gcp.8core.arm", "byrx")
	c2 := filepath.Join(archives, "nov23.c2.db_bench")

	for _, name := range []string{"sum.byrx.gcc.txt", "sum.byrx.clang.txt", "sum.byrx.clang.lto.txt"} {
		p.ingest("--server", "arm", filepath.Join(arm, name))
	}
	for _, workload := range []string{"byrx", "iodir"} {
		for _, group := range []string{"4x", "5x", "6x", "7x", "8x"} {
			file := filepath.Join(c2, "sum."+workload+"."+group+".txt")
			if _, err := os.Stat(file); err == nil {
				p.ingest("--server", "c2", "--compiler", "gcc", file)
			}
		}
	}
	// Rows that stand in several files are the same measurements.
	for _, c := range []struct {
		rows int
		args []string
	}{
		{301, []string{"--server", "arm", filepath.Join(arm, "summary.tsv")}},
		// 147 rows, of which the seven of the base stand twice: each is counted.
		{147, []string{"--server", "arm", filepath.Join(arm, "sum2.byrx.gcc.txt")}},
		{147, []string{"--server", "arm", filepath.Join(arm, "sum2.byrx.clang.txt")}},
		{147, []string{"--server", "arm", filepath.Join(arm, "sum2.byrx.clang.lto.txt")}},
		{520, []string{"--server", "c2", "--compiler", "gcc", filepath.Join(c2, "sum.byrx.some.txt"), filepath.Join(c2, "sum.byrx.some4.txt"), filepath.Join(c2, "sum.iodir.some.txt")}},
	} {
		results, there := 0, 0
		for _, r := range p.ingest(c.args...) {
			results += r.Results
			there += r.AlreadyThere
		}
		if results != 0 || there != c.rows {
			t.Errorf("%v: %d new results, %d already there; want 0 and %d", c.args, results, there, c.rows)
		}
	}

	var a seriesAnswer
	p.get("/api/v1/series", url.Values{"system": {"rocksdb"}, "server": {"arm"}, "workload": {"cached"}, "step": {"fillseq"}, "base": {"10.8.3"}, "base_compiler": {"gcc"}}, &a)
	for compiler, want := range map[string][2]float64{"gcc": {1356754, 1}, "clang": {1402263, 1.034}, "clang+lto": {1395475, 1.029}} {
		value, relative := a.at(t, "fillseq", compiler, "10.8.3")
		if value != want[0] || relative == nil || math.Abs(*relative-want[1]) > 0.0005 {
			t.Errorf("arm fillseq 10.8.3 %s: %g, relative %v; want %v", compiler, value, relative, want)
		}
	}

	p.get("/api/v1/series", url.Values{"server": {"c2"}, "workload": {"cached"}, "base": {"4.4.1"}, "family": {"1"}}, &a)
	for step, want := range map[string]float64{
		"fillseq": 0.808, "readrandom": 0.883, "multireadrandom": 0.836, "fwdrange": 0.925, "revrangewhilewriting": 0.821,
		"fwdrangewhilewriting": 0.815, "readwhilewriting": 0.968, "overwriteandwait": 1.177,
	} {
		if _, relative := a.at(t, step, "gcc", "8.8.0"); relative == nil || math.Abs(*relative-want) > 0.0005 {
			t.Errorf("c2 cached %s: relative %v, want %g", step, relative, want)
		}
	}
	p.get("/api/v1/series", url.Values{"server": {"c2"}, "workload": {"iodir"}, "step": {"overwriteandwait"}, "base": {"8.5.4"}}, &a)
	if _, relative := a.at(t, "overwriteandwait", "gcc", "8.6.7"); relative == nil || math.Abs(*relative-0.197) > 0.0005 {
		t.Errorf("c2 iodir overwriteandwait 8.6.7: %v, want 0.197", relative)
	}
}

// Every published matrix of ratios or figures agrees with what its rows give,
// cell by cell; only rows whose cells are displaced in the source are left out.
func TestPublishedMatricesAgreeCellByCell(t *testing.T) {
	t.Parallel()
	archives := filepath.Join(testdata.Shared(t), "data", "dbbench")
	p := start(t)
	for _, c := range []struct{ folder, server string }{
		{"nov23.c2.db_bench", "c2"}, {"nov23.u.db_bench.8x/u5", "u5"}, {"dec25.dbb.clang/8core", "8core"},
		{"dec25.dbb.gcp.8core.arm/byrx", "arm"}, {"may25.db_bench/ser7/byrx", "ser7"},
	} {
		folder := filepath.Join(archives, filepath.FromSlash(c.folder))
		args := []string{"--server", c.server, folder}
		if c.server == "8core" {
			args = append([]string{"--compiler", "clang"}, args...)
		}
		got := map[string]string{}
		for _, r := range p.ingest(args...) {
			for _, check := range r.Checks {
				got[filepath.Base(check.File)] = fmt.Sprintf("%d of %d agree, %d unknown, %d shifted", check.Agree, check.Cells, check.Unknown, check.Shifted)
			}
			for _, x := range r.Refused {
				t.Errorf("%s: refused: %s", x.File, x.Message)
			}
		}
		files, err := filepath.Glob(filepath.Join(folder, "*sv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			if name == "summary.tsv" {
				continue
			}
			cells, shifted := countCells(t, file)
			if cells == 0 && shifted == 0 {
				continue // an empty placeholder
			}
			want := fmt.Sprintf("%d of %d agree, 0 unknown, %d shifted", cells, cells, shifted)
			if got[name] != want {
				t.Errorf("%s/%s: %q, want %q", c.folder, name, got[name], want)
			}
		}
	}
}

// countCells counts, independently of the product, the figures of a matrix file
// and the rows that have fewer than their siblings.
func countCells(t *testing.T, file string) (cells, shifted int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []int
	separator := '\t'
	if strings.HasSuffix(file, ".csv") {
		separator = ','
	}
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		r := csv.NewReader(strings.NewReader(scan.Text()))
		r.Comma = separator
		fields, err := r.Read()
		if err != nil {
			continue // an empty line
		}
		if fields[0] == "test" || fields[len(fields)-1] == "test" {
			continue // the header names versions
		}
		n := 0
		for _, c := range fields {
			if _, err := strconv.ParseFloat(c, 64); err == nil {
				n++
			}
		}
		rows = append(rows, n)
	}
	most := 0
	for _, n := range rows {
		most = max(most, n)
	}
	for _, n := range rows {
		if n < most {
			shifted++
			continue
		}
		cells += n
	}
	return cells, shifted
}
