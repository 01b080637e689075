package bench

import "time"

// Shape is the form of a change.
type Shape string

// The shapes of changes.
const (
	ShapeStep   Shape = "step"   // lasting
	ShapeSpike  Shape = "spike"  // one or two versions out and back
	ShapeNewest Shape = "newest" // the last version only, nothing after it yet
)

// FoundChange is a change that detection found in a series, before it has an
// identity. Ratios are kept as natural logarithms.
type FoundChange struct {
	Shape Shape
	// From is the version before the change, To the first of it, Back the first
	// one after a spike, "" for the other shapes.
	From, To, Back string
	// Effect is ln of the ratio of the levels after and before (of a spike: of
	// the spike to what was before); Low and High bound it at 95 %.
	Effect, Low, High float64
	// Neighbours is ln of the ratio of the two versions alone.
	Neighbours float64
	// P is the probability that an unchanged series of this length shows any
	// change as clear as this one; PHere that it shows one at this very version.
	P, PHere float64
	// Before and After are the levels compared.
	Before, After Level
	// OneRun: the change rests on a single sample.
	OneRun bool
	// NewCampaign: the change falls where the measuring paused (the first run at
	// To belongs to a later campaign than the last one at From), so that more
	// than the version may differ.
	NewCampaign bool
}

// Level is a stretch of versions without a change: its mean in ln and the
// number of samples it rests on.
type Level struct {
	First, Last string  // versions, both inside
	Mean        float64 // ln of the metric
	N           int
}

// Detection is what detection says of one series after a write.
type Detection struct {
	SeriesID int64
	Changes  []FoundChange
}

// Triage is what people say of a change.
type Triage string

// The triage states.
const (
	TriageNew       Triage = "new"
	TriageConfirmed Triage = "confirmed"
	TriageNoise     Triage = "noise"
	TriageExpected  Triage = "expected"
	TriageFixed     Triage = "fixed"
)

// Valid reports whether the state is one of the five.
func (t Triage) Valid() bool {
	switch t {
	case TriageNew, TriageConfirmed, TriageNoise, TriageExpected, TriageFixed:
		return true
	}
	return false
}

// Change is a stored change. Its ID stays while later detections find a change
// of the same sign within one version of it; else it is marked dissolved.
type Change struct {
	ID       int64
	SeriesID int64
	Coordinate
	Metric Metric
	FoundChange
	// Dissolved is when a detection no longer found it; nil while it stands. The
	// figures are then those of the last detection that did.
	Dissolved *time.Time
	Created   time.Time
	Updated   time.Time
	Triage    Triage
	FixedIn   string // version, for TriageFixed
	Owner     string
	IssueURL  string // http or https
}

// ChangeEvent is an entry in the thread of a change: a comment, or what somebody
// set. Field is "comment", "triage", "owner", "issue", "fixed_in", or
// "detection" for what a new detection did (found, dissolved, found again).
type ChangeEvent struct {
	ID     int64
	At     time.Time
	Actor  string
	Field  string
	Before string
	After  string // for a comment its Markdown
}

// ChangeDetail is a change with its thread, oldest first.
type ChangeDetail struct {
	Change
	Events []ChangeEvent
}

// ChangeFilter selects changes. Empty lists and zero values select all.
type ChangeFilter struct {
	System    string
	Servers   []string
	Workloads []string
	Steps     []string
	Compilers []string
	Configs   []string
	Versions  []string // of To
	// Kind is "regression" or "improvement", by the metric's direction; "" both.
	Kind      string
	Shape     Shape
	Triage    []Triage
	MinEffect float64 // least |ln ratio|
	// MaxP bounds P, 0 not: what a person has said something of (not new) stays.
	MaxP float64
	// Dissolved includes those that dissolved.
	Dissolved bool
	Limit     int    // at most so many; 0: 100, the most is 1000
	Cursor    string // ChangePage.Next of the page before, "" for the first
}

// ChangePage is a part of a list of changes, those of the newest version first,
// larger effects first within a version. Next is the cursor of the following
// page, "" on the last.
type ChangePage struct {
	Changes []Change
	Next    string
}

// ChangePatch is what people may set on a change; nil fields stay.
type ChangePatch struct {
	Triage   *Triage
	FixedIn  *string
	Owner    *string
	IssueURL *string
	Comment  *string // Markdown, added to the thread
}

// Kind gives "regression", "improvement" or "change" for a metric without a
// direction.
func (c FoundChange) Kind(d Direction) string {
	switch {
	case d == Neutral:
		return "change"
	case (c.Effect > 0) == (d == HigherBetter):
		return "improvement"
	}
	return "regression"
}
