// Package request owns key operations written as HTTP requests. Method, address, headers and body are templates over
// the user's variables; the answer is checked and may set variables for later operations.
package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

// bodyMax bounds how much of an answer is read.
const bodyMax = 64 << 20

// Request is one HTTP request of a key operation.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"` // absolute, or a path under the base address
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// Expect are the statuses of a good answer; none: 200 to 299. Refused are those of a refusal by a control, a valid
	// answer.
	Expect  []int `json:"expect,omitempty"`
	Refused []int `json:"refused,omitempty"`
	// Contains must occur in the body of a good answer.
	Contains string `json:"contains,omitempty"`
	// Extract sets variables from the JSON of a good answer: name to path.
	Extract map[string]Path `json:"extract,omitempty"`
}

// overloaded are the statuses that say that a server is too busy.
var overloaded = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}

// Do sends the request with the user's variables, and sets those that it extracts.
func (r *Request) Do(ctx context.Context, transport http.RoundTripper, base string,
	variables map[string]script.Value) (tally.Outcome, error) {
	request, err := r.build(ctx, base, variables)
	if err != nil {
		return tally.Failed, err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return tally.Failed, plain(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, bodyMax))
	if err != nil {
		return tally.Failed, fmt.Errorf("read answer: %w", err)
	}
	return r.judge(answer, body, variables)
}

// plain drops the address from a client's error. It differs between users, and equal errors are counted together.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (r *Request) build(ctx context.Context, base string, variables map[string]script.Value) (*http.Request, error) {
	address, err := expand(r.URL, variables, url.QueryEscape)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if strings.HasPrefix(address, "/") {
		address = strings.TrimRight(base, "/") + address
	}
	body, err := expand(r.Body, variables, inJSON)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, reader)
	if err != nil {
		return nil, err
	}
	for name, template := range r.Headers {
		value, err := expand(template, variables, oneLine)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		if request.Header.Set(name, value); strings.EqualFold(name, "Host") {
			request.Host = value
		}
	}
	if body != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

func (r *Request) judge(answer *http.Response, body []byte, variables map[string]script.Value) (tally.Outcome, error) {
	status := answer.StatusCode
	switch {
	case slices.Contains(r.Refused, status):
		return tally.Refused, nil
	case len(r.Expect) > 0 && !slices.Contains(r.Expect, status) ||
		len(r.Expect) == 0 && (status < 200 || status > 299):
		outcome := tally.Failed
		if slices.Contains(overloaded, status) {
			outcome = tally.Overload
		}
		return outcome, unexpected(answer, body)
	case !bytes.Contains(body, []byte(r.Contains)):
		return tally.Failed, fmt.Errorf("the answer does not contain %q", r.Contains)
	}
	if len(r.Extract) == 0 {
		return tally.OK, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return tally.Failed, fmt.Errorf("the answer is not JSON: %w", err)
	}
	for name, path := range r.Extract {
		value, err := path.In(tree)
		if err != nil {
			return tally.Failed, err
		}
		variables[name] = value
	}
	return tally.OK, nil
}
