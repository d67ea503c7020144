package temptables

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/ground/host/cpu"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C41 and C44: the report's sessions and tables; fewer tables without --full.
const (
	c41Sessions = 12
	c41Full     = 10_000
	c41Tables   = 1000
	c41Rounds   = 4
	c41Claimed  = 3.0
	c41Worst    = 10 * time.Second // of C40's worst loop, for comparison
	c41Within   = 10 * time.Minute
	c41Window   = 3 * time.Second // watched at least, from the end of the sessions on
	c41Settled  = time.Second     // for which the others work before that
	// What counts as almost the same processor load.
	c41Less, c41More = 0.8, 1.25
	peakOver         = time.Second
)

// Sessions that end drop all their tables in one transaction, with a lock on each.
var c41Settings = []profile.Setting{{Name: "max_locks_per_transaction", Value: "4096"}}

// Figures of C41 and C44.
const (
	peakWaits  = "peak of waits"
	makingTime = "making"
	endTime    = "end"
	endCPU     = "processors"
	endBusy    = "processors busy at the end"
)

var endingSeries = []trial.Series{{Name: peakWaits, Unit: "sessions"}, {Name: waitTime, Unit: "s in 30 s"},
	{Name: loopRate, Unit: "1/s"}, {Name: makingTime, Unit: "s"}, {Name: endTime, Unit: "s"},
	{Name: endCPU, Unit: "s"}, {Name: endBusy, Unit: "%"}}

func tablesOfSessions(b site.Bench) int {
	if b.Full {
		return c41Full
	}
	return c41Tables
}

func endingSide(v site.Variant, tables int) string {
	if tables == 0 {
		return v.Name + ", sessions without temp tables end"
	}
	return v.Name + ", sessions with temp tables end"
}

// endingPart has sessions with and without temp tables end together, and C40's worst loop.
func endingPart(b site.Bench, s *site.Site) trial.Part {
	part := trial.Part{Rounds: b.Rounds(c41Rounds), Turn: c41Worst, Series: endingSeries}
	if b.Full {
		part.Between = time.Minute // roughly, to make the tables
	}
	capacity := capacities{}
	part.Open = func(ctx context.Context, r *trial.Record) error { return capacity.measure(ctx, s, r) }
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		part.Sides = append(part.Sides, loopSide(s, v, loopWithIndex, c41Worst, capacity))
		for _, tables := range []int{tablesOfSessions(b), 0} {
			part.Sides = append(part.Sides, trial.Side{Name: endingSide(v, tables),
				Open: func(context.Context, *trial.Record) (trial.Turn, error) {
					others, err := cycle(loopWithIndex.workload, c40Clients, c41Within)
					others.rate = max(1, int(c40Share*float64(capacity[v.Name])))
					return func(ctx context.Context, _ int) (trial.Figures, error) {
						return endTogether(ctx, s.Servers, v, c41Sessions, tables, others)
					}, err
				}})
		}
		peak := func(side string) trial.Spread { return trial.Spread{Of: trial.At(side, peakWaits), Format: "%.2f"} }
		part.Measured = append(part.Measured, trial.Say("%s: at most %s sessions wait (average of a second) when %d "+
			"sessions with %s temp tables each end beside others at work, which takes %s s; the processors are then "+
			"busy "+
			"%s %%; %s without temp tables, busy %s %%; %s in C40's worst loop, which the others repeat", v.Name,
			peak(endingSide(v, 1)), c41Sessions,
			human.Thousands(tablesOfSessions(b)),
			trial.Median{Of: trial.At(endingSide(v, 1), endTime), Format: "%.2f"},
			trial.Median{Of: trial.At(endingSide(v, 1), endBusy), Format: "%.0f"}, peak(endingSide(v, 0)),
			trial.Median{Of: trial.At(endingSide(v, 0), endBusy), Format: "%.0f"}, peak(loopWithIndex.on(v))))
	}
	return part
}

// endingSituation is that of the report: its tables, and others at work while the sessions end.
func endingSituation(b site.Bench, more ...trial.Condition) []trial.Condition {
	return append([]trial.Condition{
		{Of: trial.Known{As: "temp tables of a session", Value: float64(tablesOfSessions(b))},
			Report: "about 10,000", Met: trial.AtLeast(c41Full)},
		{Of: trial.Known{As: "others at work", Value: c40Clients}, Report: "the threads of C40",
			Met: trial.AtLeast(site.SessionsLeast)},
	}, more...)
}

func endingConditions(b site.Bench) []claims.Condition {
	return []claims.Condition{
		{Name: "load", Text: fmt.Sprintf("%d sessions with %s temp tables each are terminated together; a table has "+
			"two columns, a primary key and a row", c41Sessions, human.Thousands(tablesOfSessions(b)))},
		{Name: "counted", Text: fmt.Sprintf("pg_stat_activity, sampled every %s: sessions that wait for a latch, as "+
			"in C40; the peak is the highest average over %s", latchLook, human.Duration(peakOver))},
		{Name: "the worst of C40", Text: fmt.Sprintf("its loop with an indexed temp table by %d clients at %.0f %% of "+
			"the engine's capacity for %s, as a side of this experiment; the same clients are at work while the "+
			"sessions end, and for %s afterwards", c40Clients, 100*c40Share, human.Duration(c41Worst),
			human.Duration(c41Window))},
	}
}

// endingSession is the experiment behind C41, with a verdict for each engine.
func endingSession(b site.Bench, s *site.Site) trial.Trial {
	t := trial.Trial{
		Text: fmt.Sprintf("%d sessions with %s temp tables each end together, beside others at work, on both "+
			"flavours: the peak "+
			"of waits against that of C40's worst loop", c41Sessions, human.Thousands(tablesOfSessions(b))),
		Overhead: 30 * time.Second, Parts: []trial.Part{endingPart(b, s)}, Conditions: endingConditions(b),
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		return trial.Rules{Situation: endingSituation(b), Direction: []trial.Criterion{
			{Of: trial.Gap{Of: trial.At(endingSide(v, 1), peakWaits), Times: c41Claimed,
				To: trial.At(loopWithIndex.on(v), peakWaits)}, Confirm: trial.Above(0), Refute: trial.AtMost(0)}}}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// endingControl is the experiment behind C44: the same without temp tables.
func endingControl(b site.Bench, s *site.Site) trial.Trial {
	t := trial.Trial{
		Text: fmt.Sprintf("%d sessions with %s temp tables each end together, and as many without, beside others at "+
			"work, "+
			"on both flavours",
			c41Sessions, human.Thousands(tablesOfSessions(b))),
		Overhead: 30 * time.Second, Parts: []trial.Part{endingPart(b, s)},
		Conditions: append(endingConditions(b), claims.Condition{Name: "no waits", Text: fmt.Sprintf(
			"at most %.0f %% of the waits with temp tables", 100*c40NoLoad)}),
	}
	t.ByEngine(func(engine string) trial.Rules {
		tables, none := endingSide(site.Flavour(engine), 1), endingSide(site.Flavour(engine), 0)
		return trial.Rules{Requires: []trial.Criterion{{
			Of: trial.Every{Of: trial.At(tables, peakWaits)}, Confirm: trial.Above(0),
			Unless: "there are no waits with temp tables either"}},
			Direction: []trial.Criterion{{Of: trial.Gap{Of: trial.At(none, peakWaits), Times: c40NoLoad,
				To: trial.At(tables, peakWaits)}, Confirm: trial.AtMost(0), Refute: trial.Above(0)}},
			Situation: endingSituation(b, trial.Condition{Of: trial.Ratio{Of: trial.At(none, endBusy),
				To: trial.At(tables, endBusy), As: "processor load without temp tables against that with them"},
				Report: "almost the same", Met: trial.Within(c41Less, c41More)})}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// atWork plays a load until it is stopped.
func atWork(ctx context.Context, e *site.Engines, v site.Variant, load play) (stop func() error) {
	working, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := pgbench(working, e, v, load)
		ended <- err
	}()
	return func() error {
		select {
		case err := <-ended: // by itself
			cancel()
			return err
		default:
		}
		cancel()
		<-ended // cut off
		return ctx.Err()
	}
}

// endTogether makes sessions with temp tables, terminates them at once beside others at work, and watches until all are
// gone.
func endTogether(ctx context.Context, e *site.Engines, v site.Variant, sessions, tables int,
	others play) (f trial.Figures, err error) {
	holders := make([]*pgx.Conn, sessions)
	defer func() {
		for _, c := range holders {
			if c != nil {
				_ = c.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	for i := range holders {
		if holders[i], err = e.Connect(ctx, v); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	if tables > 0 {
		sql, err := bench.LiveTables(tables)
		if err != nil {
			return nil, err
		}
		if err := site.AllAtOnce(sessions, func(i int) error {
			_, err := holders[i].Exec(ctx, sql)
			return err
		}); err != nil {
			return nil, fmt.Errorf("create %d temp tables: %w", tables, err)
		}
	}
	f = trial.Figures{makingTime: time.Since(began).Seconds()}
	pids := make([]uint32, sessions)
	for i, c := range holders {
		pids[i] = c.PgConn().PID()
	}
	stop := atWork(ctx, e, v, others)
	time.Sleep(c41Settled)
	before, err := cpu.ReadSystem()
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	began = time.Now()
	var took time.Duration
	seen, err := watched(ctx, e, v, func() (err error) {
		took, err = terminate(ctx, e, v, pids)
		time.Sleep(time.Until(began.Add(c41Window)))
		return err
	})
	window := time.Since(began).Seconds()
	after, cpuErr := cpu.ReadSystem()
	if err := errors.Join(err, cpuErr, stop()); err != nil {
		return nil, err
	}
	f[endTime], f[endCPU] = took.Seconds(), (after.Busy - before.Busy).Seconds()
	f[endBusy] = 100 * f[endCPU] / window / float64(runtime.NumCPU())
	f[peakWaits], f[waitTime] = seen.peak(peakOver), seen.average()*c40Against
	return f, err
}

// terminate sessions and wait until their backends are gone, with their tables.
func terminate(ctx context.Context, e *site.Engines, v site.Variant, pids []uint32) (took time.Duration, err error) {
	err = e.On(ctx, v, func(conn *pgx.Conn) error {
		began := time.Now()
		if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid::int) FROM unnest($1::bigint[]) pid",
			toInt64s(pids)); err != nil {
			return err
		}
		for left := 1; left > 0; {
			time.Sleep(latchLook)
			if err := conn.QueryRow(ctx, "SELECT count(*) FROM unnest($1::bigint[]) pid "+
				"WHERE EXISTS (SELECT FROM pg_stat_get_activity(pid::int))", toInt64s(pids)).Scan(&left); err != nil {
				return err
			}
			if took = time.Since(began); took > c41Within {
				return errors.New("the sessions did not end")
			}
		}
		return nil
	})
	return took, err
}

func toInt64s(pids []uint32) (all []int64) {
	for _, pid := range pids {
		all = append(all, int64(pid))
	}
	return all
}
