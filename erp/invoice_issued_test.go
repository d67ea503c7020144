package erp_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/id"
	"plimsoll/platform/server"
)

func (d desk) invoice(basis id.ID) erptest.Fields {
	return erptest.Fields{"basis": basis, "contract": erptest.Contract(d.o.Counterparty)}
}

func TestASaleIsInvoicedOnce(t *testing.T) {
	d := sit(t, 2)
	d.Post(t, "goods-receipt", "", d.document("10"))
	goods, services := d.document("3"), d.services("1")
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[0], Quantity: "1"})
	first, second := d.Post(t, "goods-sale", "", goods), d.Post(t, "service-sale", "", services)
	refusedBasis := d.Call(t, "POST", "/v1/documents/service-sale?post=false", "", jsonOf(t, services))
	refused(t, "invoice what is not posted", d.Post(t, "invoice-issued", "", d.invoice(refusedBasis.ID)), "basis")
	issued := d.live(t, "invoice-issued", d.invoice(second.ID), d.invoice(first.ID))
	const booked = "SELECT coalesce(sum(amount), 0) || ' ' || coalesce(sum(vat), 0) FROM acc_sales_book_totals"
	if got := d.Value(t, booked); got != "8.00 1.60" {
		t.Errorf("the sales book has %s", got)
	}
	if got := d.Value(t, "SELECT sum(amount) || ' ' || sum(vat) FROM acc_output_vat_totals "+
		"WHERE period = 'infinity'"); got != "10.00 2.00" {
		t.Errorf("%s wait for an invoice", got)
	}
	refused(t, "invoice it again", d.Post(t, "invoice-issued", "", d.invoice(first.ID)), "invoices")
	want(t, "invoice the other", d.Post(t, "invoice-issued", "", d.invoice(second.ID)), 201, "")
	counterparty, contract := d.supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true WHERE id = $1", contract)
	refused(t, "sell it to another", d.Change(t, "/v1/documents/service-sale/"+second.ID.String(), 1,
		jsonOf(t, with(with(services, "counterparty", counterparty), "contract", contract))), "output_vat")
	refused(t, "take back what is invoiced", d.unpost(t, "goods-sale", first), "output_vat")
	smaller := d.document("1")
	refused(t, "make less of it", d.Change(t, "/v1/documents/goods-sale/"+first.ID.String(), 1, encode(t, smaller)),
		"output_vat")
	larger := d.document("5")
	want(t, "make more of it", d.Change(t, "/v1/documents/goods-sale/"+first.ID.String(), 1, encode(t, larger)), 200,
		"")
	want(t, "post the invoice anew", d.Call(t, "POST", "/v1/documents/invoice-issued/"+issued.String()+"/post", "",
		nil), 200, "")
	if got := d.Value(t, booked); got != "20.00 4.00" {
		t.Errorf("the sales book has %s", got)
	}
	erptest.Clean(t, d.Database)
	free := d.Post(t, "service-sale", "", with(services, "lines",
		[]erptest.Fields{{"service": d.Services[0], "quantity": "0.001", "price": "0.01"}}))
	refused(t, "invoice what costs nothing", d.Post(t, "invoice-issued", "", d.invoice(free.ID)), "basis")
	want(t, "of nothing", d.Post(t, "invoice-issued", "", erptest.Fields{}), 400, "invalid")
	receipt := d.Post(t, "goods-receipt", "", d.document("1"))
	want(t, "of a receipt", d.Post(t, "invoice-issued", "", d.invoice(receipt.ID)), 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	want(t, "of others", stranger.Post(t, "invoice-issued", "", d.invoice(second.ID)), 400, "invalid")
}

// While invoices are issued their sales are changed from one rate of VAT to another and taken back: an invoice is of
// what its sale says.
func TestConcurrentInvoicesAreOfWhatIsSold(t *testing.T) {
	c := erptest.New(t, 3)
	bases := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	u := erptest.Login(t, bases[0], c.Organisations[0].User)
	of := func(service int) erptest.Fields {
		o := c.Organisations[0]
		return erptest.Fields{"counterparty": o.Counterparty, "contract": erptest.Contract(o.Counterparty),
			"lines": []erptest.Fields{
				{"service": c.Services[service], "quantity": fmt.Sprint(2 - service)}, // 20.00 either way
			}}
	}
	var sales []id.ID
	for range 8 {
		sales = append(sales, u.Post(t, "service-sale", "", of(0)).ID)
	}
	var issued, said atomic.Int64
	together(posters(t, c, bases, 30), func(_ int, u *erptest.User, rng *rand.Rand) {
		if u = erptest.Login(t, u.Base, c.Organisations[0].User); u == nil {
			return
		}
		for range 8 {
			sale, a := sales[rng.IntN(len(sales))], erptest.Answer{}
			path := "/v1/documents/service-sale/" + sale.String()
			switch rng.IntN(4) {
			case 0, 1:
				if a = u.Post(t, "invoice-issued", "",
					erptest.Fields{"basis": sale, "contract": erptest.Contract(
						c.Organisations[0].Counterparty)}); a.Status == 201 {
					issued.Add(1)
					if rng.IntN(2) == 0 {
						a = u.Call(t, "POST", "/v1/documents/invoice-issued/"+a.ID.String()+"/unpost", "", nil)
					}
				}
			case 2:
				a = u.Change(t, path+"?post=true", version(t, u, path), jsonOf(t, of(rng.IntN(2))))
			case 3:
				a = u.Call(t, "POST", path+[]string{"/post", "/unpost"}[rng.IntN(2)], "", nil)
			}
			switch a.Status {
			case 200, 201:
			case 409, 412:
				said.Add(1)
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
	})
	if issued.Load() == 0 || said.Load() == 0 {
		t.Errorf("%d issued, %d refused: nothing was contended", issued.Load(), said.Load())
	}
	erptest.Clean(t, c.Database)
}
