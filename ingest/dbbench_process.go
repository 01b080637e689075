package ingest

import (
	"fmt"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// arrange settles which lines belong to which execution of db_bench, where
// several wrote into one text or stdout and stderr of one stand apart. The error
// says why results cannot be told apart.
func (l *Log) arrange() ([]*Process, error) {
	if l.tooMany != "" {
		return nil, bench.Errorf(bench.KindTooLarge, "the log holds %s", l.tooMany)
	}
	procs := l.Processes
	firstBare, lastHeadless := -1, -1
	bare, headless := 0, 0
	for i, x := range procs {
		switch {
		case x.hasHeader() && !x.hasBody():
			bare++
			if firstBare < 0 {
				firstBare = i
			}
		case !x.hasHeader() && x.hasBody():
			headless++
			lastHeadless = i
		}
	}
	switch {
	case bare == 1 && headless == 1 && firstBare == lastHeadless+1 && procs[firstBare].Command.Line == 0:
		// stdout first, then stderr of the same process.
		joined := joinStreams(procs[lastHeadless], procs[firstBare])
		procs = append(append(append([]*Process{}, procs[:lastHeadless]...), joined), procs[firstBare+1:]...)
	case bare > 0 && firstBare < lastHeadless:
		// A header without results above, results without a header below: two
		// wrote at the same time.
		apart, err := separate(procs[firstBare : lastHeadless+1])
		if err != nil {
			return nil, err
		}
		procs = append(append(append([]*Process{}, procs[:firstBare]...), apart...), procs[lastHeadless+1:]...)
	}
	for _, x := range procs {
		if paths := x.dbPaths(); len(paths) > 1 && x.hasHeader() {
			return nil, bench.Errorf(bench.KindInvalid, "results of %d databases (%s) stand under the header at line %d: more than one db_bench wrote into this log at the same time; keep one log per process",
				len(paths), strings.Join(paths[:min(len(paths), 5)], ", "), x.Header.Line)
		}
	}
	return procs, nil
}

// dbPaths gives the databases of a process' results in order of appearance.
func (x *Process) dbPaths() []string {
	var paths []string
	known := map[string]bool{"": true}
	for i := range x.Ops {
		if p := x.Ops[i].DBPath; !known[p] {
			known[p] = true
			paths = append(paths, p)
		}
	}
	return paths
}

// separate tells apart processes that wrote into one text at the same time. What
// a process writes to stdout between two results arrives in one piece, so that
// the DB path line right above a result is of the same process. Headers need not
// be told apart as long as they say the same.
func separate(region []*Process) ([]*Process, error) {
	var headers []*Process
	var all Process
	for _, x := range region {
		if x.hasHeader() {
			headers = append(headers, x)
		}
		all.Ops = append(all.Ops, x.Ops...)
	}
	fail := func(why string) ([]*Process, error) {
		var lines []string
		for _, h := range headers[:min(len(headers), maxTextLines)] {
			lines = append(lines, fmt.Sprint(h.Header.Line))
		}
		return nil, bench.Errorf(bench.KindInvalid, "%d db_bench processes wrote into this log at the same time (headers at lines %s), and %s; keep one log per process",
			len(headers), strings.Join(lines, ", "), why)
	}
	first := headers[0].Header
	if len(headers) > maxTextLines {
		return fail("these are too many to be told apart")
	}
	for _, h := range headers[1:] {
		if h.Header.Program != first.Program || h.Header.Version != first.Version || h.Header.Date.Second() != first.Date.Second() {
			return fail("their headers differ, so that it is not known which results are of which")
		}
	}
	for _, op := range all.Ops {
		if !op.freshPath {
			return fail(fmt.Sprintf("the result at line %d has no DB path line of its own", op.Line))
		}
	}
	paths := all.dbPaths()
	if len(paths) != len(headers) {
		return fail(fmt.Sprintf("their results name %d databases", len(paths)))
	}
	for _, x := range region {
		if len(x.Failures) > 0 {
			return fail(fmt.Sprintf("it is not known whose the failure at line %d is", x.Failures[0].Line))
		}
	}
	apart := make([]*Process, len(paths))
	for i, path := range paths {
		x := &Process{File: headers[i].File, Line: headers[i].Line, Header: first, apart: path}
		x.Header.Line = headers[i].Header.Line
		for _, r := range region {
			x.Warnings = appendWarnings(x.Warnings, r.Warnings)
			if len(r.Ops) > 0 && r.Ops[0].DBPath == path && len(x.Options) == 0 {
				x.Options = r.Options
			}
		}
		for _, op := range all.Ops {
			if op.DBPath == path {
				x.Ops = append(x.Ops, op)
			}
		}
		apart[i] = x
	}
	return apart, nil
}

// appendWarnings adds warnings that are not there yet.
func appendWarnings(to, from []TextLine) []TextLine {
next:
	for _, w := range from {
		if len(to) == maxTextLines {
			return to
		}
		for _, t := range to {
			if t.Text == w.Text {
				continue next
			}
		}
		to = append(to, w)
	}
	return to
}

// joinStreams puts together what one process wrote to stdout and to stderr. The
// order of the two is lost.
func joinStreams(stdout, stderr *Process) *Process {
	x := *stdout
	if !x.hasHeader() {
		x.Header = stderr.Header
	}
	if x.Command.Line == 0 {
		x.Command = stderr.Command
	}
	if x.JobID == "" {
		x.JobID = stderr.JobID
	}
	x.Progress = stderr.Progress
	x.Progress.first, x.Progress.last = -1, -1
	x.Intervals = append(append([]Interval{}, x.Intervals...), stderr.Intervals...)
	x.Failures = append(append([]TextLine{}, x.Failures...), stderr.Failures...)
	x.Warnings = appendWarnings(append([]TextLine{}, x.Warnings...), stderr.Warnings)
	x.Usage = x.Usage.fill(stderr.Usage)
	x.Dumps = append([]Dump{}, x.Dumps...)
	for _, d := range stderr.Dumps {
		d.Interval, d.at = true, -1
		x.Dumps = append(x.Dumps, d)
	}
	return &x
}

// index is what is looked up for every result of a process, made once.
type index struct {
	loose        map[string]int // results of a benchmark that are no announced repeats
	older, newer int            // first line of either form of op-lines, 0 for none
	opened       []int          // by result: the first one that the database's counters cover
	final        []int          // by result: the dump after it, -1 for none
}

// newIndex looks through the results of a process.
func newIndex(x *Process) *index {
	ix := &index{loose: map[string]int{}, opened: make([]int, len(x.Ops)), final: make([]int, len(x.Ops))}
	existing, _ := x.Command.Flag("use_existing_db")
	start, opening := 0, 0
	for i := range x.Ops {
		op := &x.Ops[i]
		if !op.Warmup && op.Repeats == 0 {
			ix.loose[op.Name]++
		}
		if op.Operations.Text != "" && ix.newer == 0 {
			ix.newer = op.Line
		}
		if op.Operations.Text == "" && op.OpsPerSec.Text != "" && ix.older == 0 {
			ix.older = op.Line
		}
		// The database is opened anew for a load, and where db_bench says so.
		if i > 0 {
			before := &x.Ops[i-1]
			again := before.Name == op.Name && (before.Warmup || op.Repeat > 1)
			if opensAfresh(op.Name) && existing != "1" && existing != "true" && !again {
				start = i
			}
			for ; opening < len(x.openings) && x.openings[opening] < op.at; opening++ {
				if x.openings[opening] > before.at {
					start = i
				}
			}
		}
		ix.opened[i] = start
		ix.final[i] = -1
	}
	// Dumps between one result and the next, of several the one furthest in time.
	i := -1
	for j := range x.Dumps {
		d := &x.Dumps[j]
		for i+1 < len(x.Ops) && x.Ops[i+1].at < d.at {
			i++
		}
		if i < 0 || d.Interval {
			continue
		}
		if k := ix.final[i]; k < 0 || d.Uptime.Value >= x.Dumps[k].Uptime.Value {
			ix.final[i] = j
		}
	}
	return ix
}

// finalDump gives the statistics that were printed after the i-th result and
// before the next. Where there are none and the process has no other result, the
// last of those printed while it ran stand in.
func (x *Process) finalDump(ix *index, i int) (d *Dump, standIn bool) {
	if i >= 0 && ix.final[i] >= 0 {
		return &x.Dumps[ix.final[i]], false
	}
	if len(x.Ops) > 1 {
		return nil, false
	}
	for _, interval := range []bool{false, true} {
		for j := range x.Dumps {
			if c := &x.Dumps[j]; c.Interval == interval && (d == nil || c.Uptime.Value >= d.Uptime.Value) {
				d = c
			}
		}
		if d != nil {
			return d, interval
		}
	}
	return nil, false
}
