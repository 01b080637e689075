package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// Sizes of pages of lists.
const (
	pageDefault = 100
	pageMax     = 1000
)

// pageSize gives the number of rows of a page.
func pageSize(limit int) int {
	if limit <= 0 {
		return pageDefault
	}
	return min(limit, pageMax)
}

// runCursor is a place in the list of runs: seconds of the start (the least
// number for undated runs) and id.
func runCursor(r *bench.RunSummary) string {
	second := int64(math.MinInt64)
	if !r.Started.IsZero() {
		second = r.Started.Wall().Unix()
	}
	return fmt.Sprintf("%d.%d", second, r.ID)
}

// parseRunCursor is the inverse of [runCursor]. The time is nil for undated runs.
func parseRunCursor(cursor string) (*time.Time, int64, error) {
	a, b, found := strings.Cut(cursor, ".")
	second, errA := strconv.ParseInt(a, 10, 64)
	id, errB := strconv.ParseInt(b, 10, 64)
	if !found || errA != nil || errB != nil {
		return nil, 0, bench.Errorf(bench.KindInvalid, "%q is no place in the list of runs", cursor)
	}
	if second == math.MinInt64 {
		return nil, id, nil
	}
	t := time.Unix(second, 0).UTC()
	return &t, id, nil
}

// summaryColumns are what scanSummary reads, of run r, server s, build b, version v.
const summaryColumns = `
	r.id, r.key, r.system, r.suite, s.slug, r.workload, r.config, r.clients,
	v.name, b.compiler, b.compiler_version, b.flags, b.git_hash, b.binary_sha256, b.command,
	r.assumed, r.started, r.utc_offset, COALESCE(r.campaign, 0), r.created, r.state, COALESCE(r.reason, ''),
	n.ok, n.failed, n.not_run, n.warned`

const summaryCounts = `
	CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE state = 'ok') AS ok, count(*) FILTER (WHERE state = 'failed') AS failed,
			count(*) FILTER (WHERE state = 'not_run') AS not_run, count(*) FILTER (WHERE warnings <> '[]') AS warned
		FROM result WHERE run_id = r.id) n`

func scanSummary(row pgx.CollectableRow) (bench.RunSummary, error) {
	var r bench.RunSummary
	var started *time.Time
	var offset *int
	err := row.Scan(&r.ID, &r.Key, &r.System, &r.Suite, &r.Server, &r.Workload, &r.Config, &r.Clients,
		&r.Build.Version, &r.Build.Compiler, &r.Build.CompilerVersion, &r.Build.Flags, &r.Build.GitHash, &r.Build.BinarySHA256, &r.Build.Command,
		&r.Assumed, &started, &offset, &r.Campaign, &r.Created, &r.State, &r.Reason,
		&r.OK, &r.Failed, &r.NotRun, &r.Warned)
	r.Started = joinTime(started, offset)
	return r, err
}

// Runs lists runs, the newest start (as printed) first, undated ones last.
func (s *Store) Runs(ctx context.Context, f bench.RunFilter) (bench.RunPage, error) {
	var before *time.Time
	var beforeID int64
	if f.Cursor != "" {
		var err error
		if before, beforeID, err = parseRunCursor(f.Cursor); err != nil {
			return bench.RunPage{}, err
		}
	}
	size := pageSize(f.Limit)
	rows, _ := s.pool.Query(ctx, `
		SELECT `+summaryColumns+`
		FROM (
			SELECT r.*
			FROM run r
			JOIN server s ON s.id = r.server_id
			JOIN build b ON b.id = r.build_id
			JOIN version v ON v.id = b.version_id
			WHERE ($1 = '' OR r.system = $1) AND ($2 = '' OR r.suite = $2)
				AND ($3::text[] IS NULL OR s.slug = ANY ($3)) AND ($4::text[] IS NULL OR r.workload = ANY ($4))
				AND ($5::text[] IS NULL OR b.compiler = ANY ($5)) AND ($6::text[] IS NULL OR r.config = ANY ($6))
				AND ($7::text[] IS NULL OR v.name = ANY ($7)) AND ($8::int[] IS NULL OR r.clients = ANY ($8))
				AND ($9::bigint = 0 OR r.id IN (
					SELECT x.run_id
					FROM upload_file f
					JOIN result_source rs ON rs.upload_file_id = f.id
					JOIN result x ON x.id = rs.result_id
					WHERE f.upload_id = $9))
				AND CASE $10 WHEN '' THEN true WHEN 'withdrawn' THEN r.state = 'withdrawn'
					ELSE r.state = 'active' AND ($10 = 'failed') = (SELECT COALESCE(bool_or(x.state = 'failed') AND NOT bool_or(x.state = 'ok'), false)
						FROM result x WHERE x.run_id = r.id) END
				AND ($14::bigint[] IS NULL OR r.id = ANY ($14))
				AND ($11::bigint = 0 OR (COALESCE(r.started, '-infinity'), r.id) < (COALESCE($12::timestamp, '-infinity'), $11))
			ORDER BY COALESCE(r.started, '-infinity'::timestamp) DESC, r.id DESC
			LIMIT $13::int + 1) r
		JOIN server s ON s.id = r.server_id
		JOIN build b ON b.id = r.build_id
		JOIN version v ON v.id = b.version_id
		`+summaryCounts+`
		ORDER BY COALESCE(r.started, '-infinity'::timestamp) DESC, r.id DESC`,
		f.System, f.Suite, list(f.Servers), list(f.Workloads), list(f.Compilers), list(f.Configs), list(f.Versions), list(f.Clients),
		f.UploadID, string(f.State), beforeID, before, size, list(f.IDs))
	runs, err := pgx.CollectRows(rows, scanSummary)
	if err != nil {
		return bench.RunPage{}, translate("runs", err)
	}
	page := bench.RunPage{Runs: runs}
	if len(runs) > size {
		page.Runs = runs[:size]
		page.Next = runCursor(&page.Runs[size-1])
	}
	return page, nil
}

// Run gives a run with all that belongs to it; an error of kind not found when
// there is none.
func (s *Store) Run(ctx context.Context, id int64) (bench.RunDetail, error) {
	var d bench.RunDetail
	err := s.view(ctx, "run", func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `
			SELECT `+summaryColumns+`
			FROM run r
			JOIN server s ON s.id = r.server_id
			JOIN build b ON b.id = r.build_id
			JOIN version v ON v.id = b.version_id
			`+summaryCounts+`
			WHERE r.id = $1`, id)
		var err error
		d.RunSummary, err = pgx.CollectExactlyOneRow(rows, scanSummary)
		if errors.Is(err, pgx.ErrNoRows) {
			return bench.Errorf(bench.KindNotFound, "there is no run %d", id)
		} else if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT environment, options FROM run WHERE id = $1`, id).Scan(&d.Environment, &d.Options); err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		if d.Results, err = s.storedResults(ctx, tx, id); err != nil {
			return err
		}
		if d.Uploads, err = uploadInfos(ctx, tx, id); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `SELECT at, actor, action, reason, before, after FROM run_history WHERE run_id = $1 ORDER BY id`, id)
		if d.History, err = pgx.CollectRows(rows, pgx.RowToStructByPos[bench.RunChange]); err != nil {
			return fmt.Errorf("history: %w", err)
		}
		return nil
	})
	if err != nil {
		return bench.RunDetail{}, err
	}
	return d, nil
}

// storedResults reads the results of a run with all their figures.
func (s *Store) storedResults(ctx context.Context, tx pgx.Tx, run int64) ([]bench.StoredResult, error) {
	rows, _ := tx.Query(ctx, `
		SELECT r.id, r.key, c.step, COALESCE(r.threads, 0), COALESCE(r.value_bytes, 0), r.sync, r.wal, r.role, r.state, r.reason, r.origin,
			r.started, r.utc_offset, r.primary_metric, r.primary_text, r.source_text, r.excluded, r.command,
			r.metric_set_id, r.values, r.warnings, r.withdrawn, r.superseded
		FROM result r
		JOIN coordinate c ON c.id = r.coordinate_id
		WHERE r.run_id = $1
		ORDER BY r.id`, run)
	var sets []int32
	var figures [][]*float64
	results, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.StoredResult, error) {
		var r bench.StoredResult
		var key []byte
		var started *time.Time
		var offset *int
		var set int32
		var numbers []*float64
		err := row.Scan(&r.ID, &key, &r.Step.Name, &r.Step.Threads, &r.Step.ValueBytes, &r.Step.Sync, &r.Step.WAL, &r.Role, &r.State, &r.Reason, &r.Origin,
			&started, &offset, &r.Primary, &r.PrimaryText, &r.Text, &r.Excluded, &r.Command, &set, &numbers, &r.Warnings, &r.Withdrawn, &r.Superseded)
		copy(r.Key[:], key)
		r.Started = joinTime(started, offset)
		sets, figures = append(sets, set), append(figures, numbers)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	defs, err := s.setsByID(ctx, tx, sets)
	if err != nil {
		return nil, err
	}
	by := make(map[int64]*bench.StoredResult, len(results))
	ids := make([]int64, len(results))
	for i := range results {
		results[i].Values = valuesOf(defs[sets[i]], figures[i])
		by[results[i].ID], ids[i] = &results[i], results[i].ID
	}
	return results, readChildren(ctx, tx, ids, by)
}

// readChildren reads sources, distributions, time series and breakdowns of
// results.
func readChildren(ctx context.Context, tx pgx.Tx, ids []int64, by map[int64]*bench.StoredResult) error {
	var id int64
	rows, _ := tx.Query(ctx, `
		SELECT s.result_id, f.upload_id, f.path, s.line
		FROM result_source s JOIN upload_file f ON f.id = s.upload_file_id
		WHERE s.result_id = ANY ($1)
		ORDER BY s.result_id, f.id, s.line`, ids)
	var src bench.StoredSource
	if _, err := pgx.ForEachRow(rows, []any{&id, &src.UploadID, &src.File, &src.Line}, func() error {
		by[id].From = append(by[id].From, src)
		return nil
	}); err != nil {
		return fmt.Errorf("sources: %w", err)
	}

	rows, _ = tx.Query(ctx, `
		SELECT result_id, operation, unit, bounds, counts, percents, count, min, max, average, stddev
		FROM histogram WHERE result_id = ANY ($1) ORDER BY id`, ids)
	for rows.Next() {
		var h bench.Histogram // fresh each time: its slices are kept
		if err := rows.Scan(&id, &h.Operation, &h.Unit, &h.Bounds, &h.Counts, &h.Percents, &h.Count, &h.Min, &h.Max, &h.Average, &h.StdDev); err != nil {
			return fmt.Errorf("histograms: %w", err)
		}
		by[id].Histograms = append(by[id].Histograms, h)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("histograms: %w", err)
	}

	rows, _ = tx.Query(ctx, `
		SELECT result_id, name, unit, start_s, step_s, values
		FROM time_series WHERE result_id = ANY ($1) ORDER BY id`, ids)
	for rows.Next() {
		var t bench.TimeSeries
		var values []*float64
		if err := rows.Scan(&id, &t.Name, &t.Unit, &t.StartS, &t.StepS, &values); err != nil {
			return fmt.Errorf("time series: %w", err)
		}
		t.Values = make([]float64, len(values))
		for i, v := range values {
			t.Values[i] = math.NaN()
			if v != nil {
				t.Values[i] = *v
			}
		}
		by[id].TimeSeries = append(by[id].TimeSeries, t)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("time series: %w", err)
	}

	rows, _ = tx.Query(ctx, `
		SELECT result_id, key, bucket, samples, unit, value FROM breakdown WHERE result_id = ANY ($1) ORDER BY id`, ids)
	var b bench.Breakdown
	if _, err := pgx.ForEachRow(rows, []any{&id, &b.Key, &b.Bucket, &b.Samples, &b.Unit, &b.Value}, func() error {
		by[id].Breakdowns = append(by[id].Breakdowns, b)
		return nil
	}); err != nil {
		return fmt.Errorf("breakdowns: %w", err)
	}
	return nil
}
