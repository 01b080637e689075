package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relqps/relqps/internal/bench"
)

// settle makes what follows from results agree with them, at the end of every
// write: which figures of matrices count, campaigns, the packed points of the
// touched coordinates, and what detect makes of them.
func (s *Store) settle(ctx context.Context, tx pgx.Tx, servers []int32, touched map[int64]bool, detect bench.DetectFunc) error {
	if err := yieldMatrices(ctx, tx, servers, touched); err != nil {
		return err
	}
	slices.Sort(servers)
	for _, id := range servers {
		again, err := numberCampaigns(ctx, tx, id)
		if err != nil {
			return err
		}
		if again && detect != nil {
			if err := touchChanged(ctx, tx, id, touched); err != nil {
				return err
			}
		}
	}
	if len(touched) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(touched))
	packed, err := s.pack(ctx, tx, ids)
	if err != nil {
		return err
	}
	if detect == nil {
		return nil
	}
	return s.callDetect(ctx, tx, ids, packed, detect)
}

// touchChanged adds the coordinates of a server that have changes: where campaigns
// begin has moved, and with it which changes fall between two.
func touchChanged(ctx context.Context, tx pgx.Tx, server int32, touched map[int64]bool) error {
	rows, _ := tx.Query(ctx, `
		SELECT DISTINCT x.coordinate_id
		FROM change k JOIN series x ON x.id = k.series_id JOIN coordinate c ON c.id = x.coordinate_id
		WHERE c.server_id = $1 AND k.dissolved IS NULL`, server)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("changes of a server: %w", err)
	}
	for _, id := range ids {
		touched[id] = true
	}
	return nil
}

// numberCampaigns gives the runs of a server their campaigns, see
// [bench.Campaigns]. It tells whether one that had a campaign got another.
func numberCampaigns(ctx context.Context, tx pgx.Tx, server int32) (again bool, err error) {
	rows, _ := tx.Query(ctx, `
		SELECT id, started, utc_offset, campaign FROM run WHERE server_id = $1 AND state = 'active' AND started IS NOT NULL`, server)
	var ids []int64
	var starts []bench.LocalTime
	var had []*int
	var id int64
	var started *time.Time
	var offset, campaign *int
	_, err = pgx.ForEachRow(rows, []any{&id, &started, &offset, &campaign}, func() error {
		ids, starts, had = append(ids, id), append(starts, joinTime(started, offset)), append(had, campaign)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("starts of runs: %w", err)
	}
	var changed []int64
	var to []int32
	for i, n := range bench.Campaigns(starts) {
		if had[i] == nil || *had[i] != n {
			changed, to = append(changed, ids[i]), append(to, int32(n))
			again = again || had[i] != nil
		}
	}
	if len(changed) == 0 {
		return false, nil
	}
	_, err = tx.Exec(ctx, `
		UPDATE run SET campaign = c.campaign
		FROM unnest($1::bigint[], $2::int[]) AS c (id, campaign)
		WHERE run.id = c.id`, changed, to)
	if err != nil {
		return false, fmt.Errorf("number campaigns: %w", err)
	}
	return again, nil
}

// sampleRow is a result that counts, as it is packed.
type sampleRow struct {
	coordinate int64
	id, run    int64
	version    string
	sortKey    string
	gitHash    *string
	started    *time.Time
	offset     *int
	excluded   bool
	instant    time.Time // of the start, zero when undated
	set        int32
	numbers    numberList
}

// numberList is an array of figures that may be missing. Its type keeps pgx
// from reflection, which took a third of the time of packing.
type numberList = pgtype.FlatArray[pgtype.Float8]

// packedSeries is a series as it is stored.
type packedSeries struct {
	id          int64
	coordinate  int64
	metric      string
	values      numberList
	resolutions numberList // as values, or one for all
	count       int
	fresh       bool
}

// resolution gives the resolution of the i-th value.
func (x *packedSeries) resolution(i int) float64 { return resolutionAt(x.resolutions, i) }

func resolutionAt(resolutions numberList, i int) float64 {
	if len(resolutions) == 1 {
		i = 0
	}
	return resolutions[i].Float64
}

// shorten leaves one resolution where all values have the same.
func (x *packedSeries) shorten() {
	var first pgtype.Float8
	for _, r := range x.resolutions {
		switch {
		case !r.Valid:
		case !first.Valid:
			first = r
		case r != first:
			return
		}
	}
	if first.Valid {
		x.resolutions = numberList{first}
	}
}

// packedCoordinate is what the series of a coordinate share.
type packedCoordinate struct {
	bench.Coordinate
	rows []sampleRow
}

type packed struct {
	coordinates map[int64]*packedCoordinate
	series      []*packedSeries
}

// pack locks coordinates in the order of their ids and rewrites their points
// and those of their series.
func (s *Store) pack(ctx context.Context, tx pgx.Tx, ids []int64) (*packed, error) {
	p := &packed{coordinates: map[int64]*packedCoordinate{}}
	rows, _ := tx.Query(ctx, `
		SELECT c.id, c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients
		FROM coordinate c JOIN server s ON s.id = c.server_id
		WHERE c.id = ANY ($1) ORDER BY c.id FOR UPDATE OF c`, ids)
	var id int64
	var c bench.Coordinate
	_, err := pgx.ForEachRow(rows, []any{&id, &c.System, &c.Suite, &c.Server, &c.Workload, &c.Step, &c.Compiler, &c.Config, &c.Clients}, func() error {
		p.coordinates[id] = &packedCoordinate{Coordinate: c}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lock coordinates: %w", err)
	}
	if err := p.read(ctx, tx, ids); err != nil {
		return nil, err
	}
	metrics, err := s.packSeries(ctx, tx, p, ids)
	if err != nil {
		return nil, err
	}
	return p, p.store(ctx, tx, ids, metrics)
}

// read loads the results that count, in the order of points.
func (p *packed) read(ctx context.Context, tx pgx.Tx, ids []int64) error {
	rows, _ := tx.Query(ctx, `
		SELECT r.coordinate_id, r.id, r.run_id, v.name, v.sort_key, NULLIF(b.git_hash, ''), r.started, r.utc_offset,
			r.excluded <> '', r.metric_set_id, r.values
		FROM result r
		JOIN run u ON u.id = r.run_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id
		WHERE r.coordinate_id = ANY ($1) AND r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded`, ids)
	for rows.Next() {
		var r sampleRow
		if err := rows.Scan(&r.coordinate, &r.id, &r.run, &r.version, &r.sortKey, &r.gitHash, &r.started, &r.offset,
			&r.excluded, &r.set, &r.numbers); err != nil {
			return fmt.Errorf("samples: %w", err)
		}
		if r.started != nil {
			r.instant = joinTime(r.started, r.offset).Instant()
		}
		c := p.coordinates[r.coordinate]
		c.rows = append(c.rows, r)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("samples: %w", err)
	}
	for _, c := range p.coordinates {
		slices.SortFunc(c.rows, compareSamples)
		// Two spellings of one release are one point.
		for i := 1; i < len(c.rows); i++ {
			if c.rows[i].sortKey == c.rows[i-1].sortKey {
				c.rows[i].version = c.rows[i-1].version
			}
		}
	}
	return nil
}

// compareSamples orders samples by version, then start (undated last), then as
// they were stored.
func compareSamples(a, b sampleRow) int {
	switch {
	case a.sortKey != b.sortKey:
		if a.sortKey < b.sortKey {
			return -1
		}
		return 1
	case (a.started == nil) != (b.started == nil):
		if a.started != nil {
			return -1
		}
		return 1
	}
	if d := a.instant.Compare(b.instant); d != 0 {
		return d
	}
	return int(a.id - b.id)
}

// packSeries lays the values out by metric and finds the ids of the series;
// those without values any more stay, empty. It returns the metrics' ids.
func (s *Store) packSeries(ctx context.Context, tx pgx.Tx, p *packed, ids []int64) (map[string]int32, error) {
	var setIDs []int32
	for _, c := range p.coordinates {
		for _, r := range c.rows {
			if !slices.Contains(setIDs, r.set) {
				setIDs = append(setIDs, r.set)
			}
		}
	}
	sets, err := s.setsByID(ctx, tx, setIDs)
	if err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `
		SELECT s.id, s.coordinate_id, m.name FROM series s JOIN metric m ON m.id = s.metric_id WHERE s.coordinate_id = ANY ($1)`, ids)
	type key struct {
		coordinate int64
		metric     string
	}
	by := map[key]*packedSeries{}
	var id, coordinate int64
	var metric string
	_, err = pgx.ForEachRow(rows, []any{&id, &coordinate, &metric}, func() error {
		x := &packedSeries{id: id, coordinate: coordinate, metric: metric}
		by[key{coordinate, metric}] = x
		p.series = append(p.series, x)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("series: %w", err)
	}
	names := map[string]bool{}
	for _, id := range ids {
		c := p.coordinates[id]
		if c == nil {
			return nil, fmt.Errorf("coordinate %d is not there", id)
		}
		find := func(metric string) *packedSeries {
			x := by[key{id, metric}]
			if x == nil {
				x = &packedSeries{coordinate: id, metric: metric, fresh: true}
				by[key{id, metric}] = x
				p.series = append(p.series, x)
				names[metric] = true
			}
			return x
		}
		columns := map[int32][]*packedSeries{} // the series of a set's metrics; nil where no value was yet
		for i := range c.rows {
			r := &c.rows[i]
			set := sets[r.set]
			column := columns[r.set]
			if column == nil {
				column = make([]*packedSeries, len(set))
				columns[r.set] = column
			}
			for k, v := range set {
				if k >= len(r.numbers) || !r.numbers[k].Valid {
					continue
				}
				x := column[k]
				if x == nil {
					x = find(v.Metric)
					column[k] = x
				}
				if x.values == nil {
					x.values, x.resolutions = make(numberList, len(c.rows)), make(numberList, len(c.rows))
				}
				x.values[i], x.resolutions[i] = r.numbers[k], pgtype.Float8{Float64: v.Resolution, Valid: true}
				x.count++
			}
		}
	}
	for _, x := range p.series {
		if x.values == nil {
			x.values, x.resolutions = numberList{}, numberList{}
		}
		x.shorten()
	}
	return ensureMetrics(ctx, tx, slices.Collect(maps.Keys(names)))
}

// store writes the packed rows.
func (p *packed) store(ctx context.Context, tx pgx.Tx, ids []int64, metrics map[string]int32) error {
	var fresh []*packedSeries
	for _, x := range p.series {
		if x.fresh {
			fresh = append(fresh, x)
		}
	}
	taken, err := nextIDs(ctx, tx, "series", len(fresh))
	if err != nil {
		return err
	}
	copied := make([][]any, len(fresh))
	for i, x := range fresh {
		x.id = taken[i]
		copied[i] = []any{x.id, x.coordinate, metrics[x.metric], x.count, x.values, x.resolutions}
	}
	if err := copyRows(ctx, tx, "series", []string{"id", "coordinate_id", "metric_id", "value_count", "values", "resolutions"}, copied); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, id := range ids {
		rows := p.coordinates[id].rows
		n := len(rows)
		versions, hashes := make([]string, n), make([]*string, n)
		results, runs := make([]int64, n), make([]int64, n)
		started, offsets, excluded := make([]*time.Time, n), make([]*int, n), make([]bool, n)
		for i := range rows {
			r := &rows[i]
			versions[i], hashes[i], results[i], runs[i] = r.version, r.gitHash, r.id, r.run
			started[i], offsets[i], excluded[i] = r.started, r.offset, r.excluded
		}
		batch.Queue(`
			INSERT INTO coordinate_points (coordinate_id, versions, result_ids, run_ids, started, utc_offsets, git_hashes, excluded)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (coordinate_id) DO UPDATE SET versions = EXCLUDED.versions, result_ids = EXCLUDED.result_ids,
				run_ids = EXCLUDED.run_ids, started = EXCLUDED.started, utc_offsets = EXCLUDED.utc_offsets,
				git_hashes = EXCLUDED.git_hashes, excluded = EXCLUDED.excluded`,
			id, versions, results, runs, started, offsets, hashes, excluded)
		batch.Queue(`UPDATE coordinate SET sample_count = $2 WHERE id = $1 AND sample_count <> $2`, id, n)
	}
	for _, x := range p.series {
		if x.fresh {
			continue
		}
		batch.Queue(`UPDATE series SET value_count = $2, values = $3, resolutions = $4 WHERE id = $1`, x.id, x.count, x.values, x.resolutions)
	}
	return exec(ctx, tx, "pack points", batch)
}

// callDetect hands the touched series that decide a step to detect, and keeps
// the changes it finds.
func (s *Store) callDetect(ctx context.Context, tx pgx.Tx, ids []int64, p *packed, detect bench.DetectFunc) error {
	t := bench.Touched{Campaigns: map[int64]int{}}
	var runs []int64
	for _, x := range p.series {
		c := p.coordinates[x.coordinate]
		if x.metric != bench.PrimaryMetric(c.Suite, c.Step) || bench.StepRole(c.Suite, c.Step) != bench.RoleMeasure {
			continue
		}
		metric, _ := bench.LookupMetric(x.metric)
		series := bench.Series{ID: x.id, Coordinate: c.Coordinate, Metric: metric}
		for i := range x.values {
			if !x.values[i].Valid {
				continue
			}
			r := &c.rows[i]
			sample := bench.Sample{Value: x.values[i].Float64, Resolution: x.resolution(i), ResultID: r.id, RunID: r.run,
				Started: joinTime(r.started, r.offset), Excluded: r.excluded}
			if r.gitHash != nil {
				sample.GitHash = *r.gitHash
			}
			series.Points = addSample(series.Points, r.version, sample)
			runs = append(runs, r.run)
		}
		t.Series = append(t.Series, series)
	}
	slices.SortFunc(t.Series, func(a, b bench.Series) int { return int(a.ID - b.ID) })
	slices.Sort(runs)
	runs = slices.Compact(runs)
	rows, _ := tx.Query(ctx, `SELECT id, campaign FROM run WHERE id = ANY ($1) AND campaign IS NOT NULL`, runs)
	var run int64
	var campaign int
	if _, err := pgx.ForEachRow(rows, []any{&run, &campaign}, func() error {
		t.Campaigns[run] = campaign
		return nil
	}); err != nil {
		return fmt.Errorf("campaigns: %w", err)
	}
	found, err := detect(ctx, t)
	if err != nil {
		return fmt.Errorf("detect changes: %w", err)
	}
	return keepChanges(ctx, tx, t, found)
}

// addSample appends a sample to the last point, or to a new one for a new
// version.
func addSample(points []bench.Point, version string, s bench.Sample) []bench.Point {
	if n := len(points); n > 0 && points[n-1].Version == version {
		points[n-1].Samples = append(points[n-1].Samples, s)
		return points
	}
	return append(points, bench.Point{Version: version, Samples: []bench.Sample{s}})
}
