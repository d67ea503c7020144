package loss

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/crash"
	"plimsoll/lab/crash/image"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/worker/shape"
)

// serverMemory is what the servers' profile assumes: small servers crash as large ones do.
const serverMemory = "512MB"

// checkDamage: what a crash may lose is whole operations; nothing may be damaged.
const checkDamage = "damage"

func undamaged() trial.Check {
	return trial.Check{Name: checkDamage, Want: "nothing is damaged after any recovery",
		Refuted: "a recovered server is damaged"}
}

// Figures of the ends of a turn.
const (
	acknowledged = "operations acknowledged"
	lostOps      = "operations lost"
	lostDocs     = "documents lost"
	lostTime     = "longest loss"
	lostLog      = "largest loss"
)

func endSeries() []trial.Series {
	return []trial.Series{{Name: acknowledged}, {Name: lostOps}, {Name: lostDocs}, {Name: lostTime, Unit: "ms"},
		{Name: lostLog, Unit: "kB"}}
}

// ending is a side: how the crash lab loads and ends a server.
type ending struct {
	name    string
	options crash.Options
}

// side whose turns end a server several times; figures adds to what all have.
func (e ending) side(b site.Bench, ends int, figures func(*crash.Report, trial.Figures)) trial.Side {
	return trial.Side{Name: e.name, Open: func(_ context.Context, r *trial.Record) (trial.Turn, error) {
		return func(ctx context.Context, n int) (trial.Figures, error) {
			o := e.options
			o.Clusters, o.Spec = b.Clusters, cluster.Spec{Engine: b.Engine, Memory: serverMemory}
			o.Serve, o.Shape, o.Workers, o.Sessions = b.Serve, shape.Tuned, crash.WorkersDefault, crash.SessionsDefault
			o.Seeds, o.Seed, o.Model = ends, uint64(1+n*ends), image.Strict
			o.Progress = func(p crash.Progress) {
				r.Within(float64(p.Done)/float64(p.All), e.name+", "+p.What)
			}
			report, err := crash.Run(ctx, o)
			if err != nil {
				return nil, err
			}
			describe(r, report)
			f := endFigures(report)
			if figures != nil {
				figures(report, f)
			}
			return f, nil
		}, nil
	}}
}

func describe(r *trial.Record, report *crash.Report) {
	here, _ := machine.Describe("/")
	engine, _, _ := strings.Cut(report.Engine, " in ")
	r.Condition("engine", engine)
	r.Condition("machine", fmt.Sprintf("%d cores of %s, for database, workers and users together", here.Cores,
		here.CPU))
	for _, c := range report.Cuts {
		for _, d := range c.Damage {
			r.Fail(checkDamage, fmt.Sprintf("%s, seed %d: %s", report.Durability, c.Seed, d))
		}
	}
}

func endFigures(report *crash.Report) trial.Figures {
	f := trial.Figures{acknowledged: 0, lostOps: 0, lostDocs: 0, lostTime: 0, lostLog: 0}
	for _, c := range report.Cuts {
		f[acknowledged] += float64(c.Acknowledged)
		f[lostOps] += float64(c.Lost + c.LostShown)
		f[lostDocs] += float64(c.LostDocuments)
		f[lostTime] = max(f[lostTime], c.LostMS)
		f[lostLog] = max(f[lostLog], float64(c.LostWALBytes)/1e3)
	}
	return f
}

// sum of a series over the turns of a side.
func sum(side, series, as string) trial.Computed { return sumOf(trial.At(side, series), as) }

func sumOf(series trial.Ref, as string) trial.Computed {
	return trial.Computed{As: as, Format: "%.0f", Formula: func(m *trial.Measurements) (all float64) {
		figures := m.Figures(series)
		for _, one := range figures {
			all += one
		}
		return orUnknown(figures, all)
	}}
}

// maxOverTurns is the maximum of a series over the turns of a side.
func maxOverTurns(side, series, as, unit string) trial.Computed {
	return trial.Computed{As: as, Format: "%.0f " + unit, Formula: func(m *trial.Measurements) float64 {
		figures := m.Figures(trial.At(side, series))
		return orUnknown(figures, slices.Max(append([]float64{0}, figures...)))
	}}
}

func orUnknown(figures []float64, v float64) float64 {
	if len(figures) == 0 {
		return math.NaN()
	}
	return v
}

// lostWith are the acknowledged operations and shown documents that a side has lost.
func lostWith(side string) trial.Computed { return sum(side, lostOps, "operations lost with "+side) }

// countsOf a side: "0 of 1,234 operations".
func countsOf(side string) trial.Phrase {
	return trial.Say(side+": %s of %s acknowledged operations lost", lostWith(side), sum(side, acknowledged, ""))
}

// countedEnds is how often the end was tried: a rare loss shows in many ends only, and refutes in however few it shows.
func countedEnds(what string, n, least int) trial.Condition {
	return trial.Condition{Of: trial.Known{As: what, Value: float64(n)}, Report: "a load of months",
		Met: trial.AtLeast(float64(least))}
}

// erpCondition says what the load is.
func erpCondition(d time.Duration) claims.Condition {
	return claims.Condition{Name: "load", Text: fmt.Sprintf("%d users carry out the ERP's key operations over HTTP "+
		"without thinking, on %d workers of the shape %s, for %s before each end or between two", crash.SessionsDefault,
		crash.WorkersDefault, shape.Tuned, human.Duration(d))}
}
