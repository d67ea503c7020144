package confusion

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/postgres"
	"plimsoll/lab/load/script"
	"plimsoll/lab/prove/burner"
	"plimsoll/lab/prove/confusion/incident"
)

// episode is one trial of incidents: a copy of the shop under names of its own, its users, and what is planted.
type episode struct {
	*theatre
	names    *incident.Names
	load     *incident.Played
	faults   []*incident.Played
	job      job
	password string

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	pooled  func(user string) string // DSN through the pooler; nil: there is none
	meters  map[string]*meter        // by application
	players map[string]context.CancelFunc
	undo    []func(ctx context.Context) error
}

// open the copy and its roles. What was opened is closed by end, also after an error.
func (t *theatre) open(ctx context.Context, j job) (e *episode, err error) {
	names := incident.Draw
	if j.plain {
		names = incident.Plain
	}
	e = &episode{theatre: t, names: names(j.seed), job: j, password: rand.Text(), meters: map[string]*meter{},
		players: map[string]context.CancelFunc{}}
	e.ctx, e.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, e.end())
		}
	}()
	if e.load, err = j.load.Play(e.names); err != nil {
		return e, err
	}
	for _, f := range j.faults {
		p, err := f.Play(e.names)
		if err != nil {
			return e, err
		}
		e.faults = append(e.faults, p)
	}
	if err := e.copyShop(ctx); err != nil {
		return e, err
	}
	if j.needsStandby() {
		if err := t.follow(ctx); err != nil {
			return e, err
		}
		if err := t.caughtUp(ctx); err != nil {
			return e, err
		}
	}
	if j.conditions.Pooler {
		var end func() error
		if e.pooled, end, err = t.pool(ctx, e.names.Database, e.password, e.users()); err != nil {
			return e, err
		}
		e.undone(func(context.Context) error { return end() })
	}
	return e, nil
}

// roles of the faults.
func (e *episode) roles() (all []string) {
	for _, f := range e.faults {
		all = append(all, f.Role)
	}
	return all
}

func (e *episode) users() []string { return append(e.roles(), e.names.User, e.names.Watch) }

func (e *episode) undone(how func(ctx context.Context) error) { e.undo = append(e.undo, how) }

// copyShop under the names of the trial.
func (e *episode) copyShop(ctx context.Context) error {
	n := e.names
	for _, role := range e.users() {
		if err := postgres.Execute(ctx, e.owner(""), fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role,
			e.password)); err != nil {
			return err
		}
		e.undone(func(ctx context.Context) error { return postgres.Execute(ctx, e.owner(""), "DROP ROLE "+role) })
	}
	if err := postgres.Execute(ctx, e.owner(""), "GRANT pg_monitor TO "+n.Watch,
		"CREATE DATABASE "+n.Database+" TEMPLATE "+shop+" STRATEGY file_copy"); err != nil {
		return err
	}
	e.undone(func(ctx context.Context) error {
		return postgres.Execute(ctx, e.owner(""), "DROP DATABASE "+n.Database+" WITH (FORCE)")
	})
	all := strings.Join(append(e.roles(), n.User), ", ")
	statements := append(n.Renames(), "GRANT ALL ON SCHEMA "+n.Schema+" TO "+all,
		"GRANT ALL ON ALL TABLES IN SCHEMA "+n.Schema+" TO "+all,
		"GRANT ALL ON ALL SEQUENCES IN SCHEMA "+n.Schema+" TO "+all,
		"ALTER DEFAULT PRIVILEGES IN SCHEMA "+n.Schema+" GRANT ALL ON TABLES TO "+all,
		"ALTER DEFAULT PRIVILEGES IN SCHEMA "+n.Schema+" GRANT ALL ON SEQUENCES TO "+all)
	if e.job.conditions.Statements {
		statements = append(statements, "CREATE EXTENSION pg_stat_statements")
	}
	if err := postgres.Execute(ctx, e.owner(n.Database), strings.Join(statements, "; ")); err != nil {
		return err
	}
	for _, f := range e.faults {
		if err := e.execute(ctx, f.Before); err != nil {
			return fmt.Errorf("%s: before: %w", f.Name, err)
		}
	}
	return postgres.Execute(ctx, e.owner(n.Database), "VACUUM ANALYZE")
}

// execute SQL of the owner, statement by statement.
func (e *episode) execute(ctx context.Context, sql string) error {
	return e.executeIn(ctx, e.names.Database, sql)
}

func (e *episode) executeIn(ctx context.Context, database, sql string) error {
	if strings.TrimSpace(sql) == "" {
		return nil
	}
	parsed, err := script.Parse(sql)
	if err != nil {
		return err
	}
	return postgres.With(ctx, e.owner(database), func(conn *pgx.Conn) error {
		return parsed.Run(ctx, conn.PgConn(), script.Simple, &script.Environment{
			Variables: map[string]script.Value{}})
	})
}

// as is the DSN of a user's direct connection.
func (e *episode) as(user string, standby bool) string {
	c := e.cluster
	if standby {
		c = e.standby
	}
	return e.login(user, c.DSN(e.names.Database).Secret())
}

// login of a user to the database of a DSN.
func (e *episode) login(user, dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "" // the cluster wrote it
	}
	u.User = url.UserPassword(user, e.password)
	return u.String()
}

// address where an application's user works.
func (e *episode) address(w incident.Work) string {
	user := map[string]string{"role": w.Role, "user": e.names.User, watcher: e.names.Watch}[w.As]
	switch {
	case w.As == owner && w.Standby:
		return e.standby.DSN(e.names.Database).Secret()
	case w.As == owner:
		return e.owner(e.names.Database)
	case e.job.conditions.Standby && !w.Writes():
		return e.as(user, true)
	case e.pooled != nil:
		return e.pooled(user)
	}
	return e.as(user, false)
}

// start an application, in place of one of its name.
func (e *episode) start(w incident.Work) *player {
	if stop := e.players[w.App]; stop != nil {
		stop()
	}
	p := &player{Work: w, meter: &meter{since: map[int]time.Time{}}, connect: connector(e.address(w), w.App),
		mode: w.Mode, seed: e.job.seed, once: make(chan struct{})}
	e.meters[w.App] = p.meter
	if e.pooled != nil && p.mode == script.Prepared && w.As != owner {
		p.mode = script.Extended // a pool of transactions forgets what was prepared
	}
	ctx, cancel := context.WithCancel(e.ctx)
	e.players[w.App] = cancel
	p.play(ctx, &e.running)
	return p
}

// plant all faults: who holds something comes first.
func (e *episode) plant(ctx context.Context) error {
	for _, f := range e.faults {
		for _, hold := range f.Hold {
			p := e.start(hold)
			select {
			case <-p.once:
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := p.meter.err; err != nil {
				return fmt.Errorf("%s: hold: %w", f.Name, err)
			}
		}
		if err := e.execute(ctx, f.Plant); err != nil {
			return fmt.Errorf("%s: plant: %w", f.Name, err)
		}
		if f.Remove != "" {
			e.undone(func(ctx context.Context) error { return e.execute(ctx, f.Remove) })
		}
		if err := e.setServer(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, bad := range f.Bad {
			e.start(bad)
		}
	}
	return e.restartRoles(ctx)
}

// setServer to what a fault asks for.
func (e *episode) setServer(ctx context.Context, f *incident.Played) error {
	if len(f.Server) == 0 {
		return nil
	}
	set, reset := []string{}, []string{}
	for _, s := range f.Server {
		set = append(set, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", s.Name, s.Value))
		reset = append(reset, "ALTER SYSTEM RESET "+s.Name)
	}
	const reload = "SELECT pg_reload_conf()"
	e.undone(func(ctx context.Context) error {
		err := postgres.Execute(ctx, e.owner(""), append(reset, reload)...)
		sleep(ctx, 300*time.Millisecond) // whoever waits for a standby learns of it
		return err
	})
	return postgres.Execute(ctx, e.owner(""), append(set, reload)...)
}

// restartRoles ends the connections of the faults' applications, as a deployment does: settings of a role hold for new
// sessions alone, also behind a pooler.
func (e *episode) restartRoles(ctx context.Context) error {
	end := fmt.Sprintf("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename IN ('%s')",
		strings.Join(e.roles(), "', '"))
	if err := postgres.Execute(ctx, e.owner(""), end); err != nil || !e.job.conditions.Standby {
		return err
	}
	if err := e.caughtUp(ctx); err != nil {
		return err
	}
	return postgres.Execute(ctx, e.standby.DSN("postgres").Secret(), end)
}

// strangers take a processor, if the trial has them, and are watched.
func (e *episode) strangers(ctx context.Context) error {
	if !e.job.conditions.Strangers {
		return nil
	}
	burning, err := burner.Start(ctx, e.dir, 1, burnMost)
	e.undone(func(context.Context) error { burning.End(); return nil })
	return err
}

func (e *episode) watch() *neighbours.Machine { return neighbours.Begin(e.own) }

// watcher is the user of the diagnosis.
const watcher = "watch"

// watchDSN is what the diagnosis is given: a user who may monitor, and the way that the users take.
func (e *episode) watchDSN() string {
	return e.address(incident.Work{As: watcher})
}

// settled returns after the faults' own times.
func (e *episode) settled(ctx context.Context) {
	d := settleFor
	for _, f := range e.faults {
		d = max(d, f.Settle)
	}
	sleep(ctx, d)
}

// rest: all applications and holders stop, and their connections are closed.
func (e *episode) rest() {
	for _, stop := range e.players {
		stop()
	}
	e.running.Wait()
}

// paces of the applications until now.
func (e *episode) read() map[string]metered {
	all := map[string]metered{}
	for app, m := range e.meters {
		all[app] = m.read()
	}
	return all
}

// end the trial: clients first, then what was planted, the last first.
func (e *episode) end() error {
	e.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	e.running.Wait()
	var errs []error
	if e.standbyServer != nil && slices.ContainsFunc(e.faults,
		func(f *incident.Played) bool { return f.NeedsStandby() }) {
		errs = append(errs, postgres.Execute(ctx, e.standby.DSN("postgres").Secret(), "SELECT pg_wal_replay_resume()"))
	}
	for _, undo := range slices.Backward(e.undo) {
		errs = append(errs, undo(ctx))
	}
	return errors.Join(errs...)
}
