package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

// ChangeBody is a change. It is exported because what describes the API looks at
// exported parts of a detail only.
type ChangeBody struct {
	ID                 int64            `json:"id"`
	URL                string           `json:"url"`
	Series             bench.Coordinate `json:"series"`
	Metric             metricBody       `json:"metric"`
	From               string           `json:"from"`
	To                 string           `json:"to"`
	Back               *string          `json:"back" doc:"first version after a spike"`
	Kind               string           `json:"kind" enum:"regression,improvement,change"`
	Shape              bench.Shape      `json:"shape" enum:"step,spike,newest"`
	Relative           float64          `json:"relative" doc:"ratio of the levels after and before"`
	RelativeLow        float64          `json:"relative_low"`
	RelativeHigh       float64          `json:"relative_high"`
	RelativeNeighbours float64          `json:"relative_neighbours" doc:"ratio of the two versions alone"`
	P                  float64          `json:"p" doc:"probability of such a change at this version in an unchanged series"`
	PSeries            float64          `json:"p_series" doc:"probability of any change as clear as this one in an unchanged series"`
	NBefore            int              `json:"n_before"`
	NAfter             int              `json:"n_after"`
	OneRun             bool             `json:"one_run" doc:"rests on a single sample"`
	NewCampaign        bool             `json:"new_campaign" doc:"the measuring paused between the two versions"`
	CommonMode         *commonModeBody  `json:"common_mode"`
	SeenOn             []sightingBody   `json:"seen_on" doc:"the same step elsewhere: moved the same way, beyond its noise, by at least half as much"`
	NotSeenOn          []sightingBody   `json:"not_seen_on" doc:"its interval excludes half as much"`
	CannotTellOn       []sightingBody   `json:"cannot_tell_on" doc:"measured there, and neither of both can be said"`
	ByCompiler         *byCompilerBody  `json:"by_compiler" doc:"what builds of the same versions by other compilers say; null where none was measured across the change"`
	Status             bench.Triage     `json:"status"`
	FixedIn            string           `json:"fixed_in,omitempty"`
	Owner              string           `json:"owner,omitempty"`
	Issue              string           `json:"issue,omitempty"`
	Dissolved          *time.Time       `json:"dissolved,omitempty" doc:"since when detection no longer finds it"`
	Updated            time.Time        `json:"updated"`
}

// TransformSchema tells what may be null, which huma cannot say of
// an object.
func (ChangeBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(nullable(s, "common_mode"), "by_compiler")
}

// The other shapes of changes.
type (
	sightingBody struct {
		bench.Coordinate
		Relative     float64 `json:"relative"`
		RelativeLow  float64 `json:"relative_low"`
		RelativeHigh float64 `json:"relative_high"`
	}
	commonModeBody struct {
		Moved int      `json:"moved" doc:"steps of the same runs that moved alike, this one included"`
		Of    int      `json:"of"`
		Steps []string `json:"steps" doc:"the others that moved"`
	}
	changesBody struct {
		Changes []ChangeBody `json:"changes"`
		Next    *string      `json:"next"`
	}
	eventBody struct {
		At     time.Time `json:"at"`
		Actor  string    `json:"actor"`
		Field  string    `json:"field"`
		Before string    `json:"before"`
		After  string    `json:"after"`
	}
	changeDetailBody struct {
		ChangeBody
		Events []eventBody `json:"events"`
	}
)

type changesInput struct {
	System    string   `query:"system"`
	Server    []string `query:"server,explode"`
	Workload  []string `query:"workload,explode"`
	Step      []string `query:"step,explode"`
	Compiler  []string `query:"compiler,explode"`
	Config    []string `query:"config,explode"`
	Version   []string `query:"version,explode" doc:"of the first changed version"`
	Kind      string   `query:"kind" enum:"regression,improvement"`
	Shape     string   `query:"shape" enum:"step,spike,newest"`
	Status    []string `query:"status,explode" enum:"new,confirmed,noise,expected,fixed"`
	MinEffect float64  `query:"min_effect" minimum:"0" maximum:"100" default:"0.03" doc:"least |ln ratio|"`
	Dissolved bool     `query:"dissolved" doc:"true lists those too that detection no longer finds"`
	Limit     int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor    string   `query:"cursor"`
}

// Resolve checks what tags cannot say.
func (in *changesInput) Resolve(huma.Context) []error {
	if math.IsNaN(in.MinEffect) {
		return []error{&huma.ErrorDetail{Location: "query.min_effect", Message: "is a number from 0 to 100"}}
	}
	return nil
}

type patchChangeInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Status  *bench.Triage `json:"status,omitempty" enum:"new,confirmed,noise,expected,fixed"`
		FixedIn *string       `json:"fixed_in,omitempty"`
		Owner   *string       `json:"owner,omitempty"`
		Issue   *string       `json:"issue,omitempty" doc:"http or https address"`
		Comment *string       `json:"comment,omitempty" doc:"Markdown, added to the thread"`
	}
}

func (s *server) registerChanges(a huma.API) {
	huma.Register(a, huma.Operation{
		OperationID: "changes", Method: http.MethodGet, Path: "/api/v1/changes", Summary: "Regressions and improvements",
		Description: "Those at the newest version first. Doubts are listed as evidence, never turned into verdicts.", Errors: []int{400},
	}, s.changes)
	huma.Register(a, huma.Operation{
		OperationID: "change", Method: http.MethodGet, Path: "/api/v1/changes/{id}", Summary: "A change with its thread", Errors: []int{400, 404},
	}, s.change)
	huma.Register(a, huma.Operation{
		OperationID: "triage-change", Method: http.MethodPatch, Path: "/api/v1/changes/{id}", Summary: "Say what a change is, or comment on it",
		Security: []map[string][]string{{"token": {}}}, Errors: []int{400, 401, 403, 404},
		Middlewares: s.require(bench.TokenAnnotator),
	}, s.patchChange)
}

func (s *server) changes(ctx context.Context, in *changesInput) (*body[changesBody], error) {
	f := bench.ChangeFilter{
		System: in.System, Servers: in.Server, Workloads: each(in.Workload, bench.WorkloadName), Steps: in.Step,
		Compilers: each(in.Compiler, bench.CompilerName), Configs: in.Config, Versions: in.Version, Kind: in.Kind,
		Shape: bench.Shape(in.Shape), MinEffect: in.MinEffect, Dissolved: in.Dissolved, Limit: in.Limit, Cursor: in.Cursor,
	}
	for _, t := range in.Status {
		f.Triage = append(f.Triage, bench.Triage(t))
	}
	// Of what is stored a list shows as much as keeps false discovery at 5 % across
	// all changes of the system, whatever the other filters leave of them, and what a
	// person has said something of.
	p, tested, err := s.Store.ChangeTable(ctx, in.System)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	f.MaxP = compare.ListCut(p, tested)
	page, err := s.Store.Changes(ctx, f)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	gather, err := s.evidence(ctx, page.Changes)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := changesBody{Changes: make([]ChangeBody, 0, len(page.Changes))}
	for _, c := range page.Changes {
		b.Changes = append(b.Changes, newChangeBody(c, gather(c)))
	}
	if page.Next != "" {
		b.Next = &page.Next
	}
	return &body[changesBody]{b}, nil
}

func (s *server) change(ctx context.Context, in *runInput) (*body[changeDetailBody], error) {
	d, err := s.Store.Change(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return s.changeDetail(ctx, d)
}

func (s *server) patchChange(ctx context.Context, in *patchChangeInput) (*body[changeDetailBody], error) {
	p := bench.ChangePatch{Triage: in.Body.Status, FixedIn: in.Body.FixedIn, Owner: in.Body.Owner, IssueURL: in.Body.Issue, Comment: in.Body.Comment}
	if p == (bench.ChangePatch{}) {
		return nil, s.fail(ctx, bench.Errorf(bench.KindInvalid, "say at least one of status, fixed_in, owner, issue, comment"))
	}
	d, err := s.Store.PatchChange(ctx, in.ID, p, actor(ctx))
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return s.changeDetail(ctx, d)
}

func (s *server) changeDetail(ctx context.Context, d bench.ChangeDetail) (*body[changeDetailBody], error) {
	gather, err := s.evidence(ctx, []bench.Change{d.Change})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	item := changeDetailBody{newChangeBody(d.Change, gather(d.Change)), []eventBody{}}
	for _, e := range d.Events {
		item.Events = append(item.Events, eventBody{e.At, e.Actor, e.Field, e.Before, e.After})
	}
	return &body[changeDetailBody]{item}, nil
}

// evidence reads, once for a list of changes, the series that can say something
// about them.
func (s *server) evidence(ctx context.Context, changes []bench.Change) (func(bench.Change) compare.Evidence, error) {
	type group struct{ system, suite, metric string }
	lines := map[group][]compare.Line{}
	for _, c := range changes {
		g := group{c.System, c.Suite, c.Metric.Name}
		if _, ok := lines[g]; ok {
			continue
		}
		series, err := s.Store.Series(ctx, bench.SeriesFilter{System: g.system, Suite: g.suite, Metric: g.metric})
		if err != nil {
			return nil, err
		}
		lines[g] = compare.Compare(series, compare.Options{Cache: &s.cache}).Lines
	}
	return func(c bench.Change) compare.Evidence {
		return compare.Gather(c, lines[group{c.System, c.Suite, c.Metric.Name}])
	}, nil
}

// byCompilerBody says whether a change is the code, the compiler or noise.
type byCompilerBody struct {
	Verdict string `json:"verdict" enum:"alike,one,some,unclear" doc:"alike: all other compilers moved alike, the code; one: none of them did; some: they differ, or some cannot tell; unclear: none can tell"`
	Text    string `json:"text" doc:"the same in words"`
}

func newChangeBody(c bench.Change, e compare.Evidence) ChangeBody {
	b := ChangeBody{
		ID: c.ID, URL: fmt.Sprintf("/changes/%d", c.ID), Series: c.Coordinate,
		Metric: metricBody{c.Metric.Name, c.Metric.Unit, string(c.Metric.Direction)},
		From:   c.From, To: c.To, Kind: c.Kind(c.Metric.Direction), Shape: c.Shape,
		Relative: math.Exp(c.Effect), RelativeLow: math.Exp(c.Low), RelativeHigh: math.Exp(c.High), RelativeNeighbours: math.Exp(c.Neighbours),
		P: c.PHere, PSeries: c.P, NBefore: c.Before.N, NAfter: c.After.N, OneRun: c.OneRun, NewCampaign: c.NewCampaign,
		SeenOn: sightings(e.Seen), NotSeenOn: sightings(e.NotSeen), CannotTellOn: sightings(e.CannotTell),
		Status: c.Triage, FixedIn: c.FixedIn, Owner: c.Owner, Issue: c.IssueURL, Dissolved: c.Dissolved, Updated: c.Updated,
	}
	if c.Back != "" {
		b.Back = &c.Back
	}
	if by := compare.SeenBy(c, e); by.Verdict != compare.CompilersNone {
		b.ByCompiler = &byCompilerBody{string(by.Verdict), by.Text()}
	}
	if moved, of, ok := e.CommonMode(); ok {
		b.CommonMode = &commonModeBody{Moved: moved, Of: of, Steps: []string{}}
		for _, a := range e.Alike {
			b.CommonMode.Steps = append(b.CommonMode.Steps, a.Step)
		}
	}
	return b
}

func sightings(list []compare.Sighting) []sightingBody {
	out := make([]sightingBody, 0, len(list))
	for _, x := range list {
		out = append(out, sightingBody{x.Coordinate, x.Ratio, x.Low, x.High})
	}
	return out
}

// each applies a naming rule to every element of a list.
func each(list []string, rule func(string) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = rule(strings.TrimSpace(x))
	}
	return out
}
