package web

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/relqps/relqps/internal/compare"
)

// csv writes every ratio of the comparison, a row a version, step and build.
func (c compilers) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	write := func(cells ...string) { _ = w.Write(cells) } // a buffer takes everything
	q := c.in.Resolved
	write("system", "suite", "server", "workload", "config", "clients", "step", "version", "compiler", "n", c.metric.Name, "base_compiler", "base_"+c.metric.Name, "relative", "relative_low", "relative_high", "verdict")
	full := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, step := range c.steps {
		for _, v := range c.same.Versions {
			r := c.row(step, v)
			if r == nil {
				continue
			}
			base := ""
			if own := r.Cell(c.in.BaseCompiler); own != nil {
				base = full(own.Value)
			}
			for i := range r.Cells {
				x := &r.Cells[i]
				if x.Point == nil {
					continue
				}
				write(compare.CSVText(q.System), compare.CSVText(q.Suite), compare.CSVText(q.Servers[0]), compare.CSVText(q.Workloads[0]), compare.CSVText(q.Configs[0]), strconv.Itoa(q.Clients[0]),
					compare.CSVText(x.Step), compare.CSVText(v), compare.CSVText(x.Arm), strconv.Itoa(x.N), full(x.Value), compare.CSVText(c.in.BaseCompiler), base,
					csvNumber(x.Relative), csvNumber(x.Low), csvNumber(x.High), string(x.Verdict))
			}
		}
	}
	w.Flush()
	return b.Bytes()
}

// markdown writes the comparison as text. origin is the address of this server.
func (c compilers) markdown(origin string) []byte {
	var b bytes.Buffer
	q := c.in.Resolved
	base := compilerName(c.in.BaseCompiler)
	fmt.Fprintf(&b, "# %s\n\n", markdown(fmt.Sprintf("%s %s built by %s", systemName(q.System), span(c.same.Versions), compare.AndList(compilerNames(q.Compilers)))))
	var facts []string
	for _, f := range c.meta() {
		facts = append(facts, plain(f.Parts))
	}
	fmt.Fprintf(&b, "%s\n\n%s\n\n", markdown(strings.Join(facts, " · ")), origin+q.with(func(q *chartsQuery) { q.Unknown = nil }).String())
	fmt.Fprintf(&b, "%s\n", markdown(plain(c.lead())))

	steady := c.steady()
	fmt.Fprintf(&b, "\n## How steady each build is\n\n%s\n\n| step |", markdown(steady.How))
	for _, name := range steady.Builds {
		fmt.Fprintf(&b, " %s |", markdown(name))
	}
	b.WriteString("\n|:--|" + strings.Repeat("--:|", len(steady.Builds)) + "\n")
	for _, row := range steady.Rows {
		fmt.Fprintf(&b, "| %s |", markdown(row.Step))
		for _, n := range row.Noise {
			fmt.Fprintf(&b, " %s |", n)
		}
		b.WriteString("\n")
	}

	t := c.against()
	fmt.Fprintf(&b, "\n## %s\n", markdown(t.Title))
	for i, s := range t.Steps {
		fmt.Fprintf(&b, "\n### %s\n\n| version | %s |", markdown(s.Name), markdown(base+" "+valueHead(c.metric)))
		for _, arm := range c.others {
			fmt.Fprintf(&b, " %s |", markdown(compilerName(arm)))
		}
		b.WriteString("\n|:--|--:|" + strings.Repeat("--:|", len(c.others)) + "\n")
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "| %s | %s |", markdown(row.Version), row.Cells[i][0].Text)
			r := c.row(c.steps[i], row.Version)
			for _, arm := range c.others {
				text := compare.Missing
				if r != nil {
					if x := r.Cell(arm); x != nil && x.Relative != nil {
						text = ratioText(*x.Point, c.metric.Direction)
						if x.Low != nil {
							text += " (" + compare.FormatInterval(x.Low, x.High) + ")"
						}
					}
				}
				fmt.Fprintf(&b, " %s |", text)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n≈ cannot be told from 1.00; \u2014 not measured.\n")
	for _, m := range t.Missing {
		fmt.Fprintf(&b, "\n%s\n", markdown(m))
	}
	sets := c.builds()
	b.WriteString("\n## Builds\n\n| build | versions | compiler | flags that differ |\n|:--|--:|:--|:--|\n")
	for _, r := range sets.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", markdown(r.Name), r.Count, markdown(r.Compiler), markdown(r.Differ))
	}
	if s := c.notComparable(); s != "" {
		fmt.Fprintf(&b, "\n%s\n", markdown(s))
	}
	return b.Bytes()
}
