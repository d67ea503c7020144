package erp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"plimsoll/erp/erptest"
	"plimsoll/platform/worker/server"
)

// A worker is drained while many users post to it; a user who gets no answer repeats the request with the same key at
// the other worker.
func TestDrainingAWorkerLosesAndDoublesNothing(t *testing.T) {
	c := erptest.New(t, 4)
	going, drain := c.StartWorker(t, server.Config{})
	staying := c.Worker(t, server.Config{})
	s := c.Stock(t, staying, 100_000)
	const count, rounds = 24, 20
	users, elsewhere := c.Posters(t, []string{going}, count), c.Posters(t, []string{staying}, count)
	var posted, moved atomic.Int64
	drained := make(chan struct{})
	erptest.Together(users, func(n int, u *erptest.User, rng *rand.Rand) {
		for round := range rounds {
			if posted.Add(1) == count*rounds/3 {
				go func() { drain(); close(drained) }()
			}
			body, _ := json.Marshal(s.Sale(rng, 3))
			key := fmt.Sprintf("%d-%d", n, round)
			a, err := u.Try("POST", "/v1/documents/goods-sale", key, body)
			if err != nil {
				moved.Add(1)
				u = elsewhere[n]
				a, err = u.Try("POST", "/v1/documents/goods-sale", key, body)
			}
			if err != nil || a.Status != 201 {
				t.Errorf("%d %s, %v", a.Status, a.Body, err)
			}
		}
	})
	<-drained
	if moved.Load() == 0 {
		t.Error("nobody noticed that the worker was drained")
	}
	if got := c.Value(t, "SELECT count(*) || ' of ' || count(DISTINCT number) FROM doc_goods_sale"); got != fmt.Sprintf(
		"%d of %d", count*rounds, count*rounds) {
		t.Errorf("%s documents, want %d", got, count*rounds)
	}
	erptest.Clean(t, c.Database)
}
