package cpu

import (
	"maps"
	"os"
	"testing"
	"time"
)

func TestOthers(t *testing.T) {
	const s = time.Second
	e := Everyone{
		all: map[int]process{
			1: {parent: 0, used: 5 * s, reaped: 50 * s}, 2: {parent: 0, used: 9 * s}, 3: {parent: 2, used: 8 * s},
			10: {parent: 1, used: 7 * s}, 11: {parent: 10, used: 6 * s, reaped: s}, // a shell and the lab
			12: {parent: 11, used: 4 * s},                                            // a worker
			20: {parent: 1, used: 3 * s, reaped: 2 * s},                              // the postmaster
			30: {parent: 1, used: s}, 31: {parent: 30, used: 20 * s, reaped: 10 * s}, // somebody else's build
		},
		children: map[int][]int{0: {1, 2}, 1: {10, 20, 30}, 2: {3}, 10: {11}, 11: {12}, 30: {31}},
	}
	want := map[int]Usage{1: {Own: 5 * s}, 10: {Own: 7 * s}, 30: {Own: s}, 31: {20 * s, 10 * s}}
	if got := e.Others(11, 20); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if sum, err := e.Tree(11); err != nil || sum != 11*s {
		t.Errorf("the tree used %v, error %v: want %v", sum, err, 11*s)
	}
	if _, err := e.Tree(99); err == nil {
		t.Error("a process that is not there has processor time")
	}
}

// A build of 141 s ends while the first reading walks from its parent to it, which two processors cannot have done in
// the 10 s between the readings.
func TestSpent_IsNoMoreThanTheProcessorsCanDo(t *testing.T) {
	const s = time.Second
	parentReadFirst := map[int]Usage{30: {Own: s}}
	behind := map[int]Usage{30: {Own: s, Reaped: 141 * s}}
	if got := Spent(parentReadFirst, behind, 20*s); got != 20*s {
		t.Errorf("%v of two processors in 10 s", got)
	}
	if got := Spent(behind, map[int]Usage{30: {Own: 2 * s, Reaped: 144 * s}}, 20*s); got != 4*s {
		t.Errorf("%v, want 4 s", got)
	}
	if got := Spent(behind, parentReadFirst, 20*s); got != 0 {
		t.Errorf("%v of what is gone", got)
	}
}

func TestOthers_AreNotOurChildren(t *testing.T) {
	cmd := burn(t)
	e, err := ReadEveryone()
	if err != nil {
		t.Fatal(err)
	}
	if _, found := e.Others()[cmd.Process.Pid]; !found {
		t.Error("the child is nobody's")
	}
	if _, found := e.Others(os.Getpid())[cmd.Process.Pid]; found {
		t.Error("the child is somebody else's")
	}
}
