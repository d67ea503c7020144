/*-------------------------------------------------------------------------
 *
 * memcat_store.c
 *	  The store of the memory catalog: row versions and their virtual TIDs.
 *
 * A row version is created by an insert or an update and marked by a delete
 * or an update; it is never changed in place except by an in-place update.
 * Within the transaction that made or marked it, who sees it is decided by
 * command ids, exactly as for heap tuples of one's own transaction, so older
 * snapshots (open cursors) keep seeing what they saw.
 *
 * src/backend/plimsoll/memcat_store.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/xact.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"
#include "utils/rel.h"

bool		enable_temp_memory_catalog = false;
int			temp_memory_catalog_limit = 512 * 1024;
bool		MemCatActive = false;

static MemoryContext store_context = NULL;
static int64 total_rows = 0;
static int64 total_bytes = 0;

/* Rows by what their TID encodes, and what may be used again. */
static MemRow **rows_by_id = NULL;
static uint32 *free_ids = NULL;
static uint32 nids = 0;
static uint32 maxids = 0;
static uint32 nfree_ids = 0;

MemoryContext
MemStoreContext(void)
{
	if (store_context == NULL)
	{
		store_context = AllocSetContextCreate(TopMemoryContext,
											  "memory catalog",
											  ALLOCSET_DEFAULT_SIZES);
		MemKeyInit(store_context);
		MemUndoInit();
	}
	return store_context;
}

int64
MemStoreRows(void)
{
	return total_rows;
}

int64
MemStoreBytes(void)
{
	return total_bytes;
}

#define IDS_PER_BLOCK	256

static void
set_tid(ItemPointer tid, uint32 id)
{
	ItemPointerSet(tid, MEMCAT_FIRST_BLOCK + id / IDS_PER_BLOCK,
				   FirstOffsetNumber + id % IDS_PER_BLOCK);
}

static uint32
new_id(MemRow *row)
{
	uint32		id;

	if (nfree_ids > 0)
		id = free_ids[--nfree_ids];
	else
	{
		if (nids == maxids)
		{
			uint32		n = maxids ? maxids * 2 : 1024;

			if (maxids)
			{
				rows_by_id = repalloc_huge(rows_by_id, n * sizeof(MemRow *));
				free_ids = repalloc_huge(free_ids, n * sizeof(uint32));
			}
			else
			{
				rows_by_id = MemoryContextAlloc(store_context, n * sizeof(MemRow *));
				free_ids = MemoryContextAlloc(store_context, n * sizeof(uint32));
			}
			maxids = n;
		}
		id = nids++;
	}
	rows_by_id[id] = row;
	return id;
}

MemRow *
MemStoreByTid(Oid relid, const ItemPointerData *tid)
{
	uint32		id = (ItemPointerGetBlockNumberNoCheck(tid) - MEMCAT_FIRST_BLOCK) * IDS_PER_BLOCK +
		(ItemPointerGetOffsetNumberNoCheck(tid) - FirstOffsetNumber);
	MemRow	   *row = id < nids ? rows_by_id[id] : NULL;

	/* a TID that a query made up may encode the number of another row */
	return row != NULL && row->cat->relid == relid &&
		ItemPointerEquals(&row->tuple.t_self, (ItemPointer) tid) ? row : NULL;
}

static void
check_limit(Size size)
{
	if (total_bytes + size > (int64) temp_memory_catalog_limit * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("memory catalog of temporary tables is full"),
				 errdetail("This session's temporary tables hold " INT64_FORMAT " catalog rows in " INT64_FORMAT " kB; the limit is %d kB.",
						   total_rows, total_bytes / 1024, temp_memory_catalog_limit),
				 errhint("Drop temporary tables that are no longer needed, or raise \"temp_memory_catalog_limit\".")));
}

/*
 * Adds a row version, sets the TID of the caller's tuple, as heap_insert does.
 */
MemRow *
MemStoreInsert(MemCatalog *cat, MemUnit *unit, HeapTuple tup)
{
	Size		head = MAXALIGN(offsetof(MemRow, links) + cat->nkeys * sizeof(MemLink));
	HeapTuple	flat = tup;
	CommandId	cid = GetCurrentCommandId(true);
	MemRow	   *row;
	HeapTupleHeader header;

	if (HeapTupleHasExternal(tup))
	{
		Relation	rel = RelationIdGetRelation(cat->relid);

		flat = toast_flatten_tuple(tup, RelationGetDescr(rel));
		RelationClose(rel);
	}
	check_limit(head + flat->t_len);
	MemUndoPrepare();
	row = MemoryContextAlloc(MemStoreContext(), head + flat->t_len);
	memset(row, 0, head);
	header = (HeapTupleHeader) ((char *) row + head);
	memcpy(header, flat->t_data, flat->t_len);
	row->id = new_id(row);
	set_tid(&row->tuple.t_self, row->id);
	row->tuple.t_len = flat->t_len;
	row->tuple.t_tableOid = cat->relid;
	row->tuple.t_data = header;
	row->cat = cat;
	row->unit = unit;
	row->size = head + flat->t_len;
	row->ins_cid = cid;
	row->open = true;
	ItemPointerSetInvalid(&row->moved);

	/* the header of a tuple that everybody sees: decided by us, not by it */
	header->t_infomask &= ~HEAP_XACT_MASK;
	header->t_infomask2 &= ~HEAP2_XACT_MASK;
	header->t_infomask |= HEAP_XMIN_FROZEN | HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(header, FrozenTransactionId);
	HeapTupleHeaderSetXmax(header, InvalidTransactionId);
	HeapTupleHeaderSetCmin(header, FirstCommandId);
	header->t_ctid = row->tuple.t_self;

	/* from here on an error leaves what the end of the transaction undoes */
	unit->refs++;
	dlist_push_tail(&cat->rows, &row->catnode);
	dlist_push_tail(&unit->rows, &row->unitnode);
	cat->nrows++;
	total_rows++;
	total_bytes += row->size;
	MemUndoPush(MEMUNDO_INSERT, row);
	MemKeyLink(cat, row);
	MemCatActive = true;

	if (flat != tup)
		heap_freetuple(flat);
	tup->t_self = row->tuple.t_self;
	tup->t_tableOid = cat->relid;
	return row;
}

void
MemStoreDelete(MemRow *row)
{
	Assert(!row->deleted);
	MemUndoPrepare();
	row->deleted = true;
	row->del_cid = GetCurrentCommandId(true);
	MemUndoPush(MEMUNDO_DELETE, row);
}
/* No transaction needs this version any more. */
void
MemStoreFree(MemRow *row)
{
	MemUnit    *unit = row->unit;

	MemSharedWithdraw(row);
	MemKeyUnlink(row->cat, row);
	dlist_delete_from(&row->cat->rows, &row->catnode);
	dlist_delete_from(&unit->rows, &row->unitnode);
	row->cat->nrows--;
	rows_by_id[row->id] = NULL;
	free_ids[nfree_ids++] = row->id;
	total_rows--;
	total_bytes -= row->size;
	MemUnitRelease(unit);
	pfree(row);
}
