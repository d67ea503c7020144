package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
)

// receiver takes what a collector would, with OpenTelemetry's own messages.
type receiver struct {
	t      *testing.T
	mu     sync.Mutex
	status int
	reject int64
	got    []*collector.ExportMetricsServiceRequest
	asked  []*http.Request
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.t.Error(err)
	}
	message := &collector.ExportMetricsServiceRequest{}
	if err := proto.Unmarshal(body, message); err != nil {
		r.t.Error(err)
	}
	r.got, r.asked = append(r.got, message), append(r.asked, request)
	response := &collector.ExportMetricsServiceResponse{}
	if r.reject > 0 {
		response.PartialSuccess = &collector.ExportMetricsPartialSuccess{RejectedDataPoints: r.reject,
			ErrorMessage: "too old"}
	}
	answer, err := proto.Marshal(response)
	if err != nil {
		r.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.WriteHeader(r.status)
	_, _ = w.Write(answer)
}

func receive(t *testing.T) (*receiver, string) {
	r := &receiver{t: t, status: http.StatusOK}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL
}

// counted is a second in which a sale took half its target and one two and a half.
func counted(t *testing.T) run.Snapshot {
	t.Helper()
	operations := []users.Operation{{ID: "sale", Target: time.Second, Priority: 1}}
	all := tally.New([]time.Duration{time.Second}, []int{1}, 0, time.Minute)
	all.Count(tally.Sample{Done: 500 * time.Millisecond})
	all.Count(tally.Sample{Done: 2500 * time.Millisecond})
	all.Count(tally.Sample{Done: time.Second, Outcome: tally.Overload})
	page, err := all.Tick(40, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	return run.Snapshot{At: time.Second, Phase: run.Steady, Operations: operations, Page: page, Tally: all}
}

func push(t *testing.T, l *Live, to string) (messages []string) {
	t.Helper()
	address, err := Address(to)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Push(address, map[string]string{"service.name": "plimsoll", "service.version": "1"},
		func(text string) { messages = append(messages, text) })
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	if len(messages) != len(p.Troubles()) {
		t.Errorf("%q is not what the result says: %v", messages, p.Troubles())
	}
	return messages
}

// byName are the metrics of a message, and its only resource's attributes.
func byName(t *testing.T, m *collector.ExportMetricsServiceRequest) (all map[string]*otlp.Metric,
	resource map[string]string) {
	t.Helper()
	if len(m.ResourceMetrics) != 1 || len(m.ResourceMetrics[0].ScopeMetrics) != 1 {
		t.Fatalf("message %v, want one resource with one scope", m)
	}
	all, resource = map[string]*otlp.Metric{}, map[string]string{}
	for _, a := range m.ResourceMetrics[0].Resource.Attributes {
		resource[a.Key] = a.Value.GetStringValue()
	}
	for _, one := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		all[one.Name] = one
	}
	return all, resource
}

func TestCollectorGetsWhatPrometheusReads(t *testing.T) {
	r, url := receive(t)
	t.Setenv(PushHeaders, "Authorization=Bearer%20secret, X-Tenant=a")
	live := &Live{}
	if messages := push(t, live, url); len(messages) != 0 || len(r.got) != 0 {
		t.Errorf("before the run: %q, %d messages", messages, len(r.got))
	}
	live.Take(counted(t))
	began := time.Now()
	if messages := push(t, live, url+"/"); len(messages) != 0 || len(r.got) != 1 {
		t.Fatalf("%q, %d messages", messages, len(r.got))
	}
	if q := r.asked[0]; q.URL.Path != "/v1/metrics" || q.Header.Get("Content-Type") != "application/x-protobuf" ||
		q.Header.Get("Authorization") != "Bearer secret" || q.Header.Get("X-Tenant") != "a" {
		t.Errorf("%s, %v", q.URL, q.Header)
	}
	all, resource := byName(t, r.got[0])
	if resource["service.name"] != "plimsoll" || resource["service.version"] != "1" {
		t.Errorf("resource %v, want service plimsoll of version 1", resource)
	}
	text := read(t, live)
	for name := range all {
		if !strings.Contains(text, "# TYPE "+name+" ") {
			t.Errorf("Prometheus does not read %s", name)
		}
	}
	if n := strings.Count(text, "# TYPE "); n != len(all) {
		t.Errorf("%d metrics, Prometheus reads %d", len(all), n)
	}
	atWork := all["plimsoll_run_users"].GetGauge()
	if atWork == nil || len(atWork.DataPoints) != 1 || atWork.DataPoints[0].GetAsDouble() != 40 ||
		atWork.DataPoints[0].TimeUnixNano < uint64(began.UnixNano()) {
		t.Errorf("users %v", atWork)
	}
	checkOperations(t, all["plimsoll_run_operations_total"].GetSum())
	checkTimes(t, all["plimsoll_run_latency_target_units"].GetHistogram())
}

func checkOperations(t *testing.T, sum *otlp.Sum) {
	t.Helper()
	const cumulative = otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	if !sum.GetIsMonotonic() || sum.GetAggregationTemporality() != cumulative || len(sum.GetDataPoints()) != 4 {
		t.Fatalf("sum %v, want a cumulative, monotonic one with 4 points", sum)
	}
	for _, p := range sum.DataPoints {
		labels := map[string]string{}
		for _, a := range p.Attributes {
			labels[a.Key] = a.Value.GetStringValue()
		}
		if want := map[string]float64{"ok": 2, "overload": 1}[labels["outcome"]]; labels["operation"] != "sale" ||
			p.GetAsDouble() != want || p.StartTimeUnixNano == 0 || p.StartTimeUnixNano > p.TimeUnixNano {
			t.Errorf("%v: %v, want %v", labels, p, want)
		}
	}
}

func checkTimes(t *testing.T, h *otlp.Histogram) {
	t.Helper()
	if h.GetAggregationTemporality() != otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
		len(h.GetDataPoints()) != 1 {
		t.Fatalf("histogram %v, want a cumulative one with one point", h)
	}
	p := h.DataPoints[0]
	counts := []uint64{1, 0, 1, 0, 0} // to T, 2T, 3T, 4T, above
	if p.Count != 2 || p.GetSum() != 3 || len(p.ExplicitBounds) != 4 || p.ExplicitBounds[3] != 4 ||
		len(p.BucketCounts) != len(counts) {
		t.Fatalf("point %v, want 2 answers, sum 3, bounds to 4 and %d buckets", p, len(counts))
	}
	for i, n := range counts {
		if p.BucketCounts[i] != n {
			t.Errorf("%v, want %v", p.BucketCounts, counts)
		}
	}
}

func TestTroubleWithTheCollectorIsReportedAndHarmsNothing(t *testing.T) {
	live := &Live{}
	live.Take(counted(t))
	r, url := receive(t)
	for _, c := range []struct {
		name   string
		status int
		reject int64
		to     string
		want   string
	}{
		{"Refuses", http.StatusUnauthorized, 0, url, "401 Unauthorized"},
		{"RejectsSome", http.StatusOK, 3, url, "too old (3 metric data points rejected)"},
		{"NotThere", 0, 0, "http://127.0.0.1:1/secret", "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.status, r.reject = c.status, c.reject
			messages := push(t, live, c.to)
			if len(messages) != 1 || !strings.Contains(messages[0], c.want) || strings.Contains(messages[0], "secret") {
				t.Errorf("want one message without the secret, got %q", messages)
			}
		})
	}
	t.Run("SaidOnceUntilItIsOver", func(t *testing.T) {
		var all []string
		p := &Pusher{figures: live, say: func(text string) { all = append(all, text) }}
		for _, err := range []error{io.EOF, io.EOF, nil, io.EOF} {
			p.tell(err)
		}
		if len(all) != 2 || len(p.Troubles()) != 1 || p.Troubles()[0].AtS != 1 {
			t.Errorf("want two reports and the first in the result, got %q, %v", all, p.Troubles())
		}
	})
}

func TestAddressOfACollector(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:4318":             "http://127.0.0.1:4318/v1/metrics",
		"https://c.example/":                "https://c.example/v1/metrics",
		"https://c.example/otlp/v1/metrics": "https://c.example/otlp/v1/metrics",
		"127.0.0.1:4318":                    "", "ftp://c.example": "", "http://": "", "": "",
	} {
		got, err := Address(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	if _, err := Address("http://ann:secret@127.0.0.1:1"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an address with a password: %v", err)
	}
	t.Setenv(PushHeaders, "Authorization: Bearer secret")
	if _, err := (&Live{}).Push("http://127.0.0.1:1", nil, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("wrong headers: %v", err)
	}
}

// TestCollectorOfTheEnvironment by OpenTelemetry's rules: the flag goes first, then the variable of metrics alone,
// which is taken as it is, then that of all signals, which is completed.
func TestCollectorOfTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"None": {"", nil, ""},
		"All":  {"", map[string]string{PushEndpoint: "http://a:4318/otlp/"}, "http://a:4318/otlp/v1/metrics"},
		"Metrics": {"", map[string]string{PushEndpoint: "http://a:4318", pushEndpointOurs: "http://b/push"},
			"http://b/push"},
		"Flag":      {"http://c:4318", map[string]string{pushEndpointOurs: "http://b"}, "http://c:4318/v1/metrics"},
		"Disabled":  {"", map[string]string{PushEndpoint: "http://a:4318", disabled: "TRUE"}, ""},
		"NoMetrics": {"", map[string]string{PushEndpoint: "http://a:4318", exporters: "none"}, ""},
		"ByGRPC":    {"", map[string]string{PushEndpoint: "http://a:4317", pushProtocol: "grpc"}, ""},
		"OursByHTTP": {"", map[string]string{PushEndpoint: "http://a:4318", pushProtocol: "grpc",
			pushProtocolOurs: ourProtocol}, "http://a:4318/v1/metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{PushEndpoint, pushEndpointOurs, pushProtocol, pushProtocolOurs, disabled,
				exporters} {
				t.Setenv(variable, c.env[variable])
			}
			if got, err := Collector(c.flag); got != c.want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Setenv(PushEndpoint, "a:4318")
	if _, err := Collector(""); err == nil || !strings.Contains(err.Error(), PushEndpoint) {
		t.Errorf("a wrong address: %v", err)
	}
}
