//go:build unix

package localpg

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestSocketFits(t *testing.T) {
	t.Parallel()
	const name = "/.s.PGSQL.5432" // 14 bytes
	for dir, want := range map[string]bool{
		"/short": true,
		"/" + strings.Repeat("d", maxSocketPath-len(name)-1):     true,
		"/" + strings.Repeat("d", maxSocketPath-len(name)):       false,
		"/" + strings.Repeat("é", (maxSocketPath-len(name))/2+1): false, // bytes count, not letters
		"relative":       false,
		"/with,comma":    false,
		`/with"quote`:    false,
		"/with'quote":    false,
		"/with space/é":  true,
		"/with\nnewline": false,
	} {
		if got := socketFits(dir); got != want {
			t.Errorf("%q (%d bytes): %t, want %t", dir, len(dir), got, want)
		}
	}
}

func TestSocketLimitIsWhatTheSystemAllows(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "rqt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for length, want := range map[int]bool{maxSocketPath: true, maxSocketPath + 1: false} {
		l, err := net.Listen("unix", filepath.Join(dir, strings.Repeat("s", length-len(dir)-1)))
		if got := err == nil; got != want {
			t.Errorf("%d bytes: %v", length, err)
		}
		if l != nil {
			_ = l.Close()
		}
	}
}

func TestPathsThatNoSocketCanHaveFallBack(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"too long":         strings.Repeat("long-", 25),
		"with a separator": "a,b",
		"with a quote":     `a"b`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(newDir(t), part, "data")
			c := mustOpen(t, testConfig(t, dir))
			at := c.state.Address
			if !at.Temporary || strings.HasPrefix(at.SocketDir, dir) {
				t.Fatalf("the socket is in %s", at.SocketDir)
			}
			info, err := os.Stat(at.SocketDir)
			if err != nil {
				t.Fatal(err)
			}
			if o := ownerOf(info); o.uid != c.u.UID || info.Mode().Perm() != 0o700 {
				t.Errorf("the socket's folder belongs to %d with mode %v, want %d with 0700", o.uid, info.Mode(), c.u.UID)
			}
			exec1(t, c.URL(), `create table kept ()`)
			// A second user finds it.
			other := mustOpen(t, testConfig(t, dir))
			exec1(t, other.URL(), `select from kept`)
			mustStop(t, other)

			// After a crash it is where it was.
			kill9(t, c.PID())
			<-c.Done()
			again := mustOpen(t, testConfig(t, dir))
			if again.URL() != c.URL() {
				t.Errorf("the URL has changed from %s to %s", c.URL(), again.URL())
			}
			exec1(t, c.URL(), `select 1`)
			mustStop(t, c)
			mustStop(t, again)
			if _, err := os.Stat(at.SocketDir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the socket's folder is still there: %v", err)
			}
			if removed, err := RemoveIfUnused(dir); !removed || err != nil {
				t.Errorf("remove the directory: %t, %v", removed, err)
			}
		})
	}
}

func TestFolderPutInPlaceOfTheSocketsIsNotUsed(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	u := serverUser{UID: os.Geteuid(), GID: os.Getegid()}
	ours := filepath.Join(parent, socketFolderPrefix+"1")
	open := filepath.Join(parent, socketFolderPrefix+"2")
	named := filepath.Join(parent, "documents")
	link := filepath.Join(parent, socketFolderPrefix+"3")
	err := errors.Join(os.Mkdir(ours, 0o700), os.Mkdir(open, 0o755), os.Mkdir(named, 0o700), os.Symlink(named, link))
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{ours: true, open: false, named: false, link: false, ours + "x": false} {
		if got := isSocketFolderOf(dir, u); got != want {
			t.Errorf("%s: %t, want %t", dir, got, want)
		}
	}
	if isSocketFolderOf(ours, serverUser{UID: os.Geteuid() + 1}) {
		t.Error("a folder of another user is taken for ours")
	}
	// What is not ours is not removed either, nor a file that is not a socket's.
	write(t, ours, "somebody's", "")
	for _, dir := range []string{ours, open, named, link} {
		removeSocketFolder(address{SocketDir: dir, Temporary: true, Port: socketPort}, u)
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("%s was removed", dir)
		}
	}
}

func TestPortWithPassword(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := testConfig(t, dir)
	cfg.Transport = TransportTCP
	c := mustOpen(t, cfg)
	u, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	if u.Hostname() != "127.0.0.1" || u.Port() != strconv.Itoa(c.state.Address.Port) {
		t.Errorf("reached at %s, want the loopback address", u.Host)
	}
	password, err := c.d.password()
	if err != nil {
		t.Fatal(err)
	}
	super := c.state.Address.url(superuser, password, superuser)
	if got := query1[string](t, super, `select current_setting('listen_addresses') || '|' || current_setting('unix_socket_directories')`); got != "127.0.0.1|" {
		t.Errorf("listens on %q", got)
	}
	u.User = url.UserPassword("relqps", "guessed")
	err = try(t.Context(), u.String(), nil)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "28P01" {
		t.Errorf("a wrong password: %v", err)
	}
	exec1(t, c.URL(), `create table kept ()`)
	attached := mustOpen(t, cfg)
	exec1(t, attached.URL(), `select from kept`)
	mustStop(t, attached)
	mustStop(t, c)

	// The port is kept where it is free, and another one taken where it is not.
	again := mustOpen(t, cfg)
	if again.URL() != c.URL() {
		t.Errorf("the URL has changed from %s to %s", c.URL(), again.URL())
	}
	mustStop(t, again)
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.state.Address.Port)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	elsewhere := mustOpen(t, cfg)
	if elsewhere.state.Address.Port == c.state.Address.Port {
		t.Error("Postgres is said to be on a port that we hold")
	}
	exec1(t, elsewhere.URL(), `select from kept`)
	mustStop(t, elsewhere)

	// And the same cluster is reached over a socket when nobody asks for a port.
	cfg.Transport = TransportAuto
	socket := mustOpen(t, cfg)
	if socket.state.Address.SocketDir == "" {
		t.Error("still on a port")
	}
	exec1(t, socket.URL(), `select from kept`)
	mustStop(t, socket)
}

func TestURLIsReadBack(t *testing.T) {
	t.Parallel()
	at := address{SocketDir: "/with space+plus/é&?#%41", Port: 5432}
	cfg, err := pgconn.ParseConfig(at.url("relqps", "unused", "relqps"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != at.SocketDir || cfg.Port != 5432 || cfg.User != "relqps" || cfg.Database != "relqps" || cfg.TLSConfig != nil {
		t.Errorf("pgx reads %s:%d %s@%s", cfg.Host, cfg.Port, cfg.User, cfg.Database)
	}
}
