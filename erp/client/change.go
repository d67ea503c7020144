package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"plimsoll/erp/operations"
	"plimsoll/platform/data/id"
)

// recent documents of a session, to show and to change.
type recent struct {
	ids   [recentMax]id.ID
	added uint32
}

func (r *recent) add(v id.ID) {
	r.ids[r.added%recentMax] = v
	r.added++
}

func (r *recent) pick(rng *rand.Rand) (v id.ID, found bool) {
	own := min(int(r.added), recentMax)
	if own == 0 {
		return v, false
	}
	return r.ids[rng.IntN(own)], true
}

// instead carries out what stands in for an operation that has nothing to act on, and reports it.
func (c *Client) instead(ctx context.Context, s *Session, lacking string, rng *rand.Rand) (Outcome, error) {
	operation := operations.StandIn(lacking)
	if c.options.Instead != nil {
		c.options.Instead(ctx, operation)
	}
	return c.actions[operation](c, ctx, s, rng)
}

// changeSale opens one of the last sales, replaces its lines and posts it again. Without one, it sells goods.
func changeSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.changeKept(ctx, s, rng, operations.GoodsSaleChange, "goods-sale", &s.directory.stock.sales,
		(*Session).sale)
}

// changeReceipt is changeSale for a receipt: refused if its goods have been sold.
func changeReceipt(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.changeKept(ctx, s, rng, operations.GoodsReceiptChange, "goods-receipt", &s.directory.stock.receipts,
		(*Session).receipt)
}

func (c *Client) changeKept(ctx context.Context, s *Session, rng *rand.Rand, operation, documentType string,
	queue *waiting[standing], made func(*Session, *rand.Rand) []byte) (Outcome, error) {
	kept, session, err := c.takeKept(ctx, s, queue)
	switch {
	case err != nil:
		return Failed, err
	case session == nil:
		return c.instead(ctx, s, operation, rng)
	}
	outcome, err := c.change(ctx, s, documentType, kept.id, made(session, rng))
	s.directory.stock.back(queue, kept, outcome)
	return outcome, err
}

// takeKept takes a document that may be changed, and a session at its warehouse; nil: there is none.
func (c *Client) takeKept(ctx context.Context, s *Session, queue *waiting[standing]) (standing, *Session, error) {
	kept, found := queue.take()
	if !found {
		return kept, nil, nil
	}
	session := *s
	var err error
	if session.directory, err = c.directoryAt(ctx, s, s.directory.office, kept.warehouse); err != nil {
		queue.put(kept)
		return kept, nil, err
	}
	return kept, &session, nil
}

// writeSale writes a sale without posting it.
func writeSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	_, outcome, err := c.created(ctx, s, "goods-sale", "post=false", s.sale(rng), rng)
	return outcome, err
}

// unpostSale unposts one of the last sales and posts it again: refused if somebody else has taken the goods meanwhile.
func unpostSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	k := &s.directory.stock
	kept, found := k.sales.take()
	if !found {
		return c.instead(ctx, s, operations.GoodsSaleUnpost, rng)
	}
	path := "/v1/documents/goods-sale/" + kept.id.String()
	outcome, err := c.setPosted(ctx, s, path+"/unpost", false)
	if outcome == OK {
		if outcome, err = c.setPosted(ctx, s, path+"/post", true); outcome == Overloaded { // it is no longer posted
			k.held.release(kept.id)
			return outcome, err
		}
	}
	k.back(&k.sales, kept, outcome)
	return outcome, err
}

// setPosted posts or unposts a document.
func (c *Client) setPosted(ctx context.Context, s *Session, path string, posted bool) (Outcome, error) {
	r, err := c.send(ctx, s, http.MethodPost, path, "", nil)
	if err != nil {
		return Failed, err
	}
	defer r.free()
	outcome, err := r.outcome()
	if outcome != OK {
		return outcome, err
	}
	var made struct{ Posted bool }
	if err := json.Unmarshal(r.body.Bytes(), &made); err != nil || made.Posted != posted {
		return Failed, fmt.Errorf("%s answered %d, posted: %t", path, r.status, made.Posted)
	}
	return OK, nil
}

// change opens a document, replaces its content and posts it again.
func (c *Client) change(ctx context.Context, s *Session, documentType string, document id.ID, body []byte) (Outcome,
	error) {
	path := "/v1/documents/" + documentType + "/" + document.String()
	seen, outcome, err := c.versionOf(ctx, s, path)
	if outcome != OK {
		return outcome, err
	}
	r, err := c.sendVersion(ctx, s, http.MethodPut, path, "post=true", body, seen)
	if err != nil {
		return Failed, err
	}
	defer r.free()
	if outcome, err = r.outcome(); outcome != OK {
		return outcome, err
	}
	var made struct {
		Posted  bool
		Version int64
	}
	if err := json.Unmarshal(r.body.Bytes(), &made); err != nil || !made.Posted || made.Version != seen+1 {
		return Failed, fmt.Errorf("changing version %d answered %d with version %d, posted: %t", seen, r.status,
			made.Version, made.Posted)
	}
	return OK, nil
}

// versionOf reads the version of a document from its card.
func (c *Client) versionOf(ctx context.Context, s *Session, path string) (int64, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, path, "", nil)
	if err != nil {
		return 0, Failed, err
	}
	defer r.free()
	if outcome, err := r.outcome(); outcome != OK {
		return 0, outcome, err
	}
	var card struct{ Version int64 }
	if err := json.Unmarshal(r.body.Bytes(), &card); err != nil || card.Version < 1 {
		return 0, Failed, errors.New("the card has no version")
	}
	return card.Version, OK, nil
}
