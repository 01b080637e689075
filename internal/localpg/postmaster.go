//go:build unix

package localpg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Roles and database of a private cluster.
const (
	superuser    = "postgres" // made by initdb, used to make the other two
	roleName     = "relqps"   // owner of the database; may make databases and nothing else beyond it
	databaseName = "relqps"
)

// baseSettings suit a server with one program as its only client, on a machine
// that also has other work to do. Units are Postgres' own.
var baseSettings = map[string]string{
	"max_connections":      "50",
	"shared_buffers":       "128MB",
	"huge_pages":           "off", // not worth reserving for this size
	"work_mem":             "16MB",
	"maintenance_work_mem": "128MB",
	"jit":                  "off", // our queries are short: compiling them takes longer than running them
	"timezone":             "UTC",
	"log_timezone":         "UTC",
	"log_destination":      "stderr",
	"logging_collector":    "off", // the keeper reads stderr and limits the file's size
	"log_line_prefix":      "%m [%p] ",
	"cluster_name":         "relqps",
	"bonjour":              "off",
	"ssl":                  "off",
}

// volatileSettings give up what is only of use when the data must outlive a
// crash of the machine.
var volatileSettings = map[string]string{
	"fsync":                "off",
	"full_page_writes":     "off",
	"synchronous_commit":   "off",
	"wal_level":            "minimal",
	"max_wal_senders":      "0",
	"shared_buffers":       "64MB",
	"maintenance_work_mem": "32MB",
	"autovacuum":           "off", // its workers connect to databases that are to be cloned or dropped
	"track_activities":     "on",
}

// initCluster makes the cluster beside its final place and then puts it there,
// so that a half-made one is never taken for a whole one. The processes it
// starts inherit alive, like those of the later Postgres.
func (d *dataDir) initCluster(cfg keeperConfig, alive *os.File) error {
	dir := d.join(newName)
	if err := os.RemoveAll(dir); err != nil {
		return d.explain(err)
	}
	if err := d.makeDir(newName, cfg.User.owner(), 0o700); err != nil {
		return err
	}
	password, err := d.password()
	if err != nil {
		return err
	}
	// initdb reads the password from a file, as the user it runs as.
	const passwordFile = temporaryPrefix + "initdb"
	if err := replaceFile(d.join(passwordFile), []byte(password+"\n"), cfg.User.owner()); err != nil {
		return d.explain(err)
	}
	defer os.Remove(d.join(passwordFile))

	args := []string{
		"-D", dir, "-U", superuser, "--pwfile", d.join(passwordFile),
		"-E", "UTF8", "--locale=C", "--no-instructions",
		"--auth-local=peer", "--auth-host=scram-sha-256",
	}
	if cfg.Volatile {
		args = append(args, "--no-sync")
	} else {
		args = append(args, "--data-checksums")
	}
	cmd := exec.Command(filepath.Join(cfg.Install.Dir, "initdb"), args...)
	cmd.Dir = "/"
	cmd.Env = childEnv(os.Environ())
	cmd.ExtraFiles = []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: cfg.User.credential()}
	diesWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("make a Postgres cluster in %s: initdb: %w\n%s", d.path, err, strings.TrimSpace(string(out)))
	}
	m, err := os.ReadFile(d.join(markerName))
	if err != nil {
		return d.explain(err)
	}
	if err := replaceFile(filepath.Join(dir, markerName), m, cfg.User.owner()); err != nil {
		return d.explain(err)
	}
	return d.explain(os.Rename(dir, d.join(clusterName)))
}

// writeAccessRules says who may connect: over the socket the user who owns the
// data directory, the user Postgres runs as when that is the same, and root;
// over TCP whoever knows the password.
func (d *dataDir) writeAccessRules(u serverUser) error {
	names := []string{"root"}
	if name := userName(d.owner.uid); name != "root" {
		names = append(names, name)
	}
	var ident strings.Builder
	ident.WriteString("# Written by relqps at every start.\n")
	for _, name := range names {
		for _, role := range []string{roleName, superuser} {
			fmt.Fprintf(&ident, "relqps %s %s\n", quoteName(name), role)
		}
	}
	const hba = "# Written by relqps at every start.\n" +
		"local all all peer map=relqps\n" +
		"host all all 127.0.0.1/32 scram-sha-256\n"
	for name, want := range map[string]string{"pg_hba.conf": hba, "pg_ident.conf": ident.String()} {
		path := d.join(clusterName, name)
		if have, err := os.ReadFile(path); err == nil && string(have) == want {
			continue
		}
		if err := replaceFile(path, []byte(want), u.owner()); err != nil {
			return d.explain(err)
		}
	}
	return nil
}

// quoteName quotes a name for Postgres' configuration files.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// removeStale removes what a killed Postgres left behind. The caller holds the
// alive lock, so nothing of this cluster runs; Postgres itself could only
// compare process ids, and would refuse to start when a killed one's id has
// been given to some other process since. It reports whether there was any.
func (d *dataDir) removeStale(previous *address) (bool, error) {
	err := os.Remove(d.join(clusterName, "postmaster.pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, d.explain(err)
	}
	stale := err == nil
	dirs := []string{d.join(socketsName)}
	if previous != nil && previous.Temporary {
		dirs = append(dirs, previous.SocketDir)
	}
	for _, dir := range dirs {
		name := filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(socketPort))
		_ = os.Remove(name)
		_ = os.Remove(name + ".lock")
	}
	return stale, nil
}

// postmaster is the running main process of Postgres.
type postmaster struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	err    error         // how it ended; read after exited
}

// startPostmaster starts Postgres as a child that inherits the alive lock. The
// caller has locked itself to a thread that outlives the child.
func (d *dataDir) startPostmaster(cfg keeperConfig, at address, alive *os.File, log io.Writer) (*postmaster, error) {
	settings := maps.Clone(baseSettings)
	if cfg.Volatile {
		maps.Copy(settings, volatileSettings)
	}
	maps.Copy(settings, cfg.Settings)
	maps.Copy(settings, at.settings())
	args := []string{"-D", d.join(clusterName)}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		if name == "unix_socket_directories" && value != "" {
			value = quoteName(value)
		}
		args = append(args, "-c", name+"="+value)
	}
	cmd := exec.Command(filepath.Join(cfg.Install.Dir, "postgres"), args...)
	cmd.Dir = "/"
	cmd.Env = childEnv(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{alive}
	// Backends that outlive a killed postmaster keep its stderr open; do not
	// wait for them to learn that it has ended.
	cmd.WaitDelay = 200 * time.Millisecond
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: cfg.User.credential()}
	diesWithParent(cmd.SysProcAttr, syscall.SIGINT)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start Postgres: %w", err)
	}
	p := &postmaster{cmd: cmd, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// signal sends a signal to the main process, which passes it on as it sees fit.
func (p *postmaster) signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
}

// waitReady waits until Postgres accepts connections. It reads that off the
// file in which Postgres says so, which costs less than trying to connect.
func (p *postmaster) waitReady(ctx context.Context, d *dataDir) error {
	for {
		if pid, ready := readPostmasterPID(d.join(clusterName, "postmaster.pid")); ready && pid == p.cmd.Process.Pid {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.exited:
			return fmt.Errorf("Postgres ended while starting: %w", p.outcome())
		case <-time.After(pollInterval):
		}
	}
}

// outcome says how it ended; call it after exited.
func (p *postmaster) outcome() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// readPostmasterPID gives the process id in the first line of postmaster.pid
// and whether its eighth says ready; 0 when it cannot be read.
func readPostmasterPID(path string) (pid int, ready bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		switch text := strings.TrimSpace(lines.Text()); n {
		case 1:
			if pid, err = strconv.Atoi(text); err != nil {
				return 0, false
			}
		case 8:
			return pid, text == "ready"
		}
	}
	return pid, false
}

// stopTimes are how long each way of ending Postgres gets before the next is tried.
type stopTimes struct {
	grace     time.Duration // nothing is sent: processes whose parent has ended notice that themselves
	fast      time.Duration // SIGINT: Postgres rolls back what is under way and writes a checkpoint
	immediate time.Duration // SIGQUIT: all its processes end at once; the next start recovers
}

var stopTimesDefault = stopTimes{grace: 2 * time.Second, fast: 30 * time.Second, immediate: 5 * time.Second}

// stop ends Postgres: in order, or at once when its data are about to be removed.
func (p *postmaster) stop(atOnce bool) {
	steps := []struct {
		sig  syscall.Signal
		wait time.Duration
	}{
		{syscall.SIGINT, stopTimesDefault.fast},
		{syscall.SIGQUIT, stopTimesDefault.immediate},
		{syscall.SIGKILL, stopTimesDefault.immediate},
	}
	if atOnce {
		steps = steps[1:]
	}
	for _, s := range steps {
		p.signal(s.sig)
		select {
		case <-p.exited:
			return
		case <-time.After(s.wait):
		}
	}
}

// endOrphans waits until no process of the cluster is left, and ends those
// that do not go by themselves: a Postgres whose keeper was killed, backends
// whose postmaster was killed. It gives up early, with nil, when wanted says
// that they are no orphans after all.
func (d *dataDir) endOrphans(ctx context.Context, alive *fileLock, u serverUser, times stopTimes, wanted func() bool) error {
	began := time.Now()
	sent := syscall.Signal(0)
	for {
		free, err := alive.isFree()
		if err != nil || free || wanted() {
			return err
		}
		waited := time.Since(began) - times.grace
		if waited >= 0 {
			pids := holders(alive.f, u)
			main, _ := readPostmasterPID(d.join(clusterName, "postmaster.pid"))
			if len(pids) == 0 && main > 1 {
				pids = []int{main} // nothing better is known; sent as the user Postgres runs as, it can only hit that user's processes
			}
			sig := syscall.SIGKILL
			fast := time.Duration(0)
			if slices.Contains(pids, main) {
				fast = times.fast // there is still somebody to end it in order
			}
			switch {
			case waited < fast:
				sig, pids = syscall.SIGINT, []int{main}
			case waited < fast+times.immediate:
				sig = syscall.SIGQUIT
			}
			// Each kind once, except the last: a process may have been forked meanwhile.
			if sig != sent || sig == syscall.SIGKILL {
				for _, pid := range pids {
					u.kill(pid, sig)
				}
				sent = sig
			}
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return fmt.Errorf("processes of an earlier Postgres in %s have not ended: %w", d.path, err)
		}
	}
}

// kill sends a signal with the rights of this user and no more.
func (u serverUser) kill(pid int, sig syscall.Signal) {
	if !u.Drop {
		_ = syscall.Kill(pid, sig)
		return
	}
	cmd := exec.Command("/bin/sh", "-c", `kill -"$1" "$2"`, "sh", strconv.Itoa(int(sig)), strconv.Itoa(pid))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential()}
	_ = cmd.Run()
}
