package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

func TestEmbeddedPlansAreReadByNameAndByPath(t *testing.T) {
	t.Parallel()
	want := []string{"db_bench-cached", "db_bench-iobuf", "db_bench-iodir", "db_bench-quick"}
	if got := PlanNames(); !slices.Equal(got, want) {
		t.Fatalf("PlanNames = %v, want %v", got, want)
	}
	for _, name := range want {
		for _, spelling := range []string{name, "runner/plans/" + name + ".yaml"} {
			p, err := LoadPlan(spelling, Overrides{})
			if err != nil {
				t.Fatalf("LoadPlan(%s): %v", spelling, err)
			}
			if p.Name != name || len(p.Steps) != 12 {
				t.Errorf("LoadPlan(%s): name %q with %d steps, want 12: eleven, and overwrite for old releases", spelling, p.Name, len(p.Steps))
			}
		}
	}
}

func TestFileWinsOverEmbeddedPlanOfTheSameName(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "runner/plans/db_bench-quick.yaml", "name: mine\nextends: db_bench-quick\nclients: 7\n")
	p, err := LoadPlan("runner/plans/db_bench-quick.yaml", Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine" || p.Clients != 7 || p.Keys != 500000 {
		t.Errorf("name %q, clients %d, keys %d: want those of the file, and keys of the embedded plan", p.Name, p.Clients, p.Keys)
	}
}

func TestPlanExtendsAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "base.yaml"), "name: base\nextends: db_bench-quick\nflags:\n  statistics: 1\n  block_align: true\n")
	write(t, filepath.Join(dir, "sub.yaml"), `name: sub
extends: base.yaml
grace: 90s
cache_bytes: 1.5 GiB
flags:
  block_align: null   # taken away again
  bloom_bits: 0.50
`)
	p, err := LoadPlan(filepath.Join(dir, "sub.yaml"), Overrides{Set: []string{"keys=1234", "data_dir=/data/x"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Keys != 1234 || p.DataDir != "/data/x" || p.CacheBytes != 3<<29 || time.Duration(p.Grace) != 90*time.Second || p.BackgroundJobs != 2 {
		t.Errorf("keys %d, data_dir %q, cache %d, grace %v, jobs %d", p.Keys, p.DataDir, p.CacheBytes, time.Duration(p.Grace), p.BackgroundJobs)
	}
	got := map[string]string{}
	for _, f := range p.Flags {
		if !f.Drop {
			got[f.Name] = f.Value
		}
	}
	if _, there := got["block_align"]; there || got["statistics"] != "1" || got["bloom_bits"] != "0.50" || got["key_size"] != "$key_bytes" {
		t.Errorf("merged flags: block_align %q, statistics %q, bloom_bits %q, key_size %q", got["block_align"], got["statistics"], got["bloom_bits"], got["key_size"])
	}
}

func TestMistakesInAPlanAreNamedWithFileAndLine(t *testing.T) {
	t.Parallel()
	const head = "name: x\nextends: db_bench-quick\n"
	tests := []struct {
		name, text string
		line       int
		says       string
	}{
		{"syntax", head + "flags: [\n", 3, "sequence end token"},
		{"unknown field", head + "keyz: 3\n", 3, `unknown field "keyz"`},
		{"field stated twice", head + "keys: 1\nkeys: 2\n", 4, "already defined"},
		{"wrong type", head + "keys: many\n", 3, "cannot unmarshal string"},
		{"number too large", head + "clients: 99999999999999999999\n", 3, "overflow"},
		{"zero", head + "\nkeys: 0\n", 4, "keys must not be empty or zero"},
		{"size with an ambiguous unit", head + "cache_bytes: 1GB\n", 3, `not a size: "1GB"`},
		{"duration", head + "grace: soon\n", 3, `not a duration: "soon"`},
		{"unknown workload", head + "workload: warm\n", 3, `not a workload: "warm"`},
		{"unknown compression", head + "compression: gzip\n", 3, `not a compression: "gzip"`},
		{"unknown cache", head + "cache_type: clock\n", 3, `not a cache type: "clock"`},
		{"flags of a wrong kind", head + "flags: 3\n", 3, "flags must be a mapping"},
		{"flag with a list", head + "flags:\n  a: [1]\n", 4, "must be a single value"},
		{"name that is no flag", head + "flags:\n  --a: 1\n", 4, "not the name of a flag"},
		{"flag of the runner", head + "flags:\n  bloom_bits: 3\n  seed: 3\n", 5, "flag seed is set by the runner from seed"},
		{"report file", head + "flags:\n  report_file: x\n", 4, "flag report_file is set by the runner"},
		{"unknown variable", head + "flags:\n  bloom_bits: $bits\n", 4, "no variable $bits"},
		{"step without benchmarks", head + "steps:\n  - test: a\n    creates: true\n", 4, "step a has no benchmarks"},
		{"unknown field of a step", head + "steps:\n  - test: a\n    benchmark: [b]\n", 5, `unknown field "benchmark"`},
		{"first step does not create", head + "steps:\n  - test: a\n    benchmarks: [b]\n", 4, "must create the database"},
		{"same step twice", head + "steps:\n  - {test: a, benchmarks: [b], creates: true}\n  - {test: a.t2, benchmarks: [b]}\n", 5, "step a stands twice"},
		{"needs a later step", head + "steps:\n  - {test: a, benchmarks: [b], creates: true, needs: [c]}\n  - {test: c, benchmarks: [b]}\n", 4, "needs c, which is no step before it"},
		{"threads", head + "steps:\n  - {test: a, benchmarks: [b], creates: true, threads: none}\n", 4, "threads and seconds must be numbers"},
		{"release of a step", head + "steps:\n  - {test: a, benchmarks: [b], creates: true, first: v7}\n", 4, "first and last are releases"},
		{"flag of a step", head + "steps:\n  - test: a\n    benchmarks: [b]\n    creates: true\n    flags:\n      db: /\n", 8, "flag db is set by the runner from data_dir"},
		{"two documents", head + "---\nname: y\n", 0, "one YAML document, this file holds 2"},
		{"nothing", "# nothing\n", 0, "one YAML document"},
		{"field that nobody states", "name: y\n", 0, "system is missing"},
		{"base that does not exist", "name: y\nextends: nowhere.yaml\n", 0, "no plan nowhere.yaml"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "plan.yaml")
			write(t, file, test.text)
			_, err := LoadPlan(file, Overrides{})
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v\nwant it to say %q", err, test.says)
			}
			var e *bench.Error
			if !errors.As(err, &e) || e.Kind != bench.KindInvalid && e.Kind != bench.KindNotFound {
				t.Fatalf("kind %q, want invalid or not_found", bench.KindOf(err))
			}
			if test.line > 0 && (len(e.Places) != 1 || e.Places[0].File != file || e.Places[0].Line != test.line) {
				t.Errorf("places %v, want %s:%d", e.Places, file, test.line)
			}
		})
	}
}

func TestPlansThatExtendEachOtherEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), "name: a\nextends: b.yaml\n")
	write(t, filepath.Join(dir, "b.yaml"), "name: b\nextends: a.yaml\n")
	if _, err := LoadPlan(filepath.Join(dir, "a.yaml"), Overrides{}); bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "in a circle") {
		t.Errorf("error %v", err)
	}
}

func TestOverridesAreCheckedLikeThePlan(t *testing.T) {
	t.Parallel()
	for set, says := range map[string]string{
		"keys":             "not an assignment",
		"=3":               "not an assignment",
		"keyz=3":           `unknown field "keyz"`,
		"keys=x":           "cannot unmarshal",
		"steps=[]":         "cannot be set from outside",
		"workload=nothing": "not a workload",
	} {
		_, err := LoadPlan("db_bench-quick", Overrides{Set: []string{set}})
		if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want it to say %q", set, err, says)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
