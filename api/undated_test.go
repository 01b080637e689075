package api_test

import "testing"

// A compiler that was assumed is not part of what a log stated: stating the same one
// later, with bytes that differ in nothing but a blank line, is no second measurement.
func TestAnUndatedLogWithItsAssumedCompilerStatedIsNotStoredTwice(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const log = "RocksDB:    version 7.8.3\nreadrandom   :      20.000 micros/op 50000 ops/sec;\n"
	first := s.stored(with(on("c2", "cached", ""), "filename", "a.log"), log)
	if first.Results != 1 {
		t.Fatalf("%+v", first)
	}
	again := s.stored(with(on("c2", "cached", "gcc"), "filename", "a.log"), log+"\n")
	if again.Results != 0 || again.AlreadyThere != 1 {
		t.Errorf("%d results, %d already there; want 0 and 1", again.Results, again.AlreadyThere)
	}
	if l := s.series("server=c2").only(t); len(l.Points) != 1 || l.Points[0].N != 1 {
		t.Errorf("%+v", l.Points)
	}
}
