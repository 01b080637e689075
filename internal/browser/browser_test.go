package browser_test

import (
	"bytes"
	"errors"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/browser"
	"github.com/relqps/relqps/internal/testdata"
)

func TestBrowserIsFoundByVariableThenByPath(t *testing.T) {
	dir := t.TempDir()
	own, onPath := filepath.Join(dir, "my-browser"), filepath.Join(dir, "chromium-browser")
	for _, path := range []string{own, onPath} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)

	t.Setenv(browser.EnvPath, "")
	if got, err := browser.Find(); err != nil || got != onPath {
		t.Errorf("Find = %q, %v, want %q", got, err, onPath)
	}
	t.Setenv(browser.EnvPath, own)
	if got, err := browser.Find(); err != nil || got != own {
		t.Errorf("Find = %q, %v, want %q", got, err, own)
	}
	t.Setenv(browser.EnvPath, filepath.Join(dir, "nowhere"))
	if got, err := browser.Find(); !errors.Is(err, browser.ErrNotFound) {
		t.Errorf("a named browser that is not there: %q, %v, want ErrNotFound rather than another browser", got, err)
	}
	t.Setenv(browser.EnvPath, "")
	t.Setenv("PATH", t.TempDir())
	if got, err := browser.Find(); !errors.Is(err, browser.ErrNotFound) {
		t.Errorf("no browser at all: %q, %v, want ErrNotFound", got, err)
	}
}

// A page under the product's own Content-Security-Policy: no inline code, no eval.
const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'"
	page   = `<!doctype html><title>page</title><p id="out">without script</p><script src="/page.js"></script>`
	script = `document.getElementById("out").textContent =
		(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light") + " " + innerWidth;`
)

func TestTabShowsPagesAsViewed(t *testing.T) {
	t.Parallel()
	if _, err := browser.Find(); err != nil {
		testdata.Missing(t, "%v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		switch r.URL.Path {
		case "/":
			_, _ = w.Write([]byte(page))
		case "/inline":
			_, _ = w.Write([]byte(`<!doctype html><title>inline</title><script>document.title = "ran"</script>`))
		case "/page.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(script))
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	chromium, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(chromium.Close)
	open := func(t *testing.T, view browser.View) *browser.Tab {
		t.Helper()
		tab, err := chromium.Open(t.Context(), view)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tab.Close)
		return tab
	}

	views := []struct {
		name string
		view browser.View
		want string
	}{
		{"light and wide", browser.View{Width: 1440, Height: 900}, "light 1440"},
		{"dark and narrow", browser.View{Width: 390, Height: 844, Dark: true}, "dark 390"},
		{"without script", browser.View{Width: 390, Height: 844, NoScript: true}, "without script"},
	}
	for _, test := range views {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, test.view)
			if err := tab.Go(server.URL); err != nil {
				t.Fatal(err)
			}
			if err := tab.Wait(`document.readyState === "complete"`, 10*time.Second); err != nil {
				t.Fatal(err)
			}
			var got string
			if err := tab.Eval(`document.getElementById("out").textContent`, &got); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("the page says %q, want %q", got, test.want)
			}
			if found := tab.ConsoleErrors(); len(found) > 0 {
				t.Errorf("a sound page has errors on its console: %q", found)
			}
			raw, err := tab.PNG()
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.DecodeConfig(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if picture.Width != test.view.Width || picture.Height != test.view.Height {
				t.Errorf("the picture is %d×%d, want the window's %d×%d", picture.Width, picture.Height, test.view.Width, test.view.Height)
			}
		})
	}

	t.Run("refused inline code is on the console", func(t *testing.T) {
		t.Parallel()
		tab := open(t, browser.View{Width: 800, Height: 600})
		if err := tab.Go(server.URL + "/inline"); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(10 * time.Second)
		for len(tab.ConsoleErrors()) == 0 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if found := strings.Join(tab.ConsoleErrors(), "\n"); !strings.Contains(found, "Content Security Policy") {
			t.Errorf("the console has %q, want the violated policy", found)
		}
	})

	t.Run("missing page is an error", func(t *testing.T) {
		t.Parallel()
		tab := open(t, browser.View{Width: 800, Height: 600})
		if err := tab.Go(server.URL + "/missing"); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("the error is %v, want one with the status", err)
		}
	})

	t.Run("condition that never holds ends", func(t *testing.T) {
		t.Parallel()
		tab := open(t, browser.View{Width: 800, Height: 600})
		if err := tab.Go(server.URL); err != nil {
			t.Fatal(err)
		}
		if err := tab.Wait("false", 50*time.Millisecond); err == nil {
			t.Error("no error")
		}
	})
}
