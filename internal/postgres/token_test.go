package postgres_test

import (
	"crypto/sha256"
	"regexp"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	secret, made, err := s.CreateToken(t.Context(), " ci ", bench.TokenRunner)
	if err != nil {
		t.Fatal(err)
	}
	// 32 bytes are 43 characters of base64 without padding.
	if !regexp.MustCompile(`^rq_[A-Za-z0-9_-]{43}$`).MatchString(secret) || made.Name != "ci" {
		t.Errorf("token %q of %+v", secret, made)
	}
	other, _, err := s.CreateToken(t.Context(), "me", bench.TokenAdmin)
	if err != nil || other == secret {
		t.Fatalf("a second token is the first, or: %v", err)
	}
	for name, role := range map[string]bench.TokenRole{"ci": bench.TokenReader, "": bench.TokenReader, "x": "root"} {
		_, _, err := s.CreateToken(t.Context(), name, role)
		want := bench.KindInvalid
		if name == "ci" {
			want = bench.KindConflict
		}
		if bench.KindOf(err) != want {
			t.Errorf("creating %q as %q: %v, want %s", name, role, err, want)
		}
	}
	var plain bool
	hash := sha256.Sum256([]byte(secret))
	if err := pool.QueryRow(t.Context(), `SELECT bool_or(token::text LIKE '%' || $1 || '%') FROM token WHERE hash = $2`, secret[3:], hash[:]).Scan(&plain); err != nil || plain {
		t.Errorf("the token itself is stored, or not under its hash: %v", err)
	}

	for range 2 {
		got, err := s.Authenticate(t.Context(), secret)
		if err != nil || got.Name != "ci" || got.Role != bench.TokenRunner || got.ID != made.ID {
			t.Errorf("authenticated %+v, %v", got, err)
		}
	}
	for _, bad := range []string{"", "rq_", secret + "x", secret[3:], "rq_" + other[3:20]} {
		if _, err := s.Authenticate(t.Context(), bad); bench.KindOf(err) != bench.KindUnauthorized {
			t.Errorf("%q: %v, want unauthorized", bad, err)
		}
	}
	list, err := s.Tokens(t.Context())
	if err != nil || len(list) != 2 || list[0].LastUsed == nil || list[1].LastUsed != nil {
		t.Fatalf("tokens %+v, %v: want two, the first one used", list, err)
	}
	if list[0].LastUsed.Second() != 0 {
		t.Errorf("last used %v, want whole minutes", list[0].LastUsed)
	}

	if err := s.RevokeToken(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), secret); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("revoked: %v, want unauthorized", err)
	}
	if err := s.RevokeToken(t.Context(), "ci"); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("revoked twice: %v, want not found", err)
	}
	if _, _, err := s.CreateToken(t.Context(), "ci", bench.TokenReader); err != nil {
		t.Errorf("the name is not free again: %v", err)
	}
	if list, err = s.Tokens(t.Context()); err != nil || len(list) != 3 || list[0].Revoked == nil {
		t.Errorf("tokens %+v, %v", list, err)
	}
}
