package scale

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

func TestC04_SizeIsTheReportsOrWhatTheMachineHolds(t *testing.T) {
	if l := c04Load(site.Bench{Users: 10}); l.sessions != 10 || l.bytes != c04ClaimedBytes {
		t.Errorf("load %+v, want ten sessions of the claimed size", l)
	}
	if l := c04Load(site.Bench{Full: true}); l.sessions != c04ClaimedSessions || l.bytes > c04ClaimedBytes ||
		l.bytes < 1 {
		t.Errorf("full load %+v, want the claimed sessions, of at most the claimed size", l)
	}
	if got := (sessionLoad{sessions: 100, bytes: 850_000}).bound(0.5); got != 40 {
		t.Errorf("half of 85 MB is %d MiB", got)
	}
}

func TestC04_RefusesTooFewSessions(t *testing.T) {
	e := Experiments()[3]
	if _, err := e.Run(t.Context(), site.Bench{Users: 20}); problem.ClassOf(err) != problem.Usage ||
		!strings.Contains(problem.HintOf(err), "--users 480") {
		t.Error(err)
	}
}

// A real worker keeps what fits in memory and the rest in files; every value comes back as it was left.
func TestSessions_InMemoryAndInFiles(t *testing.T) {
	b, dsn := site.Bench{Serve: sitetest.Program(t)}, sitetest.FilledDatabase(t)
	load := sessionLoad{sessions: 40, bytes: 200_000, clients: 4}
	fits, err := load.measure(t.Context(), b, dsn, 1.15, 300*time.Millisecond, 1)
	if err != nil {
		t.Fatal(err)
	}
	part, err := load.measure(t.Context(), b, dsn, 0.3, 300*time.Millisecond, 2)
	if err != nil {
		t.Fatal(err)
	}
	if fits["from files"] != 0 || fits["in files"] != 0 || fits["in memory"] < 8 || fits[sessionRate] <= 0 ||
		fits["resident per session"] < 200 {
		t.Errorf("everything fits: %v", fits)
	}
	if part["from files"] == 0 || part["in files"] < 4 || part["in memory"] > 0.3*8.5 || part["spilled"] == 0 ||
		part[sessionRate] <= 0 {
		t.Errorf("a part fits: %v", part)
	}
}

// A value that is not what the session left there is told.
func TestSessionSet_FindsWhatIsAnothers(t *testing.T) {
	b, dsn := site.Bench{Serve: sitetest.Program(t)}, sitetest.FilledDatabase(t)
	w, err := b.Worker(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	c := newSessionSet(sessionLoad{2, 8000, 2}, 1)
	defer c.transport.CloseIdleConnections()
	if err := c.logIn(t.Context(), w.URL); err != nil {
		t.Fatal(err)
	}
	if err := c.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	var room []byte
	if err := c.get(context.Background(), 0, 3, &room); err != nil {
		t.Error(err)
	}
	if err := c.client.Keep(t.Context(), c.sessions[0], keyOf(3), fmt.Appendf(nil, "%s\"", c.text(1, 3))); err != nil {
		t.Fatal(err)
	}
	if err := c.get(t.Context(), 0, 3, &room); err == nil || !strings.Contains(err.Error(), "not what it stored") {
		t.Error(err)
	}
}
