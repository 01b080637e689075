package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/internal/bench"
)

// DefaultMaxSeries is how many series one call answers unless Options say
// otherwise: enough for every step of a large suite with several builds.
const DefaultMaxSeries = 2000

// Options configure a [Store]. The zero value is ready for use.
type Options struct {
	// MaxConns bounds the connections; 0 takes what the URL says (pool_max_conns),
	// else the larger of 4 and the number of processors.
	MaxConns int32
	// MaxSeries bounds what [Store.Series] answers; 0 is [DefaultMaxSeries].
	MaxSeries int
	// ApplicationName is what Postgres lists for our connections; "" is relqps.
	ApplicationName string
}

// Store keeps measurements in a Postgres database. It is safe for concurrent use.
type Store struct {
	pool      *pgxpool.Pool
	ownPool   bool
	maxSeries int
	zip       *zstd.Encoder
	unzip     *zstd.Decoder

	// sets holds the metric sets seen so far by their id; rows of metric_set
	// never change and ids are never used twice, so an entry stays true.
	setsMu sync.RWMutex
	sets   map[int32][]bench.Value
}

// Open connects to the database that a URL or a keyword string names, and makes
// sure that it answers. No error it returns contains the password. An
// unreachable database is an error of kind unavailable.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's own message may quote the string with the password.
		return nil, bench.Errorf(bench.KindInvalid, "the database address cannot be read: "+
			"it is a URL like postgres://user@host:5432/name or words like host=/run/postgresql dbname=relqps")
	}
	if o.MaxConns > 0 {
		config.MaxConns = o.MaxConns
	}
	params := config.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "relqps"
		if o.ApplicationName != "" {
			params["application_name"] = o.ApplicationName
		}
	}
	if params["jit"] == "" {
		params["jit"] = "off" // compiling costs more than any of our queries takes
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, translate("open", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, translate("open", err)
	}
	s, err := New(pool, o)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.ownPool = true
	return s, nil
}

// New makes a store of a pool that the caller keeps and closes. MaxConns and
// ApplicationName are the pool's matter.
func New(pool *pgxpool.Pool, o Options) (*Store, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("postgres: compression: %w", err)
	}
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("postgres: compression: %w", err)
	}
	s := &Store{pool: pool, maxSeries: o.MaxSeries, zip: zip, unzip: unzip, sets: map[int32][]bench.Value{}}
	if s.maxSeries == 0 {
		s.maxSeries = DefaultMaxSeries
	}
	return s, nil
}

// Close ends the connections, waiting for those in use. A pool given to [New]
// stays open.
func (s *Store) Close() {
	if s.ownPool {
		s.pool.Close()
	}
}

// Ping makes sure that the database answers; an error is of kind unavailable
// when it does not.
func (s *Store) Ping(ctx context.Context) error {
	return translate("ping", s.pool.Ping(ctx))
}

// SchemaVersion gives the number of the last migration that was applied, 0 for
// a database that has none.
func (s *Store) SchemaVersion(ctx context.Context) (int64, error) {
	var present bool
	if err := s.pool.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&present); err != nil {
		return 0, translate("schema version", err)
	}
	if !present {
		return 0, nil
	}
	var version int64
	err := s.pool.QueryRow(ctx, `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version, translate("schema version", err)
}

// attempts is how often a write is begun: Postgres ends one of two
// transactions that wait for each other.
const attempts = 10

// update runs f in a transaction, again when it had to give way to another one.
func (s *Store) update(ctx context.Context, op string, f func(pgx.Tx) error) error {
	var err error
	for range attempts {
		err = pgx.BeginFunc(ctx, s.pool, f)
		if !gaveWay(err) {
			break
		}
	}
	return translate(op, err)
}

// view runs f in a transaction that reads one state of the database.
func (s *Store) view(ctx context.Context, op string, f func(pgx.Tx) error) error {
	return translate(op, pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f))
}

// lock takes locks by name until the end of the transaction, in the given order.
func lock(ctx context.Context, tx pgx.Tx, names []string) error {
	for _, name := range names {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name); err != nil {
			return fmt.Errorf("lock %q: %w", name, err)
		}
	}
	return nil
}

// lockNames keeps what servers, workloads and configs are called until the end of
// the transaction: writes share it, a renaming has it alone, or what is being
// written to something that is new in this moment would bring a former name back.
// It comes before all other locks.
func lockNames(ctx context.Context, tx pgx.Tx, alone bool) error {
	sql := `SELECT pg_advisory_xact_lock_shared(hashtextextended('names', 0))`
	if alone {
		sql = `SELECT pg_advisory_xact_lock(hashtextextended('names', 0))`
	}
	if _, err := tx.Exec(ctx, sql); err != nil {
		return fmt.Errorf("lock names: %w", err)
	}
	return nil
}

// exec runs the statements of a batch.
func exec(ctx context.Context, tx pgx.Tx, what string, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// errDry ends the transaction of a dry run.
var errDry = errors.New("dry run")
