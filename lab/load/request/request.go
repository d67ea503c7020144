// Package request owns key operations written as HTTP requests. Address, headers and body are templates over the user's
// variables; the answer is checked and may set variables for later requests.
package request

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

// Request is one HTTP request of a key operation.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"` // absolute, a path under the base address, or a variable with either
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// Form is sent urlencoded instead of a body, Multipart with the files as multipart/form-data. A field may have
	// several values.
	Form      map[string][]string `json:"form,omitempty"`
	Multipart map[string][]string `json:"multipart,omitempty"`
	Files     map[string]File     `json:"files,omitempty"` // by field
	// BodyFile, if not nil, is the body.
	BodyFile *File `json:"body_file,omitempty"`
	// Expect are the statuses of a good answer; none: 200 to 299. Refused are those of a refusal by a control, a valid
	// answer. A redirect that is among them is not followed.
	Expect  []int `json:"expect,omitempty"`
	Refused []int `json:"refused,omitempty"`
	// Contains must occur in the body of a good answer.
	Contains string `json:"contains,omitempty"`
	// Check the rest of a good answer.
	Check Check `json:"check,omitzero"`
	// Extract sets variables from a good answer.
	Extract map[string]Source `json:"extract,omitempty"`
	// Resources are loaded after a good answer, several at once, as a browser loads those of a page.
	Resources []string `json:"resources,omitempty"`
}

// User is who sends a request.
type User struct {
	Variables map[string]script.Value
	Transport http.RoundTripper
	Jar       http.CookieJar // nil: keeps no cookies
	Base      string         // address of the server
	// Last answer's address, where addresses begin that are neither absolute nor a path; nil: the base.
	Last *url.URL
	// Page that the user sees, which requests name as their Referer; nil: none was shown yet.
	Page *url.URL
}

// overloaded are the statuses that say that a server is too busy.
var overloaded = []int{http.StatusTooManyRequests, http.StatusServiceUnavailable}

// Do sends the request of a user, and sets the variables that it extracts.
func (r *Request) Do(ctx context.Context, s *Settings, u *User) (tally.Outcome, error) {
	began := time.Now()
	request, err := r.build(ctx, s, u)
	if err != nil {
		return tally.Failed, err
	}
	response, err := r.client(s, u).Do(request)
	if err != nil {
		return tally.Failed, plain(err)
	}
	a, err := read(response, u.Jar)
	if err != nil {
		return tally.Failed, err
	}
	if u.Last = a.Request.URL; isPage(a) {
		u.Page = u.Last
	}
	if outcome, err := r.judge(a, u); outcome != tally.OK {
		return outcome, err
	}
	if err := r.load(ctx, s, u); err != nil {
		return tally.Failed, err
	}
	return outcomeOf(r.Check.inTime(time.Since(began)))
}

func outcomeOf(err error) (tally.Outcome, error) {
	if err != nil {
		return tally.Failed, err
	}
	return tally.OK, nil
}

// plain drops the address from a client's error. It differs between users, and equal errors are counted together.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (r *Request) build(ctx context.Context, s *Settings, u *User) (*http.Request, error) {
	address, err := u.address(r.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, nil)
	if err != nil {
		return nil, err
	}
	for name, template := range r.Headers {
		value, err := expand(template, u.Variables, oneLine)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		setHeader(request, name, value)
	}
	if s.addTo(request, u); request.Header.Values("Referer") == nil {
		setReferer(request, u.Page)
	}
	return request, r.addContent(request, u.Variables)
}

func setHeader(request *http.Request, name, value string) {
	if request.Header.Set(name, value); strings.EqualFold(name, "Host") {
		request.Host = value
	}
}

// addTo adds headers and auth of all requests to one that has none of its own.
func (s *Settings) addTo(request *http.Request, u *User) {
	for name, template := range s.Headers {
		if value, err := expand(template, u.Variables, oneLine); err == nil && request.Header.Values(name) == nil {
			setHeader(request, name, value)
		}
	}
	if s.Auth == nil || request.Header.Values("Authorization") != nil || !u.trusts(request.URL) {
		return
	}
	if value, err := expand(s.Auth.Basic, u.Variables, asIs); err == nil && s.Auth.Basic != "" {
		name, password, _ := strings.Cut(value, ":")
		request.SetBasicAuth(name, password)
	}
	if value, err := expand(s.Auth.Bearer, u.Variables, oneLine); err == nil && s.Auth.Bearer != "" {
		request.Header.Set("Authorization", "Bearer "+value)
	}
}

// trusts says whether an address is that of the user's own server.
func (u *User) trusts(to *url.URL) bool {
	base, err := url.Parse(u.Base)
	return u.Base == "" || err == nil && sameOrigin(base, to)
}

// address that a template means.
func (u *User) address(template string) (string, error) {
	text, err := expandURL(template, u.Variables)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(template, "/") {
		return strings.TrimRight(u.Base, "/") + text, nil
	}
	to, err := url.Parse(text)
	if err != nil || to.IsAbs() {
		return text, err
	}
	last := u.Last // its link
	if last == nil {
		if last, err = url.Parse(u.Base); err != nil {
			return "", err
		}
	}
	if to = last.ResolveReference(to); to.Host == "" {
		return "", fmt.Errorf("%q is no address, and there is none that it could belong to", text)
	}
	return to.String(), nil
}

func (r *Request) judge(a *answer, u *User) (tally.Outcome, error) {
	status := a.StatusCode
	switch {
	case slices.Contains(r.Refused, status):
		return tally.Refused, nil
	case len(r.Expect) > 0 && !slices.Contains(r.Expect, status) ||
		len(r.Expect) == 0 && (status < 200 || status > 299):
		outcome := tally.Failed
		if slices.Contains(overloaded, status) {
			outcome = tally.Overload
		}
		_ = a.decode() // of what cannot be read the beginning is shown as it is
		return outcome, unexpected(a.Response, a.body)
	case r.Contains == "" && r.Check.none() && len(r.Extract) == 0:
		return tally.OK, nil
	}
	if err := a.decode(); err != nil {
		return tally.Failed, err
	}
	if !bytes.Contains(a.body, []byte(r.Contains)) {
		return tally.Failed, fmt.Errorf("the answer does not contain %q", r.Contains)
	}
	if err := r.Check.answer(a, u.Variables); err != nil {
		return tally.Failed, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extract)) { // the same failure for all users
		value, err := r.Extract[name].in(a)
		if err != nil {
			return tally.Failed, err
		}
		u.Variables[name] = value
	}
	return tally.OK, nil
}

// discard the rest of an answer, so that its connection is free again.
func discard(response *http.Response) {
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
}
