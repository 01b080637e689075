package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// maxNote bounds a note's text in bytes.
const maxNote = 20_000

const noteColumns = `id, system, version, COALESCE(to_version, ''), COALESCE(change_id, 0), COALESCE(step, ''), COALESCE(server, ''),
	COALESCE(workload, ''), COALESCE(compiler, ''), COALESCE(config, ''), body, author, created, updated, deleted, revision`

func scanNote(row pgx.CollectableRow) (n bench.Note, err error) {
	err = row.Scan(&n.ID, &n.System, &n.Version, &n.ToVersion, &n.ChangeID, &n.Scope.Step, &n.Scope.Server, &n.Scope.Workload,
		&n.Scope.Compiler, &n.Scope.Config, &n.Body, &n.Author, &n.Created, &n.Updated, &n.Deleted, &n.Revision)
	return n, err
}

// Notes lists notes in order of the versions they are about, then of their
// writing.
func (s *Store) Notes(ctx context.Context, f bench.NoteFilter) ([]bench.Note, error) {
	key := ""
	if f.Version != "" {
		key = bench.VersionKey(f.Version)
	}
	rows, err := s.pool.Query(ctx, `
		SELECT `+noteColumns+`
		FROM note
		WHERE ($1 = '' OR system = $1)
			AND ($2 = '' OR version_key = $2 OR version_key <= $2 AND to_version_key >= $2)
			AND ($3::bigint = 0 OR change_id = $3)
			AND ($4 OR deleted IS NULL)
		ORDER BY system, version_key, id`,
		f.System, key, f.ChangeID, f.Deleted)
	if err != nil {
		return nil, translate("notes", err)
	}
	notes, err := pgx.CollectRows(rows, scanNote)
	return notes, translate("notes", err)
}

// Note gives a note, deleted ones too, with every text it had, oldest first; of
// kind not found when there is none.
func (s *Store) Note(ctx context.Context, id int64) (n bench.Note, history []bench.NoteRevision, err error) {
	err = s.view(ctx, "note", func(tx pgx.Tx) error {
		if n, err = loadNote(ctx, tx, id, ""); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `SELECT revision, at, actor, action, body FROM note_revision WHERE note_id = $1 ORDER BY revision`, id)
		history, err = pgx.CollectRows(rows, pgx.RowToStructByPos[bench.NoteRevision])
		return err
	})
	return n, history, err
}

// loadNote reads a note; lock is "" or "FOR UPDATE".
func loadNote(ctx context.Context, tx pgx.Tx, id int64, lock string) (bench.Note, error) {
	sql := `SELECT ` + noteColumns + ` FROM note WHERE id = $1`
	if lock != "" {
		sql += " FOR UPDATE"
	}
	rows, _ := tx.Query(ctx, sql, id)
	n, err := pgx.CollectExactlyOneRow(rows, scanNote)
	if errors.Is(err, pgx.ErrNoRows) {
		return n, bench.Errorf(bench.KindNotFound, "there is no note %d", id)
	}
	return n, err
}

func checkNote(n *bench.Note) error {
	n.System, n.Version, n.ToVersion = strings.TrimSpace(n.System), strings.TrimSpace(n.Version), strings.TrimSpace(n.ToVersion)
	switch {
	case n.System == "" || n.Version == "":
		return bench.Errorf(bench.KindInvalid, "a note is about a version of a system: name both")
	case n.ToVersion != "" && bench.CompareVersions(n.ToVersion, n.Version) < 0:
		return bench.Errorf(bench.KindInvalid, "the range ends at %s, before it begins at %s", n.ToVersion, n.Version)
	case strings.TrimSpace(n.Body) == "" || len(n.Body) > maxNote:
		return bench.Errorf(bench.KindInvalid, "a note has between 1 and %d bytes", maxNote)
	case n.Author == "":
		return bench.Errorf(bench.KindInvalid, "a note has an author")
	}
	return nil
}

// CreateNote stores a note and gives it back with its id. A note on a change that
// does not exist is an error of kind not found.
func (s *Store) CreateNote(ctx context.Context, n bench.Note) (bench.Note, error) {
	if err := checkNote(&n); err != nil {
		return n, err
	}
	err := s.update(ctx, "create note", func(tx pgx.Tx) error {
		if n.ChangeID != 0 {
			if _, err := loadChange(ctx, tx, n.ChangeID); err != nil {
				return err
			}
		}
		var err error
		n, err = insertNote(ctx, tx, n, n.Author)
		return err
	})
	return n, err
}

// ImportNotes stores notes that were written elsewhere, all of them or none. A note
// that stands here already, about the same with the same text, is not written
// again: it is counted in there. Changes have other numbers elsewhere, so that a
// note on one becomes a note on its version.
func (s *Store) ImportNotes(ctx context.Context, notes []bench.Note, actor string) (written []bench.Note, there int, err error) {
	for i := range notes {
		if err := checkNote(&notes[i]); err != nil {
			return nil, 0, bench.Errorf(bench.KindInvalid, "note %d: %w", i+1, err)
		}
	}
	err = s.update(ctx, "import notes", func(tx pgx.Tx) error {
		written, there = nil, 0
		for _, n := range notes {
			n.ChangeID = 0
			var known bool
			if err := tx.QueryRow(ctx, `
				SELECT EXISTS (
					SELECT FROM note
					WHERE system = $1 AND version_key = $2 AND to_version_key IS NOT DISTINCT FROM $3 AND body = $4 AND deleted IS NULL
						AND step IS NOT DISTINCT FROM NULLIF($5, '') AND server IS NOT DISTINCT FROM NULLIF($6, '')
						AND workload IS NOT DISTINCT FROM NULLIF($7, '') AND compiler IS NOT DISTINCT FROM NULLIF($8, '')
						AND config IS NOT DISTINCT FROM NULLIF($9, ''))`,
				n.System, bench.VersionKey(n.Version), keyOrNull(n.ToVersion), n.Body, n.Scope.Step, n.Scope.Server,
				n.Scope.Workload, n.Scope.Compiler, n.Scope.Config).Scan(&known); err != nil {
				return err
			}
			if known {
				there++
				continue
			}
			stored, err := insertNote(ctx, tx, n, actor)
			if err != nil {
				return err
			}
			written = append(written, stored)
		}
		return nil
	})
	return written, there, err
}

// insertNote stores a note with its first text. actor is who stores it, which of an
// imported note is not its author.
func insertNote(ctx context.Context, tx pgx.Tx, n bench.Note, actor string) (bench.Note, error) {
	rows, _ := tx.Query(ctx, `
		INSERT INTO note (system, version, version_key, to_version, to_version_key, change_id, step, server, workload, compiler, config, body, author)
		VALUES ($1, $2, $3, NULLIF($4, ''), $5, NULLIF($6::bigint, 0), NULLIF($7, ''), NULLIF($8, ''), NULLIF($9, ''), NULLIF($10, ''), NULLIF($11, ''), $12, $13)
		RETURNING `+noteColumns,
		n.System, n.Version, bench.VersionKey(n.Version), n.ToVersion, keyOrNull(n.ToVersion), n.ChangeID, n.Scope.Step, n.Scope.Server,
		n.Scope.Workload, n.Scope.Compiler, n.Scope.Config, n.Body, n.Author)
	stored, err := pgx.CollectExactlyOneRow(rows, scanNote)
	if err != nil {
		return n, err
	}
	return stored, addRevision(ctx, tx, stored, actor, "written")
}

func keyOrNull(version string) *string {
	if version == "" {
		return nil
	}
	key := bench.VersionKey(version)
	return &key
}

func addRevision(ctx context.Context, tx pgx.Tx, n bench.Note, actor, action string) error {
	_, err := tx.Exec(ctx, `INSERT INTO note_revision (note_id, revision, actor, action, body) VALUES ($1, $2, $3, $4, $5)`,
		n.ID, n.Revision, actor, action, n.Body)
	return err
}

// EditNote replaces a note's text and scope. revision is the one the editor saw:
// when another edit came in between, or the note was deleted, the error is of
// kind conflict.
func (s *Store) EditNote(ctx context.Context, id int64, revision int, body string, scope bench.NoteScope, actor string) (n bench.Note, err error) {
	err = s.update(ctx, "edit note", func(tx pgx.Tx) error {
		if n, err = loadNote(ctx, tx, id, "FOR UPDATE"); err != nil {
			return err
		}
		if err := editable(n, revision); err != nil {
			return err
		}
		if n.Body == body && n.Scope == scope {
			return nil
		}
		n.Body, n.Scope = body, scope
		if err := checkNote(&n); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `
			UPDATE note SET body = $2, step = NULLIF($3, ''), server = NULLIF($4, ''), workload = NULLIF($5, ''), compiler = NULLIF($6, ''),
				config = NULLIF($7, ''), updated = now(), revision = revision + 1
			WHERE id = $1 RETURNING `+noteColumns, id, body, scope.Step, scope.Server, scope.Workload, scope.Compiler, scope.Config)
		if n, err = pgx.CollectExactlyOneRow(rows, scanNote); err != nil {
			return err
		}
		return addRevision(ctx, tx, n, actor, "edited")
	})
	return n, err
}

func editable(n bench.Note, revision int) error {
	if n.Deleted != nil {
		return bench.Errorf(bench.KindConflict, "the note was deleted")
	}
	if revision != 0 && revision != n.Revision {
		return bench.Errorf(bench.KindConflict, "the note was edited in between: it is at revision %d, not %d", n.Revision, revision)
	}
	return nil
}

// DeleteNote takes a note off all charts. Its texts stay in the history.
func (s *Store) DeleteNote(ctx context.Context, id int64, actor string) error {
	return s.update(ctx, "delete note", func(tx pgx.Tx) error {
		n, err := loadNote(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		if err := editable(n, 0); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `UPDATE note SET deleted = now(), updated = now(), revision = revision + 1 WHERE id = $1 RETURNING `+noteColumns, id)
		if n, err = pgx.CollectExactlyOneRow(rows, scanNote); err != nil {
			return err
		}
		return addRevision(ctx, tx, n, actor, "deleted")
	})
}
