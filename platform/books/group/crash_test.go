package group_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/database"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// model of what must be: which objects of each scope are there is what the count of its group says, and each change of
// an object is one.
type world struct {
	t      *testing.T
	server *clustertest.OwnCluster
	db     *database.Database
	random *rand.Rand
	scopes int
}

// Whatever is killed, and whatever the log loses, the count of each group is exact, the half-done ones are found, and
// afterwards each is whole or gone, and nothing else has changed.
func TestGroupsAreWholeOrGone(t *testing.T) {
	for seed := range thorough.Or(25, 3) {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			o := clustertest.Alone(t, map[string]string{"autovacuum": "off", "bgwriter_lru_maxpages": "0",
				"checkpoint_timeout": "1d"})
			w := &world{t: t, server: o, random: rand.New(rand.NewPCG(uint64(seed), 26))}
			w.db = made(t, o.DSN())
			value(t, o.DSN(), "CREATE TABLE other AS SELECT n FROM generate_series(1, 100) n")
			value(t, o.DSN(), "CHECKPOINT")
			for range thorough.Or(8, 4) {
				w.crash()
				w.exact()
				w.recover()
				w.wholeOrGone()
			}
			if got := value(t, o.DSN(), "SELECT count(*) || ' ' || sum(n) FROM other"); got != "100 5050" {
				t.Errorf("others: %s", got)
			}
		})
	}
}

// crash in the middle of a group: of the worker, or of the server, whose log writer may be behind.
func (w *world) crash() {
	w.scopes++
	members := 2 + w.random.IntN(4)
	given := task{DSN: w.server.DSN(), Scope: fmt.Sprint("scope ", w.scopes), Members: members,
		KillAt: w.random.IntN(members), Behind: w.random.IntN(2) == 0}
	switch w.random.IntN(3) {
	case 0:
		killed(w.t, given)
	case 1:
		killed(w.t, given) // and what the log writer has not written of it
		w.kill()
	default:
		w.serverIn(given, func(c change) error {
			_, err := c.groups().Run(patience.Context(w.t), c.order(members))
			return err
		})
	}
}

func (w *world) kill() {
	w.server.Kill()
	w.server.Start()
}

// serverIn kills the server in the middle of what the test's own process does, which outlives it.
func (w *world) serverIn(given task, do func(change) error) {
	held := w.random.IntN(2) == 0
	c := change{db: w.db, scope: given.Scope, before: func(n int) {
		if n == 0 && held {
			w.holdWriter()
		}
		if n == given.KillAt {
			w.kill()
		}
	}}
	if err := do(c); err != nil {
		w.t.Logf("%s: %v", given.Scope, err)
	}
}

// holdWriter stops the process that writes the log; the kill of the server ends it.
func (w *world) holdWriter() {
	pid, err := strconv.Atoi(value(w.t, w.server.DSN(),
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGSTOP)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// exact: as many objects of each scope are there as its group has counted, and what is unfinished is found.
func (w *world) exact() {
	w.t.Helper()
	wrong := value(w.t, w.server.DSN(), `SELECT coalesce(string_agg(scope || ': ' || coalesce(done, 0) || ' counted, '
		|| coalesce(n, 0) || ' there', '; '), '') FROM
		(SELECT scope, sum(done) AS done FROM plimsoll_group GROUP BY scope) g FULL JOIN
		(SELECT scope, count(*) FILTER (WHERE there) AS n FROM object GROUP BY scope) o USING (scope)
		WHERE coalesce(done, 0) <> coalesce(n, 0)`)
	if wrong != "" {
		w.t.Errorf("the count is wrong: %s", wrong)
	}
	found := len(leftOf(w.t, w.db))
	unfinished := value(w.t, w.server.DSN(), "SELECT count(*) FROM plimsoll_group WHERE done BETWEEN 1 AND planned - 1")
	if n, _ := strconv.Atoi(unfinished); found < n {
		w.t.Errorf("%d of %d half-done groups are found", found, n)
	}
}

// recover what is left, by each of the ways; the server may be killed in that, too.
func (w *world) recover() {
	w.t.Helper()
	for again := true; again; {
		again = false
		for _, left := range leftOf(w.t, w.db) {
			again = true
			c := change{db: w.db, scope: left.Scope}
			way := w.random.IntN(4)
			resume := func(c change) error {
				var err error
				switch way {
				case 0:
					_, err = c.groups().Finish(patience.Context(w.t), left.ID)
				case 1:
					_, err = c.groups().Undo(patience.Context(w.t), left.ID)
				case 2:
					_, _, err = c.groups().Recover(patience.Context(w.t))
				default:
					_, err = c.groups().Run(patience.Context(w.t), c.order(left.Planned))
				}
				return err
			}
			if w.random.IntN(4) == 0 {
				w.serverIn(task{Scope: left.Scope, KillAt: w.random.IntN(left.Planned)}, resume)
				w.exact()
				continue
			}
			if err := resume(c); err != nil && left.State == group.Doing && !database.IsConnectionLost(err) {
				w.t.Errorf("%+v: way %d: %v", left, way, err)
			}
		}
	}
}

// wholeOrGone: a group that has ended is there with all of its objects, or with none; each was changed as often as that
// takes.
func (w *world) wholeOrGone() {
	w.t.Helper()
	wrong := value(w.t, w.server.DSN(), `SELECT coalesce(string_agg(scope || ' ' || state || ' ' || done, '; '), '')
		FROM plimsoll_group WHERE NOT (state = 'whole' AND done = planned OR state = 'undone' AND done = 0)`)
	if wrong != "" {
		w.t.Errorf("neither whole nor gone: %s", wrong)
	}
	// an object that is there was changed an odd number of times
	wrong = value(w.t, w.server.DSN(),
		"SELECT count(*) FROM object WHERE there <> (changes % 2 = 1)")
	if wrong != "0" {
		w.t.Errorf("%s objects were not changed exactly once", wrong)
	}
	w.exact()
}
