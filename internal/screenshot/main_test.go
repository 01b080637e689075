package main

import (
	"bytes"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/browser"
	"github.com/relqps/relqps/internal/testdata"
)

func TestFileNameTellsPathAndView(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		view browser.View
		want string
	}{
		{"/", browser.View{Width: 1440}, "home.light.1440.png"},
		{"/charts", browser.View{Width: 390, Dark: true}, "charts.dark.390.png"},
		{"/charts?workload=iodir&step=fillseq", browser.View{Width: 390}, "charts_workload-iodir_step-fillseq.light.390.png"},
		{"/versions/rocksdb/8.6.7", browser.View{Width: 800, NoScript: true}, "versions-rocksdb-8.6.7.light.noscript.800.png"},
		{"/../../etc/passwd", browser.View{Width: 800}, "..-..-etc-passwd.light.800.png"},
		{"/" + strings.Repeat("x", 400), browser.View{Width: 800}, strings.Repeat("x", 150) + ".light.800.png"},
	}
	for _, test := range tests {
		if got := fileName(test.path, test.view); got != test.want {
			t.Errorf("fileName(%q) = %q, want %q", test.path, got, test.want)
		}
	}
}

func TestViewsAreEveryWidthInEveryScheme(t *testing.T) {
	t.Parallel()
	got, err := parseViews("1440, 390", "light,dark", false)
	if err != nil {
		t.Fatal(err)
	}
	want := []browser.View{
		{Width: 1440, Height: 900}, {Width: 1440, Height: 900, Dark: true},
		{Width: 390, Height: 900}, {Width: 390, Height: 900, Dark: true},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d views, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("view %d = %+v, want %+v", i, got[i], want[i])
		}
	}
	for _, bad := range [][2]string{{"wide", "light"}, {"100", "light"}, {"", "light"}, {"390", "sepia"}, {"390", ""}} {
		if _, err := parseViews(bad[0], bad[1], false); err == nil {
			t.Errorf("parseViews(%q, %q) is accepted", bad[0], bad[1])
		}
	}
}

func TestReadyLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"relqps: listening on http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"relqps: sign in at http://127.0.0.1:8080/sign-in?token=x", ""},
		{"relqps: listening on ", ""},
		{"", ""},
	}
	for _, test := range tests {
		got, ok := readyURL(test.line)
		if ok != (test.want != "") || ok && got != test.want {
			t.Errorf("readyURL(%q) = %q, %v, want %q", test.line, got, ok, test.want)
		}
	}
}

// calm is a page taller than the window that follows the colour scheme and draws its chart only when that is seen.
const calm = `<!doctype html><title>calm</title>
<style>:root{color-scheme:light dark} html{background:#fff} body{margin:0;height:2000px}
@media (prefers-color-scheme: dark){html{background:#102030}}</style>
<div style="margin-top:1800px;height:100px" data-chart="x"></div>
<script>new IntersectionObserver((entries) => { for (const entry of entries) if (entry.isIntersecting && !entry.target.firstChild)
entry.target.append(document.createElement("canvas")) }).observe(document.querySelector("[data-chart]"))</script>`

func TestPicturesShowWholePagesInBothSchemes(t *testing.T) {
	t.Parallel()
	if _, err := browser.Find(); err != nil {
		testdata.Missing(t, "%v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/calm":
			_, _ = w.Write([]byte(calm))
		case "/wide":
			_, _ = w.Write([]byte(`<!doctype html><title>wide</title><body style="margin:0"><div style="width:900px">wide</div>`))
		case "/broken":
			_, _ = w.Write([]byte(`<!doctype html><title>broken</title><script>nobody.home()</script>`))
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)

	t.Run("calm", func(t *testing.T) {
		t.Parallel()
		out := t.TempDir()
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), []string{"-url", server.URL, "-out", out, "-widths", "390", "/calm"}, &stdout, &stderr); err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		for name, want := range map[string]color.Color{
			"calm.light.390.png": color.RGBA{0xff, 0xff, 0xff, 0xff},
			"calm.dark.390.png":  color.RGBA{0x10, 0x20, 0x30, 0xff},
		} {
			file, err := os.Open(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(file)
			_ = file.Close()
			if err != nil {
				t.Fatal(err)
			}
			if size := picture.Bounds().Size(); size.X != 390 || size.Y < 2000 {
				t.Errorf("%s is %v, want 390 wide and at least 2000 high", name, size)
			}
			got := color.RGBAModel.Convert(picture.At(5, 5))
			if got != want {
				t.Errorf("%s: the background is %v, want %v", name, got, want)
			}
		}
	})

	for path, want := range map[string]string{
		"/wide":    "900 px wide in a window of 390 px",
		"/broken":  "nobody is not defined",
		"/missing": "status 404",
	} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), []string{"-url", server.URL, "-out", t.TempDir(), "-widths", "390", "-schemes", "light", path}, &stdout, &stderr)
			if err == nil {
				t.Errorf("%s is not reported as a failure", path)
			}
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("findings are %q, want one with %q", stderr.String(), want)
			}
		})
	}
}

func TestDemoThatDoesNotStartIsReportedWithItsLog(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "relqps")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1: no database here\" >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	_, err := startDemo(t.Context(), script, &stderr)
	if err == nil || !strings.Contains(err.Error(), "demo: no database here") {
		t.Errorf("the error is %v, want the program's own words in it", err)
	}
}
