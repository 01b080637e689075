package api_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// change is one of GET /api/v1/changes as the contract writes it.
type change struct {
	ID                 int64
	URL                string
	Series             bench.Coordinate
	From, To           string
	Back               *string
	Kind, Shape        string
	Relative           float64
	RelativeLow        float64 `json:"relative_low"`
	RelativeHigh       float64 `json:"relative_high"`
	RelativeNeighbours float64 `json:"relative_neighbours"`
	P                  float64
	NewCampaign        bool               `json:"new_campaign"`
	SeenOn             []bench.Coordinate `json:"seen_on"`
	NotSeenOn          []bench.Coordinate `json:"not_seen_on"`
	CannotTellOn       []bench.Coordinate `json:"cannot_tell_on"`
	Status             string
	FixedIn            string `json:"fixed_in"`
	Owner, Issue       string
	Events             []struct{ Actor, Field, Before, After string }
}

type changesAnswer struct {
	Changes []change
	Next    *string
}

func (s *service) changes(query string) changesAnswer {
	s.t.Helper()
	var a changesAnswer
	s.get("/api/v1/changes?" + query).want(http.StatusOK).decode(&a)
	return a
}

// detecting is a service that looks for changes in what is uploaded, with two
// servers of 16 versions. On c2 readrandom falls by a fifth at 8.8.0 and stays
// there, and fwdrange rises by a tenth at 8.4.0; on u5 nothing happens.
func detecting(t testing.TB) *service {
	s := newService(t, func(c *api.Config) {
		c.Detect = compare.Detect
		c.Ingester = ingest.Ingester{Store: c.Store.(ingest.Store), Detect: compare.Detect}
	})
	// Half a percent of noise, always the same.
	noise := func(i, k int) float64 { return 1 + 0.005*math.Sin(float64(i*7+k*3)) }
	for k, server := range []string{"c2", "u5"} {
		var rows []row
		for i := range 16 {
			read, scan := 200_000*noise(i, k), 300_000*noise(i, k+5)
			if server == "c2" && i >= 8 {
				read *= 0.8
			}
			if server == "c2" && i >= 4 {
				scan *= 1.1
			}
			day := fmt.Sprintf("2023-10-%02dT1%d", i+1, k)
			rows = append(rows,
				row{qps: fmt.Sprintf("%.0f", read), test: "readrandom.t8", date: day + ":00:00", version: fmt.Sprintf("8.%d.0", i)},
				row{qps: fmt.Sprintf("%.0f", scan), test: "fwdrange.t8", date: day + ":30:00", version: fmt.Sprintf("8.%d.0", i)})
		}
		s.stored(with(on(server, "cached", "gcc"), "filename", server+".tsv"), report(rows...))
	}
	return s
}

func TestChangesAreFoundWithTheirEvidence(t *testing.T) {
	t.Parallel()
	s := detecting(t)
	a := s.changes("")
	if len(a.Changes) != 2 || a.Next != nil {
		t.Fatalf("changes %+v", a)
	}
	// The newest version first.
	down, up := a.Changes[0], a.Changes[1]
	if down.Series.Step != "readrandom" || down.Series.Server != "c2" || down.From != "8.7.0" || down.To != "8.8.0" || down.Back != nil ||
		down.Kind != "regression" || down.Shape != "step" || down.Status != "new" || down.URL != fmt.Sprintf("/changes/%d", down.ID) {
		t.Errorf("%+v", down)
	}
	if math.Abs(down.Relative-0.8) > 0.01 || down.RelativeLow >= down.Relative || down.RelativeHigh <= down.Relative || down.P > 0.001 || down.P < 0 ||
		math.Abs(down.RelativeNeighbours-0.8) > 0.02 {
		t.Errorf("%+v", down)
	}
	if up.Series.Step != "fwdrange" || up.To != "8.4.0" || up.Kind != "improvement" || math.Abs(up.Relative-1.1) > 0.01 {
		t.Errorf("%+v", up)
	}
	// The other server was looked at and does not show it.
	if !slices.ContainsFunc(down.NotSeenOn, func(c bench.Coordinate) bool { return c.Server == "u5" && c.Step == "readrandom" }) || len(down.SeenOn) != 0 || down.CannotTellOn == nil || len(down.CannotTellOn) != 0 {
		t.Errorf("seen %v, not seen %v, cannot tell %v", down.SeenOn, down.NotSeenOn, down.CannotTellOn)
	}
	for query, want := range map[string]string{
		"kind=regression":               "readrandom",
		"kind=improvement":              "fwdrange",
		"server=c2":                     "readrandom fwdrange",
		"server=u5":                     "",
		"step=fwdrange":                 "fwdrange",
		"step=fwdrange&step=readrandom": "readrandom fwdrange",
		"version=8.8.0":                 "readrandom",
		"workload=byrx&compiler=GCC":    "readrandom fwdrange",
		"system=myrocks":                "",
		"min_effect=0.2":                "readrandom",
		"min_effect=0":                  "readrandom fwdrange",
		"shape=spike":                   "",
		"status=confirmed":              "",
		"status=new&status=confirmed":   "readrandom fwdrange",
		"limit=1":                       "readrandom",
	} {
		var steps []string
		for _, c := range s.changes(query).Changes {
			steps = append(steps, c.Series.Step)
		}
		if got := strings.Join(steps, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	page := s.changes("limit=1")
	if page.Next == nil {
		t.Fatal("no next page")
	}
	if second := s.changes("limit=1&cursor=" + *page.Next); len(second.Changes) != 1 || second.Changes[0].ID != up.ID || second.Next != nil {
		t.Errorf("second page %+v", second)
	}
	for query, says := range map[string]string{
		"kind=worse": "query.kind", "shape=flat": "query.shape", "status=odd": "query.status", "min_effect=-1": "query.min_effect", "min_effect=NaN": "query.min_effect",
		"cursor=x": "cursor", "limit=0": "query.limit", "effect=1": "query.effect",
	} {
		if p := s.get("/api/v1/changes?" + query).problem(http.StatusBadRequest); !strings.Contains(p.Detail, says) {
			t.Errorf("%s: %q does not say %q", query, p.Detail, says)
		}
	}
}

func TestChangeIsTriaged(t *testing.T) {
	t.Parallel()
	s := detecting(t)
	id := s.changes("kind=regression").Changes[0].ID
	address := fmt.Sprintf("/api/v1/changes/%d", id)
	patch := func(token, body string) *answer { return s.do(http.MethodPatch, address, token, []byte(body)) }
	annotator := s.token(bench.TokenAnnotator)
	patch("", `{"status":"confirmed"}`).problem(http.StatusUnauthorized)
	patch(s.token(bench.TokenReader), `{"status":"confirmed"}`).problem(http.StatusForbidden)
	for _, body := range []string{`{}`, `{"status":"odd"}`, `{"comment":""}`, `{"comment":" "}`, `{"issue":"javascript:alert(1)"}`, `{"state":"new"}`, `null`, `{"owner":"` + strings.Repeat("x", 100_000) + `"}`} {
		patch(annotator, body).problem(http.StatusBadRequest)
	}
	var c change
	patch(annotator, `{"status":"fixed","fixed_in":"8.9.0","owner":"storage team","issue":"https://example.org/1","comment":"a <b>known</b> one\u202e"}`).want(http.StatusOK).decode(&c)
	if c.Status != "fixed" || c.FixedIn != "8.9.0" || c.Owner != "storage team" || c.Issue != "https://example.org/1" {
		t.Errorf("%+v", c)
	}
	comment := false
	for _, e := range c.Events {
		comment = comment || e.Field == "comment" && e.After == "a <b>known</b> one\u202e" && e.Actor == "the annotator"
	}
	if !comment {
		t.Errorf("thread %+v", c.Events)
	}
	// Withdrawing a run runs detection again: the number stays.
	s.patch(s.runsByVersion()["8.15.0"], s.token(bench.TokenAdmin), `{"withdraw":true,"reason":"a test"}`).want(http.StatusOK)
	if again := s.changes("kind=regression").Changes; len(again) != 1 || again[0].ID != id || again[0].Status != "fixed" {
		t.Errorf("after another detection: %+v", again)
	}
	// A note on a change is about its series, not about every chart of the system.
	var n noteAnswer
	s.do(http.MethodPost, "/api/v1/notes", annotator, fmt.Appendf(nil, `{"system":"rocksdb","version":"8.8.0","body":"x","change":%d}`, id)).want(http.StatusCreated).decode(&n)
	if n.Scope["server"] == nil || *n.Scope["server"] != "c2" || n.Scope["step"] == nil || n.Scope["config"] != nil {
		t.Errorf("scope %+v", n.Scope)
	}
	s.get("/api/v1/changes/999999").problem(http.StatusNotFound)
	s.do(http.MethodPatch, "/api/v1/changes/999999", annotator, []byte(`{"status":"noise"}`)).problem(http.StatusNotFound)
}

// noteAnswer is a note as the contract writes it.
type noteAnswer struct {
	ID        int64
	System    string
	Version   string
	ToVersion *string `json:"to_version"`
	Change    *int64
	Scope     map[string]*string
	Body      string
	Author    string
	Revision  int
	History   []struct {
		Revision            int
		Actor, Action, Body string
	}
}

func TestNotesAreWrittenEditedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	annotator := s.token(bench.TokenAnnotator)
	post := func(token, body string) *answer { return s.do(http.MethodPost, "/api/v1/notes", token, []byte(body)) }
	good := `{"system":"rocksdb","version":"8.6.7","to_version":null,"scope":{"step":"overwriteandwait","server":null,"workload":"byrx","compiler":"clang lto","config":null},"body":"**readahead** was 0 <script>","author":"Somebody"}`
	post("", good).problem(http.StatusUnauthorized)
	post(s.token(bench.TokenReader), good).problem(http.StatusForbidden)
	a := post(annotator, good).want(http.StatusCreated)
	var n noteAnswer
	a.decode(&n)
	if a.header.Get("Location") != fmt.Sprintf("/api/v1/notes/%d", n.ID) {
		t.Errorf("Location %q", a.header.Get("Location"))
	}
	if n.Version != "8.6.7" || n.ToVersion != nil || n.Change != nil || n.Body != "**readahead** was 0 <script>" || n.Author != "Somebody" || n.Revision != 1 ||
		n.Scope["server"] != nil || *n.Scope["step"] != "overwriteandwait" || *n.Scope["workload"] != "cached" || *n.Scope["compiler"] != "clang+lto" {
		t.Errorf("note %s", a.body)
	}
	one := fmt.Sprintf("/api/v1/notes/%d", n.ID)
	s.do(http.MethodPatch, one, annotator, []byte(`{"body":"it was 0 in this version only","revision":1}`)).want(http.StatusOK)
	p := s.do(http.MethodPatch, one, annotator, []byte(`{"body":"I was slower","revision":1}`)).problem(http.StatusConflict)
	if !strings.Contains(p.Detail, "in between") {
		t.Errorf("%s", p.Detail)
	}
	// An edit of the scope leaves the text.
	n = noteAnswer{}
	s.do(http.MethodPatch, one, annotator, []byte(`{"scope":{"step":null,"server":"c2","workload":null,"compiler":null,"config":null}}`)).want(http.StatusOK).decode(&n)
	if n.Body != "it was 0 in this version only" || *n.Scope["server"] != "c2" || n.Scope["step"] != nil || n.Revision != 3 {
		t.Errorf("note %+v", n)
	}
	s.do(http.MethodDelete, one, s.token(bench.TokenReader), nil).problem(http.StatusForbidden)
	s.do(http.MethodDelete, one, annotator, nil).want(http.StatusNoContent)
	s.do(http.MethodDelete, one, annotator, nil).problem(http.StatusConflict)
	var list struct{ Notes []noteAnswer }
	s.get("/api/v1/notes").want(http.StatusOK).decode(&list)
	if list.Notes == nil || len(list.Notes) != 0 {
		t.Errorf("notes %+v", list)
	}
	s.get("/api/v1/notes?deleted=true").want(http.StatusOK).decode(&list)
	if len(list.Notes) != 1 {
		t.Errorf("notes %+v", list)
	}
	n = noteAnswer{}
	s.get(one).want(http.StatusOK).decode(&n)
	var actions []string
	for _, h := range n.History {
		actions = append(actions, h.Action+" by "+h.Actor)
	}
	if d := cmp.Diff([]string{"written by Somebody", "edited by the annotator", "edited by the annotator", "deleted by the annotator"}, actions); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, body := range []string{
		`{}`, `{"system":"rocksdb","version":"8.0"}`, `{"system":"rocksdb","version":"","body":"x"}`, `{"system":" ","version":"8.0","body":"x"}`, `{"system":"rocksdb","version":"8.0","body":"  "}`,
		`{"system":"rocksdb","version":"8.2","to_version":"8.1","body":"x"}`, `{"system":"rocksdb","version":"8.0","body":"` + strings.Repeat("x", 20_001) + `"}`,
		`{"system":"rocksdb","version":"8.0","body":"x","colour":"red"}`, `{"system":"rocksdb","version":"8.0","body":"a\u0000b"}`, `{"system":"rocksdb\u0000","version":"8.0","body":"x"}`, `{"system":"rocksdb","version":"8.0","body":"x","scope":{"stepp":"x"}}`,
	} {
		post(annotator, body).problem(http.StatusBadRequest)
	}
	post(annotator, `{"system":"rocksdb","version":"8.0","body":"x","change":99}`).problem(http.StatusNotFound)
	// A part of a scope is enough.
	n = noteAnswer{}
	post(annotator, `{"system":"rocksdb","version":"8.0","body":"x","scope":{"step":"fillseq"}}`).want(http.StatusCreated).decode(&n)
	if *n.Scope["step"] != "fillseq" || n.Scope["server"] != nil {
		t.Errorf("scope %+v", n.Scope)
	}
	s.get("/api/v1/notes/99").problem(http.StatusNotFound)
	s.get("/api/v1/notes?systm=rocksdb").problem(http.StatusBadRequest)
	s.do(http.MethodPatch, "/api/v1/notes/99", annotator, []byte(`{"body":"x"}`)).problem(http.StatusNotFound)
}

func TestNotesOfAVersion(t *testing.T) {
	t.Parallel()
	s := newService(t)
	annotator := s.token(bench.TokenAnnotator)
	for _, body := range []string{
		`{"system":"rocksdb","version":"8.6.7","body":"one"}`, `{"system":"rocksdb","version":"8.4.4","to_version":"8.7.3","body":"range"}`, `{"system":"myrocks","version":"8.6.7","body":"another system"}`,
	} {
		var n noteAnswer
		s.do(http.MethodPost, "/api/v1/notes", annotator, []byte(body)).want(http.StatusCreated).decode(&n)
		if n.Author != "the annotator" {
			t.Errorf("author %q", n.Author)
		}
	}
	for query, want := range map[string]string{
		"": "another system, range, one", "system=rocksdb": "range, one", "system=rocksdb&version=8.6.7": "range, one", "version=8.10.0": "", "version=8.5": "range", "change=5": "",
	} {
		var list struct{ Notes []noteAnswer }
		s.get("/api/v1/notes?" + query).want(http.StatusOK).decode(&list)
		var bodies []string
		for _, n := range list.Notes {
			bodies = append(bodies, n.Body)
		}
		if got := strings.Join(bodies, ", "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestLinksLeadToViewsOfThisSite(t *testing.T) {
	t.Parallel()
	s := newService(t)
	annotator := s.token(bench.TokenAnnotator)
	post := func(token, body string) *answer { return s.do(http.MethodPost, "/api/v1/links", token, []byte(body)) }
	post("", `{"url":"/charts"}`).problem(http.StatusUnauthorized)
	var l, again struct {
		Code, URL string
		Frozen    bool
	}
	post(annotator, `{"url":"/charts?server=c2&step=fillseq"}`).want(http.StatusCreated).decode(&l)
	if len(l.Code) < 4 || l.URL != "/s/"+l.Code || l.Frozen {
		t.Errorf("link %+v", l)
	}
	post(annotator, `{"url":"/charts?server=c2&step=fillseq"}`).want(http.StatusCreated).decode(&again)
	if again != l {
		t.Errorf("the same view got another link: %+v, %+v", again, l)
	}
	for _, url := range []string{"", "charts", "//evil.example/charts", `/\\evil.example`, "https://evil.example/", "javascript:alert(1)", `/charts\n`, `/charts\u0000`, "/" + strings.Repeat("x", 8001)} {
		post(annotator, `{"url":"`+url+`"}`).problem(http.StatusBadRequest)
	}
	// Without somebody to freeze views there are no frozen links.
	post(annotator, `{"url":"/charts","frozen":true}`).problem(http.StatusBadRequest)
}

func TestNotesAreCarriedFromOneServerToAnother(t *testing.T) {
	t.Parallel()
	from, to := newService(t), newService(t)
	annotator := from.token(bench.TokenAnnotator)
	for _, body := range []string{
		`{"system":"rocksdb","version":"8.6.7","scope":{"step":"overwriteandwait","server":null,"workload":null,"compiler":null,"config":null},"body":"**readahead** was 0","author":"Somebody"}`,
		`{"system":"rocksdb","version":"8.4.4","to_version":"8.7.3","body":"a range"}`, `{"system":"rocksdb","version":"8.0.0","body":"gone"}`,
	} {
		from.do(http.MethodPost, "/api/v1/notes", annotator, []byte(body)).want(http.StatusCreated)
	}
	var list struct{ Notes []noteAnswer }
	from.get("/api/v1/notes?version=8.0.0").want(http.StatusOK).decode(&list)
	from.do(http.MethodDelete, fmt.Sprintf("/api/v1/notes/%d", list.Notes[0].ID), annotator, nil).want(http.StatusNoContent)
	exported := from.get("/api/v1/notes?deleted=true").want(http.StatusOK).body

	post := func(token string, body []byte) *answer {
		return to.do(http.MethodPost, "/api/v1/notes/import", token, body)
	}
	post("", exported).problem(http.StatusUnauthorized)
	post(to.token(bench.TokenReader), exported).problem(http.StatusForbidden)
	there := to.token(bench.TokenAnnotator)
	var got struct {
		Notes        []noteAnswer
		AlreadyThere int `json:"already_there"`
		Deleted      int
	}
	post(there, exported).want(http.StatusOK).decode(&got)
	if len(got.Notes) != 2 || got.AlreadyThere != 0 || got.Deleted != 1 {
		t.Errorf("%+v", got)
	}
	post(there, exported).want(http.StatusOK).decode(&got)
	if len(got.Notes) != 0 || got.AlreadyThere != 2 {
		t.Errorf("again: %+v", got)
	}
	said := func(s *service) string {
		var list struct{ Notes []noteAnswer }
		s.get("/api/v1/notes").want(http.StatusOK).decode(&list)
		var out []string
		for _, n := range list.Notes {
			step := ""
			if n.Scope["step"] != nil {
				step = *n.Scope["step"]
			}
			out = append(out, strings.Join([]string{n.Version, fmt.Sprint(n.ToVersion != nil), step, n.Body, n.Author}, "|"))
		}
		return strings.Join(out, "; ")
	}
	if a, b := said(from), said(to); a != b || !strings.Contains(a, "8.6.7|false|overwriteandwait|**readahead** was 0|Somebody") {
		t.Errorf("%s; there %s", a, b)
	}
	var n noteAnswer
	to.get("/api/v1/notes").want(http.StatusOK).decode(&list)
	to.get(fmt.Sprintf("/api/v1/notes/%d", list.Notes[0].ID)).want(http.StatusOK).decode(&n)
	if n.History[0].Actor != "the annotator" {
		t.Errorf("who brought it in is kept: %+v", n.History)
	}
	// One that cannot be refuses all.
	post(there, []byte(`{"notes":[{"system":"rocksdb","version":"9.0.0","body":"new"},{"system":"rocksdb","version":"8.2","to_version":"8.1","body":"x"}]}`)).problem(http.StatusBadRequest)
	if got := said(to); strings.Contains(got, "9.0.0") {
		t.Errorf("a part was written: %s", got)
	}
	for _, body := range []string{`{}`, `{"notes":[]}`, `[]`, `{"notes":[{"system":"rocksdb","version":"8.0"}]}`} {
		post(there, []byte(body)).problem(http.StatusBadRequest)
	}
}
