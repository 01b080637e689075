package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// creditsSQL states the condition of the index run_with_source.
const creditsSQL = `
	SELECT DISTINCT environment->>'source_name', COALESCE(environment->>'source_url', '')
	FROM run
	WHERE environment ? 'source_name' AND state = 'active'
	ORDER BY 1, 2
	LIMIT 100`

// Credits lists the sources that runs name in their environment, by name.
func (s *Store) Credits(ctx context.Context) ([]bench.Credit, error) {
	rows, err := s.pool.Query(ctx, creditsSQL)
	if err != nil {
		return nil, translate("credits", err)
	}
	credits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c bench.Credit, err error) {
		err = row.Scan(&c.Name, &c.URL)
		return c, err
	})
	return credits, translate("credits", err)
}
