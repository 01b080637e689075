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
	SystemNeard   = "neard"
	SystemFIO     = "fio" // of fio's runs that belong to no other system's study

	SuiteDBBench   = "db_bench"
	SuiteIBench    = "ibench"
	SuiteStatePerf = "state-perf" // neard database state-perf
	SuiteFIO       = "fio"
	SuiteGoogle    = "google-benchmark"
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

// stepInfo is what is known of steps, each suite's in the order they run:
// db_bench's in benchmark.sh's sequence.
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
	// The Insert Benchmark; its query steps are not listed, see [queryStep].
	{"l.i0", "", "load", RoleMeasure},
	{"l.x", "", "index", RoleMeasure},
	{"l.i1", "", "insert", RoleMeasure},
	{"l.i2", "", "insert", RoleMeasure},
}

// ibenchQueryRe is the grammar of the names that files and directories of the
// Insert Benchmark give its query steps: q.L2.ips500 and q500.1 (the same step,
// by place and by turn), qr500.L3 (range queries), qp500.L4 (point queries).
var ibenchQueryRe = regexp.MustCompile(`^(?:q\.L\d{1,4}\.ips(\d{1,9})|q(\d{1,9})(?:\.\d{1,4})?|q([rp]\d{1,9})(?:\.L\d{1,4})?)$`)

// IBenchStep gives the step that a name of the Insert Benchmark's files and
// directories stands for; ok is false for a name that is none. Query steps are
// named by kind and rate of the inserts beside them: q500, qr500, qp500.
func IBenchStep(name string) (step string, ok bool) {
	switch name {
	case "l.i0", "l.x", "l.i1", "l.i2":
		return name, true
	}
	m := ibenchQueryRe.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return "q" + m[1] + m[2] + m[3], true
}

// queryStep reads the name of a query step of the Insert Benchmark: kind is 0
// for q, 1 for qr, 2 for qp.
func queryStep(step string) (rate, kind int, ok bool) {
	rest, found := strings.CutPrefix(step, "q")
	if !found || rest == "" {
		return 0, 0, false
	}
	switch rest[0] {
	case 'r':
		rest, kind = rest[1:], 1
	case 'p':
		rest, kind = rest[1:], 2
	}
	if len(rest) > 9 {
		return 0, 0, false
	}
	for i := 0; i < len(rest); i++ {
		if rest[i] < '0' || rest[i] > '9' {
			return 0, 0, false
		}
	}
	rate, err := strconv.Atoi(rest)
	return rate, kind, err == nil
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

// StepGroup gives the heading under which pages list a step, one of
// [StepGroups].
func StepGroup(step string) string {
	for _, s := range stepInfo {
		if s.name == step {
			return s.group
		}
	}
	if _, _, ok := queryStep(step); ok {
		return "query while inserting"
	}
	return "other"
}

// StepGroups lists the groups in the order pages show them.
func StepGroups() []string {
	return []string{"load", "point read", "range read", "read while writing", "write", "index", "insert", "query while inserting", "other"}
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

// CompareSteps orders steps by group, then in the order they run, then by name.
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
		if rate, kind, ok := queryStep(step); ok {
			place += 3*rate + kind
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
