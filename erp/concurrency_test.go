package erp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
	"plimsoll/test/patience"
)

// More sessions than there are connections, on workers of all shapes, want more of five hot items than there is.
// Receipts at odd prices keep the stock near zero for the whole time.
func TestConcurrentPostersNeverOversellNorLoseAMovement(t *testing.T) {
	c := erptest.New(t, 5)
	bases := c.Mixed(t)
	s := c.Stock(t, bases[0], 7)
	var posted, refused, receipts atomic.Int64
	var mutex sync.Mutex
	acknowledged := map[id.ID]bool{}
	erptest.Together(c.Posters(t, bases, 48), func(n int, u *erptest.User, rng *rand.Rand) {
		for round := range 5 {
			kind, d := "goods-sale", s.Sale(rng, 5)
			if (n+round)%3 == 0 {
				kind = "goods-receipt"
				for i := range d.Lines {
					d.Lines[i].Price = fmt.Sprintf("%d.%02d", rng.IntN(5), rng.IntN(100))
				}
				receipts.Add(1)
			}
			switch a := u.Post(t, kind, "", d); {
			case a.Status == 201:
				posted.Add(1)
				mutex.Lock()
				if acknowledged[a.ID] {
					t.Errorf("%s was acknowledged twice", a.ID)
				}
				acknowledged[a.ID] = true
				mutex.Unlock()
			case a.Status == 409 && kind == "goods-sale":
				refused.Add(1)
			default:
				t.Errorf("%s: %d %s", kind, a.Status, a.Body)
			}
		}
	})
	if refused.Load() == 0 || refused.Load() > posted.Load() {
		t.Errorf("%d posted, %d refused: the stock was not contended", posted.Load(), refused.Load())
	}
	if got := c.Value(t, "SELECT count(*) FROM (SELECT id FROM doc_goods_sale UNION ALL SELECT id FROM "+
		"doc_goods_receipt) d"); got != fmt.Sprint(posted.Load()+1) {
		t.Errorf("%s documents, %d acknowledged and 1 before", got, posted.Load())
	}
	if got := c.Value(t, "SELECT min(quantity) >= 0 FROM acc_stock_totals WHERE period = 'infinity'"); got != "true" {
		t.Error("oversold")
	}
	c.WantNoDeadlock(t)
	erptest.Clean(t, c.Database)
}

func TestOneKeyIsOneDocument(t *testing.T) {
	c := erptest.New(t, 2)
	bases := c.Mixed(t)
	s := c.Stock(t, bases[0], 1000)
	d := s.Sale(rand.New(rand.NewPCG(1, 1)), 1)

	t.Run("HoweverOftenItIsSentAtOnce", func(t *testing.T) {
		var mutex sync.Mutex
		var ids []string
		replayed := 0
		erptest.Together(c.Posters(t, bases, 20), func(_ int, u *erptest.User, _ *rand.Rand) {
			a := u.Post(t, "goods-sale", "the-key", d)
			mutex.Lock()
			defer mutex.Unlock()
			if ids = append(ids, a.ID.String()+a.Number); a.Status != 201 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if a.Replayed {
				replayed++
			}
		})
		if slices.Sort(ids); len(slices.Compact(ids)) != 1 || replayed != 19 {
			t.Errorf("answers %v, %d of 20 replayed", ids, replayed)
		}
		if got := c.Value(t, "SELECT count(*) FROM doc_goods_sale"); got != "1" {
			t.Errorf("%s documents", got)
		}
	})
	u := erptest.Login(t, bases[1], c.Organisations[0].User)
	t.Run("AndNotAnotherOne", func(t *testing.T) {
		other := d
		other.Comment = "changed"
		if a := u.Post(t, "goods-sale", "the-key", other); a.Status != 422 || a.Code != "key_reused" {
			t.Errorf("another sale: %d %s", a.Status, a.Body)
		}
		if a := u.Post(t, "goods-receipt", "the-key", d); a.Status != 422 {
			t.Errorf("a receipt: %d %s", a.Status, a.Body)
		}
	})
	t.Run("ForEachUser", func(t *testing.T) {
		stranger := erptest.Login(t, bases[0], c.Organisations[1].User)
		theirs := erptest.Document{Warehouse: c.Organisations[1].Warehouses[0],
			Counterparty: c.Organisations[1].Counterparty, Lines: d.Lines}
		if a := stranger.Post(t, "goods-receipt", "the-key", theirs); a.Status != 201 || a.Replayed {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("AfterARefusalItIsStillFree", func(t *testing.T) {
		much := d
		much.Lines = []erptest.Line{{Item: c.Items[0], Quantity: "5000"}}
		if a := u.Post(t, "goods-sale", "second", much); a.Status != 409 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		u.Post(t, "goods-receipt", "", much)
		if a := u.Post(t, "goods-sale", "second", much); a.Status != 201 || a.Replayed {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("AndMustBePrintable", func(t *testing.T) {
		for _, key := range []string{"with space", "тест", strings.Repeat("x", 129)} {
			if a := u.Post(t, "goods-sale", key, d); a.Status != 400 {
				t.Errorf("%q: %d", key, a.Status)
			}
		}
	})
	erptest.Clean(t, c.Database)
}

// The test holds a total that the posting needs, so it knows where the posting stands when its connection is cut.
func TestAConnectionCutInMidPostingLeavesNothingHalfDone(t *testing.T) {
	for _, name := range shape.Names {
		t.Run(string(name), func(t *testing.T) { cutInMidPosting(t, erptest.Shaped(t, name, shape.Tweaks{})) })
	}
}

func cutInMidPosting(t *testing.T, config server.Config) {
	c := erptest.New(t, 2)
	base := c.Worker(t, config)
	s := c.Stock(t, base, 100)
	u := erptest.Login(t, base, c.Organisations[0].User)
	d := s.Sale(rand.New(rand.NewPCG(1, 1)), 1)

	answers := make(chan erptest.Answer, 1)
	c.HoldLedger(t, func() {
		go func() { answers <- u.Post(t, "goods-sale", "cut", d) }()
		cut := c.Blocked(t, 1)[0] // it has written the document and the stock, and waits for the ledger
		c.Exec(t, "SELECT pg_terminate_backend($1)", cut)
		patience.Until(t, "it has gone, and the worker does it again", func() bool {
			return c.Blocked(t, 1)[0] != cut
		})
		if got := c.Value(t, "SELECT count(*) FROM doc_goods_sale"); got != "0" {
			t.Errorf("%s documents after the cut", got)
		}
	})
	if a := <-answers; a.Status != 201 || a.Replayed {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if got := c.Value(t, "SELECT count(*) FROM doc_goods_sale"); got != "1" {
		t.Errorf("%s documents", got)
	}
	erptest.Clean(t, c.Database)
}

// Connections are cut at random while many users post; without a clear answer they repeat with the same key. A
// cut comes after so many documents, however long they take, so that cuts never come faster than postings end.
func TestCutConnectionsNeitherLoseNorDoubleADocument(t *testing.T) {
	c := erptest.New(t, 4)
	bases := c.Mixed(t)
	s := c.Stock(t, bases[0], 100_000)
	const count, rounds, cutAfter = 24, 4, 8
	users := c.Posters(t, bases, count)
	var posted, cuts atomic.Int64
	erptest.Together(users, func(n int, u *erptest.User, rng *rand.Rand) {
		for round := range rounds {
			d, key := s.Sale(rng, 3), fmt.Sprintf("%d-%d", n, round)
			a := u.Post(t, "goods-sale", key, d)
			for attempt := 0; a.Status == 503 && attempt < 100; attempt++ {
				a = u.Post(t, "goods-sale", key, d)
			}
			if a.Status != 201 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if posted.Add(1)%cutAfter == 0 && c.Value(t, cutOne) == "1" {
				cuts.Add(1)
			}
		}
	})
	if got := c.Value(t, "SELECT count(*) || ' of ' || count(DISTINCT number) FROM doc_goods_sale"); got != fmt.Sprintf(
		"%d of %d", count*rounds, count*rounds) || cuts.Load() == 0 {
		t.Errorf("%s documents after %d cuts, want %d", got, cuts.Load(), count*rounds)
	}
	erptest.Clean(t, c.Database)
}

// cutOne cuts a connection of a worker, an active one if there is any, and counts it.
const cutOne = `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
	WHERE application_name = 'worker' AND datname = current_database() ORDER BY state = 'idle', random() LIMIT 1) one`
