//go:build unix

package localpg

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// repository serves Postgres "downloads" whose programs call the installed
// ones, in the form of the archives that embedded-postgres fetches.
type repository struct {
	url      string
	requests atomic.Int64
}

func newRepository(t *testing.T, bin string, spoil func(sum string) string) *repository {
	t.Helper()
	var archive bytes.Buffer
	tw := tar.NewWriter(&archive)
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		text := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", filepath.Join(bin, name))
		if err := tw.WriteHeader(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	zw := zip.NewWriter(&jar)
	w, err := zw.Create("postgres.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(storeXZ(archive.Bytes())); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(jar.Bytes())
	r := &repository{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.requests.Add(1)
		if strings.HasSuffix(req.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(spoil(hex.EncodeToString(sum[:]))))
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

// storeXZ puts data into the xz format without compressing them
// (The .xz File Format, version 1.1.0; LZMA2 with uncompressed chunks).
func storeXZ(data []byte) []byte {
	var out bytes.Buffer
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func() {
		for out.Len()%4 != 0 {
			out.WriteByte(0)
		}
	}
	flags := []byte{0, 1} // the check is CRC32
	out.WriteString("\xfd7zXZ\x00")
	out.Write(flags)
	out.Write(sum(flags))

	begin := out.Len()
	header := []byte{2, 0, 0x21, 1, 8, 0, 0, 0} // 12 bytes; one filter: LZMA2 with a dictionary of 64 KiB
	out.Write(header)
	out.Write(sum(header))
	for rest, control := data, byte(1); len(rest) > 0; control = 2 {
		chunk := rest[:min(len(rest), 1<<16)]
		rest = rest[len(chunk):]
		out.WriteByte(control)
		out.Write(binary.BigEndian.AppendUint16(nil, uint16(len(chunk)-1)))
		out.Write(chunk)
	}
	out.WriteByte(0)
	unpadded := out.Len() - begin + 4
	pad()
	out.Write(sum(data))

	begin = out.Len()
	index := []byte{0, 1}
	index = binary.AppendUvarint(index, uint64(unpadded))
	index = binary.AppendUvarint(index, uint64(len(data)))
	out.Write(index)
	pad()
	out.Write(sum(out.Bytes()[begin:]))
	footer := binary.LittleEndian.AppendUint32(nil, uint32((out.Len()-begin)/4-1))
	footer = append(footer, flags...)
	out.Write(sum(footer))
	out.Write(footer)
	out.WriteString("YZ")
	return out.Bytes()
}

func asItIs(sum string) string { return sum }

func TestPostgresIsDownloadedWhenAllowed(t *testing.T) {
	t.Parallel()
	bin := needPostgres(t)
	r := newRepository(t, bin, asItIs)
	parent := newDir(t)
	if err := os.Mkdir(parent, 0o700); err != nil {
		t.Fatal(err)
	}
	asUser := func(*exec.Cmd) {}
	if os.Geteuid() == 0 {
		// A download needs an ordinary user, whoever runs the tests.
		u, err := (&dataDir{path: parent}).serverUserFor(false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(parent, u.UID, u.GID); err != nil {
			t.Fatal(err)
		}
		asUser = func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential()} }
	}
	order := helperOrder{
		DataDir: filepath.Join(parent, "data"), BinDir: filepath.Join(parent, "no-programs-here"),
		Download: true, DownloadURL: r.url, DownloadDir: filepath.Join(parent, "programs"),
	}
	h := begin(t, order, asUser)
	h.answered()
	if !h.Started || r.requests.Load() == 0 {
		t.Errorf("started %t after %d requests", h.Started, r.requests.Load())
	}
	h.end()
	programs, err := filepath.Glob(filepath.Join(order.DownloadDir, "*", "bin", "postgres"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("kept %q, %v; want one version", programs, err)
	}
	if left, err := os.ReadDir(order.DownloadDir); err != nil || len(left) != 1 {
		t.Errorf("%d entries in the folder of downloads, %v; want the version alone", len(left), err)
	}

	// The next cluster uses what is there.
	before := r.requests.Load()
	order.DataDir = filepath.Join(parent, "second")
	h = begin(t, order, asUser)
	h.answered()
	h.end()
	if got := r.requests.Load(); got != before {
		t.Errorf("%d more requests", got-before)
	}
	for _, dir := range []string{filepath.Join(parent, "data"), order.DataDir} {
		if removed, err := RemoveIfUnused(dir); !removed || err != nil {
			t.Errorf("remove %s: %t, %v", dir, removed, err)
		}
	}
}

func TestNothingIsDownloadedUnasked(t *testing.T) {
	t.Parallel()
	r := newRepository(t, "/nowhere", asItIs)
	_, err := Open(t.Context(), Config{DataDir: newDir(t), BinDir: t.TempDir(), DownloadURL: r.url, DownloadDir: t.TempDir()})
	if err == nil || r.requests.Load() != 0 {
		t.Errorf("%d requests, %v", r.requests.Load(), err)
	}
}

func TestDownloadThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for name, spoil := range map[string]func(string) string{
		"another sum":              func(string) string { return strings.Repeat("0", 64) },
		"programs that do not run": asItIs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t, "/nowhere", spoil)
			dir := t.TempDir()
			_, err := Download(t.Context(), dir, r.url, 0, log)
			if err == nil {
				t.Fatal("want an error")
			}
			if os.Geteuid() == 0 && (!strings.Contains(err.Error(), "as root") || r.requests.Load() != 0) {
				t.Errorf("as root: %v after %d requests; want a refusal before any", err, r.requests.Load())
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("%d entries are left, %v", len(left), err)
			}
		})
	}
	if _, err := Download(t.Context(), t.TempDir(), "http://127.0.0.1:1", 9, log); err == nil || !strings.Contains(err.Error(), "no Postgres 9") {
		t.Errorf("a version that is not offered: %v", err)
	}
}
