package temptables

import (
	"fmt"
	"math"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/ground/human"
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
	c45Reached = 0.95
	c45Low     = 3000.0
	c45High    = 4000.0
)

// c45Rates are statements a second.
var c45Rates = []int{1000, 2000, 2500, 3000, 3500, 4000, 5000}

func rateLoop(rate int) queryLoop {
	return queryLoop{fmt.Sprintf("%s queries/s", human.Thousands(rate)), bench.NoAnalyze, c40Clients,
		rate / c45Statements}
}

// waitsBegin is the experiment behind C45, with a verdict for each engine.
func waitsBegin(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c45Rounds), Turn: b.Turn(c45Turn), Series: []trial.Series{
		{Name: waitTime, Unit: "s in 30 s"}, {Name: loopRate, Unit: "1/s"}}}
	t := trial.Trial{
		Text: fmt.Sprintf("a query loop with an indexed temp table by %d clients at %s queries a second, on both "+
			"flavours: the rate at which waits begin", c40Clients, site.Listed(c45Rates)),
		Overhead: 30 * time.Second,
		Conditions: []claims.Condition{
			{Name: "begun", Text: fmt.Sprintf("waits begin at the lowest rate whose median turn has at least %g s of "+
				"waits in 30 s, a tenth of the report's worst; counted as in C40", c45Begun)},
			{Name: "rates", Text: fmt.Sprintf("statements a second of %d clients together, %d in a loop; a machine "+
				"that reaches less than %.0f %% of a rate gives no answer", c40Clients, c45Statements, 100*c45Reached)},
		},
		Chart: &trial.Chart{Title: "Waits for latches by queries a second", X: "queries/s", Y: "s of waits in 30 s"},
	}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		line := trial.Line{Name: v.Name}
		for _, rate := range c45Rates {
			loop := rateLoop(rate)
			part.Sides = append(part.Sides, loopSide(s, v, loop, part.Turn))
			line.At = append(line.At, trial.Place{X: float64(rate), Of: trial.At(loop.on(v), waitTime)})
			part.Measured = append(part.Measured, trial.Say("%s: %s s at %s loops/s", loop.on(v),
				trial.Spread{Of: trial.At(loop.on(v), waitTime), Format: "%.2f"},
				trial.Median{Of: trial.At(loop.on(v), loopRate), Format: "%.0f"}))
		}
		t.Chart.Lines = append(t.Chart.Lines, line)
	}
	t.Parts = []trial.Part{part}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		rules := trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, c45Turn)}}
		rules.Criteria = []trial.Criterion{{Of: trial.Computed{As: "queries/s at which waits begin on " + engine,
			Formula: func(m *trial.Measurements) float64 { return c45Begins(m, v) }, Format: "%.0f",
			Unknown: "this machine does not reach the rates"},
			Confirm: trial.Within(c45Low, c45High), Refute: trial.Outside(c45Low, c45High)}}
		return rules
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// c45Begins is the lowest rate with waits: infinite if even the highest has none, unknown if that was not reached.
func c45Begins(m *trial.Measurements, v site.Variant) float64 {
	for _, rate := range c45Rates {
		loop := rateLoop(rate)
		rates := m.Figures(trial.At(loop.on(v), loopRate))
		switch waited := stats.Median(m.Figures(trial.At(loop.on(v), waitTime))); {
		case len(rates) == 0 || stats.Median(rates) < c45Reached*float64(loop.rate):
			return math.NaN()
		case waited >= c45Begun:
			return float64(rate)
		}
	}
	return math.Inf(1)
}
