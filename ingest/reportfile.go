package ingest

import (
	"bytes"
	"fmt"
	"math"

	"github.com/relqps/relqps/internal/bench"
)

// isIntervals reports whether a text is what db_bench writes with --report_file:
// a CSV file that begins with secs_elapsed,interval_qps. Forks add columns.
func isIntervals(in *input) bool {
	l := newLines(in.text)
	line, _, _ := l.next()
	return bytes.Equal(trimSpace(line), []byte("secs_elapsed,interval_qps")) || hasPrefix(trimSpace(line), "secs_elapsed,interval_qps,")
}

// readIntervals gives the series of a --report_file. The column interval_qps
// counts the operations of an interval, whatever its name says: it is divided
// by the interval's length. The last, partial interval is never written; a run
// shorter than an interval leaves a header only, which gives no series.
//
// err says why a file cannot be read; messages tell of intervals that are
// missing.
func readIntervals(in *input) (series []bench.TimeSeries, messages []bench.Message, err error) {
	l := newLines(in.text)
	header, _, _ := l.next()
	columns := bytes.Split(trimSpace(header), []byte(","))
	if len(columns) < 2 || !isIntervals(in) {
		return nil, nil, bench.Errorf(bench.KindInvalid, "no table of intervals: the first line is not secs_elapsed,interval_qps")
	}
	const maxColumns = 16
	if len(columns) > maxColumns {
		return nil, nil, bench.Errorf(bench.KindInvalid, "%d columns: at most %d are read", len(columns), maxColumns)
	}
	var ends []float64
	rows := make([][]float64, len(columns)-1)
	for {
		line, number, ok := l.next()
		if !ok {
			break
		}
		if len(trimSpace(line)) == 0 {
			continue
		}
		cells := bytes.Split(line, []byte(","))
		if len(cells) != len(columns) {
			return nil, nil, bench.Errorf(bench.KindInvalid, "line %d has %d cells, the header %d", number, len(cells), len(columns))
		}
		end, ok := parseCount(trimSpace(cells[0]))
		if !ok || end == 0 || end > 1<<31 {
			return nil, nil, bench.Errorf(bench.KindInvalid, "line %d: secs_elapsed is not a number of seconds: %q", number, quote(cells[0]))
		}
		if n := len(ends); n > 0 && float64(end) <= ends[n-1] {
			return nil, nil, bench.Errorf(bench.KindInvalid, "line %d: secs_elapsed %d follows %g: not one run's intervals", number, end, ends[n-1])
		}
		ends = append(ends, float64(end))
		for i, cell := range cells[1:] {
			v, ok := parseNumber(trimSpace(cell))
			if !ok || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				return nil, nil, bench.Errorf(bench.KindInvalid, "line %d: %s is not a count: %q", number, columns[i+1], quote(cell))
			}
			rows[i] = append(rows[i], v)
		}
	}
	if len(ends) == 0 {
		return nil, nil, nil
	}
	step := ends[0] // the first interval ends one interval after the start
	for i := 1; i < len(ends); i++ {
		step = math.Min(step, ends[i]-ends[i-1])
	}
	slots := int(ends[len(ends)-1]/step) - int(ends[0]/step) + 1
	if slots > 4*len(ends)+64 {
		return nil, nil, bench.Errorf(bench.KindInvalid, "secs_elapsed runs to %g in %d rows: most intervals are missing", ends[len(ends)-1], len(ends))
	}
	place := func(end float64) int { return int(math.Round((end - ends[0]) / step)) }
	missing := 0
	for c, name := range columns[1:] {
		s := bench.TimeSeries{Name: string(trimSpace(name)), StartS: ends[0], StepS: step, Values: make([]float64, place(ends[len(ends)-1])+1)}
		if c == 0 {
			s.Name, s.Unit = "qps", "1/s"
		}
		for i := range s.Values {
			s.Values[i] = math.NaN()
		}
		before := 0.0
		for i, end := range ends {
			v := rows[c][i]
			if c == 0 {
				v /= end - before
			}
			before = end
			s.Values[place(end)] = v
		}
		if c == 0 {
			for _, v := range s.Values {
				if math.IsNaN(v) {
					missing++
				}
			}
		}
		series = append(series, s)
	}
	if missing > 0 {
		messages = append(messages, bench.Message{File: in.path, Text: fmt.Sprintf("%d of %d intervals of %g s are missing; the row after a gap covers it", missing, len(series[0].Values), step)})
	}
	return series, messages, nil
}

// readReportFile reads a --report_file by itself: it belongs to a step, which
// its log in the same upload tells (see [claimLogs]), and is never a benchmark of
// its own.
func readReportFile(in *input) output {
	_, messages, err := readIntervals(in)
	if err != nil {
		return refused(asMessage(in.path, err))
	}
	messages = append(messages, bench.Message{File: in.path, Text: "operations per interval of one step; they are shown with it when its log is in the same upload (NAME for NAME.r.csv)"})
	return output{state: bench.FileAttachment, messages: messages}
}
