/*-------------------------------------------------------------------------
 *
 * temp_count.c
 *	  What has been counted of the rows of a temporary table.
 *
 * Rows are counted all.  Of the first columns, how many values are null, how wide
 * the others are, and about how many of them differ: in all of the first rows, and
 * in one row of several beyond.  Values are told apart by their bytes: that runs no
 * function of a data type, fetches nothing from a toast table, and takes equal
 * values of different form (numeric 1.0 and 1.00, letters of either case in mchar)
 * for two.
 *
 * What was deleted, or replaced by an update, stays among the values that were seen
 * until the table is empty.
 *
 * src/backend/plimsoll/temp_count.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/heaptoast.h"
#include "common/hashfn.h"
#include "plimsoll/temp_count.h"
#include "varatt.h"

/* Columns that are counted, the first ones. */
#define COLUMNS_MAX		32

/* Rows whose columns are counted all; of those beyond, one in so many. */
#define ROWS_ALL		100000
#define ROWS_APART		16

/* No more of a value is looked at. */
#define BYTES_MAX		1024

/*
 * A column with as many different values as that has no value twice: the sketch
 * is not exact, and planner and ANALYZE treat such columns in a way of their own.
 */
#define UNIQUE_FROM		0.9

/* ANALYZE's: more different values than that grow with the table. */
#define GROWING_FROM	0.1

TempCount *
temp_count_new(int natts, MemoryContext context)
{
	int			ncolumns = Min(natts, COLUMNS_MAX);
	TempCount  *count = MemoryContextAllocZero(context, offsetof(TempCount, columns) +
											   ncolumns * sizeof(TempCountColumn));

	count->ncolumns = ncolumns;
	count->analyzed_changes = -1;
	return count;
}

TempCount *
temp_count_copy(TempCount *count, MemoryContext context)
{
	Size		size = offsetof(TempCount, columns) + count->ncolumns * sizeof(TempCountColumn);
	TempCount  *copy = MemoryContextAlloc(context, size);

	memcpy(copy, count, size);
	for (int i = 0; i < copy->ncolumns; i++)
		distinct_sketch_share(copy->columns[i].distinct);
	return copy;
}

void
temp_count_release(TempCount *count)
{
	for (int i = 0; i < count->ncolumns; i++)
		distinct_sketch_release(count->columns[i].distinct);
	pfree(count);
}

/* There is no row any more: what is counted from here on is exact again. */
void
temp_count_empty(TempCount *count)
{
	for (int i = 0; i < count->ncolumns; i++)
	{
		distinct_sketch_release(count->columns[i].distinct);
		memset(&count->columns[i], 0, sizeof(TempCountColumn));
	}
	count->rows = count->inserted = count->sampled = count->counted = 0;
	count->analyzed_changes = -1;
}

static uint32
hash_of_bytes(const char *bytes, Size length)
{
	return hash_combine(hash_bytes((const unsigned char *) bytes, Min(length, BYTES_MAX)),
						murmurhash32((uint32) length));
}

static void
count_value(TempCountColumn *column, const CompactAttribute *attr, Datum value,
			uint32 serial, MemoryContext context)
{
	char	   *bytes = DatumGetPointer(value);
	Size		width = attr->attlen;
	uint32		hash;

	if (attr->attbyval)
		hash = (uint32) murmurhash64((uint64) value);
	else if (attr->attlen > 0)
		hash = hash_of_bytes(bytes, attr->attlen);
	else if (attr->attlen == -2)
	{
		width = strlen(bytes) + 1;
		hash = hash_of_bytes(bytes, width);
	}
	else if (VARATT_IS_EXTERNAL_EXPANDED(bytes))
	{
		/* an object in memory, which has no bytes yet: unlike any other */
		width = TOAST_TUPLE_TARGET;
		hash = murmurhash32(serial);
	}
	else if (VARATT_IS_EXTERNAL(bytes))
	{
		width = VARSIZE_EXTERNAL(bytes);
		hash = hash_of_bytes(bytes, width);
	}
	else
	{
		width = VARSIZE_ANY(bytes);
		hash = hash_of_bytes(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	}
	/* what is wider does not stay in the row */
	column->bytes += Min(width, TOAST_TUPLE_TARGET);
	distinct_sketch_add(&column->distinct, hash, context);
}

static void
count_columns(TempCount *count, TupleTableSlot *slot, MemoryContext context)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	int			ncolumns = Min(count->ncolumns, desc->natts);

	slot_getsomeattrs(slot, ncolumns);
	count->counted++;
	for (int i = 0; i < ncolumns; i++)
	{
		if (slot->tts_isnull[i])
			count->columns[i].nulls++;
		else
			count_value(&count->columns[i], TupleDescCompactAttr(desc, i),
						slot->tts_values[i], (uint32) count->counted, context);
	}
}

void
temp_count_insert(TempCount *count, TupleTableSlot *slot, MemoryContext context)
{
	if (count->inserted < ROWS_ALL || count->inserted % ROWS_APART == 0)
	{
		count_columns(count, slot, context);
		count->sampled++;
	}
	count->inserted++;
	count->changes++;
	count->rows++;
}

void
temp_count_update(TempCount *count, TupleTableSlot *slot, MemoryContext context)
{
	if (count->changes < ROWS_ALL || count->changes % ROWS_APART == 0)
		count_columns(count, slot, context);
	count->changes++;
}

void
temp_count_delete(TempCount *count)
{
	count->changes++;
	if (count->rows > 0)
		count->rows--;
	if (count->rows == 0)
		temp_count_empty(count);
}

float4
temp_count_null_frac(const TempCount *count, int column)
{
	return count->counted == 0 ? 0 : (float4) count->columns[column].nulls / count->counted;
}

/* The average; 0: not known. */
int32
temp_count_width(const TempCount *count, int column)
{
	int64		values = count->counted - count->columns[column].nulls;

	return values == 0 ? 0 : (int32) rint(count->columns[column].bytes / values);
}

/* As pg_statistic has it: negative is a part of the rows, 0 not known. */
float4
temp_count_distinct(const TempCount *count, int column)
{
	double		filled = 1 - temp_count_null_frac(count, column);
	double		values = count->sampled * filled;
	double		distinct = distinct_sketch_estimate(count->columns[column].distinct);

	if (values < 1 || distinct < 1)
		return 0;
	if (distinct >= values * UNIQUE_FROM)
		return -filled;
	if (distinct > values * GROWING_FROM)
		return -(distinct / values) * filled;
	return rint(distinct);
}
