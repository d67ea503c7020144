package sales_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
)

func TestServicesAreSold(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	sale := d.Live(t, "service-sale", d.ServiceSale("1"), d.ServiceSale("3")) // at 10.00 and 20 %
	if got := d.Entries(t, sale); got != "62 90 36.00, 90 68 6.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || v.amount || ' ' || v.vat FROM acc_customer_settlements_totals s, " +
		"acc_output_vat_totals v WHERE s.period = 'infinity' AND v.period = 'infinity'"
	if got := d.Value(t, books); got != "36.00 30.00 6.00" {
		t.Errorf("owed, net and VAT: %s", got)
	}
}

func TestServicesAreNotSoldBeyondTheLimitOrToAnybody(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET credit_limit = 36 WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	sale := d.Post(t, "service-sale", "", d.ServiceSale("2"))
	sale.Want(t, "within", 201, "")
	d.Post(t, "service-sale", "", d.ServiceSale("1.001")).Refused(t, "beyond", "credit")
	d.Post(t, "service-sale", "", d.ServiceSale("1")).Want(t, "up to the limit", 201, "")
	counterparty, contract := d.Supplier(t)
	d.Post(t, "service-sale", "", d.ServiceSale("1").With("counterparty", counterparty).With("contract",
		contract)).Want(t, "to a supplier", 400, "invalid")
	d.Post(t, "service-sale", "", d.ServiceSale("1").With("counterparty", counterparty)).Want(t,
		"under the contract of another", 400, "invalid")
	d.Post(t, "service-sale", "", d.ServiceSale("1").With("lines",
		[]erptest.Fields{{"service": id.New(), "quantity": "1"}})).Want(t, "no such service", 400, "invalid")
	erptest.Clean(t, d.Database)
}
