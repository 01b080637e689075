package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/relqps/relqps/internal/stats"
)

var levels = []float64{0.05, 0.01, 0.001}

// setting is a kind of unchanged series.
type setting struct {
	noise   noise
	n, runs int
	trials  int
}

func alarmSettings() []setting {
	var s []setting
	for _, x := range []struct {
		noise  noise
		trials int
	}{{gaussian, 600_000}, {heavy10, 600_000}, {heavy5, 60_000}, {heavy3, 60_000}} {
		for _, n := range []int{20, 30, 80} {
			for _, runs := range []int{1, 3} {
				trials := x.trials
				if n == 80 {
					trials /= 2
				}
				s = append(s, setting{x.noise, n, runs, trials})
			}
		}
	}
	return s
}

func (s setting) name() string { return fmt.Sprintf("alarm %s %d %d", s.noise.name, s.n, s.runs) }

// alarms counts unchanged series with a change at each level, by shape, and at single
// versions; and tables of 60 series that are not empty under false-discovery control.
func (s setting) alarms(l lab) counts {
	return l.each(s.name(), l.trials(s.trials), func(r *rand.Rand, trials int, c counts) {
		points := grid(s.n, s.runs)
		const table = 60
		versions := map[string]int{"middle": s.n / 2, "second": 1, "last": s.n - 1}
		var list []float64
		here := map[string][]float64{}
		for t := range trials {
			sample(r, points, s.noise, 0.01, unchanged)
			least, shape := 1.0, ""
			for _, ch := range stats.Detect(points, stats.Options{}) {
				if ch.P < least {
					least, shape = ch.P, ch.Shape
				}
				for name, v := range versions {
					if ch.To == v {
						here[name] = append(here[name], ch.PHere)
						for _, a := range levels {
							if ch.PHere <= a {
								c[fmt.Sprint(name, a)]++
							}
						}
					}
				}
			}
			for _, a := range levels {
				if least <= a {
					c[fmt.Sprint(a)]++
					c[fmt.Sprint(shape, a)]++
				}
			}
			if shape != "" {
				list = append(list, least)
			}
			if t%table == table-1 {
				c["tables"]++
				if stats.FalseDiscoveryCut(list, table, 0.05) > 0 {
					c["list marked"]++
				}
				for name := range versions {
					if stats.FalseDiscoveryCut(here[name], table, 0.05) > 0 {
						c[name+" marked"]++
					}
					here[name] = here[name][:0]
				}
				list = list[:0]
			}
		}
	})
}

// alarmReport prints the tables about unchanged series.
func alarmReport(w io.Writer, l lab) error {
	settings := alarmSettings()
	results := make([]counts, len(settings))
	for i, s := range settings {
		results[i] = s.alarms(l)
	}
	p := &printer{w: w}
	p.line("### Unchanged series with an alarm\n")
	p.line("Share of unchanged series with a change of P ≤ the stated rate, divided by that rate; any shape counts. A bound of 1.2 is promised for Gaussian noise and t10, none for t5 and t3.\n")
	p.head("noise", "versions", "runs per version", "rate 0.05", "rate 0.01", "rate 0.001", "series")
	for i, s := range settings {
		c := results[i]
		p.row(s.noise.name, fmt.Sprint(s.n), fmt.Sprint(s.runs), c.ratio("0.05", 0.05), c.ratio("0.01", 0.01), c.ratio("0.001", 0.001), fmt.Sprint(c["trials"]))
	}
	p.line("\n### Which shape the alarms have, and at which version\n")
	p.line("One run per version. Alarms of P ≤ 0.001 by shape, divided by 0.001; the last three columns are alarms of PHere ≤ 0.01 at one version given beforehand, divided by 0.01: PHere is an upper bound.\n")
	p.head("noise", "versions", "step", "spike", "newest", "second version", "middle version", "last version")
	for i, s := range settings {
		if s.runs != 1 {
			continue
		}
		c := results[i]
		p.row(s.noise.name, fmt.Sprint(s.n), c.ratio("step0.001", 0.001), c.ratio("spike0.001", 0.001), c.ratio("newest0.001", 0.001),
			c.ratio("second0.01", 0.01), c.ratio("middle0.01", 0.01), c.ratio("last0.01", 0.01))
	}
	p.line("\n### Unchanged tables of 60 series under false-discovery control at 5 %%\n")
	p.line("Share of tables that stay empty, with its standard error: of all versions together (by P), and of one version (by PHere).\n")
	p.head("noise", "versions", "all versions", "middle version", "last version", "tables")
	for i, s := range settings {
		if s.runs != 1 {
			continue
		}
		c := results[i]
		empty := func(name string) string {
			n := float64(c["tables"])
			q := float64(c[name+" marked"]) / n
			return fmt.Sprintf("%.1f ± %.1f %%", 100*(1-q), 100*math.Sqrt(q*(1-q)/n))
		}
		p.row(s.noise.name, fmt.Sprint(s.n), empty("list"), empty("middle"), empty("last"), fmt.Sprint(c["tables"]))
	}
	p.line("")
	return p.err
}
