/*-------------------------------------------------------------------------
 *
 * temp_storage.c
 *	  Storage of temporary relations that have no file until they need one.
 *
 * A temporary relation that fits into the local buffers never reads or writes
 * its file; the file is only created, measured and unlinked.  With
 * temp_lazy_files = on the session's relations get a storage manager of their
 * own, which tracks each fork:
 *
 *		absent	--create-->	in memory	--write, read-->	in a file
 *
 * A fork in memory has a size and nothing else.  Its pages are in local buffers.
 * A page that is in no buffer is all zeros, because a page with content leaves
 * the buffers only by being written.  The first write creates the file in the
 * fork's full size; from then on md.c manages the fork as usual.  There is no
 * state between the two: if the file cannot be made, whatever exists of it is
 * removed and the fork stays in memory.
 *
 * The record of forks belongs to the session, not to its SMgrRelations, which
 * come and go.  It follows transactions as files do: an entry appears when
 * storage is created and goes when it is unlinked, at the end of the transaction
 * that drops it or that fails to create it.
 *
 * Storage that is not in the record belongs to md.c: that of a predecessor with
 * our proc number, which we may only drop, and that of other sessions, which we
 * may measure and drop.  Either may lack its files, too.
 *
 * Index builds and table rewrites bypass the buffers (bulk_write.c); this file
 * puts their first pages into local buffers instead.
 *
 * src/backend/plimsoll/temp_storage.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_tablespace_d.h"
#include "miscadmin.h"
#include "plimsoll/temp_orphan.h"
#include "plimsoll/temp_size.h"
#include "plimsoll/temp_storage.h"
#include "plimsoll/temp_tablespace.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/md.h"
#include "utils/guc.h"
#include "utils/memutils.h"

/* Pages of a bulk write that go to local buffers, as a share of these. */
#define BULK_WRITE_SHARE 4

typedef enum ForkState
{
	FORK_ABSENT = 0,
	FORK_IN_MEMORY,
	FORK_IN_FILE,
} ForkState;

typedef struct Fork
{
	ForkState	state;
	BlockNumber nblocks;		/* if in memory; else the file knows */
} Fork;

typedef struct Storage
{
	RelFileLocator locator;		/* hash key */
	char		status;
	Fork		forks[MAX_FORKNUM + 1];
} Storage;

#define SH_PREFIX storages
#define SH_ELEMENT_TYPE Storage
#include "plimsoll/locator_hash.h"

bool		temp_lazy_files = false;

static storages_hash *record = NULL;

static Storage *find_storage(RelFileLocatorBackend rlocator);
static Fork *find_fork(SMgrRelation reln, ForkNumber forknum);
static Fork *fork_in_memory(SMgrRelation reln, ForkNumber forknum);
static void unlink_fork(Storage *storage, ForkNumber forknum);
static void unlink_all(void);
static void forget_if_gone(Storage *storage);
static void make_file(SMgrRelation reln, ForkNumber forknum);
static void make_file_for_room(SMgrRelation reln, ForkNumber forknum);
static bool put_into_buffer(SMgrRelation reln, ForkNumber forknum,
							BlockNumber blocknum, const void *page);

/* A fork of a relation of ours gets its file if it has none. */
void
temp_storage_make_file(SMgrRelation reln, ForkNumber forknum)
{
	if (fork_in_memory(reln, forknum) != NULL)
		make_file(reln, forknum);
}

/* Is this the name of storage of ours?  Files of others do not count. */
bool
temp_storage_name_taken(RelFileLocatorBackend rlocator)
{
	return find_storage(rlocator) != NULL;
}

void
temp_storage_create(SMgrRelation reln, ForkNumber forknum, bool isRedo)
{
	RelFileLocator locator = reln->smgr_rlocator.locator;
	Storage    *storage = find_storage(reln->smgr_rlocator);
	bool		found;

	if (storage == NULL)
	{
		if (forknum != MAIN_FORKNUM || !temp_lazy_files)
		{
			mdcreate(reln, forknum, isRedo);
			return;
		}
		if (record == NULL)
		{
			temp_orphan_session_begins();
			record = storages_create(AllocSetContextCreate(TopMemoryContext,
														   "Plimsoll temp storage",
														   ALLOCSET_DEFAULT_SIZES),
									 64, NULL);
		}
		storage = storages_insert(record, locator, &found);
		memset(storage->forks, 0, sizeof(storage->forks));
		PG_TRY();
		{
			temp_tablespace_enter(locator.spcOid, locator.dbOid);
		}
		PG_CATCH();
		{
			storages_delete(record, locator);
			PG_RE_THROW();
		}
		PG_END_TRY();
	}
	if (storage->forks[forknum].state != FORK_ABSENT)
		elog(ERROR, "storage \"%s\" exists already",
			 relpath(reln->smgr_rlocator, forknum).str);
	storage->forks[forknum].state = FORK_IN_MEMORY;
	storage->forks[forknum].nblocks = 0;
}

bool
temp_storage_exists(SMgrRelation reln, ForkNumber forknum)
{
	Fork	   *fork = find_fork(reln, forknum);
	BlockNumber nblocks;

	return fork ? fork->state != FORK_ABSENT :
		temp_size_received(reln->smgr_rlocator, forknum, &nblocks) ||
		mdexists(reln, forknum);
}

/* As mdunlink(); the relation's buffers have been dropped. */
void
temp_storage_unlink(RelFileLocatorBackend rlocator, ForkNumber forknum, bool isRedo)
{
	Storage    *storage = find_storage(rlocator);

	if (storage == NULL)
	{
		mdunlink(rlocator, forknum, isRedo);
		return;
	}
	if (forknum != InvalidForkNumber)
		unlink_fork(storage, forknum);
	else
		for (forknum = 0; forknum <= MAX_FORKNUM; forknum++)
			unlink_fork(storage, forknum);

	/* smgrdounlinkall() calls for each fork in turn */
	if (forknum >= MAX_FORKNUM || forknum == InvalidForkNumber)
		forget_if_gone(storage);
}

void
temp_storage_extend(SMgrRelation reln, ForkNumber forknum, BlockNumber blocknum,
					const void *buffer, bool skipFsync)
{
	if (fork_in_memory(reln, forknum) != NULL)
	{
		bool		kept = put_into_buffer(reln, forknum, blocknum, buffer);

		/* a page that had to leave for it may have been one of this fork */
		Fork	   *fork = fork_in_memory(reln, forknum);

		if (kept && fork != NULL)
		{
			fork->nblocks = Max(fork->nblocks, blocknum + 1);
			return;
		}
		if (fork != NULL)
			make_file_for_room(reln, forknum);
	}
	mdextend(reln, forknum, blocknum, buffer, skipFsync);
}

void
temp_storage_zeroextend(SMgrRelation reln, ForkNumber forknum,
						BlockNumber blocknum, int nblocks, bool skipFsync)
{
	Fork	   *fork = fork_in_memory(reln, forknum);

	if (fork == NULL)
		mdzeroextend(reln, forknum, blocknum, nblocks, skipFsync);
	else
		fork->nblocks = Max(fork->nblocks, blocknum + nblocks);
}

/*
 * A bulk write returns to a page that it left empty.  True if the page is in a
 * local buffer now; if false, the caller must write it to the file.  The fork may
 * have got its file meanwhile while the empty page is still in a buffer.
 */
bool
temp_storage_rewrite(SMgrRelation reln, ForkNumber forknum,
					 BlockNumber blocknum, const void *page)
{
	if (find_storage(reln->smgr_rlocator) == NULL)
		return false;
	return LocalBufferPutPage(reln, forknum, blocknum, page, true) ||
		(fork_in_memory(reln, forknum) != NULL &&
		 put_into_buffer(reln, forknum, blocknum, page));
}

bool
temp_storage_prefetch(SMgrRelation reln, ForkNumber forknum,
					  BlockNumber blocknum, int nblocks)
{
	if (fork_in_memory(reln, forknum) != NULL)
		return false;			/* nothing was initiated */
	return mdprefetch(reln, forknum, blocknum, nblocks);
}

/* A read that bypasses the buffers sees zeros, as in a file just extended. */
void
temp_storage_readv(SMgrRelation reln, ForkNumber forknum, BlockNumber blocknum,
				   void **buffers, BlockNumber nblocks)
{
	Fork	   *fork = fork_in_memory(reln, forknum);

	if (fork != NULL && (uint64) blocknum + nblocks <= fork->nblocks)
	{
		for (BlockNumber i = 0; i < nblocks; i++)
			memset(buffers[i], 0, BLCKSZ);
		return;
	}
	if (fork != NULL)
		make_file_for_room(reln, forknum);
	mdreadv(reln, forknum, blocknum, buffers, nblocks);
}

/*
 * An asynchronous read needs a real file.  It happens only for a page that left
 * the buffers before anything was written on it.
 */
void
temp_storage_startreadv(PgAioHandle *ioh, SMgrRelation reln, ForkNumber forknum,
						BlockNumber blocknum, void **buffers, BlockNumber nblocks)
{
	if (fork_in_memory(reln, forknum) != NULL)
		make_file_for_room(reln, forknum);
	mdstartreadv(ioh, reln, forknum, blocknum, buffers, nblocks);
}

void
temp_storage_writev(SMgrRelation reln, ForkNumber forknum, BlockNumber blocknum,
					const void **buffers, BlockNumber nblocks, bool skipFsync)
{
	if (fork_in_memory(reln, forknum) != NULL)
		make_file_for_room(reln, forknum);
	mdwritev(reln, forknum, blocknum, buffers, nblocks, skipFsync);
}

void
temp_storage_writeback(SMgrRelation reln, ForkNumber forknum,
					   BlockNumber blocknum, BlockNumber nblocks)
{
	if (fork_in_memory(reln, forknum) == NULL)
		mdwriteback(reln, forknum, blocknum, nblocks);
}

BlockNumber
temp_storage_nblocks(SMgrRelation reln, ForkNumber forknum)
{
	Fork	   *fork = fork_in_memory(reln, forknum);
	BlockNumber nblocks;

	if (fork != NULL)
		return fork->nblocks;
	if (temp_size_received(reln->smgr_rlocator, forknum, &nblocks))
		return nblocks;

	/*
	 * Another session that plans with the relation may find no file.  It is told
	 * that it has no access as soon as it reads a page, so there had better be
	 * one.
	 */
	if (reln->smgr_rlocator.backend != MyProcNumber &&
		forknum == MAIN_FORKNUM && !mdexists(reln, forknum))
		return 1;
	return mdnblocks(reln, forknum);
}

/* The local buffers beyond the new end have been dropped.  No allocations here. */
void
temp_storage_truncate(SMgrRelation reln, ForkNumber forknum,
					  BlockNumber old_blocks, BlockNumber nblocks)
{
	Fork	   *fork = fork_in_memory(reln, forknum);

	if (fork == NULL)
		mdtruncate(reln, forknum, old_blocks, nblocks);
	else
		fork->nblocks = Min(fork->nblocks, nblocks);
}

void
temp_storage_immedsync(SMgrRelation reln, ForkNumber forknum)
{
	if (fork_in_memory(reln, forknum) == NULL)
		mdimmedsync(reln, forknum);
}

void
temp_storage_registersync(SMgrRelation reln, ForkNumber forknum)
{
	if (fork_in_memory(reln, forknum) == NULL)
		mdregistersync(reln, forknum);
}

/* The size in bytes of a fork without a file; false if it has one. */
bool
temp_storage_size(RelFileLocatorBackend rlocator, ForkNumber forknum, int64 *size)
{
	Storage    *storage = find_storage(rlocator);
	BlockNumber nblocks;

	if (storage == NULL)
	{
		if (!temp_size_received(rlocator, forknum, &nblocks))
			return false;
	}
	else if (storage->forks[forknum].state == FORK_IN_FILE)
		return false;
	else
		nblocks = storage->forks[forknum].nblocks;
	*size = (int64) nblocks * BLCKSZ;
	return true;
}

/*
 * Sizes for parallel workers
 */

static Size
size_of_sizes(void)
{
	return add_size(offsetof(TempSizes, sizes),
					mul_size(record->members, sizeof(TempSize)));
}

void
temp_storage_estimate_sizes(shm_toc_estimator *estimator)
{
	if (record == NULL || record->members == 0)
		return;
	shm_toc_estimate_chunk(estimator, size_of_sizes());
	shm_toc_estimate_keys(estimator, 1);
}

void
temp_storage_share_sizes(shm_toc *toc)
{
	TempSizes  *shared;
	storages_iterator iter;
	Storage    *storage;

	if (record == NULL || record->members == 0)
		return;
	shared = shm_toc_allocate(toc, size_of_sizes());
	shared->count = 0;
	storages_start_iterate(record, &iter);
	while ((storage = storages_iterate(record, &iter)) != NULL)
	{
		TempSize   *size = &shared->sizes[shared->count++];

		size->locator = storage->locator;
		for (ForkNumber fork = 0; fork <= MAX_FORKNUM; fork++)
			size->nblocks[fork] = storage->forks[fork].state == FORK_IN_MEMORY ?
				storage->forks[fork].nblocks : InvalidBlockNumber;
	}
	shm_toc_insert(toc, PARALLEL_KEY_TEMP_SIZES, shared);
}

static Storage *
find_storage(RelFileLocatorBackend rlocator)
{
	return record && rlocator.backend == MyProcNumber ?
		storages_lookup(record, rlocator.locator) : NULL;
}

/* The fork in our record, NULL if the storage is not there. */
static Fork *
find_fork(SMgrRelation reln, ForkNumber forknum)
{
	Storage    *storage = find_storage(reln->smgr_rlocator);

	return storage ? &storage->forks[forknum] : NULL;
}

/* The fork if it is in memory, else NULL. */
static Fork *
fork_in_memory(SMgrRelation reln, ForkNumber forknum)
{
	Fork	   *fork = find_fork(reln, forknum);

	return fork && fork->state == FORK_IN_MEMORY ? fork : NULL;
}

static void
unlink_fork(Storage *storage, ForkNumber forknum)
{
	Fork	   *fork = &storage->forks[forknum];

	if (fork->state == FORK_IN_FILE)
	{
		RelFileLocatorBackend rlocator = {storage->locator, MyProcNumber};

		mdunlink(rlocator, forknum, false);
	}
	fork->state = FORK_ABSENT;
	fork->nblocks = 0;
}

/* The session ends; nothing leads to a file that is left. */
static void
unlink_all(void)
{
	storages_iterator iter;
	Storage    *storage;

	if (record == NULL)
		return;
	storages_start_iterate(record, &iter);
	while ((storage = storages_iterate(record, &iter)) != NULL)
		for (ForkNumber forknum = 0; forknum <= MAX_FORKNUM; forknum++)
			unlink_fork(storage, forknum);
}

static void
forget_if_gone(Storage *storage)
{
	for (ForkNumber forknum = 0; forknum <= MAX_FORKNUM; forknum++)
		if (storage->forks[forknum].state != FORK_ABSENT)
			return;
	temp_tablespace_leave(storage->locator.spcOid);
	storages_delete_item(record, storage);
}

/*
 * The fork leaves memory.  A file of its name, if there is one, is an orphan: we
 * have made none.
 */
static void
make_file(SMgrRelation reln, ForkNumber forknum)
{
	BlockNumber nblocks = find_fork(reln, forknum)->nblocks;

	temp_orphan_file_begins(unlink_all);
	mdunlink(reln->smgr_rlocator, forknum, false);
	PG_TRY();
	{
		mdcreate(reln, forknum, false);
		if (nblocks > 0)
			mdzeroextend(reln, forknum, 0, nblocks, true);
	}
	PG_CATCH();
	{
		mdclose(reln, forknum);
		mdunlink(reln->smgr_rlocator, forknum, false);
		PG_RE_THROW();
	}
	PG_END_TRY();
	find_fork(reln, forknum)->state = FORK_IN_FILE;
}

static void
file_error_context(void *arg)
{
	errcontext("making the file of a temporary relation that has no more room in \"temp_buffers\"");
}

/* A page of the fork has to leave memory. */
static void
make_file_for_room(SMgrRelation reln, ForkNumber forknum)
{
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = file_error_context,
	};

	error_context_stack = &callback;
	make_file(reln, forknum);
	error_context_stack = callback.previous;
}

/*
 * Keep a page of a bulk write, and thereby the fork, in memory, if it is one of the
 * first and there are buffers to spare.
 */
static bool
put_into_buffer(SMgrRelation reln, ForkNumber forknum, BlockNumber blocknum,
				const void *page)
{
	return blocknum < num_temp_buffers / BULK_WRITE_SHARE &&
		LocalBufferPutPage(reln, forknum, blocknum, page, false);
}
