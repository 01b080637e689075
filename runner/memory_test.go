package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

func TestWorkloadMustBeToMemoryWhatItsNameSays(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	tests := []struct {
		name   string
		plan   string
		set    []string
		memory Memory
		says   []string // nil: accepted
	}{
		{"cached fits", "db_bench-cached", nil, Memory{Machine: 16 * gib}, nil},
		// 30,000,000 × 420 bytes = 12.6e9 = 11.7 GiB.
		{"cached larger than the cache", "db_bench-cached", []string{"keys=30000000"}, Memory{Machine: 16 * gib},
			[]string{"30000000 keys × (20 + 400) bytes = 11.7 GiB", "cache_bytes 10 GiB"}},
		{"cache larger than memory", "db_bench-cached", nil, Memory{Machine: 8 * gib}, []string{"cache_bytes 10 GiB is larger than 8 GiB of memory"}},
		{"cache larger than the control group's limit", "db_bench-cached", nil, Memory{Machine: 64 * gib, Limit: 8 * gib},
			[]string{"cache_bytes 10 GiB is larger than 8 GiB of memory that the control group allows"}},
		// 200,000,000 × (20 + 200) bytes = 44e9 = 41 GiB.
		{"iobuf larger than memory", "db_bench-iobuf", nil, Memory{Machine: 32 * gib}, nil},
		{"iobuf fits memory", "db_bench-iobuf", nil, Memory{Machine: 64 * gib},
			[]string{"data 200000000 keys × (20 + 400 × 0.5) bytes = 41 GiB are not larger than 64 GiB of memory", "more than 312361257 keys", "memory limit below 41 GiB"}},
		{"a control group's limit makes it larger", "db_bench-iobuf", nil, Memory{Machine: 64 * gib, Limit: 24 * gib}, nil},
		{"a limit above the machine's memory counts for nothing", "db_bench-iobuf", nil, Memory{Machine: 64 * gib, Limit: 128 * gib}, []string{"are not larger than 64 GiB"}},
		{"iodir fits memory", "db_bench-iodir", []string{"keys=400000"}, Memory{Machine: 24 * gib}, []string{"workload iodir", "83.9 MiB are not larger than 24 GiB"}},
		{"iobuf without compression", "db_bench-iobuf", []string{"compression=none", "keys=100000000"}, Memory{Machine: 32 * gib}, nil},
		{"iobuf that reads directly", "db_bench-iodir", []string{"workload=iobuf"}, Memory{Machine: 16 * gib}, []string{"contradict each other"}},
		{"iodir that reads buffered", "db_bench-iobuf", []string{"workload=iodir_lz4"}, Memory{Machine: 16 * gib}, []string{"contradict each other"}},
		{"a memory limit that holds", "db_bench-iobuf", []string{"memory_limit=16GiB"}, Memory{Machine: 64 * gib, Limit: 16 * gib}, nil},
		{"a memory limit that nothing enforces", "db_bench-iobuf", []string{"memory_limit=16GiB"}, Memory{Machine: 32 * gib},
			[]string{"at most 16 GiB of memory, but a process here can use 32 GiB", "MemoryMax=17179869184"}},
		{"cached by the OS", "db_bench-cached", []string{"workload=byos", "cache_bytes=1GiB"}, Memory{Machine: 16 * gib}, nil},
		{"cached by the OS, and by the block cache", "db_bench-cached", []string{"workload=cached-by-os"}, Memory{Machine: 16 * gib}, []string{"data larger than the block cache"}},
		{"cached by an OS that is too small", "db_bench-cached", []string{"workload=cached-by-os", "cache_bytes=1GiB"}, Memory{Machine: 4 * gib}, []string{"7.8 GiB are larger than 4 GiB"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := LoadPlan(test.plan, Overrides{Set: test.set})
			if err != nil {
				t.Fatal(err)
			}
			err = p.CheckMemory(test.memory)
			if test.says == nil {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if bench.KindOf(err) != bench.KindInvalid {
				t.Fatalf("error %v of kind %q, want a refusal", err, bench.KindOf(err))
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v\nwant it to say %q", err, says)
				}
			}
		})
	}
}

func TestDataThatDoNotFitTheDiskAreRefusedWithTheArithmetic(t *testing.T) {
	t.Parallel()
	p, err := LoadPlan("db_bench-iobuf", Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	// 200,000,000 × (20 + 400 × 0.5) bytes = 44e9 bytes, a fifth more 52.8e9 = 49.2 GiB.
	if err := p.checkSpace("/data", 53_000_000_000); err != nil {
		t.Error(err)
	}
	err = p.checkSpace("/data", 50_000_000_000)
	if bench.KindOf(err) != bench.KindInvalid {
		t.Fatalf("error %v, want a refusal", err)
	}
	for _, says := range []string{"200000000 keys × (20 + 400 × 0.5) bytes = 41 GiB", "are 49.2 GiB", "/data has 46.6 GiB free", "--any-disk"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v\nwant it to say %q", err, says)
		}
	}
}

func TestControlGroupLimitIsTheSmallestOfGroupAndAncestors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		limit Size
		from  string
	}{
		{"version 2, own group", map[string]string{
			"proc/self/cgroup": "0::/system.slice/bench.scope\n",
			"sys/fs/cgroup/system.slice/bench.scope/memory.max": "2147483648\n",
			"sys/fs/cgroup/system.slice/memory.max":             "max\n",
		}, 2 << 30, "/sys/fs/cgroup/system.slice/bench.scope/memory.max"},
		{"version 2, an ancestor is smaller", map[string]string{
			"proc/self/cgroup":               "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "4294967296\n",
			"sys/fs/cgroup/a/b/memory.max":   "max\n",
			"sys/fs/cgroup/a/memory.max":     "1073741824\n",
		}, 1 << 30, "/sys/fs/cgroup/a/memory.max"},
		{"a container sees its own group as the root", map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20, "/sys/fs/cgroup/memory.max"},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/docker/x\n0::/\n",
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "3221225472\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          "9223372036854771712\n",
		}, 3 << 30, "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes"},
		{"no limit", map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0, ""},
		{"another system", nil, 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, text := range test.files {
				write(t, filepath.Join(root, name), text)
			}
			limit, from := cgroupLimit(root)
			if limit != test.limit || from != test.from {
				t.Errorf("limit %d from %q, want %d from %q", limit, from, test.limit, test.from)
			}
		})
	}
}

func TestMemoryIsThatOfProcMeminfo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		testdata.Missing(t, "no /proc/meminfo on this system")
	}
	fields := strings.Fields(string(text)) // MemTotal: 24684084 kB …
	kb, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || fields[0] != "MemTotal:" {
		t.Fatalf("unexpected /proc/meminfo: %q", fields[:3])
	}
	m, err := ReadMemory()
	if err != nil {
		t.Fatal(err)
	}
	if m.Machine != Size(kb<<10) {
		t.Errorf("memory %d, /proc/meminfo says %d kB", m.Machine, kb)
	}
	if m.Available() > m.Machine {
		t.Errorf("available %d is more than there is", m.Available())
	}
}

func TestSizesPrintWithTheirUnit(t *testing.T) {
	t.Parallel()
	for n, want := range map[Size]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 84000000: "80.1 MiB", 10 << 30: "10 GiB", 3 << 40: "3 TiB"} {
		if got := n.String(); got != want {
			t.Errorf("%d: %q, want %q", int64(n), got, want)
		}
	}
}
