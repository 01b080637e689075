package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/relqps/relqps/internal/bench"
)

// list gives a filter list as a parameter: NULL, which selects all, for an
// empty one.
func list[T any](items []T) []T {
	if len(items) == 0 {
		return nil
	}
	return items
}

// Series gives the series that a filter selects and that have points, ordered
// by system, suite, server, workload, clients, compiler, config and step. More
// than Options.MaxSeries of them is an error of kind invalid that names the
// limit, as is a metric that nobody knows.
func (s *Store) Series(ctx context.Context, f bench.SeriesFilter) ([]bench.Series, error) {
	metric, ok := bench.LookupMetric(f.Metric)
	if !ok {
		return nil, bench.Errorf(bench.KindInvalid, "no metric is named %q", f.Metric)
	}
	rows, err := s.pool.Query(ctx, `
		SELECT x.id, c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients,
			p.versions, p.result_ids, p.run_ids, p.started, p.utc_offsets, p.git_hashes, p.excluded, x.values, x.resolutions
		FROM metric m
		JOIN series x ON x.metric_id = m.id
		JOIN coordinate c ON c.id = x.coordinate_id
		JOIN coordinate_points p ON p.coordinate_id = c.id
		JOIN server s ON s.id = c.server_id
		WHERE m.name = $1 AND x.value_count > 0
			AND ($2 = '' OR c.system = $2) AND ($3 = '' OR c.suite = $3)
			AND ($4::text[] IS NULL OR s.slug = ANY ($4)) AND ($5::text[] IS NULL OR c.workload = ANY ($5))
			AND ($6::text[] IS NULL OR c.step = ANY ($6)) AND ($7::text[] IS NULL OR c.compiler = ANY ($7))
			AND ($8::text[] IS NULL OR c.config = ANY ($8)) AND ($9::int[] IS NULL OR c.clients = ANY ($9))
		LIMIT $10::int + 1`,
		f.Metric, f.System, f.Suite, list(f.Servers), list(f.Workloads), list(f.Steps), list(f.Compilers), list(f.Configs), list(f.Clients),
		s.maxSeries)
	if err != nil {
		return nil, translate("series", err)
	}
	defer rows.Close()
	var all []bench.Series
	var p packedRow
	for rows.Next() {
		x := bench.Series{Metric: metric}
		if err := rows.Scan(&x.ID, &x.System, &x.Suite, &x.Server, &x.Workload, &x.Step, &x.Compiler, &x.Config, &x.Clients,
			&p.versions, &p.results, &p.runs, &p.started, &p.offsets, &p.hashes, &p.excluded, &p.values, &p.resolutions); err != nil {
			return nil, translate("series", err)
		}
		if x.Points, err = p.points(); err != nil {
			return nil, translate("series", fmt.Errorf("series %d: %w", x.ID, err))
		}
		if all = append(all, x); len(all) > s.maxSeries {
			return nil, bench.Errorf(bench.KindInvalid, "more than %d series match, which is the most that one request answers: name servers, workloads or steps", s.maxSeries)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, translate("series", err)
	}
	slices.SortFunc(all, func(a, b bench.Series) int { return compareCoordinates(a.Coordinate, b.Coordinate) })
	return all, nil
}

func compareCoordinates(a, b bench.Coordinate) int {
	for _, d := range []int{
		strings.Compare(a.System, b.System), strings.Compare(a.Suite, b.Suite), strings.Compare(a.Server, b.Server),
		strings.Compare(a.Workload, b.Workload), a.Clients - b.Clients, strings.Compare(a.Compiler, b.Compiler),
		strings.Compare(a.Config, b.Config),
	} {
		if d != 0 {
			return d
		}
	}
	return bench.CompareSteps(a.Step, b.Step)
}

// packedRow is a series with the points of its coordinate, as stored. Its
// slices are used again for the next row.
type packedRow struct {
	versions, hashes    pgtype.FlatArray[pgtype.Text]
	results, runs       pgtype.FlatArray[int64]
	started             pgtype.FlatArray[pgtype.Timestamp]
	offsets             pgtype.FlatArray[pgtype.Int4]
	excluded            pgtype.FlatArray[bool]
	values, resolutions numberList
}

// points unpacks a series.
func (p *packedRow) points() ([]bench.Point, error) {
	n := len(p.versions)
	if len(p.values) != n {
		// Cannot be: both are written under one lock, and read by one statement.
		return nil, fmt.Errorf("%d values for %d samples", len(p.values), n)
	}
	// One backing array for all samples, cut into points.
	samples := make([]bench.Sample, 0, n)
	points := make([]bench.Point, 0, n)
	first := 0
	flush := func(version string) {
		if len(samples) > first {
			points = append(points, bench.Point{Version: version, Samples: samples[first:len(samples):len(samples)]})
			first = len(samples)
		}
	}
	for i := range n {
		if i > 0 && p.versions[i].String != p.versions[i-1].String {
			flush(p.versions[i-1].String)
		}
		if !p.values[i].Valid {
			continue
		}
		x := bench.Sample{Value: p.values[i].Float64, Resolution: resolutionAt(p.resolutions, i), ResultID: p.results[i], RunID: p.runs[i],
			GitHash: p.hashes[i].String, Excluded: p.excluded[i]}
		if p.started[i].Valid {
			var offset *int
			if p.offsets[i].Valid {
				o := int(p.offsets[i].Int32)
				offset = &o
			}
			x.Started = bench.LocalTimeOf(p.started[i].Time, offset)
		}
		samples = append(samples, x)
	}
	if n > 0 {
		flush(p.versions[n-1].String)
	}
	return points, nil
}

// Coordinates lists the coordinates with samples that a filter selects, in the
// order of [Store.Series]. Metric may be empty; else only coordinates that have
// the metric are listed. There is no limit.
func (s *Store) Coordinates(ctx context.Context, f bench.SeriesFilter) ([]bench.CoordinateInfo, error) {
	all, err := coordinates(ctx, s.pool, f)
	if err != nil {
		return nil, translate("coordinates", err)
	}
	slices.SortFunc(all, func(a, b bench.CoordinateInfo) int { return compareCoordinates(a.Coordinate, b.Coordinate) })
	return all, nil
}

// coordinates lists coordinates with samples in no order.
func coordinates(ctx context.Context, q querier, f bench.SeriesFilter) ([]bench.CoordinateInfo, error) {
	rows, _ := q.Query(ctx, `
		SELECT c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients, c.sample_count
		FROM coordinate c
		JOIN server s ON s.id = c.server_id
		WHERE c.sample_count > 0
			AND ($1 = '' OR EXISTS (SELECT FROM series x JOIN metric m ON m.id = x.metric_id
				WHERE x.coordinate_id = c.id AND m.name = $1 AND x.value_count > 0))
			AND ($2 = '' OR c.system = $2) AND ($3 = '' OR c.suite = $3)
			AND ($4::text[] IS NULL OR s.slug = ANY ($4)) AND ($5::text[] IS NULL OR c.workload = ANY ($5))
			AND ($6::text[] IS NULL OR c.step = ANY ($6)) AND ($7::text[] IS NULL OR c.compiler = ANY ($7))
			AND ($8::text[] IS NULL OR c.config = ANY ($8)) AND ($9::int[] IS NULL OR c.clients = ANY ($9))`,
		f.Metric, f.System, f.Suite, list(f.Servers), list(f.Workloads), list(f.Steps), list(f.Compilers), list(f.Configs), list(f.Clients))
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.CoordinateInfo, error) {
		var c bench.CoordinateInfo
		err := row.Scan(&c.System, &c.Suite, &c.Server, &c.Workload, &c.Step, &c.Compiler, &c.Config, &c.Clients, &c.Samples)
		return c, err
	})
}

// Facets gives the values that selectors offer within a filter, with counts.
// Every part of the filter narrows every facet; Metric is ignored. With the
// zero filter it is all that is there.
func (s *Store) Facets(ctx context.Context, f bench.SeriesFilter) (bench.Facets, error) {
	var out bench.Facets
	args := []any{f.System, f.Suite, list(f.Servers), list(f.Workloads), list(f.Steps), list(f.Compilers), list(f.Configs), list(f.Clients)}
	err := s.view(ctx, "facets", func(tx pgx.Tx) error {
		f.Metric = ""
		all, err := coordinates(ctx, tx, f)
		if err != nil {
			return fmt.Errorf("coordinates: %w", err)
		}
		out = facetsOf(all)
		if out.Metrics, err = metricFacets(ctx, tx, args); err != nil {
			return err
		}
		out.Versions, err = versionFacets(ctx, tx, args)
		return err
	})
	if err != nil {
		return bench.Facets{}, err
	}
	return out, nil
}

// facetsOf counts the samples of coordinates by the values that these have.
// Counting here takes a tenth of what GROUPING SETS take.
func facetsOf(all []bench.CoordinateInfo) bench.Facets {
	var out bench.Facets
	count := func(value func(*bench.Coordinate) string) []bench.Facet {
		samples := map[string]int{}
		for i := range all {
			samples[value(&all[i].Coordinate)] += all[i].Samples
		}
		var facets []bench.Facet
		for _, name := range slices.Sorted(maps.Keys(samples)) {
			facets = append(facets, bench.Facet{Name: name, Samples: samples[name]})
		}
		return facets
	}
	out.Systems = count(func(c *bench.Coordinate) string { return c.System })
	out.Suites = count(func(c *bench.Coordinate) string { return c.Suite })
	out.Servers = count(func(c *bench.Coordinate) string { return c.Server })
	out.Workloads = count(func(c *bench.Coordinate) string { return c.Workload })
	out.Steps = count(func(c *bench.Coordinate) string { return c.Step })
	out.Compilers = count(func(c *bench.Coordinate) string { return c.Compiler })
	out.Configs = count(func(c *bench.Coordinate) string { return c.Config })
	slices.SortFunc(out.Steps, func(a, b bench.Facet) int { return bench.CompareSteps(a.Name, b.Name) })
	clients := map[int]int{}
	for i := range all {
		clients[all[i].Clients] += all[i].Samples
	}
	for _, n := range slices.Sorted(maps.Keys(clients)) {
		out.Clients = append(out.Clients, bench.ClientsFacet{Clients: n, Samples: clients[n]})
	}
	return out
}

func metricFacets(ctx context.Context, tx pgx.Tx, args []any) ([]bench.MetricFacet, error) {
	rows, _ := tx.Query(ctx, `
		SELECT m.name, m.unit, m.direction, sum(x.value_count)
		FROM coordinate c
		JOIN server s ON s.id = c.server_id
		JOIN series x ON x.coordinate_id = c.id
		JOIN metric m ON m.id = x.metric_id
		WHERE x.value_count > 0
			AND ($1 = '' OR c.system = $1) AND ($2 = '' OR c.suite = $2)
			AND ($3::text[] IS NULL OR s.slug = ANY ($3)) AND ($4::text[] IS NULL OR c.workload = ANY ($4))
			AND ($5::text[] IS NULL OR c.step = ANY ($5)) AND ($6::text[] IS NULL OR c.compiler = ANY ($6))
			AND ($7::text[] IS NULL OR c.config = ANY ($7)) AND ($8::int[] IS NULL OR c.clients = ANY ($8))
		GROUP BY m.id`, args...)
	facets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.MetricFacet, error) {
		var m bench.MetricFacet
		err := row.Scan(&m.Name, &m.Unit, &m.Direction, &m.Values)
		if known, ok := bench.LookupMetric(m.Name); ok {
			m.Title, m.About = known.Title, known.About
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	slices.SortFunc(facets, func(a, b bench.MetricFacet) int { return bench.CompareMetrics(a.Name, b.Name) })
	return facets, nil
}

func versionFacets(ctx context.Context, tx pgx.Tx, args []any) ([]bench.VersionFacet, error) {
	rows, _ := tx.Query(ctx, `
		SELECT v.system, v.name, count(*)
		FROM run u
		JOIN server s ON s.id = u.server_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id
		WHERE u.state = 'active'
			AND ($1 = '' OR u.system = $1) AND ($2 = '' OR u.suite = $2)
			AND ($3::text[] IS NULL OR s.slug = ANY ($3)) AND ($4::text[] IS NULL OR u.workload = ANY ($4))
			AND ($5::text[] IS NULL OR EXISTS (SELECT FROM result r JOIN coordinate c ON c.id = r.coordinate_id
				WHERE r.run_id = u.id AND c.step = ANY ($5)))
			AND ($6::text[] IS NULL OR b.compiler = ANY ($6))
			AND ($7::text[] IS NULL OR u.config = ANY ($7)) AND ($8::int[] IS NULL OR u.clients = ANY ($8))
		GROUP BY v.id
		ORDER BY v.system, v.sort_key, v.name`, args...)
	facets, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bench.VersionFacet])
	if err != nil {
		return nil, fmt.Errorf("versions: %w", err)
	}
	return facets, nil
}

// Totals says how much the store holds and counts.
func (s *Store) Totals(ctx context.Context) (bench.Totals, error) {
	var t bench.Totals
	err := s.pool.QueryRow(ctx, `
		SELECT (SELECT count(DISTINCT server_id) FROM run WHERE state = 'active'),
			(SELECT count(DISTINCT b.version_id) FROM run u JOIN build b ON b.id = u.build_id WHERE u.state = 'active'),
			(SELECT count(*) FROM run WHERE state = 'active'),
			(SELECT COALESCE(sum(sample_count), 0) FROM coordinate),
			(SELECT COALESCE(sum(value_count), 0) FROM series),
			(SELECT count(*) FROM series WHERE value_count > 0),
			(SELECT count(*) FROM upload WHERE state = 'active')`).
		Scan(&t.Servers, &t.Versions, &t.Runs, &t.Results, &t.Values, &t.Series, &t.Uploads)
	return t, translate("totals", err)
}
