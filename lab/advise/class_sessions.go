package advise

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// idleTransactions hold locks that others wait for: a diagnosis tells.
var idleTransactions = class{
	name: "idle transactions", healthy: "no diagnosis says that idle clients hold locks",
	causes: []string{"lock-held-by-idle-client"},
	find: func(_ context.Context, s *server) ([]Advice, error) {
		if s.options.Causes == nil {
			s.miss("idle transactions", "only a diagnosis shows whether others wait for their locks")
		}
		for _, c := range s.options.Causes {
			if c.Name != "lock-held-by-idle-client" || s.figure(idleTimeout) > 0 {
				continue
			}
			alter := "ALTER DATABASE " + pgx.Identifier{s.Database}.Sanitize()
			return []Advice{{ID: "timeout:" + s.Database, Level: Note, asked: true,
				Title: "Idle clients may hold locks without limit",
				Mechanism: "A client that stops within a transaction keeps its locks until it " +
					"continues; a timeout ends its session.",
				Evidence: []string{idleTimeout + " is 0: there is no limit"},
				Do: []string{"fix the program that stops within a transaction; for one role alone: ALTER ROLE … SET " +
					idleTimeout},
				Changes: []Change{{Kind: SQL, SQL: alter + " SET " + idleTimeout + " = '1min'",
					Undo: alter + " RESET " + idleTimeout}},
				Prove: s.compare([]string{"--set-b " + idleTimeout + "=1min"}, false, false)}}, nil
		}
		return nil, nil
	},
}

// storms of connections: each is a process that starts, fills its caches, and ends.
var storms = class{
	name: "connections", healthy: "sessions live long enough to justify their start, " +
		"and their number is far from the limit",
	causes: []string{"connection-storm"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		d, err := s.figures(ctx)
		if err != nil || d == nil {
			return nil, err
		}
		life := d.Life / max(1, d.Sessions)
		perS := d.perSecond(d.Sessions)
		if d.Sessions >= sessionsOf.Value && life < lifeLeast.Value && (perS == nil || *perS >= sessionsPS.Value) {
			level := Note
			if perS != nil && *perS >= sessionsMany.Value {
				level = Problem
			}
			all = append(all, Advice{ID: "connections:storm", Level: level, Title: "Sessions are too short-lived",
				Mechanism: "Each session is a new process that logs in and fills its caches of the catalogs.",
				Evidence: []string{fmt.Sprintf("%.0f sessions lived %.2f s on average%s", d.Sessions, life,
					rateText(perS, ", %.1f a second"))},
				Do: []string{"keep connections in a pool of the application, or put pgbouncer in between",
					"give them a random lifetime, such as 30 to 60 minutes, so that they do not end together"},
				Prove:  `plimsoll compare --scenario own.toml --dsn-a "$DSN" --dsn-b "$DSN_OF_THE_POOLER"`,
				Revert: "connect without the pool"})
		}
		census, err := waits.TakeCensus(ctx, s.conn, ownName)
		if err != nil {
			return all, err
		}
		if float64(census.All) >= usedMost.Value*float64(census.AllAllowed) {
			to := 2 * census.AllAllowed
			perSession := s.bytes("work_mem")
			all = append(all, Advice{ID: "connections:limit", Level: Problem, Title: "Connections are nearly used up",
				Mechanism: "Beyond max_connections the server refuses connections; the application fails or waits.",
				Evidence: []string{fmt.Sprintf("%d of %d connections, %d of them idle", census.All, census.AllAllowed,
					census.Idle)},
				Memory: fmt.Sprintf("some 10 MB for each session, and %s for each of its sorts",
					human.Bytes(perSession)),
				Do: []string{"put a pool in front of the server, since idle sessions cost something too; only then:",
					fmt.Sprintf("ALTER SYSTEM SET max_connections = %d, and restart; standbys first: one that allows "+
						"fewer than its primary stops", to)},
				Prove:  s.compare([]string{fmt.Sprintf("--set-b max_connections=%d", to)}, true, false),
				Revert: "ALTER SYSTEM RESET max_connections, and restart"})
		}
		return all, nil
	},
}
