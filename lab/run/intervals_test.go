package run

import (
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// A run shorter than the time between checkpoints saw what the database does without one.
func TestIntervalsSayWhatTheyAreAbout(t *testing.T) {
	server := func(checkpoints int64, every string) *postgres.Server {
		return &postgres.Server{Checkpoints: checkpoints, Settings: map[string]string{"checkpoint_timeout": every}}
	}
	for name, c := range map[string]struct {
		known         tally.Dependence
		before, after *postgres.Server
		of            result.IntervalScope
		needs, unseen float64
	}{
		"Short":          {tally.Dependence{Seconds: 30, Needs: 120}, nil, nil, result.OfRun, 120, 0},
		"Long":           {tally.Dependence{Seconds: 300, Needs: 120}, nil, nil, result.OfSystem, 120, 0},
		"DependsTooLong": {tally.Dependence{Seconds: 300, Needs: 400}, nil, nil, result.OfRun, 400, 0},
		"WithoutCheckpoint": {tally.Dependence{Seconds: 300, Needs: 120}, server(3, "15min"), server(3, "15min"),
			result.OfRun, 900, 900},
		"WithCheckpoint": {tally.Dependence{Seconds: 300, Needs: 120}, server(3, "15min"), server(4, "15min"),
			result.OfSystem, 120, 0},
		"LongerThanATurn": {tally.Dependence{Seconds: 300, Needs: 120}, server(3, "30s"), server(3, "30s"),
			result.OfSystem, 120, 0},
		"OnceADay": {tally.Dependence{Seconds: 300, Needs: 120}, server(3, "1d"), server(3, "1d"),
			result.OfRun, 86400, 86400},
	} {
		t.Run(name, func(t *testing.T) {
			r := &record{before: c.before, after: c.after}
			r.made.Tally = tally.New(nil, nil, 0, time.Duration(c.known.Seconds)*time.Second)
			if got := r.intervalBasis(&c.known); got.Of != c.of || got.NeedsS != c.needs ||
				got.CheckpointS != c.unseen {
				t.Errorf("want the basis of the case, got %+v", got)
			}
		})
	}
}
