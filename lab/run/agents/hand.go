package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
)

// Enter makes each agent log in its share of the users [from, to). It ends with the first failure, and when an agent is
// lost meanwhile.
func (f *Fleet) Enter(ctx context.Context, from, to int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	members := f.present()
	ended := make(chan error, len(members))
	for _, m := range members {
		go func() { ended <- f.enter(ctx, m, order{Do: enter, From: from, To: to}) }()
	}
	often := time.NewTicker(Beat)
	defer often.Stop()
	var wrong error
	for left := len(members); left > 0; {
		select {
		case err := <-ended:
			left--
			if wrong == nil && err != nil {
				wrong = err
				cancel() // the others need not continue
			}
		case <-often.C:
			if len(f.present()) < len(members) && wrong == nil {
				wrong = errors.New("an agent was lost")
				cancel()
			}
		}
	}
	return wrong
}

func (f *Fleet) enter(ctx context.Context, m *member, o order) error {
	reply, err := f.conn.RequestWithContext(ctx, ordersOf(m.ID), encode(o))
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", m.name(), err)
	}
	a, err := decode[answer](reply.Data)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("%s: %s", m.name(), a.Error)
	}
	return err
}

// sendControl sends a manual change of the load to all agents and reports it once.
func (f *Fleet) sendControl(w run.Watch) {
	at := f.sinceStart()
	want := f.load.crowd.Wanted(f.load.ordered.Users)
	if at >= f.load.plan.End() || want == f.load.ordered {
		return
	}
	f.each(func(m *member) error { _, err := f.order(m, order{Do: steer, Load: want}); return err })
	f.load.ordered = want
	if w.Changed != nil {
		w.Changed(users.Change{At: at, Load: want})
	}
}

// reportLost reports each lost agent once.
func (f *Fleet) reportLost(w run.Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.gone() && !m.lossReported && w.Alarm != nil {
			m.lossReported = true
			w.Alarm(m.lossText(f.load.plan, len(f.members)))
		}
	}
}
