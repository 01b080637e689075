package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/relqps/relqps/internal/bench"
)

// signInTime is how long an address that signs in once is good for.
const signInTime = time.Hour

// CreateSignIn gives a code that signs a browser in once, within an hour, under
// the name of a token. Where no valid token has the name, one is made whose text
// nobody learns; an existing one keeps its role.
func (s *Store) CreateSignIn(ctx context.Context, name string, role bench.TokenRole) (code string, err error) {
	name = strings.TrimSpace(name)
	if name == "" || !role.Valid() {
		return "", bench.Errorf(bench.KindInvalid, "a sign-in needs a name and a role")
	}
	code, hash := newSecret()
	_, unknown := newSecret()
	err = s.update(ctx, "create sign-in", func(tx pgx.Tx) error {
		if err := lock(ctx, tx, []string{"relqps token " + name}); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sign_in WHERE expires < now()`); err != nil {
			return err
		}
		var token int64
		err := tx.QueryRow(ctx, `SELECT id FROM token WHERE name = $1 AND revoked IS NULL`, name).Scan(&token)
		if errors.Is(err, pgx.ErrNoRows) {
			err = tx.QueryRow(ctx, `INSERT INTO token (name, role, hash) VALUES ($1, $2, $3) RETURNING id`, name, string(role), unknown).Scan(&token)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO sign_in (hash, token_id, expires) VALUES ($1, $2, $3)`, hash, token, time.Now().Add(signInTime))
		return err
	})
	return code, err
}

// RedeemSignIn signs a browser in with a code of [Store.CreateSignIn], which is
// used up by that. One that is unknown, used or too old, or whose token was
// revoked, is an error of kind unauthorized.
func (s *Store) RedeemSignIn(ctx context.Context, code string) (cookie string, expires time.Time, err error) {
	used := sha256.Sum256([]byte(code))
	cookie, hash := newSecret()
	expires = time.Now().Add(sessionTime).UTC().Truncate(time.Second)
	err = s.update(ctx, "redeem sign-in", func(tx pgx.Tx) error {
		var token int64
		err := tx.QueryRow(ctx, `
			DELETE FROM sign_in USING token t
			WHERE sign_in.hash = $1 AND sign_in.expires > now() AND t.id = sign_in.token_id AND t.revoked IS NULL
			RETURNING t.id`, used[:]).Scan(&token)
		if errors.Is(err, pgx.ErrNoRows) {
			return bench.Errorf(bench.KindUnauthorized, "this address was used, or is too old")
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO session (hash, token_id, expires) VALUES ($1, $2, $3)`, hash, token, expires)
		return err
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return cookie, expires, nil
}

// newSecret makes 256 random bits as text, and their SHA-256.
func newSecret() (text string, hash []byte) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails, crypto/rand says
	text = base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(text))
	return text, sum[:]
}
