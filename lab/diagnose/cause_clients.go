package diagnose

import (
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// ProgramGaps is the title of clientGaps where the kernel's figures exclude the network.
const ProgramGaps = "Transactions wait for the program"

// clientGaps: transactions wait for their client's next statement.
var clientGaps = cause{
	name:    "client-or-network-gaps",
	healthy: "transactions do not wait for their clients or for the network",
	denies:  []string{string(waits.Client)},
	classes: inClient,
	find: func(m *measured) (*Finding, string) {
		if m.ledger.TotalS == 0 {
			return nil, ""
		}
		g, why := m.clientTime()
		if g.locks() {
			return &Finding{Price: new(0.0), partial: true}, "" // lockBetween has all of it
		}
		if why != "" {
			return nil, why
		}
		gaps, reading, behind := g.gaps, g.reading, g.behind
		f := &Finding{
			// Who sends one transaction after the other waits for the network, too, and to the server is idle.
			partial: m.talking >= talkingLeast.Value,
			Price:   new(gaps + reading + behind), Title: "Transactions wait for the network or for the program",
			Mechanism: "A transaction of many statements crosses the network for each. While it waits for its " +
				"client it does nothing, and keeps its locks.",
			Evidence: []string{fmt.Sprintf("open transactions wait for their next statement %s of the time, and for "+
				"the client within a statement %s", human.Percent(gaps), human.Percent(reading))},
			Excluded: []string{"meanwhile the server has nothing to do for these transactions"},
			Next: []string{
				"psql -h … -c '\\timing on' -c 'SELECT 1'    on the client's machine: the round trip",
				"plimsoll prove C16    what fewer round trips gain",
			},
		}
		if m.near() {
			f.Title = ProgramGaps
			f.Excluded = append(f.Excluded, "the network: a round trip to the clients takes less than a program's own "+
				"time")
		}
		if gap := m.book.short.mean(); gap != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("the gaps seen had lasted %s on average when they were "+
				"sampled; a round trip from here takes %s", gap.Round(100*time.Microsecond),
				fromSeconds(m.roundTripS).Round(10*time.Microsecond)))
		}
		if m.host != nil && m.host.RoundTripS != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("a round trip to the clients takes at least %s, by the "+
				"kernel's figures of their connections",
				fromSeconds(*m.host.RoundTripS).Round(10*time.Microsecond)))
		}
		if idle := m.delta.Sum(counters.Databases, "", "idle_in_transaction_time"); idle != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("the server itself counted %.1f s in idle transactions "+
				"(pg_stat_database)", *idle/1000))
		}
		if behind > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the time others wait for locks that such "+
				"transactions hold",
				human.Percent(behind)))
		}
		return f, ""
	},
}

// clientTime is what sessions wait for clients and the network, in shares of the time: between two statements, within
// one, and behind the locks that such transactions hold meanwhile.
type clientTime struct{ gaps, reading, behind float64 }

// locks says that most of it is the wait for locks: that a transaction is not over is then worse than its own gaps.
func (g clientTime) locks() bool {
	const more = 1.05
	return g.behind > more*(g.gaps+g.reading)
}

func (m *measured) clientTime() (g clientTime, why string) {
	g.gaps = max(0, m.book.short.seconds/m.ledger.TotalS-m.repeatedGaps())
	g.reading = (m.book.secondsOf(waits.Client)-m.book.idle())/m.ledger.TotalS - m.sending()
	for _, s := range m.stories {
		if s.betweenStatements() {
			g.behind += s.Share
		}
	}
	if g.behind == 0 && len(m.stories) == 0 {
		g.behind = m.behindGaps()
	}
	if why := m.clientsWithoutProcessors(g.gaps + g.reading + g.behind); why != "" {
		return g, why
	}
	beyond := max(m.beyondOwn()*(1-m.throttled()), m.onTheWay())
	g.gaps, g.reading, g.behind = g.gaps*beyond, g.reading*beyond, g.behind*beyond
	return g, ""
}

// behindGaps is the share of the time that sessions wait for locks while another one rests behind the same statement:
// whose lock it is no look told. 0: that is not most of the waits for locks.
func (m *measured) behindGaps() (share float64) {
	const most = 0.5
	for _, seconds := range m.book.behindGaps {
		share += seconds / max(m.ledger.TotalS, 1e-9)
	}
	if share < most*m.ledger.share(string(waits.Lock)) {
		return 0
	}
	return share
}

// elsewhere: the clients are on other machines. One that is as near as a program on this machine may be in a container
// of it.
func (m *measured) elsewhere() bool {
	trip := m.host.RoundTripS
	return m.census.Remote > 0 && (trip == nil || *trip >= gapShort.Value)
}

// near: most clients are on other machines, or seem to be, and the network to them takes next to nothing.
func (m *measured) near() bool {
	return m.host != nil && m.mostRemote() && !m.elsewhere()
}

func (m *measured) mostRemote() bool { return m.census.Remote > 0 && 2*m.census.Remote >= m.census.All }

// onTheWay is the part of the gaps that the network takes, as the kernel measures it: nobody's processor is to blame.
func (m *measured) onTheWay() float64 {
	gap := m.book.short.mean()
	if gap == nil || m.host == nil || m.host.RoundTripS == nil || !m.elsewhere() || !m.mostRemote() {
		return 0
	}
	return min(1, *m.host.RoundTripS/max(gap.Seconds(), *m.host.RoundTripS))
}

// clientsWithoutProcessors says why gaps say nothing: the clients share a machine with others that take its processors,
// and waiting for one looks like a slow network. Pressure is the time in which somebody waited.
func (m *measured) clientsWithoutProcessors(gaps float64) string {
	if m.host == nil || m.host.Others == nil || m.host.CPUPressure == nil || m.elsewhere() ||
		*m.host.Others < othersBusy.Value || *m.host.CPUPressure < sharedPressure.Value || gaps < noteFrom.Value {
		return ""
	}
	where := "run here too"
	if m.census.Remote > 0 {
		where = "are as near as if they ran here"
	}
	return fmt.Sprintf("the machine is shared: the clients %s, others use %s of the cores, and some process waits for "+
		"a processor %s of the time; that may explain gaps of %s of the time", where,
		human.Percent(*m.host.Others), human.Percent(*m.host.CPUPressure), human.Percent(gaps))
}

// throttled is the share of the time in which a quota stops the server's processes: what has come from a client then is
// not read, and the session seems to wait for it.
func (m *measured) throttled() float64 {
	if m.host == nil || m.host.Throttled == nil || *m.host.Throttled < throttledMost.Value {
		return 0
	}
	return min(1, *m.host.Throttled)
}

// beyondOwn is the part of the gaps that a program on the server's machine would not take: what is left without its
// own time, and without what it waits for a processor, as this program does here.
func (m *measured) beyondOwn() float64 {
	gap := m.book.short.mean()
	if gap == nil {
		return 1
	}
	own := gapShort.Value
	if m.host != nil {
		own += m.wakesS
	}
	return max(0, 1-own/max(gap.Seconds(), own))
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// connectionStorm: sessions are opened for little work.
var connectionStorm = cause{
	name:    "connection-storm",
	healthy: "connections are kept open and used again",
	find: func(m *measured) (*Finding, string) {
		made := m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "sessions"))
		if made == nil {
			return nil, "pg_stat_database has no count of sessions"
		}
		if *made < connectsPerS.Value {
			if limited, _ := connectionsLimited.find(m); limited != nil {
				return &Finding{Price: new(0.0), partial: true}, "" // who is refused keeps none
			}
			return nil, ""
		}
		connecting := *made * m.connectS
		f := &Finding{
			Price: new(connecting / (connecting + m.ledger.Sessions)), unseen: connecting, there: true,
			Title: "Connections are too short-lived",
			Mechanism: "Each connection is a new server process that authenticates the client and fills its caches; " +
				"its first statements are slow.",
			Evidence: []string{
				fmt.Sprintf("%.0f new sessions a second; opening one took %.1f ms from here, so %.2f clients are "+
					"connecting at any time, "+
					"with %.2f active sessions", *made, 1000*m.connectS, connecting, m.ledger.Sessions),
				"no wait event shows the time of connecting: it is estimated from connections of this program",
			},
			Excluded: []string{},
			Next:     []string{"put a connection pool between the program and the server, or enlarge the existing one"},
		}
		if rate := m.transactions(); rate != nil && *made > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%.1f transactions per session", *rate / *made))
		}
		return f, ""
	},
}
