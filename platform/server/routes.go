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
)

// routes make the mux of the endpoints. What has no endpoint is not found, or has no such method.
func (s *Server) routes(endpoints []Endpoint) (http.Handler, error) {
	mux := http.NewServeMux()
	methods, operations := map[string][]string{}, map[string]bool{}
	for _, e := range endpoints {
		if operations[e.Operation] {
			return nil, fmt.Errorf("operation %s is described twice", e.Operation)
		}
		operations[e.Operation] = true
		methods[e.Path] = append(methods[e.Path], e.Method)
		mux.Handle(e.Method+" "+e.Path, s.endpoint(e))
	}
	for path, allowed := range methods {
		mux.Handle(path, s.refuse(errMethod, "Allow", strings.Join(allowed, ", ")))
	}
	mux.Handle("/", s.refuse(errNotFound, "", ""))
	return mux, nil
}

func (s *Server) refuse(err error, header, value string) http.Handler {
	a, _ := failed(err)
	if header != "" {
		a = a.with(header, value)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.write(w, a) })
}

// endpoint wraps a handler in what all requests have in common. A client that goes away does not stop work that has
// begun: ending it would cost a connection, and a posting would have to be rolled back.
func (s *Server) endpoint(e Endpoint) http.Handler {
	if e.direct != nil {
		return e.direct
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), OperationTimeout)
		defer cancel()
		ctx, cost := database.WithCounters(ctx)
		a, err := s.work(ctx, w, r, &e)
		if err != nil {
			var expected bool
			if a, expected = failed(err); !expected {
				s.log.Error("request failed", "operation", e.Operation, "status", a.status, "error", err)
			}
		}
		s.profile.count(e.Operation, a.status, *cost)
		s.write(w, a)
	})
}

func (s *Server) work(ctx context.Context, w http.ResponseWriter, r *http.Request, e *Endpoint) (a answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	req := &request{Request: r}
	if !e.Public {
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
	if a, err = e.handle(ctx, req); err == nil && e.remember != nil {
		e.remember(req, a)
	}
	return a, err
}

func (s *Server) authorize(r *request) error {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return errNoSession
	}
	if r.session, ok = s.sessions.Find(token); !ok {
		return errNoSession
	}
	r.user = r.session.User
	return nil
}

func (s *Server) alive(w http.ResponseWriter, _ *http.Request) {
	s.write(w, answer{status: http.StatusOK})
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

func (s *Server) showProfile(w http.ResponseWriter, _ *http.Request) {
	body, _ := json.Marshal(s.Profile())
	s.write(w, answer{status: http.StatusOK, body: body})
}
