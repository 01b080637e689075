package ingest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relqps/relqps/internal/bench"
)

func TestEveryFileIsAccountedFor(t *testing.T) {
	t.Parallel()
	row := sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0")
	data := tarOf(t, map[string]string{
		"c2/sum.byrx.8x.txt":   headerR5 + "\n" + row,
		"c2/rel2.byrx.4x.csv":  "\n",
		"c2/empty":             "",
		"c2/notes.odt":         "some words\nabout this\n",
		"c2/core":              "\x7fELF\x00\x00",
		"c2/x.sh":              "#!/bin/bash\nrm -rf /data\n",
		"c2/plot.png":          "\x89PNG\r\n\x1a\n\x00\x00",
		"__MACOSX/c2/._sum.tx": "\x00\x05\x16\x07",
		"c2/.DS_Store":         "\x00\x00\x00\x01Bud1",
		"c2/sum.iodir.8x.txt":  headerR5 + "\n" + strings.Replace(row, "2023-01-01", "2023-01-41", 1),
	})
	b, err := Read(data, "up.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bench.FileState{}
	for _, f := range b.Files {
		got[f.Path] = f.State
		if f.State != bench.FileTaken && len(f.Messages) == 0 {
			t.Errorf("%s is %s without a word", f.Path, f.State)
		}
	}
	want := map[string]bench.FileState{
		"c2/sum.byrx.8x.txt": bench.FileTaken, "c2/sum.iodir.8x.txt": bench.FileRefused,
		"c2/rel2.byrx.4x.csv": bench.FileAttachment, "c2/empty": bench.FileAttachment,
		"c2/notes.odt": bench.FileRefused, "c2/core": bench.FileRefused,
		"c2/x.sh": bench.FileAttachment, "c2/plot.png": bench.FileAttachment, "__MACOSX/c2/._sum.tx": bench.FileAttachment, "c2/.DS_Store": bench.FileAttachment,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(b.Runs) != 1 || b.Format != "archive" {
		t.Errorf("%d runs, format %q", len(b.Runs), b.Format)
	}
}

// An upload of one file that nobody knows must not end as "0 results, done".
func TestUnknownFileIsRefused(t *testing.T) {
	t.Parallel()
	f := onlyFile(t, mustRead(t, "x.log", "hello\n", someContext))
	if f.State != bench.FileRefused || !strings.Contains(f.Messages[0].Text, "report.tsv") {
		t.Errorf("%+v", f)
	}
}

func TestFilesThatStateMostComeFirst(t *testing.T) {
	t.Parallel()
	row := sumRow("11", "fillseq", "2023-01-01T00:00:01", "8.0.0")
	next := sumRow("21", "readrandom.t1", "2023-01-01T00:00:02", "8.0.0")
	text := sumText(nil, []string{row}, []string{next})
	data := tarOf(t, map[string]string{
		"c2/abs.byrx.tsv":      "11\t12\tfillseq\n",
		"c2/both.byrx.txt":     text,
		"c2/sum.byrx.some.txt": text,
		"c2/sum.byrx.8x.txt":   text,
		"c2/zz.txt":            sumText([]string{"byrx/bm.lc.nt1.d0/8.0.gcc/report.tsv"}, []string{row}, []string{next}),
		"c2/a.what":            "x",
	})
	b, err := Read(data, "up.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range b.Files {
		got = append(got, strings.TrimPrefix(f.Path, "c2/"))
	}
	if diff := cmp.Diff([]string{"zz.txt", "sum.byrx.8x.txt", "sum.byrx.some.txt", "both.byrx.txt", "abs.byrx.tsv", "a.what"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFilenameMayStateContext(t *testing.T) {
	t.Parallel()
	run, _ := onlyResult(t, mustRead(t, "c2/iodir/bm.lc.nt8.d1/8.0.clang/report.tsv", headerR5+"\n"+sumRow("1", "fillseq", "2023-01-01T00:00:01", "8.0.0"), bench.Context{}))
	if run.Server != "c2" || run.Workload != "iodir" || run.Clients != 8 || run.Build.Compiler != "clang" || run.Build.Version != "8.0.0" {
		t.Errorf("%+v", run)
	}
	for _, name := range []string{"../x", "/etc/x", "a\x00b"} {
		if _, err := Read([]byte("x"), name, bench.Context{}, Limits{}); bench.KindOf(err) != bench.KindInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// recorder stands in for a store where only what it is handed matters.
type recorder struct {
	upload bench.Upload
	batch  *bench.Batch
	err    error
}

func (r *recorder) Write(_ context.Context, u bench.Upload, b *bench.Batch, _ bench.DetectFunc) (bench.Receipt, error) {
	r.upload, r.batch = u, b
	return bench.Receipt{SHA256: u.SHA256, Results: 1}, r.err
}

func TestSubmitHandsTheBatchToTheStore(t *testing.T) {
	t.Parallel()
	text := []byte(headerR5 + "\n" + sumRow("1", "fillseq", "2023-01-01T00:00:01", "8.0.0"))
	store := &recorder{}
	receipt, err := Ingester{Store: store}.Submit(context.Background(), bench.Upload{Filename: "report.tsv", Bytes: text, Context: someContext, DryRun: true})
	if err != nil || receipt.Results != 1 {
		t.Fatalf("%+v %v", receipt, err)
	}
	if store.upload.SHA256 != hexSum(text) || !store.upload.DryRun || len(store.batch.Runs) != 1 {
		t.Errorf("%+v", store.upload)
	}

	store = &recorder{}
	_, err = Ingester{Store: store}.Submit(context.Background(), bench.Upload{Filename: "x.gz", Bytes: gzipped(t, text)[:60]})
	if bench.KindOf(err) != bench.KindInvalid || store.batch != nil {
		t.Errorf("a damaged upload: %v", err)
	}
	_, err = Ingester{Store: store, Limits: Limits{Bytes: 10}}.Submit(context.Background(), bench.Upload{Filename: "x.gz", Bytes: gzipped(t, text)})
	if bench.KindOf(err) != bench.KindTooLarge {
		t.Errorf("an upload beyond the limits: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = (Ingester{Store: store}).Submit(ctx, bench.Upload{Filename: "x", Bytes: text}); !errors.Is(err, context.Canceled) || store.batch != nil {
		t.Errorf("a call that was given up: %v", err)
	}
	wrong := errors.New("the store is away")
	if _, err = (Ingester{Store: &recorder{err: wrong}}).Submit(context.Background(), bench.Upload{Filename: "x", Bytes: text}); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
}
