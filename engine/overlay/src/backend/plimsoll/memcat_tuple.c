/*-------------------------------------------------------------------------
 *
 * memcat_tuple.c
 *	  Commands of SQL that write rows of catalogs.
 *
 * INSERT and COPY write to the real catalog, whatever the row is about; UPDATE,
 * DELETE and locks of rows in memory, which their virtual TID tells, are dealt
 * with here.  The heap's table access method calls these functions.
 *
 * src/backend/plimsoll/memcat_tuple.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/indexing.h"
#include "plimsoll/memcat_tuple.h"
#include "plimsoll/temp_statistics.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Instead of heap_multi_insert(), which core calls for rows of its own, too. */
void
memcat_tuple_multi_insert(Relation relation, TupleTableSlot **slots, int nslots,
						  CommandId cid, int options, BulkInsertState bistate)
{
	if (unlikely(memcat_active) && IsCatalogRelation(relation))
	{
		for (int i = 0; i < nslots; i++)
		{
			bool		should_free;
			HeapTuple	tuple = ExecFetchSlotHeapTuple(slots[i], true, &should_free);

			memcat_written_by_sql(relation, tuple);
			if (should_free)
				pfree(tuple);
		}
	}
	temp_statistics_inserted(relation, slots, nslots);
	heap_multi_insert(relation, slots, nslots, cid, options, bistate);
}

/* Has a command of this transaction deleted the row in memory? */
static bool
row_is_gone(Relation relation, ItemPointer tid, TM_FailureData *tmfd)
{
	if (!memcat_tid_deleted(RelationGetRelid(relation), tid, &tmfd->cmax))
		return false;
	tmfd->ctid = *tid;
	tmfd->xmax = GetCurrentTransactionId(); /* MERGE looks whose it is */
	return true;
}

TM_Result
memcat_tuple_delete(Relation relation, ItemPointer tid, TM_FailureData *tmfd)
{
	if (row_is_gone(relation, tid, tmfd))
		return TM_SelfModified;
	CatalogTupleDelete(relation, tid);
	return TM_Ok;
}

/* The tuple is that of the slot. */
TM_Result
memcat_tuple_update(Relation relation, ItemPointer otid, TupleTableSlot *slot,
					HeapTuple tuple, bool should_free, TM_FailureData *tmfd,
					LockTupleMode *lockmode, TU_UpdateIndexes *update_indexes)
{
	TM_Result	result = TM_Ok;

	*lockmode = LockTupleExclusive;
	*update_indexes = TU_None;
	if (row_is_gone(relation, otid, tmfd))
		result = TM_SelfModified;
	else
	{
		CatalogTupleUpdate(relation, otid, tuple);
		slot->tts_tid = tuple->t_self;
	}
	if (should_free)
		pfree(tuple);
	return result;
}

/* Rows in memory are ours anyway. */
TM_Result
memcat_tuple_lock(Relation relation, ItemPointer tid, TupleTableSlot *slot,
				  TM_FailureData *tmfd)
{
	if (row_is_gone(relation, tid, tmfd))
		return TM_SelfModified;
	return memcat_tid_fetch(RelationGetRelid(relation), tid, SnapshotSelf, slot) ?
		TM_Ok : TM_Deleted;
}
