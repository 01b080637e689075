package postgres

import (
	"context"

	"github.com/relqps/relqps/migrations"
)

// LatestSchema gives the version of the schema that this program works with.
func LatestSchema() int64 { return migrations.Latest() }

// Migrate brings the schema up to date; several programs that do so at once
// wait for one another.
func (s *Store) Migrate(ctx context.Context) error {
	_, err := migrations.Up(ctx, s.pool)
	return translate("migrate", err)
}
