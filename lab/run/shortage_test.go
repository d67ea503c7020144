package run

import (
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

func TestAShortageIsNamed(t *testing.T) {
	r := &result.Result{Operations: []result.Operation{
		{ID: "invoice.post", Totals: result.Totals{Ops: 33, OK: 33},
			Instead: map[string]int64{"sale.post": 2, "b": 1}},
		{ID: "sale.post", Totals: result.Totals{Ops: 50, OK: 50}},
		{ID: "b", Totals: result.Totals{Ops: 1, OK: 1}},
	}}
	got := strings.Join(warnings(r), "\n")
	if want := "invoice.post: 3 of 36 (8 %) had nothing to act on and were carried out, and counted, as b or " +
		"sale.post"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A mix that has no place for what is carried out instead: assets run out, and what is done then is in no mix. All of
// it is counted, and a run that did something else than was asked for is not valid.
func TestWhatIsCarriedOutInsteadIsCounted(t *testing.T) {
	o := base(t)
	o.Scenario.Roles[0].Weights = map[string]float64{"asset_commissioning.post": 1, "items.search": 1}
	played := int64(0)
	o.Ramp = 0
	o.Ended = func(_ string, s tally.Sample) {
		if s.Due < o.Duration {
			played++
		}
	}
	o.Duration = 6 * time.Second // twice as many of them as there are assets
	r := mustRun(t, t.Context(), o)
	ops := byID(r)
	assets := ops["asset_commissioning.post"]
	if assets.InsteadShare == nil || *assets.InsteadShare < 0.2 || r.Ops != played ||
		ops["internal_consumption.post"].Ops != assets.Instead["internal_consumption.post"] {
		t.Errorf("%d of %d operations are counted: %+v", r.Ops, played, r.Operations)
	}
	if !strings.Contains(strings.Join(r.InvalidReasons, "\n"), "asset_commissioning.post: ") {
		t.Errorf("valid %v: %q", r.Valid, r.InvalidReasons)
	}
}

func TestAShortageBeyondTheLimitIsAReason(t *testing.T) {
	for name, c := range map[string]struct {
		done, replaced int64
		beyond         bool
	}{
		"ATenth":                      {180, 20, false},
		"AThird":                      {64, 36, true},
		"AThirdOfFewMayBeChance":      {6, 3, false},
		"SomeMoreThanATenthByChance":  {88, 12, false},
		"AFifthOfMany":                {160, 40, true},
		"EverythingOfWhatNeverServed": {0, 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &result.Result{Operations: []result.Operation{
				{ID: "invoice.post", Totals: result.Totals{Ops: c.done},
					Instead: map[string]int64{"sale.post": c.replaced}},
				{ID: "sale.post", Totals: result.Totals{Ops: 50 + c.replaced}},
			}}
			var v verdict
			judgeShortages(&v, r)
			if got := len(v.reasons) == 1 && len(shortages(r)) == 0; got != c.beyond || len(v.reasons) > 1 {
				t.Errorf("%q, %q", v.reasons, shortages(r))
			}
		})
	}
}
