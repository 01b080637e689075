package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/relqps/relqps/internal/compare"
)

// detectCommand recomputes the changes of all series.
type detectCommand struct{ databaseFlags }

// Help is shown by relqps detect --help.
func (detectCommand) Help() string {
	return `Example: relqps detect --data-dir DIR. Needed after an update that changes the statistics; uploads detect what they touch by themselves. Changes that are found again keep their number and what people said of them.`
}

// Run detects and says over how many series.
func (c detectCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error {
		n, err := d.store.DetectAll(ctx, compare.Detect)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%d series\n", n)
		return nil
	})
}
