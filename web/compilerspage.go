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
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// compilers is the comparison of builds, computed once for page, Markdown and CSV.
type compilers struct {
	in     compilersInput
	answer compared
	// same divides every build by the base's of the same version.
	same    compare.CompilerComparison
	others  []string // compilers but the base's, in order
	steps   []string // in order
	metric  bench.Metric
	rows    map[rowAt]*compare.ArmRow
	version string // the newest that the base and another have, "" for none
}

// rowAt tells rows of one place apart.
type rowAt struct{ step, version string }

// newCompilers compares the builds of a query. Where there is nothing to compare
// the error is of kind not found.
func newCompilers(in compilersInput) (compilers, error) {
	c := compilers{in: in, rows: map[rowAt]*compare.ArmRow{}}
	if !in.Found {
		return c, bench.Errorf(bench.KindNotFound, "%s", nothingMeasured(in.chartsInput).Sentence)
	}
	var err error
	if c.answer, err = answer(in.chartsInput); err != nil {
		return c, err
	}
	c.metric = c.answer.comparison.Metric
	if len(c.answer.figures) == 0 {
		return c, bench.Errorf(bench.KindNotFound, "%s", nothingOfMetric(in.chartsInput, c.metric).Sentence)
	}
	c.same = sameVersion(in.Series, in.Resolved, in.BaseCompiler, in.Known.cache)
	for _, a := range c.same.Arms.Arms {
		if a != in.BaseCompiler {
			c.others = append(c.others, a)
		}
	}
	if len(c.others) == 0 {
		return c, bench.Errorf(bench.KindNotFound, "%s", c.alone())
	}
	for i := range c.same.Rows {
		r := &c.same.Rows[i]
		c.steps = appendNew(c.steps, r.Step)
		c.rows[rowAt{r.Step, bench.VersionKey(r.Version)}] = r
	}
	for _, v := range c.same.Versions {
		if slices.ContainsFunc(c.steps, func(step string) bool { return c.comparable(step, v) }) {
			c.version = v
		}
	}
	return c, nil
}

// sameVersion compares the builds of series with one compiler's of the same version,
// over the range of a query. Steps that only prepare are left out unless they were
// asked for.
func sameVersion(series []bench.Series, q chartsQuery, base string, cache *compare.Cache) compare.CompilerComparison {
	series = slices.DeleteFunc(slices.Clone(series), func(s bench.Series) bool {
		return len(q.Steps) == 0 && bench.StepRole(s.Suite, s.Step) == bench.RolePrepare
	})
	return compare.CompareCompilers(series, compare.Options{Base: compare.Base{Compiler: base}, From: q.From, To: q.To, JoinFamilies: !q.Apart, Cache: cache})
}

// row gives what was measured of a step at a version, nil for nothing.
func (c compilers) row(step, version string) *compare.ArmRow {
	return c.rows[rowAt{step, bench.VersionKey(version)}]
}

// comparable reports whether a step has a ratio at a version.
func (c compilers) comparable(step, version string) bool {
	r := c.row(step, version)
	return r != nil && slices.ContainsFunc(c.others, func(arm string) bool {
		cell := r.Cell(arm)
		return cell != nil && cell.Relative != nil
	})
}

// alone says why nothing can be compared.
func (c compilers) alone() string {
	q := c.in.Resolved
	if c.in.BaseCompiler == "" {
		return fmt.Sprintf("%s, %s was measured with builds of which no compiler is known: there is nothing to tell them apart by.", q.Servers[0], orDash(q.Workloads[0]))
	}
	return fmt.Sprintf("%s, %s was measured with %s only: there is no other build to compare it with.", q.Servers[0], orDash(q.Workloads[0]), compilerName(c.in.BaseCompiler))
}

// newCompilersPage builds the page of compilers. Its Page is left to the caller,
// but for the title.
func newCompilersPage(in compilersInput) (view.CompilersPage, error) {
	var p view.CompilersPage
	p.Heading, p.Title = "Builds by several compilers", "Compilers"
	c, err := newCompilers(in)
	switch {
	case err == nil:
	case bench.KindOf(err) != bench.KindNotFound:
		return p, err
	case !in.Found:
		p.Bar = view.Bar{Fields: fields(in.chartsInput, nil)}
		p.Empty = nothingMeasured(in.chartsInput)
		p.Empty.Links = append(comparableLinks(in), p.Empty.Links...)
		return p, nil
	case len(c.answer.figures) == 0:
		p.Heading = systemName(in.Resolved.System) + ", " + strings.Join(in.Resolved.context(), ", ")
		p.Bar = compilersBar(in, c.answer)
		p.Empty = nothingOfMetric(in.chartsInput, c.metric)
		return p, nil
	default:
		p.Heading = systemName(in.Resolved.System) + ", " + strings.Join(in.Resolved.context(), ", ")
		p.Bar = compilersBar(in, c.answer)
		p.Empty = &view.Empty{
			Sentence: c.alone(),
			Detail:   "Expected were results of the same steps and versions, on the same server and workload, built by another compiler. The compiler is named with the upload; this sends more:",
			Command:  c.otherBuild(),
			Links:    append(comparableLinks(in), view.Link{Text: "Charts of " + in.Resolved.Servers[0], Href: c.charts("", "")}),
		}
		p.Elsewhere.Sentence = c.notComparable()
		return p, nil
	}
	a, q := c.answer, in.Resolved
	p.Bar = compilersBar(in, a)
	names := compilerNames(q.Compilers)
	p.Heading = fmt.Sprintf("%s %s built by %s", systemName(q.System), span(c.same.Versions), compare.AndList(names))
	p.Title = p.Heading
	p.Meta = c.meta()
	p.Lead = c.lead()
	p.What = fmt.Sprintf("%s / %s of %s, same scale in every chart", c.metric.Title, c.metric.Title, baseText(q.Base))
	p.Base = c.baseChoice()
	p.Key = c.key()
	a.view.Served, a.view.Common = true, true
	a.view.Settings, a.view.Sensitivity = nil, ""
	p.View = a.view
	for i, f := range a.figures {
		// Changes are many where there are several lines; their words are in the lead.
		f.Changes = nil
		ch := newChart(in.chartsInput, a, f, fmt.Sprintf("c%d", i))
		ch.Href = c.charts(f.Step, "")
		p.Charts = append(p.Charts, ch)
	}
	if a.left > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s more are left out: choose steps to see them.", plural(a.left, "chart", "charts")))
	}
	if in.Narrowed > 0 {
		p.Remarks = append(p.Remarks, narrowedText(in.chartsInput))
	}
	p.Steady = c.steady()
	p.Against = c.against()
	p.Builds = c.builds()
	p.Elsewhere = c.elsewhere()
	p.Notes = a.marks.noteList(noteForm{System: q.System, Scope: bench.NoteScope{Server: q.Servers[0], Workload: q.Workloads[0]}, Back: in.Given.String()}.String(), in.Reader)
	return p, nil
}

// otherBuild is the command that sends results of another compiler.
func (c compilers) otherBuild() string {
	other := "clang"
	if strings.HasPrefix(c.in.BaseCompiler, other) {
		other = "gcc"
	}
	return strings.Replace(uploadCommand(c.in.Origin), "&workload=", "&compiler="+other+"&workload=", 1)
}

func compilerNames(list []string) []string {
	var out []string
	for _, c := range list {
		out = append(out, compilerName(c))
	}
	return out
}

// shortCompiler is a compiler's name where clang stands beside it.
func shortCompiler(c string) string {
	if c == "clang+lto" {
		return "+LTO"
	}
	return compilerName(c)
}

// comparableLinks leads to places where compilers can be compared.
func comparableLinks(in compilersInput) []view.Link {
	var places []place
	for p, list := range compilersAt(in.Coordinates) {
		if len(list) > 1 {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return compare.Order(bench.Coordinate(a), bench.Coordinate(b)) })
	at := compilersAt(in.Coordinates)
	var links []view.Link
	for _, p := range places[:min(len(places), placesMax)] {
		links = append(links, view.Link{
			Text: fmt.Sprintf("%s, %s: %s", systemName(p.System), p.name(""), compare.AndList(compilerNames(at[p]))), Href: p.href(in.Given),
		})
	}
	return links
}

// name is the place's, without a workload that is said anyway.
func (p place) name(workload string) string {
	parts := []string{p.Server}
	if p.Workload != workload {
		parts = append(parts, p.Workload)
	}
	parts = append(parts, p.Config)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// href is the page of compilers of the place. Of what was given the metric stays.
func (p place) href(given chartsQuery) string {
	return chartsQuery{
		Builds: true, System: p.System, Suite: p.Suite, Servers: []string{p.Server}, Workloads: orNone(p.Workload), Configs: orNone(p.Config), Clients: clientsList(p.Clients),
		Metric: given.Metric, Sensitivity: compare.Usual,
	}.String()
}

// charts is the page of charts of a step with all builds, at a version when it is
// not "".
func (c compilers) charts(step, at string) string {
	return c.in.Resolved.with(func(q *chartsQuery) {
		q.Builds, q.Steps, q.At, q.Unknown = false, orNone(step), at, nil
		if len(c.others) == 0 {
			q.Base = c.in.Given.Base
		}
	}).String()
}

// compilersBar is the toolbar.
func compilersBar(in compilersInput, a compared) view.Bar {
	a.autoBase = in.BaseAuto
	export := func(format string) string {
		return in.Given.with(func(q *chartsQuery) { q.Unknown = nil }).format(format)
	}
	return view.Bar{
		Fields:   fields(in.chartsInput, &a),
		Versions: view.Segment{Label: "Versions", Links: presets(in.chartsInput, a)},
		Copy:     in.Resolved.with(func(q *chartsQuery) { q.Unknown = nil }).String(),
		Export: []view.Link{
			{Text: "CSV", Href: export("csv"), Title: "every ratio with its interval, a row a version, step and build"},
			{Text: "Markdown", Href: export("md"), Title: "the tables as text, for an issue or a post"},
			{Text: "JSON", Href: compilersAPI(in.Resolved, in.BaseCompiler), Title: "the same from the API"},
		},
	}
}

// compilersAPI is the address of the comparison in the API.
func compilersAPI(q chartsQuery, base string) string {
	a := address{path: "/api/v1/compare/compilers"}
	a.set("system", q.System)
	a.set("suite", q.Suite)
	a.all("server", q.Servers)
	a.all("workload", q.Workloads)
	for _, n := range q.Clients {
		a.add("clients", strconv.Itoa(n))
	}
	a.all("step", q.Steps)
	a.set("metric", q.Metric)
	a.all("compiler", q.Compilers)
	a.all("config", q.Configs)
	a.set("base_compiler", base)
	a.set("base_version", q.Base.Version)
	return a.String()
}

// buildsBaseField is the chip of the base on the page of compilers: whose build,
// at one version or at each.
func buildsBaseField(in chartsInput, a compared) view.Field {
	base := in.Resolved.Base
	f := view.Field{Label: "Base", Value: baseText(base), Base: true, Versions: true, Note: "Shift-click in a chart makes the version under it the base."}
	to := func(b compare.Base) string {
		return in.Given.with(func(q *chartsQuery) { q.Base, q.At = b, "" }).String()
	}
	g := view.ChoiceGroup{Name: "build", Words: true}
	for _, v := range in.Resolved.Compilers {
		b := base
		b.Compiler = v
		g.Choices = append(g.Choices, view.Choice{Name: compilerName(v), Href: to(b), Current: v == base.Compiler})
	}
	same := compare.Base{Compiler: base.Compiler}
	f.Menu = append(f.Menu, g, view.ChoiceGroup{Name: "version", Words: true, Choices: []view.Choice{{Name: "the same version", Href: to(same), Current: base.Version == ""}}})
	f.Menu = append(f.Menu, versionChoices(a.all, func(v string) (string, bool) {
		b := base
		b.Version = v
		return to(b), base.Version != "" && bench.CompareVersions(base.Version, v) == 0
	})...)
	return f
}

// baseChoice switches between one base and the base's build of every version.
func (c compilers) baseChoice() view.Segment {
	q, name := c.in.Resolved, c.in.BaseCompiler
	one := q.Base
	if one.Version == "" {
		one.Version = c.in.BaseAuto
	}
	to := func(b compare.Base) string {
		if b.Version == c.in.BaseAuto && b.Compiler == baseCompilerDefault {
			b = compare.Base{}
		}
		return c.in.Given.with(func(q *chartsQuery) { q.Base, q.At = b, "" }).String()
	}
	return view.Segment{Label: "Base", Links: []view.Link{
		{Text: "one base: " + baseText(one), Href: to(one), Current: q.Base.Version != ""},
		{Text: compilerName(name) + " of the same version", Href: to(compare.Base{Compiler: name}), Current: q.Base.Version == ""},
	}}
}

func (c compilers) meta() []view.Fact {
	q := c.in.Resolved
	at := []string{"server " + q.Servers[0]}
	for _, s := range []string{q.Workloads[0], q.Configs[0]} {
		if s != "" {
			at = append(at, s)
		}
	}
	if n := q.Clients[0]; n > 0 {
		at = append(at, plural(n, "client", "clients"))
	}
	var lines []compare.Line
	for _, f := range c.answer.figures {
		lines = append(lines, f.Source...)
	}
	return []view.Fact{
		fact(strings.Join(at, ", ")), fact(plural(len(c.same.Versions), "version", "versions") + ", " + plural(len(c.steps), "step", "steps")),
		fact(directionText(c.metric)), fact(sampleText(lines)),
	}
}

// key is the legend: the builds, the base first, and what else occurs.
func (c compilers) key() []view.Sample {
	samples := slices.DeleteFunc(key(c.in.chartsInput, c.answer), func(s view.Sample) bool {
		return s.Kind == "change" || s.Kind == "outside" || s.Kind == "level"
	})
	base := compilerName(c.in.BaseCompiler)
	slices.SortStableFunc(samples, func(a, b view.Sample) int {
		first := func(s view.Sample) int {
			if s.Kind == "line" && s.Text == base {
				return 0
			}
			return 1
		}
		return first(a) - first(b)
	})
	return samples
}

// leadSteps is how many steps the lead names of a build.
const leadSteps = 2

// lead says how the builds stand at the newest version, where a gap moved, and what
// moved alike in all of them.
func (c compilers) lead() []view.Part {
	var parts []view.Part
	if c.version == "" {
		parts = append(parts, textPart(fmt.Sprintf("No version was measured with both %s and another compiler: there is nothing to divide at the same version.", compilerName(c.in.BaseCompiler))))
		return append(parts, c.codeParts()...)
	}
	parts = append(parts, textPart("At "+c.version))
	if newest := c.same.Versions[len(c.same.Versions)-1]; newest != c.version {
		parts = append(parts, textPart(fmt.Sprintf(", the newest version that %s and another compiler have", compilerName(c.in.BaseCompiler))))
	}
	parts = append(parts, textPart(", "))
	var standings []standing
	for _, arm := range c.others {
		if s := c.standingOf(arm); s.count > 0 {
			standings = append(standings, s)
		}
	}
	slices.SortStableFunc(standings, func(a, b standing) int { return cmp.Compare(b.far(), a.far()) })
	for i, s := range standings {
		if i > 0 {
			parts = append(parts, textPart("; "))
		}
		parts = append(parts, s.parts(c, i == 0)...)
	}
	parts = append(parts, textPart(". "))
	for _, m := range c.same.Moves[:min(1, len(c.same.Moves))] {
		parts = append(parts, textPart(sentence(m.Text())+" "))
	}
	return append(parts, c.codeParts()...)
}

// sentence makes a sentence of words.
func sentence(s string) string {
	if rest, ok := strings.CutPrefix(s, "the "); ok {
		s = "The " + rest
	}
	return s + "." // names of compilers are written as they are
}

// standing is how one build stands to the base's at a version.
type standing struct {
	arm       string
	decided   []decided // farthest first
	count     int       // steps with a ratio
	undecided int
}

// decided is a ratio beyond noise.
type decided struct {
	step  string
	ratio float64
}

func (s standing) far() float64 {
	if len(s.decided) == 0 {
		return 0
	}
	return math.Abs(math.Log(s.decided[0].ratio))
}

func (c compilers) standingOf(arm string) standing {
	s := standing{arm: arm}
	for _, step := range c.steps {
		r := c.row(step, c.version)
		if r == nil {
			continue
		}
		cell := r.Cell(arm)
		if cell == nil || cell.Relative == nil {
			continue
		}
		s.count++
		switch cell.Verdict {
		case compare.Better, compare.Worse, compare.Moved:
			s.decided = append(s.decided, decided{step, *cell.Relative})
		case compare.Undecided, compare.NoVerdict:
			s.undecided++
		}
	}
	slices.SortStableFunc(s.decided, func(a, b decided) int { return cmp.Compare(math.Abs(math.Log(b.ratio)), math.Abs(math.Log(a.ratio))) })
	return s
}

// parts says how a build stands: clang+LTO is ahead of gcc in readwhilewriting by
// 14 % and in fillseq by 2.9 %.
func (s standing) parts(c compilers, strong bool) []view.Part {
	name, base := compilerName(s.arm), compilerName(c.in.BaseCompiler)
	if len(s.decided) == 0 {
		if s.count == 1 {
			return []view.Part{textPart(fmt.Sprintf("%s cannot be told from %s in the one step compared", name, base))}
		}
		return []view.Part{textPart(fmt.Sprintf("%s cannot be told from %s in any of %s", name, base, plural(s.count, "step", "steps")))}
	}
	var parts []view.Part
	say := func(text string, strong bool) { parts = append(parts, view.Part{Text: text, Strong: strong}) }
	named := s.decided[:min(leadSteps, len(s.decided))]
	word := ""
	for i, d := range named {
		w := compare.AheadWord(d.ratio, c.metric.Direction)
		text := fmt.Sprintf("in %s by %s", d.step, compare.AmountText(d.ratio))
		switch {
		case i == 0:
			say(fmt.Sprintf("%s is %s %s %s", name, w, base, text), strong)
		case i == len(named)-1 && w == word:
			say(" and "+text, false)
		case w == word:
			say(", "+text, false)
		default:
			say(fmt.Sprintf(", %s it %s", w, text), false)
		}
		word = w
	}
	switch more := len(s.decided) - len(named); {
	case more > 0:
		say(fmt.Sprintf(", and differs in %d more of %s", more, plural(s.count, "step", "steps")), false)
	case s.undecided > 0:
		say(fmt.Sprintf(", undecided in %d of %s", s.undecided, plural(s.count, "step", "steps")), false)
	}
	return parts
}

// oneNamed is how many changes of one build the lead names.
const oneNamed = 3

// codeParts says which lasting changes all builds share, and which one build alone
// has.
func (c compilers) codeParts() []view.Part {
	alike, one := compare.ByBuilds(c.in.Known.judgeAll(c.answer.marks.marked))
	var parts []view.Part
	if len(alike) > 0 {
		parts = append(parts, textPart("What changed at "))
		versions, steps := byVersion(alike)
		for i, v := range versions {
			what := steps[v][0].Step
			if n := len(steps[v]); n > 1 {
				what = plural(n, "step", "steps")
			}
			parts = append(parts, textPart(separator(i, len(versions))), view.Part{Text: v, Href: versionHref(c.in.Resolved.System, v)}, textPart(" ("+what+")"))
		}
		parts = append(parts, textPart(" moved alike whatever the compiler: that is the code, not the compiler. "))
	}
	if len(one) > 0 {
		slices.SortStableFunc(one, func(a, b compare.BuildChange) int {
			return cmp.Compare(math.Abs(b.Changes[0].Effect), math.Abs(a.Changes[0].Effect))
		})
		named := slices.Clone(one[:min(oneNamed, len(one))])
		slices.SortStableFunc(named, func(a, b compare.BuildChange) int { return bench.CompareVersions(a.Version, b.Version) })
		parts = append(parts, textPart("Seen with one compiler only: "))
		for i, b := range named {
			x := b.Changes[0]
			text := fmt.Sprintf("%s at %s", b.Step, b.Version)
			parts = append(parts, textPart(separator(i, len(named))), textPart(compilerName(x.Compiler)+" in "))
			if x.ID != 0 {
				parts = append(parts, view.Part{Text: text, Href: changeHref(x.ID)})
			} else {
				parts = append(parts, textPart(text))
			}
		}
		if more := len(one) - len(named); more > 0 {
			parts = append(parts, textPart(fmt.Sprintf(" and %d smaller", more)))
		}
		parts = append(parts, textPart(": look at the compiler, or at noise."))
	}
	return parts
}

// separator stands before the i-th of so many.
func separator(i, n int) string {
	switch {
	case i == 0:
		return ""
	case i == n-1:
		return " and "
	}
	return ", "
}

// byVersion groups changes by version, in order.
func byVersion(list []compare.BuildChange) (versions []string, at map[string][]compare.BuildChange) {
	at = map[string][]compare.BuildChange{}
	for _, b := range list {
		versions = appendNew(versions, b.Version)
		at[b.Version] = append(at[b.Version], b)
	}
	return versions, at
}

// steady is the table of the noise of each build.
func (c compilers) steady() view.SteadyTable {
	order := append([]string{c.in.BaseCompiler}, c.others...)
	t := view.SteadyTable{Builds: compilerNames(order)}
	repeats, known, least, most := 0, 0, math.MaxInt, 0
	for _, step := range c.steps {
		row := view.SteadyRow{Step: step}
		for _, arm := range order {
			text := compare.Missing
			for _, s := range c.same.Stability {
				if s.Step != step || s.Compiler != arm {
					continue
				}
				least, most = min(least, s.Versions), max(most, s.Versions)
				if s.Noise.OK {
					text = noisePercent(s.Noise.SD)
					known++
					if s.Noise.Method == "repeats" {
						repeats++
					}
				}
			}
			row.Noise = append(row.Noise, text)
		}
		t.Rows = append(t.Rows, row)
	}
	versions := plural(most, "version", "versions")
	if least != most {
		versions = fmt.Sprintf("%d to %s", least, versions)
	}
	if runs := c.runsEach(); runs == 1 {
		versions += ", one run each"
	} else if runs > 1 {
		versions += fmt.Sprintf(", %d runs each", runs)
	}
	switch {
	case known == 0:
		t.How = "Too few samples to know it: repeat a version, or measure more versions."
	case repeats == known:
		t.How = "From repeats of the same versions. " + versions + "."
	case repeats == 0:
		t.How = "Robust spread of neighbouring versions, lasting changes taken out. " + versions + "."
	default:
		t.How = "From repeats where there are enough, else the robust spread of neighbouring versions, lasting changes taken out. " + versions + "."
	}
	return t
}

// runsEach is how many runs stand behind every point, 0 where they differ.
func (c compilers) runsEach() int {
	runs := 0
	for i := range c.same.Lines {
		for _, p := range c.same.Lines[i].Points {
			if runs != 0 && p.N != runs {
				return 0
			}
			runs = p.N
		}
	}
	return runs
}

// against is the table of ratios to the base's build of the same version.
func (c compilers) against() view.AgainstTable {
	q, base := c.in.Resolved, compilerName(c.in.BaseCompiler)
	export := c.in.Given.with(func(q *chartsQuery) { q.Unknown = nil })
	t := view.AgainstTable{
		Title: fmt.Sprintf("Against %s of the same version", base), What: fmt.Sprintf("ratio to the %s build beside it", base),
		Caption: fmt.Sprintf("%s of %s relative to %s, by version and step", c.metric.Title, compare.AndList(compilerNames(c.others)), base),
		CSV:     export.format("csv"), Markdown: export.format("md"), Missing: c.missing(),
	}
	short := c.others
	for _, step := range c.steps {
		s := view.AgainstStep{Name: step, Short: bench.ShortStep(step), Href: c.charts(step, ""), Raw: base + " " + valueHead(c.metric), Span: strconv.Itoa(1 + len(short))}
		for _, arm := range short {
			if slices.Contains(c.in.Resolved.Compilers, "clang") {
				s.Builds = append(s.Builds, shortCompiler(arm))
			} else {
				s.Builds = append(s.Builds, compilerName(arm))
			}
		}
		t.Steps = append(t.Steps, s)
	}
	majors := chart.Majors(c.same.Versions)
	for i, v := range c.same.Versions {
		row := view.AgainstRow{Version: v, Href: versionHref(q.System, v)}
		row.Major = i > 0 && slices.ContainsFunc(majors, func(m chart.Major) bool { return m.At == i })
		for _, step := range c.steps {
			row.Cells = append(row.Cells, c.cells(step, v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// cells are those of a step at a version: the base's figure, then a ratio per build.
func (c compilers) cells(step, version string) []view.HeatCell {
	r := c.row(step, version)
	base := compilerName(c.in.BaseCompiler)
	raw := view.HeatCell{Text: compare.Missing, Class: "raw", Title: fmt.Sprintf("%s: %s was not measured with %s", step, version, base)}
	var own *compare.ArmCell
	if r != nil {
		own = r.Cell(c.in.BaseCompiler)
	}
	if own != nil {
		raw.Text = compare.FormatShort(own.Value)
		raw.Title = fmt.Sprintf("%s %s, %s: %s%s, n = %d", step, version, base, compare.FormatFull(own.Value), unitSuffix(c.metric.Unit), own.N)
	}
	cells := []view.HeatCell{raw}
	for _, arm := range c.others {
		cells = append(cells, c.ratioCell(r, own, arm, step, version))
	}
	return cells
}

func (c compilers) ratioCell(r *compare.ArmRow, own *compare.ArmCell, arm, step, version string) view.HeatCell {
	name, base := compilerName(arm), compilerName(c.in.BaseCompiler)
	cell := view.HeatCell{Text: compare.Missing, Class: "x", Title: fmt.Sprintf("%s: %s was not measured with %s", step, version, name)}
	if r == nil || r.Cell(arm) == nil {
		return cell
	}
	x := r.Cell(arm)
	full := compare.FormatFull(x.Value) + unitSuffix(c.metric.Unit)
	if x.Relative == nil {
		cell.Title = fmt.Sprintf("%s %s, %s: %s; nothing to divide by, it was not measured with %s", step, version, name, full, base)
		if own != nil {
			cell.Title = fmt.Sprintf("%s %s, %s: %s; %s has 0 there, which divides nothing", step, version, name, full, base)
		}
		return cell
	}
	cell.Class = tint(*x.Point, c.metric.Direction)
	cell.Text = cellRatio(*x.Point, cell.Class)
	cell.Href = c.charts(step, version)
	interval := "noise unknown"
	if x.Low != nil {
		interval = compare.FormatInterval(x.Low, x.High)
	}
	cell.Title = fmt.Sprintf("%s %s: %s / %s %s (%s), %s, n = %d", step, version, name, base, compare.FormatRatio(*x.Relative, x.Low, x.High), interval, full, x.N)
	switch {
	case x.Flagged:
		cell.Class = "x"
		cell.Title += "; not comparable: the run carries a warning"
	case *x.Relative > 0 && math.Abs(math.Log(*x.Relative)) > math.Log(farRatio) && len(cell.Class) == 2:
		cell.Class += " far"
	}
	if x.Mixed {
		cell.Title += "; samples of different builds, no repeats"
	}
	return cell
}

// missingNamed is how many versions a remark on gaps names.
const missingNamed = 8

// missing says which builds were not measured where others were. They are gaps in
// lines and dashes in the table.
func (c compilers) missing() []string {
	var out []string
	for _, arm := range append([]string{c.in.BaseCompiler}, c.others...) {
		var whole, part []string
		for _, v := range c.same.Versions {
			have, lack := 0, []string{}
			for _, step := range c.steps {
				if r := c.row(step, v); r != nil {
					if r.Cell(arm) != nil {
						have++
					} else {
						lack = append(lack, step)
					}
				}
			}
			switch {
			case have == 0:
				whole = append(whole, v)
			case len(lack) > 0:
				part = append(part, strings.Join(lack, " and ")+" of "+v)
			}
		}
		list := append(whole, part...)
		if len(list) == 0 {
			continue
		}
		if len(list) > missingNamed {
			list = append(list[:missingNamed:missingNamed], fmt.Sprintf("%d more", len(list)-missingNamed))
		}
		out = append(out, fmt.Sprintf("Not measured with %s: %s.", compilerName(arm), compare.AndList(list)))
	}
	return out
}

// builds says what is known of the builds of each compiler.
func (c compilers) builds() view.BuildSets {
	var builds []bench.Build
	for _, r := range c.in.Runs {
		if slices.ContainsFunc(c.same.Versions, func(v string) bool { return bench.CompareVersions(v, r.Build.Version) == 0 }) {
			builds = append(builds, r.Build)
		}
	}
	slices.SortStableFunc(builds, func(a, b bench.Build) int { return bench.CompareVersions(a.Version, b.Version) })
	var out view.BuildSets
	stored := false
	for _, s := range compare.BuildSets(builds, append([]string{c.in.BaseCompiler}, c.others...)) {
		row := view.BuildSetRow{Name: compilerName(s.Compiler), Count: strconv.Itoa(s.Builds), Compiler: compilerVersions(s), Differ: strings.Join(s.Differ, " ")}
		if row.Compiler == "" {
			row.Compiler = "not stored"
		}
		switch {
		case !s.Stored():
			row.Differ = "not stored"
		case row.Differ == "":
			row.Differ = "none of its own"
		default:
			row.Known = true
		}
		stored = stored || s.Stored()
		row.Lines = append(slices.Clone(s.Commands), s.Flags...)
		out.Rows = append(out.Rows, row)
	}
	if !stored {
		out.Remark = "The uploads do not say how these were built. Results of the runner do, and the export format has fields for it: compiler_version, flags, command."
	}
	return out
}

// compilerVersions names the compilers of builds: clang 18.3.1.
func compilerVersions(s compare.BuildSet) string {
	family, _, _ := strings.Cut(s.Compiler, "+")
	var out []string
	for _, v := range s.CompilerVersions {
		if v[0] >= '0' && v[0] <= '9' {
			v = family + " " + v
		}
		out = append(out, v)
	}
	return strings.Join(out, ", ")
}

// elsewhere shows the newest ratios of this and other places side by side, and says
// where nothing can be compared.
func (c compilers) elsewhere() view.ElsewhereTable {
	q := c.in.Resolved
	t := view.ElsewhereTable{Sentence: c.notComparable()}
	type column struct {
		place view.ElsewherePlace
		rows  map[string]*compare.ArmRow // by step
		arms  []string
		at    place
	}
	var columns []column
	add := func(p place, x compare.CompilerComparison, current bool) {
		col := column{rows: map[string]*compare.ArmRow{}, at: p}
		for _, arm := range x.Arms.Arms {
			if arm != c.in.BaseCompiler {
				col.arms = append(col.arms, arm)
			}
		}
		version := ""
		for i := range x.Rows {
			r := &x.Rows[i]
			if (version == "" || bench.CompareVersions(r.Version, version) > 0) && slices.ContainsFunc(r.Cells, func(a compare.ArmCell) bool {
				return a.Arm != c.in.BaseCompiler && a.Point != nil && a.Relative != nil
			}) {
				version = r.Version
			}
		}
		if version == "" || len(col.arms) == 0 {
			return
		}
		for i := range x.Rows {
			if r := &x.Rows[i]; bench.CompareVersions(r.Version, version) == 0 {
				col.rows[r.Step] = r
			}
		}
		col.place = view.ElsewherePlace{Name: p.name(q.Workloads[0]), Href: p.href(c.in.Given), Version: version, Current: current, Builds: compilerNames(col.arms), Span: strconv.Itoa(len(col.arms))}
		columns = append(columns, col)
	}
	add(q.place(), c.same, true)
	for _, p := range c.in.Places {
		own := slices.DeleteFunc(slices.Clone(c.in.Elsewhere), func(s bench.Series) bool { return placeOf(s.Coordinate) != p })
		add(p, sameVersion(own, chartsQuery{Steps: q.Steps, Apart: q.Apart}, c.in.BaseCompiler, c.in.Known.cache), false)
	}
	if len(columns) < 2 {
		return t
	}
	t.What = fmt.Sprintf("%s against %s of the same version, at the newest that has both", c.metric.Title, compilerName(c.in.BaseCompiler))
	var steps []string
	for _, col := range columns {
		t.Places = append(t.Places, col.place)
		for step := range col.rows {
			steps = appendNew(steps, step)
		}
	}
	slices.SortFunc(steps, bench.CompareSteps)
	for _, step := range steps {
		row := view.ElsewhereRow{Step: step, Short: bench.ShortStep(step)}
		for _, col := range columns {
			var cells []view.HeatCell
			for _, arm := range col.arms {
				r := col.rows[step]
				var own *compare.ArmCell
				if r != nil {
					own = r.Cell(c.in.BaseCompiler)
				}
				cell := c.ratioCell(r, own, arm, step, col.place.Version)
				if cell.Href != "" {
					cell.Href = col.place.Href + "#against"
					if col.place.Current {
						cell.Href = "#against"
					}
				}
				cells = append(cells, cell)
			}
			row.Cells = append(row.Cells, cells)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// notComparable says of the other servers of the system and suite why no compilers
// can be compared there: 8core has clang only (9.8.4 to 10.10.0).
func (c compilers) notComparable() string {
	q := c.in.Resolved
	servers := map[string][]string{} // compilers
	comparable := map[string]bool{}
	for p, list := range compilersAt(c.in.Coordinates) {
		if p.System != q.System || p.Suite != q.Suite || p.Server == q.Servers[0] {
			continue
		}
		comparable[p.Server] = comparable[p.Server] || len(list) > 1
		for _, x := range list {
			servers[p.Server] = appendNew(servers[p.Server], x)
		}
	}
	var parts []string
	for _, server := range sortedKeys(servers) {
		if comparable[server] {
			continue
		}
		list := servers[server]
		slices.SortFunc(list, compilerOrder(c.in.BaseCompiler))
		text := server + " has " + compare.AndList(compilerNames(list))
		if len(list) > 1 {
			text += ", but not for the same workload"
		} else {
			text += " only"
		}
		if r := c.versionsOn(server); r != "" {
			text += " (" + r + ")"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": no compiler comparison possible there."
}

// versionsOn gives the range of versions that was measured on a server, as far as
// it was read.
func (c compilers) versionsOn(server string) string {
	q := c.in.Resolved
	var versions []string
	seen := map[string]bool{}
	for _, l := range c.in.Known.lines[suiteMetric{q.System, q.Suite, q.Metric}] {
		if l.Server != server {
			continue
		}
		for _, p := range l.Points {
			if !seen[p.Version] {
				seen[p.Version] = true
				versions = append(versions, p.Version)
			}
		}
	}
	if len(versions) == 0 {
		return ""
	}
	sortVersions(versions)
	return span(versions)
}
