package run

import (
	"testing"

	"plimsoll/lab/load/tally"
	"plimsoll/test/golden"
)

// Stored or sent data has names that older and newer versions read.
func TestStoredAndSent_KeepTheirNames(t *testing.T) {
	t.Run("PlanOfAGenerator", func(t *testing.T) { golden.Names[Plan](t, "testdata/plan.json") })
	t.Run("OpeningOfAJournal", func(t *testing.T) { golden.Names[opening](t, "testdata/opening.json") })
	t.Run("PageOfAJournal", func(t *testing.T) { golden.Names[tally.Page](t, "testdata/page.json") })
}
