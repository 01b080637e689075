//go:build unix

package localpg

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/testdata"
)

// helperEnv makes the test binary act as a command that uses a data directory,
// as its value says.
const helperEnv = "RELQPS_LOCALPG_HELPER"

func TestMain(m *testing.M) {
	if text := os.Getenv(helperEnv); text != "" {
		os.Exit(helperMain(text))
	}
	os.Exit(m.Run())
}

// helperOrder is what a helper process is to do.
type helperOrder struct {
	DataDir string
	BinDir  string
	Mode    Mode
	Safe    bool // not volatile
	Address string
	Rounds  int // 0: open, answer and wait; else open, insert a row and stop that often

	Download    bool
	DownloadDir string
	DownloadURL string
}

// helperAnswer is what it did.
type helperAnswer struct {
	URL     string
	PID     int // of Postgres
	Started bool
	Error   string
}

func helperMain(text string) int {
	ctx := context.Background()
	var order helperOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return 2
	}
	cfg := Config{
		DataDir: order.DataDir, BinDir: order.BinDir, Mode: order.Mode, Address: order.Address, Volatile: !order.Safe,
		Download: order.Download, DownloadDir: order.DownloadDir, DownloadURL: order.DownloadURL,
	}
	if order.Rounds > 0 {
		return helperRounds(ctx, cfg, order.Rounds)
	}
	c, err := Open(ctx, cfg)
	if err != nil {
		answer(helperAnswer{Error: err.Error()})
		return 1
	}
	answer(helperAnswer{URL: c.URL(), PID: c.PID(), Started: c.Started()})
	// Until the test closes our input: then we end as a command does.
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := c.Stop(ctx); err != nil {
		answer(helperAnswer{Error: err.Error()})
		return 1
	}
	return 0
}

func answer(a helperAnswer) { _ = json.NewEncoder(os.Stdout).Encode(a) }

func helperRounds(ctx context.Context, cfg Config, rounds int) int {
	for range rounds {
		c, err := Open(ctx, cfg)
		if err == nil {
			err = try(ctx, c.URL(), func(conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, `insert into rounds default values`)
				return err
			})
			err = errors.Join(err, c.Stop(ctx))
		}
		if err != nil {
			answer(helperAnswer{Error: err.Error()})
			return 1
		}
	}
	answer(helperAnswer{})
	return 0
}

// helper is a running helper process.
type helper struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	helperAnswer
}

// begin starts a helper process without waiting for its answer.
func begin(t *testing.T, order helperOrder, change ...func(*exec.Cmd)) *helper {
	t.Helper()
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	program, err := ownProgram()
	if err != nil {
		t.Fatal(err)
	}
	h := &helper{t: t, cmd: exec.Command(program)}
	h.cmd.Args[0] = "localpg-test-helper"
	h.cmd.Env = append(os.Environ(), helperEnv+"="+string(text))
	h.cmd.Stderr = os.Stderr
	for _, f := range change {
		f(h.cmd)
	}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = json.NewDecoder(bufio.NewReader(out))
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	return h
}

// run starts a helper process and waits until it uses the data directory.
func run(t *testing.T, order helperOrder) *helper {
	t.Helper()
	h := begin(t, order)
	h.answered()
	return h
}

func (h *helper) answered() {
	h.t.Helper()
	if err := h.out.Decode(&h.helperAnswer); err != nil {
		h.t.Fatalf("the helper process said nothing: %v", err)
	}
	if h.Error != "" {
		h.t.Fatalf("the helper process: %s", h.Error)
	}
}

// kill is kill -9.
func (h *helper) kill() {
	h.t.Helper()
	if err := h.cmd.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	_ = h.cmd.Wait()
}

// end lets the helper process stop in order.
func (h *helper) end() {
	h.t.Helper()
	_ = h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		h.t.Fatalf("the helper process: %v", err)
	}
}

// needPostgres gives the folder of the server programs, or ends the test where
// there are none.
func needPostgres(t *testing.T) string {
	t.Helper()
	install, err := Find(t.Context(), os.Getenv(EnvBinDir), os.Getenv("PATH"), 0)
	var missing *MissingError
	if errors.As(err, &missing) {
		testdata.Missing(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return install.Dir
}

// newDir gives a path for a data directory, which does not exist yet. The
// folder around it goes when the test ends; by then nothing may use it.
func newDir(t *testing.T) string {
	t.Helper()
	// In memory where that is possible: making a cluster means writing a
	// thousand files.
	parent := "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(parent, &fs); err != nil || uint64(fs.Bavail)*uint64(fs.Bsize) < 4<<30 {
		parent = os.TempDir()
	}
	return newDirIn(t, parent)
}

func newDirIn(t *testing.T, parent string) string {
	t.Helper()
	parent, err := os.MkdirTemp(parent, "rqt")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: Postgres must be able to pass through as another user.
	if err := os.Chmod(parent, 0o711); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "data")
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(dir, markerName)); err == nil {
			waitFor(t, "the end of all users of "+dir, func() bool {
				removed, err := RemoveIfUnused(dir)
				if err != nil {
					t.Fatal(err)
				}
				return removed
			})
		}
		if err := os.RemoveAll(parent); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// waitFor waits for something that happens in another process. The limit is
// there for the tests to end; nothing is asserted about the time it takes.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// isRunning tells whether a process runs. One that has ended and that its
// parent has not asked about yet, which may be long when that is process 1,
// does not.
func isRunning(pid int) bool {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		if _, after, ok := strings.Cut(string(text), ") "); ok && strings.HasPrefix(after, "Z") {
			return false
		}
	}
	return syscall.Kill(pid, 0) == nil
}

// waitEnded waits for the end of a process that has been told to end. Its locks
// are free a little before it is gone.
func waitEnded(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !isRunning(pid) })
}

// testConfig is a configuration for a fast Postgres.
func testConfig(t *testing.T, dir string) Config {
	t.Helper()
	return Config{DataDir: dir, BinDir: needPostgres(t), Volatile: true}
}

// mustOpen opens a cluster that is stopped at the end of the test at the latest.
func mustOpen(t *testing.T, cfg Config) *Cluster {
	t.Helper()
	c, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

func mustStop(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	err := try(t.Context(), url, func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func query1[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	err := try(t.Context(), url, func(conn *pgx.Conn) error {
		return conn.QueryRow(t.Context(), sql).Scan(&v)
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// stateOf reads where the present Postgres of a directory is and who keeps it.
func stateOf(t *testing.T, dir string) state {
	t.Helper()
	s := (&dataDir{path: dir}).readState()
	if s == nil {
		t.Fatalf("%s has no state file", dir)
	}
	return *s
}

// waitDead waits until no process of the directory's Postgres is left.
func waitDead(t *testing.T, dir string) {
	t.Helper()
	d := &dataDir{path: dir}
	for _, name := range []string{aliveLockName, keeperLockName} {
		l, err := d.lock(name)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the release of "+name, func() bool {
			free, err := l.isFree()
			if err != nil {
				t.Fatal(err)
			}
			return free
		})
		l.close()
	}
}
