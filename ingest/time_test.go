package ingest

import (
	"math"
	"testing"
)

func TestTimesAsProgramsPrintThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Usage{
		"real\t3m3.939s":           {Real: Measure{183.939, 0.001, true}},
		"real\t0m0,365s":           {Real: Measure{0.365, 0.001, true}}, // German locale
		"user 183.93":              {User: Measure{183.93, 0.01, true}},
		"sys 0.02":                 {System: Measure{0.02, 0.01, true}},
		"\tUser time (seconds): 1": {User: Measure{1, 1, true}},
		"\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:25.46": {Real: Measure{25.46, 0.01, true}},
		"\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02:03": {Real: Measure{3723, 1, true}},
		"\tMaximum resident set size (kbytes): 194356":           {MaxRSS: Measure{194356, 1, true}},
		"\tExit status: 3":                        {ExitStatus: 3},
		"Command exited with non-zero status 124": {ExitStatus: 124},
		"Command terminated by signal 9":          {Signal: 9},
		"\tSwaps: 0":                              {},
	} {
		var u Usage
		if !u.line([]byte(text)) || !closeUsage(u, want) {
			t.Errorf("%q: %+v, want %+v", text, u, want)
		}
	}
	for _, text := range []string{"real", "real fast", "real -1", "user\t3h2m1s", "really 3", "Exit: 3", "", "sys\t1m-3s"} {
		var u Usage
		if u.line([]byte(text)) {
			t.Errorf("%q: %+v", text, u)
		}
	}
}

func closeUsage(a, b Usage) bool {
	near := func(x, y Measure) bool {
		return x.Known == y.Known && math.Abs(x.Value-y.Value) < 1e-9 && math.Abs(x.Resolution-y.Resolution) < 1e-12
	}
	return near(a.Real, b.Real) && near(a.User, b.User) && near(a.System, b.System) && near(a.MaxRSS, b.MaxRSS) && a.ExitStatus == b.ExitStatus && a.Signal == b.Signal
}

func TestTimeFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		ok     bool
		want   Usage
		failed string
	}{
		{"1.32 0.53 0.05\n", true, Usage{Real: Measure{1.32, 0.01, true}, User: Measure{0.53, 0.01, true}, System: Measure{0.05, 0.01, true}}, ""},
		{"Command exited with non-zero status 1\n605.10 9.00 0.10\n", true, Usage{Real: Measure{605.1, 0.01, true}, User: Measure{9, 0.01, true}, System: Measure{0.1, 0.01, true}, ExitStatus: 1}, "exit status 1"},
		{"Command terminated by signal 9\n1.00 0.10 0.10\n\n", true, Usage{Real: Measure{1, 0.01, true}, User: Measure{0.1, 0.01, true}, System: Measure{0.1, 0.01, true}, Signal: 9}, "terminated by signal 9"},
		{"1.32 0.53\n", false, Usage{}, ""},
		{"1.32 0.53 0.05 9\n", false, Usage{}, ""},
		{"", false, Usage{}, ""},
		{"nan 1 2\n", false, Usage{}, ""},
	} {
		u, ok := ParseTimeFile([]byte(c.text))
		if ok != c.ok || !closeUsage(u, c.want) || u.failure() != c.failed {
			t.Errorf("%q: %v %+v %q", c.text, ok, u, u.failure())
		}
	}
}

func TestPeakOfResidentSets(t *testing.T) {
	t.Parallel()
	ps := "root     27221  0.0  0.0  18652  3996 ?        RN   13:32   0:00 ./db_bench --benchmarks=overwrite\n" +
		"root     27221 20.3  0.1 397012 27092 ?        SNl  13:32   0:02 ./db_bench --benchmarks=overwrite\n" +
		"root     27221 20.3  0.1 397012 27000 ?        SNl  13:32   0:03 ./db_bench --benchmarks=overwrite\n" +
		"root         1  0.0  9.9 999999 99999 ?        SNl  13:32   0:03 something else\n"
	if m := peakRSS([]byte(ps)); !m.Known || m.Value != 27092.0/(1<<20) {
		t.Errorf("%+v", m)
	}
	if m := peakRSS(nil); m.Known {
		t.Errorf("%+v", m)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0": 0, "40.676": 40.676, "-0.0": 0, "236790.000000": 236790, "18446744073709551615": 18446744073709551615, "1e3": 1000,
		"0.1": 0.1, "123456789012345": 123456789012345, "1234567890123456.7": 1234567890123456.7, ".5": 0.5, "5.": 5, "0.000000000000001": 1e-15} {
		if got, ok := parseNumber([]byte(text)); !ok || got != want {
			t.Errorf("%q = %v (%v), want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", ".", "-", "1.2.3", "0x10", "1_000", "12K", "1,5", "--1", "1e999"} {
		if got, ok := parseNumber([]byte(text)); ok {
			t.Errorf("%q = %v", text, got)
		}
	}
	for _, text := range []string{"nan", "-nan", "inf", "-inf"} {
		f, ok := newFigure([]byte(text))
		if !ok || f.Known() {
			t.Errorf("%q: %v %+v", text, ok, f)
		}
	}
	for text, want := range map[string]float64{"3.93": 0.01, "517": 1, "2.0": 0.1, "": 1} {
		if got := decimalStep(text); got != want {
			t.Errorf("step of %q %v, want %v", text, got, want)
		}
	}
}
