package ingest

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// An OPTIONS file is what RocksDB keeps beside a database (OPTIONS-000123): what
// it was opened with, every option of it.
//
//	[Version]
//	  rocksdb_version=7.8.3
//	[DBOptions]
//	  max_background_jobs=2
//	[CFOptions "default"]
//	  compression_opts={level=32767;window_bits=-14;}
//	[TableOptions/BlockBasedTable "default"]
//	  filter_policy=nullptr
//
// Options of column families and tables get the names that the option strings of
// MyRocks give them: cf.default.write_buffer_size,
// cf.default.block_based_table_factory.filter_policy.

var (
	rocksFamilyRe = regexp.MustCompile(`^CFOptions "(.*)"$`)
	rocksTableRe  = regexp.MustCompile(`^TableOptions/([A-Za-z]+) "(.*)"$`)
)

// rocksSection gives the prefix of names in a section of an OPTIONS file; ok is
// false for a section that none has.
func rocksSection(name string) (prefix string, ok bool) {
	switch name {
	case "Version", "DBOptions":
		return "", true
	}
	if m := rocksFamilyRe.FindStringSubmatch(name); m != nil {
		return "cf." + m[1] + ".", true
	}
	if m := rocksTableRe.FindStringSubmatch(name); m != nil {
		factory := strings.ToLower(m[1]) + "_factory"
		if m[1] == "BlockBasedTable" {
			factory = "block_based_table_factory"
		}
		return "cf." + m[2] + "." + factory + ".", true
	}
	return "", false
}

// isRocksOptions reports whether a text is an OPTIONS file: its first section is
// one that only such files have.
func isRocksOptions(in *input) bool {
	for l, n := newLines(in.text), 0; n < 100; n++ {
		line, _, ok := l.next()
		if !ok || len(line) > maxLine {
			return false
		}
		if isBlankCnf(line) {
			continue
		}
		name, section := cnfSection(line)
		if !section {
			return false
		}
		_, ok = rocksSection(name)
		return ok
	}
	return false
}

// readRocksOptions reads an OPTIONS file: what the database was opened with, so
// what was in effect.
func readRocksOptions(in *input) output {
	c := newConfigText(in)
	section, prefix := "", ""
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
		if name, isSection := cnfSection(line); isSection {
			if prefix, ok = rocksSection(name); !ok {
				c.problem(n, "no section of an OPTIONS file: [%s]", clip(name))
			}
			section = name
			continue
		}
		name, value, found := bytes.Cut(trimSpace(line), []byte("="))
		key := string(trimSpace(name))
		if !found || !isOptionName(key) {
			c.problem(n, "not an option: %q", clip(string(line)))
			continue
		}
		o := rawOption{section: section, line: n}
		settings, repeated, nested := parseOptionString(string(trimSpace(line)))
		if !nested {
			// Values of comparators and the like may hold anything.
			settings, repeated = []setting{{key, string(trimSpace(value))}}, nil
		}
		for _, key := range repeated {
			c.warn(n, "%s stands twice: the last counts", key)
		}
		for _, s := range settings {
			o.key, o.written = prefix+s.key, s.value
			c.add(o)
		}
	}
	out := c.config(bench.ConfigOptions, bench.LayerEffective, bench.SystemRocksDB)
	for i := range out.configs {
		for j := range out.configs[i].Options {
			// The version is what is compared elsewhere, no option.
			if o := &out.configs[i].Options[j]; o.Section == "Version" {
				o.Environment = true
			}
		}
	}
	return out
}
