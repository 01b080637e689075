package runner

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// resolve gives a plan's command lines for a version, as maps of flags by step.
func resolve(t *testing.T, version, plan string, set ...string) (steps []string, flags map[string]map[string]string, r *Resolved) {
	t.Helper()
	p, err := LoadPlan(plan, Overrides{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	r, err = p.Resolve(version, "/opt/db_bench", "/j/steps", "/d/db", 1000)
	if err != nil {
		t.Fatal(err)
	}
	flags = map[string]map[string]string{}
	for _, c := range r.Commands {
		steps = append(steps, c.Step)
		flags[c.Step] = flagsOf(t, c)
	}
	return steps, flags, r
}

func flagsOf(t *testing.T, c ingest.RunnerCommand) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, a := range c.Args[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if !ok || !strings.HasPrefix(a, "--") {
			t.Errorf("%s: argument %q is not --name=value", c.Step, a)
		}
		if _, twice := m[name]; twice {
			t.Errorf("%s: flag %s stands twice", c.Step, name)
		}
		m[name] = value
	}
	return m
}

// The releases of the table below are those at which something changes; what
// each has is from the scan of RocksDB's tags and from benchmark.sh's variants
// for 4.x and 5.x.
func TestFlagsFollowTheVersion(t *testing.T) {
	t.Parallel()
	const none = "(none)"
	columns := []string{"4.4.1", "5.18.4", "6.29.5", "7.8.3", "8.6.7", "10.9.1"}
	rows := map[string][]string{
		"allow_concurrent_memtable_write":         {"false", "false", "false", "false", "false", "false"}, // of fillseq
		"pin_l0_filter_and_index_blocks_in_cache": {none, "1", "1", "1", "1", "1"},
		"compression_max_dict_bytes":              {none, "0", "0", "0", "0", "0"},
		"compaction_pri":                          {none, "3", "3", "3", "3", "3"},
		"cache_high_pri_pool_ratio":               {none, "0.5", "0.5", "0.5", "0.5", "0.5"},
		"cache_low_pri_pool_ratio":                {none, none, none, "0", "0", "0"},
		"partition_index_and_filters":             {none, "0", "0", "0", "0", "0"},
		"metadata_block_size":                     {none, "16384", "16384", "16384", "16384", "16384"},
		"pin_top_level_index_and_filter":          {none, "0", "0", "0", "0", "0"},
		"max_background_jobs":                     {none, "8", "8", "8", "8", "8"},
		"max_background_flushes":                  {"2", none, none, none, none, none},
		"max_background_compactions":              {"6", none, none, none, none, none},
		"cache_type":                              {none, none, none, "lru_cache", "lru_cache", "lru_cache"},
		"compaction_readahead_size":               {"0", "0", "0", "0", "2097152", "2097152"},
		"cache_index_and_filter_blocks":           {"1", "1", "1", "1", "1", "1"},
		"level_compaction_dynamic_level_bytes":    {"true", "true", "true", "true", "true", "true"},
		"undefok":                                 {none, none, none, none, none, none},
	}
	sequence := []string{"fillseq", "revrange", "readrandom", "fwdrange", "multireadrandom", "overwritesome", "flush",
		"revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwriteandwait"}
	old := slices.Clone(sequence)
	old = slices.Delete(old, 6, 7)
	old[len(old)-1] = "overwrite"
	for i, version := range columns {
		steps, flags, r := resolve(t, version, "db_bench-cached", "background_jobs=8")
		want := sequence
		if i < 2 {
			want = old
		}
		if !slices.Equal(steps, want) {
			t.Errorf("%s: steps %v, want %v", version, steps, want)
		}
		for flag, row := range rows {
			got, ok := flags["fillseq"][flag]
			if !ok {
				got = none
			}
			if got != row[i] {
				t.Errorf("%s: --%s=%s, want %s", version, flag, got, row[i])
			}
		}
		batched, ok := flags["multireadrandom"]["multiread_batched"]
		if ok != (i >= 2) || ok && batched != "true" {
			t.Errorf("%s: multiread_batched %q, %v", version, batched, ok)
		}
		// 2 MB/s in 420-byte writes, for releases that count writes.
		perSecond, ok := flags["readwhilewriting"]["writes_per_second"]
		if ok != (i == 0) || ok && perSecond != "4993" {
			t.Errorf("%s: writes_per_second %q, %v", version, perSecond, ok)
		}
		said := strings.Join(r.LeftOut, "\n")
		if got := strings.Contains(said, "step flush: for releases from 6.19"); got != (i < 2) {
			t.Errorf("%s: left out:\n%s\nstep flush named: %v", version, said, got)
		}
		if strings.Contains(said, "max_background_flushes") {
			t.Errorf("%s: a flag that another one replaces is reported as left out", version)
		}
	}
}

func TestStepsAreThoseOfBenchmarkScript(t *testing.T) {
	t.Parallel()
	_, flags, r := resolve(t, "7.8.3", "db_bench-cached", "clients=4", "keys=4000000", "cache_bytes=2GiB")
	// From the command lines that benchmark.sh leaves in its logs.
	want := map[string]map[string]string{
		"fillseq": {"benchmarks": "fillseq,stats", "use_existing_db": "0", "threads": "1", "num": "4000000", "disable_wal": "1", "sync": "0",
			"memtablerep": "vector", "min_level_to_compress": "0", "seed": "1000", "db": "/d/db", "wal_dir": "/d/db", "cache_size": "2147483648",
			"report_interval_seconds": "1", "report_file": "/j/steps/01-fillseq/report.csv", "duration": ""},
		"revrange": {"benchmarks": "seekrandom,stats", "use_existing_db": "1", "threads": "1", "num": "100", "duration": "300", "seek_nexts": "10",
			"reverse_iterator": "true", "memtablerep": "skip_list", "min_level_to_compress": "3"},
		"readrandom":      {"benchmarks": "readrandom,stats", "threads": "4", "num": "4000000", "duration": "1800", "disable_wal": "", "sync": ""},
		"fwdrange":        {"benchmarks": "seekrandom,stats", "threads": "4", "seek_nexts": "10", "reverse_iterator": "false"},
		"multireadrandom": {"benchmarks": "multireadrandom,stats", "threads": "4", "batch_size": "10"},
		"overwritesome":   {"benchmarks": "overwrite,stats", "threads": "4", "writes": "100000", "sync": "0", "merge_operator": "put", "duration": ""},
		"flush": {"benchmarks": "levelstats,flush,waitforcompaction,compact0,waitforcompaction,memstats,levelstats,stats", "threads": "1",
			"benchmark_write_rate_limit": "0", "duration": ""},
		"revrangewhilewriting": {"benchmarks": "seekrandomwhilewriting,stats", "threads": "4", "benchmark_write_rate_limit": "2097152",
			"reverse_iterator": "true", "sync": "0", "duration": "1800"},
		"fwdrangewhilewriting": {"benchmarks": "seekrandomwhilewriting,stats", "benchmark_write_rate_limit": "2097152", "reverse_iterator": "false"},
		"readwhilewriting":     {"benchmarks": "readwhilewriting,stats", "benchmark_write_rate_limit": "2097152"},
		"overwriteandwait":     {"benchmarks": "overwrite,waitforcompaction,stats", "benchmark_write_rate_limit": "0", "threads": "4", "duration": "1800"},
	}
	for step, fs := range want {
		for name, value := range fs {
			got, ok := flags[step][name]
			if ok != (value != "") || got != value {
				t.Errorf("%s: --%s=%q (there: %v), want %q", step, name, got, ok, value)
			}
		}
	}
	for i, c := range r.Commands {
		if c.Number != i+1 || c.Args[0] != "/opt/db_bench" {
			t.Errorf("command %d: number %d, program %s", i, c.Number, c.Args[0])
		}
		if limit := float64(c.Seconds) + 600; c.Seconds > 0 && c.Limit != limit {
			t.Errorf("%s: time limit %v s, want %v", c.Step, c.Limit, limit)
		}
		if i > 0 && !slices.Contains(c.Needs, "fillseq") {
			t.Errorf("%s does not need fillseq", c.Step)
		}
		wantFigure := map[string]string{"flush": "", "overwritesome": "overwrite", "overwriteandwait": "overwrite", "revrange": "seekrandom"}
		if figure, ok := wantFigure[c.Step]; ok && c.Figure != figure {
			t.Errorf("%s: figure %q, want %q", c.Step, c.Figure, figure)
		}
	}
	if o := r.Commands[0].Operations; o != 4000000 {
		t.Errorf("fillseq does %d operations, want 4000000", o)
	}
	if o := r.Commands[5].Operations; o != 400000 {
		t.Errorf("overwritesome does %d operations, want a tenth of the keys", o)
	}
	for _, name := range []string{"num", "db", "seed", "memtablerep", "benchmark_write_rate_limit"} {
		if v, ok := r.Options[name]; ok {
			t.Errorf("%s=%s differs between steps and is among the options of the run", name, v)
		}
	}
	if r.Options["cache_type"] != "lru_cache" || r.Options["compaction_readahead_size"] != "0" {
		t.Errorf("options of the run: cache_type %q, compaction_readahead_size %q", r.Options["cache_type"], r.Options["compaction_readahead_size"])
	}
}

func TestDirectIOFlagsFollowTheVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]map[string]string{
		"5.18.4": {"use_direct_reads": "true", "use_direct_io_for_flush_and_compaction": "true", "bytes_per_sync": "0", "compaction_readahead_size": "2097152", "prepopulate_block_cache": ""},
		"6.29.5": {"use_direct_reads": "true", "use_direct_io_for_flush_and_compaction": "true", "bytes_per_sync": "0", "compaction_readahead_size": "2097152", "prepopulate_block_cache": "1"},
		"8.6.7":  {"compaction_readahead_size": "2097152", "prepopulate_block_cache": "1", "compression_type": "lz4"},
	} {
		_, flags, _ := resolve(t, version, "db_bench-iodir")
		for name, value := range want {
			if got := flags["readrandom"][name]; got != value {
				t.Errorf("%s: --%s=%q, want %q", version, name, got, value)
			}
		}
	}
	p, err := LoadPlan("db_bench-iodir", Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"4.4.1", "5.3.7"} {
		_, err := p.Resolve(version, "b", "/j", "/d", 1)
		if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), "db_bench-iodir.yaml:") || !strings.Contains(err.Error(), "something else would be measured") {
			t.Errorf("%s: %v, want a refusal at the flag's place: without O_DIRECT it is another workload", version, err)
		}
	}
}

func TestCacheTypeFollowsTheVersion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, cache, want string }{
		{"7.4.3", "best", "lru_cache"},
		{"7.6.0", "best", "lru_cache"},
		{"7.7.2", "best", "hyper_clock_cache"},
		{"8.5.4", "best", "hyper_clock_cache"},
		{"8.6.7", "best", "auto_hyper_clock_cache"},
		{"main", "best", "auto_hyper_clock_cache"},
		{"7.8.3", "hyper_clock_cache", "hyper_clock_cache"},
		{"10.9.1", "lru_cache", "lru_cache"},
		{"7.6.0", "hyper_clock_cache", "refused"},
		{"8.5.4", "auto_hyper_clock_cache", "refused"},
		{"6.29.5", "auto_hyper_clock_cache", "refused"},
	} {
		p, err := LoadPlan("db_bench-quick", Overrides{Set: []string{"cache_type=" + test.cache}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Resolve(test.version, "b", "/j", "/d", 1)
		got := "refused"
		if err == nil {
			got = flagsOf(t, r.Commands[0])["cache_type"]
		} else if bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%v: kind %q", err, bench.KindOf(err))
		}
		if got != test.want {
			t.Errorf("%s with %s: %s, want %s (%v)", test.version, test.cache, got, test.want, err)
		}
	}
}

func TestVersionsOfTwoNumbersAndBranchesGateLikeTheirRelease(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version string
		first   string
		want    bool
	}{
		{"7.4", "7.4", true}, {"7.3", "7.4", false}, {"7.10", "7.4", true}, {"7.4.fb", "7.4", true}, {"10.0.1", "9.9", true},
		{"8.6-rc1", "8.6", true}, {"main", "10.4", true}, {"6.9.fb", "6.22", false},
	} {
		if got := has(test.version, test.first); got != test.want {
			t.Errorf("has(%s, %s) = %v", test.version, test.first, got)
		}
	}
	p, err := LoadPlan("db_bench-quick", Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resolve("", "b", "/j", "/d", 1); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("unknown version: %v, want a refusal", err)
	}
}

func TestPlanStatesReadahead(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"compaction_readahead=0": "0", "compaction_readahead=64KiB": "65536"} {
		if _, flags, _ := resolve(t, "8.7.3", "db_bench-quick", set); flags["fillseq"]["compaction_readahead_size"] != want {
			t.Errorf("%s: %s, want %s", set, flags["fillseq"]["compaction_readahead_size"], want)
		}
	}
}

func TestCommandLinesSurviveAShell(t *testing.T) {
	t.Parallel()
	words := []string{"printf", `%s\n`, "plain", "with space", "it's", `"$HOME" \n`, "", "a=b,c:/d", "*", "ü"}
	out, err := exec.Command("sh", "-c", shellLine(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(words[2:], "\n") + "\n"; string(out) != want {
		t.Errorf("the shell read\n%q\nwant\n%q", out, want)
	}
}
