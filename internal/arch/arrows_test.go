package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the path of this module; packages below it are named relative to it, the top one ".".
const module = "github.com/relqps/relqps"

// anything in a list of allowed imports stands for every package of the module.
const anything = "*"

// arrows says which packages of this module each package may import, itself excepted. A package that is not listed may
// not exist: whoever adds one says here what it may know.
var arrows = map[string][]string{
	// The program wires everything, and is the only one that may.
	".": {anything},

	// The surfaces. The API and its client share the shapes that travel between them.
	"api":        {"api/client", "ingest", "internal/bench", "internal/compare", "internal/picture"},
	"api/client": {"internal/bench"},
	"web":        {"web/chart", "web/static", "web/view", "internal/bench", "internal/compare", "internal/picture"},
	"web/chart":  {"internal/bench", "internal/compare"},
	"web/static": {},
	// Views get finished values: no store, no statistics.
	"web/view": {"internal/bench", "internal/compare"},

	// Files in, figures out.
	"ingest": {"internal/bench"},
	"runner": {"ingest", "internal/bench", "internal/stats"},

	// The rules: pure functions.
	"internal/bench":   {},
	"internal/stats":   {},
	"internal/compare": {"internal/bench", "internal/stats"},
	"internal/picture": {"internal/bench", "internal/compare"},
	"internal/sample":  {"internal/bench"},

	// Postgres.
	"migrations":        {},
	"internal/postgres": {"internal/bench", "migrations"}, // the store brings its own schema up to date
	"internal/localpg":  {"internal/bench"},

	// Help for tests and for people, no part of the product.
	"internal/sample/generate": {"ingest", "internal/bench"},
	"internal/stats/calibrate": {"internal/stats"},
	"internal/arch":            {},
	"internal/browser":         {},
	"internal/pgtest":          {"internal/bench", "internal/localpg", "internal/postgres", "internal/testdata", "migrations"},
	"internal/screenshot":      {"internal/browser"},
	"internal/testdata":        {},
}

// outside says who may import packages of other modules (or of the standard library) that begin with a path.
var outside = []struct {
	path   string
	only   []string // packages of this module
	reason string
}{
	{"github.com/go-echarts/go-echarts", []string{"web/chart"}, "its option types change in minor versions"},
	{"gonum.org/v1/plot", []string{"internal/picture"}, "pictures are drawn in one place"},
	{"github.com/jackc/pgx", []string{"internal/postgres", "internal/pgtest", "internal/localpg", "migrations"}, "SQL has one home"},
	{"database/sql", []string{"internal/postgres", "internal/pgtest", "internal/localpg", "migrations"}, "SQL has one home"},
	{"github.com/pressly/goose", []string{"internal/postgres", "internal/pgtest", "migrations"}, "the schema has one way to change"},
	{"github.com/a-h/templ", []string{"web", "web/view"}, "pages are made in one place"},
	{"github.com/danielgtaylor/huma", []string{"api"}, "the API is described in one place"},
	{"github.com/alecthomas/kong", []string{"."}, "only the program reads the command line"},
	{"github.com/chromedp", []string{"internal/browser"}, "the product drives no browser"},
	{"testing", []string{"internal/pgtest", "internal/testdata"}, "product code knows no tests"},
}

// standardOnly lists the packages that import the standard library alone, with the other modules they may use besides.
var standardOnly = map[string][]string{
	"internal/bench":    {},
	"internal/stats":    {"gonum.org/v1/gonum", "golang.org/x/perf", "github.com/aclements/go-moremath"},
	"internal/testdata": {},
	"migrations":        {"github.com/pressly/goose", "github.com/jackc/pgx"},
}

// notInProduct lists what must not be compiled into the program at all, however indirectly.
var notInProduct = []string{
	module + "/internal/arch", module + "/internal/browser", module + "/internal/pgtest",
	module + "/internal/sample/generate", module + "/internal/screenshot", module + "/internal/stats/calibrate",
	module + "/internal/testdata",
	"github.com/chromedp", "github.com/compose-spec", "github.com/PuerkitoBio/goquery",
}

// listed is a package as `go list -json` describes it.
type listed struct {
	ImportPath string
	Name       string
	Doc        string // first sentence of the package comment
	Standard   bool
	Imports    []string
}

// local returns the name of a package relative to the module, and whether it belongs to the module.
func local(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// within says whether an import path is the given one or lies below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// checkArrows returns what is wrong with the imports of this module's packages, a sentence each, sorted. packages holds
// them with all that they depend on.
func checkArrows(packages []listed) []string {
	standard := make(map[string]bool)
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	var wrong []string
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, p := range packages {
		name, ours := local(p.ImportPath)
		if !ours {
			continue
		}
		allowed, known := arrows[name]
		if !known {
			report("%s is not in the table of arrows: add it there with what it may import", name)
		}
		for _, imported := range p.Imports {
			if target, ours := local(imported); ours {
				if known && !slices.Contains(allowed, target) && !slices.Contains(allowed, anything) {
					report("%s imports %s, which its arrows do not allow", name, target)
				}
				continue
			}
			for _, rule := range outside {
				if within(imported, rule.path) && !slices.Contains(rule.only, name) {
					report("%s imports %s, which only %s may: %s", name, imported, strings.Join(rule.only, ", "), rule.reason)
				}
			}
			if extra, strict := standardOnly[name]; strict && !standard[imported] {
				if !slices.ContainsFunc(extra, func(prefix string) bool { return within(imported, prefix) }) {
					report("%s imports %s, but is to know the standard library alone", name, imported)
				}
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// checkProduct returns what the program contains, directly or not, although it should not, with the way it got in.
func checkProduct(packages []listed) []string {
	imports := make(map[string][]string)
	for _, p := range packages {
		imports[p.ImportPath] = p.Imports
	}
	from := map[string]string{module: ""}
	queue := []string{module}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, imported := range imports[next] {
			if _, seen := from[imported]; !seen {
				from[imported] = next
				queue = append(queue, imported)
			}
		}
	}
	var wrong []string
	for path := range from {
		if !slices.ContainsFunc(notInProduct, func(prefix string) bool { return within(path, prefix) }) {
			continue
		}
		way := path
		for at := from[path]; at != ""; at = from[at] {
			way = at + " → " + way
		}
		wrong = append(wrong, "the program contains "+path+": "+way)
	}
	slices.Sort(wrong)
	return wrong
}

// list returns the packages of the module with all that they depend on, tests excepted.
func list(t *testing.T) []listed {
	t.Helper()
	// A folder named testdata is no part of ./... and has to be named.
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Doc,Standard,Imports", "./...", "./internal/testdata")
	command.Dir = root(t)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// root returns the top folder of the module. Tests run in the folder of their package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == module+"/internal/bench" }) {
		t.Fatal("go list found no internal/bench: nothing was checked")
	}
	for _, wrong := range checkArrows(packages) {
		t.Error(wrong)
	}
	for _, wrong := range checkProduct(packages) {
		t.Error(wrong)
	}
}

func TestEveryArrowHasItsPackage(t *testing.T) {
	t.Parallel()
	found := make(map[string]bool)
	for _, p := range list(t) {
		if name, ours := local(p.ImportPath); ours {
			found[name] = true
		}
	}
	for name, allowed := range arrows {
		if !found[name] {
			t.Errorf("the table of arrows has %s, which does not exist", name)
		}
		for _, target := range allowed {
			if target != anything && !found[target] {
				t.Errorf("the arrow %s → %s leads nowhere", name, target)
			}
		}
	}
}

func TestPackageNamesSayWhatIsProvided(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if name, ours := local(p.ImportPath); ours && vagueName(p.Name) {
			t.Errorf("%s: package %s: a name for anything; name it by what it provides", name, p.Name)
		}
	}
	if !vagueName("util") || !vagueName("models") || vagueName("compare") {
		t.Error("vagueName does not tell vague names from others")
	}
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		// Templates cannot carry a package comment, see web/staticcheck.conf.
		if name, ours := local(p.ImportPath); ours && p.Doc == "" && name != "web/view" {
			t.Errorf("%s has no package comment", name)
		}
	}
}

// vagueName says whether a package name fits any content.
func vagueName(name string) bool {
	switch strings.TrimSuffix(name, "s") {
	case "util", "common", "helper", "model", "type", "misc", "shared", "base", "lib", "interface":
		return true
	}
	return false
}

// sound is a small module that follows the arrows.
func sound() []listed {
	return []listed{
		{ImportPath: "fmt", Standard: true},
		{ImportPath: "net/http", Standard: true},
		{ImportPath: "testing", Standard: true},
		{ImportPath: "gonum.org/v1/gonum/stat"},
		{ImportPath: "github.com/jackc/pgx/v5/pgxpool", Imports: []string{"fmt"}},
		{ImportPath: "github.com/go-echarts/go-echarts/v2/charts"},
		{ImportPath: "github.com/google/uuid"},
		{ImportPath: module + "/internal/bench", Imports: []string{"fmt"}},
		{ImportPath: module + "/internal/stats", Imports: []string{"fmt", "gonum.org/v1/gonum/stat"}},
		{ImportPath: module + "/internal/compare", Imports: []string{module + "/internal/bench", module + "/internal/stats"}},
		{ImportPath: module + "/internal/postgres", Imports: []string{module + "/internal/bench", "github.com/jackc/pgx/v5/pgxpool"}},
		{ImportPath: module + "/internal/testdata", Imports: []string{"testing"}},
		{ImportPath: module + "/web/chart", Imports: []string{"github.com/go-echarts/go-echarts/v2/charts", module + "/internal/compare"}},
		{ImportPath: module + "/web/view", Imports: []string{module + "/internal/bench"}},
		{ImportPath: module + "/web", Imports: []string{"net/http", module + "/web/chart", module + "/web/view"}},
		{ImportPath: module, Imports: []string{module + "/web", module + "/internal/postgres", module + "/internal/compare"}},
	}
}

// with adds an import to a package of a module, or the package where it is not there.
func with(packages []listed, from, to string) []listed {
	path := module + "/" + from
	for i := range packages {
		if packages[i].ImportPath == path {
			packages[i].Imports = append(packages[i].Imports, to)
			return packages
		}
	}
	return append(packages, listed{ImportPath: path, Imports: []string{to}})
}

func TestForbiddenImportsAreFound(t *testing.T) {
	t.Parallel()
	if wrong := checkArrows(sound()); len(wrong) > 0 {
		t.Fatalf("a sound module is refused: %q", wrong)
	}
	tests := []struct {
		behaviour, from, to string
		want                string
	}{
		{"domain imports a sibling", "internal/bench", module + "/internal/stats", "internal/bench imports internal/stats"},
		{"domain imports another module", "internal/bench", "github.com/google/uuid", "internal/bench imports github.com/google/uuid"},
		{"statistics import another module", "internal/stats", "github.com/google/uuid", "internal/stats imports github.com/google/uuid"},
		{"statistics import the domain", "internal/stats", module + "/internal/bench", "internal/stats imports internal/bench"},
		{"view imports the store", "web/view", module + "/internal/postgres", "web/view imports internal/postgres"},
		{"pages import the store", "web", module + "/internal/postgres", "web imports internal/postgres"},
		{"store imports the comparison", "internal/postgres", module + "/internal/compare", "internal/postgres imports internal/compare"},
		{"pages import the charting library", "web", "github.com/go-echarts/go-echarts/v2/charts", "web imports github.com/go-echarts"},
		{"comparison imports the database driver", "internal/compare", "github.com/jackc/pgx/v5/pgxpool", "internal/compare imports github.com/jackc/pgx"},
		{"any package imports the program", "web", module, "web imports ."},
		{"product code imports testing", "internal/compare", "testing", "internal/compare imports testing"},
		{"package that nobody listed", "internal/surprise", "fmt", "internal/surprise is not in the table"},
	}
	for _, test := range tests {
		t.Run(test.behaviour, func(t *testing.T) {
			t.Parallel()
			wrong := checkArrows(with(sound(), test.from, test.to))
			if len(wrong) != 1 || !strings.HasPrefix(wrong[0], test.want) {
				t.Errorf("found %q, want one finding that begins with %q", wrong, test.want)
			}
		})
	}
}

func TestTestCodeInsideTheProgramIsFoundWithTheWayIn(t *testing.T) {
	t.Parallel()
	if wrong := checkProduct(sound()); len(wrong) > 0 {
		t.Fatalf("a sound program is refused: %q", wrong)
	}
	wrong := checkProduct(with(sound(), "internal/compare", module+"/internal/testdata"))
	want := []string{
		"the program contains " + module + "/internal/testdata: " + module + " → " + module + "/internal/compare → " + module + "/internal/testdata",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("found %q, want %q", wrong, want)
	}
}
