package postgres

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// storedResult is a result that the batch measured as well.
type storedResult struct {
	bench.Stored
	CoordinateID int64
	Threads      *int32
	ValueBytes   *int32
	Sync, WAL    *bool
	Zoned        bool
	Excluded     bool
	HasCommand   bool
	Withdrawn    bool
	// Revived: it was withdrawn with all its uploads and comes back with this
	// one, its figures taken anew.
	Revived bool
}

// decide applies the identity rules to the batch.
func (w *writer) decide() error {
	keys := bench.Keys(w.b)
	if err := w.placeClients(keys); err != nil {
		return err
	}
	if err := w.placeTwins(keys); err != nil {
		return err
	}
	if err := w.placeSupplements(keys); err != nil {
		return err
	}
	stored, err := w.storedByKey(keys)
	if err != nil {
		return err
	}
	w.plan = bench.Decide(w.b, keys, stored)
	if len(w.plan.Refused) > 0 {
		// The reasons name places, which nobody needs otherwise.
		if err := w.addWhere(stored); err != nil {
			return err
		}
		w.plan = bench.Decide(w.b, keys, stored)
	}
	figures, err := w.measured()
	if err != nil {
		return err
	}
	w.figures = w.plan.YieldMatrices(w.b, figures)
	return nil
}

// storedByKey finds what is stored under the keys of the batch: the measurement
// that counts; else the newest withdrawn one that the batch does not contradict,
// so that another context can take the place of a wrong one.
func (w *writer) storedByKey(keys map[bench.Ref]bench.Key) (map[bench.Key]*bench.Stored, error) {
	refs := map[bench.Key][]bench.Ref{}
	for ref, k := range keys {
		refs[k] = append(refs[k], ref)
	}
	list := make([][]byte, 0, len(refs))
	for k := range refs {
		list = append(list, k[:])
	}
	const columns = `
		SELECT r.key, r.id, r.run_id, u.workload, b.compiler, u.config, r.coordinate_id, r.metric_set_id, r.values,
			r.threads, r.value_bytes, r.sync, r.wal, r.utc_offset IS NOT NULL, r.excluded <> '', r.command <> '',
			r.withdrawn, u.state = 'withdrawn' AND u.withdrawn_with IS NULL
		FROM result r
		JOIN run u ON u.id = r.run_id
		JOIN build b ON b.id = u.build_id
		WHERE r.key = ANY ($1) AND `
	w.stored = map[int64]*storedResult{}
	found := map[bench.Key]*bench.Stored{}
	type row struct {
		*storedResult
		key      bench.Key
		set      int32
		numbers  []*float64
		explicit bool
	}
	collect := func(rows pgx.Rows) ([]row, error) {
		return pgx.CollectRows(rows, func(r pgx.CollectableRow) (row, error) {
			x := row{storedResult: &storedResult{}}
			var key []byte
			err := r.Scan(&key, &x.ResultID, &x.RunID, &x.Workload, &x.Compiler, &x.Config, &x.CoordinateID, &x.set, &x.numbers,
				&x.Threads, &x.ValueBytes, &x.Sync, &x.WAL, &x.Zoned, &x.Excluded, &x.HasCommand, &x.Withdrawn, &x.explicit)
			copy(x.key[:], key)
			return x, err
		})
	}
	rows, _ := w.tx.Query(w.ctx, columns+`NOT r.withdrawn`, list)
	all, err := collect(rows)
	if err != nil {
		return nil, fmt.Errorf("stored measurements: %w", err)
	}
	rows, _ = w.tx.Query(w.ctx, columns+`r.withdrawn ORDER BY r.id DESC`, list)
	dormant, err := collect(rows)
	if err != nil {
		return nil, fmt.Errorf("withdrawn measurements: %w", err)
	}
	for _, x := range all {
		found[x.key] = &x.Stored
	}
	for _, x := range dormant {
		if found[x.key] != nil {
			continue
		}
		fits := slices.ContainsFunc(refs[x.key], func(ref bench.Ref) bool {
			run := &w.b.Runs[ref.Run]
			// What nobody vouches for cannot tell a row its build.
			if run.Results[ref.Result].ContextFromStore && !x.explicit {
				return false
			}
			return run.Contradicts(x.Workload, x.Compiler, x.Config) == ""
		})
		if fits {
			x.Revived = !x.explicit
			found[x.key] = &x.Stored
			all = append(all, x)
		}
	}
	var sets []int32
	for _, x := range all {
		sets = append(sets, x.set)
	}
	defs, err := w.s.setsByID(w.ctx, w.tx, sets)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if !x.Revived { // else its figures come anew
			x.Values = valuesOf(defs[x.set], x.numbers)
		}
		w.stored[x.ResultID] = x.storedResult
	}
	return found, nil
}

// placeSupplements finds the stored results that supplements belong to which have
// no result of the batch, and gives them those keys.
func (w *writer) placeSupplements(keys map[bench.Ref]bench.Key) error {
	inBatch := map[bench.Key]bool{}
	var lone []bench.Ref
	for i := range w.b.Runs {
		for j := range w.b.Runs[i].Results {
			if ref := (bench.Ref{Run: i, Result: j}); w.b.Runs[i].Results[j].Supplement {
				lone = append(lone, ref)
			} else {
				inBatch[keys[ref]] = true
			}
		}
	}
	lone = slices.DeleteFunc(lone, func(ref bench.Ref) bool { return inBatch[keys[ref]] })
	if len(lone) == 0 {
		return nil
	}
	columns := make([][]string, 6)
	for _, ref := range lone {
		run := &w.b.Runs[ref.Run]
		r := &run.Results[ref.Result]
		for i, v := range []string{run.Server, run.System, run.Suite, run.Build.Version, r.Step.Name, r.Label()} {
			columns[i] = append(columns[i], text(v))
		}
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT n.at, r.key, u.workload, b.compiler, u.config, u.clients
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
			WITH ORDINALITY AS n (server, system, suite, version, step, label, at)
		JOIN server s ON s.slug = n.server
		JOIN coordinate c ON c.server_id = s.id AND c.system = n.system AND c.suite = n.suite AND c.step = n.step
		JOIN result r ON r.coordinate_id = c.id AND NOT r.withdrawn AND split_part(r.source_text, E'\t', 1) = n.label
		JOIN run u ON u.id = r.run_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id AND v.name = n.version`,
		columns[0], columns[1], columns[2], columns[3], columns[4], columns[5])
	var at int64
	var key []byte
	var workload, compiler, config string
	var clients int
	fitting := map[bench.Ref]map[bench.Key]bool{}
	_, err := pgx.ForEachRow(rows, []any{&at, &key, &workload, &compiler, &config, &clients}, func() error {
		ref := lone[at-1]
		if w.b.Runs[ref.Run].Supplements(workload, compiler, config, clients) {
			if fitting[ref] == nil {
				fitting[ref] = map[bench.Key]bool{}
			}
			fitting[ref][bench.Key(key)] = true
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("results that supplements belong to: %w", err)
	}
	for ref, found := range fitting {
		if len(found) == 1 {
			for k := range found {
				keys[ref] = k
			}
		}
	}
	return nil
}

// addWhere fills in where stored measurements came from first.
func (w *writer) addWhere(stored map[bench.Key]*bench.Stored) error {
	by := map[int64]*bench.Stored{}
	var ids []int64
	for _, s := range stored {
		by[s.ResultID] = s
		ids = append(ids, s.ResultID)
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT DISTINCT ON (s.result_id) s.result_id, f.path, s.line, f.upload_id
		FROM result_source s
		JOIN upload_file f ON f.id = s.upload_file_id
		WHERE s.result_id = ANY ($1)
		ORDER BY s.result_id, f.id, s.line`, ids)
	var result, upload int64
	var path string
	var line int
	_, err := pgx.ForEachRow(rows, []any{&result, &path, &line, &upload}, func() error {
		by[result].Where = fmt.Sprintf("%s:%d of upload %d", path, line, upload)
		if line == 0 {
			by[result].Where = fmt.Sprintf("%s of upload %d", path, upload)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sources of stored measurements: %w", err)
	}
	return nil
}

// measured loads the stored figures that matrices of the batch may be compared
// with.
func (w *writer) measured() ([]bench.Figure, error) {
	var servers, workloads, steps, versions []string
	add := func(server, workload, step string, columns ...string) {
		servers, workloads = append(servers, server), append(workloads, workload)
		steps = append(steps, bench.FamilyMembers(bench.StepFamily(step))...)
		versions = append(versions, columns...)
	}
	for i := range w.b.Matrices {
		m := &w.b.Matrices[i]
		for k := range m.Rows {
			add(m.Context.Server, m.Context.Workload, m.Rows[k].Step.Name, m.Columns...)
		}
	}
	for _, ref := range w.plan.New {
		run := &w.b.Runs[ref.Run]
		if r := &run.Results[ref.Result]; r.Origin == bench.OriginMatrix {
			add(run.Server, run.Workload, r.Step.Name, run.Build.Version)
		}
	}
	if len(steps) == 0 {
		return nil, nil
	}
	return figures(w.ctx, w.tx, servers, workloads, steps, versions)
}
