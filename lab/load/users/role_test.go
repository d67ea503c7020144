package users

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRolesAreDealtInProportionFromTheFirstUserOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 6).Draw(t, "users of the roles")
		var roles []Role
		all := 0
		for _, n := range counts {
			roles, all = append(roles, Role{Users: n}), all+n
		}
		got := make([]int, len(roles))
		for user, role := range assignRoles(roles, all, all) {
			got[role]++
			for i, n := range counts {
				if owed := float64(n*(user+1)) / float64(all); math.Abs(float64(got[i])-owed) > float64(len(roles)) {
					t.Fatalf("after %d users %d of role %d, owed %.1f", user+1, got[i], i, owed)
				}
			}
		}
		for i, n := range counts {
			if got[i] != n {
				t.Fatalf("%d users of role %d, want %d", got[i], i, n)
			}
		}
	})
}

func TestRolesThatDoNotFitAreRefused(t *testing.T) {
	operations := []Operation{{ID: "post"}, {ID: "list"}}
	good := Role{Name: "clerk", Users: 2, Weights: []float64{1, 0}, Think: Think{Mean: time.Second}}
	for name, change := range map[string]func(*Role){
		"OtherNumberOfUsers": func(r *Role) { r.Users = 3 },
		"WeightMissing":      func(r *Role) { r.Weights = []float64{1} },
		"NothingToDo":        func(r *Role) { r.Weights = []float64{0, 0} },
		"InfiniteWeight":     func(r *Role) { r.Weights = []float64{1, math.Inf(1)} },
		"NegativeUsers":      func(r *Role) { r.Users = -2 },
		"WrongThink":         func(r *Role) { r.Think.Mean = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			change(&r)
			c := Crowd{Users: 2, Operations: operations, Roles: []Role{r}, Steady: 1, Timeout: 1}
			if err := c.Check(); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestPaceEndsAThoughtWhereTheAreaIsTheThinkTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "points")
		var p Pace
		for i := range n {
			p = append(p, PacePoint{At: float64(i) / float64(n), Level: rapid.Float64Range(0, 3).Draw(t, "level")})
		}
		p[n-1].Level += 0.01 // so that every thought ends
		ramp, steady := 10*time.Second, time.Minute
		c := newClock(p, ramp, steady)
		from := time.Duration(rapid.Int64Range(0, int64(ramp+steady)).Draw(t, "from"))
		think := time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(5*time.Minute)).Draw(t, "think"))
		end := c.after(from, think)
		area, steps := 0.0, 20_000 // the midpoint rule is another way to the same area
		width := float64(end-from) / float64(steps)
		for i := range steps {
			area += width * levelAt(c, float64(from)+(float64(i)+0.5)*width)
		}
		if math.Abs(area-float64(think)) > 1e-3*float64(think)+width*3 {
			t.Fatalf("from %v to %v is an area of %v, want %v", from, end, time.Duration(area), think)
		}
	})
}

func levelAt(c clock, at float64) float64 {
	for i := range c.at {
		if at < c.at[i] {
			level, _ := c.line(i, at)
			return level
		}
	}
	return c.level[len(c.level)-1]
}

func TestPaceOfZeroAtTheEndNeverEnds(t *testing.T) {
	c := newClock(Pace{{0, 1}, {0.5, 0}}, 0, time.Minute)
	if got := c.after(40*time.Second, time.Second); got != never {
		t.Errorf("ends at %v", got)
	}
	if got := newClock(nil, 0, time.Minute).after(time.Second, 2*time.Second); got != 3*time.Second {
		t.Errorf("without a pace it ends at %v", got)
	}
}

func TestConstantThinkIsConstantAndMetAnywhere(t *testing.T) {
	drawer, err := newThinker(Think{Distribution: Constant, Mean: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	one, other := drawer.residual(rng), drawer.residual(rng)
	if drawer.draw(rng) != 10*time.Second || one == other {
		t.Error("a constant think time must not vary, its rest must")
	}
}
