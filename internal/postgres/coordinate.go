package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/relqps/relqps/internal/bench"
)

// SeriesOf gives the series of all metrics of one coordinate, in the order in
// which pages show metrics; none where nothing was measured there.
func (s *Store) SeriesOf(ctx context.Context, c bench.Coordinate) ([]bench.Series, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT x.id, m.name, p.versions, p.result_ids, p.run_ids, p.started, p.utc_offsets, p.git_hashes, p.excluded, x.values, x.resolutions
		FROM coordinate c
		JOIN server s ON s.id = c.server_id
		JOIN coordinate_points p ON p.coordinate_id = c.id
		JOIN series x ON x.coordinate_id = c.id
		JOIN metric m ON m.id = x.metric_id
		WHERE c.system = $1 AND c.suite = $2 AND s.slug = $3 AND c.workload = $4 AND c.step = $5 AND c.compiler = $6 AND c.config = $7
			AND c.clients = $8 AND x.value_count > 0
		LIMIT $9::int + 1`,
		c.System, c.Suite, c.Server, c.Workload, c.Step, c.Compiler, c.Config, c.Clients, s.maxSeries)
	if err != nil {
		return nil, translate("series of a coordinate", err)
	}
	defer rows.Close()
	var all []bench.Series
	var p packedRow
	for rows.Next() {
		x := bench.Series{Coordinate: c}
		var metric string
		if err := rows.Scan(&x.ID, &metric, &p.versions, &p.results, &p.runs, &p.started, &p.offsets, &p.hashes, &p.excluded, &p.values, &p.resolutions); err != nil {
			return nil, translate("series of a coordinate", err)
		}
		x.Metric, _ = bench.LookupMetric(metric) // stored metrics were known when they were stored
		if x.Points, err = p.points(); err != nil {
			return nil, translate("series of a coordinate", fmt.Errorf("series %d: %w", x.ID, err))
		}
		if all = append(all, x); len(all) > s.maxSeries {
			return nil, bench.Errorf(bench.KindInvalid, "more than %d metrics were measured there, which is the most that one request answers", s.maxSeries)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, translate("series of a coordinate", err)
	}
	slices.SortFunc(all, func(a, b bench.Series) int { return bench.CompareMetrics(a.Metric.Name, b.Metric.Name) })
	return all, nil
}
