package api_test

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/testdata"
)

// armSteps are the measuring steps of the Arm server's files under the names that
// these give them.
var armSteps = map[string]string{
	"fillseq.wal_disabled.v400": "fillseq", "revrangewhilewriting.t1": "revrangewhilewriting", "fwdrangewhilewriting.t1": "fwdrangewhilewriting",
	"readwhilewriting.t1": "readwhilewriting", "overwriteandwait.t1.s0": "overwriteandwait",
}

var armCompilers = map[string]string{"gcc": "gcc", "clang": "clang", "clang-lto": "clang+lto"}

// buildRates holds rates by compiler, step and version.
type buildRates map[[3]string]float64

type compilersAnswer struct {
	Compilers []string `json:"compilers"`
	Versions  []string `json:"versions"`
	Rows      []armRow `json:"rows"`
}

// check compares every ratio of an answer with those of figures: value over what
// base gives for a step and version.
func (rates buildRates) check(t *testing.T, a compilersAnswer, base func(step, version string) float64) {
	t.Helper()
	if strings.Join(a.Compilers, " ") != "gcc clang clang+lto" || len(a.Versions) != 20 {
		t.Fatalf("%v %v", a.Compilers, a.Versions)
	}
	compared := 0
	for _, r := range a.Rows {
		if !slices.Contains([]string{"fillseq", "revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"}, r.Step) {
			continue // prepares
		}
		for _, compiler := range a.Compilers {
			value, measured := rates[[3]string{compiler, r.Step, r.Version}]
			c := r.cell(compiler)
			if !measured || c == nil || c.Relative == nil {
				t.Errorf("%s %s %s: %v in the file, %+v in the answer", r.Step, r.Version, compiler, measured, c)
				continue
			}
			want := value / base(r.Step, r.Version)
			if c.N != 1 || c.Value != value || math.Abs(*c.Relative-want) > 1e-12 {
				t.Errorf("%s %s %s: n %d, %g, relative %g; want 1, %g, %g", r.Step, r.Version, compiler, c.N, c.Value, *c.Relative, value, want)
			}
			if c.RelativeLow == nil || *c.RelativeLow > *c.Relative || *c.RelativeHigh < *c.Relative {
				t.Errorf("%s %s %s: no interval around the ratio", r.Step, r.Version, compiler)
			}
			compared++
		}
	}
	if compared != 5*20*3 {
		t.Errorf("%d ratios, want 300", compared)
	}
}

const armCompare = "/api/v1/compare/compilers?system=rocksdb&server=arm&workload=cached&metric=qps&base_compiler=gcc"

// The sample data's builds give the ratios of its files, which are read here without
// the product's reader.
func TestBuildsOfTheSampleDataHaveTheRatiosOfTheirFiles(t *testing.T) {
	t.Parallel()
	s := newService(t)
	rates := buildRates{}
	g := ingest.Ingester{Store: s.store}
	for name, compiler := range armCompilers {
		path := filepath.Join("..", "internal", "sample", "arm-cached-"+name+".ndjson.gz")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Submit(t.Context(), bench.Upload{Filename: filepath.Base(path), Bytes: data, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		unzip, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unzip)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line struct {
				Run struct {
					Build   struct{ Version, Compiler string }
					Results []struct {
						Step        string
						PrimaryText string `json:"primary_text"`
					}
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			for _, r := range line.Run.Results {
				qps, err := strconv.ParseFloat(r.PrimaryText, 64)
				if err != nil || line.Run.Build.Compiler != compiler {
					t.Fatalf("%+v: %v", line.Run, err)
				}
				rates[[3]string{compiler, r.Step, line.Run.Build.Version}] = qps
			}
		}
	}
	var a compilersAnswer
	s.get(armCompare).want(200).decode(&a)
	rates.check(t, a, func(step, version string) float64 { return rates[[3]string{"gcc", step, version}] })
	// Read off the published tables: fillseq at 10.8.3 and 9.8.4.
	for _, x := range []struct {
		version, compiler string
		want              float64
	}{{"10.8.3", "clang", 1402263.0 / 1356754}, {"10.8.3", "clang+lto", 1395475.0 / 1356754}, {"9.8.4", "clang", 1398084.0 / 1362565}} {
		for _, r := range a.Rows {
			if r.Step == "fillseq" && r.Version == x.version && math.Abs(*r.cell(x.compiler).Relative-x.want) > 1e-12 {
				t.Errorf("%+v: %g", x, *r.cell(x.compiler).Relative)
			}
		}
	}
}

// The published builds say of their changes whether these are the code or a build.
func TestChangesOfTheSampleDataSayWhichCompilersSawThem(t *testing.T) {
	t.Parallel()
	s := newService(t)
	g := ingest.Ingester{Store: s.store, Detect: compare.Detect}
	for name := range armCompilers {
		data, err := os.ReadFile(filepath.Join("..", "internal", "sample", "arm-cached-"+name+".ndjson.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Submit(t.Context(), bench.Upload{Filename: name, Bytes: data, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	var list struct {
		Changes []struct {
			Series     bench.Coordinate                `json:"series"`
			To         string                          `json:"to"`
			ByCompiler *struct{ Verdict, Text string } `json:"by_compiler"`
		} `json:"changes"`
	}
	s.get("/api/v1/changes?server=arm&limit=200").want(200).decode(&list)
	found := map[string]string{}
	for _, c := range list.Changes {
		if c.ByCompiler != nil {
			found[c.Series.Step+" "+c.Series.Compiler+" "+c.To] = c.ByCompiler.Verdict + ": " + c.ByCompiler.Text
		}
	}
	// 100,758 → 125,267 with gcc, 104,645 → 123,982 with clang, 106,088 → 129,828 with
	// clang+LTO; and 41,203 → 39,197 with gcc against 38,949 → 38,796 with clang and
	// 41,794 → 41,374 with clang+LTO.
	for what, want := range map[string]string{
		"readwhilewriting gcc 7.10.2":       "alike: the same with gcc, clang and clang+LTO: the code",
		"readwhilewriting clang 7.10.2":     "alike: the same with gcc, clang and clang+LTO: the code",
		"readwhilewriting clang+lto 7.10.2": "alike: the same with gcc, clang and clang+LTO: the code",
		"fwdrangewhilewriting gcc 9.8.4":    "one: seen with gcc only",
	} {
		if found[what] != want {
			t.Errorf("%s: %q, want %q", what, found[what], want)
		}
	}
}

// The published files of the Arm server, through ingest and API: every ratio to gcc
// of the same version is that of their figures, those to one base agree with the
// published matrices, and the summary of the same runs adds no measurement.
func TestSharedCompilersMustShow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "dbbench", "dec25.dbb.gcp.8core.arm", "byrx")
	s := newService(t)
	g := ingest.Ingester{Store: s.store}
	submit := func(name string) bench.Receipt {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := g.Submit(t.Context(), bench.Upload{Filename: name, Bytes: data, Actor: "test", Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "arm", Workload: "cached"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return receipt
	}
	rates := buildRates{}
	for name, compiler := range armCompilers {
		file := "sum.byrx." + strings.ReplaceAll(name, "-", ".") + ".txt"
		if r := submit(file); r.Results != 140 || r.AlreadyThere != 0 {
			t.Fatalf("%s: %+v", file, r)
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
			at := slices.IndexFunc(cells, func(c string) bool { return armSteps[c] != "" })
			if at < 0 {
				continue
			}
			qps, err := strconv.ParseFloat(cells[0], 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			rates[[3]string{compiler, armSteps[cells[at]], cells[at+2]}] = qps // test, date, version
		}
	}
	if len(rates) != 300 {
		t.Fatalf("%d figures in the files", len(rates))
	}
	var a compilersAnswer
	s.get(armCompare).want(200).decode(&a)
	rates.check(t, a, func(step, version string) float64 { return rates[[3]string{"gcc", step, version}] })

	// The same runs once more: recognised, n stays 1.
	if r := submit("summary.tsv"); r.Results != 0 || r.AlreadyThere != 301 || len(r.Refused) != 0 {
		t.Errorf("summary.tsv: %d new results, %d already there, want 0 and 301; %v", r.Results, r.AlreadyThere, r.Refused)
	}
	var again compilersAnswer
	s.get(armCompare).want(200).decode(&again)
	rates.check(t, again, func(step, version string) float64 { return rates[[3]string{"gcc", step, version}] })

	// All by gcc of 6.29.5, as the matrices print it with two decimals.
	var one compilersAnswer
	s.get(armCompare + "&base_version=6.29.5").want(200).decode(&one)
	rates.check(t, one, func(step, _ string) float64 { return rates[[3]string{"gcc", step, "6.29.5"}] })
	for name, compiler := range map[string]string{"csum2.byrx.clang.csv": "clang", "csum2.byrx.clang.lto.csv": "clang+lto"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		matrix := csv.NewReader(f)
		matrix.FieldsPerRecord = -1 // the head ends with a comma
		rows, err := matrix.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		agree := 0
		for _, row := range rows[1:] {
			for i := 2; i < len(row); i++ { // the first figure is the base
				for _, r := range one.Rows {
					if r.Step != armSteps[row[0]] || r.Version != rows[0][i] || row[i] == "" {
						continue
					}
					want, err := strconv.ParseFloat(row[i], 64)
					if err != nil {
						t.Fatal(err)
					}
					if got := *r.cell(compiler).Relative; math.Abs(got-want) > 0.0051 {
						t.Errorf("%s %s %s: %.4f, published %s", r.Step, r.Version, compiler, got, row[i])
					}
					agree++
				}
			}
		}
		if agree != 100 {
			t.Errorf("%s: %d figures compared, want 100", name, agree)
		}
	}
}
