//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// downloadVersions are the versions that can be downloaded, by major version.
var downloadVersions = map[int]embedded.PostgresVersion{
	15: embedded.V15,
	16: embedded.V16,
	17: embedded.V17,
	18: embedded.V18,
}

// downloadMajor is the version that new clusters are made with.
const downloadMajor = 17

// Download gives Postgres server programs of the given major version (0: the
// one for new clusters) out of dir, after downloading them with
// github.com/fergusstrange/embedded-postgres when they are not there yet. dir
// empty means relqps/postgres in the user's cache directory; repository empty
// means that of embedded-postgres.
//
// It is called only where somebody asked for it, and says so in the log. It
// refuses to work as root, because what it uses does.
func Download(ctx context.Context, dir, repository string, major int, log *slog.Logger) (Installation, error) {
	if major == 0 {
		major = downloadMajor
	}
	version, ok := downloadVersions[major]
	if !ok {
		return Installation{}, fmt.Errorf("there is no Postgres %d to download: %w", major, &MissingError{Major: major})
	}
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return Installation{}, fmt.Errorf("find a folder for the downloaded Postgres: %w", err)
		}
		dir = filepath.Join(cache, "relqps", "postgres")
	}
	target := filepath.Join(dir, string(version))
	found := Installation{Dir: filepath.Join(target, "bin"), Major: major}
	if isProgram(filepath.Join(found.Dir, "initdb")) && isProgram(filepath.Join(found.Dir, "postgres")) {
		return found, nil
	}
	if os.Geteuid() == 0 {
		return Installation{}, errors.New("Postgres cannot be downloaded as root: run relqps as an ordinary user, or install the Debian package postgresql")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Installation{}, fmt.Errorf("make a folder for the downloaded Postgres: %w", err)
	}
	work, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return Installation{}, fmt.Errorf("make a folder for the downloaded Postgres: %w", err)
	}
	defer os.RemoveAll(work)
	port, err := freePort(0)
	if err != nil {
		return Installation{}, err
	}
	out, err := os.Create(filepath.Join(work, "log"))
	if err != nil {
		return Installation{}, fmt.Errorf("make a folder for the downloaded Postgres: %w", err)
	}
	defer out.Close()

	cfg := embedded.DefaultConfig().Version(version).Port(uint32(port)).
		CachePath(filepath.Join(work, "archive")).
		BinariesPath(filepath.Join(work, "programs")).
		RuntimePath(filepath.Join(work, "run")).
		DataPath(filepath.Join(work, "data")).
		Encoding("UTF8").Locale("C").
		// The default folder for its socket may be one that we cannot write to.
		StartParameters(map[string]string{"unix_socket_directories": "", "listen_addresses": "localhost"}).
		Logger(out)
	if repository != "" {
		cfg = cfg.BinaryRepositoryURL(repository)
	}
	log.Info("downloading Postgres with github.com/fergusstrange/embedded-postgres", "version", string(version), "to", target)
	// The library has no call for the download alone. That it also starts a
	// cluster shows that the programs work on this machine.
	trial := embedded.NewDatabase(cfg)
	ended := make(chan error, 1)
	go func() {
		err := trial.Start()
		if err == nil {
			err = trial.Stop()
		}
		ended <- err
	}()
	select {
	case <-ctx.Done():
		return Installation{}, fmt.Errorf("download Postgres %s: %w", version, ctx.Err())
	case err := <-ended:
		if err != nil {
			return Installation{}, fmt.Errorf("download Postgres %s: %w", version, err)
		}
	}
	// As a whole or not at all, and whoever is first wins.
	if err := os.Rename(filepath.Join(work, "programs"), target); err != nil && !isProgram(filepath.Join(found.Dir, "postgres")) {
		return Installation{}, fmt.Errorf("keep the downloaded Postgres: %w", err)
	}
	return found, nil
}
