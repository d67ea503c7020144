package erptest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/test/patience"
)

// Posters are sessions of one user, spread over the workers.
func (c *Company) Posters(t testing.TB, bases []string, count int) (users []*User) {
	t.Helper()
	for n := range count {
		users = append(users, Login(t, bases[n%len(bases)], c.Organisations[0].User))
	}
	return users
}

// Together lets all users do something at once, each with random numbers of its own.
func Together(users []*User, do func(n int, u *User, rng *rand.Rand)) {
	var wait sync.WaitGroup
	for n, u := range users {
		wait.Add(1)
		go func() {
			defer wait.Done()
			do(n, u, rand.New(rand.NewPCG(1, uint64(n))))
		}()
	}
	wait.Wait()
}

// Stocked is a company with some units of every item in one warehouse.
type Stocked struct {
	*Company
	Warehouse id.ID
}

// Stock receives so many units of every item.
func (c *Company) Stock(t testing.TB, base string, units int) Stocked {
	t.Helper()
	s := Stocked{c, c.Organisations[0].Warehouses[0]}
	d := Document{Warehouse: s.Warehouse, Counterparty: c.Organisations[0].Counterparty}
	for _, item := range c.Items {
		d.Lines = append(d.Lines, Line{Item: item, Quantity: fmt.Sprint(units), Price: "3.33"})
	}
	if a := Login(t, base, c.Organisations[0].User).Post(t, "goods-receipt", "", d); a.Status != 201 {
		t.Fatalf("receive: %d %s", a.Status, a.Body)
	}
	return s
}

// Sale of some items, in any order: the locks must not care.
func (s Stocked) Sale(rng *rand.Rand, units int) Document {
	d := Document{Warehouse: s.Warehouse, Counterparty: s.Organisations[0].Counterparty}
	for _, n := range rng.Perm(len(s.Items))[:1+rng.IntN(len(s.Items))] {
		d.Lines = append(d.Lines, Line{Item: s.Items[n],
			Quantity: fmt.Sprintf("%d.%03d", 1+rng.IntN(units), rng.IntN(1000))})
	}
	return d
}

// HoldLedger stops every posting at its last statement while do runs.
func (c *Company) HoldLedger(t testing.TB, do func()) {
	t.Helper()
	err := databasetest.Connect(t, c.DSN, database.Options{Connections: 1}).Run(t.Context(),
		func(w *database.Work) error {
			w.Queue("hold the ledger", "LOCK TABLE gl_general_totals IN EXCLUSIVE MODE")
			if err := w.Flush(t.Context()); err != nil {
				return err
			}
			do()
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// Blocked waits until so many connections of workers wait for a lock, and returns their processes.
func (c *Company) Blocked(t testing.TB, count int) (pids []int32) {
	t.Helper()
	patience.Until(t, "the postings wait", func() bool {
		err := c.Read(context.Background(), func(w *database.Work) error {
			pids = nil
			w.Queue("who waits", "SELECT pid FROM pg_stat_activity WHERE application_name = 'worker' AND datname = "+
				"current_database() AND wait_event_type = 'Lock'").
				Rows(func(r pgx.Rows) error {
					var pid int32
					err := r.Scan(&pid)
					pids = append(pids, pid)
					return err
				})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(pids) >= count
	})
	return pids
}

// WantNoDeadlock fails the test when the server has resolved a deadlock in the database.
func (c *Company) WantNoDeadlock(t testing.TB) {
	t.Helper()
	if got := c.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
}

// Outcomes counts what became of operations of users that contend.
type Outcomes struct{ Done, Refused, Stale atomic.Int64 }

// Count an answer; it fails the test unless it is one of these outcomes.
func (o *Outcomes) Count(t testing.TB, a Answer) {
	t.Helper()
	switch a.Status {
	case http.StatusOK, http.StatusCreated:
		o.Done.Add(1)
	case http.StatusConflict:
		o.Refused.Add(1)
	case http.StatusPreconditionFailed:
		o.Stale.Add(1)
	default:
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// WantNoneStale fails the test if an answer was that the document had changed: nobody has named a version.
func (o *Outcomes) WantNoneStale(t testing.TB) {
	t.Helper()
	if n := o.Stale.Load(); n != 0 {
		t.Errorf("%d answers of status %d", n, http.StatusPreconditionFailed)
	}
}

// WantContended fails the test unless at least so many operations were done, and so many refused.
func (o *Outcomes) WantContended(t testing.TB, least int64) {
	t.Helper()
	if o.Done.Load() < least || o.Refused.Load() < least {
		t.Errorf("%d done, %d refused: there was no contention", o.Done.Load(), o.Refused.Load())
	}
}
