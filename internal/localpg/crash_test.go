//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// kill9 ends a process that belongs to the test, in the way that leaves it no say.
func kill9(t *testing.T, pid int) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("no process id: %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// safeConfig is a configuration under which what is committed stays committed.
func safeConfig(t *testing.T, dir string) Config {
	t.Helper()
	cfg := testConfig(t, dir)
	cfg.Volatile = false
	return cfg
}

func logOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, logsName, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKilledPostgresIsReportedAndRecovered(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, safeConfig(t, dir))
	exec1(t, c.URL(), `create table kept (v int); insert into kept values (1)`)
	kill9(t, c.PID())
	<-c.Done()
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "ended unexpectedly") || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err says %v", err)
	}
	mustStop(t, c)

	c = mustOpen(t, safeConfig(t, dir))
	if c.Err() != nil {
		t.Errorf("Err says %v while all is well", c.Err())
	}
	if got := query1[int](t, c.URL(), `select v from kept`); got != 1 {
		t.Errorf("after the recovery: %d, want 1", got)
	}
	if !c.recovered {
		t.Error("Postgres did not recover: it was not killed in this test")
	}
	mustStop(t, c)
}

func TestBackendsThatOutliveTheirPostgresAreEnded(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, safeConfig(t, dir))
	exec1(t, c.URL(), `create table kept (v int); insert into kept values (1)`)
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	busy := int(conn.PgConn().PID())
	over := make(chan error, 1)
	// It computes and waits for nothing: so it does not notice the death of its parent.
	go func() {
		_, err := conn.Exec(context.Background(), `do $$ begin loop end loop; end $$`)
		over <- err
	}()
	waitFor(t, "the busy backend", func() bool {
		return query1[int](t, c.URL(), fmt.Sprintf(`select count(*) from pg_stat_activity where pid = %d and state = 'active'`, busy)) == 1
	})
	kill9(t, c.PID())
	mustStop(t, c)
	waitEnded(t, busy)
	if err := <-over; err == nil {
		t.Error("the endless loop ended by itself")
	}
	c = mustOpen(t, safeConfig(t, dir))
	if got := query1[int](t, c.URL(), `select v from kept`); got != 1 {
		t.Errorf("after the recovery: %d, want 1", got)
	}
	mustStop(t, c)
}

func TestKilledBackendIsNoReasonToEnd(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, safeConfig(t, dir))
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	kill9(t, int(conn.PgConn().PID()))
	// Postgres restarts itself and takes connections again.
	waitFor(t, "Postgres after the death of a backend", func() bool {
		return strings.Contains(logOf(t, dir), "all server processes terminated; reinitializing") && try(t.Context(), c.URL(), nil) == nil
	})
	if c.Err() != nil {
		t.Errorf("Err says %v", c.Err())
	}
	mustStop(t, c)
}

func TestPostgresEndsInOrderWhenItsOnlyUserIsKilled(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := run(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Mode: Server})
	exec1(t, h.URL, `create table kept (v int); insert into kept values (1)`)
	h.kill()
	waitDead(t, dir)
	waitEnded(t, h.PID)
	c := mustOpen(t, testConfig(t, dir))
	if got := query1[int](t, c.URL(), `select v from kept`); got != 1 {
		t.Errorf("%d, want 1", got)
	}
	if c.recovered {
		t.Error("Postgres had to recover: it was not stopped in order")
	}
	mustStop(t, c)
}

func TestOthersGoOnWhenTheStarterIsKilled(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := run(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Mode: Server})
	c := mustOpen(t, testConfig(t, dir))
	conn, err := pgx.Connect(t.Context(), c.URL())
	if err != nil {
		t.Fatal(err)
	}
	h.kill()
	// A new server takes the dead one's place, on the same Postgres.
	cfg := testConfig(t, dir)
	cfg.Mode = Server
	server := mustOpen(t, cfg)
	if server.PID() != h.PID || server.Started() {
		t.Errorf("Postgres is %d, want %d, which still runs", server.PID(), h.PID)
	}
	if _, err := conn.Exec(t.Context(), `select 1`); err != nil {
		t.Errorf("the connection of the other user: %v", err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	mustStop(t, server)
	mustStop(t, c)
	waitEnded(t, h.PID)
}

func TestStartAtTheMomentWhenTheOnlyUserIsKilled(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	for range 10 {
		h := run(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Mode: Server})
		h.kill()
		// The keeper is stopping Postgres, or about to.
		cfg := testConfig(t, dir)
		cfg.Mode = Server
		c := mustOpen(t, cfg)
		exec1(t, c.URL(), `select 1`)
		mustStop(t, c)
	}
}

func TestKilledKeeperTakesPostgresWithIt(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, safeConfig(t, dir))
	exec1(t, c.URL(), `create table kept (v int); insert into kept values (1)`)
	kill9(t, stateOf(t, dir).Keeper)
	if runtime.GOOS == "linux" {
		<-c.Done()
		if c.Err() == nil {
			t.Error("Err says nothing")
		}
	}
	// Another process recovers, whether or not this one has noticed.
	other := mustOpen(t, safeConfig(t, dir))
	if got := query1[int](t, other.URL(), `select v from kept`); got != 1 {
		t.Errorf("%d, want 1", got)
	}
	if other.PID() == c.PID() {
		t.Error("the Postgres without a keeper is still in use")
	}
	if other.URL() != c.URL() {
		t.Errorf("the address has changed: connection pools on %s will not find %s", c.URL(), other.URL())
	}
	mustStop(t, c)
	exec1(t, other.URL(), `select 1`)
	mustStop(t, other)
}

func TestEverythingKilledAtOnce(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := run(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Mode: Server, Safe: true})
	exec1(t, h.URL, `create table kept (v int); insert into kept values (1)`)
	keeper := stateOf(t, dir).Keeper
	// Postgres cannot act on the death of its keeper when it is stopped.
	for _, pid := range []int{h.PID, keeper} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	kill9(t, keeper)
	h.kill()
	kill9(t, h.PID)

	cfg := safeConfig(t, dir)
	cfg.Mode = Server
	c := mustOpen(t, cfg)
	if got := query1[int](t, c.URL(), `select v from kept`); got != 1 {
		t.Errorf("%d, want 1", got)
	}
	if !c.recovered {
		t.Error("Postgres did not recover: it was not killed in this test")
	}
	mustStop(t, c)
}

func TestPostgresThatHangsWithoutItsKeeperIsEnded(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, safeConfig(t, dir))
	exec1(t, c.URL(), `create table kept (v int); insert into kept values (1)`)
	pid := c.PID()
	// Stopped, it follows no signal but SIGKILL.
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	kill9(t, stateOf(t, dir).Keeper)
	d := c.d
	alive, err := d.lock(aliveLockName)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.close()
	times := stopTimes{grace: 0, fast: 0, immediate: 0}
	if err := d.endOrphans(t.Context(), alive, c.u, times, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	waitEnded(t, pid)
	mustStop(t, c)
	c = mustOpen(t, safeConfig(t, dir))
	if got := query1[int](t, c.URL(), `select v from kept`); got != 1 {
		t.Errorf("%d, want 1", got)
	}
	mustStop(t, c)
}

func TestProcessIDThatWasGivenToAnotherProcessDoesNotMatter(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, testConfig(t, dir))
	exec1(t, c.URL(), `create table kept ()`)
	lines, err := os.ReadFile(filepath.Join(dir, clusterName, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, c)
	// As after the death of the machine, when our own process id is the one that
	// Postgres had: Postgres alone would refuse to start.
	_, rest, _ := strings.Cut(string(lines), "\n")
	stale := fmt.Sprintf("%d\n%s", os.Getpid(), rest)
	for _, path := range []string{filepath.Join(dir, clusterName, "postmaster.pid"), filepath.Join(dir, socketsName, ".s.PGSQL.5432.lock")} {
		if err := os.WriteFile(path, []byte(stale), 0o600); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(path, c.u.UID, c.u.GID); err != nil {
				t.Fatal(err)
			}
		}
	}
	c = mustOpen(t, testConfig(t, dir))
	exec1(t, c.URL(), `select from kept`)
	mustStop(t, c)
}

func TestStartKilledWhileMakingTheClusterIsRepeated(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := begin(t, helperOrder{DataDir: dir, BinDir: needPostgres(t)})
	waitFor(t, "initdb", func() bool {
		_, err := os.Stat(filepath.Join(dir, newName, "PG_VERSION"))
		return err == nil
	})
	// All of it: the command, and with the keeper what it has started.
	keepers := keepersOf(t, dir)
	for _, pid := range keepers {
		kill9(t, pid)
	}
	h.kill()
	c := mustOpen(t, testConfig(t, dir))
	exec1(t, c.URL(), `create table kept ()`)
	if _, err := os.Stat(filepath.Join(dir, newName)); err == nil {
		t.Error("the half-made cluster is still there")
	}
	mustStop(t, c)
}

// keepersOf gives the keeper of a directory whose state file does not exist yet.
func keepersOf(t *testing.T, dir string) []int {
	t.Helper()
	var pids []int
	entries, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil || string(text) != keeperName+"\x00"+dir+"\x00" {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/cmdline", &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestFirstStartKilledBeforeTheDatabaseWasMade(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, testConfig(t, dir))
	password, err := c.d.password()
	if err != nil {
		t.Fatal(err)
	}
	super := c.state.Address.url(superuser, password, superuser)
	for _, sql := range []string{`drop database relqps with (force)`, `drop role relqps`} {
		exec1(t, super, sql)
	}
	mustStop(t, c)
	c = mustOpen(t, testConfig(t, dir))
	if got := query1[string](t, c.URL(), `select current_user || '@' || current_database()`); got != "relqps@relqps" {
		t.Errorf("connected as %s", got)
	}
	mustStop(t, c)
}
