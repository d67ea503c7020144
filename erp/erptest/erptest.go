// Package erptest owns the small trading company of tests: two organisations with two warehouses each and
// no stock, on a fresh database, with workers over it.
package erptest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/openapi/openapitest"
	"plimsoll/platform/worker/server"
	"plimsoll/platform/worker/shape"
	"plimsoll/test/patience"
)

// Company is the database, and what its catalogs hold.
type Company struct {
	*databasetest.Test
	Items         []id.ID  // item n costs n+1 roubles, sells for twice that, and has 20, 10 or 0 % of VAT
	Services      [2]id.ID // service n costs 5·(n+1) roubles, sells for twice that, and has the VAT of item n
	Organisations [2]Organisation
}

// Organisation with its two warehouses, and one whose goods lie in cells.
type Organisation struct {
	ID, Counterparty        id.ID // its contract is Contract(Counterparty)
	Warehouses              [2]id.ID
	Addressed               id.ID
	Cells                   [2]id.ID
	Bank, CashDesk          id.ID
	Department, ExpenseItem id.ID
	Assets                  [2]id.ID // of no department, useful for 36 months
	User                    string
	Author                  id.ID // the user
}

// Rate is the VAT of item n in per cent.
func Rate(n int) int64 { return []int64{20, 10, 0}[n%3] }

// Empty is a database of the ERP in which there is nothing yet.
func Empty(t testing.TB) *databasetest.Test {
	t.Helper()
	test := schematest.Copy(t, "erp", func(db *database.Database) error {
		return erp.Migrate(context.Background(), db)
	})
	test.Close()
	dsn := WithPatience(t, test.DSN)
	return &databasetest.Test{Database: databasetest.Connect(t, dsn, database.Options{}), DSN: dsn}
}

// WithPatience gives a connection string the timeouts of tests: on a busy machine no request fails only because others
// take long.
func WithPatience(t testing.TB, dsn string) string {
	t.Helper()
	at, err := url.Parse(dsn)
	if err != nil {
		t.Fatal("the connection string is not a URL")
	}
	query := at.Query()
	for _, name := range []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"} {
		query.Set(name, fmt.Sprint(patience.Max.Milliseconds()))
	}
	at.RawQuery = query.Encode()
	return at.String()
}

// New makes a company with so many items.
func New(t testing.TB, items int) *Company {
	t.Helper()
	c := &Company{Test: Empty(t)}
	for n := range items {
		item := id.New()
		c.Items = append(c.Items, item)
		c.Exec(t, "INSERT INTO cat_items (id, code, name, vat_rate, price, purchase_price) VALUES ($1, $2, $3, $4, "+
			"$5, $6)",
			item, fmt.Sprintf("I%d", n), fmt.Sprintf("Item %d", n), Rate(n), 2*(n+1), n+1)
	}
	for n := range c.Services {
		c.Services[n] = id.New()
		c.Exec(t, "INSERT INTO cat_services (id, code, name, vat_rate, price, purchase_price) VALUES ($1, $2, $2, "+
			"$3, $4, $5)",
			c.Services[n], fmt.Sprintf("S%d", n), Rate(n), 10*(n+1), 5*(n+1))
	}
	for n := range c.Organisations {
		c.Organisations[n] = c.organisation(t, n)
		c.own(t, n, &c.Organisations[n])
	}
	return c
}

func (c *Company) organisation(t testing.TB, n int) Organisation {
	o := Organisation{ID: id.New(), Counterparty: id.New(), Author: id.New(), User: fmt.Sprintf("user%d", n)}
	c.Exec(t, "INSERT INTO cat_organisations (id, organisation, code, name) VALUES ($1, $1, $2, $2)", o.ID,
		fmt.Sprintf("O%d", n))
	c.Exec(t, "INSERT INTO cat_counterparties (id, organisation, code, name) VALUES ($1, $2, $3, $3)", o.Counterparty,
		o.ID, fmt.Sprintf("Partner %d", n))
	c.Exec(t, "INSERT INTO cat_contracts (id, organisation, code, name, counterparty, customer, supplier, "+
		"currency) VALUES ($1, $2, $3, $3, $4, true, true, 'RUB')",
		Contract(o.Counterparty), o.ID, fmt.Sprintf("Contract %d", n), o.Counterparty)
	for w := range o.Warehouses {
		o.Warehouses[w] = id.New()
		c.Exec(t, "INSERT INTO cat_warehouses (id, organisation, code, name) VALUES ($1, $2, $3, $3)", o.Warehouses[w],
			o.ID, fmt.Sprintf("Warehouse %d.%d", n, w))
	}
	c.Exec(t, "INSERT INTO cat_users (id, organisation, code, name, warehouse) VALUES ($1, $2, $3, $3, $4)", o.Author,
		o.ID, o.User, o.Warehouses[0])
	return o
}

// own adds what else belongs to an organisation: a warehouse with cells, money, departments, assets.
func (c *Company) own(t testing.TB, n int, o *Organisation) {
	for i, thing := range []struct {
		into                   *id.ID
		catalog, column, value string
	}{
		{&o.Addressed, "warehouses", "addressed", "true"}, {&o.Cells[0], "warehouse_cells", "warehouse", "$4"},
		{&o.Cells[1], "warehouse_cells", "warehouse", "$4"},
		{&o.Bank, "cash_accounts", "bank", "true"}, {&o.CashDesk, "cash_accounts", "bank", "false"},
		{&o.Department, "departments", "head", "''"}, {&o.ExpenseItem, "expense_items", "kind", "''"},
		{&o.Assets[0], "fixed_assets", "useful_months", "36"}, {&o.Assets[1], "fixed_assets", "useful_months", "36"},
	} {
		*thing.into = id.New()
		args := []any{*thing.into, o.ID, fmt.Sprintf("%s %d.%d", thing.catalog, n, i)}
		if thing.value == "$4" {
			args = append(args, o.Addressed)
		}
		c.Exec(t, fmt.Sprintf("INSERT INTO cat_%s (id, organisation, code, name, %s) VALUES ($1, $2, $3, $3, %s)",
			thing.catalog, thing.column, thing.value), args...)
	}
}

// Contract with a counterparty of the company, for buying and selling.
func Contract(counterparty id.ID) id.ID {
	counterparty[15] ^= 1
	return counterparty
}

// Worker serves the company with connections of its own until the test ends.
func (c *Company) Worker(t testing.TB, config server.Config) (base string) {
	t.Helper()
	base, _ = c.StartWorker(t, config)
	return base
}

// StartWorker is Worker that may be drained before.
func (c *Company) StartWorker(t testing.TB, config server.Config) (base string, drain func()) {
	t.Helper()
	return Start(t, databasetest.Connect(t, c.DSN, config.Shape.Options(database.Options{Application: "worker"})),
		config)
}

// Serve runs a worker over any database of the ERP until the test ends.
func Serve(t testing.TB, db *database.Database, config server.Config) (base string) {
	t.Helper()
	base, _ = Start(t, db, config)
	return base
}

// Shaped is the configuration of a worker of a shape.
func Shaped(t testing.TB, name shape.Name, tweaks shape.Tweaks) server.Config {
	t.Helper()
	s, err := shape.New(name, tweaks)
	if err != nil {
		t.Fatal(err)
	}
	return server.Config{Shape: s}
}

// Mixed are three workers, one of each shape.
func (c *Company) Mixed(t testing.TB) (bases []string) {
	t.Helper()
	for _, name := range shape.Names {
		bases = append(bases, c.Worker(t, Shaped(t, name, shape.Tweaks{})))
	}
	return bases
}

// Start runs a worker until it is drained or the test ends. Unless the configuration says otherwise, it waits for
// clients, for its queue and for the last requests as long as tests do.
func Start(t testing.TB, db *database.Database, config server.Config) (base string, drain func()) {
	t.Helper()
	config.Database = db
	for _, timeout := range []*time.Duration{&config.QueueTimeout, &config.HeaderTimeout, &config.BodyTimeout,
		&config.DrainTimeout} {
		*timeout = cmp.Or(*timeout, patience.Max)
	}
	if config.Log == nil {
		config.Log = slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	worker, err := erp.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Serve(ctx, listener) }()
	drain = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		drain()
	})
	return "http://" + listener.Addr().String(), drain
}

type testLog struct{ testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	l.Logf("worker: %s", bytes.TrimSpace(b))
	return len(b), nil
}

// transport keeps enough connections for a hundred users at once.
var transport = &http.Transport{MaxIdleConnsPerHost: 256}

// User is logged in to one worker.
type User struct{ Base, Token string }

// Login opens a session.
func Login(t testing.TB, base, user string) *User {
	t.Helper()
	u := &User{Base: base}
	a := u.Call(t, "POST", "/v1/sessions", "", []byte(fmt.Sprintf(`{"user":%q}`, user)))
	var opened struct{ Token string }
	if a.Status != http.StatusCreated || json.Unmarshal(a.Body, &opened) != nil {
		t.Fatalf("log in %s: %d %s", user, a.Status, a.Body)
	}
	u.Token = opened.Token
	return u
}

// Answer to a call.
type Answer struct {
	Status   int
	Replayed bool
	Body     []byte
	ID       id.ID  // of the document posted
	Number   string // of the document posted
	Code     string // of the error
}

// Change replaces a document of which a version has been seen by a Document, Fields, or bytes as they are.
func (u *User) Change(t testing.TB, path string, version int64, content any) Answer {
	t.Helper()
	body, ready := content.([]byte)
	if !ready {
		body = openapitest.JSON(t, content)
	}
	a, err := u.try("PUT", path, http.Header{"If-Match": {fmt.Sprintf("%q", fmt.Sprint(version))}}, body)
	if err != nil {
		t.Errorf("PUT %s: %v", path, err)
	}
	return a
}

// Call makes a request; that no answer comes at all is an error of the test.
func (u *User) Call(t testing.TB, method, path, key string, body []byte) Answer {
	t.Helper()
	a, err := u.Try(method, path, key, body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return a
}

// Try makes a request that may come to nothing.
func (u *User) Try(method, path, key string, body []byte) (a Answer, err error) {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return u.try(method, path, header, body)
}

func (u *User) try(method, path string, header http.Header, body []byte) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, u.Base+path, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+u.Token)
	answered, err := transport.RoundTrip(r)
	if err != nil {
		return a, err
	}
	defer answered.Body.Close()
	a = Answer{Status: answered.StatusCode, Replayed: answered.Header.Get("Idempotency-Replayed") == "true"}
	if a.Body, err = io.ReadAll(answered.Body); err != nil {
		return a, err
	}
	var result struct {
		ID     id.ID
		Number string
		Error  struct{ Code string }
	}
	if json.Unmarshal(a.Body, &result) == nil {
		a.ID, a.Number, a.Code = result.ID, result.Number, result.Error.Code
	}
	return a, nil
}

// Line of a document.
type Line struct {
	Item     id.ID  `json:"item"`
	Quantity string `json:"quantity"`
	Price    string `json:"price,omitempty"`
}

// Document of goods. Its contract is that of the counterparty.
type Document struct {
	Warehouse      id.ID  `json:"warehouse"`
	Counterparty   id.ID  `json:"counterparty"`
	Order          id.ID  `json:"source_order,omitzero"`
	SupplierNumber string `json:"supplier_number,omitempty"`
	Date           string `json:"date,omitempty"`
	Comment        string `json:"comment,omitempty"`
	Lines          []Line `json:"lines"`
}

// MarshalJSON adds the contract.
func (d Document) MarshalJSON() ([]byte, error) {
	type plain Document
	return json.Marshal(struct {
		plain
		Contract id.ID `json:"contract"`
	}{plain(d), Contract(d.Counterparty)})
}

// Fields of a document of any type, by name.
type Fields map[string]any

// Post posts a document of a type ("goods-sale"): a Document, or Fields.
func (u *User) Post(t testing.TB, documentType, key string, d any) Answer {
	t.Helper()
	return u.Call(t, "POST", "/v1/documents/"+documentType, key, openapitest.JSON(t, d))
}

// Clear deletes all documents with what they have recorded, and the rows of the tables given; the catalogs stay.
// Deleting a few rows is quicker than truncating a hundred tables.
func (c *Company) Clear(t testing.TB, more ...string) {
	t.Helper()
	c.Exec(t, "DELETE FROM "+strings.Join(append(Books(), more...), "; DELETE FROM "))
}

// CopyRows inserts the rows of a copy into a table, without the columns that the database computes.
func (c *Company) CopyRows(t testing.TB, table, kept string) {
	t.Helper()
	columns := c.Value(t, "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = "+
		"$1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''", table)
	c.Exec(t, statement.SQL("INSERT INTO {table} ({columns}) SELECT {columns} FROM {kept}",
		statement.Names{"table": table, "columns": columns, "kept": kept}))
}

// Books are the tables of documents and registers.
func Books() (tables []string) {
	for _, table := range schema.Tables(erp.Metadata()) {
		if !strings.HasPrefix(table.Name, "cat_") && table.Name != "plimsoll_number" {
			tables = append(tables, table.Name)
		}
	}
	return tables
}

// Alone waits until the database has no other session: those of closed pools end a little later.
func Alone(t testing.TB, db *database.Database) {
	t.Helper()
	patience.Until(t, "the database has no other session", func() bool {
		others := 0
		if err := db.Borrow(context.Background(), func(c *pgx.Conn) error {
			return c.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE datname = "+
				"current_database() AND backend_type = 'client backend' AND application_name <> "+
				"current_setting('application_name')").Scan(&others)
		}); err != nil {
			t.Fatalf("count other sessions: %v", err)
		}
		return others == 0
	})
}
