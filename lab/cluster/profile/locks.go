package profile

const (
	locksFull  = 1000
	locksSmall = 256
	// smallMachine is where the lock table of the field's setting would show.
	smallMachine = 4 * gB
)

func (m share) locks() []Setting {
	if m.bytes < smallMachine {
		return []Setting{set("max_locks_per_transaction", locksSmall, "a transaction holds hundreds of temp tables and their indexes; not the field's %d, whose table would weigh on less than 4GB", locksFull)}
	}
	return []Setting{set("max_locks_per_transaction", locksFull, "the field's: a transaction holds hundreds of temp tables and their indexes")}
}

func (m share) observing() []Setting {
	return []Setting{
		set("log_lock_waits", "on", "the field's: who waited over a second for whom"),
		set("log_checkpoints", "on", "the field's: a dip in the load often is a checkpoint"),
		set("log_temp_files", Bytes(16*mB), "the field's, from 16MB on: queries that work_mem is too small for"),
	}
}
