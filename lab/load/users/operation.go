package users

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"plimsoll/lab/load/tally"
)

// Operation is one kind of thing that users do.
type Operation struct {
	ID       string
	Title    string
	Target   time.Duration // T of Apdex
	Priority int           // 1 counts most
	Weight   float64       // in the mix of a crowd without roles, in any unit; 0 is never done
	// Refused is the share of it that controls are expected to refuse.
	Refused float64
	// Least is how many valid answers of it a run needs.
	Least int
}

// NewTally counts operations that are due in the steady state [from, to).
func NewTally(operations []Operation, from, to time.Duration) *tally.Tally {
	var targets []time.Duration
	var priorities []int
	for _, op := range operations {
		targets, priorities = append(targets, op.Target), append(priorities, op.Priority)
	}
	return tally.New(targets, priorities, from, to)
}

// Player does operations for users: over HTTP, by SQL, however. It is called from
// many goroutines, but for one user only by one at a time.
type Player interface {
	// LogIn opens the session of a user, counted from 0.
	LogIn(ctx context.Context, user int) error
	// Play does one operation, by its place in the list, and returns when it has
	// ended or soon after ctx is done. The error says what is behind Overload and
	// Failed. If the user thinks between two steps of it (tally.Notes.Pause), Play
	// returns OK and is called again for the rest.
	Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error)
}

// mix chooses operations by their weights.
type mix []float64 // running sums

func newMix(weights []float64, operations []Operation) (mix, error) {
	var m mix
	sum := 0.0
	for i, weight := range weights {
		if !(weight >= 0) || math.IsInf(weight, 0) {
			return nil, fmt.Errorf("weight of %s is %v: must be 0 or more", operations[i].ID, weight)
		}
		sum += weight
		m = append(m, sum)
	}
	if sum <= 0 {
		return nil, fmt.Errorf("no operation has a weight above 0")
	}
	return m, nil
}

func (m mix) pick(rng *rand.Rand) int {
	x := rng.Float64() * m[len(m)-1]
	return sort.Search(len(m)-1, func(i int) bool { return x < m[i] })
}
