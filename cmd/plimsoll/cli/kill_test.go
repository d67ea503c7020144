package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/run/worker"
	"plimsoll/lab/system"
	"plimsoll/platform/data/database"
	"plimsoll/test/patience"
)

// killStand is a filled cluster of its own, with two workers that are processes.
type killStand struct {
	*stand
	cluster  *cluster.Cluster
	db       *database.Database
	workers  [2]*worker.Worker
	goods    [2]string            // item, warehouse
	partners map[string][2]string // counterparty and contract, by type of document
}

func newKillStand(t *testing.T, up ...string) *killStand {
	s := &killStand{stand: newStand(t)}
	s.upOne = append(s.upOne, "--socket-only") // a port would be anybody's while the server is down
	s.upOne = append(s.upOne, up...)
	plimsoll(t, append(s.upOne, "--quiet")...).want(t, ExitOK)
	var err error
	if s.cluster, err = cluster.Open("").Find(s.one); err != nil {
		t.Fatal(err)
	}
	plimsoll(t, "fill", "--small", "--quiet").want(t, ExitOK)
	if s.db, err = database.Open(t.Context(), s.cluster.DSN(system.Database).Secret(), database.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.db.Close)
	const ours = "organisation = (SELECT organisation FROM cat_users WHERE code = 'u00001')"
	s.goods = [2]string{s.value(t, "SELECT id FROM cat_items ORDER BY id LIMIT 1"),
		s.value(t, "SELECT id FROM cat_warehouses WHERE "+ours+" ORDER BY id LIMIT 1")}
	s.partners = map[string][2]string{}
	for kind, side := range map[string]string{"goods-receipt": "supplier", "goods-sale": "customer"} {
		from := " FROM cat_contracts WHERE " + ours + " AND " + side + " AND NOT by_order ORDER BY id LIMIT 1"
		s.partners[kind] = [2]string{s.value(t, "SELECT counterparty"+from), s.value(t, "SELECT id"+from)}
	}
	return s
}

// serveProcess starts a worker as 'plimsoll serve' would; it finds the cluster by itself.
func (s *killStand) serveProcess(t *testing.T) *worker.Worker {
	t.Helper()
	w, err := worker.Start(t.Context(), serveCommand(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	return w
}

func (s *killStand) value(t *testing.T, query string) (value string) {
	t.Helper()
	err := s.db.Borrow(t.Context(), func(c *pgx.Conn) error {
		return c.QueryRow(t.Context(), "SELECT ("+query+")::text").Scan(&value)
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (s *killStand) body(kind, comment, quantity string) []byte {
	return fmt.Appendf(nil, `{"warehouse":%q,"counterparty":%q,"contract":%q,"comment":%q,`+
		`"lines":[{"item":%q,"quantity":%q,"price":"1.00"}]}`,
		s.goods[1], s.partners[kind][0], s.partners[kind][1], comment, s.goods[0], quantity)
}

// poster is one user who does not give up: what was not answered is sent again, to the other worker, under its key.
type poster struct {
	stand *killStand
	n, at int // which worker
	user  *erptest.User
	acked *atomic.Int64
	alive [2]*atomic.Bool
}

func (p *poster) do(t *testing.T, method, path, key string, body []byte) (a erptest.Answer) {
	t.Helper()
	answered := patience.Holds(func() (ok bool) {
		if p.user == nil && !p.login() {
			return false
		}
		var err error
		if a, err = p.user.Try(method, path, key, body); err != nil || a.Status == 503 || a.Status == 401 {
			p.user = nil
			return false
		}
		return true
	})
	if !answered {
		t.Errorf("poster %d: %s %s was never answered: %d %s", p.n, method, path, a.Status, a.Body)
		return a
	}
	p.acked.Add(1)
	return a
}

func (p *poster) login() bool {
	p.at = 1 - p.at
	if !p.alive[p.at].Load() {
		return false
	}
	u := &erptest.User{Base: p.stand.workers[p.at].URL}
	a, err := u.Try("POST", "/v1/sessions", "", fmt.Appendf(nil, `{"user":"u%05d"}`, 1))
	var opened struct{ Token string }
	if err != nil || a.Status != 201 || json.Unmarshal(a.Body, &opened) != nil {
		return false
	}
	u.Token, p.user = opened.Token, u
	return true
}

// outcomes of documents by their comment: the status and id that their creation was answered with.
type outcomes struct {
	mutex   sync.Mutex
	answers map[string]erptest.Answer
}

// work posts documents whose comments begin with a name: so many, and on until somebody was killed.
func (p *poster) work(t *testing.T, name string, rounds int, killed *atomic.Bool, made *outcomes) {
	rng := rand.New(rand.NewPCG(7, uint64(p.n)))
	for round := 0; round < rounds || !killed.Load(); round++ {
		comment := fmt.Sprintf("%s-%d-%d", name, p.n, round)
		kind := []string{"goods-receipt", "goods-sale"}[rng.IntN(2)]
		a := p.do(t, "POST", "/v1/documents/"+kind, comment, p.stand.body(kind, comment, fmt.Sprint(1+rng.IntN(3))))
		made.mutex.Lock()
		made.answers[comment] = a
		made.mutex.Unlock()
		if a.Status == 201 && rng.IntN(3) == 0 {
			back := p.do(t, "POST", "/v1/documents/"+kind+"/"+a.ID.String()+"/unpost", comment+"-unpost", nil)
			if back.Status != 200 && back.Status != 409 {
				t.Errorf("unpost: %d %s", back.Status, back.Body)
			}
		}
	}
}

// A worker, or PostgreSQL, is killed while everybody posts. Every acknowledged operation exists once; nothing exists in
// part; users continue at another worker.
func TestKilledInTheMiddleOfLoad(t *testing.T) {
	const posters, rounds = 12, 24
	s := newKillStand(t)
	for name, kill := range map[string]func(*testing.T, *killStand, [2]*atomic.Bool) (heal func()){
		"AWorker": func(_ *testing.T, s *killStand, alive [2]*atomic.Bool) func() {
			alive[0].Store(false)
			s.workers[0].Kill()
			<-s.workers[0].Gone()
			return func() {}
		},
		"PostgreSQL": func(t *testing.T, s *killStand, _ [2]*atomic.Bool) func() {
			if err := s.cluster.Kill(context.Background()); err != nil {
				t.Error(err)
			}
			return func() { plimsoll(t, append(s.upOne, "--quiet")...).want(t, ExitOK) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range s.workers {
				s.workers[i] = s.serveProcess(t)
			}
			var acked atomic.Int64
			var killed atomic.Bool
			defer killed.Store(true) // also when the test fails before
			alive := [2]*atomic.Bool{{}, {}}
			alive[0].Store(true)
			alive[1].Store(true)
			made := &outcomes{answers: map[string]erptest.Answer{}}
			var group sync.WaitGroup
			for n := range posters {
				p := &poster{stand: s, n: n, at: n % 2, acked: &acked, alive: alive}
				group.Add(1)
				go func() {
					defer group.Done()
					p.work(t, name, rounds, &killed, made)
				}()
			}
			patience.Until(t, "a quarter is posted", func() bool {
				return acked.Load() >= posters*rounds/4 || t.Failed()
			})
			heal := kill(t, s, alive) // users need not notice: workers wait for a database that comes back
			killed.Store(true)
			heal()
			group.Wait()
			s.everythingOnce(t, name, made)
		})
	}
}

func (s *killStand) everythingOnce(t *testing.T, name string, made *outcomes) {
	present := map[string]int{}
	err := s.db.Borrow(t.Context(), func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `SELECT comment, count(*)::integer
			FROM (SELECT comment FROM doc_goods_receipt UNION ALL SELECT comment FROM doc_goods_sale) d
			WHERE comment ~ $1 GROUP BY comment`, "^"+name+`-\d+-\d+$`)
		if err != nil {
			return err
		}
		var comment string
		var count int
		_, err = pgx.ForEachRow(rows, []any{&comment, &count}, func() error { present[comment] = count; return nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	posted := 0
	for comment, a := range made.answers {
		want := 0
		switch a.Status {
		case 201:
			want, posted = 1, posted+1
		case 409:
		default:
			t.Errorf("%s was answered with %d %s", comment, a.Status, a.Body)
		}
		if present[comment] != want {
			t.Errorf("%s was answered with %d and is there %d times", comment, a.Status, present[comment])
		}
		delete(present, comment)
	}
	if len(present) > 0 || posted == 0 {
		t.Errorf("%d were posted; nobody asked for %v", posted, present)
	}
	patience.Until(t, "the transactions of the dead have ended", func() bool { // and one of the living, for a moment
		return s.value(t, "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'") == "0"
	})
	erptest.Clean(t, s.db)
	s.onlyTheLivingKeepSessions(t)
}

// onlyTheLivingKeepSessions starts one more worker, which clears away what killed ones have left.
func (s *killStand) onlyTheLivingKeepSessions(t *testing.T) {
	w := s.serveProcess(t)
	living := map[string]bool{}
	for _, each := range append(s.workers[:], w) {
		select {
		case <-each.Gone():
		default:
			living[fmt.Sprint(each.PID)] = true
		}
	}
	folders, err := os.ReadDir(filepath.Join(s.state, "sessions"))
	if err != nil || len(folders) != len(living) {
		t.Errorf("%d workers live and keep %v, %v", len(living), folders, err)
	}
}
