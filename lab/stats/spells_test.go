package stats

import (
	"math/rand/v2"
	"testing"
)

// Slow spells of three seconds come at random, on average every 33 s, and eight of ten users are dissatisfied in them.
const (
	spell, between   = 3.0, 30.0
	usual, inASpell  = 0.98, 0.2
	truthWithSpells  = (usual*between + inASpell*spell) / (between + spell)
	runsOfEachLength = 600
)

func spells(random *rand.Rand, seconds int) (series []Moment) {
	const step = 0.1
	slow := make([]float64, seconds)
	pause := func() float64 { return random.ExpFloat64() * between }
	for at := pause() - 20*between; at < float64(seconds); at += spell + pause() {
		for x := at; x < at+spell; x += step {
			if x >= 0 && x < float64(seconds) {
				slow[int(x)] += step
			}
		}
	}
	for _, part := range slow {
		var m Moment
		for range 10 + random.IntN(20) {
			m.Whole++
			if random.Float64() < usual-(usual-inASpell)*part {
				m.Part++
			}
		}
		series = append(series, m)
	}
	return series
}

// An interval is called one of the system only where it holds the system's truth about as often as it says. Of the
// short runs that were called so before, every second or third did not.
func TestIntervalsOfTheSystemHoldItsTruth(t *testing.T) {
	for _, seconds := range []int{20, 30, 60, 120, 300, 600} {
		random := rand.New(rand.NewPCG(3, 5))
		all, claimed, right := 0, 0, 0
		for range runsOfEachLength {
			i, _ := BlockRatio(spells(random, seconds))
			holds := i.Low <= truthWithSpells && truthWithSpells <= i.High
			if holds {
				all++
			}
			if i.Moments >= i.Needs(1) {
				claimed++
				if holds {
					right++
				}
			}
		}
		covers := float64(all) / runsOfEachLength
		t.Logf("%d s: all intervals hold the truth in %.2f; of the system are called %d of %d, which hold it in %.2f",
			seconds, covers, claimed, runsOfEachLength, float64(right)/float64(max(1, claimed)))
		switch {
		case seconds <= 30 && (covers > 0.75 || claimed > 0):
			t.Errorf("%d s: %d are called intervals of the system; all hold its truth in %.2f", seconds, claimed,
				covers)
		case seconds >= SpeaksFrom && (claimed < runsOfEachLength*8/10 || float64(right) < 0.9*float64(claimed)):
			t.Errorf("%d s: %d are called intervals of the system, and %d hold its truth", seconds, claimed, right)
		}
	}
}
