package profile

// The field report's settings that depend on the machine, where this one is smaller: each lock of
// max_locks_per_transaction takes that much memory for each connection, which may take an eighth of it.
const (
	reportConnections = 9000
	reportWorkers     = 80
	lockBytes         = 350
	lockShare         = 8
)

// report are the settings of the field report as it gives them: with 30,000 users on 96 cores and 1 TB. They lose
// commits in a crash. Its temp_tablespaces need disks of their own, and its autovacuum_vacuum_cost_limit is given
// twice, the last time with a value that PostgreSQL refuses; neither is here.
func report(in Input) []Setting {
	m := shareOf(in)
	connections := max(connectionsMin, min(reportConnections, int(m.bytes/lockShare/(locksFull*lockBytes))))
	const given = "as in the field report"
	all := []Setting{
		set("max_connections", connections, "%s, as far as the lock table of %d locks for each takes at most an "+
			"eighth of the memory (field report: %d)", given, locksFull, reportConnections),
		set("shared_buffers", Bytes(m.sharedBuffers()), "%s: 25 %% of the memory", given),
		set("temp_buffers", "256MB", "%s: with all connections that is more than the machine has", given),
		set("work_mem", "256MB", given),
		set("bgwriter_delay", "20ms", given), set("bgwriter_lru_maxpages", 500, given),
		set("bgwriter_lru_multiplier", "4.0", given),
		set("wal_level", "minimal", given), set("max_wal_senders", 0, "required by wal_level minimal"),
		set("synchronous_commit", "off", "%s: a crash loses the last commits", given),
		set("commit_delay", 1000, "%s: without effect while synchronous_commit is off", given),
		set("commit_siblings", 5, given),
		set("checkpoint_timeout", "20min", given), set("max_wal_size", Bytes(m.maxWal()),
			"%s: 12GB, at most a tenth of the free disk", given),
		set("checkpoint_completion_target", "0.9", given),
		set("random_page_cost", "1.1", given), set("from_collapse_limit", 20, given),
		set("join_collapse_limit", 20, given), set("max_parallel_workers_per_gather", 0, given),
		set("jit", "off", given),
		set("autovacuum_max_workers", reportWorkers, given),
	}
	if m.version >= 18 {
		all = append(all, set("autovacuum_worker_slots", reportWorkers, "room for these workers"))
	}
	return append(all,
		set("autovacuum_naptime", "20s", given), set("autovacuum_vacuum_scale_factor", "0.01", given),
		set("autovacuum_analyze_scale_factor", "0.01", given),
		set("max_locks_per_transaction", locksFull, given),
		set("log_lock_waits", "on", given), set("log_checkpoints", "on", given),
		set("log_temp_files", Bytes(16*mB), "%s, from 16MB on", given),
	)
}
