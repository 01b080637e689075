package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// The JSON of fio. Notes may stand before it ({ begins a line), names may stand
// twice in an object. fio 2 gives latencies in µs as clat, fio 3 in ns as clat_ns.

const formatFIOJSON = "fio JSON"

func isFIOJSON(in *input) bool {
	return bytes.Contains(headOf(in), []byte(`"fio version"`))
}

// fioOptions are the options of a job that are kept of a run.
var fioOptions = []string{"rw", "readwrite", "bs", "blocksize", "iodepth", "ioengine", "direct", "numjobs", "runtime", "size", "time_based", "filename", "directory", "group_reporting", "fsync", "rwmixread"}

func readFIOJSON(in *input) output {
	j, err := findJSON(in)
	if err != nil {
		return refused(asMessage(in.path, err))
	}
	top, _ := j.value.(map[string]any)
	var f fioText
	f.version = strings.TrimPrefix(jsonWord(top, "fio version"), "fio-")
	f.notes = append(f.notes, j.warnings(in.path)...)
	capped := slices.ContainsFunc(j.notes, func(m bench.Message) bool { return strings.Contains(m.Text, "queue depth will be capped at 1") })
	ended := fioTime(top)
	if date := jsonWord(top, "time"); date != "" && ended.IsZero() {
		f.notes = append(f.notes, bench.Message{Line: j.line, Text: fmt.Sprintf("not a date: %q; the results are without one", clip(date))})
	}
	jobs, _ := top["jobs"].([]any)
	if len(jobs) > maxFIOJobs {
		return refused(bench.Message{File: in.path, Text: fmt.Sprintf("more than %d jobs", maxFIOJobs)})
	}
	for _, x := range jobs {
		job := fioJSONJob(x, jsonObject(top, "global options"), j.line)
		if job == nil {
			return refused(bench.Message{File: in.path, Line: j.line, Text: "a member of jobs that is no job"})
		}
		job.ended, job.capped = ended, capped
		if len(f.jobs) == 0 {
			f.direct = job.options["direct"]
		} else if f.direct != job.options["direct"] {
			f.direct = ""
		}
		for _, d := range job.left {
			f.leave(d)
		}
		f.jobs = append(f.jobs, job)
	}
	if len(f.jobs) == 0 {
		return refused(bench.Message{File: in.path, Line: j.line, Text: "no jobs in it"})
	}
	return in.fioOutput(&f)
}

// fioTime gives when the jobs were reported: the clock reading, with the zone that
// the seconds since 1970 beside it imply.
func fioTime(top map[string]any) bench.LocalTime {
	t, err := bench.ParseCTime(jsonWord(top, "time"))
	if err != nil {
		return bench.LocalTime{}
	}
	epoch, _, ok := jsonNumber(top, "timestamp")
	if !ok || epoch < 0 || epoch > 1<<40 {
		return t
	}
	offset := t.Wall().Sub(time.Unix(int64(epoch), 0)).Round(15 * time.Minute)
	if offset.Abs() > 14*time.Hour || (t.Wall().Add(-offset).Sub(time.Unix(int64(epoch), 0))).Abs() > time.Minute {
		return t
	}
	seconds := int(offset / time.Second)
	return bench.LocalTimeOf(t.Wall(), &seconds)
}

// fioJSONJob reads a job, nil when x is none.
func fioJSONJob(x any, global map[string]any, line int) *fioJob {
	m, ok := x.(map[string]any)
	if !ok {
		return nil
	}
	job := &fioJob{name: jsonWord(m, "jobname"), line: line, jobs: 1, options: map[string]string{}}
	for _, from := range []map[string]any{global, jsonObject(m, "job options")} {
		for _, name := range fioOptions {
			if _, there := from[name]; there {
				v := jsonWord(from, name)
				if v == "" {
					v = "1" // a flag without value
				}
				job.options[name] = v
			}
		}
	}
	job.rw, job.bs, job.depth, job.engine = job.options["rw"], job.options["bs"], job.options["iodepth"], job.options["ioengine"]
	if job.rw == "" {
		job.rw = job.options["readwrite"]
	}
	if job.bs == "" {
		job.bs = job.options["blocksize"]
	}
	if n, ok := parseCount([]byte(job.options["numjobs"])); ok && job.options["group_reporting"] != "" && n > 0 && n < maxCount {
		job.jobs = int(n)
	}
	if e, _, ok := jsonNumber(m, "error"); ok && e != 0 {
		job.err = fmt.Sprintf("error %g", e)
	}
	for _, name := range []string{"read", "write", "trim"} {
		switch d := fioJSONDirection(name, jsonObject(m, name), line); {
		case d == nil:
		case d.none:
			job.left = append(job.left, d)
		default:
			job.dirs = append(job.dirs, d)
		}
	}
	return job
}

// fioJSONDirection reads a direction, nil where nothing was done in it.
func fioJSONDirection(name string, m map[string]any, line int) *fioDirection {
	get := func(of map[string]any, field string, scale, resolution float64) Measure {
		v, _, ok := jsonNumber(of, field)
		return Measure{Value: times(v, scale), Resolution: resolution, Known: ok && isFinite(v*scale)}
	}
	d := &fioDirection{name: name, line: line, ofCompletion: true}
	d.ms, d.ios = get(m, "runtime", 1, 1), get(m, "total_ios", 1, 1)
	if !d.ms.Known || d.ms.Value == 0 || d.ios.Known && d.ios.Value == 0 {
		// All is 0 where nothing was done.
		for _, field := range []string{"runtime", "total_ios", "iops", "io_bytes"} {
			if x, there := m[field]; there && jsonShown(x) != "0" && jsonShown(x) != "0.000000" && jsonShown(x) != "0.0" {
				d.strange(line, "%s: %s is %s, though the run time or the number of operations is none: left out", name, field, clip(jsonShown(x)))
			}
		}
		if len(d.odd) == 0 {
			return nil
		}
		d.none = true
		return d
	}
	d.iops = get(m, "iops", 1, 0)
	_, d.text, _ = jsonNumber(m, "iops")
	d.mbps = get(m, "bw", 1.0/(1<<10), 1.0/(1<<10))
	if b := get(m, "bw_bytes", 1.0/(1<<20), 0); b.Known {
		d.mbps = b
	}
	d.mib = get(m, "io_bytes", 1.0/(1<<20), 0)
	scale := 1e-3
	clat := jsonObject(m, "clat_ns")
	if clat == nil {
		clat, scale = jsonObject(m, "clat"), 1
		d.mib = get(m, "io_bytes", 1.0/(1<<10), 1.0/(1<<10)) // KiB whatever it is called
	}
	d.min, d.max = get(clat, "min", scale, scale), get(clat, "max", scale, scale)
	d.mean, d.stdev = get(clat, "mean", scale, 0), get(clat, "stddev", scale, 0)
	percentiles := jsonObject(clat, "percentile")
	for percent := range percentiles {
		us := get(percentiles, percent, scale, scale)
		isNumber := isPercent(percent)
		switch p := plainNumber(percent); {
		case p == "0": // fills places that are not used
		case !us.Known || us.Value < 0 || !isNumber:
			d.strange(line, "percentile %s: not a time: %q; left out", clip(percent), clip(jsonShown(percentiles[percent])))
		default:
			d.percentiles = append(d.percentiles, fioPercentile{p, us})
		}
	}
	slices.SortFunc(d.percentiles, func(a, b fioPercentile) int {
		x, _ := json.Number(a.percent).Float64()
		y, _ := json.Number(b.percent).Float64()
		return int(math.Copysign(1, x-y))
	})
	if len(d.percentiles) > maxColumns {
		d.strange(line, "more than %d percentiles; the highest %d are left out", maxColumns, len(d.percentiles)-maxColumns)
		d.percentiles = d.percentiles[:maxColumns]
	}
	return d
}
