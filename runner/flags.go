package runner

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// flagVersion bounds the releases that are given a flag, as major.minor and
// including both. Outside them the flag is left out, and the run says so unless
// another flag takes its place in the releases after; a flag that is essential
// refuses the run instead, because without it something else would be measured.
// A flag that is not in the table is always passed.
type flagVersion struct {
	first, last string
	essential   bool
	replacedBy  string
}

// flagVersions holds when db_bench's flags came and went: the first release
// whose tools/db_bench_tool.cc (db/db_bench.cc before 4.8) has the flag.
var flagVersions = map[string]flagVersion{
	"allow_concurrent_memtable_write":         {first: "4.4"},
	"pin_l0_filter_and_index_blocks_in_cache": {first: "4.8"},
	"compression_max_dict_bytes":              {first: "5.0"},
	"compaction_pri":                          {first: "5.0"}, // 4.x has the flag but not the priority that 5.x is told to use
	"use_direct_reads":                        {first: "5.0", essential: true},
	"cache_high_pri_pool_ratio":               {first: "5.1"},
	"benchmark_read_rate_limit":               {first: "5.1"},
	"use_direct_io_for_flush_and_compaction":  {first: "5.4", essential: true},
	"max_background_jobs":                     {first: "5.7"},
	"partition_index_and_filters":             {first: "5.7"},
	"metadata_block_size":                     {first: "5.7"},
	"pin_top_level_index_and_filter":          {first: "5.15"},
	"format_version":                          {first: "5.15"},
	"multiread_batched":                       {first: "6.2"},
	"enable_blob_files":                       {first: "6.19", essential: true},
	"prepopulate_block_cache":                 {first: "6.22"},
	"async_io":                                {first: "7.2"},
	"cache_type":                              {first: "7.4"},
	"blob_file_starting_level":                {first: "7.4"},
	"use_blob_cache":                          {first: "7.5"},
	"cache_low_pri_pool_ratio":                {first: "7.6"},
	"initial_auto_readahead_size":             {first: "7.6"},
	"auto_readahead_size":                     {first: "8.7"},
	"compression_manager":                     {first: "10.4"},

	"max_background_flushes":            {last: "5.6", replacedBy: "max_background_jobs"},
	"max_background_compactions":        {last: "5.6", replacedBy: "max_background_jobs"},
	"writes_per_second":                 {last: "4.13", replacedBy: "benchmark_write_rate_limit"},
	"use_clock_cache":                   {first: "4.13", last: "7.4", replacedBy: "cache_type"},
	"hard_rate_limit":                   {last: "6.29"},
	"soft_rate_limit":                   {last: "6.29"},
	"rate_limit_delay_max_milliseconds": {last: "6.29"},
}

// cacheTypeFirst holds the first release with a value of cache_type. The cache
// of releases without the flag is lru_cache.
var cacheTypeFirst = map[string]string{
	"hyper_clock_cache":      "7.7",
	"auto_hyper_clock_cache": "8.6",
}

// cacheBest stands for the newest cache type that a release has.
const cacheBest = "best"

// has reports whether a version is the release first (major.minor) or later.
// Patch releases and packages of it count as the release itself, and main and
// its like as later than any.
func has(version, first string) bool {
	if minor, ok := bench.Minor(version); ok {
		version = minor
	}
	return first == "" || bench.CompareVersions(version, first) >= 0
}

// within reports whether a version lies between two releases; "" bounds nothing.
func within(version, first, last string) bool {
	if minor, ok := bench.Minor(version); ok {
		version = minor
	}
	return has(version, first) && (last == "" || bench.CompareVersions(version, last) <= 0)
}

// readahead is what compaction_readahead_size is set to. Up to 8.5 the library's
// default was 0, which it raised to 2 MiB with direct reads; from 8.6 it is
// 2 MiB, but the db_bench of 8.6 passed its own default of 0 on. Passing the
// value makes all releases do what the library means to do.
func (p *Plan) readahead(version string) Size {
	switch {
	case p.CompactionReadahead != nil:
		return *p.CompactionReadahead
	case has(version, "8.6") || p.direct():
		return 2 << 20
	}
	return 0
}

// direct reports whether the plan reads with O_DIRECT.
func (p *Plan) direct() bool {
	for _, f := range p.Flags {
		if f.Name == "use_direct_reads" && !f.Drop {
			return f.Value == "true" || f.Value == "1"
		}
	}
	return false
}

// cacheType gives the value of cache_type for a version.
func (p *Plan) cacheType(version string) (string, error) {
	if p.CacheType != cacheBest {
		if first := cacheTypeFirst[p.CacheType]; !has(version, first) {
			return "", planError(p.at("cache_type"), "cache_type %s exists from RocksDB %s, this is %s", p.CacheType, first, version)
		}
		return p.CacheType, nil
	}
	switch {
	case has(version, cacheTypeFirst["auto_hyper_clock_cache"]):
		return "auto_hyper_clock_cache", nil
	case has(version, cacheTypeFirst["hyper_clock_cache"]):
		return "hyper_clock_cache", nil
	}
	return "lru_cache", nil
}

// Variables gives what $names in a plan stand for: db (the database directory),
// clients, keys, key_bytes, value_bytes, compression, compression_ratio,
// cache_bytes, cache_type, readahead (compaction_readahead_size), jobs
// (background jobs), flush_jobs and compaction_jobs (how benchmark.sh splits
// them for releases before 5.7), write_rate (bytes per second) and
// writes_per_second (the same for releases that count writes), tenth_per_client
// (a tenth of the keys, split among the clients), read_seconds, write_seconds
// and settle_seconds.
func (p *Plan) Variables(version, cacheType, db string) map[string]string {
	flush := max(p.BackgroundJobs/4, 1)
	return map[string]string{
		"db":                db,
		"clients":           strconv.Itoa(p.Clients),
		"keys":              strconv.FormatInt(p.Keys, 10),
		"key_bytes":         strconv.Itoa(p.KeyBytes),
		"value_bytes":       strconv.Itoa(p.ValueBytes),
		"compression":       p.Compression,
		"compression_ratio": strconv.FormatFloat(p.CompressionRatio, 'f', -1, 64),
		"cache_bytes":       strconv.FormatInt(int64(p.CacheBytes), 10),
		"cache_type":        cacheType,
		"readahead":         strconv.FormatInt(int64(p.readahead(version)), 10),
		"jobs":              strconv.Itoa(p.BackgroundJobs),
		"flush_jobs":        strconv.Itoa(flush),
		"compaction_jobs":   strconv.Itoa(max(p.BackgroundJobs-flush, 1)),
		"write_rate":        strconv.FormatInt(int64(p.WriteRate), 10),
		"writes_per_second": strconv.FormatInt(int64(p.WriteRate)/int64(max(p.KeyBytes+p.ValueBytes, 1)), 10),
		"tenth_per_client":  strconv.FormatInt(max(p.Keys/int64(max(p.Clients, 1))/10, 1), 10),
		"read_seconds":      strconv.Itoa(p.ReadSeconds),
		"write_seconds":     strconv.Itoa(p.WriteSeconds),
		"settle_seconds":    strconv.Itoa(p.SettleSeconds),
	}
}

// Resolved is a plan resolved for a version.
type Resolved struct {
	Commands []ingest.RunnerCommand
	// LeftOut names the steps and flags that the version does not have, with the
	// reason.
	LeftOut []string
	// Options holds the flags that all steps share, by name.
	Options map[string]string
}

// Resolve gives the command lines of a plan for a version of the binary. steps
// is the directory below which each step has its own, db the database directory,
// seed the first step's. Errors have kind invalid.
func (p *Plan) Resolve(version, binary, steps, db string, seed int64) (*Resolved, error) {
	if version == bench.UnknownVersion {
		return nil, bench.Errorf(bench.KindInvalid, "the version of %s is not known; flags differ between versions", binary)
	}
	cacheType, err := p.cacheType(version)
	if err != nil {
		return nil, err
	}
	vars := p.Variables(version, cacheType, db)
	r := &Resolved{Options: map[string]string{}}
	leave := func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); !slices.Contains(r.LeftOut, line) {
			r.LeftOut = append(r.LeftOut, line)
		}
	}
	kept := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		test, err := expand(s.Test, vars, s.at)
		if err != nil {
			return nil, err
		}
		name := bench.ParseStep(test).Name
		if !within(version, s.First, s.Last) {
			// One for older releases has its successor in the plan.
			if !has(version, s.First) {
				leave("step %s: for releases %s, this is %s", name, span(s.First, s.Last), version)
			}
			continue
		}
		c := ingest.RunnerCommand{
			Number: len(r.Commands) + 1, Step: name, Test: test, Creates: s.Creates, Writes: s.Writes || s.Creates,
			Figure: s.Figure,
		}
		c.Dir = fmt.Sprintf("%02d-%s", c.Number, name)
		switch c.Figure {
		case "":
			c.Figure = benchmarkName(s.Benchmarks[0])
		case "none":
			c.Figure = ""
		}
		for _, need := range s.Needs {
			// A step that this release does not have cannot have failed.
			if kept[need] {
				c.Needs = append(c.Needs, need)
			}
		}
		threads := s.Threads
		if threads == "" {
			threads = "$clients"
		}
		if threads, err = expand(threads, vars, s.at); err != nil {
			return nil, err
		}
		c.Limit = time.Duration(p.Limit).Seconds()
		if s.Seconds != "" {
			text, err := expand(s.Seconds, vars, s.at)
			if err != nil {
				return nil, err
			}
			if c.Seconds, err = strconv.Atoi(text); err != nil {
				return nil, planError(s.at, "seconds: not a number: %q", text)
			}
			c.Limit = float64(c.Seconds) + time.Duration(p.Grace).Seconds()
		}
		if s.Limit > 0 {
			c.Limit = time.Duration(s.Limit).Seconds()
		}

		c.Args = append(slices.Clone(p.Prefix), binary, "--benchmarks="+strings.Join(s.Benchmarks, ","))
		use := "1"
		if s.Creates {
			use = "0"
		}
		c.Args = append(c.Args, "--use_existing_db="+use, "--db="+db, "--wal_dir="+db)
		values := map[string]string{}
		for _, f := range s.Flags.over(p.Flags) {
			if f.Drop {
				continue
			}
			value, err := expand(f.Value, vars, f.at)
			if err != nil {
				return nil, err
			}
			if v, known := flagVersions[f.Name]; known && !within(version, v.first, v.last) {
				if v.essential {
					return nil, planError(f.at, "flag %s exists for releases %s, this is %s: without it something else would be measured", f.Name, span(v.first, v.last), version)
				}
				if v.replacedBy == "" || !has(version, v.first) {
					leave("flag %s: for releases %s, this is %s", f.Name, span(v.first, v.last), version)
				}
				continue
			}
			values[f.Name] = value
			c.Args = append(c.Args, "--"+f.Name+"="+value)
		}
		if c.Seconds > 0 {
			c.Args = append(c.Args, "--duration="+strconv.Itoa(c.Seconds))
		} else if c.Figure != "" {
			c.Operations = operations(values, threads)
		}
		c.Args = append(c.Args, "--threads="+threads, "--seed="+strconv.FormatInt(seed+int64(i), 10),
			"--report_interval_seconds=1", "--report_file="+filepath.Join(steps, c.Dir, ingest.RunnerReportFile))

		if len(r.Commands) == 0 {
			r.Options = values
		} else {
			for name, value := range r.Options {
				if values[name] != value {
					delete(r.Options, name)
				}
			}
		}
		kept[name] = true
		r.Commands = append(r.Commands, c)
	}
	if len(r.Commands) == 0 {
		return nil, bench.Errorf(bench.KindInvalid, "no step of plan %s is for RocksDB %s", p.Name, version)
	}
	return r, nil
}

// operations gives how many operations a step without duration does: writes and
// reads count per thread, num for all of them that fill.
func operations(flags map[string]string, threads string) int64 {
	t, err := strconv.ParseInt(threads, 10, 64)
	if err != nil {
		return 0
	}
	for _, name := range []string{"writes", "reads", "num"} {
		if n, err := strconv.ParseInt(flags[name], 10, 64); err == nil && n > 0 {
			return n * t
		}
	}
	return 0
}

// benchmarkName gives the name that an entry of --benchmarks prints its result
// under: without the repeats in brackets.
func benchmarkName(entry string) string {
	name, _, _ := strings.Cut(entry, "[")
	return name
}

// span names a range of releases.
func span(first, last string) string {
	switch {
	case first == "":
		return "up to " + last
	case last == "":
		return "from " + first
	}
	return first + " to " + last
}

// shellLine quotes words so that a POSIX shell reads them back as they are.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w != "" && strings.IndexFunc(w, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:+@%", r))
		}) < 0 {
			quoted[i] = w
			continue
		}
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
