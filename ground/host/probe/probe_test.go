package probe

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// soon is the deadline of a probe that cannot work.
func soon() time.Time { return time.Now().Add(100 * time.Millisecond) }

func sane(t *testing.T, what string, got Times, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got.N < 1 || got.Least <= 0 || got.Median < got.Least || got.P99 < got.Median || got.Most < got.P99 {
		t.Errorf("%s: %+v", what, got)
	}
}

// eventually gives a probe more time, if it was over before it got a processor. Two threads that answer each other need
// both at once: where each has a twentieth of one, that is a 400th of the time.
func eventually(t *testing.T, what string, probe func(until time.Time) (Times, error)) {
	t.Helper()
	var got Times
	err := errors.New("not tried")
	for lasts := 100 * time.Millisecond; err != nil && lasts < time.Minute; lasts *= 2 {
		got, err = probe(time.Now().Add(lasts))
	}
	sane(t, what, got, err)
}

func TestProbes(t *testing.T) {
	allowed, err := Allowed()
	if err != nil || len(allowed) == 0 {
		t.Fatalf("processors %v, error %v: want some", allowed, err)
	}
	first, last := allowed[0], allowed[len(allowed)-1]
	area, err := NewArea(first, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer area.Close()
	lines := map[uint32]bool{}
	for at := uint32(0); !lines[at]; at = area.words[at] {
		lines[at] = true
	}
	if len(lines) != 4<<20/lineBytes {
		t.Errorf("the chain visits %d lines of %d", len(lines), 4<<20/lineBytes)
	}
	eventually(t, "memory", func(until time.Time) (Times, error) { return area.Chase(t.Context(), last, until) })
	if first != last {
		eventually(t, "cache line", func(until time.Time) (Times, error) {
			return PingPong(t.Context(), first, last, until)
		})
	}
	dir := t.TempDir()
	eventually(t, "flush", func(until time.Time) (Times, error) { return Flushes(t.Context(), dir, until) })
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	c, err := ReadClock(t.Context(), time.Now()) // it sleeps once in any case
	if err != nil || c.ReadNS <= 0 || c.StepNS <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestProbes_EndAtOnceAndSayWhy(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	allowed, _ := Allowed()
	if len(allowed) > 1 {
		if _, err := PingPong(ctx, allowed[0], allowed[1], time.Now().Add(time.Hour)); err == nil {
			t.Error("stopped, and there are figures")
		}
	}
	// Two threads on one processor, as under a quota: a whole batch would take a hundred times as long.
	if _, err := PingPong(t.Context(), allowed[0], allowed[0], time.Now().Add(time.Millisecond)); err == nil {
		t.Error("its time was over long before a batch, and there are figures")
	}
	if _, err := Flushes(t.Context(), "/nonexistent", soon()); err == nil {
		t.Error("no such folder, and there are figures")
	}
	const none = 1023 // the last that a set holds
	if _, err := PingPong(t.Context(), allowed[0], none, soon()); err == nil {
		t.Error("pinned to a processor that is not there")
	}
}

// The limit is found below a queue, whatever the device does; without one everything asked for is under way.
func TestRead_ShowsALimitOnTheWay(t *testing.T) {
	const asked, limit = 16, 3
	for planted, want := range map[int]func(Requests) bool{
		// Where readers wait for a processor most of the time, too few are on the way to meet the limit.
		limit: func(r Requests) bool {
			return r.Below <= limit+0.01 && (r.Limit() > 0 || r.Asked <= limit/through+0.02)
		},
		0: func(r Requests) bool { return r.Limit() == 0 },
	} {
		r, err := Read(t.Context(), t.TempDir(), asked, planted, time.Now().Add(300*time.Millisecond))
		if errors.Is(err, unix.EINVAL) {
			t.Skip("this file system cannot be read around its cache")
		}
		if err != nil || !want(r) || r.Asked > asked+0.01 {
			t.Errorf("limit %d: %+v, %v", planted, r, err)
		}
	}
}
