package arch

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relqps/relqps/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// copyTree copies a file or a folder as Docker would copy it into an image: without what is never sent to it.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// buildImage does what the Dockerfile's build stage does, in a folder that holds what that stage copies and nothing
// else, and returns the program.
func buildImage(t *testing.T) string {
	t.Helper()
	top, dir := root(t), t.TempDir()
	_, build, _ := dockerfile(t)
	for _, i := range build.instructions {
		if i.name != "COPY" || i.flags["from"] != "" { // the bundle comes with the folder web
			continue
		}
		words := i.words()
		target := words[len(words)-1]
		for _, pattern := range words[:len(words)-1] {
			sources, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(pattern)))
			if err != nil {
				t.Fatal(err)
			}
			for _, source := range sources {
				to := filepath.Join(dir, filepath.FromSlash(target))
				if target == "./" {
					to = filepath.Join(dir, filepath.Base(source))
				}
				copyTree(t, source, to)
			}
		}
	}
	program := filepath.Join(t.TempDir(), "relqps")
	command := exec.Command("go", "build", "-o", program, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the program does not build from what the Dockerfile copies: %v\n%s", err, out)
	}
	return program
}

// buffer is written by a process and read by the test at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestContainerServesAsComposeStartsIt(t *testing.T) {
	t.Parallel()
	database := pgtest.EmptyURL(t)
	project, err := compose(t, map[string]string{"POSTGRES_PASSWORD": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	service := project.Services["server"]
	program := buildImage(t)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}

	// The container's environment and nothing of ours, except that the address and the database are here.
	empty := t.TempDir()
	environment := []string{"HOME=" + empty, "PATH=/usr/local/bin:/usr/bin:/bin"}
	for name := range service.Environment {
		set := value(service, name)
		switch name {
		case "RELQPS_ADDR":
			set = addr
		case "RELQPS_DATABASE_URL":
			set = database
		}
		environment = append(environment, name+"="+set)
	}
	if !slices.Contains(environment, "RELQPS_ADDR="+addr) || !slices.Contains(environment, "RELQPS_DATABASE_URL="+database) {
		t.Fatalf("the compose file sets %v, want address and database among it", service.Environment)
	}

	var log buffer
	server := exec.Command(program, service.Command...)
	server.Dir, server.Env = empty, environment
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill() // fails when it has ended, as it should have
	})

	// Test is CMD, the program's path in the image, and its arguments.
	check := service.HealthCheck.Test[2:]
	healthy := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		args := make([]string, len(check))
		for i, arg := range check {
			args[i] = strings.ReplaceAll(arg, "127.0.0.1:8080", addr)
		}
		command := exec.CommandContext(ctx, program, args...)
		command.Dir, command.Env = empty, environment
		return command.Run()
	}
	for deadline := time.Now().Add(5 * time.Minute); healthy() != nil; time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("%q ended: %v\n%s", service.Command, err, log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q is not healthy by %q:\n%s", service.Command, check, log.String())
		}
	}

	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("asked to end, the server ended with %v\n%s", err, log.String())
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("asked to end, the server goes on\n%s", log.String())
	}
	if err := healthy(); err == nil {
		t.Error("the health check finds a server healthy that has ended")
	}
	left, err := os.ReadDir(empty)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 {
		t.Errorf("the server wrote %v into its folder, which a container does not let it", left)
	}
}
