/*-------------------------------------------------------------------------
 *
 * temp_count.h
 *	  What has been counted of the rows of a temporary table.
 *
 * src/include/plimsoll/temp_count.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef PLIMSOLL_TEMP_COUNT_H
#define PLIMSOLL_TEMP_COUNT_H

#include "executor/tuptable.h"
#include "plimsoll/distinct_sketch.h"

typedef struct TempCountColumn
{
	int64		nulls;
	double		bytes;			/* of the other values */
	DistinctSketch *distinct;	/* NULL: none yet */
} TempCountColumn;

typedef struct TempCount
{
	int64		rows;			/* that are there */
	int64		changes;		/* rows inserted, updated, deleted, ever */
	int64		inserted;		/* rows inserted since the table was empty */
	int64		sampled;		/* those of them whose columns were counted */
	int64		counted;		/* the same and new versions of rows */
	int64		analyzed_changes;	/* changes when it was analyzed; -1: never */
	int64		analyzed_rows;
	int			ncolumns;
	TempCountColumn columns[FLEXIBLE_ARRAY_MEMBER];
} TempCount;

extern TempCount *temp_count_new(int natts, MemoryContext context);
extern TempCount *temp_count_copy(TempCount *count, MemoryContext context);
extern void temp_count_release(TempCount *count);
extern void temp_count_empty(TempCount *count);
extern void temp_count_insert(TempCount *count, TupleTableSlot *slot,
							  MemoryContext context);
extern void temp_count_update(TempCount *count, TupleTableSlot *slot,
							  MemoryContext context);
extern void temp_count_delete(TempCount *count);

extern float4 temp_count_null_frac(const TempCount *count, int column);
extern int32 temp_count_width(const TempCount *count, int column);
extern float4 temp_count_distinct(const TempCount *count, int column);

#endif							/* PLIMSOLL_TEMP_COUNT_H */
