// relqps shows and runs database benchmarks: it stores results in Postgres and
// draws relative QPS across releases, so that regressions can be found.
//
// This file and its siblings wire the packages together; `relqps --help` lists
// the commands. README.md has the map of the code.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/relqps/relqps/internal/bench"
)

// The exit statuses; scripts rely on them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3 // some inputs were refused, each named on stderr
)

// version is what --version and the pages show; a release build sets it.
var version = "0.1"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are what a command reads and prints.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// commands is the command line. Every command has a Run method that is given
// the context, the streams, the logger and the shared settings.
type commands struct {
	Demo    demoCommand    `cmd:"" help:"Start a server with a private Postgres and sample data."`
	Serve   serveCommand   `cmd:"" help:"Start the server."`
	Migrate migrateCommand `cmd:"" help:"Bring the database schema up to date."`
	Ingest  ingestCommand  `cmd:"" help:"Store benchmark results: files, directories, archives."`
	Run     runCommand     `cmd:"" help:"Run the steps of a benchmark plan and store their results."`
	Detect  detectCommand  `cmd:"" help:"Find the changes of all series anew."`
	Export  exportCommand  `cmd:"" help:"Write everything that the database holds to a file."`
	Import  importCommand  `cmd:"" help:"Fill an empty database with an exported file."`
	Report  reportCommand  `cmd:"" help:"Print the version report as Markdown."`
	Rename  renameCommand  `cmd:"" help:"Rename a server, a workload or a config."`
	Token   tokenCommand   `cmd:"" help:"Manage the tokens that writing through the API needs."`
	Health  healthCommand  `cmd:"" name:"healthcheck" help:"Ask a server whether it is ready; for container health checks."`
	About   versionCommand `cmd:"" name:"version" help:"Print the version of relqps; so does relqps --version."`

	LogLevel slog.Level `help:"Least level of log lines on stderr: debug, info, warn or error." default:"warn" env:"RELQPS_LOG_LEVEL"`
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	// Not a flag of the parser: commands have a --version of their own, that of
	// the system measured, and one for all of them would win over it.
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	var c commands
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("relqps"),
		kong.Description("Dashboard and runner for database benchmark regressions."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exit = code }),
	)
	if err != nil {
		fmt.Fprintln(s.err, "relqps:", err)
		return exitFailed
	}
	k, err := parser.Parse(args)
	if exit >= 0 {
		// --help was answered while parsing.
		return exit
	}
	if err != nil {
		fmt.Fprintln(s.err, "relqps:", err)
		fmt.Fprintln(s.err, "relqps: try relqps --help, or relqps COMMAND --help")
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: c.LogLevel}))
	k.BindTo(ctx, (*context.Context)(nil))
	err = k.Run(s, log)
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	printError(s.err, err)
	return exitFailed
}

// exitStatus ends a command with a status after it has said why itself.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// printError writes an error with the places it names, one a line, as compilers do.
func printError(w io.Writer, err error) {
	// The error of a single place often is what the place says.
	var e *bench.Error
	if errors.As(err, &e) && len(e.Places) == 1 && strings.HasSuffix(err.Error(), e.Places[0].String()) {
		fmt.Fprintln(w, "relqps:", err)
		return
	}
	printPlaces(w, err)
	fmt.Fprintln(w, "relqps:", err)
}

func printPlaces(w io.Writer, err error) {
	var e *bench.Error
	if errors.As(err, &e) {
		for _, p := range e.Places {
			fmt.Fprintln(w, p)
		}
	}
}

type versionCommand struct{}

func (versionCommand) Run(s streams) error {
	_, err := fmt.Fprintln(s.out, "relqps", versionText())
	return err
}

// versionText is the version with the commit it was built from, where known.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 10 {
			return version + " (" + s.Value[:10] + ")"
		}
	}
	return version
}
