package invoices_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
)

func TestASaleIsInvoicedOnce(t *testing.T) {
	d := erptest.NewDesk(t, 2)
	d.Post(t, "goods-receipt", "", d.Goods("10"))
	goods, services := d.Goods("3"), d.ServiceSale("1")
	goods.Lines = append(goods.Lines, erptest.Line{Item: d.Items[0], Quantity: "1"})
	first, second := d.Post(t, "goods-sale", "", goods), d.Post(t, "service-sale", "", services)
	refusedBasis := d.Draft(t, "service-sale", services)
	d.Post(t, "invoice-issued", "", d.Invoice(refusedBasis.ID)).Refused(t, "invoice what is not posted", "basis")
	issued := d.Live(t, "invoice-issued", d.Invoice(second.ID), d.Invoice(first.ID))
	const booked = "SELECT coalesce(sum(amount), 0) || ' ' || coalesce(sum(vat), 0) FROM acc_sales_book_totals"
	if got := d.Value(t, booked); got != "8.00 1.60" {
		t.Errorf("the sales book has %s", got)
	}
	if got := d.Value(t, "SELECT sum(amount) || ' ' || sum(vat) FROM acc_output_vat_totals "+
		"WHERE period = 'infinity'"); got != "10.00 2.00" {
		t.Errorf("%s wait for an invoice", got)
	}
	d.Post(t, "invoice-issued", "", d.Invoice(first.ID)).Refused(t, "invoice it again", "invoices")
	d.Post(t, "invoice-issued", "", d.Invoice(second.ID)).Want(t, "invoice the other", 201, "")
	counterparty, contract := d.Supplier(t)
	d.Exec(t, "UPDATE cat_contracts SET customer = true WHERE id = $1", contract)
	d.Change(t, "/v1/documents/service-sale/"+second.ID.String(), 1,
		services.With("counterparty", counterparty).With("contract", contract)).Refused(t, "sell it to another",
		"output_vat")
	d.Unpost(t, "goods-sale", first.ID).Refused(t, "unpost what is invoiced", "output_vat")
	smaller := d.Goods("1")
	d.Change(t, "/v1/documents/goods-sale/"+first.ID.String(), 1, smaller).Refused(t, "make less of it", "output_vat")
	larger := d.Goods("5")
	d.Change(t, "/v1/documents/goods-sale/"+first.ID.String(), 1, larger).Want(t, "make more of it", 200, "")
	d.Repost(t, "invoice-issued", issued).Want(t, "repost the invoice", 200, "")
	if got := d.Value(t, booked); got != "20.00 4.00" {
		t.Errorf("the sales book has %s", got)
	}
	erptest.Clean(t, d.Database)
	free := d.Post(t, "service-sale", "", services.With("lines",
		[]erptest.Fields{{"service": d.Services[0], "quantity": "0.001", "price": "0.01"}}))
	d.Post(t, "invoice-issued", "", d.Invoice(free.ID)).Refused(t, "invoice what costs nothing", "basis")
	d.Post(t, "invoice-issued", "", erptest.Fields{}).Want(t, "of nothing", 400, "invalid")
	receipt := d.Post(t, "goods-receipt", "", d.Goods("1"))
	d.Post(t, "invoice-issued", "", d.Invoice(receipt.ID)).Want(t, "of a receipt", 400, "invalid")
	stranger := erptest.Login(t, d.Base, d.Organisations[1].User)
	stranger.Post(t, "invoice-issued", "", d.Invoice(second.ID)).Want(t, "of others", 400, "invalid")
}

// While invoices are issued their sales are changed from one rate of VAT to another and unposted: an invoice is of
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
	var issued atomic.Int64
	var outcomes erptest.Outcomes
	erptest.Together(c.Posters(t, bases, 30), func(_ int, u *erptest.User, rng *rand.Rand) {
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
						a = u.Unpost(t, "invoice-issued", a.ID)
					}
				}
			case 2:
				a = u.Change(t, path+"?post=true", u.Version(t, path), of(rng.IntN(2)))
			case 3:
				a = u.Call(t, "POST", path+[]string{"/post", "/unpost"}[rng.IntN(2)], "", nil)
			}
			outcomes.Count(t, a)
		}
	})
	if refused := outcomes.Refused.Load() + outcomes.Stale.Load(); issued.Load() == 0 || refused == 0 {
		t.Errorf("%d issued, %d refused: nothing was contended", issued.Load(), refused)
	}
	erptest.Clean(t, c.Database)
}
