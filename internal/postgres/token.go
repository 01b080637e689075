package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relqps/relqps/internal/bench"
)

// tokenPrefix lets people and scanners of secrets tell what they have found.
const tokenPrefix = "rq_"

// CreateToken makes a token of 256 random bits. It is returned once; the store
// keeps its SHA-256. A name that a valid token has is an error of kind conflict.
func (s *Store) CreateToken(ctx context.Context, name string, role bench.TokenRole) (string, bench.Token, error) {
	t := bench.Token{Name: strings.TrimSpace(name), Role: role}
	if t.Name == "" {
		return "", bench.Token{}, bench.Errorf(bench.KindInvalid, "a token needs a name")
	}
	if !role.Valid() {
		return "", bench.Token{}, bench.Errorf(bench.KindInvalid, "a token's role is reader, annotator, runner or admin, not %q", role)
	}
	var secret [32]byte
	rand.Read(secret[:]) // never fails, crypto/rand says
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	hash := sha256.Sum256([]byte(token))
	err := s.pool.QueryRow(ctx, `INSERT INTO token (name, role, hash) VALUES ($1, $2, $3) RETURNING id, created`,
		t.Name, string(role), hash[:]).Scan(&t.ID, &t.Created)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "token_name_live" {
		return "", bench.Token{}, bench.Errorf(bench.KindConflict, "there is a valid token named %q: revoke it first", t.Name)
	}
	if err != nil {
		return "", bench.Token{}, translate("create token", err)
	}
	return token, t, nil
}

// Authenticate finds the holder of a token. One that is unknown or revoked is an
// error of kind unauthorized.
func (s *Store) Authenticate(ctx context.Context, token string) (bench.Token, error) {
	var t bench.Token
	hash := sha256.Sum256([]byte(token))
	err := s.pool.QueryRow(ctx, `
		WITH used AS (
			UPDATE token SET last_used = date_trunc('minute', now())
			WHERE hash = $1 AND revoked IS NULL AND (last_used IS NULL OR last_used < date_trunc('minute', now())))
		SELECT id, name, role, created, last_used FROM token WHERE hash = $1 AND revoked IS NULL`, hash[:]).
		Scan(&t.ID, &t.Name, &t.Role, &t.Created, &t.LastUsed)
	if errors.Is(err, pgx.ErrNoRows) {
		return bench.Token{}, bench.Errorf(bench.KindUnauthorized, "this token is not known, or was revoked")
	}
	return t, translate("authenticate", err)
}

// RevokeToken makes the valid token of a name invalid for good; an error of kind
// not found when there is none.
func (s *Store) RevokeToken(ctx context.Context, name string) error {
	tag, err := s.pool.Exec(ctx, `UPDATE token SET revoked = now() WHERE name = $1 AND revoked IS NULL`, strings.TrimSpace(name))
	if err != nil {
		return translate("revoke token", err)
	}
	if tag.RowsAffected() == 0 {
		return bench.Errorf(bench.KindNotFound, "there is no valid token named %q", name)
	}
	return nil
}

// Tokens lists all tokens, revoked ones included, the oldest first.
func (s *Store) Tokens(ctx context.Context) ([]bench.Token, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, name, role, created, last_used, revoked FROM token ORDER BY id`)
	tokens, err := pgx.CollectRows(rows, pgx.RowToStructByPos[bench.Token])
	return tokens, translate("tokens", err)
}
