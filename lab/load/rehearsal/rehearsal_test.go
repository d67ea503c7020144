package rehearsal

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/test/files"
	"plimsoll/test/golden"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func read(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Read(files.Write(t, t.TempDir(), "own.toml", text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func play(t *testing.T, o Options) *Report {
	t.Helper()
	o.Timeout = patience.Max
	r, err := Play(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shop is a small application: log-in with a cookie and a token, items, orders.
func shop(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "opensesame") {
			http.Error(w, "wrong password", http.StatusForbidden)
			return
		}
		w.Header().Set("Set-Cookie", "sessionid=cookie-of-7; Path=/")
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, `{"token":"token-of-7","name":"Ann"}`)
	})
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-of-7" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, `{"item":{"id":`+r.PathValue("id")+`,"price":"12.50"}}`)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		http.Error(w, "sold out", http.StatusConflict)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

const shopText = `
application = "none"
[variables]
password = "opensesame"
[login]
method = "POST"
url = "/login"
body = '{"user":"user{{client_id}}","password":"{{password}}"}'
extract = { token = "token" }
[operations.look]
target = "1h"
sql = '\set item 40 + 2'
url = "/items/{{item}}"
headers = { Authorization = "Bearer {{token}}" }
extract = { price = "item.price" }
[operations.order]
target = "1h"
method = "POST"
url = "/orders"
refused = 409
`

func TestPlay_ShowsEverythingOfEachOperation(t *testing.T) {
	base := shop(t)
	r := play(t, Options{Scenario: read(t, shopText), URLs: []string{base}, User: 7})
	if r.Failed != 0 || r.Verdict() != nil {
		t.Errorf("want no failure, got %v", r.Verdict())
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/shop.txt", timeless(strings.ReplaceAll(b.String(), base, "http://shop")))
}

// Steps with what an answer says, redirects and cookies, all in one operation; nobody thinks between them.
func TestPlay_ShowsEachStep(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		http.SetCookie(w, &http.Cookie{Name: "visitor", Value: "cookie-of-1"})
		_, _ = io.WriteString(w, `<form><input type="hidden" name="csrf" value="c-s-r-f"></form>`)
	})
	mux.HandleFunc("POST /order", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		c, err := r.Cookie("visitor")
		if err != nil || c.Value != "cookie-of-1" || r.PostFormValue("csrf") != "c-s-r-f" {
			http.Error(w, "forged", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, "/thanks", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /thanks", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, "<h1>Thank you</h1>")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	r := play(t, Options{URLs: []string{server.URL}, Scenario: read(t, `
application = "none"
[operations.order]
target = "1h"
[[operations.order.steps]]
url = "/form"
extract = { csrf = "css:input[name=csrf]@value" }
[[operations.order.steps]]
think = "24h"
url = "/order"
form = { csrf = "{{csrf}}", item = 7 }
contains = "Thank you"
`)})
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/steps.txt", timeless(strings.ReplaceAll(b.String(), server.URL, "http://shop")))
}

func TestPlay_HidesSecretsUnlessTheyAreAskedFor(t *testing.T) {
	base := shop(t)
	for _, show := range []bool{false, true} {
		r := play(t, Options{Scenario: read(t, shopText), URLs: []string{base}, User: 7, Secrets: show})
		var b strings.Builder
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		tree, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"opensesame", "token-of-7", "cookie-of-7"} {
			for form, text := range map[string]string{"text": b.String(), "JSON": string(tree)} {
				if strings.Contains(text, secret) != show {
					t.Errorf("secrets shown: %t; %s in the %s:\n%s", show, secret, form, text)
				}
			}
		}
	}
}

func TestPlay_SaysWhatFailed(t *testing.T) {
	base := shop(t)
	for _, c := range []struct {
		name, from, to string
		failed         int
		says           string
	}{
		{"LogIn", "opensesame", "guess", 1, "the log-in failed: POST " + base +
			"/login answered status 403: wrong password"},
		{"Status", "refused = 409", "", 1, "1 of 2 operations failed: order"},
		{"Extraction", "item.price", "item.cost", 1, "1 of 2 operations failed: look"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, Options{Scenario: read(t, strings.ReplaceAll(shopText, c.from, c.to)), URLs: []string{base}})
			err := r.Verdict()
			if r.Failed != c.failed || err == nil || err.Error() != c.says ||
				problem.ClassOf(err) != problem.Threshold {
				t.Errorf("%d failed: %v", r.Failed, err)
			}
		})
	}
}

func TestPlay_ShowsStatementsWithTheirRows(t *testing.T) {
	for _, mode := range []string{"simple", "extended", "prepared"} {
		t.Run(mode, func(t *testing.T) {
			text := "application = \"none\"\n[sql]\nmode = \"" + mode + "\"\n" + `
[operations.sum]
target = "1h"
sql = '''
\set n 2 + 3
SELECT n, n * 2 AS twice FROM generate_series(1, :n) n;
SELECT 7 AS found \gset
CREATE TEMP TABLE x AS SELECT :found::int AS id, NULL AS nothing;
UPDATE x SET id = 8;
TABLE x;
DROP TABLE x;
'''
[operations.wrong]
target = "1h"
sql = "SELECT no_such_column"
`
			if mode != "simple" {
				text += `
[operations.pipelined]
target = "1h"
sql = '''
\startpipeline
SELECT 1 AS one;
SELECT 2 AS two;
\endpipeline
'''
`
			}
			r := play(t, Options{Scenario: read(t, text), DSN: clustertest.Database(t).Secret()})
			if r.Failed != 1 {
				t.Errorf("want one failure, got %v", r.Verdict())
			}
			var b strings.Builder
			if err := r.Text(&b); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+mode+".txt", timeless(b.String()))
		})
	}
}

func TestPlay_RefusesWhatCannotBegin(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		says string
	}{
		{"OnlyTheERP", Options{Scenario: scenario.Default()}, "no operation of its own"},
		{"NoAddress", Options{Scenario: read(t, shopText)}, "paths without an address"},
		{"NoDatabase", Options{DSN: "host=127.0.0.1 port=1", Scenario: read(t, "application = \"none\"\n"+
			"[operations.a]\ntarget = \"1s\"\nsql = \"SELECT 1\"\n")}, "connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Play(t.Context(), c.o)
			if err == nil || !strings.Contains(err.Error(), c.says) || problem.HintOf(err) == "" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
