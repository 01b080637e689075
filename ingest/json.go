package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Programs that print JSON also print notes, into the same stream: before it, and
// in the middle. This file reads what they meant.

// jsonText is a JSON document in a text, with what stands around it.
type jsonText struct {
	value any // as encoding/json decodes it, numbers as json.Number
	line  int // of its beginning
	notes []bench.Message
	// repeated are names that stand twice in an object, of which the last counts.
	repeated []string
}

const (
	maxJSONDepth    = 64
	maxJSONRepeated = 20
)

var (
	noNumberRe = regexp.MustCompile(`(:\s*)-?(?:nan|inf|NaN|Infinity|Inf)\b`)
	noteLineRe = regexp.MustCompile(`(?m)^(?:fio|note|bs|\*\*\*WARNING\*\*\*|clock setaffinity failed)\b.*$`)
)

// jsonStart finds the first line that begins with {, and gives its offset and
// number.
func jsonStart(text []byte) (offset, line int, ok bool) {
	for l := newLines(text); ; {
		at := len(text) - len(l.rest)
		b, n, more := l.next()
		if !more {
			return 0, 0, false
		}
		if hasPrefix(trimSpace(b), "{") {
			return at, n, true
		}
	}
}

// findJSON reads the first JSON document of a text that begins with a { in a line
// of its own. Lines before it are notes. Where lines of messages stand within it,
// they are taken out and are notes as well; nan and inf, which JSON does not have,
// become null.
func findJSON(in *input) (jsonText, error) {
	offset, line, ok := jsonStart(in.text)
	if !ok {
		return jsonText{}, bench.Errorf(bench.KindInvalid, "no JSON object begins on any line")
	}
	j := jsonText{line: line}
	note := func(n int, text []byte) {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			j.notes = appendBounded(j.notes, bench.Message{File: in.path, Line: n, Text: quote(text)})
		}
	}
	for l := newLines(in.text[:offset]); ; {
		b, n, more := l.next()
		if !more {
			break
		}
		note(n, b)
	}
	text := in.text[offset:]
	if bytes.Contains(text, []byte("nan")) || bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("nf")) {
		found := noNumberRe.FindAllIndex(text, -1)
		for i, at := range found {
			if i == maxJSONRepeated {
				j.notes = appendBounded(j.notes, bench.Message{File: in.path, Text: fmt.Sprintf("and %d more that are no figures", len(found)-i)})
				break
			}
			word := bytes.TrimLeft(text[at[0]:at[1]], ": \t\r\n")
			j.notes = appendBounded(j.notes, bench.Message{File: in.path, Line: line + bytes.Count(text[:at[0]], []byte("\n")),
				Column: nameBefore(text[:at[0]]), Text: fmt.Sprintf("not a figure: %q; left out", word)})
		}
		text = noNumberRe.ReplaceAll(text, []byte("${1}null"))
	}
	value, end, err := j.decode(text)
	if err != nil {
		cleaned := noteLineRe.ReplaceAllFunc(text, func(b []byte) []byte {
			note(line, b)
			return nil
		})
		var again error
		j.repeated = nil
		if value, end, again = j.decode(cleaned); again != nil {
			return j, err
		}
		text = cleaned
	}
	for l := newLines(text[end:]); ; {
		b, n, more := l.next()
		if !more {
			break
		}
		if n == 1 && len(trimSpace(b)) == 0 {
			continue
		}
		note(0, b)
	}
	j.value = value
	return j, nil
}

// nameBefore gives the name that a text ends with, without its quotes.
func nameBefore(text []byte) string {
	text = bytes.TrimRight(text, " \t\r\n")
	end := len(text) - 1
	if end < 0 || text[end] != '"' {
		return ""
	}
	return clip(string(bytes.ToValidUTF8(text[1+bytes.LastIndexByte(text[:end], '"'):end], nil)))
}

// decode reads one document and gives where it ends.
func (j *jsonText) decode(text []byte) (value any, end int64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	value, err = j.next(d, 0)
	if err == nil {
		return value, d.InputOffset(), nil
	}
	at := int(min(d.InputOffset(), int64(len(text))))
	line := j.line + bytes.Count(text[:at], []byte("\n"))
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, 0, bench.Errorf(bench.KindInvalid, "the JSON ends in the middle, at line %d", line)
	case bench.KindOf(err) != "":
		return nil, 0, err
	}
	return nil, 0, bench.Errorf(bench.KindInvalid, "no valid JSON near line %d", line)
}

// next reads a value token by token: a plain decoder would not tell of names that
// stand twice.
func (j *jsonText) next(d *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, bench.Errorf(bench.KindInvalid, "the JSON is nested more than %d deep", maxJSONDepth)
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // nothing else can be a key
			value, err := j.next(d, depth+1)
			if err != nil {
				return nil, err
			}
			if _, twice := object[name]; twice && len(j.repeated) < maxJSONRepeated && !slices.Contains(j.repeated, name) {
				j.repeated = append(j.repeated, name)
			}
			object[name] = value
		}
		_, err := d.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := j.next(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// warnings gives the notes, and that names stand twice, as warnings.
func (j *jsonText) warnings(file string) []bench.Message {
	list := slices.Clone(j.notes)
	for _, name := range j.repeated {
		list = appendBounded(list, bench.Message{File: file, Line: j.line, Column: clip(name), Text: "stands twice in one object: the last counts"})
	}
	return list
}

// jsonObject gives a member that is an object, nil when there is none.
func jsonObject(of any, names ...string) map[string]any {
	for _, name := range names {
		m, _ := of.(map[string]any)
		of = m[name]
	}
	m, _ := of.(map[string]any)
	return m
}

// jsonWord gives a member that is a string or a number as text, "" when there is none.
func jsonWord(m map[string]any, name string) string {
	switch v := m[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// jsonShown writes a value for a message.
func jsonShown(x any) string {
	text, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x)
	}
	return strings.Trim(string(text), `"`)
}

// jsonNumber gives a member that is a number.
func jsonNumber(m map[string]any, name string) (v float64, text string, ok bool) {
	n, isNumber := m[name].(json.Number)
	if !isNumber {
		return 0, "", false
	}
	v, _, ok = parseDecimal(n.String(), 1)
	return v, n.String(), ok
}
