package ingest

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

// inUTF16 encodes text; little or big endian, with a byte order mark.
func inUTF16(text string, little, mark bool) []byte {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var out []byte
	for _, u := range units {
		if little {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const text = "71489 (± 24720) ops/sec\r\n😀 \r\n"
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
		err  string
	}{
		{"UTF-8", []byte(text), text, ""},
		{"UTF-8 with mark", append([]byte("\xEF\xBB\xBF"), text...), text, ""},
		{"UTF-16LE", inUTF16(text, true, true), text, ""},
		{"UTF-16BE", inUTF16(text, false, true), text, ""},
		{"nothing", nil, "", ""},
		{"lines that end in CR alone", []byte("a\tb\r1\t2\r\r3\t4\r"), "a\tb\n1\t2\n\n3\t4\n", ""},
		{"lines that end in CR alone, in UTF-16", inUTF16("a\r1\r", true, true), "a\n1\n", ""},
		{"progress that ends in CR", []byte("... finished 10 ops\r... finished 20 ops\rreadrandom : 1\n"), "... finished 10 ops\r... finished 20 ops\rreadrandom : 1\n", ""},
		{"UTF-16LE without mark", inUTF16("readrandom : 1 micros/op", true, false), "", "looks like UTF-16LE without a byte order mark"},
		{"UTF-16BE without mark", inUTF16("readrandom : 1 micros/op", false, false), "", "looks like UTF-16BE without a byte order mark"},
		{"UTF-16 cut in a character", inUTF16(text, true, true)[:9], "", "UTF-16LE but has an odd number of bytes"},
		{"UTF-16 with half a pair", append(inUTF16("ab", true, true), 0x3D, 0xD8), "", "UTF-16LE but is not valid"},
		{"UTF-32", []byte("\xFF\xFE\x00\x00a\x00\x00\x00"), "", "UTF-32"},
		{"ISO-8859-1", []byte("ok\n71489 (\xB1 24720)"), "", "not valid UTF-8 (byte 0xB1 at offset 10, line 2), perhaps ISO-8859-1"},
		{"binary", []byte("\x7fELF\x02\x01\x01\x00\x00\x00"), "", "binary (byte 0 at offset 7)"},
		{"binary in UTF-16", []byte("\xFE\xFF\x00a\x00\x00"), "", "binary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(tt.raw)
			if tt.err == "" {
				if err != nil || string(got) != tt.want {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v, want %q", err, tt.err)
			}
		})
	}
}

// Windows shells redirect into UTF-16: the figures are the same.
func TestTablesInUTF16(t *testing.T) {
	t.Parallel()
	text := fixture(t, "tables/report.7.8.tsv")
	want := mustRead(t, "report.tsv", text, someContext)
	for _, little := range []bool{true, false} {
		raw := inUTF16(strings.ReplaceAll(text, "\n", "\r\n"), little, true)
		got := mustRead(t, "report.tsv", string(raw), someContext)
		if diff := cmp.Diff(want.Runs, got.Runs, cmp.AllowUnexported(bench.LocalTime{})); diff != "" {
			t.Error(diff)
		}
	}
}
