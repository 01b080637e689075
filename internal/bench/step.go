package bench

import (
	"regexp"
	"strconv"
	"strings"
)

// Names of the systems and suites that the readers know.
const (
	SystemRocksDB = "rocksdb"
	SystemMyRocks = "myrocks"

	SuiteDBBench = "db_bench"
	SuiteIBench  = "ibench"
)

// Role says what a step is for.
type Role string

// The roles of steps.
const (
	RoleMeasure Role = "measure"
	RolePrepare Role = "prepare" // stored and shown, left out of detection and default charts
)

// Step is one benchmark step: the suite's own name without suffixes, which are
// attributes. Zero Threads and ValueBytes and nil Sync and WAL mean not stated.
type Step struct {
	Name       string
	Threads    int
	Sync       *bool
	WAL        *bool
	ValueBytes int
}

// testNameRe is the grammar of benchmark.sh's test names:
// step[.wal_{disabled|enabled}][.v<value bytes>][.t<threads>][.s<sync 0|1>].
var testNameRe = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*?)(?:\.wal_(disabled|enabled))?(?:\.v(\d+))?(?:\.t(\d+))?(?:\.s([01]))?$`)

// ParseStep reads a test name of benchmark.sh such as
// fillseq.wal_disabled.v400, readrandom.t8 or overwriteandwait.t8.s0. A name
// that does not follow the grammar is kept whole as the step's name.
func ParseStep(test string) Step {
	test = strings.TrimSpace(test)
	m := testNameRe.FindStringSubmatch(test)
	if m == nil {
		return Step{Name: test}
	}
	s := Step{Name: m[1]}
	if m[2] != "" {
		on := m[2] == "enabled"
		s.WAL = &on
	}
	s.ValueBytes = digits(m[3])
	s.Threads = digits(m[4])
	if m[5] != "" {
		on := m[5] == "1"
		s.Sync = &on
	}
	if s.Name == "flush_mt_l0" {
		s.Name = "flush"
	}
	return s
}

// digits gives the number that the grammar found, 0 (not stated) for none and
// for one that no run can have had.
func digits(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// stepInfo is what is known of db_bench's steps (benchmark.sh's sequence).
var stepInfo = []struct {
	name, short, group string
	role               Role
}{
	{"bulkload", "", "load", RoleMeasure},
	{"fillseq", "", "load", RoleMeasure},
	{"fillrandom", "", "load", RoleMeasure},
	{"filluniquerandom", "", "load", RoleMeasure},
	{"readrandom", "", "point read", RoleMeasure},
	{"multireadrandom", "", "point read", RoleMeasure},
	{"revrange", "", "range read", RolePrepare},
	{"fwdrange", "", "range read", RoleMeasure},
	{"overwritesome", "", "write", RolePrepare},
	{"flush", "", "write", RolePrepare},
	{"revrangewhilewriting", "revrangeww", "read while writing", RoleMeasure},
	{"fwdrangewhilewriting", "fwdrangeww", "read while writing", RoleMeasure},
	{"readwhilewriting", "readww", "read while writing", RoleMeasure},
	{"overwrite", "", "write", RoleMeasure},
	{"overwriteandwait", "", "write", RoleMeasure},
	{"updaterandom", "", "write", RoleMeasure},
	{"mergerandom", "", "write", RoleMeasure},
}

// StepRole gives a step's role: revrange, overwritesome and flush prepare the
// database for what follows, all others measure.
func StepRole(suite, step string) Role {
	if suite == SuiteDBBench {
		for _, s := range stepInfo {
			if s.name == step {
				return s.role
			}
		}
	}
	return RoleMeasure
}

// StepGroup gives the heading under which pages list a step: load, point read,
// range read, read while writing, write, or other.
func StepGroup(step string) string {
	for _, s := range stepInfo {
		if s.name == step {
			return s.group
		}
	}
	return "other"
}

// StepGroups lists the groups in the order pages show them.
func StepGroups() []string {
	return []string{"load", "point read", "range read", "read while writing", "write", "other"}
}

// ShortStep gives the name that published charts use where space is short
// (revrangeww), the step's own name where there is none.
func ShortStep(step string) string {
	for _, s := range stepInfo {
		if s.name == step && s.short != "" {
			return s.short
		}
	}
	return step
}

// CompareSteps orders steps by group, then by their place in benchmark.sh's
// sequence, then by name.
func CompareSteps(a, b string) int {
	rank := func(step string) (group, place int) {
		g := StepGroup(step)
		for i, x := range StepGroups() {
			if x == g {
				group = i
			}
		}
		place = len(stepInfo)
		for i, s := range stepInfo {
			if s.name == step {
				place = i
			}
		}
		return group, place
	}
	ga, pa := rank(a)
	gb, pb := rank(b)
	if ga != gb {
		return ga - gb
	}
	if pa != pb {
		return pa - pb
	}
	return strings.Compare(a, b)
}

// StepFamily gives the step whose line a step belongs to on published charts:
// overwrite (run up to RocksDB 6.18) and overwriteandwait (from 6.19) are two
// steps shown as one line named overwriteandwait. Any other step is its own
// family.
func StepFamily(step string) string {
	if step == "overwrite" {
		return "overwriteandwait"
	}
	return step
}

// FamilyMembers gives the steps of a family, oldest first; for a step without
// relatives the step alone.
func FamilyMembers(family string) []string {
	if family == "overwriteandwait" {
		return []string{"overwrite", "overwriteandwait"}
	}
	return []string{family}
}
