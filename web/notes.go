package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/web/view"
)

// noteItem shows a note.
func noteItem(n bench.Note, who reader) view.NoteItem {
	item := view.NoteItem{
		Anchor: fmt.Sprintf("note-%d", n.ID), Versions: noteVersions(n), Href: versionHref(n.System, n.Version), Scope: scopeText(n.Scope),
		Body: markdownBody(n.Body), Own: noteHref(n.ID), Meta: n.Author + ", " + day(n),
	}
	if n.ChangeID != 0 {
		item.Href = changeHref(n.ChangeID)
	}
	if n.Deleted != nil {
		item.Gone, item.Body = "deleted "+n.Deleted.UTC().Format("2006-01-02"), nil
	} else if who.mayWrite() {
		item.Edit = noteHref(n.ID) + "/edit"
	}
	return item
}

func day(n bench.Note) string {
	text := n.Created.UTC().Format("2006-01-02")
	if n.Revision > 1 && n.Deleted == nil {
		text += ", edited " + n.Updated.UTC().Format("2006-01-02")
	}
	return text
}

func noteHref(id int64) string { return "/notes/" + strconv.FormatInt(id, 10) }

// noteVersions names what a note is on: 8.6.7, 8.6.7 to 8.7.3.
func noteVersions(n bench.Note) string {
	if n.ToVersion != "" && n.ToVersion != n.Version {
		return n.Version + " to " + n.ToVersion
	}
	return n.Version
}

// scopeText names a scope: overwriteandwait, c2, iodir.
func scopeText(s bench.NoteScope) string {
	parts := []string{s.Step, s.Server, s.Workload, s.Config}
	if s.Compiler != "" {
		parts = append(parts, compilerName(s.Compiler))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// notesQuery is the query of /notes.
type notesQuery struct {
	System, Version string
	Change          int64
	Deleted         bool
	Unknown         url.Values
}

func parseNotes(raw string) (notesQuery, error) {
	v, err := parseQuery(raw)
	if err != nil {
		return notesQuery{}, err
	}
	p := params{v, map[string]bool{}, nil}
	q := notesQuery{System: p.one("system"), Version: p.one("version"), Change: p.number("change", 0), Deleted: p.choice("deleted", "0", "1") == "1"}
	q.Unknown = p.rest()
	return q, p.err
}

func (q notesQuery) String() string {
	a := address{path: "/notes"}
	a.set("system", q.System)
	a.set("version", q.Version)
	if q.Change > 0 {
		a.add("change", strconv.FormatInt(q.Change, 10))
	}
	if q.Deleted {
		a.add("deleted", "1")
	}
	a.keep(q.Unknown)
	return a.String()
}

func (q notesQuery) with(change func(*notesQuery)) string {
	change(&q)
	return q.String()
}

func (s *server) notes(r *http.Request) (templ.Component, error) {
	q, err := parseNotes(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	notes, err := s.Source.Notes(r.Context(), bench.NoteFilter{System: q.System, Version: q.Version, ChangeID: q.Change, Deleted: q.Deleted})
	if err != nil {
		return nil, err
	}
	all, err := s.Source.Notes(r.Context(), bench.NoteFilter{})
	if err != nil {
		return nil, err
	}
	p := newNotesPage(q, notes, all, readerOf(r.Context()))
	p.Page = s.frame(r, "Notes", "/notes")
	s.bar(r, &p.Bar)
	return view.Notes(p), nil
}

// newNotesPage builds the list of notes. all are those of the menus.
func newNotesPage(q notesQuery, notes, all []bench.Note, who reader) view.NotesPage {
	p := view.NotesPage{List: view.NoteList{Add: noteForm{System: q.System, Version: q.Version, Change: q.Change}.String()}}
	var systems []string
	for _, n := range all {
		systems = appendNew(systems, n.System)
	}
	system := view.Field{Label: "System", Value: "all"}
	g := view.ChoiceGroup{Choices: []view.Choice{{Name: "all", Href: q.with(func(q *notesQuery) { q.System = "" }), Current: q.System == ""}}}
	for _, name := range systems {
		g.Choices = append(g.Choices, view.Choice{Name: systemName(name), Href: q.with(func(q *notesQuery) { q.System = name }), Current: q.System == name})
	}
	if q.System != "" {
		system.Value = systemName(q.System)
	}
	system.Menu = []view.ChoiceGroup{g}
	deleted := view.Field{Label: "Deleted", Value: word(q.Deleted, "shown", "hidden")}
	deleted.Menu = []view.ChoiceGroup{{Choices: []view.Choice{
		{Name: "hidden", Href: q.with(func(q *notesQuery) { q.Deleted = false }), Current: !q.Deleted},
		{Name: "shown", Href: q.with(func(q *notesQuery) { q.Deleted = true }), Current: q.Deleted},
	}}}
	p.Bar = view.Bar{Fields: []view.Field{system, deleted}, Copy: q.String(), Export: []view.Link{{Text: "JSON", Href: notesAPI(q), Title: "the same from the API"}}}
	for _, n := range notes {
		p.List.Notes = append(p.List.Notes, noteItem(n, who))
	}
	text := plural(len(notes), "note", "notes")
	if q.Version != "" {
		text += " on " + q.Version
	}
	p.Meta = []view.Fact{fact(text), fact("in the order of versions")}
	if len(notes) == 0 {
		p.Empty = &view.Empty{
			Sentence: "No notes here.",
			Detail:   "A note says in words what happened at a version, a range of versions or a change: it is drawn on every chart in its scope.",
			Links:    []view.Link{{Text: "Write one", Href: p.List.Add}, {Text: "All notes", Href: "/notes"}},
		}
	}
	return p
}

// notesAPI is the address of the same notes in the API.
func notesAPI(q notesQuery) string {
	a := address{path: "/api/v1/notes"}
	a.set("system", q.System)
	a.set("version", q.Version)
	if q.Change > 0 {
		a.add("change", strconv.FormatInt(q.Change, 10))
	}
	if q.Deleted {
		a.add("deleted", "true")
	}
	return a.String()
}

// noteForm is what a form of a note is filled with.
type noteForm struct {
	System, Version, To string
	Change              int64
	Scope               bench.NoteScope
	Body                string
	Back                string // where to go afterwards
}

// String gives the address of the form.
func (f noteForm) String() string {
	a := address{path: "/notes/new"}
	a.set("system", f.System)
	a.set("version", f.Version)
	a.set("to_version", f.To)
	if f.Change > 0 {
		a.add("change", strconv.FormatInt(f.Change, 10))
	}
	a.set("step", f.Scope.Step)
	a.set("server", f.Scope.Server)
	a.set("workload", f.Scope.Workload)
	a.set("compiler", f.Scope.Compiler)
	a.set("config", f.Scope.Config)
	a.set("back", f.Back)
	return a.String()
}

// readNoteForm reads a form from a query or from what a browser sent.
func readNoteForm(v url.Values) (noteForm, error) {
	one := func(key string) string { return strings.TrimSpace(v.Get(key)) }
	f := noteForm{
		System: one("system"), Version: one("version"), To: one("to_version"), Body: strings.TrimSpace(v.Get("body")), Back: one("back"),
		Scope: bench.NoteScope{
			Step: one("step"), Server: one("server"), Workload: bench.WorkloadName(one("workload")),
			Compiler: bench.CompilerName(one("compiler")), Config: one("config"),
		},
	}
	if text := one("change"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return f, bench.Errorf(bench.KindInvalid, "a change is a whole number above 0, not %q", text)
		}
		f.Change = n
	}
	return f, nil
}

func (s *server) newNote(r *http.Request) (templ.Component, error) {
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	f, err := readNoteForm(v)
	if err != nil {
		return nil, err
	}
	return s.noteForm(r, f, nil, nil)
}

// noteForm shows the form of a new note, or of one that is edited. failed is why
// what was sent was not stored, nil at first.
func (s *server) noteForm(r *http.Request, f noteForm, edited *bench.Note, failed error) (templ.Component, error) {
	facets, err := s.Source.Facets(r.Context(), bench.SeriesFilter{System: f.System})
	if err != nil {
		return nil, err
	}
	p := newNoteForm(f, edited, facets)
	who := readerOf(r.Context())
	p.SignedIn, p.SignIn = who.mayWrite(), signInHref(localPath(r.URL.RequestURI()))
	if failed != nil {
		_, p.Error = problemText(failed)
	}
	if f.Body != "" && (failed != nil || r.Method == http.MethodPost) {
		p.Preview = markdownBody(f.Body)
	}
	p.Page = s.frame(r, p.Heading, "/notes")
	return view.NoteForm(p), nil
}

// newNoteForm builds the form.
func newNoteForm(f noteForm, edited *bench.Note, facets bench.Facets) view.NoteFormPage {
	names := func(list []bench.Facet) []string {
		var out []string
		for _, x := range list {
			if x.Name != "" {
				out = append(out, x.Name)
			}
		}
		return out
	}
	var versions []string
	for _, v := range facets.Versions {
		if v.Name != "" && (f.System == "" || v.System == f.System) {
			versions = appendNew(versions, v.Name)
		}
	}
	slices.Reverse(versions)
	versions = versions[:min(len(versions), menuVersionsMax)] // hints: any version can be written
	p := view.NoteFormPage{Heading: "New note", Action: "/notes", Button: "Save note", Body: f.Body, Cancel: cmp.Or(localBack(f.Back), "/notes")}
	if f.Back != "" {
		p.Hidden = append(p.Hidden, view.Pair{Key: "back", Value: f.Back})
	}
	if f.Change > 0 {
		p.Hidden = append(p.Hidden, view.Pair{Key: "change", Value: strconv.FormatInt(f.Change, 10)})
	}
	if edited != nil {
		p.Heading, p.Action, p.Button = "Edit note "+strconv.FormatInt(edited.ID, 10), noteHref(edited.ID), "Save"
		p.Cancel = cmp.Or(localBack(f.Back), noteHref(edited.ID))
		p.Fixed = fmt.Sprintf("on %s %s", systemName(edited.System), noteVersions(*edited))
		p.Hidden = append(p.Hidden, view.Pair{Key: "revision", Value: strconv.Itoa(edited.Revision)})
	} else {
		p.Fields = []view.FormField{
			{Name: "system", Label: "System", Value: f.System, Hint: "rocksdb", Values: names(facets.Systems), Required: true},
			{Name: "version", Label: "Version", Value: f.Version, Hint: "8.6.7", Values: versions, Required: true},
			{Name: "to_version", Label: "to version, for a range", Value: f.To, Hint: "the same", Values: versions},
		}
	}
	p.Fields = append(p.Fields,
		view.FormField{Name: "step", Label: "Step", Value: f.Scope.Step, Hint: "all", Values: names(facets.Steps)},
		view.FormField{Name: "server", Label: "Server", Value: f.Scope.Server, Hint: "all", Values: names(facets.Servers)},
		view.FormField{Name: "workload", Label: "Workload", Value: f.Scope.Workload, Hint: "all", Values: names(facets.Workloads)},
		view.FormField{Name: "compiler", Label: "Compiler", Value: f.Scope.Compiler, Hint: "all", Values: names(facets.Compilers)},
		view.FormField{Name: "config", Label: "Config", Value: f.Scope.Config, Hint: "all", Values: names(facets.Configs)},
	)
	return p
}

// localBack gives an address of this site to go back to, "" for none.
func localBack(back string) string {
	if back == "" {
		return ""
	}
	return localPath(back)
}

// writeNote stores a note that a form sent.
func (s *server) writeNote(w http.ResponseWriter, r *http.Request, who reader) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	f, err := readNoteForm(form)
	if err != nil {
		return err
	}
	if form.Get("do") == "preview" {
		return s.showForm(w, r, http.StatusOK, f, nil, nil)
	}
	n, err := s.Store.CreateNote(r.Context(), bench.Note{
		System: f.System, Version: f.Version, ToVersion: f.To, ChangeID: f.Change, Scope: f.Scope, Body: f.Body, Author: who.name,
	})
	if status, _ := problemText(err); err != nil && status < http.StatusInternalServerError {
		return s.showForm(w, r, status, f, nil, err)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, cmp.Or(localBack(f.Back), noteHref(n.ID)), http.StatusSeeOther)
	return nil
}

func (s *server) showForm(w http.ResponseWriter, r *http.Request, status int, f noteForm, edited *bench.Note, failed error) error {
	page, err := s.noteForm(r, f, edited, failed)
	if err != nil {
		return err
	}
	s.render(w, r, status, page)
	return nil
}

// noteID reads the number of a note from the path.
func noteID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id < 1 {
		return 0, bench.Errorf(bench.KindNotFound, "%q is no number of a note; notes are numbered from 1.", chi.URLParam(r, "id"))
	}
	return id, nil
}

func (s *server) note(r *http.Request) (templ.Component, error) {
	id, err := noteID(r)
	if err != nil {
		return nil, err
	}
	n, history, err := s.Source.Note(r.Context(), id)
	if err != nil {
		return nil, err
	}
	p := newNotePage(n, history, readerOf(r.Context()))
	p.Page = s.frame(r, p.Heading, "/notes")
	return view.Note(p), nil
}

// newNotePage builds the page of a note.
func newNotePage(n bench.Note, history []bench.NoteRevision, who reader) view.NotePage {
	p := view.NotePage{Heading: fmt.Sprintf("Note on %s %s", systemName(n.System), noteVersions(n)), Note: noteItem(n, who)}
	if n.Deleted == nil && who.mayWrite() {
		p.Delete = noteHref(n.ID) + "/delete"
	}
	for i := len(history) - 1; i >= 0; i-- {
		h := history[i]
		p.History = append(p.History, view.NoteRevision{What: h.Action, When: timeText(h.At), Actor: h.Actor, Body: h.Body})
	}
	return p
}

func (s *server) editNote(r *http.Request) (templ.Component, error) {
	n, err := s.standingNote(r.Context(), r)
	if err != nil {
		return nil, err
	}
	return s.noteForm(r, noteForm{System: n.System, Version: n.Version, To: n.ToVersion, Scope: n.Scope, Body: n.Body}, &n, nil)
}

// standingNote gives the note that the path names, unless it was deleted.
func (s *server) standingNote(ctx context.Context, r *http.Request) (bench.Note, error) {
	id, err := noteID(r)
	if err != nil {
		return bench.Note{}, err
	}
	n, _, err := s.Source.Note(ctx, id)
	if err == nil && n.Deleted != nil {
		err = bench.Errorf(bench.KindConflict, "Note %d was deleted.", id)
	}
	return n, err
}

// changeNote stores an edited note.
func (s *server) changeNote(w http.ResponseWriter, r *http.Request, who reader) error {
	n, err := s.standingNote(r.Context(), r)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	f, err := readNoteForm(form)
	if err != nil {
		return err
	}
	f.System = n.System
	if form.Get("do") == "preview" {
		return s.showForm(w, r, http.StatusOK, f, &n, nil)
	}
	revision, err := strconv.Atoi(form.Get("revision"))
	if err != nil {
		return bench.Errorf(bench.KindInvalid, "the form does not say which text it edits")
	}
	_, err = s.Store.EditNote(r.Context(), n.ID, revision, f.Body, f.Scope, who.name)
	if status, _ := problemText(err); err != nil && status < http.StatusInternalServerError {
		return s.showForm(w, r, status, f, &n, err)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, cmp.Or(localBack(f.Back), noteHref(n.ID)), http.StatusSeeOther)
	return nil
}

func (s *server) deleteNote(w http.ResponseWriter, r *http.Request, who reader) error {
	id, err := noteID(r)
	if err != nil {
		return err
	}
	if err := s.Store.DeleteNote(r.Context(), id, who.name); err != nil {
		return err
	}
	http.Redirect(w, r, noteHref(id), http.StatusSeeOther)
	return nil
}
