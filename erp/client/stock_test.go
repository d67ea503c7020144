package client_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"plimsoll/erp/client"
	"plimsoll/erp/erptest"
	"plimsoll/erp/operations"
	"plimsoll/platform/worker/server"
)

// acting are the operations that act on other users' documents.
var acting = []string{
	operations.GoodsSaleChange, operations.GoodsSaleUnpost, operations.GoodsReceiptChange, operations.InvoiceIssuedPost,
	operations.InvoiceReceivedPost, operations.PaymentRequestPost, operations.BankPaymentPost,
}

// Users who act once have posted nothing before: what they act on already exists.
func TestWhoActsOnceHasSomethingToActOn(t *testing.T) {
	db, url := base(t, server.Config{})
	instead := map[string]string{}
	doing := ""
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Instead: func(_ context.Context, operation string) { instead[doing] = operation }})
	rng := random(1)
	if err := c.Stock(t.Context(), login(t, c, url, 1), weighing(acting), 0, rng); err != nil {
		t.Fatal(err)
	}
	clear(instead)
	for _, doing = range acting {
		for range 8 {
			if outcome, err := c.Do(t.Context(), login(t, c, url, 1), doing, rng); outcome > client.Refused {
				t.Fatalf("%s: %v", doing, err)
			}
		}
	}
	if len(instead) > 0 {
		t.Errorf("something else was done: %v", instead)
	}
	erptest.Clean(t, db.Database)
}

// weighing is a mix of equally frequent operations.
func weighing(ids []string) map[string]float64 {
	mix := map[string]float64{}
	for _, id := range ids {
		mix[id] = 1
	}
	return mix
}

// A mix of invoices alone finds a sale for each of forty.
func TestWhatTheMixLacksIsMadeBefore(t *testing.T) {
	_, url := base(t, server.Config{})
	did := 0
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Instead: func(context.Context, string) { did++ }})
	s, rng := login(t, c, url, 1), random(1)
	if err := c.Stock(t.Context(), s, weighing([]string{operations.InvoiceIssuedPost}), 40, rng); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if outcome, err := c.Do(t.Context(), s, operations.InvoiceIssuedPost, rng); outcome != client.OK {
			t.Fatal(err)
		}
	}
	if did > 0 {
		t.Errorf("%d of 40 found no sale", did)
	}
}

func TestOnlyWhatTheMixActsOnIsMade(t *testing.T) {
	db, url := base(t, server.Config{})
	c := client.New(client.Options{Transport: pool(t)})
	s := login(t, c, url, 1)
	if err := c.Stock(t.Context(), s, weighing([]string{operations.GoodsSaleList, operations.StockReport}), 1000,
		random(1)); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_operation"); got != "0" {
		t.Errorf("%s operations for lists and reports", got)
	}
}

// collisions records documents that two requests change at once.
type collisions struct {
	http.RoundTripper
	mutex  sync.Mutex
	busy   map[string]int
	shared []string
	seen   int
}

var changed = regexp.MustCompile(`^/v1/documents/goods-(?:sale|receipt)/([^/]+)`)

func (c *collisions) RoundTrip(r *http.Request) (*http.Response, error) {
	if m := changed.FindStringSubmatch(r.URL.Path); m != nil {
		c.mutex.Lock()
		c.seen++
		if c.busy[m[1]]++; c.busy[m[1]] > 1 {
			c.shared = append(c.shared, m[1])
		}
		c.mutex.Unlock()
		defer func() {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.busy[m[1]]--
		}()
	}
	return c.RoundTripper.RoundTrip(r)
}

func TestTwoNeverActOnOneDocument(t *testing.T) {
	db, url := base(t, server.Config{})
	transport := &collisions{RoundTripper: pool(t), busy: map[string]int{}}
	c := client.New(client.Options{Transport: transport, RefusedShare: -1})
	var wait sync.WaitGroup
	for user := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			s, rng := login(t, c, url, 1+user%2), random(uint64(user))
			for range 6 {
				for _, op := range []string{operations.GoodsSaleChange, operations.GoodsSaleUnpost,
					operations.GoodsReceiptChange} {
					if outcome, err := c.Do(t.Context(), s, op, rng); outcome > client.Refused {
						t.Errorf("%s: %v", op, err)
					}
				}
			}
		}()
	}
	wait.Wait()
	if len(transport.shared) > 0 || transport.seen == 0 {
		t.Errorf("%d requests; two at once on %v", transport.seen, transport.shared)
	}
	erptest.Clean(t, db.Database)
}

// bases records the bases of invoices.
type bases struct {
	recorder
}

func (b *bases) all() (all []string) {
	for _, request := range b.requests {
		if _, rest, found := strings.Cut(request, `"basis":"`); found {
			all = append(all, rest[:36])
		}
	}
	return all
}

// What waits in a base is divided between the parts of a load.
func TestPartsTakeDifferentDocumentsOfTheBase(t *testing.T) {
	_, url := base(t, server.Config{})
	var taken [2][]string
	var play [2]func() []string
	for part := range play { // both read the base before one of them acts
		transport, did := &bases{recorder{RoundTripper: pool(t)}}, 0
		c := client.New(client.Options{Transport: transport, RefusedShare: -1, Part: part, Parts: len(play),
			Instead: func(context.Context, string) { did++ }})
		s, rng := login(t, c, url, 1), random(1)
		play[part] = func() []string {
			for did == 0 { // until nothing of the base is left
				if outcome, err := c.Do(t.Context(), s, operations.InvoiceReceivedPost, rng); outcome > client.Refused {
					t.Fatal(err)
				}
			}
			return transport.all()
		}
	}
	for part, all := range play {
		taken[part] = all()
	}
	if len(taken[0]) == 0 || len(taken[1]) == 0 {
		t.Errorf("%d and %d documents: a part has none", len(taken[0]), len(taken[1]))
	}
	for _, basis := range taken[0] {
		if slices.Contains(taken[1], basis) {
			t.Errorf("both have taken %s", basis)
		}
	}
}

// Each asset is put to use once, whichever warehouse it goes to. When all are in use, the shortage is named instead of
// being refused.
func TestAssetsLastAndTheirShortageIsNamed(t *testing.T) {
	db, url := baseWith(t, 4, server.Config{})
	instead := 0
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1, Instead: func(_ context.Context, did string) {
		if instead++; did != operations.InternalConsumptionPost {
			t.Errorf("%s was done", did)
		}
	}})
	free := func() string {
		return db.Value(t, `SELECT count(*) FROM cat_fixed_assets a WHERE NOT EXISTS
			(SELECT FROM doc_asset_commissioning d WHERE d.asset = a.id AND d.posted)`)
	}
	assets, err := strconv.Atoi(free())
	if err != nil || assets == 0 {
		t.Fatal(assets, err)
	}
	rng := random(2)
	users := []*client.Session{login(t, c, url, 1), login(t, c, url, 2), login(t, c, url, 3), login(t, c, url, 4)}
	for n := range assets + 10*len(users) {
		outcome, err := c.Do(t.Context(), users[n%len(users)], operations.AssetCommissioningPost, rng)
		if outcome != client.OK {
			t.Fatalf("time %d of %d assets, %d something else: %s, %v", n+1, assets, instead, outcome, err)
		}
	}
	if left := free(); left != "0" || instead != 10*len(users) {
		t.Errorf("%d assets, %s are left, and %d times something else was done", assets, left, instead)
	}
	erptest.Clean(t, db.Database)
}
