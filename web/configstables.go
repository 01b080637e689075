package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// ---- options and steps ----

// rowsOfKeys are the options that differ, in the order in which configs change
// them.
func (b configsBuilder) rowsOfKeys() []bench.OptionRow {
	rows := slices.Clone(b.a.c.Family.Rows)
	at := func(r bench.OptionRow) int {
		return slices.IndexFunc(r.Kinds, func(k bench.ChangeKind) bool { return k != bench.OptionSame })
	}
	slices.SortStableFunc(rows, func(x, y bench.OptionRow) int { return at(x) - at(y) })
	return rows
}

// matrix is the table of configs; options that are too many for it come apart.
func (b configsBuilder) matrix() (view.ConfigMatrix, *view.OptionTable) {
	m := view.ConfigMatrix{Narrow: b.narrow(), Caption: "Configs: options that differ from " + b.a.base + " at the left, steps relative to it at the right"}
	keys := b.rowsOfKeys()
	var apart *view.OptionTable
	switch {
	case len(keys) > matrixKeysMax:
		apart = b.optionTable(keys)
		keys = nil
		m.What = "one row per config, options below"
	case len(keys) == 0:
		m.What = "one row per config"
	case len(b.a.groups) == 0:
		m.What = "one row per config"
	default:
		m.What = "one row per config: options on the left, steps on the right"
	}
	m.KeysHead = "options, against " + b.a.base
	if b.a.c.Layer == bench.LayerEffective {
		m.KeysHead = "options as servers said, against " + b.a.base
	}
	for _, k := range keys {
		m.Keys = append(m.Keys, optionHead(k.OptionName))
	}
	if len(b.a.groups) > 0 {
		m.Show = view.Segment{Label: "Show", Links: []view.Link{
			{Text: "relative", Current: !b.in.Given.Absolute, Href: b.in.Given.with(func(q *configsQuery) { q.Absolute = false }).String() + "#matrix"},
			{Text: "absolute", Current: b.in.Given.Absolute, Href: b.in.Given.with(func(q *configsQuery) { q.Absolute = true }).String() + "#matrix"},
		}}
	}
	m.Groups = b.stepGroups(true)
	for _, name := range b.names() {
		m.Rows = append(m.Rows, b.configRow(name, keys))
	}
	for _, r := range m.Rows {
		for _, k := range r.Keys {
			if m.Surprise == "" && strings.Contains(k.Class, "odd") {
				m.Surprise = k.Text
			}
		}
	}
	if len(b.a.groups) > 0 && slices.Contains(b.a.arms, b.a.base) {
		m.Foot = b.footRow(len(keys))
	}
	return m, apart
}

// narrow reports whether the columns of steps are too few to fill the page.
func (b configsBuilder) narrow() bool {
	n := 0
	for _, g := range b.a.groups {
		n += len(g.rows)
	}
	return n+len(b.a.c.Family.Rows) < 9
}

// stepGroups are the heads over the columns of steps.
func (b configsBuilder) stepGroups(links bool) []view.StepGroup {
	var out []view.StepGroup
	for _, g := range b.a.groups {
		title := b.placeTitle(g)
		what := "rate"
		if !b.rates() {
			what = "value"
		}
		if b.in.Given.Absolute {
			title += ": " + b.absoluteHead(g)
		} else {
			title += fmt.Sprintf(": %s / %s of %s", what, what, b.a.base)
		}
		x := view.StepGroup{Title: title, Span: strconv.Itoa(len(g.rows))}
		for _, r := range g.rows {
			l := view.Link{Text: bench.ShortStep(r.Step), Title: r.Step + ": " + valueHead(r.Metric)}
			if links {
				l.Href = b.detailHref(r)
				l.Title += "; times, worst seconds and costs"
			}
			x.Steps = append(x.Steps, l)
		}
		out = append(out, x)
	}
	return out
}

func (b configsBuilder) absoluteHead(g configGroup) string {
	if b.rates() {
		return "rate per second"
	}
	return valueHead(g.rows[0].Metric)
}

// placeTitle words a place with how much was loaded: IO-bound, 800M rows.
func (b configsBuilder) placeTitle(g configGroup) string {
	title := b.place(g.configPlace)
	if rows := b.in.Loaded[g.configPlace]; rows != "" {
		title += ", " + strings.ToUpper(rows) + " rows"
	}
	return title
}

func (b configsBuilder) detailHref(r *compare.ArmRow) string {
	return b.in.Given.with(func(q *configsQuery) { b.setDetail(q, r) }).String() + "#detail"
}

func (b configsBuilder) setDetail(q *configsQuery, r *compare.ArmRow) {
	q.Detail, q.DetailServer, q.DetailWorkload = r.Step, "", ""
	if b.differ(func(p configPlace) string { return p.Workload }) {
		q.DetailWorkload = r.Workload
	}
	if b.differ(func(p configPlace) string { return p.Server }) {
		q.DetailServer = r.Server
	}
}

// keyPartMax bounds what stands unbroken of a key, in bytes.
const keyPartMax = 24

// optionHead cuts a key where a narrow column may break it.
func optionHead(name bench.OptionName) view.OptionHead {
	h := view.OptionHead{Title: name.String()}
	short := bench.OptionName{Scope: name.Scope, Key: shortKey(name.Key)}.String()
	for short != "" {
		n := strings.IndexAny(short, "_.")
		if n < 0 {
			n = len(short) - 1
		}
		n = min(n, keyPartMax-1)
		for !utf8.RuneStart((short + "a")[n+1]) {
			n++
		}
		h.Parts = append(h.Parts, short[:n+1])
		short = short[n+1:]
	}
	return h
}

func (b configsBuilder) configRow(name string, keys []bench.OptionRow) view.ConfigRow {
	row := view.ConfigRow{Name: name, Href: configHref(b.in.Resolved.System, name, b.a.base)}
	row.Note, row.Title = b.note(name)
	for _, k := range keys {
		row.Keys = append(row.Keys, b.optionCell(k, name))
	}
	for _, g := range b.a.groups {
		var cells []view.HeatCell
		for _, r := range g.rows {
			cells = append(cells, b.stepCell(r, name))
		}
		row.Groups = append(row.Groups, cells)
	}
	return row
}

// note says in a few words what a config is: what it combines, or what it changes
// but for what stands in no description.
func (b configsBuilder) note(name string) (short, title string) {
	set := b.a.set(name)
	switch {
	case set == nil && slices.Contains(b.a.c.OtherLayer, name):
		return "options not comparable", "What is stored of " + name + " and of " + b.a.base + " differs in kind: what a file asks for, and what a server said of itself."
	case set == nil:
		return "no options stored", "No options are stored for " + name + ": upload its file."
	case name == b.a.base:
		return baseWord, set.SourceName
	}
	title = set.SourceName
	var changes []bench.OptionChange
	at := slices.Index(b.a.c.Family.Configs, name)
	if at >= 0 {
		for _, r := range b.rowsOfKeys() {
			if r.Kinds[at] != bench.OptionSame {
				changes = append(changes, bench.OptionChange{OptionName: r.OptionName, Kind: r.Kinds[at], From: r.Base, To: r.Other[at]})
			}
		}
	}
	if len(changes) > 0 {
		var all []string
		for _, ch := range changes {
			all = append(all, ch.String())
		}
		title = strings.TrimSpace(title + ": " + strings.Join(all, ", "))
	}
	for _, x := range b.a.c.Family.Combinations {
		if x.Config == name {
			return strings.Join(x.Parts, " + "), title
		}
	}
	changes = slices.DeleteFunc(changes, func(ch bench.OptionChange) bool { return b.surprise(name, ch.OptionName) })
	switch {
	case at < 0:
		return "", title
	case len(changes) == 0:
		return "as " + b.a.base, title
	}
	return noteText(changes), title
}

// noteText words changes shortly: max subcompactions 2; level0 … 8 and 12.
func noteText(changes []bench.OptionChange) string {
	words := func(ch bench.OptionChange) []string {
		return strings.Split(shortKey(ch.Key[strings.LastIndexByte(ch.Key, '.')+1:]), "_")
	}
	text := func(ch bench.OptionChange) string {
		key := strings.Join(words(ch), " ")
		switch {
		case ch.Kind == bench.OptionRemoved, ch.To.Value == "OFF":
			return "no " + key
		case ch.To.Value == "ON":
			return key
		}
		return key + " " + ch.To.Written
	}
	if len(changes) == 1 {
		return text(changes[0])
	}
	common := words(changes[0])
	var values []string
	for _, ch := range changes {
		own := words(ch)
		n := 0
		for n < len(common) && n < len(own) && common[n] == own[n] {
			n++
		}
		common = common[:n]
		values = append(values, settingText(ch.To))
	}
	if len(common) > 0 && len(changes) <= 3 {
		return strings.Join(common, " ") + " … " + andList(values)
	}
	return fmt.Sprintf("%s and %d more", text(changes[0]), len(changes)-1)
}

// surprise reports whether an option that a config changes stands in no
// description of it.
func (b configsBuilder) surprise(name string, option bench.OptionName) bool {
	return slices.ContainsFunc(b.a.c.Family.Together, func(g bench.OptionGroup) bool {
		return slices.Contains(g.Configs, name) && slices.ContainsFunc(g.Surprises, func(ch bench.OptionChange) bool { return ch.OptionName == option })
	})
}

func (b configsBuilder) optionCell(k bench.OptionRow, name string) view.OptionCell {
	if name == b.a.base {
		c := view.OptionCell{Text: settingText(k.Base), Class: "o0", Title: k.OptionName.String()}
		if !k.Base.Set {
			c.Title += ": not set, the server's default holds"
			if back, ok := readBack(b.a.set(name), k.OptionName); ok {
				c.Text = back
				c.Title = k.OptionName.String() + ": not set; read back from the server"
			}
		}
		return c
	}
	at := slices.Index(b.a.c.Family.Configs, name)
	if at < 0 {
		return view.OptionCell{Text: "?", Class: "o2", Title: "no options are stored for " + name}
	}
	if k.Kinds[at] == bench.OptionSame {
		return view.OptionCell{Text: "·", Class: "o2", Title: "as " + b.a.base}
	}
	change := bench.OptionChange{OptionName: k.OptionName, Kind: k.Kinds[at], From: k.Base, To: k.Other[at]}
	c := view.OptionCell{Text: settingText(k.Other[at]), Class: "o1", Title: change.String()}
	if b.surprise(name, k.OptionName) {
		c.Class += " odd"
		c.Title += "; changed beside what its description would name"
	}
	return c
}

func settingText(s bench.Setting) string {
	switch {
	case !s.Set:
		return compare.Missing
	case s.Written == "":
		return "(empty)"
	}
	return s.Written
}

// readBack gives what the server said of an option.
func readBack(set *compare.ConfigSet, name bench.OptionName) (value string, ok bool) {
	if set == nil || set.Effective == nil {
		return "", false
	}
	for i := range set.Effective.Options {
		o := &set.Effective.Options[i]
		if o.Key == name.Key && o.Scope() == name.Scope {
			return cmp.Or(o.Written, o.Value), true
		}
	}
	return "", false
}

func (b configsBuilder) stepCell(r *compare.ArmRow, arm string) view.HeatCell {
	c := r.Cell(arm)
	if c == nil {
		return view.HeatCell{Class: "x", Title: fmt.Sprintf("%s, %s: not measured", arm, b.step(r))}
	}
	cell := view.HeatCell{Class: standTint(c, r.Metric.Direction), Title: b.cellTitle(r, c), Href: runHref(c.Runs[0])}
	if len(c.Runs) > 1 {
		cell.Href = ""
	}
	switch {
	case c.Relative == nil && !b.in.Given.Absolute && baseIsZero(r, b.a.base):
		cell.Text, cell.Class = compare.BaseIsZero, "x"
	case c.Relative == nil:
		cell.Text, cell.Class = compare.FormatShort(c.Value), "x"
	case b.in.Given.Absolute:
		cell.Text = compare.FormatShort(c.Value)
	default:
		cell.Text = compare.FormatRatio(*c.Relative, nil, nil)
	}
	if arm == b.a.base && c.Relative != nil {
		cell.Class = "isb"
	}
	return cell
}

// baseIsZero tells whether what a row would be divided by is 0.
func baseIsZero(r *compare.ArmRow, base string) bool {
	c := r.Cell(base)
	return c != nil && c.Value == 0
}

// cellTitle has every figure of a cell.
func (b configsBuilder) cellTitle(r *compare.ArmRow, c *compare.ArmCell) string {
	unit := unitSuffix(r.Metric.Unit)
	text := fmt.Sprintf("%s, %s: %s%s", c.Arm, b.step(r), compare.FormatFull(c.Value), unit)
	if c.Arm != b.a.base {
		if from := r.Cell(b.a.base); from != nil {
			text += fmt.Sprintf(" against %s%s", compare.FormatFull(from.Value), unit)
		}
		if c.Relative != nil {
			text += fmt.Sprintf(", %.3f", *c.Relative)
		}
	}
	return text + ", " + doubtOf(c, c.Arm == b.a.base) + practicalText(c)
}

// doubtOf says how sure a cell is.
func doubtOf(c *compare.ArmCell, base bool) string {
	text := fmt.Sprintf("n = %d", c.N)
	switch {
	case c.Flagged:
		text += ", not comparable: the run carries a warning"
	case base:
	case c.Low != nil && c.High != nil:
		text = compare.FormatInterval(c.Low, c.High) + ", " + text
	case c.Relative != nil:
		text += ": " + noiseUnknown
	}
	return text
}

func practicalText(c *compare.ArmCell) string {
	if c.Practical == nil || !c.Practical.Worse {
		return ""
	}
	return "; worse by the practical rule: " + strings.Join(c.Practical.Reasons, "; ")
}

// standTint gives the class of a cell by how it stands, see [tint] for the steps:
// what the practical rule marks is tinted however near to 1.00 its ratio is.
func standTint(c *compare.ArmCell, d bench.Direction) string {
	if c.Flagged || c.Relative == nil {
		return "x"
	}
	v := c.Stand(d)
	if marked(c, d) {
		v = compare.Worse
	}
	class := tintOf(v, *c.Relative)
	if c.Practical != nil && c.Practical.Worse {
		class += " pr"
	}
	return class
}

// tintOf gives the class of a ratio with its verdict; what has none is hatched.
func tintOf(v compare.Verdict, ratio float64) string {
	side := ""
	switch v {
	case compare.Better:
		side = "b"
	case compare.Worse:
		side = "w"
	case compare.Moved:
		return "x"
	default:
		return "u"
	}
	far := 0.0
	if ratio > 0 {
		far = math.Abs(math.Log(ratio))
	}
	switch {
	case far < 0.03:
		return side + "1"
	case far < 0.08:
		return side + "2"
	case far < 0.16:
		return side + "3"
	}
	return side + "4"
}

// footRow has the base's figures.
func (b configsBuilder) footRow(keys int) view.ConfigRow {
	name := b.a.base + ", "
	if b.rates() {
		name += "per second"
	} else {
		name += "as measured"
	}
	row := view.ConfigRow{Name: name, Keys: make([]view.OptionCell, keys)}
	for _, g := range b.a.groups {
		var cells []view.HeatCell
		for _, r := range g.rows {
			cell := view.HeatCell{Text: compare.Missing}
			if c := r.Cell(b.a.base); c != nil {
				cell.Text = compare.FormatShort(c.Value)
				cell.Title = compare.FormatFull(c.Value) + unitSuffix(r.Metric.Unit)
			}
			cells = append(cells, cell)
		}
		row.Groups = append(row.Groups, cells)
	}
	return row
}

// optionTable has a row for each key: for more keys than a matrix has room for.
func (b configsBuilder) optionTable(keys []bench.OptionRow) *view.OptionTable {
	t := &view.OptionTable{What: fmt.Sprintf("%s of %s, environment keys (paths, socket, server_id) set aside", plural(len(keys), "option", "options"), plural(len(b.a.c.Sets), "config", "configs"))}
	var names []string
	for _, s := range b.a.c.Sets {
		names = append(names, s.Name)
		t.Names = append(t.Names, view.Link{Text: s.Name, Href: configHref(b.in.Resolved.System, s.Name, b.a.base), Title: s.SourceName})
	}
	for _, k := range keys {
		line := view.OptionLine{Key: optionHead(k.OptionName)}
		for _, name := range names {
			line.Cells = append(line.Cells, b.optionCell(k, name))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// ---- one step ----

// detailRow is the row that is looked at closely: the one asked for, else the one
// with the largest effect of what is marked, else of all.
func (b configsBuilder) detailRow() (*compare.ArmRow, configGroup) {
	q := b.in.Given
	if q.Detail != "" {
		for _, g := range b.a.groups {
			for _, r := range g.rows {
				if r.Step == q.Detail && (q.DetailServer == "" || q.DetailServer == r.Server) && (q.DetailWorkload == "" || q.DetailWorkload == r.Workload) {
					return r, g
				}
			}
		}
	}
	all := b.armStandings()
	row := b.a.groups[0].rows[0]
	if at := slices.IndexFunc(all, func(s armStanding) bool { return marked(s.cell, s.row.Metric.Direction) }); at >= 0 {
		row = all[at].row
	} else if len(all) > 0 {
		row = all[0].row
	}
	at := slices.IndexFunc(b.a.groups, func(g configGroup) bool { return g.configPlace == configPlaceOf(row.Coordinate) })
	return row, b.a.groups[at]
}

func (b configsBuilder) detail() *view.ConfigDetail {
	row, _ := b.detailRow()
	d := &view.ConfigDetail{Place: b.step(row)}
	for _, g := range b.a.groups {
		s := view.Segment{Label: b.place(g.configPlace)}
		for _, r := range g.rows {
			s.Links = append(s.Links, view.Link{Text: bench.ShortStep(r.Step), Title: r.Step, Href: b.detailHref(r), Current: r == row})
		}
		d.Choices = append(d.Choices, s)
	}
	d.Times = b.times(row)
	d.Seconds = b.seconds(row)
	d.Costs = b.costs(row)
	d.Steps = b.stepsQuery(row).String()
	return d
}

// stepsQuery is the page of a step with the configs that are compared here; where
// they are more than it shows, with those that are looked at.
func (b configsBuilder) stepsQuery(r *compare.ArmRow) stepsQuery {
	q := stepsQuery{
		System: r.System, Suite: r.Suite, Step: r.Step, Servers: []string{r.Server}, Workloads: []string{r.Workload}, Versions: []string{r.Version},
		Clients: []int{r.Clients}, Base: b.a.base,
	}
	if r.Compiler != "" {
		q.Compilers = []string{r.Compiler}
	}
	for _, arm := range b.a.arms {
		if r.Cell(arm) != nil {
			q.Configs = append(q.Configs, arm)
		}
	}
	if len(q.Configs) > stepArmsMax {
		q.Configs = append([]string{b.a.base}, b.looked(r)...)
		q.Configs = q.Configs[:min(len(q.Configs), stepArmsMax)]
	}
	return q
}

// looked are the configs that a close look shows beside the base: those marked at
// the row, else the one with the largest effect.
func (b configsBuilder) looked(row *compare.ArmRow) []string {
	var arms []string
	far, most := "", -1.0
	for i := range row.Cells {
		c := &row.Cells[i]
		if c.Point == nil || c.Arm == b.a.base || c.Relative == nil || *c.Relative <= 0 {
			continue
		}
		if marked(c, row.Metric.Direction) {
			arms = append(arms, c.Arm)
		}
		if x := math.Abs(math.Log(*c.Relative)); x > most {
			far, most = c.Arm, x
		}
	}
	if len(arms) == 0 && far != "" {
		arms = []string{far}
	}
	return arms
}

// shares are the shares of a config's response times at a row, in percent, the
// mean over its runs; the buckets are those of the first.
func (b configsBuilder) shares(row *compare.ArmRow, arm string) (bounds, percents []float64, most *float64) {
	cell := row.Cell(arm)
	if cell == nil {
		return nil, nil, nil
	}
	n := 0
	for i := range b.in.Facts.Distributions {
		d := &b.in.Facts.Distributions[i]
		if d.Step != row.Step || d.Operation != compare.DecisiveOperation(decides(row)) || !slices.Contains(cell.Runs, d.RunID) {
			continue
		}
		own := slices.Clone(d.Percents)
		if own == nil {
			total := 0.0
			for _, x := range d.Counts {
				total += x
			}
			if total <= 0 {
				continue
			}
			for _, x := range d.Counts {
				own = append(own, 100*x/total)
			}
		}
		if len(own) != len(d.Bounds) || bounds != nil && !slices.Equal(bounds, d.Bounds) {
			continue
		}
		if bounds == nil {
			bounds, percents = d.Bounds, make([]float64, len(own))
		}
		for j, x := range own {
			percents[j] += x
		}
		if d.Max != nil && (most == nil || *d.Max > *most) {
			most = d.Max
		}
		n++
	}
	for j := range percents {
		percents[j] /= float64(n)
	}
	return bounds, percents, most
}

// timeBucket is a range of response times with the share of each config.
type timeBucket struct {
	name  string
	slow  bool // beyond what counts as fast
	share map[string]float64
}

// buckets gathers the shares of configs, what is fast in one bucket, without
// those that are empty for all at the end. ok is false where the base has none.
func (b configsBuilder) buckets(row *compare.ArmRow, arms []string) (list []timeBucket, ok bool) {
	bounds, _, _ := b.shares(row, b.a.base)
	if bounds == nil {
		return nil, false
	}
	fast := max(slices.Index(bounds, float64(compare.PracticalSlowUS)), 0)
	for i, bound := range bounds {
		switch {
		case i < fast:
		case i == fast:
			list = append(list, timeBucket{name: "≤ " + timeSpan(bound), share: map[string]float64{}})
		default:
			list = append(list, timeBucket{name: timeRange(bounds[i-1], bound), slow: true, share: map[string]float64{}})
		}
	}
	for _, arm := range arms {
		own, percents, _ := b.shares(row, arm)
		if !slices.Equal(own, bounds) {
			continue
		}
		for i, p := range percents {
			list[max(i-fast, 0)].share[arm] += p
		}
	}
	for len(list) > 1 {
		last := list[len(list)-1]
		empty := true
		for _, p := range last.share {
			empty = empty && p == 0
		}
		if !empty {
			break
		}
		list = list[:len(list)-1]
	}
	return list, true
}

// timeSpan shows a time given in microseconds with its unit.
func timeSpan(us float64) string {
	value, unit := timeParts(us)
	return value + " " + unit
}

func timeParts(us float64) (value, unit string) {
	switch {
	case us >= 1e6:
		return compare.FormatFull(us / 1e6), "s"
	case us >= 1000:
		return compare.FormatFull(us / 1000), "ms"
	}
	return compare.FormatFull(us), "µs"
}

// timeRange shows a range of times: 4–16 ms.
func timeRange(from, to float64) string {
	a, unitA := timeParts(from)
	z, unitZ := timeParts(to)
	if unitA == unitZ {
		return a + "–" + z + " " + unitZ
	}
	return a + " " + unitA + "–" + z + " " + unitZ
}

// decides names the metric that decides the step of a row.
func decides(r *compare.ArmRow) string { return bench.PrimaryMetric(r.Suite, r.Step) }

// operationWord names what a step does, and with its article.
func operationWord(metric string) (one, article string) {
	if metric == "ips" {
		return "insert", "an insert"
	}
	return "query", "a query"
}

func plurals(one string) string {
	if one == "query" {
		return "queries"
	}
	return one + "s"
}

func (b configsBuilder) times(row *compare.ArmRow) *view.TimeShares {
	looked := b.looked(row)
	list, ok := b.buckets(row, b.a.arms)
	if !ok || len(looked) == 0 {
		return nil
	}
	base := b.a.base
	one, article := operationWord(decides(row))
	worst := looked[0]
	for _, arm := range looked[1:] {
		if slowShare(list, arm) > slowShare(list, worst) {
			worst = arm
		}
	}
	t := &view.TimeShares{
		Title: fmt.Sprintf("%s: how long %s takes", b.step(row), article),
		What:  "share of " + plurals(one) + " by response time, log scale",
		Key:   []view.DotSample{{Kind: "open", Text: base}},
	}
	if marked(row.Cell(worst), row.Metric.Direction) {
		t.Key = append(t.Key, view.DotSample{Kind: "worse", Text: worst + ", where worse"})
	}
	t.Key = append(t.Key, view.DotSample{Kind: "closed", Text: worst})
	var pairs []dumbbell
	var said []string
	for _, x := range list {
		from, to := x.share[base], x.share[worst]
		hot := x.slow && to > from && marked(row.Cell(worst), row.Metric.Direction)
		d := dumbbell{name: x.name, a: from, b: to, hot: hot, aText: responsePart(from) + "\u2009%", bText: responsePart(to) + "\u2009%"}
		if from > 0 && to/from >= 1.5 {
			d.bText += "  ×" + compare.FormatShort(math.Round(to/from*10)/10)
			if to/from >= 10 {
				d.bText = responsePart(to) + "\u2009%  ×" + strconv.Itoa(int(math.Round(to/from)))
			}
		}
		if !x.slow {
			d.aText, d.bText, d.left = "", fmt.Sprintf("%s %s\u2009%%, %s %s\u2009%%", worst, responsePart(to), base, responsePart(from)), true
		} else if responsePart(from) == responsePart(to) {
			d.aText, d.bText = "", "both "+responsePart(from)+"\u2009%"
		}
		pairs = append(pairs, d)
		said = append(said, fmt.Sprintf("%s %s\u2009%% against %s\u2009%%", x.name, responsePart(from), responsePart(to)))
	}
	t.Plot = dumbbellPlot(pairs, func(v float64) string { return compare.FormatFull(v) + "\u2009%" }, 100)
	t.Plot.Label = fmt.Sprintf("Share of %s by response time, %s against %s: %s", plurals(one), base, worst, strings.Join(said, ", "))
	t.Table = b.shareTable(row, list, append([]string{base}, looked...))
	t.Table.Caption = "Share of " + plurals(one) + ", %"
	if len(b.a.arms) > len(looked)+1 {
		all := b.shareTable(row, list, b.a.arms)
		t.All = &all
	}
	return t
}

func slowShare(list []timeBucket, arm string) float64 {
	sum := 0.0
	for _, x := range list {
		if x.slow {
			sum += x.share[arm]
		}
	}
	return sum
}

func (b configsBuilder) shareTable(row *compare.ArmRow, list []timeBucket, arms []string) view.SimpleTable {
	t := view.SimpleTable{Heads: append([]string{"response time"}, arms...)}
	base := b.a.base
	for _, x := range list {
		r := view.SimpleRow{Name: x.name}
		for _, arm := range arms {
			p, measured := x.share[arm]
			c := view.SimpleCell{Text: responsePart(p), Class: "mut"}
			switch {
			case !measured:
				c.Text = compare.Missing
			case arm == base:
				c.Class = ""
			case x.slow && responsePart(p) != responsePart(x.share[base]) && p > x.share[base] && marked(row.Cell(arm), row.Metric.Direction):
				c.Class = "dn"
			}
			r.Cells = append(r.Cells, c)
		}
		t.Rows = append(t.Rows, r)
	}
	slowest := view.SimpleRow{Name: "slowest, s"}
	known := false
	for _, arm := range arms {
		c := view.SimpleCell{Text: compare.Missing, Class: "mut"}
		if p := b.pointOf(b.in.Costs, "max_op_s", row, arm); p != nil {
			c.Text, known = strconv.FormatFloat(p.Value, 'f', 3, 64), true
		} else if _, _, most := b.shares(row, arm); most != nil {
			c.Text, known = strconv.FormatFloat(*most/1e6, 'f', 3, 64), true
		}
		slowest.Cells = append(slowest.Cells, c)
	}
	if known {
		t.Rows = append(t.Rows, slowest)
	}
	return t
}

// dumbbell is a pair of values on a row; 0 is none.
type dumbbell struct {
	name         string
	a, b         float64
	aText, bText string
	hot          bool
	left         bool // b's label stands at the left
}

// dumbbellPlot places pairs on a log axis that ends at most, 0 for a little above
// the largest.
func dumbbellPlot(pairs []dumbbell, tick func(float64) string, most float64) view.Dumbbells {
	least, top := math.Inf(1), most
	for _, p := range pairs {
		for _, v := range []float64{p.a, p.b} {
			if v > 0 {
				least = math.Min(least, v)
				if most == 0 {
					top = math.Max(top, v)
				}
			}
		}
	}
	var d view.Dumbbells
	if math.IsInf(least, 1) || top <= 0 {
		return d
	}
	ticks := logTicks(least, top, most > 0)
	from, to := math.Log(least)-0.32*(math.Log(top/least)+1), math.Log(top)
	if most > 0 {
		from = math.Log(least) - math.Ln10
	} else {
		from, to = math.Log(least/1.65), math.Log(math.Max(top*1.05, ticks[len(ticks)-1]))
	}
	place := func(v float64) string {
		if v <= 0 {
			return ""
		}
		return strconv.FormatFloat(100*(math.Log(v)-from)/(to-from), 'f', 2, 64) + "%"
	}
	for _, t := range ticks {
		if math.Log(t) >= from {
			d.Ticks = append(d.Ticks, view.DumbbellTick{X: place(t), Label: tick(t)})
		}
	}
	for _, p := range pairs {
		x := view.Dumbbell{Name: p.name, A: place(p.a), B: place(p.b), Hot: p.hot, ALabel: p.aText, BLabel: p.bText, ABefore: p.a <= p.b && !p.left}
		if x.A == "" {
			x.ALabel = ""
		}
		if x.B == "" {
			x.BLabel = ""
		}
		d.Rows = append(d.Rows, x)
	}
	return d
}

// logTicks gives the labelled places of a log axis: powers of ten, with 2, 3 and 5
// between them on short axes.
func logTicks(least, most float64, powers bool) []float64 {
	var ticks []float64
	steps := []float64{1}
	if !powers && most/least < 100 {
		steps = []float64{1, 2, 3, 5}
		if most/least > 8 {
			steps = []float64{1, 2, 5}
		}
	}
	for e := math.Floor(math.Log10(least)); e <= math.Ceil(math.Log10(most)); e++ {
		for _, s := range steps {
			if t := s * math.Pow(10, e); t >= least/1.65 && t <= most*1.6 {
				ticks = append(ticks, t)
			}
		}
	}
	if len(ticks) == 0 {
		ticks = []float64{least}
	}
	return ticks
}

// seconds sets averages beside the worst seconds, a row a config.
func (b configsBuilder) seconds(row *compare.ArmRow) *view.Dumbbells {
	if row.Metric.Unit != "1/s" {
		return nil
	}
	var pairs []dumbbell
	var said []string
	for _, arm := range b.a.arms {
		cell, p := row.Cell(arm), b.second(row, arm)
		if cell == nil || p == nil {
			continue
		}
		hot := cell.Practical != nil && cell.Practical.Seconds != nil && *cell.Practical.Seconds < compare.PracticalSeconds
		pairs = append(pairs, dumbbell{name: arm, a: cell.Value, b: p.Value, bText: compare.FormatFull(p.Value), hot: hot, left: true})
		said = append(said, fmt.Sprintf("%s %s and %s", arm, compare.FormatFull(cell.Value), compare.FormatFull(p.Value)))
	}
	if len(pairs) == 0 {
		return nil
	}
	for i := range pairs {
		if pairs[i].b > pairs[i].a {
			pairs[i].left = false
		}
	}
	one, _ := operationWord(decides(row))
	d := dumbbellPlot(pairs, tickText, 0)
	d.Title, d.What = b.step(row)+": average and worst seconds", plurals(one)+"/s, log scale"
	d.Key = []view.DotSample{{Kind: "open", Text: "average"}, {Kind: "closed", Text: "p99 second: 99 of 100 seconds are at least this fast"}}
	if slices.ContainsFunc(pairs, func(p dumbbell) bool { return p.hot }) {
		d.Key = append(d.Key, view.DotSample{Kind: "worse", Text: fmt.Sprintf("below %g of %s's", compare.PracticalSeconds, b.a.base)})
	}
	d.Label = fmt.Sprintf("Average and p99-second rate of %s: %s", nameSpan(b.a.arms), strings.Join(said, ", "))
	return &d
}

// tickText shows a rate shortly: 20K.
func tickText(v float64) string {
	switch {
	case v >= 1e6:
		return compare.FormatFull(v/1e6) + "M"
	case v >= 1000:
		return compare.FormatFull(v/1000) + "K"
	}
	return compare.FormatFull(v)
}

// costs is what an operation of a step costs, a row a config.
func (b configsBuilder) costs(row *compare.ArmRow) view.CostTable {
	one, _ := operationWord(decides(row))
	t := view.CostTable{Title: b.step(row) + ": cost per operation", What: "as reported"}
	columns := []struct{ metric, head string }{
		{"", valueHead(row.Metric)}, {"p99_second_rate", "p99 second"}, {"max_op_s", "slowest op, s"}, {"p99", "p99, µs"}, {"cpu_us_per_op", "CPU µs/" + one}, {"user_cpu_s", "user CPU, s"},
		{"read_kb_per_op", "KB read/" + one}, {"write_kb_per_op", "KB written/insert"}, {"write_amp", "write amplification"}, {"context_switches_per_op", "context switches/" + one},
		{"stall_percent", "stalled, %"}, {"rss_gb", "RSS, GB"},
	}
	if b.in.Resolved.Suite == bench.SuiteIBench && row.Metric.Unit == "1/s" {
		columns[0].head = plurals(one) + "/s"
	}
	point := func(metric, arm string) *compare.Point {
		switch metric {
		case "":
			if c := row.Cell(arm); c != nil {
				return c.Point
			}
			return nil
		case row.Metric.Name:
			return nil // stands first
		case "p99_second_rate":
			return b.second(row, arm)
		}
		return b.pointOf(b.in.Costs, metric, row, arm)
	}
	columns = slices.DeleteFunc(columns, func(c struct{ metric, head string }) bool {
		return !slices.ContainsFunc(b.a.arms, func(arm string) bool { return point(c.metric, arm) != nil })
	})
	t.Table.Heads = []string{"config"}
	for _, c := range columns {
		t.Table.Heads = append(t.Table.Heads, c.head)
		if c.metric == "rss_gb" {
			t.What += "; RSS includes the block cache"
		}
	}
	for _, arm := range b.a.arms {
		cell := row.Cell(arm)
		if cell == nil {
			continue
		}
		r := view.SimpleRow{Name: arm, Href: configHref(b.in.Resolved.System, arm, b.a.base)}
		for _, c := range columns {
			p := point(c.metric, arm)
			x := view.SimpleCell{Text: compare.Missing, Class: "mut"}
			if p != nil {
				x.Text = costText(c.metric, p.Value)
				if p.N > 1 {
					x.Title = fmt.Sprintf("median of %d, %s to %s", p.N, compare.FormatFull(p.Min), compare.FormatFull(p.Max))
				}
			}
			switch {
			case c.metric == "":
				x.Class = ""
				x.Title = b.cellTitle(row, cell)
			case c.metric == "p99_second_rate" && cell.Practical != nil && cell.Practical.Seconds != nil && *cell.Practical.Seconds < compare.PracticalSeconds:
				x.Class = "dn"
				x.Title = fmt.Sprintf("%.3f of %s's", *cell.Practical.Seconds, b.a.base)
			}
			r.Cells = append(r.Cells, x)
		}
		t.Table.Rows = append(t.Table.Rows, r)
	}
	return t
}

// costText shows a figure with the decimals that its source has.
func costText(metric string, v float64) string {
	switch metric {
	case "max_op_s", "read_kb_per_op", "write_kb_per_op", "context_switches_per_op":
		return strconv.FormatFloat(v, 'f', 3, 64)
	case "rss_gb":
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return compare.FormatFull(v)
}

// ---- memory ----

// cacheKeys are the options that say how large a block cache or buffer pool is.
var cacheKeys = []string{"rocksdb_block_cache_size", "block_cache_size", "cache_size", "innodb_buffer_pool_size"}

// cacheOf gives the size of a config's cache: what the server said of itself, else
// what its file asks for.
func cacheOf(set *compare.ConfigSet) (written string, bytes float64, source string, ok bool) {
	if set == nil {
		return "", 0, "", false
	}
	find := func(c *bench.StoredConfig) (string, float64, bool) {
		if c == nil {
			return "", 0, false
		}
		for _, key := range cacheKeys {
			for i := len(c.Options) - 1; i >= 0; i-- { // the last counts
				o := &c.Options[i]
				if o.Key != key || o.Scope() != "" {
					continue
				}
				if n, isNumber := bytesOf(bench.Setting{Set: true, Value: o.Value}); isNumber && n > 0 {
					return cmp.Or(o.Written, o.Value), n, true
				}
			}
		}
		return "", 0, false
	}
	if written, bytes, ok = find(set.StoredConfig); ok {
		source = "as " + set.SourceName + " asks for"
		if set.Layer == bench.LayerEffective {
			written, source = sizeText(written, bytes), "as the server said"
		}
	}
	if back, n, known := find(set.Effective); known {
		if ok && n == bytes {
			return written, bytes, source + ", and as the server said", true
		}
		if ok {
			source = "; its file asks for " + written
		}
		return sizeText(back, n), n, "as the server said" + source, true
	}
	return written, bytes, source, ok
}

const gigabyte = 1 << 30

// sizeText shows a size that is written in bytes with a unit where that is exact:
// 32M for 33554432.
func sizeText(written string, bytes float64) string {
	if strings.Trim(written, "0123456789") != "" {
		return written
	}
	for _, u := range []struct {
		size float64
		name string
	}{{gigabyte, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		if n := bytes / u.size; n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64) + u.name
		}
	}
	return written
}

// memory sets the peak of the resident memory over all steps beside the size of
// the block cache.
func (b configsBuilder) memory() *view.MemoryTable {
	type peak struct {
		gb   float64
		step string
	}
	peaks := map[[2]string]peak{} // by place index and config
	most := 0.0
	for i, g := range b.a.groups {
		for _, arm := range b.a.arms {
			for j := range b.in.Costs {
				s := &b.in.Costs[j]
				if s.Metric.Name != "rss_gb" || s.Config != arm || configPlaceOf(s.Coordinate) != g.configPlace {
					continue
				}
				row := &compare.ArmRow{Coordinate: s.Coordinate, Version: b.a.version}
				row.Config = ""
				p := b.pointOf(b.in.Costs, "rss_gb", row, arm)
				k := [2]string{strconv.Itoa(i), arm}
				if old, ok := peaks[k]; p != nil && (!ok || p.Value > old.gb) {
					peaks[k] = peak{p.Value, s.Step}
					most = math.Max(most, p.Value)
				}
			}
		}
	}
	if len(peaks) == 0 {
		return nil
	}
	m := &view.MemoryTable{What: "largest RSS over all steps; beyond the cache is RSS less the size of the block cache"}
	for _, g := range b.a.groups {
		m.Groups = append(m.Groups, b.place(g.configPlace))
	}
	var unknown, other []string
	for _, arm := range b.a.arms {
		r := view.MemoryRow{Name: arm, Href: configHref(b.in.Resolved.System, arm, b.a.base), Cache: compare.Missing}
		var own []string
		for i, g := range b.a.groups {
			written, bytes, source, known := cacheOf(b.a.setAt(b.in, g.configPlace, arm))
			if known {
				own = appendNew(own, written)
				r.CacheTitle = source
				if strings.Contains(source, "; its file asks for") {
					other = appendNew(other, arm+": "+written+" "+source)
				}
			}
			p, ok := peaks[[2]string{strconv.Itoa(i), arm}]
			if !ok {
				r.Cells = append(r.Cells, view.MemoryCell{Peak: compare.Missing})
				continue
			}
			c := view.MemoryCell{Peak: strconv.FormatFloat(p.gb, 'f', 1, 64), Step: bench.ShortStep(p.step), All: percentOf(p.gb, most)}
			if known {
				cache := bytes / gigabyte
				c.Beyond = signed(p.gb - cache)
				c.Cache = percentOf(math.Min(cache, p.gb), most)
				c.Title = fmt.Sprintf("%s, %s: %s GB with a cache of %s (%s)", arm, b.place(g.configPlace), c.Peak, written, c.Beyond)
			}
			r.Cells = append(r.Cells, c)
		}
		if len(own) > 0 {
			r.Cache = strings.Join(own, ", ")
		} else {
			unknown = append(unknown, arm)
		}
		if len(b.a.c.Sets) > 0 && arm != b.a.base && b.surpriseKey(arm) {
			r.CacheClass = "odm"
		}
		m.Rows = append(m.Rows, r)
	}
	if len(other) > 0 {
		m.Notes = append(m.Notes, strings.Join(other, ". ")+".")
	}
	if len(unknown) > 0 {
		m.Notes = append(m.Notes, "The size of the cache of "+andList(unknown)+" is not known: no stored option says it.")
	}
	return m
}

// surpriseKey reports whether a config changes the size of its cache without a
// word.
func (b configsBuilder) surpriseKey(name string) bool {
	return slices.ContainsFunc(b.a.c.Family.Together, func(g bench.OptionGroup) bool {
		return slices.Contains(g.Configs, name) && slices.ContainsFunc(g.Surprises, func(ch bench.OptionChange) bool { return slices.Contains(cacheKeys, ch.Key) })
	})
}

func percentOf(v, most float64) string {
	if most <= 0 || v <= 0 {
		return ""
	}
	return strconv.FormatFloat(100*v/most, 'f', 1, 64) + "%"
}

// signed shows a difference with its sign: +2.4.
func signed(v float64) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', 1, 64)
	if v < 0 && text != "0.0" {
		return "−" + text
	}
	return "+" + text
}

// ---- effects ----

// effects lists every pair of config and step, the largest effect first.
func (b configsBuilder) effects() *view.EffectTable {
	all := b.armStandings()
	if len(all) == 0 {
		return nil
	}
	t := &view.EffectTable{Axis: narrowScale.axis(), Times: len(b.in.Facts.Seconds) > 0}
	decided := 0
	for _, s := range all {
		d := s.row.Metric.Direction
		v := s.cell.Stand(d)
		if marked(s.cell, d) {
			v = compare.Worse
		}
		r := view.EffectRow{
			Config: s.cell.Arm, Href: configHref(b.in.Resolved.System, s.cell.Arm, b.a.base), Step: bench.ShortStep(s.row.Step), StepHref: b.detailHref(s.row),
			Place: b.place(configPlaceOf(s.row.Coordinate)), Ratio: strconv.FormatFloat(*s.cell.Relative, 'f', 3, 64), Class: verdictClass(v), Figures: b.cellTitle(s.row, s.cell),
			Interval: compare.FormatInterval(s.cell.Low, s.cell.High), Plot: narrowScale.plot(*s.cell.Relative, s.cell.Low, s.cell.High, v), Grey: v == compare.NoVerdict || v == compare.Undecided,
			Seconds: view.SimpleCell{Text: compare.Missing, Class: "mut"}, Slow: view.SimpleCell{Text: compare.Missing, Class: "mut"},
		}
		if s.cell.Low == nil {
			r.Interval = doubtOf(s.cell, false)
		} else {
			r.Interval += fmt.Sprintf(", n = %d", s.cell.N)
		}
		if g := glyph(v); g != "" && v != compare.Undecided {
			r.Ratio = g + " " + r.Ratio
		}
		if p := s.cell.Practical; p != nil {
			if p.Seconds != nil {
				r.Seconds.Text = strconv.FormatFloat(*p.Seconds, 'f', 3, 64)
				if *p.Seconds < compare.PracticalSeconds {
					r.Seconds.Class = "dn"
				}
				if own, from := b.second(s.row, s.cell.Arm), b.second(s.row, b.a.base); own != nil && from != nil {
					r.Seconds.Title = compare.FormatFull(own.Value) + " against " + compare.FormatFull(from.Value)
				}
			}
			if p.Slow != nil {
				r.Slow.Text = responsePart(*p.Slow)
				if p.BaseSlow != nil {
					r.Slow.Title = "the base " + responsePart(*p.BaseSlow)
					if *p.Slow > compare.PracticalShare && *p.Slow > compare.PracticalGrowth**p.BaseSlow {
						r.Slow.Class = "dn"
					}
				}
			}
			if p.Worse {
				r.Why = "worse: " + strings.Join(p.Reasons, "; ")
			}
		}
		if !r.Grey {
			decided++
		}
		if len(t.Rows) < effectRowsOpen || !r.Grey && len(t.Rows) < 3*effectRowsOpen {
			t.Rows = append(t.Rows, r)
		} else {
			t.More = append(t.More, r)
		}
	}
	t.What = fmt.Sprintf("%s of config and step against %s, largest effect first; %s is grey", plural(len(all), "pair", "pairs"), b.a.base, "what cannot be told from 1.00")
	if decided == 0 {
		t.What = fmt.Sprintf("%s of config and step against %s, largest effect first; none can be told from 1.00", plural(len(all), "pair", "pairs"), b.a.base)
	}
	t.Count = fmt.Sprintf("The other %s", plural(len(t.More), "pair", "pairs"))
	return t
}

// keys shows the effect of each option that can be told apart from others, from
// pairs of configs that differ in nothing else.
func (b configsBuilder) keys() *view.KeyTable {
	if len(b.a.c.Effects) == 0 {
		return nil
	}
	t := &view.KeyTable{Groups: b.stepGroups(false), Narrow: b.narrow()}
	for i := range t.Groups {
		t.Groups[i].Title = b.placeTitle(b.a.groups[i])
	}
	known := false
	for _, e := range b.a.c.Effects {
		r := view.KeyRow{}
		for _, ch := range e.Changes {
			r.Changes = append(r.Changes, shortChange(ch))
		}
		var pairs []string
		for _, p := range e.Pairs {
			pairs = append(pairs, p.With+" / "+p.Without)
		}
		r.Pairs = "from " + strings.Join(pairs, ", ")
		for _, g := range b.a.groups {
			var cells []view.HeatCell
			for _, row := range g.rows {
				cell, sure := b.keyCell(e, row)
				known = known || sure
				cells = append(cells, cell)
			}
			r.Groups = append(r.Groups, cells)
		}
		t.Rows = append(t.Rows, r)
	}
	t.What = "geometric mean over pairs of configs that differ in nothing else: with / without"
	if !known {
		t.Notes = append(t.Notes, "One run each: the noise is unknown, so no interval can be given. Tinted is what lies more than 5\u2009% from 1.00, the bound of the practical rule.")
	}
	for _, g := range b.a.c.Family.Together {
		var keys []string
		for _, ch := range g.Changes {
			keys = append(keys, shortChange(ch))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s can only be told together: %s.", andList(keys), alwaysBoth(g)))
	}
	return t
}

// alwaysBoth says why options cannot be told apart.
func alwaysBoth(g bench.OptionGroup) string {
	verb := "change"
	if len(g.Configs) == 1 {
		verb = "changes"
	}
	all := "them all"
	if len(g.Changes) == 2 {
		all = "both"
	}
	return fmt.Sprintf("%s %s %s, no config one of them alone", andList(g.Configs), verb, all)
}

// shortChange is a change without what all keys begin with.
func shortChange(ch bench.OptionChange) string {
	ch.Key = shortKey(ch.Key)
	return ch.String()
}

func (b configsBuilder) keyCell(e compare.Effect, row *compare.ArmRow) (view.HeatCell, bool) {
	for _, x := range e.Rows {
		if &b.a.c.Rows[x.Row] != row {
			continue
		}
		ratio := x.Ratio
		cell := compare.ArmCell{Point: &compare.Point{Relative: &ratio, Low: x.Low, High: x.High}}
		cell.Verdict = compare.Judge(*cell.Point, row.Metric.Direction)
		practical := compare.JudgePractical(compare.PracticalFigures{Ratio: rateRatio(ratio, row.Metric.Direction)})
		cell.Practical = &practical
		doubt := compare.FormatInterval(x.Low, x.High)
		if x.Low == nil {
			doubt = noiseUnknown + ": one run each"
		}
		return view.HeatCell{
			Text: compare.FormatRatio(ratio, nil, nil), Class: tintOf(cell.Stand(row.Metric.Direction), ratio),
			Title: fmt.Sprintf("%s: %.3f, %s, %s", b.step(row), ratio, plural(x.Pairs, "pair", "pairs"), doubt),
		}, x.Low != nil
	}
	return view.HeatCell{Class: "x"}, false
}

// rateRatio gives a ratio as one of rates; nil where neither way is better.
func rateRatio(r float64, d bench.Direction) *float64 {
	switch {
	case d == bench.LowerBetter && r > 0:
		r = 1 / r
		return &r
	case d == bench.HigherBetter:
		return &r
	}
	return nil
}

// ---- layers ----

// layers says which layers of options are known of each config.
func (b configsBuilder) layers() view.LayerTable {
	var t view.LayerTable
	system := b.in.Resolved.System
	for _, name := range b.names() {
		r := view.LayerRow{Name: name, Href: configHref(system, name, b.a.base), Parsed: "nothing stored", Effective: "not read back"}
		set := b.a.layersOf(name, b.in.Facts.Configs)
		if set.Effective != nil {
			r.Effective = plural(set.Effective.Settings, "option", "options") + " read back"
			r.EffectHref = r.Href + "#" + setAnchor(set.Effective)
		}
		if set.StoredConfig != nil {
			for _, f := range set.From {
				r.Files = append(r.Files, sourceLink(f))
			}
			r.Parsed = plural(set.Settings, "option", "options")
			if set.Aside > 0 {
				r.Parsed += fmt.Sprintf(", %d set aside", set.Aside)
			}
			if n := len(set.Warnings); n > 0 {
				r.Warnings = plural(n, "warning", "warnings")
			}
			if set.Effective != nil {
				r.Differ = layerDifferences(set.StoredConfig, set.Effective)
				if len(r.Differ) == 0 {
					r.Differ = []string{"nowhere"}
				}
			}
		} else {
			a := address{path: "/upload"}
			a.set("system", system)
			a.set("config", name)
			r.Files = []view.Link{{Text: "upload its file", Href: a.String(), Title: "no file of its options is stored"}}
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// sourceLink is the file that options were read from, as it was sent.
func sourceLink(f bench.ConfigSource) view.Link {
	l := view.Link{Text: f.File, Href: uploadHref(f.UploadID), Title: "the file as it was sent"}
	if f.SourceName != "" && !strings.Contains(f.File, f.SourceName) {
		l.Text = f.SourceName + " in " + f.File
	}
	return l
}

// layerDifferences says in what a server differs from what its file asked for. Of
// options that the server does not report nothing is known.
func layerDifferences(asked, back *bench.StoredConfig) []string {
	var out []string
	missing := 0
	for _, row := range bench.Diff(asked.Config, []bench.Config{back.Config}) {
		switch {
		case !row.Base.Set:
			continue // the file leaves it to the server
		case !row.Other[0].Set:
			missing++
		default:
			out = append(out, fmt.Sprintf("%s: asked for %s, got %s", row.OptionName, settingText(row.Base), settingText(row.Other[0])))
		}
	}
	if missing > 0 {
		out = append(out, fmt.Sprintf("%s that the server does not report", plural(missing, "option", "options")))
	}
	return out
}
