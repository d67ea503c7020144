/*-------------------------------------------------------------------------
 *
 * temp_storage.h
 *	  Storage of temporary relations that have no file until they need one.
 *
 * src/include/plimsoll/temp_storage.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_STORAGE_H
#define PLIMSOLL_TEMP_STORAGE_H

#include "plimsoll/temp_orphan.h"
#include "storage/aio_types.h"
#include "storage/shm_toc.h"
#include "storage/smgr.h"

/* GUC, fixed for the life of the session */
extern PGDLLIMPORT bool temp_lazy_files;

/* The storage manager, for smgrsw[] */
extern void temp_storage_create(SMgrRelation reln, ForkNumber forknum, bool isRedo);
extern bool temp_storage_exists(SMgrRelation reln, ForkNumber forknum);
extern void temp_storage_unlink(RelFileLocatorBackend rlocator, ForkNumber forknum,
								bool isRedo);
extern void temp_storage_extend(SMgrRelation reln, ForkNumber forknum,
								BlockNumber blocknum, const void *buffer, bool skipFsync);
extern void temp_storage_zeroextend(SMgrRelation reln, ForkNumber forknum,
									BlockNumber blocknum, int nblocks, bool skipFsync);
extern bool temp_storage_prefetch(SMgrRelation reln, ForkNumber forknum,
								  BlockNumber blocknum, int nblocks);
extern void temp_storage_readv(SMgrRelation reln, ForkNumber forknum,
							   BlockNumber blocknum, void **buffers, BlockNumber nblocks);
extern void temp_storage_startreadv(PgAioHandle *ioh,
									SMgrRelation reln, ForkNumber forknum,
									BlockNumber blocknum, void **buffers, BlockNumber nblocks);
extern void temp_storage_writev(SMgrRelation reln, ForkNumber forknum,
								BlockNumber blocknum, const void **buffers,
								BlockNumber nblocks, bool skipFsync);
extern void temp_storage_writeback(SMgrRelation reln, ForkNumber forknum,
								   BlockNumber blocknum, BlockNumber nblocks);
extern BlockNumber temp_storage_nblocks(SMgrRelation reln, ForkNumber forknum);
extern void temp_storage_truncate(SMgrRelation reln, ForkNumber forknum,
								  BlockNumber old_blocks, BlockNumber nblocks);
extern void temp_storage_immedsync(SMgrRelation reln, ForkNumber forknum);
extern void temp_storage_registersync(SMgrRelation reln, ForkNumber forknum);

/* For the rest of the core */
extern void temp_storage_make_file(SMgrRelation reln, ForkNumber forknum);
extern bool temp_storage_name_taken(RelFileLocatorBackend rlocator);
extern bool temp_storage_size(RelFileLocatorBackend rlocator,
							  ForkNumber forknum, int64 *size);
extern bool temp_storage_rewrite(SMgrRelation reln, ForkNumber forknum,
								 BlockNumber blocknum, const void *page);

/* In the leader of parallel workers: room for the sizes (temp_size.h), the sizes */
extern void temp_storage_estimate_sizes(shm_toc_estimator *estimator);
extern void temp_storage_share_sizes(shm_toc *toc);

/*
 * May this relation be one without files?  Called for each that the session opens
 * for the first time.
 */
static inline bool
temp_storage_manages(ProcNumber backend)
{
	return backend != INVALID_PROC_NUMBER &&
		(temp_lazy_files || temp_orphan_sessions());
}

#endif							/* PLIMSOLL_TEMP_STORAGE_H */
