package ingest

import (
	"bytes"
	"math"
	"strconv"
)

// Figure is a number as a program printed it. Text is "" where the source has
// no such number; Value is then 0 and means nothing.
type Figure struct {
	Text  string
	Value float64
}

// Known reports whether the figure was printed and is a finite number; db_bench
// prints nan and inf where it divides by zero.
func (f Figure) Known() bool {
	return f.Text != "" && !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0)
}

// Resolution is the smallest step that the printed digits can show: 0.01 for
// 3.93, 1 for 517.
func (f Figure) Resolution() float64 { return decimalStep(f.Text) }

// decimalStep gives 10^-d for a number printed with d digits after the point.
func decimalStep[T string | []byte](text T) float64 {
	for i := 0; i < len(text); i++ {
		if text[i] == '.' {
			digits := 0
			for j := i + 1; j < len(text) && text[j] >= '0' && text[j] <= '9'; j++ {
				digits++
			}
			return 1 / tenTo(digits)
		}
	}
	return 1
}

// tenTo gives 10^n for small n, exactly.
func tenTo(n int) float64 {
	if n < len(powersOfTen) {
		return powersOfTen[n]
	}
	return math.Pow10(n)
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// newFigure reads a word as a figure; ok is false when it is no number at all.
// nan and inf are numbers here: they keep the line readable.
func newFigure(word []byte) (f Figure, ok bool) {
	v, ok := parseNumber(word)
	if !ok {
		return Figure{}, false
	}
	return Figure{Text: string(word), Value: v}, true
}

// parseNumber reads a decimal number. Plain decimals of up to 15 digits, which
// is all of a log but its oddities, take no detour through a string: both
// factors are exact, so that the one rounding of the division is the right one.
func parseNumber(b []byte) (float64, bool) {
	i, neg := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	var mantissa uint64
	digits, decimals, point := 0, 0, false
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				decimals++
			}
		case c == '.' && !point:
			point = true
		default:
			return parseOddNumber(b)
		}
		if digits > 15 {
			return parseOddNumber(b)
		}
	}
	if digits == 0 {
		return 0, false
	}
	v := float64(mantissa) / powersOfTen[decimals]
	if neg {
		v = -v
	}
	return v, true
}

// parseOddNumber reads what parseNumber leaves: many digits, exponents, nan, inf.
func parseOddNumber(b []byte) (float64, bool) {
	if len(b) > 400 { // %f of the largest float64 has 316 characters
		return 0, false
	}
	for _, c := range b {
		// ParseFloat admits underscores and hexadecimal digits; printf does not print them.
		if c == '_' || c == 'x' || c == 'X' || c == 'p' || c == 'P' {
			return 0, false
		}
	}
	word := string(b)
	if word == "-nan" {
		word = "nan"
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, false
	}
	return v, true
}

// parseCount reads digits that make up a whole word.
func parseCount(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		d := uint64(c - '0')
		if n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// trimSpace removes blanks and tabs at both ends; unlike bytes.TrimSpace it
// looks at single bytes only.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// nextWord splits off the first word; word is empty at the end.
func nextWord(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	j := i
	for j < len(b) && b[j] != ' ' && b[j] != '\t' {
		j++
	}
	return b[i:j], b[j:]
}

// hasPrefix is bytes.HasPrefix for a constant, without the conversion.
func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// cutPrefix removes a constant prefix.
func cutPrefix(b []byte, prefix string) ([]byte, bool) {
	if !hasPrefix(b, prefix) {
		return b, false
	}
	return b[len(prefix):], true
}

// after gives the word that follows a label: after("cumulative 1.5, …",
// "cumulative") is "1.5". Punctuation that ends a word of db_bench's sentences
// is removed.
func after(b []byte, label string) []byte {
	i := bytes.Index(b, []byte(label))
	if i < 0 {
		return nil
	}
	word, _ := nextWord(b[i+len(label):])
	return bytes.TrimRight(word, ",;")
}

// gigabytes gives the factor from a unit to GB (2^30); ok is false for words
// that are no unit of size.
func gigabytes(unit []byte) (factor float64, ok bool) {
	switch string(unit) {
	case "TB":
		return 1 << 10, true
	case "GB":
		return 1, true
	case "MB":
		return 1.0 / (1 << 10), true
	case "KB":
		return 1.0 / (1 << 20), true
	case "B":
		return 1.0 / (1 << 30), true
	}
	return 0, false
}
