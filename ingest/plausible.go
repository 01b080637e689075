package ingest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relqps/relqps/internal/bench"
)

// Bounds of what a run may say of itself. They are far from anything measured,
// and within what the store can hold.
const (
	maxCount = 1_000_000 // clients, threads
	maxZone  = 18 * 3600 // seconds from UTC
	maxInt32 = math.MaxInt32
	// A figure is 0 or between these. What is beyond them is a mistake of who
	// printed it, and its ratio to another would not be a number.
	minFigure, maxFigure = 1e-9, 1e15
)

var sha256Re = regexp.MustCompile(`^([0-9a-f]{64})?$`)

// implausible gives the first thing in runs that nobody can have measured, nil
// when there is none. Readers of printed text make sure of most of it
// themselves; the project's own format and a runner's journal may say anything.
// Values are seen to by [leaveOutImpossible].
func implausible(runs []bench.Run, file string) *bench.Message {
	for i := range runs {
		run := &runs[i]
		what := implausibleRun(run)
		place := bench.Message{File: file}
		for j := 0; j < len(run.Results); j++ {
			r := &run.Results[j]
			if what == "" {
				if what = implausibleResult(r); what != "" {
					what = fmt.Sprintf("step %s: %s", bench.Excerpt(r.Step.Name), what)
				}
			}
			if what != "" {
				if len(r.Sources) > 0 {
					place.File, place.Line = r.Sources[0].File, r.Sources[0].Line
				}
				break
			}
		}
		if what != "" {
			place.Text = what
			return &place
		}
	}
	return nil
}

// leaveOutImpossible takes out of runs the figures that nothing can have, with a
// warning each: what is counted or timed is never below 0. Finite they are all,
// [bench.Result.Set] sees to that.
func leaveOutImpossible(runs []bench.Run) {
	for i := range runs {
		for j := range runs[i].Results {
			r := &runs[i].Results[j]
			if slices.ContainsFunc(r.Values, impossible) {
				leaveOut(r)
			}
		}
	}
}

func impossible(v bench.Value) bool {
	return v.Number != 0 && !(v.Number >= minFigure && v.Number <= maxFigure)
}

func leaveOut(r *bench.Result) {
	var place bench.Message
	if len(r.Sources) > 0 {
		place.File, place.Line = r.Sources[0].File, r.Sources[0].Line
	}
	r.Values = slices.DeleteFunc(slices.Clone(r.Values), func(v bench.Value) bool {
		if !impossible(v) {
			return false
		}
		place.Column = v.SourceName
		if place.Column == "" {
			place.Column = v.Metric
		}
		place.Text = fmt.Sprintf("%g: no such figure is possible; left out", v.Number)
		r.Warnings = append(r.Warnings, place)
		return true
	})
}

func implausibleRun(run *bench.Run) string {
	names := bench.Context{
		System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload,
		Version: run.Build.Version, Compiler: run.Build.Compiler, Config: run.Config,
	}
	if problem := names.NameProblem(); problem != "" {
		return problem
	}
	switch {
	case run.Clients < 0 || run.Clients > maxCount:
		return fmt.Sprintf("a run of %d clients", run.Clients)
	case !sha256Re.MatchString(run.Build.BinarySHA256):
		return "the sha256 of the binary is not 64 hexadecimal digits"
	}
	return ""
}

func implausibleResult(r *bench.Result) string {
	zone, _ := r.Started.Offset()
	problem := bench.NameProblem(r.Step.Name)
	switch {
	case problem != "":
		return "the name of the step " + problem
	case r.Step.Threads < 0 || r.Step.Threads > maxCount:
		return fmt.Sprintf("a step of %d threads", r.Step.Threads)
	case r.Step.ValueBytes < 0 || r.Step.ValueBytes > maxInt32:
		return fmt.Sprintf("values of %d bytes", r.Step.ValueBytes)
	case zone < -maxZone || zone > maxZone:
		return fmt.Sprintf("a time zone of %d seconds", zone)
	}
	if r.Primary != "" && r.Primary != "qps" { // nearly all are
		if _, ok := bench.LookupMetric(r.Primary); !ok {
			return fmt.Sprintf("no such metric: %q", r.Primary)
		}
	}
	if len(r.Histograms)+len(r.TimeSeries)+len(r.Breakdowns) == 0 {
		return ""
	}
	operations := map[string]bool{}
	for i := range r.Histograms {
		h := &r.Histograms[i]
		if what := implausibleHistogram(h); what != "" {
			return fmt.Sprintf("histogram of %q: %s", h.Operation, what)
		}
		if operations[h.Operation] {
			return fmt.Sprintf("two histograms of %q", h.Operation)
		}
		operations[h.Operation] = true
	}
	names := map[string]bool{}
	for _, t := range r.TimeSeries {
		switch {
		case t.Name == "":
			return "a time series without a name"
		case names[t.Name]:
			return fmt.Sprintf("two time series %q", t.Name)
		case !isFinite(t.StartS) || !isFinite(t.StepS) || t.StepS <= 0:
			return fmt.Sprintf("time series %q: a step of %g seconds from %g", t.Name, t.StepS, t.StartS)
		}
		for _, v := range t.Values {
			if math.IsInf(v, 0) { // NaN is a missing interval
				return fmt.Sprintf("time series %q: an infinite value", t.Name)
			}
		}
		names[t.Name] = true
	}
	type cell struct{ key, bucket, unit string }
	cells := map[cell]bool{}
	for _, b := range r.Breakdowns {
		at := cell{b.Key, b.Bucket, b.Unit}
		switch {
		case b.Key == "":
			return "a breakdown without a key"
		case cells[at]:
			return fmt.Sprintf("two breakdowns of %q at %q", b.Key, b.Bucket)
		case b.Samples < 0 || !isFinite(b.Value):
			return fmt.Sprintf("breakdown of %q: %d samples, value %g", b.Key, b.Samples, b.Value)
		}
		cells[at] = true
	}
	return ""
}

func implausibleHistogram(h *bench.Histogram) string {
	shares := h.Counts
	if shares == nil {
		shares = h.Percents
	}
	switch {
	case h.Counts != nil && h.Percents != nil:
		return "counts and percents at once"
	case len(shares) != len(h.Bounds):
		return fmt.Sprintf("%d figures for %d bounds", len(shares), len(h.Bounds))
	}
	for i, b := range h.Bounds {
		switch {
		case !isFinite(b) || !isFinite(shares[i]):
			return "a bound or a figure that is not finite"
		case i > 0 && b <= h.Bounds[i-1]:
			return "bounds that do not rise"
		case shares[i] < 0:
			return "a figure below 0"
		}
	}
	for _, v := range []*float64{h.Count, h.Min, h.Max, h.Average, h.StdDev} {
		if v != nil && !isFinite(*v) {
			return "a figure that is not finite"
		}
	}
	return ""
}

// isName reports whether the name of an option or of a metric can be stored and shown: it
// is UTF-8 without control characters.
func isName(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func isFinite(v float64) bool { return v-v == 0 }
