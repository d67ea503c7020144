package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/session"
)

const (
	statusRefused    = http.StatusConflict
	statusOverloaded = http.StatusServiceUnavailable
	// retryAfter is in seconds, the unit of the header.
	retryAfter = "1"
)

// ErrUnknownUser is returned by Login for an unknown name.
var ErrUnknownUser = errors.New("no such user")

var (
	errNoSession = errors.New("log in first: POST /v1/sessions")
	// errWrongPassword does not reveal which users exist.
	errWrongPassword = errors.New("unknown user or wrong password")
	errFigures       = errors.New("the metrics require a token: Authorization: Bearer TOKEN")
	errNotFound      = errors.New("not found")
	errMethod        = errors.New("this path does not support the method; see the header Allow")
	errBody          = errors.New("the request's body did not arrive")
	errMediaType     = errors.New("the body must be JSON, with the header Content-Type: application/json")
)

// Codes of failures, which clients may rely on.
const (
	codeInvalid      = "invalid"
	codeUnauthorized = "unauthorized"
	codeLimited      = "limited"
	codeGuessing     = "wrong_passwords"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codeIncomplete   = "incomplete"
	codeMediaType    = "media_type"
	codeRefused      = "refused"
	codeChanged      = "changed"
	codeTooLarge     = "too_large"
	codeOverflow     = "overflow"
	codeKeyReused    = "key_reused"
	codeInternal     = "internal"
	codeOverloaded   = "overloaded"
	codeUnavailable  = "unavailable"
	codeTimeout      = "timeout"
	codeCancelled    = "cancelled"
	codeNoRoom       = "no_room"
	codeLocked       = "locked"
	codeUnknown      = "unknown"
)

// failures lists all of them; answers and API description are built from it.
var failures = []struct {
	code   string
	status int
	means  string
}{
	{codeInvalid, http.StatusBadRequest, "the request is not as described; the message names the field"},
	{codeUnauthorized, http.StatusUnauthorized, "no session: log in; or wrong user, password or token"},
	{codeLimited, http.StatusTooManyRequests, "too many log-ins or sessions from one address or user"},
	{codeGuessing, http.StatusTooManyRequests, "too many wrong passwords from one address"},
	{codeNotFound, http.StatusNotFound, "it does not exist, or it belongs to another organisation"},
	{codeMethod, http.StatusMethodNotAllowed, "the path does not support the method"},
	{codeIncomplete, http.StatusRequestTimeout, "the body did not arrive in time"},
	{codeRefused, statusRefused, "a business rule refused it; nothing was written"},
	{codeChanged, http.StatusPreconditionFailed, "the document was changed since it was read"},
	{codeTooLarge, http.StatusRequestEntityTooLarge, "the body is too large"},
	{codeMediaType, http.StatusUnsupportedMediaType, "the body was not sent as application/json"},
	{codeOverflow, http.StatusUnprocessableEntity, "a sum is larger than the books can hold"},
	{codeKeyReused, http.StatusUnprocessableEntity, "the idempotency key was used for another request"},
	{codeInternal, http.StatusInternalServerError, "an internal error; see the server's log"},
	{codeOverloaded, statusOverloaded, "more requests or sessions than the worker can handle"},
	{codeUnavailable, statusOverloaded, "the database is busy or being restarted"},
	{codeLocked, statusOverloaded, "another operation has locked what this one needs for too long; " +
		"`lock` names it, as far as it is known"},
	{codeUnknown, statusOverloaded, "the operation was committed, and the database crashed, was promoted or hung " +
		"before its log was flushed: repeat it with its idempotency key"},
	{codeTimeout, statusOverloaded, "the operation took too long"},
	{codeCancelled, statusOverloaded, "the client cancelled the request"},
	{codeNoRoom, http.StatusInsufficientStorage, "the worker cannot store more session data; the existing data stays"},
}

func statusOf(code string) int {
	for _, f := range failures {
		if f.code == code {
			return f.status
		}
	}
	return http.StatusInternalServerError
}

type failure struct {
	Code     string     `json:"code"`
	Message  string     `json:"message"`
	SQLState string     `json:"sqlstate,omitempty"` // of the database's error, whose text never passes
	Control  *control   `json:"control,omitempty"`
	Lock     *lockShown `json:"lock,omitempty"`

	holders    []any // of the lock, for the event log
	retryAfter string
}

type control struct {
	ID    string `json:"id"`
	Items any    `json:"items,omitempty"`
}

// failed is the answer for a failure.
func failed(f failure) answer {
	body, err := json.Marshal(map[string]failure{"error": f})
	if err != nil {
		body = fmt.Appendf(nil, `{"error":{"code":%q,"message":""}}`, f.Code)
	}
	a := answer{status: statusOf(f.Code), body: body}
	switch a.status {
	case statusOverloaded:
		a = a.withHeader("Retry-After", retryAfter)
	case http.StatusTooManyRequests:
		a = a.withHeader("Retry-After", f.retryAfter)
	case http.StatusUnauthorized:
		a = a.withHeader("WWW-Authenticate", "Bearer")
	}
	return a
}

// classify turns an error into what the client may see. Text of the database is never shown.
func classify(err error) (f failure, expected bool) {
	var invalid *document.Invalid
	var refusal *posting.Refusal
	var tooLarge *http.MaxBytesError
	var limit *limited
	switch {
	case errors.As(err, &limit):
		return failure{Code: limit.code, Message: limit.Error(), retryAfter: limit.retryAfter()}, true
	case errors.As(err, &refusal):
		return failure{Code: codeRefused, Message: refusal.Message, Control: &control{refusal.Control, refusal.Items}},
			true
	case errors.As(err, &invalid):
		return failure{Code: codeInvalid, Message: invalid.Error()}, true
	case errors.As(err, &tooLarge):
		return failure{Code: codeTooLarge, Message: fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)},
			true
	case errors.Is(err, session.ErrDataFull):
		return failure{Code: codeTooLarge, Message: session.ErrDataFull.Error()}, true
	case errors.Is(err, session.ErrNoRoom):
		return failure{Code: codeNoRoom, Message: session.ErrNoRoom.Error()}, true
	case errors.Is(err, amount.ErrOverflow), database.IsOutOfRange(err):
		return failure{Code: codeOverflow, Message: "a sum is larger than the books can hold"}, true
	case errors.Is(err, errBody):
		return failure{Code: codeIncomplete, Message: err.Error()}, true
	case errors.Is(err, errMediaType):
		return failure{Code: codeMediaType, Message: err.Error()}, true
	case errors.Is(err, posting.ErrKeyReused):
		return failure{Code: codeKeyReused, Message: posting.ErrKeyReused.Error()}, true
	case errors.Is(err, posting.ErrChanged):
		return failure{Code: codeChanged, Message: posting.ErrChanged.Error()}, true
	case errors.Is(err, errNoSession), errors.Is(err, ErrUnknownUser), errors.Is(err, errWrongPassword),
		errors.Is(err, errFigures):
		return failure{Code: codeUnauthorized, Message: err.Error()}, true
	case errors.Is(err, errMethod):
		return failure{Code: codeMethod, Message: err.Error()}, true
	case errors.Is(err, errNotFound), errors.Is(err, posting.ErrUnknown):
		return failure{Code: codeNotFound, Message: errNotFound.Error()}, true
	case errors.Is(err, database.ErrUnknown):
		return failure{Code: codeUnknown, Message: database.ErrUnknown.Error()}, false
	case errors.Is(err, errOverloaded), errors.Is(err, errFlushesLag), errors.Is(err, session.ErrFull):
		return failure{Code: codeOverloaded, Message: err.Error()}, true
	}
	f, expected = classifyDatabase(err)
	f.SQLState = database.State(err)
	return f, expected
}

func classifyDatabase(err error) (failure, bool) {
	switch {
	case errors.Is(err, context.Canceled): // the client has gone
		return failure{Code: codeCancelled, Message: "the request was cancelled"}, true
	case database.IsLockTimeout(err):
		return failure{Code: codeLocked, Message: "another operation has locked what this one needs for too long; " +
			"try again"}, true
	case database.IsRetryable(err), database.IsUnavailable(err):
		return failure{Code: codeUnavailable, Message: "the database is busy or being restarted"}, false
	case database.IsDiskFull(err):
		return failure{Code: codeInternal, Message: "the disk of the database is full"}, false
	case database.IsStatementTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return failure{Code: codeTimeout, Message: "the operation took too long"}, false
	}
	return failure{Code: codeInternal, Message: "internal error; see the worker's log"}, false
}
