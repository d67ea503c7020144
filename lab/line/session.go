package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/session"
	"plimsoll/lab/system"
)

// joint searches several systems in turns: one trial of each, then the next of each, so that drift of the machine
// affects all alike.
type joint struct {
	Options
	*Comparison
	began    time.Time
	searches []*search
	release  func() // of the folder that keeps it
}

// FindAll searches for the lines of several systems with the options o. The Comparison also holds what was found before
// an error or a cancellation of ctx; it is nil only if the session could not begin.
func FindAll(ctx context.Context, o Options, systems []*system.System) (*Comparison, error) {
	if len(systems) == 0 {
		return nil, errors.New("compare load lines: no system is given")
	}
	if o.Control {
		systems = append(systems[:len(systems):len(systems)], control(systems[0]))
	}
	s := &joint{Options: o, began: time.Now()}
	if err := s.begin(ctx, systems); err != nil {
		return nil, err
	}
	defer s.release()
	err := s.all(ctx)
	if err != nil && s.Stopped == "" {
		s.Stopped = err.Error()
	}
	return s.Comparison, errors.Join(err, s.keep())
}

// controlSeeds is the offset of the control's random seeds from those of the first system: more than a search has
// trials.
const controlSeeds = 1000

// control is a copy of a system, to be searched again.
func control(of *system.System) *system.System {
	again := *of
	again.Name += " (control)"
	again.Run.Seed += controlSeeds
	return &again
}

// begin starts or resumes a search for each system.
func (s *joint) begin(ctx context.Context, systems []*system.System) (err error) {
	s.Comparison = &Comparison{Schema: ComparisonSchema, ID: "unkept", Title: s.Run.Title,
		Started: s.began.UTC().Truncate(time.Millisecond)}
	s.release = func() {}
	for _, y := range systems {
		one, err := s.search(ctx, y)
		if err != nil {
			return fmt.Errorf("%s: %w", y.Name, err)
		}
		s.searches = append(s.searches, one)
		s.Lines = append(s.Lines, Compared{Line: one.Line})
	}
	s.Lines[len(s.Lines)-1].Control = s.Options.Control
	switch {
	case s.Store == nil:
	case s.Resume:
		if s.Comparison, s.release, err = s.Store.unfinishedComparison(ctx, s.plans()); err != nil {
			return err
		}
		s.Stopped = ""
	default:
		s.ID, s.release, err = s.Store.sessions.Start(ctx, s.began)
	}
	for i, one := range s.searches {
		one.Line = s.Lines[i].Line
		one.ID, one.Stopped = s.ID, ""
		one.conclude(one.pool())
	}
	return err
}

// EstimateAll estimates the duration of all searches together.
func (o Options) EstimateAll(systems []*system.System) (all time.Duration) {
	if o.Control {
		systems = append(systems[:len(systems):len(systems)], systems[0])
	}
	for _, y := range systems {
		o.Run = y.Run
		all += o.Estimate()
	}
	return all
}

// search of one system; the session stores it with the others.
func (s *joint) search(ctx context.Context, of *system.System) (*search, error) {
	o := s.Options
	o.Run, o.Configuration, o.Store, o.Progress = of.Run, of.Name, nil, nil
	one, err := newSearch(ctx, o, s.began)
	if err != nil {
		return nil, err
	}
	one.Line = one.newLine()
	if s.Progress != nil {
		one.Progress = func(p Progress) { s.report(one, p) }
	}
	return one, nil
}

func (s *joint) all(ctx context.Context) error {
	for round := 0; ; round++ {
		going := false
		for _, one := range s.order(round) {
			more, stopped, err := one.course().Step(ctx)
			going, one.Stopped, s.Stopped = going || more, stopped, cmp.Or(stopped, s.Stopped)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", one.Configuration, err)
			case stopped == ByUser:
				return nil
			}
			if err := s.keep(); err != nil {
				return err
			}
		}
		if !going {
			return nil
		}
	}
}

// order of a round: every second one is reversed, so that steady drift favours no system.
func (s *joint) order(round int) []*search {
	order := slices.Clone(s.searches)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// report passes on the progress of one search among all.
func (s *joint) report(one *search, p Progress) {
	for _, other := range s.searches {
		if other != one {
			p.Left += other.left(false)
		}
	}
	p.Share = session.Share(time.Since(s.began), p.Left)
	s.Progress(p)
}

func (s *joint) keep() error {
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude()
	if s.Store == nil {
		return nil
	}
	return s.Store.sessions.Save(s.ID, s.HTML, s.WriteJSON)
}
