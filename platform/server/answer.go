package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plimsoll/platform/amount"
	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/posting"
	"plimsoll/platform/session"
)

const (
	statusRefused    = http.StatusConflict
	statusOverloaded = http.StatusServiceUnavailable
	// retryAfter is in seconds, the unit of the header.
	retryAfter = "1"
)

// ErrUnknownUser is what Login returns for a name it does not know.
var ErrUnknownUser = errors.New("no such user")

var (
	errNoSession = errors.New("log in first: POST /v1/sessions")
	errNotFound  = errors.New("not found")
	errBody      = errors.New("the body of the request did not come")
)

// answer is one response.
type answer struct {
	status int
	body   []byte
	header [2]string // one more header line
}

type failure struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Control *control `json:"control,omitempty"`
}

type control struct {
	ID    string `json:"id"`
	Items any    `json:"items,omitempty"`
}

// failed turns an error into what the client may know of it. Text of the database never passes.
func failed(err error) (answer, bool) {
	status, f, expected := classify(err)
	body, encodeErr := json.Marshal(map[string]failure{"error": f})
	if encodeErr != nil {
		body = fmt.Appendf(nil, `{"error":{"code":%q}}`, f.Code)
	}
	a := answer{status: status, body: body}
	if status == statusOverloaded {
		a.header = [2]string{"Retry-After", retryAfter}
	}
	return a, expected
}

func classify(err error) (status int, f failure, expected bool) {
	var invalid *document.Invalid
	var refusal *posting.Refusal
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &refusal):
		return statusRefused, failure{"refused", refusal.Message, &control{refusal.Control, refusal.Items}}, true
	case errors.As(err, &invalid):
		return http.StatusBadRequest, failure{Code: "invalid", Message: invalid.Error()}, true
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, failure{Code: "too_large", Message: fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)}, true
	case errors.Is(err, amount.ErrOverflow), database.IsOutOfRange(err):
		return http.StatusUnprocessableEntity, failure{Code: "overflow", Message: "a sum is larger than the books can hold"}, true
	case errors.Is(err, errBody):
		return http.StatusRequestTimeout, failure{Code: "incomplete", Message: err.Error()}, true
	case errors.Is(err, posting.ErrKeyReused):
		return http.StatusUnprocessableEntity, failure{Code: "key_reused", Message: posting.ErrKeyReused.Error()}, true
	case errors.Is(err, posting.ErrChanged):
		return http.StatusPreconditionFailed, failure{Code: "changed", Message: posting.ErrChanged.Error()}, true
	case errors.Is(err, errNoSession), errors.Is(err, ErrUnknownUser):
		return http.StatusUnauthorized, failure{Code: "unauthorized", Message: err.Error()}, true
	case errors.Is(err, errNotFound), errors.Is(err, posting.ErrUnknown):
		return http.StatusNotFound, failure{Code: "not_found", Message: errNotFound.Error()}, true
	case errors.Is(err, errOverloaded), errors.Is(err, session.ErrFull):
		return statusOverloaded, failure{Code: "overloaded", Message: err.Error()}, true
	}
	return classifyDatabase(err)
}

func classifyDatabase(err error) (int, failure, bool) {
	switch {
	case errors.Is(err, context.Canceled): // the client has gone
		return statusOverloaded, failure{Code: "cancelled", Message: "the request was given up"}, true
	case database.IsRetryable(err), database.IsUnavailable(err):
		return statusOverloaded, failure{Code: "unavailable", Message: "the database is busy or being restarted"}, false
	case database.IsStatementTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return statusOverloaded, failure{Code: "timeout", Message: "the operation took too long"}, false
	}
	return http.StatusInternalServerError, failure{Code: "internal", Message: "internal error; the worker's log says more"}, false
}

func (s *Server) write(w http.ResponseWriter, a answer) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if a.header[0] != "" {
		h.Set(a.header[0], a.header[1])
	}
	if len(a.body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	w.Write(a.body) // a client that has gone is no news
}

// printable tells whether a header's value is what it should be and nothing to be careful with.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e }) < 0
}
