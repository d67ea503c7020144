// Package experiments registers the experiments behind the claims. Each subject has a package of its own, above package
// site, which holds what they share; package trial plays and judges them.
//
// A new experiment is one file that declares it and one line in the list of its subject.
package experiments

import (
	"slices"
	"strings"

	"plimsoll/lab/prove/experiments/bases"
	"plimsoll/lab/prove/experiments/extensions"
	"plimsoll/lab/prove/experiments/layer"
	"plimsoll/lab/prove/experiments/loss"
	"plimsoll/lab/prove/experiments/restoring"
	"plimsoll/lab/prove/experiments/rewriting"
	"plimsoll/lab/prove/experiments/scale"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/slowness"
	"plimsoll/lab/prove/experiments/temptables"
)

// All lists the experiments in the order of their claims.
func All() []site.Experiment {
	all := slices.Concat(scale.Experiments(), temptables.Experiments(), extensions.Experiments(), layer.Experiments(),
		rewriting.Experiments(), restoring.Experiments(), bases.Experiments(), loss.Experiments(),
		slowness.Experiments())
	slices.SortFunc(all, func(a, b site.Experiment) int { return strings.Compare(a.Claim, b.Claim) })
	return all
}

// For returns the experiment behind a claim, or false.
func For(claim string) (site.Experiment, bool) {
	for _, e := range All() {
		if e.Claim == claim {
			return e, true
		}
	}
	return site.Experiment{}, false
}

// Full lists the claims whose experiments have a form of the report's size: those whose plan is another one then. It is
// written down because the help needs it at each start of the program, and plans take long to make.
func Full() []string {
	return []string{"C01", "C02", "C04", "C05", "C14", "C19", "C22", "C23", "C24", "C25", "C30", "C31", "C32", "C33",
		"C34", "C35", "C36", "C37", "C38", "C39", "C41", "C44"}
}
