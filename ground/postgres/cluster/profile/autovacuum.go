package profile

const (
	workersMin = 3
	workersMax = 80
	// costPerWorker is PostgreSQL's cost limit for a single worker.
	costPerWorker = 200
	costMax       = 10000
	// slotsDefault is the default of autovacuum_worker_slots, which bounds the workers from 18 on.
	slotsDefault = 16
)

// workers: the field report had 80 on 96 cores.
func (m share) workers() int { return min(max(workersMin, m.cores*5/6), workersMax) }

func (m share) autovacuum() []Setting {
	s := []Setting{
		set("autovacuum", "on", "never off: dead rows pile up and statistics go stale. Minutes without it are faster, "+
			"with three times the dead rows when measured; a field report lost 5 %% in hours"),
		set("autovacuum_max_workers", m.workers(), "five for six cores as in the field report, %d to %d", workersMin,
			workersMax),
	}
	if m.workers() > slotsDefault && m.version >= 18 {
		s = append(s, set("autovacuum_worker_slots", m.workers(), "room for these workers"))
	}
	return append(s,
		set("autovacuum_vacuum_cost_limit", min(m.workers()*costPerWorker, costMax),
			"%d for each worker: workers share one budget, so more workers alone do no more", costPerWorker),
		set("autovacuum_naptime", "20s", "as in the field report: registers are rewritten all the time"),
		set("autovacuum_vacuum_scale_factor", "0.01",
			"as in the field report: often and little, instead of bloat and a long vacuum at night"),
		set("autovacuum_analyze_scale_factor", "0.01",
			"as in the field report: stale statistics turn index scans into full scans"),
	)
}
