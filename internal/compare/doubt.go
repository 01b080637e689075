package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// DoubtKind names a reason to look twice at a change.
type DoubtKind string

// The kinds of doubts.
const (
	DoubtCampaign   DoubtKind = "campaign"   // the measuring paused where the change lies
	DoubtCommon     DoubtKind = "common"     // most steps of the same runs moved alike
	DoubtUnseen     DoubtKind = "unseen"     // elsewhere the same step certainly did not move as much
	DoubtOneRun     DoubtKind = "one run"    // rests on a single sample that nothing else supports
	DoubtResolution DoubtKind = "resolution" // the source cannot show much less than the effect
	DoubtWork       DoubtKind = "work"       // other work was done, not the same work slower
)

// Doubt is a reason to look twice at a change, with its evidence. It is listed,
// never turned into a verdict.
type Doubt struct {
	Kind DoubtKind
	Text string // a few words: common mode 6 of 8
	// Evidence is a sentence with the figures behind the words.
	Evidence string
}

// Doubts lists what speaks against taking a change at its word. resolution is
// the smallest step that the source can show relative to its values, 0 when
// unknown.
func Doubts(c bench.Change, e Evidence, resolution float64) []Doubt {
	var out []Doubt
	if c.NewCampaign {
		out = append(out, Doubt{DoubtCampaign, "new campaign",
			fmt.Sprintf("the measuring paused between the runs of %s and %s on %s: more than the version may differ", c.From, c.To, c.Server)})
	}
	if moved, of, ok := e.CommonMode(); ok {
		out = append(out, Doubt{DoubtCommon, fmt.Sprintf("common mode %d of %d", moved, of), commonEvidence(c, e)})
	}
	if len(e.NotSeen) > 0 {
		out = append(out, Doubt{DoubtUnseen, "not seen on " + Places(c.Coordinate, e.NotSeen, slices.Concat(e.Seen, e.CannotTell), placesShort), unseenEvidence(c, e)})
	}
	if c.OneRun && len(e.Seen) == 0 {
		evidence := "it rests on a single run, and no other series moved with it: one bad run would look the same"
		if n := len(e.Alike); n > 0 {
			evidence = fmt.Sprintf("it rests on a single run, of which %s moved with it, and nothing elsewhere did: one bad run would look the same", countOf(n, "other step", "other steps"))
		}
		out = append(out, Doubt{DoubtOneRun, "one run", evidence})
	}
	if resolution > 0 && resolution >= math.Abs(c.Effect)/2 {
		out = append(out, Doubt{DoubtResolution, "resolution too coarse",
			fmt.Sprintf("the source prints steps of %s, the effect is %s", percentOf(resolution), percentOf(math.Abs(math.Expm1(c.Effect))))})
	}
	return out
}

// placesShort is how many places a few words name.
const placesShort = 3

func percentOf(share float64) string {
	return strings.TrimPrefix(FormatPercent(1+share), "+")
}

// commonEvidence names the steps that moved alike, and those that did not.
func commonEvidence(c bench.Change, e Evidence) string {
	list := func(s []Sighting) string {
		var parts []string
		for _, x := range s {
			parts = append(parts, fmt.Sprintf("%s %s", x.Step, FormatRatio(x.Ratio, &x.Low, &x.High)))
		}
		return strings.Join(parts, ", ")
	}
	text := fmt.Sprintf("of the same runs moved alike: %s", list(e.Alike))
	if len(e.Steady) > 0 {
		text += "; did not: " + list(e.Steady)
	}
	if len(e.Unclear) > 0 {
		text += "; cannot tell: " + list(e.Unclear)
	}
	return text + ". Unrelated steps rarely change at one release: look at what they share, the machine, the build and the kernel, before the code of one"
}

func unseenEvidence(c bench.Change, e Evidence) string {
	list := func(s []Sighting) string {
		var parts []string
		for _, x := range s {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", Place(c.Coordinate, x.Coordinate), FormatRatio(x.Ratio, &x.Low, &x.High), FormatInterval(&x.Low, &x.High)))
		}
		return strings.Join(parts, ", ")
	}
	text := "across the same versions elsewhere: " + list(e.NotSeen)
	if len(e.Seen) > 0 {
		text += "; seen on " + list(e.Seen)
	}
	if len(e.CannotTell) > 0 {
		text += "; cannot tell: " + list(e.CannotTell)
	}
	return text
}

// Place names a coordinate by what differs from another of the same step: u5,
// iodir, u5 iobuf, clang.
func Place(from, other bench.Coordinate) string {
	var parts []string
	if other.Server != from.Server {
		parts = append(parts, other.Server)
	}
	if other.Workload != from.Workload {
		parts = append(parts, other.Workload)
	}
	if other.Compiler != from.Compiler {
		parts = append(parts, compilerText(other.Compiler))
	}
	if other.Config != from.Config {
		if other.Config == "" {
			parts = append(parts, "no config")
		} else {
			parts = append(parts, other.Config)
		}
	}
	if other.Clients != from.Clients && len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d clients", other.Clients))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// compilerText writes a compiler as its makers do.
func compilerText(c string) string {
	if c == "clang+lto" {
		return "clang+LTO"
	}
	return c
}

// Places names where sightings are, other servers first, at most so many of them:
// u5, iodir and 2 more. A server stands for all that was measured there where the
// sightings of the other kinds have nothing of it.
func Places(from bench.Coordinate, list, others []Sighting, most int) string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	on := func(list []Sighting, server string) (n int) {
		for _, s := range list {
			if s.Server == server {
				n++
			}
		}
		return n
	}
	for _, s := range list {
		switch {
		case s.Server == from.Server:
		case on(list, s.Server) > 1 && on(others, s.Server) == 0:
			add(s.Server)
		default:
			like := from
			if on(list, s.Server)+on(others, s.Server) > 1 {
				like.Workload = "" // one of several there: the workload is named even where it is that of the change
			}
			add(Place(like, s.Coordinate))
		}
	}
	for _, s := range list {
		if s.Server == from.Server {
			add(Place(from, s.Coordinate))
		}
	}
	if len(names) > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Resolution gives the smallest step that the source of a series can show,
// relative to its values: an integer p99 of 3 cannot show less than a third. 0
// when unknown.
func Resolution(s bench.Series) float64 { return relativeResolution(s.Points) }
