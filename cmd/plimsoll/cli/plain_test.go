package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/progress"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/files"
)

// Every text of a stored run is made hostile: it comes from servers, scenarios, processes and file names.
func TestOutput_HasNothingForATerminalToObey(t *testing.T) {
	freshState(t)
	const title = "\x1b]0;title\x07\u009b31m\u202e"
	for _, args := range [][]string{
		{"report", hostileRun(t, title)},
		{"report", hostileRun(t, title), hostileRun(t, title)},
		{"report", hostileRun(t, title), "--json"},
		{"export", hostileRun(t, title), "--of", "operations"},
		{"scenario", hostileScenario(t)},
		{"status", "\x1b[2J"},
	} {
		o := plimsoll(t, args...)
		if strings.ContainsAny(o.stdout+o.stderr, "\x1b\x07\u009b\u202e") {
			t.Errorf("%s: %q", args[0], o.stdout+o.stderr)
		}
		if args[0] != "status" && !strings.Contains(o.stdout, "title") {
			t.Errorf("%s does not show the text: %q %q", args[0], o.stdout, o.stderr)
		}
	}
}

func hostileRun(t *testing.T, add string) string {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(resulttest.JSON, &tree); err != nil {
		t.Fatal(err)
	}
	tree["title"] = add
	for _, op := range tree["operations"].([]any) {
		op.(map[string]any)["title"] = "operation " + add
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return files.Write(t, t.TempDir(), "run.json", string(text))
}

func hostileScenario(t *testing.T) string {
	return files.Write(t, t.TempDir(), "title\x1b[2J.toml",
		"title = \"title \\u001b[2J\\u009b\\u202e\"\napplication = \"none\"\n"+
			"[operations.count]\ntitle = \"title \\u001b]0;x\\u0007\"\ntarget = \"30s\"\nsql = \"SELECT 1\"\n")
}

func TestProgress_HasNothingForATerminalToObey(t *testing.T) {
	var out strings.Builder
	m := progress.New(&out, progress.Options{})
	m.Say("worker says %s", "\x1b[2J")
	m.Phase("run", 1, "")
	m.Update(1, "note\x1b[2J")
	m.End()
	if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "[2J") {
		t.Errorf("want no escape, and the rest of its text, got %q", out.String())
	}
}
