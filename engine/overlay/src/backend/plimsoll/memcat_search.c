/*-------------------------------------------------------------------------
 *
 * memcat_search.c
 *	  Searches of the memory catalog: which row versions a snapshot sees, and
 *	  which of them match scan keys.
 *
 * src/backend/plimsoll/memcat_search.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "plimsoll/memcat_int.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

/* What of the memory catalog a snapshot sees; NULL is the latest. */
MemSnap
memcat_snap_of(Snapshot snapshot)
{
	MemSnap		snap = {MEMVIEW_CID, InvalidCommandId};

	if (snapshot == NULL)
		snap.curcid = GetCurrentCommandId(false);
	else
	{
		switch (snapshot->snapshot_type)
		{
			case SNAPSHOT_MVCC:
				snap.curcid = snapshot->curcid;
				break;
			case SNAPSHOT_SELF:
			case SNAPSHOT_DIRTY:
				snap.view = MEMVIEW_SELF;
				break;
			case SNAPSHOT_ANY:
				snap.view = MEMVIEW_ANY;
				break;
			default:
				snap.view = MEMVIEW_NONE;
				break;
		}
	}
	return snap;
}

/* Does the scan key ask for one value of that column, in its own type? */
static bool
key_is_equality(ScanKey key, const MemCol *col)
{
	if (key->sk_attno != col->attno ||
		key->sk_strategy != BTEqualStrategyNumber || key->sk_flags != 0)
		return false;
	switch (col->type)
	{
		case MEMCOL_OID:
			return key->sk_func.fn_oid == F_OIDEQ;
		case MEMCOL_INT2:
			return key->sk_func.fn_oid == F_INT2EQ;
		case MEMCOL_INT4:
			return key->sk_func.fn_oid == F_INT4EQ;
		case MEMCOL_NAME:
			return key->sk_func.fn_oid == F_NAMEEQ;
	}
	return false;
}

/*
 * The values that the scan keys ask of all columns of a hash key, if they do;
 * *answered is then the set of these scan keys.
 */
static bool
key_values(const MemKeyDef *def, int nkeys, ScanKey keys, Datum *values,
		   uint64 *answered)
{
	uint64		used = 0;

	nkeys = Min(nkeys, 64);		/* what fits the set */
	for (int c = 0; c < def->ncols; c++)
	{
		int			i = 0;

		while (i < nkeys && !key_is_equality(&keys[i], &def->cols[c]))
			i++;
		if (i == nkeys)
			return false;
		values[c] = keys[i].sk_argument;
		used |= UINT64CONST(1) << i;
	}
	*answered = used;
	return true;
}

/*
 * Starts a search with scan keys whose attribute numbers are the catalog's.
 * The keys must outlive the search.
 */
void
memcat_search_begin(MemSearch *search, MemCatalog *cat, MemSnap snap,
					TupleDesc tupdesc, int nkeys, ScanKey keys)
{
	search->cat = cat;
	search->snap = snap;
	search->keyno = -1;
	search->answered = 0;
	search->unique = false;
	search->head = &cat->rows;
	search->cur = NULL;
	search->tupdesc = tupdesc;
	search->nkeys = nkeys;
	search->keys = keys;

	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKeyDef  *def = &cat->keys[k];
		Datum		values[MEMCAT_KEY_COLS];

		if (!key_values(def, nkeys, keys, values, &search->answered))
			continue;
		search->keyno = k;
		/* a worker takes rows in the order in which it needs them */
		search->unique = def->unique && snap.view != MEMVIEW_ANY && !memcat_in_worker;
		if (memcat_in_worker)
			memcat_parallel_take_key(cat, k, values);
		search->head = memcat_key_find(cat, k, values);
		return;
	}
	if (memcat_in_worker)
		memcat_parallel_take_all(cat);
}

static bool
row_matches(MemSearch *search, MemRow *row)
{
	for (int i = 0; i < search->nkeys; i++)
	{
		ScanKey		key = &search->keys[i];
		bool		isnull;
		Datum		value;

		if (i < 64 && (search->answered & (UINT64CONST(1) << i)))
			continue;
		if (key->sk_flags & SK_ISNULL)
			return false;
		value = heap_getattr(&row->tuple, key->sk_attno, search->tupdesc, &isnull);
		if (isnull ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
											value, key->sk_argument)))
			return false;
	}
	return true;
}

MemRow *
memcat_search_next(MemSearch *search)
{
	while (search->head)
	{
		dlist_node *node;
		MemRow	   *row;

		if (search->cur == NULL)
		{
			if (dlist_is_empty(search->head))
				break;
			node = dlist_head_node(search->head);
		}
		else if (dlist_has_next(search->head, search->cur))
			node = dlist_next_node(search->head, search->cur);
		else
			break;
		search->cur = node;
		row = search->keyno >= 0 ? memcat_row_of_link(search->keyno, node) :
			dlist_container(MemRow, catnode, node);
		if (search->unique && memcat_row_known(row, &search->snap))
			search->head = NULL;
		if (memcat_row_visible(row, &search->snap) && row_matches(search, row))
			return row;
	}
	search->head = NULL;
	return NULL;
}
