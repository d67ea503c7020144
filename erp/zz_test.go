package erp_test

import (
	"testing"
	"fmt"

	"github.com/jackc/pgx/v5"
	"plimsoll/erp/erptest"
)

func TestZZ(t *testing.T) {
	c := erptest.New(t, 2)
	o := c.Organisations[0]
	contract := erptest.Contract(o.Counterparty)
	c.Exec(t, `INSERT INTO acc_customer_settlements_totals (organisation, period, contract, object, amount)
		SELECT $1, p, $2, gen_random_uuid(), CASE p WHEN 'infinity' THEN 0 ELSE 0 END FROM generate_series(1, 5000) n, (VALUES ('infinity'::date), ('2025-05-01'), ('2025-06-01')) v (p)`, o.ID, contract)
	c.Exec(t, `INSERT INTO acc_customer_settlements_totals (organisation, period, contract, object, amount)
		SELECT $1, p, $2, gen_random_uuid(), 10 FROM generate_series(1, 20) n, (VALUES ('infinity'::date), ('2025-06-01')) v (p)`, o.ID, contract)
	c.Exec(t, `INSERT INTO acc_batches_totals (organisation, period, warehouse, item, receipt, receipt_line, quantity, amount)
		SELECT $1, p, $2, $3, gen_random_uuid(), 1, CASE WHEN p = 'infinity' AND n > 5 THEN 0 ELSE 10 END, CASE WHEN p = 'infinity' AND n > 5 THEN 0 ELSE 10 END FROM generate_series(1, 2000) n, (VALUES ('infinity'::date), ('2025-05-01'), ('2025-06-01')) v (p)`, o.ID, o.Warehouses[0], c.Items[0])
	c.Exec(t, `INSERT INTO acc_batches (recorder, line, recorder_type, organisation, period, expense, warehouse, item, receipt, receipt_line, quantity, amount)
		SELECT receipt, 1, 'goods_receipt', organisation, '2025-05-01', false, warehouse, item, receipt, receipt_line, 10, 10 FROM acc_batches_totals WHERE period = 'infinity'`)
	explain := func(q string, args ...any) {
		err := c.Borrow(t.Context(), func(conn *pgx.Conn) error {
			rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS) "+q, args...)
			if err != nil { return err }
			var l string
			_, err = pgx.ForEachRow(rows, []any{&l}, func() error { fmt.Println(l); return nil })
			return err
		})
		if err != nil { t.Fatal(err) }
		fmt.Println()
	}
	settle := `SELECT k.line::integer, sum(t.amount) FROM unnest($2::uuid[]) WITH ORDINALITY AS k (contract, line)
JOIN acc_customer_settlements_totals t ON t.organisation = $1 AND t.contract = k.contract AND t.period = 'infinity' GROUP BY k.line`
	layers := `SELECT t.warehouse, t.item, t.receipt, t.receipt_line, t.quantity, t.amount
FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY AS k (warehouse, item, place)
JOIN acc_batches_totals t ON t.organisation = $1 AND t.warehouse = k.warehouse AND t.item = k.item AND t.period = 'infinity'
JOIN acc_batches m ON m.recorder = t.receipt AND m.line = t.receipt_line
WHERE t.quantity <> 0 OR t.amount <> 0 OR EXISTS (SELECT FROM acc_batches o WHERE o.recorder = $2 AND o.warehouse = t.warehouse AND o.item = t.item AND o.receipt = t.receipt AND o.receipt_line = t.receipt_line)
ORDER BY k.place, m.period, t.receipt, t.receipt_line`
	for _, what := range []string{"as it is", "zero rows deleted"} {
		c.Exec(t, "ANALYZE acc_batches_totals; ANALYZE acc_customer_settlements_totals; ANALYZE acc_batches")
		fmt.Println("==", what)
		explain(settle, o.ID, []string{contract.String()})
		explain(layers, o.ID, o.ID, []string{o.Warehouses[0].String()}, []string{c.Items[0].String()})
		c.Exec(t, "DELETE FROM acc_customer_settlements_totals WHERE period = 'infinity' AND amount = 0")
		c.Exec(t, "DELETE FROM acc_batches_totals WHERE period = 'infinity' AND amount = 0 AND quantity = 0")
		c.Exec(t, "VACUUM ANALYZE acc_batches_totals")
		c.Exec(t, "VACUUM ANALYZE acc_customer_settlements_totals")
	}
	c.Exec(t, "DELETE FROM acc_customer_settlements_totals WHERE amount = 0")
	c.Exec(t, "VACUUM ANALYZE acc_customer_settlements_totals")
	fmt.Println("== and zero months")
	explain(settle, o.ID, []string{contract.String()})
}
