package stats

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/testdata"
)

// archived is a series of a public archive, versions in order.
type archived struct {
	versions []string
	values   [][]float64 // ln
}

// archive holds series by "server workload step".
type archive map[string]*archived

func (a archive) add(key, version string, value float64) {
	s := a[key]
	if s == nil {
		s = &archived{}
		a[key] = s
	}
	i := slices.Index(s.versions, version)
	if i < 0 {
		s.versions = append(s.versions, version)
		s.values = append(s.values, nil)
		i = len(s.versions) - 1
	}
	s.values[i] = append(s.values[i], math.Log(value))
}

// sort puts the versions of each series into numeric order.
func (a archive) sort() {
	for _, s := range a {
		order := make([]int, len(s.versions))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(x, y int) int { return compareVersions(s.versions[x], s.versions[y]) })
		sorted := archived{}
		for _, i := range order {
			sorted.versions = append(sorted.versions, s.versions[i])
			sorted.values = append(sorted.values, s.values[i])
		}
		*s = sorted
	}
}

func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		p, _ := strconv.Atoi(x[i])
		q, _ := strconv.Atoi(y[i])
		if p != q {
			return p - q
		}
	}
	return len(x) - len(y)
}

// committedArchive reads the figures that the repository holds.
func committedArchive(t *testing.T) archive {
	t.Helper()
	a := archive{}
	key := ""
	for _, line := range readLines(t, filepath.Join("testdata", "dbbench.tsv")) {
		f := strings.Split(line, "\t")
		if strings.ContainsAny(f[0], "0123456789") && strings.Contains(f[0], ".") {
			for _, v := range f[1:] {
				x, err := strconv.ParseFloat(v, 64)
				if err != nil {
					t.Fatal(err)
				}
				a.add(key, f[0], x)
			}
		} else {
			key = strings.Join(f, " ")
		}
	}
	a.sort()
	return a
}

// sharedArchive reads the report rows of the archives themselves.
func sharedArchive(t *testing.T) archive {
	t.Helper()
	dir := filepath.Join(testdata.Shared(t), "data", "dbbench")
	a := archive{}
	for prefix, pattern := range map[string]string{
		"c2 cached":    "nov23.c2.db_bench/sum.byrx.*.txt",
		"c2 iodir":     "nov23.c2.db_bench/sum.iodir.*.txt",
		"u5 cached":    "nov23.u.db_bench.8x/u5/sum.byrx.8x.txt",
		"u5 iobuf":     "nov23.u.db_bench.8x/u5/sum.iobuf.8x.txt",
		"u5 iodir":     "nov23.u.db_bench.8x/u5/sum.iodir.8x.txt",
		"8core cached": "dec25.dbb.clang/8core/sum.byrx.txt",
		"8core iobuf":  "dec25.dbb.clang/8core/sum.iobuf.txt",
		"8core iodir":  "dec25.dbb.clang/8core/sum.iodir.txt",
		"arm cached":   "dec25.dbb.gcp.8core.arm/byrx/sum.byrx.gcc.txt",
	} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file %s", pattern)
		}
		seen := map[string]bool{} // the files named some* repeat rows of others
		for _, file := range files {
			var header []string
			for _, line := range readLines(t, file) {
				f := strings.Split(line, "\t")
				if f[0] == "ops_sec" {
					header = f
					continue
				}
				if header == nil || len(f) < 10 {
					continue
				}
				step, date, version := f[slices.Index(header, "test")], f[slices.Index(header, "date")], f[slices.Index(header, "version")]
				x, err := strconv.ParseFloat(f[0], 64)
				if key := step + date + version + f[0]; err != nil || seen[key] {
					continue
				} else {
					seen[key] = true
				}
				step, _, _ = strings.Cut(step, ".")
				if step == "overwrite" {
					step = "overwriteandwait"
				}
				if step != "revrange" && step != "overwritesome" { // these only prepare
					a.add(prefix+" "+step, version, x)
				}
			}
		}
	}
	a.sort()
	return a
}

// readLines returns the lines of a file without comments and empty lines.
func readLines(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []string
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		if line := sc.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestArchivesShowTheKnownChanges(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]func(*testing.T) archive{"committed figures": committedArchive, "shared archives": sharedArchive} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkArchive(t, load(t))
		})
	}
}

// tableSteps is the size of the table of a version in which the known changes have to
// stand out under false-discovery control: all steps of all workloads of a server.
const tableSteps = 30

func checkArchive(t *testing.T, a archive) {
	for _, want := range []struct {
		series, shape  string
		from, to, back string // "" = any
		neighbours     float64
		digits         int // of neighbours, as the source states it
	}{
		{"c2 iodir fillseq", Step, "6.13.4", "6.14.6", "", 0.665, 3},
		{"c2 iodir fillseq", Step, "", "7.5.4", "", 0, 0},
		{"8core iobuf overwriteandwait", Step, "9.8.4", "9.9.3", "", 1.38, 2},
		{"c2 iodir overwriteandwait", Spike, "8.5.4", "8.6.7", "8.7.3", 0.197, 3},
		{"u5 iobuf overwriteandwait", Spike, "8.5.4", "8.6.7", "8.7.3", 0, 0},
		{"u5 iodir overwriteandwait", Spike, "8.5.4", "8.6.7", "8.7.3", 0, 0},
		{"8core iobuf fillseq", Spike, "10.5.5", "10.6.2", "10.7.6", 0.66, 2},
		{"8core iodir fillseq", Spike, "10.5.5", "10.6.2", "10.7.6", 0.66, 2},
		{"c2 cached revrangewhilewriting", Spike, "5.2.1", "5.3.7", "5.4.12", 0.26, 2},
		{"c2 cached fwdrangewhilewriting", Spike, "5.2.1", "5.3.7", "5.4.12", 0, 0},
		{"c2 cached readwhilewriting", Spike, "5.2.1", "5.3.7", "5.4.12", 0, 0},
		// New campaigns: found as changes, to be doubted by evidence.
		{"c2 cached readrandom", Step, "8.3.3", "8.4.4", "", 0, 0},
		{"c2 cached readrandom", Step, "8.6.7", "8.7.3", "", 0, 0},
		{"c2 cached multireadrandom", Step, "8.3.3", "8.4.4", "", 0, 0},
		{"c2 cached multireadrandom", Step, "8.6.7", "8.7.3", "", 0, 0},
		{"c2 cached revrangewhilewriting", Step, "8.3.3", "8.4.4", "", 0, 0},
		{"c2 cached revrangewhilewriting", Step, "8.6.7", "8.7.3", "", 0, 0},
		{"c2 cached readwhilewriting", Step, "8.3.3", "8.4.4", "", 0, 0},
		{"c2 cached readwhilewriting", Step, "8.6.7", "8.7.3", "", 0, 0},
		{"c2 cached readrandom", Step, "6.19.4", "6.20.4", "", 0, 0},
		// A real regression without a pause before it.
		{"c2 cached readrandom", Step, "6.2.4", "6.3.6", "", 0, 0},
		{"c2 cached multireadrandom", Step, "6.2.4", "6.3.6", "", 0, 0},
		{"c2 cached readwhilewriting", Step, "6.2.4", "6.3.6", "", 0, 0},
		{"c2 cached fwdrangewhilewriting", Step, "6.2.4", "6.3.6", "", 0, 0},
		// Two versions out and back, all reads of the same runs.
		{"8core iobuf revrangewhilewriting", Spike, "9.10.0", "9.11.2", "10.1.3", 0.95, 2},
		{"8core iobuf fwdrangewhilewriting", Spike, "9.10.0", "9.11.2", "10.1.3", 0.93, 2},
		{"8core iobuf readwhilewriting", Spike, "9.10.0", "9.11.2", "10.1.3", 0.93, 2},
	} {
		s := a[want.series]
		found := false
		for _, c := range s.detect() {
			if c.Shape != want.shape || s.versions[c.To] != want.to ||
				want.from != "" && s.versions[c.From] != want.from ||
				want.back != "" && (c.Back < 0 || s.versions[c.Back] != want.back) {
				continue
			}
			found = true
			if scale := math.Pow(10, float64(want.digits)); want.digits > 0 && math.Abs(math.Exp(c.Neighbours)-want.neighbours) > 0.6/scale {
				t.Errorf("%s at %s: %.4f of the version before, want %v", want.series, want.to, math.Exp(c.Neighbours), want.neighbours)
			}
			if math.Exp(c.Low) > math.Exp(c.High) || c.Effect < c.Low || c.Effect > c.High {
				t.Errorf("%s at %s: effect %v outside its interval %v to %v", want.series, want.to, c.Effect, c.Low, c.High)
			}
			if q := FalseDiscovery([]float64{c.PHere}, tableSteps); q[0] > 0.05 {
				t.Errorf("%s at %s: alone in a table of %d steps its false-discovery rate is %.3f (PHere %.2g)", want.series, want.to, tableSteps, q[0], c.PHere)
			}
		}
		if !found {
			t.Errorf("%s: no %s %s → %s; found %s", want.series, want.shape, want.from, want.to, s.describe())
		}
	}
	for _, not := range []struct{ series, version string }{
		{"c2 cached fillseq", "6.14.6"},
		{"c2 cached overwriteandwait", "8.6.7"},
	} {
		s := a[not.series]
		for _, c := range s.detect() {
			if s.versions[c.To] == not.version || c.Back >= 0 && s.versions[c.Back] == not.version {
				t.Errorf("%s: %s at %s is no change", not.series, c.Shape, not.version)
			}
		}
	}
}

func (s *archived) detect() []Change { return Detect(s.values, Options{}) }

func (s *archived) describe() string {
	var b strings.Builder
	for _, c := range s.detect() {
		b.WriteString(c.Shape + " " + s.versions[c.From] + "→" + s.versions[c.To] + ", ")
	}
	return b.String()
}

// estimate is EffectAt of a series at versions, with the noise of the series.
func (s *archived) estimate(from, to, back string) Estimate {
	b := -1
	if back != "" {
		b = slices.Index(s.versions, back)
	}
	run := 0.0
	if half, ok := RatioHalfWidth(EstimateNoise(s.values), 1, 1, 0.95); ok {
		run = half / math.Sqrt2
	}
	return EffectAt(s.values, run, slices.Index(s.versions, from), slices.Index(s.versions, to), b)
}

func TestArchiveEvidence(t *testing.T) {
	t.Parallel()
	a := committedArchive(t)

	// Server u5 measured 8.x in one go and does not see what c2 shows at new campaigns.
	for _, step := range []string{"readrandom", "multireadrandom", "readwhilewriting", "revrangewhilewriting", "fwdrangewhilewriting"} {
		for _, at := range [][2]string{{"8.3.3", "8.4.4"}, {"8.6.7", "8.7.3"}} {
			here := a["c2 cached "+step].estimate(at[0], at[1], "")
			there := a["u5 cached "+step].estimate(at[0], at[1], "")
			if got := Sight(here.Effect, there); got != NotSeen {
				t.Errorf("%s at %s: %s on u5 (%+v there, %+v here)", step, at[1], got, there, here)
			}
		}
	}
	// The spike of 8.6 is seen on both servers.
	here := a["c2 iodir overwriteandwait"].estimate("8.5.4", "8.6.7", "8.7.3")
	if got := Sight(here.Effect, a["u5 iodir overwriteandwait"].estimate("8.5.4", "8.6.7", "8.7.3")); got != Seen {
		t.Errorf("overwriteandwait at 8.6.7 is %s on u5", got)
	}
	// Both other kinds of reads of 8core's runs of 9.11 and 10.0 moved alike.
	reads := a["8core iobuf readwhilewriting"].estimate("9.10.0", "9.11.2", "10.1.3")
	for _, step := range []string{"revrangewhilewriting", "fwdrangewhilewriting"} {
		if got := Sight(reads.Effect, a["8core iobuf "+step].estimate("9.10.0", "9.11.2", "10.1.3")); got != Seen {
			t.Errorf("what readwhilewriting did at 9.11.2 is %s in %s", got, step)
		}
	}
}

// TestArchiveIntervalsCover compares neighbouring versions inside segments without a
// change: 95 % of their ratios are to be undecided.
func TestArchiveIntervalsCover(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]func(*testing.T) archive{"committed figures": committedArchive, "shared archives": sharedArchive} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			covered, of := 0, 0
			for _, s := range load(t) {
				a := Analyse(s.values, Options{})
				for i := 1; i < len(s.values); i++ {
					half, ok := RatioHalfWidth(a.Noise, len(s.values[i]), len(s.values[i-1]), 0.95)
					if !ok || a.Levels[i] != a.Levels[i-1] {
						continue
					}
					of++
					d := sums{}
					d.add(s.values[i])
					e := sums{}
					e.add(s.values[i-1])
					if math.Abs(d.mean()-e.mean()) <= half {
						covered++
					}
				}
			}
			share := float64(covered) / float64(of)
			t.Logf("%d of %d, %.2f %%", covered, of, 100*share)
			if share < 0.94 || share > 0.96 {
				t.Errorf("%d of %d intervals (%.2f %%) hold no change, want 94 to 96 %%", covered, of, 100*share)
			}
		})
	}
}
