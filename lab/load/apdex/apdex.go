// Package apdex computes the score: the share of operations that were fast enough, counted exactly, and its name.
//
// Source: Apdex Alliance, "Application Performance Index - Apdex Technical
// Specification", version 1.1 (2007), with the zone limits and bands of the
// field report (claim C01):
//
//	satisfied   0 ≤ t < T
//	tolerating  T ≤ t < 4T
//	frustrated  4T ≤ t, and every error or refusal by overload
//
//	Apdex = (NS + NT/2) / N
//
// A refusal by a business control is an answer, not an error: its latency decides.
package apdex

import "time"

// FrustrationFactor times T is the end of tolerating (specification, §3).
const FrustrationFactor = 4

// SmallGroup: a score of fewer samples must be marked as that of a small group (specification, §4.3).
const SmallGroup = 100

// Counts of operations in the three zones.
type Counts struct {
	Satisfied  int64 `json:"satisfied"`
	Tolerating int64 `json:"tolerating"`
	Frustrated int64 `json:"frustrated"`
}

// Time counts an operation that was answered after latency, with target T.
func (c *Counts) Time(latency, target time.Duration) {
	switch {
	case latency < target:
		c.Satisfied++
	case latency < FrustrationFactor*target:
		c.Tolerating++
	default:
		c.Frustrated++
	}
}

// Fail counts an operation without a valid answer, however fast it failed.
func (c *Counts) Fail() { c.Frustrated++ }

// Add merges the counts of another second or another agent.
func (c *Counts) Add(other Counts) {
	c.Satisfied += other.Satisfied
	c.Tolerating += other.Tolerating
	c.Frustrated += other.Frustrated
}

// N is the number of operations counted.
func (c Counts) N() int64 { return c.Satisfied + c.Tolerating + c.Frustrated }

// Score is (NS + NT/2) / N; false without operations.
func (c Counts) Score() (float64, bool) {
	n := c.N()
	if n == 0 {
		return 0, false
	}
	// 2·NS + NT is an exact integer; the division rounds once.
	return float64(2*c.Satisfied+c.Tolerating) / float64(2*n), true
}
