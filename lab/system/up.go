package system

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/onec"
)

// Local is this machine as the place of systems.
type Local struct {
	Clusters *cluster.Store
	Serve    []string         // command of one application server (lab/run)
	Fill     fill.Options     // of a base that is missing
	OneC     onec.FillOptions // of a 1C base that is missing; no sizes: the usual ones
	// Say reports what is made, because that takes time and stays; nil is silence.
	Say func(format string, args ...any)
}

func (l Local) say(format string, args ...any) {
	if l.Say != nil {
		l.Say(format, args...)
	}
}

// Up brings up what the systems run on, each cluster once, makes what is missing, and sets what of their Run depends on
// it. It refuses systems whose bases hold different data. down stops what was started, the last first; after an error
// that is done already. label is how errors call a system, by its index; nil: they do not. A system without a scenario,
// which is a command, needs nothing.
func (l Local) Up(ctx context.Context, label func(int) string, systems ...*System) (down func() error, err error) {
	s := &servers{Local: l, rigs: map[string]*Rig{}, bases: map[string]Base{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for i, y := range systems {
		if y.Run.Scenario == nil {
			continue
		}
		err := s.bring(ctx, y)
		if err != nil && label != nil {
			err = problem.WithHint(fmt.Errorf("%s: %w", label(i), err), problem.HintOf(err))
		}
		if err != nil {
			return nil, err
		}
	}
	return s.close, sameData(systems)
}

// servers are what systems run on.
type servers struct {
	Local
	rigs  map[string]*Rig // by cluster
	taken []*Rig
	bases map[string]Base // by connection string
}

func (s *servers) close() (err error) {
	for _, r := range slices.Backward(s.taken) {
		err = errors.Join(err, r.Close())
	}
	s.taken = nil
	return err
}

func (s *servers) bring(ctx context.Context, y *System) (err error) {
	y.Run.Serve = slices.Concat(s.Serve, y.Shape.Arguments(), y.WorkerFlags)
	switch {
	case y.OneC():
		return s.bringOneC(ctx, y)
	case y.DSN != "":
		y.Run.DSN = y.DSN
	case y.Cluster == "" && !y.ERP() && !y.Run.Scenario.NeedsDatabase():
		return nil // requests alone
	case y.ERP() && len(y.Run.URLs) == 0:
		err = s.make(ctx, y)
	default:
		err = s.take(ctx, y)
	}
	if err != nil || !y.ERP() {
		return err
	}
	y.base, err = s.look(ctx, y)
	y.Run.Scale = y.base.String()
	return err
}

// make the system's cluster and base where they are missing.
func (s *servers) make(ctx context.Context, y *System) (err error) {
	if y.Cluster, y.Engine, err = s.Clusters.ChooseOrMake(ctx, y.Cluster, y.Engine); err != nil {
		return err
	}
	r := s.rigs[y.Cluster]
	if r == nil {
		r, err = s.Rig(ctx, y.Cluster, cluster.Spec{Engine: y.Engine})
	} else {
		err = r.fill(ctx, s.Local) // it was taken as it is by a system without the ERP
	}
	if err == nil {
		s.put(y, r)
		y.Run.Profile = r.Profile()
	}
	return err
}

// take the system's cluster, which runs: application servers that run already have a base, and one that is made here
// would be another.
func (s *servers) take(ctx context.Context, y *System) error {
	c, err := s.Clusters.Running(ctx, y.Cluster)
	switch {
	case err != nil && y.Cluster != "":
		return err // whose hint says how to start it
	case err != nil && y.ERP():
		return problem.WithHint(err, "--url needs the database of those workers: --dsn, or a cluster that runs")
	case err != nil:
		return problem.WithHint(err, "the scenario speaks to a database: name it with --dsn, or start a cluster with "+
			"'plimsoll up'")
	}
	y.Cluster = c.Name()
	r := s.rigs[y.Cluster]
	if r == nil {
		if r, err = Take(ctx, c); err != nil {
			return err
		}
	}
	s.put(y, r)
	return nil
}

func (s *servers) put(y *System, r *Rig) {
	if s.rigs[y.Cluster] == nil {
		s.rigs[y.Cluster], s.taken = r, append(s.taken, r)
	}
	y.rig, y.Run.DSN = r, r.DSN().Secret()
}

// look at the base that the system's runs start from.
func (s *servers) look(ctx context.Context, y *System) (Base, error) {
	from, err := y.Reset.StartsFrom(ctx, y.Run.Scenario, y.Run.DSN, len(y.Run.URLs) > 0)
	if err != nil {
		return Base{}, err
	}
	b, found := s.bases[from]
	if !found {
		b, err = Look(ctx, from)
		s.bases[from] = b
	}
	return b, err
}

// sameData refuses to compare systems of the ERP whose bases hold different data.
func sameData(systems []*System) error {
	var first *System
	for _, y := range systems {
		switch {
		case y.Run.Scenario == nil || !y.ERP() && !y.OneC():
		case first == nil:
			first = y
		case !first.base.Like(y.base):
			hint := "fill both with the same numbers: plimsoll fill"
			if y.DSN == "" {
				hint = fmt.Sprintf("give both the same one: 'plimsoll down %[1]s && plimsoll destroy %[1]s', and "+
					"it is created and filled again, or 'plimsoll fill' with the same numbers", y.Cluster)
			}
			return problem.New(problem.Usage, fmt.Errorf("the bases of %s and %s differ: %s; %s", first.Target,
				y.Target, first.base, y.base), hint)
		}
	}
	return nil
}
