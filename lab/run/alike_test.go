package run

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/result"
)

// Where every operation fails for the same reason, more time and users change nothing: the run ends and names it.
func TestARunWhoseOperationsAllFailAlikeEnds(t *testing.T) {
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/login?next="+r.URL.Path, http.StatusFound)
	}))
	defer login.Close()
	var some atomic.Int64
	mended := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if some.Add(1) != 10 { // one answer is enough to go on
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer mended.Close()
	database := clustertest.Database(t).Secret()
	for _, c := range []struct{ name, does, says string }{
		{"Redirect", "url = \"" + login.URL + "/orders\"", "more than 10 redirects, the last one to /login"},
		{"SyntaxError", "sql = \"SELEC 1\"", "syntax error"},
		{"NoTable", "sql = \"SELECT * FROM orders\"", "relation \"orders\" does not exist (SQLSTATE 42P01); the " +
			"query went to database "},
		{"SomeAnswer", "url = \"" + mended.URL + "\"", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n[sql]\nconnections = 1\n"+
				"[operations.a]\ntarget = \"1s\"\n"+c.does+"\n")
			o.DSN = database
			if c.says != "" {
				o.Duration = 10 * time.Minute
			}
			r := mustRun(t, t.Context(), o)
			if c.says == "" {
				if r.DurationS != o.Duration.Seconds() || r.OK == 0 {
					t.Errorf("ended after %v s, %+v", r.DurationS, r.Totals)
				}
				return
			}
			reasons := strings.Join(r.InvalidReasons, "\n")
			if r.Valid || r.Interrupted || len(r.InvalidReasons) != 1 || r.InvalidCauses[0] != result.BySystem ||
				!strings.Contains(reasons, "no operation got a valid answer, all ") || !strings.Contains(reasons,
				c.says) ||
				r.DurationS > 300 {
				t.Errorf("after %v s: %q, causes %q", r.DurationS, r.InvalidReasons, r.InvalidCauses)
			}
		})
	}
}
