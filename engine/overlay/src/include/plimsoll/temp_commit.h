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

struct TempRelationListener;
extern const struct TempRelationListener temp_commit_listener;

extern PGDLLIMPORT bool xact_wrote_durable;
extern PGDLLIMPORT int temp_commit_scope;

extern bool temp_commit_record_matters(RmgrId rmid, uint8 info);
extern bool temp_commit_enter(Relation catalog, HeapTuple tuple);
extern bool temp_commit_enter_slots(Relation catalog, TupleTableSlot **slots,
									int nslots);
extern bool temp_commit_enter_lock(Oid relid);
extern bool temp_commit_enter_tid(Relation catalog, ItemPointer tid);
extern void AtEOSubXact_TempCommit(void);

/* A WAL record has been inserted: must it survive a crash after commit? */
static inline void
temp_commit_wal_written(RmgrId rmid, uint8 info)
{
	if (!xact_wrote_durable && temp_commit_scope == 0)
		xact_wrote_durable = temp_commit_record_matters(rmid, info);
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
	return temp_async_commit && !xact_wrote_durable;
}

/* Wherever XactLastRecEnd is reset. */
static inline void
temp_commit_reset(void)
{
	xact_wrote_durable = !temp_async_commit;
	temp_commit_scope = 0;
}

#endif							/* PLIMSOLL_TEMP_COMMIT_H */
