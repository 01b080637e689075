//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// MinMajor is the oldest major version of Postgres that relqps works with.
const MinMajor = 15

// Environment variables that commands read into [Config]; this package itself
// reads neither, it only names them in its messages.
const (
	EnvBinDir   = "RELQPS_PG_BIN"      // a folder with initdb and postgres, for [Config.BinDir]
	EnvDownload = "RELQPS_PG_DOWNLOAD" // "1" allows the download, for [Config.Download]
)

// Installation is a set of Postgres server programs of one version.
type Installation struct {
	Dir   string // the folder that holds initdb and postgres
	Major int    // the major version: 15, 16, …
}

// binaryPlaces are the folders where packages put server programs, as patterns
// of filepath.Glob. Within one pattern the newest version comes first.
var binaryPlaces = []string{
	"/usr/lib/postgresql/*/bin",                            // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                     // packages of the Postgres project for Fedora and its kin
	"/opt/homebrew/opt/postgresql@*/bin",                   // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                      // Homebrew on Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",      // Homebrew on Linux
	"/opt/homebrew/opt/postgresql/bin",                     // Homebrew's formulae of before the @ names
	"/usr/local/opt/postgresql/bin",                        //
	"/Applications/Postgres.app/Contents/Versions/*/bin",   // Postgres.app
	"/usr/libexec/postgresql*",                             // Alpine
	"/usr/local/pgsql/bin",                                 // built from source
	"/usr/lib/postgresql/bin", "/usr/lib64/postgresql/bin", // Arch, openSUSE
}

// Find gives the installation that a new cluster is made with (major 0), or
// that an existing cluster of the given major version needs. It looks in
// binDir alone when that is set; otherwise in the folders of path (as in
// $PATH), then where packages of Linux distributions and Homebrew put server
// programs, newest version first. The error is a [*MissingError] when nothing
// fits.
func Find(ctx context.Context, binDir, path string, major int) (Installation, error) {
	return find(ctx, binDir, path, binaryPlaces, major)
}

func find(ctx context.Context, binDir, path string, places []string, major int) (Installation, error) {
	missing := &MissingError{Major: major}
	var candidates []string
	if binDir != "" {
		missing.Searched = []string{EnvBinDir + " (" + binDir + ")"}
		candidates = []string{binDir}
	} else {
		missing.Searched = []string{"PATH", "/usr/lib/postgresql/*/bin", "the folders of Homebrew and of other packages"}
		for _, dir := range filepath.SplitList(path) {
			// A relative entry of PATH would be another folder in another working directory.
			if filepath.IsAbs(dir) {
				candidates = append(candidates, dir)
			}
		}
		for _, pattern := range places {
			matches, err := filepath.Glob(pattern)
			if err != nil {
				return Installation{}, fmt.Errorf("look for Postgres in %s: %w", pattern, err)
			}
			sort.SliceStable(matches, func(i, j int) bool { return lastNumber(matches[i]) > lastNumber(matches[j]) })
			candidates = append(candidates, matches...)
		}
	}
	for _, dir := range candidates {
		if !isProgram(filepath.Join(dir, "initdb")) || !isProgram(filepath.Join(dir, "postgres")) {
			continue
		}
		got, err := majorOf(ctx, dir)
		switch {
		case ctx.Err() != nil:
			return Installation{}, ctx.Err()
		case err != nil:
			missing.Found = append(missing.Found, fmt.Sprintf("%s does not start: %v", dir, err))
		case major != 0 && got != major, got < MinMajor:
			missing.Found = append(missing.Found, fmt.Sprintf("version %d in %s", got, dir))
		default:
			return Installation{Dir: dir, Major: got}, nil
		}
	}
	return Installation{}, missing
}

var numberPattern = regexp.MustCompile(`\d+`)

// lastNumber gives the last number in a path, the version in the folder names
// of packages; -1 when it has none.
func lastNumber(path string) int {
	all := numberPattern.FindAllString(path, -1)
	if len(all) == 0 {
		return -1
	}
	n, err := strconv.Atoi(all[len(all)-1])
	if err != nil {
		return -1
	}
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

var (
	versionPattern = regexp.MustCompile(`^postgres \(PostgreSQL\) (\d+)`)
	debianPattern  = regexp.MustCompile(`^/usr/lib/postgresql/(\d+)/bin$`)
)

// majorOf asks the programs in dir for their version.
func majorOf(ctx context.Context, dir string) (int, error) {
	if m := debianPattern.FindStringSubmatch(dir); m != nil {
		// The package guarantees it; not asking saves the start of a process.
		return strconv.Atoi(m[1])
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "-V")
	cmd.Env = childEnv(os.Environ())
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			return 0, errors.New(strings.TrimSpace(string(exit.Stderr)))
		}
		return 0, err
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("unknown answer %q to postgres -V", strings.TrimSpace(string(out)))
	}
	return strconv.Atoi(string(m[1]))
}

// childEnv is the environment for Postgres programs: of ours only what helps
// to find programs and libraries. The rest would point them at another cluster
// (PGDATA), change the language of their messages (LANG), let them speak to
// the service manager in our place (NOTIFY_SOCKET), or hand our secrets to a
// process of another user.
func childEnv(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH", name == "TMPDIR", strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "NSS_WRAPPER_"):
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C", "TZ=UTC")
}
