package ingest

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// summary.tsv and sum.* hold the rows of several report.tsv files by test:
//
//	( path of a report.tsv, one a line )*
//	blank line
//	( header, one row per report, [trailer], blank line )*
//
// The rows come in the order of the paths, which alone name the builds: the
// three builds of one version have rows that differ in nothing but figures.
// Where the list is missing, the build follows from path, flags or file name.
//
// A trailer repeats what the rows above it say: the ratio of the second to the
// first (0.981), or mean, standard deviation (of the population) and their
// quotient (mean=959534 stddev=1236.3 sdev/mean=0.001). It is checked, not
// stored.

// blocks follows the parts of a file while its rows are read.
type blocks struct {
	*table
	paths []reportPath
	// The current block: its first row and the line of its header.
	first, line int
	warnings    []bench.Message
	unknown     []string // columns that are not known
	unknownLine int
}

// reportPath is an entry of a path list.
type reportPath struct {
	name    string
	line    int
	stated  bench.Context
	options map[string]string
}

// isReportPath reports whether a line names a report file.
func isReportPath(line string) bool {
	if len(line) > maxPath || strings.ContainsAny(line, "\t ,|") {
		return false
	}
	base := path.Base(line)
	return base == "report.tsv" || base == "report.txt"
}

// path gives the place of the next row in the path list, -1 without a list.
func (b *blocks) path() int32 {
	if n := len(b.rows) - b.first; n < len(b.paths) {
		return int32(n)
	}
	return -1
}

// other reads a line that does not look like a row.
func (b *blocks) other(line string, number int) {
	switch {
	case strings.TrimSpace(line) == "", line[0] == '#':
		return
	case b.header == nil && isReportPath(line):
		stated, options, err := pathContext(line)
		if err != nil {
			b.problem(number, "%v", err)
			return
		}
		b.paths = append(b.paths, reportPath{name: line, line: number, stated: stated, options: options})
		if stated.Version == "" && len(b.warnings) < maxMessages {
			b.warnings = append(b.warnings, bench.Message{File: b.in.path, Line: number,
				Text: fmt.Sprintf("the path's last folder is not of the form of a build (8.0.gcc): nothing says which compiler made it: %s", clip(line))})
		}
		return
	case b.header != nil && line == b.header.line:
		b.begin(number)
		return
	}
	if h, ok := parseHeader(line); ok {
		b.header = h
		b.begin(number)
		if len(h.unknown) > 0 && b.unknown == nil {
			b.unknown, b.unknownLine = h.unknown, number
		}
		return
	}
	switch {
	case b.header == nil:
		b.skip(number, "not a row, and no header came before it: %q", clip(line))
	case strings.Trim(line, "-|: ") == "": // the line under a Markdown header
	case b.trailer(line, number):
	case b.row(line, number, b.path()):
	default:
		b.skip(number, "not a row: %q", clip(line))
	}
}

func (b *blocks) begin(line int) {
	b.endBlock()
	b.first, b.line = len(b.rows), line
}

// endBlock checks a block against the path list: with a row too few or too many
// no row's build is certain.
func (b *blocks) endBlock() {
	if n := len(b.rows) - b.first; len(b.paths) > 0 && b.line > 0 && n != len(b.paths) {
		test := "no test"
		last := b.line
		if n > 0 {
			test = b.rows[b.first].test
			last = b.results[len(b.results)-1].Sources[0].Line
		}
		b.problem(b.line, "lines %d to %d: %d rows of %s for the %d paths listed on top, so that no row's build is certain", b.line+1, last, n, test, len(b.paths))
	}
	b.line = 0
}

// trailer checks a line that repeats what the block's rows say; it reports
// false when the line is none.
func (b *blocks) trailer(line string, number int) bool {
	wrong := func(format string, args ...any) {
		if len(b.warnings) < maxMessages {
			b.warnings = append(b.warnings, bench.Message{File: b.in.path, Line: number, Text: fmt.Sprintf(format, args...)})
		}
	}
	if ratio, _, ok := parseDecimal(line, 1); ok && decimals(line) == 3 {
		values, ok := b.primaries()
		if len(values) != 2 || !ok || values[0] == 0 {
			wrong("the ratio %s cannot be checked: it needs two rows with figures above it", line)
		} else if have := values[1] / values[0]; math.Abs(have-ratio) > 0.0005*1.001 {
			wrong("the ratio %s does not fit the rows above it, which give %.3f", line, have)
		}
		return true
	}
	if !strings.HasPrefix(line, "mean=") {
		return false
	}
	values, ok := b.primaries()
	if !ok || len(values) == 0 {
		wrong("mean and standard deviation cannot be checked: a row above lacks its figure")
		return true
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / float64(len(values))
	}
	stddev := math.Sqrt(square)
	for _, word := range strings.Fields(line) {
		name, text, _ := strings.Cut(word, "=")
		printed, _, ok := parseDecimal(text, 1)
		var have, room float64
		switch name {
		case "mean": // six significant digits
			have, room = mean, 0.5*math.Pow(10, math.Floor(math.Log10(max(mean, 1)))-5)
		case "stddev":
			// The script subtracts large squares; its last digit is not exact.
			have, room = stddev, 0.05+1e-6*mean
		case "sdev/mean":
			have, room = stddev/max(mean, math.SmallestNonzeroFloat64), 0.0005
		default:
			ok = false
		}
		if !ok {
			wrong("not understood: %q", clip(word))
		} else if math.Abs(have-printed) > 1.001*room {
			wrong("%s %s does not fit the rows above it, which give %s", name, text, strconv.FormatFloat(have, 'g', 6, 64))
		}
	}
	return true
}

// primaries gives the primary figures of the block's rows so far.
func (b *blocks) primaries() (values []float64, complete bool) {
	for i := b.first; i < len(b.rows); i++ {
		v, _, ok := parseDecimal(b.results[i].PrimaryText, 1)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return values, true
}

// isSummary detects a table with a path list.
func isSummary(in *input) bool {
	_, paths, ok := findHeader(in.text)
	return ok && paths > 0
}

// isSum detects a table whose header comes again: blocks by test.
func isSum(in *input) bool {
	line, _, ok := findHeader(in.text)
	if !ok {
		return false
	}
	at := bytes.Index(in.text, []byte(line))
	return at >= 0 && bytes.Contains(in.text[at+len(line):], []byte("\n"+line))
}

// mixesBuilds reports whether a file's rows are of several builds that it does
// not name: sum2.* (another build's row as base) and *.both.* (two configs).
func (in *input) mixesBuilds() bool {
	words := strings.Split(path.Base(in.path), ".")
	if words[0] == "sum2" || words[0] == "csum2" {
		return true
	}
	for _, w := range words {
		if w == "both" {
			return true
		}
	}
	return false
}
