package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// The output of one client of the Insert Benchmark (iibench.py), which its
// scripts keep as o.ib.dop<clients>.<n>:
//
//	python3 iibench.py --dbms=mysql …        the command line, with a password
//	i_sec t_sec i_ips t_ips …                header of 17 columns (12 before 2021)
//	1.0 1.0 16090 16090 …                    a line per interval, most often 1 s
//	get_min_trxid = 1 in 0.001 seconds       of another process: anywhere, even
//	                                         within a line
//	Insert rt: 256us 1ms … max               response times in two lines for each
//	Insert rt: 0 64 … 0.066681               operation, see ibench_times.go
//	Created secondary indexes in 8.4 seconds
//	Totals: 4.0 secs, 14994.0 rows/sec, 60000 rows, 0 0 0 insert-delete-query retry
//	Done
//
// Rates are of rows and of queries per second, the longest responses of an
// interval are in µs and 0 where there were none. A client that died prints no
// Done.

// The columns that are read, by name. The means since the start, t_ips, repeat
// what the others say; what else there is is named in a warning.
const (
	clientLength   = iota // i_sec
	clientTime            // t_sec
	clientIPS             // i_ips
	clientDPS             // i_dps
	clientQPS             // i_qps
	clientMaxI            // max_i
	clientMaxD            // max_d
	clientMaxQ            // max_q
	clientTotalDPS        // t_dps
	clientTotalQPS        // t_qps
	clientRows            // t_ins
	clientDeleted         // t_del
	clientQueries         // t_query
	clientRetryI          // retry_i
	clientRetryD          // retry_d
	clientRetryQ          // retry_q
	clientColumns
)

var clientColumnNames = [clientColumns]string{"i_sec", "t_sec", "i_ips", "i_dps", "i_qps", "max_i", "max_d", "max_q",
	"t_dps", "t_qps", "t_ins", "t_del", "t_query", "retry_i", "retry_d", "retry_q"}

// ibenchClient is the output of a client, read.
type ibenchClient struct {
	in      *input
	number  int               // n of the file's name, 0 unknown
	command string            // without password
	options map[string]string // of the command line, without password

	lengths, times []float64 // of the intervals, s
	lines          []int     // where they stand
	// rates of inserted and deleted rows and of queries, and the longest responses
	// of each in µs, by interval.
	rates, longest [3][]float64
	last           [clientColumns]float64 // of the last interval

	responses    map[string]*clientTimes // by operation
	queries      float64                 // of all query threads, as their ends say
	rowsPerQuery Measure
	indexes      Measure // s
	totals       string  // the line
	totalsAt     int     // its number
	elapsed      Measure // s
	rate         Measure // rows per second
	rateText     string
	rows         Measure
	done         bool
	usage        Usage
	lastLine     string // of those that are nothing known, for the reason of a failure
	messages     []bench.Message
	unread       int
	// What is odd about lines that are the client's, and how much more there is
	// than is listed.
	odd     []bench.Message
	oddMore int
	sum     [sha256.Size]byte // of the lines
}

// ibenchOperations are the operations in the order of [ibenchClient.rates].
var ibenchOperations = [3]string{"insert", "delete", "query"}

// clientHeader gives the columns of a header line and the place of each that is
// read, -1 where it has none; ok is false when it is no header.
func clientHeader(line []byte) (places [clientColumns]int, names []string, ok bool) {
	if !hasPrefix(line, "i_sec\tt_sec\t") {
		return places, nil, false
	}
	names = strings.Split(string(trimSpace(line)), "\t")
	for i, name := range clientColumnNames {
		places[i] = slices.Index(names, name)
	}
	if places[clientIPS] < 0 || len(names) > maxColumnsOfLine {
		return places, nil, false
	}
	return places, names, true
}

// isIBenchClient detects a client's output by its header, which stands near the
// top.
func isIBenchClient(in *input) bool {
	head := in.text[:min(len(in.text), 64<<10)]
	for at := 0; ; {
		i := bytes.Index(head[at:], []byte("i_sec\tt_sec\t"))
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || head[at-1] == '\n' {
			line, _, _ := bytes.Cut(head[at:], []byte("\n"))
			_, _, ok := clientHeader(line)
			return ok
		}
		at++
	}
}

// maxColumnsOfLine is how many cells of an interval's line are looked at.
const maxColumnsOfLine = 64

// maxOddOfClient is how many of the odd lines of a client's output are listed.
const maxOddOfClient = 20

// strange notes what is odd about a line of the client's.
func (c *ibenchClient) strange(line int, column, format string, args ...any) {
	if len(c.odd) >= maxOddOfClient {
		c.oddMore++
		return
	}
	c.odd = append(c.odd, bench.Message{File: c.in.path, Line: line, Column: column, Text: fmt.Sprintf(format, args...)})
}

// oddities gives what is odd about the output, the number of what is not listed
// last.
func (c *ibenchClient) oddities() []bench.Message {
	if c.oddMore == 0 {
		return c.odd
	}
	return append(slices.Clip(c.odd), bench.Message{File: c.in.path, Text: fmt.Sprintf("and %d more odd cells and lines", c.oddMore)})
}

// parseClient reads a client's output.
func parseClient(in *input) *ibenchClient {
	c := &ibenchClient{in: in, responses: map[string]*clientTimes{}}
	hash := sha256.New()
	var places [clientColumns]int
	var names []string // of the columns
	var cut []byte     // the beginning of a line that another process broke in two
	// Room for all intervals of common length.
	room := len(in.text)/64 + 16
	if room > 64 {
		room = min(room, 1+bytes.Count(in.text, []byte("\n")))
	}
	c.lengths, c.times, c.lines = make([]float64, 0, room), make([]float64, 0, room), make([]int, 0, room)
	for i := range c.rates {
		c.rates[i], c.longest[i] = make([]float64, 0, room), make([]float64, 0, room)
	}
	for l := newLines(in.text); ; {
		line, number, ok := l.next()
		if !ok {
			break
		}
		if len(line) > maxLine {
			c.skip(number, line[:maxQuoted])
			continue
		}
		// Passwords are told to nobody, nor is it whether two are the same.
		command := names == nil && bytes.Contains(line, []byte("iibench"))
		if !command {
			hash.Write(line)
			hash.Write([]byte{'\n'})
		}
		if len(line) == 0 {
			continue
		}
		if cut != nil {
			if names != nil && bytes.Count(cut, []byte{'\t'}) == len(names)-1 && (mayBeInterval(line, len(names)) || !isDigits(line)) {
				c.line(cut, number, names, &places) // it was whole but for its end of line
			} else {
				line = append(cut, line...)
			}
			cut = nil
		}
		if line[0] >= '0' && line[0] <= '9' && names != nil && c.interval(line, number, len(names), &places) {
			continue
		}
		if i := bytes.Index(line, []byte("get_min_trxid")); i >= 0 {
			if i > 0 {
				cut = append([]byte(nil), line[:i]...)
			}
			continue
		}
		if command {
			c.command, c.options = readCommand(line)
			hash.Write([]byte(c.command))
			continue
		}
		if p, n, ok := clientHeader(line); ok {
			places, names = p, n
			for _, name := range names {
				if name != "t_ips" && !slices.Contains(clientColumnNames[:], name) {
					c.strange(number, clip(name), "no such column is known; its figures are left out")
				}
			}
			continue
		}
		c.line(line, number, names, &places)
	}
	if len(cut) > 0 {
		c.line(cut, 0, names, &places)
	}
	hash.Sum(c.sum[:0])
	return c
}

// line reads a line that is not plainly one of figures alone.
func (c *ibenchClient) line(line []byte, number int, names []string, places *[clientColumns]int) {
	if names != nil && mayBeInterval(line, len(names)) {
		if !c.interval(line, number, len(names), places) {
			c.oddInterval(line, number, names, places)
		}
		return
	}
	if !c.words(trimSpace(line), number) {
		c.skip(number, line)
	}
}

// mayBeInterval reports whether a line is one of an interval, whatever its cells
// hold: as many cells as there are columns, or a number first and most of them.
func mayBeInterval(line []byte, columns int) bool {
	n := 1 + bytes.Count(line, []byte{'\t'})
	if n == columns {
		return true
	}
	first, _, _ := bytes.Cut(line, []byte{'\t'})
	_, isNumber := parseNumber(first)
	return isNumber && 2*n > columns
}

// isDigits reports whether a line may be the end of a number.
func isDigits(line []byte) bool { return len(bytes.Trim(trimSpace(line), "0123456789.")) == 0 }

// oddInterval reads what can be read of an interval's line: cells that are no
// figures are missing ones.
func (c *ibenchClient) oddInterval(line []byte, number int, names []string, places *[clientColumns]int) {
	cells := strings.Split(string(bytes.ToValidUTF8(line, nil)), "\t")
	if len(cells) != len(names) {
		c.strange(number, "", "the interval's line has %d cells, the header %d; left out", len(cells), len(names))
		return
	}
	values := make([]float64, len(cells))
	for i, cell := range cells {
		v, ok := parseNumber([]byte(strings.TrimSpace(cell)))
		if !ok || !(v >= 0 && v <= maxFigure) {
			v = math.NaN()
			if i != places[clientLength] && i != places[clientTime] {
				c.strange(number, names[i], "not a figure: %q; left out", clip(cell))
			}
		}
		values[i] = v
	}
	for _, column := range []int{clientLength, clientTime} {
		if at := places[column]; math.IsNaN(values[at]) {
			c.strange(number, names[at], "not a time: %q; nothing says where the interval belongs, it is left out", clip(cells[at]))
			return
		}
	}
	c.append(values, number, places)
}

// skip notes a line that is nothing known.
func (c *ibenchClient) skip(number int, line []byte) {
	c.unread++
	text := withoutPasswords(string(bytes.ToValidUTF8(line, nil)))
	c.lastLine = clip(strings.TrimSpace(text))
	if c.unread <= maxMessages {
		c.messages = append(c.messages, bench.Message{File: c.in.path, Line: number, Text: fmt.Sprintf("not a line of the client: %q", c.lastLine)})
	}
}

// interval reads the line of an interval; false when it is none.
func (c *ibenchClient) interval(line []byte, number, columns int, places *[clientColumns]int) bool {
	var cells [maxColumnsOfLine]float64 // no header has more
	n, start := 0, 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] != '\t' {
			continue
		}
		if n == columns {
			return false
		}
		v, ok := parseNumber(line[start:i])
		if !ok || !(v >= 0 && v <= maxFigure) {
			return false
		}
		cells[n] = v
		n, start = n+1, i+1
	}
	if n != columns {
		return false
	}
	c.append(cells[:n], number, places)
	return true
}

// append adds an interval; cells that are missing are NaN.
func (c *ibenchClient) append(cells []float64, number int, places *[clientColumns]int) {
	var row [clientColumns]float64
	for i, at := range places {
		row[i] = math.NaN() // scripts before 2021 have fewer columns
		if at >= 0 {
			row[i] = cells[at]
		}
	}
	if k := len(c.times) - 1; k >= 0 && c.times[k] == row[clientTime] {
		if slices.EqualFunc(row[:], c.last[:], func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			c.strange(number, "", "the interval that ends at %g s stands twice; counted once", c.times[k])
		} else {
			// A short interval at the end may round to the time of the one before.
			c.strange(number, "", "a second interval that ends at %g s, as that of line %d does; left out of the figures by second", c.times[k], c.lines[k])
			c.last = row
		}
		return
	}
	c.lengths, c.times, c.lines = append(c.lengths, row[clientLength]), append(c.times, row[clientTime]), append(c.lines, number)
	for i := range c.rates {
		c.rates[i] = append(c.rates[i], row[clientIPS+i])
		c.longest[i] = append(c.longest[i], row[clientMaxI+i])
	}
	c.last = row
}

// words reads a line of words; false when it is none that is known. One that is
// known and says what it should not is noted as odd.
func (c *ibenchClient) words(line []byte, number int) bool {
	text := string(bytes.ToValidUTF8(line[:min(len(line), 400)], nil))
	read := func(what string, ok bool) bool {
		if !ok {
			c.strange(number, "", "%s not read: %q", what, clip(text))
		}
		return true
	}
	if label, rest, found := strings.Cut(text, " rt:"); found {
		first, _, _ := strings.Cut(strings.ToLower(label), " ")
		if !slices.Contains(ibenchOperations[:], first) {
			return false
		}
		if strings.HasPrefix(strings.TrimSpace(rest), rtColumns[0]) {
			return read("the columns of response times are others than known:", slices.Equal(strings.Fields(rest), rtColumns[:]))
		}
		t, ok := parseClientTimes([]byte(rest))
		switch known := c.responses[first]; {
		case !ok:
			return read(first+" response times are", false)
		case known == nil:
			c.responses[first] = &t
		case known.clients == 1 && known.counts == t.counts && known.longest == t.longest && t.longest > 0:
			c.strange(number, "", "the %s response times stand twice; counted once", first)
		default:
			known.add(t)
		}
		return true
	}
	switch {
	case text == "Done":
		c.done = true
	case strings.HasPrefix(text, "getmin "), strings.HasPrefix(text, "getmax "):
	case strings.HasPrefix(text, "Totals: "):
		if c.totals != "" {
			if c.totals != text {
				c.strange(number, "", "other totals than in line %d, which are kept: %q", c.totalsAt, clip(text))
			}
			return true
		}
		c.totals, c.totalsAt = text, number
		return read("the totals are", c.total(text))
	case strings.HasPrefix(text, "Created secondary indexes in "):
		word, _ := nextWord([]byte(strings.TrimPrefix(text, "Created secondary indexes in ")))
		c.indexes = measure(word, 1)
		if c.indexes.Known = c.indexes.Known && c.indexes.Value >= 0 && c.indexes.Value <= maxFigure; !c.indexes.Known {
			c.indexes = Measure{}
		}
		return read("the time of the secondary indexes is", c.indexes.Known)
	case strings.HasPrefix(text, "Query thread"):
		return read("the queries of a thread are", c.queryThread(text))
	default:
		return c.usage.line(line)
	}
	return true
}

// total reads "Totals: 4.0 secs, 14994.0 rows/sec, 60000 rows, …".
func (c *ibenchClient) total(text string) bool {
	parts := strings.Split(strings.TrimPrefix(text, "Totals: "), ", ")
	if len(parts) < 3 {
		return false
	}
	// A figure that is none leaves the others as they are.
	word := func(part, unit string) (string, Measure) {
		w, found := strings.CutSuffix(part, " "+unit)
		m := measure([]byte(w), 1)
		if !found || !m.Known || m.Value < 0 || m.Value > maxFigure {
			return "", Measure{}
		}
		return w, m
	}
	_, c.elapsed = word(parts[0], "secs")
	c.rateText, c.rate = word(parts[1], "rows/sec")
	_, c.rows = word(parts[2], "rows")
	return c.elapsed.Known && c.rate.Known && c.rows.Known
}

// queryThread reads "Query thread: 43504 queries, fetched/query(expected,
// actual) = ( 10 , 9.995 )"; some versions number their threads.
func (c *ibenchClient) queryThread(text string) bool {
	_, rest, found := strings.Cut(text, ": ")
	word, rest2 := nextWord([]byte(rest))
	n, ok := parseCount(word)
	if !found || !ok || !bytes.Contains(rest2, []byte("queries")) {
		return false
	}
	c.queries += float64(n)
	if _, actual, found := strings.Cut(rest, "( "); found {
		_, actual, _ = strings.Cut(actual, " , ")
		w, _ := nextWord([]byte(actual))
		c.rowsPerQuery = measure(w, 1)
	}
	return true
}

// died says why the client did not finish, "" when it did.
func (c *ibenchClient) died() string {
	if c.done {
		return ""
	}
	who := "the client"
	if c.number > 0 {
		who = fmt.Sprintf("client %d", c.number)
	}
	text := who + ` did not print "Done": it died or was ended`
	if n := len(c.times); n > 0 {
		text += fmt.Sprintf(" after %g seconds", c.times[n-1])
	}
	if c.lastLine != "" {
		text += ": " + c.lastLine
	}
	return text
}

// identity is the text that the measurement is known by: it has no date.
func (c *ibenchClient) identity() string {
	end := c.totals
	if end == "" {
		end = "no totals"
	}
	return end + " sha256:" + hex.EncodeToString(c.sum[:12])
}

// readCommand gives a command line and its options, without passwords.
func readCommand(line []byte) (command string, options map[string]string) {
	command = withoutPasswords(string(bytes.ToValidUTF8(trimSpace(line), nil)))
	options = map[string]string{}
	words := strings.Fields(command)
	for i := 0; i < len(words) && len(options) < 200; i++ {
		name, found := strings.CutPrefix(words[i], "--")
		if !found || name == "" {
			continue
		}
		name, value, assigned := strings.Cut(name, "=")
		if isPasswordOption(name) {
			continue
		}
		if !assigned {
			value = "true"
			if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
				value = words[i+1]
				i++
			}
		}
		options[name] = strings.Trim(value, `"'`)
	}
	return command, options
}

// isPasswordOption reports whether an option's name is that of a password.
func isPasswordOption(name string) bool {
	name = strings.ToLower(name)
	for _, w := range []string{"password", "passwd", "passphrase", "pwd", "secret", "token"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// withoutPasswords replaces the values of options that hold passwords, in all
// ways to write them: --db_password=pw, --db_password pw, "…", and those within
// addresses (mysql://user:pw@host).
func withoutPasswords(text string) string {
	const instead = "***"
	var out strings.Builder
	hide := false // the next word is a password
	for len(text) > 0 {
		i := 0
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		out.WriteString(text[:i])
		text = text[i:]
		// A word ends at a blank that is not quoted. Quotes begin a word or a value;
		// elsewhere they are apostrophes.
		end, quote := 0, byte(0)
		for end < len(text) && (quote != 0 || text[end] != ' ' && text[end] != '\t') {
			switch c := text[end]; {
			case quote == c:
				quote = 0
			case quote == 0 && (c == '"' || c == '\'') && (end == 0 || text[end-1] == '=') && strings.IndexByte(text[end+1:], c) >= 0:
				quote = c
			}
			end++
		}
		word := text[:end]
		text = text[end:]
		name, value, assigned := strings.Cut(word, "=")
		option := strings.HasPrefix(word, "-")
		switch {
		case hide && !option:
			if word != "" {
				word = instead
			}
			hide = false
		case assigned && isPasswordOption(name):
			if word = name + "="; value != "" {
				word += instead
			}
			hide = false
		default:
			hide = option && !assigned && isPasswordOption(name)
			word = withoutUserInfo(word, instead)
		}
		out.WriteString(word)
	}
	return out.String()
}

// withoutUserInfo hides the password of scheme://user:password@host.
func withoutUserInfo(word, instead string) string {
	scheme, rest, found := strings.Cut(word, "://")
	if !found {
		return word
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return word
	}
	user, _, found := strings.Cut(rest[:at], ":")
	if !found {
		return word
	}
	return scheme + "://" + user + ":" + instead + rest[at:]
}

// clientSlots holds the intervals of a client at equal distances, those that are
// missing marked by NaN.
type clientSlots struct {
	rates, longest [3][]float64
	start, length  float64 // end of the first and length of each, s
}

// slots places the intervals of a client, and notes those that are missing.
func (c *ibenchClient) slots() (s clientSlots, err error) {
	n := len(c.times)
	if n == 0 {
		return s, nil
	}
	sorted := slices.Clone(c.lengths)
	slices.Sort(sorted)
	usual := sorted[n/2]
	if usual <= 0 {
		return s, bench.Errorf(bench.KindInvalid, "%s: intervals of %g seconds", c.in.path, usual)
	}
	before, used, first := 0.0, 0, 0
	// All lines are there nearly always.
	for i := range s.rates {
		s.rates[i], s.longest[i] = make([]float64, 0, n), make([]float64, 0, n)
	}
	for k, t := range c.times {
		if t < before {
			return s, bench.Errorf(bench.KindInvalid, "%s: line %d: t_sec %g follows %g: not the intervals of one client", c.in.path, c.lines[k], t, before)
		}
		// A slow interval fills several places; the clock drifts by little in each.
		covered := max(1, int(math.Round(c.lengths[k]/usual)))
		gap := max(0, int(math.Round((t-before-c.lengths[k])/usual)))
		if used += covered + gap; used > 4*n+64 {
			return s, bench.Errorf(bench.KindInvalid, "%s: t_sec runs to %g in %d lines: most intervals are missing", c.in.path, c.times[n-1], n)
		}
		if gap > 0 {
			c.strange(c.lines[k], "t_sec", "%d intervals before the one that ends at %g s are missing", gap, t)
		}
		for i := range s.rates {
			for range gap {
				s.rates[i], s.longest[i] = append(s.rates[i], math.NaN()), append(s.longest[i], math.NaN())
			}
			for range covered - 1 {
				s.rates[i], s.longest[i] = append(s.rates[i], c.rates[i][k]), append(s.longest[i], math.NaN())
			}
			top := c.longest[i][k]
			if top == 0 {
				top = math.NaN() // no statement ended in the interval
			}
			s.rates[i], s.longest[i] = append(s.rates[i], c.rates[i][k]), append(s.longest[i], top)
		}
		if k == 0 {
			first = covered + gap
		}
		before = t
	}
	s.length = usual
	if k := len(s.rates[0]); k > first {
		s.length = (c.times[n-1] - c.times[0]) / float64(k-first)
	}
	if !(s.length > 0) {
		s.length = usual
	}
	s.start = c.times[0] - s.length*float64(first-1)
	c.ending(usual)
	return s, nil
}

// ending notes where the last interval and the totals do not fit.
func (c *ibenchClient) ending(usual float64) {
	end := c.times[len(c.times)-1]
	if c.elapsed.Known && c.elapsed.Value-c.indexes.Value-end > 1.5*usual {
		c.strange(c.totalsAt, "", "the totals are of %g s, the last interval ends at %g s", c.elapsed.Value, end)
	}
}

// doubts notes where the totals contradict themselves or the intervals. excluded
// says why nothing can be compared with their rate.
func (c *ibenchClient) doubts(inserting bool) (excluded string) {
	elapsed, rate, rows := c.elapsed, c.rate, c.rows
	switch {
	case !elapsed.Known || !rate.Known || !rows.Known:
	case rows.Value == 0 && rate.Value == 0:
		if inserting {
			c.strange(c.totalsAt, "", "the totals say that no row was inserted")
		}
	case elapsed.Value == 0 || rate.Value == 0:
		c.strange(c.totalsAt, "", "the totals contradict themselves: %s; their rate and time are left out", clip(c.totals))
		c.rate, c.elapsed = Measure{}, Measure{}
	default:
		low := rows.Value / (elapsed.Value + elapsed.Resolution/2)
		high := math.Inf(1)
		if least := elapsed.Value - elapsed.Resolution/2; least > 0 {
			high = rows.Value / least
		}
		if rate.Value+rate.Resolution < low || rate.Value-rate.Resolution > high {
			c.strange(c.totalsAt, "", "the totals contradict themselves: %g rows in %g s are %.1f rows/sec, printed are %g, which are kept", rows.Value, elapsed.Value, rows.Value/elapsed.Value, rate.Value)
			excluded = "the rate contradicts the rows and the time beside it"
		}
	}
	last := c.last[clientRows]
	if len(c.times) > 0 && rows.Known && !math.IsNaN(last) && last != rows.Value {
		c.strange(c.totalsAt, "", "the last interval counts %g rows, the totals %g", last, rows.Value)
	}
	if c.done && c.totals == "" {
		c.strange(0, "", "the output has no totals")
	}
	return excluded
}
