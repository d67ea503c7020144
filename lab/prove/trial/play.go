package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/session"
	"plimsoll/lab/stats"
)

// orderSeed of the turns: always the same order.
const orderSeed = 1

// Options of playing a trial.
type Options struct {
	Conditions []claims.Condition // of the site; they come first
	// Say receives permanent lines, Step the progress (0..1). Both may be nil.
	Say  func(format string, args ...any)
	Step func(share float64, left time.Duration, note string)
	// Watch finds disturbed turns, which are void; nil: none is.
	Watch Watch
}

// Play makes the turns and summarizes them. If ctx ends after every side of the first part had a turn, the finding is
// Partial and the error nil.
func (t Trial) Play(ctx context.Context, o Options) (claims.Finding, error) {
	p := &playing{Trial: t, options: o, made: t.nothingMade(slices.Concat(o.Conditions, t.Conditions))}
	for i, part := range t.Parts {
		whole, err := p.play(ctx, part)
		switch {
		case err != nil && (ctx.Err() == nil || i == 0):
			return claims.Finding{}, err
		case err != nil || !whole:
			p.made.partial = true
			p.made.stopped = !part.Unjudged
			return t.Finding(p.made), nil
		}
	}
	return t.Finding(p.made), nil
}

// playing is a trial being played.
type playing struct {
	Trial
	options Options
	made    *Measurements
	done    time.Duration // planned time of the turns so far
	took    time.Duration // what they took
}

// play a part; whole says that all its turns were made.
func (p *playing) play(ctx context.Context, part Part) (whole bool, err error) {
	r := &Record{made: p.made, part: part, say: p.say}
	r.within = func(share float64, note string) { p.step(part, share, note) }
	defer func() {
		for _, end := range slices.Backward(r.closers) {
			err = errors.Join(err, end())
		}
	}()
	turns, err := p.open(ctx, part, r)
	if err != nil {
		return false, err
	}
	if whole, err = p.take(ctx, part, r, turns); err != nil || !whole {
		return whole, err
	}
	if part.Check != nil {
		err = part.Check(ctx, r)
	}
	return true, err
}

func (p *playing) open(ctx context.Context, part Part, r *Record) (turns []Turn, err error) {
	if part.Open != nil {
		if err := part.Open(ctx, r); err != nil {
			return nil, err
		}
	}
	for _, side := range part.Sides {
		p.step(part, 0, "preparing "+side.Name)
		turn, err := side.Open(ctx, r)
		if err != nil {
			return nil, sideError(side, err)
		}
		turns = append(turns, turn)
	}
	return turns, nil
}

// taking is a part whose turns are made.
type taking struct {
	*playing
	part   Part
	record *Record
	turns  []Turn // by side
	order  []int
	over   int // turns
	tries  int // of the next one that were void
	again  int // turns of the part made again
}

func (p *playing) take(ctx context.Context, part Part, r *Record, turns []Turn) (whole bool, err error) {
	t := &taking{playing: p, part: part, record: r, turns: turns, order: part.order()}
	stopped, err := session.Session[int]{Next: t.next, Make: t.make}.All(ctx)
	if err != nil || stopped == "" {
		r.round = ""
		return err == nil, err
	}
	if t.over < len(part.Sides) { // not every side has had a turn
		err = ctx.Err()
	}
	return false, err
}

func (t *taking) next() (n int, more bool) { return t.over, t.over < len(t.order) }

// make a turn. What it measured counts even if the user stopped the trial at its end.
func (t *taking) make(ctx context.Context, n int) error {
	i := t.order[n]
	side, number := t.part.Sides[i], n+t.tries*len(t.order) // another number is another random seed
	t.record.round = fmt.Sprintf("turn %d of %d", n+1, len(t.order))
	t.step(t.part, 0, side.Name)
	began := time.Now()
	figures, void, err := t.watched(t.part, t.record, func() (Figures, error) { return t.turns[i](ctx, number) })
	t.took += time.Since(began)
	switch {
	case err != nil:
		return sideError(side, err)
	case void != "":
		t.made.void[t.part.Name]++
		figures = nil
		if t.again < t.part.voidMost() && ctx.Err() == nil {
			t.again, t.tries = t.again+1, t.tries+1
			t.record.Say("%s, %s is void and repeated: %s", t.record.round, side.Name, void)
			return nil
		}
		t.record.Say("%s, %s is void: %s", t.record.round, side.Name, void)
	}
	for series, figure := range figures {
		ref := Ref{t.part.Name, side.Name, series}
		t.made.add(ref, figure)
		t.made.turns[ref]++
	}
	t.made.played[t.part.Name] = true
	t.over, t.tries = t.over+1, 0
	t.done += t.part.takes()
	return nil
}

func sideError(side Side, err error) error {
	if side.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", side.Name, err)
}

func (p Part) order() []int {
	if !p.InOrder {
		return stats.Rotation(len(p.Sides), p.Rounds, orderSeed)
	}
	var order []int
	for range p.Rounds {
		for i := range p.Sides {
			order = append(order, i)
		}
	}
	return order
}

func (p *playing) say(format string, args ...any) {
	if p.options.Say != nil {
		p.options.Say(format, args...)
	}
}

// step reports the progress within a turn of a part. Turns that were made tell better than the plan how long the rest
// takes.
func (p *playing) step(part Part, share float64, note string) {
	if p.options.Step == nil {
		return
	}
	if title := p.made.titles[part.Name]; title != "" {
		note = title + ", " + note
	}
	all, done := p.Takes()-p.Overhead, p.done+time.Duration(share*float64(part.takes()))
	left := float64(all - done)
	if p.done > 0 {
		left *= float64(p.took) / float64(p.done)
	}
	p.options.Step(float64(done)/float64(all), time.Duration(left), note)
}
