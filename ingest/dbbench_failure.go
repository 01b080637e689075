package ingest

import (
	"bytes"
	"strings"
)

// fail notes a line that says why db_bench ended early.
func (p *logParser) fail(s []byte) {
	if len(p.cur.Failures) == maxTextLines {
		return
	}
	p.cur.Failures = append(p.cur.Failures, TextLine{File: p.file, Line: p.line, Text: quote(s), at: p.at})
}

// failureBegins are beginnings of lines that only a run that goes wrong prints.
var failureBegins = []string{
	"ERROR: ",              // ERROR: unknown command line flag 'x'
	"unknown benchmark '",  //
	"Received signal ",     // the handler that RocksDB installs
	"terminate called ",    // libstdc++
	"libc++abi",            //
	"IO error: ",           // a status, printed bare
	"Corruption: ",         //
	"Segmentation fault",   // shells
	"Aborted",              //
	"Killed",               //
	"Bus error",            //
	"Out of memory",        //
	"std::bad_alloc",       //
	"Assertion failed",     // macOS
	"Unable to ",           // Unable to create/open …
	"Cannot ",              //
	"Can't ",               //
	"Invalid ",             // a flag's value
	"Verification failed",  //
	"what():  ",            // the second line of terminate
	"Floating point excep", //
}

// failureLine reads a line that says why db_bench ended early.
func (p *logParser) failureLine(s []byte) bool {
	for _, begin := range failureBegins {
		if hasPrefix(s, begin) {
			p.fail(s)
			return true
		}
	}
	// "put error: IO error: …", "open error: …", "Get returned an error: …"
	if i := bytes.Index(s, []byte("error: ")); i > 0 && i <= 48 && plainWordsOnly(s[:i]) {
		p.fail(s)
		return true
	}
	// db_bench: db/memtable.cc:87: … Assertion `x' failed.
	if bytes.Contains(s, []byte("Assertion `")) && bytes.HasSuffix(s, []byte("failed.")) {
		p.fail(s)
		return true
	}
	if shellObituary(s) {
		p.fail(s)
		return true
	}
	return false
}

func plainWordsOnly(s []byte) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ' ' || c == '_') {
			return false
		}
	}
	return true
}

// shellObituary reports whether a shell says that a child was killed: "bash:
// line 26: 21964 Killed   timeout … db_bench …".
func shellObituary(s []byte) bool {
	shell, rest := nextWord(s)
	if len(shell) < 2 || shell[len(shell)-1] != ':' {
		return false
	}
	word, rest := nextWord(rest)
	if string(word) == "line" {
		if _, rest = nextWord(rest); len(rest) == 0 {
			return false
		}
		word, rest = nextWord(rest)
	}
	if _, ok := parseCount(word); !ok {
		return false
	}
	rest = trimSpace(rest)
	for _, fate := range []string{"Killed", "Aborted", "Segmentation fault", "Bus error", "Terminated", "Illegal instruction", "Floating point exception", "Hangup", "Quit"} {
		if hasPrefix(rest, fate) {
			return true
		}
	}
	return false
}

// reason puts what is known about a process' end into one sentence: the first
// thing that went wrong, and the signal that ended it.
func (x *Process) reason() string {
	var parts []string
	signal := ""
	for _, f := range x.Failures {
		text := f.Text
		if strings.HasPrefix(text, "Received signal ") {
			if signal == "" {
				signal = text
			}
			continue
		}
		if len(parts) == 0 {
			parts = append(parts, obituaryFate(text))
		}
	}
	if signal != "" {
		parts = append(parts, signal)
	}
	if u := x.Usage; len(parts) == 0 {
		if why := u.failure(); why != "" {
			parts = append(parts, why)
		}
	}
	return strings.Join(parts, "; ")
}

// obituaryFate shortens what a shell prints about a killed child to its fate.
func obituaryFate(text string) string {
	if !shellObituary([]byte(text)) {
		return text
	}
	for _, fate := range []string{"Killed", "Aborted", "Segmentation fault", "Bus error", "Terminated"} {
		if strings.Contains(text, fate) {
			return fate
		}
	}
	return text
}

// noOpLine are the entries of --benchmarks that print no op-line: they show or
// arrange things.
var noOpLine = map[string]bool{
	"stats": true, "resetstats": true, "levelstats": true, "memstats": true, "sstables": true, "stats_history": true,
	"flush": true, "waitforcompaction": true, "compact0": true, "compact1": true, "compactall": true,
	"verify": true, "blockcacheentrystats": true, "cachestats": true, "cachereportproblems": true, "cache_report_problems": true,
	"block_cache_entry_stats": true, "build_info": true, "printstats": true,
}

// withOpLine are the entries that are known to print one.
var withOpLine = map[string]bool{
	"fillseq": true, "fillseqdeterministic": true, "fillbatch": true, "fillrandom": true, "filluniquerandom": true, "filluniquerandomdeterministic": true,
	"fillsync": true, "fill100K": true, "fillseekseq": true, "overwrite": true, "readseq": true, "readtorowcache": true, "readtocache": true,
	"readreverse": true, "readrandom": true, "readrandomfast": true, "multireadrandom": true, "approximatesizerandom": true, "mixgraph": true,
	"readmissing": true, "readhot": true, "newiterator": true, "newiteratorwhilewriting": true, "seekrandom": true, "seekrandomwhilewriting": true,
	"seekrandomwhilemerging": true, "readrandomsmall": true, "deleteseq": true, "deleterandom": true, "readwhilewriting": true, "readwhilemerging": true,
	"readwhilescanning": true, "readrandomwriterandom": true, "readrandommergerandom": true, "updaterandom": true, "xorupdaterandom": true,
	"appendrandom": true, "mergerandom": true, "randomwithverify": true, "compact": true, "crc32c": true, "xxhash": true, "xxhash64": true,
	"xxh3": true, "acquireload": true, "compress": true, "uncompress": true, "snappycomp": true, "snappyuncomp": true, "randomtransaction": true, "randomreplacekeys": true,
	"timeseries": true, "getmergeoperands": true, "readrandomoperands": true, "backup": true, "restore": true, "replay": true,
	"verifychecksum": true, "verifyfilechecksums": true, "multiscan": true, "fillrandsync": true, "fillseqsync": true, "fillseqbatch": true, "fillrandbatch": true,
}

// opensAfresh reports whether a benchmark makes a new database, so that what
// the database counts begins with it.
func opensAfresh(benchmark string) bool {
	return strings.HasPrefix(benchmark, "fill") && benchmark != "fillseekseq"
}
