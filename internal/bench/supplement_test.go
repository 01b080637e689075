package bench

import (
	"strings"
	"testing"
)

// labelled is an undated row with a label before its figures.
func labelled(file, label, ips string) Result {
	return Result{Step: Step{Name: "l.i1"}, Role: RoleMeasure, State: StateOK, Origin: OriginMeasured, Primary: "ips", PrimaryText: ips,
		Text: label + "\t" + ips, Sources: []Source{{File: file, Line: 2}}, Values: []Value{{Metric: "ips", Number: float64(len(ips)), Resolution: 1}}}
}

func supplement(file, label string) Result {
	return Result{Step: Step{Name: "l.i1"}, Role: RoleMeasure, State: StateOK, Origin: OriginMeasured, Text: label, Supplement: true,
		Histograms: []Histogram{{Operation: "insert"}}, Sources: []Source{{File: file, Line: 5}}}
}

func bee(clients int, results ...Result) Run {
	return Run{System: SystemMyRocks, Suite: SuiteIBench, Server: "bee", Workload: "io", Config: "a0", Clients: clients, Build: Build{Version: "8.0.28"}, Results: results}
}

func TestSupplementsAreKnownByTheResultTheyBelongTo(t *testing.T) {
	t.Parallel()
	owner := bee(1, labelled("mrg", "l.i1 x", "23240"))
	own := MeasurementKey(&owner, &owner.Results[0], 0)
	for name, c := range map[string]struct {
		runs  []Run
		joins bool
	}{
		"beside it":               {[]Run{owner, bee(1, supplement("rt", "l.i1 x"))}, true},
		"before it":               {[]Run{bee(1, supplement("rt", "l.i1 x")), owner}, true},
		"clients not stated":      {[]Run{owner, bee(0, supplement("rt", "l.i1 x"))}, true},
		"the row twice":           {[]Run{owner, bee(1, labelled("some", "l.i1 x", "23240")), bee(1, supplement("rt", "l.i1 x"))}, true},
		"another label":           {[]Run{owner, bee(1, supplement("rt", "l.i1 y"))}, false},
		"a part of the label":     {[]Run{owner, bee(1, supplement("rt", "l.i1"))}, false},
		"other clients":           {[]Run{owner, bee(4, supplement("rt", "l.i1 x"))}, false},
		"two results of the name": {[]Run{owner, bee(1, labelled("mrg2", "l.i1 x", "23000")), bee(1, supplement("rt", "l.i1 x"))}, false},
		"alone":                   {[]Run{bee(1, supplement("rt", "l.i1 x"))}, false},
	} {
		b := &Batch{Runs: c.runs}
		keys := Keys(b)
		each(b, func(ref Ref, _ *Run, r *Result) {
			if r.Supplement && (keys[ref] == own) != c.joins {
				t.Errorf("%s: joins %t, want %t", name, !c.joins, c.joins)
			}
		})
		p := Decide(b, keys, nil)
		if refused := len(p.Refused["rt"]) > 0; refused == c.joins {
			t.Errorf("%s: refused %v", name, p.Refused)
		}
		for _, ref := range p.New {
			if b.Runs[ref.Run].Results[ref.Result].Supplement {
				t.Errorf("%s: a supplement is a measurement", name)
			}
		}
	}
	for field, change := range map[string]func(*Run){
		"server": func(r *Run) { r.Server = "u5" }, "system": func(r *Run) { r.System = "mysql" }, "version": func(r *Run) { r.Build.Version = "8.0.32" },
		"workload": func(r *Run) { r.Workload = "cached" }, "config": func(r *Run) { r.Config = "a1" },
		"step": func(r *Run) { r.Results[0].Step.Name = "l.i0" },
	} {
		other := bee(1, supplement("rt", "l.i1 x"))
		change(&other)
		b := &Batch{Runs: []Run{owner, other}}
		if Keys(b)[Ref{1, 0}] == own {
			t.Errorf("a supplement of another %s joins", field)
		}
	}
}

func TestSupplementsOfStoredResultsAreAdditions(t *testing.T) {
	t.Parallel()
	b := &Batch{Runs: []Run{bee(1, supplement("rt", "l.i1 x"))}}
	key := Key{7}
	keys := map[Ref]Key{{}: key} // as a store finds it
	p := Decide(b, keys, map[Key]*Stored{key: {ResultID: 3, Workload: "io", Config: "a0"}})
	if len(p.Refused) > 0 || len(p.New) > 0 || len(p.Additions) != 1 || p.Additions[0].Stored.ResultID != 3 {
		t.Errorf("%+v", p)
	}
	// What it belongs to must not be of a file that is refused itself.
	owner := bee(1, labelled("mrg", "l.i1 x", "23240"))
	clash := labelled("mrg", "l.i1 x", "23240")
	b = &Batch{Runs: []Run{owner, bee(1, supplement("rt", "l.i1 x"))}}
	keys = Keys(b)
	p = Decide(b, keys, map[Key]*Stored{keys[Ref{}]: {ResultID: 4, Workload: "cached", Config: "a0"}})
	if len(p.Refused["mrg"]) != 1 || len(p.New) > 0 {
		t.Errorf("%+v of %s", p, clash.Label())
	}
	if !strings.Contains(Decide(b, map[Ref]Key{{0, 0}: {1}, {1, 0}: {2}}, nil).Refused["rt"][0].Text, `called "l.i1 x"`) {
		t.Error("the reason does not name what is missing")
	}
}

func TestLabelsEndAtTheFirstTab(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a b\tc\td": "a b", "a": "a", "": "", "\tx": ""} {
		if got := (&Result{Text: text}).Label(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
