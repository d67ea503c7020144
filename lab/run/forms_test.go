package run

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/request/requesttest"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result/resulttest"
)

// forms is a run of the documents' scenario of a shop with forms.
func forms(t *testing.T, shop *requesttest.Shop, change func(*scenario.Scenario)) Options {
	t.Helper()
	s, err := scenario.Read("../../docs/examples/forms.toml")
	if err != nil {
		t.Fatal(err)
	}
	if s.Own.Base = shop.URL; change != nil {
		change(s)
	}
	l := load.Default()
	l.Scenario, l.Users, l.Ramp, l.Duration = s, 30, 0, 5*time.Second
	l.Think = &users.Think{Mean: 300 * time.Millisecond}
	l.Timeout = 2900 * time.Millisecond // shorter than the think times within an order together
	return Options{Load: l, LagLimit: time.Minute, Software: "test"}
}

// A shop of pages and forms: everybody logs in once by its form, orders arrive whole, and think times within an order
// are in no latency.
func TestAnApplicationWithForms(t *testing.T) {
	secure := func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	}
	for name, c := range map[string]struct {
		start func(*httptest.Server)
		set   func(*request.Settings)
	}{
		"Browsers": {nil, func(*request.Settings) {}},
		"Shared":   {nil, func(h *request.Settings) { h.Connections = request.Shared }},
		"HTTP2OfEachUser": {secure, func(h *request.Settings) {
			h.Version, h.Connections, h.TLS = request.HTTP2, request.OfUser, &request.TLS{Insecure: true}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			shop := requesttest.New(t, c.start)
			o := forms(t, shop, func(s *scenario.Scenario) { c.set(&s.Own.HTTP) })
			r := mustRun(t, t.Context(), o)
			order := byID(r)["order"]
			if len(resulttest.Against(r)) > 0 || r.Ops != r.OK || shop.Forged.Load() != 0 {
				t.Fatalf("%q, %d of %d, %d forged: %+v", r.InvalidReasons, r.OK, r.Ops, shop.Forged.Load(),
					r.Operations)
			}
			if order.OK < 10 || shop.Orders.Load() < order.OK || *order.LatencyAll.Max > 2900 {
				t.Errorf("%d orders, the shop has %d, the longest took %v ms", order.OK, shop.Orders.Load(),
					*order.LatencyAll.Max)
			}
			if shop.Styles.Load() == 0 || name != "Shared" && shop.Connections.Load() < 30 {
				t.Errorf("%d connections, %d style sheets", shop.Connections.Load(), shop.Styles.Load())
			}
		})
	}
}

// Who lacks the hidden field is refused by the shop, and the step that fails is named.
func TestAStepThatFailsIsNamed(t *testing.T) {
	shop := requesttest.New(t, nil)
	r := mustRun(t, t.Context(), forms(t, shop, func(s *scenario.Scenario) {
		s.Operations[1].Action.Steps[1].Request.Form["csrf"] = []string{"guessed"}
	}))
	order := byID(r)["order"]
	if order.OK > 0 || order.Errors == 0 || shop.Forged.Load() == 0 || len(order.ErrorTexts) == 0 ||
		!strings.Contains(order.ErrorTexts[0].Text, "step 2: status 403") {
		t.Errorf("%+v, %d forged", order, shop.Forged.Load())
	}
	if r.Operations[0].OK == 0 {
		t.Errorf("looking needs no form: %+v", r.Operations[0])
	}
}

// Each connection is a file: more than the process may open are refused before the run.
func TestMoreConnectionsThanFilesAreRefused(t *testing.T) {
	for _, c := range []struct {
		connections int
		most        uint64
		refused     bool
	}{{0, 10, false}, {30_000, 1024, true}, {30_000, 1 << 20, false}, {1, filesMost(), false}} {
		if err := enoughFiles(c.connections, c.most); (err != nil) != c.refused {
			t.Errorf("%d of %d: %v", c.connections, c.most, err)
		}
	}
}
