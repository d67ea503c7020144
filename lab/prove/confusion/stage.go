package confusion

import (
	"context"
	"time"

	"plimsoll/lab/advise"
	"plimsoll/lab/diagnose"
)

// Stage is a server in which plants are tried one by one, for experiments of their own.
type Stage struct{ bench *bench }

// OpenStage makes the server; Close ends it.
func OpenStage(ctx context.Context, o Options) (*Stage, error) {
	b, err := newBench(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Stage{b}, nil
}

// Try a plant: a fault, a control, several joined by +, or Healthy. A trial that is void has no diagnosis, or one that
// says nothing about the plant.
func (s *Stage) Try(ctx context.Context, name string) (Trial, *diagnose.Diagnosis, error) {
	p, err := parse(name)
	if err != nil {
		return Trial{}, nil, err
	}
	return s.bench.try(ctx, p)
}

// Advice to the server as a plant starts it, without a load: the IDs.
func (s *Stage) Advice(ctx context.Context, name string) (ids []string, err error) {
	p, err := parse(name)
	if err != nil {
		return nil, err
	}
	if err := s.bench.start(ctx, setupOf(p)); err != nil {
		return nil, err
	}
	report, err := advise.Run(ctx, advise.Options{DSN: s.bench.cluster.DSN(base).Secret()})
	if err != nil {
		return nil, err
	}
	for _, a := range report.Advice {
		ids = append(ids, a.ID)
	}
	return ids, nil
}

// Close leaves nothing behind.
func (s *Stage) Close() error { return s.bench.close() }

// Pace of the users of one application during a diagnosis.
type Pace struct {
	PerS   float64 `json:"per_s"`
	MeanMS float64 `json:"mean_ms"`
	Failed int64   `json:"failed"`
}

// counts of all applications at a moment.
type counts struct {
	at   time.Time
	each map[string][3]int64 // steps, nanoseconds, failures
}

func (s *scene) counts() counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := counts{time.Now(), map[string][3]int64{}}
	for name, one := range s.done {
		c.each[name] = [3]int64{one.n.Load(), one.ns.Load(), one.failed.Load()}
	}
	return c
}

// until another moment.
func (c counts) until(later counts) map[string]Pace {
	paces := map[string]Pace{}
	for name, now := range later.each {
		was := c.each[name]
		n := now[0] - was[0]
		p := Pace{PerS: float64(n) / later.at.Sub(c.at).Seconds(), Failed: now[2] - was[2]}
		if n > 0 {
			p.MeanMS = float64(now[1]-was[1]) / float64(n) / 1e6
		}
		paces[name] = p
	}
	return paces
}
