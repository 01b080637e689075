package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"sort"
	"strings"
)

// Key identifies a measurement across formats and files. Two results with equal
// keys are the same measurement and never two samples.
type Key [16]byte

// String gives the key in hex.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

func hashKey(parts ...string) Key {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x1f")))
	return Key(sum[:16])
}

// MeasurementKey gives a result's key.
//
// A dated result is known by server, system, suite, step, start second as
// printed, version (however spelled) and primary figure as printed: not by compiler, config or
// workload, which some files do not name. An undated one is known by its whole
// context and its text, a figure of a matrix by its context and itself. ordinal
// counts results that would otherwise share a key within one file (two repeats
// of one log with the same figure), from 0.
func MeasurementKey(run *Run, r *Result, ordinal int) Key {
	n := fmt.Sprint(ordinal)
	if !r.Started.IsZero() && r.State != StateNotRun {
		figure := r.PrimaryText
		if figure == "" {
			figure = string(r.State) + " " + r.Reason
		}
		return hashKey("dated", run.Server, run.System, run.Suite, r.Step.Name, r.Started.Second(), VersionKey(run.Build.Version), figure, n)
	}
	if run.ID != "" {
		return hashKey("run", run.ID, r.Step.Name, string(r.State), n)
	}
	text := r.Text
	if r.Origin == OriginMatrix {
		// The same cell stands in a comma and a tab separated file; only the
		// figure is common to both.
		text = r.PrimaryText
	}
	return hashKey("undated", run.Server, run.System, run.Suite, run.Workload, fmt.Sprint(run.Clients),
		VersionKey(run.Build.Version), run.Build.Compiler, run.Config, r.Step.Name, string(r.State), text, n)
}

// RunKey gives a run's identity: its UUID where our runner gave one, else a hash
// of server, suite, system, version, compiler, config, workload, clients and
// first start (for undated runs: of the texts of its results).
func RunKey(run *Run) string {
	if run.ID != "" {
		return run.ID
	}
	first := FirstStart(run).Second()
	if first == "" {
		var texts []string
		for i := range run.Results {
			texts = append(texts, run.Results[i].Step.Name, run.Results[i].Text)
		}
		first = strings.Join(texts, "\x1e")
	}
	return hashKey("run", run.Server, run.Suite, run.System, VersionKey(run.Build.Version), run.Build.Compiler,
		run.Config, run.Workload, fmt.Sprint(RunClients(run)), first).String()
}

// FirstStart gives the earliest start of a run's results, zero when none is dated.
func FirstStart(run *Run) LocalTime {
	var first LocalTime
	for i := range run.Results {
		t := run.Results[i].Started
		if !t.IsZero() && (first.IsZero() || t.Instant().Before(first.Instant())) {
			first = t
		}
	}
	return first
}

// RunClients gives the clients of a run: what was stated, else the largest
// thread count of its steps, else 0.
func RunClients(run *Run) int {
	if run.Clients > 0 {
		return run.Clients
	}
	n := 0
	for i := range run.Results {
		n = max(n, run.Results[i].Step.Threads)
	}
	return n
}

// Stored is a measurement that a store already holds, as far as deciding about
// a new file needs it.
type Stored struct {
	ResultID int64
	RunID    int64
	Workload string
	Compiler string
	Config   string
	Values   []Value
	Where    string // "sum.byrx.gcc.txt:12 of upload 3"
}

// Ref names a result of a batch by the indexes of its run and of itself.
type Ref struct{ Run, Result int }

// Addition is what a further source of a known measurement brings.
type Addition struct {
	Ref      Ref
	Stored   *Stored // the measurement as stored; nil: it is Into, of the same batch
	Into     Ref
	Values   []Value   // absent until now
	Warnings []Message // figures that differ from those known
}

// Plan is what writing a batch would do, decided by identity alone.
type Plan struct {
	Keys      map[Ref]Key
	New       []Ref      // measurements not known yet: those that name their build, in batch order
	Additions []Addition // further sources of known measurements
	Covered   []Ref      // figures of matrices left out by [Plan.YieldMatrices]
	// Refused holds the reasons by file; nothing of such a file is in New or
	// Additions.
	Refused map[string][]Message
}

// RefusalsPerFile bounds the places that a refused file is told about.
const RefusalsPerFile = 20

// Contradicts says in words how what the run states contradicts a stored
// workload, compiler and config, "" when it does not. What it does not state, or
// only assumes by convention, cannot contradict.
func (r *Run) Contradicts(workload, compiler, config string) string {
	return contextDiff(r, workload, compiler, config)
}

// Decide applies the identity rules to a batch, given what is stored under its
// keys (see [Keys]):
//
//   - same key, same context: one result; its source is added, absent metrics
//     are filled in, differing ones warned about;
//   - same key, other context: the file is refused, naming both places;
//   - rows that leave their build to what is stored ([Result.ContextFromStore])
//     take it from there or from another file of the batch, else their file is
//     refused; so is that of a supplement ([Result.Supplement]) without the
//     result it belongs to.
func Decide(b *Batch, keys map[Ref]Key, stored map[Key]*Stored) Plan {
	p := Plan{Keys: keys, Refused: map[string][]Message{}}
	refuse := func(r *Result, format string, args ...any) {
		src := source(r)
		if len(p.Refused[src.File]) < RefusalsPerFile {
			p.Refused[src.File] = append(p.Refused[src.File], Message{File: src.File, Line: src.Line, Text: fmt.Sprintf(format, args...)})
		}
	}
	// First against the store, then within the batch among the files that are
	// left: a file must not be refused because of another that is refused itself.
	each(b, func(ref Ref, run *Run, r *Result) {
		if s := stored[keys[ref]]; s != nil && !r.leans() {
			if diff := contextDiff(run, s.Workload, s.Compiler, s.Config); diff != "" {
				refuse(r, "%s %s of %s was stored with other context: %s; stored from %s", r.Step.Name, r.PrimaryText, r.Started, diff, s.Where)
			}
		}
	})
	known := map[Key]Ref{} // who states the context of a key in this batch
	each(b, func(ref Ref, run *Run, r *Result) {
		if p.Refused[source(r).File] != nil || r.leans() {
			return
		}
		first, ok := known[keys[ref]]
		if !ok {
			known[keys[ref]] = ref
			return
		}
		o := &b.Runs[first.Run]
		if diff := contextDiff(run, o.Workload, o.Build.Compiler, o.Config); diff != "" {
			src := source(&o.Results[first.Result])
			refuse(r, "%s %s of %s stands in %s:%d with other context: %s", r.Step.Name, r.PrimaryText, r.Started, src.File, src.Line, diff)
		}
	})
	// A file refused here may be the one that another file of this kind leans on:
	// again until nothing changes.
	told := map[string]bool{}
	for before := -1; before != len(p.Refused); {
		before = len(p.Refused)
		now := map[string]bool{}
		each(b, func(ref Ref, _ *Run, r *Result) {
			if !r.leans() || stored[keys[ref]] != nil || told[source(r).File] {
				return
			}
			if first, ok := known[keys[ref]]; ok && p.Refused[source(&b.Runs[first.Run].Results[first.Result]).File] == nil {
				return
			}
			if r.Supplement {
				refuse(r, "%s: one result of this step and context, called %q, is needed for this to belong to; there is none or more than one, here and stored: ingest the file with its figures first or together with this one", r.Step.Name, r.Label())
			} else {
				refuse(r, "%s %s of %s: this file holds rows of several builds without naming them, and this measurement is not stored yet; ingest the file that names its build first", r.Step.Name, r.PrimaryText, r.Started)
			}
			now[source(r).File] = true
		})
		maps.Copy(told, now)
	}

	first := map[Key]Ref{}
	sum := map[Key][]Value{} // figures known so far
	take := func(ref Ref, r *Result) {
		k := keys[ref]
		if s := stored[k]; s != nil {
			if _, seen := sum[k]; !seen {
				sum[k] = append([]Value(nil), s.Values...)
			}
			add, warn := fill(sum[k], r)
			sum[k] = append(sum[k], add...)
			p.Additions = append(p.Additions, Addition{Ref: ref, Stored: s, Values: add, Warnings: warn})
			return
		}
		into, ok := first[k]
		if !ok {
			first[k] = ref
			sum[k] = append([]Value(nil), r.Values...)
			p.New = append(p.New, ref)
			return
		}
		add, warn := fill(sum[k], r)
		sum[k] = append(sum[k], add...)
		p.Additions = append(p.Additions, Addition{Ref: ref, Into: into, Values: add, Warnings: warn})
	}
	// Rows that name their context go first, so that those that do not find them.
	for _, leans := range []bool{false, true} {
		each(b, func(ref Ref, _ *Run, r *Result) {
			if r.leans() == leans && p.Refused[source(r).File] == nil {
				take(ref, r)
			}
		})
	}
	return p
}

// leans reports whether a result needs another, stored or of the batch, to know
// where it belongs.
func (r *Result) leans() bool { return r.ContextFromStore || r.Supplement }

// Keys gives the measurement key of every result of a batch. That of a
// supplement is the key of the result it belongs to where the batch holds that
// one alone; else a store looks for it, see [Run.Supplements].
func Keys(b *Batch) map[Ref]Key {
	type place struct {
		file string
		key  Key
	}
	keys := map[Ref]Key{}
	seen := map[place]int{}
	supplements := false
	each(b, func(ref Ref, run *Run, r *Result) {
		if r.Supplement {
			supplements = true
			keys[ref] = MeasurementKey(run, r, 0)
			return
		}
		at := place{source(r).File, MeasurementKey(run, r, 0)}
		keys[ref] = at.key
		if n := seen[at]; n > 0 {
			keys[ref] = MeasurementKey(run, r, n)
		}
		seen[at]++
	})
	placeTwins(b, keys)
	if supplements {
		placeSupplements(b, keys)
	}
	return keys
}

// placeSupplements gives the supplements of a batch the keys of the results they
// belong to, where there is exactly one of them.
func placeSupplements(b *Batch, keys map[Ref]Key) {
	type place struct{ server, system, suite, version, step, label string }
	at := func(run *Run, r *Result) place {
		return place{run.Server, run.System, run.Suite, run.Build.Version, r.Step.Name, r.Label()}
	}
	owners := map[place][]Ref{}
	each(b, func(ref Ref, run *Run, r *Result) {
		if !r.Supplement {
			owners[at(run, r)] = append(owners[at(run, r)], ref)
		}
	})
	each(b, func(ref Ref, run *Run, r *Result) {
		if !r.Supplement {
			return
		}
		fitting := map[Key]bool{}
		for _, o := range owners[at(run, r)] {
			if owner := &b.Runs[o.Run]; run.Supplements(owner.Workload, owner.Build.Compiler, owner.Config, RunClients(owner)) {
				fitting[keys[o]] = true
				keys[ref] = keys[o]
			}
		}
		if len(fitting) > 1 {
			keys[ref] = MeasurementKey(run, r, 0)
		}
	})
}

// Supplements reports whether a supplement of the run may belong to a result of
// another run of the same server, system, suite and version: what it states of
// workload, compiler, config and clients does not contradict that one's.
func (r *Run) Supplements(workload, compiler, config string, clients int) bool {
	own := RunClients(r)
	return r.Contradicts(workload, compiler, config) == "" && (own == 0 || clients == 0 || own == clients)
}

func each(b *Batch, f func(Ref, *Run, *Result)) {
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			f(Ref{i, j}, &b.Runs[i], &b.Runs[i].Results[j])
		}
	}
}

// source gives the place a result is blamed on: the first it was read from.
func source(r *Result) Source {
	if len(r.Sources) == 0 {
		return Source{}
	}
	return r.Sources[0]
}

// contextDiff says in words how a run's context contradicts another, "" when it
// does not. What the run does not state, or only assumes by convention, cannot
// contradict.
func contextDiff(run *Run, workload, compiler, config string) string {
	var diffs []string
	for _, f := range []struct{ name, here, there string }{
		{"workload", run.Workload, workload}, {"compiler", run.Build.Compiler, compiler}, {"config", run.Config, config},
	} {
		if f.here == f.there || f.here == "" || run.assumes(f.name) {
			continue
		}
		diffs = append(diffs, fmt.Sprintf("%s %q here, %q there", f.name, f.here, f.there))
	}
	return strings.Join(diffs, ", ")
}

func (r *Run) assumes(field string) bool {
	for _, a := range r.Assumed {
		if a == field {
			return true
		}
	}
	return false
}

// fill compares a further source of a measurement with the figures known. Two
// figures differ when they are further apart than the coarser of them can show.
func fill(known []Value, r *Result) (add []Value, warn []Message) {
	by := make(map[string]Value, len(known))
	for _, v := range known {
		by[v.Metric] = v
	}
	src := source(r)
	for _, v := range r.Values {
		old, ok := by[v.Metric]
		if !ok {
			add = append(add, v)
			continue
		}
		// 1.001 absorbs the rounding of binary fractions at the edge.
		if room := 1.001 * math.Max(v.Resolution, old.Resolution); math.Abs(v.Number-old.Number) > room {
			warn = append(warn, Message{File: src.File, Line: src.Line, Column: v.Metric,
				Text: fmt.Sprintf("%g here, %g as stored; the stored figure is kept", v.Number, old.Number)})
		}
	}
	sort.SliceStable(add, func(i, j int) bool { return CompareMetrics(add[i].Metric, add[j].Metric) < 0 })
	return add, warn
}
