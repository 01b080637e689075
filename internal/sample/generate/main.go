// Generate makes the files of package sample from the published archives that
// it is pointed at:
//
//	go run ./internal/sample/generate DATA
//
// DATA is a folder with copies of the archives named below: dbbench holds folders
// of benchmark results, ibench/reports the tables of reports of the Insert
// Benchmark, ibench/my.cnf the configuration files behind them; a folder sources
// beside DATA holds the text of the block-size study. Only figures and options are
// taken over, in the project's own format; each run names its source.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// set is a file of the sample data: the archive's files and what they leave unsaid.
type set struct {
	name    string
	archive string // folder below bench/arc of the public repository
	files   []string
	context bench.Context
	// build is what the article on the results says of how they were built.
	build bench.Build
}

const (
	repository = "https://github.com/mdcallag/mytools/tree/master/bench/arc/"
	out        = "internal/sample"

	// How the builds of the Arm server were made, as the article "Using db_bench to
	// measure RocksDB performance with gcc and clang" says.
	buildFlags = "DISABLE_WARNING_AS_ERROR=1 DEBUG_LEVEL=0 V=1 VERBOSE=1"
	clangTools = "AR=llvm-ar-18 RANLIB=llvm-ranlib-18 CC=clang CXX=clang++"
)

var sets = []set{
	{"c2-cached", "nov23.c2.db_bench", []string{"sum.byrx.4x.txt", "sum.byrx.5x.txt", "sum.byrx.6x.txt", "sum.byrx.7x.txt", "sum.byrx.8x.txt"},
		bench.Context{Server: "c2", Workload: "cached", Compiler: "gcc"}, bench.Build{}},
	{"c2-iodir", "nov23.c2.db_bench", []string{"sum.iodir.6x.txt", "sum.iodir.7x.txt", "sum.iodir.8x.txt"},
		bench.Context{Server: "c2", Workload: "iodir", Compiler: "gcc"}, bench.Build{}},
	{"u5-cached", "nov23.u.db_bench.8x", []string{"u5/sum.byrx.8x.txt"}, bench.Context{Server: "u5", Workload: "cached", Compiler: "gcc"}, bench.Build{}},
	{"u5-iobuf", "nov23.u.db_bench.8x", []string{"u5/sum.iobuf.8x.txt"}, bench.Context{Server: "u5", Workload: "iobuf", Compiler: "gcc"}, bench.Build{}},
	{"u5-iodir", "nov23.u.db_bench.8x", []string{"u5/sum.iodir.8x.txt"}, bench.Context{Server: "u5", Workload: "iodir", Compiler: "gcc"}, bench.Build{}},
	{"8core-cached", "dec25.dbb.clang", []string{"8core/sum.byrx.txt"}, bench.Context{Server: "8core", Workload: "cached", Compiler: "clang"}, bench.Build{}},
	{"8core-iobuf", "dec25.dbb.clang", []string{"8core/sum.iobuf.txt"}, bench.Context{Server: "8core", Workload: "iobuf", Compiler: "clang"}, bench.Build{}},
	{"8core-iodir", "dec25.dbb.clang", []string{"8core/sum.iodir.txt"}, bench.Context{Server: "8core", Workload: "iodir", Compiler: "clang"}, bench.Build{}},
	{"arm-cached-gcc", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.gcc.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "gcc"},
		bench.Build{CompilerVersion: "13.3.0", Command: "make " + buildFlags + " static_lib db_bench"}},
	{"arm-cached-clang", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.clang.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "clang"},
		bench.Build{CompilerVersion: "18.3.1", Command: clangTools + " make " + buildFlags + " static_lib db_bench"}},
	{"arm-cached-clang-lto", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.clang.lto.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "clang+lto"},
		bench.Build{CompilerVersion: "18.3.1", Command: clangTools + " make USE_LTO=1 " + buildFlags + " static_lib db_bench"}},
}

// report is a file of the sample data made of a report of the Insert Benchmark.
type report struct {
	name   string
	prefix string // of its tables in ibench/reports
	// folder is the report's in the public repository: its name states server,
	// clients and workload.
	folder string
}

const reportRepository = "https://github.com/mdcallag/mdcallag.github.io/tree/master/reports/"

var reports = []report{
	{"bee-ibench-cached", "cached", "23_07_26.bee.rx.1u.1tno.cached"},
	{"bee-ibench-io", "io", "23_07_26.bee.rx.1u.1tno.io"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/sample/generate DATA")
		os.Exit(2)
	}
	fail := func(name string, err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", name+":", err)
			os.Exit(1)
		}
	}
	for _, s := range sets {
		fail(s.name, s.write(filepath.Join(os.Args[1], "dbbench")))
	}
	for _, r := range reports {
		fail(r.name, r.write(filepath.Join(os.Args[1], "ibench", "reports")))
	}
	fail("bee-configs", writeConfigs(filepath.Join(os.Args[1], "ibench", "my.cnf")))
	fail(studyName, writeStudy(filepath.Join(os.Args[1], "..", "sources", "block-size-state-perf.txt")))
}

// write reads the metrics and response times of a report as one upload.
func (r report) write(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, r.prefix+".mrg.*.tsv"))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no tables in %s", dir)
	}
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		inside := r.folder + "/" + strings.TrimPrefix(filepath.Base(name), r.prefix+".")
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: inside, Size: int64(len(data)), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	batch, err := ingest.Read(packed.Bytes(), r.folder+".tar", bench.Context{}, ingest.Limits{})
	if err != nil {
		return err
	}
	for _, f := range batch.Files {
		if f.State != bench.FileTaken {
			return fmt.Errorf("%s is %s: %v", f.Path, f.State, f.Messages)
		}
	}
	for i := range batch.Runs {
		batch.Runs[i].Environment["source_name"] = "mdcallag.github.io, public report " + r.folder
		batch.Runs[i].Environment["source_url"] = reportRepository + r.folder
	}
	// The rows stay as the results' text: without a date they are what makes them
	// known, so that the report itself, uploaded later, is no second measurement.
	return export(r.name, batch.Runs)
}

func (s set) write(archives string) error {
	var runs []bench.Run
	for _, name := range s.files {
		data, err := os.ReadFile(filepath.Join(archives, s.archive, name))
		if err != nil {
			return err
		}
		batch, err := ingest.Read(data, filepath.Base(name), s.context, ingest.Limits{})
		if err != nil {
			return err
		}
		for _, f := range batch.Files {
			if f.State != bench.FileTaken {
				return fmt.Errorf("%s is %s: %v", f.Path, f.State, f.Messages)
			}
		}
		for _, run := range batch.Runs {
			if run.Environment == nil {
				run.Environment = map[string]string{}
			}
			run.Environment["source_name"] = "mdcallag/mytools, public archive " + s.archive
			run.Environment["source_url"] = repository + s.archive
			run.Build.CompilerVersion, run.Build.Command = s.build.CompilerVersion, s.build.Command
			for i := range run.Results {
				// The figures are kept, not the source's rows: a dated result needs no text.
				run.Results[i].Text = ""
			}
			runs = append(runs, run)
		}
	}
	return export(s.name, runs)
}

// export writes a file of the sample data.
func export(name string, runs []bench.Run, configs ...bench.Config) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := ingest.WriteExport(zip, runs, configs...); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+".ndjson.gz"), packed.Bytes(), 0o644)
}
