package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// freshMachine also has a cache and a home of the test: uninstall must not find the real ones.
func freshMachine(t *testing.T) (state string) {
	t.Helper()
	state = freshState(t)
	dir := t.TempDir()
	for _, name := range []string{"PLIMSOLL_CACHE", "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(dir, "plimsoll-"+strings.ToLower(name)))
	}
	return state
}

func TestUninstall_ListsThenRemovesAfterAsking(t *testing.T) {
	state := freshMachine(t)
	ids := storedRuns(t, time.Hour)
	run := filepath.Join(state, "runs", ids[0])
	o := plimsoll(t, "uninstall", "--dry-run")
	if o.want(t, ExitOK); !strings.Contains(o.stdout, "would remove") ||
		!strings.Contains(o.stdout, filepath.Join(state, "runs")) || !strings.Contains(o.stdout, "this program") {
		t.Errorf("%s", o.stdout)
	}
	var listed struct {
		DryRun  bool `json:"dry_run"`
		Removes []struct {
			Path  string
			Bytes int64
		}
	}
	plimsoll(t, "uninstall", "--dry-run", "--json").decode(t, &listed)
	if !listed.DryRun || len(listed.Removes) == 0 || listed.Removes[0].Bytes == 0 {
		t.Errorf("%+v", listed)
	}
	plimsollWith(t, t.Context(), "y\n", nil, "uninstall").want(t, ExitUsage, "nothing was removed")
	if _, err := os.Stat(run); err != nil {
		t.Fatalf("removed without consent: %v", err)
	}
	plimsollWith(t, t.Context(), "uninstall\n", nil, "uninstall").want(t, ExitOK)
	if _, err := os.Stat(state); err == nil {
		t.Error("the state directory is left")
	}
}
