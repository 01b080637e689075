package ingest

import (
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// What the readers of configuration files share: names, normal forms of options,
// and the nested option strings of RocksDB. A config belongs to no run; runs
// name the config they were made with.

// The names of the formats of configuration files.
const (
	formatMyCnf     = "my.cnf"
	formatOptions   = "RocksDB OPTIONS"
	formatPairs     = "key=value list"
	formatVariables = "server variables"
)

const (
	maxOptionLines = 10_000 // of a config
	maxNesting     = 16     // braces of an option string
	maxOptionName  = 1_000  // bytes of section and key, flattened
)

// rawOption is a line of a configuration file before its value is looked into.
type rawOption struct {
	section string
	key     string // as normalised by [optionKey]
	written string
	bare    bool // a flag without =
	loose   bool
	line    int
}

// configText collects the options of a file.
type configText struct {
	in       *input
	raw      []rawOption
	at       map[[2]string]int // place in raw by section and key
	warnings []bench.Message
	problems []bench.Message
}

func newConfigText(in *input) *configText {
	return &configText{in: in, at: map[[2]string]int{}}
}

func (c *configText) warn(line int, format string, args ...any) {
	c.warnings = appendBounded(c.warnings, bench.Message{File: c.in.path, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (c *configText) problem(line int, format string, args ...any) {
	c.problems = appendBounded(c.problems, bench.Message{File: c.in.path, Line: line, Text: fmt.Sprintf(format, args...)})
}

// add takes a line. Of an option that stands twice in a section the last counts.
func (c *configText) add(o rawOption) {
	k := [2]string{strings.ToLower(o.section), o.key}
	if i, twice := c.at[k]; twice {
		same := "with the same value"
		if c.raw[i].written != o.written || c.raw[i].bare != o.bare {
			same = fmt.Sprintf("the last counts, not %q", clip(c.raw[i].written))
		}
		c.warn(o.line, "%s stands in line %d already: %s", o.key, c.raw[i].line, same)
		c.raw[i] = o
		return
	}
	if len(c.raw) == maxOptionLines {
		c.problem(o.line, "more than %d options", maxOptionLines)
	}
	if len(c.raw) >= maxOptionLines {
		return
	}
	c.at[k] = len(c.raw)
	c.raw = append(c.raw, o)
}

// optionKey gives an option's name in the form that files are compared in:
// lower case, - as _, without loose_.
func optionKey(name string) (key string, loose bool) {
	key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	key, loose = strings.CutPrefix(key, "loose_")
	return key, loose
}

// isOptionName reports whether a word can be an option's name.
func isOptionName(name string) bool {
	if name == "" || len(name) > 200 || !isLetter(name[0]) && name[0] != '_' && name[0] != '$' {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case isLetter(c), c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == ':', c == '$':
		default:
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// optionValue gives a value in the form for comparing: sizes in bytes (8G and
// 8192M are 8589934592), numbers without idle zeros, switches as ON and OFF.
func optionValue(written string) string {
	v := strings.TrimSpace(written)
	switch strings.ToLower(v) {
	case "on", "true", "yes":
		return "ON"
	case "off", "false", "no":
		return "OFF"
	}
	if n, ok := sizeBytes(v); ok {
		return n
	}
	return plainNumber(v)
}

// sizeBytes reads digits followed by one letter of K M G T P E.
func sizeBytes(v string) (string, bool) {
	if len(v) < 2 || len(v) > 20 {
		return "", false
	}
	power := strings.IndexByte("kmgtpe", v[len(v)-1]|0x20)
	if power < 0 {
		return "", false
	}
	n, ok := parseCount([]byte(v[:len(v)-1]))
	shift := 10 * (power + 1)
	if !ok || bits.Len64(n)+shift > 64 {
		return "", false
	}
	return strconv.FormatUint(n<<shift, 10), true
}

// plainNumber takes idle zeros off a decimal number: 0.500000 is 0.5, 08 is 8.
func plainNumber(v string) string {
	sign := ""
	body := v
	if strings.HasPrefix(body, "-") {
		sign, body = "-", body[1:]
	}
	whole, fraction, point := strings.Cut(body, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if !digits(whole) || point && !digits(fraction) {
		return v
	}
	whole = trimZeros(whole)
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return sign + whole + "." + fraction
	}
	if whole == "0" {
		return "0"
	}
	return sign + whole
}

// Options that say where something is or which instance it is, not how it works.
// Names that end in one of environmentEnds are paths.
var (
	environmentKeys = map[string]bool{
		"datadir": true, "basedir": true, "tmpdir": true, "socket": true, "pid_file": true, "port": true, "user": true,
		"server_id": true, "server_uuid": true, "hostname": true, "bind_address": true, "log_error": true, "report_host": true,
		"report_port": true, "relay_log": true, "log_bin_index": true, "log_bin_basename": true, "relay_log_index": true,
		"relay_log_basename": true, "innodb_data_home_dir": true, "secure_file_priv": true, "general_log_file": true,
		"mysqlx_socket": true, "mysqlx_port": true, "admin_address": true, "admin_port": true, "timestamp": true, "pseudo_thread_id": true,
		"gtid_executed": true, "gtid_purged": true, "wsrep_node_name": true, "wsrep_node_address": true, "db_paths": true, "cf_paths": true,
		"db_host_id": true, "wal_dir": true, "db_log_dir": true,
	}
	environmentEnds = []string{"_dir", "_log_file", "_path", "_ssl_ca", "_ssl_cert", "_ssl_key"}
)

// isEnvironment reports whether an option is set aside in comparisons.
func isEnvironment(key string) bool {
	if environmentKeys[key] || isSecret(key) {
		return true
	}
	return slices.ContainsFunc(environmentEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

// isSecret reports whether an option's value is nobody's business.
func isSecret(key string) bool {
	return key == "password" || strings.HasSuffix(key, "_password") || strings.HasSuffix(key, "passphrase")
}

// option makes the option of one setting. key is its final name.
func (o *rawOption) option(key, written string, bare bool) bench.Option {
	opt := bench.Option{
		Section: o.section, Key: key, Written: written, Value: optionValue(unquoted(written)),
		Line: o.line, Loose: o.loose, Environment: isEnvironment(key),
	}
	switch {
	case bare:
		opt.Value = "ON"
	case isSecret(key):
		opt.Written, opt.Value = "(hidden)", "(hidden)"
	case key == "log_bin" && strings.ContainsAny(written, `/\.`):
		opt.Value = "ON" // that it is set matters, where it lies does not
	case key == "malloc_lib":
		// Which allocator it is matters, where it lies does not.
		opt.Value, _, _ = strings.Cut(path.Base(unquoted(written)), ".so")
	}
	return opt
}

// unquoted takes the quotes off a value.
func unquoted(v string) string {
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		return v[1 : n-1]
	}
	return v
}

// setting is one setting of a nested option string.
type setting struct{ key, value string }

// parseOptionString reads RocksDB's form of options in one string,
// a=1;b={c=2;d=3};e=f, into settings with dotted names (b.c). ok is false where
// braces do not match or a part is no setting. repeated are the names that stand
// twice, of which the last counts.
func parseOptionString(text string) (settings []setting, repeated []string, ok bool) {
	at := map[string]int{}
	add := func(s setting) {
		if i, twice := at[s.key]; twice {
			repeated = append(repeated, s.key)
			settings[i] = s
			return
		}
		at[s.key] = len(settings)
		settings = append(settings, s)
	}
	var walk func(prefix, text string, depth int) bool
	walk = func(prefix, text string, depth int) bool {
		if depth > maxNesting {
			return false
		}
		for {
			text = strings.TrimLeft(text, "; \t")
			if text == "" {
				return true
			}
			name, rest, found := strings.Cut(text, "=")
			name = strings.TrimSpace(name)
			if !found || !isOptionName(name) || len(settings) >= maxOptionLines {
				return false
			}
			key := strings.ReplaceAll(name, "-", "_")
			if prefix != "" {
				key = prefix + "." + key
			}
			rest = strings.TrimLeft(rest, " \t")
			if !strings.HasPrefix(rest, "{") {
				var value string
				value, text, _ = strings.Cut(rest, ";")
				if strings.ContainsAny(value, "{}") {
					return false
				}
				add(setting{key, strings.TrimSpace(value)})
				continue
			}
			end := closingBrace(rest)
			if end < 0 {
				return false
			}
			inner := strings.TrimSpace(rest[1:end])
			text = strings.TrimLeft(rest[end+1:], " \t")
			if text != "" && text[0] != ';' {
				return false
			}
			switch {
			case inner == "" || !strings.Contains(inner, "="):
				add(setting{key, "{" + inner + "}"})
			case !walk(key, inner, depth+1):
				return false
			}
		}
	}
	if !walk("", text, 0) {
		return nil, nil, false
	}
	return settings, repeated, true
}

// closingBrace finds the brace that closes the one text begins with.
func closingBrace(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// familyOptions are MyRocks options that hold option strings of column families,
// with the name that their options are put under; an override has the family's
// name before them.
var familyOptions = map[string]string{"rocksdb_default_cf_options": "cf.default", "rocksdb_override_cf_options": "cf"}

// options gives the options of a file, the column-family strings of MyRocks
// taken apart.
func (c *configText) options() []bench.Option {
	var list []bench.Option
	at := map[[2]string]int{} // an override of the default family repeats its options
	add := func(o bench.Option) {
		k := [2]string{strings.ToLower(o.Section), o.Key}
		if i, twice := at[k]; twice {
			c.warn(o.Line, "%s stands in line %d already: the last counts, not %q", o.Key, list[i].Line, clip(list[i].Written))
			list[i] = o
			return
		}
		at[k] = len(list)
		list = append(list, o)
	}
	for i := range c.raw {
		o := &c.raw[i]
		prefix, nested := familyOptions[o.key]
		text := unquoted(o.written)
		if !nested || strings.TrimSpace(text) == "" {
			add(o.option(o.key, o.written, o.bare))
			continue
		}
		settings, repeated, ok := parseOptionString(text)
		if !ok {
			c.warn(o.line, "%s is no list of options of RocksDB (key=value;key={…}): kept as one value", o.key)
			add(o.option(o.key, o.written, o.bare))
			continue
		}
		for _, key := range repeated {
			c.warn(o.line, "%s sets %s twice: the last counts", o.key, key)
		}
		for _, s := range settings {
			add(o.option(prefix+"."+s.key, s.value, false))
		}
		if len(list) > maxOptionLines {
			c.problem(o.line, "more than %d options", maxOptionLines)
			return nil
		}
	}
	return list
}

// config completes a config and gives the output of its file. system is the one
// that the content suggests, "" for none.
func (c *configText) config(kind bench.ConfigKind, layer bench.Layer, system string) output {
	name, source := c.in.configName()
	if c.in.given.Config != "" {
		name = c.in.given.Config
	}
	if c.in.given.System != "" {
		system = c.in.given.System
	}
	var unsaid []string
	if system == "" {
		unsaid = append(unsaid, "system")
	}
	if name == "" {
		unsaid = append(unsaid, "config")
	}
	if len(unsaid) > 0 {
		c.problems = append(c.problems, asMessage(c.in.path, missingContext(unsaid)))
	}
	options := c.options()
	if len(options) == 0 && len(c.problems) == 0 {
		c.problem(0, "the file sets no option")
	}
	if len(c.problems) > 0 {
		return refused(c.problems...)
	}
	config := bench.Config{
		System: system, Name: name, SourceName: source, Kind: kind, File: c.in.path, Layer: layer,
		Options: options, Warnings: c.warnings,
	}
	if what := implausibleConfig(&config); what != "" {
		return refused(bench.Message{File: c.in.path, Text: what})
	}
	return output{state: bench.FileTaken, configs: []bench.Config{config}}
}

func implausibleConfig(c *bench.Config) string {
	if problem := (bench.Context{System: c.System, Config: c.Name}).NameProblem(); problem != "" {
		return problem
	}
	if !isName(c.SourceName) {
		return fmt.Sprintf("the name %q holds what is not text", c.SourceName)
	}
	for i := range c.Options {
		o := &c.Options[i]
		if len(o.Section)+len(o.Key) > maxOptionName {
			return fmt.Sprintf("line %d: the name of an option is longer than %d bytes", o.Line, maxOptionName)
		}
		if !isName(o.Section) || !isName(o.Key) || !isName(strings.ReplaceAll(o.Written, "\t", " ")) {
			return fmt.Sprintf("line %d: an option that holds what is not text", o.Line)
		}
	}
	return ""
}

// configName gives what the name of a configuration file says of its config: the
// project's name and the source's own. my.cnf.cy10a4_bee is a4, called cy10a4_bee;
// a4/my.cnf and a4.cnf are a4. "" where the name says nothing.
func (in *input) configName() (name, source string) {
	base := path.Base(plainPath(in))
	if rest, ok := strings.CutPrefix(base, "my.cnf."); ok && ibenchCnfRe.MatchString(rest) {
		name, _ = ibenchConfig(rest)
		return name, rest
	}
	words := strings.Split(base, ".")
	first := words[0]
	lower := strings.ToLower(first)
	switch {
	case len(words) > 1 && slices.Contains([]string{"cnf", "ini", "options", "conf"}, words[len(words)-1]) &&
		!plainConfigWords[lower] && ibenchCnfRe.MatchString(first):
		name, _ = ibenchConfig(first)
		return name, first
	case strings.HasPrefix(base, "OPTIONS"), lower == "my" || lower == "gv" || plainConfigWords[lower] || strings.Contains(lower, "variables"):
	default:
		return "", ""
	}
	dirs := directories(in.path)
	for len(dirs) > 0 {
		if _, step := bench.IBenchStep(dirs[len(dirs)-1]); !step {
			break
		}
		dirs = dirs[:len(dirs)-1] // each step may have a copy
	}
	if len(dirs) == 0 {
		return "", ""
	}
	dir := dirs[len(dirs)-1]
	if _, _, build := buildDir(dir); build || benchDirRe.MatchString(dir) || plainConfigWords[strings.ToLower(dir)] || plainWords[strings.ToLower(dir)] || !ibenchCnfRe.MatchString(dir) {
		return "", ""
	}
	if tag, ok := parseIBenchTag(dir); ok {
		return tag.context.Config, tag.cnf
	}
	name, _ = ibenchConfig(dir)
	return name, dir
}

// plainConfigWords are names of files and directories that name no config.
var plainConfigWords = map[string]bool{
	"my": true, "my.cnf": true, "my.cnf.d": true, "mysqld": true, "server": true, "options": true, "config": true, "configs": true, "conf": true, "conf.d": true,
	"etc": true, "mysql": true, "mariadb": true, "mariadb.conf.d": true, "mysql.conf.d": true, "rocksdb": true, "db": true, "gv": true, "variables": true,
}
