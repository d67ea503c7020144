package operations

import (
	"math/rand/v2"
	"testing"
)

// Ten minutes of the demo: 25 operations a second. Of a thousand invoices fewer than ten find no sale.
func TestLack_IsEnoughForARun(t *testing.T) {
	const n = 25 * 600
	mix, sum := map[string]float64{}, 0.0
	for _, op := range All() {
		mix[op.ID], sum = op.Weight, sum+op.Weight
	}
	random := rand.New(rand.NewPCG(1, 1))
	for id, from := range brought {
		taken, short := 0, 0
		for range 100 {
			waiting := Lack(id, mix, n)
			for range n {
				at := random.Float64() * sum
				switch brings := 0.0; {
				case at < mix[id]:
					if taken++; waiting > 0 {
						waiting--
					} else {
						short++
					}
				default:
					for _, other := range from {
						brings += mix[other]
					}
					if at < mix[id]+brings {
						waiting++
					}
				}
			}
		}
		if 100*short > taken {
			t.Errorf("%s: %d of %d found nothing with %d at the beginning", id, short, taken, Lack(id, mix, n))
		}
	}
	if got := Lack(InvoiceIssuedPost, mix, n); got < 75 || got > 200 {
		t.Errorf("%d sales for the invoices: 97 of 9,896 postings are lacking", got)
	}
	if Lack(GoodsSaleList, mix, n) != 0 || Lack(BankPaymentPost, map[string]float64{GoodsSalePost: 1}, n) != 0 {
		t.Error("documents for what acts on none")
	}
}
