package diagnose

import "plimsoll/lab/diagnose/threshold"

// Limit is a threshold with its reason.
type Limit = threshold.Limit

// limits are all thresholds; a report carries them.
var limits threshold.List

func limit(name string, value float64, reason string) *Limit { return limits.Add(name, value, reason) }

var (
	noteFrom = limit("price of a note", 0.02,
		"share of the time; two samples of the same load differ by as much")
	problemFrom   = limits.Share(threshold.Problem)
	sessionsLeast = limit("active sessions", 0.2,
		"on average; on a server with less to do every finding is a note")
	applicationFrom = limit("price of a problem of one application", 0.04,
		"share of all time: twice that of a note, since two looks at one load differ by as much as a note")
	applicationPart = limit("part of one application's time", 0.2,
		"twice the share of a problem: one application has fewer samples than all")
	fullCore = limit("one core filled", 0.9,
		"threads of a process that run or wait for a processor in a second, on average; the rest is lost to "+
			"interrupts and to the scheduler")
	fullCoreMost = limit("one core filled, at most", 1.4,
		"threads of that process: one that has handed its work to the next may wait beside it for a moment")
	fullCoreMostly = limit("one core filled, how long", 0.8,
		"share of the seconds; a program of several threads comes to one core's use in some of them by chance")
	filledAtLeast = limit("one core filled, used", 0.7,
		"cores; a process that gets less of its core has others in its way, which are named instead")
	othersBusy = limit("processors taken by others", 0.25,
		"share of all cores; half of one of two cores, beyond what daemons of a quiet machine use")
	sharedPressure = limit("machine shared", 0.5,
		"share of the time in which some process waits for a processor while other programs run; beyond it a late "+
			"client may be waiting for a processor or for the network")
	machineBusy = limit("machine busy", 0.85,
		"share of all cores; beyond it the queue for a processor grows faster than the load")
	mainUser = limit("main user of the processors", 0.5,
		"share of what is in use; with less, the other users matter more")
	gapLong = limit("long gap of a transaction", 1,
		"seconds; a network or a program takes less between two statements: this is a person or a program that hangs")
	stealMost = limit("steal", 0.05,
		"share of all cores; a hypervisor that is not overcommitted takes less")
	throttledMost = limit("throttled", 0.05,
		"share of the time; a quota that is wide enough never binds")
	churnRows = limit("catalog rows", 50,
		"rows of catalogs inserted and deleted in a second; one temporary table with an index writes about twenty")
	deadRows = limit("dead rows", 2,
		"dead rows for each live one; autovacuum begins at 0.2")
	deadRowsLeast = limits.Share(threshold.DeadRowsLeast)
	heldXids      = limits.Share(threshold.HeldXIDs)
	heldSeconds   = limit("horizon held for", 10,
		"seconds; usual transactions end sooner, and autovacuum's naptime is of this size")
	connectsPerS = limits.Share(threshold.ConnectionsPerS)
	littleApart  = limit("Little's law", 0.30,
		"difference of two measurements of the same; sampling at 20 Hz for a minute is within a tenth")
	littleLeast = limit("Little's law, sessions", 0.5,
		"difference in sessions; a look keeps others from a processor and counts them: 0.2 too many on two cores")
	timedApart = limit("timed and sampled waits", 0.1,
		"of the waits, beyond three standard errors of the samples; both read the same clock of the same waits")
	endedMost = limit("timed waits of ended processes", 0.1,
		"of all that was timed; processes of the server itself are among them, which samples leave out")
	staleRows     = limits.Share(threshold.StaleRows)
	rowsPerScan   = limits.Share(threshold.RowsPerScan)
	secondsPerRow = limit("time of a row read in a scan", 2e-7,
		"seconds, at most: what a scan can take of its statement's time")
	secondsPerHiddenRow = limit("time of a row read within a statement", 2e-6,
		"seconds, at most: a loop of a function takes ten times as long for a row as a scan")
	secondsPerFetch = limit("time of a row that is read, without functions", 1e-6,
		"seconds, at most: one that an index finds in memory and that is added up")
	secondsPerWrite = limit("time of a row that is written, without triggers", 1e-5,
		"seconds, at most: a row with entries in some indexes, and its log")
	secondsPerCall = limit("time of a call, without its rows", 2e-4,
		"seconds, at most: a statement on one table is parsed, planned and begun in less")
	rowsDropped = limit("rows read of a call", 1000, "fewer are read in a millisecond")
	droppedEach = limit("rows read for each that is returned", 100, "a condition that an index serves well reads a few")
	pagesLeast  = limit("pages of a table with few rows", 1000, "8 MB: a smaller table is read in a millisecond")
	rowsOfPage  = limit("rows of a page", 2,
		"on average; a row of more than 2 kB is stored apart, so that a full page has four at least")
	secondsPerPage = limit("time of a page in a scan", 2e-6, "seconds, at most: in memory, without its rows")
	topStatement   = limit("one statement takes most of the time", 0.5, "share of the time of all sessions")
	topMS          = limit("call of the statement that takes most", 50,
		"milliseconds; what an index finds takes a hundredth of that")
	vacuumsLeast = limit("autovacuum of one table", 3, "runs while it was watched; one or two may be by chance")
	vacuumsEvery = limit("autovacuum comes again", 20,
		"seconds; autovacuum_naptime is a minute, for a vacuum and an analyze of each table")
	busyWith = limit("sessions that do one thing", 0.25,
		"share of a session's time; a person's session does many things, and waits for him most of the time")
	shortParallelMS = limit("short statement with workers", 20,
		"milliseconds; a scan of as long in one process is not worth another one")
	workerMS    = limit("start of a parallel worker", 1, "milliseconds, of a new process")
	workersPart = limit("waits for workers", 0.2,
		"of a statement's time; where workers help the one that leads them works as much as they do")
	secondsPerToast = limit("time of a block of a value stored apart", 1e-5,
		"seconds: 8 kB are fetched and unpacked, at some 800 MB/s")
	scansPerCall = limit("scans of a table in one call", 20,
		"a statement that names a table ten times reads it ten times")
	updatesLeast = limit("updates of a table", 100, "a second; fewer cost little, wherever they write")
	deadEntries  = limit("dead entries of an index", 10,
		"read for each row that is found; a table that is vacuumed has fewer dead rows than live ones")
	secondsPerTempByte = limit("time of a byte of temporary files", 5e-9, "seconds; as a disk of 200 MB/s takes")
	checkpointEvery    = limit("checkpoints follow each other", 30,
		"seconds; from then on the server itself warns (checkpoint_warning)")
	imagesMost = limit("whole pages in the log", 0.25, "share of the log; between two distant checkpoints they "+
		"are few")
	beginsLeast   = limit("transactions begun by BEGIN", 100, "while it was watched; fewer say nothing")
	planningLeast = limit("planning of a call", 1,
		"milliseconds; a statement on a few tables is planned in less")
	repeatsLeast = limit("statement repeated", 10,
		"times in one transaction, one after the other; a program that does it fewer times loses less than it would "+
			"win")
	rollbacksLeast = limit("rollbacks", 0.05,
		"share of the transactions; usual errors of users are rarer")
	endedLeast = limit("work ended by a limit", 10,
		"times while it was watched; a few may be by chance")
	endedPart = limit("work ended by a limit, part", 0.25,
		"of the time of statements that come near it; a limit that ends fewer does what it is for")
	dutiesEach = limit("statements that do no work", 3,
		"for each one that does; a transaction has a begin and an end")
	dutiesPerS = limit("statements that do no work, rate", 50,
		"a second; fewer are a moment of anybody's time")
	writesEach = limit("writes with each read", 0.4,
		"of the calls of a role that read; fewer are what users change")
	locksManyRows = limit("rows locked by a call", 10, "that reads; who changes one row locks one")
	workersLeast  = limit("parallel workers planned", 10,
		"while it was watched; of fewer a missing one says nothing")
	unusedMost = limit("unused indexes", 5,
		"of one table, none of them unique; fewer may serve a monthly report")
	bulkRows = limit("rows written in bulk", 10_000,
		"rows a second that one table gains or changes; many active users write fewer")
	bulkEach = limit("rows written in bulk by each transaction", 10,
		"rows of one table for each transaction of the server; many small commits are no load in bulk")
	longStatement = limit("long statement", 0.25,
		"seconds; an operation that a user waits for has many statements, and each takes less")
	diskBusy = limit("disk busy", 0.5,
		"share of the time; with less a transfer finds the disk idle more often than not")
	diskOfOthers = limit("disk taken by others", 0.5,
		"share of what the disk moved that the database neither read nor wrote")
	gapShort = limit("short gap of a transaction", 0.0005,
		"seconds; a program on the server's machine takes as long; the rest is "+
			"the network's, or the program's own work")
	spillPerS  = limit("temporary files", 1<<20, "bytes in a second")
	usualFlush = limit("usual flush", 1,
		"milliseconds; a disk with a protected cache is faster, also behind a fast network")
	serverPart = limit("processors taken by a part of the server", 0.1,
		"share of the server's own use; writers of a quiet server take less")
	busyWorkers = limit("autovacuum at work", 0.5,
		"workers on average; with fewer it works now and then, as it should")
	excessTimes = limit("waits while a checkpoint runs", 1.5,
		"times those between two; two stretches of the same load differ by less")
	behindLeast = limit("log not replayed or not fetched", 64<<20, "bytes; four segments, which a busy server "+
		"writes in "+
		"seconds")
	loggedByte = limit("time of a byte of the server's log", 1e-8,
		"seconds, of formatting, writing and collecting; a line of 200 bytes takes some 2 µs")
	talkingLeast = limit("sessions between two transactions", 1,
		"on average, idle for less than a tenth of a second; fewer are nobody's operation")
	tinyPerS = limit("transactions of a session", 50,
		"a second; an operation that a user waits for does not need so many")
	subtransactionsEach = limit("numbers taken by each transaction", 1.5,
		"each takes one at most, and those that only read take none")
	subtransactionsLeast = limit("numbers of transactions taken", 100, "a second; fewer subtransactions cost little")
	secondsPerSub        = limit("time of a subtransaction", 2e-5,
		"seconds: its begin, its end, an error that is caught; without what it does")
	termsLeast  = limit("conditions joined by OR", 20, "in one statement; a person writes fewer")
	valuesLeast = limit("values in a list", 100, "in one statement; a page of a list has fewer")
	beyondPart  = limit("work beyond the rows", 0.5,
		"of a statement's processor time: what its rows and its call do not take")
	beyondMS = limit("call that works beyond its rows", 5,
		"milliseconds of processor time; a short one may take as long to begin")
	costlyMS = limit("call with a costly operation", 3,
		"milliseconds of processor time; a shorter one has few rows, whatever it does with them")
	computedMS = limit("call that computes for each row", 1,
		"milliseconds of processor time; a shorter one has nothing to gain")
	loopsLeast = limit("runs of a subquery in a call", 10,
		"and entries of an index that each reads: fewer are as cheap as a join")
	largeValue = limit("log of a row with small values", 4096,
		"bytes, with entries in some indexes; a value of more than 2 kB is stored apart")
	secondsPerSorted = limit("time of a row that is sorted", 2e-6,
		"seconds, at most: it is read, its key is computed and compared with some others")
	pendingLeast = limit("rows since the last vacuum", 1000,
		"of a table with a GIN index; a list of the entries of fewer is read in a moment")
	firstWithin = limit("first statement of its transaction", 0.001,
		"seconds from the transaction's begin to its own: it is parsed and planned in less")
	poolBusy = limit("connections always busy", 0.75,
		"part of the looks at which one is in a transaction: who asks for it by chance then waits three times as long "+
			"as it works")
	scatteredRows = limit("whole pages for each row that is inserted", 0.05,
		"keys in order fill one page after the other: a page has some hundred of them")
	scatteredPerS = limit("whole pages a second by scattered keys", 20,
		"0.16 MB/s, 14 GB a day; with fewer the log hardly grows")
	scatteredPart = limit("log that is whole pages by scattered keys", 0.5,
		"share of the log: without them it would be half")
	queueLeast = limit("commit slower than its flush", 3,
		"times; a flush for two commits at once explains two")
)
