//go:build unix

package pgtest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// withDatabase gives a database URL with another database in it. It takes both
// forms that pgx reads: a URL, and keywords with values.
func withDatabase(connection, database string) (string, error) {
	if !strings.HasPrefix(connection, "postgres://") && !strings.HasPrefix(connection, "postgresql://") {
		// The last of several settings of a keyword counts.
		return strings.TrimSpace(connection + " dbname=" + database), nil
	}
	u, err := url.Parse(connection)
	if err != nil {
		return "", fmt.Errorf("%s is not a URL", EnvURL) // err would print its password
	}
	u.Path = "/" + database
	// The other settings stay as they are: net/url and libpq disagree on what a
	// plus sign means.
	settings := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(s string) bool {
		return strings.HasPrefix(s, "dbname=") || strings.HasPrefix(s, "database=")
	})
	u.RawQuery = strings.Join(settings, "&")
	return u.String(), nil
}
