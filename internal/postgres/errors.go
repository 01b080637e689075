package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relqps/relqps/internal/bench"
)

// SQLSTATE codes, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	serializationFailure   = "40001"
	deadlockDetected       = "40P01"
	invalidByteSequence    = "22021"
	untranslatableChar     = "22P05"
	programLimitExceeded   = "54000"
	tooManyConnections     = "53300"
	readOnlyTransaction    = "25006"
	classConnection        = "08"
	classOperatorIntervene = "57P"
)

// translate names the operation in an error and turns those that a person can
// act on into a [bench.Error].
func translate(op string, err error) error {
	if err == nil {
		return nil
	}
	var known *bench.Error
	if errors.As(err, &known) {
		return err
	}
	cause := fmt.Errorf("postgres: %s: %w", op, err)
	var connect *pgconn.ConnectError // also holds the deadline of connect_timeout, which is not the caller's
	if !errors.As(err, &connect) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return cause
	}
	if away(err) {
		return &bench.Error{Kind: bench.KindUnavailable, Message: "the database cannot be reached", Err: cause}
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case invalidByteSequence, untranslatableChar:
			return &bench.Error{Kind: bench.KindInvalid, Message: "a name holds characters that are not text", Err: cause}
		case programLimitExceeded:
			return &bench.Error{Kind: bench.KindInvalid, Message: "a name is too long", Err: cause}
		}
	}
	return cause
}

// away reports whether the database refused or lost the connection.
func away(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return strings.HasPrefix(pg.Code, classConnection) || strings.HasPrefix(pg.Code, classOperatorIntervene) ||
			pg.Code == tooManyConnections || pg.Code == readOnlyTransaction
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err)
}

// errMoved ends a transaction that finds, with its locks taken, that a run went
// to a server that it did not lock.
var errMoved = errors.New("a run was moved to another server meanwhile")

// gaveWay reports whether a transaction was ended in favour of another one.
func gaveWay(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, errMoved) || errors.As(err, &pg) && (pg.Code == deadlockDetected || pg.Code == serializationFailure)
}

// text makes a string that Postgres takes: valid UTF-8 without NUL. The bytes
// themselves are kept with the upload.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
