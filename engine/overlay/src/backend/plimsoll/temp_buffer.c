/*-------------------------------------------------------------------------
 *
 * temp_buffer.c
 *	  The local buffers of a temporary relation, found without a search.
 *
 * Stock PostgreSQL scans every local buffer of the session when a temporary
 * relation is dropped or truncated, so that the cost of a small table grows with
 * temp_buffers.  Its clock sweep also visits all of them for the next victim, so
 * that a session that makes and drops small tables touches all of temp_buffers,
 * which is cold memory.
 *
 * With temp_buffers_by_relation = on each buffer is on a list of its relation,
 * and a buffer whose page was dropped is the first to be used again.  The lists
 * are kept by buffer number in two arrays beside the descriptors, and their heads
 * in a hash table by RelFileLocator.  A relation without buffers has no entry,
 * unless memory ran out just before it got the first.
 * localbuf.c keeps the lists up to date: a buffer enters a list when it gets a
 * tag and leaves it when it loses the tag.
 *
 * src/backend/plimsoll/temp_buffer.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "plimsoll/temp_buffer.h"
#include "utils/memutils.h"

#define NO_BUFFER (-1)

typedef struct RelationBuffers
{
	RelFileLocator locator;		/* hash key */
	int			head;
	int			count;
	char		status;
} RelationBuffers;

#define SH_PREFIX buffers
#define SH_ELEMENT_TYPE RelationBuffers
#include "plimsoll/locator_hash.h"

bool		temp_buffers_by_relation = false;

static buffers_hash *heads = NULL;

/* Neighbours in the relation's list, by buffer number. */
static int *next_buffer = NULL;
static int *previous_buffer = NULL;

/*
 * Buffers dropped and, as far as we know, not used since; each at most once.
 */
static int *dropped = NULL;
static bool *is_dropped = NULL;
static int	ndropped = 0;

/*
 * The local buffers are being set up, all without a tag.  If memory runs out here
 * or later, this is called again.
 */
void
temp_buffer_init(int nbuffers)
{
	static MemoryContext context = NULL;

	if (!temp_buffers_by_relation)
		return;
	heads = NULL;
	if (context == NULL)
		context = AllocSetContextCreate(TopMemoryContext, "Plimsoll temp buffers",
										ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(context);
	next_buffer = MemoryContextAllocHuge(context, nbuffers * sizeof(int));
	previous_buffer = MemoryContextAllocHuge(context, nbuffers * sizeof(int));
	dropped = MemoryContextAllocHuge(context, nbuffers * sizeof(int));
	is_dropped = MemoryContextAllocExtended(context, nbuffers * sizeof(bool),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	heads = buffers_create(context, 64, NULL);
}

/*
 * Buffers are about to get tags of this relation, with none losing a tag before.
 * What fails for want of memory fails here.
 */
void
temp_buffer_expect(const RelFileLocator *locator)
{
	RelationBuffers *relation;
	bool		found;

	if (!temp_buffers_by_relation)
		return;
	relation = buffers_insert(heads, *locator, &found);
	if (!found)
	{
		relation->head = NO_BUFFER;
		relation->count = 0;
	}
}

/* The buffer has got this tag. */
void
temp_buffer_tagged(int bufid, const BufferTag *tag)
{
	RelationBuffers *relation;

	if (!temp_buffers_by_relation)
		return;
	relation = buffers_lookup(heads, BufTagGetRelFileLocator(tag));
	Assert(relation != NULL);
	relation->count++;
	next_buffer[bufid] = relation->head;
	previous_buffer[bufid] = NO_BUFFER;
	if (relation->head != NO_BUFFER)
		previous_buffer[relation->head] = bufid;
	relation->head = bufid;
}

/* The buffer is about to lose this tag. */
void
temp_buffer_untagged(int bufid, const BufferTag *tag)
{
	RelationBuffers *relation;
	int			next;
	int			previous;

	if (!temp_buffers_by_relation)
		return;
	relation = buffers_lookup(heads, BufTagGetRelFileLocator(tag));
	Assert(relation != NULL && relation->count > 0);
	relation->count--;
	next = next_buffer[bufid];
	previous = previous_buffer[bufid];
	if (next != NO_BUFFER)
		previous_buffer[next] = previous;
	if (previous != NO_BUFFER)
		next_buffer[previous] = next;
	else
	{
		Assert(relation->head == bufid);
		relation->head = next;
		if (next == NO_BUFFER)
			buffers_delete_item(heads, relation);
	}
}

/* How many buffers the relation has, all forks together. */
int
temp_buffer_count(const RelFileLocator *locator)
{
	RelationBuffers *relation = heads ? buffers_lookup(heads, *locator) : NULL;

	return relation ? relation->count : 0;
}

/*
 * The first buffer of a relation, all forks together, or -1.  The buffer may be
 * untagged on the way to the next if that has been asked for before.
 */
int
temp_buffer_first(const RelFileLocator *locator)
{
	RelationBuffers *relation;

	if (heads == NULL)
		return NO_BUFFER;		/* no local buffer in use yet */
	relation = buffers_lookup(heads, *locator);
	return relation ? relation->head : NO_BUFFER;
}

int
temp_buffer_next(int bufid)
{
	return next_buffer[bufid];
}

/*
 * The buffer's page has been dropped: use it next, while the processor has it
 * cached.
 */
void
temp_buffer_dropped(int bufid)
{
	if (is_dropped[bufid])
		return;
	is_dropped[bufid] = true;
	dropped[ndropped++] = bufid;
}

/* The buffer dropped last, or -1; the caller checks that it is free still. */
int
temp_buffer_take_dropped(void)
{
	int			bufid;

	if (ndropped == 0)
		return NO_BUFFER;
	bufid = dropped[--ndropped];
	is_dropped[bufid] = false;
	return bufid;
}
