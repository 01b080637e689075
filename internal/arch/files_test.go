package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ban is a construct that may not stand in the files that it applies to.
type ban struct {
	name    string
	pattern *regexp.Regexp
	applies func(file string) bool
	reason  string
}

var bans = []ban{
	{
		"unescaped output", regexp.MustCompile(`templ\.(Raw|SafeURL|SafeClass|JSExpression|JSUnsafeFuncCall)\b`), isCode,
		"it lets text of a benchmark file become markup or code; pass values to templ and let it escape them",
	},
	{
		"go-echarts rendering", regexp.MustCompile(`\b(RenderSnippet|RenderContent|JSONNotEscaped)\b`), isCode,
		"it escapes nothing and hides errors; give the option to templ.JSONScript",
	},
	{
		"inline script", regexp.MustCompile(`(?i)<script\b`), isTempl,
		"the Content-Security-Policy refuses it; code belongs into web/assets, data into templ.JSONScript",
	},
	{
		"inline event handler", regexp.MustCompile(`(?i)\son(click|change|input|submit|load|error|focus|blur|key\w+|mouse\w+|pointer\w+|toggle)\s*=`), isTempl,
		"the Content-Security-Policy refuses it; attach it in web/assets",
	},
	{
		"inline style", regexp.MustCompile(`(?i)(<style\b|\bstyle\s*=)`), isTempl,
		"use a class of web/assets/src/style.css",
	},
	{
		"old templ block", regexp.MustCompile(`(?m)^(script|css) \w+\(`), isTempl,
		"it makes inline code or style; use static files",
	},
	{
		"forgeable client address", regexp.MustCompile(`\bmiddleware\.RealIP\b`), isGo,
		"anybody can send the headers it believes; use middleware.ClientIPFromXFF with the known proxies",
	},
	{
		"killing by name", regexp.MustCompile(`\b(killall|pkill)\b`), func(f string) bool { return isCode(f) || isScript(f) },
		"it ends other people's processes; end the process group that was started",
	},
	{
		"skipped test", regexp.MustCompile(`\b(t|b|tb|f)\.Skip(f|Now)?\(`), func(f string) bool {
			return isGo(f) && !below(f, "internal/testdata") && !below(f, "internal/pgtest")
		},
		"testdata.NeedProgram, testdata.Missing, testdata.Shared and pgtest decide what a missing component means, so that CI fails",
	},
	{
		"tests left out for speed", regexp.MustCompile(`\btesting\.Short\(`), isGo,
		"a test that is not always run is not a test",
	},
	{
		"printing library", regexp.MustCompile(`\bfmt\.Print(f|ln)?\(`), func(f string) bool {
			return isGo(f) && strings.Contains(f, "/") && !strings.HasSuffix(f, "_test.go")
		},
		"libraries return values and log to the slog.Logger they are given",
	},
	{
		"unfinished work", regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), func(f string) bool {
			return isCode(f) || isScript(f) || strings.HasSuffix(f, ".sql") || strings.HasSuffix(f, ".css")
		},
		"finish it, or file it where work is planned",
	},
}

func isGo(file string) bool    { return strings.HasSuffix(file, ".go") }
func isTempl(file string) bool { return strings.HasSuffix(file, ".templ") }
func isCode(file string) bool {
	return isGo(file) || isTempl(file) || strings.HasSuffix(file, ".ts") || strings.HasSuffix(file, ".mjs")
}

func isScript(file string) bool {
	return strings.HasSuffix(file, ".sh") || strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml") ||
		path.Base(file) == "Makefile" || path.Base(file) == "Dockerfile" || below(file, ".ci")
}

func below(file, dir string) bool { return strings.HasPrefix(file, dir+"/") }

// generated says whether a program wrote a file: it is as good as what it was made of.
func generated(file string) bool { return strings.HasSuffix(file, "_templ.go") }

// checkBans returns where a file holds a forbidden construct, as file:line with the reason.
func checkBans(file string, content []byte) []string {
	var wrong []string
	for _, b := range bans {
		if !b.applies(file) {
			continue
		}
		for _, at := range b.pattern.FindAllIndex(content, -1) {
			found := strings.TrimSpace(string(content[at[0]:at[1]]))
			if b.name == "inline script" && hasSource(content[at[0]:]) {
				continue
			}
			line := 1 + bytes.Count(content[:at[0]], []byte("\n"))
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s: %s: %s", file, line, b.name, found, b.reason))
		}
	}
	return wrong
}

// hasSource says whether the script tag that begins here loads a file rather than holding code.
func hasSource(tag []byte) bool {
	end := bytes.Index(tag, []byte("</script"))
	if end < 0 {
		return false
	}
	open, body, found := bytes.Cut(tag[:end], []byte(">"))
	return found && regexp.MustCompile(`\ssrc\s*=`).Match(open) && len(bytes.TrimSpace(body)) == 0
}

// skipped are folders that hold nothing of the project's own text.
var skipped = []string{".git", "node_modules", ".cache", "dist", "bin", "screenshots"}

// files returns the project's text files with their contents, by slash-separated name relative to the top folder. What
// lies in a folder testdata is input of tests, not ours to judge, unless it is Go.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	top := root(t)
	found := make(map[string][]byte)
	err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(skipped, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if !isCode(relative) && !isScript(relative) && !strings.HasSuffix(relative, ".sql") && !strings.HasSuffix(relative, ".css") {
			return nil
		}
		if strings.Contains(relative, "/testdata/") && !isGo(relative) {
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found[relative] = content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found["internal/arch/files_test.go"]) == 0 {
		t.Fatal("this file itself was not found: nothing was checked")
	}
	return found
}

func TestForbiddenConstructsAreAbsent(t *testing.T) {
	t.Parallel()
	for name, content := range files(t) {
		// This package has to spell out what it forbids.
		if generated(name) || below(name, "internal/arch") {
			continue
		}
		for _, wrong := range checkBans(name, content) {
			t.Error(wrong)
		}
	}
}

func TestForbiddenConstructsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, content string
		want          string // "" = allowed
	}{
		{"web/view/page.templ", "<p>\n@templ.Raw(text)</p>", "web/view/page.templ:2: unescaped output"},
		{"web/page.go", "u := templ.SafeURL(s)", "web/page.go:1: unescaped output"},
		{"web/page.go", "u := templ.URL(s)", ""},
		{"web/chart/line.go", "line.RenderSnippet()", "web/chart/line.go:1: go-echarts rendering"},
		{"web/view/page.templ", "<script>go()</script>", "web/view/page.templ:1: inline script"},
		{"web/view/page.templ", `<script type="application/json">{}</script>`, "web/view/page.templ:1: inline script"},
		{"web/view/page.templ", `<script src="/x.js">go()</script>`, "web/view/page.templ:1: inline script"},
		{"web/view/page.templ", `<script defer src={ page.Script }></script>`, ""},
		{"web/view/page.templ", `@templ.JSONScript(id, option)`, ""},
		{"web/view/page.templ", `<p style="color:red">`, "web/view/page.templ:1: inline style"},
		{"web/view/page.templ", `<p style={ css }>`, "web/view/page.templ:1: inline style"},
		{"web/view/page.templ", `<style>p{}</style>`, "web/view/page.templ:1: inline style"},
		{"web/view/page.templ", `<link rel="stylesheet" href={ page.Style }/>`, ""},
		{"web/view/page.templ", `<button onclick="go()">`, "web/view/page.templ:1: inline event handler"},
		{"web/view/page.templ", "css red() {\n}", "web/view/page.templ:1: old templ block"},
		{"web/router.go", "r.Use(middleware.RealIP)", "web/router.go:1: forgeable client address"},
		{"runner/stop.go", `exec.Command("pkill", "db_bench")`, "runner/stop.go:1: killing by name"},
		{"scripts/stop.sh", "killall postgres", "scripts/stop.sh:1: killing by name"},
		{"runner/run_test.go", "\tt.Skip(\"no db_bench\")", "runner/run_test.go:1: skipped test"},
		{"runner/run_test.go", "\tb.Skipf(\"no %s\", x)", "runner/run_test.go:1: skipped test"},
		{"internal/pgtest/pgtest.go", "\tt.Skipf(\"no %s\", x)", ""},
		{"ingest/read.go", "p.Skip(3)", ""},
		{"ingest/read_test.go", "if testing.Short() {", "ingest/read_test.go:1: tests left out for speed"},
		{"ingest/read.go", "fmt.Println(x)", "ingest/read.go:1: printing library"},
		{"ingest/read.go", "fmt.Fprintln(w, x)", ""},
		{"main.go", "fmt.Println(x)", ""},
		{"ingest/read.go", "// TO" + "DO later", "ingest/read.go:1: unfinished work"},
	}
	for _, test := range tests {
		wrong := strings.Join(checkBans(test.file, []byte(test.content)), "\n")
		if test.want == "" && wrong != "" || test.want != "" && (!strings.HasPrefix(wrong, test.want+": ") || strings.Contains(wrong, "\n")) {
			t.Errorf("%s with %q: found %q, want %q", test.file, test.content, wrong, test.want)
		}
	}
}

// mixes says whether a file of Go imports both the database driver and HTTP.
func mixes(name string, content []byte) (bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
	if err != nil {
		return false, err
	}
	var pgx, http bool
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		pgx = pgx || within(imported, "github.com/jackc/pgx")
		http = http || within(imported, "net/http")
	}
	return pgx && http, nil
}

func TestNoFileKnowsBothDatabaseAndHTTP(t *testing.T) {
	t.Parallel()
	for name, content := range files(t) {
		// A test may look into the database for what a request left there.
		if !isGo(name) || strings.HasSuffix(name, "_test.go") {
			continue
		}
		both, err := mixes(name, content)
		if err != nil {
			t.Error(err)
		}
		if both {
			t.Errorf("%s imports both pgx and net/http: handlers call the store, the store knows no HTTP", name)
		}
	}
	for source, want := range map[string]bool{
		"package x\nimport (\n\"github.com/jackc/pgx/v5\"\n\"net/http/httptest\"\n)": true,
		"package x\nimport (\n\"github.com/jackc/pgx/v5\"\n\"net/url\"\n)":           false,
		"package x\nimport \"net/http\"":                                             false,
	} {
		if got, err := mixes("x.go", []byte(source)); err != nil || got != want {
			t.Errorf("mixes(%q) = %v, %v, want %v", source, got, err, want)
		}
	}
}

// undocumented returns the exported names of a file that have no doc comment, as file:line: name. A comment on a group
// of constants or variables, or at the end of their line, counts for them.
func undocumented(name string, content []byte) ([]string, error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var missing []string
	report := func(ident *ast.Ident, comments ...*ast.CommentGroup) {
		if !ident.IsExported() {
			return
		}
		for _, comment := range comments {
			if strings.TrimSpace(comment.Text()) != "" {
				return
			}
		}
		missing = append(missing, fmt.Sprintf("%s: %s", positions.Position(ident.Pos()), ident.Name))
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || exportedReceiver(d.Recv.List[0].Type) {
				report(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					// In a group of types each needs its own.
					if d.Lparen.IsValid() {
						report(s.Name, s.Doc, s.Comment)
					} else {
						report(s.Name, d.Doc, s.Doc)
					}
				case *ast.ValueSpec:
					for _, ident := range s.Names {
						report(ident, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return missing, nil
}

// exportedReceiver says whether the methods of a receiver can be seen from outside the package.
func exportedReceiver(receiver ast.Expr) bool {
	switch e := receiver.(type) {
	case *ast.StarExpr:
		return exportedReceiver(e.X)
	case *ast.IndexExpr:
		return exportedReceiver(e.X)
	case *ast.IndexListExpr:
		return exportedReceiver(e.X)
	case *ast.Ident:
		return e.IsExported()
	}
	return false
}

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for name, content := range files(t) {
		if !isGo(name) || generated(name) || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			continue
		}
		missing, err := undocumented(name, content)
		if err != nil {
			t.Error(err)
		}
		for _, m := range missing {
			t.Errorf("%s has no doc comment", m)
		}
	}

	const source = `package x

// Good is documented.
type Good struct{}

type Bad struct{}

// String is documented.
func (Good) String() string { return "" }

func (g *Good) Do() {}

func (h hidden[T]) Do() {}

// Limits of things.
const (
	Least = 1
	Most  = 2
)

var Loose = 3 // with a word about it

var Bare = 4

func hide() {}
`
	got, err := undocumented("x.go", []byte(source))
	want := []string{"x.go:6:6: Bad", "x.go:11:16: Do", "x.go:23:5: Bare"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("undocumented = %q, %v, want %q", got, err, want)
	}
}

// strayView says what is wrong with a file in web/view among its siblings, or "".
func strayView(name string, siblings map[string]bool) string {
	switch {
	case strings.HasSuffix(name, "_templ.go"):
		if source := strings.TrimSuffix(name, "_templ.go") + ".templ"; !siblings[source] {
			return "is generated from " + source + ", which is not there"
		}
	case strings.HasSuffix(name, ".templ"):
		if code := strings.TrimSuffix(name, ".templ") + "_templ.go"; !siblings[code] {
			return "has no generated code: run make generate and commit it"
		}
	default:
		return "is neither a template nor generated from one: values are prepared in web"
	}
	return ""
}

func TestViewFolderHoldsTemplatesAlone(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join(root(t), "web", "view"))
	if err != nil {
		t.Fatal(err)
	}
	siblings := make(map[string]bool)
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_templ.txt") { // of templ's watch mode, ignored by git
			continue
		}
		siblings[entry.Name()] = true
	}
	if len(siblings) == 0 {
		t.Fatal("web/view is empty")
	}
	for name := range siblings {
		if wrong := strayView(name, siblings); wrong != "" {
			t.Errorf("web/view/%s %s", name, wrong)
		}
	}

	sample := map[string]bool{"page.templ": true, "page_templ.go": true, "lone.templ": true, "gone_templ.go": true, "format.go": true}
	for name, stray := range map[string]bool{"page.templ": false, "page_templ.go": false, "lone.templ": true, "gone_templ.go": true, "format.go": true} {
		if got := strayView(name, sample) != ""; got != stray {
			t.Errorf("strayView(%q) finds fault: %v, want %v", name, got, stray)
		}
	}
}

// topLevel are the folders of the layout. A new one needs a reason that the README's map states.
var topLevel = []string{".ci", "api", "docs", "ingest", "internal", "migrations", "runner", "scripts", "web"}

func TestTopLevelFoldersAreThoseOfTheLayout(t *testing.T) {
	t.Parallel()
	command := exec.Command("git", "ls-files", "-z")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		// An unpacked archive of the source has no history, and nobody's work in progress in it either.
		out = nil
		entries, err := os.ReadDir(root(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.IsDir() && !slices.Contains(skipped, entry.Name()) {
				out = append(out, entry.Name()+"/\x00"...)
			}
		}
	}
	found := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		if dir, _, inside := strings.Cut(name, "/"); inside {
			found[dir] = true
		}
	}
	if !found["internal"] {
		t.Fatal("internal was not found: nothing was checked")
	}
	for dir := range found {
		if !slices.Contains(topLevel, dir) {
			t.Errorf("%s/ is no folder of the layout", dir)
		}
	}
}
