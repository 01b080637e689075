package bench

// NameKind says what a name is of.
type NameKind string

// The kinds of names that can change.
const (
	NameServer   NameKind = "server"
	NameWorkload NameKind = "workload"
	NameConfig   NameKind = "config"
)

// Valid reports whether the kind is one of the three.
func (k NameKind) Valid() bool { return k == NameServer || k == NameWorkload || k == NameConfig }

// FormerName is a name that something had before it was renamed. Addresses with
// it keep working.
type FormerName struct {
	Kind NameKind
	Old  string
	New  string // what it is called now
}
