package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"plimsoll/lab/run/result"
)

const (
	// PushEvery is the interval of pushes, unless pushInterval says another. Sums count from the start of the run, so
	// the next push makes up for a lost one.
	PushEvery    = 5 * time.Second
	pushInterval = "OTEL_METRIC_EXPORT_INTERVAL"
	// pushWithin bounds a push, so that a hanging collector does not delay the end of a run.
	pushWithin = 5 * time.Second
	// pushPath is the default path of a collector (OTLP/HTTP, "Endpoint URLs").
	pushPath = "/v1/metrics"
)

// Variables of OpenTelemetry that this package reads itself; the library reads the rest (TLS, compression, attributes).
const (
	// PushHeaders are headers for the collector, such as Authorization=Bearer%20…
	PushHeaders     = "OTEL_EXPORTER_OTLP_HEADERS"
	pushHeadersOurs = "OTEL_EXPORTER_OTLP_METRICS_HEADERS"
	// PushEndpoint is the collector of all signals, without their paths.
	PushEndpoint     = "OTEL_EXPORTER_OTLP_ENDPOINT"
	pushEndpointOurs = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	pushProtocol     = "OTEL_EXPORTER_OTLP_PROTOCOL"
	pushProtocolOurs = "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"
	ourProtocol      = "http/protobuf"
	disabled         = "OTEL_SDK_DISABLED"
	exporters        = "OTEL_METRICS_EXPORTER"
)

// Collector is where figures go: to the address of the flag, else to that of OpenTelemetry's variables, unless they
// turn metrics off or ask for another protocol. Empty: nowhere.
func Collector(flag string) (address string, err error) {
	switch everybody, ours := os.Getenv(PushEndpoint), os.Getenv(pushEndpointOurs); {
	case flag != "":
		return Address(flag)
	case strings.EqualFold(os.Getenv(disabled), "true"), os.Getenv(exporters) == "none",
		cmp.Or(os.Getenv(pushProtocolOurs), os.Getenv(pushProtocol), ourProtocol) != ourProtocol:
		return "", nil
	case ours != "":
		if address, err = Address(ours); err != nil {
			err = fmt.Errorf("%s: %w", pushEndpointOurs, err)
		}
		return address, err
	case everybody != "":
		if address, err = Address(strings.TrimRight(everybody, "/") + pushPath); err != nil {
			err = fmt.Errorf("%s: %w", PushEndpoint, err)
		}
		return address, err
	}
	return "", nil
}

// Address completes a collector's address as the user gave it.
func Address(text string) (string, error) {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return "", fmt.Errorf("push figures: %q is not a collector's address", text)
	}
	if address.User != nil {
		return "", fmt.Errorf("push figures: a collector's address has no user and password; they belong into %s",
			PushHeaders)
	}
	if strings.Trim(address.Path, "/") == "" {
		address.Path = pushPath
	}
	return address.String(), nil
}

// CheckHeaders finds headers that the library would leave out, and show. It says whether there are any.
func CheckHeaders() (any bool, err error) {
	for _, variable := range []string{PushHeaders, pushHeadersOurs} {
		for _, pair := range strings.Split(os.Getenv(variable), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			name, value, has := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !has || err != nil || strings.TrimSpace(name) == "" || strings.ContainsAny(value, "\r\n") {
				// not the value: it is a secret
				return true, fmt.Errorf("push figures: %s is not a list of name=value", variable)
			}
			any = true
		}
	}
	return any, nil
}

// Pusher sends the figures of a run to an OpenTelemetry collector: OTLP over HTTP, the same registry that Prometheus
// reads.
type Pusher struct {
	figures  *Live
	address  string
	provider *metric.MeterProvider
	say      func(string)
	closing  sync.Once

	mu       sync.Mutex
	troubled bool // and this was reported
	troubles []result.Event
}

// Push starts sending. A failure is said when it begins, and the first is kept for the result: a run does not depend on
// its monitoring.
func (l *Live) Push(address string, attributes map[string]string, say func(string)) (*Pusher, error) {
	if _, err := CheckHeaders(); err != nil {
		return nil, err
	}
	exporter, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpointURL(address),
		otlpmetrichttp.WithTimeout(pushWithin), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true,
			InitialInterval: pushWithin / 10, MaxInterval: pushWithin / 2, MaxElapsedTime: pushWithin}))
	if err != nil {
		return nil, fmt.Errorf("push figures: %w", err)
	}
	var known []attribute.KeyValue
	for name, value := range attributes {
		known = append(known, attribute.String(name, value))
	}
	// What the environment says of this service wins; a mistake there costs an attribute alone.
	about, _ := resource.New(context.Background(), resource.WithAttributes(known...), resource.WithFromEnv())
	p := &Pusher{figures: l, address: address, say: say}
	options := []metric.PeriodicReaderOption{metric.WithTimeout(pushWithin),
		metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(l.registry())))}
	if os.Getenv(pushInterval) == "" {
		options = append(options, metric.WithInterval(PushEvery))
	}
	p.provider = metric.NewMeterProvider(metric.WithResource(about),
		metric.WithReader(metric.NewPeriodicReader(told{exporter, p.tell}, options...)))
	return p, nil
}

// told is an exporter whose failures we tell ourselves: the library would write them to stderr.
type told struct {
	metric.Exporter
	tell func(error)
}

func (t told) Export(ctx context.Context, figures *metricdata.ResourceMetrics) error {
	if len(figures.ScopeMetrics) == 0 {
		return nil // before the first second of load
	}
	t.tell(t.Exporter.Export(ctx, figures))
	return nil
}

// Close sends the last figures. A second call does nothing.
func (p *Pusher) Close() {
	p.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), pushWithin)
		defer cancel()
		if err := p.provider.Shutdown(ctx); err != nil {
			p.tell(err)
		}
	})
}

// Troubles are what the result says of pushes that failed: when that began first, and why.
func (p *Pusher) Troubles() []result.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.troubles
}

// tell reports a failure when it begins.
func (p *Pusher) tell(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil && !p.troubled {
		text := "the OpenTelemetry collector receives no figures: " + p.reason(err)
		p.say(text)
		if p.troubles == nil {
			p.troubles = []result.Event{{AtS: p.figures.at().Seconds(), Text: text}}
		}
	}
	p.troubled = err != nil
}

// reason without the address, which may hold a secret.
func (p *Pusher) reason(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return strings.ReplaceAll(err.Error(), p.address, "it")
}
