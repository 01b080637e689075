package bench

import (
	"slices"
	"strings"
)

// What configs differ in, by arithmetic over sets of options: never by what
// their authors say. All functions are pure; options that name a place or an
// instance ([Option.Environment]) take no part.

// Scope gives what an option applies to, "" for the database server. The
// sections that all speak to the server ([mysqld], [mysqld-8.0], [mariadb],
// [DBOptions], [CFOptions "default"], the bare lines of a list) are one scope, so
// that a file can be compared with what the server reports; those of other
// programs ([mysqld_safe], [client]) are their own.
func (o *Option) Scope() string {
	section := strings.ToLower(o.Section)
	name, _, _ := strings.Cut(section, "-")
	switch name {
	case "", "server", "mysqld", "mariadb", "mariadbd":
		return ""
	}
	word, _, _ := strings.Cut(section, " ")
	word, _, _ = strings.Cut(word, "/")
	switch word {
	case "dboptions", "cfoptions", "tableoptions":
		return ""
	}
	return section
}

// OptionName names an option across configs.
type OptionName struct {
	Scope string `json:"scope,omitempty"` // see [Option.Scope]
	Key   string `json:"key"`
}

// String writes the key, with its scope where it is not the server's.
func (n OptionName) String() string {
	if n.Scope == "" {
		return n.Key
	}
	return "[" + n.Scope + "] " + n.Key
}

func compareNames(a, b OptionName) int {
	if a.Scope != b.Scope {
		return strings.Compare(a.Scope, b.Scope)
	}
	return strings.Compare(a.Key, b.Key)
}

// Setting is an option's value in one config.
type Setting struct {
	Set     bool   // false: the config does not say it, and the server's default holds
	Written string // as written: 8G; ON for a bare flag
	Value   string // in the form for comparing: 8589934592
}

// Same reports whether two settings mean the same: both unset, equal values, or a
// switch that one file writes as ON and the other as 1.
func (s Setting) Same(t Setting) bool {
	if s.Set != t.Set {
		return false
	}
	return s.Value == t.Value || switched(s.Value, t.Value) || switched(t.Value, s.Value)
}

func switched(word, digit string) bool {
	return word == "ON" && digit == "1" || word == "OFF" && digit == "0"
}

// settings gives what a config sets, without its environment, names in order.
func (c *Config) settings() (names []OptionName, by map[OptionName]Setting) {
	by = make(map[OptionName]Setting, len(c.Options))
	for i := range c.Options {
		o := &c.Options[i]
		if o.Environment {
			continue
		}
		name := OptionName{o.Scope(), o.Key}
		if _, twice := by[name]; !twice {
			names = append(names, name)
		}
		written := o.Written
		if written == "" && o.Value != "" {
			written = o.Value
		}
		by[name] = Setting{Set: true, Written: written, Value: o.Value} // the last counts
	}
	slices.SortFunc(names, compareNames)
	return names, by
}

// Values gives what a config sets, without its environment; of a key that stands
// twice the last.
func (c *Config) Values() map[OptionName]Setting {
	_, by := c.settings()
	return by
}

// Settings gives the number of options that count in comparisons.
func (c *Config) Settings() int {
	names, _ := c.settings()
	return len(names)
}

// ChangeKind says how an option of a config differs from the base's.
type ChangeKind string

// The kinds of changes of an option.
const (
	OptionSame    ChangeKind = ""
	OptionAdded   ChangeKind = "added"   // the base does not set it
	OptionRemoved ChangeKind = "removed" // only the base sets it
	OptionChanged ChangeKind = "changed"
)

func kindOf(base, other Setting) ChangeKind {
	switch {
	case base.Same(other):
		return OptionSame
	case !base.Set:
		return OptionAdded
	case !other.Set:
		return OptionRemoved
	}
	return OptionChanged
}

// OptionRow is an option that not all of the configs compared have alike: the
// base's setting and, one per other config in their order, theirs with the kind
// of change.
type OptionRow struct {
	OptionName
	Base  Setting
	Other []Setting
	Kinds []ChangeKind
}

// Diff lists the options in which any of others differs from base, in order of
// scope and key.
func Diff(base Config, others []Config) []OptionRow {
	names, first := base.settings()
	all := slices.Clone(names)
	sets := make([]map[OptionName]Setting, len(others))
	for i := range others {
		var more []OptionName
		more, sets[i] = others[i].settings()
		all = append(all, more...)
	}
	slices.SortFunc(all, compareNames)
	var rows []OptionRow
	for _, name := range slices.Compact(all) {
		row := OptionRow{OptionName: name, Base: first[name]}
		differs := false
		for _, set := range sets {
			kind := kindOf(row.Base, set[name])
			row.Other = append(row.Other, set[name])
			row.Kinds = append(row.Kinds, kind)
			differs = differs || kind != OptionSame
		}
		if differs {
			rows = append(rows, row)
		}
	}
	return rows
}

// OptionChange is one difference of a config from its base.
type OptionChange struct {
	OptionName
	Kind     ChangeKind
	From, To Setting
}

// String says the change in words: key 8G → 6G.
func (c OptionChange) String() string {
	switch c.Kind {
	case OptionAdded:
		return c.OptionName.String() + "=" + c.To.Written
	case OptionRemoved:
		return c.OptionName.String() + " not set (" + c.From.Written + ")"
	}
	return c.OptionName.String() + " " + c.From.Written + " → " + c.To.Written
}

// Changes lists what a config changes of its base, in order of scope and key.
func Changes(base, config Config) []OptionChange {
	var list []OptionChange
	for _, row := range Diff(base, []Config{config}) {
		list = append(list, OptionChange{row.OptionName, row.Kinds[0], row.Base, row.Other[0]})
	}
	return list
}

// Combination says whether a config is the base with the changes of others.
type Combination struct {
	Config string   // the target's name
	Parts  []string // names of the configs whose changes it is said to combine
	// Holds: the target changes what its parts change, to the same values, and
	// nothing else.
	Holds bool
	// Missing are changes of a part that the target does not make, or makes to
	// another value, which Extra then has.
	Missing []PartChange
	// Extra are changes of the target that no part makes.
	Extra []OptionChange
	// Conflicts are options that two parts set to different values.
	Conflicts []OptionName
}

// PartChange is a change that a part of a [Combination] makes.
type PartChange struct {
	Part string
	OptionChange
}

// Combines checks by set arithmetic whether target is base with the changes of
// parts: "a6 = a1 + a2 + a5".
func Combines(target, base Config, parts ...Config) Combination {
	c := Combination{Config: target.Name}
	made := map[OptionName]OptionChange{}
	for _, ch := range Changes(base, target) {
		made[ch.OptionName] = ch
	}
	wanted := map[OptionName][]OptionChange{}
	conflicts := map[OptionName]bool{}
	for _, part := range parts {
		c.Parts = append(c.Parts, part.Name)
		for _, ch := range Changes(base, part) {
			for _, other := range wanted[ch.OptionName] {
				if !other.To.Same(ch.To) && !conflicts[ch.OptionName] {
					conflicts[ch.OptionName] = true
					c.Conflicts = append(c.Conflicts, ch.OptionName)
				}
			}
			wanted[ch.OptionName] = append(wanted[ch.OptionName], ch)
			if m, ok := made[ch.OptionName]; !ok || !m.To.Same(ch.To) {
				c.Missing = append(c.Missing, PartChange{part.Name, ch})
			}
		}
	}
	for _, ch := range Changes(base, target) {
		if !slices.ContainsFunc(wanted[ch.OptionName], func(w OptionChange) bool { return w.To.Same(ch.To) }) {
			c.Extra = append(c.Extra, ch)
		}
	}
	c.Holds = len(c.Missing) == 0 && len(c.Extra) == 0
	return c
}

// Family is a base with the configs that differ from it, and what their options
// allow to conclude.
type Family struct {
	Base    string
	Configs []string // the others, in the order given
	Rows    []OptionRow
	// Combinations are the configs whose changes are exactly those of two or more
	// simpler ones together, with those as parts.
	Combinations []Combination
	// Together are the groups of two or more options that the same configs
	// change, each to one value: their effects cannot be told apart.
	Together []OptionGroup
	// Contrasts are the pairs of configs that differ in exactly one option, or
	// one group of Together.
	Contrasts []Contrast
}

// OptionGroup is a set of options that are only ever changed together.
type OptionGroup struct {
	Configs []string // that change them
	Changes []OptionChange
	// Surprises are changes of what the base sets already, beside options that it
	// does not know: what a description of the added ones easily leaves out.
	Surprises []OptionChange
}

// Contrast is two configs that differ in one option or one group only: dividing
// With by Without gives the effect of the changes.
type Contrast struct {
	Changes       []OptionChange
	With, Without string
}

// NewFamily analyses configs against their base. A config of the base's name
// among others is left out.
func NewFamily(base Config, others []Config) Family {
	others = slices.DeleteFunc(slices.Clone(others), func(c Config) bool { return c.Name == base.Name })
	f := Family{Base: base.Name, Rows: Diff(base, others)}
	for _, c := range others {
		f.Configs = append(f.Configs, c.Name)
	}
	f.Combinations = combinations(base, others)
	groups := f.groups()
	for _, g := range groups {
		if len(g.Changes) > 1 {
			f.Together = append(f.Together, g)
		}
	}
	f.Contrasts = f.contrasts()
	return f
}

// groups puts options together that follow one pattern: every config either
// leaves all of them as the base has them or changes all, and all configs that
// change them do it to the same values.
func (f *Family) groups() []OptionGroup {
	at := map[string]int{}
	var groups []OptionGroup
	for _, row := range f.Rows {
		pattern, to, one := row.pattern()
		if !one {
			continue
		}
		i, ok := at[pattern]
		if !ok {
			i = len(groups)
			at[pattern] = i
			g := OptionGroup{}
			for k, name := range f.Configs {
				if row.Kinds[k] != OptionSame {
					g.Configs = append(g.Configs, name)
				}
			}
			groups = append(groups, g)
		}
		groups[i].Changes = append(groups[i].Changes, OptionChange{row.OptionName, kindOf(row.Base, to), row.Base, to})
	}
	for i := range groups {
		g := &groups[i]
		if !slices.ContainsFunc(g.Changes, func(c OptionChange) bool { return c.Kind == OptionAdded }) {
			continue
		}
		for _, c := range g.Changes {
			if c.Kind != OptionAdded {
				g.Surprises = append(g.Surprises, c)
			}
		}
	}
	return groups
}

// pattern says which configs change an option, and to what; one is false where
// they change it to different values.
func (r *OptionRow) pattern() (pattern string, to Setting, one bool) {
	var b strings.Builder
	found := false
	for i, kind := range r.Kinds {
		if kind == OptionSame {
			b.WriteByte('-')
			continue
		}
		b.WriteByte('x')
		if found && !to.Same(r.Other[i]) {
			return "", Setting{}, false
		}
		if !found {
			to, found = r.Other[i], true
		}
	}
	return b.String(), to, true
}

// setting gives an option's setting in the k-th config, the base being -1.
func (r *OptionRow) setting(k int) Setting {
	if k < 0 {
		return r.Base
	}
	return r.Other[k]
}

// contrasts finds the pairs of configs that differ in one option, or in options
// that always change together.
func (f *Family) contrasts() []Contrast {
	names := append([]string{f.Base}, f.Configs...)
	var list []Contrast
	for a := -1; a < len(f.Configs); a++ {
		for b := a + 1; b < len(f.Configs); b++ {
			var rows []*OptionRow
			for i := range f.Rows {
				if !f.Rows[i].setting(a).Same(f.Rows[i].setting(b)) {
					rows = append(rows, &f.Rows[i])
				}
			}
			if len(rows) == 0 || !together(rows) {
				continue
			}
			// The one that has the options as the base has them is the one without.
			with, without := b, a
			if rows[0].Base.Same(rows[0].setting(b)) {
				with, without = a, b
			}
			c := Contrast{With: names[with+1], Without: names[without+1]}
			for _, r := range rows {
				from, to := r.setting(without), r.setting(with)
				c.Changes = append(c.Changes, OptionChange{r.OptionName, kindOf(from, to), from, to})
			}
			list = append(list, c)
		}
	}
	return list
}

// together reports whether options follow one pattern over all configs.
func together(rows []*OptionRow) bool {
	if len(rows) == 1 {
		return true
	}
	first, _, one := rows[0].pattern()
	for _, r := range rows[1:] {
		p, _, ok := r.pattern()
		one = one && ok && p == first
	}
	return one
}

// combinations finds the configs that combine simpler ones. Simple are those
// that combine nothing themselves.
func combinations(base Config, others []Config) []Combination {
	changes := make([][]OptionChange, len(others))
	order := make([]int, len(others))
	for i := range others {
		changes[i] = Changes(base, others[i])
		order[i] = i
	}
	// Those with fewer changes first, so that parts are known before their sums.
	slices.SortStableFunc(order, func(a, b int) int { return len(changes[a]) - len(changes[b]) })
	var simple []int
	found := map[int]Combination{}
	for _, t := range order {
		if len(changes[t]) == 0 {
			continue
		}
		var parts []int
		for _, p := range simple {
			if len(changes[p]) < len(changes[t]) && contained(changes[p], changes[t]) {
				parts = append(parts, p)
			}
		}
		parts = needed(parts, changes)
		slices.Sort(parts)
		var configs []Config
		for _, p := range parts {
			configs = append(configs, others[p])
		}
		if c := Combines(others[t], base, configs...); len(parts) > 1 && c.Holds {
			found[t] = c
			continue
		}
		simple = append(simple, t)
	}
	var list []Combination
	for t := range others {
		if c, ok := found[t]; ok {
			list = append(list, c)
		}
	}
	return list
}

// contained reports whether all changes of a part are made by a whole, alike.
func contained(part, whole []OptionChange) bool {
	for _, p := range part {
		if !slices.ContainsFunc(whole, func(w OptionChange) bool { return w.OptionName == p.OptionName && w.To.Same(p.To) }) {
			return false
		}
	}
	return true
}

// needed leaves out parts that add nothing to the others. Those with more changes
// come last and cover most, so the small ones are tried first.
func needed(parts []int, changes [][]OptionChange) []int {
	kept := slices.Clone(parts)
	for _, p := range parts {
		var rest []OptionChange
		for _, q := range kept {
			if q != p {
				rest = append(rest, changes[q]...)
			}
		}
		if contained(changes[p], rest) {
			kept = slices.DeleteFunc(kept, func(q int) bool { return q == p })
		}
	}
	return kept
}
