package line

import (
	"time"

	"plimsoll/lab/run"
	"plimsoll/lab/session"
)

// opsWanted is the least number of operations in a trial, twice what makes a run valid; few users need more time for
// it.
const opsWanted = 2 * run.OpsMin

// length of the steady state: few users need longer for as many operations.
func (s *search) length(users, longer int) time.Duration {
	if s.Replay != nil {
		return time.Duration(float64(s.extent.Length) / s.pace(users))
	}
	d := s.Run.Duration << longer
	need := time.Duration(opsWanted * s.Plan.ThinkS / float64(users) * float64(time.Second))
	return max(d, min(need, 10*d))
}

// overheadGuess is the time of a trial apart from ramp and steady state, until one has been measured.
const overheadGuess = 10 * time.Second

// takes estimates the duration of a trial.
func (s *search) takes(users, longer int) time.Duration {
	over := overheadGuess
	if n := len(s.Trials); n > 0 {
		last := s.Trials[n-1]
		over = time.Duration((last.TookS - last.DurationS - s.Plan.RampS) * float64(time.Second))
	}
	return s.Run.Ramp + s.length(users, longer) + max(0, over)
}

// Estimate of the duration of the whole search.
func (o Options) Estimate() time.Duration {
	s := &search{Options: o, Line: &Line{}}
	s.Plan = s.plan()
	return time.Duration(o.Left(nil)) * s.takes(o.First, 0)
}

func (s *search) report(p Progress) {
	if s.Progress == nil {
		return
	}
	p.Configuration, p.Left = s.Configuration, s.left(p.Ended == nil)
	if p.Ended == nil {
		p.Left += p.Run.Left
	}
	p.Share = session.Share(time.Since(s.began), p.Left)
	s.Progress(p)
}

// left estimates the duration of the remaining trials, without the one under way.
func (s *search) left(underWay bool) time.Duration {
	rest := s.Bounds.Left(s.Trials)
	_, users, longer := s.Bounds.Next(s.Trials)
	if underWay {
		rest = max(0, rest-1)
	}
	if users == 0 {
		return 0
	}
	return time.Duration(rest) * s.takes(users, longer)
}
