package run

import (
	"time"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/host/neighbours"
	"plimsoll/ground/postgres"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// record is everything known about a run: what was requested, what set-up found, and what was seen while users worked.
// The result is computed from it alone, whether the run ended or its process died.
type record struct {
	Options
	id      string
	began   time.Time
	crowd   users.Crowd
	machine machine.Machine
	workers []result.Worker
	servers []int // processes of the application, on this machine

	before, after *postgres.Server // nil: no database, or it was lost
	// what the workers report about themselves
	profilesBefore, profilesAfter profiles

	rampBegan      time.Time
	made           LoadResult
	memoryBefore   heldMemory       // log-in
	memoryAfter    heldMemory       // it
	othersBefore   neighbours.Taken // the load
	meters         readings
	otherLoads     *otherLoads    // nil: not watched
	diagnosis      *diagnosis     // nil: there is no database
	changes        []users.Change // by the user
	workerExits    []workerExit   // of workers in service
	stoppedByUser  bool
	failedAlike    string // the error of all operations, for which the run was ended; empty: it was not
	failedCount    int64
	shortOfRows    bool         // the run was ended since no row was left for somebody
	lastFatal      string       // of the server's log, if it died
	notKept        string       // why the result of a run that ended could not be stored
	journalStop    *journalStop // nil: the journal is complete
	audit          result.Audit
	auditedBefore  *result.Audit // nil: not checked
	reconciliation *result.Reconciliation
	counted        []int64 // before the load, by operation; nil: nothing to count
}

// result computes the result.
func (r *record) result(finished time.Time) *result.Result {
	all := r.begun()
	r.measured(all, finished)
	return all
}
