package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/relqps/relqps/internal/bench"
)

// Store is what a batch is written to; internal/postgres satisfies it. It is
// declared here so that readers know no database. Write stores all of a batch
// or nothing; with u.DryRun it decides all and stores nothing.
type Store interface {
	Write(ctx context.Context, u bench.Upload, b *bench.Batch, detect bench.DetectFunc) (bench.Receipt, error)
}

// Ingester reads uploads and hands what they hold to a store.
type Ingester struct {
	Store  Store
	Detect bench.DetectFunc // run within the write; may be nil
	Limits Limits           // zero means the defaults
}

// Submit reads an upload and stores it in one transaction; with u.DryRun nothing
// is stored and the receipt says what would be. Errors about the input are
// [bench.Error]s that name the places at fault.
func (g Ingester) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	if u.SHA256 == "" {
		u.SHA256 = hexSum(u.Bytes)
	}
	batch, err := Read(u.Bytes, u.Filename, u.Context, g.Limits)
	if err != nil {
		return bench.Receipt{}, err
	}
	// The folders of the name are part of what was said about these bytes: under
	// others they would be another upload. Read has found no contradiction.
	if stated, _, err := pathContext(u.Filename); err == nil {
		if said, err := u.Context.Normalized().Fill(stated, "the upload", "its path"); err == nil {
			u.Context = said
		}
	}
	if err := ctx.Err(); err != nil {
		return bench.Receipt{}, err
	}
	return g.Store.Write(ctx, u, batch, g.Detect)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Read turns the bytes of one upload into a batch: it unpacks archives, decodes
// text, tells formats apart, joins what content, path and flags say, and reads.
// name is the upload's file name, which may have folders; flags is what was
// stated with it. Every file is accounted for in the batch; an error means that
// the upload as a whole cannot be read (a damaged archive, a limit passed).
// Read is pure and safe for concurrent use.
func Read(data []byte, name string, flags bench.Context, limits Limits) (*bench.Batch, error) {
	flags = flags.Normalized()
	flags.Versions = slices.Clone(flags.Versions)
	for i := range flags.Versions {
		flags.Versions[i] = strings.TrimSpace(flags.Versions[i])
	}
	if problem := flags.NameProblem(); problem != "" {
		return nil, bench.Errorf(bench.KindInvalid, "%s", problem)
	}
	entries, err := unpack(data, name, limits)
	if err != nil {
		return nil, err
	}
	b := &bench.Batch{}
	results := map[*input]output{}
	names := map[*input]string{}   // of the format or bundle that read it
	bundled := map[*input]string{} // of the bundle, where one read it
	var all, readable []*input
	stored := map[*input]entry{}
	for _, e := range entries {
		in := &input{path: e.path, raw: e.content}
		all = append(all, in)
		stored[in] = e
		if e.refusal != "" {
			results[in] = refused(bench.Message{File: in.path, Text: e.refusal})
			continue
		}
		if err := in.describe(flags); err != nil {
			results[in] = refused(bench.Message{File: in.path, Text: err.Error()})
			continue
		}
		if in.text, err = decode(in.raw); err != nil {
			in.undecoded = err.Error()
		} else {
			in.format = detectFormat(in)
		}
		readable = append(readable, in)
	}
	s := newSet(readable)
	s.rowLimit = limits.withDefaults().Rows
	s.rows = s.rowLimit
	for _, files := range bundlesOf(s) {
		for i, out := range files.bundle.read(files.files) {
			in := files.files[i]
			results[in], names[in] = out, files.bundle.name
			if in.format != nil {
				names[in] = in.format.name
			}
			bundled[in] = files.bundle.name
		}
	}
	for _, in := range s.files {
		if _, done := results[in]; done {
			continue
		}
		switch {
		case in.undecoded != "" && !isJunk(in):
			results[in] = refused(bench.Message{File: in.path, Text: in.undecoded})
		case in.format == nil:
			results[in] = readUnknown(in)
		default:
			results[in], names[in] = in.format.read(in), in.format.name
		}
	}

	// Files that were not readable at all come last, in the archive's order.
	ordered := slices.Clone(s.files)
	for _, in := range all {
		if in.set == nil {
			ordered = append(ordered, in)
		}
	}
	for _, in := range ordered {
		if out := results[in]; out.state == bench.FileTaken {
			if wrong := implausible(out.runs, in.path); wrong != nil {
				results[in] = refused(*wrong)
			} else {
				leaveOutImpossible(out.runs)
			}
		}
		out, e := results[in], stored[in]
		b.Files = append(b.Files, bench.File{
			Path: in.path, Format: names[in], SHA256: hexSum(e.stored), Size: int64(len(e.stored)),
			State: out.state, Messages: out.messages,
		})
		if out.state != bench.FileTaken {
			continue
		}
		for _, run := range out.runs {
			run.Build.Version = bench.VersionName(run.Build.Version)
			b.Runs = append(b.Runs, run)
		}
		b.Matrices = append(b.Matrices, out.matrices...)
		b.Checks = append(b.Checks, out.checks...)
		b.Configs = append(b.Configs, out.configs...)
		b.Warnings = append(b.Warnings, out.warnings...)
	}
	b.Warnings = append(contextWarnings(ordered, results), b.Warnings...)
	b.Format = uploadFormat(b.Files, ordered, bundled)
	return b, nil
}

// uploadFormat names an upload as a whole: its one file's format, the bundle
// that all its files belong to but for attachments, or that it is an archive.
func uploadFormat(files []bench.File, inputs []*input, bundled map[*input]string) string {
	if len(files) == 1 {
		return files[0].Format
	}
	name := ""
	for i, f := range files {
		of := bundled[inputs[i]]
		switch {
		case of == "" && f.State == bench.FileAttachment:
		case of == "", name != "" && of != name:
			return formatArchive
		default:
			name = of
		}
	}
	if name == "" {
		return formatArchive
	}
	return name
}

// newSet puts files in reading order: those that state most context first, so
// that those that lean on what is known find it.
func newSet(files []*input) *set {
	s := &set{files: slices.Clone(files), byKey: map[string]*input{}}
	slices.SortStableFunc(s.files, func(a, b *input) int {
		if d := a.rank() - b.rank(); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	for _, in := range s.files {
		in.set = s
		s.byKey[in.path] = in
	}
	return s
}

// rank orders files by how much context they state.
func (in *input) rank() int {
	switch {
	case in.format == nil, in.format.name == formatEmpty:
		return 6
	case in.format.name == formatMatrix:
		return 5
	case in.mixesBuilds():
		return 4
	case in.repeatsOthers():
		return 3
	case in.format.name == formatSum, in.format.name == formatReport, in.format.name == formatOldReport:
		return 2
	}
	return 1
}

// repeatsOthers reports whether a file's name says that its rows are chosen
// from other files.
func (in *input) repeatsOthers() bool {
	for _, w := range strings.Split(path.Base(in.path), ".") {
		if strings.HasPrefix(w, "some") {
			return true
		}
	}
	return false
}

// claimed is the files of one bundle.
type claimed struct {
	bundle *bundle
	files  []*input
}

// bundlesOf gives the files that are read together; none is in two bundles.
func bundlesOf(s *set) []claimed {
	var all []claimed
	taken := map[*input]bool{}
	for _, bundle := range bundles() {
		for _, files := range bundle.claim(s) {
			var free []*input
			for _, in := range files {
				if !taken[in] {
					free = append(free, in)
				}
			}
			if len(free) == len(files) && len(files) > 0 {
				for _, in := range files {
					taken[in] = true
				}
				all = append(all, claimed{bundle, files})
			}
		}
	}
	return all
}

// contextWarnings says once per upload what no file states: a server taken from
// a folder's name, a compiler assumed.
func contextWarnings(files []*input, results map[*input]output) []bench.Message {
	var warnings []bench.Message
	told := map[string]bool{}
	var assumed []string
	for _, in := range files {
		out := results[in]
		if out.state != bench.FileTaken {
			continue
		}
		if in.usedServer && !told[in.serverFrom] {
			told[in.serverFrom] = true
			warnings = append(warnings, bench.Message{File: in.path,
				Text: fmt.Sprintf("server %s taken from the folder name %s; --server says otherwise", in.hinted.Server, in.serverFrom)})
		}
		for i := range out.runs {
			if slices.Contains(out.runs[i].Assumed, "compiler") {
				assumed = append(assumed, in.path)
				break
			}
		}
	}
	if n := len(assumed); n > 0 {
		text := "compiler gcc assumed, as no file or folder names one; --compiler says otherwise"
		if n > 1 {
			text += fmt.Sprintf(" (%d files)", n)
		}
		warnings = append(warnings, bench.Message{File: assumed[0], Text: text})
	}
	return warnings
}

// isJunk reports whether a file was left by an operating system or is a picture
// or a script: nothing that holds figures for us, and no reason to complain.
func isJunk(in *input) bool {
	base := path.Base(in.path)
	if strings.HasPrefix(in.path, "__MACOSX/") || strings.HasPrefix(base, "._") || base == ".DS_Store" || base == "Thumbs.db" {
		return true
	}
	for _, magic := range []string{"#!", "\x89PNG\r\n", "GIF8", "\xff\xd8\xff", "%PDF-"} {
		if bytes.HasPrefix(in.raw, []byte(magic)) {
			return true
		}
	}
	return false
}

// readUnknown accounts for a file that no format knows.
func readUnknown(in *input) output {
	if isJunk(in) {
		return output{state: bench.FileAttachment, messages: []bench.Message{{File: in.path, Text: "not a file of results"}}}
	}
	return refused(bench.Message{File: in.path, Text: "the file is of no known format: " + knownFormats()})
}

// knownFormats lists the formats for people.
func knownFormats() string {
	var names []string
	for _, f := range formats() {
		if f.name != formatEmpty {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}
