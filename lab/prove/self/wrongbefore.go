package self

import (
	"context"
	"slices"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/ground/postgres"
	"plimsoll/lab/load"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/platform/data/database"
)

// wrongCopy of the filled books, which lasts for one line.
var wrongCopy = postgres.Copy{Suffix: "_wrong", Mark: damagedCopy.Mark}

// wrongBefore is a run of the ERP on books that were found clean, and changed since: the damage is dated before the
// run, and nothing is put on top of it.
func wrongBefore(ctx context.Context, s *stage) (outcome, error) {
	filled, err := s.books(ctx)
	if err != nil {
		return outcome{}, err
	}
	dsn, err := wrongCopy.Make(ctx, filled)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = wrongCopy.Drop(context.WithoutCancel(ctx), filled) }()
	clean, err := audited(ctx, dsn, audit.Options{Keep: true})
	if err != nil {
		return outcome{}, err
	}
	if err := postgres.Execute(ctx, dsn, "UPDATE doc_goods_sale SET total = total + 1 WHERE id = (SELECT id FROM "+
		"doc_goods_sale ORDER BY number LIMIT 1)"); err != nil {
		return outcome{}, err
	}
	planted, err := audited(ctx, dsn, audit.Options{})
	if err != nil {
		return outcome{}, err
	}
	l := load.Default()
	l.Users, l.Think = 5, &users.Think{Mean: 200 * time.Millisecond}
	l.Ramp, l.Duration = 0, 3*time.Second
	end := watch("")
	r, err := run.Run(ctx, run.Options{Load: l, DSN: dsn, ServeEnv: []string{"PLIMSOLL_DSN=" + dsn},
		Serve:    append(slices.Clone(s.Program), "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json"),
		Software: "prove --self"})
	n := end()
	if err != nil {
		return outcome{}, err
	}
	s.falsifyResult(r)
	var before result.Audit
	if r.AuditBefore != nil {
		before = *r.AuditBefore
	}
	return outcome{figures: []Figure{
		equal("violations of the base", 0, clean),
		equal("violations before the run", planted, int64(before.Violations)),
		equal("violations after the run", planted, int64(r.Audit.Violations)),
		states("valid", "no", valid(r), !r.Valid),
		checkMentions("reason", "the books were wrong before the run", r.InvalidReasons),
		equal("kinds of writes that differ", 0, differing(r.Reconciliation)),
	}, disturbed: disturbances(n, r)}, nil
}

// differing rows of a reconciliation; one that was not done is one.
func differing(r *result.Reconciliation) (n int64) {
	if r == nil || !r.Done {
		return 1
	}
	for _, row := range r.Rows {
		if row.Differs() {
			n++
		}
	}
	return n
}

func audited(ctx context.Context, dsn string, o audit.Options) (violations int64, err error) {
	db, err := database.Open(ctx, dsn, database.Options{Connections: 2})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	report, err := audit.RunAs(ctx, db, o)
	return report.Violations, err
}
