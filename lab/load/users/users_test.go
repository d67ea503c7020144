package users

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
	"plimsoll/lab/load/tally"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

func TestThink(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, think := range []Think{
		{Distribution: Lognormal, Mean: 10 * time.Second},
		{Distribution: Exponential, Mean: 10 * time.Second},
		{Distribution: Lognormal, Mean: 10 * time.Second, Cap: 12 * time.Second},
		{Distribution: Exponential, Mean: 10 * time.Second, Cap: 15 * time.Second},
		{Distribution: Constant, Mean: 10 * time.Second},
	} {
		drawer, err := newThinker(think)
		if err != nil {
			t.Fatal(err)
		}
		const n = 200_000
		var sum, squares, left, longest float64
		for range n {
			x := drawer.draw(rng).Seconds()
			sum, squares, longest = sum+x, squares+x*x, math.Max(longest, x)
			left += drawer.residual(rng).Seconds()
		}
		mean := sum / n
		t.Run(string(think.Distribution)+"/HoldsTheMeanAfterCapping/"+think.Cap.String(), func(t *testing.T) {
			if math.Abs(mean-10) > 0.15 || longest > drawer.Cap.Seconds() {
				t.Errorf("mean %.3f s, longest %.1f s", mean, longest)
			}
		})
		t.Run(string(think.Distribution)+"/ResidualIsThatOfRenewalTheory/"+think.Cap.String(), func(t *testing.T) {
			// E[residual] = E[X²] / 2E[X]
			if want := squares / sum / 2; math.Abs(left/n-want)/want > 0.03 {
				t.Errorf("mean residual %.3f s, want %.3f s", left/n, want)
			}
		})
	}
	t.Run("ZeroMeansNone", func(t *testing.T) {
		drawer, err := newThinker(Think{})
		if err != nil || drawer.draw(rng) != 0 || drawer.residual(rng) != 0 {
			t.Errorf("thinks: %v", err)
		}
	})
}

func TestMixFollowsTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 50), 1, 8).Draw(t, "weights")
		operations, sum := make([]Operation, len(weights)), 0.0
		for i, w := range weights {
			operations[i].Weight, sum = w, sum+w
		}
		m, err := newMix(weights, operations)
		if sum == 0 {
			if err == nil {
				t.Fatal("a mix of nothing is accepted")
			}
			return
		}
		rng, n, counts := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))), 20_000, make([]int, len(weights))
		for range n {
			counts[m.pick(rng)]++
		}
		for i, w := range weights {
			p := w / sum
			few := 10 / float64(n) // a rare one is no normal distribution
			if math.Abs(float64(counts[i])/float64(n)-p) > 6*math.Sqrt(p*(1-p)/float64(n))+few {
				t.Fatalf("operation %d of weight %v: %d of %d", i, weights, counts[i], n)
			}
		}
	})
}

func TestCheckRefuses(t *testing.T) {
	good := Crowd{Users: 1, Operations: []Operation{{ID: "post", Weight: 1}}, Steady: time.Second, Timeout: time.Second}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Crowd){
		"0 users":              func(c *Crowd) { c.Users = 0 },
		"duration":             func(c *Crowd) { c.Steady = 0 },
		"ramp":                 func(c *Crowd) { c.Ramp = -1 },
		"timeout":              func(c *Crowd) { c.Timeout = 0 },
		"weight of post":       func(c *Crowd) { c.Operations = []Operation{{ID: "post", Weight: -1}} },
		"no operation":         func(c *Crowd) { c.Operations = nil },
		"distribution \"odd\"": func(c *Crowd) { c.Think.Distribution = "odd" },
		"longest think time":   func(c *Crowd) { c.Think = Think{Mean: 10, Cap: 10} },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %q, got %v", want, err)
		}
	}
}

type doorman struct {
	inside, most atomic.Int64
	closedFrom   int
}

func (d *doorman) LogIn(_ context.Context, user int) error {
	d.most.Store(max(d.most.Load(), d.inside.Add(1)))
	defer d.inside.Add(-1)
	if d.closedFrom != 0 && user >= d.closedFrom {
		return errors.New("too many sessions")
	}
	return nil
}

func (d *doorman) Play(context.Context, int, int, *rand.Rand) (tally.Outcome, error) {
	return tally.OK, nil
}

// moody lets some users in only after so many tries.
type moody struct {
	substitute
	mu    sync.Mutex
	fails map[int]int
}

func (m *moody) LogIn(_ context.Context, user int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails[user] > 0 {
		m.fails[user]--
		return errors.New("no")
	}
	return nil
}

func TestLogIn(t *testing.T) {
	t.Run("LetsEverybodyInAFewAtATime", func(t *testing.T) {
		var door doorman
		var in atomic.Int64
		if _, err := LogIn(context.Background(), 0, 5000, Segment{}, &door, &in); err != nil || in.Load() != 5000 ||
			door.most.Load() > LogInParallel {
			t.Errorf("%d in, %d at once, %v", in.Load(), door.most.Load(), err)
		}
	})
	t.Run("StopsWhenTooManyCannot", func(t *testing.T) {
		door := doorman{closedFrom: 100}
		var in atomic.Int64
		_, err := LogIn(context.Background(), 0, 5000, Segment{}, &door, &in)
		if err == nil || !strings.Contains(err.Error(), "too many sessions") || in.Load() != 100 ||
			!strings.HasPrefix(err.Error(), "100 of 5000 users are logged in: log in user ") {
			t.Errorf("%d in, %v", in.Load(), err)
		}
	})
	t.Run("StopsAtOnceWhenNobodyCan", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := LogIn(t.Context(), 0, 10, Segment{}, &doorman{closedFrom: -1}, nil)
			if err == nil || !strings.Contains(err.Error(), "0 of 10 users") || time.Since(began) >= logInPause {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	})
	for name, c := range map[string]struct {
		fails map[int]int // user to times
		late  int
		says  string
	}{
		"TriesAgainWhoFailedOnce":    {map[int]int{17: 1, 30: 2}, 0, ""},
		"LetsAFewBeLate":             {map[int]int{17: 99, 30: 99, 31: 1}, 2, "log in user 18: no"},
		"RefusesWhenMoreThanAFewAre": {map[int]int{1: 99, 2: 99, 3: 99, 4: 99}, -1, "346 of 350 users are logged in"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				late, err := LogIn(t.Context(), 0, 350, Segment{}, &moody{fails: c.fails}, nil)
				if err == nil {
					err = late.Err
				}
				if got := late.Users; c.late >= 0 && got != c.late ||
					(err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%d late, %v", got, err)
				}
			})
		})
	}
	t.Run("StopsWhenCancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := LogIn(ctx, 0, 10, Segment{}, &doorman{}, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		came, went := int32(0), int32(0)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) { q.add(entry{number: came}); came++ },
			"take": func(t *rapid.T) {
				if q.len() == 0 {
					t.Skip("nobody waits")
				}
				if e := q.take(); e.number != went {
					t.Fatalf("took %d, want %d", e.number, went)
				}
				went++
			},
			"": func(t *rapid.T) {
				if q.len() != int(came-went) || cap(q.entries) > 4*(int(came)+4) {
					t.Fatalf("%d wait, want %d", q.len(), came-went)
				}
			},
		})
	})
}
