package bench

import (
	"regexp"
	"strconv"
	"strings"
)

// UnknownVersion is how a version that nobody stated is written. It sorts last
// and is never guessed from neighbours.
const UnknownVersion = ""

var (
	versionRe = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(.*)$`)
	preRe     = regexp.MustCompile(`^[-._]?(alpha|beta|pre|preview|rc)[-._]?(\d*)$`)
	branchRe  = regexp.MustCompile(`^\.fb(.*)$`)
	packageRe = regexp.MustCompile(`^-(\d+)(.*)$`)
)

// VersionKey gives a text whose byte order is the order of versions:
//
//	8.2 < 8.9 < 8.10-rc1 < 8.10 < 8.10.0 < 8.10.1 < 8.10.fb < 8.11 < … < main < unknown
//
// Numbers compare as numbers; a pre-release (alpha, beta, pre, rc) sorts before
// its final; a package revision (7.0.2-2) after its release; x.y.fb is the tip
// of branch x.y and so follows every x.y.z; names without a number follow the
// numbered ones, then main, master, dev and HEAD, then unknown. Two spellings
// that mean the same release (v8.1.0 and 8.1.0) give the same key.
func VersionKey(version string) string {
	if key, ok := plainKey(version); ok {
		return key
	}
	v := strings.ToLower(strings.TrimSpace(version))
	switch v {
	case "", "unknown":
		return "9"
	case "main", "master", "dev", "head", "trunk":
		return "8"
	}
	m := versionRe.FindStringSubmatch(v)
	if m == nil {
		return "7" + v
	}
	var b strings.Builder
	b.WriteByte('1')
	for i, n := range strings.Split(m[1], ".") {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(padNumber(n))
	}
	rest := m[2]
	// The byte after the numbers decides: '!' (pre-release) < '#' (final) <
	// '.' (a further number) < '~' (the tip of the branch).
	switch {
	case rest == "":
		b.WriteByte('#')
	case preRe.MatchString(rest):
		p := preRe.FindStringSubmatch(rest)
		b.WriteString("!" + p[1] + padNumber(p[2]))
	case branchRe.MatchString(rest):
		b.WriteString("~" + branchRe.FindStringSubmatch(rest)[1])
	case packageRe.MatchString(rest):
		p := packageRe.FindStringSubmatch(rest)
		b.WriteString("#-" + padNumber(p[1]) + p[2])
	default:
		b.WriteString("#~" + rest)
	}
	return b.String()
}

// plainKey is VersionKey of a version that is made of numbers and dots alone, as
// nearly all are, without regular expressions: pages compare versions often. ok is
// false for any other.
func plainKey(version string) (key string, ok bool) {
	digits := 0 // of the number that is being read
	for i := range len(version) {
		switch c := version[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && digits > 0:
			digits = 0
		default:
			return "", false
		}
	}
	if digits == 0 {
		return "", false
	}
	b := make([]byte, 0, 2*len(version)+2)
	b = append(b, '1')
	for i := 0; i < len(version); {
		end := i
		for end < len(version) && version[end] != '.' {
			end++
		}
		for i < end && version[i] == '0' {
			i++
		}
		b = append(b, byte('a'+min(end-i, 25)))
		b = append(b, version[i:end]...)
		if end < len(version) {
			b = append(b, '.')
		}
		i = end + 1
	}
	return string(append(b, '#')), true
}

// padNumber prefixes the digits with their count, so that text order is number
// order for any length without a fixed width.
func padNumber(digits string) string {
	digits = strings.TrimLeft(digits, "0")
	return string(rune('a'+min(len(digits), 25))) + digits
}

// VersionName gives a version as we write it: without space around it and
// without the v of a tag (v8.1.0 is 8.1.0).
func VersionName(version string) string {
	v := strings.TrimSpace(version)
	if len(v) > 1 && (v[0] == 'v' || v[0] == 'V') && v[1] >= '0' && v[1] <= '9' {
		return v[1:]
	}
	return v
}

// CompareVersions orders versions as [VersionKey] does: negative when a comes
// before b, 0 when they mean the same release.
func CompareVersions(a, b string) int {
	return strings.Compare(VersionKey(a), VersionKey(b))
}

// Major gives the first number of a version and whether it has one.
func Major(version string) (int, bool) {
	m := versionRe.FindStringSubmatch(strings.TrimSpace(version))
	if m == nil {
		return 0, false
	}
	first, _, _ := strings.Cut(m[1], ".")
	n, err := strconv.Atoi(first)
	return n, err == nil
}

// Minor gives the first two numbers of a version as written (6.29 of 6.29.5)
// and whether it has two.
func Minor(version string) (string, bool) {
	m := versionRe.FindStringSubmatch(strings.TrimSpace(version))
	if m == nil {
		return "", false
	}
	parts := strings.Split(m[1], ".")
	if len(parts) < 2 {
		return "", false
	}
	return parts[0] + "." + parts[1], true
}

// VersionWithin reports whether the exact version could be the release that
// the less exact name means: a build directory 6.29 or 6.29.fb holds 6.29.5.
func VersionWithin(exact, name string) bool {
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "v")
	exact = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(exact)), "v")
	name = strings.TrimSuffix(name, ".fb")
	return exact == name || strings.HasPrefix(exact, name+".") || strings.HasPrefix(exact, name+"-")
}
