package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// MaxConfigs bounds what one call of [Store.Configs] answers.
const MaxConfigs = 1000

// configDigest gives the identity of a set of options: what counts in
// comparisons, whatever the order and the spelling.
func configDigest(c *bench.Config) []byte {
	lines := make([]string, 0, len(c.Options))
	for i := range c.Options {
		if o := &c.Options[i]; !o.Environment {
			lines = append(lines, o.Scope()+"\x00"+text(o.Key)+"\x00"+text(o.Value))
		}
	}
	slices.Sort(lines)
	return digest(lines...)
}

// storeConfigs stores the option sets of files that were taken. A set that is
// there already gains a source.
func (w *writer) storeConfigs(files []bench.File) error {
	refused := map[string]bool{}
	for _, f := range files {
		refused[f.Path] = f.State == bench.FileRefused
	}
	type fresh struct {
		*bench.Config
		digest []byte
	}
	var list []fresh
	for i := range w.b.Configs {
		if c := &w.b.Configs[i]; !refused[c.File] {
			list = append(list, fresh{c, configDigest(c)})
		}
	}
	// In one order, so that two writers never wait for each other in a circle.
	slices.SortStableFunc(list, func(a, b fresh) int {
		return strings.Compare(a.System+"\x00"+a.Name+"\x00"+string(a.Layer)+"\x00"+string(a.digest), b.System+"\x00"+b.Name+"\x00"+string(b.Layer)+"\x00"+string(b.digest))
	})
	seen := map[int64]bool{}
	for _, c := range list {
		file, ok := w.fileIDs[c.File]
		if !ok {
			return fmt.Errorf("config of %q, which is no file of the batch", c.File)
		}
		id, isNew, err := w.ensureConfig(c.Config, c.digest)
		if err != nil {
			return err
		}
		if _, err := w.tx.Exec(w.ctx, `
			INSERT INTO config_source (config_id, upload_file_id, source_name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			id, file, text(c.SourceName)); err != nil {
			return fmt.Errorf("insert source of config: %w", err)
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		ref := configRef(id, c.System, c.Name, c.Layer)
		if isNew && w.u.DryRun {
			ref.ID, ref.URL = 0, ""
		}
		w.receipt.Configs = append(w.receipt.Configs, ref)
	}
	return nil
}

func configRef(id int64, system, name string, layer bench.Layer) bench.ConfigRef {
	return bench.ConfigRef{ID: id, System: system, Name: name, Layer: layer, URL: fmt.Sprintf("/api/v1/configs/%d", id)}
}

// ensureConfig gives the id of a set of options, stored when it is new.
func (w *writer) ensureConfig(c *bench.Config, sum []byte) (id int64, isNew bool, err error) {
	warnings, err := messagesJSON(c.Warnings)
	if err != nil {
		return 0, false, err
	}
	const find = `SELECT id FROM config WHERE system = $1 AND name = $2 AND layer = $3 AND digest = $4`
	err = w.tx.QueryRow(w.ctx, find, text(c.System), text(c.Name), string(c.Layer), sum).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = w.tx.QueryRow(w.ctx, `
			INSERT INTO config (system, name, kind, layer, digest, warnings) VALUES ($1, $2, $3, $4, $5, $6::jsonb)
			ON CONFLICT ON CONSTRAINT config_unique DO NOTHING
			RETURNING id`, text(c.System), text(c.Name), string(c.Kind), string(c.Layer), sum, warnings).Scan(&id)
		isNew = err == nil
	}
	if errors.Is(err, pgx.ErrNoRows) { // somebody else's now
		err = w.tx.QueryRow(w.ctx, find, text(c.System), text(c.Name), string(c.Layer), sum).Scan(&id)
	}
	if err != nil {
		return 0, false, fmt.Errorf("insert config: %w", err)
	}
	if !isNew {
		return id, false, nil
	}
	return id, true, copyRows(w.ctx, w.tx, "config_option", configOptionColumns, optionRows(id, c.Options))
}

var configOptionColumns = []string{"config_id", "place", "section", "key", "written", "value", "line", "loose", "environment"}

func optionRows(id int64, options []bench.Option) [][]any {
	rows := make([][]any, len(options))
	for i, o := range options {
		rows[i] = []any{id, int32(i), text(o.Section), text(o.Key), text(o.Written), text(o.Value), int32(o.Line), o.Loose, o.Environment}
	}
	return rows
}

// uploadConfigs lists the configs that an upload holds.
func uploadConfigs(ctx context.Context, tx pgx.Tx, upload int64) ([]bench.ConfigRef, error) {
	rows, _ := tx.Query(ctx, `
		SELECT DISTINCT c.id, c.system, c.name, c.layer
		FROM upload_file f JOIN config_source s ON s.upload_file_id = f.id JOIN config c ON c.id = s.config_id
		WHERE f.upload_id = $1
		ORDER BY c.id`, upload)
	refs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.ConfigRef, error) {
		var id int64
		var system, name string
		var layer bench.Layer
		err := row.Scan(&id, &system, &name, &layer)
		return configRef(id, system, name, layer), err
	})
	if err != nil {
		return nil, fmt.Errorf("configs of upload: %w", err)
	}
	return refs, nil
}

// Configs lists the configs that active uploads hold, by system, name, layer and
// number; at most [MaxConfigs], more are an error of kind too large.
func (s *Store) Configs(ctx context.Context, f bench.ConfigFilter) ([]bench.StoredConfig, error) {
	var list []bench.StoredConfig
	err := s.view(ctx, "configs", func(tx pgx.Tx) error {
		var err error
		list, err = findConfigs(ctx, tx, f, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(list) > MaxConfigs {
		return nil, bench.Errorf(bench.KindTooLarge, "more than %d configs: name a system or some of them", MaxConfigs)
	}
	return list, nil
}

// Config gives a config with its options, whether its uploads are active or
// withdrawn; of kind not found when there is none.
func (s *Store) Config(ctx context.Context, id int64) (bench.StoredConfig, error) {
	var list []bench.StoredConfig
	if id <= 0 {
		return bench.StoredConfig{}, bench.Errorf(bench.KindNotFound, "there is no config %d", id)
	}
	err := s.view(ctx, "config", func(tx pgx.Tx) error {
		var err error
		list, err = findConfigs(ctx, tx, bench.ConfigFilter{Options: true}, id)
		return err
	})
	if err != nil {
		return bench.StoredConfig{}, err
	}
	if len(list) == 0 {
		return bench.StoredConfig{}, bench.Errorf(bench.KindNotFound, "there is no config %d", id)
	}
	return list[0], nil
}

// findConfigs reads configs that a filter selects, or the one with a number.
func findConfigs(ctx context.Context, tx pgx.Tx, f bench.ConfigFilter, id int64) ([]bench.StoredConfig, error) {
	rows, _ := tx.Query(ctx, `
		SELECT c.id, c.system, c.name, c.kind, c.layer, c.warnings, c.created, o.settings, o.aside
		FROM config c
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE NOT environment) AS settings, count(*) FILTER (WHERE environment) AS aside
			FROM config_option WHERE config_id = c.id) o
		WHERE CASE WHEN $1::bigint <> 0 THEN c.id = $1 ELSE
			($2 = '' OR c.system = $2) AND (cardinality($3::text[]) = 0 OR c.name = ANY ($3)) AND ($4 = '' OR c.layer = $4)
			AND EXISTS (SELECT FROM config_source s JOIN upload_file uf ON uf.id = s.upload_file_id JOIN upload u ON u.id = uf.upload_id
				WHERE s.config_id = c.id AND u.state = 'active') END
		ORDER BY c.system, c.name, c.layer DESC, c.id
		LIMIT $5`, id, f.System, sortedSet(f.Names), string(f.Layer), MaxConfigs+1)
	var ids []int64
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.StoredConfig, error) {
		var c bench.StoredConfig
		err := row.Scan(&c.ID, &c.System, &c.Name, &c.Kind, &c.Layer, &c.Warnings, &c.Created, &c.Settings, &c.Aside)
		ids = append(ids, c.ID)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("find configs: %w", err)
	}
	by := make(map[int64]*bench.StoredConfig, len(list))
	for i := range list {
		by[list[i].ID] = &list[i]
	}
	if err := addConfigSources(ctx, tx, by, ids, id != 0); err != nil {
		return nil, err
	}
	if err := countConfigRuns(ctx, tx, by, ids, f); err != nil {
		return nil, err
	}
	if f.Options {
		return list, addConfigOptions(ctx, tx, by, ids)
	}
	return list, nil
}

// addConfigSources reads the files that configs come from; those of withdrawn
// uploads only with all.
func addConfigSources(ctx context.Context, tx pgx.Tx, by map[int64]*bench.StoredConfig, ids []int64, all bool) error {
	rows, _ := tx.Query(ctx, `
		SELECT s.config_id, f.upload_id, f.path, s.source_name
		FROM config_source s JOIN upload_file f ON f.id = s.upload_file_id JOIN upload u ON u.id = f.upload_id
		WHERE s.config_id = ANY ($1) AND ($2 OR u.state = 'active')
		ORDER BY f.id`, ids, all)
	var id int64
	var from bench.ConfigSource
	_, err := pgx.ForEachRow(rows, []any{&id, &from.UploadID, &from.File, &from.SourceName}, func() error {
		c := by[id]
		if len(c.From) == 0 {
			c.SourceName, c.File = from.SourceName, from.File
		}
		c.From = append(c.From, from)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sources of configs: %w", err)
	}
	return nil
}

// countConfigRuns counts the runs that configs may have been made with. The base
// of the configs a0 to a7 is called cy10a_ by its files and cy10a0_ by its runs.
func countConfigRuns(ctx context.Context, tx pgx.Tx, by map[int64]*bench.StoredConfig, ids []int64, f bench.ConfigFilter) error {
	rows, _ := tx.Query(ctx, `
		WITH used AS (
			SELECT r.system, r.config, regexp_replace(COALESCE(r.environment ->> 'config_source', ''), '^cy10a0_', 'cy10a_') AS source, count(*) AS runs
			FROM run r JOIN server v ON v.id = r.server_id
			WHERE r.state = 'active' AND r.config <> ''
				AND (cardinality($2::text[]) = 0 OR v.slug = ANY ($2)) AND (cardinality($3::text[]) = 0 OR r.workload = ANY ($3))
			GROUP BY 1, 2, 3)
		SELECT c.id, sum(u.runs)::bigint
		FROM config c JOIN used u ON u.system = c.system AND u.config = c.name
		WHERE c.id = ANY ($1) AND (u.source = '' OR EXISTS (SELECT FROM config_source s WHERE s.config_id = c.id AND regexp_replace(s.source_name, '^cy10a0_', 'cy10a_') = u.source))
		GROUP BY c.id`, ids, sortedSet(f.Servers), sortedSet(f.Workloads))
	var id, n int64
	_, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		by[id].Runs = int(n)
		return nil
	})
	if err != nil {
		return fmt.Errorf("runs of configs: %w", err)
	}
	return nil
}

// addConfigOptions reads the options of configs.
func addConfigOptions(ctx context.Context, tx pgx.Tx, by map[int64]*bench.StoredConfig, ids []int64) error {
	rows, _ := tx.Query(ctx, `
		SELECT config_id, section, key, written, value, line, loose, environment
		FROM config_option WHERE config_id = ANY ($1) ORDER BY config_id, place`, ids)
	var id int64
	var o bench.Option
	_, err := pgx.ForEachRow(rows, []any{&id, &o.Section, &o.Key, &o.Written, &o.Value, &o.Line, &o.Loose, &o.Environment}, func() error {
		by[id].Options = append(by[id].Options, o)
		return nil
	})
	if err != nil {
		return fmt.Errorf("options of configs: %w", err)
	}
	return nil
}

// Distributions gives the response-time distributions of the results of runs that
// count, in order of run and step. What an engine counts of itself is none.
func (s *Store) Distributions(ctx context.Context, runs []int64) ([]bench.Distribution, error) {
	rows, _ := s.pool.Query(ctx, `
		SELECT r.run_id, c.step, h.operation, h.unit, h.bounds, h.counts, h.percents, h.count, h.min, h.max, h.average, h.stddev
		FROM result r
		JOIN coordinate c ON c.id = r.coordinate_id
		JOIN histogram h ON h.result_id = r.id
		WHERE r.run_id = ANY ($1) AND r.state = 'ok' AND NOT r.withdrawn AND NOT r.superseded AND NOT starts_with(h.operation, 'rocksdb.')
		ORDER BY r.run_id, c.step, r.id, h.id`, runs)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (bench.Distribution, error) {
		var d bench.Distribution
		h := &d.Histogram
		err := row.Scan(&d.RunID, &d.Step, &h.Operation, &h.Unit, &h.Bounds, &h.Counts, &h.Percents, &h.Count, &h.Min, &h.Max, &h.Average, &h.StdDev)
		return d, err
	})
	return list, translate("distributions", err)
}
