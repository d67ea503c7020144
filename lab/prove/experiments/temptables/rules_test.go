package temptables

import (
	"slices"
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

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
		p[queryLoops[i].on(site.Stock)+": waits"] = four(waits)
	}
	return p
}

// lives of temp tables in so many turns, whose operations take as long on all sides, but some take 20 times as long on
// stock in one shape.
func lives(turns, shape int, slow ...string) plant {
	p := plant{}
	for _, operation := range append([]string{cycleRate}, c12Operations...) {
		p[operation] = slices.Repeat([]float64{10}, turns)
	}
	for _, operation := range slow {
		p[c12Shapes[shape].on(c12Stock)+": "+operation] = slices.Repeat([]float64{200, 210}, turns)[:turns]
	}
	return p
}

// endings is the peak of waits when sessions with and without temp tables end, on both engines.
func endings(with, none float64) plant {
	p := plant{}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		p[endingSide(v, 1)+": "+peakWaits], p[endingSide(v, 0)+": "+peakWaits] = four(with), four(none)
	}
	return p
}

// begun are waits from a share of the capacity on, at a rate that is so many queries a second there, on a machine that
// reaches each rate or not.
func begun(from int, rate, reached float64) plant {
	p := plant{}
	for _, percent := range c45Shares {
		for _, v := range []site.Variant{site.Stock, site.Ours} {
			name := shareLoop(percent).on(v)
			p[name+": "+waitTime], p[name+": "+rateReached] = four(0), four(reached)
			p[name+": "+loopRate] = four(rate / c45Statements)
			if percent >= from {
				p[name+": "+waitTime] = four(1)
			}
		}
	}
	return p
}

var rulings = []sitetest.Ruling{
	{Claim: "C06", Name: "Silent", Figures: plant{"stock: messages": four(200), "ours: messages": four(0),
		"ours: idle": four(0)}, Want: claims.Confirmed},
	{Claim: "C06", Name: "Sends", Figures: plant{"stock: messages": four(200), "ours: messages": four(1),
		"ours: idle": four(0)}, Want: claims.Refuted, Why: "messages of ours: 1.015 (1 to 1.03) is more than 0 in " +
		"every turn"},
	{Claim: "C06", Name: "SomeTurns", Figures: plant{"stock: messages": four(200), "ours: messages": {0, 1, 0, 0},
		"ours: idle": four(0)}, Want: claims.Inconclusive, Why: "is not at most 0 in every turn"},
	{Claim: "C06", Name: "NotCounted", Figures: plant{"stock: messages": four(0), "ours: messages": four(0),
		"ours: idle": four(0)}, Want: claims.Inconclusive, Why: "nothing was counted"},
	{Claim: "C06", Name: "SameCPU", Figures: plant{"ours: messages": four(0)}, Want: claims.Inconclusive,
		Why: "idle of ours: 10 (10 to 10) against 10 (10 to 10) is not less than idle of stock"},
	{Claim: "C06", Name: "Stopped", Figures: plant{"ours: messages": four(0), "ours: idle": four(0)}, StopAfter: 9,
		Want: claims.Inconclusive, Why: "too few"},
	{Claim: "C07", Name: "None", Figures: plant{"held, ours: locks in the shared table": {0}}, Want: claims.Confirmed},
	{Claim: "C07", Name: "Some", Figures: plant{"held, ours: locks in the shared table": {1}}, Want: claims.Refuted},
	{Claim: "C07", Name: "SomeAndStopped", Figures: plant{"held, ours: locks in the shared table": {1}}, StopAfter: 9,
		Want: claims.Refuted},
	{Claim: "C07", Name: "NotCounted", Figures: plant{"locks in the shared table": {0}}, Want: claims.Inconclusive,
		Why: "nothing was counted"},
	{Claim: "C07", Name: "NoneAndStopped", Figures: plant{"held, ours: locks in the shared table": {0}}, StopAfter: 9,
		Want: claims.Confirmed},
	{Claim: "C08", Name: "Decisive", Figures: plant{"ours, all settings off: storms": four(13),
		"processors": four(128)}, Want: claims.Confirmed},
	{Claim: "C08", Name: "SmallMachine", Figures: plant{"ours, all settings off: storms": four(13),
		"processors": four(2)}, Want: claims.Inconclusive, Why: "prove C08 --archive"},
	{Claim: "C08", Name: "TheSame", Figures: plant{"processors": four(128)}, Want: claims.Inconclusive,
		Why: "is not surely at least ×1.2"},
	{Claim: "C08", Name: "Slower", Figures: plant{"ours, all settings off: storms": four(8), "processors": four(128)},
		Want: claims.Refuted},
	{Claim: "C09", Name: "TensOfTimes", Figures: plant{"stock, 1000 columns: ANALYZE": four(200)},
		Want: claims.Confirmed},
	{Claim: "C09", Name: "Fewer", Figures: plant{"stock, 1000 columns: ANALYZE": four(60)}, Want: claims.InDirection,
		Why: "with 1000 columns: ×6.09 (6 to 6.18) is surely less than ×10"},
	{Claim: "C09", Name: "Hundreds", Figures: plant{"stock, 1000 columns: ANALYZE": four(2000)},
		Want: claims.InDirection,
		Why:  "surely more than ×100"},
	{Claim: "C09", Name: "None", Figures: plant{"stock, 1000 columns: ANALYZE": four(12)}, Want: claims.Refuted,
		Why: "surely less than ×1.78"},
	{Claim: "C09", Name: "NarrowIsSlower", Figures: plant{"stock, 1000 columns: ANALYZE": four(200),
		"ours, 10 columns: ANALYZE": four(12)}, Want: claims.Refuted, Why: "10 columns"},
	{Claim: "C09", Name: "OnTheBar", Figures: plant{"stock, 1000 columns: ANALYZE": {95, 105, 95, 105}},
		Want: claims.InDirection, Why: "is not surely at least ×10"},
	{Claim: "C09", Name: "PerhapsNone", Figures: plant{"stock, 1000 columns: ANALYZE": {9, 30, 9, 30}},
		Want: claims.Inconclusive},
	{Claim: "C11", Name: "NoFlushes", Figures: flushesOf(1, 1, 0, 0.001, 1), Want: claims.Confirmed},
	{Claim: "C11", Name: "OursFlushes", Figures: flushesOf(1, 1, 1, 0, 1), Want: claims.Refuted},
	{Claim: "C11", Name: "WithCatalogOnFlushes", Figures: flushesOf(1, 1, 0, 1, 1), Want: claims.Refuted},
	{Claim: "C11", Name: "LosesPermanentRows", Figures: flushesOf(1, 1, 0, 0, 0), Want: claims.Refuted},
	{Claim: "C11", Name: "LosesPermanentRowsOnce", Figures: with(flushesOf(1, 1, 0, 0, 1),
		c11Durable.String()+": flushes", 1, 1, 0, 1, 1), Want: claims.Refuted, Why: "less than 0.9 in some turn"},
	{Claim: "C11", Name: "StockDoesNotEither", Figures: flushesOf(0, 0, 0, 0, 1), Want: claims.Inconclusive,
		Why: "stock does not flush"},
	{Claim: "C11", Name: "SomeTurns", Figures: with(flushesOf(1, 1, 0, 0, 1), c11RealCatalog.String()+": flushes", 0,
		0.5, 0, 0, 0), Want: claims.Inconclusive},
	{Claim: "C11", Name: "ASideMissing", Figures: with(flushesOf(1, 1, 1, 0, 1), c11SettingOff.String()+": flushes"),
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C12", Name: "TensOfTimes", Figures: lives(c12Rounds, 0, "DROP TABLE", "TRUNCATE"), Want: claims.Confirmed,
		Why: "2 of 8 (TRUNCATE, DROP TABLE)"},
	{Claim: "C12", Name: "AtTheEndOfSessions", Figures: lives(c12Rounds, 4, "DROP TABLE", sessionEnd),
		Want: claims.Confirmed},
	{Claim: "C12", Name: "OneAlone", Figures: lives(c12Rounds, 0, "DROP TABLE"), Want: claims.Refuted,
		Why: "1 of 8 (DROP TABLE) is less than 2"},
	{Claim: "C12", Name: "NoTens", Figures: with(with(lives(c12Rounds, 0), c12Shapes[0].on(c12Stock)+": INSERT",
		slices.Repeat([]float64{30}, c12Rounds)...), c12Shapes[0].on(c12Stock)+": SELECT",
		slices.Repeat([]float64{30}, c12Rounds)...), Want: claims.InDirection, Why: "0 of 8 is less than 2"},
	{Claim: "C12", Name: "OfAllSettingsTogether", Figures: with(with(lives(c12Rounds, 0), c12Shapes[0].on(c12All)+
		": INSERT", slices.Repeat([]float64{0.1}, c12Rounds)...), c12Shapes[0].on(c12All)+": SELECT",
		slices.Repeat([]float64{0.1}, c12Rounds)...), Want: claims.Refuted, Why: "0 of 8 is less than 2"},
	{Claim: "C12", Name: "TheSecondOnTheBar", Figures: with(lives(c12Rounds, 0, "DROP TABLE"),
		c12Shapes[0].on(c12Stock)+": INSERT", 95, 105, 95, 105, 95, 105, 95), Want: claims.InDirection,
		Why: "1 of 8 (DROP TABLE) is not at least 2"},
	{Claim: "C12", Name: "TooFewTurnsForSoManyTests", Figures: lives(5, 0, "DROP TABLE", "TRUNCATE"),
		Want: claims.Inconclusive, Why: "0 of 8 is not at least 2"},
	{Claim: "C12", Name: "SmallBase", Bench: site.Bench{Documents: 100}, Figures: lives(c12Rounds, 0, "DROP TABLE",
		"TRUNCATE"), Want: claims.SmallScale, Why: "relations of the base: 400, the report's 26,000"},
	{Claim: "C40", Name: "AsClaimed", Figures: waitsOf(0, 1, 2, 0), Want: claims.Confirmed},
	{Claim: "C40", Name: "FullMachine", Figures: with(waitsOf(0, 1, 2, 0), trial.Busy, four(99)...),
		Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C40", Name: "NoMore", Figures: waitsOf(1, 0.5, 2, 0), Want: claims.Refuted,
		Why: "is at most waits of 'stock, no temp table'"},
	{Claim: "C40", Name: "IndexLess", Figures: waitsOf(0, 2, 1, 0), Want: claims.Refuted,
		Why: "is at most waits of 'stock, temp table'"},
	{Claim: "C40", Name: "AloneToo", Figures: waitsOf(0, 1, 2, 1), Want: claims.Refuted, Why: "one by one"},
	{Claim: "C40", Name: "NoWaitsAtAll", Figures: waitsOf(0, 0, 0, 0), Want: claims.Refuted},
	{Claim: "C40", Name: "IndexTheSame", Figures: waitsOf(0, 2, 2, 0), Want: claims.Inconclusive},
	{Claim: "C40", Name: "Overlap", Figures: with(waitsOf(0, 1, 2, 0), "stock, no temp table: waits", 0, 0, 0, 1.5),
		Want: claims.Inconclusive, Why: "is not more than waits of 'stock, no temp table'"},
	{Claim: "C40", Name: "TooFewTurns", Figures: with(waitsOf(0, 1, 2, 0), "stock, temp table: waits", 1, 1),
		Want: claims.Inconclusive, Why: "too few"},
	{Claim: "C40", Name: "ShortTurns", Bench: site.Bench{Duration: 3 * time.Second}, Figures: waitsOf(0, 1, 2, 0),
		Want: claims.Inconclusive, Why: "turns are shorter"},
	{Claim: "C41", Name: "ThreeTimes", Bench: site.Bench{Full: true}, Figures: endings(40, 0), Want: claims.Confirmed},
	{Claim: "C41", Name: "Less", Bench: site.Bench{Full: true}, Figures: endings(20, 0), Want: claims.Refuted},
	{Claim: "C41", Name: "LessOnOurs", Bench: site.Bench{Full: true}, Figures: with(endings(40, 0),
		endingSide(site.Ours, 1)+": "+peakWaits, four(20)...), Want: claims.Confirmed, Why: "stock: confirmed, ours: " +
		"refuted"},
	{Claim: "C41", Name: "Around", Bench: site.Bench{Full: true}, Figures: with(endings(40, 0), endingSide(site.Stock,
		1)+": "+peakWaits, 25, 35, 25, 35), Want: claims.Inconclusive},
	{Claim: "C41", Name: "FewerTables", Figures: endings(40, 0), Want: claims.SmallScale,
		Why: "temp tables of a session: 1,000, the report's about 10,000"},
	{Claim: "C41", Name: "FewerTablesRefuteNothing", Figures: endings(20, 0), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing: temp tables of a session: 1,000"},
	{Claim: "C42", Name: "Hot", Figures: plant{hotShare: four(80), tempShare: four(90)}, Want: claims.Confirmed},
	{Claim: "C42", Name: "FullMachine", Figures: plant{hotShare: four(80), tempShare: four(90), trial.Busy: four(99)},
		Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C42", Name: "OtherCatalogs", Figures: plant{hotShare: four(20), tempShare: four(90)},
		Want: claims.Refuted, Why: "less than 50 % in every turn"},
	{Claim: "C42", Name: "OtherStatements", Figures: plant{hotShare: four(80), tempShare: four(20)},
		Want: claims.Refuted, Why: "less than 50 % in every turn"},
	{Claim: "C42", Name: "Around", Figures: plant{hotShare: {45, 55, 45, 55}, tempShare: four(90)},
		Want: claims.Inconclusive},
	{Claim: "C42", Name: "NoWaits", Figures: plant{hotShare: {}, tempShare: {}}, Want: claims.Inconclusive,
		Why: "too few turns"},
	{Claim: "C43", Name: "Seen", Figures: plant{"on: " + loopTime: four(5)}, Want: claims.Confirmed},
	{Claim: "C43", Name: "SeenAsSlower", Figures: plant{"on: " + loopTime: four(20)}, Want: claims.Confirmed},
	{Claim: "C43", Name: "FullMachine", Figures: plant{"on: " + loopTime: four(5), trial.Busy: four(99)},
		Want: claims.SmallScale, Why: "processors with room"},
	{Claim: "C43", Name: "NotSeen", Figures: plant{}, Want: claims.Refuted},
	{Claim: "C43", Name: "TheSameDiffers", Figures: plant{"off again: " + loopTime: four(12),
		"on: " + loopTime: four(20)}, Want: claims.Refuted, Why: "off again against off"},
	{Claim: "C43", Name: "Noise", Figures: plant{"off again: " + loopTime: {9, 11, 9, 11}, "on: " + loopTime: four(20)},
		Want: claims.Inconclusive, Why: "the same setting differs from itself"},
	{Claim: "C44", Name: "None", Bench: site.Bench{Full: true}, Figures: endings(40, 0), Want: claims.Confirmed},
	{Claim: "C44", Name: "Some", Bench: site.Bench{Full: true}, Figures: endings(40, 20), Want: claims.Refuted},
	{Claim: "C44", Name: "SomeTurns", Bench: site.Bench{Full: true}, Figures: with(endings(40, 0),
		endingSide(site.Stock, 0)+": "+peakWaits, 0, 20, 0, 0), Want: claims.Inconclusive},
	{Claim: "C44", Name: "NoWaitsAnywhere", Bench: site.Bench{Full: true}, Figures: endings(0, 0),
		Want: claims.Inconclusive,
		Why:  "no waits with temp tables either"},
	{Claim: "C44", Name: "FewerTables", Figures: endings(40, 0), Want: claims.SmallScale,
		Why: "temp tables of a session"},
	{Claim: "C44", Name: "NobodyWorked", Bench: site.Bench{Full: true}, Figures: with(endings(40, 0),
		endingSide(site.Stock, 0)+": "+endBusy, four(1)...), Want: claims.SmallScale,
		Why: "processor load without temp tables against that with them: ×0.1"},
	{Claim: "C44", Name: "FewerTablesRefuteNothing", Figures: endings(40, 20), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C45", Name: "AsClaimed", Figures: begun(30, 3400, 100), Want: claims.Confirmed},
	{Claim: "C45", Name: "AtAnotherRate", Figures: begun(30, 900, 100), Want: claims.InDirection,
		Why: "is less than 3000"},
	{Claim: "C45", Name: "FullMachine", Figures: with(begun(30, 3400, 100), trial.Busy, four(99)...),
		Want: claims.SmallScale},
	{Claim: "C45", Name: "FromTheFirst", Figures: begun(0, 900, 100), Want: claims.Inconclusive,
		Why: "is not more than 10"},
	{Claim: "C45", Name: "Never", Figures: begun(1000, 3400, 100), Want: claims.Refuted},
	{Claim: "C45", Name: "NotReached", Figures: begun(1000, 3400, 60), Want: claims.Inconclusive,
		Why: "this machine does not reach the rates"},
	{Claim: "C45", Name: "BegunBeforeTheLimit", Figures: with(begun(30, 3400, 100), shareLoop(80).on(site.Stock)+": "+
		rateReached, four(60)...), Want: claims.Confirmed},
}

func TestRules_WithPlantedFigures(t *testing.T) {
	sitetest.CheckRulings(t, Experiments(), rulings)
}
