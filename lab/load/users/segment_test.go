package users

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/tally"
)

// TestSegments holds a crowd that is divided against the same crowd in one.
func TestSegments(t *testing.T) {
	for name, change := range map[string]func(*Crowd){
		"Closed": func(c *Crowd) { c.Ramp = 3 * time.Second },
		"Roles": func(c *Crowd) {
			c.Roles = []Role{{"a", 40, Think{Mean: time.Second}, []float64{1, 0}},
				{"b", 10, Think{Mean: 5 * time.Second}, []float64{1, 3}}}
		},
		"Presence": func(c *Crowd) {
			c.Ramp = 2 * time.Second
			c.Presence = Pace{{0, 0.4}, {0.3, 0.4}, {0.5, 1}, {0.7, 1}, {0.7, 0.1}, {1, 0.1}}
		},
		"Poisson": func(c *Crowd) { c.Arrivals = &Arrivals{Poisson, 20} },
	} {
		t.Run(name, func(t *testing.T) {
			people := crowd(50)
			change(&people)
			whole, wanted := film(t, people, &server{service: 30 * time.Millisecond}, nil)
			for _, count := range []int{1, 3, 7} {
				var samples []tally.Sample
				var pages []tally.Page
				for index := range count {
					part := people
					part.Segment = Segment{index, count}
					k := 0
					part.EachSecond = func(l Second) {
						if k >= len(pages) {
							pages = append(pages, tally.NewSum(k, len(people.Operations)))
						}
						pages[k].Add(l.Page)
						k++
					}
					some, _ := film(t, part, &server{service: 30 * time.Millisecond}, nil)
					samples = append(samples, some...)
				}
				inOrder(samples)
				if diff := cmp.Diff(played(whole, people), played(samples, people)); diff != "" {
					t.Fatalf("%d segments do something else:\n%s", count, diff)
				}
				sum := NewTally(people.Operations, people.Ramp, people.Ramp+people.Steady)
				for _, page := range pages {
					if err := sum.Add(page); err != nil {
						t.Fatal(err)
					}
				}
				if a, b := figures(sum), figures(wanted); a != b {
					t.Errorf("%d segments sum up to\n%s\nthe whole is\n%s", count, a, b)
				}
			}
		})
	}
}

// TestSegmentsChangedByHand get the same request at the same moment, and do what the whole does.
func TestSegmentsChangedByHand(t *testing.T) {
	byHand := func(c *Crowd) func(context.CancelFunc) {
		c.Control, c.UsersMost = &Control{}, 80
		return guide(c, func() { c.Control.Set(Load{Users: 20}) }, func() { c.Control.Set(Load{Users: 35}) },
			func() { c.Control.Set(Load{Users: 75}) })
	}
	people := crowd(50)
	people.Roles = []Role{{"a", 40, Think{Mean: time.Second}, []float64{1, 0}},
		{"b", 10, Think{Mean: 5 * time.Second}, []float64{1, 3}}}
	users := map[int]int{}
	look := func(sign int) func(Second) {
		return func(l Second) {
			if !l.Page.Rest {
				users[l.Page.Second] += sign * l.Page.Users
			}
		}
	}
	one := people
	one.EachSecond = look(-1)
	hand := byHand(&one)
	whole, _ := film(t, one, &server{service: 30 * time.Millisecond}, hand)
	for _, count := range []int{3, 7} {
		var samples []tally.Sample
		parted := maps.Clone(users)
		for index := range count {
			part := people
			part.Segment = Segment{index, count}
			part.EachSecond = look(1)
			hand := byHand(&part)
			some, _ := film(t, part, &server{service: 30 * time.Millisecond}, hand)
			samples = append(samples, some...)
		}
		inOrder(samples)
		if diff := cmp.Diff(played(whole, people), played(samples, people)); diff != "" {
			t.Fatalf("%d segments do something else:\n%s", count, diff)
		}
		for second, left := range users {
			if left != 0 {
				t.Errorf("%d segments: %+d active users in second %d", count, left, second)
			}
		}
		users = parted
	}
}

// played are samples without the session that played them, which the open model assigns again.
func played(samples []tally.Sample, c Crowd) []tally.Sample {
	if c.Arrivals != nil {
		for i := range samples {
			samples[i].User = 0
		}
	}
	return samples
}

func figures(t *tally.Tally) string {
	var seconds [][4]int64
	for _, i := range t.Timeline.Intervals {
		seconds = append(seconds, i.Outcomes)
	}
	p99, _ := t.Operations[0].Latency.Percentile(99)
	score, interval, _ := t.Apdex()
	text, err := json.Marshal([]any{t.Outcomes(), t.Answered, t.Operations[0].Apdex, t.Operations[1].Units, p99, score,
		interval, seconds})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestSegmentsShareTheRamp(t *testing.T) {
	c := crowd(10)
	c.Ramp = 10 * time.Second
	for at := range 12 {
		sum := 0
		for index := range 3 {
			part := c
			part.Segment = Segment{index, 3}
			sum += part.activeAt(time.Duration(at) * time.Second)
		}
		if whole := c.activeAt(time.Duration(at) * time.Second); sum != whole {
			t.Errorf("after %d s %d users of the segments are active, %d of the whole", at, sum, whole)
		}
	}
	for _, wrong := range []Segment{{-1, 3}, {3, 3}, {0, -1}, {10, 11}} {
		c.Segment = wrong
		if c.Check() == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

// TestCommonStart lets a crowd wait for its start; what was due then was due at it.
func TestCommonStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Add(7 * time.Second)
		c := crowd(20)
		c.Start = start
		var first time.Duration
		c.Ended = func(s tally.Sample) {
			if first == 0 {
				first = s.Lag()
			}
		}
		s := &server{service: time.Millisecond, began: start}
		if _, err := c.Run(context.Background(), s); err != nil || first != 0 {
			t.Errorf("lag %v, %v", first, err)
		}
		if over := time.Since(start); over < c.Steady || over > c.Steady+c.Drain {
			t.Errorf("it took %v from the start", over)
		}
	})
}
