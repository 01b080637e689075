package runner

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/relqps/relqps/ingest"
)

// stepFiles are the files of a step that are posted, where they exist.
var stepFiles = []string{
	ingest.RunnerResultFile, ingest.RunnerStdoutFile, ingest.RunnerStderrFile, ingest.RunnerReportFile, ingest.RunnerOptionsFile,
}

// pack makes the upload of one step: a tar.gz with run.json and the step's
// files. It depends on these files alone, not on when it is made.
func (j *journal) pack(c *ingest.RunnerCommand) ([]byte, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	add := func(name string) error {
		text, err := os.ReadFile(filepath.Join(j.dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		err = archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
		})
		if err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	}
	names := []string{ingest.RunnerRunFile}
	for _, file := range stepFiles {
		names = append(names, path.Join(ingest.RunnerStepsDir, c.Dir, file))
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// upload gives the bytes to post of a step. They are kept, so that what is
// posted a second time is the same to the byte, whichever version of the runner
// does it.
func (j *journal) upload(c *ingest.RunnerCommand) ([]byte, error) {
	name := filepath.Join(j.dir, dirUploads, c.Dir+".tar.gz")
	if text, err := os.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	text, err := j.pack(c)
	if err != nil {
		return nil, err
	}
	return text, writeFile(name, text)
}
