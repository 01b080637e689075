package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relqps/relqps/internal/bench"
)

// violations has for each named constraint a statement that violates it, on a
// database with the one run of [TestEveryConstraintHolds].
var violations = map[string]string{
	"token_name_present": `INSERT INTO token (name, role, hash) VALUES ('', 'admin', sha256('x'))`,
	"token_role_known":   `INSERT INTO token (name, role, hash) VALUES ('x', 'root', sha256('x'))`,
	"token_hash_sha256":  `INSERT INTO token (name, role, hash) VALUES ('x', 'admin', 'secret')`,
	"token_hash_unique":  `INSERT INTO token (name, role, hash) VALUES ('x', 'admin', sha256('x')), ('y', 'admin', sha256('x'))`,
	"token_name_live":    `INSERT INTO token (name, role, hash) VALUES ('x', 'admin', sha256('x')), ('x', 'admin', sha256('y'))`,

	"server_slug_present": `INSERT INTO server (slug) VALUES ('')`,
	"server_slug_unique":  `INSERT INTO server (slug) VALUES ('c2')`,

	"version_system_present":   `INSERT INTO version (system, name, sort_key) VALUES ('', '1', '1')`,
	"version_sort_key_present": `INSERT INTO version (system, name, sort_key) VALUES ('rocksdb', '1', '')`,
	"version_name_unique":      `INSERT INTO version (system, name, sort_key) SELECT system, name, 'x' FROM version`,

	"build_version":       `UPDATE build SET version_id = 0`,
	"build_binary_sha256": `UPDATE build SET binary_sha256 = 'ABC'`,
	"build_digest_sha256": `UPDATE build SET digest = 'x'`,
	"build_digest_unique": `INSERT INTO build (version_id, compiler, compiler_version, flags, git_hash, binary_sha256, command, digest)
		SELECT version_id, compiler, compiler_version, flags, git_hash, binary_sha256, command, digest FROM build`,

	"metric_name_present":    `INSERT INTO metric (name, unit, direction) VALUES ('', '', 'higher')`,
	"metric_direction_known": `INSERT INTO metric (name, unit, direction) VALUES ('x', '', 'up')`,
	"metric_name_unique":     `INSERT INTO metric (name, unit, direction) VALUES ('qps', '', 'higher')`,

	"metric_set_digest_sha256": `UPDATE metric_set SET digest = 'x'`,
	"metric_set_digest_unique": `INSERT INTO metric_set (size, metric_ids, resolutions, source_names, digest)
		SELECT size, metric_ids, resolutions, source_names, digest FROM metric_set LIMIT 1`,
	"metric_set_size_unique": `ALTER TABLE metric_set DROP CONSTRAINT metric_set_pkey CASCADE;
		INSERT INTO metric_set (id, size, metric_ids, resolutions, source_names, digest)
		SELECT id, size, metric_ids, resolutions, source_names, sha256('other') FROM metric_set`,
	"metric_set_lengths": `INSERT INTO metric_set (size, metric_ids, resolutions, source_names, digest) VALUES (2, '{1}', '{0}', '{x}', sha256('x'))`,
	"metric_set_resolutions": `INSERT INTO metric_set (size, metric_ids, resolutions, source_names, digest)
		VALUES (1, '{1}', '{NaN}', '{x}', sha256('x'))`,

	"upload_sha256_hex":            `UPDATE upload SET sha256 = upper(sha256)`,
	"upload_size_positive":         `UPDATE upload SET size = -1`,
	"upload_context_object":        `UPDATE upload SET context = '[]'`,
	"upload_warnings_array":        `UPDATE upload SET warnings = '{}'`,
	"upload_result_count_positive": `UPDATE upload SET result_count = -1`,
	"upload_run_count_positive":    `UPDATE upload SET run_count = -1`,
	"upload_state_known":           `UPDATE upload SET state = 'gone'`,
	"upload_withdrawal_told":       `UPDATE upload SET state = 'withdrawn', withdrawn = now(), withdrawn_by = 'me', reason = ''`,
	"upload_active_bytes":          `INSERT INTO upload (sha256, filename, format, content, size, context, actor) SELECT sha256, 'x', '', '', 0, '{}', '' FROM upload`,
	"upload_file_upload":           `UPDATE upload_file SET upload_id = 0`,
	"upload_file_sha256_hex":       `UPDATE upload_file SET sha256 = 'x'`,
	"upload_file_size_positive":    `UPDATE upload_file SET size = -1`,
	"upload_file_state_known":      `UPDATE upload_file SET state = 'lost'`,
	"upload_file_messages_array":   `UPDATE upload_file SET messages = '{}'`,
	"upload_file_path_unique": `INSERT INTO upload_file (upload_id, path, sha256, size, format, state, messages)
		SELECT upload_id, path, sha256, size, format, state, messages FROM upload_file`,

	"matrix_check_file":           insertCheck(`0, 'relative', 1, 1, 0, 0, '[]'`),
	"matrix_check_kind_known":     insertCheck(`id, 'odd', 1, 1, 0, 0, '[]'`),
	"matrix_check_counts":         insertCheck(`id, 'relative', 1, 2, 0, 0, '[]'`),
	"matrix_check_messages_array": insertCheck(`id, 'relative', 1, 1, 0, 0, '{}'`),

	"coordinate_system_present":        `UPDATE coordinate SET system = ''`,
	"coordinate_suite_present":         `UPDATE coordinate SET suite = ''`,
	"coordinate_server":                `UPDATE coordinate SET server_id = 0`,
	"coordinate_clients_positive":      `UPDATE coordinate SET clients = -1`,
	"coordinate_step_present":          `UPDATE coordinate SET step = ''`,
	"coordinate_sample_count_positive": `UPDATE coordinate SET sample_count = -1`,
	"coordinate_unique": `INSERT INTO coordinate (system, suite, server_id, workload, clients, step, compiler, config)
		SELECT system, suite, server_id, workload, clients, step, compiler, config FROM coordinate`,

	"run_key_present": `UPDATE run SET key = ''`,
	"run_key_unique": `INSERT INTO run (key, own_id, server_id, system, suite, workload, config, build_id, clients, assumed, environment, options)
		SELECT key, own_id, server_id, system, suite, workload, config, build_id, clients, assumed, environment, options FROM run`,
	"run_server":                  `UPDATE run SET server_id = 0`,
	"run_system_present":          `UPDATE run SET system = ''`,
	"run_suite_present":           `UPDATE run SET suite = ''`,
	"run_build":                   `UPDATE run SET build_id = 0`,
	"run_clients_positive":        `UPDATE run SET clients = -1`,
	"run_clients_stated_positive": `UPDATE run SET clients_stated = 0`,
	"run_environment_object":      `UPDATE run SET environment = '[]'`,
	"run_options_object":          `UPDATE run SET options = '[]'`,
	"run_campaign_positive":       `UPDATE run SET campaign = 0`,
	"run_state_known":             `UPDATE run SET state = 'gone'`,
	"run_withdrawn_with":          `UPDATE run SET state = 'withdrawn', reason = 'x', withdrawn_with = 0`,
	"run_withdrawn_with_state":    `UPDATE run SET withdrawn_with = (SELECT id FROM upload)`,
	"run_withdrawal_told":         `UPDATE run SET state = 'withdrawn'`,
	"run_utc_offset":              `UPDATE run SET started = NULL, utc_offset = 0`,

	"run_history_run":            insertHistory(`0, 'me', 'corrected', 'why', '{}', '{}'`),
	"run_history_action_known":   insertHistory(`id, 'me', 'deleted', 'why', '{}', '{}'`),
	"run_history_reason_present": insertHistory(`id, 'me', 'corrected', '', '{}', '{}'`),
	"run_history_before_object":  insertHistory(`id, 'me', 'corrected', 'why', '[]', '{}'`),
	"run_history_after_object":   insertHistory(`id, 'me', 'corrected', 'why', '{}', '[]'`),

	"result_run":                  `UPDATE result SET run_id = 0`,
	"result_coordinate":           `UPDATE result SET coordinate_id = 0`,
	"result_key_length":           `UPDATE result SET key = 'x'`,
	"result_ordinal_positive":     `UPDATE result SET ordinal = -1`,
	"result_threads_positive":     `UPDATE result SET threads = 0`,
	"result_value_bytes_positive": `UPDATE result SET value_bytes = 0`,
	"result_role_known":           `UPDATE result SET role = ''`,
	"result_state_known":          `UPDATE result SET state = ''`,
	"result_origin_known":         `UPDATE result SET origin = ''`,
	"result_utc_offset":           `UPDATE result SET utc_offset = 90000`,
	"result_values_finite":        `UPDATE result SET values = '{NaN,NULL,1,2}'`,
	"result_values_flat":          `UPDATE result SET values = '{{1,2},{3,4}}'`,
	"result_values_fit_set":       `UPDATE result SET values = '{1,2}'`,
	"result_warnings_array":       `UPDATE result SET warnings = '{}'`,
	"result_superseded_matrix":    `UPDATE result SET superseded = true`,
	"result_key_live": `INSERT INTO result (run_id, coordinate_id, metric_set_id, key, ordinal, role, state, reason, origin,
			primary_metric, primary_text, source_text, excluded, command, values, warnings)
		SELECT run_id, coordinate_id, metric_set_id, key, ordinal, role, state, reason, origin,
			primary_metric, primary_text, source_text, excluded, command, values, warnings FROM result`,

	"result_source_result":        `INSERT INTO result_source SELECT 0, id, 1 FROM upload_file`,
	"result_source_file":          `INSERT INTO result_source SELECT id, 0, 1 FROM result`,
	"result_source_line_positive": `UPDATE result_source SET line = -line`,
	"result_source_pkey":          `INSERT INTO result_source SELECT * FROM result_source`,

	"histogram_result":             `UPDATE histogram SET result_id = 0`,
	"histogram_operation_unique":   `INSERT INTO histogram (result_id, operation, unit, bounds) SELECT result_id, operation, '', '{}' FROM histogram`,
	"histogram_counts_or_percents": `UPDATE histogram SET counts = bounds, percents = bounds`,
	"histogram_lengths":            `UPDATE histogram SET counts = '{1}', percents = NULL`,
	"histogram_bounds_finite":      `UPDATE histogram SET bounds = '{1,2,Infinity}', counts = '{1,2,3}', percents = NULL`,
	"histogram_counts_finite":      `UPDATE histogram SET bounds = '{1}', counts = '{NaN}', percents = NULL`,
	"histogram_percents_finite":    `UPDATE histogram SET bounds = '{1}', counts = NULL, percents = '{-Infinity}'`,
	"histogram_figures_finite":     `UPDATE histogram SET max = 'NaN'`,

	"time_series_result":        `UPDATE time_series SET result_id = 0`,
	"time_series_name_present":  `UPDATE time_series SET name = ''`,
	"time_series_start_finite":  `UPDATE time_series SET start_s = 'NaN'`,
	"time_series_step_positive": `UPDATE time_series SET step_s = 0`,
	"time_series_name_unique":   `INSERT INTO time_series (result_id, name, unit, start_s, step_s, values) SELECT result_id, name, '', 0, 1, '{}' FROM time_series`,
	"time_series_values_finite": `UPDATE time_series SET values = '{1,Infinity}'`,

	"breakdown_result":           `UPDATE breakdown SET result_id = 0`,
	"breakdown_key_present":      `UPDATE breakdown SET key = ''`,
	"breakdown_samples_positive": `UPDATE breakdown SET samples = -1`,
	"breakdown_value_finite":     `UPDATE breakdown SET value = 'NaN'`,
	"breakdown_unique":           `INSERT INTO breakdown (result_id, key, bucket, samples, unit, value) SELECT result_id, key, bucket, 1, unit, 1 FROM breakdown`,

	"config_system_present":        `UPDATE config SET system = ''`,
	"config_name_present":          `UPDATE config SET name = ''`,
	"config_kind_known":            `UPDATE config SET kind = 'ini'`,
	"config_layer_known":           `UPDATE config SET layer = 'requested'`,
	"config_digest_sha256":         `UPDATE config SET digest = 'x'`,
	"config_warnings_array":        `UPDATE config SET warnings = '{}'`,
	"config_unique":                `INSERT INTO config (system, name, kind, layer, digest, warnings) SELECT system, name, kind, layer, digest, '[]' FROM config`,
	"config_option_config":         `UPDATE config_option SET config_id = 0`,
	"config_option_place_positive": `UPDATE config_option SET place = -1`,
	"config_option_key_present":    `UPDATE config_option SET key = ''`,
	"config_option_line_positive":  `UPDATE config_option SET line = -1`,
	"config_option_unique":         `INSERT INTO config_option SELECT config_id, place + 1000, section, key, written, value, line, loose, environment FROM config_option`,
	"config_source_config":         `UPDATE config_source SET config_id = 0`,
	"config_source_file":           `UPDATE config_source SET upload_file_id = 0`,

	"coordinate_points_coordinate": `UPDATE coordinate_points SET coordinate_id = 0`,
	"coordinate_points_lengths":    `UPDATE coordinate_points SET run_ids = run_ids || 1::bigint`,

	"series_coordinate":           `UPDATE series SET coordinate_id = 0`,
	"series_metric":               `UPDATE series SET metric_id = 0 WHERE id = (SELECT min(id) FROM series)`,
	"series_value_count_positive": `UPDATE series SET value_count = -1`,
	"series_unique":               `INSERT INTO series (coordinate_id, metric_id, value_count, values, resolutions) SELECT coordinate_id, metric_id, 0, '{}', '{}' FROM series`,
	"series_lengths":              `UPDATE series SET resolutions = '{1,1}'`,
	"series_values_finite":        `UPDATE series SET values = '{NaN}', resolutions = '{0}'`,

	"change_series":                 `UPDATE change SET series_id = 0`,
	"change_shape_known":            `UPDATE change SET shape = 'slope'`,
	"change_from_version":           `UPDATE change SET from_version_id = 0`,
	"change_to_version":             `UPDATE change SET to_version_id = 0`,
	"change_back_version":           `UPDATE change SET shape = 'spike', back_version_id = 0`,
	"change_p_probability":          `UPDATE change SET p = 1.5`,
	"change_p_here_probability":     `UPDATE change SET p_here = -1`,
	"change_before_object":          `UPDATE change SET before = '[]'`,
	"change_after_object":           `UPDATE change SET after = '[]'`,
	"change_triage_known":           `UPDATE change SET triage = 'maybe'`,
	"change_issue_url_web":          `UPDATE change SET issue_url = 'javascript:alert(1)'`,
	"change_figures_finite":         `UPDATE change SET neighbours = 'NaN'`,
	"change_interval_ordered":       `UPDATE change SET low = effect + 1`,
	"change_back_of_spike":          `UPDATE change SET shape = 'step', back_version_id = to_version_id`,
	"change_event_change":           `UPDATE change_event SET change_id = 0`,
	"change_event_field_known":      `UPDATE change_event SET field = 'mood'`,
	"note_system_present":           `UPDATE note SET system = ''`,
	"note_version_present":          `UPDATE note SET version = ''`,
	"note_change":                   `UPDATE note SET change_id = 0`,
	"note_body_present":             `UPDATE note SET body = ''`,
	"note_author_present":           `UPDATE note SET author = ''`,
	"note_revision_positive":        `UPDATE note SET revision = 0`,
	"note_range_ordered":            `UPDATE note SET to_version = '1', to_version_key = ''`,
	"note_revision_note":            `UPDATE note_revision SET note_id = 0`,
	"note_revision_number_positive": `UPDATE note_revision SET revision = 0`,
	"note_revision_action_known":    `UPDATE note_revision SET action = 'seen'`,
	"link_code_form":                `UPDATE link SET code = 'a/b'`,
	"link_url_local":                `UPDATE link SET url = '//elsewhere'`,
	"link_frozen_snapshot":          `UPDATE link SET frozen = true`,
	"link_live_url":                 `INSERT INTO link (code, url, frozen, author) SELECT 'other', url, frozen, author FROM link`,
	"alias_kind_known":              `INSERT INTO alias (kind, old, new, actor) VALUES ('step', 'a', 'b', 'me')`,
	"alias_old_present":             `INSERT INTO alias (kind, old, new, actor) VALUES ('server', '', 'b', 'me')`,
	"alias_new_present":             `INSERT INTO alias (kind, old, new, actor) VALUES ('server', 'a', 'a', 'me')`,
	"session_hash_sha256":           `UPDATE session SET hash = 'x'`,
	"session_token":                 `UPDATE session SET token_id = 0`,
	"session_expires_later":         `UPDATE session SET expires = created`,
	"sign_in_hash_sha256":           `UPDATE sign_in SET hash = 'x'`,
	"sign_in_token":                 `UPDATE sign_in SET token_id = 0`,
	"sign_in_expires_later":         `UPDATE sign_in SET expires = created`,
}

func insertCheck(values string) string {
	return `INSERT INTO matrix_check (upload_file_id, kind, cells, agree, unknown, shifted, messages) SELECT ` + values + ` FROM upload_file`
}

func insertHistory(values string) string {
	return `INSERT INTO run_history (run_id, actor, action, reason, before, after) SELECT ` + values + ` FROM run`
}

func TestEveryConstraintHolds(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	// One row of everything that a constraint is about.
	found := func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
		return []bench.Detection{{SeriesID: touched.Series[0].ID, Changes: []bench.FoundChange{{
			Shape: bench.ShapeStep, From: "8.8.0", To: "8.8.0", Effect: -.1, Low: -.2, High: -.05, P: .0001, PHere: .0001}}}}, nil
	}
	b := batch("a", c2("8.8.0", whole("a")))
	b.Configs = []bench.Config{cnf("a", "a0", "cy10a_bee", "cache=8G")}
	if _, err := s.Write(t.Context(), upload("a", "a"), b, found); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateNote(t.Context(), bench.Note{System: "rocksdb", Version: "8.8.0", Body: "x", Author: "me"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateLink(t.Context(), bench.Link{URL: "/charts", Author: "me"}); err != nil {
		t.Fatal(err)
	}
	token, _, err := s.CreateToken(t.Context(), "me", bench.TokenAnnotator)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.CreateSession(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateSignIn(t.Context(), "me", bench.TokenAnnotator); err != nil {
		t.Fatal(err)
	}
	rows, _ := pool.Query(t.Context(), `
		SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'u', 'f')
		UNION
		SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND NOT i.indisprimary
		UNION SELECT 'result_source_pkey'`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, name := range names {
		declared[name] = true
		if violations[name] == "" && !strings.HasPrefix(name, "goose_") {
			t.Errorf("nothing here violates %s", name)
		}
	}
	for name, sql := range violations {
		if !declared[name] {
			t.Errorf("the schema has no constraint %s", name)
		}
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), sql)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) {
			t.Errorf("%s: nothing was violated: %v", name, err)
		} else if pg.ConstraintName != name {
			t.Errorf("%s: violated is %q (%s)", name, pg.ConstraintName, pg.Message)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMissingValuesAreAllowedWhereFiguresMayBeMissing(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", with(row("a", 1, "fillseq", day1, "100"), "p99", 5, 1, "p99"))))
	// A NULL among the values, as a later set may have; the next write packs it.
	if _, err := pool.Exec(t.Context(), `UPDATE result SET values[2] = NULL`); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, s, upload("b", "b"), batch("b", c2("8.7.3", with(row("b", 1, "fillseq", day2, "90"), "p99", 6, 1, "p99"))))
	x := oneSeries(t, s, bench.SeriesFilter{Metric: "p99"})
	if v := samples(x); len(v) != 1 || len(v["8.7.3"]) != 1 || v["8.7.3"][0] != 6 {
		t.Errorf("p99 is %v, want that of 8.7.3 alone", v)
	}
	if v := samples(oneSeries(t, s, bench.SeriesFilter{})); len(v) != 2 {
		t.Errorf("qps is %v, want both", v)
	}
	d, err := s.Run(t.Context(), r.Runs[0].ID)
	if _, ok := d.Results[0].Value("p99"); ok || err != nil {
		t.Errorf("p99 of the run is there, or: %v", err)
	}
}
