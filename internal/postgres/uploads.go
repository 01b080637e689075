package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// infoColumns are what scanInfo reads, of upload u with the counts of infoCounts.
const infoColumns = `
	u.id, u.filename, u.sha256, u.format, u.size, u.context, u.actor, u.created, u.state, u.withdrawn,
	COALESCE(u.withdrawn_by, ''), COALESCE(u.reason, ''), f.taken, f.refused, f.attachments, u.result_count, u.run_count`

const infoCounts = `
	CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE state = 'taken') AS taken, count(*) FILTER (WHERE state = 'refused') AS refused,
			count(*) FILTER (WHERE state = 'attachment') AS attachments
		FROM upload_file WHERE upload_id = u.id) f`

func scanInfo(row pgx.CollectableRow) (bench.UploadInfo, error) {
	var u bench.UploadInfo
	err := row.Scan(&u.ID, &u.Filename, &u.SHA256, &u.Format, &u.Size, &u.Context, &u.Actor, &u.Created, &u.State, &u.Withdrawn,
		&u.WithdrawnBy, &u.Reason, &u.Taken, &u.Refused, &u.Attachments, &u.Results, &u.Runs)
	return u, err
}

// Uploads lists uploads, the newest first.
func (s *Store) Uploads(ctx context.Context, f bench.UploadFilter) (bench.UploadPage, error) {
	var before int64
	if f.Cursor != "" {
		var err error
		if before, err = strconv.ParseInt(f.Cursor, 10, 64); err != nil || before <= 0 {
			return bench.UploadPage{}, bench.Errorf(bench.KindInvalid, "%q is no place in the list of uploads", f.Cursor)
		}
	}
	size := pageSize(f.Limit)
	rows, _ := s.pool.Query(ctx, `
		SELECT `+infoColumns+`
		FROM (
			SELECT * FROM upload
			WHERE ($1 = '' OR state = $1) AND ($2::bigint = 0 OR id < $2)
			ORDER BY id DESC
			LIMIT $3::int + 1) u
		`+infoCounts+`
		ORDER BY u.id DESC`, string(f.State), before, size)
	uploads, err := pgx.CollectRows(rows, scanInfo)
	if err != nil {
		return bench.UploadPage{}, translate("uploads", err)
	}
	page := bench.UploadPage{Uploads: uploads}
	if len(uploads) > size {
		page.Uploads = uploads[:size]
		page.Next = strconv.FormatInt(page.Uploads[size-1].ID, 10)
	}
	return page, nil
}

// uploadInfos lists the uploads that a run's results came from, the oldest first.
func uploadInfos(ctx context.Context, tx pgx.Tx, run int64) ([]bench.UploadInfo, error) {
	rows, _ := tx.Query(ctx, `
		SELECT `+infoColumns+`
		FROM upload u
		`+infoCounts+`
		WHERE u.id IN (
			SELECT uf.upload_id
			FROM result x
			JOIN result_source s ON s.result_id = x.id
			JOIN upload_file uf ON uf.id = s.upload_file_id
			WHERE x.run_id = $1)
		ORDER BY u.id`, run)
	uploads, err := pgx.CollectRows(rows, scanInfo)
	if err != nil {
		return nil, fmt.Errorf("uploads of run: %w", err)
	}
	return uploads, nil
}

// FindUpload gives the active upload of bytes by their SHA-256 in lower-case
// hex; an error of kind not found when there is none.
func (s *Store) FindUpload(ctx context.Context, sha256 string) (bench.UploadInfo, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT `+infoColumns+`
		FROM upload u
		`+infoCounts+`
		WHERE u.sha256 = $1 AND u.state = 'active'`, sha256)
	u, err := pgx.CollectExactlyOneRow(rows, scanInfo)
	if errors.Is(err, pgx.ErrNoRows) {
		return bench.UploadInfo{}, bench.Errorf(bench.KindNotFound, "these bytes were not uploaded")
	}
	return u, translate("find upload", err)
}

// Upload gives an upload with all that belongs to it but its bytes; an error of
// kind not found when there is none.
func (s *Store) Upload(ctx context.Context, id int64) (bench.UploadDetail, error) {
	var d bench.UploadDetail
	err := s.view(ctx, "upload", func(tx pgx.Tx) error {
		var err error
		d, err = uploadDetail(ctx, tx, id)
		return err
	})
	return d, err
}

func uploadDetail(ctx context.Context, tx pgx.Tx, id int64) (bench.UploadDetail, error) {
	var d bench.UploadDetail
	rows, _ := tx.Query(ctx, `
		SELECT `+infoColumns+`
		FROM upload u
		`+infoCounts+`
		WHERE u.id = $1`, id)
	var err error
	d.UploadInfo, err = pgx.CollectExactlyOneRow(rows, scanInfo)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, bench.Errorf(bench.KindNotFound, "there is no upload %d", id)
	} else if err != nil {
		return d, fmt.Errorf("upload: %w", err)
	}
	if err := tx.QueryRow(ctx, `SELECT warnings FROM upload WHERE id = $1`, id).Scan(&d.Warnings); err != nil {
		return d, fmt.Errorf("upload: %w", err)
	}
	rows, _ = tx.Query(ctx, `SELECT path, format, sha256, size, state, messages FROM upload_file WHERE upload_id = $1 ORDER BY id`, id)
	if d.Files, err = pgx.CollectRows(rows, pgx.RowToStructByPos[bench.File]); err != nil {
		return d, fmt.Errorf("files: %w", err)
	}
	rows, _ = tx.Query(ctx, `
		SELECT f.path, c.kind, c.cells, c.agree, c.unknown, c.shifted, c.messages
		FROM matrix_check c JOIN upload_file f ON f.id = c.upload_file_id
		WHERE f.upload_id = $1 ORDER BY c.id`, id)
	if d.Checks, err = pgx.CollectRows(rows, pgx.RowToStructByPos[bench.Check]); err != nil {
		return d, fmt.Errorf("checks: %w", err)
	}
	rows, _ = tx.Query(ctx, `
		SELECT DISTINCT x.run_id
		FROM upload_file f
		JOIN result_source s ON s.upload_file_id = f.id
		JOIN result x ON x.id = s.result_id
		WHERE f.upload_id = $1
		ORDER BY x.run_id`, id)
	runs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return d, fmt.Errorf("runs: %w", err)
	}
	for _, run := range runs {
		d.RunRefs = append(d.RunRefs, runRef(run))
	}
	if d.Configs, err = uploadConfigs(ctx, tx, id); err != nil {
		return d, err
	}
	return d, nil
}

// UploadBytes gives the bytes of an upload as they were received, with the name
// they had; an error of kind not found when there is none.
func (s *Store) UploadBytes(ctx context.Context, id int64) (filename string, content []byte, err error) {
	var size int64
	err = s.pool.QueryRow(ctx, `SELECT filename, content, size FROM upload WHERE id = $1`, id).Scan(&filename, &content, &size)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, bench.Errorf(bench.KindNotFound, "there is no upload %d", id)
	} else if err != nil {
		return "", nil, translate("upload bytes", err)
	}
	plain, err := s.unzip.DecodeAll(content, make([]byte, 0, size))
	if err != nil {
		return "", nil, fmt.Errorf("postgres: bytes of upload %d: %w", id, err)
	}
	return filename, plain, nil
}
