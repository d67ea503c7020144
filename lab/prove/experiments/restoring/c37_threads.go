package restoring

import (
	"fmt"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// c37Threads are the report's numbers; the first is the base.
var c37Threads = []int{10, 20, 50, 100}

// threadsOf a manner of restoring on an engine.
func threadsOf(v site.Variant, n int) restoringSide {
	return restoringSide{manner{name: fmt.Sprintf("%d threads", n), lean: true,
		postingManner: setBySet.postingManner}, v, n}
}

// restoringThreads is the experiment behind C37. A comparison needs the number of threads if that changes its answer:
// the pace on an engine, or which engine is ahead.
func restoringThreads(b site.Bench, s *site.Site) trial.Trial {
	var sides []restoringSide
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, n := range c37Threads {
			sides = append(sides, threadsOf(v, n))
		}
	}
	t := restoring(b, ownServers(s), fmt.Sprintf("lean restoration with %s threads, on both flavours",
		site.Listed(c37Threads)),
		sides,
		claims.Condition{Name: "threads", Text: fmt.Sprintf("%s (report: the same), each restoring a warehouse at a "+
			"time; "+
			"the base has %d, so more threads than that are idle", site.Listed(c37Threads),
			monthOptions(b).Warehouses)},
		claims.Condition{Name: "claimed", Text: fmt.Sprintf("a comparison depends on the number of threads. "+
			"Confirmed if some number changes the pace by more than %.0f %% against %d threads; refuted if every "+
			"number surely stays within that", 100*(c37Matters-1), c37Threads[0])})
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		base := threadsOf(v, c37Threads[0])
		t.Measured = append(t.Measured, trial.Say("%s: %d threads %s lines/s", v.Name, base.threads,
			trial.Spread{Of: lines(base), Format: "%.0f"}))
		for _, n := range c37Threads[1:] {
			t.Measured = append(t.Measured, trial.Say("%d %s", n, fasterLines(threadsOf(v, n), base)))
		}
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		most := trial.Farthest{As: "pace of the number of threads that changes it most, on " + engine}
		for _, n := range c37Threads[1:] {
			most.Of = append(most.Of, fasterLines(threadsOf(v, n), threadsOf(v, c37Threads[0])))
		}
		return trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Known{As: "warehouses", Value: float64(monthOptions(b).Warehouses)},
				Confirm: trial.AtLeast(float64(c37Threads[len(c37Threads)-1])),
				Unless:  "more threads than warehouses are idle; use --full"}},
			Criteria: []trial.Criterion{{Of: most, Confirm: trial.Outside(1/c37Matters, c37Matters),
				Refute: trial.Within(1/c37Matters, c37Matters)}},
		}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// c37Matters is a change of the pace that a comparison must not leave out.
const c37Matters = 1.1
