package temptables

import (
	"context"
	"fmt"
	"math"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
)

// Defaults of C45.
const (
	c45Turn   = 10 * time.Second
	c45Rounds = 4
	// c45Begun is a tenth of the report's 2.4 s in 30 s: waits have begun.
	c45Begun = 0.24
	// c45Statements of a loop.
	c45Statements = 5
	// c45Reached is the share of the asked rate below which a machine does not reach it.
	c45Reached = 0.9
	c45Low     = 3000.0
	c45High    = 4000.0
)

// c45Shares of the capacity of an engine, in percent: a rate means nothing on another machine.
var c45Shares = []int{10, 20, 30, 40, 50, 60, 70, 80}

func shareLoop(percent int) queryLoop {
	return queryLoop{fmt.Sprintf("%d %% of capacity", percent), bench.NoAnalyze, c40Clients, float64(percent) / 100}
}

// waitsBegin is the experiment behind C45, with a verdict for each engine.
func waitsBegin(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c45Rounds), Turn: b.Turn(c45Turn), Series: []trial.Series{
		{Name: waitTime, Unit: "s in 30 s"}, {Name: loopRate, Unit: "1/s"}, {Name: rateReached, Unit: "%"},
		trial.BusySeries}}
	capacity := capacities{}
	part.Open = func(ctx context.Context, r *trial.Record) error { return capacity.measure(ctx, s, r) }
	t := trial.Trial{
		Text: fmt.Sprintf("a query loop with an indexed temp table by %d clients at %s %% of what the engine does "+
			"without a pause, on both flavours: the rate at which waits begin", c40Clients, site.Listed(c45Shares)),
		Overhead: 30 * time.Second,
		Conditions: []claims.Condition{
			{Name: "begun", Text: fmt.Sprintf("waits begin at the lowest rate whose median turn has at least %g s of "+
				"waits in 30 s, a tenth of the report's worst; counted as in C40", c45Begun)},
			{Name: "rates", Text: fmt.Sprintf("shares of the capacity of an engine, measured before; %d statements "+
				"in a "+
				"loop; a machine that reaches less than %.0f %% of a rate gives no answer", c45Statements,
				100*c45Reached)},
		},
		Chart: &trial.Chart{Title: "Waits for latches by load", X: "% of capacity", Y: "s of waits in 30 s"},
	}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		line := trial.Line{Name: v.Name}
		for _, percent := range c45Shares {
			loop := shareLoop(percent)
			part.Sides = append(part.Sides, c45Side(s, v, loop, part.Turn, capacity))
			line.At = append(line.At, trial.Place{X: float64(percent), Of: trial.At(loop.on(v), waitTime)})
			part.Measured = append(part.Measured, trial.Say("%s: %s s at %s loops/s", loop.on(v),
				trial.Spread{Of: trial.At(loop.on(v), waitTime), Format: "%.2f"},
				trial.Median{Of: trial.At(loop.on(v), loopRate), Format: "%.0f"}))
		}
		t.Chart.Lines = append(t.Chart.Lines, line)
	}
	t.Parts = []trial.Part{part}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		const unknown = "this machine does not reach the rates"
		share := trial.Computed{As: "% of capacity at which waits begin on " + engine, Format: "%.0f", Unknown: unknown,
			Formula: func(m *trial.Measurements) float64 { share, _ := c45Begins(m, v); return share }}
		rate := trial.Computed{As: "queries/s at which waits begin on " + engine, Format: "%.0f", Unknown: unknown,
			Formula: func(m *trial.Measurements) float64 { _, rate := c45Begins(m, v); return rate }}
		least, most := c45Shares[0], c45Shares[len(c45Shares)-1]
		return trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, c45Turn)},
			// waits at the lowest rate do not begin there, and above the highest they are those of a full machine
			Direction: []trial.Criterion{{Of: share,
				Confirm: trial.Above(float64(least)).And(trial.AtMost(float64(most))),
				Refute:  trial.Above(float64(most))}},
			Size: []trial.Band{{Of: rate, Low: c45Low, High: c45High}},
			Situation: append(site.WithRoom(trial.At(shareLoop(c45Shares[0]).on(v), trial.Busy)),
				site.AtWork(c40Clients, "N parallel threads"))}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// rateReached is the share of the rate that was asked for.
const rateReached = "rate reached"

// c45Side adds that share to the figures of a loop.
func c45Side(s *site.Site, v site.Variant, loop queryLoop, turn time.Duration, capacity capacities) trial.Side {
	side := loopSide(s, v, loop, turn, capacity)
	open := side.Open
	side.Open = func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		play, err := open(ctx, r)
		return func(ctx context.Context, n int) (trial.Figures, error) {
			f, err := play(ctx, n)
			if f != nil {
				f[rateReached] = 100 * f[loopRate] / max(1, loop.share*float64(capacity[v.Name]))
			}
			return f, err
		}, err
	}
	return side
}

// c45Begins is the lowest load with waits, in percent of the capacity and in queries a second: infinite if even the
// highest has none, unknown if that was not reached.
func c45Begins(m *trial.Measurements, v site.Variant) (share, rate float64) {
	for _, percent := range c45Shares {
		loop := shareLoop(percent)
		reached := m.Figures(trial.At(loop.on(v), rateReached))
		switch waited := stats.Median(m.Figures(trial.At(loop.on(v), waitTime))); {
		case len(reached) == 0 || stats.Median(reached) < 100*c45Reached:
			return math.NaN(), math.NaN()
		case waited >= c45Begun:
			return float64(percent), c45Statements * stats.Median(m.Figures(trial.At(loop.on(v), loopRate)))
		}
	}
	return math.Inf(1), math.Inf(1)
}
