package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"plimsoll/ground/problem"
)

const (
	// answerMax bounds what is read of an answer.
	answerMax = 64 << 20
	// answerKept bounds the buffers kept for the next answer.
	answerKept = 1 << 20
	// attempts for a posting whose connection was lost: the key makes the second one harmless.
	attempts = 2
	// operationHeader tells the worker which key operation a request belongs to. Each request has one, so that the
	// worker can tell them from those of other clients.
	operationHeader = "Plimsoll-Operation"
	// preparation is the name of what belongs to no operation: log-in, and what is read or made before a load.
	preparation = "preparation"
)

// address of a worker, parsed once.
type address struct{ scheme, host string }

func parseAddress(base string) (address, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" {
		return address{}, fmt.Errorf("%q is not the address of a worker, such as http://127.0.0.1:8080", base)
	}
	return address{u.Scheme, u.Host}, nil
}

// response is an answer read to its end, so that its connection is free again.
type response struct {
	status int
	header http.Header
	body   *bytes.Buffer
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (r *response) free() {
	if r.body.Cap() <= answerKept {
		r.body.Reset()
		buffers.Put(r.body)
	}
}

// send makes a request; the caller frees the response.
func (c *Client) send(ctx context.Context, s *Session, method, path, query string, body []byte) (*response, error) {
	return c.sendVersion(ctx, s, method, path, query, body, 0)
}

// sendVersion is send for a change of a version that was read; zero: any version.
func (c *Client) sendVersion(ctx context.Context, s *Session, method, path, query string, body []byte,
	version int64) (*response, error) {
	header := make(http.Header, 5)
	if s.token != nil {
		header["Authorization"] = s.token
	}
	operation, known := ctx.Value(operationKey{}).(string)
	if !known {
		operation = preparation
	}
	header[operationHeader] = []string{operation}
	key := c.newKey(method, path)
	if key.keyed() {
		header["Idempotency-Key"] = []string{c.run + "-" + key.String()}
	}
	if version > 0 {
		header["If-Match"] = []string{strconv.Quote(strconv.FormatInt(version, 10))}
	}
	r, err := c.attempt(ctx, s, method, path, query, body, header)
	resent := false
	for n := 1; err != nil && key.keyed() && n < attempts && ctx.Err() == nil; n++ {
		resent = true
		if c.options.Resent != nil {
			c.options.Resent(ctx)
		}
		r, err = c.attempt(ctx, s, method, path, query, body, header)
	}
	if key.keyed() {
		c.written.set(key, fateOf(resent, r, err))
	}
	return r, err
}

func (c *Client) attempt(ctx context.Context, s *Session, method, path, query string, body []byte,
	header http.Header) (*response, error) {
	request := (&http.Request{
		Method: method, URL: &url.URL{Scheme: s.address.scheme, Host: s.address.host, Path: path, RawQuery: query},
		Host:   s.address.host,
		Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if body != nil {
		header["Content-Type"] = jsonType
		request.ContentLength = int64(len(body))
		request.Body = io.NopCloser(bytes.NewReader(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	answered, err := c.options.Transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer answered.Body.Close()
	r := &response{answered.StatusCode, answered.Header, buffers.Get().(*bytes.Buffer)}
	if _, err := r.body.ReadFrom(io.LimitReader(answered.Body, answerMax)); err != nil {
		r.free()
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return r, nil
}

const passwordHint = "use the password that was set with 'plimsoll passwd --all': --password-file"

var jsonType = []string{"application/json"}

// outcome evaluates the status; the error says what the server said.
func (r *response) outcome() (Outcome, error) {
	switch {
	case r.status < 300:
		return OK, nil
	case r.status == http.StatusUnauthorized:
		return Failed, ErrSession
	}
	var body struct {
		Error struct {
			Code, Message, SQLState string
			Control                 struct{ ID string }
		}
	}
	if err := json.Unmarshal(r.body.Bytes(), &body); err != nil {
		return Failed, fmt.Errorf("status %d without an explanation", r.status)
	}
	switch {
	case body.Error.Control.ID == "closed": // no operation writes into a closed month on purpose
		return Failed, errors.New(body.Error.Message)
	case r.status == http.StatusConflict && body.Error.Code == "refused":
		return Refused, nil
	case r.status == http.StatusServiceUnavailable:
		seconds, _ := strconv.Atoi(r.header.Get("Retry-After"))
		return Overloaded, &Overload{body.Error.Code, time.Duration(seconds) * time.Second, body.Error.SQLState}
	}
	err := fmt.Errorf("status %d: %s: %s%s", r.status, body.Error.Code, body.Error.Message,
		withState(body.Error.SQLState))
	switch {
	case body.Error.Code == "wrong_passwords":
		err = problem.WithHint(err, passwordHint)
	case r.status == http.StatusTooManyRequests:
		err = problem.WithHint(err, "raise --address-sessions, --address-logins and --user-sessions of "+
			"'plimsoll serve' for a load generator")
	}
	return Failed, err
}

// withState appends the SQLSTATE to an error's text; reports find it there.
func withState(state string) string {
	if state == "" {
		return ""
	}
	return " (SQLSTATE " + state + ")"
}

// fetch reads a JSON answer that must exist.
func (c *Client) fetch(ctx context.Context, s *Session, path, query string, into any) error {
	r, err := c.send(ctx, s, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	defer r.free()
	if _, err := r.outcome(); err != nil {
		return err
	}
	return json.Unmarshal(r.body.Bytes(), into)
}

func (c *Client) create(ctx context.Context, s *Session, user string, into any) error {
	login := map[string]string{"user": user}
	if c.options.Password != "" {
		login["password"] = c.options.Password
	}
	body, err := json.Marshal(login)
	if err != nil {
		return err
	}
	r, err := c.send(ctx, s, http.MethodPost, "/v1/sessions", "", body)
	if err != nil {
		return err
	}
	defer r.free()
	switch _, err := r.outcome(); {
	case errors.Is(err, ErrSession):
		return problem.WithHint(errors.New("unknown user or wrong password"), passwordHint)
	case err != nil:
		return err
	}
	return json.Unmarshal(r.body.Bytes(), into)
}
