package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/testdata"
)

// onlyConfig gives the one config of a batch of one file.
func onlyConfig(t *testing.T, b *bench.Batch) bench.Config {
	t.Helper()
	f := onlyFile(t, b)
	if f.State != bench.FileTaken || len(b.Configs) != 1 || len(b.Runs) != 0 {
		t.Fatalf("%s %v: %d configs, %d runs", f.State, f.Messages, len(b.Configs), len(b.Runs))
	}
	return b.Configs[0]
}

// settingsOf gives key=value of all options, written and as compared.
func settingsOf(c bench.Config) map[string]string {
	m := map[string]string{}
	for _, o := range c.Options {
		v := o.Written
		if o.Value != v {
			v += " (" + o.Value + ")"
		}
		if o.Environment {
			v += " aside"
		}
		m[o.Key] = v
	}
	return m
}

func TestMyCnfIsReadAsASetOfOptions(t *testing.T) {
	t.Parallel()
	text := "\ufeff# a comment\n; another\r\n!includedir /etc/my.cnf.d\n[client]\nport=3306\npassword=secret\n\n[mysqld]\nSkip-InnoDB\n" +
		"rocksdb_block_cache_size=8192M # of 16G\nloose-Rocksdb_New_Thing = '1'\nlog-bin=/d/bl\npid-file=/d/pid\n" +
		"rocksdb_override_cf_options=cf1={write_buffer_size=8m};rev:cf2={compression_opts={level=3;window=-14}}\n" +
		"init_connect=\"SET x='#1'\"\nserver_id=1\nratio=0.50\nslave_skip_errors=\nrocksdb_default_cf_options=a={b=1\n[mysqld_safe]\nmalloc-lib=/usr/lib/libjemalloc.so.2\n"
	c := onlyConfig(t, mustRead(t, "dir/my.cnf.cy10a4_1g_bee", text, bench.Context{}))
	if c.System != "myrocks" || c.Name != "a4" || c.SourceName != "cy10a4_1g_bee" || c.Kind != bench.ConfigMyCnf || c.Layer != bench.LayerParsed {
		t.Errorf("%+v", c)
	}
	want := map[string]string{
		"port": "3306 aside", "password": "(hidden) aside", "skip_innodb": " (ON)",
		"rocksdb_block_cache_size": "8192M (8589934592)", "rocksdb_new_thing": "'1' (1)", "log_bin": "/d/bl (ON)", "pid_file": "/d/pid aside",
		"cf.cf1.write_buffer_size": "8m (8388608)", "cf.rev:cf2.compression_opts.level": "3", "cf.rev:cf2.compression_opts.window": "-14",
		"init_connect": `"SET x='#1'" (SET x='#1')`, "server_id": "1 aside", "ratio": "0.50 (0.5)", "slave_skip_errors": "",
		"rocksdb_default_cf_options": "a={b=1", "malloc_lib": "/usr/lib/libjemalloc.so.2 (libjemalloc)",
	}
	if diff := cmp.Diff(want, settingsOf(c)); diff != "" {
		t.Error(diff)
	}
	at := slices.IndexFunc(c.Options, func(o bench.Option) bool { return o.Key == "rocksdb_new_thing" })
	if o := c.Options[at]; !o.Loose || o.Line != 11 || o.Section != "mysqld" {
		t.Errorf("%+v", o)
	}
	if len(c.Warnings) != 2 || c.Warnings[0].Line != 3 || !strings.Contains(c.Warnings[1].Text, "kept as one value") {
		t.Errorf("%v", c.Warnings)
	}
}

func TestTheLastOfDuplicatesCountsAndIsTold(t *testing.T) {
	t.Parallel()
	text := "[mysqld]\nrocksdb_x=1\nrocksdb-x=2\nrocksdb_default_cf_options=a=1;b=2\nrocksdb_default_cf_options=b=3;b=4\n[mysqld]\nROCKSDB_X=2\n"
	c := onlyConfig(t, mustRead(t, "a.cnf", text, bench.Context{}))
	if diff := cmp.Diff(map[string]string{"rocksdb_x": "2", "cf.default.b": "4"}, settingsOf(c)); diff != "" {
		t.Error(diff) // the second option string replaces the first as a whole
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		`a.cnf:3: rocksdb_x stands in line 2 already: the last counts, not "1"`,
		`a.cnf:5: rocksdb_default_cf_options stands in line 4 already: the last counts, not "a=1;b=2"`,
		`a.cnf:7: rocksdb_x stands in line 3 already: with the same value`,
		`a.cnf:5: rocksdb_default_cf_options sets b twice: the last counts`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestValuesAreComparedInOneForm(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"8G": "8589934592", "8192M": "8589934592", "8192m": "8589934592", "62M": "65011712", "1k": "1024", "1E": "1152921504606846976",
		"16E": "16E", "99999999999999999999G": "99999999999999999999G", "G": "G", "1.5G": "1.5G", "-1G": "-1G", "0x10": "0x10",
		"on": "ON", "TRUE": "ON", "Yes": "ON", "off": "OFF", "false": "OFF", "no": "OFF", "1": "1", "0": "0",
		"0.500000": "0.5", "08": "8", "-0": "0", "-0.50": "-0.5", "1.": "1.", ".5": ".5", "1e3": "1e3", "5.0": "5", "": "",
		"bloomfilter:10:false": "bloomfilter:10:false", "ROW": "ROW", "1:1:1": "1:1:1",
	} {
		if got := optionValue(written); got != want {
			t.Errorf("%q is %q, want %q", written, got, want)
		}
	}
}

func TestOptionStringsAreFlattened(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"a=1", "a=1"},
		{"a=1;", "a=1"},
		{" a = 1 ; b={c=2; d={e=3;};} ;f={}", "a=1|b.c=2|b.d.e=3|f={}"},
		{"block_based_table_factory={filter_policy=bloomfilter:10:false;block_cache={capacity=64M}}", "block_based_table_factory.filter_policy=bloomfilter:10:false|block_based_table_factory.block_cache.capacity=64M"},
		{"l={1,2}", "l={1,2}"},
		{"a=", "a="},
		{"a=1;a=2", "a=2"},
		{"", ""},
		{"a", "none"}, {"a={", "none"}, {"a=}", "none"}, {"a={b=1}c", "none"}, {"=1", "none"}, {"a b=1", "none"}, {"a={b=1;c}", "none"},
		{strings.Repeat("a={", 40) + "b=1" + strings.Repeat("}", 40), "none"},
	} {
		settings, _, ok := parseOptionString(tt.text)
		var parts []string
		for _, s := range settings {
			parts = append(parts, s.key+"="+s.value)
		}
		got := strings.Join(parts, "|")
		if !ok {
			got = "none"
		}
		if got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestConfigsAreNamedByTheirFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, name, source string }{
		{"my.cnf.cy10a4_bee", "a4", "cy10a4_bee"},
		{"x/my.cnf.cy10a_bee", "a0", "cy10a_bee"},
		{"my.cnf.cy10a0_bee.gz", "a0", "cy10a0_bee"},
		{"my.cnf.cy10a_1g_bee", "a0", "cy10a_1g_bee"},
		{"my.cnf.cza1ps0_bee", "cza1ps0", "cza1ps0_bee"},
		{"conf/tuned.cnf", "tuned", "tuned"},
		{"run/a4/my.cnf", "a4", "a4"},
		{"20m.fbmy8028_rel.cy10a5_bee/l.i0/my.cnf", "a5", "cy10a5_bee"},
		{"20m.fbmy8028_rel.cy10a5_bee/my.cnf", "a5", "cy10a5_bee"},
		{"etc/my.cnf", "", ""},
		{"my.cnf", "", ""},
		{"bm.lc.nt8.d0/8.8.gcc/OPTIONS-000007", "", ""},
		{"bs4k/OPTIONS-000007", "bs4k", "bs4k"},
		{"a4/gv.rocksdb.tsv", "a4", "a4"},
		{"notes.txt", "", ""},
	} {
		name, source := (&input{path: tt.path}).configName()
		if name != tt.name || source != tt.source {
			t.Errorf("%s is %q called %q, want %q called %q", tt.path, name, source, tt.name, tt.source)
		}
	}
	c := onlyConfig(t, mustRead(t, "my.cnf.cy10a4_bee", "[mysqld]\nrocksdb\n", bench.Context{Config: "mine", System: "percona"}))
	if c.Name != "mine" || c.SourceName != "cy10a4_bee" || c.System != "percona" {
		t.Errorf("what is stated counts: %+v", c)
	}
}

func TestConfigFilesThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, text, contains string }{
		{"no name", "my.cnf", "[mysqld]\nrocksdb\n", "my.cnf: config is not said by the file or its path: give --config"},
		{"no system", "a.cnf", "[mysqld]\nport=1\n", "a.cnf: system is not said by the file or its path: give --system"},
		{"no option", "a.cnf", "[mysqld]\n# rocksdb\n[server]\n", "give --system"},
		{"not an option", "a.cnf", "[mysqld]\nrocksdb\n<?php\n", `a.cnf:3: not an option: "<?php"`},
		{"a long line", "a.cnf", "[mysqld]\nrocksdb\n" + strings.Repeat("[mysqld]\n", 500) + strings.Repeat("x", maxLine+1) + "\n", "longer than"},
	} {
		f := onlyFile(t, mustRead(t, tt.path, tt.text, bench.Context{}))
		if f.State != bench.FileRefused || len(f.Messages) == 0 || !strings.Contains(f.Messages[0].String(), tt.contains) {
			t.Errorf("%s: %s %v", tt.name, f.State, f.Messages)
		}
	}
	// Sections of something else make it something else.
	for _, text := range []string{"[Unit]\na=1\n", "[client]\nport=1\n", "rocksdb\n[mysqld]\n"} {
		if f := onlyFile(t, mustRead(t, "a.cnf", text, bench.Context{})); f.Format == formatMyCnf {
			t.Errorf("%q was taken for a my.cnf", text)
		}
	}
}

func TestOptionsFileIsWhatADatabaseWasOpenedWith(t *testing.T) {
	t.Parallel()
	c := onlyConfig(t, mustRead(t, "bs8k/OPTIONS-000007", fixture(t, "config/OPTIONS-000007"), bench.Context{}))
	if c.System != "rocksdb" || c.Name != "bs8k" || c.Kind != bench.ConfigOptions || c.Layer != bench.LayerEffective || len(c.Warnings) != 0 {
		t.Errorf("%+v", c)
	}
	want := map[string]string{
		"rocksdb_version": "7.8.3 aside", "options_file_version": "1.1 aside",
		"max_background_jobs": "2", "wal_dir": "/srv/db aside", "enable_thread_tracking": "false (OFF)",
		"cf.default.write_buffer_size": "67108864", "cf.default.compression_opts.max_dict_buffer_bytes": "0",
		"cf.default.compression_opts.level": "32767", "cf.default.compression_opts.strategy": "0",
		"cf.default.max_bytes_for_level_multiplier_additional": "1:1:1", "cf.default.comparator": "leveldb.BytewiseComparator",
		"cf.default.table_factory": "BlockBasedTable", "cf.default.block_based_table_factory.filter_policy": "bloomfilter:10:false",
		"cf.default.block_based_table_factory.block_size": "8192",
	}
	if diff := cmp.Diff(want, settingsOf(c)); diff != "" {
		t.Error(diff)
	}
}

func TestListsOfPairsAreConfigs(t *testing.T) {
	t.Parallel()
	text := "# tuned\n--block_size=8K\nwrite-buffer-size = 32m; max_write_buffer_number=4\nblock_based_table_factory={block_size=8192}\nblock_size=16K\n"
	c := onlyConfig(t, mustRead(t, "list", text, bench.Context{Config: "bs16k"}))
	if c.System != "rocksdb" || c.Kind != bench.ConfigPairs || len(c.Warnings) != 1 || c.Warnings[0].Line != 5 {
		t.Errorf("%+v", c)
	}
	want := map[string]string{
		"block_size": "16K (16384)", "write_buffer_size": "32m (33554432)", "max_write_buffer_number": "4", "block_based_table_factory.block_size": "8192",
	}
	if diff := cmp.Diff(want, settingsOf(c)); diff != "" {
		t.Error(diff)
	}
	c = onlyConfig(t, mustRead(t, "list", "rocksdb_default_cf_options=a=1;b={c=2}\nrocksdb_block_size=8192\n", bench.Context{Config: "x"}))
	if diff := cmp.Diff(map[string]string{"cf.default.a": "1", "cf.default.b.c": "2", "rocksdb_block_size": "8192"}, settingsOf(c)); diff != "" || c.System != "myrocks" {
		t.Error(c.System, diff)
	}
}

func TestVariablesOfAServerAreWhatIsInEffect(t *testing.T) {
	t.Parallel()
	tabs := fixture(t, "config/variables.tsv")
	framed := "+--+--+\n"
	for _, line := range strings.Split(strings.TrimSpace(tabs), "\n") {
		name, value, _ := strings.Cut(line, "\t")
		framed += "| " + name + strings.Repeat(" ", 40-len(name)) + " | " + value + " |\n"
	}
	aligned := "Variables (--variable-name=value)\nand boolean options {FALSE|TRUE}  Value (after reading options)\n--------- -----\n"
	for _, line := range strings.Split(strings.TrimSpace(tabs), "\n")[1:] {
		name, value, _ := strings.Cut(line, "\t")
		if value == "" {
			value = "(No default value)"
		}
		aligned += strings.ReplaceAll(name, "_", "-") + strings.Repeat(" ", 40-len(name)) + " " + value + "\n"
	}
	want := map[string]string{
		"innodb_buffer_pool_size": "16777216", "rocksdb_block_cache_size": "6442450944", "rocksdb_block_size": "8192",
		"rocksdb_cache_high_pri_pool_ratio": "0.500000 (0.5)", "rocksdb_datadir": "./#rocksdb", "cf.default.write_buffer_size": "33554432",
		"cf.default.level0_stop_writes_trigger": "12", "rocksdb_use_direct_reads": "OFF", "rocksdb_wal_dir": " aside", "server_id": "77 aside",
	}
	for name, text := range map[string]string{"tabs": tabs, "framed": framed, "aligned": aligned} {
		c := onlyConfig(t, mustRead(t, "a6/gv.tsv", text, bench.Context{}))
		if c.Name != "a6" || c.Layer != bench.LayerEffective || c.Kind != bench.ConfigVariables {
			t.Errorf("%s: %+v", name, c)
		}
		if diff := cmp.Diff(want, settingsOf(c)); diff != "" {
			t.Error(name, diff)
		}
	}
	// What is in effect can be compared with what was asked for.
	parsed := onlyConfig(t, mustRead(t, "my.cnf.cy10a6_bee", fixture(t, "config/my.cnf.cy10a6_bee"), bench.Context{}))
	effective := onlyConfig(t, mustRead(t, "a6/gv.tsv", tabs, bench.Context{}))
	for _, row := range bench.Diff(parsed, []bench.Config{effective}) {
		switch row.Key {
		case "rocksdb_block_cache_size", "rocksdb_block_size", "rocksdb_cache_high_pri_pool_ratio", "cf.default.write_buffer_size":
			t.Errorf("%s differs: %+v", row.Key, row)
		}
	}
}

// familyFiles reads a0 to a7 from a folder of my.cnf files.
func familyFiles(t *testing.T, dir string) (base bench.Config, others []bench.Config) {
	t.Helper()
	for _, n := range []string{"", "1", "2", "3", "4", "5", "6", "7"} {
		name := "my.cnf.cy10a" + n + "_bee"
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		c := onlyConfig(t, mustRead(t, name, string(data), bench.Context{}))
		if n == "" {
			base = c
		} else {
			others = append(others, c)
		}
	}
	return base, others
}

// checkFamily compares what the configs a0 to a7 are found to differ in with what
// is known of the files.
func checkFamily(t *testing.T, base bench.Config, others []bench.Config) {
	t.Helper()
	if base.Name != "a0" || len(base.Options) != 42 || len(base.Warnings) != 1 || !strings.Contains(base.Warnings[0].Text, "default_tmp_storage_engine") {
		t.Errorf("%s has %d options, want 42, and one stands twice: %v", base.Name, len(base.Options), base.Warnings)
	}
	hyper, shards, sub := "rocksdb_use_hyper_clock_cache=ON", "rocksdb_block_cache_numshardbits=3", "rocksdb_max_subcompactions=2"
	cache := "rocksdb_block_cache_size 8G → 6G"
	want := map[string][]string{
		"a1": {cache, hyper}, "a2": {shards}, "a3": {"cf.default.min_blob_size=1024"},
		"a4": {"cf.default.level0_slowdown_writes_trigger=8", "cf.default.level0_stop_writes_trigger=12"},
		"a5": {sub}, "a6": {shards, cache, sub, hyper}, "a7": {cache, sub, hyper},
	}
	got := map[string][]string{}
	for _, c := range others {
		for _, ch := range bench.Changes(base, c) {
			got[c.Name] = append(got[c.Name], ch.String())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f := bench.NewFamily(base, others)
	if len(f.Combinations) != 2 || f.Combinations[0].Config != "a6" || strings.Join(f.Combinations[0].Parts, "+") != "a1+a2+a5" ||
		f.Combinations[1].Config != "a7" || strings.Join(f.Combinations[1].Parts, "+") != "a1+a5" {
		t.Errorf("%+v", f.Combinations)
	}
	surprised := false
	for _, g := range f.Together {
		if len(g.Surprises) > 0 {
			surprised = true
			if strings.Join(g.Configs, " ") != "a1 a6 a7" || len(g.Surprises) != 1 || g.Surprises[0].String() != cache {
				t.Errorf("%+v", g)
			}
		}
	}
	if !surprised {
		t.Errorf("the smaller cache surprises nobody: %+v", f.Together)
	}
}

func TestTheFamilyDiffersInWhatItsFilesSay(t *testing.T) {
	t.Parallel()
	base, others := familyFiles(t, filepath.Join("testdata", "config"))
	checkFamily(t, base, others)
}

func TestSharedMyCnfFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "ibench", "my.cnf")
	base, others := familyFiles(t, dir)
	checkFamily(t, base, others)
	// Every file is understood; the base under its two names is one set of options.
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		c := onlyConfig(t, mustRead(t, f.Name(), string(data), bench.Context{}))
		if c.Name == "a0" && len(bench.Changes(base, c)) != 0 {
			t.Errorf("%s differs from the base", f.Name())
		}
	}
	later := onlyConfig(t, mustRead(t, "my.cnf.cza1_bee", readShared(t, dir, "my.cnf.cza1_bee"), bench.Context{}))
	got := words(bench.Changes(base, later))
	want := "rocksdb_compaction_sequential_deletes=14999, rocksdb_compaction_sequential_deletes_count_sd=ON, rocksdb_compaction_sequential_deletes_window=15000, " +
		"rocksdb_max_subcompactions=2, rocksdb_merge_combine_read_size 62M → 64M, slow_query_log 1 → 0"
	if got != want {
		t.Errorf("%s", got)
	}
}

func words(changes []bench.OptionChange) string {
	var parts []string
	for _, c := range changes {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, ", ")
}

func readShared(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSharedServerVariables(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata.Shared(t), "data", "ibench")
	c := onlyConfig(t, mustRead(t, "myrocks-variables.txt", readShared(t, dir, "myrocks-variables.txt"), bench.Context{Config: "default"}))
	if c.Layer != bench.LayerEffective || c.System != "myrocks" {
		t.Errorf("%+v", c)
	}
	// 145 lines, one of which holds six options of the column family, two empty ones.
	if got := settingsOf(c); len(got) != 145-1+6 || got["cf.default.level0_stop_writes_trigger"] != "15" || got["rocksdb_block_cache_size"] != "33554432" || got["rocksdb_wal_dir"] != " aside" {
		t.Errorf("%d options", len(got))
	}
	// The server's own word agrees with the file that started it.
	dir = filepath.Join(dir, "raw_local_mariadb1011", "a4")
	parsed := onlyConfig(t, mustRead(t, "a4/my.cnf", readShared(t, dir, "my.cnf"), bench.Context{}))
	effective := onlyConfig(t, mustRead(t, "a4/gv.rocksdb.tsv", readShared(t, dir, "gv.rocksdb.tsv"), bench.Context{}))
	for _, row := range bench.Diff(parsed, []bench.Config{effective}) {
		if row.Kinds[0] == bench.OptionChanged && strings.HasPrefix(row.Key, "rocksdb_") {
			t.Errorf("%s: asked %q, in effect %q", row.Key, row.Base.Written, row.Other[0].Written)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, name := range []string{"my.cnf.cy10a6_bee", "OPTIONS-000007", "variables.tsv"} {
		f.Add(seed(f, "config/"+name), "a/"+name)
	}
	f.Add([]byte("a=1;b={c=2;d={e=3}}\n--f=4\n"), "x")
	f.Add([]byte("[mysqld]\nrocksdb_override_cf_options=a={b=1};c={d={}}\nrocksdb\nrocksdb\n"), "my.cnf")
	f.Add([]byte("[CFOptions \"\"]\n a=;;\n=\n"), "OPTIONS")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		b, err := Read(data, name, bench.Context{Config: "c", System: "s", Server: "s1", Workload: "cached", Version: "1"}, Limits{Bytes: 8 << 20})
		if err != nil {
			if bench.KindOf(err) == "" {
				t.Errorf("an error without kind: %v", err)
			}
			return
		}
		sane(t, data, b)
		for i := range b.Configs {
			c := &b.Configs[i]
			seen := map[[2]string]bool{}
			for _, o := range c.Options {
				k := [2]string{strings.ToLower(o.Section), o.Key}
				if seen[k] || o.Key == "" || o.Line < 1 {
					t.Errorf("%+v of %d", o, len(c.Options))
				}
				seen[k] = true
			}
			if len(c.Options) == 0 || len(c.Options) > len(data) || c.Name == "" || c.System == "" {
				t.Errorf("%+v", c)
			}
			if f := bench.NewFamily(*c, []bench.Config{*c}); len(f.Rows) != 0 {
				t.Errorf("a config differs from itself: %+v", f.Rows)
			}
		}
	})
}

func TestACheckSaysWhatConfigsAreThere(t *testing.T) {
	t.Parallel()
	text := Check(mustRead(t, "my.cnf.cy10a4_bee", fixture(t, "config/my.cnf.cy10a4_bee"), bench.Context{}))
	for _, want := range []string{
		"my.cnf.cy10a4_bee: my.cnf, taken\n  config a4 of myrocks (cy10a4_bee): 44 options, 4 of them set aside\n",
		"warning: my.cnf.cy10a4_bee:25: default_tmp_storage_engine stands in line 12 already: with the same value\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s", text)
		}
	}
	if !strings.HasSuffix(text, "1 file: 0 runs, 0 results, 0 values, 1 config\n") {
		t.Errorf("%s", text)
	}
}
