package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/localpg"
	"github.com/relqps/relqps/internal/postgres"
)

// databaseFlags say which database a command uses: one by its address, or the
// private Postgres of a data directory.
type databaseFlags struct {
	DatabaseURL string `help:"Postgres to use; without it a private one in the data directory." placeholder:"URL" env:"RELQPS_DATABASE_URL,DATABASE_URL"`
	DataDir     string `help:"Directory of the private Postgres." placeholder:"DIR" env:"RELQPS_DATA_DIR" type:"path"`
}

// AfterApply lets a flag win over the environment: with --data-dir given,
// $DATABASE_URL names somebody else's database.
func (f *databaseFlags) AfterApply(k *kong.Context) error {
	switch url, dir := given(k, "database-url"), given(k, "data-dir"); {
	case url && dir:
		return errors.New("--database-url and --data-dir name two databases: give one of them")
	case dir:
		f.DatabaseURL = ""
	}
	return nil
}

// given reports whether a flag stands on the command line.
func given(k *kong.Context, flag string) bool {
	return slices.ContainsFunc(k.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag && !p.Resolved })
}

// stopTime bounds how long stopping the private Postgres may take.
const stopTime = 30 * time.Second

// database is an open store with the private Postgres behind it, if there is one.
type database struct {
	store   *postgres.Store
	cluster *localpg.Cluster // nil with a URL
}

// open opens the database. The schema is checked by [database.requireSchema].
func (f databaseFlags) open(ctx context.Context, log *slog.Logger, mode localpg.Mode, address string) (*database, error) {
	url := f.DatabaseURL
	d := &database{}
	if url == "" {
		dir := f.DataDir
		if dir == "" {
			var err error
			if dir, err = localpg.DefaultDataDir(); err != nil {
				return nil, err
			}
		}
		cluster, err := localpg.Open(ctx, localpg.Config{
			DataDir: dir, Mode: mode, Address: address,
			BinDir: os.Getenv(localpg.EnvBinDir), Download: os.Getenv(localpg.EnvDownload) == "1", Logger: log,
		})
		if err != nil {
			return nil, err
		}
		d.cluster, url = cluster, cluster.URL()
	}
	store, err := postgres.Open(ctx, url, postgres.Options{})
	if err != nil {
		return nil, errors.Join(err, d.close(log))
	}
	d.store = store
	return d, nil
}

// close gives the database back; a private Postgres stops with its last user.
func (d *database) close(log *slog.Logger) error {
	if d.store != nil {
		d.store.Close()
	}
	if d.cluster == nil {
		return nil
	}
	// The command's own context may be over already.
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if err := d.cluster.Stop(ctx); err != nil {
		log.Error("stop private Postgres", "error", err)
		return err
	}
	return nil
}

// requireSchema makes sure that the schema is the one this program works with.
// An empty private database is set up; anything older needs migrate's consent.
func (d *database) requireSchema(ctx context.Context, migrate bool) error {
	have, err := d.store.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if have < postgres.LatestSchema() && (migrate || have == 0 && d.cluster != nil) {
		return d.store.Migrate(ctx)
	}
	switch latest := postgres.LatestSchema(); {
	case have < latest:
		return bench.Errorf(bench.KindConflict, "the database has schema %d, this program needs %d: run relqps migrate, or start with --migrate", have, latest)
	case have > latest:
		return bench.Errorf(bench.KindConflict, "the database has schema %d, made by a newer relqps; this one knows %d", have, latest)
	}
	return nil
}

// migrateCommand brings the schema up to date.
type migrateCommand struct {
	databaseFlags
}

// Help is shown by relqps migrate --help.
func (migrateCommand) Help() string {
	return `Example: relqps migrate --database-url postgres://relqps@db/relqps`
}

// Run applies what is missing and says so.
func (c migrateCommand) Run(ctx context.Context, s streams, log *slog.Logger) (err error) {
	d, err := c.open(ctx, log, localpg.Client, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(log)) }()
	before, err := d.store.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if err := d.store.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "schema %d, was %d\n", postgres.LatestSchema(), before)
	return nil
}
