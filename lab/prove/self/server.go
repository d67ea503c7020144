package self

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// witnessPath is answered at once and not counted.
const witnessPath = "/witness"

// server is a system of known behaviour. It counts and times by itself what it received.
type server struct {
	*http.Server
	base string
	play func(*received)
	busy sync.WaitGroup

	mu       sync.Mutex
	began    time.Time      // of the first request
	requests map[string]int // by method
	counts   map[string]int // what the behaviour counts
	services []time.Duration
}

// received is one request.
type received struct {
	*server
	w http.ResponseWriter
	r *http.Request
	n int           // of its method, from 1
	t time.Duration // since the first request
}

// listen on loopback with a behaviour.
func listen(play func(*received)) (*server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{base: "http://" + listener.Addr().String(), play: play, requests: map[string]int{},
		counts: map[string]int{}}
	s.Server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.busy.Add(1)
	go func() {
		defer s.busy.Done()
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // a listener on loopback of one's own
		}
	}()
	return s, nil
}

// close ends all connections and waits until nothing is at work.
func (s *server) close() {
	_ = s.Close()
	s.busy.Wait()
}

// ServeHTTP plays the behaviour.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == witnessPath {
		return
	}
	s.busy.Add(1)
	defer s.busy.Done()
	now := time.Now()
	s.mu.Lock()
	if s.began.IsZero() {
		s.began = now
	}
	s.requests[r.Method]++
	one := &received{s, w, r, s.requests[r.Method], now.Sub(s.began)}
	s.mu.Unlock()
	s.play(one)
	s.mu.Lock()
	s.services = append(s.services, time.Since(now))
	s.mu.Unlock()
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
func (r *received) every(n int) bool { return r.n%n == 0 }

func (s *server) count(what string) {
	s.mu.Lock()
	s.counts[what]++
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

// counted of the behaviour; served of all requests.
func (s *server) counted(what string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.counts[what])
}

func (s *server) served(methods ...string) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for method, of := range s.requests {
		if len(methods) == 0 || slices.Contains(methods, method) {
			n += int64(of)
		}
	}
	return n
}

// meanMS is the mean time of a request, by the server's own clock.
func (s *server) meanMS() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum time.Duration
	for _, d := range s.services {
		sum += d
	}
	return sum.Seconds() * 1000 / float64(max(1, len(s.services)))
}

// percentileMS is the least time that so large a share did not exceed.
func (s *server) percentileMS(p float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return percentile(s.services, p)
}
