package experiments

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
	"plimsoll/platform/problem"
)

func TestC04_Judge(t *testing.T) {
	fewer := ratio.Ratio{Ratio: 0.5, Low: 0.4, High: 0.9, Confidence: 0.97}
	unsure := ratio.Ratio{Ratio: 0.9, Low: 0.8, High: 1.1, Confidence: 0.97}
	same := ratio.Ratio{Ratio: 1.1, Low: 1, High: 1.2, Confidence: 0.97}
	for name, c := range map[string]struct {
		half, tenth ratio.Ratio
		partial     bool
		want        claims.Verdict
	}{
		"Both": {fewer, fewer, false, claims.Confirmed}, "TenthAlone": {unsure, fewer, false, claims.Inconclusive}, "TenthUnsure": {fewer, unsure, false, claims.Inconclusive},
		"NotFewer": {same, same, false, claims.Refuted}, "Stopped": {fewer, fewer, true, claims.Inconclusive}, "Nothing": {ratio.Ratio{}, ratio.Ratio{}, false, claims.Inconclusive},
	} {
		if got, _ := (SessionData{}).judge(c.half, c.tenth, c.partial); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestC04_SizeIsTheReportsOrWhatTheMachineHolds(t *testing.T) {
	if l := (SessionData{}).load(Bench{Users: 10}); l.sessions != 10 || l.bytes != c04ClaimedBytes {
		t.Errorf("%+v", l)
	}
	if l := (SessionData{}).load(Bench{Full: true}); l.sessions != c04ClaimedSessions || l.bytes > c04ClaimedBytes || l.bytes < 1 {
		t.Errorf("%+v", l)
	}
	if got := (sessionLoad{100, 850_000}).bound(0.5); got != 40 {
		t.Errorf("half of 85 MB is %d MiB", got)
	}
}

func TestC04_RefusesTooFewSessions(t *testing.T) {
	if _, err := (SessionData{}).Run(t.Context(), Bench{Users: 20}); problem.ClassOf(err) != problem.Usage || !strings.Contains(problem.HintOf(err), "--users 150") {
		t.Error(err)
	}
}

// A real worker keeps what fits in memory and the rest in files; every value comes back as it was left.
func TestSessions_InMemoryAndInFiles(t *testing.T) {
	b, dsn := Bench{Serve: program(t)}, filledDatabase(t)
	load := sessionLoad{sessions: 40, bytes: 200_000}
	fits, err := load.measure(t.Context(), b, dsn, 1.15, 300*time.Millisecond, 1)
	if err != nil {
		t.Fatal(err)
	}
	part, err := load.measure(t.Context(), b, dsn, 0.3, 300*time.Millisecond, 2)
	if err != nil {
		t.Fatal(err)
	}
	if fits["from files"] != 0 || fits["in files"] != 0 || fits["in memory"] < 8 || fits[sessionRate] <= 0 || fits["resident per session"] < 200 {
		t.Errorf("everything fits: %v", fits)
	}
	if part["from files"] == 0 || part["in files"] < 4 || part["in memory"] > 0.3*8.5 || part["spilled"] == 0 || part[sessionRate] <= 0 {
		t.Errorf("a part fits: %v", part)
	}
}

// A value that is not what the session left there is told.
func TestCloakroom_FindsWhatIsAnothers(t *testing.T) {
	b, dsn := Bench{Serve: program(t)}, filledDatabase(t)
	w, err := b.worker(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	c := newCloakroom(sessionLoad{2, 8000}, 1)
	defer c.carrier.CloseIdleConnections()
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
	if err := c.get(t.Context(), 0, 3, &room); err == nil || !strings.Contains(err.Error(), "not what it left") {
		t.Error(err)
	}
}
