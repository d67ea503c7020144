package profile

import "math/bits"

const (
	connectionsPerCore = 25
	connectionsMin     = 200
	connectionsMax     = 2000

	// Sessions that are at work at one moment; the others wait for their users.
	// Memory per session is planned for these.
	activePerCore = 4
	activeMin     = 16
)

func (m share) active() int64 { return int64(max(activeMin, activePerCore*m.cores)) }

func (m share) maxConnections() int {
	return min(max(connectionsMin, connectionsPerCore*m.cores), connectionsMax)
}

func (m share) connections() []Setting {
	return []Setting{
		set("max_connections", m.maxConnections(),
			"%d per core, %d to %d: users share a pool of connections; the field's 9000 was one per user session, and every one more makes each snapshot and the lock table dearer",
			connectionsPerCore, connectionsMin, connectionsMax),
	}
}

func (m share) memory() []Setting {
	buffers := max(tidy(m.bytes/4), 128*mB)
	return []Setting{
		set("shared_buffers", Bytes(buffers), "25 %% of the memory"),
		set("huge_pages", "try", "where the system has them set aside: the page tables of hundreds of sessions over shared_buffers shrink"),
		set("effective_cache_size", Bytes(tidy(m.bytes*3/4)), "75 %% of the memory: shared_buffers and the system's cache, for the planner to reckon with"),
		set("temp_buffers", Bytes(m.tempBuffers()),
			"1/4 of the memory over all %d connections, 8MB to the field's 256MB: a session never gives them back", m.maxConnections()),
		set("work_mem", Bytes(m.workMem()),
			"1/4 of the memory over %d sessions at work with four sorts or hashes each, 4MB to the field's 256MB", m.active()),
		set("maintenance_work_mem", Bytes(clamp(tidy(m.bytes/16), 64*mB, 2*gB)), "1/16 of the memory, at most 2GB: loading a base is mostly CREATE INDEX"),
		set("autovacuum_work_mem", Bytes(clamp(tidy(m.bytes/32/int64(m.workers())), 16*mB, gB)),
			"1/32 of the memory over %d workers: each would take maintenance_work_mem else", m.workers()),
	}
}

func (m share) tempBuffers() int64 {
	return clamp(tidy(m.bytes/4/int64(m.maxConnections())), 8*mB, 256*mB)
}
func (m share) workMem() int64 { return clamp(tidy(m.bytes/4/m.active()/4), 4*mB, 256*mB) }

func (m share) background() []Setting {
	return []Setting{
		set("bgwriter_delay", "20ms", "the field's: the background writer, not a session, writes what has to make room"),
		set("bgwriter_lru_maxpages", 500, "the field's: up to 200MB/s at this delay"),
		set("bgwriter_lru_multiplier", "4.0", "the field's: ahead of the need"),
		set("max_parallel_maintenance_workers", clamp(int64(m.cores)/2, 1, 8), "half of the cores, 1 to 8: index builds are the one place where parallel workers serve this load"),
		set("max_parallel_workers_per_gather", 0, "the field's: thousands of short operations fill the cores; workers for one query take them from others"),
		set("io_workers", clamp(int64(m.cores)/4, 3, 32), "a quarter of the cores, 3 to 32: reads are done by these processes from version 18 on"),
	}
}

// patched holds settings that only our build knows; a stock server never sees them.
func (m share) patched() []Setting {
	return []Setting{
		set("enable_temp_memory_catalog", "on", "a business operation makes a dozen temporary tables: their catalog rows stay in the session's memory, so the shared catalogs neither grow nor need vacuum"),
		set("temp_local_invalidation", "on", "nobody but its owner caches a temporary table: one cycle of it would send 200 messages to every session"),
		set("temp_skip_locks", "on", "nobody but its owner uses a temporary table: a drop alone would take a dozen exclusive locks of the shared table"),
		set("temp_async_commit", "on", "a crash removes temporary tables anyway: a transaction that wrote nothing else does not wait for the disk; all others do"),
		set("temp_buffers_by_relation", "on", "a drop or truncate would look at every buffer of temp_buffers, however small the table"),
		set("temp_lazy_files", "on", "a temporary table that fits temp_buffers never reads its files: creating and removing four of them would be a quarter of its life"),
		set("temp_lazy_toast", "on", "few temporary tables hold a value too long for a row: the toast table that all of them get is half of the cost of making one"),
	}
}

func clamp(n, least, most int64) int64 { return min(max(n, least), most) }

// tidy rounds down to four significant binary digits: numbers that a person can
// take in, and that a few pages more or less in the machine do not change.
func tidy(n int64) int64 {
	keep := bits.Len64(uint64(n)) - 4
	if keep <= 0 {
		return n
	}
	return n >> keep << keep
}
