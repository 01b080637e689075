package ingest

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// The Insert Benchmark (iibench.py with its scripts) says what was measured in
// names alone:
//
//	tag          [<rows>m.]<dbms>.<cnf>
//	dbms         <product><version>[_<build type>][_<date>_<git hash>][_hack]
//	cnf          what follows my.cnf. in the configuration file's name:
//	             <config>[_<small cache>]_<server>
//	report       <yy_mm_dd>.<server>.<engine>.<N>u.1t<no|yes>.<cached|1g|4g|io>
//	run          a directory named like a tag, with a directory per step
//
// 20m.fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a1_bee is MyRocks of FB
// MySQL 8.0.28, built as rel_native_lto from git ef5b9b101 and patched, with the
// config a1 on the server bee, after loading 20 million rows. The engine is never
// guessed: my… is mysql, whatever stores its tables.

// ibenchTag is a tag taken apart.
type ibenchTag struct {
	rows    string // 20m, "" where reports took it off
	dbms    string
	cnf     string
	context bench.Context // system, version, config, server as far as the tag says
	build   bench.Build   // without version
	date    string        // of the source: jun23
	rocksdb string        // release of RocksDB as it stands: 752
}

var (
	ibenchRowsRe    = regexp.MustCompile(`^\d{1,6}m$`)
	ibenchProductRe = regexp.MustCompile(`^(fbmy|my|ma|pg|rx|in)(\d{2,8})(?:(beta|rc)(\d{1,2}))?$`)
	ibenchWordRe    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+-]*$`)
	ibenchCnfRe     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	ibenchDateRe    = regexp.MustCompile(`^(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\d{2}(?:\d{2})?|\d{6})$`)
	ibenchHashRe    = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	ibenchRocksRe   = regexp.MustCompile(`^\d{2,4}$`)
	// Of the configs a0 to a7 the base stands as cy10a and as cy10a0.
	ibenchConfigRe = regexp.MustCompile(`^cy10a([0-9][0-9a-z]*)?$`)
	ibenchCacheRe  = regexp.MustCompile(`^\d+g$`)
	ibenchServerRe = regexp.MustCompile(`_(bee\d*|u|gcp_[a-z0-9]+|c\d+r\d+)$`)
	ibenchReportRe = regexp.MustCompile(`^(\d{2}_\d{2}_\d{2})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_]+)\.(\d{1,5})u\.1t(yes|no)\.(cached|1g|4g|io)$`)
)

// parseIBenchTag reads a tag; ok is false for text that is none.
func parseIBenchTag(text string) (tag ibenchTag, ok bool) {
	rest := text
	if first, after, found := strings.Cut(rest, "."); found && ibenchRowsRe.MatchString(first) {
		tag.rows, rest = first, after
	}
	tag.dbms, tag.cnf, ok = strings.Cut(rest, ".")
	// Some configs have a dot in their name (cx6d.badcnf), no dbms has.
	if !ok || len(text) > 200 || !ibenchWordRe.MatchString(tag.dbms) || !ibenchCnfRe.MatchString(tag.cnf) {
		return ibenchTag{}, false
	}
	tag.readDBMS()
	tag.context.Suite = bench.SuiteIBench
	tag.context.Config, tag.context.Server = ibenchConfig(tag.cnf)
	return tag, true
}

// name gives the tag without the number of rows, which some tables have and
// others have not.
func (t *ibenchTag) name() string { return t.dbms + "." + t.cnf }

// readDBMS takes the name of the database system apart. What it does not know
// stays part of the build's flags.
func (t *ibenchTag) readDBMS() {
	words := strings.Split(t.dbms, "_")
	t.context.System, t.context.Version = ibenchSystem(words[0])
	var flags []string
	for i, w := range words[1:] {
		switch {
		case ibenchDateRe.MatchString(w):
			t.date = w
		case t.build.GitHash == "" && i > 0 && ibenchHashRe.MatchString(w):
			t.build.GitHash = w
		case t.build.GitHash != "" && t.rocksdb == "" && ibenchRocksRe.MatchString(w):
			t.rocksdb = w
		case w != "":
			flags = append(flags, w)
		}
	}
	t.build.Flags = strings.Join(flags, "_")
}

// ibenchSystem reads product and version: fbmy8028 is 8.0.28 of myrocks, pg131
// is 13.1 of postgres. "" is what the word does not say.
func ibenchSystem(word string) (system, version string) {
	m := ibenchProductRe.FindStringSubmatch(word)
	if m == nil {
		return "", ""
	}
	digits := m[2]
	// The last of the numbers takes what is left; it may have leading zeros.
	split := func(widths ...int) string {
		var parts []string
		for _, w := range widths {
			if len(digits) <= w {
				break
			}
			parts = append(parts, trimZeros(digits[:w]))
			digits = digits[w:]
		}
		return strings.Join(append(parts, trimZeros(digits)), ".")
	}
	switch m[1] {
	case "fbmy", "rx":
		system, version = bench.SystemMyRocks, split(1, 1)
	case "my", "in":
		system, version = "mysql", split(1, 1)
	case "pg":
		system = "postgres"
		switch {
		case digits[0] == '9':
			version = split(1, 1) // 9.6.24, before two numbers were enough
		case m[3] != "":
			version = digits + m[3] + m[4] // 17beta1
		default:
			version = split(2)
		}
	case "ma":
		system = "mariadb"
		if len(digits) == 6 {
			version = split(2, 2)
		}
	}
	return system, version
}

func trimZeros(digits string) string {
	if t := strings.TrimLeft(digits, "0"); t != "" {
		return t
	}
	return "0"
}

// ibenchConfig gives config and server of the name of a configuration file
// without its my.cnf: cy10a1_bee is a1 on bee, cy10a_1g_bee is a0 with a small
// block cache, which the workload tells. Other families keep their name.
func ibenchConfig(cnf string) (config, server string) {
	name := cnf
	if m := ibenchServerRe.FindStringSubmatch(name); m != nil {
		server, name = m[1], strings.TrimSuffix(name, m[0])
	}
	words := strings.Split(name, "_")
	if n := len(words); n > 1 && ibenchCacheRe.MatchString(words[n-1]) {
		words = words[:n-1]
	}
	if m := ibenchConfigRe.FindStringSubmatch(words[0]); m != nil {
		words[0] = "a" + m[1]
		if m[1] == "" {
			words[0] = "a0"
		}
	}
	return strings.Join(words, "_"), server
}

// ibenchWorkload gives the project's name of a workload of the Insert Benchmark:
// cached by the engine, cached by the operating system with a block cache of 1g
// or 4g, and io for a database larger than memory.
func ibenchWorkload(name string) (string, bool) {
	switch name {
	case "1g", "4g":
		return "cached-by-os", true
	case "cached", "io":
		return name, true
	}
	return "", false
}

// ibenchPath gives what the directories of a path state about Insert Benchmark
// files, and facts for the run's environment. An error names directories that
// contradict each other.
func ibenchPath(name string) (stated bench.Context, facts map[string]string, err error) {
	dirs := directories(name)
	for i, dir := range dirs {
		var c bench.Context
		if m := ibenchReportRe.FindStringSubmatch(dir); m != nil {
			c.Server, c.Clients = m[2], atoi(m[4])
			c.Workload, _ = ibenchWorkload(m[6])
			facts = mergeMaps(facts, map[string]string{"report": dir, "report_engine": m[3], "tables": map[string]string{"yes": "one shared by all clients", "no": "one per client"}[m[5]]})
		} else if workload, ok := ibenchWorkload(dir); ok {
			c.Workload = workload
		}
		if stated, err = stated.Fill(c, "the path "+strings.Join(dirs[:i], "/"), "its directory "+dir); err != nil {
			return bench.Context{}, nil, err
		}
	}
	return stated, facts, nil
}

// isIBenchDir reports whether a directory's name states context of the Insert
// Benchmark: a report, a run or a step.
func isIBenchDir(dir string) bool {
	if _, ok := bench.IBenchStep(dir); ok || ibenchReportRe.MatchString(dir) {
		return true
	}
	tag, ok := parseIBenchTag(dir)
	return ok && tag.context.System != ""
}

// atoi reads digits that a pattern vouches for.
func atoi(digits string) int {
	n := 0
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

// ibenchFileRe is the grammar of the names of report tables; what stands before
// mrg. or rel. tells reports of one folder apart (io.mrg.l.i1.tsv).
var ibenchFileRe = regexp.MustCompile(`^(?:(.+)\.)?(mrg|rel)\.(.+?)(?:\.rt\.(insert|delete|query))?(?:\.(?:tsv|txt|csv))?$`)

// ibenchFile is the name of a report table taken apart.
type ibenchFile struct {
	report string // directory and prefix: tables that have it in common are of one report
	prefix string
	kind   string // mrg, rel; "" when the name does not follow the grammar
	step   string // as named: q100.1, q.L1.ips100, some
	op     string // of response times
}

func (in *input) ibenchFile() ibenchFile {
	dir := path.Dir(in.path)
	m := ibenchFileRe.FindStringSubmatch(path.Base(plainPath(in)))
	if m == nil {
		prefix := ""
		if m := ibenchSummaryRe.FindStringSubmatch(path.Base(plainPath(in))); m != nil {
			prefix = m[1]
		}
		return ibenchFile{report: dir + "/" + prefix, prefix: prefix}
	}
	return ibenchFile{report: dir + "/" + m[1], prefix: m[1], kind: m[2], step: m[3], op: m[4]}
}

// resolveIBench gives a run without results whose context is what content and
// names say, completed by path and flags; the file's name hints at the workload.
// Nothing is assumed. by names the place in the content for messages; hint is
// the part of the file's name that may be a workload's.
func (in *input) resolveIBench(content bench.Context, by, hint string) (bench.Run, error) {
	content.Suite = bench.SuiteIBench
	c := content.Normalized()
	path := "the path " + in.path
	stated, facts, err := ibenchPath(in.path)
	if err == nil {
		c, err = c.Fill(stated, by, path)
	}
	if err == nil {
		c, err = c.Fill(in.byPath, by, path)
	}
	if err == nil {
		c, err = c.Fill(in.given, by, givenBy)
	}
	if err != nil {
		return bench.Run{}, err
	}
	if workload, ok := ibenchWorkload(hint); ok {
		c = c.Hint(bench.Context{Workload: workload})
	}
	c = c.Hint(bench.Context{Workload: in.hinted.Workload, Compiler: in.hinted.Compiler})
	var missing []string
	for _, f := range []struct{ name, value string }{{"system", c.System}, {"server", c.Server}, {"workload", c.Workload}, {"version", c.Version}} {
		if f.value == "" {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return bench.Run{}, missingContext(missing)
	}
	return bench.Run{
		System: c.System, Suite: c.Suite, Server: c.Server, Workload: c.Workload, Config: c.Config,
		Build: bench.Build{Version: c.Version, Compiler: c.Compiler}, Clients: c.Clients, Environment: facts,
	}, nil
}

// ibenchRun gives the run that a tag stands for, without results.
func (in *input) ibenchRun(tag *ibenchTag, by, hint string) (bench.Run, error) {
	run, err := in.resolveIBench(tag.context, by, hint)
	if err != nil {
		return run, err
	}
	run.Build.Flags, run.Build.GitHash = tag.build.Flags, tag.build.GitHash
	run.Environment = mergeMaps(run.Environment, tag.facts())
	if tag.rows != "" {
		run.Options = map[string]string{"rows_loaded": tag.rows}
	}
	return run, nil
}

// facts gives what is kept of a tag in the run's environment.
func (t *ibenchTag) facts() map[string]string {
	facts := map[string]string{"tag": t.name(), "dbms": t.dbms, "config_source": t.cnf}
	if t.date != "" {
		facts["source_date"] = t.date
	}
	if t.rocksdb != "" {
		facts["rocksdb_version"] = t.rocksdb
	}
	return facts
}

// ibenchStep gives the step of a name that files or directories have, as a
// result's step and role.
func ibenchStep(name string) (bench.Step, bench.Role, error) {
	step, ok := bench.IBenchStep(name)
	if !ok {
		return bench.Step{}, "", bench.Errorf(bench.KindInvalid, "no step of the Insert Benchmark is called %q (l.i0, l.x, l.i1, l.i2, q100.1, q.L1.ips100, qr100.L1, qp100.L2)", clip(name))
	}
	return bench.Step{Name: step}, bench.StepRole(bench.SuiteIBench, step), nil
}

// ibenchLabel names a result within its run: the step as the source calls it and
// the tag. Two turns of one step (q100.1 and q100.2) differ in it, and tables of
// response times find their result by it.
func ibenchLabel(step, tag string) string { return strings.TrimSpace(ibenchTurn(step) + " " + tag) }

// ibenchTurn gives the name of a step in the form of reports, where directories
// have another: the first of each rate is q.L1.ips100 and q100.1. Which turn a
// later one is depends on the others, see [ibenchTurns].
func ibenchTurn(step string) string {
	if strings.HasPrefix(step, "q.L1.") {
		name, _ := bench.IBenchStep(step)
		return name + ".1"
	}
	return step
}

// ibenchTurns gives, for names of directories of one run, those of reports:
// q.L1.ips100, q.L2.ips500, q.L3.ips500 are q100.1, q500.1, q500.2. Other names
// stay as they are.
func ibenchTurns(names []string) map[string]string {
	names = slices.SortedFunc(slices.Values(names), func(a, b string) int { return ibenchPlace(a) - ibenchPlace(b) })
	turns := map[string]string{}
	count := map[string]int{}
	for _, name := range slices.Compact(names) {
		turns[name] = name
		if step, ok := bench.IBenchStep(name); ok && strings.HasPrefix(name, "q.L") {
			count[step]++
			turns[name] = fmt.Sprintf("%s.%d", step, count[step])
		}
	}
	return turns
}

// ibenchPlace gives the place of a step in its run by what its name says: the
// loads in their order, then the query steps by their number.
func ibenchPlace(name string) int {
	if i := slices.Index([]string{"l.i0", "l.x", "l.i1", "l.i2"}, name); i >= 0 {
		return i
	}
	_, after, found := strings.Cut(name, ".L")
	if !found {
		return 4
	}
	number, _, _ := strings.Cut(after, ".")
	if len(number) > 4 || strings.Trim(number, "0123456789") != "" {
		return 4
	}
	return 4 + atoi(number)
}
