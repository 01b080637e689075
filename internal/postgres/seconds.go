package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// Seconds gives the figures over time of a step of runs, of results that count, in
// order of series name, run and result. The whole series are read and put into
// buckets here: they are packed arrays, which the database would have to take apart
// row by row, and what they amount to needs them whole.
func (s *Store) Seconds(ctx context.Context, q bench.SecondsQuery) ([]bench.Seconds, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT r.run_id, r.id, COALESCE(r.threads, 0), t.name, t.unit, t.start_s, t.step_s, array_replace(t.values, NULL, 'NaN')
		FROM result r
		JOIN coordinate c ON c.id = r.coordinate_id
		JOIN time_series t ON t.result_id = r.id
		WHERE r.run_id = ANY ($1) AND c.step = $2 AND (cardinality($3::text[]) = 0 OR t.name = ANY ($3))
			AND r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded
		ORDER BY t.name COLLATE "C", r.run_id, r.id`, q.Runs, q.Step, sortedSet(q.Names))
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.RunSeries, error) {
		var t bench.RunSeries
		err := row.Scan(&t.RunID, &t.ResultID, &t.Threads, &t.Name, &t.Unit, &t.StartS, &t.StepS, &t.Values)
		return t, err
	})
	if err != nil {
		return nil, translate("seconds", err)
	}
	return bench.NewSeconds(list, q), nil
}
