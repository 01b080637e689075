package ingest

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// The result directories of benchmark.sh and of the scripts around it:
// res.<workload>[.<suffix>]/bm.<style>.nt<clients>[.cm<0|1>].d<0|1>[…]/<build>/.
var (
	benchDirRe = regexp.MustCompile(`^bm\.(lc|uc|bc)\.nt(\d{1,5})((?:\.[a-z0-9_]+)*)$`)
	buildDirRe = regexp.MustCompile(`^v?(\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?(\.fb)?(?:\.(gcc|clang))?(\.lto)?$`)
	dateWordRe = regexp.MustCompile(`^(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\d{2}(?:\d{2})?|20\d{2}(?:[-_]?\d{2}){0,2})$`)
	groupWord  = regexp.MustCompile(`^\d+x$`)
	clientsRe  = regexp.MustCompile(`^nt(\d{1,5})$`)
	// blockSizeWordRe finds a config bs4k among the words of a file's name.
	blockSizeWordRe = regexp.MustCompile(`(?:^|[-_.])(bs\d{1,7}[km]?)(?:[-_.]|$)`)
	clientsAny      = regexp.MustCompile(`^nt\d+(?:_to_nt\d+)?$`)
)

// plainWords are names of directories that say nothing about a server.
var plainWords = map[string]bool{
	"db_bench": true, "dbbench": true, "dbb": true, "rocksdb": true, "ibench": true, "fio": true,
	"bench": true, "benchmark": true, "benchmarks": true, "perf": true,
	"res": true, "result": true, "results": true, "report": true, "reports": true, "out": true,
	"output": true, "data": true, "log": true, "logs": true, "arc": true, "archive": true,
	"upload": true, "uploads": true, "tmp": true, "temp": true, "test": true, "tests": true, "testdata": true,
	"gcc": true, "clang": true, "lto": true,
}

// benchDir reads a bm.* directory name.
func benchDir(name string) (clients int, options map[string]string, ok bool) {
	m := benchDirRe.FindStringSubmatch(name)
	if m == nil {
		return 0, nil, false
	}
	clients, _ = strconv.Atoi(m[2]) // the pattern admits short digit runs only
	options = map[string]string{"compaction_style": map[string]string{"lc": "leveled", "uc": "universal", "bc": "blob"}[m[1]]}
	for _, part := range strings.Split(m[3], ".") {
		switch part {
		case "d0", "d1":
			on := strconv.FormatBool(part == "d1")
			options["use_direct_reads"], options["use_direct_io_for_flush_and_compaction"] = on, on
		case "cm0", "cm1":
			options["cache_index_and_filter_blocks"] = strconv.FormatBool(part == "cm1")
		case "tm":
			options["trivial_move"] = "true"
		default:
			if n, found := strings.CutPrefix(part, "sc"); found {
				if _, err := strconv.Atoi(n); err == nil {
					options["subcompactions"] = n
				}
			}
		}
	}
	return clients, options, true
}

// buildDir reads the name of a build's directory (6.29.gcc, 8.0.fb, v10.8.clang.lto).
// One without a compiler was made by gcc.
func buildDir(name string) (version, compiler string, ok bool) {
	m := buildDirRe.FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	version = m[1] + "." + m[2]
	if m[3] != "" {
		version += "." + m[3]
	}
	compiler = m[5]
	if compiler == "" {
		compiler = "gcc"
	}
	if m[6] != "" {
		compiler += "+lto"
	}
	return version + m[4], compiler, true
}

// workloadDir reads a directory that names a workload: byrx, res.iodir_lz4.
func workloadDir(name string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "res."); ok {
		name, _, _ = strings.Cut(rest, ".")
	}
	if !bench.IsWorkload(name) {
		return "", false
	}
	return bench.WorkloadName(name), true
}

// pathContext gives what the directories of a path state, and the options that
// a bm.* directory stands for. An error names two directories that contradict
// each other.
func pathContext(name string) (stated bench.Context, options map[string]string, err error) {
	dirs := directories(name)
	for i, dir := range dirs {
		var c bench.Context
		if workload, ok := workloadDir(dir); ok {
			c.Workload = workload
		} else if clients, opts, ok := benchDir(dir); ok {
			c.Clients, options = clients, opts
		} else if version, compiler, ok := buildDir(dir); ok && (i == len(dirs)-1 || i > 0 && benchDirRe.MatchString(dirs[i-1])) {
			c.Version, c.Compiler = version, compiler
		}
		if stated, err = stated.Fill(c, "the path "+strings.Join(dirs[:i], "/"), "its directory "+dir); err != nil {
			return bench.Context{}, nil, err
		}
	}
	return stated, options, nil
}

// directories gives the names of the directories above a file, outermost first.
func directories(name string) []string {
	var dirs []string
	for _, dir := range strings.Split(path.Dir(path.Clean(name)), "/") {
		if dir != "" && dir != "." {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// pathHints gives what the base name of a file and its free directories suggest.
// serverFrom is the directory the server was taken from.
func pathHints(name string) (hints bench.Context, serverFrom string) {
	hints = wordHints(strings.Split(path.Base(name), "."))
	dirs := directories(name)
	if m := blockSizeWordRe.FindStringSubmatch(path.Base(name)); m != nil {
		hints.Config = m[1]
	} else if n := len(dirs); n > 0 && configBlockRe.MatchString(dirs[n-1]) {
		hints = hints.Hint(bench.Context{Config: dirs[n-1]})
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		dir := dirs[i]
		if _, ok := workloadDir(dir); ok {
			continue
		}
		if benchDirRe.MatchString(dir) || buildDirRe.MatchString(dir) || strings.HasPrefix(dir, "res.") {
			continue
		}
		if configBlockRe.MatchString(dir) {
			continue
		}
		words := strings.Split(dir, ".")
		hints = hints.Hint(bench.Context{Compiler: wordHints(words).Compiler})
		if hints.Server == "" {
			if server := serverOf(words); server != "" {
				hints.Server, serverFrom = server, dir
			}
		}
	}
	return hints, serverFrom
}

// wordHints reads the words of a file name: sum.byrx.clang.lto.txt.
func wordHints(words []string) (hints bench.Context) {
	for i, w := range words {
		switch {
		case w == "gcc" || w == "clang":
			hints.Compiler = w
			if i+1 < len(words) && words[i+1] == "lto" {
				hints.Compiler += "+lto"
			}
		case w == "hcc" || w == "lru": // the block cache's implementation
			hints.Config = w
		case bench.IsWorkload(w):
			hints.Workload = bench.WorkloadName(w)
		case clientsRe.MatchString(w):
			hints.Clients, _ = strconv.Atoi(clientsRe.FindStringSubmatch(w)[1])
		}
	}
	return hints
}

// serverOf gives what is left of a directory's words once dates, suites,
// compilers and groups of versions are taken out: nov23.c2.db_bench is of c2.
// A name without any such word is taken whole (m5.2x.ht0).
func serverOf(words []string) string {
	var kept []string
	noise := false
	for _, w := range words {
		if lower := strings.ToLower(w); w == "" || plainWords[lower] || dateWordRe.MatchString(lower) || clientsAny.MatchString(lower) {
			noise = true
			continue
		}
		kept = append(kept, w)
	}
	if noise {
		whole := kept
		kept = nil
		for _, w := range whole {
			if !groupWord.MatchString(w) {
				kept = append(kept, w)
			}
		}
	}
	return strings.Join(kept, ".")
}

// givenBy names flags and form fields in messages.
const givenBy = "what was given with the upload"

// resolve gives a run without results whose context is what the content says,
// completed by path and flags, then by hints. by names the place in the content
// for messages ("line 3"). The error names two sources that contradict each
// other, or what nobody says. With conventional the compiler of benchmark.sh's
// own results, gcc, is assumed where none is named.
func (in *input) resolve(content bench.Context, by string, conventional bool) (bench.Run, error) {
	c, err := content.Normalized().Fill(in.byPath, by, "the path "+in.path)
	if err != nil {
		return bench.Run{}, err
	}
	if c, err = c.Fill(in.given, by, givenBy); err != nil {
		return bench.Run{}, err
	}
	in.usedServer = in.usedServer || c.Server == "" && in.hinted.Server != ""
	c = c.Hint(in.hinted).Hint(bench.Context{System: bench.SystemRocksDB, Suite: bench.SuiteDBBench})
	var missing []string
	for _, f := range []struct{ name, value string }{{"server", c.Server}, {"workload", c.Workload}, {"version", c.Version}} {
		if f.value == "" {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return bench.Run{}, missingContext(missing)
	}
	run := bench.Run{
		System: c.System, Suite: c.Suite, Server: c.Server, Workload: c.Workload, Config: c.Config,
		Build: bench.Build{Version: c.Version, Compiler: c.Compiler}, Clients: c.Clients,
		Options: copyMap(in.options),
	}
	if conventional && run.Build.Compiler == "" {
		run.Build.Compiler, run.Assumed = "gcc", []string{"compiler"}
	}
	return run, nil
}

// missingContext asks for what neither a file nor its path says.
func missingContext(names []string) error {
	flags := make([]string, len(names))
	for i, n := range names {
		flags[i] = "--" + n
	}
	is := "is"
	if len(names) > 1 {
		is = "are"
	}
	return bench.Errorf(bench.KindInvalid, "%s %s not said by the file or its path: give %s",
		strings.Join(names, " and "), is, strings.Join(flags, " and "))
}

func copyMap(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// describe fills in what is known of an input before its content is read. The
// error is a contradiction between flags and path.
func (in *input) describe(flags bench.Context) error {
	in.given = flags
	in.hinted, in.serverFrom = pathHints(in.path)
	var err error
	if in.byPath, in.options, err = pathContext(in.path); err != nil {
		return err
	}
	if _, err = in.byPath.Fill(flags, "the path "+in.path, givenBy); err != nil {
		return err
	}
	return nil
}
