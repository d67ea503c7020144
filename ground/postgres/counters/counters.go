// Package counters reads a server's cumulative statistics twice and computes what was counted in between. A figure that
// was not measured (a view or column that this version lacks, no permission, timing switched off, a reset meanwhile) is
// missing and says why; it is never zero.
package counters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Reading is what the views show at one moment.
type Reading struct {
	At      time.Time
	rows    map[string]map[string]map[string]float64 // view, key, column
	labels  map[string]map[string]string             // by view and key: a label for people
	missing map[string]string                        // view: why
}

// Read reads all views. A view that cannot be read is missing; an error means that the connection is lost.
func Read(ctx context.Context, conn *pgx.Conn, s Server) (*Reading, error) {
	r := &Reading{At: time.Now(), rows: map[string]map[string]map[string]float64{},
		labels: map[string]map[string]string{}, missing: map[string]string{}}
	schemas, err := extensions(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		if s.Version < v.from || v.until != 0 && s.Version >= v.until {
			r.missing[v.name] = v.versionReason()
			continue
		}
		if v.extension != "" {
			schema, made := schemas[v.extension]
			if !made {
				r.missing[v.name] = v.extensionReason()
				continue
			}
			v.sql = fmt.Sprintf(v.sql, schema)
		}
		err := r.read(ctx, conn, v, s)
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused) && ctx.Err() == nil:
			r.missing[v.name] = v.refusalReason(refused)
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", v.name, err)
		}
	}
	return r, nil
}

// Lost is a reading that could not be made.
func Lost(why string) *Reading {
	r := &Reading{At: time.Now(), missing: map[string]string{}}
	for _, v := range views {
		r.missing[v.name] = why
	}
	return r
}

// Planted is a reading of given figures, by view, key and column, in place of a server's.
func Planted(at time.Time, rows map[string]map[string]map[string]float64) *Reading {
	return &Reading{At: at, rows: rows, missing: map[string]string{}}
}

const extensionsSQL = `SELECT e.extname, quote_ident(n.nspname) FROM pg_extension e
	JOIN pg_namespace n ON n.oid = e.extnamespace`

// extensions of the database with the schemas that they are in, quoted. A view of that name elsewhere is not theirs.
func extensions(ctx context.Context, conn *pgx.Conn) (schemas map[string]string, err error) {
	rows, err := conn.Query(ctx, extensionsSQL)
	if err != nil {
		return nil, fmt.Errorf("read the extensions: %w", err)
	}
	schemas = map[string]string{}
	var name, schema string
	_, err = pgx.ForEachRow(rows, []any{&name, &schema}, func() error { schemas[name] = schema; return nil })
	if err != nil {
		return nil, fmt.Errorf("read the extensions: %w", err)
	}
	return schemas, nil
}

func (r *Reading) read(ctx context.Context, conn *pgx.Conn, v view, s Server) error {
	rows, err := conn.Query(ctx, v.sql)
	if err != nil {
		return err
	}
	all, labels := map[string]map[string]float64{}, map[string]string{}
	var key, label string
	var columns map[string]any
	_, err = pgx.ForEachRow(rows, []any{&key, &label, &columns}, func() error {
		all[key], labels[key] = numbers(columns, v, s), label
		columns = nil
		return nil
	})
	r.rows[v.name], r.labels[v.name] = all, labels
	return err
}

// numbers lists the columns that hold any. Null is missing, and so are times that the server does not measure: it shows
// them as 0.
func numbers(columns map[string]any, v view, s Server) map[string]float64 {
	all := map[string]float64{}
	for name, value := range columns {
		x, isNumber := value.(float64)
		if isNumber && !(v.untimed != nil && v.untimed(name, columns, s)) {
			all[name] = x
		}
	}
	return all
}

// Delta is what was counted between two readings.
type Delta struct {
	For           time.Duration
	before, after *Reading
}

// Between computes the difference of two readings of the same server.
func Between(before, after *Reading) *Delta {
	return &Delta{after.At.Sub(before.At), before, after}
}

// Views lists the names of all views, read or not.
func (d *Delta) Views() (names []string) {
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

// Why a view is missing; empty if it was read.
func (d *Delta) Why(view string) string {
	if why, is := d.after.missing[view]; is {
		return why
	}
	return d.before.missing[view]
}

// Keys of a view's rows at the end.
func (d *Delta) Keys(view string) (keys []string) {
	for key := range d.after.rows[view] {
		keys = append(keys, key)
	}
	return keys
}

// Label of a row, for people.
func (d *Delta) Label(view, key string) string { return d.after.labels[view][key] }

// Grew is how far a counter grew; nil if unknown. A row that was missing before started at zero, unless the reading
// before was cut: then it may have been there all the time.
func (d *Delta) Grew(view, key, column string) *float64 {
	after, found := d.after.rows[view][key][column]
	if !found || d.Why(view) != "" {
		return nil
	}
	before, was := d.before.rows[view][key]
	if most := viewOf(view).most; !was && most > 0 && len(d.before.rows[view]) >= most {
		return nil
	}
	x := after
	if was {
		x -= before[column]
	}
	if x < 0 {
		return nil // statistics were reset
	}
	return &x
}

// Now is a value at the end; nil if unknown.
func (d *Delta) Now(view, key, column string) *float64 {
	x, found := d.after.rows[view][key][column]
	if !found {
		return nil
	}
	return &x
}

// Sum is the growth of a counter over all rows whose key has this prefix; nil if none is known, or if one of them was
// reset: what the others counted is not the sum.
func (d *Delta) Sum(view, prefix, column string) *float64 {
	sum, known := 0.0, false
	for key := range d.after.rows[view] {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		grew := d.Grew(view, key, column)
		switch {
		case grew != nil:
			sum, known = sum+*grew, true
		case d.fell(view, key, column) && !viewOf(view).passing:
			return nil
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// fell says that a figure is smaller than it was.
func (d *Delta) fell(view, key, column string) bool {
	before, was := d.before.rows[view][key][column]
	after, found := d.after.rows[view][key][column]
	return was && found && after < before
}

// PerSecond of a figure; nil stays nil.
func (d *Delta) PerSecond(grew *float64) *float64 {
	if grew == nil || d.For <= 0 {
		return nil
	}
	x := *grew / d.For.Seconds()
	return &x
}
