package ingest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// ofIntervals reads a --report_file.
func ofIntervals(text string) (series []bench.TimeSeries, messages []bench.Message, err error) {
	return readIntervals(&input{path: "x.csv", text: []byte(text)})
}

func TestIntervalsAreDividedByTheirLength(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, c := range map[string]struct {
		text        string
		start, step float64
		values      []float64
		message     string
	}{
		"one second":      {"secs_elapsed,interval_qps\n1,17813\n2,20214\n3,26717\n", 1, 1, []float64{17813, 20214, 26717}, ""},
		"ten seconds":     {"secs_elapsed,interval_qps\n10,1000\n20,2500\n", 10, 10, []float64{100, 250}, ""},
		"Windows":         {"secs_elapsed,interval_qps\r\n5,10\r\n10,20\r\n", 5, 5, []float64{2, 4}, ""},
		"one row":         {"secs_elapsed,interval_qps\n1,7\n", 1, 1, []float64{7}, ""},
		"a gap":           {"secs_elapsed,interval_qps\n1,100\n2,100\n4,300\n5,100\n", 1, 1, []float64{100, 100, nan, 150, 100}, "1 of 5 intervals of 1 s are missing"},
		"no end of line":  {"secs_elapsed,interval_qps\n1,17813\n2,20214", 1, 1, []float64{17813, 20214}, ""},
		"nothing done":    {"secs_elapsed,interval_qps\n1,0\n2,5\n", 1, 1, []float64{0, 5}, ""},
		"a fork's column": {"secs_elapsed,interval_qps,batch_size,thread_num\n2,100,64,2\n4,200,32,4\n", 2, 2, []float64{50, 100}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			series, messages, err := ofIntervals(c.text)
			if err != nil || len(series) == 0 {
				t.Fatal(series, err)
			}
			s := series[0]
			if s.Name != "qps" || s.Unit != "1/s" || s.StartS != c.start || s.StepS != c.step || fmt.Sprint(s.Values) != fmt.Sprint(c.values) {
				t.Errorf("%+v", s)
			}
			if c.message == "" && len(messages) > 0 || c.message != "" && !said(messages, c.message) {
				t.Errorf("%v", messages)
			}
		})
	}
	series, _, _ := ofIntervals("secs_elapsed,interval_qps,batch_size,thread_num\n2,100,64,2\n4,200,32,4\n")
	if len(series) != 3 || series[1].Name != "batch_size" || series[2].Values[1] != 4 {
		t.Errorf("further columns %+v", series)
	}
	// A run shorter than an interval leaves a header: no series, no error.
	if series, messages, err := ofIntervals("secs_elapsed,interval_qps\n"); err != nil || len(series) > 0 || len(messages) > 0 {
		t.Errorf("%v %v %v", series, messages, err)
	}
}

func TestIntervalsWithAFlawAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"secs_elapsed,interval_qps\n1,2,3\n":         "line 2 has 3 cells, the header 2",
		"secs_elapsed,interval_qps\n1,x\n":           "line 2: interval_qps is not a count",
		"secs_elapsed,interval_qps\n1,nan\n":         "line 2: interval_qps is not a count",
		"secs_elapsed,interval_qps\n1,-5\n":          "line 2: interval_qps is not a count",
		"secs_elapsed,interval_qps\n0,5\n":           "line 2: secs_elapsed is not a number of seconds",
		"secs_elapsed,interval_qps\n1,5\n2,5\n1,5\n": "line 4: secs_elapsed 1 follows 2",
		"secs_elapsed,interval_qps\n1,5\n99999999,5": "most intervals are missing",
		"something,else\n1,5\n":                      "the first line is not secs_elapsed,interval_qps",
	} {
		if series, _, err := ofIntervals(text); err == nil || !strings.Contains(err.Error(), want) || series != nil {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestReportFileAloneIsKeptAndIsNoBenchmark(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/dbbench/report.overwrite.7.8.csv")
	if err != nil {
		t.Fatal(err)
	}
	b, f := readOne(t, "report.csv", data, bench.Context{Version: "7.8.3"})
	if f.State != bench.FileAttachment || f.Format != "report_file csv" || len(b.Runs) != 0 || len(b.Matrices) != 0 || !said(f.Messages, "with it when its log is in the same upload") {
		t.Errorf("%+v", f)
	}
	t.Run("published case", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(testdata.Shared(t), "cases", "31-interval-report.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if b, f := readOne(t, "31.csv", data, bench.Context{Version: "7.8.3"}); f.State != bench.FileAttachment || len(b.Runs) != 0 {
			t.Errorf("%+v", f)
		}
		series, _, err := ofIntervals(string(data))
		if err != nil {
			t.Fatal(err)
		}
		// awk -F, '{s+=$2} END{print s}' is 288923, less than the 300000 operations done: the last interval is never written.
		sum := 0.0
		for _, v := range series[0].Values {
			sum += v
		}
		if sum != 288923 || len(series[0].Values) != 8 {
			t.Errorf("sum %v of %d", sum, len(series[0].Values))
		}
	})
}

func TestReportFileJoinsTheStepOfItsLog(t *testing.T) {
	t.Parallel()
	log, csv := string(logFixture(t, "fillrandom.log")), string(logFixture(t, "fillrandom.log.r.csv"))
	for name, files := range map[string]map[string]string{
		"by its name":     {"a/fillrandom.log": log, "a/fillrandom.log.r.csv": csv},
		"by the log's":    {"a/x.txt": "$ db_bench --benchmarks=fillrandom --report_file=/data/bench/fill.csv\n" + log, "a/fill.csv": csv},
		"with a neighbor": {"a/fillrandom.log": log, "a/fillrandom.log.r.csv": csv, "b/fillrandom.log.r.csv": csv},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := Read(tarOf(t, files), "x.tar", bench.Context{Server: "s1", Workload: "cached"}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			wantSteps(t, b, "fillrandom ok 159895")
			series := b.Runs[0].Results[0].TimeSeries
			if len(series) != 1 || series[0].Name != "qps" || fmt.Sprint(series[0].Values) != "[180862 149219]" {
				t.Errorf("%+v", series)
			}
			for _, f := range b.Files {
				if want := bench.FileTaken; f.State != want && !strings.HasPrefix(f.Path, "b/") {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
