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

// newReportPage builds the version report. Its Page is left to the caller, but for
// the title.
func newReportPage(in chartsInput, who reader) (view.ReportPage, error) {
	var p view.ReportPage
	r, err := newReport(in)
	switch {
	case err != nil && !in.Found:
		p.Heading, p.Title = "Version report", "Report"
		p.Bar = view.Bar{Fields: fields(in, nil)}
		p.Empty = nothingMeasured(in)
		return p, nil
	case bench.KindOf(err) == bench.KindNotFound:
		p.Heading, p.Title = systemName(in.Resolved.System), "Report"
		p.Bar = chartsBar(in, r.answer)
		p.Empty = nothingOfMetric(in, r.answer.comparison.Metric)
		return p, nil
	case err != nil:
		return p, err
	}
	a, q := r.answer, in.Resolved
	p.Bar = chartsBar(in, a)
	p.Bar.Export = []view.Link{
		{Text: "Markdown", Href: in.Given.format("md"), Title: "the report as text, for an issue or a post"},
		{Text: "CSV", Href: in.Given.format("csv"), Title: "every figure, a row a version"},
		{Text: "JSON", Href: q.with(func(q *chartsQuery) { q.Base.Version = r.Base.Version }).apiQuery(""), Title: "the series from the API"},
	}
	p.Heading = fmt.Sprintf("%s %s, %s", systemName(q.System), span(r.Versions), strings.Join(q.context(), ", "))
	p.Title = p.Heading
	p.Meta = smallMeta(in, a)
	p.Lead = r.lead()
	p.Together = r.togetherParts()
	p.Axis = wideScale.axis()
	title := valueHead(r.Metric)
	p.Heads = view.ReportHeads{Base: baseText(r.Base) + ", " + title, Newest: r.Newest + ", " + title, Ratio: r.Newest + " / " + baseText(r.Base)}
	for i := range r.Rows {
		p.Rows = append(p.Rows, r.stepRow(&r.Rows[i]))
	}
	p.Doubts = r.doubtLines()
	p.Heat = r.heat()

	p.What = "Relative " + r.Metric.Title + ", " + countVersions(len(r.Versions), len(a.all))
	if !q.Fit {
		p.What += ", same scale in every chart"
	}
	g := in.Given
	p.Choices = []view.Segment{
		{Label: "Scale", Links: []view.Link{
			{Text: "Same scale", Href: g.with(func(q *chartsQuery) { q.Fit = false }).String(), Current: !q.Fit},
			{Text: "Fit", Href: g.with(func(q *chartsQuery) { q.Fit = true }).String(), Current: q.Fit},
		}},
		{Label: "Order", Links: []view.Link{
			{Text: "By group", Href: g.with(func(q *chartsQuery) { q.Worst = false }).String(), Current: !q.Worst},
			{Text: "Worst first", Href: g.with(func(q *chartsQuery) { q.Worst = true }).String(), Current: q.Worst},
		}},
	}
	p.Key = key(in, a)
	a.view.Served = true
	p.View = a.view
	for i, f := range a.figures {
		c := newChart(in, a, f, fmt.Sprintf("c%d", i))
		c.Tables, c.Count = nil, ""
		p.Charts = append(p.Charts, c)
	}
	if a.left > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s more are left out.", plural(a.left, "chart", "charts")))
	}
	p.Figures = r.figureTable()
	p.Notes = r.marks.noteList(noteForm{System: q.System, Version: r.Newest, Scope: bench.NoteScope{Server: first(q.Servers), Workload: first(q.Workloads)}, Back: in.Given.String()}.String(), who)
	p.Sure = r.sure()
	return p, nil
}

// countVersions says how many versions are shown.
func countVersions(shown, all int) string {
	if shown == all {
		return "all " + plural(shown, "version", "versions")
	}
	return fmt.Sprintf("%d of %s", shown, plural(all, "version", "versions"))
}

// format gives the address of the report in another form.
func (q chartsQuery) format(name string) string {
	q = q.with(func(*chartsQuery) {})
	a := q.String()
	if strings.Contains(a, "?") {
		return a + "&format=" + name
	}
	return a + "?format=" + name
}

// lead is the report's first sentence, and what each group of steps lost or won.
func (r report) lead() []view.Part {
	var parts []view.Part
	say := func(text string) { parts = append(parts, view.Part{Text: text}) }
	if r.Base.Version != "" && bench.CompareVersions(r.Base.Version, r.Newest) == 0 {
		if len(r.answer.all) == 1 {
			say("One version was measured here, " + r.Newest + ": there is no other to compare it with yet.")
		} else {
			say(r.Newest + " is the base: everything is divided by it.")
		}
		return parts
	}
	worse, better := "worse", "better"
	if r.Metric.Name == "qps" || r.Metric.Name == "ips" {
		worse, better = "slower", "faster"
	}
	judged := r.Worse + r.Better + r.Undecided
	if judged == 0 {
		say(fmt.Sprintf("%s cannot be compared with %s: nothing was measured at both, or the noise is unknown.", r.Newest, baseText(r.Base)))
		return parts
	}
	steps := func(n int) string {
		if judged == 1 {
			return "the one step"
		}
		return fmt.Sprintf("%d of %s", n, plural(judged, "step", "steps"))
	}
	say("Against " + baseText(r.Base) + ", ")
	head, rest := "", []string{}
	for _, x := range []struct {
		n    int
		word string
	}{{r.Worse, worse}, {r.Better, better}, {r.Undecided, "undecided"}} {
		switch {
		case x.n == 0:
		case head == "":
			head = fmt.Sprintf("%s is %s in %s", r.Newest, x.word, steps(x.n))
		default:
			rest = append(rest, fmt.Sprintf("%s in %d", x.word, x.n))
		}
	}
	parts = append(parts, view.Part{Text: head, Strong: true})
	if len(rest) > 0 {
		say(", " + strings.Join(rest, ", "))
	}
	if r.Measured > 1 && r.Geomean > 0 {
		say(fmt.Sprintf("; the geometric mean is %s", compare.FormatRatio(r.Geomean, nil, nil)))
	}
	say(". ")
	for i, f := range r.Findings() {
		if i > 0 {
			say("; ")
		}
		parts = append(parts, r.findingParts(f)...)
	}
	if len(r.Findings()) > 0 {
		say(".")
	}
	return parts
}

// findingParts words a finding with links to the chart and the changes.
func (r report) findingParts(f compare.Finding) []view.Part {
	what, where := findingText(f)
	amount, interval, _ := strings.Cut(what, " (")
	parts := []view.Part{
		{Text: f.Row.Line.Step, Href: r.stepHref(f.Row.Line.Step, "")}, {Text: " "},
		{Text: glyph(f.Row.Verdict) + " " + amount, Class: verdictClass(f.Row.Verdict), Strong: true},
	}
	if interval != "" {
		parts = append(parts, view.Part{Text: " (" + interval})
	}
	if where == "" {
		return parts
	}
	parts = append(parts, view.Part{Text: ", "})
	switch changes := f.Where.Changes; len(changes) {
	case 1:
		parts = append(parts, view.Part{Text: "mostly "}, view.Part{Text: sinceText(changes[0].FoundChange), Href: changeHref(changes[0].ID)})
		parts = append(parts, r.doubtParts(changes[0])...)
	case 2:
		parts = append(parts, view.Part{Text: "most of it at "}, view.Part{Text: changes[0].To, Href: changeHref(changes[0].ID)})
		parts = append(parts, r.doubtParts(changes[0])...)
		parts = append(parts, view.Part{Text: " and "}, view.Part{Text: changes[1].To, Href: changeHref(changes[1].ID)})
		parts = append(parts, r.doubtParts(changes[1])...)
	default:
		parts = append(parts, view.Part{Text: where})
	}
	return parts
}

// doubtParts are the doubts of a change in brackets, nothing without any. Where
// measuring paused it says so with where else nothing was seen; of other doubts a
// question mark is left to the table below; text that is copied has all of them.
func (r report) doubtParts(c bench.Change) []view.Part {
	doubts := r.doubts(c)
	if len(doubts) > 0 && r.inWords {
		return []view.Part{{Text: " [" + doubtWords(doubts) + "]"}}
	}
	if !c.NewCampaign {
		if len(doubts) > 0 {
			return []view.Part{{Text: " [?]"}}
		}
		return nil
	}
	doubts = slices.DeleteFunc(slices.Clone(doubts), func(d compare.Doubt) bool { return d.Kind != compare.DoubtCampaign && d.Kind != compare.DoubtUnseen })
	return []view.Part{{Text: " [" + doubtWords(doubts) + "]"}}
}

// stepHref is the chart of a step, at a version when it is not "".
func (r report) stepHref(step, at string) string {
	return r.in.Given.with(func(q *chartsQuery) {
		*q = r.in.Resolved.with(func(*chartsQuery) {})
		q.Base, q.From, q.To = r.in.Given.Base, r.in.Given.From, r.in.Given.To
		q.Report, q.All, q.Worst, q.Fit = false, false, false, false
		q.Steps, q.At = []string{step}, at
		q.Unknown = nil
	}).String()
}

// togetherDoubts are the doubts of the changes of a version at which many steps
// moved, one of a kind.
func (r report) togetherDoubts(t compare.Together) []compare.Doubt {
	var out []compare.Doubt
	for _, c := range r.marks.marked {
		if bench.CompareVersions(c.To, t.To) != 0 || (c.Effect > 0) != (t.Effect > 0) {
			continue
		}
		for _, d := range r.marks.known.judge(c).Doubts {
			// That many steps moved alike is what the remark says.
			if d.Kind != compare.DoubtCommon && !slices.ContainsFunc(out, func(k compare.Doubt) bool { return k.Kind == d.Kind }) {
				out = append(out, d)
			}
		}
	}
	return out
}

// togetherParts is the remark on versions at which many steps moved alike.
func (r report) togetherParts() []view.Part {
	var parts []view.Part
	for _, t := range r.Together {
		if r.Base.Version != "" && bench.CompareVersions(t.To, r.Base.Version) <= 0 {
			continue
		}
		if len(parts) == 0 {
			parts = append(parts, view.Part{Text: "Moved together: ", Strong: true})
		} else {
			parts = append(parts, view.Part{Text: "; "})
		}
		v := compare.Better
		if (t.Effect > 0) != (r.Metric.Direction == bench.HigherBetter) {
			v = compare.Worse
		}
		words := fmt.Sprintf(" (%d of %d steps", t.Steps, t.Of)
		if d := doubtWords(r.togetherDoubts(t)); d != "" {
			words += ", " + d
		}
		parts = append(parts, view.Part{Text: t.To, Href: versionHref(r.in.Resolved.System, t.To)}, view.Part{Text: " "},
			view.Part{Text: glyph(v) + " " + percentText(math.Exp(t.Effect)), Class: verdictClass(v)}, view.Part{Text: words + ")"})
	}
	if len(parts) > 0 {
		parts = append(parts, view.Part{Text: ". Unrelated steps of the same runs rarely change alike: look at the server and the build before the code."})
	}
	return parts
}

// stepChanges is how many changes a row of the step table names.
const stepChanges = 3

func (r report) stepRow(row *compare.Row) view.StepRow {
	l := row.Line
	out := view.StepRow{
		Name: chart.Title([]compare.Line{l}), Short: bench.ShortStep(l.Step), Href: r.stepHref(l.Step, ""),
		Base: compare.Missing, Newest: compare.Missing, Ratio: compare.Missing, Interval: compare.Missing, Plot: wideScale.plot(0, nil, nil, compare.NoVerdict),
	}
	if l.BaseValue != nil {
		out.Base = compare.FormatShort(*l.BaseValue)
	} else if l.WhyNoBase != "" {
		out.Interval = l.WhyNoBase
	}
	if p := row.Last; p != nil {
		out.Newest = compare.FormatShort(p.Value)
		if p.Relative != nil {
			out.Ratio, out.Class = ratioText(*p, l.Metric.Direction), verdictClass(row.Verdict)
			out.Interval = intervalText(*p)
			out.Plot = wideScale.plot(*p.Relative, p.Low, p.High, row.Verdict)
		}
	} else {
		out.Newest = "not measured"
	}
	on, largest := r.changesOf(row), r.stepChanges(row)
	for _, c := range largest {
		out.Changes = append(out.Changes, view.ChangeLink{
			Href: changeHref(c.ID), Amount: effectText(c), Class: verdictClass(changeVerdict(c)), At: c.To, Doubt: doubtWords(r.doubts(c)),
		})
	}
	if len(on) > len(largest) {
		out.All = view.Link{Text: fmt.Sprintf("all %d", len(on)), Href: out.Href + "#line-changes"}
	}
	return out
}

// doubtLines lists, by version, the doubts that stand behind the question marks:
// of one kind that of the change with the largest effect.
func (r report) doubtLines() []view.Part {
	by := map[string][]compare.Doubt{}
	var versions []string
	for i := range r.Rows {
		for _, c := range r.stepChanges(&r.Rows[i]) {
			for _, d := range r.doubts(c) {
				versions = appendNew(versions, c.To)
				if !slices.ContainsFunc(by[c.To], func(k compare.Doubt) bool { return k.Kind == d.Kind }) {
					by[c.To] = append(by[c.To], d)
				}
			}
		}
	}
	sortVersions(versions)
	var parts []view.Part
	for i, v := range versions {
		tail := ";"
		if i == len(versions)-1 {
			tail = "."
		}
		parts = append(parts, view.Part{Text: v, Strong: true}, view.Part{Text: " " + doubtWords(by[v]) + tail + " "})
	}
	return parts
}

// stepChanges gives the largest lasting changes of a row between the base and the
// newest version, in version order.
func (r report) stepChanges(row *compare.Row) []bench.Change {
	var largest []bench.Change
	for _, c := range r.changesOf(row) {
		if c.Shape != bench.ShapeSpike {
			largest = append(largest, c)
		}
	}
	slices.SortStableFunc(largest, func(a, b bench.Change) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	largest = largest[:min(stepChanges, len(largest))]
	slices.SortStableFunc(largest, func(a, b bench.Change) int { return bench.CompareVersions(a.To, b.To) })
	return largest
}

// changesOf gives the changes of a row after the base.
func (r report) changesOf(row *compare.Row) []bench.Change {
	return slices.DeleteFunc(slices.Clone(row.Changes), func(c bench.Change) bool {
		return r.Base.Version != "" && bench.CompareVersions(c.To, r.Base.Version) <= 0
	})
}

// heat is the table of steps by version.
func (r report) heat() view.ReportHeat {
	q := r.in.Given
	h := view.ReportHeat{
		Caption: fmt.Sprintf("Relative %s by step and version, base %s", r.Metric.Title, baseText(r.Base)),
		Span:    strconv.Itoa(len(r.Columns) + 1),
		What:    fmt.Sprintf("%s / %s of %s, ", r.Metric.Title, r.Metric.Title, baseText(r.Base)),
	}
	switch {
	case len(r.Columns) < len(r.Versions):
		h.What += fmt.Sprintf("%d of %s: first and last of each major, where most steps changed, where a note stands.", len(r.Columns), plural(len(r.Versions), "version", "versions"))
		h.All = view.Link{Text: fmt.Sprintf("Show all %d", len(r.Versions)), Href: q.with(func(q *chartsQuery) { q.All = true }).String() + "#versions"}
	case q.All && len(r.Versions) > reportColumns:
		h.What += "all " + plural(len(r.Versions), "version", "versions") + "."
		h.All = view.Link{Text: "Show fewer", Href: q.with(func(q *chartsQuery) { q.All = false }).String() + "#versions"}
	default:
		h.What += "all " + plural(len(r.Versions), "version", "versions") + "."
	}
	majors := chart.Majors(r.Columns)
	starts := map[int]bool{}
	for i, m := range majors {
		end := len(r.Columns)
		if i+1 < len(majors) {
			end = majors[i+1].At
		}
		starts[m.At] = i > 0
		h.Majors = append(h.Majors, view.HeatMajor{Name: m.Name, Span: strconv.Itoa(end - m.At)})
	}
	for i, v := range r.Columns {
		c := view.HeatColumn{
			Version: v, Href: versionHref(q.System, v), Base: baseHref(q, v, r.answer.autoBase),
			Title: v + ": opens the version; Shift-click makes it the base",
		}
		for _, n := range r.marks.notes {
			if at, to, ok := chart.PlaceNote(n.Note, r.Columns); ok && i == at && at <= to {
				c.Notes = append(c.Notes, view.Link{Text: strconv.Itoa(n.n), Href: "#" + noteAnchor(n.n), Title: excerpt(n.Body)})
			}
		}
		h.Columns = append(h.Columns, c)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		group := bench.StepGroup(row.Line.Step)
		if len(h.Groups) == 0 || h.Groups[len(h.Groups)-1].Name != group {
			h.Groups = append(h.Groups, view.HeatGroup{Name: group})
		}
		line := view.HeatLine{Name: chart.Title([]compare.Line{row.Line}), Short: bench.ShortStep(row.Line.Step), Href: r.stepHref(row.Line.Step, "")}
		before := r.changesBefore(row)
		for j, v := range r.Columns {
			line.Cells = append(line.Cells, r.heatCell(row, v, before[j], starts[j]))
		}
		g := &h.Groups[len(h.Groups)-1]
		g.Rows = append(g.Rows, line)
	}
	return h
}

// changesBefore gives for each column the lasting change that lies between it and
// the column before; of several the largest.
func (r report) changesBefore(row *compare.Row) []*bench.Change {
	out := make([]*bench.Change, len(r.Columns))
	for i := range row.Changes {
		c := &row.Changes[i]
		if c.Shape == bench.ShapeSpike {
			continue
		}
		at, _, ok := chart.PlaceChange(c.FoundChange, r.Columns)
		if ok && at > 0 && (out[at] == nil || math.Abs(c.Effect) > math.Abs(out[at].Effect)) {
			out[at] = c
		}
	}
	return out
}

// farRatio is from which on a cell is drawn bold: half as fast again, or two
// thirds.
const farRatio = 1.5

func (r report) heatCell(row *compare.Row, version string, c *bench.Change, majorStart bool) view.HeatCell {
	l := row.Line
	p := pointAt(l, version)
	cell := view.HeatCell{Text: "", Class: "x"}
	if p != nil && p.Relative != nil {
		cell.Class = tint(*p, l.Metric.Direction)
		cell.Text = cellRatio(*p, cell.Class)
		cell.Href = r.stepHref(l.Step, version)
		cell.Title = fmt.Sprintf("%s %s: %s (%s), %s%s, n = %d", l.Step, version, cell.Text, intervalText(*p), compare.FormatFull(p.Value), unitSuffix(l.Metric.Unit), p.N)
		switch {
		case intervalText(*p) == baseWord:
			cell.Class = "isb"
		case *p.Relative > 0 && math.Abs(math.Log(*p.Relative)) > math.Log(farRatio) && cell.Class != "u" && cell.Class != "x":
			cell.Class += " far"
		}
		if p.Flagged {
			cell.Class = "x"
			cell.Title += "; not comparable: the run carries a warning"
		}
	} else if p != nil {
		cell.Text, cell.Title = compare.Missing, l.WhyNoBase
	}
	if majorStart {
		cell.Class += " ms"
	}
	if c != nil {
		cell.Class += " chg"
		if c.Effect > 0 {
			cell.Class += " upw"
		}
		if changeVerdict(*c) == compare.Better {
			cell.Class += " imp"
		}
		cell.Title += fmt.Sprintf("; lasting change between %s and %s: %s", c.From, c.To, changeRatio(*c))
		if d := doubtWords(r.doubts(*c)); d != "" {
			cell.Title += " [" + d + "]"
		}
	}
	return cell
}

// figureTable holds every figure of the report, the same as the charts.
func (r report) figureTable() view.FigureTable {
	t := view.FigureTable{Summary: fmt.Sprintf("The same figures as a table (%s × %s)", plural(len(r.Versions), "version", "versions"), plural(len(r.Rows), "step", "steps"))}
	for i := range r.Rows {
		t.Steps = append(t.Steps, chart.Title([]compare.Line{r.Rows[i].Line}))
	}
	maker := tableMaker{in: r.in, a: r.answer}
	for _, v := range r.Versions {
		row := view.FigureRow{Version: v}
		for i := range r.Rows {
			row.Cells = append(row.Cells, maker.cell(r.Rows[i].Line, v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sure says how sure the marks are and what the series can show.
func (r report) sure() view.Sure {
	s := view.Sure{Choices: sensitivityLinks(r.in.Given)}
	type named struct {
		step  string
		value float64
	}
	var smallest, repeats []named
	for i := range r.Rows {
		row := &r.Rows[i]
		out := view.SureRow{Step: row.Line.Step, Noise: compare.Missing, Smallest: compare.Missing, Newest: compare.Missing, Repeats: compare.Missing}
		if n := row.Line.Noise; n.OK {
			out.Noise = noisePercent(n.SD)
		}
		if row.Repeats > 0 {
			out.Repeats = strconv.Itoa(row.Repeats)
			repeats = append(repeats, named{row.Line.Step, float64(row.Repeats)})
		}
		if row.Smallest > 1 {
			out.Smallest = strings.TrimPrefix(compare.FormatPercent(row.Smallest), "+")
			smallest = append(smallest, named{row.Line.Step, row.Smallest})
		}
		if newest := row.SmallestNewest; newest > 1 {
			out.Newest = strings.TrimPrefix(compare.FormatPercent(newest), "+")
		}
		s.Rows = append(s.Rows, out)
	}
	lists := r.tested > 0
	if lists {
		s.Sentences = append(s.Sentences, fmt.Sprintf(
			"Marked are %s. An unchanged series raises an alarm with a probability of at most %g: of %s %s marks are expected to be false. False discovery is held at %g\u2009%% across the table; effects below %g\u2009%% are left out.",
			plural(len(r.marks.marked), "change", "changes"), r.setting.Level, plural(r.tested, "series", "series"), expectedText(r.ExpectedFalse),
			100*compare.FalseDiscoveryRate, math.Round(1000*r.setting.MinEffect)/10))
	} else {
		s.Sentences = append(s.Sentences, "Changes are looked for in the metric that decides a step, not in "+r.Metric.Title+".")
	}
	span := func(list []named, text func(float64) string) string {
		slices.SortStableFunc(list, func(a, b named) int { return cmp.Compare(a.value, b.value) })
		least, most := list[0], list[len(list)-1]
		if len(list) == 1 || text(least.value) == text(most.value) {
			return text(least.value)
		}
		return fmt.Sprintf("%s (%s) to %s (%s)", text(least.value), least.step, text(most.value), most.step)
	}
	if len(smallest) > 0 {
		s.Sentences = append(s.Sentences, "The smallest lasting change that these series can show with their runs: "+
			span(smallest, func(v float64) string { return strings.TrimPrefix(compare.FormatPercent(v), "+") })+".")
	}
	if len(repeats) > 0 {
		s.Sentences = append(s.Sentences, "Runs of each of two versions that would prove a difference of 1\u2009%: "+
			span(repeats, func(v float64) string { return strconv.Itoa(int(v)) })+".")
	}
	return s
}
