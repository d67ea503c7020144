package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/metrics"
	"plimsoll/platform/worker/secret"
	"plimsoll/platform/worker/server"
)

// figureOptions say where the figures of a run are published while it lasts.
type figureOptions struct {
	metrics, otlp string
	cert, key     string // of the connection to whoever reads metrics; empty: it is not encrypted
	token         string // that readers of metrics must send; empty: none
	insecure      bool   // allow other addresses than loopback without a certificate
}

func figureFlags(c *cobra.Command, o *figureOptions) {
	c.Flags().StringVar(&o.metrics, "metrics", "",
		"serve live Prometheus metrics at this `ADDRESS`, such as 127.0.0.1:9187")
	c.Flags().StringVar(&o.cert, "metrics-cert", "", "`FILE` with the certificate for --metrics; encrypts the "+
		"connection")
	c.Flags().StringVar(&o.key, "metrics-key", "", "`FILE` with the private key of --metrics-cert")
	c.Flags().StringVar(&o.otlp, "otlp", "", "send these metrics to the OpenTelemetry collector at this `URL`, such "+
		"as http://127.0.0.1:4318 (default: "+metrics.PushEndpoint+"); headers for it are taken from "+
		metrics.PushHeaders)
}

// check finds mistakes before a run is prepared.
func (o figureOptions) check() error {
	if err := o.checkMetrics(); err != nil {
		return err
	}
	address, err := metrics.Collector(o.otlp)
	if err != nil {
		return problem.New(problem.Usage, err, "--otlp takes an address such as http://127.0.0.1:4318")
	}
	if address == "" {
		return nil
	}
	headers, err := metrics.CheckHeaders()
	switch {
	case err != nil:
		return problem.New(problem.Usage, err, "such as Authorization=Bearer%20TOKEN, separated by commas")
	case headers && !o.insecure && run.Unencrypted(address):
		return problem.New(problem.Usage, fmt.Errorf("--otlp %s: the headers of %s would be sent unencrypted", address,
			metrics.PushHeaders), "reach the collector by https, or add --insecure on an isolated network")
	}
	return nil
}

// checkMetrics refuses an address that other machines reach without a token, or with a token that is not encrypted.
func (o figureOptions) checkMetrics() error {
	if (o.cert == "") != (o.key == "") {
		return problem.New(problem.Usage, errors.New("a certificate needs its key, and a key its certificate"),
			"give --metrics-cert and --metrics-key")
	}
	host, _, err := net.SplitHostPort(o.metrics)
	if err != nil || process.Loopback(host) {
		return nil
	}
	var why, hint string
	switch {
	case o.token == "":
		why, hint = "other machines can reach this address, and no token is set", "add --metrics-token-file, or "+
			"listen on 127.0.0.1"
	case o.cert == "" && !o.insecure:
		why, hint = "the token would be sent unencrypted", "add --metrics-cert and --metrics-key; or listen on "+
			"127.0.0.1 behind a tunnel, or on an isolated network with --insecure"
	default:
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("--metrics %s: %s", o.metrics, why), hint)
}

// figures opens both ways to read one registry.
func (a *app) figures(o *run.Options, to figureOptions) (end func(), err error) {
	collector, err := metrics.Collector(to.otlp)
	if err != nil || to.metrics == "" && collector == "" {
		return func() {}, err
	}
	live := &metrics.Live{}
	before := o.Snapshot
	o.Snapshot = func(s run.Snapshot) {
		live.Take(s)
		if before != nil {
			before(s)
		}
	}
	served, err := serveFigures(live, to)
	if err != nil || collector == "" {
		return served, err
	}
	host, _ := os.Hostname()
	pusher, err := live.Push(collector, map[string]string{
		"service.name": "plimsoll", "service.version": o.Software,
		"service.instance.id": fmt.Sprintf("%s:%d", host, os.Getpid()),
	}, func(text string) { a.meter.Say("%s", text) })
	if err != nil {
		served()
		return nil, problem.New(problem.Usage, err, "")
	}
	o.Published = func() []result.Event {
		pusher.Close()
		return pusher.Troubles()
	}
	return func() { pusher.Close(); served() }, nil
}

// handler serves the figures to clients that send the token.
func (o figureOptions) handler(live *metrics.Live) http.Handler {
	if o.token == "" {
		return live.Handler()
	}
	return secret.Required(o.token, live.Handler())
}

// serveFigures shows them to Prometheus.
func serveFigures(live *metrics.Live, o figureOptions) (end func(), err error) {
	if o.metrics == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", o.metrics)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("serve metrics: %w", err),
			"choose another with --metrics; port 0 takes a free one")
	}
	if o.cert != "" {
		encrypted, err := server.TLS(o.cert, o.key, slog.New(slog.DiscardHandler))
		if err != nil {
			listener.Close()
			return nil, problem.New(problem.Usage, err, "")
		}
		listener = tls.NewListener(listener, encrypted)
	}
	web := &http.Server{Handler: o.handler(live), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0)} // a client's mistakes do not belong in the output of the run
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
