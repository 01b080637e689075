// Generate makes the files of package sample from the published archives that
// it is pointed at:
//
//	go run ./internal/sample/generate ARCHIVES
//
// ARCHIVES is a folder with copies of the folders named below. Only figures are
// taken over, in the project's own format; each run names its source.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// set is a file of the sample data: the archive's files and what they leave unsaid.
type set struct {
	name    string
	archive string // folder below bench/arc of the public repository
	files   []string
	context bench.Context
}

const (
	repository = "https://github.com/mdcallag/mytools/tree/master/bench/arc/"
	out        = "internal/sample"
)

var sets = []set{
	{"c2-cached", "nov23.c2.db_bench", []string{"sum.byrx.4x.txt", "sum.byrx.5x.txt", "sum.byrx.6x.txt", "sum.byrx.7x.txt", "sum.byrx.8x.txt"},
		bench.Context{Server: "c2", Workload: "cached", Compiler: "gcc"}},
	{"c2-iodir", "nov23.c2.db_bench", []string{"sum.iodir.6x.txt", "sum.iodir.7x.txt", "sum.iodir.8x.txt"},
		bench.Context{Server: "c2", Workload: "iodir", Compiler: "gcc"}},
	{"u5-cached", "nov23.u.db_bench.8x", []string{"u5/sum.byrx.8x.txt"}, bench.Context{Server: "u5", Workload: "cached", Compiler: "gcc"}},
	{"u5-iobuf", "nov23.u.db_bench.8x", []string{"u5/sum.iobuf.8x.txt"}, bench.Context{Server: "u5", Workload: "iobuf", Compiler: "gcc"}},
	{"u5-iodir", "nov23.u.db_bench.8x", []string{"u5/sum.iodir.8x.txt"}, bench.Context{Server: "u5", Workload: "iodir", Compiler: "gcc"}},
	{"8core-cached", "dec25.dbb.clang", []string{"8core/sum.byrx.txt"}, bench.Context{Server: "8core", Workload: "cached", Compiler: "clang"}},
	{"8core-iobuf", "dec25.dbb.clang", []string{"8core/sum.iobuf.txt"}, bench.Context{Server: "8core", Workload: "iobuf", Compiler: "clang"}},
	{"8core-iodir", "dec25.dbb.clang", []string{"8core/sum.iodir.txt"}, bench.Context{Server: "8core", Workload: "iodir", Compiler: "clang"}},
	{"arm-cached-gcc", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.gcc.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "gcc"}},
	{"arm-cached-clang", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.clang.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "clang"}},
	{"arm-cached-clang-lto", "dec25.dbb.gcp.8core.arm", []string{"byrx/sum.byrx.clang.lto.txt"}, bench.Context{Server: "arm", Workload: "cached", Compiler: "clang+lto"}},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/sample/generate ARCHIVES")
		os.Exit(2)
	}
	for _, s := range sets {
		if err := s.write(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "generate:", s.name+":", err)
			os.Exit(1)
		}
	}
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
			for i := range run.Results {
				// The figures are kept, not the source's rows: a dated result needs no text.
				run.Results[i].Text = ""
			}
			runs = append(runs, run)
		}
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := ingest.WriteExport(zip, runs); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, s.name+".ndjson.gz"), packed.Bytes(), 0o644)
}
