package ingest

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/relqps/relqps/internal/bench"
)

// Byte order marks. Shells of Windows write logs in UTF-16 with one.
var (
	bomUTF8    = []byte{0xEF, 0xBB, 0xBF}
	bomUTF16LE = []byte{0xFF, 0xFE}
	bomUTF16BE = []byte{0xFE, 0xFF}
	bomUTF32LE = []byte{0xFF, 0xFE, 0, 0}
	bomUTF32BE = []byte{0, 0, 0xFE, 0xFF}
)

// decode gives a file's text in UTF-8 without byte order mark, its lines ending in LF or
// CR LF. A mark decides
// the encoding; without one the bytes must be UTF-8. The error names the
// encoding that was found or guessed.
func decode(raw []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(raw, bomUTF32LE) && len(raw)%4 == 0, bytes.HasPrefix(raw, bomUTF32BE):
		return nil, bench.Errorf(bench.KindInvalid, "the file is in UTF-32, which is not read: save it as UTF-8")
	case bytes.HasPrefix(raw, bomUTF16LE):
		return decodeUTF16(raw[2:], binary.LittleEndian, "UTF-16LE")
	case bytes.HasPrefix(raw, bomUTF16BE):
		return decodeUTF16(raw[2:], binary.BigEndian, "UTF-16BE")
	}
	text := bytes.TrimPrefix(raw, bomUTF8)
	if i := bytes.IndexByte(text, 0); i >= 0 {
		switch name := guessUTF16(text); name {
		case "":
			return nil, bench.Errorf(bench.KindInvalid, "the file is binary (byte 0 at offset %d)", i)
		default:
			return nil, bench.Errorf(bench.KindInvalid, "the file looks like %s without a byte order mark: save it as UTF-8", name)
		}
	}
	if !utf8.Valid(text) {
		at := invalidAt(text)
		return nil, bench.Errorf(bench.KindInvalid, "the file is not valid UTF-8 (byte 0x%02X at offset %d, line %d), perhaps ISO-8859-1 or Windows-1252: save it as UTF-8",
			text[at], at, 1+bytes.Count(text[:at], []byte("\n")))
	}
	return withLineEnds(text), nil
}

// withLineEnds gives a text whose lines end in CR alone, as old programs of the Mac and some
// spreadsheets write them, with LF instead. A log whose progress ends in CR has an LF
// somewhere and is left as it is.
func withLineEnds(text []byte) []byte {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
}

func decodeUTF16(raw []byte, order binary.ByteOrder, name string) ([]byte, error) {
	if len(raw)%2 != 0 {
		return nil, bench.Errorf(bench.KindInvalid, "the file is marked as %s but has an odd number of bytes: it is cut short", name)
	}
	text := make([]byte, 0, len(raw)/2)
	for i := 0; i < len(raw); i += 2 {
		r := rune(order.Uint16(raw[i:]))
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if i+4 <= len(raw) {
				low = rune(order.Uint16(raw[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return nil, bench.Errorf(bench.KindInvalid, "the file is marked as %s but is not valid (half a surrogate pair at offset %d)", name, i+2)
			}
			i += 2
		}
		if r == 0 {
			return nil, bench.Errorf(bench.KindInvalid, "the file is binary (character 0 at offset %d)", i+2)
		}
		text = utf8.AppendRune(text, r)
	}
	return withLineEnds(text), nil
}

// guessUTF16 tells UTF-16 by the zero bytes of its ASCII characters.
func guessUTF16(text []byte) string {
	head := text[:min(len(text), 512)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(head) / 2; {
	case half < 2:
	case zeros[0] == 0 && zeros[1] > half*3/4:
		return "UTF-16LE"
	case zeros[1] == 0 && zeros[0] > half*3/4:
		return "UTF-16BE"
	}
	return ""
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return 0
}
