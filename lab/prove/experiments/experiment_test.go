package experiments

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/stats"
)

func TestRegistry_EveryExperimentAnswersItsOwnKnownClaim(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if _, err := claims.Find(e.Claim); err != nil || seen[e.Claim] {
			t.Errorf("%s: doubled or unknown (%v)", e.Claim, err)
		}
		seen[e.Claim] = true
		if p := e.Plan(site.Bench{}); p.Text == "" || p.Takes <= 0 || p.Rules == "" {
			t.Errorf("%s: plan %+v", e.Claim, p)
		}
		if found, ok := For(e.Claim); !ok || found.Claim != e.Claim {
			t.Errorf("%s is not found", e.Claim)
		}
	}
	if _, ok := For("C02"); ok && !seen["C02"] {
		t.Error("found what is not registered")
	}
}

// The help lists them without making a plan.
func TestFull_AreThoseWithAnotherPlan(t *testing.T) {
	t.Setenv("PLIMSOLL_STATE", filepath.Join(t.TempDir(), "state")) // which is not there yet, as on a new machine
	var planned []string
	for _, e := range All() {
		if e.Plan(site.Bench{}) != e.Plan(site.Bench{Full: true}) {
			planned = append(planned, e.Claim)
		}
	}
	if !slices.Equal(Full(), planned) {
		t.Errorf("%q are listed; %q have another plan with --full", Full(), planned)
	}
}

// Only counts that are exact whatever the machine does may be judged on fewer turns, and on turns that others
// disturbed.
func TestRegistry_ExperimentsThatCount(t *testing.T) {
	var counted []string
	for _, e := range All() {
		declared := e.Declare(site.Bench{}, &site.Site{})
		all := true
		for _, p := range declared.Parts {
			all = all && (p.Counted || p.Unjudged)
		}
		if all {
			counted = append(counted, e.Claim)
		}
		if text := e.Plan(site.Bench{}).Rules; all == strings.Contains(text, "turns of each side at least 4") {
			t.Errorf("%s: %s", e.Claim, text)
		}
		for _, p := range declared.Parts {
			if !p.Counted && !p.Unjudged && p.Rounds < stats.RunsMin {
				t.Errorf("%s can reach no verdict: %d turns of each side", e.Claim, p.Rounds)
			}
		}
	}
	if want := []string{"C02", "C07", "C17", "C22", "C23", "C25", "C26"}; !slices.Equal(counted, want) {
		t.Errorf("%q, want %q", counted, want)
	}
}

// What compares both flavours is a finding of ours, whatever engine the bench's cluster has.
func TestRegistry_FindingsNameTheEngineThatWasMeasured(t *testing.T) {
	for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
		if _, err := installation.Find(t.Context(), flavour); err != nil {
			t.Skipf("the flavour %s is not built: %v", flavour, err)
		}
	}
	b := site.Bench{Engine: installation.Vanilla}
	for claim, want := range map[string]string{"C12": installation.Plimsoll, "C31": installation.Plimsoll,
		"C01": installation.Vanilla, "C20": installation.Plimsoll, "C27": installation.Vanilla,
		"C38": installation.Vanilla} {
		e, _ := For(claim)
		if got, err := e.Engine(t.Context(), b); err != nil || got.Flavour != want {
			t.Errorf("%s: %s, %v; want %s", claim, got.Flavour, err, want)
		}
	}
}
