// Package apdex owns the score: how many of the users' operations were quick
// enough, counted exactly, and what that number is called.
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
// A refusal by a business control is an answer, not an error: it is counted by
// its time.
package apdex

import "time"

// FrustrationFactor times T is where tolerating ends (specification, §3).
const FrustrationFactor = 4

// SmallGroup is the number of samples below which the specification (§4.3)
// asks for the score to be marked as coming from a small group.
const SmallGroup = 100

// Counts are the exact numbers of operations in the three zones.
type Counts struct {
	Satisfied  int64 `json:"satisfied"`
	Tolerating int64 `json:"tolerating"`
	Frustrated int64 `json:"frustrated"`
}

// Time counts an operation that was answered after latency, against target T.
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

// Add merges counts taken elsewhere: another second, another agent.
func (c *Counts) Add(other Counts) {
	c.Satisfied += other.Satisfied
	c.Tolerating += other.Tolerating
	c.Frustrated += other.Frustrated
}

// N is the number of operations counted.
func (c Counts) N() int64 { return c.Satisfied + c.Tolerating + c.Frustrated }

// Score is (NS + NT/2) / N; false when nothing was counted.
func (c Counts) Score() (float64, bool) {
	n := c.N()
	if n == 0 {
		return 0, false
	}
	// 2·NS + NT is exact in integers; one division rounds once.
	return float64(2*c.Satisfied+c.Tolerating) / float64(2*n), true
}
