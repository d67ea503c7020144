package reports_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/server"
)

// reader is a user of a worker with a single connection, whose counts of rows read can be told.
type reader struct {
	erptest.Desk
	worker *database.Database
}

// read returns how many rows of a table the server has looked at in answering a request, with all that there is in the
// table known to the planner.
func (r reader) read(t *testing.T, table, path string) int {
	t.Helper()
	before := r.rowsLookedAt(t, table)
	if a := r.Call(t, "GET", path, "", nil); a.Status != 200 {
		t.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	return r.rowsLookedAt(t, table) - before
}

func (r reader) rowsLookedAt(t *testing.T, table string) int {
	t.Helper()
	err := r.worker.Borrow(context.Background(), func(c *pgx.Conn) error {
		_, err := c.Exec(context.Background(), "SELECT pg_stat_force_next_flush()")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.RowsLookedAt(t, table)
}

// In a base that has been worked in for long, nearly all there is has nothing to do with what is asked for. It is put
// into the tables directly: no document of these tests needs it.
func longUsed(t *testing.T) reader {
	t.Helper()
	c := erptest.New(t, 3)
	worker := databasetest.Connect(t, c.DSN, database.Options{Connections: 1})
	d := c.Desk(t, erptest.Serve(t, worker, server.Config{}))
	const many = " FROM generate_series(1, 5000) n"
	for _, insert := range []string{
		"INSERT INTO gl_general_totals (organisation, account, analytic_1, analytic_2, period, split, debit) " +
			"SELECT $1, '62', gen_random_uuid(), gen_random_uuid(), '2024-01-01', 0, 1" + many,
		"INSERT INTO gl_general_accounts (organisation, account, period, split, debit) SELECT $1, '62', " +
			"'2024-01-01', 0, count(*)" + many,
		"INSERT INTO gl_general (recorder, line, recorder_type, organisation, period, debit, credit, amount) " +
			"SELECT gen_random_uuid(), 1, 'none', $1, '2024-01-01', '62', '90', 1" + many,
		"INSERT INTO acc_customer_settlements_totals (organisation, contract, object, period, amount) SELECT $1, " +
			"gen_random_uuid(), gen_random_uuid(), 'infinity', 1" + many,
		"INSERT INTO cat_contracts (id, organisation, code, name, counterparty) SELECT gen_random_uuid(), " +
			"organisation, 'C' || n, '', counterparty FROM cat_contracts, generate_series(1, 200) n WHERE " +
			"organisation = $1",
		"INSERT INTO doc_goods_receipt (id, organisation, number, date, posted, author) SELECT gen_random_uuid(), " +
			"$1, 'X' || n, '2024-01-01', false, gen_random_uuid()" + many,
		"INSERT INTO acc_to_receive_totals (organisation, basis, item, warehouse, period, quantity) SELECT $1, id, " +
			"gen_random_uuid(), gen_random_uuid(), 'infinity', 0 FROM doc_goods_receipt WHERE organisation = $1",
		"INSERT INTO acc_cells_totals (organisation, warehouse, item, cell, period, quantity) SELECT $1, " +
			"gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'infinity', 1" + many,
	} {
		d.Exec(t, insert, d.Org.ID)
	}
	d.Exec(t, "ANALYZE")
	return reader{d, worker}
}

func TestReportsLookAtNoMoreThanTheyAreOf(t *testing.T) {
	r := longUsed(t)
	const recent = 100
	// After the statistics were gathered, so that the planner expects nothing in the period.
	r.Exec(t, `INSERT INTO gl_general (recorder, line, recorder_type, organisation, period, debit, credit, amount)
		SELECT gen_random_uuid(), 1, 'none', $1, timestamptz '2025-02-01' + n * interval '1 hour', '62', '90', 1
		FROM generate_series(1, $2::integer) n`, r.Org.ID, recent)
	r.Exec(t, `INSERT INTO gl_general_accounts (organisation, account, period, split, debit, credit)
		VALUES ($1, '62', '2025-02-01', 0, $2, 0), ($1, '90', '2025-02-01', 0, 0, $2)`, r.Org.ID, recent)
	r.Post(t, "goods-receipt", "", r.AddressedGoods("10")).Want(t, "receive", 201, "")
	r.Post(t, "service-sale", "", r.ServiceSale("1")).Want(t, "sell a service", 201, "")
	const february = "from=2025-02-01&to=2025-02-28"
	for what, c := range map[string]struct {
		table, path string
		most        int
	}{
		"TheTrialBalanceOfWholeAccounts": {"gl_general_totals", "/v1/reports/trial-balance?" + february, 0},
		"TheTrialBalanceOfItsMonthOnce": {"gl_general", "/v1/reports/trial-balance?from=2025-02-28&to=2025-02-28",
			recent},
		"TheOpeningOfACardOfTheWholeAccount": {"gl_general_totals", "/v1/reports/account-card?account=62&" + february,
			0},
		"ACardOfItsPeriodOnce": {"gl_general", "/v1/reports/account-card?account=62&" + february, recent},
		"ACardOfWhatItShows":   {"gl_general", "/v1/reports/account-card?account=62&limit=7&" + february, 10},
		"SettlementsOfACounterpartyOfItAlone": {"acc_customer_settlements_totals",
			"/v1/reports/settlements?counterparty=" + r.Org.Counterparty.String(), 5},
		"WhatIsToBeReceivedOfWhatStands": {"acc_to_receive_totals", "/v1/reports/to-receive", 5},
		"CellsOfTheItemsThatAreCarried":  {"acc_cells_totals", "/v1/reports/to-receive", 5},
	} {
		t.Run(what, func(t *testing.T) {
			if got := r.read(t, c.table, c.path); got > c.most {
				t.Errorf("%d rows of %s for %s, want at most %d", got, c.table, c.path, c.most)
			}
		})
	}
	card := r.Call(t, "GET", "/v1/reports/account-card?account=62&limit=7&"+february, "", nil)
	if wanted := fmt.Sprintf(`"opening":"5000.00","turnover_debit":"%d.00","turnover_credit":"0.00",`+
		`"closing":"5100.00"`, recent); !strings.Contains(string(card.Body), wanted) ||
		!strings.HasSuffix(strings.TrimSpace(string(card.Body)), `"more":true}`) {
		t.Errorf("want %s and that there is more: %s", wanted, card.Body)
	}
}
