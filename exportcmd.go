package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// exportCommand writes everything that a database holds to a file.
type exportCommand struct {
	databaseFlags
	Output string `help:"File to write, or - for standard output. A name that ends in .zst or .gz is compressed." placeholder:"FILE" required:""`
}

// Help is shown by relqps export --help.
func (exportCommand) Help() string {
	return `Example: relqps export --data-dir DIR --output relqps.ndjson.zst

The file holds everything as it was at one moment: uploads with their bytes, runs, results, changes with what was said of them, notes, links; docs/export.md describes it. Tokens and sessions are secrets and are not in it. relqps import fills an empty database with it, and nothing is lost on the way. The file appears under its name when it is complete; only its owner may read it.`
}

// Run writes the file and says what it holds, on stderr where the file itself
// goes to stdout.
func (c exportCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error {
		var counts ingest.ExportCounts
		write := func(w io.Writer) (err error) {
			counts, err = export(ctx, d, w)
			return err
		}
		said := s.out
		if c.Output == "-" {
			said = s.err
			if err := write(s.out); err != nil {
				return err
			}
		} else if err := writeWhole(c.Output, write); err != nil {
			return err
		}
		fmt.Fprintf(said, "%s: %s\n", c.Output, countsText(counts))
		return nil
	})
}

// export writes everything that a database holds.
func export(ctx context.Context, d *database, w io.Writer) (ingest.ExportCounts, error) {
	x, err := ingest.NewExportWriter(w)
	if err != nil {
		return ingest.ExportCounts{}, err
	}
	if err := d.store.Export(ctx, x.Write); err != nil {
		return x.Counts(), err
	}
	return x.Counts(), x.Close()
}

// writeWhole makes a file that has its name only when it is complete, compressed
// as its name says. What is no regular file, like a pipe, is written to as it is.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(writePacked(name, f, write), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // may be closed already
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := writePacked(name, f, write); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writePacked compresses what is written as a file name says.
func writePacked(name string, to io.Writer, write func(io.Writer) error) error {
	var pack io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(to)
		if err != nil {
			return err
		}
		pack = z
	case strings.HasSuffix(name, ".gz"):
		pack = gzip.NewWriter(to)
	default:
		return write(to)
	}
	return errors.Join(write(pack), pack.Close())
}

// importCommand fills an empty database with an exported file.
type importCommand struct {
	databaseFlags
	File string `arg:"" help:"File that relqps export wrote, compressed or not, or - for standard input."`
}

// Help is shown by relqps import --help.
func (importCommand) Help() string {
	return `Example: relqps import --data-dir NEWDIR relqps.ndjson.zst

The database must be empty but for tokens; relqps migrate prepares one that is named by --database-url. All of the file is taken or nothing: one that is damaged, cut short or of a newer format is refused with the line. Links and addresses of changes, runs and uploads stay as they were. Make new tokens with relqps token create. To add figures to a database that has some, use relqps ingest.`
}

// Run imports and says what there is now.
func (c importCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	in, name := s.in, "stdin"
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, c.File
	}
	return c.with(ctx, log, func(d *database) error {
		counts, err := importInto(ctx, d, in, name)
		var e *bench.Error
		if errors.As(err, &e) && e.Kind == bench.KindInvalid && len(e.Places) > 0 {
			printPlaces(s.err, err)
			fmt.Fprintf(s.err, "relqps: %s was refused; nothing was imported\n", name)
			return exitStatus(exitRefused)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s: %s\n", name, countsText(counts))
		return nil
	})
}

// importInto fills an empty database with a file.
func importInto(ctx context.Context, d *database, in io.Reader, name string) (ingest.ExportCounts, error) {
	plain, done, err := decompressed(in, name)
	if err != nil {
		return ingest.ExportCounts{}, err
	}
	defer done()
	r := ingest.NewExportReader(plain, name)
	err = d.store.Import(ctx, r.Next)
	var e *bench.Error
	if errors.As(err, &e) {
		for i := range e.Places {
			e.Places[i].File = name // the store knows lines alone
		}
	}
	return r.Counts(), err
}

// decompressed unpacks what begins as zstd or gzip, whatever its name is.
func decompressed(in io.Reader, name string) (plain io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(in, 1<<16)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, &bench.Error{Kind: bench.KindInvalid, Message: "the file is damaged",
				Places: []bench.Message{{File: name, Line: 1, Text: fmt.Sprintf("the file is damaged or cut short here: %v", err)}}}
		}
		return z, func() {}, nil
	}
	return b, func() {}, nil
}

// countsText says in words what an export holds.
func countsText(c ingest.ExportCounts) string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{c.Uploads, "upload", "uploads"}, {c.Configs, "config", "configs"}, {c.Runs, "run", "runs"}, {c.Results, "result", "results"}, {c.Changes, "change", "changes"},
		{c.Notes, "note", "notes"}, {c.Links, "link", "links"}, {c.Aliases, "former name", "former names"},
	} {
		word := p.many
		if p.n == 1 {
			word = p.one
		}
		parts = append(parts, fmt.Sprintf("%d %s", p.n, word))
	}
	return strings.Join(parts, ", ")
}
