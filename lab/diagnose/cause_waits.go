package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// logFlush: commits wait for the log.
var logFlush = cause{
	name:    "log-flush",
	healthy: "commits wait for the log no longer than a normal flush takes",
	classes: inLog,
	find: func(m *measured) (*Finding, string) {
		behind := m.shareBehind(waits.WAL)
		wait := m.logWait()
		f := &Finding{
			Price: new(wait.beyond() * (max(0, m.unexplainedShare(waits.WAL)-m.evicting()-m.inserting())*
				(1-m.othersOnDisk())*(1-m.checkpointPart()) + behind)),
			partial: m.ledger.share(string(waits.WAL))*(1-wait.usual) >= noteFrom.Value,
			Title:   "Commits wait for the write-ahead log",
			Mechanism: "A commit returns when its log is on disk. Flushes follow one after the other; a commit that " +
				"comes during one waits for the next.",
			Evidence: append(append(m.top(waits.WAL), m.loggedCheckpoints()...), fmt.Sprintf("%s transactions a "+
				"second; %s", text(m.transactions(), "%.0f"), m.flushText()),
				fmt.Sprintf("others wait %s of the time for locks that such commits hold", human.Percent(behind)),
				fmt.Sprintf("%s of the wait is normal and not in the price: a flush may take %.0f ms, and a commit "+
					"may arrive during another flush", human.Percent(wait.usual), usualFlush.Value)),
			Excluded: []string{"the contradictions below show whether it is the disk or the queue in front of it"},
			Next: []string{"pg_test_fsync -s 2    on the disk of pg_wal",
				"plimsoll prove C20    what a commit without waiting gains, and what it can lose"},
		}
		if wait.starved >= noteFrom.Value {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the wait is not in the price either: processes that "+
				"flush for others, or were woken by them, wait for a processor", human.Percent(wait.starved)))
		}
		if wait.rushed >= noteFrom.Value {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of the wait is not in the price either: after a "+
				"standstill all commits arrive at once", human.Percent(wait.rushed)))
		}
		return f, ""
	},
}

// flushes of the log by all processes; nil: not counted.
func (m *measured) flushes() *float64 {
	if n := m.delta.Sum(counters.WAL, "", "wal_sync"); n != nil {
		return n
	}
	return m.delta.Sum(counters.Transfers, "wal ", "fsyncs")
}

// flushText describes what is known about flushes.
func (m *measured) flushText() string {
	if ms := m.flushMS(); ms != nil {
		return "a flush takes " + msText(*ms)
	}
	if n := m.flushes(); n != nil && *n > 0 && m.ledger.ObservedS > 0 {
		if ms := m.sampledFlushMS(*n); ms > 0 {
			return "according to the samples a flush takes about " + msText(ms) + "; track_wal_io_timing would " +
				"measure it"
		}
		return "no sample met a session in a flush; track_wal_io_timing would measure it"
	}
	return "the time of a flush is not measured (track_wal_io_timing)"
}

// msText is a time in milliseconds: nothing takes 0.00.
func msText(ms float64) string {
	const least = 0.01
	if ms < least {
		return "less than 0.01 ms"
	}
	return fmt.Sprintf("%.2f ms", ms)
}

// flushMS is the mean time of a flush of the log; nil: not measured. PostgreSQL 18 moved it to pg_stat_io.
func (m *measured) flushMS() *float64 {
	for _, from := range []struct{ view, prefix, count, time string }{
		{counters.WAL, "", "wal_sync", "wal_sync_time"}, {counters.Transfers, "wal ", "fsyncs", "fsync_time"},
	} {
		n, ms := m.delta.Sum(from.view, from.prefix, from.count), m.delta.Sum(from.view, from.prefix, from.time)
		if n != nil && ms != nil && *n > 0 {
			return new(*ms / *n)
		}
	}
	return nil
}

// evicting is the share of the time in which queries wait for the log: a page that they need room for was changed, and
// its log must be on disk before the page is.
func (m *measured) evicting() float64 {
	return m.uses([]waits.Class{waits.WAL}, func(sql string) bool {
		return begins("SELECT")(sql) && !m.mayWrite(sql)
	}).share
}

var locksRows = regexp.MustCompile(`(?i)\bfor\s+(no\s+key\s+)?(update|share)\b|\bfor\s+key\s+share\b|` +
	`\b(nextval|setval|pg_notify)\s*\(`)

// mayWrite says that a query may have a commit of its own: it locks rows, or calls a function that somebody wrote.
func (m *measured) mayWrite(sql string) bool {
	l := m.accountOf(sql)
	return l != nil && len(l.Own) > 0 || locksRows.MatchString(sql)
}

// reading and writing of data.
var reading = cause{
	name:    "data-transfers",
	healthy: "sessions do not wait for reading or writing of data",
	denies:  []string{string(waits.IO)},
	classes: inData,
	find: func(m *measured) (*Finding, string) {
		evicting := m.evicting()
		share := (max(0, m.unexplainedShare(waits.IO)-m.spilling()) + evicting) * (1 - m.othersOnDisk()) *
			(1 - m.checkpointPart())
		f := &Finding{
			Price: new(share), Title: "Sessions read and write data themselves",
			Mechanism: "What is not in memory is read from disk, page by page, while the session waits.",
			Evidence: append(append(m.top(waits.IO), m.loggedCheckpoints()...), fmt.Sprintf("%s blocks read a "+
				"second; %s of the time queries evict dirty pages and wait for their log",
				text(m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "blks_read")), "%.0f"),
				human.Percent(evicting))),
			Excluded: []string{},
			Next: []string{"EXPLAIN (ANALYZE, BUFFERS) the first statement: does it read more than it needs?",
				"raise shared_buffers and run plimsoll diagnose: does the share fall?"},
		}
		if all := m.eventsIn(inData, nil); len(all) > 0 && !reads(Event{Name: all[0].Name}) &&
			!ofTempFiles(all[0].Name) {
			m.tell(f, all)
		}
		return f, ""
	},
}

// innerLocks of the server.
var innerLocks = cause{
	name:    "inner-locks",
	healthy: "locks inside the server are not contended",
	denies:  []string{string(waits.Latch)},
	classes: inLatches,
	find: func(m *measured) (*Finding, string) {
		f := m.ofEvents(m.unexplainedShare(waits.Latch), "Sessions wait for locks inside the server",
			"Structures in shared memory are changed by one session at a time. More sessions make it worse.", inLatches,
			"these are not locks of rows or tables")
		f.Next = append(f.Next, "the same load with half the connections: does throughput stay?",
			"plimsoll diagnose --rate 100    for finer shares of each event")
		return f, ""
	},
}

// otherProcesses of the server.
var otherProcesses = cause{
	name:    "waiting-for-processes",
	healthy: "",
	classes: inOthers,
	find: func(m *measured) (*Finding, string) {
		return m.ofEvents(m.unexplainedShare(waits.IPC), "Sessions wait for other processes of the server",
			"Parallel workers, checkpoints, replication: another process must answer first.", inOthers), ""
	},
}

// toldToWait: pg_sleep and delay settings.
var toldToWait = cause{
	name:    "told-to-wait",
	healthy: "",
	classes: inSleep,
	find: func(m *measured) (*Finding, string) {
		return m.ofEvents(m.unexplainedShare(waits.Sleep), "Sessions sleep on purpose",
			"pg_sleep in a statement, or a delay that a setting asks for.", inSleep, "the server could go on"), ""
	},
}

// ofTempFiles says whether an event is one of them: BufFileRead until PostgreSQL 16, BuffileRead from 17 on.
func ofTempFiles(event string) bool { return strings.Contains(strings.ToLower(event), "buffile") }

// spilling is the share of the time that temporary files are read and written.
func (m *measured) spilling() (share float64) {
	line := m.ledger.line(string(waits.IO))
	if line == nil {
		return 0
	}
	for _, e := range line.Events {
		if ofTempFiles(e.Name) {
			share += e.Share
		}
	}
	return share
}

// spilled are the statements that wait for temporary files.
func (m *measured) spilled() (statements []string) {
	for key, w := range m.book.events {
		if ofTempFiles(key.event.Name) {
			for sql := range w.statements {
				statements = append(statements, sql)
			}
		}
	}
	return statements
}

// spilledAsCounted are the statements whose temporary files the server counts.
func (m *measured) spilledAsCounted() (statements []string) {
	for i := range m.statements {
		if l := &m.statements[i]; l.PerCall.TempBlocks != nil && *l.PerCall.TempBlocks > 0 {
			statements = append(statements, m.sampledAs(l.Text)...)
		}
	}
	return statements
}

// memoryOfRole is what its role or database has instead of the server's memory for sorts, as evidence.
func (m *measured) memoryOfRole(sampled string) (lines []string) {
	own := m.settingsOf(m.roleOf(sampled))
	for _, name := range []string{"work_mem", "hash_mem_multiplier"} {
		if value, set := own[name]; set {
			lines = append(lines, name+" = "+value+" for its role or database")
		}
	}
	return lines
}

// spills into temporary files.
var spills = cause{
	name:    "temporary-files",
	text:    true,
	healthy: "sorts and joins write hardly any temporary files",
	find: func(m *measured) (*Finding, string) {
		perS := m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "temp_bytes"))
		if perS == nil {
			return nil, "pg_stat_database could not be read"
		}
		if *perS < spillPerS.Value {
			return nil, ""
		}
		statements, counted := m.spilled(), m.spilledAsCounted()
		u := m.uses(work, func(sql string) bool { return slices.Contains(statements, sql) })
		price := u.share
		if u.share <= 0 { // they are in the kernel's memory, and no sample met a session at them
			u = m.uses(work, func(sql string) bool { return slices.Contains(counted, sql) })
			price = min(u.share, 2**perS*m.ledger.ObservedS*secondsPerTempByte.Value/max(m.ledger.TotalS, 1e-9))
		}
		if u.share <= 0 {
			return nil, fmt.Sprintf("%.1f MB of temporary files a second are written, and no sample met a session at "+
				"them: what they take is not known%s", *perS/(1<<20), m.mostBy("temp_blks_written"))
		}
		return &Finding{
			there: true, partial: true,
			Price: &price, Title: "Sorts and joins spill into temporary files",
			Mechanism: "What does not fit into work_mem is written to disk and read again.",
			Evidence: append([]string{fmt.Sprintf("%.1f MB of temporary files a second; sessions wait for them %s "+
				"of the time; most in: %s", *perS/(1<<20), human.Percent(m.spilling()), u.largest)},
				append(m.memoryOfRole(u.largest), m.loggedTempFiles()...)...),
			Excluded: []string{}, explains: u.statements, Statements: m.book.full(u.statements),
			Next: []string{"SET work_mem for the session of the statement, and diagnose again"},
		}, ""
	},
}

// standstill: nobody made progress for a while.
var standstill = cause{
	name:    "standstill",
	healthy: "the server did not stand still",
	find: func(m *measured) (*Finding, string) {
		all := m.book.standstills()
		longest, times := 0.0, map[Culprit]int{}
		for _, s := range all {
			longest = max(longest, s.ForS)
			times[s.Who]++
		}
		if len(all) == 0 {
			return nil, ""
		}
		f := &Finding{
			Title: fmt.Sprintf("No sample came through %d times, for up to %.1f s", len(all), longest),
			Mechanism: "The server, the network, or this machine stood still. What happened meanwhile is not in the " +
				"ledger, or is not explained there.",
			Excluded: []string{},
			Next: []string{"run plimsoll diagnose from another machine at the same time: do both miss the same " +
				"moments?"},
		}
		for _, culprit := range []Culprit{StillServer, StillElsewhere, StillSession, StillSampler} {
			if times[culprit] > 0 {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %d times, %.1f s in all", culprit, times[culprit],
					m.book.still[culprit]))
			}
		}
		if times[StillServer] == 0 {
			return f, "" // a lack of processors has a finding of its own
		}
		f.Price = new(m.book.still[StillServer] / max(m.book.seconds+m.book.unobserved, 1e-9))
		f.unseen = float64(m.census.All) * *f.Price
		f.Title = fmt.Sprintf("The server stood still %d times, for up to %.1f s", times[StillServer], longest)
		f.Excluded = append(f.Excluded, "this program kept running, and the server's process was not waiting for a "+
			"processor: it was stopped, or the disk or memory below it stood still")
		f.Next = append([]string{"dmesg -T | tail; a snapshot, a migration or a backup of the virtual machine at " +
			"these moments?"}, f.Next...)
		return f, ""
	},
}
