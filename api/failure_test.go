package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/postgres"
)

// internals are words that no client may read.
var internals = regexp.MustCompile(`(?i)select|insert|copy |sqlstate|pgx|postgres:|pgconn|\.go:|goroutine|127\.0\.0\.1|/tmp|/run/|secret`)

// wantQuiet makes sure that an answer names nothing internal.
func (a *answer) wantQuiet() {
	a.t.Helper()
	if m := internals.Find(a.body); m != nil {
		a.t.Errorf("%q reached the client: %s", m, a.body)
	}
	for name, values := range a.header {
		if m := internals.FindString(strings.Join(values, " ")); m != "" {
			a.t.Errorf("%q reached the client in %s: %v", m, name, values)
		}
	}
}

// killWaiting ends the connection that waits for a lock, once there is one.
func (s *service) killWaiting() {
	s.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		var killed int
		err := s.pool.QueryRow(context.Background(), `
			SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&killed)
		if err != nil {
			s.t.Fatal(err)
		}
		if killed > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Fatal("no request came to wait for the lock")
}

// holdTable keeps everybody else from a table until release is called.
func (s *service) holdTable(table string) (release func()) {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(context.Background(), s.pool.Config().ConnConfig)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := conn.Exec(context.Background(), "BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if err := conn.Close(context.Background()); err != nil {
			s.t.Error(err)
		}
	}
}

func TestDatabaseConnectionDiesInARequest(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	r := s.stored(on("c2", "cached", "gcc"), text)
	admin, runner := s.token(bench.TokenAdmin), s.token(bench.TokenRunner)
	run := fmt.Sprintf("/api/v1/runs/%d", r.Runs[0].ID)
	for _, c := range []struct{ name, table, method, address, token, body string }{
		{"series", "coordinate", http.MethodGet, "/api/v1/series", "", ""},
		{"series as CSV", "coordinate", http.MethodGet, "/api/v1/series?format=csv", "", ""},
		{"runs", "run", http.MethodGet, "/api/v1/runs", "", ""},
		{"run", "run", http.MethodGet, run, "", ""},
		{"file", "upload", http.MethodGet, fmt.Sprintf("/api/v1/uploads/%d/file", r.Upload.ID), "", ""},
		{"token", "token", http.MethodPatch, run, admin, `{"server":"u5","reason":"x"}`},
		{"correction", "run", http.MethodPatch, run, admin, `{"server":"u5","reason":"x"}`},
		{"withdrawal", "upload", http.MethodPost, fmt.Sprintf("/api/v1/uploads/%d/withdraw", r.Upload.ID), admin, `{"reason":"x"}`},
		{"upload", "result", http.MethodPost, "/api/v1/uploads?" + on("u5", "cached", "gcc").Encode(), runner, text + "\n"},
	} {
		release := s.holdTable(c.table)
		answers := make(chan *answer, 1)
		go func() { answers <- s.do(c.method, c.address, c.token, []byte(c.body)) }()
		s.killWaiting()
		release()
		a := <-answers
		if a.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d, want 503: %s", c.name, a.status, a.body)
			continue
		}
		a.problem(http.StatusServiceUnavailable)
		a.wantQuiet()
	}
	// The cause is in the log, with the request's id.
	if log := s.log.String(); !strings.Contains(log, "terminating connection") || !strings.Contains(log, "request=") {
		t.Errorf("log: %s", log)
	}
	// Nothing of what was begun is left, and the next requests are served.
	if n := s.count("upload") + s.count("result"); n != 2 {
		t.Errorf("%d rows, want the upload and its result", n)
	}
	var h history
	s.get(run).want(http.StatusOK).decode(&h)
	if h.Server != "c2" || len(h.History) != 0 {
		t.Errorf("run %+v", h)
	}
	s.stored(on("u5", "cached", "gcc"), text+"\n")
}

// wire is a way to the database that can be cut.
type wire struct {
	t       testing.TB
	network string
	target  string
	address string // of ours
	mu      sync.Mutex
	open    map[net.Conn]bool
	listen  net.Listener
}

// newWire lays a wire to the database of a pool and gives a configuration that uses it.
func newWire(t testing.TB, pool *pgxpool.Pool) (*wire, *pgxpool.Config) {
	t.Helper()
	config := pool.Config().Copy()
	network, target := pgconn.NetworkAddress(config.ConnConfig.Host, config.ConnConfig.Port)
	l := &wire{t: t, network: network, target: target, open: map[net.Conn]bool{}, address: "127.0.0.1:0"}
	l.lay()
	host, port, err := net.SplitHostPort(l.address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Host, config.ConnConfig.Port, config.ConnConfig.Fallbacks = host, uint16(n), nil
	t.Cleanup(l.cut)
	return l, config
}

// lay opens the wire, after cut again at the same address.
func (l *wire) lay() {
	l.t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.listen, l.address = listener, listener.Addr().String()
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(l.network, l.target)
			if err != nil {
				near.Close()
				continue
			}
			l.mu.Lock()
			l.open[near], l.open[far] = true, true
			l.mu.Unlock()
			go func() { io.Copy(far, near); far.Close() }()
			go func() { io.Copy(near, far); near.Close() }()
		}
	}()
}

func (l *wire) cut() {
	l.listen.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.Close()
	}
	clear(l.open)
}

// A database that stays away is told by every address that needs it, as
// something that may pass; and when it is back, so is the API.
func TestDatabaseIsAwayAndComesBack(t *testing.T) {
	t.Parallel()
	s := newService(t)
	runner, admin := s.token(bench.TokenRunner), s.token(bench.TokenAdmin)
	l, config := newWire(t, s.pool)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	store, err := postgres.New(pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	api.Register(r, api.Config{
		Store: store, Ingester: ingest.Ingester{Store: store}, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Metrics: http.NotFoundHandler(),
	})
	server := httptest.NewServer(middleware.RequestID(r))
	t.Cleanup(server.Close)
	s.url = server.URL

	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	s.stored(on("c2", "cached", "gcc"), text)
	l.cut()
	for _, c := range []struct{ method, address, token, body string }{
		{http.MethodGet, "/api/v1/series", "", ""}, {http.MethodGet, "/api/v1/runs", "", ""}, {http.MethodGet, "/api/v1/runs/1", "", ""},
		{http.MethodGet, "/api/v1/uploads/1/file", "", ""}, {http.MethodPost, "/api/v1/uploads?" + on("u5", "cached", "gcc").Encode(), runner, text + "\n"},
		{http.MethodPatch, "/api/v1/runs/1", admin, `{"server":"u5","reason":"x"}`}, {http.MethodPost, "/api/v1/uploads/1/withdraw", admin, `{"reason":"x"}`},
	} {
		a := s.do(c.method, c.address, c.token, []byte(c.body))
		if a.status != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d: %s", c.method, c.address, a.status, a.body)
			continue
		}
		a.problem(http.StatusServiceUnavailable)
		a.wantQuiet()
	}
	s.get("/readyz").want(http.StatusServiceUnavailable).wantQuiet()
	s.get("/healthz").want(http.StatusOK)
	l.lay()
	s.get("/readyz").want(http.StatusOK)
	s.stored(on("u5", "cached", "gcc"), text+"\n")
}

// failing is an ingester and a store that fail as they are told; what it is not
// told it leaves to the real store.
type failing struct {
	api.Store
	err   error
	panic any
}

func (f failing) Submit(ctx context.Context, _ bench.Upload) (bench.Receipt, error) {
	return bench.Receipt{}, f.fail(ctx)
}

func (f failing) Runs(ctx context.Context, _ bench.RunFilter) (bench.RunPage, error) {
	return bench.RunPage{}, f.fail(ctx)
}

func (f failing) fail(ctx context.Context) error {
	if f.panic != nil {
		panic(f.panic)
	}
	if f.err == nil { // wait until nobody does
		<-ctx.Done()
		return ctx.Err()
	}
	return f.err
}

func newFailing(t testing.TB, f failing) *service {
	return newService(t, func(c *api.Config) {
		f.Store = c.Store
		c.Store, c.Ingester = f, f
	})
}

func TestErrorsOfEveryKind(t *testing.T) {
	t.Parallel()
	hidden := errors.New("SELECT secret FROM /tmp/x")
	for _, c := range []struct {
		name   string
		err    error
		status int
		detail string
		logged bool
	}{
		{"invalid", &bench.Error{Kind: bench.KindInvalid, Message: "no", Err: hidden}, http.StatusBadRequest, "no", false},
		{"not found", bench.Errorf(bench.KindNotFound, "gone"), http.StatusNotFound, "gone", false},
		{"conflict", bench.Errorf(bench.KindConflict, "other"), http.StatusConflict, "other", false},
		{"unauthorized", bench.Errorf(bench.KindUnauthorized, "who"), http.StatusUnauthorized, "who", false},
		{"forbidden", bench.Errorf(bench.KindForbidden, "not you"), http.StatusForbidden, "not you", false},
		{"too large", bench.Errorf(bench.KindTooLarge, "big"), http.StatusRequestEntityTooLarge, "big", false},
		{"unavailable", &bench.Error{Kind: bench.KindUnavailable, Message: "away", Err: hidden}, http.StatusServiceUnavailable, "away", true},
		{"wrapped", fmt.Errorf("SELECT: %w", bench.Errorf(bench.KindConflict, "other")), http.StatusConflict, "other", false},
		{"internal", hidden, http.StatusInternalServerError, "something went wrong here; it was logged under request ", true},
		{"unknown kind", &bench.Error{Kind: "odd", Message: "odd"}, http.StatusInternalServerError, "", true},
		{"time is over", fmt.Errorf("SELECT: %w", context.DeadlineExceeded), http.StatusServiceUnavailable, "the request took too long and was given up", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newFailing(t, failing{err: c.err})
			for _, a := range []*answer{s.get("/api/v1/runs"), s.upload(on("c2", "cached", "gcc"), "x")} {
				p := a.problem(c.status)
				a.wantQuiet()
				if !strings.HasPrefix(p.Detail, c.detail) {
					t.Errorf("detail %q, want %q", p.Detail, c.detail)
				}
				if c.detail != "" && strings.HasSuffix(c.detail, "request ") {
					id := strings.TrimPrefix(p.Detail, c.detail)
					if id == "" || !strings.Contains(s.log.String(), "request="+id) {
						t.Errorf("the log has nothing of request %q: %s", id, s.log)
					}
				}
			}
			if log := s.log.String(); (strings.Contains(log, "level=ERROR")) != c.logged {
				t.Errorf("logged as error, want %v: %s", c.logged, log)
			}
			if c.logged && errors.Is(c.err, hidden) && !strings.Contains(s.log.String(), hidden.Error()) {
				t.Errorf("the log lacks the cause: %s", s.log)
			}
		})
	}
}

func TestPlacesOfAnError(t *testing.T) {
	t.Parallel()
	s := newFailing(t, failing{err: &bench.Error{Kind: bench.KindInvalid, Message: "refused", Places: []bench.Message{
		{File: "a/sum.txt", Line: 17, Text: "not a number"},
		{File: "a/sum.txt", Line: 18, Column: "mb_sec", Text: "not a number"},
		{File: "b.txt", Text: "empty"},
		{Text: "as a whole"},
	}}})
	p := s.upload(on("c2", "cached", "gcc"), "x").problem(http.StatusBadRequest)
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Location+"|"+e.Message)
	}
	want := "a/sum.txt:17|not a number, a/sum.txt:18|mb_sec: not a number, b.txt|empty, |as a whole"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("errors %s\nwant   %s", s, want)
	}
}

func TestPanicIsAnInternalErrorInTheLog(t *testing.T) {
	t.Parallel()
	s := newFailing(t, failing{panic: "SELECT secret FROM /tmp/x"})
	for _, a := range []*answer{s.get("/api/v1/runs"), s.upload(on("c2", "cached", "gcc"), "x")} {
		p := a.problem(http.StatusInternalServerError)
		a.wantQuiet()
		id, ok := strings.CutPrefix(p.Detail, "something went wrong here; it was logged under request ")
		if !ok {
			t.Fatalf("detail %q", p.Detail)
		}
		log := s.log.String()
		if !strings.Contains(log, "request="+id) || !strings.Contains(log, "SELECT secret") || !strings.Contains(log, "failure_test.go") {
			t.Errorf("the log lacks request, panic or place: %s", log)
		}
	}
	s.get("/healthz").want(http.StatusOK)
}

// A handler that dies after it began to answer must not leave a document that
// looks whole.
func TestPanicInTheMiddleBreaksTheAnswerOff(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := chi.NewRouter()
	api.Register(r, api.Config{
		Store: s.store, Ingester: ingest.Ingester{Store: s.store}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half")
			panic("in the middle")
		}),
	})
	server := httptest.NewServer(middleware.RequestID(r))
	t.Cleanup(server.Close)
	s.url = server.URL
	resp, err := http.Get(server.URL + "/metrics")
	if err == nil {
		buf := make([]byte, 100)
		n := 0
		for err == nil && n < len(buf) {
			var k int
			k, err = resp.Body.Read(buf[n:])
			n += k
		}
		resp.Body.Close()
		if err == nil || err.Error() == "EOF" {
			t.Errorf("the answer %q looks whole", buf[:n])
		}
	}
	if !strings.Contains(s.log.String(), "in the middle") {
		t.Errorf("log: %s", s.log)
	}
}

func TestClientThatGoesAwayIsNoError(t *testing.T) {
	t.Parallel()
	s := newFailing(t, failing{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Fatalf("answered %s", resp.Status)
	}
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.log.String(), "client went away"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("log: %s", s.log)
		}
	}
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("logged as an error: %s", s.log)
	}
}
