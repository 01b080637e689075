package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// runsAnswer is the answer of GET /api/v1/runs.
type runsAnswer struct {
	Runs []struct {
		ID       int64
		URL      string
		Server   string
		Workload string
		Config   string
		Clients  int
		State    string
		Reason   string
		Started  string
		Build    struct{ Version, Compiler string }
		OK       int `json:"results_ok"`
		Failed   int `json:"results_failed"`
		NotRun   int `json:"results_not_run"`
		Warned   int `json:"results_with_warnings"`
	}
	Next *string
}

func (s *service) runs(query string) runsAnswer {
	s.t.Helper()
	var a runsAnswer
	s.get("/api/v1/runs?" + query).want(http.StatusOK).decode(&a)
	return a
}

// versions shows which runs came, in order.
func (a runsAnswer) versions() string {
	var v []string
	for _, r := range a.Runs {
		v = append(v, r.Build.Version)
	}
	return strings.Join(v, " ")
}

// fiveRuns has five runs, each a day after the one before it.
func fiveRuns(t testing.TB) *service {
	s := newService(t)
	var rows []row
	for i := range 5 {
		rows = append(rows, row{qps: fmt.Sprint(1000 + i), test: "readrandom.t8", date: fmt.Sprintf("2023-10-0%dT10:00:00", i+1), version: fmt.Sprintf("8.%d.0", i)})
	}
	s.stored(on("c2", "cached", "gcc"), report(rows...))
	return s
}

func TestRunsListNewestFirstAndPage(t *testing.T) {
	t.Parallel()
	s := fiveRuns(t)
	a := s.runs("")
	if a.versions() != "8.4.0 8.3.0 8.2.0 8.1.0 8.0.0" || a.Next != nil {
		t.Errorf("%s, next %v", a.versions(), a.Next)
	}
	first := a.Runs[0]
	if first.URL != fmt.Sprintf("/runs/%d", first.ID) || first.Server != "c2" || first.Workload != "cached" || first.Clients != 8 ||
		first.State != "active" || first.OK != 1 || first.Failed+first.NotRun != 0 || first.Build.Compiler != "gcc" || first.Started != "2023-10-05T10:00:00" {
		t.Errorf("run %+v", first)
	}
	var pages []string
	cursor := ""
	for range 10 {
		query := url.Values{"limit": {"2"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		page := s.runs(query.Encode())
		pages = append(pages, page.versions())
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if want := []string{"8.4.0 8.3.0", "8.2.0 8.1.0", "8.0.0"}; !cmp.Equal(pages, want) {
		t.Errorf("pages %q, want %q", pages, want)
	}
	// next is null, not absent, and an empty list is a list.
	body := s.get("/api/v1/runs?server=nobody").want(http.StatusOK).tree().(map[string]any)
	if next, ok := body["next"]; !ok || next != nil {
		t.Errorf("next %v", body)
	}
	if list, ok := body["runs"].([]any); !ok || len(list) != 0 {
		t.Errorf("runs %v", body)
	}
}

func TestRunsFilters(t *testing.T) {
	t.Parallel()
	s := fiveRuns(t)
	second := s.stored(with(on("u5", "iodir", "clang"), "filename", "u5.tsv", "config", "a1"), report(
		row{qps: "5", test: "readrandom.t4", date: "2024-01-01T10:00:00", version: "8.4.0"}))
	for query, want := range map[string]string{
		"version=8.4.0":                            "8.4.0 8.4.0",
		"version=8.4.0&version=8.1.0":              "8.4.0 8.4.0 8.1.0",
		"server=u5":                                "8.4.0",
		"server=c2&version=8.4.0":                  "8.4.0",
		"workload=iodir":                           "8.4.0",
		"workload=byrx&version=8.0.0":              "8.0.0",
		"compiler=clang":                           "8.4.0",
		"config=a1":                                "8.4.0",
		"clients=4":                                "8.4.0",
		"system=rocksdb&suite=db_bench&clients=4":  "8.4.0",
		fmt.Sprintf("upload=%d", second.Upload.ID): "8.4.0",
		"upload=1&version=8.0.0":                   "8.0.0",
		"state=withdrawn":                          "",
		"state=failed":                             "",
		"state=active&server=u5":                   "8.4.0",
		"system=myrocks":                           "",
	} {
		if got := s.runs(query).versions(); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, says := range map[string]string{
		"servr=c2":                      "query.servr",
		"limit=0":                       "query.limit",
		"limit=1001":                    "query.limit",
		"limit=ten":                     "query.limit",
		"state=gone":                    "query.state",
		"cursor=yesterday":              "yesterday",
		"cursor=1.99999999999999999999": "no place in the list",
		"upload=x":                      "query.upload",
		"clients=3000000000":            "query.clients",
		"limit=1&limit=2":               "query.limit",
	} {
		if p := s.get("/api/v1/runs?" + query).problem(http.StatusBadRequest); !strings.Contains(p.Detail, says) {
			t.Errorf("%s: %q does not say %q", query, p.Detail, says)
		}
	}
}

// A run of which nothing succeeded does not pass for one that counts.
func TestARunThatFailedSaysSo(t *testing.T) {
	t.Parallel()
	s := newService(t)
	log := func(day, end string) string {
		return "RocksDB:    version 7.8.3\nDate:       Mon Nov " + day + " 13:30:12 2026\n" + end
	}
	good := s.stored(with(on("c2", "cached", "gcc"), "filename", "good.log"), log("29", "readrandom   :      20.000 micros/op 50000 ops/sec;\n"))
	bad := s.stored(with(on("c2", "cached", "gcc"), "filename", "bad.log"), log("30", "put error: IO error: No space left on device\n"))
	for query, want := range map[string]int64{"state=failed": bad.Runs[0].ID, "state=active": good.Runs[0].ID} {
		got := s.runs(query)
		if len(got.Runs) != 1 || got.Runs[0].ID != want || "state="+string(got.Runs[0].State) != query {
			t.Errorf("%s: %+v", query, got.Runs)
		}
	}
	var one struct{ State string }
	s.get(fmt.Sprintf("/api/v1/runs/%d", bad.Runs[0].ID)).want(http.StatusOK).decode(&one)
	if one.State != "failed" {
		t.Errorf("state %q", one.State)
	}
	s.patch(bad.Runs[0].ID, s.token(bench.TokenAdmin), `{"withdraw":true,"reason":"full disk"}`).want(http.StatusOK)
	if got := s.runs("state=failed"); len(got.Runs) != 0 {
		t.Errorf("%+v", got.Runs)
	}
}

// everything is a run that has all there is, in the project's own format.
const everything = `{"relqps_export":1}
{"metric_set":{"id":1,"metrics":["qps","p99","rss_gb"],"resolutions":[1,1,0.1],"names":["ops_sec","p99","rss"]}}
{"run":{"id":"0d6f2f0e-2f38-4c05-9ee3-6c1b3f6f2a11","system":"rocksdb","suite":"db_bench","server":"here","workload":"cached","config":"a1","clients":2,
"build":{"version":"7.8.3","compiler":"gcc","compiler_version":"12.2.0","flags":"-O2","git_hash":"abc","command":"make static_lib"},
"environment":{"cpu":"a CPU","cores":"2"},"options":{"cf.default.block_size":"8192"},
"results":[
{"step":"readrandom","threads":2,"started":"2026-11-30T13:30:11+01:00","primary":"qps","primary_text":"1234","set":1,"values":[1234,7,null],"command":"db_bench --benchmarks=readrandom",
"histograms":[{"operation":"read","unit":"µs","bounds":[1,2,4],"counts":[10,0,5],"count":15,"min":0.5,"max":3.5,"average":1.5}],
"time_series":[{"name":"qps","unit":"1/s","start_s":1,"step_s":1,"values":[1200,null,0,1268]}],
"breakdowns":[{"key":"block_read_count","bucket":"0","samples":100,"unit":"µs","value":4.5}],
"warnings":[{"file":"readrandom.log","line":7,"message":"clocks went backwards"}]},
{"step":"fwdrange","state":"failed","reason":"put error: no space","started":"2026-11-30T13:40:11+01:00"},
{"step":"readwhilewriting","state":"not_run","reason":"needs fwdrange","started":""}
]}}
`

// oneLine joins the lines of an export that stand apart here for reading.
func oneLine(export string) string {
	lines := strings.SplitAfterN(export, "\n", 3)
	return lines[0] + lines[1] + strings.ReplaceAll(lines[2], "\n", "") + "\n"
}

func TestRunHasAllItsFigures(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := s.stored(url.Values{"filename": {"mine.ndjson"}}, oneLine(everything))
	if len(r.Runs) != 1 {
		t.Fatalf("runs %+v", r.Runs)
	}
	got := s.get(fmt.Sprintf("/api/v1/runs/%d", r.Runs[0].ID)).want(http.StatusOK).tree().(map[string]any)
	for _, key := range []string{"created", "campaign"} { // of the moment
		if _, ok := got[key]; !ok {
			t.Errorf("no %s", key)
		}
		delete(got, key)
	}
	for _, x := range got["results"].([]any) {
		delete(x.(map[string]any), "id")
	}
	var want any
	if err := json.Unmarshal(fmt.Appendf(nil, `{
		"id":%[1]d,"url":"/runs/%[1]d","key":"0d6f2f0e-2f38-4c05-9ee3-6c1b3f6f2a11","system":"rocksdb","suite":"db_bench","server":"here","workload":"cached",
		"config":"a1","clients":2,"assumed":[],"started":"2026-11-30T13:30:11+01:00","state":"active",
		"build":{"version":"7.8.3","compiler":"gcc","compiler_version":"12.2.0","flags":"-O2","git_hash":"abc","command":"make static_lib"},
		"environment":{"cpu":"a CPU","cores":"2"},"options":{"cf.default.block_size":"8192"},"uploads":[%[2]d],"history":[],
		"results_ok":1,"results_failed":1,"results_not_run":1,"results_with_warnings":1,
		"results":[
			{"step":"readrandom","threads":2,"role":"measure","state":"ok","origin":"measured","started":"2026-11-30T13:30:11+01:00",
			 "primary":"qps","primary_text":"1234","counts":true,"command":"db_bench --benchmarks=readrandom",
			 "values":[{"metric":"qps","unit":"1/s","direction":"higher","value":1234,"resolution":1,"source_name":"ops_sec"},
			           {"metric":"p99","unit":"µs","direction":"lower","value":7,"resolution":1,"source_name":"p99"}],
			 "histograms":[{"operation":"read","unit":"µs","bounds":[1,2,4],"counts":[10,0,5],"count":15,"min":0.5,"max":3.5,"average":1.5}],
			 "time_series":[{"name":"qps","unit":"1/s","start_s":1,"step_s":1,"values":[1200,null,0,1268]}],
			 "breakdowns":[{"key":"block_read_count","bucket":"0","samples":100,"unit":"µs","value":4.5}],
			 "warnings":[{"file":"readrandom.log","line":7,"message":"clocks went backwards"}],
			 "sources":[{"upload":%[2]d,"file":"mine.ndjson","line":3}]},
			{"step":"fwdrange","role":"measure","state":"failed","reason":"put error: no space","origin":"measured","started":"2026-11-30T13:40:11+01:00","counts":true,
			 "values":[],"histograms":[],"time_series":[],"breakdowns":[],"warnings":[],"sources":[{"upload":%[2]d,"file":"mine.ndjson","line":3}]},
			{"step":"readwhilewriting","role":"measure","state":"not_run","reason":"needs fwdrange","origin":"measured","started":"","counts":true,
			 "values":[],"histograms":[],"time_series":[],"breakdowns":[],"warnings":[],"sources":[{"upload":%[2]d,"file":"mine.ndjson","line":3}]}]}`,
		r.Runs[0].ID, r.Upload.ID), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, any(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// A step that failed is in no series.
	if a := s.series("server=here"); len(a.Series) != 1 || a.Series[0].Step != "readrandom" {
		t.Errorf("series %+v", a.Series)
	}
}

func TestRunThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.get("/api/v1/runs/1").problem(http.StatusNotFound)
	s.get("/api/v1/runs/9223372036854775807").problem(http.StatusNotFound)
	s.get("/api/v1/runs/-1").problem(http.StatusNotFound)
	s.get("/api/v1/runs/9223372036854775808").problem(http.StatusBadRequest)
	s.get("/api/v1/runs/newest").problem(http.StatusBadRequest)
	s.get("/api/v1/runs/1?verbose=1").problem(http.StatusBadRequest)
	s.get("/api/v1/runs/1/").problem(http.StatusNotFound)
}

func (s *service) patch(run int64, token, body string) *answer {
	s.t.Helper()
	return s.do(http.MethodPatch, fmt.Sprintf("/api/v1/runs/%d", run), token, []byte(body))
}

// history is what a run tells of itself.
type history struct {
	Server, Workload, State, Reason string
	Build                           struct{ Compiler string }
	History                         []struct {
		At, Actor, Action, Reason string
		Before, After             map[string]string
	}
}

func TestRunIsCorrectedWithHistory(t *testing.T) {
	t.Parallel()
	s := fiveRuns(t)
	id := s.runsByVersion()["8.2.0"]
	admin := s.token(bench.TokenAdmin)
	var h history
	s.patch(id, admin, `{"server":"u5","workload":"byos","compiler":"clang lto","reason":"the wrong host was named"}`).want(http.StatusOK).decode(&h)
	if h.Server != "u5" || h.Workload != "cached-by-os" || h.Build.Compiler != "clang+lto" || len(h.History) != 1 {
		t.Fatalf("corrected run %+v", h)
	}
	e := h.History[0]
	if e.Actor != "the admin" || e.Action != "corrected" || e.Reason != "the wrong host was named" || e.At == "" ||
		!cmp.Equal(e.Before, map[string]string{"server": "c2", "workload": "cached", "compiler": "gcc"}) ||
		!cmp.Equal(e.After, map[string]string{"server": "u5", "workload": "cached-by-os", "compiler": "clang+lto"}) {
		t.Errorf("history %+v", e)
	}
	// The figure moved, the others stayed.
	if l := s.series("server=u5").only(t); l.Compiler != "clang+lto" || len(l.Points) != 1 || l.Points[0].Value != 1002 {
		t.Errorf("moved to %+v", l)
	}
	if l := s.series("server=c2").only(t); len(l.Points) != 4 {
		t.Errorf("left behind %+v", l)
	}
	// Saying what is so already changes nothing.
	h = history{}
	s.patch(id, admin, `{"server":"u5","reason":"again"}`).want(http.StatusOK).decode(&h)
	if len(h.History) != 1 {
		t.Errorf("history %+v", h.History)
	}
}

func TestRunIsWithdrawnAndRestored(t *testing.T) {
	t.Parallel()
	s := fiveRuns(t)
	id := s.runsByVersion()["8.4.0"]
	admin := s.token(bench.TokenAdmin)
	var h history
	s.patch(id, admin, `{"withdraw":true,"reason":"another job ran beside it"}`).want(http.StatusOK).decode(&h)
	if h.State != "withdrawn" || h.Reason != "another job ran beside it" {
		t.Errorf("run %+v", h)
	}
	if l := s.series("").only(t); len(l.Points) != 4 {
		t.Errorf("%d points, want 4", len(l.Points))
	}
	if got := s.runs("state=withdrawn").versions(); got != "8.4.0" {
		t.Errorf("withdrawn: %s", got)
	}
	s.patch(id, admin, `{"withdraw":true,"reason":"once more"}`).problem(http.StatusConflict)
	h = history{}
	s.patch(id, admin, `{"restore":true,"reason":"it did not"}`).want(http.StatusOK).decode(&h)
	if h.State != "active" || len(h.History) != 2 || h.History[0].Action != "withdrawn" || h.History[1].Action != "restored" {
		t.Errorf("run %+v", h)
	}
	if l := s.series("").only(t); len(l.Points) != 5 {
		t.Errorf("%d points, want 5", len(l.Points))
	}
}

func TestUploadIsWithdrawn(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	r := s.stored(on("c3", "cached", "gcc"), text)
	withdraw := func(token, body string) *answer {
		return s.do(http.MethodPost, fmt.Sprintf("/api/v1/uploads/%d/withdraw", r.Upload.ID), token, []byte(body))
	}
	withdraw("", `{"reason":"wrong server"}`).problem(http.StatusUnauthorized)
	withdraw(s.token(bench.TokenRunner), `{"reason":"wrong server"}`).problem(http.StatusForbidden)
	admin := s.token(bench.TokenAdmin)
	withdraw(admin, `{}`).problem(http.StatusBadRequest)
	withdraw(admin, `{"reason":""}`).problem(http.StatusBadRequest)
	withdraw(admin, `{"reason":"  "}`).problem(http.StatusBadRequest)
	withdraw(admin, `{"reason":"x","force":true}`).problem(http.StatusBadRequest)
	if got := len(s.series("").Series); got != 1 {
		t.Fatalf("%d series before", got)
	}
	if a := withdraw(admin, `{"reason":"wrong server"}`).want(http.StatusNoContent); len(a.body) != 0 {
		t.Errorf("body %q", a.body)
	}
	if got := len(s.series("").Series); got != 0 {
		t.Errorf("%d series after", got)
	}
	// Nothing is deleted: the bytes, the run and why it does not count remain.
	if a := s.get(fmt.Sprintf("/api/v1/uploads/%d/file", r.Upload.ID)).want(http.StatusOK); string(a.body) != text {
		t.Errorf("bytes %q", a.body)
	}
	var h history
	s.get(fmt.Sprintf("/api/v1/runs/%d", r.Runs[0].ID)).want(http.StatusOK).decode(&h)
	if h.State != "withdrawn" || !strings.Contains(h.Reason, "wrong server") || len(h.History) != 1 || h.History[0].Actor != "the admin" {
		t.Errorf("run %+v", h)
	}
	withdraw(admin, `{"reason":"wrong server"}`).problem(http.StatusConflict)
	s.do(http.MethodPost, "/api/v1/uploads/999/withdraw", admin, []byte(`{"reason":"x"}`)).problem(http.StatusNotFound)
	// Now the same bytes may come with the right context.
	if again := s.stored(on("c2", "cached", "gcc"), text); again.Results != 1 {
		t.Errorf("again %+v", again)
	}
}

func TestCorrectionIsRefused(t *testing.T) {
	t.Parallel()
	s := fiveRuns(t)
	id := s.runsByVersion()["8.0.0"]
	admin := s.token(bench.TokenAdmin)
	before := s.get(fmt.Sprintf("/api/v1/runs/%d", id)).want(http.StatusOK).body
	for _, c := range []struct {
		name, token, body string
		status            int
	}{
		{"without token", "", `{"server":"u5","reason":"x"}`, http.StatusUnauthorized},
		{"with a token that is none", "rq_x", `{"server":"u5","reason":"x"}`, http.StatusUnauthorized},
		{"as a reader", s.token(bench.TokenReader), `{"server":"u5","reason":"x"}`, http.StatusForbidden},
		{"as a runner", s.token(bench.TokenRunner), `{"server":"u5","reason":"x"}`, http.StatusForbidden},
		{"without a reason", admin, `{"server":"u5"}`, http.StatusBadRequest},
		{"with an empty reason", admin, `{"server":"u5","reason":""}`, http.StatusBadRequest},
		{"with a blank reason", admin, `{"server":"u5","reason":" \t "}`, http.StatusBadRequest},
		{"of nothing", admin, `{"reason":"x"}`, http.StatusBadRequest},
		{"both ways", admin, `{"withdraw":true,"restore":true,"reason":"x"}`, http.StatusBadRequest},
		{"and withdrawal", admin, `{"withdraw":true,"server":"u5","reason":"x"}`, http.StatusBadRequest},
		{"of an unknown field", admin, `{"version":"8.1.0","reason":"x"}`, http.StatusBadRequest},
		{"to no server", admin, `{"server":"","reason":"x"}`, http.StatusBadRequest},
		{"to a blank server", admin, `{"server":"   ","reason":"x"}`, http.StatusBadRequest},
		{"of the wrong type", admin, `{"server":7,"reason":"x"}`, http.StatusBadRequest},
		{"to a very long name", admin, `{"server":"` + strings.Repeat("s", 201) + `","reason":"x"}`, http.StatusBadRequest},
		{"that is no JSON", admin, `server=u5`, http.StatusBadRequest},
		{"that breaks off", admin, `{"server":`, http.StatusBadRequest},
		{"that is empty", admin, ``, http.StatusBadRequest},
		{"that is null", admin, `null`, http.StatusBadRequest},
		{"that is a list", admin, `[]`, http.StatusBadRequest},
		{"of 2 MiB", admin, `{"reason":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
		{"restoring what counts", admin, `{"restore":true,"reason":"x"}`, http.StatusConflict},
	} {
		a := s.patch(id, c.token, c.body)
		if a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.name, a.status, c.status, a.body)
			continue
		}
		a.problem(c.status)
		if got := a.header.Get("WWW-Authenticate"); (got == "Bearer") != (c.status == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate %q", c.name, got)
		}
	}
	s.patch(999999, admin, `{"server":"u5","reason":"x"}`).problem(http.StatusNotFound)
	if after := s.get(fmt.Sprintf("/api/v1/runs/%d", id)).body; string(after) != string(before) {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}

func TestCorrectionIntoAnotherRunIsAConflict(t *testing.T) {
	t.Parallel()
	s := newService(t)
	rows := row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"}
	s.stored(with(on("c2", "cached", "gcc"), "filename", "right.tsv"), report(rows))
	wrong := s.stored(with(on("c3", "cached", "gcc"), "filename", "wrong.tsv"), report(rows)+"\n")
	p := s.patch(wrong.Runs[0].ID, s.token(bench.TokenAdmin), `{"server":"c2","reason":"it was c2"}`).problem(http.StatusConflict)
	if all := fmt.Sprint(p); !strings.Contains(all, "right.tsv") && !strings.Contains(all, "run") {
		t.Errorf("the conflict does not say with what: %s", all)
	}
}
