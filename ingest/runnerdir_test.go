package ingest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// journalFiles reads testdata/runner: a run of db_bench 7.8.3 with a step of
// each fate.
func journalFiles(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join("testdata", "runner")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// packed makes a tar of files below a directory, in order of their names.
func packed(t testing.TB, dir string, files map[string]string) []byte {
	t.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(dir, name), Mode: 0o644, Size: int64(len(files[name]))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// only gives the files of a journal with run.json and the steps named.
func only(files map[string]string, steps ...string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		parts := strings.Split(name, "/")
		if name == RunnerRunFile || len(parts) > 1 && slices.Contains(steps, parts[1]) {
			out[name] = text
		}
	}
	return out
}

func TestJournalOfTheRunner(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", "runs/34d05f66-001d-4f3a-8dc8-038bab6e1952"} {
		b, err := Read(packed(t, dir, journalFiles(t)), "journal.tar", bench.Context{}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Format != "relqps run" || len(b.Runs) != 1 {
			t.Fatalf("format %q with %d runs; files %+v", b.Format, len(b.Runs), b.Files)
		}
		run := &b.Runs[0]
		want := bench.Run{ID: "34d05f66-001d-4f3a-8dc8-038bab6e1952", System: "rocksdb", Suite: "db_bench", Server: "bench1", Workload: "cached", Config: "bs8k", Clients: 2}
		if run.ID != want.ID || run.System != want.System || run.Suite != want.Suite || run.Server != want.Server || run.Workload != want.Workload || run.Config != want.Config || run.Clients != want.Clients {
			t.Errorf("run %+v, want %+v", run, want)
		}
		if run.Build != (bench.Build{Version: "7.8.3", Compiler: "gcc", BinarySHA256: "b4074c6845211394669d4443ffacc2caabeb448037a9dcaeef501cc9d9c419ee"}) {
			t.Errorf("build %+v", run.Build)
		}
		if !slices.Equal(run.Assumed, []string{"compiler"}) {
			t.Errorf("assumed %v, want the compiler", run.Assumed)
		}
		for key, value := range map[string]string{"cpu": "AMD EPYC", "cpu_cache": "1024 KB", "cores": "2", "file_system": "ext4", "max_sectors_kb": "1280", "memory_bytes": "25276502016", "plan": "sample"} {
			if run.Environment[key] != value {
				t.Errorf("environment %s = %q, want %q", key, run.Environment[key], value)
			}
		}
		if run.Options["cache_type"] != "lru_cache" || run.Options["block_size"] != "8192" {
			t.Errorf("options %v", run.Options)
		}
		var steps []string
		for _, r := range run.Results {
			steps = append(steps, r.Step.Name+" "+string(r.State))
		}
		if want := []string{"fillseq ok", "fwdrange ok", "readwhilemerging failed", "mergerandom not_run", "flush ok"}; !slices.Equal(steps, want) {
			t.Fatalf("steps %v, want %v", steps, want)
		}
		for _, f := range b.Files {
			wantState := bench.FileTaken
			if strings.HasSuffix(f.Path, "/OPTIONS") {
				wantState = bench.FileAttachment
			}
			if f.State != wantState || len(f.Messages) > 0 {
				t.Errorf("%s: %s, %v", f.Path, f.State, f.Messages)
			}
		}
		if len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Text+b.Warnings[len(b.Warnings)-1].Text, "step overwriteandwait") {
			t.Errorf("warnings %v, want what was left out", b.Warnings)
		}
	}
}

func TestResultsOfAJournalHoldLogAndProcess(t *testing.T) {
	t.Parallel()
	b, err := Read(packed(t, "", journalFiles(t)), "journal.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]*bench.Result{}
	for i := range b.Runs[0].Results {
		r := &b.Runs[0].Results[i]
		results[r.Step.Name] = r
	}
	// Figures are those of the files: the result line, result.json in GB of 2^30.
	values := map[string]map[string]float64{
		"fillseq": {"qps": 128561, "mb_per_s": 51.5, "usec_per_op": 6.867, "elapsed_s": 0.156, "operations": 20000,
			"user_cpu_s": 0.061403, "system_cpu_s": 0.025854, "real_s": 0.704071638, "rss_gb": 26746880.0 / (1 << 30), "read_io_gb": 0, "write_io_gb": 8699904.0 / (1 << 30)},
		"fwdrange": {"qps": 35175, "user_cpu_s": 0.704905, "rss_gb": 24141824.0 / (1 << 30), "write_io_gb": 57344.0 / (1 << 30)},
		"flush":    {"real_s": 0.239449537, "user_cpu_s": 0.007666},
	}
	for step, want := range values {
		for metric, v := range want {
			if got, ok := results[step].Value(metric); !ok || got != v {
				t.Errorf("%s: %s = %v (%v), want %v", step, metric, got, ok, v)
			}
		}
	}
	fwd := results["fwdrange"]
	if fwd.Primary != "qps" || fwd.PrimaryText != "35175" || fwd.Step.Threads != 2 || fwd.Role != bench.RoleMeasure {
		t.Errorf("fwdrange: %s %s, %d threads, role %s", fwd.Primary, fwd.PrimaryText, fwd.Step.Threads, fwd.Role)
	}
	if got := fwd.Started.String(); got != "2026-11-30 15:44:52 UTC" {
		t.Errorf("fwdrange started %s; the log says 15:44:52, the runner knows the zone", got)
	}
	if len(fwd.TimeSeries) != 1 || fwd.TimeSeries[0].Name != "qps" || !slices.Equal(fwd.TimeSeries[0].Values, []float64{39591, 37803, 29743}) || fwd.TimeSeries[0].StepS != 1 {
		t.Errorf("fwdrange: series %+v", fwd.TimeSeries)
	}
	if !strings.HasPrefix(fwd.Command, "/usr/bin/db_bench --benchmarks=seekrandom,stats ") || len(fwd.Histograms) != 1 {
		t.Errorf("fwdrange: command %.60q, %d histograms", fwd.Command, len(fwd.Histograms))
	}
	if fwd.Excluded != "assertions are enabled" {
		t.Errorf("fwdrange excluded for %q; Debian's build has assertions", fwd.Excluded)
	}
	if src := fwd.Sources[0]; src.File != "steps/02-fwdrange/stdout" || src.Line == 0 {
		t.Errorf("fwdrange read from %+v", src)
	}
	fill := results["fillseq"]
	if fill.Step.WAL == nil || *fill.Step.WAL || fill.Step.ValueBytes != 400 || len(fill.TimeSeries) != 0 {
		t.Errorf("fillseq: %+v with %d series", fill.Step, len(fill.TimeSeries))
	}
	failed := results["readwhilemerging"]
	if failed.Reason != "ERROR: unknown command line flag 'no_such_flag'; exit status 1" || failed.Primary != "" || failed.Started.Second() != "2026-11-30T15:44:55" {
		t.Errorf("readwhilemerging: %q, primary %q, started %s", failed.Reason, failed.Primary, failed.Started)
	}
	if _, ok := failed.Value("rss_gb"); ok {
		t.Error("readwhilemerging: memory that was not measured has a figure")
	}
	if cpu, ok := failed.Value("user_cpu_s"); !ok || cpu != 0.003834 {
		t.Errorf("readwhilemerging: user CPU %v, %v", cpu, ok)
	}
	skipped := results["mergerandom"]
	if !strings.HasPrefix(skipped.Reason, "it needs readwhilemerging, which failed") || !skipped.Started.IsZero() || len(skipped.Values) != 0 {
		t.Errorf("mergerandom: %q, started %s, %d values", skipped.Reason, skipped.Started, len(skipped.Values))
	}
	if flush := results["flush"]; flush.Primary != "" || flush.Reason != "" || flush.Role != bench.RolePrepare {
		t.Errorf("flush: primary %q, reason %q, role %s", flush.Primary, flush.Reason, flush.Role)
	}
}

func TestStepsOfAJournalMayComeOneByOne(t *testing.T) {
	t.Parallel()
	files := journalFiles(t)
	whole, err := Read(packed(t, "", files), "journal.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[bench.Key]string{}
	for ref, key := range bench.Keys(whole) {
		want[key] = whole.Runs[ref.Run].Results[ref.Result].Step.Name
	}
	if len(want) != 5 {
		t.Fatalf("%d keys of 5 results", len(want))
	}
	got := map[bench.Key]string{}
	for _, step := range []string{"01-fillseq", "02-fwdrange", "03-readwhilemerging", "04-mergerandom", "05-flush"} {
		b, err := Read(packed(t, "", only(files, step)), step+".tar", bench.Context{}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Runs) != 1 || len(b.Runs[0].Results) != 1 || bench.RunKey(&b.Runs[0]) != bench.RunKey(&whole.Runs[0]) {
			t.Fatalf("%s: %d runs", step, len(b.Runs))
		}
		for _, key := range bench.Keys(b) {
			got[key] = b.Runs[0].Results[0].Step.Name
		}
	}
	for key, step := range want {
		if got[key] != step {
			t.Errorf("key of %s is not the same when the step comes alone", step)
		}
	}
}

func TestWorkingFilesOfAJournalAreNotResults(t *testing.T) {
	t.Parallel()
	files := journalFiles(t)
	files["steps/02-fwdrange.attempt-1/stdout"] = files["steps/02-fwdrange/stdout"]
	files["steps/02-fwdrange.attempt-1/attempt.json"] = `{"attempt":1}`
	files["steps/06-later/stdout"] = files["steps/02-fwdrange/stdout"] // no result: it has not ended
	files["finished.json"] = `{"ended":"2026-11-30T15:44:55Z"}`
	files["posted/01-fillseq.json"] = `[{"target":"x"}]`
	files["uploads/01-fillseq.tar"] = string(packed(t, "", only(files, "01-fillseq")))
	b, err := Read(packed(t, "j", files), "journal.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 5 {
		t.Fatalf("%d runs; want one with 5 results", len(b.Runs))
	}
	for _, f := range b.Files {
		if f.State == bench.FileRefused {
			t.Errorf("%s was refused: %v", f.Path, f.Messages)
		}
	}
}

func TestContextGivenWithAJournal(t *testing.T) {
	t.Parallel()
	data := packed(t, "", journalFiles(t))
	b, err := Read(data, "j.tar", bench.Context{Compiler: "clang", Server: "bench1"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Runs) != 1 || b.Runs[0].Build.Compiler != "clang" || len(b.Runs[0].Assumed) != 0 {
		t.Errorf("a compiler that was only assumed gives way to one that is stated: %+v", b.Runs)
	}
	b, err = Read(data, "j.tar", bench.Context{Server: "other"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Runs) != 0 || !refusedWith(b, "run.json", `server: run.json says "bench1"`) {
		t.Errorf("a contradiction is taken: %+v", b.Files)
	}
}

// refusedWith reports whether a file was refused with a message that holds a text.
func refusedWith(b *bench.Batch, file, says string) bool {
	for _, f := range b.Files {
		if f.Path == file && f.State == bench.FileRefused && len(f.Messages) > 0 && strings.Contains(f.Messages[0].Text, says) {
			return true
		}
	}
	return false
}

func TestDamagedJournalsLeaveNothing(t *testing.T) {
	t.Parallel()
	const result = "steps/02-fwdrange/result.json"
	tests := []struct {
		name, file, from, to, says string
	}{
		{"another version", "run.json", `"format_version": 1`, `"format_version": 2`, "format_version 2 is not known"},
		{"no UUID", "run.json", `"id": "34d05f66`, `"id": "../d05f66`, "id is no UUID"},
		{"no server", "run.json", `"server": "bench1"`, `"server": ""`, "context is not complete"},
		{"two versions", "run.json", `"version": "7.8.3"`, `"version": "7.8.4"`, "contradict each other"},
		{"a directory outside", "run.json", `"dir": "02-fwdrange"`, `"dir": "../fwdrange"`, "step 2 is not complete"},
		{"a step twice", "run.json", `"dir": "02-fwdrange"`, `"dir": "01-fillseq"`, "step fwdrange stands twice"},
		{"a number that is none", "run.json", `"clients": 2`, `"clients": "two"`, "not a run's journal"},
		{"cut short", result, `"exit": {`, `"exit": `, "not a step's result"},
		{"of another run", result, `"run": "34d05f66`, `"run": "00d05f66`, "belongs to step 2, fwdrange, of run 00d05f66"},
		{"of another step", result, `"step": "fwdrange"`, `"step": "revrange"`, "belongs to step 2, revrange"},
		{"no state", result, `"state": "ok"`, `"state": "fine"`, `not a state: "fine"`},
		{"failed for no reason", result, `"state": "ok"`, `"state": "failed"`, "has no reason"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := journalFiles(t)
			changed := strings.Replace(files[test.file], test.from, test.to, 1)
			if changed == files[test.file] {
				t.Fatalf("%s does not hold %q", test.file, test.from)
			}
			files[test.file] = changed
			b, err := Read(packed(t, "", files), "j.tar", bench.Context{}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Runs) != 0 || !refusedWith(b, test.file, test.says) {
				t.Errorf("%d runs; files %+v\nwant %s refused with %q", len(b.Runs), b.Files, test.file, test.says)
			}
		})
	}
	t.Run("output of another release", func(t *testing.T) {
		t.Parallel()
		files := journalFiles(t)
		files["steps/02-fwdrange/stderr"] = strings.Replace(files["steps/02-fwdrange/stderr"], "version 7.8.3", "version 9.8.4", 1)
		b, err := Read(packed(t, "", files), "j.tar", bench.Context{}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Runs) != 0 || !refusedWith(b, "steps/02-fwdrange/stderr", `run.json says "7.8.3", the program "9.8.4"`) {
			t.Errorf("files %+v", b.Files)
		}
	})
}

func FuzzJournalOfTheRunner(f *testing.F) {
	files := journalFiles(f)
	for _, step := range []string{"01-fillseq", "02-fwdrange", "03-readwhilemerging", "04-mergerandom", "05-flush"} {
		dir := "steps/" + step + "/"
		f.Add([]byte(files["run.json"]), []byte(files[dir+"result.json"]), []byte(files[dir+"stdout"]), []byte(files[dir+"stderr"]), []byte(files[dir+"report.csv"]), step)
	}
	f.Fuzz(func(t *testing.T, run, result, stdout, stderr, report []byte, step string) {
		dir := "steps/" + fmt.Sprintf("%x", step) + "/" // a name that tar takes
		if runnerDirRe.MatchString(step) {
			dir = "steps/" + step + "/"
		}
		data := packed(t, "", map[string]string{
			"run.json": string(run), dir + "result.json": string(result), dir + "stdout": string(stdout), dir + "stderr": string(stderr), dir + "report.csv": string(report),
		})
		b, err := Read(data, "j.tar", bench.Context{}, Limits{})
		if err != nil {
			return
		}
		for i := range b.Runs {
			for j := range b.Runs[i].Results {
				r := &b.Runs[i].Results[j]
				if r.State == "" || r.State != bench.StateOK && r.Reason == "" && r.State != bench.StateFailed {
					t.Errorf("result %+v has no state or no reason", r)
				}
				if r.State != bench.StateOK && r.PrimaryText != "" {
					t.Errorf("%s is %s and has the figure %s", r.Step.Name, r.State, r.PrimaryText)
				}
			}
		}
	})
}
