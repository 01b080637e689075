package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// service is the API over a database of its own, reached by HTTP.
type service struct {
	t      testing.TB
	pool   *pgxpool.Pool
	store  *postgres.Store
	router chi.Router
	url    string
	log    *record
	tokens map[bench.TokenRole]string
}

// newService starts the API; change alters its configuration before.
func newService(t testing.TB, change ...func(*api.Config)) *service {
	t.Helper()
	pool := pgtest.New(t)
	store, err := postgres.New(pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, pool: pool, store: store, log: &record{}, tokens: map[bench.TokenRole]string{}}
	registry := prometheus.NewRegistry()
	requests := prometheus.NewCounter(prometheus.CounterOpts{Name: "test_requests_total", Help: "of this test"})
	registry.MustRegister(requests)
	c := api.Config{
		Store: store, Ingester: ingest.Ingester{Store: store}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), Version: "1.2.3",
	}
	for _, f := range change {
		f(&c)
	}
	s.router = chi.NewRouter()
	api.Register(s.router, c)
	server := httptest.NewServer(middleware.RequestID(s.router))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// token makes a token of a role.
func (s *service) token(role bench.TokenRole) string {
	s.t.Helper()
	if s.tokens[role] == "" {
		token, _, err := s.store.CreateToken(context.Background(), "the "+string(role), role)
		if err != nil {
			s.t.Fatal(err)
		}
		s.tokens[role] = token
	}
	return s.tokens[role]
}

// record is a log that may be written to and read at once.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// do sends a request as it is; token may be "".
func (s *service) do(method, address, token string, body []byte) *answer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+address, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return s.send(req)
}

func (s *service) send(req *http.Request) *answer {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := &answer{t: s.t, status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *service) get(address string) *answer {
	s.t.Helper()
	return s.do(http.MethodGet, address, "", nil)
}

// upload posts bytes with the token of a runner.
func (s *service) upload(query url.Values, body string) *answer {
	s.t.Helper()
	return s.do(http.MethodPost, "/api/v1/uploads?"+query.Encode(), s.token(bench.TokenRunner), []byte(body))
}

// stored posts bytes that must be taken.
func (s *service) stored(query url.Values, body string) receipt {
	s.t.Helper()
	return s.upload(query, body).want(http.StatusCreated).receipt()
}

// want makes sure of the status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

func (a *answer) decode(into any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		a.t.Fatalf("%v in %s", err, a.body)
	}
}

// tree gives the answer as plain maps and lists, so that absent, null and 0 differ.
func (a *answer) tree() any {
	a.t.Helper()
	var v any
	a.decode(&v)
	return v
}

// receipt is the answer to an upload as the contract writes it.
type receipt struct {
	Upload struct {
		ID        int64  `json:"id"`
		SHA256    string `json:"sha256"`
		Duplicate bool   `json:"duplicate"`
	} `json:"upload"`
	Format string `json:"format"`
	Runs   []struct {
		ID  int64  `json:"id"`
		URL string `json:"url"`
	} `json:"runs"`
	Results      int               `json:"results"`
	AlreadyThere int               `json:"already_there"`
	Merged       int               `json:"merged"`
	Values       int               `json:"values"`
	Refused      []place           `json:"refused"`
	Warnings     []place           `json:"warnings"`
	Checks       []json.RawMessage `json:"checks"`
}

type place struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  string `json:"column"`
	Message string `json:"message"`
}

func (a *answer) receipt() receipt {
	a.t.Helper()
	var r receipt
	a.decode(&r)
	return r
}

// problem is an error as RFC 9457 and the contract write it.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

// problem makes sure that the answer is a problem document of a status.
func (a *answer) problem(status int) problem {
	a.t.Helper()
	a.want(status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("Content-Type %q of %s", got, a.body)
	}
	var p problem
	a.decode(&p)
	if p.Status != status || p.Title != http.StatusText(status) || p.Detail == "" {
		a.t.Errorf("problem %s, want title, detail and status %d", a.body, status)
	}
	return p
}

const reportHeader = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash"

// row is a line of report.tsv with the fields that tests are about.
type row struct {
	qps     string
	test    string // readrandom.t8
	date    string // 2023-09-24T18:54:28
	version string
	hash    string
	mb      string // mb_sec; "" is 400.0
	stall   string // stall%; "" is 0.1
}

func (r row) String() string {
	if r.mb == "" {
		r.mb = "400.0"
	}
	if r.stall == "" {
		r.stall = "0.1"
	}
	return fmt.Sprintf("%s\t%s\t16GB\t0GB\t15.9\t2.0\t714.0\t40\t38\t0\t0\t0.6\t0.5\t1\t4\t24\t67402\t1800\t%s\t3\t0.1\t0.0\t16.9\t%s\t%s\t%s\t\t%s",
		r.qps, r.mb, r.stall, r.test, r.date, r.version, r.hash)
}

// report makes a report.tsv.
func report(rows ...row) string {
	var b strings.Builder
	b.WriteString(reportHeader + "\n")
	for _, r := range rows {
		b.WriteString(r.String() + "\n")
	}
	return b.String()
}

// on is the context of an upload.
func on(server, workload, compiler string) url.Values {
	return url.Values{"filename": {"report.tsv"}, "server": {server}, "workload": {workload}, "compiler": {compiler}}
}

// with gives a query with a further key.
func with(q url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for k, v := range q {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}
