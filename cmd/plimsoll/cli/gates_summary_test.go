package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lacks reports which parts a summary does not have.
func lacks(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

func TestCompareGates_AreSummed(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	x, m := filepath.Join(dir, "gates.xml"), filepath.Join(dir, "gates.md")
	plimsoll(t, "compare", "--command-a", benchOf(t, "100"), "--command-b", benchOf(t, "150"), "--pairs", "8",
		"--quiet", "--fail-if", "worse", "--fail-if", "latency_ms_p95: worse", "--junit", x, "--markdown", m).want(t,
		ExitThreshold, "1 of 2 gates failed, 1 cannot be decided: B: worse (failed: +4")
	for file, parts := range map[string][]string{
		x: {`<testsuite name="comparison" package="plimsoll.compare"`, `name="B against A`,
			`<testsuite name="gates" package="plimsoll.compare"`, `tests="2" failures="1" errors="1"`,
			`name="B: worse"`, `name="B: latency_ms_p95: worse"`},
		m: {"### plimsoll compare: **not passed**", "| B: worse | **failed** |",
			`| B: latency\_ms\_p95: worse | **cannot be decided** | the runs have no such figure`},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lacks(t, filepath.Base(file), string(text), parts...)
	}
}
