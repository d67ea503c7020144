package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/recorded/replay"
	"plimsoll/test/thorough"
)

// slowPosting makes each operation that writes slower by more than a busy machine does.
const slowPosting = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END $$;
	CREATE TRIGGER slow AFTER INSERT ON plimsoll_operation FOR EACH STATEMENT EXECUTE FUNCTION slow()`

// A day of the ERP, recorded through its server's own log and played again on two systems, gives the verdict that the
// same two systems had under the live load.
func TestRecorded_ADayOfTheERPGivesTheVerdictOfTheLiveLoad(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: a recorded day of the ERP on two systems, which takes minutes (make test-full)")
	}
	s := newStand(t)
	slow, day := filepath.Join(s.state, "slow.sql"), filepath.Join(s.state, "day")
	if err := os.WriteFile(slow, []byte(slowPosting), 0o600); err != nil {
		t.Fatal(err)
	}
	plimsoll(t, s.upTwo...).want(t, ExitOK)
	plimsoll(t, "fill", "--cluster", s.two, "--small").want(t, ExitOK)
	load := []string{"--users", "40", "--think", "500ms", "--duration", "4s", "--ramp", "0s"}
	judged := []string{"--sql-b", "@" + slow, "--metric", "latency_ms_p50", "--pairs", "4", "--json"}

	o := plimsoll(t, slices.Concat([]string{"compare", s.two + "+lean"}, load, judged)...)
	o.want(t, ExitOK)
	var live compare.Comparison
	o.decode(t, &live)

	plimsoll(t, slices.Concat([]string{"run", "--cluster", s.two, "--shape", "lean", "--write-log", day},
		load)...).wantRun(t)
	plimsoll(t, "reset", "--cluster", s.two, "--yes").want(t, ExitOK)

	o = plimsoll(t, slices.Concat([]string{"compare", s.two, "--replay", day, "--gap", "5ms", "--beside", live.ID},
		judged)...)
	o.want(t, ExitOK)
	var c compare.Comparison
	o.decode(t, &c)
	if live.Findings[0].Verdict != verdict.Worse || c.Findings[0].Verdict != verdict.Worse || c.Beside == nil ||
		c.Beside.Agreement != compare.Agree {
		t.Errorf("live: %s; replayed: %s; %+v", live.Statement(), c.Statement(), c.Beside)
	}
	for _, r := range c.Runs {
		if same := r.Figures[""]["statements_as_in_the_log"]; same < replay.FaithfulFrom {
			t.Errorf("round %d of %s: %v as in the log", r.Round, r.Side, same)
		}
	}
}
