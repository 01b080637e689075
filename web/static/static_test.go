package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/relqps/relqps/web/static"
)

var script = "'use strict';" + strings.Repeat("void 0;", 200)

func files(t *testing.T) *static.Files {
	t.Helper()
	f, err := static.New(fstest.MapFS{
		".gitkeep":             {},
		"manifest.json":        {Data: []byte(`{"page.js": "page-0123456789ab.js"}`)},
		"page-0123456789ab.js": {Data: []byte(script)},
		"LICENSE-echarts.txt":  {Data: []byte("text")},
	}, "/static/")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func get(t *testing.T, f *static.Files, path, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

func TestAddressesComeFromTheManifest(t *testing.T) {
	t.Parallel()
	f := files(t)
	if got := f.Address("page.js"); got != "/static/page-0123456789ab.js" {
		t.Errorf("%q", got)
	}
	if got := f.Address("style.css"); got != "" {
		t.Errorf("a file that is not in the bundle: %q", got)
	}
	empty, err := static.New(fstest.MapFS{".gitkeep": {}}, "/static/")
	if err != nil || empty.Address("page.js") != "" {
		t.Errorf("a folder without a bundle: %v", err)
	}
}

func TestHashedFilesAreKeptForGoodOthersAreNot(t *testing.T) {
	t.Parallel()
	f := files(t)
	if got := get(t, f, "/static/page-0123456789ab.js", "").Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("%q", got)
	}
	if got := get(t, f, "/static/LICENSE-echarts.txt", "").Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("%q", got)
	}
}

func TestCompressedOnlyForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	f := files(t)
	for encoding, compressed := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "identity": false, "*": false} {
		w := get(t, f, "/static/page-0123456789ab.js", encoding)
		body := io.Reader(w.Body)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != compressed {
			t.Errorf("%q: compressed %v", encoding, got)
			continue
		}
		if compressed {
			if w.Body.Len() >= len(script) {
				t.Errorf("%q: %d bytes", encoding, w.Body.Len())
			}
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(body); err != nil || b.String() != script {
			t.Errorf("%q: other bytes, %v", encoding, err)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") {
			t.Errorf("%q: %v", encoding, w.Header())
		}
	}
}

func TestNothingButTheBundleIsServed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/static/", "/static/manifest.json", "/static/.gitkeep", "/static/../static.go", "/static/page.js"} {
		if w := get(t, files(t), path, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}

func TestWhatIsEmbeddedIsABundleOrNone(t *testing.T) {
	t.Parallel()
	if _, err := static.New(static.Embedded(), "/static/"); err != nil {
		t.Error(err)
	}
}
