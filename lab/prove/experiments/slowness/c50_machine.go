package slowness

import (
	"fmt"

	"plimsoll/ground/host/topology"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides and figures of C50.
const (
	direct, distant = "direct", "through a network of 2 ms"
	stepTime        = "time of an operation"
	// networkCost is the report's first step: 1,492 min against 1,233.
	networkCost = 1492.0 / 1233
	// The band around it.
	networkLow, networkHigh = 1.12, 1.30
)

// roundTripFigures is the time of the users whose operation has several round trips.
func roundTripFigures(t confusion.Trial, _ *diagnose.Diagnosis) trial.Figures {
	return trial.Figures{stepTime: t.Users["office"].MeanMS}
}

// networkAndTopology is the experiment behind C50: its first step here, its second where there is a second socket.
func networkAndTopology(b site.Bench, _ *site.Site) trial.Trial {
	s := &stage{}
	part := s.part(b, trial.Series{Name: stepTime, Unit: "ms"})
	part.Sides = []trial.Side{s.plant(direct, confusion.Healthy, roundTripFigures),
		s.plant(distant, "slow-network", roundTripFigures)}
	slower := trial.Ratio{Of: trial.At(distant, stepTime), To: trial.At(direct, stepTime)}
	part.Measured = []trial.Phrase{trial.Say("with 2 ms more per round trip, an operation of four round trips takes %s",
		slower)}
	return trial.Trial{
		Text:  "operations of several round trips, directly and through a slow network",
		Parts: []trial.Part{part}, Overhead: 2 * between,
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)},
			Situation: []trial.Condition{
				trial.Absent("the system", "an application, its network and its hypervisor",
					"an operation of four round trips"),
				trial.Absent("steps", "network, topology, parity", "the network's alone")},
		}.Times(slower, networkLow, networkHigh),
		Conditions: []claims.Condition{
			{Name: "second step", Text: "the cost of a topology is measured by C53 and by 'plimsoll topology " +
				"--compare'"},
			{Name: "bar", Text: fmt.Sprintf("×%.2f, the cost of the network between the tiers in the report",
				networkCost)}},
	}
}

func shapeText() string {
	shape, err := topology.Read("/")
	if err != nil {
		return "this machine shows no topology"
	}
	return fmt.Sprintf("this machine shows %d sockets, %d cores, %d threads, %d nodes", shape.Sockets, shape.Cores,
		shape.CPUs, shape.Nodes)
}
