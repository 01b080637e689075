package ingest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// localRun gives the files of a run made on a small machine with MyRocks of
// MariaDB 10.11: right in form, meaningless as figures.
func localRun(t testing.TB, config string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "ibench", "local."+config+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}

var ibenchLocal = bench.Context{System: "mariadb", Version: "10.11.19", Server: "s1", Workload: "cached"}

const (
	clientHeaderText = "i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\tretry_i\tretry_d\tretry_q"
	clientCommand    = "python3 iibench.py --dbms=mysql --db_user=root --db_password=pw --engine=rocksdb --seed=1 --my_id=1"
)

// clientText gives the output of a client: a line per second with the given rates
// of inserts, and totals.
func clientText(ips ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nget_min_trxid = 1 in 0.001 seconds\n\n", clientCommand, clientHeaderText)
	total := 0
	for i, v := range ips {
		total += v
		fmt.Fprintf(&b, "1.0\t%d.0\t%d\t%d\t0\t0\t0\t0\t%d\t0\t0\t%d\t0\t0\t0\t0\t0\n", i+1, v, total/(i+1), 1000*(i+1), total)
	}
	fmt.Fprintf(&b, "Insert rt: 256us 1ms 4ms 16ms 64ms 256ms 1s 4s 16s gt max\nInsert rt: 0 1 2 3 0 0 0 0 0 0 0.%06d\n", 1000*len(ips))
	fmt.Fprintf(&b, "getmin 1 queries, 0.000 total secs, 0.000000 secs/query\n\nTotals: %d.0 secs, %.1f rows/sec, %d rows, 0 0 0 insert-delete-query retry\nDone\n", len(ips), float64(total)/float64(len(ips)), total)
	return b.String()
}

// oneResult gives the only result of a batch of several files.
func oneResult(t testing.TB, b *bench.Batch) (*bench.Run, *bench.Result) {
	t.Helper()
	if len(b.Runs) != 1 || len(b.Runs[0].Results) != 1 {
		t.Fatalf("%d runs of %+v", len(b.Runs), b.Files)
	}
	return &b.Runs[0], &b.Runs[0].Results[0]
}

func seriesNamed(t testing.TB, r *bench.Result, name string) bench.TimeSeries {
	t.Helper()
	for _, s := range r.TimeSeries {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("%s has no series %s", r.Step.Name, name)
	return bench.TimeSeries{}
}

// column gives the cells of a column of the intervals' lines, read here by other
// means than the reader's.
func columnOf(text string, column int) (values []float64) {
	for _, line := range strings.Split(text, "\n") {
		if cells := strings.Split(line, "\t"); len(cells) == 17 && cells[0] != "i_sec" {
			v, err := strconv.ParseFloat(cells[column], 64)
			if err != nil {
				panic(err)
			}
			values = append(values, v)
		}
	}
	return values
}

func TestRunDirectoryIsOneRunWithItsSteps(t *testing.T) {
	t.Parallel()
	for _, config := range []string{"a0", "a4", "a5"} {
		files := localRun(t, config)
		b := readFiles(t, files, ibenchLocal)
		if len(b.Runs) != 1 || b.Format != formatIBenchRun {
			t.Fatalf("%s: %d runs, %s", config, len(b.Runs), b.Format)
		}
		run := &b.Runs[0]
		var names []string
		for i := range run.Results {
			names = append(names, run.Results[i].Step.Name)
		}
		if !slices.Equal(names, []string{"l.i0", "l.x", "l.i1", "q100", "q500", "q1000"}) {
			t.Errorf("%s: %q", config, names)
		}
		if run.System != "mariadb" || run.Config != config || run.Clients != 1 || run.Options["engine"] != "rocksdb" || run.Options["unique_checks"] != "1" {
			t.Errorf("%s: %+v", config, run)
		}
		for _, gone := range []string{"db_password", "db_user", "db_host", "db_socket", "seed", "max_rows"} {
			if v, ok := run.Options[gone]; ok {
				t.Errorf("%s: option %s=%s of the run", config, gone, v)
			}
		}
		if !said(b.Warnings, "config "+config+" taken from the folder name") {
			t.Errorf("%v", b.Warnings)
		}
		for i := range run.Results {
			compareWithClient(t, &run.Results[i], files)
		}
	}
}

// compareWithClient checks a step's result against the text of its one client.
func compareWithClient(t *testing.T, r *bench.Result, files map[string]string) {
	t.Helper()
	text := files[r.Sources[0].File]
	if r.State != bench.StateOK || len(r.Warnings) > 0 || !strings.HasPrefix(r.Command, "python3 iibench.py ") {
		t.Errorf("%s: %s %v %q", r.Step.Name, r.State, r.Warnings, r.Command)
	}
	end := text[strings.Index(text, "Totals: "):]
	word := func(before, after string) string {
		in := text
		if strings.Contains(before, "secs") || strings.Contains(before, "rows") {
			in = end
		}
		_, rest, found := strings.Cut(in, before)
		if !found {
			return ""
		}
		rest, _, _ = strings.Cut(rest, after)
		return rest
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Errorf("%s: %v", r.Step.Name, err)
		}
		return v
	}
	want := map[string]float64{"elapsed_s": number(word("Totals: ", " secs"))}
	rss := number(strings.TrimSpace(files[path.Join(path.Dir(r.Sources[0].File), "rss_kb")]))
	want["rss_gb"] = rss / 1024 / 1024
	rates, op := columnOf(text, 2), "Insert"
	switch {
	case r.Step.Name == "l.x":
		want["index_create_s"] = number(word("Created secondary indexes in ", " seconds"))
		absent(t, r, "ips", "qps")
		if r.Primary != "" {
			t.Errorf("l.x is decided by %s", r.Primary)
		}
	case strings.HasPrefix(r.Step.Name, "l."):
		want["ips"] = number(word(" secs, ", " rows/sec"))
		want["operations"] = number(word("rows/sec, ", " rows"))
		if r.Primary != "ips" || r.PrimaryText != word(" secs, ", " rows/sec") {
			t.Errorf("%s: %s %s", r.Step.Name, r.Primary, r.PrimaryText)
		}
	default:
		rates, op = columnOf(text, 6), " Query"
		qps := columnOf(text, 7)
		want["qps"], want["ips"] = qps[len(qps)-1], number(word(" secs, ", " rows/sec"))
		want["operations"] = number(word("Query thread: ", " queries"))
		want["rows_per_query"] = number(word("( 10 , ", " )"))
	}
	counts := strings.Fields(text[strings.LastIndex(text, op+" rt:"):])[2:13]
	want["max_op_s"] = number(counts[10])
	if n := len(rates); n >= 10 {
		sorted := slices.Clone(rates)
		sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
		want["p50_second_rate"] = sorted[int(math.RoundToEven(0.50*float64(n)))-1]
		want["p99_second_rate"] = sorted[int(math.RoundToEven(0.99*float64(n)))-1]
	} else {
		absent(t, r, "p50_second_rate", "p99_second_rate")
	}
	figures(t, r, want)
	for name, column := range map[string]int{"ips": 2, "dps": 4, "qps": 6, "max_insert_us": 8, "max_delete_us": 9, "max_query_us": 10} {
		cells := columnOf(text, column)
		i := slices.IndexFunc(r.TimeSeries, func(s bench.TimeSeries) bool { return s.Name == name })
		if slices.Max(cells) == 0 {
			if i >= 0 {
				t.Errorf("%s has a series %s of zeros", r.Step.Name, name)
			}
			continue
		}
		if i < 0 || !slices.Equal(r.TimeSeries[i].Values, cells) || math.Abs(r.TimeSeries[i].StepS-1) > 0.03 || r.TimeSeries[i].StartS != 1 {
			t.Errorf("%s: series %s is not the column's: %+v", r.Step.Name, name, r.TimeSeries)
		}
	}
	for _, h := range r.Histograms {
		label := map[string]string{"insert": "Insert rt:", "delete": "Delete rt:", "query": " Query rt:"}[h.Operation]
		cells := strings.Fields(text[strings.LastIndex(text, label):])[2:13]
		for i, n := range h.Counts {
			if number(cells[i]) != n {
				t.Errorf("%s: %s bucket %d is %g, want %s", r.Step.Name, h.Operation, i, n, cells[i])
			}
		}
		if math.Abs(*h.Max-1e6*number(cells[10])) > 1e-6 || h.Percents != nil {
			t.Errorf("%s: longest %s %g, want %s s", r.Step.Name, h.Operation, *h.Max, cells[10])
		}
	}
	if want := strings.Count(text, "rt:") / 2; len(r.Histograms) != want {
		t.Errorf("%s: %d distributions, want %d", r.Step.Name, len(r.Histograms), want)
	}
}

func TestRunDirectoriesNamedByTagStateContext(t *testing.T) {
	t.Parallel()
	const dir = "20m.fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a3_bee/"
	files := map[string]string{dir + "l.i0/o.ib.dop1.1": clientText(10, 20), dir + "qr100.L1/o.ib.dop1.1": clientText(10, 20), dir + "my.cnf.txt": "words", dir + "o.ini.txt": "words",
		dir + "l.i0/o.vm.dop1": "words", dir + "l.i0/o.top.dop1.gz": "words"}
	b := readFiles(t, files, bench.Context{Workload: "cached"})
	if len(b.Runs) != 1 {
		t.Fatalf("%d runs %v", len(b.Runs), b.Files)
	}
	run := &b.Runs[0]
	if run.System != "myrocks" || run.Build.Version != "8.0.28" || run.Config != "a3" || run.Server != "bee" || run.Build.GitHash != "ef5b9b101" ||
		run.Environment["config_source"] != "cy10a3_bee" || run.Options["rows_loaded"] != "20m" {
		t.Errorf("%+v", run)
	}
	if got := run.Results[0].Label(); got != "l.i0 fbmy8028_rel_native_lto_jun23_ef5b9b101_hack.cy10a3_bee" {
		t.Errorf("label %q", got)
	}
	states := map[string]bench.FileState{}
	for _, f := range b.Files {
		states[path.Base(f.Path)] = f.State
	}
	if states["o.vm.dop1"] != bench.FileAttachment || states["o.ini.txt"] != bench.FileAttachment || states["my.cnf.txt"] != bench.FileRefused {
		t.Errorf("%v", states)
	}
	// The same bytes elsewhere are another measurement only where context differs.
	again := readFiles(t, map[string]string{dir + "l.i0/o.ib.dop1.1": strings.ReplaceAll(clientText(10, 20), "\n", "\r\n")}, bench.Context{Workload: "cached"})
	first, second := bench.Keys(b), bench.Keys(again)
	if second[bench.Ref{}] != first[bench.Ref{}] {
		t.Error("line ends change what is measured")
	}
	other := readFiles(t, map[string]string{dir + "l.i0/o.ib.dop1.1": clientText(20, 10)}, bench.Context{Workload: "cached"})
	if bench.Keys(other)[bench.Ref{}] == first[bench.Ref{}] {
		t.Error("another course of a step with the same totals is taken for the same measurement")
	}
}

func TestClientsOfAStepAreJoined(t *testing.T) {
	t.Parallel()
	b := readFiles(t, map[string]string{
		"a0/l.i0/o.ib.dop3.1": clientText(100, 200, 300), "a0/l.i0/o.ib.dop3.2": clientText(10, 20, 30, 40), "a0/l.i0/o.ib.dop3.3": clientText(1, 2),
	}, ibenchLocal)
	run, r := oneResult(t, b)
	if run.Clients != 3 || r.State != bench.StateOK || len(r.Sources) != 3 {
		t.Errorf("%+v", run)
	}
	// Rates are summed second by second, the longest response counts.
	if s := seriesNamed(t, r, "ips"); !slices.Equal(s.Values, []float64{111, 222, 330, 40}) || s.StepS != 1 || s.StartS != 1 {
		t.Errorf("%+v", s)
	}
	if s := seriesNamed(t, r, "max_insert_us"); !slices.Equal(s.Values, []float64{1000, 2000, 3000, 4000}) {
		t.Errorf("%+v", s)
	}
	h := r.Histograms[0]
	if !slices.Equal(h.Counts, []float64{0, 3, 6, 9, 0, 0, 0, 0, 0, 0}) || *h.Max != 4000 || *h.Count != 18 {
		t.Errorf("%+v", h)
	}
	// 600 + 100 + 3 rows in the 4 seconds of the longest.
	figures(t, r, map[string]float64{"ips": 703.0 / 4, "operations": 703, "elapsed_s": 4, "max_op_s": 0.004})
}

func TestClientsThatDiedFailTheStep(t *testing.T) {
	t.Parallel()
	whole := clientText(100, 200)
	cut := whole[:strings.Index(whole, "Insert rt")]
	for name, c := range map[string]struct {
		files  map[string]string
		reason string
	}{
		"no Done":       {map[string]string{"a0/l.i1/o.ib.dop1.1": strings.TrimSuffix(whole, "Done\n")}, `client 1 did not print "Done": it died or was ended after 2 seconds`},
		"cut":           {map[string]string{"a0/l.i1/o.ib.dop1.1": cut}, "after 2 seconds"},
		"an error":      {map[string]string{"a0/l.i1/o.ib.dop1.1": cut + "Traceback (most recent call last):\nMySQLdb.OperationalError: (2013, 'Lost connection')\n"}, "MySQLdb.OperationalError: (2013, 'Lost connection')"},
		"one of two":    {map[string]string{"a0/l.i1/o.ib.dop2.1": whole, "a0/l.i1/o.ib.dop2.2": cut}, "client 2 did not print"},
		"a missing one": {map[string]string{"a0/l.i1/o.ib.dop3.1": whole, "a0/l.i1/o.ib.dop3.3": whole}, "the output of client 2 of 3 is missing"},
		"no interval":   {map[string]string{"a0/l.i1/o.ib.dop1.1": clientCommand + "\n" + clientHeaderText + "\n"}, `did not print "Done"`},
	} {
		run, r := oneResult(t, readFiles(t, c.files, ibenchLocal))
		if r.State != bench.StateFailed || !strings.Contains(r.Reason, c.reason) || len(r.Values)+len(r.Histograms) > 0 || r.PrimaryText != "" {
			t.Errorf("%s: %s %q %v", name, r.State, r.Reason, r.Values)
		}
		if name == "cut" && !slices.Equal(seriesNamed(t, r, "ips").Values, []float64{100, 200}) {
			t.Errorf("%s: what was seen until then is gone", name)
		}
		if run.Suite != bench.SuiteIBench {
			t.Errorf("%s: %+v", name, run)
		}
	}
	// Fewer clients than the run has are normal for steps on one table.
	_, r := oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.ib.dop4.1": whole}, ibenchLocal))
	if r.State != bench.StateOK || !warned(r, "the run has 4 clients, this step the output of 1") {
		t.Errorf("%s %v", r.State, r.Warnings)
	}
}

func TestPasswordsAreNotKept(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"--db_password=pw --x=1":                   "--db_password=*** --x=1",
		"--db_password pw --x=1":                   "--db_password *** --x=1",
		"--db_password= --x=1":                     "--db_password= --x=1",
		"--db_password --x=1":                      "--db_password --x=1",
		`--db_password="a b" --x=1`:                "--db_password=*** --x=1",
		"-password 'a b' c":                        "-password *** c",
		"mongodb://root:pw@host/ib":                "mongodb://root:***@host/ib",
		"mysql://root@host/ib":                     "mysql://root@host/ib",
		"it isn't --db_password=pw, is it":         "it isn't --db_password=*** is it",
		`it isn't --db_password pw "isn't" it`:     `it isn't --db_password *** "isn't" it`,
		"python3 iibench.py  --DB_PASSWD=x\t--y z": "python3 iibench.py  --DB_PASSWD=***\t--y z",
		"": "",
	} {
		if got := withoutPasswords(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	secret := "hunter-two"
	text := strings.Replace(clientText(100, 200), "--db_password=pw", "--db_password="+secret+" --mongo=mongodb://u:"+secret+"@h", 1) + "connect --db_password " + secret + "\n"
	b := readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": text}, ibenchLocal)
	_, r := oneResult(t, b)
	if all := fmt.Sprintf("%+v %+v", b.Runs, b.Files); strings.Contains(all, secret) || r.Command == "" {
		t.Errorf("the password is kept: %s", all)
	}
	// It is no part of what the measurement is known by.
	other := readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": strings.Replace(clientText(100, 200), "=pw", "=other", 1)}, ibenchLocal)
	_, plain := oneResult(t, readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(100, 200)}, ibenchLocal))
	if _, o := oneResult(t, other); o.Text != plain.Text {
		t.Error("a password tells measurements apart")
	}
}

func TestLinesOfOtherProcessesAreTakenOut(t *testing.T) {
	t.Parallel()
	text := clientText(100, 200, 300)
	line := "1.0\t2.0\t200\t"
	at := strings.Index(text, line) + len(line)
	broken := text[:at] + "get_min_trxid = 77 in 0.002 seconds\n\n" + text[at:]
	_, r := oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.ib.dop1.1": broken}, ibenchLocal))
	if s := seriesNamed(t, r, "ips"); !slices.Equal(s.Values, []float64{100, 200, 300}) || r.State != bench.StateOK {
		t.Errorf("%v", s.Values)
	}
}

func TestIntervalsThatAreMissingOrLongAreToldFromZeros(t *testing.T) {
	t.Parallel()
	row := func(length, at string, ips, longest int) string {
		return fmt.Sprintf("%s\t%s\t%d\t0\t0\t0\t0\t0\t%d\t0\t0\t%d\t0\t0\t0\t0\t0\n", length, at, ips, longest, ips)
	}
	head := clientCommand + "\n" + clientHeaderText + "\n"
	end := "Totals: 8.0 secs, 1.0 rows/sec, 5 rows, 0 0 0 insert-delete-query retry\nDone\n"
	text := head + row("1.0", "1.0", 1, 10) + row("1.0", "2.0", 0, 0) + "1.0\t3.0\tgarbled\n" + row("1.0", "4.0", 4, 40) + row("3.0", "7.0", 5, 50) + row("1.1", "8.1", 5, 0) + end
	b := readFiles(t, map[string]string{"a0/l.i1/o.ib.dop1.1": text}, ibenchLocal)
	_, r := oneResult(t, b)
	if got, want := fmt.Sprint(seriesNamed(t, r, "ips").Values), fmt.Sprint([]float64{1, 0, math.NaN(), 4, 5, 5, 5, 5}); got != want {
		t.Errorf("rates %s, want %s", got, want)
	}
	nan := math.NaN()
	if got, want := fmt.Sprint(seriesNamed(t, r, "max_insert_us").Values), fmt.Sprint([]float64{10, nan, nan, 40, nan, nan, 50, nan}); got != want {
		t.Errorf("longest %s, want %s", got, want)
	}
	if !said(b.Files[0].Messages, `not a line of the client: "1.0\t3.0\tgarbled"`) {
		t.Errorf("%v", b.Files[0].Messages)
	}
	for name, c := range map[string]struct{ text, says string }{
		"time runs back": {head + row("1.0", "5.0", 1, 1) + row("1.0", "4.0", 1, 1) + end, "t_sec 4 follows 5"},
		"nearly nothing": {head + row("1.0", "1.0", 1, 1) + row("1.0", "90000.0", 1, 1) + end, "most intervals are missing"},
		"no length":      {head + row("0.0", "1.0", 1, 1) + end, "intervals of 0 seconds"},
	} {
		b := readFiles(t, map[string]string{"a0/l.i1/o.ib.dop1.1": c.text}, ibenchLocal)
		if !refusedWith(b, "a0/l.i1/o.ib.dop1.1", c.says) || len(b.Runs) > 0 {
			t.Errorf("%s: %+v", name, b.Files)
		}
	}
}

func TestPercentilesOfSecondsAreOfRatesInDescendingOrder(t *testing.T) {
	t.Parallel()
	rates := func(n int) (list []float64) {
		for i := range n {
			list = append(list, float64((i*7)%n)) // each once, in no order
		}
		return list
	}
	for _, c := range []struct{ n, percent, place int }{
		{100, 99, 99}, {100, 50, 50}, {3601, 99, 3565}, // 3564.99
		{11, 50, 6}, {13, 50, 6}, // 5.5 and 6.5 are rounded to even
		{10, 99, 10}, {50, 99, 50}, // 49.5
		{150, 99, 148}, // 148.5
	} {
		sorted := rates(c.n)
		sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
		if got, ok := bench.Reached(rates(c.n), c.percent); !ok || got != sorted[c.place-1] {
			t.Errorf("%d %% of %d: %g, want %g", c.percent, c.n, got, sorted[c.place-1])
		}
	}
	if _, ok := bench.Reached(rates(9), 99); ok {
		t.Error("fewer than 10 intervals give no percentile")
	}
}

func TestOldClientsWithTwelveColumnsAreRead(t *testing.T) {
	t.Parallel()
	text := clientCommand + "\ni_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\tretry_i\tretry_q\n" +
		"1.0\t1.0\t50\t50\t900\t900\t100\t200\t50\t900\t0\t0\n1.0\t2.0\t100\t75\t910\t905\t110\t0\t150\t1810\t3\t0\n" +
		"Totals: 2.0 secs, 75.0 rows/sec, 150 rows, 3 0 0 insert-delete-query retry\nDone\n"
	_, r := oneResult(t, readFiles(t, map[string]string{"cx6d/q.L1.ips100/o.ib.dop1.ns3.1": text}, ibenchLocal))
	figures(t, r, map[string]float64{"qps": 905, "ips": 75, "operations": 1810})
	absent(t, r, "deletes_per_s")
	if s := seriesNamed(t, r, "max_query_us"); s.Values[0] != 200 || !math.IsNaN(s.Values[1]) || len(r.TimeSeries) != 4 {
		t.Errorf("%+v", r.TimeSeries)
	}
	if !warned(r, "3 insert statements failed") {
		t.Errorf("%v", r.Warnings)
	}
}

// stepSummaryText is o.res as the scripts print it for a query step.
const stepSummaryText = `1 processes, 1000 rows-per-process, 12 seconds, 83.3 rows-per-second, 83.3 rows-per-second-per-user, 43504 queries, 3625.3 queries-per-second, 1 deletes

iostat, vmstat normalized by insert rate
nsamp	r/s	rMB/s	w/s	wMB/s	r/i	rKB/i	w/i	wKB/i	ips
3	1.5	0.1	8.0	2.0	0.018	1.229	0.096	24.585	83.3

nsamp	cs/s	cpu/s	cs/q	cpu/q
4	8000	13.5	96.038	0.162065

iostat, vmstat normalized by query rate
nsamp	r/s	rMB/s	w/s	wMB/s	r/q	rKB/q	w/q	wKB/q	qps
3	1.5	0.1	8.0	2.0	0.000	0.028	0.002	0.565	3625.3

nsamp	cs/s	cpu/s	cs/q	cpu/q
4	8000	13.5	2.207	0.003724

average values from iostat
r/s	rkB/s
1.5	100.0

dbGB	0.103
dbdirGB	0.314	/data/m/my

mysql       1234 99.0  5.0 2345678 204800 ?        Sl   10:00   1:02 /usr/sbin/mysqld --defaults-file=/etc/my.cnf

Max insert
0.011
Max delete
0.016
Max query
0.074
0.001

Insert rt:     256us       1ms       4ms      16ms      64ms     256ms        1s        4s       16s        gt         max

insert, delete and query rate at nth percentile
50th, 6 / 11 = 100 insert, 100 delete, 5498 query
99th, 11 / 11 = 50 insert, 50 delete, 1676 query

CPU seconds
client: 1.97 user, 0.24 system, 2.2 total
dbms: 7.5
`

func TestSummariesOfStepsGiveTheFiguresOfReports(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"ips": 83.3, "qps": 3625.3, "elapsed_s": 12, "reads_per_s": 1.5, "writes_per_s": 8, "read_mb_per_s": 0.1, "write_mb_per_s": 2,
		"reads_per_op": 0, "read_kb_per_op": 0.028, "writes_per_op": 0.096, "write_kb_per_op": 24.585, "context_switches_per_s": 8000, "cpu_percent": 13.5,
		"context_switches_per_op": 2.207, "db_size_gb": 0.103, "total_size_gb": 0.314, "server_cpu_s": 7.5, "user_cpu_s": 1.97, "system_cpu_s": 0.24,
		"rss_gb": 204800.0 / 1024 / 1024, "vsz_gb": 2345678.0 / 1024 / 1024, "max_op_s": 0.074, "p50_second_rate": 5498, "p99_second_rate": 1676}
	times := ibenchRTHeader + "\n38618\t3731\t855\t295\t4\t1\t0\t0\t0\t0\t0.07358\tt1:DBMS\n38618\t3731\t855\t295\t4\t1\t0\t0\t0\t0\t0.07358\tsum:DBMS\n" +
		"88.767\t8.576\t1.965\t0.678\t0.009\t0.002\t0.000\t0.000\t0.000\t0.000\t0.07358\tpct:DBMS\n"
	alone := map[string]string{"a0/q.L1.ips100/o.res.dop1": stepSummaryText, "a0/q.L1.ips100/o.rt.t.query": times}
	_, r := oneResult(t, readFiles(t, alone, ibenchLocal))
	delete(want, "max_op_s") // the response times tell it more exactly
	figures(t, r, want)
	figures(t, r, map[string]float64{"max_op_s": 0.07358})
	if r.PrimaryText != "3625.3" || len(r.Histograms) != 1 || r.Histograms[0].Counts[0] != 38618 || len(r.Sources) != 2 {
		t.Errorf("%+v", r)
	}

	// With the clients' output its own rates give way, what is finer stays.
	files := localRun(t, "a0")
	whole := map[string]string{"a0/q.L1.ips100/o.res.dop1": stepSummaryText}
	for name, text := range files {
		if strings.Contains(name, "q.L1.ips100") {
			whole[name] = text
		}
	}
	_, r = oneResult(t, readFiles(t, whole, ibenchLocal))
	want["rss_gb"] = 195112.0 / 1024 / 1024
	figures(t, r, want)
	figures(t, r, map[string]float64{"max_op_s": 0.073579, "operations": 43504, "deletes_per_s": 100})
	if len(r.Histograms) != 3 || len(r.TimeSeries) != 6 || r.State != bench.StateOK {
		t.Errorf("%+v", r)
	}

	// Rows are what operations are in insert steps.
	_, r = oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.res.dop1": stepSummaryText}, ibenchLocal))
	figures(t, r, map[string]float64{"ips": 83.3, "reads_per_op": 0.018, "read_kb_per_op": 1.229, "context_switches_per_op": 96.038, "max_op_s": 0.011, "p99_second_rate": 50})
	absent(t, r, "qps")
	if r.PrimaryText != "83.3" {
		t.Errorf("%q", r.PrimaryText)
	}

	// More processes than outputs.
	_, r = oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.res.dop4": strings.Replace(stepSummaryText, "1 processes", "4 processes", 1), "a0/l.i1/o.ib.dop4.1": clientText(1, 2)}, ibenchLocal))
	if r.State != bench.StateFailed || r.Reason != "the output of client 2 of 4 is missing" {
		t.Errorf("%s %s", r.State, r.Reason)
	}
	// Percentiles and client CPU are of the first client alone.
	_, r = oneResult(t, readFiles(t, map[string]string{"a0/l.i1/o.res.dop4": strings.Replace(stepSummaryText, "1 processes", "4 processes", 1)}, ibenchLocal))
	absent(t, r, "p99_second_rate", "user_cpu_s")
}

func TestResponseTimesOfAStepAreComparedWithItsClients(t *testing.T) {
	t.Parallel()
	table := func(first int) string {
		return ibenchRTHeader + fmt.Sprintf("\n%d\t1\t2\t3\t0\t0\t0\t0\t0\t0\t0.002\tt1:DBMS\n%d\t1\t2\t3\t0\t0\t0\t0\t0\t0\t0.002\tsum:DBMS\n", first, first)
	}
	for first, differs := range map[int]bool{0: false, 5: true} {
		_, r := oneResult(t, readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1, 2), "a0/l.i0/o.rt.t.insert": table(first)}, ibenchLocal))
		if warned(r, "are not those of the clients' outputs") != differs || r.Histograms[0].Counts[0] != 0 {
			t.Errorf("%d: %v", first, r.Warnings)
		}
	}
	for name, text := range map[string]string{
		"its sum is not that of its lines": strings.Replace(table(0), "\n0\t1\t2\t3\t0\t0\t0\t0\t0\t0\t0.002\tsum", "\n9\t1\t2\t3\t0\t0\t0\t0\t0\t0\t0.002\tsum", 1),
		"has no line with the sum":         strings.Replace(table(0), "sum:", "t2:", 1),
		"not ten counts":                   strings.Replace(table(0), "\n0\t", "\nx\t", 1),
	} {
		b := readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1, 2), "a0/l.i0/o.rt.t.insert": text}, ibenchLocal)
		if !refusedWith(b, "a0/l.i0/o.rt.t.insert", name) || len(b.Runs) != 1 {
			t.Errorf("%s: %+v", name, b.Files)
		}
	}
	// A client without times, one for the file's name.
	b := readFiles(t, map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1, 2), "a0/l.i0/times": table(0)}, ibenchLocal)
	if !refusedWith(b, "a0/l.i0/times", "nothing says of which operation") {
		t.Errorf("%+v", b.Files)
	}
}

func TestProcessesBesideAStepAreRead(t *testing.T) {
	t.Parallel()
	_, r := oneResult(t, readFiles(t, map[string]string{
		"a0/l.i0/o.ib.dop2.1": clientText(1, 2), "a0/l.i0/o.ib.dop2.2": clientText(1, 2),
		"a0/l.i0/o.ctime.dop2.1": "1.97user 0.24system 0:06.37elapsed 34%CPU (0avgtext+0avgdata 30000maxresident)k\n0inputs+0outputs (0major+0minor)pagefaults 0swaps\n",
		"a0/l.i0/o.ctime.dop2.2": "2.03user 0.26system 0:06.40elapsed 34%CPU (0avgtext+0avgdata 30000maxresident)k\n",
		"a0/l.i0/o.ps.dop2": "mysql 1 99.0 5.0 2000000 1048576 ? Sl 10:00 1:02 /usr/sbin/mysqld\nmysql 1 99.0 5.0 2097152 1572864 ? Sl 10:00 1:32 /usr/sbin/mysqld\n" +
			"mysql 1 99.0 5.0 2100000 1500000 ? Sl 10:00 1:32 /usr/sbin/mysqld\n",
	}, ibenchLocal))
	figures(t, r, map[string]float64{"user_cpu_s": 4, "system_cpu_s": 0.5, "rss_gb": 1.5, "vsz_gb": 2})
	// Of one client the time is not known: a sum would be of the other alone.
	_, r = oneResult(t, readFiles(t, map[string]string{
		"a0/l.i0/o.ib.dop2.1": clientText(1, 2), "a0/l.i0/o.ib.dop2.2": clientText(1, 2), "a0/l.i0/o.ctime.dop2.1": "1.97user 0.24system 0:06.37elapsed\n",
	}, ibenchLocal))
	absent(t, r, "user_cpu_s")
}

func TestOutputWithoutAStepIsRefusedAndReadOnceTheFolderNamesIt(t *testing.T) {
	t.Parallel()
	out, err := os.ReadFile(filepath.Join("testdata", "ibench", "iibench_myrocks.stdout"))
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := os.ReadFile(filepath.Join("testdata", "ibench", "iibench_myrocks.stderr"))
	if err != nil {
		t.Fatal(err)
	}
	b := readFiles(t, map[string]string{"x/iibench_myrocks.stdout": string(out), "x/iibench_myrocks.stderr": string(stderr)}, ibenchLocal)
	if !refusedWith(b, "x/iibench_myrocks.stdout", "the directory should be named by the step") || len(b.Runs) > 0 || len(b.Files) != 2 {
		t.Errorf("%+v", b.Files)
	}
	// time of bash, as a German locale prints it.
	german := strings.ReplaceAll(string(stderr), ".", ",")
	for _, text := range []string{string(stderr), german} {
		_, r := oneResult(t, readFiles(t, map[string]string{"a0/q1000.1/iibench_myrocks.stdout": string(out), "a0/q1000.1/iibench_myrocks.stderr": text}, ibenchLocal))
		figures(t, r, map[string]float64{"qps": 2244, "ips": 33314.2, "rows_per_query": 9.982, "operations": 13472, "user_cpu_s": 1.975, "system_cpu_s": 0.24, "max_op_s": 0.012586})
		if len(seriesNamed(t, r, "qps").Values) != 6 || r.Command != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestRunFilesThatContradictEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		file  string
		says  string
	}{
		"another number of clients": {map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1), "a0/l.i0/o.ib.dop4.2": clientText(1)}, "a0/l.i0/o.ib.dop4.2", "is of a run with 4 clients"},
		"the same client twice":     {map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1), "a0/l.i0/o.ib.dop1.ns3.1": clientText(2)}, "a0/l.i0/o.ib.dop1.ns3.1", "the same client as"},
		"two summaries":             {map[string]string{"a0/l.i0/o.res.dop1": stepSummaryText, "a0/l.i0/o.res.dop1.ns3": stepSummaryText}, "a0/l.i0/o.res.dop1.ns3", "a second summary"},
		"memory in words":           {map[string]string{"a0/l.i0/o.ib.dop1.1": clientText(1), "a0/l.i0/rss_kb": "much"}, "a0/l.i0/rss_kb", "not a number of kB"},
		"an empty client":           {map[string]string{"a0/l.i0/o.ib.dop1.1": clientHeaderText + "\n"}, "a0/l.i0/o.ib.dop1.1", "nothing of a client"},
	} {
		if b := readFiles(t, c.files, ibenchLocal); !refusedWith(b, c.file, c.says) {
			t.Errorf("%s: %+v", name, b.Files)
		}
	}
	// Context that nobody states, and one that is stated twice.
	b := readFiles(t, localRun(t, "a0"), bench.Context{System: "mariadb", Workload: "cached"})
	if !refusedWith(b, "a0/l.i0/o.ib.dop1.1", "server and version are not said by the file or its path") || len(b.Runs) > 0 {
		t.Errorf("%+v", b.Files)
	}
	flags := ibenchLocal
	flags.Clients = 8
	if b = readFiles(t, localRun(t, "a0"), flags); !refusedWith(b, "a0/l.i0/o.ib.dop1.1", "clients: ") {
		t.Errorf("%+v", b.Files)
	}
	// A stated config wins over the folder's name.
	flags = ibenchLocal
	flags.Config = "mine"
	if b = readFiles(t, localRun(t, "a0"), flags); len(b.Runs) != 1 || b.Runs[0].Config != "mine" || len(b.Warnings) > 0 {
		t.Errorf("%+v %v", b.Runs, b.Warnings)
	}
}

func TestCommandsTakeRunDirectoriesAsAWhole(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, config := range []string{"a0", "a4"} {
		for name, text := range localRun(t, config) {
			files["all/"+name] = text
		}
	}
	const tagged = "20m.fbmy8028_rel.cy10a0_bee"
	files["all/"+tagged+"/l.i0/o.ib.dop1.1"] = clientText(1, 2)
	root := tree(t, files)
	var got []string
	for _, unit := range unitNames(t, root, "all") {
		name, _, _ := strings.Cut(unit, ": ")
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"all/" + tagged + ".tar", "all/a0.tar", "all/a4.tar"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := unitNames(t, root, "all/"+tagged+"/l.i0/o.ib.dop1.1"); len(got) != 1 || !strings.HasPrefix(got[0], tagged+"/l.i0/o.ib.dop1.1: ") {
		t.Errorf("%q", got)
	}
	units, err := Units(root, []string{"all/a0"})
	if err != nil || len(units) != 1 {
		t.Fatal(units, err)
	}
	data, err := units[0].Bytes(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Read(data, units[0].Name, ibenchLocal, Limits{})
	if err != nil || len(b.Runs) != 1 || len(b.Runs[0].Results) != 6 {
		t.Errorf("%v %+v", err, b)
	}
}

func TestExportsKeepAllOfARunOfTheInsertBenchmark(t *testing.T) {
	t.Parallel()
	b := readFiles(t, localRun(t, "a4"), ibenchLocal)
	var out bytes.Buffer
	if err := WriteExport(&out, b.Runs); err != nil {
		t.Fatal(err)
	}
	again := mustRead(t, "x.ndjson", out.String(), bench.Context{})
	if len(again.Runs) != 1 || len(again.Runs[0].Results) != 6 {
		t.Fatalf("%+v", again)
	}
	before, after := bench.Keys(b), bench.Keys(again)
	if !maps.Equal(before, after) {
		t.Error("an export changes what is measured")
	}
	for i := range b.Runs[0].Results {
		x, y := &b.Runs[0].Results[i], &again.Runs[0].Results[i]
		if !slices.Equal(x.Values, y.Values) || len(x.Histograms) != len(y.Histograms) || fmt.Sprint(x.TimeSeries) != fmt.Sprint(y.TimeSeries) {
			t.Errorf("%+v\n%+v", x, y)
		}
	}
}
