package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/relqps/relqps/internal/bench"
)

// The lines that only a file has that holds a whole database, and what stands
// in its runs besides; docs/export.md describes every field.
type (
	exportServer struct {
		Name    string    `json:"name"`
		Created time.Time `json:"created"`
	}
	exportCoordinate struct {
		ID int64 `json:"id"`
		bench.Coordinate
		Series []exportSeries `json:"series"`
	}
	exportSeries struct {
		ID     int64  `json:"id"`
		Metric string `json:"metric"`
	}
	exportUpload struct {
		ID          int64             `json:"id"`
		Filename    string            `json:"filename"`
		SHA256      string            `json:"sha256"`
		Size        int64             `json:"size"`
		Packed      int64             `json:"packed"`
		Format      string            `json:"format"`
		Context     bench.Context     `json:"context"`
		Actor       string            `json:"actor"`
		Created     time.Time         `json:"created"`
		State       bench.RecordState `json:"state,omitempty"` // active where absent
		Withdrawn   *time.Time        `json:"withdrawn,omitempty"`
		WithdrawnBy string            `json:"withdrawn_by,omitempty"`
		Reason      string            `json:"reason,omitempty"`
		Warnings    []bench.Message   `json:"warnings,omitempty"`
		Files       []exportFile      `json:"files"`
		Checks      []exportCheck     `json:"checks,omitempty"`
	}
	exportFile struct {
		ID       int64           `json:"id"`
		Path     string          `json:"path"`
		SHA256   string          `json:"sha256"`
		Size     int64           `json:"size"`
		Format   string          `json:"format"`
		State    bench.FileState `json:"state"`
		Messages []bench.Message `json:"messages,omitempty"`
	}
	// exportConfig is a config, with what a database knows of it: its number, when
	// it came and from which files.
	exportConfig struct {
		ID         int64              `json:"id,omitempty"`
		System     string             `json:"system"`
		Name       string             `json:"name"`
		SourceName string             `json:"source_name,omitempty"` // not in a whole database
		Kind       bench.ConfigKind   `json:"kind"`
		Layer      bench.Layer        `json:"layer"`
		Created    *time.Time         `json:"created,omitempty"`
		Options    []exportOption     `json:"options"`
		Warnings   []bench.Message    `json:"warnings,omitempty"`
		Sources    []exportConfigFile `json:"sources,omitempty"`
	}
	exportOption struct {
		Section     string  `json:"section,omitempty"`
		Key         string  `json:"key"`
		Written     string  `json:"written,omitempty"`
		Value       *string `json:"value,omitempty"` // absent where it is as written
		Line        int     `json:"line,omitempty"`
		Loose       bool    `json:"loose,omitempty"`
		Environment bool    `json:"environment,omitempty"`
	}
	exportConfigFile struct {
		File int64  `json:"file"`
		Name string `json:"name,omitempty"`
	}
	exportCheck struct {
		File     string          `json:"file"`
		Kind     string          `json:"kind"`
		Cells    int             `json:"cells"`
		Agree    int             `json:"agree"`
		Unknown  int             `json:"unknown"`
		Shifted  int             `json:"shifted"`
		Messages []bench.Message `json:"messages,omitempty"`
	}
	// exportStoredRun is what a database knows of a run.
	exportStoredRun struct {
		ID            int64             `json:"id"`
		Key           string            `json:"key,omitempty"` // absent where the run has an id of its own
		Clients       int               `json:"clients,omitempty"`
		Assumed       []string          `json:"assumed,omitempty"`
		Started       bench.LocalTime   `json:"started,omitzero"`
		Created       time.Time         `json:"created"`
		State         bench.RecordState `json:"state,omitempty"` // active where absent
		Reason        string            `json:"reason,omitempty"`
		WithdrawnWith int64             `json:"withdrawn_with,omitempty"`
		History       []exportRunChange `json:"history,omitempty"`
	}
	exportRunChange struct {
		At     time.Time         `json:"at"`
		Actor  string            `json:"actor"`
		Action string            `json:"action"`
		Reason string            `json:"reason"`
		Before map[string]string `json:"before"`
		After  map[string]string `json:"after"`
	}
	// exportStoredResult is what a database knows of a result.
	exportStoredResult struct {
		ID         int64          `json:"id"`
		Key        string         `json:"key"`
		Ordinal    int            `json:"ordinal,omitempty"`
		Role       bench.Role     `json:"role"`
		Withdrawn  bool           `json:"withdrawn,omitempty"`
		Superseded bool           `json:"superseded,omitempty"`
		Sources    []exportSource `json:"sources"`
	}
	exportSource struct {
		File int64 `json:"file"`
		Line int   `json:"line"`
	}
	exportChange struct {
		ID          int64         `json:"id"`
		Series      int64         `json:"series"`
		Shape       bench.Shape   `json:"shape"`
		From        string        `json:"from"`
		To          string        `json:"to"`
		Back        string        `json:"back,omitempty"`
		Effect      float64       `json:"effect"`
		Low         float64       `json:"low"`
		High        float64       `json:"high"`
		Neighbours  float64       `json:"neighbours"`
		P           float64       `json:"p"`
		PHere       float64       `json:"p_here"`
		Before      exportLevel   `json:"before"`
		After       exportLevel   `json:"after"`
		OneRun      bool          `json:"one_run,omitempty"`
		NewCampaign bool          `json:"new_campaign,omitempty"`
		Dissolved   *time.Time    `json:"dissolved,omitempty"`
		Created     time.Time     `json:"created"`
		Updated     time.Time     `json:"updated"`
		Triage      bench.Triage  `json:"triage"`
		FixedIn     string        `json:"fixed_in,omitempty"`
		Owner       string        `json:"owner,omitempty"`
		Issue       string        `json:"issue,omitempty"`
		Thread      []exportEvent `json:"thread"`
	}
	exportLevel struct {
		First string  `json:"first"`
		Last  string  `json:"last"`
		Mean  float64 `json:"mean"`
		N     int     `json:"n"`
	}
	exportEvent struct {
		ID     int64     `json:"id"`
		At     time.Time `json:"at"`
		Actor  string    `json:"actor"`
		Field  string    `json:"field"`
		Before string    `json:"before,omitempty"`
		After  string    `json:"after"`
	}
	exportNote struct {
		ID        int64            `json:"id"`
		System    string           `json:"system"`
		Version   string           `json:"version"`
		ToVersion string           `json:"to_version,omitempty"`
		Change    int64            `json:"change,omitempty"`
		Scope     bench.NoteScope  `json:"scope"`
		Body      string           `json:"body"`
		Author    string           `json:"author"`
		Created   time.Time        `json:"created"`
		Updated   time.Time        `json:"updated"`
		Deleted   *time.Time       `json:"deleted,omitempty"`
		Revision  int              `json:"revision"`
		History   []exportRevision `json:"history"`
	}
	exportRevision struct {
		Revision int       `json:"revision"`
		At       time.Time `json:"at"`
		Actor    string    `json:"actor"`
		Action   string    `json:"action"`
		Body     string    `json:"body"`
	}
	exportLink struct {
		Code     string    `json:"code"`
		URL      string    `json:"url"`
		Author   string    `json:"author"`
		Created  time.Time `json:"created"`
		Frozen   bool      `json:"frozen,omitempty"`
		Snapshot []byte    `json:"snapshot,omitempty"`
	}
	exportAlias struct {
		Kind  string    `json:"kind"`
		Old   string    `json:"old"`
		New   string    `json:"new"`
		Actor string    `json:"actor"`
		At    time.Time `json:"at"`
	}
	exportEnd struct {
		ExportCounts
		SHA256 string `json:"sha256"` // of the lines before, line ends included
	}
)

// ExportCounts says how many things an export of a whole database holds.
type ExportCounts struct {
	Uploads int `json:"uploads"`
	Configs int `json:"configs"`
	Runs    int `json:"runs"`
	Results int `json:"results"`
	Changes int `json:"changes"`
	Notes   int `json:"notes"`
	Links   int `json:"links"`
	Aliases int `json:"aliases"`
}

// add counts what a line holds.
func (c *ExportCounts) add(e *exportLine) {
	switch {
	case e.Upload != nil:
		c.Uploads++
	case e.Config != nil:
		c.Configs++
	case e.Run != nil:
		c.Runs++
		c.Results += len(e.Run.Results)
	case e.Results != nil:
		c.Results += len(e.Results)
	case e.Change != nil:
		c.Changes++
	case e.Note != nil:
		c.Notes++
	case e.Link != nil:
		c.Links++
	case e.Alias != nil:
		c.Aliases++
	}
}

// check makes sure that the lines before the end are those that were written.
func (e *exportEnd) check(counts ExportCounts, sum string) error {
	switch {
	case e.ExportCounts != counts:
		return bench.Errorf(bench.KindInvalid, "the file does not hold as many uploads, runs and so on as its end says: lines are missing or stand twice")
	case e.SHA256 != sum:
		return bench.Errorf(bench.KindInvalid, "the lines before are not those that were written (their SHA-256 is %s): the file was changed or damaged", sum)
	}
	return nil
}

// exportCutShort is what a file without its end is told.
const exportCutShort = "the file ends here, before its end line: it was cut short"

// maxExportLine bounds the length of a line, in bytes. A run comes in lines of
// about 20 MB at most, see [bench.Record]; only a single result with very long
// time series can take more.
const maxExportLine = 1 << 30

// maxExportID bounds numbers, so that every JSON reader gives them exactly.
const maxExportID = 1 << 53

// ExportWriter writes all that a store holds in the project's own format,
// described in docs/export.md: a record a line. Equal records give equal bytes.
type ExportWriter struct {
	out    *bufio.Writer
	sum    hash.Hash
	enc    *json.Encoder
	counts ExportCounts
}

// NewExportWriter begins an export.
func NewExportWriter(w io.Writer) (*ExportWriter, error) {
	x := &ExportWriter{out: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
	x.enc = json.NewEncoder(io.MultiWriter(x.out, x.sum))
	x.enc.SetEscapeHTML(false)
	return x, x.enc.Encode(exportLine{Version: exportVersion, Contents: exportDatabase})
}

// Write writes a record.
func (w *ExportWriter) Write(r bench.Record) error {
	e, err := newExportLine(&r)
	if err != nil {
		return err
	}
	w.counts.add(&e)
	return w.enc.Encode(e)
}

// Close writes the line that says that the export is complete. It does not close
// the writer below.
func (w *ExportWriter) Close() error {
	end := exportLine{End: &exportEnd{ExportCounts: w.counts, SHA256: hex.EncodeToString(w.sum.Sum(nil))}}
	if err := w.enc.Encode(end); err != nil {
		return err
	}
	return w.out.Flush()
}

// Counts says what was written so far.
func (w *ExportWriter) Counts() ExportCounts { return w.counts }

func newExportLine(r *bench.Record) (e exportLine, err error) {
	switch {
	case r.Server != nil:
		e.Server = &exportServer{r.Server.Name, r.Server.Created.UTC()}
	case r.Coordinate != nil:
		e.Coordinate = &exportCoordinate{ID: r.Coordinate.ID, Coordinate: r.Coordinate.Coordinate, Series: []exportSeries{}}
		for _, s := range r.Coordinate.Series {
			e.Coordinate.Series = append(e.Coordinate.Series, exportSeries(s))
		}
	case r.Upload != nil:
		e.Upload = newExportUpload(r.Upload)
	case r.Content != nil:
		e.Content = r.Content
	case r.Config != nil:
		e.Config = newExportConfig(&r.Config.Config)
		created := r.Config.Created.UTC()
		e.Config.ID, e.Config.Created = r.Config.ID, &created
		for _, f := range r.Config.From {
			e.Config.Sources = append(e.Config.Sources, exportConfigFile{f.File, f.SourceName})
		}
	case r.MetricSet != nil:
		e.MetricSet = &exportMetricSet{ID: r.MetricSet.ID}
		for _, v := range r.MetricSet.Values {
			e.MetricSet.Metrics = append(e.MetricSet.Metrics, v.Metric)
			e.MetricSet.Resolutions = append(e.MetricSet.Resolutions, v.Resolution)
			e.MetricSet.Names = append(e.MetricSet.Names, v.SourceName)
		}
	case r.Run != nil:
		e.Run, err = newExportRun(r.Run)
	case r.Results != nil:
		e.Results, err = newExportResults(r.Results)
	case r.Change != nil:
		e.Change = newExportChange(r.Change)
	case r.Note != nil:
		e.Note = newExportNote(r.Note)
	case r.Link != nil:
		l := r.Link
		e.Link = &exportLink{Code: l.Code, URL: l.URL, Author: l.Author, Created: l.Created.UTC(), Frozen: l.Frozen, Snapshot: l.Packed}
	case r.Alias != nil:
		a := r.Alias
		e.Alias = &exportAlias{a.Kind, a.Old, a.New, a.Actor, a.At.UTC()}
	default:
		return e, errors.New("export: a record that holds nothing")
	}
	return e, err
}

func newExportUpload(u *bench.UploadRecord) *exportUpload {
	e := &exportUpload{
		ID: u.ID, Filename: u.Filename, SHA256: u.SHA256, Size: u.Size, Packed: u.Packed, Format: u.Format, Context: u.Context, Actor: u.Actor,
		Created: u.Created.UTC(), State: withdrawnOnly(u.State), Withdrawn: utc(u.Withdrawn), WithdrawnBy: u.WithdrawnBy, Reason: u.Reason,
		Warnings: u.Warnings, Files: []exportFile{},
	}
	for _, f := range u.Files {
		e.Files = append(e.Files, exportFile{f.ID, f.Path, f.SHA256, f.Size, f.Format, f.State, f.Messages})
	}
	for _, c := range u.Checks {
		e.Checks = append(e.Checks, exportCheck(c))
	}
	return e
}

func newExportConfig(c *bench.Config) *exportConfig {
	e := &exportConfig{System: c.System, Name: c.Name, SourceName: c.SourceName, Kind: c.Kind, Layer: c.Layer, Options: []exportOption{}, Warnings: c.Warnings}
	for _, o := range c.Options {
		x := exportOption{Section: o.Section, Key: o.Key, Written: o.Written, Line: o.Line, Loose: o.Loose, Environment: o.Environment}
		if o.Value != o.Written {
			x.Value = &o.Value
		}
		e.Options = append(e.Options, x)
	}
	return e
}

// config gives the config of a line.
func (e *exportConfig) config() bench.Config {
	c := bench.Config{System: e.System, Name: e.Name, SourceName: e.SourceName, Kind: e.Kind, Layer: e.Layer, Warnings: e.Warnings}
	for _, x := range e.Options {
		o := bench.Option{Section: x.Section, Key: x.Key, Written: x.Written, Value: x.Written, Line: x.Line, Loose: x.Loose, Environment: x.Environment}
		if x.Value != nil {
			o.Value = *x.Value
		}
		c.Options = append(c.Options, o)
	}
	return c
}

// take gives the config of a line as one read from a file. counts reports whether
// one of its sources is among the active files.
func (e *exportConfig) take(file string, line int, active map[int64]bool) (c bench.Config, counts bool, err error) {
	c = e.config()
	c.File = file
	for _, s := range e.Sources {
		if active[s.File] && !counts {
			c.SourceName, counts = s.Name, true
		}
	}
	seen := map[[2]string]bool{}
	what := implausibleConfig(&c)
	for i := range c.Options {
		o := &c.Options[i]
		k := [2]string{o.Section, o.Key}
		switch {
		case o.Key == "":
			what = "an option without a key"
		case seen[k]:
			what = fmt.Sprintf("%s stands twice", clip(o.Key))
		case o.Line < 0 || o.Line > maxInt32:
			what = fmt.Sprintf("%s: line %d", clip(o.Key), o.Line)
		}
		seen[k] = true
		if o.Line == 0 {
			o.Line = line
		}
	}
	switch {
	case what != "":
	case c.System == "" || c.Name == "":
		what = "the config has no system or no name"
	case c.Layer != bench.LayerParsed && c.Layer != bench.LayerEffective:
		what = fmt.Sprintf("no layer of options is called %q", clip(string(c.Layer)))
	case !slices.Contains([]bench.ConfigKind{bench.ConfigMyCnf, bench.ConfigOptions, bench.ConfigPairs, bench.ConfigVariables}, c.Kind):
		what = fmt.Sprintf("no kind of config is called %q", clip(string(c.Kind)))
	case len(c.Options) == 0:
		what = "a config without options"
	}
	if what != "" {
		return c, false, bench.Errorf(bench.KindInvalid, "%s", what)
	}
	return c, counts, nil
}

func (e *exportConfig) record(c *lineCheck) *bench.ConfigRecord {
	c.id("id", e.ID)
	r := &bench.ConfigRecord{ID: e.ID, Config: e.config()}
	switch {
	case e.Created != nil:
		c.time("created", *e.Created)
		r.Created = *e.Created
	case c.problem == "":
		c.problem = "created: there is no time"
	}
	if c.problem == "" && e.SourceName != "" {
		c.problem = "source_name belongs to the sources"
	}
	for _, f := range e.Sources {
		c.id("file of a source", f.File)
		r.From = append(r.From, bench.ConfigFile{File: f.File, SourceName: f.Name})
	}
	return r
}

// withdrawnOnly gives the state as it is written: active is the normal case.
func withdrawnOnly(s bench.RecordState) bench.RecordState {
	if s == bench.RecordActive {
		return ""
	}
	return s
}

// utc gives a time in UTC, so that equal instants are written alike.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func newExportRun(r *bench.RunRecord) (*exportRun, error) {
	e := &exportRun{
		System: r.System, Suite: r.Suite, Server: r.Server, Workload: r.Workload, Config: r.Config, Build: r.Build, Clients: r.Clients,
		Environment: r.Environment, Options: r.Options,
		Stored: &exportStoredRun{
			ID: r.ID, Clients: r.Stated, Assumed: r.Assumed, Started: r.Started, Created: r.Created.UTC(),
			State: withdrawnOnly(r.State), Reason: r.Reason, WithdrawnWith: r.WithdrawnWith,
		},
	}
	if r.OwnID {
		e.ID = r.Key
	} else {
		e.Stored.Key = r.Key
	}
	for _, h := range r.History {
		e.Stored.History = append(e.Stored.History, exportRunChange{h.At.UTC(), h.Actor, h.Action, h.Reason, h.Before, h.After})
	}
	err := writable(r.Started)
	if err == nil {
		e.Results, err = newExportResults(r.Results)
	}
	if err != nil {
		return nil, fmt.Errorf("export run %d: %w", r.ID, err)
	}
	return e, nil
}

func newExportResults(results []bench.ResultRecord) ([]exportResult, error) {
	list := make([]exportResult, 0, len(results))
	for i := range results {
		r := &results[i]
		if err := writable(r.Started); err != nil {
			return nil, fmt.Errorf("result %d: %w", r.ID, err)
		}
		e := newExportResult(&r.Result, nil)
		e.Set, e.Values = r.Set, r.Numbers
		e.Stored = &exportStoredResult{
			ID: r.ID, Key: r.Key.String(), Ordinal: r.Ordinal, Role: r.Role, Withdrawn: r.Withdrawn, Superseded: r.Superseded,
			Sources: make([]exportSource, 0, len(r.From)),
		}
		for _, f := range r.From {
			e.Stored.Sources = append(e.Stored.Sources, exportSource(f))
		}
		list = append(list, e)
	}
	return list, nil
}

// writable makes sure that the text of a time says all of it: no benchmark
// prints zones with seconds or years of five digits.
func writable(t bench.LocalTime) error {
	if offset, _ := t.Offset(); offset%60 != 0 || t.Wall().Year() < 0 || t.Wall().Year() > 9999 {
		return fmt.Errorf("a start of %v cannot be written", t)
	}
	return nil
}

func newExportChange(c *bench.ChangeDetail) *exportChange {
	e := &exportChange{
		ID: c.ID, Series: c.SeriesID, Shape: c.Shape, From: c.From, To: c.To, Back: c.Back, Effect: c.Effect, Low: c.Low, High: c.High,
		Neighbours: c.Neighbours, P: c.P, PHere: c.PHere, Before: exportLevel(c.Before), After: exportLevel(c.After), OneRun: c.OneRun,
		NewCampaign: c.NewCampaign, Dissolved: utc(c.Dissolved), Created: c.Created.UTC(), Updated: c.Updated.UTC(), Triage: c.Triage,
		FixedIn: c.FixedIn, Owner: c.Owner, Issue: c.IssueURL, Thread: []exportEvent{},
	}
	for _, x := range c.Events {
		e.Thread = append(e.Thread, exportEvent{x.ID, x.At.UTC(), x.Actor, x.Field, x.Before, x.After})
	}
	return e
}

func newExportNote(n *bench.NoteRecord) *exportNote {
	e := &exportNote{
		ID: n.ID, System: n.System, Version: n.Version, ToVersion: n.ToVersion, Change: n.ChangeID, Scope: n.Scope, Body: n.Body,
		Author: n.Author, Created: n.Created.UTC(), Updated: n.Updated.UTC(), Deleted: utc(n.Deleted), Revision: n.Revision, History: []exportRevision{},
	}
	for _, h := range n.History {
		e.History = append(e.History, exportRevision{h.Revision, h.At.UTC(), h.Actor, h.Action, h.Body})
	}
	return e
}

// ExportReader reads an export of a whole database, a record at a time.
type ExportReader struct {
	name   string
	in     *bufio.Reader
	line   int
	buf    []byte // of a line that is longer than the reader's own buffer
	sum    hash.Hash
	sets   map[int]int // number of values of each metric set
	counts ExportCounts
	begun  bool
	over   bool
	err    error
}

// NewExportReader reads what [ExportWriter] wrote, decompressed. name stands in
// messages.
func NewExportReader(r io.Reader, name string) *ExportReader {
	return &ExportReader{name: name, in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New(), sets: map[int]int{}}
}

// Counts says what was read so far.
func (r *ExportReader) Counts() ExportCounts { return r.counts }

// Next gives the next record, with its line. After the last it makes sure that
// the file is complete and as it was written, and gives io.EOF. What is wrong
// with the file is an error of kind invalid that names the place; after an error
// every call gives the same one.
func (r *ExportReader) Next() (bench.Record, error) {
	if r.err != nil {
		return bench.Record{}, r.err
	}
	rec, err := r.next()
	if err != nil {
		var e *bench.Error
		if errors.As(err, &e) && len(e.Places) == 0 {
			err = &bench.Error{Kind: e.Kind, Message: e.Message, Places: []bench.Message{{File: r.name, Line: r.line, Text: e.Message}}}
		}
		r.err = err
		return bench.Record{}, err
	}
	return rec, nil
}

func (r *ExportReader) next() (rec bench.Record, err error) {
	for {
		line, err := r.readLine()
		switch {
		case errors.Is(err, io.EOF) && r.over:
			return rec, io.EOF
		case errors.Is(err, io.EOF):
			return rec, bench.Errorf(bench.KindInvalid, exportCutShort)
		case err != nil:
			return rec, err
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			r.sum.Write(line)
			continue
		}
		if r.over {
			return rec, bench.Errorf(bench.KindInvalid, "a line after the end")
		}
		if err := isText(text); err != nil {
			return rec, err
		}
		e, err := decodeExportLine(text)
		if err != nil {
			return rec, err
		}
		switch {
		case e.Version != 0 && r.begun:
			return rec, bench.Errorf(bench.KindInvalid, "a second first line")
		case e.Version != 0:
			if err := e.checkHeader(); err != nil {
				return rec, err
			}
			if e.Contents != exportDatabase {
				return rec, bench.Errorf(bench.KindInvalid, "this export holds figures alone, not a database: relqps ingest reads it")
			}
			r.begun = true
			r.sum.Write(line)
			continue
		case !r.begun:
			return rec, bench.Errorf(bench.KindInvalid, `the file does not begin as an export: {"relqps_export":%d,"contents":%q}`, exportVersion, exportDatabase)
		case e.End != nil:
			if err := e.End.check(r.counts, hex.EncodeToString(r.sum.Sum(nil))); err != nil {
				return rec, err
			}
			r.over = true
			continue
		}
		r.sum.Write(line)
		r.counts.add(&e)
		rec, err := r.record(&e)
		rec.Line = r.line
		return rec, err
	}
}

// readLine gives the next line with its end. It is valid until the next call.
func (r *ExportReader) readLine() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.buf = r.buf[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(r.buf) > maxExportLine {
				r.line++
				return nil, bench.Errorf(bench.KindInvalid, "the line is longer than %d MiB", maxExportLine>>20)
			}
			r.buf = append(r.buf, line...)
			line, err = r.in.ReadSlice('\n')
		}
		r.buf = append(r.buf, line...)
		line = r.buf
	}
	switch {
	case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
		r.line++
		return line, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, err // the disk's fault
	}
	r.line++
	return nil, bench.Errorf(bench.KindInvalid, "the file is damaged or cut short here: %v", err)
}

// isText makes sure that a line is text that a database takes.
func isText(line []byte) error {
	if !utf8.Valid(line) {
		return bench.Errorf(bench.KindInvalid, "the line is not valid UTF-8 (at byte %d)", invalidAt(line)+1)
	}
	const zero = `\u0000`
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(zero))
		if i < 0 {
			return nil
		}
		at += i
		slashes := 0
		for at-slashes > 0 && line[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 { // else the backslash is itself escaped
			return bench.Errorf(bench.KindInvalid, "the line holds a character 0 (at byte %d), which is no text", at+1)
		}
		at += len(zero)
	}
}

// record gives the record of a line. Only what a line says of itself is checked
// here; what it refers to is the store's matter.
func (r *ExportReader) record(e *exportLine) (rec bench.Record, err error) {
	c := &lineCheck{}
	switch {
	case e.Server != nil:
		c.time("created", e.Server.Created)
		rec.Server = &bench.ServerRecord{Name: e.Server.Name, Created: e.Server.Created}
	case e.Coordinate != nil:
		c.id("id", e.Coordinate.ID)
		rec.Coordinate = &bench.CoordinateRecord{ID: e.Coordinate.ID, Coordinate: e.Coordinate.Coordinate}
		for _, s := range e.Coordinate.Series {
			c.id("id of a series", s.ID)
			rec.Coordinate.Series = append(rec.Coordinate.Series, bench.SeriesRecord(s))
		}
	case e.Upload != nil:
		rec.Upload = e.Upload.record(c)
	case e.Content != nil:
		rec.Content = e.Content
	case e.Config != nil:
		rec.Config = e.Config.record(c)
	case e.MetricSet != nil:
		rec.MetricSet = &bench.MetricSetRecord{ID: e.MetricSet.ID}
		if err := e.MetricSet.check(); err != nil {
			return rec, err
		}
		if _, known := r.sets[e.MetricSet.ID]; known || e.MetricSet.ID <= 0 {
			return rec, bench.Errorf(bench.KindInvalid, "a second metric set %d, or one without a number", e.MetricSet.ID)
		}
		r.sets[e.MetricSet.ID] = len(e.MetricSet.Metrics)
		for i, name := range e.MetricSet.Metrics {
			rec.MetricSet.Values = append(rec.MetricSet.Values, bench.Value{Metric: name, Resolution: e.MetricSet.Resolutions[i], SourceName: e.MetricSet.Names[i]})
		}
	case e.Run != nil:
		if rec.Run, err = e.Run.record(c); err == nil {
			rec.Run.Results, err = r.results(e.Run.Results, c)
		}
	case e.Results != nil:
		rec.Results, err = r.results(e.Results, c)
	case e.Change != nil:
		rec.Change = e.Change.record(c)
	case e.Note != nil:
		rec.Note = e.Note.record(c)
	case e.Link != nil:
		l := e.Link
		c.time("created", l.Created)
		rec.Link = &bench.LinkRecord{Link: bench.Link{Code: l.Code, URL: l.URL, Frozen: l.Frozen, Author: l.Author, Created: l.Created}, Packed: l.Snapshot}
	case e.Alias != nil:
		a := e.Alias
		c.time("at", a.At)
		rec.Alias = &bench.AliasRecord{Kind: a.Kind, Old: a.Old, New: a.New, Actor: a.Actor, At: a.At}
	}
	if err == nil && c.problem != "" {
		err = bench.Errorf(bench.KindInvalid, "%s", c.problem)
	}
	return rec, err
}

// lineCheck keeps the first thing that is wrong with a line.
type lineCheck struct{ problem string }

func (c *lineCheck) id(name string, id int64) {
	if c.problem == "" && (id <= 0 || id > maxExportID) {
		c.problem = fmt.Sprintf("%s: %d is no number of anything", name, id)
	}
}

func (c *lineCheck) time(name string, t time.Time) {
	switch year := t.UTC().Year(); {
	case c.problem != "":
	case t.IsZero():
		c.problem = name + ": there is no time"
	case year < 0 || year > 9999: // a zone can lead there
		c.problem = fmt.Sprintf("%s: the year %d", name, year)
	}
}

// optional checks a time that may be missing.
func (c *lineCheck) optional(name string, t *time.Time) {
	if t != nil {
		c.time(name, *t)
	}
}

func (e *exportUpload) record(c *lineCheck) *bench.UploadRecord {
	c.id("id", e.ID)
	c.time("created", e.Created)
	c.optional("withdrawn", e.Withdrawn)
	u := &bench.UploadRecord{
		UploadInfo: bench.UploadInfo{
			ID: e.ID, Filename: e.Filename, SHA256: e.SHA256, Format: e.Format, Size: e.Size, Context: e.Context, Actor: e.Actor,
			Created: e.Created, State: activeElse(e.State), Withdrawn: e.Withdrawn, WithdrawnBy: e.WithdrawnBy, Reason: e.Reason,
		},
		Warnings: e.Warnings, Packed: e.Packed,
	}
	if c.problem == "" && (e.Packed < 0 || e.Size < 0) {
		c.problem = "an upload of less than 0 bytes"
	}
	paths := map[string]bool{}
	for _, f := range e.Files {
		c.id("id of a file", f.ID)
		paths[f.Path] = true
		u.Files = append(u.Files, bench.FileRecord{ID: f.ID, File: bench.File{Path: f.Path, Format: f.Format, SHA256: f.SHA256, Size: f.Size, State: f.State, Messages: f.Messages}})
	}
	for _, k := range e.Checks {
		if c.problem == "" && !paths[k.File] {
			c.problem = fmt.Sprintf("a check of %q, which is no file of the upload", k.File)
		}
		u.Checks = append(u.Checks, bench.Check(k))
	}
	return u
}

func activeElse(s bench.RecordState) bench.RecordState {
	if s == "" {
		return bench.RecordActive
	}
	return s
}

func (e *exportRun) record(c *lineCheck) (*bench.RunRecord, error) {
	s := e.Stored
	if s == nil {
		return nil, bench.Errorf(bench.KindInvalid, "the run lacks what the database knew of it (stored)")
	}
	if (e.ID == "") == (s.Key == "") {
		return nil, bench.Errorf(bench.KindInvalid, "the run needs either an id of its own or a key")
	}
	c.id("id", s.ID)
	c.time("created", s.Created)
	r := &bench.RunRecord{
		ID: s.ID, Key: s.Key, OwnID: e.ID != "", System: e.System, Suite: e.Suite, Server: e.Server, Workload: e.Workload, Config: e.Config,
		Build: e.Build, Clients: e.Clients, Stated: s.Clients, Assumed: s.Assumed, Environment: e.Environment, Options: e.Options,
		Started: s.Started, Created: s.Created, State: activeElse(s.State), Reason: s.Reason, WithdrawnWith: s.WithdrawnWith,
	}
	if r.OwnID {
		r.Key = e.ID
	}
	for _, h := range s.History {
		c.time("at", h.At)
		r.History = append(r.History, bench.RunChange(h))
	}
	return r, nil
}

func (r *ExportReader) results(list []exportResult, c *lineCheck) ([]bench.ResultRecord, error) {
	results := make([]bench.ResultRecord, 0, len(list))
	for i := range list {
		x := &list[i]
		s := x.Stored
		if s == nil {
			return nil, bench.Errorf(bench.KindInvalid, "result %d lacks what the database knew of it (stored)", i+1)
		}
		rec := bench.ResultRecord{ID: s.ID, Ordinal: s.Ordinal, Set: x.Set, Numbers: x.Values, Withdrawn: s.Withdrawn, Superseded: s.Superseded}
		c.id("id of a result", s.ID)
		var err error
		if rec.Result, err = x.result(); err != nil {
			return nil, err
		}
		rec.Role = s.Role
		key, err := hex.DecodeString(s.Key)
		if err != nil || len(key) != len(rec.Key) {
			return nil, bench.Errorf(bench.KindInvalid, "result %d: %q is no key", s.ID, s.Key)
		}
		rec.Key = bench.Key(key)
		if size, known := r.sets[x.Set]; len(x.Values) != size || !known && x.Set != 0 {
			return nil, bench.Errorf(bench.KindInvalid, "%s: its values do not fit metric set %d", x.Step, x.Set)
		}
		for _, f := range s.Sources {
			c.id("file of a source", f.File)
			rec.From = append(rec.From, bench.FileLine(f))
		}
		results = append(results, rec)
	}
	return results, nil
}

func (e *exportChange) record(c *lineCheck) *bench.ChangeDetail {
	c.id("id", e.ID)
	c.id("series", e.Series)
	c.time("created", e.Created)
	c.time("updated", e.Updated)
	c.optional("dissolved", e.Dissolved)
	d := &bench.ChangeDetail{Change: bench.Change{
		ID: e.ID, SeriesID: e.Series,
		FoundChange: bench.FoundChange{
			Shape: e.Shape, From: e.From, To: e.To, Back: e.Back, Effect: e.Effect, Low: e.Low, High: e.High, Neighbours: e.Neighbours,
			P: e.P, PHere: e.PHere, Before: bench.Level(e.Before), After: bench.Level(e.After), OneRun: e.OneRun, NewCampaign: e.NewCampaign,
		},
		Dissolved: e.Dissolved, Created: e.Created, Updated: e.Updated, Triage: e.Triage, FixedIn: e.FixedIn, Owner: e.Owner, IssueURL: e.Issue,
	}}
	for _, x := range e.Thread {
		c.id("id of an entry", x.ID)
		c.time("at", x.At)
		d.Events = append(d.Events, bench.ChangeEvent(x))
	}
	return d
}

func (e *exportNote) record(c *lineCheck) *bench.NoteRecord {
	c.id("id", e.ID)
	c.time("created", e.Created)
	c.time("updated", e.Updated)
	c.optional("deleted", e.Deleted)
	n := &bench.NoteRecord{Note: bench.Note{
		ID: e.ID, System: e.System, Version: e.Version, ToVersion: e.ToVersion, ChangeID: e.Change, Scope: e.Scope, Body: e.Body, Author: e.Author,
		Created: e.Created, Updated: e.Updated, Deleted: e.Deleted, Revision: e.Revision,
	}}
	for _, h := range e.History {
		c.time("at", h.At)
		n.History = append(n.History, bench.NoteRevision(h))
	}
	return n
}
