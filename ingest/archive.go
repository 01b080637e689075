package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/relqps/relqps/internal/bench"
)

// Limits bound what an upload may unpack to. Zero fields mean the defaults.
type Limits struct {
	Bytes int64 // of all files of an upload together, decompressed; default 512 MiB
	Files int   // of an upload; default 20,000
	Ratio int64 // decompressed to compressed, once more than 8 MiB were decompressed; default 500
	// Rows of all tables of an upload together; default 500,000. A row takes
	// about 15 times its text in memory.
	Rows int
}

// The defaults of [Limits]. db_bench logs compress about 20 to 1, text made to
// hurt 1000 to 1 and more.
const (
	bytesDefault = 512 << 20
	filesDefault = 20_000
	ratioDefault = 500
	ratioFrom    = 8 << 20
	rowsDefault  = 500_000
)

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = bytesDefault
	}
	if l.Files <= 0 {
		l.Files = filesDefault
	}
	if l.Ratio <= 0 {
		l.Ratio = ratioDefault
	}
	if l.Rows <= 0 {
		l.Rows = rowsDefault
	}
	return l
}

// entry is a file of an upload before it is looked at: stored as it lies in the
// archive, and its content, which differs where that is compressed itself.
type entry struct {
	path    string
	stored  []byte
	content []byte
	refusal string // why it is not read; "" for the normal case
}

// unpacker takes an upload apart within limits.
type unpacker struct {
	limits  Limits
	entries []entry
	seen    map[string]bool
	size    int64 // of the upload as it came
	// Bytes so far: decompressed by gzip or zstd, and taken out of archives. An archive's
	// own bytes and its members' are not added up.
	inflated, members int64
}

// maxPath bounds the length of a path inside an archive.
const maxPath = 1024

// unpack gives the files of an upload: itself, or the members of the archive
// that it is (tar, tar.gz, zip, told apart by content; a member may be
// compressed or an archive once more). An error means that nothing of it can be
// trusted: it is damaged or passes a limit. What is wrong with a single member
// stands in its refusal.
func unpack(data []byte, name string, limits Limits) ([]entry, error) {
	u := &unpacker{limits: limits.withDefaults(), seen: map[string]bool{}, size: int64(len(data))}
	name, problem := cleanPath(name)
	if problem != "" {
		return nil, bench.Errorf(bench.KindInvalid, "the file name %s", problem)
	}
	if err := u.add(name, data, 0); err != nil {
		return nil, err
	}
	return u.entries, nil
}

// maxDepth is how many archives may lie in one another: the upload and one more.
const maxDepth = 2

// withoutSuffix gives a path without suffixes, as long as a name is left: a file may
// be called .gz.
func withoutSuffix(path string, suffixes ...string) string {
	for _, s := range suffixes {
		if left := strings.TrimSuffix(path, s); left != "" && !strings.HasSuffix(left, "/") {
			path = left
		}
	}
	return path
}

// add takes a file: an archive by its members, anything else as it is.
func (u *unpacker) add(name string, stored []byte, depth int) error {
	content, inner := stored, name
	var decompress func(string, []byte) ([]byte, error)
	switch {
	case isGzip(content):
		decompress, inner = u.gunzip, withoutSuffix(name, ".gz", ".tgz")
	case isZstd(content):
		decompress, inner = u.unzstd, withoutSuffix(name, ".zst")
	}
	if decompress != nil {
		plain, err := decompress(name, content)
		if err != nil {
			return u.damaged(name, stored, depth, err)
		}
		content = plain
	}
	switch {
	case isTar(content), isZip(content):
		if depth == maxDepth {
			return u.keep(entry{path: name, stored: stored, content: content, refusal: "an archive inside an archive inside an archive is not unpacked"})
		}
		var err error
		prefix := ""
		if depth > 0 {
			prefix = withoutSuffix(inner, ".tar", ".zip") + "/"
		}
		if isTar(content) {
			err = u.untar(prefix, content, depth)
		} else {
			err = u.unzip(prefix, content, depth)
		}
		if err != nil {
			return u.damaged(name, stored, depth, err)
		}
		return nil
	case bytes.HasPrefix(content, []byte("BZh")) && len(content) > 3 && content[3] >= '1' && content[3] <= '9':
		return u.keep(entry{path: name, stored: stored, refusal: "the file is compressed by bzip2: gzip, zstd, tar and zip are read"})
	case bytes.HasPrefix(content, []byte("\xfd7zXZ\x00")):
		return u.keep(entry{path: name, stored: stored, refusal: "the file is compressed by xz: gzip, zstd, tar and zip are read"})
	}
	// A member keeps its name in the archive; of a compressed upload the name
	// without .gz is the file's own.
	if depth == 0 {
		name = inner
	}
	return u.keep(entry{path: name, stored: stored, content: content})
}

// damaged refuses a damaged member; a damaged upload, or one that passes a
// limit, is an error as a whole.
func (u *unpacker) damaged(name string, stored []byte, depth int, err error) error {
	var e *bench.Error
	if depth == 0 || errors.As(err, &e) && e.Kind == bench.KindTooLarge {
		return err
	}
	return u.keep(entry{path: name, stored: stored, refusal: err.Error()})
}

func (u *unpacker) keep(e entry) error {
	if len(u.entries) >= u.limits.Files {
		return bench.Errorf(bench.KindTooLarge, "the archive holds more than %d files", u.limits.Files)
	}
	if u.seen[e.path] {
		// Two members of one name: the first counts, the second is named apart.
		e.refusal = "the archive holds a file of this name already"
		for n := 2; ; n++ {
			if other := e.path + " (" + strconv.Itoa(n) + ")"; !u.seen[other] {
				e.path = other
				break
			}
		}
	}
	u.seen[e.path] = true
	u.entries = append(u.entries, e)
	return nil
}

// atOnce is up to how many bytes are decompressed without knowing how many come.
const atOnce = 8 << 20

// read gives all bytes of something compressed within the limits, which is opened once or
// twice: what is more than [atOnce] is counted before there is memory for it. total is
// where the bytes count, compressed the size of what is decompressed.
func (u *unpacker) read(open func() (io.ReadCloser, error), total *int64, compressed int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(r, atOnce))
	size := int64(len(head))
	if err == nil && size == atOnce {
		var rest int64
		rest, err = u.count(r, *total, compressed, size)
		size += rest
	}
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = u.within(*total+size, size, compressed)
	}
	if err != nil {
		return nil, err
	}
	*total += size
	if size == int64(len(head)) {
		return head, nil
	}
	if r, err = open(); err != nil {
		return nil, err
	}
	all := make([]byte, size)
	_, err = io.ReadFull(r, all)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	return all, err
}

// count reads to the end, or until a limit is passed, and keeps nothing. total and size
// are what was read before, of the upload and of this.
func (u *unpacker) count(r io.Reader, total, compressed, size int64) (n int64, err error) {
	for {
		more, err := io.CopyN(io.Discard, r, 1<<20)
		n += more
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err == nil {
			err = u.within(total+size+n, size+n, compressed)
		}
		if err != nil {
			return n, err
		}
	}
}

// within checks the limits: total bytes so far, size of them from so many compressed ones.
func (u *unpacker) within(total, size, compressed int64) error {
	switch {
	case total > u.limits.Bytes:
		return bench.Errorf(bench.KindTooLarge, "the upload unpacks to more than %d MiB", u.limits.Bytes>>20)
	case size > ratioFrom && size/max(compressed, 1) > u.limits.Ratio, total > ratioFrom && total/max(u.size, 1) > u.limits.Ratio:
		return bench.Errorf(bench.KindTooLarge, "the upload unpacks to more than %d times its size: this is no benchmark's output", u.limits.Ratio)
	}
	return nil
}

func isGzip(b []byte) bool { return bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}) }

func isZstd(b []byte) bool { return bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")) }

func isZip(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

const (
	tarBlock    = 512
	tarMagic    = 257 // "ustar"
	tarChecksum = 148
)

// isTar tells a tar by its first header: the magic, or for tars older than it
// the header's checksum.
func isTar(b []byte) bool {
	if len(b) < tarBlock {
		return false
	}
	if string(b[tarMagic:tarMagic+5]) == "ustar" {
		return true
	}
	field := strings.Trim(string(b[tarChecksum:tarChecksum+8]), " \x00")
	want, err := strconv.ParseInt(field, 8, 32)
	if err != nil || field == "" {
		return false
	}
	sum := int64(0)
	for i, c := range b[:tarBlock] {
		if i >= tarChecksum && i < tarChecksum+8 {
			c = ' '
		}
		sum += int64(c)
	}
	return sum == want
}

func (u *unpacker) gunzip(name string, data []byte) ([]byte, error) {
	open := func() (io.ReadCloser, error) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, bench.Errorf(bench.KindInvalid, "%s: not a readable gzip file: %v", name, err)
		}
		return r, nil
	}
	plain, err := u.read(open, &u.inflated, int64(len(data)))
	var e *bench.Error
	switch {
	case err == nil, errors.As(err, &e):
		return plain, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, bench.Errorf(bench.KindInvalid, "%s: the gzip file is cut short", name)
	default:
		return nil, bench.Errorf(bench.KindInvalid, "%s: the gzip file is damaged: %v", name, err)
	}
}

// zstdWindow bounds the memory that a zstd frame may ask for: what all levels but the
// ultra ones, and --long up to 25, ask for at most.
const zstdWindow = 32 << 20

func (u *unpacker) unzstd(name string, data []byte) ([]byte, error) {
	open := func() (io.ReadCloser, error) {
		r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, bench.Errorf(bench.KindInvalid, "%s: not a readable zstd file: %v", name, err)
		}
		return r.IOReadCloser(), nil
	}
	plain, err := u.read(open, &u.inflated, int64(len(data)))
	var e *bench.Error
	switch {
	case err == nil, errors.As(err, &e):
		return plain, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, bench.Errorf(bench.KindInvalid, "%s: the zstd file is cut short", name)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, bench.Errorf(bench.KindTooLarge, "%s: the zstd file asks for a window of more than %d MiB: compress it without --ultra and --long", name, zstdWindow>>20)
	default:
		return nil, bench.Errorf(bench.KindInvalid, "%s: the zstd file is damaged: %v", name, err)
	}
}

func (u *unpacker) untar(prefix string, data []byte, depth int) error {
	r := tar.NewReader(bytes.NewReader(data))
	for n := 0; ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return bench.Errorf(bench.KindInvalid, "the tar archive is damaged after %d members: %v", n, err)
		}
		if n >= 2*u.limits.Files { // directories count as well
			return bench.Errorf(bench.KindTooLarge, "the archive holds more than %d members", 2*u.limits.Files)
		}
		name, problem := cleanPath(h.Name)
		switch {
		case problem != "":
			if err := u.keep(entry{path: prefix + name, refusal: "its path in the archive " + problem}); err != nil {
				return err
			}
			continue
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			if err := u.keep(entry{path: prefix + name, refusal: "it is " + tarKind(h.Typeflag) + ", not a file"}); err != nil {
				return err
			}
			continue
		}
		if h.Size > int64(len(data)) { // the header says more than there is, or it has holes
			return bench.Errorf(bench.KindInvalid, "the tar archive is cut short in %s", name)
		}
		u.members += h.Size
		if err := u.within(u.members, 0, 0); err != nil {
			return err
		}
		body := make([]byte, h.Size)
		if _, err := io.ReadFull(r, body); err != nil {
			return bench.Errorf(bench.KindInvalid, "the tar archive is cut short in %s", name)
		}
		if err := u.add(prefix+name, body, depth+1); err != nil {
			return err
		}
	}
}

func tarKind(flag byte) string {
	switch flag {
	case tar.TypeLink:
		return "a link to another member"
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a pipe"
	}
	return fmt.Sprintf("of a kind (%q) that holds no results", flag)
}

func (u *unpacker) unzip(prefix string, data []byte, depth int) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // paths are looked at below
		return bench.Errorf(bench.KindInvalid, "the zip archive is damaged: %v", err)
	}
	if len(r.File) > 2*u.limits.Files {
		return bench.Errorf(bench.KindTooLarge, "the archive holds more than %d members", 2*u.limits.Files)
	}
	// What the archive says of itself is enough to refuse it, and checked below.
	var says uint64
	for _, f := range r.File {
		if says += min(f.UncompressedSize64, 1<<62); says > 1<<62 {
			break
		}
	}
	if err := u.within(u.members+int64(min(says, 1<<62)), 0, 0); err != nil {
		return err
	}
	for _, f := range r.File {
		name, problem := cleanPath(f.Name)
		refusal := ""
		switch mode := f.Mode(); {
		case problem != "":
			refusal = "its path in the archive " + problem
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			refusal = "it is a link or a device, not a file"
		case f.Flags&1 != 0:
			refusal = "it is encrypted"
		}
		if refusal != "" {
			if err := u.keep(entry{path: prefix + name, refusal: refusal}); err != nil {
				return err
			}
			continue
		}
		body, err := u.readZipped(f)
		if err != nil {
			var e *bench.Error
			if errors.As(err, &e) {
				return err
			}
			if err := u.keep(entry{path: prefix + name, refusal: "it is damaged in the archive: " + err.Error()}); err != nil {
				return err
			}
			continue
		}
		if err := u.add(prefix+name, body, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) readZipped(f *zip.File) ([]byte, error) {
	return u.read(f.Open, &u.members, int64(min(f.CompressedSize64, 1<<62)))
}

// cleanPath gives a member's path with slashes and without . and .. parts. A
// path that would leave the archive, or could confuse who reads it, has a
// problem; the path given then is safe to show and to store all the same.
func cleanPath(name string) (clean, problem string) {
	raw := strings.ReplaceAll(name, `\`, "/")
	shown := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xFFFD {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(raw, "_"))
	switch {
	case len(shown) > maxPath:
		shown = strings.ToValidUTF8(shown[:maxPath], "")
		problem = fmt.Sprintf("is longer than %d bytes", maxPath)
	case strings.HasPrefix(raw, "/") || len(raw) > 1 && raw[1] == ':':
		problem = "is absolute"
	case shown != raw:
		problem = "holds control characters or is not UTF-8"
	default:
		for _, part := range strings.Split(raw, "/") {
			if part == ".." {
				problem = "leads out of it"
			}
		}
	}
	clean = strings.TrimPrefix(path.Clean("/"+shown), "/")
	if clean == "" {
		clean = "unnamed"
	}
	return clean, problem
}
