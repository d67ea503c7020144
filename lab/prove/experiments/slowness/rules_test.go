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

// frozenBy is how much slower freezes make 10, 20 and 50 jobs, with freezes that were missed and wrongly named, and the
// advice on a setting without its library.
func frozenBy(ten, twenty, fifty, missed, wrong, advice float64) plant {
	p := plant{freezing + ", " + jobsSide(10, true) + ": " + jobPace: four(1000 / ten),
		freezing + ", " + jobsSide(20, true) + ": " + jobPace: four(1000 / twenty),
		freezing + ", " + jobsSide(50, true) + ": " + jobPace: four(1000 / fifty),
		jobPace: four(1000), missedStalls: always(missed), wrongStalls: always(wrong),
		libraries + ", " + notLibrary + ": " + adviceGiven:  always(advice),
		libraries + ", " + withLibrary + ": " + adviceGiven: always(0)}
	return p
}

// steps of the report: how much the network and the topology cost, and what is left against the good system; what is
// named as found, when the network is mended, and when all is.
func steps(network, topology, parity float64, found, between, mended [2]float64) plant {
	p := plant{goodSystem + ": " + stepTime: four(10), allMended + ": " + stepTime: four(10 * parity),
		networkMended + ": " + stepTime: four(10 * parity * topology),
		asFound + ": " + stepTime:       four(10 * parity * topology * network),
		tripTime:                        always(1.1), busyCores: always(40)}
	for side, named := range map[string][2]float64{asFound: found, networkMended: between, allMended: mended} {
		p[side+": "+networkNamed], p[side+": "+topologyNamed] = always(named[0]), always(named[1])
	}
	return p
}

// reportedSteps name each cause until it is mended.
func reportedSteps(network, topology, parity float64) plant {
	return steps(network, topology, parity, [2]float64{1, 1}, [2]float64{0, 1}, [2]float64{0, 0})
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
func limitsFound(none, four, sixteen, reported float64) plant {
	return plant{limitSide(0) + ": " + limitFound: always(none), limitSide(4) + ": " + limitFound: always(four),
		limitSide(16) + ": " + limitFound:            always(sixteen),
		limitSide(reportedLimit) + ": " + limitFound: always(reported)}
}

func far(nodes, told float64, cost ...float64) plant {
	return plant{nodesHere: always(nodes), toldApart: always(told), farCost: cost}
}

func spun(spins, cores float64) plant {
	return plant{spinShare: always(spins), processors: always(cores)}
}

// core is how much slower one thread makes documents, how busy the machine is, whether it is named, and of how many
// processors it is one.
func core(slower, busy, isNamed, cores float64) plant {
	return plant{manyThreads + ": " + documentTime: four(1), oneThread + ": " + documentTime: four(slower),
		oneThread + ": " + busyCores: always(busy), oneThread + ": " + named: always(isNamed),
		processors: always(cores)}
}

// users: how much slower the network and the crowd make one, and how busy the machine is with each.
func users(slow, idle, full, busy float64) plant {
	return plant{alone + ": " + stepTime: four(1), aloneFar + ": " + stepTime: four(slow),
		crowd + ": " + stepTime:     four(full),
		aloneFar + ": " + busyCores: always(idle), crowd + ": " + busyCores: always(busy),
		alone + ": " + networkNamed: always(0), aloneFar + ": " + networkNamed: always(1),
		aloneFar + ": " + tripTime: always(1.1)}
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
	{Claim: "C39", Name: "Named", Figures: frozenBy(2, 2, 2, 0, 0, 1), Want: claims.SmallScale,
		Why: "seconds of a freeze: 2, the report's 15, at random"},
	{Claim: "C39", Name: "AsReported", Bench: site.Bench{Full: true}, Figures: frozenBy(2, 3, 11, 0, 0, 1),
		Want: claims.SmallScale, Why: "PostgreSQL 15 keeps no such file"},
	{Claim: "C39", Name: "LessThanReported", Bench: site.Bench{Full: true}, Figures: frozenBy(2, 2, 2, 0, 0, 1),
		Want: claims.SmallScale, Why: "is surely less than ×8.8"},
	{Claim: "C39", Name: "NotNamed", Figures: frozenBy(2, 2, 2, 1, 0, 1), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C39", Name: "NotSlower", Figures: frozenBy(1, 1, 1, 0, 0, 1), Want: claims.Inconclusive,
		Why: "times slower with 10 jobs"},
	{Claim: "C39", Name: "NamedWhereThereAreNone", Figures: frozenBy(2, 2, 2, 0, 1, 1), Want: claims.Refuted,
		Why: wrongStalls},
	{Claim: "C39", Name: "LibraryNotNamed", Figures: frozenBy(2, 2, 2, 0, 0, 0), Want: claims.Refuted,
		Why: adviceGiven},
	{Claim: "C39", Name: "Sometimes", Figures: with(frozenBy(2, 2, 2, 0, 0, 1), freezing+", "+jobsSide(20, true)+": "+
		missedStalls, 0, 0, 1, 0), Want: claims.Inconclusive, Why: missedStalls},
	{Claim: "C39", Name: "Short", Figures: frozenBy(2, 2, 2, 0, 0, 1), Bench: short, Want: claims.Inconclusive,
		Why: "turns are shorter"},
	{Claim: "C50", Name: "AsReported", Figures: reportedSteps(1.21, 1.06, 1), Want: claims.SmallScale,
		Why: "what the wrong topology costs: nothing"},
	{Claim: "C50", Name: "NetworkCostsMore", Figures: reportedSteps(5, 1.06, 1), Want: claims.SmallScale,
		Why: "surely more than ×1.3"},
	{Claim: "C50", Name: "TopologyCostsNothing", Figures: reportedSteps(1.21, 1, 1), Want: claims.SmallScale,
		Why: "is not surely at least ×1.03"},
	{Claim: "C50", Name: "NetworkCostsNothing", Figures: reportedSteps(0.97, 1, 1), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C50", Name: "NoParity", Figures: reportedSteps(1.21, 1.06, 1.5), Want: claims.Inconclusive,
		Why: "time with all mended against the good system"},
	{Claim: "C50", Name: "NetworkNotNamed", Figures: steps(1.21, 1.06, 1, [2]float64{0, 1}, [2]float64{0, 1},
		[2]float64{0, 0}), Want: claims.Inconclusive, Why: networkNamed + " of as found"},
	{Claim: "C50", Name: "StillNamedWhenMended", Figures: steps(1.21, 1.06, 1, [2]float64{1, 1}, [2]float64{1, 1},
		[2]float64{0, 0}), Want: claims.Inconclusive, Why: networkNamed + " of network mended"},
	{Claim: "C50", Name: "NoDelay", Figures: with(reportedSteps(1.21, 1.06, 1), asFound+": "+tripTime,
		always(0.1)...), Want: claims.Inconclusive, Why: "the delay is not there"},
	{Claim: "C50", Name: "Around", Figures: with(reportedSteps(1.21, 1.06, 1), asFound+": "+stepTime, 8, 14, 8, 14),
		Want: claims.Inconclusive},
	{Claim: "C51", Name: "AllShown", Figures: contradictionsOf(1, 0), Want: claims.Confirmed},
	{Claim: "C51", Name: "OneNotShown", Figures: with(contradictionsOf(1, 0), "hot-row: "+shown, 0, 0, 0, 0),
		Want: claims.Refuted, Why: "hot-row"},
	{Claim: "C51", Name: "ShownWithoutFault", Figures: contradictionsOf(1, 1), Want: claims.Refuted, Why: "healthy"},
	{Claim: "C51", Name: "OneVoid", Figures: with(contradictionsOf(1, 0), "filled-core: "+shown),
		Want: claims.Inconclusive, Why: "too few turns"},
	{Claim: "C52", Name: "Found", Figures: limitsFound(0, 4, 15, 62), Want: claims.Confirmed},
	{Claim: "C52", Name: "DiskTakesFewer", Figures: limitsFound(0, 4, 15, 32), Want: claims.SmallScale,
		Why: "a limit of 64: 32"},
	{Claim: "C52", Name: "FoundWhereThereIsNone", Figures: limitsFound(60, 4, 15, 62), Want: claims.Inconclusive,
		Why: "no limit"},
	{Claim: "C52", Name: "Missed", Figures: limitsFound(0, 4, 0, 62), Want: claims.Refuted, Why: "a limit of 16"},
	{Claim: "C52", Name: "FoundLarger", Figures: limitsFound(0, 4, 30, 62), Want: claims.Refuted,
		Why: "a limit of 16"},
	{Claim: "C52", Name: "FoundElsewhere", Figures: limitsFound(0, 4, 8, 8), Want: claims.Inconclusive,
		Why: "a limit of 16"},
	{Claim: "C52", Name: "Short", Figures: limitsFound(0, 4, 15, 62), Bench: short, Want: claims.Inconclusive},
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
	{Claim: "C56", Name: "SlowerWhileItLooksIdle", Figures: core(3, 20, 1, 24), Want: claims.Confirmed},
	{Claim: "C56", Name: "OneOfTwo", Figures: core(3, 60, 1, 2), Want: claims.SmallScale, Why: "processors"},
	{Claim: "C56", Name: "NotSlower", Figures: core(1, 20, 1, 24), Want: claims.Refuted, Why: "surely less than ×1.05"},
	{Claim: "C56", Name: "NotSlowerOfTwo", Figures: core(1, 60, 1, 2), Want: claims.Inconclusive,
		Why: "a smaller situation refutes nothing"},
	{Claim: "C56", Name: "NotNamed", Figures: core(3, 20, 0, 24), Want: claims.Inconclusive, Why: "does not name it"},
	{Claim: "C56", Name: "TheMachineIsFull", Figures: core(3, 99, 1, 2), Want: claims.Inconclusive,
		Why: "not only one core"},
	{Claim: "C57", Name: "SlowIsNotFull", Figures: users(1.3, 20, 4, 99), Want: claims.Confirmed},
	{Claim: "C57", Name: "SlowerThanClaimed", Figures: users(3, 20, 4, 99), Want: claims.InDirection,
		Why: "surely more than ×1.5"},
	{Claim: "C57", Name: "AloneIsNotSlower", Figures: users(1, 20, 4, 99), Want: claims.Refuted,
		Why: "surely less than ×1.04"},
	{Claim: "C57", Name: "SlowSinceFull", Figures: users(3, 95, 4, 99), Want: claims.Refuted, Why: busyCores},
	{Claim: "C57", Name: "NotNamed", Figures: with(users(1.3, 20, 4, 99), aloneFar+": "+networkNamed, always(0)...),
		Want: claims.Inconclusive, Why: "does not name it"},
	{Claim: "C57", Name: "NamedWhereItIsNotSlow", Figures: with(users(1.3, 20, 4, 99), alone+": "+networkNamed,
		always(1)...), Want: claims.Inconclusive, Why: "names what is not there"},
	{Claim: "C57", Name: "NoDelay", Figures: with(users(1.3, 20, 4, 99), aloneFar+": "+tripTime, always(0.1)...),
		Want: claims.SmallScale, Why: tripTime},
	{Claim: "C57", Name: "NoCrowd", Figures: users(3, 20, 4, 40), Want: claims.Inconclusive, Why: "do not fill"},
	{Claim: "C58", Name: "Names", Figures: profiles(1, 10, 0.5), Want: claims.Confirmed},
	{Claim: "C58", Name: "NamesAnother", Figures: with(profiles(1, 10, 0.5), "hot-row: "+pointed, 0, 0, 0, 0),
		Want: claims.Refuted, Why: "hot-row"},
	{Claim: "C58", Name: "TwinsDifferAsMuch", Figures: profiles(1, 10, 9), Want: claims.Inconclusive,
		Why: "two healthy profiles"},
}

func TestRules(t *testing.T) { sitetest.CheckRulings(t, Experiments(), rulings) }
