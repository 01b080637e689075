package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/api/client"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// remote is a real API over a database of its own.
type remote struct {
	store *postgres.Store
	url   string
	token string
}

func newRemote(t testing.TB, prefix string, maxBody int64) remote {
	t.Helper()
	store, err := postgres.New(pgtest.New(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := store.CreateToken(t.Context(), "host", bench.TokenRunner)
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	api.Register(r, api.Config{
		Store: store, Ingester: ingest.Ingester{Store: store}, Logger: slog.New(slog.DiscardHandler), Metrics: http.NotFoundHandler(), MaxBody: maxBody,
	})
	server := httptest.NewServer(http.StripPrefix(prefix, r))
	t.Cleanup(server.Close)
	return remote{store, server.URL + prefix, token}
}

func connect(t testing.TB, url, token string) *client.Client {
	t.Helper()
	c, err := client.New(url, token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const header = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n"

func line(qps, date string) string {
	return qps + "\t400.0\t16GB\t0GB\t15.9\t2.0\t714.0\t40\t38\t0\t0\t0.6\t0.5\t1\t4\t24\t67402\t1800\t0.1\t3\t0.1\t0.0\t16.9\treadrandom.t8\t" + date + "\t8.8.0\t\t\n"
}

var c2 = bench.Context{Server: "c2", Workload: "cached", Compiler: "gcc"}

func TestSubmitGivesWhatTheIngesterGives(t *testing.T) {
	t.Parallel()
	here, there := newRemote(t, "", 0), newRemote(t, "", 0)
	local := ingest.Ingester{Store: here.store}
	c := connect(t, there.url, there.token)
	same := cmp.Options{cmpopts.EquateEmpty()}
	// A warning, a check that fails, a duplicate, a merge, an archive: each as it is at home.
	for _, u := range []bench.Upload{
		{Filename: "report.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49") + strings.Replace(line("101", "2023-10-25T20:25:49"), "400.0", "n.a.", 1)), Context: c2, DryRun: true},
		{Filename: "report.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49") + strings.Replace(line("101", "2023-10-25T20:25:49"), "400.0", "n.a.", 1)), Context: c2},
		{Filename: "report.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49") + strings.Replace(line("101", "2023-10-25T20:25:49"), "400.0", "n.a.", 1)), Context: c2},
		{Filename: "again/report.tsv", Bytes: []byte(header + line("101", "2023-10-25T20:25:49")), Context: c2},
		{Filename: "rel.csv", Bytes: []byte("1.00,0.50,readrandom\n"), Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Compiler: "gcc", Versions: []string{"8.7.0", "8.8.0"}}},
	} {
		u.Actor = "host"
		want, wantErr := local.Submit(t.Context(), u)
		got, err := c.Submit(t.Context(), u)
		if (err == nil) != (wantErr == nil) || bench.KindOf(err) != bench.KindOf(wantErr) {
			t.Errorf("%s: error %v, at home %v", u.Filename, err, wantErr)
			continue
		}
		if d := cmp.Diff(want, got, same); d != "" {
			t.Errorf("%s (-home +remote):\n%s", u.Filename, d)
		}
	}
}

func TestSubmitCarriesTheWholeContext(t *testing.T) {
	t.Parallel()
	var got bench.Upload
	r := chi.NewRouter()
	api.Register(r, api.Config{
		Store: anybody{}, Ingester: submitter(func(_ context.Context, u bench.Upload) (bench.Receipt, error) { got = u; return bench.Receipt{}, nil }),
		Logger: slog.New(slog.DiscardHandler), Metrics: http.NotFoundHandler(),
	})
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	want := bench.Upload{
		Filename: "a b/ü&=?#%.tsv", Bytes: []byte("\x00\xff bytes"), DryRun: true, Actor: "anybody",
		SHA256: "8a3aa66bd39c8a51a6fb4f2ebd7a6d0f0a6df95b7a42fc6fa7c4bd3c8a5d6f0e",
		Context: bench.Context{System: "rocksdb", Suite: "db_bench", Server: "s & t", Workload: "iodir_lz4", Version: "8.8.0", Compiler: "clang+lto",
			Config: "a=b", Clients: 40, Versions: []string{"8.7.0", "8.8.0"}},
	}
	if _, err := connect(t, server.URL, "any").Submit(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(bench.Upload{}, "SHA256")); d != "" {
		t.Errorf("(-sent +received):\n%s", d)
	}
}

// anybody is a store that knows every token, for tests of what travels.
type anybody struct{ api.Store }

func (anybody) Authenticate(context.Context, string) (bench.Token, error) {
	return bench.Token{Name: "anybody", Role: bench.TokenRunner}, nil
}

type submitter func(context.Context, bench.Upload) (bench.Receipt, error)

func (f submitter) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	return f(ctx, u)
}

func TestRefusalsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "", 0)
	c := connect(t, r.url, r.token)
	submit := func(u bench.Upload) *bench.Error {
		_, err := c.Submit(t.Context(), u)
		var e *bench.Error
		if !errors.As(err, &e) {
			t.Fatalf("%v is no error of ours", err)
		}
		return e
	}
	bad := header + line("100", "2023-10-24T20:25:49") + strings.Replace(line("101", "2023-10-25T20:25:49"), "400.0\t", "", 1)
	e := submit(bench.Upload{Filename: "x/sum.txt", Bytes: []byte(bad), Context: c2})
	if e.Kind != bench.KindInvalid || len(e.Places) != 1 || e.Places[0].File != "x/sum.txt" || e.Places[0].Line != 3 || e.Places[0].Text == "" {
		t.Errorf("%+v", e)
	}
	if _, err := c.Submit(t.Context(), bench.Upload{Filename: "a.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49")), Context: c2}); err != nil {
		t.Fatal(err)
	}
	other := c2
	other.Workload = "iodir"
	e = submit(bench.Upload{Filename: "a.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49")), Context: other})
	if e.Kind != bench.KindConflict || !strings.Contains(e.Message, "cached") {
		t.Errorf("%+v", e)
	}
}

func TestRefusalsByKind(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "", 1000)
	small := bench.Upload{Filename: "a", Bytes: []byte("x"), Context: c2}
	reader, _, err := r.store.CreateToken(t.Context(), "looks only", bench.TokenReader)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, token string
		u           bench.Upload
		kind        bench.Kind
	}{
		{"no token", "", small, bench.KindUnauthorized},
		{"an unknown token", "rq_x", small, bench.KindUnauthorized},
		{"a reader's token", reader, small, bench.KindForbidden},
		{"too large", r.token, bench.Upload{Filename: "a", Bytes: make([]byte, 1001), Context: c2}, bench.KindTooLarge},
		{"no results", r.token, small, bench.KindInvalid},
		{"no name", r.token, bench.Upload{Bytes: []byte("x")}, bench.KindInvalid},
		{"a name that is not text", r.token, bench.Upload{Filename: "a\xff", Bytes: []byte("x")}, bench.KindInvalid},
		// Large enough that the server answers while it is still being sent.
		{"too large by far", r.token, bench.Upload{Filename: "a", Bytes: make([]byte, 50<<20), Context: c2}, bench.KindTooLarge},
		{"large, with an unknown token", "rq_x", bench.Upload{Filename: "a", Bytes: make([]byte, 50<<20), Context: c2}, bench.KindUnauthorized},
	} {
		_, err := connect(t, r.url, c.token).Submit(t.Context(), c.u)
		if bench.KindOf(err) != c.kind {
			t.Errorf("%s: %v, want kind %s", c.name, err, c.kind)
		}
	}
}

func TestServerBehindAPath(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "/bench/relqps", 0)
	for _, address := range []string{r.url, r.url + "/"} {
		u := bench.Upload{Filename: "a.tsv", Bytes: []byte(header + line("100", "2023-10-24T20:25:49")), Context: c2}
		if _, err := connect(t, address, r.token).Submit(t.Context(), u); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestServerThatIsAway(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + nobody.Addr().String()
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = connect(t, address, "t").Submit(t.Context(), bench.Upload{Filename: "a", Bytes: []byte("x")})
	if bench.KindOf(err) != bench.KindUnavailable {
		t.Errorf("nobody there: %v", err)
	}

	var status atomic.Int64
	var body atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if status.Load() == 0 {
			// Half an answer.
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"upload":`)
			return
		}
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, body.Load())
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		name   string
		status int64
		body   string
		kind   bench.Kind
		says   string
	}{
		{"half an answer", 0, "", bench.KindUnavailable, "broke off"},
		{"a proxy without a server", 502, "<html>Bad Gateway</html>", bench.KindUnavailable, "502 Bad Gateway"},
		{"overloaded", 503, `{"title":"Service Unavailable","status":503,"detail":"the database cannot be reached"}`, bench.KindUnavailable, "the database cannot be reached"},
		{"too many", 429, "", bench.KindUnavailable, "429"},
		{"an internal error", 500, `{"title":"Internal Server Error"}`, bench.KindUnavailable, "Internal Server Error"},
		{"another program", 200, "<html>hello</html>", bench.KindInvalid, "not as a relqps server"},
		{"another program's refusal", 404, "404 page not found", bench.KindNotFound, "404 Not Found"},
		{"a problem without detail", 400, `{"title":"Bad Request"}`, bench.KindInvalid, "Bad Request"},
		{"null", 400, `null`, bench.KindInvalid, "400 Bad Request"},
	} {
		status.Store(c.status)
		body.Store(c.body)
		_, err := connect(t, server.URL, "t").Submit(t.Context(), bench.Upload{Filename: "a", Bytes: []byte("x")})
		var e *bench.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v, want kind %s and %q", c.name, err, c.kind, c.says)
		}
	}
}

func TestPlacesAreTakenApart(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"detail":"refused","errors":[{"location":"a:b.txt:17","message":"m1"},{"location":"C:","message":"m2"},{"location":"","message":"m3"},{"location":"query.server","message":"m4"},{"location":"x:-3","message":"m5"}]}`)
	}))
	t.Cleanup(server.Close)
	_, err := connect(t, server.URL, "t").Submit(t.Context(), bench.Upload{Filename: "a", Bytes: []byte("x")})
	var e *bench.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := []bench.Message{{File: "a:b.txt", Line: 17, Text: "m1"}, {File: "C:", Text: "m2"}, {Text: "m3"}, {File: "query.server", Text: "m4"}, {File: "x:-3", Text: "m5"}}
	if d := cmp.Diff(want, e.Places); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := connect(t, server.URL, "t").Submit(ctx, bench.Upload{Filename: "a", Bytes: []byte("x")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestAddressesOfServers(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "relqps:8080", "//relqps", "ftp://relqps", "http://", "http://re lqps", "http://relqps\x00", "postgres://relqps/db"} {
		if _, err := client.New(address, ""); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"http://relqps", "https://relqps:8443/x/", "http://[::1]:8080"} {
		if _, err := client.New(address, ""); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// A token must not travel where an answer sends the client to.
func TestTokenStaysWithItsServer(t *testing.T) {
	t.Parallel()
	var seen atomic.Value
	seen.Store("")
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen.Store(r.Header.Get("Authorization")) }))
	t.Cleanup(elsewhere.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)+r.URL.String(), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	if _, err := connect(t, server.URL, "secret").Submit(t.Context(), bench.Upload{Filename: "a", Bytes: []byte("x")}); err == nil {
		t.Error("an upload that went elsewhere is taken for stored")
	}
	if seen.Load() != "" {
		t.Errorf("the token went elsewhere: %q", seen.Load())
	}
}
