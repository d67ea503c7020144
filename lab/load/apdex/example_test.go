package apdex_test

import (
	"fmt"
	"time"

	"plimsoll/lab/load/apdex"
)

// Three quick answers, one that was tolerated and one error, against a target of half a second.
func Example() {
	const target = 500 * time.Millisecond
	var c apdex.Counts
	for _, latency := range []time.Duration{80 * time.Millisecond, 200 * time.Millisecond, 499 * time.Millisecond,
		1900 * time.Millisecond} {
		c.Time(latency, target)
	}
	c.Fail()
	score, _ := c.Score()
	fmt.Printf("%s of %d operations: %s\n", apdex.Text(score), c.N(), apdex.BandOf(score))
	// Output: 0.700 of 5 operations: fair
}
