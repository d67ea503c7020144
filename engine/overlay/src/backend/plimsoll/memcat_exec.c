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
#include "miscadmin.h"
#include "plimsoll/memcat_descriptor.h"
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

static MemCatalog *
catalog_with_rows(Relation rel)
{
	MemCatalog *cat;

	if (!memcat_active || RelationGetRelid(rel) >= FirstUnpinnedObjectId)
		return NULL;
	cat = memcat_key_catalog(RelationGetRelid(rel));
	return cat != NULL && cat->nrows > 0 ? cat : NULL;
}

/* Body of memcat_table_attach(). */
void
memcat_table_attach_rows(TableScanDesc scan)
{
	if (catalog_with_rows(scan->rs_rd) == NULL || scan->rs_parallel != NULL)
		return;
	memcat_of_table_scan(scan) = palloc0(sizeof(MemCatTableScan));
	memcat_of_table_scan(scan)->cur = -1;
	scan->rs_flags |= SO_MEMCAT;
}

/* Each (re)start of a TID range scan tells its range. */
void
memcat_table_attach_tid_range(TableScanDesc scan, ItemPointer mintid, ItemPointer maxtid)
{
	MemCatTableScan *mem;

	if (!memcat_table_attached(scan))
		memcat_table_attach(scan);
	if (!memcat_table_attached(scan))
		return;
	mem = memcat_of_table_scan(scan);
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
	MemCatTableScan *mem = memcat_of_table_scan(scan);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(mem));
	bool		recheck;

	mem->rows = memcat_match(scan->rs_rd, scan->rs_snapshot, scan->rs_nkeys,
							 scan->rs_key, &mem->nrows, &recheck);
	Assert(!recheck);
	if (mem->ranged)
		keep_range(mem);
	mem->loaded = true;
	MemoryContextSwitchTo(old);
}

/*
 * A bitmap heap scan is about to ask for the first row after those that the bitmap
 * named: those that cannot match its quals are left out.
 */
static void
table_restrict(TableScanDesc scan, List *quals, ExprContext *econtext)
{
	MemCatTableScan *mem = memcat_of_table_scan(scan);
	MemoryContext old;
	MemRow	  **rows;

	if (mem->loaded)
		return;

	/* a rescan leaves behind the list alone, which it frees */
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	rows = memcat_match_quals(scan->rs_rd, scan->rs_snapshot, quals, econtext, &mem->nrows);
	MemoryContextSwitchTo(old);
	if (mem->nrows > 0)
	{
		mem->rows = MemoryContextAllocHuge(GetMemoryChunkContext(mem),
										   mem->nrows * sizeof(MemRow *));
		memcpy(mem->rows, rows, mem->nrows * sizeof(MemRow *));
	}
	mem->loaded = true;
}

/*
 * Called before the heap is asked.  True: the answer is *tup (NULL for the
 * end), the heap need not be asked.
 */
bool
memcat_table_before(TableScanDesc scan, ScanDirection direction, bool inited,
					HeapTuple *tup)
{
	MemCatTableScan *mem = memcat_of_table_scan(scan);

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
	MemCatTableScan *mem = memcat_of_table_scan(scan);

	if (!mem->loaded)
		table_load(scan);
	if (mem->cur < mem->nrows)
		mem->cur++;
	return mem->cur < mem->nrows ? &mem->rows[mem->cur]->tuple : NULL;
}

/* The next row of a scan that has rows in memory, whichever side it comes from. */
bool
memcat_table_next_slot(TableScanDesc sscan, ScanDirection direction,
					   TupleTableSlot *slot)
{
	HeapScanDesc scan = (HeapScanDesc) sscan;
	HeapTuple	tup = heap_getnext(sscan, direction);

	if (tup != &scan->rs_ctup)
		return memcat_slot_set_next(tup, slot);
	ExecStoreBufferHeapTuple(tup, slot, scan->rs_cbuf);
	return true;
}

/* The next row in memory that matches the quals of a bitmap heap scan. */
bool
memcat_bitmap_next_slot(BitmapHeapScanState *node, TupleTableSlot *slot)
{
	BitmapHeapScan *plan = (BitmapHeapScan *) node->ss.ps.plan;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TableScanDesc scan = node->ss.ss_currentScanDesc;
	HeapTuple	tup;

	table_restrict(scan, plan->bitmapqualorig, econtext);
	while ((tup = memcat_table_after(scan)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		memcat_slot_set(tup, slot);
		econtext->ecxt_scantuple = slot;
		if (ExecQualAndReset(node->bitmapqualorig, econtext))
			return true;
		InstrCountFiltered2(node, 1);
	}
	return false;
}

void
memcat_table_rescan(TableScanDesc scan)
{
	MemCatTableScan *mem = memcat_of_table_scan(scan);

	if (mem->rows)
		pfree(mem->rows);
	memset(mem, 0, sizeof(*mem));
	mem->cur = -1;
}

void
memcat_table_end(TableScanDesc scan)
{
	memcat_table_rescan(scan);
	pfree(memcat_of_table_scan(scan));
	scan->rs_flags &= ~SO_MEMCAT;
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

/* Body of memcat_index_attach(). */
void
memcat_index_attach_rows(IndexScanDesc scan)
{
	MemCatIndexScan *mem;

	if (catalog_with_rows(scan->heapRelation) == NULL ||
		scan->parallel_scan != NULL)
		return;
	mem = palloc0(sizeof(MemCatIndexScan));
	mem->context = AllocSetContextCreate(CurrentMemoryContext,
										 "memory catalog index scan",
										 ALLOCSET_SMALL_SIZES);
	memcat_of_index_scan(scan) = mem;
}

void
memcat_index_rescan(IndexScanDesc scan, ScanKey keys, int nkeys)
{
	MemCatIndexScan *mem = memcat_of_index_scan(scan);
	MemoryContext context = mem->context;
	MemoryContext old;
	ScanKey		own;

	MemoryContextReset(context);
	memset(mem, 0, sizeof(*mem));
	mem->context = context;

	old = MemoryContextSwitchTo(context);
	if (keys == NULL)
		nkeys = 0;
	own = palloc(Max(nkeys, 1) * sizeof(ScanKeyData));
	for (int i = 0; i < nkeys; i++)
	{
		own[i] = keys[i];
		own[i].sk_attno =
			scan->indexRelation->rd_index->indkey.values[keys[i].sk_attno - 1];
	}
	/* the executor rechecks the others */
	mem->rows = memcat_match(scan->heapRelation, scan->xs_snapshot, nkeys, own,
							 &mem->nrows, &mem->recheck);
	MemoryContextSwitchTo(old);
}

/* May rows in memory match?  Then the scan is fed from the merged list. */
bool
memcat_index_has_rows(IndexScanDesc scan)
{
	return memcat_of_index_scan(scan)->nrows > 0;
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
	MemCatIndexScan *mem = memcat_of_index_scan(scan);
	MemoryContext old;
	TupleTableSlot *slot = table_slot_create(scan->heapRelation, NULL);
	int			max = mem->nrows + 64;

	mem->entries = MemoryContextAllocHuge(mem->context, max * sizeof(MergeEntry));

	/*
	 * The index alone, as if nothing was attached.  It may keep what it
	 * allocates, so it must not do that in our context.
	 */
	memcat_of_index_scan(scan) = NULL;
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		old = MemoryContextSwitchTo(mem->context);
		add_entry(mem, &max, ExecCopySlotHeapTuple(slot), false);
		MemoryContextSwitchTo(old);
	}
	memcat_of_index_scan(scan) = mem;
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
	MemCatIndexScan *mem = memcat_of_index_scan(scan);

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
	old = MemoryContextSwitchTo(memcat_of_index_scan(scan)->context);
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
	memcat_of_index_scan(scan)->mark = memcat_of_index_scan(scan)->cur;
}

void
memcat_index_restore(IndexScanDesc scan)
{
	memcat_of_index_scan(scan)->cur = memcat_of_index_scan(scan)->mark;
}

void
memcat_index_end(IndexScanDesc scan)
{
	MemoryContextDelete(memcat_of_index_scan(scan)->context);
	pfree(memcat_of_index_scan(scan));
	memcat_of_index_scan(scan) = NULL;
}
