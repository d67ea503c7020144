package diagnose

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/counters"
	"plimsoll/ground/postgres/waits"
)

// blockBytes of a page; every build that is shipped has this size.
const blockBytes = 8192

// moved is how many bytes the database itself read and wrote, as far as its statistics tell; nil: not known.
func (m *measured) moved() *float64 {
	read := m.delta.Sum(counters.Databases, "", "blks_read")
	wal := m.delta.Sum(counters.WAL, "", "wal_bytes")
	if read == nil || wal == nil {
		return nil
	}
	x := *read*blockBytes + *wal
	for _, from := range []struct{ view, column string }{{counters.Checkpoints, "buffers_written"},
		{counters.Writer, "buffers_clean"}, {counters.Writer, "buffers_checkpoint"},
		{counters.Writer, "buffers_backend"}} {
		if n := m.delta.Sum(from.view, "", from.column); n != nil {
			x += *n * blockBytes
		}
	}
	if temp := m.delta.Sum(counters.Databases, "", "temp_bytes"); temp != nil {
		x += 2 * *temp
	}
	return &x
}

// diskByOthers: other programs keep the disk busy.
var diskByOthers = cause{
	name:    "disk-taken-by-others",
	healthy: "other programs do not keep the disk busy",
	find: func(m *measured) (*Finding, string) {
		if m.host == nil {
			return nil, noMachine
		}
		if len(m.host.Disks) == 0 {
			return nil, "no disk is visible here"
		}
		d := m.host.Disks[0]
		if d.Busy < diskBusy.Value || d.Bytes <= 0 {
			return nil, ""
		}
		own := m.moved()
		if own == nil {
			return nil, "the statistics of the database's own transfers could not be read"
		}
		others := max(0, 1-*own/d.Bytes)
		if others < diskOfOthers.Value {
			return nil, ""
		}
		return &Finding{
			Price: new((m.ledger.share(string(waits.IO)) + m.ledger.share(string(waits.WAL))) * others), there: true,
			Title: "Other programs keep the disk busy",
			Mechanism: "A disk serves one queue for all. Flushes and reads of the database wait behind what other " +
				"programs write.",
			Evidence: []string{fmt.Sprintf("disk %s is busy %s of the time and moved %.0f MB, of which the database "+
				"can account for %.0f MB", d.Name, human.Percent(d.Busy), d.Bytes/(1<<20), *own/(1<<20))},
			Excluded: []string{"it is not the database's own reading and writing"},
			Next:     []string{"pidstat -d 5    or iotop: which program writes?"},
		}, ""
	},
}

// othersOnDisk is the part of transfers' price that is others'.
func (m *measured) othersOnDisk() float64 {
	f, _ := diskByOthers.find(m)
	whole := m.ledger.share(string(waits.IO)) + m.ledger.share(string(waits.WAL))
	if f == nil || whole <= 0 {
		return 0
	}
	return *f.Price / whole
}
