package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// The work directory:
//
//	lock                          held while a runner works here
//	runs/<id>/                    the journal of a run, as ingest reads it (see ingest.RunnerRun)
//	    run.json, steps/…
//	    steps/03-readrandom.attempt-1/   an attempt that was cut off, kept to be looked at
//	    steps/03-readrandom/attempt.json the attempt in progress: process id, start
//	    uploads/03-readrandom.tar.gz     what is posted of a step, the same bytes every time
//	    posted/03-readrandom.json        what the sink answered, by sink
//	    finished.json                    no step is left
//	data/relqps-<id>/             the database directory with its marker, unless the plan has data_dir
//
// Every file but the output of processes is written beside its name, synced and
// renamed, so that it is there as a whole or not at all.
const (
	dirRuns      = "runs"
	dirUploads   = "uploads"
	dirPosted    = "posted"
	fileFinished = "finished.json"
	fileAttempt  = "attempt.json"
)

// journal is a run's directory.
type journal struct {
	dir string
	run *ingest.RunnerRun
}

// attempt is attempt.json: the process that is at work on a step.
type attempt struct {
	Attempt int       `json:"attempt"`
	Started time.Time `json:"started"`
	PID     int       `json:"pid,omitempty"`
	// ProcessStart names the process for good, see processStart.
	ProcessStart string `json:"process_start,omitempty"`
}

// finished is finished.json.
type finished struct {
	Ended time.Time `json:"ended"`
}

// posting is posted/<step>.json: what became of an upload, by target.
type posting struct {
	Target string         `json:"target"`
	Time   time.Time      `json:"time"`
	Upload int64          `json:"upload_id,omitempty"`
	Runs   []bench.RunRef `json:"runs,omitempty"`
	// Refused says why the sink will not take it, now or later.
	Refused string `json:"refused,omitempty"`
}

// createJournal makes the directory of a new run.
func createJournal(workDir string, run *ingest.RunnerRun) (*journal, error) {
	j := &journal{dir: filepath.Join(workDir, dirRuns, run.ID), run: run}
	for _, dir := range []string{ingest.RunnerStepsDir, dirUploads, dirPosted} {
		if err := os.MkdirAll(filepath.Join(j.dir, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := writeJSON(filepath.Join(j.dir, ingest.RunnerRunFile), run); err != nil {
		return nil, err
	}
	return j, syncDir(filepath.Join(workDir, dirRuns))
}

// openJournals gives the runs of a work directory, oldest first. Directories
// without run.json are runs that did not get as far as that: they hold nothing.
func openJournals(workDir string) ([]*journal, error) {
	entries, err := os.ReadDir(filepath.Join(workDir, dirRuns))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []*journal
	for _, e := range entries {
		j := &journal{dir: filepath.Join(workDir, dirRuns, e.Name()), run: &ingest.RunnerRun{}}
		switch err := readJSON(filepath.Join(j.dir, ingest.RunnerRunFile), j.run); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case j.run.Format != ingest.RunnerFormat || j.run.FormatVersion != ingest.RunnerVersion:
			return nil, bench.Errorf(bench.KindInvalid, "%s: not a journal of this version: %s %d", j.dir, j.run.Format, j.run.FormatVersion)
		}
		all = append(all, j)
	}
	sort.SliceStable(all, func(a, b int) bool { return all[a].run.Created.Before(all[b].run.Created) })
	return all, nil
}

func (j *journal) stepDir(c *ingest.RunnerCommand) string {
	return filepath.Join(j.dir, ingest.RunnerStepsDir, c.Dir)
}

// result gives what is recorded of a step; ok is false when it has not ended.
func (j *journal) result(c *ingest.RunnerCommand) (r *ingest.RunnerStep, ok bool, err error) {
	r = &ingest.RunnerStep{}
	err = readJSON(filepath.Join(j.stepDir(c), ingest.RunnerResultFile), r)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return r, err == nil, err
}

// record writes a step's result; from then on the step has ended.
func (j *journal) record(c *ingest.RunnerCommand, r *ingest.RunnerStep) error {
	if err := os.MkdirAll(j.stepDir(c), 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(j.stepDir(c), ingest.RunnerResultFile), r); err != nil {
		return err
	}
	return syncDir(filepath.Join(j.dir, ingest.RunnerStepsDir))
}

// setAside moves what an attempt that was cut off left behind out of the way and
// gives the number of attempts so far.
func (j *journal) setAside(c *ingest.RunnerCommand) (attempts int, last *attempt, err error) {
	for n := 1; ; n++ {
		if _, err := os.Stat(fmt.Sprintf("%s.attempt-%d", j.stepDir(c), n)); err != nil {
			attempts = n - 1
			break
		}
	}
	if _, err := os.Stat(j.stepDir(c)); errors.Is(err, fs.ErrNotExist) {
		return attempts, nil, nil
	}
	last = &attempt{}
	switch err := readJSON(filepath.Join(j.stepDir(c), fileAttempt), last); {
	case errors.Is(err, fs.ErrNotExist):
		// Nothing was started: not an attempt.
		return attempts, nil, os.RemoveAll(j.stepDir(c))
	case err != nil:
		return attempts, nil, err
	}
	attempts++
	return attempts, last, os.Rename(j.stepDir(c), fmt.Sprintf("%s.attempt-%d", j.stepDir(c), attempts))
}

// isFinished reports whether all steps of the run have ended.
func (j *journal) isFinished() bool {
	_, err := os.Stat(filepath.Join(j.dir, fileFinished))
	return err == nil
}

func (j *journal) finish() error {
	return writeJSON(filepath.Join(j.dir, fileFinished), finished{time.Now()})
}

// posted gives what a target answered about a step, nil when it was not asked
// or did not answer.
func (j *journal) posted(c *ingest.RunnerCommand, target string) (*posting, error) {
	all, err := j.postings(c)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Target == target {
			return &all[i], nil
		}
	}
	return nil, nil
}

func (j *journal) postings(c *ingest.RunnerCommand) ([]posting, error) {
	var all []posting
	err := readJSON(filepath.Join(j.dir, dirPosted, c.Dir+".json"), &all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

func (j *journal) recordPosting(c *ingest.RunnerCommand, p posting) error {
	all, err := j.postings(c)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Target == p.Target {
			all = append(all[:i], all[i+1:]...)
			break
		}
	}
	return writeJSON(filepath.Join(j.dir, dirPosted, c.Dir+".json"), append(all, p))
}

// writeJSON writes a value as indented JSON.
func writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(name, append(text, '\n'))
}

func readJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return bench.Errorf(bench.KindInvalid, "%s: %w", name, err)
	}
	return nil
}

// writeFile puts a file in place as a whole, on disk before it has its name.
func writeFile(name string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	_, err = file.Write(text)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// syncDir makes names in a directory last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
