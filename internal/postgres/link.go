package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/relqps/relqps/internal/bench"
)

// Codes of links: without vowels and look-alikes, so that they neither spell
// words nor are misread. Four characters give 5,308,416 codes; longer ones are
// taken when those get crowded.
const (
	codeLetters = "23456789BCDFGHJKLMNPQRSTVWXYZbcdfghjkmnpqrstvwxz"
	codeLength  = 4
	codeTries   = 6 // at each length
	maxLink     = 8_000
	maxSnapshot = 8 << 20
)

// CreateLink stores a link and gives it its code. A live link to an address that
// has one already is that one. The snapshot of a frozen link is kept compressed.
func (s *Store) CreateLink(ctx context.Context, l bench.Link) (bench.Link, error) {
	switch {
	case !strings.HasPrefix(l.URL, "/") || strings.HasPrefix(l.URL, "//") || strings.HasPrefix(l.URL, `/\`) || len(l.URL) > maxLink || strings.ContainsFunc(l.URL, func(r rune) bool { return r < ' ' }):
		return l, bench.Errorf(bench.KindInvalid, "a link is to an address of this site: /charts?… of at most %d bytes", maxLink)
	case l.Frozen != (l.Snapshot != nil):
		return l, bench.Errorf(bench.KindInvalid, "a frozen link has a snapshot, a live one has none")
	case len(l.Snapshot) > maxSnapshot:
		return l, bench.Errorf(bench.KindTooLarge, "the view holds %d MiB of figures, more than the %d MiB that a frozen link keeps", len(l.Snapshot)>>20, maxSnapshot>>20)
	}
	var packed []byte
	if l.Frozen {
		packed = s.zip.EncodeAll(l.Snapshot, nil)
	} else if known, err := s.liveLink(ctx, l.URL); err != nil || known.Code != "" {
		return known, err
	}
	for n := codeLength; ; {
		for range codeTries {
			l.Code = newCode(n)
			err := s.pool.QueryRow(ctx, `
				INSERT INTO link (code, url, frozen, author, snapshot) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (code) DO NOTHING
				RETURNING created`, l.Code, l.URL, l.Frozen, l.Author, packed).Scan(&l.Created)
			var pg *pgconn.PgError
			switch {
			case err == nil:
				return l, nil
			case errors.Is(err, pgx.ErrNoRows): // the code is taken
			case errors.As(err, &pg) && pg.ConstraintName == "link_live_url": // somebody was faster
				return s.liveLink(ctx, l.URL)
			default:
				return l, translate("create link", err)
			}
		}
		n++
	}
}

func (s *Store) liveLink(ctx context.Context, url string) (l bench.Link, err error) {
	err = s.pool.QueryRow(ctx, `SELECT code, url, author, created FROM link WHERE NOT frozen AND md5(url) = md5($1) AND url = $1`, url).
		Scan(&l.Code, &l.URL, &l.Author, &l.Created)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, nil
	}
	return l, translate("link", err)
}

func newCode(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never fails, crypto/rand says
	for i := range raw {
		// 256 is no multiple of 48; the bias towards 16 letters costs nothing here.
		raw[i] = codeLetters[int(raw[i])%len(codeLetters)]
	}
	return string(raw)
}

// Link gives the link of a code with its snapshot; of kind not found when there
// is none.
func (s *Store) Link(ctx context.Context, code string) (bench.Link, error) {
	l := bench.Link{Code: code}
	var packed []byte
	err := s.pool.QueryRow(ctx, `SELECT url, frozen, author, created, snapshot FROM link WHERE code = $1`, code).
		Scan(&l.URL, &l.Frozen, &l.Author, &l.Created, &packed)
	if errors.Is(err, pgx.ErrNoRows) {
		return l, bench.Errorf(bench.KindNotFound, "there is no link %q", code)
	}
	if err != nil {
		return l, translate("link", err)
	}
	if l.Frozen {
		if l.Snapshot, err = s.unzip.DecodeAll(packed, nil); err != nil {
			return l, translate("link", err)
		}
	}
	return l, nil
}
