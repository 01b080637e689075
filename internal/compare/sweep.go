package compare

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Sweep is an option that was measured at several values with nothing else in the
// options changed: the value is the free axis.
type Sweep struct {
	System   string
	Suite    string
	Server   string // "": each value on servers of its own
	Workload string
	Option   bench.OptionName
	Arms     []SweepArm // in order of their numbers, the one that does not set it first
	// Left are values that were measured in the same place with a few other options
	// changed too, and are no arms therefore.
	Left []LeftArm
}

// LeftArm is a value that is left out of a sweep.
type LeftArm struct {
	SweepArm
	Differs []bench.OptionName // beside the option itself
}

// leftDiffers is how many other options a value may differ in to be told of: one
// that differs in more is of another experiment.
const leftDiffers = 3

// SweepArm is a value of the option with the runs that were made with it.
type SweepArm struct {
	Set     bool // false: no config or command line says it, and the program's default holds
	Number  float64
	Written string   // as written: 8G, 4096
	Configs []string // names, "" among them where a run has none
	Runs    []int64
}

// notSet names the arm of the runs that do not set the option.
const notSet = "not set"

// Name is the arm's value in one form, for addresses and for comparing: 4096, or
// "not set".
func (a *SweepArm) Name() string {
	if !a.Set {
		return notSet
	}
	return strconv.FormatFloat(a.Number, 'f', -1, 64)
}

// Label is the arm's value for people: 4 KiB of a size in bytes that nothing was
// written about, else as written.
func (a *SweepArm) Label(option bench.OptionName) string {
	if !a.Set {
		return notSet
	}
	if a.Written != a.Name() || !isSize(option.Key) {
		return a.Written
	}
	for _, u := range []struct {
		bytes float64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n := a.Number / u.bytes; n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64) + " " + u.name
		}
	}
	return a.Written
}

// isSize reports whether an option is a number of bytes by its name.
func isSize(key string) bool {
	return strings.HasSuffix(key, "_size") && key != "key_size" && key != "value_size" || strings.HasSuffix(key, "_bytes") || strings.HasSuffix(key, "_buffer")
}

// Configs names the configs of all arms, each once.
func (s *Sweep) Configs() []string {
	var out []string
	for i := range s.Arms {
		for _, c := range s.Arms[i].Configs {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Runs lists the runs of all arms, in order.
func (s *Sweep) Runs() []int64 {
	var out []int64
	for i := range s.Arms {
		out = append(out, s.Arms[i].Runs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Arm gives the arm of a name, nil where there is none.
func (s *Sweep) Arm(name string) *SweepArm {
	for i := range s.Arms {
		if s.Arms[i].Name() == name {
			return &s.Arms[i]
		}
	}
	return nil
}

// notSwept are options that people do not choose a value of: a sweep over them
// says nothing.
var notSwept = []string{"seed", "port", "entries", "filesize", "rawsize"}

// sweepPlace is all but the options that runs must share to be arms of a sweep.
type sweepPlace struct {
	system, suite, server, workload, version, compiler string
	clients                                            int
}

// variant is a set of options with the runs that were made with it.
type variant struct {
	options map[bench.OptionName]bench.Setting
	all     uint64 // the set's fingerprint
	configs []string
	servers []string
	runs    []int64
}

// fingerprint of one setting. Those of a set are added up, so that one option can
// be taken out again.
func fingerprint(n bench.OptionName, s bench.Setting) uint64 {
	value := s.Value
	switch value {
	case "1":
		value = "ON" // see [bench.Setting.Same]
	case "0":
		value = "OFF"
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(n.Scope + "\x00" + n.Key + "\x00" + value)) // never fails
	return h.Sum64()
}

// FindSweeps lists the sweeps among runs, those of the most values first. Two runs
// are arms of one where their options differ in one number only, whatever the
// configs are called. Values that were each measured on a server of their own make
// a sweep too, which [CompareSweep] says plainly.
func FindSweeps(runs []bench.RunFacts, configs []bench.StoredConfig) []Sweep {
	sets := ConfigSets(configs)
	var out []Sweep
	at := map[string]int{}
	for _, apart := range []bool{false, true} {
		places := map[sweepPlace][]*variant{}
		var order []sweepPlace
		for i := range runs {
			r := &runs[i]
			p := sweepPlace{r.System, r.Suite, r.Server, r.Workload, bench.VersionKey(r.Build.Version), r.Build.Compiler, r.Clients}
			if apart {
				p.server = ""
			}
			options := OptionsOf(r, sets)
			all := uint64(0)
			for n, s := range options {
				all += fingerprint(n, s)
			}
			if places[p] == nil {
				order = append(order, p)
			}
			j := slices.IndexFunc(places[p], func(v *variant) bool { return v.all == all })
			if j < 0 {
				j = len(places[p])
				places[p] = append(places[p], &variant{options: options, all: all})
			}
			v := places[p][j]
			v.runs = append(v.runs, r.ID)
			if !slices.Contains(v.configs, r.Config) {
				v.configs = append(v.configs, r.Config)
			}
			if !slices.Contains(v.servers, r.Server) {
				v.servers = append(v.servers, r.Server)
			}
		}
		for _, p := range order {
			for _, s := range sweepsAt(p, places[p], apart) {
				key := fmt.Sprint(s.System, "\x00", s.Suite, "\x00", s.Server, "\x00", s.Workload, "\x00", s.Option)
				for i := range s.Arms {
					slices.Sort(s.Arms[i].Configs)
					key += fmt.Sprint("\x00", s.Arms[i].Name(), s.Arms[i].Configs)
				}
				if j, ok := at[key]; ok { // the same at another version or by another compiler
					for i := range s.Arms {
						out[j].Arms[i].Runs = append(out[j].Arms[i].Runs, s.Arms[i].Runs...)
					}
					continue
				}
				at[key] = len(out)
				out = append(out, s)
			}
		}
	}
	for i := range out {
		for j := range out[i].Arms {
			slices.Sort(out[i].Arms[j].Runs)
		}
	}
	slices.SortStableFunc(out, func(a, b Sweep) int {
		return cmp.Or(len(b.Arms)-len(a.Arms), strings.Compare(a.System, b.System), strings.Compare(a.Suite, b.Suite), strings.Compare(a.Server, b.Server),
			strings.Compare(a.Workload, b.Workload), strings.Compare(a.Option.String(), b.Option.String()), slices.Compare(a.Configs(), b.Configs()))
	})
	return out
}

// differing lists the options in which two sets differ, one left out.
func differing(a, b map[bench.OptionName]bench.Setting, but bench.OptionName) []bench.OptionName {
	var out []bench.OptionName
	for _, pair := range [][2]map[bench.OptionName]bench.Setting{{a, b}, {b, a}} {
		for n, s := range pair[0] {
			other, set := pair[1][n]
			if n != but && (!set || fingerprint(n, s) != fingerprint(n, other)) && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, func(a, b bench.OptionName) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// sweepsAt finds the sweeps of one place.
func sweepsAt(p sweepPlace, variants []*variant, apart bool) []Sweep {
	if len(variants) < 2 {
		return nil
	}
	var names []bench.OptionName
	seen := map[bench.OptionName]bool{}
	for _, v := range variants {
		for n, s := range v.options {
			if _, ok := numberOf(s); ok && !seen[n] && !slices.Contains(notSwept, n.Key) {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	slices.SortFunc(names, func(a, b bench.OptionName) int { return strings.Compare(a.String(), b.String()) })
	var out []Sweep
	for _, n := range names {
		groups := map[uint64][]*variant{}
		var order []uint64
		for _, v := range variants {
			rest := v.all
			s, set := v.options[n]
			if set {
				rest -= fingerprint(n, s)
			}
			if _, ok := numberOf(s); set && !ok {
				continue // a word among numbers
			}
			if groups[rest] == nil {
				order = append(order, rest)
			}
			groups[rest] = append(groups[rest], v)
		}
		for _, rest := range order {
			group := groups[rest]
			if len(group) < 2 || apart && !onServersOfTheirOwn(group) {
				continue
			}
			s := Sweep{System: p.system, Suite: p.suite, Server: p.server, Workload: p.workload, Option: n}
			for _, v := range group {
				setting := v.options[n]
				number, _ := numberOf(setting)
				s.Arms = append(s.Arms, SweepArm{
					Set: setting.Set, Number: number, Written: cmp.Or(setting.Written, setting.Value), Configs: slices.Clone(v.configs), Runs: slices.Clone(v.runs),
				})
			}
			for _, v := range variants {
				setting, set := v.options[n]
				number, ok := numberOf(setting)
				if !set || !ok || slices.Contains(group, v) || slices.ContainsFunc(s.Arms, func(a SweepArm) bool { return a.Set && a.Number == number }) {
					continue
				}
				if differs := differing(group[0].options, v.options, n); len(differs) <= leftDiffers {
					s.Left = append(s.Left, LeftArm{
						SweepArm{Set: true, Number: number, Written: cmp.Or(setting.Written, setting.Value), Configs: slices.Clone(v.configs), Runs: slices.Clone(v.runs)}, differs,
					})
				}
			}
			slices.SortFunc(s.Left, func(a, b LeftArm) int { return cmp.Compare(a.Number, b.Number) })
			slices.SortFunc(s.Arms, func(a, b SweepArm) int {
				if a.Set != b.Set {
					return map[bool]int{true: 1, false: -1}[a.Set]
				}
				return cmp.Compare(a.Number, b.Number)
			})
			out = append(out, s)
		}
	}
	return out
}

// onServersOfTheirOwn reports whether no two variants share a server.
func onServersOfTheirOwn(group []*variant) bool {
	seen := map[string]bool{}
	for _, v := range group {
		for _, s := range v.servers {
			if seen[s] {
				return false
			}
		}
		for _, s := range v.servers {
			seen[s] = true
		}
	}
	return true
}

// numberOf reads a setting that is a number.
func numberOf(s bench.Setting) (float64, bool) {
	if !s.Set {
		return 0, false
	}
	v, err := strconv.ParseFloat(s.Value, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}
