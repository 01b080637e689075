//go:build unix

package localpg

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeInstall makes a folder with programs that say they are of a version.
func fakeInstall(t *testing.T, dir, version string) string {
	t.Helper()
	write(t, dir, "initdb", "#!/bin/sh\n")
	write(t, dir, "postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) "+version+"'\n")
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWhichInstallationIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	old := fakeInstall(t, in("old"), "14.9 (Debian 14.9-1)")
	onPath := fakeInstall(t, in("path"), "16.2")
	nine := fakeInstall(t, in("lib", "9", "bin"), "9.6.24")
	fifteen := fakeInstall(t, in("lib", "15", "bin"), "15.4 (Debian 15.4-1)")
	seventeen := fakeInstall(t, in("lib", "17", "bin"), "17.0")
	brew := fakeInstall(t, in("opt", "postgresql@18", "bin"), "18beta1")
	half := in("half")
	write(t, half, "postgres", "#!/bin/sh\n")
	broken := fakeInstall(t, in("broken"), "")
	places := []string{in("lib", "*", "bin"), in("opt", "postgresql@*", "bin")}

	tests := []struct {
		name, binDir, path string
		major              int
		want               string // folder; empty: none is found
		says               []string
	}{
		{name: "the newest of the packages", want: seventeen},
		{name: "PATH before packages", path: half + ":" + onPath, want: onPath},
		{name: "an old one in PATH is passed over", path: old, want: seventeen},
		{name: "a broken one in PATH is passed over", path: broken, want: seventeen},
		{name: "a relative folder in PATH is passed over", path: ".", want: seventeen},
		{name: "the version of an existing cluster", path: onPath, major: 15, want: fifteen},
		{name: "an existing cluster, from Homebrew", major: 18, want: brew},
		{name: "the given folder and no other", binDir: onPath, path: old, want: onPath},
		{name: "a given folder without programs", binDir: half, path: onPath, says: []string{"RELQPS_PG_BIN (" + half + ")", "version 15 or later"}},
		{name: "a given folder that is too old", binDir: nine, says: []string{"version 9 in " + nine}},
		{name: "a given folder that does not work", binDir: broken, says: []string{broken + " does not start", "unknown answer"}},
		{name: "a given folder of another version", binDir: onPath, major: 15, says: []string{"made by Postgres 15", "version 16 in " + onPath, "apt-get install postgresql-15", "brew install postgresql@15"}},
		{name: "a version that is nowhere", major: 16, says: []string{"made by Postgres 16", "version 15 in " + fifteen, "version 17 in " + seventeen}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := find(t.Context(), test.binDir, test.path, places, test.major)
			if test.want != "" {
				if err != nil || got.Dir != test.want {
					t.Errorf("got %s, %v; want %s", got.Dir, err, test.want)
				}
				return
			}
			var missing *MissingError
			if !errors.As(err, &missing) {
				t.Fatalf("got %+v, %v; want a MissingError", got, err)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestMessageWithoutPostgresSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := Config{DataDir: dir, BinDir: t.TempDir()}
	_, err := Open(t.Context(), cfg)
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v, want a MissingError", err)
	}
	for _, part := range []string{
		"apt-get install postgresql\"", "brew install postgresql@17", "RELQPS_PG_BIN", "--database-url",
		"github.com/fergusstrange/embedded-postgres", "RELQPS_PG_DOWNLOAD=1", "not as root",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	_, err = find(t.Context(), "", "", nil, 0)
	for _, part := range []string{"PATH", "/usr/lib/postgresql/*/bin", "Homebrew"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say that it looked in %s", err, part)
		}
	}
	// Once the programs are there the same directory works.
	mustStop(t, mustOpen(t, testConfig(t, dir)))
}

func TestClusterOfAnotherVersionIsSaidSo(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	mustStop(t, mustOpen(t, testConfig(t, dir)))
	version := filepath.Join(dir, clusterName, "PG_VERSION")
	was, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(version, []byte("12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), testConfig(t, dir))
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Major != 12 {
		t.Errorf("got %v, want a MissingError about version 12", err)
	}
	if err := os.WriteFile(version, was, 0o600); err != nil {
		t.Fatal(err)
	}
	mustStop(t, mustOpen(t, testConfig(t, dir)))
}

func TestChildrenGetNoneOfOurSecrets(t *testing.T) {
	t.Parallel()
	got := childEnv([]string{
		"PATH=/bin", "PGDATA=/theirs", "PGPORT=1", "RELQPS_TOKEN=secret", "LANG=de_DE.UTF-8", "LC_MESSAGES=de",
		"NOTIFY_SOCKET=/run/x", "TZ=Europe/Berlin", "LD_LIBRARY_PATH=/opt/lib", "HOME=/root",
	})
	want := []string{"PATH=/bin", "LD_LIBRARY_PATH=/opt/lib", "LC_ALL=C", "TZ=UTC"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvironmentCannotLeadElsewhere(t *testing.T) {
	dir := newDir(t)
	for name, value := range map[string]string{
		"PGHOST": "/nowhere", "PGPORT": "1", "PGUSER": "somebody", "PGDATABASE": "other", "PGDATA": t.TempDir(),
		"PGSSLMODE": "require", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo",
	} {
		t.Setenv(name, value)
	}
	c := mustOpen(t, testConfig(t, dir))
	if got := query1[string](t, c.URL(), `select current_user || '@' || current_database() || ' ' || current_setting('timezone') || ' ' || current_setting('lc_messages')`); got != "relqps@relqps UTC C" {
		t.Errorf("connected to %s", got)
	}
	password, err := c.d.password()
	if err != nil {
		t.Fatal(err)
	}
	if got := query1[string](t, c.state.Address.url(superuser, password, superuser), `show data_directory`); got != filepath.Join(dir, clusterName) {
		t.Errorf("the data are in %s", got)
	}
	mustStop(t, c)
}
