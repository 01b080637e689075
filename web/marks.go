package web

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// marks are what is drawn and said of changes and notes on a page of charts.
type marks struct {
	setting    compare.Setting
	candidates []compare.Candidate
	marked     []bench.Change // what the setting marks
	series     int            // that were tested
	known      knowledge
	notes      []numbered
}

// numbered is a note with its number on the page.
type numbered struct {
	bench.Note
	n int
}

// newMarks chooses what is marked on the lines of a comparison.
func newMarks(in chartsInput, c compare.Comparison) marks {
	setting, ok := compare.SettingOf(in.Resolved.Sensitivity)
	if !ok {
		setting, _ = compare.SettingOf(compare.Usual)
	}
	m := marks{setting: setting, known: in.Known}
	tested := slices.DeleteFunc(slices.Clone(in.Series), func(s bench.Series) bool {
		return !slices.ContainsFunc(c.Lines, func(l compare.Line) bool { return l.Covers(s.Coordinate) })
	})
	m.candidates = compare.Candidates(tested, in.Changes, in.Known.cache)
	m.marked = setting.Mark(m.candidates)
	for _, s := range tested {
		if bench.PrimaryMetric(s.Suite, s.Step) == s.Metric.Name {
			m.series++
		}
	}
	n := 0
	for _, note := range in.Notes {
		if _, _, ok := chart.PlaceNote(note, c.Versions); !ok || !slices.ContainsFunc(c.Lines, func(l compare.Line) bool { return covers(note, l) }) {
			continue
		}
		n++
		m.notes = append(m.notes, numbered{note, n})
	}
	return m
}

// covers reports whether a note is about a line.
func covers(n bench.Note, l compare.Line) bool {
	return n.System == l.System && n.Scope.Covers(l.Coordinate)
}

// put adds the marks to charts.
func (m marks) put(figures []chart.Figure, v *chart.View) {
	if len(m.candidates) > 0 {
		v.Sensitivity = string(m.setting.Name)
		for _, x := range compare.Settings() {
			v.Settings = append(v.Settings, chart.Setting{Name: string(x.Name), Expected: expectedText(x.ExpectedFalse(m.series))})
		}
	}
	for i := range figures {
		f := &figures[i]
		for j, l := range f.Source {
			for _, c := range m.candidates {
				from := compare.MarkedFrom(c)
				if from < 0 || !l.Covers(c.Coordinate) {
					continue
				}
				at, back, ok := chart.PlaceChange(c.FoundChange, v.Versions)
				if !ok {
					continue
				}
				f.Changes = append(f.Changes, chart.ChangeMark{
					Line: j, At: at, Back: back, Effect: c.Effect, From: from, Href: changeHref(c.ID), Text: m.sentence(c.Change),
				})
			}
		}
		for _, n := range m.notes {
			if !slices.ContainsFunc(f.Source, func(l compare.Line) bool { return covers(n.Note, l) }) {
				continue
			}
			if at, to, ok := chart.PlaceNote(n.Note, v.Versions); ok {
				f.Notes = append(f.Notes, chart.NoteMark{At: at, To: to, N: n.n, Text: excerpt(n.Body), Href: "#" + noteAnchor(n.n)})
			}
		}
	}
}

// sentence says what a change is, with its doubts.
func (m marks) sentence(c bench.Change) string {
	text := ""
	switch c.Shape {
	case bench.ShapeSpike:
		text = fmt.Sprintf("spike at %s: %s of before", c.To, changeRatio(c))
	case bench.ShapeNewest:
		text = fmt.Sprintf("the newest version: %s of the level before", changeRatio(c))
	default:
		text = fmt.Sprintf("lasting change between %s and %s: %s", c.From, c.To, changeRatio(c))
	}
	if d := doubtWords(m.known.judge(c).Doubts); d != "" {
		text += "; " + d
	}
	return text
}

func noteAnchor(n int) string { return "n" + strconv.Itoa(n) }

// noteList lists the notes of a page.
func (m marks) noteList(add string, reader reader) view.NoteList {
	l := view.NoteList{Title: "Notes in this view", Add: add, None: "None in this view."}
	for _, n := range m.notes {
		item := noteItem(n.Note, reader)
		item.Number, item.Anchor = strconv.Itoa(n.n), noteAnchor(n.n)
		l.Notes = append(l.Notes, item)
	}
	return l
}

// expectedText bounds the number of false marks.
func expectedText(n float64) string {
	switch {
	case n < 0.005:
		return "fewer than 0.01"
	case n < 0.1:
		return fmt.Sprintf("at most %.2f", n)
	}
	return fmt.Sprintf("at most %.1f", n)
}

// sensitivityLinks are the choices of the sensitivity.
func sensitivityLinks(q chartsQuery) view.Segment {
	s := view.Segment{Label: "marks"}
	for _, x := range compare.Settings() {
		s.Links = append(s.Links, view.Link{
			Text: string(x.Name), Current: q.Sensitivity == x.Name,
			Title: fmt.Sprintf("an unchanged series raises an alarm with p ≤ %g; effects from %g %%", x.Level, 100*x.MinEffect),
			Href:  q.with(func(q *chartsQuery) { q.Sensitivity = x.Name }).String(),
		})
	}
	return s
}

// lineChanges lists the changes on the lines of a large chart: all that one of
// the settings marks, those of the other settings hidden.
func (m marks) lineChanges(in chartsInput, f chart.Figure) *view.LineChanges {
	out := &view.LineChanges{Choices: sensitivityLinks(in.Given)}
	steps, spikes := 0, 0
	for i, l := range f.Source {
		for _, c := range m.candidates {
			from := compare.MarkedFrom(c)
			if from < 0 || !l.Covers(c.Coordinate) {
				continue
			}
			judged := m.known.judge(c.Change)
			row := view.LineChange{
				Span: changeSpan(c.FoundChange), Href: changeHref(c.ID), Line: f.Lines[i].Name, Shape: shapeText(c.FoundChange),
				Ratio: changeRatio(c.Change), Class: verdictClass(changeVerdict(c.Change)), Interval: changeInterval(c.Change), P: pText(c.PHere),
				Tags: doubtTags(judged.Doubts), From: strconv.Itoa(from), Unmarked: !m.setting.Marks(c), Spike: c.Shape == bench.ShapeSpike,
			}
			if len(l.Members) > 1 && c.Step != l.Step {
				row.Shape = "of " + c.Step
			}
			if c.ID == 0 {
				row.State, row.StateClass = "not listed", "none"
			} else {
				row.State, row.StateClass = triageText(c.Change), string(c.Triage)
			}
			if !row.Unmarked {
				if c.Shape == bench.ShapeSpike {
					spikes++
				} else {
					steps++
				}
			}
			out.Rows = append(out.Rows, row)
		}
	}
	switch metric := f.Source[0].Metric; {
	case bench.PrimaryMetric(f.Source[0].Suite, f.Source[0].Step) != metric.Name:
		out.None = "Changes are looked for in the metric that decides a step, not in " + metric.Title + "."
	default:
		out.None = "None beyond noise."
		out.What = m.count(steps, spikes)
	}
	return out
}

// count says how many changes are marked, and how many of them may be false.
func (m marks) count(steps, spikes int) string {
	return fmt.Sprintf("%s and %s; at this setting %s false ones are expected",
		plural(steps, "step", "steps"), plural(spikes, "spike", "spikes"), expectedText(m.setting.ExpectedFalse(m.series)))
}
