/*-------------------------------------------------------------------------
 *
 * temp_commit.c
 *	  Commit without a flush of transactions that wrote only temporary tables.
 *
 * Temporary tables do not survive a crash, so a transaction that changed nothing
 * else need not wait for the disk when it commits.  Stock PostgreSQL does not log
 * the rows of temporary tables, but it does log their catalog rows.  With
 * temp_async_commit = on, a transaction commits as with synchronous_commit = off,
 * and waits for no standby, if its WAL consists only of catalog rows of this
 * session's temporary relations (see temp_relation.c) and of records that need
 * not survive a crash.
 *
 * Asynchronous commit ensures the rest: the order of commit record, clog and hint
 * bits (by LSN), checkpoints, and that a later durable commit makes this one
 * durable first, since WAL is flushed in order.  A crash may lose only catalog
 * rows that the next user of the temporary schema would have to remove anyway.
 * A permanent object that depends on them comes later in the WAL, so it cannot
 * survive them.
 *
 * A record counts as one that matters unless we know better: it was inserted
 * while writing a catalog row of a temporary relation of ours (with its index
 * entries, toast and page maintenance) or locking one, or it is of a kind that a
 * crash may lose with any transaction.  If we miss such a case, it costs a flush,
 * not data.
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
#include "plimsoll/temp_row.h"
#include "storage/bufmgr.h"
#include "storage/standbydefs.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

bool		temp_async_commit = false;

/* Has the transaction written WAL that a crash must not lose after commit? */
bool		xact_wrote_durable = false;

/* Are we writing a catalog row of a temporary relation of ours? */
int			temp_commit_scope = 0;

const TempRelationListener temp_commit_listener = {
	.setting = &temp_async_commit,
};

/* Body of temp_commit_wal_written(). */
bool
temp_commit_record_matters(RmgrId rmid, uint8 info)
{
	switch (rmid)
	{
		case RM_XACT_ID:
			/* the end of the transaction itself, or for standbys to know */
		case RM_CLOG_ID:
			/* a zeroed page: redone by whoever needs it */
			return false;
		case RM_STANDBY_ID:
			/* running transactions, of interest while they last */
			info &= ~XLR_INFO_MASK;
			return info == XLOG_STANDBY_LOCK;
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
		!temp_row_is_ours(catalog, tuple))
		return false;
	temp_commit_scope++;
	return true;
}

/*
 * The same for several rows.  If one of them is not ours, no scope is opened.
 */
bool
temp_commit_enter_slots(Relation catalog, TupleTableSlot **slots, int nslots)
{
	if (!temp_async_commit || temp_relation_count == 0)
		return false;

	for (int i = 0; i < nslots; i++)
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slots[i], false, &should_free);
		bool		ours = temp_row_is_ours(catalog, tuple);

		if (should_free)
			heap_freetuple(tuple);
		if (!ours)
			return false;
	}
	temp_commit_scope++;
	return true;
}

/* The same for an exclusive lock, which standbys are told. */
bool
temp_commit_enter_lock(Oid relid)
{
	if (!temp_async_commit ||
		temp_relation_count == 0 ||
		temp_relation_find(relid) == NULL)
		return false;
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

/*
 * An error may have left a scope open.  A scope never spans the end of a
 * subtransaction, so all can be closed here.
 */
void
AtEOSubXact_TempCommit(void)
{
	temp_commit_scope = 0;
}
