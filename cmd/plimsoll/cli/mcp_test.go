package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/files"
	"plimsoll/test/patience"
)

// assistant is a client of the program, which speaks with it over stdin and stdout.
type assistant struct {
	*sdk.ClientSession
	server *exec.Cmd
	mu     sync.Mutex
	told   []string     // messages of progress
	seen   func(string) // is called with each
}

func newAssistant(t *testing.T, args ...string) *assistant {
	t.Helper()
	a := &assistant{server: exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)}
	a.server.Stderr = t.Output()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, q *sdk.ProgressNotificationClientRequest) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.told = append(a.told, q.Params.Message); a.seen != nil {
				a.seen(q.Params.Message)
			}
		}})
	session, err := client.Connect(patience.Context(t), &sdk.CommandTransport{Command: a.server,
		TerminateDuration: patience.Max}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.ClientSession = session
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return a
}

// call gives the text and the JSON of an answer.
func (a *assistant) call(t *testing.T, ctx context.Context, tool string, arguments map[string]any) (text string,
	answer map[string]any, r *sdk.CallToolResult) {
	t.Helper()
	p := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	p.Meta = sdk.Meta{"progressToken": tool}
	r, err := a.CallTool(ctx, p)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for i, c := range r.Content {
		if one, is := c.(*sdk.TextContent); is && i == 0 {
			text = one.Text
		}
	}
	answer, _ = r.StructuredContent.(map[string]any)
	return text, answer, r
}

const oneSelect = `
application = "none"
users = 5
[think]
mean = "100ms"
[operations.look]
target = "1s"
sql = "SELECT 1"
`

func TestMCP_Tools(t *testing.T) {
	freshState(t)
	a := newAssistant(t, "--database", "one=postgres://ann:Zx9QqSecret@127.0.0.1:1/x?sslmode=disable")
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		loads := slices.Contains([]string{"run", "line", "compare"}, tool.Name)
		if h := tool.Annotations; h.ReadOnlyHint == loads || h.DestructiveHint == nil || *h.DestructiveHint != loads {
			t.Errorf("%s: annotations %+v", tool.Name, h)
		}
	}
	want := "advise compare diagnose line results_compare results_list results_show run scenario_check"
	if slices.Sort(names); strings.Join(names, " ") != want {
		t.Errorf("tools %v, want %s", names, want)
	}
	everything, _ := json.Marshal(list)
	for _, name := range []string{"run", "line", "compare"} {
		arguments := map[string]any{}
		if name == "compare" {
			arguments["database_b"] = "one"
		}
		text, answer, r := a.call(t, t.Context(), name, arguments)
		if !r.IsError || !strings.Contains(text, "only reads") || !strings.Contains(text, "--allow-load") ||
			answer["error"] == nil {
			t.Errorf("%s is not refused: %s", name, text)
		}
	}
	for name, arguments := range map[string]map[string]any{
		"another server":   {"dsn": "postgres://elsewhere/x"},
		"another database": {"database": "postgres://elsewhere/x"},
		"a local cluster":  {"cluster": "plimsoll"},
		"a wrong duration": {"duration": "--dsn=postgres://elsewhere/x"},
	} {
		text, _, r := a.call(t, t.Context(), "diagnose", arguments)
		if !r.IsError || !strings.Contains(text, "validating") {
			t.Errorf("%s is taken: %s", name, text)
		}
	}
	if text, _, r := a.call(t, t.Context(), "results_show", map[string]any{"id": "/etc/passwd"}); !r.IsError ||
		!strings.Contains(text, "validating") {
		t.Errorf("a file is taken for a run: %s", text)
	}
	text, answer, r := a.call(t, t.Context(), "diagnose", map[string]any{"duration": "1s"})
	if !r.IsError || !strings.Contains(text, "hint: check host") || !strings.Contains(text, "refused") {
		t.Errorf("of a server that is not there: %s", text)
	}
	if all := fmt.Sprint(string(everything), text, answer); strings.Contains(all, "Zx9Qq") {
		t.Errorf("the password shows: %s", all)
	}
}

func TestMCP_Measures(t *testing.T) {
	freshState(t)
	dsn := clustertest.Database(t).Secret()
	file := files.Write(t, t.TempDir(), "look.toml", oneSelect)
	t.Setenv("PLIMSOLL_DSN", dsn)
	a := newAssistant(t, "--scenario", file, "--allow-load")
	t.Run("Run", func(t *testing.T) {
		text, answer, r := a.call(t, t.Context(), "run", map[string]any{"scenario": "look", "duration": "2s",
			"ramp": "0s", "users": 7})
		if r.IsError || answer["schema"] != "plimsoll.run/1" || answer["users"] != 7.0 || answer["series"] != nil ||
			!strings.Contains(strings.Join(strings.SplitAfter(text, "\n")[:5], ""), "APDEX") &&
				!strings.Contains(text, "NOT VALID") {
			t.Errorf("%v\n%s", answer["schema"], text)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if !slices.ContainsFunc(a.told, func(message string) bool { return strings.HasPrefix(message, "run: ") }) {
			t.Errorf("progress %q", a.told)
		}
	})
	t.Run("Results", func(t *testing.T) {
		text, answer, _ := a.call(t, t.Context(), "results_list", map[string]any{"limit": 1})
		runs, _ := answer["runs"].([]any)
		if len(runs) != 1 || !strings.Contains(text, "APDEX") {
			t.Fatalf("%v\n%s", answer, text)
		}
		one := runs[0].(map[string]any)
		id, _ := one["id"].(string)
		if id == "" || one["apdex"] == nil || one["conditions"] != nil {
			t.Errorf("want what tells a run from others, got %v", one)
		}
		_, shown, _ := a.call(t, t.Context(), "results_show", map[string]any{"id": id, "details": true})
		if shown["id"] != id || shown["series"] == nil {
			t.Errorf("run %v with series %v", shown["id"], shown["series"] != nil)
		}
		text, both, _ := a.call(t, t.Context(), "results_compare", map[string]any{"ids": []string{id, "latest"}})
		if runs, _ := both["runs"].([]any); len(runs) != 2 || !strings.Contains(text, id) {
			t.Errorf("%v\n%s", both, text)
		}
	})
	t.Run("Diagnose", func(t *testing.T) {
		text, answer, r := a.call(t, t.Context(), "diagnose", map[string]any{"duration": "1s"})
		if r.IsError || answer["ledger"] == nil || answer["limits"] != nil ||
			!strings.Contains(text, "\nDiagnosis of ") {
			t.Errorf("%v\n%s", answer["schema"], text)
		}
	})
	t.Run("Advise", func(t *testing.T) {
		text, answer, r := a.call(t, t.Context(), "advise", nil)
		if r.IsError || answer["advice"] == nil || !strings.Contains(text, "\nAdvice for ") {
			t.Errorf("%v\n%s", answer["schema"], text)
		}
	})
	t.Run("ScenarioCheck", func(t *testing.T) {
		text, answer, _ := a.call(t, t.Context(), "scenario_check", map[string]any{"scenario": "look"})
		if answer["name"] != "look" || !strings.Contains(text, "no mistake") {
			t.Errorf("%v\n%s", answer, text)
		}
		if err := os.WriteFile(file, []byte(oneSelect+"taget = 5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, _, r := a.call(t, t.Context(), "scenario_check", map[string]any{"scenario": "look"})
		if !r.IsError || !strings.Contains(text, "look.toml:9") || !strings.Contains(text, "did you mean") {
			t.Errorf("of a wrong file: %s", text)
		}
	})
}

func TestMCP_CancelledRunLeavesNothing(t *testing.T) {
	freshState(t)
	dsn := clustertest.Database(t).Secret()
	t.Setenv("PLIMSOLL_DSN", dsn)
	a := newAssistant(t, "--allow-load", "--scenario", files.Write(t, t.TempDir(), "look.toml", oneSelect))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.seen = func(message string) {
		if strings.Contains(message, "steady") {
			cancel()
		}
	}
	arguments := map[string]any{"scenario": "look", "duration": "10m", "ramp": "0s"}
	p := &sdk.CallToolParams{Name: "run", Arguments: arguments}
	p.Meta = sdk.Meta{"progressToken": 1}
	if r, err := a.CallTool(ctx, p); err == nil {
		t.Fatalf("a cancelled run answers %v", r.StructuredContent)
	}
	patience.Until(t, "no session is left", func() bool {
		return clustertest.Value(t, dsn, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid()`) == "0"
	})
	patience.Until(t, "no process is left", func() bool {
		children := ""
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", a.server.Process.Pid))
		for _, task := range tasks {
			text, _ := os.ReadFile(task) // a thread may have ended
			children += string(text)
		}
		return len(tasks) > 0 && children == ""
	})
	arguments["duration"] = "1s"
	patience.Until(t, "another load may run", func() bool {
		_, answer, r := a.call(t, t.Context(), "run", arguments)
		return !r.IsError && answer["schema"] != nil
	})
	if _, answer, _ := a.call(t, t.Context(), "results_list", nil); len(answer["runs"].([]any)) < 2 {
		t.Errorf("what the cancelled run measured is not kept: %v", answer)
	}
}

func TestMCP_OverHTTP(t *testing.T) {
	freshState(t)
	server := exec.Command(os.Args[0], "mcp", "--http", "127.0.0.1:0")
	stderr, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	said := bufio.NewScanner(stderr)
	line := func(name string) string {
		if !said.Scan() || !strings.HasPrefix(said.Text(), name+": ") {
			t.Fatalf("%q instead of %s", said.Text(), name)
		}
		return strings.TrimPrefix(said.Text(), name+": ")
	}
	url, token := line("tools"), line("token")
	connect := func(sent string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(patience.Context(t),
			&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(sent)}}, nil)
	}
	if _, err := connect("another"); err == nil {
		t.Error("another token is taken")
	}
	session, err := connect(token)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "results_list"})
	if err != nil || r.IsError {
		t.Errorf("%v, %+v", err, r)
	}
}

// bearer sends itself as a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestMCP_Mistakes(t *testing.T) {
	freshState(t)
	wrong := files.Write(t, t.TempDir(), "wrong.toml", "usres = 5\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"NoName": {[]string{"--database", "postgres://one/x"}, []string{"NAME=DSN"}},
		"SameName": {[]string{"--database", "a=host=x", "--database", "a=host=y"},
			[]string{"two are called database a"}},
		"NoDSN":          {[]string{"--database", "a=host=x port=wrong"}, []string{"database a", "hint: such as"}},
		"WrongScenario":  {[]string{"--scenario", wrong}, []string{"wrong.toml:1", "did you mean users?"}},
		"NotLoopback":    {[]string{"--http", "0.0.0.0:7077"}, []string{"must be HOST:PORT on loopback"}},
		"TokenForNobody": {[]string{"--token-file", "x"}, []string{"no effect without --http"}},
		"TwoScopes":      {[]string{"--cluster", "a", "--database", "b=host=x"}, []string{"exclude each other"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := plimsoll(t, append([]string{"mcp"}, c.args...)...)
			o.want(t, ExitUsage, c.want...)
		})
	}
}
