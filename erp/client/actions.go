package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plimsoll/erp/operations"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// How documents look: lines and units per line. Receipts bring more than sales take, so that
// the stock of hot items lasts.
const (
	saleLinesLeast, saleLinesSpread       = 3, 14
	saleUnitsMax                          = 5
	receiptLinesLeast, receiptLinesSpread = 5, 12
	receiptUnitsLeast, receiptUnitsSpread = 10, 40
	// unitsBeyond is more than any warehouse holds.
	unitsBeyond = 900_000_000
	// searchShare of the lists are filtered by a part of a name.
	searchShare = 0.3
	reportDays  = 60
)

type action func(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error)

var actions = map[string]action{
	operations.GoodsSalePost:      postSale,
	operations.GoodsReceiptPost:   postReceipt,
	operations.CustomerOrderPost:  postCustomerOrder,
	operations.SupplierOrderPost:  postSupplierOrder,
	operations.GoodsSaleChange:    changeSale,
	operations.GoodsSaleList:      listSales,
	operations.GoodsSaleCard:      showSale,
	operations.ItemsSearch:        searchItems,
	operations.StockReport:        reportStock,
	operations.TrialBalanceReport: reportTrialBalance,
}

func postSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	beyond := rng.Float64() < c.options.RefusedShare
	lines := saleLinesLeast + rng.IntN(saleLinesSpread)
	body := s.document(s.directory.customers, lines, rng, func(n int) int {
		if beyond && n == 0 {
			return unitsBeyond
		}
		return 1 + rng.IntN(saleUnitsMax)
	})
	outcome, err := c.post(ctx, s, "goods-sale", body, rng)
	if beyond && outcome == OK {
		return Failed, fmt.Errorf("sold %d units, which no warehouse holds: the control of stock did not refuse", unitsBeyond)
	}
	return outcome, err
}

func postReceipt(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	lines := receiptLinesLeast + rng.IntN(receiptLinesSpread)
	body := s.document(s.directory.suppliers, lines, rng, func(int) int { return receiptUnitsLeast + rng.IntN(receiptUnitsSpread) })
	return c.post(ctx, s, "goods-receipt", body, rng)
}

// document writes the JSON of a document of goods with one of the partners; units says how many of each line.
func (s *Session) document(with []deal, lines int, rng *rand.Rand, units func(line int) int) []byte {
	d := s.directory
	b := make([]byte, 0, 220+lines*96)
	b = d.warehouse.AppendText(append(b, `{"warehouse":"`...))
	partner := with[skew.Pick(rng, len(with), skew.Mild)]
	b = partner.counterparty.AppendText(append(b, `","counterparty":"`...))
	b = partner.contract.AppendText(append(b, `","contract":"`...))
	b = append(b, `","lines":[`...)
	for n := range lines {
		if n > 0 {
			b = append(b, ',')
		}
		b = d.items[skew.Pick(rng, len(d.items), skew.Strong)].AppendText(append(b, `{"item":"`...))
		b = amount.Quantity(1000 * units(n)).AppendText(append(b, `","quantity":"`...))
		b = append(b, `"}`...)
	}
	return append(b, "]}"...)
}

// dated gives some new documents a date in the past.
func (c *Client) dated(body []byte, rng *rand.Rand) []byte {
	if c.options.BackdatedShare <= 0 || rng.Float64() >= c.options.BackdatedShare {
		return body
	}
	date := time.Now().UTC().AddDate(0, 0, -1-rng.IntN(max(1, c.options.BackdatedDays)))
	return append(date.AppendFormat(append(body[:len(body)-1], `,"date":"`...), time.RFC3339), `"}`...)
}

func (c *Client) post(ctx context.Context, s *Session, documentType string, body []byte, rng *rand.Rand) (Outcome, error) {
	body = c.dated(body, rng)
	r, err := c.send(ctx, s, http.MethodPost, "/v1/documents/"+documentType, "", body, c.newKey(rng))
	if err != nil {
		return Failed, err
	}
	defer r.free()
	outcome, err := r.outcome()
	if outcome != OK {
		return outcome, err
	}
	var made struct {
		ID     id.ID
		Posted bool
	}
	if err := json.Unmarshal(r.body.Bytes(), &made); err != nil || made.ID.IsZero() || !made.Posted || r.status != http.StatusCreated {
		return Failed, fmt.Errorf("posting answered %d without a posted document", r.status)
	}
	if documentType == "goods-sale" {
		s.recent[s.posted%recentMax] = made.ID
		s.posted++
	}
	if c.options.Acknowledged != nil {
		c.options.Acknowledged(documentType, made.ID.String())
	}
	return OK, nil
}

// newKey of one operation of this client.
func (c *Client) newKey(rng *rand.Rand) string {
	key := make([]byte, 0, 64)
	key = append(strconv.AppendUint(append(append(key, c.run...), '-'), rng.Uint64(), 36), '-')
	return string(strconv.AppendUint(key, rng.Uint64(), 36))
}

// changeSale opens one of the user's own last sales, writes other lines into it and posts it anew. Who has not sold anything yet sells first.
func changeSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	own := min(int(s.posted), recentMax)
	if own == 0 {
		return postSale(c, ctx, s, rng)
	}
	path := "/v1/documents/goods-sale/" + s.recent[rng.IntN(own)].String()
	seen, outcome, err := c.versionOf(ctx, s, path)
	if outcome != OK {
		return outcome, err
	}
	body := s.document(s.directory.customers, saleLinesLeast+rng.IntN(saleLinesSpread), rng, func(int) int { return 1 + rng.IntN(saleUnitsMax) })
	r, err := c.sendVersion(ctx, s, http.MethodPut, path, "post=true", body, c.newKey(rng), seen)
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
		return Failed, fmt.Errorf("changing version %d answered %d with version %d, posted: %t", seen, r.status, made.Version, made.Posted)
	}
	return OK, nil
}

// versionOf reads a card for the version of its document.
func (c *Client) versionOf(ctx context.Context, s *Session, path string) (int64, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, path, "", nil, "")
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

func listSales(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	query := ""
	if rng.Float64() < searchShare {
		query = "search=" + url.QueryEscape(fragment(s.directory.partnerNames, rng))
	}
	return c.look(ctx, s, "/v1/documents/goods-sale", query, `{"items":[`)
}

// showSale looks at one of the user's own last sales, or at somebody else's.
func showSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	own, others := min(int(s.posted), recentMax), s.directory.documents
	var document id.ID
	switch {
	case own > 0 && (len(others) == 0 || rng.IntN(2) == 0):
		document = s.recent[rng.IntN(own)]
	case len(others) > 0:
		document = others[rng.IntN(len(others))]
	default: // a base without sales: the list is what the user has to look at
		return listSales(c, ctx, s, rng)
	}
	return c.look(ctx, s, "/v1/documents/goods-sale/"+document.String(), "", `{"id":"`+document.String()+`"`)
}

func searchItems(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.look(ctx, s, "/v1/catalogs/items", "search="+url.QueryEscape(fragment(s.directory.itemNames, rng)), `{"items":[{`)
}

func reportStock(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	query := "warehouse=" + s.directory.warehouse.String()
	if rng.IntN(2) == 0 {
		query += "&date=" + daysAgo(rng.IntN(reportDays))
	}
	return c.look(ctx, s, "/v1/reports/stock", query, `{"date":"`)
}

func reportTrialBalance(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.look(ctx, s, "/v1/reports/trial-balance", "from="+daysAgo(1+rng.IntN(reportDays)), `{"from":"`)
}

func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

// look reads an answer, which must begin as it should.
func (c *Client) look(ctx context.Context, s *Session, path, query, begins string) (Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, path, query, nil, "")
	if err != nil {
		return Failed, err
	}
	defer r.free()
	outcome, err := r.outcome()
	if outcome == OK && !bytes.HasPrefix(r.body.Bytes(), []byte(begins)) {
		return Failed, errors.New("the answer is not of the expected form")
	}
	return outcome, err
}
