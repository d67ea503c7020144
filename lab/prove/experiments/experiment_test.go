package experiments

import (
	"testing"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
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
