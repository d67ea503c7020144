/*-------------------------------------------------------------------------
 *
 * temp_toast.c
 *	  Toast tables of temporary tables in memory, made when a value needs one.
 *
 * A toast table, with its index, is half of what CREATE TABLE costs once the
 * catalog rows are in memory, and most temporary tables never put a value there.
 * With temp_lazy_toast = on a table of the memory catalog gets none when it is
 * made.  The toaster asks here whether such a table may put a value out of line,
 * and the moment it is about to, the toast table is made the ordinary way.
 *
 * That is the midst of an INSERT, UPDATE, COPY or rewrite.  Its command goes on
 * with the command id and the snapshot it began with, as it does when a volatile
 * function that it calls makes a table; and the toaster is called with pins, but
 * without a lock on a buffer.  The open relation is rebuilt in place.
 *
 * Who has no toast table and could need one is not on record anywhere: any table
 * of the memory catalog would have got its toast table when it was made or
 * altered, had it not been put off.  So what was put off stays so when the table
 * moves to the real catalogs, and whatever the setting is by then.
 *
 * src/backend/plimsoll/temp_toast.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/toasting.h"
#include "nodes/parsenodes.h"
#include "plimsoll/temp_relation.h"
#include "plimsoll/temp_toast.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

bool		temp_lazy_toast = false;
bool		temp_toast_volatile = false;

/* has this session put off any? */
static bool put_off = false;

/* Was the table in the memory catalog from the start, wherever it is now? */
static bool
from_memory(Relation rel)
{
	TempRelation *ours = temp_relation_find(RelationGetRelid(rel));

	return ours != NULL && ours->unit != NULL &&
		rel->rd_rel->relkind == RELKIND_RELATION;
}

/*
 * Shall the toast table of a table that is being made or altered wait?  Not if
 * it has options, which would have nowhere to go, or takes the place of another
 * one, whose contents will be swapped for its own.
 */
bool
temp_toast_puts_off(Relation rel, Datum reloptions, Oid oldToast)
{
	if (!temp_lazy_toast || reloptions != (Datum) 0 ||
		OidIsValid(oldToast) || !from_memory(rel))
		return false;
	put_off = true;
	return true;
}

/* Was it put off, and never made? */
bool
temp_toast_is_off(Relation rel)
{
	return !OidIsValid(rel->rd_rel->reltoastrelid) && from_memory(rel) &&
		table_relation_needs_toast_table(rel);
}

/*
 * A function in mid-command may have made the toast table in a subtransaction
 * that was rolled back.  An aborting one cannot rebuild the relation, and the
 * command around, which has it open, would look for what is gone.
 */
void
temp_toast_refresh(Relation rel)
{
	if (from_memory(rel))
		RelationClose(RelationIdGetRelation(RelationGetRelid(rel)));
}

/* Makes it, in the midst of whatever goes on. */
void
temp_toast_make(Relation rel)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext,
											   "toast table put off",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(work);

	Assert(temp_toast_is_off(rel));
	/* in the real catalogs the table's row must be nobody else's to change */
	LockRelationOid(RelationGetRelid(rel), ShareUpdateExclusiveLock);
	CreateToastTablePutOff(rel);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(work);

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		elog(ERROR, "toast table of \"%s\" was made but is not there",
			 RelationGetRelationName(rel));
	if (GetCurrentTransactionNestLevel() > 1)
		temp_toast_volatile = true;
}

/* ALTER TABLE SET with options for the toast table: now there is one. */
void
temp_toast_take_options(Relation rel, List *options)
{
	if (!temp_toast_is_off(rel))
		return;
	foreach_node(DefElem, option, options)
	{
		if (option->defnamespace != NULL &&
			strcmp(option->defnamespace, "toast") == 0)
		{
			CommandCounterIncrement();
			temp_toast_make(rel);
			break;
		}
	}
}

/*
 * May a toast pointer that is stored now, or by the query about to run, be left
 * without its toast table by the rollback of the current subtransaction?
 */
bool
temp_toast_may_vanish(void)
{
	return put_off && GetCurrentTransactionNestLevel() > 1;
}

void
AtEOXact_TempToast(void)
{
	temp_toast_volatile = false;
}
