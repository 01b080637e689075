//go:build unix

// Package localpg runs a private Postgres in a data directory: for commands
// that are given no database URL, and for tests. It uses the server programs
// that are installed, works as root by running Postgres as another user, and
// touches no directory and no cluster that it did not make.
//
// Any number of processes may use the Postgres of one directory at once. The
// first starts it, the others attach, and it is stopped when the last one has
// gone, in whatever way that one went; see keeper.go for how. At most one of
// them is the server of the directory.
//
// A service manager that ends a command should signal that command alone
// (systemd: KillMode=mixed): a Postgres that is signalled as well takes no new
// connections while the command still finishes its work.
package localpg

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Mode says what a process is to the data directory.
type Mode int

const (
	// Client uses Postgres for a while; any number may do so at once.
	Client Mode = iota
	// Server is the server of the directory; a second one is refused with a [*HeldError].
	Server
)

// Config says which Postgres to open and how. Only DataDir is required.
type Config struct {
	// DataDir is the data directory. It is made when absent; a directory that
	// holds what relqps did not make is refused with a [*ForeignError].
	DataDir string
	// Mode is what this process is to the directory; the zero value is Client.
	Mode Mode
	// Address is what a second server is told about where this one listens;
	// [Cluster.SetAddress] changes it. Used in mode Server only.
	Address string
	// BinDir is a folder with initdb and postgres; empty: look in PATH and
	// where packages put them (see [Find]).
	BinDir string
	// Download allows Postgres to be downloaded when none is installed; see [Download].
	Download bool
	// DownloadDir keeps downloaded programs; empty: relqps/postgres in the user's cache directory.
	DownloadDir string
	// DownloadURL is the repository to download from; empty: that of embedded-postgres.
	DownloadURL string
	// Transport is how Postgres is reached, when this call starts it.
	Transport Transport
	// Volatile gives up all safety of the data against a crash of the machine
	// for speed. For tests; it takes effect when this call starts Postgres.
	Volatile bool
	// Temporary removes the data directory, with everything in it, when the
	// last user has gone.
	Temporary bool
	// Settings are further settings of the server, or other values for those
	// that this package gives. They take effect when this call starts Postgres.
	Settings map[string]string
	// Logger is told of starts, stops and deaths; nil: nobody is.
	Logger *slog.Logger

	userNames []string // whom Postgres may run as when we are root; nil: serverUserNames
}

// Cluster is a running private Postgres that this process uses.
type Cluster struct {
	d     *dataDir
	log   *slog.Logger
	u     serverUser
	state state
	url   string

	began     bool // we started it
	recovered bool // and it had not been stopped in order before

	start, users, alive, keeper *fileLock
	server                      *fileLock // nil in mode Client
	holder                      holder

	logOffset int64
	done      chan struct{}
	err       error // why done was closed; read after done

	stopping chan struct{}
	watching sync.WaitGroup
	stop     sync.Once
	stopErr  error
}

// holder is who the server of a directory is, as written for a second one.
type holder struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Address string    `json:"address,omitempty"`
}

// unreachableTime is how long a Postgres that runs may refuse to answer.
const unreachableTime = 30 * time.Second

// Open attaches to the Postgres of the data directory, or starts it, making
// directory, cluster, role and database where they are absent, and returns
// once the database can be used. The caller must call [Cluster.Stop].
//
// Errors to tell apart: [*HeldError], [*ForeignError], [*MissingError],
// [*AccessError]. Starting takes as long as the recovery after a crash takes;
// ctx bounds it.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	d, err := prepareDir(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		d:        d,
		log:      log.With("data_dir", d.path),
		done:     make(chan struct{}),
		stopping: make(chan struct{}),
	}
	if err := c.open(ctx, cfg); err != nil {
		c.release()
		return nil, err
	}
	c.watching.Add(1)
	go c.watch()
	return c, nil
}

func (c *Cluster) open(ctx context.Context, cfg Config) (err error) {
	d := c.d
	for _, l := range []struct {
		name string
		lock **fileLock
	}{{startLockName, &c.start}, {usersLockName, &c.users}, {aliveLockName, &c.alive}, {keeperLockName, &c.keeper}} {
		if *l.lock, err = d.lock(l.name); err != nil {
			return d.explain(err)
		}
	}
	if cfg.Mode == Server {
		if err := c.becomeServer(ctx, cfg.Address); err != nil {
			return err
		}
	}
	if err := c.start.wait(ctx, syscall.LOCK_EX); err != nil {
		return fmt.Errorf("wait for another start of Postgres in %s: %w", d.path, err)
	}
	defer c.start.unlock()
	if err := d.claim(); err != nil {
		return err
	}
	exists, err := d.hasCluster()
	if err != nil {
		return err
	}
	if c.u, err = d.serverUserFor(exists, cfg.userNames); err != nil {
		return err
	}
	if err := c.attachOrStart(ctx, cfg); err != nil {
		return err
	}
	return nil
}

// attachOrStart is done under the start lock, so among those who come and
// those who leave in order only one at a time looks at the other locks.
func (c *Cluster) attachOrStart(ctx context.Context, cfg Config) error {
	began, using, patience := time.Now(), false, time.Now()
	for said := false; ; {
		// The users lock first: with it Postgres cannot be stopped under our feet.
		if !using {
			ok, err := c.users.try(syscall.LOCK_SH)
			if err != nil {
				return err
			}
			using = ok // else the keeper is stopping Postgres for want of users: wait for its end
		}
		if using {
			free, err := c.alive.tryExclusive()
			if err != nil {
				return err
			}
			if free {
				return c.startPostgres(ctx, cfg, began)
			}
			err = c.attach(ctx)
			if err == nil {
				c.log.Info("attached to the running Postgres", "pid", c.state.PID)
				return nil
			}
			if isTemporary(err) {
				patience = time.Now()
			} else if time.Since(patience) > unreachableTime {
				return fmt.Errorf("a Postgres runs in %s and does not let us in: %w", c.d.path, err)
			}
			if free, err := c.keeper.isFree(); err != nil {
				return err
			} else if free {
				// Not a running Postgres but what is left of one.
				c.log.Warn("waiting for the end of what is left of an earlier Postgres")
				err := c.d.endOrphans(ctx, c.alive, c.u, stopTimesDefault, func() bool {
					free, err := c.keeper.isFree()
					return err == nil && !free
				})
				if err != nil {
					return err
				}
				continue
			}
		}
		if !said && time.Since(began) > 3*time.Second {
			said = true
			c.log.Info("waiting for Postgres, which is starting or stopping")
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return fmt.Errorf("wait for Postgres in %s: %w", c.d.path, err)
		}
	}
}

// startPostgres starts Postgres; the caller has taken the alive lock.
func (c *Cluster) startPostgres(ctx context.Context, cfg Config, began time.Time) error {
	alive := c.alive
	// It goes to the keeper. What we keep is another open file, which looks at
	// the same lock from outside.
	fresh, err := c.d.lock(aliveLockName)
	if err != nil {
		return c.d.explain(err)
	}
	c.alive = fresh

	kc, err := c.keeperConfig(ctx, cfg)
	if err != nil {
		alive.close()
		return err
	}
	result, err := c.d.startKeeper(ctx, kc, alive)
	if err != nil {
		if accessErr := c.u.canEnter(c.d.path); accessErr != nil {
			return accessErr
		}
		return err
	}
	c.use(result.State)
	c.began, c.recovered = true, result.Recovered
	if err := c.ensureDatabase(ctx, result.Created); err != nil {
		return err
	}
	c.log.Info("started Postgres", "version", result.State.Major, "pid", result.State.PID, "user", c.u.Name,
		"took", time.Since(began).Round(time.Millisecond), "new", result.Created)
	if result.Recovered {
		c.log.Warn("Postgres had not been stopped in order before, and has recovered")
	}
	return nil
}

func (c *Cluster) keeperConfig(ctx context.Context, cfg Config) (keeperConfig, error) {
	exists, err := c.d.hasCluster()
	if err != nil {
		return keeperConfig{}, err
	}
	major := 0
	if exists {
		if major, err = c.d.clusterMajor(); err != nil {
			return keeperConfig{}, err
		}
	} else if err := c.u.canEnter(c.d.path); err != nil {
		return keeperConfig{}, err
	}
	install, err := Find(ctx, cfg.BinDir, os.Getenv("PATH"), major)
	var missing *MissingError
	if errors.As(err, &missing) && cfg.Download {
		install, err = Download(ctx, cfg.DownloadDir, cfg.DownloadURL, major, c.log)
	}
	if err != nil {
		return keeperConfig{}, err
	}
	return keeperConfig{
		DataDir:   c.d.path,
		Install:   install,
		User:      c.u,
		Transport: cfg.Transport,
		Volatile:  cfg.Volatile,
		Temporary: cfg.Temporary,
		Settings:  cfg.Settings,
	}, nil
}

// errNoAddress says that a starting Postgres has not said yet where it listens.
var errNoAddress = errors.New("it has not said where it listens")

// attach connects to the running Postgres.
func (c *Cluster) attach(ctx context.Context) error {
	s := c.d.readState()
	if s == nil || !s.Ready {
		return errNoAddress
	}
	c.use(*s)
	return c.ensureDatabase(ctx, false)
}

// isTemporary tells errors of a Postgres that is on its way up or down.
func isTemporary(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, errNoAddress) || errors.As(err, &pg) && pg.Code == "57P03" // cannot_connect_now
}

func (c *Cluster) use(s state) {
	c.state = s
	// Without a password a connection over TCP fails, and says so.
	password, _ := c.d.password()
	c.url = s.Address.url(roleName, password, databaseName)
	if info, err := os.Stat(c.d.join(logsName, "postgres.log")); err == nil {
		c.logOffset = info.Size()
	}
}

// ensureDatabase connects once, and makes role and database when they are
// absent: in a new cluster, or when the first start was killed in the middle.
func (c *Cluster) ensureDatabase(ctx context.Context, fresh bool) error {
	if !fresh {
		err := try(ctx, c.url, nil)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) {
			return err
		}
		switch pg.Code {
		case "3D000", "28000", "28P01": // no such database; no such role, over a socket and over TCP
		default:
			return err
		}
	}
	password, err := c.d.password()
	if err != nil {
		return err
	}
	super := c.state.Address.url(superuser, password, superuser)
	return try(ctx, super, func(conn *pgx.Conn) error {
		var role, database bool
		err := conn.QueryRow(ctx, `select exists (select from pg_roles where rolname = $1), exists (select from pg_database where datname = $2)`,
			roleName, databaseName).Scan(&role, &database)
		if err != nil {
			return fmt.Errorf("look for the role and the database: %w", err)
		}
		var statements []string
		if !role {
			statements = append(statements, "create role relqps login createdb")
		}
		// The password is hexadecimal digits: DDL takes no parameters.
		statements = append(statements, "alter role relqps password '"+password+"'")
		if !database {
			statements = append(statements, "create database relqps owner relqps")
		}
		for _, sql := range statements {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("make the role and the database: %w", err)
			}
		}
		return nil
	})
}

// try connects, calls f with the connection when there is one, and disconnects.
func try(ctx context.Context, url string, f func(*pgx.Conn) error) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	cfg.ConnectTimeout = unreachableTime
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	if f != nil {
		err = f(conn)
	}
	return errors.Join(err, conn.Close(ctx))
}

// password gives the password of both roles, making it up at the first call.
func (d *dataDir) password() (string, error) {
	text, err := os.ReadFile(d.join(passwordName))
	if err == nil && len(text) > 0 {
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", d.explain(err)
	}
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("make a password: %w", err)
	}
	password := hex.EncodeToString(secret)
	return password, d.writeFile(passwordName, []byte(password+"\n"))
}

// becomeServer takes the directory for the one server, or says who has it.
func (c *Cluster) becomeServer(ctx context.Context, address string) error {
	server, err := c.d.lock(serverLockName)
	if err != nil {
		return c.d.explain(err)
	}
	free, err := server.try(syscall.LOCK_EX)
	if err != nil {
		server.close()
		return err
	}
	if !free {
		server.close()
		return c.d.heldBy(ctx)
	}
	c.server = server
	c.holder = holder{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Address: address}
	return c.writeHolder()
}

// writeHolder writes down who we are. It lies with the locks, which are made
// before the marker: a directory with nothing else is still an empty one.
func (c *Cluster) writeHolder() error {
	return c.d.writeJSON(filepath.Join(locksName, holderName), c.holder)
}

// heldBy says who holds the server lock. The holder writes that down just
// after taking the lock, so what is there may still be about the one before.
func (d *dataDir) heldBy(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		var h holder
		err := readJSON(d.join(locksName, holderName), &h)
		alive := err == nil && h.PID > 0 && !errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
		if alive || attempt == 40 || sleep(ctx, pollInterval) != nil {
			return &HeldError{DataDir: d.path, PID: h.PID, Since: h.Since, Address: h.Address}
		}
	}
}

// URL gives the database URL of database relqps, for pgx.
func (c *Cluster) URL() string { return c.url }

// DataDir gives the absolute path of the data directory.
func (c *Cluster) DataDir() string { return c.d.path }

// PID gives the process id of the Postgres that this process attached to.
func (c *Cluster) PID() int { return c.state.PID }

// Started reports whether this process started Postgres; false: it attached.
func (c *Cluster) Started() bool { return c.began }

// SetAddress changes what a second server is told about where this one
// listens. Without effect in mode Client.
func (c *Cluster) SetAddress(address string) error {
	if c.server == nil {
		return nil
	}
	c.holder.Address = address
	return c.writeHolder()
}

// Done gives a channel that is closed when Postgres has ended although this
// process still uses it, and nobody else has started it again; [Cluster.Err]
// then says why. The connections are lost. A new [Open] recovers; call Stop
// before it.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err says why [Cluster.Done] was closed, with the last lines of Postgres' log;
// nil before that.
func (c *Cluster) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// watchInterval is how often the watch looks whether Postgres still runs.
const watchInterval = 200 * time.Millisecond

// watch looks for the end of Postgres.
func (c *Cluster) watch() {
	defer c.watching.Done()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-c.stopping:
			return
		case <-tick.C:
		}
		// Shared: the watches of several processes do not see one another.
		ended, err := c.alive.try(syscall.LOCK_SH)
		if !ended || err != nil {
			continue
		}
		c.alive.unlock()
		c.err = fmt.Errorf("the private Postgres in %s ended unexpectedly", c.d.path)
		said := logEnd(c.d.join(logsName, "postgres.log"), c.logOffset, 2000)
		if said != "" {
			c.err = fmt.Errorf("%w; its last words:\n%s", c.err, said)
		}
		c.log.Error("the private Postgres ended unexpectedly", "pid", c.state.PID, "log", said)
		close(c.done)
		return
	}
}

// Stop ends this process' use of Postgres. When nobody else uses it, Postgres
// is stopped, and Stop returns once it has ended; when ctx ends before, it
// returns the error and Postgres goes on stopping. Further calls do nothing
// and return what the first returned. Close all connections before: stopping
// breaks off what they do.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		close(c.stopping)
		c.watching.Wait()
		c.stopErr = c.leave(ctx)
		c.release()
	})
	return c.stopErr
}

// leave gives up the users lock, and waits for the end of Postgres when that
// makes the keeper stop it.
func (c *Cluster) leave(ctx context.Context) error {
	fail := func(err error) error {
		return fmt.Errorf("stop Postgres in %s: it has not ended yet: %w", c.d.path, err)
	}
	for released := false; ; released = true {
		// Under the start lock nobody else comes or goes while we look.
		if err := c.start.wait(ctx, syscall.LOCK_EX); err != nil {
			return fail(err)
		}
		if !released {
			c.users.unlock()
		}
		over, err := c.isOver(ctx)
		c.start.unlock()
		if over || err != nil {
			return err
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return fail(err)
		}
	}
}

// isOver tells whether there is nothing to wait for any more: Postgres and its
// keeper have ended, or others use it.
func (c *Cluster) isOver(ctx context.Context) (bool, error) {
	ended, err := c.alive.isFree()
	if err != nil {
		return false, err
	}
	tidied, err := c.keeper.isFree()
	if err != nil {
		return false, err
	}
	if ended && tidied {
		c.log.Info("stopped Postgres", "pid", c.state.PID)
		return true, nil
	}
	nobody, err := c.users.isFree() // and the keeper is about to take it
	if err != nil || nobody {
		if nobody && tidied {
			// There is no keeper that would: it was killed, and the system is one
			// where Postgres does not notice.
			err = c.d.endOrphans(ctx, c.alive, c.u, stopTimesDefault, func() bool { return false })
		}
		return false, err
	}
	others, err := c.users.try(syscall.LOCK_SH)
	if others {
		c.users.unlock()
		c.log.Info("left Postgres to its other users", "pid", c.state.PID)
	}
	return others, err
}

// release closes the locks, and with that gives up those that are held.
func (c *Cluster) release() {
	if c.server != nil {
		_ = os.Remove(c.d.join(locksName, holderName))
		c.server.unlock()
		c.server.close()
	}
	for _, l := range []*fileLock{c.users, c.start} {
		if l != nil {
			l.unlock()
		}
	}
	for _, l := range []*fileLock{c.users, c.start, c.alive, c.keeper} {
		if l != nil {
			l.close()
		}
	}
}

// RemoveIfUnused removes a data directory of ours with everything in it, when
// no process uses it, and reports whether it did. It is for temporary
// directories whose keeper was killed before it could remove them. A directory
// that relqps did not make is refused with a [*ForeignError].
func RemoveIfUnused(dir string) (bool, error) {
	d := &dataDir{path: dir}
	if err := d.readMarker(); err != nil {
		return false, err
	}
	for _, name := range []string{startLockName, serverLockName, usersLockName, aliveLockName, keeperLockName} {
		l, err := d.lock(name)
		if err != nil {
			return false, d.explain(err)
		}
		defer l.close()
		if ok, err := l.tryExclusive(); !ok || err != nil {
			return false, err
		}
	}
	exists, err := d.hasCluster()
	if err != nil {
		return false, err // what lies there is not the cluster we made
	}
	if s := d.readState(); s != nil && s.Address.Temporary && exists {
		if u, err := d.serverUserFor(true, nil); err == nil {
			removeSocketFolder(s.Address, u)
		}
	}
	return true, os.RemoveAll(dir)
}
