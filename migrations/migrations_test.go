package migrations_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/migrations"
)

func empty(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), pgtest.EmptyURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func tables(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	rows, _ := pool.Query(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version'`)
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestUpAndDown(t *testing.T) {
	t.Parallel()
	pool := empty(t)
	n, err := migrations.Up(t.Context(), pool)
	if err != nil || int64(n) != migrations.Latest() {
		t.Fatalf("%d applied, %v; want %d: numbers are sequential", n, err, migrations.Latest())
	}
	made := tables(t, pool)
	if n, err = migrations.Up(t.Context(), pool); err != nil || n != 0 {
		t.Errorf("%d applied again, %v", n, err)
	}
	if n, err = migrations.DownTo(t.Context(), pool, 0); err != nil || int64(n) != migrations.Latest() {
		t.Errorf("%d taken back, %v; want all", n, err)
	}
	if left := tables(t, pool); left != 0 {
		t.Errorf("%d tables are left", left)
	}
	if _, err = migrations.Up(t.Context(), pool); err != nil || tables(t, pool) != made {
		t.Errorf("%d tables after another Up, %v; want %d", tables(t, pool), err, made)
	}
}

func TestSeveralProgramsMigrateAtOnce(t *testing.T) {
	t.Parallel()
	pool := empty(t)
	var mu sync.Mutex
	applied := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			n, err := migrations.Up(t.Context(), pool)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			applied += n
		})
	}
	wg.Wait()
	if int64(applied) != migrations.Latest() {
		t.Errorf("%d applied, want each of %d once", applied, migrations.Latest())
	}
}

func TestEverythingInTheSchemaIsExplained(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	rows, _ := pool.Query(t.Context(), `
		SELECT relname FROM pg_class c
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'goose_db_version'
			AND obj_description(oid, 'pg_class') IS NULL`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) > 0 {
		t.Errorf("tables without a comment: %v, %v", names, err)
	}
	rows, _ = pool.Query(t.Context(), `
		SELECT conrelid::regclass || ' ' || conname FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f', 'u') AND conrelid::regclass::text <> 'goose_db_version'
			AND (conname ~ '_(check|fkey|key)[0-9]*$' OR position(conrelid::regclass::text IN conname) <> 1)`)
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(names) > 0 {
		t.Errorf("constraints that nobody named: %v, %v", names, err)
	}
}
