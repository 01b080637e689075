package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/relqps/relqps/internal/bench"
)

// NoteBody is a note. It is exported because what describes the API looks at
// exported parts of a detail only.
type NoteBody struct {
	ID        int64      `json:"id"`
	System    string     `json:"system"`
	Version   string     `json:"version"`
	ToVersion *string    `json:"to_version" doc:"last version of a range"`
	Change    *int64     `json:"change"`
	Scope     scopeBody  `json:"scope" doc:"null is any"`
	Body      string     `json:"body" doc:"Markdown"`
	Author    string     `json:"author"`
	Created   time.Time  `json:"created"`
	Updated   time.Time  `json:"updated"`
	Deleted   *time.Time `json:"deleted,omitempty"`
	Revision  int        `json:"revision"`
}

// The other shapes of notes.
type (
	scopeBody struct {
		Step     *string `json:"step" required:"false"`
		Server   *string `json:"server" required:"false"`
		Workload *string `json:"workload" required:"false"`
		Compiler *string `json:"compiler" required:"false"`
		Config   *string `json:"config" required:"false"`
	}
	notesBody struct {
		Notes []NoteBody `json:"notes"`
	}
	revisionBody struct {
		Revision int       `json:"revision"`
		At       time.Time `json:"at"`
		Actor    string    `json:"actor"`
		Action   string    `json:"action"`
		Body     string    `json:"body"`
	}
	noteDetailBody struct {
		NoteBody
		History []revisionBody `json:"history"`
	}
)

type notesInput struct {
	System  string `query:"system"`
	Version string `query:"version" doc:"notes on it, or on a range it lies in"`
	Change  int64  `query:"change"`
	Deleted bool   `query:"deleted" doc:"true lists deleted ones too"`
}

type createNoteInput struct {
	Body struct {
		System    string    `json:"system" minLength:"1" maxLength:"200"`
		Version   string    `json:"version" minLength:"1" maxLength:"200"`
		ToVersion *string   `json:"to_version,omitempty"`
		Change    *int64    `json:"change,omitempty"`
		Scope     scopeBody `json:"scope,omitempty" required:"false"`
		Body      string    `json:"body" minLength:"1" maxLength:"20000"`
		Author    *string   `json:"author,omitempty" doc:"the token's name where absent"`
	}
}

// importNotesInput takes the list that GET gives, of this server or another one.
type importNotesInput struct {
	Body struct {
		Notes []importedNote `json:"notes" minItems:"1" maxItems:"1000"`
	}
}

// importedNote is a NoteBody of which only what the note says is needed.
type importedNote struct {
	System    string    `json:"system" minLength:"1" maxLength:"200"`
	Version   string    `json:"version" minLength:"1" maxLength:"200"`
	ToVersion *string   `json:"to_version,omitempty"`
	Scope     scopeBody `json:"scope,omitempty" required:"false"`
	Body      string    `json:"body" minLength:"1" maxLength:"20000"`
	Author    *string   `json:"author,omitempty" doc:"the token's name where absent"`

	ID       *int64     `json:"id,omitempty" doc:"not kept"`
	Change   *int64     `json:"change,omitempty" doc:"not kept: changes have other numbers elsewhere"`
	Created  *time.Time `json:"created,omitempty" doc:"not kept"`
	Updated  *time.Time `json:"updated,omitempty" doc:"not kept"`
	Deleted  *time.Time `json:"deleted,omitempty" doc:"a deleted note is left out"`
	Revision *int       `json:"revision,omitempty" doc:"not kept"`
}

type importedNotesBody struct {
	Notes        []NoteBody `json:"notes" doc:"those that were written"`
	AlreadyThere int        `json:"already_there" doc:"about the same with the same text"`
	Deleted      int        `json:"deleted" doc:"left out because they were deleted where they come from"`
}

type editNoteInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Body     *string    `json:"body,omitempty" maxLength:"20000"`
		Scope    *scopeBody `json:"scope,omitempty"`
		Revision int        `json:"revision,omitempty" doc:"the one that was edited; a conflict when another came in between"`
	}
}

type deleteNoteInput struct {
	ID int64 `path:"id"`
}

func (s *server) registerNotes(a huma.API) {
	token := []map[string][]string{{"token": {}}}
	annotator := s.require(bench.TokenAnnotator)
	huma.Register(a, huma.Operation{OperationID: "notes", Method: http.MethodGet, Path: "/api/v1/notes", Summary: "Notes", Errors: []int{400}}, s.notes)
	huma.Register(a, huma.Operation{OperationID: "note", Method: http.MethodGet, Path: "/api/v1/notes/{id}", Summary: "A note with its history", Errors: []int{400, 404}}, s.note)
	huma.Register(a, huma.Operation{
		OperationID: "write-note", Method: http.MethodPost, Path: "/api/v1/notes", Summary: "Write a note", Security: token, Middlewares: annotator,
		DefaultStatus: http.StatusCreated, Errors: []int{400, 401, 403, 404},
	}, s.createNote)
	huma.Register(a, huma.Operation{
		OperationID: "import-notes", Method: http.MethodPost, Path: "/api/v1/notes/import", Summary: "Write notes that were exported elsewhere", Security: token, Middlewares: annotator,
		Description: "Takes the answer of GET /api/v1/notes as it is: all notes are written or none. One that stands here already is not written again.",
		Errors:      []int{400, 401, 403},
	}, s.importNotes)
	huma.Register(a, huma.Operation{
		OperationID: "edit-note", Method: http.MethodPatch, Path: "/api/v1/notes/{id}", Summary: "Edit a note", Security: token, Middlewares: annotator, Errors: []int{400, 401, 403, 404, 409},
	}, s.editNote)
	huma.Register(a, huma.Operation{
		OperationID: "delete-note", Method: http.MethodDelete, Path: "/api/v1/notes/{id}", Summary: "Delete a note; its history stays", Security: token, Middlewares: annotator,
		DefaultStatus: http.StatusNoContent, Errors: []int{400, 401, 403, 404, 409},
	}, s.deleteNote)
}

func (s *server) notes(ctx context.Context, in *notesInput) (*body[notesBody], error) {
	notes, err := s.Store.Notes(ctx, bench.NoteFilter{System: in.System, Version: in.Version, ChangeID: in.Change, Deleted: in.Deleted})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := notesBody{Notes: make([]NoteBody, 0, len(notes))}
	for _, n := range notes {
		b.Notes = append(b.Notes, newNoteBody(n))
	}
	return &body[notesBody]{b}, nil
}

func (s *server) note(ctx context.Context, in *runInput) (*body[noteDetailBody], error) {
	n, history, err := s.Store.Note(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b := noteDetailBody{newNoteBody(n), []revisionBody{}}
	for _, h := range history {
		b.History = append(b.History, revisionBody{h.Revision, h.At, h.Actor, h.Action, h.Body})
	}
	return &body[noteDetailBody]{b}, nil
}

func (s *server) importNotes(ctx context.Context, in *importNotesInput) (*body[importedNotesBody], error) {
	b := importedNotesBody{Notes: []NoteBody{}}
	var notes []bench.Note
	for _, x := range in.Body.Notes {
		if x.Deleted != nil {
			b.Deleted++
			continue
		}
		n := bench.Note{System: x.System, Version: x.Version, ToVersion: value(x.ToVersion), Scope: x.Scope.scope(), Body: x.Body, Author: value(x.Author)}
		if n.Author == "" {
			n.Author = actor(ctx)
		}
		notes = append(notes, n)
	}
	written, there, err := s.Store.ImportNotes(ctx, notes, actor(ctx))
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	b.AlreadyThere = there
	for _, n := range written {
		b.Notes = append(b.Notes, newNoteBody(n))
	}
	return &body[importedNotesBody]{b}, nil
}

// createdNote is the answer to a new note, with its address.
type createdNote struct {
	Location string `header:"Location"`
	Body     NoteBody
}

func (s *server) createNote(ctx context.Context, in *createNoteInput) (*createdNote, error) {
	n := bench.Note{
		System: in.Body.System, Version: in.Body.Version, ToVersion: value(in.Body.ToVersion), ChangeID: value(in.Body.Change),
		Scope: in.Body.Scope.scope(), Body: in.Body.Body, Author: value(in.Body.Author),
	}
	if n.Author == "" {
		n.Author = actor(ctx)
	}
	if n.ChangeID != 0 && n.Scope == (bench.NoteScope{}) {
		// Without a scope a note on a change is about the changed series, not about all.
		c, err := s.Store.Change(ctx, n.ChangeID)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		n.Scope = bench.NoteScope{Step: bench.StepFamily(c.Step), Server: c.Server, Workload: c.Workload, Compiler: c.Compiler, Config: c.Config}
	}
	n, err := s.Store.CreateNote(ctx, n)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &createdNote{fmt.Sprintf("/api/v1/notes/%d", n.ID), newNoteBody(n)}, nil
}

func (s *server) editNote(ctx context.Context, in *editNoteInput) (*body[NoteBody], error) {
	n, _, err := s.Store.Note(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	revision := in.Body.Revision
	if revision == 0 {
		// What is not sent stays as it was read just now; an edit in between is a conflict.
		revision = n.Revision
	}
	if in.Body.Body != nil {
		n.Body = *in.Body.Body
	}
	if in.Body.Scope != nil {
		n.Scope = in.Body.Scope.scope()
	}
	if n, err = s.Store.EditNote(ctx, in.ID, revision, n.Body, n.Scope, actor(ctx)); err != nil {
		return nil, s.fail(ctx, err)
	}
	return &body[NoteBody]{newNoteBody(n)}, nil
}

func (s *server) deleteNote(ctx context.Context, in *deleteNoteInput) (*struct{}, error) {
	if err := s.Store.DeleteNote(ctx, in.ID, actor(ctx)); err != nil {
		return nil, s.fail(ctx, err)
	}
	return nil, nil
}

func newNoteBody(n bench.Note) NoteBody {
	b := NoteBody{
		ID: n.ID, System: n.System, Version: n.Version, ToVersion: orNil(n.ToVersion), Body: n.Body, Author: n.Author,
		Scope:   scopeBody{orNil(n.Scope.Step), orNil(n.Scope.Server), orNil(n.Scope.Workload), orNil(n.Scope.Compiler), orNil(n.Scope.Config)},
		Created: n.Created, Updated: n.Updated, Deleted: n.Deleted, Revision: n.Revision,
	}
	if n.ChangeID != 0 {
		b.Change = &n.ChangeID
	}
	return b
}

func (s scopeBody) scope() bench.NoteScope {
	return bench.NoteScope{
		Step: value(s.Step), Server: value(s.Server), Workload: bench.WorkloadName(value(s.Workload)),
		Compiler: bench.CompilerName(value(s.Compiler)), Config: value(s.Config),
	}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
