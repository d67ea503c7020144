/*-------------------------------------------------------------------------
 *
 * analyze_columns.c
 *	  The columns of ANALYZE's sample, each row deformed once.
 *
 * ANALYZE looks at one column after the other.  To fetch the value of column n of
 * a row means to walk over the n - 1 columns before it, unless all have a fixed
 * width and none is null.  So the time for all columns grows with the square of
 * their number.
 *
 * Here a row is walked over once.  Its values go to arrays, one per column, for
 * as many columns as fit the memory allowed.  For each row we keep where the
 * walk stopped.  The next columns go on from there.
 *
 * The values are those that heap_getattr returns: pointers into the sampled rows,
 * toasted ones as they are, and the missing values of columns added later.
 *
 * src/backend/plimsoll/analyze_columns.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "plimsoll/analyze_columns.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Memory for values.  At least one column is loaded, whatever its size. */
#define VALUES_SIZE (8 * 1024 * 1024)

/* A column that is wanted, and where its values go. */
typedef struct WantedColumn
{
	int			att;			/* from 0 on */
	Datum	   *values;
	bool	   *nulls;
} WantedColumn;

struct AnalyzeColumns
{
	MemoryContext context;
	TupleDesc	tupdesc;
	HeapTuple  *rows;
	int			numrows;
	VacAttrStats **stats;		/* of the columns, in the order of their turn */
	int			numstats;

	int			first;			/* the columns that are loaded: the first, */
	int			loaded;			/* their number, */
	int			most;			/* and what it can be */
	WantedColumn *wanted;		/* the same, by attribute */
	Datum	   *values;			/* "most" arrays of numrows each */
	bool	   *nulls;

	int			next;			/* attribute that the walk comes to next */
	uint32	   *offset;			/* where the one before it ends, by row */

	int		   *known;			/* offsets that are the same in each row */
	int			numknown;		/* of how many attributes, if none is null */
};

/*
 * The leading attributes whose offsets follow from the descriptor: all of fixed
 * width, and the one after them if no padding can precede it.
 */
static void
find_known_offsets(AnalyzeColumns *columns)
{
	TupleDesc	tupdesc = columns->tupdesc;
	int			off = 0;

	columns->known = (int *) palloc(tupdesc->natts * sizeof(int));
	for (int att = 0; att < tupdesc->natts; att++)
	{
		CompactAttribute *attr = TupleDescCompactAttr(tupdesc, att);
		int			aligned = att_nominal_alignby(off, attr->attalignby);

		if (attr->attlen < 0 && aligned != off)
			break;
		columns->known[att] = aligned;
		columns->numknown = att + 1;
		if (attr->attlen < 0)
			break;
		off = aligned + attr->attlen;
	}
}

AnalyzeColumns *
analyze_columns_begin(TupleDesc tupdesc, HeapTuple *rows, int numrows,
					  VacAttrStats **stats, int numstats)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "Plimsoll analyze columns",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	AnalyzeColumns *columns = palloc0_object(AnalyzeColumns);
	Size		column_size = (sizeof(Datum) + sizeof(bool)) * (Size) numrows;

	columns->context = context;
	columns->tupdesc = tupdesc;
	columns->rows = rows;
	columns->numrows = numrows;
	columns->stats = stats;
	columns->numstats = numstats;
	columns->most = Min(numstats, Max(1, (int) (VALUES_SIZE / column_size)));
	columns->wanted = palloc_array(WantedColumn, columns->most);
	columns->values = (Datum *) palloc_extended(sizeof(Datum) * columns->most * numrows,
												MCXT_ALLOC_HUGE);
	columns->nulls = (bool *) palloc_extended(sizeof(bool) * columns->most * numrows,
											  MCXT_ALLOC_HUGE);
	columns->offset = palloc0_array(uint32, numrows);
	find_known_offsets(columns);
	MemoryContextSwitchTo(old);
	return columns;
}

static int
compare_wanted(const void *a, const void *b)
{
	return ((const WantedColumn *) a)->att - ((const WantedColumn *) b)->att;
}

/* How many of a row's first "most" attributes have known offsets. */
static int
count_known(HeapTupleHeader row, int most)
{
	int			att = 0;

	if (!(row->t_infomask & HEAP_HASNULL))
		return most;
	while (att + 8 <= most && row->t_bits[att >> 3] == 0xFF)
		att += 8;
	while (att < most && !att_isnull(att, row->t_bits))
		att++;
	return att;
}

/* Where attribute att begins, if the one before it ends at off. */
static inline uint32
begin_of(CompactAttribute *attr, char *data, uint32 off)
{
	return attr->attlen == -1 ?
		att_pointer_alignby(off, attr->attalignby, -1, data + off) :
		att_nominal_alignby(off, attr->attalignby);
}

/* Walk over a row from the attribute where it was left to the last one wanted. */
static void
load_row(AnalyzeColumns *columns, int row)
{
	HeapTupleHeader header = columns->rows[row]->t_data;
	TupleDesc	tupdesc = columns->tupdesc;
	int			natts = HeapTupleHeaderGetNatts(header);
	bits8	   *nullbits = header->t_infomask & HEAP_HASNULL ? header->t_bits : NULL;
	char	   *data = (char *) header + header->t_hoff;
	int			att = columns->next;
	uint32		off = columns->offset[row];
	int			known = Min(natts, columns->numknown);

	if (att < known)
		known = count_known(header, known);

	for (int i = 0; i < columns->loaded; i++)
	{
		WantedColumn *wanted = &columns->wanted[i];
		CompactAttribute *attr;

		/* Added to the table after the row was written? */
		if (wanted->att >= natts)
		{
			wanted->values[row] = getmissingattr(tupdesc, wanted->att + 1, &wanted->nulls[row]);
			continue;
		}

		if (att < Min(wanted->att, known - 1))
		{
			att = Min(wanted->att, known - 1);
			off = columns->known[att];
		}
		for (; att < wanted->att; att++)
		{
			if (nullbits && att_isnull(att, nullbits))
				continue;
			attr = TupleDescCompactAttr(tupdesc, att);
			off = begin_of(attr, data, off);
			off = att_addlength_pointer(off, attr->attlen, data + off);
		}

		att++;
		if (nullbits && att_isnull(wanted->att, nullbits))
		{
			wanted->values[row] = (Datum) 0;
			wanted->nulls[row] = true;
			continue;
		}
		attr = TupleDescCompactAttr(tupdesc, wanted->att);
		off = begin_of(attr, data, off);
		wanted->values[row] = fetchatt(attr, data + off);
		wanted->nulls[row] = false;
		off = att_addlength_pointer(off, attr->attlen, data + off);
	}
	columns->offset[row] = off;
}

#ifdef USE_ASSERT_CHECKING
/*
 * Is each value the one that heap_getattr returns?  Of a large sample we check
 * some rows, lest the check take the time that we save.
 */
static bool
loaded_rightly(AnalyzeColumns *columns)
{
	int			step = 1 + columns->numrows / 500;

	for (int i = 0; i < columns->loaded; i++)
	{
		WantedColumn *wanted = &columns->wanted[i];
		CompactAttribute *attr = TupleDescCompactAttr(columns->tupdesc, wanted->att);

		for (int row = i % step; row < columns->numrows; row += step)
		{
			bool		isnull;
			Datum		value = heap_getattr(columns->rows[row], wanted->att + 1,
											 columns->tupdesc, &isnull);

			if (isnull != wanted->nulls[row] ||
				(!isnull && !datumIsEqual(value, wanted->values[row],
										  attr->attbyval, attr->attlen)))
				return false;
		}
	}
	return true;
}
#endif

/* Load the columns from the one called first on, as many as there is room for. */
static void
load(AnalyzeColumns *columns, int first)
{
	columns->first = first;
	columns->loaded = Min(columns->most, columns->numstats - first);
	for (int i = 0; i < columns->loaded; i++)
	{
		VacAttrStats *stats = columns->stats[first + i];
		WantedColumn *wanted = &columns->wanted[i];

		wanted->att = stats->tupattnum - 1;
		wanted->values = columns->values + (Size) i * columns->numrows;
		wanted->nulls = columns->nulls + (Size) i * columns->numrows;
		stats->exprvals = wanted->values;
		stats->exprnulls = wanted->nulls;
		stats->rowstride = 1;
	}

	/* ANALYZE may name columns in any order. */
	qsort(columns->wanted, columns->loaded, sizeof(WantedColumn), compare_wanted);
	if (columns->wanted[0].att < columns->next)
	{
		columns->next = 0;
		memset(columns->offset, 0, sizeof(uint32) * columns->numrows);
	}

	for (int row = 0; row < columns->numrows; row++)
	{
		vacuum_delay_point(true);
		load_row(columns, row);
	}
	columns->next = columns->wanted[columns->loaded - 1].att + 1;
	Assert(loaded_rightly(columns));
}

/*
 * Make the values of one of the columns ready for the fetch function of ANALYZE
 * that reads arrays.  They stay until the next call.
 */
void
analyze_columns_load(AnalyzeColumns *columns, int which)
{
	Assert(which >= 0 && which < columns->numstats);
	if (which < columns->first || which >= columns->first + columns->loaded)
		load(columns, which);
}

void
analyze_columns_end(AnalyzeColumns *columns)
{
	for (int i = 0; i < columns->numstats; i++)
	{
		columns->stats[i]->exprvals = NULL;
		columns->stats[i]->exprnulls = NULL;
	}
	MemoryContextDelete(columns->context);
}
