package profile

const (
	workersMin = 3
	workersMax = 80
	// costPerWorker is what PostgreSQL gives one worker alone.
	costPerWorker = 200
	costMax       = 10000
	// slotsDefault is autovacuum_worker_slots, which bounds the workers from 18 on.
	slotsDefault = 16
)

// workers: the field ran 80 on 96 cores.
func (m share) workers() int { return min(max(workersMin, m.cores*5/6), workersMax) }

func (m share) autovacuum() []Setting {
	s := []Setting{
		set("autovacuum", "on", "never off: measured 5 %% slower without it, and statistics go stale"),
		set("autovacuum_max_workers", m.workers(), "five for six cores as in the field, %d to %d", workersMin, workersMax),
	}
	if m.workers() > slotsDefault && m.version >= 18 {
		s = append(s, set("autovacuum_worker_slots", m.workers(), "room for these workers"))
	}
	return append(s,
		set("autovacuum_vacuum_cost_limit", min(m.workers()*costPerWorker, costMax), "%d for each worker: they share one budget, so more workers alone do not do more", costPerWorker),
		set("autovacuum_naptime", "20s", "the field's: registers are rewritten all the time"),
		set("autovacuum_vacuum_scale_factor", "0.01", "the field's: often and little, instead of bloat and a long vacuum at night"),
		set("autovacuum_analyze_scale_factor", "0.01", "the field's: stale statistics turn index scans into full scans"),
	)
}
