package compare

import "testing"

func TestFigures(t *testing.T) {
	t.Parallel()
	f := func(v float64) *float64 { return &v }
	for _, c := range []struct{ name, got, want string }{
		{"millions", FormatShort(2069271), "2.07\u2009M"},
		{"thousands", FormatShort(233175), "233\u2009K"},
		{"just under a million rounds up to it", FormatShort(999960), "1.00\u2009M"},
		{"small thousands stay whole", FormatShort(9876), "9876"},
		{"tens", FormatShort(12.345), "12.3"},
		{"carry", FormatShort(9.996), "10.0"},
		{"small", FormatShort(0.012345), "0.0123"},
		{"zero", FormatShort(0), "0"},
		{"negative", FormatShort(-12.3), "\u221212.3"},
		{"full", FormatFull(1671040), "1,671,040"},
		{"full with fraction", FormatFull(1234.5), "1,234.5"},
		{"full small", FormatFull(12), "12"},
		{"ratio", FormatRatio(0.80755, f(0.77), f(0.85)), "0.81"},
		{"sharp ratio", FormatRatio(0.80755, f(0.805), f(0.81)), "0.808"},
		{"ratio without interval", FormatRatio(1.5, nil, nil), "1.50"},
		{"interval", FormatInterval(f(0.77), f(0.85)), "0.77\u20130.85"},
		{"no interval", FormatInterval(nil, nil), "\u2014"},
		{"loss", FormatPercent(0.93), "\u22127.0\u2009%"},
		{"gain", FormatPercent(1.041), "+4.1\u2009%"},
		{"nothing", FormatPercent(0.9999), "0.0\u2009%"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// One guard for every CSV that the program writes.
func TestCSVTextIsNoFormula(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "c2": "c2", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "＝1": "'＝1", "－1": "'－1", "a=1": "a=1", "ä": "ä",
	} {
		if got := CSVText(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
