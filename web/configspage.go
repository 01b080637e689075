package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

const (
	matrixKeysMax  = 12 // more options that differ get a table of their own
	effectRowsOpen = 12 // rows of the table by effect that are shown at once
	noiseUnknown   = "noise unknown"
)

// newConfigsPage builds the page of configs. Its Page is left to the caller.
func newConfigsPage(in configsInput, a configsAnswer) view.ConfigsPage {
	b := configsBuilder{in: in, a: a}
	p := view.ConfigsPage{Heading: b.heading(), Bar: b.bar(), Others: b.others()}
	if len(a.arms) == 0 && len(a.c.Sets) == 0 {
		p.Empty = b.nothing()
		return p
	}
	p.Meta = b.meta()
	p.Lead = b.lead()
	p.Files = b.files()
	p.Matrix, p.Options = b.matrix()
	if len(a.groups) > 0 {
		p.Rules = b.rules()
		p.Detail = b.detail()
		p.Memory = b.memory()
		p.Effects = b.effects()
		p.Keys = b.keys()
	}
	p.Layers = b.layers()
	return p
}

// configsBuilder makes the parts of the page of configs.
type configsBuilder struct {
	in configsInput
	a  configsAnswer
}

// names are the configs shown, measured ones first.
func (b configsBuilder) names() []string { return slices.Concat(b.a.arms, b.a.c.Unmeasured) }

func (b configsBuilder) heading() string {
	system := systemName(b.in.Resolved.System)
	switch {
	case system == "":
		return "Configs"
	case len(b.names()) == 0:
		return system + ", configs"
	}
	parts := []string{strings.TrimSpace(system + " " + b.version()), nameSpan(b.names())}
	if b.in.Resolved.Suite != "" {
		parts = append(parts, suiteName(b.in.Resolved.Suite))
	}
	return strings.Join(parts, ", ")
}

// version is the version shown, "" where nobody knows it.
func (b configsBuilder) version() string {
	if b.a.version == unknownVersion {
		return ""
	}
	return b.a.version
}

// nameSpan names configs: a0 to a7.
func nameSpan(names []string) string {
	if len(names) > 3 {
		return names[0] + " to " + names[len(names)-1]
	}
	return andList(names)
}

// andList lists words: a1, a6 and a7.
func andList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// ---- toolbar ----

func (b configsBuilder) bar() view.Bar {
	q := b.in.Given
	bar := view.Bar{Copy: q.String()}
	for _, d := range configDimensions {
		values := b.values(d)
		chosen := d.get(b.in.Resolved)
		if len(chosen) == 0 {
			for _, c := range b.in.Left {
				chosen = appendNew(chosen, d.of(c.Coordinate))
			}
			slices.Sort(chosen)
		}
		switch d.name {
		case "workload":
			if len(q.Workloads) == 0 {
				chosen = nil
				for _, g := range b.a.groups {
					chosen = appendNew(chosen, g.Workload)
				}
			}
		case "config":
			chosen = b.names()
			values = slices.Clone(chosen)
			for _, v := range b.values(d) {
				values = appendNew(values, v)
			}
		}
		alone := len(values) < 2 && (len(chosen) == 0 || slices.Equal(chosen, values))
		if alone && (d.name == "compiler" || d.name == "clients") || len(values) == 0 && len(chosen) == 0 {
			continue
		}
		f := view.Field{Label: d.label, Value: shownConfigs(d, chosen), Long: len(values) > 10}
		if d.name == "system" {
			f.Value = strings.TrimSpace(f.Value + " " + b.version())
		}
		if !alone {
			f.Menu = []view.ChoiceGroup{{Choices: b.choices(d, values, chosen)}}
		}
		bar.Fields = append(bar.Fields, f)
		if d.name == "system" {
			if v, ok := b.versionField(); ok {
				bar.Fields = append(bar.Fields, v)
			}
		}
	}
	if len(b.a.c.Sets)+len(b.a.arms) > 0 {
		base := view.Field{Label: "Base", Value: b.a.base, Base: true}
		g := view.ChoiceGroup{}
		for _, name := range b.names() {
			g.Choices = append(g.Choices, view.Choice{Name: name, Current: name == b.a.base, Leaves: true, Href: q.with(func(q *configsQuery) { q.Base = name }).String()})
		}
		if len(g.Choices) > 1 {
			base.Menu = []view.ChoiceGroup{g}
		}
		bar.Fields = append(bar.Fields, base)
	}
	if len(b.in.Metrics) > 0 {
		bar.Fields = append(bar.Fields, b.metricField())
		bar.Export = []view.Link{{Text: "JSON", Title: "the comparison from the API", Href: b.in.Resolved.with(func(q *configsQuery) {
			q.Base, q.Version = b.a.base, b.a.version
		}).apiQuery()}}
	}
	return bar
}

// shownConfigs words the chosen values of a dimension.
func shownConfigs(d configDimension, chosen []string) string {
	var texts []string
	for _, v := range chosen {
		texts = append(texts, d.text(v))
	}
	switch n := len(texts); {
	case n == 0:
		return "choose"
	case n > 3 && d.name == "config":
		return texts[0] + " … " + texts[n-1]
	case n > 3:
		return strconv.Itoa(n) + " shown"
	}
	return strings.Join(texts, ", ")
}

// values gives what can be chosen of a dimension with what is chosen of those
// before it.
func (b configsBuilder) values(d configDimension) []string {
	seen := map[string]bool{}
	for _, c := range b.in.Coordinates {
		fits := true
		for _, before := range configDimensions {
			if before.name == d.name {
				break
			}
			if chosen := before.get(b.in.Resolved); len(chosen) > 0 && !slices.Contains(chosen, before.of(c.Coordinate)) {
				fits = false
			}
		}
		if fits {
			seen[d.of(c.Coordinate)] = true
		}
	}
	return sortedKeys(seen)
}

func (b configsBuilder) choices(d configDimension, values, chosen []string) []view.Choice {
	var out []view.Choice
	for _, v := range values {
		c := view.Choice{Name: d.text(v), Current: slices.Contains(chosen, v), Leaves: true, Href: b.choose(d, []string{v})}
		if d.several && (len(b.in.Left) > 0 || d.name == "config") {
			next := slices.DeleteFunc(slices.Clone(values), func(x string) bool {
				return slices.Contains(chosen, x) == (x == v) // those chosen without v, or with it
			})
			c.Held = len(next) == 0 || d.name == "config" && v == b.a.base
			if !c.Held {
				c.Toggle = b.choose(d, next)
			}
		}
		out = append(out, c)
	}
	return out
}

// choose gives the address with other values of a dimension. Of the others only
// what was measured with these stays; a base that is not among the configs goes.
func (b configsBuilder) choose(d configDimension, values []string) string {
	return b.in.Given.with(func(q *configsQuery) {
		d.set(q, values)
		q.Detail, q.DetailServer, q.DetailWorkload = "", "", ""
		if d.name == "system" {
			*q = configsQuery{System: q.System, Unknown: q.Unknown, Absolute: q.Absolute}
			return
		}
		if d.name == "config" && len(values) == 1 && values[0] != b.a.base {
			q.Configs = []string{b.a.base, values[0]} // alone it compares with nothing
		}
		left := slices.Clone(b.in.Coordinates)
		for _, other := range append([]configDimension{d}, configDimensions...) {
			want := other.get(*q)
			if len(want) == 0 || other.name == "config" {
				continue
			}
			next := slices.DeleteFunc(slices.Clone(left), func(c bench.CoordinateInfo) bool { return !slices.Contains(want, other.of(c.Coordinate)) })
			if len(next) == 0 {
				other.set(q, nil)
				continue
			}
			left = next
		}
		q.Steps = slices.DeleteFunc(q.Steps, func(step string) bool {
			return !slices.ContainsFunc(left, func(c bench.CoordinateInfo) bool { return c.Step == step })
		})
	}).String()
}

func (b configsBuilder) versionField() (view.Field, bool) {
	if len(b.a.versions) < 2 {
		return view.Field{}, false
	}
	f := view.Field{Label: "Version", Value: b.a.version, Versions: true}
	var g view.ChoiceGroup
	for _, v := range b.a.versions {
		g.Choices = append(g.Choices, view.Choice{Name: v, Leaves: true, Current: bench.CompareVersions(v, b.a.version) == 0,
			Href: b.in.Given.with(func(q *configsQuery) { q.Version = v }).String()})
	}
	f.Menu = []view.ChoiceGroup{g}
	return f, true
}

func (b configsBuilder) metricField() view.Field {
	f := view.Field{Label: "Metric", Value: "rate", Long: len(b.in.Metrics) > 8}
	if m, ok := bench.LookupMetric(b.in.Resolved.Metric); ok {
		f.Value = m.Title
	} else if !b.rates() {
		f.Value = "what decides each step"
	}
	g := view.ChoiceGroup{Choices: []view.Choice{{Name: "what decides each step", Leaves: true, Current: b.in.Resolved.Metric == "",
		Href: b.in.Given.with(func(q *configsQuery) { q.Metric = "" }).String()}}}
	for _, m := range b.in.Metrics {
		g.Choices = append(g.Choices, view.Choice{Name: m.Title, Title: m.About, Leaves: true, Current: m.Name == b.in.Resolved.Metric,
			Href: b.in.Given.with(func(q *configsQuery) { q.Metric = m.Name }).String()})
	}
	f.Menu = []view.ChoiceGroup{g}
	return f
}

// rates reports whether all that is compared are rates.
func (b configsBuilder) rates() bool {
	for _, g := range b.a.groups {
		for _, r := range g.rows {
			if r.Metric.Unit != "1/s" {
				return false
			}
		}
	}
	return true
}

// ---- what stands above ----

// differ reports whether a part of the places is not the same for all.
func (b configsBuilder) differ(of func(configPlace) string) bool {
	return slices.ContainsFunc(b.a.groups, func(g configGroup) bool { return of(g.configPlace) != of(b.a.groups[0].configPlace) })
}

var placeParts = []struct {
	of   func(configPlace) string
	text func(string) string
}{
	{func(p configPlace) string { return p.Workload }, workloadTitle},
	{func(p configPlace) string { return p.Server }, func(s string) string { return "on " + s }},
	{func(p configPlace) string { return p.Compiler }, compilerName},
	{func(p configPlace) string { return strconv.Itoa(p.Clients) }, func(s string) string { return s + " clients" }},
}

// place words a place by its workload and what else places differ in.
func (b configsBuilder) place(p configPlace) string {
	var parts []string
	for i, x := range placeParts {
		if i == 0 || b.differ(x.of) {
			parts = append(parts, x.text(x.of(p)))
		}
	}
	return strings.Join(parts, " ")
}

// step words a row with its place.
func (b configsBuilder) step(r *compare.ArmRow) string {
	return bench.ShortStep(r.Step) + ", " + b.place(configPlaceOf(r.Coordinate))
}

func (b configsBuilder) meta() []view.Fact {
	if len(b.a.groups) == 0 {
		return []view.Fact{fact("options only: nothing was measured with these configs here")}
	}
	var servers, steps []string
	clients, most, least := map[int]bool{}, 0, math.MaxInt
	metrics := map[string][]string{}
	var order []bench.Metric
	for _, g := range b.a.groups {
		servers = appendNew(servers, g.Server)
		clients[g.Clients] = true
		for _, r := range g.rows {
			steps = appendNew(steps, bench.ShortStep(r.Step))
			if metrics[r.Metric.Name] == nil {
				order = append(order, r.Metric)
			}
			metrics[r.Metric.Name] = append(metrics[r.Metric.Name], r.Step)
			for i := range r.Cells {
				if c := &r.Cells[i]; c.Point != nil {
					most, least = max(most, c.N), min(least, c.N)
				}
			}
		}
	}
	where := "server " + andList(servers)
	if len(clients) == 1 {
		if n := b.a.groups[0].Clients; n > 0 {
			where += ", " + plural(n, "client", "clients")
		}
	}
	out := []view.Fact{fact(where)}
	if len(steps) <= 12 {
		out = append(out, fact("steps "+strings.Join(steps, " ")))
	} else {
		out = append(out, fact(plural(len(steps), "step", "steps")))
	}
	for i, m := range order {
		text := directionText(m)
		if b.rates() && len(order) > 1 {
			text = rateUnit(m) + " for " + stepPattern(metrics[m.Name])
			if i == len(order)-1 {
				text += ", higher is better ↑"
			}
		}
		out = append(out, fact(text))
	}
	switch {
	case most == 1:
		out = append(out, fact("n = 1: "+noiseUnknown+", a practical rule stands in"))
	case most == least:
		out = append(out, fact(fmt.Sprintf("n = %d", most)))
	default:
		out = append(out, fact(fmt.Sprintf("n = %d to %d", least, most)))
	}
	return out
}

// rateUnit words what a rate counts.
func rateUnit(m bench.Metric) string {
	switch m.Name {
	case "ips":
		return "inserts/s"
	case "qps":
		return "queries/s"
	}
	return m.Title
}

// stepPattern names steps by what their names begin with where that is short:
// l.* or q*.
func stepPattern(steps []string) string {
	prefix := steps[0]
	for _, s := range steps {
		for !strings.HasPrefix(s, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	prefix = strings.TrimRight(prefix, "0123456789")
	if len(steps) > 1 && prefix != "" {
		return prefix + "*"
	}
	if len(steps) > 3 {
		return plural(len(steps), "step", "steps")
	}
	return strings.Join(steps, ", ")
}

// armStanding is a cell with its row.
type armStanding struct {
	row  *compare.ArmRow
	cell *compare.ArmCell
}

func (s armStanding) log() float64 {
	if s.cell.Relative == nil || *s.cell.Relative <= 0 {
		return 0
	}
	return math.Log(*s.cell.Relative)
}

// standings are the cells of the others that can be compared, the largest effect
// first.
func (b configsBuilder) armStandings() []armStanding {
	var list []armStanding
	for _, g := range b.a.groups {
		for _, r := range g.rows {
			for i := range r.Cells {
				if c := &r.Cells[i]; c.Point != nil && c.Arm != b.a.base && c.Relative != nil {
					list = append(list, armStanding{r, c})
				}
			}
		}
	}
	slices.SortStableFunc(list, func(x, y armStanding) int { return cmp.Compare(math.Abs(y.log()), math.Abs(x.log())) })
	return list
}

var smallNumbers = []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// numberWord writes a small number as a word.
func numberWord(n int) string {
	if n >= 0 && n < len(smallNumbers) {
		return smallNumbers[n]
	}
	return strconv.Itoa(n)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lead answers in words whether a config is better than the base, and which are
// worse.
func (b configsBuilder) lead() []view.Part {
	var parts []view.Part
	say := func(text string) { parts = append(parts, textPart(text)) }
	strong := func(text string) { parts = append(parts, view.Part{Text: text, Strong: true}) }
	switch {
	case len(b.a.groups) == 0:
		strong("Nothing was measured with " + andOr(b.names()) + " here.")
		say(" What their files set is compared below.")
		return parts
	case len(b.a.arms) == 1:
		strong("Only " + b.a.arms[0] + " was measured here.")
		say(" There is no other config to compare it with yet.")
		return parts
	}
	all := b.armStandings()
	if len(all) == 0 {
		say(fmt.Sprintf("%s was not measured where the others were: nothing can be divided by it.", b.a.base))
		return parts
	}
	var worse, better []armStanding
	for _, s := range all {
		if marked(s.cell, s.row.Metric.Direction) {
			worse = append(worse, s)
		} else if s.cell.Stand(s.row.Metric.Direction) == compare.Better {
			better = append(better, s)
		}
	}
	b.leadBetter(better, say, strong)
	parts = append(parts, b.leadWorse(worse)...)
	return append(parts, b.leadSeconds(worse)...)
}

func andOr(names []string) string {
	if len(names) > 6 {
		return nameSpan(names)
	}
	return andList(names)
}

func (b configsBuilder) leadBetter(better []armStanding, say, strong func(string)) {
	var all []string // better in all steps of a place
	for _, p := range b.a.c.Places {
		if bench.CompareVersions(p.Version, b.a.version) == 0 && len(p.Better) > 0 {
			all = append(all, fmt.Sprintf("%s in all steps of %s", andList(p.Better), workloadTitle(p.Workload)+b.onServer(p.Server)))
		}
	}
	if len(all) > 0 {
		verb := "is"
		if strings.Contains(all[0], " and ") {
			verb = "are"
		}
		strong(strings.Replace(all[0], " in all steps", " "+verb+" better than "+b.a.base+" in all steps", 1) + ".")
		for _, x := range all[1:] {
			say(" Also " + x + ".")
		}
		return
	}
	if len(better) == 0 {
		strong(b.a.base + " is good enough.")
		say(" No config beats it beyond noise in any step.")
		return
	}
	strong(b.a.base + " is good enough.")
	say(" No config beats it in all steps of a workload.")
	var some []string
	for _, s := range better[:min(3, len(better))] {
		some = append(some, fmt.Sprintf("%s in %s (%s %s)", s.cell.Arm, b.step(s.row), glyphBetter, compare.FormatRatio(*s.cell.Relative, s.cell.Low, s.cell.High)))
	}
	say(" Better in single steps: " + andList(some))
	if n := len(better) - len(some); n > 0 {
		say(fmt.Sprintf(" and %d more", n))
	}
	say(".")
}

func (b configsBuilder) onServer(server string) string {
	if b.differ(func(p configPlace) string { return p.Server }) {
		return " on " + server
	}
	return ""
}

func (b configsBuilder) leadWorse(worse []armStanding) []view.Part {
	if len(worse) == 0 {
		return []view.Part{textPart(" None is worse.")}
	}
	var arms []string
	one := true
	for _, s := range worse {
		arms = appendNew(arms, s.cell.Arm)
		one = one && s.row == worse[0].row
	}
	ratio := func(s armStanding) view.Part {
		return view.Part{Text: fmt.Sprintf("%s %s %s", s.cell.Arm, glyphWorse, compare.FormatRatio(*s.cell.Relative, s.cell.Low, s.cell.High)), Strong: true, Class: "dn"}
	}
	verb := "is"
	if len(arms) > 1 {
		verb = "are"
	}
	head := fmt.Sprintf(" %s %s worse, ", capital(numberWord(len(arms))), verb)
	if one {
		switch len(arms) {
		case 1:
		case 2:
			head += "both "
		default:
			head += "all "
		}
		r := worse[0].row
		head += "in " + bench.ShortStep(r.Step)
		if len(b.a.groups) > 1 {
			head += " and " + b.place(configPlaceOf(r.Coordinate))
		}
		if b.manyRows() {
			head += " only"
		}
		head += ": "
	} else {
		head = strings.TrimSuffix(head, ", ") + ": "
	}
	parts := []view.Part{textPart(head)}
	const most = 4
	for i, s := range worse[:min(most, len(worse))] {
		switch {
		case i == 0:
		case i == min(most, len(worse))-1 && len(worse) <= most:
			parts = append(parts, textPart(" and "))
		default:
			parts = append(parts, textPart(", "))
		}
		parts = append(parts, ratio(s))
		if !one {
			parts = append(parts, textPart(" in "+b.step(s.row)))
		}
	}
	if n := len(worse) - most; n > 0 {
		parts = append(parts, textPart(fmt.Sprintf(" and %d more", n)))
	}
	return append(parts, textPart("."))
}

func (b configsBuilder) manyRows() bool {
	n := 0
	for _, g := range b.a.groups {
		n += len(g.rows)
	}
	return n > 1
}

// leadSeconds says what averages hide: the worst seconds of the marked cells of
// the first row that has any.
func (b configsBuilder) leadSeconds(worse []armStanding) []view.Part {
	var row *compare.ArmRow
	var texts []string
	base := ""
	for _, s := range worse {
		p := s.cell.Practical
		if p == nil || p.Seconds == nil || *p.Seconds >= compare.PracticalSeconds || row != nil && s.row != row {
			continue
		}
		from, own := b.second(s.row, b.a.base), b.second(s.row, s.cell.Arm)
		if from == nil || own == nil {
			continue
		}
		row, base = s.row, compare.FormatFull(from.Value)
		verb := ""
		if len(texts) == 0 {
			verb = map[bool]string{true: "inserts ", false: "answers "}[decides(s.row) == "ips"]
		}
		texts = append(texts, fmt.Sprintf("%s %sat %s/s", s.cell.Arm, verb, compare.FormatFull(own.Value)))
	}
	if row == nil {
		return nil
	}
	where := ""
	if !b.oneRow(worse) {
		where = " of " + b.step(row)
	}
	return []view.Part{textPart(fmt.Sprintf(" The averages understate it: in their worst seconds%s %s where %s still does %s/s.", where, andList(texts[:min(3, len(texts))]), b.a.base, base))}
}

func (b configsBuilder) oneRow(list []armStanding) bool {
	return !slices.ContainsFunc(list, func(s armStanding) bool { return s.row != list[0].row })
}

// second gives a config's p99-second rate at a row.
func (b configsBuilder) second(r *compare.ArmRow, arm string) *compare.Point {
	return b.pointOf(b.in.Facts.Seconds, "p99_second_rate", r, arm)
}

// pointOf gives the figure of another metric at the place, step and version of a
// row.
func (b configsBuilder) pointOf(series []bench.Series, metric string, r *compare.ArmRow, arm string) *compare.Point {
	for i := range series {
		s := &series[i]
		at := s.Coordinate
		at.Config = ""
		if s.Metric.Name != metric || at != r.Coordinate || s.Config != arm {
			continue
		}
		for _, p := range s.Points {
			if bench.CompareVersions(p.Version, r.Version) != 0 {
				continue
			}
			var values []float64
			for _, x := range p.Samples {
				if !x.Excluded {
					values = append(values, x.Value)
				}
			}
			if len(values) == 0 {
				return nil
			}
			return &compare.Point{Version: p.Version, N: len(values), Value: compare.Median(values), Min: slices.Min(values), Max: slices.Max(values)}
		}
	}
	return nil
}

// files says what the options say that descriptions leave out.
func (b configsBuilder) files() []view.Part {
	var sentences []string
	var extra string
	for _, g := range b.a.c.Family.Together {
		var words []string
		for _, ch := range g.Surprises {
			words = append(words, changeWords(ch, len(g.Configs) == 1))
			extra = changeAdjective(ch) + " included"
		}
		if len(words) > 0 {
			sentences = append(sentences, fmt.Sprintf("%s also %s.", andList(g.Configs), andList(words)))
		}
	}
	var sums []string
	for i, x := range b.a.c.Family.Combinations {
		text := fmt.Sprintf("%s = %s holds", x.Config, strings.Join(x.Parts, " + "))
		switch {
		case i == 0 && extra != "" && b.surprised(x.Config):
			text += ", " + extra
		case i > 0:
			text += " too"
		}
		sums = append(sums, text)
	}
	if len(sums) > 0 {
		sentences = append(sentences, strings.Join(sums, "; ")+".")
	}
	for _, s := range b.a.c.Sets {
		if s.Variants > 0 {
			sentences = append(sentences, fmt.Sprintf("%s stands for %d sets of options; shown is %s, which the most of these runs were made with.", s.Name, s.Variants+1, s.SourceName))
		}
	}
	if c := b.a.c; len(c.OtherLayer) > 0 {
		text := "of %s only what a server said of itself is stored, which is not compared with what files ask for."
		if c.Layer == bench.LayerEffective {
			text = "of %s only what a file asks for is stored, which is not compared with what servers said of themselves."
		}
		sentences = append(sentences, capital(fmt.Sprintf(text, andList(c.OtherLayer))))
	}
	if len(sentences) == 0 {
		return nil
	}
	head := "The files say more than their names."
	if extra == "" {
		head = "What the files say."
	}
	return []view.Part{{Text: head, Strong: true}, textPart(" " + strings.Join(sentences, " "))}
}

// surprised reports whether a config makes a change that stands in no description.
func (b configsBuilder) surprised(name string) bool {
	return slices.ContainsFunc(b.a.c.Family.Together, func(g bench.OptionGroup) bool {
		return len(g.Surprises) > 0 && slices.Contains(g.Configs, name)
	})
}

// shortKey leaves out what all keys of a server's storage engine begin with.
func shortKey(key string) string { return strings.TrimPrefix(key, "rocksdb_") }

// keyWords words a key whose value is a size: block cache.
func keyWords(ch bench.OptionChange) string {
	key := shortKey(ch.Key)
	if _, ok := bytesOf(ch.To); ok {
		key = strings.TrimSuffix(key, "_size")
	}
	return strings.ReplaceAll(key, "_", " ")
}

// bytesOf gives a whole number that a setting means.
func bytesOf(s bench.Setting) (float64, bool) {
	n, err := strconv.ParseFloat(s.Value, 64)
	return n, err == nil && s.Set && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// sizes gives the numbers of a change of a size: what is called one, or is written
// with a unit.
func sizes(ch bench.OptionChange) (from, to float64, ok bool) {
	from, okFrom := bytesOf(ch.From)
	to, okTo := bytesOf(ch.To)
	unit := func(s string) bool { return s != "" && strings.ContainsRune("kKmMgGtT", rune(s[len(s)-1])) }
	return from, to, okFrom && okTo && (strings.HasSuffix(ch.Key, "_size") || unit(ch.From.Written) || unit(ch.To.Written))
}

// changeWords says what one config does, or several do: cut the block cache from
// 8G to 6G.
func changeWords(ch bench.OptionChange, one bool) string {
	verb := func(plain string) string {
		if one {
			return plain + "s"
		}
		return plain
	}
	from, to, ok := sizes(ch)
	switch {
	case ok && to < from:
		return fmt.Sprintf("%s the %s from %s to %s", verb("cut"), keyWords(ch), ch.From.Written, ch.To.Written)
	case ok:
		return fmt.Sprintf("%s the %s from %s to %s", verb("raise"), keyWords(ch), ch.From.Written, ch.To.Written)
	case ch.Kind == bench.OptionRemoved:
		return verb("leave") + " out " + ch.OptionName.String()
	}
	return fmt.Sprintf("%s %s from %s to %s", verb("change"), ch.OptionName, settingText(ch.From), settingText(ch.To))
}

// changeAdjective names what a change leads to: the smaller block cache.
func changeAdjective(ch bench.OptionChange) string {
	switch from, to, ok := sizes(ch); {
	case ok && to < from:
		return "the smaller " + keyWords(ch)
	case ok:
		return "the larger " + keyWords(ch)
	}
	return "the change of " + ch.OptionName.String()
}

// rules say how cells were judged.
func (b configsBuilder) rules() []string {
	rule := capital(compare.PracticalRule) + "."
	var marks []string
	for _, s := range b.armStandings() {
		if s.cell.Practical != nil && s.cell.Practical.Worse {
			marks = append(marks, s.cell.Arm+" in "+b.step(s.row))
		}
	}
	pairs := len(b.armStandings())
	switch {
	case len(marks) == 0:
		rule += fmt.Sprintf(" It marks none of %s of config and step.", plural(pairs, "pair", "pairs"))
	case len(marks) <= 6:
		rule += fmt.Sprintf(" It marks %d of %s of config and step: %s.", len(marks), plural(pairs, "pair", "pairs"), andList(marks))
	default:
		rule += fmt.Sprintf(" It marks %d of %s of config and step.", len(marks), plural(pairs, "pair", "pairs"))
	}
	out := []string{rule}
	var good []string
	for _, g := range b.a.groups {
		for _, p := range b.a.c.Places {
			if p.Server == g.Server && p.Workload == g.Workload && bench.CompareVersions(p.Version, b.a.version) == 0 && len(p.Better) == 0 {
				good = appendNew(good, workloadTitle(p.Workload)+b.onServer(p.Server))
			}
		}
	}
	if len(good) > 0 {
		text := fmt.Sprintf("no config is better beyond noise in all steps of %s. Where a config was run once its noise is unknown; better then is more than %s of the base's rate.",
			andNor(good), compare.FormatRatio(1/compare.PracticalRatio, nil, nil))
		if slices.ContainsFunc(b.armStandings(), func(s armStanding) bool { return s.cell.Stand(s.row.Metric.Direction) == compare.Better }) {
			out = append(out, capital(text)) // better in a step it is: the lead says where
		} else {
			out = append(out, b.a.base+" is good enough: "+text)
		}
	}
	return out
}

func andNor(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or of " + words[n-1]
	}
	return strings.Join(words, "")
}

// others links to stored configs of the system that are not shown.
func (b configsBuilder) others() []view.Link {
	shown := b.names()
	var links []view.Link
	seen := map[string]bool{}
	for _, c := range b.in.Stored {
		if slices.Contains(shown, c.Name) || seen[c.Name] || len(links) >= storedMax {
			continue
		}
		seen[c.Name] = true
		links = append(links, view.Link{Text: c.Name, Href: configHref(c.System, c.Name, b.a.base), Title: c.SourceName})
	}
	return links
}

// nothing is what stands where there is nothing to compare.
func (b configsBuilder) nothing() *view.Empty {
	e := &view.Empty{Command: configUploadCommand(b.in.Origin, b.in.Resolved.System), Links: []view.Link{{Text: "Send files from this browser", Href: "/upload"}}}
	if len(b.in.Coordinates) == 0 && len(b.in.Stored) == 0 {
		e.Sentence = "No configs yet."
		e.Detail = "Expected are results of runs that name a config, and the options of configs: my.cnf, OPTIONS files of RocksDB, lists of key=value, or what SHOW GLOBAL VARIABLES says. This sends a file of options:"
		return e
	}
	var what []string
	for _, d := range configDimensions {
		if v := d.get(b.in.Given); len(v) > 0 {
			what = append(what, d.name+" "+strings.Join(v, " or "))
		}
	}
	if len(b.in.Given.Steps) > 0 {
		what = append(what, "step "+strings.Join(b.in.Given.Steps, " or "))
	}
	e.Sentence = "No config was measured for " + strings.Join(what, ", ") + "."
	e.Detail = "Expected were results of runs with a config, or stored options. This sends a file of options; results name their config themselves, or by the context flag config:"
	e.Links = append([]view.Link{{Text: "All configs", Href: "/configs"}}, e.Links...)
	return e
}

// unknownVersion is the version of what nobody knows the version of.
const unknownVersion = "unknown"
