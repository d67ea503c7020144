package agents

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// However long a message takes in each direction, the true offset lies within the reported error.
func TestOffsetIsWithinItsError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ahead := time.Duration(rapid.Int64Range(int64(-time.Hour), int64(time.Hour)).Draw(t, "ahead"))
		slow := rapid.SliceOfN(rapid.IntRange(0, 300), pings, pings).Draw(t, "µs on the way")
		asked := 0
		o, err := measure(func() (time.Time, error) {
			wait := time.Duration(slow[asked]) * time.Microsecond
			asked++
			time.Sleep(wait / 3)
			now := time.Now().Add(ahead).Round(0)
			time.Sleep(wait)
			return now, nil
		})
		if err != nil || asked != pings {
			t.Fatal(asked, err)
		}
		if wrong := o.ahead - ahead; wrong > o.within+time.Millisecond/10 || wrong < -o.within-time.Millisecond/10 {
			t.Fatalf("%v ± %v, but it is %v", o.ahead, o.within, ahead)
		}
		at := time.Now()
		if there := o.agentTime(at); there.Sub(at.Round(0)) != o.ahead {
			t.Fatalf("%v for %v", there, at)
		}
	})
}
