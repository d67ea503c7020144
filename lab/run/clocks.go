package run

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
)

const (
	// clockSet is the smallest difference that counts: time servers slew smaller ones and step larger ones (RFC 5905,
	// STEPT is 0.128 s).
	clockSet = 500 * time.Millisecond
	// machineSlept is the shortest sleep that counts: users and server alike missed what was due meanwhile.
	machineSlept = 500 * time.Millisecond
)

// moment read by three clocks: the one that measures, which stops while the machine sleeps and cannot be set; the same
// with sleep; the wall clock.
type moment struct{ steady, withSleep, wall time.Duration }

// oneMoment is the longest that reading three clocks may take to count as one moment: a process delayed in between
// would conclude that the machine slept.
const oneMoment = 10 * time.Millisecond

func readClocks() (m moment, err error) {
	for range 10 {
		// A delay between the two readings lengthens only the second, which is what it is read for.
		var after time.Duration
		for _, clock := range []struct {
			id int32
			to *time.Duration
		}{{unix.CLOCK_MONOTONIC, &m.steady}, {unix.CLOCK_BOOTTIME, &m.withSleep}, {unix.CLOCK_REALTIME, &m.wall},
			{unix.CLOCK_MONOTONIC, &after}} {
			var now unix.Timespec
			if err := unix.ClockGettime(clock.id, &now); err != nil {
				return m, err
			}
			*clock.to = time.Duration(now.Nano())
		}
		if after-m.steady <= oneMoment {
			break
		}
	}
	return m, nil
}

// clocks finds out whether the machine slept or its clock was set while users were active.
type clocks struct {
	read   func() (moment, error)
	tell   func(live.Tone, string)
	last   moment
	known  bool
	events []result.Event
	slept  time.Duration
}

// look compares how far the clocks advanced since the last look; at is the time of the run.
func (c *clocks) look(at time.Duration) {
	now, err := c.read()
	if err != nil {
		c.known = false
		return
	}
	last, known := c.last, c.known
	c.last, c.known = now, true
	if !known {
		return
	}
	all := now.withSleep - last.withSleep
	if slept := all - (now.steady - last.steady); slept >= machineSlept {
		c.slept += slept
		c.say(at, live.Alarm, fmt.Sprintf("the machine slept for %s", rounded(slept)))
	}
	if set := now.wall - last.wall - all; set.Abs() >= clockSet {
		way := "forward"
		if set < 0 {
			way = "back"
		}
		c.say(at, live.Note, fmt.Sprintf("the machine's clock was set %s by %s; measurements use another clock, "+
			"which cannot be set", way, rounded(set.Abs())))
	}
}

func (c *clocks) say(at time.Duration, tone live.Tone, text string) {
	c.events = append(c.events, result.Event{AtS: at.Seconds(), Text: text})
	c.tell(tone, text)
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
