package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// Write stores a batch, as the identity rules of package bench decide: one
// transaction, after which the batch is visible with its series, or nothing of
// it is there. Writes to one server follow one another.
//
// Bytes that are there already with the same context change nothing
// (Receipt.Duplicate), except that files of an archive that were refused are
// tried again; with another context they are an error of kind conflict.
// Refused files leave only their names, reasons and the upload's bytes behind.
// Where no file is taken and one is refused, nothing is stored and the error
// holds the places: of kind conflict when a file contradicts what is stored,
// else invalid. detect may be nil.
func (s *Store) Write(ctx context.Context, u bench.Upload, b *bench.Batch, detect bench.DetectFunc) (bench.Receipt, error) {
	content := s.zip.EncodeAll(u.Bytes, make([]byte, 0, len(u.Bytes)/4+64))
	stated, err := json.Marshal(cleanContext(u.Context.Normalized()))
	if err != nil {
		return bench.Receipt{}, fmt.Errorf("postgres: write: context: %w", err)
	}
	var receipt bench.Receipt
	err = s.update(ctx, "write", func(tx pgx.Tx) error {
		w := &writer{
			s: s, ctx: ctx, tx: tx, u: u, b: b, content: content, stated: stated,
			touched: map[int64]bool{}, fileIDs: map[string]int64{},
			receipt: bench.Receipt{SHA256: u.SHA256, Format: b.Format},
		}
		if err := w.write(detect); err != nil {
			return err
		}
		receipt = w.receipt
		if u.DryRun {
			return errDry
		}
		return nil
	})
	switch {
	case errors.Is(err, errDry):
		return receipt, nil
	case err != nil:
		return bench.Receipt{}, err
	}
	return receipt, nil
}

func cleanContext(c bench.Context) bench.Context {
	for _, s := range []*string{&c.System, &c.Suite, &c.Server, &c.Workload, &c.Version, &c.Compiler, &c.Config} {
		*s = text(*s)
	}
	c.Versions = slices.Clone(c.Versions)
	for i := range c.Versions {
		c.Versions[i] = text(c.Versions[i])
	}
	return c
}

// writer is one write in its transaction.
type writer struct {
	s       *Store
	ctx     context.Context
	tx      pgx.Tx
	u       bench.Upload
	b       *bench.Batch
	content []byte              // compressed
	stated  []byte              // the upload's context as JSON
	earlier *bench.UploadDetail // the upload itself, of which refused files are tried again

	stored  map[int64]*storedResult // by id
	plan    bench.Plan
	figures *bench.Figures
	servers map[string]int32
	fileIDs map[string]int64 // of this upload, by path
	runs    []*runTarget     // by index of the batch's runs; nil: nothing of it is stored
	entries []*entry         // results to insert or to change, in batch order
	byRef   map[bench.Ref]*entry
	byID    map[int64]*entry // of stored results
	touched map[int64]bool   // coordinates whose points change
	receipt bench.Receipt
}

func (w *writer) write(detect bench.DetectFunc) error {
	if err := lockNames(w.ctx, w.tx, false); err != nil {
		return err
	}
	if err := w.useCurrentNames(); err != nil {
		return err
	}
	servers := w.serverNames()
	if err := lock(w.ctx, w.tx, append([]string{uploadLock(w.u.SHA256)}, serverLocks(servers)...)); err != nil {
		return err
	}
	if done, err := w.duplicate(); done || err != nil {
		return err
	}
	if err := w.decide(); err != nil {
		return err
	}
	files := w.files()
	if err := w.refuse(files); err != nil {
		if w.earlier != nil {
			w.answerDuplicate(w.earlier) // no better than the first time
			return nil
		}
		return err
	}
	store := w.insertUpload
	if w.earlier != nil {
		store = w.updateUpload
	}
	if err := store(files); err != nil {
		return err
	}
	var err error
	if w.servers, err = ensureServers(w.ctx, w.tx, servers); err != nil {
		return err
	}
	if err := w.joinRuns(); err != nil {
		return err
	}
	if err := w.collect(); err != nil {
		return err
	}
	if err := w.storeResults(); err != nil {
		return err
	}
	if err := w.check(files); err != nil {
		return err
	}
	if err := w.storeConfigs(files); err != nil {
		return err
	}
	w.report(files)
	ids := make([]int32, 0, len(w.servers))
	for _, id := range w.servers {
		ids = append(ids, id)
	}
	return w.s.settle(w.ctx, w.tx, ids, w.touched, detect)
}

// serverNames lists the servers that the batch speaks of.
func (w *writer) serverNames() []string {
	var names []string
	for i := range w.b.Runs {
		names = append(names, w.b.Runs[i].Server)
	}
	return sortedSet(names)
}

func uploadLock(sha256 string) string { return "relqps upload " + sha256 }

// serverLocks names the locks of servers, in the order in which they must be
// taken: that of the slugs.
func serverLocks(slugs []string) []string {
	var names []string
	for _, slug := range sortedSet(slugs) {
		names = append(names, "relqps server "+slug)
	}
	return names
}

// duplicate answers bytes that are there already, with the same context by
// their receipt, with another by an error.
func (w *writer) duplicate() (bool, error) {
	var id int64
	var same bool
	var context bench.Context
	var filename string
	err := w.tx.QueryRow(w.ctx, `
		SELECT id, context = $2::jsonb, context, filename FROM upload WHERE sha256 = $1 AND state = 'active'`,
		w.u.SHA256, string(w.stated)).Scan(&id, &same, &context, &filename)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("find upload: %w", err)
	case !same:
		return false, bench.Errorf(bench.KindConflict, "these bytes are upload %d, which stated %s; now %s is stated: withdraw that upload first if it was wrong",
			id, said(context), said(w.u.Context.Normalized()))
	}
	if text(w.u.Filename) != filename {
		if err := w.sameSteps(id, filename); err != nil {
			return false, err
		}
	}
	d, err := uploadDetail(w.ctx, w.tx, id)
	if err != nil {
		return false, err
	}
	if w.tryAgain(&d) {
		return false, nil
	}
	w.answerDuplicate(&d)
	return true, nil
}

// sameSteps refuses bytes of a stored upload whose other name makes them those of other
// steps: benchmark_overwritesome.t2.log and benchmark_overwriteandwait.t2.log say what
// the log does not.
func (w *writer) sameSteps(id int64, filename string) error {
	if len(w.b.Files) != 1 {
		return nil // the files of an archive have their names in it
	}
	rows, _ := w.tx.Query(w.ctx, `
		SELECT DISTINCT c.step
		FROM upload_file f
		JOIN result_source s ON s.upload_file_id = f.id
		JOIN result r ON r.id = s.result_id
		JOIN coordinate c ON c.id = r.coordinate_id
		WHERE f.upload_id = $1`, id)
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("find steps: %w", err)
	}
	if len(stored) == 0 {
		return nil
	}
	for i := range w.b.Runs {
		for j := range w.b.Runs[i].Results {
			if step := text(w.b.Runs[i].Results[j].Step.Name); !slices.Contains(stored, step) {
				return bench.Errorf(bench.KindConflict, "these bytes are upload %d, whose name %q made them results of %s; the name %q makes them results of %s: withdraw that upload first if it was wrong",
					id, filename, strings.Join(stored, ", "), w.u.Filename, step)
			}
		}
	}
	return nil
}

// answerDuplicate makes the receipt that of an upload that is there already.
func (w *writer) answerDuplicate(d *bench.UploadDetail) {
	w.receipt = bench.Receipt{
		UploadID: d.ID, SHA256: d.SHA256, Duplicate: true, Format: d.Format, Runs: d.RunRefs, Configs: d.Configs, AlreadyThere: d.Results,
		Files: d.Files, Checks: d.Checks, Warnings: d.Warnings,
	}
	for _, f := range d.Files {
		if f.State == bench.FileRefused {
			w.receipt.Refused = append(w.receipt.Refused, reasons(f)...)
		}
	}
}

// tryAgain leaves of the batch what belongs to files that were refused when the
// upload came first and may be taken now, because what they contradicted was
// withdrawn, what they lean on was stored, or they are understood better. It
// reports whether there is anything of that kind.
func (w *writer) tryAgain(d *bench.UploadDetail) bool {
	refused := map[string]bool{}
	for _, f := range d.Files {
		refused[f.Path] = f.State == bench.FileRefused
	}
	again := map[string]bool{}
	b := *w.b
	b.Files = nil
	for _, f := range w.b.Files {
		if f.State == bench.FileTaken && refused[text(f.Path)] {
			again[f.Path] = true
			b.Files = append(b.Files, f)
		}
	}
	if len(again) == 0 {
		return false
	}
	b.Runs = slices.Clone(w.b.Runs)
	for i := range b.Runs {
		b.Runs[i].Results = slices.DeleteFunc(slices.Clone(b.Runs[i].Results), func(r bench.Result) bool {
			return len(r.Sources) == 0 || !again[r.Sources[0].File]
		})
	}
	b.Runs = slices.DeleteFunc(b.Runs, func(r bench.Run) bool { return len(r.Results) == 0 })
	b.Matrices = slices.DeleteFunc(slices.Clone(w.b.Matrices), func(m bench.Matrix) bool { return !again[m.File] })
	b.Configs = slices.DeleteFunc(slices.Clone(w.b.Configs), func(c bench.Config) bool { return !again[c.File] })
	b.Warnings = nil
	w.b, w.earlier = &b, d
	return true
}

// updateUpload writes what became of files that were tried again.
func (w *writer) updateUpload(files []bench.File) error {
	w.receipt.UploadID = w.earlier.ID
	for _, f := range files {
		messages, err := messagesJSON(f.Messages)
		if err != nil {
			return err
		}
		var id int64
		err = w.tx.QueryRow(w.ctx, `
			UPDATE upload_file SET state = $3, format = $4, messages = $5::jsonb
			WHERE upload_id = $1 AND path = $2
			RETURNING id`, w.earlier.ID, text(f.Path), string(f.State), f.Format, messages).Scan(&id)
		if err != nil {
			return fmt.Errorf("update file: %w", err)
		}
		w.fileIDs[f.Path] = id
	}
	return nil
}

func said(c bench.Context) string {
	if s := c.String(); s != "" {
		return s
	}
	return "nothing"
}

// reasons gives what a refused file was told, a sentence at least.
func reasons(f bench.File) []bench.Message {
	if len(f.Messages) == 0 {
		return []bench.Message{{File: f.Path, Text: "refused"}}
	}
	return f.Messages
}

// files gives the files of the batch with the refusals of the plan.
func (w *writer) files() []bench.File {
	files := slices.Clone(w.b.Files)
	for i := range files {
		if why := w.plan.Refused[files[i].Path]; why != nil {
			files[i].State = bench.FileRefused
			files[i].Messages = append(slices.Clip(files[i].Messages), why...)
		}
	}
	return files
}

// refuse ends a write of which no file is left.
func (w *writer) refuse(files []bench.File) error {
	var refused []string
	var places []bench.Message
	for _, f := range files {
		switch f.State {
		case bench.FileTaken:
			return nil
		case bench.FileRefused:
			refused = append(refused, f.Path)
			places = append(places, reasons(f)...)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	e := &bench.Error{Kind: bench.KindInvalid, Places: places}
	if len(w.plan.Refused) > 0 {
		e.Kind = bench.KindConflict
	}
	if len(refused) == 1 {
		e.Message = fmt.Sprintf("%s was refused; nothing was stored", refused[0])
	} else {
		e.Message = fmt.Sprintf("all %d files were refused; nothing was stored", len(refused))
	}
	return e
}

func (w *writer) insertUpload(files []bench.File) error {
	warnings, err := messagesJSON(w.b.Warnings)
	if err != nil {
		return err
	}
	err = w.tx.QueryRow(w.ctx, `
		INSERT INTO upload (sha256, filename, format, content, size, context, actor, warnings)
		VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8::jsonb)
		RETURNING id`,
		w.u.SHA256, text(w.u.Filename), w.b.Format, w.content, len(w.u.Bytes), string(w.stated), text(w.u.Actor), warnings).
		Scan(&w.receipt.UploadID)
	if err != nil {
		return fmt.Errorf("insert upload: %w", err)
	}
	ids, err := nextIDs(w.ctx, w.tx, "upload_file", len(files))
	if err != nil {
		return err
	}
	rows := make([][]any, len(files))
	for i, f := range files {
		messages, err := messagesJSON(f.Messages)
		if err != nil {
			return err
		}
		w.fileIDs[f.Path] = ids[i]
		rows[i] = []any{ids[i], w.receipt.UploadID, text(f.Path), f.SHA256, f.Size, f.Format, string(f.State), messages}
	}
	return copyRows(w.ctx, w.tx, "upload_file",
		[]string{"id", "upload_id", "path", "sha256", "size", "format", "state", "messages"}, rows)
}

// copyRows appends rows to a table by COPY.
func copyRows(ctx context.Context, tx pgx.Tx, table string, columns []string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("copy %s: %w", table, err)
	}
	return nil
}

// nextIDs takes n ids of a table.
func nextIDs(ctx context.Context, tx pgx.Tx, table string, n int) ([]int64, error) {
	if n == 0 {
		return nil, nil
	}
	rows, _ := tx.Query(ctx, `SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2::int)`, table, n)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("ids of %s: %w", table, err)
	}
	return ids, nil
}

// messagesJSON gives messages as a JSON list.
func messagesJSON(m []bench.Message) (string, error) {
	if len(m) == 0 {
		return "[]", nil
	}
	m = slices.Clone(m)
	for i := range m {
		m[i] = bench.Message{File: text(m[i].File), Line: m[i].Line, Column: text(m[i].Column), Text: text(m[i].Text)}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("messages: %w", err)
	}
	return string(data), nil
}

// check compares the matrices of files that were taken.
func (w *writer) check(files []bench.File) error {
	refused := map[string]bool{}
	for _, f := range files {
		refused[f.Path] = f.State == bench.FileRefused
	}
	checks := slices.Clone(w.b.Checks)
	for i := range w.b.Matrices {
		if m := &w.b.Matrices[i]; !refused[m.File] {
			checks = append(checks, bench.CheckMatrix(m, w.figures))
		}
	}
	var rows [][]any
	for _, c := range checks {
		if refused[c.File] {
			continue
		}
		file, ok := w.fileIDs[c.File]
		if !ok {
			return fmt.Errorf("check of %q, which is no file of the batch", c.File)
		}
		w.receipt.Checks = append(w.receipt.Checks, c)
		messages, err := messagesJSON(c.Messages)
		if err != nil {
			return err
		}
		rows = append(rows, []any{file, c.Kind, c.Cells, c.Agree, c.Unknown, c.Shifted, messages})
	}
	return copyRows(w.ctx, w.tx, "matrix_check",
		[]string{"upload_file_id", "kind", "cells", "agree", "unknown", "shifted", "messages"}, rows)
}

// report completes the receipt.
func (w *writer) report(files []bench.File) {
	r := &w.receipt
	if w.earlier != nil {
		all := slices.Clone(w.earlier.Files)
		for _, f := range files {
			i := slices.IndexFunc(all, func(x bench.File) bool { return x.Path == text(f.Path) })
			all[i] = f // each is one of those that were refused
		}
		files = all
	}
	r.Files = files
	refused := map[string]bool{}
	for _, f := range files {
		if f.State == bench.FileRefused {
			refused[f.Path] = true
			r.Refused = append(r.Refused, reasons(f)...)
		}
	}
	r.Warnings = append(r.Warnings, w.b.Warnings...)
	for i := range w.b.Runs {
		for j := range w.b.Runs[i].Results {
			res := &w.b.Runs[i].Results[j]
			if len(res.Sources) > 0 && refused[res.Sources[0].File] {
				continue
			}
			for _, m := range res.Warnings {
				if !bench.Told(w.b.Warnings, m) {
					r.Warnings = append(r.Warnings, m)
				}
			}
		}
	}
	for _, a := range w.plan.Additions {
		r.Warnings = append(r.Warnings, a.Warnings...)
	}
	for _, c := range w.b.Configs {
		if !refused[c.File] {
			r.Warnings = append(r.Warnings, c.Warnings...)
		}
	}
	r.Warnings = bench.Distinct(r.Warnings)
	r.AlreadyThere += len(w.plan.Covered)
	seen := map[int64]bool{}
	for _, t := range w.runs {
		if t == nil || seen[t.id] || (w.u.DryRun && t.stored == nil) {
			continue
		}
		seen[t.id] = true
		r.Runs = append(r.Runs, runRef(t.id))
	}
	if w.u.DryRun {
		r.UploadID = 0
	}
}

func runRef(id int64) bench.RunRef {
	return bench.RunRef{ID: id, URL: fmt.Sprintf("/runs/%d", id)}
}
