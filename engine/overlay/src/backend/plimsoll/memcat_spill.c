/*-------------------------------------------------------------------------
 *
 * memcat_spill.c
 *	  The spill: a unit moves from memory to the real catalogs.
 *
 * A spill moves a whole unit to the real catalogs within the transaction.  It is
 * decided in the middle of a command, when a row is written that refers to the
 * unit and that memory does not serve.  It is carried out at the end of that
 * command: until then nobody can see the new row anyway, and the command may
 * continue to change the unit's rows where they are.  A caller may hold a copy of
 * a row, with its virtual TID, across the move: the old version remembers where
 * the row went, and writes follow it there.
 *
 * src/backend/plimsoll/memcat_spill.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_type.h"
#include "plimsoll/memcat_int.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

bool		memcat_spill_pending = false;

/*
 * Units that are to move.  The array has room for all that were ever in it at
 * once, so putting one back during an abort cannot fail.
 */
static MemUnit **pending = NULL;
static int	npending = 0;
static int	maxpending = 0;

static void decided_abort(void *what);
static void moved_commit(void *what);
static void moved_abort(void *what);

static const MemUndoAction spill_decided = {NULL, decided_abort};
static const MemUndoAction spill_moved = {moved_commit, moved_abort};

static void
add_pending(MemUnit *unit)
{
	Assert(npending < maxpending);
	unit->pending = true;
	pending[npending++] = unit;
	memcat_spill_pending = true;
}

static void
forget_pending(MemUnit *unit)
{
	/* mostly the last, and there may be thousands */
	for (int i = npending - 1; i >= 0; i--)
	{
		if (pending[i] == unit)
		{
			pending[i] = pending[--npending];
			break;
		}
	}
	unit->pending = false;
	memcat_spill_pending = npending > 0;
}

/* The command that decided the move is rolled back: the unit stays. */
static void
decided_abort(void *what)
{
	forget_pending(what);
}

/* The unit lives in the real catalogs from now on. */
static void
moved_commit(void *what)
{
	memcat_unit_gone(what);
}

/*
 * The move is undone, but not yet what decided it: that is further down the undo
 * log, and may belong to an outer transaction that goes on.
 */
static void
moved_abort(void *what)
{
	((MemUnit *) what)->spilled = false;
	add_pending(what);
}

/*
 * ON COMMIT DELETE ROWS and ON COMMIT DROP come next and look for the rows where
 * they are now, so the command counter has to advance as well.
 */
static void
spill_before_commit(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT && memcat_spill_pending)
		CommandCounterIncrement();	/* calls memcat_spill() */
}

static void
make_room(void)
{
	if (npending == maxpending)
	{
		int			n = maxpending ? maxpending * 2 : 16;

		if (pending == NULL)
			RegisterXactCallback(spill_before_commit, NULL);
		pending = memcat_realloc(pending, n * sizeof(MemUnit *));
		maxpending = n;
	}
}

/* The unit moves to the real catalogs at the end of the command. */
void
memcat_spill_unit(MemUnit *unit)
{
	if (unit->pending || unit->spilled)
		return;
	memcat_names_outside = true;
	memcat_undo_prepare();
	make_room();
	add_pending(unit);
	memcat_undo_push(&spill_decided, unit);
}

/*
 * Other tables in memory may use the row types of the unit that moves.  Other
 * sessions can drop these types now, so publish the dependencies.  A unit whose
 * dependencies find no room in shared memory follows.
 */
static void
publish_dependents(MemUnit *unit)
{
	MemCatalog *depend = memcat_key_catalog(DependRelationId);
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
		dependents = memcat_key_find(depend, MEMCAT_DEPEND_REFERENCED, values);
		if (dependents == NULL)
			continue;
		dlist_foreach(dep_iter, dependents)
		{
			MemRow	   *dep = memcat_row_of_link(MEMCAT_DEPEND_REFERENCED, dep_iter.cur);

			if (dep->unit != unit && !dep->published && !memcat_reference_publish(dep))
				memcat_spill_unit(dep->unit);
		}
	}
}

static void
move_unit(MemUnit *unit)
{
	dlist_iter	iter;

	memcat_undo_prepare();
	forget_pending(unit);
	unit->spilled = true;
	memcat_undo_push(&spill_moved, unit);

	publish_dependents(unit);
	dlist_foreach(iter, &unit->rows)
	{
		MemRow	   *row = dlist_container(MemRow, unitnode, iter.cur);
		Relation	catalog;
		HeapTuple	copy;

		if (row->deleted)
			continue;
		memcat_reference_lock(row);
		catalog = table_open(row->cat->relid, RowExclusiveLock);
		copy = heap_copytuple(&row->tuple);
		CatalogTupleInsert(catalog, copy);
		CacheInvalidateHeapTuple(catalog, &row->tuple, NULL);
		memcat_store_delete(row);
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
memcat_spill(void)
{
	bool		bare = !ActiveSnapshotSet();

	/* toasting a row needs a snapshot; the command's own may be gone */
	if (bare)
		PushActiveSnapshot(GetTransactionSnapshot());

	/* moving one may decide that another must follow */
	while (npending > 0)
		move_unit(pending[npending - 1]);

	if (bare)
		PopActiveSnapshot();
}
