package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// LocalTime is a time as a program printed it. db_bench's Date: has no zone, so
// it is kept as it stands and never converted; where a zone was printed,
// Offset holds it in seconds east of UTC. The zero value means not stated.
type LocalTime struct {
	wall   time.Time // the printed clock reading, in time.UTC as a carrier
	offset int
	zoned  bool
}

// NewLocalTime makes a time without zone from a clock reading, to the second.
func NewLocalTime(year int, month time.Month, day, hour, minute, second int) LocalTime {
	return LocalTime{wall: time.Date(year, month, day, hour, minute, second, 0, time.UTC)}
}

// ZonedTime makes a time that knows its zone.
func ZonedTime(t time.Time) LocalTime {
	_, offset := t.Zone()
	return LocalTime{
		wall:   time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC),
		offset: offset, zoned: true,
	}
}

// LocalTimeOf rebuilds a time from its stored parts; offset is nil for a time
// without zone.
func LocalTimeOf(wall time.Time, offset *int) LocalTime {
	t := LocalTime{wall: time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)}
	if offset != nil {
		t.offset, t.zoned = *offset, true
	}
	return t
}

var isoRe = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{2}):(\d{2})(?:\.\d+)?(Z|[+-]\d{2}:?\d{2})?$`)

// ParseLocalTime reads the date column of report.tsv in all its forms: the day
// may lack its zero (2023-11-9T16:54:47), older scripts print milliseconds and
// a zone (2022-03-16T15:46:45.000-07:00).
func ParseLocalTime(text string) (LocalTime, error) {
	m := isoRe.FindStringSubmatch(text)
	if m == nil {
		return LocalTime{}, Errorf(KindInvalid, "not a date: %q", text)
	}
	var n [6]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // the pattern admits short digit runs only
	}
	t := NewLocalTime(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5])
	if int(t.wall.Month()) != n[1] || t.wall.Day() != n[2] || t.wall.Hour() != n[3] || t.wall.Minute() != n[4] || t.wall.Second() != n[5] {
		return LocalTime{}, Errorf(KindInvalid, "no such date: %q", text)
	}
	switch zone := m[7]; {
	case zone == "Z":
		t.zoned = true
	case zone != "":
		h, _ := strconv.Atoi(zone[1:3])
		mi, _ := strconv.Atoi(zone[len(zone)-2:])
		t.zoned, t.offset = true, h*3600+mi*60
		if zone[0] == '-' {
			t.offset = -t.offset
		}
	}
	return t, nil
}

// ParseCTime reads the Date: line of db_bench (Mon Nov 30 13:30:11 2026).
func ParseCTime(text string) (LocalTime, error) {
	t, err := time.Parse("Mon Jan _2 15:04:05 2006", text)
	if err != nil {
		return LocalTime{}, Errorf(KindInvalid, "not a date: %q", text)
	}
	return LocalTime{wall: t}, nil
}

// IsZero reports whether no time was stated.
func (t LocalTime) IsZero() bool { return t.wall.IsZero() }

// Wall gives the printed clock reading, carried in time.UTC.
func (t LocalTime) Wall() time.Time { return t.wall }

// Offset gives the zone in seconds east of UTC; ok is false when none was printed.
func (t LocalTime) Offset() (seconds int, ok bool) { return t.offset, t.zoned }

// Second gives the printed clock reading without zone, as the measurement key
// uses it: 2023-11-09T16:54:47. "" when no time was stated.
func (t LocalTime) Second() string {
	if t.IsZero() {
		return ""
	}
	return t.wall.Format("2006-01-02T15:04:05")
}

// String shows the reading with its zone, or without one where none was printed.
func (t LocalTime) String() string {
	if t.IsZero() {
		return ""
	}
	s := t.wall.Format("2006-01-02 15:04:05")
	if !t.zoned {
		return s
	}
	if t.offset == 0 {
		return s + " UTC"
	}
	sign, o := "+", t.offset
	if o < 0 {
		sign, o = "-", -o
	}
	return fmt.Sprintf("%s %s%02d:%02d", s, sign, o/3600, o%3600/60)
}

// Instant gives the time in UTC where a zone is known, and the bare clock
// reading where it is not: good for sorting, not for converting.
func (t LocalTime) Instant() time.Time {
	return t.wall.Add(-time.Duration(t.offset) * time.Second)
}

// MarshalText gives the reading as in [LocalTime.Second] with the zone appended
// where one is known.
func (t LocalTime) MarshalText() ([]byte, error) {
	if t.IsZero() {
		return nil, nil
	}
	if !t.zoned {
		return []byte(t.Second()), nil
	}
	return []byte(t.wall.In(time.UTC).Format("2006-01-02T15:04:05") + zoneText(t.offset)), nil
}

func zoneText(offset int) string {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("%c%02d:%02d", sign, offset/3600, offset%3600/60)
}

// UnmarshalText reads what [LocalTime.MarshalText] wrote.
func (t *LocalTime) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = LocalTime{}
		return nil
	}
	parsed, err := ParseLocalTime(string(text))
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
