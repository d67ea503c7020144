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

func (d desk) request(basis id.ID, amount string) erptest.Fields {
	return d.deal(erptest.Fields{"basis": basis, "amount": amount})
}

func TestAPaymentIsRequestedOnceAndWithinLimits(t *testing.T) {
	d := sit(t, 1)
	receipt := d.Post(t, "goods-receipt", "", d.document("10")) // 12.00 with VAT
	order := d.Post(t, "supplier-order", "", d.document("10"))
	services := d.Post(t, "service-purchase", "", d.bought("1"))
	asked := d.live(t, "payment-request", d.request(order.ID, "1.00"), d.request(receipt.ID, "12.00"))
	refused(t, "again", d.Post(t, "payment-request", "", d.request(receipt.ID, "1.00")), "payment_requests")
	refused(t, "above an order", d.Post(t, "payment-request", "", d.request(order.ID, "12.01")), "payment_limit")
	refused(t, "above a purchase of services", d.Post(t, "payment-request", "", d.request(services.ID, "6.01")),
		"payment_limit")
	want(t, "of the services", d.Post(t, "payment-request", "", d.request(services.ID, "6.00")), 201, "")
	unposted := d.Call(t, "POST", "/v1/documents/goods-receipt?post=false", "", encode(t, d.document("1")))
	refused(t, "of what is not posted", d.Post(t, "payment-request", "", d.request(unposted.ID, "1.00")), "basis")

	d.Exec(t, "UPDATE cat_contracts SET payment_limit = 20 WHERE id = $1", erptest.Contract(d.o.Counterparty))
	refused(t, "above the limit", d.Post(t, "payment-request", "", d.request(id.ID{}, "2.01")), "payment_limit")
	last := d.Post(t, "payment-request", "", d.request(id.ID{}, "2.00"))
	want(t, "up to the limit", last, 201, "")
	path := "/v1/documents/payment-request/" + last.ID.String()
	want(t, "post it anew", d.Call(t, "POST", path+"/post", "", nil), 200, "")
	refused(t, "change it to more", d.Change(t, path, 2, jsonOf(t, d.request(id.ID{}, "2.01"))), "payment_limit")
	want(t, "take another back", d.Call(t, "POST", "/v1/documents/payment-request/"+asked.String()+"/unpost", "", nil),
		200, "")
	want(t, "change it to more when there is room", d.Change(t, path, 2, jsonOf(t, d.request(id.ID{}, "14.00"))), 200,
		"")
	refused(t, "post the other again", d.Call(t, "POST", "/v1/documents/payment-request/"+asked.String()+"/post", "",
		nil), "payment_limit")

	want(t, "of nothing", d.Post(t, "payment-request", "", d.request(id.ID{}, "0")), 400, "invalid")
	want(t, "of no document", d.Post(t, "payment-request", "", d.request(id.New(), "1.00")), 400, "invalid")
	counterparty, contract := d.supplier(t)
	want(t, "of the purchase from another",
		d.Post(t, "payment-request", "", with(with(d.request(receipt.ID, "1.00"), "counterparty", counterparty),
			"contract", contract)), 400, "invalid")
	want(t, "under the contract of another",
		d.Post(t, "payment-request", "", with(d.request(id.ID{}, "1.00"), "counterparty", counterparty)), 400,
		"invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", contract)
	want(t, "for a customer", d.Post(t, "payment-request", "",
		with(with(d.request(id.ID{}, "1.00"), "counterparty", counterparty), "contract", contract)), 400, "invalid")
	erptest.Clean(t, d.Database)
}

// Everybody requests payments under one contract with a limit, pays them and takes them back: neither the limit nor
// what lies on the account is exceeded.
func TestConcurrentPaymentsKeepLimitAndCash(t *testing.T) {
	c := erptest.New(t, 1)
	bases := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	o := c.Organisations[0]
	d := desk{c, erptest.Login(t, bases[0], o.User), o}
	want(t, "earn", d.Post(t, "bank-receipt", "", d.payment("60.00", "IN")), 201, "")
	c.Exec(t, "UPDATE cat_contracts SET payment_limit = 10")
	var paid, said atomic.Int64
	count := func(a erptest.Answer) {
		switch a.Status {
		case 200, 201:
		case 409:
			said.Add(1)
		default:
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	together(posters(t, c, bases, 30), func(n int, u *erptest.User, rng *rand.Rand) {
		u = erptest.Login(t, u.Base, o.User)
		for i := range 6 {
			request := u.Post(t, "payment-request", "", d.request(id.ID{}, fmt.Sprintf("%d.00", 1+rng.IntN(5))))
			if count(request); request.Status != 201 {
				continue
			}
			payment := u.Post(t, "bank-payment", "",
				d.paid(request.ID, fmt.Sprintf("%d.00", 1+rng.IntN(5)), fmt.Sprint(n, " ", i)))
			if count(payment); payment.Status == 201 {
				paid.Add(1)
			} else {
				count(u.Call(t, "POST", "/v1/documents/payment-request/"+request.ID.String()+"/unpost", "", nil))
			}
		}
	})
	if paid.Load() == 0 || said.Load() == 0 {
		t.Errorf("%d paid, %d refused: nothing was contended", paid.Load(), said.Load())
	}
	if got := c.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
	erptest.Clean(t, c.Database)
}
