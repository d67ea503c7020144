package advise

import "plimsoll/lab/diagnose/threshold"

// Limit is a threshold with its reason.
type Limit = threshold.Limit

// limits are all thresholds; a report carries them.
var limits threshold.List

func limit(name string, value float64, reason string) *Limit { return limits.Add(name, value, reason) }

var (
	problemFrom = limits.Share(threshold.Problem)
	missesMost  = limit("blocks not in memory", 0.02,
		"share of the blocks requested; a cache large enough for the load misses fewer")
	missesMany     = limit("many blocks not in memory", 0.10, "share of the blocks requested; each costs a read")
	accessesLeast  = limit("blocks asked for", 100_000, "fewer are the warm-up of a cache")
	spillsLeast    = limit("temporary files", 10, "of sorts and joins; fewer may be a weekly report")
	spillsPerS     = limit("temporary files a second", 10e3, "bytes; fewer are a report now and then")
	spillsMany     = limit("many temporary files a second", 1e6, "bytes, on average over day and night")
	readsPerS      = limit("blocks read a second", 1000, "8 MB/s on average over day and night; fewer cost little")
	requestsLeast  = limit("checkpoints asked for", 10, "fewer are backups and restarts")
	fullLogBuffers = limit("full log buffers", 0.01, "share of the log's pages that a session wrote to make room")
	targetMost     = limit("statistics target", 1000,
		"planning a query reads that many values of each column; the default is 100")
	targetMany = limit("large statistics target", 5000, "near the limit of 10,000: no plan needs it for each column")
	diskCosts  = limit("random page cost of a solid-state disk", 2,
		"a random read costs hardly more there than a sequential one; the default of 4 fits rotating disks")
	staleFor = limit("age of the last ANALYZE or VACUUM", 900,
		"seconds; since then autovacuum has run a dozen times and left the table as it is")
	changedLeast = limit("rows changed at least", 1000, "fewer change no plan")
	changedMost  = limits.Share(threshold.StaleRows)
	behindTimes  = limit("dead rows beyond autovacuum's own threshold", 2, "times; at 1 it is about to start")
	deadLeast    = limits.Share(threshold.DeadRowsLeast)
	freezeMost   = limit("age of the oldest transaction", 1.2,
		"times autovacuum_freeze_max_age; from 1 on autovacuum works on it and should finish soon")
	freezeLate = limit("transactions of an old row", 1e9,
		"half of what the server allows; a problem even while autovacuum works on it")
	bloatShare = limit("empty space of a table", 0.30,
		"share of its pages; fillfactor and dead rows of a day are less")
	bloatLeast      = limit("empty space at least", 10<<20, "bytes; less fits into any cache")
	bloatMany       = limit("much empty space", 100<<20, "bytes, if half of the table or more")
	indexBloatShare = limit("empty space of an index", 0.40,
		"share of its pages; entries that come in no order leave a third of each page empty")
	measureMost  = limit("indexes that pgstattuple may read", 1<<30, "bytes in all; it reads the whole index")
	deletesLeast = limit("rows deleted that others may refer to", 100,
		"or statements that change their key; fewer are occasional corrections")
	heldXIDs   = limits.Share(threshold.HeldXIDs)
	heldFor    = limit("horizon held back for", 600, "seconds; reports take minutes")
	heldLog    = limit("log held by a slot", 1<<30, "bytes; without a limit the log grows until the disk is full")
	scanRowsPS = limit("rows read to find a few", 50_000,
		"rows a second: 1 % of a processor, which reads some five million")
	rowsScan   = limits.Share(threshold.RowsPerScan)
	scansLeast = limit("whole scans", 10, "fewer are reports")
	indexShare = limit("time of a statement without an index", 0.01,
		"share of the time of all statements; an index costs each write of its table")
	indexGain = limit("cost with an index", 0.5, "times that of a whole scan, as the planner counts; with more it may "+
		"not be used")
	indexWrites  = limit("rows not read for each row written", 10, "entering a row into an index costs as much")
	widthMost    = limit("width of an indexed value", 200, "bytes on average; a B-tree refuses rows of 2,704")
	writesMost   = limit("writes of a table with an unused index", 1000, "rows; each was also entered into the index")
	usesLeast    = limit("reads of a table with an unused index", 1000, "with fewer, no index had a chance to be used")
	lifeLeast    = limit("life of a session", 10, "seconds, on average; a pool keeps its connections for minutes")
	sessionsOf   = limit("sessions begun", 100, "fewer are people with psql")
	sessionsPS   = limit("sessions begun a second", 1, "fewer are monitoring and jobs; a pool makes a few in a minute")
	sessionsMany = limits.Share(threshold.ConnectionsPerS)
	usedMost     = limit("connections used", 0.9, "share of max_connections; the next burst is refused")
	churnTimes   = limit("catalog rows deleted", 5, "times the live rows; a stable schema deletes none")
	churnPerS    = limit("catalog rows deleted a second", 10, "a temp table every other second; fewer are jobs")
	churnLeast   = limit("catalog rows deleted at least", 10_000, "fewer are a deployment")
	tempBytes    = limit("temp table without statistics", 64<<10, "bytes; the planner guesses smaller ones well enough")
	emptyLeast   = limit("TRUNCATEs of temp tables", 1000, "fewer are a nightly job")
	emptyShare   = limit("time of TRUNCATEs of temp tables", 0.01, "share of that of all statements, with lost plans")
	emptyRows    = limit("rows of a small temp table", 200,
		"at each TRUNCATE; DELETE of ten takes a twentieth of the time on stock PostgreSQL, and of 200 no longer")
	lagMost   = limit("lag of a replica", 5, "seconds; a large transaction delays it that much for a moment")
	lagLong   = limit("long lag of a replica", 60, "seconds; a report or a backup from it is older than that")
	lagBytes  = limit("lag of a replica in log", 64<<20, "bytes, if its age is not known: four log segments")
	splitMost = limit("split totals", 0.5, "share of the rows; every reader adds them up again")
	filesMany = limit("tables and indexes of a database", 50_000,
		"each is two files or more; from hundreds of thousands on folders, backups and recovery are slow")
)
