/*-------------------------------------------------------------------------
 *
 * empty.c
 *	  Cuts a table, its TOAST table and all indexes to nothing, in place.
 *
 * As heap_truncate_one_rel() does, but for what it writes to the catalogs.  That
 * function takes AccessExclusiveLock on each index and has index_build() report
 * the new counts of each index and table, whether they changed or not: one
 * invalidation for each, which all sessions read and which throws the
 * descriptions of our own table away.  Here the access method is asked for an
 * empty index directly, and pg_class is written only where it holds counts that
 * are now wrong, in place.  A table that was not analyzed since it was emptied
 * last leaves no trace outside its files.
 *
 * extensions/fasttrun/empty.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/multixact.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/storage.h"
#include "commands/tablecmds.h"
#include "commands/vacuum.h"
#include "fasttrun.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

static bool
has_counts(Relation rel, BlockNumber pages)
{
	return rel->rd_rel->reltuples > 0 || rel->rd_rel->relpages > (int32) pages;
}

/* A count of -1 stays: nothing is known of the table, and nothing wrong. */
static void
reset_counts(Relation rel)
{
	BlockNumber pages = RelationGetNumberOfBlocks(rel);

	if (!has_counts(rel, pages))
		return;
	vac_update_relstats(rel, pages, 0, 0,
#if PG_VERSION_NUM >= 180000
						0,
#endif
						rel->rd_rel->relhasindex, InvalidTransactionId,
						InvalidMultiXactId, NULL, NULL, true);
}

/*
 * The list of indexes, opened.  All of it can fail only here, before anything is
 * cut.  The lock on the table keeps others from its indexes.
 */
static List *
open_indexes(Relation table)
{
	List	   *indexes = NIL;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(table))
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);

		CheckTableNotInUse(index, "fasttruncate");
		indexes = lappend(indexes, index);
	}
	return indexes;
}

/*
 * There are no rows to index, so that expressions and predicates need not be
 * known.  What an operator class is asked all the same runs as the table's owner.
 */
static void
build_empty(Relation table, Relation index)
{
	Oid			caller;
	int			context;

	GetUserIdAndSecContext(&caller, &context);
	SetUserIdAndSecContext(table->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	index->rd_indam->ambuild(table, index, BuildDummyIndexInfo(index));
	SetUserIdAndSecContext(caller, context);
}

/* What the access method remembers of the index is of its former pages. */
static void
empty_index(Relation table, Relation index)
{
	RelationTruncate(index, 0);
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
	build_empty(table, index);
}

static void
empty_one(Relation table, List *indexes)
{
	ListCell   *cell;

	table_relation_nontransactional_truncate(table);
	reset_counts(table);
	foreach(cell, indexes)
	{
		Relation	index = (Relation) lfirst(cell);

		empty_index(table, index);
		reset_counts(index);
		index_close(index, NoLock);
	}
}

/* The caller holds ExclusiveLock and has seen that nobody uses the table. */
void
fasttrun_empty(Relation table)
{
	List	   *indexes = open_indexes(table);
	Relation	toast = NULL;
	List	   *toastIndexes = NIL;

	if (OidIsValid(table->rd_rel->reltoastrelid))
	{
		toast = table_open(table->rd_rel->reltoastrelid, ExclusiveLock);
		CheckTableNotInUse(toast, "fasttruncate");
		toastIndexes = open_indexes(toast);
	}
	empty_one(table, indexes);
	if (toast != NULL)
	{
		empty_one(toast, toastIndexes);
		table_close(toast, NoLock);
	}
}
