package ingest

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// What `neard database state-perf` prints on stdout: the latency of random reads
// of a database, overall and split by the number of blocks that a read took.
//
//	overall | avg observed_latency: 516.923µs, block_read_time: 490.688µs, samples with merge: 0 (0.00%)
//	block_read_count: 1, samples: 99993 (99.99%): | avg observed_latency: 516.643µs, …
//
// The block size that the database was compacted with stands nowhere in it, nor
// does the disk. Both are context: --config bs4k states a block size of 4 KiB,
// which becomes the run's option block_size. A text that people put together of
// several runs, each under a heading "4KiB block size", states it itself; figures
// of fio above the first line of a run, under one heading "Disk 1", are of the
// same arm. Without a block of results the run failed: the program divides by the
// number of samples.

const (
	formatStatePerf = "neard state-perf"

	stepStatePerf = "state-perf"
)

var (
	statePerfOverall = []byte("overall | avg observed_latency: ")
	statePerfStart   = []byte("Start State perf test")
	statePerfBucket  = regexp.MustCompile(`^block_read_count: (\d{1,19}), samples: (\d{1,18}) \((\d{1,3}\.\d\d)%\): \| (.*)$`)
	statePerfFigures = regexp.MustCompile(`^avg observed_latency: (\S+), block_read_time: (\S+), samples with merge: (\d{1,18}) \(\d{1,3}\.\d\d%\)$`)
	neardVersionRe   = regexp.MustCompile(`\bneard: version="([^"]{1,100})" build="([^"]{1,100})"`)

	blockSizeHeadRe = regexp.MustCompile(`(?i)^#*\s*(\d{1,7})\s?(KiB|KB|K|MiB|MB|M|B|bytes)?\s+block[ _-]?size:?$`)
	diskHeadRe      = regexp.MustCompile(`(?i)^#*\s*(disk \d{1,4}):?$`)
	configBlockRe   = regexp.MustCompile(`(?i)^bs(\d{1,7})([km]?)$`)
)

const (
	statePerfHead = 1 << 20 // bytes looked through to tell the format
	maxBuckets    = 1000    // of a block
)

func isStatePerf(in *input) bool {
	head := in.text[:min(len(in.text), statePerfHead)]
	return bytes.Contains(head, statePerfOverall) || bytes.Contains(head, statePerfStart)
}

// rustDuration reads a duration as Rust's {:?} prints it, in whole nanoseconds
// and without a detour through floating point: 516.923µs is 516923 ns. More digits
// than the unit has are no duration.
func rustDuration(s string) (ns uint64, ok bool) {
	digits := 0
	for digits < len(s) && (s[digits] >= '0' && s[digits] <= '9' || s[digits] == '.') {
		digits++
	}
	places := 0
	switch s[digits:] {
	case "ns":
	case "µs", "μs", "us":
		places = 3
	case "ms":
		places = 6
	case "s":
		places = 9
	default:
		return 0, false
	}
	whole, fraction, point := strings.Cut(s[:digits], ".")
	if point && fraction == "" || len(fraction) > places {
		return 0, false
	}
	ns, ok = parseCount([]byte(whole))
	if !ok {
		return 0, false
	}
	for i := range places {
		d := uint64(0)
		if i < len(fraction) {
			if fraction[i] == '.' {
				return 0, false
			}
			d = uint64(fraction[i] - '0')
		}
		hi, lo := bits.Mul64(ns, 10)
		if hi != 0 || lo > math.MaxUint64-d {
			return 0, false
		}
		ns = lo + d
	}
	return ns, true
}

// statePerfLine is the figures that stand on every line.
type statePerfLine struct {
	line          int
	text          string // of the latency, as printed
	latency, read uint64 // ns
	merges        uint64
	// Of a line of reads by blocks:
	bucket  string // block reads
	samples uint64
	percent float64
}

// figures reads what follows the bar.
func (f *statePerfLine) figures(s string) bool {
	m := statePerfFigures.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	var ok, ok2 bool
	f.text = m[1]
	f.latency, ok = rustDuration(m[1])
	f.read, ok2 = rustDuration(m[2])
	f.merges, _ = parseCount([]byte(m[3])) // the pattern admits short digit runs only
	return ok && ok2
}

// arm is a part of a text under headings of its own.
type arm struct {
	disk      string
	blockSize uint64 // bytes, 0: no heading says it
	blockText string
	fio       fioText
	blocks    []statePerfBlock
}

// statePerfBlock is the result of one execution.
type statePerfBlock struct {
	overall statePerfLine
	buckets []statePerfLine
}

// statePerfFile is a text taken apart.
type statePerfFile struct {
	arms          []*arm
	version, hash string
	started       bool // the program's first words are there
	startLine     int
	panicked      string
	other         []bench.Message // lines that were not understood
	otherCount    int
}

func (f *statePerfFile) arm() *arm { return f.arms[len(f.arms)-1] }

// heading gives what the arm stands under, "" without a heading.
func (a *arm) heading() string {
	if a.blockText != "" {
		return a.blockText
	}
	return a.disk
}

// isEmpty reports whether nothing but headings stands in an arm.
func (a *arm) isEmpty() bool { return len(a.blocks) == 0 && !a.fio.begun() }

// parseStatePerf takes a text apart.
func parseStatePerf(in *input) (*statePerfFile, []bench.Message) {
	f := &statePerfFile{arms: []*arm{{}}}
	var problems []bench.Message
	for l := newLines(in.text); ; {
		raw, n, ok := l.next()
		if !ok {
			return f, problems
		}
		// Progress bars are drawn over one another.
		if i := bytes.LastIndexByte(raw, '\r'); i >= 0 {
			raw = raw[i+1:]
		}
		line := trimSpace(raw)
		switch {
		case len(line) == 0:
			continue
		case len(line) > maxLine:
			f.skip(in, n, line)
			continue
		}
		if rest, ok := bytes.CutPrefix(line, []byte("overall | ")); ok {
			b := statePerfBlock{overall: statePerfLine{line: n}}
			if !b.overall.figures(string(rest)) {
				problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("not the figures of state-perf: %q", clip(string(line)))})
				continue
			}
			f.arm().blocks = append(f.arm().blocks, b)
			continue
		}
		if hasPrefix(line, "block_read_count: ") {
			m := statePerfBucket.FindStringSubmatch(string(line))
			p := statePerfLine{line: n}
			blocks := f.arm().blocks
			if m == nil || !p.figures(m[4]) || len(blocks) == 0 {
				problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("not a line of reads by blocks below an overall line: %q", clip(string(line)))})
				continue
			}
			p.bucket = m[1]
			p.samples, _ = parseCount([]byte(m[2]))
			p.percent, _ = strconv.ParseFloat(m[3], 64)
			b := &blocks[len(blocks)-1]
			if len(b.buckets) == maxBuckets {
				problems = appendBounded(problems, bench.Message{File: in.path, Line: n, Text: "too many lines of reads by blocks"})
				return f, problems
			}
			b.buckets = append(b.buckets, p)
			continue
		}
		if f.heading(string(line)) {
			continue
		}
		if m := neardVersionRe.FindSubmatch(line); m != nil {
			f.version, f.hash = string(m[1]), string(m[2])
			continue
		}
		if bytes.Contains(line, statePerfStart) {
			f.started, f.startLine = true, n
			continue
		}
		if bytes.Contains(line, []byte("panicked at")) {
			f.panicked = quote(line)
			continue
		}
		if f.arm().fio.line(line, n) || isStatePerfTalk(line) {
			continue
		}
		f.skip(in, n, line)
	}
}

// isStatePerfTalk knows the other lines of the program's stderr.
func isStatePerfTalk(line []byte) bool {
	return hasPrefix(line, "Generate ") || hasPrefix(line, "Finished requests generation") || hasPrefix(line, "Finished State perf test") ||
		bytes.Contains(line, []byte("█")) || bytes.Contains(line, []byte(" INFO ")) || hasPrefix(line, "Compaction is finished") ||
		strings.EqualFold(string(line), "Fio tool results:")
}

func (f *statePerfFile) skip(in *input, n int, line []byte) {
	f.otherCount++
	f.other = appendBounded(f.other, bench.Message{File: in.path, Line: n, Text: fmt.Sprintf("not understood: %q", clip(string(line)))})
}

// heading reads a line that begins an arm or says more of it.
func (f *statePerfFile) heading(line string) bool {
	if m := diskHeadRe.FindStringSubmatch(line); m != nil {
		if a := f.arm(); !a.isEmpty() || a.disk != "" || a.blockSize != 0 {
			f.arms = append(f.arms, &arm{})
		}
		f.arm().disk = m[1]
		return true
	}
	m := blockSizeHeadRe.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if a := f.arm(); len(a.blocks) > 0 || a.blockSize != 0 {
		f.arms = append(f.arms, &arm{})
	}
	n, _ := parseCount([]byte(m[1]))
	unit := strings.ToLower(m[2])
	switch {
	case strings.HasPrefix(unit, "k"):
		n <<= 10
	case strings.HasPrefix(unit, "m"):
		n <<= 20
	}
	f.arm().blockSize, f.arm().blockText = n, line
	return true
}

// blockConfig names the config of a block size: bs4k.
func blockConfig(size uint64) string { return "bs" + shortBytes(size) }

// shortBytes writes a number of bytes as people write block sizes: 4k, 1m, 1000.
func shortBytes(n uint64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return strconv.FormatUint(n>>20, 10) + "m"
	case n > 0 && n%(1<<10) == 0:
		return strconv.FormatUint(n>>10, 10) + "k"
	}
	return strconv.FormatUint(n, 10)
}

// configBlockSize gives the block size in bytes that a config's name states.
func configBlockSize(config string) (uint64, bool) {
	m := configBlockRe.FindStringSubmatch(config)
	if m == nil {
		return 0, false
	}
	n, _ := parseCount([]byte(m[1]))
	switch strings.ToLower(m[2]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return n, n > 0
}

// readStatePerf reads a text of state-perf, and of fio where that stands in it.
func readStatePerf(in *input) output {
	f, problems := parseStatePerf(in)
	if len(problems) > 0 {
		return refused(problems...)
	}
	var out output
	for _, a := range f.arms {
		content := bench.Context{Suite: bench.SuiteStatePerf, Version: f.version}
		by := "the text"
		if a.blockSize > 0 {
			content.Config = blockConfig(a.blockSize)
			by = fmt.Sprintf("the heading %q", clip(a.blockText))
		}
		failed := len(a.blocks) == 0 && f.started && len(f.arms) == 1
		if len(a.blocks) > 0 || failed {
			run, err := in.resolveSuite(content, bench.Context{System: bench.SystemNeard}, by)
			if err != nil {
				problems = append(problems, asMessage(in.path, err))
				break
			}
			run.Build.GitHash = f.hash
			armFacts(&run, a)
			for i := range a.blocks {
				run.Results = append(run.Results, a.blocks[i].result(in))
			}
			if failed {
				run.Results = append(run.Results, f.failure(in))
			}
			out.runs = append(out.runs, run)
		}
		out.warnings = append(out.warnings, a.fio.oddities(in)...)
		if heading := a.heading(); heading != "" && len(a.blocks) == 0 {
			out.warnings = append(out.warnings, bench.Message{File: in.path, Text: fmt.Sprintf("no figures of state-perf stand below the heading %q", clip(heading))})
		}
		if a.fio.begun() {
			given := in.given
			given.Suite = "" // that of the text as a whole
			runs, err := in.fioRuns(&a.fio, given, bench.Context{Config: content.Config}, by)
			if err != nil {
				problems = append(problems, asMessage(in.path, err))
				break
			}
			for i := range runs {
				armFacts(&runs[i], a)
				delete(runs[i].Options, "block_size") // the database's, not fio's
			}
			out.runs = append(out.runs, runs...)
		}
	}
	switch {
	case len(problems) > 0:
		return refused(problems...)
	case len(out.runs) == 0:
		return refused(bench.Message{File: in.path, Text: "no line of figures of state-perf"})
	}
	out.state = bench.FileTaken
	out.messages = f.other
	if n := f.otherCount - len(f.other); n > 0 {
		out.messages = append(out.messages, bench.Message{File: in.path, Text: fmt.Sprintf("%d further lines were not understood", n)})
	}
	return out
}

// armFacts puts what headings and the config's name say of an arm on a run.
func armFacts(run *bench.Run, a *arm) {
	if a.disk != "" {
		run.Environment = mergeMaps(run.Environment, map[string]string{"disk": a.disk})
	}
	size, ok := a.blockSize, a.blockSize > 0
	if !ok {
		size, ok = configBlockSize(run.Config)
	}
	if ok {
		run.Options = mergeMaps(run.Options, map[string]string{"block_size": strconv.FormatUint(size, 10)})
	}
}

// failure is the result of a program that printed no figures.
func (f *statePerfFile) failure(in *input) bench.Result {
	reason := "it ended without a line of figures"
	if f.panicked != "" {
		reason = f.panicked
	}
	return bench.Result{
		Step: bench.Step{Name: stepStatePerf, Threads: 1}, Role: bench.RoleMeasure, State: bench.StateFailed, Reason: reason,
		Origin: bench.OriginMeasured, Primary: bench.PrimaryMetric(bench.SuiteStatePerf, stepStatePerf), Text: reason,
		Sources: []bench.Source{{File: in.path, Line: f.startLine}},
	}
}

// result makes the result of a block. The program reads with one thread.
func (b *statePerfBlock) result(in *input) bench.Result {
	o := &b.overall
	r := bench.Result{
		Step: bench.Step{Name: stepStatePerf, Threads: 1}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured,
		Primary: bench.PrimaryMetric(bench.SuiteStatePerf, stepStatePerf), PrimaryText: o.text,
		Sources: []bench.Source{{File: in.path, Line: o.line}},
	}
	warn := func(line int, format string, args ...any) {
		r.Warnings = appendBounded(r.Warnings, bench.Message{File: in.path, Line: line, Text: fmt.Sprintf(format, args...)})
	}
	texts := []string{o.text, strconv.FormatUint(o.read, 10)}
	r.Set(bench.Value{Metric: "observed_latency_ns", Number: float64(o.latency), Resolution: 1, SourceName: "avg observed_latency"})
	r.Set(bench.Value{Metric: "block_read_time_ns", Number: float64(o.read), Resolution: 1, SourceName: "block_read_time"})
	r.Set(bench.Value{Metric: "merge_samples", Number: float64(o.merges), Resolution: 1, SourceName: "samples with merge"})
	if o.read > o.latency {
		warn(o.line, "reading blocks takes longer than the reads it is part of")
	}
	total, weighted := uint64(0), 0.0
	seen := map[string]bool{}
	for i := range b.buckets {
		p := &b.buckets[i]
		texts = append(texts, p.bucket, strconv.FormatUint(p.samples, 10), p.text)
		if seen[p.bucket] {
			warn(p.line, "a second line of %s block reads; left out", p.bucket)
			continue
		}
		seen[p.bucket] = true
		if p.read > p.latency {
			warn(p.line, "reading blocks takes longer than the reads it is part of")
		}
		total += p.samples
		weighted += float64(p.samples) * float64(p.latency)
		samples := int64(p.samples)
		r.Breakdowns = append(r.Breakdowns,
			bench.Breakdown{Key: bench.BreakdownBlockReads, Bucket: p.bucket, Samples: samples, Unit: "ns", Value: float64(p.latency)},
			bench.Breakdown{Key: bench.BreakdownBlockReadTime, Bucket: p.bucket, Samples: samples, Unit: "ns", Value: float64(p.read)},
			bench.Breakdown{Key: bench.BreakdownMerges, Bucket: p.bucket, Samples: samples, Unit: "count", Value: float64(p.merges)})
	}
	r.Text = strings.Join(texts, " ")
	if len(b.buckets) == 0 {
		warn(o.line, "no lines of reads by blocks follow: the text is cut")
	}
	if total == 0 || total > 1<<53 {
		return r
	}
	whole := true
	for i := range b.buckets {
		p := &b.buckets[i]
		if share := 100 * float64(p.samples) / float64(total); math.Abs(share-p.percent) > 0.0051 {
			warn(p.line, "%d samples are printed as %.2f %%, of the %d in these lines they are %.2f %%: lines are missing", p.samples, p.percent, total, share)
			whole = false
		}
	}
	if !whole {
		return r
	}
	r.Set(bench.Value{Metric: "operations", Number: float64(total), Resolution: 1, SourceName: "samples"})
	// Averages are cut to whole ns, so that the whole may lie a few beside its parts.
	if mean := weighted / float64(total); math.Abs(mean-float64(o.latency)) > math.Max(10, 1e-4*float64(o.latency)) {
		warn(o.line, "the lines by block reads make an average of %.0f ns, the overall line says %d ns", mean, o.latency)
	}
	return r
}

// resolveSuite gives a run without results for suites that have no directories of
// their own: what the content says, completed by path and flags, then by hints.
func (in *input) resolveSuite(content, hint bench.Context, by string) (bench.Run, error) {
	return in.resolveGiven(content, hint, by, in.given)
}

// resolveGiven is [input.resolveSuite] with other flags.
func (in *input) resolveGiven(content, hint bench.Context, by string, given bench.Context) (bench.Run, error) {
	c, err := content.Normalized().Fill(in.byPath, by, "the path "+in.path)
	if err != nil {
		return bench.Run{}, err
	}
	if c, err = c.Fill(given, by, givenBy); err != nil {
		return bench.Run{}, err
	}
	in.usedServer = in.usedServer || c.Server == "" && in.hinted.Server != ""
	c = c.Hint(in.hinted).Hint(hint)
	var unsaid []string
	for _, f := range []struct{ name, value string }{{"system", c.System}, {"server", c.Server}, {"workload", c.Workload}, {"version", c.Version}} {
		if f.value == "" {
			unsaid = append(unsaid, f.name)
		}
	}
	if len(unsaid) > 0 {
		return bench.Run{}, missingContext(unsaid)
	}
	return bench.Run{
		System: c.System, Suite: c.Suite, Server: c.Server, Workload: c.Workload, Config: c.Config,
		Build: bench.Build{Version: c.Version, Compiler: c.Compiler}, Clients: c.Clients,
	}, nil
}
