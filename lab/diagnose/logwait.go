package diagnose

import (
	"strings"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/waits"
)

// logExcuse is why, at one look, sessions wait for the log though the log is not slow.
type logExcuse int

const (
	noExcuse logExcuse = iota
	// starving: who writes the log, or was woken after it, has no processor.
	starving
	// rush: the server just stood still, and what came meanwhile comes all at once.
	rush
)

// followersMost are asked for their state, for each costs the sampler some ten microseconds.
const followersMost = 8

// excuseOf the sessions that wait for the log. A session keeps the name of its wait until it runs again, so only the
// state of its process tells a flush from the wait for a processor behind it.
func excuseOf(sessions []waits.Session, state func(pid int) (process.Activity, error)) logExcuse {
	flushed := false
	for _, s := range sessions {
		if s.Class() != waits.WAL || s.Wait.Type != "IO" {
			continue
		}
		switch now, err := state(s.PID); {
		case err != nil: // it ended
		case now != process.Ready:
			return noExcuse // a flush is under way
		default:
			flushed = true
		}
	}
	if flushed {
		return starving
	}
	asked := 0
	for _, s := range sessions {
		if s.Class() != waits.WAL || s.Wait.Type == "IO" {
			continue
		}
		if now, err := state(s.PID); err == nil && now == process.Ready {
			return starving
		}
		if asked++; asked == followersMost {
			break
		}
	}
	return noExcuse
}

// logWait is the wait for the log that the log does not cause, as parts of it.
type logWait struct {
	// usual: a healthy server has it, too. A durable commit waits for its own flush, and on average for a part of the
	// one that is under way when it comes: two of the flushes that a healthy disk makes, for each flush made.
	usual float64
	// starved: sessions wait behind processes that are ready and have no processor.
	starved float64
	// rushed: commits come all at once after a standstill.
	rushed float64
}

func (l logWait) beyond() float64 { return max(0, 1-l.usual-l.starved-l.rushed) }

func (m *measured) logWait() (l logWait) {
	waited := m.book.secondsOf(waits.WAL)
	if waited <= 0 {
		return l
	}
	l.starved = m.book.excused[starving] / waited * m.queued
	l.rushed = m.book.excused[rush] / waited
	n := m.flushes()
	if n == nil || *n <= 0 || m.delta.For <= 0 {
		return l
	}
	ms := m.flushMS()
	if ms == nil {
		ms = new(m.sampledFlushMS(*n))
	}
	l.usual = min(1, flushesOfCommit**n*min(usualFlush.Value, *ms)/1000*m.ledger.ObservedS/m.delta.For.Seconds()/waited)
	return l
}

// sampledFlushMS is the mean time of n flushes of the log, as sessions were seen in them.
func (m *measured) sampledFlushMS(n float64) float64 {
	seconds := 0.0
	for key, w := range m.book.events {
		if key.class == waits.WAL && strings.EqualFold(key.event.Name, "WalSync") {
			seconds += w.seconds
		}
	}
	return seconds * m.delta.For.Seconds() / m.ledger.ObservedS / n * 1000
}

// flushesOfCommit are its own and the one under way.
const flushesOfCommit = 2
