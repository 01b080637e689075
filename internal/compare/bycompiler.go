package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// CompilerVerdict says what builds by other compilers say about a change: whether
// it is the code, the compiler or noise.
type CompilerVerdict string

// The verdicts of other compilers.
const (
	// CompilersNone: no other compiler was measured across the change.
	CompilersNone CompilerVerdict = ""
	// CompilersAlike: all others moved alike, and they are not one compiler in several
	// modes: the code.
	CompilersAlike CompilerVerdict = "alike"
	// CompilersOne: none of the others moved: the compiler, or noise.
	CompilersOne CompilerVerdict = "one"
	// CompilersSome: the others are of several minds, or some of them cannot tell.
	CompilersSome CompilerVerdict = "some"
	// CompilersUnclear: the noise of the others would hide such a change.
	CompilersUnclear CompilerVerdict = "unclear"
)

// ByCompiler is what builds of the same versions by other compilers say about a
// change in the same step of the same server, workload, config and clients.
type ByCompiler struct {
	Verdict CompilerVerdict
	Own     string // compiler of the change
	// Alike moved as the change did, Unlike did not, Unclear may have.
	Alike, Unlike, Unclear []Sighting
}

// SeenBy sorts the evidence on a change by compiler.
func SeenBy(c bench.Change, e Evidence) ByCompiler {
	b := ByCompiler{Own: c.Compiler}
	others := func(list []Sighting) (out []Sighting) {
		for _, s := range list {
			same := s.Coordinate
			same.Compiler = c.Compiler
			if same == c.Coordinate && s.Compiler != c.Compiler {
				out = append(out, s)
			}
		}
		return out
	}
	b.Alike, b.Unlike, b.Unclear = others(e.Seen), others(e.NotSeen), others(e.CannotTell)
	alike, unlike, unclear := len(b.Alike) > 0, len(b.Unlike) > 0, len(b.Unclear) > 0
	switch {
	case alike && !unlike && !unclear && severalFamilies(b.Own, b.Alike):
		b.Verdict = CompilersAlike
	case unlike && !alike && !unclear:
		b.Verdict = CompilersOne
	case alike || unlike:
		b.Verdict = CompilersSome
	case unclear:
		b.Verdict = CompilersUnclear
	}
	return b
}

// severalFamilies reports whether builds are by more than one compiler: clang and
// clang+lto are one.
func severalFamilies(own string, list []Sighting) bool {
	family := func(c string) string {
		name, _, _ := strings.Cut(c, "+")
		return name
	}
	return slices.ContainsFunc(list, func(s Sighting) bool { return family(s.Compiler) != family(own) })
}

// Text is the label of a change: seen with gcc only; the same with gcc, clang and
// clang+LTO: the code. It is "" where no other compiler was measured.
func (b ByCompiler) Text() string {
	switch b.Verdict {
	case CompilersAlike:
		return "the same with " + compilerList(b.Own, b.Alike) + ": the code"
	case CompilersOne:
		return "seen with " + compilerText(b.Own) + " only"
	case CompilersSome:
		text := "seen with " + compilerList(b.Own, b.Alike)
		if len(b.Unlike) > 0 {
			text += ", not with " + compilerList("", b.Unlike)
		}
		if len(b.Unclear) > 0 {
			text += "; cannot tell with " + compilerList("", b.Unclear)
		}
		return text
	case CompilersUnclear:
		return "cannot tell with " + compilerList("", b.Unclear)
	}
	return ""
}

// Evidence is a sentence with the figures behind the label.
func (b ByCompiler) Evidence() string {
	var parts []string
	for _, s := range slices.Concat(b.Alike, b.Unlike, b.Unclear) {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", compilerText(s.Compiler), FormatRatio(s.Ratio, &s.Low, &s.High), FormatInterval(&s.Low, &s.High)))
	}
	if len(parts) == 0 {
		return ""
	}
	text := "across the same versions, built by others: " + strings.Join(parts, ", ")
	switch b.Verdict {
	case CompilersAlike:
		text += ". One cause in all builds is the code before any compiler"
	case CompilersOne:
		text += ". The same code does not do it there: look at what the compiler made of it, its code layout, and at noise"
	case CompilersUnclear:
		text += ". Their noise would hide such a change: code, compiler and noise cannot be told apart"
	}
	return text
}

// compilerList names compilers: gcc, clang and clang+LTO. own comes first unless
// it is "".
func compilerList(own string, list []Sighting) string {
	var names []string
	if own != "" {
		names = append(names, own)
	}
	for _, s := range list {
		if !slices.Contains(names, s.Compiler) {
			names = append(names, s.Compiler)
		}
	}
	slices.SortFunc(names, compareCompilers)
	for i, n := range names {
		names[i] = compilerText(n)
	}
	return AndList(names)
}

// compareCompilers orders compilers as pages list them: gcc first, the others by
// name.
func compareCompilers(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "gcc":
		return -1
	case b == "gcc":
		return 1
	}
	return compareNatural(a, b)
}

// AndList joins names as a sentence does: gcc, clang and clang+LTO.
func AndList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// BuildChange is a change in a step at a version, as the builds of a place saw it.
type BuildChange struct {
	Version, Step string
	// Changes are those found, the one with the largest effect first; By is what
	// other compilers say about it.
	Changes []Judged
	By      ByCompiler
}

// ByBuilds sorts lasting changes of one place, found in builds by several
// compilers, into those that all builds that can tell share (the code) and those
// that one build alone has. In both the order is of versions, then of steps.
// Changes that some builds share, or that cannot be told, are in neither.
func ByBuilds(changes []Judged) (alike, one []BuildChange) {
	type key struct{ version, step string }
	groups := map[key]*BuildChange{}
	var order []key
	for _, c := range changes {
		if c.Shape == bench.ShapeSpike {
			continue
		}
		k := key{bench.VersionKey(c.To), bench.StepFamily(c.Step)}
		if groups[k] == nil {
			groups[k] = &BuildChange{Version: c.To, Step: c.Step}
			order = append(order, k)
		}
		groups[k].Changes = append(groups[k].Changes, c)
	}
	slices.SortStableFunc(order, func(a, b key) int {
		if a.version != b.version {
			return strings.Compare(a.version, b.version)
		}
		return bench.CompareSteps(a.step, b.step)
	})
	for _, k := range order {
		g := groups[k]
		slices.SortStableFunc(g.Changes, func(a, b Judged) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
		// A small effect is found in others more easily than a large one: the largest
		// decides.
		g.By = SeenBy(g.Changes[0].Change, g.Changes[0].Evidence)
		switch g.By.Verdict {
		case CompilersAlike:
			alike = append(alike, *g)
		case CompilersOne:
			one = append(one, *g)
		case CompilersNone, CompilersSome, CompilersUnclear:
		}
	}
	return alike, one
}
