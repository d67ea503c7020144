/*-------------------------------------------------------------------------
 *
 * column_names.c
 *	  Whether the names of a new table's columns all differ.
 *
 * CREATE TABLE compares each column's name with each other one's, twice.  With
 * 1,000 columns that is half of the command.  Here many names are sorted, and
 * neighbours compared.  Only if two are equal, the caller has to look which,
 * and says so in its own words.
 *
 * src/backend/plimsoll/column_names.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "plimsoll/column_names.h"
#include "port.h"

/* With fewer it is as quick to compare all. */
#define MANY_COLUMNS 64

/* The array is sorted and freed. */
static bool
all_differ(const char **names, int n)
{
	bool		differ = true;

	qsort(names, n, sizeof(char *), pg_qsort_strcmp);
	for (int i = 1; i < n && differ; i++)
		differ = strcmp(names[i - 1], names[i]) != 0;
	pfree(names);
	return differ;
}

/* False: two are the same, or the columns are few. */
bool
column_names_differ(TupleDesc tupdesc)
{
	const char **names;

	if (tupdesc->natts < MANY_COLUMNS)
		return false;
	names = palloc_array(const char *, tupdesc->natts);
	for (int i = 0; i < tupdesc->natts; i++)
		names[i] = NameStr(TupleDescAttr(tupdesc, i)->attname);
	return all_differ(names, tupdesc->natts);
}

/* The same for a list of ColumnDef. */
bool
column_names_differ_in(List *columns)
{
	const char **names;
	int			n = 0;

	if (list_length(columns) < MANY_COLUMNS)
		return false;
	names = palloc_array(const char *, list_length(columns));
	foreach_node(ColumnDef, column, columns)
		names[n++] = column->colname;
	return all_differ(names, n);
}
