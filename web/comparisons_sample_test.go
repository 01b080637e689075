package web_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/ingest"
	"github.com/relqps/relqps/internal/compare"
	"github.com/relqps/relqps/internal/pgtest"
	"github.com/relqps/relqps/internal/postgres"
	"github.com/relqps/relqps/internal/sample"
	"github.com/relqps/relqps/web"
)

// The sample data's block-size study and its configs, through a real database.
func TestSampleIsSweptAndCompared(t *testing.T) {
	t.Parallel()
	store, err := postgres.New(pgtest.New(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"near", "bee"} {
		if err := sample.Load(t.Context(), only{ingest.Ingester{Store: store, Detect: compare.Detect}, server}); err != nil {
			t.Fatal(err)
		}
	}
	h, err := web.New(web.Config{Source: store, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}

	// As the published discussion has them.
	d := show(t, h, "/sweeps?system=neard&option=block_size")
	lead := said(d.Find(".lead"))
	if !strings.HasPrefix(lead, "block_size of 4 KiB is best at state-perf: observed latency 516.923 µs; 8 KiB 1.045, 16 KiB 1.185 and 32 KiB 1.334 of it.") {
		t.Errorf("%q", lead)
	}
	doubts := said(d.Find("#doubts"))
	for _, want := range []string{"within 5.0 % by the IOPS that fio printed (18.0k–18.9k)", "within 2.1 % by bandwidth", "Disk 2 contradicts itself: 18.0k IOPS beside 74.1 MiB/s", "Each value has another disk"} {
		if !strings.Contains(doubts, want) {
			t.Errorf("%q is not in %q", want, doubts)
		}
	}
	var disks []string
	d.Find("#disks tbody tr").Each(func(_ int, s *goquery.Selection) { disks = append(disks, said(s.Find("th, td").Slice(0, 5))) })
	if diff := cmp.Diff([]string{"Disk 14 KiBread-4k18,60072.7", "Disk 28 KiBread-4k18,00074.1", "Disk 316 KiBread-4k18,60072.6", "Disk 432 KiBread-4k18,90073.8"}, disks); diff != "" {
		t.Error(diff)
	}
	if n := d.Find("svg.sweep").Length(); n != 3 {
		t.Errorf("%d plots: of the step and of reads of 1 and 6 blocks", n)
	}

	// a5 is a0 with two subcompactions, and a7 is a1 with them.
	for configs, want := range map[string]string{"config=a0&config=a5": "a0, a5", "config=a1&config=a7": "a1, a7"} {
		d = show(t, h, "/sweeps?system=myrocks&workload=io&option=rocksdb_max_subcompactions&base=not+set&"+configs)
		meta := said(d.Find(".head .meta"))
		if got := said(d.Find("h1")); got != "MyRocks, rocksdb_max_subcompactions: not set to 2" || !strings.Contains(meta, "configs "+want) || d.Find("table.sw").Length() != 6 {
			t.Errorf("%q %q, %d steps", got, meta, d.Find("table.sw").Length())
		}
	}
	// 23234 / 23240 of l.i1.
	d = show(t, h, "/sweeps?system=myrocks&workload=io&option=rocksdb_max_subcompactions&base=not+set&config=a0&config=a5&step=l.i1")
	if got := said(d.Find("table.sw tbody tr").Last()); !strings.Contains(got, "23,234") || !strings.Contains(got, "1.000") {
		t.Errorf("%q", got)
	}

	// 19106 / 23240 = 0.82, of one run each.
	d = show(t, h, "/compare?system=myrocks&workload=io&a.config=a0&b.config=a3")
	first := d.Find("table.cmp tbody tr").First()
	if got := said(first); !strings.HasPrefix(got, "l.i1") || !strings.Contains(got, "23,240") || !strings.Contains(got, "19,106") || !strings.Contains(got, "0.82") || !strings.Contains(got, "noise unknown") {
		t.Errorf("%q", got)
	}
	if n := d.Find("table.cmp tbody tr").Length(); n != 6 {
		t.Errorf("%d rows", n)
	}
	var differs []string
	d.Find("#differs tbody tr").Each(func(_ int, s *goquery.Selection) {
		differs = append(differs, strings.Join(s.Find("th, td").Map(func(_ int, c *goquery.Selection) string { return said(c) }), " | "))
	})
	if diff := cmp.Diff([]string{"config | run | a0 | a3 | changed", "cf.default.min_blob_size | option | not stated | 1024 | added"}, differs); diff != "" {
		t.Error(diff)
	}
}
