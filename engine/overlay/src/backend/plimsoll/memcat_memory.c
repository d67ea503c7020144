/*-------------------------------------------------------------------------
 *
 * memcat_memory.c
 *	  The settings of the memory catalog, and the memory that it lives in.
 *
 * src/backend/plimsoll/memcat_memory.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"

bool		enable_temp_memory_catalog = false;
int			temp_memory_catalog_limit = 512 * 1024;
bool		memcat_active = false;

static MemoryContext context = NULL;

/*
 * Rows have all sizes up to a kilobyte, and most of what we hold is rows.  The usual
 * kind of context would round each up to a power of two, which takes a third more.
 */
#define ROUNDED_TO	32
#define LARGEST_ROUNDED	1024
#define BLOCK_HEADER	64		/* at least what a block of slab.c begins with */

static MemoryContext contexts_by_size[LARGEST_ROUNDED / ROUNDED_TO + 1];

/* What we hold, as the allocator rounds it up, and memory counted with it. */
static int64 allocated = 0;

MemoryContext
memcat_context(void)
{
	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "memory catalog",
										ALLOCSET_DEFAULT_SIZES);
	return context;
}

static MemoryContext
context_for(Size *size)
{
	int			units = (*size + ROUNDED_TO - 1) / ROUNDED_TO;

	if (*size == 0 || *size > LARGEST_ROUNDED)
		return memcat_context();
	*size = units * ROUNDED_TO;
	if (contexts_by_size[units] == NULL)
	{
		contexts_by_size[units] = SlabContextCreate(memcat_context(), "memory catalog rows",
													SLAB_DEFAULT_BLOCK_SIZE, *size);
		MemoryContextSetIdentifier(contexts_by_size[units],
								   MemoryContextStrdup(memcat_context(), psprintf("%zu bytes", *size)));
	}
	return contexts_by_size[units];
}

/* What the chunk takes; a row has a share of what its block has no row for. */
static Size
space_of(void *pointer)
{
	Size		space = GetMemoryChunkSpace(pointer);

	if (GetMemoryChunkContext(pointer) == context)
		return space;
	return SLAB_DEFAULT_BLOCK_SIZE / ((SLAB_DEFAULT_BLOCK_SIZE - BLOCK_HEADER) / space);
}

static void *
allocate(MemoryContext from, Size size)
{
	void	   *pointer = MemoryContextAllocHuge(from, size);

	allocated += space_of(pointer);
	return pointer;
}

/*
 * The memory of the store is had from here, so that temp_memory_catalog_limit can
 * be held against all of it.  What the context itself says would not do: a
 * context keeps what was freed.
 */
void *
memcat_alloc(Size size)
{
	MemoryContext from = context_for(&size);

	return allocate(from, size);
}

void *
memcat_alloc0(Size size)
{
	void	   *pointer = memcat_alloc(size);

	memset(pointer, 0, size);
	return pointer;
}

/*
 * The pointer is NULL, or comes from here.  If memory runs out, it is as it was.
 */
void *
memcat_realloc(void *pointer, Size size)
{
	Size		before;

	if (pointer == NULL)
		return allocate(memcat_context(), size);
	before = space_of(pointer);
	pointer = repalloc_huge(pointer, size);
	allocated += (int64) space_of(pointer) - (int64) before;
	return pointer;
}

void
memcat_free(void *pointer)
{
	allocated -= space_of(pointer);
	pfree(pointer);
}

/* Memory held elsewhere for the same purpose, or given back. */
void
memcat_count(int64 bytes)
{
	allocated += bytes;
}

int64
memcat_allocated(void)
{
	return allocated;
}
