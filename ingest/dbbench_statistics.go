package ingest

import (
	"bytes"
	"math"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Distribution is a histogram of --statistics, which prints percentiles only:
//
//	rocksdb.db.get.micros P50 : 3.62 P95 : 13.27 P99 : 95.09 P100 : 236790.0 COUNT : 196998 SUM : 7480666
//	rocksdb.db.get.micros statistics Percentiles :=> 50 : 3.62 95 : 13.27 99 : 95.09
//
// The second form, of 4.x, has neither a largest value nor counts.
type Distribution struct {
	Name          string
	Line          int
	P50, P95, P99 float64
	P100          Figure
	Count, Sum    Figure
}

// statistic reads a line of --statistics, or of --benchmarks=memstats
// ("rocksdb.cur-size-all-mem-tables: 2048").
func (p *logParser) statistic(s []byte) bool {
	word, rest := nextWord(s)
	if word[len(word)-1] == ':' {
		return true // of memstats: a state, not a figure of a step
	}
	if len(p.cur.Tickers)+len(p.cur.Distributions) == maxCounters {
		return false
	}
	label, rest := nextWord(rest)
	switch string(label) {
	case "COUNT": // rocksdb.block.cache.miss COUNT : 35108
		colon, rest := nextWord(rest)
		n, rest := nextWord(rest)
		v, ok := parseNumber(n)
		if string(colon) != ":" || !ok || len(trimSpace(rest)) > 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return false
		}
		p.cur.Tickers = append(p.cur.Tickers, Counter{Name: string(word), Value: v})
		return true
	case "P50":
		d := Distribution{Name: string(word), Line: p.line}
		var p50, p95, p99 Figure
		if !labelled(s, " P50 :", &p50) || !labelled(s, " P95 :", &p95) || !labelled(s, " P99 :", &p99) ||
			!labelled(s, " P100 :", &d.P100) || !labelled(s, " COUNT :", &d.Count) || !labelled(s, " SUM :", &d.Sum) {
			return false
		}
		d.P50, d.P95, d.P99 = p50.Value, p95.Value, p99.Value
		p.cur.Distributions = append(p.cur.Distributions, d)
		return true
	case "statistics":
		i := bytes.Index(rest, []byte(":=>"))
		if i < 0 {
			return false
		}
		d := Distribution{Name: string(word), Line: p.line}
		var p50, p95, p99 Figure
		if !labelled(rest[i:], " 50 :", &p50) || !labelled(rest[i:], " 95 :", &p95) || !labelled(rest[i:], " 99 :", &p99) {
			return false
		}
		d.P50, d.P95, d.P99 = p50.Value, p95.Value, p99.Value
		p.cur.Distributions = append(p.cur.Distributions, d)
		return true
	}
	return false
}

// tickerMetric gives the metric of a ticker: rocksdb.block.cache.miss is
// ticker_block_cache_miss. ok is false for names that do not fit.
func tickerMetric(ticker string) (metric string, ok bool) {
	const prefix = "ticker_"
	name := append(make([]byte, 0, len(prefix)+len(ticker)), prefix...)
	name = append(name, strings.TrimPrefix(ticker, "rocksdb.")...)
	for i, c := range name {
		if c == '.' || c == '-' {
			name[i] = '_'
		}
	}
	metric = string(name)
	return metric, metricWord(metric[len(prefix):])
}

// histogram gives the distribution as shares between its percentiles: half of
// the values lie below P50, 45 % between P50 and P95, and so on. ok is false
// where nothing was counted.
func (d *Distribution) histogram() (bench.Histogram, bool) {
	h := bench.Histogram{Operation: d.Name, Unit: distributionUnit(d.Name)}
	if d.Count.Known() {
		if d.Count.Value <= 0 {
			return h, false
		}
		n := d.Count.Value
		h.Count = &n
		if d.Sum.Known() {
			avg := d.Sum.Value / n
			h.Average = &avg
		}
	} else if d.P99 <= 0 {
		return h, false
	}
	edges := []struct{ value, share float64 }{{d.P50, 50}, {d.P95, 45}, {d.P99, 4}}
	if d.P100.Known() {
		v := d.P100.Value
		h.Max = &v
		edges = append(edges, struct{ value, share float64 }{v, 1})
	}
	for _, e := range edges {
		n := len(h.Bounds)
		if math.IsNaN(e.value) || math.IsInf(e.value, 0) || n > 0 && e.value < h.Bounds[n-1] {
			return h, false
		}
		if n > 0 && e.value == h.Bounds[n-1] {
			h.Percents[n-1] += e.share
			continue
		}
		h.Bounds, h.Percents = append(h.Bounds, e.value), append(h.Percents, e.share)
	}
	return h, true
}

// odd reports whether a distribution that gives no histogram holds anything.
func (d *Distribution) odd() bool {
	return d.Count.Text != "" && !(d.Count.Known() && d.Count.Value == 0) || d.P50 != 0 || d.P95 != 0 || d.P99 != 0 || d.P100.Value != 0
}

// distributionUnit reads the unit out of a name of --statistics.
func distributionUnit(name string) string {
	switch {
	case strings.Contains(name, "micros"):
		return "µs"
	case strings.Contains(name, "nanos"):
		return "ns"
	case strings.Contains(name, "bytes") || strings.HasSuffix(name, ".size"):
		return "B"
	}
	return "count"
}
