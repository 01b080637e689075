// Package stats holds the statistics of relqps: noise of a series, intervals of
// ratios, changes on a version axis, false-discovery control, and the evidence
// that is listed beside a change. Everything is a pure function over numbers.
//
// Values are natural logarithms of a metric throughout, so that a difference is
// the logarithm of a ratio and noise is relative noise: 0.01 is one percent.
// A series is a slice of points in version order, each point the slice of all
// samples of that version; an empty point was not measured. Nothing here looks at
// medians that pages display: every sample counts.
//
// Method, formulas and measured error rates are in docs/statistics.md; the
// program in the folder calibrate reproduces its table.
package stats
