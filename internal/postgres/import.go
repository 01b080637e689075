package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/internal/bench"
)

// How much an import gathers before it writes, and packs at a time.
const (
	importRows  = 20_000
	importBytes = 16 << 20 // of contents and snapshots
	packRows    = 20_000   // results whose points are packed at a time
)

// maxWindow bounds the memory that unpacking a content takes; that of our own
// encoder is 8 MiB.
const maxWindow = 128 << 20

// importTables are the tables that an import fills, in an order in which each
// refers only to those before it. All but the first are written by COPY.
var importTables = []struct {
	name    string
	columns []string
}{
	{name: "server"}, {name: "version"}, {name: "build"}, {name: "metric"}, {name: "metric_set"},
	{"coordinate", []string{"id", "system", "suite", "server_id", "workload", "clients", "step", "compiler", "config"}},
	{"series", []string{"id", "coordinate_id", "metric_id", "value_count", "values", "resolutions"}},
	{"upload", []string{"id", "sha256", "filename", "format", "content", "size", "context", "actor", "created", "warnings",
		"state", "withdrawn", "withdrawn_by", "reason"}},
	{"upload_file", []string{"id", "upload_id", "path", "sha256", "size", "format", "state", "messages"}},
	{"matrix_check", []string{"upload_file_id", "kind", "cells", "agree", "unknown", "shifted", "messages"}},
	{"config", []string{"id", "system", "name", "kind", "layer", "digest", "warnings", "created"}},
	{"config_option", configOptionColumns},
	{"config_source", []string{"config_id", "upload_file_id", "source_name"}},
	{"run", []string{"id", "key", "own_id", "server_id", "system", "suite", "workload", "config", "build_id", "clients", "clients_stated",
		"assumed", "environment", "options", "started", "utc_offset", "created", "state", "reason", "withdrawn_with"}},
	{"run_history", []string{"run_id", "at", "actor", "action", "reason", "before", "after"}},
	{"result", []string{"id", "run_id", "coordinate_id", "metric_set_id", "key", "ordinal", "threads", "value_bytes", "sync", "wal",
		"role", "state", "reason", "origin", "started", "utc_offset", "primary_metric", "primary_text", "source_text", "excluded", "command",
		"values", "warnings", "withdrawn", "superseded"}},
	{"result_source", []string{"result_id", "upload_file_id", "line"}},
	{"histogram", []string{"result_id", "operation", "unit", "bounds", "counts", "percents", "count", "min", "max", "average", "stddev"}},
	{"time_series", []string{"result_id", "name", "unit", "start_s", "step_s", "values"}},
	{"breakdown", []string{"result_id", "key", "bucket", "samples", "unit", "value"}},
	{name: "coordinate_points"},
	{"change", []string{"id", "series_id", "shape", "from_version_id", "to_version_id", "back_version_id", "effect", "low", "high", "neighbours",
		"p", "p_here", "before", "after", "one_run", "new_campaign", "dissolved", "created", "updated", "triage", "fixed_in", "owner", "issue_url"}},
	{"change_event", []string{"id", "change_id", "at", "actor", "field", "before", "after"}},
	{"note", []string{"id", "system", "version", "version_key", "to_version", "to_version_key", "change_id", "step", "server", "workload",
		"compiler", "config", "body", "author", "created", "updated", "deleted", "revision"}},
	{"note_revision", []string{"note_id", "revision", "at", "actor", "action", "body"}},
	{"link", []string{"code", "url", "frozen", "author", "created", "snapshot"}},
	{"alias", []string{"kind", "old", "new", "actor", "at"}},
}

// importNumbered are the tables whose rows are imported with their numbers.
var importNumbered = []string{"coordinate", "series", "upload", "upload_file", "config", "run", "result", "change", "change_event", "note"}

// Import fills an empty database with records, which next gives one after the
// other as [Store.Export] gave them, and io.EOF after the last: all in one
// transaction, or nothing. Numbers stay; what follows from results (packed
// points, campaigns, counts) is made anew.
//
// A database that holds anything but tokens and sessions is an error of kind
// conflict. A record that the database cannot take is an error of kind invalid
// whose place is the record's line. An error of next is returned as it is.
func (s *Store) Import(ctx context.Context, next func() (bench.Record, error)) error {
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return fmt.Errorf("postgres: import: %w", err)
	}
	defer unzip.Close()
	var failed error // of next: no fault of the database, whatever it looks like
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		m := newImporter(ctx, s, tx, unzip)
		if err := m.lockEmpty(); err != nil {
			return err
		}
		for {
			rec, err := next()
			if errors.Is(err, io.EOF) {
				return m.finish()
			}
			if err != nil {
				failed = err
				return err
			}
			if err := m.take(&rec); err != nil {
				return m.placed(err, rec.Line)
			}
		}
	})
	switch {
	case failed != nil:
		return failed
	case gaveWay(err):
		return &bench.Error{Kind: bench.KindUnavailable, Message: "the database was being written to: nothing was imported, try again", Err: err}
	}
	return translate("import", err)
}

// importer is one import in its transaction.
type importer struct {
	s     *Store
	ctx   context.Context
	tx    pgx.Tx
	unzip *zstd.Decoder

	servers     map[string]int32
	metrics     map[string]int32
	sets        map[int]importSet
	builds      map[systemBuild]int32
	versions    map[release]int32
	coordinates map[place]int64
	systems     map[int64]string // of series
	uploads     map[int64]bool
	files       map[int64]bool
	changes     map[int64]bool
	run         *runRow // the last run, whose results may go on

	upload  *bench.UploadRecord // whose content is not complete
	line    int                 // of it
	content []byte

	pending map[string]*pendingRows
	runs    []pendingRun // rows whose build has no number yet
	rows    int
	bytes   int
}

type importSet struct {
	id   int32
	size int
}

// pendingRows are rows of a table that are not written yet, with the lines they
// came from.
type pendingRows struct {
	rows  [][]any
	lines []int
}

// pendingRun is a run whose build has no number yet: its place in row is empty.
type pendingRun struct {
	build systemBuild
	row   []any
}

const runBuildColumn = 8 // build_id in the columns of run

func newImporter(ctx context.Context, s *Store, tx pgx.Tx, unzip *zstd.Decoder) *importer {
	m := &importer{
		s: s, ctx: ctx, tx: tx, unzip: unzip, servers: map[string]int32{}, metrics: map[string]int32{}, sets: map[int]importSet{},
		builds: map[systemBuild]int32{}, versions: map[release]int32{}, coordinates: map[place]int64{}, systems: map[int64]string{},
		uploads: map[int64]bool{}, files: map[int64]bool{}, changes: map[int64]bool{}, pending: map[string]*pendingRows{},
	}
	for _, t := range importTables {
		m.pending[t.name] = &pendingRows{}
	}
	return m
}

// lockEmpty keeps writers out until the transaction ends and makes sure that
// nothing is there. Readers go on seeing an empty database.
func (m *importer) lockEmpty() error {
	// A LOCK takes no parameters; the names are ours.
	var names, counts []string
	for _, t := range importTables {
		names = append(names, pgx.Identifier{t.name}.Sanitize())
		counts = append(counts, fmt.Sprintf("(SELECT count(*) FROM (SELECT FROM %s LIMIT 100000) x)", pgx.Identifier{t.name}.Sanitize()))
	}
	if _, err := m.tx.Exec(m.ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	var rows []int64
	if err := m.tx.QueryRow(m.ctx, "SELECT ARRAY["+strings.Join(counts, ", ")+"]").Scan(&rows); err != nil {
		return fmt.Errorf("look for what is there: %w", err)
	}
	var there, notable []string
	for i, n := range rows {
		if n == 0 {
			continue
		}
		name := importTables[i].name
		there = append(there, fmt.Sprintf("%d in %s", n, name))
		switch name {
		case "upload", "run", "note", "link":
			notable = append(notable, fmt.Sprintf("%d in %s", n, name))
		}
	}
	if len(notable) > 0 {
		there = notable // says enough
	}
	if len(there) > 0 {
		return bench.Errorf(bench.KindConflict, "the database is not empty (rows: %s): an import needs a new one", strings.Join(there, ", "))
	}
	return nil
}

// invalid makes an error about the record at hand; see [importer.placed].
func invalid(format string, args ...any) error {
	return bench.Errorf(bench.KindInvalid, format, args...)
}

// take takes a record.
func (m *importer) take(r *bench.Record) error {
	if m.upload != nil && r.Content == nil {
		return invalid("of the %d bytes of upload %d only %d came", m.upload.Packed, m.upload.ID, len(m.content))
	}
	if r.Run == nil && r.Results == nil && r.MetricSet == nil {
		m.run = nil
	}
	var err error
	switch {
	case r.Server != nil:
		err = m.takeServer(r.Server)
	case r.Coordinate != nil:
		err = m.takeCoordinate(r.Coordinate, r.Line)
	case r.Upload != nil:
		err = m.takeUpload(r.Upload, r.Line)
	case r.Content != nil:
		err = m.takeContent(r.Content)
	case r.Config != nil:
		err = m.takeConfig(r.Config, r.Line)
	case r.MetricSet != nil:
		err = m.takeMetricSet(r.MetricSet)
	case r.Run != nil:
		err = m.takeRun(r.Run, r.Line)
	case r.Results != nil:
		err = m.takeResults(r.Results, r.Line)
	case r.Change != nil:
		err = m.takeChange(r.Change, r.Line)
	case r.Note != nil:
		err = m.takeNote(r.Note, r.Line)
	case r.Link != nil:
		err = m.takeLink(r.Link, r.Line)
	case r.Alias != nil:
		a := r.Alias
		m.add("alias", r.Line, a.Kind, a.Old, a.New, a.Actor, a.At)
	default:
		err = invalid("the record holds nothing")
	}
	if err != nil {
		return err
	}
	if m.rows >= importRows || m.bytes >= importBytes {
		return m.flush()
	}
	return nil
}

// add gathers a row of a table.
func (m *importer) add(table string, line int, row ...any) {
	p := m.pending[table]
	p.rows, p.lines = append(p.rows, row), append(p.lines, line)
	m.rows++
}

// flush writes what was gathered.
func (m *importer) flush() error {
	var builds []systemBuild
	for _, r := range m.runs {
		if _, known := m.builds[r.build]; !known {
			builds = append(builds, r.build)
		}
	}
	if len(builds) > 0 {
		ids, err := ensureBuilds(m.ctx, m.tx, builds)
		if err != nil {
			return err
		}
		for b, id := range ids {
			m.builds[b] = id
		}
	}
	for _, r := range m.runs {
		r.row[runBuildColumn] = m.builds[r.build]
	}
	m.runs = m.runs[:0]
	for _, t := range importTables {
		p := m.pending[t.name]
		if len(p.rows) == 0 {
			continue
		}
		if err := copyRows(m.ctx, m.tx, t.name, t.columns, p.rows); err != nil {
			return p.placed(err)
		}
		clear(p.rows) // they hold whole contents
		p.rows, p.lines = p.rows[:0], p.lines[:0]
	}
	m.rows, m.bytes = 0, 0
	return nil
}

// copyLine is where Postgres says which row of a COPY it means.
var copyLine = regexp.MustCompile(`(?m)^COPY \w+, line (\d+)`)

// placed gives an error of a COPY the line that its row came from.
func (p *pendingRows) placed(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !badData(pg) {
		return err
	}
	e := refusal(pg, err)
	if where := copyLine.FindStringSubmatch(pg.Where); where != nil {
		if n, _ := strconv.Atoi(where[1]); n >= 1 && n <= len(p.lines) {
			e.Places = []bench.Message{{Line: p.lines[n-1], Text: e.Message}}
		}
	}
	return e
}

// placed gives an error about the record at hand its line.
func (m *importer) placed(err error, line int) error {
	var e *bench.Error
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &e) && e.Kind == bench.KindInvalid && len(e.Places) == 0:
		return &bench.Error{Kind: e.Kind, Message: e.Message, Places: []bench.Message{{Line: line, Text: e.Message}}, Err: e.Err}
	case e == nil && errors.As(err, &pg) && badData(pg):
		e := refusal(pg, err)
		e.Places = []bench.Message{{Line: line, Text: e.Message}}
		return e
	}
	return err
}

// badData reports whether Postgres complains about what it was given: class 22
// is of values, 23 of constraints, 54 of limits.
func badData(pg *pgconn.PgError) bool {
	return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23") || strings.HasPrefix(pg.Code, "54")
}

// refusal says what Postgres has against a row.
func refusal(pg *pgconn.PgError, err error) *bench.Error {
	e := &bench.Error{Kind: bench.KindInvalid, Message: "the database refuses it: " + pg.Message, Err: err}
	if pg.ConstraintName != "" {
		e.Message = fmt.Sprintf("the %s breaks the rule %s", strings.ReplaceAll(pg.TableName, "_", " "), pg.ConstraintName)
	}
	return e
}

func (m *importer) takeServer(r *bench.ServerRecord) error {
	var id int32
	if err := m.tx.QueryRow(m.ctx, `INSERT INTO server (slug, created) VALUES ($1, $2) RETURNING id`, r.Name, r.Created).Scan(&id); err != nil {
		return err
	}
	m.servers[r.Name] = id
	return nil
}

func (m *importer) takeCoordinate(r *bench.CoordinateRecord, line int) error {
	server, known := m.servers[r.Server]
	if !known {
		return invalid("no server is named %q", r.Server)
	}
	at := place{serverID: server, Coordinate: r.Coordinate}
	at.Server = ""
	if _, known := m.coordinates[at]; known {
		return invalid("%v stands twice", r.Coordinate)
	}
	clients, err := int32s(r.Clients)
	if err != nil {
		return err
	}
	m.coordinates[at] = r.ID
	m.add("coordinate", line, r.ID, r.System, r.Suite, server, r.Workload, clients[0], r.Step, r.Compiler, r.Config)
	var missing []string
	for _, s := range r.Series {
		if _, known := bench.LookupMetric(s.Metric); !known {
			return invalid("no metric is named %q", s.Metric)
		}
		if _, known := m.metrics[s.Metric]; !known {
			missing = append(missing, s.Metric)
		}
	}
	if len(missing) > 0 {
		ids, err := ensureMetrics(m.ctx, m.tx, missing)
		if err != nil {
			return err
		}
		for name, id := range ids {
			m.metrics[name] = id
		}
	}
	for _, s := range r.Series {
		// Without values until the points are packed.
		m.add("series", line, s.ID, r.ID, m.metrics[s.Metric], 0, numberList{}, numberList{})
		m.systems[s.ID] = r.System
	}
	return nil
}

func (m *importer) takeUpload(r *bench.UploadRecord, line int) error {
	m.upload, m.line, m.content = r, line, nil
	if r.Packed > 0 {
		return nil
	}
	return m.completeUpload()
}

func (m *importer) takeContent(part []byte) error {
	if m.upload == nil {
		return invalid("bytes of no upload")
	}
	if int64(len(m.content)+len(part)) > m.upload.Packed {
		return invalid("more than the %d bytes of upload %d came", m.upload.Packed, m.upload.ID)
	}
	m.content = append(m.content, part...)
	if int64(len(m.content)) < m.upload.Packed {
		return nil
	}
	return m.completeUpload()
}

// completeUpload takes an upload whose bytes have come.
func (m *importer) completeUpload() error {
	u, line := m.upload, m.line
	m.upload = nil
	if err := m.verify(u.SHA256, u.Size, m.content); err != nil {
		return m.placed(invalid("the bytes of upload %d are damaged: %v", u.ID, err), line)
	}
	warnings, err := messagesJSON(u.Warnings)
	if err != nil {
		return err
	}
	by := stated(u.WithdrawnBy)
	if u.State == bench.RecordWithdrawn {
		by = &u.WithdrawnBy
	}
	m.add("upload", line, u.ID, u.SHA256, u.Filename, u.Format, orEmpty(m.content), u.Size, u.Context, u.Actor, u.Created, warnings,
		string(u.State), u.Withdrawn, by, stated(u.Reason))
	m.uploads[u.ID] = true
	m.bytes += len(m.content)
	m.content = nil
	paths := make(map[string]int64, len(u.Files))
	for _, f := range u.Files {
		messages, err := messagesJSON(f.Messages)
		if err != nil {
			return err
		}
		m.add("upload_file", line, f.ID, u.ID, f.Path, f.SHA256, f.Size, f.Format, string(f.State), messages)
		paths[f.Path], m.files[f.ID] = f.ID, true
	}
	for _, c := range u.Checks {
		file, known := paths[c.File]
		if !known {
			return m.placed(invalid("a check of %q, which is no file of the upload", c.File), line)
		}
		counts, err := int32s(c.Cells, c.Agree, c.Unknown, c.Shifted)
		if err != nil {
			return m.placed(err, line)
		}
		messages, err := messagesJSON(c.Messages)
		if err != nil {
			return err
		}
		m.add("matrix_check", line, file, c.Kind, counts[0], counts[1], counts[2], counts[3], messages)
	}
	return nil
}

// orEmpty gives bytes that are not NULL.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// verify makes sure that packed bytes are those that an upload had.
func (m *importer) verify(sum string, size int64, packed []byte) error {
	if err := m.unzip.Reset(bytes.NewReader(packed)); err != nil {
		return err
	}
	hash := sha256.New()
	// One byte more than there should be tells too many without reading all.
	n, err := io.Copy(hash, io.LimitReader(m.unzip, size+1))
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); n != size || got != sum {
		return fmt.Errorf("%d bytes with SHA-256 %s, not %d with %s", n, got, size, sum)
	}
	return nil
}

func (m *importer) takeConfig(c *bench.ConfigRecord, line int) error {
	warnings, err := messagesJSON(c.Warnings)
	if err != nil {
		return err
	}
	m.add("config", line, c.ID, c.System, c.Name, string(c.Kind), string(c.Layer), configDigest(&c.Config), warnings, c.Created)
	for i, o := range c.Options {
		lines, err := int32s(o.Line)
		if err != nil {
			return err
		}
		m.add("config_option", line, c.ID, int32(i), o.Section, o.Key, o.Written, o.Value, lines[0], o.Loose, o.Environment)
	}
	for _, f := range c.From {
		if !m.files[f.File] {
			return invalid("config %d is from file %d, which is not there", c.ID, f.File)
		}
		m.add("config_source", line, c.ID, f.File, f.SourceName)
	}
	return nil
}

func (m *importer) takeMetricSet(r *bench.MetricSetRecord) error {
	ids, err := m.s.ensureSets(m.ctx, m.tx, map[string][]bench.Value{setOf(r.Values): r.Values})
	if err != nil {
		return err
	}
	m.sets[r.ID] = importSet{ids[setOf(r.Values)], len(r.Values)}
	return nil
}

// emptySet gives the metric set of results without figures.
func (m *importer) emptySet() (int32, error) {
	set, known := m.sets[0]
	if known {
		return set.id, nil
	}
	ids, err := m.s.ensureSets(m.ctx, m.tx, map[string][]bench.Value{setOf(nil): nil})
	if err != nil {
		return 0, err
	}
	m.sets[0] = importSet{id: ids[setOf(nil)]}
	return m.sets[0].id, nil
}

// binarySum is the rule build_binary_sha256 of the schema.
var binarySum = regexp.MustCompile(`^([0-9a-f]{64})?$`)

func (m *importer) takeRun(r *bench.RunRecord, line int) error {
	server, known := m.servers[r.Server]
	if !known {
		return invalid("no server is named %q", r.Server)
	}
	// Builds are written many at once, when nobody can say whose was wrong.
	if r.System == "" {
		return invalid("run %d is of no system", r.ID)
	}
	if !binarySum.MatchString(r.Build.BinarySHA256) {
		return invalid("%q is no SHA-256 of a binary", r.Build.BinarySHA256)
	}
	if r.WithdrawnWith != 0 && !m.uploads[r.WithdrawnWith] {
		return invalid("it was withdrawn with upload %d, which is not there", r.WithdrawnWith)
	}
	clients, err := int32s(r.Clients, r.Stated)
	if err != nil {
		return err
	}
	started, offset := splitTime(r.Started)
	m.run = &runRow{ID: r.ID, ServerID: server, System: r.System, Suite: r.Suite, Server: r.Server, Workload: r.Workload, Config: r.Config,
		Build: r.Build, Clients: r.Clients}
	build := systemBuild{r.System, r.Build}
	m.add("run", line, r.ID, r.Key, r.OwnID, server, r.System, r.Suite, r.Workload, r.Config, nil, clients[0], positive(r.Stated),
		orNone(r.Assumed), notNil(r.Environment), notNil(r.Options), started, offset, r.Created, string(r.State), stated(r.Reason), number(r.WithdrawnWith))
	rows := m.pending["run"].rows
	m.runs = append(m.runs, pendingRun{build, rows[len(rows)-1]})
	for _, h := range r.History {
		m.add("run_history", line, r.ID, h.At, h.Actor, h.Action, h.Reason, notNil(h.Before), notNil(h.After))
	}
	return m.takeResults(r.Results, line)
}

// orNone gives a list that is not NULL, in its own order.
func orNone(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

// notNil gives a map that is no JSON null.
func notNil(facts map[string]string) map[string]string {
	if facts == nil {
		return map[string]string{}
	}
	return facts
}

// number gives an id as it is stored: NULL for none.
func number(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// float8s gives numbers of the domain as Postgres takes them.
func float8s(numbers []*float64) numberList {
	list := make(numberList, len(numbers))
	for i, n := range numbers {
		if n != nil {
			list[i] = pgtype.Float8{Float64: *n, Valid: true}
		}
	}
	return list
}

// int32s gives counts as they are stored.
func int32s(counts ...int) ([]int32, error) {
	list := make([]int32, len(counts))
	for i, n := range counts {
		list[i] = int32(n)
		if int(list[i]) != n {
			return nil, invalid("the number %d is too large", n)
		}
	}
	return list, nil
}

func (m *importer) takeResults(results []bench.ResultRecord, line int) error {
	if m.run == nil {
		return invalid("results of no run")
	}
	for i := range results {
		r := &results[i]
		at := m.run.place(r.Step.Name)
		at.Server = ""
		coordinate, known := m.coordinates[at]
		if !known {
			return invalid("result %d is at a coordinate that was not listed: %v", r.ID, at.Coordinate)
		}
		if _, err := int32s(r.Ordinal, r.Step.Threads, r.Step.ValueBytes); err != nil {
			return err
		}
		set, known := m.sets[r.Set]
		if r.Set == 0 {
			id, err := m.emptySet()
			if err != nil {
				return err
			}
			set, known = importSet{id: id}, true
		}
		if !known || set.size != len(r.Numbers) {
			return invalid("the figures of result %d do not fit metric set %d", r.ID, r.Set)
		}
		started, offset := splitTime(r.Started)
		warnings, err := messagesJSON(r.Warnings)
		if err != nil {
			return err
		}
		m.add("result", line, r.ID, m.run.ID, coordinate, set.id, r.Key[:], r.Ordinal, positive(r.Step.Threads), positive(r.Step.ValueBytes),
			r.Step.Sync, r.Step.WAL, string(r.Role), string(r.State), r.Reason, string(r.Origin), started, offset, r.Primary, r.PrimaryText,
			r.Text, r.Excluded, r.Command, float8s(r.Numbers), warnings, r.Withdrawn, r.Superseded)
		for _, f := range r.From {
			if !m.files[f.File] {
				return invalid("result %d is from file %d, which is not there", r.ID, f.File)
			}
			if _, err := int32s(f.Line); err != nil {
				return err
			}
			m.add("result_source", line, r.ID, f.File, f.Line)
		}
		for i := range r.Histograms {
			h := &r.Histograms[i]
			bounds := h.Bounds
			if bounds == nil {
				bounds = []float64{}
			}
			m.add("histogram", line, r.ID, h.Operation, h.Unit, bounds, h.Counts, h.Percents, h.Count, h.Min, h.Max, h.Average, h.StdDev)
		}
		for i := range r.TimeSeries {
			t := &r.TimeSeries[i]
			m.add("time_series", line, r.ID, t.Name, t.Unit, t.StartS, t.StepS, float8s(gaps(t.Values)))
			m.bytes += 8 * len(t.Values)
		}
		for i := range r.Breakdowns {
			b := &r.Breakdowns[i]
			m.add("breakdown", line, r.ID, b.Key, b.Bucket, b.Samples, b.Unit, b.Value)
		}
		if m.rows >= importRows || m.bytes >= importBytes {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *importer) takeChange(c *bench.ChangeDetail, line int) error {
	system, known := m.systems[c.SeriesID]
	if !known {
		return invalid("change %d is of series %d, which is not there", c.ID, c.SeriesID)
	}
	names := []string{c.From, c.To}
	if c.Back != "" {
		names = append(names, c.Back)
	}
	var missing []release
	for _, name := range names {
		if _, known := m.versions[release{system, name}]; !known {
			missing = append(missing, release{system, name})
		}
	}
	if len(missing) > 0 {
		ids, err := ensureVersions(m.ctx, m.tx, missing)
		if err != nil {
			return err
		}
		for r, id := range ids {
			m.versions[r] = id
		}
	}
	var back *int32
	if c.Back != "" {
		id := m.versions[release{system, c.Back}]
		back = &id
	}
	before, after, err := levels(c.FoundChange)
	if err != nil {
		return err
	}
	m.add("change", line, c.ID, c.SeriesID, string(c.Shape), m.versions[release{system, c.From}], m.versions[release{system, c.To}], back,
		c.Effect, c.Low, c.High, c.Neighbours, c.P, c.PHere, before, after, c.OneRun, c.NewCampaign, c.Dissolved, c.Created, c.Updated,
		string(c.Triage), c.FixedIn, c.Owner, c.IssueURL)
	m.changes[c.ID] = true
	for _, e := range c.Events {
		m.add("change_event", line, e.ID, c.ID, e.At, e.Actor, e.Field, e.Before, e.After)
	}
	return nil
}

func (m *importer) takeNote(n *bench.NoteRecord, line int) error {
	if n.ChangeID != 0 && !m.changes[n.ChangeID] {
		return invalid("note %d is on change %d, which is not there", n.ID, n.ChangeID)
	}
	if _, err := int32s(n.Revision); err != nil {
		return err
	}
	m.add("note", line, n.ID, n.System, n.Version, bench.VersionKey(n.Version), stated(n.ToVersion), keyOrNull(n.ToVersion), number(n.ChangeID),
		stated(n.Scope.Step), stated(n.Scope.Server), stated(n.Scope.Workload), stated(n.Scope.Compiler), stated(n.Scope.Config),
		n.Body, n.Author, n.Created, n.Updated, n.Deleted, n.Revision)
	for _, h := range n.History {
		if _, err := int32s(h.Revision); err != nil {
			return err
		}
		m.add("note_revision", line, n.ID, h.Revision, h.At, h.Actor, h.Action, h.Body)
	}
	return nil
}

// stated gives a text as it is stored: NULL for none.
func stated(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (m *importer) takeLink(l *bench.LinkRecord, line int) error {
	if l.Packed != nil {
		if err := m.unzip.Reset(bytes.NewReader(l.Packed)); err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, io.LimitReader(m.unzip, maxSnapshot+1))
		switch {
		case err != nil:
			return invalid("the snapshot of link %s is damaged: %v", l.Code, err)
		case n > maxSnapshot:
			return invalid("the snapshot of link %s is larger than %d MiB", l.Code, maxSnapshot>>20)
		}
	}
	m.add("link", line, l.Code, l.URL, l.Frozen, l.Author, l.Created, l.Packed)
	m.bytes += len(l.Packed)
	return nil
}

// finish writes the rest and makes what follows from it.
func (m *importer) finish() error {
	if m.upload != nil {
		return m.placed(invalid("of the %d bytes of upload %d only %d came", m.upload.Packed, m.upload.ID, len(m.content)), m.line)
	}
	if err := m.flush(); err != nil {
		return err
	}
	for _, table := range importNumbered {
		// Before anything below takes a number.
		_, err := m.tx.Exec(m.ctx, `
			SELECT setval(pg_get_serial_sequence($1, 'id'), max) FROM (SELECT max(id) FROM `+pgx.Identifier{table}.Sanitize()+`) x
			WHERE max IS NOT NULL`, table)
		if err != nil {
			return fmt.Errorf("numbers of %s: %w", table, err)
		}
	}
	// Without this the statements below are planned for empty tables.
	if _, err := m.tx.Exec(m.ctx, `ANALYZE coordinate, series, upload_file, run, build, version, result, result_source`); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	_, err := m.tx.Exec(m.ctx, `
		UPDATE upload SET result_count = n.results, run_count = n.runs
		FROM (
			SELECT f.upload_id, count(DISTINCT r.id) AS results, count(DISTINCT r.run_id) AS runs
			FROM upload_file f
			JOIN result_source s ON s.upload_file_id = f.id
			JOIN result r ON r.id = s.result_id
			GROUP BY f.upload_id) n
		WHERE upload.id = n.upload_id`)
	if err != nil {
		return fmt.Errorf("count results: %w", err)
	}
	for _, server := range m.servers {
		if err := yieldMatrices(m.ctx, m.tx, []int32{server}, map[int64]bool{}); err != nil {
			return err
		}
		if _, err := numberCampaigns(m.ctx, m.tx, server); err != nil {
			return err
		}
	}
	return m.pack()
}

// pack makes the packed points of all coordinates, some at a time.
func (m *importer) pack() error {
	rows, _ := m.tx.Query(m.ctx, `
		SELECT c.id, (SELECT count(*) FROM result r WHERE r.coordinate_id = c.id) FROM coordinate c ORDER BY c.id`)
	var ids []int64
	var results []int
	var id int64
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		ids, results = append(ids, id), append(results, n)
		return nil
	}); err != nil {
		return fmt.Errorf("coordinates: %w", err)
	}
	for len(ids) > 0 {
		n, sum := 1, results[0]
		for n < len(ids) && sum+results[n] <= packRows {
			sum += results[n]
			n++
		}
		if _, err := m.s.pack(m.ctx, m.tx, ids[:n]); err != nil {
			return err
		}
		ids, results = ids[n:], results[n:]
	}
	return nil
}
