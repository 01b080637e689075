package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/internal/bench"
)

// Four rows of the published c2 archive (sum.byrx.8x.txt).
const (
	day1 = "2023-11-09T16:54:47"
	day2 = "2023-11-10T03:11:02"
	day3 = "2023-11-11T08:00:00"
)

func TestTheSameRowsInTwoFormatsAreOneMeasurement(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	sumFile := c2("8.8.0", row("sum.txt", 2, "fillseq.wal_disabled.v400", day1, "1671040"), row("sum.txt", 5, "readrandom.t8", day1, "800000"))
	first := mustWrite(t, s, upload("sum.txt", "sum"), batch("sum.txt", sumFile))

	log := c2("8.8.0", with(with(row("fillseq.log", 40, "fillseq", day1, "1671040"), "p99_9", 12, 1, "P99.9"), "qps", 1671040, 1, "ops/sec"))
	log.Environment = map[string]string{"cpu": "AMD"}
	log.Build.GitHash = "0123456789"
	log.Results[0].Command = "./db_bench"
	log.Results[0].Histograms = []bench.Histogram{{Operation: "write", Unit: "µs", Bounds: []float64{1}, Counts: []float64{3}}}
	second := mustWrite(t, s, upload("fillseq.log", "log"), batch("fillseq.log", log))
	if second.Results != 0 || second.AlreadyThere != 1 || second.Merged != 1 || second.Values != 1 {
		t.Errorf("receipt %+v, want one row there already, with one value added", second)
	}
	if diff := cmp.Diff(first.Runs, second.Runs); diff != "" {
		t.Error("the second file joins another run", diff)
	}
	d, err := s.Run(t.Context(), first.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Results) != 2 || len(d.Uploads) != 2 {
		t.Fatalf("%d results from %d uploads, want 2 from 2", len(d.Results), len(d.Uploads))
	}
	r := d.Results[0]
	if v, ok := r.Value("p99_9"); !ok || v != 12 {
		t.Errorf("p99.9 is %v, %v; want what the log added", v, ok)
	}
	if r.Command != "./db_bench" || len(r.Histograms) != 1 || d.Environment["cpu"] != "AMD" || d.Build.GitHash != "0123456789" {
		t.Errorf("command %q, %d histograms, environment %v, build %+v: want those of the log", r.Command, len(r.Histograms), d.Environment, d.Build)
	}
	if r.Step.ValueBytes != 400 || r.Step.WAL == nil {
		t.Errorf("step %+v lost what the first file said", r.Step)
	}
	x := oneSeries(t, s, bench.SeriesFilter{Steps: []string{"fillseq"}})
	if diff := cmp.Diff(map[string][]float64{"8.8.0": {1671040}}, samples(x)); diff != "" {
		t.Error("n grew", diff)
	}
	if hash := x.Points[0].Samples[0].GitHash; hash != "0123456789" {
		t.Errorf("the point's git hash is %q, want the one that the log added", hash)
	}
	oneSeries(t, s, bench.SeriesFilter{Steps: []string{"fillseq"}, Metric: "p99_9"})

	// A third file knows nothing new: a source more, nothing else.
	before := counts(t, pool)
	third := mustWrite(t, s, upload("again.txt", "again"), batch("again.txt", c2("8.8.0", row("again.txt", 2, "fillseq", day1, "1671040"))))
	if third.AlreadyThere != 1 || third.Merged != 0 || third.Values != 0 {
		t.Errorf("receipt %+v, want nothing merged", third)
	}
	want := counts(t, pool)
	for table, n := range before {
		if table == "upload" || table == "upload_file" || table == "result_source" {
			n++
		}
		if want[table] != n {
			t.Errorf("%d rows in %s, want %d", want[table], table, n)
		}
	}
}

func TestDifferingFiguresAreWarnedAboutAndTheStoredOnesKept(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	first := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", with(row("a", 1, "fillseq", day1, "1000"), "p99", 10, 1, "p99"))))
	second := mustWrite(t, s, upload("b", "b"), batch("b", c2("8.8.0", with(row("b", 1, "fillseq", day1, "1000"), "p99", 13, 1, "P99"))))
	if second.Merged != 0 || len(second.Warnings) != 1 || second.Warnings[0].Column != "p99" {
		t.Errorf("receipt %+v, want one warning about p99", second)
	}
	d, err := s.Run(t.Context(), first.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := d.Results[0].Value("p99"); v != 10 {
		t.Errorf("p99 is %v, want the stored 10", v)
	}
	if len(d.Results[0].Warnings) != 1 || d.Results[0].Warnings[0].File != "b" {
		t.Errorf("warnings %v, want that of b to stay with the result", d.Results[0].Warnings)
	}
}

func TestOtherContextIsRefusedNamingBothPlaces(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	first := mustWrite(t, s, upload("sum.byrx.txt", "one"), batch("sum.byrx.txt", c2("8.8.0", row("sum.byrx.txt", 12, "fillseq", day1, "1671040"))))
	before := counts(t, pool)

	other := c2("8.8.0", row("sum.iobuf.txt", 3, "fillseq", day1, "1671040"), row("sum.iobuf.txt", 4, "readrandom", day2, "5"))
	other.Workload = "iobuf"
	_, err := s.Write(t.Context(), upload("sum.iobuf.txt", "two"), batch("sum.iobuf.txt", other), nil)
	var e *bench.Error
	if !errors.As(err, &e) || e.Kind != bench.KindConflict {
		t.Fatalf("error %v, want a conflict", err)
	}
	if len(e.Places) != 1 || e.Places[0].File != "sum.iobuf.txt" || e.Places[0].Line != 3 {
		t.Fatalf("places %v, want line 3 of the new file", e.Places)
	}
	stored := fmt.Sprintf("sum.byrx.txt:12 of upload %d", first.UploadID)
	for _, want := range []string{stored, `workload "iobuf" here, "cached" there`} {
		if !strings.Contains(e.Places[0].Text, want) {
			t.Errorf("the message %q does not say %q", e.Places[0].Text, want)
		}
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error("the refused file left something", diff)
	}
}

func TestARefusedFileOfAnArchiveLeavesNothingButItsReasons(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("one", "one"), batch("one", c2("8.8.0", row("one", 1, "fillseq", day1, "100"))))

	bad := c2("8.8.0", row("bad", 1, "fillseq", day1, "100"), row("bad", 2, "readrandom", day1, "200"))
	bad.Workload = "iodir"
	good := c2("8.7.3", row("good", 1, "fillseq", day2, "300"))
	b := batch("bad", bad, good)
	b.Files = append(b.Files, taken("good"), bench.File{Path: "README", SHA256: sum("r"), State: bench.FileAttachment},
		bench.File{Path: "odd", SHA256: sum("o"), State: bench.FileRefused, Messages: []bench.Message{{File: "odd", Line: 4, Text: "27 fields, want 28"}}})
	receipt := mustWrite(t, s, upload("archive.tar.gz", "archive"), b)
	if receipt.Results != 1 || len(receipt.Runs) != 1 || len(receipt.Refused) != 2 {
		t.Errorf("receipt %+v, want the good file's result and two reasons", receipt)
	}
	states := map[string]bench.FileState{}
	for _, f := range receipt.Files {
		states[f.Path] = f.State
	}
	if diff := cmp.Diff(map[string]bench.FileState{"bad": bench.FileRefused, "good": bench.FileTaken, "README": bench.FileAttachment, "odd": bench.FileRefused}, states); diff != "" {
		t.Error("files (-want +got)", diff)
	}
	d, err := s.Upload(t.Context(), receipt.UploadID)
	if err != nil {
		t.Fatal(err)
	}
	if d.Taken != 1 || d.Refused != 2 || d.Attachments != 1 || d.Results != 1 {
		t.Errorf("upload %+v", d.UploadInfo)
	}
	if diff := cmp.Diff(receipt.Files, d.Files, cmpopts.EquateEmpty()); diff != "" {
		t.Error("stored files (-receipt +stored)", diff)
	}
	if all, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps", Steps: []string{"readrandom"}}); err != nil || len(all) != 0 {
		t.Errorf("series %v, %v: the second row of the refused file is there", all, err)
	}
}

func TestWhenEveryFileIsRefusedTheErrorHasTheirReasons(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	b := &bench.Batch{Files: []bench.File{
		{Path: "a", SHA256: sum("a"), State: bench.FileRefused, Messages: []bench.Message{{File: "a", Line: 2, Text: "broken"}}},
		{Path: "b", SHA256: sum("b"), State: bench.FileRefused},
		{Path: "notes", SHA256: sum("n"), State: bench.FileAttachment},
	}}
	_, err := s.Write(t.Context(), upload("x.zip", "x"), b, nil)
	var e *bench.Error
	if !errors.As(err, &e) || e.Kind != bench.KindInvalid || len(e.Places) != 2 {
		t.Fatalf("error %v, want an invalid input with two places", err)
	}
	for table, n := range counts(t, pool) {
		if n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

func TestUndatedRowsAreKnownByTheirContextAndText(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := row("a", 1, "readrandom", "", "500")
	mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", r)))
	again := mustWrite(t, s, upload("b", "b"), batch("b", c2("8.8.0", row("b", 9, "readrandom", "", "500"))))
	if again.AlreadyThere != 1 || again.Results != 0 {
		t.Errorf("receipt %+v, want the same text to be there already", again)
	}
	other := mustWrite(t, s, upload("c", "c"), batch("c", c2("8.8.0", row("c", 1, "readrandom", "", "501"))))
	clang := c2("8.8.0", row("d", 1, "readrandom", "", "500"))
	clang.Build.Compiler = "clang"
	elsewhere := mustWrite(t, s, upload("d", "d"), batch("d", clang))
	if other.Results != 1 || elsewhere.Results != 1 {
		t.Errorf("receipts %+v, %+v: another text or compiler is another measurement", other, elsewhere)
	}
	x := oneSeries(t, s, bench.SeriesFilter{Compilers: []string{"gcc"}})
	if diff := cmp.Diff(map[string][]float64{"8.8.0": {500, 501}}, samples(x)); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatsWithEqualFiguresAreSeveralSamples(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	// db_bench --benchmarks=readrandom[X3]: one date, three op-lines, two equal.
	three := func(file string) bench.Run {
		return c2("7.8.3", row(file, 10, "readrandom", day1, "71489"), row(file, 11, "readrandom", day1, "71489"), row(file, 12, "readrandom", day1, "120124"))
	}
	if r := mustWrite(t, s, upload("a.log", "a"), batch("a.log", three("a.log"))); r.Results != 3 {
		t.Errorf("%d results, want 3", r.Results)
	}
	if r := mustWrite(t, s, upload("b.log", "b"), batch("b.log", three("b.log"))); r.Results != 0 || r.AlreadyThere != 3 {
		t.Errorf("receipt %+v, want all three to be there already", r)
	}
	x := oneSeries(t, s, bench.SeriesFilter{})
	if diff := cmp.Diff(map[string][]float64{"7.8.3": {71489, 71489, 120124}}, samples(x)); diff != "" {
		t.Error(diff)
	}
}

// mixed is a file like sum2.byrx.clang.txt, whose rows do not name their builds.
func mixed(file string) *bench.Batch {
	unnamed := func(version, date, qps string, line int) bench.Run {
		r := row(file, line, "fillseq", date, qps)
		r.ContextFromStore = true
		run := c2(version, r)
		run.Build.Compiler = ""
		return run
	}
	return batch(file, unnamed("6.29.5", day1, "1371997", 2), unnamed("6.29.5", day2, "1403964", 3))
}

func buildsOfMixed() *bench.Batch {
	clang := c2("6.29.5", row("clang", 2, "fillseq", day2, "1403964"))
	clang.Build.Compiler = "clang"
	b := batch("gcc", c2("6.29.5", row("gcc", 2, "fillseq", day1, "1371997")), clang)
	b.Files = append(b.Files, taken("clang"))
	return b
}

func TestRowsOfUnnamedBuildsAreRefusedBeforeTheirSource(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	_, err := s.Write(t.Context(), upload("sum2", "sum2"), mixed("sum2"), nil)
	if bench.KindOf(err) != bench.KindConflict {
		t.Fatalf("error %v, want a conflict", err)
	}
	mustWrite(t, s, upload("builds.zip", "builds"), buildsOfMixed())
	// The same bytes are taken now.
	r := mustWrite(t, s, upload("sum2", "sum2"), mixed("sum2"))
	if r.Results != 0 || r.AlreadyThere != 2 || len(r.Runs) != 2 {
		t.Errorf("receipt %+v, want both rows with their builds", r)
	}
	for compiler, want := range map[string]float64{"gcc": 1371997, "clang": 1403964} {
		x := oneSeries(t, s, bench.SeriesFilter{Compilers: []string{compiler}})
		if diff := cmp.Diff(map[string][]float64{"6.29.5": {want}}, samples(x)); diff != "" {
			t.Error(compiler, diff)
		}
	}
}

func TestRefusedFilesOfAnArchiveAreTriedAgain(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	// The archive has a file of its own and one that leans on builds to come.
	archive := func() *bench.Batch {
		b := mixed("sum2")
		b.Runs = append(b.Runs, c2("9.0.0", row("own", 1, "fillseq", day3, "5")))
		b.Files = append(b.Files, taken("own"))
		return b
	}
	first := mustWrite(t, s, upload("all.zip", "all"), archive())
	if first.Results != 1 || len(first.Refused) != 2 {
		t.Fatalf("receipt %+v, want one result and two refused rows", first)
	}
	before := counts(t, pool)
	if again := mustWrite(t, s, upload("all.zip", "all"), archive()); !again.Duplicate || len(again.Refused) != 2 {
		t.Errorf("receipt %+v, want a duplicate that is refused as before", again)
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error("something was written", diff)
	}
	mustWrite(t, s, upload("builds.zip", "builds"), buildsOfMixed())
	second := mustWrite(t, s, upload("all.zip", "all"), archive())
	if second.Duplicate || second.UploadID != first.UploadID || second.Results != 0 || second.AlreadyThere != 2 || len(second.Refused) != 0 || len(second.Files) != 2 {
		t.Errorf("receipt %+v, want the two rows to be recognised", second)
	}
	d, err := s.Upload(t.Context(), first.UploadID)
	if err != nil || d.Taken != 2 || d.Refused != 0 || d.Results != 3 {
		t.Errorf("upload %+v, %v: want both files taken, with three results", d.UploadInfo, err)
	}
	if third := mustWrite(t, s, upload("all.zip", "all"), archive()); !third.Duplicate || third.AlreadyThere != 3 {
		t.Errorf("receipt %+v, want a duplicate", third)
	}
}

func TestRowsOfUnnamedBuildsFindTheirSourceInTheSameUpload(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	b, builds := mixed("sum2"), buildsOfMixed()
	b.Runs = append(b.Runs, builds.Runs...)
	b.Files = append(b.Files, builds.Files...)
	r := mustWrite(t, s, upload("all.zip", "all"), b)
	if r.Results != 2 || r.AlreadyThere != 2 || len(r.Runs) != 2 {
		t.Errorf("receipt %+v, want two results, found twice", r)
	}
	d, err := s.Run(t.Context(), r.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Results[0].From) != 2 {
		t.Errorf("sources %v, want both files", d.Results[0].From)
	}
}

func TestTheSameBytes(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	u := upload("sum.txt", "sum")
	u.Context = bench.Context{Server: "c2", Compiler: "clang.lto"}
	b := batch("sum.txt", c2("8.8.0", row("sum.txt", 2, "fillseq", day1, "100")))
	first := mustWrite(t, s, u, b)
	before := counts(t, pool)

	t.Run("with the same context are a duplicate", func(t *testing.T) {
		v := u
		v.Filename = "copy of sum.txt"
		v.Context.Compiler = "clang+lto" // another spelling
		got := mustWrite(t, s, v, b)
		if !got.Duplicate || got.UploadID != first.UploadID || got.Results != 0 || got.AlreadyThere != 1 {
			t.Errorf("receipt %+v, want the first upload's", got)
		}
		if diff := cmp.Diff(first.Runs, got.Runs); diff != "" {
			t.Error("runs", diff)
		}
	})
	t.Run("with another context are a conflict", func(t *testing.T) {
		v := u
		v.Context.Server = "u5"
		_, err := s.Write(t.Context(), v, b, nil)
		if bench.KindOf(err) != bench.KindConflict || !strings.Contains(err.Error(), "server c2") || !strings.Contains(err.Error(), "server u5") {
			t.Errorf("error %v, want a conflict that names both", err)
		}
	})
	t.Run("with a name that makes another step of them are a conflict", func(t *testing.T) {
		v := u
		v.Filename = "benchmark_overwritesome.log"
		_, err := s.Write(t.Context(), v, batch(v.Filename, c2("8.8.0", row(v.Filename, 2, "overwritesome", day1, "100"))), nil)
		if bench.KindOf(err) != bench.KindConflict || !strings.Contains(err.Error(), "fillseq") || !strings.Contains(err.Error(), "overwritesome") {
			t.Errorf("error %v, want a conflict that names both", err)
		}
	})
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error("something was written", diff)
	}
	info, err := s.FindUpload(t.Context(), u.SHA256)
	if err != nil || info.ID != first.UploadID {
		t.Errorf("found upload %d, %v; want %d", info.ID, err, first.UploadID)
	}
	if _, err := s.FindUpload(t.Context(), sum("other")); bench.KindOf(err) != bench.KindNotFound {
		t.Errorf("error %v, want not found", err)
	}
}

func TestADryRunTellsAndStoresNothing(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	before := counts(t, pool)
	u := upload("b", "b")
	u.DryRun = true
	got := mustWrite(t, s, u, batch("b", c2("8.8.0", row("b", 1, "fillseq", day1, "100"), row("b", 2, "readrandom", day1, "7")),
		c2("8.7.3", row("b", 3, "fillseq", day2, "100"))))
	if got.UploadID != 0 || got.Results != 2 || got.AlreadyThere != 1 || len(got.Runs) != 1 {
		t.Errorf("receipt %+v, want two new results, one known, the known run alone and no upload", got)
	}
	if diff := cmp.Diff(before, counts(t, pool)); diff != "" {
		t.Error("something was stored", diff)
	}
	other := c2("8.8.0", row("c", 1, "fillseq", day1, "100"))
	other.Workload = "iobuf"
	u = upload("c", "c")
	u.DryRun = true
	if _, err := s.Write(t.Context(), u, batch("c", other), nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want the refusal that a write would get", err)
	}
}

func TestAnAssumedContextGivesWayToWhatIsStored(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	clang := c2("8.8.0", row("a", 1, "fillseq", day1, "100"))
	clang.Build.Compiler, clang.Config = "clang", "hcc"
	first := mustWrite(t, s, upload("a", "a"), batch("a", clang))
	assumed := c2("8.8.0", row("b", 1, "fillseq", day1, "100"), row("b", 2, "readrandom", day1, "200"))
	assumed.Assumed = []string{"compiler"}
	second := mustWrite(t, s, upload("b", "b"), batch("b", assumed))
	if second.Results != 1 || second.AlreadyThere != 1 {
		t.Errorf("receipt %+v, want the known row and the new one", second)
	}
	if diff := cmp.Diff(first.Runs, second.Runs); diff != "" {
		t.Error("runs", diff)
	}
	x := oneSeries(t, s, bench.SeriesFilter{Steps: []string{"readrandom"}})
	if x.Compiler != "clang" || x.Config != "hcc" {
		t.Errorf("the new row is at %s, want it where its run is", x.Coordinate)
	}
}

func TestAnotherStartIsAnotherSample(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("b", "b"), batch("b", c2("8.8.0", row("b", 1, "fillseq", day2, "100"))))
	r := mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))))
	if r.Results != 1 {
		t.Errorf("receipt %+v, want a result", r)
	}
	x := oneSeries(t, s, bench.SeriesFilter{})
	if len(x.Points) != 1 || len(x.Points[0].Samples) != 2 || x.Points[0].Samples[0].Started.Second() != day1 || x.Points[0].Samples[1].Started.Second() != day2 {
		t.Errorf("points %+v, want two samples in order of their start", x.Points)
	}
}

func TestPointsAreInVersionOrder(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	var runs []bench.Run
	for i, v := range []string{"8.10.0", "main", "8.9.1", "v8.9.1", "8.10-rc1", "", "4.4.1"} {
		runs = append(runs, c2(v, row("a", i+1, "fillseq", fmt.Sprintf("2023-11-09T0%d:00:00", i), "100")))
	}
	mustWrite(t, s, upload("a", "a"), batch("a", runs...))
	x := oneSeries(t, s, bench.SeriesFilter{})
	if diff := cmp.Diff([]string{"4.4.1", "8.9.1", "8.10-rc1", "8.10.0", "main", ""}, versions(x)); diff != "" {
		t.Error(diff)
	}
	if n := len(x.Points[1].Samples); n != 2 {
		t.Errorf("%d samples at 8.9.1, want those of both spellings", n)
	}
}

func TestClientsFollowFromTheStepsUntilTheyAreStated(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	at := func(clients int, step string) {
		t.Helper()
		x := oneSeries(t, s, bench.SeriesFilter{Steps: []string{step}})
		if x.Clients != clients {
			t.Errorf("%s is of %d clients, want %d", step, x.Clients, clients)
		}
	}
	mustWrite(t, s, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq.t1", day1, "100"))))
	at(1, "fillseq")
	r := mustWrite(t, s, upload("b", "b"), batch("b", c2("8.8.0", row("b", 1, "fillseq.t1", day1, "100"), row("b", 2, "readwhilewriting.t36", day1, "200"))))
	at(36, "fillseq")
	at(36, "readwhilewriting")
	stated := c2("8.8.0", row("c", 1, "fillseq.t1", day1, "100"))
	stated.Clients = 40
	mustWrite(t, s, upload("c", "c"), batch("c", stated))
	at(40, "fillseq")
	at(40, "readwhilewriting")
	other := c2("8.8.0", row("d", 1, "fillseq.t1", day1, "100"))
	other.Clients = 20
	if got := mustWrite(t, s, upload("d", "d"), batch("d", other)); len(got.Warnings) != 1 {
		t.Errorf("warnings %v, want one about the clients", got.Warnings)
	}
	at(40, "fillseq")
	if d, err := s.Run(t.Context(), r.Runs[0].ID); err != nil || d.Clients != 40 {
		t.Errorf("the run has %d clients, %v; want 40", d.Clients, err)
	}
}

func TestARunOfOurRunnerGrowsUnderItsID(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	const id = "8d3c8b1e-1111-4222-8333-444455556666"
	step := func(file, name, date, qps string) *bench.Batch {
		run := c2("7.8.3", row(file, 1, name, date, qps))
		run.ID = id
		return batch(file, run)
	}
	first := mustWrite(t, s, upload("a", "a"), step("a", "readrandom", day2, "10"))
	second := mustWrite(t, s, upload("b", "b"), step("b", "fillseq", day1, "20"))
	if diff := cmp.Diff(first.Runs, second.Runs); diff != "" {
		t.Error("runs", diff)
	}
	if d, err := s.Run(t.Context(), first.Runs[0].ID); err != nil || d.Key != id || d.Started.Second() != day1 || d.OK != 2 {
		t.Errorf("run %+v, %v: want the id, the earlier start and two results", d.RunSummary, err)
	}
	wrong := step("c", "fwdrange", day2, "30")
	wrong.Runs[0].Build.Version = "7.8.4"
	if _, err := s.Write(t.Context(), upload("c", "c"), wrong, nil); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want a conflict for another version under the id", err)
	}
}

func TestParallelUploadsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				// Every file has a row of its own and one that all of them have.
				file := fmt.Sprintf("f%d.%d", w, i)
				run := c2("8.8.0", row(file, 1, "fillseq", fmt.Sprintf("2023-11-09T%02d:%02d:00", w, i), "100"))
				common := c2("8.7.3", row(file, 2, "fillseq", day1, "777"))
				if _, err := s.Write(t.Context(), upload(file, file), batch(file, run, common), nil); err != nil {
					t.Error(err)
				}
				// And one file is uploaded by all.
				if _, err := s.Write(t.Context(), upload("same", "same"), batch("same", c2("4.4.1", row("same", 1, "fillseq", day3, "5"))), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	x := oneSeries(t, s, bench.SeriesFilter{})
	got := samples(x)
	if len(got["8.8.0"]) != writers*each || len(got["8.7.3"]) != 1 || len(got["4.4.1"]) != 1 {
		t.Errorf("%d, %d and %d samples, want %d, 1 and 1", len(got["8.8.0"]), len(got["8.7.3"]), len(got["4.4.1"]), writers*each)
	}
	if n := counts(t, pool); n["upload"] != writers*each+1 || n["result"] != writers*each+2 {
		t.Errorf("%d uploads and %d results, want %d and %d", n["upload"], n["result"], writers*each+1, writers*each+2)
	}
}

func TestParallelUploadsToManyServersDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			// Each speaks of two servers and of words that are new to all.
			var runs []bench.Run
			for i := range 10 {
				file := fmt.Sprintf("g%d", w)
				run := c2(fmt.Sprintf("8.%d.%d", (w+i)%10, i), with(row(file, i, "fillseq", fmt.Sprintf("2023-11-%02dT%02d:00:00", w+1, i), "100"), "p99", 1, 1, "p99"))
				run.Server = fmt.Sprintf("s%d", (w+i)%5)
				runs = append(runs, run)
			}
			if _, err := s.Write(t.Context(), upload(fmt.Sprintf("g%d", w), fmt.Sprintf("g%d", w)), batch(fmt.Sprintf("g%d", w), runs...), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "qps"})
	if err != nil || len(all) != 5 {
		t.Fatalf("%d series, %v; want one for each of 5 servers", len(all), err)
	}
	n := 0
	for _, x := range all {
		for _, p := range x.Points {
			n += len(p.Samples)
		}
	}
	if n != 80 {
		t.Errorf("%d samples, want 80", n)
	}
}
