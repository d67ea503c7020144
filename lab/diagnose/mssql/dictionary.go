package mssql

import (
	"strings"

	"plimsoll/ground/postgres/waits"
)

// Meaning of a wait type.
type Meaning struct {
	Class waits.Class
	Idle  bool // background tasks wait for work
	Known bool // it is in the dictionary
	// Stands names what a PostgreSQL server shows in its place; empty: nothing does, and Why says so.
	Stands string
	Why    string
}

// meanings by the beginning of a wait type; the longest that fits holds.
var meanings = map[string]Meaning{
	"PAGELATCH_": {Class: waits.Latch, Stands: "LWLock:BufferContent, IPC:BtreePage",
		Why: "pages in memory; of tempdb its allocation pages, for which PostgreSQL has catalog rows of temp tables"},
	"PAGEIOLATCH_": {Class: waits.IO, Stands: "IO:DataFileRead", Why: "pages read from disk"},
	"WRITELOG": {Class: waits.WAL, Stands: "IO:WalSync, LWLock:WALWrite",
		Why: "a commit waits until the log is flushed"},
	"LOGBUFFER": {Class: waits.WAL, Stands: "LWLock:WALBufMapping, LWLock:WALInsert",
		Why: "room in the log's buffer in memory"},
	"LOGMGR":       {Class: waits.WAL, Stands: "IO:WalWrite", Why: "the log's own writes"},
	"LOGMGR_QUEUE": {Idle: true},
	"LCK_M_": {Class: waits.Lock, Stands: "Lock:transactionid, Lock:tuple, Lock:relation",
		Why: "another transaction holds the row or table; readers do not wait for writers in PostgreSQL, so many of " +
			"these vanish"},
	"CXPACKET": {Class: waits.IPC, Stands: "IPC:ExecuteGather",
		Why: "parallel plans: their tasks wait for each other"},
	"CXCONSUMER": {Class: waits.IPC, Stands: "IPC:ExecuteGather", Why: "parallel plans: waiting for rows"},
	"CXSYNC_":    {Class: waits.IPC, Stands: "IPC:HashBuildHashInner and others", Why: "parallel plans"},
	"RESOURCE_SEMAPHORE": {Class: waits.Other,
		Why: "a queue for memory of sorts and hashes; PostgreSQL has none: it writes temporary files beyond work_mem"},
	"RESOURCE_SEMAPHORE_QUERY_COMPILE": {Class: waits.Other,
		Why: "a queue for memory of compilations; PostgreSQL has none"},
	"THREADPOOL": {Class: waits.Other,
		Why: "no worker is free; PostgreSQL refuses connections beyond max_connections, a pooler lets them queue"},
	"SOS_SCHEDULER_YIELD": {Class: waits.Running, Stands: "waiting for a processor",
		Why: "a task has used up its turn and waits for the next"},
	"ASYNC_NETWORK_IO":    {Class: waits.Client, Stands: "Client:ClientWrite", Why: "the client takes its rows slowly"},
	"ASYNC_IO_COMPLETION": {Class: waits.IO, Stands: "IO:DataFileExtend, IO:DataFileSync", Why: "files grow, backups"},
	"IO_COMPLETION": {Class: waits.IO, Stands: "IO:BufFileRead, IO:BufFileWrite",
		Why: "sorts on disk, and others"},
	"WRITE_COMPLETION": {Class: waits.IO, Stands: "IO:DataFileWrite"},
	"BACKUP":           {Class: waits.IO, Stands: "IO:BaseBackupRead", Why: "a backup"},
	"LATCH_":           {Class: waits.Latch, Stands: "LWLock", Why: "structures in memory other than pages"},
	"CMEMTHREAD": {Class: waits.Latch,
		Why: "memory that all tasks allocate from; each process of PostgreSQL has its own"},
	"SPINLOCK": {Class: waits.Latch, Stands: "Timeout:SpinDelay"},
	"HADR_SYNC_COMMIT": {Class: waits.Standby, Stands: "IPC:SyncRep",
		Why: "a synchronous replica confirms a commit"},
	"WAITFOR": {Class: waits.Sleep, Stands: "Timeout:PgSleep", Why: "the program asked for it"},
	"OLEDB": {Class: waits.Extension, Stands: "Extension (postgres_fdw, dblink)",
		Why: "linked servers"},
	"PREEMPTIVE_": {Class: waits.Extension,
		Why: "calls of the operating system and of external procedures"},
	"MSQL_XP": {Class: waits.Extension, Why: "extended procedures"},
	"DTC":     {Class: waits.Other, Stands: "prepared transactions", Why: "distributed transactions"},
	"TRANSACTION_MUTEX": {Class: waits.Lock,
		Why: "several requests of one transaction; PostgreSQL has no such thing"},
	"TEMPOBJ": {Class: waits.Latch, Stands: "catalog rows of temp tables",
		Why: "temp tables are dropped"},
	"SESSION_WAIT_STATS":      {Idle: true},
	"LAZYWRITER_SLEEP":        {Idle: true},
	"SLEEP_":                  {Idle: true},
	"BROKER_":                 {Idle: true},
	"XE_":                     {Idle: true},
	"CLR_":                    {Idle: true},
	"REQUEST_FOR_DEADLOCK":    {Idle: true},
	"SQLTRACE_":               {Idle: true},
	"TRACEWRITE":              {Idle: true},
	"CHECKPOINT_QUEUE":        {Idle: true},
	"CHKPT":                   {Idle: true},
	"HADR_":                   {Idle: true},
	"DIRTY_PAGE_POLL":         {Idle: true},
	"ONDEMAND_TASK_QUEUE":     {Idle: true},
	"FT_":                     {Idle: true},
	"DISPATCHER_QUEUE":        {Idle: true},
	"QDS_":                    {Idle: true},
	"SP_SERVER_DIAGNOSTICS":   {Idle: true},
	"WAIT_XTP_":               {Idle: true},
	"PARALLEL_REDO_":          {Idle: true},
	"PWAIT_":                  {Idle: true},
	"SOS_WORK_DISPATCHER":     {Idle: true},
	"VDI_CLIENT_OTHER":        {Idle: true},
	"DBMIRROR":                {Idle: true},
	"UCS_SESSION":             {Idle: true},
	"KSOURCE_WAKEUP":          {Idle: true},
	"SERVER_IDLE_CHECK":       {Idle: true},
	"EXECSYNC":                {Class: waits.IPC, Stands: "IPC:ExecuteGather", Why: "parallel plans"},
	"FSAGENT":                 {Idle: true},
	"PERFORMANCE_COUNTERS_":   {Idle: true},
	"PREEMPTIVE_XE_":          {Idle: true},
	"PREEMPTIVE_OS_FLUSHFILE": {Class: waits.IO, Stands: "IO:DataFileSync"},
	"POPULATE_LOCK_ORDINALS":  {Idle: true},
	"RESOURCE_QUEUE":          {Idle: true},
	"STARTUP_DEPENDENCY":      {Idle: true},
	"MEMORY_ALLOCATION_EXT":   {Class: waits.Other, Why: "allocations of memory; mostly running"},
	"RESERVED_MEMORY_":        {Class: waits.Other, Why: "reserving memory"},
}

// Of is the meaning of a wait type. One that is not in the dictionary is of a class of its own, so that it stays in
// sight.
func Of(wait string) Meaning {
	best, found := "", false
	for begins := range meanings {
		if strings.HasPrefix(wait, begins) && len(begins) > len(best) {
			best, found = begins, true
		}
	}
	if !found {
		return Meaning{Class: waits.Other, Why: "not in the dictionary"}
	}
	m := meanings[best]
	m.Known = true
	return m
}
