package postgres

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// entry is a result to insert, or what a stored one gains.
type entry struct {
	id      int64
	run     *runTarget    // of a new result
	stored  *storedResult // nil: new
	key     bench.Key
	ordinal int
	// r holds of a new result everything; of a stored one its values with those
	// that are added, and else only what it gains.
	r       bench.Result
	sources []fileLine
	set     string          // of the values, see [setOf]; "" when they are not written
	have    map[string]bool // distributions, time series and breakdowns that are there
	seen    bool            // of a stored one: an addition was counted
	changed bool            // of a stored one: its row is to be updated
	figures bool            // of a stored one: its values or its exclusion change
}

type fileLine struct {
	file int64
	line int
}

func histogramName(h *bench.Histogram) string   { return "h\x00" + text(h.Operation) }
func timeSeriesName(t *bench.TimeSeries) string { return "t\x00" + text(t.Name) }
func breakdownName(b *bench.Breakdown) string {
	return "b\x00" + text(b.Key) + "\x00" + text(b.Bucket) + "\x00" + text(b.Unit)
}

// collect makes the entries of a write from the plan and counts for the receipt.
func (w *writer) collect() error {
	w.byRef, w.byID = map[bench.Ref]*entry{}, map[int64]*entry{}
	for _, ref := range w.plan.New {
		run := &w.b.Runs[ref.Run]
		r := run.Results[ref.Result] // a copy, whose lists stay the batch's
		r.Values, r.Warnings = slices.Clip(r.Values), slices.Clip(r.Warnings)
		e := &entry{run: w.runs[ref.Run], key: w.plan.Keys[ref], r: r, have: map[string]bool{}}
		e.ordinal = ordinalOf(run, &r, e.key)
		e.r.Histograms, e.r.TimeSeries, e.r.Breakdowns = nil, nil, nil
		if e.r.Role == "" {
			e.r.Role = bench.StepRole(run.Suite, r.Step.Name)
		}
		if e.r.Origin == "" {
			e.r.Origin = bench.OriginMeasured
		}
		e.children(&r)
		if err := w.addSources(e, &r); err != nil {
			return err
		}
		w.byRef[ref] = e
		w.entries = append(w.entries, e)
		w.receipt.Results++
		w.receipt.AlreadyThere += r.Copies
		w.receipt.Values += len(r.Values)
		if e.run.stored != nil && e.run.stored.withdrawn() {
			w.warnWithdrawn(e.run, &r)
		}
	}
	if err := w.loadChildren(); err != nil {
		return err
	}
	for i := range w.plan.Additions {
		a := &w.plan.Additions[i]
		r := &w.b.Runs[a.Ref.Run].Results[a.Ref.Result]
		e := w.byRef[a.Into]
		first := false
		if a.Stored != nil {
			e = w.byID[a.Stored.ResultID]
			first, e.seen = !e.seen, true
		}
		gained := e.merge(a, r)
		if err := w.addSources(e, r); err != nil {
			return err
		}
		w.receipt.AlreadyThere += r.Copies
		w.receipt.Values += len(a.Values)
		switch {
		case first && e.stored.Revived:
			w.receipt.Results++
		default:
			w.receipt.AlreadyThere++
			if gained {
				w.receipt.Merged++
			}
		}
		if first && e.stored.Withdrawn && !e.stored.Revived {
			w.warnWithdrawn(nil, r)
		}
	}
	return nil
}

func (w *writer) warnWithdrawn(t *runTarget, r *bench.Result) {
	m := bench.Message{Text: fmt.Sprintf("%s %s belongs to a run that was withdrawn; it is kept and does not count", r.Step.Name, r.PrimaryText)}
	if t != nil {
		m.Text = fmt.Sprintf("%s %s belongs to run %d, which was withdrawn; it is kept and does not count", r.Step.Name, r.PrimaryText, t.id)
	}
	if len(r.Sources) > 0 {
		m.File, m.Line = r.Sources[0].File, r.Sources[0].Line
	}
	w.receipt.Warnings = append(w.receipt.Warnings, m)
}

// ordinalOf finds the ordinal that a key was made with.
func ordinalOf(run *bench.Run, r *bench.Result, key bench.Key) int {
	for n := 0; ; n++ {
		if bench.MeasurementKey(run, r, n) == key {
			return n
		}
	}
}

func (w *writer) addSources(e *entry, r *bench.Result) error {
	for _, src := range r.Sources {
		file, ok := w.fileIDs[src.File]
		if !ok {
			return fmt.Errorf("result from %q, which is no file of the batch", src.File)
		}
		at := fileLine{file, src.Line}
		if !slices.Contains(e.sources, at) {
			e.sources = append(e.sources, at)
		}
	}
	return nil
}

// loadChildren makes the entries of stored results, with the names of the
// distributions and series that those have.
func (w *writer) loadChildren() error {
	var ids []int64
	for i := range w.plan.Additions {
		a := &w.plan.Additions[i]
		if a.Stored == nil {
			continue
		}
		id := a.Stored.ResultID
		if w.byID[id] == nil {
			e := &entry{id: id, stored: w.stored[id], have: map[string]bool{}}
			e.r.Values = slices.Clip(a.Stored.Values)
			w.byID[id] = e
			w.entries = append(w.entries, e)
		}
		r := &w.b.Runs[a.Ref.Run].Results[a.Ref.Result]
		if len(r.Histograms)+len(r.TimeSeries)+len(r.Breakdowns) > 0 && !w.stored[id].Revived {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT result_id, 'h', operation, '', '' FROM histogram WHERE result_id = ANY ($1)
		UNION ALL
		SELECT result_id, 't', name, '', '' FROM time_series WHERE result_id = ANY ($1)
		UNION ALL
		SELECT result_id, 'b', key, bucket, unit FROM breakdown WHERE result_id = ANY ($1)`, ids)
	var id int64
	var kind, name, bucket, unit string
	_, err := pgx.ForEachRow(rows, []any{&id, &kind, &name, &bucket, &unit}, func() error {
		full := kind + "\x00" + name
		if kind == "b" {
			full += "\x00" + bucket + "\x00" + unit
		}
		w.byID[id].have[full] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("distributions of stored results: %w", err)
	}
	return nil
}

// children takes over the distributions, series and breakdowns of r that are
// not there yet.
func (e *entry) children(r *bench.Result) (gained bool) {
	fresh := func(name string) bool {
		if e.have[name] {
			return false
		}
		e.have[name], gained = true, true
		return true
	}
	for i := range r.Histograms {
		if fresh(histogramName(&r.Histograms[i])) {
			e.r.Histograms = append(e.r.Histograms, r.Histograms[i])
		}
	}
	for i := range r.TimeSeries {
		if fresh(timeSeriesName(&r.TimeSeries[i])) {
			e.r.TimeSeries = append(e.r.TimeSeries, r.TimeSeries[i])
		}
	}
	for i := range r.Breakdowns {
		if fresh(breakdownName(&r.Breakdowns[i])) {
			e.r.Breakdowns = append(e.r.Breakdowns, r.Breakdowns[i])
		}
	}
	return gained
}

// merge adds what a further source knows, and reports whether that were figures.
func (e *entry) merge(a *bench.Addition, r *bench.Result) (gained bool) {
	if len(a.Values) > 0 {
		e.r.Values = append(e.r.Values, a.Values...)
		gained, e.changed, e.figures = true, true, true
	}
	gained = e.children(r) || gained
	if len(a.Warnings)+len(r.Warnings) > 0 {
		e.r.Warnings = append(append(e.r.Warnings, a.Warnings...), r.Warnings...)
		e.changed = true
	}
	s := e.stored
	if r.Excluded != "" && e.r.Excluded == "" && (s == nil || !s.Excluded || s.Revived) {
		e.r.Excluded = r.Excluded
		e.changed, e.figures = true, true
	}
	if r.Command != "" && e.r.Command == "" && (s == nil || !s.HasCommand) {
		e.r.Command, e.changed = r.Command, true
	}
	if r.Step.Threads > 0 && e.r.Step.Threads == 0 && (s == nil || s.Threads == nil) {
		e.r.Step.Threads, e.changed = r.Step.Threads, true
	}
	if r.Step.ValueBytes > 0 && e.r.Step.ValueBytes == 0 && (s == nil || s.ValueBytes == nil) {
		e.r.Step.ValueBytes, e.changed = r.Step.ValueBytes, true
	}
	if r.Step.Sync != nil && e.r.Step.Sync == nil && (s == nil || s.Sync == nil) {
		e.r.Step.Sync, e.changed = r.Step.Sync, true
	}
	if r.Step.WAL != nil && e.r.Step.WAL == nil && (s == nil || s.WAL == nil) {
		e.r.Step.WAL, e.changed = r.Step.WAL, true
	}
	if _, zoned := r.Started.Offset(); zoned && (s == nil || !s.Zoned) {
		if _, known := e.r.Started.Offset(); !known {
			e.r.Started, e.changed, e.figures = r.Started, true, true
		}
	}
	return gained
}

// storeResults writes the entries.
func (w *writer) storeResults() error {
	sets := map[string][]bench.Value{}
	var fresh []*entry
	var places []place
	for _, e := range w.entries {
		if e.stored == nil {
			fresh = append(fresh, e)
			places = append(places, e.run.row.place(e.r.Step.Name))
		}
		if e.stored == nil || e.figures || e.stored.Revived {
			sort.SliceStable(e.r.Values, func(i, j int) bool {
				return bench.CompareMetrics(e.r.Values[i].Metric, e.r.Values[j].Metric) < 0
			})
			for i := range e.r.Values {
				e.r.Values[i].SourceName = text(e.r.Values[i].SourceName)
			}
			e.set = setOf(e.r.Values)
			sets[e.set] = e.r.Values
		}
	}
	setIDs, err := w.s.ensureSets(w.ctx, w.tx, sets)
	if err != nil {
		return err
	}
	coordinates, err := ensureCoordinates(w.ctx, w.tx, places)
	if err != nil {
		return err
	}
	ids, err := nextIDs(w.ctx, w.tx, "result", len(fresh))
	if err != nil {
		return err
	}
	rows := make([][]any, len(fresh))
	for i, e := range fresh {
		e.id = ids[i]
		coordinate := coordinates[e.run.row.place(e.r.Step.Name)]
		w.touched[coordinate] = true
		started, offset := splitTime(e.r.Started)
		warnings, err := messagesJSON(e.r.Warnings)
		if err != nil {
			return err
		}
		rows[i] = []any{e.id, e.run.id, coordinate, setIDs[e.set], e.key[:], e.ordinal,
			positive(e.r.Step.Threads), positive(e.r.Step.ValueBytes), e.r.Step.Sync, e.r.Step.WAL,
			string(e.r.Role), string(e.r.State), text(e.r.Reason), string(e.r.Origin), started, offset,
			e.r.Primary, text(e.r.PrimaryText), text(e.r.Text), text(e.r.Excluded), text(e.r.Command),
			numbers(e.r.Values), warnings, e.run.row.withdrawn()}
	}
	if err := copyRows(w.ctx, w.tx, "result", []string{"id", "run_id", "coordinate_id", "metric_set_id", "key", "ordinal",
		"threads", "value_bytes", "sync", "wal", "role", "state", "reason", "origin", "started", "utc_offset",
		"primary_metric", "primary_text", "source_text", "excluded", "command", "values", "warnings", "withdrawn"}, rows); err != nil {
		return err
	}
	if err := w.revive(); err != nil {
		return err
	}
	if err := w.updateStored(setIDs); err != nil {
		return err
	}
	if err := w.updateStarts(); err != nil {
		return err
	}
	if err := w.copyChildren(); err != nil {
		return err
	}
	return w.countResults()
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

func numbers(values []bench.Value) []float64 {
	n := make([]float64, len(values))
	for i, v := range values {
		n[i] = v.Number
	}
	return n
}

// revive makes measurements count again that were withdrawn with their uploads,
// and the runs they belong to.
func (w *writer) revive() error {
	var ids []int64
	runs := map[int64]bool{}
	for _, e := range w.entries {
		if e.stored != nil && e.stored.Revived {
			ids = append(ids, e.id)
			runs[e.stored.RunID] = true
			w.touched[e.stored.CoordinateID] = true
		}
	}
	for t := range w.givesNew() {
		if t != nil && t.stored != nil && t.stored.WithdrawnWith != nil {
			runs[t.id] = true
		}
	}
	if len(runs) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM histogram WHERE result_id = ANY ($1)`, ids)
	batch.Queue(`DELETE FROM time_series WHERE result_id = ANY ($1)`, ids)
	batch.Queue(`DELETE FROM breakdown WHERE result_id = ANY ($1)`, ids)
	batch.Queue(`UPDATE result SET withdrawn = false, excluded = '', warnings = '[]' WHERE id = ANY ($1)`, ids)
	batch.Queue(`
		WITH revived AS (
			UPDATE run SET state = 'active', reason = NULL, withdrawn_with = NULL
			WHERE id = ANY ($1) AND withdrawn_with IS NOT NULL
			RETURNING id)
		INSERT INTO run_history (run_id, actor, action, reason, before, after)
		SELECT id, $2, 'restored', 'uploaded again as upload ' || $3::bigint, '{"state": "withdrawn"}', '{"state": "active"}' FROM revived`,
		slices.Sorted(maps.Keys(runs)), text(w.u.Actor), w.receipt.UploadID)
	return exec(w.ctx, w.tx, "revive results", batch)
}

// updateStored writes what stored results gained.
func (w *writer) updateStored(setIDs map[string]int32) error {
	batch := &pgx.Batch{}
	for _, e := range w.entries {
		if e.stored == nil {
			continue
		}
		if e.figures || e.stored.Revived {
			w.touched[e.stored.CoordinateID] = true
			batch.Queue(`UPDATE result SET metric_set_id = $2, values = $3 WHERE id = $1`,
				e.id, setIDs[e.set], numbers(e.r.Values))
		}
		if !e.changed {
			continue
		}
		warnings, err := messagesJSON(e.r.Warnings)
		if err != nil {
			return err
		}
		_, offset := splitTime(e.r.Started)
		batch.Queue(`
			UPDATE result SET warnings = warnings || $2::jsonb,
				excluded = CASE excluded WHEN '' THEN $3 ELSE excluded END,
				command = CASE command WHEN '' THEN $4 ELSE command END,
				threads = COALESCE(threads, $5), value_bytes = COALESCE(value_bytes, $6),
				sync = COALESCE(sync, $7), wal = COALESCE(wal, $8),
				utc_offset = COALESCE(utc_offset, CASE WHEN started IS NOT NULL THEN $9::int END)
			WHERE id = $1`,
			e.id, warnings, text(e.r.Excluded), text(e.r.Command), positive(e.r.Step.Threads), positive(e.r.Step.ValueBytes),
			e.r.Step.Sync, e.r.Step.WAL, offset)
	}
	return exec(w.ctx, w.tx, "update results", batch)
}

// updateStarts finds the first start of runs that gained results.
func (w *writer) updateStarts() error {
	var ids []int64
	for _, t := range w.runs {
		if t != nil && t.stored != nil {
			ids = append(ids, t.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := w.tx.Exec(w.ctx, `
		UPDATE run SET started = f.started, utc_offset = f.utc_offset
		FROM (
			SELECT DISTINCT ON (run_id) run_id, started, utc_offset
			FROM result
			WHERE run_id = ANY ($1) AND started IS NOT NULL
			ORDER BY run_id, started - make_interval(secs => COALESCE(utc_offset, 0))) f
		WHERE run.id = f.run_id AND (run.started, run.utc_offset) IS DISTINCT FROM (f.started, f.utc_offset)`, ids)
	if err != nil {
		return fmt.Errorf("update starts of runs: %w", err)
	}
	return nil
}

// copyChildren stores sources, distributions, time series and breakdowns.
func (w *writer) copyChildren() error {
	var sources, histograms, series, breakdowns [][]any
	for _, e := range w.entries {
		for _, s := range e.sources {
			sources = append(sources, []any{e.id, s.file, s.line})
		}
		for i := range e.r.Histograms {
			h := &e.r.Histograms[i]
			bounds := h.Bounds
			if bounds == nil {
				bounds = []float64{}
			}
			histograms = append(histograms, []any{e.id, text(h.Operation), text(h.Unit), bounds, h.Counts, h.Percents,
				finite(h.Count), finite(h.Min), finite(h.Max), finite(h.Average), finite(h.StdDev)})
		}
		for i := range e.r.TimeSeries {
			t := &e.r.TimeSeries[i]
			series = append(series, []any{e.id, text(t.Name), text(t.Unit), t.StartS, t.StepS, gaps(t.Values)})
		}
		for i := range e.r.Breakdowns {
			b := &e.r.Breakdowns[i]
			breakdowns = append(breakdowns, []any{e.id, text(b.Key), text(b.Bucket), b.Samples, text(b.Unit), b.Value})
		}
	}
	for _, t := range []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"result_source", []string{"result_id", "upload_file_id", "line"}, sources},
		{"histogram", []string{"result_id", "operation", "unit", "bounds", "counts", "percents", "count", "min", "max", "average", "stddev"}, histograms},
		{"time_series", []string{"result_id", "name", "unit", "start_s", "step_s", "values"}, series},
		{"breakdown", []string{"result_id", "key", "bucket", "samples", "unit", "value"}, breakdowns},
	} {
		if err := copyRows(w.ctx, w.tx, t.table, t.columns, t.rows); err != nil {
			return err
		}
	}
	return nil
}

// countResults writes down how many results and runs the upload speaks of.
func (w *writer) countResults() error {
	results, runs := 0, map[int64]bool{}
	for _, e := range w.entries {
		if len(e.sources) == 0 {
			continue
		}
		results++
		if e.stored != nil {
			runs[e.stored.RunID] = true
		} else {
			runs[e.run.id] = true
		}
	}
	if w.earlier != nil {
		// Files of the first time may speak of the same results.
		_, err := w.tx.Exec(w.ctx, `
			UPDATE upload SET (result_count, run_count) = (
				SELECT count(DISTINCT r.id), count(DISTINCT r.run_id)
				FROM upload_file f
				JOIN result_source s ON s.upload_file_id = f.id
				JOIN result r ON r.id = s.result_id
				WHERE f.upload_id = upload.id)
			WHERE id = $1`, w.receipt.UploadID)
		if err != nil {
			return fmt.Errorf("count results: %w", err)
		}
		return nil
	}
	_, err := w.tx.Exec(w.ctx, `UPDATE upload SET result_count = $2, run_count = $3 WHERE id = $1`, w.receipt.UploadID, results, len(runs))
	if err != nil {
		return fmt.Errorf("count results: %w", err)
	}
	return nil
}

// finite turns what was not measured into what is not there.
func finite(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}

// gaps gives the values of a time series with its missing intervals as NULL.
func gaps(values []float64) []*float64 {
	out := make([]*float64, len(values))
	for i := range values {
		out[i] = finite(&values[i])
	}
	return out
}
