package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/relqps/relqps/api/client"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/localpg"
	"github.com/relqps/relqps/runner"
)

// runCommand executes a plan.
type runCommand struct {
	contextFlags
	targetFlags
	Plan    string   `arg:"" help:"A plan file, or the name of a built-in plan such as db_bench-quick."`
	Set     []string `help:"Change a field of the plan: keys=5000, binary=./db_bench.8.6." placeholder:"KEY=VALUE"`
	WorkDir string   `help:"Directory for journals and databases under test." default:"relqps-work" type:"path" env:"RELQPS_WORK_DIR"`
	Resume  bool     `help:"Post what earlier runs left, and go on with the unfinished run of this plan."`
	DryRun  bool     `help:"Print the command lines and do nothing else."`
	Shared  bool     `help:"Measure although another runner measures on this machine."`
	AnyDisk bool     `help:"Measure although the data may not fit the disk."`
	Offline bool     `help:"Keep results in the work directory; --resume posts them later."`
}

// Help is shown by relqps run --help.
func (runCommand) Help() string {
	return `Example: relqps run runner/plans/db_bench-quick.yaml --url http://127.0.0.1:8080 --server my-host

Results are written to the work directory first and then stored, so that a database or server that is away loses nothing. Databases under test are made in the work directory, and only what was made there is ever deleted.`
}

// Run executes the plan and says what became of each step.
func (c runCommand) Run(ctx context.Context, s streams, log *slog.Logger) (err error) {
	plan, err := runner.LoadPlan(c.Plan, runner.Overrides{Set: c.Set})
	if err != nil {
		if _, planErr := runner.LoadPlan(c.Plan, runner.Overrides{}); planErr == nil {
			printError(s.err, err)
			return exitStatus(exitUsage) // the plan is good, what --set makes of it is not
		}
		return err
	}
	o := runner.Options{
		Plan: plan, Context: c.context(), WorkDir: c.WorkDir, Resume: c.Resume, DryRun: c.DryRun, Shared: c.Shared, AnyDisk: c.AnyDisk,
		Out: s.out, Terminal: isTerminal(s.out), Logger: log,
	}
	if !c.DryRun && !c.Offline {
		sink, target, closeSink, sinkErr := c.sink(ctx, log)
		switch {
		case sinkErr == nil:
			defer func() { err = errors.Join(err, closeSink()) }()
			o.Sink, o.Target = sink, target
		case c.Resume:
			// To go on measuring without a place for the results is what the
			// journal is for, but --resume was asked to post them.
			return sinkErr
		default:
			fmt.Fprintln(s.err, "relqps:", sinkErr)
			fmt.Fprintln(s.err, "relqps: results stay in the work directory; store them with --resume")
		}
	}
	summary, err := runner.Run(ctx, o)
	if c.DryRun {
		return err
	}
	for _, r := range summary.Runs {
		address := r.URL
		if c.URL != "" {
			address = strings.TrimSuffix(c.URL, "/") + r.URL
		}
		fmt.Fprintln(s.out, "run:", address)
	}
	if summary.Left > 0 {
		fmt.Fprintf(s.out, "%d results are not stored yet; run the same command with --resume\n", summary.Left)
	}
	if err != nil {
		return err
	}
	if summary.Failed() || summary.Left > 0 && !c.Offline {
		return exitStatus(exitFailed)
	}
	return nil
}

// sink opens where results go, and names it for the journal.
func (f targetFlags) sink(ctx context.Context, log *slog.Logger) (sink runner.Sink, target string, closeSink func() error, err error) {
	if f.URL != "" {
		c, err := client.New(f.URL, f.Token)
		return c, f.URL, func() error { return nil }, err
	}
	d, err := f.open(ctx, log, localpg.Client, "")
	if err != nil {
		return nil, "", nil, err
	}
	if err := d.requireSchema(ctx, false); err != nil {
		return nil, "", nil, errors.Join(err, d.close(log))
	}
	target = "database"
	if d.cluster != nil {
		target = "data directory " + filepath.Clean(d.cluster.DataDir())
	}
	return ingest.Ingester{Store: d.store, Detect: compare.Detect}, target, func() error { return d.close(log) }, nil
}
