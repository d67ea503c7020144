package client_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp/client"
	"plimsoll/erp/erptest"
	"plimsoll/erp/operations"
	"plimsoll/platform/worker/server"
	"plimsoll/test/thorough"
)

// An operation that is provided for is carried out, however often; without that, one with nothing left to act on does
// its predecessor.
func TestWhatIsProvidedForIsDone(t *testing.T) {
	db, url := baseWith(t, 4, server.Config{})
	last := ""
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Acknowledged: func(kind, _ string) { last = kind }})
	s, provision, rng := login(t, c, url, 1), random(1), random(2)
	for _, op := range []string{
		operations.WarehouseIssueOrderPost, operations.WarehouseReceiptOrderPost, operations.InvoiceIssuedPost,
		operations.InvoiceReceivedPost,
		operations.PaymentRequestPost, operations.BankPaymentPost, operations.AssetCommissioningPost,
	} {
		times := thorough.Or(70, 25) // more than there are documents
		if op == operations.AssetCommissioningPost {
			times = 70 // more than there are assets
		}
		for n := range times {
			if err := c.Provide(t.Context(), s, op, provision); err != nil {
				t.Fatalf("provide for %s, time %d: %v", op, n+1, err)
			}
			last = ""
			outcome, err := c.Do(t.Context(), s, op, rng)
			if done := strings.ReplaceAll(last, "-", "_") + ".post"; outcome != client.OK || done != op {
				t.Fatalf("%s, time %d: %s, done was %s; %v", op, n+1, outcome, done, err)
			}
		}
	}
	erptest.Clean(t, db.Database)
}

// TestWhatARunWillLackIsMadeBefore: n invoices in a row find a sale each. Of them a mix of invoices alone brings none.
func TestWhatARunWillLackIsMadeBefore(t *testing.T) {
	_, url := baseWith(t, 4, server.Config{})
	instead := 0
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Instead: func(context.Context, string) { instead++ }})
	s := login(t, c, url, 1)
	const n = 30
	rng := random(2)
	mix := map[string]float64{operations.InvoiceIssuedPost: 1}
	if err := c.Stock(t.Context(), s, mix, n, random(1)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if outcome, err := c.Do(t.Context(), s, operations.InvoiceIssuedPost, rng); outcome != client.OK ||
			instead > 0 {
			t.Fatalf("invoice %d: %s, %d operations did something else: %v", i+1, outcome, instead, err)
		}
	}
}

// TestWarehouseOrdersFindWhatToCarry plays what moves goods as often as the mix does, of which a third are warehouse
// orders.
func TestWarehouseOrdersFindWhatToCarry(t *testing.T) {
	db, url := baseWith(t, 4, server.Config{})
	instead, carried, doing := map[string]int{}, map[string]int{}, ""
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Instead: func(context.Context, string) { instead[doing]++ }})
	s, rng := login(t, c, url, 1), random(2)
	mix, sum := map[string]float64{}, 0.0
	for _, op := range operations.All() {
		switch op.ID {
		case operations.GoodsSalePost, operations.GoodsReceiptPost, operations.OtherGoodsReceiptPost,
			operations.WarehouseIssueOrderPost, operations.WarehouseReceiptOrderPost:
			mix[op.ID] = op.Weight
			sum += op.Weight
		}
	}
	n := thorough.Or(1000, 300)
	if err := c.Stock(t.Context(), s, mix, float64(n), random(1)); err != nil {
		t.Fatal(err)
	}
	for range n {
		at := rng.Float64() * sum
		for _, id := range slices.Sorted(maps.Keys(mix)) {
			if doing, at = id, at-mix[id]; at < 0 {
				break
			}
		}
		if outcome, err := c.Do(t.Context(), s, doing, rng); outcome > client.Refused {
			t.Fatalf("%s: %v", doing, err)
		}
		carried[doing]++
	}
	for _, order := range []string{operations.WarehouseIssueOrderPost, operations.WarehouseReceiptOrderPost} {
		if instead[order] > 0 || carried[order] < n/15 {
			t.Errorf("%s: %d of %d had nothing to act on", order, instead[order], carried[order])
		}
	}
	erptest.Clean(t, db.Database)
}

func TestNothingCanBeProvidedWithoutCells(t *testing.T) {
	_, url := base(t, server.Config{})
	c := client.New(client.Options{Transport: pool(t)})
	s := login(t, c, url, 1)
	for _, op := range []string{operations.WarehouseIssueOrderPost, operations.WarehouseReceiptOrderPost} {
		if err := c.Provide(t.Context(), s, op, random(1)); !errors.Is(err, client.ErrNoCells) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// TestAnOperationIsCountedAsWhatItDid compares what an operation reports with what the server did.
func TestAnOperationIsCountedAsWhatItDid(t *testing.T) {
	_, url := base(t, server.Config{})
	made, instead, times := "", "", 0
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1,
		Acknowledged: func(kind, _ string) { made = strings.ReplaceAll(kind, "-", "_") + ".post" },
		Instead:      func(_ context.Context, operation string) { instead = operation },
	})
	s, rng := login(t, c, url, 1), random(3)
	for range 5 {
		for _, op := range operations.All() {
			made, instead = "", ""
			if outcome, err := c.Do(t.Context(), s, op.ID, rng); outcome > client.Refused {
				t.Fatalf("%s: %v", op.ID, err)
			}
			says := op.ID
			if instead != "" {
				says, times = instead, times+1
			}
			if made != "" && made != says && says != operations.GoodsSaleWrite {
				t.Errorf("%s made %s and says that it did %s", op.ID, made, says)
			}
		}
	}
	if times == 0 {
		t.Error("everything had something to act on, so nothing was tested")
	}
}
