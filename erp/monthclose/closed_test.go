package monthclose_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plimsoll/erp/audit"
	"plimsoll/erp/erptest"
	"plimsoll/erp/monthclose"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// closeMonth of the first organisation, or open it again, as the job does.
func closeMonth(t *testing.T, c *erptest.Company, month string, reopen bool) (done monthclose.Closed, err error) {
	t.Helper()
	all, err := closeMonths(t, c, monthclose.Arguments{Month: month, Reopen: reopen})
	if len(all) == 1 {
		done = all[0]
	}
	return done, err
}

func closeMonths(t *testing.T, c *erptest.Company, a monthclose.Arguments) (done []monthclose.Closed, err error) {
	t.Helper()
	db := databasetest.Connect(t, c.DSN, database.Options{Application: "worker"})
	a.Organisation = c.Organisations[0].ID
	arguments, _ := json.Marshal(a)
	result, err := monthclose.Job(db).Work(t.Context(), jobs.Task{Arguments: arguments})
	if err == nil {
		done = result.([]monthclose.Closed)
	}
	return done, err
}

func closes(t *testing.T, c *erptest.Company, month string, reopen bool) monthclose.Closed {
	t.Helper()
	done, err := closeMonth(t, c, month, reopen)
	if err != nil || done.Closed == reopen {
		t.Fatalf("close %s, reopen %t: %+v %v", month, reopen, done, err)
	}
	return done
}

// Whatever is done to a document that is, was or would be dated in a closed month is refused, in every shape; the
// books stay as they are.
func TestNothingIsWrittenIntoAClosedMonth(t *testing.T) {
	c := erptest.New(t, 1)
	bases := c.Mixed(t)
	d := c.Desk(t, bases[0])
	path := func(a erptest.Answer) string { return "/v1/documents/goods-receipt/" + a.ID.String() }
	before := d.Post(t, "goods-receipt", "early", d.GoodsOn("2025-04-10T00:00:00Z", "5"))
	posted := d.Post(t, "goods-receipt", "posted", d.GoodsOn("2025-05-01T00:00:00Z", "50"))
	written := d.Draft(t, "goods-receipt", d.GoodsOn("2025-05-31T23:59:59.999999Z", "7"))
	sold := d.Post(t, "goods-sale", "", d.GoodsOn("2025-05-12T00:00:00Z", "3"))
	later := d.Post(t, "goods-receipt", "", d.GoodsOn("2025-06-01T00:00:00Z", "5"))
	closed := closes(t, c, "2025-05", false)
	if closed.Result == 0 || sold.Status != 201 {
		t.Fatalf("%+v %d %s", closed, sold.Status, sold.Body)
	}
	kept := digest(t, c)
	for _, base := range bases {
		u := erptest.Login(t, base, d.Org.User)
		body := func(date string) erptest.Document { return d.GoodsOn(date, "1") }
		for what, a := range map[string]erptest.Answer{
			"post a new one":             u.Post(t, "goods-receipt", "", d.GoodsOn("2025-05-20T00:00:00Z", "1")),
			"sell":                       u.Post(t, "goods-sale", "", d.GoodsOn("2025-05-20T00:00:00Z", "1")),
			"order":                      u.Post(t, "customer-order", "", d.GoodsOn("2025-05-20T00:00:00Z", "1")),
			"write without posting":      u.Draft(t, "goods-receipt", body("2025-05-20T00:00:00Z")),
			"post into a month before":   u.Post(t, "goods-receipt", "", d.GoodsOn("2025-04-20T00:00:00Z", "1")),
			"post what was written":      u.Call(t, "POST", path(written)+"/post", "", nil),
			"repost":                     u.Call(t, "POST", path(posted)+"/post", "", nil),
			"unpost":                     u.Call(t, "POST", path(posted)+"/unpost", "", nil),
			"unpost of a month before":   u.Call(t, "POST", path(before)+"/unpost", "", nil),
			"unpost a sale":              u.Unpost(t, "goods-sale", sold.ID),
			"change":                     u.Change(t, path(posted), 1, body("")),
			"change what was not posted": u.Change(t, path(written), 1, body("")),
			"move out of the month":      u.Change(t, path(posted), 1, body("2025-06-10T00:00:00Z")),
			"move into the month":        u.Change(t, path(later), 1, body("2025-05-10T00:00:00Z")),
			"move into the month, and unpost": u.Change(t, path(later)+"?post=false", 1,
				body("2025-05-10T00:00:00Z")),
			"post what refers to a lost person": u.Post(t, "goods-receipt", "",
				erptest.Document{Warehouse: d.Org.Warehouses[0], Counterparty: d.Org.Counterparty,
					Date: "2025-05-20T00:00:00Z", Lines: []erptest.Line{{Item: id.New(), Quantity: "1"}}}),
		} {
			if a.Refused(t, what, "closed"); !strings.Contains(string(a.Body), "plimsoll close 2025-05 --reopen") {
				t.Errorf("%s: it does not say how to open the month again: %s", what, a.Body)
			}
		}
		if digest(t, c) != kept {
			t.Errorf("%s: refused, and the books have changed", base)
		}
		if a := u.Post(t, "goods-receipt", "", d.GoodsOn("2025-04-20T00:00:00Z", "1")); !strings.Contains(
			string(a.Body), `2025-04 is closed, as is everything up to 2025-05`) ||
			!strings.Contains(string(a.Body), `"items":[{"month":"2025-04","until":"2025-05"}]`) {
			t.Errorf("answer %s, want both months named", a.Body)
		}
		u.Call(t, "POST", path(written)+"/unpost", "", nil).Want(t, "what changes nothing", 200, "")
		if a := u.Post(t, "goods-receipt", "posted", d.GoodsOn("2025-05-01T00:00:00Z", "50")); a.Status != 201 ||
			!a.Replayed || a.ID != posted.ID {
			t.Errorf("sent again after the close: %d %s", a.Status, a.Body)
		}
		u.Call(t, "POST", path(later)+"/post", "", nil).Want(t, "a month that is open", 200, "")
		stranger := erptest.Login(t, base, c.Organisations[1].User)
		theirs := erptest.Document{Warehouse: c.Organisations[1].Warehouses[0],
			Counterparty: c.Organisations[1].Counterparty, Date: "2025-05-20T00:00:00Z", Lines: d.Goods("1").Lines}
		stranger.Post(t, "goods-receipt", "", theirs).Want(t, "another organisation", 201, "")
		c.Exec(t, "UPDATE doc_goods_receipt SET version = 1 WHERE id = $1", later.ID)
		kept = digest(t, c)
	}
	erptest.Clean(t, c.Database)
	closes(t, c, "2025-05", true)
	d.Call(t, "POST", path(written)+"/post", "", nil).Want(t, "opened again", 200, "")
	d.Change(t, path(later), 1, d.GoodsOn("2025-05-10T00:00:00Z", "1")).Want(t, "opened again", 200, "")
	c.Exec(t, "DELETE FROM acc_batches_boundary") // what came in between is newer than what has been sold
	again := closes(t, c, "2025-05", false)
	if again.Number != closed.Number {
		t.Errorf("closed by %s, and again by %s", closed.Number, again.Number)
	}
	erptest.Clean(t, c.Database)
}

func digest(t *testing.T, c *erptest.Company) string {
	t.Helper()
	books, err := audit.Books(t.Context(), c.Database)
	if err != nil {
		t.Fatal(err)
	}
	return books.Digest
}

// Months are closed in order, when they have ended, and opened again from the last one back.
func TestMonthsAreClosedInOrder(t *testing.T) {
	d := erptest.NewDesk(t, 1)
	d.Post(t, "goods-receipt", "", d.GoodsOn("2025-03-01T00:00:00Z", "50"))
	for _, date := range []string{"2025-03-10T00:00:00Z", "2025-05-10T00:00:00Z"} {
		d.Post(t, "goods-sale", "", d.GoodsOn(date, "1")).Want(t, "sell", 201, "")
	}
	no := func(what, month string, reopen bool, says string) {
		t.Helper()
		if _, err := closeMonth(t, d.Company, month, reopen); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", what, err, says)
		}
	}
	no("a month after an open one", "2025-05", false, "2025-03 has sales that are not closed")
	no("a month that has not ended", "2999-01", false, "has not ended")
	closes(t, d.Company, "2025-03", false)
	closes(t, d.Company, "2025-05", false) // April has sold nothing
	no("a month before the last one closed", "2025-04", false, "2025-04 is closed, as is everything up to 2025-05")
	no("open a month before the last one closed", "2025-03", true, "plimsoll close 2025-05 --reopen")
	closes(t, d.Company, "2025-05", true)
	closes(t, d.Company, "2025-03", true)
	closes(t, d.Company, "2025-03", false)
	closes(t, d.Company, "2025-03", true)
	for _, again := range []bool{false, true} {
		if all, err := closeMonths(t, d.Company, monthclose.Arguments{Month: "2025-06", Through: true}); err != nil ||
			closedText(all) != map[bool]string{false: "2025-03 2025-05 2025-06", true: "2025-06"}[again] {
			t.Errorf("closed through June: %s, %v, again %t", closedText(all), err, again)
		}
	}
	erptest.Clean(t, d.Database)
	closes(t, d.Company, "2025-06", true)
	d.Post(t, "goods-receipt", "", d.GoodsOn("2025-06-10T00:00:00Z", "50"))
	d.Post(t, "goods-sale", "", d.GoodsOn("2025-06-12T00:00:00Z", "1")).Want(t, "sell", 201, "")
	if all, err := closeMonths(t, d.Company, monthclose.Arguments{Month: "2999-01", Through: true}); err == nil ||
		!strings.Contains(err.Error(), "2999-01 has not ended") || len(all) > 0 {
		t.Errorf("closed through a month that has not ended: %s, %v", closedText(all), err)
	}
	d.Post(t, "goods-sale", "", d.GoodsOn("2025-06-12T00:00:00Z", "1")).Want(t, "nothing is closed then", 201, "")
	erptest.Clean(t, d.Database)
}

// closedText lists the months that were closed, each with the word "open" if it was not.
func closedText(all []monthclose.Closed) string {
	var months []string
	for _, c := range all {
		months = append(months, c.Month+map[bool]string{false: " open"}[c.Closed])
	}
	return strings.Join(months, " ")
}

// A sale is being written when the month is closed: the close waits for it and counts it; who comes while the close
// waits is refused. The ledger, which the test holds, stops them where it wants them.
func TestACloseWaitsForThePostingsThereAreAndNoOtherCome(t *testing.T) {
	c := erptest.New(t, 1)
	for n, base := range c.Mixed(t) {
		d := c.Desk(t, base)
		if n == 0 {
			d.Post(t, "goods-receipt", "", d.GoodsOn("2025-03-01T00:00:00Z", "50"))
		}
		month := fmt.Sprintf("2025-%02d", 3+n)
		sale := d.GoodsOn(month+"-15T00:00:00Z", "1")
		first, second, closed := make(chan erptest.Answer, 1), make(chan erptest.Answer, 1), make(chan error, 1)
		c.HoldLedger(t, func() {
			go func() { first <- d.Post(t, "goods-sale", "", sale) }()
			c.Blocked(t, 1)
			go func() {
				_, err := closeMonth(t, c, month, false)
				closed <- err
			}()
			c.Blocked(t, 2)
			go func() { second <- d.Post(t, "goods-sale", "", sale) }()
			c.Blocked(t, 3)
		})
		if a, err := <-first, <-closed; a.Status != 201 || err != nil {
			t.Fatalf("%s: first %d %s, close %v", base, a.Status, a.Body, err)
		}
		(<-second).Refused(t, "who came after the close", "closed")
		erptest.Clean(t, c.Database)
	}
}

// Many post into a month, in every shape, while it is closed and opened again and again: what is acknowledged was
// counted by the close after it. They go on until some have found it open, and some closed.
func TestPostersOfAllShapesBesideAClose(t *testing.T) {
	c := erptest.New(t, 3)
	bases := c.Mixed(t)
	d := c.Desk(t, bases[0])
	stocked := c.Stock(t, bases[0], 10_000)
	var ended atomic.Bool
	var posted, barred atomic.Int64
	var closer sync.WaitGroup
	going := patience.Context(t)
	closer.Add(1)
	go func() {
		defer closer.Done()
		for n := 0; !ended.Load() || n%2 == 1; n++ {
			if done, err := closeMonth(t, c, "2025-05", n%2 == 1); err != nil || done.Closed == (n%2 == 1) {
				t.Errorf("%d: %+v %v", n, done, err)
				return
			}
		}
	}()
	erptest.Together(c.Posters(t, bases, 30), func(n int, u *erptest.User, rng *rand.Rand) {
		enough := func() bool { return posted.Load() > 0 && barred.Load() > 0 || going.Err() != nil || t.Failed() }
		for round := 0; round < 8 || !enough(); round++ {
			order := stocked.Sale(rng, 2)
			order.Date = fmt.Sprintf("2025-05-%02dT12:00:00Z", 1+rng.IntN(31))
			switch a := u.Post(t, []string{"supplier-order", "service-sale"}[n%2], "",
				pick(n, order, d.ServiceSale("1").With("date", order.Date))); a.Status {
			case 201:
				posted.Add(1)
			case 409:
				a.Refused(t, "while it is closed", "closed")
				barred.Add(1)
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
	})
	ended.Store(true)
	closer.Wait()
	closes(t, c, "2025-05", false)
	if got := c.Value(t, "SELECT documents FROM doc_month_close"); got != fmt.Sprint(posted.Load()) ||
		posted.Load() == 0 || barred.Load() == 0 {
		t.Errorf("%s counted, %d acknowledged, %d refused", got, posted.Load(), barred.Load())
	}
	erptest.Clean(t, c.Database)
}

func pick(n int, even, odd any) any {
	if n%2 == 0 {
		return even
	}
	return odd
}
