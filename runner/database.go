package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/relqps/relqps/internal/bench"
)

// A database directory is a directory that the runner made for one run: it holds
// a marker with the run's id, and the database beside it. Without its own marker
// no directory that holds anything is written to or deleted, whatever its name.
const (
	markerFile  = "made-by-relqps.json"
	databaseDir = "db"
)

type marker struct {
	Run string `json:"run"`
	// Ready is set once the creating step has ended well: what the other steps
	// need is there.
	Ready bool `json:"ready"`
}

// database is the database directory of a run.
type database struct {
	dir string // with the marker
	run string
}

// newDatabase names the directory for a run; nothing is made yet.
func newDatabase(parent, run string) *database {
	return &database{filepath.Join(parent, "relqps-"+run), run}
}

// path is what db_bench is told.
func (d *database) path() string { return filepath.Join(d.dir, databaseDir) }

// state reads the marker: whether the directory is there, and whether it holds
// what the creating step made. A directory without our marker is an error of
// kind conflict.
func (d *database) state() (exists, ready bool, err error) {
	info, err := os.Lstat(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	foreign := bench.Errorf(bench.KindConflict, "%s was not made by this run and is left as it is; move it away or use another data_dir", d.dir)
	if !info.IsDir() { // a symbolic link is none either
		return false, false, foreign
	}
	text, err := os.ReadFile(filepath.Join(d.dir, markerFile))
	if errors.Is(err, fs.ErrNotExist) && os.Remove(d.dir) == nil {
		// Empty, as a making or removal that was cut off leaves it.
		return false, false, nil
	}
	if err != nil {
		return false, false, foreign
	}
	var m marker
	if json.Unmarshal(text, &m) != nil || m.Run != d.run {
		return false, false, foreign
	}
	return true, m.Ready, nil
}

// create makes an empty directory, after removing what this run made before.
func (d *database) create() error {
	if err := d.remove(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(d.dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		return err
	}
	if err := d.mark(false); err != nil {
		return err
	}
	return os.Mkdir(d.path(), 0o755)
}

// mark writes the marker.
func (d *database) mark(ready bool) error {
	return writeJSON(filepath.Join(d.dir, markerFile), marker{d.run, ready})
}

// remove deletes the directory if this run made it. The marker goes last, so
// that a removal that was cut off can be taken up again.
func (d *database) remove() error {
	exists, _, err := d.state()
	if err != nil || !exists {
		return err
	}
	if err := os.RemoveAll(d.path()); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(d.dir, markerFile)); err != nil {
		return err
	}
	// Anything else in it is not ours: then the directory stays.
	if err := os.Remove(d.dir); err != nil {
		return bench.Errorf(bench.KindConflict, "%s holds files that the runner did not make and is left in place: %w", d.dir, err)
	}
	return nil
}
