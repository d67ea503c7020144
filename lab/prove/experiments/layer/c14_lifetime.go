package layer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// Defaults of C14: the report's half hours are seconds here, its thousands of tables are hundreds per connection.
const (
	c14Lifetime    = 20 * time.Second // the random part is as long
	c14Rounds      = 4
	c14Connections = 32
	// c14PerSecond is temp tables per connection and second of lifetime: few enough to be made before it ends.
	c14PerSecond  = 5
	c14Every      = 16 * time.Millisecond  // pause of the others between two operations
	c14Use        = time.Second            // pause of a holder: an ended connection is opened again within it
	c14After      = 500 * time.Millisecond // beyond the last possible end
	c14EndsWithin = time.Minute
	c14Holder     = "plimsoll holder"
	// As many tables as the report's connections hold: fewer connections that live long enough to make them.
	c14FullTables      = 10_000
	c14FullConnections = 2
	c14FullLifetime    = 30 * time.Second
)

var c14Others = queryBatch{kinds: 1, tables: 3, rows: 10}

// c14Lifetimes of the sides. The first is the base.
func c14Lifetimes(b site.Bench) (names []string, lifetimes map[string]database.Lifetime) {
	d := c14Lives(b)
	return []string{c14Fixed, c14Jittered, c14InSteps}, map[string]database.Lifetime{
		c14Fixed:    {AtLeast: d, Jitter: database.Never, EvictStep: database.Never},
		c14Jittered: {AtLeast: d, Jitter: max(d, time.Second), EvictStep: database.Never},
		c14InSteps:  {AtLeast: d, Jitter: database.Never},
	}
}

// Sides of C14.
const (
	c14Fixed    = "fixed"
	c14Jittered = "jittered"
	c14InSteps  = "fixed, tables dropped in steps"
)

// Figures of C14: the judged one sums all that the others wait beyond an idle machine's time, in the square, since a
// spike hurts more than the same time in small parts.
const (
	worstTime  = "p99.9 of the worst second"
	excessTime = "excess latency"
)

// The report's lifetime and tables of a connection.
const (
	c14Reported       = 30 * time.Minute
	c14ReportedTables = 2000
)

func c14Window(b site.Bench) time.Duration { return 2*c14Lives(b) + c14After }

func c14Lives(b site.Bench) time.Duration {
	if b.Full {
		return b.Turn(c14FullLifetime)
	}
	return b.Turn(c14Lifetime)
}

// c14Holds says how many connections hold how many tables each.
func c14Holds(b site.Bench) (connections, tables int) {
	if b.Full {
		return c14FullConnections, c14FullTables
	}
	return c14Connections, max(1, int(c14PerSecond*c14Lives(b).Seconds()))
}

// connectionLifetime is the experiment behind C14.
func connectionLifetime(b site.Bench, s *site.Site) trial.Trial {
	connections, tables := c14Holds(b)
	part := trial.Part{Rounds: b.Rounds(c14Rounds), Turn: c14Window(b),
		Series: []trial.Series{{Name: excessTime, Unit: "ms"}, trial.BusySeries, {Name: worstTime, Unit: "ms"},
			{Name: site.P99Time, Unit: "ms"}, {Name: site.MedianTime, Unit: "ms"}}}
	at, all := flavours{}, []*holders{}
	names, lifetimes := c14Lifetimes(b)
	for _, v := range bothEngines {
		h := &holders{server: at.address(v), connections: connections, window: part.Turn}
		all = append(all, h)
		for _, name := range names {
			part.Sides = append(part.Sides, h.side(c14Side(v, name), lifetimes[name]))
		}
		part.Measured = append(part.Measured, lifetimeMeasured(v)...)
	}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		if err := at.open(s); err != nil {
			return err
		}
		for _, h := range all {
			h.structures = queryBatch{tables: tables}.structures(0)
			if err := h.openOthers(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
	t := trial.Trial{
		Text: fmt.Sprintf("%d connections with %s temp tables each reach the end of their lifetime, all at once or "+
			"spread over time, on both flavours: the latency of other sessions", connections,
			human.Thousands(tables)),
		Overhead: 10 * time.Second,
		Parts:    []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d connections with %d temp tables each (report: thousands), every "+
				"third one with an index; they live %s, or that plus a random time of up to as long (report: 30 min "+
				"plus up to 30 min)", connections, tables, human.Duration(c14Lives(b)))},
			{Name: "others", Text: fmt.Sprintf("%d clients repeat an operation on %d pooled temp tables and a pause "+
				"of %s; latency counts from when the operation was due. Judged is what it takes beyond the median of "+
				"a single client on the idle server right before the turn, as the root of the mean square of all "+
				"operations. Connections that have ended are opened again and get their tables again", site.Clients,
				c14Others.tables, c14Every)}},
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		return trial.Rules{Requires: []trial.Criterion{site.TurnsOf(c14Lives(b), c14Lifetime)},
			Direction: []trial.Criterion{trial.Smaller(c14Against(v, c14Jittered, excessTime))},
			Situation: append(site.WithRoom(trial.At(c14Side(v, c14Fixed), trial.Busy)),
				site.Lasting(c14Lives(b), c14Reported, "30 min, plus up to 30 min"),
				trial.Condition{Of: trial.Known{As: "temp tables of a connection", Value: float64(tables)},
					Report: "thousands", Met: trial.AtLeast(c14ReportedTables)},
				site.AtWork(site.Clients, "the other sessions of a working server"))}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

func c14Side(v site.Variant, lifetime string) string { return v.Name + ", " + lifetime }

func c14Against(v site.Variant, lifetime, series string) trial.Ratio {
	return trial.Ratio{Of: trial.At(c14Side(v, lifetime), series), To: trial.At(c14Side(v, c14Fixed), series)}
}

func lifetimeMeasured(v site.Variant) []trial.Phrase {
	worst := func(lifetime string) trial.Spread {
		return trial.Spread{Of: trial.At(c14Side(v, lifetime), worstTime), Format: "%.0f"}
	}
	return []trial.Phrase{
		trial.Say("%s: p99.9 of the others' worst second: %s ms with a fixed lifetime, %s ms with a random part (%s), "+
			"%s ms with tables dropped in steps before the end (%s)", v.Name, worst(c14Fixed), worst(c14Jittered),
			c14Against(v, c14Jittered, worstTime), worst(c14InSteps), c14Against(v, c14InSteps, worstTime)),
		trial.Say("excess latency %s ms with a fixed lifetime, with a random part %s, with tables dropped in steps %s",
			trial.Spread{Of: trial.At(c14Side(v, c14Fixed), excessTime), Format: "%.1f"},
			c14Against(v, c14Jittered, excessTime), c14Against(v, c14InSteps, excessTime)),
		trial.Say("p99 with a random part %s, with tables dropped in steps %s", c14Against(v, c14Jittered,
			site.P99Time), c14Against(v, c14InSteps, site.P99Time)),
	}
}

// holders are connections with many temp tables that end while others work.
type holders struct {
	server      *site.Address
	connections int
	structures  []temptable.Structure
	window      time.Duration
	others      *database.Database
	load        queryBatch // of the others
}

func (h *holders) openOthers(ctx context.Context, r *trial.Record) (err error) {
	if h.others, err = database.Open(ctx, h.server.DSN, database.Options{Connections: site.Clients}); err != nil {
		return err
	}
	r.Close(h.others.Close)
	h.load = c14Others.make()
	return h.load.warm(ctx, h.others, 0)
}

func (h *holders) side(name string, life database.Lifetime) trial.Side {
	return trial.Side{Name: name, Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, _ int) (trial.Figures, error) { return h.turn(ctx, life) }, nil
	}}
}

// turn opens connections, fills them with tables, and times the others until the connections have ended.
func (h *holders) turn(ctx context.Context, life database.Lifetime) (trial.Figures, error) {
	life.Check = 50 * time.Millisecond
	idle, err := c14Others.typical(ctx, h.server.DSN)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	holder, err := database.Open(ctx, h.server.DSN,
		database.Options{Connections: h.connections, Application: c14Holder, Lifetime: life,
			TempTables: temptable.Options{Max: len(h.structures)}})
	if err != nil {
		return nil, err
	}
	defer holder.Close()
	err = site.AllAtOnce(h.connections, func(int) error {
		return holder.Run(ctx, func(w *database.Work) error {
			_, err := w.Temp(ctx, h.structures...)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if took := time.Since(began); took >= life.AtLeast {
		return nil, fmt.Errorf("creating the temp tables took %s, longer than the connections live: use a longer "+
			"--duration", took.Round(time.Millisecond))
	}
	until := began.Add(h.window)
	refilled := make(chan error, 1)
	go func() { refilled <- h.refill(ctx, holder, until) }()
	times, bySecond, err := watch(ctx, h.others, h.load, until)
	if err = errors.Join(err, <-refilled); err != nil || len(times) == 0 {
		return nil, err
	}
	holder.Close()
	if err := ended(ctx, h.others); err != nil {
		return nil, err
	}
	return trial.Figures{excessTime: excess(times, idle), worstTime: bySecond, site.P99Time: site.Percentile(times,
		0.99),
		site.MedianTime: site.Percentile(times, 0.5)}, nil
}

// excess latency beyond an idle machine's, as the root of the mean square, in ms.
func excess(times []time.Duration, idle time.Duration) float64 {
	sum := 0.0
	for _, t := range times {
		beyond := max(0, t-idle).Seconds() * 1000
		sum += beyond * beyond
	}
	return math.Sqrt(sum / float64(len(times)))
}

// refill uses every connection again and again, as a load does: those that have ended are opened and filled again.
func (h *holders) refill(ctx context.Context, holder *database.Database, until time.Time) error {
	return site.AllAtOnce(h.connections, func(int) error {
		for time.Now().Before(until) && ctx.Err() == nil {
			if err := holder.Run(ctx, func(w *database.Work) error {
				_, err := w.Temp(ctx, h.structures...)
				return err
			}); err != nil {
				return err
			}
			time.Sleep(c14Use)
		}
		return nil
	})
}

// watch lets each client do an operation, pause, and repeat: a closed loop, because a queue that grows on a slow
// machine would look like a stall. Latency counts from when the operation was due. It returns all latencies, sorted,
// and the greatest p99.9 of a second.
func watch(ctx context.Context, db *database.Database, load queryBatch, until time.Time) (all []time.Duration,
	worst float64, err error) {
	var mu sync.Mutex
	began, seconds := time.Now(), map[int][]time.Duration{}
	err = site.AllAtOnce(site.Clients, func(int) error {
		for due := time.Now(); due.Before(until); due = time.Now().Add(c14Every) {
			time.Sleep(time.Until(due))
			if err := load.do(ctx, db, 0); err != nil {
				return err
			}
			mu.Lock()
			second := int(due.Sub(began).Seconds())
			seconds[second] = append(seconds[second], time.Since(due))
			mu.Unlock()
		}
		return nil
	})
	for _, times := range seconds {
		slices.Sort(times)
		worst = max(worst, site.Percentile(times, 0.999))
		all = append(all, times...)
	}
	slices.Sort(all)
	return all, worst, err
}

// ended waits until the holder's backends are gone, with their tables.
func ended(ctx context.Context, db *database.Database) error {
	const left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1"
	for deadline := time.Now().Add(c14EndsWithin); ; time.Sleep(10 * time.Millisecond) {
		var n int
		err := db.Borrow(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, left, c14Holder).Scan(&n) })
		switch {
		case err != nil || n == 0:
			return err
		case time.Now().After(deadline):
			return errors.New("connections did not end after their lifetime")
		}
	}
}
