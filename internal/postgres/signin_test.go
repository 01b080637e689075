package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestASignInCodeWorksOnce(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	code, err := s.CreateSignIn(t.Context(), "ann", bench.TokenAnnotator)
	if err != nil || len(code) < 40 {
		t.Fatalf("%q %v", code, err)
	}
	var stored string
	if err := pool.QueryRow(t.Context(), `SELECT encode(hash, 'escape') FROM sign_in`).Scan(&stored); err != nil || strings.Contains(stored, code) {
		t.Errorf("the code itself is stored: %v", err)
	}
	// Of many that try it at once one gets in.
	var wg sync.WaitGroup
	cookies := make([]string, 8)
	for i := range cookies {
		wg.Go(func() {
			c, _, err := s.RedeemSignIn(t.Context(), code)
			if err != nil && bench.KindOf(err) != bench.KindUnauthorized {
				t.Errorf("%v", err)
			}
			cookies[i] = c
		})
	}
	wg.Wait()
	var got []string
	for _, c := range cookies {
		if c != "" {
			got = append(got, c)
		}
	}
	if len(got) != 1 {
		t.Fatalf("%d sessions from one code", len(got))
	}
	who, err := s.Session(t.Context(), got[0])
	if err != nil || who.Name != "ann" || who.Role != bench.TokenAnnotator {
		t.Errorf("%+v %v", who, err)
	}
	// The token behind it is one, however many codes there are; its text is nobody's.
	if _, err := s.CreateSignIn(t.Context(), "ann", bench.TokenAdmin); err != nil {
		t.Fatal(err)
	}
	tokens, err := s.Tokens(t.Context())
	if err != nil || len(tokens) != 1 || tokens[0].Role != bench.TokenAnnotator {
		t.Errorf("%+v %v", tokens, err)
	}
}

func TestASignInCodeEnds(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	old, err := s.CreateSignIn(t.Context(), "ann", bench.TokenAnnotator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `UPDATE sign_in SET created = now() - interval '2 hours', expires = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.RedeemSignIn(t.Context(), old); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("an old code: %v", err)
	}
	code, err := s.CreateSignIn(t.Context(), "ann", bench.TokenAnnotator)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeToken(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.RedeemSignIn(t.Context(), code); bench.KindOf(err) != bench.KindUnauthorized {
		t.Errorf("the code of a revoked token: %v", err)
	}
	for _, bad := range []string{"", "x", strings.Repeat("A", 43)} {
		if _, _, err := s.RedeemSignIn(t.Context(), bad); bench.KindOf(err) != bench.KindUnauthorized {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := s.CreateSignIn(t.Context(), " ", bench.TokenAnnotator); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("without a name: %v", err)
	}
}
