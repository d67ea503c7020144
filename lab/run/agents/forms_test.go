package agents

import (
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/request/requesttest"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result/resulttest"
)

// Agents get all that requests need with the scenario: steps, sources, certificates, what connections are like.
func TestAgentsPlayAnApplicationWithForms(t *testing.T) {
	shop := requesttest.New(t, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	})
	s, err := scenario.Read("../../../docs/examples/forms.toml")
	if err != nil {
		t.Fatal(err)
	}
	s.Own.Base, s.Own.HTTP.Version = shop.URL, request.HTTP2
	s.Own.HTTP.TLS = &request.TLS{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: shop.Certificate().Raw})}
	l := load.Default()
	l.Scenario, l.Users, l.Ramp, l.Duration = s, 20, 0, 5*time.Second
	l.Think = &users.Think{Mean: 300 * time.Millisecond}
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	r := mustRun(t, t.Context(), run.Options{Load: l, LagLimit: time.Minute, Software: version, Generator: f})
	if len(resulttest.Against(r)) > 0 || r.Ops != r.OK || r.OK < 20 || shop.Forged.Load() != 0 ||
		shop.Orders.Load() == 0 {
		t.Errorf("%q, %d of %d, %d orders, %d forged: %+v", r.InvalidReasons, r.OK, r.Ops, shop.Orders.Load(),
			shop.Forged.Load(), r.Operations)
	}
}

// What a message cannot hold is refused with its size, not by a silent agent.
func TestFilesThatAreTooLargeForAgents(t *testing.T) {
	s, err := scenario.Read("../../../docs/examples/forms.toml")
	if err != nil {
		t.Fatal(err)
	}
	s.Own.Base = "http://127.0.0.1:1"
	s.Operations[0].Action.Request.BodyFile = &request.File{Text: make([]byte, payloadMax)}
	l := load.Default()
	l.Scenario, l.Users = s, 20
	f := fleet(t, fleetOptions(2))
	defer f.Dismiss()
	_, err = run.Run(t.Context(), run.Options{Load: l, LagLimit: time.Minute, Software: version, Generator: f})
	if err == nil || problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "to send to the agents") {
		t.Error(err)
	}
}
