package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// standbyConfirms: commits wait until a synchronous standby has confirmed them. The log of this server is on disk by
// then, so that neither its disk nor its log is the reason.
var standbyConfirms = cause{
	name:    "synchronous-standby",
	healthy: "commits do not wait for a synchronous standby",
	denies:  []string{string(waits.Standby)},
	classes: inStandby,
	find: func(m *measured) (*Finding, string) {
		behind := m.shareBehind(waits.Standby)
		f := &Finding{
			Price: new(m.unexplainedShare(waits.Standby) + behind),
			Title: "Commits wait for a synchronous standby",
			Mechanism: "With synchronous_standby_names set, a commit returns only after a standby has confirmed it. " +
				"It holds its locks until then.",
			Evidence: append(m.top(waits.Standby), fmt.Sprintf("others wait %s of the time for locks that such "+
				"commits hold", human.Percent(behind))),
			Excluded: []string{"the log and the disk of this server: its own flush comes first, and is over by then"},
		}
		standbys, connected := m.standbys()
		f.Evidence = append(f.Evidence, standbys...)
		if connected {
			f.Next = []string{"compare the lags above with a round trip to the standby (ping): the rest is the " +
				"standby's own disk, or with synchronous_commit = remote_apply its replay",
				"SHOW synchronous_commit    remote_apply waits for the replay, on for the standby's flush, " +
					"remote_write for less; local does not wait, and then a commit may be lost with this server"}
			return f, ""
		}
		f.Title = "Commits wait for a synchronous standby that is not connected"
		f.Next = []string{"start the standby; the waiting commits then finish",
			"or let commits proceed without it while it is away: ALTER SYSTEM SET synchronous_standby_names = '', " +
				"SELECT pg_reload_conf(). They are then lost if this server is"}
		return f, ""
	},
}

// standbys are the synchronous standbys in words, and whether one is connected, as far as is known.
func (m *measured) standbys() (lines []string, connected bool) {
	if why := m.delta.Why(counters.Replicas); why != "" {
		return []string{"which standbys are connected could not be read: " + why}, true
	}
	for _, key := range m.delta.Keys(counters.Replicas) {
		now := func(column string) *float64 { return m.delta.Now(counters.Replicas, key, column) }
		if is := now("synchronous"); is == nil || *is == 0 {
			continue
		}
		connected = true
		lag := func(column string) string {
			s := now(column)
			if s == nil {
				return "unknown"
			}
			return fmt.Sprintf("%.1f ms", 1000**s)
		}
		lines = append(lines, fmt.Sprintf("standby %s: a change is received after %s, flushed after %s, replayed "+
			"after %s", m.delta.Label(counters.Replicas, key), lag("write_lag_s"), lag("flush_lag_s"),
			lag("replay_lag_s")))
	}
	if !connected {
		lines = append(lines, "no synchronous standby is connected")
	}
	return lines, connected
}
