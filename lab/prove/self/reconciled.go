package self

import (
	"context"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// reconciled is a server that says of every write that it is made.
func reconciled(ctx context.Context, s *stage) (outcome, error) {
	dsn, err := s.database(ctx)
	if err != nil {
		return outcome{}, err
	}
	if err := execute(ctx, dsn, "DROP TABLE IF EXISTS written; CREATE TABLE written (n int)"); err != nil {
		return outcome{}, err
	}
	rows, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return outcome{}, err
	}
	defer rows.Close()
	m, err := s.measure(ctx, plant{"reconciled", `
[operations.write]
target = "2s"
method = "POST"
url = "/"
body = "{}"
count = "SELECT count(*) FROM written"
`, 3 * time.Second, func(r *received) {
		if r.every(10) {
			r.count("acknowledged")
			return
		}
		ctx := context.WithoutCancel(r.r.Context())
		if _, err := rows.Exec(ctx, "INSERT INTO written VALUES ($1)", r.n); err != nil {
			r.w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.count("acknowledged")
		r.count("written")
	}, func(o *run.Options) { o.DSN = dsn }})
	if err != nil {
		return outcome{}, err
	}
	var row result.Reconciled
	if m.Reconciliation != nil && len(m.Reconciliation.Rows) == 1 {
		row = m.Reconciliation.Rows[0]
	}
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		equal("acknowledged", m.counted("acknowledged"), row.Acknowledged),
		equal("in the database", m.counted("written"), row.Found),
		states("valid", "no", valid(m.Result), !m.Valid),
		says("reason", "write: ", m.InvalidReasons),
	}), nil
}
