package profile

const (
	locksFull  = 1000
	locksSmall = 256
	// smallMachine: below this memory the size of the field report's lock table matters.
	smallMachine = 4 * gB
)

func (m share) locksPerTransaction() int {
	if m.bytes < smallMachine {
		return locksSmall
	}
	return locksFull
}

func (m share) locks() []Setting {
	if m.locksPerTransaction() == locksSmall {
		return []Setting{set("max_locks_per_transaction", locksSmall, "a transaction holds hundreds of temp tables "+
			"and their indexes; less than the field report's %d, whose table is too large below 4GB", locksFull)}
	}
	return []Setting{set("max_locks_per_transaction", locksFull,
		"as in the field report: a transaction holds hundreds of temp tables and their indexes")}
}

func (m share) observing() []Setting {
	return []Setting{
		set("log_lock_waits", "on", "as in the field report: who waited over a second for whom"),
		set("log_checkpoints", "on", "as in the field report: a dip in the load is often a checkpoint"),
		set("log_temp_files", Bytes(16*mB), "as in the field report, from 16MB on: queries for which work_mem is "+
			"too small"),
	}
}
