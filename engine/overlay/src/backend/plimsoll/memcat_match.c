/*-------------------------------------------------------------------------
 *
 * memcat_match.c
 *	  The rows in memory that may match what a plan asks of a catalog.
 *
 * A plan asks by scan keys, or, above a bitmap, by expressions.  Where they ask for
 * one value of a hash key, or for those of an array (= ANY), its lists are all that
 * is looked at: a session with thousands of tables must not pay for each of them
 * when it looks up one.
 *
 * src/backend/plimsoll/memcat_match.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "plimsoll/memcat_int.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

typedef struct RowList
{
	MemRow	  **rows;
	int			nrows;
	int			max;
} RowList;

static void
collect(RowList *list, MemSearch *search)
{
	MemRow	   *row;

	while ((row = memcat_search_next(search)) != NULL)
	{
		if (list->nrows == list->max)
		{
			list->max = Max(list->max * 2, 16);
			list->rows = list->rows == NULL ? palloc(list->max * sizeof(MemRow *)) :
				repalloc_huge(list->rows, list->max * sizeof(MemRow *));
		}
		list->rows[list->nrows++] = row;
	}
}

static int
compare_datums(const void *a, const void *b)
{
	Datum		x = *(const Datum *) a;
	Datum		y = *(const Datum *) b;

	return (x > y) - (x < y);
}

/* The values of an array of numbers, each once; -1 if they are none. */
static int
array_values(ScanKey key, Datum **values)
{
	ArrayType  *array;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool	   *isnull;
	int			n;
	int			kept = 0;

	if (key->sk_func.fn_oid != F_OIDEQ && key->sk_func.fn_oid != F_INT2EQ &&
		key->sk_func.fn_oid != F_INT4EQ)
		return -1;
	array = DatumGetArrayTypeP(key->sk_argument);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  values, &isnull, &n);
	for (int i = 0; i < n; i++)
		if (!isnull[i])
			(*values)[kept++] = (*values)[i];
	qsort(*values, kept, sizeof(Datum), compare_datums);
	n = 0;
	for (int i = 0; i < kept; i++)
		if (n == 0 || (*values)[n - 1] != (*values)[i])
			(*values)[n++] = (*values)[i];
	return n;
}

static bool
asks_for_array(ScanKey key)
{
	return (key->sk_flags & ~SK_SEARCHARRAY) == 0 &&
		key->sk_strategy == BTEqualStrategyNumber;
}

/*
 * One search for each value of an array, if that leads to a list of its own; false
 * if it does not.  keys[nkeys] is free, for the value.
 */
static bool
collect_of_array(RowList *list, Relation catalog, MemSnap snap, int nkeys, ScanKey keys,
				 ScanKey array)
{
	MemCatalog *cat = memcat_key_catalog(RelationGetRelid(catalog));
	Datum	   *values;
	int			n = array_values(array, &values);

	if (n < 0)
		return false;
	keys[nkeys] = *array;
	keys[nkeys].sk_flags = 0;
	for (int i = 0; i < n; i++)
	{
		MemSearch	search;

		keys[nkeys].sk_argument = values[i];
		memcat_search_begin(&search, cat, snap, RelationGetDescr(catalog), nkeys + 1, keys);
		if (!(search.answered & (UINT64CONST(1) << nkeys)))
			return false;		/* already for the first value */
		collect(list, &search);
	}
	return true;
}

/*
 * The rows that a snapshot sees and that match those of the scan keys that can be
 * looked at here, whose attribute numbers are the catalog's; *recheck tells whether
 * others are left.
 */
MemRow **
memcat_match(Relation catalog, Snapshot snapshot, int nkeys, ScanKey keys,
			 int *nrows, bool *recheck)
{
	RowList		list = {0};
	MemSnap		snap = memcat_snap_of(snapshot);
	ScanKey		simple = palloc((nkeys + 1) * sizeof(ScanKeyData));
	ScanKey		array = NULL;
	int			nsimple = 0;

	*recheck = false;
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].sk_flags == 0)
			simple[nsimple++] = keys[i];
		else
		{
			*recheck = true;
			if (array == NULL && asks_for_array(&keys[i]))
				array = &keys[i];
		}
	}
	if (nsimple >= 63 || array == NULL ||
		!collect_of_array(&list, catalog, snap, nsimple, simple, array))
	{
		MemSearch	search;

		memcat_search_begin(&search, memcat_key_catalog(RelationGetRelid(catalog)), snap,
							RelationGetDescr(catalog), nsimple, simple);
		collect(&list, &search);
	}
	pfree(simple);
	*nrows = list.nrows;
	return list.rows;
}

/* The value of an operand, if it does not depend on the row. */
static bool
operand_value(Node *operand, ExprContext *econtext, Datum *value)
{
	bool		isnull;

	while (IsA(operand, RelabelType))
		operand = (Node *) ((RelabelType *) operand)->arg;
	if (IsA(operand, Const))
	{
		*value = ((Const *) operand)->constvalue;
		return !((Const *) operand)->constisnull;
	}
	if (!IsA(operand, Param))
		return false;
	*value = ExecEvalExprSwitchContext(ExecInitExpr((Expr *) operand, NULL), econtext, &isnull);
	return !isnull;
}

/* Does a qual say "column = value"?  Then it becomes a scan key. */
static bool
key_of_qual(Node *qual, ExprContext *econtext, ScanKey key)
{
	Node	   *column;
	Node	   *operand;
	RegProcedure function;
	Oid			collation;
	int			flags = 0;
	Datum		value;

	if (IsA(qual, OpExpr) && list_length(((OpExpr *) qual)->args) == 2)
	{
		OpExpr	   *op = (OpExpr *) qual;

		column = linitial(op->args);
		operand = lsecond(op->args);
		if (!IsA(column, Var))
		{
			column = lsecond(op->args); /* equality of one type commutes */
			operand = linitial(op->args);
		}
		function = op->opfuncid;
		collation = op->inputcollid;
	}
	else if (IsA(qual, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *) qual)->useOr)
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) qual;

		column = linitial(op->args);
		operand = lsecond(op->args);
		function = op->opfuncid;
		collation = op->inputcollid;
		flags = SK_SEARCHARRAY;
	}
	else
		return false;

	if ((function != F_OIDEQ && function != F_INT2EQ && function != F_INT4EQ && function != F_NAMEEQ) ||
		!IsA(column, Var) || ((Var *) column)->varattno <= 0 || ((Var *) column)->varlevelsup > 0 ||
		!operand_value(operand, econtext, &value))
		return false;
	ScanKeyEntryInitialize(key, flags, ((Var *) column)->varattno, BTEqualStrategyNumber,
						   InvalidOid, collation, function, value);
	return true;
}

/* As memcat_match(), for the quals of a plan node; it has to check them all. */
MemRow **
memcat_match_quals(Relation catalog, Snapshot snapshot, List *quals,
				   ExprContext *econtext, int *nrows)
{
	ScanKey		keys = palloc(Max(list_length(quals), 1) * sizeof(ScanKeyData));
	int			nkeys = 0;
	bool		recheck;

	foreach_ptr(Node, qual, quals)
	{
		if (key_of_qual(qual, econtext, &keys[nkeys]))
			nkeys++;
	}
	return memcat_match(catalog, snapshot, nkeys, keys, nrows, &recheck);
}
