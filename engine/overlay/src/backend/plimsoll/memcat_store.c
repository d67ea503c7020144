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
#include "catalog/pg_class.h"
#include "plimsoll/memcat_int.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Changes with each change of a row. */
uint64		memcat_store_version = 0;

/* Gives back counted memory that the session can do without. */
void		(*memcat_store_reclaim) (void) = NULL;

static int64 total_rows = 0;

/* Rows by the number that their TID encodes, and the numbers that are free. */
static MemRow **rows_by_id = NULL;
static uint32 *free_ids = NULL;
static uint32 nids = 0;
static uint32 maxids = 0;
static uint32 nfree_ids = 0;

static void free_row(MemRow *row);
static void inserted_commit(void *what);
static void inserted_abort(void *what);
static void deleted_commit(void *what);
static void deleted_abort(void *what);

static const MemUndoAction row_inserted = {inserted_commit, inserted_abort};
static const MemUndoAction row_deleted = {deleted_commit, deleted_abort};

/* The session is about to have its first table in memory. */
void
memcat_store_init(void)
{
	static bool initialized = false;

	if (initialized)
		return;
	memcat_key_init();
	memcat_undo_init();
	initialized = true;
}

int64
memcat_store_rows(void)
{
	return total_rows;
}

/*
 * All memory that grows with the session's tables: row versions, hash keys, the
 * undo log, references to objects outside, the record of ownership.
 */
int64
memcat_store_bytes(void)
{
	return memcat_allocated() + memcat_reference_bytes() + temp_relation_bytes();
}

#define IDS_PER_BLOCK	256

static void
set_tid(ItemPointer tid, uint32 id)
{
	ItemPointerSet(tid, MEMCAT_FIRST_BLOCK + id / IDS_PER_BLOCK,
				   FirstOffsetNumber + id % IDS_PER_BLOCK);
}

/* Makes room, so that new_id() cannot fail. */
static void
prepare_id(void)
{
	if (nfree_ids == 0 && nids == maxids)
	{
		uint32		n = maxids ? maxids * 2 : 256;

		rows_by_id = memcat_realloc(rows_by_id, n * sizeof(MemRow *));
		free_ids = memcat_realloc(free_ids, n * sizeof(uint32));
		maxids = n;
	}
}

static uint32
new_id(MemRow *row)
{
	uint32		id = nfree_ids > 0 ? free_ids[--nfree_ids] : nids++;

	Assert(id < maxids);
	rows_by_id[id] = row;
	return id;
}

MemRow *
memcat_store_by_tid(Oid relid, const ItemPointerData *tid)
{
	uint32		id = (ItemPointerGetBlockNumberNoCheck(tid) - MEMCAT_FIRST_BLOCK) * IDS_PER_BLOCK +
		(ItemPointerGetOffsetNumberNoCheck(tid) - FirstOffsetNumber);
	MemRow	   *row = id < nids ? rows_by_id[id] : NULL;

	/*
	 * SQL may ask for any TID (WHERE ctid = '(3758096384,1)'), also for one
	 * that belongs to a row of another catalog or to no row
	 */
	return row != NULL && row->cat->relid == relid &&
		ItemPointerEquals(&row->tuple.t_self, (ItemPointer) tid) ? row : NULL;
}

/*
 * In a parallel worker: rows of the leader, which keep their numbers.
 */

/* All numbers that the leader has given, free ones among them. */
uint32
memcat_store_ids(void)
{
	return nids;
}

void
memcat_store_reserve(uint32 n)
{
	rows_by_id = memcat_alloc0(Max(n, 1) * sizeof(MemRow *));
	nids = n;
}

bool
memcat_store_has(uint32 id)
{
	return rows_by_id[id] != NULL;
}

/*
 * Enters a row of the leader.  The tuple is not copied; cat->nrows counts it
 * already.
 */
void
memcat_store_adopt(MemCatalog *cat, const MemRow *from)
{
	MemRow	   *row = memcat_alloc0(offsetof(MemRow, links) + cat->nkeys * sizeof(MemLink));

	memcpy(row, from, offsetof(MemRow, links));
	row->cat = cat;
	row->tuple.t_tableOid = cat->relid;
	set_tid(&row->tuple.t_self, row->id);
	ItemPointerSetInvalid(&row->moved);
	rows_by_id[row->id] = row;
	dlist_push_tail(&cat->rows, &row->catnode);
	memcat_key_link(cat, row);
}

bool
memcat_store_has_room(Size size)
{
	return memcat_store_bytes() + (int64) size <= (int64) temp_memory_catalog_limit * 1024;
}

static void
check_limit(Size size)
{
	if (memcat_store_has_room(size))
		return;
	if (memcat_store_reclaim != NULL)
		memcat_store_reclaim();
	if (!memcat_store_has_room(size))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("memory catalog of temporary tables is full"),
				 errdetail("The " INT64_FORMAT " catalog rows of this session's temporary tables, "
						   "with what keeps track of them, take " INT64_FORMAT " kB; "
						   "the limit is %d kB.",
						   total_rows, memcat_store_bytes() / 1024, temp_memory_catalog_limit),
				 errhint("Drop temporary tables that are no longer needed, or raise \"temp_memory_catalog_limit\".")));
}

/*
 * Adds a row version, and sets the caller's t_self to its TID, as heap_insert
 * does.
 */
MemRow *
memcat_store_insert(MemCatalog *cat, MemUnit *unit, HeapTuple tup)
{
	Size		head = MAXALIGN(offsetof(MemRow, links) + cat->nkeys * sizeof(MemLink) +
								(cat->relid == RelationRelationId ? sizeof(MemHorizon) : 0));
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
	memcat_undo_prepare();
	prepare_id();
	row = memcat_alloc(head + flat->t_len);
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
	row->ins_cid = cid;
	row->open = true;
	ItemPointerSetInvalid(&row->moved);

	/*
	 * The header says that everybody sees the tuple.  Who really does is
	 * decided by memcat_row_visible().
	 */
	header->t_infomask &= ~HEAP_XACT_MASK;
	header->t_infomask2 &= ~HEAP2_XACT_MASK;
	header->t_infomask |= HEAP_XMIN_FROZEN | HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(header, FrozenTransactionId);
	HeapTupleHeaderSetXmax(header, InvalidTransactionId);
	HeapTupleHeaderSetCmin(header, FirstCommandId);
	header->t_ctid = row->tuple.t_self;

	/*
	 * memcat_undo_push() cannot fail, memcat_key_link() can: then the end of
	 * the transaction removes the row, which some hash keys lack.
	 */
	unit->refs++;
	dlist_push_tail(&cat->rows, &row->catnode);
	dlist_push_tail(&unit->rows, &row->unitnode);
	memcat_oid_hold(row);
	cat->nrows++;
	total_rows++;
	memcat_store_version++;
	if (cat->relid == RelationRelationId)
		memcat_shared_class_enters(row);
	memcat_undo_push(&row_inserted, row);
	memcat_key_link(cat, row);
	memcat_active = true;

	if (flat != tup)
		heap_freetuple(flat);
	tup->t_self = row->tuple.t_self;
	tup->t_tableOid = cat->relid;
	return row;
}

void
memcat_store_delete(MemRow *row)
{
	Assert(!row->deleted);
	memcat_undo_prepare();
	row->deleted = true;
	memcat_store_version++;
	row->del_cid = GetCurrentCommandId(true);
	memcat_undo_push(&row_deleted, row);
}

/* No transaction needs this version any more. */
static void
free_row(MemRow *row)
{
	MemUnit    *unit = row->unit;

	memcat_reference_withdraw(row);
	memcat_key_unlink(row->cat, row);
	dlist_delete_from(&row->cat->rows, &row->catnode);
	dlist_delete_from(&unit->rows, &row->unitnode);
	memcat_oid_release(row);
	row->cat->nrows--;
	memcat_store_version++;
	rows_by_id[row->id] = NULL;
	free_ids[nfree_ids++] = row->id;
	total_rows--;
	if (row->cat->relid == RelationRelationId)
		memcat_shared_class_leaves(row);
	memcat_unit_release(unit);
	memcat_free(row);
}

static void
inserted_commit(void *what)
{
	((MemRow *) what)->open = false;
	memcat_store_version++;
}

static void
inserted_abort(void *what)
{
	free_row(what);
}

static void
deleted_commit(void *what)
{
	free_row(what);
}

static void
deleted_abort(void *what)
{
	MemRow	   *row = what;

	row->deleted = false;
	row->newer = NULL;
	memcat_store_version++;
	ItemPointerSetInvalid(&row->moved);
}
