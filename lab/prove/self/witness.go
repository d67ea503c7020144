package self

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/human"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// The witness is a separate client next to the lab's: it asks the same server for an answer that nothing delays, and
// sees how late its timer wakes it. So much more than planted a time may be, because that is what an operation costs
// here and now.
const (
	witnessBeat = 20 * time.Millisecond
	// lateMost: one beat of a hundred that is later, or one round trip that is longer, shows a disturbed machine.
	lateMost = 20 * time.Millisecond
	// processing of an operation in generator and server beyond waking up and the network.
	processing = 2 * time.Millisecond
)

// noise is what the witness saw.
type noise struct {
	trips, late []time.Duration
	others      float64 // share of the processors that other processes used
}

// slackMS is by how much a percentile may exceed what was planted: a round trip, and the timers of the user and the
// server.
func (n noise) slackMS() float64 {
	return human.MS(processing) + min(percentile(n.trips, 99)+2*percentile(n.late, 99), 3*human.MS(lateMost))
}

// disturbed says how the machine was, by what the witness saw.
func (n noise) disturbed() (texts []string) {
	if n.others > run.DisturbedLimitDefault {
		texts = append(texts, fmt.Sprintf("other processes used %.0f %% of the processors", 100*n.others))
	}
	add := func(what string, took float64) {
		if took > human.MS(lateMost) {
			texts = append(texts, fmt.Sprintf("1 of 100 %s %.0f ms", what, took))
		}
	}
	add("timers fired late by", percentile(n.late, 99))
	add("empty requests took", percentile(n.trips, 99))
	return texts
}

// disturbances of a run: the witness's, and the run's own reasons but those that were planted.
func disturbances(n noise, r *result.Result, planted ...string) []string {
	texts := n.disturbed()
	for i, reason := range r.InvalidReasons {
		meant := slices.ContainsFunc(planted, func(p string) bool { return strings.Contains(reason, p) })
		switch cause := r.InvalidCauses[i]; {
		case meant:
		case cause == result.ByGenerator, cause == result.ByDisturbance, cause == result.ByAccident:
			texts = append(texts, reason)
		}
	}
	if lag := r.Generator.LagMSP99; lag > human.MS(lateMost) {
		texts = append(texts, fmt.Sprintf("the generator sent 1 of 100 operations %.0f ms late", lag))
	}
	return texts
}

// watch until the function that it gives is called. Without an address it only feels its timer. Processes of the roots
// belong to the system.
func watch(base string, roots ...int) (end func() noise) {
	var n noise
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Add(1)
	machine := neighbours.Begin(func() []int { return append([]int{os.Getpid()}, roots...) })
	go func() {
		defer done.Done()
		beats := time.NewTimer(witnessBeat)
		defer beats.Stop()
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		for due := time.Now().Add(witnessBeat); ; due = time.Now().Add(witnessBeat) {
			beats.Reset(time.Until(due))
			select {
			case <-ctx.Done():
				return
			case <-beats.C:
				n.late = append(n.late, max(0, time.Since(due)))
			}
			if base != "" {
				if took, ok := roundTrip(ctx, transport, base+witnessPath); ok {
					n.trips = append(n.trips, took)
				}
			}
		}
	}()
	return func() noise {
		stop()
		done.Wait()
		n.trips, n.late = withMissed(n.trips), withMissed(n.late)
		n.others = result.ValueOrZero(machine.End().Others)
		return n
	}
}

// withMissed adds what the beats would have seen that were missed meanwhile: one that is a second late stands for all
// of that second, or a standstill would be one sample of hundreds.
func withMissed(all []time.Duration) []time.Duration {
	for _, d := range all {
		for d -= witnessBeat; d > 0; d -= witnessBeat {
			all = append(all, d)
		}
	}
	return all
}

func roundTrip(ctx context.Context, transport *http.Transport, url string) (time.Duration, bool) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, false
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return 0, false
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return time.Since(began), err == nil
}

// percentile p in milliseconds; 0 of none.
func percentile(all []time.Duration, p float64) float64 {
	return human.MS(stats.Percentile(all, p/100))
}
