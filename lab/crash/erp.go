package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/client"
	"plimsoll/erp/fill"
	"plimsoll/erp/operations"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/run/worker"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
)

// erpWork is the load ERP: users who carry out key operations over HTTP, without thinking in between.
type erpWork struct {
	*lab
	crew   *crew
	record *recorder
	client *client.Client
	gate   sync.RWMutex // held by each operation
	stop   atomic.Bool
	users  sync.WaitGroup

	counted int // acknowledged operations, in loads that were counted

	mutex  sync.Mutex
	failed map[string]int
}

const erpDatabase = "erp"

// base of the ERP: small, so that an audit is quick and rows are hot.
var base = fill.Options{Items: 100, Warehouses: 4, Counterparties: 60, Users: 40, Organisations: 2, Documents: 200}

func (*erpWork) database() string { return erpDatabase }

func (e *erpWork) prepare(ctx context.Context) error {
	if err := postgres.Execute(ctx, e.cluster.SocketDSN("").Secret(), "CREATE DATABASE "+erpDatabase); err != nil {
		return fmt.Errorf("create the base: %w", err)
	}
	db, err := database.Open(ctx, e.dsn(), database.Options{Connections: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	options := base
	options.Create, options.Seed = true, e.Seed
	e.step("filling a base")
	if _, err := fill.Run(ctx, db, options); err != nil {
		return fmt.Errorf("fill the base: %w", err)
	}
	return db.Borrow(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS amcheck")
		return err
	})
}

func (e *erpWork) dsn() string { return e.serving().SocketDSN(erpDatabase).Secret() }

// begin starts the workers and the users. Users that repeat send an operation again until its outcome is known.
func (e *erpWork) begin(ctx context.Context, last func() uint64, repeat bool) (err error) {
	e.failed = map[string]int{}
	e.stop.Store(false)
	command := append(e.Serve, "--shape="+string(e.Shape), "--durability="+e.mode())
	e.crew = &crew{command: command, env: []string{"PLIMSOLL_DSN=" + e.workersDSN()}}
	if err := e.crew.start(ctx, e.Workers); err != nil {
		return err
	}
	e.record = newRecorder(e.crew, last, repeat)
	e.client = client.New(client.Options{Transport: e.record})
	logins, err := e.client.Users(ctx, e.crew.base(0))
	if err != nil {
		return err
	}
	sessions := make([]*client.Session, e.Sessions+lookers)
	for n := range sessions {
		user := client.UserCode(1 + n%logins)
		if sessions[n], err = e.client.Login(ctx, e.crew.base(n), user); err != nil {
			return err
		}
	}
	for n, s := range sessions {
		choose, pause := randomOperation, time.Duration(0)
		if n >= e.Sessions {
			choose, pause = randomList, lookEvery
		}
		e.users.Add(1)
		go func() {
			defer e.users.Done()
			e.work(ctx, n, client.UserCode(1+n%logins), s, choose, pause)
		}()
	}
	return nil
}

// mode of the workers.
func (e *erpWork) mode() string {
	if e.Durability == Unsafe {
		return string(durability.Server)
	}
	return string(e.Durability)
}

// work as one user until the load is over.
func (e *erpWork) work(ctx context.Context, n int, user string, s *client.Session, choose func(*rand.Rand) string,
	pause time.Duration) {
	random := rand.New(rand.NewPCG(e.Seed, uint64(n)))
	ctx = context.WithValue(ctx, userKey{}, user)
	for !e.stop.Load() && ctx.Err() == nil {
		e.gate.RLock()
		if e.stop.Load() {
			e.gate.RUnlock()
			return
		}
		s = e.once(ctx, n, user, s, choose(random), random)
		e.gate.RUnlock()
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}

func (e *erpWork) once(ctx context.Context, n int, user string, s *client.Session, operation string,
	random *rand.Rand) *client.Session {
	outcome, err := e.client.Do(ctx, s, operation, random)
	if errors.Is(err, client.ErrSession) { // its worker was killed
		if again, err := e.client.Login(ctx, e.crew.base(n), user); err == nil {
			return again
		}
		return s
	}
	if outcome == client.Failed || outcome == client.Overloaded {
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.failed[addresses.ReplaceAllString(err.Error(), "a worker")]++
	}
	return s
}

// addresses of workers differ from one to the next.
var addresses = regexp.MustCompile(`127\.0\.0\.1:[0-9]+(->127\.0\.0\.1:[0-9]+)?`)

// randomOperation draws an operation by its weight.
func randomOperation(random *rand.Rand) string {
	all := operations.All()
	left := random.Float64() * 100
	for _, op := range all {
		if left -= op.Weight; left < 0 {
			return op.ID
		}
	}
	return all[0].ID
}

// Besides the users, lookers read lists of the newest documents again and again: what others have just made, and what
// a cut may undo if nobody waited for its flush.
const (
	lookers   = 2 // of both organisations of the base
	lookEvery = 2 * time.Millisecond
)

var lists = func() (ids []string) {
	for _, op := range operations.All() {
		if strings.HasSuffix(op.ID, ".list") {
			ids = append(ids, op.ID)
		}
	}
	return ids
}()

func randomList(random *rand.Rand) string { return lists[random.IntN(len(lists))] }

// failures since the last time.
func (e *erpWork) failures() map[string]int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	all := e.failed
	e.failed = map[string]int{}
	return all
}

// load for power cuts: the server outlives it.
func (e *erpWork) load(ctx context.Context, last func() uint64, _ func([]int) error) (*loaded, error) {
	loading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer e.end()
	if err := e.begin(loading, last, false); err != nil {
		return nil, err
	}
	result := &loaded{begin: last()}
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	checkpoints, stopCheckpoints := context.WithCancel(ctx)
	var checkpointing sync.WaitGroup
	checkpointing.Add(1)
	go func() { defer checkpointing.Done(); checkpoint(checkpoints, conn) }()
	select {
	case <-ctx.Done():
	case <-time.After(e.Duration):
	}
	e.finishOperations()
	stopCheckpoints()
	checkpointing.Wait()
	result.end = last()
	result.acks, result.failed = e.record.acknowledged(), e.failures()
	if result.operations() == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("the load acknowledged nothing: %v", result.failed)
	}
	return result, ctx.Err()
}

// finishOperations lets every user finish the operation under way, and start no more.
func (e *erpWork) finishOperations() {
	e.stop.Store(true)
	e.users.Wait()
}

// end of the workers.
func (e *erpWork) end() {
	e.finishOperations()
	if e.crew != nil {
		e.crew.kill()
	}
	if e.record != nil {
		e.record.close()
	}
}

// shownMark begins the key of what a reader was shown; the rest is the document's id.
const shownMark = "shown "

func (e *erpWork) stock(ctx context.Context, in *cluster.Cluster, one *Cut, acks []ack, at time.Time) error {
	db, err := database.Open(ctx, in.SocketDSN(erpDatabase).Secret(), database.Options{Connections: 2})
	if err != nil {
		return one.found(err, "open the base")
	}
	defer db.Close()
	var keys, documents []string
	if err := db.Borrow(ctx, func(c *pgx.Conn) (err error) {
		if keys, err = texts(ctx, c, "SELECT key FROM plimsoll_operation WHERE made_at > "+
			"(SELECT coalesce(max(made_at), now()) FROM plimsoll_operation) - interval '1 day'"); err == nil {
			documents, err = texts(ctx, c, documentsSQL())
		}
		return err
	}); err != nil {
		return one.found(err, "operations")
	}
	e.reconcile(one, keys, documents, acks, at)
	report, err := audit.RunAs(ctx, db, audit.Options{Connections: 1})
	if err != nil {
		return one.found(err, "audit")
	}
	for _, c := range report.Checks {
		for _, v := range c.Examples {
			one.Damage = append(one.Damage, fmt.Sprintf("audit: %s: %s: expected %s, found %s", c.Invariant, v.Where(),
				v.Expected, v.Found))
		}
	}
	return nil
}

// reconcile the keys and documents found with what users know.
func (e *erpWork) reconcile(one *Cut, keys, documents []string, acks []ack, at time.Time) {
	var done, shown []ack
	for _, a := range acks {
		if id, is := shownDocument(a.key); is {
			a.key = id
			shown = append(shown, a)
		} else {
			done = append(done, a)
		}
	}
	known, times := map[string]bool{}, map[string]int{}
	for _, a := range done {
		known[a.key] = true
	}
	for _, key := range keys {
		if e.record.repeat && !known[key] && !e.record.uncertain(key) {
			one.Damage = append(one.Damage, "carried out although it was repeated until it was refused: "+key)
		}
		if times[key]++; times[key] == 2 {
			one.Damage = append(one.Damage, "carried out more than once: "+key)
		}
	}
	var readers Cut
	forget := readers.count(documents, shown, at)
	one.Shown, one.LostShown = readers.Acknowledged, readers.Lost
	forget = append(forget, one.count(keys, done, at)...)
	e.record.forget(forget)
}

// documentsSQL gives the ids of all documents.
func documentsSQL() (sql string) {
	documents := erp.Metadata().Documents
	for i := range documents {
		if i > 0 {
			sql += " UNION ALL "
		}
		sql += "SELECT id::text FROM " + documents[i].Table()
	}
	return sql
}

// crew are the workers, which may be killed and replaced.
type crew struct {
	command, env []string
	mutex        sync.Mutex
	workers      []*worker.Worker
}

func (c *crew) start(ctx context.Context, n int) error {
	for range n {
		w, err := worker.Start(ctx, c.command, c.env, nil)
		if err != nil {
			return err
		}
		c.mutex.Lock()
		c.workers = append(c.workers, w)
		c.mutex.Unlock()
	}
	return nil
}

// base is the address under which a user knows its worker, whichever process that is now.
func (c *crew) base(user int) string { return fmt.Sprintf("http://worker%d", user%len(c.workers)) }

// replace ends a worker and starts another in its place.
func (c *crew) replace(ctx context.Context, n int, end func(*worker.Worker)) error {
	end(c.workers[n])
	w, err := worker.Start(ctx, c.command, c.env, nil)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.workers[n] = w
	return nil
}

// workerURL is the address of a worker by its host name.
func (c *crew) workerURL(host string) (url string, known bool) {
	var n int
	if _, err := fmt.Sscanf(host, "worker%d", &n); err != nil {
		return "", false
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if n < 0 || n >= len(c.workers) {
		return "", false
	}
	return c.workers[n].URL, true
}

func (c *crew) kill() {
	for _, w := range c.workers {
		w.Kill()
	}
}
