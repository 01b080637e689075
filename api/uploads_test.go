package api_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/api"
	"github.com/relqps/relqps/internal/bench"
)

func TestUploadAnswersWhatWasStored(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(
		row{qps: "1671040", test: "fillseq.wal_disabled.v400", date: "2023-10-24T20:25:49", version: "8.8.0"},
		row{qps: "233187", test: "readrandom.t8", date: "2023-10-24T21:01:00", version: "8.8.0"},
	)
	a := s.upload(on("c2", "byrx", "gcc"), text).want(http.StatusCreated)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	r := a.receipt()
	sum := sha256.Sum256([]byte(text))
	if r.Upload.ID == 0 || r.Upload.SHA256 != hex.EncodeToString(sum[:]) || r.Upload.Duplicate {
		t.Errorf("upload %+v", r.Upload)
	}
	if r.Format != "report.tsv" || r.Results != 2 || r.AlreadyThere != 0 || r.Merged != 0 || len(r.Runs) != 1 {
		t.Errorf("receipt %+v", r)
	}
	if want := fmt.Sprintf("/runs/%d", r.Runs[0].ID); r.Runs[0].URL != want {
		t.Errorf("url %q, want %q", r.Runs[0].URL, want)
	}
	// Each row has 23 fields that are figures.
	if r.Values != 46 {
		t.Errorf("%d values, want 46", r.Values)
	}
	// Every list is there, also where it is empty.
	for _, key := range []string{"refused", "checks", "warnings", "files", "runs"} {
		if _, ok := a.tree().(map[string]any)[key].([]any); !ok {
			t.Errorf("%s is no list in %s", key, a.body)
		}
	}
}

func TestUploadOfTheSameBytesIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	first := s.stored(on("c2", "cached", "gcc"), text)
	second := s.upload(on("c2", "cached", "gcc"), text).want(http.StatusOK).receipt()
	if !second.Upload.Duplicate || second.Upload.ID != first.Upload.ID || !cmp.Equal(second.Runs, first.Runs) {
		t.Errorf("second %+v, first %+v", second, first)
	}
	if second.Results != 0 || second.Values != 0 || second.AlreadyThere != 1 {
		t.Errorf("second stored something: %+v", second)
	}
	p := s.upload(on("c2", "iodir", "gcc"), text).problem(http.StatusConflict)
	if !strings.Contains(p.Detail, "cached") || !strings.Contains(p.Detail, "iodir") {
		t.Errorf("the conflict does not name both contexts: %s", p.Detail)
	}
	// Other bytes with the same row are the same measurement.
	again := s.stored(on("c2", "cached", "gcc"), text+"\n")
	if again.Results != 0 || again.AlreadyThere != 1 || again.Upload.ID == first.Upload.ID {
		t.Errorf("the same row in another file: %+v", again)
	}
}

func TestUploadWithoutPermission(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := []byte(report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"}))
	address := "/api/v1/uploads?" + on("c2", "cached", "gcc").Encode()
	for name, c := range map[string]struct {
		authorization string
		status        int
	}{
		"nothing":          {"", http.StatusUnauthorized},
		"no such token":    {"Bearer rq_0000", http.StatusUnauthorized},
		"empty token":      {"Bearer ", http.StatusUnauthorized},
		"another scheme":   {"Basic " + s.token(bench.TokenRunner), http.StatusUnauthorized},
		"the bare token":   {s.token(bench.TokenRunner), http.StatusUnauthorized},
		"not text":         {"Bearer \xff\xfe", http.StatusUnauthorized},
		"a reader's":       {"Bearer " + s.token(bench.TokenReader), http.StatusForbidden},
		"an annotator's":   {"Bearer " + s.token(bench.TokenAnnotator), http.StatusForbidden},
		"lower-case works": {"bearer " + s.token(bench.TokenAdmin), http.StatusCreated},
	} {
		req, err := http.NewRequest(http.MethodPost, s.url+address, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if c.authorization != "" {
			req.Header.Set("Authorization", c.authorization)
		}
		a := s.send(req)
		if a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.status, a.body)
			continue
		}
		if c.status == http.StatusCreated {
			continue
		}
		a.problem(c.status)
		if got := a.header.Get("WWW-Authenticate"); (got == "Bearer") != (c.status == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate %q", name, got)
		}
	}
	if err := s.store.RevokeToken(t.Context(), "the runner"); err != nil {
		t.Fatal(err)
	}
	s.upload(on("c2", "cached", "gcc"), "x").problem(http.StatusUnauthorized)
}

func TestUploadQueryIsCheckedBeforeAnythingIsRead(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	for name, c := range map[string]struct{ query, says string }{
		"unknown key":            {"filename=a.tsv&sever=c2", `"sever"`},
		"no name":                {"server=c2", "filename is missing"},
		"a name of steps up":     {"filename=..%2F..", "filename is missing"},
		"a key twice":            {"filename=a.tsv&server=c2&server=c3", "server is given 2 times"},
		"clients not a number":   {"filename=a.tsv&clients=many", "clients"},
		"no clients":             {"filename=a.tsv&clients=0", "clients"},
		"dry_run neither":        {"filename=a.tsv&dry_run=perhaps", "dry_run"},
		"half an escape":         {"filename=a.tsv&server=%zz", "cannot be read"},
		"a semicolon":            {"filename=a.tsv;server=c2", "cannot be read"},
		"NUL":                    {"filename=a%00.tsv", "filename holds control characters"},
		"a line end":             {"filename=a.tsv&server=c2%0Ax", "server holds control characters"},
		"an escape code":         {"filename=a.tsv&server=%1b%5b31m", "server holds control characters"},
		"invalid UTF-8":          {"filename=a%ff.tsv", "filename holds control characters or is not UTF-8"},
		"a key that is not text": {"filename=a.tsv&%ff=1", "unknown query key"},
		"a name of 10 kB":        {"filename=a.tsv&server=" + strings.Repeat("s", 10_001), "server is longer than 10000 bytes"},
		"a control character":    {"filename=a.tsv&server=a%01b", "server holds control characters"},
	} {
		a := s.do(http.MethodPost, "/api/v1/uploads?"+c.query, s.token(bench.TokenRunner), []byte(text))
		if p := a.problem(http.StatusBadRequest); !strings.Contains(p.Detail, c.says) {
			t.Errorf("%s: %q does not say %q", name, p.Detail, c.says)
		}
	}
	s.upload(on("c2", "cached", "gcc"), "").problem(http.StatusBadRequest)
	if n := s.count("upload"); n != 0 {
		t.Errorf("%d uploads stored", n)
	}
}

// count gives the number of rows of a table.
func (s *service) count(table string) int {
	s.t.Helper()
	var n int
	if err := s.pool.QueryRow(s.t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func TestUploadRefusedNamesThePlaces(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"}) +
		strings.Replace(row{qps: "101", test: "readrandom.t8", date: "2023-10-25T20:25:49", version: "8.8.0"}.String(), "400.0\t", "", 1) + "\n"
	p := s.upload(with(on("c2", "cached", "gcc"), "filename", "sum.byrx.4x.txt"), text).problem(http.StatusBadRequest)
	found := false
	for _, e := range p.Errors {
		found = found || e.Location == "sum.byrx.4x.txt:3" && e.Message != ""
	}
	if !found {
		t.Errorf("no error at sum.byrx.4x.txt:3: %+v", p)
	}
	if n := s.count("upload") + s.count("result") + s.count("server"); n != 0 {
		t.Errorf("%d rows were left behind", n)
	}
}

func TestUploadContextContradictsContent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	for name, c := range map[string]struct {
		query url.Values
		says  []string
	}{
		"version":            {with(on("c2", "cached", "gcc"), "version", "7.0.1"), []string{"7.0.1", "8.8.0"}},
		"folder of workload": {with(on("c2", "iodir", "gcc"), "filename", "bm.lc.nt8.d0/byrx/8.8.0.gcc/report.tsv"), nil},
		"folder of compiler": {with(on("c2", "cached", "clang"), "filename", "bm.lc.nt8.d0/8.8.0.gcc/report.tsv"), []string{"clang", "gcc"}},
		"folder of clients":  {with(on("c2", "cached", "gcc"), "filename", "bm.lc.nt8.d0/8.8.0.gcc/report.tsv", "clients", "16"), []string{"8", "16"}},
	} {
		a := s.upload(c.query, text)
		if a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", name, a.status, a.body)
			continue
		}
		p := a.problem(http.StatusBadRequest)
		all := fmt.Sprint(p)
		for _, says := range c.says {
			if !strings.Contains(all, says) {
				t.Errorf("%s: %s does not name %q", name, all, says)
			}
		}
	}
	// Without a server nothing is guessed.
	p := s.upload(url.Values{"filename": {"report.tsv"}, "workload": {"cached"}}, text).problem(http.StatusBadRequest)
	if !strings.Contains(fmt.Sprint(p), "server") {
		t.Errorf("%+v does not ask for the server", p)
	}
}

func TestUploadOfTheSameMeasurementElsewhereIsAConflict(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	s.stored(with(on("c2", "cached", "gcc"), "filename", "first.tsv"), text)
	p := s.upload(with(on("c2", "iodir", "gcc"), "filename", "second.tsv"), text+"\n").problem(http.StatusConflict)
	if all := fmt.Sprint(p); !strings.Contains(all, "second.tsv:2") || !strings.Contains(all, "first.tsv") {
		t.Errorf("the conflict does not name both places: %s", all)
	}
}

func TestUploadWithDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	text := report(
		row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"},
		row{qps: "200", test: "fwdrange.t8", date: "2023-10-24T20:55:49", version: "8.8.0"},
	)
	a := s.upload(with(on("c2", "cached", "gcc"), "dry_run", "true"), text).want(http.StatusOK)
	r := a.receipt()
	if r.Results != 2 || r.Upload.ID != 0 || len(r.Runs) != 0 || a.tree().(map[string]any)["dry_run"] != true {
		t.Errorf("dry run: %s", a.body)
	}
	if n := s.count("upload") + s.count("result") + s.count("run") + s.count("server"); n != 0 {
		t.Errorf("a dry run stored %d rows", n)
	}
	stored := s.stored(on("c2", "cached", "gcc"), text)
	if stored.Results != r.Results || stored.Values != r.Values {
		t.Errorf("stored %+v, announced %+v", stored, r)
	}
	// Now the same rows in another file are announced as known, with their run.
	r = s.upload(with(on("c2", "cached", "gcc"), "dry_run", "1"), text+"\n").want(http.StatusOK).receipt()
	if r.Results != 0 || r.AlreadyThere != 2 || len(r.Runs) != 1 || r.Runs[0].ID != stored.Runs[0].ID {
		t.Errorf("second dry run: %+v", r)
	}
	// A dry run is refused as the upload would be.
	s.upload(with(on("c2", "iodir", "gcc"), "dry_run", "true"), text).problem(http.StatusConflict)
}

func TestUploadBeyondTheLimits(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.MaxBody = 10_000 })
	p := s.upload(on("c2", "cached", "gcc"), strings.Repeat("x", 10_001)).problem(http.StatusRequestEntityTooLarge)
	if !strings.Contains(p.Detail, "10000 bytes") {
		t.Errorf("the limit is not named: %s", p.Detail)
	}
	// The same without a length in front.
	req, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/uploads?"+on("c2", "cached", "gcc").Encode(),
		struct{ *strings.Reader }{strings.NewReader(strings.Repeat("x", 10_001))})
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = -1
	req.Header.Set("Authorization", "Bearer "+s.token(bench.TokenRunner))
	s.send(req).problem(http.StatusRequestEntityTooLarge)

	// A body within the limit that unpacks to 32 MiB of nothing.
	var bomb bytes.Buffer
	w, err := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 32 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s = newService(t)
	s.upload(on("c2", "cached", "gcc"), bomb.String()).problem(http.StatusRequestEntityTooLarge)
	if n := s.count("upload"); n != 0 {
		t.Errorf("%d uploads stored", n)
	}
}

func TestUploadOfAnArchiveTellsEveryFile(t *testing.T) {
	t.Parallel()
	s := newService(t)
	good := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, text string }{
		{"c2/good.tsv", good}, {"c2/bad.tsv", reportHeader + "\n" + strings.Replace(row{qps: "1", test: "fwdrange.t8", date: "2023-10-25T20:25:49", version: "8.8.0"}.String(), "400.0\t", "", 1)}, {"c2/plot.png", "\x89PNG\r\n\x1a\n"},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	a := s.upload(with(on("c2", "cached", "gcc"), "filename", "results.tar.gz"), archive.String()).want(http.StatusCreated)
	var body struct {
		receipt
		Files []struct {
			Path, State, SHA256 string
			Size                int64
		}
	}
	a.decode(&body)
	states := map[string]string{}
	for _, f := range body.Files {
		states[f.Path] = f.State
		if len(f.SHA256) != 64 || f.Size == 0 {
			t.Errorf("file %+v", f)
		}
	}
	want := map[string]string{"c2/good.tsv": "taken", "c2/bad.tsv": "refused", "c2/plot.png": "attachment"}
	if d := cmp.Diff(want, states); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
	if len(body.Refused) != 1 || body.Refused[0].File != "c2/bad.tsv" || body.Refused[0].Line != 2 {
		t.Errorf("refused %+v", body.Refused)
	}
	// The bytes that come back are those that were sent.
	f := s.get(fmt.Sprintf("/api/v1/uploads/%d/file", body.Upload.ID)).want(http.StatusOK)
	if !bytes.Equal(f.body, archive.Bytes()) {
		t.Errorf("%d bytes came back, %d were sent", len(f.body), archive.Len())
	}
}

func TestUploadWarningsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := s.stored(on("c2", "cached", "gcc"), report(
		row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"},
		row{qps: "101", test: "readrandom.t8", date: "2023-10-25T20:25:49", version: "8.8.0", mb: "n.a."},
	))
	for _, w := range r.Warnings {
		if w.File == "report.tsv" && w.Line == 3 && w.Column == "mb_sec" && w.Message != "" {
			return
		}
	}
	t.Errorf("no warning about mb_sec in line 3: %+v", r.Warnings)
}

func TestFileComesBackAsItWas(t *testing.T) {
	t.Parallel()
	s := newService(t)
	rows := report(row{qps: "100", test: "readrandom.t8", date: "2023-10-24T20:25:49", version: "8.8.0"})
	for name, c := range map[string]struct{ filename, text, offered string }{
		"line ends and mark":   {"report.tsv", "\xef\xbb\xbf" + strings.ReplaceAll(rows, "\n", "\r\n"), "report.tsv"},
		"folders":              {"a/b/report.tsv", rows, "report.tsv"},
		"a name that is code":  {`<img src=x onerror=alert(1)>.html`, rows + "\n", `<img src=x onerror=alert(1)>.html`},
		"quotes":               {`a"b'c;d.tsv`, rows + "\n\n", `a"b'c;d.tsv`},
		"letters of elsewhere": {"Größe-大きさ.tsv", rows + "\n\n\n", "Größe-大きさ.tsv"},
		"right to left":        {"a\u202evst.tsv", rows + "\n\n\n\n", "a\u202evst.tsv"},
	} {
		server := "server of " + name // so that the same row may come again
		u := s.upload(with(on(server, "cached", "gcc"), "filename", c.filename), c.text).want(http.StatusCreated).receipt()
		a := s.get(fmt.Sprintf("/api/v1/uploads/%d/file", u.Upload.ID)).want(http.StatusOK)
		if string(a.body) != c.text {
			t.Errorf("%s: other bytes came back: %q", name, a.body)
		}
		if a.header.Get("Content-Type") != "application/octet-stream" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", name, a.header)
		}
		disposition, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
		if err != nil || disposition != "attachment" || params["filename"] != c.offered {
			t.Errorf("%s: Content-Disposition %q is %s %v (%v)", name, a.header.Get("Content-Disposition"), disposition, params, err)
		}
	}
	for _, id := range []string{"999999", "0", "-1", "x", "99999999999999999999", "1e3", "%00"} {
		s.get("/api/v1/uploads/" + id + "/file").problem(http.StatusNotFound)
	}
}
