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

/*
 * The memory of the store is had from here, so that temp_memory_catalog_limit can
 * be held against all of it.  What the context itself says would not do: a
 * context keeps what was freed.
 */
void *
memcat_alloc(Size size)
{
	void	   *pointer = MemoryContextAllocHuge(memcat_context(), size);

	allocated += GetMemoryChunkSpace(pointer);
	return pointer;
}

void *
memcat_alloc0(Size size)
{
	void	   *pointer = memcat_alloc(size);

	memset(pointer, 0, size);
	return pointer;
}

/* The pointer may be NULL.  If memory runs out, it is as it was. */
void *
memcat_realloc(void *pointer, Size size)
{
	Size		before;

	if (pointer == NULL)
		return memcat_alloc(size);
	before = GetMemoryChunkSpace(pointer);
	pointer = repalloc_huge(pointer, size);
	allocated += (int64) GetMemoryChunkSpace(pointer) - (int64) before;
	return pointer;
}

void
memcat_free(void *pointer)
{
	allocated -= GetMemoryChunkSpace(pointer);
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
