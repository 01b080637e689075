package sample

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// reader reads each upload as the server would and keeps the batches.
type reader struct{ batches []*bench.Batch }

func (r *reader) Submit(_ context.Context, u bench.Upload) (bench.Receipt, error) {
	b, err := ingest.Read(u.Bytes, u.Filename, u.Context, ingest.Limits{})
	if err == nil {
		r.batches = append(r.batches, b)
	}
	return bench.Receipt{}, err
}

func TestSampleHoldsTheArchivesWithTheirFigures(t *testing.T) {
	t.Parallel()
	var r reader
	if err := Load(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	type place struct{ server, workload, compiler string }
	versions := map[place]map[string]bool{}
	figures := map[string]float64{}
	for _, b := range r.batches {
		for _, f := range b.Files {
			if f.State != bench.FileTaken {
				t.Errorf("%s: %s %v", f.Path, f.State, f.Messages)
			}
		}
		for _, run := range b.Runs {
			p := place{run.Server, run.Workload, run.Build.Compiler}
			if versions[p] == nil {
				versions[p] = map[string]bool{}
			}
			versions[p][run.Build.Version] = true
			if run.Environment["source_name"] == "" || run.Environment["source_url"] == "" {
				t.Errorf("%v %s names no source", p, run.Build.Version)
			}
			for i := range run.Results {
				if v, ok := run.Results[i].Value("qps"); ok && run.Results[i].State == bench.StateOK {
					figures[run.Server+" "+run.Workload+" "+run.Build.Compiler+" "+run.Build.Version+" "+run.Results[i].Step.Name] = v
				}
			}
		}
	}
	// Numbers of versions counted in the archives' files.
	for p, want := range map[place]int{
		{"c2", "cached", "gcc"}: 79, {"c2", "iodir", "gcc"}: 50,
		{"u5", "cached", "gcc"}: 9, {"u5", "iobuf", "gcc"}: 9, {"u5", "iodir", "gcc"}: 9,
		{"8core", "cached", "clang"}: 15, {"8core", "iobuf", "clang"}: 15, {"8core", "iodir", "clang"}: 15,
		{"arm", "cached", "gcc"}: 20, {"arm", "cached", "clang"}: 20, {"arm", "cached", "clang+lto"}: 20,
	} {
		if got := len(versions[p]); got != want {
			t.Errorf("%v: %d versions, want %d", p, got, want)
		}
	}
	// Figures read off the archives' files by hand.
	for at, want := range map[string]float64{
		"c2 cached gcc 4.4.1 fillseq": 2069271, "c2 cached gcc 8.8.0 fillseq": 1671040,
		"arm cached gcc 10.8.3 fillseq": 1356754, "arm cached clang 10.8.3 fillseq": 1402263, "arm cached clang+lto 10.8.3 fillseq": 1395475,
		"u5 cached gcc 8.0.0 fillseq": 1021914,
	} {
		if got := figures[at]; got != want {
			t.Errorf("%s: %g, want %g", at, got, want)
		}
	}
}

// notebook keeps notes in memory, numbered from 1.
type notebook struct{ notes []bench.Note }

func (b *notebook) Notes(_ context.Context, f bench.NoteFilter) ([]bench.Note, error) {
	var out []bench.Note
	for _, n := range b.notes {
		if (f.System == "" || n.System == f.System) && (f.Deleted || n.Deleted == nil) {
			out = append(out, n)
		}
	}
	return out, nil
}

func (b *notebook) CreateNote(_ context.Context, n bench.Note) (bench.Note, error) {
	n.ID = int64(len(b.notes) + 1)
	b.notes = append(b.notes, n)
	return n, nil
}

func TestNotesAreWrittenOnce(t *testing.T) {
	t.Parallel()
	var b notebook
	for range 2 {
		if err := LoadNotes(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
	}
	// The public issues of the known causes.
	issues := map[string]string{"6.14.6": "9354", "8.6.7": "12038", "10.6.2": "13996", "10.8.3": "14141"}
	if len(b.notes) != len(issues) {
		t.Fatalf("%d notes, want %d", len(b.notes), len(issues))
	}
	for _, n := range b.notes {
		if link := "https://github.com/facebook/rocksdb/issues/" + issues[n.Version]; issues[n.Version] == "" || !strings.Contains(n.Body, "("+link+")") || n.Author != NoteAuthor {
			t.Errorf("%s: %s by %s", n.Version, n.Body, n.Author)
		}
	}
	// One that somebody deleted does not come back.
	now := time.Now()
	b.notes[1].Deleted = &now
	if err := LoadNotes(t.Context(), &b); err != nil || len(b.notes) != len(issues) {
		t.Errorf("%d notes, %v", len(b.notes), err)
	}
}
