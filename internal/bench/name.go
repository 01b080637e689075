package bench

import (
	"fmt"
	"strconv"
	"strings"
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
// config, version, step) may have: whatever anybody calls something, but not a file.
const NameMax = 20_000

// NameProblem says why a name cannot be that of a server, workload, compiler, config,
// version or step, "" when it can: it is not UTF-8, holds control characters, or is
// endless. All else is text wherever it is shown, markup, formulas and marks of
// direction too.
func NameProblem(name string) string {
	if !utf8.ValidString(name) {
		return "is not UTF-8"
	}
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Sprintf("holds a control character (%U)", r)
	}
	if n := utf8.RuneCountInString(name); n > NameMax {
		return fmt.Sprintf("has %d characters, more than %d", n, NameMax)
	}
	return ""
}

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
