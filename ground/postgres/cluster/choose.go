package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Choose returns the name of the cluster that a user means: the named one; else the one that runs; else the only one
// there is; else "".
func (s *Store) Choose(ctx context.Context, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	all, err := s.Status(ctx)
	if err != nil {
		return "", err
	}
	var running, ours []string
	for _, one := range all {
		if one.State == Foreign {
			continue
		}
		ours = append(ours, one.Name)
		if one.State == Running {
			running = append(running, one.Name)
		}
	}
	candidates := running
	if len(running) == 0 {
		candidates = ours
	}
	switch {
	case len(candidates) == 0:
		return "", nil
	case len(candidates) == 1:
		return candidates[0], nil
	case slices.Contains(candidates, installation.Plimsoll):
		return installation.Plimsoll, nil
	}
	return "", problem.New(problem.Usage, fmt.Errorf("which cluster? there are %s", strings.Join(candidates, ", ")),
		"name one with --cluster or in the configuration file")
}

// ChooseOrMake is Choose for commands that create the cluster if it is missing: then it is named after its flavour, and
// of says which engine to create it with. An engine that is requested by its flavour means that cluster, whichever else
// runs. Any other name that no cluster has is taken for a slip.
func (s *Store) ChooseOrMake(ctx context.Context, name, engine string) (chosen, of string, err error) {
	if name == "" && installation.IsFlavour(engine) {
		return engine, engine, nil
	}
	chosen, err = s.Choose(ctx, name)
	switch {
	case err != nil:
	case chosen == "":
		chosen, err = s.nameOf(ctx, engine)
	default:
		err = s.known(ctx, chosen, engine)
	}
	return chosen, installation.EngineFor(chosen, engine), err
}

// nameOf a cluster that is created with this engine.
func (s *Store) nameOf(ctx context.Context, engine string) (string, error) {
	found, err := installation.Find(ctx, engine)
	if note := found.Note(); err == nil && note != "" {
		s.say("%s", note)
	}
	return found.Flavour, err
}

// known checks that a cluster is there, or is to be created, and has the requested engine: figures would otherwise be
// those of another.
func (s *Store) known(ctx context.Context, name, engine string) error {
	c, err := s.Find(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && installation.IsFlavour(name):
		return nil
	case errors.Is(err, fs.ErrNotExist): // perhaps a mistyped flavour
		return problem.New(problem.Usage, err, human.NearestHint(name, append(s.Names(), installation.Flavours...),
			"plimsoll up "+name+" creates it"))
	case err != nil:
		return err
	}
	return problem.WithHint(c.SameEngine(ctx, engine),
		"leave out --engine, or create another cluster: plimsoll up NAME --engine "+engine)
}

// Chosen is the cluster that Choose names.
func (s *Store) Chosen(ctx context.Context, name string) (*Cluster, error) {
	name, err := s.Choose(ctx, name)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, problem.New(problem.Environment, errors.New("there is no local cluster"),
			"create and start one: plimsoll up")
	}
	return s.Find(name)
}

// Running is the cluster that Choose names, which must run.
func (s *Store) Running(ctx context.Context, name string) (*Cluster, error) {
	c, err := s.Chosen(ctx, name)
	if err != nil {
		return nil, err
	}
	return c, c.MustRun(ctx)
}

// MustRun is an error if the cluster does not run.
func (c *Cluster) MustRun(ctx context.Context) error {
	state := c.Status(ctx).State
	if state == Running {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("cluster %s is %s", c.Name(), state),
		"start it: plimsoll up "+c.Name())
}

// Names of all clusters; none if the folder cannot be read.
func (s *Store) Names() (names []string) {
	all, _ := s.List()
	for _, c := range all {
		names = append(names, c.Name())
	}
	return names
}
