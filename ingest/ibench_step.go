package ingest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// o.res.dop<D> is what the scripts make of a step: free text, in blocks.
//
//	1 processes, 20000000 rows-per-process, 328 seconds, 60975.6 rows-per-second, …
//
//	iostat, vmstat normalized by insert rate
//	nsamp	r/s	rMB/s	w/s	wMB/s	r/i	rKB/i	w/i	wKB/i	ips
//	64	0.0	0.0	37.7	11.9	0.000	0.000	0.001	0.199	60975.6
//
//	nsamp	cs/s	cpu/s	cs/q	cpu/q
//	65	6330	22.4	0.104	0.000367
//	(the same normalized by query rate)
//	dbGB	0.683
//	dbdirGB	1.913	/data/m/my
//	(the line of ps aux with the largest memory)
//	Max insert / Max delete / Max query, each with up to three numbers of seconds
//	(the clients' response times)
//	50th, 164 / 328 = 61530 insert, 0 delete, 0 query      of the first client
//	client: 300.1 user, 20.5 system, 320.6 total           of the first client
//	dbms: 250.3
//
// Its rates are over whole seconds of wall time, start and end of the clients
// included; that of l.x counts the rows indexed. They are what the tables of
// reports hold, so they are kept rather than the clients' own.

var stepSummaryRe = regexp.MustCompile(`^(\d{1,6}) processes, (\d+) rows-per-process, (\d+) seconds, (\S+) rows-per-second, \S+ rows-per-second-per-user(?:, (\S+) queries, (\S+) queries-per-second)?`)

// stepSummary is o.res, read.
type stepSummary struct {
	in        *input
	first     string // the first line
	processes int
	seconds   Measure
	ips, qps  string
	// cells holds the figures of a block by name, by what they are normalised by.
	inserts, queries map[string]Measure
	single           map[string]Measure // dbGB, dbdirGB, dbms, rss, vsz, Max insert …
	ranks            map[string][3]Measure
	user, system     Measure
	odd              []bench.Message
}

// stepColumns are the columns of a summary's blocks; those of the rates repeat
// what the first line says.
var stepColumns = map[string]bool{
	"nsamp": true, "samp": true, "r/s": true, "rMB/s": true, "w/s": true, "wMB/s": true, "r/i": true, "rKB/i": true, "w/i": true, "wKB/i": true, "ips": true,
	"r/q": true, "rKB/q": true, "w/q": true, "wKB/q": true, "qps": true, "cs/s": true, "cpu/s": true, "cs/q": true, "cpu/q": true, "cs/i": true, "cpu/i": true,
}

// isStepHeader reports whether words are the header of a block: most of them are
// columns that are known.
func isStepHeader(words []string) bool {
	known := 0
	for _, w := range words {
		if stepColumns[w] {
			known++
		}
	}
	return words[0] == "nsamp" || words[0] == "samp" || len(words) >= 4 && 2*known > len(words)
}

// isIBenchStep detects a step's summary by its first line.
func isIBenchStep(in *input) bool {
	l := newLines(in.text)
	line, _, _ := l.next()
	return len(line) < 1000 && stepSummaryRe.Match(line)
}

// readStepSummary reads o.res.
func readStepSummary(in *input) (*stepSummary, error) {
	s := &stepSummary{in: in, inserts: map[string]Measure{}, queries: map[string]Measure{}, single: map[string]Measure{}, ranks: map[string][3]Measure{}}
	var names []string
	block := s.inserts
	most := "" // "Max insert", whose figure comes next
	say := func(line int, column, format string, args ...any) {
		s.odd = appendBounded(s.odd, bench.Message{File: in.path, Line: line, Column: column, Text: fmt.Sprintf(format, args...)})
	}
	figure := func(line int, column, word string) Measure {
		m := measure([]byte(word), 1)
		if !missing(word) && (!m.Known || m.Value < 0 || m.Value > maxFigure) {
			say(line, column, "not a figure: %q; left out", clip(word))
			return Measure{}
		}
		return m
	}
	for l := newLines(in.text); ; {
		line, number, ok := l.next()
		if !ok {
			break
		}
		text := string(trimSpace(line[:min(len(line), 2000)]))
		if number == 1 {
			m := stepSummaryRe.FindStringSubmatch(text)
			if m == nil {
				return nil, bench.Errorf(bench.KindInvalid, "the first line is not that of a step's summary: %q", clip(text))
			}
			s.first, s.processes, s.seconds = text, atoi(m[1]), measure([]byte(m[3]), 1)
			s.ips, s.qps = m[4], m[6]
			if ips := measure([]byte(s.ips), 1); !ips.Known || ips.Value < 0 || ips.Value > maxFigure {
				return nil, bench.Errorf(bench.KindInvalid, "line 1: not a rate: %q", clip(s.ips))
			}
			if s.qps != "" {
				figure(number, "queries-per-second", s.qps)
			}
			continue
		}
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			names = nil
		case strings.Contains(text, "normalized by insert rate"):
			block = s.inserts
		case strings.Contains(text, "normalized by query rate"):
			block = s.queries
		case isStepHeader(words):
			names = words
		case names != nil && len(words) == len(names):
			for i, name := range names {
				if !stepColumns[name] {
					say(number, clip(name), "no such column is known; %q is left out", clip(words[i]))
					continue
				}
				block[name] = figure(number, name, words[i])
			}
			names = nil
		case names != nil:
			say(number, "", "the row has %d cells, its header %d; left out", len(words), len(names))
			names = nil
		case len(words) > 1 && (words[0] == "dbGB" || words[0] == "dbdirGB" || words[0] == "dbms:"):
			s.single[words[0]] = figure(number, words[0], words[1])
		case len(words) == 2 && words[0] == "Max":
			most = text
		case most != "" && len(words) == 1:
			s.single[most] = figure(number, most, words[0])
			most = ""
		case len(words) >= 10 && strings.HasSuffix(words[0], "th,") && words[4] == "=":
			if rank, ok := parseNumber([]byte(strings.TrimSuffix(words[0], "th,"))); !ok || !(rank > 0 && rank <= 100) {
				say(number, "", "not a percentile: %q; left out", clip(text))
			} else if _, known := s.ranks[words[0]]; !known { // of the first client
				s.ranks[words[0]] = [3]Measure{figure(number, words[0], words[5]), figure(number, words[0], words[7]), figure(number, words[0], words[9])}
			}
		case len(words) >= 5 && words[0] == "client:":
			s.user, s.system = figure(number, "client", words[1]), figure(number, "client", words[3])
		case len(words) >= 11:
			if rss, vsz := peakOfServer(line); rss.Known {
				s.single["rss"], s.single["vsz"] = rss, vsz
			} else if !strings.Contains(text, " rt:") {
				say(number, "", "not a line of ps: %q; left out", clip(withoutPasswords(text)))
			}
		}
	}
	return s, nil
}

// values adds the figures to a step's result; what the clients' outputs say more
// exactly stays.
func (s *stepSummary) values(r *bench.Result, inserting bool, clients int) {
	set := func(metric string, m Measure, source string) {
		if m.Known && m.Value >= 0 {
			r.Set(bench.Value{Metric: metric, Number: m.Value, Resolution: m.Resolution, SourceName: source})
		}
	}
	absent := func(metric string, m Measure, source string) {
		if _, known := r.Value(metric); !known {
			set(metric, m, source)
		}
	}
	r.Warnings = append(r.Warnings, s.odd...)
	set("ips", measure([]byte(s.ips), 1), "rows-per-second")
	set("elapsed_s", s.seconds, "seconds")
	block, per, rank, most := s.inserts, "i", 0, "Max insert"
	if !inserting {
		set("qps", measure([]byte(s.qps), 1), "queries-per-second")
		block, per, rank, most = s.queries, "q", 2, "Max query"
	}
	set("reads_per_s", block["r/s"], "r/s")
	set("writes_per_s", block["w/s"], "w/s")
	set("read_mb_per_s", block["rMB/s"], "rMB/s")
	set("write_mb_per_s", block["wMB/s"], "wMB/s")
	set("reads_per_op", block["r/"+per], "r/"+per)
	set("read_kb_per_op", block["rKB/"+per], "rKB/"+per)
	set("writes_per_op", s.inserts["w/i"], "w/i")
	set("write_kb_per_op", s.inserts["wKB/i"], "wKB/i")
	set("context_switches_per_s", block["cs/s"], "cs/s")
	set("cpu_percent", block["cpu/s"], "cpu/s")
	set("context_switches_per_op", block["cs/q"], "cs/q")
	set("db_size_gb", s.single["dbGB"], "dbGB")
	set("total_size_gb", s.single["dbdirGB"], "dbdirGB")
	set("server_cpu_s", s.single["dbms:"], "dbms")
	absent("rss_gb", s.single["rss"], "RSS")
	absent("vsz_gb", s.single["vsz"], "VSZ")
	absent("max_op_s", s.single[most], most)
	if s.processes == 1 || clients == 0 && s.processes <= 1 {
		// With more clients these are of the first alone.
		absent("p50_second_rate", s.ranks["50th,"][rank], "50th")
		absent("p99_second_rate", s.ranks["99th,"][rank], "99th")
		set("user_cpu_s", s.user, "client user")
		set("system_cpu_s", s.system, "client system")
	}
}
