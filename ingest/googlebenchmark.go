package ingest

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Microbenchmarks of RocksDB (db_basic_bench, ribbon_bench) are programs of Google
// Benchmark, which writes JSON: a context and a list of benchmarks, one entry per
// repetition (run_type iteration) and, after several, aggregates of them. A
// repetition is a sample; an aggregate is none, but stands for them where a
// program was told to print nothing else. The step is the benchmark's name without
// its number of threads.

const formatGoogle = "google-benchmark JSON"

var (
	googleThreadsRe = regexp.MustCompile(`/threads:(\d{1,6})`)
	googleUnits     = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
	googleOwn       = map[string]bool{"family_index": true, "per_family_instance_index": true, "repetitions": true, "repetition_index": true, "threads": true, "iterations": true, "real_time": true, "cpu_time": true,
		"name": true, "run_name": true, "run_type": true, "aggregate_name": true, "aggregate_unit": true, "time_unit": true, "error_occurred": true, "error_message": true, "skipped": true, "skip_message": true}
	googleContext     = []string{"executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "library_build_type", "library_version", "host_name"}
	googleCounterName = regexp.MustCompile(`^[A-Za-z0-9_./%-]{1,100}$`)
)

func isGoogle(in *input) bool {
	h := headOf(in)
	return bytes.Contains(h, []byte(`"benchmarks"`)) && bytes.Contains(h, []byte(`"context"`)) &&
		(bytes.Contains(h, []byte(`"real_time"`)) || bytes.Contains(h, []byte(`"num_cpus"`)))
}

// googleEntry is a member of the list of benchmarks.
type googleEntry struct {
	fields    map[string]any
	step      bench.Step
	base      string // run_name: what repetitions and aggregates have in common
	aggregate string
}

func readGoogle(in *input) output {
	j, err := findJSON(in)
	if err != nil {
		return refused(asMessage(in.path, err))
	}
	top, _ := j.value.(map[string]any)
	context := jsonObject(top, "context")
	list, _ := top["benchmarks"].([]any)
	var entries []googleEntry
	var problems []bench.Message
	sampled := map[string]bool{} // by run name: there are repetitions
	for i, x := range list {
		fields, _ := x.(map[string]any)
		name := jsonWord(fields, "name")
		if name == "" || len(name) > 1000 || !isName(name) {
			problems = appendBounded(problems, bench.Message{File: in.path, Line: j.line, Text: fmt.Sprintf("entry %d of benchmarks has no name", i+1)})
			continue
		}
		e := googleEntry{fields: fields, base: jsonWord(fields, "run_name"), aggregate: jsonWord(fields, "aggregate_name")}
		if jsonWord(fields, "run_type") == "aggregate" && e.aggregate == "" {
			e.aggregate = name[strings.LastIndexByte(name, '_')+1:]
		}
		if e.base == "" {
			e.base = strings.TrimSuffix(name, "_"+e.aggregate)
		}
		e.step.Name = googleThreadsRe.ReplaceAllString(e.base, "")
		if m := googleThreadsRe.FindStringSubmatch(e.base); m != nil {
			e.step.Threads = atoi(m[1])
		} else if n, _, ok := jsonNumber(fields, "threads"); ok && n >= 1 && n < maxCount {
			e.step.Threads = int(n)
		}
		sampled[e.base] = sampled[e.base] || e.aggregate == ""
		entries = append(entries, e)
	}
	if len(problems) > 0 {
		return refused(problems...)
	}
	hint := bench.Context{System: bench.SystemRocksDB, Server: jsonWord(context, "host_name")}
	run, err := in.resolveSuite(bench.Context{Suite: bench.SuiteGoogle}, hint, "the text")
	if err != nil {
		return refused(asMessage(in.path, err))
	}
	for _, name := range googleContext {
		if v := jsonWord(context, name); v != "" {
			run.Environment = mergeMaps(run.Environment, map[string]string{name: v})
		}
	}
	date := jsonWord(context, "date")
	started, err := bench.ParseLocalTime(date)
	var warnings, messages []bench.Message
	if err != nil {
		started = bench.LocalTime{}
		if date != "" {
			warnings = append(warnings, bench.Message{File: in.path, Line: j.line, Column: "date", Text: fmt.Sprintf("not a date: %q; the results are without one", clip(date))})
		}
	}
	debug := strings.EqualFold(jsonWord(context, "library_build_type"), "debug")
	for i := range entries {
		e := &entries[i]
		if e.aggregate != "" && (sampled[e.base] || e.aggregate != "mean") {
			messages = appendBounded(messages, bench.Message{File: in.path, Line: j.line, Text: fmt.Sprintf("%s is computed from repetitions, no sample: not read", clip(jsonWord(e.fields, "name")))})
			continue
		}
		if !in.set.spend(1) {
			return tooManyRows(in, j.line)
		}
		r := e.result(in, j.line)
		r.Started = started
		if debug {
			r.Excluded = "debug build"
			r.Warnings = append(r.Warnings, bench.Message{File: in.path, Line: j.line, Text: "the benchmark library is a debug build: its figures are not comparable"})
		}
		r.Warnings = append(r.Warnings, j.warnings(in.path)...)
		run.Results = append(run.Results, r)
	}
	if len(run.Results) == 0 {
		return refused(bench.Message{File: in.path, Line: j.line, Text: "no benchmark in it"})
	}
	return output{state: bench.FileTaken, runs: []bench.Run{run}, warnings: warnings, messages: messages}
}

// result makes the result of an entry.
func (e *googleEntry) result(in *input, line int) bench.Result {
	r := bench.Result{
		Step: e.step, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: bench.PrimaryMetric(bench.SuiteGoogle, e.step.Name), Sources: []bench.Source{{File: in.path, Line: line}},
	}
	warn := func(format string, args ...any) {
		r.Warnings = appendBounded(r.Warnings, bench.Message{File: in.path, Line: line, Text: fmt.Sprintf(format, args...)})
	}
	r.Text = jsonWord(e.fields, "name") + " " + jsonWord(e.fields, "real_time")
	if failed, _ := e.fields["error_occurred"].(bool); failed {
		r.State, r.Reason = bench.StateFailed, jsonWord(e.fields, "error_message")
		if r.Reason == "" {
			r.Reason = "the benchmark reports an error"
		}
		return r
	}
	if e.aggregate != "" {
		warn("%s: the mean of %s repetitions, which are not in the file", e.step.Name, jsonWord(e.fields, "repetitions"))
	}
	unit := jsonWord(e.fields, "time_unit")
	scale, known := googleUnits[unit]
	if unit == "" {
		scale, known = 1, true
	}
	if !known {
		warn("%s: no unit of time is called %q; the times are left out", e.step.Name, clip(unit))
	}
	for _, t := range []struct{ field, metric string }{{"real_time", "real_time_ns"}, {"cpu_time", "cpu_time_ns"}} {
		if v, text, ok := jsonNumber(e.fields, t.field); ok && known && v >= 0 && isFinite(v*scale) {
			r.Set(bench.Value{Metric: t.metric, Number: v * scale, SourceName: t.field})
			if t.metric == r.Primary {
				r.PrimaryText = text + unit
			}
		} else if x, there := e.fields[t.field]; there && known {
			warn("%s: %s is no time: %q; left out", e.step.Name, t.field, clip(jsonShown(x)))
		} else if !there && t.metric == r.Primary {
			warn("%s: %s is missing", e.step.Name, t.field)
		}
	}
	if v, _, ok := jsonNumber(e.fields, "iterations"); ok && e.aggregate == "" {
		r.Set(bench.Value{Metric: "operations", Number: v, Resolution: 1, SourceName: "iterations"})
	} else if x, there := e.fields["iterations"]; there && !ok {
		warn("%s: iterations is no number: %q; left out", e.step.Name, clip(jsonShown(x)))
	}
	counters := 0
	for _, name := range slices.Sorted(maps.Keys(e.fields)) {
		if googleOwn[name] {
			continue
		}
		v, _, ok := jsonNumber(e.fields, name)
		if !ok || !googleCounterName.MatchString(name) {
			if name == "label" {
				warn("%s: its label is %q", e.step.Name, clip(jsonWord(e.fields, name)))
			} else if !ok {
				warn("%s: %s is no figure: %q; left out", e.step.Name, clip(name), clip(jsonShown(e.fields[name])))
			} else {
				warn("%s: not a counter's name: %q; left out", e.step.Name, clip(name))
			}
			continue
		}
		if counters++; counters > maxColumns {
			warn("%s: more than %d counters; the rest is left out", e.step.Name, maxColumns)
			break
		}
		r.Set(bench.Value{Metric: "counter_" + name, Number: v, SourceName: name})
	}
	return r
}
