/*-------------------------------------------------------------------------
 *
 * temp_parallel.c
 *	  Parallel workers read the temporary tables of their leader.
 *
 * The pages of a temporary table are in the local buffers of its session, which
 * no worker can see.  With temp_parallel_scans = on workers read its file instead:
 *
 * Planner.  A plan may scan a temporary table of the session below a Gather.
 * The price of writing its pages is added to each partial scan.
 *
 * Leader.  Once there is memory to share with workers, and before they start, the
 * leader writes the dirty local buffers of all temporary relations that the plan
 * scans below the Gather, and of their toast tables, and makes the files that are
 * missing.  The buffers stay valid.  The relations' locators go to the workers.
 * Parameters that are out of line in a temporary table are sent as whole values.
 *
 * Worker.  It has local buffers of its own and opens the relations with the proc
 * number of its leader, as PostgreSQL does anyway.  It reads only what is on the
 * list: any other temporary relation may have pages in its leader's buffers.
 *
 * A file must not change while it is read, because a page that is written and
 * read at the same time may be torn.  In parallel mode nobody changes a table, so
 * what is left are hint bits and pruning.  They stay in memory, or do not happen,
 * see temp_parallel_forbids_writes().
 *
 * src/backend/plimsoll/temp_parallel.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/namespace.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class_d.h"
#include "common/int.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "plimsoll/temp_buffer.h"
#include "plimsoll/temp_parallel.h"
#include "plimsoll/temp_storage.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"

/* The executor has keys of its own from ...01 on. */
#define PARALLEL_KEY_TEMP_RELATIONS UINT64CONST(0xE0000000000000F0)

/* What it costs to write a dirty local buffer, and to look at any, in pages. */
#define PRICE_OF_DIRTY 1.30
#define PRICE_OF_ANY 0.01

/* The planner looks at no more buffers of a relation. */
#define BUFFERS_PRICED 256

typedef struct SharedRelations
{
	int			count;
	RelFileLocator locators[FLEXIBLE_ARRAY_MEMBER]; /* sorted */
} SharedRelations;

bool		temp_parallel_scans = false;

/* In a worker: what the leader has written. */
static const SharedRelations *received = NULL;

static int
compare_locators(const void *a, const void *b)
{
	const RelFileLocator *x = a;
	const RelFileLocator *y = b;
	int			cmp = pg_cmp_u32(x->relNumber, y->relNumber);

	return cmp != 0 ? cmp : pg_cmp_u32(x->spcOid, y->spcOid);
}

static bool
has_relation(const SharedRelations *relations, const RelFileLocator *locator)
{
	return bsearch(locator, relations->locators, relations->count,
				   sizeof(RelFileLocator), compare_locators) != NULL;
}

static inline bool
is_dirty(int bufid)
{
	uint32		state = pg_atomic_read_u32(&GetLocalBufferDescriptor(bufid)->state);

	return (state & (BM_VALID | BM_DIRTY)) == (BM_VALID | BM_DIRTY);
}

/*
 * Planner
 */

/*
 * A plan is made for each execution of many a statement, so this must not take
 * longer for a larger table: what some buffers cost is taken to be true of all.
 */
static Cost
price_of(Relation rel, BlockNumber pages)
{
	Cost		price = 0;
	int			looked_at = 0;

	if (!temp_buffers_by_relation)
		return Min(pages, NLocBuffer) * PRICE_OF_DIRTY;

	for (int i = temp_buffer_first(&rel->rd_locator);
		 i >= 0 && looked_at < BUFFERS_PRICED; i = temp_buffer_next(i))
	{
		price += is_dirty(i) ? PRICE_OF_DIRTY : PRICE_OF_ANY;
		looked_at++;
	}
	return looked_at == 0 ? 0 : price / looked_at * temp_buffer_count(&rel->rd_locator);
}

/* Is this temporary table, which the planner has locked, one that workers can read? */
static bool
is_readable(Relation rel)
{
	return rel->rd_islocaltemp &&
		(rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		 (rel->rd_rel->relkind == RELKIND_RELATION &&
		  rel->rd_rel->relam == HEAP_TABLE_AM_OID));
}

/* May workers scan this temporary table? */
bool
temp_parallel_allows(Oid relid)
{
	Relation	rel;
	bool		allowed;

	if (!temp_parallel_scans)
		return false;
	rel = table_open(relid, NoLock);
	allowed = is_readable(rel);
	table_close(rel, NoLock);
	return allowed;
}

/*
 * What a partial scan of this relation pays for the pages that have to be written
 * first.  It is calculated for each such path, as RelOptInfo has no room for it.
 */
Cost
temp_parallel_price(PlannerInfo *root, RelOptInfo *baserel)
{
	Oid			relid;
	Relation	rel;
	Cost		price = 0;

	if (!temp_parallel_scans)
		return 0;
	relid = planner_rt_fetch(baserel->relid, root)->relid;
	if (get_rel_persistence(relid) != RELPERSISTENCE_TEMP)
		return 0;
	rel = table_open(relid, NoLock);
	if (is_readable(rel) && RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		price = price_of(rel, baserel->pages);
	table_close(rel, NoLock);
	return price;
}

/*
 * Leader
 */

static void
add_relation(List **relations, Relation rel)
{
	RelFileLocator *locator;

	if (rel == NULL || !RelationUsesLocalBuffers(rel) ||
		!RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
		return;
	locator = palloc_object(RelFileLocator);
	*locator = rel->rd_locator;
	*relations = lappend(*relations, locator);	/* perhaps once more */
}

/* Values out of line; a toast table without pages has none. */
static void
add_toast(List **relations, Relation rel)
{
	Relation	toast;
	Relation   *indexes;
	int			nindexes;

	if (rel == NULL || !RelationUsesLocalBuffers(rel) ||
		!OidIsValid(rel->rd_rel->reltoastrelid))
		return;
	toast = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	if (RelationGetNumberOfBlocks(toast) > 0)
	{
		add_relation(relations, toast);
		(void) toast_open_indexes(toast, AccessShareLock, &indexes, &nindexes);
		for (int i = 0; i < nindexes; i++)
			add_relation(relations, indexes[i]);
		toast_close_indexes(indexes, nindexes, NoLock);
	}
	table_close(toast, NoLock);
}

static bool
add_scanned(PlanState *planstate, List **relations)
{
	switch (nodeTag(planstate))
	{
		case T_SeqScanState:
		case T_SampleScanState:
		case T_BitmapHeapScanState:
		case T_TidScanState:
		case T_TidRangeScanState:
		case T_CustomScanState:
			break;
		case T_IndexScanState:
			add_relation(relations, ((IndexScanState *) planstate)->iss_RelationDesc);
			break;
		case T_IndexOnlyScanState:
			add_relation(relations, ((IndexOnlyScanState *) planstate)->ioss_RelationDesc);
			break;
		case T_BitmapIndexScanState:
			/* has no table of its own; the heap scan above it has */
			add_relation(relations, ((BitmapIndexScanState *) planstate)->biss_RelationDesc);
			return planstate_tree_walker(planstate, add_scanned, relations);
		default:
			return planstate_tree_walker(planstate, add_scanned, relations);
	}
	add_relation(relations, ((ScanState *) planstate)->ss_currentRelation);
	add_toast(relations, ((ScanState *) planstate)->ss_currentRelation);
	return planstate_tree_walker(planstate, add_scanned, relations);
}

/*
 * Workers prepare all parallel-safe sub-selects of the query, also those that only
 * the leader executes.  To prepare a bitmap scan opens its index, and some read
 * pages then, as BRIN and SP-GiST do.
 */
static bool
add_prepared(PlanState *planstate, List **relations)
{
	if (IsA(planstate, BitmapIndexScanState))
	{
		Relation	index = ((BitmapIndexScanState *) planstate)->biss_RelationDesc;

		if (index && index->rd_rel->relam != BTREE_AM_OID)
			add_relation(relations, index);
	}
	return planstate_tree_walker(planstate, add_prepared, relations);
}

static void
add_subplans(List **relations, EState *estate)
{
	ListCell   *plan;
	ListCell   *state;

	forboth(plan, estate->es_plannedstmt->subplans, state, estate->es_subplanstates)
	{
		/* the rule of ExecSerializePlan() */
		if (lfirst(state) && ((Plan *) lfirst(plan))->parallel_safe)
			(void) add_prepared(lfirst(state), relations);
	}
}

static Size
size_of_list(List *relations)
{
	return add_size(offsetof(SharedRelations, locators),
					mul_size(list_length(relations), sizeof(RelFileLocator)));
}

/*
 * The temporary relations that workers will read to execute this plan; the
 * context's segment gets room for the list.
 */
List *
temp_parallel_collect(PlanState *planstate, ParallelContext *pcxt)
{
	List	   *relations = NIL;

	if (!temp_parallel_scans)
		return NIL;
	(void) add_scanned(planstate, &relations);
	add_subplans(&relations, planstate->state);
	if (relations != NIL)
	{
		shm_toc_estimate_chunk(&pcxt->estimator, size_of_list(relations));
		shm_toc_estimate_keys(&pcxt->estimator, 1);
	}
	return relations;
}

static void
write_error_context(void *arg)
{
	errcontext("writing a temporary relation for parallel workers");
}

/* A page that a worker may read goes to the file. */
static void
write_buffer(int bufid)
{
	BufferDesc *buf = GetLocalBufferDescriptor(bufid);

	CHECK_FOR_INTERRUPTS();
	/* no scan reads the free space map */
	if (!is_dirty(bufid) || BufTagGetForkNum(&buf->tag) == FSM_FORKNUM)
		return;
	ResourceOwnerEnlarge(CurrentResourceOwner);
	PinLocalBuffer(buf, false);
	FlushLocalBuffer(buf, NULL);
	UnpinLocalBuffer(BufferDescriptorGetBuffer(buf));
}

/* The files get all that the local buffers have. */
static void
write_relations(const SharedRelations *relations)
{
	for (int i = 0; i < relations->count; i++)
	{
		const RelFileLocator *locator = &relations->locators[i];
		SMgrRelation reln = smgropen(*locator, MyProcNumber);

		temp_storage_make_file(reln, MAIN_FORKNUM);
		temp_storage_make_file(reln, VISIBILITYMAP_FORKNUM);
		if (!temp_buffers_by_relation)
			continue;
		for (int bufid = temp_buffer_first(locator); bufid >= 0;
			 bufid = temp_buffer_next(bufid))
			write_buffer(bufid);
	}

	/* Once for all relations: there may be thousands of partitions. */
	for (int bufid = 0; !temp_buffers_by_relation && bufid < NLocBuffer; bufid++)
	{
		BufferDesc *buf = GetLocalBufferDescriptor(bufid);
		RelFileLocator locator;

		if (!(pg_atomic_read_u32(&buf->state) & BM_TAG_VALID))
			continue;
		locator = BufTagGetRelFileLocator(&buf->tag);
		if (has_relation(relations, &locator))
			write_buffer(bufid);
	}
}

/* Workers are about to be launched; the relations come from temp_parallel_collect(). */
void
temp_parallel_share(List *relations, ParallelContext *pcxt)
{
	SharedRelations *shared;
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = write_error_context,
	};

	if (relations == NIL || pcxt->nworkers == 0)
		return;
	shared = shm_toc_allocate(pcxt->toc, size_of_list(relations));
	shared->count = 0;
	foreach_ptr(RelFileLocator, locator, relations)
		shared->locators[shared->count++] = *locator;
	qsort(shared->locators, shared->count, sizeof(RelFileLocator), compare_locators);
	shared->count = qunique(shared->locators, shared->count, sizeof(RelFileLocator),
							compare_locators);
	error_context_stack = &callback;
	write_relations(shared);
	error_context_stack = callback.previous;
	shm_toc_insert(pcxt->toc, PARALLEL_KEY_TEMP_RELATIONS, shared);
}

/* Body of temp_parallel_fetches(), for a value on disk. */
bool
temp_parallel_fetches_value(Datum value)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	return isTempToastNamespace(get_rel_namespace(pointer.va_toastrelid));
}

/* As large as what detoast_external_attr() will return. */
Size
temp_parallel_fetched_size(Datum value)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	return VARATT_EXTERNAL_GET_EXTSIZE(pointer) + VARHDRSZ;
}

/*
 * Worker
 */

void
temp_parallel_receive(shm_toc *toc)
{
	received = shm_toc_lookup(toc, PARALLEL_KEY_TEMP_RELATIONS, true);
}

bool
temp_parallel_received(void)
{
	return received != NULL;
}

/* Body of temp_parallel_check(). */
void
temp_parallel_check_shared(SMgrRelation reln)
{
	if (received && has_relation(received, &reln->smgr_rlocator.locator))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
			 errmsg("cannot access temporary tables during a parallel operation")));
}
