package ingest

import (
	"fmt"
	"sort"
	"strconv"

	"github.com/relqps/relqps/internal/bench"
)

// A row does not say which run it belongs to. With a path list the place in the
// block says it. Without one the rows of one build are told apart by time: a run
// makes each step once, in order.

// buildKey is what rows of one build have in common within a file.
type buildKey struct {
	path          int32
	version, hash string
}

// build is the rows of one build, in file order.
type build struct {
	run  bench.Run
	rows []int32
}

// runs groups the file's rows into runs. What cannot be placed is a problem.
func (t *table) runs(b *blocks) []bench.Run {
	fromStore := len(b.paths) == 0 && t.in.mixesBuilds() && t.in.given.Compiler == "" && t.in.given.Config == ""
	index := map[buildKey]int{}
	resolved := map[buildKey]bench.Run{} // by path and version
	var builds []build
	var lastKey buildKey
	last := -1
	for i := range t.rows {
		row := &t.rows[i]
		key := buildKey{row.path, row.version, row.hash}
		if row.path >= 0 {
			key.hash = "" // the path is the build
		}
		if last < 0 || key != lastKey {
			at, ok := index[key]
			if !ok {
				plain := buildKey{path: key.path, version: key.version}
				run, known := resolved[plain]
				if !known {
					var err error
					if run, err = t.resolve(b, row, t.results[i].Sources[0].Line); err != nil {
						t.problem(t.results[i].Sources[0].Line, "%v", err)
						if t.problemCount > maxMessages {
							return nil
						}
					}
					resolved[plain] = run
				}
				run.Build.GitHash = row.hash
				at = len(builds)
				builds = append(builds, build{run: run})
				index[key] = at
			}
			last, lastKey = at, key
		}
		builds[last].rows = append(builds[last].rows, int32(i))
		t.results[i].ContextFromStore = fromStore
	}
	if t.problemCount > 0 {
		return nil
	}
	runs := make([]bench.Run, 0, len(builds))
	for i := range builds {
		for _, rows := range t.splitRuns(t.once(builds[i].rows)) {
			run := builds[i].run
			run.Options = copyMap(run.Options) // shared by the runs of a build
			run.Results = t.take(rows)
			for _, r := range rows {
				if job := t.rows[r].job; job != "" {
					run.Environment = map[string]string{"job_id": job}
					break
				}
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// take gives the results of rows. Those that follow one another in the file, as
// in report.tsv, are not copied.
func (t *table) take(rows []int32) []bench.Result {
	first, n := int(rows[0]), len(rows)
	inOrder := true
	for k, r := range rows {
		inOrder = inOrder && int(r) == first+k
	}
	if inOrder {
		return t.results[first : first+n : first+n]
	}
	results := make([]bench.Result, n)
	for k, r := range rows {
		results[k] = t.results[r]
	}
	return results
}

// resolve gives the run of a row's build.
func (t *table) resolve(b *blocks, row *tableRow, line int) (bench.Run, error) {
	by := "line " + strconv.Itoa(line)
	content := bench.Context{Version: row.version}
	var options map[string]string
	if row.path >= 0 {
		p := &b.paths[row.path]
		var err error
		if content, err = content.Fill(p.stated, by, fmt.Sprintf("path %d of the list (%s)", row.path+1, clip(p.name))); err != nil {
			return bench.Run{}, err
		}
		options = p.options
		by += " with its path " + clip(p.name)
	}
	run, err := t.in.resolve(content, by, true)
	if err != nil {
		return bench.Run{}, err
	}
	for k, v := range options {
		if run.Options == nil {
			run.Options = map[string]string{}
		}
		run.Options[k] = v
	}
	return run, nil
}

// once leaves out dated rows that stand twice in the file, as the base of sum2.*
// may: their places become sources of the first.
func (t *table) once(rows []int32) []int32 {
	if !t.repeats(rows) {
		return rows
	}
	first := make(map[string]int32, len(rows))
	kept := rows[:0]
	for _, r := range rows {
		row := &t.results[r]
		if !row.Started.IsZero() {
			if f, ok := first[row.Text]; ok {
				t.results[f].Sources = append(t.results[f].Sources, row.Sources...)
				t.results[f].Copies++
				continue
			}
			first[row.Text] = r
		}
		kept = append(kept, r)
	}
	return kept
}

// repeats reports whether a test stands more than once among rows.
func (t *table) repeats(rows []int32) bool {
	clear(t.seen)
	for _, r := range rows {
		test := t.rows[r].test
		if t.seen[test] {
			return true
		}
		t.seen[test] = true
	}
	return false
}

// splitRuns tells the runs of one build apart, each in order of time.
//
// Where every test has as many rows as every other, and the first rows of all
// tests come one after another in time, as do the second ones and so on, these
// are the runs: that also holds for runs that overlapped. Otherwise the rows
// are taken in order of time, and a test that comes again begins the next run.
func (t *table) splitRuns(rows []int32) [][]int32 {
	if !t.repeats(rows) {
		return [][]int32{t.byTime(rows)}
	}
	count := map[string]int{}
	var chains [][]int32
	for _, r := range rows {
		test := t.rows[r].test
		k := count[test]
		count[test]++
		if k == len(chains) {
			chains = append(chains, nil)
		}
		chains[k] = append(chains[k], r)
	}
	even := len(count) > 1
	for _, chain := range chains {
		even = even && len(chain) == len(count) && t.ascending(chain)
	}
	if even {
		return chains
	}
	rows = t.byTime(rows)
	var runs [][]int32
	seen := map[string]bool{}
	start := 0
	for i, r := range rows {
		test := t.rows[r].test
		if seen[test] {
			runs = append(runs, rows[start:i])
			start = i
			clear(seen)
		}
		seen[test] = true
	}
	return append(runs, rows[start:])
}

// ascending reports whether rows are dated and in order of time.
func (t *table) ascending(rows []int32) bool {
	for i, r := range rows {
		started := t.results[r].Started
		if started.IsZero() || i > 0 && started.Instant().Before(t.results[rows[i-1]].Started.Instant()) {
			return false
		}
	}
	return true
}

// byTime gives the rows in order of their start; rows without a date keep their
// place after the row before them.
func (t *table) byTime(rows []int32) []int32 {
	if t.ascending(rows) {
		return rows
	}
	for _, r := range rows {
		if t.results[r].Started.IsZero() {
			return rows
		}
	}
	sorted := append([]int32(nil), rows...)
	sort.SliceStable(sorted, func(i, j int) bool {
		return t.results[sorted[i]].Started.Instant().Before(t.results[sorted[j]].Started.Instant())
	})
	return sorted
}
