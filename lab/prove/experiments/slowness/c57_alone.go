package slowness

import (
	"context"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Sides and bars of C57.
const (
	alone, aloneFar, crowd = "one user", "one user, slow network", "with many others"
	// claimedSlow is the claim's 30 %.
	claimedSlow = 1.3
	// The band around it.
	slowLow, slowHigh = 1.15, 1.5
)

// oneUserAlone is the experiment behind C57.
func oneUserAlone(b site.Bench, _ *site.Site) trial.Trial {
	o := newOffice(b, 0, officeDelay)
	part := o.part(trial.Series{Name: stepTime, Unit: "ms"}, trial.Series{Name: tripTime, Unit: "ms"},
		trial.Series{Name: networkNamed}, trial.Series{Name: busyCores, Unit: "%"})
	side := func(name string, users int, delay time.Duration) trial.Side {
		return trial.Side{Name: name, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			dsn, err := o.copy(ctx)
			if err != nil {
				return nil, err
			}
			d, err := newDesk(ctx, b, dsn, arrangement{users: users, network: o.networks[delay]}, r.AtEnd)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, n int) (trial.Figures, error) {
				times, found, err := d.watched(ctx, part.Turn, 0, n, d.diagnosed)
				if err != nil {
					return nil, err
				}
				f := trial.Figures{stepTime: site.Mean(times), tripTime: ms(d.trip),
					networkNamed: flag(namesNetwork(found))}
				busyOf(f, found)
				return f, nil
			}, nil
		}}
	}
	part.Sides = []trial.Side{side(alone, 1, 0), side(aloneFar, 1, officeDelay), side(crowd, site.Clients, 0)}
	every := func(side, series, unit string) trial.Every {
		return trial.Every{Of: trial.At(side, series), Unit: unit}
	}
	slow := trial.Ratio{Of: trial.At(aloneFar, stepTime), To: trial.At(alone, stepTime)}
	full := trial.Ratio{Of: trial.At(crowd, stepTime), To: trial.At(alone, stepTime)}
	idle, busy := every(aloneFar, busyCores, "%"), every(crowd, busyCores, "%")
	near, far := every(alone, tripTime, "ms"), every(aloneFar, tripTime, "ms")
	tells, mistaken := every(aloneFar, networkNamed, ""), every(alone, networkNamed, "")
	part.Measured = []trial.Phrase{
		trial.Say("time of an operation against one user alone: %s through a slow network, cores busy %s; %s with "+
			"many others, cores busy %s", slow, idle, full, busy),
		trial.Say("a round trip between worker and database takes %s, through the slow network %s; 'plimsoll "+
			"diagnose' names the network (1: yes, 0: no) %s where it is slow, %s where it is not", near, far, tells,
			mistaken)}
	return trial.Trial{
		Text:  "one user of an ERP of three tiers on a good system, on a slow one, and on a full one",
		Parts: []trial.Part{part}, Overhead: officeMaking + deskMaking(2, 1) + deskMaking(1, site.Clients),
		Rules: trial.Rules{Requires: []trial.Criterion{site.TurnsOf(part.Turn, least)}, Direction: []trial.Criterion{
			{Of: idle, Confirm: trial.Below(looksIdle), Refute: trial.AtLeast(looksIdle)},
			{Of: full, Confirm: trial.AtLeast(claimedSlow)},
			{Of: busy, Confirm: trial.AtLeast(looksIdle), Unless: "the other users do not fill the machine"},
			isNamed(tells),
			isNotNamed(mistaken),
		}, Situation: []trial.Condition{{Of: far, Report: "a network between the tiers, without a figure",
			Met: trial.AtLeast(tripLeast * ms(officeDelay))}}}.Times(slow, slowLow, slowHigh),
		Conditions: []claims.Condition{officeCondition(0), networkCondition(),
			{Name: "diagnosis", Text: "'plimsoll diagnose' in a process of its own, which knows nothing of the " +
				"experiment"}},
	}
}
