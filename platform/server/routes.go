package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"plimsoll/platform/database"
	"plimsoll/platform/session"
)

// request is what a handler sees: the session is known and the body has been read.
type request struct {
	*http.Request
	user  session.User
	token string
	body  []byte
}

// handle does the work of one request. It returns either an answer or an error.
type handle func(ctx context.Context, r *request) (answer, error)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	open := func(pattern, operation string, h handle) { mux.Handle(pattern, s.endpoint(operation, false, h)) }
	secured := func(pattern, operation string, h handle) { mux.Handle(pattern, s.endpoint(operation, true, h)) }

	open("POST /v1/sessions", "session.open", s.openSession)
	secured("DELETE /v1/sessions/current", "session.close", s.closeSession)
	open("GET /v1/application", "application", s.describe)
	secured("GET /v1/catalogs/{catalog}", "catalog.list", s.listCatalog)
	secured("POST /v1/documents/{type}", "document.post", s.createDocument)
	secured("PUT /v1/documents/{type}/{id}", "document.change", s.changeDocument)
	secured("POST /v1/documents/{type}/{id}/post", "document.repost", s.postDocument)
	secured("POST /v1/documents/{type}/{id}/unpost", "document.unpost", s.unpostDocument)
	secured("GET /v1/documents/{type}", "document.list", s.listDocuments)
	secured("GET /v1/documents/{type}/{id}", "document.card", s.showDocument)
	secured("GET /v1/reports/{report}", "report", s.runReport)
	mux.HandleFunc("GET /health/live", func(w http.ResponseWriter, _ *http.Request) { s.write(w, answer{status: http.StatusOK}) })
	mux.HandleFunc("GET /health/ready", s.ready)
	mux.HandleFunc("GET /health/profile", func(w http.ResponseWriter, _ *http.Request) {
		body, _ := json.Marshal(Told{s.config.Shape.String(), s.Profile()})
		s.write(w, answer{status: http.StatusOK, body: body})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		a, _ := failed(errNotFound)
		s.write(w, a)
	})
	return mux
}

// endpoint wraps a handler in what all requests have in common. A client that goes away does not stop work that has
// begun: ending it would cost a connection, and a posting would have to be rolled back.
func (s *Server) endpoint(operation string, secured bool, h handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), OperationTimeout)
		defer cancel()
		ctx, cost := database.WithCounters(ctx)
		name := operation
		for _, part := range []string{"catalog", "type", "report"} {
			if v := r.PathValue(part); v != "" && s.known(part, v) {
				name += " " + v
			}
		}
		a, err := s.work(ctx, w, r, secured, h)
		if err != nil {
			var expected bool
			if a, expected = failed(err); !expected {
				s.log.Error("request failed", "operation", name, "status", a.status, "error", err)
			}
		}
		s.profile.count(name, a.status, *cost)
		s.write(w, a)
	})
}

// known keeps the profile bounded: only names of the metadata become part of an operation's name.
func (s *Server) known(part, name string) (ok bool) {
	switch part {
	case "catalog":
		_, ok = s.catalogs[plainName(name)]
	case "type":
		_, ok = s.documents[plainName(name)]
	case "report":
		_, ok = s.app.Reports[name]
	}
	return ok
}

// plainName is the metadata name of a part of a path: goods-sale is goods_sale.
func plainName(part string) string { return strings.ReplaceAll(part, "-", "_") }

func (s *Server) work(ctx context.Context, w http.ResponseWriter, r *http.Request, secured bool, h handle) (a answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	req := &request{Request: r}
	if secured {
		if err := s.authorize(req); err != nil {
			return answer{}, err
		}
	}
	if req.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, BodyMax)); err != nil {
		var tooLarge *http.MaxBytesError
		if !errors.As(err, &tooLarge) {
			err = errBody
		}
		return answer{}, err
	}
	if err := s.gate.enter(r.Context()); err != nil {
		return answer{}, err
	}
	defer s.gate.leave()
	return h(ctx, req)
}

func (s *Server) authorize(r *request) error {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return errNoSession
	}
	if r.user, ok = s.sessions.Find(token); !ok {
		return errNoSession
	}
	r.token = token
	return nil
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	status := http.StatusOK
	if s.draining.Load() || s.db.Ping(ctx) != nil {
		status = statusOverloaded
	}
	s.write(w, answer{status: status})
}
