package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// runRow is a stored run as writes need it.
type runRow struct {
	ID            int64
	Key           string
	OwnID         bool
	ServerID      int32
	Server        string
	System        string
	Suite         string
	Workload      string
	Config        string
	Build         bench.Build
	Clients       int
	ClientsStated *int
	Environment   map[string]string
	Options       map[string]string
	State         bench.RecordState
	WithdrawnWith *int64
	Reason        *string
}

// withdrawn reports whether somebody withdrew the run itself: then it stays so,
// whatever is uploaded.
func (r *runRow) withdrawn() bool {
	return r.State == bench.RecordWithdrawn && r.WithdrawnWith == nil
}

// place gives the coordinate of a step of the run.
func (r *runRow) place(step string) place {
	return place{r.ServerID, bench.Coordinate{System: r.System, Suite: r.Suite, Workload: r.Workload, Step: step,
		Compiler: r.Build.Compiler, Config: r.Config, Clients: r.Clients}}
}

// loadRuns locks and reads runs by id or key, in id order.
func loadRuns(ctx context.Context, tx pgx.Tx, ids []int64, keys []string) ([]*runRow, error) {
	rows, _ := tx.Query(ctx, `
		SELECT r.id, r.key, r.own_id, r.server_id, s.slug, r.system, r.suite, r.workload, r.config,
			v.name, b.compiler, b.compiler_version, b.flags, b.git_hash, b.binary_sha256, b.command,
			r.clients, r.clients_stated, r.environment, r.options, r.state, r.withdrawn_with, r.reason
		FROM run r
		JOIN server s ON s.id = r.server_id
		JOIN build b ON b.id = r.build_id
		JOIN version v ON v.id = b.version_id
		WHERE r.id = ANY ($1) OR r.key = ANY ($2)
		ORDER BY r.id
		FOR UPDATE OF r`, ids, keys)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*runRow, error) {
		r := &runRow{}
		err := row.Scan(&r.ID, &r.Key, &r.OwnID, &r.ServerID, &r.Server, &r.System, &r.Suite, &r.Workload, &r.Config,
			&r.Build.Version, &r.Build.Compiler, &r.Build.CompilerVersion, &r.Build.Flags, &r.Build.GitHash, &r.Build.BinarySHA256, &r.Build.Command,
			&r.Clients, &r.ClientsStated, &r.Environment, &r.Options, &r.State, &r.WithdrawnWith, &r.Reason)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("load runs: %w", err)
	}
	return list, nil
}

// runTarget is the stored run that runs of the batch are written to.
type runTarget struct {
	id      int64
	stored  *runRow // nil: a new one
	row     runRow  // as it becomes
	members []int   // indexes of batch runs
}

// joinRuns decides for each run of the batch which stored run it is, inserts
// those that are new and completes those that are not.
func (w *writer) joinRuns() error {
	adds, into := map[int]map[int64]int{}, map[int]int{} // results by stored run; a batch run joined through a common result
	active := map[int]bool{}                             // batch runs of which something is stored
	var ids []int64
	for _, a := range w.plan.Additions {
		active[a.Ref.Run] = true
		if a.Stored == nil {
			if _, ok := into[a.Ref.Run]; !ok && a.Into.Run != a.Ref.Run {
				into[a.Ref.Run] = a.Into.Run
			}
			continue
		}
		if adds[a.Ref.Run] == nil {
			adds[a.Ref.Run] = map[int64]int{}
		}
		adds[a.Ref.Run][a.Stored.RunID]++
		ids = append(ids, a.Stored.RunID)
	}
	for _, ref := range w.plan.New {
		active[ref.Run] = true
	}
	keys := map[int]string{}
	for i := range active {
		keys[i] = text(bench.RunKey(&w.b.Runs[i]))
	}
	stored, err := loadRuns(w.ctx, w.tx, ids, slices.Collect(maps.Values(keys)))
	if err != nil {
		return err
	}
	byID, byKey := map[int64]*runTarget{}, map[string]*runTarget{}
	for _, r := range stored {
		t := &runTarget{id: r.ID, stored: r, row: *r}
		byID[r.ID], byKey[r.Key] = t, t
	}
	w.runs = make([]*runTarget, len(w.b.Runs))
	join := func(i int, t *runTarget) {
		w.runs[i] = t
		t.members = append(t.members, i)
	}
	order := slices.Sorted(maps.Keys(active))
	for _, i := range order {
		run := &w.b.Runs[i]
		if t := byKey[keys[i]]; t != nil && run.ID != "" {
			if err := sameRun(run, t.stored); err != nil {
				return err
			}
			join(i, t)
		} else if t := byID[mostOf(adds[i])]; t != nil {
			join(i, t)
		} else if t := byKey[keys[i]]; t != nil {
			join(i, t)
		}
	}
	var fresh []*runTarget
	for _, i := range order {
		if w.runs[i] != nil {
			continue
		}
		if j, ok := into[i]; ok && w.runs[j] != nil {
			join(i, w.runs[j])
			continue
		}
		t := byKey[keys[i]]
		if t == nil {
			run := &w.b.Runs[i]
			t = &runTarget{row: runRow{
				Key: keys[i], OwnID: run.ID != "", Server: run.Server, ServerID: w.servers[run.Server], System: run.System, Suite: run.Suite,
				Workload: run.Workload, Config: run.Config, Build: systemBuild{run.System, run.Build}.clean().Build, State: bench.RecordActive,
			}}
			byKey[keys[i]] = t
			fresh = append(fresh, t)
		}
		join(i, t)
	}
	// A run that only adds to results of a later one has made a target that
	// nothing is written to.
	gives := w.givesNew()
	fresh = slices.DeleteFunc(fresh, func(t *runTarget) bool { return !gives[t] })
	for _, i := range order {
		if t := w.runs[i]; t.stored == nil && !gives[t] {
			w.runs[i] = nil
			if j, ok := into[i]; ok {
				w.runs[i] = w.runs[j]
			}
		}
	}
	completed := map[*runTarget]bool{nil: true}
	for _, t := range w.runs {
		if !completed[t] {
			completed[t] = true
			w.complete(t)
		}
	}
	return w.storeRuns(fresh, stored, byID)
}

// givesNew gives the targets that a run of the batch has joined which brings a
// measurement that is not known yet.
func (w *writer) givesNew() map[*runTarget]bool {
	gives := map[*runTarget]bool{}
	for _, ref := range w.plan.New {
		gives[w.runs[ref.Run]] = true
	}
	return gives
}

// mostOf gives the run that has most of the results, the older of two.
func mostOf(counts map[int64]int) int64 {
	var best int64
	for id, n := range counts {
		if n > counts[best] || (n == counts[best] && id < best) {
			best = id
		}
	}
	return best
}

// sameRun makes sure that a run whose id our runner gave is the one stored.
func sameRun(run *bench.Run, stored *runRow) error {
	diff := run.Contradicts(stored.Workload, stored.Build.Compiler, stored.Config)
	for _, f := range []struct{ name, here, there string }{
		{"server", run.Server, stored.Server}, {"system", run.System, stored.System},
		{"suite", run.Suite, stored.Suite}, {"version", run.Build.Version, stored.Build.Version},
	} {
		if f.here != f.there {
			diff = fmt.Sprintf("%s %q here, %q there", f.name, f.here, f.there)
		}
	}
	if diff == "" {
		return nil
	}
	e := bench.Errorf(bench.KindConflict, "run %s is stored as run %d with other context: %s", run.ID, stored.ID, diff)
	for i := range run.Results {
		if src := run.Results[i].Sources; len(src) > 0 && len(e.Places) < bench.RefusalsPerFile {
			e.Places = append(e.Places, bench.Message{File: src[0].File, Line: src[0].Line, Text: e.Message})
		}
	}
	return e
}

// complete fills in what the members of a target know and it does not.
func (w *writer) complete(t *runTarget) {
	t.row.Environment, t.row.Options = maps.Clone(t.row.Environment), maps.Clone(t.row.Options)
	if t.row.Environment == nil {
		t.row.Environment = map[string]string{}
	}
	if t.row.Options == nil {
		t.row.Options = map[string]string{}
	}
	for _, i := range t.members {
		run := &w.b.Runs[i]
		if slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.ContextFromStore }) {
			continue // rows of several builds say nothing about one run
		}
		fillMap(t.row.Environment, run.Environment)
		fillMap(t.row.Options, run.Options)
		if run.Build.Version == t.row.Build.Version {
			here := systemBuild{run.System, run.Build}.clean()
			for _, f := range []struct{ to, from *string }{
				{&t.row.Build.CompilerVersion, &here.CompilerVersion}, {&t.row.Build.Flags, &here.Flags},
				{&t.row.Build.GitHash, &here.GitHash}, {&t.row.Build.BinarySHA256, &here.BinarySHA256},
				{&t.row.Build.Command, &here.Command},
			} {
				if *f.to == "" {
					*f.to = *f.from
				}
			}
		}
		threads := 0
		for k := range run.Results {
			threads = max(threads, run.Results[k].Step.Threads)
		}
		switch stated := run.Clients; {
		case stated > 0 && stated != threads:
			if t.row.ClientsStated == nil {
				t.row.ClientsStated = &stated
			} else if *t.row.ClientsStated != stated {
				w.receipt.Warnings = append(w.receipt.Warnings, bench.Message{File: firstFile(run),
					Text: fmt.Sprintf("%d clients here, %d as stored; those stored are kept", stated, *t.row.ClientsStated)})
			}
		default:
			t.row.Clients = max(t.row.Clients, threads)
		}
	}
	if t.row.ClientsStated != nil {
		t.row.Clients = *t.row.ClientsStated
	}
}

func firstFile(run *bench.Run) string {
	for i := range run.Results {
		if src := run.Results[i].Sources; len(src) > 0 {
			return src[0].File
		}
	}
	return ""
}

func fillMap(to, from map[string]string) {
	for k, v := range from {
		if _, ok := to[text(k)]; !ok {
			to[text(k)] = text(v)
		}
	}
}

// storeRuns inserts new runs and updates those that changed.
func (w *writer) storeRuns(fresh []*runTarget, stored []*runRow, byID map[int64]*runTarget) error {
	var builds []systemBuild
	for _, t := range fresh {
		builds = append(builds, systemBuild{t.row.System, t.row.Build})
	}
	for _, r := range stored {
		if t := byID[r.ID]; t.row.Build != r.Build {
			builds = append(builds, systemBuild{t.row.System, t.row.Build})
		}
	}
	buildIDs, err := ensureBuilds(w.ctx, w.tx, builds)
	if err != nil {
		return err
	}
	ids, err := nextIDs(w.ctx, w.tx, "run", len(fresh))
	if err != nil {
		return err
	}
	var rows [][]any
	starts := w.firstStarts()
	for i, t := range fresh {
		t.id, t.row.ID = ids[i], ids[i]
		first := &w.b.Runs[t.members[0]]
		assumed := sortedSet(first.Assumed)
		started, offset := splitTime(starts[t])
		rows = append(rows, []any{t.id, t.row.Key, t.row.OwnID, t.row.ServerID, t.row.System, t.row.Suite, t.row.Workload, t.row.Config,
			buildIDs[systemBuild{t.row.System, t.row.Build}], t.row.Clients, t.row.ClientsStated, assumed,
			t.row.Environment, t.row.Options, started, offset})
	}
	if err := copyRows(w.ctx, w.tx, "run", []string{"id", "key", "own_id", "server_id", "system", "suite", "workload", "config",
		"build_id", "clients", "clients_stated", "assumed", "environment", "options", "started", "utc_offset"}, rows); err != nil {
		return err
	}
	for _, r := range stored {
		if err := w.updateRun(byID[r.ID], buildIDs); err != nil {
			return err
		}
	}
	return nil
}

// updateRun writes what a stored run gained. A start earlier than the known one
// is found when the results are in, see [settle].
func (w *writer) updateRun(t *runTarget, buildIDs map[systemBuild]int32) error {
	was, is := t.stored, &t.row
	if was.Build != is.Build {
		if _, err := w.tx.Exec(w.ctx, `UPDATE run SET build_id = $2 WHERE id = $1`, t.id, buildIDs[systemBuild{is.System, is.Build}]); err != nil {
			return fmt.Errorf("update build of run: %w", err)
		}
		if was.Build.GitHash != is.Build.GitHash {
			if err := w.touchRun(t.id); err != nil {
				return err
			}
		}
	}
	if len(is.Environment) != len(was.Environment) || len(is.Options) != len(was.Options) {
		if _, err := w.tx.Exec(w.ctx, `UPDATE run SET environment = $2, options = $3 WHERE id = $1`, t.id, is.Environment, is.Options); err != nil {
			return fmt.Errorf("update facts of run: %w", err)
		}
	}
	if was.ClientsStated == nil && is.ClientsStated != nil || was.Clients != is.Clients {
		if _, err := w.tx.Exec(w.ctx, `UPDATE run SET clients = $2, clients_stated = $3 WHERE id = $1`, t.id, is.Clients, is.ClientsStated); err != nil {
			return fmt.Errorf("update clients of run: %w", err)
		}
	}
	if was.Clients != is.Clients {
		return moveResults(w.ctx, w.tx, is, w.touched)
	}
	return nil
}

// touchRun marks the coordinates of all results of a run.
func (w *writer) touchRun(id int64) error {
	ids, err := coordinatesOfRuns(w.ctx, w.tx, []int64{id})
	for _, c := range ids {
		w.touched[c] = true
	}
	return err
}

// coordinatesOfRuns gives the coordinates at which runs have results.
func coordinatesOfRuns(ctx context.Context, tx pgx.Tx, runs []int64) ([]int64, error) {
	rows, _ := tx.Query(ctx, `SELECT DISTINCT coordinate_id FROM result WHERE run_id = ANY ($1)`, runs)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("coordinates of runs: %w", err)
	}
	return ids, nil
}

// moveResults puts the results of a run where its context says, and marks the
// coordinates on both sides.
func moveResults(ctx context.Context, tx pgx.Tx, run *runRow, touched map[int64]bool) error {
	rows, _ := tx.Query(ctx, `
		SELECT r.id, r.coordinate_id, c.step FROM result r JOIN coordinate c ON c.id = r.coordinate_id WHERE r.run_id = $1`, run.ID)
	type at struct {
		ID, Coordinate int64
		Step           string
	}
	results, err := pgx.CollectRows(rows, pgx.RowToStructByPos[at])
	if err != nil {
		return fmt.Errorf("results of run: %w", err)
	}
	var places []place
	for _, r := range results {
		places = append(places, run.place(r.Step))
	}
	coordinates, err := ensureCoordinates(ctx, tx, places)
	if err != nil {
		return err
	}
	ids, to := make([]int64, len(results)), make([]int64, len(results))
	for i, r := range results {
		ids[i], to[i] = r.ID, coordinates[run.place(r.Step)]
		touched[r.Coordinate], touched[to[i]] = true, true
	}
	_, err = tx.Exec(ctx, `
		UPDATE result r SET coordinate_id = m.coordinate_id
		FROM unnest($1::bigint[], $2::bigint[]) AS m (id, coordinate_id)
		WHERE r.id = m.id`, ids, to)
	if err != nil {
		return fmt.Errorf("move results: %w", err)
	}
	return nil
}

// firstStarts gives the earliest start among the new results of each target.
func (w *writer) firstStarts() map[*runTarget]bench.LocalTime {
	starts := make(map[*runTarget]bench.LocalTime, len(w.runs))
	for _, ref := range w.plan.New {
		t := w.runs[ref.Run]
		at := w.b.Runs[ref.Run].Results[ref.Result].Started
		if first := starts[t]; !at.IsZero() && (first.IsZero() || at.Instant().Before(first.Instant())) {
			starts[t] = at
		}
	}
	return starts
}

// splitTime gives the stored parts of a time, nil for what is not stated.
func splitTime(t bench.LocalTime) (wall *time.Time, offset *int) {
	if t.IsZero() {
		return nil, nil
	}
	w := t.Wall()
	if o, ok := t.Offset(); ok {
		offset = &o
	}
	return &w, offset
}

// joinTime is the inverse of [splitTime].
func joinTime(wall *time.Time, offset *int) bench.LocalTime {
	if wall == nil {
		return bench.LocalTime{}
	}
	return bench.LocalTimeOf(*wall, offset)
}
