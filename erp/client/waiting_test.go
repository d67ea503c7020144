package client

import (
	"testing"
	"time"

	"plimsoll/platform/data/id"
)

func TestWhatHasNoFollowerWaits(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	document := func(n int) listed { return listed{ID: id.ID{byte(n)}, Date: day(n), Posted: true} }
	unposted := document(3)
	unposted.Posted = false
	all := []listed{document(5), document(4), unposted, document(2), document(1)} // newest first
	followers := []listed{{Basis: id.ID{4}, Date: day(6)}}
	numbers := func(wait []listed) (got []byte) {
		for _, d := range wait {
			got = append(got, d.ID[0])
		}
		return got
	}
	if got := numbers(waitingFor(all, followers, ofBasis)); string(got) != "\x01\x02\x05" {
		t.Errorf("waiting %v, want 1, 2 and 5", got)
	}
	for len(followers) < listedMax { // the list is cut off at day 2
		followers = append(followers, listed{Date: day(2)})
	}
	if got := numbers(waitingFor(all, followers, ofBasis)); string(got) != "\x02\x05" {
		t.Errorf("%v, but nothing is known of followers before day 2", got)
	}
}

func TestWaitingIsBounded(t *testing.T) {
	var w waiting[int]
	for n := range waitingMax + 5 {
		w.put(n)
	}
	if first, _ := w.take(); w.count() != waitingMax-1 || first != 5 {
		t.Errorf("%d wait, the first is %d", w.count(), first)
	}
}

func TestWhatTheWorkerShedWaitsAgain(t *testing.T) {
	for outcome, want := range map[Outcome]int{OK: 0, Refused: 0, Overloaded: 1, Failed: 0} {
		var w waiting[int]
		w.ended(7, outcome)
		if w.count() != want {
			t.Errorf("%s: %d wait, want %d", outcome, w.count(), want)
		}
	}
}

func TestADocumentIsHeldOnce(t *testing.T) {
	var k stock
	v := standing{id: id.ID{1}}
	k.keep(&k.sales, v)
	if k.held.take(v.id) || len(k.held.free([]id.ID{v.id})) != 0 {
		t.Error("what is kept to be changed is free for others")
	}
	taken, _ := k.sales.take()
	if k.back(&k.sales, taken, OK); k.sales.count() != 1 || k.held.take(v.id) {
		t.Error("what has been changed does not wait again")
	}
	taken, _ = k.sales.take()
	if k.back(&k.sales, taken, Refused); k.sales.count() != 0 || !k.held.take(v.id) {
		t.Error("what cannot be changed is still held")
	}
}
