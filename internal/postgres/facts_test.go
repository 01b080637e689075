package postgres_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestRunsThatVaryInConfigOrOptionsAreFound(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	sized := func(version, config, size, qps string) bench.Run {
		r := c2(version, row("f", 1, "readrandom", "", qps))
		r.Config, r.Options, r.Environment = config, map[string]string{"block_size": size}, map[string]string{"disk": "Disk " + size}
		r.Results[0].Text = version + config + size
		r.Results[0].Breakdowns = []bench.Breakdown{
			{Key: bench.BreakdownBlockReads, Bucket: "1", Samples: 99993, Unit: "ns", Value: 516643}, {Key: bench.BreakdownBlockReads, Bucket: "6", Samples: 7, Unit: "ns", Value: 4502067},
		}
		return r
	}
	alone := sized("8.8.0", "bs4k", "4096", "90") // of its version nothing else was measured
	elsewhere := sized("8.7.3", "bs64k", "65536", "70")
	elsewhere.Server = "u5"
	receipt := mustWrite(t, s, upload("f", "f"), batch("f", sized("8.7.3", "bs4k", "4096", "100"), sized("8.7.3", "bs8k", "8192", "95"), alone, elsewhere))
	varied := func(f bench.VariedFilter) (got []string) {
		t.Helper()
		list, err := s.Varied(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			got = append(got, x.Server+" "+x.Build.Version+" "+x.Config+" "+x.Options["block_size"]+" "+x.Environment["disk"])
		}
		return got
	}
	two := []string{"c2 8.7.3 bs4k 4096 Disk 4096", "c2 8.7.3 bs8k 8192 Disk 8192"}
	// Values that stand on another server each are arms as well.
	if diff := cmp.Diff(append(two, "u5 8.7.3 bs64k 65536 Disk 65536"), varied(bench.VariedFilter{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(two, varied(bench.VariedFilter{System: "rocksdb", Servers: []string{"c2"}})); diff != "" {
		t.Error(diff)
	}
	if got := varied(bench.VariedFilter{System: "myrocks"}); got != nil {
		t.Error(got)
	}
	if got := varied(bench.VariedFilter{Limit: 1}); len(got) != 1 {
		t.Error(got)
	}

	ids := []int64{receipt.Runs[1].ID, receipt.Runs[0].ID, 4711}
	facts, err := s.RunFacts(t.Context(), ids)
	if err != nil || len(facts) != 2 || facts[0].Config != "bs4k" || facts[1].Options["block_size"] != "8192" || facts[0].System != "rocksdb" || facts[0].Build.Compiler != "gcc" {
		t.Errorf("%+v %v", facts, err)
	}
	splits, err := s.Breakdowns(t.Context(), ids)
	if err != nil || len(splits) != 4 || splits[1].Bucket != "6" || splits[1].Samples != 7 || splits[1].Value != 4502067 || splits[1].Step != "readrandom" || splits[3].RunID != receipt.Runs[1].ID {
		t.Errorf("%+v %v", splits, err)
	}
	if err := s.WithdrawRun(t.Context(), receipt.Runs[1].ID, "wrong disk", "test", nil); err != nil {
		t.Fatal(err)
	}
	// What is withdrawn is neither an arm nor split.
	if got := varied(bench.VariedFilter{Servers: []string{"c2"}}); got != nil {
		t.Error(got)
	}
	if splits, err = s.Breakdowns(t.Context(), ids); err != nil || len(splits) != 2 {
		t.Errorf("%+v %v", splits, err)
	}
}
