/*-------------------------------------------------------------------------
 *
 * memcat_exec.c
 *	  Scans of the executor (and of COPY, and of table_beginscan_catalog) over
 *	  catalogs that have memory rows, so that SQL sees them.
 *
 * A caller opts in by attaching the memory catalog to its scan; scans that
 * must see the heap alone (VACUUM, ANALYZE, CLUSTER, index builds of the
 * catalogs themselves) never do.
 *
 * Sequential and TID range scans return the memory rows after the heap's, in both
 * directions.  Bitmap scans append them too; the caller rechecks its quals.
 * Index scans must keep the order of the index, and must support going
 * backwards and mark/restore: when, and only when, some memory row may match
 * the scan keys, the matching rows of both sides are collected and sorted.
 *
 * src/backend/plimsoll/memcat_exec.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Puts a copy of a row into a slot. */
void
memcat_slot_set(HeapTuple tup, TupleTableSlot *slot)
{
	ExecForceStoreHeapTuple(tup, slot, false);
	slot->tts_tid = tup->t_self;
	slot->tts_tableOid = tup->t_tableOid;
}

/* The same for a scan's next row, if there is one. */
bool
memcat_slot_set_next(HeapTuple tup, TupleTableSlot *slot)
{
	if (tup == NULL)
		ExecClearTuple(slot);
	else
		memcat_slot_set(tup, slot);
	return tup != NULL;
}

/*
 * Table scans
 */

struct MemCatTableScan
{
	MemRow	  **rows;			/* visible and matching, once loaded */
	int			nrows;
	int			cur;			/* row we stand on; -1: still in the heap;
								 * nrows: past the end */
	bool		loaded;
	bool		ranged;			/* only rows with TIDs of this range */
	ItemPointerData mintid;
	ItemPointerData maxtid;
};

static MemRow **
collect_rows(MemSearch *search, int *nrows)
{
	int			max = 64;
	MemRow	  **rows = palloc(max * sizeof(MemRow *));
	MemRow	   *row;

	*nrows = 0;
	while ((row = memcat_search_next(search)) != NULL)
	{
		if (*nrows == max)
		{
			max *= 2;
			rows = repalloc_huge(rows, max * sizeof(MemRow *));
		}
		rows[(*nrows)++] = row;
	}
	return rows;
}

static MemCatalog *
catalog_with_rows(Relation rel)
{
	MemCatalog *cat;

	if (!memcat_active || RelationGetRelid(rel) >= FirstUnpinnedObjectId)
		return NULL;
	cat = memcat_key_catalog(RelationGetRelid(rel));
	return cat != NULL && cat->nrows > 0 ? cat : NULL;
}

void
memcat_table_attach(TableScanDesc scan)
{
	if (catalog_with_rows(scan->rs_rd) == NULL || scan->rs_parallel != NULL)
		return;
	scan->rs_memcat = palloc0(sizeof(MemCatTableScan));
	scan->rs_memcat->cur = -1;
}

/* Each (re)start of a TID range scan tells its range. */
void
memcat_table_attach_tid_range(TableScanDesc scan, ItemPointer mintid, ItemPointer maxtid)
{
	MemCatTableScan *mem;

	/* only the heap, which serves the catalogs, knows of rs_memcat */
	if (RelationGetRelid(scan->rs_rd) >= FirstUnpinnedObjectId)
		return;
	if (scan->rs_memcat == NULL)
		memcat_table_attach(scan);
	if ((mem = scan->rs_memcat) == NULL)
		return;
	mem->ranged = true;
	mem->mintid = *mintid;
	mem->maxtid = *maxtid;
}

static void
keep_range(MemCatTableScan *mem)
{
	int			kept = 0;

	for (int i = 0; i < mem->nrows; i++)
	{
		ItemPointer tid = &mem->rows[i]->tuple.t_self;

		if (ItemPointerCompare(tid, &mem->mintid) >= 0 &&
			ItemPointerCompare(tid, &mem->maxtid) <= 0)
			mem->rows[kept++] = mem->rows[i];
	}
	mem->nrows = kept;
}

static void
table_load(TableScanDesc scan)
{
	MemCatTableScan *mem = scan->rs_memcat;
	MemCatalog *cat = memcat_key_catalog(RelationGetRelid(scan->rs_rd));
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(mem));
	MemSearch	search;

	memcat_search_begin(&search, cat, memcat_snap_of(scan->rs_snapshot),
						RelationGetDescr(scan->rs_rd), scan->rs_nkeys, scan->rs_key);
	mem->rows = collect_rows(&search, &mem->nrows);
	if (mem->ranged)
		keep_range(mem);
	mem->loaded = true;
	MemoryContextSwitchTo(old);
}

/*
 * Called before the heap is asked.  True: the answer is *tup (NULL for the
 * end), the heap need not be asked.
 */
bool
memcat_table_before(TableScanDesc scan, ScanDirection direction, bool inited,
					HeapTuple *tup)
{
	MemCatTableScan *mem = scan->rs_memcat;

	*tup = NULL;
	if (ScanDirectionIsBackward(direction))
	{
		if (mem->cur < 0 && !inited)
		{
			table_load(scan);
			mem->cur = mem->nrows;
		}
		if (mem->cur <= 0)
		{
			mem->cur = -1;
			return false;
		}
		*tup = &mem->rows[--mem->cur]->tuple;
		return true;
	}
	if (mem->cur < 0)
		return false;
	*tup = memcat_table_after(scan);
	return true;
}

/* The next memory row going forward, the heap being at its end. */
HeapTuple
memcat_table_after(TableScanDesc scan)
{
	MemCatTableScan *mem = scan->rs_memcat;

	if (!mem->loaded)
		table_load(scan);
	if (mem->cur < mem->nrows)
		mem->cur++;
	return mem->cur < mem->nrows ? &mem->rows[mem->cur]->tuple : NULL;
}

void
memcat_table_rescan(TableScanDesc scan)
{
	MemCatTableScan *mem = scan->rs_memcat;

	if (mem->loaded)
		pfree(mem->rows);
	memset(mem, 0, sizeof(*mem));
	mem->cur = -1;
}

void
memcat_table_end(TableScanDesc scan)
{
	memcat_table_rescan(scan);
	pfree(scan->rs_memcat);
	scan->rs_memcat = NULL;
}

/*
 * Index scans
 */

typedef struct MergeEntry
{
	HeapTuple	tuple;
	bool		memory;			/* not checked against all scan keys */
} MergeEntry;

struct MemCatIndexScan
{
	MemoryContext context;		/* what depends on the scan keys */
	MemRow	  **rows;			/* memory rows that may match */
	int			nrows;
	bool		recheck;		/* "may": some keys were not looked at */
	bool		loaded;
	MergeEntry *entries;
	int			nentries;
	int			cur;			/* entry we stand on; -1, nentries: outside */
	bool		started;
	int			mark;
};

void
memcat_index_attach(IndexScanDesc scan)
{
	MemCatIndexScan *mem;

	if (catalog_with_rows(scan->heapRelation) == NULL ||
		scan->parallel_scan != NULL)
		return;
	mem = palloc0(sizeof(MemCatIndexScan));
	mem->context = AllocSetContextCreate(CurrentMemoryContext,
										 "memory catalog index scan",
										 ALLOCSET_SMALL_SIZES);
	scan->xs_memcat = mem;
}

void
memcat_index_rescan(IndexScanDesc scan, ScanKey keys, int nkeys)
{
	MemCatIndexScan *mem = scan->xs_memcat;
	MemoryContext context = mem->context;
	MemoryContext old;
	MemSearch	search;
	ScanKey		simple;
	int			nsimple = 0;

	MemoryContextReset(context);
	memset(mem, 0, sizeof(*mem));
	mem->context = context;

	old = MemoryContextSwitchTo(context);
	simple = palloc(Max(nkeys, 1) * sizeof(ScanKeyData));
	for (int i = 0; keys != NULL && i < nkeys; i++)
	{
		/* the executor rechecks the others */
		if (keys[i].sk_flags != 0)
		{
			mem->recheck = true;
			continue;
		}
		simple[nsimple] = keys[i];
		simple[nsimple].sk_attno =
			scan->indexRelation->rd_index->indkey.values[keys[i].sk_attno - 1];
		nsimple++;
	}
	memcat_search_begin(&search, memcat_key_catalog(RelationGetRelid(scan->heapRelation)),
						memcat_snap_of(scan->xs_snapshot),
						RelationGetDescr(scan->heapRelation), nsimple, simple);
	mem->rows = collect_rows(&search, &mem->nrows);
	MemoryContextSwitchTo(old);
}

/* Is this scan fed from the merged list rather than from the index? */
bool
memcat_index_merging(IndexScanDesc scan)
{
	return scan->xs_memcat->nrows > 0;
}

static void
index_datums(Relation index, TupleDesc heapdesc, HeapTuple tuple,
			 Datum *values, bool *isnull)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		values[i] = heap_getattr(tuple, index->rd_index->indkey.values[i],
								 heapdesc, &isnull[i]);
}

static int
compare_entries(const void *a, const void *b, void *arg)
{
	IndexScanDesc scan = arg;
	Relation	index = scan->indexRelation;
	TupleDesc	heapdesc = RelationGetDescr(scan->heapRelation);
	Datum		avalues[INDEX_MAX_KEYS];
	Datum		bvalues[INDEX_MAX_KEYS];
	bool		anull[INDEX_MAX_KEYS];
	bool		bnull[INDEX_MAX_KEYS];

	index_datums(index, heapdesc, ((const MergeEntry *) a)->tuple, avalues, anull);
	index_datums(index, heapdesc, ((const MergeEntry *) b)->tuple, bvalues, bnull);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		int16		option = index->rd_indoption[i];
		int			cmp;

		if (anull[i] || bnull[i])
		{
			if (anull[i] && bnull[i])
				continue;
			return anull[i] == ((option & INDOPTION_NULLS_FIRST) != 0) ? -1 : 1;
		}
		cmp = DatumGetInt32(FunctionCall2Coll(index_getprocinfo(index, i + 1, BTORDER_PROC),
											  index->rd_indcollation[i],
											  avalues[i], bvalues[i]));
		if (cmp != 0)
			return (option & INDOPTION_DESC) ? -cmp : cmp;
	}
	return ItemPointerCompare(&((const MergeEntry *) a)->tuple->t_self,
							  &((const MergeEntry *) b)->tuple->t_self);
}

static void
add_entry(MemCatIndexScan *mem, int *max, HeapTuple tuple, bool memory)
{
	if (mem->nentries == *max)
	{
		*max *= 2;
		mem->entries = repalloc_huge(mem->entries, *max * sizeof(MergeEntry));
	}
	mem->entries[mem->nentries].tuple = tuple;
	mem->entries[mem->nentries].memory = memory;
	mem->nentries++;
}

static void
index_load(IndexScanDesc scan)
{
	MemCatIndexScan *mem = scan->xs_memcat;
	MemoryContext old;
	TupleTableSlot *slot = table_slot_create(scan->heapRelation, NULL);
	int			max = mem->nrows + 64;

	mem->entries = MemoryContextAllocHuge(mem->context, max * sizeof(MergeEntry));

	/*
	 * The index alone, as if nothing was attached.  It may keep what it
	 * allocates, so it must not do that in our context.
	 */
	scan->xs_memcat = NULL;
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		old = MemoryContextSwitchTo(mem->context);
		add_entry(mem, &max, ExecCopySlotHeapTuple(slot), false);
		MemoryContextSwitchTo(old);
	}
	scan->xs_memcat = mem;
	ExecDropSingleTupleTableSlot(slot);

	old = MemoryContextSwitchTo(mem->context);
	for (int i = 0; i < mem->nrows; i++)
		add_entry(mem, &max, &mem->rows[i]->tuple, true);
	qsort_arg(mem->entries, mem->nentries, sizeof(MergeEntry),
			  compare_entries, scan);
	mem->loaded = true;
	mem->cur = -1;
	MemoryContextSwitchTo(old);
}

static MergeEntry *
index_step(IndexScanDesc scan, ScanDirection direction)
{
	MemCatIndexScan *mem = scan->xs_memcat;

	if (!mem->loaded)
		index_load(scan);
	if (!mem->started)
	{
		mem->started = true;
		mem->cur = ScanDirectionIsBackward(direction) ? mem->nentries : -1;
	}
	if (ScanDirectionIsBackward(direction))
		mem->cur = Max(mem->cur - 1, -1);
	else
		mem->cur = Min(mem->cur + 1, mem->nentries);
	if (mem->cur < 0 || mem->cur >= mem->nentries)
		return NULL;
	scan->xs_recheck = mem->recheck && mem->entries[mem->cur].memory;
	scan->xs_heaptid = mem->entries[mem->cur].tuple->t_self;
	scan->xs_heap_continue = false;
	return &mem->entries[mem->cur];
}

bool
memcat_index_next_slot(IndexScanDesc scan, ScanDirection direction,
					   TupleTableSlot *slot)
{
	MergeEntry *entry = index_step(scan, direction);

	if (entry == NULL)
		return false;
	memcat_slot_set(entry->tuple, slot);
	return true;
}

ItemPointer
memcat_index_next_tid(IndexScanDesc scan, ScanDirection direction)
{
	MergeEntry *entry = index_step(scan, direction);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old;

	if (entry == NULL)
		return NULL;
	index_datums(scan->indexRelation, RelationGetDescr(scan->heapRelation),
				 entry->tuple, values, isnull);
	old = MemoryContextSwitchTo(scan->xs_memcat->context);
	scan->xs_itup = index_form_tuple(RelationGetDescr(scan->indexRelation),
									 values, isnull);
	MemoryContextSwitchTo(old);
	scan->xs_itup->t_tid = scan->xs_heaptid;
	scan->xs_itupdesc = RelationGetDescr(scan->indexRelation);
	return &scan->xs_heaptid;
}

void
memcat_index_mark(IndexScanDesc scan)
{
	scan->xs_memcat->mark = scan->xs_memcat->cur;
}

void
memcat_index_restore(IndexScanDesc scan)
{
	scan->xs_memcat->cur = scan->xs_memcat->mark;
}

void
memcat_index_end(IndexScanDesc scan)
{
	MemoryContextDelete(scan->xs_memcat->context);
	pfree(scan->xs_memcat);
	scan->xs_memcat = NULL;
}
