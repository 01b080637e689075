package bench

import "time"

// NoteScope narrows what a note is about; "" is any.
type NoteScope struct {
	Step     string `json:"step,omitempty"` // a step or a family's name
	Server   string `json:"server,omitempty"`
	Workload string `json:"workload,omitempty"`
	Compiler string `json:"compiler,omitempty"`
	Config   string `json:"config,omitempty"`
}

// Covers reports whether a coordinate is in the scope. A step's scope covers the
// other members of its family too.
func (s NoteScope) Covers(c Coordinate) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(s.Server, c.Server) && is(s.Workload, c.Workload) && is(s.Compiler, c.Compiler) && is(s.Config, c.Config) &&
		(s.Step == "" || StepFamily(s.Step) == StepFamily(c.Step))
}

// Note is what a person wrote on a version, a range of versions or a change.
type Note struct {
	ID        int64
	System    string
	Version   string // first version it is about
	ToVersion string // last one of a range; "" for a single version
	ChangeID  int64  // the change it is about; 0 for none
	Scope     NoteScope
	Body      string // Markdown
	Author    string
	Created   time.Time
	Updated   time.Time
	Deleted   *time.Time // nil while it stands; a deleted note keeps its history
	Revision  int        // counts from 1
}

// NoteRevision is an earlier text of a note.
type NoteRevision struct {
	Revision int
	At       time.Time
	Actor    string
	Action   string // written, edited, deleted
	Body     string
}

// NoteFilter selects notes. Empty fields select all.
type NoteFilter struct {
	System   string
	Version  string // notes on it, or on a range it lies in
	ChangeID int64
	Deleted  bool // include deleted ones
}

// Link is a short permanent address of a view. A frozen one keeps the figures of
// its day.
type Link struct {
	Code    string
	URL     string // of the view, beginning with /
	Frozen  bool
	Author  string
	Created time.Time
	// Snapshot is what a frozen view is drawn from, in the form its page gave it;
	// nil for a live link.
	Snapshot []byte
}
