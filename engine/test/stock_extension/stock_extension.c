/*-------------------------------------------------------------------------
 *
 * stock_extension.c
 *	  Looks into descriptors of PostgreSQL's that are not its own.
 *
 * Compiled for stock PostgreSQL and loaded into ours, it finds what it looks for
 * only if the layouts are the same.
 *
 * engine/test/stock_extension/stock_extension.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(heap_rows);
PG_FUNCTION_INFO_V1(index_rows);
PG_FUNCTION_INFO_V1(catalog_rows);
PG_FUNCTION_INFO_V1(copied_relations);

/* The rows of a table, counted page by page as pgstattuple does. */
Datum
heap_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	TableScanDesc scan = table_beginscan_strat(rel, GetActiveSnapshot(), 0, NULL, true, false);
	HeapScanDesc heap = (HeapScanDesc) scan;
	int64		rows = 0;

	if (scan->rs_parallel != NULL || heap->rs_nblocks != RelationGetNumberOfBlocks(rel))
		elog(ERROR, "the scan of \"%s\" has %u blocks", RelationGetRelationName(rel), heap->rs_nblocks);
	for (HeapTuple tuple; (tuple = heap_getnext(scan, ForwardScanDirection)) != NULL; rows++)
	{
		if (tuple != &heap->rs_ctup || heap->rs_cblock >= heap->rs_nblocks ||
			BufferGetBlockNumber(heap->rs_cbuf) != heap->rs_cblock)
			elog(ERROR, "the scan of \"%s\" is on block %u", RelationGetRelationName(rel), heap->rs_cblock);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PG_RETURN_INT64(rows);
}

/* The rows that an index leads to. */
Datum
index_rows(PG_FUNCTION_ARGS)
{
	Relation	index = index_open(PG_GETARG_OID(0), AccessShareLock);
	Relation	rel = table_open(index->rd_index->indrelid, AccessShareLock);
	IndexScanDesc scan = index_beginscan(rel, index, GetActiveSnapshot(), NULL, 0, 0);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	int64		rows = 0;

	index_rescan(scan, NULL, 0, NULL, 0);
	for (; index_getnext_slot(scan, ForwardScanDirection, slot); rows++)
	{
		if (!ItemPointerEquals(&scan->xs_heaptid, &slot->tts_tid) || scan->parallel_scan != NULL)
			elog(ERROR, "the scan of \"%s\" is on another row", RelationGetRelationName(index));
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	table_close(rel, AccessShareLock);
	index_close(index, AccessShareLock);
	PG_RETURN_INT64(rows);
}

/* The rows of pg_class with this OID, found as the server finds them. */
Datum
catalog_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	int64		rows = 0;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, PG_GETARG_DATUM(0));
	scan = systable_beginscan(rel, ClassOidIndexId, true, NULL, 1, &key);
	if (scan->heap_rel != rel || (scan->iscan != NULL && scan->iscan->heapRelation != rel))
		elog(ERROR, "the catalog scan is one of another relation");
	while (systable_getnext(scan) != NULL)
		rows++;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	PG_RETURN_INT64(rows);
}

/*
 * Planner: some extensions plan with a copy of a relation, which has the size that
 * they were compiled with.
 */
static int64 copied = 0;
static set_rel_pathlist_hook_type previous = NULL;

static void
plan_copy(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous)
		previous(root, rel, rti, rte);
	if (rte->rtekind == RTE_RELATION && rel->reloptkind == RELOPT_BASEREL && rel->pages > 0)
	{
		RelOptInfo *copy = palloc(sizeof(RelOptInfo));
		Path	   *path;

		memcpy(copy, rel, sizeof(RelOptInfo));
		path = create_seqscan_path(root, copy, NULL, 2);
		if (path->startup_cost > 1e6)
			elog(ERROR, "a scan starts at a cost of %f", path->startup_cost);
		copied++;
	}
}

/* How many relations have been planned so; the first call begins with it. */
Datum
copied_relations(PG_FUNCTION_ARGS)
{
	if (set_rel_pathlist_hook != plan_copy)
	{
		previous = set_rel_pathlist_hook;
		set_rel_pathlist_hook = plan_copy;
	}
	PG_RETURN_INT64(copied);
}
