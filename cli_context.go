package main

import (
	"errors"
	"os"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/relqps/relqps/internal/bench"
)

// contextFlags fill what files leave unsaid; they never override what a file says.
type contextFlags struct {
	System   string   `help:"System measured, such as rocksdb." group:"context"`
	Suite    string   `help:"Benchmark program, such as db_bench." group:"context"`
	Server   string   `help:"Machine it was measured on." group:"context"`
	Workload string   `help:"Workload: cached, cached-by-os, iobuf, iodir." group:"context"`
	Version  string   `help:"Version of the system." group:"context"`
	Versions []string `help:"Columns of a matrix file without header, in order." group:"context"`
	Compiler string   `help:"Compiler of the build: gcc, clang, clang+lto." group:"context"`
	Config   string   `help:"Name of the set of options." group:"context"`
	Clients  int      `help:"Client threads of the run." group:"context"`
}

func (f contextFlags) context() bench.Context {
	return bench.Context{
		System: f.System, Suite: f.Suite, Server: f.Server, Workload: f.Workload, Version: f.Version,
		Versions: f.Versions, Compiler: f.Compiler, Config: f.Config, Clients: f.Clients,
	}.Normalized()
}

// targetFlags say where results go: into a database, or to a server.
type targetFlags struct {
	databaseFlags
	URL   string `help:"Server to send results to, instead of writing into a database." placeholder:"URL" env:"RELQPS_URL"`
	Token string `help:"Token for the server; better given by the environment than on the command line." env:"RELQPS_TOKEN"`
}

// AfterApply lets a flag win over the environment.
func (f *targetFlags) AfterApply(k *kong.Context) error {
	if err := f.databaseFlags.AfterApply(k); err != nil {
		return err
	}
	switch server, database := given(k, "url"), given(k, "database-url") || given(k, "data-dir"); {
	case server && database:
		return errors.New("--url names a server, --database-url and --data-dir a database: give one of them")
	case database:
		f.URL = ""
	}
	return nil
}

// isTerminal reports whether what is written there is seen by a person.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
