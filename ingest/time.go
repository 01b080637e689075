package ingest

import (
	"bytes"
	"math"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
)

// Usage is what time(1) or a shell says about a process when it is over. The
// zero Usage says nothing.
type Usage struct {
	Real, User, System Measure // s
	MaxRSS             Measure // KiB
	// BlocksIn and BlocksOut are the storage reads and writes that the kernel
	// counted for the process, in blocks of 512 bytes.
	BlocksIn, BlocksOut Measure
	ExitStatus          int // 0 when it ended well or nothing is said
	Signal              int // that ended it; 0 when none is named
}

// line reads one line of any of these; false leaves u as it was:
//
//	real	3m3.939s             the time of bash; real	0m0,365s under a German locale
//	real 183.93              time -p
//		User time (seconds): 14.69   /usr/bin/time -v
//	Command exited with non-zero status 1
//	Command terminated by signal 9
func (u *Usage) line(s []byte) bool {
	s = trimSpace(s)
	if label, rest := nextWord(s); len(label) <= 4 {
		var to *Measure
		switch string(label) {
		case "real":
			to = &u.Real
		case "user":
			to = &u.User
		case "sys":
			to = &u.System
		}
		if to != nil {
			m := shellDuration(trimSpace(rest))
			if m.Known {
				*to = m
			}
			return m.Known
		}
	}
	if n, ok := cutPrefix(s, "Command exited with non-zero status "); ok {
		v, ok := parseCount(trimSpace(n))
		if ok && v < 1<<31 {
			u.ExitStatus = int(v)
		}
		return ok
	}
	if n, ok := cutPrefix(s, "Command terminated by signal "); ok {
		v, ok := parseCount(trimSpace(n))
		if ok && v < 1<<31 {
			u.Signal = int(v)
		}
		return ok
	}
	// time -v: the label may hold a colon itself, "(h:mm:ss or m:ss)".
	i := bytes.LastIndex(s, []byte(": "))
	if i < 0 {
		return false
	}
	value := trimSpace(s[i+2:])
	set := func(to *Measure, m Measure) bool {
		if m.Known {
			*to = m
		}
		return m.Known
	}
	switch string(s[:i]) {
	case "User time (seconds)":
		return set(&u.User, seconds(value))
	case "System time (seconds)":
		return set(&u.System, seconds(value))
	case "Elapsed (wall clock) time (h:mm:ss or m:ss)":
		return set(&u.Real, elapsed(value))
	case "Maximum resident set size (kbytes)":
		return set(&u.MaxRSS, seconds(value))
	case "File system inputs":
		return set(&u.BlocksIn, seconds(value))
	case "File system outputs":
		return set(&u.BlocksOut, seconds(value))
	case "Exit status":
		v, ok := parseCount(value)
		if ok = ok && v < 1<<31; ok {
			u.ExitStatus = int(v)
		}
		return ok
	case "Percent of CPU this job got", "Average shared text size (kbytes)", "Average unshared data size (kbytes)",
		"Average stack size (kbytes)", "Average total size (kbytes)", "Average resident set size (kbytes)",
		"Major (requiring I/O) page faults", "Minor (reclaiming a frame) page faults", "Voluntary context switches",
		"Involuntary context switches", "Swaps", "Socket messages sent", "Socket messages received",
		"Signals delivered", "Page size (bytes)":
	default:
		return false
	}
	return true
}

// seconds reads a number that is not negative, with a decimal point or a comma.
func seconds(s []byte) Measure {
	if i := bytes.IndexByte(s, ','); i >= 0 {
		s = append(append(append([]byte{}, s[:i]...), '.'), s[i+1:]...)
	}
	m := measure(s, 1)
	if m.Value < 0 {
		return Measure{}
	}
	return m
}

// shellDuration reads 3m3.939s, 0m0,365s and 183.93.
func shellDuration(s []byte) Measure {
	body, ok := bytes.CutSuffix(s, []byte("s"))
	if !ok {
		return seconds(s)
	}
	i := bytes.IndexByte(body, 'm')
	if i < 0 {
		return Measure{}
	}
	minutes, ok := parseCount(body[:i])
	m := seconds(body[i+1:])
	if !ok || minutes > 1<<30 || !m.Known {
		return Measure{}
	}
	m.Value += float64(minutes) * 60
	return m
}

// elapsed reads h:mm:ss and m:ss.cc.
func elapsed(s []byte) Measure {
	var whole float64
	for range 2 {
		i := bytes.IndexByte(s, ':')
		if i < 0 {
			break
		}
		n, ok := parseCount(s[:i])
		if !ok || n > 1<<30 {
			return Measure{}
		}
		whole = (whole + float64(n)) * 60
		s = s[i+1:]
	}
	m := seconds(s)
	if m.Known {
		m.Value += whole
	}
	return m
}

// ParseTimeFile reads the .time file that benchmark.sh lets time(1) write with
// -f '%e %U %S': its last line is wall, user and system seconds; a message about
// the exit status may stand above. ok is false for another content.
func ParseTimeFile(text []byte) (u Usage, ok bool) {
	last := []byte(nil)
	for l := newLines(text); ; {
		line, _, more := l.next()
		if !more {
			break
		}
		if line = trimSpace(line); len(line) == 0 {
			continue
		}
		u.line(line)
		last = line
	}
	var m [3]Measure
	for i := range m {
		var word []byte
		word, last = nextWord(last)
		if m[i] = seconds(word); !m[i].Known {
			return Usage{}, false
		}
	}
	if len(trimSpace(last)) > 0 {
		return Usage{}, false
	}
	u.Real, u.User, u.System = m[0], m[1], m[2]
	return u, true
}

// failure says in words how the process ended, "" when it ended well.
func (u Usage) failure() string {
	switch {
	case u.Signal != 0:
		return "terminated by signal " + strconv.Itoa(u.Signal)
	case u.ExitStatus != 0:
		return "exit status " + strconv.Itoa(u.ExitStatus)
	}
	return ""
}

// values gives the metrics of a process' resources.
func (u Usage) values() []bench.Value {
	kib := func(m Measure) Measure {
		return Measure{Value: m.Value / (1 << 20), Resolution: m.Resolution / (1 << 20), Known: m.Known}
	}
	blocks := func(m Measure) Measure {
		const gb = 512.0 / (1 << 30)
		return Measure{Value: m.Value * gb, Resolution: m.Resolution * gb, Known: m.Known}
	}
	return dumpValues([]dumpValue{
		{"user_cpu_s", "user", u.User}, {"system_cpu_s", "sys", u.System}, {"real_s", "real", u.Real},
		{"rss_gb", "Maximum resident set size (kbytes)", kib(u.MaxRSS)},
		{"read_io_gb", "File system inputs", blocks(u.BlocksIn)}, {"write_io_gb", "File system outputs", blocks(u.BlocksOut)},
	})
}

// fill takes from o what u does not say.
func (u Usage) fill(o Usage) Usage {
	for _, f := range []struct {
		to   *Measure
		from Measure
	}{{&u.Real, o.Real}, {&u.User, o.User}, {&u.System, o.System}, {&u.MaxRSS, o.MaxRSS}, {&u.BlocksIn, o.BlocksIn}, {&u.BlocksOut, o.BlocksOut}} {
		if !f.to.Known {
			*f.to = f.from
		}
	}
	if u.ExitStatus == 0 {
		u.ExitStatus = o.ExitStatus
	}
	if u.Signal == 0 {
		u.Signal = o.Signal
	}
	return u
}

// peakRSS gives the largest resident set of the lines of `ps aux` that
// benchmark.sh collects, in GB.
func peakRSS(text []byte) Measure {
	var peak Measure
	for l := newLines(text); ; {
		line, _, ok := l.next()
		if !ok {
			return peak
		}
		var word []byte
		for range 6 { // USER PID %CPU %MEM VSZ RSS
			word, line = nextWord(line)
		}
		kb, ok := parseCount(word)
		if !ok || !bytes.Contains(line, []byte("db_bench")) {
			continue
		}
		peak = Measure{Value: math.Max(peak.Value, float64(kb)/(1<<20)), Resolution: 1.0 / (1 << 20), Known: true}
	}
}
