package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	usersMax  = 1 << 17
	cardBytes = 1000
	token     = "Bearer bench"
)

// target is the application that every generator calls: it returns one card to whoever shows the token, with as little
// work as an HTTP server can do. It counts, and stands still on command.
type target struct {
	requests atomic.Int64
	refused  atomic.Int64 // without token or number
	seen     [usersMax]atomic.Bool
	users    atomic.Int64

	mu sync.RWMutex // held for writing while the application stands still
}

// report is the target's report.
type report struct {
	Requests int64 `json:"requests"`
	Refused  int64 `json:"refused"`
	Users    int64 `json:"users"` // distinct users that have called
}

var card = []byte(`{"id":7,"name":"` + strings.Repeat("x", cardBytes-18) + `"}`)

func (t *target) serveCard(w http.ResponseWriter, r *http.Request) {
	t.requests.Add(1)
	user, err := strconv.Atoi(r.Header.Get("X-User"))
	if r.Header.Get("Authorization") != token || err != nil || user < 0 || user >= usersMax {
		t.refused.Add(1)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	if !t.seen[user].Swap(true) {
		t.users.Add(1)
	}
	t.mu.RLock() // requests that arrive in a stall are answered at its end
	defer t.mu.RUnlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(card)
}

// stall delays all answers for a while.
func (t *target) stall(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.URL.Query().Get("for"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	time.Sleep(d)
	t.mu.Unlock()
}

func (t *target) serveFigures(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(report{Requests: t.requests.Load(), Refused: t.refused.Load(), Users: t.users.Load()})
}

// application is the generators' side; handle is the bench's.
func (t *target) application() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/cards/{id}", t.serveCard)
	return mux
}

func (t *target) handle() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /figures", t.serveFigures)
	mux.HandleFunc("POST /stall", t.stall)
	return mux
}

// addresses of a target, the first thing it prints.
type addresses struct {
	Application string `json:"application"`
	Handle      string `json:"handle"`
}

// serveTarget is the target's process; it ends with its parent.
func serveTarget(ctx context.Context) error {
	t := &target{}
	var listeners [2]net.Listener
	for i := range listeners {
		var err error
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("serve target: %w", err)
		}
	}
	at := addresses{"http://" + listeners[0].Addr().String(), "http://" + listeners[1].Addr().String()}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		return err
	}
	ended := make(chan error, len(listeners))
	for i, handler := range []http.Handler{t.application(), t.handle()} {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go func() { ended <- server.Serve(listeners[i]) }()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
