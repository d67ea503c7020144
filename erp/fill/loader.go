package fill

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/problem"
	"plimsoll/platform/register"
	"plimsoll/platform/schema"
)

// loader fills within one transaction.
type loader struct {
	tx      pgx.Tx
	options Options
	summary *Summary
}

func (l *loader) run(ctx context.Context) error {
	if err := l.reserve(ctx); err != nil {
		return err
	}
	base := newBase(l.options)
	for i := range base.catalogs {
		c := &base.catalogs[i]
		l.options.tell(c.name, 0, int64(len(c.rows)))
		if err := l.copy(ctx, c); err != nil {
			return err
		}
		l.options.tell(c.name, int64(len(c.rows)), int64(len(c.rows)))
	}
	if err := l.history(ctx, newHistory(base)); err != nil {
		return err
	}
	l.options.tell("totals", 0, 1)
	return l.totals(ctx)
}

// reserve refuses a database with anything in it, and keeps out another fill.
func (l *loader) reserve(ctx context.Context) error {
	if _, err := l.tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(%d)", fillLock),
		pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("reserve database: %w", err)
	}
	for _, table := range tables() {
		var used bool
		if err := l.tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+table+")").Scan(&used); err != nil {
			return fmt.Errorf("look into %s: %w", table, err)
		}
		if used {
			return problem.New(problem.Usage, fmt.Errorf("%w: %s has rows", ErrNotEmpty, table), "fill a new database; nothing was changed")
		}
	}
	return nil
}

func (l *loader) history(ctx context.Context, h *history) error {
	total := int64(h.total())
	for done := int64(0); ; {
		batch, err := h.batch()
		if err != nil {
			return fmt.Errorf("make history: %w", err)
		}
		if batch == nil {
			break
		}
		for i := range batch.tables {
			if err := l.copy(ctx, batch.tables[i]); err != nil {
				return err
			}
		}
		done += int64(batch.documents)
		l.summary.Documents += batch.documents
		l.options.tell("documents", done, total)
	}
	return l.copy(ctx, h.numbers())
}

// rows of a table on their way into it.
type rows struct {
	name, table string
	columns     []string
	rows        [][]any
}

func (l *loader) copy(ctx context.Context, r *rows) error {
	n, err := l.tx.CopyFrom(ctx, pgx.Identifier{r.table}, r.columns, pgx.CopyFromRows(r.rows))
	l.summary.Rows += n
	if err != nil {
		return fmt.Errorf("load %s: %w", r.table, err)
	}
	return nil
}

// totals sums the movements that were loaded, as each posting would have done.
func (l *loader) totals(ctx context.Context) error {
	app := erp.Metadata()
	var statements []string
	for i := range app.Accumulation {
		statements = append(statements, register.TotalsSQL(&app.Accumulation[i]))
	}
	for i := range app.Accounting {
		statements = append(statements, ledger.TotalsSQL(&app.Accounting[i]))
	}
	for _, statement := range statements {
		tag, err := l.tx.Exec(ctx, statement)
		if err != nil {
			return fmt.Errorf("sum totals: %w", err)
		}
		l.summary.Rows += tag.RowsAffected()
	}
	return nil
}

func tables() (names []string) {
	for _, t := range schema.Tables(erp.Metadata()) {
		names = append(names, t.Name)
	}
	return names
}

func columnNames(own []string, attributes []metadata.Attribute) []string {
	for _, a := range attributes {
		own = append(own, a.Name)
	}
	return own
}
