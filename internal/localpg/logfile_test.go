//go:build unix

package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogIsLimited(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLogFile(path, fileOwner{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if _, err := fmt.Fprintf(l, "line %03d of thirty characters.\n", i); err != nil {
			t.Fatal(err)
		}
	}
	l.close()
	// Opened again it goes on where it was.
	if l, err = openLogFile(path, fileOwner{}, 1000); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(l, "the last line")
	l.close()

	var text strings.Builder
	for _, name := range []string{path + ".1", path} {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) > 1000 {
			t.Errorf("%s has %d bytes", name, len(part))
		}
		text.Write(part)
	}
	if s := text.String(); !strings.HasSuffix(s, "line 098 of thirty characters.\nline 099 of thirty characters.\nthe last line\n") || !strings.HasPrefix(s, "line ") {
		t.Errorf("the two files hold\n%s", s)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v; want 2", len(files), err)
	}
}

func TestLogGoesOnWithoutItsFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := openLogFile(filepath.Join(dir, "log"), fileOwner{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n, err := l.Write([]byte("longer than the limit")); n != 21 || err != nil {
			t.Errorf("wrote %d, %v: Postgres would stop because of its log", n, err)
		}
	}
}

func TestEndOfLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if got := logEnd(path, 0, 100); got != "" {
		t.Errorf("without a file: %q", got)
	}
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		offset, limit int64
		want          string
	}{
		{0, 100, "one\ntwo\nthree"},
		{4, 100, "two\nthree"},
		{0, 9, "three"}, // whole lines only
		{14, 100, ""},
		{99, 100, "one\ntwo\nthree"}, // the file is another one now
	} {
		if got := logEnd(path, test.offset, test.limit); got != test.want {
			t.Errorf("from %d, limit %d: %q, want %q", test.offset, test.limit, got, test.want)
		}
	}
}

func TestFailedStartShowsWhatPostgresSaid(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	cfg := testConfig(t, dir)
	cfg.Settings = map[string]string{"shared_buffers": "not a size"}
	_, err := Open(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") || !strings.Contains(err.Error(), filepath.Join(dir, logsName, "postgres.log")) {
		t.Errorf("got %v", err)
	}
	cfg.Settings = map[string]string{"work_mem": "7MB"}
	c := mustOpen(t, cfg)
	if got := query1[string](t, c.URL(), `show work_mem`); got != "7MB" {
		t.Errorf("work_mem is %s, want what the settings say", got)
	}
	mustStop(t, c)
}
