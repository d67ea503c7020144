package replay_test

import (
	"fmt"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/recorded/techlog"
)

// Ids that a program read from an answer are others on a base of another day. They are found and bound anew, in the
// session that read them and in others; what only looks like one is left alone.
func TestRun_IdsFromAnswersAreBoundAnew(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE orders (id serial PRIMARY KEY, amount int, state text)")
	clustertest.Exec(t, dsn, "CREATE TABLE lines (order_id int REFERENCES orders, price int)")
	clustertest.Exec(t, dsn, "ALTER SEQUENCE orders_id_seq RESTART WITH 1500")
	const tuples, well = "PGRES_TUPLES_OK", "PGRES_COMMAND_OK"
	var events, others []techlog.Event // of one session, and of another one
	for id := 1041; id < 1046; id++ {  // here they are 1500, 1501, …
		other := sql(fmt.Sprintf("UPDATE orders SET state = 'paid' WHERE id = %d AND amount = 1500", id), "0", "1",
			well)
		other.Fields[2].Value = "12"
		others = append(others, other)
		events = append(events,
			sql("INSERT INTO orders (amount) VALUES (1500) RETURNING id", "0", "1", tuples),
			sql(fmt.Sprintf("INSERT INTO lines (order_id, price) VALUES (%d, 1501), (%d, 1045)", id, id), "0", "2",
				well))
	}
	// Sessions do not wait for each other: the other one comes when the orders are there, on a busy machine, too.
	others[0].At = time.Date(2026, 11, 28, 10, 0, 6, 0, time.UTC)
	o := options(t, written(t, append(events, others...)...), dsn, 1)
	o.Database, o.Zone = "trade", time.UTC
	r, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Fidelity
	balanced(t, f)
	if f.Rows.Equal != f.Read || f.Found != 5 || f.Bound != 15 {
		t.Errorf("%+v", f)
	}
	if n := clustertest.Value(t, dsn, `SELECT count(*) FROM orders o JOIN lines ON order_id = o.id
		AND price IN (1501, 1045)
		WHERE state = 'paid' AND amount = 1500`); n != "10" {
		t.Errorf("%s lines of orders that are paid, want 10", n)
	}
}
