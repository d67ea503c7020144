package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/test/files"
)

// shop is a scenario of requests to a server that answers after a while, or at once and only one of twenty.
func shop(t *testing.T, name string, refuses bool) (path, url string) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case !refuses:
			time.Sleep(30 * time.Millisecond)
		case asked.Add(1)%20 != 0:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	path = files.Write(t, t.TempDir(), name, fmt.Sprintf("application = \"none\"\nusers = 120\n[think]\n"+
		"mean = \"400ms\"\n[http]\nbase = %q\n[operations.look]\ntarget = \"30s\"\nurl = \"/look\"\n", server.URL))
	return path, server.URL
}

var quick = []string{"--pairs", "4", "--duration", "1s", "--ramp", "0s", "--lag-limit", "1h", "--disturbed-limit", "1"}

// A server that refuses nearly everybody, and answers the rest sooner, is worse, and that is no success. Scenarios of
// requests need no system with them.
func TestCompare_ServersByHTTP(t *testing.T) {
	freshState(t)
	one, _ := shop(t, "one.toml", false)
	two, _ := shop(t, "two.toml", true)
	o := plimsoll(t, append([]string{"compare", "--scenario-a", one, "--scenario-b", two, "--json"}, quick...)...)
	o.want(t, ExitThreshold, "B is worse than A: 9", "of its operations failed, 0.0 % of those of A")
	var c compare.Comparison
	o.decode(t, &c)
	if f := c.Findings[0]; f.Verdict != verdict.Worse || f.Because == "" || f.Name != two {
		t.Errorf("want the second side worse, with the reason, got %+v", f)
	}
	name := plimsoll(t, "compare", "--show", "latest")
	if name.want(t, ExitOK); !strings.Contains(name.stdout, "failed, or refused for overload") {
		t.Error(name.stdout)
	}
}

// One scenario, two deployments, named by the user.
func TestCompare_OneScenarioAtTwoURLs(t *testing.T) {
	freshState(t)
	path, url := shop(t, "shop.toml", false)
	_, other := shop(t, "shop.toml", false)
	o := plimsoll(t, append([]string{"compare", "--scenario", path, "--url-a", url, "--url-b", other, "--name-b", "new",
		"--json"}, quick...)...)
	var c compare.Comparison
	if o.decode(t, &c); len(c.Plan.Sides) != 2 || c.Plan.Sides[0].Name != url || c.Plan.Sides[1].Name != "new" ||
		c.Plan.Sides[1].URLs[0] != other {
		t.Errorf("%s\n%+v", o.stderr, c.Plan.Sides)
	}
	if len(c.Findings) != 1 || c.Findings[0].Headline.Runs[0] != 4 {
		t.Errorf("want one finding from 4 runs of each, got %s", o.stderr)
	}
}

func TestCompare_SidesWithoutADatabaseOrAScenario(t *testing.T) {
	freshState(t)
	sql := files.Write(t, t.TempDir(), "sql.toml", "application = \"none\"\n[operations.a]\ntarget = \"1s\"\n"+
		"sql = \"SELECT 1\"\n")
	path, url := shop(t, "shop.toml", false)
	for want, args := range map[string][]string{
		"A: the scenario has SQL and so needs a database": {"--scenario-a", sql, "--scenario-b", path},
		"A: a URL needs a scenario of requests":           {"--url-a", url, "--url-b", url},
		"it has no database for settings or SQL":          {"--scenario-a", path, "--sql-b", "SELECT 1"},
	} {
		plimsoll(t, append([]string{"compare"}, args...)...).want(t, ExitUsage, want)
	}
}
