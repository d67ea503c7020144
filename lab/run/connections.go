package run

import (
	"context"
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
)

// ownConnections are those that a run itself may need beside its users': the diagnosis, the mark, the looks at the
// server.
const ownConnections = 6

// roomSQL is how many connections the server accepts, and how many it has.
const roomSQL = `SELECT current_setting('max_connections')::int
	- current_setting('superuser_reserved_connections')::int
	- coalesce(current_setting('reserved_connections', true)::int, 0),
	current_setting('max_connections')::int,
	(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())`

// checkConnections refuses users with a session each whom the server has no room for: thousands of log-ins would fail
// one by one.
func (s *setup) checkConnections(ctx context.Context) error {
	needed := s.sessionsOfUsers()
	if needed == 0 || s.before == nil {
		return nil
	}
	conn, err := postgres.Connect(ctx, s.DSN, "")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var room, most, used int
	if err := conn.QueryRow(ctx, roomSQL).Scan(&room, &most, &used); err != nil {
		return problem.New(problem.Environment, fmt.Errorf("read max_connections: %w", err), "")
	}
	left := max(0, room-used-ownConnections)
	if needed <= left {
		return nil
	}
	hint := `raise max_connections and restart the server, or set session = "shared" in [sql]`
	if users := left * s.Users / needed; users > 0 {
		hint += fmt.Sprintf(", or use at most %s", human.Count(users, "user"))
	}
	return problem.New(problem.Environment, fmt.Errorf("%s need %s, a session each, and the server has room for %d: "+
		"max_connections is %d, %d are reserved, %d in use, %d for the run itself", human.Count(s.Users, "user"),
		human.Count(needed, "connection"), left, most, most-room, used, ownConnections), hint)
}

// sessionsOfUsers who have one each; 0: they share some.
func (o Options) sessionsOfUsers() (n int) {
	if o.Scenario.Own.Session != custom.OfUser {
		return 0
	}
	if o.Scenario.Application == scenario.OneC {
		n += o.Users
	}
	if custom.NeedsDatabase(o.Scenario.Own, o.Scenario.Actions()) {
		n += o.Users
	}
	return n
}
