/*-------------------------------------------------------------------------
 *
 * temp_commit.c
 *	  Commit without a flush of transactions that wrote only temporary tables.
 *
 * Temporary tables do not survive a crash, so there is no point in waiting for
 * the disk when a transaction that did nothing else commits.  Stock PostgreSQL
 * knows that of their rows, which are not logged, but not of their catalog rows,
 * which are.  With temp_async_commit = on the commit of a transaction whose
 * WAL consists of catalog rows of temporary relations of this session (see
 * temp_relation.c), and of records that owe nobody anything, is made like one
 * with synchronous_commit = off, and waits for no standby.
 *
 * All that asynchronous commit takes care of holds: the order of commit record, clog
 * and hint bits (by LSN), checkpoints, and that a later durable commit makes this
 * one durable first, since WAL is flushed in order.  What a crash may lose
 * is rows of pg_class and its like which the next user of the temporary schema
 * would have to remove otherwise.  Someone else's permanent object that
 * depends on them comes later in the WAL, so it cannot survive them.
 *
 * Each record is taken for one that matters unless it is known not to: inserted
 * while writing a catalog row of a temporary relation of ours, with its index
 * entries, toast and page maintenance, or of a kind that a crash may lose
 * with any transaction.  So what is forgotten here costs a flush, not data.
 *
 * src/backend/plimsoll/temp_commit.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "catalog/pg_control.h"
#include "plimsoll/temp_commit.h"
#include "plimsoll/temp_invalidation.h"
#include "plimsoll/temp_relation.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

bool		temp_async_commit = false;

/* Has the transaction written WAL that a crash must not lose after commit? */
bool		xact_wrote_to_keep = false;

/* Are we writing a catalog row of a temporary relation of ours? */
int			temp_commit_scope = 0;

/* Body of temp_commit_wal_written(). */
bool
temp_commit_is_to_keep(RmgrId rmid, uint8 info)
{
	switch (rmid)
	{
		case RM_XACT_ID:
			/* the end of the transaction itself, or for standbys to know */
		case RM_STANDBY_ID:
			/* locks and running transactions: of interest while they last */
		case RM_CLOG_ID:
			/* a zeroed page: redone by whoever needs it */
			return false;
		case RM_XLOG_ID:
			/* the OIDs are given out again if lost with all their users */
			info &= ~XLR_INFO_MASK;
			return info != XLOG_NEXTOID && info != XLOG_FPI_FOR_HINT;
		case RM_HEAP2_ID:
			/* pruning met on the way, command ids for logical decoding */
			info &= XLOG_HEAP_OPMASK;
			return info != XLOG_HEAP2_PRUNE_ON_ACCESS &&
				info != XLOG_HEAP2_NEW_CID;
		default:
			return true;
	}
}

/*
 * About to write this catalog row: is it about a temporary relation of ours?
 * If so, returns true, and nothing that gets logged matters until
 * temp_commit_leave(), or the end of the (sub)transaction by an error.
 */
bool
temp_commit_enter(Relation catalog, HeapTuple tuple)
{
	if (!temp_async_commit ||
		temp_relation_count == 0 ||
		!temp_invalidation_owns_row(catalog, tuple))
		return false;
	temp_commit_scope++;
	return true;
}

/* The same for several rows, which have to be ours without exception. */
bool
temp_commit_enter_slots(Relation catalog, TupleTableSlot **slots, int nslots)
{
	if (!temp_async_commit || temp_relation_count == 0)
		return false;

	for (int i = 0; i < nslots; i++)
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slots[i], false, &should_free);
		bool		ours = temp_invalidation_owns_row(catalog, tuple);

		if (should_free)
			heap_freetuple(tuple);
		if (!ours)
			return false;
	}
	temp_commit_scope++;
	return true;
}

/* The same for a row to be deleted. */
bool
temp_commit_enter_tid(Relation catalog, ItemPointer tid)
{
	HeapTupleData tuple;
	Buffer		buffer;
	bool		entered;

	if (!temp_async_commit || temp_relation_count == 0)
		return false;

	tuple.t_self = *tid;
	if (!heap_fetch(catalog, SnapshotAny, &tuple, &buffer, false))
		return false;
	entered = temp_commit_enter(catalog, &tuple);
	ReleaseBuffer(buffer);
	return entered;
}

/* An error may have thrown us out of a scope; no subtransaction spans one. */
void
AtEOSubXact_TempCommit(void)
{
	temp_commit_scope = 0;
}
