package proof

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
)

// Due is why the claim should be measured, the most urgent first.
type Due int

// Reasons to measure.
const (
	Never   Due = iota // not on this machine
	Aged               // what was found is stale
	Cut                // it was stopped early
	Current            // it holds
)

func (d Due) String() string {
	return [...]string{"never measured", "stale", "stopped early", "measured already"}[d]
}

// Item is one experiment of a plan.
type Item struct {
	Claim claims.Claim
	Takes time.Duration
	// Known: the estimate is what the same command took here.
	Known bool
	Due   Due
}

// Plan of what to measure: within the budget as much as fits of what is most due, the shorter first; all without one
// (0). What fits is in the order of the claims, so is what is left out.
func Plan(items []Item, budget time.Duration) (fits, left []Item) {
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Takes, b.Takes))
	})
	rest := budget
	for _, i := range order {
		if budget > 0 && i.Takes > rest {
			left = append(left, i)
			continue
		}
		rest -= i.Takes
		fits = append(fits, i)
	}
	byClaim := func(a, b Item) int { return cmp.Compare(a.Claim.ID, b.Claim.ID) }
	slices.SortFunc(fits, byClaim)
	slices.SortFunc(left, byClaim)
	return fits, left
}

// Turn of a plan: an experiment whose turn it is.
type Turn struct {
	Item
	// Over is by how much the experiment would exceed the budget now; if more than zero it is left out.
	Over time.Duration
	// Added: it was left out of the plan at first, and fits because others took less time than estimated.
	Added bool
}

// Turns of a plan within a budget (0: none): first what fits, and as long as something does, what fits into the time
// that is left over. Spent is the time since the plan began. The first experiment is never left out.
func Turns(fits, left []Item, budget time.Duration, spent func() time.Duration) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for added := false; len(fits) > 0; added = true {
			for i, item := range fits {
				t := Turn{Item: item, Added: added}
				if first := i == 0 && !added; budget > 0 && !first {
					t.Over = max(0, spent()+item.Takes-budget)
				}
				if !yield(t) {
					return
				}
			}
			rest := budget - spent()
			if rest <= 0 { // also without a budget, which leaves out nothing
				return
			}
			fits, left = Plan(left, rest)
		}
	}
}

// Takes is the time of all.
func Takes(items []Item) (sum time.Duration) {
	for _, i := range items {
		sum += i.Takes
	}
	return sum
}

// ItemOf a claim with an experiment: what was measured on this machine by the same command says how long it takes.
func ItemOf(c claims.Claim, plan site.Plan, command, engine string, kept []claims.Record, here Here) Item {
	item := Item{Claim: c, Takes: plan.Takes}
	for _, k := range kept {
		other := k.Command != "" && k.Command != command || flavour(k.Engine) != flavour(engine)
		if other || k.Machine.CPU != here.Machine.CPU || k.Machine.Cores != here.Machine.Cores {
			continue
		}
		due := Current
		switch {
		case k.Elsewhere(here.Machine, engine, here.Software) != "":
			due = Aged
		case k.Partial:
			due = Cut
		}
		item.Due = max(item.Due, due)
		if !item.Known && !k.Partial && k.Command != "" {
			item.Takes, item.Known = time.Duration(k.TookS*float64(time.Second)), true
		}
	}
	return item
}
