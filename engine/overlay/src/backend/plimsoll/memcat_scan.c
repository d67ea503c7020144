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

#include "access/genam.h"
#include "access/table.h"
#include "plimsoll/memcat_descriptor.h"
#include "plimsoll/memcat_int.h"
#include "utils/rel.h"

struct MemCatScan
{
	MemSearch	search;
	MemRow	   *first;			/* found by begin, not yet returned */
	bool		memory_only;
	ScanKeyData keys[FLEXIBLE_ARRAY_MEMBER];
};

/* The memory part of a catalog scan.  NULL: memory has nothing to say. */
static MemCatScan *
scan_begin(Relation catalog, Snapshot snapshot, int nkeys, ScanKey key)
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
	return scan;
}

/* Body of memcat_sys_scan_begin(). */
void
memcat_sys_scan_attach(SysScanDesc scan, Relation catalog, Snapshot snapshot,
					   int nkeys, ScanKey key)
{
	MemCatScan *memcat = scan_begin(catalog, snapshot, nkeys, key);

	memcat_of_sys_scan(scan) = memcat;
	if (memcat == NULL || !memcat->memory_only)
		return;
	/* the caller fills in the rest only if the real catalog is to be read */
	memset(scan, 0, sizeof(SysScanDescData));
	scan->heap_rel = catalog;
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

/* Body of memcat_sys_scan_end(). */
bool
memcat_sys_scan_detach(SysScanDesc scan)
{
	bool		memory_only = memcat_scan_exhausted(memcat_of_sys_scan(scan));

	pfree(memcat_of_sys_scan(scan));
	if (memory_only)
		pfree(scan);
	return memory_only;
}

/*
 * In-place updates.  A row in memory needs no lock: the slot, in which a locked
 * row of the real catalog is, stays empty.
 */
bool
memcat_inplace_begin(SysScanDesc scan, HeapTuple tuple)
{
	static BufferHeapTupleTableSlot empty = {.base.base.tts_flags = TTS_FLAG_EMPTY};

	if (!memcat_tid_is_virtual(RelationGetRelid(scan->heap_rel), &tuple->t_self))
		return false;
	if (scan->slot == NULL)		/* a scan of memory alone, which drops none */
		scan->slot = &empty.base.base;
	return true;
}

bool
memcat_inplace_finish(SysScanDesc scan, HeapTuple tuple)
{
	if (!memcat_tid_is_virtual(RelationGetRelid(scan->heap_rel), &tuple->t_self))
		return false;
	memcat_update_inplace(scan->heap_rel, tuple);
	systable_endscan(scan);
	return true;
}

bool
memcat_inplace_cancel(SysScanDesc scan)
{
	if (!TTS_EMPTY(scan->slot))
		return false;
	systable_endscan(scan);
	return true;
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
