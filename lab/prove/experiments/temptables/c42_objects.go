package temptables

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C42.
const (
	c42Turn   = 10 * time.Second
	c42Rounds = 4
	// c42Hot is the share of the rows written to catalogs, in percent, that those of columns and relations have if they
	// are the hot ones.
	c42Hot = 50
)

// Figures of C42, besides the waits.
const (
	catalogRows = "catalog rows written"
	hotShare    = "share of columns and relations"
	tempShare   = "share of waits in statements on temp tables"
)

// drilledWaits is the experiment behind C42: classes of waits, the catalogs under them, the statements.
func drilledWaits(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c42Rounds), Turn: b.Turn(c42Turn), Series: []trial.Series{
		{Name: waitTime, Unit: "s in 30 s"}, {Name: catalogRows, Unit: "per loop"}, {Name: hotShare, Unit: "%"},
		{Name: tempShare, Unit: "%"}, trial.BusySeries}}
	capacity := capacities{}
	part.Open = func(ctx context.Context, r *trial.Record) error { return capacity.measure(ctx, s, r) }
	stories := map[string]string{}
	for _, v := range []site.Variant{site.Stock, site.Ours} {
		part.Sides = append(part.Sides, trial.Side{Name: v.Name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				p, err := cycle(loopWithIndex.workload, loopWithIndex.clients, part.Turn)
				p.rate = max(1, int(c40Share*float64(capacity[v.Name])))
				return func(ctx context.Context, _ int) (f trial.Figures, err error) {
					f, stories[v.Name], err = countWaits(ctx, s.Servers, v, p)
					return f, err
				}, err
			}})
		part.Measured = append(part.Measured, trial.Say("%s: %s s of waits in 30 s, %s catalog rows written per "+
			"loop, %s %% of them in pg_attribute, pg_class, pg_type and pg_depend; %s %% of the waits in statements "+
			"that make, index or drop a temp "+
			"table%s", v.Name, trial.Spread{Of: trial.At(v.Name, waitTime), Format: "%.2f"},
			trial.Spread{Of: trial.At(v.Name, catalogRows), Format: "%.1f"},
			trial.Spread{Of: trial.At(v.Name, hotShare), Format: "%.0f"},
			trial.Spread{Of: trial.At(v.Name, tempShare), Format: "%.0f"},
			trial.Words(func(*trial.Measurements) string { return stories[v.Name] })))
	}
	t := trial.Trial{
		Text: fmt.Sprintf("a query loop with an indexed temp table by %d clients, on both flavours: classes of waits, "+
			"catalogs, statements", c40Clients),
		Overhead: 30 * time.Second, Parts: []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "classes", Text: fmt.Sprintf("wait_event in pg_stat_activity, sampled every %s", latchLook)},
			{Name: "objects", Text: "rows written to each catalog, by pg_stat_all_tables, since the server does not " +
				"show which page a session waits for. The report's columns are pg_attribute here, its rowsets " +
				"pg_class and pg_type, its allocation pg_depend"},
			{Name: "statements", Text: "those of the waiting sessions, by their first two words"},
		},
	}
	t.ByEngine(func(engine string) trial.Rules {
		return trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, c42Turn)}, Direction: []trial.Criterion{
			{Of: trial.Every{Of: trial.At(engine, hotShare), Unit: "%"}, Confirm: trial.AtLeast(c42Hot),
				Refute: trial.Below(c42Hot)},
			{Of: trial.Every{Of: trial.At(engine, tempShare), Unit: "%"}, Confirm: trial.AtLeast(c42Hot),
				Refute: trial.Below(c42Hot)},
		}, Situation: append(site.WithRoom(trial.At(engine, trial.Busy)),
			trial.Absent("objects told by the waits for them", "pages of system tables", "by the rows written to "+
				"catalogs: the server does not show which page a session waits for"))}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

const (
	catalogsSQL = `SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_sys_tables
		WHERE schemaname = 'pg_catalog'`
	drillSQL = `SELECT coalesce(wait_event, ''), split_part(query, ' ', 1) || ' ' || split_part(query, ' ', 2)
		FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state = 'active'
		AND (wait_event_type = 'LWLock' AND wait_event <> 'WALWrite'
		OR wait_event_type = 'Lock' AND wait_event = 'extend')`
)

// hotCatalogs stand for what the report's server allocates: columns, rowsets, allocation.
var hotCatalogs = map[string]bool{"pg_attribute": true, "pg_class": true, "pg_type": true, "pg_depend": true}

// countWaits plays a load and counts where it waits.
func countWaits(ctx context.Context, e *site.Engines, v site.Variant, p play) (f trial.Figures, story string,
	err error) {
	classes, statements, before, after := map[string]int{}, map[string]int{}, map[string]int64{}, map[string]int64{}
	var done played
	looks, waits := 0, 0
	err = e.On(ctx, v, func(watcher *pgx.Conn) error {
		if err := readCatalogs(ctx, watcher, before); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() {
			var err error
			done, err = pgbench(ctx, e, v, p)
			ended <- err
		}()
		for {
			select {
			case err := <-ended:
				if err != nil {
					return err
				}
				if err := waitForBackends(ctx, watcher); err != nil { // backends report at their end
					return err
				}
				return readCatalogs(ctx, watcher, after)
			case <-time.After(latchLook):
			}
			rows, err := watcher.Query(ctx, drillSQL)
			if err != nil {
				return err
			}
			var class, statement string
			looks++
			if _, err := pgx.ForEachRow(rows, []any{&class, &statement}, func() error {
				waits++
				classes[class]++
				statements[statement]++
				return nil
			}); err != nil {
				return err
			}
		}
	})
	if err != nil || looks == 0 {
		return nil, "", err
	}
	var all, hot int64
	written := map[string]int{}
	for name, n := range after {
		n -= before[name]
		all += n
		written[name] = int(n)
		if hotCatalogs[name] {
			hot += n
		}
	}
	on := statements["CREATE TEMP"] + statements["CREATE INDEX"] + statements["DROP TABLE"]
	f = trial.Figures{waitTime: float64(waits) / float64(looks) * c40Against,
		catalogRows: float64(all) / max(1, done.tps*p.lasts.Seconds()),
		hotShare:    100 * float64(hot) / float64(max(1, all)), tempShare: 100 * float64(on) / float64(max(1, waits))}
	return f, "; most of all " + strings.Join([]string{top(classes), top(written), top(statements)}, ", "), nil
}

func readCatalogs(ctx context.Context, conn *pgx.Conn, into map[string]int64) error {
	if _, err := conn.Exec(ctx, "SELECT pg_stat_clear_snapshot()"); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, catalogsSQL)
	if err != nil {
		return err
	}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { into[name] = n; return nil })
	return err
}

// waitForBackends waits until the load's backends have ended.
func waitForBackends(ctx context.Context, conn *pgx.Conn) error {
	for left := 1; left > 0; {
		const look = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'"
		if err := conn.QueryRow(ctx, look).Scan(&left); err != nil {
			return err
		}
		time.Sleep(latchLook)
	}
	return nil
}

// top is the name with the most, and its share.
func top(counts map[string]int) string {
	best, sum := "", 0
	for name, n := range counts {
		sum += n
		if n > counts[best] || n == counts[best] && name < best {
			best = name
		}
	}
	if counts[best] == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s (%.0f %%)", best, 100*float64(counts[best])/float64(sum))
}
