package runner

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/relqps/relqps/internal/bench"
)

//go:embed plans/*.yaml
var plans embed.FS

// Plan says what to run. It is read from YAML by [LoadPlan]; the keys of the
// file are named beside the fields. Sizes are bytes, written as a number or with
// KiB, MiB, GiB or TiB.
//
// Values of flags, tests, threads and seconds may hold $variables; see
// [Variables].
type Plan struct {
	// Name names the plan in listings and in the journal (name).
	Name string `yaml:"name"`
	// Extends names the plan whose fields hold where this one states none
	// (extends): an embedded plan's name, or a path relative to this file. Flags
	// are merged by name, every other field and the list of steps is replaced as
	// a whole.
	Extends string `yaml:"extends"`
	// About says in a sentence what the plan is for (about).
	About string `yaml:"about"`

	// What is measured, in the words of [bench.Context]; flags of the command
	// line fill what is not stated here and must not contradict it (system,
	// suite, workload, config, server).
	System   string `yaml:"system"`
	Suite    string `yaml:"suite"`
	Workload string `yaml:"workload"`
	Config   string `yaml:"config"`
	Server   string `yaml:"server"`

	// Binary is the program: a path, or a name that is looked up on PATH (binary).
	Binary string `yaml:"binary"`
	// Prefix is put in front of the command, such as [numactl, --interleave=all].
	// It must replace itself by the program (exec), or figures of CPU and memory
	// would be its own (prefix).
	Prefix []string `yaml:"prefix"`
	// Environment is set for the program beside LC_ALL=C and the few variables
	// that are passed on (environment).
	Environment map[string]string `yaml:"environment"`
	// Build says what the binary does not say itself (build: compiler,
	// compiler_version, flags, command).
	Build BuildFacts `yaml:"build"`

	// DataDir is where the runner makes its database directories; "" is the work
	// directory (data_dir).
	DataDir string `yaml:"data_dir"`
	// KeepDatabase leaves the database in place after the last step (keep_database).
	KeepDatabase bool `yaml:"keep_database"`
	// MemoryLimit is the memory the workload was sized for. The run is refused
	// unless the machine or the control group it runs in has no more; 0 for none
	// (memory_limit).
	MemoryLimit Size `yaml:"memory_limit"`

	// Clients is the number of client threads, "nt" of benchmark.sh (clients).
	Clients int `yaml:"clients"`
	// Keys is how many keys the database holds (keys), KeyBytes and ValueBytes
	// their sizes (key_bytes, value_bytes).
	Keys       int64 `yaml:"keys"`
	KeyBytes   int   `yaml:"key_bytes"`
	ValueBytes int   `yaml:"value_bytes"`
	// Compression is none, lz4, zstd or snappy (compression); CompressionRatio is
	// what values shrink to (compression_ratio).
	Compression      string  `yaml:"compression"`
	CompressionRatio float64 `yaml:"compression_ratio"`
	// CacheBytes is the block cache (cache_bytes).
	CacheBytes Size `yaml:"cache_bytes"`
	// CacheType is lru_cache, hyper_clock_cache, auto_hyper_clock_cache, or best:
	// the newest of these that the binary has (cache_type).
	CacheType string `yaml:"cache_type"`
	// CompactionReadahead overrides what is passed as compaction_readahead_size:
	// by default 2 MiB, and 0 for buffered I/O up to RocksDB 8.5, which is what
	// those releases did themselves (compaction_readahead).
	CompactionReadahead *Size `yaml:"compaction_readahead"`
	// BackgroundJobs is the number of background threads (background_jobs).
	BackgroundJobs int `yaml:"background_jobs"`
	// WriteRate limits the writer of the while-writing steps, in bytes per second
	// (write_rate).
	WriteRate Size `yaml:"write_rate"`

	// How long steps last: the reading ones, those that write, and the one that
	// lets compaction settle (read_seconds, write_seconds, settle_seconds).
	ReadSeconds   int `yaml:"read_seconds"`
	WriteSeconds  int `yaml:"write_seconds"`
	SettleSeconds int `yaml:"settle_seconds"`
	// Grace is added to a step's duration to give its time limit (grace); Limit
	// is the time limit of steps that end by themselves (limit).
	Grace Duration `yaml:"grace"`
	Limit Duration `yaml:"limit"`
	// KillAfter is how long a process has to end after SIGTERM before SIGKILL
	// (kill_after).
	KillAfter Duration `yaml:"kill_after"`
	// Seed is the seed of the first step, counted up from step to step. 0 takes
	// the second in which the run begins. It is recorded either way (seed).
	Seed int64 `yaml:"seed"`

	// Flags are passed to every step (flags). null takes away a flag of the plan
	// this one extends.
	Flags Flags `yaml:"flags"`
	// Steps are run in this order (steps).
	Steps []Step `yaml:"steps"`

	fields map[string]position // where top-level fields are stated
}

// BuildFacts is what a plan can state about the binary.
type BuildFacts struct {
	Compiler        string `yaml:"compiler"`
	CompilerVersion string `yaml:"compiler_version"`
	Flags           string `yaml:"flags"`
	Command         string `yaml:"command"`
}

// Step is one step of a plan: one process.
type Step struct {
	// Test is the step's name with benchmark.sh's suffixes for what belongs to it:
	// readrandom.t8, fillseq.wal_disabled.v400 (test). The part before the first
	// dot names the step and must be unique within the plan.
	Test string `yaml:"test"`
	// Benchmarks is passed as --benchmarks (benchmarks).
	Benchmarks []string `yaml:"benchmarks"`
	// Figure names the benchmark whose line in the output is the step's result;
	// the first of Benchmarks by default, "none" for a step without a result
	// (figure).
	Figure string `yaml:"figure"`
	// Threads defaults to $clients (threads).
	Threads string `yaml:"threads"`
	// Seconds is how long the step lasts, passed as --duration; "" for a step that
	// ends by itself (seconds).
	Seconds string `yaml:"seconds"`
	// Limit overrides the time limit (limit).
	Limit Duration `yaml:"limit"`
	// Needs names earlier steps that must have succeeded (needs).
	Needs []string `yaml:"needs"`
	// Creates marks the step that starts from an empty directory (creates),
	// Writes one that changes the database (writes).
	Creates bool `yaml:"creates"`
	Writes  bool `yaml:"writes"`
	// First and Last bound the releases that can run the step, as major.minor
	// (first, last). Outside them the step is left out, and the run says so.
	First string `yaml:"first"`
	Last  string `yaml:"last"`
	// Flags are passed beside, and instead of, those of the plan (flags).
	Flags Flags `yaml:"flags"`

	at position
}

// UnmarshalYAML reads a step and remembers where it stands.
func (s *Step) UnmarshalYAML(node ast.Node) error {
	type plain Step
	if err := yaml.NodeToValue(node, (*plain)(s), yaml.Strict()); err != nil {
		return err
	}
	s.at.line = lineOf(node)
	return nil
}

// Flag is one flag of db_bench. Drop is a flag stated as null: it is taken away.
type Flag struct {
	Name  string
	Value string
	Drop  bool

	at position
}

// Flags is an ordered list of flags, a mapping in the file.
type Flags []Flag

var flagNameRe = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// UnmarshalYAML reads a mapping of flag names to scalars. Values are kept as they
// are written: 0.50 stays 0.50.
func (f *Flags) UnmarshalYAML(node ast.Node) error {
	values := mappingValues(node)
	if _, null := node.(*ast.NullNode); !null && values == nil {
		return atNode(node, "flags must be a mapping of names to values")
	}
	var flags Flags
	for _, v := range values {
		name := v.Key.GetToken().Value
		if !flagNameRe.MatchString(name) {
			return atNode(v.Key, "not the name of a flag: %q", name)
		}
		flag := Flag{Name: name, at: position{line: lineOf(v.Key)}}
		switch value := v.Value.(type) {
		case *ast.NullNode:
			flag.Drop = true
		case ast.ScalarNode:
			flag.Value = value.GetToken().Value
		default:
			return atNode(v.Value, "the value of flag %s must be a single value", name)
		}
		flags = append(flags, flag)
	}
	*f = flags
	return nil
}

// mappingValues gives the entries of a mapping, nil for another node.
func mappingValues(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode: // of one entry
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// over gives base with f's flags put in the place of those of the same name and
// the others after them.
func (f Flags) over(base Flags) Flags {
	out := slices.Clone(base)
	for _, flag := range f {
		if i := slices.IndexFunc(out, func(o Flag) bool { return o.Name == flag.Name }); i >= 0 {
			out[i] = flag
		} else {
			out = append(out, flag)
		}
	}
	return out
}

// Size is a number of bytes.
type Size int64

var sizeRe = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*(|B|KiB|MiB|GiB|TiB)$`)

// UnmarshalYAML reads 268435456, 256MiB or 1.5 GiB. GB is refused: db_bench
// means 2^30 by it, disk makers 10^9.
func (s *Size) UnmarshalYAML(node ast.Node) error {
	text := node.GetToken().Value
	m := sizeRe.FindStringSubmatch(text)
	if m == nil {
		return atNode(node, "not a size: %q; write bytes, or a number with KiB, MiB, GiB or TiB", text)
	}
	unit := map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[m[2]]
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n*unit > 1<<60 {
		return atNode(node, "not a size: %q is too large", text)
	}
	*s = Size(n * unit)
	return nil
}

// String shows a size in the largest unit that keeps it above 1.
func (s Size) String() string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if float64(s) >= u.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(s)/u.size, 'f', 1, 64), ".0") + " " + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + " B"
}

// Duration is a time span written as Go writes it: 90s, 10m, 24h.
type Duration time.Duration

// UnmarshalYAML reads a duration above zero.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	text := node.GetToken().Value
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return atNode(node, "not a duration: %q; write 90s, 10m or 24h", text)
	}
	*d = Duration(v)
	return nil
}

// position is a place in a plan file.
type position struct {
	file string
	line int
}

func lineOf(node ast.Node) int {
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// nodeError is an error at a node, before the file's name is known.
type nodeError struct {
	line    int
	message string
}

func (e *nodeError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

func atNode(node ast.Node, format string, args ...any) error {
	return &nodeError{lineOf(node), fmt.Sprintf(format, args...)}
}

// planError makes the error of a plan file that cannot be used.
func planError(at position, format string, args ...any) error {
	m := bench.Message{File: at.file, Line: at.line, Text: fmt.Sprintf(format, args...)}
	return &bench.Error{Kind: bench.KindInvalid, Message: m.String(), Places: []bench.Message{m}}
}

// yamlError turns what the YAML library says into an error with file and line.
func yamlError(file string, err error) error {
	var here *nodeError
	if errors.As(err, &here) {
		return planError(position{file, here.line}, "%s", here.message)
	}
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		at := position{file: file}
		if t := syntax.GetToken(); t != nil && t.Position != nil {
			at.line = t.Position.Line
		}
		return planError(at, "%s", syntax.GetMessage())
	}
	return planError(position{file: file}, "%v", err)
}

// Overrides changes a plan after it was read.
type Overrides struct {
	// Set holds key=value pairs of top-level fields, as in the file: keys=5000,
	// binary=./db_bench.8.6.
	Set []string
}

// PlanNames lists the embedded plans that can be run.
func PlanNames() []string {
	entries, err := fs.ReadDir(plans, "plans")
	if err != nil {
		panic(err) // the directory is part of the binary
	}
	var names []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); name != basePlan {
			names = append(names, name)
		}
	}
	return names
}

// basePlan holds what the db_bench plans share; it states no sizes.
const basePlan = "db_bench"

// LoadPlan reads a plan from a file, or an embedded plan by its name
// (db_bench-quick) or path (runner/plans/db_bench-quick.yaml) where no such file
// exists, and applies the overrides. Errors have kind invalid and name file and
// line, or kind not_found.
func LoadPlan(name string, o Overrides) (*Plan, error) {
	p := &Plan{fields: map[string]position{}}
	if err := p.load(name, "", 0); err != nil {
		return nil, err
	}
	for _, set := range o.Set {
		key, value, ok := strings.Cut(set, "=")
		if !ok || key == "" {
			return nil, bench.Errorf(bench.KindInvalid, "not an assignment: %q; write key=value", set)
		}
		if key == "extends" || key == "flags" || key == "steps" {
			return nil, bench.Errorf(bench.KindInvalid, "%s cannot be set from outside; write a plan that extends %s", key, p.Name)
		}
		if err := p.merge([]byte(key+": "+value+"\n"), "override "+set); err != nil {
			return nil, err
		}
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// readPlan gives a plan file's bytes and the name for messages. from is the
// directory of the plan that extends it.
func readPlan(name, from string) (text []byte, file string, err error) {
	file = name
	if from != "" && !filepath.IsAbs(name) && strings.HasSuffix(name, ".yaml") {
		file = filepath.Join(from, name)
	}
	text, err = os.ReadFile(file)
	if err == nil {
		return text, file, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, file, bench.Errorf(bench.KindInvalid, "plan: %w", err)
	}
	embedded := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".yaml")
	text, err = plans.ReadFile("plans/" + embedded + ".yaml")
	if err != nil {
		return nil, file, bench.Errorf(bench.KindNotFound, "no plan %s: neither a file nor one of %s", name, strings.Join(PlanNames(), ", "))
	}
	return text, "plans/" + embedded + ".yaml", nil
}

func (p *Plan) load(name, from string, depth int) error {
	if depth > 8 {
		return bench.Errorf(bench.KindInvalid, "plan %s: plans extend each other in a circle", name)
	}
	text, file, err := readPlan(name, from)
	if err != nil {
		return err
	}
	var head struct {
		Extends string `yaml:"extends"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return yamlError(file, err)
	}
	if head.Extends != "" {
		if err := p.load(head.Extends, filepath.Dir(file), depth+1); err != nil {
			return err
		}
	}
	return p.merge(text, file)
}

// merge lays the fields that a file states over p.
func (p *Plan) merge(text []byte, file string) error {
	doc, err := parser.ParseBytes(text, 0)
	if err != nil {
		return yamlError(file, err)
	}
	if len(doc.Docs) != 1 || doc.Docs[0].Body == nil {
		return planError(position{file: file}, "a plan is one YAML document, this file holds %d", len(doc.Docs))
	}
	flags, steps := p.Flags, p.Steps
	p.Flags, p.Steps = nil, nil
	if err := yaml.NodeToValue(doc.Docs[0].Body, p, yaml.Strict()); err != nil {
		return yamlError(file, err)
	}
	for i := range p.Flags {
		p.Flags[i].at.file = file
	}
	for i := range p.Steps {
		p.Steps[i].at.file = file
		for j := range p.Steps[i].Flags {
			p.Steps[i].Flags[j].at.file = file
		}
	}
	p.Flags = p.Flags.over(flags)
	if len(p.Steps) == 0 {
		p.Steps = steps
	}
	for _, v := range mappingValues(doc.Docs[0].Body) {
		p.fields[v.Key.GetToken().Value] = position{file, lineOf(v.Key)}
	}
	return nil
}

// at gives the place of a top-level field, or of the plan as a whole.
func (p *Plan) at(field string) position {
	if at, ok := p.fields[field]; ok {
		return at
	}
	return position{file: p.fields["name"].file}
}

// ownFlags are set by the runner, and the field of the plan that says so.
var ownFlags = map[string]string{
	"benchmarks": "benchmarks of the step", "threads": "threads of the step", "duration": "seconds of the step",
	"db": "data_dir", "wal_dir": "data_dir", "seed": "seed", "use_existing_db": "creates of the step",
	"report_file": "", "report_interval_seconds": "",
}

// validate checks what can be checked without a binary and a machine.
func (p *Plan) validate() error {
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"name", p.Name != ""}, {"system", p.System != ""}, {"suite", p.Suite != ""}, {"workload", p.Workload != ""},
		{"binary", p.Binary != ""}, {"clients", p.Clients > 0}, {"keys", p.Keys > 0}, {"key_bytes", p.KeyBytes > 0},
		{"value_bytes", p.ValueBytes > 0}, {"compression", p.Compression != ""}, {"cache_bytes", p.CacheBytes > 0},
		{"cache_type", p.CacheType != ""}, {"background_jobs", p.BackgroundJobs > 0}, {"read_seconds", p.ReadSeconds > 0},
		{"write_seconds", p.WriteSeconds > 0}, {"settle_seconds", p.SettleSeconds > 0}, {"grace", p.Grace > 0},
		{"limit", p.Limit > 0}, {"kill_after", p.KillAfter > 0}, {"steps", len(p.Steps) > 0},
	} {
		if _, stated := p.fields[f.name]; !stated {
			return planError(p.at(f.name), "%s is missing", f.name)
		}
		if !f.ok {
			return planError(p.at(f.name), "%s must not be empty or zero", f.name)
		}
	}
	if p.System != bench.SystemRocksDB || p.Suite != bench.SuiteDBBench {
		return planError(p.at("suite"), "the runner runs %s on %s, not %s on %s", bench.SuiteDBBench, bench.SystemRocksDB, p.Suite, p.System)
	}
	if !bench.IsWorkload(p.Workload) {
		return planError(p.at("workload"), "not a workload: %q; the runner knows cached, cached-by-os, iobuf and iodir, with a suffix where you like (iodir_lz4)", p.Workload)
	}
	switch p.Compression {
	case "none", "snappy", "lz4", "zstd":
	default:
		return planError(p.at("compression"), "not a compression: %q; one of none, snappy, lz4, zstd", p.Compression)
	}
	if p.Compression != "none" && (p.CompressionRatio <= 0 || p.CompressionRatio > 1) {
		return planError(p.at("compression_ratio"), "compression_ratio must be above 0 and at most 1")
	}
	switch p.CacheType {
	case "lru_cache", "hyper_clock_cache", "auto_hyper_clock_cache", cacheBest:
	default:
		return planError(p.at("cache_type"), "not a cache type: %q; one of lru_cache, hyper_clock_cache, auto_hyper_clock_cache, best", p.CacheType)
	}
	if p.Seed < 0 {
		return planError(p.at("seed"), "seed must not be negative")
	}
	vars := p.Variables("", "", "")
	if err := checkFlags(p.Flags, vars); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		test, err := expand(s.Test, vars, s.at)
		if err != nil {
			return err
		}
		name := bench.ParseStep(test).Name
		if !stepNameRe.MatchString(name) {
			return planError(s.at, "step %d: test must begin with the step's name in letters, digits and underscores: %q", i+1, s.Test)
		}
		if seen[name] {
			return planError(s.at, "step %s stands twice", name)
		}
		if len(s.Benchmarks) == 0 {
			return planError(s.at, "step %s has no benchmarks", name)
		}
		for _, need := range s.Needs {
			if !seen[need] {
				return planError(s.at, "step %s needs %s, which is no step before it", name, need)
			}
		}
		if i == 0 && !s.Creates {
			return planError(s.at, "step %s is the first and must create the database (creates: true)", name)
		}
		for _, v := range []string{s.Threads, s.Seconds} {
			if v == "" {
				continue
			}
			text, err := expand(v, vars, s.at)
			if err != nil {
				return err
			}
			if n, err := strconv.Atoi(text); err != nil || n <= 0 {
				return planError(s.at, "step %s: threads and seconds must be numbers above zero, not %q", name, text)
			}
		}
		for _, v := range []string{s.First, s.Last} {
			if v != "" && !minorRe.MatchString(v) {
				return planError(s.at, "step %s: first and last are releases as major.minor, not %q", name, v)
			}
		}
		if err := checkFlags(s.Flags, vars); err != nil {
			return err
		}
		seen[name] = true
	}
	return nil
}

var (
	stepNameRe = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	minorRe    = regexp.MustCompile(`^\d+\.\d+$`)
)

func checkFlags(flags Flags, vars map[string]string) error {
	for _, f := range flags {
		if field, own := ownFlags[f.Name]; own {
			if field == "" {
				return planError(f.at, "flag %s is set by the runner", f.Name)
			}
			return planError(f.at, "flag %s is set by the runner from %s", f.Name, field)
		}
		if _, err := expand(f.Value, vars, f.at); err != nil {
			return err
		}
	}
	return nil
}

// expand puts the variables into a text.
func expand(text string, vars map[string]string, at position) (string, error) {
	var unknown string
	out := os.Expand(text, func(name string) string {
		v, ok := vars[name]
		if !ok && unknown == "" {
			unknown = name
		}
		return v
	})
	if unknown != "" {
		return "", planError(at, "no variable $%s in %q", unknown, text)
	}
	return out, nil
}
