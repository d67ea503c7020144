/*-------------------------------------------------------------------------
 *
 * temp_size.c
 *	  Parallel workers know the sizes of relations that have no file.
 *
 * With temp_lazy_files = on only the session itself knows the size of a temporary
 * relation that is in its memory (temp_storage.c).  A worker may ask for it: a
 * function that measures tables is parallel safe, in stock PostgreSQL too.  So a
 * leader gives the sizes to its workers.  They stay true, because in parallel mode
 * no table changes.
 *
 * src/backend/plimsoll/temp_size.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "common/int.h"
#include "plimsoll/temp_size.h"
#include "utils/memutils.h"

/* In a worker: what the leader has given, and a copy that is sorted. */
static const TempSizes *received = NULL;
static TempSize *sorted = NULL;

static int
compare_sizes(const void *a, const void *b)
{
	const RelFileLocator *x = &((const TempSize *) a)->locator;
	const RelFileLocator *y = &((const TempSize *) b)->locator;
	int			cmp = pg_cmp_u32(x->relNumber, y->relNumber);

	return cmp != 0 ? cmp : pg_cmp_u32(x->spcOid, y->spcOid);
}

void
temp_size_receive(shm_toc *toc)
{
	received = shm_toc_lookup(toc, PARALLEL_KEY_TEMP_SIZES, true);
}

/*
 * The size of a fork that the leader of this worker has in memory.  Most workers
 * never ask, so the first question sorts.
 */
bool
temp_size_received(RelFileLocatorBackend rlocator, ForkNumber forknum,
				   BlockNumber *nblocks)
{
	TempSize	wanted = {.locator = rlocator.locator};
	const TempSize *found;

	if (received == NULL || rlocator.backend != ParallelLeaderProcNumber)
		return false;
	if (sorted == NULL)
	{
		Size		size = received->count * sizeof(TempSize);

		sorted = MemoryContextAllocHuge(TopMemoryContext, size);
		memcpy(sorted, received->sizes, size);
		qsort(sorted, received->count, sizeof(TempSize), compare_sizes);
	}
	found = bsearch(&wanted, sorted, received->count, sizeof(TempSize), compare_sizes);
	if (found == NULL || found->nblocks[forknum] == InvalidBlockNumber)
		return false;
	*nblocks = found->nblocks[forknum];
	return true;
}
