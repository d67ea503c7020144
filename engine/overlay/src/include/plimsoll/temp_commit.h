/*-------------------------------------------------------------------------
 *
 * temp_commit.h
 *	  Commit without a flush of transactions that wrote only temporary tables.
 *
 * src/include/plimsoll/temp_commit.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_COMMIT_H
#define PLIMSOLL_TEMP_COMMIT_H

#include "access/rmgr.h"
#include "access/xlogrecord.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_async_commit;

extern PGDLLIMPORT bool xact_wrote_to_keep;
extern PGDLLIMPORT int temp_commit_scope;

extern bool temp_commit_is_to_keep(RmgrId rmid, uint8 info);
extern bool temp_commit_enter(Relation catalog, HeapTuple tuple);
extern bool temp_commit_enter_slots(Relation catalog, TupleTableSlot **slots,
									int nslots);
extern bool temp_commit_enter_tid(Relation catalog, ItemPointer tid);
extern void AtEOSubXact_TempCommit(void);

/* A WAL record has been inserted: does the transaction owe it to anyone? */
static inline void
temp_commit_wal_written(RmgrId rmid, uint8 info)
{
	if (!xact_wrote_to_keep && temp_commit_scope == 0)
		xact_wrote_to_keep = temp_commit_is_to_keep(rmid, info);
}

/* The end of what temp_commit_enter...() began, if it did. */
static inline void
temp_commit_leave(bool entered)
{
	if (entered)
		temp_commit_scope--;
}

/* Would a crash lose nothing but temporary tables with this transaction? */
static inline bool
temp_commit_may_be_lost(void)
{
	return temp_async_commit && !xact_wrote_to_keep;
}

/* Wherever XactLastRecEnd is reset. */
static inline void
temp_commit_reset(void)
{
	xact_wrote_to_keep = !temp_async_commit;
	temp_commit_scope = 0;
}

#endif							/* PLIMSOLL_TEMP_COMMIT_H */
