package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// Limits of the card of an account.
const (
	CardLimitDefault = 500
	CardLimitMax     = 10_000
)

// CardEntry is an entry as one of its accounts sees it.
type CardEntry struct {
	Date      time.Time    `json:"date"`
	Type      string       `json:"document_type"`
	Document  id.ID        `json:"document"`
	Number    string       `json:"number"`
	Line      int32        `json:"line"`
	Analytics []id.ID      `json:"analytics"`
	Other     string       `json:"other_account"`
	Debit     amount.Money `json:"debit"`
	Credit    amount.Money `json:"credit"`
}

// AccountCard is what happened on an account in a period, in the order of time. Turnovers are of all entries, also of
// those beyond the limit. How many there are is not told, since that would read them all.
type AccountCard struct {
	From           time.Time    `json:"from"`
	To             time.Time    `json:"to"`
	Account        string       `json:"account"`
	Title          string       `json:"title"`
	Opening        amount.Money `json:"opening"` // debit less credit
	TurnoverDebit  amount.Money `json:"turnover_debit"`
	TurnoverCredit amount.Money `json:"turnover_credit"`
	Closing        amount.Money `json:"closing"`
	Rows           []CardEntry  `json:"rows"`
	More           bool         `json:"more"` // there are entries beyond the limit

	analytics int
	element   id.ID
	limit     int
	numbers   string
}

func accountCardReport(app *metadata.Application) server.Report {
	numbers := numberOfRecorder(app)
	return server.Report{
		Title: "Card of an account",
		Parameters: []openapi.Parameter{
			{Name: "account", In: "query", Required: true, Description: "its code",
				Schema: &openapi.Schema{Type: "string", Enum: accountCodes()}},
			momentParameter("from", "the beginning of the month"), momentParameter("to", "now; inclusive"),
			{Name: "element", In: "query", Description: "required value of one of the account's analytics",
				Schema: openapi.UUID("")},
			{Name: "limit", In: "query", Description: "maximum number of rows",
				Schema: openapi.Between(1, CardLimitMax, "")},
		},
		Answer: openapi.Object(openapi.Named[*openapi.Schema]{
			{Name: "from", Value: openapi.Moment("")}, {Name: "to", Value: openapi.Moment("")},
			{Name: "account", Value: openapi.String("")}, {Name: "title", Value: openapi.String("")},
			{Name: "opening", Value: openapi.MoneyShown("debit less credit")},
			{Name: "turnover_debit", Value: openapi.MoneyShown("of all entries")},
			{Name: "turnover_credit", Value: openapi.MoneyShown("of all entries")},
			{Name: "closing", Value: openapi.MoneyShown("debit less credit")},
			{Name: "rows", Value: openapi.Array(cardEntrySchema())},
			{Name: "more", Value: openapi.Boolean("whether there are entries beyond the limit")},
		}),
		Run: func(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error) {
			return accountCard(ctx, db, user, query, numbers)
		},
	}
}

func accountCodes() (codes []string) {
	for _, a := range books.General.Meta().Accounts {
		codes = append(codes, a.Code)
	}
	return codes
}

func cardEntrySchema() *openapi.Schema {
	return openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "date", Value: openapi.Moment("")}, {Name: "document_type", Value: openapi.String("")},
		{Name: "document", Value: openapi.UUID("")},
		{Name: "number", Value: openapi.String("")}, {Name: "line", Value: openapi.Integer("")},
		{Name: "analytics", Value: openapi.Array(openapi.UUID(""))},
		{Name: "other_account", Value: openapi.String("")}, {Name: "debit", Value: openapi.MoneyShown("")},
		{Name: "credit", Value: openapi.MoneyShown("")},
	})
}

// accountCard is by default of this month; numbers is an expression for the number of a recorder.
func accountCard(ctx context.Context, db *database.Database, user session.User, query url.Values,
	numbers string) ([]byte, error) {
	c := &AccountCard{Rows: []CardEntry{}, numbers: numbers}
	meta := books.General.Meta()
	account := meta.Account(query.Get("account"))
	if account == nil {
		return nil, &document.Invalid{Field: "account", Reason: "an account of the chart is expected"}
	}
	c.Account, c.Title, c.analytics = account.Code, account.Title, len(account.Analytics)
	var err error
	if c.From, c.To, err = period(query); err != nil {
		return nil, err
	}
	if c.element, err = idOf(query, "element"); err != nil {
		return nil, err
	}
	if c.limit, err = limited(query, CardLimitDefault, CardLimitMax); err != nil {
		return nil, err
	}
	if err := db.Read(ctx, func(w *database.Work) error {
		return c.read(ctx, w, meta, user.Organisation)
	}); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// cardTable has the entries that are shown: an account that everything moves has far more of them than anybody looks
// at.
var cardTable = temptable.MustDefine([]temptable.Column{
	{Name: "period", Type: "timestamptz"}, {Name: "recorder_type", Type: "text"}, {Name: "recorder", Type: "uuid"},
	{Name: "line", Type: "int4"},
	{Name: "analytic_1", Type: "uuid"}, {Name: "analytic_2", Type: "uuid"}, {Name: "analytic_3", Type: "uuid"},
	{Name: "other", Type: "text"}, {Name: "debit", Type: "numeric(18,2)"}, {Name: "credit", Type: "numeric(18,2)"},
})

func (c *AccountCard) read(ctx context.Context, w *database.Work, meta *metadata.Accounting, organisation id.ID) error {
	c.Rows, c.More = c.Rows[:0], false // reading may be repeated
	filtered := !c.element.IsZero()
	args := []any{organisation, c.Account, c.From, c.To.Add(time.Microsecond)}
	if filtered {
		args = append(args, c.element)
	}
	b, err := begin(ctx, w, c.limit, cardTable)
	if err != nil {
		return err
	}
	w.Queue("turnovers of account", ledger.AccountSQL(meta, filtered), args...).Rows(func(r pgx.Rows) error {
		var openedDebit, openedCredit, debit, credit amount.Money
		err := r.Scan(&openedDebit, &openedCredit, &debit, &credit)
		c.Opening, c.Closing = openedDebit-openedCredit, debit-credit
		c.TurnoverDebit, c.TurnoverCredit = debit-openedDebit, credit-openedCredit
		return err
	})
	args = append(args, c.limit+1)
	b.fillTable(0, "entries of account", ledger.CardSQL(meta, filtered, fmt.Sprintf("$%d", len(args))), args...)
	b.query("card of account", `SELECT e.period, e.recorder_type, e.recorder, e.line, e.analytic_1, e.analytic_2,
		e.analytic_3, e.other, e.debit, e.credit, `+c.numbers+`
FROM {0} e ORDER BY period, recorder, line`).
		Rows(func(r pgx.Rows) error {
			if c.More = len(c.Rows) == c.limit; c.More {
				return nil
			}
			var e CardEntry
			var analytics [metadata.AnalyticsMax]id.ID
			err := r.Scan(&e.Date, &e.Type, &e.Document, &e.Line, &analytics[0], &analytics[1], &analytics[2], &e.Other,
				&e.Debit, &e.Credit, &e.Number)
			e.Date, e.Analytics = e.Date.UTC(), analytics[:c.analytics]
			c.Rows = append(c.Rows, e)
			return err
		})
	return nil
}

// numberOfRecorder is an expression for the number of a recorder of any type.
func numberOfRecorder(app *metadata.Application) string {
	expression := "CASE recorder_type"
	for _, d := range app.Documents {
		expression += fmt.Sprintf(" WHEN '%s' THEN (SELECT number FROM %s d WHERE d.id = recorder)", d.Name, d.Table())
	}
	return expression + " ELSE '' END"
}
