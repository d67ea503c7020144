package slowness

import (
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
)

// The words of the table.
type plant = sitetest.Plant

var four, with = sitetest.Four, sitetest.With

func always(v float64) []float64 { return []float64{v, v, v, v} }

// freezesOf a frozen server and one that runs.
func freezesOf(of, not float64) plant {
	return plant{frozen + ": " + freezes: always(of), running + ": " + freezes: always(not)}
}

// operations directly and through the network.
func operations(near, far float64) plant {
	return plant{direct + ": " + stepTime: four(near), distant + ": " + stepTime: four(far)}
}

// contradictionsOf each plant, and of a healthy load.
func contradictionsOf(planted, healthy float64) plant {
	p := plant{confusion.Healthy + ": " + allShown: always(healthy)}
	for _, c := range contradicted {
		p[c.plant+": "+shown] = always(planted)
	}
	return p
}

// limitsFound without a limit and with each.
func limitsFound(none, four, sixteen float64) plant {
	return plant{limitSide(0) + ": " + limitFound: always(none), limitSide(4) + ": " + limitFound: always(four),
		limitSide(16) + ": " + limitFound: always(sixteen)}
}

func far(nodes, told float64, cost ...float64) plant {
	return plant{nodesHere: always(nodes), toldApart: always(told), farCost: cost}
}

func spun(spins, cores float64) plant {
	return plant{spinShare: always(spins), processors: always(cores)}
}

// core is how much slower a filled one makes look-ups, how busy the machine is, and whether it is named.
func core(slower, busy, isNamed float64) plant {
	return plant{free + ": " + lookTime: four(1), filled + ": " + lookTime: four(slower),
		filled + ": " + busyCores: always(busy), filled + ": " + named: always(isNamed)}
}

// users: how much slower the network and the crowd make one, and how busy the machine is with each.
func users(slow, idle, full, busy float64) plant {
	return plant{alone + ": " + stepTime: four(1), aloneFar + ": " + stepTime: four(slow),
		crowd + ": " + stepTime:     four(full),
		aloneFar + ": " + busyCores: always(idle), crowd + ": " + busyCores: always(busy)}
}

// profiles: whether the difference names each fault, by how much, and how much healthy ones differ.
func profiles(names, by, twins float64) plant {
	p := plant{confusion.Healthy + ": " + moreMS: always(twins)}
	for _, c := range slowed {
		p[c.plant+": "+pointed], p[c.plant+": "+moreMS] = always(names), always(by)
	}
	return p
}

var short = site.Bench{Duration: 100 * time.Millisecond}

var rulings = []sitetest.Ruling{
	{Claim: "C39", Name: "Named", Figures: freezesOf(12, 0), Want: claims.SmallScale, Why: "0.4 s, one a second"},
	{Claim: "C39", Name: "NotNamed", Figures: freezesOf(0, 0), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C39", Name: "NamedWhereThereAreNone", Figures: freezesOf(12, 2), Want: claims.Refuted},
	{Claim: "C39", Name: "Sometimes", Figures: with(freezesOf(12, 0), frozen+": "+freezes, 0, 12, 12, 12),
		Want: claims.Inconclusive},
	{Claim: "C39", Name: "Short", Figures: freezesOf(12, 0), Bench: short, Want: claims.Inconclusive,
		Why: "turns are shorter"},
	{Claim: "C50", Name: "NetworkCosts", Figures: operations(1, 1.2), Want: claims.SmallScale,
		Why: "an operation of four round trips"},
	{Claim: "C50", Name: "NetworkCostsMore", Figures: operations(1, 5), Want: claims.SmallScale,
		Why: "surely more than ×1.3"},
	{Claim: "C50", Name: "NetworkCostsNothing", Figures: operations(1, 1), Want: claims.Inconclusive},
	{Claim: "C50", Name: "Around", Figures: with(operations(1, 1), distant+": "+stepTime, 1, 1.5, 1, 1.5),
		Want: claims.Inconclusive},
	{Claim: "C51", Name: "AllShown", Figures: contradictionsOf(1, 0), Want: claims.Confirmed},
	{Claim: "C51", Name: "OneNotShown", Figures: with(contradictionsOf(1, 0), "hot-row: "+shown, 0, 0, 0, 0),
		Want: claims.Refuted, Why: "hot-row"},
	{Claim: "C51", Name: "ShownWithoutFault", Figures: contradictionsOf(1, 1), Want: claims.Refuted, Why: "healthy"},
	{Claim: "C51", Name: "OneVoid", Figures: with(contradictionsOf(1, 0), "filled-core: "+shown),
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C52", Name: "Found", Figures: limitsFound(0, 4, 15), Want: claims.SmallScale,
		Why: "largest planted limit: 16, the report's 64"},
	{Claim: "C52", Name: "FoundWhereThereIsNone", Figures: limitsFound(60, 4, 15), Want: claims.Inconclusive,
		Why: "no limit"},
	{Claim: "C52", Name: "Missed", Figures: limitsFound(0, 4, 0), Want: claims.Inconclusive, Why: "a limit of 16"},
	{Claim: "C52", Name: "Short", Figures: limitsFound(0, 4, 15), Bench: short, Want: claims.Inconclusive},
	{Claim: "C53", Name: "AsReported", Figures: far(2, 1, 1.3, 1.35, 1.3, 1.4), Want: claims.Confirmed},
	{Claim: "C53", Name: "NodesThatCostMore", Figures: far(2, 1, always(2)...), Want: claims.InDirection,
		Why: "more than 1.5 ×"},
	{Claim: "C53", Name: "NodesThatCostNothing", Figures: far(2, 1, always(1.01)...), Want: claims.Refuted},
	{Claim: "C53", Name: "NotToldApart", Figures: far(2, 0, 1.3, 1.35, 1.3, 1.4), Want: claims.Refuted,
		Why: "told apart"},
	{Claim: "C53", Name: "OneNode", Figures: far(1, 1), Want: claims.Inconclusive,
		Why: "one NUMA node only; on one that has it: 'plimsoll prove C53 --archive FILE'"},
	{Claim: "C54", Name: "Spins", Figures: spun(20, 24), Want: claims.Confirmed},
	{Claim: "C54", Name: "NoSpins", Figures: spun(0, 24), Want: claims.Refuted},
	{Claim: "C54", Name: "SmallMachine", Figures: spun(0, 2), Want: claims.Inconclusive, Why: "prove C54 --archive"},
	{Claim: "C56", Name: "SlowerWhileItLooksIdle", Figures: core(3, 60, 1), Want: claims.SmallScale,
		Why: "what fills the core: other programs"},
	{Claim: "C56", Name: "NotSlower", Figures: core(1, 60, 1), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C56", Name: "NotNamed", Figures: core(3, 60, 0), Want: claims.Inconclusive, Why: named},
	{Claim: "C56", Name: "TheMachineIsFull", Figures: core(3, 99, 1), Want: claims.Inconclusive,
		Why: "not only one core"},
	{Claim: "C57", Name: "SlowIsNotFull", Figures: users(1.3, 20, 4, 99), Want: claims.SmallScale, Why: "the job"},
	{Claim: "C57", Name: "SlowerThanClaimed", Figures: users(3, 20, 4, 99), Want: claims.SmallScale,
		Why: "surely more than ×1.5"},
	{Claim: "C57", Name: "AloneIsNotSlower", Figures: users(1, 20, 4, 99), Want: claims.Inconclusive},
	{Claim: "C57", Name: "SlowSinceFull", Figures: users(3, 95, 4, 99), Want: claims.Inconclusive, Why: busyCores},
	{Claim: "C57", Name: "NoCrowd", Figures: users(3, 20, 4, 40), Want: claims.Inconclusive, Why: "do not fill"},
	{Claim: "C58", Name: "Names", Figures: profiles(1, 10, 0.5), Want: claims.Confirmed},
	{Claim: "C58", Name: "NamesAnother", Figures: with(profiles(1, 10, 0.5), "hot-row: "+pointed, 0, 0, 0, 0),
		Want: claims.Refuted, Why: "hot-row"},
	{Claim: "C58", Name: "TwinsDifferAsMuch", Figures: profiles(1, 10, 9), Want: claims.Inconclusive,
		Why: "two healthy profiles"},
}

func TestRules(t *testing.T) { sitetest.CheckRulings(t, Experiments(), rulings) }
