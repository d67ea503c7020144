/*-------------------------------------------------------------------------
 *
 * plimsoll_temp.c
 *	  Looks at the traces that temporary tables leave in shared places.
 *
 * src/test/modules/plimsoll_temp/plimsoll_temp.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/resource.h>

#include "access/multixact.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/transam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/memnodes.h"
#include "plimsoll/memcat.h"
#include "plimsoll/temp_invalidation.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/dsm_registry.h"
#include "storage/lwlock.h"
#include "storage/sinval.h"
#include "storage/sinvaladt.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/memutils_internal.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(plimsoll_temp_shared_invalidations);
PG_FUNCTION_INFO_V1(plimsoll_temp_set_next_oid);
PG_FUNCTION_INFO_V1(plimsoll_temp_held_oids);
PG_FUNCTION_INFO_V1(plimsoll_temp_deferred_after_error);
PG_FUNCTION_INFO_V1(plimsoll_temp_fail_allocation);
PG_FUNCTION_INFO_V1(plimsoll_temp_allocation_failed);
PG_FUNCTION_INFO_V1(plimsoll_temp_held_references);
PG_FUNCTION_INFO_V1(plimsoll_temp_held_horizon);
PG_FUNCTION_INFO_V1(plimsoll_temp_limit_files);
PG_FUNCTION_INFO_V1(plimsoll_temp_pages);
PG_FUNCTION_INFO_V1(plimsoll_temp_in_worker);
PG_FUNCTION_INFO_V1(plimsoll_temp_skip_xids);
PG_FUNCTION_INFO_V1(plimsoll_temp_send_invalidations);
PG_FUNCTION_INFO_V1(plimsoll_temp_watch_invalidations);

/* What plimsoll_temp_deferred_after_error() waits for. */
static Oid	failing_relation = InvalidOid;
static Oid	awaited_relation = InvalidOid;
static int	awaited_seen = 0;

/* How many invalidation messages the sessions of this server have sent. */
Datum
plimsoll_temp_shared_invalidations(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) SharedInvalMessagesSent());
}

/* Sets the counter of OIDs, as if as many had been drawn. */
Datum
plimsoll_temp_set_next_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	TransamVariables->nextOid = PG_GETARG_OID(0);
	TransamVariables->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}

/* How many rows in the memory of sessions keep their OIDs from others. */
Datum
plimsoll_temp_held_oids(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(memcat_oid_held());
}

/* Sets the counter of transaction ids near a later one, as if as many had been drawn. */
Datum
plimsoll_temp_skip_xids(PG_FUNCTION_ARGS)
{
	/* pages of pg_xact and its like are made with the first id on each */
	TransactionId next = PG_GETARG_TRANSACTIONID(0) / 32768 * 32768;
	uint32		epoch;

	LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
	epoch = EpochFromFullTransactionId(TransamVariables->nextXid);
	if (TransactionIdPrecedes(XidFromFullTransactionId(TransamVariables->nextXid), next))
		TransamVariables->nextXid = FullTransactionIdFromEpochAndXid(epoch, next);
	LWLockRelease(XidGenLock);

	/* ... and ended, or snapshots would go on to see them as running */
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	TransamVariables->latestCompletedXid = TransamVariables->nextXid;
	FullTransactionIdRetreat(&TransamVariables->latestCompletedXid);
	LWLockRelease(ProcArrayLock);
	PG_RETURN_VOID();
}

/* The oldest transaction id that tables in the memory of sessions hold back. */
Datum
plimsoll_temp_held_horizon(PG_FUNCTION_ARGS)
{
	TransactionId frozen = ReadNextTransactionId();
	MultiXactId multi = ReadNextMultiXactId();

	memcat_clamp_frozen(MyDatabaseId, &frozen, &multi);
	PG_RETURN_TRANSACTIONID(frozen);
}

static void
count_reference(void *arg, int pid, Oid database, Oid classId, Oid objectId)
{
	(*(int64 *) arg)++;
}

/* How many objects, each for each session, tables in memory depend on. */
Datum
plimsoll_temp_held_references(PG_FUNCTION_ARGS)
{
	int64		n = 0;

	memcat_each_reference(count_reference, &n);
	PG_RETURN_INT64(n);
}

/* This process makes no larger files, nor segments of shared memory. */
Datum
plimsoll_temp_limit_files(PG_FUNCTION_ARGS)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		elog(ERROR, "getrlimit: %m");
	limit.rlim_cur = PG_GETARG_INT64(0);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		elog(ERROR, "setrlimit: %m");
	PG_RETURN_VOID();
}

/*
 * An allocation in one memory context fails once, as if there was no memory.
 */
static MemoryContext failing_context = NULL;
static const MemoryContextMethods *working_methods;
static MemoryContextMethods failing_methods;
static int	allocations_left;
static bool allocation_failed;

static void
work_again(void)
{
	if (failing_context != NULL)
		failing_context->methods = working_methods;
	failing_context = NULL;
}

static void *
fail_or_allocate(MemoryContext context, Size size, int flags)
{
	if (allocations_left-- > 0)
		return working_methods->alloc(context, size, flags);
	work_again();
	allocation_failed = true;
	return MemoryContextAllocationFailure(context, size, flags);
}

static MemoryContext
find_context(MemoryContext context, const char *name)
{
	if (strcmp(context->name, name) == 0 ||
		(context->ident && strcmp(context->ident, name) == 0))
		return context;
	for (MemoryContext child = context->firstchild; child; child = child->nextchild)
	{
		MemoryContext found = find_context(child, name);

		if (found)
			return found;
	}
	return NULL;
}

/* The context's allocation after so many will fail; false: there is none. */
Datum
plimsoll_temp_fail_allocation(PG_FUNCTION_ARGS)
{
	work_again();
	allocation_failed = false;
	allocations_left = PG_GETARG_INT32(1);
	failing_context = find_context(TopMemoryContext, text_to_cstring(PG_GETARG_TEXT_PP(0)));
	if (failing_context == NULL)
		PG_RETURN_BOOL(false);
	working_methods = failing_context->methods;
	failing_methods = *working_methods;
	failing_methods.alloc = fail_or_allocate;
	failing_context->methods = &failing_methods;
	PG_RETURN_BOOL(true);
}

/* Has it?  From now on none fails. */
Datum
plimsoll_temp_allocation_failed(PG_FUNCTION_ARGS)
{
	work_again();
	PG_RETURN_BOOL(allocation_failed);
}

static void
relation_invalidated(Datum arg, Oid relid)
{
	if (OidIsValid(relid) && relid == failing_relation)
	{
		failing_relation = InvalidOid;
		elog(ERROR, "a callback failed");
	}
	if (OidIsValid(relid) && relid == awaited_relation)
		awaited_seen++;
}

/*
 * A session defers three messages to itself, about the two relations in turn, and
 * executing the first one fails.  How many of the other two are executed when it
 * looks for messages again?
 */
Datum
plimsoll_temp_deferred_after_error(PG_FUNCTION_ARGS)
{
	static bool registered = false;
	MemoryContext context = CurrentMemoryContext;
	SharedInvalidationMessage msg = {0};
	bool		failed = false;

	if (!registered)
		CacheRegisterRelcacheCallback(relation_invalidated, (Datum) 0);
	registered = true;
	AcceptInvalidationMessages();

	msg.rc.id = SHAREDINVALRELCACHE_ID;
	msg.rc.dbId = MyDatabaseId;
	for (int i = 0; i < 3; i++)
	{
		msg.rc.relId = PG_GETARG_OID(i == 0 ? 0 : 1);
		temp_invalidation_defer(&msg);
	}
	failing_relation = PG_GETARG_OID(0);
	awaited_relation = PG_GETARG_OID(1);
	awaited_seen = 0;
	PG_TRY();
	{
		AcceptInvalidationMessages();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		failed = true;
	}
	PG_END_TRY();
	if (!failed)
		elog(ERROR, "the first message did not fail");
	AcceptInvalidationMessages();
	awaited_relation = InvalidOid;
	PG_RETURN_INT32(awaited_seen);
}

/*
 * A storm of messages about relations that do not exist: writer w sends those of
 * numbers w << 24 | 1, 2, 3 and so on, readers see them in a relcache callback.
 * Writers wait for readers that have fallen far behind, lest these be reset.
 */
#define MAX_STORMERS	16
#define MAX_LEAD		1000	/* messages; a reader is reset at about 4,000 */
#define SEQUENCE(relid)	((relid) & 0xFFFFFF)
#define WRITER(relid)	((relid) >> 24)

typedef struct Storm
{
	pg_atomic_uint32 sent[MAX_STORMERS];	/* by writer */
	pg_atomic_uint32 watching;	/* readers that have begun */
	pg_atomic_uint32 failed;	/* a reader has found a fault: all may end */
	pg_atomic_uint32 seen[MAX_STORMERS][MAX_STORMERS];	/* by reader and writer */
} Storm;

/* in a reader: the last number seen, by writer */
static uint32 storm_seen[MAX_STORMERS];
static int64 storm_gaps = 0;
static int64 storm_resets = 0;

static void
init_storm(void *ptr)
{
	Storm	   *storm = ptr;

	pg_atomic_init_u32(&storm->watching, 0);
	pg_atomic_init_u32(&storm->failed, 0);
	for (int w = 0; w < MAX_STORMERS; w++)
	{
		pg_atomic_init_u32(&storm->sent[w], 0);
		for (int r = 0; r < MAX_STORMERS; r++)
			pg_atomic_init_u32(&storm->seen[r][w], 0);
	}
}

static Storm *
get_storm(void)
{
	bool		found;

	return GetNamedDSMSegment("plimsoll_temp storm", sizeof(Storm), init_storm, &found);
}

static void
storm_message(Datum arg, Oid relid)
{
	uint32		writer = WRITER(relid);

	if (!OidIsValid(relid))
		storm_resets++;
	else if (writer > 0 && writer < MAX_STORMERS)
	{
		if (SEQUENCE(relid) != storm_seen[writer] + 1)
			storm_gaps++;
		storm_seen[writer] = SEQUENCE(relid);
	}
}

/*
 * Until each reader has seen what the writer sent up to a number.  False: there is
 * no use in it.
 */
static bool
await_readers(Storm *storm, int writer, int readers, uint32 number)
{
	for (int r = 0; r < readers; r++)
	{
		while (pg_atomic_read_u32(&storm->watching) < readers ||
			   pg_atomic_read_u32(&storm->seen[r][writer]) < number)
		{
			CHECK_FOR_INTERRUPTS();
			if (pg_atomic_read_u32(&storm->failed))
				return false;
			pg_usleep(10);
		}
	}
	return true;
}

/* Sends n messages in batches of 1, 2, 3 and so on up to batch, and again. */
Datum
plimsoll_temp_send_invalidations(PG_FUNCTION_ARGS)
{
	int			writer = PG_GETARG_INT32(0);
	int			writers = PG_GETARG_INT32(1);
	int			readers = PG_GETARG_INT32(2);
	uint32		n = PG_GETARG_INT32(3);
	uint32		batch = PG_GETARG_INT32(4);
	uint32		lead = MAX_LEAD / writers;
	uint32		number = 0;
	SharedInvalidationMessage *msgs = palloc0_array(SharedInvalidationMessage, batch);
	Storm	   *storm = get_storm();

	/* who comes to watch when messages were sent would miss them */
	if (!await_readers(storm, writer, readers, 0))
		PG_RETURN_VOID();
	for (uint32 size = 1; number < n; size = size % batch + 1)
	{
		uint32		count = Min(size, n - number);

		for (uint32 i = 0; i < count; i++)
		{
			msgs[i].rc.id = SHAREDINVALRELCACHE_ID;
			msgs[i].rc.dbId = MyDatabaseId;
			msgs[i].rc.relId = (Oid) writer << 24 | (number + i + 1);
		}
		if (number + count > lead &&
			!await_readers(storm, writer, readers, number + count - lead))
			break;
		SendSharedInvalidMessages(msgs, count);
		number += count;
		/* as one lets go of a lock: who sees this must see the messages */
		pg_write_barrier();
		pg_atomic_write_u32(&storm->sent[writer], number);
	}
	PG_RETURN_VOID();
}

/*
 * Reads messages until n of each writer have come, or not as they should.  Each
 * look for messages must bring all that had been sent before it, in order.
 */
Datum
plimsoll_temp_watch_invalidations(PG_FUNCTION_ARGS)
{
	int			reader = PG_GETARG_INT32(0);
	int			writers = PG_GETARG_INT32(1);
	uint32		n = PG_GETARG_INT32(2);
	Storm	   *storm = get_storm();
	int64		late = 0;
	bool		all;

	CacheRegisterRelcacheCallback(storm_message, (Datum) 0);
	AcceptInvalidationMessages();
	pg_atomic_fetch_add_u32(&storm->watching, 1);
	do
	{
		uint32		sent[MAX_STORMERS];

		CHECK_FOR_INTERRUPTS();
		for (int w = 1; w <= writers; w++)
			sent[w] = pg_atomic_read_u32(&storm->sent[w]);
		/* as one takes the lock */
		pg_memory_barrier();
		AcceptInvalidationMessages();

		all = true;
		for (int w = 1; w <= writers; w++)
		{
			if (storm_seen[w] < sent[w])
				late++;
			all = all && sent[w] == n;
			pg_atomic_write_u32(&storm->seen[reader][w], storm_seen[w]);
		}
		if (late > 0 || storm_gaps > 0 || storm_resets > 0)
			pg_atomic_write_u32(&storm->failed, 1);
	} while (!all && !pg_atomic_read_u32(&storm->failed));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("late " INT64_FORMAT ", gaps " INT64_FORMAT
											  ", resets " INT64_FORMAT,
											  late, storm_gaps, storm_resets)));
}

/* The size of a relation as who scans it asks for it: pg_relpages() does, of pgstattuple. */
Datum
plimsoll_temp_pages(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	BlockNumber pages = RelationGetNumberOfBlocks(rel);

	relation_close(rel, AccessShareLock);
	PG_RETURN_INT64(pages);
}

/* Is this process a parallel worker? */
Datum
plimsoll_temp_in_worker(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(IsParallelWorker());
}
