package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// figures loads the measured primary values at any combination of servers,
// workloads, steps and versions.
func figures(ctx context.Context, tx pgx.Tx, servers, workloads, steps, versions []string) ([]bench.Figure, error) {
	var keys []string
	for _, v := range sortedSet(versions) {
		keys = append(keys, bench.VersionKey(v))
	}
	rows, _ := tx.Query(ctx, `
		SELECT c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients, v.name,
			COALESCE(r.threads, 0), r.primary_metric, r.values[array_position(ms.metric_ids, m.id)]
		FROM server s
		JOIN coordinate c ON c.server_id = s.id
		JOIN result r ON r.coordinate_id = c.id
		JOIN run u ON u.id = r.run_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id
		JOIN metric_set ms ON ms.id = r.metric_set_id
		JOIN metric m ON m.name = r.primary_metric
		WHERE s.slug = ANY ($1) AND c.workload = ANY ($2) AND c.step = ANY ($3) AND v.sort_key = ANY ($4)
			AND r.origin = 'measured' AND r.state = 'ok' AND NOT r.withdrawn
			AND r.values[array_position(ms.metric_ids, m.id)] IS NOT NULL
		ORDER BY r.id`,
		sortedSet(servers), sortedSet(workloads), sortedSet(steps), keys)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.Figure, error) {
		var f bench.Figure
		err := row.Scan(&f.System, &f.Suite, &f.Server, &f.Workload, &f.Step, &f.Compiler, &f.Config, &f.Clients, &f.Version,
			&f.Threads, &f.Metric, &f.Value)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("measured figures: %w", err)
	}
	return list, nil
}

// yieldMatrices marks the stored figures of matrices on servers that a measured
// result has the place of, unmarks those that lost it, and marks their
// coordinates as touched.
func yieldMatrices(ctx context.Context, tx pgx.Tx, servers []int32, touched map[int64]bool) error {
	type matrixResult struct {
		id, coordinate int64
		superseded     bool
		place          bench.Place
	}
	rows, _ := tx.Query(ctx, `
		SELECT r.id, r.coordinate_id, r.superseded, c.system, c.suite, s.slug, c.workload, c.step,
			CASE WHEN 'compiler' = ANY (u.assumed) THEN '' ELSE c.compiler END,
			CASE WHEN 'config' = ANY (u.assumed) THEN '' ELSE c.config END,
			COALESCE(u.clients_stated, 0), v.name, COALESCE(r.threads, 0), r.primary_metric
		FROM coordinate c
		JOIN server s ON s.id = c.server_id
		JOIN result r ON r.coordinate_id = c.id
		JOIN run u ON u.id = r.run_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id
		WHERE c.server_id = ANY ($1) AND r.origin = 'matrix' AND NOT r.withdrawn`, servers)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (matrixResult, error) {
		var m matrixResult
		p := &m.place
		err := row.Scan(&m.id, &m.coordinate, &m.superseded, &p.System, &p.Suite, &p.Server, &p.Workload, &p.Step,
			&p.Compiler, &p.Config, &p.Clients, &p.Version, &p.Threads, &p.Metric)
		return m, err
	})
	if err != nil {
		return fmt.Errorf("matrix figures: %w", err)
	}
	if len(list) == 0 {
		return nil
	}
	var slugs, workloads, steps, versions []string
	for _, m := range list {
		slugs, workloads = append(slugs, m.place.Server), append(workloads, m.place.Workload)
		steps = append(steps, bench.FamilyMembers(bench.StepFamily(m.place.Step))...)
		versions = append(versions, m.place.Version)
	}
	measured, err := figures(ctx, tx, slugs, workloads, steps, versions)
	if err != nil {
		return err
	}
	known := bench.NewFigures(measured...)
	var flip []int64
	for _, m := range list {
		if has := len(known.At(m.place)) > 0; has != m.superseded {
			flip = append(flip, m.id)
			touched[m.coordinate] = true
		}
	}
	if len(flip) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, `UPDATE result SET superseded = NOT superseded WHERE id = ANY ($1)`, flip); err != nil {
		return fmt.Errorf("matrix figures: %w", err)
	}
	return nil
}
