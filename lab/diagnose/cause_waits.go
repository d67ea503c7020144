package diagnose

import (
	"fmt"

	"plimsoll/lab/postgres/counters"
	"plimsoll/lab/postgres/waits"
)

// logFlush: commits wait for the log.
var logFlush = cause{
	name:    "log-flush",
	healthy: "commits do not wait for the log",
	find: func(m *measured) (*Finding, string) {
		return &Finding{
			Price: price(m.ledger.share(string(waits.WAL))), Title: "Commits wait for the write-ahead log",
			Mechanism: "A commit is answered when its log is on disk. Flushes follow one after the other; whoever " +
				"comes meanwhile waits for the next.",
			Evidence: append(m.top(waits.WAL), fmt.Sprintf("%s transactions in a second; "+
				"%s", text(m.transactions(), "%.0f"),
				m.flushText())),
			Excluded: []string{"the contradictions below say whether it is the disk or the queue before it"},
			Next: []string{"pg_test_fsync -s 2    on the disk of pg_wal",
				"plimsoll prove C20    what a commit without waiting gains, and what it can lose"},
		}, ""
	},
}

// flushText is what is known of a flush.
func (m *measured) flushText() string {
	if ms := m.flushMS(); ms != nil {
		return fmt.Sprintf("a flush takes %.2f ms", *ms)
	}
	return "the time of a flush is not measured (track_wal_io_timing)"
}

// flushMS is the mean time of a flush of the log; nil: not measured. PostgreSQL 18 moved it to pg_stat_io.
func (m *measured) flushMS() *float64 {
	for _, from := range []struct{ view, prefix, count, time string }{
		{counters.WAL, "", "wal_sync", "wal_sync_time"}, {counters.Transfers, "wal ", "fsyncs", "fsync_time"},
	} {
		n, ms := m.delta.Sum(from.view, from.prefix, from.count), m.delta.Sum(from.view, from.prefix, from.time)
		if n != nil && ms != nil && *n > 0 {
			return price(*ms / *n)
		}
	}
	return nil
}

// reading and writing of data.
var reading = cause{
	name:    "data-transfers",
	healthy: "sessions do not wait for reading or writing of data",
	find: func(m *measured) (*Finding, string) {
		share := m.ledger.share(string(waits.IO)) - m.spilling()
		return &Finding{
			Price: price(share), Title: "Sessions read and write data themselves",
			Mechanism: "What is not in memory is read from disk, page by page, while the session waits.",
			Evidence: append(m.top(waits.IO), fmt.Sprintf("%s blocks read in a second",
				text(m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "blks_read")), "%.0f"))),
			Excluded: []string{},
			Next: []string{"EXPLAIN (ANALYZE, BUFFERS) the first statement: does it read more than it needs?",
				"plimsoll diagnose after raising shared_buffers: does the share fall?"},
		}, ""
	},
}

// innerLocks of the server.
var innerLocks = cause{
	name:    "inner-locks",
	healthy: "locks inside the server are free",
	find: func(m *measured) (*Finding, string) {
		return &Finding{
			Price: price(m.ledger.share(string(waits.Latch))), Title: "Sessions wait for locks inside the server",
			Mechanism: "Structures in shared memory are changed by one session at a time. More sessions make it worse.",
			Evidence:  m.top(waits.Latch),
			Excluded:  []string{"these are not locks of rows or tables"},
			Next: []string{"the same load with half the connections: does throughput stay?",
				"plimsoll diagnose --rate 100    for finer shares of each event"},
		}, ""
	},
}

// otherProcesses of the server.
var otherProcesses = cause{
	name:    "waiting-for-processes",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		return &Finding{
			Price: price(m.ledger.share(string(waits.IPC))), Title: "Sessions wait for other processes of the server",
			Mechanism: "Parallel workers, checkpoints, replication: another process must answer first.",
			Evidence:  m.top(waits.IPC), Excluded: []string{},
			Next: []string{"read the event's description in the documentation of monitoring statistics"},
		}, ""
	},
}

// toldToWait by pg_sleep and the like.
var toldToWait = cause{
	name:    "told-to-wait",
	healthy: "",
	find: func(m *measured) (*Finding, string) {
		return &Finding{
			Price: price(m.ledger.share(string(waits.Sleep))), Title: "Sessions sleep because they were told to",
			Mechanism: "pg_sleep in a statement, or a delay that a setting asks for.",
			Evidence:  m.top(waits.Sleep), Excluded: []string{"the server would be ready"},
			Next: []string{"find who calls it: the statement is in the ledger"},
		}, ""
	},
}

// spilling is the share of the time that temporary files are read and written.
func (m *measured) spilling() (share float64) {
	line := m.ledger.line(string(waits.IO))
	if line == nil {
		return 0
	}
	for _, e := range line.Events {
		if e.Name == "IO:BufFileRead" || e.Name == "IO:BufFileWrite" {
			share += e.Share
		}
	}
	return share
}

// spills into temporary files.
var spills = cause{
	name:    "temporary-files",
	healthy: "sorts and joins fit into memory",
	find: func(m *measured) (*Finding, string) {
		perS := m.delta.PerSecond(m.delta.Sum(counters.Databases, "", "temp_bytes"))
		if perS == nil {
			return nil, "pg_stat_database could not be read"
		}
		if *perS < spillPerS.Value {
			return nil, ""
		}
		return &Finding{
			Price: price(m.spilling()), Title: "Sorts and joins spill into temporary files",
			Mechanism: "What does not fit into work_mem is written to disk and read again.",
			Evidence: []string{fmt.Sprintf("%.1f MB of temporary files in a second; %s of the time goes to them",
				*perS/(1<<20), percent(m.spilling()))},
			Excluded: []string{},
			Next:     []string{"SET work_mem for the session of the statement, and diagnose again"},
		}, ""
	},
}

// standstill: nothing was seen for a while.
var standstill = cause{
	name: "standstill",
	find: func(m *measured) (*Finding, string) {
		all := m.book.standstills()
		if len(all) == 0 {
			return nil, ""
		}
		longest := 0.0
		for _, s := range all {
			longest = max(longest, s.ForS)
		}
		f := &Finding{
			Title: fmt.Sprintf("%d times nothing could be seen, for up to %.1f s", len(all), longest),
			Mechanism: "The server, the network, or this machine stood still. What happened meanwhile is not in the " +
				"ledger.",
			Evidence: []string{fmt.Sprintf("%.1f s in all are not observed", m.book.unobserved)},
			Excluded: []string{"not told apart: a server that stands still, and a sampler that gets no processor"},
			Next: []string{"plimsoll diagnose from another machine at the same time: do both miss the same " +
				"moments?"},
		}
		return f, ""
	},
}
