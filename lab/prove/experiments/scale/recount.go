package scale

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/operations"
	"plimsoll/ground/postgres"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

// raw is one operation as it ended in the generator, before anything was counted.
type raw struct {
	operation string
	due, done time.Duration
	answered  bool
}

func rawOf(operation string, s tally.Sample) raw {
	return raw{operation, s.Due, s.Done, s.Outcome == tally.OK || s.Outcome == tally.Refused}
}

// recounted is the database's count of the raw operations; operation "" is all.
type recounted struct {
	operation                         string
	satisfied, tolerating, frustrated int64
	plain, weighed                    float64
}

//go:embed recount.sql
var recountSQL string

const (
	recountTables = `CREATE TEMP TABLE recount_raw (operation text, due_ns int8, done_ns int8, answered bool);
CREATE TEMP TABLE recount_target (operation text, target_ns int8, priority int8)`
)

// recount scores the operations due in [from, to) in SQL, without any code of lab/load/apdex or lab/load/tally.
func recount(ctx context.Context, dsn string, rows []raw, from, to time.Duration) (map[string]recounted, error) {
	var all map[string]recounted
	err := postgres.With(ctx, dsn, func(conn *pgx.Conn) (err error) {
		if _, err := conn.Exec(ctx, recountTables); err != nil {
			return err
		}
		if err := copyRaw(ctx, conn, rows); err != nil {
			return err
		}
		all, err = countRaw(ctx, conn, from, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	return all, nil
}

func copyRaw(ctx context.Context, conn *pgx.Conn, rows []raw) error {
	targets := operations.All()
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"recount_target"}, []string{"operation", "target_ns", "priority"},
		pgx.CopyFromSlice(len(targets), func(i int) ([]any, error) {
			return []any{targets[i].ID, targets[i].Target.Nanoseconds(), int64(targets[i].Priority)}, nil
		}))
	if err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"recount_raw"}, []string{"operation", "due_ns", "done_ns", "answered"},
		pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			r := rows[i]
			return []any{r.operation, r.due.Nanoseconds(), r.done.Nanoseconds(), r.answered}, nil
		}))
	return err
}

func countRaw(ctx context.Context, conn *pgx.Conn, from, to time.Duration) (map[string]recounted, error) {
	answer, err := conn.Query(ctx, recountSQL, from.Nanoseconds(), to.Nanoseconds())
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	counts := map[string]recounted{}
	var c recounted
	_, err = pgx.ForEachRow(answer, []any{&c.operation, &c.satisfied, &c.tolerating, &c.frustrated, &c.plain,
		&c.weighed}, func() error {
		counts[c.operation] = c
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	return counts, nil
}

// rounding is the tolerance for adding the same fractions in two ways.
const rounding = 1e-9

// differences between the result and the recount; none means they are identical.
func differences(r *result.Result, counts map[string]recounted) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var total int64
	for _, op := range r.Operations {
		c := counts[op.ID]
		total += c.satisfied + c.tolerating + c.frustrated
		if op.Satisfied != c.satisfied || op.Tolerating != c.tolerating || op.Frustrated != c.frustrated {
			say("%s: %d/%d/%d reported, %d/%d/%d recounted", op.ID, op.Satisfied, op.Tolerating, op.Frustrated,
				c.satisfied, c.tolerating, c.frustrated)
		}
		if op.Apdex != nil && math.Abs(*op.Apdex-c.plain) > rounding {
			say("%s: Apdex %v reported, %v recounted", op.ID, *op.Apdex, c.plain)
		}
	}
	if r.Ops != total {
		say("%d operations reported, %d recounted", r.Ops, total)
	}
	if all := counts[""]; r.Apdex != nil && math.Abs(*r.Apdex-all.weighed) > rounding {
		say("overall: Apdex %v reported, %v recounted", *r.Apdex, all.weighed)
	}
	return found
}
