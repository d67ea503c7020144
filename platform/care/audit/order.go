package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// ordering replays, key by key, how layers were brought and used up in the order of time:
//
//	layer brought ──▶ behind the others of its key
//	layer taken   ──▶ must be of the first with anything left, not more than that, and of its value in proportion
//
// From the boundary of a key on, nothing can be checked until it is restored; a boundary that is not at a document is
// ignored.
type ordering struct {
	meta  *metadata.Accumulation
	check int // in the report
}

func (a *auditing) orderings() (all []ordering) {
	if a.options.Books == nil {
		return nil
	}
	for i := range a.app.Accumulation {
		r := &a.app.Accumulation[i]
		if !r.Layered || len(r.Resources) != 2 || r.Resources[1].Type != metadata.Money {
			continue
		}
		a.report.Checks = append(a.report.Checks, Check{Invariant: r.Name + ".order",
			Title: r.Title + ": a replay of all movements finds layers taken in the order of time, each at its cost"})
		all = append(all, ordering{r, len(a.report.Checks) - 1})
	}
	return all
}

func (o ordering) sql(app *metadata.Application, s scope) string {
	leading := strings.Join(append([]string{"organisation"}, metadata.Names(o.meta.Leading())...), ", ")
	within := "{key " + leading + "}"
	if s.mode == SinceClean {
		within = "(" + leading + ") IN (SELECT " + leading + " FROM " + o.meta.Table() + " WHERE {document recorder})"
	}
	last := len(o.meta.Dimensions)
	return statement.SQL(`SELECT {key}, period, recorder, recorder_type, line, expense,
	{document}, {row}, {quantity}, {value},
	coalesce(moment, 'infinity') <= period
FROM (SELECT * FROM {movements} WHERE {within}) m LEFT JOIN (
	SELECT * FROM {boundary} b WHERE {explained}) b USING ({leading})
ORDER BY {leading}, period, recorder, line`, statement.Names{
		"key": "concat_ws(' ', " + leading + ")", "document": o.meta.Dimensions[last-2].Name,
		"row": o.meta.Dimensions[last-1].Name, "quantity": o.meta.Resources[0].Name,
		"value": o.meta.Resources[1].Name, "movements": o.meta.Table(), "within": within,
		"boundary": o.meta.Boundary(), "leading": leading, "explained": register.ExplainedSQL(app, o.meta),
	})
}

// layerLeft is what is left of a layer.
type layerLeft struct {
	document id.ID
	line     int64
	quantity amount.Quantity
	value    amount.Money
}

func (l layerLeft) String() string {
	return fmt.Sprintf("%s line %d, %s for %s", l.document, l.line, l.quantity, l.value)
}

func (o ordering) task(a *auditing, s scope) (task, bool) {
	check := &a.report.Checks[o.check]
	switch {
	case a.reportMissing(check, o.meta.Table()+" "+o.meta.Boundary()):
		return task{}, false
	case s.holdsAsBefore(o.meta.Table() + " " + o.meta.Boundary()):
		check.Unchanged = true
		return task{}, false
	}
	return task{check.Invariant, a.bytes[o.meta.Table()], func(ctx context.Context, tx pgx.Tx) error {
		if err := o.replay(ctx, tx, a.app, s, check, a.options.Examples); err != nil {
			return err
		}
		return a.number(ctx, tx, check)
	}}, true
}

func (o ordering) replay(ctx context.Context, tx pgx.Tx, app *metadata.Application, s scope, check *Check,
	named int) error {
	sql, args, narrowed := s.narrow(o.sql(app, s), nil)
	check.Whole = !narrowed
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	var key, last, recorderType string
	var period time.Time
	var recorder id.ID
	var line int32
	var expense, beyond, done bool
	var row layerLeft
	var queue []layerLeft
	_, err = pgx.ForEachRow(rows, []any{&key, &period, &recorder, &recorderType, &line, &expense, &row.document,
		&row.line, &row.quantity, &row.value, &beyond}, func() error {
		if key != last {
			last, done, queue = key, false, queue[:0]
		}
		if done = done || beyond; done {
			check.Underivable++
			return nil
		}
		check.Checked++
		if !expense {
			queue = append(queue, row)
			return nil
		}
		expected, field := taken(&queue, row)
		if field == "" {
			return nil
		}
		done = true // consequences of an error are not reported again
		check.Violations++
		if len(check.Examples) < named {
			check.Examples = append(check.Examples, Violation{Subject: recorderType + " " + recorder.String(),
				Field: fmt.Sprintf("%s %d.%s", o.meta.Name, line, field), Expected: expected, Found: row.String()})
		}
		return nil
	})
	return err
}

// taken is a removal from the first open layer: what is expected, and what differs, if anything.
func taken(queue *[]layerLeft, row layerLeft) (expected, field string) {
	for len(*queue) > 0 && (*queue)[0].quantity == 0 {
		*queue = (*queue)[1:]
	}
	if len(*queue) == 0 {
		return "nothing: there is no layer", "quantity"
	}
	first := &(*queue)[0]
	if first.document != row.document || first.line != row.line {
		return first.String(), "receipt"
	}
	if row.quantity > first.quantity {
		return "at most " + first.String(), "quantity"
	}
	value, err := first.value.Portion(row.quantity, first.quantity)
	if err != nil || value != row.value {
		return layerLeft{first.document, first.line, row.quantity, value}.String(), "amount"
	}
	first.quantity, first.value = first.quantity-row.quantity, first.value-row.value
	return "", ""
}

// number adds the numbers of documents to the examples, which name types and ids.
func (a *auditing) number(ctx context.Context, tx pgx.Tx, check *Check) error {
	for i := range check.Examples {
		e := &check.Examples[i]
		kind, v, _ := strings.Cut(e.Subject, " ")
		d, known := a.app.Document(kind)
		if !known || a.absent[d.Table()] != "" {
			continue
		}
		var number string
		err := tx.QueryRow(ctx, "SELECT number FROM "+d.Table()+" WHERE id = $1", v).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		e.Subject = kind + " " + number + " " + v
	}
	return nil
}
