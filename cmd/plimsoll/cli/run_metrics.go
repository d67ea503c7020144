package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/lab/metrics"
	"plimsoll/lab/run"
	"plimsoll/platform/problem"
)

// figureOptions say who else gets the figures of a run while it lasts.
type figureOptions struct {
	metrics, otlp string
}

func figureFlags(c *cobra.Command, o *figureOptions) {
	c.Flags().StringVar(&o.metrics, "metrics", "", "show live figures to Prometheus at this `ADDRESS`, such as 127.0.0.1:9187")
	c.Flags().StringVar(&o.otlp, "otlp", "", "send the same to the OpenTelemetry collector at this `URL`, such as http://127.0.0.1:4318;\nheaders for it are taken from "+metrics.PushHeaders)
}

// check what can be told wrong before a run is prepared.
func (o figureOptions) check() error {
	if o.otlp == "" {
		return nil
	}
	_, err := metrics.Address(o.otlp)
	return problem.New(problem.Usage, err, "--otlp takes an address such as http://127.0.0.1:4318")
}

// figures opens both ways out of one registry.
func (a *app) figures(o *run.Options, to figureOptions) (end func(), err error) {
	if to == (figureOptions{}) {
		return func() {}, nil
	}
	live := &metrics.Live{}
	before := o.Snapshot
	o.Snapshot = func(s run.Snapshot) {
		live.Take(s)
		if before != nil {
			before(s)
		}
	}
	served, err := serveFigures(live, to.metrics)
	if err != nil || to.otlp == "" {
		return served, err
	}
	host, _ := os.Hostname()
	pusher, err := live.Push(to.otlp, map[string]string{
		"service.name": "plimsoll", "service.version": o.Software, "service.instance.id": fmt.Sprintf("%s:%d", host, os.Getpid()),
	}, func(text string) { a.meter.Say("%s", text) })
	if err != nil {
		served()
		return nil, problem.New(problem.Usage, err, "")
	}
	return func() { pusher.Close(); served() }, nil
}

// serveFigures shows them to Prometheus.
func serveFigures(live *metrics.Live, address string) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("show figures: %w", err), "choose another with --metrics; port 0 takes a free one")
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
