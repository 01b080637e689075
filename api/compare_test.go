package api_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

type armCell struct {
	Arm          string   `json:"arm"`
	N            int      `json:"n"`
	Value        float64  `json:"value"`
	Relative     *float64 `json:"relative"`
	RelativeLow  *float64 `json:"relative_low"`
	RelativeHigh *float64 `json:"relative_high"`
	Verdict      string   `json:"verdict"`
	Runs         []int64  `json:"runs"`
	Practical    *struct {
		Worse   bool     `json:"worse"`
		Reasons []string `json:"reasons"`
		Ratio   *float64 `json:"ratio"`
		Second  *float64 `json:"p99_second_ratio"`
		Slow    *float64 `json:"over_4_ms_percent"`
		Base    *float64 `json:"base_over_4_ms_percent"`
	} `json:"practical"`
}

type armRow struct {
	bench.Coordinate
	Version string       `json:"version"`
	Metric  bench.Metric `json:"metric"`
	Cells   []armCell    `json:"cells"`
}

func (r armRow) cell(arm string) *armCell {
	for i := range r.Cells {
		if r.Cells[i].Arm == arm {
			return &r.Cells[i]
		}
	}
	return nil
}

type configsAnswer struct {
	Base    string   `json:"base"`
	Names   []string `json:"names"`
	Rows    []armRow `json:"rows"`
	Rule    string   `json:"practical_rule"`
	Configs []struct {
		Name       string `json:"name"`
		SourceName string `json:"source_name"`
		Settings   int    `json:"settings"`
		Variants   int    `json:"variants"`
	} `json:"configs"`
	Options []struct {
		Key      string `json:"key"`
		Settings []struct {
			Arm     string  `json:"arm"`
			Written *string `json:"written"`
			Change  string  `json:"change"`
		} `json:"settings"`
	} `json:"options"`
	Combinations []struct {
		Config string   `json:"config"`
		Parts  []string `json:"parts"`
	} `json:"combinations"`
	Together []struct {
		Configs   []string `json:"configs"`
		Surprises []struct {
			Key  string  `json:"key"`
			From *string `json:"from"`
			To   *string `json:"to"`
		} `json:"surprises"`
	} `json:"together"`
	Effects []struct {
		Pairs []struct {
			With    string `json:"with"`
			Without string `json:"without"`
		} `json:"pairs"`
		Rows []struct {
			Step     string  `json:"step"`
			Relative float64 `json:"relative"`
			Pairs    int     `json:"pairs"`
		} `json:"rows"`
	} `json:"effects"`
	Summary  []string `json:"summary"`
	NoConfig []string `json:"no_config"`
}

// ingested ingests files, each with what is stated about it.
func (s *service) ingested(c bench.Context, files map[string]string) {
	s.t.Helper()
	g := ingest.Ingester{Store: s.store}
	for name, text := range files {
		if _, err := g.Submit(s.t.Context(), bench.Upload{Filename: name, Bytes: []byte(text), Context: c, Actor: "test"}); err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
	}
}

const myCnf = "[mysqld]\nrocksdb\nrocksdb_block_cache_size=%s\ntmpdir=/t\n%s"

func TestConfigsAreListedAndShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ingested(bench.Context{}, map[string]string{
		"my.cnf.cy10a_bee":  fmt.Sprintf(myCnf, "8G", "rocksdb-block-cache-size=8G\n"),
		"my.cnf.cy10a1_bee": fmt.Sprintf(myCnf, "6G", "rocksdb_use_hyper_clock_cache=ON\nloose_x=1\n"),
	})
	var list struct {
		Configs []struct {
			ID         int64           `json:"id"`
			URL        string          `json:"url"`
			Name       string          `json:"name"`
			SourceName string          `json:"source_name"`
			Kind       string          `json:"kind"`
			Layer      string          `json:"layer"`
			Settings   int             `json:"settings"`
			Aside      int             `json:"aside"`
			Warnings   []bench.Message `json:"warnings"`
			Sources    []struct {
				Upload     int64  `json:"upload"`
				File       string `json:"file"`
				SourceName string `json:"source_name"`
			} `json:"sources"`
		} `json:"configs"`
	}
	s.get("/api/v1/configs?system=myrocks").want(200).decode(&list)
	if len(list.Configs) != 2 || list.Configs[0].Name != "a0" || list.Configs[1].Name != "a1" {
		t.Fatalf("%+v", list)
	}
	a0, a1 := list.Configs[0], list.Configs[1]
	if a0.Kind != "my.cnf" || a0.Layer != "parsed" || a0.Settings != 2 || a0.Aside != 1 || len(a0.Warnings) != 1 || a0.Sources[0].SourceName != "cy10a_bee" || len(a1.Warnings) != 0 {
		t.Errorf("%+v", list)
	}
	var one struct {
		Config struct {
			Name string `json:"name"`
		} `json:"config"`
		Options []struct {
			Section     string `json:"section"`
			Key         string `json:"key"`
			Written     string `json:"written"`
			Value       string `json:"value"`
			Line        int    `json:"line"`
			Loose       bool   `json:"loose"`
			Environment bool   `json:"environment"`
		} `json:"options"`
	}
	s.get(a1.URL).want(200).decode(&one)
	if one.Config.Name != "a1" || len(one.Options) != 5 {
		t.Fatalf("%+v", one)
	}
	if o := one.Options[1]; o.Key != "rocksdb_block_cache_size" || o.Written != "6G" || o.Value != "6442450944" || o.Line != 3 || o.Section != "mysqld" {
		t.Errorf("%+v", o)
	}
	if !one.Options[2].Environment || !one.Options[4].Loose || one.Options[4].Key != "x" || one.Options[0].Written != "" || one.Options[0].Value != "ON" {
		t.Errorf("%+v", one.Options)
	}
	s.get("/api/v1/configs?name=a1&layer=effective").want(200).decode(&list)
	if len(list.Configs) != 0 {
		t.Errorf("%+v", list)
	}
	s.get("/api/v1/configs/4711").problem(404)
	s.get("/api/v1/configs?layer=guessed").problem(400)
	s.get("/api/v1/configs?config=a1").problem(400)
}

// ibenchTable is a table of metrics in the form of the Insert Benchmark's reports.
func ibenchTable(rows ...string) string {
	text := "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\tdbgb1\tdbgb2\trss\tmaxop\tp50\tp99\ttag\n"
	for _, r := range rows {
		f := strings.Fields(r) // config, ips, qps, p99
		text += strings.Join([]string{f[1], f[2], "0", "0.0", "0.0", "0.0", "0.000", "0.000", "0.000", "0.000", "0", "0.0", "0.000", "0", "1.0", "1.0", "8.6", "0.107", f[3], f[3],
			"20m.fbmy8028_rel." + f[0] + "_bee"}, "\t") + "\n"
	}
	return text
}

func TestConfigsAreComparedWithFiguresAndOptions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ingested(bench.Context{}, map[string]string{
		"my.cnf.cy10a_bee": fmt.Sprintf(myCnf, "8G", ""), "my.cnf.cy10a1_bee": fmt.Sprintf(myCnf, "6G", "rocksdb_use_hyper_clock_cache=ON\n"),
		"my.cnf.cy10a5_bee": fmt.Sprintf(myCnf, "8G", "rocksdb_max_subcompactions=2\n"),
		"my.cnf.cy10a7_bee": fmt.Sprintf(myCnf, "6G", "rocksdb_use_hyper_clock_cache=ON\nrocksdb_max_subcompactions=2\n"),
	})
	c := bench.Context{Workload: "io", Server: "bee", Clients: 1}
	s.ingested(c, map[string]string{
		"mrg.l.i1":   ibenchTable("cy10a0 23240 0 20178", "cy10a1 23073 0 19937", "cy10a3 19106 0 3447", "cy10a5 23234 0 20132", "cy10a7 23375 0 20127"),
		"mrg.q100.1": ibenchTable("cy10a0 100 4000 3000", "cy10a1 100 4100 3050", "cy10a3 100 4000 2900", "cy10a5 100 3990 2990", "cy10a7 100 4010 3010"),
	})
	var a configsAnswer
	s.get("/api/v1/compare/configs?system=myrocks&server=bee&workload=io&base=a0").want(200).decode(&a)
	if a.Base != "a0" || strings.Join(a.Names, " ") != "a0 a1 a3 a5 a7" || len(a.Rows) != 2 {
		t.Fatalf("%+v", a)
	}
	insert, query := a.Rows[0], a.Rows[1]
	if insert.Step != "l.i1" || insert.Metric.Name != "ips" || query.Step != "q100" || query.Metric.Name != "qps" || insert.Config != "" || insert.Version != "8.0.28" {
		t.Errorf("%+v", a.Rows)
	}
	for arm, want := range map[string]float64{"a0": 1, "a1": 23073.0 / 23240, "a3": 19106.0 / 23240, "a7": 23375.0 / 23240} {
		if c := insert.cell(arm); c == nil || c.Relative == nil || math.Abs(*c.Relative-want) > 1e-12 || c.N != 1 || c.RelativeLow != nil && arm != "a0" || len(c.Runs) != 1 {
			t.Errorf("%s: %+v, want %g", arm, c, want)
		}
	}
	if p := insert.cell("a3").Practical; p == nil || !p.Worse || len(p.Reasons) != 2 || math.Abs(*p.Second-3447.0/20178) > 1e-12 || p.Slow != nil {
		t.Errorf("%+v", p)
	}
	if !strings.HasPrefix(a.Rule, "a practical rule, not a test") || insert.cell("a1").Practical.Worse || insert.cell("a0").Practical != nil {
		t.Errorf("%q", a.Rule)
	}
	if len(a.Configs) != 4 || a.Configs[0].SourceName != "cy10a_bee" || strings.Join(a.NoConfig, " ") != "a3" {
		t.Errorf("%+v %v", a.Configs, a.NoConfig)
	}
	var options []string
	for _, o := range a.Options {
		text := o.Key + ":"
		for _, x := range o.Settings {
			w := "–"
			if x.Written != nil {
				w = *x.Written
			}
			text += " " + x.Arm + "=" + w + "(" + x.Change + ")"
		}
		options = append(options, text)
	}
	if diff := cmp.Diff([]string{
		"rocksdb_block_cache_size: a0=8G() a1=6G(changed) a5=8G() a7=6G(changed)",
		"rocksdb_max_subcompactions: a0=–() a1=–() a5=2(added) a7=2(added)",
		"rocksdb_use_hyper_clock_cache: a0=–() a1=ON(added) a5=–() a7=ON(added)",
	}, options); diff != "" {
		t.Error(diff)
	}
	if len(a.Combinations) != 1 || a.Combinations[0].Config != "a7" || strings.Join(a.Combinations[0].Parts, "+") != "a1+a5" {
		t.Errorf("%+v", a.Combinations)
	}
	if len(a.Together) != 1 || strings.Join(a.Together[0].Configs, " ") != "a1 a7" || len(a.Together[0].Surprises) != 1 || *a.Together[0].Surprises[0].To != "6G" {
		t.Errorf("%+v", a.Together)
	}
	if len(a.Effects) != 2 || len(a.Effects[0].Pairs) != 2 || a.Effects[0].Rows[0].Pairs != 2 || math.Abs(a.Effects[0].Rows[0].Relative-math.Sqrt(23073.0/23240*23375/23234)) > 1e-12 {
		t.Errorf("%+v", a.Effects)
	}
	if !strings.HasPrefix(a.Summary[0], "a0 is good enough: no config is better beyond noise in all steps of io") {
		t.Errorf("%q", a.Summary)
	}
	// One metric alone, another base, some arms: the base comes along.
	a = configsAnswer{}
	s.get("/api/v1/compare/configs?system=myrocks&metric=rss_gb&config=a1&base=a5&step=l.i1").want(200).decode(&a)
	if len(a.Rows) != 1 || a.Rows[0].Metric.Name != "rss_gb" || strings.Join(a.Names, " ") != "a5 a1" || *a.Rows[0].cell("a1").Relative != 1 {
		t.Errorf("%+v", a)
	}
	a = configsAnswer{}
	s.get("/api/v1/compare/configs?system=myrocks&version=9").want(200).decode(&a)
	if len(a.Rows) != 0 {
		t.Errorf("%+v", a.Rows)
	}
	// Nothing there is an empty answer, with lists and not null.
	for _, address := range []string{"/api/v1/compare/configs?system=nothing", "/api/v1/compare/compilers?system=nothing"} {
		if answer := s.get(address).want(200); strings.Contains(string(answer.body), "null") {
			t.Errorf("%s: %s", address, answer.body)
		}
	}
	s.get("/api/v1/compare/configs?metric=speed").problem(400)
	s.get("/api/v1/compare/configs?clients=-1").problem(400)
	s.get("/api/v1/compare/configs?base_config=a0").problem(400)
}

func TestConfigsOfSeveralSystemsAreNotCompared(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := bench.Context{Workload: "io", Server: "bee", Clients: 1}
	s.ingested(c, map[string]string{"mrg.l.i1": ibenchTable("cy10a0 1 0 1", "cy10a1 2 0 2") + strings.Replace(ibenchTable("cy10a0 3 0 3"), "fbmy8028", "my8028", 1)})
	if p := s.get("/api/v1/compare/configs").problem(400); !strings.Contains(p.Detail, "name one of them") {
		t.Errorf("%+v", p)
	}
	s.get("/api/v1/compare/configs?system=myrocks").want(200)
}

func TestCompilersAreCompared(t *testing.T) {
	t.Parallel()
	s := newService(t)
	row := func(qps, version, date string) string {
		return qps + "\t1.0\t1GB\t0GB\t1.0\t1.0\t1.0\t1\t1\t0\t0\t1.0\t1.0\t1\t1\t1\t1\t1\t0.0\t0\t0.1\t0.0\t1.0\tfillseq.wal_disabled.v400\t" + date + "\t" + version + "\t\tabc\n"
	}
	header := "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n"
	for compiler, rows := range map[string]string{
		"gcc":       row("1362565", "9.8.4", "2025-01-01T00:00:01") + row("1356754", "10.8.3", "2025-01-02T00:00:01"),
		"clang":     row("1398084", "9.8.4", "2025-01-03T00:00:01") + row("1402263", "10.8.3", "2025-01-04T00:00:01"),
		"clang+lto": row("1405000", "10.8.3", "2025-01-05T00:00:01"),
	} {
		s.ingested(bench.Context{Server: "arm", Workload: "cached", Compiler: compiler, Clients: 1}, map[string]string{"report.tsv": header + rows})
	}
	var a struct {
		Base      map[string]string `json:"base"`
		Compilers []string          `json:"compilers"`
		Versions  []string          `json:"versions"`
		Rows      []armRow          `json:"rows"`
		Stability []struct {
			Compiler string   `json:"compiler"`
			Versions int      `json:"versions"`
			Noise    *float64 `json:"-"`
		} `json:"stability"`
		Trends []struct {
			Compiler     string   `json:"compiler"`
			From         string   `json:"from"`
			FromRelative *float64 `json:"from_relative"`
			To           string   `json:"to"`
			ToRelative   *float64 `json:"to_relative"`
			Text         string   `json:"text"`
		} `json:"trends"`
	}
	s.get("/api/v1/compare/compilers?system=rocksdb&server=arm&workload=cached&metric=qps&base_compiler=gcc").want(200).decode(&a)
	if a.Base["compiler"] != "gcc" || strings.Join(a.Compilers, " ") != "gcc clang clang+lto" || strings.Join(a.Versions, " ") != "9.8.4 10.8.3" || len(a.Rows) != 2 || len(a.Stability) != 3 {
		t.Fatalf("%+v", a)
	}
	old, now := a.Rows[0], a.Rows[1]
	if old.Version != "9.8.4" || old.cell("clang+lto") != nil || math.Abs(*old.cell("clang").Relative-1398084.0/1362565) > 1e-12 ||
		math.Abs(*now.cell("clang+lto").Relative-1405000.0/1356754) > 1e-12 || now.cell("gcc").Value != 1356754 {
		t.Errorf("%+v", a.Rows)
	}
	if len(a.Trends) != 2 || a.Trends[0].Compiler != "clang" || a.Trends[0].From != "9.x" || a.Trends[0].To != "10.8.3" || a.Trends[1].FromRelative != nil {
		t.Errorf("%+v", a.Trends)
	}
	a.Rows = nil
	s.get("/api/v1/compare/compilers?server=arm&compiler=clang%20lto&base_version=9.8.4").want(200).decode(&a)
	if a.Base["version"] != "9.8.4" || len(a.Rows) != 2 || strings.Join(a.Compilers, " ") != "gcc clang+lto" || math.Abs(*a.Rows[1].cell("clang+lto").Relative-1405000.0/1362565) > 1e-12 {
		t.Errorf("%+v", a)
	}
}

// TestSharedConfigsMustShow ingests the published my.cnf files and reports and asks
// for what is known of them.
func TestSharedConfigsMustShow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "ibench")
	s := newService(t)
	g := ingest.Ingester{Store: s.store}
	submit := func(c bench.Context, paths ...string) {
		t.Helper()
		units, err := ingest.Units(dir, paths)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range units {
			data, err := u.Bytes(ingest.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Submit(t.Context(), bench.Upload{Filename: u.Name, Bytes: data, Context: c, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Refused {
				if !strings.Contains(m.File, "SOURCE") {
					t.Errorf("refused: %s", m)
				}
			}
		}
	}
	submit(bench.Context{}, "my.cnf")
	submit(bench.Context{Clients: 1}, "reports")
	var worse []string
	pairs := 0
	for _, workload := range []string{"cached", "io"} {
		var a configsAnswer
		s.get("/api/v1/compare/configs?system=myrocks&workload=" + workload + "&base=a0").want(200).decode(&a)
		if strings.Join(a.Names, " ") != "a0 a1 a2 a3 a4 a5 a6 a7" || len(a.Rows) != 6 {
			t.Fatalf("%s: %v, %d rows", workload, a.Names, len(a.Rows))
		}
		for _, row := range a.Rows {
			file := readTable(t, filepath.Join(dir, "reports", workload+".mrg."+map[bool]string{true: row.Step, false: row.Step + ".1"}[strings.HasPrefix(row.Step, "l.")]+".tsv"))
			column := map[bool]string{true: "ips", false: "qps"}[strings.HasPrefix(row.Step, "l.")]
			for _, c := range row.Cells {
				want := file[c.Arm][column] / file["a0"][column]
				if c.Relative == nil || math.Abs(*c.Relative-want) > 1e-12 || c.Value != file[c.Arm][column] {
					t.Errorf("%s %s %s: %v, the file has %g and %g", workload, row.Step, c.Arm, c.Relative, file[c.Arm][column], want)
				}
				if c.Practical != nil {
					pairs++
					if c.Practical.Worse {
						worse = append(worse, fmt.Sprintf("%s %s %s %.3f %.3f %.3f/%.3f", workload, row.Step, c.Arm, *c.Relative, *c.Practical.Second, *c.Practical.Slow, *c.Practical.Base))
					}
				}
			}
		}
		if a.Summary[0] != "a0 is good enough: no config is better beyond noise in all steps of "+workload {
			t.Errorf("%q", a.Summary)
		}
		said := strings.Join(a.Summary, "\n")
		for _, want := range []string{"a6 = a1 + a2 + a5", "a7 = a1 + a5", "a1, a6 and a7 also change rocksdb_block_cache_size 8G → 6G"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q: %s", workload, want, said)
			}
		}
	}
	if diff := cmp.Diff([]string{"io l.i1 a3 0.822 0.171 5.912/0.350", "io l.i1 a4 0.948 0.347 2.952/0.350"}, worse); diff != "" || pairs != 2*6*7 {
		t.Errorf("of %d pairs: %s", pairs, diff)
	}
}

// readTable gives the figures of a table of metrics by config and column.
func readTable(t *testing.T, path string) map[string]map[string]float64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	names := strings.Split(lines[0], "\t")
	out := map[string]map[string]float64{}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != len(names) {
			continue
		}
		at := strings.Index(cells[len(cells)-1], ".cy10a")
		config := "a" + cells[len(cells)-1][at+6:at+7]
		out[config] = map[string]float64{}
		for i, c := range cells[:len(cells)-1] {
			if v, err := strconv.ParseFloat(c, 64); err == nil {
				out[config][names[i]] = v
			}
		}
	}
	return out
}
