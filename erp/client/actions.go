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
	"time"

	"plimsoll/erp/operations"
	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// Size of documents: lines, and units per line. Receipts bring more than sales take, so that the stock of hot items
// lasts.
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
	operations.GoodsSalePost:             postSale,
	operations.GoodsReceiptPost:          postReceipt,
	operations.CustomerOrderPost:         postCustomerOrder,
	operations.SupplierOrderPost:         postSupplierOrder,
	operations.GoodsSaleChange:           changeSale,
	operations.GoodsSaleList:             listSearched("goods-sale"),
	operations.GoodsSaleCard:             showSale,
	operations.ItemsSearch:               searchItems,
	operations.StockReport:               reportStock,
	operations.TrialBalanceReport:        reportTrialBalance,
	operations.ServiceSalePost:           postServiceSale,
	operations.InvoiceIssuedPost:         postInvoice,
	operations.BankReceiptPost:           postBankReceipt,
	operations.InternalConsumptionPost:   postConsumption,
	operations.WarehouseIssueOrderPost:   postIssueOrder,
	operations.SettlementRegistrarPost:   postRegistrar,
	operations.OtherGoodsReceiptPost:     postOtherReceipt,
	operations.ServicePurchasePost:       postServicePurchase,
	operations.InvoiceReceivedPost:       postInvoiceReceived,
	operations.PaymentRequestPost:        postPaymentRequest,
	operations.BankPaymentPost:           postBankPayment,
	operations.WarehouseReceiptOrderPost: postReceiptOrder,
	operations.AssetCommissioningPost:    postCommissioning,
	operations.GoodsSaleWrite:            writeSale,
	operations.GoodsSaleUnpost:           unpostSale,
	operations.GoodsReceiptChange:        changeReceipt,
	operations.InvoiceIssuedList:         listOf("invoice-issued"),
	operations.BankReceiptList:           listOf("bank-receipt"),
	operations.SettlementRegistrarList:   listSearched("settlement-registrar"),
	operations.ToShipReport:              reportToShip,
	operations.SettlementsReport:         reportSettlements,
	operations.AccountCardReport:         reportAccountCard,
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
		return Failed, fmt.Errorf("sold %d units, which no warehouse holds: the stock control did not refuse",
			unitsBeyond)
	}
	return outcome, err
}

func postReceipt(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.post(ctx, s, "goods-receipt", s.receipt(rng), rng)
}

func (s *Session) receipt(rng *rand.Rand) []byte {
	lines := receiptLinesLeast + rng.IntN(receiptLinesSpread)
	return s.document(s.directory.suppliers, lines, rng, func(int) int {
		return receiptUnitsLeast + rng.IntN(receiptUnitsSpread)
	})
}

func (s *Session) sale(rng *rand.Rand) []byte {
	return s.document(s.directory.customers, saleLinesLeast+rng.IntN(saleLinesSpread), rng, func(int) int {
		return 1 + rng.IntN(saleUnitsMax)
	})
}

// document writes the JSON of a document of goods with one of the partners; units returns the quantity of each line.
func (s *Session) document(deals []deal, lines int, rng *rand.Rand, units func(line int) int) []byte {
	d := s.directory
	b := make([]byte, 0, 220+lines*96)
	b = d.warehouse.AppendText(append(b, `{"warehouse":"`...))
	partner := deals[skew.Pick(rng, len(deals), skew.Mild)]
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

// post creates a document, and hands documents of goods over.
func (c *Client) post(ctx context.Context, s *Session, documentType string, body []byte, rng *rand.Rand) (Outcome,
	error) {
	made, outcome, err := c.made(ctx, s, documentType, body, rng)
	if outcome == OK {
		s.handOver(documentType, underContract(made, body))
	}
	return outcome, err
}

// handOver makes a document available to others: a few are kept to be changed; the others wait to be invoiced, receipts
// and orders also to be paid, and are no longer changed.
func (s *Session) handOver(documentType string, made under) {
	k, here := &s.directory.stock, standing{made.id, s.directory.warehouse}
	switch documentType {
	case "goods-sale":
		s.recent.add(made.id)
		if k.sales.count() < keptMax {
			k.keep(&k.sales, here)
			return
		}
		k.toInvoice.put(made)
	case "goods-receipt":
		if k.receipts.count() < keptMax {
			k.keep(&k.receipts, here)
			return
		}
		k.buy(purchase{documentType, made})
	case "supplier-order":
		k.ordered.put(purchase{documentType, made})
	}
}

// made is a new posted document.
func (c *Client) made(ctx context.Context, s *Session, documentType string, body []byte, rng *rand.Rand) (id.ID,
	Outcome, error) {
	return c.created(ctx, s, documentType, "", body, rng)
}

func (c *Client) created(ctx context.Context, s *Session, documentType, query string, body []byte,
	rng *rand.Rand) (id.ID, Outcome, error) {
	body = c.dated(body, rng)
	r, err := c.send(ctx, s, http.MethodPost, documentsPath+documentType, query, body)
	if err != nil {
		return id.ID{}, Failed, err
	}
	defer r.free()
	outcome, err := r.outcome()
	if outcome != OK {
		return id.ID{}, outcome, err
	}
	var made struct {
		ID     id.ID
		Posted bool
	}
	if err := json.Unmarshal(r.body.Bytes(), &made); err != nil || made.ID.IsZero() || made.Posted != (query == "") ||
		r.status != http.StatusCreated {
		return id.ID{}, Failed, fmt.Errorf("create answered %d, posted: %t", r.status, made.Posted)
	}
	if c.options.Acknowledged != nil {
		c.options.Acknowledged(documentType, made.ID.String())
	}
	return made.ID, OK, nil
}

// showSale shows one of the user's last sales, or somebody else's.
func showSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	document, found := s.recent.pick(rng)
	switch others := s.directory.documents; {
	case found && (len(others) == 0 || rng.IntN(2) == 0):
	case len(others) > 0:
		document = others[rng.IntN(len(others))]
	default: // a base without sales: the list is all there is to show
		return c.instead(ctx, s, operations.GoodsSaleCard, rng)
	}
	return c.read(ctx, s, "/v1/documents/goods-sale/"+document.String(), "", `{"id":"`+document.String()+`"`)
}

func searchItems(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.read(ctx, s, "/v1/catalogs/items", "search="+url.QueryEscape(fragment(s.directory.itemNames, rng)),
		`{"items":[{`)
}

func reportStock(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	query := "warehouse=" + s.directory.warehouse.String()
	if rng.IntN(2) == 0 {
		query += "&date=" + daysAgo(rng.IntN(reportDays))
	}
	return c.read(ctx, s, "/v1/reports/stock", query, `{"date":"`)
}

func reportTrialBalance(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	return c.read(ctx, s, "/v1/reports/trial-balance", "from="+daysAgo(1+rng.IntN(reportDays)), `{"from":"`)
}

func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

// read gets an answer and checks how it begins.
func (c *Client) read(ctx context.Context, s *Session, path, query, begins string) (Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, path, query, nil)
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
