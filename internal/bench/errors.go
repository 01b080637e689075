package bench

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies an error by what the caller can do about it. Adapters map it
// to an HTTP status or an exit status; anything without a kind is internal: it
// is logged in full and shown as a fixed sentence.
type Kind string

// The kinds of error whose message was written for the person who reads it.
const (
	KindInvalid      Kind = "invalid"      // the input cannot be understood or contradicts itself
	KindNotFound     Kind = "not_found"    // the named thing does not exist
	KindConflict     Kind = "conflict"     // the input contradicts what is stored
	KindUnauthorized Kind = "unauthorized" // no or an unknown token
	KindForbidden    Kind = "forbidden"    // the token's role does not allow it
	KindTooLarge     Kind = "too_large"    // a size limit was passed
	KindUnavailable  Kind = "unavailable"  // the store is away; trying again may help
)

// Error is an error with a kind, a message that is safe to show to anyone, and
// for inputs the places that are at fault.
type Error struct {
	Kind    Kind
	Message string
	Places  []Message // may be empty
	Err     error     // the cause, never shown to clients; may be nil
}

// Error gives the message, and the cause behind it for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error] of a kind. A %w verb in the format keeps the cause
// reachable by errors.Is and errors.As; note that its text becomes part of the
// message, so wrap only errors whose text may be shown.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// KindOf gives the kind of the first [Error] in err's chain, "" when there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Message is a remark tied to a place in an input: a warning that stays with
// the figures, or a reason for a refusal. Line counts from 1; 0 means the file
// as a whole. Column names a field where the format has named columns.
type Message struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Text   string `json:"message"`
}

// String renders file:line: message, as compilers do.
func (m Message) String() string {
	place := m.File
	if m.Line > 0 {
		place += fmt.Sprintf(":%d", m.Line)
	}
	text := m.Text
	if m.Column != "" {
		text = m.Column + ": " + text
	}
	if place == "" {
		return text
	}
	return place + ": " + text
}

// Told reports whether warnings about a file as a whole say already what m says
// of one row: the same of the same column, perhaps with the number of rows
// behind it.
func Told(file []Message, m Message) bool {
	for _, w := range file {
		if m.Column != "" && w.File == m.File && w.Column == m.Column && strings.HasPrefix(w.Text, m.Text) {
			return true
		}
	}
	return false
}

// Distinct gives messages without those that say the same of the same place as an earlier
// one: what holds for a line that several results were read from is said once.
func Distinct(list []Message) []Message {
	seen := make(map[Message]bool, len(list))
	var out []Message
	for _, m := range list {
		if !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}
