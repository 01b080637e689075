package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/bench"
)

// ending says in words what went wrong with a process as its parent saw it, ""
// for nothing.
func ending(c *ingest.RunnerCommand, exit ingest.RunnerExit) string {
	switch {
	case exit.TimeLimit && exit.Signal != "":
		return fmt.Sprintf("time limit of %g s passed, ended by the runner (%s)", c.Limit, exit.Signal)
	case exit.TimeLimit:
		return fmt.Sprintf("time limit of %g s passed, ended by the runner", c.Limit)
	case exit.Signal != "":
		return "ended by a signal: " + exit.Signal
	case exit.Code != 0:
		return fmt.Sprintf("exit status %d", exit.Code)
	}
	return ""
}

// judge decides whether a step succeeded, and why not: by how the process ended
// and by what it printed, because some releases fail with exit status 0. figure
// is its result for people.
func judge(c *ingest.RunnerCommand, exit ingest.RunnerExit, dir string) (state bench.State, reason, figure string, err error) {
	out, err := readOutput(dir)
	if err != nil {
		return "", "", "", err
	}
	how := ending(c, exit)
	reading, err := ingest.ReadDBBenchLog(out.Stdout, out.Stderr, ingest.LogSource{
		Stdout: ingest.RunnerStdoutFile, Stderr: ingest.RunnerStderrFile, Step: c.Test, Command: shellLine(c.Args), Failure: how,
	})
	if err != nil {
		if bench.KindOf(err) != bench.KindInvalid {
			return "", "", "", err
		}
		return bench.StateFailed, err.Error(), "", nil
	}
	printed := ""
	var result *bench.Result
	for i := range reading.Results {
		r := &reading.Results[i]
		if r.State != bench.StateOK && printed == "" {
			printed = r.Reason
		}
		if r.State == bench.StateOK && r.Primary != "" {
			result = r
		}
	}
	switch {
	case how != "" && (printed == "" || strings.Contains(printed, how)):
		return bench.StateFailed, how, "", nil
	case how != "":
		return bench.StateFailed, printed + "; " + how, "", nil
	case printed != "":
		return bench.StateFailed, printed, "", nil
	case c.Figure == "":
		return bench.StateOK, "", "", nil
	case result == nil:
		return bench.StateFailed, fmt.Sprintf("it printed no result of %s", c.Figure), "", nil
	}
	m, _ := bench.LookupMetric(result.Primary)
	return bench.StateOK, "", fmt.Sprintf("%s %s", result.PrimaryText, m.Title), nil
}

// readOutput reads what a step left in its directory.
func readOutput(dir string) (ingest.RunnerOutput, error) {
	var out ingest.RunnerOutput
	for name, to := range map[string]*[]byte{
		ingest.RunnerStdoutFile: &out.Stdout, ingest.RunnerStderrFile: &out.Stderr, ingest.RunnerReportFile: &out.Report,
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		*to = text
	}
	return out, nil
}

// qps gives the queries per second of a step that has ended, nil without any.
func qps(c *ingest.RunnerCommand, step *ingest.RunnerStep, dir string) *float64 {
	out, err := readOutput(dir)
	if err != nil {
		return nil
	}
	results, _, err := ingest.ReadRunnerStep(c, step, out)
	if err != nil {
		return nil
	}
	for i := range results {
		if v, ok := results[i].Value("qps"); ok && results[i].Step.Name == c.Step {
			return &v
		}
	}
	return nil
}
