package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"text/tabwriter"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/localpg"
)

// tokenCommand manages tokens.
type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token and print it; it is shown this once."`
	List   tokenListCommand   `cmd:"" help:"List tokens; the tokens themselves are not stored."`
	Revoke tokenRevokeCommand `cmd:"" help:"Refuse a token from now on."`
}

type tokenCreateCommand struct {
	databaseFlags
	Role string `help:"What it may do: read, annotate, upload results (runner), or all (admin)." enum:"reader,annotator,runner,admin" required:""`
	Name string `help:"Who or what uses it; shown as the author of uploads." required:""`
}

// Help is shown by relqps token create --help.
func (tokenCreateCommand) Help() string {
	return `Example: relqps token create --role runner --name bench-host`
}

// Run makes the token and prints it, nothing else, on stdout.
func (c tokenCreateCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error {
		token, _, err := d.store.CreateToken(ctx, c.Name, bench.TokenRole(c.Role))
		if err != nil {
			return err
		}
		fmt.Fprintln(s.out, token)
		return nil
	})
}

type tokenListCommand struct{ databaseFlags }

// Run prints one token a line.
func (c tokenListCommand) Run(ctx context.Context, s streams, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error {
		tokens, err := d.store.Tokens(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "name\trole\tcreated\tlast used\trevoked")
		for _, t := range tokens {
			used, revoked := "never", ""
			if t.LastUsed != nil {
				used = t.LastUsed.UTC().Format("2006-01-02 15:04 UTC")
			}
			if t.Revoked != nil {
				revoked = t.Revoked.UTC().Format("2006-01-02 15:04 UTC")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.Name, t.Role, t.Created.UTC().Format("2006-01-02 15:04 UTC"), used, revoked)
		}
		return w.Flush()
	})
}

type tokenRevokeCommand struct {
	databaseFlags
	Name string `arg:"" help:"Name of the token."`
}

// Run revokes the token.
func (c tokenRevokeCommand) Run(ctx context.Context, log *slog.Logger) error {
	return c.with(ctx, log, func(d *database) error { return d.store.RevokeToken(ctx, c.Name) })
}

// with opens the database with an up-to-date schema, for commands that use it
// for a moment.
func (f databaseFlags) with(ctx context.Context, log *slog.Logger, use func(*database) error) (err error) {
	d, err := f.open(ctx, log, localpg.Client, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(log)) }()
	if err := d.requireSchema(ctx, false); err != nil {
		return err
	}
	return use(d)
}
