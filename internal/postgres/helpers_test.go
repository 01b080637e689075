package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// setup gives a store on a new database, and the pool to look behind it.
func setup(t testing.TB) (*postgres.Store, *pgxpool.Pool) {
	t.Helper()
	pool := pgtest.New(t)
	s, err := postgres.New(pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, pool
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// upload is an upload whose bytes are the given text.
func upload(filename, text string) bench.Upload {
	return bench.Upload{Filename: filename, SHA256: sum(text), Bytes: []byte(text), Actor: "tester"}
}

// batch is a batch of one file that is taken.
func batch(file string, runs ...bench.Run) *bench.Batch {
	return &bench.Batch{Format: "test", Files: []bench.File{taken(file)}, Runs: runs}
}

func taken(path string) bench.File {
	return bench.File{Path: path, Format: "test", SHA256: sum(path), Size: int64(len(path)), State: bench.FileTaken}
}

// c2 is a run of RocksDB on server c2, made by gcc, cached.
func c2(version string, results ...bench.Result) bench.Run {
	return bench.Run{
		System: bench.SystemRocksDB, Suite: bench.SuiteDBBench, Server: "c2", Workload: "cached",
		Build: bench.Build{Version: version, Compiler: "gcc"}, Results: results,
	}
}

// row is a dated result as line of a file, with its figure as printed.
func row(file string, line int, step, date, qps string) bench.Result {
	r := bench.Result{
		Step: bench.ParseStep(step), Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: "qps", PrimaryText: qps, Text: step + "\t" + qps + "\t" + date,
		Sources: []bench.Source{{File: file, Line: line}},
	}
	if date != "" {
		at, err := bench.ParseLocalTime(date)
		if err != nil {
			panic(err)
		}
		r.Started = at
	}
	r.Set(bench.Value{Metric: "qps", Number: number(qps), Resolution: 1, SourceName: "ops_sec"})
	return r
}

func number(text string) float64 {
	var n float64
	for _, c := range text {
		n = 10*n + float64(c-'0')
	}
	return n
}

// with adds a value to a result.
func with(r bench.Result, metric string, v, resolution float64, source string) bench.Result {
	r.Values = slices.Clone(r.Values)
	r.Set(bench.Value{Metric: metric, Number: v, Resolution: resolution, SourceName: source})
	return r
}

func mustWrite(t testing.TB, s *postgres.Store, u bench.Upload, b *bench.Batch) bench.Receipt {
	t.Helper()
	r, err := s.Write(t.Context(), u, b, nil)
	if err != nil {
		t.Fatalf("write %s: %v", u.Filename, err)
	}
	return r
}

// series gives the one series of a metric that a filter selects.
func oneSeries(t testing.TB, s *postgres.Store, f bench.SeriesFilter) bench.Series {
	t.Helper()
	if f.Metric == "" {
		f.Metric = "qps"
	}
	all, err := s.Series(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%d series for %+v, want 1", len(all), f)
	}
	return all[0]
}

// samples gives the values of a series by version.
func samples(s bench.Series) map[string][]float64 {
	out := map[string][]float64{}
	for _, p := range s.Points {
		for _, x := range p.Samples {
			out[p.Version] = append(out[p.Version], x.Value)
		}
	}
	return out
}

func versions(s bench.Series) []string {
	var v []string
	for _, p := range s.Points {
		v = append(v, p.Version)
	}
	return v
}

// counts gives the number of rows of every table that a write fills.
func counts(t testing.TB, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	out := map[string]int{}
	for table, sql := range map[string]string{
		"upload":            `SELECT count(*) FROM upload`,
		"upload_file":       `SELECT count(*) FROM upload_file`,
		"matrix_check":      `SELECT count(*) FROM matrix_check`,
		"server":            `SELECT count(*) FROM server`,
		"version":           `SELECT count(*) FROM version`,
		"build":             `SELECT count(*) FROM build`,
		"metric":            `SELECT count(*) FROM metric`,
		"metric_set":        `SELECT count(*) FROM metric_set`,
		"coordinate":        `SELECT count(*) FROM coordinate`,
		"coordinate_points": `SELECT count(*) FROM coordinate_points`,
		"series":            `SELECT count(*) FROM series`,
		"run":               `SELECT count(*) FROM run`,
		"run_history":       `SELECT count(*) FROM run_history`,
		"result":            `SELECT count(*) FROM result`,
		"result_source":     `SELECT count(*) FROM result_source`,
		"histogram":         `SELECT count(*) FROM histogram`,
		"time_series":       `SELECT count(*) FROM time_series`,
		"breakdown":         `SELECT count(*) FROM breakdown`,
		"config":            `SELECT count(*) FROM config`,
		"config_option":     `SELECT count(*) FROM config_option`,
		"config_source":     `SELECT count(*) FROM config_source`,
	} {
		var n int
		if err := pool.QueryRow(context.Background(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out[table] = n
	}
	return out
}

func zone(offset int) *time.Location { return time.FixedZone("", offset) }

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
