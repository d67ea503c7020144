package experiments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Defaults of C40.
const (
	c40Turn   = 3 * time.Second
	c40Rounds = 4
	c40Sample = 2 * time.Millisecond
	// loops per second of one client that waits for its user between statements, as an idle handler does
	c40Alone   = 20
	c40NoLoad  = 0.05 // of the worst variant's waits: too little to load the server
	c40Against = 30.0 // seconds, the report's period
)

// queryLoop is one of the report's four loops.
type queryLoop struct {
	name, workload string
	clients, rate  int
}

var (
	loopWithoutTable = queryLoop{"no temp table", bench.NoTable, manyClients, 0}
	loopWithTable    = queryLoop{"temp table", bench.NoIndex, manyClients, 0}
	loopWithIndex    = queryLoop{"temp table with index", bench.NoAnalyze, manyClients, 0}
	loopAlone        = queryLoop{"with index, one by one", bench.NoAnalyze, 1, c40Alone}
	queryLoops       = []queryLoop{loopWithoutTable, loopWithTable, loopWithIndex, loopAlone}
)

func (l queryLoop) on(v variant) string { return v.name + ", " + l.name }

// Figures of C40.
const (
	waitTime = "waits"
	loopRate = "loops"
)

// systemPages is the experiment behind C40. The claim is about stock; our build is reported beside it.
func systemPages(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c40Rounds), Turn: b.turn(c40Turn),
		Series: []trial.Series{{Name: waitTime, Unit: "s in 30 s"}, {Name: loopRate, Unit: "1/s"}}}
	say := "waits in 30 s: "
	for _, v := range []variant{stock, ours} {
		for _, loop := range queryLoops {
			part.Sides = append(part.Sides, s.loopSide(v, loop, part.Turn))
			part.Measured = append(part.Measured, trial.Say(say+"%s: %s s", loop.on(v),
				trial.Spread{Of: trial.At(loop.on(v), waitTime), Format: "%.2f"}))
			say = ""
		}
	}
	rules := trial.Rules{}
	waits := func(loop queryLoop) trial.Ref { return trial.At(loop.on(stock), waitTime) }
	for _, loop := range queryLoops {
		rules.Requires = append(rules.Requires, trial.Criterion{Of: trial.Turns{Of: waits(loop)},
			Confirm: trial.AtLeast(c40Rounds), Unless: "too few turns"})
	}
	rules.Criteria = []trial.Criterion{
		{Of: trial.Gap{Of: waits(loopWithTable), Times: 1, To: waits(loopWithoutTable)}, Confirm: trial.Above(0),
			Refute: trial.AtMost(0)},
		{Of: trial.Ratio{Of: waits(loopWithIndex), To: waits(loopWithTable)}, Confirm: trial.Above(1),
			Refute: trial.Below(1)},
		{Of: trial.Gap{Of: waits(loopAlone), Times: c40NoLoad, To: waits(loopWithIndex)}, Confirm: trial.AtMost(0)},
	}
	return trial.Trial{
		Text: fmt.Sprintf("a query loop by %d clients without temp table, with one, with an index on it, and one by "+
			"one, on both flavours: waits inside the server", manyClients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules:    rules,
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("a loop with 50 rows by %d clients; one by one: a single client, %d "+
				"loops a "+
				"second", manyClients, c40Alone)},
			{Name: "counted", Text: fmt.Sprintf(
				"pg_stat_activity every %s: sessions that wait for a latch (LWLock but "+
					"the log's flush, and the extension of a relation); the watcher takes part in the load",
				c40Sample)},
		},
	}
}

func (s *site) loopSide(v variant, loop queryLoop, turn time.Duration) trial.Side {
	return trial.Side{Name: loop.on(v), Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		p, err := cycle(loop.workload, loop.clients, turn)
		p.rate = loop.rate
		return func(ctx context.Context, _ int) (trial.Figures, error) { return s.servers.waits(ctx, v, p) }, err
	}}
}

// waitsSQL counts the load's sessions that wait for a lock inside the server (LWLock): on a page, a partition of a
// shared table, WAL insertion. Waiting to extend a catalog is a heavyweight lock by class, but has the same nature.
const waitsSQL = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'
	AND (wait_event_type = 'LWLock' AND wait_event <> 'WALWrite' OR wait_event_type = 'Lock' AND wait_event = 'extend')`

// waits runs the load and samples it. It returns seconds of waiting, summed over all sessions, per the report's 30
// seconds.
func (e *engines) waits(ctx context.Context, v variant, p play) (trial.Figures, error) {
	var done played
	var sum, samples int
	err := e.on(ctx, v, func(watcher *pgx.Conn) error {
		ended := make(chan error, 1)
		go func() {
			var err error
			done, err = e.play(ctx, v, p)
			ended <- err
		}()
		for {
			select {
			case err := <-ended:
				return err
			case <-time.After(c40Sample):
			}
			var n int
			if err := watcher.QueryRow(ctx, waitsSQL).Scan(&n); err != nil {
				return errors.Join(err, <-ended)
			}
			sum, samples = sum+n, samples+1
		}
	})
	if err != nil || samples == 0 {
		return nil, err
	}
	return trial.Figures{waitTime: float64(sum) / float64(samples) * c40Against, loopRate: done.tps}, nil
}
