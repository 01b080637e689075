package bench

import "testing"

func TestRolesOfTokens(t *testing.T) {
	t.Parallel()
	roles := []TokenRole{TokenReader, TokenAnnotator, TokenRunner, TokenAdmin}
	for i, has := range roles {
		if !has.Valid() {
			t.Errorf("%s is no role", has)
		}
		for j, needed := range roles {
			if got := has.Allows(needed); got != (i >= j) {
				t.Errorf("%s allows what needs %s: %v", has, needed, got)
			}
		}
		if has.Allows("root") || has.Allows("") {
			t.Errorf("%s allows what needs an unknown role", has)
		}
	}
	for _, r := range []TokenRole{"", "root", "Admin"} {
		if r.Valid() || r.Allows(TokenReader) {
			t.Errorf("%q is a role", r)
		}
	}
}
