package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// How much an export reads at a time, which bounds its memory. None of it shows
// in the records but runPart and contentPart.
const (
	exportPage    = 500
	linkPage      = 10    // with snapshots of some MiB each
	filePage      = 5_000 // files of uploads
	seriesPage    = 50    // results with time series
	smallContent  = 64 << 10
	contentPart   = 1 << 20
	runPart       = 1_000   // results of a run in one record
	runPartValues = 500_000 // figures of a run in one record, that of one result more
)

// Export gives everything that the store holds to write, record by record in
// the order that [bench.Record] describes, as it is at one moment; writing goes
// on meanwhile. An error of write ends it and is returned. A record is the
// callee's to keep.
func (s *Store) Export(ctx context.Context, write func(bench.Record) error) error {
	var failed error // of write: no fault of the database, whatever it looks like
	err := s.view(ctx, "export", func(tx pgx.Tx) error {
		x := &exporter{s: s, ctx: ctx, tx: tx, sets: map[int32]int{}}
		x.write = func(r bench.Record) error {
			failed = write(r)
			return failed
		}
		for _, part := range []func() error{x.servers, x.coordinates, x.uploads, x.configs, x.runs, x.changes, x.notes, x.links, x.aliases} {
			if err := part(); err != nil {
				return err
			}
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// exporter is one export in its transaction.
type exporter struct {
	s     *Store
	ctx   context.Context
	tx    pgx.Tx
	write func(bench.Record) error
	sets  map[int32]int // metric sets written so far: id to number in the export
}

func (x *exporter) servers() error {
	rows, _ := x.tx.Query(x.ctx, `SELECT slug, created FROM server ORDER BY slug`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bench.ServerRecord])
	if err != nil {
		return fmt.Errorf("servers: %w", err)
	}
	for i := range list {
		if err := x.write(bench.Record{Server: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) coordinates() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `
			SELECT c.id, c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients
			FROM coordinate c JOIN server s ON s.id = c.server_id
			WHERE c.id > $1 ORDER BY c.id LIMIT $2`, last, exportPage)
		var ids []int64
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.CoordinateRecord, error) {
			var c bench.CoordinateRecord
			err := row.Scan(&c.ID, &c.System, &c.Suite, &c.Server, &c.Workload, &c.Step, &c.Compiler, &c.Config, &c.Clients)
			ids = append(ids, c.ID)
			return &c, err
		})
		if err != nil {
			return fmt.Errorf("coordinates: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = ids[len(ids)-1]
		by := make(map[int64]*bench.CoordinateRecord, len(list))
		for _, c := range list {
			by[c.ID] = c
		}
		rows, _ = x.tx.Query(x.ctx, `
			SELECT s.coordinate_id, s.id, m.name FROM series s JOIN metric m ON m.id = s.metric_id
			WHERE s.coordinate_id = ANY ($1) ORDER BY s.id`, ids)
		var coordinate int64
		var series bench.SeriesRecord
		if _, err := pgx.ForEachRow(rows, []any{&coordinate, &series.ID, &series.Metric}, func() error {
			by[coordinate].Series = append(by[coordinate].Series, series)
			return nil
		}); err != nil {
			return fmt.Errorf("series: %w", err)
		}
		for _, c := range list {
			if err := x.write(bench.Record{Coordinate: c}); err != nil {
				return err
			}
		}
	}
}

// exportedUpload is an upload on its way.
type exportedUpload struct {
	bench.UploadRecord
	files   int
	content []byte // where it is small
}

func (x *exporter) uploads() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `
			SELECT id, filename, sha256, format, size, context, actor, created, state, withdrawn, COALESCE(withdrawn_by, ''), COALESCE(reason, ''),
				warnings, octet_length(content), CASE WHEN octet_length(content) <= $3 THEN content END,
				(SELECT count(*) FROM upload_file f WHERE f.upload_id = upload.id)
			FROM upload WHERE id > $1 ORDER BY id LIMIT $2`, last, exportPage, smallContent)
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*exportedUpload, error) {
			var u exportedUpload
			err := row.Scan(&u.ID, &u.Filename, &u.SHA256, &u.Format, &u.Size, &u.Context, &u.Actor, &u.Created, &u.State, &u.Withdrawn,
				&u.WithdrawnBy, &u.Reason, &u.Warnings, &u.Packed, &u.content, &u.files)
			return &u, err
		})
		if err != nil {
			return fmt.Errorf("uploads: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = list[len(list)-1].ID
		for len(list) > 0 {
			// An upload may have many files: no more of them at a time than needed.
			n, files := 1, list[0].files
			for n < len(list) && files+list[n].files <= filePage {
				files += list[n].files
				n++
			}
			if err := x.completeUploads(list[:n]); err != nil {
				return err
			}
			list = list[n:]
		}
	}
}

// completeUploads reads files and checks of uploads and writes them with their
// content.
func (x *exporter) completeUploads(list []*exportedUpload) error {
	by := make(map[int64]*exportedUpload, len(list))
	ids := make([]int64, len(list))
	for i, u := range list {
		by[u.ID], ids[i] = u, u.ID
	}
	rows, _ := x.tx.Query(x.ctx, `
		SELECT upload_id, id, path, format, sha256, size, state, messages FROM upload_file WHERE upload_id = ANY ($1) ORDER BY id`, ids)
	for rows.Next() {
		var upload int64
		var f bench.FileRecord
		if err := rows.Scan(&upload, &f.ID, &f.Path, &f.Format, &f.SHA256, &f.Size, &f.State, &f.Messages); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		by[upload].Files = append(by[upload].Files, f)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	rows, _ = x.tx.Query(x.ctx, `
		SELECT f.upload_id, f.path, c.kind, c.cells, c.agree, c.unknown, c.shifted, c.messages
		FROM matrix_check c JOIN upload_file f ON f.id = c.upload_file_id
		WHERE f.upload_id = ANY ($1) ORDER BY c.id`, ids)
	for rows.Next() {
		var upload int64
		var c bench.Check
		if err := rows.Scan(&upload, &c.File, &c.Kind, &c.Cells, &c.Agree, &c.Unknown, &c.Shifted, &c.Messages); err != nil {
			return fmt.Errorf("checks: %w", err)
		}
		by[upload].Checks = append(by[upload].Checks, c)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("checks: %w", err)
	}
	for _, u := range list {
		if err := x.write(bench.Record{Upload: &u.UploadRecord}); err != nil {
			return err
		}
		if err := x.content(u); err != nil {
			return err
		}
	}
	return nil
}

// content writes the bytes of an upload in parts.
func (x *exporter) content(u *exportedUpload) error {
	for at := int64(0); at < u.Packed; at += contentPart {
		part := u.content
		if part == nil {
			// The column is stored uncompressed, so that a part is read without the rest.
			err := x.tx.QueryRow(x.ctx, `SELECT substring(content FROM $2::int FOR $3::int) FROM upload WHERE id = $1`, u.ID, at+1, contentPart).Scan(&part)
			if err != nil {
				return fmt.Errorf("bytes of upload: %w", err)
			}
		}
		if err := x.write(bench.Record{Content: part}); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) configs() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `
			SELECT id, system, name, kind, layer, warnings, created FROM config WHERE id > $1 ORDER BY id LIMIT $2`, last, exportPage)
		var ids []int64
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.ConfigRecord, error) {
			var c bench.ConfigRecord
			err := row.Scan(&c.ID, &c.System, &c.Name, &c.Kind, &c.Layer, &c.Warnings, &c.Created)
			ids = append(ids, c.ID)
			return &c, err
		})
		if err != nil {
			return fmt.Errorf("configs: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = ids[len(ids)-1]
		by := make(map[int64]*bench.ConfigRecord, len(list))
		for _, c := range list {
			by[c.ID] = c
		}
		rows, _ = x.tx.Query(x.ctx, `
			SELECT config_id, section, key, written, value, line, loose, environment
			FROM config_option WHERE config_id = ANY ($1) ORDER BY config_id, place`, ids)
		var id int64
		var o bench.Option
		if _, err := pgx.ForEachRow(rows, []any{&id, &o.Section, &o.Key, &o.Written, &o.Value, &o.Line, &o.Loose, &o.Environment}, func() error {
			by[id].Options = append(by[id].Options, o)
			return nil
		}); err != nil {
			return fmt.Errorf("options of configs: %w", err)
		}
		rows, _ = x.tx.Query(x.ctx, `
			SELECT config_id, upload_file_id, source_name FROM config_source WHERE config_id = ANY ($1) ORDER BY config_id, upload_file_id`, ids)
		var from bench.ConfigFile
		if _, err := pgx.ForEachRow(rows, []any{&id, &from.File, &from.SourceName}, func() error {
			by[id].From = append(by[id].From, from)
			return nil
		}); err != nil {
			return fmt.Errorf("sources of configs: %w", err)
		}
		for _, c := range list {
			if err := x.write(bench.Record{Config: c}); err != nil {
				return err
			}
		}
	}
}

func (x *exporter) runs() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `
			SELECT r.id, r.key, r.own_id, r.system, r.suite, s.slug, r.workload, r.config,
				v.name, b.compiler, b.compiler_version, b.flags, b.git_hash, b.binary_sha256, b.command,
				r.clients, COALESCE(r.clients_stated, 0), r.assumed, r.environment, r.options, r.started, r.utc_offset, r.created, r.state,
				COALESCE(r.reason, ''), COALESCE(r.withdrawn_with, 0)
			FROM run r
			JOIN server s ON s.id = r.server_id
			JOIN build b ON b.id = r.build_id
			JOIN version v ON v.id = b.version_id
			WHERE r.id > $1 ORDER BY r.id LIMIT $2`, last, exportPage)
		var ids []int64
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.RunRecord, error) {
			var r bench.RunRecord
			var started *time.Time
			var offset *int
			err := row.Scan(&r.ID, &r.Key, &r.OwnID, &r.System, &r.Suite, &r.Server, &r.Workload, &r.Config,
				&r.Build.Version, &r.Build.Compiler, &r.Build.CompilerVersion, &r.Build.Flags, &r.Build.GitHash, &r.Build.BinarySHA256, &r.Build.Command,
				&r.Clients, &r.Stated, &r.Assumed, &r.Environment, &r.Options, &started, &offset, &r.Created, &r.State, &r.Reason, &r.WithdrawnWith)
			r.Started = joinTime(started, offset)
			ids = append(ids, r.ID)
			return &r, err
		})
		if err != nil {
			return fmt.Errorf("runs: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = ids[len(ids)-1]
		if err := x.histories(list, ids); err != nil {
			return err
		}
		if err := x.results(list); err != nil {
			return err
		}
	}
}

func (x *exporter) histories(list []*bench.RunRecord, ids []int64) error {
	by := make(map[int64]*bench.RunRecord, len(list))
	for _, r := range list {
		by[r.ID] = r
	}
	rows, _ := x.tx.Query(x.ctx, `
		SELECT run_id, at, actor, action, reason, before, after FROM run_history WHERE run_id = ANY ($1) ORDER BY id`, ids)
	for rows.Next() {
		var run int64
		var h bench.RunChange
		if err := rows.Scan(&run, &h.At, &h.Actor, &h.Action, &h.Reason, &h.Before, &h.After); err != nil {
			return fmt.Errorf("histories: %w", err)
		}
		by[run].History = append(by[run].History, h)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("histories: %w", err)
	}
	return nil
}

// exportedResult is a result on its way. Its Set is the number of the store.
type exportedResult struct {
	bench.ResultRecord
	run    int64
	series bool // has time series
}

// results writes runs with their results, which it reads in pages that have
// nothing to do with runs.
func (x *exporter) results(list []*bench.RunRecord) error {
	w := &runWriter{x: x, runs: list}
	first, last := list[0].ID, list[len(list)-1].ID
	for run, id := first, int64(0); ; {
		// The list holds all runs of this range: new ones do not show in the snapshot.
		rows, _ := x.tx.Query(x.ctx, `
			SELECT r.id, r.run_id, r.key, r.ordinal, c.step, COALESCE(r.threads, 0), COALESCE(r.value_bytes, 0), r.sync, r.wal, r.role, r.state,
				r.reason, r.origin, r.started, r.utc_offset, r.primary_metric, r.primary_text, r.source_text, r.excluded, r.command,
				r.metric_set_id, r.values, r.warnings, r.withdrawn, r.superseded, EXISTS (SELECT FROM time_series t WHERE t.result_id = r.id)
			FROM result r
			JOIN coordinate c ON c.id = r.coordinate_id
			WHERE r.run_id BETWEEN $1 AND $2 AND (r.run_id, r.id) > ($1, $3)
			ORDER BY r.run_id, r.id LIMIT $4`, run, last, id, exportPage)
		page, err := pgx.CollectRows(rows, scanExported)
		if err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if len(page) == 0 {
			return w.flush()
		}
		run, id = page[len(page)-1].run, page[len(page)-1].ID
		for len(page) > 0 {
			// Time series may be long: no more of them at a time than needed.
			n, series := 0, 0
			for n < len(page) && series < seriesPage {
				if page[n].series {
					series++
				}
				n++
			}
			if err := x.complete(page[:n], series > 0); err != nil {
				return err
			}
			for _, r := range page[:n] {
				if err := w.add(r); err != nil {
					return err
				}
			}
			page = page[n:]
		}
	}
}

func scanExported(row pgx.CollectableRow) (*exportedResult, error) {
	var r exportedResult
	var key []byte
	var started *time.Time
	var offset *int
	var numbers numberList
	err := row.Scan(&r.ID, &r.run, &key, &r.Ordinal, &r.Step.Name, &r.Step.Threads, &r.Step.ValueBytes, &r.Step.Sync, &r.Step.WAL, &r.Role, &r.State,
		&r.Reason, &r.Origin, &started, &offset, &r.Primary, &r.PrimaryText, &r.Text, &r.Excluded, &r.Command,
		&r.Set, &numbers, &r.Warnings, &r.Withdrawn, &r.Superseded, &r.series)
	copy(r.Key[:], key)
	r.Started = joinTime(started, offset)
	r.Numbers = pointers(numbers)
	return &r, err
}

// pointers gives numbers as the domain has them: nil for what is missing.
func pointers(numbers numberList) []*float64 {
	values, list := make([]float64, len(numbers)), make([]*float64, len(numbers))
	for i, n := range numbers {
		if n.Valid {
			values[i], list[i] = n.Float64, &values[i]
		}
	}
	return list
}

// complete reads sources, distributions, time series and breakdowns of results.
func (x *exporter) complete(page []*exportedResult, series bool) error {
	ids := make([]int64, len(page))
	by := make(map[int64]*exportedResult, len(page))
	for i, r := range page {
		ids[i], by[r.ID] = r.ID, r
	}
	// One round trip for all; each has an index that begins with result_id.
	batch := &pgx.Batch{}
	batch.Queue(`SELECT result_id, upload_file_id, line FROM result_source WHERE result_id = ANY ($1) ORDER BY result_id, upload_file_id, line`, ids).
		Query(func(rows pgx.Rows) error {
			var id int64
			var at bench.FileLine
			_, err := pgx.ForEachRow(rows, []any{&id, &at.File, &at.Line}, func() error {
				by[id].From = append(by[id].From, at)
				return nil
			})
			return err
		})
	batch.Queue(`
		SELECT result_id, operation, unit, bounds, counts, percents, count, min, max, average, stddev
		FROM histogram WHERE result_id = ANY ($1) ORDER BY id`, ids).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var id int64
				var h bench.Histogram
				if err := rows.Scan(&id, &h.Operation, &h.Unit, &h.Bounds, &h.Counts, &h.Percents, &h.Count, &h.Min, &h.Max, &h.Average, &h.StdDev); err != nil {
					return err
				}
				by[id].Histograms = append(by[id].Histograms, h)
			}
			return rows.Err()
		})
	batch.Queue(`SELECT result_id, key, bucket, samples, unit, value FROM breakdown WHERE result_id = ANY ($1) ORDER BY id`, ids).
		Query(func(rows pgx.Rows) error {
			var id int64
			var b bench.Breakdown
			_, err := pgx.ForEachRow(rows, []any{&id, &b.Key, &b.Bucket, &b.Samples, &b.Unit, &b.Value}, func() error {
				by[id].Breakdowns = append(by[id].Breakdowns, b)
				return nil
			})
			return err
		})
	if series {
		batch.Queue(`SELECT result_id, name, unit, start_s, step_s, values FROM time_series WHERE result_id = ANY ($1) ORDER BY id`, ids).
			Query(func(rows pgx.Rows) error {
				for rows.Next() {
					var id int64
					var t bench.TimeSeries
					var numbers numberList
					if err := rows.Scan(&id, &t.Name, &t.Unit, &t.StartS, &t.StepS, &numbers); err != nil {
						return err
					}
					t.Values = withGaps(numbers)
					by[id].TimeSeries = append(by[id].TimeSeries, t)
				}
				return rows.Err()
			})
	}
	return exec(x.ctx, x.tx, "parts of results", batch)
}

// number gives metric sets their numbers in the export, and writes those that
// are new.
func (x *exporter) number(results []bench.ResultRecord) error {
	var ids []int32
	for i := range results {
		if id := int32(results[i].Set); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	sets, err := x.s.setsByID(x.ctx, x.tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, known := x.sets[id]; known || len(sets[id]) == 0 {
			continue // the empty set is 0
		}
		n := len(x.sets) + 1
		if err := x.write(bench.Record{MetricSet: &bench.MetricSetRecord{ID: n, Values: sets[id]}}); err != nil {
			return err
		}
		x.sets[id] = n
	}
	for i := range results {
		results[i].Set = x.sets[int32(results[i].Set)]
	}
	return nil
}

// withGaps gives the values of a time series as the domain has them: NaN marks a
// missing interval.
func withGaps(numbers numberList) []float64 {
	values := make([]float64, len(numbers))
	for i, n := range numbers {
		values[i] = math.NaN()
		if n.Valid {
			values[i] = n.Float64
		}
	}
	return values
}

// runWriter joins results to their runs and writes those in parts. Where a run
// is cut follows from the run alone.
type runWriter struct {
	x       *exporter
	runs    []*bench.RunRecord // still to write; results are those of the first
	begun   bool               // of the first a part is written
	results []bench.ResultRecord
	values  int
}

// add takes the next result.
func (w *runWriter) add(r *exportedResult) error {
	for w.runs[0].ID != r.run {
		if err := w.next(); err != nil {
			return err
		}
	}
	if len(w.results) == runPart || w.values >= runPartValues {
		if err := w.part(); err != nil {
			return err
		}
	}
	w.results = append(w.results, r.ResultRecord)
	w.values += len(r.Numbers) + len(r.Breakdowns)
	for i := range r.Histograms {
		w.values += 2 * len(r.Histograms[i].Bounds)
	}
	for i := range r.TimeSeries {
		w.values += len(r.TimeSeries[i].Values)
	}
	return nil
}

// part writes the results so far.
func (w *runWriter) part() error {
	results := w.results
	w.results, w.values = nil, 0
	if err := w.x.number(results); err != nil {
		return err
	}
	if w.begun {
		return w.x.write(bench.Record{Results: results})
	}
	w.begun = true
	w.runs[0].Results = results
	return w.x.write(bench.Record{Run: w.runs[0]})
}

// next ends the first run.
func (w *runWriter) next() error {
	if !w.begun || len(w.results) > 0 {
		if err := w.part(); err != nil {
			return err
		}
	}
	w.runs, w.begun = w.runs[1:], false
	return nil
}

// flush ends all runs.
func (w *runWriter) flush() error {
	for len(w.runs) > 0 {
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) changes() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `SELECT `+changeColumns+` FROM `+changeTables+` WHERE k.id > $1 ORDER BY k.id LIMIT $2`, last, exportPage)
		var ids []int64
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.ChangeDetail, error) {
			c, err := scanChange(row)
			ids = append(ids, c.ID)
			return &bench.ChangeDetail{Change: c}, err
		})
		if err != nil {
			return fmt.Errorf("changes: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = ids[len(ids)-1]
		by := make(map[int64]*bench.ChangeDetail, len(list))
		for _, c := range list {
			by[c.ID] = c
		}
		rows, _ = x.tx.Query(x.ctx, `SELECT change_id, id, at, actor, field, before, after FROM change_event WHERE change_id = ANY ($1) ORDER BY id`, ids)
		var change int64
		var e bench.ChangeEvent
		if _, err := pgx.ForEachRow(rows, []any{&change, &e.ID, &e.At, &e.Actor, &e.Field, &e.Before, &e.After}, func() error {
			by[change].Events = append(by[change].Events, e)
			return nil
		}); err != nil {
			return fmt.Errorf("threads: %w", err)
		}
		for _, c := range list {
			if err := x.write(bench.Record{Change: c}); err != nil {
				return err
			}
		}
	}
}

func (x *exporter) notes() error {
	for last := int64(0); ; {
		rows, _ := x.tx.Query(x.ctx, `SELECT `+noteColumns+` FROM note WHERE id > $1 ORDER BY id LIMIT $2`, last, exportPage)
		var ids []int64
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.NoteRecord, error) {
			n, err := scanNote(row)
			ids = append(ids, n.ID)
			return &bench.NoteRecord{Note: n}, err
		})
		if err != nil {
			return fmt.Errorf("notes: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = ids[len(ids)-1]
		by := make(map[int64]*bench.NoteRecord, len(list))
		for _, n := range list {
			by[n.ID] = n
		}
		rows, _ = x.tx.Query(x.ctx, `
			SELECT note_id, revision, at, actor, action, body FROM note_revision WHERE note_id = ANY ($1) ORDER BY note_id, revision`, ids)
		var note int64
		var h bench.NoteRevision
		if _, err := pgx.ForEachRow(rows, []any{&note, &h.Revision, &h.At, &h.Actor, &h.Action, &h.Body}, func() error {
			by[note].History = append(by[note].History, h)
			return nil
		}); err != nil {
			return fmt.Errorf("texts of notes: %w", err)
		}
		for _, n := range list {
			if err := x.write(bench.Record{Note: n}); err != nil {
				return err
			}
		}
	}
}

func (x *exporter) links() error {
	for last := ""; ; {
		rows, _ := x.tx.Query(x.ctx, `
			SELECT code, url, frozen, author, created, snapshot FROM link WHERE code > $1 ORDER BY code LIMIT $2`, last, linkPage)
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*bench.LinkRecord, error) {
			var l bench.LinkRecord
			err := row.Scan(&l.Code, &l.URL, &l.Frozen, &l.Author, &l.Created, &l.Packed)
			return &l, err
		})
		if err != nil {
			return fmt.Errorf("links: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		last = list[len(list)-1].Code
		for _, l := range list {
			if err := x.write(bench.Record{Link: l}); err != nil {
				return err
			}
		}
	}
}

func (x *exporter) aliases() error {
	rows, _ := x.tx.Query(x.ctx, `SELECT kind, old, new, actor, at FROM alias ORDER BY kind COLLATE "C", old`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bench.AliasRecord])
	if err != nil {
		return fmt.Errorf("aliases: %w", err)
	}
	for i := range list {
		if err := x.write(bench.Record{Alias: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}
