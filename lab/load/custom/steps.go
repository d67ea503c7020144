package custom

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/cookiejar"
	"net/url"
	"time"

	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/trace"
)

// do the steps of an action, or those that follow a think time within it.
func (p *Player) do(ctx context.Context, user int, a *Action, rng *rand.Rand) (tally.Outcome, error) {
	if t := trace.Of(ctx); t != nil {
		t.Watch(func() map[string]string { return script.Texts(p.users[user]) })
		defer t.Look()
	}
	steps, notes := a.Parts(), tally.NotesOf(ctx)
	for i := notes.Step(); i < len(steps); i++ {
		if think := steps[i].Think; think > 0 && i > notes.Step() {
			if notes.Pause(i, think) {
				return tally.OK, nil
			}
			if err := wait(ctx, think); err != nil {
				return tally.Failed, err
			}
		}
		if outcome, err := p.step(ctx, user, steps[i], rng); outcome != tally.OK {
			return outcome, inStep(err, i, len(steps))
		}
	}
	return tally.OK, nil
}

// wait where nobody continues the operation later.
func wait(ctx context.Context, think time.Duration) error {
	timer := time.NewTimer(think)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Player) step(ctx context.Context, user int, a *Action, rng *rand.Rand) (tally.Outcome, error) {
	if a.Script != nil {
		outcome, err := p.script(ctx, user, a, rng)
		if outcome != tally.OK || a.Request == nil {
			return outcome, err
		}
	}
	w := &p.web[user]
	sender := request.User{Variables: p.users[user], Transport: p.Transport(user), Base: p.Bases[user%len(p.Bases)],
		Last: w.last, Page: w.page}
	if w.jar != nil {
		sender.Jar = w.jar
	}
	outcome, err := a.Request.Do(ctx, &p.HTTP, &sender)
	w.last, w.page = sender.Last, sender.Page
	return outcome, err
}

// web is what a user's browser keeps between requests.
type web struct {
	jar  *cookiejar.Jar // nil: no cookies
	last *url.URL       // last answer's
	page *url.URL       // that the user sees
}

func (p *Player) newWeb() (w web) {
	if p.browses && !p.HTTP.Cookieless {
		w.jar, _ = cookiejar.New(nil) // it has no errors
	}
	return w
}

// inStep says which of several steps failed.
func inStep(err error, i, of int) error {
	if err == nil || of == 1 {
		return err
	}
	return fmt.Errorf("step %d: %w", i+1, err)
}

// Detailed is an error about a single user, with what a person needs to find its cause.
func Detailed(err error) error {
	var one interface {
		error
		Detail() string
	}
	if !errors.As(err, &one) {
		return err
	}
	text := one.Detail()
	if outer, inner := err.Error(), one.Error(); len(outer) > len(inner) && outer[len(outer)-len(inner):] == inner {
		text = outer[:len(outer)-len(inner)] + text
	}
	return errors.New(text)
}
