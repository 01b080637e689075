//go:build unix

package pgtest

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/internal/localpg"
	"github.com/relqps/relqps/migrations"
)

// helperEnv makes the test binary act as some test process that uses this package.
const helperEnv = "RELQPS_PGTEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) == "" {
		os.Exit(Run(m))
	}
	os.Exit(m.Run()) // as a package without a TestMain
}

// TestHelperProcess is not a test of its own: see startHelper.
func TestHelperProcess(t *testing.T) {
	if os.Getenv(helperEnv) == "" {
		return
	}
	New(t)
	_, _ = os.Stdout.WriteString("folder " + shared.s.cluster.DataDir() + "\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// startHelper starts another test process that uses a database, and gives its
// folder; it ends when end is called.
func startHelper(t *testing.T) (cmd *exec.Cmd, folder string, end func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, "-test.run=^TestHelperProcess$")
	cmd.Env = append(os.Environ(), helperEnv+"=1", EnvURL+"=")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	folder, found := strings.CutPrefix(strings.TrimSpace(line), "folder ")
	if err != nil || !found {
		t.Fatalf("the helper said %q, %v", line, err)
	}
	return cmd, folder, func() { _ = in.Close() }
}

func waitGone(t *testing.T, path string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Errorf("%s is still there", path)
}

func TestProcessThatEndsLeavesNothing(t *testing.T) {
	t.Parallel()
	needServer(t)
	_, folder, end := startHelper(t)
	end()
	waitGone(t, folder)
}

func TestKilledProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	needServer(t)
	cmd, folder, _ := startHelper(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, folder)
}

// needServer skips like every user of the package where there is no Postgres.
func needServer(t *testing.T) { start(t) }

func databases(t *testing.T, url string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, _ := conn.Query(t.Context(), `select datname from pg_database where datname like 'relqps\_test\_%' order by 1`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestDatabaseIsMigrated(t *testing.T) {
	t.Parallel()
	var version int64
	if err := New(t).QueryRow(t.Context(), `select max(version_id) from goose_db_version where is_applied`).Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version != migrations.Latest() || version == 0 {
		t.Errorf("schema %d, want %d", version, migrations.Latest())
	}
}

func TestEmptyDatabaseHasNoSchema(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), EmptyURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var tables int
	if err := pool.QueryRow(t.Context(), `select count(*) from pg_tables where schemaname = 'public'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Errorf("%d tables, want none", tables)
	}
}

func TestDatabasesAreIsolated(t *testing.T) {
	t.Parallel()
	one, other := New(t), New(t)
	if _, err := one.Exec(t.Context(), `create table seen_by_one (); drop table goose_db_version`); err != nil {
		t.Fatal(err)
	}
	var foreign, own bool
	err := other.QueryRow(t.Context(), `select to_regclass('seen_by_one') is not null, to_regclass('goose_db_version') is not null`).Scan(&foreign, &own)
	if err != nil {
		t.Fatal(err)
	}
	if foreign || !own {
		t.Errorf("the other database has the first one's table: %t; has kept its own: %t", foreign, own)
	}
	var table bool
	if err := New(t).QueryRow(t.Context(), `select to_regclass('seen_by_one') is not null`).Scan(&table); err != nil || table {
		t.Errorf("a later database has the first one's table: %t, %v", table, err)
	}
}

func TestDatabaseGoesWithItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("use", func(t *testing.T) {
		url := NewURL(t)
		// Connected beyond the end of the test.
		conn, err := pgx.Connect(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		name = conn.Config().Database
	})
	for _, n := range databases(t, start(t).url) {
		if n == name {
			t.Errorf("database %s is still there", n)
		}
	}
}

func TestRunningServerIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// What stands for the server that was there is a cluster of its own, so
	// that nobody else makes databases on it at the same time.
	own, err := localpg.Open(ctx, localpg.Config{DataDir: DataDir(t), Volatile: true, BinDir: os.Getenv(localpg.EnvBinDir)})
	if missing := (*localpg.MissingError)(nil); errors.As(err, &missing) {
		needServer(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})

	first, err := open(ctx, own.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("use", func(t *testing.T) {
		url := first.create(t, first.template)
		if got := databases(t, url); len(got) != 2 {
			t.Errorf("databases %q, want the template and one more", got)
		}
	})

	// A process that was killed is one whose connections have ended and which
	// has dropped nothing.
	killed, err := open(ctx, own.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := killed.createNamed(ctx, killed.prefix+"1", killed.template); err != nil {
		t.Fatal(err)
	}
	killed.mark.Release()
	killed.admin.Close()

	second, err := open(ctx, own.URL())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{first.template: true, second.template: true}
	for _, name := range databases(t, own.URL()) {
		if !want[name] {
			t.Errorf("database %s of the killed process is still there", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("template %s, which is in use, was dropped", name)
	}
	if err := errors.Join(first.close(), second.close()); err != nil {
		t.Fatal(err)
	}
	if left := databases(t, own.URL()); len(left) > 0 {
		t.Errorf("left on the server: %q", left)
	}
}

func TestFoldersOfDeadProcessesAreSwept(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := "rq" + strconv.Itoa(gone.Process.Pid)
	parent := t.TempDir()
	keep := []string{"rq" + strconv.Itoa(os.Getpid()) + "-1", dead + "-foreign", dead + "-2/somebody's file", "other"}
	for _, name := range append([]string{dead + "-1"}, keep...) {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweepFolders(parent)
	if _, err := os.Stat(filepath.Join(parent, dead+"-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the empty folder of a dead process was not removed")
	}
	for _, name := range keep {
		if _, err := os.Stat(filepath.Join(parent, name)); err != nil {
			t.Errorf("%s was removed", name)
		}
	}
}

func TestDatabaseInURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgres://u:p@h:1/old?sslmode=disable":                "postgres://u:p@h:1/new?sslmode=disable",
		"postgresql://u@/?host=%2Ftmp%2Fx+y&dbname=old&port=54": "postgresql://u@/new?host=%2Ftmp%2Fx+y&port=54",
		"host=/tmp user=u dbname=old":                           "host=/tmp user=u dbname=old dbname=new",
		"":                                                      "dbname=new",
	} {
		got, err := withDatabase(in, "new")
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
		cfg, err := pgx.ParseConfig(got)
		if err != nil || cfg.Database != "new" {
			t.Errorf("%s: pgx reads database %q, %v", got, cfg.Database, err)
		}
	}
	if _, err := withDatabase("postgres://u:secret@h:port/old", "new"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

func BenchmarkClone(b *testing.B) {
	needed := start(b)
	for b.Loop() {
		url, err := needed.createNamed(b.Context(), needed.prefix+"bench", needed.template)
		if err != nil || url == "" {
			b.Fatal(err)
		}
		b.StopTimer()
		if _, err := needed.admin.Exec(b.Context(), dropSQL(needed.prefix+"bench")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
