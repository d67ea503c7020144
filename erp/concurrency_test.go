package erp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/id"
	"plimsoll/platform/server"
	"plimsoll/platform/shape"
	"plimsoll/test/patience"
)

// posters are sessions of one user, spread over the workers.
func posters(t *testing.T, c *erptest.Company, bases []string, count int) (users []*erptest.User) {
	for n := range count {
		users = append(users, erptest.Login(t, bases[n%len(bases)], c.Organisations[0].User))
	}
	return users
}

// together lets all do something at once.
func together(users []*erptest.User, do func(n int, u *erptest.User, rng *rand.Rand)) {
	var wait sync.WaitGroup
	for n, u := range users {
		wait.Add(1)
		go func() {
			defer wait.Done()
			do(n, u, rand.New(rand.NewPCG(1, uint64(n))))
		}()
	}
	wait.Wait()
}

func (s stocked) sale(rng *rand.Rand, units int) erptest.Document {
	d := erptest.Document{Warehouse: s.warehouse, Counterparty: s.Organisations[0].Counterparty}
	for _, n := range rng.Perm(len(s.Items))[:1+rng.IntN(len(s.Items))] { // in any order: the locks must not care
		d.Lines = append(d.Lines, erptest.Line{Item: s.Items[n],
			Quantity: fmt.Sprintf("%d.%03d", 1+rng.IntN(units), rng.IntN(1000))})
	}
	return d
}

// stocked is a company with some units of every item in one warehouse.
type stocked struct {
	*erptest.Company
	warehouse id.ID
}

func stock(t *testing.T, base string, c *erptest.Company, units int) stocked {
	s := stocked{c, c.Organisations[0].Warehouses[0]}
	d := erptest.Document{Warehouse: s.warehouse, Counterparty: c.Organisations[0].Counterparty}
	for _, item := range c.Items {
		d.Lines = append(d.Lines, erptest.Line{Item: item, Quantity: fmt.Sprint(units), Price: "3.33"})
	}
	if a := erptest.Login(t, base, c.Organisations[0].User).Post(t, "goods-receipt", "", d); a.Status != 201 {
		t.Fatalf("receive: %d %s", a.Status, a.Body)
	}
	return s
}

// More sessions than there are connections, on workers of all shapes, want more of five hot items than there is.
// Receipts at odd prices keep the stock near zero for the whole time.
func TestConcurrentPostersNeverOversellNorLoseAMovement(t *testing.T) {
	c := erptest.New(t, 5)
	bases := c.Mixed(t)
	s := stock(t, bases[0], c, 7)
	var posted, refused, receipts atomic.Int64
	var mutex sync.Mutex
	acknowledged := map[id.ID]bool{}
	together(posters(t, c, bases, 48), func(n int, u *erptest.User, rng *rand.Rand) {
		for round := range 5 {
			kind, d := "goods-sale", s.sale(rng, 5)
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
	if got := c.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
	erptest.Clean(t, c.Database)
}

// The first sale has read its balance and waits, in the middle of writing, for the ledger that the test holds; the
// second one wants the same goods. Whatever it reads before the first has ended is stale.
func TestASaleReadsItsBalanceBehindTheSaleBeforeIt(t *testing.T) {
	c := erptest.New(t, 1)
	bases := c.Mixed(t)
	s := stock(t, bases[0], c, 10)
	users := posters(t, c, bases, 2)
	d := erptest.Document{Warehouse: s.warehouse, Counterparty: c.Organisations[0].Counterparty,
		Lines: []erptest.Line{{Item: c.Items[0], Quantity: "7"}}}
	first, second := make(chan erptest.Answer, 1), make(chan erptest.Answer, 1)
	holdingTheLedger(t, c, func() {
		go func() { first <- users[0].Post(t, "goods-sale", "", d) }()
		blockedBackends(t, c, 1)
		go func() { second <- users[1].Post(t, "goods-sale", "", d) }()
		blockedBackends(t, c, 2)
	})
	if a, b := <-first, <-second; a.Status != 201 || b.Status != 409 {
		t.Errorf("first %d %s, second %d %s", a.Status, a.Body, b.Status, b.Body)
	}
	erptest.Clean(t, c.Database)
}

// holdingTheLedger stops every posting at its last statement while do runs.
func holdingTheLedger(t *testing.T, c *erptest.Company, do func()) {
	t.Helper()
	err := databasetest.Connect(t, c.DSN, database.Options{Connections: 1}).Run(t.Context(),
		func(w *database.Work) error {
			w.Queue("hold the ledger", "LOCK TABLE gl_general_totals IN EXCLUSIVE MODE")
			if err := w.Flush(t.Context()); err != nil {
				return err
			}
			do()
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOneKeyIsOneDocument(t *testing.T) {
	c := erptest.New(t, 2)
	bases := c.Mixed(t)
	s := stock(t, bases[0], c, 1000)
	d := s.sale(rand.New(rand.NewPCG(1, 1)), 1)

	t.Run("HoweverOftenItIsSentAtOnce", func(t *testing.T) {
		var mutex sync.Mutex
		var ids []string
		replayed := 0
		together(posters(t, c, bases, 20), func(_ int, u *erptest.User, _ *rand.Rand) {
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
	s := stock(t, base, c, 100)
	u := erptest.Login(t, base, c.Organisations[0].User)
	d := s.sale(rand.New(rand.NewPCG(1, 1)), 1)

	answers := make(chan erptest.Answer, 1)
	holdingTheLedger(t, c, func() {
		go func() { answers <- u.Post(t, "goods-sale", "cut", d) }()
		cut := blockedBackends(t, c, 1)[0] // it has written the document and the stock, and waits for the ledger
		c.Exec(t, "SELECT pg_terminate_backend($1)", cut)
		patience.Until(t, "it has gone, and the worker does it again", func() bool {
			return blockedBackends(t, c, 1)[0] != cut
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

// blockedBackends waits until so many connections of workers wait for a lock, and tells their processes.
func blockedBackends(t *testing.T, c *erptest.Company, count int) (pids []int32) {
	patience.Until(t, "the postings wait", func() bool {
		err := c.Read(context.Background(), func(w *database.Work) error {
			pids = nil
			w.Queue("who waits", "SELECT pid FROM pg_stat_activity WHERE application_name = 'worker' AND datname = "+
				"current_database() AND wait_event_type = 'Lock'").
				Rows(func(r pgx.Rows) error {
					var pid int32
					err := r.Scan(&pid)
					pids = append(pids, pid)
					return err
				})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(pids) >= count
	})
	return pids
}

// Connections are cut at random while everybody posts; whoever gets no clear answer asks again with the same key. A
// cut comes after so many documents, however long they take, so that cuts never come faster than postings end.
func TestCutConnectionsNeitherLoseNorDoubleADocument(t *testing.T) {
	c := erptest.New(t, 4)
	bases := c.Mixed(t)
	s := stock(t, bases[0], c, 100_000)
	const count, rounds, cutAfter = 24, 4, 8
	users := posters(t, c, bases, count)
	var posted, cuts atomic.Int64
	together(users, func(n int, u *erptest.User, rng *rand.Rand) {
		for round := range rounds {
			d, key := s.sale(rng, 3), fmt.Sprintf("%d-%d", n, round)
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

// cutOne cuts a connection of a worker, one that is at work if there is any, and counts it.
const cutOne = `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
	WHERE application_name = 'worker' AND datname = current_database() ORDER BY state = 'idle', random() LIMIT 1) one`

// An unposting that waits in the middle of writing has taken the goods already: a sale must not see them, nor the
// other way round.
func TestASaleAndAnUnpostingReadBehindEachOther(t *testing.T) {
	for name, saleFirst := range map[string]bool{"TheSaleFirst": true, "TheUnpostingFirst": false} {
		t.Run(name, func(t *testing.T) {
			c := erptest.New(t, 1)
			users := posters(t, c, c.Mixed(t), 2)
			d := erptest.Document{Warehouse: c.Organisations[0].Warehouses[0],
				Counterparty: c.Organisations[0].Counterparty, Lines: []erptest.Line{{Item: c.Items[0], Quantity: "7"}}}
			receipt := users[0].Post(t, "goods-receipt", "", d)
			calls := []func() erptest.Answer{
				func() erptest.Answer {
					return users[0].Call(t, "POST", "/v1/documents/goods-receipt/"+receipt.ID.String()+"/unpost", "",
						nil)
				},
				func() erptest.Answer { return users[1].Post(t, "goods-sale", "", d) },
			}
			if saleFirst {
				slices.Reverse(calls)
			}
			first, second := make(chan erptest.Answer, 1), make(chan erptest.Answer, 1)
			holdingTheLedger(t, c, func() {
				go func() { first <- calls[0]() }()
				blockedBackends(t, c, 1)
				go func() { second <- calls[1]() }()
				blockedBackends(t, c, 2)
			})
			if a, b := <-first, <-second; a.Status > 201 || b.Status != 409 {
				t.Errorf("first %d %s, second %d %s", a.Status, a.Body, b.Status, b.Body)
			}
			erptest.Clean(t, c.Database)
		})
	}
}
