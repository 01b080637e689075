package ingest

import (
	"strings"
	"testing"

	"github.com/relqps/relqps/internal/bench"
)

func TestPreviewCountsWhatAnEmptyDatabaseWouldTake(t *testing.T) {
	t.Parallel()
	header := "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n"
	row := func(ops, date string) string {
		return ops + "\t1.5" + strings.Repeat("\t", 22) + "readrandom.t8\t" + date + "\t8.8.0\t\tabc\n"
	}
	// Three rows, one of them twice; each has ops_sec and mb_sec.
	text := header + row("100", "2023-11-09T10:00:00") + row("101", "2023-11-09T12:00:00") + row("101", "2023-11-09T12:00:00")
	b, err := Read([]byte(text), "report.tsv", bench.Context{Server: "c2", Workload: "cached", Compiler: "gcc"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := Preview(b, "x")
	if r.Results < 2 || r.Values < 4 || len(r.Refused) != 0 || r.UploadID != 0 || r.SHA256 != "x" || len(r.Files) != 1 {
		t.Errorf("%+v", r)
	}
	b, err = Read([]byte(text), "report.tsv", bench.Context{Workload: "cached"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if r := Preview(b, "x"); r.Results != 0 || len(r.Refused) == 0 {
		t.Errorf("without a server: %+v", r)
	}
}
