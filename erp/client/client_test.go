package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/erp/client"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/erp/fill/filltest"
	"plimsoll/erp/operations"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/server"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// base is a small filled database and a worker over it; no warehouse has cells.
func base(t testing.TB, config server.Config) (*databasetest.Test, string) {
	return baseWith(t, 2, config)
}

// baseWith this number of warehouses for two organisations.
func baseWith(t testing.TB, warehouses int, config server.Config) (*databasetest.Test, string) {
	dsn := erptest.WithPatience(t, filltest.Copy(t, fmt.Sprintf("warehouses_%d", warehouses), fill.Options{Items: 50,
		Warehouses: warehouses, Counterparties: 4, Users: 4, Organisations: 2, Documents: 20, Seed: 1,
		// What waits in so small a base would be other documents on another day, and of some days too few.
		Until: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)}))
	db := &databasetest.Test{Database: databasetest.Connect(t, dsn, database.Options{}), DSN: dsn}
	return db, erptest.Serve(t, databasetest.Connect(t, dsn, database.Options{Application: "worker"}), config)
}

func random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, n)) }

// pool of connections, which the test closes.
func pool(t testing.TB) *http.Transport {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func login(t testing.TB, c *client.Client, url string, n int) *client.Session {
	t.Helper()
	s, err := c.Login(context.Background(), url, client.UserCode(n))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryOperationIsCarriedOut(t *testing.T) {
	each := thorough.Or(10, 4) // how often each of four users carries out each operation
	db, url := base(t, server.Config{})
	var mutex sync.Mutex
	var acknowledged []string
	c := client.New(client.Options{Transport: pool(t), RefusedShare: -1, Acknowledged: func(kind, id string) {
		mutex.Lock()
		defer mutex.Unlock()
		acknowledged = append(acknowledged, kind+" "+id)
	}})
	if users, err := c.Users(t.Context(), url); users != 4 || err != nil {
		t.Errorf("%d users, %v", users, err)
	}
	var wait sync.WaitGroup
	for user := 1; user <= 4; user++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			s, rng := login(t, c, url, user), random(uint64(user))
			for _, op := range operations.All() {
				for range each {
					if outcome, err := c.Do(t.Context(), s, op.ID, rng); outcome != client.OK || err != nil {
						t.Errorf("%s: %s, %v", op.ID, outcome, err)
					}
				}
			}
			if err := c.Logout(t.Context(), s); err != nil {
				t.Error(err)
			}
			if outcome, err := c.Do(t.Context(), s, operations.ItemsSearch, rng); outcome != client.Failed ||
				!errors.Is(err, client.ErrSession) {
				t.Errorf("after logging out: %s, %v", outcome, err)
			}
		}()
	}
	wait.Wait()
	if got := db.Value(t, "SELECT count(DISTINCT document) FROM plimsoll_operation WHERE replace(document_type, "+
		"'_', '-') || ' ' || document = ANY ($1)", acknowledged); got != strconv.Itoa(len(acknowledged)) {
		t.Errorf("%s of %d acknowledged documents are there", got, len(acknowledged))
	}
	// A user without a sale or receipt to change makes one first: one more document.
	if len(acknowledged) < 18*4*each {
		t.Errorf("%d documents were made by 18 operations that make one, %d times each", len(acknowledged), 4*each)
	}
	erptest.Clean(t, db.Database)
}

// ofWhatIsNew lists the operations that show what has just been made, or name something that must never have existed.
var ofWhatIsNew = []string{
	operations.GoodsSaleCard, operations.GoodsSaleChange, operations.GoodsSaleUnpost, operations.GoodsReceiptChange,
	operations.InvoiceIssuedPost, operations.BankReceiptPost, operations.WarehouseIssueOrderPost,
	operations.ServicePurchasePost, operations.InvoiceReceivedPost, operations.PaymentRequestPost,
	operations.BankPaymentPost,
	operations.WarehouseReceiptOrderPost, operations.AssetCommissioningPost,
}

func TestTheShareOfSalesThatMustBeRefusedIs(t *testing.T) {
	_, url := base(t, server.Config{})
	c := client.New(client.Options{Transport: pool(t), RefusedShare: 1})
	s, rng := login(t, c, url, 1), random(1)
	twice := []string{ // one must exist before it can be repeated
		operations.InvoiceIssuedPost, operations.BankReceiptPost, operations.ServicePurchasePost,
		operations.InvoiceReceivedPost, operations.PaymentRequestPost, operations.AssetCommissioningPost,
	}
	for _, op := range append(twice, operations.GoodsSalePost, operations.InternalConsumptionPost,
		operations.SettlementRegistrarPost, operations.OtherGoodsReceiptPost, operations.BankPaymentPost) {
		first := slices.Contains(twice, op)
		for first {
			outcome, err := c.Do(t.Context(), s, op, rng)
			if first = outcome == client.OK; err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if outcome, err := c.Do(t.Context(), s, op, rng); outcome != client.Refused || err != nil {
				t.Errorf("%s: %s, %v", op, outcome, err)
			}
		}
	}
}

// recorder records what passes through the transport, without what differs between runs.
type recorder struct {
	http.RoundTripper
	requests []string
	keys     []string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	note := request.Method + " " + dates.ReplaceAllStringFunc(request.URL.RequestURI(), daysAgo)
	if request.Body != nil {
		body, _ := io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(body))
		note += " " + string(body)
	}
	r.requests = append(r.requests, note)
	r.keys = append(r.keys, request.Header.Get("Idempotency-Key"))
	return r.RoundTripper.RoundTrip(request)
}

// The days of reports are told from today, which may be another day when a user does the same again.
var dates = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

func daysAgo(date string) string {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return fmt.Sprintf("%d days ago", int(time.Since(at)/(24*time.Hour)))
}

func TestUsersDoTheSameForTheSameRandomness(t *testing.T) {
	_, url := base(t, server.Config{})
	play := func(seed uint64) *recorder {
		r := &recorder{RoundTripper: pool(t)}
		c := client.New(client.Options{Transport: r})
		s, rng := login(t, c, url, 1), random(seed)
		r.requests, r.keys = nil, nil
		for _, op := range operations.All() {
			if slices.Contains(ofWhatIsNew, op.ID) {
				continue
			}
			for range 5 {
				_, _ = c.Do(t.Context(), s, op.ID, rng)
			}
		}
		return r
	}
	first, second, third := play(1), play(1), play(2)
	if !slices.Equal(first.requests, second.requests) {
		t.Errorf("differ:\n%s\n\n%s", strings.Join(first.requests, "\n"), strings.Join(second.requests, "\n"))
	}
	if slices.Equal(first.requests, third.requests) {
		t.Error("the randomness changes nothing")
	}
	if first.keys[0] == "" || first.keys[0] == second.keys[0] || first.keys[0] == first.keys[1] {
		t.Errorf("keys of operations must differ: %s, %s; in another run %s", first.keys[0], first.keys[1],
			second.keys[0])
	}
}

// lossy loses the answer to the first posting, which the server has acknowledged.
type lossy struct {
	http.RoundTripper
	lost atomic.Bool
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil && r.Header.Get("Idempotency-Key") != "" && l.lost.CompareAndSwap(false, true) {
		answer.Body.Close()
		return nil, errors.New("connection reset")
	}
	return answer, err
}

func TestALostAnswerDoesNotDoubleADocument(t *testing.T) {
	db, url := base(t, server.Config{})
	before := db.Value(t, "SELECT count(*) FROM doc_goods_receipt")
	transport := &lossy{RoundTripper: pool(t)}
	c := client.New(client.Options{Transport: transport})
	s := login(t, c, url, 1)
	if outcome, err := c.Do(t.Context(), s, operations.GoodsReceiptPost, random(1)); outcome != client.OK ||
		!transport.lost.Load() {
		t.Fatalf("%s, %v", outcome, err)
	}
	if got := db.Value(t, "SELECT count(*) - $1::bigint FROM doc_goods_receipt", before); got != "1" {
		t.Errorf("%s documents", got)
	}
}

func TestAnOverloadedWorkerIsToldApart(t *testing.T) {
	db, url := base(t, server.Config{Concurrency: 1, Queue: -1})
	c := client.New(client.Options{Transport: pool(t)})
	first, second := login(t, c, url, 1), login(t, c, url, 2)
	done := make(chan client.Outcome, 1)
	holder := databasetest.Connect(t, db.DSN, database.Options{})
	err := holder.Run(t.Context(), func(w *database.Work) error {
		w.Queue("hold the ledger", "LOCK TABLE gl_general_totals IN EXCLUSIVE MODE")
		if err := w.Flush(t.Context()); err != nil {
			return err
		}
		go func() {
			outcome, _ := c.Do(context.Background(), first, operations.GoodsReceiptPost, random(1))
			done <- outcome
		}()
		patience.Until(t, "the worker has its hands full", func() bool {
			return db.Value(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker' AND datname = "+
				"current_database() AND wait_event_type = 'Lock'") != "0"
		})
		var overload *client.Overload
		outcome, err := c.Do(t.Context(), second, operations.StockReport, random(1))
		if outcome != client.Overloaded || !errors.As(err, &overload) || overload.RetryAfter <= 0 ||
			overload.Code != "overloaded" {
			t.Errorf("%s, %v", outcome, err)
		}
		return nil
	})
	if outcome := <-done; err != nil || outcome != client.OK {
		t.Errorf("the active one: %s, %v", outcome, err)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	_, url := base(t, server.Config{})
	c := client.New(client.Options{Transport: pool(t)})
	if _, err := c.Login(t.Context(), url, "nobody"); err == nil || !strings.Contains(err.Error(), "unknown user") {
		t.Errorf("unknown user: %v", err)
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://x", "http://x/path", "http://"} {
		if _, err := c.Login(t.Context(), address, "u00001"); err == nil ||
			!strings.Contains(err.Error(), "address of a worker") {
			t.Errorf("%q: %v", address, err)
		}
	}
	s := login(t, c, url, 1)
	if outcome, err := c.Do(t.Context(), s, "none", random(1)); outcome != client.Failed ||
		!errors.Is(err, client.ErrUnknownOperation) {
		t.Errorf("unknown operation: %s, %v", outcome, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := c.Do(ctx, s, operations.GoodsSalePost, random(1)); outcome != client.Failed ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("given up: %s, %v", outcome, err)
	}
	if got := fmt.Sprint(client.OK, client.Refused, client.Overloaded,
		client.Failed); got != "ok refused overloaded failed" {
		t.Error(got)
	}
}

// busy answers 503 to this number of log-ins, as an overloaded worker does.
type busy struct {
	http.RoundTripper
	left atomic.Int64
}

func (b *busy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || b.left.Add(-1) < 0 {
		return b.RoundTripper.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Request: r, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(`{"error":{"code":"overloaded"}}`))}, nil
}

func TestAnOverloadedWorkerIsAskedAgain(t *testing.T) {
	_, url := base(t, server.Config{})
	for most, want := range map[time.Duration]bool{patience.Max: true, 0: false} {
		transport := &busy{RoundTripper: pool(t)}
		transport.left.Store(2)
		c := client.New(client.Options{Transport: transport})
		s, err := c.LoginWhenFree(t.Context(), url, client.UserCode(1), most)
		var overload *client.Overload
		if (s != nil) != want || !want && !errors.As(err, &overload) {
			t.Errorf("within %s: %v, %v", most, s != nil, err)
		}
	}
}

// shortPages asks for commissionings one by one, whatever the client asks for, and ends what reads on and on.
type shortPages struct {
	http.RoundTripper
	pages atomic.Int64
}

func (s *shortPages) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/asset-commissioning") {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=1000", "limit=1", 1)
		if s.pages.Add(1) > 1000 {
			return nil, errors.New("more pages than documents")
		}
	}
	return s.RoundTripper.RoundTrip(r)
}

func TestListsOfManyPagesAreReadToTheirEnd(t *testing.T) {
	db, url := base(t, server.Config{})
	commission := func(transport http.RoundTripper) {
		t.Helper()
		c := client.New(client.Options{Transport: transport, RefusedShare: -1})
		outcome, err := c.Do(t.Context(), login(t, c, url, 1), operations.AssetCommissioningPost, random(1))
		if err != nil || outcome != client.OK {
			t.Fatalf("%v, error %v: want it done", outcome, err)
		}
	}
	for range 3 {
		commission(pool(t))
	}
	short := &shortPages{RoundTripper: pool(t)}
	commission(short)
	if n := short.pages.Load(); n < 3 {
		t.Errorf("%d pages were read of 3 documents or more", n)
	}
	erptest.Clean(t, db.Database)
}
