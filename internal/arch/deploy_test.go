package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// instruction is a line of a Dockerfile, with its continuation lines.
type instruction struct {
	line  int
	name  string            // FROM, COPY, ...
	flags map[string]string // --from=assets → from: assets
	args  string            // what is left
}

// words returns the arguments: the elements of a JSON array where it is one, else what white space parts.
func (i instruction) words() []string {
	var list []string
	if json.Unmarshal([]byte(i.args), &list) == nil {
		return list
	}
	return strings.Fields(i.args)
}

// stage is what a Dockerfile makes from one FROM on.
type stage struct {
	name, image  string
	instructions []instruction
}

// last returns the last instruction of a name, which is the one in force.
func (s stage) last(name string) (instruction, bool) {
	for _, i := range slices.Backward(s.instructions) {
		if i.name == name {
			return i, true
		}
	}
	return instruction{}, false
}

// parseDockerfile reads a Dockerfile with the subset of the syntax that ours uses; anything else is an error.
func parseDockerfile(text string) ([]stage, error) {
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
	var stages []stage
	lines := strings.Split(text, "\n")
	for at := 0; at < len(lines); at++ {
		first := at + 1
		line := strings.TrimSpace(lines[at])
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for strings.HasSuffix(line, `\`) && at+1 < len(lines) {
			at++
			line = strings.TrimSpace(strings.TrimSuffix(line, `\`)) + " " + strings.TrimSpace(lines[at])
		}
		name, args, _ := strings.Cut(line, " ")
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("line %d: unknown instruction %s", first, name)
		}
		i := instruction{line: first, name: name, flags: make(map[string]string), args: strings.TrimSpace(args)}
		for strings.HasPrefix(i.args, "--") {
			flag, rest, _ := strings.Cut(i.args, " ")
			key, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			i.flags[key] = value
			i.args = strings.TrimSpace(rest)
		}
		if name == "FROM" {
			words := i.words()
			s := stage{image: words[0]}
			if len(words) == 3 && words[1] == "AS" {
				s.name = words[2]
			}
			stages = append(stages, s)
			continue
		}
		if len(stages) == 0 {
			return nil, fmt.Errorf("line %d: %s before the first FROM", first, name)
		}
		here := &stages[len(stages)-1]
		here.instructions = append(here.instructions, i)
	}
	return stages, nil
}

// dockerfile returns the stages of the project's Dockerfile: script, program, image.
func dockerfile(t *testing.T) (assets, build, image stage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages, err := parseDockerfile(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) != 3 || stages[0].name != "assets" || stages[1].name != "build" {
		t.Fatalf("the Dockerfile has the stages %+v, want assets, build and the image", stages)
	}
	return stages[0], stages[1], stages[2]
}

func TestDockerfileCopiesWhatIsThere(t *testing.T) {
	t.Parallel()
	top := root(t)
	names := make(map[string]bool)
	assets, build, image := dockerfile(t)
	for _, s := range []stage{assets, build, image} {
		for _, i := range s.instructions {
			if i.name != "COPY" {
				continue
			}
			words := i.words()
			if len(words) < 2 {
				t.Errorf("Dockerfile:%d: COPY %s has no target", i.line, i.args)
				continue
			}
			if from, ok := i.flags["from"]; ok {
				if !names[from] {
					t.Errorf("Dockerfile:%d: copies from %q, which is no stage before this one", i.line, from)
				}
				continue
			}
			for _, source := range words[:len(words)-1] {
				found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(source)))
				if err != nil || len(found) == 0 {
					t.Errorf("Dockerfile:%d: copies %s, which does not exist (%v)", i.line, source, err)
				}
			}
		}
		names[s.name] = true
	}
}

func TestDockerfileHandsTheProgramOnUnderOneName(t *testing.T) {
	t.Parallel()
	assets, build, image := dockerfile(t)

	// The folder the bundler writes to is the one that is taken over and embedded.
	handed := false
	for _, i := range build.instructions {
		if i.name == "COPY" && i.flags["from"] == "assets" {
			handed = slices.Equal(i.words(), []string{"/src/web/static/dist", "web/static/dist"})
		}
	}
	dir, ok := assets.last("WORKDIR")
	if !handed || !ok || dir.args != "/src/web/assets" {
		t.Error("the bundle, which build.mjs writes to ../static/dist, does not get into the build")
	}

	var built string
	for _, i := range build.instructions {
		if i.name == "RUN" && strings.Contains(i.args, "go build") {
			words := i.words()
			built = words[slices.Index(words, "-o")+1]
			if !strings.Contains(i.args, "CGO_ENABLED=0") {
				t.Errorf("Dockerfile:%d: the program is not static, the image has no C library", i.line)
			}
		}
	}
	var program string
	for _, i := range image.instructions {
		if i.name == "COPY" && i.flags["from"] == "build" {
			words := i.words()
			if words[0] != built {
				t.Errorf("Dockerfile:%d: copies %s, but %s was built", i.line, words[0], built)
			}
			program = words[1]
		}
	}
	entry, ok := image.last("ENTRYPOINT")
	if !ok || program == "" || !slices.Equal(entry.words(), []string{program}) {
		t.Errorf("ENTRYPOINT is %q, want the program %q as a JSON array, so that signals reach it", entry.args, program)
	}
	health, ok := image.last("HEALTHCHECK")
	if !ok || !strings.HasPrefix(health.args, `CMD ["`+program+`", "healthcheck"`) {
		t.Errorf("HEALTHCHECK is %q, want the program's own", health.args)
	}
	if user, ok := image.last("USER"); !ok || strings.HasPrefix(user.args, "0") || strings.HasPrefix(user.args, "root") {
		t.Errorf("the image runs as %q, want a user without rights", user.args)
	}
}

// uncovered returns the folders of the program's packages that no COPY brings into the build stage.
func uncovered(build stage, packages []listed) []string {
	var copied []string
	for _, i := range build.instructions {
		if i.name == "COPY" && i.flags["from"] == "" {
			words := i.words()
			copied = append(copied, words[:len(words)-1]...)
		}
	}
	var missing []string
	for _, p := range packages {
		dir, ours := local(p.ImportPath)
		if !ours {
			continue
		}
		if dir == "." {
			dir = "main.go"
		}
		if !slices.ContainsFunc(copied, func(pattern string) bool {
			matched, err := path.Match(pattern, dir)
			return err == nil && matched || within(dir, pattern)
		}) {
			missing = append(missing, dir)
		}
	}
	return missing
}

func TestDockerfileCopiesEveryPackage(t *testing.T) {
	t.Parallel()
	_, build, _ := dockerfile(t)
	for _, dir := range uncovered(build, list(t)) {
		t.Errorf("the Dockerfile's build stage does not copy %s", dir)
	}
	got := uncovered(build, []listed{{ImportPath: module}, {ImportPath: module + "/internal/bench"}, {ImportPath: module + "/surprise"}})
	if !slices.Equal(got, []string{"surprise"}) {
		t.Errorf("uncovered = %q, want surprise alone", got)
	}
}

func TestUnknownDockerfileSyntaxIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"COPY a b\n", "FROM x\nADD a b\n", "FROM x\n<<EOF\n"} {
		if stages, err := parseDockerfile(text); err == nil {
			t.Errorf("parseDockerfile(%q) = %+v, want an error", text, stages)
		}
	}
	stages, err := parseDockerfile("# word\nFROM a AS b\nRUN --mount=type=cache one \\\n  two\nCMD [\"x\", \"y z\"]\n")
	if err != nil || len(stages) != 1 || stages[0].name != "b" || len(stages[0].instructions) != 2 {
		t.Fatalf("parseDockerfile = %+v, %v", stages, err)
	}
	if run := stages[0].instructions[0]; run.args != "one two" || run.flags["mount"] != "type=cache" || run.line != 3 {
		t.Errorf("RUN is %+v, want its flag apart and its lines joined", run)
	}
	if cmd := stages[0].instructions[1].words(); !slices.Equal(cmd, []string{"x", "y z"}) {
		t.Errorf("CMD is %q, want the elements of the array", cmd)
	}
}

// compose loads docker-compose.yml as `docker compose` does, validated against its schema, with the given environment.
func compose(t *testing.T, environment map[string]string) (*types.Project, error) {
	t.Helper()
	top := root(t)
	file := filepath.Join(top, "docker-compose.yml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  top,
		ConfigFiles: []types.ConfigFile{{Filename: file, Content: content}},
		Environment: environment,
	})
}

func TestComposeFileStartsServerAfterHealthyPostgres(t *testing.T) {
	t.Parallel()
	project, err := compose(t, map[string]string{"POSTGRES_PASSWORD": "p@ss/word"})
	if err != nil {
		t.Fatal(err)
	}
	if names := project.ServiceNames(); !slices.Equal(names, []string{"postgres", "server"}) {
		t.Fatalf("the services are %q, want postgres and server", names)
	}
	postgres, server := project.Services["postgres"], project.Services["server"]

	_, tag, _ := strings.Cut(postgres.Image, ":")
	var major int
	if _, err := fmt.Sscanf(tag, "%d", &major); err != nil || major < 15 {
		t.Errorf("Postgres is %s, want 15 or later, named by its version", postgres.Image)
	}
	if check := postgres.HealthCheck; check == nil || !slices.Contains(check.Test, "pg_isready") {
		t.Errorf("the health check of Postgres is %+v, want pg_isready", check)
	}
	if len(postgres.Volumes) != 1 || postgres.Volumes[0].Type != types.VolumeTypeVolume {
		t.Errorf("the data of Postgres lies on %+v, want a named volume", postgres.Volumes)
	} else if _, declared := project.Volumes[postgres.Volumes[0].Source]; !declared {
		t.Errorf("the volume %s is not declared", postgres.Volumes[0].Source)
	} else if where := postgres.Volumes[0].Target; major < 18 && where != "/var/lib/postgresql/data" {
		t.Errorf("the volume is at %s, where this image keeps no data", where)
	}
	if len(postgres.Ports) > 0 {
		t.Errorf("Postgres is published: %+v", postgres.Ports)
	}

	if waits := server.DependsOn["postgres"].Condition; waits != types.ServiceConditionHealthy {
		t.Errorf("the server waits for Postgres to be %q, want %q", waits, types.ServiceConditionHealthy)
	}
	if server.Build == nil || server.Build.Context != root(t) {
		t.Errorf("the server is built from %+v, want this folder", server.Build)
	}
	if len(server.Ports) != 1 || server.Ports[0].HostIP != "127.0.0.1" || server.Ports[0].Published != "8080" {
		t.Errorf("the server is published as %+v, want only on the loopback address", server.Ports)
	}
	if addr := value(server, "RELQPS_ADDR"); len(server.Ports) == 1 && addr != fmt.Sprintf("0.0.0.0:%d", server.Ports[0].Target) {
		t.Errorf("the server listens on %s, but port %d is published", addr, server.Ports[0].Target)
	}
	if !slices.Equal(server.Command, types.ShellCommand{"serve", "--migrate"}) {
		t.Errorf("the server's command is %q, want the schema brought up to date at the start", server.Command)
	}
	_, _, image := dockerfile(t)
	health, _ := image.last("HEALTHCHECK")
	want := instruction{args: strings.TrimSpace(strings.TrimPrefix(health.args, "CMD"))}.words()
	if check := server.HealthCheck; check == nil || !slices.Equal(check.Test, append([]string{"CMD"}, want...)) {
		t.Errorf("the health check of the server is %+v, want the image's %q", check, want)
	}
	if expose, _ := image.last("EXPOSE"); len(server.Ports) == 1 && expose.args != fmt.Sprint(server.Ports[0].Target) {
		t.Errorf("the image exposes %s, but port %d is published", expose.args, server.Ports[0].Target)
	}
	if !server.ReadOnly || !slices.Contains(server.CapDrop, "ALL") {
		t.Error("the server's container is writable or keeps rights it does not need")
	}
}

// value returns what a service's environment sets a variable to, "" where it does not.
func value(service types.ServiceConfig, name string) string {
	if v := service.Environment[name]; v != nil {
		return *v
	}
	return ""
}

func TestComposeFileTakesItsSettingsFromTheEnvironment(t *testing.T) {
	t.Parallel()
	if _, err := compose(t, nil); err == nil || !strings.Contains(err.Error(), "POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v, want an error that names POSTGRES_PASSWORD", err)
	}

	project, err := compose(t, map[string]string{"POSTGRES_PASSWORD": "p@ss/word"})
	if err != nil {
		t.Fatal(err)
	}
	postgres, server := project.Services["postgres"], project.Services["server"]
	if got := value(server, "PGPASSWORD"); got != "p@ss/word" || got != value(postgres, "POSTGRES_PASSWORD") {
		t.Errorf("the server's password is %q, Postgres' is %q, want p@ss/word for both", got, value(postgres, "POSTGRES_PASSWORD"))
	}
	want := fmt.Sprintf("postgres://%s@postgres:5432/%s?sslmode=disable", value(postgres, "POSTGRES_USER"), value(postgres, "POSTGRES_DB"))
	if got := value(server, "RELQPS_DATABASE_URL"); got != want {
		t.Errorf("the database is %s, want the Postgres beside it, %s", got, want)
	}

	const elsewhere = "postgres://me:secret@db.example:5432/bench"
	project, err = compose(t, map[string]string{
		"POSTGRES_PASSWORD": "x", "RELQPS_DATABASE_URL": elsewhere, "RELQPS_PUBLISH": "0.0.0.0:9000",
	})
	if err != nil {
		t.Fatal(err)
	}
	server = project.Services["server"]
	if got := value(server, "RELQPS_DATABASE_URL"); got != elsewhere {
		t.Errorf("the database is %s, want %s", got, elsewhere)
	}
	if got := server.Ports[0]; got.HostIP != "0.0.0.0" || got.Published != "9000" || got.Target != 8080 {
		t.Errorf("the server is published as %+v, want 0.0.0.0:9000 to 8080", got)
	}
}
