package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/relqps/relqps/api/client"
	"github.com/relqps/relqps/internal/bench"
)

// uploadTime bounds receiving and storing one upload. The server's own limit is
// for pages; a large archive over a slow line takes longer.
const uploadTime = 10 * time.Minute

// registerUploads adds the upload routes. They are plain handlers, documented
// in the same OpenAPI: huma would hold a raw body in memory twice.
func (s *server) registerUploads(r chi.Router, a huma.API) {
	registry := a.OpenAPI().Components.Schemas
	query := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Required: name == "filename", Schema: &huma.Schema{Type: huma.TypeString}}
	}
	problem := &huma.Response{Description: "problem", Content: map[string]*huma.MediaType{
		"application/problem+json": {Schema: registry.Schema(reflect.TypeFor[huma.ErrorModel](), true, "Error")},
	}}
	receipt := &huma.Response{Description: "what was stored", Content: map[string]*huma.MediaType{
		"application/json": {Schema: registry.Schema(reflect.TypeFor[client.ReceiptBody](), true, "Receipt")},
	}}
	token := []map[string][]string{{"token": {}}}
	var params []*huma.Param
	for _, name := range uploadKeys {
		params = append(params, query(name, uploadKeyAbout[name]))
	}
	a.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "upload", Method: http.MethodPost, Path: "/api/v1/uploads", Summary: "Store results",
		Description: "The body is the file's bytes: a log, a table or an archive. The context says what the file leaves out; it never overrides what the file says.",
		Parameters:  params, Security: token,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}},
		Responses: map[string]*huma.Response{
			"201": receipt, "200": {Description: "these bytes were there already with the same context; or a dry run", Content: receipt.Content},
			"400": problem, "401": problem, "403": problem, "409": problem, "413": problem, "503": problem,
		},
	})
	r.Post("/api/v1/uploads", s.upload)

	id := &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeInteger}}
	a.OpenAPI().AddOperation(&huma.Operation{
		OperationID: "upload-file", Method: http.MethodGet, Path: "/api/v1/uploads/{id}/file", Summary: "The original bytes of an upload",
		Parameters: []*huma.Param{id},
		Responses:  map[string]*huma.Response{"200": {Description: "bytes", Content: map[string]*huma.MediaType{"application/octet-stream": {}}}, "404": problem},
	})
	r.Get("/api/v1/uploads/{id}/file", s.uploadFile)

	huma.Register(a, huma.Operation{
		OperationID: "withdraw", Method: http.MethodPost, Path: "/api/v1/uploads/{id}/withdraw", Summary: "Withdraw an upload",
		Description: "Its results stop counting and are kept with the reason.", Security: token,
		DefaultStatus: http.StatusNoContent, Errors: []int{400, 401, 403, 404, 409},
		Middlewares: s.require(bench.TokenAdmin),
	}, s.withdraw)
}

// uploadKeys are the query keys of POST /api/v1/uploads.
var uploadKeys = []string{"filename", "system", "suite", "server", "workload", "version", "versions", "compiler", "config", "clients", "dry_run"}

var uploadKeyAbout = map[string]string{
	"filename": "the file's name; may carry folders, which state context as result directories do",
	"versions": "comma-separated columns of a matrix file without header",
	"clients":  "a whole number",
	"dry_run":  "true: say what would be stored, store nothing",
}

// maxValue bounds a value in the query of an upload, in bytes.
const maxValue = 10_000

// parseUpload reads the query of an upload, which [server.checkQuery] has found
// to be text. The filename loses leading slashes and steps upwards.
func parseUpload(q url.Values) (u bench.Upload, err error) {
	for key := range q {
		if !slices.Contains(uploadKeys, key) {
			return u, bench.Errorf(bench.KindInvalid, "unknown query key %q; known are %s", key, strings.Join(uploadKeys, ", "))
		}
		if len(q[key]) > 1 {
			return u, bench.Errorf(bench.KindInvalid, "%s is given %d times", key, len(q[key]))
		}
		if len(q.Get(key)) > maxValue {
			return u, bench.Errorf(bench.KindInvalid, "%s is longer than %d bytes", key, maxValue)
		}
	}
	u.Filename = strings.TrimPrefix(path.Clean("/"+q.Get("filename")), "/")
	if u.Filename == "" {
		return u, bench.Errorf(bench.KindInvalid, "filename is missing")
	}
	u.Context = bench.Context{
		System: q.Get("system"), Suite: q.Get("suite"), Server: q.Get("server"), Workload: q.Get("workload"),
		Version: q.Get("version"), Compiler: q.Get("compiler"), Config: q.Get("config"),
	}.Normalized()
	if v := q.Get("versions"); v != "" {
		u.Context.Versions = strings.Split(v, ",")
	}
	if c := q.Get("clients"); c != "" {
		n, convErr := strconv.Atoi(c)
		if convErr != nil || n < 1 || n > maxClients {
			return u, bench.Errorf(bench.KindInvalid, "clients is not a whole number above 0: %q", c)
		}
		u.Context.Clients = n
	}
	switch q.Get("dry_run") {
	case "", "false", "0":
	case "true", "1":
		u.DryRun = true
	default:
		return u, bench.Errorf(bench.KindInvalid, "dry_run is true or false, not %q", q.Get("dry_run"))
	}
	return u, nil
}

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	who, err := s.identify(r.Context(), r.Header.Get("Authorization"), bench.TokenRunner)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	u, err := parseUpload(r.URL.Query())
	if err != nil {
		s.problem(w, r, err)
		return
	}
	// Pages have short limits; an upload may take its time. A server without
	// deadline support (in tests) needs none.
	deadline := time.Now().Add(uploadTime)
	control := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{control.SetReadDeadline, control.SetWriteDeadline} {
		if err := set(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			s.problem(w, r, err)
			return
		}
	}
	ctx, cancel := context.WithDeadline(r.Context(), deadline)
	defer cancel()

	u.Actor = who.Name
	var tooLarge *http.MaxBytesError
	if r.ContentLength <= s.MaxBody {
		u.Bytes, err = io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBody))
	}
	switch {
	case r.ContentLength > s.MaxBody, errors.As(err, &tooLarge):
		s.problem(w, r, bench.Errorf(bench.KindTooLarge, "the upload is larger than %d bytes; compress it, or send its parts", s.MaxBody))
		return
	case cutOff(ctx.Err()):
		s.problem(w, r, ctx.Err())
		return
	case err != nil:
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "the upload broke off"))
		return
	case len(u.Bytes) == 0:
		s.problem(w, r, bench.Errorf(bench.KindInvalid, "the upload is empty: send the file's bytes as the body"))
		return
	}
	sum := sha256.Sum256(u.Bytes)
	u.SHA256 = hex.EncodeToString(sum[:])

	receipt, err := s.Ingester.Submit(ctx, u)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	body, err := json.Marshal(client.NewReceiptBody(receipt, u.DryRun))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if receipt.Duplicate || u.DryRun {
		w.WriteHeader(http.StatusOK)
	} else {
		w.WriteHeader(http.StatusCreated)
	}
	if _, err := w.Write(body); err != nil {
		s.Logger.Info("client went away", "path", r.URL.Path, "error", err)
	}
}

// uploadFile gives the original bytes, always as a download: they are
// somebody's and must never run as a page of ours.
func (s *server) uploadFile(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		s.problem(w, r, bench.Errorf(bench.KindNotFound, "no such upload"))
		return
	}
	filename, data, err := s.Store.UploadBytes(r.Context(), id)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(filename)}))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if _, err := w.Write(data); err != nil {
		s.Logger.Info("client went away", "path", r.URL.Path, "error", err)
	}
}

type withdrawInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Reason string `json:"reason" minLength:"1" maxLength:"2000"`
	}
}

func (s *server) withdraw(ctx context.Context, in *withdrawInput) (*struct{}, error) {
	if err := s.Store.WithdrawUpload(ctx, in.ID, in.Body.Reason, actor(ctx), s.Detect); err != nil {
		return nil, s.fail(ctx, err)
	}
	return nil, nil
}
