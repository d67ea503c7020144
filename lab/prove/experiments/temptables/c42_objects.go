package temptables

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C42.
const (
	c42Turn   = 15 * time.Second
	c42Rounds = 4
	// c42Hot is the share, in percent, that what is hot has of the waits at least.
	c42Hot = 50
	// pageLook is how often the pages are looked at that sessions wait for: the look reads all of the buffers.
	pageLook = 50 * time.Millisecond
)

// c42Settings keep a look at the buffers short.
var c42Settings = []profile.Setting{{Name: "shared_buffers", Value: "64MB"}}

// Figures of C42, besides the waits.
const (
	catalogRows = "catalog rows written"
	pageWaits   = "waits for pages located"
	hotShare    = "share of columns and relations"
	tempShare   = "share of waits in statements on temp tables"
)

// drilledWaits is the experiment behind C42: classes of waits, the pages under them, the statements.
func drilledWaits(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c42Rounds), Turn: b.Turn(c42Turn), Series: []trial.Series{
		{Name: waitTime, Unit: "s in 30 s"}, {Name: waitEach, Unit: "ms"}, {Name: catalogRows, Unit: "per loop"},
		{Name: pageWaits, Unit: "a turn"}, {Name: hotShare, Unit: "%"}, {Name: tempShare, Unit: "%"},
		trial.BusySeries}}
	capacity := capacities{}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		if err := s.Servers.OnBoth(ctx, "CREATE EXTENSION IF NOT EXISTS pg_buffercache"); err != nil {
			return problem.New(problem.Environment, err, "install contrib's pg_buffercache: without it no wait is "+
				"located")
		}
		return capacity.measure(ctx, s, r)
	}
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
		spread := func(series, format string) trial.Spread {
			return trial.Spread{Of: trial.At(v.Name, series), Format: format}
		}
		part.Measured = append(part.Measured, trial.Say("%s: %s s of waits in 30 s, %s ms a loop; of %s waits for "+
			"pages that were located %s %% are in pg_attribute, pg_class, pg_type and pg_depend, to which go most of "+
			"%s catalog rows written per loop; %s %% of the waits are in statements that make, index or drop a temp "+
			"table%s", v.Name, spread(waitTime, "%.2f"), spread(waitEach, "%.3f"), spread(pageWaits, "%.0f"),
			spread(hotShare, "%.0f"), spread(catalogRows, "%.1f"), spread(tempShare, "%.0f"),
			trial.Words(func(*trial.Measurements) string { return stories[v.Name] })))
	}
	t := trial.Trial{
		Text: fmt.Sprintf("a query loop with an indexed temp table by %d clients, on both flavours: classes of waits, "+
			"the catalogs whose pages they wait for, statements", c40Clients),
		Overhead: 30 * time.Second, Parts: []trial.Part{part},
		Conditions: []claims.Condition{
			{Name: "rate", Text: fmt.Sprintf("%.0f %% of what the engine does without a pause", 100*c40Share)},
			{Name: "classes", Text: fmt.Sprintf("wait_event in pg_stat_activity, sampled every %s", latchLook)},
			{Name: "objects", Text: fmt.Sprintf("of waits for the content of a page: the pages that several sessions "+
				"have pinned meanwhile, by pg_buffercache every %s, since a session pins the page that it waits for; "+
				"of waits to extend a relation: those of pg_locks. The report's columns are pg_attribute here, its "+
				"rowsets pg_class and pg_type, its allocation pg_depend", pageLook)},
			{Name: "statements", Text: "those of the waiting sessions, by their first two words"},
		},
	}
	t.ByEngine(func(engine string) trial.Rules {
		share := func(series string) trial.Criterion {
			return trial.Criterion{Of: trial.Every{Of: trial.At(engine, series), Unit: "%"},
				Confirm: trial.AtLeast(c42Hot), Refute: trial.Below(c42Hot)}
		}
		return trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, c42Turn)},
			Direction: []trial.Criterion{share(hotShare), share(tempShare)},
			Situation: append(site.WithRoom(trial.At(engine, trial.Busy)),
				site.AtWork(c40Clients, "N parallel threads"))}
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
	waitsForPage = `wait_event = 'BufferContent'`
	// pagesSQL counts who waits at a page, by the table that it or its index is of: whoever has it pinned beside the
	// one that works on it, while somebody waits for the content of a page; and who waits to extend a relation.
	pagesSQL = `WITH waiting AS (SELECT count(*) AS n FROM pg_stat_activity WHERE ` + waitsForPage + `),
		pages AS (SELECT relfilenode, sum(pinning_backends - 1) AS n FROM pg_buffercache, waiting
			WHERE waiting.n > 0 AND pinning_backends > 1 AND reldatabase IN (0, (SELECT oid FROM pg_database
			WHERE datname = current_database())) GROUP BY relfilenode),
		extended AS (SELECT relation, count(*) AS n FROM pg_locks WHERE locktype = 'extend' AND NOT granted
			GROUP BY relation)
	SELECT coalesce(t.relname, c.relname)::text, sum(w.n)::bigint FROM pg_class c
	LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
	JOIN (SELECT c.oid, p.n FROM pages p JOIN pg_class c ON pg_relation_filenode(c.oid) = p.relfilenode
		UNION ALL SELECT relation, n FROM extended) w ON w.oid = c.oid
	GROUP BY 1`
)

// hotCatalogs stand for what the report's server allocates: columns, rowsets, allocation.
var hotCatalogs = map[string]bool{"pg_attribute": true, "pg_class": true, "pg_type": true, "pg_depend": true}

// drilled are the waits of a load, by what they are, where, and in which statements.
type drilled struct {
	looks, waits               int
	classes, statements, pages map[string]int
	before, after              map[string]int64 // rows written to each catalog
}

// countWaits plays a load and counts where it waits.
func countWaits(ctx context.Context, e *site.Engines, v site.Variant, p play) (f trial.Figures, story string,
	err error) {
	d := drilled{classes: map[string]int{}, statements: map[string]int{}, pages: map[string]int{},
		before: map[string]int64{}, after: map[string]int64{}}
	var done played
	err = e.On(ctx, v, func(watcher *pgx.Conn) error {
		return e.On(ctx, v, func(other *pgx.Conn) error {
			if err := readCatalogs(ctx, watcher, d.before); err != nil {
				return err
			}
			over, looking := context.WithCancel(ctx)
			located := make(chan error, 1)
			go func() { located <- d.locate(over, other) }()
			ended := make(chan error, 1)
			go func() {
				var err error
				done, err = pgbench(ctx, e, v, p)
				ended <- err
			}()
			err := d.look(ctx, watcher, ended)
			looking()
			if err := errors.Join(err, <-located); err != nil {
				return err
			}
			if err := waitForBackends(ctx, watcher); err != nil { // backends report at their end
				return err
			}
			return readCatalogs(ctx, watcher, d.after)
		})
	})
	if err != nil || d.looks == 0 {
		return nil, "", err
	}
	f, story = d.figures(done, p)
	return f, story, nil
}

// look who waits for what in which statement, until ended has something; that is returned.
func (d *drilled) look(ctx context.Context, watcher *pgx.Conn, ended <-chan error) error {
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(latchLook):
		}
		rows, err := watcher.Query(ctx, drillSQL)
		if err != nil {
			return errors.Join(err, <-ended)
		}
		var class, statement string
		d.looks++
		if _, err := pgx.ForEachRow(rows, []any{&class, &statement}, func() error {
			d.waits++
			d.classes[class]++
			d.statements[statement]++
			return nil
		}); err != nil {
			return errors.Join(err, <-ended)
		}
	}
}

// locate the pages that sessions wait for, until the context is over.
func (d *drilled) locate(over context.Context, conn *pgx.Conn) error {
	for {
		select {
		case <-over.Done():
			return nil
		case <-time.After(pageLook):
		}
		if err := d.locateOnce(context.WithoutCancel(over), conn, pagesSQL); err != nil {
			return err
		}
	}
}

func (d *drilled) locateOnce(ctx context.Context, conn *pgx.Conn, sql string) error {
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { d.pages[name] += int(n); return nil })
	return err
}

// figures of a load. Where nothing waits there are no shares of it.
func (d *drilled) figures(done played, p play) (trial.Figures, string) {
	var all int64
	written := map[string]int{}
	for name, n := range d.after {
		n -= d.before[name]
		all += n
		written[name] = int(n)
	}
	average := float64(d.waits) / float64(d.looks)
	f := trial.Figures{waitTime: average * c40Against, waitEach: 1000 * average / done.tps,
		catalogRows: float64(all) / max(1, done.tps*p.lasts.Seconds()), pageWaits: 0}
	hot := 0
	for name, n := range d.pages {
		f[pageWaits] += float64(n)
		if hotCatalogs[name] {
			hot += n
		}
	}
	if f[pageWaits] > 0 {
		f[hotShare] = 100 * float64(hot) / f[pageWaits]
	}
	if d.waits > 0 {
		on := d.statements["CREATE TEMP"] + d.statements["CREATE INDEX"] + d.statements["DROP TABLE"]
		f[tempShare] = 100 * float64(on) / float64(d.waits)
	}
	return f, "; most of all " + strings.Join([]string{top(d.classes), top(d.pages), top(written), top(d.statements)},
		", ")
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
