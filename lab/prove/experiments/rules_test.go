package experiments

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/books"
	"plimsoll/erp/operations"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// plant are figures that nobody measured, by "side: series" or "series" for all sides; in parts with a name
// "part, side: series". A side has as many turns as the longest of its figures; what is not planted is 10.
type plant map[string][]float64

const plantedFigure = 10

func (p plant) figure(r trial.Ref, turn int) (float64, bool) {
	name := r.Series
	for _, prefix := range []string{r.Part + ", " + r.Side + ": ", r.Side + ": ", ""} {
		if figures, planted := p[prefix+name]; planted {
			if turn >= len(figures) {
				return 0, false
			}
			return figures[turn], true
		}
	}
	return plantedFigure, true
}

// four turns around a figure, which surely differ from those around another.
func four(v float64) []float64 { return []float64{v, v * 1.01, v * 1.02, v * 1.03} }

// flushesOf the sides of C11, in their order.
func flushesOf(each ...float64) plant {
	p := plant{}
	for i, flushes := range each {
		p[c11Sides[i].String()+": flushes"] = slices.Repeat([]float64{flushes}, c11Rounds)
	}
	return p
}

// waitsOf the loops on stock: without temp table, with one, with an index on it, one by one.
func waitsOf(each ...float64) plant {
	p := plant{}
	for i, waits := range each {
		p[queryLoops[i].on(stock)+": waits"] = four(waits)
	}
	return p
}

// commits of a side at the judged latency: one of its series.
func commits(side, series string, figure float64) plant {
	return plant{latencyPart(judgedLatency) + ", " + side + ": " + series: four(figure)}
}

// buffers of 100 jobs: how often the log's buffer was full, and the worst seconds synchronous and asynchronous.
func buffers(full, synchronous, asynchronous float64) plant {
	p := commits("100 jobs, sync", bufferFull, full)
	p[latencyPart(judgedLatency)+", 100 jobs, sync: "+worstSecond] = four(synchronous)
	p[latencyPart(judgedLatency)+", 100 jobs, async: "+worstSecond] = four(asynchronous)
	return p
}

// endings is the peak of waits when sessions with and without temp tables end, on both engines.
func endings(with, none float64) plant {
	p := plant{}
	for _, v := range []variant{stock, ours} {
		p[endingSide(v, 1)+": "+peakWaits], p[endingSide(v, 0)+": "+peakWaits] = four(with), four(none)
	}
	return p
}

// begun are waits from a rate on, on a machine that reaches another.
func begun(from, reaches int) plant {
	p := plant{}
	for _, rate := range c45Rates {
		for _, v := range []variant{stock, ours} {
			loop := rateLoop(rate)
			p[loop.on(v)+": "+waitTime], p[loop.on(v)+": "+
				""+loopRate] = four(0), four(float64(min(rate, reaches)/c45Statements))
			if rate >= from {
				p[loop.on(v)+": "+waitTime] = four(1)
			}
		}
	}
	return p
}

// restored in a manner at some pace, on both engines.
func restored(m manner, lines ...float64) plant {
	return plant{m.on(stock).String() + ": " + linePace: lines, m.on(ours).String() + ": " + linePace: lines}
}

// with other figures of a series.
func with(p plant, name string, figures ...float64) plant {
	p[name] = figures
	return p
}

// c01Plant is three repetitions of a minute with a score and a rate.
func c01Plant(score, rate float64) plant {
	return plant{lowerScore: {score, score, score}, apdexScore: {score, score, score},
		operationRate: {rate, rate, rate},
		measuredTime:  {60, 60, 60}, booksState: {0, 0, 0}, differentCount: {0, 0, 0}}
}

// c02Plant is a base that has its share of everything, with one thing so many times as often.
func c02Plant(name string, times float64) plant {
	large := baseSide{scale: c02Scale}
	p := plant{}
	for series, reported := range reportedCounts() {
		n := math.Round(float64(reported) * large.scale)
		if series == name {
			n = math.Trunc(n * times)
		}
		p[large.name()+": "+series] = []float64{n}
	}
	return p
}

// failing is a check that a turn does not pass.
type failing struct{ check, detail string }

// answered plays an experiment whose sides are planted, through the engine that plays the real ones.
func answered(t *testing.T, b Bench, e Experiment, p plant, stopAfter int, fail ...failing) claims.Finding {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	planted := plantedTrial(e.declare(b, &site{}), p.figure)
	turns := 0
	for i := range planted.Parts {
		part := &planted.Parts[i]
		for k, side := range part.Sides {
			part.Sides[k].Open = func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				turn, err := side.Open(ctx, r)
				return func(ctx context.Context, n int) (trial.Figures, error) {
					if turns++; turns == stopAfter+1 && stopAfter > 0 {
						stop()
						return nil, ctx.Err() // cut short
					}
					if n == 0 {
						for _, f := range fail {
							r.Fail(f.check, f.detail)
						}
					}
					return turn(ctx, n)
				}, err
			}
		}
	}
	f, err := planted.Play(ctx, trial.Options{Conditions: []claims.Condition{{Name: "engine", Text: "planted"}}})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return f
}

// plantedTrial has the sides give planted figures in place of setting anything up.
func plantedTrial(planted trial.Trial, figure func(trial.Ref, int) (float64, bool)) trial.Trial {
	for i := range planted.Parts {
		part := &planted.Parts[i]
		part.Open, part.Check = nil, nil
		for k, side := range part.Sides {
			part.Sides[k] = plantedSide(*part, side.Name, figure)
		}
	}
	return planted
}

func plantedSide(part trial.Part, name string, figure func(trial.Ref, int) (float64, bool)) trial.Side {
	return trial.Side{Name: name, Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		turn := 0
		return func(context.Context, int) (trial.Figures, error) {
			figures := trial.Figures{}
			for _, s := range part.Series {
				if v, planted := figure(trial.Ref{Part: part.Name, Side: name, Series: s.Name}, turn); planted {
					figures[s.Name] = v
				}
			}
			turn++
			return figures, nil
		}, nil
	}}
}

// ruling is a case of the table: what figures an experiment finds, and what it must make of them.
type ruling struct {
	claim, name string
	figures     plant
	want        claims.Verdict
	why         string
	bench       Bench
	stopAfter   int
	fail        []failing
}

var rulings = []ruling{
	{claim: "C01", name: "AllWell", figures: c01Plant(0.95, 24.9), want: claims.Confirmed},
	{claim: "C01", name: "AllBelow", figures: c01Plant(0.8499, 24.9), want: claims.Refuted,
		why: "less than 0.85 in every turn"},
	{claim: "C01", name: "AllBelowAndStopped", figures: c01Plant(0.8499, 24.9), stopAfter: 2, want: claims.Refuted},
	{claim: "C01", name: "SomeBelow", figures: with(c01Plant(0.95, 24.9), lowerScore, 0.95, 0.84, 0.95),
		want: claims.Inconclusive, why: "is not at least 0.85 in every turn"},
	{claim: "C01", name: "WrongBooks", figures: c01Plant(0.95, 24.9), fail: []failing{{checkBooks, "wrong books"}},
		want: claims.Refuted, why: "turn 1 of 3: wrong books"},
	{claim: "C01", name: "NotValid", figures: c01Plant(0.95, 24.9),
		fail: []failing{{checkValid, "not valid: the generator lagged"}}, want: claims.Inconclusive,
		why: "generator lagged"},
	{claim: "C01", name: "RecountDiffers", figures: c01Plant(0.95, 24.9),
		fail: []failing{{checkRecount, "5 reported, 6 recounted"}}, want: claims.Inconclusive, why: "5 reported"},
	{claim: "C01", name: "TooSlow", figures: c01Plant(0.95, 20), want: claims.Inconclusive, why: "standard errors"},
	{claim: "C01", name: "RateWithinChance", figures: c01Plant(0.95, 24.6), want: claims.Confirmed},
	{claim: "C01", name: "Stopped", figures: c01Plant(0.95, 24.9), stopAfter: 2, want: claims.Inconclusive,
		why: "stopped before"},
	{claim: "C01", name: "FewerUsers", bench: Bench{Users: 3000}, figures: c01Plant(0.95, 2.49),
		want: claims.Inconclusive, why: "users: 3,000 is not at least 30,000"},
	{claim: "C01", name: "FewerRepetitions", bench: Bench{Repetitions: 1}, figures: c01Plant(0.95, 24.9),
		want: claims.Inconclusive, why: "is not at least 3"},
	{claim: "C02", name: "AllWell", figures: c02Plant("", 1), want: claims.Confirmed},
	{claim: "C02", name: "WithinRounding", figures: c02Plant(books.GoodsSale, 1.004), want: claims.Confirmed},
	{claim: "C02", name: "FewerInvoices", figures: c02Plant(books.InvoiceIssued, 0.8), want: claims.Inconclusive,
		why: "not in proportion: invoice_issued (80.0 %)"},
	{claim: "C02", name: "NoInvoices", figures: c02Plant(books.InvoiceIssued, 0), want: claims.Refuted,
		why: "types of documents: 16 is less than 17"},
	{claim: "C02", name: "ManyFewer", figures: c02Plant(allDocuments, 0.97), want: claims.Inconclusive,
		why: "documents, share of the report's times the scale: 0.97"},
	{claim: "C02", name: "MoreSales", figures: c02Plant(books.GoodsSale, 1.1), want: claims.Inconclusive,
		why: "goods_sale (110.0 %)"},
	{claim: "C02", name: "FewerContracts", figures: c02Plant(contractCount, 0.5), want: claims.Inconclusive,
		why: "contracts (50.0 %)"},
	{claim: "C02", name: "FewerMovements", figures: c02Plant(movementCount, 0.5), want: claims.Inconclusive,
		why: "cost movements, share of the report's times the scale: 0.50"},
	{claim: "C02", name: "MoreMovements", figures: c02Plant(movementCount, 2), want: claims.Confirmed},
	{claim: "C02", name: "FewerEntries", figures: c02Plant(entryCount, 0.25), want: claims.Inconclusive,
		why: "entries (25 %, 100 % had each line of goods one of its own)"},
	{claim: "C02", name: "OtherThanFilled", figures: c02Plant("", 1),
		fail: []failing{{checkRows, "not what was written"}},
		want: claims.Refuted, why: "not what was written"},
	{claim: "C02", name: "WrongBooks", figures: c02Plant("", 1), fail: []failing{{checkBooks, "the books are wrong"}},
		want: claims.Refuted, why: "books"},
	{claim: "C03", name: "AllWell", bench: Bench{Full: true}, figures: plant{}, want: claims.Confirmed},
	{claim: "C03", name: "FewerSessions", figures: plant{}, want: claims.Inconclusive,
		why: "sessions: 7,680 is not at least 30,720 (--full takes as many)"},
	{claim: "C03", name: "NotValid", bench: Bench{Full: true}, figures: plant{},
		fail: []failing{{checkValid, "not valid: lag"}}, want: claims.Inconclusive, why: "not valid: lag"},
	{claim: "C03", name: "AnotherLoad", bench: Bench{Full: true},
		figures: plant{"one process: " + countOf(operations.All()[0].ID): four(100)}, want: claims.Refuted,
		why: "one side alone has made"},
	{claim: "C03", name: "OtherScores", bench: Bench{Full: true}, figures: plant{"4 agents: apdex": four(9)},
		want: claims.Refuted, why: "surely less than ×0.99 or surely more than ×1.01"},
	{claim: "C03", name: "UnsureScores", bench: Bench{Full: true}, figures: plant{"4 agents: apdex": {9, 11, 9, 11}},
		want: claims.Inconclusive, why: "not surely at least ×0.99"},
	{claim: "C03", name: "TooFewTurns", bench: Bench{Full: true, Repetitions: 2}, figures: plant{},
		want: claims.Inconclusive, why: "too few turns"},
	{claim: "C03", name: "Stopped", bench: Bench{Full: true}, figures: plant{}, stopAfter: 5, want: claims.Inconclusive,
		why: "too few turns"},
	{claim: "C04", name: "Both", figures: plant{"half of it: operations": four(8),
		"a tenth of it: operations": four(5)},
		want: claims.Confirmed},
	{claim: "C04", name: "TenthAlone", figures: plant{"half of it: operations": {9, 11, 9, 11},
		"a tenth of it: operations": four(5)}, want: claims.Inconclusive, why: "operations of half of it"},
	{claim: "C04", name: "TenthUnsure", figures: plant{"half of it: operations": four(5),
		"a tenth of it: operations": {9, 11, 9, 11}}, want: claims.Inconclusive},
	{claim: "C04", name: "NotFewer", figures: plant{}, want: claims.Refuted},
	{claim: "C04", name: "Stopped", figures: plant{"half of it: operations": four(8),
		"a tenth of it: operations": four(5)}, stopAfter: 6, want: claims.Inconclusive, why: "too few turns"},
	{claim: "C06", name: "Silent", figures: plant{"stock: messages": four(200), "ours: messages": four(0),
		"ours: idle": four(0)}, want: claims.Confirmed},
	{claim: "C06", name: "Sends", figures: plant{"stock: messages": four(200), "ours: messages": four(1),
		"ours: idle": four(0)}, want: claims.Refuted, why: "messages of ours: 1.015 (1 to 1.03) is more than 0 in " +
		"every turn"},
	{claim: "C06", name: "SomeTurns", figures: plant{"stock: messages": four(200), "ours: messages": {0, 1, 0, 0},
		"ours: idle": four(0)}, want: claims.Inconclusive, why: "is not at most 0 in every turn"},
	{claim: "C06", name: "NotCounted", figures: plant{"stock: messages": four(0), "ours: messages": four(0),
		"ours: idle": four(0)}, want: claims.Inconclusive, why: "nothing was counted"},
	{claim: "C06", name: "SameCPU", figures: plant{"ours: messages": four(0)}, want: claims.Inconclusive,
		why: "idle of ours: 10 (10 to 10) against 10 (10 to 10) is not less than idle of stock"},
	{claim: "C06", name: "Stopped", figures: plant{"ours: messages": four(0), "ours: idle": four(0)}, stopAfter: 9,
		want: claims.Inconclusive, why: "too few"},
	{claim: "C07", name: "None", figures: plant{"held, ours: locks in the shared table": {0}}, want: claims.Confirmed},
	{claim: "C07", name: "Some", figures: plant{"held, ours: locks in the shared table": {1}}, want: claims.Refuted},
	{claim: "C07", name: "SomeAndStopped", figures: plant{"held, ours: locks in the shared table": {1}}, stopAfter: 9,
		want: claims.Refuted},
	{claim: "C07", name: "NotCounted", figures: plant{"locks in the shared table": {0}}, want: claims.Inconclusive,
		why: "nothing was counted"},
	{claim: "C07", name: "Stopped", figures: plant{"held, ours: locks in the shared table": {0}}, stopAfter: 9,
		want: claims.Inconclusive, why: "too few turns"},
	{claim: "C08", name: "Decisive", figures: plant{"ours, all settings off: storms": four(13),
		"processors": four(128)}, want: claims.Confirmed},
	{claim: "C08", name: "SmallMachine", figures: plant{"ours, all settings off: storms": four(13),
		"processors": four(2)}, want: claims.Inconclusive, why: "larger machines"},
	{claim: "C08", name: "TheSame", figures: plant{"processors": four(128)}, want: claims.Inconclusive,
		why: "is not surely at least ×1.2"},
	{claim: "C08", name: "Slower", figures: plant{"ours, all settings off: storms": four(8), "processors": four(2)},
		want: claims.Refuted},
	{claim: "C09", name: "TensOfTimes", figures: plant{"stock, 1000 columns: ANALYZE": four(200)},
		want: claims.Confirmed},
	{claim: "C09", name: "Fewer", figures: plant{"stock, 1000 columns: ANALYZE": four(60)}, want: claims.Refuted,
		why: "1000 columns"},
	{claim: "C09", name: "NarrowIsSlower", figures: plant{"stock, 1000 columns: ANALYZE": four(200),
		"ours, 10 columns: ANALYZE": four(12)}, want: claims.Refuted, why: "10 columns"},
	{claim: "C09", name: "OnTheBar", figures: plant{"stock, 1000 columns: ANALYZE": {95, 105, 95, 105}},
		want: claims.Inconclusive},

	{claim: "C11", name: "NoFlushes", figures: flushesOf(1, 1, 0, 0.001, 1), want: claims.Confirmed},
	{claim: "C11", name: "OursFlushes", figures: flushesOf(1, 1, 1, 0, 1), want: claims.Refuted},
	{claim: "C11", name: "WithCatalogOnFlushes", figures: flushesOf(1, 1, 0, 1, 1), want: claims.Refuted},
	{claim: "C11", name: "LosesPermanentRows", figures: flushesOf(1, 1, 0, 0, 0), want: claims.Refuted},
	{claim: "C11", name: "LosesPermanentRowsOnce", figures: with(flushesOf(1, 1, 0, 0, 1),
		c11Durable.String()+": flushes", 1, 1, 0, 1, 1), want: claims.Refuted, why: "less than 0.9 in some turn"},
	{claim: "C11", name: "StockDoesNotEither", figures: flushesOf(0, 0, 0, 0, 1), want: claims.Inconclusive,
		why: "stock does not flush"},
	{claim: "C11", name: "SomeTurns", figures: with(flushesOf(1, 1, 0, 0, 1), c11RealCatalog.String()+": flushes", 0,
		0.5, 0, 0, 0), want: claims.Inconclusive},
	{claim: "C11", name: "ASideMissing", figures: with(flushesOf(1, 1, 1, 0, 1), c11SettingOff.String()+": flushes"),
		want: claims.Inconclusive, why: "too few turns"},
	{claim: "C12", name: "TensOfTimes", figures: plant{c12Shapes[0].on(stock) + ": DROP TABLE": four(200)},
		want: claims.Confirmed},
	{claim: "C12", name: "AtTheEndOfSessions", figures: plant{c12Shapes[4].on(stock) + ": " + sessionEnd: four(200)},
		want: claims.Confirmed},
	{claim: "C12", name: "NoTens", figures: plant{c12Shapes[0].on(stock) + ": DROP TABLE": four(70)},
		want: claims.Refuted, why: "gains most"},
	{claim: "C12", name: "OnTheBar", figures: plant{c12Shapes[0].on(stock) + ": DROP TABLE": {95, 105, 95, 105}},
		want: claims.Inconclusive, why: "is not surely at least ×10"},
	{claim: "C12", name: "SmallBase", bench: Bench{Documents: 100}, figures: plant{c12Shapes[0].on(stock) +
		": DROP TABLE": four(200)}, want: claims.Inconclusive, why: "relations of the base: 400 is not at least " +
		"26,000"}, {claim: "C40", name: "AsClaimed", figures: waitsOf(0, 1, 2, 0), want: claims.Confirmed},
	{claim: "C40", name: "NoMore", figures: waitsOf(1, 0.5, 2, 0), want: claims.Refuted,
		why: "is at most waits of 'stock, no temp table'"},
	{claim: "C40", name: "IndexLess", figures: waitsOf(0, 2, 1, 0), want: claims.Refuted,
		why: "is at most waits of 'stock, temp table'"},
	{claim: "C40", name: "AloneToo", figures: waitsOf(0, 1, 2, 1), want: claims.Refuted, why: "one by one"},
	{claim: "C40", name: "NoWaitsAtAll", figures: waitsOf(0, 0, 0, 0), want: claims.Refuted},
	{claim: "C40", name: "IndexTheSame", figures: waitsOf(0, 2, 2, 0), want: claims.Inconclusive},
	{claim: "C40", name: "Overlap", figures: with(waitsOf(0, 1, 2, 0), "stock, no temp table: waits", 0, 0, 0, 1.5),
		want: claims.Inconclusive, why: "is not more than waits of 'stock, no temp table'"},
	{claim: "C40", name: "TooFewTurns", figures: with(waitsOf(0, 1, 2, 0), "stock, temp table: waits", 1, 1),
		want: claims.Inconclusive, why: "too few"},
	{claim: "C40", name: "ShortTurns", bench: Bench{Duration: 3 * time.Second}, figures: waitsOf(0, 1, 2, 0),
		want: claims.Inconclusive, why: "turns are shorter"},
	{claim: "C41", name: "ThreeTimes", bench: Bench{Full: true}, figures: endings(40, 0), want: claims.Confirmed},
	{claim: "C41", name: "Less", bench: Bench{Full: true}, figures: endings(20, 0), want: claims.Refuted},
	{claim: "C41", name: "LessOnOurs", bench: Bench{Full: true}, figures: with(endings(40, 0),
		endingSide(ours, 1)+": "+peakWaits, four(20)...), want: claims.Confirmed, why: "stock: confirmed, ours: " +
		"refuted"},
	{claim: "C41", name: "Around", bench: Bench{Full: true}, figures: with(endings(40, 0), endingSide(stock,
		1)+": "+peakWaits, 25, 35, 25, 35), want: claims.Inconclusive},
	{claim: "C41", name: "FewerTables", figures: endings(40, 0), want: claims.Inconclusive,
		why: "temp tables of a session: 1,000 is not at least 10,000 (--full makes as many)"},
	{claim: "C42", name: "Hot", figures: plant{hotShare: four(80), tempShare: four(90)}, want: claims.Confirmed},
	{claim: "C42", name: "OtherCatalogs", figures: plant{hotShare: four(20), tempShare: four(90)},
		want: claims.Refuted},
	{claim: "C42", name: "OtherStatements", figures: plant{hotShare: four(80), tempShare: four(20)},
		want: claims.Refuted},
	{claim: "C42", name: "Around", figures: plant{hotShare: {45, 55, 45, 55}, tempShare: four(90)},
		want: claims.Inconclusive},
	{claim: "C43", name: "Seen", figures: plant{"on: cycles": four(20)}, want: claims.Confirmed},
	{claim: "C43", name: "SeenAsSlower", figures: plant{"on: cycles": four(5)}, want: claims.Confirmed},
	{claim: "C43", name: "NotSeen", figures: plant{}, want: claims.Refuted},
	{claim: "C43", name: "TheSameDiffers", figures: plant{"off again: cycles": four(12), "on: cycles": four(20)},
		want: claims.Refuted, why: "off again against off"},
	{claim: "C43", name: "Noise", figures: plant{"off again: cycles": {9, 11, 9, 11}, "on: cycles": four(20)},
		want: claims.Inconclusive, why: "the same twice is not the same"},
	{claim: "C44", name: "None", bench: Bench{Full: true}, figures: endings(40, 0), want: claims.Confirmed},
	{claim: "C44", name: "Some", bench: Bench{Full: true}, figures: endings(40, 20), want: claims.Refuted},
	{claim: "C44", name: "SomeTurns", bench: Bench{Full: true}, figures: with(endings(40, 0),
		endingSide(stock, 0)+": "+peakWaits, 0, 20, 0, 0), want: claims.Inconclusive},
	{claim: "C44", name: "NoWaitsAnywhere", bench: Bench{Full: true}, figures: endings(0, 0), want: claims.Inconclusive,
		why: "no waits with temp tables either"},
	{claim: "C44", name: "FewerTables", figures: endings(40, 0), want: claims.Inconclusive, why: "--full makes as " +
		"many"}, {claim: "C45", name: "AsClaimed", figures: begun(3000, 5000), want: claims.Confirmed},
	{claim: "C45", name: "Sooner", figures: begun(1000, 5000), want: claims.Refuted},
	{claim: "C45", name: "Later", figures: begun(5000, 5000), want: claims.Refuted},
	{claim: "C45", name: "Never", figures: begun(6000, 5000), want: claims.Refuted},
	{claim: "C45", name: "NotReached", figures: begun(6000, 2500), want: claims.Inconclusive,
		why: "this machine does not reach the rates"},
	{claim: "C45", name: "BegunBeforeTheLimit", figures: begun(3000, 3500), want: claims.Confirmed},
	{claim: "C13", name: "Fewer", figures: plant{"pool of 2000: beyond 4T": four(5)}, want: claims.Confirmed},
	{claim: "C13", name: "More", figures: plant{"pool of 2000: beyond 4T": four(15)}, want: claims.Refuted,
		why: "beyond 4T of pool of 50"},
	{claim: "C13", name: "TheSame", figures: plant{"pool of 2000: beyond 4T": {9, 11, 9, 11}},
		want: claims.Inconclusive},
	{claim: "C13", name: "NoTail", figures: plant{"beyond 4T": {0, 0, 0, 0}}, want: claims.Inconclusive,
		why: "no operation is beyond 4T"},
	{claim: "C13", name: "StoppedInDocuments", figures: plant{"pool of 2000: beyond 4T": four(5)}, stopAfter: 22,
		want: claims.Confirmed},
	{claim: "C14", name: "Smaller", figures: plant{"jittered: " + worstTime: four(5)}, want: claims.Confirmed},
	{claim: "C14", name: "Larger", figures: plant{"jittered: " + worstTime: four(15)}, want: claims.Refuted},
	{claim: "C14", name: "TheSame", figures: plant{"jittered: " + worstTime: {9, 11, 9, 11}},
		want: claims.Inconclusive},
	{claim: "C14", name: "ShortLives", bench: Bench{Duration: 3 * time.Second}, figures: plant{"jittered: " +
		worstTime: four(5)}, want: claims.Inconclusive, why: "turns are shorter"},
	{claim: "C15", name: "MoreThanClaimed", figures: plant{"stock, ask: operations": four(12)}, want: claims.Confirmed},
	{claim: "C15", name: "SurelyLess", figures: plant{"stock, ask: operations": four(10.1)}, want: claims.Refuted,
		why: "surely less than ×1.05"},
	{claim: "C15", name: "Noise", figures: plant{"stock, ask: " +
		"operations": {9.8, 10.8, 10.8, 12}}, want: claims.Inconclusive,
		why: "is not surely more than ×1 and at least ×1.05 on the median"},
	{claim: "C15", name: "MoreByLittle", figures: plant{"stock, ask: operations": {10.2, 10.3, 10.4, 10.6}},
		want: claims.Inconclusive, why: "at least ×1.05 on the median"},
	{claim: "C15", name: "FewTurns", figures: plant{"operations": {10, 10}}, want: claims.Inconclusive,
		why: "too few turns"},
	{claim: "C15", name: "OnStockAlone", figures: plant{"stock, ask: operations": four(12), "ours, ask: " +
		"operations": four(9)},
		want: claims.Confirmed, why: "stock: confirmed, ours: refuted"},
	{claim: "C16", name: "AllFasterByEnough",
		figures: plant{"one by one: median": four(300), "chained: median": four(150)},
		want:    claims.Confirmed},
	{claim: "C16", name: "AllFasterByLittle",
		figures: plant{"one by one: median": four(100), "chained: median": four(60)},
		want:    claims.Inconclusive, why: "40.6 ms is not at least 100 ms"},
	{claim: "C16", name: "DelayNotTrue", figures: plant{"one by one: median": four(300), "chained: median": four(150)},
		fail: []failing{{checkDelay, "the round trip misses it by 0.30 " +
			"ms"}}, want: claims.Inconclusive, why: "misses it"},
	{claim: "C16", name: "OneSlower", figures: plant{"one by one: median": four(300), "chained: median": four(150),
		"1ms delay, chained: median": four(400)}, want: claims.Refuted,
		why: "median of chained against one by one (1ms delay)"},
	{claim: "C16", name: "OneUnsure", figures: plant{"one by one: median": four(300), "chained: median": four(150),
		"loopback, chained: median": {250, 350, 250, 350}}, want: claims.Inconclusive, why: "(loopback)"},
	{claim: "C16", name: "OnePathMissing",
		figures:   plant{"one by one: median": four(300), "chained: median": four(150)},
		stopAfter: 16, want: claims.Inconclusive, why: "too few turns"},
	{claim: "C20", name: "FasterWithoutWaits", figures: with(commits("50 jobs, async", pace, 13),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0.4, 1, 0), want: claims.Confirmed},
	{claim: "C20", name: "FasterWithWaits", figures: with(commits("50 jobs, async", pace, 13),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0, 1.5, 0), want: claims.Inconclusive,
		why: "not disappeared"},
	{claim: "C20", name: "FasterUnwatched", figures: with(commits("50 jobs, async", pace, 13), "waits for the log"),
		want: claims.Inconclusive},
	{claim: "C20", name: "NothingToWaitFor", figures: with(commits("50 jobs, async", pace, 13), "waits for the log",
		0, 0, 0, 0), want: claims.Inconclusive, why: "there were no waits that could disappear"},
	{claim: "C20", name: "StillWaits", figures: commits("50 jobs, async", pace, 13), want: claims.Refuted,
		why: "(flush 2ms): 10 (10 to 10) % is more than 1 % in every turn"},
	{claim: "C20", name: "SurelyLess", figures: with(commits("50 jobs, async", pace, 10),
		"flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), want: claims.Refuted},
	{claim: "C20", name: "OtherLatenciesDoNotCount", figures: plant{"flush 5ms, 50 jobs, async: objects per " +
		"second": four(13),
		"flush 2ms, 50 jobs, async: waits for the log": four(0)}, want: claims.Refuted},
	{claim: "C20", name: "ProcessorsFull", figures: with(with(commits("50 jobs, "+
		"async", pace, 10), busyShare, 85, 90, 85,
		90), "flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), want: claims.Inconclusive,
		why: "the processors decide, not the log"},
	{claim: "C20", name: "ShortTurns", bench: Bench{Duration: time.Second}, figures: with(commits("50 jobs, "+
		"async", pace,
		13), "flush 2ms, 50 jobs, async: waits for the log", 0, 0, 0, 0), want: claims.Inconclusive,
		why: "turns are shorter"},
	{claim: "C21", name: "More", figures: commits("75 jobs, async", pace, 15), want: claims.Confirmed},
	{claim: "C21", name: "LessThanOf50", figures: with(commits("75 jobs, async", pace, 12),
		"flush 2ms, 75 jobs, sync: objects per second", four(8)...), want: claims.Refuted,
		why: "against '50 jobs, sync' (flush 2ms): ×1.22 (1.2 to 1.24) is surely less"},
	{claim: "C21", name: "NoMoreThanSynchronous", figures: with(commits("75 jobs, async", pace, 15),
		"flush 2ms, 75 jobs, sync: objects per second", four(14)...), want: claims.Refuted, why: "'75 jobs, sync'"},
	{claim: "C21", name: "Around", figures: with(commits("75 jobs, async", pace, 15),
		"flush 2ms, 75 jobs, async: objects per second", 14, 15, 14, 15), want: claims.Inconclusive},
	{claim: "C21", name: "ProcessorsFull", figures: with(commits("75 jobs, async", pace, 12), busyShare, four(90)...),
		want: claims.Inconclusive, why: "the processors decide"},
	{claim: "C27", name: "WaitsBeginAndThePaceIsEven", figures: buffers(20, 60, 95), want: claims.Confirmed},
	{claim: "C27", name: "NoWaits", figures: buffers(9, 60, 95), want: claims.Refuted,
		why: "is at most log buffer full of '50 jobs, sync'"},
	{claim: "C27", name: "Dips", figures: buffers(20, 60, 65), want: claims.Refuted, why: "less than 80 % in every " +
		"turn"},
	{claim: "C27", name: "SynchronousIsMoreEven", figures: buffers(20, 97.5, 84), want: claims.Refuted,
		why: "worst second of '100 jobs, async'"},
	{claim: "C27", name: "SomeDips", figures: with(buffers(20, 60, 95), "flush 2ms, 100 jobs, async: worst second", 95,
		70, 95, 95), want: claims.Inconclusive, why: "is not at least 80 % in every turn"},
	{claim: "C27", name: "ShortTurns", bench: Bench{Duration: 5 * time.Second}, figures: buffers(20, 60, 95),
		want: claims.Inconclusive, why: "turns are shorter"},
	{claim: "C24", name: "Both", figures: plant{"set by set, synchronous, 1 worker: objects per second": four(13),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, want: claims.Confirmed},
	{claim: "C24", name: "SlowerOn1", figures: plant{"set by set, synchronous, 1 worker: objects per second": four(8),
		"set by set, synchronous, 4 workers: objects per second": four(13)}, want: claims.Refuted, why: "1 worker"},
	{claim: "C24", name: "SlowerOn4", figures: plant{
		"set by set, synchronous, 1 worker: objects per second":  {9, 11, 9, 11},
		"set by set, synchronous, 4 workers: objects per second": four(8)}, want: claims.Refuted, why: "4 workers"},
	{claim: "C24", name: "UnsureOn4", figures: plant{"set by set, synchronous, 1 worker: objects per second": four(13),
		"set by set, synchronous, 4 workers: objects per second": {9, 11, 9, 11}}, want: claims.Inconclusive},
	{claim: "C55", name: "Named", figures: plant{busyShare: four(95)}, want: claims.Confirmed,
		why: "what breaks: the processors"},
	{claim: "C55", name: "NamedByWaits", figures: plant{waitsShare: four(60)}, want: claims.Confirmed,
		why: "what breaks: flushes of the log"},
	{claim: "C55", name: "Nameless", figures: plant{}, want: claims.Refuted,
		why: "something has broken that no counter names"},
	{claim: "C55", name: "StillRises", figures: with(commits("400 jobs, sync", pace, 20), busyShare, four(95)...),
		want: claims.Inconclusive, why: "nothing has broken"},
	{claim: "C55", name: "ShortTurns", bench: Bench{Duration: time.Second}, figures: plant{busyShare: four(95)},
		want: claims.Inconclusive, why: "turns are shorter"},
	// 2,000,000 lines in 12 h are 46.3 a second
	{claim: "C31", name: "Slower", bench: Bench{Full: true}, figures: restored(wholeWarehouse, four(40)...),
		want: claims.Confirmed, why: "stock: confirmed, ours: confirmed"},
	{claim: "C31", name: "Faster", bench: Bench{Full: true}, figures: restored(wholeWarehouse, four(60)...),
		want: claims.Refuted},
	{claim: "C31", name: "FasterOnOurs", bench: Bench{Full: true}, figures: with(restored(wholeWarehouse, four(40)...),
		"ours, "+wholeWarehouse.name+": lines per second", four(60)...), want: claims.Confirmed,
		why: "stock: confirmed, ours: refuted"},
	{claim: "C31", name: "Both", bench: Bench{Full: true}, figures: restored(wholeWarehouse, 40, 41, 62, 63),
		want: claims.Inconclusive},
	{claim: "C31", name: "Small", figures: restored(wholeWarehouse, four(60)...), want: claims.Inconclusive,
		why: "this month is smaller; the figures extrapolate from it"},
	{claim: "C31", name: "OtherThreads", bench: Bench{Full: true, Threads: 5},
		figures: restored(wholeWarehouse, four(60)...), want: claims.Inconclusive},
	{claim: "C31", name: "FewTurns", bench: Bench{Full: true}, figures: restored(wholeWarehouse, 40, 41, 42),
		want: claims.Inconclusive, why: "too few turns"},
	{claim: "C33", name: "More", bench: Bench{Full: true}, figures: restored(documentsGoods, four(40)...),
		want: claims.Confirmed},
	{claim: "C33", name: "Less", bench: Bench{Full: true}, figures: restored(documentsGoods, four(20)...),
		want: claims.Refuted},
	{claim: "C33", name: "MoreOnOursAlone", bench: Bench{Full: true}, figures: plant{"ours, " + documentsGoods.name +
		": lines per second": four(40)}, want: claims.Refuted, why: "stock: refuted, ours: confirmed"},
	{claim: "C33", name: "Around", bench: Bench{Full: true}, figures: restored(documentsGoods, 28, 32, 28, 32),
		want: claims.Inconclusive},
	{claim: "C33", name: "Small", figures: restored(documentsGoods, four(20)...), want: claims.Inconclusive,
		why: "this month is smaller"},
	{claim: "C34", name: "More", bench: Bench{Full: true}, figures: restored(monthTotals, four(70)...),
		want: claims.Confirmed},
	{claim: "C34", name: "Less", bench: Bench{Full: true}, figures: restored(monthTotals, four(15)...),
		want: claims.Refuted},
	{claim: "C34", name: "TwiceButNotSixTimes", bench: Bench{Full: true}, figures: restored(monthTotals, four(30)...),
		want: claims.Refuted, why: "surely less than ×6"},
	{claim: "C34", name: "Around", bench: Bench{Full: true}, figures: restored(monthTotals, 58, 62, 58, 62),
		want: claims.Inconclusive},
	{claim: "C34", name: "Small", figures: restored(monthTotals, four(15)...), want: claims.Inconclusive,
		why: "this month is smaller"},
	{claim: "C36", name: "Slower", bench: Bench{Full: true},
		figures: plant{targetSide(10_000) + ": operations": four(5)},
		want:    claims.Confirmed},
	{claim: "C36", name: "Faster", bench: Bench{Full: true},
		figures: plant{targetSide(10_000) + ": operations": four(12)},
		want:    claims.Refuted},
	{claim: "C36", name: "TheSame", bench: Bench{Full: true}, figures: plant{targetSide(10_000) + ": operations": {9,
		11, 9,
		11}}, want: claims.Inconclusive},
	{claim: "C36", name: "SmallBase", figures: plant{targetSide(10_000) + ": operations": four(5)},
		want: claims.Inconclusive, why: "no 10,000 values to keep"},
	{claim: "C37", name: "ItMatters", bench: Bench{Full: true}, figures: plant{"100 threads: lines per " +
		"second": four(10),
		"stock, 50 threads: lines per second": four(20), "ours, 50 threads: lines per second": four(20)},
		want: claims.Confirmed},
	{claim: "C37", name: "OneNumberWouldDo", bench: Bench{Full: true}, figures: plant{}, want: claims.Refuted},
	{claim: "C37", name: "PerhapsItMatters", bench: Bench{Full: true}, figures: plant{
		"stock, 50 threads: lines per second": {8, 10, 10, 12}}, want: claims.Inconclusive},
	{claim: "C37", name: "NotAll", bench: Bench{Full: true}, figures: plant{
		"stock, 100 threads: lines per second": {10, 10}}, want: claims.Inconclusive, why: "too few turns"},
	{claim: "C37", name: "FewWarehouses", figures: plant{}, want: claims.Inconclusive,
		why: "more threads are idle"},
	{claim: "C32", name: "Fewer", figures: plant{"autovacuum off: documents": four(5)}, want: claims.Confirmed},
	{claim: "C32", name: "More", figures: plant{"autovacuum off: documents": four(15)}, want: claims.Refuted},
	{claim: "C32", name: "TheSame", figures: plant{"autovacuum off: documents": {9, 11, 9, 11}},
		want: claims.Inconclusive},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	for _, c := range rulings {
		t.Run(c.claim+"_"+c.name, func(t *testing.T) {
			e, _ := For(c.claim)
			f := answered(t, c.bench, e, c.figures, c.stopAfter, c.fail...)
			if f.Verdict != c.want || !strings.Contains(f.Measured, c.why) || f.Partial != (c.stopAfter > 0) {
				t.Errorf("%s (%s), want %s (%s)", f.Verdict, f.Measured, c.want, c.why)
			}
		})
	}
}

// Every verdict can be reached, or an experiment would only pretend to ask.
func TestRules_CanConfirmRefuteAndNeither(t *testing.T) {
	reached := map[string]map[claims.Verdict]bool{}
	for _, c := range rulings {
		if reached[c.claim] == nil {
			reached[c.claim] = map[claims.Verdict]bool{}
		}
		reached[c.claim][c.want] = true
	}
	for _, e := range All() {
		rules := e.declare(Bench{}, &site{}).Rules
		for verdict, possible := range map[claims.Verdict]bool{claims.Confirmed: true, claims.Inconclusive: true,
			claims.Refuted: rules.Refutable()} {
			if reached[e.claim][verdict] != possible {
				t.Errorf("%s: the table has a case of %s: %v, the rules can say it: %v", e.claim, verdict,
					reached[e.claim][verdict], possible)
			}
		}
		if !rules.Refutable() {
			t.Errorf("%s cannot be refuted", e.claim)
		}
	}
}
