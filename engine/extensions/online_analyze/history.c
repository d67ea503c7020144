/*-------------------------------------------------------------------------
 *
 * history.c
 *	  What a session remembers of the tables that it changed.
 *
 * An entry of about 80 bytes for each table, in a memory context of its own.  An
 * entry goes when its table is dropped.  When there are more than
 * online_analyze.capacity_threshold all are forgotten: the price is that a table
 * may be analyzed sooner than it had to be.
 *
 * A rollback takes the column statistics back that ANALYZE stored in the
 * transaction, or since the savepoint, though not the counts of pg_class.  So for
 * each analysis of this transaction its subtransaction is kept, and when that is
 * rolled back the table counts as not analyzed.  Identifiers of subtransactions
 * grow: one that is not less than the aborted one's is inside of it.
 *
 * extensions/online_analyze/history.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "online_analyze.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

typedef struct Analysis
{
	Oid			relid;
	SubTransactionId subtransaction;
} Analysis;

static HTAB *tables = NULL;
static MemoryContext memory = NULL;

/* Of this transaction; its memory goes with the transaction. */
static List *analyses = NIL;

static object_access_hook_type previous_object_access = NULL;

static void
create_tables(void)
{
	HASHCTL		ctl = {0};

	if (memory == NULL)
		memory = AllocSetContextCreate(TopMemoryContext, "online_analyze", ALLOCSET_DEFAULT_SIZES);
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(TableHistory);
	ctl.hcxt = memory;
	tables = hash_create("tables of online_analyze", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* The entry of a table; a new one knows nothing. */
TableHistory *
oa_history(Oid relid, bool *found)
{
	TableHistory *table;

	if (tables == NULL)
		create_tables();
	table = hash_search(tables, &relid, HASH_FIND, found);
	if (*found)
		return table;
	if (hash_get_num_entries(tables) >= Max(oa_capacity_threshold, 1))
	{
		oa_history_forget_all();
		create_tables();
	}
	table = hash_search(tables, &relid, HASH_ENTER, found);
	*found = false;
	memset(table, 0, sizeof(TableHistory));
	table->relid = relid;
	return table;
}

static TableHistory *
known(Oid relid)
{
	return tables == NULL ? NULL : hash_search(tables, &relid, HASH_FIND, NULL);
}

static void
note_analysis(Oid relid)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	Analysis   *analysis = palloc(sizeof(Analysis));

	analysis->relid = relid;
	analysis->subtransaction = GetCurrentSubTransactionId();
	analyses = lappend(analyses, analysis);
	MemoryContextSwitchTo(caller);
}

/*
 * The table was analyzed and has this many rows.  One with fewer than would count
 * as changed may be about to be filled: the interval does not begin.
 */
void
oa_history_analyzed(Oid relid, double rows)
{
	TableHistory *table = known(relid);

	if (table == NULL)
		return;
	table->analyzed = true;
	table->rows = table->analyzed_rows = rows;
	table->changes = 0;
	table->settled = table->reported;
	table->when = rows < oa_threshold ? 0 : GetCurrentTimestamp();
	note_analysis(relid);
}

void
oa_history_forget(Oid relid)
{
	if (tables != NULL)
		hash_search(tables, &relid, HASH_REMOVE, NULL);
}

void
oa_history_forget_all(void)
{
	tables = NULL;
	if (memory != NULL)
		MemoryContextReset(memory);
}

static void
undo_analyses(SubTransactionId aborted)
{
	ListCell   *cell;

	foreach(cell, analyses)
	{
		Analysis   *analysis = (Analysis *) lfirst(cell);
		TableHistory *table;

		if (analysis->subtransaction < aborted)
			continue;
		table = known(analysis->relid);
		if (table != NULL)
		{
			table->analyzed = false;
			table->when = 0;
		}
		analyses = foreach_delete_current(analyses, cell);
	}
}

static void
end_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_ABORT:
			undo_analyses(TopSubTransactionId);
			analyses = NIL;
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			analyses = NIL;
			break;
		default:
			break;
	}
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId mySubid, SubTransactionId parentSubid, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		undo_analyses(mySubid);
}

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (previous_object_access)
		previous_object_access(access, classId, objectId, subId, arg);
	if (access == OAT_DROP && classId == RelationRelationId && subId == 0)
		oa_history_forget(objectId);
}

void
oa_history_start(void)
{
	previous_object_access = object_access_hook;
	object_access_hook = object_access;
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}
