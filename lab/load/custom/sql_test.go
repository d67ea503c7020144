package custom

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

func action(t *testing.T, sql string) *Action {
	t.Helper()
	s, err := script.Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	return &Action{Script: s, SQL: sql}
}

// open a player and log in its users.
func open(t *testing.T, o Options) *Player {
	t.Helper()
	p, err := Open(t.Context(), o)
	t.Cleanup(p.Close)
	for user := range o.Users {
		if err == nil {
			err = p.LogIn(t.Context(), user)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play an operation and return what was noted of it.
func play(t *testing.T, p *Player, user, operation int) (s tally.Sample) {
	t.Helper()
	var notes tally.Notes
	rng := rand.New(rand.NewPCG(uint64(user), uint64(operation)))
	s.Outcome, s.Err = p.Play(tally.WithNotes(t.Context(), &notes), user, operation, rng)
	notes.Take(&s, time.Now(), nil)
	return s
}

func mustPlay(t *testing.T, p *Player, user, operation int) tally.Sample {
	t.Helper()
	s := play(t, p, user, operation)
	if s.Outcome != tally.OK {
		t.Fatalf("user %d, operation %d: %v %v", user, operation, s.Outcome, s.Err)
	}
	return s
}

func TestAUserKeepsASessionAndWhatBelongsToIt(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE seen (who int, backend int, work_mem text, items int)")
	p := open(t, Options{
		Settings: Settings{Session: OfUser, Mode: script.Prepared, Variables: map[string]string{"memory": "7MB"},
			Connect: "SET work_mem = ':memory';\nCREATE TEMP TABLE basket (item int);\n" +
				"SELECT pg_backend_pid() AS backend \\gset"},
		Actions: []*Action{
			action(t, "INSERT INTO basket VALUES (1);"),
			action(t, "INSERT INTO seen SELECT :client_id::int, :backend::int, current_setting('work_mem'), "+
				"(SELECT count(*) FROM basket) WHERE pg_backend_pid() = :backend::int;"),
			action(t, "SELECT pg_terminate_backend(:backend::int);"),
		},
		Users: 2, DSN: dsn,
	})
	mustPlay(t, p, 0, 0)
	mustPlay(t, p, 0, 0)
	mustPlay(t, p, 1, 0)
	mustPlay(t, p, 0, 1)
	mustPlay(t, p, 1, 1)
	const seen = "SELECT string_agg(who || ' ' || work_mem || ' ' || items, ', ' ORDER BY who), count(DISTINCT " +
		"backend) FROM seen"
	if got := clustertest.Value(t, dsn, seen); got != "0 7MB 2, 1 7MB 1" {
		t.Errorf("the users saw %q", got)
	}
	if n := clustertest.Exec(t, dsn, "SELECT count(DISTINCT backend) FROM seen"); n != 2 {
		t.Errorf("%d sessions of 2 users", n)
	}
	// A session that is lost is replaced, and the script of a new one runs.
	if s := play(t, p, 0, 2); s.Outcome != tally.Failed {
		t.Errorf("a killed session answered %v", s.Outcome)
	}
	clustertest.Exec(t, dsn, "DELETE FROM seen")
	mustPlay(t, p, 0, 1)
	if got := clustertest.Value(t, dsn, seen); got != "0 7MB 0" {
		t.Errorf("after its session was lost user 0 saw %q", got)
	}
}

func TestSharedSessionsRunTheConnectScriptToo(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, "CREATE TABLE seen (work_mem text)")
	p := open(t, Options{
		Settings: Settings{Connections: 1, Mode: script.Simple, Connect: "SET work_mem = '7MB';"},
		Actions:  []*Action{action(t, "INSERT INTO seen SELECT current_setting('work_mem');")}, Users: 2, DSN: dsn,
	})
	mustPlay(t, p, 0, 0)
	mustPlay(t, p, 1, 0)
	if n := clustertest.Exec(t, dsn, "SELECT count(*) FROM seen WHERE work_mem = '7MB'"); n != 2 {
		t.Errorf("%d of 2 operations had the setting", n)
	}
}

func TestAScriptOfNewSessionsThatFailsIsNamed(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	p, err := Open(t.Context(), Options{
		Settings: Settings{Session: OfUser, Mode: script.Simple,
			Connect: "SELECT 1;\nSET nosuch.setting.at_all = x y;"},
		Actions: []*Action{action(t, "SELECT 1;")}, Users: 1, DSN: dsn,
	})
	if err == nil {
		defer p.Close()
		err = p.LogIn(context.Background(), 0)
	}
	if err == nil || !strings.Contains(err.Error(), "the script of a new session: line 2") {
		t.Error(err)
	}
}

// flaky fails twice of three times, as a serialization failure or a deadlock does. What sequences count is not rolled
// back.
const flaky = `CREATE SEQUENCE tries; CREATE SEQUENCE draw1; CREATE SEQUENCE draw2; CREATE SEQUENCE draw3;
CREATE TABLE done (draw int);
CREATE FUNCTION flaky(state text, passes int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF (SELECT last_value FROM tries) < passes THEN RAISE EXCEPTION 'again' USING ERRCODE = state; END IF;
	RETURN 1;
END $$`

const flakyScript = `\set n random(1, 1000000)
\set count :count + 1
SELECT nextval('tries') AS try \gset
BEGIN;
INSERT INTO done VALUES (:n::int);
SELECT setval(('draw' || :try::text)::regclass, :n::bigint);
SELECT flaky('STATE', 3);
COMMIT;
`

func TestTransactionsAreDoneAgainWithTheSameRandomNumbers(t *testing.T) {
	for _, state := range []string{"40001", "40P01"} {
		for _, mode := range []script.Mode{script.Extended, script.Prepared} {
			t.Run(state+"/"+string(mode), func(t *testing.T) {
				dsn := clustertest.Database(t).Secret()
				clustertest.Value(t, dsn, flaky)
				p := open(t, Options{
					Settings: Settings{Connections: 1, Mode: mode, Retries: 2,
						Variables: map[string]string{"count": "0"}},
					Actions: []*Action{action(t, strings.ReplaceAll(flakyScript, "STATE", state))}, Users: 1, DSN: dsn,
				})
				if s := mustPlay(t, p, 0, 0); s.Retried != 2 {
					t.Errorf("tried again %d times, want 2", s.Retried)
				}
				const draws = "SELECT count(DISTINCT last_value) FROM (SELECT last_value FROM draw1 UNION ALL " +
					"SELECT last_value FROM draw2 UNION ALL SELECT last_value FROM draw3) d WHERE last_value > 1"
				if n := clustertest.Exec(t, dsn, draws); n != 1 {
					t.Errorf("%d different numbers in three tries", n)
				}
				if n := clustertest.Exec(t, dsn, "SELECT count(*) FROM done"); n != 1 {
					t.Errorf("%d rows of one transaction", n)
				}
				if count := p.users[0]["count"].String(); count != "1" {
					t.Errorf("a variable has what %s tries made of it", count)
				}
			})
		}
	}
}

func TestRetriesEnd(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Value(t, dsn, flaky)
	o := Options{
		Settings: Settings{Connections: 1, Mode: script.Prepared, Retries: 1,
			Variables: map[string]string{"count": "0"}},
		Actions: []*Action{action(t, strings.ReplaceAll(flakyScript, "STATE", "40001")),
			action(t, "SELECT 1 / 0;")},
		Users: 1, DSN: dsn,
	}
	p := open(t, o)
	if s := play(t, p, 0, 0); s.Outcome != tally.Failed || s.Retried != 1 || !strings.Contains(s.Err.Error(), "again") {
		t.Errorf("%v after %d, %v", s.Outcome, s.Retried, s.Err)
	}
	if s := play(t, p, 0, 1); s.Outcome != tally.Failed || s.Retried != 0 {
		t.Errorf("a division by zero was tried again %d times: %v", s.Retried, s.Err)
	}
}

// The user's own random numbers go on alike, however often a transaction was done again.
func TestRetriesDoNotChangeWhatFollows(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Value(t, dsn, flaky)
	after := func(retries int, sql string) uint64 {
		p := open(t, Options{Settings: Settings{Connections: 1, Mode: script.Prepared, Retries: retries,
			Variables: map[string]string{"count": "0"}}, Actions: []*Action{action(t, sql)}, Users: 1, DSN: dsn})
		rng := rand.New(rand.NewPCG(1, 2))
		if outcome, err := p.Play(t.Context(), 0, 0, rng); outcome != tally.OK {
			t.Fatal(err)
		}
		return rng.Uint64()
	}
	often := after(5, strings.ReplaceAll(flakyScript, "STATE", "40001"))
	if once := after(5, "\\set n random(1, 10)\nSELECT :n::int;"); once != often {
		t.Error("the next random number depends on the number of tries")
	}
}
