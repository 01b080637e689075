package ingest

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// A run of the Insert Benchmark leaves a directory, named by its tag, with one
// directory per step:
//
//	<step>/o.ib.dop<D>.<n>    output of client n of D, see ibench_client.go
//	<step>/o.res.dop<D>       the scripts' summary, see [readStepSummary]
//	<step>/o.rt.t.<op>        response times of the clients, their sum, percents
//	<step>/o.ps.dop<D>        ps aux of the server every 30 s
//	<step>/o.ctime.dop<D>.<n> time(1) of a client
//	<step>/rss_kb             peak memory of the server, of simpler scripts
//	<step>/o.*                kept, not read for figures
//
// It is one run; a step is one result, its clients joined: rates are summed
// second by second, of the longest responses the longest counts.
var ibenchRunBundle = bundle{name: formatIBenchRun, claim: claimIBenchRuns, read: readIBenchRun}

// The names of the formats of a run's files.
const (
	formatIBenchRun         = "ibench run directory"
	formatIBenchClient      = "ibench client output"
	formatIBenchStep        = "ibench step summary"
	formatIBenchClientTimes = "ibench response times of a step"
)

var (
	ibClientRe = regexp.MustCompile(`^o\.ib\.dop(\d{1,5})(?:\.ns\d+)?\.(\d{1,5})$`)
	ibStepRe   = regexp.MustCompile(`^o\.(res|ps)\.dop(\d{1,5})(?:\.ns\d+)?$`)
	ibCtimeRe  = regexp.MustCompile(`^o\.ctime\.dop(\d{1,5})(?:\.ns\d+)?\.(\d{1,5})$`)
	ibTimesRe  = regexp.MustCompile(`^o\.rt\.t\.(insert|delete|query)$`)
	// Files that lie beside the steps and hold nothing that is read.
	ibAsideRe = regexp.MustCompile(`^(?:o\.|gv\.|create\b|slow\b)`)
	// Names that configs have, for directories that are not named by a tag.
	ibHintRe = regexp.MustCompile(`^(?:a\d|c[xyz]\d*[a-z]\d|cx\d)[0-9a-z_]*$`)
)

func isIBenchClientTimes(in *input) bool {
	return isTimesHeader(firstIBenchLine(in.text)) && isClientTimes(in.text)
}

// isRunFile reports whether a file is one of those that make a run directory.
func (in *input) isRunFile() bool {
	return in.isOf(formatIBenchClient, formatIBenchStep, formatIBenchClientTimes)
}

// stepDir gives the name of the directory that holds a file when it is a step's.
func stepDir(name string) (step string, ok bool) {
	step = path.Base(path.Dir(name))
	_, ok = bench.IBenchStep(step)
	return step, ok
}

// claimIBenchRuns gives the files of each run directory. Output outside of a
// step's directory is claimed by directory, to be refused with a reason.
func claimIBenchRuns(s *set) [][]*input {
	rootOf := func(in *input) string {
		if _, ok := stepDir(in.path); ok {
			return path.Dir(path.Dir(in.path))
		}
		return path.Dir(in.path)
	}
	inRun := map[string][]*input{}
	stepDirs := map[string]bool{}
	var roots []string
	for _, in := range s.files {
		if !in.isRunFile() {
			continue
		}
		root := rootOf(in)
		if inRun[root] == nil {
			roots = append(roots, root)
			inRun[root] = []*input{}
		}
		stepDirs[path.Dir(in.path)] = true
	}
	for _, in := range s.files {
		dir := path.Dir(in.path)
		_, ofStep := stepDir(in.path)
		switch {
		case in.isOf(formatMyCnf, formatOptions, formatVariables): // configs, not figures
		case stepDirs[dir] && (ofStep || in.isRunFile() || isStderrOfClient(in, s)):
			inRun[rootOf(in)] = append(inRun[rootOf(in)], in)
		case inRun[dir] != nil && in.format == nil && ibAsideRe.MatchString(path.Base(plainPath(in))):
			inRun[dir] = append(inRun[dir], in)
		}
	}
	slices.Sort(roots)
	var all [][]*input
	for _, root := range roots {
		files := inRun[root]
		slices.SortFunc(files, func(a, b *input) int { return strings.Compare(a.path, b.path) })
		all = append(all, files)
	}
	return all
}

// isStderrOfClient reports whether a file is NAME.stderr beside the client's
// output NAME.stdout.
func isStderrOfClient(in *input, s *set) bool {
	name, found := strings.CutSuffix(in.path, ".stderr")
	if !found {
		return false
	}
	other := s.at(name + ".stdout")
	return other != nil && other.isOf(formatIBenchClient)
}

// readIBenchRunFile reads a file of a run by itself.
func readIBenchRunFile(in *input) output { return readIBenchRun([]*input{in})[0] }

// ibenchStepFiles is what one step's directory holds.
type ibenchStepFiles struct {
	dir     string // path
	name    string // of the directory: q.L1.ips100
	dop     int    // of the files' names, 0 unknown
	clients []*ibenchClient
	summary *stepSummary
	times   map[string]stepTimes // by operation
	rss     Measure              // GB
	vsz     Measure              // GB
	usage   []Usage              // of clients, from files beside their output
	used    []*input             // that figures come from, in order
}

// stepTimes is the sum of the response times of a step's clients.
type stepTimes struct {
	clientTimes
	in *input
}

// readIBenchRun reads a run directory.
func readIBenchRun(files []*input) []output {
	outs := map[*input]output{}
	refuse := func(in *input, format string, args ...any) {
		outs[in] = refused(bench.Message{File: in.path, Text: fmt.Sprintf(format, args...)})
	}
	byDir := map[string]*ibenchStepFiles{}
	var steps []*ibenchStepFiles
	for _, in := range files {
		dir := path.Dir(in.path)
		s := byDir[dir]
		if s == nil {
			s = &ibenchStepFiles{dir: dir, name: path.Base(dir), times: map[string]stepTimes{}}
			byDir[dir] = s
			steps = append(steps, s)
		}
		if _, ok := bench.IBenchStep(s.name); !ok {
			if in.isRunFile() {
				refuse(in, "nothing says which step this is of: the directory should be named by the step (l.i0, l.x, l.i1, q.L1.ips100, qr100.L1)")
			}
			continue
		}
		out, err := s.take(in)
		if err != nil {
			out = refused(asMessage(in.path, err))
		}
		outs[in] = out
	}
	steps = slices.DeleteFunc(steps, func(s *ibenchStepFiles) bool { return len(s.clients) == 0 && s.summary == nil })
	slices.SortStableFunc(steps, func(a, b *ibenchStepFiles) int { return ibenchPlace(a.name) - ibenchPlace(b.name) })
	if len(steps) > 0 {
		readIBenchSteps(steps, outs, refuse)
	}
	result := make([]output, len(files))
	for i, in := range files {
		out, ok := outs[in]
		if !ok {
			out = output{state: bench.FileAttachment}
		}
		result[i] = out
	}
	return result
}

// readIBenchSteps makes the run of its steps; it is handed over by the first file
// that was taken.
func readIBenchSteps(steps []*ibenchStepFiles, outs map[*input]output, refuse func(in *input, format string, args ...any)) {
	first := steps[0].used[0]
	root := path.Base(path.Dir(steps[0].dir))
	tag, tagged := parseIBenchTag(root)
	content := tag.context
	by := "the directory " + root
	for _, s := range steps {
		if s.dop > 0 {
			content.Clients = max(content.Clients, s.dop)
		}
	}
	var warnings []bench.Message
	if !tagged && content.Config == "" && first.given.Config == "" && ibHintRe.MatchString(root) {
		if _, isStep := bench.IBenchStep(root); !isStep {
			content.Config, _ = ibenchConfig(root)
			warnings = append(warnings, bench.Message{File: first.path,
				Text: fmt.Sprintf("config %s taken from the folder name %s; --config says otherwise", content.Config, root)})
		}
	}
	var run bench.Run
	var err error
	if tagged {
		tag.context = content
		run, err = first.ibenchRun(&tag, by, "")
	} else {
		run, err = first.resolveIBench(content, by, "")
	}
	if err != nil {
		for _, s := range steps {
			for _, in := range s.used {
				refuse(in, "%s", err.Error())
			}
		}
		return
	}
	var names []string
	for _, s := range steps {
		names = append(names, s.name)
	}
	turns := ibenchTurns(names)
	label := ""
	if tagged {
		label = tag.name()
	}
	run.Options = mergeMaps(commonOptions(steps), run.Options)
	taken := false
	for _, s := range steps {
		r, err := s.result(ibenchLabel(turns[s.name], label))
		if err != nil {
			for _, in := range s.used {
				refuse(in, "%s", err.Error())
			}
			continue
		}
		if !taken {
			taken, first = true, s.used[0]
		}
		run.Results = append(run.Results, r)
	}
	if taken {
		out := outs[first]
		out.runs, out.warnings = []bench.Run{run}, append(out.warnings, warnings...)
		outs[first] = out
	}
}

// take reads a file of the step's directory.
func (s *ibenchStepFiles) take(in *input) (output, error) {
	base := path.Base(plainPath(in))
	out := output{state: bench.FileTaken}
	dop := func(digits string) error {
		n := atoi(digits)
		if s.dop != 0 && s.dop != n {
			return bench.Errorf(bench.KindInvalid, "is of a run with %d clients, other files of the directory are of one with %d", n, s.dop)
		}
		s.dop = n
		return nil
	}
	switch {
	case in.isOf(formatIBenchClient):
		m := ibClientRe.FindStringSubmatch(base)
		if m != nil {
			if err := dop(m[1]); err != nil {
				return out, err
			}
		}
		c := parseClient(in)
		if m != nil {
			c.number = atoi(m[2])
		}
		if len(c.times) == 0 && c.totals == "" && c.command == "" {
			return out, bench.Errorf(bench.KindInvalid, "holds a header and nothing of a client")
		}
		for _, other := range s.clients {
			if other.number == c.number {
				return out, bench.Errorf(bench.KindInvalid, "is the output of the same client as %s", other.in.path)
			}
		}
		s.clients = append(s.clients, c)
		out.messages = c.messages
		if more := c.unread - len(c.messages); more > 0 {
			out.messages = append(out.messages, bench.Message{File: in.path, Text: fmt.Sprintf("and %d more lines that were not understood", more)})
		}
	case in.isOf(formatIBenchStep):
		if m := ibStepRe.FindStringSubmatch(base); m != nil {
			if err := dop(m[2]); err != nil {
				return out, err
			}
		}
		summary, err := readStepSummary(in)
		if err != nil {
			return out, err
		}
		if s.summary != nil {
			return out, bench.Errorf(bench.KindInvalid, "is a second summary of the step, beside %s", s.summary.in.path)
		}
		s.summary = summary
	case in.isOf(formatIBenchClientTimes):
		m := ibTimesRe.FindStringSubmatch(base)
		if m == nil {
			return out, bench.Errorf(bench.KindInvalid, "nothing says of which operation the response times are: the name should be o.rt.t.<insert, delete or query>")
		}
		t, err := readStepTimes(in)
		if err != nil {
			return out, err
		}
		s.times[m[1]] = stepTimes{t, in}
	case ibStepRe.MatchString(base): // o.ps
		if s.rss, s.vsz = peakOfServer(in.text); !s.rss.Known {
			return output{state: bench.FileAttachment}, nil
		}
	case base == "rss_kb":
		if s.rss = measure(trimSpace(firstLine(in.text)), 1.0/(1<<20)); !s.rss.Known || s.rss.Value < 0 {
			return out, bench.Errorf(bench.KindInvalid, "not a number of kB: %q", quote(firstLine(in.text)))
		}
	case ibCtimeRe.MatchString(base), strings.HasSuffix(base, ".stderr"):
		u := readClientTime(in.text)
		if !u.User.Known || !u.System.Known {
			return output{state: bench.FileAttachment}, nil
		}
		s.usage = append(s.usage, u)
	default:
		return output{state: bench.FileAttachment}, nil
	}
	s.used = append(s.used, in)
	return out, nil
}

// commonOptions gives the options of the command lines that all steps and clients
// share, but for those that name an account or a place.
func commonOptions(steps []*ibenchStepFiles) map[string]string {
	var common map[string]string
	for _, s := range steps {
		for _, c := range s.clients {
			if c.options == nil {
				continue
			}
			if common == nil {
				common = copyMap(c.options)
			}
			for k, v := range common {
				if c.options[k] != v {
					delete(common, k)
				}
			}
		}
	}
	for _, k := range []string{"db_host", "db_user", "db_socket", "db_name", "host", "user", "socket", "table_name", "my_id", "seed"} {
		delete(common, k)
	}
	return common
}

// result joins the clients of a step and what lies beside them.
func (s *ibenchStepFiles) result(label string) (bench.Result, error) {
	step, role, err := ibenchStep(s.name)
	if err != nil {
		return bench.Result{}, err
	}
	r := bench.Result{Step: step, Role: role, State: bench.StateOK, Origin: bench.OriginMeasured}
	inserting := strings.HasPrefix(step.Name, "l.")
	slices.SortFunc(s.clients, func(a, b *ibenchClient) int { return a.number - b.number })
	var texts []string
	for _, c := range s.clients {
		texts = append(texts, c.identity())
		if r.Command == "" {
			r.Command = c.command
		}
	}
	if s.summary != nil {
		texts = append(texts, s.summary.first)
	}
	r.Text = label + "\t" + strings.Join(texts, "\t")
	for _, in := range s.used {
		r.Sources = append(r.Sources, bench.Source{File: in.path})
	}
	r.State, r.Reason = s.ended()
	second, err := s.series(&r)
	if err != nil {
		return bench.Result{}, err
	}
	for _, c := range s.clients {
		if r.State == bench.StateOK {
			if why := c.doubts(inserting); why != "" && inserting {
				r.Excluded = why
			}
		}
		r.Warnings = append(r.Warnings, c.oddities()...)
	}
	if r.State != bench.StateOK {
		return r, nil // figures of what did not end well say nothing
	}
	longest := s.histograms(&r)
	s.totals(&r, inserting)
	if rate, ok := bench.Reached(second, 50); ok {
		r.Set(bench.Value{Metric: "p50_second_rate", Number: rate, Resolution: 1, SourceName: "50th"})
	}
	if rate, ok := bench.Reached(second, 99); ok {
		r.Set(bench.Value{Metric: "p99_second_rate", Number: rate, Resolution: 1, SourceName: "99th"})
	}
	op := "query"
	if inserting {
		op = "insert"
	}
	if us, ok := longest[op]; ok {
		r.Set(bench.Value{Metric: "max_op_s", Number: us / 1e6, Resolution: 1e-6, SourceName: "max"})
	}
	if s.rss.Known {
		r.Set(bench.Value{Metric: "rss_gb", Number: s.rss.Value, Resolution: s.rss.Resolution, SourceName: "RSS"})
	}
	if s.vsz.Known {
		r.Set(bench.Value{Metric: "vsz_gb", Number: s.vsz.Value, Resolution: s.vsz.Resolution, SourceName: "VSZ"})
	}
	if s.summary != nil {
		s.summary.values(&r, inserting, len(s.clients))
	}
	s.cpuOfClients(&r)
	s.remarks(&r)
	r.Primary = bench.PrimaryMetric(bench.SuiteIBench, step.Name)
	if v, ok := r.Value(r.Primary); ok {
		r.PrimaryText = s.primaryText(r.Primary, v)
	} else {
		r.Primary = ""
	}
	return r, nil
}

// primaryText gives the primary figure as printed where one place prints it.
func (s *ibenchStepFiles) primaryText(metric string, v float64) string {
	switch {
	case s.summary != nil && metric == "ips":
		return s.summary.ips
	case s.summary != nil:
		return s.summary.qps
	case metric == "ips" && len(s.clients) == 1:
		return s.clients[0].rateText
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// ended says how the step ended: all its clients must have.
func (s *ibenchStepFiles) ended() (bench.State, string) {
	for _, c := range s.clients {
		if why := c.died(); why != "" {
			return bench.StateFailed, why
		}
	}
	if len(s.clients) == 0 {
		return bench.StateOK, ""
	}
	// Steps may run with fewer clients than the run; the summary says how many.
	expected := s.clients[len(s.clients)-1].number
	if s.summary != nil {
		expected = max(expected, s.summary.processes)
	}
	for n := 1; n <= expected; n++ {
		if !slices.ContainsFunc(s.clients, func(c *ibenchClient) bool { return c.number == n }) {
			return bench.StateFailed, fmt.Sprintf("the output of client %d of %d is missing", n, expected)
		}
	}
	return bench.StateOK, ""
}

// series adds the figures per interval of all clients together and gives the
// rates that decide the step.
func (s *ibenchStepFiles) series(r *bench.Result) (deciding []float64, err error) {
	var rates, longest [3][]float64
	start, length := 0.0, 0.0
	most := 0
	for _, c := range s.clients {
		slots, err := c.slots()
		if err != nil {
			return nil, err
		}
		if n := len(slots.rates[0]); n > most {
			most, start, length = n, slots.start, slots.length
		}
		for i := range rates {
			rates[i] = sumUp(rates[i], slots.rates[i], func(a, b float64) float64 { return a + b })
			// Where one client had no statement the others' count.
			longest[i] = sumUp(longest[i], slots.longest[i], func(a, b float64) float64 {
				switch {
				case math.IsNaN(a):
					return b
				case math.IsNaN(b):
					return a
				}
				return math.Max(a, b)
			})
		}
	}
	if most == 0 {
		return nil, nil
	}
	for i, op := range ibenchOperations {
		used := slices.ContainsFunc(rates[i], func(v float64) bool { return v > 0 }) || slices.ContainsFunc(longest[i], func(v float64) bool { return v > 0 })
		if !used && i > 0 {
			continue // a step without deletes or queries
		}
		name := [3]string{"ips", "dps", "qps"}[i]
		r.TimeSeries = append(r.TimeSeries,
			bench.TimeSeries{Name: name, Unit: "1/s", StartS: start, StepS: length, Values: rates[i]},
			bench.TimeSeries{Name: "max_" + op + "_us", Unit: "µs", StartS: start, StepS: length, Values: longest[i]})
	}
	if strings.HasPrefix(r.Step.Name, "l.") {
		return s.deciding(0, rates[0]), nil
	}
	return s.deciding(2, rates[2]), nil
}

// deciding gives the rates that percentiles are taken of: a single client's as it
// printed them, of several the sums.
func (s *ibenchStepFiles) deciding(i int, sums []float64) []float64 {
	if len(s.clients) == 1 {
		sums = s.clients[0].rates[i]
	}
	return slices.DeleteFunc(slices.Clone(sums), math.IsNaN)
}

// sumUp joins two clients' figures place by place; where one has ended the
// other's stay.
func sumUp(a, b []float64, join func(a, b float64) float64) []float64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	a = slices.Clone(a)
	for i, v := range b {
		a[i] = join(a[i], v)
	}
	return a
}

// histograms adds the response times and gives the longest of each operation.
func (s *ibenchStepFiles) histograms(r *bench.Result) map[string]float64 {
	longest := map[string]float64{}
	for _, op := range ibenchOperations {
		var sum clientTimes
		for _, c := range s.clients {
			if t := c.responses[op]; t != nil {
				sum.add(*t)
			}
		}
		other, repeated := s.times[op]
		if sum.clients == 0 {
			sum = other.clientTimes
		} else if repeated && other.counts != sum.counts {
			r.Warnings = append(r.Warnings, bench.Message{File: other.in.path,
				Text: fmt.Sprintf("the sums of %s response times are not those of the clients' outputs, which are kept", op)})
		}
		if h, ok := sum.histogram(op); ok {
			r.Histograms = append(r.Histograms, h)
			longest[op] = *h.Max
		}
	}
	return longest
}

// totals adds what the clients say at their end.
func (s *ibenchStepFiles) totals(r *bench.Result, inserting bool) {
	if len(s.clients) == 0 {
		return
	}
	var elapsed, indexes, perQuery Measure
	queries, deletes, qps := 0.0, 0.0, 0.0
	rows, rate := s.clients[0].rows, s.clients[0].rate
	for i, c := range s.clients {
		elapsed = larger(elapsed, c.elapsed)
		indexes = larger(indexes, c.indexes)
		perQuery = larger(perQuery, c.rowsPerQuery)
		if i > 0 {
			rows, rate = together(rows, c.rows), together(rate, c.rate)
		}
		// What a last interval does not say is NaN, and the sum with it.
		counted := c.last[clientQueries]
		if c.queries > 0 && !(counted > c.queries) {
			counted = c.queries
		}
		queries += counted
		deletes += c.last[clientTotalDPS]
		qps += c.last[clientTotalQPS]
	}
	set := func(metric string, m Measure, source string) {
		if m.Known {
			r.Set(bench.Value{Metric: metric, Number: m.Value, Resolution: m.Resolution, SourceName: source})
		}
	}
	set("elapsed_s", elapsed, "secs")
	set("index_create_s", indexes, "Created secondary indexes")
	operations := rows
	if !inserting {
		operations = Measure{Value: queries, Known: true}
		set("qps", Measure{Value: qps, Resolution: 1, Known: true}, "t_qps")
		set("rows_per_query", perQuery, "fetched/query")
	}
	operations.Resolution = 1
	set("operations", operations, "rows")
	if slices.ContainsFunc(r.TimeSeries, func(t bench.TimeSeries) bool { return t.Name == "dps" }) {
		set("deletes_per_s", Measure{Value: deletes, Resolution: 1, Known: true}, "t_dps")
	}
	if r.Step.Name == "l.x" {
		// Rows per second of the few that are inserted are not what ips of this
		// step means: rows indexed per second.
		return
	}
	ips := rate
	if len(s.clients) > 1 && rows.Known && elapsed.Value > 0 {
		ips = Measure{Value: rows.Value / elapsed.Value, Resolution: rows.Value / elapsed.Value * elapsed.Resolution / elapsed.Value, Known: true}
	}
	set("ips", ips, "rows/sec")
}

// together adds two measures; the sum is known where both are.
func together(a, b Measure) Measure {
	return Measure{Value: a.Value + b.Value, Resolution: math.Max(a.Resolution, b.Resolution), Known: a.Known && b.Known}
}

// larger gives the larger of two measures, the known one of others.
func larger(a, b Measure) Measure {
	if !a.Known || b.Known && b.Value > a.Value {
		return b
	}
	return a
}

// cpuOfClients adds the CPU seconds of all clients, where time(1) tells them of
// each.
func (s *ibenchStepFiles) cpuOfClients(r *bench.Result) {
	var user, system Measure
	n := 0
	add := func(u Usage) {
		if u.User.Known && u.System.Known {
			user = Measure{Value: user.Value + u.User.Value, Resolution: u.User.Resolution, Known: true}
			system = Measure{Value: system.Value + u.System.Value, Resolution: u.System.Resolution, Known: true}
			n++
		}
	}
	for _, c := range s.clients {
		add(c.usage)
	}
	if n == 0 {
		for _, u := range s.usage {
			add(u)
		}
	}
	if n == 0 || n != len(s.clients) {
		return
	}
	r.Set(bench.Value{Metric: "user_cpu_s", Number: user.Value, Resolution: user.Resolution, SourceName: "user"})
	r.Set(bench.Value{Metric: "system_cpu_s", Number: system.Value, Resolution: system.Resolution, SourceName: "system"})
}

// readClientTime reads what time(1) prints by default,
// "1.97user 0.24system 0:06.37elapsed …", or what [Usage.line] reads.
func readClientTime(text []byte) (u Usage) {
	for l := newLines(text); ; {
		line, _, ok := l.next()
		if !ok {
			return u
		}
		if u.line(line) {
			continue
		}
		for word, rest := nextWord(line); len(word) > 0; word, rest = nextWord(rest) {
			if v, ok := bytes.CutSuffix(word, []byte("user")); ok {
				u.User = seconds(v)
			} else if v, ok := bytes.CutSuffix(word, []byte("system")); ok {
				u.System = seconds(v)
			} else if v, ok := bytes.CutSuffix(word, []byte("elapsed")); ok {
				u.Real = elapsed(v)
			}
		}
	}
}

// remarks puts on the result what its outputs say beside figures.
func (s *ibenchStepFiles) remarks(r *bench.Result) {
	say := func(file, format string, args ...any) {
		r.Warnings = append(r.Warnings, bench.Message{File: file, Text: fmt.Sprintf(format, args...)})
	}
	for _, c := range s.clients {
		for i, column := range []int{clientRetryI, clientRetryD, clientRetryQ} {
			if n := c.last[column]; n > 0 {
				say(c.in.path, "%g %s statements failed: their work was not done, yet they count", n, ibenchOperations[i])
			}
		}
	}
	if n := len(s.clients); n > 0 && s.summary == nil && s.dop > n {
		say(s.clients[0].in.path, "the run has %d clients, this step the output of %d", s.dop, n)
	}
}

// peakOfServer gives the largest resident set, and virtual memory beside it, of
// the lines of ps aux, in GB.
func peakOfServer(text []byte) (rss, vsz Measure) {
	for l := newLines(text); ; {
		line, _, ok := l.next()
		if !ok {
			return rss, vsz
		}
		var words [6][]byte // USER PID %CPU %MEM VSZ RSS
		for i := range words {
			words[i], line = nextWord(line)
		}
		v, ok1 := parseCount(words[4])
		m, ok2 := parseCount(words[5])
		if _, ok3 := parseCount(words[1]); !ok1 || !ok2 || !ok3 || rss.Known && float64(m)/(1<<20) <= rss.Value {
			continue
		}
		rss = Measure{Value: float64(m) / (1 << 20), Resolution: 1.0 / (1 << 20), Known: true}
		vsz = Measure{Value: float64(v) / (1 << 20), Resolution: 1.0 / (1 << 20), Known: true}
	}
}

// readStepTimes reads o.rt.t.<op>: header, a line per client (t1:…), their sum
// (sum:…) and its percents (pct:…), of which the sum is kept.
func readStepTimes(in *input) (clientTimes, error) {
	problems := problemList{file: in.path}
	tables := cutIBenchTables(in.text, "", 0, isTimesHeader, &problems)
	if len(problems.messages) > 0 {
		return clientTimes{}, bench.Errorf(bench.KindInvalid, "line %d: %s", problems.messages[0].Line, problems.messages[0].Text)
	}
	var sum clientTimes
	var stated *clientTimes
	for i := range tables {
		for _, row := range tables[i].rows {
			kind, _, _ := strings.Cut(row.tag(), ":")
			if kind == "pct" {
				continue
			}
			t, ok := parseClientTimes([]byte(strings.Join(row.cells[:len(rtColumns)], " ")))
			switch {
			case !ok:
				return sum, bench.Errorf(bench.KindInvalid, "line %d: not ten counts and a number of seconds", row.line)
			case kind == "sum":
				stated = &t
			default:
				sum.add(t)
			}
		}
	}
	switch {
	case stated == nil:
		return sum, bench.Errorf(bench.KindInvalid, "has no line with the sum")
	case sum.clients == 0:
		return *stated, nil
	case sum.counts != stated.counts:
		return sum, bench.Errorf(bench.KindInvalid, "its sum is not that of its lines")
	}
	return sum, nil
}
