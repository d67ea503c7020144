package compare

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/outage"
)

const (
	// probe is the delay that shows how often operations cross the network, and that Failing gives the other side.
	probe = 2 * time.Millisecond
	// failingPart of the time the failing side refuses statements.
	failingPart = 0.2
	// outagesPerRun: they are short compared with the run, so that each operation meets about as many.
	outagesPerRun = 10
	// outageMargin: the steady state is noticed up to a second late, and what follows it must not fail.
	outageMargin = time.Second
	// failingLeast is the steady state that outages fit into.
	failingLeast = 4 * outageMargin
)

// takes says whether something can be planted in a side.
func (s *Side) takes(planted Planted) error {
	switch {
	case planted == AA:
		return nil
	case len(s.Command) > 0 || s.Run.DSN == "":
		return problem.New(problem.Usage, fmt.Errorf("--self-test %s needs a database: it changes the connection",
			planted), "compare a system that has one")
	case planted == Failing && s.Run.Duration < failingLeast:
		return problem.New(problem.Usage, fmt.Errorf("--self-test failing needs runs of at least %s", failingLeast),
			"a longer --duration")
	}
	return nil
}

// proxies before the sides. Both have one, because it costs time itself.
type proxies [2]*delay.Proxy

func (p proxies) close() {
	for _, one := range p {
		_ = one.Close() // nobody is connected any more
	}
}

// plant puts a proxy before each side: the second is a tenth slower, or fails a part and is faster in the rest.
func (s *selfTest) plant(ctx context.Context) (p proxies, err error) {
	config, err := pgx.ParseConfig(s.Sides[0].Run.DSN)
	if err != nil {
		return p, fmt.Errorf("connection string: %w", err)
	}
	network, address := pgxAddress(config)
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	if s.Planted == Failing {
		s.DelayMS = probe.Seconds() * 1000
		o := &outage.Outage{}
		s.Sides[1].outage = o
		return s.listen([2]time.Duration{probe, 0}, dial, func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			if err != nil {
				return nil, err
			}
			return o.On(conn), nil
		})
	}
	if s.DelayMS == 0 {
		if p, err = s.listen([2]time.Duration{0, probe}, dial, dial); err != nil {
			return p, err
		}
		d, err := s.calibrate(ctx)
		if p.close(); err != nil {
			return p, err
		}
		s.DelayMS = d.Seconds() * 1000
		if err := s.Store.keepSelfTest(s.SelfTested); err != nil { // so that it is not calibrated again
			return p, err
		}
	}
	return s.listen([2]time.Duration{0, time.Duration(s.DelayMS * float64(time.Millisecond))}, dial, dial)
}

// listen with a delay before each side.
func (s *selfTest) listen(delays [2]time.Duration, dials ...func(context.Context) (net.Conn, error)) (p proxies,
	err error) {
	for i, dial := range dials {
		if p[i], err = delay.Listen(delays[i], dial); err != nil {
			for _, before := range p[:i] {
				err = errors.Join(err, before.Close())
			}
			return p, err
		}
		s.Sides[i].Through, s.Sides[i].Delay = p[i].Address(), delays[i]
	}
	return p, nil
}

// outages of the steady state, which has begun up to a moment ago.
func (s *Side) outages() {
	now, length := time.Now(), s.Run.Duration-2*outageMargin
	s.outage.Plan(now, now.Add(length), length/outagesPerRun, failingPart)
}

// calibrate finds the delay that makes operations a tenth slower: runs without a delay and with a known one show how
// much latency a millisecond adds.
func (s *selfTest) calibrate(ctx context.Context) (d time.Duration, err error) {
	s.say(fmt.Sprintf("%d runs to find the delay that makes operations a tenth slower", 2*verdict.RunsMin))
	o := s.Options
	o.Title, o.Pairs, o.Control, o.Resume = "calibration of a self-test", verdict.RunsMin, false, false
	c, err := Compare(ctx, o)
	if err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, problem.New(problem.Interrupted, errors.New("stopped during the calibration"),
			"the same command starts again")
	}
	head := c.Findings[0].Headline
	if head.Effect <= 1 {
		return 0, problem.New(problem.Environment, fmt.Errorf("a delay of %s "+
			"has no visible effect on the latency", probe),
			"use longer runs or a quieter machine")
	}
	d = time.Duration(float64(probe) * slower / (head.Effect - 1))
	s.say(fmt.Sprintf("a delay of %s adds %.0f %% (%+.0f to %+.0f), so a tenth is %s", probe, 100*(head.Effect-1),
		100*(head.Low-1), 100*(head.High-1), d.Round(time.Microsecond)))
	return d, nil
}

func pgxAddress(c *pgx.ConnConfig) (network, address string) {
	if len(c.Host) > 0 && c.Host[0] == '/' {
		return "unix", fmt.Sprintf("%s/.s.PGSQL.%d", c.Host, c.Port)
	}
	return "tcp", net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
}
