package run

import (
	"testing"
	"time"

	"plimsoll/lab/load"
	"plimsoll/lab/load/users"
)

// TestOperationsThatAreToldBeforeARun: the most operations that the users can reach, so that what they need is created.
func TestOperationsThatAreToldBeforeARun(t *testing.T) {
	planned := load.Default()
	planned.Users, planned.Ramp, planned.Duration = 100, 10*time.Second, 50*time.Second
	planned.Think = &users.Think{Mean: 5 * time.Second, Distribution: users.Constant}
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   float64
	}{
		{"Users", func(*Plan) {}, 100 * 60 / 5},
		{"NoThought", func(p *Plan) { p.Think = &users.Think{} }, 100 * 60 / thinkLeast.Seconds()},
		{"Arrivals", func(p *Plan) { p.Arrivals = &users.Arrivals{Rate: 7} }, 7 * 60},
		{"OneOfFourGenerators", func(p *Plan) { p.Segment = users.Segment{Index: 1, Count: 4} }, 25 * 60 / 5},
	} {
		p := Plan{Load: planned.Resolve()}
		c.change(&p)
		if got := p.operations(); got != c.want {
			t.Errorf("%s: %v operations, want %v", c.name, got, c.want)
		}
	}
}
