package postgres

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// levelRow is how a level is stored.
type levelRow struct {
	First string  `json:"first"`
	Last  string  `json:"last"`
	Mean  float64 `json:"mean"`
	N     int     `json:"n"`
}

// detector is the actor of what a detection does.
const detector = "detection"

// keepChanges makes the stored changes of series agree with what detection says
// of them: found again, new, or dissolved. The series are locked by then, so
// that two writes cannot both store the same change.
func keepChanges(ctx context.Context, tx pgx.Tx, touched bench.Touched, detections []bench.Detection) error {
	series := map[int64]*bench.Series{}
	for i := range touched.Series {
		series[touched.Series[i].ID] = &touched.Series[i]
	}
	var ids []int64
	for _, d := range detections {
		if series[d.SeriesID] == nil {
			return fmt.Errorf("detection speaks of series %d, which was not touched", d.SeriesID)
		}
		ids = append(ids, d.SeriesID)
	}
	stored, err := storedChanges(ctx, tx, ids)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, d := range detections {
		s := series[d.SeriesID]
		versions := make([]string, 0, len(s.Points))
		for _, p := range s.Points {
			versions = append(versions, p.Version)
		}
		had := stored[d.SeriesID]
		match := bench.MatchChanges(versions, had, d.Changes)
		again := map[int]bool{}
		for i, f := range d.Changes {
			before, after, err := levels(f)
			if err != nil {
				return err
			}
			args := []any{s.System, f.From, f.To, f.Back, string(f.Shape), f.Effect, f.Low, f.High, f.Neighbours, f.P, f.PHere, before, after, f.OneRun, f.NewCampaign}
			if match[i] < 0 {
				batch.Queue(insertChange, append(args, s.ID, detector)...)
				continue
			}
			again[match[i]] = true
			batch.Queue(updateChange, append(args, had[match[i]].ID)...)
			if had[match[i]].Dissolved != nil {
				batch.Queue(insertEvent, had[match[i]].ID, detector, "detection", "dissolved", "found again")
			}
		}
		for j := range had {
			if !again[j] && had[j].Dissolved == nil {
				batch.Queue(`UPDATE change SET dissolved = now(), updated = now() WHERE id = $1`, had[j].ID)
				batch.Queue(insertEvent, had[j].ID, detector, "detection", "found", "dissolved")
			}
		}
	}
	return exec(ctx, tx, "keep changes", batch)
}

const versionIDs = `
	(SELECT id FROM version WHERE system = $1 AND name = $2),
	(SELECT id FROM version WHERE system = $1 AND name = $3),
	(SELECT id FROM version WHERE system = $1 AND name = NULLIF($4, ''))`

const insertChange = `
	WITH found AS (
		INSERT INTO change (from_version_id, to_version_id, back_version_id, shape, effect, low, high, neighbours, p, p_here,
			before, after, one_run, new_campaign, series_id)
		VALUES (` + versionIDs + `, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		RETURNING id)
	INSERT INTO change_event (change_id, actor, field, before, after) SELECT id, $17, 'detection', '', 'found' FROM found`

// updateChange touches a row only where something moved: most changes of a
// series are found again just as they were.
const updateChange = `
	UPDATE change SET (from_version_id, to_version_id, back_version_id, shape, effect, low, high, neighbours, p, p_here,
		before, after, one_run, new_campaign, dissolved, updated)
		= (` + versionIDs + `, $5, $6::float8, $7::float8, $8::float8, $9::float8, $10::float8, $11::float8, $12::jsonb, $13::jsonb,
			$14::boolean, $15::boolean, NULL, now())
	WHERE id = $16 AND (dissolved IS NOT NULL OR shape <> $5 OR effect <> $6 OR low <> $7 OR high <> $8 OR neighbours <> $9
		OR p <> $10 OR p_here <> $11 OR before <> $12::jsonb OR after <> $13::jsonb OR one_run <> $14 OR new_campaign <> $15
		OR (from_version_id, to_version_id) IS DISTINCT FROM ((SELECT id FROM version WHERE system = $1 AND name = $2),
			(SELECT id FROM version WHERE system = $1 AND name = $3))
		OR back_version_id IS DISTINCT FROM (SELECT id FROM version WHERE system = $1 AND name = NULLIF($4, '')))`

const insertEvent = `INSERT INTO change_event (change_id, actor, field, before, after) VALUES ($1, $2, $3, $4, $5)`

func levels(f bench.FoundChange) (before, after string, err error) {
	b, err := json.Marshal(levelRow(f.Before))
	if err != nil {
		return "", "", fmt.Errorf("level before: %w", err)
	}
	a, err := json.Marshal(levelRow(f.After))
	if err != nil {
		return "", "", fmt.Errorf("level after: %w", err)
	}
	return string(b), string(a), nil
}

// storedChanges gives the changes of series as far as matching needs them.
func storedChanges(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64][]bench.Change, error) {
	rows, _ := tx.Query(ctx, `
		SELECT k.id, k.series_id, k.shape, f.name, t.name, k.effect, k.dissolved
		FROM change k JOIN version f ON f.id = k.from_version_id JOIN version t ON t.id = k.to_version_id
		WHERE k.series_id = ANY ($1)
		ORDER BY k.id`, ids)
	changes := map[int64][]bench.Change{}
	var c bench.Change
	_, err := pgx.ForEachRow(rows, []any{&c.ID, &c.SeriesID, &c.Shape, &c.From, &c.To, &c.Effect, &c.Dissolved}, func() error {
		changes[c.SeriesID] = append(changes[c.SeriesID], c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("stored changes: %w", err)
	}
	return changes, nil
}

// changeColumns are those that scanChange reads.
const changeColumns = `
	k.id, k.series_id, c.system, c.suite, s.slug, c.workload, c.step, c.compiler, c.config, c.clients, m.name,
	k.shape, f.name, t.name, COALESCE(b.name, ''), k.effect, k.low, k.high, k.neighbours, k.p, k.p_here, k.before, k.after,
	k.one_run, k.new_campaign, k.dissolved, k.created, k.updated, k.triage, k.fixed_in, k.owner, k.issue_url`

const changeTables = `
	change k
	JOIN series x ON x.id = k.series_id
	JOIN coordinate c ON c.id = x.coordinate_id
	JOIN server s ON s.id = c.server_id
	JOIN metric m ON m.id = x.metric_id
	JOIN version f ON f.id = k.from_version_id
	JOIN version t ON t.id = k.to_version_id
	LEFT JOIN version b ON b.id = k.back_version_id`

func scanChange(row pgx.CollectableRow) (bench.Change, error) {
	var c bench.Change
	var before, after []byte
	var metric string
	err := row.Scan(&c.ID, &c.SeriesID, &c.System, &c.Suite, &c.Server, &c.Workload, &c.Step, &c.Compiler, &c.Config, &c.Clients, &metric,
		&c.Shape, &c.From, &c.To, &c.Back, &c.Effect, &c.Low, &c.High, &c.Neighbours, &c.P, &c.PHere, &before, &after,
		&c.OneRun, &c.NewCampaign, &c.Dissolved, &c.Created, &c.Updated, &c.Triage, &c.FixedIn, &c.Owner, &c.IssueURL)
	if err != nil {
		return c, err
	}
	c.Metric, _ = bench.LookupMetric(metric) // stored metrics were known when they were stored
	for _, l := range []struct {
		text []byte
		to   *bench.Level
	}{{before, &c.Before}, {after, &c.After}} {
		var row levelRow
		if err := json.Unmarshal(l.text, &row); err != nil {
			return c, fmt.Errorf("level of change %d: %w", c.ID, err)
		}
		*l.to = bench.Level(row)
	}
	return c, nil
}

// maxChanges is the most that one page of changes holds.
const (
	maxChanges     = 1000
	defaultChanges = 100
)

// Changes lists changes, those at the newest version first, within a version the
// largest effects first. A cursor that no page gave is an error of kind invalid.
func (s *Store) Changes(ctx context.Context, f bench.ChangeFilter) (bench.ChangePage, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = defaultChanges
	}
	limit = min(limit, maxChanges)
	after, err := parseChangeCursor(f.Cursor)
	if err != nil {
		return bench.ChangePage{}, err
	}
	maxP := f.MaxP
	if maxP <= 0 {
		maxP = 1
	}
	triage := make([]string, 0, len(f.Triage))
	for _, t := range f.Triage {
		triage = append(triage, string(t))
	}
	rows, err := s.pool.Query(ctx, `
		SELECT `+changeColumns+`
		FROM `+changeTables+`
		WHERE ($1 = '' OR c.system = $1) AND ($2::text[] IS NULL OR s.slug = ANY ($2)) AND ($3::text[] IS NULL OR c.workload = ANY ($3))
			AND ($4::text[] IS NULL OR c.step = ANY ($4)) AND ($5::text[] IS NULL OR c.compiler = ANY ($5))
			AND ($6::text[] IS NULL OR c.config = ANY ($6)) AND ($7::text[] IS NULL OR t.name = ANY ($7))
			AND ($8 = '' OR $8 = CASE
				WHEN m.direction = 'neutral' THEN 'change'
				WHEN (k.effect > 0) = (m.direction = 'higher') THEN 'improvement'
				ELSE 'regression' END)
			AND ($9 = '' OR k.shape = $9) AND ($10::text[] IS NULL OR k.triage = ANY ($10))
			AND abs(k.effect) >= $11 AND (k.p <= $12 OR k.triage <> 'new') AND ($13 OR k.dissolved IS NULL)
			AND ($14 = '' OR (t.sort_key, abs(k.effect), -k.id) < ($14, $15::float8, -$16::bigint))
		ORDER BY t.sort_key DESC, abs(k.effect) DESC, k.id
		LIMIT $17::int + 1`,
		f.System, list(f.Servers), list(f.Workloads), list(f.Steps), list(f.Compilers), list(f.Configs), list(f.Versions),
		f.Kind, string(f.Shape), list(triage), f.MinEffect, maxP, f.Dissolved, after.Key, after.Effect, after.ID, limit)
	if err != nil {
		return bench.ChangePage{}, translate("changes", err)
	}
	changes, err := pgx.CollectRows(rows, scanChange)
	if err != nil {
		return bench.ChangePage{}, translate("changes", err)
	}
	page := bench.ChangePage{Changes: changes}
	if len(changes) > limit {
		page.Changes = changes[:limit]
		page.Next = newChangeCursor(changes[limit-1])
	}
	return page, nil
}

// ChangeTable gives the P of every change of a system ("" for all systems) that
// stands, and the number of series that detection looks at: what false-discovery
// control over a list needs.
func (s *Store) ChangeTable(ctx context.Context, system string) (p []float64, tested int, err error) {
	err = s.view(ctx, "change table", func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `
			SELECT k.p FROM change k JOIN series x ON x.id = k.series_id JOIN coordinate c ON c.id = x.coordinate_id
			WHERE k.dissolved IS NULL AND ($1 = '' OR c.system = $1)`, system)
		var err error
		if p, err = pgx.CollectRows(rows, pgx.RowTo[float64]); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `
			SELECT c.suite, c.step, m.name, count(*)
			FROM series x JOIN coordinate c ON c.id = x.coordinate_id JOIN metric m ON m.id = x.metric_id
			WHERE x.value_count > 0 AND m.name = ANY ($2) AND ($1 = '' OR c.system = $1)
			GROUP BY 1, 2, 3`, system, bench.PrimaryMetrics())
		var suite, step, metric string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&suite, &step, &metric, &n}, func() error {
			if bench.StepRole(suite, step) == bench.RoleMeasure && bench.PrimaryMetric(suite, step) == metric {
				tested += n
			}
			return nil
		})
		return err
	})
	return p, tested, err
}

// changeCursor is the place of a change in the order of the list.
type changeCursor struct {
	Key    string  `json:"k"`
	Effect float64 `json:"e"`
	ID     int64   `json:"i"`
}

func newChangeCursor(c bench.Change) string {
	text, err := json.Marshal(changeCursor{bench.VersionKey(c.To), math.Abs(c.Effect), c.ID})
	if err != nil {
		return "" // the fields are finite by the schema
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseChangeCursor(cursor string) (c changeCursor, err error) {
	if cursor == "" {
		return c, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil || c.Key == "" {
		return c, bench.Errorf(bench.KindInvalid, "this cursor is not one that a list gave")
	}
	return c, nil
}

// Change gives a change with its thread; of kind not found when there is none.
// A dissolved one is still there.
func (s *Store) Change(ctx context.Context, id int64) (d bench.ChangeDetail, err error) {
	err = s.view(ctx, "change", func(tx pgx.Tx) error {
		d, err = loadChange(ctx, tx, id)
		return err
	})
	return d, err
}

func loadChange(ctx context.Context, tx pgx.Tx, id int64) (d bench.ChangeDetail, err error) {
	rows, _ := tx.Query(ctx, `SELECT `+changeColumns+` FROM `+changeTables+` WHERE k.id = $1`, id)
	d.Change, err = pgx.CollectExactlyOneRow(rows, scanChange)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, bench.Errorf(bench.KindNotFound, "there is no change %d", id)
	}
	if err != nil {
		return d, err
	}
	rows, _ = tx.Query(ctx, `SELECT id, at, actor, field, before, after FROM change_event WHERE change_id = $1 ORDER BY id`, id)
	d.Events, err = pgx.CollectRows(rows, pgx.RowToStructByPos[bench.ChangeEvent])
	return d, err
}

// Bounds of what people write on a change.
const (
	maxComment = 20_000
	maxField   = 2_000
)

// PatchChange sets what people say of a change and adds to its thread who did
// and when. What is set to what it is already makes no entry.
func (s *Store) PatchChange(ctx context.Context, id int64, p bench.ChangePatch, actor string) (d bench.ChangeDetail, err error) {
	if p.Triage != nil && !p.Triage.Valid() {
		return d, bench.Errorf(bench.KindInvalid, "no such state: %q; it is new, confirmed, noise, expected or fixed", *p.Triage)
	}
	if p.IssueURL != nil && *p.IssueURL != "" && !strings.HasPrefix(*p.IssueURL, "http://") && !strings.HasPrefix(*p.IssueURL, "https://") {
		return d, bench.Errorf(bench.KindInvalid, "the issue is an address that begins with http:// or https://")
	}
	if p.Comment != nil && (strings.TrimSpace(*p.Comment) == "" || len(*p.Comment) > maxComment) {
		return d, bench.Errorf(bench.KindInvalid, "a comment has between 1 and %d bytes", maxComment)
	}
	for _, field := range []*string{p.FixedIn, p.Owner, p.IssueURL} {
		if field != nil && len(*field) > maxField {
			return d, bench.Errorf(bench.KindInvalid, "fixed_in, owner and issue have at most %d bytes", maxField)
		}
	}
	err = s.update(ctx, "patch change", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM change WHERE id = $1 FOR UPDATE`, id); err != nil {
			return err
		}
		was, err := loadChange(ctx, tx, id)
		if err != nil {
			return err
		}
		now := was.Change
		batch := &pgx.Batch{}
		set := func(field string, to *string, value *string) {
			if value != nil && *to != *value {
				batch.Queue(insertEvent, id, actor, field, *to, *value)
				*to = *value
			}
		}
		if p.Triage != nil {
			text, to := string(*p.Triage), string(now.Triage)
			set("triage", &to, &text)
			now.Triage = *p.Triage
		}
		set("fixed_in", &now.FixedIn, p.FixedIn)
		set("owner", &now.Owner, p.Owner)
		set("issue", &now.IssueURL, p.IssueURL)
		if p.Comment != nil {
			batch.Queue(insertEvent, id, actor, "comment", "", *p.Comment)
		}
		if batch.Len() > 0 {
			batch.Queue(`UPDATE change SET triage = $2, fixed_in = $3, owner = $4, issue_url = $5, updated = now() WHERE id = $1`,
				id, string(now.Triage), now.FixedIn, now.Owner, now.IssueURL)
		}
		if err := exec(ctx, tx, "patch change", batch); err != nil {
			return err
		}
		d, err = loadChange(ctx, tx, id)
		return err
	})
	return d, err
}

// DetectAll runs detection over every series that decides a step, as after an
// upload that touched them all, and reports how many series that were. It holds
// the locks of a write, one system's series at a time.
func (s *Store) DetectAll(ctx context.Context, detect bench.DetectFunc) (series int, err error) {
	rows, err := s.pool.Query(ctx, `SELECT id FROM coordinate WHERE sample_count > 0 ORDER BY id`)
	if err != nil {
		return 0, translate("detect all", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, translate("detect all", err)
	}
	const chunk = 500 // coordinates locked at a time, so that uploads need not wait for all
	for len(ids) > 0 {
		n := min(chunk, len(ids))
		part := ids[:n]
		ids = ids[n:]
		counted := func(ctx context.Context, t bench.Touched) ([]bench.Detection, error) {
			d, err := detect(ctx, t)
			series += len(d)
			return d, err
		}
		err := s.update(ctx, "detect all", func(tx pgx.Tx) error {
			packed, err := s.pack(ctx, tx, part)
			if err != nil {
				return err
			}
			return s.callDetect(ctx, tx, part, packed, counted)
		})
		if err != nil {
			return series, err
		}
	}
	return series, nil
}
