package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Check says in plain text what an upload was recognised as and what storing it
// would store, file by file, with every warning and every line that was not
// understood; what holds for a column of a whole file is said once. It knows no store: what is stored already is not left out.
func Check(b *bench.Batch) string {
	var s strings.Builder
	plan := bench.Decide(b, bench.Keys(b), nil)
	plan.YieldMatrices(b, nil)
	figures := batchFigures(b)
	runs := map[string][]*bench.Run{} // by the file they are counted under
	supplements := map[string]int{}   // results that are to be stored already, by file
	for i := range b.Runs {
		file := fileOf(&b.Runs[i])
		if n := supplementsOf(&b.Runs[i]); n > 0 {
			supplements[file] += n
			continue
		}
		runs[file] = append(runs[file], &b.Runs[i])
	}
	shares := sharesOf(b)
	checks := map[string][]bench.Check{}
	for _, c := range b.Checks {
		checks[c.File] = append(checks[c.File], c)
	}
	configs := map[string][]*bench.Config{}
	for i := range b.Configs {
		configs[b.Configs[i].File] = append(configs[b.Configs[i].File], &b.Configs[i])
	}
	matrices := map[string][]*bench.Matrix{}
	for i := range b.Matrices {
		matrices[b.Matrices[i].File] = append(matrices[b.Matrices[i].File], &b.Matrices[i])
	}
	totals := tally{}
	for _, f := range b.Files {
		t := tallyOf(runs[f.Path])
		t.matrices = len(matrices[f.Path]) + len(checks[f.Path])
		totals.add(t)
		format := f.Format
		if format == "" {
			format = "unknown"
		}
		fmt.Fprintf(&s, "%s: %s, %s\n", f.Path, format, f.State)
		if f.State == bench.FileTaken && (t != tally{} || shares[f.Path] == nil && supplements[f.Path] == 0 && configs[f.Path] == nil) {
			fmt.Fprintf(&s, "  %s\n", t)
		}
		for _, other := range slices.Sorted(maps.Keys(shares[f.Path])) {
			fmt.Fprintf(&s, "  figures of %s of the runs of %s\n", plural(shares[f.Path][other], "result"), other)
		}
		if n := supplements[f.Path]; n > 0 {
			fmt.Fprintf(&s, "  distributions for %s that should be stored already\n", plural(n, "result"))
		}
		for _, run := range runs[f.Path] {
			fmt.Fprintf(&s, "  %s\n", describeRun(run))
		}
		for _, c := range configs[f.Path] {
			fmt.Fprintf(&s, "  %s\n", describeConfig(c))
		}
		for _, m := range matrices[f.Path] {
			fmt.Fprintf(&s, "  %s\n", describeCheck(bench.CheckMatrix(m, figures)))
		}
		for _, c := range checks[f.Path] {
			fmt.Fprintf(&s, "  %s\n", describeCheck(c))
		}
		what := "not understood"
		switch f.State {
		case bench.FileRefused:
			what = "refused"
		case bench.FileAttachment:
			what = "note"
		}
		for _, m := range f.Messages {
			fmt.Fprintf(&s, "  %s: %s\n", what, m)
		}
	}
	warnings := slices.Clone(b.Warnings)
	for i := range b.Configs {
		warnings = append(warnings, b.Configs[i].Warnings...)
	}
	undecided, copies := 0, 0
	for i := range b.Runs {
		for j := range b.Runs[i].Results {
			r := &b.Runs[i].Results[j]
			for _, w := range r.Warnings {
				if !bench.Told(b.Warnings, w) {
					warnings = append(warnings, w)
				}
			}
			copies += r.Copies
			if r.ContextFromStore {
				undecided++
			}
		}
	}
	for _, w := range bench.Distinct(warnings) {
		fmt.Fprintf(&s, "warning: %s\n", w)
	}
	fmt.Fprintf(&s, "%s: %s", plural(len(b.Files), "file"), totals)
	if n := len(b.Configs); n > 0 {
		fmt.Fprintf(&s, ", %s", plural(n, "config"))
	}
	if n := len(plan.Additions) + len(plan.Covered) + copies; n > 0 {
		fmt.Fprintf(&s, "; %d of the results stand in more than one place", n)
	}
	if undecided > 0 {
		fmt.Fprintf(&s, "; the builds of %d results are those already stored", undecided)
	}
	s.WriteByte('\n')
	return s.String()
}

// describeConfig says in one line what a config is.
func describeConfig(c *bench.Config) string {
	text := fmt.Sprintf("config %s of %s", c.Name, c.System)
	if c.SourceName != "" && c.SourceName != c.Name {
		text += " (" + c.SourceName + ")"
	}
	if c.Layer == bench.LayerEffective {
		text += ", as in effect"
	}
	text += ": " + plural(len(c.Options), "option")
	if n := len(c.Options) - c.Settings(); n > 0 {
		text += fmt.Sprintf(", %d of them set aside", n)
	}
	return text
}

// supplementsOf counts the supplements of a run, which has nothing else then.
func supplementsOf(run *bench.Run) (n int) {
	for i := range run.Results {
		if run.Results[i].Supplement {
			n++
		}
	}
	return n
}

// sharesOf counts for each file the results it has a share in that are counted
// under another file, by that one.
func sharesOf(b *bench.Batch) map[string]map[string]int {
	shares := map[string]map[string]int{}
	for i := range b.Runs {
		file := fileOf(&b.Runs[i])
		for j := range b.Runs[i].Results {
			told := map[string]bool{file: true}
			for _, src := range b.Runs[i].Results[j].Sources {
				if told[src.File] {
					continue
				}
				told[src.File] = true
				if shares[src.File] == nil {
					shares[src.File] = map[string]int{}
				}
				shares[src.File][file]++
			}
		}
	}
	return shares
}

// tally counts what a file holds.
type tally struct{ runs, results, failed, values, matrices int }

func (t *tally) add(o tally) {
	t.runs += o.runs
	t.results += o.results
	t.failed += o.failed
	t.values += o.values
	t.matrices += o.matrices
}

// String says the counts in words.
func (t tally) String() string {
	text := fmt.Sprintf("%s, %s, %s", plural(t.runs, "run"), plural(t.results, "result"), plural(t.values, "value"))
	if t.failed > 0 {
		text += fmt.Sprintf(" (%d failed or not run)", t.failed)
	}
	if t.matrices > 0 {
		text += ", " + plural(t.matrices, "check")
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// fileOf gives the file that a run is counted under: its first result's.
func fileOf(run *bench.Run) string {
	for i := range run.Results {
		if s := run.Results[i].Sources; len(s) > 0 {
			return s[0].File
		}
	}
	return ""
}

func tallyOf(runs []*bench.Run) (t tally) {
	for _, run := range runs {
		t.runs++
		for j := range run.Results {
			r := &run.Results[j]
			t.results++
			t.values += len(r.Values)
			if r.State != bench.StateOK {
				t.failed++
			}
		}
	}
	return t
}

// describeRun says in one line what a run is.
func describeRun(run *bench.Run) string {
	c := bench.Context{System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload,
		Version: run.Build.Version, Compiler: run.Build.Compiler, Config: run.Config, Clients: bench.RunClients(run)}
	text := "run of " + c.String()
	if first := bench.FirstStart(run); !first.IsZero() {
		text += ", from " + first.String()
	}
	return text + ": " + plural(len(run.Results), "result")
}

// describeCheck says how far a matrix agrees with the rows of the same upload.
func describeCheck(c bench.Check) string {
	text := fmt.Sprintf("%s matrix: %d of %d cells agree with the rows of this upload", c.Kind, c.Agree, c.Cells)
	if c.Unknown > 0 {
		text += fmt.Sprintf(", %d have nothing here to compare with", c.Unknown)
	}
	if c.Shifted > 0 {
		text += ", " + plural(c.Shifted, "row") + " left out: shifted"
	}
	for _, m := range c.Messages {
		text += "\n    " + m.String()
	}
	return text
}

// batchFigures makes the measured figures of a batch findable.
func batchFigures(b *bench.Batch) *bench.Figures {
	var list []bench.Figure
	for i := range b.Runs {
		run := &b.Runs[i]
		for j := range run.Results {
			r := &run.Results[j]
			v, ok := r.Value(r.Primary)
			if !ok || r.Origin == bench.OriginMatrix || r.State != bench.StateOK {
				continue
			}
			p := bench.PlaceOf(run, r)
			p.Compiler, p.Config, p.Clients = run.Build.Compiler, run.Config, bench.RunClients(run)
			list = append(list, bench.Figure{Coordinate: p.Coordinate, Version: p.Version, Threads: p.Threads, Metric: p.Metric, Value: v})
		}
	}
	return bench.NewFigures(list...)
}
