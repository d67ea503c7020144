package slowness

import (
	"context"
	"math"
	"os"

	"plimsoll/ground/host/topology"
	"plimsoll/lab/diagnose/layout"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Figures and bars of C53.
const (
	farCost   = "memory of another node against a node's own"
	toldApart = "the report's topologies told apart"
	nodesHere = "nodes"
	probes    = "probes"
	// The report's cost of crossing nodes.
	farFrom, farTo = 1.2, 1.5
)

// farMemory is the experiment behind C53: probes on this machine, and the files of both machines of the report.
func farMemory(b site.Bench, _ *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(rounds), Turn: b.Turn(turn),
		Series: []trial.Series{{Name: farCost, Unit: "×"}, {Name: toldApart}, {Name: nodesHere}}}
	part.Sides = []trial.Side{{Name: probes, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		r.Condition("topology", shapeText())
		return func(ctx context.Context, _ int) (trial.Figures, error) {
			r, err := layout.Take(ctx, layout.Options{Within: part.Turn})
			if err != nil {
				return nil, err
			}
			apart, err := reportsTopologies()
			f := trial.Figures{toldApart: flag(apart), nodesHere: float64(max(1, len(r.Topology.Nodes)))}
			if far, near := r.Far(); !math.IsNaN(far / near) {
				f[farCost] = far / near
			}
			return f, err
		}, nil
	}}}
	cost := trial.Every{Of: trial.At(probes, farCost), Unit: "×"}
	apart := trial.Every{Of: trial.At(probes, toldApart)}
	nodes := trial.Every{Of: trial.At(probes, nodesHere)}
	part.Measured = []trial.Phrase{trial.Say("NUMA nodes: %s; the report's topologies told apart (1: yes, 0: no): %s",
		nodes, apart)}
	return trial.Trial{
		Text: "latency of each node's memory from the processors of each node, and the report's two topologies, " +
			"judged from files",
		Parts: []trial.Part{part},
		Rules: trial.Rules{Requires: []trial.Criterion{{Of: nodes, Confirm: trial.AtLeast(2),
			Unless: "cannot be had here: this machine has one NUMA node only; " + site.OnLarger("C53")}},
			Direction: []trial.Criterion{
				{Of: apart, Confirm: trial.AtLeast(1), Refute: trial.Below(1)},
			}}.Effect(cost, 1, farFrom, farTo),
		Conditions: []claims.Condition{{Name: "report's topologies", Text: "24 sockets of one core in two nodes must " +
			"be judged impossible, 2 sockets of 8 cores with two threads each must not"}},
	}
}

// reportsTopologies says whether the slow topology is judged impossible and the good one is not.
func reportsTopologies() (apart bool, err error) {
	root, err := os.MkdirTemp("", "plimsoll-topology-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(root)
	if err := confusion.PlantTopology(root); err != nil {
		return false, err
	}
	slow, err := topology.Read(root)
	good := topology.Shape{Sockets: 2, Cores: 16, CPUs: 32, Nodes: 2}
	return len(slow.Impossible()) > 0 && len(good.Impossible()) == 0, err
}
