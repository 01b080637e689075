package web

import (
	"net/http/httptest"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

// discard is a response that is thrown away.
type discard struct{ *httptest.ResponseRecorder }

// Write counts nothing and keeps nothing.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

func benchmarkPage(b *testing.B, source Source, target string) {
	h := newHandler(b, source)
	r := httptest.NewRequest("GET", target, nil)
	b.ReportAllocs()
	for b.Loop() {
		w := discard{httptest.NewRecorder()}
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatalf("status %d", w.Code)
		}
	}
}

// Without the database: parsing, comparing, building, rendering eight charts of
// 79 versions. What is logged is nothing.
func BenchmarkChartsPage(b *testing.B) {
	source := &fakeSource{}
	for _, s := range longSteps {
		source.series = append(source.series, long(b, at(s)))
	}
	benchmarkPage(b, source, "/charts")
}

func BenchmarkLargeChartPage(b *testing.B) {
	benchmarkPage(b, &fakeSource{series: []bench.Series{long(b, at("fillseq"))}}, "/charts?step=fillseq")
}

func BenchmarkHomePage(b *testing.B) {
	source := &fakeSource{}
	for _, server := range []string{"c2", "u5", "arm", "8core"} {
		for _, s := range longSteps {
			source.series = append(source.series, long(b, at(s, onServer(server))))
		}
	}
	benchmarkPage(b, source, "/")
}
