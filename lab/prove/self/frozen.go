package self

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/lab/run/result"
)

// frozen is this program as another process, which makes a run and is stopped in its midst.
func frozen(ctx context.Context, s *stage) (outcome, error) {
	const freezeAfter, still = 3 * time.Second, 2 * time.Second
	begun := make(chan struct{}, 1)
	server, err := listen(func(r *received) {
		r.wait(10 * time.Millisecond)
		select {
		case begun <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return outcome{}, err
	}
	defer server.close()
	path, err := s.write("frozen", header+"[http]\nbase = \""+server.base+"\"\n"+look)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := append(slices.Clone(s.Program[1:]), "run", "--scenario", path, "--ramp", "0s", "--duration", "8s", "--json")
	run := exec.CommandContext(ctx, s.Program[0], args...)
	run.Env = append(os.Environ(), "PLIMSOLL_STATE="+s.dir)
	run.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	run.Stdout, run.Stderr = &out, &errs
	if err := run.Start(); err != nil {
		return outcome{}, fmt.Errorf("start a run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	if err := freeze(ctx, run.Process, begun, freezeAfter, still); err != nil {
		cancel()
		return outcome{}, errors.Join(err, <-ended)
	}
	err = <-ended
	var r result.Result
	if bad := json.Unmarshal(out.Bytes(), &r); bad != nil {
		return outcome{}, fmt.Errorf("read the run: %w, %w: %s", bad, err, strings.TrimSpace(errs.String()))
	}
	var others []string
	for i, reason := range r.InvalidReasons {
		if r.InvalidCauses[i] == result.ByDisturbance {
			others = append(others, reason)
		}
	}
	// It is felt from the last beat before the stop to the first one after it.
	const beats = 100 * time.Millisecond
	reported := stoodStill(r.InvalidReasons)
	length := atLeast("length", " s", (still - beats).Seconds(), (still + time.Second).Seconds(), reported)
	length.excusable = reported > still.Seconds() // a machine that is disturbed wakes it later, not earlier
	return outcome{[]Figure{
		length,
		states("valid", "no", valid(&r), !r.Valid),
	}, others}, nil
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

// freeze a process for a time, after it began to work.
func freeze(ctx context.Context, p *os.Process, begun <-chan struct{}, after, still time.Duration) error {
	for _, step := range []func() error{
		func() error { return wait(ctx, begun, time.Minute) },
		func() error { return wait(ctx, nil, after) },
		func() error { return p.Signal(syscall.SIGSTOP) },
		func() error {
			err := wait(ctx, nil, still)
			return errors.Join(err, p.Signal(syscall.SIGCONT))
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("freeze the generator: %w", err)
		}
	}
	return nil
}

// wait for a signal, or so long where there is none.
func wait(ctx context.Context, signal <-chan struct{}, most time.Duration) error {
	over := time.NewTimer(most)
	defer over.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-signal:
		return nil
	case <-over.C:
		if signal != nil {
			return errors.New("it did not begin")
		}
		return nil
	}
}
