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
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/temptable"
	"plimsoll/platform/worker/openapi"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/session"
)

// Limits of the report of settlements.
const (
	SettlementsLimitDefault = 500
	SettlementsLimitMax     = 10_000
)

// SettlementsRow is what is owed under a contract, over all its objects of settlement, and what has been paid ahead.
type SettlementsRow struct {
	Counterparty     id.ID        `json:"counterparty"`
	CounterpartyName string       `json:"counterparty_name"`
	Contract         id.ID        `json:"contract"`
	ContractName     string       `json:"contract_name"`
	Owed             amount.Money `json:"owed"`
	Ahead            amount.Money `json:"ahead"`
}

// Settlements on a date. Count and sums are of all rows, also of those beyond the limit.
type Settlements struct {
	Date  time.Time        `json:"date"`
	Side  string           `json:"side"`
	Count int64            `json:"count"`
	Owed  amount.Money     `json:"owed"`
	Ahead amount.Money     `json:"ahead"`
	Rows  []SettlementsRow `json:"rows"`

	register               books.Register
	counterparty, contract id.ID
	limit                  int
}

// The temp tables of the report: contracts asked for, and balances by contract that are shown, each with the sums of
// all of them.
var settlementsTables = []temptable.Structure{
	temptable.MustDefine([]temptable.Column{{Name: "contract", Type: "uuid"}}),
	temptable.MustDefine([]temptable.Column{
		{Name: "contract", Type: "uuid"}, {Name: "owed", Type: "numeric(18,2)"}, {Name: "ahead", Type: "numeric(18,2)"},
		{Name: "contracts", Type: "int8"}, {Name: "all_owed", Type: "numeric"}, {Name: "all_ahead", Type: "numeric"},
	}),
}

var settlementsReport = server.Report{
	Title: "Settlements on a date",
	Parameters: []openapi.Parameter{
		{Name: "side", In: "query", Description: "defaults to customers",
			Schema: &openapi.Schema{Type: "string", Enum: []string{"customers", "suppliers"}}},
		momentParameter("date", "now"),
		{Name: "counterparty", In: "query", Description: "only with this counterparty", Schema: openapi.UUID("")},
		{Name: "contract", In: "query", Description: "only under this contract", Schema: openapi.UUID("")},
		{Name: "limit", In: "query", Description: "maximum number of rows",
			Schema: openapi.Between(1, SettlementsLimitMax, "")},
	},
	Answer: openapi.Object(openapi.Named[*openapi.Schema]{
		{Name: "date", Value: openapi.Moment("")}, {Name: "side", Value: openapi.String("")},
		{Name: "count", Value: openapi.Integer("of all rows")},
		{Name: "owed", Value: openapi.MoneyShown("of all rows")},
		{Name: "ahead", Value: openapi.MoneyShown("of all rows")},
		{Name: "rows", Value: openapi.Array(openapi.Object(openapi.Named[*openapi.Schema]{
			{Name: "counterparty", Value: openapi.UUID("")}, {Name: "counterparty_name", Value: openapi.String("")},
			{Name: "contract", Value: openapi.UUID("")},
			{Name: "contract_name", Value: openapi.String("")}, {Name: "owed", Value: openapi.MoneyShown("")},
			{Name: "ahead", Value: openapi.MoneyShown("paid ahead")},
		}))},
	}),
	Run: settlementsOnDate,
}

// settlementsOnDate has those who owe most first.
func settlementsOnDate(ctx context.Context, db *database.Database, user session.User, query url.Values) ([]byte,
	error) {
	s := &Settlements{Side: "customers", register: books.CustomerSettlements}
	switch given := query.Get("side"); given {
	case "", "customers":
	case "suppliers":
		s.Side, s.register = given, books.SupplierSettlements
	default:
		return nil, &document.Invalid{Field: "side", Reason: "customers or suppliers is expected"}
	}
	var err error
	if s.Date, err = moment(query, "date", time.Now()); err != nil {
		return nil, err
	}
	if s.counterparty, err = idOf(query, "counterparty"); err != nil {
		return nil, err
	}
	if s.contract, err = idOf(query, "contract"); err != nil {
		return nil, err
	}
	if s.limit, err = limited(query, SettlementsLimitDefault, SettlementsLimitMax); err != nil {
		return nil, err
	}
	if err := db.Read(ctx, func(w *database.Work) error { return s.read(ctx, w, user.Organisation) }); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

func (s *Settlements) read(ctx context.Context, w *database.Work, organisation id.ID) error {
	s.Rows = []SettlementsRow{}
	s.Count = 0
	s.Owed = 0
	s.Ahead = 0 // reading may be repeated
	b, err := begin(ctx, w, s.limit, settlementsTables...)
	if err != nil {
		return err
	}
	meta := s.register.Meta()
	balance := register.BalanceSQL(meta, "")
	if asked, args := s.selectedContracts(organisation); len(args) > 1 {
		b.fillTable(0, "contracts asked for", asked, args...)
		// An array, because its elements are looked up; to compare balances with the rows of a subquery all of them
		// may be read.
		balance = register.BalanceOfSQL(meta, "contract", "(ARRAY(SELECT contract FROM {0}))")
	}
	// Sorted before they are summed: nearly every contract has one balance, and hashing keeps two sums of each. With
	// ties, because names decide between them; names are looked up of these alone.
	b.fillTable(1, "balances by contract", `SELECT contract, owed, ahead, count(*) OVER (), sum(owed) OVER (),
		sum(ahead) OVER ()
FROM (SELECT contract, sum(greatest(amount, 0)) AS owed, sum(greatest(-amount, 0)) AS ahead
	FROM (SELECT * FROM `+balance+` b ORDER BY contract) b GROUP BY contract) t
ORDER BY owed - ahead DESC FETCH FIRST $3 ROWS WITH TIES`, organisation, s.Date, s.limit)
	b.query("settlements", `SELECT c.counterparty, p.name, t.contract, c.name, t.owed, t.ahead, t.contracts,
		t.all_owed, t.all_ahead
FROM {1} t JOIN cat_contracts c ON c.id = t.contract JOIN cat_counterparties p ON p.id = c.counterparty
ORDER BY t.owed - t.ahead DESC, p.name, t.contract LIMIT $1`, s.limit).Rows(func(r pgx.Rows) error {
		var row SettlementsRow
		err := r.Scan(&row.Counterparty, &row.CounterpartyName, &row.Contract, &row.ContractName, &row.Owed, &row.Ahead,
			&s.Count, &s.Owed, &s.Ahead)
		s.Rows = append(s.Rows, row)
		return err
	})
	return nil
}

// selectedContracts selects the contracts of the report; the organisation alone means all.
func (s *Settlements) selectedContracts(organisation id.ID) (query string, args []any) {
	query, args = "SELECT id FROM cat_contracts WHERE organisation = $1", []any{organisation}
	for _, c := range []struct {
		column string
		value  id.ID
	}{{"counterparty", s.counterparty}, {"id", s.contract}} {
		if !c.value.IsZero() {
			args = append(args, c.value)
			query += fmt.Sprintf(" AND %s = $%d", c.column, len(args))
		}
	}
	return query, args
}
