// Command calibrate measures what internal/stats promises, by simulation: how often an
// unchanged series raises an alarm, how often a change of a given size is found, and how
// often an interval covers. It prints the tables of docs/statistics.md and writes nothing.
// The result depends on -seed and -scale alone, not on the machine.
//
//	go run ./internal/stats/calibrate              all tables, some minutes
//	go run ./internal/stats/calibrate -scale 0.05  a quick look
//	go run ./internal/stats/calibrate -tails       the bounds that detection uses, against simulation
//	go run ./internal/stats/calibrate -tables      constants of internal/stats/tables.go
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	scale := flag.Float64("scale", 1, "factor on the number of trials")
	tails := flag.Bool("tails", false, "compare the bounds that detection uses with simulation")
	tables := flag.Bool("tables", false, "print the constants of tables.go")
	flag.Parse()
	run := report
	switch {
	case *tails:
		run = tailReport
	case *tables:
		run = tableReport
	}
	if err := run(os.Stdout, lab{seed: *seed, scale: *scale}); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

// report prints all tables of docs/statistics.md.
func report(w io.Writer, l lab) error {
	for _, section := range []func(io.Writer, lab) error{alarmReport, powerReport, newestReport, spikeReport, coverReport} {
		if err := section(w, l); err != nil {
			return err
		}
	}
	return nil
}
