package bench

import "time"

// ConfigKind says what kind of file a config was read from.
type ConfigKind string

// The kinds of config files.
const (
	ConfigMyCnf   ConfigKind = "my.cnf"
	ConfigOptions ConfigKind = "OPTIONS"   // RocksDB's own options file
	ConfigPairs   ConfigKind = "key=value" // a plain list
	// ConfigVariables is what a running server says of itself: SHOW GLOBAL VARIABLES.
	ConfigVariables ConfigKind = "variables"
)

// Layer says what a set of options is of a run. The three differ: servers ignore
// options they do not know, and have defaults for those that nobody set.
type Layer string

// The layers of options.
const (
	LayerRequested Layer = "requested" // the text of the file, as written
	LayerParsed    Layer = "parsed"    // what the file says, flattened and normalised
	LayerEffective Layer = "effective" // read back from the running server
)

// Config is a named set of options of a system. Two files with the same options
// and name are one config.
type Config struct {
	System     string
	Name       string // the project's name: a4, bs8k
	SourceName string // the source's own: cy10a4_bee
	Kind       ConfigKind
	File       string // in the upload
	Layer      Layer  // LayerParsed, or LayerEffective for a dump of a server's variables
	Options    []Option
	Warnings   []Message // duplicate keys, values that could not be read
}

// Option is one setting of a [Config], flattened: column-family option strings
// become cf.default.level0_stop_writes_trigger, a table factory's
// cf.default.block_based_table_factory.filter_policy.
type Option struct {
	Section string // mysqld, CFOptions "default"; "" for a plain list
	Key     string // lower case, - as _, without loose_
	Written string // the value as written: 8G
	// Value is Written in one form, for comparing: sizes in bytes, switches as ON
	// and OFF. A bare flag is ON.
	Value string
	Line  int
	Loose bool // written with loose_: a server that does not know it goes on
	// Environment marks what names a place or an instance (paths, sockets,
	// server_id): set aside in comparisons.
	Environment bool
}

// ConfigFilter selects stored configs. Empty fields select all.
type ConfigFilter struct {
	System string
	Names  []string
	Layer  Layer
	// Servers and Workloads do not select configs but the runs that
	// [StoredConfig.Runs] counts.
	Servers   []string
	Workloads []string
	// Options asks for the options of each; without, only their number is given.
	Options bool
}

// StoredConfig is a config as a store holds it: one set of options, whatever
// files it was read from. SourceName and File of the embedded config are those of
// the first of From.
type StoredConfig struct {
	ID int64
	Config
	Settings int // options that count in comparisons
	Aside    int // options that do not, see [Option.Environment]
	Created  time.Time
	From     []ConfigSource // files of active uploads, oldest first
	// Runs counts the active runs of this system and config name that may have
	// been made with this set: those that name one of its sources as theirs
	// (config_source in their environment), or none at all.
	Runs int
}

// ConfigSource is a file that a config was read from.
type ConfigSource struct {
	UploadID   int64  `json:"upload"`
	File       string `json:"file"`
	SourceName string `json:"source_name"` // what the file calls it
}

// ConfigRef names a stored config in a receipt.
type ConfigRef struct {
	ID     int64  `json:"id"` // 0 after a dry run that would have stored it
	System string `json:"system"`
	Name   string `json:"name"`
	Layer  Layer  `json:"layer"`
	URL    string `json:"url,omitempty"`
}
