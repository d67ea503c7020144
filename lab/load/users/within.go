package users

import (
	"container/heap"
	"errors"
	"math/rand/v2"
	"time"

	"plimsoll/lab/load/tally"
)

// An operation of several steps pauses while its user thinks between two of them (tally.Notes.Pause). It then has no
// goroutine and no slot, and the time is no part of its latency: its sample has the steps as if they followed each
// other and ended when the last one did. What came before a pause therefore moves by it:
//
//	due  sent    done          due  sent     done               Due  Sent            Done
//	 |- - |========|   thinks   |- - |=========|       is         |- - |====- - ======|
//
// An operation counts in the window in which its moved Due lies, as many as had it as their beginning.

// turn is what a user does without a pause: an operation, or a part of one.
type turn struct {
	tally.Sample
	content *rand.Rand
	notes   *tally.Notes
	resumes bool // an earlier part ended at Done
}

func newTurn(s tally.Sample, content *rand.Rand) turn {
	return turn{Sample: s, content: content, notes: &tally.Notes{Resumes: true}}
}

// begin the turn now.
func (t *turn) begin(now time.Duration) {
	if !t.resumes {
		t.Sent = now
		return
	}
	t.Sent += now - t.Done
	t.notes.Continue(now - t.Done)
}

// within is the operations whose users think between two steps.
type within struct {
	agenda  agenda
	turns   map[int32]turn // by user, until the next part is sent
	waiting queue          // due, but no slot is free
}

// pauseWithin lets a user think before the next step.
func (l *loop) pauseWithin(t turn, think time.Duration) {
	due := l.clock.after(l.thinksFrom(t.Done), think)
	t.resumes = true
	if l.cut || l.stopped && t.movedTo(due) >= l.tally.To {
		l.leave(t)
		return
	}
	if l.within.turns == nil {
		l.within.turns = map[int32]turn{}
	}
	l.within.turns[int32(t.User)] = t
	l.within.agenda.add(entry{due: due, number: int32(t.User)})
}

// movedTo is the Due of an operation that goes on at a moment.
func (t *turn) movedTo(due time.Duration) time.Duration { return t.Due + max(0, due-t.Done) }

// collectWithin takes those who go on by now.
func (l *loop) collectWithin(now time.Duration) {
	if l.pausedAt != notPaused {
		return
	}
	for e, due := l.within.agenda.take(now); due; e, due = l.within.agenda.take(now) {
		l.within.waiting.add(e)
	}
}

// resume is the next part of an operation.
func (l *loop) resume(e entry) turn {
	t := l.within.turns[e.number]
	delete(l.within.turns, e.number)
	t.Due = t.movedTo(e.due)
	return t
}

// stopWithin lets those leave whose operations would not count any more. The others go on: without them those that
// take long would be missing.
func (l *loop) stopWithin() {
	stay := l.within.agenda[:0]
	for _, e := range l.within.agenda {
		t := l.within.turns[e.number]
		if t.movedTo(e.due) < l.tally.To {
			stay = append(stay, e)
			continue
		}
		delete(l.within.turns, e.number)
		l.leave(t)
	}
	l.within.agenda = stay
	heap.Init(&l.within.agenda)
}

// endWithin is the end of the drain: whose next step is due has no answer, and who thinks leaves.
func (l *loop) endWithin() {
	for l.within.waiting.len() > 0 {
		t := l.resume(l.within.waiting.take())
		t.begin(l.now())
		t.notes.Take(&t.Sample, l.began, l.place)
		t.Outcome, t.Err, t.Done = tally.Failed, ErrUnfinished, l.now()
		l.giveBack(t.Sample)
		l.record(t.Sample)
	}
	for _, e := range l.within.agenda {
		l.leave(l.within.turns[e.number])
	}
	l.within = within{}
}

var errLeft = errors.New("its user left between two steps, at the end of the load")

// leave an operation in the middle. It may have done something, so it is counted, but after the window: no answer was
// outstanding.
func (l *loop) leave(t turn) {
	t.notes.Take(&t.Sample, l.began, l.place)
	t.Due, t.Sent, t.Done, t.Held, t.FirstByte = l.tally.To, l.tally.To, l.now(), 0, 0
	t.Outcome, t.Err = tally.Failed, errLeft
	l.giveBack(t.Sample)
	l.record(t.Sample)
}

// giveBack the session of an operation that ends without its answer.
func (l *loop) giveBack(s tally.Sample) {
	if l.open != nil {
		l.open.free = append(l.open.free, session{int32(s.User), s.Done})
	}
}
