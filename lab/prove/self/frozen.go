package self

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/lab/run/result"
)

// frozen is this program as another process, which makes a run and is stopped in its midst.
func frozen(ctx context.Context, s *stage) (outcome, error) {
	const freezeAfter, still, lasts = 2 * time.Second, 2 * time.Second, 8 * time.Second
	g, err := s.generate(ctx, "frozen", lasts)
	if err != nil {
		return outcome{}, err
	}
	defer g.end()
	end := watch("")
	stopped, err := g.freeze(ctx, freezeAfter, still)
	if err != nil {
		return outcome{}, err
	}
	r, err := g.result()
	disturbed := end().disturbed()
	if err != nil {
		return outcome{}, err
	}
	s.falsifyResult(r)
	for i, reason := range r.InvalidReasons {
		if r.InvalidCauses[i] == result.ByDisturbance {
			disturbed = append(disturbed, reason)
		}
	}
	reported := stoodStill(r.InvalidReasons)
	// It is felt from the last beat before the stop to the first one after it.
	const beats = 100 * time.Millisecond
	most := (stopped.most + time.Second).Seconds()
	length := atLeast("length", " s", (stopped.least - beats).Seconds(), most, reported)
	if reported > most {
		disturbed = append(disturbed, "it was frozen for longer than it was stopped")
	}
	length.excusable = reported > stopped.least.Seconds() // a machine that is disturbed wakes it later, not earlier
	validity := states("valid", "no", valid(r), !r.Valid)
	if stopped.lateBy > lasts/4 { // it may have been over by then
		disturbed = append(disturbed, fmt.Sprintf("it was stopped %.1f s late", stopped.lateBy.Seconds()))
		length, validity = length.excused(), validity.excused()
	}
	return outcome{figures: []Figure{length, validity}, disturbed: disturbed}, nil
}

// stoodStill is the longest time, in seconds, of which the reasons say that the generator stood still; NaN: of none.
func stoodStill(reasons []string) float64 {
	longest := math.NaN()
	for _, found := range stillFor.FindAllStringSubmatch(strings.Join(reasons, "\n"), -1) {
		if s, err := strconv.ParseFloat(found[1], 64); err == nil && !(s <= longest) {
			longest = s
		}
	}
	return longest
}

var stillFor = regexp.MustCompile(`the generator stood still for ([0-9.]+) s`)

// standstill that was planted, by the clock of who planted it.
type standstill struct{ least, most, lateBy time.Duration }

// freeze the generator for a time, some time after it began to work.
func (g *generator) freeze(ctx context.Context, after, still time.Duration) (planted standstill, err error) {
	if err := g.begun(ctx); err != nil {
		return planted, err
	}
	began := time.Now()
	if err := wait(ctx, after); err != nil {
		return planted, err
	}
	before := time.Now()
	if err := g.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return standstill{lateBy: time.Since(began) - after}, nil // it has ended
	}
	from := time.Now()
	err = wait(ctx, still)
	to := time.Now()
	err = errors.Join(err, g.cmd.Process.Signal(syscall.SIGCONT))
	return standstill{to.Sub(from), time.Since(before), before.Sub(began) - after}, err
}

func wait(ctx context.Context, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-over.C:
		return nil
	}
}
