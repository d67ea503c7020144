package slowness

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Turns of these experiments.
const (
	turn   = 15 * time.Second
	rounds = 4
	// between is the time of a turn besides its diagnosis.
	between = 8 * time.Second
	// least is the shortest diagnosis with enough samples.
	least = 5 * time.Second
)

// stage is the server of a part; its sides are plants.
type stage struct {
	*confusion.Stage
	// options of it, besides those that every stage has.
	options confusion.Options
}

// read makes figures of a trial.
type read func(confusion.Trial, *diagnose.Diagnosis) trial.Figures

// part with a stage of its own. Its sides are added by plant.
func (s *stage) part(b site.Bench, series ...trial.Series) trial.Part {
	length := b.Turn(turn)
	return trial.Part{Rounds: b.Rounds(rounds), Turn: length, Between: between, Series: series,
		Open: func(ctx context.Context, r *trial.Record) (err error) {
			o := s.options
			o.Clusters, o.Spec = b.Clusters, cluster.Spec{Engine: b.Engine, Memory: "512MB", SocketOnly: true}
			o.Duration = cmp.Or(o.Duration, length)
			s.Stage, err = confusion.OpenStage(ctx, o)
			if err != nil {
				return err
			}
			r.AtEnd(s.Close)
			here, _ := machine.Describe("/")
			r.Condition("machine", fmt.Sprintf("%d cores of %s, for database and users together; %s", here.Cores,
				here.CPU,
				shapeText()))
			return nil
		}}
}

// plant is a side with a planted fault. A turn is ignored if its fault took no effect.
func (s *stage) plant(name, plant string, figures read) trial.Side {
	return trial.Side{Name: name, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, _ int) (trial.Figures, error) {
			t, d, err := s.Try(ctx, plant)
			switch {
			case err != nil:
				return nil, err
			case t.Void != "" || d == nil:
				r.Say("%s is ignored: %s", name, t.Void)
				return nil, nil
			}
			if plant == confusion.Healthy {
				sayContradictions(r, d)
			}
			return figures(t, d), nil
		}, nil
	}}
}

// sayContradictions names those of a load without a fault, which should have none.
func sayContradictions(r *trial.Record, d *diagnose.Diagnosis) {
	for _, c := range d.Contradictions {
		if c.Verdict == diagnose.Contradicts {
			r.Say("%s contradicts '%s': %s", confusion.Healthy, c.Name, c.Figures)
		}
	}
}

func flag(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// The claims are about the slow system. That our diagnosis names what makes it slow is required to confirm them; where
// it does not, nothing is refuted.
func isNamed(flagged trial.Quantity) trial.Criterion {
	return trial.Criterion{Of: flagged, Confirm: trial.AtLeast(1), Unless: "the diagnosis does not name it"}
}

func isNotNamed(flagged trial.Quantity) trial.Criterion {
	return trial.Criterion{Of: flagged, Confirm: trial.AtMost(0), Unless: "the diagnosis names what is not there"}
}

// hasFinding says whether there is a finding of this name, problem or note.
func hasFinding(d *diagnose.Diagnosis, name string) bool {
	for _, f := range d.Findings {
		if f.Name == name {
			return true
		}
	}
	return false
}

func percentOf(x *float64) float64 {
	if x == nil {
		return 0
	}
	return 100 * *x
}
