package bench

import (
	"context"
	"time"
)

// Touched is what a write changed, handed to a [DetectFunc].
type Touched struct {
	// Series holds the touched series as they are after the write, those of the
	// primary metric of measuring steps only, without points where nothing is left.
	Series []Series
	// Campaigns gives the campaign of each run that has a dated sample in Series.
	Campaigns map[int64]int
}

// DetectFunc is called by a store within the transaction of a write, after the
// points of the touched series were rewritten; the store keeps what it found in
// the same transaction. A series left out of the answer keeps its changes as
// they are. An error undoes the write. It may be called again for the same
// write, when the store had to start over.
type DetectFunc func(ctx context.Context, touched Touched) ([]Detection, error)

// RecordState says whether an upload or a run counts.
type RecordState string

// The states of uploads and runs.
const (
	RecordActive    RecordState = "active"
	RecordWithdrawn RecordState = "withdrawn"
)

// RunFailed is what lists call a run that counts and of which nothing succeeded: no result
// is ok and at least one failed. It follows from the results and is not stored.
const RunFailed RecordState = "failed"

// RunFilter selects runs. Empty lists and zero values select all.
type RunFilter struct {
	System    string
	Suite     string
	Servers   []string
	Workloads []string
	Compilers []string
	Configs   []string
	Versions  []string
	Clients   []int
	UploadID  int64       // runs with a result from this upload
	IDs       []int64     `json:",omitempty"` // left out of JSON: what is frozen knows its filters by their text
	State     RecordState // as [RunSummary.Standing] says, "" for all
	Limit     int         // at most so many; 0: 100, the most is 1000
	Cursor    string      // RunPage.Next of the page before, "" for the first
}

// RunPage is a part of a list of runs, the newest start first, undated runs
// last. Next is the cursor of the following page, "" on the last.
type RunPage struct {
	Runs []RunSummary
	Next string
}

// RunSummary is a run as lists show it.
type RunSummary struct {
	ID       int64
	Key      string // UUID of our runner or [RunKey]
	System   string
	Suite    string
	Server   string
	Workload string
	Config   string
	Clients  int
	Build    Build
	Assumed  []string // fields of the context that nobody stated
	Started  LocalTime
	Campaign int // within the server, from 1; 0 for runs without date or withdrawn
	Created  time.Time
	State    RecordState
	Reason   string // why it was withdrawn
	// Numbers of results by state, whether they count or not, and of results
	// with warnings.
	OK, Failed, NotRun, Warned int
}

// Standing is the state of a run as lists show it: withdrawn, failed where nothing of it
// succeeded, else active.
func (r RunSummary) Standing() RecordState {
	if r.State == RecordActive && r.OK == 0 && r.Failed > 0 {
		return RunFailed
	}
	return r.State
}

// RunDetail is a run with all that belongs to it.
type RunDetail struct {
	RunSummary
	Environment map[string]string
	Options     map[string]string
	Results     []StoredResult // in the order they were stored
	Uploads     []UploadInfo   // the uploads its results came from, oldest first
	History     []RunChange    // oldest first
}

// StoredResult is a result as a store holds it. Sources of the embedded result
// is empty, From has them with their uploads; ContextFromStore is false.
type StoredResult struct {
	ID  int64
	Key Key
	Result
	From       []StoredSource
	Withdrawn  bool // does not count: its run or all its uploads are withdrawn
	Superseded bool // does not count: a matrix figure whose place has a measured result
}

// StoredSource is a place a stored result was read from.
type StoredSource struct {
	UploadID int64
	File     string
	Line     int
}

// RunChange is an entry of a run's history. Before and After hold the fields
// that changed (server, workload, compiler, config, state).
type RunChange struct {
	At     time.Time
	Actor  string
	Action string // corrected, withdrawn or restored
	Reason string
	Before map[string]string
	After  map[string]string
}

// RunPatch corrects the context of a run; nil fields stay as they are.
type RunPatch struct {
	Server   *string
	Workload *string
	Compiler *string
	Config   *string
}

// UploadFilter selects uploads. Zero values select all.
type UploadFilter struct {
	State  RecordState
	Limit  int    // at most so many; 0: 100, the most is 1000
	Cursor string // UploadPage.Next of the page before, "" for the first
}

// UploadPage is a part of a list of uploads, the newest first. Next is the
// cursor of the following page, "" on the last.
type UploadPage struct {
	Uploads []UploadInfo
	Next    string
}

// UploadInfo is an upload as lists show it.
type UploadInfo struct {
	ID          int64
	Filename    string
	SHA256      string
	Format      string
	Size        int64 // bytes as uploaded
	Context     Context
	Actor       string
	Created     time.Time
	State       RecordState
	Withdrawn   *time.Time // nil while active
	WithdrawnBy string
	Reason      string // why it was withdrawn
	// Numbers of its files by state.
	Taken, Refused, Attachments int
	Results                     int // with a source in this upload
	Runs                        int // with such a result
}

// UploadDetail is an upload with all that belongs to it but its bytes.
type UploadDetail struct {
	UploadInfo
	Files    []File
	Checks   []Check
	Warnings []Message
	RunRefs  []RunRef
	Configs  []ConfigRef
}

// Facet is a value that coordinates have, with the number of samples there.
type Facet struct {
	Name    string
	Samples int
}

// ClientsFacet is a number of clients with the number of samples there.
type ClientsFacet struct {
	Clients int
	Samples int
}

// MetricFacet is a metric with the number of values there.
type MetricFacet struct {
	Metric
	Values int
}

// VersionFacet is a version of a system with the number of active runs of it.
type VersionFacet struct {
	System string
	Name   string
	Runs   int
}

// Facets is what selectors offer: the values that occur, with counts. Names are
// in alphabetical order, steps as [CompareSteps] says, metrics as
// [CompareMetrics], versions by system and then as [CompareVersions]. Metrics
// carry their titles and explanations.
type Facets struct {
	Systems   []Facet
	Suites    []Facet
	Servers   []Facet
	Workloads []Facet
	Steps     []Facet
	Compilers []Facet
	Configs   []Facet
	Clients   []ClientsFacet
	Metrics   []MetricFacet
	Versions  []VersionFacet
}

// CoordinateInfo is a coordinate that has samples.
type CoordinateInfo struct {
	Coordinate
	Samples int
}

// Totals says how much a store holds; withdrawn things do not count.
type Totals struct {
	Servers  int
	Versions int
	Runs     int
	Results  int
	Values   int64
	Series   int
	Uploads  int
}

// Credit names where figures come from, as runs state it in their environment
// (source_name, source_url).
type Credit struct {
	Name string
	URL  string // "" when none is stated
}

// Distribution is a response-time distribution of a result, with the run and the
// step it is of.
type Distribution struct {
	RunID int64
	Step  string
	Histogram
}
