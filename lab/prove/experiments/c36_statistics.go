package experiments

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/operations"
	"plimsoll/lab/postgres"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Defaults of C36.
const (
	c36Turn   = 5 * time.Second
	c36Rounds = 4
	// c36Scale of the base with --full and without: a column of a small base has no 10,000 values to keep.
	c36Scale = 0.01
	c36Small = c02ScaleMin
	c36Names = "statistics_"
)

// c36Targets of the sides; the first is the base.
var c36Targets = []int{100, 1000, 10_000}

func targetSide(n int) string { return fmt.Sprintf("statistics target %s", thousands(n)) }

func (b Bench) statisticsScale() float64 {
	if b.Full {
		return c36Scale
	}
	return c36Small
}

// statisticsTarget is the experiment behind C36: the ERP's own queries on copies of a base that differ in statistics.
func statisticsTarget(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c36Rounds), Turn: b.turn(c36Turn), Series: []trial.Series{
		{Name: operationRate, Unit: "1/s"}, {Name: medianTime, Unit: "ms"}, {Name: p99Time, Unit: "ms"}}}
	var base *filledBase
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		r.Say("filling a base at scale %g", b.statisticsScale())
		if base, err = fillBase(ctx, s.cluster, b.statisticsScale(), 2); err != nil {
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
				if err := w.warm(ctx); err != nil {
					return nil, err
				}
				return func(ctx context.Context, n int) (trial.Figures, error) {
					times, err := w.play(ctx, part.Turn, uint64(n))
					if err != nil || len(times) == 0 {
						return nil, err
					}
					return trial.Figures{operationRate: float64(len(times)) / part.Turn.Seconds(),
						medianTime: quantile(times, 0.5), p99Time: quantile(times, 0.99)}, nil
				}, nil
			}})
	}
	against := func(n int) trial.Ratio {
		return trial.Ratio{Of: trial.At(targetSide(n), operationRate), To: trial.At(targetSide(c36Targets[0]),
			operationRate)}
	}
	part.Measured = []trial.Phrase{trial.Say("operations/s with a target of 1,000 %s, of 10,000 %s, of %s/s with 100",
		against(1000), against(10_000), trial.Spread{Of: trial.At(targetSide(100), operationRate), Format: "%.0f"})}
	return trial.Trial{
		Text: fmt.Sprintf("the ERP's operations that read, on copies of a base at scale %g with statistics of "+
			"targets 100 to 10,000", b.statisticsScale()),
		Overhead: time.Minute, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Known{As: "scale of the base", Value: b.statisticsScale()},
				Confirm: trial.AtLeast(c36Scale), Unless: "a smaller base has no 10,000 values to keep; --full"}},
			Criteria: []trial.Criterion{trial.Smaller(against(10_000))}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d users who read, back to back, each key operation that writes no "+
				"document as often as its weight says, over HTTP on a worker in this process; classic shape", clients)},
			{Name: "not here", Text: "the lag of a replica, the claim's other half"},
		}}
}

// withStatistics copies the base and gathers statistics of a target.
func withStatistics(ctx context.Context, base *filledBase, target int) (dsn string, err error) {
	name := fmt.Sprintf("%s%d", c36Names, target)
	admin, err := pgx.Connect(ctx, base.cluster.DSN("").Secret())
	if err != nil {
		return "", err
	}
	err = errors.Join(postgres.CopyDatabase(ctx, admin, base.name, name), execute(ctx, admin,
		fmt.Sprintf("ALTER DATABASE %s SET default_statistics_target = %d", name, target)),
		admin.Close(context.WithoutCancel(ctx)))
	if err != nil {
		return "", fmt.Errorf("copy the base: %w", err)
	}
	dsn = base.cluster.DSN(name).Secret()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	return dsn, errors.Join(execute(ctx, conn, "ANALYZE"), conn.Close(context.WithoutCancel(ctx)))
}

func dropStatistics(ctx context.Context, base *filledBase) (err error) {
	for _, n := range c36Targets {
		err = errors.Join(err, base.admin(ctx, fmt.Sprintf("DROP DATABASE IF EXISTS %s%d WITH (FORCE)", c36Names, n)))
	}
	return errors.Join(err, base.drop(ctx))
}

// reads tells whether an operation writes no document.
func reads(op operations.Operation) bool {
	return !strings.HasSuffix(op.ID, ".post") && !strings.HasSuffix(op.ID, ".change")
}

// openReading is a worker of the classic shape whose users read.
func openReading(ctx context.Context, dsn string) (*postingWorker, error) {
	w, err := openPosting(ctx, dsn, classic, newAccounts())
	if err != nil {
		return nil, err
	}
	w.writing = nil
	for _, op := range operations.All() {
		if reads(op) {
			w.writing = append(w.writing, op)
		}
	}
	return w, nil
}
