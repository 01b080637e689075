package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// The block-size study is a public discussion: figures of neard state-perf at four
// block sizes, each on a disk of its own, with what fio says of every disk.
const (
	studyName   = "near-block-sizes"
	studySource = "near/nearcore, discussion 9370: block sizes and state reads"
	studyURL    = "https://github.com/near/nearcore/discussions/9370"
)

// writeStudy reads the study's text. The discussion names the machine; it says
// neither which release of neard was measured nor how much was in memory of a
// database that is far larger than it.
func writeStudy(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	context := bench.Context{System: bench.SystemNeard, Server: "n2-highcpu-16", Workload: "io", Version: "unknown"}
	batch, err := ingest.Read(data, filepath.Base(path), context, ingest.Limits{})
	if err != nil {
		return err
	}
	if f := batch.Files[0]; f.State != bench.FileTaken || len(batch.Runs) != 8 {
		return fmt.Errorf("%d runs, %s: %v", len(batch.Runs), f.State, f.Messages)
	}
	for i := range batch.Runs {
		run := &batch.Runs[i]
		if run.Environment == nil {
			run.Environment = map[string]string{}
		}
		run.Environment["source_name"], run.Environment["source_url"] = studySource, studyURL
		run.Environment["machine"], run.Environment["storage"] = "GCP n2-highcpu-16", "GCP persistent disk"
	}
	return export(studyName, batch.Runs)
}

// writeConfigs takes the options of the configs a0 to a7 from their files. Runs
// name a config only; this is what it stands for.
func writeConfigs(dir string) error {
	var configs []bench.Config
	for _, n := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
		name := "my.cnf.cy10a" + n + "_bee"
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		batch, err := ingest.Read(data, name, bench.Context{}, ingest.Limits{})
		if err != nil {
			return err
		}
		if len(batch.Configs) != 1 {
			return fmt.Errorf("%s: %v", name, batch.Files[0].Messages)
		}
		configs = append(configs, batch.Configs[0])
	}
	return export("bee-configs", nil, configs...)
}
