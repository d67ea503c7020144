package run

import (
	"testing"
	"time"

	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
)

// TestWhatTheFirstUsersBringIsNotACostOfEach: 2 MB that come with the first session are fixed.
func TestWhatTheFirstUsersBringIsNotACostOfEach(t *testing.T) {
	const before, once, each, connections, counters = 10e6, 2e6, 8e3, 4e6, 30e6
	m := liveMemory{before: before, halfUsers: 200, half: before + once + 200*each, users: 400,
		all: before + once + 400*each}
	m.closed = m.all + counters
	m.end = m.closed + connections
	f := m.footprint()
	if f.PerUser == nil || *f.PerUser != each+connections/400 || f.BeforeLogIn != before || f.AfterLogIn != m.all ||
		f.Users != 400 || *f.UnderLoad != m.end || *f.Connections != connections {
		t.Errorf("want the parts of the readings, got %+v", f)
	}
	for name, m := range map[string]liveMemory{
		"FewUsers": {before: before, halfUsers: 10, half: before + 10*each, users: 20, all: before + 20*each},
		"Shrinks":  {before: before, halfUsers: 200, half: 30e6, users: 400, all: 20e6},
	} {
		if f := m.footprint(); f.PerUser != nil {
			t.Errorf("%s: %v per user", name, *f.PerUser)
		}
	}
}

// TestAgentsKnowTogetherWhatEachKnows of memory.
func TestAgentsKnowTogetherWhatEachKnows(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	sum := result.Footprint{Users: 100, BeforeLogIn: 10, AfterLogIn: 20, UnderLoad: at(40), PerUser: at(3)}
	sum.Add(result.Footprint{Users: 300, BeforeLogIn: 1, AfterLogIn: 2, UnderLoad: at(4), PerUser: at(7)})
	if sum.Users != 400 || sum.BeforeLogIn != 11 || sum.AfterLogIn != 22 || *sum.UnderLoad != 44 || *sum.PerUser != 6 {
		t.Errorf("want the sum of both, got %+v", sum)
	}
	sum.Add(result.Footprint{Users: 5, BeforeLogIn: 1})
	if sum.PerUser != nil || sum.UnderLoad != nil || sum.Users != 405 {
		t.Errorf("of one of them nothing is known: %+v", sum)
	}
}

// TestFootprintsOfARun are measured of all three, and only the generator's are divided by users.
func TestFootprintsOfARun(t *testing.T) {
	o := base(t)
	o.Users, o.Duration = 120, 2*time.Second
	r := mustRun(t, t.Context(), o)
	if against := resulttest.Against(r); len(against) > 0 || len(r.Footprints) != 3 {
		t.Fatalf("%q, %+v, %+v", against, r.Footprints, r.Conditions.Engine.Local)
	}
	if d := r.Disturbance; d == nil || len(d.Loads) > 0 {
		t.Errorf("its own workers are another load on the database: %+v", d)
	}
	for i, f := range r.Footprints {
		if f.Of != holderNames[i] || f.Users != 120 || f.BeforeLogIn <= 0 || f.AfterLogIn <= 0 || f.UnderLoad == nil ||
			*f.UnderLoad <= 0 || (f.Measure == result.LiveMemory) != (i == generatorCPU) {
			t.Errorf("want a footprint of each holder, got %+v", f)
		}
		if f.PerUser != nil && i != generatorCPU {
			t.Errorf("%s: per user %v", f.Of, f.PerUser)
		}
	}
	// Not known where all users seem to take less than half of them: 60 take some 10 KB, as one stack or buffer does.
	each := r.Footprints[0].PerUser
	if each != nil && (*each <= 0 || *each > 1e6 || *r.Generator.UsersBytes != *each) {
		t.Errorf("%v bytes for each user, %v", *each, *r.Generator.UsersBytes)
	}
}
