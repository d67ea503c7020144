package run

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/script"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
)

const lookOnly = "\n[operations.a]\ntarget = \"1s\"\nsql = \"SELECT 1\"\n"

func TestStages(t *testing.T) {
	o := ownRun(t, "application = \"none\"\n[think]\nmean = \"50ms\"\n[sql]\nconnections = 5\n"+
		"[[stages]]\nduration = \"1s\"\nusers = 2\n[[stages]]\nduration = \"2s\"\nusers = 8\n"+
		"[[stages]]\nduration = \"1s\"\nusers = 4\n"+lookOnly)
	var err error
	if o.Load, err = o.Load.With(""); err != nil || o.Duration != 4*time.Second {
		t.Fatalf("%v, error %v: want 4 s", o.Duration, err)
	}
	o.Users, o.DSN = 16, clustertest.Database(t).Secret() // twice as many
	r := mustRun(t, t.Context(), o)
	if len(r.Stages) != 3 || r.DurationS != 4 {
		t.Fatalf("%+v in %v s", r.Stages, r.DurationS)
	}
	var ops int64
	for i, want := range []result.Stage{{FromS: 0, ToS: 1}, {FromS: 1, ToS: 3}, {FromS: 3, ToS: 4}} {
		s := r.Stages[i]
		if s.FromS != want.FromS || s.ToS != want.ToS || *s.Users != []int{4, 16, 8}[i] || s.RatePerS != nil ||
			s.Apdex == nil || s.Ops == 0 || s.P95MS == nil {
			t.Errorf("stage %d: %+v", i+1, s)
		}
		ops += s.Ops
	}
	if r.Stages[1].OpsPerS < 2*r.Stages[0].OpsPerS || ops > r.Ops || ops < r.Ops*9/10 {
		t.Errorf("%+v of %d operations", r.Stages, r.Ops)
	}
	if b := r.IntervalBasis; b != nil && (!b.Staged || b.Of != result.OfRun) {
		t.Errorf("intervals of %+v", b)
	}
}

func TestStagesOfARate(t *testing.T) {
	o := ownRun(t, "application = \"none\"\nusers = 5\n[[stages]]\nduration = \"1s\"\nrate = 20\n"+
		"[[stages]]\nduration = \"1s\"\nrate = 100\n"+lookOnly)
	var err error
	if o.Load, err = o.Load.With(""); err != nil {
		t.Fatal(err)
	}
	o.Arrivals.Spacing, o.DSN = "constant", clustertest.Database(t).Secret()
	r := mustRun(t, t.Context(), o)
	if r.Conditions.Load.Model != "open" || len(r.Stages) != 2 || *r.Stages[1].RatePerS != 100 || r.Ops < 118 ||
		r.Ops > 121 {
		t.Errorf("%d operations, %+v", r.Ops, r.Stages)
	}
}

func TestMoreSessionsThanTheServerHasRoomForAreRefused(t *testing.T) {
	o := ownRun(t, "application = \"none\"\nusers = 9000\n[sql]\nsession = \"user\"\n"+lookOnly)
	o.DSN = clustertest.Database(t).Secret()
	_, err := Run(t.Context(), o)
	if err == nil || problem.ClassOf(err) != problem.Environment ||
		!strings.Contains(err.Error(), "9,000 users need 9,000 connections, a session each, and the server has room "+
			"for ") ||
		!strings.Contains(problem.HintOf(err), "raise max_connections") ||
		!strings.Contains(problem.HintOf(err), "or use at most ") {
		t.Errorf("%v\nhint: %s", err, problem.HintOf(err))
	}
}

const onceOf20 = "application = \"none\"\nusers = 4\n[sql]\nconnections = 4\n[data.n]\nrows = 20\n" +
	"columns = { id = \"{{:row}}\" }\ntake = \"once\"\n[operations.a]\ntarget = \"1s\"\nsql = \"SELECT :n_id::int\"\n"

func TestTooFewRows(t *testing.T) {
	o := ownRun(t, onceOf20+"[think]\nmean = \"200ms\"\n")
	o.Duration = 3 * time.Second
	o.DSN = clustertest.Database(t).Secret()
	if _, err := Run(t.Context(), o); err == nil || problem.ClassOf(err) != problem.Usage ||
		!strings.Contains(err.Error(), "data.n has 20 rows") || !strings.Contains(err.Error(), "takes about 60") {
		t.Errorf("want a usage error about 20 rows of 60, got %v", err)
	}
	// Of users who do not think nobody knows before.
	o = ownRun(t, onceOf20+"[think]\nmean = \"0s\"\n")
	o.DSN, o.Duration = clustertest.Database(t).Secret(), 10*time.Minute
	r := mustRun(t, t.Context(), o)
	if r.OK != 20 || r.Valid || r.DurationS > 300 ||
		!strings.Contains(strings.Join(r.InvalidReasons, "\n"), "data.n is used up") {
		t.Errorf("after %v s: %+v, %q", r.DurationS, r.Totals, r.InvalidReasons)
	}
}

// play a script of SQL on a database.
func playScript(t *testing.T, dsn, text string, variables map[string]script.Value) {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	conn := clustertest.Connect(t, dsn, "")
	env := &script.Environment{Variables: variables, RNG: rand.New(rand.NewPCG(1, 2))}
	if err := s.Run(t.Context(), conn.PgConn(), script.Simple, env); err != nil {
		t.Fatal(err)
	}
}

// What a user of docs/examples/orders.toml does, and that its books balance afterwards.
func TestOrderEntryExample(t *testing.T) {
	schema, err := os.ReadFile("../../docs/examples/orders.sql")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/examples/orders.toml")
	if err != nil {
		t.Fatal(err)
	}
	o := ownRun(t, strings.Replace(string(text), `mean = "1s"`, `mean = "50ms"`, 1))
	o.DSN, o.Users, o.Duration = clustertest.Database(t).Secret(), 8, 3*time.Second
	playScript(t, o.DSN, string(schema), map[string]script.Value{"warehouses": script.Int(2)})
	r := mustRun(t, t.Context(), o)
	for _, op := range r.Operations {
		if op.OK == 0 || op.Errors > 0 {
			t.Errorf("%s: %+v %+v", op.ID, op.Totals, op.ErrorTexts)
		}
	}
	if len(resulttest.Against(r)) > 0 {
		t.Errorf("not valid: %q", r.InvalidReasons)
	}
	for what, sql := range map[string]string{
		"numbers of orders": "SELECT count(*) FROM district JOIN LATERAL (SELECT max(o_id) AS last FROM orders " +
			"WHERE o_w_id = d_w_id AND o_d_id = d_id) o ON true WHERE d_next_o_id <> last + 1",
		"payments of warehouses": "SELECT count(*) FROM warehouse WHERE w_ytd <> coalesce((SELECT sum(h_amount) " +
			"FROM payment WHERE h_w_id = w_id), 0)",
		"payments of districts": "SELECT count(*) FROM district WHERE d_ytd <> coalesce((SELECT sum(h_amount) " +
			"FROM payment WHERE h_w_id = d_w_id AND h_d_id = d_id), 0)",
		"stock": "SELECT count(*) FROM stock WHERE s_order_cnt <> (SELECT count(*) FROM order_line WHERE " +
			"ol_supply_w_id = s_w_id AND ol_i_id = s_i_id AND ol_o_id > 100)",
		"orders to deliver": "SELECT count(*) FROM orders LEFT JOIN new_order ON (no_w_id, no_d_id, no_o_id) = " +
			"(o_w_id, o_d_id, o_id) WHERE (no_o_id IS NULL) <> (o_carrier_id IS NOT NULL)",
	} {
		if n := clustertest.Exec(t, o.DSN, sql); n != 0 {
			t.Errorf("%s: %d do not fit", what, n)
		}
	}
	if n := clustertest.Exec(t, o.DSN, "SELECT count(*) FROM payment"); int64(n) < byID(r)["payment"].OK || n == 0 {
		t.Errorf("%d payments, %d answered", n, byID(r)["payment"].OK)
	}
}

func TestPgbenchScriptsRunUnchanged(t *testing.T) {
	s, err := scenario.Pgbench{Scripts: []string{"tpcb-like@3", "select-only@1"}}.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	o := ownRun(t, none1)
	o.Scenario, o.Users, o.DSN = s, 4, clustertest.Database(t).Secret()
	playScript(t, o.DSN, "CREATE TABLE pgbench_branches AS SELECT b AS bid, 0 AS bbalance FROM generate_series(1, "+
		"2) b;"+
		"CREATE TABLE pgbench_tellers AS SELECT t AS tid, 0 AS tbalance FROM generate_series(1, 20) t;"+
		"CREATE TABLE pgbench_accounts AS SELECT a AS aid, 0 AS abalance FROM generate_series(1, 200000) a;"+
		"ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);"+
		"CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp)", nil)
	r := mustRun(t, t.Context(), o)
	ops := byID(r)
	if ops["tpcb-like"].OK == 0 || ops["select-only"].OK == 0 || r.Ops != r.OK ||
		r.Conditions.Load.Scenario.Session != "user" {
		t.Errorf("%+v", r.Operations)
	}
	sums := clustertest.Value(t, o.DSN, "SELECT (SELECT sum(abalance) FROM pgbench_accounts) || ' ' || "+
		"(SELECT sum(bbalance) FROM pgbench_branches) || ' ' || (SELECT sum(tbalance) FROM pgbench_tellers) || ' ' || "+
		"(SELECT sum(delta) FROM pgbench_history)")
	if all := strings.Fields(sums); len(all) != 4 || all[0] != all[3] || all[1] != all[3] || all[2] != all[3] {
		t.Errorf("balances %s", sums)
	}
	if n := clustertest.Exec(t, o.DSN, "SELECT count(*) FROM pgbench_history WHERE bid = 2"); n == 0 {
		t.Error("the scale was not read")
	}
}

const none1 = "application = \"none\"" + lookOnly

func TestRetriedOperationsAreInTheResult(t *testing.T) {
	o := ownRun(t, "application = \"none\"\nusers = 8\n[think]\nmean = \"1ms\"\n[sql]\nsession = \"user\"\nretries "+
		"= 50\n"+
		"connect = \"SET default_transaction_isolation = 'repeatable read'\"\n[operations.a]\ntarget = \"1s\"\nsql "+
		"= '''\n"+
		"BEGIN;\nSELECT n FROM counter \\gset\nSELECT pg_sleep(0.005);\nUPDATE counter SET n = n + 1;\nCOMMIT;\n'''\n")
	o.DSN, o.Duration = clustertest.Database(t).Secret(), 2*time.Second
	clustertest.Value(t, o.DSN, "CREATE TABLE counter AS SELECT 0 AS n")
	r := mustRun(t, t.Context(), o)
	op := byID(r)["a"]
	if op.Retried == 0 || op.Retries < op.Retried || r.Retried != op.Retried || op.OK < 10 {
		t.Errorf("%+v, %+v", op.Totals, op.ErrorTexts)
	}
	if n := clustertest.Exec(t, o.DSN, "SELECT n FROM counter"); int64(n) < op.OK {
		t.Errorf("counted to %d in %d transactions", n, op.OK)
	}
}
