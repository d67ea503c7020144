package diagnose

import (
	"slices"

	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// readEvents are waits for pages of tables and indexes; the last is PostgreSQL 18's, for reads that others do for it.
var readEvents = []string{"IO:DataFileRead", "IO:DataFilePrefetch", "IO:AioIoCompletion"}

// elsewhere are reads of other databases, and of objects that the list does not have.
const elsewhere = "other databases, and small objects"

// addReadObjects divides the wait for reads by the blocks that were read of each table, index and catalog. A wait event
// does not name its object; a block that is read from the kernel's memory counts as one of the disk.
func (m *measured) addReadObjects(s *sources) {
	line := m.ledger.line(string(waits.IO))
	m.missLatchObjects(s)
	if line == nil || !slices.ContainsFunc(line.Events, reads) {
		return
	}
	if why := m.delta.Why(counters.ObjectReads); why != "" {
		s.miss("objects of reads", why)
		return
	}
	blocks, sum := amounts{}, 0.0
	for _, key := range m.delta.Keys(counters.ObjectReads) {
		if n := m.delta.Grew(counters.ObjectReads, key, "blocks"); n != nil {
			blocks[key] = *n
			sum += *n
		}
	}
	if all := m.delta.Sum(counters.Databases, "", "blks_read"); all != nil && *all > sum {
		blocks[elsewhere] = *all - sum
		sum = *all
	}
	if sum == 0 {
		s.miss("objects of reads", "no block was counted: sessions report what they read after their transactions")
		return
	}
	for i := range line.Events {
		if e := &line.Events[i]; reads(*e) {
			e.Objects = parts(blocks, partsKept)
			for j := range e.Objects {
				e.Objects[j].S = e.S * e.Objects[j].Share
			}
		}
	}
}

func reads(e Event) bool { return slices.Contains(readEvents, e.Name) }

// missLatchObjects says why latches have none, where some wait for them.
func (m *measured) missLatchObjects(s *sources) {
	if line := m.ledger.line(string(waits.Latch)); line != nil && line.Share >= noteFrom.Value {
		s.miss("objects of locks inside the server", "no view of PostgreSQL shows which page or structure a session "+
			"waits for: pg_locks has locks of rows and tables alone; the ledger has the statements")
	}
}
