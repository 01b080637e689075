//go:build unix

package localpg

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestStartUseStopAndStartAgain(t *testing.T) {
	t.Parallel()
	// This one as it is in earnest: on a disk, and safe.
	dir := newDirIn(t, os.TempDir())
	cfg := testConfig(t, dir)
	cfg.Volatile = false
	c := mustOpen(t, cfg)
	if !c.Started() || c.DataDir() != dir {
		t.Errorf("started %t in %s", c.Started(), c.DataDir())
	}
	for setting, want := range map[string]string{
		"server_encoding":         "UTF8",
		"lc_collate":              "C",
		"lc_ctype":                "C",
		"timezone":                "UTC",
		"jit":                     "off",
		"fsync":                   "on",
		"full_page_writes":        "on",
		"synchronous_commit":      "on",
		"data_checksums":          "on",
		"max_connections":         "50",
		"listen_addresses":        "",
		"unix_socket_permissions": "0700",
		"cluster_name":            "relqps",
	} {
		// lc_collate is a property of the database since Postgres 16.
		got := query1[string](t, c.URL(), `select coalesce(current_setting('`+setting+`', true),
			(select case '`+setting+`' when 'lc_collate' then datcollate else datctype end from pg_database where datname = current_database()))`)
		if got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if db, role := query1[string](t, c.URL(), `select current_database()`), query1[string](t, c.URL(), `select current_user`); db != "relqps" || role != "relqps" {
		t.Errorf("connected to database %s as %s, want relqps as relqps", db, role)
	}
	if query1[bool](t, c.URL(), `select rolsuper from pg_roles where rolname = current_user`) {
		t.Error("the role may do anything; it is to own its database and no more")
	}
	exec1(t, c.URL(), `create table kept (v int); insert into kept values (42)`)
	mustStop(t, c)
	waitEnded(t, c.PID())
	if err := c.Stop(t.Context()); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
	select {
	case <-c.Done():
		t.Error("Done says that Postgres ended unexpectedly")
	default:
	}

	again := mustOpen(t, cfg)
	if got := query1[int](t, again.URL(), `select v from kept`); got != 42 {
		t.Errorf("after the restart: %d, want 42", got)
	}
	if again.URL() != c.URL() {
		t.Errorf("the URL has changed from %s to %s", c.URL(), again.URL())
	}
	mustStop(t, again)
}

func TestPostgresDoesNotRunAsRoot(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, testConfig(t, dir))
	want := os.Geteuid()
	if want == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		if err != nil {
			t.Fatal(err)
		}
		want, _ = strconv.Atoi(u.Uid)
	}
	checkOwners(t, dir, want)
	mustStop(t, c)
}

func TestRootWithoutUserPostgresRunsItAsNobody(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := testConfig(t, dir)
	cfg.userNames = []string{"no-user-of-this-name", "nobody"}
	c := mustOpen(t, cfg)
	want := os.Geteuid()
	if want == 0 {
		u, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		want, _ = strconv.Atoi(u.Uid)
	}
	checkOwners(t, dir, want)
	exec1(t, c.URL(), `create table kept ()`)
	mustStop(t, c)

	// The cluster's owner, whoever else there may be, runs it from now on.
	c = mustOpen(t, testConfig(t, dir))
	checkOwners(t, dir, want)
	exec1(t, c.URL(), `select from kept`)
	mustStop(t, c)
}

// checkOwners checks that what Postgres must write belongs to the user, and
// nothing else does.
func checkOwners(t *testing.T, dir string, uid int) {
	t.Helper()
	for name, want := range map[string]int{
		"..":                           os.Geteuid(),
		".":                            os.Geteuid(),
		markerName:                     os.Geteuid(),
		locksName:                      os.Geteuid(),
		logsName:                       os.Geteuid(),
		passwordName:                   os.Geteuid(),
		clusterName:                    uid,
		socketsName:                    uid,
		socketsName + "/.s.PGSQL.5432": uid, // made by Postgres itself: so it runs as this user
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := ownerOf(info).uid; got != want {
			t.Errorf("%s belongs to user %d, want %d", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, passwordName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password file: %v, mode %v", err, info.Mode())
	}
}

func TestNoUserForRootIsSaidSo(t *testing.T) {
	t.Parallel()
	d := &dataDir{path: t.TempDir()}
	u, err := d.serverUserFor(false, []string{"no-user-of-this-name"})
	if os.Geteuid() != 0 {
		if err != nil || u.Drop || u.UID != os.Geteuid() {
			t.Errorf("got %+v, %v; want ourselves", u, err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "refuses to run as root") {
		t.Errorf("got %v", err)
	}
}

func TestSecondServerIsRefusedNamingTheFirst(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	bin := needPostgres(t)
	before := time.Now().Add(-time.Second)
	first := run(t, helperOrder{DataDir: dir, BinDir: bin, Mode: Server, Address: "http://127.0.0.1:18080"})

	cfg := testConfig(t, dir)
	cfg.Mode = Server
	_, err := Open(t.Context(), cfg)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("got %v, want a HeldError", err)
	}
	if held.PID != first.cmd.Process.Pid || held.Address != "http://127.0.0.1:18080" || held.DataDir != dir {
		t.Errorf("got %+v, want the helper %d", held, first.cmd.Process.Pid)
	}
	if held.Since.Before(before) || held.Since.After(time.Now()) {
		t.Errorf("since %v", held.Since)
	}
	for _, part := range []string{dir, strconv.Itoa(held.PID), held.Since.UTC().Format("15:04:05 UTC"), "http://127.0.0.1:18080"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}

	// A command that is no server attaches meanwhile.
	cfg.Mode = Client
	c := mustOpen(t, cfg)
	if c.Started() || c.PID() != first.PID {
		t.Errorf("a client started Postgres %d, want attached to %d", c.PID(), first.PID)
	}
	mustStop(t, c)
	if !isRunning(first.PID) {
		t.Fatal("the client took the server's Postgres with it")
	}

	first.kill()
	cfg.Mode = Server
	second := mustOpen(t, cfg)
	if err := second.SetAddress("http://127.0.0.1:18081"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), cfg)
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Address != "http://127.0.0.1:18081" {
		t.Errorf("after the death of the first: %v", err)
	}
	mustStop(t, second)
}

func TestServerIsNamedWhileItsPostgresStillStarts(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	first := begin(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Mode: Server, Address: "http://127.0.0.1:18082"})
	waitFor(t, "the lock of the first server", func() bool {
		_, err := os.Stat(filepath.Join(dir, locksName, holderName))
		return err == nil
	})
	cfg := testConfig(t, dir)
	cfg.Mode = Server
	_, err := Open(t.Context(), cfg)
	var held *HeldError
	if !errors.As(err, &held) || held.PID != first.cmd.Process.Pid {
		t.Errorf("got %v, want a HeldError naming %d", err, first.cmd.Process.Pid)
	}
	first.answered()
	first.end()
}

func TestServerAttachesToWhatAClientStarted(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	client := run(t, helperOrder{DataDir: dir, BinDir: needPostgres(t)})
	cfg := testConfig(t, dir)
	cfg.Mode = Server
	server := mustOpen(t, cfg)
	if server.Started() || server.PID() != client.PID {
		t.Errorf("the server started Postgres %d, want attached to %d", server.PID(), client.PID)
	}
	// The one that started Postgres ends first.
	client.end()
	exec1(t, server.URL(), `create table after_its_starter ()`)
	mustStop(t, server)
	waitEnded(t, server.PID())
}

func TestManyProcessesComeAndGo(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	c := mustOpen(t, testConfig(t, dir))
	exec1(t, c.URL(), `create table rounds (pid int default pg_backend_pid())`)
	mustStop(t, c)

	const processes, rounds = 4, 8
	var helpers []*helper
	for range processes {
		helpers = append(helpers, begin(t, helperOrder{DataDir: dir, BinDir: needPostgres(t), Rounds: rounds}))
	}
	// And this process, several times over.
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range rounds {
				c, err := Open(context.Background(), testConfig(t, dir))
				if err != nil {
					t.Error(err)
					return
				}
				if err := try(context.Background(), c.URL(), nil); err != nil {
					t.Error(err)
				}
				if err := c.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, h := range helpers {
		h.answered()
		h.end()
	}
	group.Wait()
	waitDead(t, dir)

	c = mustOpen(t, testConfig(t, dir))
	if !c.Started() {
		t.Error("Postgres outlived its last user")
	}
	if got := query1[int](t, c.URL(), `select count(*) from rounds`); got != processes*rounds {
		t.Errorf("%d rows, want %d", got, processes*rounds)
	}
	mustStop(t, c)
}

func TestForeignDirectoriesAreRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T, dir string){
		"somebody's files": func(t *testing.T, dir string) {
			write(t, dir, "thesis.tex", "a year of work")
		},
		"the data directory of a Postgres": func(t *testing.T, dir string) {
			write(t, dir, "PG_VERSION", "15\n")
			write(t, dir, "base/1/1259", "")
			write(t, dir, "postmaster.pid", "1\n")
		},
		"a folder named like ours": func(t *testing.T, dir string) {
			write(t, dir, "locks/somebody.lock", "")
		},
		"a marker that is none": func(t *testing.T, dir string) {
			write(t, dir, markerName, `{"program":"other","format":1,"id":"x"}`)
		},
		"our marker and another cluster": func(t *testing.T, dir string) {
			write(t, dir, markerName, `{"program":"relqps","format":1,"id":"00000000000000000000000000000000","created":"2024-01-01T00:00:00Z"}`)
			write(t, dir, "postgres/PG_VERSION", "15\n")
			write(t, dir, "locks/start.lock", "")
			write(t, dir, "locks/users.lock", "")
			write(t, dir, "locks/postgres.lock", "")
			write(t, dir, "locks/keeper.lock", "")
			write(t, dir, "locks/server.lock", "")
			if err := os.Chmod(filepath.Join(dir, "locks"), 0o700); err != nil { // as relqps left it
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "theirs")
			fill(t, dir)
			before := listing(t, dir)
			_, err := Open(t.Context(), Config{DataDir: dir})
			var foreign *ForeignError
			if !errors.As(err, &foreign) {
				t.Fatalf("got %v, want a ForeignError", err)
			}
			if !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "left untouched") {
				t.Errorf("%q does not say which directory and that it is untouched", err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the directory was\n%s\nand is\n%s", before, after)
			}
			if removed, err := RemoveIfUnused(dir); removed || err == nil {
				t.Errorf("RemoveIfUnused: %t, %v; want an error", removed, err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("RemoveIfUnused changed\n%s\nto\n%s", before, after)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listing describes all files below a folder: names, modes, owners, times, contents.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var text []byte
		if !e.IsDir() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		b.WriteString(strings.Join([]string{path, info.Mode().String(), strconv.Itoa(ownerOf(info).uid), info.ModTime().String(), string(text)}, " ") + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRunningClusterOfSomebodyElseIsNotAttachedTo(t *testing.T) {
	t.Parallel()
	// A cluster that relqps made, in the place of the cluster of another directory.
	theirs, ours := newDir(t), newDir(t)
	c := mustOpen(t, testConfig(t, theirs))
	mustStop(t, mustOpen(t, testConfig(t, ours)))
	place := filepath.Join(ours, clusterName)
	if err := errors.Join(os.RemoveAll(place), os.Symlink(filepath.Join(theirs, clusterName), place)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), testConfig(t, ours))
	var foreign *ForeignError
	if !errors.As(err, &foreign) || foreign.Dir != place {
		t.Errorf("got %v, want a ForeignError about the cluster", err)
	}
	if err := os.Remove(place); err != nil {
		t.Error(err)
	}
	exec1(t, c.URL(), `create table still_there ()`)
	mustStop(t, c)
}

func TestEmptyDirectoriesAreTaken(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T, dir string){
		"empty": func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"the root of a file system": func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "lost+found"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"left by a start that was killed early": func(t *testing.T, dir string) {
			write(t, dir, "locks/start.lock", "")
			write(t, dir, "locks/server.json", `{"pid":`)
			write(t, dir, temporaryPrefix+markerName+".123", `{"pro`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			fill(t, dir)
			mustStop(t, mustOpen(t, testConfig(t, dir)))
		})
	}
}

func TestUnusableDataDirectories(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), Config{}); err == nil {
		t.Error("no data directory: want an error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{DataDir: file}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file as data directory: %v", err)
	}
	newer := t.TempDir()
	write(t, newer, markerName, `{"program":"relqps","format":2,"id":"x"}`)
	if _, err := Open(t.Context(), Config{DataDir: newer}); err == nil || !strings.Contains(err.Error(), "newer relqps") {
		t.Errorf("a directory of a later format: %v", err)
	}
}

func TestFolderThatPostgresCannotEnterIsNamed(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(newDir(t), "closed")
	if err := os.MkdirAll(filepath.Join(closed, "inner"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "inner", "data")
	cfg := testConfig(t, dir)
	c, err := Open(t.Context(), cfg)
	if os.Geteuid() != 0 {
		// Nobody else has to enter it.
		if err != nil {
			t.Fatal(err)
		}
		mustStop(t, c)
		return
	}
	var access *AccessError
	if !errors.As(err, &access) {
		t.Fatalf("got %v, want an AccessError", err)
	}
	if access.Blocked != closed || access.Dir != dir {
		t.Errorf("blocked by %s on the way to %s, want %s", access.Blocked, access.Dir, closed)
	}
	if info, err := os.Stat(closed); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode is now %v, %v", info.Mode(), err)
	}
	// Once it is open the same directory works.
	if err := os.Chmod(closed, 0o711); err != nil {
		t.Fatal(err)
	}
	mustStop(t, mustOpen(t, cfg))
}

func TestCalledOffStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := testConfig(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, newName)); err == nil {
				cancel() // in the middle of making the cluster
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := Open(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	waitDead(t, dir)
	mustStop(t, mustOpen(t, cfg))
}

func TestTemporaryClusterGoesWithItsLastUser(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := testConfig(t, dir)
	cfg.Temporary = true
	one, two := mustOpen(t, cfg), mustOpen(t, cfg)
	mustStop(t, one)
	exec1(t, two.URL(), `select 1`)
	if removed, err := RemoveIfUnused(dir); removed || err != nil {
		t.Errorf("a directory in use: removed %t, %v", removed, err)
	}
	mustStop(t, two)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}
