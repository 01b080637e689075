package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// How many options stand open, of files and of what servers say of themselves;
// more are folded.
const (
	optionRowsOpen    = 150
	effectiveRowsOpen = 40
)

// configHref is the page of a config's options, beside those of a base.
func configHref(system, name, base string) string {
	a := address{path: "/configs/" + url.PathEscape(system) + "/" + url.PathEscape(name)}
	if base != name {
		a.set("base", base)
	}
	return a.String()
}

// configUploadCommand is the one command that sends a file of options.
func configUploadCommand(origin, system string) string {
	file := "my.cnf"
	if system == bench.SystemRocksDB {
		file = "OPTIONS"
	}
	a := address{path: "/api/v1/uploads"}
	a.set("filename", file)
	a.set("system", cmp.Or(system, bench.SystemMyRocks))
	a.set("config", "NAME")
	return "curl -H \"Authorization: Bearer $RELQPS_TOKEN\" --data-binary @" + file + " \\\n  '" + origin + a.String() + "'"
}

func (s *server) config(r *http.Request) (templ.Component, error) {
	v, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	q := params{v, map[string]bool{}, nil}
	base := q.one("base")
	if q.err != nil {
		return nil, q.err
	}
	system, name := pathValue(r, "system"), pathValue(r, "config")
	names := []string{name}
	if base != "" && base != name {
		names = append(names, base)
	}
	list, err := s.Source.Configs(r.Context(), bench.ConfigFilter{System: system, Names: names, Options: true})
	if err != nil {
		return nil, err
	}
	coordinates, err := s.Source.Coordinates(r.Context(), bench.SeriesFilter{System: system, Configs: []string{name}})
	if err != nil {
		return nil, err
	}
	if len(coordinates) == 0 && !slices.ContainsFunc(list, func(c bench.StoredConfig) bool { return c.Name == name }) {
		return nil, bench.Errorf(bench.KindNotFound, "There is no config %s of %s: neither options nor results of it are stored.", name, systemName(system))
	}
	p := newConfigPage(system, name, base, list, coordinates, s.origin(r))
	p.Page = s.frame(r, p.Heading+", options", "/configs")
	s.describe(r, &p.Page, "What "+p.Heading+" asks for, as written, as parsed and as the server said.")
	return view.ConfigOptions(p), nil
}

// newConfigPage builds the page of a config: each set of options that is stored
// under its name. coordinates are what was measured with it.
func newConfigPage(system, name, base string, list []bench.StoredConfig, coordinates []bench.CoordinateInfo, origin string) view.ConfigPage {
	p := view.ConfigPage{
		Crumb:   []view.Link{{Text: "Configs", Href: "/configs"}, {Text: systemName(system), Href: configsQuery{System: system}.String()}},
		Heading: strings.TrimSpace(systemName(system) + " " + name),
	}
	var own []bench.StoredConfig
	for _, c := range list {
		if c.Name == name {
			own = append(own, c)
		}
	}
	var places []string
	for _, c := range coordinates {
		if c.Config == name {
			places = appendNew(places, c.Server+", "+workloadTitle(c.Workload))
		}
	}
	switch len(places) {
	case 0:
		p.Meta = append(p.Meta, fact("nothing was measured with it"))
	default:
		p.Meta = append(p.Meta, fact("measured on "+strings.Join(places[:min(4, len(places))], "; ")))
	}
	if base != "" && base != name {
		p.Links = append(p.Links, view.Link{Text: "Compared with " + base, Href: configsQuery{System: system, Configs: []string{base, name}, Base: base}.String()})
	}
	p.Links = append(p.Links, view.Link{Text: "All configs of " + systemName(system), Href: configsQuery{System: system}.String()}, view.Link{Text: "Runs of " + systemName(system), Href: runsQuery{System: system}.String()})
	if len(own) == 0 {
		p.Empty = &view.Empty{
			Sentence: "No options are stored for " + name + ".",
			Detail:   "Expected is its file: a my.cnf, an OPTIONS file of RocksDB, a list of key=value, or what SHOW GLOBAL VARIABLES says. This sends one:",
			Command:  configUploadCommand(origin, system),
			Links:    p.Links,
		}
		return p
	}
	slices.SortStableFunc(own, func(a, b bench.StoredConfig) int { // files before what was read back, then what most runs were made with
		return cmp.Or(layerRank(a.Layer)-layerRank(b.Layer), b.Runs-a.Runs, cmp.Compare(b.ID, a.ID))
	})
	against, _ := compare.PickConfig(list, base)
	if base == name {
		against = nil
	}
	var back *bench.StoredConfig
	for i := range own {
		if own[i].Layer == bench.LayerEffective && (back == nil || own[i].ID > back.ID) {
			back = &own[i]
		}
	}
	for i := range own {
		p.Sets = append(p.Sets, optionSet(&own[i], against, back))
	}
	return p
}

func layerRank(l bench.Layer) int {
	return slices.Index([]bench.Layer{bench.LayerRequested, bench.LayerParsed, bench.LayerEffective}, l)
}

// setAnchor names a set of options on the page of its config.
func setAnchor(c *bench.StoredConfig) string { return "set-" + strconv.FormatInt(c.ID, 10) }

// optionSet lists a set of options. against are those of the base, back what the
// server said; both may be nil.
func optionSet(c, against, back *bench.StoredConfig) view.OptionSet {
	s := view.OptionSet{Anchor: setAnchor(c), Title: cmp.Or(c.SourceName, c.Name), What: fmt.Sprintf("%s: %s that count", kindWords(c.Kind), plural(c.Settings, "option", "options"))}
	if c.Aside > 0 {
		s.What += fmt.Sprintf(", %d set aside", c.Aside)
	}
	effective := c.Layer == bench.LayerEffective
	if effective {
		s.Title += ", read back from the server"
		back = nil
	}
	for _, f := range c.From {
		s.Files = append(s.Files, sourceLink(f))
	}
	s.Facts = append(s.Facts, view.Pair{Key: "stored", Value: timeText(c.Created)})
	if !effective {
		s.Facts = append(s.Facts, view.Pair{Key: "runs", Value: plural(c.Runs, "run", "runs") + " that may have been made with it"})
		if back == nil {
			s.Facts = append(s.Facts, view.Pair{Key: "effective", Value: "not read back: send what SHOW GLOBAL VARIABLES says under the same name"})
		}
	}
	if back != nil {
		s.Differ = layerDifferences(c, back)
		if len(s.Differ) == 0 {
			s.Differ = []string{"the same, as far as the server reports"}
		}
	}
	for _, w := range c.Warnings {
		text := w.Text
		if w.File != "" && w.Line > 0 {
			text = fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text)
		}
		s.Warnings = append(s.Warnings, text)
	}
	if against != nil && !effective {
		s.Base = against.Name
	}
	s.Back = back != nil
	set := &compare.ConfigSet{StoredConfig: c, Effective: back}
	for i := range c.Options {
		o := &c.Options[i]
		e := view.OptionEntry{Section: o.Section, Key: o.Key, Written: o.Written, Value: o.Value}
		if o.Line > 0 {
			e.Line = strconv.Itoa(o.Line)
		}
		if e.Written == "" && o.Value != "" {
			e.Written = "(flag)"
		}
		if o.Loose {
			e.Title = "written with loose_: a server that does not know it goes on"
		}
		name := bench.OptionName{Scope: o.Scope(), Key: o.Key}
		if s.Back {
			e.Effective = compare.Missing
			if v, ok := readBack(set, name); ok {
				e.Effective = v
			}
		}
		if s.Base != "" {
			from, same := settingOf(against, name, o)
			e.Base = settingText(from)
			if !same && !o.Environment {
				e.Class = "o1"
			}
		}
		if o.Environment {
			s.Aside = append(s.Aside, e)
		} else {
			s.Rows = append(s.Rows, e)
		}
	}
	if s.Base != "" {
		s.Rows = append(s.Rows, leftOut(c, against)...)
	}
	s.Closed = len(s.Rows) > optionRowsOpen || effective && len(s.Rows) > effectiveRowsOpen
	s.Count = plural(len(s.Rows), "option", "options")
	return s
}

// settingOf gives a config's setting of an option, and whether another means the
// same.
func settingOf(c *bench.StoredConfig, name bench.OptionName, other *bench.Option) (s bench.Setting, same bool) {
	for i := len(c.Options) - 1; i >= 0; i-- { // the last counts
		if o := &c.Options[i]; o.Key == name.Key && o.Scope() == name.Scope {
			s = bench.Setting{Set: true, Written: cmp.Or(o.Written, o.Value), Value: o.Value}
			break
		}
	}
	return s, s.Same(bench.Setting{Set: true, Written: other.Written, Value: other.Value})
}

// leftOut are the options that only the base sets.
func leftOut(c, against *bench.StoredConfig) []view.OptionEntry {
	var out []view.OptionEntry
	for _, ch := range bench.Changes(against.Config, c.Config) {
		if ch.Kind == bench.OptionRemoved {
			out = append(out, view.OptionEntry{Section: ch.Scope, Key: ch.Key, Written: compare.Missing, Base: settingText(ch.From), Class: "o1", Title: "only " + against.Name + " sets it"})
		}
	}
	return out
}

func kindWords(k bench.ConfigKind) string {
	switch k {
	case bench.ConfigMyCnf:
		return "my.cnf"
	case bench.ConfigOptions:
		return "OPTIONS file of RocksDB"
	case bench.ConfigPairs:
		return "list of key=value"
	case bench.ConfigVariables:
		return "variables of a running server"
	}
	return string(k)
}
