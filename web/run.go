package web

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

func (s *server) run(r *http.Request) (templ.Component, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id < 1 {
		return nil, bench.Errorf(bench.KindNotFound, "%q is no number of a run; runs are numbered from 1.", chi.URLParam(r, "id"))
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	detail, err := s.Source.Run(r.Context(), id)
	if err != nil {
		return nil, err
	}
	p, err := newRunPage(detail, strings.TrimSpace(q.Get("step")))
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "/runs")
	return view.Run(p), nil
}

// newRunPage builds the page of a run. With a step only that step is shown, its
// charts with more points.
func newRunPage(d bench.RunDetail, step string) (view.RunPage, error) {
	title := fmt.Sprintf("%s %s", systemName(d.System), cmp.Or(d.Build.Version, "of unknown version"))
	where := slices.DeleteFunc([]string{title, d.Server, d.Workload, d.Config}, func(s string) bool { return s == "" })
	p := view.RunPage{
		Crumb:   []view.Link{{Text: "Runs", Href: "/runs"}, {Text: d.Server, Href: runsQuery{Server: d.Server}.String()}},
		Heading: strings.Join(where, ", "),
	}
	p.Title = fmt.Sprintf("Run %d, %s", d.ID, p.Heading)
	p.Compare = runCompare(d)
	p.Meta = runMeta(d)
	if d.State == bench.RecordWithdrawn {
		p.Withdrawn = "Withdrawn: this run does not count. " + d.Reason
	}
	results := d.Results
	if step != "" {
		results = slices.DeleteFunc(slices.Clone(results), func(r bench.StoredResult) bool { return r.Step.Name != step })
		if len(results) == 0 {
			return p, bench.Errorf(bench.KindNotFound, "Run %d has no step %q.", d.ID, step)
		}
		p.Crumb = append(p.Crumb, view.Link{Text: fmt.Sprintf("run %d", d.ID), Href: runHref(d.ID)})
		p.Heading = step + ", " + p.Heading
	}
	p.Metrics = metricTable(results)
	for i, r := range results {
		part, err := resultPart(d, r, i, step != "")
		if err != nil {
			return p, err
		}
		p.Results = append(p.Results, part)
	}
	p.Facts = runFacts(d)
	for _, u := range d.Uploads {
		row := view.UploadRow{
			Name: u.Filename, File: uploadHref(u.ID), Format: u.Format, Size: compare.FormatFull(float64(u.Size)),
			SHA256: u.SHA256[:min(12, len(u.SHA256))], When: timeText(u.Created), Actor: u.Actor,
		}
		if u.State == bench.RecordWithdrawn {
			row.State = "withdrawn: " + u.Reason
		}
		p.Uploads = append(p.Uploads, row)
	}
	for _, h := range d.History {
		p.History = append(p.History, view.HistoryRow{When: timeText(h.At), Actor: h.Actor, What: changeText(h), Reason: h.Reason})
	}
	return p, nil
}

// uploadHref is where the API gives the bytes of an upload.
func uploadHref(id int64) string { return "/api/v1/uploads/" + strconv.FormatInt(id, 10) + "/file" }

func runMeta(d bench.RunDetail) []view.Fact {
	facts := []view.Fact{fact(fmt.Sprintf("run %d", d.ID)), fact(d.Suite), fact(compilerName(d.Build.Compiler))}
	if d.Clients > 0 {
		facts = append(facts, fact(plural(d.Clients, "client", "clients")))
	}
	started := "undated"
	if !d.Started.IsZero() {
		started = "started " + d.Started.String()
	}
	facts = append(facts, fact(started))
	if d.Config != "" {
		facts = append(facts, view.Fact{Parts: []view.Part{{Text: "options of " + d.Config, Href: configHref(d.System, d.Config, "")}}})
	}
	if d.Campaign > 0 {
		facts = append(facts, fact(fmt.Sprintf("campaign %d of %s", d.Campaign, d.Server)))
	}
	facts = append(facts, fact(plural(d.OK, "result", "results")))
	if d.Failed > 0 {
		facts = append(facts, view.Fact{Parts: []view.Part{{Text: fmt.Sprintf("%d failed", d.Failed), Strong: true}}})
	}
	if d.NotRun > 0 {
		facts = append(facts, fact(fmt.Sprintf("%d not run", d.NotRun)))
	}
	if len(d.Assumed) > 0 {
		facts = append(facts, fact("assumed, not stated: "+strings.Join(d.Assumed, ", ")))
	}
	return facts
}

// metricTable lists all metrics of results, a column each. A metric that a
// result does not have leaves a dash, never 0.
func metricTable(results []bench.StoredResult) view.MetricTable {
	var t view.MetricTable
	var names []string
	for _, r := range results {
		state := ""
		switch {
		case r.State == bench.StateFailed:
			state = "failed"
		case r.State == bench.StateNotRun:
			state = "not run"
		case r.Withdrawn:
			state = "withdrawn"
		case r.Superseded:
			state = "superseded"
		case r.Excluded != "":
			state = "not comparable"
		}
		t.Steps = append(t.Steps, view.Link{Text: bench.ShortStep(r.Step.Name), Title: r.Step.Name, Href: "#" + resultAnchor(len(t.Steps))})
		t.States = append(t.States, state)
		for _, v := range r.Values {
			names = appendNew(names, v.Metric)
		}
	}
	slices.SortFunc(names, bench.CompareMetrics)
	for _, name := range names {
		m, ok := bench.LookupMetric(name)
		if !ok {
			m = bench.Metric{Name: name, Title: name, Direction: bench.Neutral}
		}
		row := view.MetricRow{Title: m.Title, Unit: m.Unit, Direction: arrow(m.Direction), About: m.About}
		var sources []string
		for _, r := range results {
			cell := view.Figure{Text: compare.Missing}
			for _, v := range r.Values {
				if v.Metric == name {
					cell = figure(v.Number)
					if v.SourceName != "" && v.SourceName != m.Title {
						sources = appendNew(sources, v.SourceName)
					}
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Source = strings.Join(sources, ", ")
		t.Rows = append(t.Rows, row)
	}
	return t
}

// figure shows a number with six significant digits, all those of its whole part,
// and keeps the rest for those who ask.
func figure(v float64) view.Figure {
	full := compare.FormatFull(v)
	if v == 0 {
		return view.Figure{Text: full}
	}
	scale := math.Pow(10, math.Max(0, 5-math.Floor(math.Log10(math.Abs(v)))))
	text := compare.FormatFull(math.Round(v*scale) / scale)
	if text == full || math.IsInf(scale, 0) {
		return view.Figure{Text: full}
	}
	return view.Figure{Text: text, Full: full}
}

func arrow(d bench.Direction) string {
	switch d {
	case bench.HigherBetter:
		return "↑"
	case bench.LowerBetter:
		return "↓"
	}
	return ""
}

func resultAnchor(i int) string { return fmt.Sprintf("r%d", i) }

func resultPart(d bench.RunDetail, r bench.StoredResult, i int, large bool) (view.ResultPart, error) {
	part := view.ResultPart{
		ID: resultAnchor(i), Step: r.Step.Name, Alone: large, Reason: r.Reason, Started: r.Started.String(), Command: r.Command,
		Href: chartsQuery{
			System: d.System, Suite: d.Suite, Servers: orNone(d.Server), Workloads: orNone(d.Workload), Steps: []string{r.Step.Name},
			Metric: bench.PrimaryMetric(d.Suite, r.Step.Name), Compilers: orNone(d.Build.Compiler), Configs: orNone(d.Config),
			Clients: clientsOf(d), At: d.Build.Version,
		}.String(),
	}
	if r.State == bench.StateOK && !r.Withdrawn && !r.Superseded {
		part.Beside = stepsQuery{Step: r.Step.Name, Runs: []int64{d.ID}}.String()
	}
	switch {
	case r.State == bench.StateFailed:
		part.State = "failed"
	case r.State == bench.StateNotRun:
		part.State = "not run"
	case r.Withdrawn:
		part.State = "withdrawn, does not count"
	case r.Superseded:
		part.State = "a measured result has taken its place"
	}
	if v, ok := r.Value(r.Primary); ok {
		if m, known := bench.LookupMetric(r.Primary); known {
			part.Attributes = append(part.Attributes, compare.FormatFull(v)+unitSuffix(m.Unit))
		}
	}
	if r.Role == bench.RolePrepare {
		part.Attributes = append(part.Attributes, "prepares only")
	}
	if r.Origin == bench.OriginMatrix {
		part.Attributes = append(part.Attributes, "from a matrix of figures")
	}
	if r.Step.Threads > 0 {
		part.Attributes = append(part.Attributes, plural(r.Step.Threads, "thread", "threads"))
	}
	if r.Step.ValueBytes > 0 {
		part.Attributes = append(part.Attributes, fmt.Sprintf("values of %d bytes", r.Step.ValueBytes))
	}
	if r.Step.Sync != nil {
		part.Attributes = append(part.Attributes, word(*r.Step.Sync, "sync on", "sync off"))
	}
	if r.Step.WAL != nil {
		part.Attributes = append(part.Attributes, word(*r.Step.WAL, "WAL on", "WAL off"))
	}
	if part.Started != "" {
		part.Attributes = append(part.Attributes, part.Started)
	}
	if r.Excluded != "" {
		part.Warnings = append(part.Warnings, "not comparable: "+r.Excluded)
	}
	for _, w := range r.Warnings {
		part.Warnings = append(part.Warnings, w.String())
	}
	for _, f := range r.From {
		title := f.File
		if f.Line > 0 {
			title += ":" + strconv.Itoa(f.Line)
		}
		part.Sources = append(part.Sources, view.Link{Text: path.Base(title), Title: title, Href: uploadHref(f.UploadID)})
	}
	limit := chart.TimePointsSmall
	if large {
		limit = chart.TimePointsMax
	}
	for k, t := range r.TimeSeries {
		// The page of a whole run shows the first of each step.
		if k > 0 && !large {
			part.More = plural(len(r.TimeSeries)-1, "more figure over time", "more figures over time")
			part.MoreHref = runHref(d.ID) + "?step=" + escape(r.Step.Name)
			break
		}
		c, err := timeChart(d, r, t, fmt.Sprintf("t%d-%d", i, k), limit)
		if err != nil {
			return part, err
		}
		part.Series = append(part.Series, c)
	}
	for _, h := range r.Histograms {
		if strings.HasPrefix(h.Operation, "rocksdb.") { // of --statistics; there are dozens
			part.Statistics = append(part.Statistics, histogram(h))
		} else {
			part.Histograms = append(part.Histograms, histogram(h))
		}
	}
	part.Breakdowns = breakdowns(r.Breakdowns)
	return part, nil
}

func clientsOf(d bench.RunDetail) []int {
	if d.Clients == 0 {
		return nil
	}
	return []int{d.Clients}
}

func word(on bool, yes, no string) string {
	if on {
		return yes
	}
	return no
}

func timeChart(d bench.RunDetail, r bench.StoredResult, t bench.TimeSeries, id string, limit int) (view.TimeChart, error) {
	f, err := chart.NewTimeFigure(t, limit)
	if err != nil {
		return view.TimeChart{}, err
	}
	c := view.TimeChart{ID: id, Title: t.Name}
	if len(t.Values) > 1 {
		c.Figure = f
	}
	if t.Unit != "" {
		c.Title += ", " + t.Unit
	}
	if f.Thinned > 0 {
		c.Note = fmt.Sprintf("%s of %s points: least and greatest of each stretch", compare.FormatFull(float64(limit)), compare.FormatFull(float64(f.Thinned)))
	}
	var values []float64
	for _, v := range t.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	c.Label = fmt.Sprintf("%s of %s over the seconds of the step", t.Name, r.Step.Name)
	c.Table = []view.Pair{{Key: "intervals", Value: compare.FormatFull(float64(len(t.Values)))}, {Key: "missing", Value: compare.FormatFull(float64(len(t.Values) - len(values)))}}
	if len(values) > 0 {
		slices.Sort(values)
		c.Table = append(c.Table,
			view.Pair{Key: "least", Value: compare.FormatShort(values[0])},
			view.Pair{Key: "median", Value: compare.FormatShort(compare.Median(values))},
			view.Pair{Key: "most", Value: compare.FormatShort(values[len(values)-1])})
	}
	return c, nil
}

// histogram makes a table of a distribution; empty buckets are left out.
func histogram(h bench.Histogram) view.Histogram {
	out := view.Histogram{Title: "Response times", Unit: cmp.Or(h.Unit, "range")}
	if h.Unit != "µs" {
		out.Title = "Distribution"
	}
	if h.Operation != "" {
		out.Title += " of " + h.Operation
	}
	add := func(key string, v *float64) {
		if v != nil {
			out.Facts = append(out.Facts, view.Pair{Key: key, Value: compare.FormatShort(*v) + unitSuffix(h.Unit)})
		}
	}
	if h.Count != nil {
		out.Facts = append(out.Facts, view.Pair{Key: "count", Value: compare.FormatFull(*h.Count)})
	}
	add("least", h.Min)
	add("average", h.Average)
	add("standard deviation", h.StdDev)
	add("most", h.Max)

	amounts, total := h.Percents, 100.0
	if h.Counts != nil {
		amounts, total = h.Counts, 0
		for _, c := range h.Counts {
			total += c
		}
	}
	most := 0.0
	for _, a := range amounts {
		most = math.Max(most, a)
	}
	sum := 0.0
	for i, a := range amounts {
		if i >= len(h.Bounds) || a == 0 || total <= 0 {
			continue
		}
		sum += a
		from := 0.0
		if i > 0 {
			from = h.Bounds[i-1]
		}
		b := view.Bucket{
			Range: compare.FormatFull(from) + " to " + compare.FormatFull(h.Bounds[i]), Count: compare.Missing,
			Percent: fmt.Sprintf("%.3f\u2009%%", 100*a/total), Cumulative: fmt.Sprintf("%.3f\u2009%%", 100*sum/total),
			Share: fmt.Sprintf("%.1f", 100*a/most),
		}
		if h.Counts != nil {
			b.Count = compare.FormatFull(a)
		}
		out.Rows = append(out.Rows, b)
	}
	return out
}

func breakdowns(list []bench.Breakdown) []view.Breakdown {
	var out []view.Breakdown
	for i, b := range list {
		if i == 0 || list[i-1].Key != b.Key {
			out = append(out, view.Breakdown{Title: strings.ReplaceAll(b.Key, "_", " ")})
		}
		last := &out[len(out)-1]
		last.Samples = last.Samples || b.Samples > 0
		last.Rows = append(last.Rows, view.BreakdownRow{Bucket: b.Bucket, Samples: compare.FormatFull(float64(b.Samples)), Value: compare.FormatFull(b.Value) + unitSuffix(b.Unit)})
	}
	return out
}

// openPairs is how many entries of a list stand open.
const openPairs = 16

func runFacts(d bench.RunDetail) []view.Pairs {
	var out []view.Pairs
	add := func(title, what string, list []view.Pair) {
		if len(list) > 0 {
			out = append(out, view.Pairs{Title: title, What: what, List: list, Open: len(list) <= openPairs})
		}
	}
	var build []view.Pair
	for _, x := range []struct {
		key, value string
		mono       bool
	}{
		{"version", d.Build.Version, false}, {"compiler", compilerName(d.Build.Compiler), false}, {"compiler version", d.Build.CompilerVersion, false},
		{"flags", d.Build.Flags, true}, {"git hash", d.Build.GitHash, true}, {"sha256 of the binary", d.Build.BinarySHA256, true},
		{"built with", d.Build.Command, true},
	} {
		if x.value != "" && x.value != compare.Missing {
			build = append(build, view.Pair{Key: x.key, Value: x.value, Mono: x.mono})
		}
	}
	add("Build", "", build)
	add("Environment", "as captured or printed", pairsOf(d.Environment, false))
	add("Options", "the run was made with these", pairsOf(d.Options, true))
	return out
}

func pairsOf(m map[string]string, mono bool) []view.Pair {
	var out []view.Pair
	for _, k := range sortedKeys(m) {
		key := k
		if !mono {
			key = strings.ReplaceAll(k, "_", " ")
		}
		out = append(out, view.Pair{Key: key, Value: m[k], Mono: mono})
	}
	return out
}

// changeText words a correction: server "c1" → "c2".
func changeText(h bench.RunChange) string {
	keys := sortedKeys(h.After)
	for _, k := range sortedKeys(h.Before) {
		keys = appendNew(keys, k)
	}
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s %q → %q", k, h.Before[k], h.After[k]))
	}
	if len(parts) == 0 {
		return h.Action
	}
	return h.Action + ": " + strings.Join(parts, ", ")
}
