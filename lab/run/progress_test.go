package run

import (
	"testing"
	"time"
)

func TestAuditShowsHowFarItIs(t *testing.T) {
	b := newBoard(nil)
	b.begin(Checking, time.Minute)
	tell := b.audits()
	tell(0, 100)
	if p := b.look(); p.Audited != 0 || p.Left != time.Minute {
		t.Errorf("want nothing audited and a minute left, got %+v", p)
	}
	tell(25, 100)
	if p := b.look(); p.Audited != 0.25 || p.Left < time.Minute-auditGuess || p.Phase != Checking {
		t.Errorf("want a quarter audited, got %+v", p)
	}
	// What the last second of the load did is no rate of an audit.
	for _, phase := range []Phase{Drain, Auditing, Checking, Login} {
		b.set(func(p *Progress) { p.OpsPerS, p.Backlog, p.LagMS = 40, 3, 7 })
		b.begin(phase, time.Minute)
		if p := b.look(); p.OpsPerS != 0 || p.Backlog != 0 || p.LagMS != 0 {
			t.Errorf("%s: %+v", phase, p)
		}
	}
	b.begin(Login, time.Minute)
	if p := b.look(); p.Audited != 0 {
		t.Errorf("want nothing audited, got %+v", p)
	}
}
