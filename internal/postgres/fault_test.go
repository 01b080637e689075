package postgres_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/migrations"
)

func TestALostConnectionLeavesNothing(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	// The server ends our session when everything is written but the commit.
	kill := func(ctx context.Context, _ bench.Touched) ([]bench.Detection, error) {
		var n int
		return nil, pool.QueryRow(ctx, `
			SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'idle in transaction'`).Scan(&n)
	}
	u, b := upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100")))
	_, err := s.Write(t.Context(), u, b, kill)
	if bench.KindOf(err) != bench.KindUnavailable {
		t.Fatalf("error %v, want unavailable", err)
	}
	for table, n := range counts(t, pool) {
		if n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if r := mustWrite(t, s, u, b); r.Results != 1 || r.Duplicate {
		t.Errorf("receipt %+v: the second attempt should store everything", r)
	}
}

func TestAFailedDetectionUndoesTheWrite(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	broken := errors.New("broken")
	_, err := s.Write(t.Context(), upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))),
		func(context.Context, bench.Touched) ([]bench.Detection, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the detection", err)
	}
	if n := counts(t, pool)["upload"]; n != 0 {
		t.Errorf("%d uploads", n)
	}
}

func TestDetectionSeesTheTouchedSeriesThatDecide(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	mustWrite(t, s, upload("a", "a"), batch("a", c2("8.7.3", row("a", 1, "fillseq", day1, "100"), row("a", 2, "readrandom", day1, "1"))))
	var got bench.Touched
	detect := func(_ context.Context, touched bench.Touched) ([]bench.Detection, error) {
		got = touched
		return nil, nil
	}
	prepare := row("b", 2, "overwritesome", day2, "5")
	prepare.Role = bench.RolePrepare
	_, err := s.Write(t.Context(), upload("b", "b"), batch("b", c2("8.8.0", with(row("b", 1, "fillseq", day2, "90"), "p99", 5, 1, "p99"), prepare)), detect)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Series) != 1 || got.Series[0].Metric.Name != "qps" || got.Series[0].Step != "fillseq" {
		t.Fatalf("series %+v, want that of fillseq and qps alone", got.Series)
	}
	want := oneSeries(t, s, bench.SeriesFilter{Steps: []string{"fillseq"}})
	if diff := cmp.Diff(want, got.Series[0], cmp.Comparer(func(a, b bench.LocalTime) bool { return a == b })); diff != "" {
		t.Error("detection saw another series than readers do", diff)
	}
	for _, p := range want.Points {
		if got.Campaigns[p.Samples[0].RunID] != 1 {
			t.Errorf("campaigns %v, want 1 for run %d", got.Campaigns, p.Samples[0].RunID)
		}
	}
}

func TestATransactionThatHadToGiveWayIsBegunAgain(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	calls := 0
	detect := func(ctx context.Context, _ bench.Touched) ([]bench.Detection, error) {
		if calls++; calls > 2 {
			return nil, nil
		}
		// A real serialization failure, of a transaction of its own.
		_, err := pool.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'gave way' USING ERRCODE = 'serialization_failure'; END $$`)
		return nil, err
	}
	r, err := s.Write(t.Context(), upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))), detect)
	if err != nil || calls != 3 || r.Results != 1 || len(r.Warnings) != 0 {
		t.Errorf("%d calls, receipt %+v, %v: want a write at the third attempt, told once", calls, r, err)
	}
	if n := counts(t, pool); n["result"] != 1 || n["upload"] != 1 {
		t.Errorf("%v: written more than once", n)
	}
}

func TestACancelledWriteIsNotAnUnavailableDatabase(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Write(ctx, upload("a", "a"), batch("a", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))),
		func(context.Context, bench.Touched) ([]bench.Detection, error) { cancel(); return nil, ctx.Err() })
	if !errors.Is(err, context.Canceled) || bench.KindOf(err) != "" {
		t.Errorf("error %v of kind %q, want the cancellation", err, bench.KindOf(err))
	}
}

func TestTextThatIsNoTextIsKeptAsFarAsItIs(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	r := row("a\x00b", 1, "fillseq", day1, "100")
	r.Text, r.Command = "bad \xff\x00 text", "cmd\x00"
	r.Warnings = []bench.Message{{File: "a\x00b", Text: "\x00\xfe"}}
	run := c2("8.8.0", r)
	run.Environment = map[string]string{"cpu": "A\x00\xffMD"}
	run.Build.Flags = "-O2 \x00"
	b := batch("a\x00b", run)
	b.Warnings = []bench.Message{{Text: "\x00"}}
	receipt := mustWrite(t, s, upload("a\x00\xff", "a"), b)
	d, err := s.Run(t.Context(), receipt.Runs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if d.Results[0].Text != "bad \uFFFD\uFFFD text" || d.Environment["cpu"] != "A\uFFFD\uFFFDMD" {
		t.Errorf("text %q, environment %q", d.Results[0].Text, d.Environment)
	}
	// Names that decide identity are refused instead.
	_, err = s.Write(t.Context(), upload("b", "b"), batch("b", c2("8.8.0", row("b", 1, "fill\x00seq", day1, "1"))), nil)
	if bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("error %v, want invalid", err)
	}
	long := c2("8.8.0", row("c", 1, "fillseq", day1, "1"))
	long.Workload = strings.Repeat("workload ", 10000)
	for i := range 10000 { // random enough not to be compressed away
		long.Workload += sum(string(rune(i)))
	}
	if _, err = s.Write(t.Context(), upload("c", "c"), batch("c", long), nil); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("error %v, want invalid", err)
	}
}

func TestNamesThatNobodyKnowsAreErrors(t *testing.T) {
	t.Parallel()
	s, pool := setup(t)
	r := row("a", 1, "fillseq", day1, "100")
	r.Values[0].Metric = "speed"
	if _, err := s.Write(t.Context(), upload("a", "a"), batch("a", c2("8.8.0", r)), nil); err == nil || !strings.Contains(err.Error(), "speed") {
		t.Errorf("error %v, want one that names the metric", err)
	}
	if _, err := s.Write(t.Context(), upload("a", "a"), batch("other", c2("8.8.0", row("a", 1, "fillseq", day1, "100"))), nil); err == nil {
		t.Error("a result of a file that is not in the batch was stored")
	}
	if _, err := s.Series(t.Context(), bench.SeriesFilter{Metric: "speed"}); bench.KindOf(err) != bench.KindInvalid {
		t.Errorf("error %v, want invalid", err)
	}
	if n := counts(t, pool)["upload"]; n != 0 {
		t.Errorf("%d uploads", n)
	}
}

func TestOpenTellsWhatIsWrongAndNotThePassword(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		url  string
		kind bench.Kind
	}{
		"a broken URL":         {"postgres://me:geheim@host:port/db", bench.KindInvalid},
		"broken words":         {"host=x password=geheim port=abc", bench.KindInvalid},
		"odd characters":       {"postgres://me:geheim%zz@host/db", bench.KindInvalid},
		"no database there":    {"postgres://me:geheim@" + address + "/db", bench.KindUnavailable},
		"words, nothing there": {"user=me password=geheim host=127.0.0.1 port=" + address[strings.LastIndex(address, ":")+1:], bench.KindUnavailable},
	} {
		s, err := postgres.Open(t.Context(), test.url, postgres.Options{})
		if err == nil {
			s.Close()
			t.Errorf("%s: opened", name)
			continue
		}
		if bench.KindOf(err) != test.kind {
			t.Errorf("%s: error %v of kind %q, want %q", name, err, bench.KindOf(err), test.kind)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "geheim") {
				t.Errorf("%s: the error tells the password: %v", name, e)
			}
		}
	}
}

func TestOpenPingClose(t *testing.T) {
	t.Parallel()
	s, err := postgres.Open(t.Context(), pgtest.NewURL(t), postgres.Options{MaxConns: 3, ApplicationName: "relqps test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if v, err := s.SchemaVersion(t.Context()); err != nil || v != migrations.Latest() {
		t.Errorf("schema %d, %v; want %d", v, err, migrations.Latest())
	}
	s.Close()
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
}

func TestAnEmptyDatabaseIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	s, err := postgres.Open(t.Context(), pgtest.EmptyURL(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if v, err := s.SchemaVersion(t.Context()); err != nil || v != 0 {
		t.Errorf("schema %d, %v; want 0", v, err)
	}
	for range 2 {
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, err := s.SchemaVersion(t.Context()); err != nil || v != postgres.LatestSchema() {
			t.Errorf("schema %d, %v; want %d", v, err, postgres.LatestSchema())
		}
	}
}
