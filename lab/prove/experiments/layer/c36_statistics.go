package layer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/operations"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C36.
const (
	c36Turn   = 5 * time.Second
	c36Rounds = 4
	// c36Scale of the base: a column of a smaller one has no 10,000 values to keep. c36Full is that of --full.
	c36Scale = 0.01
	c36Full  = site.WholeScale
	c36Names = "statistics_"
)

// c36Targets of the sides; the first is the base.
var c36Targets = []int{100, 1000, 10_000}

func targetSide(n int) string { return fmt.Sprintf("statistics target %s", human.Thousands(n)) }

// statisticsTarget is the experiment behind C36: the ERP's own queries on copies of a base that differ in statistics.
func statisticsTarget(b site.Bench, s *site.Site) trial.Trial {
	scale := b.BaseScale(c36Scale, c36Full)
	part := trial.Part{Rounds: b.Rounds(c36Rounds), Turn: b.Turn(c36Turn), Series: []trial.Series{
		{Name: site.OperationRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.P99Time, Unit: "ms"}}}
	var base *site.SeparateBase
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		r.Say("filling a base at scale %g", scale)
		if base, err = site.FillSeparate(ctx, s.Cluster, scale, 2); err != nil {
			return err
		}
		r.AtEnd(func() error { return dropStatistics(context.WithoutCancel(ctx), base) })
		return nil
	}
	for _, n := range c36Targets {
		part.Sides = append(part.Sides, trial.Side{Name: targetSide(n),
			Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
				dsn, err := withStatistics(ctx, base, n)
				if err != nil {
					return nil, err
				}
				w, err := openReading(ctx, dsn)
				if err != nil {
					return nil, err
				}
				r.Close(w.close)
				if err := w.Warm(ctx); err != nil {
					return nil, err
				}
				return w.turn(part.Turn, site.OperationRate), nil
			}})
	}
	against := func(n int) trial.Ratio {
		return trial.Ratio{Of: trial.At(targetSide(n), site.OperationRate), To: trial.At(targetSide(c36Targets[0]),
			site.OperationRate)}
	}
	part.Measured = []trial.Phrase{trial.Say("operations/s with a target of 1,000 %s, of 10,000 %s, of %s/s with 100",
		against(1000), against(10_000), trial.Spread{Of: trial.At(targetSide(100), site.OperationRate),
			Format: "%.0f"})}
	return trial.Trial{
		Text: fmt.Sprintf("the ERP's reading operations on copies of a base at scale %g, analyzed with statistics "+
			"targets of 100 to 10,000", scale),
		Overhead: time.Minute, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Known{As: "scale of the base", Value: scale},
				Confirm: trial.AtLeast(c36Scale), Unless: "columns of a smaller base do not have 10,000 values"}},
			Direction: []trial.Criterion{trial.Smaller(against(10_000))},
			Situation: []trial.Condition{site.ScaleOf(scale), site.AtWork(site.Clients, ""),
				trial.Absent("the lag of a replica", "hours, the claim's other half", "not measured")}},
		Conditions: []claims.Condition{
			{Name: "load", Text: withoutThinking("writes no document") + "; classic shape"},
		}}
}

// withStatistics copies the base and gathers statistics of a target.
func withStatistics(ctx context.Context, base *site.SeparateBase, target int) (dsn string, err error) {
	name := fmt.Sprintf("%s%d", c36Names, target)
	err = postgres.With(ctx, base.Cluster.DSN("").Secret(), func(conn *pgx.Conn) error {
		return errors.Join(postgres.CopyDatabase(ctx, conn, base.Name, name), postgres.ExecuteOn(ctx, conn,
			fmt.Sprintf("ALTER DATABASE %s SET default_statistics_target = %d", name, target)))
	})
	if err != nil {
		return "", fmt.Errorf("copy the base: %w", err)
	}
	dsn = base.Cluster.DSN(name).Secret()
	return dsn, postgres.Execute(ctx, dsn, "ANALYZE")
}

func dropStatistics(ctx context.Context, base *site.SeparateBase) (err error) {
	for _, n := range c36Targets {
		err = errors.Join(err, base.Admin(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS %s%d WITH (FORCE)", c36Names, n)))
	}
	return errors.Join(err, base.Drop(ctx))
}

// reads tells whether an operation writes no document.
func reads(op operations.Operation) bool {
	return !strings.HasSuffix(op.ID, ".post") && !strings.HasSuffix(op.ID, ".change")
}

// openReading is a worker of the classic shape whose users read.
func openReading(ctx context.Context, dsn string) (*postingWorker, error) {
	w, err := openPosting(ctx, dsn, classic, site.NewAccounts())
	if err != nil {
		return nil, err
	}
	w.Operations = nil
	for _, op := range operations.All() {
		if reads(op) {
			w.Operations = append(w.Operations, op)
		}
	}
	return w, nil
}
