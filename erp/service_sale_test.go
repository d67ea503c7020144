package erp_test

import (
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
)

func (d desk) services(quantity string) erptest.Fields {
	return d.deal(erptest.Fields{"lines": []erptest.Fields{{"service": d.Services[0], "quantity": quantity}}})
}

func TestServicesAreSold(t *testing.T) {
	d := sit(t, 1)
	sale := d.live(t, "service-sale", d.services("1"), d.services("3")) // at 10.00 and 20 %
	if got := d.entries(t, sale); got != "62 90 36.00, 90 68 6.00" {
		t.Errorf("entries: %s", got)
	}
	const books = "SELECT s.amount || ' ' || v.amount || ' ' || v.vat FROM acc_customer_settlements_totals s, " +
		"acc_output_vat_totals v WHERE s.period = 'infinity' AND v.period = 'infinity'"
	if got := d.Value(t, books); got != "36.00 30.00 6.00" {
		t.Errorf("owed, net and VAT: %s", got)
	}
}

func TestServicesAreNotSoldBeyondTheLimitOrToAnybody(t *testing.T) {
	d := sit(t, 1)
	d.Exec(t, "UPDATE cat_contracts SET credit_limit = 36 WHERE id = $1", erptest.Contract(d.o.Counterparty))
	sale := d.Post(t, "service-sale", "", d.services("2"))
	want(t, "within", sale, 201, "")
	refused(t, "beyond", d.Post(t, "service-sale", "", d.services("1.001")), "credit")
	want(t, "up to the limit", d.Post(t, "service-sale", "", d.services("1")), 201, "")
	counterparty, contract := d.supplier(t)
	want(t, "to a supplier", d.Post(t, "service-sale", "",
		with(with(d.services("1"), "counterparty", counterparty), "contract", contract)), 400, "invalid")
	want(t, "under the contract of another",
		d.Post(t, "service-sale", "", with(d.services("1"), "counterparty", counterparty)), 400, "invalid")
	want(t, "no such service", d.Post(t, "service-sale", "",
		with(d.services("1"), "lines", []erptest.Fields{{"service": id.New(), "quantity": "1"}})), 400, "invalid")
	erptest.Clean(t, d.Database)
}
