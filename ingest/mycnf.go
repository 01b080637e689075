package ingest

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// my.cnf is the configuration file of MySQL and its kin:
//
//	[mysqld]
//	rocksdb_block_cache_size=8G        # a comment to the end of the line
//	skip-innodb                        a flag without value is ON
//	loose-rocksdb_new_thing=1          a server that does not know it goes on
//	rocksdb_default_cf_options=write_buffer_size=32m;block_based_table_factory={filter_policy=…}
//
// - and _ are the same in names. Of an option that stands twice the last counts.
// Files that are included are not read.

// serverSectionRe matches the sections that a server reads, and other programs'.
var (
	serverSectionRe = regexp.MustCompile(`(?i)^(mysqld|server|mariadb|mariadbd|mysqld_safe|mariadbd-safe|mysqld_multi|galera|embedded)(-[0-9.]+)?$`)
	clientSectionRe = regexp.MustCompile(`(?i)^(client|client-server|client-mariadb|mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlhotcopy|isamchk|myisamchk|mariadb-[a-z]+|mysqld[0-9]+)$`)
)

// cnfSection reads a line as a section's beginning.
func cnfSection(line []byte) (name string, ok bool) {
	line = trimSpace(withoutComment(line))
	if len(line) < 3 || line[0] != '[' || line[len(line)-1] != ']' {
		return "", false
	}
	name = string(trimSpace(line[1 : len(line)-1]))
	return name, name != "" && len(name) <= 100
}

// withoutComment cuts a line at a # that does not stand between quotes.
func withoutComment(line []byte) []byte {
	var quote byte
	for i, c := range line {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			return line[:i]
		}
	}
	return line
}

// isBlankCnf reports whether a line sets nothing: blank, a comment, an include.
func isBlankCnf(line []byte) bool {
	line = trimSpace(line)
	return len(line) == 0 || line[0] == '#' || line[0] == ';'
}

// isMyCnf reports whether a text is a my.cnf: it has sections before anything
// else, all with names that MySQL's programs read, one of a server among them.
func isMyCnf(in *input) bool {
	server := false
	for l, n := newLines(in.text), 0; n < 500; n++ {
		line, _, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			return false
		}
		if isBlankCnf(line) || line[0] == '!' {
			continue
		}
		name, section := cnfSection(line)
		switch {
		case section && serverSectionRe.MatchString(name):
			server = true
		case section && clientSectionRe.MatchString(name):
		case section:
			return false
		case !server && n == 0:
			return false
		}
	}
	return server
}

// readMyCnf reads a my.cnf as a config.
func readMyCnf(in *input) output {
	c := newConfigText(in)
	section := ""
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
		if isBlankCnf(line) {
			continue
		}
		if line = trimSpace(line); line[0] == '!' {
			c.warn(n, "what this line includes is not read: %q", clip(string(line)))
			continue
		}
		if name, ok := cnfSection(line); ok {
			section = name
			continue
		}
		name, value, found := bytes.Cut(trimSpace(withoutComment(line)), []byte("="))
		key, loose := optionKey(string(name))
		if !isOptionName(key) {
			c.problem(n, "not an option: %q", clip(string(line)))
			continue
		}
		if section == "" {
			c.problem(n, "%s stands before the first section", key)
			continue
		}
		c.add(rawOption{section: section, key: key, written: string(trimSpace(value)), bare: !found, loose: loose, line: n})
		rocksdb = rocksdb || key == "rocksdb" || strings.HasPrefix(key, "rocksdb_")
		innodb = innodb || strings.HasPrefix(key, "innodb_")
	}
	system := ""
	switch {
	case rocksdb:
		system = bench.SystemMyRocks
	case innodb:
		system = "mysql"
	}
	return c.config(bench.ConfigMyCnf, bench.LayerParsed, system)
}
