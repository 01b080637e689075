package compare

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Characters that figures are set with.
const (
	thinSpace = "\u2009"
	minus     = "\u2212"
	enDash    = "\u2013"
	// Missing stands for a figure that was not measured; never 0.
	Missing = "\u2014"
)

// FormatRatio shows a relative value with two decimals, with three where the
// half width of its interval is below 0.005. low and high may be nil.
func FormatRatio(r float64, low, high *float64) string {
	return strconv.FormatFloat(r, 'f', ratioDecimals(low, high), 64)
}

func ratioDecimals(low, high *float64) int {
	if low != nil && high != nil && *high > *low && (*high-*low)/2 < 0.005 {
		return 3
	}
	return 2
}

// FormatInterval shows an interval as 0.93–0.96, [Missing] without one.
func FormatInterval(low, high *float64) string {
	if low == nil || high == nil {
		return Missing
	}
	d := ratioDecimals(low, high)
	return strconv.FormatFloat(*low, 'f', d, 64) + enDash + strconv.FormatFloat(*high, 'f', d, 64)
}

// FormatPercent shows a relative value as a change: −7.0 % for 0.93.
func FormatPercent(r float64) string {
	p := math.Round((r-1)*1000) / 10
	switch {
	case p > 0:
		return "+" + strconv.FormatFloat(p, 'f', 1, 64) + thinSpace + "%"
	case p < 0:
		return minus + strconv.FormatFloat(-p, 'f', 1, 64) + thinSpace + "%"
	}
	return "0.0" + thinSpace + "%"
}

// FormatShort shows a figure with three significant digits and K, M or G where
// it is a large rate: 2.07 M, 233 K, 0.0123.
func FormatShort(v float64) string {
	a := math.Abs(v)
	for _, s := range []struct {
		from float64
		div  float64
		name string
	}{{999.5e6, 1e9, "G"}, {999.5e3, 1e6, "M"}, {9999.5, 1e3, "K"}} {
		if a >= s.from {
			return significant(v/s.div) + thinSpace + s.name
		}
	}
	return significant(v)
}

// significant shows three significant digits without an exponent.
func significant(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits < 0 {
		digits = 0
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	// 9.996 rounds up to 10.00: one digit too many.
	if r, err := strconv.ParseFloat(s, 64); err == nil && r != 0 {
		if d := 2 - int(math.Floor(math.Log10(math.Abs(r)))); d < digits && d >= 0 {
			s = strconv.FormatFloat(v, 'f', d, 64)
		}
	}
	return strings.Replace(s, "-", minus, 1)
}

// FormatFull shows a figure with all its digits and thousands grouped by
// commas: 1,671,040.
func FormatFull(v float64) string {
	// What is beyond 15 digits is of binary arithmetic: a median of 998.0 and 998.2.
	if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64); err == nil {
		v = r
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	whole, frac, hasFrac := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if hasFrac {
		b.WriteString("." + frac)
	}
	if neg {
		return minus + b.String()
	}
	return b.String()
}

// CSVText guards a text cell of a CSV file against being run as a formula by a
// spreadsheet: one that begins with = + - @ (also in their full-width forms), tab or
// a line end gets an apostrophe in front (OWASP, CSV Injection).
func CSVText(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@＝＋－＠\t\r\n", first) {
		return "'" + s
	}
	return s
}
