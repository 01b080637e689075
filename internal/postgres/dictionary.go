package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// The tables of this file hold words that many rows share. They are only ever
// added to. Each function inserts what is missing in sorted order, and writers
// call them in the order of this file, so that two of them never wait for each
// other in a circle.

// ensureServers gives the ids of servers.
func ensureServers(ctx context.Context, tx pgx.Tx, slugs []string) (map[string]int32, error) {
	slugs = sortedSet(slugs)
	find := func() (map[string]int32, error) {
		rows, _ := tx.Query(ctx, `SELECT id, slug FROM server WHERE slug = ANY ($1)`, slugs)
		return idsByName(rows)
	}
	ids, err := find()
	if err == nil && len(ids) < len(slugs) {
		_, err = tx.Exec(ctx, `
			INSERT INTO server (slug)
			SELECT slug FROM unnest($1::text[]) AS wanted (slug)
			WHERE NOT EXISTS (SELECT FROM server s WHERE s.slug = wanted.slug)
			ORDER BY slug
			ON CONFLICT (slug) DO NOTHING`, slugs)
		if err == nil {
			ids, err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("servers: %w", err)
	}
	return ids, nil
}

// idsByName collects rows of (id, name).
func idsByName(rows pgx.Rows) (map[string]int32, error) {
	ids := map[string]int32{}
	var id int32
	var name string
	_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		ids[name] = id
		return nil
	})
	return ids, err
}

// release names a version of a system.
type release struct{ system, name string }

// ensureVersions gives the ids of versions.
func ensureVersions(ctx context.Context, tx pgx.Tx, releases []release) (map[release]int32, error) {
	wanted := map[release]bool{}
	for _, r := range releases {
		wanted[r] = true
	}
	list := slices.SortedFunc(maps.Keys(wanted), func(a, b release) int {
		return strings.Compare(a.system+"\x00"+a.name, b.system+"\x00"+b.name)
	})
	var systems, names, keys []string
	for _, r := range list {
		systems = append(systems, r.system)
		names = append(names, r.name)
		keys = append(keys, bench.VersionKey(r.name))
	}
	find := func() (map[release]int32, error) {
		ids := map[release]int32{}
		rows, _ := tx.Query(ctx, `
			SELECT v.id, v.system, v.name
			FROM version v JOIN unnest($1::text[], $2::text[]) AS wanted (system, name) USING (system, name)`, systems, names)
		var id int32
		var r release
		_, err := pgx.ForEachRow(rows, []any{&id, &r.system, &r.name}, func() error {
			ids[r] = id
			return nil
		})
		return ids, err
	}
	ids, err := find()
	if err == nil && len(ids) < len(list) {
		_, err = tx.Exec(ctx, `
			INSERT INTO version (system, name, sort_key)
			SELECT system, name, sort_key
			FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (system, name, sort_key, place)
			WHERE NOT EXISTS (SELECT FROM version v WHERE v.system = wanted.system AND v.name = wanted.name)
			ORDER BY place
			ON CONFLICT (system, name) DO NOTHING`, systems, names, keys)
		if err == nil {
			ids, err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("versions: %w", err)
	}
	return ids, nil
}

// systemBuild is a build of a system.
type systemBuild struct {
	system string
	bench.Build
}

// clean makes the texts of a build ones that Postgres takes.
func (b systemBuild) clean() systemBuild {
	for _, s := range []*string{&b.Compiler, &b.CompilerVersion, &b.Flags, &b.GitHash, &b.Command} {
		*s = text(*s)
	}
	return b
}

func (b systemBuild) digest() []byte {
	return digest(b.system, b.Version, b.Compiler, b.CompilerVersion, b.Flags, b.GitHash, b.BinarySHA256, b.Command)
}

// digest gives the SHA-256 of words, each with its length before it.
func digest(words ...string) []byte {
	var b []byte
	for _, w := range words {
		b = append(strconv.AppendInt(b, int64(len(w)), 10), ':')
		b = append(b, w...)
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// ensureBuilds gives the ids of builds.
func ensureBuilds(ctx context.Context, tx pgx.Tx, builds []systemBuild) (map[systemBuild]int32, error) {
	byDigest := map[string]systemBuild{}
	var releases []release
	for _, b := range builds {
		byDigest[string(b.digest())] = b
		releases = append(releases, release{b.system, b.Version})
	}
	versions, err := ensureVersions(ctx, tx, releases)
	if err != nil {
		return nil, err
	}
	var digests [][]byte
	for _, d := range slices.Sorted(maps.Keys(byDigest)) {
		digests = append(digests, []byte(d))
	}
	ids := map[systemBuild]int32{}
	find := func() error {
		rows, _ := tx.Query(ctx, `SELECT id, digest FROM build WHERE digest = ANY ($1)`, digests)
		var id int32
		var d []byte
		_, err := pgx.ForEachRow(rows, []any{&id, &d}, func() error {
			ids[byDigest[string(d)]] = id
			return nil
		})
		return err
	}
	err = find()
	if err == nil && len(ids) < len(digests) {
		// One statement for all: a file of nightly builds has as many as rows.
		var of []int32
		var words [6][]string
		var fresh [][]byte
		for _, d := range digests {
			b := byDigest[string(d)]
			if _, ok := ids[b]; ok {
				continue
			}
			of, fresh = append(of, versions[release{b.system, b.Version}]), append(fresh, d)
			for i, word := range []string{b.Compiler, b.CompilerVersion, b.Flags, b.GitHash, b.BinarySHA256, b.Command} {
				words[i] = append(words[i], word)
			}
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO build (version_id, compiler, compiler_version, flags, git_hash, binary_sha256, command, digest)
			SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[])
			ON CONFLICT (digest) DO NOTHING`, of, words[0], words[1], words[2], words[3], words[4], words[5], fresh)
		if err == nil {
			err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("builds: %w", err)
	}
	return ids, nil
}

// ensureMetrics gives the ids of metrics. A name that [bench.LookupMetric] does
// not know is an error: nothing could say its unit.
func ensureMetrics(ctx context.Context, tx pgx.Tx, names []string) (map[string]int32, error) {
	names = sortedSet(names)
	var units, directions []string
	for _, name := range names {
		m, ok := bench.LookupMetric(name)
		if !ok {
			return nil, fmt.Errorf("metrics: no metric is named %q", name)
		}
		units = append(units, m.Unit)
		directions = append(directions, string(m.Direction))
	}
	find := func() (map[string]int32, error) {
		rows, _ := tx.Query(ctx, `SELECT id, name FROM metric WHERE name = ANY ($1)`, names)
		return idsByName(rows)
	}
	ids, err := find()
	if err == nil && len(ids) < len(names) {
		_, err = tx.Exec(ctx, `
			INSERT INTO metric (name, unit, direction)
			SELECT name, unit, direction
			FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (name, unit, direction)
			WHERE NOT EXISTS (SELECT FROM metric m WHERE m.name = wanted.name)
			ORDER BY name
			ON CONFLICT (name) DO NOTHING`, names, units, directions)
		if err == nil {
			ids, err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return ids, nil
}

// setOf gives the digest that identifies the metric set of values: their
// metrics in order, resolutions and source names, not their numbers.
func setOf(values []bench.Value) string {
	parts := make([]string, 0, 3*len(values))
	for _, v := range values {
		parts = append(parts, v.Metric, strconv.FormatFloat(v.Resolution, 'g', -1, 64), v.SourceName)
	}
	return string(digest(parts...))
}

// ensureSets gives the ids of metric sets by their digest, see [setOf].
func (s *Store) ensureSets(ctx context.Context, tx pgx.Tx, sets map[string][]bench.Value) (map[string]int32, error) {
	var names []string
	var digests [][]byte
	for _, d := range slices.Sorted(maps.Keys(sets)) {
		digests = append(digests, []byte(d))
		for _, v := range sets[d] {
			names = append(names, v.Metric)
		}
	}
	metrics, err := ensureMetrics(ctx, tx, names)
	if err != nil {
		return nil, err
	}
	ids := map[string]int32{}
	find := func() error {
		rows, _ := tx.Query(ctx, `SELECT id, digest FROM metric_set WHERE digest = ANY ($1)`, digests)
		var id int32
		var d []byte
		_, err := pgx.ForEachRow(rows, []any{&id, &d}, func() error {
			ids[string(d)] = id
			return nil
		})
		return err
	}
	err = find()
	if err == nil && len(ids) < len(digests) {
		batch := &pgx.Batch{}
		for _, d := range digests {
			if _, ok := ids[string(d)]; ok {
				continue
			}
			n := len(sets[string(d)])
			metricIDs, resolutions, sourceNames := make([]int32, n), make([]float64, n), make([]string, n)
			for i, v := range sets[string(d)] {
				metricIDs[i], resolutions[i], sourceNames[i] = metrics[v.Metric], v.Resolution, v.SourceName
			}
			batch.Queue(`
				INSERT INTO metric_set (size, metric_ids, resolutions, source_names, digest)
				VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (digest) DO NOTHING`, n, metricIDs, resolutions, sourceNames, d)
		}
		if err = exec(ctx, tx, "insert metric sets", batch); err == nil {
			err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("metric sets: %w", err)
	}
	return ids, nil
}

// querier is what reads need of a transaction or the pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// setsByID gives what the values of metric sets mean, element for element; the
// numbers are 0. The caller must not change them.
func (s *Store) setsByID(ctx context.Context, q querier, ids []int32) (map[int32][]bench.Value, error) {
	out := make(map[int32][]bench.Value, len(ids))
	var missing []int32
	s.setsMu.RLock()
	for _, id := range ids {
		if set, ok := s.sets[id]; ok {
			out[id] = set
		} else {
			missing = append(missing, id)
		}
	}
	s.setsMu.RUnlock()
	if len(missing) == 0 {
		return out, nil
	}
	rows, _ := q.Query(ctx, `
		SELECT ms.id, m.name, x.resolution, x.source_name
		FROM metric_set ms
		CROSS JOIN unnest(ms.metric_ids, ms.resolutions, ms.source_names)
			WITH ORDINALITY AS x (metric_id, resolution, source_name, place)
		JOIN metric m ON m.id = x.metric_id
		WHERE ms.id = ANY ($1)
		ORDER BY ms.id, x.place`, missing)
	var id int32
	var v bench.Value
	fresh := map[int32][]bench.Value{}
	_, err := pgx.ForEachRow(rows, []any{&id, &v.Metric, &v.Resolution, &v.SourceName}, func() error {
		fresh[id] = append(fresh[id], v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("metric sets: %w", err)
	}
	for _, id := range missing {
		out[id] = fresh[id] // the empty set has no rows
	}
	s.setsMu.Lock()
	maps.Copy(s.sets, fresh)
	s.setsMu.Unlock()
	return out, nil
}

// valuesOf joins the numbers of a result with what its metric set says they are.
func valuesOf(set []bench.Value, numbers []*float64) []bench.Value {
	values := make([]bench.Value, 0, len(numbers))
	for i, n := range numbers {
		if n == nil || i >= len(set) {
			continue
		}
		v := set[i]
		v.Number = *n
		values = append(values, v)
	}
	return values
}

// place is a coordinate with its server's id.
type place struct {
	serverID int32
	bench.Coordinate
}

// ensureCoordinates gives the ids of coordinates; their Server field is ignored
// in favour of serverID.
func ensureCoordinates(ctx context.Context, tx pgx.Tx, places []place) (map[place]int64, error) {
	wanted := map[place]bool{}
	for _, p := range places {
		p.Server = ""
		wanted[p] = true
	}
	list := slices.SortedFunc(maps.Keys(wanted), func(a, b place) int {
		if d := a.serverID - b.serverID; d != 0 {
			return int(d)
		}
		return strings.Compare(fmt.Sprint(a.Coordinate), fmt.Sprint(b.Coordinate))
	})
	n := len(list)
	servers, clients := make([]int32, n), make([]int32, n)
	systems, suites, workloads := make([]string, n), make([]string, n), make([]string, n)
	steps, compilers, configs := make([]string, n), make([]string, n), make([]string, n)
	for i, p := range list {
		servers[i], clients[i] = p.serverID, int32(p.Clients)
		systems[i], suites[i], workloads[i] = p.System, p.Suite, p.Workload
		steps[i], compilers[i], configs[i] = p.Step, p.Compiler, p.Config
	}
	ids := map[place]int64{}
	find := func() error {
		rows, _ := tx.Query(ctx, `
			SELECT c.id, c.server_id, c.system, c.suite, c.workload, c.step, c.compiler, c.config, c.clients
			FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[])
				AS w (server_id, system, suite, workload, step, compiler, config, clients)
			JOIN coordinate c USING (server_id, system, suite, workload, step, compiler, config, clients)`,
			servers, systems, suites, workloads, steps, compilers, configs, clients)
		var id int64
		var p place
		_, err := pgx.ForEachRow(rows, []any{&id, &p.serverID, &p.System, &p.Suite, &p.Workload, &p.Step, &p.Compiler, &p.Config, &p.Clients}, func() error {
			ids[p] = id
			return nil
		})
		return err
	}
	err := find()
	if err == nil && len(ids) < n {
		_, err = tx.Exec(ctx, `
			INSERT INTO coordinate (server_id, system, suite, workload, step, compiler, config, clients)
			SELECT server_id, system, suite, workload, step, compiler, config, clients
			FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[])
				WITH ORDINALITY AS w (server_id, system, suite, workload, step, compiler, config, clients, place)
			WHERE NOT EXISTS (SELECT FROM coordinate c
				WHERE (c.server_id, c.system, c.suite, c.workload, c.step, c.compiler, c.config, c.clients)
					= (w.server_id, w.system, w.suite, w.workload, w.step, w.compiler, w.config, w.clients))
			ORDER BY place`,
			servers, systems, suites, workloads, steps, compilers, configs, clients)
		if err == nil {
			err = find()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("coordinates: %w", err)
	}
	return ids, nil
}

// sortedSet gives the distinct words in order; never nil, so that it is an
// empty array to Postgres.
func sortedSet(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	words = slices.Compact(words)
	if words == nil {
		return []string{}
	}
	return words
}
