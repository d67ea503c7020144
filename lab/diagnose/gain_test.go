package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/ground/postgres/waits"
)

// drifting is a minute of a server whose four sessions sleep, or do what is asked for, with a chance that drifts: its
// logit is an AR(1) series over the seconds. They are looked at twenty times a second.
func drifting(random *rand.Rand, rho float64, doing waits.Session) *measured {
	const seconds, looks, sessions = 60, 20, 4
	b, state := newBook(), random.NormFloat64()
	at := time.Unix(1000, 0)
	for range seconds {
		state = rho*state + math.Sqrt(1-rho*rho)*random.NormFloat64()
		for range looks {
			at = at.Add(time.Second / looks)
			l := look{at: at, covers: time.Second / looks}
			for pid := range sessions {
				s := active(pid, "", "SELECT * FROM t WHERE id = 1")
				if random.Float64() < logistic(state) {
					s = doing
					s.PID = pid
				}
				l.sessions = append(l.sessions, s)
			}
			b.take(l)
		}
	}
	m := plant(nil, nil)
	m.book, m.ledger = b, b.ledger(&scheduled{ran: b.secondsOf(waits.Running)}, "split")
	return m
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// The looks of one second are one moment of the load, seen many times: they are no evidence of their own. The mean
// chance is ½ whatever drifts.
func TestGain_CoversTheTruthOfDependentLooks(t *testing.T) {
	const runs = 100
	asleep, cleaning := active(0, "Timeout:PgSleep", "SELECT pg_sleep(9)"), active(0, "IO:DataFileRead", "VACUUM t")
	for _, c := range []struct {
		finding string
		doing   waits.Session
		rho     float64
		least   float64
	}{{"told-to-wait", asleep, 0, 0.9}, {"told-to-wait", asleep, 0.7, 0.8}, {"maintenance", cleaning, 0.7, 0.8}} {
		t.Run(fmt.Sprint(c.finding, c.rho), func(t *testing.T) {
			random, covers, wide := rand.New(rand.NewPCG(31, 37)), 0.0, 0.0
			for range runs {
				findings, _ := judge(drifting(random, c.rho, c.doing), &sources{})
				if len(findings) == 0 || findings[0].Name != c.finding {
					t.Fatalf("found %+v", findings)
				}
				g := findings[0].Gain
				if g.Low <= 0.5 && 0.5 <= g.High {
					covers += 1.0 / runs
				}
				wide += (g.High - g.Low) / runs
			}
			t.Logf("covers %.2f, %.3f wide", covers, wide)
			if covers < c.least {
				t.Errorf("the interval of the gain covers the truth in %.2f of the runs", covers)
			}
		})
	}
}

// A short look has no narrow interval: a second of looks does not know the next.
func TestGain_OfAFewMoments(t *testing.T) {
	b, at := newBook(), time.Unix(1000, 0)
	for i := range 20 {
		at = at.Add(20 * time.Millisecond)
		l := look{at: at, covers: 20 * time.Millisecond, sessions: []waits.Session{active(1, "", "SELECT 1")}}
		if i%2 == 0 {
			l.sessions = append(l.sessions, active(2, "Timeout:PgSleep", "SELECT pg_sleep(9)"))
		}
		b.take(l)
	}
	m := plant(nil, nil)
	m.book, m.ledger = b, b.ledger(&scheduled{ran: b.secondsOf(waits.Running)}, "split")
	findings, _ := judge(m, &sources{})
	if g := findings[0].Gain; g == nil || g.High-g.Low < 0.5 {
		t.Errorf("%+v of 0.4 s", g)
	}
}

// What is kept for the intervals does not grow with time, and loses nothing.
func TestStretches_AreBounded(t *testing.T) {
	b := newBook()
	for i := range 5000 {
		b.take(look{at: time.Unix(int64(i), 0), covers: time.Second,
			sessions: []waits.Session{active(1, "", fmt.Sprintf("SELECT * FROM t%d", i%400)), idleFor(time.Second)}})
	}
	sum := 0.0
	for _, m := range b.stretches.all {
		if len(m) > namesMost+2 {
			t.Fatalf("%d names in a stretch", len(m))
		}
		for _, seconds := range m {
			sum += seconds
		}
	}
	if n := len(b.stretches.all); n > stretchesMost || n < stretchesMost/2 || math.Abs(sum-b.total()) > 1e-6 {
		t.Errorf("%d stretches of %.1f s, %.1f s in all", n, sum, b.total())
	}
}
