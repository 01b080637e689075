// Command screenshot photographs pages of relqps, wide and narrow, light and dark.
//
//	go run ./internal/screenshot [flags] [PATH...]
//
// It starts the demo (./relqps demo) on a free port with a data directory of its own, which it removes afterwards, or
// looks at a server that is running already (-url). Each picture shows the whole page; a page is photographed when its
// charts are drawn. What looks wrong without a person looking is printed: a page wider than its window, and everything
// the page wrote to the console as an error. Such a finding, or a page that cannot be loaded, makes the exit status 1;
// the pictures are taken all the same.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/relqps/relqps/internal/browser"
)

// pages are photographed when no path is named.
var pages = []string{
	"/", "/report/rocksdb", "/charts", "/charts?step=overwriteandwait", "/changes", "/changes/1", "/compilers", "/configs", "/configs/myrocks/a6?base=a0", "/versions/rocksdb/8.6.7", "/notes", "/notes/new", "/sign-in",
	"/sweeps", "/compare?system=rocksdb&server=c2&workload=cached&a.version=8.6.7&b.version=8.8.0", "/runs", "/runs/1", "/steps?system=myrocks&server=bee&workload=io&step=l.i1", "/upload",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "screenshot:", err)
		}
		os.Exit(1)
	}
}

// run is the program: arguments in, pictures into the folder, one line per picture on stdout, findings on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("screenshot", flag.ContinueOnError)
	flags.SetOutput(stderr)
	binary := flags.String("binary", "./relqps", "the relqps to start")
	address := flags.String("url", "", "a running server to look at, instead of starting a demo")
	out := flags.String("out", "screenshots", "folder for the pictures")
	widths := flags.String("widths", "1440,390", "widths of the window, in CSS pixels")
	schemes := flags.String("schemes", "light,dark", "colour schemes")
	noScript := flags.Bool("no-script", false, "switch JavaScript off")
	if err := flags.Parse(args); err != nil {
		return err
	}
	views, err := parseViews(*widths, *schemes, *noScript)
	if err != nil {
		return err
	}
	paths := flags.Args()
	if len(paths) == 0 {
		paths = pages
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}

	if *address == "" {
		server, err := startDemo(ctx, *binary, stderr)
		if err != nil {
			return err
		}
		defer server.stop()
		*address = server.url
	}

	chromium, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer chromium.Close()

	findings := 0
	for _, path := range paths {
		for _, view := range views {
			file := filepath.Join(*out, fileName(path, view))
			found, err := shoot(ctx, chromium, strings.TrimSuffix(*address, "/")+path, view, file)
			if err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found = append(found, err.Error())
			} else if _, err := fmt.Fprintln(stdout, file); err != nil {
				return err
			}
			for _, finding := range found {
				findings++
				if _, err := fmt.Fprintf(stderr, "%s: %s\n", file, finding); err != nil {
					return err
				}
			}
		}
	}
	if findings > 0 {
		return fmt.Errorf("%d findings, listed above", findings)
	}
	return nil
}

// parseViews combines every width with every colour scheme.
func parseViews(widths, schemes string, noScript bool) ([]browser.View, error) {
	var views []browser.View
	for width := range strings.SplitSeq(widths, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(width))
		if err != nil || n < 200 || n > 8000 {
			return nil, fmt.Errorf("-widths: %q is not a number from 200 to 8000", width)
		}
		for scheme := range strings.SplitSeq(schemes, ",") {
			view := browser.View{Width: n, Height: windowHeight, NoScript: noScript}
			switch strings.TrimSpace(scheme) {
			case "light":
			case "dark":
				view.Dark = true
			default:
				return nil, fmt.Errorf("-schemes: %q is neither light nor dark", scheme)
			}
			views = append(views, view)
		}
	}
	return views, nil
}

// fileName makes a readable file name of a path with its query and a view: /charts?workload=iodir at 390 pixels in the
// dark is charts_workload-iodir.dark.390.png.
func fileName(path string, view browser.View) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		case r == '?', r == '&':
			return '_'
		default:
			return '-'
		}
	}, strings.Trim(path, "/"))
	if name == "" {
		name = "home"
	}
	const longest = 150 // file systems allow 255 bytes
	if len(name) > longest {
		name = name[:longest]
	}
	scheme := "light"
	if view.Dark {
		scheme = "dark"
	}
	if view.NoScript {
		scheme += ".noscript"
	}
	return fmt.Sprintf("%s.%s.%d.png", name, scheme, view.Width)
}

const (
	// windowHeight is the height of the window before it is stretched to the page's.
	windowHeight = 900
	// tallest is the height at which a picture ends: Chromium's limit for one texture.
	tallest = 16384
	// drawLimit is how long a page may take to draw its charts.
	drawLimit = 20 * time.Second
)

// chartsDrawn is true in a page when each chart holds something drawn.
const chartsDrawn = `document.readyState === "complete" && document.fonts.status === "loaded" &&
	[...document.querySelectorAll("[data-chart]")].every(e => e.querySelector("canvas, svg"))`

// shoot takes one picture. It returns what looks wrong about the page; an error means that there is no picture.
func shoot(ctx context.Context, chromium *browser.Browser, url string, view browser.View, file string) (findings []string, err error) {
	tab, err := chromium.Open(ctx, view)
	if err != nil {
		return nil, err
	}
	defer tab.Close()
	if err := tab.Go(url); err != nil {
		return nil, err
	}
	// The window gets as tall as the page, so that charts drawn only when seen are drawn; drawing may change the height.
	var size struct{ Width, Height int }
	for range 2 {
		if err := tab.Eval(`({Width: document.documentElement.scrollWidth, Height: document.documentElement.scrollHeight})`, &size); err != nil {
			return nil, err
		}
		if err := tab.Resize(view.Width, min(max(size.Height, windowHeight), tallest)); err != nil {
			return nil, err
		}
		if !view.NoScript {
			if err := tab.Wait(chartsDrawn, drawLimit); err != nil {
				findings = append(findings, fmt.Sprintf("charts not drawn within %s", drawLimit))
				break
			}
		}
	}
	if size.Width > view.Width {
		findings = append(findings, fmt.Sprintf("the page is %d px wide in a window of %d px", size.Width, view.Width))
	}
	picture, err := tab.PNG()
	if err != nil {
		return nil, err
	}
	return append(findings, tab.ConsoleErrors()...), os.WriteFile(file, picture, 0o644)
}

// demo is a running `relqps demo`.
type demo struct {
	url  string
	stop func()
}

// startLimit is how long a demo may take to print its ready line: it creates a database and loads the sample data.
const startLimit = 3 * time.Minute

// startDemo starts a demo on a free port with an empty data directory and waits for its ready line. What the program
// logs goes to stderr only when it fails. Its stop ends the program, and with it the database, and removes the data.
func startDemo(ctx context.Context, binary string, stderr io.Writer) (*demo, error) {
	path, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "relqps-screenshot-")
	if err != nil {
		return nil, err
	}
	removeDir := func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(stderr, "screenshot: remove the data directory:", err)
		}
	}
	// A database that root starts runs as another user, who must be able to reach its folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		removeDir()
		return nil, err
	}

	var log strings.Builder
	command := exec.Command(path, "demo", "--addr", addr, "--data-dir", filepath.Join(dir, "data"))
	command.Stderr = &log
	ready, err := command.StdoutPipe()
	if err != nil {
		removeDir()
		return nil, err
	}
	if err := command.Start(); err != nil {
		removeDir()
		return nil, fmt.Errorf("%w (build it with `make build`)", err)
	}

	lines := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(ready)
		for scanner.Scan() {
			if url, ok := readyURL(scanner.Text()); ok {
				select {
				case lines <- url:
				default:
				}
			}
		}
		ended <- command.Wait() // only after the pipe was read to its end
	}()
	stop := func() {
		defer removeDir()
		_ = command.Process.Signal(syscall.SIGTERM) // fails only when it has ended
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = command.Process.Kill()
			<-ended
		}
	}

	select {
	case url := <-lines:
		return &demo{url: url, stop: stop}, nil
	case <-ended:
		removeDir()
		return nil, fmt.Errorf("%s demo ended before it was ready (%v)\n%s", binary, command.ProcessState, log.String())
	case <-time.After(startLimit):
		stop()
		return nil, fmt.Errorf("%s demo printed no ready line within %s\n%s", binary, startLimit, log.String())
	case <-ctx.Done():
		stop()
		return nil, ctx.Err()
	}
}

// readyURL returns the address in the line that relqps prints when it can be visited.
func readyURL(line string) (url string, ok bool) {
	url, ok = strings.CutPrefix(line, "relqps: listening on ")
	return strings.TrimSpace(url), ok && strings.HasPrefix(url, "http")
}

// freeAddress returns a loopback address with a port that nobody listens on at the moment.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
