package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"
)

const (
	// PushEvery is the interval of pushes. Sums count from the start of the run, so the next push makes up for a lost
	// one, and none is repeated.
	PushEvery = 5 * time.Second
	// pushWithin bounds a push, so that a hanging collector does not delay the end of a run.
	pushWithin = 5 * time.Second
	// pushPath is the default path of a collector (OTLP/HTTP, "Endpoint URLs").
	pushPath = "/v1/metrics"
	// PushHeaders is the environment variable with headers for the collector, such as Authorization=Bearer%20…
	PushHeaders = "OTEL_EXPORTER_OTLP_HEADERS"
)

// Pusher sends the figures of a run to an OpenTelemetry collector: OTLP over HTTP, the same registry that Prometheus
// reads.
type Pusher struct {
	to       string
	headers  http.Header
	gatherer prometheus.Gatherer
	client   http.Client
	resource map[string]string
	say      func(string)
	began    time.Time

	troubled bool // and this was reported
	stop     context.CancelFunc
	pushes   sync.WaitGroup
}

// Address completes a collector's address as the user gave it.
func Address(text string) (string, error) {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return "", fmt.Errorf("push figures: %q is not a collector's address", text)
	}
	if strings.Trim(address.Path, "/") == "" {
		address.Path = pushPath
	}
	return address.String(), nil
}

// Push starts sending. A failure is reported once until it succeeds again: a run does not depend on its monitoring.
func (l *Live) Push(to string, resource map[string]string, say func(string)) (*Pusher, error) {
	address, err := Address(to)
	if err != nil {
		return nil, err
	}
	headers, err := headersOf(os.Getenv(PushHeaders))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pusher{to: address, headers: headers, gatherer: l.registry(), resource: resource, say: say, began: time.Now(),
		stop: stop}
	p.client.Timeout = pushWithin
	p.pushes.Add(1)
	go func() { defer p.pushes.Done(); p.keepOn(ctx) }()
	return p, nil
}

// headersOf parses names and values of a W3C Baggage list: escaped, separated by commas.
func headersOf(list string) (http.Header, error) {
	headers := http.Header{}
	for _, pair := range strings.Split(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.ContainsAny(value, "\r\n") {
			// not the value: it is a secret
			return nil, fmt.Errorf("push figures: %s is not a list of name=value", PushHeaders)
		}
		headers.Set(strings.TrimSpace(name), value)
	}
	return headers, nil
}

// Close sends the last figures.
func (p *Pusher) Close() {
	p.stop()
	p.pushes.Wait()
	p.tell(p.push(context.Background()))
}

func (p *Pusher) keepOn(ctx context.Context) {
	tick := time.NewTicker(PushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := p.push(ctx); ctx.Err() == nil {
				p.tell(err)
			}
		}
	}
}

// tell reports a failure when it begins.
func (p *Pusher) tell(err error) {
	if err != nil && !p.troubled {
		p.say(fmt.Sprintf("the collector receives no figures: %v", err))
	}
	p.troubled = err != nil
}

// push sends what there is; before the first second of load that is nothing.
func (p *Pusher) push(ctx context.Context) error {
	families, err := p.gatherer.Gather()
	if err != nil || len(families) == 0 {
		return err
	}
	message, err := proto.Marshal(exported(families, p.resource, p.began, time.Now()))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to, bytes.NewReader(message))
	if err != nil {
		return err
	}
	request.Header = p.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := p.client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may hold a secret
		}
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it responds with %s", answer.Status)
	}
	var response collector.ExportMetricsServiceResponse
	if proto.Unmarshal(body, &response) == nil && response.GetPartialSuccess().GetRejectedDataPoints() > 0 {
		return fmt.Errorf("it rejects %d figures: %s", response.GetPartialSuccess().GetRejectedDataPoints(),
			response.GetPartialSuccess().GetErrorMessage())
	}
	return nil
}
