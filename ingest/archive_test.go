package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/internal/bench"
)

// tarOf packs files by name, in order of their names.
func tarOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var headers []*tar.Header
	for _, name := range names {
		headers = append(headers, &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644})
	}
	return tarHeaders(t, headers, files)
}

func tarHeaders(t testing.TB, headers []*tar.Header, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(files[h.Name]))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(files[h.Name])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func zipOf(t testing.TB, files map[string]string, change func(*zip.FileHeader)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpacked gives entries as path=content, or path!refusal.
func unpacked(t *testing.T, data []byte, name string, limits Limits) []string {
	t.Helper()
	entries, err := unpack(data, name, limits)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.refusal != "" {
			got = append(got, e.path+"!"+e.refusal)
		} else {
			got = append(got, e.path+"="+string(e.content))
		}
	}
	slices.Sort(got)
	return got
}

func TestArchivesAreKnownByContent(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a/one.txt": "1", "a/b/two.txt": "2"}
	want := []string{"a/b/two.txt=2", "a/one.txt=1"}
	old := tarOf(t, files) // a tar older than ustar has no magic, only checksums
	for at := 0; at+tarBlock <= len(old); at += tarBlock {
		if string(old[at+tarMagic:at+tarMagic+5]) != "ustar" {
			continue
		}
		copy(old[at+tarMagic:at+tarMagic+8], make([]byte, 8))
		sum := 0
		for i := range tarBlock {
			c := old[at+i]
			if i >= tarChecksum && i < tarChecksum+8 {
				c = ' '
			}
			sum += int(c)
		}
		copy(old[at+tarChecksum:], fmt.Sprintf("%06o\x00 ", sum))
	}
	for _, tt := range []struct {
		name string
		data []byte
		file string
		want []string
	}{
		{"a file", []byte("x"), "log.txt", []string{"log.txt=x"}},
		{"a compressed file loses its ending", gzipped(t, []byte("x")), "log.txt.gz", []string{"log.txt=x"}},
		{"tar", tarOf(t, files), "wrong.zip", want},
		{"tar.gz", gzipped(t, tarOf(t, files)), "x.tgz", want},
		{"zip", zipOf(t, files, nil), "x", want},
		{"an old tar", old, "x.tar", want},
		{"a compressed member keeps its name", tarOf(t, map[string]string{"r/LOG.gz": string(gzipped(t, []byte("log")))}), "x.tar", []string{"r/LOG.gz=log"}},
		{"an archive in an archive", tarOf(t, map[string]string{"r/inner.tar.gz": string(gzipped(t, tarOf(t, files)))}), "x.tar", []string{"r/inner/a/b/two.txt=2", "r/inner/a/one.txt=1"}},
		{"not a third one", tarOf(t, map[string]string{"i.zip": string(zipOf(t, map[string]string{"j.zip": string(zipOf(t, files, nil))}, nil))}), "x.tar",
			[]string{"i/j.zip!an archive inside an archive inside an archive is not unpacked"}},
		{"Windows separators", zipOf(t, map[string]string{`a\one.txt`: "1"}, nil), "x.zip", []string{"a/one.txt=1"}},
		{"bzip2", []byte("BZh91AY&SY"), "x.bz2", []string{"x.bz2!the file is compressed by bzip2: gzip, zstd, tar and zip are read"}},
		{"xz", []byte("\xfd7zXZ\x00\x00"), "x.xz", []string{"x.xz!the file is compressed by xz: gzip, zstd, tar and zip are read"}},
		{"zstd", zstdOf(t, []byte("x")), "log.txt.zst", []string{"log.txt=x"}},
		{"tar.zst", zstdOf(t, tarOf(t, files)), "x.tar.zst", want},
		{"a damaged member of zstd", tarOf(t, map[string]string{"r/LOG.zst": "\x28\xb5\x2f\xfd\x00"}), "x.tar", []string{"r/LOG.zst!r/LOG.zst: the zstd file is cut short"}},
		{"nothing", nil, "x", []string{"x="}},
		{"text that begins like bzip2", []byte("BZh benchmarks"), "x", []string{"x=BZh benchmarks"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, unpacked(t, tt.data, tt.file, Limits{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostileMembersAreRefusedAlone(t *testing.T) {
	t.Parallel()
	headers := []*tar.Header{
		{Typeflag: tar.TypeReg, Name: "good.txt"},
		{Typeflag: tar.TypeReg, Name: "../../etc/cron.d/x"},
		{Typeflag: tar.TypeReg, Name: "/etc/passwd"},
		{Typeflag: tar.TypeReg, Name: "a/../b.txt"},
		{Typeflag: tar.TypeReg, Name: "a\x01b"},
		{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeLink, Name: "hard", Linkname: "good.txt"},
		{Typeflag: tar.TypeChar, Name: "dev"},
		{Typeflag: tar.TypeFifo, Name: "pipe"},
		{Typeflag: tar.TypeDir, Name: "dir/"},
		{Typeflag: tar.TypeReg, Name: "good.txt"},
		{Typeflag: tar.TypeReg, Name: strings.Repeat("d/", 600) + "x"},
	}
	got := unpacked(t, tarHeaders(t, headers, map[string]string{"good.txt": "1"}), "x.tar", Limits{})
	want := []string{
		"a_b!its path in the archive holds control characters or is not UTF-8",
		"b.txt!its path in the archive leads out of it",
		strings.TrimSuffix(strings.Repeat("d/", 512), "/") + "!its path in the archive is longer than 1024 bytes",
		"dev!it is a device, not a file",
		"etc/cron.d/x!its path in the archive leads out of it",
		"etc/passwd!its path in the archive is absolute",
		"good.txt (2)!the archive holds a file of this name already",
		"good.txt=1",
		"hard!it is a link to another member, not a file",
		"link!it is a symbolic link, not a file",
		"pipe!it is a pipe, not a file",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostileZipMembersAreRefusedAlone(t *testing.T) {
	t.Parallel()
	secret := zipOf(t, map[string]string{"secret.txt": "1"}, func(h *zip.FileHeader) { h.Flags |= 1 })
	if diff := cmp.Diff([]string{"secret.txt!it is encrypted"}, unpacked(t, secret, "x.zip", Limits{})); diff != "" {
		t.Error(diff)
	}
	link := zipOf(t, map[string]string{"link": "/etc/passwd"}, func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) })
	if diff := cmp.Diff([]string{"link!it is a link or a device, not a file"}, unpacked(t, link, "x.zip", Limits{})); diff != "" {
		t.Error(diff)
	}
	out := zipOf(t, map[string]string{"../x": "1", `C:\x`: "2"}, nil)
	if diff := cmp.Diff([]string{"C:/x!its path in the archive is absolute", "x!its path in the archive leads out of it"}, unpacked(t, out, "x.zip", Limits{})); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	whole := gzipped(t, tarOf(t, map[string]string{"a": strings.Repeat("x", 5000)}))
	plain := tarOf(t, map[string]string{"a": strings.Repeat("x", 5000)})
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-5] ^= 0xff // in the checksum
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"cut gzip", "cut short", whole[:len(whole)-20]},
		{"wrong checksum", "damaged", flipped},
		{"cut zstd", "cut short", zstdOf(t, plain)[:40]},
		{"wrong checksum of zstd", "damaged", append(zstdOf(t, plain)[:len(zstdOf(t, plain))-1], 'x')},
		{"cut tar", "cut short", plain[:1024]},
		{"cut zip", "damaged", zipOf(t, map[string]string{"a": "b"}, nil)[:40]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(tt.data, "x", bench.Context{}, Limits{})
			if bench.KindOf(err) != bench.KindInvalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	inner := tarOf(t, map[string]string{"LOG.gz": string(whole[:len(whole)-20]), "b": "1"})
	got := unpacked(t, inner, "x.tar", Limits{})
	if len(got) != 2 || !strings.HasPrefix(got[0], "LOG.gz!") || got[1] != "b=1" {
		t.Errorf("a damaged member takes others with it: %v", got)
	}
}

func TestLimitsOfArchives(t *testing.T) {
	t.Parallel()
	bomb := gzipped(t, make([]byte, 20<<20))
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprint(i)] = "x"
	}
	for _, tt := range []struct {
		name, want string
		data       []byte
		limits     Limits
	}{
		{"bytes of a compressed file", "unpacks to more than 1 MiB", bomb, Limits{Bytes: 1 << 20}},
		{"bytes of all members", "unpacks to more than 1 MiB", tarOf(t, map[string]string{"a": strings.Repeat("x", 600<<10), "b": strings.Repeat("x", 600<<10)}), Limits{Bytes: 1 << 20}},
		{"bytes of a member", "unpacks to more than 1 MiB", zipOf(t, map[string]string{"a": strings.Repeat("\x00", 2<<20)}, nil), Limits{Bytes: 1 << 20}},
		{"ratio", "more than 500 times its size", bomb, Limits{}},
		{"ratio of zstd", "more than 500 times its size", zstdOf(t, make([]byte, 20<<20)), Limits{}},
		{"bytes of zstd", "unpacks to more than 1 MiB", zstdOf(t, make([]byte, 20<<20)), Limits{Bytes: 1 << 20}},
		{"ratio of a member", "more than 500 times its size", tarOf(t, map[string]string{"a.gz": string(bomb)}), Limits{}},
		{"files of a tar", "more than 10 files", tarOf(t, many), Limits{Files: 10}},
		{"files of a zip", "more than 10 files", zipOf(t, many, nil), Limits{Files: 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(tt.data, "x", bench.Context{}, tt.limits)
			if bench.KindOf(err) != bench.KindTooLarge || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	// An archive's own bytes and its members' do not add up.
	text := strings.Repeat("x", 900<<10)
	if _, err := unpack(gzipped(t, tarOf(t, map[string]string{"a": text})), "x", Limits{Bytes: 1 << 20, Ratio: 1 << 20}); err != nil {
		t.Error(err)
	}
}

// What is allocated for an upload that is refused must not depend on what it unpacks to.
func TestRefusingAnArchiveTakesLittleMemory(t *testing.T) {
	big := make([]byte, 200<<20)
	bomb := gzipped(t, big)
	small := zipOf(t, map[string]string{"a": string(big)}, nil)
	many := map[string]string{}
	member := string(big[:7<<20]) // below the size from which ratios count
	for i := range 30 {
		many[fmt.Sprint(i)] = member
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"gzip", bomb},
		{"zip", small},
		{"zip of many members", zipOf(t, many, nil)},
		{"zstd", zstdOf(t, big)},
		{"gzip in a tar", tarOf(t, map[string]string{"a.gz": string(bomb)})},
		{"zip in a zip", zipOf(t, map[string]string{"a.zip": string(small)}, nil)},
	} {
		if len(c.data) > 1<<20 {
			t.Fatalf("%s: %d bytes are no bomb", c.name, len(c.data))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(c.data, "x", bench.Context{}, Limits{})
		runtime.ReadMemStats(&after)
		if bench.KindOf(err) != bench.KindTooLarge {
			t.Errorf("%s: %v", c.name, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 64 {
			t.Errorf("%s: %d MiB were allocated", c.name, took)
		}
	}
}

// A zip may say of its members what is not so.
func TestAMemberThatIsLargerThanItSaysIsRefused(t *testing.T) {
	t.Parallel()
	data := zipOf(t, map[string]string{"a": strings.Repeat("x", 40<<20)}, nil)
	real := binary.LittleEndian.AppendUint32(nil, 40<<20)
	if n := bytes.Count(data, real); n == 0 {
		t.Fatal("the size does not stand in the archive")
	}
	data = bytes.ReplaceAll(data, real, []byte{100, 0, 0, 0})
	b, err := Read(data, "x.zip", bench.Context{}, Limits{})
	if err == nil && b.Files[0].State != bench.FileRefused {
		t.Errorf("%+v", b.Files)
	}
}

func TestLargeMembersAreWhole(t *testing.T) {
	t.Parallel()
	text := make([]byte, 20<<20) // more than is read at once, and it hardly compresses
	r := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = 'a' + byte(r.IntN(26))
	}
	for name, data := range map[string][]byte{
		"gzip": gzipped(t, text), "zstd": zstdOf(t, text),
		"zip": zipOf(t, map[string]string{"a": string(text)}, nil), "tar": tarOf(t, map[string]string{"a": string(text)}),
		"tar.gz": gzipped(t, tarOf(t, map[string]string{"a": string(text)})),
	} {
		entries, err := unpack(data, "x", Limits{})
		if err != nil || len(entries) != 1 || !bytes.Equal(entries[0].content, text) {
			t.Errorf("%s: %v, %d files", name, err, len(entries))
		}
	}
}

func TestSizesAndHashesAreOfTheStoredMember(t *testing.T) {
	t.Parallel()
	inner := gzipped(t, []byte("\n"))
	b, err := Read(tarOf(t, map[string]string{"r/x.gz": string(inner)}), "x.tar", bench.Context{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if f := onlyFile(t, b); f.Size != int64(len(inner)) || f.SHA256 != hexSum(inner) {
		t.Errorf("%+v", f)
	}
}
