/*-------------------------------------------------------------------------
 *
 * temp_invalidation.h
 *	  Cache invalidation of temporary relations without the shared queue.
 *
 * IDENTIFICATION
 *	  src/include/plimsoll/temp_invalidation.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_INVALIDATION_H
#define PLIMSOLL_TEMP_INVALIDATION_H

#include "access/htup.h"
#include "plimsoll/temp_relation.h"
#include "storage/lockdefs.h"
#include "storage/procnumber.h"
#include "storage/relfilelocator.h"
#include "storage/sinval.h"
#include "utils/catcache.h"
#include "utils/relcache.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_local_invalidation;

extern PGDLLIMPORT int temp_invalidations_deferred;

extern const TempRelationListener temp_invalidation_listener;
extern Size temp_invalidation_shmem_size(void);
extern void temp_invalidation_shmem_init(void);

/* The owner's side */
extern bool temp_invalidation_record_row(Relation catalog, HeapTuple tuple);
extern bool temp_invalidation_is_silent(Relation catalog, HeapTuple tuple);

/* The side of all the others */
extern void temp_invalidation_catcache_loaded(CatCache *cache, uint32 hashValue,
											  HeapTuple tuple, Datum *keys);
extern void temp_invalidation_relcache_loaded(Relation relation);
extern void temp_invalidation_exclusive_lock_taken(void);

/* Messages that wait for the next AcceptInvalidationMessages() */
extern void temp_invalidation_defer(SharedInvalidationMessage *msg);
extern void temp_invalidation_run_deferred(void);

/* Does nobody else need to hear of a change of this relation? */
static inline bool
temp_invalidation_stays_local(Oid relid)
{
	return temp_local_invalidation && temp_relation_owned(relid) != NULL;
}

/* Can nobody else have these files open? */
static inline bool
temp_invalidation_file_is_ours(RelFileLocatorBackend rlocator)
{
	return temp_local_invalidation &&
		rlocator.backend != INVALID_PROC_NUMBER &&
		rlocator.backend == ProcNumberForTempRelations();
}

/* A lock on an object has just been granted. */
static inline void
temp_invalidation_lock_taken(LOCKMODE lockmode)
{
	if (lockmode == AccessExclusiveLock)
		temp_invalidation_exclusive_lock_taken();
}

#endif							/* PLIMSOLL_TEMP_INVALIDATION_H */
