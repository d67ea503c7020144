package advise

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/lab/postgres/waits"
)

// heldHorizon: what keeps vacuum from removing dead rows, and the log from being removed.
var heldHorizon = class{
	name: "held horizon", healthy: "nothing holds back vacuum or the log", causes: []string{"held-horizon"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		holders, err := waits.Holders(ctx, s.conn, ownName)
		if err != nil {
			return nil, err
		}
		for _, h := range holders {
			if float64(h.XIDs) >= heldXIDs.Value {
				all = append(all, s.holder(h))
			}
		}
		slots, err := s.slots(ctx)
		return append(all, slots...), err
	},
}

func (s *server) holder(h waits.Holder) Advice {
	a := Advice{ID: "horizon:" + strings.ReplaceAll(h.Kind, " ", "-") + ":" + h.Name, Level: Problem,
		Mechanism: "Vacuum may not remove rows that died after its snapshot: every table that changes grows, and " +
			"every scan reads the dead rows.",
		Evidence: []string{fmt.Sprintf("%d transactions began since", h.XIDs)}}
	if h.For > 0 {
		a.Evidence[0] += fmt.Sprintf(", it is open for %s", h.For.Round(time.Second))
	}
	switch h.Kind {
	case "session":
		a.Title = fmt.Sprintf("Session %s of %s holds back vacuum", h.Name, cmp.Or(h.Application, "no name"))
		a.Evidence = append(a.Evidence, "it is "+cmp.Or(h.State, "no name")+", its last statement: "+short(h.Query))
		a.Do = []string{"SELECT pg_terminate_backend(" + h.Name + "), after asking whose it is",
			"fix the program that opens a transaction and then waits for a person"}
		const timeout = "idle_in_transaction_session_timeout"
		if strings.HasPrefix(h.State, "idle in transaction") && s.figure(timeout) == 0 {
			a.Changes = []Change{s.set(timeout, "10min")}
		} else {
			a.Prove = "plimsoll diagnose before and after: the finding held-horizon is gone"
			a.Revert = "nothing to put back: its client connects again"
		}
	case "prepared transaction":
		a.Title = "Prepared transaction " + h.Name + " holds back vacuum"
		a.Do = []string{"ROLLBACK PREPARED or COMMIT PREPARED " + literal(h.Name) + ", as its coordinator decided"}
		a.Prove = "plimsoll diagnose before and after: the finding held-horizon is gone"
		a.Revert = "none: the decision is final"
	default:
		a.Title = fmt.Sprintf("A %s, %s, holds back vacuum", h.Kind, h.Name)
		a.Do = []string{"let its reader continue, or drop the slot: SELECT pg_drop_replication_slot(" +
			literal(h.Name) + ")", "hot_standby_feedback = off on a standby that may cancel its long queries"}
		a.Prove = "plimsoll diagnose before and after: the finding held-horizon is gone"
		a.Revert = "none: a reader that lost its slot must be set up again"
	}
	return a
}

const slotsSQL = `SELECT slot_name AS name, coalesce(wal_status, '') AS state, active,
	coalesce(CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) END,
	0)::float8 AS held FROM pg_replication_slots`

type slot struct {
	Name, State string
	Active      bool
	Held        float64
}

func (s *server) slots(ctx context.Context) (all []Advice, err error) {
	slots, err := ask[slot](ctx, s, slotsSQL)
	for _, one := range slots {
		if one.Active {
			continue
		}
		level := Note
		if one.Held >= heldLog.Value || one.State != "reserved" && one.State != "" {
			level = Problem
		}
		all = append(all, Advice{ID: "slot:" + one.Name, Level: level,
			Title:     "No client reads replication slot " + one.Name,
			Mechanism: "The server keeps all log that the slot's reader has not received, until the disk is full.",
			Evidence: []string{fmt.Sprintf("%s of log are held, its state is %s", size(one.Held),
				cmp.Or(one.State, "no name"))},
			Do: []string{"start its reader, or SELECT pg_drop_replication_slot(" + literal(one.Name) + ")",
				"max_slot_wal_keep_size bounds what any slot may hold"},
			Prove:  "psql -c 'SELECT slot_name, restart_lsn FROM pg_replication_slots' shows it move, or gone",
			Revert: "none: a reader that lost its slot must be set up again"})
	}
	return all, err
}

// idleTransactions hold locks that others wait for: a diagnosis tells.
var idleTransactions = class{
	name: "idle transactions", healthy: "no diagnosis says that idle clients hold locks",
	causes: []string{"lock-held-by-idle-client"},
	find: func(_ context.Context, s *server) ([]Advice, error) {
		const name = "idle_in_transaction_session_timeout"
		if s.options.Causes == nil {
			s.miss("idle transactions", "only a diagnosis shows whether others wait for their locks")
		}
		for _, c := range s.options.Causes {
			if c.Name != "lock-held-by-idle-client" || s.figure(name) > 0 {
				continue
			}
			return []Advice{{ID: "setting:" + name, Level: Note, Title: "Idle clients hold locks without end",
				Mechanism: "A client that stops within a transaction keeps its locks until it continues; a timeout " +
					"ends it.",
				Evidence: []string{name + " is 0: there is no end"},
				Changes:  []Change{s.set(name, "1min")}}}, nil
		}
		return nil, nil
	},
}

// storms of connections: each is a process that is made, warms its caches, and goes.
var storms = class{
	name: "connections", healthy: "sessions live long enough to be worth their start, and are far from their limit",
	causes: []string{"connection-storm"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		d, err := one[databaseFigures](ctx, s, databaseSQL)
		if err != nil || d == nil {
			return nil, err
		}
		life := d.Life / max(1, d.Sessions)
		if d.Sessions >= sessionsOf.Value && life < lifeLeast.Value {
			level, perS := Note, d.perSecond(d.Sessions)
			if perS != nil && *perS >= sessionsPS.Value {
				level = Problem
			}
			all = append(all, Advice{ID: "connections:storm", Level: level, Title: "Sessions end soon after they begin",
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
				Memory: fmt.Sprintf("some 10 MB for each session, and %s for each of its sorts", size(perSession)),
				Do: []string{"put a pool in front of the server, since idle sessions cost something too; only then:",
					fmt.Sprintf("ALTER SYSTEM SET max_connections = %d, and restart", to)},
				Prove:  s.compare([]string{fmt.Sprintf("--set-b max_connections=%d", to)}, true, false),
				Revert: "ALTER SYSTEM RESET max_connections, and restart"})
		}
		return all, nil
	},
}

const replicasSQL = `SELECT coalesce(nullif(application_name, ''), client_addr::text, 'socket') AS name,
	coalesce(state, '') AS state,
	extract(epoch FROM replay_lag)::float8 AS seconds,
	pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, flush_lsn, write_lsn, sent_lsn))::float8 AS bytes
	FROM pg_stat_replication WHERE NOT pg_is_in_recovery()`

const ownLagSQL = `SELECT 'this server' AS name, 'standby' AS state,
	CASE WHEN pg_last_wal_receive_lsn() IS NOT DISTINCT FROM pg_last_wal_replay_lsn() THEN 0
	ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8 AS seconds,
	coalesce(pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), 0)::float8 AS bytes`

type replica struct {
	Name, State string
	Seconds     *float64
	Bytes       *float64
}

// replicas that lag: a report or a backup from one is of the past.
var replicas = class{
	name: "replicas", healthy: "no replica lags by a second, or there is none",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		sql := replicasSQL
		if s.Standby {
			sql = ownLagSQL
		}
		rows, err := ask[replica](ctx, s, sql)
		for _, r := range rows {
			late := r.Seconds != nil && *r.Seconds >= lagMost.Value
			behind := r.Bytes != nil && *r.Bytes >= lagBytes.Value
			if r.State == "backup" || !late && !behind {
				continue
			}
			seen := fmt.Sprintf("its state is %s", cmp.Or(r.State, "no name"))
			if r.Bytes != nil {
				seen += fmt.Sprintf("; %s of log are not replayed", size(*r.Bytes))
			}
			if r.Seconds != nil {
				seen += fmt.Sprintf("; %.1f s behind", *r.Seconds)
			}
			all = append(all, Advice{ID: "replica:" + r.Name, Level: Problem, Title: "Replica " + r.Name + " lags",
				Mechanism: "One process replays what many sessions wrote. Reports and backups from a replica that " +
					"lags are older than the primary.",
				Evidence: []string{seen},
				Do: []string{"take backups and reports from the primary while it lags",
					"look at the replica's disk, at conflicts with its queries (max_standby_streaming_delay), and at " +
						"recovery_prefetch"},
				Prove:  `plimsoll compare --scenario reports.toml --dsn-a "$DSN" --dsn-b "$DSN_OF_THE_REPLICA"`,
				Revert: "nothing to put back"})
		}
		return all, err
	},
}
