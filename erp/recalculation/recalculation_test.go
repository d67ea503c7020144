package recalculation_test

import (
	"math/rand/v2"
	"testing"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/worker/server"
)

// Totals are recalculated while everybody posts: they are right afterwards, and they were right before.
func TestTotalsAreRecalculatedBesideLivePosting(t *testing.T) {
	c := erptest.New(t, 3)
	base := c.Worker(t, server.Config{})
	s := c.Stock(t, base, 100_000)
	c.Exec(t, "UPDATE acc_stock_totals SET quantity = quantity + 7")
	c.Exec(t, "DELETE FROM gl_general_totals WHERE account = '41'")
	c.Exec(t, "UPDATE gl_general_accounts SET debit = debit + 7")
	poster := posting.New(c.Database, erp.Metadata(), erp.Rules())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, name := range []string{books.Stock.Name(), books.General.Name()} {
				if totals, err := poster.Recalculate(t.Context(), name); err != nil || totals == 0 {
					t.Errorf("%d totals of %s, %v", totals, name, err)
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	erptest.Together(c.Posters(t, []string{base}, 16), func(_ int, u *erptest.User, rng *rand.Rand) {
		for range 8 {
			a := u.Post(t, "goods-sale", "", s.Sale(rng, 3))
			if a.Status != 201 {
				t.Errorf("%d %s", a.Status, a.Body)
				continue
			}
			if rng.IntN(2) == 0 {
				u.Unpost(t, "goods-sale", a.ID).Want(t, "unpost", 200, "")
			}
		}
	})
	close(stop)
	<-stopped
	erptest.Clean(t, c.Database)
	if _, err := poster.Recalculate(t.Context(), "nothing"); err == nil {
		t.Error("a register that does not exist was recalculated")
	}
}
