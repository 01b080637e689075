package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web"
)

// reportCommand prints the version report of one place as Markdown.
type reportCommand struct {
	databaseFlags
	System      string `help:"System." default:"rocksdb"`
	Suite       string `help:"Benchmark suite; without it, as with the flags below, what was measured most."`
	Server      string `help:"Server."`
	Workload    string `help:"Workload."`
	Compiler    string `help:"Compiler."`
	Config      string `help:"Config."`
	Clients     int    `help:"Number of clients."`
	Metric      string `help:"Metric." default:"qps"`
	Base        string `help:"Version that the others are divided by; without it the oldest shown."`
	From        string `help:"First version shown."`
	To          string `help:"Last version shown."`
	Sensitivity string `help:"How readily changes are marked." enum:"strict,default,sensitive" default:"default"`
	All         bool   `help:"A column for every version."`
	PublicURL   string `help:"Address of the server whose pages the report links to." placeholder:"URL" env:"RELQPS_PUBLIC_URL"`
}

// Help is shown by relqps report --help.
func (reportCommand) Help() string {
	return `Example: relqps report --server c2 --workload cached --base 4.4.1 --public-url http://perf.example.org > report.md. The figures are those of the page /report/SYSTEM.`
}

// Run prints the report, nothing else, on stdout.
func (c reportCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	for key, value := range map[string]string{
		"suite": c.Suite, "server": c.Server, "workload": c.Workload, "compiler": c.Compiler, "config": c.Config, "metric": c.Metric,
		"base": c.Base, "from": c.From, "to": c.To, "sensitivity": c.Sensitivity,
	} {
		set(key, value)
	}
	if c.Clients > 0 {
		q.Set("clients", strconv.Itoa(c.Clients))
	}
	if c.All {
		q.Set("all", "1")
	}
	return c.with(ctx, log, func(d *database) error {
		text, err := web.ReportMarkdown(ctx, d.store, c.System, q, c.PublicURL)
		if err != nil {
			return err
		}
		_, err = s.out.Write(text)
		return err
	})
}

// renameCommand gives a server, workload or config another name.
type renameCommand struct {
	databaseFlags
	Kind string `arg:"" help:"What is renamed: server, workload or config." enum:"server,workload,config"`
	Old  string `arg:"" help:"Its name now."`
	New  string `arg:"" help:"Its new name."`
}

// Help is shown by relqps rename --help.
func (renameCommand) Help() string {
	return `Example: relqps rename server c2 beelink. Addresses and uploads with the old name go on to work.`
}

// Run renames and says so.
func (c renameCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error {
		if err := d.store.Rename(ctx, bench.NameKind(c.Kind), c.Old, c.New, "command line"); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s %s is now %s\n", c.Kind, c.Old, c.New)
		return nil
	})
}
