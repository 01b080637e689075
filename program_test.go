package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// Some tests need the program in a process of its own, to kill it, to signal it
// or to give it an environment. It is this test binary, which has all of it,
// started again with envProgram set.
const envProgram = "RELQPS_TEST_PROGRAM"

func init() {
	if os.Getenv(envProgram) != "" {
		main()
	}
}

// process is the program as another process.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     *watched
	err     *watched
	done    chan struct{}
	code    int // read after done
	address string
}

// spawn starts the program with nothing of our environment but what programs
// need to be found. It is killed when the test ends.
func spawn(t *testing.T, env []string, stdin string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self, args...), out: &watched{}, err: &watched{}, done: make(chan struct{})}
	p.cmd.Env = []string{envProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if dir := os.Getenv("RELQPS_PG_BIN"); dir != "" {
		p.cmd.Env = append(p.cmd.Env, "RELQPS_PG_BIN="+dir)
	}
	p.cmd.Env = append(p.cmd.Env, env...) // the last of a name counts
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = strings.NewReader(stdin), p.out, p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		err := p.cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.err.Write([]byte(err.Error()))
		}
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as kill -9 does, if it still runs, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// wait waits for the end and gives the exit status.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("%v does not end\n%s\n%s", p.cmd.Args[1:], p.out, p.err)
	}
	return p.code
}

// stop asks the process to end and gives its exit status.
func (p *process) stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	return p.wait()
}

// watched is output that can be read while it is written.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

const readyPrefix = "relqps: listening on "

// spawnServer starts a server and waits for its ready line.
func spawnServer(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := spawn(t, env, "", args...)
	p.waitReady()
	return p
}

func (p *process) waitReady() {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if line, _, ok := strings.Cut(p.out.String(), "\n"); ok {
			address, ok := strings.CutPrefix(line, readyPrefix)
			if !ok {
				p.t.Fatalf("first line %q", line)
			}
			p.address = address
			return
		}
		select {
		case <-p.done:
			p.t.Fatalf("the server ended with %d: %s", p.code, p.err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	p.t.Fatalf("no ready line within a minute: %s", p.err)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(3 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// fetch gets a JSON answer.
func fetch(t *testing.T, address string, into any) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", address, resp.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v in %s", address, err, body)
	}
}

// newToken makes a token of a database with the command for it.
func newToken(t *testing.T, database string, role bench.TokenRole) string {
	t.Helper()
	code, out, stderr := command(t, "token", "create", "--database-url", database, "--role", string(role), "--name", "the "+string(role))
	if code != exitOK {
		t.Fatalf("token create: %d %s", code, stderr)
	}
	return strings.TrimSpace(out)
}

const reportHeader = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n"

// reportRow is a line of report.tsv; any two numbers make rows that differ in
// date and figure.
func reportRow(number int, test, version string) string {
	at := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(number) * 31 * time.Minute)
	return fmt.Sprintf("%d\t400.0\t16GB\t0GB\t15.9\t2.0\t714.0\t40\t38\t0\t0\t0.6\t0.5\t1\t4\t24\t67402\t1800\t0.1\t3\t0.1\t0.0\t16.9\t%s\t%s\t%s\t\t%d\n",
		100000+number*7919%90000, test, at.Format("2006-01-02T15:04:05"), version, number)
}

var tests = []string{"fillseq.wal_disabled.v400", "readrandom.t8", "fwdrange.t8", "multireadrandom.t8", "revrangewhilewriting.t8", "fwdrangewhilewriting.t8", "readwhilewriting.t8", "overwriteandwait.t8.s0"}

// reportFile writes a report.tsv of so many versions, beginning with the given number of a row.
func reportFile(t testing.TB, path string, first, versions int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(reportText(first, versions)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func reportText(first, versions int) string {
	var b strings.Builder
	b.WriteString(reportHeader)
	for v := range versions {
		for i, test := range tests {
			b.WriteString(reportRow(first+v*len(tests)+i, test, fmt.Sprintf("%d.%d.%d", 4+v/20, v%20, v%3)))
		}
	}
	return b.String()
}
