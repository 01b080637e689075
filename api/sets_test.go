package api_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

type setsAnswer struct {
	Means []struct {
		Direction string   `json:"direction"`
		Rows      int      `json:"rows"`
		Relative  *float64 `json:"relative"`
		LeftOut   int      `json:"left_out"`
		Unknown   int      `json:"noise_unknown"`
		Text      string   `json:"text"`
	} `json:"means"`
	Rows []struct {
		bench.Coordinate
		Version string       `json:"version"`
		Metric  bench.Metric `json:"metric"`
		A, B    struct {
			N       int       `json:"n"`
			Value   float64   `json:"value"`
			Samples []float64 `json:"samples"`
		}
		Relative *float64 `json:"relative"`
		Reason   string   `json:"reason"`
		Verdict  string   `json:"verdict"`
		Score    *float64 `json:"effect_over_noise"`
	} `json:"rows"`
	OneSided []struct {
		Step  string  `json:"step"`
		Set   string  `json:"set"`
		Value float64 `json:"value"`
	} `json:"one_sided"`
	Differs []struct {
		Kind, Name, Change string
		A, B               []string
	} `json:"differs"`
	Apart []string `json:"apart"`
}

func TestAnySetOfRunsIsComparedWithAnyOther(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.ingested(bench.Context{}, map[string]string{
		"my.cnf.cy10a_bee": fmt.Sprintf(myCnf, "8G", ""), "my.cnf.cy10a4_bee": fmt.Sprintf(myCnf, "8G", "rocksdb_stop=12\n"),
	})
	c := bench.Context{Workload: "io", Server: "bee", Clients: 1}
	s.ingested(c, map[string]string{
		"mrg.l.i1":   ibenchTable("cy10a0 23240 0 20178", "cy10a4 22022 0 6992"),
		"mrg.q100.1": ibenchTable("cy10a0 100 4000 3000", "cy10a4 100 4100 3050"),
		"mrg.q500.1": ibenchTable("cy10a4 500 2000 1500"),
	})
	var a setsAnswer
	s.get("/api/v1/compare/sets?system=myrocks&a.config=a0&b.config=a4").want(200).decode(&a)
	// 22022 / 23240 = 0.94759 and 4100 / 4000; the one farther from 1 is first.
	if len(a.Rows) != 2 || a.Rows[0].Step != "l.i1" || a.Rows[0].Metric.Name != "ips" || math.Abs(*a.Rows[0].Relative-22022.0/23240) > 1e-12 || a.Rows[0].Config != "" || a.Rows[0].Workload != "io" ||
		a.Rows[0].Score != nil || a.Rows[0].Verdict != "" || math.Abs(*a.Rows[1].Relative-1.025) > 1e-12 || a.Rows[1].A.Value != 4000 || len(a.Rows[1].B.Samples) != 1 {
		t.Fatalf("%+v", a)
	}
	if len(a.Means) != 1 || a.Means[0].Rows != 2 || math.Abs(*a.Means[0].Relative-math.Sqrt(22022.0/23240*1.025)) > 1e-12 || a.Means[0].Unknown != 2 {
		t.Errorf("%+v", a.Means)
	}
	if len(a.OneSided) != 1 || a.OneSided[0].Step != "q500" || a.OneSided[0].Set != "b" || a.OneSided[0].Value != 2000 || len(a.Apart) != 1 || a.Apart[0] != "config" {
		t.Errorf("%+v %v", a.OneSided, a.Apart)
	}
	var differs []string
	for _, d := range a.Differs {
		differs = append(differs, fmt.Sprint(d.Kind, " ", d.Name, " ", d.Change, " ", d.A, " ", d.B))
	}
	if diff := cmp.Diff([]string{"run config changed [a0] [a4]", "option rocksdb_stop added [] [12]"}, differs); diff != "" {
		t.Error(diff)
	}
	// A metric that is 0 in A: the words, and no number.
	a = setsAnswer{}
	s.get("/api/v1/compare/sets?system=myrocks&a.config=a0&b.config=a4&metric=qps&step=l.i1").want(200).decode(&a)
	if len(a.Rows) != 1 || a.Rows[0].Relative != nil || a.Rows[0].Reason != "n/a (baseline 0)" || a.Means[0].Relative != nil || a.Means[0].LeftOut != 1 {
		t.Errorf("%+v", a)
	}
	// Nothing there is an empty answer; nothing asked for, or what is unknown, a refusal.
	a = setsAnswer{}
	s.get("/api/v1/compare/sets?system=nothing").want(200).decode(&a)
	if len(a.Rows) != 0 || a.Rows == nil || a.Means == nil || a.Differs == nil {
		t.Errorf("%+v", a)
	}
	for _, query := range []string{"", "?a.server=", "?metric=speed&system=x", "?a.clients=-1", "?c.version=1", "?a.system=a&a.system=b"} {
		s.get("/api/v1/compare/sets" + query).problem(400)
	}
}
