package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// The practical rule. Where every config was run once no significance test can
// speak. This rule marks what a person would call worse all the same, by bounds
// that are set by hand and not by noise: it is labelled as what it is wherever it
// shows.
const (
	// PracticalRatio: worse below this part of the base's rate.
	PracticalRatio = 0.95
	// PracticalSeconds: worse below this part of the rate that 99 % of the base's
	// seconds reach.
	PracticalSeconds = 0.8
	// PracticalSlowUS: responses longer than this count as slow; worse where their
	// share grew more than PracticalGrowth times and is over PracticalShare.
	PracticalSlowUS = 4000
	PracticalGrowth = 3
	PracticalShare  = 0.1 // percent
)

// PracticalRule says the rule in words, for pages and answers.
const PracticalRule = "a practical rule, not a test: worse where the rate is below 0.95 of the base's, or the rate of the 99th-percentile second below 0.8, " +
	"or the share of responses over 4 ms (of inserts where a step is judged by rows, else of queries) grew more than threefold and is over 0.1 %"

// PracticalFigures is what the rule looks at; nil is what was not measured.
type PracticalFigures struct {
	Ratio   *float64 // of rates; where less is better the base's figure by the arm's
	Seconds *float64 // ratio of the p99-second rates
	// Shares of responses over 4 ms, in percent.
	BaseSlow, Slow *float64
}

// Practical is what the rule says of an arm.
type Practical struct {
	PracticalFigures
	Worse   bool
	Reasons []string // in words
}

// JudgePractical applies the rule.
func JudgePractical(f PracticalFigures) Practical {
	p := Practical{PracticalFigures: f}
	if f.Ratio != nil && *f.Ratio < PracticalRatio {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%.3f of the base's rate", *f.Ratio))
	}
	if f.Seconds != nil && *f.Seconds < PracticalSeconds {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%.3f of the base's p99 second", *f.Seconds))
	}
	if f.BaseSlow != nil && f.Slow != nil && *f.Slow > PracticalShare && *f.Slow > PracticalGrowth**f.BaseSlow {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%.3f%s%% of responses over 4 ms, the base %.3f%s%%", *f.Slow, thinSpace, *f.BaseSlow, thinSpace))
	}
	p.Worse = len(p.Reasons) > 0
	return p
}

// ShareOver gives the share of responses longer than a time, in percent. ok is
// false where no bucket begins there or nothing was counted.
func ShareOver(h bench.Histogram, us float64) (percent float64, ok bool) {
	shares := h.Percents
	if shares == nil {
		shares = h.Counts
	}
	at := slices.Index(h.Bounds, us)
	if at < 0 || len(shares) != len(h.Bounds) {
		return 0, false
	}
	over, all := 0.0, 0.0
	for i, s := range shares {
		all += s
		if i > at {
			over += s
		}
	}
	switch {
	case h.Percents != nil:
		return over, true
	case all <= 0:
		return 0, false
	}
	return 100 * over / all, true
}

// DecisiveOperation names the operation whose responses decide a step: inserts
// where rows a second do, else queries.
func DecisiveOperation(metric string) string {
	if metric == "ips" {
		return "insert"
	}
	return "query"
}

// judgePractical applies the rule to all cells that have a base at the same
// version. seconds are the series of p99_second_rate of the same coordinates,
// distributions those of the runs of the cells.
func (a *Arms) judgePractical(base string, seconds []bench.Series, distributions []bench.Distribution) {
	rates := CompareArms(seconds, a.Axis, base, "", nil)
	second := func(row *ArmRow, arm string) *float64 {
		for i := range rates.Rows {
			r := &rates.Rows[i]
			if r.Coordinate == row.Coordinate && bench.CompareVersions(r.Version, row.Version) == 0 {
				if c := r.Cell(arm); c != nil {
					return c.Relative
				}
			}
		}
		return nil
	}
	for i := range a.Rows {
		row := &a.Rows[i]
		from := row.Cell(base)
		if from == nil || row.Metric.Direction == bench.Neutral {
			continue
		}
		baseSlow := slowShare(row, from.Runs, distributions)
		for j := range row.Cells {
			c := &row.Cells[j]
			if c.Point == nil || c.Arm == base || c.Relative == nil || c.Flagged || from.Flagged {
				continue
			}
			var f PracticalFigures
			if c.Low == nil { // with an interval it is the test that speaks of the ratio
				f.Ratio = c.Relative
			}
			if row.Metric.Name == bench.PrimaryMetric(row.Suite, row.Step) { // seconds and responses say nothing of memory
				f.Seconds, f.BaseSlow, f.Slow = second(row, c.Arm), baseSlow, slowShare(row, c.Runs, distributions)
			}
			if f.Ratio != nil && row.Metric.Direction == bench.LowerBetter && *c.Relative > 0 {
				inverse := 1 / *c.Relative
				f.Ratio = &inverse
			}
			p := JudgePractical(f)
			if f.Ratio != nil && row.Metric.Direction == bench.LowerBetter && p.Worse && *f.Ratio < PracticalRatio {
				p.Reasons[0] = fmt.Sprintf("%.3f times the base's %s", *c.Relative, row.Metric.Title)
			}
			c.Practical = &p
		}
	}
}

// slowShare gives the share of slow responses in the runs of a cell, the mean
// over its runs; nil without distributions.
func slowShare(row *ArmRow, runs []int64, distributions []bench.Distribution) *float64 {
	sum, n := 0.0, 0
	for i := range distributions {
		d := &distributions[i]
		if d.Step != row.Step || d.Operation != DecisiveOperation(row.Metric.Name) || !slices.Contains(runs, d.RunID) {
			continue
		}
		if share, ok := ShareOver(d.Histogram, PracticalSlowUS); ok {
			sum, n = sum+share, n+1
		}
	}
	if n == 0 {
		return nil
	}
	// The sources print three decimals: what lies far beyond is of binary arithmetic.
	mean := math.Round(sum/float64(n)*1e9) / 1e9
	return &mean
}
