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

// The columns that are read, by name. Others, known or not, are passed over.
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
	// rates of inserted and deleted rows and of queries, and the longest responses
	// of each in µs, by interval.
	rates, longest [3][]float64
	last           [clientColumns]float64 // of the last interval

	responses    map[string]*clientTimes // by operation
	queries      float64                 // of all query threads, as their ends say
	rowsPerQuery Measure
	indexes      Measure // s
	totals       string  // the line
	elapsed      Measure // s
	rate         Measure // rows per second
	rateText     string
	rows         float64
	done         bool
	usage        Usage
	lastLine     string // of those that are nothing known, for the reason of a failure
	messages     []bench.Message
	unread       int
	sum          [sha256.Size]byte // of the lines
}

// ibenchOperations are the operations in the order of [ibenchClient.rates].
var ibenchOperations = [3]string{"insert", "delete", "query"}

// clientHeader gives the place of each column of a header line; ok is false when
// it is none.
func clientHeader(line []byte) (places [clientColumns]int, n int, ok bool) {
	if !hasPrefix(line, "i_sec\tt_sec\t") {
		return places, 0, false
	}
	names := strings.Split(string(trimSpace(line)), "\t")
	for i, name := range clientColumnNames {
		places[i] = slices.Index(names, name)
	}
	if places[clientIPS] < 0 || len(names) > 64 {
		return places, 0, false
	}
	return places, len(names), true
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

// parseClient reads a client's output.
func parseClient(in *input) *ibenchClient {
	c := &ibenchClient{in: in, responses: map[string]*clientTimes{}}
	hash := sha256.New()
	var places [clientColumns]int
	columns := 0
	var cut []byte // the beginning of a line that another process broke in two
	// Room for all intervals of common length.
	room := len(in.text)/64 + 16
	if room > 64 {
		room = min(room, 1+bytes.Count(in.text, []byte("\n")))
	}
	c.lengths, c.times = make([]float64, 0, room), make([]float64, 0, room)
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
		command := columns == 0 && bytes.Contains(line, []byte("iibench"))
		if !command {
			hash.Write(line)
			hash.Write([]byte{'\n'})
		}
		if len(line) == 0 {
			continue
		}
		if cut != nil {
			line, cut = append(cut, line...), nil
		}
		if line[0] >= '0' && line[0] <= '9' && columns > 0 && c.interval(line, columns, &places) {
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
			places, columns = p, n
			continue
		}
		if !c.words(trimSpace(line)) {
			c.skip(number, line)
		}
	}
	if len(cut) > 0 {
		c.skip(0, cut)
	}
	hash.Sum(c.sum[:0])
	return c
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
func (c *ibenchClient) interval(line []byte, columns int, places *[clientColumns]int) bool {
	var cells [maxColumnsOfLine]float64
	n, start := 0, 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] != '\t' {
			continue
		}
		if n == columns {
			return false
		}
		v, ok := parseNumber(line[start:i])
		if !ok || !(v >= 0 && v <= math.MaxInt64) {
			return false
		}
		cells[n] = v
		n, start = n+1, i+1
	}
	if n != columns {
		return false
	}
	var row [clientColumns]float64
	for i, at := range places {
		if at >= 0 {
			row[i] = cells[at]
		}
	}
	c.lengths, c.times = append(c.lengths, row[clientLength]), append(c.times, row[clientTime])
	for i := range c.rates {
		c.rates[i] = append(c.rates[i], row[clientIPS+i])
		c.longest[i] = append(c.longest[i], row[clientMaxI+i])
	}
	c.last = row
	return true
}

// words reads a line of words; false when it is none that is known.
func (c *ibenchClient) words(line []byte) bool {
	text := string(line[:min(len(line), 400)])
	if label, rest, found := strings.Cut(text, " rt:"); found {
		first, _, _ := strings.Cut(strings.ToLower(label), " ")
		if !slices.Contains(ibenchOperations[:], first) {
			return false
		}
		if strings.HasPrefix(strings.TrimSpace(rest), rtColumns[0]) {
			return true
		}
		t, ok := parseClientTimes([]byte(rest))
		if !ok {
			return false
		}
		if known := c.responses[first]; known != nil {
			known.add(t)
		} else {
			c.responses[first] = &t
		}
		return true
	}
	switch {
	case text == "Done":
		c.done = true
	case strings.HasPrefix(text, "getmin "), strings.HasPrefix(text, "getmax "):
	case strings.HasPrefix(text, "Totals: "):
		return c.total(text)
	case strings.HasPrefix(text, "Created secondary indexes in "):
		word, _ := nextWord([]byte(strings.TrimPrefix(text, "Created secondary indexes in ")))
		c.indexes = measure(word, 1)
		return c.indexes.Known
	case strings.HasPrefix(text, "Query thread"):
		return c.queryThread(text)
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
	word := func(part, unit string) (string, Measure) {
		w, found := strings.CutSuffix(part, " "+unit)
		if !found {
			return "", Measure{}
		}
		return w, measure([]byte(w), 1)
	}
	var rows Measure
	_, c.elapsed = word(parts[0], "secs")
	c.rateText, c.rate = word(parts[1], "rows/sec")
	_, rows = word(parts[2], "rows")
	c.totals, c.rows = text, rows.Value
	return c.elapsed.Known && c.rate.Known && rows.Known
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

// slots places the intervals of a client at equal distances, those that are
// missing marked by NaN. length is that of an interval, s.
func (c *ibenchClient) slots() (rates, longest [3][]float64, length float64, err error) {
	n := len(c.times)
	if n == 0 {
		return rates, longest, 0, nil
	}
	sorted := slices.Clone(c.lengths)
	slices.Sort(sorted)
	usual := sorted[n/2]
	if usual <= 0 {
		return rates, longest, 0, bench.Errorf(bench.KindInvalid, "%s: intervals of %g seconds", c.in.path, usual)
	}
	before, used := 0.0, 0
	// All lines are there nearly always.
	for i := range rates {
		rates[i], longest[i] = make([]float64, 0, n), make([]float64, 0, n)
	}
	for k, t := range c.times {
		if t < before {
			return rates, longest, 0, bench.Errorf(bench.KindInvalid, "%s: t_sec %g follows %g: not the intervals of one client", c.in.path, t, before)
		}
		// A slow interval fills several places; the clock drifts by little in each.
		covered := max(1, int(math.Round(c.lengths[k]/usual)))
		past := covered
		if k > 0 {
			past = max(covered, int(math.Round((t-before)/usual)))
		}
		if used += past; used > 4*n+64 {
			return rates, longest, 0, bench.Errorf(bench.KindInvalid, "%s: t_sec runs to %g in %d lines: most intervals are missing", c.in.path, c.times[n-1], n)
		}
		for i := range rates {
			for range past - covered {
				rates[i], longest[i] = append(rates[i], math.NaN()), append(longest[i], math.NaN())
			}
			for range covered - 1 {
				rates[i], longest[i] = append(rates[i], c.rates[i][k]), append(longest[i], math.NaN())
			}
			top := c.longest[i][k]
			if top == 0 {
				top = math.NaN() // no statement ended in the interval
			}
			rates[i], longest[i] = append(rates[i], c.rates[i][k]), append(longest[i], top)
		}
		before = t
	}
	length = usual
	if k := len(rates[0]); k > 1 && n > 1 {
		length = (c.times[n-1] - c.times[0]) / float64(k-max(1, int(math.Round(c.lengths[0]/usual))))
	}
	if !(length > 0) {
		length = usual
	}
	return rates, longest, length, nil
}
