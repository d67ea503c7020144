package storage

import (
	"fmt"
	"time"

	"plimsoll/ground/problem"
)

// Setting is a custom setting on the server's command line, so that everybody who connects can see that flushes are
// slowed.
const Setting = "storage.flush_latency"

// LatencyMax is more than any disk takes.
const LatencyMax = 10 * time.Second

// ParseLatency reads the latency of a flush; empty and 0 mean the disk's own time.
func ParseLatency(text string) (time.Duration, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > LatencyMax {
		return 0, problem.New(problem.Usage, fmt.Errorf("flush latency %q: must be 0 to %s", text, LatencyMax),
			"such as 0.5ms or 2ms; 0: the disk's own time")
	}
	return d, nil
}
