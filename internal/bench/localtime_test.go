package bench

import (
	"encoding/json"
	"testing"
	"time"
)

func TestParseLocalTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, second, shown, utc string }{
		{"2023-11-9T16:54:47", "2023-11-09T16:54:47", "2023-11-09 16:54:47", "2023-11-09T16:54:47Z"},
		{"2025-05-06 15:36:12", "2025-05-06T15:36:12", "2025-05-06 15:36:12", "2025-05-06T15:36:12Z"},
		{"2022-03-16T15:46:45.000-07:00", "2022-03-16T15:46:45", "2022-03-16 15:46:45 -07:00", "2022-03-16T22:46:45Z"},
		{"2022-03-16T15:46:45+0530", "2022-03-16T15:46:45", "2022-03-16 15:46:45 +05:30", "2022-03-16T10:16:45Z"},
		{"2022-03-16T15:46:45Z", "2022-03-16T15:46:45", "2022-03-16 15:46:45 UTC", "2022-03-16T15:46:45Z"},
		{"2024-02-29T00:00:00", "2024-02-29T00:00:00", "2024-02-29 00:00:00", "2024-02-29T00:00:00Z"},
	} {
		got, err := ParseLocalTime(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got.Second() != test.second || got.String() != test.shown || got.Instant().Format(time.RFC3339) != test.utc {
			t.Errorf("%s is %s, %s, %s; want %s, %s, %s", test.text, got.Second(), got, got.Instant().Format(time.RFC3339), test.second, test.shown, test.utc)
		}
	}
	for _, bad := range []string{"", "2023-11-9", "2023-02-29T00:00:00", "2023-13-01T00:00:00", "2023-11-09T24:00:00", "2023-11-09T10:60:00", "09.11.2023 16:54:47", "2023-11-09T16:54:47 PST"} {
		if _, err := ParseLocalTime(bad); KindOf(err) != KindInvalid {
			t.Errorf("%q: %v, want invalid", bad, err)
		}
	}
}

func TestParseCTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mon Nov 30 13:30:11 2026": "2026-11-30T13:30:11",
		"Sun Nov  1 03:05:09 2026": "2026-11-01T03:05:09",
	} {
		if got, err := ParseCTime(text); err != nil || got.Second() != want {
			t.Errorf("%s is %s, %v; want %s", text, got.Second(), err, want)
		}
	}
	for _, bad := range []string{"", "2026-11-30", "Mo 30 Nov 2026", "Mon Nov 31 13:30:11 2026"} {
		if _, err := ParseCTime(bad); KindOf(err) != KindInvalid {
			t.Errorf("%q: %v, want invalid", bad, err)
		}
	}
}

func TestLocalTimeKeepsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	zoned := ZonedTime(time.Date(2022, 3, 16, 15, 46, 45, 999, time.FixedZone("", -7*3600)))
	plain := NewLocalTime(2023, time.November, 9, 16, 54, 47)
	for _, want := range []LocalTime{{}, zoned, plain, ZonedTime(time.Date(2022, 3, 16, 0, 0, 0, 0, time.UTC))} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got LocalTime
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%s came back as %s, %v", want, got, err)
		}
		var offset *int
		if o, ok := want.Offset(); ok {
			offset = &o
		}
		if !want.IsZero() && LocalTimeOf(want.Wall(), offset) != want {
			t.Errorf("%s is another time when made from its parts", want)
		}
	}
	if (LocalTime{}).String() != "" || (LocalTime{}).Second() != "" || !(LocalTime{}).IsZero() || plain.IsZero() {
		t.Error("a time that was not stated shows something")
	}
	if _, ok := plain.Offset(); ok {
		t.Error("a time without zone has an offset")
	}
	var bad LocalTime
	if err := bad.UnmarshalText([]byte("soon")); KindOf(err) != KindInvalid {
		t.Errorf("error %v, want invalid", err)
	}
}
