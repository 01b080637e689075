package bench

import (
	"reflect"
	"strings"
	"testing"
)

func TestWorkloadNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"byrx": "cached", "byos": "cached-by-os", "iobuf": "iobuf", "iodir": "iodir", "iodir_lz4": "iodir_lz4",
		"byrx_lz4": "cached_lz4", " cached ": "cached", "my own": "my own", "": "",
	} {
		if got := WorkloadName(name); got != want {
			t.Errorf("WorkloadName(%q) = %q, want %q", name, got, want)
		}
	}
	for word, want := range map[string]bool{"byrx": true, "cached-by-os": true, "iodir_none": true, "sum": false, "": false, "clang": false} {
		if got := IsWorkload(word); got != want {
			t.Errorf("IsWorkload(%q) = %v, want %v", word, got, want)
		}
	}
}

func TestCompilerNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gcc": "gcc", "GCC": "gcc", "clang.lto": "clang+lto", "clang lto": "clang+lto", "clang+lto": "clang+lto", "clang_lto": "clang+lto",
		"gcc.lto": "gcc+lto", "icc": "icc", "": "",
	} {
		if got := CompilerName(name); got != want {
			t.Errorf("CompilerName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNormalizedContext(t *testing.T) {
	t.Parallel()
	got := Context{System: " RocksDB ", Suite: " db_bench", Server: " c2 ", Workload: "byos", Version: " 8.8.0", Compiler: "Clang.LTO", Config: " a0 ", Clients: 3}.Normalized()
	want := Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached-by-os", Version: "8.8.0", Compiler: "clang+lto", Config: "a0", Clients: 3}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFillTakesWhatIsNotStated(t *testing.T) {
	t.Parallel()
	flags := Context{Server: "c2", Version: "6.29"}
	path := Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Version: "6.29.5", Compiler: "gcc", Config: "a0", Clients: 36, Versions: []string{"1", "2"}}
	for _, pair := range [][2]Context{{flags, path}, {path, flags}} {
		got, err := pair[0].Fill(pair[1], "the flags", "the path")
		if err != nil || !reflect.DeepEqual(got, path) {
			t.Errorf("%+v, %v; want %+v", got, err, path)
		}
	}
}

func TestFillNamesBothSidesOfAContradiction(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]Context{
		"system":   {{System: "rocksdb"}, {System: "myrocks"}},
		"suite":    {{Suite: "db_bench"}, {Suite: "ibench"}},
		"server":   {{Server: "c2"}, {Server: "u5"}},
		"workload": {{Workload: "cached"}, {Workload: "iobuf"}},
		"version":  {{Version: "8.8.0"}, {Version: "8.9.1"}},
		"compiler": {{Compiler: "gcc"}, {Compiler: "clang"}},
		"config":   {{Config: "a0"}, {Config: "a1"}},
		"clients":  {{Clients: 8}, {Clients: 36}},
	} {
		_, err := pair[0].Fill(pair[1], "the flags", "the path x/y")
		if KindOf(err) != KindInvalid {
			t.Errorf("%s: %v, want invalid", name, err)
			continue
		}
		for _, part := range []string{name, "the flags", "the path x/y"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
	}
}

func TestHintsGiveWay(t *testing.T) {
	t.Parallel()
	stated := Context{Server: "c2", Compiler: "gcc", Clients: 8}
	hint := Context{System: "rocksdb", Suite: "db_bench", Server: "u5", Workload: "cached", Version: "8.8.0", Compiler: "clang", Config: "hcc", Clients: 36, Versions: []string{"1"}}
	want := hint
	want.Server, want.Compiler, want.Clients = "c2", "gcc", 8
	if got := stated.Hint(hint); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestContextInWords(t *testing.T) {
	t.Parallel()
	if got := (Context{Server: "c2", Version: "8.8.0", Clients: 8}).String(); got != "server c2, version 8.8.0, 8 clients" {
		t.Errorf("%q", got)
	}
	if got := (Context{}).String(); got != "" {
		t.Errorf("%q", got)
	}
}
