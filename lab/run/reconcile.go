package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// reconcile compares what was acknowledged with what is in the database. A user without an answer does not know whether
// the operation was carried out, so killed workers and servers only widen what is accepted.
func (s *setup) reconcile(ctx context.Context) {
	if len(s.made.Written) == 0 && len(s.made.Lost) == 0 && s.counted == nil {
		return
	}
	s.reconciliation = &result.Reconciliation{Rows: []result.Reconciled{}}
	rows, err := s.reconciled(ctx)
	if err != nil {
		s.reconciliation.Error = err.Error()
		return
	}
	s.reconciliation.Done, s.reconciliation.Rows = true, append(s.reconciliation.Rows, rows...)
}

func (s *setup) reconciled(ctx context.Context) (rows []result.Reconciled, err error) {
	err = postgres.With(ctx, s.DSN, func(conn *pgx.Conn) error {
		if s.counted != nil {
			if rows, err = s.reconcileCounted(ctx, conn); err != nil {
				return err
			}
		}
		writers := newWriters(s.made.Written, s.made.Lost)
		if len(writers) == 0 {
			return nil
		}
		byKey, err := reconcileKeys(ctx, conn, writers, time.Since(s.began)+clockSlack)
		rows = append(rows, byKey...)
		return err
	})
	return rows, err
}

// clockSlack is how far the server's clock may have been set meanwhile.
const clockSlack = time.Hour

// reconcileCounted compares what the scenario's own queries count. They cannot tell whose rows they count, so lost
// agents may have made some of each.
func (s *setup) reconcileCounted(ctx context.Context, conn *pgx.Conn) (rows []result.Reconciled, err error) {
	now, err := s.count(ctx, conn)
	if err != nil {
		return nil, err
	}
	for i, a := range s.Scenario.Actions() {
		if a == nil || a.Count == "" {
			continue
		}
		ended := s.made.Tally.Ended[i]
		rows = append(rows, result.Reconciled{What: s.crowd.Operations[i].ID, Acknowledged: ended[tally.OK],
			Unknown: ended[tally.Failed] + ended[tally.Overload], Found: now[i] - s.counted[i],
			Lost: len(s.made.Lost) > 0})
	}
	return rows, nil
}

// countBefore runs the scenario's own counting queries before the load; nil: it has none.
func (s *setup) countBefore(ctx context.Context) (counts []int64, err error) {
	has := func(a *custom.Action) bool { return a != nil && a.Count != "" }
	if !slices.ContainsFunc(s.Scenario.Actions(), has) {
		return nil, nil
	}
	if err := postgres.With(ctx, s.DSN, func(conn *pgx.Conn) (err error) {
		counts, err = s.count(ctx, conn)
		return err
	}); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	return counts, nil
}

// count runs the scenario's own counting queries, by operation.
func (s *setup) count(ctx context.Context, conn *pgx.Conn) (counts []int64, err error) {
	actions := s.Scenario.Actions()
	counts = make([]int64, len(actions))
	for i, a := range actions {
		if a == nil || a.Count == "" {
			continue
		}
		if err := conn.QueryRow(ctx, a.Count).Scan(&counts[i]); err != nil {
			return nil, fmt.Errorf("count of operations.%s: %w", s.crowd.Operations[i].ID, err)
		}
	}
	return counts, nil
}

// judgeReconciliation makes a run with any difference not valid.
func judgeReconciliation(v *verdict, r *result.Reconciliation) {
	if r == nil {
		return
	}
	v.addReasonIf(result.ByBooks, !r.Done, "acknowledged operations could not be compared with the database: %s",
		r.Error)
	for _, row := range r.Rows {
		v.addReasonIf(result.ByBooks, row.Differs(),
			"%s: %d were acknowledged, the outcome of %d is unknown, the database has %d%s",
			row.What, row.Acknowledged, row.Unknown, row.Found, byKey(row.ByKey))
	}
}

// byKey names single operations, where counts might cancel out.
func byKey(k *result.ByKey) (text string) {
	if k == nil {
		return ""
	}
	if k.Missing > 0 {
		text += fmt.Sprintf("; %d of the acknowledged are missing", k.Missing)
	}
	if k.Unexpected > 0 {
		text += fmt.Sprintf("; %d are there twice, or were refused or never sent", k.Unexpected)
	}
	if len(k.Examples) > 0 {
		text += ": key " + strings.Join(k.Examples, ", ")
	}
	return text
}
