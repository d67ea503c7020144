package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"plimsoll/lab/live"
	"plimsoll/platform/problem"
)

// AddressDefault takes any free port; a tunnel wants a port of one's own choice.
const AddressDefault = "127.0.0.1:0"

const (
	headersWithin = 10 * time.Second
	// farewell is how long a page has to fetch the last of the picture.
	farewell = 3 * time.Second
	// tokenBytes of chance are beyond guessing.
	tokenBytes = 24
)

// Hand is what may change the run: *run.Hand.
type Hand interface {
	SetUsers(n int) error
	Pause(paused bool) error
	End() error
}

// Server shows one run.
type Server struct {
	picture *live.Picture
	hand    Hand
	token   string
	listens net.Listener
	http    *http.Server
	served  sync.WaitGroup
	leaving chan struct{} // nobody waits for more of the picture
	leave   sync.Once
	pages   chan struct{} // one for each page that is open

	mu     sync.Mutex
	report string // path
}

// Start listens on address, which must be on loopback: there is no encryption, and the
// token would be everybody's on the way.
func Start(address string, picture *live.Picture, hand Hand) (*Server, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("listen for the dashboard: %w", err), "another --ui-address; port 0 takes any that is free")
	}
	s := &Server{
		picture: picture, hand: hand, token: newToken(), listens: listener,
		leaving: make(chan struct{}), pages: make(chan struct{}, pagesMost),
	}
	s.http = &http.Server{Handler: s.guarded(s.routes()), ReadHeaderTimeout: headersWithin}
	s.served.Add(1)
	go func() {
		defer s.served.Done()
		_ = s.http.Serve(listener) // ends with Close; what goes wrong with one page is that page's
	}()
	return s, nil
}

// CheckAddress tells what is wrong with it.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return problem.New(problem.Usage, fmt.Errorf("dashboard's address %q: must be HOST:PORT", address), "for example 127.0.0.1:7070")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return problem.New(problem.Usage, fmt.Errorf("dashboard's address %q: must be on loopback", address),
			"from another machine: ssh -L 7070:127.0.0.1:7070, with --ui-address 127.0.0.1:7070 here")
	}
	return nil
}

func newToken() string {
	token := make([]byte, tokenBytes)
	_, _ = rand.Read(token) // never fails
	return base64.RawURLEncoding.EncodeToString(token)
}

// URL is what a person opens: it carries the token.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/?token=%s", s.listens.Addr(), s.token) }

// SetReport lets the server show the run's report.
func (s *Server) SetReport(path string) {
	s.mu.Lock()
	s.report = path
	s.mu.Unlock()
}

// Close lets the pages have the last of the picture, and ends. A second one does nothing.
func (s *Server) Close() error {
	s.leave.Do(func() { close(s.leaving) })
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.served.Wait()
	return err
}
