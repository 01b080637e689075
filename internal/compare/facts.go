package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// FactKind says what a fact of a run is about.
type FactKind string

// The kinds of facts.
const (
	FactOption FactKind = "option"
	FactBuild  FactKind = "build"
	FactHost   FactKind = "host"
	FactRun    FactKind = "run" // the run itself: context and date
)

// FactDiff is a fact that sets of runs do not have alike.
type FactDiff struct {
	Kind FactKind
	Name string
	// Values holds per set, in their order, every value that its runs have, in
	// natural order; nil where no run says it, which is not the same as a default.
	Values [][]string
	// Change says of two sets what the second has of it that the first has not:
	// added, removed or changed. Empty for more than two sets.
	Change bench.ChangeKind
}

// Disjoint reports whether no two sets that say the fact share a value of it: the
// fact goes with the sets, so that no figure can tell the two apart.
func (d *FactDiff) Disjoint() bool {
	seen := map[string]bool{}
	for _, values := range d.Values {
		if len(values) == 0 {
			return false
		}
		for _, v := range values {
			if seen[v] {
				return false
			}
		}
		for _, v := range values {
			seen[v] = true
		}
	}
	return len(d.Values) > 1
}

// unspoken are keys of an environment that say where a file came from, not how a
// run was made.
var unspoken = []string{"source_name", "source_url", "source_date", "config_source", "config_description", "tag", "plan"}

// OptionsOf gives the options that a run was made with: those of the stored
// config that its name stands for, and those that the run itself states, which win.
func OptionsOf(run *bench.RunFacts, sets map[string]*bench.StoredConfig) map[bench.OptionName]bench.Setting {
	out := map[bench.OptionName]bench.Setting{}
	if set := sets[run.System+"\x00"+run.Config]; set != nil && run.Config != "" {
		out = set.Values()
	}
	for k, v := range run.Options {
		out[bench.OptionName{Key: k}] = bench.Setting{Set: true, Written: v, Value: v}
	}
	return out
}

// ConfigSets picks the set of options that stands for each name of a system among
// stored configs, for [OptionsOf] and [DiffFacts].
func ConfigSets(configs []bench.StoredConfig) map[string]*bench.StoredConfig {
	out := map[string]*bench.StoredConfig{}
	for i := range configs {
		x := &configs[i]
		key := x.System + "\x00" + x.Name
		if x.Layer != bench.LayerParsed || out[key] != nil {
			continue
		}
		var same []bench.StoredConfig
		for _, c := range configs {
			if c.System == x.System {
				same = append(same, c)
			}
		}
		out[key], _ = PickConfig(same, x.Name)
	}
	return out
}

// DiffFacts lists what sets of runs do not have alike: context, dates, builds with
// their flags, hosts and options, in this order. sets is of [ConfigSets].
func DiffFacts(runs [][]bench.RunFacts, sets map[string]*bench.StoredConfig) []FactDiff {
	type place struct {
		kind FactKind
		name string
	}
	var order []place
	values := map[place][]map[string]bool{}
	note := func(set int, kind FactKind, name, value string) {
		if value == "" {
			return
		}
		p := place{kind, name}
		if values[p] == nil {
			values[p] = make([]map[string]bool, len(runs))
			order = append(order, p)
		}
		if values[p][set] == nil {
			values[p][set] = map[string]bool{}
		}
		values[p][set][value] = true
	}
	for i, list := range runs {
		for j := range list {
			r := &list[j]
			for _, x := range [][2]string{
				{"system", r.System}, {"version", r.Build.Version}, {"server", r.Server}, {"workload", r.Workload},
				{"config", r.Config}, {"clients", clientsText(r.Clients)},
			} {
				note(i, FactRun, x[0], x[1])
			}
			for _, x := range [][2]string{
				{"compiler", compilerText(r.Build.Compiler)}, {"compiler version", r.Build.CompilerVersion}, {"git hash", r.Build.GitHash}, {"command", r.Build.Command},
			} {
				note(i, FactBuild, x[0], x[1])
			}
			for _, flag := range strings.Fields(r.Build.Flags) {
				note(i, FactBuild, "flag "+flag, "given")
			}
			for k, v := range r.Environment {
				if !slices.Contains(unspoken, k) {
					note(i, FactHost, strings.ReplaceAll(k, "_", " "), v)
				}
			}
			for name, s := range OptionsOf(r, sets) {
				note(i, FactOption, name.String(), cmp.Or(s.Written, s.Value))
			}
		}
	}
	rank := map[FactKind]int{FactRun: 0, FactBuild: 1, FactHost: 2, FactOption: 3}
	slices.SortStableFunc(order, func(a, b place) int {
		if d := rank[a.kind] - rank[b.kind]; d != 0 {
			return d
		}
		if a.kind == FactRun {
			return 0 // as they were noted
		}
		return compareNatural(a.name, b.name)
	})
	var out []FactDiff
	for _, p := range order {
		d := FactDiff{Kind: p.kind, Name: p.name}
		same := true
		for i := range runs {
			var list []string
			for v := range values[p][i] {
				list = append(list, v)
			}
			slices.SortFunc(list, compareNatural)
			d.Values = append(d.Values, list)
			same = same && slices.Equal(list, d.Values[0])
		}
		if same {
			continue
		}
		if len(runs) == 2 {
			switch {
			case len(d.Values[0]) == 0:
				d.Change = bench.OptionAdded
			case len(d.Values[1]) == 0:
				d.Change = bench.OptionRemoved
			default:
				d.Change = bench.OptionChanged
			}
		}
		out = append(out, d)
	}
	if d, ok := diffDates(runs); ok {
		at := slices.IndexFunc(out, func(x FactDiff) bool { return x.Kind != FactRun })
		if at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, d)
	}
	return out
}

func clientsText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// diffDates gives when sets of runs were made, where the spans of their dates do
// not meet.
func diffDates(runs [][]bench.RunFacts) (FactDiff, bool) {
	d := FactDiff{Kind: FactRun, Name: "date"}
	var spans [][2]string
	for _, list := range runs {
		first, last := "", ""
		for i := range list {
			if list[i].Started.IsZero() {
				continue
			}
			day := list[i].Started.Wall().Format("2006-01-02")
			if first == "" || day < first {
				first = day
			}
			if day > last {
				last = day
			}
		}
		switch {
		case first == "":
			d.Values = append(d.Values, nil)
		case first == last:
			d.Values = append(d.Values, []string{first})
		default:
			d.Values = append(d.Values, []string{first + " to " + last})
		}
		spans = append(spans, [2]string{first, last})
	}
	apart := false
	for i, a := range spans {
		for _, b := range spans[:i] {
			if a[0] != "" && b[0] != "" && (a[1] < b[0] || b[1] < a[0]) {
				apart = true
			}
		}
	}
	if len(runs) == 2 {
		d.Change = bench.OptionChanged
	}
	return d, apart
}

// FactsText names the values that a set has of a fact: 5.15, 6.2 and 3 more.
func FactsText(values []string) string {
	const most = 3
	switch {
	case len(values) == 0:
		return "not stated"
	case len(values) > most+1:
		return fmt.Sprintf("%s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return strings.Join(values, ", ")
}
