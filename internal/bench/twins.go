package bench

import (
	"math"
	"strings"
)

// Some programs print one measurement in several formats with its figure rounded
// in one of them: fio says 55.0k to people and 54980.339887 in JSON, the tables of
// the Insert Benchmark hold 11994 where its client says 11994.2. The figure is
// part of a measurement's key, so that such results have two. They are told to be
// one by everything else that they are known by, and by the coarser figure being
// the finer one, rounded.

// TwinPlace is what such results have in common.
type TwinPlace struct {
	Server, System, Suite, Version, Step string
	// Started is the start second as printed, "" where Label tells the result
	// among others.
	Started, Label string
}

// TwinPlace gives where a result's twin would be; ok is false for results that
// have none: of suites that print figures alike, without a figure, or without
// anything that tells them from repeats.
func (r *Run) TwinPlace(x *Result) (p TwinPlace, ok bool) {
	if r.ID != "" || x.leans() || x.Origin != OriginMeasured || x.State != StateOK {
		return p, false
	}
	if _, known := x.Value(x.Primary); !known {
		return p, false
	}
	p = TwinPlace{Server: r.Server, System: r.System, Suite: r.Suite, Version: VersionKey(r.Build.Version), Step: x.Step.Name}
	switch {
	case r.Suite == SuiteFIO && !x.Started.IsZero():
		p.Started = x.Started.Second()
	case r.Suite == SuiteIBench && x.Started.IsZero() && strings.Contains(x.Label(), " "): // step and tag
		p.Label = x.Label()
	default:
		return p, false
	}
	return p, true
}

// Rounded reports whether one of two figures is the other as a program rounded
// it to fewer digits.
func Rounded(a, b Value) bool {
	if a.Metric != b.Metric || a.Resolution == b.Resolution || !isPrinted(a.Resolution) || !isPrinted(b.Resolution) {
		return false
	}
	// 1.001 absorbs the rounding of binary fractions at the edge.
	return math.Abs(a.Number-b.Number) <= 1.001*math.Max(a.Resolution, b.Resolution)/2
}

// isPrinted reports whether a resolution is that of a printed figure, a power of
// ten, or of one with all its digits, 0; else it was computed.
func isPrinted(resolution float64) bool {
	if resolution <= 0 {
		return resolution == 0
	}
	e := math.Log10(resolution)
	return math.Abs(e-math.Round(e)) < 1e-9
}

// PrimaryValue gives the figure that a result is known by.
func (r *Result) PrimaryValue() (Value, bool) {
	for _, v := range r.Values {
		if v.Metric == r.Primary {
			return v, true
		}
	}
	return Value{}, false
}

// placeTwins gives results with rounded figures the keys of their twins in the
// same batch, where there is exactly one.
func placeTwins(b *Batch, keys map[Ref]Key) {
	type twin struct {
		ref   Ref
		value Value
	}
	places := map[TwinPlace][]twin{}
	each(b, func(ref Ref, run *Run, r *Result) {
		if p, ok := run.TwinPlace(r); ok {
			v, _ := r.PrimaryValue()
			places[p] = append(places[p], twin{ref, v})
		}
	})
	moved := map[Key]Key{}
	for _, twins := range places {
		for _, coarse := range twins {
			run := &b.Runs[coarse.ref.Run]
			finer := map[Key]bool{}
			for _, fine := range twins {
				other := &b.Runs[fine.ref.Run]
				if fine.value.Resolution < coarse.value.Resolution && keys[fine.ref] != keys[coarse.ref] && Rounded(coarse.value, fine.value) &&
					run.Supplements(other.Workload, other.Build.Compiler, other.Config, RunClients(other)) {
					finer[keys[fine.ref]] = true
				}
			}
			if len(finer) == 1 {
				for k := range finer {
					moved[keys[coarse.ref]] = k
				}
			}
		}
	}
	MoveKeys(keys, moved)
}

// MoveKeys replaces keys of results by others. Where two would become the same
// neither does: they are two measurements, and nothing says which of them the
// third is.
func MoveKeys(keys map[Ref]Key, moved map[Key]Key) {
	movers := map[Key]int{}
	for _, to := range moved {
		movers[to]++
	}
	for ref, k := range keys {
		if to, ok := moved[k]; ok && movers[to] == 1 {
			keys[ref] = to
		}
	}
}

// KeysWithClients gives the keys that the undated results of runs would have if
// those had stated another number of clients, which is part of such a key: 0 for
// runs that state one, n for those that do not.
func KeysWithClients(b *Batch, n int) map[Ref]Key {
	other := *b
	other.Runs = make([]Run, len(b.Runs))
	for i := range b.Runs {
		run := &b.Runs[i]
		if run.ID != "" || (run.Clients == 0) == (n == 0) {
			continue
		}
		other.Runs[i] = *run
		other.Runs[i].Clients = n
	}
	keys := Keys(&other)
	for ref := range keys {
		if r := &b.Runs[ref.Run].Results[ref.Result]; r.Supplement || !r.Started.IsZero() && r.State != StateNotRun {
			delete(keys, ref)
		}
	}
	return keys
}
