package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/session"
	"plimsoll/test/leak"
	"plimsoll/test/patience"
)

// logged is a log that may be read while the server writes it.
type logged struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// bundle is a worker whose report "wait" tells when it has begun, and ends when it may.
type bundle struct {
	*Server
	db      *databasetest.Test
	begun   chan struct{}
	release chan struct{}
	log     *logged
	url     string
	token   string
	stop    context.CancelFunc
	ended   chan error
	client  *http.Client
}

// setup logs a user in.
func setup(t *testing.T, config Config) *bundle {
	b := serving(t, config, func(l net.Listener) net.Listener { return l })
	status, _, body := b.call(t, "POST", "/v1/sessions", `{"user":"known"}`)
	var opened struct{ Token string }
	if status != 201 || json.Unmarshal([]byte(body), &opened) != nil {
		t.Fatalf("log in: %d %s", status, body)
	}
	b.token = opened.Token
	return b
}

// knownID is the user's who can log in.
var knownID = id.New()

func serving(t *testing.T, config Config, on func(net.Listener) net.Listener) *bundle {
	b := &bundle{db: schematest.Open(t), begun: make(chan struct{}, 100), release: make(chan struct{}),
		log: &logged{}, ended: make(chan error, 1), client: http.DefaultClient}
	app := Application{
		Metadata: &metadata.Application{Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}}},
		Login: func(_ context.Context, _ *database.Database, user string) (session.User, error) {
			if user != "known" {
				return session.User{}, ErrUnknownUser
			}
			return session.User{ID: knownID, Organisation: id.New(), Code: user}, nil
		},
		Users: func(context.Context, *database.Database) (int64, error) { return 7, nil },
		Reports: map[string]Report{
			"wait": {Run: func(context.Context, *database.Database, session.User, url.Values) ([]byte, error) {
				b.begun <- struct{}{}
				<-b.release
				return []byte(`{}`), nil
			}},
			"panic": {Run: func(context.Context, *database.Database, session.User, url.Values) ([]byte, error) {
				panic("secret of the code")
			}},
			"broken": {Run: func(ctx context.Context, db *database.Database, _ session.User, _ url.Values) ([]byte,
				error) {
				return nil, db.Read(ctx, func(w *database.Work) error {
					w.Queue("q",
						"SELECT secret FROM nowhere")
					return nil
				})
			}},
		},
	}
	if err := schema.Migrate(t.Context(), b.db.Database, app.Metadata); err != nil {
		t.Fatal(err)
	}
	config.Database, config.Log = b.db.Database, slog.New(slog.NewTextHandler(b.log, nil))
	var err error
	if b.Server, err = New(config, app); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.url = "http://" + listener.Addr().String()
	if config.TLS != nil {
		b.url = "https://" + listener.Addr().String()
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	served := make(chan struct{})
	go func() {
		defer close(served)
		b.ended <- b.Serve(ctx, on(listener))
	}()
	t.Cleanup(func() {
		stop()
		b.client.CloseIdleConnections()
		<-served // before its database goes
	})
	return b
}

func (b *bundle) call(t *testing.T, method, path, body string) (int, http.Header, string) {
	r, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := b.client.Do(r)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, string(text)
}

// direct makes a request of the user without a connection, on which the client, too, would have to be quick.
func (b *bundle) direct(method, path, body string) (status int, text string) {
	r, answer := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	b.Handler().ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

// logInDirect is what setup does, by direct.
func (b *bundle) logInDirect(t *testing.T) {
	t.Helper()
	var opened struct{ Token string }
	status, body := b.direct("POST", "/v1/sessions", `{"user":"known"}`)
	if status != 201 || json.Unmarshal([]byte(body), &opened) != nil {
		t.Fatalf("log in: %d %s", status, body)
	}
	b.token = opened.Token
}

// background makes a request that will wait, and returns where its status will be.
func (b *bundle) background(t *testing.T) chan int {
	status := make(chan int, 1)
	go func() {
		code, _, _ := b.call(t, "GET", "/v1/reports/wait", "")
		status <- code
	}()
	return status
}

func TestOverload(t *testing.T) {
	b := setup(t, Config{Concurrency: 1, Queue: 1, QueueTimeout: time.Minute})
	working := b.background(t)
	<-b.begun
	queued := b.background(t)
	patience.Until(t, "a request is queued", func() bool { return b.gate.load() == 1 })

	status, header, body := b.call(t, "GET", "/v1/reports/wait", "")
	if status != 503 || header.Get("Retry-After") != "1" || !strings.Contains(body, `"overloaded"`) {
		t.Errorf("beyond the queue: %d, Retry-After %q, %s", status, header.Get("Retry-After"), body)
	}
	if _, _, body := b.call(t, "GET", "/health/running", ""); !strings.Contains(body, `{"running":{`) {
		t.Errorf("running: %s", body)
	}
	for _, path := range []string{"/health/live", "/health/profile", "/health/running"} {
		if status, _, _ := b.call(t, "GET", path, ""); status != 200 {
			t.Errorf("%s under overload: %d", path, status)
		}
	}
	// Not ready is a worker whose database does not answer within a second, for a while, too.
	patience.Until(t, "a worker under overload is ready", func() bool {
		status, _, _ := b.call(t, "GET", "/health/ready", "")
		return status == 200
	})
	close(b.release)
	if first, second := <-working, <-queued; first != 200 || second != 200 {
		t.Errorf("what was accepted got %d and %d", first, second)
	}
	if p := b.Profile()["report.wait"]; p.Done != 2 || p.Overloaded != 1 || p.Unnamed != 3 {
		t.Errorf("profile %+v", p)
	}
}

func TestWaitingInTheQueueEnds(t *testing.T) {
	t.Run("AfterItsTimeout", func(t *testing.T) {
		b := setup(t, Config{Concurrency: 1, QueueTimeout: time.Millisecond})
		working := b.background(t)
		<-b.begun
		if status, _, _ := b.call(t, "GET", "/v1/reports/wait", ""); status != 503 {
			t.Errorf("got %d", status)
		}
		close(b.release)
		<-working
	})
	t.Run("WhenTheClientGoes", func(t *testing.T) {
		b := setup(t, Config{Concurrency: 1, QueueTimeout: time.Minute})
		working := b.background(t)
		<-b.begun
		ctx, leave := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, "GET", b.url+"/v1/reports/wait", nil)
		r.Header.Set("Authorization", "Bearer "+b.token)
		gone := make(chan error, 1)
		go func() { _, err := http.DefaultClient.Do(r); gone <- err }()
		patience.Until(t, "the request is queued", func() bool { return b.gate.load() == 1 })
		leave()
		patience.Until(t, "its place is free", func() bool { return b.gate.load() == 0 })
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(b.release)
		<-working
	})
}

func TestDrain(t *testing.T) {
	t.Run("FinishesWhatWasAccepted", func(t *testing.T) {
		b := setup(t, Config{Concurrency: 1, QueueTimeout: time.Minute, DrainTimeout: time.Minute})
		working := b.background(t)
		<-b.begun
		queued := b.background(t)
		patience.Until(t, "a request is queued", func() bool { return b.gate.load() == 1 })
		b.stop()
		patience.Until(t, "no new connection is taken", func() bool {
			c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		ready := httptest.NewRecorder()
		b.Handler().ServeHTTP(ready, httptest.NewRequest("GET", "/health/ready", nil))
		if ready.Code != 503 {
			t.Errorf("a draining worker is ready: %d", ready.Code)
		}
		close(b.release)
		if first, second, err := <-working, <-queued, <-b.ended; first != 200 || second != 200 || err != nil {
			t.Errorf("got %d and %d; Serve: %v", first, second, err)
		}
	})
	t.Run("SaysWhenItTookTooLong", func(t *testing.T) {
		b := setup(t, Config{Concurrency: 1, DrainTimeout: time.Millisecond})
		working := b.background(t)
		<-b.begun
		b.stop()
		if err := <-b.ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(b.release)
		<-working
	})
}

func TestRequests(t *testing.T) {
	b := setup(t, Config{})
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"OfUnknownPathAreNotFound":      {"GET", "/v1/nothing", "", 404, `"not_found"`},
		"OfUnknownCatalogAreNotFound":   {"GET", "/v1/catalogs/none;drop", "", 404, `"not_found"`},
		"OfUnknownReportAreNotFound":    {"GET", "/v1/reports/none", "", 404, `"not_found"`},
		"OfUnknownDocumentAreNotFound":  {"POST", "/v1/documents/none", "{}", 404, `"not_found"`},
		"WithTooLargeABodyAreRefused":   {"POST", "/v1/sessions", strings.Repeat("x", BodyMax+1), 413, `"too_large"`},
		"ToLogInAsNobodyAreRefused":     {"POST", "/v1/sessions", `{"user":"nobody"}`, 401, `"unauthorized"`},
		"ToLogInWithoutAUserAreInvalid": {"POST", "/v1/sessions", `[]`, 400, `"invalid"`},
		"ThatPanicAreInternal":          {"GET", "/v1/reports/panic", "", 500, `"internal"`},
		"ThatBreakInSQLAreInternal":     {"GET", "/v1/reports/broken", "", 500, `"sqlstate":"42P01"`},
		"WithAWrongLimitAreInvalid":     {"GET", "/v1/catalogs/things?limit=1001", "", 400, `limit`},
		"WithAWrongCursorAreInvalid":    {"GET", "/v1/catalogs/things?after=x", "", 400, `after`},
		"WithAZeroInTheSearchAreBad":    {"GET", "/v1/catalogs/things?search=%00", "", 400, `search`},
		"WithNoTextInTheSearchAreBad":   {"GET", "/v1/catalogs/things?search=%ff", "", 400, `search`},
		"ForAListAreAnswered":           {"GET", "/v1/catalogs/things?search='%22%25", "", 200, `{"items":[]}`},
		"ForTheApplicationAreAnswered":  {"GET", "/v1/application", "", 200, `"users":7`},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := b.call(t, c.method, c.path, c.body)
			if status != c.status || !strings.Contains(body, c.want) || !json.Valid([]byte(body)) {
				t.Errorf("got %d %s, want %d …%s…", status, body, c.status, c.want)
			}
			if strings.Contains(body, "secret") || strings.Contains(body, "nowhere") ||
				strings.Contains(body, "goroutine") {
				t.Errorf("the client was told %s", body)
			}
		})
	}
	if log := b.log.String(); !strings.Contains(log, "nowhere") || !strings.Contains(log, "secret of the code") {
		t.Error("the log does not say what happened")
	}
	if profile := b.Profile(); len(profile) > 12 {
		t.Errorf("names of requests became names of operations: %v", profile)
	}
}

func TestABodyThatDoesNotComeHoldsNoSlot(t *testing.T) {
	b := setup(t, Config{Concurrency: 1, Queue: -1})
	connection, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprint(connection, "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: 100\r\n\r\n{")
	if status, _, _ := b.call(t, "GET", "/v1/application", ""); status != 200 {
		t.Errorf("with the other one running: %d", status)
	}
	connection.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(connection)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
		t.Errorf("%v: %s", err, answer)
	}
}

// Clients that send a byte now and then are cut off, and do not keep others from working.
func TestSlowClientsAreCutOff(t *testing.T) {
	b := serving(t, Config{Concurrency: 1, Queue: -1, HeaderTimeout: 2 * time.Second,
		BodyTimeout: 3 * time.Second}, func(l net.Listener) net.Listener { return l })
	b.logInDirect(t)
	const count = 60
	ended := make(chan error, count)
	for n := range count {
		connection, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		start := "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\n" // and no end of the header
		if n%2 == 0 {
			start += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
		}
		fmt.Fprint(connection, start)
		go func() {
			for { // dribbles until it is cut off
				if _, err := fmt.Fprint(connection, "a"); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		go func() {
			_, err := io.Copy(io.Discard, connection)
			ended <- err
		}()
	}
	if status, _ := b.direct("GET", "/v1/application", ""); status != 200 {
		t.Errorf("with the others running: %d", status)
	}
	for range count {
		<-ended // or the test never ends
	}
}

func TestSessionsAreNeeded(t *testing.T) {
	b := setup(t, Config{MaxSessions: 1})
	if status, header, _ := b.call(t, "POST", "/v1/sessions", `{"user":"known"}`); status != 503 ||
		header.Get("Retry-After") == "" {
		t.Errorf("beyond the limit of sessions: %d", status)
	}
	if status, _, _ := b.call(t, "DELETE", "/v1/sessions/current", ""); status != 204 || b.Sessions() != 0 {
		t.Errorf("log out: %d", status)
	}
	for _, path := range []string{"/v1/catalogs/things", "/v1/reports/wait"} {
		if status, _, _ := b.call(t, "GET", path, ""); status != 401 {
			t.Errorf("%s without a session: %d", path, status)
		}
	}
}

func TestNewRefusesWhatCannotServe(t *testing.T) {
	for name, app := range map[string]Application{
		"AWrongDescription": {Metadata: &metadata.Application{Catalogs: []metadata.Catalog{{Name: "x y"}}}},
		"NoDatabase":        {Metadata: &metadata.Application{}},
	} {
		if _, err := New(Config{}, app); err == nil {
			t.Error(name)
		}
	}
	if got := fmt.Sprint(New(Config{}, Application{Metadata: &metadata.Application{}})); !strings.Contains(got,
		"database") {
		t.Error(got)
	}
}
