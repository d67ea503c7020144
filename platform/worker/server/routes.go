package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/secret"
)

// routes builds the mux of the endpoints. Other paths and methods are refused with 404 and 405.
func (s *Server) routes(endpoints []Endpoint) (http.Handler, error) {
	mux := http.NewServeMux()
	methods, operations := map[string][]string{}, map[string]bool{}
	for _, e := range endpoints {
		if operations[e.Operation] {
			return nil, fmt.Errorf("operation %s is defined twice", e.Operation)
		}
		operations[e.Operation] = true
		methods[e.Path] = append(methods[e.Path], e.Method)
		mux.Handle(e.Method+" "+e.Path, s.endpoint(e))
	}
	for path, allowed := range methods {
		mux.Handle(path, s.refuse(errMethod, "Allow", strings.Join(allowed, ", ")))
	}
	mux.Handle("/", s.refuse(errNotFound, "", ""))
	return s.guarded(mux), nil
}

func (s *Server) refuse(err error, header, value string) http.Handler {
	f, _ := classify(err)
	a := failed(f)
	if header != "" {
		a = a.withHeader(header, value)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.write(w, a) })
}

// endpoint wraps a handler in the common steps of a request. Work that has begun goes on when the client leaves:
// stopping it would cost a connection and roll a posting back.
func (s *Server) endpoint(e Endpoint) http.Handler {
	if e.figures {
		return s.guardedFigures(e.direct)
	}
	if e.direct != nil {
		return e.direct
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), OperationTimeout)
		defer cancel()
		s.write(w, s.serve(ctx, w, &request{Request: r}, &e))
	})
}

// serve answers one request, and records its cost in profile, metrics and events.
func (s *Server) serve(ctx context.Context, w http.ResponseWriter, r *request, e *Endpoint) answer {
	ctx, cost := database.WithCounters(ctx)
	traced, shown := s.traced(r.Request)
	var (
		p         phases
		a         answer
		f         *failure
		err       error
		steps     *database.Trace
		workerCPU any
	)
	if traced {
		ctx, steps = database.WithTrace(ctx)
		workerCPU = processorTime(func() { a, p, err = s.work(ctx, w, r, e) })
	} else {
		a, p, err = s.work(ctx, w, r, e)
	}
	if err != nil {
		f, a = s.fail(e, r, err)
	}
	var t *trace
	if traced {
		t = newTrace(e.Operation, a.status, p, *cost, steps, workerCPU)
		if shown {
			a = a.withHeader(traceHeader, t.line())
		}
	}
	s.profile.count(e.Operation, a.status, clientOperation(r.Request) != "", *cost, steps)
	s.metrics.observe(e.Operation, a.status, p.total())
	s.logRequest(e, r, f, p, *cost, t)
	return a
}

func (s *Server) fail(e *Endpoint, r *request, err error) (*failure, answer) {
	f, expected := classify(err)
	if s.explain(&f, err, r.user.Organisation.String()); f.Code == codeLocked {
		s.metrics.lockTimeouts.WithLabelValues(e.Operation).Inc()
	}
	if !expected {
		s.log.Error("request failed", "operation", e.Operation, "status", statusOf(f.Code), "error", err)
	}
	return &f, failed(f)
}

func (s *Server) work(ctx context.Context, w http.ResponseWriter, r *request, e *Endpoint) (a answer, p phases,
	err error) {
	mark := time.Now()
	lap := func(phase *time.Duration) {
		now := time.Now()
		*phase, mark = *phase+now.Sub(mark), now
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	defer func() { lap(&p.work) }()
	if !e.Public {
		if err := s.authorize(r); err != nil {
			return answer{}, p, err
		}
		ctx = database.WithLabel(ctx, database.Label{Operation: e.Operation, User: r.user.Code,
			Organisation: r.user.Organisation.String(), Client: clientOperation(r.Request)})
	}
	if err := e.checkQuery(r.Request); err != nil {
		return answer{}, p, err
	}
	if err := e.checkType(r.Request); err != nil {
		return answer{}, p, err
	}
	if r.body, err = readBody(w, r.Request); err != nil {
		return answer{}, p, err
	}
	lap(&p.body)
	if s.db.FlushesLag() {
		return answer{}, p, errFlushesLag
	}
	err = s.gate.enter(r.Context())
	lap(&p.queue)
	s.metrics.queue.Observe(p.queue.Seconds())
	if err != nil {
		return answer{}, p, err
	}
	ctx, acknowledgement := s.db.Acknowledged(ctx)
	a, err = s.handle(ctx, r, e)
	lap(&p.work)
	waited := acknowledgement.Wait(ctx)
	lap(&p.flush)
	if waited != nil {
		return answer{}, p, waited
	}
	if err == nil && e.remember != nil {
		e.remember(r, a)
	}
	return a, p, err
}

// handle does the work with a slot, which it gives back before the answer waits for the log.
func (s *Server) handle(ctx context.Context, r *request, e *Endpoint) (answer, error) {
	defer s.gate.leave()
	return e.handle(ctx, r)
}

// checkQuery refuses a parameter that the endpoint does not have: a misspelt filter or position would silently return
// everything, or the first page again.
func (e *Endpoint) checkQuery(r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &document.Invalid{Field: "query", Reason: "cannot be parsed; write special characters as %XX"}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		known := func(p openapi.Parameter) bool { return p.In == "query" && p.Name == name }
		if !slices.ContainsFunc(e.Parameters, known) {
			return &document.Invalid{Field: "query", Reason: fmt.Sprintf("unknown parameter %.40q; known: %s", name,
				cmp.Or(strings.Join(e.queryNames(), ", "), "none"))}
		}
	}
	return nil
}

func (e *Endpoint) queryNames() (names []string) {
	for _, p := range e.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// checkType refuses a body without the JSON content type, which a form of a foreign page cannot send.
func (e *Endpoint) checkType(r *http.Request) error {
	if e.Body == nil || r.ContentLength == 0 {
		return nil
	}
	return checkJSON(r)
}

func checkJSON(r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
		return errMediaType
	}
	return nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, BodyMax))
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) {
		err = errBody
	}
	return body, err
}

func (s *Server) authorize(r *request) error {
	token, ok := secret.Bearer(r.Request)
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

// OperationHeader is what a client calls the operation that its request belongs to: GET /health/running shows it.
const OperationHeader = "Plimsoll-Operation"

// operationMost bytes of it are kept.
const operationMost = 64

func clientOperation(r *http.Request) string {
	name := r.Header.Get(OperationHeader)
	return name[:min(len(name), operationMost)]
}

// RunningOperations is the answer of GET /health/running.
type RunningOperations struct {
	// Running operations by the process of the database server that executes them.
	Running map[uint32]string `json:"running"`
}

func (s *Server) showRunning(w http.ResponseWriter, _ *http.Request) {
	body, _ := json.Marshal(RunningOperations{Running: s.db.Working()})
	s.write(w, answer{status: http.StatusOK, body: body})
}

func (s *Server) showProfile(w http.ResponseWriter, _ *http.Request) {
	body, _ := json.Marshal(WorkerProfile{Shape: s.config.Shape.String(), Started: s.started, Database: s.db.Identity(),
		Operations: s.Profile()})
	s.write(w, answer{status: http.StatusOK, body: body})
}
