package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"plimsoll/platform/books/document"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/session"
)

// What a session keeps: clients store the state of their forms, operations store the filters and rows of the last lists
// and the last documents used. An operation never fails when this cannot be stored.
const (
	platformKeys = "platform." // written by operations; clients can only read them
	keyRecent    = platformKeys + "recent"
	recentMax    = 20
	keyPattern   = `^[a-z0-9][a-z0-9._-]{0,63}$`
)

var plainKey = regexp.MustCompile(keyPattern)

func (s *Server) dataEndpoints() []Endpoint {
	const one = "/v1/sessions/current/data/{key}"
	key := openapi.Parameter{
		Name: "key", In: "path", Required: true,
		Description: "chosen by the client; keys that begin with `" + platformKeys + "` are written by operations",
		Schema:      &openapi.Schema{Type: "string", Pattern: keyPattern},
	}
	entry := openapi.Object(openapi.Named[*openapi.Schema]{{Name: "key", Value: openapi.String("")},
		{Name: "bytes", Value: openapi.Integer("")}})
	return []Endpoint{{
		Method: "GET", Path: "/v1/sessions/current", Operation: "session.show", Tag: tagSession,
		Summary: "Who is logged in, and what the session stores",
		Success: []Success{{Status: http.StatusOK, Means: "the session",
			Schema: openapi.Object(openapi.Named[*openapi.Schema]{
				{Name: "user", Value: userSchema()}, {Name: "organisation", Value: openapi.UUID("")},
				{Name: "data", Value: openapi.Array(entry)},
			})}}, handle: s.showSession,
	}, {
		Method: "GET", Path: one, Operation: "session.data.get", Tag: tagSession,
		Summary: "Read a value of the session", Parameters: []openapi.Parameter{key},
		Success: []Success{{Status: http.StatusOK, Means: "the stored value", Schema: &openapi.Schema{}}},
		Fails:   []string{codeNotFound}, handle: s.getData,
	}, {
		Method: "PUT", Path: one, Operation: "session.data.put", Tag: tagSession,
		Summary: "Store a value in the session",
		Description: "Working data, such as the state of a form: it is lost with the " +
			"session or the worker. At most 1 MiB in all.", Parameters: []openapi.Parameter{key},
		Body:    &openapi.Schema{Description: "any JSON"},
		Success: []Success{{Status: http.StatusNoContent, Means: "kept"}}, Fails: []string{codeNoRoom},
		handle: s.putData,
	}, {
		Method: "DELETE", Path: one, Operation: "session.data.delete", Tag: tagSession, Summary: "Delete a value",
		Parameters: []openapi.Parameter{key},
		Success:    []Success{{Status: http.StatusNoContent, Means: "deleted, or never stored"}}, handle: s.deleteData,
	}}
}

func (s *Server) showSession(_ context.Context, r *request) (answer, error) {
	entries, err := r.session.Entries()
	if err != nil {
		return answer{}, err
	}
	return encoded(http.StatusOK, map[string]any{"user": shownUser(r.user), "organisation": r.user.Organisation,
		"data": entries})
}

func (s *Server) getData(_ context.Context, r *request) (answer, error) {
	value, found, err := r.session.Get(r.PathValue("key"))
	if err == nil && !found {
		err = errNotFound
	}
	return answer{status: http.StatusOK, body: value}, err
}

func (s *Server) putData(_ context.Context, r *request) (answer, error) {
	if !json.Valid(r.body) {
		return answer{}, &document.Invalid{Field: "body", Reason: "JSON is expected"}
	}
	return s.setData(r, r.body)
}

func (s *Server) deleteData(_ context.Context, r *request) (answer, error) { return s.setData(r, nil) }

func (s *Server) setData(r *request, value []byte) (answer, error) {
	key := r.PathValue("key")
	if !plainKey.MatchString(key) || strings.HasPrefix(key, platformKeys) {
		return answer{}, &document.Invalid{Field: "key", Reason: "letters, digits, dots and dashes are expected, not " +
			"beginning with " + platformKeys}
	}
	return answer{status: http.StatusNoContent}, r.session.Set(key, value)
}

// remember stores in the session what a successful operation leaves there.
type remember func(r *request, a answer)

// rememberList stores the filter and the rows of a list.
func (s *Server) rememberList(name string) remember {
	return func(r *request, a answer) {
		s.store(r, platformKeys+"filter."+name, encodeText(r.URL.RawQuery))
		s.store(r, platformKeys+"list."+name, bytes.Clone(a.body))
	}
}

type recent struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// rememberDocument puts a document at the head of the recently used ones.
func (s *Server) rememberDocument(name string) remember {
	return func(r *request, a answer) {
		now := recent{Type: name, ID: r.PathValue("id")}
		if now.ID == "" {
			var made struct{ ID string }
			if json.Unmarshal(a.body, &made) != nil {
				return
			}
			now.ID = made.ID
		}
		before, _, _ := r.session.Get(keyRecent)
		var earlier []recent
		_ = json.Unmarshal(before, &earlier) // it was written below
		list := []recent{now}
		for _, d := range earlier {
			if d != now && len(list) < recentMax {
				list = append(list, d)
			}
		}
		text, err := json.Marshal(list)
		if err == nil {
			s.store(r, keyRecent, text)
		}
	}
}

// store a value. Missing room is no error: session.Figures counts it.
func (s *Server) store(r *request, key string, value []byte) {
	if err := r.session.Set(key, value); err != nil && !errors.Is(err, session.ErrNoRoom) &&
		!errors.Is(err, session.ErrDataFull) {
		s.log.Warn("session data", "error", err)
	}
}

func encodeText(s string) []byte {
	text, _ := json.Marshal(strings.ToValidUTF8(s, "")) // a string always has a JSON form
	return text
}
