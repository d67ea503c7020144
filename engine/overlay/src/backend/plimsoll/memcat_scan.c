/*-------------------------------------------------------------------------
 *
 * memcat_scan.c
 *	  Catalog scans of the backend itself (systable_*) over the memory catalog.
 *
 * Such a scan returns the memory rows first, then the rows of the real
 * catalog; no caller of the unordered kind depends on the order.  When the
 * scan keys name an object that memory owns, or a unique key was found in
 * memory, the real catalog is not touched at all.
 *
 * src/backend/plimsoll/memcat_scan.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "plimsoll/memcat_int.h"
#include "utils/rel.h"

struct MemCatScan
{
	MemSearch	search;
	MemRow	   *first;			/* found by begin, not yet returned */
	bool		memory_only;
	ScanKeyData keys[FLEXIBLE_ARRAY_MEMBER];
};

/*
 * Starts the memory part of a catalog scan.  NULL: memory has nothing to say;
 * otherwise *memory_only tells whether the real catalog has nothing to say.
 */
MemCatScan *
memcat_scan_begin(Relation catalog, Snapshot snapshot, int nkeys, ScanKey key,
				  bool *memory_only)
{
	Oid			catalogId = RelationGetRelid(catalog);
	MemCatalog *cat;
	MemCatScan *scan;
	bool		owned;

	if (catalogId >= FirstUnpinnedObjectId)
		return NULL;
	owned = memcat_owner_keys_owned(catalogId, nkeys, key);
	cat = memcat_key_catalog(catalogId);
	if (!owned && (cat == NULL || cat->nrows == 0))
		return NULL;

	scan = palloc(offsetof(MemCatScan, keys) + nkeys * sizeof(ScanKeyData));
	memcpy(scan->keys, key, nkeys * sizeof(ScanKeyData));
	scan->first = NULL;
	scan->memory_only = owned;
	if (cat)
	{
		memcat_search_begin(&scan->search, cat, memcat_snap_of(snapshot),
							RelationGetDescr(catalog), nkeys, scan->keys);
		scan->first = memcat_search_next(&scan->search);
		if (scan->first && scan->search.unique)
			scan->memory_only = true;
	}
	else
		scan->search.head = NULL;

	if (scan->first == NULL && !scan->memory_only)
	{
		pfree(scan);
		return NULL;
	}
	*memory_only = scan->memory_only;
	return scan;
}

HeapTuple
memcat_scan_next(MemCatScan *scan)
{
	MemRow	   *row = scan->first;

	if (row)
		scan->first = NULL;
	else
		row = memcat_search_next(&scan->search);
	return row ? &row->tuple : NULL;
}

/* Is there nothing more to come from the real catalog? */
bool
memcat_scan_exhausted(MemCatScan *scan)
{
	return scan->memory_only;
}

void
memcat_scan_end(MemCatScan *scan)
{
	pfree(scan);
}

/*
 * The row that a unique key names, or NULL.  Returns false unless memory alone
 * can tell.  The row stays ours.
 */
bool
memcat_lookup(Oid catalogId, TupleDesc tupdesc, int nkeys, ScanKey keys,
			  HeapTuple *tuple)
{
	MemCatalog *cat = memcat_key_catalog(catalogId);
	bool		owned = memcat_owner_keys_owned(catalogId, nkeys, keys);
	MemSearch	search;
	MemRow	   *row = NULL;

	if (cat && cat->nrows > 0)
	{
		memcat_search_begin(&search, cat, memcat_snap_of(NULL), tupdesc, nkeys, keys);
		if (owned || search.unique)
			row = memcat_search_next(&search);
	}
	*tuple = row ? &row->tuple : NULL;
	return owned || row != NULL;
}

static MemRow *
row_by_tid(Oid catalogId, ItemPointer tid)
{
	MemCatalog *cat = memcat_key_catalog(catalogId);

	if (memcat_in_worker && cat != NULL)
		memcat_parallel_take_all(cat);
	return memcat_store_by_tid(catalogId, tid);
}

bool
memcat_tid_visible(Oid catalogId, ItemPointer tid, Snapshot snapshot)
{
	MemRow	   *row = row_by_tid(catalogId, tid);
	MemSnap		snap = memcat_snap_of(snapshot);

	return row != NULL && memcat_row_visible(row, &snap);
}

/*
 * Did this transaction delete the row?  *cmax is then the command that did.
 * Rows that moved to the real catalog count as not deleted.
 */
bool
memcat_tid_deleted(Oid catalogId, ItemPointer tid, CommandId *cmax)
{
	MemRow	   *row = row_by_tid(catalogId, tid);

	if (row == NULL || !row->deleted || ItemPointerIsValid(&row->moved))
		return false;
	*cmax = row->del_cid;
	return true;
}

/*
 * Follows a row through the updates of this transaction: *tid becomes the TID
 * of its latest version that the snapshot sees.  True: the row moved to the
 * real catalog meanwhile, *moved is where its versions go on.
 */
bool
memcat_tid_latest(Oid catalogId, ItemPointer tid, Snapshot snapshot,
				  ItemPointer moved)
{
	MemRow	   *row = row_by_tid(catalogId, tid);
	MemSnap		snap = memcat_snap_of(snapshot);

	while (row != NULL)
	{
		if (memcat_row_visible(row, &snap))
			*tid = row->tuple.t_self;
		if (ItemPointerIsValid(&row->moved))
		{
			*moved = row->moved;
			return true;
		}
		row = row->newer;
	}
	return false;
}

bool
memcat_tid_fetch(Oid catalogId, ItemPointer tid, Snapshot snapshot,
				 TupleTableSlot *slot)
{
	MemRow	   *row = row_by_tid(catalogId, tid);
	MemSnap		snap = memcat_snap_of(snapshot);

	if (row == NULL || !memcat_row_visible(row, &snap))
		return false;
	memcat_slot_set(&row->tuple, slot);
	return true;
}
