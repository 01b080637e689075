// Package browser starts a headless Chromium for looking at pages as a person would see them: for screenshots and for
// the tests that need a real browser. The product itself never imports it.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// EnvPath is the environment variable that names the browser to use, as a path or a command name.
const EnvPath = "RELQPS_CHROMIUM"

// ErrNotFound says that no Chromium or Chrome is installed.
var ErrNotFound = errors.New("no Chromium found: install it (Debian: apt-get install chromium) or set " + EnvPath)

// commands are the names under which distributions install Chromium and Chrome.
var commands = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Find returns the path of the browser: what RELQPS_CHROMIUM names, else the first known command on PATH. The error
// wraps ErrNotFound.
func Find() (string, error) {
	if name := os.Getenv(EnvPath); name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%w: %s=%s: %w", ErrNotFound, EnvPath, name, err)
		}
		return path, nil
	}
	for _, name := range commands {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNotFound
}

// Browser is a running headless Chromium with an empty profile of its own. It must be closed.
type Browser struct {
	ctx   context.Context
	close func()
}

// Start starts a browser. It ends with Close or with ctx.
//
// It talks to nothing but the pages it is sent to: background traffic, updates, sync and QUIC are off. As root it runs
// without Chromium's sandbox, which refuses root; so only pages of one's own should be opened.
func Start(ctx context.Context) (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	// A killed browser leaves its temporary files behind: they get a folder that goes with the browser.
	temporary, err := os.MkdirTemp("", "relqps-browser-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Env("TMPDIR="+temporary),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		// The same picture on every machine: no subpixel colours, no bars that depend on the desktop.
		chromedp.Flag("disable-lcd-text", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("font-render-hinting", "none"),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.Flag("no-sandbox", true))
	}
	allocated, closeAllocator := chromedp.NewExecAllocator(ctx, options...)
	root, closeRoot := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {
		// Protocol chatter of a browser newer than the library; failures come back as errors of the actions.
	}))
	closeAll := sync.OnceFunc(func() {
		closeRoot()
		closeAllocator() // waits for the end of the process
		_ = os.RemoveAll(temporary)
	})
	if err := chromedp.Do(root); err != nil {
		closeAll()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &Browser{ctx: root, close: closeAll}, nil
}

// Close ends the browser and removes its profile and temporary files. Closing twice is fine.
func (b *Browser) Close() { b.close() }

// Tab is one page of a browser. It must be closed. Its methods must not be called at the same time.
type Tab struct {
	ctx   context.Context
	close func()

	mu      sync.Mutex
	console []string
}

// View is how a page is looked at.
type View struct {
	// Width and Height of the window in CSS pixels.
	Width, Height int
	// Dark asks for the page's dark colours (prefers-color-scheme).
	Dark bool
	// NoScript switches JavaScript off.
	NoScript bool
}

// Open opens a tab with the given view. It ends with Close, with ctx or with the browser.
func (b *Browser) Open(ctx context.Context, view View) (*Tab, error) {
	tabCtx, closeTab := chromedp.NewContext(b.ctx)
	stop := context.AfterFunc(ctx, closeTab)
	t := &Tab{ctx: tabCtx, close: sync.OnceFunc(func() { stop(); closeTab() })}

	scheme := "light"
	if view.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	err := chromedp.Do(tabCtx, chromedp.EmulateViewport(int64(view.Width), int64(view.Height)))
	if err == nil {
		_, err = chromedp.Call(tabCtx, emulation.SetEmulatedMedia, media)
	}
	if err == nil && view.NoScript {
		_, err = chromedp.Call(tabCtx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	messages := chromedp.Console(tabCtx)
	go func() {
		for message, err := range messages {
			if err != nil {
				return // the tab was closed
			}
			if message.Type == chromedp.ConsoleError || message.Type == chromedp.ConsoleException {
				t.mu.Lock()
				t.console = append(t.console, message.String())
				t.mu.Unlock()
			}
		}
	}()
	return t, nil
}

// Close closes the tab. Closing twice is fine.
func (t *Tab) Close() { t.close() }

// Context is the chromedp context of the tab, for actions that Tab does not offer.
func (t *Tab) Context() context.Context { return t.ctx }

// Go loads an address and waits until it is complete. A status of 400 or more is an error.
func (t *Tab) Go(url string) error {
	response, err := chromedp.Run(t.ctx, chromedp.NavigateResponse(url))
	if err != nil {
		return fmt.Errorf("load %s: %w", url, err)
	}
	if response != nil && response.Status >= 400 {
		return fmt.Errorf("load %s: status %d", url, response.Status)
	}
	return nil
}

// Wait evaluates a JavaScript condition until it is true, at most for limit. It works under a Content-Security-Policy
// without 'unsafe-eval'.
func (t *Tab) Wait(condition string, limit time.Duration) error {
	deadline := time.Now().Add(limit)
	for {
		met, err := chromedp.Run(t.ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
		if err != nil {
			return fmt.Errorf("evaluate %s: %w", condition, err)
		}
		if met {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not true within %s: %s", limit, condition)
		}
		select {
		case <-t.ctx.Done():
			return t.ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// Eval evaluates a JavaScript expression in the page and decodes its JSON form into result, a pointer.
func (t *Tab) Eval(expression string, result any) error {
	raw, err := chromedp.Run(t.ctx, chromedp.Evaluate[[]byte](expression))
	if err != nil {
		return fmt.Errorf("evaluate %s: %w", expression, err)
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("result of %s: %w", expression, err)
	}
	return nil
}

// Resize changes the size of the window, in CSS pixels.
func (t *Tab) Resize(width, height int) error {
	if err := chromedp.Do(t.ctx, chromedp.EmulateViewport(int64(width), int64(height))); err != nil {
		return fmt.Errorf("resize to %d×%d: %w", width, height, err)
	}
	return nil
}

// PNG takes a picture of what the window shows.
func (t *Tab) PNG() ([]byte, error) {
	picture, err := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return nil, fmt.Errorf("take a picture: %w", err)
	}
	return picture, nil
}

// ConsoleErrors returns the errors and uncaught exceptions that the page wrote to the console so far: script errors,
// refused resources, violations of the Content-Security-Policy.
func (t *Tab) ConsoleErrors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.console...)
}
