package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The same file sent again is the one run that is there, and the answer says so; a
// commit that was measured again is a second sample of the same point, not a
// further place on the axis.
func TestARunOfTheSameCommitIsASecondSample(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const header = "ops_sec\tmb_sec\tusec_op\tp50\tp99\ttest\tdate\tversion\tjob_id\tgithash\n"
	row := func(qps, date string) string {
		return qps + "\t1.0\t1.0\t1.0\t1\tfillseq.wal_disabled.v400\t" + date + "\t8.8.0\t\t4d706dc4db\n"
	}
	send := func(text string) (status int, duplicate bool, results, there int) {
		t.Helper()
		w := s.upload(url.Values{"filename": {"report.tsv"}, "server": {"c2"}, "workload": {"cached"}, "compiler": {"gcc"}, "clients": {"8"}}, text)
		var a struct {
			Upload struct {
				Duplicate bool `json:"duplicate"`
			} `json:"upload"`
			Results      int `json:"results"`
			AlreadyThere int `json:"already_there"`
		}
		w.decode(&a)
		return w.status, a.Upload.Duplicate, a.Results, a.AlreadyThere
	}
	first := header + row("1671040", "2023-11-09T16:54:47")
	if status, duplicate, results, _ := send(first); status != http.StatusCreated || duplicate || results != 1 {
		t.Fatalf("status %d, duplicate %v, %d results", status, duplicate, results)
	}
	if status, duplicate, results, there := send(first); status != http.StatusOK || !duplicate || results != 0 || there != 1 {
		t.Errorf("the same bytes: status %d, duplicate %v, %d results, %d there", status, duplicate, results, there)
	}
	if l := s.series("server=c2&step=fillseq").only(t); len(l.Points) != 1 || l.Points[0].N != 1 {
		t.Errorf("%+v", l.Points)
	}
	// Measured again: another date, the same commit.
	if status, duplicate, results, _ := send(header + row("1691040", "2023-11-10T09:00:01")); status != http.StatusCreated || duplicate || results != 1 {
		t.Errorf("a rerun: status %d, duplicate %v, %d results", status, duplicate, results)
	}
	l := s.series("server=c2&step=fillseq").only(t)
	// The median of 1671040 and 1691040.
	if len(l.Points) != 1 || l.Points[0].Version != "8.8.0" || l.Points[0].N != 2 || l.Points[0].Value != 1681040 || len(l.Points[0].Runs) != 2 {
		t.Errorf("%+v", l.Points)
	}
	if d := strings.Count(string(s.get("/api/v1/series?server=c2&step=fillseq&metric=qps&format=csv").want(http.StatusOK).body), "\n"); d != 2 {
		t.Errorf("%d lines", d)
	}
}
