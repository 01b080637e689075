package ingest

import (
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// The statistics as releases print them, with made-up figures: column names and
// their order are what differs.
const (
	levels41 = `** Compaction Stats [default] **
Level   Files   Size(MB) Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec) Stall(cnt)  KeyIn KeyDrop
---------------------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0        512   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7        37       116    0.323          0       0      0
  L1      5/0       2048   0.9      6.8     3.3      3.5       6.6      3.1       0.2   2.0    118.3    114.8        59        29    2.032          0     30M   1M
 Sum      7/0       2560   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5        96       145    0.665          3     30M   1M
 Int      0/0          0   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0         0         0    0.000          0       0      0
Flush(GB): cumulative 3.500, interval 0.001
Stalls(count): 2 level0_slowdown, 1 level0_slowdown_with_compaction, 0 level0_numfiles, 0 level0_numfiles_with_compaction, 0 stop for pending_compaction_bytes, 1 slowdown for pending_compaction_bytes, 0 memtable_compaction, 0 memtable_slowdown, interval 0 total count
** DB Stats **
Uptime(secs): 100.5 total, 1.0 interval
Cumulative writes: 30M writes, 30M keys, 30M batches, 1.0 writes per batch, ingest: 3.40 GB, 34.60 MB/s
Cumulative WAL: 0 writes, 0 syncs, 0.00 writes per sync, written: 0.00 GB, 0.00 MB/s
Cumulative compaction: 10.12 GB write, 103.10 MB/s write, 6.80 GB read, 69.30 MB/s read, 96.0 seconds
Cumulative stall: 00:01:10.500 H:M:S, 70.1 percent
`
	levels52 = `** Compaction Stats [default] **
Level    Files   Size(MB} Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
----------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0     512.00   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7        37       116    0.323       0      0
 Sum      7/0    2560.00   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5        96       145    0.665     30M  1000K
 Int      0/0       0.00   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0         0         0    0.000       0      0
Uptime(secs): 100.5 total, 1.0 interval
`
	levels510 = `** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
----------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   512.00 MB   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7        37       116    0.323       0      0
 Sum      7/0    2.50 GB   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5        96       145    0.665     30M  1000K
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0         0         0    0.000       0      0
Uptime(secs): 100.5 total, 1.0 interval
`
	levels610 = `** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
----------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   512.00 MB   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7     37.00             30.00       116    0.323       0      0
 Sum      7/0    2.50 GB   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5     96.00             88.25       145    0.665     30M  1000K
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0      0.00              0.00         0    0.000       0      0

** Compaction Stats [default] **
Priority    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop
-------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
 Low      0/0    0.00 KB   0.0      6.8     3.3      3.5       6.6      3.1       0.0   0.0    118.3    114.8     59.00             58.25        29    2.032     30M  1000K
High      0/0    0.00 KB   0.0      0.0     0.0      0.0       3.5      3.5       0.0   0.0      0.0     95.7     37.00             30.00       116    0.323       0      0
Uptime(secs): 100.5 total, 1.0 interval
`
	levels85 = `** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   512.00 MB   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7     37.00             30.00       116    0.323       0      0       0.0       1.0
 Sum      7/0    2.50 GB   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5     96.00             88.25       145    0.665     30M  1000K       4.0       5.5
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.0      0.0       0.0   0.0      0.0      0.0      0.00              0.00         0    0.000       0      0       0.0       0.0

Blob file count: 12, total size: 1.5 GB, garbage size: 0.5 GB, space amp: 1.5

Uptime(secs): 100.5 total, 1.0 interval
Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 7, cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, l0-file-count-limit-delays: 8, l0-file-count-limit-stops: 0, memtable-limit-delays: 1, memtable-limit-stops: 4, pending-compaction-bytes-delays: 3, pending-compaction-bytes-stops: 0, total-delays: 12, total-stops: 4, interval: 0 total count
** DB Stats **
Uptime(secs): 100.5 total, 1.0 interval
Write Stall (count): write-buffer-manager-limit-stops: 2, 
`
	levels104 = `** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) WPreComp(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)
-------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   512.00 MB   0.5      0.0     0.0      0.0       3.5          7.0      3.5       0.0   1.0      0.0     95.7     37.00             30.00       116    0.323       0      0       0.0       1.0
 Sum      7/0    2.50 GB   0.0      6.8     3.3      3.5      10.1         20.2      6.6       0.2   2.9     72.2    107.5     96.00             88.25       145    0.665     30M  1000K       4.0       5.5
 Int      0/0    0.00 KB   0.0      0.0     0.0      0.0       0.0          0.0      0.0       0.0   0.0      0.0      0.0      0.00              0.00         0    0.000       0      0       0.0       0.0
Uptime(secs): 100.5 total, 1.0 interval
`
)

func TestStatisticsAreReadByColumnNameInEveryGeneration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, dump string
		want          map[string]float64
		none          []string
	}{
		{"4.1", levels41, map[string]float64{"compaction_wall_s": 96, "stall_count": 3, "flush_write_gb": 3.5, "ingest_gb": 3.4, "stall_s": 70.5, "stall_percent": 70.1,
			"compaction_write_gb": 10.12, "compaction_read_gb": 6.8, "compaction_write_mb_per_s": 103.1, "write_amp": (10.1 + 3.5) / 3.4}, []string{"compaction_cpu_s", "blob_read_gb", "blob_size_gb"}},
		{"5.2", levels52, map[string]float64{"compaction_wall_s": 96}, []string{"compaction_cpu_s", "blob_read_gb", "stall_count"}},
		{"5.10", levels510, map[string]float64{"compaction_wall_s": 96}, []string{"compaction_cpu_s", "blob_read_gb"}},
		{"6.10", levels610, map[string]float64{"compaction_wall_s": 96, "compaction_cpu_s": 88.25}, []string{"blob_read_gb"}},
		{"8.5", levels85, map[string]float64{"compaction_wall_s": 96, "compaction_cpu_s": 88.25, "blob_read_gb": 4, "blob_write_gb": 5.5, "blob_size_gb": 1.5, "stall_count": 18}, nil},
		{"10.4", levels104, map[string]float64{"compaction_wall_s": 96, "compaction_cpu_s": 88.25, "blob_read_gb": 4, "blob_write_gb": 5.5}, nil},
	} {
		t.Run(c.version, func(t *testing.T) {
			t.Parallel()
			log := "RocksDB:    version " + c.version + "\nDB path: [/d]\noverwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s\n\n" + c.dump
			b, f := readOne(t, "x.log", []byte(log), bench.Context{})
			if len(f.Messages) > 0 {
				t.Error(f.Messages)
			}
			r := &b.Runs[0].Results[0]
			figures(t, r, map[string]float64{"db_size_gb": 2.5, "level0_size_gb": 0.5, "uptime_s": 100.5})
			figures(t, r, c.want)
			absent(t, r, c.none...)
		})
	}
}

func TestARowWithoutAllItsCellsIsNotRead(t *testing.T) {
	t.Parallel()
	short := strings.Replace(levels85, "     96.00             88.25       145", "     96.00             88.25", 1)
	log := "RocksDB:    version 8.5.3\noverwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s\n\n" + short
	b, f := readOne(t, "x.log", []byte(log), bench.Context{})
	r := &b.Runs[0].Results[0]
	absent(t, r, "compaction_wall_s", "compaction_cpu_s", "db_size_gb", "blob_read_gb")
	figures(t, r, map[string]float64{"level0_size_gb": 0.5, "uptime_s": 100.5})
	if !said(f.Messages, "not understood: Sum      7/0") {
		t.Error(f.Messages)
	}
}

func TestColumnFamiliesAreAddedUp(t *testing.T) {
	t.Parallel()
	family := func(name, level0, size, wall, flush string) string {
		return "** Compaction Stats [" + name + "] **\n" +
			"Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)\n" +
			"-----\n  L0      2/0   " + level0 + " MB   0.5      0.0     0.0      0.0       3.5      3.5       0.0   1.0      0.0     95.7     37.00             30.00       116    0.323       0      0       0.0       0.0\n" +
			" Sum      7/0   " + size + " GB   0.0      6.8     3.3      3.5      10.1      6.6       0.2   2.9     72.2    107.5     " + wall + "             1.00       145    0.665     30M  1000K       0.0       0.0\n" +
			"Flush(GB): cumulative " + flush + ", interval 0.000\nCumulative compaction: 2.00 GB write, 1.00 MB/s write, 3.00 GB read, 1.00 MB/s read, 1.0 seconds\n" +
			"\n** File Read Latency Histogram By Level [" + name + "] **\n\n"
	}
	log := "RocksDB:    version 7.8.3\noverwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s\n\n" +
		family("default", "512.00", "2.50", "10.00", "1.000") + family("other", "256.00", "1.25", "5.50", "0.250") +
		"** DB Stats **\nUptime(secs): 9.0 total, 1.0 interval\nCumulative writes: 1 writes, 1 keys, 1 commit groups, 1.0 writes per commit group, ingest: 2.00 GB, 1.00 MB/s\n"
	b, _ := readOne(t, "x.log", []byte(log), bench.Context{})
	figures(t, &b.Runs[0].Results[0], map[string]float64{"db_size_gb": 3.75, "level0_size_gb": 0.75, "compaction_wall_s": 15.5, "compaction_cpu_s": 2, "flush_write_gb": 1.25,
		"compaction_write_gb": 4, "compaction_read_gb": 6, "ingest_gb": 2, "write_amp": (4 + 1.25) / 2, "uptime_s": 9})
}

func TestSizesInOtherUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"1.50 TB": 1536, "16.00 GB": 16, "512.00 MB": 0.5, "524288.00 KB": 0.5} {
		log := "RocksDB:    version 7.8.3\noverwrite    :       7.939 micros/op 125963 ops/sec;   50.5 MB/s\n\n" + strings.Replace(levels610, "2.50 GB", text, 1)
		b, _ := readOne(t, "x.log", []byte(log), bench.Context{})
		figures(t, &b.Runs[0].Results[0], map[string]float64{"db_size_gb": want})
	}
}

func TestHistogramsOfEveryGeneration(t *testing.T) {
	t.Parallel()
	old := "LevelDB:    version 3.8\nfillrandom   :       3.175 micros/op 314982 ops/sec;  245.1 MB/s\nMicroseconds per op:\n" +
		"Count: 100  Average: 3.1737  StdDev: 30.10\nMin: 0.0000  Median: 1.9888  Max: 7520.0000\nPercentiles: P50: 1.99 P75: 2.75 P99: 6.76 P99.9: 69.20 P99.99: 400.00\n" +
		"------------------------------------------------------\n[       0,       1 )       13  13.000%  13.000% ###\n[       1,       2 )       50  50.000%  63.000% ##########\n[    7000,     inf )       37  37.000% 100.000% #####\n"
	b, f := readOne(t, "x.log", []byte(old), bench.Context{})
	if len(f.Messages) > 0 {
		t.Error(f.Messages)
	}
	r := &b.Runs[0].Results[0]
	figures(t, r, map[string]float64{"p50": 1.99, "p99_99": 400, "max": 7520, "average": 3.1737})
	h := r.Histograms[0]
	// The gap from 2 to 7000 is a bucket without counts; the last has the largest value as its bound.
	wantBounds, wantCounts := []float64{1, 2, 7000, 7520}, []float64{13, 50, 0, 37}
	if h.Operation != "op" || !equalFloats(h.Bounds, wantBounds) || !equalFloats(h.Counts, wantCounts) {
		t.Errorf("%+v", h)
	}

	two := "RocksDB:    version 8.1.1\nreadrandomwriterandom :       8.167 micros/op 229723 ops/sec 0.174 seconds 40000 operations; ( reads:18000 writes:2000 total:20000 found:18000)\n" +
		"Microseconds per read:\nCount: 36000 Average: 5.0000  StdDev: 1.00\nMin: 1  Median: 4.0000  Max: 90\nPercentiles: P50: 4.00 P75: 5.00 P99: 9.00 P99.9: 20.00 P99.99: 80.00\n------------------------------------------------------\n(       3,       4 ]    36000 100.000% 100.000% ####\n\n" +
		"Microseconds per write:\nCount: 0 Average: 0.0000  StdDev: 0.00\nMin: 0  Median: 0.0000  Max: 0\nPercentiles: P50: 0.00 P75: 0.00 P99: 0.00 P99.9: 0.00 P99.99: 0.00\n------------------------------------------------------\n\n"
	b, f = readOne(t, "x.log", []byte(two), bench.Context{})
	r = &b.Runs[0].Results[0]
	absent(t, r, "p50", "p99", "max", "average")
	if !warned(r, "response times of read, write are kept apart") || len(r.Histograms) != 1 || r.Histograms[0].Operation != "read" || len(f.Messages) > 0 {
		t.Errorf("%v %+v %v", r.Warnings, r.Histograms, f.Messages)
	}
}

func equalFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
