package ingest

import "bytes"

// words reads a line by its first word. Lines of the stats dump, of histograms
// and of the statistics are most of a log and are told apart by one comparison
// of a byte first.
func (p *logParser) words(s []byte) bool {
	switch s[0] {
	case 'A':
		return hasPrefix(s, "AddFile(")
	case 'B':
		if hasPrefix(s, "Blob file count:") {
			p.blobLine(s)
			return true
		}
		if hasPrefix(s, "Bottom ") || hasPrefix(s, "BOTTOM ") {
			return p.section == sectionPriorities
		}
		return hasPrefix(s, "Block cache ")
	case 'C':
		if hasPrefix(s, "Count: ") {
			return p.histogramCount(s)
		}
		if hasPrefix(s, "Cumulative ") {
			p.cumulativeLine(s)
			return true
		}
		if v, ok := cutPrefix(s, "CPU:"); ok {
			p.cur.Header.CPU = string(trimSpace(v))
			return true
		}
		if v, ok := cutPrefix(s, "CPUCache:"); ok {
			p.cur.Header.CPUCache = string(trimSpace(v))
			return true
		}
	case 'D':
		if v, ok := cutPrefix(s, "DB path: ["); ok {
			p.section = sectionNone
			p.dbPath, p.freshPath = string(bytes.TrimSuffix(v, []byte("]"))), true
			return true
		}
		if v, ok := cutPrefix(s, "Date:"); ok {
			return p.cur.Header.date(trimSpace(v))
		}
	case 'E':
		return hasPrefix(s, "Estimated pending compaction bytes")
	case 'F':
		if hasPrefix(s, "Flush(GB):") {
			p.flushLine(s)
			return true
		}
	case 'I':
		if hasPrefix(s, "Initializing RocksDB Options from ") {
			p.section = sectionNone
			p.cur.openings = append(p.cur.openings, p.at)
			return true
		}
		if hasPrefix(s, "Interval ") || hasPrefix(s, "Integrated BlobDB: ") {
			return true
		}
		if hasPrefix(s, "Int ") {
			return p.section == sectionLevels
		}
	case 'J':
		if v, ok := cutPrefix(s, "Job ID:"); ok {
			p.lead()
			p.cur.JobID = string(trimSpace(v))
			return true
		}
	case 'K':
		if hasPrefix(s, "Keys:") {
			if len(p.cur.Options) > 0 {
				p.begin() // the data set is described once per process
			}
			p.section = sectionOptions
			return p.option(s)
		}
	case 'L':
		if len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
			return p.levelRow(s)
		}
		if hasPrefix(s, "Level ") {
			return p.levelHeading(s)
		}
		if hasPrefix(s, "Low ") {
			return p.section == sectionPriorities
		}
	case 'H':
		if hasPrefix(s, "High ") {
			return p.section == sectionPriorities
		}
	case 'M':
		if hasPrefix(s, "Min: ") {
			return p.histogramMin(s)
		}
		if v, ok := cutPrefix(s, "Microseconds per "); ok {
			return p.histogramHeading(v)
		}
	case 'N':
		// --report_file_operations: "Num files opened: 12", "Num Read(): 3".
		return hasPrefix(s, "Num ")
	case 'P':
		if hasPrefix(s, "Percentiles: ") {
			return p.histogramPercentiles(s)
		}
		if hasPrefix(s, "PERF_CONTEXT:") {
			p.section = sectionPerf
			return true
		}
		if hasPrefix(s, "Priority ") {
			p.section = sectionPriorities
			return true
		}
	case 'R':
		if v, ok := cutPrefix(s, "Running benchmark for "); ok {
			n, ok := announced(v)
			p.repeats, p.repeat, p.warmups = n, 0, 0
			return ok
		}
	case 'S':
		if hasPrefix(s, "Sum ") {
			return p.levelRow(s)
		}
		if hasPrefix(s, "Stalls(count):") {
			p.stallCounts(s)
			return true
		}
		if string(s) == "STATISTICS:" {
			// Printed once, at the end; should it stand twice, the later counts all.
			p.section, p.cur.Tickers, p.cur.Distributions = sectionStatistics, nil, nil
			return true
		}
		return hasPrefix(s, "Set seed to ")
	case 'U':
		if hasPrefix(s, "Uptime(secs):") {
			p.uptimeLine(s)
			return true
		}
		if hasPrefix(s, "User ") {
			return p.section == sectionPriorities && !hasPrefix(s, "User time (")
		}
	case 'W':
		if hasPrefix(s, "WARNING:") {
			p.cur.Warnings = appendWarnings(p.cur.Warnings, []TextLine{p.here(s)})
			return true
		}
		if hasPrefix(s, "Write Stall (count):") {
			p.writeStalls(s)
			return true
		}
		if v, ok := cutPrefix(s, "Warming up benchmark by running "); ok {
			n, ok := announced(v)
			p.warmups, p.repeats, p.repeat = n, 0, 0
			return ok
		}
	case 'c':
		// compact0 found 6 files to compact from L0 to l6
		if string(s) == "compactall" || hasPrefix(s, "compact0 ") && bytes.Contains(s, []byte(" files to compact")) ||
			hasPrefix(s, "compact1 ") && bytes.Contains(s, []byte(" files to compact")) {
			return true
		}
	case 'e':
		return hasPrefix(s, "entries_per_batch = ")
	case 'f':
		if hasPrefix(s, "flush memtable") {
			return true
		}
	case 'n':
		if hasPrefix(s, "num-running-") {
			// Only what is printed while a benchmark runs ends with these.
			if p.inDump {
				p.dump.Interval = true
			}
			return true
		}
	case 'r':
		if hasPrefix(s, "rocksdb.") {
			return p.statistic(s)
		}
	case 't':
		if v, ok := cutPrefix(s, "test is: "); ok {
			p.cur.mark = p.here(trimSpace(v))
			return true
		}
	case 'w':
		if hasPrefix(s, "waitforcompaction") {
			return true
		}
	}
	return false
}

// announced reads "3 times" of a repeat announcement.
func announced(s []byte) (int, bool) {
	word, rest := nextWord(s)
	n, ok := parseCount(word)
	if !ok || n > 1<<20 || !hasPrefix(trimSpace(rest), "times") {
		return 0, false
	}
	return int(n), true
}

// common tries the rules that do not depend on a line's first character.
func (p *logParser) common(s []byte) bool {
	if i := bytes.Index(s, []byte(" micros/op")); i > 0 && p.opLine(s, i) {
		return true
	}
	if p.programLine(s) || p.commandLine(s) || p.failureLine(s) || p.cur.Usage.line(s) || p.summaryLine(s) || p.skippedLine(s) {
		return true
	}
	if p.section == sectionOptions {
		return p.option(s)
	}
	// Stats of one of several databases; the heading of LevelDB's stats.
	return hasPrefix(s, "==== DB: ") || string(s) == "Compactions"
}

// summaryLine reads what --benchmarks=x[X3] prints about its repeats. They are
// computed from the repeats and are no further samples:
//
//	readrandom [AVG 2 runs] : 99258 (± 40896) ops/sec;   39.8 (± 16.4) MB/sec
//	readrandom [MEDIAN 3 runs] : 120124 ops/sec;   48.1 MB/sec
//	readrandom [CI95 3 runs] : (78000, 121000) ops/sec
//
// The sign ± comes in UTF-8, in Latin-1 and as question marks.
func (p *logParser) summaryLine(s []byte) bool {
	i := bytes.IndexByte(s, '[')
	if i <= 0 || !(hasPrefix(s[i:], "[AVG ") || hasPrefix(s[i:], "[MEDIAN ") || hasPrefix(s[i:], "[CI95 ")) {
		return false
	}
	return bytes.Contains(s[i:], []byte(" runs] : ")) && bytes.Contains(s[i:], []byte(" ops/sec"))
}

// skippedLine reads "fillseq      : skipped (--use_existing_db is true)".
func (p *logParser) skippedLine(s []byte) bool {
	name, rest := nextWord(s)
	colon, rest := nextWord(rest)
	rest = trimSpace(rest)
	if string(colon) != ":" || !hasPrefix(rest, "skipped (") || !benchmarkName(name) {
		return false
	}
	if len(p.cur.Skipped) < maxTextLines {
		p.cur.Skipped = append(p.cur.Skipped, Skip{Name: string(name), TextLine: p.here(rest)})
	}
	return true
}
