package run

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/files"
)

const transfer = `
application = "none"
users = 20
[think]
mean = "200ms"
[sql]
connections = 4
mode = "%s"
[variables]
accounts = 50

[operations.transfer]
title = "Move money"
target = "500ms"
refused = ["P0001"]
sql = '''
\set from random_zipfian(1, :accounts, 1.1)
\set to 1 + permute(:from - 1, :accounts)
\set amount random(1, 10)
BEGIN;
UPDATE account SET balance = balance - :amount::int WHERE id = :from::int;
UPDATE account SET balance = balance + :amount::int WHERE id = :to::int;
COMMIT;
'''

[operations.control]
target = "500ms"
weight = 0.3
refused = ["P0001"]
refused_share = 1
sql = "DO $$ BEGIN RAISE 'no'; END $$;"

[operations.broken]
target = "500ms"
weight = 0.2
priority = 2
sql = '''
BEGIN;
SELECT 1 / 0;
'''
`

func ownRun(t *testing.T, text string) Options {
	t.Helper()
	path := files.Write(t, t.TempDir(), "own.toml", text)
	s, err := scenario.Read(path)
	if err != nil {
		t.Fatalf("%v: %s", err, problem.HintOf(err))
	}
	l := load.Default()
	l.Scenario, l.Ramp, l.Duration = s, 0, 2*time.Second
	return Options{Load: l, LagLimit: time.Minute, Software: "test"}
}

func byID(r *result.Result) map[string]result.Operation {
	all := map[string]result.Operation{}
	for _, op := range r.Operations {
		all[op.ID] = op
	}
	return all
}

func TestOwnScriptsRunWithoutTheERP(t *testing.T) {
	for _, mode := range []string{"simple", "extended", "prepared"} {
		t.Run(mode, func(t *testing.T) {
			o := ownRun(t, fmt.Sprintf(transfer, mode))
			o.DSN = clustertest.Database(t).Secret()
			conn := clustertest.Connect(t, o.DSN, "")
			if _, err := conn.Exec(t.Context(), "CREATE TABLE account (id int PRIMARY KEY, balance int); INSERT "+
				"INTO account SELECT i, 0 FROM generate_series(1, 50) i"); err != nil {
				t.Fatal(err)
			}
			r := mustRun(t, t.Context(), o)
			ops := byID(r)
			if len(resulttest.Against(r)) > 0 || !r.Audit.None || r.Apdex == nil || len(r.Conditions.Workers) != 0 ||
				r.Conditions.CPU.Database == nil {
				t.Errorf("%q, %+v, Apdex %v, CPU %+v", r.InvalidReasons, r.Audit, r.Apdex, r.Conditions.CPU)
			}
			if op := ops["transfer"]; op.OK < 10 || op.Ops != op.OK || op.Title != "Move money" {
				t.Errorf("want valid answers only, got %+v", op)
			}
			if op := ops["control"]; op.Refused == 0 || op.Ops != op.Refused {
				t.Errorf("want refusals only, got %+v", op)
			}
			if op := ops["broken"]; op.Errors == 0 || op.Ops != op.Errors || len(op.ErrorTexts) == 0 ||
				!strings.Contains(op.ErrorTexts[0].Text, "division by zero") {
				t.Errorf("want divisions by zero only, got %+v", op)
			}
			if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "broken never got a valid answer") ||
				!strings.Contains(r.Warnings[0], "division by zero") {
				t.Errorf("warnings %q", r.Warnings)
			}
			var sum, moved int
			if err := conn.QueryRow(t.Context(),
				"SELECT sum(balance), count(*) FILTER (WHERE balance <> 0) FROM account").Scan(&sum,
				&moved); err != nil || sum != 0 || moved == 0 {
				t.Errorf("balances sum to %d, %d moved, %v", sum, moved, err)
			}
			if s := r.Conditions.Load.Scenario; s.Application != "none" || s.Protocol != mode || s.Connections != 4 {
				t.Errorf("want scenario and protocol, got %+v", s)
			}
		})
	}
}

func TestOwnRequestsNeedNoDatabase(t *testing.T) {
	var logins, bad atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		logins.Add(1)
		fmt.Fprintf(w, `{"session":{"token":"token of %s"}}`, strings.Trim(string(body), `{}":user`))
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token of ") {
			bad.Add(1)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":7}`)
	})
	mux.HandleFunc("GET /orders/7", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	defer server.Close()
	o := ownRun(t, `
application = "none"
users = 30
[think]
mean = "500ms"
[http]
base = "`+server.URL+`"
[variables]
order = 7
[login]
method = "POST"
url = "/login"
body = '{"user":{{client_id}}}'
extract = { token = "session.token" }
[operations.order]
target = "500ms"
sql = '\set n random(1, 5)'
method = "POST"
url = "/orders"
headers = { Authorization = "Bearer {{token}}" }
body = '{"n":{{n}}}'
expect = 201
extract.order = "id"
[operations.look]
target = "500ms"
url = "/orders/{{order}}"
`)
	r := mustRun(t, t.Context(), o)
	if len(resulttest.Against(r)) > 0 || !r.Audit.None || r.Conditions.Engine.Version != "" || r.Ops != r.OK ||
		logins.Load() != 30 ||
		bad.Load() != 0 {
		t.Errorf("valid %v %q, %+v, %d logins, %d without a token", r.Valid, r.InvalidReasons, r.Operations,
			logins.Load(), bad.Load())
	}
}

func TestOwnRunThatCannotBeMade(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"NoDatabase", fmt.Sprintf(transfer, "simple"), "no database"},
		{"NoAddress", "application = \"none\"\n[operations.a]\ntarget = \"1s\"\nurl = \"/\"\n",
			"the requests have no address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r, err := Run(t.Context(), ownRun(t, c.text)); err == nil || !strings.Contains(err.Error(), c.says) ||
				problem.ClassOf(err) != problem.Usage {
				t.Errorf("%v, %v: want a usage error with %q", r, err, c.says)
			}
		})
	}
}

func TestOpenArrivalsAreTheResultsModel(t *testing.T) {
	o := ownRun(t, "application = \"none\"\n[operations.a]\ntarget = \"1s\"\nsql = \"SELECT pg_sleep(0.2)\"\n")
	o.DSN = clustertest.Database(t).Secret()
	o.Users, o.Arrivals = 5, &users.Arrivals{Spacing: users.Even, Rate: 60} // 25 operations per second are possible
	r := mustRun(t, t.Context(), o)
	if load := r.Conditions.Load; load.Model != "open" || load.Arrivals.RatePerS != 60 || r.Ops != 120 && r.Ops != 119 {
		t.Errorf("%+v, %d operations", load, r.Ops)
	}
	if tree, err := json.Marshal(r.Conditions.Load); err != nil || strings.Contains(string(tree), "think") {
		t.Errorf("somebody thinks in the open model: %s, %v", tree, err)
	}
	if r.Generator.Backlog < 50 || r.Generator.InFlight != 5 || len(r.Series.Backlog) != len(r.Series.T) ||
		*r.Apdex > 0.9 {
		t.Errorf("%+v, Apdex %v", r.Generator, *r.Apdex)
	}
	for _, reason := range r.InvalidReasons {
		if strings.Contains(reason, "generator") {
			t.Errorf("the backlog is taken for the generator's fault: %s", reason)
		}
	}
}

// TestASystemThatRefusesEverythingIsNotValid requests an address that does not exist.
func TestASystemThatRefusesEverythingIsNotValid(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
		"[operations.a]\ntarget = \"1s\"\nurl = \""+server.URL+"/wrong\"\nrefused = 404\n")
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(strings.Join(r.InvalidReasons, "\n"), "a was refused") ||
		r.RefusedShare == nil || *r.RefusedShare != 1 || *r.Operations[0].RefusedShare != 1 {
		t.Errorf("valid %v, %q, share %v", r.Valid, r.InvalidReasons, r.RefusedShare)
	}
}

// A system that refuses everybody serves nobody, even if the scenario expects it. What never ran is reported;
// answers far below T leave the score no room to fall, which the headroom shows.
func TestNothingThatServedNobodyIsValid(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
		"[operations.a]\ntarget = \"30s\"\nurl = \""+server.URL+"/wrong\"\nrefused = 404\nrefused_share = 1\n"+
		"[operations.b]\ntarget = \"1s\"\nurl = \""+server.URL+"/wrong\"\nrefused = 404\nrefused_share = 1\n"+
		"weight = 0.000001\n[operations.c]\ntarget = \"1s\"\nurl = \""+server.URL+"/\"\nweight = 0\n")
	r := mustRun(t, t.Context(), o)
	if r.Valid || !strings.Contains(strings.Join(r.InvalidReasons, "\n"), "nobody was served") {
		t.Errorf("valid %v, %q", r.Valid, r.InvalidReasons)
	}
	want := "never ran: b (expected fewer than 10 times; use a longer --duration or more --users), " +
		"c (in no role's mix)"
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("%q, want %q", r.Warnings, want)
	}
	a := byID(r)["a"]
	if share := a.P95OfTarget; share == nil || *share <= 0 || *share > 0.5 || *share != *a.LatencyAll.P95/30_000 {
		t.Errorf("p95 %v of a T of 30 s: %v", a.LatencyAll, share)
	}
}

// One of many who cannot log in ends nothing, and is named with what was asked and answered.
func TestLogInsThatFail(t *testing.T) {
	one := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); r.URL.Path == "/login" && (!one || string(body) == "17") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "{\"error\":\n\"no such user\"}")
		}
	}))
	defer server.Close()
	own := func() Options {
		return ownRun(t, "application = \"none\"\nusers = 350\n[think]\nmean = \"1s\"\n[http]\nbase = \""+server.URL+
			"\"\n[login]\nmethod = \"POST\"\nurl = \"/login?secret=1\"\nbody = \"{{client_id}}\"\n"+
			"[operations.a]\ntarget = \"1s\"\nurl = \"/\"\n")
	}
	want := "log in user 18: POST " + server.URL + "/login answered status 400: {\"error\": \"no such user\"}"
	r := mustRun(t, t.Context(), own())
	if len(resulttest.Against(r)) > 0 || r.OK == 0 || r.Errors == 0 || r.Errors > 20 ||
		!slices.Contains(r.Warnings,
			"1 of 350 users could not log in before the load and tried again when they acted: "+
				want) {
		t.Errorf("%q, %+v, %q", r.InvalidReasons, r.Totals, r.Warnings)
	}
	one = false
	_, err := Run(t.Context(), own())
	if err == nil || !strings.Contains(err.Error(), "answered status 400: {\"error\": \"no such user\"}") ||
		!strings.Contains(err.Error(), "0 of ") {
		t.Error(err)
	}
}
