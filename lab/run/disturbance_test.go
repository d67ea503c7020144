package run

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/worker"
	"plimsoll/platform/worker/presence"
)

func TestVerdictOfADisturbedRun(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	calm := func() *result.Disturbance {
		return &result.Disturbance{Limit: DisturbedLimitDefault, Others: at(0.02), Steal: at(0), Throttled: at(0),
			MemoryStall: at(0)}
	}
	for _, c := range []struct {
		name         string
		change       func(*result.Disturbance)
		reason, note string // empty: none
	}{
		{"Calm", func(*result.Disturbance) {}, "", ""},
		{"NothingIsKnown", func(d *result.Disturbance) { *d = result.Disturbance{Limit: d.Limit} }, "", ""},
		{"HalfOfTheProcessors", func(d *result.Disturbance) {
			d.Others, d.Who = at(0.5), []result.Neighbour{
				{Name: "stress", Processes: 3, Share: 0.48}, {Name: "sh", Processes: 1}}
		}, "disturbed: other processes used 50 % of the processors (stress (3 processes) 48 %), limit 15 %", ""},
		{"SomeOfThem", func(d *result.Disturbance) { d.Others = at(0.1) }, "",
			"disturbed: other processes used 10 % of the processors"},
		{"Steal", func(d *result.Disturbance) { d.Steal = at(0.2) }, "the hypervisor gave 20 %", ""},
		{"Quota", func(d *result.Disturbance) { d.Throttled = at(0.3) }, "withheld the processor for 30 % of the time",
			""},
		{"Memory", func(d *result.Disturbance) { d.MemoryStall = at(0.4) }, "waited for memory for 40 %", ""},
		{"OtherClients", func(d *result.Disturbance) { d.Clients = at(0.3) },
			"30 % of the requests to the workers were of other clients, limit 15 %", ""},
		{"SomeOtherClients", func(d *result.Disturbance) { d.Clients = at(0.1) }, "",
			"disturbed: 10 % of the requests to the workers were of other clients"},
		{"SecondLoad", func(d *result.Disturbance) { d.Loads = []string{"plimsoll run B"} },
			"a second load on the same database, plimsoll run B", ""},
		{"Sessions", func(d *result.Disturbance) {
			d.Sessions = []result.NeighbourSessions{
				{Application: "pgbench", AtWork: 3.8}, {Application: "psql", AtWork: 0.2}}
		}, "3.8 sessions of pgbench were active", ""},
		{"MayBelongToTheSystem", func(d *result.Disturbance) { d.Others, d.Unattributed = at(0.5), true }, "",
			"perhaps disturbed: processes that are not known to belong to the system used 50 %"},
		{"NobodyAsked", func(d *result.Disturbance) { d.Others, d.Loads, d.Limit = at(0.9), []string{"x"}, 0 }, "", ""},
		{"SwitchedOff", func(d *result.Disturbance) { d.Others, d.Loads, d.Limit = at(0.9), []string{"x"}, 1 }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &result.Result{Totals: result.Totals{Ops: 200, OK: 200}, Disturbance: calm()}
			c.change(r.Disturbance)
			(&record{audit: result.Audit{Done: true, Clean: true},
				Options: Options{LagLimit: LagLimitDefault}}).judge(r)
			if got := strings.Join(r.InvalidReasons, "; "); (got != "") != (c.reason != "") ||
				!strings.Contains(got, c.reason) {
				t.Errorf("not valid for %q, want %q", got, c.reason)
			}
			if c.reason != "" && !slices.Equal(r.InvalidCauses, []result.Cause{result.ByDisturbance}) {
				t.Errorf("causes %v, want only a disturbance", r.InvalidCauses)
			}
			if got := strings.Join(r.Warnings, "; "); (got != "") != (c.note != "") || !strings.Contains(got, c.note) {
				t.Errorf("warned of %q, want %q", got, c.note)
			}
		})
	}
}

func TestUnattributed(t *testing.T) {
	erp, own := scenario.Default(), &scenario.Scenario{Application: scenario.NoERP}
	web := &scenario.Scenario{Application: scenario.NoERP}
	web.Own.Base = "http://127.0.0.1:8080"
	far := &scenario.Scenario{Application: scenario.NoERP}
	far.Own.Base = "http://192.0.2.7"
	for _, c := range []struct {
		name    string
		s       *scenario.Scenario
		urls    []string
		servers []int
		server  *postgres.Server
		want    bool
	}{
		{"ERP", erp, nil, []int{4}, &postgres.Server{Here: true, Postmaster: 7}, false},
		{"DatabaseInAContainer", own, nil, nil, &postgres.Server{Here: true}, true},
		{"DatabaseElsewhere", own, nil, nil, &postgres.Server{}, false},
		{"OwnRequestsHere", web, nil, []int{4}, nil, true},
		{"OwnRequestsElsewhere", far, nil, nil, nil, false},
		{"ERPServerThatIsSeen", erp, []string{"http://127.0.0.1:9"}, []int{4}, nil, false},
		{"ERPServerThatIsNotSeen", erp, []string{"http://127.0.0.1:9"}, nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record{before: c.server, servers: c.servers}
			r.Scenario, r.URLs = c.s, c.urls
			if got := r.unattributed(); got != c.want {
				t.Errorf("part of the system is unknown: %t, want %t", got, c.want)
			}
		})
	}
}

func TestRunSeesASecondLoadOfItsDatabase(t *testing.T) {
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
		"[operations.look]\ntarget = \"500ms\"\nsql = \"SELECT 1\"\n")
	o.DSN, o.Duration, o.DisturbedLimit = clustertest.Database(t).Secret(), 2*time.Second, 0.999
	other, err := presence.Dial(t.Context(), o.DSN, "plimsoll run of somebody else")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	r := mustRun(t, t.Context(), o)
	if r.Valid || !slices.Contains(r.InvalidCauses, result.ByDisturbance) || r.Disturbance == nil ||
		!slices.Equal(r.Disturbance.Loads, []string{"plimsoll run of somebody else"}) || r.Disturbance.Others == nil ||
		r.Disturbance.Unattributed {
		t.Errorf("%q, %+v", r.InvalidReasons, r.Disturbance)
	}
	if r.Conditions.CPU.Database == nil {
		t.Error("the processor time of the database is not known")
	}
}

// Requests of another program to the workers are told from those of the run's users, who are all known by name.
func TestRequestsOfOtherClientsAreSeen(t *testing.T) {
	o := base(t)
	o.Duration, o.DisturbedLimit = 2*time.Second, 0.999
	w, err := worker.Start(t.Context(), o.Serve, o.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	o.URLs = []string{w.URL}
	if r := mustRun(t, t.Context(), o); r.Disturbance.Clients == nil || *r.Disturbance.Clients != 0 {
		t.Errorf("alone: %+v", r.Disturbance)
	}
	o.DisturbedLimit = DisturbedLimitDefault
	var once sync.Once
	o.Progress = func(p Progress) {
		if p.Phase == Steady {
			once.Do(func() { stranger(t, w.URL, 1000) })
		}
	}
	r := mustRun(t, t.Context(), o)
	if r.Valid || r.Disturbance.Clients == nil || *r.Disturbance.Clients < DisturbedLimitDefault ||
		!strings.Contains(fmt.Sprint(r.InvalidReasons), "of the requests to the workers were of other clients") {
		t.Errorf("%q, %+v", r.InvalidReasons, r.Disturbance)
	}
}

// stranger is another program that sends requests.
func stranger(t *testing.T, base string, requests int) {
	for range requests {
		answer, err := http.Get(base + "/v1/application")
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}

// TestRunsThatReachOneWorkerSeeEachOther: neither has a connection string, so the worker marks the database for both.
func TestRunsThatReachOneWorkerSeeEachOther(t *testing.T) {
	erp := base(t)
	w, err := worker.Start(t.Context(), erp.Serve, erp.ServeEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Kill)
	byHTTP := func() Options {
		o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n"+
			"[operations.look]\ntarget = \"500ms\"\nurl = \"/v1/application\"\n")
		o.URLs, o.DisturbedLimit = []string{w.URL}, 0.999
		return o
	}
	first := byHTTP()
	control := &LoadControl{}
	first.Control, first.Duration = control, time.Hour
	atWork := make(chan struct{})
	var once sync.Once
	first.Progress = func(p Progress) {
		if p.Phase == Steady && p.Ops > 0 {
			once.Do(func() { close(atWork) })
		}
	}
	made := make(chan *result.Result, 1)
	go func() {
		defer close(made)
		r, err := Run(t.Context(), first)
		if err != nil {
			t.Error(err)
		}
		made <- r
	}()
	select {
	case <-atWork:
	case <-made:
		t.Fatal("the first run ended before its load")
	}
	second, err := Run(t.Context(), byHTTP())
	if err != nil {
		t.Error(err)
	}
	if err := control.End(); err != nil {
		t.Error(err)
	}
	for name, r := range map[string]*result.Result{"first": <-made, "second": second} {
		if r == nil || r.Valid || !slices.Contains(r.InvalidCauses, result.ByDisturbance) ||
			!slices.Equal(r.Disturbance.Loads, []string{"plimsoll run unkept"}) {
			t.Errorf("%s: %q, %+v", name, r.InvalidReasons, r.Disturbance)
		}
	}
}

func TestALoadThatCannotBeSeenIsReported(t *testing.T) {
	c := watchOtherLoads(t.Context(), &workersMark{workers: &workersSeen{}, at: "http://127.0.0.1:1", name: "x",
		key: "y"})
	c.end()
	if c.unknown() == "" {
		t.Error("nobody answered, and nothing is said")
	}
	limit := &result.Disturbance{Limit: DisturbedLimitDefault, LoadsUnknown: c.unknown()}
	if got := disturbedBelow(&result.Result{Disturbance: limit}); len(got) != 1 ||
		!strings.Contains(got[0], "whether others used the database is not known: ask worker") {
		t.Errorf("want that others are not known, got %q", got)
	}
}

// Behind requests of one's own may be processes that nobody knows. Those that were busy before anything was asked are
// not of the system.
func TestOthersBeforeTheLoadAreNotTheSystems(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for range runtime.NumCPU() {
		burner := exec.Command("sh", "-c", "while :; do :; done")
		if err := burner.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = burner.Process.Kill()
			_ = burner.Wait()
		}()
	}
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"100ms\"\n[http]\nbase = \""+server.URL+"\"\n"+
		"[operations.look]\ntarget = \"500ms\"\nurl = \"/\"\n")
	o.DisturbedLimit = DisturbedLimitDefault
	r := mustRun(t, t.Context(), o)
	if r.Valid || !slices.Contains(r.InvalidCauses, result.ByDisturbance) || !r.Disturbance.Unattributed ||
		!strings.Contains(strings.Join(r.InvalidReasons, "\n"), "already before the load (") {
		t.Errorf("%q, %+v", r.InvalidReasons, r.Disturbance)
	}
}
