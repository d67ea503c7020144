package crash_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// counting runs test/crash with a program of ours in a folder of its own, and gives what it printed and its exit code.
func counting(t *testing.T, program string, args ...string) (text string, code int) {
	t.Helper()
	root := t.TempDir()
	script, err := os.ReadFile("../../test/crash")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"test/crash": string(script), "program": program} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "test/crash"), args...)
	cmd.Env = append(os.Environ(), "PLIMSOLL="+filepath.Join(root, "program"))
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// When only its program is interrupted, that is meant for the count: it begins nothing more.
func TestTheCountEndsWithItsInterruptedProgram(t *testing.T) {
	for _, part := range []string{"cuts", "kills", "experiments"} {
		text, code := counting(t, "#!/bin/sh\nexit 130\n", part)
		if code != 130 || strings.Count(text, "== ") != 1 || !strings.Contains(text, "interrupted") {
			t.Errorf("%s: exit code %d: %s", part, code, text)
		}
	}
}

func TestTheCountGoesOnAfterAFailure(t *testing.T) {
	text, code := counting(t, "#!/bin/sh\nexit 3\n", "cuts", "experiments")
	if code != 1 || strings.Count(text, "== ") != 7 || !strings.Contains(text, "0 passed, 7 failed, 0 not complete") {
		t.Errorf("exit code %d: %s", code, text)
	}
}

func TestAnInconclusiveExperimentIsNotComplete(t *testing.T) {
	for verdict, want := range map[string]string{"confirmed": "5 passed, 0 failed, 0 not complete",
		"inconclusive": "0 passed, 0 failed, 5 not complete"} {
		text, code := counting(t, "#!/bin/sh\necho '  verdict     "+verdict+"'\n", "experiments")
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d: %s", verdict, code, text)
		}
	}
}
