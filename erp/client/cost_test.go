package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"unsafe"

	"plimsoll/erp/client"
	"plimsoll/erp/operations"
	"plimsoll/platform/worker/server"
)

// canned answers immediately, so that only the client's own cost is measured.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, status := `{"items":[{}]}`, 200
	if r.Method == http.MethodPost {
		body, status = `{"id":"018bcfe5-687b-7fff-bfff-ffffffffffff","number":"GS-1","posted":true}`, 201
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// switched uses the network to log in, and none afterwards.
type switched struct {
	http.RoundTripper
	off bool
}

func (s *switched) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.off {
		return canned{}.RoundTrip(r)
	}
	return s.RoundTripper.RoundTrip(r)
}

// Thirty thousand users must fit on one machine together with everything else.
func TestAUserCostsLittle(t *testing.T) {
	if size := unsafe.Sizeof(client.Session{}); size > 256 {
		t.Errorf("a session has %d bytes", size)
	}
	_, url := base(t, server.Config{})
	transport := &switched{RoundTripper: pool(t)}
	c := client.New(client.Options{Transport: transport, RefusedShare: -1})
	s, rng := login(t, c, url, 1), random(1)
	transport.off = true
	for operation, most := range map[string]float64{operations.GoodsSalePost: 45, operations.GoodsSaleList: 30,
		operations.ItemsSearch: 30} {
		allocations := testing.AllocsPerRun(200, func() {
			if outcome, err := c.Do(t.Context(), s, operation, rng); outcome == client.Failed {
				t.Fatal(err)
			}
		})
		if allocations > most {
			t.Errorf("%s makes %.0f allocations, at most %.0f are expected", operation, allocations, most)
		}
	}
}

func BenchmarkSale(b *testing.B) {
	_, url := base(b, server.Config{})
	transport := &switched{RoundTripper: pool(b)}
	c := client.New(client.Options{Transport: transport, RefusedShare: -1})
	s, rng := login(b, c, url, 1), random(1)
	transport.off = true
	b.ReportAllocs()
	for b.Loop() {
		if outcome, err := c.Do(b.Context(), s, operations.GoodsSalePost, rng); outcome == client.Failed {
			b.Fatal(err)
		}
	}
}
