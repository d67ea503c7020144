package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/client"
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
	conn, err := pgx.Connect(ctx, s.DSN)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if s.counted != nil {
		if rows, err = s.reconcileCounted(ctx, conn); err != nil {
			return nil, err
		}
	}
	seconds := (time.Since(s.began) + clockSlack).Seconds()
	if len(s.made.Written) > 0 {
		erp, err := reconcileWritten(ctx, conn, s.made.Written, seconds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, erp...)
	}
	for _, lost := range s.made.Lost {
		if len(lost.Written) == 0 {
			continue
		}
		row, err := reconcileLost(ctx, conn, lost, seconds)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

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

// reconcileLost compares what an agent had reported of its documents before it was lost.
func reconcileLost(ctx context.Context, conn *pgx.Conn, lost Lost, seconds float64) (row result.Reconciled, err error) {
	row = result.Reconciled{What: "operations on documents of agent " + lost.Agent + ", which was lost", Lost: true}
	var keys []string
	for _, w := range lost.Written {
		keys = append(keys, w.Keys)
		for _, one := range w.ByType {
			row.Acknowledged, row.Unknown = row.Acknowledged+one.Acknowledged, row.Unknown+one.Unknown
		}
	}
	if err = conn.QueryRow(ctx, "SELECT count(*) FROM plimsoll_operation"+ofClients, keys, seconds).
		Scan(&row.Found); err != nil {
		err = fmt.Errorf("count operations: %w", err)
	}
	return row, err
}

// ofClients counts the operations of clients by the prefix of their keys, an id.
const ofClients = ` o WHERE left(o.key, 36) = ANY ($1) AND o.made_at >= now() - make_interval(secs => $2)`

// clockSlack is how far the server's clock may have been set meanwhile.
const clockSlack = time.Hour

func reconcileWritten(ctx context.Context, conn *pgx.Conn, written []Written, seconds float64) ([]result.Reconciled,
	error) {
	var keys []string
	acknowledged := map[string]client.Written{}
	for _, w := range written {
		keys = append(keys, w.Keys)
		for documentType, more := range w.ByType {
			sum := acknowledged[documentType]
			sum.Add(more)
			acknowledged[documentType] = sum
		}
	}
	found, err := operationsByType(ctx, conn, keys, seconds)
	if err != nil {
		return nil, err
	}
	for documentType := range found {
		if _, known := acknowledged[documentType]; !known {
			acknowledged[documentType] = client.Written{} // rows that nobody wrote are a difference as well
		}
	}
	var rows []result.Reconciled
	for _, documentType := range slices.Sorted(maps.Keys(acknowledged)) {
		var documents int64
		headers := pgx.Identifier{"doc_" + documentType}.Sanitize()
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM "+headers+" d WHERE d.id IN (SELECT o.document FROM "+
			"plimsoll_operation"+ofClients+")", keys, seconds).Scan(&documents); err != nil {
			return nil, fmt.Errorf("count documents: %w", err)
		}
		w := acknowledged[documentType]
		rows = append(rows,
			result.Reconciled{What: "operations on " + documentType, Acknowledged: w.Acknowledged, Unknown: w.Unknown,
				Found: found[documentType]},
			result.Reconciled{What: "documents " + documentType, Acknowledged: w.Documents, Unknown: w.UnknownDocuments,
				Found: documents})
	}
	return rows, nil
}

func operationsByType(ctx context.Context, conn *pgx.Conn, keys []string, seconds float64) (map[string]int64, error) {
	rows, err := conn.Query(ctx, "SELECT o.document_type, count(*) FROM plimsoll_operation"+ofClients+" GROUP BY 1",
		keys, seconds)
	if err != nil {
		return nil, fmt.Errorf("count operations: %w", err)
	}
	found := map[string]int64{}
	var documentType string
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&documentType, &n}, func() error {
		found[documentType] = n
		return nil
	}); err != nil {
		return nil, fmt.Errorf("count operations: %w", err)
	}
	return found, nil
}

// countBefore runs the scenario's own counting queries before the load; nil: it has none.
func (s *setup) countBefore(ctx context.Context) ([]int64, error) {
	counts := func(a *custom.Action) bool { return a != nil && a.Count != "" }
	if !slices.ContainsFunc(s.Scenario.Actions(), counts) {
		return nil, nil
	}
	conn, err := pgx.Connect(ctx, s.DSN)
	if err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return s.count(ctx, conn)
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
			"%s: %d were acknowledged, of %d nothing is known, the database has %d",
			row.What, row.Acknowledged, row.Unknown, row.Found)
	}
}
