package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// heldHorizon: what keeps vacuum from removing dead rows, and the log from being removed.
var heldHorizon = class{
	name: "held horizon", healthy: "nothing holds back vacuum or the log", causes: []string{"held-horizon"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		slots, err := s.slots(ctx)
		if err != nil || s.Standby {
			if s.Standby {
				s.miss("held horizon: transactions", "a standby holds back the vacuum of its primary, and only "+
					"with hot_standby_feedback: look at the primary")
			}
			return slots, err
		}
		holders, err := waits.Holders(ctx, s.conn, ownName)
		if err != nil {
			return slots, err
		}
		for _, h := range holders {
			if float64(h.XIDs) < heldXIDs.Value {
				continue
			}
			more, err := s.holder(ctx, h)
			if err != nil {
				return all, err
			}
			all = append(all, more...)
		}
		return append(all, slots...), nil
	},
}

// holder is advice about one that holds long. It is a problem where dead rows show that vacuum needs what is held.
func (s *server) holder(ctx context.Context, h waits.Holder) ([]Advice, error) {
	since := "open for " + h.For.Round(time.Second).String()
	if h.For <= 0 { // the server does not say: as long as so many transactions take at its present pace
		var err error
		if h.For, err = s.pace(ctx, h.XIDs); err != nil {
			return nil, err
		}
		since = "about " + h.For.Round(time.Second).String() + " at the present pace"
		if h.For == math.MaxInt64 {
			since = "no transaction begins at present"
		}
	}
	if h.For.Seconds() < heldFor.Value {
		return nil, nil
	}
	dead, seen, err := s.stuck(ctx, h.Catalogs)
	if err != nil {
		return nil, err
	}
	living := h.Kind == "standby" || h.Kind == "replication slot" && h.State == "active"
	if dead == 0 && living { // it moves on by itself, and nothing is missing
		return nil, nil
	}
	level := Note
	if dead > 0 {
		level = Problem
	}
	a := Advice{ID: "horizon:" + strings.ReplaceAll(h.Kind, " ", "-") + ":" + h.Name, Level: level,
		Mechanism: "Vacuum may not remove rows that died after its snapshot: every table that changes grows, and " +
			"every scan reads the dead rows.",
		Evidence: []string{fmt.Sprintf("%d transactions began since, %s", h.XIDs, since), seen},
		Prove:    "plimsoll diagnose before and after: the finding held-horizon is gone"}
	if h.Catalogs {
		a.Mechanism = "Vacuum may not remove rows of the catalogs that died after what the slot needs: they grow, " +
			"where tables come and go. Tables of users are not held."
	}
	switch h.Kind {
	case "session":
		return s.heldBySession(ctx, a, h)
	case "prepared transaction":
		a.Title = "Prepared transaction " + h.Name + " holds back vacuum"
		a.Do = []string{"ROLLBACK PREPARED or COMMIT PREPARED " + literal(h.Name) + ", as its transaction " +
			"manager decided"}
		a.Revert = "none: the decision is final"
	case "standby":
		a.Title = fmt.Sprintf("A query on standby %s of %s holds back vacuum", cmp.Or(h.Application, "no name"), h.Name)
		a.Do = []string{"end the long query on the standby, or let it finish",
			"hot_standby_feedback = off on a standby that may cancel its long queries"}
		a.Revert = "hot_standby_feedback = on"
	default:
		a.Title = "Replication slot " + h.Name + " holds back vacuum"
		a.Do = []string{"let its reader continue: a slot that is " + h.State + " moves only with it",
			"only if nobody needs it any more: SELECT pg_drop_replication_slot(" + literal(h.Name) + ")"}
		a.Revert = "none: a reader that lost its slot must be set up again"
	}
	return []Advice{a}, nil
}

// pace is how long so many transactions take, as they begin now.
func (s *server) pace(ctx context.Context, xids int64) (time.Duration, error) {
	const sql, look = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8", time.Second
	if s.perTransaction == 0 {
		var before, after float64
		if err := s.conn.QueryRow(ctx, sql).Scan(&before); err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(look):
		}
		if err := s.conn.QueryRow(ctx, sql).Scan(&after); err != nil {
			return 0, err
		}
		s.perTransaction = look.Seconds() / (after - before) // infinite: none began
	}
	if all := s.perTransaction * float64(xids) * float64(time.Second); all < math.MaxInt64 {
		return time.Duration(all), nil
	}
	return math.MaxInt64, nil
}

const deadCatalogsSQL = `SELECT schemaname AS schema, relname AS name, n_dead_tup::float8 AS dead,
	n_live_tup::float8 AS live, coalesce(c.reltuples, 0)::float8 AS planned FROM pg_stat_sys_tables s
	LEFT JOIN pg_class c ON c.oid = s.relid WHERE n_dead_tup >= $1 ORDER BY n_dead_tup DESC LIMIT 100`

// stuck are dead rows that autovacuum would have removed, in words; 0: it misses nothing yet.
func (s *server) stuck(ctx context.Context, catalogs bool) (dead float64, seen string, err error) {
	var tables []table
	if catalogs {
		tables, err = ask[table](ctx, s, deadCatalogsSQL, deadLeast.Value)
	} else {
		tables, err = s.tables(ctx)
	}
	most, n := table{}, 0
	for _, t := range tables {
		if t.Dead >= deadLeast.Value && t.Dead >= t.vacuumAt(s) {
			if dead, n = dead+t.Dead, n+1; t.Dead > most.Dead {
				most = t
			}
		}
	}
	if dead == 0 {
		return 0, "no table has enough dead rows for autovacuum yet", err
	}
	return dead, fmt.Sprintf("%.0f dead rows in %d tables have passed autovacuum's threshold, most in %s: %.0f, with "+
		"%.0f live ones", dead, n, most, most.Dead, most.Live), err
}

// backups and copies read a whole database: what they did so far is lost if they are ended.
var backups = regexp.MustCompile(`(?i)\b(pg_dump|pg_dumpall|pg_restore|pgcopydb|pgbackrest|barman|wal-g)\b`)

const idleTimeout = "idle_in_transaction_session_timeout"

// heldBySession names the owner. Only an idle client may be ended; a timeout is set for its role alone.
func (s *server) heldBySession(ctx context.Context, a Advice, h waits.Holder) ([]Advice, error) {
	a.Title = fmt.Sprintf("Session %s of %s holds back vacuum", h.Name, cmp.Or(h.Application, "no name"))
	a.Evidence = append(a.Evidence, fmt.Sprintf("it is a %s, role %s, %s; its last statement: %s", h.Backend,
		cmp.Or(h.User, "no name"), cmp.Or(h.State, "no state"), short(h.Query)))
	a.Revert = "nothing to undo: its client connects again"
	idle := strings.HasPrefix(h.State, "idle in transaction")
	switch {
	case backups.MatchString(h.Application):
		a.Title = "A backup or copy (" + h.Application + ", session " + h.Name + ") holds back vacuum"
		a.Do = []string{"let it finish: all that it has read is lost if it is ended",
			"take the next one from a standby, or with several jobs (pg_dump -j) to shorten it"}
	case h.Backend != "client backend":
		a.Do = []string{"let it finish: it is a process of the server (" + h.Backend + ")"}
	case idle:
		a.Do = []string{"SELECT pg_terminate_backend(" + h.Name + "), after asking its owner: its transaction is " +
			"rolled back", "fix the program that opens a transaction and then waits for a person"}
	default:
		a.Do = []string{"let it finish, or after asking its owner: SELECT pg_cancel_backend(" + h.Name + ")",
			"move long reports to a standby"}
	}
	all := []Advice{a}
	if !idle || h.User == "" || backups.MatchString(h.Application) || s.figure(idleTimeout) > 0 {
		return all, nil
	}
	limit, err := s.timeoutOf(ctx, h.User)
	if limit != nil {
		all = append(all, *limit)
	}
	return all, err
}

const ownTimeoutSQL = `SELECT EXISTS (SELECT FROM pg_db_role_setting d, unnest(d.setconfig) AS c
	WHERE c LIKE 'idle_in_transaction_session_timeout=%' AND d.setdatabase IN (0, (SELECT oid FROM pg_database
		WHERE datname = current_database())) AND d.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = $1)))`

// timeoutOf a role in this database: by its ID alone, since it ends what others may need. nil: it has one.
func (s *server) timeoutOf(ctx context.Context, role string) (*Advice, error) {
	var has bool
	if err := s.conn.QueryRow(ctx, ownTimeoutSQL, role).Scan(&has); err != nil || has {
		return nil, err
	}
	alter := fmt.Sprintf("ALTER ROLE %s IN DATABASE %s ", pgx.Identifier{role}.Sanitize(),
		pgx.Identifier{s.Database}.Sanitize())
	return &Advice{ID: "timeout:" + role, Level: Note, asked: true,
		Title:     "Idle transactions of role " + role + " are not limited in this database",
		Mechanism: "A timeout ends only sessions whose client is idle within a transaction.",
		Evidence:  []string{idleTimeout + " is 0 for it; a timeout would apply to new sessions"},
		Do: []string{"ask which programs use the role: one that is idle " +
			"within a transaction on purpose will fail"},
		Changes: []Change{{Kind: SQL, SQL: alter + "SET " + idleTimeout + " = '10min'",
			Undo: alter + "RESET " + idleTimeout}},
		Prove: "psql -c '\\drds' shows it; plimsoll diagnose names the transactions that are idle for long"}, nil
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
			Mechanism: "The server keeps all WAL that the slot's reader has not received, until the disk is full.",
			Evidence: []string{fmt.Sprintf("%s of log are held, its state is %s", human.Bytes(one.Held),
				cmp.Or(one.State, "no name"))},
			Do: []string{"start its reader, or SELECT pg_drop_replication_slot(" + literal(one.Name) + ")",
				"max_slot_wal_keep_size bounds what any slot may hold"},
			Prove:  "psql -c 'SELECT slot_name, restart_lsn FROM pg_replication_slots' shows it move, or gone",
			Revert: "none: a reader that lost its slot must be set up again"})
	}
	return all, err
}
