// Package server owns the HTTP worker: one process that serves an application's metadata,
// rules and reports as the API of docs/design/001-foundation.md. A worker keeps nothing but its sessions; as many as
// wanted serve one database.
//
//	request ─▶ session ─▶ body, bounded ─▶ queue, bounded ─▶ work ─▶ answer
//	             │ 401       │ 413, 400       │ 503 + Retry-After   │ 201 200 · 409 refused · 4xx · 503
//
// Use: server.New(config, application), then Serve(ctx, listener); when ctx is done, Serve stops
// listening, finishes what runs and returns.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/platform/catalog"
	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/session"
	"plimsoll/platform/shape"
)

// Defaults of a worker.
const (
	QueueDefault        = 1024
	QueueTimeoutDefault = 5 * time.Second
	DrainTimeoutDefault = 30 * time.Second
	// BodyMax is the largest request: several times a document of the most lines.
	BodyMax = 256 << 10
	// OperationTimeout bounds the work on one request, whatever the client does.
	OperationTimeout = 90 * time.Second

	headerTimeout = 10 * time.Second
	bodyTimeout   = 30 * time.Second
	idleTimeout   = 10 * time.Minute
	headerMax     = 16 << 10
	forgetEvery   = time.Hour
)

// Config of a worker; zero values mean the defaults.
type Config struct {
	Database *database.Database
	// Shape of the worker: how it posts, and what it tells of itself. Its other part are options of the Database. Defaults to lean.
	Shape shape.Shape
	// Log is told of failures and of the life of the worker. Defaults to slog.Default().
	Log *slog.Logger
	// Concurrency is how many requests are worked on at once. Defaults to the size of the pool.
	Concurrency int
	// Queue is how many requests may wait for that; beyond it they get 503 with Retry-After. Negative means none.
	Queue int
	// QueueTimeout is the longest wait before 503.
	QueueTimeout time.Duration
	MaxSessions  int
	// DrainTimeout is how long Serve waits for running requests once its context is done.
	DrainTimeout time.Duration
}

// Application is what a worker serves.
type Application struct {
	Metadata *metadata.Application
	Rules    map[string]posting.Rules
	// Reports by the last part of their path.
	Reports map[string]Report
	// Login finds the user by the name given; ErrUnknownUser refuses.
	Login func(ctx context.Context, db *database.Database, user string) (session.User, error)
	// Users counts who could log in.
	Users func(ctx context.Context, db *database.Database) (int64, error)
}

// Server is one worker.
type Server struct {
	config    Config
	app       Application
	db        *database.Database
	log       *slog.Logger
	sessions  *session.Sessions
	books     *posting.Books
	gate      *gate
	profile   profile
	documents map[string]*document.Store
	catalogs  map[string]*catalog.Lister
	handler   http.Handler
	draining  atomic.Bool
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
	s := &Server{
		config: config, app: app, db: config.Database, log: config.Log, gate: newGate(config.Concurrency, config.Queue, config.QueueTimeout),
		sessions: session.New(config.MaxSessions, time.Now), books: books,
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
	s.handler = s.routes()
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
}

// Handler is the API without a listener, for embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// Sessions is how many are open.
func (s *Server) Sessions() int { return s.sessions.Count() }

// Serve answers requests on the listener until ctx is done, then drains: it listens no more, finishes what it has
// accepted, and returns nil, or an error when that took longer than DrainTimeout.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	listening := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
		WriteTimeout: bodyTimeout + s.config.QueueTimeout + OperationTimeout, MaxHeaderBytes: headerMax,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	stop, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Add(1)
	go func() {
		defer background.Done()
		s.forget(stop)
	}()
	defer background.Wait()
	defer cancel()

	ended := make(chan error, 1)
	go func() { ended <- listening.Serve(listener) }()
	s.log.Info("worker serves", "address", listener.Addr().String(), "concurrency", s.config.Concurrency, "queue", s.config.Queue)
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return s.drain(ctx, listening)
}

func (s *Server) drain(ctx context.Context, listening *http.Server) error {
	s.draining.Store(true)
	s.log.Info("worker drains", "waiting", s.gate.load())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.DrainTimeout)
	defer cancel()
	if err := listening.Shutdown(ctx); err != nil {
		listening.Close()
		return fmt.Errorf("drain: requests still ran after %s: %w", s.config.DrainTimeout, err)
	}
	return nil
}

// forget keeps the table of idempotency keys bounded.
func (s *Server) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if deleted, err := s.books.Forget(ctx); err != nil {
			s.log.Warn("forget idempotency keys", "deleted", deleted, "error", err)
		} else if deleted > 0 {
			s.log.Info("forgot idempotency keys", "deleted", deleted)
		}
	}
}
