package result

// IntervalBasis is the basis of the 95 % intervals: blocks of neighbouring seconds, drawn with replacement. The
// intervals cover variation within the run, not between runs.
type IntervalBasis struct {
	SteadyS float64 `json:"steady_s"` // seconds drawn from
	BlockS  float64 `json:"block_s"`  // drawn together, for the overall score
	// Of is what the intervals are about: the system, or, where the steady state was too short to show how slow spells
	// come and go, this run alone; NeedsS is how long it must be. Absent in older results.
	Of     IntervalScope `json:"of,omitempty"`
	NeedsS float64       `json:"needs_s,omitempty"`
	// Staged: the load varied by stages, so that the intervals are of this course of it.
	Staged bool `json:"staged,omitempty"`
	// CheckpointS is the time between checkpoints of a watched database, if the run saw none and was shorter.
	CheckpointS float64 `json:"checkpoint_s,omitempty"`
}

// IntervalScope is what an interval is about.
type IntervalScope string

const (
	OfSystem IntervalScope = "system"
	OfRun    IntervalScope = "run"
)

// LatencyIntervals of percentiles in milliseconds.
type LatencyIntervals struct {
	P50 *Range `json:"p50"`
	P95 *Range `json:"p95"`
	P99 *Range `json:"p99"`
}

// Range is a 95 % interval; without an upper end where too few operations bound it.
type Range struct {
	Low  float64  `json:"low"`
	High *float64 `json:"high"`
}
