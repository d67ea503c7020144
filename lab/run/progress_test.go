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
		t.Errorf("%+v", p)
	}
	tell(25, 100)
	if p := b.look(); p.Audited != 0.25 || p.Left < time.Minute-auditGuess || p.Phase != Checking {
		t.Errorf("%+v", p)
	}
	b.begin(Login, time.Minute)
	if p := b.look(); p.Audited != 0 {
		t.Errorf("%+v", p)
	}
}
