package costs

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/system"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/worker/shape"
)

// Sides brings up the servers of a profile: the one that is meant, or if none is named one of each flavour that is
// built. The sides are every shape on each, with tweaks also classic with each tweak alone. down stops what was started;
// after an error that is done already.
func Sides(ctx context.Context, here system.Local, meant system.Target, tweaks bool) (sides []Side, down func() error,
	err error) {
	if meant.DSN != "" {
		return shapes("given", meant.DSN, tweaks), func() error { return nil }, nil
	}
	var rigs []*system.Rig
	down = func() (err error) {
		for _, r := range slices.Backward(rigs) {
			err = errors.Join(err, r.Close())
		}
		return err
	}
	names, err := servers(ctx, here, meant)
	for _, name := range names {
		spec := cluster.Spec{Engine: installation.EngineFor(name, meant.Engine)}
		r, err := here.Rig(ctx, name, spec)
		if err != nil {
			return nil, nil, errors.Join(err, down())
		}
		rigs = append(rigs, r)
		sides = append(sides, shapes(name, r.DSN().Secret(), tweaks)...)
	}
	return sides, down, err
}

func servers(ctx context.Context, here system.Local, meant system.Target) (names []string, err error) {
	if meant.Cluster == "" && meant.Engine == "" {
		for _, flavour := range []string{installation.Vanilla, installation.Plimsoll} {
			_, err := installation.Find(ctx, flavour)
			if err == nil {
				names = append(names, flavour)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		if len(names) > 0 {
			return names, nil
		}
	}
	name, _, err := here.Clusters.ChooseOrMake(ctx, meant.Cluster, meant.Engine)
	if err != nil {
		return nil, err
	}
	return []string{name}, nil
}

// tweaksAlone are those of classic, as tuned has them.
var tweaksAlone = []shape.Tweaks{
	{TempPool: shape.TempPoolTweak}, {Jitter: shape.LifetimeTweak}, {Clearing: shape.ClearingTweak},
	{Chain: shape.ChainTweak},
}

// shapes are the sides on one server.
func shapes(server, dsn string, tweaks bool) (sides []Side) {
	add := func(s system.Shape) {
		made, err := s.Worker()
		if err != nil {
			panic(err) // cannot be: shapes and tweaks are constants
		}
		s.Durability = string(durability.Server) // workers of one base have the same, and a wait costs no work
		sides = append(sides, Side{Server: server, DSN: dsn, Shape: made.String(), Flags: s.Arguments()})
	}
	for _, name := range shape.Names {
		add(system.Shape{Name: name})
		if name != shape.Classic || !tweaks {
			continue
		}
		for _, one := range tweaksAlone {
			add(system.Shape{Name: name, Tweaks: one})
		}
	}
	return sides
}
