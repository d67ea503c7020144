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

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/live"
)

// AddressDefault takes any free port; a tunnel needs a fixed one.
const AddressDefault = "127.0.0.1:0"

const (
	headersWithin = 10 * time.Second
	// farewellDefault is how long a page has to fetch the last news.
	farewellDefault = 3 * time.Second
	// tokenBytes of randomness cannot be guessed.
	tokenBytes = 24
)

// Controller changes the load of a run: *run.LoadControl.
type Controller interface {
	SetUsers(n int) error
	Pause(paused bool) error
	End() error
}

// Server shows one run.
type Server struct {
	picture    *live.Picture
	controller Controller
	token      string
	listens    net.Listener
	http       *http.Server
	served     sync.WaitGroup
	leaving    chan struct{} // closed when pages must end
	leave      sync.Once
	pages      chan struct{} // one for each page that is open
	// They default to farewellDefault and eventGapDefault.
	farewell, eventGap time.Duration

	mu     sync.Mutex
	report string // path
}

// Start listens on address, which must be on loopback: without encryption others could read the token.
func Start(address string, picture *live.Picture, controller Controller) (*Server, error) {
	return start(address, picture, controller, eventGapDefault)
}

func start(address string, picture *live.Picture, controller Controller, interval time.Duration) (*Server, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("listen for the dashboard: %w", err),
			"choose another --ui-address; port 0 takes a free one")
	}
	s := &Server{
		picture: picture, controller: controller, token: newToken(), listens: listener,
		leaving: make(chan struct{}), pages: make(chan struct{}, pagesMost), farewell: farewellDefault,
		eventGap: interval,
	}
	s.http = &http.Server{Handler: s.guarded(s.routes()), ReadHeaderTimeout: headersWithin}
	s.served.Add(1)
	go func() {
		defer s.served.Done()
		_ = s.http.Serve(listener) // ends with Close; errors of one page concern that page only
	}()
	return s, nil
}

// CheckAddress says what is wrong with an address.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return problem.New(problem.Usage, fmt.Errorf("dashboard's address %q: must be HOST:PORT", address),
			"for example 127.0.0.1:7070")
	}
	if !process.Loopback(host) {
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

// URL is the address for the user, with the token.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/?token=%s", s.listens.Addr(), s.token) }

// SetReport lets the server show the run's report.
func (s *Server) SetReport(path string) {
	s.mu.Lock()
	s.report = path
	s.mu.Unlock()
}

// Close lets the pages fetch the last news, and ends. A second call does nothing.
func (s *Server) Close() error {
	s.leave.Do(func() { close(s.leaving) })
	ctx, cancel := context.WithTimeout(context.Background(), s.farewell)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.served.Wait()
	return err
}
