package temptables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C40: the report's period, and a rate at which a wait is the page's and not the processors'.
const (
	c40Turn    = 30 * time.Second
	c40Clients = site.Clients
	c40Rounds  = 4
	c40Share   = 0.4             // of the capacity of an engine's slowest loop
	c40Asking  = 5 * time.Second // how long the capacity is measured
	latchLook  = 2 * time.Millisecond
	c40NoLoad  = 0.05 // of the worst variant's waits: too little to load the server
	c40Against = 30.0 // seconds, the report's period
)

// queryLoop is one of the report's four loops. Its share is that of the engine's capacity; 0: without a pause.
type queryLoop struct {
	name, workload string
	clients        int
	share          float64
}

var (
	loopWithoutTable = queryLoop{"no temp table", bench.NoTable, c40Clients, c40Share}
	loopWithTable    = queryLoop{"temp table", bench.NoIndex, c40Clients, c40Share}
	loopWithIndex    = queryLoop{"temp table with index", bench.NoAnalyze, c40Clients, c40Share}
	loopAlone        = queryLoop{"with index, one by one", bench.NoAnalyze, 1, 0}
	queryLoops       = []queryLoop{loopWithoutTable, loopWithTable, loopWithIndex, loopAlone}
)

func (l queryLoop) on(v site.Variant) string { return v.Name + ", " + l.name }

// Figures of C40.
const (
	waitTime = "waits"
	waitEach = "waits of a loop"
	loopRate = "loops"
	loopTime = "time of a loop"
)

// capacities of engines: loops a second of the slowest one without a pause.
type capacities map[string]int

// measure them, before any turn.
func (c capacities) measure(ctx context.Context, s *site.Site, r *trial.Record) error {
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		p, err := cycle(bench.NoAnalyze, c40Clients, c40Asking)
		if err != nil {
			return err
		}
		done, err := pgbench(ctx, s.Servers, v, p)
		if err != nil {
			return err
		}
		c[v.Name] = int(done.tps)
		r.Condition("capacity of "+v.Name, fmt.Sprintf("%d loops with an indexed temp table a second, without a pause",
			c[v.Name]))
	}
	return nil
}

// systemPages is the experiment behind C40, with a verdict for each engine.
func systemPages(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c40Rounds), Turn: b.Turn(c40Turn),
		Series: []trial.Series{{Name: waitTime, Unit: "s in 30 s"}, {Name: waitEach, Unit: "ms"},
			{Name: loopRate, Unit: "1/s"}, {Name: peakWaits, Unit: "sessions"}, trial.BusySeries}}
	capacity := capacities{}
	part.Open = func(ctx context.Context, r *trial.Record) error { return capacity.measure(ctx, s, r) }
	say := "waits in 30 s: "
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		for _, loop := range queryLoops {
			part.Sides = append(part.Sides, loopSide(s, v, loop, part.Turn, capacity))
			part.Measured = append(part.Measured, trial.Say(say+"%s: %s s, %s ms a loop, at %s loops/s", loop.on(v),
				trial.Spread{Of: trial.At(loop.on(v), waitTime), Format: "%.2f"},
				trial.Median{Of: trial.At(loop.on(v), waitEach), Format: "%.3f"},
				trial.Median{Of: trial.At(loop.on(v), loopRate), Format: "%.0f"}))
			say = ""
		}
	}
	t := trial.Trial{
		Text: fmt.Sprintf("a query loop by %d clients without temp table, with one, with an index on it, and one by "+
			"one, on both flavours: waits inside the server", c40Clients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients repeat a query loop on 50 rows, all loops of an engine at "+
				"the "+
				"same rate, %.0f %% of what its slowest one does without a pause: at full load a session that waits "+
				"for a page may wait for a processor; one by one: a single client without a pause", c40Clients,
				100*c40Share)},
			{Name: "counted", Text: fmt.Sprintf(
				"pg_stat_activity, sampled every %s: sessions that wait for a latch (any LWLock except that of the "+
					"log flush, or the extension of a relation); the sampling is itself part of the load",
				latchLook)},
		},
	}
	t.ByEngine(func(engine string) trial.Rules {
		rules := trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, c40Turn)}}
		waits := func(loop queryLoop) trial.Ref { return trial.At(loop.on(site.Flavour(engine)), waitTime) }
		rules.Direction = []trial.Criterion{
			{Of: trial.Gap{Of: waits(loopWithTable), Times: 1, To: waits(loopWithoutTable)}, Confirm: trial.Above(0),
				Refute: trial.AtMost(0)},
			{Of: trial.Gap{Of: waits(loopWithIndex), Times: 1, To: waits(loopWithTable)}, Confirm: trial.Above(0),
				Refute: trial.AtMost(0), Unless: "the index does not make the waits worse"},
			{Of: trial.Gap{Of: waits(loopAlone), Times: c40NoLoad, To: waits(loopWithIndex)}, Confirm: trial.AtMost(0),
				Refute: trial.Above(0)},
		}
		rules.Situation = append(site.WithRoom(trial.At(loopWithIndex.on(site.Flavour(engine)), trial.Busy)),
			site.AtWork(c40Clients, "N parallel threads"))
		return rules
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// loopSide repeats a loop at a share of its engine's capacity, which is known once the part is open.
func loopSide(s *site.Site, v site.Variant, loop queryLoop, turn time.Duration, capacity capacities) trial.Side {
	return trial.Side{Name: loop.on(v), Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		p, err := cycle(loop.workload, loop.clients, turn)
		if loop.share > 0 {
			p.rate = max(1, int(loop.share*float64(capacity[v.Name])))
		}
		return func(ctx context.Context, _ int) (trial.Figures, error) { return waits(ctx, s.Servers, v, p) }, err
	}}
}

// latchesSQL counts sessions that wait for a lock inside the server (LWLock): on a page, a partition of a shared table,
// WAL insertion. Waiting to extend a catalog is a heavyweight lock by class, but has the same nature.
const latchesSQL = `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
	AND (wait_event_type = 'LWLock' AND wait_event <> 'WALWrite' OR wait_event_type = 'Lock' AND wait_event = 'extend')`

// latches are waits that were looked at again and again.
type latches struct {
	looks []latchLooked
}

type latchLooked struct {
	at time.Time
	n  int
}

// watch until ended has something; that is returned.
func (l *latches) watch(ctx context.Context, watcher *pgx.Conn, ended <-chan error) error {
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(latchLook):
		}
		var n int
		if err := watcher.QueryRow(ctx, latchesSQL).Scan(&n); err != nil {
			return errors.Join(err, <-ended)
		}
		l.looks = append(l.looks, latchLooked{time.Now(), n})
	}
}

// average number of sessions that waited.
func (l *latches) average() float64 {
	sum := 0
	for _, look := range l.looks {
		sum += look.n
	}
	return float64(sum) / float64(max(1, len(l.looks)))
}

// peak is the most sessions that waited on average over any time so long.
func (l *latches) peak(over time.Duration) (most float64) {
	sum, first := 0, 0
	for i, look := range l.looks {
		sum += look.n
		for look.at.Sub(l.looks[first].at) > over {
			sum -= l.looks[first].n
			first++
		}
		if whole := look.at.Sub(l.looks[0].at) >= over || i == len(l.looks)-1; whole {
			most = max(most, float64(sum)/float64(i-first+1))
		}
	}
	return most
}

// watched plays a load and samples it.
func watched(ctx context.Context, e *site.Engines, v site.Variant, load func() error) (seen latches, err error) {
	err = e.On(ctx, v, func(watcher *pgx.Conn) error {
		ended := make(chan error, 1)
		go func() { ended <- load() }()
		return seen.watch(ctx, watcher, ended)
	})
	return seen, err
}

// waits runs the load and samples it. It returns seconds of waiting, summed over all sessions, per the report's 30
// seconds.
func waits(ctx context.Context, e *site.Engines, v site.Variant, p play) (trial.Figures, error) {
	var done played
	seen, err := watched(ctx, e, v, func() (err error) {
		done, err = pgbench(ctx, e, v, p)
		return err
	})
	if err != nil || len(seen.looks) == 0 {
		return nil, err
	}
	return trial.Figures{waitTime: seen.average() * c40Against, waitEach: 1000 * seen.average() / done.tps,
		loopRate: done.tps, loopTime: done.loop(), peakWaits: seen.peak(peakOver)}, nil
}
