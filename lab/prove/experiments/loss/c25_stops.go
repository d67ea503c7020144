package loss

import (
	"fmt"
	"time"

	"plimsoll/lab/crash"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C25.
const (
	c25Load      = 500 * time.Millisecond // before each end
	c25Ends      = 3                      // of each kind
	c25FullEnds  = 20
	c25EachTakes = 5 * time.Second // the end, the next start, the count
	c25Making    = 10 * time.Second
	c25FullMost  = 20 * time.Second // the base of the ERP
)

// Sides of C25.
const (
	fastStop      = "pg_ctl stop -m fast"
	smartStop     = "pg_ctl stop -m smart"
	downStop      = "plimsoll down"
	workerStop    = "SIGTERM to a worker"
	immediateStop = "pg_ctl stop -m immediate"
)

// plannedKinds are the stops that must lose nothing.
var plannedKinds = []string{fastStop, smartStop, downStop, workerStop}

func c25Endings() []ending {
	end := func(name string, way crash.Ending, load crash.Load) ending {
		return ending{name, crash.Options{Ending: way, Load: load, Durability: crash.Async, Duration: c25Load}}
	}
	return []ending{end(fastStop, crash.Orderly, crash.SQL), end(smartStop, crash.Smart, crash.SQL),
		end(downStop, crash.Down, crash.ERP), end(workerStop, crash.StopWorker, crash.ERP),
		end(immediateStop, crash.Immediate, crash.SQL)}
}

// plannedStops is the experiment behind C25.
func plannedStops(b site.Bench, _ *site.Site) trial.Trial {
	ends := c25Ends
	if b.Full {
		ends = c25FullEnds
	}
	rounds := b.Rounds(1)
	part := trial.Part{Rounds: rounds, Counted: true,
		Turn: time.Duration(ends) * (c25Load + c25EachTakes), Between: c25Making,
		Series: endSeries()}
	rules := trial.Rules{Checks: []trial.Check{undamaged()}, StoppedRefutes: true}
	rules.Requires = []trial.Criterion{
		{Of: lostWith(immediateStop), Confirm: trial.AtLeast(1), Unless: "nothing could have been lost"}}
	for _, e := range c25Endings() {
		part.Sides = append(part.Sides, e.side(b, ends, nil))
		part.Measured = append(part.Measured, countsOf(e.name))
	}
	for _, name := range plannedKinds {
		rules.Direction = append(rules.Direction, trial.Criterion{Of: lostWith(name), Confirm: trial.AtMost(0),
			Refute: trial.Above(0), Anywhere: true}, trial.Criterion{Of: sum(name, acknowledged,
			"operations acknowledged with "+name),
			Confirm: trial.AtLeast(1), Unless: "nothing could have been lost"})
	}
	rules.Situation = []trial.Condition{countedEnds("stops of each kind", ends*rounds, c25FullEnds)}
	part.Measured = append(part.Measured, trial.Say("the immediate stop loses up to %s of work and %s of log",
		maxOverTurns(immediateStop, lostTime, "", "ms"), maxOverTurns(immediateStop, lostLog, "", "kB")))
	return trial.Trial{
		Text: fmt.Sprintf("servers under load with asynchronous commits are stopped in four planned ways and at once, "+
			"%d times each, and acknowledged operations are counted afterwards", ends),
		Overhead: c25FullMost, Parts: []trial.Part{part}, Rules: rules,
		Conditions: []claims.Condition{
			{Name: "commits", Text: "synchronous_commit = off in every session: an acknowledged operation may not be " +
				"flushed for three wal_writer_delay (report: delayed durability, where a planned " +
				"stop loses what was not flushed manually)"},
			{Name: "small documents", Text: fmt.Sprintf("'%s', '%s' and '%s' stop %d sessions that write small "+
				"documents by SQL; before the smart stop ends, sessions go on until new ones are refused", fastStop,
				smartStop, immediateStop, crash.SessionsDefault)},
			erpCondition(c25Load),
			{Name: "counted", Text: "by key: each operation that the server or the worker acknowledged before it " +
				"ended must be there after the next start; what was cut off is sent again under its key"},
		},
	}
}
