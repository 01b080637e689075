package bench

import "time"

// Record is one part of everything that a store holds, as it is exported and
// imported: exactly one of its fields but Line is set. Records follow one
// another so that each speaks only of what came before: servers, coordinates,
// uploads (each followed by its content), configs, runs with the metric sets they
// use, changes, notes, links, aliases. Each kind is in order of its numbers or
// names, so that equal stores give equal records.
//
// Tokens and sessions are secrets and no records. What follows from the rest is
// none either: packed points, campaigns, counts.
type Record struct {
	// Line is where the record stands in a file, for messages; 0: in none.
	Line int

	Server     *ServerRecord
	Coordinate *CoordinateRecord
	Upload     *UploadRecord
	// Content is the next part of the bytes of the last upload; see
	// [UploadRecord.Packed].
	Content   []byte
	Config    *ConfigRecord
	MetricSet *MetricSetRecord
	Run       *RunRecord
	// Results are further ones of the last run: large runs come in parts.
	Results []ResultRecord
	Change  *ChangeDetail // Coordinate and Metric need not be set: SeriesID says them
	Note    *NoteRecord
	Link    *LinkRecord
	Alias   *AliasRecord
}

// ServerRecord is a server.
type ServerRecord struct {
	Name    string
	Created time.Time
}

// CoordinateRecord is a coordinate with its series, those without points too.
type CoordinateRecord struct {
	ID int64
	Coordinate
	Series []SeriesRecord // in order of their numbers
}

// SeriesRecord is a series of a coordinate.
type SeriesRecord struct {
	ID     int64
	Metric string
}

// UploadRecord is an upload but for its bytes.
type UploadRecord struct {
	// UploadInfo is without its numbers of files, results and runs, which follow
	// from the rest.
	UploadInfo
	Warnings []Message
	Files    []FileRecord // in order of their numbers
	Checks   []Check      // in the order they were made
	// Packed is how many bytes of content follow: those of the upload,
	// compressed by zstd.
	Packed int64
}

// ConfigRecord is a config with its options and the files it was read from.
type ConfigRecord struct {
	ID      int64
	Config  // without SourceName and File, which From has
	Created time.Time
	From    []ConfigFile // in order of the files' numbers
}

// ConfigFile is a file that a config was read from, by its number, and what the
// file calls it.
type ConfigFile struct {
	File       int64
	SourceName string
}

// FileRecord is a file of an upload. Its number is what results and configs refer to.
type FileRecord struct {
	ID int64
	File
}

// MetricSetRecord says what the figures of results are that name its number.
type MetricSetRecord struct {
	ID     int     // within one export, from 1
	Values []Value // metric, resolution and source name; the numbers are 0
}

// RunRecord is a run with its first results.
type RunRecord struct {
	ID int64
	// Key is the run's identity. OwnID says that its runner gave it, so that it
	// does not follow from the context.
	Key         string
	OwnID       bool
	System      string
	Suite       string
	Server      string
	Workload    string
	Config      string
	Build       Build
	Clients     int
	Stated      int // clients that somebody stated; 0: Clients follows from the steps
	Assumed     []string
	Environment map[string]string
	Options     map[string]string
	Started     LocalTime
	Created     time.Time
	State       RecordState
	Reason      string // why it was withdrawn
	// WithdrawnWith is the upload whose withdrawal left it without results, 0: none.
	WithdrawnWith int64
	History       []RunChange // oldest first
	Results       []ResultRecord
}

// ResultRecord is a result as a store holds it.
type ResultRecord struct {
	ID      int64
	Key     Key
	Ordinal int // see [MeasurementKey]
	// Result is without Values and Sources: Set, Numbers and From have them.
	Result
	Set        int        // number of the metric set, 0: no figures
	Numbers    []*float64 // one per value of the set, nil: not measured
	Withdrawn  bool
	Superseded bool
	From       []FileLine // in order of file and line
}

// FileLine is a line of a file of an upload, by the file's number; 0 is the file
// as a whole.
type FileLine struct {
	File int64
	Line int
}

// NoteRecord is a note with every text it had, oldest first.
type NoteRecord struct {
	Note
	History []NoteRevision
}

// LinkRecord is a link. Packed is its snapshot compressed by zstd, nil for a
// live one; Snapshot is not set.
type LinkRecord struct {
	Link
	Packed []byte
}

// AliasRecord is a former name.
type AliasRecord struct {
	Kind  string // server, workload or config
	Old   string
	New   string
	Actor string
	At    time.Time
}
