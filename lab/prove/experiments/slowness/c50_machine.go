package slowness

import (
	"context"
	"fmt"
	"os"
	"time"

	"plimsoll/ground/host/topology"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides of C50: the report's steps, and the good system.
const (
	asFound       = "as found"
	networkMended = "network mended"
	allMended     = "topology mended, too"
	goodSystem    = "the good system"
)

// Figures and bars of C50 and C57.
const (
	stepTime      = "time of an operation"
	tripTime      = "round trip between worker and database"
	networkNamed  = "network named"
	topologyNamed = "topology named"

	// The report's steps: 1,492 min, 1,233 and 1,162; bands around their ratios.
	networkCost, networkLow, networkHigh    = 1492.0 / 1233, 1.12, 1.30
	topologyCost, topologyLow, topologyHigh = 1233.0 / 1162, 1.03, 1.10
	// parityMargin is how far two equal systems are apart at most.
	parityMargin = 1.1
	// officeThink leaves the processors room: where they are full, more users hide a slow network.
	officeThink = 500 * time.Millisecond
	// tripLeast of the planted delay must be there, in ms.
	tripLeast = 0.8
)

// networkGaps is the finding that names a slow network.
const networkGaps = "client-or-network-gaps"

// networkAndTopology is the experiment behind C50: our ERP over a network of its own, mended step by step as the
// diagnosis says.
func networkAndTopology(b site.Bench, _ *site.Site) trial.Trial {
	o := newOffice(b, 0, officeDelay)
	part := o.part(trial.Series{Name: stepTime, Unit: "ms"}, trial.Series{Name: tripTime, Unit: "ms"},
		trial.Series{Name: networkNamed}, trial.Series{Name: topologyNamed}, trial.Series{Name: busyCores, Unit: "%"})
	for _, side := range []struct {
		name        string
		slow, lying bool
	}{{asFound, true, true}, {networkMended, false, true}, {allMended, false, false}, {goodSystem, false, false}} {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				return o.step(ctx, r, side.slow, side.lying)
			}})
	}
	at := func(side, series string) trial.Every { return trial.Every{Of: trial.At(side, series)} }
	against := func(side, other, as string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side, stepTime), To: trial.At(other, stepTime), As: as}
	}
	network := against(asFound, networkMended, "time of an operation before the network was mended against after")
	topology := against(networkMended, allMended, "time before the topology was mended against after")
	parity := against(allMended, goodSystem, "time with all mended against the good system")
	trip := trial.Every{Of: trial.At(asFound, tripTime), Unit: "ms"}
	part.Measured = []trial.Phrase{
		trial.Say("an operation takes %s ms as found, with a round trip of %s between worker and database; the "+
			"network cost %s, the topology %s; mended against the good system %s",
			trial.Spread{Of: trial.At(asFound, stepTime), Format: "%.1f"}, trip, network, topology, parity),
		trial.Say("the diagnosis names (1: yes, 0: no) the network %s as found and %s when mended, the topology %s "+
			"and %s", at(asFound, networkNamed), at(networkMended, networkNamed), at(networkMended, topologyNamed),
			at(allMended, topologyNamed))}
	rules := trial.Rules{
		Requires: []trial.Criterion{site.TurnsOf(part.Turn, least),
			{Of: trip, Confirm: trial.AtLeast(tripLeast * ms(officeDelay)), Unless: "the delay is not there"}},
		Direction: []trial.Criterion{isNamed(at(asFound, networkNamed)), isNamed(at(networkMended, topologyNamed)),
			isNotNamed(at(networkMended, networkNamed)), isNotNamed(at(allMended, topologyNamed)),
			{Of: parity, Confirm: trial.Within(1/parityMargin, parityMargin),
				Refute: trial.Outside(1/parityMargin, parityMargin), Unless: "no parity"}},
		Situation: append(site.WithRoom(trial.At(asFound, busyCores)),
			site.AtWork(site.Clients, "40 jobs"),
			trial.Absent("what the wrong topology costs", "×1.06", "nothing: files show the diagnosis the report's, "+
				"and the processors of this machine stay as they are")),
	}.Times(network, networkLow, networkHigh)
	rules.Size = append(rules.Size, trial.Band{Of: topology, None: 1, Low: topologyLow, High: topologyHigh})
	return trial.Trial{
		Text: fmt.Sprintf("%d users post documents on an ERP of three tiers, as found with a slow network and a wrong "+
			"topology, and mended step by step", site.Clients),
		Parts: []trial.Part{part}, Overhead: officeMaking + deskMaking(4, site.Clients), Rules: rules,
		Conditions: []claims.Condition{officeCondition(officeThink), networkCondition(),
			{Name: "steps", Text: fmt.Sprintf("the report: 1,492 min, network ×%.2f, topology ×%.2f, then parity. The "+
				"cost of a topology is measured by C53 and by 'plimsoll topology --compare'", networkCost,
				topologyCost)}},
	}
}

// step of the report.
func (o *office) step(ctx context.Context, r *trial.Record, slow, lying bool) (trial.Turn, error) {
	a, root := arrangement{users: site.Clients, network: o.networks[0]}, ""
	if slow {
		a.network = o.networks[officeDelay]
	}
	if lying {
		var err error
		if root, err = os.MkdirTemp("", "plimsoll-topology-"); err != nil {
			return nil, err
		}
		r.AtEnd(func() error { return os.RemoveAll(root) })
		if err := confusion.PlantTopology(root); err != nil {
			return nil, err
		}
	}
	dsn, err := o.copy(ctx)
	if err != nil {
		return nil, err
	}
	d, err := newDesk(ctx, o.bench, dsn, a, r.AtEnd)
	if err != nil {
		return nil, err
	}
	// In this process, which can be shown another topology.
	diagnosed := func(ctx context.Context, length time.Duration) (*diagnose.Diagnosis, error) {
		return diagnose.Run(ctx, diagnose.Options{DSN: dsn, Duration: beforeTheEnd(length),
			Rate: diagnose.RateDefault, Root: root})
	}
	return func(ctx context.Context, n int) (trial.Figures, error) {
		times, found, err := d.watched(ctx, o.bench.Turn(turn), officeThink, n, diagnosed)
		if err != nil {
			return nil, err
		}
		f := trial.Figures{stepTime: site.Mean(times), tripTime: ms(d.trip),
			networkNamed: flag(namesNetwork(found)), topologyNamed: flag(contradicts(found, "topology"))}
		busyOf(f, found)
		return f, nil
	}, nil
}

// deskMaking is about what the desks of a part take to be made: base, worker, sessions, warming up.
func deskMaking(desks, users int) time.Duration {
	return time.Duration(desks) * (5*time.Second + time.Duration(users)*time.Second)
}

func officeCondition(think time.Duration) claims.Condition {
	text := "without think time"
	if think > 0 {
		text = fmt.Sprintf("who think %s on average", think)
	}
	return claims.Condition{Name: "load", Text: fmt.Sprintf("users %s post and change documents over HTTP on a worker "+
		"of our ERP in the classic shape, each key operation by its weight; the base has scale %g (report: the "+
		"month's jobs of an ERP)", text, officeScale)}
}

func networkCondition() claims.Condition {
	return claims.Condition{Name: "network", Text: fmt.Sprintf("the worker is in a network namespace of its own, "+
		"whose link of two tun devices holds each packet back: to the database it is another machine; slow "+
		"means that a round trip takes %s longer (report: without a figure). Users reach the worker without the "+
		"delay", officeDelay)}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func shapeText() string {
	shape, err := topology.Read("/")
	if err != nil {
		return "this machine shows no topology"
	}
	return fmt.Sprintf("this machine shows %d sockets, %d cores, %d threads, %d nodes", shape.Sockets, shape.Cores,
		shape.CPUs, shape.Nodes)
}
