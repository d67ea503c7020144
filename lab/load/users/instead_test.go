package users

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/lab/load/tally"
)

// substitute does its first operation in place of the second, and one that the crowd does not have in place of the
// third. Each takes as long as its place says.
type substitute struct{}

func (substitute) LogIn(context.Context, int) error { return nil }

func (substitute) Play(ctx context.Context, _, operation int, _ *rand.Rand) (tally.Outcome, error) {
	notes := tally.NotesOf(ctx)
	switch operation {
	case 1:
		notes.Instead("a")
	case 2:
		notes.Instead("elsewhere")
	}
	notes.Resent()
	time.Sleep(time.Duration(1+operation) * 100 * time.Millisecond)
	return tally.OK, nil
}

func TestAnOperationIsCountedAsWhatWasCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Crowd{Users: 30, Steady: 20 * time.Second, Drain: time.Second, Timeout: time.Second, Seed: 1,
			Operations: []Operation{{ID: "a", Target: time.Second, Priority: 1, Weight: 1},
				{ID: "b", Target: time.Second, Priority: 1, Weight: 1},
				{ID: "c", Target: time.Second, Priority: 1, Weight: 1}},
			Roles: []Role{{Name: "user", Users: 30, Think: Think{Distribution: Constant, Mean: time.Second},
				Weights: []float64{1, 1, 1}}}}
		counts, err := c.Run(t.Context(), substitute{})
		if err != nil {
			t.Fatal(err)
		}
		a, b, other := counts.Operations[0], counts.Operations[1], counts.Operations[2]
		replaced := b.Instead["a"]
		if replaced < 50 || b.N() != 0 || a.N() <= replaced || a.Resent != a.N() {
			t.Errorf("a %d times, %d resent; b %d times, in place of it %v", a.N(), a.Resent, b.N(), b.Instead)
		}
		if other.N() < 50 || other.Instead["elsewhere"] != other.N() {
			t.Errorf("what the crowd does not have is not counted as what was chosen: c %d times, in place of it %v",
				other.N(), other.Instead)
		}
		if longest := a.Latency.Max(); longest < 190*time.Millisecond || longest > 210*time.Millisecond {
			t.Errorf("what was done in place of b took 200 ms, the longest of a is %v", longest)
		}
	})
}
