package bench

import (
	"fmt"
	"strings"
)

// Context is what a file may leave unsaid and an upload form, a flag or a path
// can say. "" and 0 mean not stated.
type Context struct {
	System   string `json:"system,omitempty"`
	Suite    string `json:"suite,omitempty"`
	Server   string `json:"server,omitempty"`
	Workload string `json:"workload,omitempty"`
	Version  string `json:"version,omitempty"`
	Compiler string `json:"compiler,omitempty"`
	Config   string `json:"config,omitempty"`
	Clients  int    `json:"clients,omitempty"`
	// Versions names the columns of a matrix file without header, in order.
	Versions []string `json:"versions,omitempty"`
}

// Normalized gives the context with the project's names for workloads and
// compilers and without surrounding space.
func (c Context) Normalized() Context {
	c.System = strings.ToLower(strings.TrimSpace(c.System))
	c.Suite = strings.TrimSpace(c.Suite)
	c.Server = strings.TrimSpace(c.Server)
	c.Workload = WorkloadName(c.Workload)
	c.Version = strings.TrimSpace(c.Version)
	c.Compiler = CompilerName(c.Compiler)
	c.Config = strings.TrimSpace(c.Config)
	return c
}

// Fill gives c with what it does not state taken from other, and an error that
// names both where the two contradict each other. The two strings say where
// each comes from ("the flags", "the path x/y").
func (c Context) Fill(other Context, here, there string) (Context, error) {
	for _, f := range []struct {
		name string
		to   *string
		from string
	}{
		{"system", &c.System, other.System},
		{"suite", &c.Suite, other.Suite},
		{"server", &c.Server, other.Server},
		{"workload", &c.Workload, other.Workload},
		{"compiler", &c.Compiler, other.Compiler},
		{"config", &c.Config, other.Config},
	} {
		if f.from == "" || *f.to == f.from {
			continue
		}
		if *f.to != "" {
			return c, Errorf(KindInvalid, "%s: %s %q, %s %q", f.name, says(here), *f.to, says(there), f.from)
		}
		*f.to = f.from
	}
	// A directory names a version less exactly than a row does: not a contradiction.
	switch {
	case other.Version == "" || c.Version == other.Version:
	case c.Version == "":
		c.Version = other.Version
	case VersionWithin(c.Version, other.Version):
	case VersionWithin(other.Version, c.Version):
		c.Version = other.Version
	default:
		return c, Errorf(KindInvalid, "version: %s %q, %s %q", says(here), c.Version, says(there), other.Version)
	}
	switch {
	case other.Clients == 0 || c.Clients == other.Clients:
	case c.Clients == 0:
		c.Clients = other.Clients
	default:
		return c, Errorf(KindInvalid, "clients: %s %d, %s %d", says(here), c.Clients, says(there), other.Clients)
	}
	if len(c.Versions) == 0 {
		c.Versions = other.Versions
	}
	return c, nil
}

// says names a source of context with its verb: the flags say, the path says.
func says(source string) string {
	if strings.HasSuffix(source, "flags") {
		return source + " say"
	}
	return source + " says"
}

// Hint gives c with what it does not state taken from other; where both state
// something c wins. For sources that only hint, such as a base file name.
func (c Context) Hint(other Context) Context {
	set := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	set(&c.System, other.System)
	set(&c.Suite, other.Suite)
	set(&c.Server, other.Server)
	set(&c.Workload, other.Workload)
	set(&c.Version, other.Version)
	set(&c.Compiler, other.Compiler)
	set(&c.Config, other.Config)
	if c.Clients == 0 {
		c.Clients = other.Clients
	}
	if len(c.Versions) == 0 {
		c.Versions = other.Versions
	}
	return c
}

// String names what is stated, for messages.
func (c Context) String() string {
	var parts []string
	for _, f := range []struct{ name, value string }{
		{"system", c.System}, {"suite", c.Suite}, {"server", c.Server}, {"workload", c.Workload},
		{"version", c.Version}, {"compiler", c.Compiler}, {"config", c.Config},
	} {
		if f.value != "" {
			parts = append(parts, f.name+" "+f.value)
		}
	}
	if c.Clients > 0 {
		parts = append(parts, fmt.Sprintf("%d clients", c.Clients))
	}
	return strings.Join(parts, ", ")
}

// workloadNames maps the names of benchmark.sh's result directories to ours.
var workloadNames = map[string]string{"byrx": "cached", "byos": "cached-by-os"}

// WorkloadName gives the project's name of a workload: byrx is cached, byos is
// cached-by-os, suffixes are kept (byrx_lz4 is cached_lz4), others stay.
func WorkloadName(name string) string {
	name = strings.TrimSpace(name)
	base, suffix, found := strings.Cut(name, "_")
	if ours, ok := workloadNames[base]; ok {
		base = ours
	}
	if found {
		return base + "_" + suffix
	}
	return base
}

// IsWorkload reports whether a word is a workload's name, ours or
// benchmark.sh's, with or without a compression suffix.
func IsWorkload(word string) bool {
	base, _, _ := strings.Cut(WorkloadName(word), "_")
	switch base {
	case "cached", "cached-by-os", "iobuf", "iodir":
		return true
	}
	return false
}

// CompilerName gives the project's name of a compiler: clang.lto, clang lto and
// clang-lto are clang+lto (a space also stands for the + of an address that was
// not escaped); others are put in lower case.
func CompilerName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "clang.lto", "clang lto", "clang-lto", "clang_lto", "clanglto":
		return "clang+lto"
	case "gcc.lto", "gcc lto", "gcc-lto", "gcc_lto":
		return "gcc+lto"
	}
	return name
}
