package self

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Paths that are no part of a load: witnessPath is answered at once, reportPath with what the server counted.
const (
	witnessPath = "/witness"
	reportPath  = "/report"
)

// Queries of reportPath.
const (
	settled    = "settled" // first everything that was sent is to be counted
	countsOnly = "counts"  // without the time of each request
)

// settleMost is how long that may take where a client keeps its connections.
const settleMost = 5 * time.Second

// behaviour of a planted server. It runs in a process of its own, so that neither its work nor its sleep is taken for
// the generator's.
type behaviour func(context.Context) (func(*received), error)

// behaviours by line.
var behaviours = map[string]behaviour{
	"delay": always(func(r *received) {
		if r.every(10) {
			r.wait(delaySlow)
		} else {
			r.wait(delayFast)
		}
	}),
	"stall": always(func(r *received) {
		r.wait(stallService)
		if now := time.Since(r.began); now >= stallFrom && now < stallTo {
			r.wait(stallTo - now)
		}
	}),
	"resets": always(func(r *received) {
		if r.every(7) {
			r.count("reset")
			r.reset()
		}
	}),
	"errors": always(func(r *received) {
		r.wait(10 * time.Millisecond)
		if r.every(5) {
			r.count("500")
			r.w.WriteHeader(http.StatusInternalServerError)
		}
	}),
	"plain":   always(func(r *received) { _, _ = r.w.Write(plainBody) }),
	"refused": always(func(r *received) { r.w.WriteHeader(http.StatusConflict) }),
	"refused-more": always(func(r *received) {
		if r.wait(10 * time.Millisecond); r.every(4) {
			r.count("409")
			r.w.WriteHeader(http.StatusConflict)
		}
	}),
	"wrong-url": always(func(r *received) { http.NotFound(r.w, r.r) }),
	"timeouts": always(func(r *received) {
		if r.every(10) {
			r.count("unanswered")
			<-r.r.Context().Done()
			return
		}
		r.wait(timeoutsAnswer)
	}),
	"queue": func(context.Context) (func(*received), error) {
		free := make(chan struct{}, queueSlots)
		return func(r *received) {
			free <- struct{}{}
			r.wait(queueService)
			<-free
		}, nil
	},
	"reconciled":     writing(func(r *received) { r.count("acknowledged") }, nil),
	"reset-after":    writing(nil, (*received).reset),
	"twins":          always(func(r *received) { r.wait(50 * time.Millisecond) }),
	"wandering":      wandering(1),
	"wandering-slow": wandering(spellFactor),
	"serving":        serving(queueSlots),
	"serving-half":   serving(queueSlots / 2),
	"steady":         always(func(r *received) { r.wait(10 * time.Millisecond) }),
}

// plainBody is an answer of a kilobyte.
var plainBody = bytes.Repeat([]byte("plimsoll "), 1024/9)

func always(play func(*received)) behaviour {
	return func(context.Context) (func(*received), error) { return play, nil }
}

// writeEvery so many writes something else is done: unwritten instead of the write, or unanswered instead of the
// answer.
const writeEvery = 10

// writing inserts a row for each request into the table written of the database of PLIMSOLL_DSN.
func writing(unwritten, unanswered func(*received)) behaviour {
	return func(ctx context.Context) (func(*received), error) {
		rows, err := pgxpool.New(ctx, os.Getenv("PLIMSOLL_DSN"))
		if err != nil {
			return nil, err
		}
		return func(r *received) {
			if r.every(writeEvery) && unwritten != nil {
				unwritten(r)
				return
			}
			ctx := context.WithoutCancel(r.r.Context())
			if _, err := rows.Exec(ctx, "INSERT INTO written VALUES ($1)", r.n); err != nil {
				r.w.WriteHeader(http.StatusInternalServerError)
				return
			}
			r.count("written")
			if r.every(writeEvery) && unanswered != nil {
				r.count("reset")
				unanswered(r)
				return
			}
			r.count("acknowledged")
		}, nil
	}
}

// Planted is the body of a planted server. It says where it listens in its first line, as a worker does, and serves
// until ctx ends.
func Planted(ctx context.Context, name string, stdout io.Writer) error {
	prepare, known := behaviours[name]
	if !known {
		return fmt.Errorf("there is no planted server %q", name)
	}
	play, err := prepare(ctx)
	if err != nil {
		return fmt.Errorf("plant %s: %w", name, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("plant %s: %w", name, err)
	}
	s := &plantedServer{play: play, open: map[net.Conn]bool{},
		report: report{Requests: map[string]int64{}, Counts: map[string]int64{}}}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ConnState: s.connection}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	at := map[string]string{"listening": "http://" + listener.Addr().String()}
	if err := json.NewEncoder(stdout).Encode(at); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// plantedServer counts and times by itself what it received.
type plantedServer struct {
	play func(*received)

	mu     sync.Mutex
	began  time.Time // of the first request
	atWork int
	open   map[net.Conn]bool
	report report
}

// report is what a planted server counted.
type report struct {
	Requests map[string]int64 `json:"requests"` // by method
	Counts   map[string]int64 `json:"counts"`   // what the behaviour counts
	Services []time.Duration  `json:"services"`
}

// received is one request.
type received struct {
	*plantedServer
	w http.ResponseWriter
	r *http.Request
	n int64 // of its method, from 1
}

func (s *plantedServer) connection(c net.Conn, now http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now == http.StateClosed || now == http.StateHijacked {
		delete(s.open, c)
	} else {
		s.open[c] = true
	}
}

// ServeHTTP plays the behaviour.
func (s *plantedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case witnessPath:
		return
	case reportPath:
		s.tell(w, r)
		return
	}
	began := time.Now()
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = began
	}
	s.atWork++
	s.report.Requests[r.Method]++
	one := &received{s, w, r, s.report.Requests[r.Method]}
	s.mu.Unlock()
	s.play(one)
	s.mu.Lock()
	s.atWork--
	s.report.Services = append(s.report.Services, time.Since(began))
	s.mu.Unlock()
}

// tell what was counted. A client that gave up may have sent what has not been read yet: to be settled, all connections
// but the one that asks must have come to their end.
func (s *plantedServer) tell(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), settleMost)
	defer cancel()
	looks := time.NewTicker(time.Millisecond)
	defer looks.Stop()
	for r.URL.Query().Has(settled) && !s.settled() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-looks.C:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.report
	if r.URL.Query().Has(countsOnly) {
		told.Services = nil
	}
	_ = json.NewEncoder(w).Encode(told) // who asked sees that it is cut off
}

func (s *plantedServer) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) <= 1 && s.atWork == 0
}

// wait as long, or until the client is gone.
func (r *received) wait(d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-r.r.Context().Done():
	}
}

// every so many requests of its method.
func (r *received) every(n int64) bool { return r.n%n == 0 }

func (s *plantedServer) count(what string) {
	s.mu.Lock()
	s.report.Counts[what]++
	s.mu.Unlock()
}

// reset the connection instead of an answer.
func (r *received) reset() {
	conn, _, err := http.NewResponseController(r.w).Hijack()
	if err != nil {
		panic(err) // HTTP/1.1 over TCP
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}
