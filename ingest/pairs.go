package ingest

import (
	"bytes"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// A list of options without sections: a line key=value each, or several parted
// by semicolons as RocksDB writes them, with braces around what is nested. Lines
// that begin with # are comments; a -- before a key, as flags have, is none of it.

// isPairs reports whether a text is nothing but such lines.
func isPairs(in *input) bool {
	found := false
	for l, n := newLines(in.text), 0; n < 200; n++ {
		line, _, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			return false
		}
		if isBlankCnf(line) {
			continue
		}
		if _, _, ok := parseOptionString(pairText(line)); !ok {
			return false
		}
		found = true
	}
	return found
}

// pairText gives a line in the form of an option string.
func pairText(line []byte) string {
	return strings.TrimPrefix(string(trimSpace(line)), "--")
}

// readPairs reads a list of options as a config.
func readPairs(in *input) output {
	c := newConfigText(in)
	system := bench.SystemRocksDB
	for l := newLines(in.text); ; {
		line, n, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			c.problem(n, "the line is longer than %d bytes", maxLine)
			break
		}
		if isBlankCnf(line) {
			continue
		}
		// MyRocks has options whose values are lists of options themselves.
		name, value, _ := strings.Cut(pairText(line), "=")
		if key, loose := optionKey(name); familyOptions[key] != "" {
			c.add(rawOption{key: key, written: strings.TrimSpace(value), loose: loose, line: n})
			system = bench.SystemMyRocks
			continue
		}
		settings, repeated, ok := parseOptionString(pairText(line))
		if !ok {
			c.problem(n, "not key=value: %q", clip(string(line)))
			continue
		}
		for _, key := range repeated {
			c.warn(n, "%s stands twice: the last counts", key)
		}
		for _, s := range settings {
			key, loose := optionKey(s.key)
			c.add(rawOption{key: key, written: s.value, loose: loose, line: n})
			if strings.HasPrefix(key, "rocksdb_") {
				system = bench.SystemMyRocks
			}
		}
	}
	return c.config(bench.ConfigPairs, bench.LayerParsed, system)
}

// What a server says of its variables: SHOW GLOBAL VARIABLES with tabs, in a
// frame, or the two columns that mysqld --verbose --help ends with.

// variable reads a line as a name and a value.
func variable(line []byte) (name, value string, ok bool) {
	if len(line) > 0 && line[0] == '|' {
		cells := bytes.Split(bytes.Trim(line, "| "), []byte("|"))
		if len(cells) == 1 {
			cells = append(cells, nil) // an empty value loses its bar to the trimming
		}
		if len(cells) != 2 {
			return "", "", false
		}
		name, value = string(trimSpace(cells[0])), string(trimSpace(cells[1]))
		return name, value, isVariableName(name)
	}
	word, rest, tab := bytes.Cut(line, []byte("\t"))
	if !tab {
		word, rest = nextWord(line)
	}
	name = string(trimSpace(word))
	return name, string(trimSpace(rest)), isVariableName(name) && (tab || hasPrefix(rest, "  ") || len(rest) == 0)
}

// isVariableName reports whether a word can be a variable's.
func isVariableName(name string) bool {
	return isOptionName(name) && !strings.ContainsAny(name, ".:$") && name == strings.ToLower(name)
}

// isVariableFrame reports whether a line stands around the variables.
func isVariableFrame(line []byte) bool {
	s := string(trimSpace(line))
	return s == "" || strings.HasPrefix(s, "+--") || strings.HasPrefix(s, "----") ||
		strings.HasPrefix(s, "Variable_name") || strings.HasPrefix(s, "| Variable_name") ||
		strings.HasPrefix(s, "Variables (--variable-name=value)") || strings.HasPrefix(s, "and boolean options")
}

// isVariables reports whether a text holds a server's variables: name and value
// on every line, names nearly in order, most of them of words joined by _ or -.
func isVariables(in *input) bool {
	lines, joined, unordered := 0, 0, 0
	last := ""
	for l, n := newLines(in.text), 0; n < 100; n++ {
		line, _, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			return false
		}
		if isVariableFrame(line) {
			continue
		}
		name, _, ok := variable(line)
		name = strings.ReplaceAll(name, "-", "_")
		if !ok {
			return false
		}
		if name < last {
			unordered++ // servers sort by a collation of their own
		}
		last = name
		lines++
		if strings.Contains(name, "_") {
			joined++
		}
	}
	return lines >= 5 && 2*joined > lines && 10*unordered <= lines
}

// readVariables reads what a server says it runs with.
func readVariables(in *input) output {
	c := newConfigText(in)
	rocksdb, innodb := false, false
	for l := newLines(in.text); ; {
		line, n, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			c.problem(n, "the line is longer than %d bytes", maxLine)
			break
		}
		if isVariableFrame(line) {
			continue
		}
		name, value, ok := variable(line)
		if !ok {
			c.problem(n, "not a variable and its value: %q", clip(string(line)))
			continue
		}
		key, _ := optionKey(name)
		if value == "(No default value)" {
			value = ""
		}
		c.add(rawOption{key: key, written: value, line: n})
		rocksdb = rocksdb || strings.HasPrefix(key, "rocksdb_")
		innodb = innodb || strings.HasPrefix(key, "innodb_")
	}
	system := ""
	switch {
	case rocksdb:
		system = bench.SystemMyRocks
	case innodb:
		system = "mysql"
	}
	return c.config(bench.ConfigVariables, bench.LayerEffective, system)
}
