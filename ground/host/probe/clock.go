package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Timing is what reading the time and sleeping cost.
type Timing struct {
	ReadNS float64 `json:"read_ns"` // one reading, of the quickest batch
	StepNS float64 `json:"step_ns"` // the least difference of two readings that differ
	// Sleep is how much longer a sleep of SleptNS took.
	SleptNS float64 `json:"asked_sleep_ns"`
	Sleep   Times   `json:"overshoot"`
	// QueuedNS of the mean overshoot was spent ready and without a processor: others' doing, not the timer's. Null: the
	// kernel keeps no such figure.
	QueuedNS *float64 `json:"overshoot_in_run_queue_ns"`
}

const (
	clockReads   = 1000
	clockBatches = 100
	sleepFor     = time.Millisecond
	sleepsMost   = 200
)

// ReadClock measures clock and sleeps.
func ReadClock(ctx context.Context, until time.Time) (c Timing, err error) {
	done := make(chan struct{})
	go func() { // a thread of its own: its run queue is to be known
		defer close(done)
		runtime.LockOSThread()
		err = clock(ctx, until, &c)
	}()
	<-done
	return c, err
}

func clock(ctx context.Context, until time.Time, c *Timing) error {
	for range clockBatches {
		began := time.Now()
		last := began
		for range clockReads {
			now := time.Now()
			if step := float64(now.Sub(last)); step > 0 && (c.StepNS == 0 || step < c.StepNS) {
				c.StepNS = step
			}
			last = now
		}
		if one := float64(last.Sub(began)) / clockReads; c.ReadNS == 0 || one < c.ReadNS {
			c.ReadNS = one
		}
	}
	c.SleptNS = float64(sleepFor)
	var all []float64
	before, queueErr := queued()
	for ctx.Err() == nil && (len(all) == 0 || time.Now().Before(until)) && len(all) < sleepsMost {
		asked := unix.NsecToTimespec(int64(sleepFor))
		began := time.Now()
		if err := unix.Nanosleep(&asked, nil); errors.Is(err, unix.EINTR) {
			continue // the runtime's own signal cut it short
		}
		all = append(all, max(0, float64(time.Since(began)-sleepFor)))
	}
	if after, err := queued(); err == nil && queueErr == nil && len(all) > 0 {
		mean := float64(after-before) / float64(len(all))
		c.QueuedNS = &mean
	}
	var err error
	c.Sleep, err = TimesOf(all)
	return err
}

// queued is how long this thread was ready and had no processor.
func queued() (time.Duration, error) {
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/thread-self/schedstat has %d fields", len(fields))
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(ns), err
}

const (
	flushed     = 8192 // bytes before each flush, as a small commit writes
	flushesMost = 200
)

// Flushes of a file in a folder: each time 8 kB are appended and flushed. The file has no name while it is written, so
// that nothing is left however this program ends.
func Flushes(ctx context.Context, dir string, until time.Time) (t Times, err error) {
	file, err := os.CreateTemp(dir, ".plimsoll-probe-")
	if err != nil {
		return t, fmt.Errorf("create a file: %w", err)
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return t, err
	}
	var all []float64
	page := make([]byte, flushed)
	for ctx.Err() == nil && time.Now().Before(until) && len(all) < flushesMost {
		if _, err := file.Write(page); err != nil {
			return t, err
		}
		began := time.Now()
		if err := unix.Fdatasync(int(file.Fd())); err != nil {
			return t, fmt.Errorf("flush: %w", err)
		}
		all = append(all, float64(time.Since(began)))
	}
	return TimesOf(all)
}
