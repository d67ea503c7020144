package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/run/worker"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/platformtest"
	"plimsoll/test/patience"
)

// fault is what happens while clients are active.
type fault string

const (
	none        fault = "none"
	killServer  fault = "kill the server"
	stopServer  fault = "stop the server"
	killBackend fault = "kill a backend"
	killWorker  fault = "kill a worker"
	stopWorker  fault = "stop a worker"
	promote     fault = "promote the standby"
)

var faults = []fault{none, killServer, killWorker, killBackend, promote, stopServer, stopWorker}

// round is one fault under clients. Each new operation is sent until it is acknowledged, some of them to both workers
// at once; acknowledged ones are sent again.
type round struct {
	Fault  fault
	Worker int   // that it hits, or whose backend
	Copies []int // of each new operation, sent at once
	Again  int   // acknowledged before
	After  int   // answers before the fault comes
}

var rounds = rapid.Custom(func(t *rapid.T) round {
	return round{
		Fault:  rapid.SampledFrom(faults).Draw(t, "fault"),
		Worker: rapid.IntRange(0, shopWorkers-1).Draw(t, "worker"),
		Copies: rapid.SliceOfN(rapid.IntRange(1, 3), 1, 12).Draw(t, "copies"),
		Again:  rapid.IntRange(0, 4).Draw(t, "again"),
		After:  rapid.IntRange(0, 8).Draw(t, "after"),
	}
})

// Whatever fails under them, operations that clients repeat under their keys are done once each.
func TestOperationsAreDoneExactlyOnce(t *testing.T) {
	var all []round
	for n, f := range faults {
		all = append(all, round{Fault: f, Worker: n % shopWorkers, Copies: []int{1, 2, 1, 3, 1, 1}, Again: 2,
			After: n % 4})
	}
	if wrong := playRounds(t, all, "durable-ack", false); wrong != nil {
		t.Fatal(wrong)
	}
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rounds, 2, 5).Draw(rt, "rounds")
		if wrong := playRounds(t, plan, "durable-ack", false); wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

// The model notices a worker that does not know the keys.
func TestAForgottenKeyIsNoticed(t *testing.T) {
	plan := []round{{Fault: killWorker, Copies: []int{1, 2, 3, 1}, Again: 2, After: 2}}
	wrong := playRounds(t, plan, "durable-ack", true)
	if !strings.Contains(fmt.Sprint(wrong), "documents of 4 operations") {
		t.Errorf("keys were not checked, and nobody noticed: %v", wrong)
	}
}

// The model notices operations that are acknowledged before they are flushed. A kill may find all flushed.
func TestAnEarlyAcknowledgementIsNoticed(t *testing.T) {
	kill := round{Fault: killServer, Copies: slices.Repeat([]int{1}, 12), After: 8}
	for range 20 {
		wrong := playRounds(t, []round{kill, kill, kill}, "async", false)
		if strings.Contains(fmt.Sprint(wrong), " is lost: ") {
			return
		}
	}
	t.Error("60 kills lost no asynchronous commit, or nobody noticed")
}

const shopWorkers = 2

// shop is a server with a synchronous standby, workers and clients, and the model of what must be there.
type shop struct {
	t                *testing.T
	ctx              context.Context
	store            *cluster.Store
	primary, standby *cluster.Cluster
	runs, follows    *cluster.Postmaster
	env              []string
	organisation     id.ID
	shelf, goods     id.ID
	client           *http.Client
	forgetful        bool

	mutex   sync.Mutex
	workers [shopWorkers]*worker.Worker
	tokens  [shopWorkers]string
	attempt int
	made    map[string]string // by key: the document that was answered
	sum     int               // of their quantities
	wrong   []error
	answers chan struct{}
}

// playRounds on a server of its own; what the model does not allow is an error.
func playRounds(t *testing.T, plan []round, durability string, forgetful bool) error {
	s := &shop{t: t, ctx: patience.Context(t), store: cluster.Open(clustertest.State(t)), organisation: id.New(),
		shelf: id.New(), goods: id.New(), client: &http.Client{Transport: &http.Transport{}}, forgetful: forgetful,
		made: map[string]string{}}
	defer s.end()
	s.start(durability, slices.ContainsFunc(plan, func(r round) bool { return r.Fault == promote }))
	for n, r := range plan {
		s.round(n, r)
		if s.check(fmt.Sprintf("round %d, %s", n, r.Fault)); len(s.wrong) > 0 {
			break
		}
	}
	return errors.Join(s.wrong...)
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) start(durability string, withStandby bool) {
	spec := clustertest.Copied(clustertest.Spec())
	spec.SocketOnly, spec.Unsafe, spec.Log = true, false, cluster.ReplicaLog
	for name, value := range map[string]string{"wal_retrieve_retry_interval": "100ms", "wal_writer_delay": "10s",
		"autovacuum": "off", "bgwriter_lru_maxpages": "0"} {
		spec.Settings = append(spec.Settings, profile.Setting{Name: name, Value: value, Reason: "the test says so"})
	}
	var err error
	s.primary, err = s.store.Create(s.ctx, "first", spec)
	s.must(err)
	s.runs, err = s.primary.Start(s.ctx, cluster.StartOptions{})
	s.must(err)
	s.base()
	dsn := s.primary.SocketDSN("").Secret()
	if withStandby && s.canCopy() {
		s.standby, err = s.store.Create(s.ctx, "second", cluster.Spec{ReplicaOf: s.primary, Sync: true,
			SocketOnly: true})
		s.must(err)
		s.follows, err = s.standby.Start(s.ctx, cluster.StartOptions{})
		s.must(err)
		s.must(s.standby.Join(s.ctx))
		dsn = s.primary.SocketDSN("").Or(s.standby.SocketDSN(""))
	}
	s.env = []string{"PLIMSOLL_DSN=" + dsn, shopDurability + "=" + durability, shopOrganisation + "=" +
		s.organisation.String()}
	for n := range shopWorkers {
		s.startWorker(n)
	}
}

func (s *shop) canCopy() bool {
	_, err := s.primary.Server().Program("pg_basebackup")
	if err != nil {
		s.t.Logf("NOT TESTED: promotions: %v", err)
	}
	return err == nil
}

// base has what a receipt refers to.
func (s *shop) base() {
	db, err := database.Open(s.ctx, s.primary.SocketDSN("").Secret(), database.Options{Connections: 1})
	s.must(err)
	defer db.Close()
	s.must(schema.Claim(s.ctx, db))
	s.must(schema.Migrate(s.ctx, db, platformtest.Application()))
	s.must(db.Borrow(s.ctx, func(c *pgx.Conn) error {
		for table, row := range map[string]id.ID{"cat_shelves": s.shelf, "cat_goods": s.goods} {
			if _, err := c.Exec(s.ctx, "INSERT INTO "+table+" (id, organisation, code, name) VALUES ($1, $2, 'A', 'A')",
				row, s.organisation); err != nil {
				return err
			}
		}
		return nil
	}))
}

// startWorker starts one in the place of one that is gone.
func (s *shop) startWorker(n int) {
	w, err := worker.Start(s.ctx, []string{os.Args[0]}, s.env, nil)
	s.must(err)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.workers[n], s.tokens[n] = w, ""
}

func (s *shop) end() {
	for _, w := range s.workers {
		if w != nil {
			w.Kill()
		}
	}
	s.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	for _, p := range []*cluster.Postmaster{s.follows, s.runs} {
		if p != nil {
			if err := p.Kill(ctx); err != nil {
				s.t.Error(err)
			}
		}
	}
	for _, c := range []*cluster.Cluster{s.standby, s.primary} {
		if c != nil {
			if err := s.store.Destroy(ctx, c.Name()); err != nil {
				s.t.Error(err)
			}
		}
	}
}

func (s *shop) round(n int, r round) {
	s.answers = make(chan struct{}, 1000)
	var clients sync.WaitGroup
	all := 0
	send := func(key string, quantity, to int) {
		all++
		clients.Add(1)
		go func() { defer clients.Done(); s.repeat(key, quantity, to) }()
	}
	known := s.known()
	for i := range min(r.Again, len(known)) {
		send(known[(i*7+n)%len(known)], 0, i)
	}
	for i, copies := range r.Copies {
		quantity := 1 + i
		s.mutex.Lock()
		s.sum += quantity
		s.mutex.Unlock()
		for c := range copies {
			send(fmt.Sprintf("%d-%d-%d", n, i, quantity), quantity, i+c)
		}
	}
	for range min(r.After, all) {
		select {
		case <-s.answers:
		case <-s.ctx.Done():
			s.t.Fatal("nobody is answered")
		}
	}
	s.inject(r)
	clients.Wait()
}

// inject causes the fault of a round, and repairs what it broke.
func (s *shop) inject(r round) {
	w := s.workers[r.Worker]
	switch r.Fault {
	case killServer:
		s.must(s.runs.Kill(s.ctx))
		s.startAgain()
	case stopServer:
		s.must(s.runs.Stop(s.ctx, cluster.Fast))
		s.startAgain()
	case killBackend:
		s.killBackend()
	case killWorker:
		w.Kill()
		s.startWorker(r.Worker)
	case stopWorker:
		w.Stop()
		s.startWorker(r.Worker)
	case promote:
		if s.standby == nil {
			return // it is done once
		}
		s.must(s.runs.Kill(s.ctx))
		_, err := s.store.Promote(s.ctx, s.standby.Name(), true)
		s.must(err)
		again, err := s.store.Find(s.standby.Name())
		s.must(err)
		s.must(s.store.Destroy(s.ctx, s.primary.Name()))
		s.primary, s.standby, s.runs, s.follows = again, nil, s.follows, nil
	}
}

func (s *shop) startAgain() {
	var err error
	s.runs, err = s.primary.Start(s.ctx, cluster.StartOptions{})
	s.must(err)
}

// killBackend makes the server restart by itself: all sessions end.
func (s *shop) killBackend() {
	conn, err := pgx.Connect(s.ctx, s.primary.SocketDSN("").Secret())
	s.must(err)
	defer conn.Close(context.WithoutCancel(s.ctx))
	s.must(syscall.Kill(int(conn.PgConn().PID()), syscall.SIGKILL)) // a session of ours, so the pid is its own
}

// known keys, in order.
func (s *shop) known() (keys []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for key := range s.made {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// repeat an operation until it is acknowledged.
func (s *shop) repeat(key string, quantity, to int) {
	defer func() { s.answers <- struct{}{} }()
	var last error
	for ; s.ctx.Err() == nil; to++ {
		document, err := s.send(key, to%shopWorkers)
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			s.violated(fmt.Errorf("%s: %w", key, err))
			return
		case err == nil:
			s.acknowledged(key, document)
			return
		}
		last = err
		select {
		case <-s.ctx.Done():
		case <-time.After(time.Duration(rand.Int64N(int64(10 * time.Millisecond)))):
		}
	}
	s.violated(fmt.Errorf("%s is never acknowledged: %w", key, last))
}

func (s *shop) violated(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.wrong = append(s.wrong, err)
}

func (s *shop) acknowledged(key, document string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if before := s.made[key]; before != "" && before != document {
		s.wrong = append(s.wrong, fmt.Errorf("%s made %s, and then %s", key, before, document))
	}
	s.made[key] = document
}

// refusal is an answer that no repetition changes.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("answered %d %s", r.status, r.text) }

// send a receipt; its day, minute and quantity are the parts of the key.
func (s *shop) send(key string, to int) (document string, err error) {
	var n, i, quantity, second int
	if _, err := fmt.Sscanf(key, "%d-%d-%d", &n, &i, &quantity); err != nil {
		return "", err
	}
	s.mutex.Lock()
	url, token := s.workers[to].URL, s.tokens[to]
	sent := key
	if s.forgetful { // a cost of its own, which the register does not refuse
		s.attempt++
		sent, second = fmt.Sprintf("%s-%d", key, s.attempt), s.attempt%60
	}
	s.mutex.Unlock()
	if token == "" {
		return "", s.logIn(to, url)
	}
	body := fmt.Sprintf(`{"date":"2025-03-%02dT12:%02d:%02dZ","shelf":%q,"lines":[{"goods":%q,"quantity":"%d",`+
		`"amount":"1"}]}`, 1+n, i, second, s.shelf, s.goods, quantity)
	var made struct{ ID string }
	status, text, err := s.post(url+"/v1/documents/receipt", token, sent, body)
	switch {
	case err != nil:
	case status == http.StatusUnauthorized:
		s.mutex.Lock()
		if s.workers[to].URL == url {
			s.tokens[to] = ""
		}
		s.mutex.Unlock()
		err = errors.New("no session")
	case status >= 500:
		err = fmt.Errorf("status %d", status)
	case status >= 300:
		err = &refusal{status, text}
	default:
		err = json.Unmarshal([]byte(text), &made)
	}
	return made.ID, err
}

// logIn at a worker; the operation comes with the next attempt.
func (s *shop) logIn(to int, url string) error {
	status, text, err := s.post(url+"/v1/sessions", "", "", `{"user":"known"}`)
	if err != nil {
		return err
	}
	var opened struct{ Token string }
	if err := json.Unmarshal([]byte(text), &opened); err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.workers[to].URL == url {
		s.tokens[to] = opened.Token
	}
	return fmt.Errorf("log in: status %d", status)
}

func (s *shop) post(url, token, key, body string) (status int, text string, err error) {
	q, err := http.NewRequestWithContext(s.ctx, http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		return 0, "", err
	}
	q.Header.Set("Content-Type", "application/json")
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
		q.Header.Set("Idempotency-Key", key)
	}
	answer, err := s.client.Do(q)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all), err
}

// stock is what is there.
type stock struct {
	documents         []string
	keys              int
	moved             int // quantity
	leastSum, mostSum int // of totals: of the month, and of all
}

func (s *shop) stock() (there stock, err error) {
	conn, err := pgx.Connect(s.ctx, s.primary.SocketDSN("").Secret())
	if err != nil {
		return there, err
	}
	defer conn.Close(context.WithoutCancel(s.ctx))
	rows, _ := conn.Query(s.ctx, "SELECT id::text FROM doc_receipt")
	if there.documents, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return there, err
	}
	return there, conn.QueryRow(s.ctx, "SELECT (SELECT count(*) FROM plimsoll_operation), "+
		"(SELECT coalesce(sum(quantity), 0)::bigint FROM acc_stock), coalesce(min(quantity), 0)::bigint, "+
		"coalesce(max(quantity), 0)::bigint FROM acc_stock_totals").
		Scan(&there.keys, &there.moved, &there.leastSum, &there.mostSum)
}

// check that each operation is there once, as it was answered, and that nothing else is.
func (s *shop) check(when string) {
	var there stock
	var err error
	if !patience.Holds(func() bool { // a server that restarts by itself ends sessions
		there, err = s.stock()
		return err == nil
	}) {
		s.t.Fatal(err)
	}
	for key, document := range s.made {
		if !slices.Contains(there.documents, document) {
			s.violated(fmt.Errorf("%s: %s is lost: %s", when, key, document))
		}
	}
	all := len(s.made)
	if len(there.documents) != all || there.keys != all {
		s.violated(fmt.Errorf("%s: %d documents of %d operations, %d keys", when, len(there.documents), all,
			there.keys))
	}
	if there.moved != s.sum || there.leastSum != s.sum || there.mostSum != s.sum {
		s.violated(fmt.Errorf("%s: quantity %d, moved %d, totals %d to %d", when, s.sum, there.moved, there.leastSum,
			there.mostSum))
	}
}
