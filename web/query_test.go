package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
	"github.com/relqps/relqps/internal/compare"
)

func TestAddressesHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ behaviour, query, want string }{
		{"defaults are left out", "metric=qps&family=1&scale=same&order=group&across=0&base=&from=", "/charts"},
		{"order is fixed", "to=8.8.0&base=4.4.1&config=a0&compiler=gcc&metric=p99&step=fillseq&workload=cached&server=c2&system=rocksdb",
			"/charts?system=rocksdb&server=c2&workload=cached&step=fillseq&metric=p99&compiler=gcc&config=a0&base=4.4.1&to=8.8.0"},
		{"values repeat, each once", "server=c2&server=u5&server=c2", "/charts?server=c2&server=u5"},
		{"a space in a compiler is a plus", "compiler=clang lto&compiler=clang+lto&base_compiler=clang%2Blto", "/charts?compiler=clang%2Blto&base_compiler=clang%2Blto"},
		{"names of benchmark.sh become ours", "workload=byrx&workload=cached", "/charts?workload=cached"},
		{"unknown keys are kept, at the end", "zz=1&server=c2&aa=x%26y", "/charts?server=c2&aa=x%26y&zz=1"},
		{"the empty config is a config", "config=&config=a1", "/charts?config=&config=a1"},
		{"view settings", "order=worst&scale=fit&family=0&across=1&at=8.7.3", "/charts?across=1&family=0&scale=fit&order=worst&at=8.7.3"},
	} {
		q, err := parseCharts(strings.ReplaceAll(test.query, " ", "%20"))
		if err != nil {
			t.Errorf("%s: %v", test.behaviour, err)
			continue
		}
		if got := q.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.behaviour, got, test.want)
		}
		again, err := parseCharts(strings.TrimPrefix(strings.TrimPrefix(q.String(), "/charts"), "?"))
		if err != nil || again.String() != q.String() {
			t.Errorf("%s: reading it again gives %s, %v", test.behaviour, again, err)
		}
	}
}

func TestWrongQueriesSayWhatWasExpected(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, want string }{
		{"metric=speed", `no such metric: "speed"; known are qps`},
		{"family=yes", `family is 1 or 0, not "yes"`},
		{"scale=log", `scale is same or fit`},
		{"order=name", `order is group or worst`},
		{"clients=many", `clients is a whole number`},
		{"base=1&base=2", "base is given 2 times"},
		{"from=8.0.0&to=7.0.0", "from=8.0.0 is newer than to=7.0.0"},
		{"server=%ff", "not UTF-8"},
		{"server=a%00b", "not UTF-8"},
		{"server=%zz", "not well formed"},
		{strings.Repeat("server=x&", queryValuesMax+1), "at most 400"},
		{"server=" + strings.Repeat("x", queryBytesMax), "at most 65536"},
	} {
		_, err := parseCharts(test.query)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60s: error %v, want %q", test.query, err, test.want)
		}
		if kind := bench.KindOf(err); kind != bench.KindInvalid && kind != bench.KindTooLarge {
			t.Errorf("%.60s: kind %q", test.query, kind)
		}
	}
}

// info makes coordinates with samples.
func info(samples int, c bench.Coordinate) bench.CoordinateInfo {
	return bench.CoordinateInfo{Coordinate: c, Samples: samples}
}

func TestWhatIsNotGivenIsChosenByTheMostSamples(t *testing.T) {
	t.Parallel()
	all := []bench.CoordinateInfo{
		info(100, at("fillseq")), info(20, at("fillseq", func(c *bench.Coordinate) { c.Workload = "iodir" })),
		info(40, at("fillseq", onServer("arm"))), info(40, at("fillseq", onServer("arm"), byCompiler("clang"))),
		info(60, at("fillseq", onServer("8core"), byCompiler("clang"), func(c *bench.Coordinate) { c.Clients = 1 })),
		info(5, at("l.i0", func(c *bench.Coordinate) { c.System, c.Suite, c.Config = "myrocks", "ibench", "a0" })),
	}
	for _, test := range []struct{ behaviour, query, want string }{
		{"nothing given", "", "/charts?system=rocksdb&suite=db_bench&server=c2&workload=cached&clients=8&compiler=gcc&config="},
		{"another server", "server=8core", "/charts?system=rocksdb&suite=db_bench&server=8core&workload=cached&clients=1&compiler=clang&config="},
		{"as many samples: gcc", "server=arm", "/charts?system=rocksdb&suite=db_bench&server=arm&workload=cached&clients=8&compiler=gcc&config="},
		{"another system", "system=myrocks", "/charts?system=myrocks&suite=ibench&server=c2&workload=cached&clients=8&compiler=gcc&config=a0"},
		{"servers with compilers of their own get both", "server=c2&server=8core", "/charts?system=rocksdb&suite=db_bench&server=c2&server=8core&workload=cached&clients=8&clients=1&compiler=gcc&compiler=clang&config="},
	} {
		q, err := parseCharts(test.query)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := q.resolve(all)
		if !ok || got.String() != test.want {
			t.Errorf("%s: %s, want %s", test.behaviour, got, test.want)
		}
	}
	q, _ := parseCharts("server=arm&workload=iodir")
	if _, ok := q.resolve(all); ok {
		t.Error("nothing was measured on arm with iodir, yet something was found")
	}
}

func TestAnyMemberOfAFamilyMeansTheFamily(t *testing.T) {
	t.Parallel()
	q, _ := parseCharts("step=overwrite")
	if !q.wants("overwriteandwait") || !q.wants("overwrite") || q.wants("fillseq") {
		t.Error("joined")
	}
	q, _ = parseCharts("step=overwrite&family=0")
	if q.wants("overwriteandwait") {
		t.Error("apart")
	}
}

func TestTheAPIGetsTheWholeQuery(t *testing.T) {
	t.Parallel()
	q := chartsQuery{System: "rocksdb", Suite: "db_bench", Servers: []string{"c2"}, Workloads: []string{"cached"}, Clients: []int{8}, Metric: "qps",
		Compilers: []string{"clang+lto"}, Configs: []string{""}, Base: compare.Base{Version: "4.4.1"}, Across: true, At: "x"}
	want := "/api/v1/series?system=rocksdb&suite=db_bench&server=c2&workload=cached&clients=8&metric=qps&compiler=clang%2Blto&config=&base=4.4.1&family=1&format=csv"
	if got := q.apiQuery("csv"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestAcrossTakesAFewVersionsOfEveryMajor(t *testing.T) {
	t.Parallel()
	var versions []string
	for i := range 30 {
		versions = append(versions, fmt.Sprintf("6.%d.0", i))
	}
	versions = append(versions, "7.0.4", "7.1.2")
	want := []string{"6.0.0", "6.7.0", "6.15.0", "6.22.0", "6.29.0", "7.0.4", "7.1.2"}
	if diff := cmp.Diff(want, across(versions)); diff != "" {
		t.Error(diff)
	}
}

func TestLongMajorsAreCutIntoBlocks(t *testing.T) {
	t.Parallel()
	var versions []string
	for i := range 30 {
		versions = append(versions, fmt.Sprintf("6.%d.0", i))
	}
	versions = append(versions, "7.0.4")
	var sizes []int
	for _, b := range blocksOf(versions) {
		sizes = append(sizes, len(b))
	}
	if !slices.Equal(sizes, []int{15, 15, 1}) {
		t.Errorf("blocks of %v", sizes)
	}
}

func TestAddressesOfRuns(t *testing.T) {
	t.Parallel()
	q, err := parseRuns("cursor=abc&server=c2&version=8.8.0&x=1&upload=7")
	if err != nil || q.String() != "/runs?server=c2&version=8.8.0&upload=7&cursor=abc&x=1" {
		t.Errorf("%s, %v", q, err)
	}
	if _, err := parseRuns("upload=seven"); err == nil || !strings.Contains(err.Error(), "upload is a whole number above 0") {
		t.Errorf("error %v", err)
	}
	if got := q.with(func(q *runsQuery) { q.Server = "" }); got != "/runs?version=8.8.0&upload=7&x=1" {
		t.Errorf("another filter starts at the first page: %s", got)
	}
}

func TestMenusOfManyVersionsStayShort(t *testing.T) {
	t.Parallel()
	var versions []string
	for major := 1; major <= 5; major++ {
		for i := range 1000 {
			versions = append(versions, fmt.Sprintf("%d.%d.0", major, i))
		}
	}
	groups := versionChoices(versions, func(v string) (string, bool) { return "/?v=" + v, v == "5.999.0" })
	n := 0
	for _, g := range groups {
		n += len(g.Choices)
	}
	// The newest 200 of 5.x and its first, the first and the last of the others.
	if len(groups) != 5 || n != 201+4*2 {
		t.Errorf("%d choices in %d groups", n, len(groups))
	}
	last := groups[4].Choices
	if last[len(last)-1].Name != "5.999.0" || !last[len(last)-1].Current || groups[0].Choices[1].Name != "1.999.0" {
		t.Errorf("%+v ... %+v", groups[0], last[len(last)-1])
	}
	few := versionChoices(versions[:150], func(string) (string, bool) { return "/", false })
	if len(few) != 1 || len(few[0].Choices) != 150 {
		t.Errorf("of few versions all are listed: %d", len(few[0].Choices))
	}
}
