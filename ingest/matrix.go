package ingest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// A matrix has a row per test and a column per run, named by its version:
//
//	abs.<…>.tsv         no header, figures, test last
//	rel2.<…>.csv        no header, test first, ratios to the first version, whose
//	                    own column is left out
//	sum.abs0.*, fmt.*, csum.*, csum2.*
//	                    header (csv: test,v1,…,vn, with a comma at the end), ratios
//	                    (abs0) or figures (abs1), the base's column included
//
// The base name hints at nothing here but the sibling: the file of rows that the
// matrix was made from (rel2.byrx.4x.csv of sum.byrx.4x.txt).

// matrixRow is a row of a matrix as it stands in the file.
type matrixRow struct {
	line  int
	test  string
	cells []string
}

// isMatrix detects a matrix by its first lines: all rows are figures with a
// test's name at one end.
func isMatrix(in *input) bool {
	header, rows, err := scanMatrix(in, 20)
	if err != nil || !slices.ContainsFunc(rows, func(r matrixRow) bool { return slices.ContainsFunc(r.cells, isFigure) }) {
		return false
	}
	// A single figure beside a name may be anything.
	kind := matrixKind(rows)
	return header != nil || kind == bench.MatrixRelative || kind == bench.MatrixAbsolute && len(rows[0].cells) > 1
}

// maxCells bounds the cells of a matrix: a thousand versions of a hundred steps.
const maxCells = 100_000

// scanMatrix cuts a file into header (nil without one) and rows, at most limit
// of them (0: all).
func scanMatrix(in *input, limit int) (versions []string, rows []matrixRow, err error) {
	sep, testFirst, count := byte(0), false, 0
	l := newLines(in.text)
	for {
		line, number, ok := l.next()
		if !ok || limit > 0 && len(rows) >= limit {
			return versions, rows, nil
		}
		if len(line) > maxLine {
			return nil, nil, bench.Errorf(bench.KindInvalid, "line %d is longer than %d bytes", number, maxLine)
		}
		s := strings.TrimRight(string(line), " \r")
		if s == "" {
			continue
		}
		if sep == 0 {
			sep = '\t'
			if !strings.Contains(s, "\t") {
				sep = ','
			}
		}
		if count += 1 + strings.Count(s, string(sep)); count > maxCells {
			return nil, nil, bench.Errorf(bench.KindInvalid, "the matrix has more than %d cells", maxCells)
		}
		cells := strings.Split(s, string(sep))
		if versions == nil && len(rows) == 0 {
			if v, first, ok := matrixHeader(cells); ok {
				versions, testFirst = v, first
				continue
			}
			testFirst = !isFigure(cells[0]) && cells[0] != ""
		}
		row := matrixRow{line: number}
		if testFirst {
			row.test, row.cells = cells[0], cells[1:]
			if n := len(row.cells); versions != nil && sep == ',' && n == len(versions)+1 && row.cells[n-1] == "" {
				row.cells = row.cells[:n-1] // a comma at the end, as the header has it
			}
		} else {
			row.test, row.cells = cells[len(cells)-1], cells[:len(cells)-1]
		}
		if !plausibleTest(row.test) || len(row.cells) == 0 {
			return nil, nil, bench.Errorf(bench.KindInvalid, "line %d is not a row of figures with a test's name: %q", number, clip(s))
		}
		for _, c := range row.cells {
			if !isFigure(c) && !missing(c) {
				return nil, nil, bench.Errorf(bench.KindInvalid, "line %d: not a figure: %q", number, clip(c))
			}
		}
		rows = append(rows, row)
	}
}

// matrixHeader reads test,v1,…,vn, or v1 … vn test.
func matrixHeader(cells []string) (versions []string, testFirst, ok bool) {
	last := len(cells) - 1
	if last > 0 && cells[last] == "" {
		cells = cells[:last]
		last--
	}
	if last < 1 {
		return nil, false, false
	}
	switch {
	case cells[0] == "test":
		versions, testFirst = cells[1:], true
	case cells[last] == "test":
		versions = cells[:last]
	default:
		return nil, false, false
	}
	for _, v := range versions {
		if v == "" || len(v) > 100 {
			return nil, false, false
		}
	}
	return versions, testFirst, true
}

// isFigure reports whether a cell is a plain number.
func isFigure(s string) bool {
	_, _, ok := parseDecimal(s, 1)
	return ok
}

// readMatrix reads a matrix as a check, and one of absolute figures also as
// results for the case that nothing measured is known in their places.
func readMatrix(in *input) output {
	versions, rows, err := scanMatrix(in, 0)
	if err != nil {
		return refused(bench.Message{File: in.path, Text: err.Error()})
	}
	sibling := in.madeFrom()
	m := bench.Matrix{File: in.path, Kind: matrixKind(rows), Metric: "qps"}
	if m.Kind == "" {
		return refused(bench.Message{File: in.path, Text: "ratios and figures are mixed: the file is neither a relative nor an absolute matrix"})
	}
	named := versions != nil
	switch {
	case named:
	case len(in.given.Versions) > 0:
		versions = in.given.Versions
	case sibling != nil:
		versions = sibling.versions()
	default:
		return refused(bench.Message{File: in.path, Text: in.columnsUnknown()})
	}
	width := commonWidth(rows)
	switch {
	case width == len(versions):
	case m.Kind == bench.MatrixRelative && width == len(versions)-1 && !named:
		m.BaseOmitted = true
	default:
		return refused(bench.Message{File: in.path, Line: rows[0].line,
			Text: fmt.Sprintf("rows have %d figures for %d versions (%s): no figure's version is certain", width, len(versions), columnsFrom(named, in, sibling))})
	}
	m.Columns = versions

	// The context is the same for all cells; the version is each column's own.
	run, err := in.resolveMatrix(versions[0])
	if err != nil {
		return refused(bench.Message{File: in.path, Text: err.Error()})
	}
	m.Context = bench.Context{System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload,
		Compiler: run.Build.Compiler, Config: run.Config, Clients: run.Clients}
	switch {
	case in.mixesBuilds():
		m.Context.Compiler, m.Context.Config = in.given.Compiler, in.given.Config
	case slices.Contains(run.Assumed, "compiler"):
		m.Context.Compiler = "" // to be compared with whatever is stored
	}
	out := output{state: bench.FileTaken}
	for _, r := range rows {
		row := bench.MatrixRow{Line: r.line, Step: bench.ParseStep(r.test), Cells: r.cells}
		if len(r.cells) != width {
			row.Shifted = fmt.Sprintf("the row has %d figures where the others have %d: from some place on they stand under a wrong version", len(r.cells), width)
		} else {
			row.Sibling = sibling.primaries(r.test, versions)
		}
		m.Rows = append(m.Rows, row)
	}
	if m.Kind == bench.MatrixAbsolute && !in.mixesBuilds() {
		out.runs, out.warnings = in.matrixRuns(&m, run, sibling, rows)
		for i := range out.runs {
			if !in.set.spend(len(out.runs[i].Results)) {
				return tooManyRows(in, 0)
			}
		}
	}
	out.matrices = []bench.Matrix{m}
	return out
}

// resolveMatrix gives the context that all columns share. A version given with
// the upload would be every column's, which only a matrix of one column bears.
func (in *input) resolveMatrix(version string) (bench.Run, error) {
	shared := *in
	shared.given.Version, shared.byPath.Version = "", ""
	run, err := shared.resolve(bench.Context{Version: version}, "the matrix", true)
	in.usedServer = shared.usedServer
	return run, err
}

func columnsFrom(named bool, in *input, s *sumFile) string {
	switch {
	case named:
		return "of its header"
	case len(in.given.Versions) > 0:
		return "given with the upload"
	default:
		return "of " + s.path
	}
}

// columnsUnknown says how to name the columns of a matrix without header.
func (in *input) columnsUnknown() string {
	text := "the file has no header: nothing says which versions its columns are"
	if name := siblingName(path.Base(in.path)); name != "" {
		text += "; upload it together with " + name
	}
	return text + ", or give its versions"
}

// matrixKind tells ratios (two decimals) from figures; "" when they are mixed.
func matrixKind(rows []matrixRow) bench.MatrixKind {
	ratios, figures := 0, 0
	for _, r := range rows {
		for _, c := range r.cells {
			switch {
			case missing(c):
			case decimals(c) == 2:
				ratios++
			case decimals(c) == 0:
				figures++
			default:
				return ""
			}
		}
	}
	switch {
	case figures == 0:
		return bench.MatrixRelative
	case ratios == 0:
		return bench.MatrixAbsolute
	}
	return ""
}

// commonWidth gives the number of cells that most rows have; of two that are
// equally common the larger, as cells get lost and are not made.
func commonWidth(rows []matrixRow) int {
	count := map[int]int{}
	width := 0
	for _, r := range rows {
		n := len(r.cells)
		count[n]++
		if count[n] > count[width] || count[n] == count[width] && n > width {
			width = n
		}
	}
	return width
}

// matrixRuns gives the figures of an absolute matrix as results, one run per
// column. Figures that stand in the sibling of the same upload are measured
// there and left out here.
func (in *input) matrixRuns(m *bench.Matrix, context bench.Run, sibling *sumFile, rows []matrixRow) (runs []bench.Run, warnings []bench.Message) {
	for col, version := range m.Columns {
		run := context
		run.Build.Version = version
		run.Options = copyMap(context.Options)
		for i := range m.Rows {
			r := &m.Rows[i]
			if r.Shifted != "" || missing(r.Cells[col]) || r.Sibling != nil && r.Sibling[col] != "" {
				continue
			}
			step := r.Step
			if step.Name == "overwriteandwait" && bench.CompareVersions(version, "6.19-pre") < 0 {
				// The row is named by its last cell's test; up to 6.18 the script
				// ran overwrite in this place where it knew that version.
				if len(warnings) < maxMessages {
					warnings = append(warnings, bench.Message{File: in.path, Line: r.Line, Column: version,
						Text: "the row may mix overwrite and overwriteandwait, and this version's test is not named: its figure is not stored"})
				}
				continue
			}
			v, resolution, _ := parseDecimal(r.Cells[col], 1)
			result := bench.Result{
				Step: step, Role: bench.StepRole(run.Suite, step.Name), State: bench.StateOK, Origin: bench.OriginMatrix,
				Primary: m.Metric, PrimaryText: r.Cells[col],
				Text:    rows[i].test + " " + version + " " + r.Cells[col],
				Sources: []bench.Source{{File: in.path, Line: r.Line}},
			}
			result.Set(bench.Value{Metric: m.Metric, Number: v, Resolution: resolution, SourceName: version})
			run.Results = append(run.Results, result)
		}
		if len(run.Results) > 0 {
			runs = append(runs, run)
		}
	}
	return runs, warnings
}

// sumFile is a file of rows by test as far as matrices need it.
type sumFile struct {
	path   string
	blocks []sumBlock
}

// sumBlock is the rows of one block.
type sumBlock struct {
	tests, versions, figures []string
}

// siblingName gives the name of the file that a matrix was made from, "" when
// its own name says nothing.
func siblingName(base string) string {
	words := strings.Split(base, ".")
	if n := len(words); n > 1 && (words[n-1] == "csv" || words[n-1] == "tsv") {
		words = words[:n-1]
	}
	var kept []string
	first := ""
	for i, w := range words {
		switch {
		case i == 0 && (w == "rel2" || w == "rel" || w == "abs" || w == "csum" || w == "sum" || w == "fmt"):
			first = "sum"
		case i == 0 && w == "csum2":
			first = "sum2"
		case i == 0:
			return ""
		case w == "abs0" || w == "abs1":
		default:
			kept = append(kept, w)
		}
	}
	return strings.Join(append(append([]string{first}, kept...), "txt"), ".")
}

// madeFrom gives the file of rows that the matrix was made from, nil when it is
// not in the same upload.
func (in *input) madeFrom() *sumFile {
	name := siblingName(path.Base(in.path))
	if name == "" || in.set == nil {
		return nil
	}
	f := in.set.at(path.Join(path.Dir(in.path), name))
	if f == nil || f == in || f.text == nil {
		return nil
	}
	return in.set.sumFile(f)
}

// sumFile reads a file's blocks, once per upload; nil when it is no such file.
func (s *set) sumFile(f *input) *sumFile {
	if known, ok := s.sums[f.path]; ok {
		return known
	}
	if s.sums == nil {
		s.sums = map[string]*sumFile{}
	}
	sum := &sumFile{path: f.path}
	var h *header
	var cells [maxColumns]string
	for l := newLines(f.text); ; {
		b, _, ok := l.next()
		if !ok || len(b) > maxLine {
			break
		}
		line := string(b)
		if h == nil || line == h.line {
			if h == nil {
				if h, _ = parseHeader(line); h == nil {
					continue
				}
			}
			sum.blocks = append(sum.blocks, sumBlock{})
			continue
		}
		n := split(line, h.sep, &cells)
		if h.test < 0 || h.version < 0 || n > maxColumns || n < len(h.byEra[eraRight])-2 || h.test >= n || h.version >= n || h.ops >= n {
			continue
		}
		block := &sum.blocks[len(sum.blocks)-1]
		block.tests = append(block.tests, cells[h.test])
		block.versions = append(block.versions, cells[h.version])
		block.figures = append(block.figures, cells[h.ops])
	}
	if len(sum.blocks) == 0 {
		sum = nil
	}
	s.sums[f.path] = sum
	return sum
}

// versions gives the versions of the longest block: one that lacks a row cannot
// name the columns.
func (s *sumFile) versions() []string {
	var longest []string
	for i := range s.blocks {
		if len(s.blocks[i].versions) > len(longest) {
			longest = s.blocks[i].versions
		}
	}
	return longest
}

// primaries gives the figures that a row of the matrix was made from, by column;
// nil when the row's block is not there or has other versions. A block that
// mixes overwrite and overwriteandwait lends its last row's name to the row.
func (s *sumFile) primaries(test string, versions []string) []string {
	if s == nil {
		return nil
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		if slices.Contains(b.tests, test) && slices.Equal(b.versions, versions) {
			figures := make([]string, len(b.figures))
			for k, f := range b.figures {
				if isFigure(f) {
					figures[k] = f
				}
			}
			return figures
		}
	}
	return nil
}
