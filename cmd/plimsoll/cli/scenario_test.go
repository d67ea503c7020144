package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/erp/operations"
	"plimsoll/test/files"
)

func TestScenario_PrintsOneThatReadsAndRunsTheSame(t *testing.T) {
	freshState(t)
	printed := plimsoll(t, "scenario")
	printed.want(t, ExitOK)
	path := files.Write(t, t.TempDir(), "own.toml", printed.stdout)
	var ours, read struct{ Name, Digest string }
	plimsoll(t, "scenario", "--json").decode(t, &ours)
	plimsoll(t, "scenario", path, "--json").decode(t, &read)
	if read.Name != "own" || read.Digest != ours.Digest || ours.Digest == "" {
		t.Errorf("printed %+v, read %+v", ours, read)
	}
	shown := plimsoll(t, "scenario", path)
	shown.want(t, ExitOK)
	first := operations.All()[0]
	for _, part := range []string{fmt.Sprintf("scenario own (%s): 1000 users, %d key operations", ours.Digest,
		len(operations.All())), first.ID, fmt.Sprintf("%.1f %%", first.Weight), "refused by controls: 3.0 %"} {
		if !strings.Contains(shown.stdout, part) {
			t.Errorf("lacks %q:\n%s", part, shown.stdout)
		}
	}
}

func TestScenario_MistakeNamesFileLineAndKey(t *testing.T) {
	freshState(t)
	path := files.Write(t, t.TempDir(), "own.toml", "[roles.clerk]\nusres = 5\n")
	for _, args := range [][]string{{"scenario", path}, {"run", "--scenario", path}} {
		plimsoll(t, args...).want(t, ExitUsage, path+":2: roles.clerk.usres: unknown key", "hint: did you mean users?")
	}
}

func TestScenario_CheckIsTheSameAsTheFileAlone(t *testing.T) {
	freshState(t)
	path := requests(t)
	short, long := plimsoll(t, "scenario", path), plimsoll(t, "scenario", "check", path)
	if long.want(t, ExitOK); short.stdout != long.stdout || !strings.Contains(long.stdout, "scenario requests (") {
		t.Errorf("%s\n%s", short.stdout, long.stdout)
	}
	plimsoll(t, "scenario", "check").want(t, ExitUsage, "needs a file to check", "./check")
}

func TestScenario_OnceShowsEachOperationAndWhatFailed(t *testing.T) {
	freshState(t)
	path := requests(t)
	o := plimsoll(t, "scenario", "check", path, "--once")
	o.want(t, ExitThreshold, "1 of 2 operations failed: broken")
	for _, part := range []string{"well: ok in ", "/well\n  < 200 OK", "broken: FAILED in ", "< 418 I'm a teapot",
		"! GET http://127.0.0.1"} {
		if !strings.Contains(o.stdout, part) {
			t.Errorf("lacks %q:\n%s", part, o.stdout)
		}
	}
	var r struct {
		Failed     int
		Operations []struct {
			ID, Outcome string
			Events      []struct {
				Request struct{ Answer struct{ Status int } }
			}
		}
	}
	plimsoll(t, "scenario", "check", path, "--once", "--json").decode(t, &r)
	if r.Failed != 1 || len(r.Operations) != 2 || r.Operations[1].Events[0].Request.Answer.Status != 418 {
		t.Errorf("%+v", r)
	}
}

func TestScenario_SchemaIsThePublishedOne(t *testing.T) {
	freshState(t)
	published, err := os.ReadFile("../../../docs/schema/scenario-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if o := plimsoll(t, "scenario", "--schema"); o.code != ExitOK || o.stdout != string(published) {
		t.Errorf("exit code %d; %d bytes, published %d", o.code, len(o.stdout), len(published))
	}
}

func TestScenario_RefusesFlagsWithoutEffect(t *testing.T) {
	freshState(t)
	path := requests(t)
	for flags, says := range map[string]string{
		"--once":                      "--once needs a scenario file",
		"check " + path + " --user=5": "--user has no effect without --once",
		path + " --schema":            "--schema is that of every scenario file",
		path + " --load=1c":           "--load has no effect with a file",
	} {
		plimsoll(t, append([]string{"scenario"}, strings.Fields(flags)...)...).want(t, ExitUsage, says, "hint: ")
	}
}

// requests is a scenario of HTTP alone, and the server it speaks to. Most users are due once within a second, so that
// there are enough operations of both, however busy the machine is.
func requests(t *testing.T) (path string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /well", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter,
		_ *http.Request) {
		http.Error(w, "no", http.StatusTeapot)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	path = filepath.Join(t.TempDir(), "requests.toml")
	text := "application = \"none\"\nusers = 300\n[think]\nmean = \"400ms\"\n[http]\nbase = \"" + server.URL + "\"\n" +
		"[operations.well]\ntarget = \"30s\"\nweight = 0.9\nurl = \"/well\"\n[operations.broken]\ntarget = " +
		"\"30s\"\nweight = 0.1\nurl = \"/broken\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRun_WithAnOperationThatAlwaysFailsIsNoSuccess(t *testing.T) {
	freshState(t)
	o := plimsoll(t, "run", "--scenario", requests(t), "--duration", "1s", "--ramp", "0s", "--target", "0.85")
	o.want(t, ExitThreshold, "plimsoll: broken never got a valid answer", "418")
	if head, _, _ := strings.Cut(o.stdout, "key operation"); !strings.Contains(head, "valid\n") ||
		!strings.Contains(head, "warning: broken never got a valid answer") {
		t.Errorf("the first lines do not say so:\n%s", o.stdout)
	}
}

func TestScenario_WithoutTheERPTakesNoFlagsOfIt(t *testing.T) {
	freshState(t)
	sql := filepath.Join(t.TempDir(), "sql.toml")
	if err := os.WriteFile(sql, []byte("application = \"none\"\n[operations.a]\ntarget = \"1s\"\nsql = \"SELECT 1\"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	http := requests(t)
	for _, c := range []struct {
		name, file string
		flags      []string
		says       string
	}{
		{"URLOfSQL", sql, []string{"--url", "http://127.0.0.1:1"},
			"--url has no effect: every request of the scenario"},
		{"Shape", sql, []string{"--shape", "classic"}, "--shape applies only to ERP scenarios"},
		{"Tweak", sql, []string{"--temp-pool", "5"}, "--temp-pool applies only to ERP scenarios"},
		{"Workers", sql, []string{"--workers", "3"}, "--workers applies only to ERP scenarios"},
		{"Engine", sql, []string{"--engine", "vanilla"}, "--engine applies only to ERP scenarios"},
		{"ClusterOfRequests", http, []string{"--cluster", "plimsoll"},
			"--cluster has no effect: the scenario uses no database"},
	} {
		for _, command := range []string{"run", "line"} {
			t.Run(command+"/"+c.name, func(t *testing.T) {
				o := plimsoll(t, append([]string{command, "--scenario", c.file}, c.flags...)...)
				o.want(t, ExitUsage, c.says, "hint: leave it out")
				if strings.Count(o.stderr, "\n") != 2 {
					t.Errorf("more than a line and its hint:\n%s", o.stderr)
				}
			})
		}
	}
	t.Run("AsSettingsTheyStay", func(t *testing.T) {
		t.Setenv("PLIMSOLL_SHAPE", "classic")
		plimsoll(t, "run", "--scenario", http, "--duration", "1s", "--ramp", "0s").want(t, ExitThreshold,
			"broken never got a valid answer")
	})
}
