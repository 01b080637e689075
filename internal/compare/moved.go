package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// Across gives how a line moved across a change that was found in another: the
// mean of up to three versions on either side, of a spike its versions against
// those on both sides of it. ok is false where the line was not measured there, or
// its noise is unknown.
func Across(c bench.FoundChange, l Line) (s Sighting, ok bool) {
	e := locate(c).across(&l)
	if !e.OK {
		return Sighting{}, false
	}
	return sightingOf(l.Coordinate, e), true
}

// MetricMove is how a metric of the same coordinate moved where a change lies.
type MetricMove struct {
	Line Line // without base
	// From and To are the points at the change's two versions, nil where the metric
	// is missing there; missing is never zero.
	From, To *Point
	// Ratio is To over From with its interval, as [Across] gives it where Levels is
	// set, else of the two versions alone. OK is false without one.
	Ratio, Low, High float64
	OK, Levels       bool
	// Score is the effect in units of its standard error, 0 where it cannot be told.
	Score   float64
	Verdict Verdict
}

// MetricMoves gives how the metrics of a change's coordinate moved with it, those
// that moved furthest beyond their noise first. The change's own metric is first
// of all, and CPU per operation beside it: whether an operation costs more is what a
// change of rates is first asked. Where more or less was done, totals (CPU seconds,
// bytes written) are not called better or worse, only moved: a step of a fixed time
// that got slower writes less. Lines must be without base.
func MetricMoves(c bench.Change, lines []Line) []MetricMove {
	var out []MetricMove
	for _, l := range lines {
		m := MetricMove{Line: l, From: l.At(c.From), To: l.At(c.To)}
		if m.From == nil && m.To == nil {
			continue
		}
		s, ok := Across(c.FoundChange, l)
		if ok {
			m.Ratio, m.Low, m.High, m.OK, m.Levels = s.Ratio, s.Low, s.High, true, true
			if half := math.Log(s.High/s.Low) / 2; half > 0 && l.Multiplier > 0 {
				m.Score = math.Abs(math.Log(s.Ratio)) / (half / l.Multiplier)
			}
			r := s.Ratio
			m.Verdict = Judge(Point{Relative: &r, Low: &s.Low, High: &s.High}, l.Metric.Direction)
		} else if m.From != nil && m.To != nil && m.From.HasLog && m.To.HasLog {
			m.Ratio, m.OK = m.To.Value/m.From.Value, true
		}
		out = append(out, m)
	}
	if otherAmount(c, out) {
		for i := range out {
			if m := &out[i]; totals[m.Line.Metric.Name] && (m.Verdict == Better || m.Verdict == Worse) {
				m.Verdict = Moved
			}
		}
	}
	rank := func(m MetricMove) int {
		switch {
		case m.Line.Metric.Name == c.Metric.Name:
			return 0
		case m.Line.Metric.Name == "cpu_us_per_op":
			return 1
		case m.Verdict == Better || m.Verdict == Worse || m.Verdict == Moved:
			return 2
		case m.OK:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(out, func(a, b MetricMove) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(b.Score, a.Score), bench.CompareMetrics(a.Line.Metric.Name, b.Line.Metric.Name))
	})
	return out
}

// totals are the metrics that grow with what was done.
var totals = map[string]bool{
	"user_cpu_s": true, "system_cpu_s": true, "server_cpu_s": true, "compaction_cpu_s": true, "compaction_wall_s": true, "stall_s": true,
	"compaction_write_gb": true, "compaction_read_gb": true, "blob_read_gb": true, "blob_write_gb": true, "read_io_gb": true, "write_io_gb": true,
	"db_size_gb": true, "blob_size_gb": true, "total_size_gb": true, "rss_gb": true,
}

// sameAmount is by how much, in ln units, the number of operations may differ for
// the work to count as the same.
const sameAmount = 0.05

// otherAmount tells whether the number of operations changed: as counted, else by
// the rate times the seconds.
func otherAmount(c bench.Change, moves []MetricMove) bool {
	ratio := map[string]float64{}
	for _, m := range moves {
		if m.OK && m.Ratio > 0 {
			ratio[m.Line.Metric.Name] = m.Ratio
		}
	}
	if n, ok := ratio["operations"]; ok {
		return math.Abs(math.Log(n)) > sameAmount
	}
	rate, ok := ratio[c.Metric.Name]
	for _, seconds := range []string{"elapsed_s", "uptime_s"} {
		if s, timed := ratio[seconds]; ok && timed {
			return math.Abs(math.Log(rate*s)) > sameAmount
		}
	}
	return false
}

// PerOperation makes the figures per operation of a coordinate from its other
// metrics, sample by sample; a sample that lacks an input has none. Operations
// are as counted, else the rate times the elapsed seconds, else times the uptime
// of the database.
func PerOperation(series []bench.Series) []bench.Series {
	by := map[string]map[int64]bench.Sample{} // metric → result → sample
	var first *bench.Series
	for i, s := range series {
		m := map[int64]bench.Sample{}
		for _, p := range s.Points {
			for _, x := range p.Samples {
				m[x.ResultID] = x
			}
		}
		by[s.Metric.Name] = m
		if s.Metric.Name == bench.PrimaryMetric(s.Suite, s.Step) {
			first = &series[i]
		}
	}
	if first == nil {
		return nil
	}
	rate := first.Metric.Name
	operations := func(result int64) (float64, bool) {
		if n, ok := by["operations"][result]; ok && n.Value > 0 {
			return n.Value, true
		}
		for _, seconds := range []string{"elapsed_s", "uptime_s"} {
			s, ok := by[seconds][result]
			if r, known := by[rate][result]; ok && known && r.Value > 0 && s.Value > 0 {
				return r.Value * s.Value, true
			}
		}
		return 0, false
	}
	var out []bench.Series
	for _, d := range perOperation {
		if _, measured := by[d.metric.Name]; measured {
			continue // the source states it
		}
		s := bench.Series{Coordinate: first.Coordinate, Metric: d.metric}
		for _, p := range first.Points {
			q := bench.Point{Version: p.Version}
			for _, x := range p.Samples {
				n, ok := operations(x.ResultID)
				sum, resolution := 0.0, 0.0
				for _, input := range d.inputs {
					v, has := by[input][x.ResultID]
					ok = ok && has
					sum += v.Value
					resolution += v.Resolution
				}
				if !ok {
					continue
				}
				x.Value, x.Resolution = sum*d.factor/n, resolution*d.factor/n
				q.Samples = append(q.Samples, x)
			}
			if len(q.Samples) > 0 {
				s.Points = append(s.Points, q)
			}
		}
		if len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// perOperation are the derived metrics: the sum of the inputs times factor, per
// operation.
var perOperation = []struct {
	metric bench.Metric
	inputs []string
	factor float64
}{
	{bench.Metric{Name: "cpu_us_per_op", Unit: "µs", Direction: bench.LowerBetter, Title: "CPU per operation", About: "user and system CPU of the process per operation"}, []string{"user_cpu_s", "system_cpu_s"}, 1e6},
	{bench.Metric{Name: "compaction_cpu_us_per_op", Unit: "µs", Direction: bench.LowerBetter, Title: "compaction CPU per operation", About: "CPU spent in compaction per operation"}, []string{"compaction_cpu_s"}, 1e6},
	{bench.Metric{Name: "compaction_write_bytes_per_op", Unit: "B", Direction: bench.LowerBetter, Title: "compaction write per operation", About: "bytes written by compaction, flush included, per operation"}, []string{"compaction_write_gb"}, 1 << 30},
	{bench.Metric{Name: "read_io_bytes_per_op", Unit: "B", Direction: bench.LowerBetter, Title: "storage read per operation", About: "bytes read from storage per operation"}, []string{"read_io_gb"}, 1 << 30},
	{bench.Metric{Name: "write_io_bytes_per_op", Unit: "B", Direction: bench.LowerBetter, Title: "storage write per operation", About: "bytes written to storage per operation"}, []string{"write_io_gb"}, 1 << 30},
}

// workMetrics count work that a step does; where they move far more than its
// rate, other work was done.
var workMetrics = []string{"compaction_write_gb", "compaction_read_gb", "ingest_gb", "db_size_gb"}

// workFactor is from which on a metric of work moved so far that it is worth a
// remark: noise of compaction stays below.
const workFactor = 3

// WorkDiffers gives the doubt that other work was done at a change: a metric of
// work moved threefold or more, and so did the work per operation (in a step of
// fixed duration the work follows the rate). ok is false where none did.
func WorkDiffers(c bench.Change, moves []MetricMove) (d Doubt, ok bool) {
	far := 0.0
	for _, m := range moves {
		if !slices.Contains(workMetrics, m.Line.Metric.Name) || m.From == nil || m.To == nil || m.From.Value <= 0 || m.To.Value <= 0 {
			continue
		}
		ratio := m.To.Value / m.From.Value
		moved := math.Abs(math.Log(ratio))
		if moved < math.Log(workFactor) || math.Abs(math.Log(ratio)-c.Effect) < math.Log(workFactor) || moved <= far {
			continue
		}
		far, ok = moved, true
		times := "×" + thinSpace + significant(ratio)
		d = Doubt{DoubtWork, "work differs", m.Line.Metric.Title + " " + times + " at " + c.To + " (" +
			FormatShort(m.From.Value) + " → " + FormatShort(m.To.Value) + " " + m.Line.Metric.Unit + "): not the same work done slower"}
	}
	return d, ok
}
