package picture

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// published reads a file of the sample data as series of QPS, without the steps
// that prepare.
func published(t testing.TB, names ...string) []bench.Series {
	t.Helper()
	var out []bench.Series
	at := map[bench.Coordinate]int{}
	for _, name := range names {
		for _, r := range runsOf(t, name) {
			for i := range r.Results {
				result := &r.Results[i]
				v, ok := result.Value("qps")
				if !ok || result.Role == bench.RolePrepare {
					continue
				}
				c := bench.Coordinate{System: r.System, Suite: r.Suite, Server: r.Server, Workload: r.Workload, Step: result.Step.Name, Compiler: r.Build.Compiler, Config: r.Config, Clients: r.Clients}
				k, ok := at[c]
				if !ok {
					k = len(out)
					at[c] = k
					m, _ := bench.LookupMetric("qps")
					out = append(out, bench.Series{Coordinate: c, Metric: m})
				}
				s := &out[k]
				j := slices.IndexFunc(s.Points, func(p bench.Point) bool { return p.Version == r.Build.Version })
				if j < 0 {
					j = len(s.Points)
					s.Points = append(s.Points, bench.Point{Version: r.Build.Version})
				}
				s.Points[j].Samples = append(s.Points[j].Samples, bench.Sample{Value: v, RunID: 1, Started: result.Started, Excluded: result.Excluded != ""})
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Points, func(a, b bench.Point) int { return bench.CompareVersions(a.Version, b.Version) })
	}
	slices.SortFunc(out, func(a, b bench.Series) int {
		return cmp.Or(compare.Order(a.Coordinate, b.Coordinate), cmp.Compare(a.Suite, b.Suite))
	})
	return out
}

var reading sync.Mutex

var read = map[string][]bench.Run{}

func runsOf(t testing.TB, name string) []bench.Run {
	t.Helper()
	reading.Lock()
	defer reading.Unlock()
	if runs, ok := read[name]; ok {
		return runs
	}
	data, err := os.ReadFile("../sample/" + name + ".ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ingest.Read(data, name+".ndjson.gz", bench.Context{}, ingest.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Runs) == 0 {
		t.Fatalf("%s holds no runs: %+v", name, b.Files)
	}
	read[name] = b.Runs
	return b.Runs
}
