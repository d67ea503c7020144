package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/recorded/mask"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
	"plimsoll/lab/stats"
)

// outcome of all statements.
type outcome struct {
	fidelity Fidelity
	late     []float64 // milliseconds; a sample of them beyond lateMost
	seen     int64
	timed    bool
	sessions *score.Sessions
	calls    map[int64]*playedCall // under way
	ends     map[string]sessionEnd // of sessions without calls
	mask     *mask.Mask
}

// playedCall is what became of a call's statements so far.
type playedCall struct {
	seen     int
	database time.Duration
	lost     bool
	other    bool // one was not as in the log
}

// sessionEnd is when the last statement of a session ended, by the clock of its operation (ofPauses).
type sessionEnd struct {
	operation int64
	at        time.Time
}

// done is what became of a statement here.
type done struct {
	begun, ended time.Time
	rows         int64
	state        string // SQLSTATE; empty: it did not fail
	failed       interface{ Error() string }
}

// Examples and lateness that are kept.
const (
	examplesMost = 5
	lateMost     = 1 << 20
)

func newOutcome(m *mask.Mask) *outcome {
	return &outcome{mask: m, calls: map[int64]*playedCall{}, ends: map[string]sessionEnd{}, fidelity: Fidelity{
		LeftOut: map[string]int64{}, New: map[string]int64{}, Missing: map[string]int64{}, Other: map[string]int64{},
		Examples: []string{}, Messages: []string{}, RowExamples: []string{}}}
}

func (o *outcome) leaveOut(why string, err error) {
	o.fidelity.LeftOut[why]++
	if err != nil && len(o.fidelity.Examples) < examplesMost {
		o.fidelity.Examples = append(o.fidelity.Examples, why+": "+o.mask.Message(err.Error()))
	}
}

// leaveOutTurn leaves out a statement that was to be played.
func (o *outcome) leaveOutTurn(t *turn, why string, err error) {
	if t.Made {
		return
	}
	o.leaveOut(why, err)
	o.call(t, 0, true, false)
}

// began a statement, in the order of the log or not.
func (o *outcome) began(inOrder bool) {
	if inOrder {
		o.fidelity.InOrder++
	}
}

// played counts a statement that ended here.
func (o *outcome) played(t *turn, d done) {
	if t.Made {
		o.fidelity.Made++
		return
	}
	o.fidelity.Replayed++
	same := o.errors(t, d)
	if d.state == "" && t.State == "" && t.Rows != unknownRows {
		same = o.rows(t, d)
	}
	if same {
		o.fidelity.Same++
	}
	o.lateness(d.begun.Sub(t.due))
	if t.Call.Number != 0 {
		o.call(t, d.ended.Sub(d.begun), !same, lostLock(d.state))
		return
	}
	o.ofPauses(t, d)
}

// errors compares how a statement ended.
func (o *outcome) errors(t *turn, d done) (same bool) {
	f := &o.fidelity
	switch {
	case d.state == t.State && d.state == "":
		return true
	case d.state == t.State, t.State == unknownState && d.state != "":
		f.Alike++
		return true
	case t.State == "":
		f.New[d.state]++
		if len(f.Messages) < examplesMost {
			f.Messages = withExample(f.Messages, o.mask.Message(d.failed.Error()))
		}
	case d.state == "":
		f.Missing[t.State]++
	default:
		f.Other[t.State+" → "+d.state]++
	}
	return false
}

func (o *outcome) rows(t *turn, d done) (same bool) {
	f := &o.fidelity
	f.RowsCompared = true
	f.Rows.Compared++
	if d.rows == t.Rows {
		f.Rows.Equal++
		return true
	}
	if len(f.RowExamples) < examplesMost {
		f.RowExamples = withExample(f.RowExamples, fmt.Sprintf("%s here, %d in the log: %s of %s",
			human.Count(d.rows, "row"), t.Rows, verb(t.Text), cmp.Or(t.Call.Name, "no call")))
	}
	return false
}

// withExample adds one that is not there yet.
func withExample(all []string, text string) []string {
	if slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}

// verb of a statement: results hold no more of it.
func verb(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	word, _, _ = strings.Cut(word, "\n")
	return strings.ToUpper(word[:min(len(word), 12)])
}

func (o *outcome) lateness(late time.Duration) {
	o.seen++
	ms := max(0, late.Seconds()*1000)
	if len(o.late) < lateMost {
		o.late = append(o.late, ms)
	} else {
		o.late[o.seen%lateMost] = ms
	}
}

// lostLock says whether a statement of a call failed as one does that loses a lock; an ordinary error is the program's.
func lostLock(state string) bool { return state == "55P03" || state == "40P01" || state == "57014" }

// call counts a statement of a call. When all have been played the call is scored: what the application server took
// for itself is as in the log, what the database took is as here.
func (o *outcome) call(t *turn, took time.Duration, other, lost bool) {
	c := t.Call
	if c.Number == 0 {
		return
	}
	p := o.calls[c.Number]
	if p == nil {
		p = &playedCall{}
		o.calls[c.Number] = p
	}
	p.seen++
	p.database += took
	p.lost, p.other = p.lost || lost, p.other || other
	if p.seen < c.Statements {
		return
	}
	delete(o.calls, c.Number)
	if !p.other {
		o.fidelity.Calls.Same++
	}
	if o.sessions == nil {
		return
	}
	here := c.Call
	here.Took, here.Database, here.Lost = max(0, c.Took-c.Database)+p.database, p.database, c.Managed || p.lost
	o.sessions.Call(here)
}

// ofPauses scores a statement that belongs to no call. As in a call, what the program took between the statements of an
// operation is as in the log: each of them begins when it began there, so by the clock alone a database could save no
// more than the time of the last one.
func (o *outcome) ofPauses(t *turn, d done) {
	if o.sessions == nil {
		return
	}
	begun := d.begun
	if last := o.ends[t.Session]; last.operation == t.Operation && t.Operation != 0 {
		begun = last.at.Add(t.Pause)
	}
	ended := begun.Add(d.ended.Sub(d.begun))
	o.ends[t.Session] = sessionEnd{t.Operation, ended}
	e := &pglog.Entry{At: ended, Session: t.Session, User: t.User, Database: t.Database, Severity: "LOG"}
	o.sessions.Statement(e, pglog.Statement{Kind: pglog.Simple, Text: t.Text, Duration: d.ended.Sub(d.begun)},
		t.Operation)
	if d.state != "" {
		e.Severity, e.State, e.Statement = "ERROR", d.state, t.Text
		o.sessions.Error(e, t.Operation)
	}
}

func (o *outcome) done() Fidelity {
	if o.timed && len(o.late) > 0 {
		slices.Sort(o.late)
		o.fidelity.LateMS = &Lateness{P50: stats.Percentile(o.late, 0.5), P99: stats.Percentile(o.late, 0.99),
			Max: o.late[len(o.late)-1]}
	}
	return o.fidelity
}
