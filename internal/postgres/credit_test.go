package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

// The foot of every page asks for the credits, while a runner's runs, which name no
// source, may be many.
func TestCreditsReadOnlyRunsThatNameASource(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	b := batch("a", c2("8.7.3", row("a", 1, "fillseq", day1, "90")), c2("8.8.0", row("a", 2, "fillseq", day2, "100")))
	b.Runs[0].Environment = map[string]string{"source_name": strings.Repeat("long ", 2000), "source_url": "https://example.org/a"}
	b.Runs[1].Environment = map[string]string{"kernel": "6.1"}
	mustWrite(t, s, upload("a", "a"), b)
	got, err := s.Credits(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]bench.Credit{{Name: strings.Repeat("long ", 2000), URL: "https://example.org/a"}}, got); d != "" {
		t.Error(d)
	}
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO run (key, own_id, server_id, system, suite, workload, config, build_id, clients, assumed, environment, options)
		SELECT 'k' || n, true, server_id, system, suite, workload, config, build_id, clients, assumed, '{"kernel": "6.1"}', options
		FROM run, generate_series(1, 5000) n WHERE NOT environment ? 'source_name'`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `ANALYZE run`); err != nil {
		t.Fatal(err)
	}
	rows, _ := pool.Query(t.Context(), "EXPLAIN "+postgres.CreditsSQL)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") || !strings.Contains(text, "run_with_source") {
		t.Errorf("the plan reads all runs:\n%s", text)
	}
}
