package restoring

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

const (
	// c37Delay of each round trip, as between servers that stand side by side: classic code waits for it once a
	// statement, and more threads hide it.
	c37Delay = time.Millisecond
	// c37Matters is a change of the pace that a comparison must not leave out.
	c37Matters = 1.1
)

// c37Threads are the report's numbers; the first is the base.
var c37Threads = []int{10, 20, 50, 100}

// threadsOf a manner of restoring on an engine: the report's code after its queries were mended, so that the network is
// not hidden behind the database.
func threadsOf(v site.Variant, n int) restoringSide {
	return restoringSide{manner: manner{name: fmt.Sprintf("%d threads", n), postingManner: monthTotals.postingManner},
		variant: v, threads: n, delay: c37Delay}
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
	// a thread restores a warehouse at a time: with fewer of them some threads have nothing to do
	base := monthOptions(b)
	base.Warehouses = max(base.Warehouses, c37Threads[len(c37Threads)-1])
	t := restoringOn(b, base, ownServers(s), fmt.Sprintf("classic restoration with %s threads through a network of "+
		"%s, on both flavours", site.Listed(c37Threads), c37Delay), sides,
		claims.Condition{Name: "threads", Text: fmt.Sprintf("%s (report: the same), each restoring a warehouse at a "+
			"time, of which the base has %d", site.Listed(c37Threads), base.Warehouses)},
		claims.Condition{Name: "network", Text: fmt.Sprintf("a proxy of our own (lab/prove/delay) makes each round "+
			"trip take %s longer (report: application servers on machines of their own, without a figure)", c37Delay)},
		claims.Condition{Name: "claimed", Text: fmt.Sprintf("a comparison depends on the number of threads: some "+
			"number changes the pace by more than %.0f %% against %d threads", 100*(c37Matters-1), c37Threads[0])})
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		base := threadsOf(v, c37Threads[0])
		t.Measured = append(t.Measured, trial.Say("%s: %d threads %s lines/s, processors busy %s %%", v.Name,
			base.threads, trial.Spread{Of: lines(base), Format: "%.0f"},
			trial.Spread{Of: trial.At(base.String(), trial.Busy), Format: "%.0f"}))
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
			Situation: append(site.WithRoom(trial.At(threadsOf(v, c37Threads[0]).String(), trial.Busy)),
				trial.Condition{Of: trial.Known{As: "warehouses", Value: float64(base.Warehouses)},
					Report: "as many as threads are busy", Met: trial.AtLeast(float64(c37Threads[len(c37Threads)-1]))}),
			Direction: []trial.Criterion{{Of: most, Confirm: trial.Outside(1/c37Matters, c37Matters),
				Refute: trial.Within(1/c37Matters, c37Matters)}},
		}
	}, site.Stock.Name, site.Ours.Name)
	return t
}
