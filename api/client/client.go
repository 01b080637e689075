// Package client speaks the HTTP API: the runner and ingest --url hand their
// results to a server with it.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/relqps/relqps/internal/bench"
)

// Client talks to one server.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// answerLimit bounds what is read of an answer.
const answerLimit = 32 << 20

// timeout bounds one request; storing a large archive takes its time.
const timeout = 10 * time.Minute

// askFirst is the size from which an upload waits for the server's word before
// it is sent: with an old token, or too large, it need not travel.
const askFirst = 256 << 10

// New makes a client of the server at address (http://host:port, with or
// without a path in front of /api). token may be "" for reading.
func New(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, bench.Errorf(bench.KindInvalid, "not the address of a server: %q", address)
	}
	return &Client{base: u, token: token, http: &http.Client{Timeout: timeout}}, nil
}

// Submit uploads bytes with their context. A refusal comes back as a
// [bench.Error] with the server's places; a server that is away or overloaded
// as one of kind unavailable, after which trying again loses nothing.
func (c *Client) Submit(ctx context.Context, u bench.Upload) (bench.Receipt, error) {
	q := url.Values{"filename": {u.Filename}}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set("system", u.Context.System)
	set("suite", u.Context.Suite)
	set("server", u.Context.Server)
	set("workload", u.Context.Workload)
	set("version", u.Context.Version)
	set("versions", strings.Join(u.Context.Versions, ","))
	set("compiler", u.Context.Compiler)
	set("config", u.Context.Config)
	if u.Context.Clients > 0 {
		q.Set("clients", strconv.Itoa(u.Context.Clients))
	}
	if u.DryRun {
		q.Set("dry_run", "true")
	}
	address := c.base.JoinPath("api/v1/uploads")
	address.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(u.Bytes))
	if err != nil {
		return bench.Receipt{}, err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	if len(u.Bytes) > askFirst {
		req.Header.Set("Expect", "100-continue")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return bench.Receipt{}, &bench.Error{Kind: bench.KindUnavailable, Message: "the server does not answer", Err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return bench.Receipt{}, &bench.Error{Kind: bench.KindUnavailable, Message: "the server's answer broke off", Err: err}
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return bench.Receipt{}, problemError(resp.StatusCode, body)
	}
	var receipt ReceiptBody
	if err := json.Unmarshal(body, &receipt); err != nil {
		return bench.Receipt{}, &bench.Error{Kind: bench.KindInvalid, Message: "the address answers, but not as a relqps server does", Err: err}
	}
	return receipt.Receipt(), nil
}

// problemError rebuilds the error that a problem document stands for.
func problemError(status int, body []byte) error {
	var p struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Errors []struct {
			Location string `json:"location"`
			Message  string `json:"message"`
		} `json:"errors"`
	}
	e := &bench.Error{Kind: kindOf(status)}
	if err := json.Unmarshal(body, &p); err != nil || p.Title+p.Detail == "" {
		e.Message = "the server answered " + strconv.Itoa(status) + " " + http.StatusText(status)
		return e
	}
	e.Message = p.Detail
	if e.Message == "" {
		e.Message = p.Title
	}
	for _, x := range p.Errors {
		m := bench.Message{File: x.Location, Text: x.Message}
		if file, line, ok := cutLine(x.Location); ok {
			m.File, m.Line = file, line
		}
		e.Places = append(e.Places, m)
	}
	return e
}

// cutLine splits file:line.
func cutLine(location string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(location, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(location[i+1:])
	return location[:i], n, err == nil && n > 0
}

func kindOf(status int) bench.Kind {
	switch status {
	case http.StatusBadRequest:
		return bench.KindInvalid
	case http.StatusNotFound:
		return bench.KindNotFound
	case http.StatusConflict:
		return bench.KindConflict
	case http.StatusUnauthorized:
		return bench.KindUnauthorized
	case http.StatusForbidden:
		return bench.KindForbidden
	case http.StatusRequestEntityTooLarge:
		return bench.KindTooLarge
	}
	// 5xx, and what proxies answer: the upload may be tried again.
	return bench.KindUnavailable
}
