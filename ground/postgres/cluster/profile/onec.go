package profile

import "strings"

const (
	// reportCores is the machine of the field report, for what grows with the cores.
	reportCores = 96
	// oneCFiles is what guides for 1C servers give: an infobase has 6,000 tables and 20,000 indexes.
	oneCFiles = 8000

	oneCConnectionsMin = 100 // PostgreSQL's own

	oneCPlugins = "pgoutput, test_decoding, dbcopies_decoding"
)

// oneC are the settings for a 1C server: those of the field report where they lose nothing and fit this machine. It
// keeps a connection for each session that has a transaction or a temporary table open, and works in temporary tables.
// What it sets in its own sessions (standard_conforming_strings, escape_string_warning, enable_mergejoin,
// cpu_operator_cost, lock_timeout, lc_messages) is not here: other programs on the server would suffer.
func oneC(in Input) []Setting {
	m := shareOf(in)
	var all []Setting
	for _, group := range [][]Setting{
		m.oneCConnections(), m.oneCMemory(), m.background(), m.oneCParallel(), m.whole(), m.oneCLog(), m.checkpoints(),
		m.groupCommit(), m.planner(), m.autovacuum(), m.oneCDelay(), m.locks(), m.observing(), m.patched(),
		in.oneCLibraries(),
	} {
		all = append(all, group...)
	}
	return all
}

func (m share) oneCMost() int {
	byCores := reportConnections * m.cores / reportCores
	byMemory := int(m.bytes / lockShare / (int64(m.locksPerTransaction()) * lockBytes))
	return max(oneCConnectionsMin, min(byCores, byMemory, reportConnections))
}

func (m share) oneCConnections() []Setting {
	return []Setting{set("max_connections", m.oneCMost(), "%d on %d cores in the field report, here by cores and "+
		"memory, of which the lock table for that many takes at most an eighth; 100 at least", reportConnections,
		reportCores)}
}

func (m share) oneCParallel() []Setting {
	return []Setting{m.parallelMaintenance(), set("max_parallel_workers_per_gather", 0,
		"as in the field report: thousands of short operations fill the cores; parallel queries take them from others")}
}

func (m share) oneCMemory() []Setting {
	return []Setting{
		set("shared_buffers", Bytes(m.sharedBuffers()), "as in the field report: 25 %% of the memory"),
		m.hugePages(),
		m.cacheSize(),
		set("temp_buffers", Bytes(clamp(tidy(m.bytes/8/m.active()), 16*mB, 256*mB)),
			"1/8 of the memory over %d active sessions, 16MB to 256MB: the field report's 256MB for each of its "+
				"connections is more than its machine has, and a session never releases what it took", m.active()),
		set("work_mem", Bytes(m.workMem()),
			"not the field report's 256MB everywhere: 1/4 of the memory over %d active sessions with four sorts or "+
				"hashes each, 4MB to 256MB", m.active()),
		m.maintenance(), m.autovacuumMemory(),
		set("max_files_per_process", oneCFiles, "an infobase has 6,000 tables and 20,000 indexes: with the default "+
			"of 1000 a session opens and closes files all the time; the limit of open files (ulimit -n) still holds"),
	}
}

// oneCLog: a server that people work on is backed up.
func (m share) oneCLog() []Setting {
	return []Setting{
		durable("a crash would lose documents whose users were told that they are posted"),
		set("wal_level", "replica", "not minimal as in the field report: backups, standbys and point-in-time recovery "+
			"need it; 1C's database copies need logical, which user.conf can set"),
		set("max_wal_senders", 10, "each backup takes two, each standby one"),
		set("max_slot_wal_keep_size", Bytes(m.maxWal()), "the log kept for a disconnected standby, at most: beyond it "+
			"the standby must be created again, but the disk does not fill up"),
	}
}

func (m share) oneCDelay() []Setting {
	return []Setting{set("autovacuum_vacuum_cost_delay", "2ms", "PostgreSQL's own value, not the 20ms of old guides: "+
		"with 20ms the cost limit above means a tenth, and registers grow faster than they are cleaned")}
}

// oneCLibraries are preloaded where the installation has them: a library that is missing keeps the server from
// starting.
func (in Input) oneCLibraries() []Setting {
	var libraries []string
	var all []Setting
	if in.installed("online_analyze") {
		libraries = append(libraries, "online_analyze")
		all = append(all, set("online_analyze.enable", "on", "autovacuum never sees temporary tables: without "+
			"statistics right after they are filled queries took 17 times as long in the field report"),
			set("online_analyze.table_type", "temporary", "autovacuum serves the others"),
			set("online_analyze.verbose", "off", "nobody reads it, and it costs a line for each table"))
	}
	if in.installed("plantuner") {
		libraries = append(libraries, "plantuner")
		all = append(all, set("plantuner.fix_empty_table", "on",
			"PostgreSQL takes a table that was never analyzed for ten full pages, even if it is empty"))
	}
	if len(libraries) > 0 {
		all = append([]Setting{set("shared_preload_libraries", strings.Join(libraries, ", "),
			"what a 1C server expects beyond extensions")}, all...)
	}
	if in.installed("dbcopies_decoding") {
		all = append(all, set("output_plugin_libraries", oneCPlugins, "from 18.6 on a decoding plugin must be named "+
			"here; PostgreSQL's own two, and that of 1C's database copies"))
	}
	return all
}

func (in Input) installed(library string) bool { return in.Library == nil || in.Library(library) }
