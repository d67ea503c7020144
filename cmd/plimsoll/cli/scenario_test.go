package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/erp/operations"
)

func TestScenario_PrintsOneThatReadsAndRunsTheSame(t *testing.T) {
	freshState(t)
	printed := plimsoll(t, "scenario")
	printed.want(t, ExitOK)
	path := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(path, []byte(printed.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	var ours, read struct{ Name, Digest string }
	plimsoll(t, "scenario", "--json").decode(t, &ours)
	plimsoll(t, "scenario", path, "--json").decode(t, &read)
	if read.Name != "own" || read.Digest != ours.Digest || ours.Digest == "" {
		t.Errorf("printed %+v, read %+v", ours, read)
	}
	shown := plimsoll(t, "scenario", path)
	shown.want(t, ExitOK)
	first := operations.All()[0]
	for _, part := range []string{fmt.Sprintf("scenario own (%s): 1000 users, %d key operations", ours.Digest, len(operations.All())), first.ID, fmt.Sprintf("%.1f %%", first.Weight), "refused by controls: 3.0 %"} {
		if !strings.Contains(shown.stdout, part) {
			t.Errorf("lacks %q:\n%s", part, shown.stdout)
		}
	}
}

func TestScenario_MistakeNamesFileLineAndKey(t *testing.T) {
	freshState(t)
	path := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(path, []byte("[roles.clerk]\nusres = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"scenario", path}, {"run", "--scenario", path}} {
		plimsoll(t, args...).want(t, ExitUsage, path+":2: roles.clerk.usres: unknown key", "hint: did you mean users?")
	}
}
