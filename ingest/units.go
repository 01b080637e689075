package ingest

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// Unit is one upload that a command makes of its arguments.
type Unit struct {
	// Name is the upload's file name: that of a file argument, or of the folder
	// with .tar behind it, see [contextBase].
	Name  string
	files []unitFile
	whole bool // a file argument, uploaded as it is
	rank  int
}

// unitFile is a file of a unit.
type unitFile struct {
	source string // on disk
	name   string // inside the upload, from the argument's base name on
	size   int64
}

// resultDirBytes is the size from which a bm.* directory is split into one
// upload per build.
const resultDirBytes = 32 << 20

// Units splits arguments of a command into uploads. A file is an upload of its
// own. Of a directory the following become one upload each, as a tar that
// depends on nothing but names and contents:
//
//   - a result directory with all below it: bm.* of benchmark.sh (one per build
//     where it is large), the journal of a run, or a run of the Insert Benchmark;
//   - else the files directly inside each folder.
//
// Paths inside begin with the argument's base name, or with the result
// directories above it that state context.
// Hidden files and folders and links to folders are left out. Uploads come in
// the order in which they lean on one another: those that state most context
// first. Relative arguments are below root, "" being the working directory.
func Units(root string, arguments []string) ([]Unit, error) {
	var units []Unit
	for _, argument := range arguments {
		at := argument
		if !filepath.IsAbs(at) {
			at = filepath.Join(root, at)
		}
		at, err := filepath.Abs(at) // so that . has a name
		if err != nil {
			return nil, bench.Errorf(bench.KindInvalid, "%s: not a usable path", argument)
		}
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, bench.Errorf(bench.KindNotFound, "%s: no such file or directory", argument)
		case err != nil:
			return nil, &bench.Error{Kind: bench.KindInvalid, Message: argument + " cannot be read", Err: err}
		case info.IsDir():
			var w unitWalk
			if err := w.dir(at, contextBase(at)); err != nil {
				return nil, err
			}
			if len(w.units) == 0 {
				// To say nothing of a folder that holds nothing would look like success.
				return nil, bench.Errorf(bench.KindInvalid, "%s: the directory holds no file; hidden files and folders and links to folders are left out", argument)
			}
			units = append(units, w.units...)
		case !info.Mode().IsRegular():
			return nil, bench.Errorf(bench.KindInvalid, "%s is neither a file nor a directory", argument)
		default:
			name := contextBase(at)
			units = append(units, Unit{Name: name, whole: true, files: []unitFile{{source: at, name: name, size: info.Size()}}})
		}
	}
	for i := range units {
		units[i].rank = unitRank(units[i].files)
	}
	slices.SortStableFunc(units, func(a, b Unit) int { return a.rank - b.rank })
	return units, nil
}

// contextBase gives the name of an argument inside its uploads: its base name,
// with the result directories in front of it that state context, so that
// res.byrx/bm.lc.nt8.d0/8.8.gcc/report.tsv says as much as res.byrx does. Other
// directories say nothing about a file that was picked by hand.
func contextBase(at string) string {
	name := filepath.Base(at)
	whole := name
	for parent := filepath.Dir(at); ; parent = filepath.Dir(parent) {
		dir := filepath.Base(parent)
		_, workload := workloadDir(dir)
		_, _, build := buildDir(dir)
		run := benchDirRe.MatchString(dir) || isIBenchDir(dir)
		if !workload && !build && !run {
			return whole
		}
		name = path.Join(dir, name)
		if workload || run {
			// A folder that is named like a version may be anything; below one of
			// these it is a build.
			whole = name
		}
	}
}

// unitWalk collects the units below a directory.
type unitWalk struct{ units []Unit }

// dir takes a folder: as a whole where it is a result directory, else its files,
// then its folders.
func (w *unitWalk) dir(at, name string) error {
	files, folders, err := list(at, name)
	if err != nil {
		return err
	}
	if isResultRoot(name, files, folders) {
		return w.resultDir(at, name, files, folders)
	}
	w.add(name, files)
	for _, folder := range folders {
		if err := w.dir(filepath.Join(at, folder), path.Join(name, folder)); err != nil {
			return err
		}
	}
	return nil
}

func (w *unitWalk) add(name string, files []unitFile) {
	if len(files) > 0 {
		w.units = append(w.units, Unit{Name: name + ".tar", files: files})
	}
}

// resultDir takes a result directory with all below it.
func (w *unitWalk) resultDir(at, name string, files []unitFile, folders []string) error {
	below := make([][]unitFile, len(folders))
	all := slices.Clone(files)
	for i, folder := range folders {
		var err error
		if below[i], err = listAll(filepath.Join(at, folder), path.Join(name, folder)); err != nil {
			return err
		}
		all = append(all, below[i]...)
	}
	size := int64(0)
	for _, f := range all {
		size += f.size
	}
	if size <= resultDirBytes || !benchDirRe.MatchString(path.Base(name)) {
		w.add(name, all)
		return nil
	}
	w.add(name, files)
	for i, folder := range folders {
		w.add(path.Join(name, folder), below[i])
	}
	return nil
}

// isResultRoot reports whether a folder is read as a whole: bm.* of benchmark.sh,
// the journal of a run of ours, or the steps of the Insert Benchmark.
func isResultRoot(name string, files []unitFile, folders []string) bool {
	if benchDirRe.MatchString(path.Base(name)) {
		return true
	}
	if slices.ContainsFunc(folders, func(folder string) bool { _, ok := bench.IBenchStep(folder); return ok }) {
		return true
	}
	return slices.Contains(folders, RunnerStepsDir) &&
		slices.ContainsFunc(files, func(f unitFile) bool { return path.Base(f.name) == RunnerRunFile })
}

// list gives the files and folders directly inside a folder, by name.
func list(at, name string) (files []unitFile, folders []string, err error) {
	entries, err := os.ReadDir(at) // sorted by name
	if err != nil {
		return nil, nil, &bench.Error{Kind: bench.KindInvalid, Message: name + ": the folder cannot be read", Err: err}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.IsDir() {
			folders = append(folders, e.Name())
			continue
		}
		source := filepath.Join(at, e.Name())
		info, err := os.Stat(source) // follows a link to a file
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // a dangling link
		case err != nil:
			return nil, nil, &bench.Error{Kind: bench.KindInvalid, Message: path.Join(name, e.Name()) + " cannot be read", Err: err}
		case info.Mode().IsRegular():
			files = append(files, unitFile{source: source, name: path.Join(name, e.Name()), size: info.Size()})
		}
	}
	return files, folders, nil
}

// listAll gives the files inside a folder and below it.
func listAll(at, name string) ([]unitFile, error) {
	files, folders, err := list(at, name)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		below, err := listAll(filepath.Join(at, folder), path.Join(name, folder))
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

// unitRank orders uploads by the most telling of their files: a path list or a
// result directory, rows by test, rows chosen from others, rows of builds that
// are not named, the rest.
func unitRank(files []unitFile) int {
	const other = 5
	rank := other
	for _, f := range files {
		in := &input{path: f.name}
		base := path.Base(f.name)
		switch {
		case benchDirRe.MatchString(path.Base(path.Dir(f.name))), base == RunnerRunFile,
			strings.HasPrefix(base, "benchmark_"), base == "report.tsv":
			return 0
		}
		head := peek(f.source)
		if head == nil {
			continue
		}
		_, paths, isTable := findHeader(head)
		switch {
		case paths > 0 && isTable:
			return 0
		case !isTable:
		case in.mixesBuilds():
			rank = min(rank, 4)
		case in.repeatsOthers():
			rank = min(rank, 3)
		default:
			rank = min(rank, 2)
		}
	}
	return rank
}

// peek gives the first bytes of a file as text, nil when they are none or cannot
// be read now: that is said when the upload is made.
func peek(source string) []byte {
	f, err := os.Open(source)
	if err != nil {
		return nil
	}
	defer f.Close() // only read from
	head := make([]byte, 16<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	head = head[:n]
	if i := bytes.LastIndexByte(head, '\n'); n == cap(head) && i >= 0 {
		head = head[:i+1] // a cut character at the end would make it undecodable
	}
	text, err := decode(head)
	if err != nil {
		return nil
	}
	return text
}

// Bytes gives the upload's content: the file itself, or a tar of the files in
// order of their names, without times and owners, so that equal files make equal
// bytes. Files beyond limits are not read.
func (u Unit) Bytes(limits Limits) ([]byte, error) {
	limits = limits.withDefaults()
	total := int64(0)
	for _, f := range u.files {
		total += f.size
	}
	if total > limits.Bytes {
		return nil, bench.Errorf(bench.KindTooLarge, "%s: %d MiB, more than the %d MiB that one upload may have", u.Name, total>>20, limits.Bytes>>20)
	}
	if u.whole {
		data, err := os.ReadFile(u.files[0].source)
		if err != nil {
			return nil, &bench.Error{Kind: bench.KindInvalid, Message: u.Name + " cannot be read", Err: err}
		}
		return data, nil
	}
	files := slices.Clone(u.files)
	slices.SortFunc(files, func(a, b unitFile) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	out.Grow(int(total) + (len(files)+2)*2*tarBlock)
	w := tar.NewWriter(&out)
	for _, f := range files {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return nil, &bench.Error{Kind: bench.KindInvalid, Message: f.name + " cannot be read", Err: err}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, &bench.Error{Kind: bench.KindInvalid, Message: f.name + " cannot be packed", Err: err}
		}
		if _, err := w.Write(data); err != nil {
			return nil, &bench.Error{Kind: bench.KindInvalid, Message: f.name + " cannot be packed", Err: err}
		}
	}
	if err := w.Close(); err != nil {
		return nil, &bench.Error{Kind: bench.KindInvalid, Message: u.Name + " cannot be packed", Err: err}
	}
	return out.Bytes(), nil
}
