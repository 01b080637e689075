package bench

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// NameKind says what a name is of.
type NameKind string

// The kinds of names that can change.
const (
	NameServer   NameKind = "server"
	NameWorkload NameKind = "workload"
	NameConfig   NameKind = "config"
)

// Valid reports whether the kind is one of the three.
func (k NameKind) Valid() bool { return k == NameServer || k == NameWorkload || k == NameConfig }

// FormerName is a name that something had before it was renamed. Addresses with
// it keep working.
type FormerName struct {
	Kind NameKind
	Old  string
	New  string // what it is called now
}

// NameMax is how many characters a name of the context (server, workload, compiler,
// config, version, step) may have: far more than anything is called, few enough for
// menus and addresses.
const NameMax = 200

// NameProblem says why a name cannot be that of a server, workload, compiler, config,
// version or step, "" when it can. Two names must not look alike without being alike,
// nor change how the text around them reads: control characters, marks of direction and
// characters without width are not taken. All else is, markup and formulas too: it is
// text wherever it is shown.
func NameProblem(name string) string {
	plain := len(name) <= NameMax
	for i := 0; plain && i < len(name); i++ {
		plain = name[i] >= ' ' && name[i] < 0x7f
	}
	switch {
	case plain:
		return ""
	case !utf8.ValidString(name):
		return "is not UTF-8"
	}
	for _, r := range name {
		switch {
		case unicode.IsControl(r):
			return fmt.Sprintf("holds a control character (%U)", r)
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unseen[r]:
			return fmt.Sprintf("holds a character that nobody sees (%U)", r)
		}
	}
	if n := utf8.RuneCountInString(name); n > NameMax {
		return fmt.Sprintf("has %d characters, more than %d", n, NameMax)
	}
	return ""
}

// unseen are letters and marks without width or ink; format characters, which
// directions and joiners are, have a category of their own.
var unseen = map[rune]bool{'\u034f': true, '\u115f': true, '\u1160': true, '\u3164': true, '\uffa0': true}

// NameProblem says which of the names that a context states cannot be one, and why; ""
// when all can.
func (c Context) NameProblem() string {
	type field struct{ what, name string }
	fields := []field{
		{"system", c.System}, {"suite", c.Suite}, {"server", c.Server}, {"workload", c.Workload},
		{"version", c.Version}, {"compiler", c.Compiler}, {"config", c.Config},
	}
	for _, v := range c.Versions {
		fields = append(fields, field{"version", v})
	}
	for _, f := range fields {
		if problem := NameProblem(f.name); problem != "" {
			return fmt.Sprintf("the %s %s %s", f.what, Excerpt(f.name), problem)
		}
	}
	return ""
}

// Excerpt quotes a name for a message, what nobody sees written out, and cut where it is
// long.
func Excerpt(name string) string {
	const most = 40
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return strconv.QuoteToGraphic(name)
}
