package client

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/waits"
)

const tick = 50 * time.Millisecond

// played is a transaction whose statements change at each look, as seen by a clock that is late by up to 20 ms.
func played(b *Book, texts ...string) {
	start := time.Unix(1000, 0)
	for i, text := range texts {
		late := time.Duration(i%3) * 10 * time.Millisecond
		in := time.Duration(i+1) * tick
		b.Take(start.Add(in+late), tick, []waits.Session{{PID: 7, State: "idle in transaction", Query: text,
			InXact: in, InState: time.Millisecond}}, strings.TrimSpace)
	}
}

func TestBook_CountsAStatementThatIsSentAgain(t *testing.T) {
	b := NewBook()
	var texts []string
	for range 30 {
		texts = append(texts, "SELECT 1")
	}
	played(b, texts...)
	all := b.Repeated()
	if len(all) != 1 || all[0].Most != 30 || all[0].Transactions != 1 || all[0].S < 1.4 {
		t.Errorf("%+v, want one statement that was sent 30 times", all)
	}
}

func TestBook_DoesNotCountOtherStatementsOrOneThatLasts(t *testing.T) {
	b := NewBook()
	var texts []string
	for i := range 30 {
		texts = append(texts, fmt.Sprint("SELECT ", i%5))
	}
	played(b, texts...)
	for i := range 30 { // one statement that runs all the time, and transactions of one statement each
		at := time.Unix(5000, 0).Add(time.Duration(i) * tick)
		b.Take(at, tick, []waits.Session{
			{PID: 8, State: "active", Query: "SELECT " +
				"long", InXact: time.Duration(i) * tick, InState: time.Duration(i) * tick},
			{PID: 9, State: "active", Query: "SELECT short", InXact: time.Millisecond, InState: time.Millisecond},
		}, strings.TrimSpace)
	}
	for i, state := range []string{"active", "active", "idle in transaction", "idle in transaction"} { // one statement
		in := time.Duration(i+1) * tick
		b.Take(time.Unix(9000, 0).Add(in), tick, []waits.Session{{PID: 10, State: state, Query: "SELECT " +
			"once", InXact: in,
			InState: in - time.Duration(i/2*2)*tick}}, strings.TrimSpace)
	}
	if all := b.Repeated(); len(all) != 0 {
		t.Errorf("%+v, want none", all)
	}
}

func TestBook_IsBounded(t *testing.T) {
	b := NewBook()
	for i := range 5000 {
		text := fmt.Sprint("SELECT ", i/2)
		b.Take(time.Unix(1000, 0).Add(time.Duration(i)*tick), tick, []waits.Session{{PID: 7, State: "active",
			Query: text, InXact: time.Duration(i+1) * tick, InState: time.Millisecond},
			{PID: 100 + i, State: "active", Query: text, InXact: tick}}, strings.TrimSpace)
	}
	if len(b.repeated) > statementsMost || len(b.open) > 2 || len(b.Repeated()) > shown {
		t.Errorf("%d statements and %d transactions are kept", len(b.repeated), len(b.open))
	}
}
