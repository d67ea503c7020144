/*-------------------------------------------------------------------------
 *
 * distinct_sketch.c
 *	  About how many different values were there?
 *
 * A sketch keeps the hashes themselves while there are few, so that the answer is
 * exact, and one kilobyte of HyperLogLog registers afterwards (lib/hyperloglog.c),
 * whose answer is within 3 % in two cases of three.
 *
 * A copy is free: it shares the sketch, and whoever adds a hash that changes it
 * takes a copy of its own first.  So a savepoint costs what changes after it.
 *
 * src/backend/plimsoll/distinct_sketch.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/hyperloglog.h"
#include "plimsoll/distinct_sketch.h"
#include "port/pg_bitutils.h"

#define HASHES_MAX		64
#define REGISTER_BITS	10
#define REGISTERS		(1 << REGISTER_BITS)

struct DistinctSketch
{
	int			shared;			/* by how many others */
	int			count;			/* of hashes; -1: registers */
	double		estimate;		/* of the registers; negative: not known */
	union
	{
		uint32		hashes[HASHES_MAX];
		uint8		registers[REGISTERS];
	};
};

static Size
size_of(bool registers)
{
	return registers ? sizeof(DistinctSketch) :
		offsetof(DistinctSketch, hashes) + HASHES_MAX * sizeof(uint32);
}

/* Another holder; NULL is the empty sketch. */
DistinctSketch *
distinct_sketch_share(DistinctSketch *sketch)
{
	if (sketch != NULL)
		sketch->shared++;
	return sketch;
}

void
distinct_sketch_release(DistinctSketch *sketch)
{
	if (sketch != NULL && sketch->shared-- == 0)
		pfree(sketch);
}

/* Registers for the hashes, which others may go on using. */
static DistinctSketch *
with_registers(DistinctSketch *sketch, MemoryContext context)
{
	DistinctSketch *grown = MemoryContextAllocZero(context, size_of(true));

	grown->count = -1;
	for (int i = 0; i < sketch->count; i++)
		distinct_sketch_add(&grown, sketch->hashes[i], context);
	distinct_sketch_release(sketch);
	return grown;
}

/* The sketch, or a copy if others use it, too. */
static DistinctSketch *
own(DistinctSketch *sketch, MemoryContext context)
{
	Size		size = size_of(sketch->count < 0);
	DistinctSketch *copy;

	if (sketch->shared == 0)
		return sketch;
	copy = MemoryContextAlloc(context, size);
	memcpy(copy, sketch, size);
	copy->shared = 0;
	sketch->shared--;
	return copy;
}

static void
add_to_registers(DistinctSketch **sketch, uint32 hash, MemoryContext context)
{
	uint32		which = hash >> (32 - REGISTER_BITS);
	uint32		rest = hash << REGISTER_BITS;
	uint8		rank = rest == 0 ? 32 - REGISTER_BITS + 1 :
		32 - pg_leftmost_one_pos32(rest);

	if ((*sketch)->registers[which] >= rank)
		return;
	*sketch = own(*sketch, context);
	(*sketch)->registers[which] = rank;
	(*sketch)->estimate = -1;
}

/* Adds the hash of a value; its bits must be as good as random. */
void
distinct_sketch_add(DistinctSketch **sketch, uint32 hash, MemoryContext context)
{
	if (*sketch == NULL)
		*sketch = MemoryContextAllocZero(context, size_of(false));
	if ((*sketch)->count >= 0)
	{
		for (int i = 0; i < (*sketch)->count; i++)
		{
			if ((*sketch)->hashes[i] == hash)
				return;
		}
		if ((*sketch)->count < HASHES_MAX)
		{
			*sketch = own(*sketch, context);
			(*sketch)->hashes[(*sketch)->count++] = hash;
			return;
		}
		*sketch = with_registers(*sketch, context);
	}
	add_to_registers(sketch, hash, context);
}

double
distinct_sketch_estimate(DistinctSketch *sketch)
{
	const double alpha = 0.7213 / (1.0 + 1.079 / REGISTERS);
	hyperLogLogState state = {
		.registerWidth = REGISTER_BITS,
		.nRegisters = REGISTERS,
		.alphaMM = alpha * REGISTERS * REGISTERS,
		.arrSize = REGISTERS,
	};

	if (sketch == NULL)
		return 0;
	if (sketch->count >= 0)
		return sketch->count;
	if (sketch->estimate < 0)
	{
		state.hashesArr = sketch->registers;
		sketch->estimate = estimateHyperLogLog(&state);
	}
	return sketch->estimate;
}
