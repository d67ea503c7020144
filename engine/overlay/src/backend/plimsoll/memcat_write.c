/*-------------------------------------------------------------------------
 *
 * memcat_write.c
 *	  Catalog writes that the memory catalog takes over, and the spill.
 *
 * Inserts are routed by what the row is about, updates and deletes by the
 * virtual TID of the row.  Each write announces itself to the caches the way
 * heap_insert and friends do.
 *
 * A spill moves a whole unit to the real catalogs within the transaction.  It
 * is decided in the middle of a command, when a row is written that hangs on
 * the unit and that memory does not serve, and carried out at the end of that
 * command: until then nobody can see the new row anyway, and the command may
 * go on changing the unit's rows where they are.  A caller may hold a copy of
 * a row, with its virtual TID, across the move: the old version remembers
 * where the row went, and writes follow it there.
 *
 * src/backend/plimsoll/memcat_write.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * Tables in memory may hang on the row types of the unit that moves.  Now that
 * others can reach it, they must know: a unit whose dependencies find no room
 * follows.
 */
static void
publish_dependents(MemUnit *unit)
{
	MemCatalog *depend = MemKeyCatalog(DependRelationId);
	dlist_iter	iter;

	dlist_foreach(iter, &unit->rows)
	{
		MemRow	   *row = dlist_container(MemRow, unitnode, iter.cur);
		Oid			classId = row->cat->relid;
		Datum		values[MEMCAT_KEY_COLS];
		dlist_head *dependents;
		dlist_iter	dep_iter;

		if (row->deleted ||
			(classId != RelationRelationId && classId != TypeRelationId))
			continue;
		values[0] = ObjectIdGetDatum(classId);
		values[1] = ObjectIdGetDatum(classId == TypeRelationId ?
									 ((Form_pg_type) GETSTRUCT(&row->tuple))->oid :
									 ((Form_pg_class) GETSTRUCT(&row->tuple))->oid);
		dependents = MemKeyFind(depend, MEMCAT_DEPEND_REFERENCED, values);
		if (dependents == NULL)
			continue;
		dlist_foreach(dep_iter, dependents)
		{
			MemRow	   *dep = MemRowOfLink(MEMCAT_DEPEND_REFERENCED, dep_iter.cur);

			if (dep->unit != unit && !dep->published && !MemSharedPublish(dep))
				MemUnitSpill(dep->unit);
		}
	}
}

static void
move_unit(MemUnit *unit)
{
	dlist_iter	iter;

	MemUnitMoved(unit);
	publish_dependents(unit);
	dlist_foreach(iter, &unit->rows)
	{
		MemRow	   *row = dlist_container(MemRow, unitnode, iter.cur);
		Relation	catalog;
		HeapTuple	copy;

		if (row->deleted)
			continue;
		MemSharedLockObject(row);
		catalog = table_open(row->cat->relid, RowExclusiveLock);
		copy = heap_copytuple(&row->tuple);
		CatalogTupleInsert(catalog, copy);
		CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
		MemStoreDelete(row);
		row->moved = copy->t_self;
		heap_freetuple(copy);
		table_close(catalog, RowExclusiveLock);
	}
}

/*
 * Called before the command counter is incremented and before commit: moves
 * the units whose spill was decided in this command.
 */
void
MemCatSpill(void)
{
	MemUnit    *unit;
	bool		bare = !ActiveSnapshotSet();

	/* at the end of a command its snapshot may be gone; toasting a row wants one */
	if (bare)
		PushActiveSnapshot(GetTransactionSnapshot());

	/* moving one may decide that another must follow */
	while ((unit = MemUnitPending()) != NULL)
		move_unit(unit);

	if (bare)
		PopActiveSnapshot();
}

/*
 * A row that no page of the real catalog has room for is refused as it is
 * there, or its table could never move.
 */
static void
check_fits_page(Relation catalog, HeapTuple tup)
{
	HeapTuple	stored;
	Size		len;

	if (tup->t_len <= TOAST_TUPLE_THRESHOLD ||
		OidIsValid(catalog->rd_rel->reltoastrelid))
		return;
	stored = heap_toast_insert_or_update(catalog, tup, NULL, 0);
	len = MAXALIGN(stored->t_len);
	if (stored != tup)
		heap_freetuple(stored);
	if (len > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu",
						len, MaxHeapTupleSize)));
}

/* Takes a row about an object of ours; false: it goes to the real catalog. */
bool
MemCatInsert(Relation catalog, HeapTuple tup)
{
	Oid			catalogId = RelationGetRelid(catalog);
	MemUnit    *unit;
	MemRow	   *row;

	if (catalogId >= FirstUnpinnedObjectId)
		return false;
	unit = MemOwnerRoute(catalogId, tup);
	if (unit == NULL)
	{
		MemOwnerSpillAnchors(catalog, tup);
		return false;
	}
	check_fits_page(catalog, tup);
	row = MemStoreInsert(MemKeyCatalog(catalogId), unit, tup);
	CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
	if (!MemSharedPublish(row))
		MemUnitSpill(unit);
	return true;
}

/*
 * A row that SQL writes to a real catalog.  The executor puts it into the
 * indexes, so memory cannot take it; the table that it is about, or hangs on,
 * moves to where it is.
 */
void
MemCatWrittenBySql(Relation catalog, HeapTuple tup)
{
	MemUnit    *unit = MemOwnerRoute(RelationGetRelid(catalog), tup);

	if (unit != NULL)
		MemUnitSpill(unit);
	MemOwnerSpillAnchors(catalog, tup);
}

/*
 * The row behind a virtual TID, to be changed.  NULL: it moved to the real
 * catalog, and *tid says where.
 */
static MemRow *
row_to_change(Relation catalog, ItemPointer *tid)
{
	MemRow	   *row = MemStoreByTid(RelationGetRelid(catalog), *tid);

	if (row == NULL)
		elog(ERROR, "memory catalog has no row (%u,%u) of \"%s\"",
			 ItemPointerGetBlockNumberNoCheck(*tid),
			 ItemPointerGetOffsetNumberNoCheck(*tid),
			 RelationGetRelationName(catalog));
	if (ItemPointerIsValid(&row->moved))
	{
		*tid = &row->moved;
		return NULL;
	}
	if (row->deleted)
		elog(ERROR, "tuple already updated by self");
	return row;
}

/* ALTER TYPE looks for the tables of a type in pg_class, and nowhere else. */
static bool
is_typed_table(const MemRow *row)
{
	return row->cat->relid == RelationRelationId &&
		OidIsValid(((Form_pg_class) GETSTRUCT(&row->tuple))->reloftype);
}

/*
 * Returns false if the row is in the real catalog; *otid is its TID there.
 */
bool
MemCatUpdate(Relation catalog, ItemPointer *otid, HeapTuple tup)
{
	MemRow	   *old;
	MemRow	   *row;

	if (!MemCatIsTid(RelationGetRelid(catalog), *otid))
	{
		MemOwnerSpillAnchors(catalog, tup);
		return false;
	}
	old = row_to_change(catalog, otid);
	if (old == NULL)
		return false;
	if (old->unit->spilled)
		elog(ERROR, "memory catalog row of \"%s\" survived its table's move",
			 RelationGetRelationName(catalog));
	check_fits_page(catalog, tup);
	row = MemStoreInsert(old->cat, old->unit, tup);
	MemStoreDelete(old);
	old->newer = row;
	CacheInvalidateHeapTuple(catalog, &old->tuple, &row->tuple);
	if (!MemSharedPublish(row) || is_typed_table(row))
		MemUnitSpill(row->unit);
	return true;
}

bool
MemCatDelete(Relation catalog, ItemPointer *tid)
{
	MemRow	   *row;

	if (!MemCatIsTid(RelationGetRelid(catalog), *tid))
		return false;
	row = row_to_change(catalog, tid);
	if (row == NULL)
		return false;
	MemStoreDelete(row);
	CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
	return true;
}

/*
 * Overwrites a row, like heap_inplace_update_and_unlock: not transactional,
 * same length.  What we have cached of it must go at once, for a rollback
 * brings nothing back, and executes no messages of a command that failed.
 */
void
MemCatInplaceUpdate(Relation catalog, HeapTuple tup)
{
	ItemPointer tid = &tup->t_self;
	MemRow	   *row = row_to_change(catalog, &tid);

	if (row == NULL)
		elog(ERROR, "cannot overwrite a memory catalog row that has moved");
	if (row->tuple.t_len != tup->t_len ||
		row->tuple.t_data->t_hoff != tup->t_data->t_hoff)
		elog(ERROR, "wrong tuple length");
	CacheInvalidateHeapTupleInplace(catalog, &row->tuple);
	PreInplace_Inval();
	START_CRIT_SECTION();
	memcpy((char *) row->tuple.t_data + row->tuple.t_data->t_hoff,
		   (char *) tup->t_data + tup->t_data->t_hoff,
		   tup->t_len - tup->t_data->t_hoff);
	AtInplace_Inval();
	END_CRIT_SECTION();
	AcceptInvalidationMessages();
}
