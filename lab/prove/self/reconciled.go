package self

import (
	"context"
	"strings"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// reconciled is a server that says of every write that it is made.
func reconciled(ctx context.Context, s *stage) (outcome, error) {
	m, row, err := s.writes(ctx, "reconciled")
	if err != nil {
		return outcome{}, err
	}
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		equal("acknowledged", m.counted("acknowledged"), row.Acknowledged),
		equal("in the database", m.counted("written"), row.Found),
		states("valid", "no", valid(m.Result), !m.Valid),
		checkMentions("reason", "write: ", m.InvalidReasons),
	}), nil
}

// resetAfter is a server that makes a write and does not say so: the client cannot know, and the books are right.
func resetAfter(ctx context.Context, s *stage) (outcome, error) {
	m, row, err := s.writes(ctx, "reset-after")
	if err != nil {
		return outcome{}, err
	}
	books := "no difference"
	for i, cause := range m.InvalidCauses {
		if cause == result.ByBooks {
			books = m.InvalidReasons[i]
		}
	}
	return m.outcome([]Figure{
		equal("operations", m.served(), m.Ops),
		equal("failed", m.counted("reset"), m.Errors),
		equal("resent", 0, m.Resent),
		equal("acknowledged", m.counted("acknowledged"), row.Acknowledged),
		equal("unknown", m.counted("reset"), row.Unknown),
		equal("in the database", m.counted("written"), row.Found),
		states("books", "no difference", books, !strings.Contains(books, "write")),
		states("valid", "yes", valid(m.Result), m.Valid).excused(),
	}), nil
}

// writes to a table of the test's database, and what the run says of it and of that.
func (s *stage) writes(ctx context.Context, name string) (m measured, row result.Reconciled, err error) {
	dsn, err := s.database(ctx)
	if err != nil {
		return m, row, err
	}
	if err := postgres.Execute(ctx, dsn, "DROP TABLE IF EXISTS written; CREATE TABLE written (n int)"); err != nil {
		return m, row, err
	}
	m, err = s.measure(ctx, plant{name, `
[operations.write]
target = "2s"
method = "POST"
url = "/"
body = "{}"
count = "SELECT count(*) FROM written"
`, 3 * time.Second, func(o *run.Options) { o.DSN = dsn }})
	if err == nil && m.Reconciliation != nil && len(m.Reconciliation.Rows) == 1 {
		row = m.Reconciliation.Rows[0]
	}
	return m, row, err
}
