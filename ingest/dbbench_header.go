package ingest

import (
	"bytes"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Header is what db_bench prints about itself and the machine, on stderr. Each
// line may be missing: macOS has neither CPU nor date lines, excerpts have
// whatever was pasted.
type Header struct {
	Program  string // as printed: RocksDB, LevelDB, Basho LevelDB, LMDB
	Version  string // as printed: 7.8.3, 6.17, "LMDB 0.9.14: (September 15, 2014)"
	Date     bench.LocalTime
	CPU      string // 2 * Intel(R) Xeon(R) Processor
	CPUCache string // 307200 KB
	Line     int    // of the program's name
}

// programLine reads "RocksDB:    version 7.8.3" and the like of its relatives,
// which begins a process' output on stderr.
func (p *logParser) programLine(s []byte) bool {
	colon := bytes.IndexByte(s, ':')
	if colon <= 0 || colon > 32 || !upperCase(s[0]) {
		return false
	}
	version, ok := cutPrefix(trimSpace(s[colon+1:]), "version ")
	if version = trimSpace(version); !ok || len(version) == 0 {
		return false
	}
	if p.cur.hasHeader() || len(p.cur.Ops) > 0 || len(p.cur.Failures) > 0 || p.cur.Progress.Lines > 0 {
		p.begin()
	}
	p.section = sectionNone
	h := &p.cur.Header
	h.Program, h.Version, h.Line = string(trimSpace(s[:colon])), string(version), p.line
	return true
}

func upperCase(c byte) bool { return c >= 'A' && c <= 'Z' }

// date reads the Date: line. A date in another form than C's ctime is not
// understood rather than guessed at.
func (h *Header) date(text []byte) bool {
	t, err := bench.ParseCTime(strings.Join(strings.Fields(string(text)), " "))
	if err != nil {
		return false
	}
	h.Date = t
	return true
}

// options that only RocksDB's db_bench prints, not its ancestor's.
var rocksOptions = map[string]bool{"Prefix": true, "Keys per prefix": true, "Write rate limit": true, "Write rate": true, "Memtablerep": true, "Perf Level": true}

// System gives the project's name of the system that the process measured, ""
// when it does not say: rocksdb, leveldb, basho-leveldb, lmdb. RocksDB up to 3.x
// called itself LevelDB, whose versions never passed 1; it is told by the
// options that LevelDB's db_bench does not print.
func (x *Process) System() string {
	name := strings.ToLower(strings.Join(strings.Fields(x.Header.Program), "-"))
	if name != "leveldb" {
		return name
	}
	if major, ok := bench.Major(x.Version()); ok && major > 1 {
		return bench.SystemRocksDB
	}
	for _, o := range x.Options {
		if rocksOptions[o.Name] {
			return bench.SystemRocksDB
		}
	}
	return name
}

// Version gives the release that the header names, "" when there is none:
// "LMDB 0.9.14: (September 15, 2014)" is 0.9.14.
func (x *Process) Version() string {
	for _, word := range strings.Fields(x.Header.Version) {
		word = strings.TrimRight(word, ":,;")
		if _, ok := bench.Major(word); ok {
			return word
		}
	}
	return ""
}

// option reads a line that describes the data set, "Entries:    200000".
func (p *logParser) option(s []byte) bool {
	colon := bytes.IndexByte(s, ':')
	if colon <= 0 || colon > 40 {
		return false
	}
	if len(p.cur.Options) == maxOptions {
		return false
	}
	p.cur.Options = append(p.cur.Options, Field{Name: string(trimSpace(s[:colon])), Value: string(trimSpace(s[colon+1:])), Line: p.line})
	return true
}

// Command is a command line of db_bench, with the flags it gave.
type Command struct {
	Text  string
	Line  int // 0: the text has none
	Flags []Flag
	// Test is the test name of benchmark.sh, from the file names that its
	// wrapper passes on: overwriteandwait.t8.s0.
	Test string
}

// Flag is one flag of a command line. A flag without value has Value "true".
type Flag struct{ Name, Value string }

// Flag gives a flag's value; the last one counts, as with gflags.
func (c Command) Flag(name string) (value string, ok bool) {
	for _, f := range c.Flags {
		if f.Name == name {
			value, ok = f.Value, true
		}
	}
	return value, ok
}

// Benchmarks gives the entries of --benchmarks without their [XN] suffix, nil
// when the command does not say.
func (c Command) Benchmarks() []string {
	list, ok := c.Flag("benchmarks")
	if !ok {
		return nil
	}
	var names []string
	for _, name := range strings.Split(list, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), "[")
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// maxCommand bounds a command line; benchmark.sh's have some 2,500 characters.
const maxCommand = 32 << 10

// commandLine reads the line that started db_bench: benchmark.sh's wrapper, a
// prompt, what time -v quotes, what a shell says of a process that was killed.
// Before db_bench's own output it begins a process.
func (p *logParser) commandLine(s []byte) bool {
	if len(s) > maxCommand || !bytes.Contains(s, []byte("db_bench")) {
		return false
	}
	text, quoted := cutPrefix(s, "Command being timed:")
	if quoted {
		text = bytes.Trim(trimSpace(text), "\"")
	}
	c, ok := ParseCommand(string(text))
	if !ok {
		return false
	}
	c.Line = p.line
	killed := false
	if !quoted {
		killed = shellObituary(s)
	}
	if killed {
		p.fail(s)
	}
	if quoted || killed {
		if p.cur.Command.Line == 0 {
			p.cur.Command = c
		}
		return true
	}
	p.lead()
	p.cur.Command = c
	return true
}

// lead makes room for a line that stands before db_bench's own output.
func (p *logParser) lead() {
	x := p.cur
	if x.hasHeader() || x.hasBody() || x.Command.Line > 0 || len(x.Failures) > 0 || x.Progress.Lines > 0 {
		p.begin()
	}
}

// ParseCommand reads a command line that runs db_bench, whatever stands around
// the program: time, numactl, timeout, a prompt, redirections. ok is false for a
// text that runs no db_bench with flags.
func ParseCommand(text string) (c Command, ok bool) {
	words := splitWords(text)
	program := -1
	for i, w := range words {
		base := w[strings.LastIndexByte(w, '/')+1:]
		if (base == "db_bench" || strings.HasPrefix(base, "db_bench.")) && i+1 < len(words) && strings.HasPrefix(words[i+1], "-") {
			program = i
			break
		}
	}
	if program < 0 {
		return Command{}, false
	}
	c.Text = strings.TrimSpace(text)
	args := words[program+1:]
	for i := 0; i < len(args); i++ {
		w := args[i]
		if strings.HasPrefix(w, "|") || strings.HasPrefix(w, ">") || strings.HasPrefix(w, "2>") || strings.HasPrefix(w, "&") || w == ";" {
			break
		}
		name := strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-")
		if name == w || name == "" {
			continue
		}
		name, value, given := strings.Cut(name, "=")
		if !given {
			value = "true"
			// gflags also takes a value as the next word.
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && args[i+1] != "..." && !strings.ContainsAny(args[i+1], "|>&;") {
				i++
				value = args[i]
			}
		}
		c.Flags = append(c.Flags, Flag{Name: name, Value: value})
	}
	for _, w := range words {
		if test := logTest(w); test != "" {
			c.Test = test
			break
		}
	}
	return c, true
}

// splitWords splits a command line at blanks outside quotes, which it removes.
func splitWords(text string) []string {
	var words []string
	var b strings.Builder
	quote, inWord := byte(0), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
			// A quote that never ends is a character: what time -v quotes may hold an apostrophe.
			if strings.IndexByte(text[i+1:], c) < 0 {
				quote = 0
			}
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, b.String())
				b.Reset()
			}
			inWord = false
		default:
			b.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, b.String())
	}
	return words
}

// logTest gives the test name of a file that benchmark.sh names after its log:
// out/benchmark_fwdrange.t2.log.time is of fwdrange.t2. "" for other names.
func logTest(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	rest, ok := strings.CutPrefix(name, "benchmark_")
	if !ok {
		return ""
	}
	test, tail, ok := strings.Cut(rest, ".log")
	if !ok || test == "" || tail != "" && tail[0] != '.' {
		return ""
	}
	if test == "bulkload_fillrandom" { // report.tsv calls it by its purpose
		return "bulkload"
	}
	return test
}
