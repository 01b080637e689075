package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// hostile are names that mean something to a page, a spreadsheet, a terminal, a
// pattern or a query language, and nothing to us.
var hostile = map[string]string{
	"markup":            `<img src=x onerror=alert(1)>`,
	"end of script":     `</script><script>alert(1)</script>`,
	"end of comment":    `--><svg onload=alert(1)>`,
	"function marker":   `__f__alert(1)__f__`,
	"template":          `{{.}}${7*7}<%=1%>#{1}`,
	"formula":           `=1+1`,
	"command formula":   `+cmd|' /C calc'!A0`,
	"quotes":            `a"b'c` + "`d",
	"SQL":               `'; DROP TABLE run; --`,
	"pattern":           `%_\%*?[a-z]`,
	"steps up":          `../../etc/passwd`,
	"backslashes":       `C:\..\x`,
	"right to left":     "abc\u202egpj.exe\u2066",
	"invisible":         "a\u200bb\ufeffc",
	"combining":         "e\u0301",
	"beyond the plane":  "𝒽💥",
	"line separators":   "a\u2028b\u2029c",
	"a replacement":     "a\ufffdb",
	"nothing but space": "\u2003\u00a0x\u2003",
	"looks like null":   "null",
	"looks like number": "-1e999",
	"of 2,000 bytes":    strings.Repeat("s", 2000),
}

func TestHostileNamesAreText(t *testing.T) {
	t.Parallel()
	s := newService(t)
	runner, admin := s.token(bench.TokenRunner), s.token(bench.TokenAdmin)
	day := 0
	for kind, name := range hostile {
		day++
		// Everywhere in a query at once.
		q := url.Values{"filename": {"x/" + name}, "server": {name}, "workload": {name}, "compiler": {name}, "config": {name}}
		text := report(row{qps: fmt.Sprint(1000 + day), test: "readrandom.t8", date: fmt.Sprintf("2023-10-%02dT10:00:00", day), version: "8.0.0"})
		a := s.do(http.MethodPost, "/api/v1/uploads?"+q.Encode(), runner, []byte(text))
		if a.status >= 500 {
			t.Errorf("%s in the query: %d %s", kind, a.status, a.body)
			continue
		}
		if a.status == http.StatusBadRequest {
			a.problem(http.StatusBadRequest) // with words
			a.wantQuiet()
			continue
		}
		r := a.want(http.StatusCreated).receipt()
		stored := bench.Context{Server: name, Workload: name, Compiler: name, Config: name}.Normalized()
		l := s.series("server=" + url.QueryEscape(stored.Server)).only(t)
		if l.Server != stored.Server || l.Workload != stored.Workload || l.Compiler != stored.Compiler || l.Config != stored.Config {
			t.Errorf("%s: stored as %+v, want %+v", kind, l.Coordinate, stored)
		}
		if got := s.runs("workload=" + url.QueryEscape(name) + "&config=" + url.QueryEscape(stored.Config)); len(got.Runs) != 1 || got.Runs[0].Server != stored.Server {
			t.Errorf("%s: runs %+v", kind, got.Runs)
		}
		if f := s.get(fmt.Sprintf("/api/v1/uploads/%d/file", r.Upload.ID)).want(http.StatusOK); string(f.body) != text {
			t.Errorf("%s: other bytes", kind)
		}
		// As a correction with a reason.
		body, err := json.Marshal(map[string]string{"config": "x" + name, "reason": name})
		if err != nil {
			t.Fatal(err)
		}
		var h history
		c := s.patch(r.Runs[0].ID, admin, string(body))
		if c.status == http.StatusBadRequest { // longer than a field may be
			c.problem(http.StatusBadRequest)
			continue
		}
		c.want(http.StatusOK).decode(&h)
		if len(h.History) != 1 || h.History[0].Reason != name {
			t.Errorf("%s: history %+v", kind, h.History)
		}
	}
	// The answers with all of them are JSON that a page may embed, and CSV in
	// which no cell of text begins as a formula does.
	for _, address := range []string{"/api/v1/series?base=8.0.0", "/api/v1/runs"} {
		a := s.get(address).want(http.StatusOK)
		if bytes.ContainsAny(a.body, "<>") || bytes.Contains(a.body, []byte("\u2028")) {
			t.Errorf("%s holds markup as it is", address)
		}
	}
	a := s.get("/api/v1/series?format=csv").want(http.StatusOK)
	rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 15 {
		t.Errorf("%d rows: most names should have been taken", len(rows))
	}
	for _, r := range rows {
		for i, cell := range r {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !json.Valid([]byte(cell)) {
				t.Errorf("column %s: %q runs as a formula", rows[0][i], cell)
			}
		}
	}
}

func TestHostileNamesInsideAFileAreText(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for kind, name := range hostile {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(`{"relqps_export":1}
{"metric_set":{"id":1,"metrics":["qps"],"resolutions":[1],"names":[NAME]}}
{"run":{"system":"rocksdb","suite":NAME,"server":NAME,"workload":NAME,"config":NAME,"clients":2,"build":{"version":NAME,"compiler":NAME,"compiler_version":NAME,"flags":NAME,"git_hash":NAME,"command":NAME},"environment":{NAME:NAME},"options":{NAME:NAME},"results":[{"step":NAME,"started":"2026-11-30T13:30:11","primary":"qps","primary_text":NAME,"set":1,"values":[5],"command":NAME,"histograms":[{"operation":NAME,"unit":NAME,"bounds":[1],"counts":[1]}],"time_series":[{"name":NAME,"unit":NAME,"start_s":1,"step_s":1,"values":[1]}],"breakdowns":[{"key":NAME,"bucket":NAME,"samples":1,"unit":NAME,"value":1}],"warnings":[{"file":NAME,"line":1,"column":NAME,"message":NAME}]}]}}
`, "NAME", string(quoted))
		a := s.upload(url.Values{"filename": {"mine"}}, text)
		if a.status != http.StatusCreated {
			p := a.problem(http.StatusBadRequest)
			a.wantQuiet()
			if len(p.Errors) == 0 {
				t.Errorf("%s: refused without a place: %s", kind, a.body)
			}
			continue
		}
		r := a.receipt()
		d := s.get(fmt.Sprintf("/api/v1/runs/%d", r.Runs[0].ID)).want(http.StatusOK).tree().(map[string]any)
		if got := d["environment"].(map[string]any)[name]; got != name {
			t.Errorf("%s: environment %v", kind, d["environment"])
		}
		if got := d["build"].(map[string]any)["flags"]; got != name {
			t.Errorf("%s: flags %v", kind, got)
		}
		result := d["results"].([]any)[0].(map[string]any)
		if result["primary_text"] != name || result["command"] != name || result["warnings"].([]any)[0].(map[string]any)["message"] != name {
			t.Errorf("%s: result %v", kind, result)
		}
	}
}

// What a file of ours may say and must not be believed.
func TestImpossibleFiguresAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	good := oneLine(everything)
	s.upload(url.Values{"filename": {"mine"}, "dry_run": {"true"}}, good).want(http.StatusOK)
	number := 0
	impossible := map[string][2]string{
		"clients below 0":             {`"clients":2`, `"clients":-2`},
		"clients without end":         {`"clients":2`, `"clients":99999999999`},
		"threads below 0":             {`"threads":2`, `"threads":-1`},
		"threads without end":         {`"threads":2`, `"threads":99999999999`},
		"a number without end":        {`[1234,7,null]`, `[1e999,7,null]`},
		"a hash that is none":         {`"git_hash":"abc"`, `"git_hash":"abc","binary_sha256":"xyz"`},
		"bounds that fall":            {`"bounds":[1,2,4]`, `"bounds":[4,2,1]`},
		"bounds without counts":       {`"counts":[10,0,5]`, `"counts":[10,0]`},
		"counts below 0":              {`"counts":[10,0,5]`, `"counts":[10,-1,5]`},
		"time that stands still":      {`"step_s":1`, `"step_s":0`},
		"time that runs back":         {`"step_s":1`, `"step_s":-1`},
		"samples below 0":             {`"samples":100`, `"samples":-1`},
		"a resolution below 0":        {`"resolutions":[1,1,0.1]`, `"resolutions":[1,1,-0.1]`},
		"a metric twice":              {`"metrics":["qps","p99","rss_gb"]`, `"metrics":["qps","qps","rss_gb"]`},
		"a primary that is no metric": {`"primary":"qps"`, `"primary":"speed"`},
		"a date without end":          {`2026-11-30T13:40:11+01:00`, `2026-13-40T99:99:99`},
		"a zone without end":          {`2026-11-30T13:40:11+01:00`, `2026-11-30T13:40:11+99:00`},
		"NUL in a step":               {`"step":"fwdrange"`, `"step":"fwd\u0000range"`},
		"a state that is none":        {`"state":"failed"`, `"state":"flying"`},
	}
	odd := map[string][2]string{ // and yet nothing but names, or nothing at all
		"no bounds":           {`"bounds":[1,2,4],"counts":[10,0,5]`, `"bounds":[],"counts":[]`},
		"an id that is none":  {`"id":"0d6f2f0e-2f38-4c05-9ee3-6c1b3f6f2a11"`, `"id":"` + strings.Repeat("x", 5000) + `"`},
		"a step twice":        {`"step":"fwdrange"`, `"step":"readrandom"`},
		"the year 0":          {`2026-11-30T13:40:11+01:00`, `0000-01-01T00:00:00`},
		"NUL in a name":       {`"cpu":"a CPU"`, `"cpu\u0000":"a\u0000CPU"`},
		"a long step":         {`"step":"fwdrange"`, `"step":"` + strings.Repeat("s", 10_000) + `"`},
		"a long version":      {`"version":"7.8.3"`, `"version":"` + strings.Repeat("7.", 5000) + `1"`},
		"a long server":       {`"server":"here"`, `"server":"` + strings.Repeat("s", 10_000) + `"`},
		"a mark of direction": {`"server":"here"`, `"server":"he\u202ere"`},
		"half a character":    {`"cpu":"a CPU"`, `"cpu":"\ud800"`},
	}
	all := maps.Clone(impossible)
	maps.Copy(all, odd)
	for name, c := range all {
		text := strings.Replace(good, c[0], c[1], 1)
		if text == good {
			t.Fatalf("%s changes nothing", name)
		}
		number++ // each a run of its own
		text = strings.ReplaceAll(text, `"here"`, fmt.Sprintf(`"here %d"`, number))
		text = strings.ReplaceAll(text, "6c1b3f6f2a11", fmt.Sprintf("%012d", number))
		a := s.upload(url.Values{"filename": {"mine.ndjson"}}, text)
		a.wantQuiet()
		_, refuse := impossible[name]
		switch {
		case refuse && a.status == http.StatusBadRequest:
			if p := a.problem(a.status); len(p.Errors) != 1 || !regexp.MustCompile(`^mine\.ndjson:[23]$`).MatchString(p.Errors[0].Location) {
				t.Errorf("%s: no line is named: %s", name, a.body)
			}
		case !refuse && a.status == http.StatusCreated:
			s.get(fmt.Sprintf("/api/v1/runs/%d", a.receipt().Runs[0].ID)).want(http.StatusOK)
		default:
			t.Errorf("%s: %d %s\n%s", name, a.status, a.body, s.log)
		}
	}
	s.get("/api/v1/series").want(http.StatusOK)
}

// Bytes of every kind are refused with words, or kept as text; never more.
func TestHostileBytesNeverFailTheServer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	good := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	for name, text := range map[string]string{
		"NUL":                    "\x00",
		"NULs in a row":          strings.Replace(good, "readrandom.t8", "read\x00random.t8", 1),
		"NUL in a version":       strings.Replace(good, "8.8.0", "8.\x008.0", 1),
		"invalid UTF-8":          strings.Replace(good, "8.8.0", "8.\xff8.0", 1),
		"a surrogate":            strings.Replace(good, "8.8.0", "8.\xed\xa0\x808.0", 1),
		"an overlong slash":      strings.Replace(good, "readrandom.t8", "read\xc0\xafrandom", 1),
		"UTF-16 cut in half":     "\xff\xfeo",
		"one byte":               "x",
		"a line without end":     strings.Repeat("x", 1<<20),
		"columns without end":    strings.Repeat("\t", 1<<20) + "\n",
		"lines without end":      strings.Repeat("\n", 1<<20),
		"carriage returns":       strings.Repeat("\r", 1<<20),
		"numbers":                strings.Repeat("9", 400) + good,
		"a number without end":   strings.Replace(good, "100\t", strings.Repeat("9", 400)+"\t", 1),
		"not a number":           strings.Replace(good, "100\t", "NaN\t", 1),
		"infinite":               strings.Replace(good, "100\t", "-Inf\t", 1),
		"hexadecimal":            strings.Replace(good, "100\t", "0x1p-2\t", 1),
		"a step of markup":       strings.Replace(good, "readrandom.t8", hostile["end of script"], 1),
		"a step of 10 kB":        strings.Replace(good, "readrandom.t8", strings.Repeat("s", 10_000), 1),
		"a version of 10 kB":     strings.Replace(good, "8.8.0", strings.Repeat("8.", 5000)+"0", 1),
		"a deep JSON":            `{"relqps_export":1}` + "\n" + strings.Repeat("[", 100_000),
		"a broken gzip":          "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x00",
		"a broken zip":           "PK\x03\x04" + strings.Repeat("\xff", 100),
		"a zip end alone":        "PK\x05\x06" + strings.Repeat("\xff", 18),
		"a tar of noise":         strings.Repeat("a", 257) + "ustar\x0000" + strings.Repeat("7", 2048),
		"an export of nothing":   `{"relqps_export":1}`,
		"an export of tomorrow":  `{"relqps_export":99}`,
		"an export of the wrong": `{"relqps_export":1}` + "\n" + `{"run":[]}`,
	} {
		a := s.upload(with(on("server of "+name, "cached", "gcc"), "filename", "odd"), text)
		a.wantQuiet()
		if a.status == http.StatusCreated {
			s.get(fmt.Sprintf("/api/v1/runs?upload=%d", a.receipt().Upload.ID)).want(http.StatusOK)
			continue
		}
		if a.status >= 500 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
			continue
		}
		a.problem(a.status)
	}
	if log := s.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("log: %s", log)
	}
	s.get("/api/v1/series").want(http.StatusOK)
	s.get("/api/v1/series?format=csv").want(http.StatusOK)
}

func TestHostileQueriesNeverFailTheServer(t *testing.T) {
	t.Parallel()
	s, r := c2(t)
	odd := []string{"%00", "%ff", "%c0%af", "%ed%a0%80", "%e2%80%ae", "%zz", "%", ";", "a%0d%0aSet-Cookie:%20x=1", "%3Cscript%3E", "%27%3B--", "-1", "1e999",
		"9223372036854775807", "-9223372036854775808", "99999999999999999999", strings.Repeat("x", 10_000), "%25", "+", "", "NaN", "infinity", "-infinity", "9223372036854775807.1", "-9223372036854775807.1", "-9223372036854775808.1"}
	for _, address := range []string{
		"/api/v1/series?system=", "/api/v1/series?server=", "/api/v1/series?clients=", "/api/v1/series?metric=", "/api/v1/series?base=", "/api/v1/series?base_compiler=",
		"/api/v1/series?base_config=", "/api/v1/series?from=", "/api/v1/series?to=", "/api/v1/series?family=", "/api/v1/series?format=", "/api/v1/series?base=4.4.1&format=csv&step=", "/api/v1/series?",
		"/api/v1/runs?cursor=", "/api/v1/runs?limit=", "/api/v1/runs?upload=", "/api/v1/runs?version=", "/api/v1/runs?state=", "/api/v1/runs/",
		fmt.Sprintf("/api/v1/runs/%d?", r.Runs[0].ID), "/api/v1/uploads/", "/api/docs?", "/api/openapi.json?", "/healthz?",
		"/api/v1/seconds?step=x&run=", "/api/v1/seconds?run=1&step=", "/api/v1/seconds?run=1&step=x&from=", "/api/v1/seconds?run=1&step=x&to=", "/api/v1/seconds?run=1&step=x&points=", "/api/v1/seconds?run=1&step=x&name=",
	} {
		for _, value := range odd {
			req, err := http.NewRequest(http.MethodGet, s.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			// As it would be typed: what is not valid is not escaped on the way.
			path, query, _ := strings.Cut(address+value, "?")
			req.URL.RawQuery = query
			if req.URL.Path, err = url.PathUnescape(path); err != nil {
				continue // cannot be an address at all
			}
			a := s.send(req)
			if a.status >= 500 {
				t.Errorf("%s%.40s: %d %s", address, value, a.status, a.body)
			}
			if a.status >= 400 {
				a.problem(a.status)
			}
			a.wantQuiet()
			if a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s%s sets a header", address, value)
			}
		}
	}
	if log := s.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("log: %s", log)
	}
}
