package ingest

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
)

// Measure is a number with the smallest step its source can show, in the unit
// of the field that holds it. The zero Measure is not known.
type Measure struct {
	Value      float64
	Resolution float64
	Known      bool
}

// measure reads a word and converts it.
func measure(word []byte, factor float64) Measure {
	v, ok := parseNumber(word)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return Measure{}
	}
	return Measure{Value: v * factor, Resolution: decimalStep(word) * factor, Known: true}
}

// plus adds the same figure of another column family.
func (m Measure) plus(o Measure) Measure {
	switch {
	case !m.Known:
		return o
	case !o.Known:
		return m
	}
	return Measure{Value: m.Value + o.Value, Resolution: math.Max(m.Resolution, o.Resolution), Known: true}
}

// measure is [measure] of a word that stands for a figure: one that is none is
// noted.
func (p *logParser) measure(word []byte, factor float64) Measure {
	m := measure(word, factor)
	if len(word) > 0 && (!m.Known || m.Value < 0 || m.Value > maxFigure) {
		p.odd(word)
		return Measure{}
	}
	return m
}

// odd notes a word that stands for a figure and is none; the results of the
// process say so.
func (p *logParser) odd(word []byte) {
	w := TextLine{File: p.file, Line: p.line, Text: fmt.Sprintf("not a figure: %q; left out", clip(string(bytes.ToValidUTF8(word, nil)))), at: p.at}
	p.cur.Warnings = appendWarnings(p.cur.Warnings, []TextLine{w})
}

// Dump is one print of the database's own statistics (--benchmarks=stats, or
// --stats_per_interval while a benchmark runs). Sizes are in GB of 2^30, rates
// in MB of 2^20 a second; figures of several column families are added up. Its
// cumulative figures count from the opening of the database, not from the
// beginning of a benchmark.
type Dump struct {
	Line int
	// Interval marks a dump printed while a benchmark ran.
	Interval bool
	Families []string // column families

	Size, Level0Size, BlobSize Measure // GB, at the time of the dump
	CompactionWall             Measure // s, Comp(sec) of the Sum row
	CompactionCPU              Measure // s, CompMergeCPU(sec)
	BlobRead, BlobWrite        Measure // GB, Rblob(GB) and Wblob(GB)
	CompactionWrite            Measure // GB, flush included
	CompactionRead             Measure // GB
	CompactionWriteRate        Measure // MB/s over uptime
	Flush                      Measure // GB
	Ingest                     Measure // GB written by the application
	Uptime                     Measure // s
	Stall                      Measure // s
	StallPercent               Measure // % of uptime
	StallCount                 Measure

	at    int
	sawDB bool // its ** DB Stats ** part began, after which no family follows
}

// closeDump ends the dump being read.
func (p *logParser) closeDump() {
	if !p.inDump {
		return
	}
	if n := len(p.cur.Dumps); n == maxDumps { // the last one counts
		p.cur.Dumps[n-1] = p.dump
	} else {
		p.cur.Dumps = append(p.cur.Dumps, p.dump)
	}
	p.dump, p.inDump = Dump{}, false
}

// openDump starts a dump, or a further column family of the one being read.
func (p *logParser) openDump(family []byte) {
	if p.inDump && !p.dump.sawDB {
		again := false
		for _, f := range p.dump.Families {
			again = again || f == string(family)
		}
		if !again && len(p.dump.Families) < maxOptions {
			p.dump.Families = append(p.dump.Families, string(family))
			return
		}
	}
	p.closeDump()
	p.inDump = true
	p.dump = Dump{Line: p.line, Interval: p.interval, Families: []string{string(family)}, at: p.at}
}

// columns says where the figures of a table by level stand. Columns come and go
// between releases (10.3 put one in the middle), so that they are found by the
// names in the heading and never counted.
type columns struct {
	heading                              []byte
	words                                int // of a row
	size, wall, cpu, blobRead, blobWrite int // index of the word, -1: none
	unit                                 int // of the size; -1: the heading states it
	sizeFactor                           float64
}

// read finds the columns in a heading.
func (c *columns) read(heading []byte) {
	if c.words > 0 && bytes.Equal(heading, c.heading) {
		return
	}
	*c = columns{heading: heading, size: -1, wall: -1, cpu: -1, blobRead: -1, blobWrite: -1, unit: -1}
	for rest := heading; ; c.words++ {
		var name []byte
		if name, rest = nextWord(rest); len(name) == 0 {
			return
		}
		switch string(name) {
		case "Size": // from 5.4 on a row has the unit as a word of its own: 18.18 MB
			c.size, c.unit = c.words, c.words+1
			c.words++
		case "Size(MB)", "Size(MB}": // the brace is a slip of 5.0 to 5.3
			c.size, c.sizeFactor = c.words, 1.0/(1<<10)
		case "Comp(sec)":
			c.wall = c.words
		case "CompMergeCPU(sec)":
			c.cpu = c.words
		case "Rblob(GB)":
			c.blobRead = c.words
		case "Wblob(GB)":
			c.blobWrite = c.words
		}
	}
}

// levelHeading reads the first line of a table by level, of the compaction
// statistics or of the levelstats benchmark.
func (p *logParser) levelHeading(s []byte) bool {
	if !bytes.Contains(s, []byte(" Score ")) {
		p.section = sectionLevelStats
		return true
	}
	p.section = sectionLevels
	p.columns.read(s)
	p.openDump(p.family)
	return true
}

// levelRow reads a row of the table by level. Only level 0 and the sum are kept.
func (p *logParser) levelRow(s []byte) bool {
	if p.section != sectionLevels {
		return false
	}
	sum := s[0] == 'S'
	if !sum && !hasPrefix(s, "L0 ") {
		level, _ := nextWord(s)
		if len(level) > 1 && level[0] == 'L' && level[1] >= '0' && level[1] <= '9' {
			_, ok := parseCount(level[1:])
			return ok
		}
		return true
	}
	c := &p.columns
	n, factor := 0, c.sizeFactor
	var size Measure
	row := [4]Measure{} // wall, cpu, blob read, blob write
	for rest := s; ; n++ {
		var word []byte
		if word, rest = nextWord(rest); len(word) == 0 {
			break
		}
		switch n {
		case c.size:
			size = p.measure(word, 1)
		case c.unit:
			var ok bool
			if factor, ok = gigabytes(word); !ok {
				return false
			}
		case c.wall:
			row[0] = p.measure(word, 1)
		case c.cpu:
			row[1] = p.measure(word, 1)
		case c.blobRead:
			row[2] = p.measure(word, 1)
		case c.blobWrite:
			row[3] = p.measure(word, 1)
		}
	}
	if n != c.words {
		return false // cells are missing: which, nobody knows
	}
	size.Value, size.Resolution = size.Value*factor, size.Resolution*factor
	d := &p.dump
	if !sum {
		d.Level0Size = d.Level0Size.plus(size)
		return true
	}
	d.Size = d.Size.plus(size)
	d.CompactionWall, d.CompactionCPU = d.CompactionWall.plus(row[0]), d.CompactionCPU.plus(row[1])
	d.BlobRead, d.BlobWrite = d.BlobRead.plus(row[2]), d.BlobWrite.plus(row[3])
	return true
}

// blobLine reads "Blob file count: 0, total size: 0.0 GB, garbage size: …".
func (p *logParser) blobLine(s []byte) {
	p.dump.BlobSize = p.dump.BlobSize.plus(p.sized(s, "total size:"))
}

// sized reads a number with its unit after a label.
func (p *logParser) sized(s []byte, label string) Measure {
	i := bytes.Index(s, []byte(label))
	if i < 0 {
		return Measure{}
	}
	word, rest := nextWord(s[i+len(label):])
	unit, _ := nextWord(rest)
	factor, ok := gigabytes(bytes.TrimRight(unit, ","))
	if !ok {
		p.odd(unit)
		return Measure{}
	}
	return p.measure(word, factor)
}

// uptimeLine reads "Uptime(secs): 12.3 total, 12.2 interval", which each column
// family repeats.
func (p *logParser) uptimeLine(s []byte) {
	p.dump.Uptime = p.measure(after(s, "Uptime(secs):"), 1)
}

// flushLine reads "Flush(GB): cumulative 0.036, interval 0.032".
func (p *logParser) flushLine(s []byte) {
	p.dump.Flush = p.dump.Flush.plus(p.measure(after(s, "cumulative"), 1))
}

// cumulativeLine reads
//
//	Cumulative compaction: 0.27 GB write, 24.11 MB/s write, 0.28 GB read, 25.34 MB/s read, 7.2 seconds
//	Cumulative writes: 10M writes, 10M keys, 10M commit groups, 1.0 writes per commit group, ingest: 76.59 GB, 108.00 MB/s
//	Cumulative stall: 00:09:50.644 H:M:S, 81.3 percent
func (p *logParser) cumulativeLine(s []byte) {
	d := &p.dump
	rest := s[len("Cumulative "):]
	switch {
	case hasPrefix(rest, "compaction:"):
		d.CompactionWrite = d.CompactionWrite.plus(p.sized(rest, "compaction:"))
		if i := bytes.Index(rest, []byte("write, ")); i >= 0 {
			rate, more := nextWord(rest[i+len("write, "):])
			if unit, _ := nextWord(more); string(unit) == "MB/s" {
				d.CompactionWriteRate = d.CompactionWriteRate.plus(p.measure(rate, 1))
			}
		}
		d.CompactionRead = d.CompactionRead.plus(p.sized(rest, "MB/s write,"))
	case hasPrefix(rest, "writes:"):
		d.Ingest = p.sized(rest, "ingest:")
	case hasPrefix(rest, "stall:"):
		stall := after(rest, "stall:")
		if d.Stall = clock(stall); !d.Stall.Known {
			p.odd(stall)
		}
		d.StallPercent = p.measure(after(rest, "H:M:S,"), 1)
	}
}

// clock reads H:M:S with a fraction: 00:09:50.644, and 00:00:0.000 as db_bench
// prints it.
func clock(word []byte) Measure {
	var parts [3][]byte
	for i := range 2 {
		j := bytes.IndexByte(word, ':')
		if j < 0 {
			return Measure{}
		}
		parts[i], word = word[:j], word[j+1:]
	}
	parts[2] = word
	hours, okH := parseCount(parts[0])
	minutes, okM := parseCount(parts[1])
	seconds := measure(parts[2], 1)
	if !okH || !okM || !seconds.Known || hours > 1<<20 || minutes > 59 || seconds.Value < 0 || seconds.Value >= 60 {
		return Measure{}
	}
	seconds.Value += float64(hours*3600 + minutes*60)
	return seconds
}

// stallReasons are the counters that benchmark.sh adds up; the others count
// again what these count.
var stallReasons = []string{
	" level0_slowdown", " level0_numfiles", " stop for pending_compaction_bytes", " slowdown for pending_compaction_bytes",
	" memtable_compaction", " memtable_slowdown",
}

// stallCounts reads the line of releases up to 8.0: "Stalls(count): 311
// level0_slowdown, 97 level0_slowdown_with_compaction, 0 level0_numfiles, …".
func (p *logParser) stallCounts(s []byte) {
	var sum Measure
	rest := s[len("Stalls(count):"):]
	for len(rest) > 0 {
		part := rest
		if i := bytes.IndexByte(rest, ','); i >= 0 {
			part, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		part = trimSpace(part)
		for _, reason := range stallReasons {
			if n, ok := bytes.CutSuffix(part, []byte(reason)); ok {
				v, ok := parseCount(n)
				if !ok {
					p.odd(n)
					continue
				}
				sum = sum.plus(Measure{Value: float64(v), Resolution: 1, Known: true})
			}
		}
	}
	p.dump.StallCount = p.dump.StallCount.plus(sum)
}

// writeStalls reads the line that replaced it in 8.1: "Write Stall (count):
// cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, …, total-delays: 12,
// total-stops: 5, interval: 0 total count". A second one, of the database as a
// whole, counts stops for the write buffer manager.
func (p *logParser) writeStalls(s []byte) {
	for _, label := range []string{" total-delays:", " total-stops:", " write-buffer-manager-limit-stops:"} {
		p.dump.StallCount = p.dump.StallCount.plus(p.measure(after(s, label), 1))
	}
}

// writeAmp gives the write amplification as benchmark.sh counts it: compaction,
// which includes flushes, and flushes again, over what was ingested, all rounded
// to a tenth of a GB first. The rounding is kept so that a log and the row made
// of it say the same; at sizes worth measuring it makes no difference.
func (d *Dump) writeAmp() Measure {
	if !d.CompactionWrite.Known || !d.Flush.Known || !d.Ingest.Known {
		return Measure{}
	}
	tenth := func(v float64) float64 { // as printf does it, halves by their binary value
		t, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 1, 64), 64)
		return t
	}
	ingest := tenth(d.Ingest.Value)
	if ingest <= 0 {
		return Measure{}
	}
	return Measure{Value: (tenth(d.CompactionWrite.Value) + d.Flush.Value) / ingest, Resolution: 0.1, Known: true}
}

// states gives the figures that describe the database at the time of the dump.
func (d *Dump) states() []bench.Value {
	return dumpValues([]dumpValue{
		{"db_size_gb", "Sum Size", d.Size}, {"level0_size_gb", "L0 Size", d.Level0Size}, {"blob_size_gb", "Blob total size", d.BlobSize},
	})
}

// sinceOpening gives the figures that count from the opening of the database.
func (d *Dump) sinceOpening() []bench.Value {
	return dumpValues([]dumpValue{
		{"compaction_write_gb", "Cumulative compaction write", d.CompactionWrite},
		{"compaction_read_gb", "Cumulative compaction read", d.CompactionRead},
		{"flush_write_gb", "Flush(GB) cumulative", d.Flush},
		{"ingest_gb", "Cumulative writes ingest", d.Ingest},
		{"write_amp", "w_amp", d.writeAmp()},
		{"compaction_write_mb_per_s", "Cumulative compaction MB/s write", d.CompactionWriteRate},
		{"compaction_wall_s", "Sum Comp(sec)", d.CompactionWall},
		{"compaction_cpu_s", "Sum CompMergeCPU(sec)", d.CompactionCPU},
		{"blob_read_gb", "Sum Rblob(GB)", d.BlobRead},
		{"blob_write_gb", "Sum Wblob(GB)", d.BlobWrite},
		{"uptime_s", "Uptime(secs)", d.Uptime},
		{"stall_s", "Cumulative stall", d.Stall},
		{"stall_percent", "Cumulative stall percent", d.StallPercent},
		{"stall_count", "Stalls(count)", d.StallCount},
	})
}

type dumpValue struct {
	metric, source string
	m              Measure
}

func dumpValues(list []dumpValue) []bench.Value {
	var values []bench.Value
	for _, v := range list {
		if v.m.Known {
			values = append(values, bench.Value{Metric: v.metric, Number: v.m.Value, Resolution: v.m.Resolution, SourceName: v.source})
		}
	}
	return values
}
