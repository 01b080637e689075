package bench

// RunFacts is what is known of a run besides its figures: where, when and with
// what it was made.
type RunFacts struct {
	ID          int64
	System      string
	Suite       string
	Server      string
	Workload    string
	Config      string
	Clients     int
	Build       Build
	Started     LocalTime // zero: undated
	Campaign    int       // within the server, 0 for undated runs
	Environment map[string]string
	Options     map[string]string
}

// VariedFilter selects runs for [RunFacts] of what was varied. Empty fields select
// all.
type VariedFilter struct {
	System  string
	Servers []string
	Limit   int // at most so many of the newest; 0: 5000
}

// RunBreakdown is a figure of a step of a run split by a key.
type RunBreakdown struct {
	RunID int64
	Step  string
	Breakdown
}
