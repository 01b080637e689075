package api_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/testdata"
)

const (
	insertHeader = "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\tdbgb1\tdbgb2\trss\tmaxop\tp50\tp99\ttag\n"
	insertRow    = "20000\t0\t300\t20.0\t150.0\t50.0\t0.015\t1.024\t0.007\t2.560\t10000\t50.0\t0.500\t200\t57.0\t57.2\t8.6\t0.107\t20100\t18000\t800m.fbmy8028_rel.cy10a4_bee\n"
	timesTable   = "256us\t1ms\t4ms\t16ms\t64ms\t256ms\t1s\t4s\t16s\tgt\tmax\ttag\n0.000\t0.000\t97.049\t2.942\t0.007\t0.002\tnonzero\t0.000\t0.000\t0.000\t0.171\tfbmy8028_rel.cy10a4_bee\n"
)

func TestResponseTimesUploadedApartJoinTheirRun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	query := func(filename string) url.Values { return url.Values{"filename": {filename}, "workload": {"io"}} }
	// Before their metrics they have nowhere to go, and leave nothing behind.
	early := s.upload(query("mrg.l.i1.rt.insert"), timesTable).want(http.StatusConflict)
	if !strings.Contains(string(early.body), "ingest the file with its figures first") {
		t.Errorf("%s", early.body)
	}
	first := s.stored(query("mrg.l.i1"), insertHeader+insertRow)
	if first.Results != 1 || first.Values != 20 || len(first.Runs) != 1 {
		t.Fatalf("%+v", first)
	}
	second := s.stored(query("mrg.l.i1.rt.insert"), timesTable)
	if second.Results != 0 || second.Merged != 1 || len(second.Runs) != 1 || second.Runs[0].ID != first.Runs[0].ID {
		t.Errorf("%+v", second)
	}
	var run struct {
		Config  string `json:"config"`
		Results []struct {
			Step       string `json:"step"`
			Histograms []struct {
				Operation string
				Percents  []*float64
				Nonzero   []int
				Max       *float64
			} `json:"histograms"`
		} `json:"results"`
	}
	s.get("/api/v1" + first.Runs[0].URL).want(http.StatusOK).decode(&run)
	if run.Config != "a4" || len(run.Results) != 1 || len(run.Results[0].Histograms) != 1 {
		t.Fatalf("%+v", run)
	}
	h := run.Results[0].Histograms[0]
	if h.Operation != "insert" || *h.Percents[3] != 2.942 || h.Percents[6] != nil || len(h.Nonzero) != 1 || h.Nonzero[0] != 6 || *h.Max != 171000 {
		t.Errorf("%+v", h)
	}
	// The same tables together are the same measurement.
	again := s.stored(query("mrg.l.i1.rt.insert.gz"), timesTable+"\n")
	if again.Results != 0 || again.Merged != 0 {
		t.Errorf("%+v", again)
	}
}

// figuresAnswer is what the tests need of GET /api/v1/series.
type figuresAnswer struct {
	Series []struct {
		Step   string `json:"step"`
		Config string `json:"config"`
		Points []struct {
			N        int      `json:"n"`
			Value    *float64 `json:"value"`
			Relative *float64 `json:"relative"`
		} `json:"points"`
	} `json:"series"`
}

func TestEveryFigureOfPublishedReportsIsGivenBackAsWritten(t *testing.T) {
	t.Parallel()
	root := filepath.Join(testdata.Shared(t), "data", "ibench")
	s := newService(t)
	units, err := ingest.Units(root, []string{"reports"})
	if err != nil || len(units) != 1 {
		t.Fatal(units, err)
	}
	data, err := units[0].Bytes(ingest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := s.stored(url.Values{"filename": {units[0].Name}, "clients": {"1"}}, string(data))
	if got.Results != 96 || len(got.Refused) > 0 || len(got.Warnings) > 0 || len(got.Checks) != 6 {
		t.Fatalf("%+v", got)
	}
	metrics := map[string]string{"ips": "ips", "qps": "qps", "rps": "reads_per_s", "rmbps": "read_mb_per_s", "wps": "writes_per_s", "wmbps": "write_mb_per_s",
		"rpq": "reads_per_op", "rkbpq": "read_kb_per_op", "wpi": "writes_per_op", "wkbpi": "write_kb_per_op", "csps": "context_switches_per_s", "cpups": "cpu_percent",
		"cspq": "context_switches_per_op", "cpupq": "cpu_us_per_op", "dbgb1": "db_size_gb", "dbgb2": "total_size_gb", "rss": "rss_gb", "maxop": "max_op_s",
		"p50": "p50_second_rate", "p99": "p99_second_rate"}
	figures := 0
	for _, workload := range []string{"cached", "io"} {
		// By metric, then step and config.
		given := map[string]map[string]float64{}
		for _, metric := range metrics {
			var a figuresAnswer
			s.get("/api/v1/series?" + url.Values{"metric": {metric}, "workload": {workload}, "system": {"myrocks"}}.Encode()).want(http.StatusOK).decode(&a)
			given[metric] = map[string]float64{}
			for _, x := range a.Series {
				if len(x.Points) != 1 || x.Points[0].N != 1 || x.Points[0].Value == nil {
					t.Fatalf("%s %+v", metric, x)
				}
				given[metric][x.Step+" "+x.Config] = *x.Points[0].Value
			}
		}
		for file, step := range map[string]string{"l.i0": "l.i0", "l.x": "l.x", "l.i1": "l.i1", "q100.1": "q100", "q500.1": "q500", "q1000.1": "q1000"} {
			text, err := os.ReadFile(filepath.Join(root, "reports", workload+".mrg."+file+".tsv"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			header := strings.Split(lines[0], "\t")
			for i, line := range lines[1:] {
				cells := strings.Split(line, "\t")
				config := "a" + strconv.Itoa(i) // in this order in all of them
				if !strings.Contains(cells[20], ".cy10"+config+"_") {
					t.Fatalf("%s %s: row %d is of %s", workload, file, i, cells[20])
				}
				for k, cell := range cells[:20] {
					v, ok := given[metrics[header[k]]][step+" "+config]
					if cell == "NA" {
						if ok {
							t.Errorf("%s %s %s %s: %g for NA", workload, step, config, header[k], v)
						}
						continue
					}
					figures++
					_, frac, _ := strings.Cut(cell, ".")
					if back := strconv.FormatFloat(v, 'f', len(frac), 64); !ok || back != cell {
						t.Errorf("%s %s %s %s: %s, want %s", workload, step, config, header[k], back, cell)
					}
				}
			}
		}
	}
	if figures != 2*944 {
		t.Errorf("%d figures", figures)
	}
	// Uploaded again there is nothing new, the rows of one table neither.
	s.upload(url.Values{"filename": {units[0].Name}, "clients": {"1"}}, string(data)).want(http.StatusOK)
	text, err := os.ReadFile(filepath.Join(root, "reports", "io.mrg.l.i1.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.stored(url.Values{"filename": {"mrg.l.i1"}, "workload": {"io"}, "clients": {"1"}}, string(text)); r.Results != 0 || r.AlreadyThere != 8 {
		t.Errorf("%+v", r)
	}
}
