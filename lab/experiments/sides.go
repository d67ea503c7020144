package experiments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/cluster"
	"plimsoll/lab/machine"
	"plimsoll/lab/postgres"
	"plimsoll/lab/ratio"
	"plimsoll/platform/database"
)

// sides are the variants of one experiment, measured in turns. The first is the base.
type sides struct {
	names  []string
	turn   time.Duration
	rounds int
	// run makes one turn of one side and adds what it measured.
	run func(ctx context.Context, side, turn int) (figures, error)
}

// figures of one turn, by name.
type figures map[string]float64

// series of a side: the figures of its turns, by name.
type series map[string][]float64

// measure takes the turns. What was made comes back when ctx ends; partial then says so.
func (s sides) measure(ctx context.Context, b Bench) (made []series, partial bool, err error) {
	made = make([]series, len(s.names))
	for i := range made {
		made[i] = series{}
	}
	order := ratio.Rotation(len(s.names), s.rounds, 1)
	for k, side := range order {
		b.step(float64(k)/float64(len(order)), time.Duration(len(order)-k)*s.turn, s.names[side])
		f, err := s.run(ctx, side, k)
		switch {
		case ctx.Err() != nil && k > len(s.names):
			return made, true, nil
		case ctx.Err() != nil:
			return made, false, ctx.Err()
		case err != nil:
			return made, false, fmt.Errorf("%s: %w", s.names[side], err)
		}
		for name, figure := range f {
			made[side][name] = append(made[side][name], figure)
		}
	}
	return made, false, nil
}

// against is the ratio of a figure of a side to that of the base.
func against(base, variant series, name string) ratio.Ratio {
	r, err := ratio.Of(base[name], variant[name])
	if err != nil {
		return ratio.Ratio{} // no confidence, so no verdict
	}
	return r
}

// listed are all figures of all sides, for the record.
func (s sides) listed(made []series, units map[string]string) (all []claims.Figure) {
	for i, name := range s.names {
		for figure, unit := range units {
			all = append(all, claims.Figure{Name: name + ": " + figure, Unit: unit, Values: made[i][figure]})
		}
	}
	slices.SortFunc(all, func(a, b claims.Figure) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// layer is what the data layer's experiments share: a server, and where it is reached.
type layer struct {
	dsn        string
	cluster    *cluster.Cluster
	conditions []claims.Condition
}

// withLayer brings the server up for the time of do.
func (b Bench) withLayer(ctx context.Context, do func(layer) (claims.Finding, error)) (f claims.Finding, err error) {
	r, err := b.rig(ctx)
	if err != nil {
		return f, err
	}
	defer func() {
		if down := r.Close(); err == nil {
			err = down
		}
	}()
	dsn := r.DSN().Secret()
	look, err := postgres.Look(ctx, dsn)
	if err != nil {
		return f, err
	}
	here, _ := machine.Describe("/")
	cached, err := through(dsn, "")
	if err != nil {
		return f, err
	}
	return do(layer{cached, r.Cluster(), []claims.Condition{
		{Name: "engine", Text: lookText(look)},
		{Name: "machine", Text: fmt.Sprintf("%d cores of %s, for database and clients together", here.Cores, here.CPU)},
		{Name: "durability", Text: settingsText(look.Settings, "fsync", "synchronous_commit")},
	}})
}

// openEach opens a pool of connections for each side; close ends all.
func openEach(ctx context.Context, dsn string, options ...database.Options) (all []*database.Database, end func(), err error) {
	end = func() {
		for _, db := range all {
			db.Close()
		}
	}
	for _, o := range options {
		db, err := database.Open(ctx, dsn, o)
		if err != nil {
			end()
			return nil, nil, err
		}
		all = append(all, db)
	}
	return all, end, nil
}

// clients of the closed loops: one per core of the smallest machine, so that the server has work and no queue.
const clients = 2

func (b Bench) turn(d time.Duration) time.Duration {
	if b.Duration != 0 {
		return b.Duration
	}
	return d
}

func (b Bench) rounds(n int) int {
	if b.Repetitions != 0 {
		return b.Repetitions
	}
	return n
}

// below judges a claim that a figure gets smaller: the whole interval must lie below 1.
func below(r ratio.Ratio, partial bool) (claims.Verdict, string) {
	switch {
	case partial || !r.Sure():
		return claims.Inconclusive, "too few turns"
	case r.High < 1:
		return claims.Confirmed, ""
	case r.Low >= 1:
		return claims.Refuted, "it does not get smaller"
	}
	return claims.Inconclusive, "within the noise"
}

// atLeast judges a claim that a figure grows by a factor: the whole interval must lie beyond it.
func atLeast(r ratio.Ratio, claimed float64, partial bool) (claims.Verdict, string) {
	switch {
	case partial || !r.Sure():
		return claims.Inconclusive, "too few turns"
	case r.Low >= claimed:
		return claims.Confirmed, ""
	case r.High < claimed:
		return claims.Refuted, fmt.Sprintf("surely less than ×%g", claimed)
	}
	return claims.Inconclusive, fmt.Sprintf("×%g lies within the interval", claimed)
}
