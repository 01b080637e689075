// Package migrations holds the database schema as numbered SQL files and
// brings a database up to date.
//
// Files are append-only: an applied one is never edited. Numbers are sequential
// and padded; a gap or a late lower number is an error. Down sections exist for
// development.
package migrations

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed *.sql
var files embed.FS

// Up applies every migration that a database lacks and returns how many those
// were. A session lock makes several programs that start at once wait for one
// another; each migration is one transaction.
func Up(ctx context.Context, pool *pgxpool.Pool) (applied int, err error) {
	return migrate(pool, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.Up(ctx) })
}

// DownTo takes migrations back until the schema is at the given version, 0 for
// an empty database. All data of what is taken back is lost: for development
// and tests.
func DownTo(ctx context.Context, pool *pgxpool.Pool, version int64) (taken int, err error) {
	return migrate(pool, func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.DownTo(ctx, version) })
}

func migrate(pool *pgxpool.Pool, do func(*goose.Provider) ([]*goose.MigrationResult, error)) (n int, err error) {
	// goose asks for the lock at this interval; one second is the least it takes.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 60))
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool) // closing it leaves the pool open
	defer func() {
		if e := db.Close(); err == nil && e != nil {
			err = fmt.Errorf("migrations: %w", e)
		}
	}()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	results, err := do(p)
	if err != nil {
		return len(results), fmt.Errorf("migrations: %w", err)
	}
	return len(results), nil
}

// Latest gives the version of the schema that this program works with: the
// number of the last file.
func Latest() int64 {
	entries, err := files.ReadDir(".")
	if err != nil {
		return 0 // reading the root of an embedded tree cannot fail
	}
	var last int64
	for _, e := range entries {
		if v, err := goose.NumericComponent(e.Name()); err == nil {
			last = max(last, v)
		}
	}
	return last
}
