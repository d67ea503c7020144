package database_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/temptable"
)

var structures = []temptable.Structure{
	temptable.MustDefine([]temptable.Column{{Name: "n", Type: "int8"}}),
	temptable.MustDefine([]temptable.Column{{Name: "n", Type: "int8"}}, "n"),
	temptable.MustDefine([]temptable.Column{{Name: "n", Type: "int4"}, {Name: "order", Type: "text"}}, "order", "n"),
	temptable.MustDefine([]temptable.Column{{Name: "n", Type: "numeric(15, 2)"}}),
}

var errOurs = errors.New("ours")

// history is one random unit of work after another on one connection.
type history struct {
	*rapid.T
	ctx     context.Context
	admin   *databasetest.Test
	w       *database.Work
	lent    []*temptable.Table
	marks   []string
	dead    bool
	aborted bool
}

// The pool must agree with the server, after every step of whatever happens to a connection.
func TestTempTables_BeliefEqualsTheServersTruth(t *testing.T) {
	admin := databasetest.Open(t)
	rapid.Check(t, func(rt *rapid.T) {
		db, err := database.Open(t.Context(), admin.DSN, database.Options{
			Connections: 1, Chain: rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "chain"),
			TempTables: temptable.Options{
				Max:      rapid.IntRange(1, 6).Draw(rt, "max"),
				Clearing: rapid.SampledFrom(temptable.Clearings).Draw(rt, "clearing"),
			},
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		h := &history{T: rt, ctx: t.Context(), admin: admin}
		for range rapid.IntRange(2, 6).Draw(rt, "units") {
			h.unit(db)
		}
	})
}

func (h *history) unit(db *database.Database) {
	if rapid.IntRange(0, 9).Draw(h.T, "borrow") == 0 {
		sql := rapid.SampledFrom([]string{"DISCARD ALL", "DISCARD TEMP", "SELECT 1"}).Draw(h.T, "borrowed")
		if err := db.Borrow(h.ctx, func(c *pgx.Conn) error {
			_, err := c.Exec(h.ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return errors.Join(err, c.DeallocateAll(h.ctx)) // DISCARD ALL took the driver's prepared statements too
		}); err != nil {
			h.Fatal(err)
		}
	}
	transaction := rapid.IntRange(0, 3).Draw(h.T, "how") > 0
	run := db.Read
	if transaction {
		run = db.Run
	}
	h.dead = false
	attempts := 0
	do := func(w *database.Work) error {
		if attempts++; attempts > 1 {
			return errOurs // Read repeats what a kill ended
		}
		h.w, h.lent, h.marks, h.aborted = w, nil, nil, false
		h.check("start")
		for range rapid.IntRange(0, 12).Draw(h.T, "steps") {
			if err := h.step(transaction); err != nil {
				return err
			}
			if !h.aborted {
				h.check("step")
			}
		}
		if h.aborted || rapid.IntRange(0, 3).Draw(h.T, "end") == 0 {
			return errOurs
		}
		return nil
	}
	err := run(h.ctx, do)
	if err != nil && !h.dead && !errors.Is(err, errOurs) {
		h.Fatalf("unit: %v", err)
	}
	if h.dead {
		return // what remains is another connection, and a pool that knows nothing
	}
	if err := db.Read(h.ctx, func(w *database.Work) error { h.w = w; h.check("after"); return nil }); err != nil {
		h.Fatal(err)
	}
}

func (h *history) step(transaction bool) error {
	kinds := []string{"lend", "lend", "fill", "fill", "write", "return", "drop", "discard"}
	if transaction {
		kinds = append(kinds, "savepoint", "savepoint", "back", "back", "release", "error", "kill")
	}
	kind := rapid.SampledFrom(kinds).Draw(h.T, "kind")
	if h.aborted && kind != "back" {
		return nil
	}
	switch kind {
	case "lend":
		var wanted []temptable.Structure
		for range rapid.IntRange(1, 3).Draw(h.T, "n") {
			wanted = append(wanted, rapid.SampledFrom(structures).Draw(h.T, "structure"))
		}
		lent, err := h.w.Temp(h.ctx, wanted...)
		if err != nil {
			return err
		}
		for _, table := range lent {
			if n := h.count(table.Name()); n != 0 {
				h.Fatalf("%s was lent with %d rows", table.Name(), n)
			}
		}
		h.lent = append(h.lent, lent...)
	case "fill", "write":
		h.fill(kind)
	case "return":
		if len(h.lent) > 0 {
			i := rapid.IntRange(0, len(h.lent)-1).Draw(h.T, "which")
			h.w.Return(h.lent[i])
			h.lent = slices.Delete(h.lent, i, i+1)
		}
	case "drop":
		if len(h.lent) > 0 && rapid.Bool().Draw(h.T, "really") {
			h.w.Queue("drop", "DROP TABLE "+h.lent[0].Name())
			h.lent = h.lent[1:]
		}
	case "discard":
		if rapid.IntRange(0, 4).Draw(h.T, "really") == 0 {
			h.w.Queue("discard", "DISCARD TEMP")
			h.lent = nil
		}
	case "savepoint":
		name := rapid.SampledFrom([]string{"a", "b"}).Draw(h.T, "name")
		h.w.Savepoint(name)
		h.marks = append(h.marks, name)
	case "back", "release":
		return h.endMark(kind)
	case "error":
		h.w.Queue("spoil", "SELECT 1/0")
		if err := h.w.Flush(h.ctx); database.State(err) != "22012" {
			h.Fatalf("no division by zero: %v", err)
		}
		h.aborted = true
	case "kill":
		if rapid.IntRange(0, 4).Draw(h.T, "really") == 0 {
			h.dead = true
			h.kill(h.w.Backend())
			h.w.Queue("after death", "SELECT 1")
			return h.w.Flush(h.ctx)
		}
	}
	return nil
}

func (h *history) fill(kind string) {
	if len(h.lent) == 0 {
		return
	}
	table := h.lent[rapid.IntRange(0, len(h.lent)-1).Draw(h.T, "which")]
	rows := rapid.IntRange(0, 3).Draw(h.T, "rows")
	if kind == "fill" {
		h.w.Fill(table, "fill", "INSERT INTO "+table.Name()+" (n) SELECT generate_series(1, $1::int4)", rows)
	} else {
		h.w.Queue("write", "INSERT INTO "+table.Name()+" (n) SELECT generate_series(1, $1::int4)", rows)
	}
	if rapid.Bool().Draw(h.T, "analyze") {
		h.w.Analyze(table)
	}
}

func (h *history) endMark(kind string) error {
	if len(h.marks) == 0 {
		return nil
	}
	i := rapid.IntRange(0, len(h.marks)-1).Draw(h.T, "mark")
	name := h.marks[i]
	i = len(h.marks) - 1 - slices.Index(reversed(h.marks), name) // the server finds the newest of a name
	if kind == "release" {
		h.w.Release(name)
		h.marks = h.marks[:i]
		return nil
	}
	h.marks = h.marks[:i+1]
	h.aborted = false
	if err := h.w.RollbackTo(h.ctx, name); err != nil {
		return err
	}
	h.lent = nil
	if pool := h.w.TempPool(); !pool.Stale() {
		h.lent = pool.Lent()
	}
	return nil
}

func reversed(s []string) []string {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// kill ends the server process and waits until it is gone.
func (h *history) kill(pid uint32) {
	err := h.admin.Borrow(h.ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(h.ctx, "SELECT pg_terminate_backend($1, $2)", int32(pid), time.Minute.Milliseconds())
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
}

func (h *history) count(table string) (n int64) {
	h.w.Queue("count", "SELECT count(*) FROM "+table).Rows(func(r pgx.Rows) error { return r.Scan(&n) })
	if err := h.w.Flush(h.ctx); err != nil {
		h.Fatalf("count %s: %v", table, err)
	}
	return n
}

// analyzed says whether the server has statistics of a table.
func (h *history) analyzed(table string) (yes bool) {
	h.w.Queue("statistics", "SELECT reltuples >= 0 FROM pg_class WHERE oid = $1::regclass", table).
		Rows(func(r pgx.Rows) error { return r.Scan(&yes) })
	if err := h.w.Flush(h.ctx); err != nil {
		h.Fatalf("statistics of %s: %v", table, err)
	}
	return yes
}

// check compares belief and truth, and that nobody's rows are overlooked.
func (h *history) check(when string) {
	var truth []string
	h.w.Queue("truth", "SELECT relname::text FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = "+
		"'r' ORDER BY relname COLLATE \"C\"").
		Rows(func(r pgx.Rows) error {
			var name string
			err := r.Scan(&name)
			truth = append(truth, name)
			return err
		})
	if err := h.w.Flush(h.ctx); err != nil {
		h.Fatalf("%s: %v", when, err)
	}
	pool := h.w.TempPool()
	if pool.Stale() {
		return // it knows that it does not know
	}
	if belief := pool.Relations(); !slices.Equal(belief, truth) {
		h.Fatalf("%s: the pool believes in %v, the server has %v", when, belief, truth)
	}
	for _, table := range pool.Tables() {
		if table.Analyzed() && !h.analyzed(table.Name()) {
			h.Fatalf("%s: the pool believes in statistics of %s, there are none", when, table.Name())
		}
		if rows, known := table.Rows(); known && rows != h.count(table.Name()) {
			h.Fatalf("%s: the pool believes in %d rows of %s, there are %d", when, rows, table.Name(),
				h.count(table.Name()))
		}
	}
}
