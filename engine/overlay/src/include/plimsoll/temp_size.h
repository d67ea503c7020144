/*-------------------------------------------------------------------------
 *
 * temp_size.h
 *	  Parallel workers know the sizes of relations that have no file.
 *
 * src/include/plimsoll/temp_size.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_SIZE_H
#define PLIMSOLL_TEMP_SIZE_H

#include "common/relpath.h"
#include "storage/block.h"
#include "storage/relfilelocator.h"
#include "storage/shm_toc.h"

typedef struct TempSize
{
	RelFileLocator locator;
	BlockNumber nblocks[MAX_FORKNUM + 1];	/* InvalidBlockNumber: ask the file */
} TempSize;

/* PostgreSQL's keys end with ...000F, in this range. */
#define PARALLEL_KEY_TEMP_SIZES	UINT64CONST(0xFFFFFFFFFFFF00F0)

typedef struct TempSizes
{
	int			count;
	TempSize	sizes[FLEXIBLE_ARRAY_MEMBER];
} TempSizes;

/* In a worker */
extern void temp_size_receive(shm_toc *toc);
extern bool temp_size_received(RelFileLocatorBackend rlocator, ForkNumber forknum,
							   BlockNumber *nblocks);

#endif							/* PLIMSOLL_TEMP_SIZE_H */
