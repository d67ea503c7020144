/*-------------------------------------------------------------------------
 *
 * memcat_write.c
 *	  Catalog writes that the memory catalog takes over.
 *
 * Inserts are routed by what the row is about, updates and deletes by the
 * virtual TID of the row.  Each write announces itself to the caches the way
 * heap_insert and friends do.
 *
 * src/backend/plimsoll/memcat_write.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "plimsoll/memcat_int.h"
#include "utils/inval.h"
#include "utils/rel.h"

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
memcat_insert(Relation catalog, HeapTuple tup)
{
	Oid			catalogId = RelationGetRelid(catalog);
	MemUnit    *unit;
	MemRow	   *row;

	if (catalogId >= FirstUnpinnedObjectId)
		return false;
	unit = memcat_owner_route(catalogId, tup);
	if (unit == NULL)
	{
		memcat_owner_spill_anchors(catalog, tup);
		return false;
	}
	check_fits_page(catalog, tup);
	row = memcat_store_insert(memcat_key_catalog(catalogId), unit, tup);
	CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
	if (!memcat_reference_publish(row))
		memcat_spill_unit(unit);
	return true;
}

/*
 * The rows of pg_attribute about the columns of a relation; relid is invalid if
 * the columns say whose they are.  False: the caller has to make them.
 *
 * All that a row of a plain column has is in the descriptor already, in the
 * layout of the row.  Forming it value by value takes longer than all else that
 * is done about it.
 */
bool
memcat_insert_columns(Relation catalog, TupleDesc columns, Oid relid,
					  const FormExtraData_pg_attribute *extra)
{
	const int	notnull = Anum_pg_attribute_attcollation;	/* the last of them */
	const Size	head = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(Natts_pg_attribute));
	HeapTupleData tup;

	if (columns->natts == 0)
		return false;
	if (!OidIsValid(relid))
		relid = TupleDescAttr(columns, 0)->attrelid;
	if (memcat_unit_of(RelationRelationId, relid) == NULL)
		return false;
	for (int i = 0; extra != NULL && i < columns->natts; i++)
	{
		if (!extra[i].attstattarget.isnull || !extra[i].attoptions.isnull)
			return false;
	}

	tup.t_len = head + ATTRIBUTE_FIXED_PART_SIZE;
	tup.t_tableOid = RelationGetRelid(catalog);
	tup.t_data = palloc0(tup.t_len);
	tup.t_data->t_hoff = head;
	tup.t_data->t_infomask = HEAP_HASNULL;
	HeapTupleHeaderSetNatts(tup.t_data, Natts_pg_attribute);
	for (int i = 0; i < notnull; i++)
		tup.t_data->t_bits[i / BITS_PER_BYTE] |= 1 << (i % BITS_PER_BYTE);

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute row = (Form_pg_attribute) GETSTRUCT(&tup);

		memcpy(row, TupleDescAttr(columns, i), ATTRIBUTE_FIXED_PART_SIZE);
		row->attrelid = relid;
		ItemPointerSetInvalid(&tup.t_self);
		CatalogTupleInsert(catalog, &tup);
	}
	pfree(tup.t_data);
	return true;
}

/*
 * A row that SQL writes to a real catalog.  The executor puts it into the
 * indexes, so memory cannot take it; the table that it is about, or hangs on,
 * moves to where it is.
 */
void
memcat_written_by_sql(Relation catalog, HeapTuple tup)
{
	MemUnit    *unit = memcat_owner_route(RelationGetRelid(catalog), tup);

	if (unit != NULL)
		memcat_spill_unit(unit);
	memcat_owner_spill_anchors(catalog, tup);
}

/*
 * The row behind a virtual TID, to be changed.  NULL: it moved to the real
 * catalog, and *tid says where.
 */
static MemRow *
row_to_change(Relation catalog, ItemPointer *tid)
{
	MemRow	   *row = memcat_store_by_tid(RelationGetRelid(catalog), *tid);

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
memcat_update(Relation catalog, ItemPointer *otid, HeapTuple tup)
{
	MemRow	   *old;
	MemRow	   *row;

	if (!memcat_tid_is_virtual(RelationGetRelid(catalog), *otid))
	{
		memcat_owner_spill_anchors(catalog, tup);
		return false;
	}
	old = row_to_change(catalog, otid);
	if (old == NULL)
		return false;
	if (old->unit->spilled)
		elog(ERROR, "memory catalog row of \"%s\" survived its table's move",
			 RelationGetRelationName(catalog));
	check_fits_page(catalog, tup);
	row = memcat_store_insert(old->cat, old->unit, tup);
	memcat_store_delete(old);
	old->newer = row;
	CacheInvalidateHeapTuple(catalog, &old->tuple, &row->tuple);
	if (!memcat_reference_publish(row) || is_typed_table(row))
		memcat_spill_unit(row->unit);
	return true;
}

bool
memcat_delete(Relation catalog, ItemPointer *tid)
{
	MemRow	   *row;

	if (!memcat_tid_is_virtual(RelationGetRelid(catalog), *tid))
		return false;
	row = row_to_change(catalog, tid);
	if (row == NULL)
		return false;
	memcat_store_delete(row);
	CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
	return true;
}

/*
 * Overwrites a row, like heap_inplace_update_and_unlock: not transactional,
 * same length.  What we have cached of it must go at once: a rollback does not
 * bring the old contents back, and if the command fails, nobody executes its
 * invalidation messages.
 */
void
memcat_update_inplace(Relation catalog, HeapTuple tup)
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
	memcat_store_version++;
	if (row->cat->relid == RelationRelationId)
		memcat_shared_class_leaves(row);
	memcpy((char *) row->tuple.t_data + row->tuple.t_data->t_hoff,
		   (char *) tup->t_data + tup->t_data->t_hoff,
		   tup->t_len - tup->t_data->t_hoff);
	if (row->cat->relid == RelationRelationId)
		memcat_shared_class_enters(row);
	AtInplace_Inval();
	END_CRIT_SECTION();
	AcceptInvalidationMessages();
}
