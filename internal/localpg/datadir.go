//go:build unix

package localpg

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What a data directory holds. Everything is made by this package; the marker
// comes first, so that a directory without one was made by somebody else.
const (
	markerName   = "relqps-data.json" // says that relqps made the directory; a second one lies in the cluster
	locksName    = "locks"            // the lock files below
	clusterName  = "postgres"         // the cluster itself: what Postgres calls its data directory
	newName      = "postgres.new"     // a cluster that is being made
	socketsName  = "sockets"          // the Unix socket
	logsName     = "logs"             // what Postgres and the keeper said
	stateName    = "state.json"       // where the running Postgres is reached
	passwordName = "password"         // for connections over TCP

	startLockName   = "start.lock"    // held while Postgres is being started or attached to, and while leaving
	serverLockName  = "server.lock"   // held by the one server of the directory
	usersLockName   = "users.lock"    // held (shared) by every process that uses Postgres; by the keeper while it stops it
	aliveLockName   = "postgres.lock" // held by every process of the running Postgres
	keeperLockName  = "keeper.lock"   // held by the keeper
	holderName      = "server.json"   // no lock: who holds the server's
	temporaryPrefix = ".relqps-"      // files that are about to be renamed
)

// rootDataDir is where data of a program that runs as root belongs.
const rootDataDir = "/var/lib/relqps"

// DefaultDataDir gives the data directory of the current user for commands
// that are given none: /var/lib/relqps for root, whose home other users, and
// so Postgres, cannot enter; else $XDG_DATA_HOME/relqps or
// ~/.local/share/relqps. It fails when the user has no home.
func DefaultDataDir() (string, error) {
	if os.Geteuid() == 0 {
		return rootDataDir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "relqps"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no --data-dir given and no home directory to put it in: %w", err)
	}
	return filepath.Join(home, ".local", "share", "relqps"), nil
}

// fileOwner is the user to whom files of the data directory belong. Only root
// can give files away, and must: a file that root made in the directory of an
// ordinary user would lock that user out.
type fileOwner struct {
	uid, gid int
}

// give makes the owner of the file the owner of the directory, when we are root.
func (o fileOwner) give(f *os.File) error {
	if os.Geteuid() != 0 || o.uid == 0 {
		return nil
	}
	return f.Chown(o.uid, o.gid)
}

// ownerOf gives the owner of a file.
func ownerOf(info fs.FileInfo) fileOwner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileOwner{uid: os.Geteuid(), gid: os.Getegid()}
	}
	return fileOwner{uid: int(st.Uid), gid: int(st.Gid)}
}

// marker is the content of the marker file.
type marker struct {
	Program string    `json:"program"` // "relqps"
	Format  int       `json:"format"`  // of this layout: 1
	ID      string    `json:"id"`      // random; the same in both markers of a directory
	Created time.Time `json:"created"`
}

// dataDir is a data directory of ours.
type dataDir struct {
	path   string    // absolute
	marker marker    // zero until claim
	owner  fileOwner // of the marker
}

func (d *dataDir) join(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

func (d *dataDir) lock(name string) (*fileLock, error) {
	return openLock(d.join(locksName, name), d.owner)
}

// prepareDir makes the directory when it is absent, and refuses it when
// somebody else made what is in it. Until it has been found to be ours or
// empty nothing is written.
func prepareDir(path string) (*dataDir, error) {
	if path == "" {
		return nil, errors.New("no data directory given")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	d := &dataDir{path: abs, owner: fileOwner{uid: os.Geteuid(), gid: os.Getegid()}}
	if err := makeDirs(abs); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := d.makeDir(locksName, d.owner, 0o700); err != nil {
		return nil, err
	}
	return d, nil
}

// makeDirs makes a directory and its missing parents. As root the new folders
// let other users pass through (and not look), whatever the umask is, because
// Postgres will run as one of them.
func makeDirs(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil // somebody else was faster
		}
		return err
	}
	if os.Geteuid() == 0 {
		return os.Chmod(path, 0o711)
	}
	return nil
}

// check refuses a directory that relqps did not make. It only reads.
func (d *dataDir) check() error {
	if err := d.readMarker(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return d.explain(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lost+found" && e.IsDir(): // the root of a file system
		case name == locksName && d.onlyOurLocks(): // we were killed between making it and writing the marker
		case strings.HasPrefix(name, temporaryPrefix+markerName):
		case name == "PG_VERSION":
			return &ForeignError{Dir: d.path, Reason: "it is the data directory of another Postgres"}
		default:
			return &ForeignError{Dir: d.path, Reason: fmt.Sprintf("it holds %q and no %s", firstName(entries), markerName)}
		}
	}
	return nil
}

func (d *dataDir) onlyOurLocks() bool {
	entries, err := os.ReadDir(d.join(locksName))
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch name := e.Name(); name {
		case startLockName, serverLockName, usersLockName, aliveLockName, keeperLockName, holderName:
		default:
			if !strings.HasPrefix(name, temporaryPrefix+holderName) {
				return false
			}
		}
	}
	return true
}

func firstName(entries []fs.DirEntry) string {
	for _, e := range entries {
		if e.Name() == "PG_VERSION" {
			return e.Name()
		}
	}
	return entries[0].Name()
}

// readMarker reads the marker; fs.ErrNotExist when there is none.
func (d *dataDir) readMarker() error {
	f, err := os.Open(d.join(markerName))
	if err != nil {
		return d.explain(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return d.explain(err)
	}
	var m marker
	if err := json.NewDecoder(f).Decode(&m); err != nil || m.Program != "relqps" || m.ID == "" {
		return &ForeignError{Dir: d.path, Reason: "its " + markerName + " is not one of relqps"}
	}
	if m.Format != 1 {
		return fmt.Errorf("data directory %s has format %d, which this relqps does not know: use the newer relqps that made it", d.path, m.Format)
	}
	d.marker, d.owner = m, ownerOf(info)
	return nil
}

// claim writes the marker into an empty directory. The caller holds the start lock.
func (d *dataDir) claim() error {
	if err := d.check(); err != nil || d.marker.ID != "" {
		return err
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return fmt.Errorf("make an id for %s: %w", d.path, err)
	}
	m := marker{Program: "relqps", Format: 1, ID: hex.EncodeToString(id), Created: time.Now().UTC().Truncate(time.Second)}
	if err := d.writeJSON(markerName, m); err != nil {
		return err
	}
	return d.readMarker()
}

// hasCluster reports whether the directory already holds its cluster; a
// cluster there that is not the one we made is refused.
func (d *dataDir) hasCluster() (bool, error) {
	_, err := os.Lstat(d.join(clusterName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, d.explain(err)
	}
	var m marker
	if err := readJSON(d.join(clusterName, markerName), &m); err != nil || m.ID != d.marker.ID {
		if errors.Is(err, fs.ErrPermission) {
			return false, d.explain(err)
		}
		return false, &ForeignError{Dir: d.join(clusterName), Reason: "the Postgres cluster in it is not the one that relqps made there"}
	}
	return true, nil
}

// clusterMajor gives the major version of the cluster in the directory.
func (d *dataDir) clusterMajor() (int, error) {
	text, err := os.ReadFile(d.join(clusterName, "PG_VERSION"))
	if err != nil {
		return 0, d.explain(err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("PG_VERSION of %s says %q, which is no version", d.join(clusterName), strings.TrimSpace(string(text)))
	}
	return major, nil
}

// writeJSON replaces a file of the directory as a whole: a reader sees the old
// content or the new, and so does whoever comes after a crash.
func (d *dataDir) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", d.join(name), err)
	}
	return d.writeFile(name, append(text, '\n'))
}

func (d *dataDir) writeFile(name string, text []byte) error {
	return d.explain(replaceFile(d.join(name), text, d.owner))
}

// replaceFile gives a file new content as a whole and its owner. It writes
// beside the file and renames, so it never writes through a link.
func replaceFile(path string, text []byte, owner fileOwner) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), temporaryPrefix+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := owner.give(f); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// giveDir sets owner and mode of a folder that we made in the directory.
func (d *dataDir) giveDir(name string, owner fileOwner, mode fs.FileMode) error {
	// Never through a symbolic link: the directory may belong to an ordinary
	// user, who must not get root to give away or open up some other folder.
	f, err := os.OpenFile(d.join(name), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return d.explain(err)
	}
	defer f.Close()
	if os.Geteuid() == 0 {
		if err := f.Chown(owner.uid, owner.gid); err != nil {
			return d.explain(err)
		}
	}
	// After the change of owner, and apart from Mkdir, whose mode the umask trims.
	if err := f.Chmod(mode); err != nil {
		return d.explain(err)
	}
	return nil
}

// makeDir makes a folder in the directory, or sets owner and mode of the one
// that is there.
func (d *dataDir) makeDir(name string, owner fileOwner, mode fs.FileMode) error {
	if err := os.Mkdir(d.join(name), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return d.explain(err)
	}
	return d.giveDir(name, owner, mode)
}

// explain adds to a refused access whose directory it is.
func (d *dataDir) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		if info, statErr := os.Stat(d.path); statErr == nil {
			if o := ownerOf(info); o.uid != os.Geteuid() {
				return fmt.Errorf("data directory %s belongs to user %s: run relqps as that user: %w", d.path, userName(o.uid), err)
			}
		}
	}
	return fmt.Errorf("data directory %s: %w", d.path, err)
}

// serverUser is the user that Postgres runs as.
type serverUser struct {
	UID  int    `json:"uid"`
	GID  int    `json:"gid"`
	Name string `json:"name"`
	Drop bool   `json:"drop"` // we are root and become this user
}

func (u serverUser) owner() fileOwner { return fileOwner{uid: u.UID, gid: u.GID} }

// serverUserNames are the users as whom root runs a new cluster, best first.
var serverUserNames = []string{"postgres", "nobody"}

// serverUserFor chooses the user for Postgres, which refuses to run as root:
// ourselves, or as root the owner of the cluster that is there, else the first
// of the names that exists.
func (d *dataDir) serverUserFor(exists bool, names []string) (serverUser, error) {
	var cluster *fileOwner
	if exists {
		info, err := os.Stat(d.join(clusterName))
		if err != nil {
			return serverUser{}, d.explain(err)
		}
		o := ownerOf(info)
		cluster = &o
	}
	uid := os.Geteuid()
	switch {
	case uid != 0 && cluster != nil && cluster.uid != uid:
		return serverUser{}, fmt.Errorf("the Postgres cluster in %s belongs to user %s: run relqps as that user or as root", d.path, userName(cluster.uid))
	case uid != 0:
		return serverUser{UID: uid, GID: os.Getegid(), Name: userName(uid)}, nil
	case cluster != nil && cluster.uid == 0:
		return serverUser{}, fmt.Errorf("the Postgres cluster in %s belongs to root, as whom Postgres refuses to run: give it back to the user it belonged to", d.path)
	case cluster != nil:
		return serverUser{UID: cluster.uid, GID: cluster.gid, Name: userName(cluster.uid), Drop: true}, nil
	}
	if names == nil {
		names = serverUserNames
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return serverUser{UID: uid, GID: gid, Name: name, Drop: true}, nil
		}
	}
	return serverUser{}, errors.New("Postgres refuses to run as root and there is neither a user postgres nor a user nobody to run it as: run relqps as an ordinary user, or install the Debian package postgresql, which makes user postgres")
}

// credential is what a child process needs to become this user.
func (u serverUser) credential() *syscall.Credential {
	if !u.Drop {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: []uint32{uint32(u.GID)}}
}

// canEnter checks, by trying it as that user, that the server user can enter
// the folder: mode bits alone do not tell where there are access lists.
func (u serverUser) canEnter(dir string) error {
	if !u.Drop {
		return nil
	}
	cmd := exec.Command("/bin/sh", "-c", `cd -- "$1"`, "sh", dir)
	cmd.Dir = "/"
	cmd.Env = childEnv(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential()}
	if err := cmd.Run(); err == nil {
		return nil
	}
	e := &AccessError{User: u.Name, Dir: dir}
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !u.mayPass(info) {
			e.Blocked = at // the last one found is the first on the way
		}
		if at == filepath.Dir(at) {
			return e
		}
	}
}

// mayPass tells from the mode bits whether the user may pass through a folder.
func (u serverUser) mayPass(info fs.FileInfo) bool {
	o, mode := ownerOf(info), info.Mode().Perm()
	switch {
	case o.uid == u.UID:
		return mode&0o100 != 0
	case o.gid == u.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// userName gives the name of a user, or the number when it has none.
func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}
