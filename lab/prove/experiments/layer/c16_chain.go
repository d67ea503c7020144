package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/shape"
)

// Defaults of C16: an operation of about 100 statements, on the network paths of the claim.
const (
	c16Turn   = 3 * time.Second
	c16Rounds = 4
	// The band around the claimed shift of 100 ms to the left.
	c16Low, c16High = 50.0, 200.0
	// Delays of a network between servers that stand side by side: what the claim speaks of. With more, a chain of any
	// operation saves as much as one likes.
	c16From, c16To = 100 * time.Microsecond, 500 * time.Microsecond
)

var (
	c16Load = queryBatch{kinds: 1, tables: 10, empty: 0.4, rows: 10, steps: 70}
	// 0 is loopback itself.
	c16Delays = []time.Duration{0, 100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
		time.Millisecond, 2 * time.Millisecond}
)

// Sides of C16.
const (
	oneByOne = "one by one"
	chained  = "chained"
)

// chains is the experiment behind C16: posted documents on each network path, which are judged where servers stand side
// by side, then a batch of queries on each.
func chains(b site.Bench, s *site.Site) trial.Trial {
	t := trial.Trial{
		Text: fmt.Sprintf("statements sent one by one against chains of up to %d, over loopback and with delays of "+
			"%s, for batches of queries and for posted documents", database.ChainDefault, site.Listed(c16Delays[1:])),
		Overhead: 35 * time.Second, // of which tuning and its checks take 20
		Conditions: []claims.Condition{
			{Name: "delay", Text: "by a TCP proxy of our own (lab/prove/delay) that holds back what clients send: " +
				"unlike a network it loses nothing and has no jitter. It is tuned until the median round trip " +
				"measured through it is right within 0.05 ms; a turn after which it is not is void, and corrects it"},
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; %d temp tables per operation, "+
				"all in the pool", site.Clients, c16Load.tables)},
			{Name: postedTitle, Text: withoutThinking("writes documents") + "; the classic shape with chains against " +
				"the classic shape; judged with delays of 0.1 to 0.5 ms"},
		}}
	t.Rules.Checks = []trial.Check{{Name: checkDelay,
		Want: "every delay is right within 0.05 ms by the measured round trip"}}
	t.Chart = &trial.Chart{Title: "An operation of about 100 statements by delay of the network", X: "delay, ms",
		Y:     "median, ms",
		Lines: []trial.Line{{Name: oneByOne}, {Name: chained}}}
	saved := trial.Largest{As: "median of posted documents one by one minus that of chained ones, on the path where " +
		"the difference is largest"}
	var documents, batches []trial.Part
	for _, d := range c16Delays {
		path := newPath(&s.Address, d)
		part := path.exact(path.part(b))
		batches = append(batches, part)
		for i := range t.Chart.Lines {
			t.Chart.Lines[i].At = append(t.Chart.Lines[i].At, trial.Place{X: d.Seconds() * 1000,
				Of: path.at(t.Chart.Lines[i].Name)})
		}
		posted := postedDocuments(&path.Address, part, shape.Tweaks{Chain: database.ChainDefault})
		posted.Open = path.openPosted()
		posted.Series = append(posted.Series, trial.BusySeries)
		if posted.Unjudged = d < c16From || d > c16To; !posted.Unjudged {
			at := func(side trial.Side) trial.Ref { return trial.At(side.Name, site.MedianTime).In(posted.Name) }
			plain, chain := at(posted.Sides[0]), at(posted.Sides[1])
			t.Rules.Direction = append(t.Rules.Direction, trial.Smaller(trial.Ratio{Of: chain, To: plain}))
			t.Rules.Situation = append(t.Rules.Situation, site.WithRoom(trial.At(posted.Sides[0].Name,
				trial.Busy).In(posted.Name))...)
			saved.Of = append(saved.Of, trial.Difference{Of: plain, To: chain, Unit: "ms"})
		}
		documents = append(documents, path.exact(posted))
	}
	for i := range batches {
		batches[i].Unjudged = true
	}
	t.Parts = append(documents, batches...)
	t.Rules.Situation = append(t.Rules.Situation, site.AtWork(site.Clients, "30,000 users"))
	t.Rules = t.Rules.Effect(saved, 0, c16Low, c16High)
	loopback := batches[0].Name
	count := func(side, series string) trial.Median {
		return trial.Median{Of: trial.At(side, series).In(loopback), Format: "%.0f"}
	}
	t.Measured = []trial.Phrase{trial.Say("an operation of %s statements takes %s round trips instead of %s",
		count(chained, statementCount), count(chained, roundTripCount), count(oneByOne, roundTripCount))}
	return t
}

// part measures the batch of queries on a path.
func (p *networkPath) part(b site.Bench) trial.Part {
	turn := b.Turn(c16Turn)
	median := func(side string) trial.Median { return trial.Median{Of: p.at(side), Format: "%.1f"} }
	return trial.Part{
		Name: p.name(), Title: p.name(), Rounds: b.Rounds(c16Rounds), Turn: turn,
		Sides: []trial.Side{c16Load.side(oneByOne, &p.Address, database.Options{Chain: 1}, turn),
			c16Load.side(chained, &p.Address, database.Options{}, turn)},
		Series: []trial.Series{{Name: site.MedianTime, Unit: "ms"}, {Name: site.P99Time, Unit: "ms"},
			{Name: statementCount, Hidden: true}, {Name: roundTripCount, Hidden: true}},
		Open: func(ctx context.Context, r *trial.Record) error {
			if err := p.open(ctx, r); err != nil {
				return err
			}
			r.Call(fmt.Sprintf("%s (round trip %.2f ms)", p.name(), p.took.Seconds()*1000))
			return nil
		},
		Measured: []trial.Phrase{trial.Say("%s: median %s → %s ms, %s", trial.Title(p.name()), median(oneByOne),
			median(chained), p.faster())},
	}
}

// openPosted opens the path for posted documents, and names their figures after it.
func (p *networkPath) openPosted() func(context.Context, *trial.Record) error {
	return func(ctx context.Context, r *trial.Record) error {
		if err := p.open(ctx, r); err != nil {
			return err
		}
		r.Call(fmt.Sprintf("%s, %s (round trip %.2f ms)", postedTitle, p.name(), p.took.Seconds()*1000))
		return nil
	}
}

func (p *networkPath) at(side string) trial.Ref { return trial.At(side, site.MedianTime).In(p.name()) }

func (p *networkPath) faster() trial.Ratio {
	return trial.Ratio{Of: p.at(chained), To: p.at(oneByOne)}
}
