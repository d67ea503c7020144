package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/session"
)

// Report answers a query with JSON.
type Report struct {
	Title string
	// Parameters of the query, and what the answer looks like.
	Parameters []openapi.Parameter
	Answer     *openapi.Schema
	Run        func(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error)
}

func (s *Server) openSession(ctx context.Context, r *request) (answer, error) {
	from := clientOf(r.Request)
	if err := s.admit(from); err != nil {
		return answer{}, err
	}
	var login struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	if json.Unmarshal(r.body, &login) != nil || login.User == "" || !text(login.User, searchMax) {
		return answer{}, &document.Invalid{Field: "user", Reason: "a user's code is expected"}
	}
	user, err := s.identify(ctx, from, login.User, login.Password)
	if err != nil {
		s.events.Info(eventLoginRefused, "user", login.User, "address", from.name, "why", err.Error())
		return answer{}, err
	}
	token, err := s.sessions.Open(user, s.shares(from, user)...)
	if errors.Is(err, session.ErrShare) {
		err = &limited{codeLimited, err.Error(), sharesFreeAfter}
	}
	if err != nil {
		return answer{}, err
	}
	s.events.Info(eventLogin, "user", user.Code, "organisation", user.Organisation.String())
	return encoded(http.StatusCreated, map[string]any{"token": token, "user": shownUser(user),
		"organisation": user.Organisation})
}

// identify finds the user, who must know the password where one is asked for. What was wrong is not told then.
func (s *Server) identify(ctx context.Context, from client, code, text string) (session.User, error) {
	user, err := s.app.Login(ctx, s.db, code)
	if s.passwords == nil || err != nil && !errors.Is(err, ErrUnknownUser) {
		return user, err
	}
	proceed := func() error { return s.mayGuess(from) }
	if err := proceed(); err != nil {
		return session.User{}, err
	}
	right, err := s.passwords.Check(ctx, user.ID, text, proceed)
	if err == nil && !right {
		s.mistakes.take(from.name)
		err = errWrongPassword
	}
	if err != nil {
		return session.User{}, err
	}
	return user, nil
}

func shownUser(u session.User) any { return map[string]any{"id": u.ID, "code": u.Code, "name": u.Name} }

func (s *Server) closeSession(_ context.Context, r *request) (answer, error) {
	s.sessions.Close(r.session)
	s.events.Info(eventLogout, "user", r.user.Code)
	return answer{status: http.StatusNoContent}, nil
}

func (s *Server) describe(ctx context.Context, _ *request) (answer, error) {
	users, err := s.app.Users(ctx, s.db)
	if err != nil {
		return answer{}, err
	}
	return encoded(http.StatusOK, map[string]any{"application": s.app.Metadata.Name, "version": s.app.Metadata.Version,
		"users": users})
}

func (s *Server) runReport(report Report) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		query := r.URL.Query()
		for name := range query {
			if !text(query.Get(name), searchMax) {
				return answer{}, &document.Invalid{Field: "query", Reason: "a value is too long or not text"}
			}
		}
		body, err := report.Run(ctx, s.db, r.user, query)
		return answer{status: http.StatusOK, body: body}, err
	}
}

func (s *Server) showDocument(meta *metadata.Document, store *document.Store) handle {
	return func(ctx context.Context, r *request) (answer, error) {
		document, err := id.Parse(r.PathValue("id"))
		if err != nil {
			return answer{}, errNotFound
		}
		var header *rowset.Table
		var sections []*rowset.Table
		err = s.db.Read(ctx, func(w *database.Work) error {
			header, sections = store.Card(w, r.user.Organisation, document)
			return nil
		})
		if err != nil {
			return answer{}, err
		}
		if header.Rows() == 0 {
			return answer{}, errNotFound
		}
		body := header.AppendFields([]byte{'{'}, 0)
		for i, t := range sections {
			body = append(append(append(body, `,"`...), meta.Sections[i].Name...), `":`...)
			body = t.AppendJSON(body)
		}
		return answer{status: http.StatusOK, body: append(body, '}')}.withHeader(
			tag(rowset.Column[int64](header, "version")[0])), nil
	}
}

func encoded(status int, value any) (answer, error) {
	body, err := json.Marshal(value)
	return answer{status: status, body: body}, err
}

// text reports whether a value of a request can be a text of the database.
func text(s string, length int) bool {
	return utf8.RuneCountInString(s) <= length && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
