package runner

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// Binary is what is known about a db_bench executable.
type Binary struct {
	Path    string // absolute
	SHA256  string
	Version string
	// GitHash is the first ten characters of the commit it was built from, "" when
	// it does not say.
	GitHash string
	// Compiler and CompilerVersion are read from the executable's .comment section;
	// "" where it has none or names several compilers.
	Compiler        string
	CompilerVersion string
}

// probeTimeout bounds how long a program may take to say its version.
const probeTimeout = time.Minute

// InspectBinary finds a program on PATH (or at a path) and asks it for its
// version: by --version, which db_bench has from 7.5, and by a trivial run in a
// directory of its own, whose LOG names version and commit in all releases.
// Errors have kind not_found for a missing program and invalid for one that is
// no db_bench.
func InspectBinary(ctx context.Context, name string) (*Binary, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, bench.Errorf(bench.KindNotFound, "db_bench: no program %s; name one with binary=PATH (Debian's is in rocksdb-tools)", name)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	b := &Binary{Path: path}
	if b.SHA256, err = fileSHA256(path); err != nil {
		return nil, err
	}
	b.Compiler, b.CompilerVersion = compilerOf(path)

	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	told := ""
	if out, err := probe(ctx, "", path, "--version"); err == nil {
		told = versionOf(out)
	}
	dir, err := os.MkdirTemp("", "relqps-probe-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db := filepath.Join(dir, "db")
	out, runErr := probe(ctx, dir, path, "--benchmarks=fillseq", "--num=1", "--compression_type=none", "--db="+db, "--wal_dir="+db)
	header := headerVersion(out)
	full, git := logHead(filepath.Join(db, "LOG"))
	b.GitHash = git
	// The header of releases up to 7.4 has two numbers of three; LOG has all.
	for _, v := range []string{full, told, header} {
		if b.Version == "" {
			b.Version = v
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, bench.Errorf(bench.KindInvalid, "%s does not say its version within %s: %w", path, probeTimeout, err)
	}
	if b.Version == "" {
		message := strings.TrimSpace(lastLine(out))
		if message == "" && runErr != nil {
			message = runErr.Error()
		}
		return nil, bench.Errorf(bench.KindInvalid, "%s does not say its version; is it db_bench? A trivial run ended with: %s", path, message)
	}
	return b, nil
}

// probe runs a program to its end and gives standard output and error together.
func probe(ctx context.Context, dir, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = childEnvironment(nil)
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

var (
	versionRe = regexp.MustCompile(`(?m)^db_bench version (\d+\.\d+(?:\.\d+)?\S*)\s*$`)
	headerRe  = regexp.MustCompile(`(?m)^RocksDB:\s+version (\d+\.\d+(?:\.\d+)?)`)
	logRe     = regexp.MustCompile(`RocksDB version: (\d+\.\d+(?:\.\d+)?)`)
	gitRe     = regexp.MustCompile(`Git sha (?:rocksdb_build_git_sha:)?([0-9a-f]{10,})`)
)

func versionOf(out []byte) string { return firstGroup(versionRe, out) }
func headerVersion(out []byte) string {
	return firstGroup(headerRe, bytes.ReplaceAll(out, []byte("\r"), []byte("\n")))
}

// logHead reads version and commit from the beginning of RocksDB's LOG. A
// distribution's build says "Git sha 0", which names nothing.
func logHead(name string) (version, git string) {
	file, err := os.Open(name)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return "", ""
	}
	head = head[:n]
	if git = firstGroup(gitRe, head); len(git) > 10 {
		git = git[:10]
	}
	return firstGroup(logRe, head), git
}

func firstGroup(re *regexp.Regexp, text []byte) string {
	if m := re.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func lastLine(text []byte) string {
	last := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) != "" {
			last = lines.Text()
		}
	}
	return last
}

func fileSHA256(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// compilerOf reads the .comment section of an ELF executable, where compilers
// leave their names.
func compilerOf(path string) (name, version string) {
	file, err := elf.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	section := file.Section(".comment")
	if section == nil {
		return "", ""
	}
	text, err := section.Data()
	if err != nil {
		return "", ""
	}
	return compilerComment(string(text))
}

var gccRe = regexp.MustCompile(`^GCC: \(.*\) (\d+(?:\.\d+)+)`)

// compilerComment names the compiler of a .comment section's strings, "" when
// they do not decide: with clang among them the start-up files that every
// program links still say GCC, and nothing says whether it was clang or
// clang+lto.
func compilerComment(comment string) (name, version string) {
	for _, entry := range strings.Split(comment, "\x00") {
		if entry == "" {
			continue
		}
		m := gccRe.FindStringSubmatch(entry)
		if m == nil {
			return "", ""
		}
		// Start-up files of another patch release do not make another compiler.
		if name != "" && version != m[1] {
			m[1] = ""
		}
		name, version = "gcc", m[1]
	}
	return name, version
}
