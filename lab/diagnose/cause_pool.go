package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/waits"
)

// holder of connections.
type connected struct{ application, user, database string }

func (c connected) String() string {
	return fmt.Sprintf("%s (role %s, database %s)", nonEmpty(c.application, "a program without a name"), c.user,
		c.database)
}

// connections of one holder, at all looks.
type connections struct {
	looks, fewest, most int
	all, busy           float64 // added up
	longest             float64 // age of a transaction, in seconds
}

// pools are the connections of the clients, by who has them. Its size does not grow with time.
type pools struct {
	looks int
	of    map[connected]*connections
}

// poolsMost holders are kept.
const poolsMost = 200

func (p *pools) take(all []waits.User) {
	p.looks++
	if p.of == nil {
		p.of = map[connected]*connections{}
	}
	for _, u := range all {
		key := connected{u.Application, u.User, u.Database}
		c := p.of[key]
		if c == nil {
			if len(p.of) >= poolsMost {
				continue
			}
			c = &connections{fewest: u.All}
			p.of[key] = c
		}
		c.looks++
		c.fewest, c.most, c.longest = min(c.fewest, u.All), max(c.most, u.All), max(c.longest, u.ForS)
		c.all, c.busy = c.all+float64(u.All), c.busy+float64(u.All-u.Idle)
	}
}

// used is the part of the time in which a connection is in a transaction.
func (c *connections) used() float64 { return c.busy / max(c.all, 1) }

// always busy: their number never changes, hardly one was idle at any look, and none is at one long transaction.
func (c *connections) always(looks int) bool {
	const looksLeast = 5
	return c.looks == looks && looks >= looksLeast && c.fewest == c.most && c.used() >= poolBusy.Value &&
		c.longest < gapLong.Value
}

// poolTooSmall is a note: who waits for a free connection waits in the program. Whether anybody does, or a job works on
// one thing after the other, is not visible from the server.
var poolTooSmall = cause{
	name: "pool-always-busy",
	find: func(m *measured) (*Finding, string) {
		if m.pools == nil || m.host != nil && m.host.Busy != nil && *m.host.Busy >= machineBusy.Value {
			return nil, ""
		}
		var busy []connected
		for key, c := range m.pools.of {
			if c.always(m.pools.looks) {
				busy = append(busy, key)
			}
		}
		if len(busy) == 0 {
			return nil, ""
		}
		slices.SortFunc(busy, func(a, b connected) int {
			return cmp.Or(cmp.Compare(m.pools.of[b].used(), m.pools.of[a].used()), cmp.Compare(a.String(), b.String()))
		})
		first := m.pools.of[busy[0]]
		which := fmt.Sprintf("All %d connections of %s are", first.most, busy[0])
		if first.most == 1 {
			which = fmt.Sprintf("The one connection of %s is", busy[0])
		}
		f := &Finding{Title: which + " nearly always busy: if it is a pool, its users wait for it",
			Mechanism: "A pool hands out what it has. Who finds no connection free waits in the program, where the " +
				"server does not see it, and longer, the less often one is free. A job that does one thing after the " +
				"other looks the same, and waits for nothing.",
			Excluded: []string{"the machine has processors to spare, as far as it is visible",
				"a price: that time is not the server's"},
			Next: []string{"the pool's own figures: how long does a request wait for a connection?",
				"a larger pool, where that is long; transactions that do not wait for their program, if it waits"}}
		for _, key := range busy[:min(partsKept, len(busy))] {
			c := m.pools.of[key]
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s, in a transaction %s of the time at %d looks; none "+
				"lasted longer than %s", key, human.Count(c.most, "connection"), human.Percent(c.used()), c.looks,
				human.Seconds(max(0.001, c.longest))))
		}
		return f, ""
	},
}
