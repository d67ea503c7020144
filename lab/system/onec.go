package system

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
)

// OutfitOf the load that was named, "1c" or "1c+memory"; false: it is the ERP's.
func OutfitOf(load string) (onec.Outfit, bool) {
	name, outfit, _ := strings.Cut(load, "+")
	return onec.Outfit(outfit), name == string(scenario.OneC)
}

// EnsureOneC creates the database of a 1C base in a running cluster if it is missing. The outfit is the one asked for,
// or the most that the server has; the connection string has its settings.
func EnsureOneC(ctx context.Context, c *cluster.Cluster, asked onec.Outfit) (dsn string, o onec.Outfit, err error) {
	server, err := onec.Probe(ctx, c.DSN("").Secret())
	if err != nil {
		return "", asked, err
	}
	if o, err = asked.On(server); err != nil {
		return "", o, err
	}
	_, err = c.EnsureDatabase(ctx, o.Database())
	return postgres.WithOptions(c.DSN(o.Database()).Secret(), o.Options(server)), o, err
}

// bringOneC brings up the server of a 1C load and makes its base if it is missing.
func (s *servers) bringOneC(ctx context.Context, y *System) (err error) {
	switch {
	case y.DSN != "" && y.Outfit != onec.Auto:
		return problem.New(problem.Usage, errors.New("the base of --dsn decides what a 1C load uses"),
			"--load 1c; the server's settings and the connection string's options say the rest")
	case y.DSN != "":
		y.Run.DSN = y.DSN
	default:
		if err := s.makeOneC(ctx, y); err != nil {
			return err
		}
	}
	from, err := y.Reset.StartsFrom(ctx, y.Run.Scenario, y.Run.DSN, false)
	if err != nil {
		return err
	}
	base, err := onec.Look(ctx, from)
	if err != nil {
		return err
	}
	y.base = Base{Documents: int64(base.Documents), Size: base.Disk, Catalogs: []Catalog{
		{"items", int64(base.Items)}, {"partners", int64(base.Partners)}, {"warehouses", int64(base.Warehouses)}}}
	y.Run.Scale = base.String()
	if y.Outfit != onec.Auto {
		y.Run.Scale += "; " + string(y.Outfit)
	}
	return nil
}

func (s *servers) makeOneC(ctx context.Context, y *System) (err error) {
	if y.Cluster, y.Engine, err = s.Clusters.ChooseOrMake(ctx, y.Cluster, y.Engine); err != nil {
		return err
	}
	r := s.rigs[y.Cluster]
	if r == nil {
		if r, err = s.bare(ctx, y.Cluster, cluster.Spec{Engine: y.Engine}); err != nil {
			return err
		}
	}
	s.put(y, r)
	y.Run.Profile = r.Profile()
	if y.Run.DSN, y.Outfit, err = EnsureOneC(ctx, r.Cluster(), y.Outfit); err != nil {
		return err
	}
	o := s.OneC
	if o.Sizes == (onec.Sizes{}) {
		o.Sizes = onec.DefaultSizes()
	}
	o.Plain = y.Outfit == onec.Plain
	done, err := onec.Fill(ctx, y.Run.DSN, o)
	switch {
	case errors.Is(err, onec.ErrNotEmpty):
		return nil
	case err != nil:
		return fmt.Errorf("fill the 1C base: %w", err)
	}
	s.say("filled a %s, in %.1f s", done.Base, done.Elapsed.Seconds())
	_, err = Keep(ctx, y.Run.DSN, s.say)
	return err
}
