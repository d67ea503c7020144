package money_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
)

func TestAPaymentIsRequestedOnceAndWithinLimits(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	receipt := d.Post(t, "goods-receipt", "", d.Goods("10")) // 12.00 with VAT
	order := d.Post(t, "supplier-order", "", d.Goods("10"))
	services := d.Post(t, "service-purchase", "", d.ServicePurchase("1"))
	asked := d.Live(t, "payment-request", d.PaymentRequest(order.ID, "1.00"), d.PaymentRequest(receipt.ID, "12.00"))
	d.Post(t, "payment-request", "", d.PaymentRequest(receipt.ID, "1.00")).Refused(t, "again", "payment_requests")
	d.Post(t, "payment-request", "", d.PaymentRequest(order.ID, "12.01")).Refused(t, "above an order", "payment_limit")
	d.Post(t, "payment-request", "", d.PaymentRequest(services.ID, "6.01")).Refused(t, "above a purchase of services",
		"payment_limit")
	d.Post(t, "payment-request", "", d.PaymentRequest(services.ID, "6.00")).Want(t, "of the services", 201, "")
	unposted := d.Draft(t, "goods-receipt", d.Goods("1"))
	d.Post(t, "payment-request", "", d.PaymentRequest(unposted.ID, "1.00")).Refused(t, "of what is not posted", "basis")

	d.Exec(t, "UPDATE cat_contracts SET payment_limit = 20 WHERE id = $1", erptest.Contract(d.Org.Counterparty))
	d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "2.01")).Refused(t, "above the limit", "payment_limit")
	last := d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "2.00"))
	last.Want(t, "up to the limit", 201, "")
	path := "/v1/documents/payment-request/" + last.ID.String()
	d.Call(t, "POST", path+"/post", "", nil).Want(t, "repost it", 200, "")
	d.Change(t, path, 2, d.PaymentRequest(id.ID{}, "2.01")).Refused(t, "change it to more", "payment_limit")
	d.Unpost(t, "payment-request", asked).Want(t, "unpost another", 200, "")
	d.Change(t, path, 2, d.PaymentRequest(id.ID{}, "14.00")).Want(t, "change it to more when there is room", 200, "")
	d.Repost(t, "payment-request", asked).Refused(t, "post the other again", "payment_limit")

	d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "0")).Want(t, "of nothing", 400, "invalid")
	d.Post(t, "payment-request", "", d.PaymentRequest(id.New(), "1.00")).Want(t, "of no document", 400, "invalid")
	counterparty, contract := d.Supplier(t)
	d.Post(t, "payment-request", "", d.PaymentRequest(receipt.ID, "1.00").With("counterparty",
		counterparty).With("contract", contract)).Want(t, "of the purchase from another", 400, "invalid")
	d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "1.00").With("counterparty", counterparty)).Want(t,
		"under the contract of another", 400, "invalid")
	d.Exec(t, "UPDATE cat_contracts SET supplier = false WHERE id = $1", contract)
	d.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, "1.00").With("counterparty",
		counterparty).With("contract", contract)).Want(t, "for a customer", 400, "invalid")
	erptest.Clean(t, d.Database)
}

// Many users request payments under one contract with a limit, pay them and unpost them: neither the limit nor the
// balance of the account is exceeded.
func TestConcurrentPaymentsKeepLimitAndCash(t *testing.T) {
	c := erptest.New(t, 1)
	bases := []string{c.Worker(t, server.Config{}), c.Worker(t, server.Config{})}
	o := c.Organisations[0]
	d := c.Desk(t, bases[0])
	d.Post(t, "bank-receipt", "", d.Payment("60.00", "IN")).Want(t, "earn", 201, "")
	c.Exec(t, "UPDATE cat_contracts SET payment_limit = 10")
	var requests, payments erptest.Outcomes
	erptest.Together(c.Posters(t, bases, 30), func(n int, u *erptest.User, rng *rand.Rand) {
		u = erptest.Login(t, u.Base, o.User)
		for i := range 6 {
			request := u.Post(t, "payment-request", "", d.PaymentRequest(id.ID{}, fmt.Sprintf("%d.00", 1+rng.IntN(5))))
			if requests.Count(t, request); request.Status != 201 {
				continue
			}
			payment := u.Post(t, "bank-payment", "",
				d.PaymentBy(request.ID, fmt.Sprintf("%d.00", 1+rng.IntN(5)), fmt.Sprint(n, " ", i)))
			if payments.Count(t, payment); payment.Status != 201 {
				requests.Count(t, u.Unpost(t, "payment-request", request.ID))
			}
		}
	})
	requests.WantNoneStale(t)
	payments.WantNoneStale(t)
	if refused := requests.Refused.Load() + payments.Refused.Load(); payments.Done.Load() == 0 || refused == 0 {
		t.Errorf("%d paid, %d refused: nothing was contended", payments.Done.Load(), refused)
	}
	c.WantNoDeadlock(t)
	erptest.Clean(t, c.Database)
}
