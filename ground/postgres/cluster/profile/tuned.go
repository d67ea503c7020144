package profile

import "math/bits"

const (
	connectionsPerCore = 25
	connectionsMin     = 200
	connectionsMax     = 2000

	// Sessions that are active at one moment; the others wait for their users. Memory per session is planned for these.
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
			"%d per core, %d to %d: users share a pool of connections; the field report's 9000 was one per session, "+
				"and each further one makes snapshots and the lock table more expensive",
			connectionsPerCore, connectionsMin, connectionsMax),
	}
}

func (m share) memory() []Setting {
	return []Setting{
		set("shared_buffers", Bytes(m.sharedBuffers()), "25 %% of the memory"),
		m.hugePages(), m.cacheSize(),
		set("temp_buffers", Bytes(m.tempBuffers()),
			"1/4 of the memory over all %d connections, 8MB to 256MB (field report): a session never releases them",
			m.maxConnections()),
		set("work_mem", Bytes(m.workMem()),
			"1/4 of the memory over %d active sessions with four sorts or hashes each, 4MB to 256MB (field report)",
			m.active()),
		m.maintenance(), m.autovacuumMemory(),
	}
}

func (m share) sharedBuffers() int64 { return max(tidy(m.bytes/4), 128*mB) }

func (m share) hugePages() Setting {
	return set("huge_pages", "try", "if the system reserves them: the page tables of hundreds of sessions over "+
		"shared_buffers shrink")
}

func (m share) cacheSize() Setting {
	return set("effective_cache_size", Bytes(tidy(m.bytes*3/4)),
		"75 %% of the memory: shared_buffers and the system's cache, for the planner's estimates")
}

func (m share) maintenance() Setting {
	return set("maintenance_work_mem", Bytes(clamp(tidy(m.bytes/16), 64*mB, 2*gB)),
		"1/16 of the memory, at most 2GB: loading a base is mostly CREATE INDEX")
}

func (m share) autovacuumMemory() Setting {
	return set("autovacuum_work_mem", Bytes(clamp(tidy(m.bytes/32/int64(m.workers())), 16*mB, gB)),
		"1/32 of the memory over %d workers: otherwise each takes maintenance_work_mem", m.workers())
}

func (m share) tempBuffers() int64 {
	return clamp(tidy(m.bytes/4/int64(m.maxConnections())), 8*mB, 256*mB)
}
func (m share) workMem() int64 { return clamp(tidy(m.bytes/4/m.active()/4), 4*mB, 256*mB) }

func (m share) background() []Setting {
	return []Setting{
		set("bgwriter_delay", "20ms", "as in the field report: the background writer, not a session, frees buffers"),
		set("bgwriter_lru_maxpages", 500, "as in the field report: up to 200MB/s at this delay"),
		set("bgwriter_lru_multiplier", "4.0", "as in the field report: ahead of the need"),
		set("io_workers", clamp(int64(m.cores)/4, 3, 32),
			"a quarter of the cores, 3 to 32: from version 18 on these processes do the reads"),
	}
}

func (m share) parallel() []Setting {
	return []Setting{
		m.parallelMaintenance(),
		set("max_parallel_workers_per_gather", 2,
			"a long report takes about half the time, and short operations showed no loss when measured (the field "+
				"report has 0)"),
		set("max_parallel_workers", halfOfCores(m.cores),
			"half of the cores, 1 to 8, for all reports together: the rest is left to short operations"),
	}
}

func (m share) parallelMaintenance() Setting {
	return set("max_parallel_maintenance_workers", halfOfCores(m.cores),
		"half of the cores, 1 to 8, for an index build")
}

func halfOfCores(cores int) int64 { return clamp(int64(cores)/2, 1, 8) }

// Patched are the settings that only our build knows, by name.
func Patched() (names []string) {
	for _, s := range (share{}).patched() {
		names = append(names, s.Name)
	}
	return names
}

// patched holds settings that only our build knows; a stock server never gets them.
// temp_live_statistics is not among them yet: it changes plans, and how fast they are then is not measured
// (engine/bench/statistics).
func (m share) patched() []Setting {
	return []Setting{
		set("enable_temp_memory_catalog", "on", "a business operation makes a dozen temporary tables: their "+
			"catalog rows stay in the session's memory, so the shared catalogs neither grow nor need vacuum"),
		set("temp_local_invalidation", "on", "only its owner caches a temporary table: otherwise one cycle would "+
			"send 200 messages to every session"),
		set("temp_skip_locks", "on", "only its owner uses a temporary table: otherwise a drop would take a dozen "+
			"exclusive locks of the shared table"),
		set("temp_async_commit", "on", "a crash removes temporary tables anyway: a transaction that wrote nothing "+
			"else does not wait for the disk; all others do"),
		set("temp_buffers_by_relation", "on",
			"otherwise a drop or truncate looks at every buffer of temp_buffers, however small the table"),
		set("temp_lazy_files", "on", "a temporary table that fits temp_buffers never reads its files: creating and "+
			"removing four of them would take a quarter of its life"),
		set("temp_lazy_toast", "on", "few temporary tables hold a value too long for a row, yet the toast table that "+
			"all of them get is half of the cost of creating one"),
	}
}

func clamp(n, least, most int64) int64 { return min(max(n, least), most) }

// tidy rounds down to four significant binary digits: a readable number that does not change when the machine has a few
// pages more or less.
func tidy(n int64) int64 {
	keep := bits.Len64(uint64(n)) - 4
	if keep <= 0 {
		return n
	}
	return n >> keep << keep
}
