package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// reportColumns is how many versions the heat table shows unless it is asked for
// all.
const reportColumns = 24

// readReport reads what the version report of a system shows.
func (s *server) readReport(ctx context.Context, system, raw, origin string) (chartsInput, error) {
	q, err := parseCharts(raw)
	if err != nil {
		return chartsInput{}, err
	}
	q.System, q.Report, q.Across = system, true, false
	in := chartsInput{Given: q, Origin: origin}
	if in.Coordinates, err = s.Source.Coordinates(ctx, bench.SeriesFilter{}); err != nil {
		return in, err
	}
	in.Resolved, in.Found = q.resolve(in.Coordinates)
	if !in.Found {
		return in, nil
	}
	// A report is of one place: of several that were asked for, the first.
	one := func(list []string) []string { return list[:min(1, len(list))] }
	r := &in.Resolved
	r.Servers, r.Workloads, r.Compilers, r.Configs = one(r.Servers), one(r.Workloads), one(r.Compilers), one(r.Configs)
	r.Clients = r.Clients[:min(1, len(r.Clients))]
	return in, s.readLines(ctx, &in)
}

// readLines reads the series of a resolved query with those that can say
// something about their changes, the changes and the notes.
func (s *server) readLines(ctx context.Context, in *chartsInput) error {
	r := in.Resolved
	filter := r.comparison().Fetch()
	var err error
	if in.Series, err = s.Source.Series(ctx, filter); err != nil {
		return err
	}
	filter.Metric = ""
	facets, err := s.Source.Facets(ctx, filter)
	if err != nil {
		return err
	}
	in.Metrics = facets.Metrics
	if usual := usualMetric(in.Metrics); len(in.Series) == 0 && r.Metric == metricDefault && usual != metricDefault {
		in.Given.Metric, in.Resolved.Metric = usual, usual
		filter.Metric = usual
		if in.Series, err = s.Source.Series(ctx, filter); err != nil {
			return err
		}
	}
	in.narrow()
	return s.readMarks(ctx, in)
}

// Where more versions than versionsMax were measured, a view that names no range
// shows the newest versionsNewest of them: a page of thousands of points is slow to
// load and no chart shows them.
const (
	versionsMax    = 400
	versionsNewest = 200
)

// narrow limits a view without a range to the newest versions where there are very
// many.
func (in *chartsInput) narrow() {
	q := &in.Resolved
	if q.From != "" || q.To != "" || q.Across || q.All {
		return
	}
	all := versionsOf(in.Series)
	if len(all) <= versionsMax {
		return
	}
	q.From, in.Narrowed = all[len(all)-versionsNewest], len(all)
}

// usualMetric is the metric of an address that names none, where QPS was not
// measured: the first a step is judged by, or the first there is.
func usualMetric(measured []bench.MetricFacet) string {
	for _, name := range bench.PrimaryMetrics() {
		if slices.ContainsFunc(measured, func(f bench.MetricFacet) bool { return f.Name == name }) {
			return name
		}
	}
	if len(measured) == 0 {
		return metricDefault
	}
	return measured[0].Name
}

// readMarks reads the changes on the series of a query, what other series say
// about them, and the notes of the system.
func (s *server) readMarks(ctx context.Context, in *chartsInput) error {
	r := in.Resolved
	page, err := s.Source.Changes(ctx, bench.ChangeFilter{
		System: r.System, Servers: r.Servers, Workloads: r.Workloads, Compilers: r.Compilers, Configs: r.Configs, Limit: changesMax,
	})
	if err != nil {
		return err
	}
	in.Changes = slices.DeleteFunc(page.Changes, func(c bench.Change) bool { return c.Suite != r.Suite || c.Metric.Name != r.Metric })
	// Whatever is marked is a change of one of these.
	var about []bench.Change
	for _, x := range in.Series {
		if bench.PrimaryMetric(x.Suite, x.Step) == x.Metric.Name {
			about = append(about, bench.Change{Coordinate: x.Coordinate, Metric: x.Metric})
		}
	}
	if in.Known, err = s.know(ctx, about); err != nil {
		return err
	}
	in.Notes, err = s.Source.Notes(ctx, bench.NoteFilter{System: r.System})
	return err
}

// changesMax bounds the changes that one page reads.
const changesMax = 1000

func (s *server) report(w http.ResponseWriter, r *http.Request) {
	in, err := s.readReport(r.Context(), pathValue(r, "system"), r.URL.RawQuery, s.origin(r))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	switch format := in.Given.Unknown.Get("format"); format {
	case "":
		s.page(func(r *http.Request) (templ.Component, error) { return s.reportPage(r, in) })(w, r)
	case "md", "csv":
		rep, err := newReport(in)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		if format == "csv" {
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			write(w, http.StatusOK, "text/csv; charset=utf-8", rep.csv())
			return
		}
		write(w, http.StatusOK, "text/plain; charset=utf-8", rep.markdown(s.origin(r)))
	default:
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "format is md or csv, not %q", format))
	}
}

func (s *server) reportPage(r *http.Request, in chartsInput) (templ.Component, error) {
	p, err := newReportPage(in, readerOf(r.Context()))
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "/report")
	s.bar(r, &p.Bar)
	p.View = freezeView(r, p.View)
	if in.Found {
		s.preview(r, &p.Page, in.Given, plain(p.Lead))
	}
	return view.Report(p), nil
}

// anyReport leads to the report of the system with the most samples.
func (s *server) anyReport(w http.ResponseWriter, r *http.Request) {
	coordinates, err := s.Source.Coordinates(r.Context(), bench.SeriesFilter{})
	if err != nil {
		s.problem(w, r, err)
		return
	}
	q, found := chartsQuery{Metric: metricDefault}.resolve(coordinates)
	if !found {
		q.System = bench.SystemRocksDB
	}
	http.Redirect(w, r, reportPath(q.System), http.StatusFound)
}

// report is the version report of one place, computed once for page, Markdown and
// CSV.
type report struct {
	inWords bool // doubts are spelled out: there is no table behind a question mark
	compare.Report
	in      chartsInput
	answer  compared
	marks   marks
	tested  int
	setting compare.Setting
}

// newReport computes the report of a query. Where nothing was measured the error
// is of kind not found.
func newReport(in chartsInput) (report, error) {
	if !in.Found {
		return report{}, bench.Errorf(bench.KindNotFound, "%s", nothingMeasured(in).Sentence)
	}
	a, err := answer(in)
	if err != nil {
		return report{}, err
	}
	r := report{in: in, answer: a, marks: a.marks}
	if len(a.figures) == 0 {
		return r, bench.Errorf(bench.KindNotFound, "%s", nothingOfMetric(in, a.comparison.Metric).Sentence)
	}
	var noted []string
	for _, n := range r.marks.notes {
		noted = append(noted, n.Version)
	}
	columns := reportColumns
	if in.Given.All {
		columns = 0
	}
	r.Report = compare.NewReport(a.comparison, r.marks.marked, noted, columns)
	r.tested, r.setting = r.marks.series, r.marks.setting
	r.ExpectedFalse = r.setting.ExpectedFalse(r.tested)
	return r, nil
}

// doubts are those of a change that must stand beside it.
func (r report) doubts(c bench.Change) []compare.Doubt { return weighty(r.marks.known.judge(c).Doubts) }

// findingText words a finding without its doubts: fillseq −19 % (0.77–0.85),
// mostly 6.13→6.14.
func findingText(f compare.Finding) (what, where string) {
	what = percentText(*f.Row.Last.Relative)
	if f.Row.Last.Low != nil {
		what += " (" + compare.FormatInterval(f.Row.Last.Low, f.Row.Last.High) + ")"
	}
	switch n := len(f.Where.Changes); {
	case n == 1:
		where = "mostly " + sinceText(f.Where.Changes[0].FoundChange)
	case n == 2:
		where = fmt.Sprintf("most of it at %s and %s", f.Where.Changes[0].To, f.Where.Changes[1].To)
	case f.Where.Major != "":
		where = "mostly in " + f.Where.Major
	}
	return what, where
}

// pathValue gives a part of the path, unescaped.
func pathValue(r *http.Request, name string) string {
	v := chi.URLParam(r, name)
	// The router matches the escaped path where the two differ.
	if r.URL.RawPath != "" {
		if plain, err := url.PathUnescape(v); err == nil {
			return plain
		}
	}
	return v
}
