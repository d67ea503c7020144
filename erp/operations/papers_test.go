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
	// Takes 257 and 217 of the n: what waits for warehouse orders is not counted on.
	for id, takes := range map[string]int{WarehouseIssueOrderPost: 257, WarehouseReceiptOrderPost: 217} {
		if got := Lack(id, mix, n); got < takes || got > takes+60 {
			t.Errorf("%d documents for %s, which takes %d", got, id, takes)
		}
	}
	if Lack(GoodsSaleList, mix, n) != 0 || Lack(BankPaymentPost, map[string]float64{GoodsSalePost: 1}, n) != 0 {
		t.Error("documents for what acts on none")
	}
}

// TestLack_IsWhatOthersDoNotBringAndThreeDeviations: also where others bring as much as is taken, and more.
func TestLack_IsWhatOthersDoNotBringAndThreeDeviations(t *testing.T) {
	const n = 100
	for _, c := range []struct {
		name         string
		takes, bring float64
		want         int
	}{
		{"AsMuch", 1, 1, 30},         // 0 + 3√100
		{"Less", 3, 1, 50 + 30},      // 75 − 25 + 3√100
		{"MuchMore", 1, 3, 0},        // 25 − 75 + 3√100 is below 0
		{"LittleMore", 9, 11, 20},    // 45 − 55 + 3√100
		{"NothingBrings", 1, 0, 130}, // 100 + 3√100
		{"NothingIsTaken", 0, 1, 0},  // no operation, no documents
	} {
		mix := map[string]float64{InvoiceIssuedPost: c.takes, GoodsSalePost: c.bring}
		if got := Lack(InvoiceIssuedPost, mix, n); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
