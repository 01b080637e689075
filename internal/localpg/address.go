//go:build unix

package localpg

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Transport says how the private Postgres is reached.
type Transport string

// The transports. Neither lets another machine in.
const (
	// TransportAuto is a Unix socket in the data directory; in a short
	// temporary folder when the path would be too long for a socket; a port
	// when even that is too long.
	TransportAuto Transport = ""
	// TransportTCP is a free port of the loopback address with a password.
	TransportTCP Transport = "tcp"
)

// socketPort is the number in the name of the socket. Nothing listens on the
// port of that number.
const socketPort = 5432

// maxSocketPath is how many bytes the path of a Unix socket may have: 107 on
// Linux (the last byte of the 108 ends the text), 103 on macOS.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketFolderPrefix starts the names of the temporary folders for sockets.
const socketFolderPrefix = "relqps-pg-"

// address is where a running Postgres listens.
type address struct {
	SocketDir string `json:"socket_dir,omitempty"` // folder of the socket; empty over TCP
	Temporary bool   `json:"temporary,omitempty"`  // the folder lies outside the data directory and goes with Postgres
	Port      int    `json:"port"`                 // number in the socket's name, or the port of 127.0.0.1
}

// socketFits tells whether a socket can lie in the folder: its path must be
// short enough, and free of what separates or quotes folders in Postgres'
// setting and hosts in a database URL.
func socketFits(dir string) bool {
	path := filepath.Join(dir, ".s.PGSQL."+strconv.Itoa(socketPort))
	return len(path) <= maxSocketPath && filepath.IsAbs(dir) && !strings.ContainsAny(dir, ",\"'\\\n\r\t")
}

// chooseAddress finds where the next Postgres of the directory shall listen.
// It keeps the previous address where it can, so that the connection pools of
// processes that were attached when Postgres died find the next one.
func (d *dataDir) chooseAddress(transport Transport, u serverUser, previous *address) (address, error) {
	if transport == TransportAuto {
		if dir := d.join(socketsName); socketFits(dir) {
			return address{SocketDir: dir, Port: socketPort}, d.makeDir(socketsName, u.owner(), 0o700)
		}
		if previous != nil && previous.Temporary && isSocketFolderOf(previous.SocketDir, u) {
			return *previous, nil
		}
		for _, parent := range []string{os.TempDir(), "/tmp"} {
			if !socketFits(filepath.Join(parent, socketFolderPrefix+"4294967295")) || u.canEnter(parent) != nil {
				continue
			}
			dir, err := os.MkdirTemp(parent, socketFolderPrefix)
			if err != nil {
				continue
			}
			if u.Drop {
				if err := os.Chown(dir, u.UID, u.GID); err != nil {
					_ = os.Remove(dir)
					return address{}, fmt.Errorf("make a folder for the Postgres socket: %w", err)
				}
			}
			return address{SocketDir: dir, Temporary: true, Port: socketPort}, nil
		}
	}
	port := 0
	if previous != nil && previous.SocketDir == "" {
		port = previous.Port
	}
	port, err := freePort(port)
	if err != nil {
		return address{}, err
	}
	return address{Port: port}, nil
}

// isSocketFolderOf tells whether the path is still the temporary socket folder
// that we once made for this user, and not what somebody else has put there.
func isSocketFolderOf(dir string, u serverUser) bool {
	if !strings.HasPrefix(filepath.Base(dir), socketFolderPrefix) {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm() == 0o700 && ownerOf(info).uid == u.UID
}

// removeSocketFolder removes a temporary socket folder with the socket and its
// lock file, and nothing else that may be in it.
func removeSocketFolder(a address, u serverUser) {
	if !a.Temporary || !isSocketFolderOf(a.SocketDir, u) {
		return
	}
	name := filepath.Join(a.SocketDir, ".s.PGSQL."+strconv.Itoa(a.Port))
	_ = os.Remove(name)
	_ = os.Remove(name + ".lock")
	_ = os.Remove(a.SocketDir)
}

// freePort gives a free port of the loopback address, the wanted one if that
// is free. Somebody else may take it before Postgres does; then Postgres says
// so and is started again with another one.
func freePort(wanted int) (int, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(wanted)))
	if err != nil && wanted != 0 {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return 0, fmt.Errorf("find a free port for Postgres: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// url gives the database URL. It names every part that the environment
// (PGHOST, PGUSER, …) would otherwise fill in.
func (a address) url(role, password, database string) string {
	q := url.Values{"sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database}
	if a.SocketDir != "" {
		q.Set("host", a.SocketDir)
		q.Set("port", strconv.Itoa(a.Port))
	} else {
		u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port))
		u.User = url.UserPassword(role, password)
	}
	// As in libpq a plus sign is a plus sign.
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// settings are the server settings that make Postgres listen here.
func (a address) settings() map[string]string {
	if a.SocketDir == "" {
		return map[string]string{
			"listen_addresses":        "127.0.0.1",
			"unix_socket_directories": "",
			"port":                    strconv.Itoa(a.Port),
		}
	}
	return map[string]string{
		"listen_addresses":        "",
		"unix_socket_directories": a.SocketDir,
		"unix_socket_permissions": "0700",
		"port":                    strconv.Itoa(a.Port),
	}
}
