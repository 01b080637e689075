package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// placeClients gives undated results of the batch the keys of stored ones that
// differ in nothing but that one of the two states no number of clients, where
// there is exactly one: a number that is not stated contradicts none.
func (w *writer) placeClients(keys map[bench.Ref]bench.Key) error {
	unstated, stated := false, false
	var servers, systems, suites []string
	for i := range w.b.Runs {
		run := &w.b.Runs[i]
		if run.ID != "" || !hasUndated(run) {
			continue
		}
		unstated, stated = unstated || run.Clients == 0, stated || run.Clients > 0
		servers, systems, suites = append(servers, text(run.Server)), append(systems, text(run.System)), append(suites, text(run.Suite))
	}
	var tries []int
	if stated {
		tries = append(tries, 0)
	}
	if unstated {
		rows, _ := w.tx.Query(w.ctx, `
			SELECT DISTINCT u.clients
			FROM unnest($1::text[], $2::text[], $3::text[]) AS n (server, system, suite)
			JOIN server s ON s.slug = n.server
			JOIN run u ON u.server_id = s.id AND u.system = n.system AND u.suite = n.suite
			WHERE u.clients > 0
			ORDER BY 1`, servers, systems, suites)
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			return fmt.Errorf("clients of stored runs: %w", err)
		}
		tries = append(tries, numbers...)
	}
	if len(tries) == 0 {
		return nil
	}
	others := map[bench.Ref][]bench.Key{}
	var list [][]byte
	for _, n := range tries {
		for ref, k := range bench.KeysWithClients(w.b, n) {
			others[ref] = append(others[ref], k)
			list = append(list, k[:])
		}
	}
	for ref := range others {
		k := keys[ref]
		list = append(list, k[:])
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT r.key, u.clients FROM result r JOIN run u ON u.id = r.run_id WHERE r.key = ANY ($1) AND NOT r.withdrawn`, list)
	clients := map[bench.Key]int{}
	var key []byte
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&key, &n}, func() error {
		clients[bench.Key(key)] = n
		return nil
	}); err != nil {
		return fmt.Errorf("measurements with other clients: %w", err)
	}
	moved := map[bench.Key]bench.Key{}
	for ref, candidates := range others {
		if _, known := clients[keys[ref]]; known {
			continue
		}
		own := w.b.Runs[ref.Run].Clients
		fitting := map[bench.Key]bool{}
		for _, k := range candidates {
			if there, known := clients[k]; known && (own == 0 || there == 0 || there == own) {
				fitting[k] = true
			}
		}
		if len(fitting) == 1 {
			for k := range fitting {
				moved[keys[ref]] = k
			}
		}
	}
	bench.MoveKeys(keys, moved)
	return nil
}

func hasUndated(run *bench.Run) bool {
	for i := range run.Results {
		if r := &run.Results[i]; !r.Supplement && (r.Started.IsZero() || r.State == bench.StateNotRun) {
			return true
		}
	}
	return false
}

// placeTwins gives results the keys of stored ones that are the same measurement
// with the figure rounded otherwise, see [bench.TwinPlace], where there is exactly
// one.
func (w *writer) placeTwins(keys map[bench.Ref]bench.Key) error {
	var refs []bench.Ref
	var list [][]byte
	columns := make([][]string, 6)
	var starts []*time.Time
	for i := range w.b.Runs {
		run := &w.b.Runs[i]
		for j := range run.Results {
			r := &run.Results[j]
			p, ok := run.TwinPlace(r)
			if !ok {
				continue
			}
			ref := bench.Ref{Run: i, Result: j}
			k := keys[ref]
			refs, list = append(refs, ref), append(list, k[:])
			for c, v := range []string{p.Server, p.System, p.Suite, p.Version, p.Step, p.Label} {
				columns[c] = append(columns[c], text(v))
			}
			at, _ := splitTime(r.Started)
			starts = append(starts, at)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT n.at, r.key, u.workload, b.compiler, u.config, u.clients, r.metric_set_id, r.values, r.primary_metric
		FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamp[])
			WITH ORDINALITY AS n (key, server, system, suite, version, step, label, started, at)
		JOIN server s ON s.slug = n.server
		JOIN coordinate c ON c.server_id = s.id AND c.system = n.system AND c.suite = n.suite AND c.step = n.step
		JOIN result r ON r.coordinate_id = c.id AND NOT r.withdrawn AND r.origin = 'measured' AND r.state = 'ok'
			AND r.started IS NOT DISTINCT FROM n.started AND (n.label = '' OR split_part(r.source_text, E'\t', 1) = n.label)
		JOIN run u ON u.id = r.run_id AND NOT u.own_id
		JOIN build b ON b.id = u.build_id
		JOIN version v ON v.id = b.version_id AND v.sort_key = n.version
		WHERE NOT EXISTS (SELECT FROM result known WHERE known.key = n.key AND NOT known.withdrawn)`,
		list, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], starts)
	type found struct {
		at                         int64
		key                        []byte
		workload, compiler, config string
		clients                    int
		set                        int32
		numbers                    []*float64
		metric                     string
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (found, error) {
		var x found
		err := row.Scan(&x.at, &x.key, &x.workload, &x.compiler, &x.config, &x.clients, &x.set, &x.numbers, &x.metric)
		return x, err
	})
	if err != nil {
		return fmt.Errorf("results with rounded figures: %w", err)
	}
	var sets []int32
	for _, x := range all {
		sets = append(sets, x.set)
	}
	defs, err := w.s.setsByID(w.ctx, w.tx, sets)
	if err != nil {
		return err
	}
	fitting := map[bench.Ref]map[bench.Key]bool{}
	for _, x := range all {
		ref := refs[x.at-1]
		run := &w.b.Runs[ref.Run]
		own, _ := run.Results[ref.Result].PrimaryValue()
		stored := bench.Result{Primary: x.metric, Values: valuesOf(defs[x.set], x.numbers)}
		if v, ok := stored.PrimaryValue(); ok && bench.Rounded(own, v) && run.Supplements(x.workload, x.compiler, x.config, x.clients) {
			if fitting[ref] == nil {
				fitting[ref] = map[bench.Key]bool{}
			}
			fitting[ref][bench.Key(x.key)] = true
		}
	}
	moved := map[bench.Key]bench.Key{}
	for ref, found := range fitting {
		if len(found) == 1 {
			for k := range found {
				moved[keys[ref]] = k
			}
		}
	}
	bench.MoveKeys(keys, moved)
	return nil
}
