//go:build unix

package localpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The keeper is a process between the commands and Postgres. It is the parent
// of Postgres and lives exactly as long as somebody uses Postgres, which it
// knows from the users lock. It exists because none of the commands can be
// that parent: the one that started Postgres may end, or be killed, while
// another still uses it, and Postgres must neither end with the first nor
// outlive the last.
//
//	killed             what follows
//	a command          its shared lock goes; if it was the last one, the keeper stops Postgres in order
//	the keeper         the kernel makes Postgres stop in order (Linux); the next start recovers
//	Postgres           the keeper ends its remains and itself; the next start recovers
//	all of them        every lock is free; the next start recovers
//
// The keeper is this same program, started again under another name, so that
// there is one binary to install and the two never differ in version.
const keeperName = "relqps-postgres-keeper"

// A program that links this package becomes the keeper when it is started
// under the keeper's name. This must happen before main: a test binary that
// went on to main would run its tests again, each of them starting a keeper.
func init() {
	if len(os.Args) > 0 && os.Args[0] == keeperName {
		os.Exit(runKeeper())
	}
}

// Descriptors that a keeper inherits.
const (
	keeperAliveFD  = 3 // the alive lock, held
	keeperResultFD = 4 // the pipe for its keeperResult
)

// keeperConfig is what a keeper is told on its standard input.
type keeperConfig struct {
	DataDir   string            `json:"data_dir"`
	Install   Installation      `json:"install"`
	User      serverUser        `json:"user"`
	Transport Transport         `json:"transport"`
	Volatile  bool              `json:"volatile"`
	Temporary bool              `json:"temporary"`
	Settings  map[string]string `json:"settings"`
}

// keeperResult is what a keeper answers once Postgres is ready, or cannot be.
type keeperResult struct {
	State     state  `json:"state"`
	Created   bool   `json:"created"`   // it made the cluster
	Recovered bool   `json:"recovered"` // Postgres had not been stopped in order before
	Error     string `json:"error"`
}

// state is what the state file says about the present Postgres; after a crash,
// about the last one.
type state struct {
	Address address   `json:"address"`
	PID     int       `json:"pid"`    // of the postmaster
	Keeper  int       `json:"keeper"` // process id of the keeper
	Major   int       `json:"major"`
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`
}

// readState reads the state file; nil when there is none that can be used.
func (d *dataDir) readState() *state {
	var s state
	if err := readJSON(d.join(stateName), &s); err != nil {
		return nil
	}
	return &s
}

// startKeeper starts a keeper, hands it the alive lock and waits for its
// answer. When ctx ends first the keeper goes on, and ends once the users lock
// is free.
func (d *dataDir) startKeeper(ctx context.Context, cfg keeperConfig, alive *fileLock) (keeperResult, error) {
	handedOver := false
	defer func() {
		if !handedOver {
			alive.close()
		}
	}()
	program, err := ownProgram()
	if err != nil {
		return keeperResult{}, fmt.Errorf("start Postgres: %w", err)
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return keeperResult{}, fmt.Errorf("start Postgres: %w", err)
	}
	if err := d.makeDir(logsName, d.owner, 0o700); err != nil {
		return keeperResult{}, err
	}
	logPath := d.join(logsName, "keeper.log")
	log, err := openLogFile(logPath, d.owner, logLimit)
	if err != nil {
		return keeperResult{}, d.explain(err)
	}
	defer log.close()
	offset := log.offset()
	answer, answerEnd, err := os.Pipe()
	if err != nil {
		return keeperResult{}, fmt.Errorf("start Postgres: %w", err)
	}
	defer answer.Close()

	cmd := &exec.Cmd{
		Path:       program,
		Args:       []string{keeperName, d.path},
		Dir:        "/",
		Env:        os.Environ(),
		Stdin:      strings.NewReader(string(text)),
		Stdout:     log.f,
		Stderr:     log.f,
		ExtraFiles: []*os.File{alive.f, answerEnd},
		// A session of its own: Ctrl-C in the terminal is for the command, which
		// then finishes what it does with Postgres still there.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = answerEnd.Close()
	if err != nil {
		return keeperResult{}, fmt.Errorf("start Postgres: %w", err)
	}
	alive.close()
	handedOver = true
	go func() { _ = cmd.Wait() }() // so that it leaves no zombie; how it ended is in its answer and its log

	var result keeperResult
	received := make(chan error, 1)
	go func() { received <- json.NewDecoder(answer).Decode(&result) }()
	select {
	case <-ctx.Done():
		return keeperResult{}, fmt.Errorf("start Postgres: %w", ctx.Err())
	case err := <-received:
		switch {
		case err != nil:
			return keeperResult{}, fmt.Errorf("start Postgres: its keeper ended: %s", logEnd(logPath, offset, 2000))
		case result.Error != "":
			return keeperResult{}, errors.New(result.Error)
		}
		return result, nil
	}
}

// runKeeper is the keeper's main.
func runKeeper() int {
	// The kernel ties Postgres to the thread that starts it.
	runtime.LockOSThread()
	k, err := newKeeper()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := k.run()
	runtime.KeepAlive(k)
	return status
}

type keeper struct {
	cfg    keeperConfig
	d      *dataDir
	alive  *os.File // inherited, held
	log    *logFile
	answer *os.File
	gone   chan struct{} // closed when nobody uses Postgres any more

	// Held until the process ends. They are fields so that the collector does
	// not close the files, and with that drop the locks.
	own, users *fileLock
}

func newKeeper() (*keeper, error) {
	k := &keeper{
		alive:  os.NewFile(keeperAliveFD, aliveLockName),
		answer: os.NewFile(keeperResultFD, "answer"),
		gone:   make(chan struct{}),
	}
	// What we start inherits what we pass on, not all that we inherited.
	syscall.CloseOnExec(keeperAliveFD)
	syscall.CloseOnExec(keeperResultFD)
	if err := json.NewDecoder(os.Stdin).Decode(&k.cfg); err != nil {
		return nil, fmt.Errorf("keeper: read what to do: %w", err)
	}
	k.d = &dataDir{path: k.cfg.DataDir}
	if err := k.d.readMarker(); err != nil {
		return nil, err
	}
	// The keeper of the Postgres before may still be tidying up.
	var err error
	if k.own, err = k.d.lock(keeperLockName); err != nil {
		return nil, err
	}
	if err := k.own.block(syscall.LOCK_EX); err != nil {
		return nil, err
	}
	// Whoever started us holds the users lock. Once we get it nobody does, and
	// nobody can until we have ended.
	if k.users, err = k.d.lock(usersLockName); err != nil {
		return nil, err
	}
	go func() {
		if k.users.block(syscall.LOCK_EX) == nil {
			close(k.gone)
		}
	}()
	k.log, err = openLogFile(k.d.join(logsName, "postgres.log"), k.d.owner, logLimit)
	return k, err
}

// run starts Postgres, says so, and stays until Postgres ends or nobody needs it.
func (k *keeper) run() int {
	// Signals that reach every process, at the end of a session or the shutdown
	// of the machine, reach the users as well: they come first.
	// Caught and dropped, not ignored: Postgres would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)

	result, p, err := k.start()
	if err != nil {
		k.note("could not start Postgres: %v", err)
		result.Error = err.Error()
	}
	_ = json.NewEncoder(k.answer).Encode(result)
	_ = k.answer.Close()
	_ = k.alive.Close()
	if err != nil {
		k.tidy(result.State.Address)
		return 1
	}

	status := 0
	var patience <-chan time.Time
	for done := false; !done; {
		select {
		case <-k.gone:
			k.note("nobody uses Postgres any more: stopping it")
			p.stop(k.cfg.Temporary)
			done = true
		case <-term:
			patience = time.After(10 * time.Second)
		case <-patience:
			k.note("asked to end: stopping Postgres")
			p.stop(false)
			done = true
		case <-p.exited:
			k.note("Postgres ended by itself: %v", p.outcome())
			done, status = true, 1
		}
	}
	k.endRemains()
	k.tidy(result.State.Address)
	return status
}

// start brings Postgres up.
func (k *keeper) start() (keeperResult, *postmaster, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-k.gone:
			cancel()
		case <-ctx.Done():
		}
	}()

	var result keeperResult
	exists, err := k.d.hasCluster()
	if err != nil {
		return result, nil, err
	}
	if !exists {
		if err := k.d.initCluster(k.cfg, k.alive); err != nil {
			return result, nil, err
		}
		result.Created = true
	}
	if err := k.d.writeAccessRules(k.cfg.User); err != nil {
		return result, nil, err
	}
	var previous *address
	if s := k.d.readState(); s != nil {
		previous = &s.Address
	}
	if result.Recovered, err = k.d.removeStale(previous); err != nil {
		return result, nil, err
	}
	// A port that was free a moment ago may be taken by the time Postgres
	// wants it; a socket cannot.
	const attempts = 5
	for attempt := 1; ; attempt++ {
		at, err := k.d.chooseAddress(k.cfg.Transport, k.cfg.User, previous)
		if err != nil {
			return result, nil, err
		}
		if previous != nil && *previous != at {
			removeSocketFolder(*previous, k.cfg.User)
		}
		result.State = state{Address: at, Keeper: os.Getpid(), Major: k.cfg.Install.Major, Started: time.Now().UTC()}
		// Written before the start as well, so that after a crash in between the
		// temporary socket folder is known.
		if err := k.d.writeJSON(stateName, result.State); err != nil {
			return result, nil, err
		}
		offset := k.log.offset()
		p, err := k.d.startPostmaster(k.cfg, at, k.alive, k.log)
		if err != nil {
			return result, nil, err
		}
		err = p.waitReady(ctx, k.d)
		if err == nil {
			result.State.PID, result.State.Ready = p.cmd.Process.Pid, true
			if err := k.d.writeJSON(stateName, result.State); err != nil {
				p.stop(k.cfg.Temporary)
				return result, nil, err
			}
			return result, p, nil
		}
		p.stop(k.cfg.Temporary)
		said := logEnd(k.log.path, offset, 2000)
		if at.SocketDir == "" && attempt < attempts && strings.Contains(said, "Address already in use") {
			previous = nil
			continue
		}
		if said != "" {
			err = fmt.Errorf("%w; its last words (all of them are in %s):\n%s", err, k.log.path, said)
		}
		return result, nil, err
	}
}

// endRemains waits for the last process of the cluster: backends whose
// postmaster was killed may take their time.
func (k *keeper) endRemains() {
	alive, err := k.d.lock(aliveLockName)
	if err != nil {
		return
	}
	defer alive.close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := k.d.endOrphans(ctx, alive, k.cfg.User, stopTimesDefault, func() bool { return false }); err != nil {
		k.note("%v", err)
	}
}

// tidy removes what only a running Postgres needs, or all of a temporary cluster.
func (k *keeper) tidy(at address) {
	if k.cfg.Temporary {
		removeSocketFolder(at, k.cfg.User)
		k.log.close()
		_ = os.RemoveAll(k.d.path)
		return
	}
	// An address that may come again after a crash is kept: see chooseAddress.
	if _, err := os.Stat(k.d.join(clusterName, "postmaster.pid")); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	removeSocketFolder(at, k.cfg.User)
	if at.SocketDir != "" {
		_ = os.Remove(k.d.join(stateName))
	}
}

// note writes a line of the keeper's own into Postgres' log.
func (k *keeper) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(k.log, "%s [%d] %s: %s\n", time.Now().UTC().Format("2006-01-02 15:04:05.000 UTC"), os.Getpid(), filepath.Base(keeperName), line)
}
