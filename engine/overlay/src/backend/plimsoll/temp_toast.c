/*-------------------------------------------------------------------------
 *
 * temp_toast.c
 *	  Toast tables of temporary tables in memory, made when a value needs one.
 *
 * A toast table with its index is half of the cost of CREATE TABLE once the
 * catalog rows are in memory, and most temporary tables never store a value
 * there.  With temp_lazy_toast = on a new table of the memory catalog gets none.
 * The toaster asks here whether such a table may store a value out of line; when
 * it is about to do so, the toast table is made in the ordinary way.
 *
 * That happens in the middle of an INSERT, UPDATE, COPY or rewrite.  The command
 * continues with the command id and the snapshot it began with, as it does when a
 * volatile function that it calls makes a table.  The toaster is called with
 * pins but without a lock on a buffer.  The open relation is rebuilt in place.
 *
 * Nothing records which tables lack a deferred toast table: a table of the memory
 * catalog would have got one when it was made or altered, had it not been
 * deferred.  So it stays deferred when the table moves to the real catalogs, and
 * whatever the setting is by then.
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

/* Has this session deferred a toast table? */
static bool deferred_any = false;

/* Was the table in the memory catalog from the start, wherever it is now? */
static bool
from_memory(Relation rel)
{
	TempRelation *ours = temp_relation_find(RelationGetRelid(rel));

	return ours != NULL && ours->unit != NULL &&
		rel->rd_rel->relkind == RELKIND_RELATION;
}

/*
 * Is the toast table of a table that is being made or altered deferred?  Not if
 * it has options, which must be stored with it, or replaces another one whose
 * contents will be swapped for its own.
 */
bool
temp_toast_defers(Relation rel, Datum reloptions, Oid oldToast)
{
	if (!temp_lazy_toast || reloptions != (Datum) 0 ||
		OidIsValid(oldToast) || !from_memory(rel))
		return false;
	deferred_any = true;
	return true;
}

/* Is the toast table of this table deferred still? */
bool
temp_toast_is_deferred(Relation rel)
{
	return !OidIsValid(rel->rd_rel->reltoastrelid) && from_memory(rel) &&
		table_relation_needs_toast_table(rel);
}

/*
 * A function called by the command may have made the toast table in a
 * subtransaction that was rolled back.  An aborting subtransaction cannot rebuild
 * the relation, and the command, which has it open, would look for a toast table
 * that is gone.
 */
void
temp_toast_refresh(Relation rel)
{
	if (from_memory(rel))
		RelationClose(RelationIdGetRelation(RelationGetRelid(rel)));
}

/* The transaction has ended, and with it all subtransactions. */
static void
end_volatile(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
		temp_toast_volatile = false;
}

/*
 * A toast table has been made in a subtransaction, which may be rolled back.
 * Until the transaction ends, values that outlive a command are fetched.
 */
static void
set_volatile(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(end_volatile, NULL);
		registered = true;
	}
	temp_toast_volatile = true;
}

/* Makes the deferred toast table in the middle of the running command. */
void
temp_toast_make(Relation rel)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext,
											   "deferred toast table",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(work);

	Assert(temp_toast_is_deferred(rel));
	/* if it is in the real catalogs, nobody else may change the table's row */
	LockRelationOid(RelationGetRelid(rel), ShareUpdateExclusiveLock);
	CreateDeferredToastTable(rel);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(work);

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		elog(ERROR, "toast table of \"%s\" was made but is not there",
			 RelationGetRelationName(rel));
	if (GetCurrentTransactionNestLevel() > 1)
		set_volatile();
}

/* ALTER TABLE SET with options for the toast table: now there is one. */
void
temp_toast_take_options(Relation rel, List *options)
{
	if (!temp_toast_is_deferred(rel))
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
	return deferred_any && GetCurrentTransactionNestLevel() > 1;
}
