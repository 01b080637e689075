package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// ConfigsInput is what a comparison of configs is made of.
type ConfigsInput struct {
	Series []bench.Series // of the metrics compared; several configs
	// Seconds are the series of p99_second_rate of the same runs, for the
	// practical rule; nil: it is applied without.
	Seconds       []bench.Series
	Distributions []bench.Distribution // of the runs of Series
	Configs       []bench.StoredConfig // with options, of all layers; several may share a name
	Names         []string             // configs that were asked for and may have measured nothing
	Base          string               // "" takes the first by name
	Cache         *Cache
}

// ConfigComparison is configs against one of them: what they measured, what they
// differ in, and what the one may have to do with the other.
type ConfigComparison struct {
	Arms
	// Unmeasured are the configs that were asked for by name and measured nothing,
	// in the order of their names.
	Unmeasured []string
	// Layer is that of Sets: parsed, or effective where of the base only what its
	// server said is stored. The two are never compared with each other.
	Layer bench.Layer
	// Sets are the option sets that stand for the configs, one per name that has
	// any. Several may be stored under one name: that of the most runs is taken,
	// Variants counts the others.
	Sets     []ConfigSet
	Family   bench.Family // of Sets
	Effects  []Effect
	Places   []ConfigPlace
	Summary  []string // sentences
	NoConfig []string // names without a stored set of options
	// OtherLayer are names of which options are stored, but of the other layer.
	OtherLayer []string
}

// ConfigSet is the option set of a config, of the comparison's layer.
type ConfigSet struct {
	*bench.StoredConfig
	Variants int
	// Effective is what a running server of that config said of itself beside, nil
	// where that was not read back; of several the newest.
	Effective *bench.StoredConfig
}

// ConfigPlace is what configs are judged at as a whole: all steps of a workload on
// a server, with one version.
type ConfigPlace struct {
	Server, Workload, Version string
	Better                    []string // configs better than the base in all steps, see [ArmCell.Stand]
}

// Effect is what options do, from the pairs of configs that differ in nothing
// else.
type Effect struct {
	Changes []bench.OptionChange
	Pairs   []bench.Contrast
	Rows    []EffectRow // one per row of the comparison that has a pair
}

// EffectRow is an effect at one place: the geometric mean over pairs of with by
// without, and its interval, nil when the noise is unknown.
type EffectRow struct {
	Row       int // index of Arms.Rows
	Pairs     int
	Ratio     float64
	Low, High *float64
}

// CompareConfigs compares configs with a base.
func CompareConfigs(in ConfigsInput) ConfigComparison {
	base := in.Base
	if base == "" {
		names := in.Names
		if len(in.Series) > 0 {
			names = nil
		}
		for _, s := range in.Series {
			names = append(names, s.Config)
		}
		for _, name := range names {
			if base == "" || compareNatural(name, base) < 0 {
				base = name
			}
		}
	}
	c := ConfigComparison{Arms: CompareArms(in.Series, AxisConfig, base, "", in.Cache)}
	c.judgePractical(base, in.Seconds, in.Distributions)
	for _, name := range in.Names {
		if !slices.Contains(c.Arms.Arms, name) && !slices.Contains(c.Unmeasured, name) {
			c.Unmeasured = append(c.Unmeasured, name)
		}
	}
	slices.SortFunc(c.Unmeasured, func(a, b string) int {
		if (a == base) != (b == base) {
			return map[bool]int{true: -1, false: 1}[a == base]
		}
		return compareNatural(a, b)
	})
	c.Places = c.places()
	c.Layer = bench.LayerParsed
	if set, _ := PickConfig(in.Configs, base); set == nil && readBack(in.Configs, base) != nil {
		c.Layer = bench.LayerEffective
	}
	for _, name := range slices.Concat(c.Arms.Arms, c.Unmeasured) {
		set, variants := PickConfig(in.Configs, name)
		back := readBack(in.Configs, name)
		switch {
		case c.Layer == bench.LayerParsed && set != nil:
			c.Sets = append(c.Sets, ConfigSet{set, variants, back})
		case c.Layer == bench.LayerEffective && back != nil:
			c.Sets = append(c.Sets, ConfigSet{StoredConfig: back})
		case set != nil || back != nil:
			c.OtherLayer = append(c.OtherLayer, name)
		case name != "":
			c.NoConfig = append(c.NoConfig, name)
		}
	}
	if from := slices.IndexFunc(c.Sets, func(s ConfigSet) bool { return s.Name == base }); from >= 0 {
		var others []bench.Config
		for _, s := range c.Sets {
			others = append(others, s.Config)
		}
		c.Family = bench.NewFamily(c.Sets[from].Config, others)
		c.Effects = c.effects()
	}
	c.Summary = c.summary()
	return c
}

// PickConfig chooses among the parsed sets of one name: the one of the most runs,
// the newest of several. variants counts the others; set is nil where there is
// none.
func PickConfig(configs []bench.StoredConfig, name string) (set *bench.StoredConfig, variants int) {
	n := 0
	for i := range configs {
		x := &configs[i]
		if x.Name != name || x.Layer != bench.LayerParsed {
			continue
		}
		n++
		if set == nil || x.Runs > set.Runs || x.Runs == set.Runs && x.ID > set.ID {
			set = x
		}
	}
	return set, max(n-1, 0)
}

// readBack gives the set of a name that a server said of itself: that of the most
// runs, the newest of several. One that none of the runs counted was made with is
// of another server's config of the same name, where another set is that of some.
func readBack(configs []bench.StoredConfig, name string) (set *bench.StoredConfig) {
	used := false
	for i := range configs {
		x := &configs[i]
		if x.Name != name {
			continue
		}
		used = used || x.Runs > 0
		if x.Layer == bench.LayerEffective && (set == nil || x.Runs > set.Runs || x.Runs == set.Runs && x.ID > set.ID) {
			set = x
		}
	}
	if set != nil && used && set.Runs == 0 {
		return nil
	}
	return set
}

// effects gathers the contrasts of a family by what they change.
func (c *ConfigComparison) effects() []Effect {
	at := map[string]int{}
	var list []Effect
	for _, contrast := range c.Family.Contrasts {
		k := changesText(contrast.Changes)
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, Effect{Changes: contrast.Changes})
		}
		list[i].Pairs = append(list[i].Pairs, contrast)
	}
	for i := range list {
		e := &list[i]
		for n := range c.Rows {
			if row, ok := c.effectAt(e, n); ok {
				e.Rows = append(e.Rows, row)
			}
		}
	}
	return slices.DeleteFunc(list, func(e Effect) bool { return len(e.Rows) == 0 })
}

func (c *ConfigComparison) effectAt(e *Effect, n int) (EffectRow, bool) {
	r := &c.Rows[n]
	out := EffectRow{Row: n}
	// A config may stand in several pairs: its doubt counts as often.
	weight := map[string]float64{}
	sum := 0.0
	for _, pair := range e.Pairs {
		with, without := r.Cell(pair.With), r.Cell(pair.Without)
		if with == nil || without == nil || !with.HasLog || !without.HasLog || with.Flagged || without.Flagged {
			continue
		}
		sum += with.Log - without.Log
		weight[pair.With]++
		weight[pair.Without]--
		out.Pairs++
	}
	if out.Pairs == 0 {
		return out, false
	}
	pairs := float64(out.Pairs)
	out.Ratio = math.Exp(sum / pairs)
	se2, multiplier, known := 0.0, 0.0, true
	for arm, w := range weight {
		cell := r.Cell(arm)
		known = known && cell.HasSE
		se2 += w * w * cell.SE2
		multiplier = max(multiplier, cell.multiplier)
	}
	if half := multiplier * math.Sqrt(se2) / pairs; known && half > 0 {
		low, high := math.Exp(sum/pairs-half), math.Exp(sum/pairs+half)
		out.Low, out.High = &low, &high
	}
	return out, true
}

func changesText(changes []bench.OptionChange) string {
	var parts []string
	for _, ch := range changes {
		parts = append(parts, ch.String())
	}
	return strings.Join(parts, ", ")
}

// summary says in sentences what the comparison comes to.
func (c *ConfigComparison) summary() []string {
	base := c.Base.Config
	var out []string
	if len(c.Arms.Arms) < 2 && len(c.Sets) < 2 {
		return nil
	}
	out = append(out, c.goodEnough()...)
	for i := range c.Rows {
		r := &c.Rows[i]
		for _, cell := range r.Cells {
			if cell.Point != nil && cell.Verdict == Worse && cell.Arm != base {
				out = append(out, fmt.Sprintf("%s is worse than %s at %s: %s (%s)", cell.Arm, base, rowPlace(r, c.Rows), FormatRatio(*cell.Relative, cell.Low, cell.High), FormatInterval(cell.Low, cell.High)))
			}
			if cell.Point != nil && cell.Practical != nil && cell.Practical.Worse {
				out = append(out, fmt.Sprintf("%s is worse than %s at %s by the practical rule: %s", cell.Arm, base, rowPlace(r, c.Rows), strings.Join(cell.Practical.Reasons, "; ")))
			}
		}
	}
	for _, x := range c.Family.Combinations {
		out = append(out, fmt.Sprintf("%s = %s: its options are those of %s together", x.Config, strings.Join(x.Parts, " + "), words(x.Parts)))
	}
	for _, g := range c.Family.Together {
		if len(g.Surprises) > 0 {
			out = append(out, fmt.Sprintf("%s also change %s: no figure can tell that from %s", words(g.Configs), changesText(g.Surprises), changesText(added(g))))
		} else {
			out = append(out, fmt.Sprintf("%s can only be told together: %s", changesText(g.Changes), verb(g.Configs, "changes", "change")+" them all"))
		}
	}
	for _, s := range c.Sets {
		if s.Variants > 0 {
			out = append(out, fmt.Sprintf("%s stands for %s of options here; the one that the most of these runs were made with is shown (%s)", s.Name, countOf(s.Variants+1, "set", "sets"), s.SourceName))
		}
	}
	if len(c.OtherLayer) > 0 {
		kind := "what a server said of itself"
		if c.Layer == bench.LayerEffective {
			kind = "what a file asks for"
		}
		out = append(out, fmt.Sprintf("of %s only %s is stored: that is not compared with the options of the others", words(c.OtherLayer), kind))
	}
	if len(c.NoConfig) > 0 {
		out = append(out, fmt.Sprintf("no options are stored for %s: upload the files", words(c.NoConfig)))
	}
	return out
}

func verb(names []string, one, many string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	return words(names) + " " + many
}

// added gives the changes of a group that are no surprises.
func added(g bench.OptionGroup) []bench.OptionChange {
	return slices.DeleteFunc(slices.Clone(g.Changes), func(ch bench.OptionChange) bool {
		return slices.ContainsFunc(g.Surprises, func(s bench.OptionChange) bool { return s.OptionName == ch.OptionName })
	})
}

// words lists names: a1, a6 and a7.
func words(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}

// rowPlace names a row among others, by what they differ in.
func rowPlace(r *ArmRow, rows []ArmRow) string {
	text := r.Step
	differ := func(of func(*ArmRow) string) bool {
		return slices.ContainsFunc(rows, func(x ArmRow) bool { return of(&x) != of(r) })
	}
	for _, of := range []func(*ArmRow) string{
		func(x *ArmRow) string { return x.Workload }, func(x *ArmRow) string { return x.Server }, func(x *ArmRow) string { return x.Version },
	} {
		if differ(of) {
			text += ", " + of(r)
		}
	}
	return text
}

// places judges configs over all steps of each workload on each server.
func (c *ConfigComparison) places() []ConfigPlace {
	base := c.Base.Config
	var list []ConfigPlace
	rows := map[int][]*ArmRow{}
	for i := range c.Rows {
		r := &c.Rows[i]
		at := slices.IndexFunc(list, func(p ConfigPlace) bool {
			return p.Server == r.Server && p.Workload == r.Workload && bench.CompareVersions(p.Version, r.Version) == 0
		})
		if at < 0 {
			at = len(list)
			list = append(list, ConfigPlace{Server: r.Server, Workload: r.Workload, Version: r.Version})
		}
		rows[at] = append(rows[at], r)
	}
	compared := make([]bool, len(list))
	for at := range list {
		for _, arm := range c.Arms.Arms {
			if arm == base {
				continue
			}
			all, some := true, false
			for _, r := range rows[at] {
				cell := r.Cell(arm)
				if cell == nil || cell.Relative == nil || cell.Flagged {
					continue
				}
				some = true
				all = all && cell.Stand(r.Metric.Direction) == Better
			}
			compared[at] = compared[at] || some
			if all && some {
				list[at].Better = append(list[at].Better, arm)
			}
		}
	}
	var out []ConfigPlace
	for at, p := range list {
		if compared[at] {
			out = append(out, p)
		}
	}
	return out
}

// goodEnough says for each workload and server whether a config is better than
// the base in all its steps.
func (c *ConfigComparison) goodEnough() (out []string) {
	base := c.Base.Config
	for _, p := range c.Places {
		where := p.Workload
		if slices.ContainsFunc(c.Places, func(o ConfigPlace) bool { return o.Server != p.Server }) {
			where += " on " + p.Server
		}
		if slices.ContainsFunc(c.Places, func(o ConfigPlace) bool { return o.Version != p.Version }) {
			where += " with " + p.Version
		}
		if len(p.Better) == 0 {
			out = append(out, fmt.Sprintf("%s is good enough: no config is better beyond noise in all steps of %s", base, where))
		} else {
			out = append(out, fmt.Sprintf("%s better than %s in all steps of %s", verb(p.Better, "is", "are"), base, where))
		}
	}
	return out
}

// Stand says how an arm stands to the base: the verdict where the noise is known;
// where it is not, worse by the practical rule, better beyond the rule's ratio the
// other way, else nothing.
func (c *ArmCell) Stand(d bench.Direction) Verdict {
	switch {
	case c.Point == nil || c.Relative == nil || c.Flagged:
		return NoVerdict
	case c.Verdict != NoVerdict:
		return c.Verdict
	case c.Practical != nil && c.Practical.Worse:
		return Worse
	case d == bench.HigherBetter && *c.Relative > 1/PracticalRatio, d == bench.LowerBetter && *c.Relative < PracticalRatio:
		return Better
	}
	return NoVerdict
}
