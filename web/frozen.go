package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/picture"
	"github.com/relqps/relqps/web/view"
)

// A frozen view is drawn by the handlers of the live one, from what these read on
// the day of the freezing: every read of the source is kept with its arguments and
// its answer, and given again. So the figures stay, byte for byte, whatever is
// imported, detected or renamed later.

// snapshot is what a frozen view is drawn from.
type snapshot struct {
	Format int    `json:"format"` // 1
	URL    string `json:"url"`
	Reads  []read `json:"reads"`
}

// read is a call of a [Source] with its answer.
type read struct {
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// snapshotFormat is the form of a snapshot that this program writes.
const snapshotFormat = 1

// Freeze renders a view and gives what it was drawn from, for a frozen link. The
// address must be that of a page with figures, else the error is of kind invalid.
func Freeze(ctx context.Context, c Config, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.HasPrefix(u.Path, "/s/") {
		return nil, bench.Errorf(bench.KindInvalid, "a frozen link is to a view of this site: /charts?…, /report/…, /changes/…")
	}
	tape := &recorder{Source: c.Source}
	s := &server{Config: c}
	if c.Store != nil {
		// A bookmark with a former name is frozen as what it means today.
		if query, changed := currentQuery(ctx, u, c.Store.FormerNames, c.Logger); changed {
			u.RawQuery = query
		}
	}
	s.Source, s.Store = tape, nil
	s.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	if c.Credits != nil {
		s.Credits = func(ctx context.Context) []Credit {
			list := c.Credits(ctx)
			tape.keep("Credits", nil, list)
			return list
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, bench.Errorf(bench.KindInvalid, "the address of the view cannot be read")
	}
	req.RequestURI = u.RequestURI()
	w := &statusOnly{header: http.Header{}}
	s.views().ServeHTTP(w, withoutRoute(req))
	switch {
	case tape.err != nil:
		return nil, tape.err
	case w.status == http.StatusNotFound:
		return nil, bench.Errorf(bench.KindInvalid, "there is no view at %s", address)
	case w.status != http.StatusOK || len(tape.reads) == 0:
		return nil, bench.Errorf(bench.KindInvalid, "the view at %s cannot be frozen", address)
	}
	return json.Marshal(snapshot{snapshotFormat, u.RequestURI(), tape.reads})
}

// statusOnly takes an answer of which only the status is wanted.
type statusOnly struct {
	header http.Header
	status int
}

func (w *statusOnly) Header() http.Header { return w.header }

func (w *statusOnly) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *statusOnly) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return len(p), nil
}

// withoutRoute makes a router begin anew with a request that another one has
// routed already.
func withoutRoute(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil)))
}

// serveFrozen shows the view of a frozen link.
func (s *server) serveFrozen(w http.ResponseWriter, r *http.Request, l bench.Link) {
	var snap snapshot
	err := json.Unmarshal(l.Snapshot, &snap)
	if err == nil && snap.Format != snapshotFormat {
		err = fmt.Errorf("format %d", snap.Format)
	}
	if err != nil {
		s.problem(w, r, fmt.Errorf("snapshot of link %s: %w", l.Code, err))
		return
	}
	u, err := url.Parse(snap.URL)
	if err != nil {
		s.problem(w, r, fmt.Errorf("snapshot of link %s: %w", l.Code, err))
		return
	}
	tape := player{snap.answers()}
	own := *s
	own.Source, own.Store = tape, nil
	if s.Credits != nil {
		own.Credits = func(context.Context) []Credit {
			var list []Credit
			_ = tape.give("Credits", nil, &list) // a foot that was not kept is left out
			return list
		}
	}
	f := &frozenView{path: "/s/" + l.Code, Frozen: view.Frozen{When: l.Created.UTC().Format("2006-01-02"), Author: l.Author, Live: localPath(l.URL)}}
	ctx := context.WithValue(r.Context(), frozenKey{}, f)
	// Other forms of the same view: its tables as text, its picture.
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	req := r.Clone(ctx)
	req.URL = u
	switch {
	case v.Get("picture") != "":
		own.frozenPicture(w, req, v.Get("picture"))
		return
	case v.Get("format") == "md" && u.Path == "/charts":
		u.Path = "/charts.md"
	case v.Get("format") != "" && (strings.HasPrefix(u.Path, "/report/") || u.Path == "/compilers" || u.Path == "/compare"):
		q := u.Query()
		q.Set("format", v.Get("format"))
		u.RawQuery = q.Encode()
	case v.Get("format") != "":
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "This frozen view has no form %q: a report has md and csv, charts have md.", v.Get("format")))
		return
	}
	req.RequestURI = u.RequestURI()
	req.Method = http.MethodGet
	own.views().ServeHTTP(w, withoutRoute(req))
}

// frozenPicture draws the picture of a frozen view with charts.
func (s *server) frozenPicture(w http.ResponseWriter, r *http.Request, kind string) {
	var in chartsInput
	var err error
	switch {
	case r.URL.Path == "/charts":
		in, err = s.readCharts(r.Context(), r)
	case r.URL.Path == "/compilers":
		var c compilersInput
		c, err = s.readCompilers(r.Context(), r.URL.RawQuery, s.origin(r))
		in = c.chartsInput
	case strings.HasPrefix(r.URL.Path, "/changes/"):
		route := chi.NewRouteContext()
		route.URLParams.Add("id", strings.TrimPrefix(r.URL.Path, "/changes/"))
		var c changeInput
		c, err = s.readChange(r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, route)))
		in, _, _ = c.around()
	case strings.HasPrefix(r.URL.Path, "/report/"):
		system, unescape := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/report/"))
		if unescape != nil {
			err = bench.Errorf(bench.KindNotFound, "There is no such report.")
			break
		}
		in, err = s.readReport(r.Context(), system, r.URL.RawQuery, s.origin(r))
	default:
		err = bench.Errorf(bench.KindNotFound, "This view has no picture.")
	}
	if err == nil && !in.Found {
		err = bench.Errorf(bench.KindNotFound, "This view has no picture.")
	}
	if err != nil {
		s.problem(w, r, err)
		return
	}
	body, err := s.draw(r, in, picture.Options{}, "png", kind == "preview")
	if err != nil {
		s.problem(w, r, err)
		return
	}
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	write(w, http.StatusOK, "image/png", body)
}

// recorder is a source that keeps what it is asked and answers.
type recorder struct {
	Source
	reads []read
	seen  map[string]bool
	err   error // why something could not be kept
}

func (t *recorder) keep(method string, args, answer any) {
	key, err := json.Marshal(args)
	if err == nil && t.seen[method+string(key)] {
		return // asked again within one view: the same answer serves
	}
	var body []byte
	if err == nil {
		body, err = json.Marshal(answer)
	}
	if err != nil {
		t.err = fmt.Errorf("freeze %s: %w", method, err)
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	t.seen[method+string(key)] = true
	t.reads = append(t.reads, read{method, key, body})
}

// player is a source that answers from a snapshot.
type player struct {
	answers map[string]json.RawMessage
}

// answers gives the reads of a snapshot by what was asked.
func (s snapshot) answers() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(s.Reads))
	for _, r := range s.Reads {
		var args bytes.Buffer
		// The store may have laid the text out anew.
		if json.Compact(&args, r.Args) == nil {
			out[r.Method+args.String()] = r.Answer
		}
	}
	return out
}

// give decodes the answer to a read. What was not read on the day of the freezing
// is not there: the program has changed since in what this view reads.
func (p player) give(method string, args, into any) error {
	key, err := json.Marshal(args)
	if err != nil {
		return err
	}
	answer, ok := p.answers[method+string(key)]
	if !ok {
		return bench.Errorf(bench.KindNotFound, "This frozen view was made by an older version and lacks something that is shown today. See it live.")
	}
	return json.Unmarshal(answer, into)
}

// Metrics travel without their words, which are the program's.
func named(m bench.Metric) bench.Metric {
	if known, ok := bench.LookupMetric(m.Name); ok {
		m.Title, m.About = known.Title, known.About
	}
	return m
}

func namedSeries(list []bench.Series) []bench.Series {
	for i := range list {
		list[i].Metric = named(list[i].Metric)
	}
	return list
}

func namedChanges(list []bench.Change) {
	for i := range list {
		list[i].Metric = named(list[i].Metric)
	}
}

func (t *recorder) Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error) {
	list, err := t.Source.Series(ctx, f)
	if err == nil {
		t.keep("Series", f, list)
	}
	return list, err
}

func (p player) Series(_ context.Context, f bench.SeriesFilter) (list []bench.Series, err error) {
	err = p.give("Series", f, &list)
	return namedSeries(list), err
}

func (t *recorder) SeriesOf(ctx context.Context, c bench.Coordinate) ([]bench.Series, error) {
	list, err := t.Source.SeriesOf(ctx, c)
	if err == nil {
		t.keep("SeriesOf", c, list)
	}
	return list, err
}

func (p player) SeriesOf(_ context.Context, c bench.Coordinate) (list []bench.Series, err error) {
	err = p.give("SeriesOf", c, &list)
	return namedSeries(list), err
}

func (t *recorder) Facets(ctx context.Context, f bench.SeriesFilter) (bench.Facets, error) {
	x, err := t.Source.Facets(ctx, f)
	if err == nil {
		t.keep("Facets", f, x)
	}
	return x, err
}

func (p player) Facets(_ context.Context, f bench.SeriesFilter) (x bench.Facets, err error) {
	err = p.give("Facets", f, &x)
	for i := range x.Metrics {
		x.Metrics[i].Metric = named(x.Metrics[i].Metric)
	}
	return x, err
}

func (t *recorder) Coordinates(ctx context.Context, f bench.SeriesFilter) ([]bench.CoordinateInfo, error) {
	list, err := t.Source.Coordinates(ctx, f)
	if err == nil {
		t.keep("Coordinates", f, list)
	}
	return list, err
}

func (p player) Coordinates(_ context.Context, f bench.SeriesFilter) (list []bench.CoordinateInfo, err error) {
	err = p.give("Coordinates", f, &list)
	return list, err
}

func (t *recorder) Totals(ctx context.Context) (bench.Totals, error) {
	x, err := t.Source.Totals(ctx)
	if err == nil {
		t.keep("Totals", nil, x)
	}
	return x, err
}

func (p player) Totals(context.Context) (x bench.Totals, err error) {
	err = p.give("Totals", nil, &x)
	return x, err
}

func (t *recorder) Runs(ctx context.Context, f bench.RunFilter) (bench.RunPage, error) {
	x, err := t.Source.Runs(ctx, f)
	if err == nil {
		t.keep("Runs", f, x)
	}
	return x, err
}

func (p player) Runs(_ context.Context, f bench.RunFilter) (x bench.RunPage, err error) {
	err = p.give("Runs", f, &x)
	return x, err
}

// missingInterval stands for a missing interval of a time series, which JSON has
// no number for; no measured figure reaches it.
const missingInterval = math.MaxFloat64

func (t *recorder) Run(ctx context.Context, id int64) (bench.RunDetail, error) {
	x, err := t.Source.Run(ctx, id)
	if err == nil {
		t.keep("Run", id, withIntervals(x, math.NaN(), missingInterval))
	}
	return x, err
}

func (p player) Run(_ context.Context, id int64) (x bench.RunDetail, err error) {
	err = p.give("Run", id, &x)
	return withIntervals(x, missingInterval, math.NaN()), err
}

// withIntervals gives a copy of a run in whose time series one mark of missing
// intervals stands in the place of another.
func withIntervals(d bench.RunDetail, from, to float64) bench.RunDetail {
	d.Results = append([]bench.StoredResult(nil), d.Results...)
	for i := range d.Results {
		series := append([]bench.TimeSeries(nil), d.Results[i].TimeSeries...)
		for j := range series {
			values := append([]float64(nil), series[j].Values...)
			for k, v := range values {
				if v == from || math.IsNaN(v) && math.IsNaN(from) {
					values[k] = to
				}
			}
			series[j].Values = values
		}
		d.Results[i].TimeSeries = series
	}
	return d
}

func (t *recorder) Uploads(ctx context.Context, f bench.UploadFilter) (bench.UploadPage, error) {
	x, err := t.Source.Uploads(ctx, f)
	if err == nil {
		t.keep("Uploads", f, x)
	}
	return x, err
}

func (p player) Uploads(_ context.Context, f bench.UploadFilter) (x bench.UploadPage, err error) {
	err = p.give("Uploads", f, &x)
	return x, err
}

func (t *recorder) Changes(ctx context.Context, f bench.ChangeFilter) (bench.ChangePage, error) {
	x, err := t.Source.Changes(ctx, f)
	if err == nil {
		t.keep("Changes", f, x)
	}
	return x, err
}

func (p player) Changes(_ context.Context, f bench.ChangeFilter) (x bench.ChangePage, err error) {
	err = p.give("Changes", f, &x)
	namedChanges(x.Changes)
	return x, err
}

// tableAnswer is what false-discovery control needs.
type tableAnswer struct {
	P      []float64
	Tested int
}

func (t *recorder) ChangeTable(ctx context.Context, system string) ([]float64, int, error) {
	p, tested, err := t.Source.ChangeTable(ctx, system)
	if err == nil {
		t.keep("ChangeTable", system, tableAnswer{p, tested})
	}
	return p, tested, err
}

func (p player) ChangeTable(_ context.Context, system string) ([]float64, int, error) {
	var x tableAnswer
	err := p.give("ChangeTable", system, &x)
	return x.P, x.Tested, err
}

func (t *recorder) Change(ctx context.Context, id int64) (bench.ChangeDetail, error) {
	x, err := t.Source.Change(ctx, id)
	if err == nil {
		t.keep("Change", id, x)
	}
	return x, err
}

func (p player) Change(_ context.Context, id int64) (x bench.ChangeDetail, err error) {
	err = p.give("Change", id, &x)
	x.Metric = named(x.Metric)
	return x, err
}

func (t *recorder) Notes(ctx context.Context, f bench.NoteFilter) ([]bench.Note, error) {
	list, err := t.Source.Notes(ctx, f)
	if err == nil {
		t.keep("Notes", f, list)
	}
	return list, err
}

func (p player) Notes(_ context.Context, f bench.NoteFilter) (list []bench.Note, err error) {
	err = p.give("Notes", f, &list)
	return list, err
}

// noteAnswer is a note with its history.
type noteAnswer struct {
	Note    bench.Note
	History []bench.NoteRevision
}

func (t *recorder) Note(ctx context.Context, id int64) (bench.Note, []bench.NoteRevision, error) {
	n, history, err := t.Source.Note(ctx, id)
	if err == nil {
		t.keep("Note", id, noteAnswer{n, history})
	}
	return n, history, err
}

func (p player) Note(_ context.Context, id int64) (bench.Note, []bench.NoteRevision, error) {
	var x noteAnswer
	err := p.give("Note", id, &x)
	return x.Note, x.History, err
}

func (t *recorder) Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error) {
	list, err := t.Source.Configs(ctx, f)
	if err == nil {
		t.keep("Configs", f, list)
	}
	return list, err
}

func (p player) Configs(_ context.Context, f bench.ConfigFilter) (list []bench.StoredConfig, err error) {
	err = p.give("Configs", f, &list)
	return list, err
}

func (t *recorder) Distributions(ctx context.Context, runs []int64) ([]bench.Distribution, error) {
	list, err := t.Source.Distributions(ctx, runs)
	if err == nil {
		t.keep("Distributions", runs, list)
	}
	return list, err
}

func (p player) Distributions(_ context.Context, runs []int64) (list []bench.Distribution, err error) {
	err = p.give("Distributions", runs, &list)
	return list, err
}

func (t *recorder) Seconds(ctx context.Context, q bench.SecondsQuery) ([]bench.Seconds, error) {
	list, err := t.Source.Seconds(ctx, q)
	if err == nil {
		t.keep("Seconds", q, list)
	}
	return list, err
}

func (p player) Seconds(_ context.Context, q bench.SecondsQuery) (list []bench.Seconds, err error) {
	err = p.give("Seconds", q, &list)
	return list, err
}

func (t *recorder) Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error) {
	list, err := t.Source.Varied(ctx, f)
	if err == nil {
		t.keep("Varied", f, list)
	}
	return list, err
}

func (p player) Varied(_ context.Context, f bench.VariedFilter) (list []bench.RunFacts, err error) {
	err = p.give("Varied", f, &list)
	return list, err
}

func (t *recorder) RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error) {
	list, err := t.Source.RunFacts(ctx, runs)
	if err == nil {
		t.keep("RunFacts", runs, list)
	}
	return list, err
}

func (p player) RunFacts(_ context.Context, runs []int64) (list []bench.RunFacts, err error) {
	err = p.give("RunFacts", runs, &list)
	return list, err
}

func (t *recorder) Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error) {
	list, err := t.Source.Breakdowns(ctx, runs)
	if err == nil {
		t.keep("Breakdowns", runs, list)
	}
	return list, err
}

func (p player) Breakdowns(_ context.Context, runs []int64) (list []bench.RunBreakdown, err error) {
	err = p.give("Breakdowns", runs, &list)
	return list, err
}
