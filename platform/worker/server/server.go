// Package server owns the HTTP worker: one process that serves an application's metadata, rules and reports as the API
// that GET /v1/openapi.json describes. A worker keeps no state but its sessions, so any number of workers can serve one
// database.
//
//	request ─▶ session ─▶ body, bounded ─▶ queue, bounded ─▶ work ─▶ answer
//	             │ 401       │ 413, 400       │ 503 + Retry-After   │ 201 200 · 409 refused · 4xx · 503
//
// Use: server.New(config, application), then Serve(ctx, listener); when ctx is done, Serve stops
// listening, finishes what runs and returns.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/jobs"
	"plimsoll/platform/worker/password"
	"plimsoll/platform/worker/session"
	"plimsoll/platform/worker/shape"
)

// Defaults of a worker.
const (
	QueueDefault        = 1024
	QueueTimeoutDefault = 5 * time.Second
	DrainTimeoutDefault = 30 * time.Second
	SlowDefault         = time.Second
	// BodyMax is the largest request: several times a document of the most lines.
	BodyMax = 256 << 10
	// OperationTimeout bounds the work on one request, whatever the client does.
	OperationTimeout = 90 * time.Second

	// HeaderTimeoutDefault and BodyTimeoutDefault are how long a client may take to send them.
	HeaderTimeoutDefault = 10 * time.Second
	BodyTimeoutDefault   = 30 * time.Second

	idleTimeout = 10 * time.Minute
	headerMax   = 16 << 10
	forgetEvery = time.Hour
	sweepEvery  = time.Minute
)

// Config of a worker; zero values mean the defaults.
type Config struct {
	Database *database.Database
	// Shape of the worker: how it posts, and what it reports of itself. The rest of the shape is in the options of
	// Database. Defaults to lean.
	Shape shape.Shape
	// Log receives failures, and the start and end of the worker. Defaults to slog.Default().
	Log *slog.Logger
	// Concurrency is how many requests are processed at the same time. Defaults to the size of the pool.
	Concurrency int
	// Queue is how many more requests may wait; others get 503 with Retry-After. Negative means none.
	Queue int
	// QueueTimeout is the longest wait before 503.
	QueueTimeout time.Duration
	MaxSessions  int
	// SessionIdle is how long a session may stay unused before it ends. Defaults to session.IdleDefault.
	SessionIdle time.Duration
	Limits      Limits
	// Passwords requires a password to log in.
	Passwords bool
	// TLS encrypts connections; nil means plain HTTP.
	TLS *tls.Config
	// FiguresToken is required to read metrics and profile from another machine. Empty means that only this machine
	// can read them.
	FiguresToken string
	// SessionMemory is how many bytes of session data are kept in memory; the rest goes to files in SessionDir. Without
	// SessionDir it is refused.
	SessionMemory int64
	SessionDir    string
	// Name of the worker, for lock reports and events. Defaults to the process id.
	Name string
	// Events is the event log: logins, refusals, retries, lock timeouts, slow operations, drain. Defaults to none.
	Events *slog.Logger
	// Slow is the duration from which an operation goes to the event log. Defaults to SlowDefault; negative means none.
	Slow time.Duration
	// TraceSample n traces one request in n, for the event log and for Operation.WALBytes; zero means none.
	TraceSample int
	// WatchAfter is how long a unit of work runs before its lock waits are recorded. Defaults to lock.AfterDefault.
	WatchAfter time.Duration
	// HeaderTimeout and BodyTimeout are how long a client may take to send a header, and a whole request.
	HeaderTimeout, BodyTimeout time.Duration
	// Jobs are the background jobs that users may start; nil means none. The caller runs them (jobs.Work).
	Jobs *jobs.Jobs
	// DrainTimeout is how long Serve waits for running requests once its context is done.
	DrainTimeout time.Duration
}

// Application is what a worker is serving.
type Application struct {
	Metadata *metadata.Application
	Rules    map[string]posting.Rules
	// Reports by the last part of their path.
	Reports map[string]Report
	// Login finds the user of a name; it returns ErrUnknownUser when there is none.
	Login func(ctx context.Context, db *database.Database, user string) (session.User, error)
	// Users counts the users who could log in.
	Users func(ctx context.Context, db *database.Database) (int64, error)
}

// Server is one worker.
type Server struct {
	config      Config
	app         Application
	db          *database.Database
	log         *slog.Logger
	sessions    *session.Sessions
	books       *posting.Books
	gate        *gate
	passwords   *password.Checker // nil: no password is required
	logins      *buckets
	mistakes    *buckets
	profile     profile
	metrics     *metrics
	events      *slog.Logger
	watch       *lock.Watch
	loads       loads
	documents   map[string]*document.Store
	catalogs    map[string]*catalog.Lister
	handler     http.Handler
	description func() (description, error) // of the API
	draining    atomic.Bool
	started     time.Time
}

// New makes a worker of an application.
func New(config Config, app Application) (*Server, error) {
	if err := app.Metadata.Check(); err != nil {
		return nil, err
	}
	if config.Database == nil {
		return nil, errors.New("a worker needs a database")
	}
	config.fillIn()
	books, err := posting.New(config.Database, app.Metadata, app.Rules).With(config.Shape.Posting)
	if err != nil {
		return nil, err
	}
	sessions, err := session.New(session.Options{Max: config.MaxSessions, Idle: config.SessionIdle,
		Memory: config.SessionMemory, Dir: config.SessionDir, Log: config.Log})
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: config, app: app, db: config.Database, log: config.Log,
		gate:     newGate(config.Concurrency, config.Queue, config.QueueTimeout),
		sessions: sessions, books: books, started: time.Now(),
		documents: map[string]*document.Store{}, catalogs: map[string]*catalog.Lister{},
	}
	for i := range app.Metadata.Documents {
		meta := &app.Metadata.Documents[i]
		s.documents[meta.Name] = document.NewStore(app.Metadata, meta)
	}
	for i := range app.Metadata.Catalogs {
		meta := &app.Metadata.Catalogs[i]
		s.catalogs[meta.Name] = catalog.NewLister(meta)
	}
	perSecond := cmp.Or(config.Limits.AddressLogins, AddressLoginsDefault)
	s.logins = newBuckets(rate.Limit(perSecond), loginBurst*perSecond)
	s.mistakes = newBuckets(rate.Every(mistakeEvery), mistakeBurst)
	if config.Passwords {
		if s.passwords, err = password.NewChecker(config.Database); err != nil {
			sessions.End()
			return nil, err
		}
	}
	s.events, s.metrics = config.Events.With("worker", config.Name), newMetrics(s)
	s.watch = lock.NewWatch(s.db, config.Name, config.WatchAfter, s.log)
	endpoints := s.endpoints()
	s.description = s.describeAPI(endpoints)
	if s.handler, err = s.routes(endpoints); err != nil {
		sessions.End()
		return nil, err
	}
	return s, nil
}

func (c *Config) fillIn() {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Shape.Name == "" {
		c.Shape, _ = shape.New(shape.Default, shape.Tweaks{})
	}
	if c.Concurrency < 1 {
		c.Concurrency = c.Database.Connections()
	}
	if c.Queue == 0 {
		c.Queue = QueueDefault
	}
	if c.QueueTimeout <= 0 {
		c.QueueTimeout = QueueTimeoutDefault
	}
	if c.DrainTimeout <= 0 {
		c.DrainTimeout = DrainTimeoutDefault
	}
	if c.HeaderTimeout <= 0 {
		c.HeaderTimeout = HeaderTimeoutDefault
	}
	if c.BodyTimeout <= 0 {
		c.BodyTimeout = BodyTimeoutDefault
	}
	if c.Name == "" {
		c.Name = fmt.Sprintf("worker %d", os.Getpid())
	}
	if c.Events == nil {
		c.Events = slog.New(slog.DiscardHandler)
	}
	if c.Slow == 0 {
		c.Slow = SlowDefault
	}
}

// Handler is the API without a listener, for embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// Sessions is how many are open.
func (s *Server) Sessions() int { return s.sessions.Count() }

// Serve answers requests on the listener until ctx is done, then drains: it stops listening, finishes what it has
// accepted, ends the sessions, and returns nil, or an error when that took longer than DrainTimeout.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	listening := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: s.config.HeaderTimeout, ReadTimeout: s.config.BodyTimeout,
		IdleTimeout:  idleTimeout,
		WriteTimeout: s.config.BodyTimeout + s.config.QueueTimeout + OperationTimeout, MaxHeaderBytes: headerMax,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx)) // they go on while the worker is draining
	var background sync.WaitGroup
	for _, run := range []func(context.Context){
		func(ctx context.Context) { every(ctx, forgetEvery, s.forget) },
		func(ctx context.Context) { every(ctx, sweepEvery, s.sweep) },
		func(ctx context.Context) {
			every(ctx, loadLease, func(context.Context) { s.loads.endAll(time.Now().Add(-loadLease)) })
		},
		s.watch.Run,
	} {
		background.Add(1)
		go func() {
			defer background.Done()
			run(stop)
		}()
	}
	defer s.sessions.End()
	defer func() { s.loads.endAll(time.Now()) }()
	defer background.Wait()
	defer cancel()

	ended := make(chan error, 1)
	go func() {
		if s.config.TLS != nil {
			listening.TLSConfig = s.config.TLS
			ended <- listening.ServeTLS(listener, "", "")
			return
		}
		ended <- listening.Serve(listener)
	}()
	s.events.Info(eventStarts, "address", listener.Addr().String())
	s.log.Info("worker is serving", "address", listener.Addr().String(), "concurrency", s.config.Concurrency, "queue",
		s.config.Queue)
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return s.drain(ctx, listening)
}

func (s *Server) drain(ctx context.Context, listening *http.Server) error {
	s.draining.Store(true)
	s.events.Info(eventDrains, "waiting", s.gate.load(), "sessions", s.Sessions())
	s.log.Info("worker is draining", "waiting", s.gate.load())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.DrainTimeout)
	defer cancel()
	if err := listening.Shutdown(ctx); err != nil {
		listening.Close()
		s.events.Info(eventEnds, "drained", false)
		return fmt.Errorf("drain: requests were still running after %s: %w", s.config.DrainTimeout, err)
	}
	s.events.Info(eventEnds, "drained", true)
	return nil
}

// every calls do at an interval until ctx is done.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do(ctx)
		}
	}
}

// forget deletes old idempotency keys.
func (s *Server) forget(ctx context.Context) {
	if deleted, err := s.books.Forget(ctx); err != nil {
		s.log.Warn("forget idempotency keys", "deleted", deleted, "error", err)
	} else if deleted > 0 {
		s.log.Info("forgot idempotency keys", "deleted", deleted)
	}
}

// sweep ends idle sessions and drops full token buckets.
func (s *Server) sweep(context.Context) {
	s.sessions.Sweep()
	s.logins.sweep()
	s.mistakes.sweep()
}
