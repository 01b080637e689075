//go:build unix

// Package pgtest gives each test a migrated Postgres database of its own.
//
// The first test of a process that asks for one starts a private Postgres
// without crash safety, in a short temporary folder, and migrates a template
// there; every further database is a clone of it, which takes some tens of
// milliseconds. Postgres and the folder go when the process ends, in whatever
// way it does. $TEST_DATABASE_URL names a running server to use instead; its
// role must be allowed to create databases.
//
// Without server programs tests are skipped, and fail where CI is set.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/localpg"
	"github.com/relqps/relqps/internal/testdata"
	"github.com/relqps/relqps/migrations"
)

// EnvURL is the environment variable that names a server to use instead of a
// private one.
const EnvURL = "TEST_DATABASE_URL"

// shared is the server of this process. There is one per process, not one per
// caller, because starting it is what costs.
var shared struct {
	once sync.Once
	s    *server
	err  error
}

// Run runs the tests of a package and stops Postgres after them, for TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
//
// Packages without a TestMain need none for this: Postgres also ends by itself
// when the process does. With Run it has ended when the process ends.
func Run(m *testing.M) int {
	status := m.Run()
	if s := shared.s; s != nil {
		if err := s.close(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			if status == 0 {
				status = 1
			}
		}
	}
	return status
}

// New gives a pool on a new migrated database. Both go when the test ends.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), NewURL(t))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// NewURL gives the URL of a new migrated database, which goes when the test
// ends, together with all connections to it.
func NewURL(t testing.TB) string {
	t.Helper()
	s := start(t)
	return s.create(t, s.template)
}

// EmptyURL gives the URL of a new database without a schema, for tests of the
// migrations themselves; it goes when the test ends.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return start(t).create(t, "template0")
}

// DataDir gives a new, empty directory in which a private Postgres can run, for
// tests of programs that are given a --data-dir. Unlike t.TempDir its path is
// short enough for a socket, and the user that Postgres runs as when the tests
// run as root can enter it. It goes when the test ends, by when whoever used it
// must have stopped.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := makeFolder()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			removed, err := localpg.RemoveIfUnused(dir)
			if errors.Is(err, os.ErrNotExist) {
				removed, err = true, os.RemoveAll(dir) // nobody made a cluster there
			}
			switch {
			case err != nil:
				t.Errorf("pgtest: remove the data directory: %v", err)
				return
			case removed:
				return
			case time.Since(began) > time.Minute:
				t.Errorf("pgtest: the data directory %s is still in use a minute after the test", dir)
				return
			}
		}
	})
	return dir
}

// server is a Postgres on which this process has a template.
type server struct {
	url      string           // of a database from which others can be made
	prefix   string           // of the names of our databases
	template string           // the migrated database
	admin    *pgxpool.Pool    // on url
	mark     *pgxpool.Conn    // holds the lock that says our databases are in use
	cluster  *localpg.Cluster // nil for a server that was there
	next     atomic.Int64
}

// start gives the server of this process, starting it when this is the first call.
func start(t testing.TB) *server {
	t.Helper()
	shared.once.Do(func() {
		// Not the context of the test that happens to be first: the server stays.
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		shared.s, shared.err = open(ctx, os.Getenv(EnvURL))
	})
	var missing *localpg.MissingError
	if errors.As(shared.err, &missing) {
		testdata.Missing(t, "%v (or set %s)", missing, EnvURL)
	}
	if shared.err != nil {
		t.Fatalf("pgtest: %v", shared.err)
	}
	return shared.s
}

// open makes the template on the server at url, or on a private one when that is empty.
func open(ctx context.Context, url string) (_ *server, err error) {
	s := &server{url: url}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if url == "" {
		sweepFolders(parentFolder())
		dir, err := makeFolder()
		if err != nil {
			return nil, err
		}
		s.cluster, err = localpg.Open(ctx, localpg.Config{
			DataDir:   dir,
			BinDir:    os.Getenv(localpg.EnvBinDir),
			Download:  os.Getenv(localpg.EnvDownload) == "1",
			Volatile:  true,
			Temporary: true,
			Settings: map[string]string{
				"max_connections": "200",
				// Keep the log that nobody will read from filling the folder.
				"max_wal_size": "128MB",
				"min_wal_size": "32MB",
			},
		})
		if err != nil {
			_ = os.RemoveAll(dir)
			return nil, fmt.Errorf("start a private Postgres: %w", err)
		}
		s.url = s.cluster.URL()
	}
	cfg, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", EnvURL, err)
	}
	cfg.MaxConns = 4
	if s.admin, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	if err := s.takeMark(ctx); err != nil {
		return nil, err
	}
	if err := s.sweepDatabases(ctx); err != nil {
		return nil, err
	}
	if err := s.makeTemplate(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// markClass is the first half of the advisory locks that say which databases
// are in use; the second half is the number in their names.
const markClass = 0x72_71_70_73 // "rqps"

var databasePattern = regexp.MustCompile(`^relqps_test_(\d+)_`)

// takeMark chooses the names of our databases and locks them against being
// swept. The lock goes with the connection, so also when we are killed.
func (s *server) takeMark(ctx context.Context) (err error) {
	if s.mark, err = s.admin.Acquire(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for {
		number := rand.Int32()
		var mine bool
		if err := s.mark.QueryRow(ctx, `select pg_try_advisory_lock($1, $2)`, markClass, number).Scan(&mine); err != nil {
			return fmt.Errorf("mark our databases: %w", err)
		}
		if mine {
			s.prefix = fmt.Sprintf("relqps_test_%d_", number)
			return nil
		}
	}
}

// sweepDatabases drops what processes that were killed left on the server.
func (s *server) sweepDatabases(ctx context.Context) error {
	rows, _ := s.admin.Query(ctx, `select datname from pg_database where datname like 'relqps\_test\_%'`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for databases of earlier tests: %w", err)
	}
	for _, name := range names {
		m := databasePattern.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		number, err := strconv.ParseInt(m[1], 10, 32)
		if err != nil {
			continue
		}
		if err := s.sweepDatabase(ctx, name, int32(number)); err != nil {
			return fmt.Errorf("drop %s, a database of an earlier test: %w", name, err)
		}
	}
	return nil
}

func (s *server) sweepDatabase(ctx context.Context, name string, number int32) error {
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var unused bool
	if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1, $2)`, markClass, number).Scan(&unused); err != nil || !unused {
		return err
	}
	_, err = conn.Exec(ctx, dropSQL(name))
	_, unlockErr := conn.Exec(ctx, `select pg_advisory_unlock($1, $2)`, markClass, number)
	return errors.Join(err, unlockErr)
}

// makeTemplate makes the migrated database that the others are clones of.
func (s *server) makeTemplate(ctx context.Context) error {
	name := s.prefix + "template"
	url, err := s.createNamed(ctx, name, "template0")
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the template: %w", err)
	}
	_, err = migrations.Up(ctx, pool)
	pool.Close()
	if err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	// A database that somebody is connected to cannot be cloned.
	if _, err := s.admin.Exec(ctx, "alter database "+pgx.Identifier{name}.Sanitize()+" allow_connections false"); err != nil {
		return fmt.Errorf("close the template: %w", err)
	}
	s.template = name
	return nil
}

// create makes a database for a test.
func (s *server) create(t testing.TB, template string) string {
	t.Helper()
	name := s.prefix + strconv.FormatInt(s.next.Add(1), 10)
	url, err := s.createNamed(t.Context(), name, template)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.admin.Exec(ctx, dropSQL(name)); err != nil {
			t.Errorf("pgtest: drop the database of the test: %v", err)
		}
	})
	return url
}

func (s *server) createNamed(ctx context.Context, name, template string) (string, error) {
	sql := "create database " + pgx.Identifier{name}.Sanitize() + " template " + pgx.Identifier{template}.Sanitize()
	if s.cluster != nil {
		// Copying files takes half as long as logging pages. It makes two
		// checkpoints, which cost nothing here and much on a server in use.
		sql += " strategy file_copy"
	}
	for attempt := 1; ; attempt++ {
		_, err := s.admin.Exec(ctx, sql)
		var pg *pgconn.PgError
		switch {
		case err == nil:
			return withDatabase(s.url, name)
		case errors.As(err, &pg) && pg.Code == "55006" && attempt < 50:
			// object_in_use: something of the server itself looks at the template.
			time.Sleep(20 * time.Millisecond)
		default:
			return "", fmt.Errorf("make database %s: %w", name, err)
		}
	}
}

func dropSQL(name string) string {
	return "drop database if exists " + pgx.Identifier{name}.Sanitize() + " with (force)"
}

// close drops the template and ends what was started.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	if s.template != "" && s.cluster == nil {
		if _, err := s.admin.Exec(ctx, dropSQL(s.template)); err != nil {
			errs = append(errs, fmt.Errorf("drop the template: %w", err))
		}
	}
	if s.mark != nil {
		s.mark.Release()
	}
	if s.admin != nil {
		s.admin.Close()
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop(ctx))
	}
	return errors.Join(errs...)
}

// folderPattern are the names of temporary folders of this package: "rq", the
// process id, and what os.MkdirTemp adds.
var folderPattern = regexp.MustCompile(`^rq(\d+)-\d+$`)

// parentFolder is where temporary folders lie: $TMPDIR if somebody has set it,
// else in memory where that is roomy enough, else /tmp.
func parentFolder() string {
	if os.Getenv("TMPDIR") == "" {
		if dir, ok := memoryParent(); ok {
			return dir
		}
	}
	return os.TempDir()
}

// makeFolder makes a temporary folder with a short name that any user may pass
// through (and not look into).
func makeFolder() (string, error) {
	dir, err := os.MkdirTemp(parentFolder(), fmt.Sprintf("rq%d-", os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a folder for Postgres: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", fmt.Errorf("make a folder for Postgres: %w", err)
	}
	return dir, nil
}

// sweepFolders removes the folders of processes that were killed together with
// the keeper that would have done it.
func sweepFolders(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		m := folderPattern.FindStringSubmatch(e.Name())
		if m == nil || !e.IsDir() {
			continue
		}
		pid, err := strconv.Atoi(m[1])
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if _, err := localpg.RemoveIfUnused(dir); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(dir) // only if it is empty: killed just after making it
		}
	}
}
