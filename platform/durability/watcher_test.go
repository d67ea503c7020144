package durability

import (
	"errors"
	"testing"
)

func watcherOf(server Identity) *Watcher {
	return &Watcher{ticket: 1, server: server, wake: make(chan struct{}, 1), layout: layout{8192, 16 << 20}}
}

func answered(one *waiter) bool { return len(one.done) > 0 }

// What is committed while a round is under way may be behind what it flushes.
func TestARoundAnswersThoseWhoWaitedBeforeIt(t *testing.T) {
	w := watcherOf(Identity{"00000001", 1})
	wait := func(committed bool) *waiter {
		one, err := w.enqueue(Origin{w.server, 1, committed})
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	first := wait(true)
	if !w.ask() {
		t.Error("a commit is taken for a read")
	}
	second := wait(true)
	w.answer(func(*waiter) bool { return true })
	if !answered(first) || answered(second) {
		t.Errorf("answered: %t before the round, %t in it", answered(first), answered(second))
	}
	w.ask()
	if w.answer(func(*waiter) bool { return true }); !answered(second) {
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
		"PollsBesideThem": {true, []ends{{1000, 1000, true}}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := watcherOf(Identity{"00000001", 1})
			w.options.Poll = c.poll
			one, err := w.enqueue(Origin{w.server, 1, false})
			if err != nil {
				t.Fatal(err)
			}
			for i, ends := range c.looks {
				if w.ask() {
					t.Error("a read is taken for a commit")
				}
				if w.reached(ends); answered(one) != c.answers[i] {
					t.Errorf("look %d %+v: answered %t", i, ends, answered(one))
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
			if _, err := w.enqueue(o); !errors.Is(err, ErrUnknown) {
				t.Errorf("waits for %+v: %v", o, err)
			}
		})
	}
	w := watcherOf(here)
	one, err := w.enqueue(Origin{here, 1, true})
	if err != nil {
		t.Fatal(err)
	}
	w.lose()
	if err := <-one.done; !errors.Is(err, ErrUnknown) {
		t.Errorf("after the connection is lost: %v", err)
	}
}
