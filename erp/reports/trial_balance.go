package reports

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// TrialBalanceRow is an account, or the total of all: opening balance, turnover, closing balance.
type TrialBalanceRow struct {
	Account        string       `json:"account,omitempty"`
	Title          string       `json:"title,omitempty"`
	OpeningDebit   amount.Money `json:"opening_debit"`
	OpeningCredit  amount.Money `json:"opening_credit"`
	TurnoverDebit  amount.Money `json:"turnover_debit"`
	TurnoverCredit amount.Money `json:"turnover_credit"`
	ClosingDebit   amount.Money `json:"closing_debit"`
	ClosingCredit  amount.Money `json:"closing_credit"`
}

// TrialBalance of one organisation.
type TrialBalance struct {
	From  time.Time         `json:"from"`
	To    time.Time         `json:"to"`
	Rows  []TrialBalanceRow `json:"rows"`
	Total TrialBalanceRow   `json:"total"`
}

// What stood before the end contains what stood before the beginning, so no account is missing that was opened.
var trialBalanceSQL = trialBalanceStatement()

func trialBalanceStatement() string {
	return ledger.BetweenSQL(books.General.Meta(), "$2", "$3") + "\nORDER BY account"
}

var trialBalanceReport = server.Report{
	Title: "Trial balance",
	Parameters: []openapi.Parameter{momentParameter("from", "the beginning of the month"),
		momentParameter("to", "now; inclusive")},
	Answer: openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "from", Value: openapi.Moment("")}, {Name: "to", Value: openapi.Moment("")},
		{Name: "rows", Value: openapi.Array(trialBalanceRow())},
		{Name: "total", Value: trialBalanceRow("account", "title")},
	}),
	Run: trialBalance,
}

func trialBalanceRow(optional ...string) *openapi.Schema {
	row := openapi.Named[*openapi.Schema]{{Name: "account", Value: openapi.String("")},
		{Name: "title", Value: openapi.String("")}}
	for _, name := range []string{"opening_debit", "opening_credit", "turnover_debit", "turnover_credit",
		"closing_debit", "closing_credit"} {
		row.Set(name, openapi.MoneyShown(""))
	}
	return openapi.Object(row, optional...)
}

// trialBalance is by default of the time from the beginning of the month until now.
func trialBalance(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte, error) {
	var t TrialBalance
	var err error
	if t.From, t.To, err = period(query); err != nil {
		return nil, err
	}
	if err := t.read(ctx, db, user); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// period of a query: from the beginning of the month until now unless given.
func period(query url.Values) (from, to time.Time, err error) {
	now := time.Now().UTC()
	from = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	if given := query.Get("from"); given != "" {
		if from, err = moment(query, "from", now); err != nil {
			return from, to, err
		}
		if len(given) == len(time.DateOnly) {
			from = from.Truncate(24 * time.Hour) // a date opens with its first moment
		}
	}
	if to, err = moment(query, "to", now); err == nil && to.Before(from) {
		err = &document.Invalid{Field: "to", Reason: "must not be before from"}
	}
	return from, to, err
}

func (t *TrialBalance) read(ctx context.Context, db *database.Database, user session.User) error {
	titles := map[string]string{}
	for _, a := range books.General.Meta().Accounts {
		titles[a.Code] = a.Title
	}
	return db.Read(ctx, func(w *database.Work) error {
		t.Rows, t.Total = []TrialBalanceRow{}, TrialBalanceRow{}
		end := t.To.Add(time.Microsecond) // the turnover is of what lies before it
		w.Queue("trial balance", trialBalanceSQL, user.Organisation, t.From, end).Rows(func(r pgx.Rows) error {
			var account string
			var before, until [2]amount.Money
			if err := r.Scan(&account, &before[0], &before[1], &until[0], &until[1]); err != nil {
				return err
			}
			row := TrialBalanceRow{
				Account: account, Title: titles[account], TurnoverDebit: until[0] - before[0],
				TurnoverCredit: until[1] - before[1],
			}
			row.OpeningDebit, row.OpeningCredit = sides(before)
			row.ClosingDebit, row.ClosingCredit = sides(until)
			t.Rows = append(t.Rows, row)
			t.Total.add(row)
			return nil
		})
		return nil
	})
}

// sides puts a balance on the side where it stands.
func sides(turnover [2]amount.Money) (debit, credit amount.Money) {
	if balance := turnover[0] - turnover[1]; balance >= 0 {
		return balance, 0
	} else {
		return 0, -balance
	}
}

func (r *TrialBalanceRow) add(other TrialBalanceRow) {
	r.OpeningDebit += other.OpeningDebit
	r.OpeningCredit += other.OpeningCredit
	r.TurnoverDebit += other.TurnoverDebit
	r.TurnoverCredit += other.TurnoverCredit
	r.ClosingDebit += other.ClosingDebit
	r.ClosingCredit += other.ClosingCredit
}
