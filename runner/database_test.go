package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestForeignDirectoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	make := map[string]func(t *testing.T, dir string){
		"files without a marker": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "CURRENT"), "theirs") },
		"a database where ours would be": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, databaseDir, "CURRENT"), "theirs")
		},
		"the marker of another run": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, markerFile), `{"run":"other","ready":true}`)
		},
		"a damaged marker": func(t *testing.T, dir string) { write(t, filepath.Join(dir, markerFile), `{"run":`) },
		"a file":           func(t *testing.T, dir string) { write(t, dir, "theirs") },
		"a link to a directory with our marker": func(t *testing.T, dir string) {
			other := t.TempDir()
			write(t, filepath.Join(other, markerFile), `{"run":"r1","ready":true}`)
			if err := os.Symlink(other, dir); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, prepare := range make {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t.TempDir(), "r1")
			prepare(t, db.dir)
			before := tree(t, db.dir)
			if _, _, err := db.state(); bench.KindOf(err) != bench.KindConflict {
				t.Errorf("state: %v, want kind conflict", err)
			}
			if err := db.create(); bench.KindOf(err) != bench.KindConflict {
				t.Errorf("create: %v, want kind conflict", err)
			}
			if err := db.remove(); bench.KindOf(err) != bench.KindConflict {
				t.Errorf("remove: %v, want kind conflict", err)
			}
			if after := tree(t, db.dir); after != before {
				t.Errorf("changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// tree lists what a path holds, with the contents of files.
func tree(t *testing.T, dir string) string {
	t.Helper()
	out := ""
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		out += name + " " + info.Mode().String() + " "
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out += string(text)
		}
		out += "\n"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDatabaseDirectoryComesAndGoes(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	db := newDatabase(filepath.Join(parent, "deep", "data"), "r1")
	if exists, _, err := db.state(); exists || err != nil {
		t.Fatalf("before: %v, %v", exists, err)
	}
	if err := db.create(); err != nil {
		t.Fatal(err)
	}
	if exists, ready, err := db.state(); !exists || ready || err != nil {
		t.Fatalf("created: exists %v, ready %v, %v", exists, ready, err)
	}
	write(t, filepath.Join(db.path(), "000001.sst"), "data")
	if err := db.mark(true); err != nil {
		t.Fatal(err)
	}
	if _, ready, err := db.state(); !ready || err != nil {
		t.Fatalf("marked: ready %v, %v", ready, err)
	}
	if err := db.create(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(db.path()); err != nil || len(entries) != 0 {
		t.Errorf("created again: %v, %v, want an empty directory", entries, err)
	}
	if _, ready, _ := db.state(); ready {
		t.Error("created again and still ready")
	}
	if err := db.remove(); err != nil {
		t.Fatal(err)
	}
	if err := db.remove(); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(db.dir)); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestRemovalThatWasCutOffIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(t.TempDir(), "r1")
	if err := os.Mkdir(db.dir, 0o755); err != nil { // the marker was the last to go
		t.Fatal(err)
	}
	if err := db.create(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(db.path()); err != nil { // the marker is there, the database not yet, or no more
		t.Fatal(err)
	}
	if err := db.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(db.dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestFilesBesideTheDatabaseStay(t *testing.T) {
	t.Parallel()
	db := newDatabase(t.TempDir(), "r1")
	if err := db.create(); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(db.dir, "note.txt")
	write(t, note, "somebody's")
	if err := db.remove(); bench.KindOf(err) != bench.KindConflict {
		t.Errorf("error %v, want kind conflict", err)
	}
	if _, err := os.Stat(note); err != nil {
		t.Errorf("a file that the runner did not make: %v", err)
	}
}
