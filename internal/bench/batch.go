package bench

import (
	"math"
	"strings"
)

// Batch is what one upload holds, read and validated, before identity is
// decided: a pure value that a store writes in one transaction.
type Batch struct {
	Format string // of the upload as a whole: report.tsv, db_bench log, archive …
	Files  []File // every file of the upload, in the order it was read
	Runs   []Run
	// Matrices are files of figures by step and version. They become checks
	// against measured results; see [Matrix].
	Matrices []Matrix
	// Checks are of files that repeat what others of the same upload say, made
	// while reading.
	Checks   []Check
	Configs  []Config  // option sets that the upload holds, see [Config]
	Warnings []Message // those that belong to no single result
}

// FileState says what became of a file of an upload.
type FileState string

// The states of a file.
const (
	FileTaken      FileState = "taken"      // its figures are stored
	FileRefused    FileState = "refused"    // nothing of it is stored but its bytes
	FileAttachment FileState = "attachment" // kept beside the run, holds no figures for us
)

// File is one file of an upload. A single-file upload has exactly one.
type File struct {
	Path     string // inside the archive, or the upload's file name
	Format   string // "" when not recognised
	SHA256   string // lower-case hex
	Size     int64
	State    FileState
	Messages []Message // why it was refused; lines that were not understood
}

// Build is a version made by a compiler. Fields but Version may be unknown ("").
// GitHash is not unique in the wild (many builds say rocksdb_bu or 0).
type Build struct {
	Version         string `json:"version"`
	Compiler        string `json:"compiler"`
	CompilerVersion string `json:"compiler_version,omitempty"`
	Flags           string `json:"flags,omitempty"`
	GitHash         string `json:"git_hash,omitempty"`
	BinarySHA256    string `json:"binary_sha256,omitempty"`
	Command         string `json:"command,omitempty"` // how it was built
}

// Run is one execution of a suite's steps for one build, config and workload on
// one server.
type Run struct {
	// ID is the UUID our runner gave, "" for others: then the store derives an
	// identity from context and first start, see [RunKey].
	ID       string
	System   string
	Suite    string
	Server   string
	Workload string
	Config   string
	Build    Build
	// Clients is stated by directory or flag, else the largest thread count of
	// the run's steps, else 0.
	Clients int
	// Assumed names the context fields (workload, compiler, config) that follow
	// from a convention and were not stated; they give way to what is stored.
	Assumed []string
	// Environment holds host facts (cpu, kernel, memory_bytes …) as captured or
	// printed; keys are lower case with underscores.
	Environment map[string]string
	// Options holds the flattened options the run was made with, where known.
	Options map[string]string
	Results []Result
}

// State says how a step ended.
type State string

// The states of a result.
const (
	StateOK     State = "ok"
	StateFailed State = "failed"
	StateNotRun State = "not_run"
)

// Origin says how a figure reached us.
type Origin string

// The origins of results.
const (
	OriginMeasured Origin = "measured"
	// OriginMatrix: the figure stands in a matrix of absolute values only. It
	// counts where no measured result has its place, and gives way to one.
	OriginMatrix Origin = "matrix"
)

// Source is a place a result was read from.
type Source struct {
	File string `json:"file"`
	Line int    `json:"line"` // 0: the file as a whole
}

// Result is one step of a run.
type Result struct {
	Step    Step
	Role    Role
	State   State
	Reason  string // why it failed or was not run
	Origin  Origin
	Started LocalTime // zero when the source has no date
	// Primary is the metric that names the measurement and PrimaryText its
	// figure exactly as printed; "" for a step without one.
	Primary     string
	PrimaryText string
	// Text is the row or line it was read from; part of the identity of
	// results without a date.
	Text string
	// Excluded says why the figure must not be compared ("assertions are
	// enabled", "0 of 10 found"); "" for the normal case.
	Excluded string
	// ContextFromStore marks rows of a file that mixes several builds without
	// naming them: compiler, config and workload are those already stored for
	// the same measurement; without one the row's file is refused.
	ContextFromStore bool
	// Supplement marks what has no figure to be known by, such as a table of
	// response times: it is no measurement of its own but adds its distributions
	// to the one result of the same context and step whose [Result.Label] is its
	// Text; without such a result the file is refused.
	Supplement bool
	Command    string // the command line that made it, where known
	Values     []Value
	Histograms []Histogram
	TimeSeries []TimeSeries
	Breakdowns []Breakdown
	Warnings   []Message
	Sources    []Source
	// Copies is how many more rows of the same file say the same, word for word. They
	// are among Sources, and count as rows that are there already.
	Copies int
}

// Value is one metric of a result. Number is finite: a missing figure has no
// Value. Resolution is the smallest step the source can show (1 for an integer
// p99, 100 for CPU printed in 0.1 thousand seconds), 0 when unknown.
type Value struct {
	Metric     string
	Number     float64
	Resolution float64
	SourceName string // the source's own name of the field: c_wgb
}

// Label gives what a source calls a result, which tells those of one step and
// context apart: its Text up to the first tab.
func (r *Result) Label() string {
	label, _, _ := strings.Cut(r.Text, "\t")
	return label
}

// Value gives the number of a metric and whether the result has it.
func (r *Result) Value(metric string) (float64, bool) {
	for _, v := range r.Values {
		if v.Metric == metric {
			return v.Number, true
		}
	}
	return 0, false
}

// Set adds a value; a later value of the same metric replaces an earlier one.
// NaN and infinite numbers are dropped: they mean not measured.
func (r *Result) Set(v Value) {
	if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) {
		return
	}
	for i := range r.Values {
		if r.Values[i].Metric == v.Metric {
			r.Values[i] = v
			return
		}
	}
	r.Values = append(r.Values, v)
}

// PercentNonzero stands in [Histogram.Percents] for a share that the source
// prints as nonzero: above 0 and below 0.0005 %, of which it is the half.
const PercentNonzero = 0.00025

// Histogram is a distribution of one operation's response times. Bucket i
// covers (Bounds[i-1], Bounds[i]] in µs, the first from 0; Counts has the
// length of Bounds. Percents is used instead of Counts by sources that give
// shares only.
type Histogram struct {
	Operation string    `json:"operation"`
	Unit      string    `json:"unit"`
	Bounds    []float64 `json:"bounds"`
	Counts    []float64 `json:"counts,omitempty"` // nil when the source gives percents
	Percents  []float64 `json:"percents,omitempty"`
	Count     *float64  `json:"count,omitempty"` // total
	Min       *float64  `json:"min,omitempty"`
	Max       *float64  `json:"max,omitempty"`
	Average   *float64  `json:"average,omitempty"`
	StdDev    *float64  `json:"stddev,omitempty"`
}

// TimeSeries is a figure over time within a step. Value i belongs to the
// interval that ends StartS + i*StepS seconds after the step began; NaN marks a
// missing interval and is stored as missing.
type TimeSeries struct {
	Name   string // qps, max_response_us …
	Unit   string
	StartS float64
	StepS  float64
	Values []float64
}

// Keys of breakdowns. What stands behind a colon is another figure of the same
// buckets.
const (
	BreakdownBlockReads    = "block_read_count"                 // observed latency in ns by block reads
	BreakdownBlockReadTime = "block_read_count:block_read_time" // time of these reads in ns
	BreakdownMerges        = "block_read_count:merge_samples"   // samples with merge among those of the bucket
	BreakdownPercentiles   = "completion_latency_percentile"    // µs by percent, such as 99.95
)

// Breakdown is a figure of a result split by a key, such as latency by the
// number of block reads. Samples is 0 where the source does not say it.
type Breakdown struct {
	Key     string  `json:"key"`
	Bucket  string  `json:"bucket"`
	Samples int64   `json:"samples"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
}

// MatrixKind says what a matrix holds.
type MatrixKind string

// The kinds of matrices.
const (
	MatrixRelative MatrixKind = "relative"
	MatrixAbsolute MatrixKind = "absolute"
)

// Matrix is a file of figures with steps as rows and versions as columns. A
// column is one run: a repeated version stands once per run, in file order.
type Matrix struct {
	File    string
	Kind    MatrixKind
	Context Context // server, workload, compiler, config as far as known
	Metric  string  // qps
	// Columns are the versions. With BaseOmitted the figures are relative to
	// Columns[0], which has no cells of its own.
	Columns     []string
	BaseOmitted bool
	Rows        []MatrixRow
}

// MatrixRow is one step of a [Matrix]. Cells has one figure per column (one
// less with BaseOmitted), "" where a cell is empty.
type MatrixRow struct {
	Line  int
	Step  Step
	Cells []string
	// Sibling holds the primary values of the rows the matrix was made from, in
	// column order ("" unknown), where the sibling file was in the same upload.
	Sibling []string
	// Shifted says why the row's cells cannot be trusted to stand under their
	// versions; such a row is reported, not compared.
	Shifted string
}

// Check is the outcome of comparing a matrix with what is stored.
type Check struct {
	File     string    `json:"file"`
	Kind     string    `json:"kind"`
	Cells    int       `json:"cells"`    // compared
	Agree    int       `json:"agree"`    // equal at the printed precision
	Unknown  int       `json:"unknown"`  // nothing stored to compare with
	Shifted  int       `json:"shifted"`  // rows left out because their cells are displaced
	Messages []Message `json:"messages"` // the cells that disagree, the rows left out
}

// Upload is the input of one write: bytes with what was said about them.
type Upload struct {
	Filename string
	SHA256   string
	Bytes    []byte
	Context  Context
	Actor    string // the token's name, or "command line"
	// DryRun asks for all checks and the receipt, and for nothing to be stored.
	DryRun bool
}

// RunRef names a stored run.
type RunRef struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
}

// Receipt says what a write did. AlreadyThere counts rows whose measurement was
// stored before (or stands twice in the upload); Merged those among them that
// added figures. Values counts figures newly stored. After a dry run UploadID is
// 0 and Runs names only runs that are there already.
type Receipt struct {
	UploadID     int64
	SHA256       string
	Duplicate    bool // these bytes were there with the same context: nothing was written
	Format       string
	Runs         []RunRef
	Configs      []ConfigRef // option sets that the upload holds
	Results      int
	AlreadyThere int
	Merged       int
	Values       int
	Files        []File
	Refused      []Message
	Checks       []Check
	Warnings     []Message
}
