package scenario

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/load/gate"
	"plimsoll/test/files"
)

const gated = `application = "none"
[http]
base = "http://127.0.0.1:1"
[operations.look]
target = "1s"
url = "/"
[gates]
fail_if = %GATES%
`

func readGated(t *testing.T, gates string) (*Scenario, error) {
	t.Helper()
	return Read(files.Write(t, t.TempDir(), "gated.toml", strings.ReplaceAll(gated, "%GATES%", gates)))
}

func TestGates_AreReadAndAreNoPartOfTheLoad(t *testing.T) {
	s, err := readGated(t, `["look: p95 > 200ms", "errors > 1%"]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []gate.Gate{{Operation: "look", Figure: gate.Percentile, Percent: 95, Limit: 200},
		{Figure: gate.Errors, Limit: 0.01}}
	if !slices.Equal(s.Gates, want) {
		t.Errorf("gates %+v", s.Gates)
	}
	other, err := readGated(t, `"apdex < 0.5"`)
	if err != nil || len(other.Gates) != 1 || other.Digest() != s.Digest() {
		t.Errorf("one gate: %+v, %v; a load of other gates has another digest: %s %s", other.Gates, err, other.Digest(),
			s.Digest())
	}
}

func TestGates_MistakesNameFileLineAndPlace(t *testing.T) {
	for gates, want := range map[string][2]string{
		`["errors > 1%", "lok: p95 > 1s"]`: {`gated.toml:8: gates.fail_if: the 2. of 2, "lok: p95 > 1s", ` +
			`character 1: no key operation "lok"`, "did you mean look?"},
		`"look: p95 < 1s"`: {`gates.fail_if: "look: p95 < 1s", character 11: p95 < fails when all is well`,
			"did you mean p95 >?"},
		`[5]`: {"takes texts in quotes, not 5", "such as"},
	} {
		_, err := readGated(t, gates)
		if err == nil || problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), want[0]) ||
			!strings.Contains(problem.HintOf(err), want[1]) {
			t.Errorf("%s: %v, hint %s", gates, err, problem.HintOf(err))
		}
	}
}
