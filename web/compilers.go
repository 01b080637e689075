package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/web/view"
)

// baseCompilerDefault is whose builds are 1.00 where the address names none and it
// was measured.
const baseCompilerDefault = "gcc"

// buildRuns bounds the runs whose builds the page of compilers reads.
const buildRuns = 1000

// placesMax bounds the places that are shown side by side.
const placesMax = 6

// compilersInput is what the page of compilers is built from. In its resolved query
// every dimension but the compiler has one value, and the base names a compiler.
type compilersInput struct {
	chartsInput
	// BaseCompiler is whose builds are 1.00, BaseAuto the version of it that is where
	// the address names none.
	BaseCompiler, BaseAuto string
	Runs                   []bench.RunSummary
	Places                 []place        // others that can be compared, with the same system and suite
	Elsewhere              []bench.Series // of these
}

// place is a coordinate without step and compiler: where builds can be compared.
type place bench.Coordinate

func placeOf(c bench.Coordinate) place {
	c.Step, c.Compiler = "", ""
	return place(c)
}

// compilersAt gives the compilers that were measured at every place, in order.
func compilersAt(coordinates []bench.CoordinateInfo) map[place][]string {
	out := map[place][]string{}
	for _, c := range coordinates {
		p := placeOf(c.Coordinate)
		out[p] = appendNew(out[p], c.Compiler)
	}
	for p, list := range out {
		slices.SortFunc(list, compilerOrder(baseCompilerDefault))
		out[p] = list
	}
	return out
}

// compilerOrder lists a base first, the others by name.
func compilerOrder(base string) func(a, b string) int {
	return func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == base:
			return -1
		case b == base:
			return 1
		case a < b:
			return -1
		}
		return 1
	}
}

// baseFirst puts the lines of a step that are of the base's compiler before its
// others.
func baseFirst(lines []compare.Line, base string) {
	slices.SortStableFunc(lines, func(a, b compare.Line) int {
		if d := bench.CompareSteps(a.Step, b.Step); d != 0 {
			return d
		}
		return compilerOrder(base)(a.Compiler, b.Compiler)
	})
}

// resolveBuilds is resolve for the page of compilers: what is not given is chosen
// among the places with several compilers as long as there are any, of each
// dimension one value, and all compilers of the place unless some were given.
func (q chartsQuery) resolveBuilds(coordinates []bench.CoordinateInfo) (chartsQuery, bool) {
	at := compilersAt(coordinates)
	several := slices.DeleteFunc(slices.Clone(coordinates), func(c bench.CoordinateInfo) bool { return len(at[placeOf(c.Coordinate)]) < 2 })
	among := several
	r, found := q.resolve(several)
	if !found {
		among = coordinates
		if r, found = q.resolve(coordinates); !found {
			return r, false
		}
	}
	// Of several values of a dimension the place with most samples is shown.
	samples := map[place]int{}
	for _, c := range among {
		if slices.Contains(r.Servers, c.Server) && slices.Contains(r.Workloads, c.Workload) && slices.Contains(r.Configs, c.Config) &&
			slices.Contains(r.Clients, c.Clients) && c.System == r.System && c.Suite == r.Suite {
			samples[placeOf(c.Coordinate)] += c.Samples
		}
	}
	var shown place
	for p, n := range samples {
		if most := samples[shown]; n > most || n == most && comparePlaces(p, shown) < 0 {
			shown = p
		}
	}
	if samples[shown] == 0 {
		return r, false
	}
	r.Servers, r.Workloads, r.Configs, r.Clients = []string{shown.Server}, []string{shown.Workload}, []string{shown.Config}, []int{shown.Clients}
	if len(q.Compilers) == 0 {
		r.Compilers = at[shown]
	}
	return r, true
}

func comparePlaces(a, b place) int {
	return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Workload, b.Workload), strings.Compare(a.Config, b.Config), cmp.Compare(a.Clients, b.Clients))
}

// place is that of a query with one value of each dimension.
func (q chartsQuery) place() place {
	return place{System: q.System, Suite: q.Suite, Server: q.Servers[0], Workload: q.Workloads[0], Config: q.Configs[0], Clients: q.Clients[0]}
}

// readCompilers reads what /compilers shows.
func (s *server) readCompilers(ctx context.Context, raw, origin string) (compilersInput, error) {
	var in compilersInput
	q, err := parseCharts(raw)
	if err != nil {
		return in, err
	}
	q.Builds, q.Across, q.Fit, q.Worst = true, false, false, false
	in.chartsInput = chartsInput{Given: q, Origin: origin, Reader: readerOf(ctx)}
	if in.Coordinates, err = s.Source.Coordinates(ctx, bench.SeriesFilter{}); err != nil {
		return in, err
	}
	if in.Resolved, in.Found = q.resolveBuilds(in.Coordinates); !in.Found {
		return in, nil
	}
	r := &in.Resolved
	in.BaseCompiler = q.Base.Compiler
	if in.BaseCompiler == "" {
		in.BaseCompiler = r.Compilers[0]
		if slices.Contains(r.Compilers, baseCompilerDefault) {
			in.BaseCompiler = baseCompilerDefault
		}
	}
	r.Compilers = appendNew(slices.Clone(r.Compilers), in.BaseCompiler)
	slices.SortFunc(r.Compilers, compilerOrder(in.BaseCompiler))
	r.Base = compare.Base{Compiler: in.BaseCompiler, Version: q.Base.Version}
	if err := s.readLines(ctx, &in.chartsInput); err != nil {
		return in, err
	}
	in.BaseAuto = oldestOf(in.Series, in.BaseCompiler, r.From, r.To)
	if q.Base.Compiler == "" && q.Base.Version == "" {
		r.Base.Version = in.BaseAuto
	}

	page, err := s.Source.Runs(ctx, bench.RunFilter{
		System: r.System, Suite: r.Suite, Servers: r.Servers, Workloads: r.Workloads, Compilers: r.Compilers, Configs: r.Configs, Clients: r.Clients,
		State: bench.RecordActive, Limit: buildRuns,
	})
	if err != nil {
		return in, err
	}
	in.Runs = page.Runs
	in.Places = otherPlaces(in.Coordinates, r.place())
	if len(in.Places) > 0 {
		f := bench.SeriesFilter{System: r.System, Suite: r.Suite, Metric: r.Metric}
		for _, p := range in.Places {
			f.Servers, f.Workloads = appendNew(f.Servers, p.Server), appendNew(f.Workloads, p.Workload)
		}
		if in.Elsewhere, err = s.Source.Series(ctx, f); err != nil {
			return in, err
		}
	}
	return in, nil
}

// oldestOf gives the oldest version within a range that the most series of a
// compiler have.
func oldestOf(series []bench.Series, compiler, from, to string) string {
	own := slices.DeleteFunc(slices.Clone(series), func(s bench.Series) bool {
		return s.Compiler != compiler || bench.StepRole(s.Suite, s.Step) == bench.RolePrepare
	})
	return compare.DefaultBase(compare.Compare(own, compare.Options{JoinFamilies: true}).Lines, from, to)
}

// otherPlaces gives the places of a system and suite, other than here, where
// several compilers were measured: those of the same workload first, at most
// [placesMax].
func otherPlaces(coordinates []bench.CoordinateInfo, here place) []place {
	var out []place
	for p, compilers := range compilersAt(coordinates) {
		if p.System == here.System && p.Suite == here.Suite && p != here && len(compilers) > 1 {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b place) int {
		if x, y := a.Workload == here.Workload, b.Workload == here.Workload; x != y {
			if x {
				return -1
			}
			return 1
		}
		return compare.Order(bench.Coordinate(a), bench.Coordinate(b))
	})
	return out[:min(len(out), placesMax)]
}

func (s *server) compilers(w http.ResponseWriter, r *http.Request) {
	in, err := s.readCompilers(r.Context(), r.URL.RawQuery, s.origin(r))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	switch format := in.Given.Unknown.Get("format"); format {
	case "":
		s.page(func(r *http.Request) (templ.Component, error) { return s.compilersPage(r, in) })(w, r)
	case "md", "csv":
		c, err := newCompilers(in)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		if format == "csv" {
			w.Header().Set("Content-Disposition", `attachment; filename="compilers.csv"`)
			write(w, http.StatusOK, "text/csv; charset=utf-8", c.csv())
			return
		}
		write(w, http.StatusOK, "text/plain; charset=utf-8", c.markdown(s.origin(r)))
	default:
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "format is md or csv, not %q", format))
	}
}

func (s *server) compilersPage(r *http.Request, in compilersInput) (templ.Component, error) {
	p, err := newCompilersPage(in)
	if err != nil {
		return nil, err
	}
	p.Page = s.frame(r, p.Title, "/compilers")
	s.bar(r, &p.Bar)
	p.View = freezeView(r, p.View)
	if f := frozenOf(r.Context()); f != nil && p.Empty == nil {
		p.Against.CSV, p.Against.Markdown = f.path+"?format=csv", f.path+"?format=md"
	}
	switch {
	case !in.Found:
	case p.Empty != nil:
		s.describe(r, &p.Page, p.Empty.Sentence)
	default:
		s.preview(r, &p.Page, in.Resolved, plain(p.Lead))
	}
	return view.Compilers(p), nil
}
