package bench

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCampaigns(t *testing.T) {
	t.Parallel()
	at := func(hours ...float64) []LocalTime {
		var starts []LocalTime
		for _, h := range hours {
			if h < 0 {
				starts = append(starts, LocalTime{})
				continue
			}
			day := NewLocalTime(2023, time.November, 9, 0, 0, 0)
			starts = append(starts, LocalTimeOf(day.Wall().Add(time.Duration(h*float64(time.Hour))), nil))
		}
		return starts
	}
	for name, test := range map[string]struct {
		starts []LocalTime
		want   []int
	}{
		"nothing":                       {nil, []int{}},
		"one run":                       {at(5), []int{1}},
		"even spacing":                  {at(0, 2, 4, 6), []int{1, 1, 1, 1}},
		"a pause of three times":        {at(0, 2, 4, 10, 12), []int{1, 1, 1, 1, 1}},
		"a longer pause":                {at(0, 2, 4, 10.5, 12.5), []int{1, 1, 1, 2, 2}},
		"two pauses":                    {at(0, 1, 2, 100, 101, 300, 301, 302), []int{1, 1, 1, 2, 2, 3, 3, 3}},
		"any order":                     {at(300, 2, 0, 1, 301), []int{2, 1, 1, 1, 2}},
		"undated runs":                  {at(-1, 0, 1, -1, 2, 50), []int{0, 1, 1, 0, 1, 2}},
		"equal starts do not count":     {at(0, 0, 0, 0, 2, 4, 6), []int{1, 1, 1, 1, 1, 1, 1}},
		"two runs":                      {at(0, 1000), []int{1, 1}},
		"of two pauses the shorter one": {at(0, 1, 400), []int{1, 1, 2}},
		"only undated":                  {at(-1, -1), []int{0, 0}},
	} {
		if got := Campaigns(test.starts); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	// Zones are told apart: 15:00 -07:00 is 22:00 UTC.
	pacific := ZonedTime(time.Date(2023, 11, 9, 15, 0, 0, 0, time.FixedZone("", -7*3600)))
	utc := func(hour int) LocalTime { return ZonedTime(time.Date(2023, 11, 9, hour, 0, 0, 0, time.UTC)) }
	if got := Campaigns([]LocalTime{pacific, utc(14), utc(15), utc(16)}); !slices.Equal(got, []int{2, 1, 1, 1}) {
		t.Errorf("%v, want the run at 22:00 UTC in a campaign of its own", got)
	}
}

// The c2 runs of the published archive paused before 6.20.4, 8.4.4 and 8.7.3, and not
// before 6.3.6, 6.10.4 and 8.6.7.
func TestCampaignsOfAnArchive(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/starts.c2.cached.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	var starts []LocalTime
	for line := range strings.Lines(string(text)) {
		version, date, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		start, err := ParseLocalTime(date)
		if err != nil {
			t.Fatal(err)
		}
		versions, starts = append(versions, version), append(starts, start)
	}
	numbers := Campaigns(starts)
	of := func(version string) int { return numbers[slices.Index(versions, version)] }
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"6.19.4", "6.20.4", true}, {"8.3.3", "8.4.4", true}, {"8.6.7", "8.7.3", true},
		{"6.2.4", "6.3.6", false}, {"6.9.4", "6.10.4", false}, {"8.5.4", "8.6.7", false},
	} {
		if got := of(c.from) != of(c.to); got != c.want {
			t.Errorf("new campaign from %s to %s: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
