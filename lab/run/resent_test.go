package run

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// breaking is a proxy that resets a connection at its second request, before or after the server's answer.
type breaking struct {
	server         string
	after          bool
	received, lost atomic.Int64
	busy           sync.WaitGroup
}

func (b *breaking) listen(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.busy.Add(1)
	go func() {
		defer b.busy.Done()
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.busy.Add(1)
			go func() { defer b.busy.Done(); b.pass(conn.(*net.TCPConn)) }()
		}
	}()
	t.Cleanup(func() { listener.Close(); b.busy.Wait() })
	return "http://" + listener.Addr().String()
}

// pass two requests on; the first is answered, and the second is reset.
func (b *breaking) pass(conn *net.TCPConn) {
	defer conn.Close()
	incoming := bufio.NewReader(conn)
	for n := range 2 {
		request, err := http.ReadRequest(incoming)
		if err != nil {
			return
		}
		b.received.Add(1)
		if n == 1 && !b.after {
			_, _ = io.Copy(io.Discard, request.Body)
			break
		}
		request.URL.Scheme, request.URL.Host, request.RequestURI = "http", b.server, ""
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			return
		}
		_ = answer.Write(conn)
		answer.Body.Close()
	}
	b.lost.Add(1)
	_ = conn.SetLinger(0)
}

const throughAProxy = `
application = "none"
users = 4
[think]
mean = "10ms"
[http]
base = "BASE"
[operations.look]
target = "500ms"
url = "/"
[operations.write]
target = "500ms"
method = "POST"
url = "/"
body = "{}"
headers = { Idempotency-Key = "k" }
`

// TestNothingIsResentSilently counts at a proxy which requests really came.
func TestNothingIsResentSilently(t *testing.T) {
	for _, c := range []struct {
		name  string
		after bool
	}{{"ResetBeforeTheAnswer", false}, {"ResetAfterTheAnswer", true}} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer server.Close()
			proxy := &breaking{server: strings.TrimPrefix(server.URL, "http://"), after: c.after}
			o := ownRun(t, strings.Replace(throughAProxy, "BASE", proxy.listen(t), 1))
			r := mustRun(t, t.Context(), o)
			received, lost := proxy.received.Load(), proxy.lost.Load()
			var sum int64
			for _, op := range r.Operations {
				sum += op.Resent
			}
			if lost == 0 || sum != r.Resent {
				t.Fatalf("%d connections were reset; %d requests resent, %d by operation", lost, r.Resent, sum)
			}
			if c.after { // some never came, because their connection was already reset
				if received > r.Ops+r.Resent {
					t.Errorf("%d requests came for %d operations and %d resent", received, r.Ops, r.Resent)
				}
				return
			}
			if received != r.Ops+r.Resent || lost != r.Resent+r.Errors {
				t.Errorf("%d requests came for %d operations and %d resent; %d connections were reset for %d resent "+
					"and %d failed", received, r.Ops, r.Resent, lost, r.Resent, r.Errors)
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "resent") {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}
