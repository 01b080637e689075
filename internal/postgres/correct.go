package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// PatchRun corrects the context of a run: its results move to other
// coordinates, its identity follows, and its history says who did it when and
// why. A reason is needed. Where the corrected run would measure what another
// run is stored to have measured, nothing changes and the error, of kind
// conflict, names the places. detect may be nil.
func (s *Store) PatchRun(ctx context.Context, id int64, p bench.RunPatch, reason, actor string, detect bench.DetectFunc) error {
	if err := needReason(reason); err != nil {
		return err
	}
	return s.update(ctx, "correct run", func(tx pgx.Tx) error {
		servers, err := serversOfRuns(ctx, tx, []int64{id})
		if err != nil {
			return err
		}
		if p.Server != nil {
			servers = append(servers, strings.TrimSpace(*p.Server))
		}
		run, err := lockRun(ctx, tx, id, servers)
		if err != nil {
			return err
		}
		was := *run
		before, after := map[string]string{}, map[string]string{}
		for _, f := range []struct {
			name string
			to   *string
			from *string
		}{
			{"server", &run.Server, p.Server}, {"workload", &run.Workload, p.Workload},
			{"compiler", &run.Build.Compiler, p.Compiler}, {"config", &run.Config, p.Config},
		} {
			if f.from == nil {
				continue
			}
			value := patched(f.name, *f.from)
			if value == *f.to {
				continue
			}
			if problem := bench.NameProblem(value); problem != "" {
				return bench.Errorf(bench.KindInvalid, "the %s %s %s", f.name, bench.Excerpt(value), problem)
			}
			before[f.name], after[f.name] = *f.to, value
			*f.to = value
		}
		if len(after) == 0 {
			return nil
		}
		if run.Server == "" {
			return bench.Errorf(bench.KindInvalid, "a run needs a server")
		}
		touched := map[int64]bool{}
		if err := s.correctRun(ctx, tx, &was, run, touched); err != nil {
			return err
		}
		if err := addHistory(ctx, tx, id, actor, "corrected", reason, before, after); err != nil {
			return err
		}
		return s.settle(ctx, tx, compactIDs(was.ServerID, run.ServerID), touched, detect)
	})
}

// patched gives a corrected field in the project's spelling.
func patched(field, value string) string {
	value = text(value)
	switch field {
	case "workload":
		return bench.WorkloadName(value)
	case "compiler":
		return bench.CompilerName(value)
	}
	return strings.TrimSpace(value)
}

func compactIDs(ids ...int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func needReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return bench.Errorf(bench.KindInvalid, "a reason is needed: it is kept with the run")
	}
	return nil
}

// serversOfRuns names the servers of runs.
func serversOfRuns(ctx context.Context, tx pgx.Tx, ids []int64) ([]string, error) {
	rows, _ := tx.Query(ctx, `
		SELECT DISTINCT s.slug FROM run r JOIN server s ON s.id = r.server_id WHERE r.id = ANY ($1)`, ids)
	slugs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("servers of runs: %w", err)
	}
	return slugs, nil
}

// lockRun takes the locks of servers and then reads a run, which must be on one
// of them.
func lockRun(ctx context.Context, tx pgx.Tx, id int64, servers []string) (*runRow, error) {
	if err := lock(ctx, tx, serverLocks(servers)); err != nil {
		return nil, err
	}
	runs, err := loadRuns(ctx, tx, []int64{id}, nil)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, bench.Errorf(bench.KindNotFound, "there is no run %d", id)
	}
	if !slices.Contains(servers, runs[0].Server) {
		return nil, errMoved
	}
	return runs[0], nil
}

// correctRun writes the new context of a run, its key, and the keys and
// coordinates of its results.
func (s *Store) correctRun(ctx context.Context, tx pgx.Tx, was, run *runRow, touched map[int64]bool) error {
	servers, err := ensureServers(ctx, tx, []string{run.Server})
	if err != nil {
		return err
	}
	run.ServerID = servers[run.Server]
	build := systemBuild{run.System, run.Build}
	builds, err := ensureBuilds(ctx, tx, []systemBuild{build})
	if err != nil {
		return err
	}
	results, err := identities(ctx, tx, was.ID)
	if err != nil {
		return err
	}
	if err := rekey(ctx, tx, was, run, results); err != nil {
		return err
	}
	key := run.Key
	if !run.OwnID {
		key = run.keyFrom(was, results)
		var other int64
		err := tx.QueryRow(ctx, `SELECT id FROM run WHERE key = $1 AND id <> $2`, key, run.ID).Scan(&other)
		switch {
		case err == nil:
			// Two parts of one run that were stored apart stay apart; the key of the
			// one that came first goes on to find both.
			key = run.Key
		case !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("find run by key: %w", err)
		}
	}
	_, err = tx.Exec(ctx, `
		UPDATE run SET key = $2, server_id = $3, workload = $4, config = $5, build_id = $6, campaign = NULL,
			assumed = ARRAY(SELECT a FROM unnest(assumed) a WHERE a <> ALL ($7::text[]))
		WHERE id = $1`,
		run.ID, key, run.ServerID, run.Workload, run.Config, builds[build], changedFields(was, run))
	if err != nil {
		return fmt.Errorf("update run: %w", err)
	}
	return moveResults(ctx, tx, run, touched)
}

// changedFields names the fields that a correction states.
func changedFields(was, run *runRow) []string {
	fields := []string{}
	if was.Workload != run.Workload {
		fields = append(fields, "workload")
	}
	if was.Build.Compiler != run.Build.Compiler {
		fields = append(fields, "compiler")
	}
	if was.Config != run.Config {
		fields = append(fields, "config")
	}
	return fields
}

// batchRun gives a stored run as the batch that brought it, without results.
func (r *runRow) batchRun(clients int) bench.Run {
	run := bench.Run{System: r.System, Suite: r.Suite, Server: r.Server, Workload: r.Workload, Config: r.Config,
		Build: r.Build, Clients: clients}
	if r.OwnID {
		run.ID = r.Key
	}
	return run
}

// keyFrom gives the key that a run would have had with its new context. The
// number of clients that its batch stated is the one that the old key follows
// from.
func (r *runRow) keyFrom(was *runRow, results []identity) string {
	tries := []int{0, was.Clients}
	if was.ClientsStated != nil {
		tries = append(tries, *was.ClientsStated)
	}
	var last string
	for _, n := range tries {
		before, after := was.batchRun(n), r.batchRun(n)
		for i := range results {
			before.Results = append(before.Results, results[i].Result)
		}
		after.Results = before.Results
		last = bench.RunKey(&after)
		if bench.RunKey(&before) == was.Key {
			break
		}
	}
	return last
}

// identity is what the key of a stored result is made of.
type identity struct {
	id      int64
	key     bench.Key
	ordinal int
	bench.Result
}

// identities reads what the keys of a run's results are made of.
func identities(ctx context.Context, tx pgx.Tx, run int64) ([]identity, error) {
	rows, _ := tx.Query(ctx, `
		SELECT r.id, r.key, r.ordinal, c.step, r.state, r.reason, r.origin, r.started, r.utc_offset,
			r.primary_metric, r.primary_text, r.source_text
		FROM result r JOIN coordinate c ON c.id = r.coordinate_id
		WHERE r.run_id = $1
		ORDER BY r.id`, run)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (identity, error) {
		var x identity
		var key []byte
		var started *time.Time
		var offset *int
		err := row.Scan(&x.id, &key, &x.ordinal, &x.Step.Name, &x.State, &x.Reason, &x.Origin, &started, &offset,
			&x.Primary, &x.PrimaryText, &x.Text)
		copy(x.key[:], key)
		x.Started = joinTime(started, offset)
		return x, err
	})
	if err != nil {
		return nil, fmt.Errorf("results of run: %w", err)
	}
	return list, nil
}

// rekey gives the results of a run the keys that they would have had with its
// new context.
func rekey(ctx context.Context, tx pgx.Tx, was, run *runRow, results []identity) error {
	var ids []int64
	var keys [][]byte
	for i := range results {
		x := &results[i]
		key := bench.MeasurementKey(ref(run.batchRun(was.statedClients(x))), &x.Result, x.ordinal)
		if key != x.key {
			ids, keys = append(ids, x.id), append(keys, key[:])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, _ := tx.Query(ctx, `
		SELECT c.step, r.primary_text, r.run_id
		FROM unnest($1::bigint[], $2::bytea[]) AS k (id, key)
		JOIN result moved ON moved.id = k.id AND NOT moved.withdrawn
		JOIN result r ON r.key = k.key AND NOT r.withdrawn AND r.run_id <> $3
		JOIN coordinate c ON c.id = r.coordinate_id
		ORDER BY r.id`, ids, keys, run.ID)
	var step, figure string
	var other int64
	var places []bench.Message
	if _, err := pgx.ForEachRow(rows, []any{&step, &figure, &other}, func() error {
		if len(places) < bench.RefusalsPerFile {
			places = append(places, bench.Message{Text: fmt.Sprintf("%s %s belongs to run %d", step, figure, other)})
		}
		return nil
	}); err != nil {
		return fmt.Errorf("find measurements by key: %w", err)
	}
	if len(places) > 0 {
		return &bench.Error{Kind: bench.KindConflict, Places: places,
			Message: fmt.Sprintf("corrected, run %d would measure what run %d did: withdraw one of them", run.ID, other)}
	}
	_, err := tx.Exec(ctx, `
		UPDATE result SET key = k.key
		FROM unnest($1::bigint[], $2::bytea[]) AS k (id, key)
		WHERE result.id = k.id`, ids, keys)
	if err != nil {
		return fmt.Errorf("update keys: %w", err)
	}
	return nil
}

func ref[T any](v T) *T { return &v }

// statedClients finds the number of clients that the batch of a result stated,
// which is part of an undated key: the one that the stored key was made with.
func (r *runRow) statedClients(x *identity) int {
	tries := []int{0, r.Clients}
	if r.ClientsStated != nil {
		tries = append(tries, *r.ClientsStated)
	}
	for _, n := range tries {
		if bench.MeasurementKey(ref(r.batchRun(n)), &x.Result, x.ordinal) == x.key {
			return n
		}
	}
	return tries[len(tries)-1]
}

// addHistory writes an entry of a run's history.
func addHistory(ctx context.Context, tx pgx.Tx, run int64, actor, action, reason string, before, after map[string]string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO run_history (run_id, actor, action, reason, before, after) VALUES ($1, $2, $3, $4, $5, $6)`,
		run, text(actor), action, text(reason), before, after)
	if err != nil {
		return fmt.Errorf("insert history: %w", err)
	}
	return nil
}

var (
	stateActive    = map[string]string{"state": string(bench.RecordActive)}
	stateWithdrawn = map[string]string{"state": string(bench.RecordWithdrawn)}
)

// WithdrawRun takes a run out of everything that counts and keeps it, with the
// reason, which is needed. It stays so whatever is uploaded, until [RestoreRun].
// A run that somebody withdrew before is an error of kind conflict. detect may
// be nil.
//
// [RestoreRun]: Store.RestoreRun
func (s *Store) WithdrawRun(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error {
	return s.setRunState(ctx, "withdraw run", id, reason, actor, detect, func(tx pgx.Tx, run *runRow) error {
		if run.withdrawn() {
			return bench.Errorf(bench.KindConflict, "run %d was withdrawn before: %s", id, *run.Reason)
		}
		_, err := tx.Exec(ctx, `
			UPDATE run SET state = 'withdrawn', reason = $2, withdrawn_with = NULL, campaign = NULL WHERE id = $1`, id, text(reason))
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE result SET withdrawn = true WHERE run_id = $1 AND NOT withdrawn`, id)
		}
		if err != nil {
			return err
		}
		return addHistory(ctx, tx, id, actor, "withdrawn", reason, stateActive, stateWithdrawn)
	})
}

// RestoreRun makes a withdrawn run count again. A reason is needed. Where its
// measurements were stored anew since, nothing changes and the error, of kind
// conflict, names the places; results whose uploads are all withdrawn stay so.
// detect may be nil.
func (s *Store) RestoreRun(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error {
	return s.setRunState(ctx, "restore run", id, reason, actor, detect, func(tx pgx.Tx, run *runRow) error {
		if !run.withdrawn() {
			return bench.Errorf(bench.KindConflict, "run %d was not withdrawn by itself", id)
		}
		rows, _ := tx.Query(ctx, `
			SELECT r.id, r.key FROM result r
			WHERE r.run_id = $1 AND EXISTS (
				SELECT FROM result_source s
				JOIN upload_file f ON f.id = s.upload_file_id
				JOIN upload u ON u.id = f.upload_id
				WHERE s.result_id = r.id AND u.state = 'active')`, id)
		var ids []int64
		var keys [][]byte
		var result int64
		var key []byte
		if _, err := pgx.ForEachRow(rows, []any{&result, &key}, func() error {
			ids, keys = append(ids, result), append(keys, slices.Clone(key))
			return nil
		}); err != nil {
			return err
		}
		if len(ids) == 0 {
			return bench.Errorf(bench.KindConflict, "every upload of run %d is withdrawn: upload its files again", id)
		}
		var other int64
		err := tx.QueryRow(ctx, `SELECT run_id FROM result WHERE key = ANY ($1) AND NOT withdrawn LIMIT 1`, keys).Scan(&other)
		if err == nil {
			return bench.Errorf(bench.KindConflict, "run %d measured what run %d is stored to have measured: withdraw that one first", id, other)
		} else if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE run SET state = 'active', reason = NULL WHERE id = $1`, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE result SET withdrawn = false WHERE id = ANY ($1)`, ids); err != nil {
			return err
		}
		return addHistory(ctx, tx, id, actor, "restored", reason, stateWithdrawn, stateActive)
	})
}

func (s *Store) setRunState(ctx context.Context, op string, id int64, reason, actor string, detect bench.DetectFunc,
	change func(pgx.Tx, *runRow) error,
) error {
	if err := needReason(reason); err != nil {
		return err
	}
	return s.update(ctx, op, func(tx pgx.Tx) error {
		servers, err := serversOfRuns(ctx, tx, []int64{id})
		if err != nil {
			return err
		}
		run, err := lockRun(ctx, tx, id, servers)
		if err != nil {
			return err
		}
		if err := change(tx, run); err != nil {
			return err
		}
		coordinates, err := coordinatesOfRuns(ctx, tx, []int64{id})
		if err != nil {
			return err
		}
		return s.settle(ctx, tx, []int32{run.ServerID}, setOfIDs(coordinates), detect)
	})
}

func setOfIDs(ids []int64) map[int64]bool {
	set := make(map[int64]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// WithdrawUpload takes an upload back: measurements that no other active upload
// holds stop counting, and runs that are left without any are withdrawn with
// it. Everything is kept, with the reason, which is needed. The same bytes may
// be uploaded again, with the same context, which revives them, or with another.
// Figures that the upload added to measurements of other uploads stay. An
// upload that was withdrawn before is an error of kind conflict. detect may be
// nil.
func (s *Store) WithdrawUpload(ctx context.Context, id int64, reason, actor string, detect bench.DetectFunc) error {
	if err := needReason(reason); err != nil {
		return err
	}
	return s.update(ctx, "withdraw upload", func(tx pgx.Tx) error {
		var sha256 string
		err := tx.QueryRow(ctx, `SELECT sha256 FROM upload WHERE id = $1`, id).Scan(&sha256)
		if errors.Is(err, pgx.ErrNoRows) {
			return bench.Errorf(bench.KindNotFound, "there is no upload %d", id)
		} else if err != nil {
			return err
		}
		servers, err := serversOfUpload(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := lock(ctx, tx, append([]string{uploadLock(sha256)}, serverLocks(servers)...)); err != nil {
			return err
		}
		if now, err := serversOfUpload(ctx, tx, id); err != nil {
			return err
		} else if !slices.Equal(servers, now) {
			return errMoved
		}
		tag, err := tx.Exec(ctx, `
			UPDATE upload SET state = 'withdrawn', withdrawn = now(), withdrawn_by = $2, reason = $3
			WHERE id = $1 AND state = 'active'`, id, text(actor), text(reason))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return bench.Errorf(bench.KindConflict, "upload %d was withdrawn before", id)
		}
		ids, touched, err := withdrawResults(ctx, tx, id, reason, actor)
		if err != nil {
			return err
		}
		return s.settle(ctx, tx, ids, touched, detect)
	})
}

// serversOfUpload names the servers of the runs that an upload speaks of, in
// order.
func serversOfUpload(ctx context.Context, tx pgx.Tx, id int64) ([]string, error) {
	rows, _ := tx.Query(ctx, `
		SELECT DISTINCT v.slug
		FROM upload_file f
		JOIN result_source s ON s.upload_file_id = f.id
		JOIN result r ON r.id = s.result_id
		JOIN run u ON u.id = r.run_id
		JOIN server v ON v.id = u.server_id
		WHERE f.upload_id = $1
		ORDER BY v.slug`, id)
	servers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("servers of upload: %w", err)
	}
	return servers, nil
}

// withdrawResults withdraws what an upload leaves without an active source. It
// returns the servers and coordinates concerned.
func withdrawResults(ctx context.Context, tx pgx.Tx, upload int64, reason, actor string) ([]int32, map[int64]bool, error) {
	rows, _ := tx.Query(ctx, `
		UPDATE result SET withdrawn = true
		WHERE NOT withdrawn AND id IN (
			SELECT s.result_id FROM upload_file f JOIN result_source s ON s.upload_file_id = f.id WHERE f.upload_id = $1)
		AND NOT EXISTS (
			SELECT FROM result_source s
			JOIN upload_file f ON f.id = s.upload_file_id
			JOIN upload u ON u.id = f.upload_id
			WHERE s.result_id = result.id AND u.state = 'active')
		RETURNING run_id, coordinate_id`, upload)
	runs, touched := map[int64]bool{}, map[int64]bool{}
	var run, coordinate int64
	if _, err := pgx.ForEachRow(rows, []any{&run, &coordinate}, func() error {
		runs[run], touched[coordinate] = true, true
		return nil
	}); err != nil {
		return nil, nil, fmt.Errorf("withdraw results: %w", err)
	}
	list := slices.Sorted(maps.Keys(runs))
	rows, _ = tx.Query(ctx, `
		UPDATE run SET state = 'withdrawn', reason = $2, withdrawn_with = $3, campaign = NULL
		WHERE id = ANY ($1) AND state = 'active' AND NOT EXISTS (SELECT FROM result WHERE run_id = run.id AND NOT withdrawn)
		RETURNING id`, list, text(fmt.Sprintf("upload %d was withdrawn: %s", upload, reason)), upload)
	emptied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, nil, fmt.Errorf("withdraw runs: %w", err)
	}
	for _, id := range emptied {
		if err := addHistory(ctx, tx, id, actor, "withdrawn", fmt.Sprintf("upload %d was withdrawn: %s", upload, reason),
			stateActive, stateWithdrawn); err != nil {
			return nil, nil, err
		}
	}
	rows, _ = tx.Query(ctx, `SELECT DISTINCT server_id FROM run WHERE id = ANY ($1)`, list)
	servers, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return nil, nil, fmt.Errorf("servers of runs: %w", err)
	}
	return servers, touched, nil
}
