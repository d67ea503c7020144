package line

import (
	"testing"

	"plimsoll/lab/system"
	"plimsoll/test/golden"
)

// Searches that are kept are read by later versions, and by those who asked for --json.
func TestStoredSearches_KeepTheirNames(t *testing.T) {
	t.Run("OneLine", func(t *testing.T) { golden.Names[Line](t, "testdata/line.json") })
	t.Run("SeveralLines", func(t *testing.T) { golden.Names[Comparison](t, "testdata/lines.json") })
}

// A search is resumed by the fingerprint of its plan: another one for the same plan loses what was stopped.
func TestFingerprint_OfAPlanStays(t *testing.T) {
	plan := Plan{Target: 0.85, Bounds: Bounds{First: 100, Most: 30_000, Resolution: 0.05, Confirmations: 3},
		DurationS: 20, RampS: 5, TimeoutS: 60, ThinkS: 10, Seed: 1, Scenario: "default", Digest: "0123456789ab",
		Reset: system.ResetCopy, Workers: 1, Profile: "tuned", Configuration: "plimsoll+lean",
		Serve: "serve --shape=lean"}
	if got := plan.Fingerprint(); got != "58f6c38835fd" {
		t.Errorf("fingerprint %s", got)
	}
}
