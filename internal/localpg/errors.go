//go:build unix

package localpg

import (
	"fmt"
	"strings"
	"time"
)

// HeldError says that another relqps server already runs on the data directory.
type HeldError struct {
	DataDir string    // the data directory
	PID     int       // process id of the holder; 0 when it did not say
	Since   time.Time // when it took the directory; zero when it did not say
	Address string    // where it listens; empty when it does not listen yet
}

// Error names the holder with all that is known of it.
func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "data directory %s is in use by another relqps server", e.DataDir)
	var known []string
	if e.PID != 0 {
		known = append(known, fmt.Sprintf("pid %d", e.PID))
	}
	if !e.Since.IsZero() {
		known = append(known, "since "+e.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if e.Address != "" {
		known = append(known, "at "+e.Address)
	}
	if len(known) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(known, ", "))
	}
	b.WriteString("; stop it or choose another --data-dir")
	return b.String()
}

// ForeignError says that a directory holds something that relqps did not make.
// Nothing in it was read further, changed or removed.
type ForeignError struct {
	Dir    string // the directory that was refused
	Reason string // what was found in it
}

// Error names the directory and what was found.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s was not made by relqps: %s; it was left untouched, choose an empty or new directory as --data-dir", e.Dir, e.Reason)
}

// MissingError says that no Postgres server programs were found that fit.
type MissingError struct {
	Searched []string // where was looked, in order
	Found    []string // installations that were found and do not fit, with the reason
	Major    int      // the major version that an existing cluster needs; 0 when any from MinMajor up would do
}

// Error says what to install, and what else can be done.
func (e *MissingError) Error() string {
	var b strings.Builder
	debian, brew := "postgresql", "postgresql@17"
	if e.Major != 0 {
		debian, brew = fmt.Sprintf("postgresql-%d", e.Major), fmt.Sprintf("postgresql@%d", e.Major)
		fmt.Fprintf(&b, "this data directory was made by Postgres %d and no server programs (initdb, postgres) of that version were found", e.Major)
	} else {
		fmt.Fprintf(&b, "no Postgres server programs (initdb, postgres) of version %d or later were found", MinMajor)
	}
	if len(e.Searched) > 0 {
		fmt.Fprintf(&b, " in %s", strings.Join(e.Searched, ", "))
	}
	if len(e.Found) > 0 {
		fmt.Fprintf(&b, " (found: %s)", strings.Join(e.Found, "; "))
	}
	fmt.Fprintf(&b, ". Install them: on Debian or Ubuntu \"apt-get install %s\", with Homebrew \"brew install %s\";", debian, brew)
	fmt.Fprintf(&b, " or name their folder in %s; or use a server that runs already, with --database-url;", EnvBinDir)
	fmt.Fprintf(&b, " or, not as root, set %s=1 to let github.com/fergusstrange/embedded-postgres download them", EnvDownload)
	return b.String()
}

// AccessError says that the user under which Postgres must run cannot enter
// the data directory: as root Postgres refuses to work, so another user does,
// and that user has no way in.
type AccessError struct {
	User    string // the user Postgres runs as
	Dir     string // the directory it must enter
	Blocked string // the folder on the way that does not let it pass; empty when unknown
}

// Error says which folder is in the way and what can be done.
func (e *AccessError) Error() string {
	way := "cannot enter " + e.Dir
	if e.Blocked != "" && e.Blocked != e.Dir {
		way += ", because " + e.Blocked + " does not let it pass"
	}
	return fmt.Sprintf("Postgres does not run as root and user %s %s; choose a --data-dir that this user can reach, such as %s, or run relqps as an ordinary user", e.User, way, rootDataDir)
}
