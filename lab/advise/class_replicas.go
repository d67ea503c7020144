package advise

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"plimsoll/ground/human"
)

// Clients that replay nothing, such as pg_receivewal and the copies of a subscription's tables, are no replicas.
const replicasSQL = `SELECT coalesce(nullif(application_name, ''), client_addr::text, 'socket') AS name,
	coalesce(state, '') AS state, coalesce(client_addr::text, 'socket') AS address,
	extract(epoch FROM replay_lag)::float8 AS seconds,
	pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, sent_lsn))::float8 AS bytes
	FROM pg_stat_replication WHERE NOT pg_is_in_recovery() AND state <> 'backup'
		AND application_name NOT IN ('pg_basebackup', 'pg_receivewal', 'pg_recvlogical')
		AND application_name !~ '^pg_\d+_sync_' ORDER BY 1, 3`

const ownLagSQL = `SELECT 'this server' AS name, 'standby' AS state, '' AS address,
	pg_is_wal_replay_paused() AS paused,
	CASE WHEN pg_last_wal_receive_lsn() IS NOT DISTINCT FROM pg_last_wal_replay_lsn() THEN 0
	ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8 AS seconds,
	coalesce(pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), 0)::float8 AS bytes`

type replica struct {
	Name, State, Address string
	Seconds              *float64
	Bytes                *float64
	Paused               bool
}

// lags says whether it is behind. The amount of log counts only where its age is not known: a busy server writes a
// segment in a fraction of a second.
func (r replica) lags(s *server) (behind, long bool) {
	if r.Seconds == nil {
		return r.Bytes != nil && *r.Bytes >= lagBytes.Value, false
	}
	late := *r.Seconds
	if s.Standby { // it may be late on purpose, and the last record of an idle primary is old without being late
		if !r.Paused && (r.Bytes == nil || *r.Bytes < lagBytes.Value) {
			return false, false
		}
		late -= max(0, valueOr(s.figure("recovery_min_apply_delay"), 0)/1000)
	}
	return late >= lagMost.Value, late >= lagLong.Value
}

func (r replica) seen() string {
	text := fmt.Sprintf("of %s: its state is %s", cmp.Or(r.Address, "itself"), cmp.Or(r.State, "no name"))
	if r.Bytes != nil {
		text += fmt.Sprintf("; %s of WAL are not replayed yet", human.Bytes(*r.Bytes))
	}
	if r.Seconds != nil {
		text += fmt.Sprintf("; %.1f s behind", *r.Seconds)
	}
	if r.Paused {
		text += "; its replay is paused"
	}
	return text
}

// replicas that lag: a report or a backup from one is outdated.
var replicas = class{
	name: "replicas", healthy: "no replica lags by seconds, or there are no replicas",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		sql := replicasSQL
		if s.Standby {
			sql = ownLagSQL
		}
		rows, err := ask[replica](ctx, s, sql)
		for _, r := range rows {
			behind, long := r.lags(s)
			if !behind {
				continue
			}
			level := Note
			if long {
				level = Problem
			}
			if n := len(all) - 1; n >= 0 && all[n].ID == "replica:"+r.Name { // several have that name
				all[n].Evidence = append(all[n].Evidence, r.seen())
				all[n].Title = fmt.Sprintf("%d replicas named %s lag", len(all[n].Evidence), r.Name)
				if long {
					all[n].Level = Problem
				}
				continue
			}
			all = append(all, lagging(r, level))
		}
		return all, err
	},
}

func lagging(r replica, level Level) Advice {
	do := []string{"take backups and reports from the primary while it lags",
		"look at the replica's disk, at conflicts with its queries (max_standby_streaming_delay), and at " +
			"recovery_prefetch", "nothing, if it is late on purpose (recovery_min_apply_delay)"}
	if r.Paused {
		do = []string{"SELECT pg_wal_replay_resume(), after asking who paused it"}
	}
	title := "Replica " + r.Name + " lags"
	if strings.HasPrefix(r.State, "catchup") {
		title = "Replica " + r.Name + " catches up"
	}
	return Advice{ID: "replica:" + r.Name, Level: level, Title: title,
		Mechanism: "One process replays what many sessions wrote. Reports and backups from a replica that " +
			"lags are older than the primary.",
		Evidence: []string{r.seen()}, Do: do,
		Prove:  `plimsoll compare --scenario reports.toml --dsn-a "$DSN" --dsn-b "$DSN_OF_THE_REPLICA"`,
		Revert: "nothing to undo"}
}
