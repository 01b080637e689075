package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// factColumns are what scanFacts reads, of run r, server s, build b, version v.
const factColumns = `
	r.id, r.system, r.suite, s.slug, r.workload, r.config, r.clients,
	v.name, b.compiler, b.compiler_version, b.flags, b.git_hash, b.binary_sha256, b.command,
	r.started, r.utc_offset, COALESCE(r.campaign, 0), r.environment, r.options`

func scanFacts(row pgx.CollectableRow) (bench.RunFacts, error) {
	var f bench.RunFacts
	var started *time.Time
	var offset *int
	err := row.Scan(&f.ID, &f.System, &f.Suite, &f.Server, &f.Workload, &f.Config, &f.Clients,
		&f.Build.Version, &f.Build.Compiler, &f.Build.CompilerVersion, &f.Build.Flags, &f.Build.GitHash, &f.Build.BinarySHA256, &f.Build.Command,
		&started, &offset, &f.Campaign, &f.Environment, &f.Options)
	f.Started = joinTime(started, offset)
	return f, err
}

// RunFacts gives what is known of runs besides their figures, in order of their
// ids. Ids that are of no run are left out.
func (s *Store) RunFacts(ctx context.Context, runs []int64) ([]bench.RunFacts, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT `+factColumns+`
		FROM run r
		JOIN server s ON s.id = r.server_id
		JOIN build b ON b.id = r.build_id
		JOIN version v ON v.id = b.version_id
		WHERE r.id = ANY ($1)
		ORDER BY r.id`, runs)
	list, err := pgx.CollectRows(rows, scanFacts)
	return list, translate("facts of runs", err)
}

// variedMax is how many runs [Store.Varied] looks at unless told otherwise.
const variedMax = 5000

// Varied gives the active runs that share system, suite, workload, version,
// compiler and clients with a run of another config or of other options, on
// whatever server, in order of their ids: among them are the sweeps.
func (s *Store) Varied(ctx context.Context, f bench.VariedFilter) ([]bench.RunFacts, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = variedMax
	}
	rows, _ := s.pool.Query(ctx, `
		WITH chosen AS (
			SELECT r.*, b.version_id, b.compiler AS of_compiler
			FROM run r
			JOIN server s ON s.id = r.server_id
			JOIN build b ON b.id = r.build_id
			WHERE r.state = 'active' AND ($1 = '' OR r.system = $1) AND (cardinality($2::text[]) = 0 OR s.slug = ANY ($2))
		), varied AS (
			SELECT system, suite, workload, version_id, of_compiler, clients
			FROM chosen
			GROUP BY system, suite, workload, version_id, of_compiler, clients
			HAVING count(DISTINCT config || E'\x01' || options::text) > 1
		)
		SELECT `+factColumns+`
		FROM (
			SELECT chosen.*
			FROM chosen JOIN varied USING (system, suite, workload, version_id, of_compiler, clients)
			ORDER BY chosen.id DESC
			LIMIT $3
		) r
		JOIN server s ON s.id = r.server_id
		JOIN build b ON b.id = r.build_id
		JOIN version v ON v.id = b.version_id
		ORDER BY r.id`, f.System, orEmptyTexts(f.Servers), limit)
	list, err := pgx.CollectRows(rows, scanFacts)
	return list, translate("varied runs", err)
}

func orEmptyTexts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Breakdowns gives the figures split by a key of the results of runs that count, in
// order of run and step.
func (s *Store) Breakdowns(ctx context.Context, runs []int64) ([]bench.RunBreakdown, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT r.run_id, c.step, d.key, d.bucket, d.samples, d.unit, d.value
		FROM result r
		JOIN coordinate c ON c.id = r.coordinate_id
		JOIN breakdown d ON d.result_id = r.id
		WHERE r.run_id = ANY ($1) AND r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded
		ORDER BY r.run_id, c.step, r.id, d.id`, runs)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.RunBreakdown, error) {
		var x bench.RunBreakdown
		b := &x.Breakdown
		err := row.Scan(&x.RunID, &x.Step, &b.Key, &b.Bucket, &b.Samples, &b.Unit, &b.Value)
		return x, err
	})
	return list, translate("breakdowns", err)
}
