package bases

import (
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four = sitetest.Four

// dumped: shares of indexes and of primary keys, the time with fsync on (10 with it off), and what power cuts lose.
func dumped(index, key, time float64, lostOff, lostOn []float64) plant {
	return plant{fsyncOn + ": " + indexShare: four(index), fsyncOn + ": " + keyShare: four(key),
		fsyncOn + ": " + restoreTime:                 four(time),
		powerCut + ", " + fsyncOff + ": " + baseLost: lostOff, powerCut + ", " + fsyncOn + ": " + baseLost: lostOn}
}

var (
	all, none, one = []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0}, []float64{0, 1, 0, 0}
	full           = site.Bench{Full: true}
)

var rulings = []sitetest.Ruling{
	{Claim: "C30", Name: "AsSaid", Figures: dumped(40, 20, 10.5, all, none), Want: claims.SmallScale,
		Why: "restore, s: 11, the report's hours"},
	{Claim: "C30", Name: "OneCutLosesIt", Figures: dumped(40, 20, 10.5, one, none),
		Want: claims.SmallScale, Why: "MS SQL Server"},
	{Claim: "C30", Name: "MostlyCopyInSeconds", Figures: dumped(20, 10, 10.5, all, none), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C30", Name: "MostlyCopyForAnHour", Figures: sitetest.With(dumped(20, 10, 3600, all, none),
		fsyncOff+": "+restoreTime, four(3500)...), Want: claims.Inconclusive, Why: "is less than 50 %"},
	{Claim: "C30", Name: "FsyncGainsMuch", Figures: dumped(40, 20, 20, all, none), Want: claims.Inconclusive,
		Why: "surely more than ×1.15"},
	{Claim: "C30", Name: "NothingIsLost", Figures: dumped(40, 20, 10.5, none, none),
		Want: claims.Refuted},
	{Claim: "C30", Name: "FsyncLosesToo", Figures: dumped(40, 20, 10.5, all, one),
		Want: claims.Inconclusive, Why: "loses flushed data too"},
	{Claim: "C30", Name: "Small", Bench: site.Bench{Documents: 20_000}, Figures: dumped(40, 20, 10.5, all, none),
		Want: claims.Inconclusive,
		Why:  "does not stand for one of hours"},
	{Claim: "C38", Name: "Slower", Bench: full, Figures: plant{manyFilesSide + ": " + startAfterCrash: four(50)},
		Want: claims.Confirmed},
	{Claim: "C38", Name: "OneFileSystem", Bench: full, Figures: sitetest.With(plant{manyFilesSide + ": " +
		startAfterCrash: four(50)}, manyThere+": "+startAfterCrash), Want: claims.SmallScale,
		Why: "file systems: 1, the report's two"},
	{Claim: "C38", Name: "NotSlower", Bench: full, Figures: plant{}, Want: claims.Refuted,
		Why: "surely less than ×2"},
	{Claim: "C38", Name: "NotSlowerOfFew", Figures: plant{}, Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C38", Name: "Around", Bench: full, Figures: plant{
		manyFilesSide + ": " + startAfterCrash: {15, 25, 15, 25}}, Want: claims.Inconclusive},
	{Claim: "C38", Name: "OneBase", Figures: plant{manyFilesSide + ": " + startAfterCrash: four(50)},
		Want: claims.SmallScale, Why: "files of the server, about: 12,600, the report's 2,000,000"},
}

func TestRules_WithPlantedFigures(t *testing.T) { sitetest.CheckRulings(t, Experiments(), rulings) }

func TestStageOf(t *testing.T) {
	for line, want := range map[string]string{
		"215; 1259 16390 TABLE DATA public documents owner": copyShare,
		"215; 1259 16390 TABLE public documents owner":      "",
		"3; 2606 16400 CONSTRAINT public d d_pkey owner":    keyShare,
		"3; 2606 16400 FK CONSTRAINT public d d_fkey owner": checkShare,
		"3; 1259 16400 INDEX public d_i owner":              indexShare,
		"3; 0 0 SEQUENCE SET public s owner":                "",
	} {
		found := entry.FindStringSubmatch(line)
		if found == nil || c30Stages[stageOf(found[1])].series != want {
			t.Errorf("%s: %v", line, found)
		}
	}
}
