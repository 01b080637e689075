package compare

import (
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// BuildSet is what is known of the builds of one compiler. Lists hold each value
// once, in the order in which versions first have it; empty ones were not stored.
type BuildSet struct {
	Compiler string
	Builds   int // different versions
	// CompilerVersions are the compiler's own.
	CompilerVersions []string
	// Commands are the build command lines, Flags the flags beside them.
	Commands, Flags []string
	// Differ are the words of commands and flags that not all sets share.
	Differ []string
}

// Stored reports whether anything is known that a build can be repeated from.
func (s BuildSet) Stored() bool { return len(s.Commands) > 0 || len(s.Flags) > 0 }

// BuildSets gathers builds by compiler, in the order of compilers; builds of others
// are left out. Builds must be in the order of their versions.
func BuildSets(builds []bench.Build, compilers []string) []BuildSet {
	sets := make([]BuildSet, 0, len(compilers))
	words := map[string][]string{} // by compiler
	stored := 0
	for _, c := range compilers {
		s := BuildSet{Compiler: c}
		versions := map[string]bool{}
		for _, b := range builds {
			if b.Compiler != c {
				continue
			}
			if k := bench.VersionKey(b.Version); !versions[k] {
				versions[k] = true
				s.Builds++
			}
			addTo := func(list *[]string, v string) {
				if v != "" && !slices.Contains(*list, v) {
					*list = append(*list, v)
				}
			}
			addTo(&s.CompilerVersions, b.CompilerVersion)
			addTo(&s.Commands, b.Command)
			addTo(&s.Flags, b.Flags)
		}
		for _, text := range append(slices.Clone(s.Commands), s.Flags...) {
			for _, w := range commandWords(text) {
				if !slices.Contains(words[c], w) {
					words[c] = append(words[c], w)
				}
			}
		}
		if s.Stored() {
			stored++
		}
		sets = append(sets, s)
	}
	for i := range sets {
		s := &sets[i]
		for _, w := range words[s.Compiler] {
			in := 0
			for _, other := range sets {
				if slices.Contains(words[other.Compiler], w) {
					in++
				}
			}
			if stored > 1 && in < stored {
				s.Differ = append(s.Differ, w)
			}
		}
	}
	return sets
}

// commandWords cuts a command line into words; quoted ones stay whole, with their
// quotes.
func commandWords(line string) []string {
	var out []string
	var b strings.Builder
	quote := rune(0)
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for _, r := range line {
		switch {
		case quote != 0:
			b.WriteRune(r)
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
			b.WriteRune(r)
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			flush()
		default:
			b.WriteRune(r)
		}
	}
	flush()
	// A line that goes on behind a backslash is one line.
	return slices.DeleteFunc(out, func(w string) bool { return w == "\\" })
}
