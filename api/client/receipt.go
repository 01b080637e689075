package client

import "github.com/relqps/relqps/internal/bench"

// ReceiptBody is the JSON answer to an upload, shared by server and client.
type ReceiptBody struct {
	Upload       UploadBody        `json:"upload"`
	Format       string            `json:"format"`
	Runs         []bench.RunRef    `json:"runs"`
	Configs      []bench.ConfigRef `json:"configs" doc:"option sets that the upload holds"`
	Results      int               `json:"results" doc:"results newly stored"`
	AlreadyThere int               `json:"already_there" doc:"rows whose measurement was known"`
	Merged       int               `json:"merged" doc:"those among them that added figures"`
	Values       int               `json:"values" doc:"figures newly stored"`
	Files        []FileBody        `json:"files"`
	Refused      []bench.Message   `json:"refused"`
	Checks       []bench.Check     `json:"checks"`
	Warnings     []bench.Message   `json:"warnings"`
	DryRun       bool              `json:"dry_run,omitempty"`
}

// UploadBody names an upload.
type UploadBody struct {
	ID        int64  `json:"id"`
	SHA256    string `json:"sha256"`
	Duplicate bool   `json:"duplicate" doc:"these bytes were there with the same context"`
}

// FileBody says what became of one file of an upload.
type FileBody struct {
	Path     string          `json:"path"`
	Format   string          `json:"format"`
	State    bench.FileState `json:"state" enum:"taken,refused,attachment"`
	Size     int64           `json:"size"`
	SHA256   string          `json:"sha256"`
	Messages []bench.Message `json:"messages"`
}

// NewReceiptBody gives the wire form of a receipt; lists are never null.
func NewReceiptBody(r bench.Receipt, dryRun bool) ReceiptBody {
	b := ReceiptBody{
		Upload: UploadBody{r.UploadID, r.SHA256, r.Duplicate}, Format: r.Format, Runs: notNil(r.Runs), Configs: notNil(r.Configs),
		Results: r.Results, AlreadyThere: r.AlreadyThere, Merged: r.Merged, Values: r.Values,
		Refused: notNil(r.Refused), Checks: notNil(r.Checks), Warnings: notNil(r.Warnings), Files: []FileBody{}, DryRun: dryRun,
	}
	for i := range b.Checks {
		b.Checks[i].Messages = notNil(b.Checks[i].Messages)
	}
	for _, f := range r.Files {
		b.Files = append(b.Files, FileBody{f.Path, f.Format, f.State, f.Size, f.SHA256, notNil(f.Messages)})
	}
	return b
}

// Receipt gives the receipt that a wire form stands for.
func (b ReceiptBody) Receipt() bench.Receipt {
	r := bench.Receipt{
		UploadID: b.Upload.ID, SHA256: b.Upload.SHA256, Duplicate: b.Upload.Duplicate, Format: b.Format, Runs: b.Runs, Configs: b.Configs,
		Results: b.Results, AlreadyThere: b.AlreadyThere, Merged: b.Merged, Values: b.Values,
		Refused: b.Refused, Checks: b.Checks, Warnings: b.Warnings,
	}
	for _, f := range b.Files {
		r.Files = append(r.Files, bench.File{Path: f.Path, Format: f.Format, State: f.State, Size: f.Size, SHA256: f.SHA256, Messages: f.Messages})
	}
	return r
}

// notNil gives [] in JSON where there is nothing.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
