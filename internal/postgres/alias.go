package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// Rename gives a server, a workload or a config another name, everywhere: what
// was measured, its identity, and the scopes of notes. Changes and links stay. The
// former name goes on to mean the thing, in addresses and in what is uploaded,
// until something else gets it. A name that nothing has is an error of kind not
// found, one that something else has of kind conflict: runs are corrected then,
// not renamed.
func (s *Store) Rename(ctx context.Context, kind bench.NameKind, old, name, actor string) error {
	old, name = strings.TrimSpace(text(old)), strings.TrimSpace(text(name))
	if kind == bench.NameWorkload {
		name = bench.WorkloadName(name)
	}
	switch {
	case !kind.Valid():
		return bench.Errorf(bench.KindInvalid, "a server, a workload or a config can be renamed, not a %q", kind)
	case old == "" || name == "":
		return bench.Errorf(bench.KindInvalid, "both names are needed")
	case old == name:
		return nil
	}
	if problem := bench.NameProblem(name); problem != "" {
		return bench.Errorf(bench.KindInvalid, "the %s %s %s", kind, bench.Excerpt(name), problem)
	}
	return s.update(ctx, "rename", func(tx pgx.Tx) error {
		if err := lockNames(ctx, tx, true); err != nil {
			return err
		}
		servers, err := renameServers(ctx, tx, kind, old, name)
		if err != nil {
			return err
		}
		if err := lock(ctx, tx, serverLocks(servers)); err != nil {
			return err
		}
		var has, taken bool
		if err := tx.QueryRow(ctx, renameSQL[kind].present, old, name).Scan(&has, &taken); err != nil {
			return fmt.Errorf("find names: %w", err)
		}
		if !has {
			return bench.Errorf(bench.KindNotFound, "there is no %s %q", kind, old)
		}
		if taken {
			return bench.Errorf(bench.KindConflict, "there is a %s %q already: correct the runs that belong to it", kind, name)
		}
		rows, _ := tx.Query(ctx, renameSQL[kind].runs, old)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return fmt.Errorf("find runs: %w", err)
		}
		runs, err := loadRuns(ctx, tx, ids, nil)
		if err != nil {
			return err
		}
		for _, run := range runs {
			was := *run
			switch kind {
			case bench.NameServer:
				run.Server = name
			case bench.NameWorkload:
				run.Workload = name
			case bench.NameConfig:
				run.Config = name
			}
			if err := renameRun(ctx, tx, &was, run); err != nil {
				return err
			}
		}
		b := &pgx.Batch{}
		for _, sql := range renameSQL[kind].update {
			b.Queue(sql, old, name)
		}
		b.Queue(`UPDATE alias SET new = $3 WHERE kind = $1 AND new = $2 AND old <> $3`, string(kind), old, name)
		// Going back to a former name ends that name's detour.
		b.Queue(`DELETE FROM alias WHERE kind = $1 AND old = $2`, string(kind), name)
		b.Queue(`INSERT INTO alias (kind, old, new, actor) VALUES ($1, $2, $3, $4)
			ON CONFLICT (kind, old) DO UPDATE SET new = EXCLUDED.new, actor = EXCLUDED.actor, at = now()`, string(kind), old, name, text(actor))
		return exec(ctx, tx, "rename", b)
	})
}

// renameSQL is what differs between the kinds: whether the old name is there and
// the new one taken, the runs that have it, and what becomes of it.
var renameSQL = map[bench.NameKind]struct {
	present, runs string
	update        []string
}{
	bench.NameServer: {
		`SELECT EXISTS (SELECT FROM server WHERE slug = $1), EXISTS (SELECT FROM server WHERE slug = $2)`,
		`SELECT r.id FROM run r JOIN server s ON s.id = r.server_id WHERE s.slug = $1`,
		[]string{`UPDATE server SET slug = $2 WHERE slug = $1`, `UPDATE note SET server = $2 WHERE server = $1`},
	},
	bench.NameWorkload: {
		`SELECT EXISTS (SELECT FROM coordinate WHERE workload = $1), EXISTS (SELECT FROM coordinate WHERE workload = $2)`,
		`SELECT id FROM run WHERE workload = $1`,
		[]string{
			`UPDATE coordinate SET workload = $2 WHERE workload = $1`, `UPDATE run SET workload = $2 WHERE workload = $1`,
			`UPDATE note SET workload = $2 WHERE workload = $1`,
		},
	},
	bench.NameConfig: {
		`SELECT EXISTS (SELECT FROM coordinate WHERE config = $1) OR EXISTS (SELECT FROM config WHERE name = $1),
			EXISTS (SELECT FROM coordinate WHERE config = $2) OR EXISTS (SELECT FROM config WHERE name = $2)`,
		`SELECT id FROM run WHERE config = $1`,
		[]string{
			`UPDATE coordinate SET config = $2 WHERE config = $1`, `UPDATE run SET config = $2 WHERE config = $1`,
			`UPDATE note SET config = $2 WHERE config = $1`, `UPDATE config SET name = $2 WHERE name = $1`,
		},
	},
}

// renameServers names the servers whose writes must wait for a renaming.
func renameServers(ctx context.Context, tx pgx.Tx, kind bench.NameKind, old, name string) ([]string, error) {
	if kind == bench.NameServer {
		return []string{old, name}, nil
	}
	rows, _ := tx.Query(ctx, `SELECT slug FROM server`)
	servers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("servers: %w", err)
	}
	return servers, nil
}

// renameRun gives a run and its results the keys that follow from its new name,
// so that what is uploaded again is recognised.
func renameRun(ctx context.Context, tx pgx.Tx, was, run *runRow) error {
	results, err := identities(ctx, tx, run.ID)
	if err != nil {
		return err
	}
	if err := rekey(ctx, tx, was, run, results); err != nil {
		return err
	}
	if run.OwnID {
		return nil
	}
	_, err = tx.Exec(ctx, `UPDATE run SET key = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM run o WHERE o.key = $2 AND o.id <> $1)`,
		run.ID, run.keyFrom(was, results))
	if err != nil {
		return fmt.Errorf("update key: %w", err)
	}
	return nil
}

// formerNames finds what names mean that nothing has any more.
const formerNames = `
	SELECT a.kind, a.old, a.new
	FROM unnest($1::text[], $2::text[]) AS n (kind, name)
	JOIN alias a ON a.kind = n.kind AND a.old = n.name
	WHERE NOT CASE a.kind
		WHEN 'server' THEN EXISTS (SELECT FROM server s WHERE s.slug = a.old)
		WHEN 'workload' THEN EXISTS (SELECT FROM coordinate c WHERE c.workload = a.old)
		ELSE EXISTS (SELECT FROM coordinate c WHERE c.config = a.old) OR EXISTS (SELECT FROM config c WHERE c.name = a.old)
	END`

// FormerNames gives for those names among the given that are former ones what
// they mean now; New of the given is ignored.
func (s *Store) FormerNames(ctx context.Context, names []bench.FormerName) ([]bench.FormerName, error) {
	found, err := findFormer(ctx, s.pool, names)
	return found, translate("former names", err)
}

func findFormer(ctx context.Context, q querier, names []bench.FormerName) ([]bench.FormerName, error) {
	if len(names) == 0 {
		return nil, nil
	}
	kinds, olds := make([]string, 0, len(names)), make([]string, 0, len(names))
	for _, n := range names {
		kinds, olds = append(kinds, string(n.Kind)), append(olds, n.Old)
	}
	rows, _ := q.Query(ctx, formerNames, kinds, olds)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[bench.FormerName])
}

// useCurrentNames puts current names in the place of former ones in a batch: a
// script that goes on to send the old name goes on to mean the same machine.
func (w *writer) useCurrentNames() error {
	type field struct {
		kind bench.NameKind
		name *string
	}
	var fields []field
	for i := range w.b.Runs {
		r := &w.b.Runs[i]
		fields = append(fields, field{bench.NameServer, &r.Server}, field{bench.NameWorkload, &r.Workload}, field{bench.NameConfig, &r.Config})
	}
	for i := range w.b.Matrices {
		c := &w.b.Matrices[i].Context
		fields = append(fields, field{bench.NameServer, &c.Server}, field{bench.NameWorkload, &c.Workload}, field{bench.NameConfig, &c.Config})
	}
	for i := range w.b.Configs {
		fields = append(fields, field{bench.NameConfig, &w.b.Configs[i].Name})
	}
	wanted := map[bench.FormerName]bool{}
	var names []bench.FormerName
	for _, f := range fields {
		if n := (bench.FormerName{Kind: f.kind, Old: *f.name}); n.Old != "" && !wanted[n] {
			wanted[n] = true
			names = append(names, n)
		}
	}
	former, err := findFormer(w.ctx, w.tx, names)
	if err != nil {
		return fmt.Errorf("former names: %w", err)
	}
	for _, n := range former {
		for _, f := range fields {
			if f.kind == n.Kind && *f.name == n.Old {
				*f.name = n.New
			}
		}
	}
	return nil
}
