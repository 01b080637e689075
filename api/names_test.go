package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestAdminsRename(t *testing.T) {
	t.Parallel()
	s := newService(t)
	run := &bench.Batch{Format: "test", Files: []bench.File{{Path: "a", Format: "test", SHA256: strings.Repeat("a", 64), Size: 1, State: bench.FileTaken}}, Runs: []bench.Run{{
		System: "rocksdb", Suite: "db_bench", Server: "c2", Workload: "cached", Build: bench.Build{Version: "8.0.0", Compiler: "gcc"},
		Results: []bench.Result{{
			Step: bench.ParseStep("fillseq"), Role: bench.RoleMeasure, State: bench.StateOK, Origin: bench.OriginMeasured, Primary: "qps", PrimaryText: "1", Text: "x",
			Values: []bench.Value{{Metric: "qps", Number: 1}}, Sources: []bench.Source{{File: "a", Line: 1}},
		}},
	}}}
	if _, err := s.store.Write(context.Background(), bench.Upload{Filename: "a", SHA256: strings.Repeat("a", 64), Bytes: []byte("a"), Actor: "test"}, run, nil); err != nil {
		t.Fatal(err)
	}
	const rename = `{"kind":"server","old":"c2","new":"beelink"}`
	s.do(http.MethodPost, "/api/v1/names", "", []byte(rename)).want(http.StatusUnauthorized)
	s.do(http.MethodPost, "/api/v1/names", s.token(bench.TokenRunner), []byte(rename)).want(http.StatusForbidden)
	admin := s.token(bench.TokenAdmin)
	a := s.do(http.MethodPost, "/api/v1/names", admin, []byte(rename)).want(http.StatusOK)
	if got := strings.TrimSpace(string(a.body)); got != rename {
		t.Errorf("%s", got)
	}
	if got := s.series("metric=qps"); len(got.Series) != 1 || got.Series[0].Server != "beelink" {
		t.Errorf("%+v", got)
	}
	for body, want := range map[string]int{
		rename: http.StatusNotFound, `{"kind":"step","old":"a","new":"b"}`: http.StatusBadRequest, `{"kind":"server","old":"","new":"b"}`: http.StatusBadRequest,
		`{"kind":"server","old":"beelink","new":" "}`: http.StatusBadRequest,
	} {
		s.do(http.MethodPost, "/api/v1/names", admin, []byte(body)).want(want)
	}
}
