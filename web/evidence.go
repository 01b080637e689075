package web

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// suiteMetric is what series must share to say something about each other.
type suiteMetric struct{ system, suite, metric string }

// knowledge is what all series of a suite and metric say about changes.
type knowledge struct {
	lines      map[suiteMetric][]compare.Line // without base
	resolution map[int64]float64              // by series
	judged     map[judgedKey]compare.Judged
	cache      *compare.Cache // nil: nothing is remembered
}

// judgedKey tells changes apart, those that are not stored too.
type judgedKey struct {
	bench.Coordinate
	metric, to string
	shape      bench.Shape
	effect     float64
}

// fewSteps is up to how many steps (families) only the series are read that can
// say something about changes in them: the same steps elsewhere, and the other
// steps of the same runs. For more nearly all would be read, some of them twice.
const fewSteps = 3

// know reads the series that can say something about changes. The caller may give
// those that it has read anyway.
func (s *server) know(ctx context.Context, changes []bench.Change, read ...[]bench.Series) (knowledge, error) {
	k := knowledge{map[suiteMetric][]compare.Line{}, map[int64]float64{}, map[judgedKey]compare.Judged{}, s.cache}
	for _, series := range read {
		k.add(series)
	}
	var order []suiteMetric
	wanted := map[suiteMetric][]bench.Coordinate{}
	for _, c := range changes {
		g := suiteMetric{c.System, c.Suite, c.Metric.Name}
		if _, known := k.lines[g]; known {
			continue
		}
		if wanted[g] == nil {
			order = append(order, g)
		}
		wanted[g] = append(wanted[g], c.Coordinate)
	}
	for _, g := range order {
		series, err := s.about(ctx, g, wanted[g])
		if err != nil {
			return k, err
		}
		k.lines[g] = nil // read, even when nothing came
		k.add(series)
	}
	return k, nil
}

// about reads the series of a suite and metric that can say something about
// changes at coordinates.
func (s *server) about(ctx context.Context, g suiteMetric, at []bench.Coordinate) ([]bench.Series, error) {
	all := bench.SeriesFilter{System: g.system, Suite: g.suite, Metric: g.metric}
	elsewhere, beside := all, all
	for _, c := range at {
		for _, step := range bench.FamilyMembers(bench.StepFamily(c.Step)) {
			elsewhere.Steps = appendNew(elsewhere.Steps, step)
		}
		beside.Servers, beside.Workloads = appendNew(beside.Servers, c.Server), appendNew(beside.Workloads, c.Workload)
	}
	if len(elsewhere.Steps) > fewSteps {
		return s.Source.Series(ctx, all)
	}
	series, err := s.Source.Series(ctx, elsewhere)
	if err != nil {
		return nil, err
	}
	more, err := s.Source.Series(ctx, beside)
	if err != nil {
		return nil, err
	}
	have := map[bench.Coordinate]bool{}
	for _, x := range series {
		have[x.Coordinate] = true
	}
	for _, x := range more {
		if !have[x.Coordinate] {
			series = append(series, x)
		}
	}
	return series, nil
}

func (k knowledge) add(series []bench.Series) {
	by := map[suiteMetric][]bench.Series{}
	for _, x := range series {
		g := suiteMetric{x.System, x.Suite, x.Metric.Name}
		by[g] = append(by[g], x)
		k.resolution[x.ID] = compare.Resolution(x)
	}
	for g, list := range by {
		k.lines[g] = compare.Compare(list, compare.Options{Cache: k.cache}).Lines
	}
}

// judge adds to a change what the other series say.
func (k knowledge) judge(c bench.Change) compare.Judged {
	key := judgedKey{c.Coordinate, c.Metric.Name, c.To, c.Shape, c.Effect}
	if j, known := k.judged[key]; known {
		j.Change = c
		return j
	}
	e := compare.Gather(c, k.lines[suiteMetric{c.System, c.Suite, c.Metric.Name}])
	j := compare.Judged{Change: c, Evidence: e, Doubts: compare.Doubts(c, e, k.resolution[c.SeriesID])}
	if k.judged != nil {
		k.judged[key] = j
	}
	return j
}

func (k knowledge) judgeAll(changes []bench.Change) []compare.Judged {
	out := make([]compare.Judged, 0, len(changes))
	for _, c := range changes {
		out = append(out, k.judge(c))
	}
	return out
}

// doubtTags makes tags of doubts.
func doubtTags(doubts []compare.Doubt) []view.DoubtTag {
	var out []view.DoubtTag
	for _, d := range doubts {
		out = append(out, view.DoubtTag{Text: d.Text, Title: d.Evidence})
	}
	return out
}

// doubtWords names doubts in a row: new campaign, not seen on u5.
func doubtWords(doubts []compare.Doubt) string {
	var out []string
	for _, d := range doubts {
		out = append(out, d.Text)
	}
	return strings.Join(out, ", ")
}

// weighty are the doubts that a change must not be named without: those that say
// it may be no matter of the version.
func weighty(doubts []compare.Doubt) []compare.Doubt {
	return slices.DeleteFunc(slices.Clone(doubts), func(d compare.Doubt) bool { return d.Kind == compare.DoubtUnseen && len(doubts) == 1 })
}

// changeHref is the page of a change, "" for one that is not stored.
func changeHref(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("/changes/%d", id)
}

// changeVerdict gives a change as a verdict: it is always beyond noise.
func changeVerdict(c bench.Change) compare.Verdict {
	switch c.Kind(c.Metric.Direction) {
	case "regression":
		return compare.Worse
	case "improvement":
		return compare.Better
	}
	return compare.Moved
}

// effectText shows an effect as a change in per cent, without a decimal from 10 %
// on: ▼ −36 %.
func effectText(c bench.Change) string {
	return glyph(changeVerdict(c)) + " " + percentText(math.Exp(c.Effect))
}

// percentText shows a ratio as a change in whole per cent, with one decimal where
// that would say nothing.
func percentText(ratio float64) string {
	p := math.Round((ratio - 1) * 100)
	switch {
	case math.Abs(p) < 1:
		return compare.FormatPercent(ratio)
	case p > 0:
		return fmt.Sprintf("+%.0f\u2009%%", p)
	}
	return fmt.Sprintf("\u2212%.0f\u2009%%", -p)
}

// changeRatio shows the ratio of a change: ▼ 0.643.
func changeRatio(c bench.Change) string {
	low, high := math.Exp(c.Low), math.Exp(c.High)
	return glyph(changeVerdict(c)) + " " + compare.FormatRatio(math.Exp(c.Effect), &low, &high)
}

func changeInterval(c bench.Change) string {
	low, high := math.Exp(c.Low), math.Exp(c.High)
	return compare.FormatInterval(&low, &high)
}

// pText shows a probability.
func pText(p float64) string {
	switch {
	case p < 0.001:
		return "<\u20090.001"
	case p < 0.01:
		return fmt.Sprintf("%.4f", p)
	}
	return fmt.Sprintf("%.3f", p)
}

// shapeText words a change's shape.
func shapeText(c bench.FoundChange) string {
	switch c.Shape {
	case bench.ShapeSpike:
		return "spike"
	case bench.ShapeNewest:
		return "newest version only"
	}
	return ""
}

// changeSpan names the versions of a change: 6.13.4 → 6.14.6, of a spike the
// deviating one.
func changeSpan(c bench.FoundChange) string {
	if c.Shape == bench.ShapeSpike {
		return c.To
	}
	return c.From + " → " + c.To
}

// sinceText says where a lasting change lies in minor versions: 6.13→6.14.
func sinceText(c bench.FoundChange) string {
	from, to := minor(c.From), minor(c.To)
	if from == to {
		from, to = c.From, c.To
	}
	return from + "→" + to
}

// triageText words a state: fixed in 8.7.3.
func triageText(c bench.Change) string {
	if c.Triage == bench.TriageFixed && c.FixedIn != "" {
		return "fixed in " + c.FixedIn
	}
	return string(c.Triage)
}

// issueLink makes a link of an issue's address: rocksdb#9354 for one on GitHub.
func issueLink(address string) view.Link {
	if address == "" {
		return view.Link{}
	}
	text := strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
	if rest, ok := strings.CutPrefix(text, "github.com/"); ok {
		parts := strings.Split(rest, "/")
		if len(parts) == 4 && (parts[2] == "issues" || parts[2] == "pull") {
			text = parts[0] + "/" + parts[1] + "#" + parts[3]
		}
	}
	return view.Link{Text: text, Href: address}
}
