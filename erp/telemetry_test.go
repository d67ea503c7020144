package erp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/openapi/openapitest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
)

// eventLog collects events of a worker.
type eventLog struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *eventLog) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(b)
}

func (l *eventLog) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(l, nil)) }

// ofKind returns the events of a kind, parsed.
func (l *eventLog) ofKind(t *testing.T, kind string) (events []map[string]any) {
	t.Helper()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, line := range strings.Split(strings.TrimSpace(l.text.String()), "\n") {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("not JSON: %s", line)
		}
		if e["msg"] == kind {
			events = append(events, e)
		}
	}
	return events
}

func saleBody(t testing.TB, c *erptest.Company, o erptest.Organisation, quantity string) []byte {
	return openapitest.JSON(t, erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty,
		Lines: []erptest.Line{{Item: c.Items[0], Quantity: quantity}}})
}

func TestATraceSaysWhatARequestCost(t *testing.T) {
	company := erptest.New(t, 2)
	base := company.Worker(t, server.Config{})
	company.Stock(t, base, 1000)
	c := newCaller(t, company, base, company.Organisations[0])
	o := c.api.Find(t, "goods_sale.create")
	traced := func() map[string]any {
		status, header, answer := c.do(t, o, call{token: c.token,
			body:   saleBody(t, company, company.Organisations[0], "1"),
			header: map[string]string{"Plimsoll-Trace": "1"}})
		var trace map[string]any
		if err := json.Unmarshal([]byte(header.Get("Plimsoll-Trace")), &trace); status != 201 || err != nil {
			t.Fatalf("%d %s: %v in %q", status, answer, err, header.Get("Plimsoll-Trace"))
		}
		return trace
	}
	traced() // prepares its statements
	trace := traced()
	trips, _ := trace["trips"].([]any)
	if trace["operation"] != "goods_sale.create" || trace["status"] != 201.0 || trace["round_trips"] != 2.0 ||
		len(trips) != 2 || trace["statements"].(float64) < 10 {
		t.Errorf("trace %v", trace)
	}
	if first := fmt.Sprint(trips[0].(map[string]any)["statements"]); !strings.HasPrefix(first, "[begin claim key") {
		t.Errorf("the first trip carried %s", first)
	}
	major := company.Value(t, "SELECT current_setting('server_version_num')::integer / 10000")
	if wal, known := trace["wal_bytes"].(float64); known != (major >= "18") || known && wal < 500 ||
		!known && trace["wal_bytes"] != "unavailable" {
		t.Errorf("PostgreSQL %s wrote %v bytes of WAL", major, trace["wal_bytes"])
	}
	if cpu, known := trace["backend_cpu_ms"].(float64); !known || cpu <= 0 { // the tests' server is on this machine
		t.Errorf("processor time of the backend: %v", trace["backend_cpu_ms"])
	}
	if cpu, known := trace["worker_cpu_ms"].(float64); !known || cpu <= 0 {
		t.Errorf("processor time of the worker: %v", trace["worker_cpu_ms"])
	}
	if _, header, _ := c.do(t, o, call{token: c.token,
		body: saleBody(t, company, company.Organisations[0], "1")}); header.Get("Plimsoll-Trace") != "" {
		t.Error("a trace that nobody asked for")
	}
}

func TestTheEventLogTells(t *testing.T) {
	events := &eventLog{}
	c := erptest.New(t, 2)
	base, drain := c.StartWorker(t, server.Config{Events: events.logger(), Name: "first", Slow: time.Nanosecond,
		TraceSample: 1})
	u := erptest.Login(t, base, c.Organisations[0].User)
	if a := u.Call(t, "POST", "/v1/documents/goods-sale", "",
		saleBody(t, c, c.Organisations[0], "1")); a.Status != 409 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	receipt := u.Call(t, "POST", "/v1/documents/goods-receipt", "", saleBody(t, c, c.Organisations[0], "1"))
	if receipt.Status >= 300 {
		t.Fatalf("%d %s", receipt.Status, receipt.Body)
	}
	checkTracedLog(t, c, base)
	u.Call(t, "DELETE", "/v1/sessions/current", "", nil)
	drain()
	for kind, want := range map[string]string{
		"login": `user user0`, "logout": `user user0`, "refused": `control stock`,
		"slow": `operation goods_sale.create`, "trace": `operation:goods_sale.create`,
		"worker_starts": `worker first`, "worker_drains": `sessions 0`, "worker_ends": `drained true`,
	} {
		found := false
		for _, e := range events.ofKind(t, kind) {
			key, value, _ := strings.Cut(want, " ")
			found = found || fmt.Sprint(e[key]) == value || strings.Contains(fmt.Sprint(e), want)
		}
		if !found {
			t.Errorf("no %s with %s in\n%s", kind, want, events.text.String())
		}
	}
}

// checkTracedLog: the worker adds the log of traced requests up, where the server tells it.
func checkTracedLog(t *testing.T, c *erptest.Company, base string) {
	t.Helper()
	profile, err := server.Ask(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	if c.Value(t, "SELECT current_setting('server_version_num')::integer / 10000") >= "18" {
		want = 1
	}
	wal := profile.Operations["goods_receipt.create"].WALBytes
	if wal.Requests != want || (wal.Sum > 500) != (want > 0) {
		t.Errorf("the log of traced receipts: %+v", wal)
	}
}

func TestMetrics(t *testing.T) {
	c := erptest.New(t, 2)
	base := c.Worker(t, server.Config{})
	u := erptest.Login(t, base, c.Organisations[0].User)
	for range 3 {
		u.Call(t, "POST", "/v1/documents/goods-receipt", "", saleBody(t, c, c.Organisations[0], "1"))
	}
	u.Call(t, "POST", "/v1/documents/goods-sale", "", saleBody(t, c, c.Organisations[0], "5"))
	answer, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string, labels ...string) *dto.Metric {
		for _, m := range families[name].GetMetric() {
			matches := 0
			for _, l := range m.GetLabel() {
				for i := 0; i < len(labels); i += 2 {
					if l.GetName() == labels[i] && l.GetValue() == labels[i+1] {
						matches++
					}
				}
			}
			if 2*matches == len(labels) {
				return m
			}
		}
		t.Errorf("no %s %v", name, labels)
		return &dto.Metric{}
	}
	if n := of("plimsoll_requests_total", "operation", "goods_receipt.create", "status",
		"201").GetCounter().GetValue(); n != 3 {
		t.Errorf("%v receipts", n)
	}
	if n := of("plimsoll_requests_total", "operation", "goods_sale.create", "status",
		"409").GetCounter().GetValue(); n != 1 {
		t.Errorf("%v refusals", n)
	}
	if n := of("plimsoll_request_seconds", "operation",
		"goods_receipt.create").GetHistogram().GetSampleCount(); n != 3 {
		t.Errorf("%d latencies", n)
	}
	if n := of("plimsoll_round_trips_total", "operation", "goods_receipt.create").GetCounter().GetValue(); n < 6 {
		t.Errorf("%v round trips", n)
	}
	if n := of("plimsoll_sessions").GetGauge().GetValue(); n != 1 {
		t.Errorf("%v sessions", n)
	}
	for _, name := range []string{
		"plimsoll_requests_working", "plimsoll_requests_waiting", "plimsoll_queue_seconds",
		"plimsoll_session_data_memory_bytes", "plimsoll_session_data_disk_bytes",
		"plimsoll_session_data_hits_total", "plimsoll_session_data_spills_total", "plimsoll_pool_connections",
		"plimsoll_pool_wait_seconds_total",
		"plimsoll_temp_tables_created_total", "go_goroutines", "process_cpu_seconds_total",
	} {
		of(name)
	}
}

// lockTimeout of the sale whose wait for a lock times out. Meanwhile the watch must have looked once; it looks every
// tenth of a second, so this leaves a busy machine enough time.
const lockTimeout = "10s"

// withTimeout connects to the company's database with another lock timeout.
func withTimeout(t *testing.T, c *erptest.Company, timeout string) *database.Database {
	t.Helper()
	dsn, err := url.Parse(c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	query := dsn.Query()
	query.Set("lock_timeout", timeout)
	dsn.RawQuery = query.Encode()
	return databasetest.Connect(t, dsn.String(), database.Options{Application: "worker"})
}

// A lock timeout names the holder of the lock, across workers: a sale on one worker keeps the lock of an item while
// another session keeps that sale from ending.
func TestALockTimeoutTellsItsStory(t *testing.T) {
	c := erptest.New(t, 2)
	o := c.Organisations[0]
	patient, impatient := databasetest.Connect(t, c.DSN, database.Options{Application: "worker"}),
		withTimeout(t, c, lockTimeout)
	holding := erptest.Serve(t, patient, server.Config{Name: "holding", WatchAfter: 100 * time.Millisecond})
	events := &eventLog{}
	waiting := erptest.Serve(t, impatient,
		server.Config{Name: "waiting", WatchAfter: 100 * time.Millisecond, Events: events.logger()})
	c.Stock(t, holding, 1000)

	outside, err := impatient.Apart(t.Context(), "outside")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close(t.Context())
	// sales get as far as their entries, with their locks
	for _, sql := range []string{"BEGIN", "LOCK TABLE gl_general IN SHARE MODE"} {
		if _, err := outside.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan erptest.Answer, 1)
	holder := erptest.Login(t, holding, o.User)
	go func() {
		done <- holder.Call(t, "POST", "/v1/documents/goods-sale", "", saleBody(t, c, o, "1"))
	}()
	patience.Until(t, "the sale waits", func() bool {
		return c.Value(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "+
			"current_database()") == "1"
	})
	patience.Until(t, "the holder has told who it is", func() bool {
		return c.Value(t, "SELECT count(*) FROM plimsoll_running WHERE worker = 'holding'") == "1"
	})
	a := erptest.Login(t, waiting, o.User).Call(t, "POST", "/v1/documents/goods-sale", "", saleBody(t, c, o, "1"))
	var said struct {
		Error struct {
			Code, Message string
			Lock          struct {
				Holders []struct{ User, Operation, Worker, State string }
			}
		}
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || a.Status != 503 || said.Error.Code != "locked" ||
		len(said.Error.Lock.Holders) == 0 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if h := said.Error.Lock.Holders[0]; h.User != o.User || h.Operation != "goods_sale.create" ||
		h.Worker != "holding" || h.State == "" {
		t.Errorf("the story is %s", a.Body)
	}
	if !strings.Contains(said.Error.Message, o.User) || strings.Contains(string(a.Body), "SQLSTATE") {
		t.Errorf("message %q", said.Error.Message)
	}
	timeouts := events.ofKind(t, "lock_timeout")
	if len(timeouts) != 1 || !strings.Contains(fmt.Sprint(timeouts), "worker:holding") {
		t.Errorf("events %v", timeouts)
	}
	if _, err := outside.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.Status != 201 {
		t.Errorf("the holder: %d %s", a.Status, a.Body)
	}
	erptest.Clean(t, c.Database)
}
