package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/relqps/relqps/api/client"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// ingestCommand stores files.
type ingestCommand struct {
	contextFlags
	targetFlags
	Paths []string `arg:"" name:"path" help:"Files, directories, .tar.gz, .zip, .gz, .zst, or - for standard input."`
	Check bool     `help:"Say what was recognised and what would be stored; store nothing. Needs no database."`
	JSON  bool     `name:"json" help:"Print one JSON object an upload, as the API answers."`
	Name  string   `help:"File name of what comes on standard input." default:"stdin"`
}

// Help is shown by relqps ingest --help.
func (ingestCommand) Help() string {
	return `Examples:
  relqps ingest --server c2 --workload cached bm.lc.nt8.d0/
  relqps ingest --check results.tar.gz
  relqps ingest --url http://relqps:8080 --server c2 report.tsv

The context flags fill what a file does not say and never override what it says. A directory becomes one upload a folder, or one a result directory; each is stored whole or not at all.`
}

// source is one upload still to be read.
type source struct {
	name string
	read func() ([]byte, error)
}

// Run stores, or checks, one upload after the other. It goes on after a refused
// one and says so with its status.
func (c ingestCommand) Run(ctx context.Context, s streams, log *slog.Logger) (err error) {
	sources, err := c.sources(s.in)
	if err != nil {
		return err
	}
	// Without a database or server named, --check reads and compares with nothing.
	if c.Check && c.URL == "" && c.DatabaseURL == "" && c.DataDir == "" {
		return c.checkAll(s, sources)
	}
	sink, _, closeSink, err := c.sink(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSink()) }()
	refused := false
	for _, src := range sources {
		data, err := src.read()
		if err != nil {
			return err
		}
		u := bench.Upload{Filename: src.name, Bytes: data, Context: c.context(), Actor: "command line", DryRun: c.Check}
		if c.Check {
			if _, err := c.check(s, src.name, data, false); err != nil {
				printError(s.err, err)
				refused = true
				continue
			}
		}
		receipt, err := submit(ctx, sink.Submit, u)
		if kind := bench.KindOf(err); err != nil && (kind == bench.KindInvalid || kind == bench.KindConflict || kind == bench.KindTooLarge) {
			fmt.Fprintf(s.err, "%s: refused: %v\n", src.name, err)
			printPlaces(s.err, err)
			refused = true
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", src.name, err)
		}
		for _, m := range receipt.Refused {
			fmt.Fprintln(s.err, m)
			refused = true
		}
		if err := c.report(s.out, src.name, receipt); err != nil {
			return err
		}
	}
	if refused {
		return exitStatus(exitRefused)
	}
	return nil
}

// sources lists the uploads that the arguments stand for.
func (c ingestCommand) sources(in io.Reader) ([]source, error) {
	var sources []source
	var paths []string
	for _, p := range c.Paths {
		if p != "-" {
			paths = append(paths, p)
			continue
		}
		sources = append(sources, source{c.Name, func() ([]byte, error) { return readInput(in) }})
	}
	units, err := ingest.Units("", paths)
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		sources = append(sources, source{u.Name, func() ([]byte, error) { return u.Bytes(ingest.Limits{}) }})
	}
	return sources, nil
}

// readInput reads standard input, which may have no end.
func readInput(in io.Reader) ([]byte, error) {
	const most = 512 << 20 // as of a directory's upload, see [ingest.Limits]
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(data) > most {
		err = bench.Errorf(bench.KindTooLarge, "standard input: more than the %d MiB that one upload may have", most>>20)
	}
	return data, err
}

// submit hands an upload over, again when the database or server did not answer
// in between: the same bytes are never stored twice.
func submit(ctx context.Context, to func(context.Context, bench.Upload) (bench.Receipt, error), u bench.Upload) (bench.Receipt, error) {
	const tries = 3
	for try := 1; ; try++ {
		receipt, err := to(ctx, u)
		if bench.KindOf(err) != bench.KindUnavailable || try == tries {
			return receipt, err
		}
		select {
		case <-ctx.Done():
			return receipt, err
		case <-time.After(time.Duration(try) * time.Second):
		}
	}
}

// report prints what became of an upload.
func (c ingestCommand) report(out io.Writer, name string, r bench.Receipt) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(client.NewReceiptBody(r, c.Check))
	}
	switch {
	case c.Check:
		fmt.Fprintf(out, "%s: against the database: %d results to store, %d already there, %d of them with figures to add\n", name, r.Results, r.AlreadyThere, r.Merged)
		return nil
	case r.Duplicate:
		fmt.Fprintf(out, "%s: already there as upload %d\n", name, r.UploadID)
		return nil
	}
	fmt.Fprintf(out, "%s: %s, upload %d: %d results in %d runs, %d already there", name, r.Format, r.UploadID, r.Results, len(r.Runs), r.AlreadyThere)
	if r.Merged > 0 {
		fmt.Fprintf(out, " (%d gained figures)", r.Merged)
	}
	fmt.Fprintln(out)
	for _, k := range r.Configs {
		fmt.Fprintf(out, "  config %s of %s (%s)\n", k.Name, k.System, k.Layer)
	}
	for _, k := range r.Checks {
		fmt.Fprintf(out, "  %s: %d of %d cells agree, %d unknown, %d displaced rows\n", k.File, k.Agree, k.Cells, k.Unknown, k.Shifted)
		for _, m := range k.Messages {
			fmt.Fprintf(out, "    %s\n", m)
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(out, "  warning: %s\n", w)
	}
	for _, f := range r.Files {
		for _, m := range f.Messages {
			if f.State != bench.FileRefused { // those stand on stderr
				fmt.Fprintf(out, "  %s: %s\n", f.State, m)
			}
		}
	}
	return nil
}

// checkAll checks uploads on their own, without a database.
func (c ingestCommand) checkAll(s streams, sources []source) error {
	refused := false
	for _, src := range sources {
		data, err := src.read()
		if err != nil {
			return err
		}
		bad, err := c.check(s, src.name, data, true)
		if err != nil {
			fmt.Fprintf(s.err, "%s: refused: %v\n", src.name, err)
			printPlaces(s.err, err)
		}
		refused = refused || bad || err != nil
	}
	if refused {
		return exitStatus(exitRefused)
	}
	return nil
}

// check prints what an upload was recognised as and names its refused files; with
// preview also, as JSON where that was asked for, what an empty database would
// take.
func (c ingestCommand) check(s streams, name string, data []byte, preview bool) (refused bool, err error) {
	batch, err := ingest.Read(data, name, c.context(), ingest.Limits{})
	if err != nil {
		return true, err
	}
	switch {
	case !c.JSON:
		fmt.Fprint(s.out, ingest.Check(batch))
	case preview:
		sum := sha256.Sum256(data)
		if err := json.NewEncoder(s.out).Encode(client.NewReceiptBody(ingest.Preview(batch, hex.EncodeToString(sum[:])), true)); err != nil {
			return true, err
		}
	}
	for _, f := range batch.Files {
		if f.State == bench.FileRefused {
			refused = true
			for _, m := range f.Messages {
				fmt.Fprintln(s.err, m)
			}
		}
	}
	return refused, nil
}
