package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// sessionTime is how long a browser stays signed in.
const sessionTime = 30 * 24 * time.Hour

// CreateSession signs a browser in with a token and gives the value of its
// cookie and when that expires. An unknown or revoked token is an error of kind
// unauthorized.
func (s *Store) CreateSession(ctx context.Context, token string) (cookie string, expires time.Time, err error) {
	t, err := s.Authenticate(ctx, token)
	if err != nil {
		return "", expires, err
	}
	var secret [32]byte
	rand.Read(secret[:]) // never fails, crypto/rand says
	cookie = base64.RawURLEncoding.EncodeToString(secret[:])
	hash := sha256.Sum256([]byte(cookie))
	expires = time.Now().Add(sessionTime).UTC().Truncate(time.Second)
	err = s.update(ctx, "create session", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM session WHERE expires < now()`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO session (hash, token_id, expires) VALUES ($1, $2, $3)`, hash[:], t.ID, expires)
		return err
	})
	return cookie, expires, err
}

// Session gives the token that a browser's cookie stands for. One that expired,
// ended or whose token was revoked is an error of kind unauthorized.
func (s *Store) Session(ctx context.Context, cookie string) (bench.Token, error) {
	var t bench.Token
	hash := sha256.Sum256([]byte(cookie))
	err := s.pool.QueryRow(ctx, `
		SELECT t.id, t.name, t.role, t.created, t.last_used
		FROM session s JOIN token t ON t.id = s.token_id
		WHERE s.hash = $1 AND s.expires > now() AND t.revoked IS NULL`, hash[:]).
		Scan(&t.ID, &t.Name, &t.Role, &t.Created, &t.LastUsed)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, bench.Errorf(bench.KindUnauthorized, "signed out: sign in again")
	}
	return t, translate("session", err)
}

// EndSession signs a browser out; one that is signed out already is no error.
func (s *Store) EndSession(ctx context.Context, cookie string) error {
	hash := sha256.Sum256([]byte(cookie))
	_, err := s.pool.Exec(ctx, `DELETE FROM session WHERE hash = $1`, hash[:])
	return translate("end session", err)
}
