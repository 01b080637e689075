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
				len(paths), strings.Join(paths, ", "), x.Header.Line)
		}
	}
	return procs, nil
}

// dbPaths gives the databases of a process' results in order of appearance.
func (x *Process) dbPaths() []string {
	var paths []string
	for _, op := range x.Ops {
		known := op.DBPath == ""
		for _, p := range paths {
			known = known || p == op.DBPath
		}
		if !known {
			paths = append(paths, op.DBPath)
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
		lines := make([]string, len(headers))
		for i, h := range headers {
			lines[i] = fmt.Sprint(h.Header.Line)
		}
		return nil, bench.Errorf(bench.KindInvalid, "%d db_bench processes wrote into this log at the same time (headers at lines %s), and %s; keep one log per process",
			len(headers), strings.Join(lines, ", "), why)
	}
	first := headers[0].Header
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

// finalDump gives the statistics that were printed after the i-th result and
// before the next; among several the one furthest in time. Where there is none
// and the process has no other result, the last of those printed while it ran
// stands in.
func (x *Process) finalDump(i int) (d *Dump, standIn bool) {
	from, to := -1, int(^uint(0)>>1)
	if i >= 0 {
		from = x.Ops[i].at
		if i+1 < len(x.Ops) {
			to = x.Ops[i+1].at
		}
	}
	later := func(d *Dump, than *Dump) bool {
		return than == nil || d.Uptime.Value >= than.Uptime.Value
	}
	for j := range x.Dumps {
		if c := &x.Dumps[j]; !c.Interval && c.at > from && c.at < to && later(c, d) {
			d = c
		}
	}
	if d != nil || len(x.Ops) > 1 {
		return d, false
	}
	for j := range x.Dumps {
		if c := &x.Dumps[j]; later(c, d) {
			d = c
		}
	}
	return d, d != nil
}

// sinceOpening gives the results that the database's counters cover at the i-th
// one: those since it was opened.
func (x *Process) sinceOpening(i int) []OpLine {
	start := 0
	existing, _ := x.Command.Flag("use_existing_db")
	for j := 1; j <= i; j++ {
		again := x.Ops[j-1].Name == x.Ops[j].Name && (x.Ops[j-1].Warmup || x.Ops[j].Repeat > 1)
		if opensAfresh(x.Ops[j].Name) && existing != "1" && existing != "true" && !again {
			start = j
		}
		for _, at := range x.openings {
			if at > x.Ops[j-1].at && at < x.Ops[j].at {
				start = j
			}
		}
	}
	return x.Ops[start : i+1]
}
