package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/relqps/relqps/ingest"
)

// process is one execution of a step.
type process struct {
	args           []string
	dir            string // working directory
	env            []string
	stdout, stderr string // files to be created
	limit          time.Duration
	killAfter      time.Duration
	// started is told the process id, tick is called about once a second while it
	// runs, with the time since its start.
	started func(pid int)
	tick    func(time.Duration)
}

// passedOn are the environment variables that a program inherits. The others
// stay out: a benchmark must not depend on them, and tokens are none of its
// business.
var passedOn = []string{"PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_CONF"}

// childEnvironment gives the environment of every program that the runner
// starts. LC_ALL=C keeps figures free of decimal commas.
func childEnvironment(extra map[string]string) []string {
	var env []string
	for _, name := range passedOn {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	var names []string
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		env = append(env, name+"="+extra[name])
	}
	return append(env, "LC_ALL=C")
}

// run executes a process to its end in a process group of its own. When ctx is
// done or the time limit passes, that group and nothing else gets SIGTERM and,
// killAfter later, SIGKILL. The error is that of a process that could not be
// started; how it ended is in the first
// value.
func (p *process) run(ctx context.Context) (ingest.RunnerExit, ingest.RunnerUsage, error) {
	var exit ingest.RunnerExit
	var usage ingest.RunnerUsage
	stdout, err := os.OpenFile(p.stdout, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return exit, usage, err
	}
	defer stdout.Close()
	stderr, err := os.OpenFile(p.stderr, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return exit, usage, err
	}
	defer stderr.Close()

	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, stdout, stderr
	ownGroup(cmd)

	var (
		mu     sync.Mutex // guards reaped, so that no signal reaches another process that got the id
		reaped bool
		meter  meter
	)
	began := time.Now()
	startErr := make(chan error, 1)
	ended := make(chan error, 1)
	go func() {
		// The kernel ties the death signal to the thread that started the process:
		// this one must live as long as the process does.
		runtime.LockOSThread()
		meter.begin()
		if err := cmd.Start(); err != nil {
			startErr <- err
			return
		}
		startErr <- nil
		var err error
		if awaitExit(cmd.Process.Pid) {
			usage.RealSeconds = time.Since(began).Seconds()
			mu.Lock()
			meter.last(cmd.Process.Pid)
			// Until it is reaped its id cannot be given to another process, so this
			// reaches what it may have left behind and nobody else.
			killGroup(cmd.Process.Pid, syscall.SIGKILL)
			awaitGroup(cmd.Process.Pid, 5*time.Second)
			err = cmd.Wait()
		} else {
			err = cmd.Wait()
			usage.RealSeconds = time.Since(began).Seconds()
			mu.Lock()
		}
		reaped = true
		mu.Unlock()
		ended <- err
	}()
	if err := <-startErr; err != nil {
		return exit, usage, fmt.Errorf("start %s: %w", p.args[0], err)
	}
	pid := cmd.Process.Pid
	if p.started != nil {
		p.started(pid)
	}
	signal := func(s syscall.Signal) {
		mu.Lock()
		defer mu.Unlock()
		if !reaped {
			killGroup(pid, s)
		}
	}

	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var kill <-chan time.Time
	stop := func() {
		signal(syscall.SIGTERM)
		kill = time.After(p.killAfter)
	}
	interrupted := ctx.Done()
	var waitErr error
	for running := true; running; {
		select {
		case waitErr = <-ended:
			running = false
		case <-interrupted:
			exit.Interrupted, interrupted = true, nil
			if kill == nil {
				stop()
			}
		case <-limit.C:
			if kill == nil {
				exit.TimeLimit = true
				stop()
			}
		case <-kill:
			signal(syscall.SIGKILL)
		case <-ticker.C:
			mu.Lock()
			if !reaped {
				meter.sample(pid)
			}
			mu.Unlock()
			if p.tick != nil {
				p.tick(time.Since(began))
			}
		}
	}
	var failed *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &failed) {
		return exit, usage, fmt.Errorf("wait for %s: %w", p.args[0], waitErr)
	}
	exit.Code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal, exit.CoreDumped = status.Signal().String(), status.CoreDump()
	}
	meter.fill(&usage, cmd.ProcessState)
	for _, f := range []*os.File{stdout, stderr} {
		if err := f.Sync(); err != nil {
			return exit, usage, err
		}
	}
	return exit, usage, nil
}

// killGroup sends a signal to a process group. A group that is gone is no error.
func killGroup(pgid int, s syscall.Signal) { _ = syscall.Kill(-pgid, s) }
