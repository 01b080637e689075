package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/bench"
)

// disagreements counts what in the packed rows and flags differs from what
// follows from results, runs and uploads.
func disagreements(t *testing.T, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	out := map[string]int{}
	for name, sql := range map[string]string{
		"samples": `
			WITH counted AS (
				SELECT r.id, r.coordinate_id, r.run_id, v.sort_key, r.started, r.utc_offset, NULLIF(b.git_hash, '') AS git_hash, r.excluded <> '' AS excluded
				FROM result r JOIN run u ON u.id = r.run_id JOIN build b ON b.id = u.build_id JOIN version v ON v.id = b.version_id
				WHERE r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded),
			packed AS (
				SELECT x.result_id AS id, p.coordinate_id, x.run_id, v.sort_key, x.started, x.utc_offset, x.git_hash, x.excluded
				FROM coordinate_points p JOIN coordinate c ON c.id = p.coordinate_id CROSS JOIN unnest(p.result_ids, p.run_ids, p.versions, p.started, p.utc_offsets, p.git_hashes, p.excluded)
					AS x (result_id, run_id, version, started, utc_offset, git_hash, excluded)
				JOIN version v ON v.system = c.system AND v.name = x.version)
			SELECT count(*) FROM ((TABLE counted EXCEPT TABLE packed) UNION ALL (TABLE packed EXCEPT TABLE counted)) d`,
		"values": `
			WITH counted AS (
				SELECT r.id, r.coordinate_id, m.metric_id, m.value, m.resolution
				FROM result r JOIN metric_set ms ON ms.id = r.metric_set_id
				CROSS JOIN unnest(ms.metric_ids, r.values, ms.resolutions) AS m (metric_id, value, resolution)
				WHERE r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded AND m.value IS NOT NULL),
			packed AS (
				SELECT p.result_ids[x.place] AS id, s.coordinate_id, s.metric_id, x.value,
					s.resolutions[CASE cardinality(s.resolutions) WHEN 1 THEN 1 ELSE x.place END] AS resolution
				FROM series s JOIN coordinate_points p USING (coordinate_id)
				CROSS JOIN unnest(s.values) WITH ORDINALITY AS x (value, place)
				WHERE x.value IS NOT NULL)
			SELECT count(*) FROM ((TABLE counted EXCEPT ALL TABLE packed) UNION ALL (TABLE packed EXCEPT ALL TABLE counted)) d`,
		"order": `
			SELECT count(*) FROM coordinate_points p
			CROSS JOIN unnest(p.result_ids) WITH ORDINALITY AS a (id, place)
			JOIN unnest(p.result_ids) WITH ORDINALITY AS b (id, place) ON b.place = a.place + 1
			JOIN result ra ON ra.id = a.id JOIN run ua ON ua.id = ra.run_id JOIN build ba ON ba.id = ua.build_id JOIN version va ON va.id = ba.version_id
			JOIN result rb ON rb.id = b.id JOIN run ub ON ub.id = rb.run_id JOIN build bb ON bb.id = ub.build_id JOIN version vb ON vb.id = bb.version_id
			WHERE (va.sort_key, COALESCE(ra.started, 'infinity'), ra.id) > (vb.sort_key, COALESCE(rb.started, 'infinity'), rb.id)`,
		"counts of series": `
			SELECT count(*) FROM series WHERE value_count <> (SELECT count(*) FROM unnest(values) v WHERE v IS NOT NULL)
				OR value_count > 0 AND cardinality(values) <> (SELECT cardinality(versions) FROM coordinate_points p WHERE p.coordinate_id = series.coordinate_id)`,
		"counts of coordinates": `
			SELECT count(*) FROM coordinate c LEFT JOIN coordinate_points p ON p.coordinate_id = c.id
			WHERE c.sample_count <> COALESCE(cardinality(p.versions), 0)`,
		"withdrawn results": `
			SELECT count(*) FROM result r JOIN run u ON u.id = r.run_id
			WHERE r.withdrawn <> (u.state = 'withdrawn' OR NOT EXISTS (
				SELECT FROM result_source s JOIN upload_file f ON f.id = s.upload_file_id JOIN upload p ON p.id = f.upload_id
				WHERE s.result_id = r.id AND p.state = 'active'))`,
		"runs left with nothing": `
			SELECT count(*) FROM run u WHERE u.state = 'active' AND NOT EXISTS (SELECT FROM result r WHERE r.run_id = u.id AND NOT r.withdrawn)`,
		"coordinates of results": `
			SELECT count(*) FROM result r JOIN run u ON u.id = r.run_id JOIN build b ON b.id = u.build_id JOIN coordinate c ON c.id = r.coordinate_id
			WHERE (c.system, c.suite, c.server_id, c.workload, c.config, c.compiler, c.clients)
				<> (u.system, u.suite, u.server_id, u.workload, u.config, b.compiler, u.clients)`,
		"starts of runs": `
			SELECT count(*) FROM run u WHERE u.started IS DISTINCT FROM (SELECT min(started) FROM result r WHERE r.run_id = u.id)`,
		"campaigns": `SELECT count(*) FROM run WHERE (campaign IS NOT NULL) <> (state = 'active' AND started IS NOT NULL)`,
		"counts of uploads": `
			SELECT count(*) FROM upload u WHERE (result_count, run_count) <> (
				SELECT count(DISTINCT r.id), count(DISTINCT r.run_id) FROM upload_file f
				JOIN result_source s ON s.upload_file_id = f.id JOIN result r ON r.id = s.result_id WHERE f.upload_id = u.id)`,
	} {
		var n int
		if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n > 0 {
			out[name] = n
		}
	}
	return out
}

// TestAnySequenceOfOperationsLeavesEverythingInAgreement does random things,
// the same in every run, among few names so that they meet.
func TestAnySequenceOfOperationsLeavesEverythingInAgreement(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s, pool := setup(t)
			r := rand.New(rand.NewPCG(seed, 7))
			pick := func(words ...string) string { return words[r.IntN(len(words))] }
			var done []string
			try := func(err error, format string, args ...any) {
				done = append(done, fmt.Sprintf(format, args...)+fmt.Sprint(": ", bench.KindOf(err)))
				if err != nil && bench.KindOf(err) == "" {
					t.Fatalf("%v\nafter %v", err, done)
				}
			}
			kinds := map[bench.Kind]int{}
			for i := range 80 {
				runs, err := s.Runs(t.Context(), bench.RunFilter{})
				if err != nil {
					t.Fatal(err)
				}
				uploads, err := s.Uploads(t.Context(), bench.UploadFilter{})
				if err != nil {
					t.Fatal(err)
				}
				switch op := r.IntN(10); {
				case op < 6 || len(runs.Runs) == 0:
					file := fmt.Sprint("f", r.IntN(25)) // some bytes come again
					b := randomBatch(r, pick, file)
					_, err = s.Write(t.Context(), upload(file, fmt.Sprint(file, r.IntN(2))), b, nil)
					try(err, "write %s", file)
				case op == 6:
					patch := bench.RunPatch{}
					for _, f := range []**string{&patch.Server, &patch.Workload, &patch.Compiler, &patch.Config} {
						if r.IntN(2) == 0 {
							*f = str(pick("c2", "u5", "gcc", "clang"))
						}
					}
					id := runs.Runs[r.IntN(len(runs.Runs))].ID
					err = s.PatchRun(t.Context(), id, patch, "random", "test", nil)
					try(err, "patch run %d", id)
				case op == 7:
					id := runs.Runs[r.IntN(len(runs.Runs))].ID
					err = s.WithdrawRun(t.Context(), id, "random", "test", nil)
					try(err, "withdraw run %d", id)
				case op == 8:
					id := runs.Runs[r.IntN(len(runs.Runs))].ID
					err = s.RestoreRun(t.Context(), id, "random", "test", nil)
					try(err, "restore run %d", id)
				default:
					id := uploads.Uploads[r.IntN(len(uploads.Uploads))].ID
					err = s.WithdrawUpload(t.Context(), id, "random", "test", nil)
					try(err, "withdraw upload %d", id)
				}
				kinds[bench.KindOf(err)]++
				if bad := disagreements(t, pool); len(bad) > 0 {
					t.Fatalf("step %d: %v\nafter %v", i, bad, done)
				}
			}
			if kinds[""] < 20 {
				t.Errorf("outcomes %v: too little was done to mean anything", kinds)
			}
		})
	}
}

// randomBatch makes a file of few runs with few dates and figures, so that
// files overlap, agree and contradict each other.
func randomBatch(r *rand.Rand, pick func(...string) string, file string) *bench.Batch {
	b := batch(file)
	b.Files = append(b.Files, taken(file+".second"))
	for range 1 + r.IntN(3) {
		run := c2(pick("8.7.3", "8.8.0", "v8.8.0", "main"))
		run.Server, run.Build.Compiler = pick("c2", "c2", "u5"), pick("gcc", "gcc", "clang")
		run.Build.GitHash = pick("", "0123456789")
		if r.IntN(8) == 0 {
			run.Workload = "iobuf"
		}
		if r.IntN(4) == 0 {
			run.Assumed = []string{"compiler", "workload"}
		}
		if r.IntN(6) == 0 {
			run.Clients = 40
		}
		for range 1 + r.IntN(4) {
			from := pick(file, file, file+".second")
			x := row(from, 1+r.IntN(50), pick("fillseq", "readrandom.t8", "overwriteandwait.t8.s0"), pick(day1, day2, day3, ""), pick("100", "200"))
			switch r.IntN(8) {
			case 0:
				x.Origin, x.Started = bench.OriginMatrix, bench.LocalTime{}
			case 1:
				x.ContextFromStore = true
			case 2:
				x.State, x.Reason, x.Values, x.PrimaryText = bench.StateFailed, "killed", nil, ""
			case 3:
				x = with(x, pick("p99", "p50"), float64(r.IntN(5)), float64(r.IntN(2)), "p")
			case 4:
				x.Excluded = "assertions are enabled"
			}
			run.Results = append(run.Results, x)
		}
		b.Runs = append(b.Runs, run)
	}
	return b
}
