package web

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/chart"
	"github.com/relqps/relqps/web/view"
)

// Limits of the home page.
const (
	homeRowsMax     = 40
	homeMovers      = 5
	homeUploads     = 8
	homeMeasureMax  = 40
	homeChanges     = 8  // causes shown
	homeChangesRead = 60 // changes they are made of
)

// homeInput is what the home page is built from.
type homeInput struct {
	Query   homeQuery
	Systems []string // the one with most samples first
	System  string   // the one shown, "" where nothing was measured
	Servers []string // of the system
	Metrics []bench.MetricFacet
	Series  []bench.Series // of the system
	Totals  bench.Totals
	Uploads []bench.UploadInfo
	Changes bench.ChangePage // open ones, newest first
	Known   knowledge
	Origin  string
}

func (s *server) home(r *http.Request) (templ.Component, error) {
	q, err := parseHome(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	in, err := s.readHome(r, q)
	if err != nil {
		return nil, err
	}
	p := newHomePage(in)
	p.Page = s.frame(r, "", "/")
	p.Bar.Short = s.Store != nil && readerOf(r.Context()).name != ""
	lead := ""
	if p.System != nil {
		lead = p.System.Heading + ": " + plain(p.System.Lead)
	}
	s.describe(r, &p.Page, lead)
	return view.Home(p), nil
}

func (s *server) readHome(r *http.Request, q homeQuery) (homeInput, error) {
	ctx := r.Context()
	in := homeInput{Query: q, System: q.System, Origin: s.origin(r)}
	coordinates, err := s.Source.Coordinates(ctx, bench.SeriesFilter{})
	if err != nil {
		return in, err
	}
	in.Systems = systemsBySamples(coordinates)
	if in.System == "" && len(in.Systems) > 0 {
		in.System = in.Systems[0]
	}
	facets, err := s.Source.Facets(ctx, bench.SeriesFilter{System: in.System})
	if err != nil {
		return in, err
	}
	in.Metrics = facets.Metrics
	for _, f := range facets.Servers {
		in.Servers = append(in.Servers, f.Name)
	}
	metrics := orNone(q.Metric)
	if q.Metric == "" {
		metrics = bench.PrimaryMetrics()
	}
	for _, metric := range metrics {
		if !slices.ContainsFunc(in.Metrics, func(m bench.MetricFacet) bool { return m.Name == metric }) {
			continue
		}
		series, err := s.Source.Series(ctx, bench.SeriesFilter{System: in.System, Metric: metric})
		if err != nil {
			return in, err
		}
		for _, x := range series {
			if q.Metric != "" || bench.PrimaryMetric(x.Suite, x.Step) == metric {
				in.Series = append(in.Series, x)
			}
		}
	}
	if in.Totals, err = s.Source.Totals(ctx); err != nil {
		return in, err
	}
	uploads, err := s.Source.Uploads(ctx, bench.UploadFilter{Limit: homeUploads})
	if err != nil {
		return in, err
	}
	in.Uploads = uploads.Uploads
	filter := bench.ChangeFilter{System: in.System, Servers: orNone(q.Server), MinEffect: minEffectDefault, Triage: openStates, Limit: homeChangesRead}
	if _, err := s.shown(ctx, &filter); err != nil {
		return in, err
	}
	if in.Changes, err = s.Source.Changes(ctx, filter); err != nil {
		return in, err
	}
	if q.Metric != "" { // changes are of the primary metrics, which were not read
		in.Known, err = s.know(ctx, in.Changes.Changes)
		return in, err
	}
	in.Known, err = s.know(ctx, nil, in.Series)
	return in, err
}

// systemsBySamples lists systems, the one with most samples first.
func systemsBySamples(coordinates []bench.CoordinateInfo) []string {
	samples := map[string]int{}
	for _, c := range coordinates {
		samples[c.System] += c.Samples
	}
	systems := sortedKeys(samples)
	slices.SortStableFunc(systems, func(a, b string) int { return samples[b] - samples[a] })
	return systems
}

// homeRow is a server, workload and build of a system: lines that share all but
// the step.
type homeRow struct {
	key      chart.Key
	suite    string
	series   []bench.Series
	versions []string       // up to the release that is looked at
	base     string         // that the newest is compared with, "" the oldest
	lines    []compare.Line // against the base
	// Ratios of the newest version, by step family.
	previous, based map[string]*compare.Line
}

func (r homeRow) newest() string { return r.versions[len(r.versions)-1] }

// against gives the version that the newest is compared with, the one before it
// or the base; "" where there is none.
func (r homeRow) against(base bool) string {
	before := r.versions[:len(r.versions)-1]
	switch {
	case len(before) == 0:
		return ""
	case !base:
		return before[len(before)-1]
	case r.base == "":
		return before[0]
	}
	if i := slices.IndexFunc(before, func(v string) bool { return bench.CompareVersions(v, r.base) == 0 }); i >= 0 {
		return before[i]
	}
	return ""
}

func (r homeRow) name() string {
	parts := []string{r.key.Server, r.key.Workload}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func (r homeRow) build() string {
	if r.key.Config == "" {
		return compilerName(r.key.Compiler)
	}
	if r.key.Compiler == "" {
		return r.key.Config
	}
	return compilerName(r.key.Compiler) + " " + r.key.Config
}

// query gives the charts of a row, of one step when it is not "".
func (r homeRow) query(system, step string) chartsQuery {
	q := chartsQuery{
		System: system, Suite: r.suite, Servers: []string{r.key.Server}, Workloads: orNone(r.key.Workload),
		Compilers: orNone(r.key.Compiler), Configs: orNone(r.key.Config), Steps: orNone(step), Metric: metricDefault,
	}
	if r.key.Clients > 0 {
		q.Clients = []int{r.key.Clients}
	}
	if step != "" {
		q.Metric = bench.PrimaryMetric(r.suite, step)
	}
	return q
}

// homeRows groups the measuring series of a system.
func homeRows(series []bench.Series, q homeQuery) []homeRow {
	type at struct {
		chart.Key
		suite string
	}
	index := map[at]int{}
	var rows []homeRow
	for _, s := range series {
		s = upTo(s, q.Newest)
		if bench.StepRole(s.Suite, s.Step) == bench.RolePrepare || len(s.Points) == 0 || q.Server != "" && s.Server != q.Server {
			continue
		}
		k := at{chart.KeyOf(s.Coordinate), s.Suite}
		i, ok := index[k]
		if !ok {
			i = len(rows)
			index[k] = i
			rows = append(rows, homeRow{key: k.Key, suite: s.Suite, base: q.Base})
		}
		rows[i].series = append(rows[i].series, s)
	}
	for i := range rows {
		r := &rows[i]
		r.versions = versionsOf(r.series)
		compareWith := func(version string) compare.Comparison {
			return compare.Compare(r.series, compare.Options{Base: compare.Base{Version: version}, JoinFamilies: true})
		}
		byStep := func(c compare.Comparison) map[string]*compare.Line {
			out := map[string]*compare.Line{}
			for j := range c.Lines {
				out[c.Lines[j].Step] = &c.Lines[j]
			}
			return out
		}
		base := compareWith(r.against(true))
		r.lines, r.based = base.Lines, byStep(base)
		r.previous = byStep(compareWith(r.against(false)))
	}
	return rows
}

// upTo leaves out what is newer than a version; "" leaves out nothing.
func upTo(s bench.Series, version string) bench.Series {
	if version == "" {
		return s
	}
	s.Points = slices.DeleteFunc(slices.Clone(s.Points), func(p bench.Point) bool { return bench.CompareVersions(p.Version, version) > 0 })
	return s
}

// newHomePage builds the home page. Nothing on it is called better or worse
// unless its interval excludes 1.00.
func newHomePage(in homeInput) view.HomePage {
	p := view.HomePage{Command: "relqps ingest --url " + in.Origin + " --token TOKEN PATH"}
	if len(in.Series) == 0 && len(in.Uploads) == 0 {
		p.Empty = firstUpload(in.Origin)
		return p
	}
	p.Bar = homeBar(in, versionsOf(in.Series))
	rows := homeRows(in.Series, in.Query)
	if len(rows) == 0 {
		p.Nothing = fmt.Sprintf("Nothing of %s was measured like that.", systemName(in.System))
	} else {
		state := systemState(in.System, rows, in.Query)
		p.System = &state
		p.Measured = measuredRows(in.System, rows)
	}
	if left := len(p.Measured) - homeMeasureMax; left > 0 {
		p.Measured = p.Measured[:homeMeasureMax]
		p.MeasuredLeft = plural(left, "more row is left out.", "more rows are left out.")
	}
	t := in.Totals
	p.Totals = []view.Fact{
		fact(plural(t.Servers, "server", "servers")), fact(plural(t.Versions, "version", "versions")),
		fact(plural(t.Runs, "run", "runs")), fact(plural(t.Results, "result", "results")),
	}
	for _, u := range in.Uploads {
		p.Uploads = append(p.Uploads, importRow(u))
	}
	for i, c := range compare.Causes(in.Known.judgeAll(in.Changes.Changes)) {
		if i == homeChanges {
			break
		}
		p.Changes = append(p.Changes, homeChange(c))
	}
	p.AllChanges = changesQuery{System: in.System, Server: in.Query.Server, MinEffect: minEffectDefault, Status: "open"}.String()
	return p
}

// homeChange shows a cause in a row.
func homeChange(c compare.Cause) view.HomeChange {
	item := causeItem(c, "")
	most := c.Changes[0]
	row := view.HomeChange{
		At: c.Version, Name: item.Title, Shape: shapeText(most.FoundChange), Href: changeHref(most.ID), Where: item.Where,
		Ratio: changeRatio(most.Change), Class: verdictClass(changeVerdict(most.Change)), Tags: item.Tags,
		State: triageText(most.Change), StateClass: string(most.Triage),
	}
	if row.Shape == "" {
		row.Shape = "step"
	}
	// Doubts that some changes of a cause have and others lack stand in the list.
	if len(row.Tags) == 0 {
		row.Tags = doubtTags(weighty(most.Doubts))
	}
	if len(c.Changes) > 1 {
		q := changesQuery{System: c.System, Version: c.Version, MinEffect: minEffectDefault}
		if !c.Common {
			q.Step = bench.StepFamily(most.Step)
		} else {
			q.Server = most.Server
		}
		row.Href = q.String()
	}
	return row
}

func importRow(u bench.UploadInfo) view.ImportRow {
	row := view.ImportRow{
		Name: u.Filename, Href: runsQuery{Upload: u.ID}.String(), Format: u.Format,
		Results: compare.FormatFull(float64(u.Results)), When: timeText(u.Created),
	}
	var trouble []string
	if u.Refused > 0 {
		trouble = append(trouble, plural(u.Refused, "file refused", "files refused"))
	}
	if u.State == bench.RecordWithdrawn {
		trouble = append(trouble, "withdrawn")
	}
	row.Trouble = strings.Join(trouble, ", ")
	return row
}

// homeConfigsMax is how many configs of one server, workload and compiler have a
// row each.
const homeConfigsMax = 3

// measuredRows says what was measured where. Many configs of one place share a row.
func measuredRows(system string, rows []homeRow) []view.MeasuredRow {
	type place struct {
		chart.Key
		suite string
	}
	at := func(r homeRow) place {
		k := r.key
		k.Config = ""
		return place{k, r.suite}
	}
	var order []place
	together := map[place][]homeRow{}
	for _, r := range rows {
		k := at(r)
		if together[k] == nil {
			order = append(order, k)
		}
		together[k] = append(together[k], r)
	}
	var out []view.MeasuredRow
	for _, k := range order {
		group := together[k]
		if len(group) > homeConfigsMax {
			out = append(out, measuredRow(system, group))
			continue
		}
		for _, r := range group {
			out = append(out, measuredRow(system, []homeRow{r}))
		}
	}
	return out
}

// measuredRow words rows of one place; several differ in the config.
func measuredRow(system string, rows []homeRow) view.MeasuredRow {
	first := rows[0]
	m := view.MeasuredRow{Name: first.name(), Build: first.build(), Noise: compare.Missing}
	q := first.query(system, "")
	var versions, steps []string
	n := 0
	var noise []float64
	for _, r := range rows {
		for _, v := range r.versions {
			versions = appendNew(versions, v)
		}
		for _, l := range r.lines {
			steps = appendNew(steps, l.Step)
			for _, p := range l.Points {
				n += p.N
			}
			if l.Noise.OK {
				noise = append(noise, l.Noise.SD)
			}
		}
	}
	if len(rows) > 1 {
		q.Configs = nil
		var configs []string
		for _, r := range rows {
			configs = appendNew(configs, configName(r.key.Config))
			q.Configs = append(q.Configs, r.key.Config)
		}
		m.Build = plural(len(configs), "config", "configs") + ", " + configs[0] + " … " + configs[len(configs)-1]
		if first.key.Compiler != "" {
			m.Build = compilerName(first.key.Compiler) + ", " + m.Build
		}
	}
	sortVersions(versions)
	m.Href, m.Versions, m.Count = q.String(), span(versions), plural(len(versions), "version", "versions")
	m.Steps, m.Samples = strconv.Itoa(len(steps)), compare.FormatFull(float64(n))
	if len(noise) > 0 {
		m.Noise = noisePercent(compare.Median(noise))
		for _, sd := range noise {
			m.Dots = append(m.Dots, noiseDot(sd))
		}
	}
	return m
}

// noiseDot places the noise of a line on a strip of 0 to 5 %, 120 px wide; what is
// noisier stands at its end.
func noiseDot(sd float64) string {
	const width, most = 120.0, 0.05
	return pixels(4 + width*math.Min(sd, most)/most)
}

// tally counts verdicts, with the least and the greatest ratio.
type tally struct {
	worse, undecided, better int
	least, most              float64
}

func (t *tally) add(p compare.Point, d bench.Direction) {
	switch compare.Judge(p, d) {
	case compare.Worse:
		t.worse++
	case compare.Better:
		t.better++
	case compare.Undecided:
		t.undecided++
	default:
		return
	}
	if t.count() == 1 {
		t.least, t.most = *p.Relative, *p.Relative
	}
	t.least, t.most = math.Min(t.least, *p.Relative), math.Max(t.most, *p.Relative)
}

func (t tally) count() int { return t.worse + t.undecided + t.better }

func (t tally) cell() view.GroupCell {
	c := view.GroupCell{Worse: strconv.Itoa(t.worse), Undecided: strconv.Itoa(t.undecided), Better: strconv.Itoa(t.better)}
	if t.count() > 0 {
		c.Range = compare.FormatRatio(t.least, nil, nil) + "–" + compare.FormatRatio(t.most, nil, nil)
	}
	return c
}

func (t tally) balance(title string) view.Balance {
	b := view.Balance{Title: title, Worse: strconv.Itoa(t.worse), Undecided: strconv.Itoa(t.undecided), Better: strconv.Itoa(t.better)}
	const width, gap = 320.0, 1.5
	x := 0.0
	for _, part := range []struct {
		n      int
		colour string
	}{{t.worse, "--worse"}, {t.undecided, "--undecided"}, {t.better, "--better"}} {
		if part.n == 0 || t.count() == 0 {
			continue
		}
		w := width * float64(part.n) / float64(t.count())
		b.Bars = append(b.Bars, view.BalanceBar{X: pixels(x), Width: pixels(max(0, w-gap)), Colour: part.colour})
		x += w
	}
	return b
}

func pixels(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// systemState builds the state of a system's newest version.
func systemState(system string, rows []homeRow, q homeQuery) view.SystemState {
	var versions []string
	for _, r := range rows {
		for _, v := range r.versions {
			versions = appendNew(versions, v)
		}
	}
	sortVersions(versions)
	newest := versions[len(versions)-1]
	slices.SortStableFunc(rows, func(a, b homeRow) int { return bench.CompareVersions(b.newest(), a.newest()) })

	s := view.SystemState{Heading: systemName(system) + " " + newest}
	var now []homeRow
	var behind []string
	for _, r := range rows {
		if r.newest() == newest {
			now = append(now, r)
		} else {
			behind = appendNew(behind, r.key.Server+" is at "+r.newest())
		}
	}

	groups := map[string]*[2]tally{}
	var total [2]tally
	results := 0
	var movers []mover
	for _, r := range now {
		for _, l := range r.lines {
			p := pointAt(l, newest)
			if p == nil {
				continue
			}
			results++
			g := bench.StepGroup(l.Step)
			if groups[g] == nil {
				groups[g] = &[2]tally{}
			}
			for i, by := range []map[string]*compare.Line{r.previous, r.based} {
				if q := pointAt(*by[l.Step], newest); r.against(i == 1) != "" && q != nil {
					total[i].add(*q, l.Metric.Direction)
					groups[g][i].add(*q, l.Metric.Direction)
				}
			}
			if v := compare.Judge(*p, l.Metric.Direction); r.against(true) != "" && (v == compare.Better || v == compare.Worse) {
				movers = append(movers, mover{r, l, *p, v})
			}
		}
	}
	previous, oldest := common(now, false), common(now, true)
	s.Meta = []view.Fact{fact(measuredOn(now, rows))}
	const mostBehind = 3
	for i, b := range behind {
		if i == mostBehind {
			s.Meta = append(s.Meta, fact(fmt.Sprintf("%d more behind", len(behind)-i)))
			break
		}
		s.Meta = append(s.Meta, fact(b))
	}
	s.Meta = append(s.Meta, fact(plural(results, "result", "results")))
	s.BaseHead = "oldest"
	if q.Base != "" {
		s.BaseHead = "base"
	}
	s.Lead = homeLead(newest, previous, oldest, total)
	s.Compared = total[0].count()+total[1].count() > 0
	if configs := configsOf(now); !s.Compared && len(configs) > 1 {
		s.Lead = []view.Part{
			{Text: newest + " cannot be compared with another version here. Its "},
			{Text: plural(len(configs), "config", "configs"), Href: "/configs?system=" + escape(system)}, {Text: " can be compared with each other."},
		}
	}
	if s.Compared {
		s.Balances = []view.Balance{
			total[0].balance(newest + " against " + previous),
			total[1].balance(newest + " against " + oldest),
		}
		s.GroupHeads = []string{"against " + previous, "against " + oldest}
		for _, g := range bench.StepGroups() {
			if t := groups[g]; t != nil {
				s.Groups = append(s.Groups, view.GroupRow{Name: g, Cells: []view.GroupCell{t[0].cell(), t[1].cell()}})
			}
		}
	}
	s.MoversHead = "Furthest from " + oldest
	s.Movers = moverRows(system, movers)
	s.Steps, s.Rows = heatRows(system, rows, versions)
	if left := len(s.Rows) - homeRowsMax; left > 0 {
		s.Rows = s.Rows[:homeRowsMax]
		s.RowsLeft = fmt.Sprintf("%d more rows are left out: choose a server in the charts.", left)
	}
	return s
}

// configsOf lists the configs of rows.
func configsOf(rows []homeRow) []string {
	var out []string
	for _, r := range rows {
		out = appendNew(out, configName(r.key.Config))
	}
	return out
}

// common names the version that all rows are compared with, or says that each has
// its own.
func common(rows []homeRow, base bool) string {
	var names []string
	for _, r := range rows {
		if v := r.against(base); v != "" {
			names = appendNew(names, v)
		}
	}
	switch {
	case len(names) == 1:
		return names[0]
	case base:
		return "the oldest of each"
	}
	return "the previous of each"
}

// measuredOn says where the newest version was measured: on 1 of 2 servers: 8core
// (clang; cached, iobuf).
func measuredOn(now, all []homeRow) string {
	var servers, of []string
	for _, r := range all {
		of = appendNew(of, r.key.Server)
	}
	for _, r := range now {
		servers = appendNew(servers, r.key.Server)
	}
	var where []string
	for _, server := range servers {
		var builds, workloads []string
		kind := "builds"
		for _, r := range now {
			if r.key.Server == server {
				if b := r.build(); b != compare.Missing {
					builds = appendNew(builds, b)
				}
				if r.key.Config != "" {
					kind = "configs"
				}
				workloads = appendNew(workloads, r.key.Workload)
			}
		}
		what := []string{listed(builds, kind), listed(workloads, "workloads")}
		what = slices.DeleteFunc(what, func(s string) bool { return s == "" })
		where = append(where, strings.TrimSuffix(fmt.Sprintf("%s (%s)", orDash(server), strings.Join(what, "; ")), " ()"))
	}
	return fmt.Sprintf("measured on %d of %s: %s", len(servers), plural(len(of), "server", "servers"), strings.Join(where, ", "))
}

// listed names a few and counts many.
func listed(names []string, many string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	if len(names) > 4 {
		return strconv.Itoa(len(names)) + " " + many + ", " + names[0] + " … " + names[len(names)-1]
	}
	return strings.Join(names, ", ")
}

func homeLead(newest, previous, oldest string, total [2]tally) []view.Part {
	if total[0].count() == 0 && total[1].count() == 0 {
		return []view.Part{{Text: newest + " cannot be compared yet: nothing else was measured where it was, or the noise is unknown."}}
	}
	sentence := func(t tally) string {
		switch {
		case t.worse == 0 && t.better == 0:
			return fmt.Sprintf("none of %s can be told from 1.00", plural(t.count(), "result", "results"))
		case t.worse == 0:
			return fmt.Sprintf("%d of %s better and none worse", t.better, plural(t.count(), "result is", "results are"))
		case t.better == 0:
			return fmt.Sprintf("%d of %s worse beyond noise and none better", t.worse, plural(t.count(), "result is", "results are"))
		}
		return fmt.Sprintf("%d of %s worse beyond noise and %d better", t.worse, plural(t.count(), "result is", "results are"), t.better)
	}
	var parts []view.Part
	if total[0].count() > 0 {
		parts = append(parts, view.Part{Text: "Against " + previous + ", "}, view.Part{Text: sentence(total[0]), Strong: true}, view.Part{Text: ". "})
	}
	if total[1].count() > 0 && oldest != previous {
		parts = append(parts, view.Part{Text: "Against " + oldest + ", " + sentence(total[1]) + "."})
	}
	return parts
}

// mover is a line whose newest point is decided against the oldest.
type mover struct {
	row     homeRow
	line    compare.Line
	point   compare.Point
	verdict compare.Verdict
}

func moverRows(system string, movers []mover) []view.Mover {
	slices.SortStableFunc(movers, func(a, b mover) int {
		x, y := math.Abs(math.Log(*a.point.Relative)), math.Abs(math.Log(*b.point.Relative))
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var out []view.Mover
	for _, m := range movers[:min(homeMovers, len(movers))] {
		where := m.row.name()
		if b := m.row.build(); b != "" {
			where += " " + b
		}
		out = append(out, view.Mover{
			Step: m.line.Step, Href: m.row.query(system, m.line.Step).String(), Where: where,
			Ratio: ratioText(m.point, m.line.Metric.Direction), Class: verdictClass(m.verdict),
			Interval: compare.FormatInterval(m.point.Low, m.point.High), Spark: spark(m.line, m.verdict),
		})
	}
	return out
}

// spark draws a line's ratios, log-symmetric around 1.00 and as high as they
// reach: the shape is what it shows, the figures stand beside it.
func spark(l compare.Line, v compare.Verdict) view.Spark {
	const width, height, middle, reach = 142.0, 24.0, 12.0, 10.0
	window := math.Log(1.05)
	for _, p := range l.Points {
		if p.Relative != nil && *p.Relative > 0 {
			window = math.Max(window, math.Abs(math.Log(*p.Relative)))
		}
	}
	y := func(r float64) float64 {
		if r <= 0 {
			return height - 2
		}
		return middle - reach*math.Log(r)/window
	}
	s := view.Spark{One: pixels(middle), Colour: "--undecided", Label: fmt.Sprintf("%s over %s", l.Step, plural(len(l.Points), "version", "versions"))}
	switch v {
	case compare.Better:
		s.Colour = "--better"
	case compare.Worse:
		s.Colour = "--worse"
	}
	half := 0.0
	var points []string
	for i, p := range l.Points {
		if p.Relative == nil {
			continue
		}
		x := 2.0
		if len(l.Points) > 1 {
			x += width * float64(i) / float64(len(l.Points)-1)
		}
		s.EndX, s.EndY = pixels(x), pixels(y(*p.Relative))
		points = append(points, s.EndX+","+s.EndY)
		if p.Low != nil && p.High != nil && *p.Low > 0 {
			half = math.Max(half, math.Log(*p.High / *p.Low)/2)
		}
	}
	s.Points = strings.Join(points, " ")
	h := math.Min(reach, reach*half/window)
	s.BandY, s.BandH = pixels(middle-h), pixels(2*h)
	return s
}

// heatRows makes the table of all rows' newest versions.
func heatRows(system string, rows []homeRow, versions []string) ([]view.HeatStep, []view.HeatRow) {
	var steps []string
	for _, r := range rows {
		for _, l := range r.lines {
			steps = appendNew(steps, l.Step)
		}
	}
	slices.SortFunc(steps, bench.CompareSteps)
	var heads []view.HeatStep
	for _, s := range steps {
		heads = append(heads, view.HeatStep{Name: bench.ShortStep(s), Title: s})
	}
	var out []view.HeatRow
	for _, r := range rows {
		if len(r.versions) < 2 {
			continue
		}
		h := view.HeatRow{
			Name: r.name(), Build: r.build(), Href: r.query(system, "").String(), Newest: r.newest(),
			Against: r.against(false) + " · " + orDash(r.against(true)),
		}
		if newer := versions[slices.Index(versions, r.newest())+1:]; len(newer) > 0 {
			h.Behind, h.BehindTitle = fmt.Sprintf("%d behind", len(newer)), "not measured here: "+fewVersions(newer)
		}
		for _, s := range steps {
			for i, by := range []map[string]*compare.Line{r.previous, r.based} {
				h.Cells = append(h.Cells, heatCell(system, r, by[s], s, i == 1))
			}
		}
		out = append(out, h)
	}
	return heads, out
}

// fewVersions lists versions, of many the first and the last.
func fewVersions(versions []string) string {
	const most = 30
	if len(versions) <= most {
		return strings.Join(versions, ", ")
	}
	return fmt.Sprintf("%s and %d more up to %s", strings.Join(versions[:most-2], ", "), len(versions)-most+1, versions[len(versions)-1])
}

func heatCell(system string, r homeRow, l *compare.Line, step string, base bool) view.HeatCell {
	if l == nil {
		return view.HeatCell{}
	}
	p := pointAt(*l, r.newest())
	if p == nil || p.Relative == nil {
		return view.HeatCell{Text: compare.Missing}
	}
	q := r.query(system, step)
	q.Metric = l.Metric.Name
	q.Base.Version = r.against(base)
	class := tint(*p, l.Metric.Direction)
	return view.HeatCell{
		Text: cellRatio(*p, class), Class: class, Href: q.String(),
		Title: fmt.Sprintf("%s: %s / %s, %s", step, r.newest(), r.against(base), intervalText(*p)),
	}
}

// cellRatio writes the ratio of a heat cell: with two decimals, with a third where a
// cell that is called better or worse would read 1.00.
func cellRatio(p compare.Point, class string) string {
	text := compare.FormatRatio(*p.Relative, nil, nil)
	if text == "1.00" && class != "u" && class != "x" {
		return compare.FormatRatio(*p.Relative, p.Low, p.High)
	}
	return text
}

// tint gives the class of a heat cell: four steps a side, hatched where
// undecided, none without a verdict.
func tint(p compare.Point, d bench.Direction) string {
	v := compare.Judge(p, d)
	side := ""
	switch v {
	case compare.Undecided:
		return "u"
	case compare.Better:
		side = "b"
	case compare.Worse:
		side = "w"
	default:
		return "x"
	}
	far := math.Abs(math.Log(*p.Relative))
	switch {
	case far < 0.03:
		return side + "1"
	case far < 0.08:
		return side + "2"
	case far < 0.16:
		return side + "3"
	}
	return side + "4"
}
