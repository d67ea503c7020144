/*-------------------------------------------------------------------------
 *
 * memcat_tuple.h
 *	  Commands of SQL that write rows of catalogs.
 *
 * src/include/plimsoll/memcat_tuple.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_MEMCAT_TUPLE_H
#define PLIMSOLL_MEMCAT_TUPLE_H

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "plimsoll/memcat.h"

extern void memcat_tuple_multi_insert(Relation relation, TupleTableSlot **slots,
									  int nslots, CommandId cid, int options,
									  struct BulkInsertStateData *bistate);
extern TM_Result memcat_tuple_delete(Relation relation, ItemPointer tid,
									 TM_FailureData *tmfd);
extern TM_Result memcat_tuple_update(Relation relation, ItemPointer otid,
									 TupleTableSlot *slot, HeapTuple tuple,
									 bool should_free, TM_FailureData *tmfd,
									 LockTupleMode *lockmode,
									 TU_UpdateIndexes *update_indexes);
extern TM_Result memcat_tuple_lock(Relation relation, ItemPointer tid,
								   TupleTableSlot *slot, TM_FailureData *tmfd);

/* SQL is about to write this row: to a catalog, and about a table in memory? */
static inline void
memcat_tuple_written(Relation relation, HeapTuple tuple)
{
	if (unlikely(memcat_active) && IsCatalogRelation(relation))
		memcat_written_by_sql(relation, tuple);
}

#endif							/* PLIMSOLL_MEMCAT_TUPLE_H */
