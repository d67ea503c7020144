package loss

import (
	"testing"

	"plimsoll/lab/crash"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/trial"
)

// The words of the table.
type plant = sitetest.Plant

var (
	with  = sitetest.With
	full  = site.Bench{Full: true}
	twice = site.Bench{Documents: 3_500_000, Repetitions: 2}
)

// cutPower: what asynchronous commits lose, and how much that is of what the formula explains; what others lose.
func cutPower(async, share, durableAck, synchronous float64) plant {
	return plant{logRate: {20_000, 20_000}, "sync: " + lostOps: {synchronous, 0}, "group: " + lostOps: {0, 0},
		"durable-ack: " + lostOps: {0, durableAck}, "async: " + lostOps: {async, 0},
		"async: " + formulaShare: {share, 1}}
}

// stops that lose operations, by kind.
func stops(immediate float64, planned ...float64) plant {
	p := plant{immediateStop + ": " + lostOps: {immediate}}
	for i, name := range plannedKinds {
		p[name+": "+lostOps] = []float64{planned[i]}
	}
	return p
}

// integrity of which all is well but for one figure of a side.
func integrity(side, series string, figures ...float64) plant {
	p := plant{undamagedBase + ": " + found: {0, 0}, changed: {0, 0}, foundAfter: {0, 0}, physical: {0, 0},
		auditRate: {1000, 1000}}
	name := side + ": " + series
	if side != undamagedBase {
		name = damagedPart + ", " + name
	}
	return with(p, name, figures...)
}

var rulings = []sitetest.Ruling{
	{Claim: "C22", Name: "AsSaid", Bench: full, Figures: cutPower(7, 60, 0, 0), Want: claims.Confirmed},
	{Claim: "C22", Name: "MoreThanTheFormula", Bench: full, Figures: cutPower(7, 140, 0, 0), Want: claims.Refuted,
		Why: "140 % is more than 100 %"},
	{Claim: "C22", Name: "DurableAckLoses", Bench: full, Figures: cutPower(7, 60, 1, 0), Want: claims.Refuted,
		Why: "operations lost with durable-ack: 1 is more than 0"},
	{Claim: "C22", Name: "SyncLoses", Bench: full, Figures: cutPower(7, 60, 0, 1), Want: claims.Inconclusive,
		Why: "loses flushed data too"},
	{Claim: "C22", Name: "AsyncLosesNothing", Bench: full, Figures: cutPower(0, 0, 0, 0), Want: claims.Inconclusive,
		Why: "nothing could have been lost"},
	{Claim: "C22", Name: "BusyMachine", Bench: full, Figures: with(cutPower(7, 140, 0, 0), "async: "+unwatchedTime, 350,
		2), Want: claims.Inconclusive, Why: "delayed the log writer"},
	{Claim: "C22", Name: "Damage", Bench: full, Figures: cutPower(7, 60, 0, 0),
		Fail: []sitetest.Failing{{Check: checkDamage, Detail: "async, seed 3: audit: totals"}}, Want: claims.Refuted,
		Why: "seed 3: audit"},
	{Claim: "C22", Name: "FewCuts", Figures: cutPower(7, 60, 0, 0), Want: claims.SmallScale,
		Why: "power cuts of each mode: 5"},
	{Claim: "C22", Name: "LittleLog", Bench: full, Figures: with(cutPower(7, 60, 0, 0), logRate, 160, 170),
		Want: claims.SmallScale, Why: "the report's 20 MB/s"},
	{Claim: "C22", Name: "FewCutsThatLose", Bench: site.Bench{Repetitions: 2}, Figures: cutPower(7, 60, 1, 0),
		Want: claims.Refuted, Why: "operations lost with durable-ack: 1 is more than 0"},
	{Claim: "C23", Name: "AllWell", Bench: twice, Figures: integrity(undamagedBase, found, 0, 0),
		Want: claims.Confirmed},
	{Claim: "C23", Name: "FalseAlarm", Bench: twice, Figures: integrity(undamagedBase, found, 0, 1),
		Want: claims.Refuted, Why: "violations of the undamaged base: 1 is more than 0"},
	{Claim: "C23", Name: "OneIsNotNamed", Bench: twice, Figures: integrity(documentsDamaged, named, 10, 9),
		Want: claims.Refuted, Why: "not named by document and field with documents damaged: 1"},
	{Claim: "C23", Name: "OneIsNotTreated", Bench: twice, Figures: integrity(registersDamaged, treated, 9, 10),
		Want: claims.Refuted, Why: "neither repaired"},
	{Claim: "C23", Name: "ViolationsStay", Bench: twice, Figures: integrity(registersDamaged, foundAfter, 2, 0),
		Want: claims.Refuted, Why: "violations left with registers damaged: 2"},
	{Claim: "C23", Name: "RepairGuesses", Bench: twice, Figures: integrity(documentsDamaged, changed, 0, 1),
		Want: claims.Refuted, Why: changed},
	{Claim: "C23", Name: "AmcheckSeesIt", Bench: twice, Figures: integrity(documentsDamaged, physical, 1, 0),
		Want: claims.Refuted, Why: physical},
	{Claim: "C23", Name: "Slow", Bench: twice, Figures: integrity(undamagedBase, auditRate, 100, 100),
		Want: claims.Refuted, Why: "hours to audit"},
	{Claim: "C23", Name: "SmallBase", Figures: integrity(undamagedBase, found, 0), Want: claims.SmallScale,
		Why: "scale of the base: 0.001"},
	{Claim: "C23", Name: "NothingWasAudited", Bench: twice, Figures: integrity(undamagedBase, auditRate),
		Want: claims.Inconclusive},
	{Claim: "C25", Name: "OnlyTheImmediateLoses", Bench: full, Figures: stops(90, 0, 0, 0, 0), Want: claims.Confirmed},
	{Claim: "C25", Name: "FastLoses", Bench: full, Figures: stops(90, 1, 0, 0, 0), Want: claims.Refuted,
		Why: "lost with pg_ctl stop -m fast: 1 is more than 0"},
	{Claim: "C25", Name: "AWorkerLoses", Bench: full, Figures: stops(90, 0, 0, 0, 2), Want: claims.Refuted,
		Why: "SIGTERM to a worker: 2"},
	{Claim: "C25", Name: "NothingWasAtStake", Bench: full, Figures: stops(0, 0, 0, 0, 0), Want: claims.Inconclusive,
		Why: "nothing could have been lost"},
	{Claim: "C25", Name: "FewStops", Figures: stops(90, 0, 0, 0, 0), Want: claims.SmallScale,
		Why: "stops of each kind: 3"},
	{Claim: "C25", Name: "FewStopsThatLose", Figures: stops(90, 0, 1, 0, 0), Want: claims.Refuted,
		Why: "lost with pg_ctl stop -m smart: 1 is more than 0"},
	{Claim: "C25", Name: "NothingWasDoneOnAWorker", Bench: full,
		Figures: with(stops(90, 0, 0, 0, 0), workerStop+": "+acknowledged, 0), Want: claims.Inconclusive,
		Why: "operations acknowledged with SIGTERM to a worker: 0 is not at least 1"},
}

func TestRules_WithPlantedFigures(t *testing.T) { sitetest.CheckRulings(t, Experiments(), rulings) }

// What a turn says of its ends: sums of what was lost, the largest loss, and the share of what the formula explains.
func TestFiguresOfEnds(t *testing.T) {
	report := &crash.Report{LongestFlushMS: 3, LongestGapMS: 7, Cuts: []crash.Cut{
		{Acknowledged: 100, Lost: 4, LostDocuments: 3, LostShown: 1, LostMS: 150, LostWALBytes: 20_000,
			ExplainedMS:       600,
			ExplainedWALBytes: 100_000, WALBytesPerS: 160_000},
		{Acknowledged: 50, Lost: 1, LostDocuments: 1, LostMS: 60, LostWALBytes: 90_000, ExplainedMS: 600,
			ExplainedWALBytes: 60_000, WALBytesPerS: 100_000},
		{Acknowledged: 10, ExplainedMS: 600},
	}}
	f := endFigures(report)
	formulaFigures(report, f)
	wanted := trial.Figures{acknowledged: 160, lostOps: 6, lostDocs: 4, lostTime: 150, lostLog: 90,
		formulaTime: 600, formulaShare: 150, longestFlush: 3, unwatchedTime: 7, logRate: 100}
	for series, want := range wanted {
		if f[series] != want {
			t.Errorf("%s: %v, want %v", series, f[series], want)
		}
	}
}
