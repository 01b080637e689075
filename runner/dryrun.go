package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// dryRun prints what [Run] would do: the command lines as they would be
// executed, with RUN where the run's id would stand, as comments and commands of
// a shell.
func dryRun(ctx context.Context, o *Options) error {
	p := o.Plan
	binary, err := InspectBinary(ctx, p.Binary)
	if bench.KindOf(err) == bench.KindNotFound && o.Context.Version != "" {
		// Good enough to see the flags of a release that is not installed here.
		binary, err = &Binary{Path: p.Binary, Version: o.Context.Version}, nil
	}
	if err != nil {
		return err
	}
	c, build, _, notes, err := describe(p, o.Context, binary)
	if err != nil {
		return err
	}
	const id = "RUN"
	db := newDatabase(p.dataDir(o.WorkDir), id)
	r, err := p.Resolve(binary.Version, binary.Path, filepath.Join(o.WorkDir, dirRuns, id, ingest.RunnerStepsDir), db.path(), p.seed(time.Now()))
	if err != nil {
		return err
	}
	memory, err := ReadMemory()
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "# plan %s: RocksDB %s (%s) %s, server %s, workload %s, %d clients\n", p.Name, build.Version, build.Compiler, binary.Path, c.Server, c.Workload, c.Clients)
	fmt.Fprintf(o.Out, "# data %s; cache %s; %s\n", p.dataSum(), p.CacheBytes, memory)
	if p.Seed == 0 {
		notes = append(notes, "without a seed in the plan the seed is the second in which the run begins")
	}
	for _, note := range append(notes, r.LeftOut...) {
		fmt.Fprintf(o.Out, "# note: %s\n", note)
	}
	for i := range r.Commands {
		c := &r.Commands[i]
		length := "until it is done"
		if c.Seconds > 0 {
			length = fmt.Sprintf("%d s", c.Seconds)
		}
		fmt.Fprintf(o.Out, "\n# %d/%d %s: %s, time limit %s\n%s\n", c.Number, len(r.Commands), c.Step, length,
			time.Duration(c.Limit*float64(time.Second)).Round(time.Second), shellLine(append([]string{"env", "LC_ALL=C"}, c.Args...)))
	}
	// Last, so that the commands can be looked at where they could not be run.
	if err := p.CheckMemory(memory); err != nil {
		return err
	}
	if free, ok := freeBytes(filepath.Dir(db.dir)); ok && !o.AnyDisk {
		return p.checkSpace(filepath.Dir(db.dir), free)
	}
	return nil
}
