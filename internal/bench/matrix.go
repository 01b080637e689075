package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Figure is the primary value of a measured result, as cells of matrices are
// compared with it.
type Figure struct {
	Coordinate
	Version string
	Threads int // of the step, 0 when not stated
	Metric  string
	Value   float64
}

// Place is where a cell of a matrix stands. Server, workload, step, version and
// metric are always compared, the step by its family; "" and 0 elsewhere mean
// not stated: any will do.
type Place struct {
	Coordinate
	Version string
	Threads int
	Metric  string
}

// Figures finds measured figures by place.
type Figures struct{ by map[figureKey][]Figure }

type figureKey struct{ server, workload, family, version, metric string }

func placeKey(c Coordinate, version, metric string) figureKey {
	return figureKey{c.Server, c.Workload, StepFamily(c.Step), VersionKey(version), metric}
}

// NewFigures makes figures findable.
func NewFigures(list ...Figure) *Figures {
	f := &Figures{by: map[figureKey][]Figure{}}
	for _, x := range list {
		f.add(x)
	}
	return f
}

func (f *Figures) add(x Figure) {
	k := placeKey(x.Coordinate, x.Version, x.Metric)
	f.by[k] = append(f.by[k], x)
}

// At gives the figures that have a place. The caller must not change them.
func (f *Figures) At(p Place) []Figure {
	all := f.by[placeKey(p.Coordinate, p.Version, p.Metric)]
	fits := func(x Figure) bool {
		return (p.System == "" || p.System == x.System) && (p.Suite == "" || p.Suite == x.Suite) &&
			(p.Compiler == "" || p.Compiler == x.Compiler) && (p.Config == "" || p.Config == x.Config) &&
			(p.Clients == 0 || x.Clients == 0 || p.Clients == x.Clients) &&
			(p.Threads == 0 || x.Threads == 0 || p.Threads == x.Threads)
	}
	if !slices.ContainsFunc(all, func(x Figure) bool { return !fits(x) }) {
		return all
	}
	var some []Figure
	for _, x := range all {
		if fits(x) {
			some = append(some, x)
		}
	}
	return some
}

// PlaceOf gives the place of a result of a run. What the run only assumes is
// left open.
func PlaceOf(run *Run, r *Result) Place {
	p := Place{
		Coordinate: Coordinate{System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload,
			Step: r.Step.Name, Compiler: run.Build.Compiler, Config: run.Config, Clients: run.Clients},
		Version: run.Build.Version, Threads: r.Step.Threads, Metric: r.Primary,
	}
	if run.assumes("compiler") {
		p.Compiler = ""
	}
	if run.assumes("config") {
		p.Config = ""
	}
	return p
}

// YieldMatrices takes the figures of matrices whose place has a measured result
// out of the plan and lists them in p.Covered: such a cell is checked, not stored.
// Measured are the stored figures; those of the batch itself count as well. It
// returns both together, for [CheckMatrix].
func (p *Plan) YieldMatrices(b *Batch, measured []Figure) *Figures {
	figures := NewFigures(measured...)
	for _, ref := range p.New {
		run, r := &b.Runs[ref.Run], &b.Runs[ref.Run].Results[ref.Result]
		if r.Origin == OriginMatrix || r.State != StateOK {
			continue
		}
		if v, ok := r.Value(r.Primary); ok {
			pl := PlaceOf(run, r)
			pl.Compiler, pl.Config, pl.Clients = run.Build.Compiler, run.Config, RunClients(run)
			figures.add(Figure{pl.Coordinate, pl.Version, pl.Threads, pl.Metric, v})
		}
	}
	var rest []Ref
	for _, ref := range p.New {
		run, r := &b.Runs[ref.Run], &b.Runs[ref.Run].Results[ref.Result]
		if r.Origin == OriginMatrix && len(figures.At(PlaceOf(run, r))) > 0 {
			p.Covered = append(p.Covered, ref)
			continue
		}
		rest = append(rest, ref)
	}
	p.New = rest
	// The same cell of a second file goes where the first one went.
	p.Additions = slices.DeleteFunc(p.Additions, func(a Addition) bool {
		if a.Stored != nil || !slices.Contains(p.Covered, a.Into) {
			return false
		}
		p.Covered = append(p.Covered, a.Ref)
		return true
	})
	return figures
}

// MessagesPerCheck bounds the cells that a check names.
const MessagesPerCheck = 50

// CheckMatrix compares the cells of a matrix with measured figures at the
// precision they are printed with. A cell agrees when one of the figures of its
// place gives it; a ratio is figure / base, where the whole row has one base,
// the one most of its cells agree with. Where the matrix knows the rows it was
// made from ([MatrixRow.Sibling]), those are compared with instead. A version
// that stands in several columns may have a base of another compiler (csum2
// files divide all compilers by gcc).
func CheckMatrix(m *Matrix, measured *Figures) Check {
	c := Check{File: m.File, Kind: string(m.Kind), Messages: []Message{}}
	omitted := 0
	say := func(line int, format string, args ...any) {
		if len(c.Messages) >= MessagesPerCheck {
			omitted++
			return
		}
		c.Messages = append(c.Messages, Message{File: m.File, Line: line, Text: fmt.Sprintf(format, args...)})
	}
	for i := range m.Rows {
		row := &m.Rows[i]
		if row.Shifted != "" {
			c.Shifted++
			say(row.Line, "%s left out: %s", row.Step.Name, row.Shifted)
			continue
		}
		cells := row.Cells
		if m.Kind == MatrixRelative && m.BaseOmitted {
			cells = append([]string{""}, cells...)
		}
		if len(cells) != len(m.Columns) {
			c.Shifted++
			say(row.Line, "%s left out: %d cells for %d versions", row.Step.Name, len(cells), len(m.Columns))
			continue
		}
		candidates := make([][]float64, len(cells))
		for k := range cells {
			candidates[k] = m.candidates(row, k, measured, false)
		}
		if m.Kind == MatrixAbsolute {
			for k, cell := range cells {
				c.count(cell, candidates[k], 1, func(text string) {
					say(row.Line, "%s %s: %s here, %s measured", row.Step.Name, m.Columns[k], cell, text)
				})
			}
			continue
		}
		base, ok := m.base(row, cells, candidates, measured)
		if !ok {
			for _, cell := range cells {
				if isNumber(cell) {
					c.Unknown++
				}
			}
			continue
		}
		candidates[0] = []float64{base}
		for k, cell := range cells {
			c.count(cell, candidates[k], base, func(text string) {
				say(row.Line, "%s %s: %s here, %s of what was measured", row.Step.Name, m.Columns[k], cell, text)
			})
		}
	}
	if omitted > 0 {
		c.Messages = append(c.Messages, Message{File: m.File, Text: fmt.Sprintf("%d more cells differ", omitted)})
	}
	return c
}

// count compares one cell. differs gets what the first candidate would print.
func (c *Check) count(cell string, candidates []float64, base float64, differs func(text string)) {
	switch {
	case !isNumber(cell):
		return
	case len(candidates) == 0:
		c.Unknown++
		return
	}
	c.Cells++
	for _, v := range candidates {
		if prints(v/base, cell) {
			c.Agree++
			return
		}
	}
	differs(strconv.FormatFloat(candidates[0]/base, 'f', decimals(cell), 64))
}

// candidates gives the values that column k of a row may have been made from.
func (m *Matrix) candidates(row *MatrixRow, k int, measured *Figures, anyBuild bool) []float64 {
	if len(row.Sibling) == len(m.Columns) && row.Sibling[k] != "" {
		if isNumber(row.Sibling[k]) {
			v, _ := strconv.ParseFloat(row.Sibling[k], 64) // just seen to be one
			return []float64{v}
		}
	}
	p := Place{
		Coordinate: Coordinate{System: m.Context.System, Suite: m.Context.Suite, Server: m.Context.Server,
			Workload: m.Context.Workload, Step: row.Step.Name, Compiler: m.Context.Compiler,
			Config: m.Context.Config, Clients: m.Context.Clients},
		Version: m.Columns[k], Threads: row.Step.Threads, Metric: m.Metric,
	}
	if anyBuild {
		p.Compiler, p.Config = "", ""
	}
	var values []float64
	for _, f := range measured.At(p) {
		values = append(values, f.Value)
	}
	return values
}

// base gives the value that most cells of a row agree to be divided by.
func (m *Matrix) base(row *MatrixRow, cells []string, candidates [][]float64, measured *Figures) (float64, bool) {
	bases := candidates[0]
	if slices.Contains(m.Columns[1:], m.Columns[0]) {
		bases = append(slices.Clone(bases), m.candidates(row, 0, measured, true)...)
	}
	best, most := 0.0, -1
	for _, b := range bases {
		if b == 0 {
			continue // nothing can have been divided by it
		}
		n := 0
		for k := 1; k < len(cells); k++ {
			if slices.ContainsFunc(candidates[k], func(v float64) bool { return prints(v/b, cells[k]) }) {
				n++
			}
		}
		if n > most {
			best, most = b, n
		}
	}
	return best, most >= 0
}

// prints reports whether a value printed with the decimals of a cell gives it.
func prints(v float64, cell string) bool {
	want, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return false
	}
	got, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals(cell), 64), 64)
	return err == nil && got == want
}

// isNumber reports whether a cell holds a figure; empty ones and NA do not.
func isNumber(cell string) bool {
	v, err := strconv.ParseFloat(cell, 64)
	return err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// decimals counts the digits after the point.
func decimals(cell string) int {
	_, frac, _ := strings.Cut(cell, ".")
	return len(frac)
}
