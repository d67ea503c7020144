package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/outage"
	"plimsoll/lab/system"
)

// Side is one of the systems.
type Side struct {
	system.System
	// Settings of PostgreSQL that its sessions start with.
	Settings map[string]string
	// SQL is executed in its database before each run, after the reset.
	SQL string
	// Restore restores a side before each run that nothing else restores: a server elsewhere, or what a command
	// measures.
	Restore system.Restore
	// Command is a program that is measured instead of a run; it prints its figures (see Report).
	Command []string
	// Through is the address of a proxy between the clients and the database; empty: they connect directly.
	Through string
	// Delay of that proxy.
	Delay time.Duration
	// Cold, unless nil, empties the caches before each run and says what it could not do.
	Cold func(ctx context.Context, settings map[string]string) (missing []string, err error)
	// Restart the server with settings of the whole server on its command line, so that nothing of them stays; nil: it
	// cannot be restarted, and such settings are refused.
	Restart func(ctx context.Context, settings map[string]string) error

	outage    *outage.Outage     // that a self-test plants; nil: none
	identity  *identity.Identity // of its server and database; nil: there is none
	server    map[string]string  // those of Settings that are of the whole server
	restarted bool               // before each run, because a side of the same server has such settings
}

// BringUp brings up what the sides run on, and refuses before that what no run could answer. down ends what was started
// (system.Local.Up). With cold, each run starts from empty caches.
func (o Options) BringUp(ctx context.Context, l system.Local, cold bool) (down func() error, err error) {
	if err := Refuse(o.Metric, o.Control, o.Sides); err != nil {
		return nil, err
	}
	var all []*system.System
	for i := range o.Sides {
		all = append(all, &o.Sides[i].System)
	}
	down, err = l.Up(ctx, Letter, all...)
	for i := range o.Sides {
		s := &o.Sides[i]
		s.Restart = s.Restarts()
		if cold && len(s.Command) == 0 && s.Run.DSN != "" {
			s.Cold = s.StartCold
		}
	}
	return down, err
}

// Letter of a side: A, B, C…
func Letter(side int) string { return string(rune('A' + side)) }

// check validates a side before anything runs.
func (s *Side) check(ctx context.Context) (err error) {
	switch {
	case len(s.Command) > 0 && s.Restore.SQL != "":
		return problem.New(problem.Usage, errors.New("a command has no database in which SQL could restore it"),
			"use a restore command instead of SQL")
	case len(s.Command) > 0:
		return nil
	}
	foreign := len(s.Run.URLs) > 0
	if err := s.identify(ctx); err != nil {
		return err
	}
	if s.Reset, err = s.Reset.Choose(ctx, s.Run.Scenario, s.Run.DSN, foreign); err != nil {
		return err
	}
	switch {
	case s.Run.DSN == "" && (len(s.Settings) > 0 || s.SQL != "" || s.Restore.SQL != ""):
		return problem.New(problem.Usage, errors.New("it has no database for settings or SQL"),
			"give it a connection string too")
	case s.Restore.Given() && s.Reset != system.ResetNone:
		return problem.New(problem.Usage, fmt.Errorf("it would be restored twice, by its "+
			"restore command or SQL and by --reset %s",
			s.Reset), "leave out one of them")
	case s.SQL != "" && !s.Restore.Given() && s.Reset == system.ResetNone:
		return problem.New(problem.Usage, errors.New("its SQL would accumulate: the database is not reset between "+
			"runs"),
			"use --reset template or a restore command, or change the database yourself and leave out the SQL")
	case len(s.Settings) > 0 && foreign:
		return problem.New(problem.Usage, errors.New("settings do not reach "+
			"application servers that are already running"),
			"set them in those servers' connections")
	case len(s.Settings) > 0:
		return s.checkSettings(ctx)
	}
	return nil
}

// identify the server, so that runs of another one are never combined with those of this one.
func (s *Side) identify(ctx context.Context) error {
	if s.Run.DSN == "" {
		return nil
	}
	i, err := identity.Of(ctx, s.Run.DSN)
	if err != nil {
		return problem.New(problem.Environment, err, "check host, port, user and password")
	}
	s.identity = &i
	return nil
}

const settingsSQL = "SELECT name, context FROM pg_settings WHERE name = ANY($1)"

// checkSettings refuses what neither a session nor a server that is restarted can have.
func (s *Side) checkSettings(ctx context.Context) error {
	conn, err := postgres.Connect(ctx, s.Run.DSN, "")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	names := slices.Sorted(maps.Keys(s.Settings))
	rows, err := conn.Query(ctx, settingsSQL, names)
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	contexts, name, level := map[string]string{}, "", ""
	if _, err = pgx.ForEachRow(rows, []any{&name, &level}, func() error {
		contexts[name] = level
		return nil
	}); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	for _, name := range names {
		switch level, found := contexts[name]; {
		case !found && !strings.Contains(name, "."): // an extension's setting, whose library may be loaded later
			return problem.New(problem.Usage, fmt.Errorf("the server has no setting %q", name), "")
		case level == "internal":
			return problem.New(problem.Usage, fmt.Errorf("%s cannot be set: it is fixed when PostgreSQL is built, or "+
				"a cluster made", name), "")
		case (level == "sighup" || level == "postmaster") && s.Restart == nil:
			return problem.New(problem.Usage, fmt.Errorf("%s is a setting of the whole server, which this command did "+
				"not start and cannot restart", name),
				"'plimsoll down' of a local cluster lets compare start it; else compare two servers by --dsn-a and "+
					"--dsn-b")
		case level == "sighup", level == "postmaster":
			if s.server == nil {
				s.server = map[string]string{}
			}
			s.server[name] = s.Settings[name]
		}
	}
	if err := postgres.With(ctx, s.connection(s.Run.DSN), func(*pgx.Conn) error { return nil }); err != nil {
		return problem.New(problem.Usage, fmt.Errorf("the server refuses the settings: %w", err), "")
	}
	return nil
}

// connection is the DSN with the settings, through the proxy.
func (s *Side) connection(dsn string) string {
	own := maps.Clone(s.Settings)
	maps.DeleteFunc(own, func(name, _ string) bool { return s.server[name] != "" })
	if len(own) == 0 && s.Through == "" {
		return dsn
	}
	if u, err := url.Parse(dsn); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		query := u.Query()
		for name, value := range own {
			query.Set(name, value)
		}
		if s.Through != "" {
			query.Del("host")
			query.Del("port")
			u.Host = s.Through
		}
		if s.outage != nil {
			query.Set("sslmode", "disable") // it changes statements, which must be readable
		}
		u.RawQuery = postgres.Parameters(query)
		return u.String()
	}
	if host, port, err := net.SplitHostPort(s.Through); err == nil {
		dsn += " host=" + host + " port=" + port
	}
	if s.outage != nil {
		dsn += " sslmode=disable"
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		dsn += " " + postgres.Parameter(name, own[name])
	}
	return dsn
}

// restore a side. One that cannot be restored ends the comparison: its runs would start from different states.
func (s *Side) restore(ctx context.Context, r *Replica) error {
	return s.Restore.Run(ctx, s.Run.DSN, r.environment()...)
}

// describe returns what is particular to the side.
func (s *Side) describe() Described {
	d := Described{Name: s.Name, Reset: string(s.Reset), Settings: s.Settings, SQL: s.SQL, Command: s.Command,
		Cold: s.Cold != nil, Restore: s.Restore.String()}
	if s.Through != "" {
		d.ProxyDelay = s.Delay.String()
	}
	if s.outage != nil {
		d.Refuses = failingPart
	}
	if len(s.Command) > 0 {
		d.Reset = ""
		return d
	}
	d.Server, d.URLs = s.identity, s.Run.URLs
	d.Scenario, d.Digest = s.Run.Scenario.Name, s.Run.Scenario.Digest()
	d.Serve = strings.Join(s.Run.Serve[min(1, len(s.Run.Serve)):], " ")
	d.Sampling = s.Run.Sampling
	d.Workers, d.Users = s.Run.Workers, s.Run.Resolve().Users
	return d
}
