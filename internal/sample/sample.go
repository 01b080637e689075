// Package sample holds figures of published benchmark archives, so that a first
// start shows real charts. The files are in the project's own export format
// (docs/export.md), made by the generate program from the archives that each
// run names in its environment (source_name, source_url).
package sample

import (
	"context"
	"embed"
	"fmt"

	"github.com/relqps/relqps/internal/bench"
)

//go:embed *.ndjson.gz
var files embed.FS

// Actor is who the uploads of the sample data are by.
const Actor = "sample data"

// Submitter takes an upload; the ingester satisfies it. It is declared here so
// that this package knows no store.
type Submitter interface {
	Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error)
}

// Load stores the sample data. What is there already stays as it is, so that
// loading again is cheap and changes nothing.
func Load(ctx context.Context, to Submitter) error {
	names, err := Files()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("sample %s: %w", name, err)
		}
		if _, err := to.Submit(ctx, bench.Upload{Filename: "sample/" + name, Bytes: data, Actor: Actor}); err != nil {
			return fmt.Errorf("sample %s: %w", name, err)
		}
	}
	return nil
}

// Files names the embedded files, in the order they are loaded.
func Files() ([]string, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}
