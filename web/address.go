package web

import (
	"net/url"
	"slices"
	"strings"
)

// address builds a query with keys in a fixed order, defaults left out. Equal
// views thereby have equal addresses.
type address struct {
	path string
	b    strings.Builder
}

func (a *address) add(key, value string) {
	if a.b.Len() > 0 {
		a.b.WriteByte('&')
	}
	a.b.WriteString(key)
	a.b.WriteByte('=')
	a.b.WriteString(escape(value))
}

func (a *address) set(key, value string) {
	if value != "" {
		a.add(key, value)
	}
}

func (a *address) all(key string, values []string) {
	for _, v := range values {
		a.add(key, v)
	}
}

// keep appends keys that the page does not know, so that they are not lost.
func (a *address) keep(unknown url.Values) {
	keys := make([]string, 0, len(unknown))
	for k := range unknown {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		for _, v := range unknown[k] {
			a.add(escape(k), v)
		}
	}
}

func (a *address) String() string {
	if a.b.Len() == 0 {
		return a.path
	}
	return a.path + "?" + a.b.String()
}

var readable = strings.NewReplacer("%2F", "/", "%3A", ":", "%2C", ",")

// escape leaves what names and versions are made of readable.
func escape(s string) string {
	escaped := url.QueryEscape(s)
	if !strings.Contains(escaped, "%") {
		return escaped
	}
	return readable.Replace(escaped)
}
