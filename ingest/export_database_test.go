package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

// everything has a record of each kind with each field set somewhere.
func everything() []bench.Record {
	at := time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)
	zoned := bench.ZonedTime(time.Date(2025, 3, 16, 15, 46, 45, 0, time.FixedZone("", -7*3600)))
	result := func(id int64) bench.ResultRecord {
		return bench.ResultRecord{
			ID: id, Key: bench.Key{1, 2, byte(id)},
			Result: bench.Result{Step: bench.Step{Name: "fillseq"}, Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured},
			From:   []bench.FileLine{{File: 1, Line: 2}},
		}
	}
	full := result(11)
	full.Ordinal, full.Set, full.Numbers = 3, 1, []*float64{ptr(1356754.0), nil, ptr(0.1)}
	full.Step = bench.Step{Name: "overwrite", Threads: 8, Sync: ptr(false), WAL: ptr(true), ValueBytes: 400}
	full.Started, full.Primary, full.PrimaryText, full.Text, full.Excluded, full.Command = zoned, "qps", "1356754", "a\tb <&> \u2028", "nothing found", "db_bench"
	full.Histograms = []bench.Histogram{{Operation: "write", Unit: "µs", Bounds: []float64{1, 2}, Counts: []float64{5, 6}, Count: ptr(11.0), Min: ptr(0.5), Max: ptr(1.5), Average: ptr(1.0), StdDev: ptr(0.1)},
		{Operation: "read", Unit: "µs", Bounds: []float64{4}, Percents: []float64{100}}}
	full.TimeSeries = []bench.TimeSeries{{Name: "qps", Unit: "1/s", StartS: 1, StepS: 1, Values: []float64{10, math.NaN(), 0}}}
	full.Breakdowns = []bench.Breakdown{{Key: "block_read_count", Bucket: "2", Samples: 3, Unit: "µs", Value: 4.5}}
	full.Warnings = []bench.Message{{File: "a.log", Line: 3, Column: "mb_sec", Text: "odd"}}
	failed := result(12)
	failed.State, failed.Reason, failed.Origin, failed.Withdrawn, failed.Superseded = bench.StateFailed, "signal 9", bench.OriginMatrix, true, true
	return []bench.Record{
		{Server: &bench.ServerRecord{Name: "c2", Created: at}},
		{Coordinate: &bench.CoordinateRecord{ID: 5, Coordinate: bench.Coordinate{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached",
			Step: "overwrite", Compiler: "gcc", Config: "a1", Clients: 8}, Series: []bench.SeriesRecord{{ID: 6, Metric: "qps"}, {ID: 7, Metric: "p99"}}}},
		{Upload: &bench.UploadRecord{
			UploadInfo: bench.UploadInfo{ID: 7, Filename: "x.tar.gz", SHA256: strings.Repeat("ab", 32), Format: "archive", Size: 99,
				Context: bench.Context{Server: "c2", Clients: 8, Versions: []string{"8.0.0"}}, Actor: "ann", Created: at, State: bench.RecordWithdrawn,
				Withdrawn: &at, WithdrawnBy: "bob", Reason: "wrong server"},
			Warnings: []bench.Message{{File: "x", Text: "odd"}},
			Files: []bench.FileRecord{
				{ID: 1, File: bench.File{Path: "x/a", Format: "report.tsv", SHA256: strings.Repeat("01", 32), Size: 5, State: bench.FileTaken}},
				{ID: 2, File: bench.File{Path: "x/b", SHA256: strings.Repeat("02", 32), State: bench.FileRefused, Messages: []bench.Message{{File: "x/b", Line: 9, Text: "no"}}}},
			},
			Checks: []bench.Check{{File: "x/a", Kind: "relative", Cells: 9, Agree: 7, Unknown: 1, Shifted: 1, Messages: []bench.Message{{File: "x/a", Line: 2, Text: "differs"}}}},
			Packed: 5,
		}},
		{Content: []byte{0, 1, 255}},
		{Content: []byte("ab")},
		{Config: &bench.ConfigRecord{
			ID: 9, Created: at, From: []bench.ConfigFile{{File: 1, SourceName: "cy10a1_bee"}, {File: 2}},
			Config: bench.Config{System: "myrocks", Name: "a1", Kind: bench.ConfigMyCnf, Layer: bench.LayerParsed,
				Options: []bench.Option{
					{Section: "mysqld", Key: "rocksdb_block_cache_size", Written: "6G", Value: "6442450944", Line: 7, Loose: true},
					{Section: "mysqld", Key: "skip_innodb", Value: "ON", Line: 8}, {Key: "empty"}, {Key: "tmpdir", Written: "/t", Value: "/t", Line: 1, Environment: true},
				},
				Warnings: []bench.Message{{File: "x/a", Line: 8, Text: "twice"}}},
		}},
		{MetricSet: &bench.MetricSetRecord{ID: 1, Values: []bench.Value{
			{Metric: "qps", Resolution: 1, SourceName: "ops_sec"}, {Metric: "p99"}, {Metric: "ticker_x", Resolution: 0.25}}}},
		{Run: &bench.RunRecord{
			ID: 3, Key: "0c9e5a0e-6b1c-4b39-9d0b-0d3f7a3b1c11", OwnID: true, System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Config: "a1",
			Build:   bench.Build{Version: "8.0.0", Compiler: "gcc", CompilerVersion: "13", Flags: "-O2", GitHash: "abc", BinarySHA256: strings.Repeat("cd", 32), Command: "make"},
			Clients: 8, Stated: 8, Assumed: []string{"compiler", "workload"}, Environment: map[string]string{"b": "2", "a": "1"}, Options: map[string]string{"x": "y"},
			Started: bench.NewLocalTime(2025, 1, 2, 3, 4, 5), Created: at, State: bench.RecordWithdrawn, Reason: "wrong", WithdrawnWith: 7,
			History: []bench.RunChange{{At: at, Actor: "ann", Action: "corrected", Reason: "typo", Before: map[string]string{"server": "c1"}, After: map[string]string{"server": "c2"}}},
			Results: []bench.ResultRecord{full},
		}},
		{Results: []bench.ResultRecord{failed}},
		{Run: &bench.RunRecord{ID: 4, Key: "00ff", System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Build: bench.Build{Version: "8.1.0"},
			Created: at, State: bench.RecordActive, Results: []bench.ResultRecord{result(13)}}},
		{Change: &bench.ChangeDetail{
			Change: bench.Change{ID: 31, SeriesID: 6, FoundChange: bench.FoundChange{Shape: bench.ShapeSpike, From: "8.0.0", To: "8.1.0", Back: "8.2.0",
				Effect: -0.1, Low: -0.2, High: -0.05, Neighbours: -0.11, P: 0.0001, PHere: 1e-9, Before: bench.Level{First: "7.0.0", Last: "8.0.0", Mean: 14.2, N: 9},
				After: bench.Level{First: "8.1.0", Last: "8.1.0", Mean: 14.1, N: 1}, OneRun: true, NewCampaign: true},
				Dissolved: &at, Created: at, Updated: at, Triage: bench.TriageFixed, FixedIn: "8.2.0", Owner: "bob", IssueURL: "https://example.org/1"},
			Events: []bench.ChangeEvent{{ID: 8, At: at, Actor: "ann", Field: "comment", Before: "x", After: "see *this*"}},
		}},
		{Note: &bench.NoteRecord{
			Note: bench.Note{ID: 2, System: "rocksdb", Version: "8.0.0", ToVersion: "8.1.0", ChangeID: 31,
				Scope: bench.NoteScope{Step: "overwrite", Server: "c2", Workload: "cached", Compiler: "gcc", Config: "a1"},
				Body:  "text", Author: "ann", Created: at, Updated: at, Deleted: &at, Revision: 2},
			History: []bench.NoteRevision{{Revision: 1, At: at, Actor: "ann", Action: "written", Body: "text"}, {Revision: 2, At: at, Actor: "bob", Action: "deleted", Body: "text"}},
		}},
		{Link: &bench.LinkRecord{Link: bench.Link{Code: "7Kq2", URL: "/charts?a=1&b=2", Frozen: true, Author: "ann", Created: at}, Packed: []byte{9, 8}}},
		{Link: &bench.LinkRecord{Link: bench.Link{Code: "7Kq3", URL: "/charts", Author: "ann", Created: at}}},
		{Alias: &bench.AliasRecord{Kind: "server", Old: "pn53", New: "c2", Actor: "ann", At: at}},
	}
}

// written gives records as a file.
func written(t testing.TB, records []bench.Record) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewExportWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// read gives the records of a file, those before an error too.
func read(file io.Reader) (records []bench.Record, err error) {
	r := NewExportReader(file, "x.ndjson")
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			if _, again := r.Next(); again != err {
				return records, errors.New("an error does not last")
			}
			return records, err
		}
		records = append(records, rec)
	}
}

func TestADatabaseExportRoundTripLosesNothing(t *testing.T) {
	t.Parallel()
	records := everything()
	file := written(t, records)
	// A reader that gives a byte at a time meets every boundary.
	got, err := read(iotest.OneByteReader(bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Line != i+2 {
			t.Errorf("record %d is of line %d, want %d: the first line is the header", i, got[i].Line, i+2)
		}
	}
	diff := cmp.Diff(records, got, cmp.AllowUnexported(bench.LocalTime{}), cmpopts.EquateNaNs(), cmpopts.IgnoreFields(bench.Record{}, "Line"))
	if diff != "" {
		t.Error(diff)
	}
	if again := written(t, got); !bytes.Equal(again, file) {
		t.Errorf("written again it is\n%s\nwas\n%s", again, file)
	}
}

func TestTheEndSaysWhatTheFileHolds(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(string(written(t, everything()))), "\n")
	const want = `{"end":{"uploads":1,"configs":1,"runs":2,"results":3,"changes":1,"notes":1,"links":2,"aliases":1,"sha256":"`
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, want) {
		t.Errorf("the end is %s", last)
	}
	r := NewExportReader(strings.NewReader(strings.Join(lines, "\n")), "x")
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if want := (ExportCounts{Uploads: 1, Configs: 1, Runs: 2, Results: 3, Changes: 1, Notes: 1, Links: 2, Aliases: 1}); r.Counts() != want {
		t.Errorf("read were %+v", r.Counts())
	}
}

func TestADatabaseExportThatWasCutIsRefused(t *testing.T) {
	t.Parallel()
	file := written(t, everything())
	for n := range len(file) - 1 { // without the last line end it is still complete
		_, err := read(bytes.NewReader(file[:n]))
		var e *bench.Error
		if !errors.As(err, &e) || e.Kind != bench.KindInvalid || len(e.Places) != 1 {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(file), err)
		}
		// Cut at a line end, the last line that is there is named.
		line := bytes.Count(file[:n], []byte("\n"))
		if n > 0 && file[n-1] != '\n' {
			line++
		}
		if p := e.Places[0]; p.File != "x.ndjson" || p.Line != line {
			t.Fatalf("cut to %d bytes: %v, want line %d", n, p, line)
		}
	}
}

func TestADatabaseExportWithAChangedByteIsRefused(t *testing.T) {
	t.Parallel()
	file := written(t, everything())
	end := bytes.Index(file, []byte(`{"end":`))
	for i := range file[:len(file)-1] {
		changed := bytes.Clone(file)
		changed[i] ^= []byte{1, 0x20, 0x80}[i%3]
		_, err := read(bytes.NewReader(changed))
		if err == nil && i > end && bytes.EqualFold(changed, file) {
			continue // the name of a field in capitals says the same
		}
		if bench.KindOf(err) != bench.KindInvalid {
			t.Fatalf("byte %d (%q) changed to %q: %v", i, file[i], changed[i], err)
		}
	}
}

func TestADatabaseExportWithAFlawIsRefusedAtItsLine(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(string(written(t, everything())), "\n")
	lines = lines[:len(lines)-1] // nothing follows the last line end
	find := func(kind string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `{"`+kind+`":`) })
	}
	replace := func(kind, old, by string) func() []string {
		return func() []string {
			out, at := slices.Clone(lines), find(kind)
			if at < 0 || !strings.Contains(out[at], old) {
				t.Fatalf("%s: no %s", kind, old)
			}
			out[at] = strings.Replace(out[at], old, by, 1)
			return out
		}
	}
	insert := func(kind, line string) func() []string {
		return func() []string { return slices.Insert(slices.Clone(lines), find(kind), strings.TrimSpace(line)+"\n") }
	}
	for _, c := range []struct {
		name string
		file func() []string
		line int
		says string
	}{
		{"figures alone", func() []string { return []string{`{"relqps_export":1}` + "\n"} }, 1, "relqps ingest reads it"},
		{"newer format", replace("relqps_export", ":1", ":2"), 1, "this is export format 2; this relqps reads 1"},
		{"other contents", replace("relqps_export", "database", "dataset"), 1, `contains a "dataset"`},
		{"no header", func() []string { return lines[1:] }, 1, "does not begin"},
		{"another file", func() []string { return []string{"p99,qps\n"} }, 1, "not a line of an export"},
		{"second header", insert("upload", `{"relqps_export":1,"contents":"database"}`), 1 + find("upload"), "second first line"},
		{"unknown kind", insert("upload", `{"rocket":{}}`), 1 + find("upload"), `unknown field "rocket"`},
		{"nothing", insert("upload", `{}`), 1 + find("upload"), "holds nothing"},
		{"two things", insert("upload", `{"server":{"name":"a","created":"2026-01-01T00:00:00Z"},"content":"AA=="}`), 1 + find("upload"), "2 things"},
		{"two objects", insert("upload", `{"content":"AA=="}{"content":"AA=="}`), 1 + find("upload"), "more follows"},
		{"broken line", insert("upload", `{"run":`), 1 + find("upload"), "not a line"},
		{"unknown field", replace("run", `"clients":8`, `"client":8`), 1 + find("run"), `unknown field "client"`},
		{"word for a number", replace("run", `"clients":8`, `"clients":"8"`), 1 + find("run"), "clients cannot be a string"},
		{"not text", replace("note", "text", "te\xfft"), 1 + find("note"), "not valid UTF-8"},
		{"character 0", replace("note", "text", `te\u0000t`), 1 + find("note"), "character 0"},
		{"run without what was stored", replace("run", `"stored"`, `"options"`), 1 + find("run"), ""},
		{"run without a number", replace("run", `"stored":{"id":3`, `"stored":{"id":0`), 1 + find("run"), "0 is no number"},
		{"run with two keys", replace("run", `"stored":{"id":3`, `"stored":{"id":3,"key":"x"`), 1 + find("run"), "either an id of its own or a key"},
		{"number beyond those of JSON", replace("note", `"id":2`, `"id":9007199254740993`), 1 + find("note"), "is no number"},
		{"result without what was stored", replace("results", `,"stored":{`, `,"command":"`), 1 + find("results"), ""},
		{"key", replace("results", `"key":"01`, `"key":"0g`), 1 + find("results"), "is no key"},
		{"state of a result", replace("results", "failed", "great"), 1 + find("results"), "no such state"},
		{"values without their set", replace("run", `"set":1`, `"set":2`), 1 + find("run"), "do not fit metric set 2"},
		{"more values than the set has", replace("run", `"values":[`, `"values":[1,`), 1 + find("run"), "do not fit metric set 1"},
		{"figure that is none", replace("run", `"values":[1356754`, `"values":[1e999`), 1 + find("run"), "not a line"},
		{"second set of a number", insert("run", lines[find("metric_set")]), 1 + find("run"), "second metric set"},
		{"unknown metric", replace("metric_set", "qps", "speed"), 1 + find("metric_set"), "no such metric"},
		{"no time", replace("change", `"created":"2026-03-04T05:06:07.123456Z"`, `"created":"0001-01-01T00:00:00Z"`), 1 + find("change"), "there is no time"},
		{"impossible time", replace("change", `"created":"2026-03-04`, `"created":"2026-02-30`), 1 + find("change"), "not a line"},
		{"year that cannot be written", replace("note", `"deleted":"2026-03-04T05:06:07.123456Z"`, `"deleted":"9999-12-31T23:00:00-05:00"`), 1 + find("note"), "the year 10000"},
		{"check of no file", replace("upload", `"checks":[{"file":"x/a"`, `"checks":[{"file":"x/c"`), 1 + find("upload"), "no file of the upload"},
		{"broken content", replace("content", `"AAH/"`, `"AAH"`), 1 + find("content"), "not a line"},
		{"line twice", insert("alias", lines[find("note")]), len(lines) + 1, "missing or stand twice"},
		{"line missing", func() []string { return slices.Delete(slices.Clone(lines), find("link"), find("link")+1) }, len(lines) - 1, "missing or stand twice"},
		{"other bytes", replace("note", "text", "tixt"), len(lines), "changed or damaged"},
		{"line after the end", func() []string { return append(slices.Clone(lines), lines[find("alias")]) }, len(lines) + 1, "after the end"},
		{"second end", func() []string { return append(slices.Clone(lines), lines[len(lines)-1]) }, len(lines) + 1, "after the end"},
	} {
		_, err := read(strings.NewReader(strings.Join(c.file(), "")))
		var e *bench.Error
		if !errors.As(err, &e) || e.Kind != bench.KindInvalid || len(e.Places) != 1 || e.Places[0].Line != c.line || e.Places[0].File != "x.ndjson" ||
			!strings.Contains(e.Places[0].Text, c.says) {
			t.Errorf("%s: %v, %+v, want line %d with %q", c.name, err, e, c.line, c.says)
		}
	}
}

func TestACharacterZeroIsToldFromItsSpelling(t *testing.T) {
	t.Parallel()
	for line, zero := range map[string]bool{
		`{"a":"\u0000"}`: true, `{"a":"\\u0000"}`: false, `{"a":"\\\u0000"}`: true, `{"a":"\\u0000\u0000"}`: true, `{"a":"\u00001"}`: true,
		`\u0000`: true, `{"a":"u0000"}`: false,
	} {
		if err := isText([]byte(line)); (err != nil) != zero {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestALongLineIsRead(t *testing.T) {
	t.Parallel()
	records := []bench.Record{{Content: bytes.Repeat([]byte("0123456789abcde"), 100_000)}, {Content: []byte("x")}}
	got, err := read(bytes.NewReader(written(t, records)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records, got, cmpopts.IgnoreFields(bench.Record{}, "Line")); diff != "" {
		t.Error(diff[:min(len(diff), 500)])
	}
}

func TestAFaultOfTheDiskIsNotOneOfTheFile(t *testing.T) {
	t.Parallel()
	fault := &fs.PathError{Op: "read", Path: "x", Err: errors.New("input/output error")}
	file := written(t, everything())
	_, err := read(io.MultiReader(bytes.NewReader(file[:300]), iotest.ErrReader(fault)))
	if !errors.Is(err, fault) || bench.KindOf(err) != "" {
		t.Errorf("%v", err)
	}
	// What a decompressor complains about is.
	_, err = read(io.MultiReader(bytes.NewReader(file[:300]), iotest.ErrReader(errors.New("checksum"))))
	if bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("%v", err)
	}
}

func TestATimeThatCannotBeWrittenEndsAnExport(t *testing.T) {
	t.Parallel()
	wall := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, started := range []bench.LocalTime{bench.LocalTimeOf(wall, ptr(3601)), bench.NewLocalTime(12025, 1, 1, 0, 0, 0)} {
		w, err := NewExportWriter(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		records := everything()
		i := slices.IndexFunc(records, func(r bench.Record) bool { return r.Run != nil })
		records[i].Run.Results[0].Started = started
		if err := w.Write(records[i]); err == nil {
			t.Errorf("%v was written", started)
		}
	}
	w, err := NewExportWriter(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(bench.Record{}); err == nil {
		t.Error("a record of nothing was written")
	}
}

func TestIngestOfADatabaseExportTakesTheRunsAndSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	file := written(t, everything())
	b, err := Read(file, "all.ndjson", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Files) != 1 || b.Files[0].State != bench.FileTaken {
		t.Fatalf("%+v", b.Files)
	}
	if len(b.Runs) != 2 {
		t.Fatalf("%d runs", len(b.Runs))
	}
	first, r := b.Runs[0], b.Runs[0].Results
	if first.ID != "0c9e5a0e-6b1c-4b39-9d0b-0d3f7a3b1c11" || first.Clients != 8 || !slices.Equal(first.Assumed, []string{"compiler", "workload"}) || len(r) != 1 {
		t.Errorf("%+v", first)
	}
	if v, ok := r[0].Value("qps"); !ok || v != 1356754 || len(r[0].Values) != 2 || len(r[0].Histograms) != 2 || len(r[0].TimeSeries) != 1 {
		t.Errorf("%+v", r[0])
	}
	const want = "this file holds a whole database, of which the runs and configs were read; left out: 1 upload, 1 withdrawn config, 1 withdrawn run, 1 withdrawn result, " +
		"1 change, 1 note, 2 links, 1 former name; relqps import takes everything into an empty database"
	if n := len(b.Warnings); n == 0 || b.Warnings[n-1].Text != want {
		t.Errorf("%v", b.Warnings)
	}
	lines := bytes.SplitAfter(file, []byte("\n"))
	for name, flawed := range map[string][]byte{
		"cut":     bytes.Join(lines[:len(lines)-2], nil),
		"changed": bytes.Replace(file, []byte(`"body":"text"`), []byte(`"body":"next"`), 1),
		"missing": bytes.Join(slices.Delete(slices.Clone(lines), len(lines)-4, len(lines)-3), nil),
		"longer":  append(bytes.Clone(file), lines[1]...),
	} {
		if out := readExport(&input{path: "x", text: flawed}); out.state != bench.FileRefused || len(out.messages) != 1 || out.messages[0].Line == 0 || len(out.runs) > 0 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestUndatedResultsOfADatabaseExportKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ batch, stated, clients int }{{0, 0, 8}, {8, 0, 8}, {8, 8, 8}, {0, 4, 4}, {4, 8, 8}} {
		run := bench.Run{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Build: bench.Build{Version: "8.0.0"}, Clients: c.batch}
		r := bench.Result{Step: bench.Step{Name: "fillseq"}, State: bench.StateOK, Text: "a row"}
		key := bench.MeasurementKey(&run, &r, 0)
		e := exportRun{System: run.System, Suite: run.Suite, Server: run.Server, Workload: run.Workload, Build: run.Build, Clients: c.clients,
			Stored:  &exportStoredRun{Clients: c.stated},
			Results: []exportResult{{Step: "fillseq", Text: "a row", Stored: &exportStoredResult{Key: key.String()}}}}
		got, err := e.run("x", 1, nil, &leftOut{})
		if err != nil {
			t.Fatal(err)
		}
		if now := bench.MeasurementKey(&got, &got.Results[0], 0); now != key && c.batch != 4 {
			t.Errorf("%+v: the key changed", c)
		} else if now == key && c.batch == 4 {
			t.Errorf("%+v: a number that the file does not tell was found", c)
		}
	}
}

// FuzzExportReader makes sure that what is read can be written, and then reads
// the same.
func FuzzExportReader(f *testing.F) {
	for line := range bytes.Lines(written(f, everything())) {
		f.Add(append([]byte(`{"relqps_export":1,"contents":"database"}`+"\n"), line...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := read(bytes.NewReader(data))
		if err != nil && bench.KindOf(err) != bench.KindInvalid {
			t.Fatalf("no error of the file: %v", err)
		}
		once := written(t, records)
		again, err := read(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice := written(t, again); !bytes.Equal(once, twice) {
			t.Fatalf("written twice:\n%s\n%s", once, twice)
		}
		readExport(&input{path: "x", text: data})
	})
}

func TestConfigsAreExportedBesideFigures(t *testing.T) {
	t.Parallel()
	config := onlyConfig(t, mustRead(t, "my.cnf.cy10a4_bee", fixture(t, "config/my.cnf.cy10a4_bee"), bench.Context{}))
	var file bytes.Buffer
	if err := WriteExport(&file, nil, config); err != nil {
		t.Fatal(err)
	}
	got := onlyConfig(t, mustRead(t, "x.ndjson", file.String(), bench.Context{}))
	want := config
	want.File = "x.ndjson"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// One whose upload counts is read from a whole database, under the name its file has.
	records := everything()
	records[2].Upload.State, records[2].Upload.Withdrawn, records[2].Upload.WithdrawnBy, records[2].Upload.Reason = bench.RecordActive, nil, "", ""
	b, err := Read(written(t, records), "all.ndjson", bench.Context{}, Limits{})
	if err != nil || len(b.Configs) != 1 || b.Configs[0].Name != "a1" || b.Configs[0].SourceName != "cy10a1_bee" || b.Configs[0].File != "all.ndjson" {
		t.Errorf("%+v %v", b.Configs, err)
	}
	line := `{"relqps_export":1}` + "\n" + `{"config":{"system":"s","name":"n","kind":"my.cnf","layer":"parsed","options":[{"key":"a","written":"1"}]}}` + "\n"
	if c := onlyConfig(t, mustRead(t, "x", line, bench.Context{})); c.Options[0].Value != "1" || c.Options[0].Line != 2 {
		t.Errorf("%+v", c)
	}
	for old, flaw := range map[string]string{
		`"system":"s"`: `"system":""`, `"my.cnf"`: `"ini"`, `"parsed"`: `"requested"`, `"key":"a"`: `"key":""`, `[{"key":"a","written":"1"}]`: `[]`,
		`"written":"1"}`: `"written":"1"},{"key":"a"}`, `"name":"n"`: `"name":"\u0001"`, `"written":"1"`: `"line":-1`,
	} {
		f := onlyFile(t, mustRead(t, "x", strings.Replace(line, old, flaw, 1), bench.Context{}))
		if f.State != bench.FileRefused || f.Messages[0].Line != 2 {
			t.Errorf("%s: %+v", flaw, f)
		}
	}
}
