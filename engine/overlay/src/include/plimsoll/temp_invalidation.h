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

#include "storage/lockdefs.h"
#include "access/htup.h"
#include "storage/sinval.h"
#include "utils/catcache.h"
#include "utils/relcache.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_local_invalidation;

extern PGDLLIMPORT int temp_invalidations_deferred;

struct TempRelationListener;
extern const struct TempRelationListener temp_invalidation_listener;
extern Size temp_invalidation_shmem_size(void);
extern void temp_invalidation_shmem_init(void);

/* The owner's side */
extern bool temp_invalidation_is_ours(Relation catalog, HeapTuple tuple);
extern bool temp_invalidation_is_silent(Relation catalog, HeapTuple tuple);

/* The side of all the others */
extern void temp_invalidation_catcache_loaded(CatCache *cache, uint32 hashValue,
											  HeapTuple tuple, Datum *keys);
extern void temp_invalidation_relcache_loaded(Relation relation);
extern void temp_invalidation_exclusive_lock_taken(void);

/* Messages that wait for the next AcceptInvalidationMessages() */
extern void temp_invalidation_defer(const SharedInvalidationMessage *msgs, int n);
extern void temp_invalidation_run_deferred(void);

/* A lock on an object has just been granted. */
static inline void
temp_invalidation_lock_taken(LOCKMODE lockmode)
{
	if (lockmode == AccessExclusiveLock)
		temp_invalidation_exclusive_lock_taken();
}

#endif							/* PLIMSOLL_TEMP_INVALIDATION_H */
