package loss

import (
	"fmt"
	"math"
	"time"

	"plimsoll/lab/crash"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
)

// Defaults of C22.
const (
	c22Load      = 2 * time.Second
	c22FullLoad  = 5 * time.Second
	c22Latency   = 2 * time.Millisecond
	c22Cuts      = 5
	c22FullCuts  = 50 // of a load
	c22Rounds    = 1
	c22FullLoads = 2
	c22LeastCuts = 100
	c22Log       = 10_000      // kB/s, half of the report's
	c22EachTakes = time.Second // an image, a recovery, amcheck and an audit
	c22Making    = 10 * time.Second
	// c22Gap is how long the log may have gone unwatched: a machine that keeps the reader waiting for a good part of
	// wal_writer_delay keeps the log writer waiting, too.
	c22Gap = 100.0 // ms
)

// Figures of C22, besides those of all ends.
const (
	logRate       = "log written"
	formulaTime   = "explained by the formula"
	formulaShare  = "largest share of what the formula explains"
	longestFlush  = "longest flush"
	unwatchedTime = "longest gap between two looks at the log"
)

// crashModes are the modes of commit, those first that must lose nothing.
var crashModes = []crash.Durability{crash.Sync, crash.Group, crash.DurableAck, crash.Async}

// crashes is the experiment behind C22.
func crashes(b site.Bench, _ *site.Site) trial.Trial {
	load, cuts, rounds := b.Turn(c22Load), c22Cuts, b.Rounds(c22Rounds)
	if b.Full {
		load, cuts, rounds = b.Turn(c22FullLoad), c22FullCuts, b.Rounds(c22FullLoads)
	}
	part := trial.Part{Rounds: rounds, Counted: true, Turn: load + time.Duration(cuts)*c22EachTakes, Between: c22Making,
		Series: append(endSeries(), trial.Series{Name: logRate, Unit: "kB/s"},
			trial.Series{Name: formulaTime, Unit: "ms"}, trial.Series{Name: formulaShare, Unit: "%"},
			trial.Series{Name: longestFlush, Unit: "ms"}, trial.Series{Name: unwatchedTime, Unit: "ms"})}
	rules := trial.Rules{Checks: []trial.Check{undamaged()}, Requires: []trial.Criterion{
		{Of: lostWith(string(crash.Sync)), Confirm: trial.AtMost(0), Unless: "the simulated power cut " +
			"loses flushed data too"},
		{Of: lostWith(string(crash.Async)), Confirm: trial.AtLeast(1), Unless: "nothing could have been lost"},
		{Of: maxOverTurns(string(crash.Async), unwatchedTime, unwatchedTime, "ms"), Confirm: trial.AtMost(c22Gap),
			Unless: "the machine delayed the log writer"}}}
	for _, mode := range crashModes {
		e := ending{string(mode), crash.Options{Ending: crash.PowerCut, Load: crash.ERP, Durability: mode,
			Duration: load, PerLoad: cuts, FlushLatency: c22Latency}}
		part.Sides = append(part.Sides, e.side(b, cuts, formulaFigures))
		part.Measured = append(part.Measured, countsOf(e.name))
		if mode == crash.Group || mode == crash.DurableAck {
			rules.Direction = append(rules.Direction, trial.Criterion{Of: lostWith(e.name), Confirm: trial.AtMost(0),
				Refute: trial.Above(0), Anywhere: true})
		}
	}
	lossy := string(crash.Async)
	share := maxOverTurns(lossy, formulaShare,
		"largest loss with "+lossy+" against the formula, in time or in bytes", "%%")
	rules.Direction = append(rules.Direction, trial.Criterion{Of: share, Confirm: trial.AtMost(100),
		Refute: trial.Above(100), Anywhere: true})
	rules.Situation = []trial.Condition{countedEnds("power cuts of each mode", cuts*rounds, c22LeastCuts),
		{Of: trial.Every{Of: trial.At(lossy, logRate), Unit: "kB/s"}, Report: "20 MB/s", Met: trial.AtLeast(c22Log)}}
	part.Measured = append(part.Measured, asyncMeasured(lossy, share)...)
	return trial.Trial{
		Text: fmt.Sprintf("the power of servers under the ERP's load is cut in each mode of commit, %d times each, "+
			"and lost acknowledged operations are counted", cuts*rounds),
		Parts: []trial.Part{part}, Rules: rules, Conditions: c22Conditions(load),
	}
}

func asyncMeasured(side string, share trial.Computed) []trial.Phrase {
	return []trial.Phrase{
		trial.Say("%s loses %s documents in all, in one cut up to %s of work and %s of log", side,
			sum(side, lostDocs, ""), maxOverTurns(side, lostTime, "", "ms"), maxOverTurns(side, lostLog, "", "kB")),
		trial.Say("the log grows by %s kB/s; the formula explains up to %s a cut, and the largest loss is %s of it",
			trial.Spread{Of: trial.At(side, logRate), Format: "%.0f"},
			maxOverTurns(side, formulaTime, "", "ms"), share),
	}
}

// formulaFigures compare each cut with bytes of log a second times delay.
func formulaFigures(report *crash.Report, f trial.Figures) {
	var rates []float64
	f[formulaTime], f[formulaShare] = 0, 0
	for _, c := range report.Cuts {
		rates = append(rates, c.WALBytesPerS/1e3)
		f[formulaTime] = max(f[formulaTime], c.ExplainedMS)
		f[formulaShare] = max(f[formulaShare], shareOf(c.LostMS, c.ExplainedMS),
			shareOf(float64(c.LostWALBytes), float64(c.ExplainedWALBytes)))
	}
	f[logRate], f[longestFlush], f[unwatchedTime] = stats.Median(rates), report.LongestFlushMS, report.LongestGapMS
}

// shareOf what is explained, in percent.
func shareOf(lost, explained float64) float64 {
	switch {
	case lost <= 0:
		return 0
	case explained <= 0:
		return math.Inf(1)
	}
	return 100 * lost / explained
}

func c22Conditions(load time.Duration) []claims.Condition {
	return []claims.Condition{
		erpCondition(load),
		{Name: "power cut", Text: "simulated from the journal of lab/crash: each seed picks a moment of the load; " +
			"what was flushed survives, and any part of the rest; a flush takes at least " + c22Latency.String()},
		{Name: "lost", Text: "operations by their idempotency keys, and documents that a list or card had shown; " +
			"documents: those that lost operations made or changed; ms: from the oldest lost acknowledgement to the " +
			"cut; bytes: of the log in that time"},
		{Name: "formula", Text: "bytes of log a second times delay; the delay is three wal_writer_delay and the " +
			"longest flush of the load, the bytes are those of the log in that time before the cut (report: 20 MB/s " +
			"x 0.1 s = 2 MB, and no count of documents)"},
		{Name: "log", Text: "each load begins with a new segment: the rest of the old one counts as log"},
	}
}
