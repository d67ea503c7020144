package trace

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/ground/human"
)

// BodyKept is how many bytes of a body are kept: enough to see what it is.
const BodyKept = 4000

// Request and what came back.
type Request struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers http.Header `json:"headers,omitempty"`
	Body    string      `json:"body,omitempty"` // its beginning
	Bytes   int64       `json:"bytes"`          // of the body
	Answer  *Answer     `json:"answer,omitempty"`
	Error   string      `json:"error,omitempty"` // why there is no answer
	MS      float64     `json:"ms"`              // until the answer was read
}

// Answer to a request.
type Answer struct {
	Status  int         `json:"status"`
	Version string      `json:"version"`
	Headers http.Header `json:"headers,omitempty"`
	Body    string      `json:"body,omitempty"`
	Bytes   int64       `json:"bytes"`
}

// Transport sends requests by another one and records those whose context has a trace.
func Transport(by http.RoundTripper) http.RoundTripper { return transport{by} }

type transport struct{ http.RoundTripper }

// RoundTrip sends a request and records it.
func (by transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t := Of(r.Context())
	if t == nil {
		return by.RoundTripper.RoundTrip(r)
	}
	sent := &Request{Method: r.Method, URL: r.URL.String(), Headers: r.Header.Clone()}
	if err := sent.readBody(r); err != nil {
		return nil, err
	}
	t.add(Event{Request: sent})
	began := time.Now()
	answer, err := by.RoundTripper.RoundTrip(r)
	sent.MS = human.MS(time.Since(began))
	if err != nil {
		sent.Error = err.Error()
		return nil, err
	}
	sent.Answer = &Answer{Status: answer.StatusCode, Version: answer.Proto, Headers: answer.Header.Clone()}
	answer.Body = &copied{ReadCloser: answer.Body, request: sent, began: began}
	return answer, nil
}

// readBody keeps the beginning of a request's body. It is read from a copy, if the request gives one; else it is read
// whole and put back.
func (s *Request) readBody(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	open := r.GetBody
	if open == nil {
		all, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("read the request: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(all))
		open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(all)), nil }
	}
	body, err := open()
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	defer body.Close()
	var begin beginning
	if _, err := io.Copy(&begin, body); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	s.Body, s.Bytes = begin.text(r.Header), begin.bytes
	return nil
}

// copied keeps the beginning of a body while somebody reads it.
type copied struct {
	io.ReadCloser
	request *Request
	began   time.Time
	begin   beginning
}

func (c *copied) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	_, _ = c.begin.Write(into[:n])
	answer := c.request.Answer
	answer.Body, answer.Bytes, c.request.MS = c.begin.text(answer.Headers), c.begin.bytes,
		human.MS(time.Since(c.began))
	return n, err
}

// beginning of what is written to it.
type beginning struct {
	kept  []byte
	bytes int64
}

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), BodyKept-len(b.kept))]...)
	b.bytes += int64(len(p))
	return len(p), nil
}

// text of a body; of one that is no text only what it is.
func (b *beginning) text(headers http.Header) string {
	kept := b.kept
	for cut := 0; cut < utf8.UTFMax && len(kept) > 0 && !utf8.Valid(kept); cut++ {
		kept = kept[:len(kept)-1] // the end may have cut a character in two
	}
	if utf8.Valid(kept) && !bytes.ContainsRune(kept, 0) && (len(kept) > 0 || len(b.kept) == 0) {
		return string(kept)
	}
	kind, _, err := mime.ParseMediaType(headers.Get("Content-Type"))
	if err != nil {
		kind = "no text"
	}
	if encoding := headers.Get("Content-Encoding"); encoding != "" {
		kind += ", " + strings.ToLower(encoding)
	}
	return "(" + kind + ")"
}
