package bench

import "time"

// TokenRole says what the holder of a token may do. Each role may do what those
// before it may: reader, annotator, runner, admin.
type TokenRole string

// The roles of tokens.
const (
	TokenReader    TokenRole = "reader"    // read, where reading is not public
	TokenAnnotator TokenRole = "annotator" // write notes
	TokenRunner    TokenRole = "runner"    // upload results
	TokenAdmin     TokenRole = "admin"     // correct and withdraw, manage tokens
)

var tokenRanks = map[TokenRole]int{TokenReader: 1, TokenAnnotator: 2, TokenRunner: 3, TokenAdmin: 4}

// Valid reports whether the role is one of the four.
func (r TokenRole) Valid() bool { return tokenRanks[r] > 0 }

// Allows reports whether a holder of r may do what needs the given role. An
// unknown role allows nothing and is never enough.
func (r TokenRole) Allows(needed TokenRole) bool {
	return r.Valid() && needed.Valid() && tokenRanks[r] >= tokenRanks[needed]
}

// Token is what is known about a token; the token itself is not stored.
type Token struct {
	ID       int64
	Name     string
	Role     TokenRole
	Created  time.Time
	LastUsed *time.Time // to the minute; nil: never
	Revoked  *time.Time // nil: valid
}
