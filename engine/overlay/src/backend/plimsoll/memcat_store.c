/*-------------------------------------------------------------------------
 *
 * memcat_store.c
 *	  The store of the memory catalog: row versions, their hash keys, and
 *	  the undo log that gives them the semantics of transactions.
 *
 * A row version is created by an insert or an update and marked by a delete
 * or an update; it is never changed in place except by an in-place update.
 * Within the transaction that made or marked it, who sees it is decided by
 * command ids, exactly as for heap tuples of one's own transaction, so older
 * snapshots (open cursors) keep seeing what they saw.  Marked versions are
 * freed when the top transaction commits; versions made by a transaction or
 * subtransaction that aborts are freed then.
 *
 * The undo log is one stack for all nesting levels.  An entry knows the level
 * it was made at; committing a subtransaction lowers the level of the entries
 * on top of the stack, aborting it pops and reverts them.  Work is therefore
 * proportional to what the subtransaction did, never to what is live.
 *
 * Each catalog has a few hash keys, chosen from its real indexes.  A hash key
 * leads to the list of the rows that share its value; lists are doubly linked,
 * so removing one of thousands of rows that refer to the temporary schema
 * costs the same as removing the only row of a table.
 *
 * src/backend/plimsoll/memcat_store.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/xact.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_description.h"
#include "catalog/pg_index.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

bool		enable_temp_memory_catalog = false;
int			temp_memory_catalog_limit = 512 * 1024;
bool		MemCatActive = false;
bool		MemCatSpillPending = false;

#define COL(catalog, column, type) \
	{Anum_##catalog##_##column, offsetof(FormData_##catalog, column), type}
#define OIDCOL(catalog, column) COL(catalog, column, MEMCOL_OID)
#define NAMECOL(catalog, column) COL(catalog, column, MEMCOL_NAME)
#define INT2COL(catalog, column) COL(catalog, column, MEMCOL_INT2)
#define OIDOF(catalog) offsetof(FormData_##catalog, oid)

static MemCatalog catalogs[] = {
	{RelationRelationId, OIDOF(pg_class), 2, {
		{true, 1, {OIDCOL(pg_class, oid)}},
		{true, 2, {OIDCOL(pg_class, relnamespace), NAMECOL(pg_class, relname)}},
	}},
	{AttributeRelationId, -1, 3, {
		{true, 2, {OIDCOL(pg_attribute, attrelid), INT2COL(pg_attribute, attnum)}},
		{true, 2, {OIDCOL(pg_attribute, attrelid), NAMECOL(pg_attribute, attname)}},
		{false, 1, {OIDCOL(pg_attribute, attrelid)}},
	}},
	{TypeRelationId, OIDOF(pg_type), 2, {
		{true, 1, {OIDCOL(pg_type, oid)}},
		{true, 2, {OIDCOL(pg_type, typnamespace), NAMECOL(pg_type, typname)}},
	}},
	{IndexRelationId, -1, 2, {
		{true, 1, {OIDCOL(pg_index, indexrelid)}},
		{false, 1, {OIDCOL(pg_index, indrelid)}},
	}},
	{DependRelationId, -1, 2, {
		{false, 2, {OIDCOL(pg_depend, classid), OIDCOL(pg_depend, objid)}},
		{false, 2, {OIDCOL(pg_depend, refclassid), OIDCOL(pg_depend, refobjid)}},
	}},
	{SharedDependRelationId, -1, 2, {
		{false, 3, {OIDCOL(pg_shdepend, dbid), OIDCOL(pg_shdepend, classid), OIDCOL(pg_shdepend, objid)}},
		{false, 2, {OIDCOL(pg_shdepend, refclassid), OIDCOL(pg_shdepend, refobjid)}},
	}},
	{AttrDefaultRelationId, OIDOF(pg_attrdef), 3, {
		{true, 2, {OIDCOL(pg_attrdef, adrelid), INT2COL(pg_attrdef, adnum)}},
		{true, 1, {OIDCOL(pg_attrdef, oid)}},
		{false, 1, {OIDCOL(pg_attrdef, adrelid)}},
	}},
	{ConstraintRelationId, OIDOF(pg_constraint), 3, {
		{true, 1, {OIDCOL(pg_constraint, oid)}},
		{false, 2, {OIDCOL(pg_constraint, connamespace), NAMECOL(pg_constraint, conname)}},
		{false, 1, {OIDCOL(pg_constraint, conrelid)}},
	}},
	{StatisticRelationId, -1, 2, {
		{false, 2, {OIDCOL(pg_statistic, starelid), INT2COL(pg_statistic, staattnum)}},
		{false, 1, {OIDCOL(pg_statistic, starelid)}},
	}},
	{DescriptionRelationId, -1, 1, {
		{false, 2, {OIDCOL(pg_description, objoid), OIDCOL(pg_description, classoid)}},
	}},
};

typedef enum MemUndoOp
{
	MEMUNDO_RESERVE,			/* an OID was reserved */
	MEMUNDO_INSERT,
	MEMUNDO_DELETE,
	MEMUNDO_SPILL,				/* a unit is to move */
	MEMUNDO_MOVE,				/* it moved */
} MemUndoOp;

typedef struct MemUndo
{
	MemUndoOp	op;
	int			level;			/* nesting level of its transaction */
	void	   *what;
} MemUndo;

static MemoryContext store_context = NULL;
static MemRow **rows_by_id = NULL;
static uint32 *free_ids = NULL;
static uint32 nids = 0;
static uint32 maxids = 0;
static uint32 nfree_ids = 0;
static MemUndo *undo = NULL;
static int64 nundo = 0;
static int64 maxundo = 0;
static MemUnit **pending = NULL;
static int	npending = 0;
static int	maxpending = 0;
static int64 total_rows = 0;
static int64 total_bytes = 0;

static void store_xact_end(XactEvent event, void *arg);
static void store_subxact_end(SubXactEvent event, SubTransactionId mySubid,
							  SubTransactionId parentSubid, void *arg);

static void
hash_init(MemHash *hash)
{
	hash->nbuckets = 64;
	hash->nkeys = 0;
	hash->buckets = MemoryContextAllocZero(store_context,
										   hash->nbuckets * sizeof(MemKey *));
}

MemoryContext
MemStoreContext(void)
{
	if (store_context == NULL)
	{
		store_context = AllocSetContextCreate(TopMemoryContext,
											  "memory catalog",
											  ALLOCSET_DEFAULT_SIZES);
		for (int i = 0; i < lengthof(catalogs); i++)
		{
			dlist_init(&catalogs[i].rows);
			for (int k = 0; k < catalogs[i].nkeys; k++)
				hash_init(&catalogs[i].hash[k]);
		}
		RegisterXactCallback(store_xact_end, NULL);
		RegisterSubXactCallback(store_subxact_end, NULL);
	}
	return store_context;
}

MemCatalog *
MemStoreCatalog(Oid relid)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (catalogs[i].relid == relid)
			return &catalogs[i];
	}
	return NULL;
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

bool
MemStoreInUndo(void)
{
	return nundo > 0;
}

/*
 * Hash keys
 */

static inline uint32
hash_name(const char *name)
{
	return hash_bytes((const unsigned char *) name, strnlen(name, NAMEDATALEN));
}

static uint32
hash_row(const MemKeyDef *def, const char *row)
{
	uint32		hash = 0;

	for (int i = 0; i < def->ncols; i++)
	{
		const char *value = row + def->cols[i].offset;
		uint32		h = 0;

		switch (def->cols[i].type)
		{
			case MEMCOL_OID:
				h = murmurhash32(*(const Oid *) value);
				break;
			case MEMCOL_INT2:
				h = murmurhash32((uint32) *(const int16 *) value);
				break;
			case MEMCOL_INT4:
				h = murmurhash32(*(const uint32 *) value);
				break;
			case MEMCOL_NAME:
				h = hash_name(value);
				break;
		}
		hash = hash_combine(hash, h);
	}
	return hash;
}

static bool
same_key(const MemKeyDef *def, const char *a, const char *b)
{
	for (int i = 0; i < def->ncols; i++)
	{
		const char *x = a + def->cols[i].offset;
		const char *y = b + def->cols[i].offset;

		switch (def->cols[i].type)
		{
			case MEMCOL_OID:
			case MEMCOL_INT4:
				if (*(const uint32 *) x != *(const uint32 *) y)
					return false;
				break;
			case MEMCOL_INT2:
				if (*(const int16 *) x != *(const int16 *) y)
					return false;
				break;
			case MEMCOL_NAME:
				if (strncmp(x, y, NAMEDATALEN) != 0)
					return false;
				break;
		}
	}
	return true;
}

static uint32
hash_datums(const MemKeyDef *def, const Datum *values)
{
	uint32		hash = 0;

	for (int i = 0; i < def->ncols; i++)
	{
		uint32		h = 0;

		switch (def->cols[i].type)
		{
			case MEMCOL_OID:
				h = murmurhash32(DatumGetObjectId(values[i]));
				break;
			case MEMCOL_INT2:
				h = murmurhash32((uint32) DatumGetInt16(values[i]));
				break;
			case MEMCOL_INT4:
				h = murmurhash32(DatumGetUInt32(values[i]));
				break;
			case MEMCOL_NAME:
				h = hash_name(DatumGetCString(values[i]));
				break;
		}
		hash = hash_combine(hash, h);
	}
	return hash;
}

static bool
row_has_datums(const MemKeyDef *def, const char *row, const Datum *values)
{
	for (int i = 0; i < def->ncols; i++)
	{
		const char *x = row + def->cols[i].offset;

		switch (def->cols[i].type)
		{
			case MEMCOL_OID:
				if (*(const Oid *) x != DatumGetObjectId(values[i]))
					return false;
				break;
			case MEMCOL_INT4:
				if (*(const uint32 *) x != DatumGetUInt32(values[i]))
					return false;
				break;
			case MEMCOL_INT2:
				if (*(const int16 *) x != DatumGetInt16(values[i]))
					return false;
				break;
			case MEMCOL_NAME:
				if (strncmp(x, DatumGetCString(values[i]), NAMEDATALEN) != 0)
					return false;
				break;
		}
	}
	return true;
}

static inline MemRow *
row_of_link(int keyno, dlist_node *node)
{
	return (MemRow *) ((char *) node - offsetof(MemRow, links) -
					   keyno * sizeof(MemLink) - offsetof(MemLink, node));
}

static inline MemRow *
key_first_row(int keyno, MemKey *key)
{
	return row_of_link(keyno, dlist_head_node(&key->rows));
}

static void
hash_grow(MemHash *hash)
{
	uint32		nbuckets = hash->nbuckets * 2;
	MemKey	  **buckets = MemoryContextAllocExtended(store_context,
													 nbuckets * sizeof(MemKey *),
													 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < hash->nbuckets; i++)
	{
		MemKey	   *key = hash->buckets[i];

		while (key)
		{
			MemKey	   *next = key->next;
			MemKey	  **bucket = &buckets[key->hash & (nbuckets - 1)];

			key->next = *bucket;
			*bucket = key;
			key = next;
		}
	}
	pfree(hash->buckets);
	hash->buckets = buckets;
	hash->nbuckets = nbuckets;
}

static void
link_row(MemCatalog *cat, MemRow *row)
{
	const char *data = GETSTRUCT(&row->tuple);

	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKeyDef  *def = &cat->keys[k];
		MemHash    *hash = &cat->hash[k];
		uint32		h = hash_row(def, data);
		MemKey	   *key;

		for (key = hash->buckets[h & (hash->nbuckets - 1)]; key; key = key->next)
		{
			if (key->hash == h &&
				same_key(def, data, GETSTRUCT(&key_first_row(k, key)->tuple)))
				break;
		}
		if (key == NULL)
		{
			MemKey	  **bucket;

			if (hash->nkeys >= hash->nbuckets)
				hash_grow(hash);
			key = MemoryContextAlloc(store_context, sizeof(MemKey));
			key->hash = h;
			dlist_init(&key->rows);
			bucket = &hash->buckets[h & (hash->nbuckets - 1)];
			key->next = *bucket;
			*bucket = key;
			hash->nkeys++;
		}
		dlist_push_tail(&key->rows, &row->links[k].node);
		row->links[k].key = key;
	}
}

static void
unlink_row(MemCatalog *cat, MemRow *row)
{
	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKey	   *key = row->links[k].key;
		MemHash    *hash = &cat->hash[k];

		dlist_delete_from(&key->rows, &row->links[k].node);
		if (dlist_is_empty(&key->rows))
		{
			MemKey	  **p = &hash->buckets[key->hash & (hash->nbuckets - 1)];

			while (*p != key)
				p = &(*p)->next;
			*p = key->next;
			hash->nkeys--;
			pfree(key);
		}
	}
}

/*
 * Virtual TIDs
 */

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

	return row != NULL && row->cat->relid == relid ? row : NULL;
}

/*
 * Undo log
 */

/* makes room, so that what follows cannot fail */
static void
undo_prepare(void)
{
	if (nundo == maxundo)
	{
		int64		n = maxundo ? maxundo * 2 : 1024;

		if (undo)
			undo = repalloc_huge(undo, n * sizeof(MemUndo));
		else
			undo = MemoryContextAlloc(MemStoreContext(), n * sizeof(MemUndo));
		maxundo = n;
	}
}

static void
undo_push(MemUndoOp op, void *what)
{
	Assert(nundo < maxundo);
	undo[nundo].op = op;
	undo[nundo].level = GetCurrentTransactionNestLevel();
	undo[nundo].what = what;
	nundo++;
}

static void
free_row(MemRow *row)
{
	MemUnit    *unit = row->unit;

	MemSharedWithdraw(row);
	unlink_row(row->cat, row);
	dlist_delete_from(&row->cat->rows, &row->catnode);
	dlist_delete_from(&unit->rows, &row->unitnode);
	row->cat->nrows--;
	rows_by_id[row->id] = NULL;
	free_ids[nfree_ids++] = row->id;
	total_rows--;
	total_bytes -= row->size;
	if (row->owned)
		MemOwnerRelease(row->owned);
	MemUnitRelease(unit);
	pfree(row);
}

/*
 * Units that are to move.  The array has room for all that were ever in it at
 * once, so putting one back during an abort cannot fail.
 */
static void
add_pending(MemUnit *unit)
{
	Assert(npending < maxpending);
	unit->pending = true;
	pending[npending++] = unit;
	MemCatSpillPending = true;
}

static void
forget_pending(MemUnit *unit)
{
	for (int i = 0; i < npending; i++)
	{
		if (pending[i] == unit)
		{
			pending[i] = pending[--npending];
			break;
		}
	}
	unit->pending = false;
	MemCatSpillPending = npending > 0;
}

static void
undo_commit(void)
{
	for (int64 i = 0; i < nundo; i++)
	{
		switch (undo[i].op)
		{
			case MEMUNDO_RESERVE:
				MemOwnerRelease(undo[i].what);
				break;
			case MEMUNDO_INSERT:
				((MemRow *) undo[i].what)->open = false;
				break;
			case MEMUNDO_DELETE:
				free_row(undo[i].what);
				break;
			case MEMUNDO_SPILL:
			case MEMUNDO_MOVE:
				break;
		}
	}
	nundo = 0;
}

static void
undo_abort(int level)
{
	while (nundo > 0 && undo[nundo - 1].level >= level)
	{
		MemUndo    *entry = &undo[--nundo];

		switch (entry->op)
		{
			case MEMUNDO_RESERVE:
				MemOwnerRelease(entry->what);
				break;
			case MEMUNDO_INSERT:
				free_row(entry->what);
				break;
			case MEMUNDO_DELETE:
				{
					MemRow	   *row = entry->what;

					row->deleted = false;
					ItemPointerSetInvalid(&row->moved);
				}
				break;
			case MEMUNDO_SPILL:
				forget_pending(entry->what);
				break;
			case MEMUNDO_MOVE:
				((MemUnit *) entry->what)->spilled = false;
				add_pending(entry->what);
				break;
		}
	}
}

/* A transaction that leaves an unusually large log gives its memory back. */
static void
undo_shrink(void)
{
	if (maxundo > 64 * 1024)
	{
		pfree(undo);
		undo = NULL;
		maxundo = 0;
	}
}

static void
store_xact_end(XactEvent event, void *arg)
{
	if (nundo == 0)
		return;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			MemCatSpill();
			return;
		case XACT_EVENT_COMMIT:
			undo_commit();
			break;
		case XACT_EVENT_ABORT:
			undo_abort(0);
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot PREPARE a transaction that has operated on temporary objects")));
			break;
		default:
			return;
	}
	undo_shrink();
	MemCatActive = total_rows > 0 || MemOwnerUnits() > 0;
	MemSharedReport();
}

static void
store_subxact_end(SubXactEvent event, SubTransactionId mySubid,
				  SubTransactionId parentSubid, void *arg)
{
	int			level;

	if (nundo == 0)
		return;
	level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (int64 i = nundo - 1; i >= 0 && undo[i].level >= level; i--)
			undo[i].level = level - 1;
	}
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		undo_abort(level);
}

/*
 * Changes
 */

/* The OID was reserved for a unit; it is given up if no row takes it. */
void
MemStoreReserve(MemOwned *owned)
{
	undo_prepare();
	owned->refs++;
	undo_push(MEMUNDO_RESERVE, owned);
	MemCatActive = true;
}

/* The unit moves to the real catalogs at the end of the command. */
void
MemStoreSpill(MemUnit *unit)
{
	if (unit->pending || unit->spilled)
		return;
	undo_prepare();
	if (npending == maxpending)
	{
		int			n = maxpending ? maxpending * 2 : 16;

		if (pending)
			pending = repalloc(pending, n * sizeof(MemUnit *));
		else
			pending = MemoryContextAlloc(MemStoreContext(), n * sizeof(MemUnit *));
		maxpending = n;
	}
	add_pending(unit);
	undo_push(MEMUNDO_SPILL, unit);
}

/* A unit that is to move, or NULL. */
MemUnit *
MemStorePending(void)
{
	return npending > 0 ? pending[npending - 1] : NULL;
}

void
MemStoreMoved(MemUnit *unit)
{
	undo_prepare();
	forget_pending(unit);
	unit->spilled = true;
	undo_push(MEMUNDO_MOVE, unit);
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
	MemOwned   *owned = NULL;
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
	undo_prepare();
	if (cat->oid_offset >= 0)
	{
		Oid			oid = *(Oid *) ((char *) GETSTRUCT(flat) + cat->oid_offset);

		owned = MemOwnerEnter(cat->relid, oid, unit);
	}
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

	/* no way back from here, and no error either but for lack of memory */
	unit->refs++;
	dlist_push_tail(&cat->rows, &row->catnode);
	dlist_push_tail(&unit->rows, &row->unitnode);
	cat->nrows++;
	total_rows++;
	total_bytes += row->size;
	if (owned)
	{
		owned->refs++;
		row->owned = owned;
	}
	link_row(cat, row);
	undo_push(MEMUNDO_INSERT, row);
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
	undo_prepare();
	row->deleted = true;
	row->del_cid = GetCurrentCommandId(true);
	undo_push(MEMUNDO_DELETE, row);
}

/*
 * Reads
 */

MemSnap
MemStoreSnap(Snapshot snapshot)
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
 * Starts a search with scan keys whose attribute numbers are the catalog's.
 * The keys must outlive the search.
 */
void
MemSearchBegin(MemSearch *search, MemCatalog *cat, MemSnap snap,
			   TupleDesc tupdesc, int nkeys, ScanKey keys)
{
	search->cat = cat;
	search->snap = snap;
	search->keyno = -1;
	search->exact = nkeys == 0;
	search->unique = false;
	search->head = &cat->rows;
	search->cur = NULL;
	search->tupdesc = tupdesc;
	search->nkeys = nkeys;
	search->keys = keys;

	for (int k = 0; k < cat->nkeys; k++)
	{
		MemKeyDef  *def = &cat->keys[k];
		MemHash    *hash = &cat->hash[k];
		Datum		values[MEMCAT_KEY_COLS];
		int			found = 0;
		uint32		h;
		MemKey	   *key;

		for (int c = 0; c < def->ncols; c++)
		{
			for (int i = 0; i < nkeys; i++)
			{
				if (key_is_equality(&keys[i], &def->cols[c]))
				{
					values[c] = keys[i].sk_argument;
					found++;
					break;
				}
			}
			if (found != c + 1)
				break;
		}
		if (found != def->ncols)
			continue;

		search->keyno = k;
		search->exact = nkeys == def->ncols;
		search->unique = def->unique && snap.view != MEMVIEW_ANY;
		search->head = NULL;
		h = hash_datums(def, values);
		for (key = hash->buckets[h & (hash->nbuckets - 1)]; key; key = key->next)
		{
			if (key->hash == h &&
				row_has_datums(def, GETSTRUCT(&key_first_row(k, key)->tuple), values))
			{
				search->head = &key->rows;
				break;
			}
		}
		break;
	}
}

static bool
row_matches(MemSearch *search, MemRow *row)
{
	if (search->exact)
		return true;
	for (int i = 0; i < search->nkeys; i++)
	{
		ScanKey		key = &search->keys[i];
		bool		isnull;
		Datum		value;

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
MemSearchNext(MemSearch *search)
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
		row = search->keyno >= 0 ? row_of_link(search->keyno, node) :
			dlist_container(MemRow, catnode, node);
		if (MemRowVisible(row, &search->snap) && row_matches(search, row))
			return row;
	}
	search->head = NULL;
	return NULL;
}
