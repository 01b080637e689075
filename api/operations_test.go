package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestOperationsAnswer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		a := s.get(path).want(http.StatusOK)
		if a.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: headers %v", path, a.header)
		}
		if a := s.do(http.MethodHead, path, "", nil).want(http.StatusOK); len(a.body) != 0 {
			t.Errorf("HEAD %s has a body", path)
		}
	}
	if a := s.get("/metrics").want(http.StatusOK); !strings.Contains(string(a.body), "test_requests_total 0") {
		t.Errorf("metrics: %s", a.body)
	}
}

func TestReadyMeansThatTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.pool.Close()
	a := s.get("/readyz").want(http.StatusServiceUnavailable)
	if text := string(a.body); text != "the database does not answer\n" {
		t.Errorf("body %q", text)
	}
	if !strings.Contains(s.log.String(), "not ready") {
		t.Errorf("the log says nothing: %s", s.log)
	}
	s.get("/healthz").want(http.StatusOK) // the process lives all the same
}

// openAPI is what the test looks at of an OpenAPI document.
type openAPI struct {
	OpenAPI string
	Info    struct{ Title, Version string }
	Paths   map[string]map[string]struct {
		OperationID string
		Summary     string
		Parameters  []struct {
			Name, In    string
			Description string
			Required    bool
		}
		RequestBody struct {
			Content map[string]json.RawMessage
		}
		Responses map[string]struct {
			Description string
			Content     map[string]struct {
				Schema json.RawMessage
			}
		}
		Security []map[string][]string
	}
	Components struct {
		Schemas         map[string]json.RawMessage
		SecuritySchemes map[string]struct{ Type, Scheme string }
	}
}

func TestOpenAPINamesEveryRoute(t *testing.T) {
	t.Parallel()
	s := newService(t)
	a := s.get("/api/openapi.json").want(http.StatusOK)
	var o openAPI
	a.decode(&o)
	if !strings.HasPrefix(o.OpenAPI, "3.") || o.Info.Title == "" || o.Info.Version != "1.2.3" {
		t.Errorf("openapi %q info %+v", o.OpenAPI, o.Info)
	}
	var documented []string
	ids := map[string]bool{}
	for path, methods := range o.Paths {
		for method, op := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Responses) == 0 {
				t.Errorf("%s %s: id %q, summary %q, %d responses", method, path, op.OperationID, op.Summary, len(op.Responses))
			}
			ids[op.OperationID] = true
			writes := method != "get"
			if writes != (len(op.Security) == 1) {
				t.Errorf("%s %s: security %v", method, path, op.Security)
			}
			for _, code := range []string{"401", "403"} {
				if _, ok := op.Responses[code]; ok != writes {
					t.Errorf("%s %s: response %s stated: %v", method, path, code, ok)
				}
			}
			if _, ok := op.Responses["422"]; ok {
				t.Errorf("%s %s: 422 is stated, 400 is what comes", method, path)
			}
			for code, r := range op.Responses {
				if code >= "400" && strings.HasPrefix(path, "/api/") && r.Content["application/problem+json"].Schema == nil {
					t.Errorf("%s %s: %s is no problem document", method, path, code)
				}
			}
		}
	}
	var routed []string
	err := chi.Walk(s.router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method != http.MethodHead && route != "/api/openapi.json" && route != "/api/docs" {
			routed = append(routed, method+" "+route)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(documented)
	sort.Strings(routed)
	if d := cmp.Diff(routed, documented); d != "" {
		t.Errorf("(-routed +documented):\n%s", d)
	}
	upload := o.Paths["/api/v1/uploads"]["post"]
	if upload.RequestBody.Content["application/octet-stream"] == nil || upload.Responses["201"].Content["application/json"].Schema == nil {
		t.Errorf("the upload is not described: %+v", upload)
	}
	var keys []string
	for _, p := range upload.Parameters {
		keys = append(keys, p.Name)
		if p.Required != (p.Name == "filename") {
			t.Errorf("%s required: %v", p.Name, p.Required)
		}
	}
	want := []string{"filename", "system", "suite", "server", "workload", "version", "versions", "compiler", "config", "clients", "dry_run"}
	if d := cmp.Diff(want, keys); d != "" {
		t.Errorf("keys of an upload (-want +got):\n%s", d)
	}
	if o.Components.SecuritySchemes["token"].Scheme != "bearer" {
		t.Errorf("security schemes %+v", o.Components.SecuritySchemes)
	}
}

// Every reference leads somewhere, and every schema says what it is.
func TestOpenAPIIsWholeInItself(t *testing.T) {
	t.Parallel()
	s := newService(t)
	document := s.get("/api/openapi.json").tree()
	var walk func(at string, v any)
	references := 0
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				references++
				target := document
				for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					m, _ := target.(map[string]any)
					target = m[step]
				}
				if !strings.HasPrefix(ref, "#/") || target == nil {
					t.Errorf("%s refers to %s, which is not there", at, ref)
				}
			}
			for key, x := range v {
				walk(at+"/"+key, x)
			}
		case []any:
			for _, x := range v {
				walk(at+"[]", x)
			}
		}
	}
	walk("", document)
	if references == 0 {
		t.Error("no references")
	}
	if strings.Contains(string(s.get("/api/openapi.json").body), "$schema") {
		t.Error("answers are said to have a $schema field")
	}
}

// The answers that the document describes are those that come.
func TestOpenAPIDescribesTheAnswers(t *testing.T) {
	t.Parallel()
	s, first := c2(t)
	mine := s.stored(url.Values{"filename": {"mine.ndjson"}}, oneLine(everything))
	s.patch(first.Runs[0].ID, s.token(bench.TokenAdmin), `{"config":"a0","reason":"it was told later"}`).want(http.StatusOK)
	d := detecting(t)
	var note noteAnswer
	created := d.do(http.MethodPost, "/api/v1/notes", d.token(bench.TokenAnnotator), []byte(`{"system":"rocksdb","version":"8.6.7","body":"x"}`))
	created.decode(&note)
	changed := fmt.Sprintf("/api/v1/changes/%d", d.changes("limit=1").Changes[0].ID)
	document := s.get("/api/openapi.json").tree().(map[string]any)
	paths := document["paths"].(map[string]any)
	for _, c := range []struct {
		path, method, code, kind string
		answer                   *answer
	}{
		{"/api/v1/series", "get", "200", "application/json", s.get("/api/v1/series?base=4.4.1&family=1")},
		{"/api/v1/series", "get", "200", "application/json", s.get("/api/v1/series?server=nobody")},
		{"/api/v1/series", "get", "400", "application/problem+json", s.get("/api/v1/series?sever=c2")},
		{"/api/v1/runs", "get", "200", "application/json", s.get("/api/v1/runs?limit=1")},
		{"/api/v1/runs/{id}", "get", "200", "application/json", s.get(fmt.Sprintf("/api/v1/runs/%d", mine.Runs[0].ID))},
		{"/api/v1/runs/{id}", "get", "200", "application/json", s.get(fmt.Sprintf("/api/v1/runs/%d", first.Runs[0].ID))},
		{"/api/v1/runs/{id}", "get", "404", "application/problem+json", s.get("/api/v1/runs/999")},
		{"/api/v1/uploads", "post", "201", "application/json", s.upload(on("c3", "cached", "gcc"), report(
			row{qps: "1", test: "readrandom.t8", date: "2023-10-02T11:00:00", version: "8.8.0", mb: "n.a."}))},
		{"/api/v1/changes", "get", "200", "application/json", d.get("/api/v1/changes")},
		{"/api/v1/changes/{id}", "get", "200", "application/json", d.get(changed)},
		{"/api/v1/changes/{id}", "patch", "200", "application/json", d.do(http.MethodPatch, changed, d.token(bench.TokenAnnotator), []byte(`{"comment":"seen"}`))},
		{"/api/v1/notes", "post", "201", "application/json", created},
		{"/api/v1/notes", "get", "200", "application/json", d.get("/api/v1/notes")},
		{"/api/v1/notes/{id}", "get", "200", "application/json", d.get(fmt.Sprintf("/api/v1/notes/%d", note.ID))},
		{"/api/v1/links", "post", "201", "application/json", d.do(http.MethodPost, "/api/v1/links", d.token(bench.TokenAnnotator), []byte(`{"url":"/charts"}`))},
		{"/api/v1/uploads", "post", "400", "application/problem+json", s.upload(on("c3", "cached", "gcc"), "no results")},
	} {
		if got := fmt.Sprint(c.answer.status); got != c.code {
			t.Errorf("%s %s: %s, want %s: %s", c.method, c.path, got, c.code, c.answer.body)
			continue
		}
		at := paths[c.path].(map[string]any)[c.method].(map[string]any)["responses"].(map[string]any)[c.code]
		schema := at.(map[string]any)["content"].(map[string]any)[c.kind].(map[string]any)["schema"]
		for _, wrong := range conforms(document, schema, c.answer.tree(), c.method+" "+c.path) {
			t.Error(wrong)
		}
	}
}

// conforms checks a value against a JSON schema, as far as ours go.
func conforms(document, schema, v any, at string) (wrong []string) {
	m, ok := schema.(map[string]any)
	if !ok {
		return []string{at + ": no schema"}
	}
	if ref, ok := m["$ref"].(string); ok {
		target := document
		for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			target = target.(map[string]any)[step]
		}
		return conforms(document, target, v, at)
	}
	if choices, ok := m["anyOf"].([]any); ok {
		for _, choice := range choices {
			if wrong = conforms(document, choice, v, at); len(wrong) == 0 {
				return nil
			}
		}
		return wrong
	}
	kind := map[string]bool{}
	switch k := m["type"].(type) {
	case string:
		kind[k] = true
	case []any:
		for _, x := range k {
			kind[x.(string)] = true
		}
	default:
		return nil // anything goes
	}
	is := "null"
	switch x := v.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case float64:
		is = "number"
		if kind["integer"] && x == math.Trunc(x) {
			is = "integer"
		}
	case []any:
		is = "array"
		for i, e := range x {
			wrong = append(wrong, conforms(document, m["items"], e, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		is = "object"
		properties, _ := m["properties"].(map[string]any)
		for key, e := range x {
			switch further, allowed := m["additionalProperties"].(map[string]any); {
			case properties[key] != nil:
				wrong = append(wrong, conforms(document, properties[key], e, at+"."+key)...)
			case allowed:
				wrong = append(wrong, conforms(document, further, e, at+"."+key)...)
			default:
				wrong = append(wrong, at+"."+key+" is not described")
			}
		}
		required, _ := m["required"].([]any)
		for _, key := range required {
			if _, ok := x[key.(string)]; !ok {
				wrong = append(wrong, fmt.Sprintf("%s.%s is required and missing", at, key))
			}
		}
	}
	if !kind[is] {
		wrong = append(wrong, fmt.Sprintf("%s is %s, described as %v", at, is, m["type"]))
	}
	if values, ok := m["enum"].([]any); ok && !slices.Contains(values, v) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, described as one of %v", at, v, values))
	}
	return wrong
}

func TestOpenAPIAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var wg sync.WaitGroup
	bodies := make([]string, 8)
	for i := range bodies {
		wg.Go(func() { bodies[i] = string(s.get("/api/openapi.json").body) })
	}
	wg.Wait()
	for _, b := range bodies {
		if b != bodies[0] || b == "" {
			t.Error("answers differ")
		}
	}
}

func TestDocsPageNeedsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	a := s.get("/api/docs").want(http.StatusOK)
	if !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("headers %v", a.header)
	}
	page, err := goquery.NewDocumentFromReader(strings.NewReader(string(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	if n := page.Find("script, link, img, iframe, style, object, embed, form, [style], [onload], [onclick]").Length(); n != 0 {
		t.Errorf("%d elements that load or run something", n)
	}
	page.Find("[href], [src]").Each(func(_ int, e *goquery.Selection) {
		for _, name := range []string{"href", "src"} {
			if v, ok := e.Attr(name); ok && !strings.HasPrefix(v, "/") {
				t.Errorf("%s=%q leads elsewhere", name, v)
			}
		}
	})
	if regexp.MustCompile(`(?i)https?://|//[a-z]`).Match(a.body) {
		t.Error("an address of elsewhere in the page")
	}
	text := page.Text()
	for _, want := range []string{"POST /api/v1/uploads", "GET /api/v1/series", "GET /api/v1/runs", "PATCH /api/v1/runs/{id}", "base_compiler", "GET /readyz", "application/problem+json"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not name %s", want)
		}
	}
}

func TestAddressesAndMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/api/v1", "/api/v1/", "/api/v2/series", "/api/v1/series/", "/api/v1/uploads/1/bytes", "/api/v1/%2e%2e/x", "/api/schemas/x.json", "/api/v1/<script>"} {
		p := s.get(path).problem(http.StatusNotFound)
		if !strings.Contains(p.Detail, "no such address") {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodGet, "/api/v1/uploads", "POST"}, {http.MethodDelete, "/api/v1/runs/1", "GET, PATCH"},
		{http.MethodPost, "/api/v1/series", "GET"}, {http.MethodPut, "/api/v1/uploads/1/file", "GET"}, {http.MethodPost, "/healthz", "GET, HEAD"},
		{http.MethodGet, "/api/v1/uploads/1/withdraw", "POST"}, {http.MethodPost, "/metrics", "GET"},
	} {
		a := s.do(c.method, c.path, "", nil)
		a.problem(http.StatusMethodNotAllowed)
		if got := a.header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got, c.allow)
		}
	}
}

func TestEveryAnswerSaysNotToGuess(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/healthz", "/metrics", "/api/docs", "/api/openapi.json", "/api/v1/series", "/api/v1/runs", "/api/v1/runs/1", "/api/v1/series?x=1", "/nowhere"} {
		if got := s.get(path).header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", path, got)
		}
	}
}
