package sample

import (
	"context"
	"fmt"

	"github.com/relqps/relqps/internal/bench"
)

// NoteAuthor is who the notes of the sample data are by.
const NoteAuthor = "relqps sample data"

// Notebook keeps notes; a store satisfies it. It is declared here so that this
// package knows none.
type Notebook interface {
	Notes(ctx context.Context, f bench.NoteFilter) ([]bench.Note, error)
	CreateNote(ctx context.Context, n bench.Note) (bench.Note, error)
}

// notes say of known causes what moved at a version, each with its public issue.
var notes = []bench.Note{
	{
		Version: "6.14.6", Scope: bench.NoteScope{Step: "fillseq", Workload: "iodir"},
		Body: "`force_consistency_checks` is on by default from 6.14: every change of the LSM tree is checked, and a load in key order pays for it. " +
			"It shows with O_DIRECT and hardly in cache, and is gone again from 7.5 on. [rocksdb issue 9354](https://github.com/facebook/rocksdb/issues/9354)",
	},
	{
		Version: "8.6.7", Scope: bench.NoteScope{Step: "overwriteandwait"},
		Body: "The default of `compaction_readahead_size` became 2 MB in 8.6, but db_bench of 8.6 sets it to 0 unless told otherwise: compaction reads without readahead. " +
			"8.7.3 takes the default from the library. Reads from storage decide how much it costs: most with O_DIRECT, nothing in cache. " +
			"[rocksdb issue 12038](https://github.com/facebook/rocksdb/issues/12038)",
	},
	{
		Version: "10.6.2", Scope: bench.NoteScope{Step: "fillseq"},
		Body: "10.6.0 to 10.6.2 use more CPU in compaction when blocks are compressed; 10.7 is as 10.5 was. " +
			"[rocksdb issue 13996](https://github.com/facebook/rocksdb/issues/13996)",
	},
	{
		Version: "10.8.3", Scope: bench.NoteScope{Step: "fillseq", Compiler: "gcc"},
		Body: "A build by gcc loses in fillseq on a large server; builds by clang do not, and small servers do not show it: the compiler is part of the cause. " +
			"[rocksdb issue 14141](https://github.com/facebook/rocksdb/issues/14141)",
	},
}

// LoadNotes writes the notes of the sample data. One that is there, or was and
// somebody deleted it, stays as it is.
func LoadNotes(ctx context.Context, to Notebook) error {
	have, err := to.Notes(ctx, bench.NoteFilter{System: bench.SystemRocksDB, Deleted: true})
	if err != nil {
		return fmt.Errorf("sample notes: %w", err)
	}
	written := map[string]bool{}
	for _, n := range have {
		if n.Author == NoteAuthor {
			written[n.Version] = true
		}
	}
	for _, n := range notes {
		if written[n.Version] {
			continue
		}
		n.System, n.Author = bench.SystemRocksDB, NoteAuthor
		if _, err := to.CreateNote(ctx, n); err != nil {
			return fmt.Errorf("sample note on %s: %w", n.Version, err)
		}
	}
	return nil
}
