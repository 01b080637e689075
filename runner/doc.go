// Package runner executes benchmark plans on the machine it runs on and hands
// the results over.
//
// A plan ([Plan]) is data: what to run, how large, for how long, one db_bench
// process per step on one database directory. [Run] resolves it for the binary
// at hand (flags come and go between releases, see flags.go), refuses it where
// the data set would not be what the workload's name says ([CheckMemory]), and
// executes the steps one after another.
//
// Nothing is kept in memory only. Every run has a journal directory (journal.go)
// that holds the run's identity, every command line, and for each step the whole
// of standard output and standard error, the per-second figures and how the
// process ended. A step's results are posted to the [Sink] after they are on
// disk; a sink that is away, or a runner that is killed, costs no more than the
// step in progress, and [Options].Resume goes on from there.
package runner
