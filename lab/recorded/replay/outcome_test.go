package replay

import (
	"strings"
	"testing"
	"time"

	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
)

// Statements begin when they began in the log, so a database that answers at once would show that of the last one
// alone: the operation takes what its program took there, and what the database took here.
func TestOutcome_AnOperationGainsByEachOfItsStatements(t *testing.T) {
	const log = `2026-11-28 10:00:01.000 UTC [7] u@shop LOG:  duration: 1000.000 ms  statement: BEGIN
2026-11-28 10:00:02.100 UTC [7] u@shop LOG:  duration: 1000.000 ms  statement: UPDATE t SET n = 1
2026-11-28 10:00:02.200 UTC [7] u@shop LOG:  duration: 50.000 ms  bind x: SELECT 1
2026-11-28 10:00:03.200 UTC [7] u@shop LOG:  duration: 1000.000 ms  execute x: SELECT 1
2026-11-28 10:00:03.200 UTC [7] u@shop LOG:  duration: 0.000 ms  statement: COMMIT
`
	prefix, err := pglog.ParsePrefix("%m [%p] %u@%d ")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Gap: time.Minute, Database: "shop", Zone: time.UTC, Target: time.Second}
	s := &stage{Options: o, left: map[string]int64{}, outcome: newOutcome(nil),
		found: func(string) error { return nil }}
	here := score.NewSessions(score.Options{Gap: o.Gap, Target: o.Target})
	s.outcome.sessions = here
	there, r := score.NewSessions(score.Options{Gap: o.Gap, Target: o.Target}), &Result{}
	ordered := &order{most: 1 << 20}
	in := pglog.NewReader(strings.NewReader(log), "log", pglog.Stderr, prefix, time.UTC)
	if err := s.readFile(t.Context(), in, ordered, there, r, logged{}, func() {}); err != nil {
		t.Fatal(err)
	}
	for _, st := range ordered.run { // each takes 10 ms here
		s.outcome.played(&turn{statement: st, due: st.Begun}, done{begun: st.Begun,
			ended: st.Begun.Add(10 * time.Millisecond)})
	}
	// 100 ms and 50 ms are the program's, 50 ms the binding's, which comes again with the execution.
	if got := there.Result().Operations; len(got) != 1 || got[0].P50S != 3.2 {
		t.Errorf("in the log: %+v, want one of 3.2 s", got)
	}
	if got := here.Result().Operations; len(got) != 1 || got[0].P50S != 0.19 || got[0].N != 1 {
		t.Errorf("here: %+v, want one of 0.15 s and 10 ms for each of four statements", got)
	}
}

// A prefix without %e does not say how a statement failed: any failure is as in the log, and none is not.
func TestOf_AFailureWithoutItsState(t *testing.T) {
	st, why := of(&pglog.Entry{Severity: "ERROR", Session: "7", Database: "shop", Statement: "SELECT 1 / 0",
		Message: "division by zero"})
	if st == nil || why != "" || st.State != unknownState {
		t.Fatalf("%+v, %q", st, why)
	}
	for state, want := range map[string]bool{"22012": true, "": false} {
		if o := newOutcome(nil); o.errors(&turn{statement: *st}, done{state: state}) != want {
			t.Errorf("%q here: as in the log is %v, want %v", state, !want, want)
		}
	}
}
