/*-------------------------------------------------------------------------
 *
 * temp_parallel.h
 *	  Parallel workers read the temporary tables of their leader.
 *
 * src/include/plimsoll/temp_parallel.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_PARALLEL_H
#define PLIMSOLL_TEMP_PARALLEL_H

#include "access/parallel.h"
#include "access/xact.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/shm_toc.h"
#include "storage/smgr.h"
#include "utils/guc.h"
#include "varatt.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_parallel_scans;

/* Planner */
extern bool temp_parallel_allows(Oid relid);
extern Cost temp_parallel_price(PlannerInfo *root, RelOptInfo *rel);

/* Leader */
extern List *temp_parallel_collect(PlanState *planstate, ParallelContext *pcxt);
extern void temp_parallel_share(List *relations, ParallelContext *pcxt);
extern bool temp_parallel_fetches_value(Datum value);
extern Size temp_parallel_fetched_size(Datum value);

/* Worker */
extern void temp_parallel_receive(shm_toc *toc);
extern bool temp_parallel_received(void);
extern void temp_parallel_check_shared(SMgrRelation reln);

/*
 * Workers may be reading the files of temporary tables, so nobody writes on them:
 * neither hint bits nor pruning may make a local buffer dirty.
 */
static inline bool
temp_parallel_forbids_writes(void)
{
	return unlikely(temp_parallel_scans) && IsInParallelMode();
}

/*
 * A value that goes to workers is out of line in a temporary table, so it has to
 * be fetched before: they may not be able to read its toast table.
 */
static inline bool
temp_parallel_fetches(Datum value)
{
	return unlikely(temp_parallel_scans) &&
		VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)) &&
		temp_parallel_fetches_value(value);
}

/* In a worker: a page of this relation is about to be read. */
static inline void
temp_parallel_check(SMgrRelation reln)
{
	if (unlikely(IsParallelWorker()))
		temp_parallel_check_shared(reln);
}

/* The number of local buffers that this process has, or will have. */
static inline int
temp_parallel_buffers(void)
{
	/*
	 * A worker has an eighth of its leader's, but all up to the default of 8 MB:
	 * a scan of many partitions pins a page of each.
	 */
	if (unlikely(IsParallelWorker()))
		return Max(num_temp_buffers / 8, Min(num_temp_buffers, 1024));
	return num_temp_buffers;
}

#endif							/* PLIMSOLL_TEMP_PARALLEL_H */
