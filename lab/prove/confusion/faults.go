package confusion

import (
	"context"
	"time"
)

// fault is one kind that can be planted.
type fault struct {
	name, does string
	// from says who else plants it: DBPA, D-Bot; empty: our own.
	from string
	// answers are the findings each of which names it.
	answers []string
	hidden  bool
	// What the server and its network are started with.
	settings map[string]string
	flush    time.Duration
	network  time.Duration
	plant    func(ctx context.Context, s *scene) error
}

var faults = []*fault{
	{name: "slow-flush", does: "each flush takes 5 ms", answers: []string{"log-flush"},
		flush: slowFlush, plant: checkAtLeast("a commit", slowFlush, oneCommit)},
	{name: "slow-network", does: "a round trip takes 2 ms", answers: []string{"client-or-network-gaps"}, hidden: true,
		network: slowTrip, plant: checkAtLeast("a round trip", slowTrip, "SELECT 1")},
	{name: "hot-row", does: "an idle client locks a row that all need", answers: []string{"lock-held-by-idle-client"},
		plant: hotRow},
	{name: "cpu-quota", does: "a control group allows a fifth of a core", answers: []string{"processor-quota"},
		hidden: true, plant: cpuQuota},
	{name: "filled-core", does: "another process fills the server's only core",
		answers: []string{"processors-taken-by-others", "one-core-filled"}, plant: filledCore},
	{name: "catalog-churn", does: "temporary tables are created and dropped", answers: []string{"catalog-churn"},
		plant: catalogChurn},
	{name: "stale-statistics", does: "a table grew since its last ANALYZE", answers: []string{"stale-statistics"},
		plant: staleStatistics},
	{name: "bloated-table", does: "a table that changes is not vacuumed", answers: []string{"dead-rows"},
		plant: bloatedTable},
	{name: "held-horizon", does: "an old snapshot keeps dead rows", answers: []string{"held-horizon"}, hidden: true,
		plant: heldHorizon},
	{name: "connection-storm", does: "a connection for each statement", answers: []string{"connection-storm"},
		plant: connectionStorm},
	{name: "small-work-mem", does: "work_mem is 64 kB while reports sort", answers: []string{"temporary-files"},
		settings: map[string]string{"work_mem": "64kB"}, plant: sortingReports},
	{name: "global-stall", does: "all processes stop for 400 ms each second", answers: []string{"standstill"},
		plant: globalStall},

	{name: "topology-lies", does: "the kernel shows 24 sockets of one core",
		answers: []string{contradiction + "topology"},
		hidden:  true, plant: checkTopology},
	{name: "small-shared-buffers", from: "DBPA", does: "shared_buffers is 1 MB", answers: []string{"data-transfers"},
		settings: map[string]string{"shared_buffers": "1MB", "wal_buffers": "4MB"}, plant: checkMisses},
	{name: "missing-index", from: "DBPA, D-Bot", does: "the index of the orders' customer is gone",
		answers: []string{"missing-index"}, plant: missingIndex},
	{name: "too-many-indexes", from: "DBPA, D-Bot", does: "twenty indexes that nobody reads",
		answers: []string{"unused-indexes"}, plant: tooManyIndexes},
	{name: "vacuum", from: "DBPA, D-Bot", does: "a client vacuums tables all the time",
		answers: []string{"maintenance"}, plant: vacuum},
	{name: "backup", from: "DBSherlock", does: "pg_dump in a loop", answers: []string{"backup"}, hidden: true,
		plant: backup},
	{name: "poor-join", from: "D-Bot", does: "a join without equality",
		answers: []string{"long-statements", "work-beyond-the-rows", "costly-operation"}, plant: poorJoin},
	{name: "concurrent-inserts", from: "DBPA, D-Bot", does: "bulk loads", answers: []string{"bulk-writing"},
		plant: concurrentInserts},
	{name: "large-results", from: "D-Bot", does: "clients read a whole table slowly",
		answers: []string{"large-results"}, hidden: true, plant: largeResults},
	{name: "lock-waits", from: "DBPA, D-Bot", does: "working transactions lock the same rows",
		answers: []string{"lock-contention"}, hidden: true, plant: lockWaits},
	{name: "heavy-workload", from: "DBPA", does: "many clients that never think", answers: []string{"processors-full"},
		hidden: true, plant: heavyWorkload},
	{name: "concurrent-commits", from: "DBPA", does: "many small commits at once", answers: []string{"log-flush"},
		plant: concurrentCommits},
	{name: "io-saturation", from: "DBPA, D-Bot", does: "other programs write to the disk",
		answers: []string{"disk-taken-by-others"}, hidden: true, plant: ioSaturation},
	{name: "correlated-subquery", from: "D-Bot", does: "a subquery runs for each row of a table",
		answers: []string{"long-statements", "missing-index"}, hidden: true, plant: correlatedSubquery},
	{name: "cpu-contention", from: "D-Bot", does: "other processes fill all cores",
		answers: []string{"processors-taken-by-others"}, hidden: true, plant: cpuContention},
	{name: "table-lock", does: "a job locks a whole table and works", answers: []string{"lock-contention"},
		hidden: true, plant: tableLock},
	{name: "queued-migration", does: "ALTER TABLE waits for an idle reader, and all behind it",
		answers: []string{"lock-held-by-idle-client"}, plant: queuedMigration},
	{name: "commit-delay", does: "commit_delay is 20 ms for all sessions", answers: []string{"log-flush"},
		settings: map[string]string{"commit_delay": "20000", "commit_siblings": "0"},
		plant:    checkAtLeast("a commit", commitDelay/4, oneCommit)},
}

// controls are no faults of the matrix: experiments plant them.
var controls = []*fault{
	{name: "jobs-10", does: "10 jobs that never think", plant: jobs(10)},
	{name: "jobs-20", does: "20 jobs that never think", plant: jobs(20)},
	{name: "jobs-50", does: "50 jobs that never think", plant: jobs(50)},
	{name: "random-stalls", does: "all processes stop at random, as long as the options say", plant: randomStalls},
	{name: "missing-library", does: "a setting is on whose library is not loaded",
		settings: map[string]string{MissingLibrary + ".enable": "on"}, plant: nothing},
}

// MissingLibrary is the one whose setting is on.
const MissingLibrary = "online_analyze"

func nothing(context.Context, *scene) error { return nil }

// Jobs is their application.
const Jobs = "jobs"

// jobs write documents one after the other.
func jobs(n int) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		s.clients(n, Jobs, 0, sell)
		s.checkSteps(Jobs, 1)
		return nil
	}
}

// compounds: those of DBPA's generator that two loads of ours can make, and some of our own.
var compounds = []string{
	"missing-index+concurrent-commits", "missing-index+too-many-indexes", "missing-index+lock-waits",
	"small-shared-buffers+concurrent-inserts", "too-many-indexes+lock-waits", "vacuum+too-many-indexes",
	"too-many-indexes+heavy-workload", "hot-row+slow-flush", "slow-flush+missing-index",
	"bloated-table+connection-storm", "commit-delay+missing-index", "table-lock+slow-flush",
	"correlated-subquery+connection-storm",
}
