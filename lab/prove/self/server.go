package self

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"plimsoll/lab/run/worker"
)

// server is the handle of a planted server, and what it counted when it was last asked.
type server struct {
	*worker.Worker
	report
}

// plant a server of known behaviour as a process of its own, which ends with this one however that ends.
func (s *stage) plant(ctx context.Context, behaviour, dsn string) (*server, error) {
	w, err := worker.Start(ctx, append(slices.Clone(s.Program), "planted", behaviour), []string{"PLIMSOLL_DSN=" + dsn},
		nil)
	if err != nil {
		return nil, fmt.Errorf("plant a server: %w", err)
	}
	return &server{Worker: w}, nil
}

// ask what it counted so far.
func (s *server) ask(ctx context.Context) error { return s.read(ctx, s.URL+reportPath) }

// askCounts asks it for its counts alone, which costs it nothing under load.
func (s *server) askCounts(ctx context.Context) error {
	return s.read(ctx, s.URL+reportPath+"?"+countsOnly)
}

// settle asks it when a load is over.
func (s *server) settle(ctx context.Context) error { return s.read(ctx, s.URL+reportPath+"?"+settled) }

func (s *server) read(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("ask the planted server: %w", err)
	}
	defer answer.Body.Close()
	s.report = report{}
	if err := json.NewDecoder(answer.Body).Decode(&s.report); err != nil {
		return fmt.Errorf("ask the planted server: %w", err)
	}
	return nil
}

// counted of the behaviour; served of all requests.
func (s *server) counted(what string) int64 { return s.Counts[what] }

func (s *server) served(methods ...string) (n int64) {
	for method, counts := range s.Requests {
		if len(methods) == 0 || slices.Contains(methods, method) {
			n += counts
		}
	}
	return n
}

// meanMS is the mean time of a request, by the server's own clock.
func (s *server) meanMS() float64 {
	var sum time.Duration
	for _, d := range s.Services {
		sum += d
	}
	return sum.Seconds() * 1000 / float64(max(1, len(s.Services)))
}

// percentileMS is the least time that so large a share did not exceed.
func (s *server) percentileMS(p float64) float64 { return percentile(s.Services, p) }
