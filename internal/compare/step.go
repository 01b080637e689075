package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// StepArm is what is compared of one step: a build and config of a coordinate at
// one version, all its runs or one of them.
type StepArm struct {
	bench.Coordinate
	Version string
	// Run is one run alone; 0 takes all of the coordinate at the version.
	Run int64
	// Series are those of all metrics of the coordinate.
	Series []bench.Series
}

// Name names an arm among others by what they differ in, the version alone where
// they differ in nothing.
func (a StepArm) Name(among []StepArm) string {
	differ := func(of func(StepArm) string) bool {
		return slices.ContainsFunc(among, func(b StepArm) bool { return of(b) != of(a) })
	}
	var parts []string
	for _, of := range []func(StepArm) string{
		func(x StepArm) string { return x.System }, func(x StepArm) string { return x.Server }, func(x StepArm) string { return x.Workload },
		func(x StepArm) string {
			if x.Clients == 0 {
				return ""
			}
			return countOf(x.Clients, "client", "clients")
		},
		func(x StepArm) string { return x.Compiler }, func(x StepArm) string { return x.Version },
		func(x StepArm) string { return cmp.Or(x.Config, "no config") },
	} {
		if differ(of) && of(a) != "" {
			parts = append(parts, of(a))
		}
	}
	if a.Run > 0 && slices.ContainsFunc(among, func(b StepArm) bool { return b.Run != a.Run && b.Coordinate == a.Coordinate && b.Version == a.Version }) {
		parts = append(parts, "run "+strconv.FormatInt(a.Run, 10))
	}
	if len(parts) == 0 {
		return cmp.Or(a.Version, "run "+strconv.FormatInt(a.Run, 10))
	}
	return strings.Join(parts, " ")
}

// CompareStepArms orders arms: by place, then versions, compilers and configs.
func CompareStepArms(a, b StepArm) int {
	return cmp.Or(strings.Compare(a.System, b.System), compareNatural(a.Server, b.Server), compareNatural(a.Workload, b.Workload), a.Clients-b.Clients,
		bench.CompareVersions(a.Version, b.Version), strings.Compare(compilerOrder(a.Compiler), compilerOrder(b.Compiler)), compareNatural(a.Config, b.Config), cmp.Compare(a.Run, b.Run))
}

// compilerOrder puts gcc before the others.
func compilerOrder(c string) string {
	if c == "gcc" {
		return ""
	}
	return c
}

// Runs lists the runs of an arm, the newest first.
func (a StepArm) Runs() []int64 {
	type dated struct {
		run     int64
		started bench.LocalTime
	}
	var list []dated
	for _, s := range a.Series {
		for _, p := range s.Points {
			if bench.CompareVersions(p.Version, a.Version) != 0 {
				continue
			}
			for _, x := range p.Samples {
				if (a.Run == 0 || x.RunID == a.Run) && !slices.ContainsFunc(list, func(d dated) bool { return d.run == x.RunID }) {
					list = append(list, dated{x.RunID, x.Started})
				}
			}
		}
	}
	slices.SortFunc(list, func(x, y dated) int {
		return cmp.Or(y.started.Wall().Compare(x.started.Wall()), cmp.Compare(y.run, x.run))
	})
	runs := make([]int64, len(list))
	for i, d := range list {
		runs[i] = d.run
	}
	return runs
}

// StepRow is a metric over the arms of a step.
type StepRow struct {
	Metric bench.Metric
	Cells  []StepCell // one per arm
}

// StepCell is an arm's figure, divided by the base's; Point is nil where it was
// not measured.
type StepCell struct {
	*Point
	Verdict Verdict
}

// CompareStep compares the arms of a step in all their metrics, figures per
// operation that can be made of others included, in the order of pages. base is
// the index of the base, -1 for none.
func CompareStep(arms []StepArm, base int, cache *Cache) []StepRow {
	type place struct {
		line  Line
		point *Point
	}
	by := map[string][]place{}
	metrics := map[string]bench.Metric{}
	var names []string
	for i, a := range arms {
		for _, s := range slices.Concat(a.Series, PerOperation(a.Series)) {
			lines := Compare([]bench.Series{a.only(s)}, Options{Cache: cache}).Lines
			if len(lines) == 0 {
				continue
			}
			p := lines[0].at(a.Version)
			if p == nil {
				continue
			}
			if by[s.Metric.Name] == nil {
				by[s.Metric.Name] = make([]place, len(arms))
				metrics[s.Metric.Name] = s.Metric
				names = append(names, s.Metric.Name)
			}
			by[s.Metric.Name][i] = place{lines[0], p}
		}
	}
	slices.SortStableFunc(names, bench.CompareMetrics)
	var rows []StepRow
	for _, name := range names {
		row := StepRow{Metric: metrics[name], Cells: make([]StepCell, len(arms))}
		for i := range arms {
			x := &by[name][i]
			if x.point == nil {
				continue
			}
			if base >= 0 && by[name][base].point != nil {
				from := &by[name][base]
				x.line.divide(x.point, &from.line, from.point)
			}
			row.Cells[i] = StepCell{x.point, Judge(*x.point, row.Metric.Direction)}
		}
		rows = append(rows, row)
	}
	return rows
}

// only leaves at the arm's version the samples of its run, where it is of one.
func (a StepArm) only(s bench.Series) bench.Series {
	if a.Run == 0 {
		return s
	}
	points := slices.Clone(s.Points)
	s.Points = points[:0]
	for _, p := range points {
		if bench.CompareVersions(p.Version, a.Version) == 0 {
			p.Samples = slices.DeleteFunc(slices.Clone(p.Samples), func(x bench.Sample) bool { return x.RunID != a.Run })
			if len(p.Samples) == 0 {
				continue
			}
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// ConfigSetOf gives the option sets stored under a config's name: what its file
// asks for, and beside it what a server said of itself; that alone where there is
// no file, nil where there is neither.
func ConfigSetOf(configs []bench.StoredConfig, name string) *ConfigSet {
	set, variants := PickConfig(configs, name)
	back := readBack(configs, name)
	switch {
	case set != nil:
		return &ConfigSet{set, variants, back}
	case back != nil:
		return &ConfigSet{StoredConfig: back}
	}
	return nil
}
