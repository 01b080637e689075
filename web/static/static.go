// Package static holds the bundled page script and style sheet and serves them.
//
// The files under dist are built from web/assets and are not committed. Their
// names carry a hash of their content, so that they may be cached for good;
// manifest.json maps plain names to them. Without a bundle there is no manifest:
// pages then do without script and style and stay readable.
package static

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

//go:embed all:dist
var dist embed.FS

// Embedded gives the files that were bundled when the program was built.
func Embedded() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // only for a malformed path
	}
	return sub
}

// Files serves the files of a bundle.
type Files struct {
	prefix   string
	manifest map[string]string
	files    map[string]*file
}

type file struct {
	plain      []byte
	kind       string // Content-Type
	hashed     bool
	compressed func() []byte // made at the first request
}

// hashedRe is a name that build.mjs gave: page-0123456789ab.js.
var hashedRe = regexp.MustCompile(`-[0-9a-f]{12}\.[a-z]+$`)

// New reads a bundle. prefix is the address under which it is served, with a
// slash at both ends. A bundle without a manifest is empty, not an error; a
// manifest that names a missing file is one.
func New(bundle fs.FS, prefix string) (*Files, error) {
	f := &Files{prefix: prefix, manifest: map[string]string{}, files: map[string]*file{}}
	raw, err := fs.ReadFile(bundle, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if err := json.Unmarshal(raw, &f.manifest); err != nil {
		return nil, fmt.Errorf("bundle: manifest.json: %w", err)
	}
	entries, err := fs.ReadDir(bundle, ".")
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "manifest.json" {
			continue
		}
		plain, err := fs.ReadFile(bundle, e.Name())
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
		kind := mime.TypeByExtension(path.Ext(e.Name()))
		if kind == "" {
			kind = "application/octet-stream"
		}
		f.files[e.Name()] = &file{
			plain: plain, kind: kind, hashed: hashedRe.MatchString(e.Name()),
			compressed: sync.OnceValue(func() []byte { return compress(plain) }),
		}
	}
	for name, target := range f.manifest {
		if f.files[target] == nil {
			return nil, fmt.Errorf("bundle: the manifest names %s for %s, which is not there", target, name)
		}
	}
	return f, nil
}

// Address gives the address of a file by its plain name (page.js), "" when there
// is no bundle.
func (f *Files) Address(name string) string {
	target, ok := f.manifest[name]
	if !ok {
		return ""
	}
	return f.prefix + target
}

// Has reports whether the bundle holds a file under this very name.
func (f *Files) Has(name string) bool { return f.files[name] != nil }

// ServeHTTP serves a file of the bundle, gzipped for clients that take it. Files
// with a hash in their name may be kept for good.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := f.files[strings.TrimPrefix(r.URL.Path, f.prefix)]
	if at == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", at.kind)
	h.Set("Vary", "Accept-Encoding")
	if at.hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	body := at.plain
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		if c := at.compressed(); len(c) < len(body) {
			h.Set("Content-Encoding", "gzip")
			body = c
		}
	}
	// No modification time: the name changes with the content.
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reports whether an Accept-Encoding header allows gzip.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}

func compress(plain []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // only for an unknown level
	}
	if _, err := w.Write(plain); err != nil {
		panic(err) // a buffer takes all
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}
