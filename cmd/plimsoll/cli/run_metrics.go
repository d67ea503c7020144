package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"plimsoll/lab/metrics"
	"plimsoll/lab/run"
	"plimsoll/platform/problem"
)

// serveMetrics shows a run to Prometheus while it lasts.
func serveMetrics(o *run.Options, address string) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("show figures: %w", err), "choose another with --metrics; port 0 takes a free one")
	}
	live := &metrics.Live{}
	before := o.Snapshot
	o.Snapshot = func(s run.Snapshot) {
		live.Take(s)
		if before != nil {
			before(s)
		}
	}
	web := &http.Server{Handler: live.Handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return // the run goes on without
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = web.Shutdown(ctx)
		<-served
	}, nil
}
