package durability

import (
	"context"
	"errors"
	"testing"
)

func watcherOf(server Identity) *Watcher {
	return &Watcher{ticket: 1, server: server, wake: make(chan struct{}, 1), layout: layout{8192, 16 << 20}}
}

func answered(b *batch) bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// What is committed while a round is under way may be behind what it flushes.
func TestARoundAnswersThoseWhoWaitedBeforeIt(t *testing.T) {
	w := watcherOf(Identity{"00000001", 1})
	wait := func(committed bool) *batch {
		one, err := w.join(Origin{w.server, 1, committed})
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	first := wait(true)
	if !w.beginRound() {
		t.Error("a commit is taken for a read")
	}
	second := wait(true)
	w.answer(func(*batch) bool { return true })
	if !answered(first) || answered(second) {
		t.Errorf("answered: %t before the round, %t in it", answered(first), answered(second))
	}
	w.beginRound()
	if w.answer(func(*batch) bool { return true }); !answered(second) {
		t.Error("the next round does not answer")
	}
}

// Where the log ended is asked once; later questions tell how far it is flushed.
func TestReadsWaitForTheEndThatWasAskedFirst(t *testing.T) {
	for name, c := range map[string]struct {
		poll    bool
		looks   []ends
		answers []bool
	}{
		"Flushed":         {false, []ends{{1000, 1000, false}}, []bool{true}},
		"NotYet":          {true, []ends{{1000, 900, false}, {2000, 1000, false}}, []bool{false, true}},
		"BehindAPage":     {true, []ends{{8192 + shortHeader, 8192, false}}, []bool{true}},
		"Standbys":        {false, []ends{{1000, 1000, true}}, []bool{false}},
		"PollsBesideThem": {true, []ends{{1000, 900, true}, {1000, 1000, true}}, []bool{false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			w := watcherOf(Identity{"00000001", 1})
			w.options.Poll = c.poll
			one, err := w.join(Origin{w.server, 1, false})
			if err != nil {
				t.Fatal(err)
			}
			for i, ends := range c.looks {
				if w.beginRound() {
					t.Error("a read is taken for a commit")
				}
				_, standbys := w.reached(ends)
				if answered(one) != c.answers[i] || standbys != (ends.standbys && ends.flush >= 1000) {
					t.Errorf("look %d %+v: answered %t, waits for standbys %t", i, ends, answered(one), standbys)
				}
			}
		})
	}
}

// A position in the log means nothing in another life of the server.
func TestAnotherLifeIsUnknown(t *testing.T) {
	here := Identity{"00000001", 1}
	for name, o := range map[string]Origin{
		"Timeline":   {Identity{"00000002", 1}, 1, true},
		"Start":      {Identity{"00000001", 2}, 1, true},
		"Connection": {here, 2, true},
		"None":       {here, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := watcherOf(here)
			if _, err := w.join(o); !errors.Is(err, ErrUnknown) {
				t.Errorf("waits for %+v: %v", o, err)
			}
		})
	}
	w := watcherOf(here)
	one, err := w.join(Origin{here, 1, true})
	if err != nil {
		t.Fatal(err)
	}
	if w.lose(); !answered(one) || !errors.Is(one.err, ErrUnknown) || w.Figures().Waiting != 0 {
		t.Errorf("after the connection is lost: %v, %+v", one.err, w.Figures())
	}
}

// Who gives up waits no longer, and is counted once, also when its round ends at the same moment.
func TestGivingUp(t *testing.T) {
	w := watcherOf(Identity{"00000001", 1})
	origin := Origin{w.server, 1, true}
	for range 3 {
		if _, err := w.join(origin); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Wait(ctx, origin); !errors.Is(err, ErrUnknown) || w.Figures().Waiting != 3 {
		t.Errorf("gave up: %v, %+v", err, w.Figures())
	}
	left := w.coming
	w.beginRound()
	w.answer(func(*batch) bool { return true })
	w.giveUp(left)
	if f := w.Figures(); f.Waiting != 0 || f.Answers != 4 || f.Unknown != 2 {
		t.Errorf("figures %+v, want four answers, two of them unknown", f)
	}
	_ = w.Wait(ctx, origin) // leaves a batch without answers
	<-w.wake
	if _, err := w.join(origin); err != nil || len(w.wake) != 1 {
		t.Errorf("who comes behind one who gave up does not wake the watcher: %v", err)
	}
}
