package load_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
)

// shop answers everything at once; a real player sends requests.
type shop struct{}

func (shop) LogIn(context.Context, int) error { return nil }
func (shop) Play(context.Context, int, int, *rand.Rand) (tally.Outcome, error) {
	return tally.OK, nil
}

// Twenty users of two operations work for a second on something that only a Player knows.
func Example() {
	l := load.Load{
		Scenario: &scenario.Scenario{
			Operations: []scenario.Operation{
				{ID: "search", Target: 500 * time.Millisecond, Priority: 1, Weight: 3},
				{ID: "order", Target: time.Second, Priority: 1, Weight: 1},
			},
			Roles: []scenario.Role{{Name: "customer", Users: 20, Think: users.Think{Mean: 50 * time.Millisecond}}},
		},
		Seed: 1, Duration: time.Second, Timeout: time.Second,
	}
	counted, err := l.Crowd().Run(context.Background(), shop{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, op := range l.Crowd().Operations {
		fmt.Println(op.ID, counted.Operations[i].N() > 0)
	}
	// Output:
	// search true
	// order true
}
